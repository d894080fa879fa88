// A table that is sorted by its heads and filtered by words.
// Columns: `name`, `value` of a row for sorting, `cell` for showing; numbers stand at the right. Rows say of which `subject` they
// tell, by `rank`. Columns without a name are only searched.
const sortable = ({ caption, columns, rows, id, order, words, pick, subject = "row" }) => {
  let [by, down] = order || [null, false];
  const seen = columns.filter((c) => c.name);
  const body = el("tbody");
  const lines = rows.map((row) => {
    const cells = seen.map((c) => el("td", { class: c.number ? "number" : c.wide ? "wide" : null }, c.cell ? c.cell(row) : c.value(row)));
    // The whole line does what its button does.
    const line = el("tr", { [`data-${subject}`]: row.rank, class: pick && "picked", click: (e) => pick && !e.target.closest("button") && pick(row) }, cells);
    return { row, line, text: columns.map((c) => c.value(row)).join(" ").toLowerCase() };
  });
  const heads = seen.map((c, at) => {
    const sort = () => {
      [by, down] = by === at ? [at, !down] : [at, Boolean(c.number && !c.ascending)];
      arrange();
    };
    return el("th", { scope: "col", class: c.number ? "number" : null }, el("button", { type: "button", click: sort }, c.name, el("span", { class: "direction", "aria-hidden": "true" })));
  });
  const arrange = () => {
    heads.forEach((head, at) => {
      head.setAttribute("aria-sort", at !== by ? "none" : down ? "descending" : "ascending");
      head.querySelector(".direction").textContent = at !== by ? "" : down ? " ▾" : " ▴";
    });
    const value = by === null ? null : seen[by].value;
    const compared = (a, b) => {
      const [p, q] = [value(a.row), value(b.row)];
      // What is not known comes last in either direction.
      if (p === null || q === null || p === undefined || q === undefined) return (p ?? null) === (q ?? null) ? 0 : (p ?? null) === null ? 1 : -1;
      const sign = typeof p === "number" && typeof q === "number" ? p - q : String(p).localeCompare(String(q), "en", { numeric: true });
      return down ? -sign : sign;
    };
    const sorted = value ? [...lines].sort(compared) : lines;
    body.append(...sorted.map((l) => l.line));
  };
  const told = el("output", { for: `${id}-filter` });
  const input = el("input", { id: `${id}-filter`, type: "search", placeholder: words, input: () => filter() });
  const filter = () => {
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const { line, text } of lines) {
      const fits = wanted.every((word) => text.includes(word));
      line.hidden = !fits;
      left += fits;
    }
    told.textContent = left === lines.length ? `${lines.length}` : `${left} of ${lines.length}`;
  };
  arrange();
  filter();
  return el(
    "div",
    { class: "tabled" },
    el("div", { class: "filter" }, el("label", { for: `${id}-filter` }, "Filter "), input, " ", told),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, el("table", { id }, el("caption", { class: "unseen" }, caption), el("thead", {}, el("tr", {}, heads)), body)),
  );
};
