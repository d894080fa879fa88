// What is seen first: all nests, those with most to gain in front.
const gained = (r) => r.original_cycles - r.variants[0].cycles;

const overview = () => {
  const place = document.getElementById("overview");
  const remarks =
    data.remarks.length > 0 &&
    el(
      "details",
      { class: "card", open: data.regions.length === 0 },
      el("summary", {}, `Not described: ${plural(data.remarks.length, "place")}`),
      el("ul", {}, data.remarks.map((r) => el("li", {}, el("b", {}, r.location || r.function), ` [${r.code}] ${r.message}`, r.help && el("span", { class: "note" }, ` ${r.help}`)))),
    );
  const skipped = data.skipped.length > 0 && el("details", { class: "card" }, el("summary", {}, `Not searched: ${plural(data.skipped.length, "nest")}`), el("ul", {}, data.skipped.map((s) => el("li", {}, el("b", {}, s.name), ` ${s.why}`))));
  if (!data.regions.length) {
    place.append(el("section", { class: "card" }, el("h1", {}, "No loop nest that could be transformed was found")), remarks || "", skipped || "");
    return;
  }
  const whole = data.regions.reduce((sum, r) => sum + r.original_cycles, 0) || 1;
  const rows = data.regions.map((r, rank) => ({ ...r, rank })).sort((a, b) => gained(b) - gained(a));
  const columns = [
    { name: "Nest", value: (r) => r.name, cell: (r) => el("a", { href: `#n${r.rank}` }, r.name) },
    { name: "At", value: (r) => r.location || "" },
    { name: "Cycles", number: true, value: (r) => r.original_cycles, cell: (r) => [count(r.original_cycles), el("span", { class: "note" }, ` ${share(r.original_cycles / whole)}`)] },
    { name: "To gain", number: true, value: gained, cell: (r) => count(gained(r)) },
    { name: "Predicted", number: true, value: (r) => r.variants[0].predicted_ratio, cell: (r) => ratio(r.variants[0].predicted_ratio) },
    { name: "Measured", number: true, value: (r) => (fastest(r) || {}).measured_ratio, cell: (r) => ratio((fastest(r) || {}).measured_ratio) },
    { name: "Legal", number: true, value: (r) => r.legal },
  ];
  if (rows.length > 1) place.append(el("section", { class: "card" }, el("h2", {}, plural(rows.length, "nest")), sortable({ caption: "Nests", columns, rows, id: "nests", words: "function …" })));
  place.append(skipped || "", remarks || "");
  const shown = document.getElementById("nest");
  const show = (focus) => {
    const wanted = Number((location.hash.match(/^#n(\d+)$/) || [])[1] ?? rows[0].rank);
    const number = data.regions[wanted] ? wanted : rows[0].rank;
    shown.replaceChildren(nest(data.regions[number], number));
    highlight(place, number, "row");
    if (focus) shown.focus();
  };
  addEventListener("hashchange", () => show(true));
  show(false);
};

document.title = `${data.file} – looptree`;
document.getElementById("head").append(el("b", {}, [data.file, ...data.flags].join(" ")), el("span", {}, `predicted for ${data.machine}`), el("span", { class: "note" }, `looptree ${data.looptree}, LLVM ${data.llvm}`));
overview();
