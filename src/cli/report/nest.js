// One nest: all that is known of it.
const SHOWN = 14;

const recipeText = (recipe) => (recipe ? el("code", { class: "recipe" }, steps(recipe).map((s) => el("span", {}, s, " "))) : el("em", {}, "the original"));
const section = (title, ...children) => el("section", { class: "card" }, el("h2", {}, title), children);
const fact = (value, name, look) => el("div", { class: `fact ${look || ""}` }, el("b", {}, value), el("span", {}, name));
const fastest = (region) => {
  const measured = region.variants.filter((v) => finite(v.measured_ratio));
  return measured.length ? measured.reduce((a, b) => (b.measured_ratio > a.measured_ratio ? b : a)) : null;
};

const facts = (region) => {
  const best = region.variants[0];
  const quickest = fastest(region);
  return el(
    "div",
    { class: "facts" },
    fact(ratio(best.predicted_ratio), best.recipe ? "times as fast, predicted" : "nothing is predicted to be faster", best.recipe ? "good" : ""),
    quickest && fact(ratio(quickest.measured_ratio), quickest.recipe ? `measured, #${quickest.rank}` : "measured: the original is the fastest", quickest.recipe ? "good" : ""),
    fact(count(region.original_cycles), "cycles of the original, predicted"),
    finite(region.original_seconds) && fact(time(region.original_seconds), "of the original, measured"),
    fact(`${region.legal}`, `legal of ${region.judged} judged, ${plural(region.tried, "variant")} tried`),
    region.params.length > 0 && fact(region.params.map(([name, value]) => `${name} = ${value}`).join(", "), "ranked for"),
  );
};

const idioms = (region) => region.idioms.length > 0 && el("ul", { class: "note" }, region.idioms.map((i) => el("li", {}, i.text)));

// The source with a bar for each loop, and the statements beside their lines.
const sourceText = (region) => {
  const { source } = region;
  if (!source) {
    return [
      el("p", { class: "note" }, region.location ? `The text at ${region.location} cannot be read. This is the nest as looptree describes it.` : "No source text is known. This is the nest as looptree describes it."),
      el("pre", { class: "text", tabindex: 0 }, region.kernel),
    ];
  }
  const depth = Math.max(0, ...source.loops.map((l) => l.depth + 1));
  const lines = source.lines.map((text, at) => {
    const number = source.first + at;
    const bars = Array.from({ length: depth }, (_, level) => {
      const loop = source.loops.find((l) => l.depth === level && l.first <= number && number <= l.last);
      return el("span", { class: `bar level${level % 4}${loop ? " on" : ""}`, title: loop ? `loop ${loop.name}` : null }, loop && loop.first === number ? loop.name : "");
    });
    const here = region.statements.filter((s) => s.line === number).map((s) => s.name);
    return el("div", { class: "line" }, el("span", { class: "linenumber" }, number), bars, el("code", {}, text || " "), here.length > 0 && el("span", { class: "tag", title: here.join(", ") }, here.length > 3 ? `${here[0]} … ${here[here.length - 1]}` : here.join(", ")));
  });
  const elsewhere = region.statements.filter((s) => s.line === null && s.location);
  return [
    el("p", { class: "note" }, source.file),
    el("div", { class: "text source", tabindex: 0 }, lines),
    elsewhere.length > 0 && el("p", { class: "note" }, `${plural(elsewhere.length, "statement")} from elsewhere: ${[...new Set(elsewhere.map((s) => s.location))].slice(0, 5).join(", ")}`),
    el("details", {}, el("summary", {}, "As looptree describes it"), el("pre", { class: "text", tabindex: 0 }, region.kernel)),
  ];
};

const variantsTable = (region, number, choose) => {
  const measured = region.variants.some((v) => finite(v.measured_ratio));
  const best = fastest(region);
  const columns = [
    { name: "#", number: true, ascending: true, value: (v) => v.rank, cell: (v) => el("button", { type: "button", class: "small rank", "aria-label": `Show variant ${v.rank}`, click: () => choose(v.rank) }, v.rank) },
    { name: "Predicted", number: true, value: (v) => v.predicted_ratio, cell: (v) => ratio(v.predicted_ratio) },
    { name: "Cycles", number: true, ascending: true, value: (v) => v.cycles, cell: (v) => count(v.cycles) },
    measured && { name: "Measured", number: true, value: (v) => v.measured_ratio, cell: (v) => [ratio(v.measured_ratio), v === best && v.recipe ? el("span", { class: "tag good" }, "fastest") : ""] },
    measured && { name: "Time", number: true, ascending: true, value: (v) => v.seconds, cell: (v) => time(v.seconds) },
    { name: "Drawn by", value: (v) => (v.recipe ? v.sketch || "moves" : "–") },
    { name: "Steps", number: true, ascending: true, value: (v) => steps(v.recipe).length },
    { name: "Recipe", wide: true, value: (v) => v.recipe, cell: (v) => [recipeText(v.recipe), v.recipe && copy(v.recipe)] },
  ];
  return sortable({ caption: "Legal variants", columns: columns.filter(Boolean), rows: region.variants, id: `variants-${number}`, subject: "variant", pick: (v) => choose(v.rank), order: [0, false], words: "tile jam …" });
};

// The terms of a cost, as they contain one another.
const termsList = (terms, whole) =>
  el(
    "ul",
    { class: "terms" },
    [...terms]
      .sort((a, b) => b.cycles - a.cycles)
      .map((t) => {
        const line = [el("span", { class: "number" }, share(t.cycles / (whole || 1))), " ", el("b", {}, t.name), t.detail && `: ${t.detail}`];
        return el("li", {}, t.parts.length ? el("details", {}, el("summary", {}, line), termsList(t.parts, whole)) : line);
      }),
  );

const variantPanel = (region, v) => {
  const [, named, at] = region.region.match(/^(.*)#(\d+)$/s);
  const command = ["looptree", "opt", data.file, "-f", named, "--region", at, "--recipe", v.recipe, ...(data.flags.length ? ["--", ...data.flags] : [])];
  const check = v.conditions.length ? `Checked at run time: ${v.conditions.join(", ")}; else the original runs.` : v.recipe ? "Valid always." : "";
  return [
    el("h3", {}, `#${v.rank}: ${ratio(v.predicted_ratio)} predicted${finite(v.measured_ratio) ? `, ${ratio(v.measured_ratio)} measured` : ""}`),
    el("p", { class: "chosen-recipe" }, recipeText(v.recipe), v.recipe && [copy(v.recipe), " ", copy(command.map(quoted).join(" "), "Copy as command")]),
    check && el("p", {}, check),
    sideBySide(region.tree, v.tree || region.tree),
    v.cost && el("details", { open: true }, el("summary", {}, `${count(v.cycles)} cycles, by their terms`), el("p", { class: "note" }, "Parts of a term overlap in time, and may add up to more."), termsList(v.cost.terms, v.cycles)),
  ];
};

const rooflineFigure = (region, number, choose, chosen) => {
  const { roofline } = region;
  if (!roofline) return figure("Roofline", null, "Nothing is computed here, only moved: there is no roof to draw.");
  const slopes = roofline.slopes.filter((s) => region.variants.some((v) => v.cost && moved(v.cost.terms, s.term) > 0));
  if (!slopes.length) return figure("Roofline", null, "The cost model tells of no bytes: everything is in the first cache, or it does not count them.");
  const box = el("div");
  const show = (slope) => {
    const own = roof(region, slope, choose);
    box.replaceChildren(
      figure(
        "Roofline",
        own,
        `Circles: as predicted; diamonds: as measured, at ${roofline.gigahertz} GHz. Dots on the roof use all that the machine has.`,
        slopes.length > 1 &&
          el("p", { class: "choice", role: "radiogroup", "aria-label": "Bytes from" }, slopes.map((s) => el("label", {}, el("input", { type: "radio", name: `slope-${number}`, checked: s === slope, change: () => show(s) }), ` from ${s.from} `))),
      ),
    );
    highlight(box, chosen());
  };
  show(slopes[slopes.length - 1]);
  return box;
};

const stacksFigure = (region, number, choose, chosen) => {
  const box = el("div");
  let inCycles = false;
  const show = () => {
    const own = region.variants.filter((v) => v.rank < SHOWN || !v.recipe || v.rank === chosen());
    const present = new Set(own.filter((v) => v.cost).flatMap((v) => [...byKind(v.cost)].filter(([, c]) => c > 0).map(([name]) => name)));
    box.replaceChildren(
      figure(
        "Where the cycles go",
        stacks(own, inCycles, choose),
        "What overlaps in time is drawn in proportion.",
        el("p", { class: "choice" }, el("label", {}, el("input", { type: "checkbox", checked: inCycles, change: (e) => { inCycles = e.target.checked; show(); } }), " in cycles")),
        legend(KINDS.filter(([name]) => present.has(name))),
      ),
    );
    highlight(box, chosen());
  };
  show();
  box.show = show;
  return box;
};

const highlight = (box, rank, subject = "variant") => {
  box.querySelectorAll(`[data-${subject}]`).forEach((e) => {
    e.classList.toggle("chosen", e.getAttribute(`data-${subject}`) === String(rank));
    // In front of the others.
    if (e.matches(".dot.chosen")) e.parentNode.append(e);
  });
};

const dependencesSection = (region, number) => {
  const { dependences, iterations } = region;
  if (!dependences.length) return section("Dependences", el("p", {}, "No instance depends on another."));
  const picture = el("div", { class: "picture" });
  const pointsOf = (name) => iterations.instances[region.statements.findIndex((s) => s.name === name)] || [];
  const box = el("div");
  const show = (d) => {
    highlight(box, d.rank, "row");
    const title = `${d.kind} ${d.source} → ${d.target}${d.array ? ` on ${d.array}` : ""}${d.distance === "()" ? "" : ` ${d.distance}`}`;
    const own = iterations && d.pairs.length ? space(region, d.source, d.target, d.pairs, { points: [pointsOf(d.source), pointsOf(d.target)], label: title }) : null;
    const why = !iterations ? "Data decides which iterations there are, or there are too many to list." : d.unless.length ? "Arrays that may overlap: any two instances, perhaps." : "None among the first iterations.";
    const fixed = own && own.dataset.fixed ? ` at ${own.dataset.fixed}` : "";
    picture.replaceChildren(figure(title, own, own ? `The first ${iterations.each} iterations of each loop${fixed}; filled: ${d.source}${d.source === d.target ? "" : `, open: ${d.target}`}. Of each target the last source.` : why));
    picture.dataset.shown = title;
  };
  const rows = dependences.map((d, rank) => ({ ...d, rank }));
  const columns = [
    { name: "Kind", value: (d) => d.kind, cell: (d) => el("button", { type: "button", class: "small", click: () => show(d) }, d.kind) },
    { name: "From", value: (d) => d.source },
    { name: "To", value: (d) => d.target },
    { name: "On", value: (d) => d.array || "" },
    { name: "Distance", value: (d) => d.distance, cell: (d) => (d.distance === "()" ? "–" : d.distance) },
    { name: "Unless", value: (d) => d.unless.join(", ") + (d.reduction ? " reduction" : "") },
  ];
  const draws = (d) => d.pairs.length && d.pairs.some(([s, t]) => s.some((x, at) => at < t.length && x !== t[at]));
  const all = region.dependences_in_all > dependences.length && el("p", { class: "note" }, `The first ${dependences.length} of ${region.dependences_in_all}.`);
  fill(box, {}, [sortable({ caption: "Dependences", columns, rows, id: `dependences-${number}`, pick: show, words: "flow A …" }), all]);
  show(rows.find((d) => draws(d) && d.kind === "flow") || rows.find(draws) || rows.find((d) => d.pairs.length) || rows[0]);
  return section("Dependences", el("div", { class: "halves" }, box, picture));
};

// A witness as a picture, and what it says.
const witness = (region, r) => {
  const e = r.example;
  let own = null;
  if (e && e.instances.length === 2) {
    const [[source, from], [target, to]] = e.instances;
    const numbers = r.code === "carried" ? ["at once", "at once"] : ["comes 2nd", "comes 1st"];
    own = space(region, source, target, [[from, to]], { label: r.reason, look: "bad", numbers });
  } else if (e && e.instances.length === 1) own = single(region, e.instances[0][0], e.instances[0][1], r.reason);
  const at = e && e.params.length ? ` Example for ${e.params.map(([name, value]) => `${name} = ${value}`).join(", ")}.` : "";
  const words = !e ? "" : e.instances.length === 2 ? "The arrow points from what must come first; at each point: when the variant would execute it." : "The instance.";
  const drawn = figure(r.code, own, `${words}${at}`, el("p", {}, recipeText(r.recipe), r.recipe && copy(r.recipe)), el("p", { class: "reason" }, r.reason));
  return [drawn, r.tree && el("details", {}, el("summary", {}, "What it would be"), sideBySide(region.tree, r.tree))].filter(Boolean);
};

const refusedSection = (region, number) => {
  if (!region.refused.length) return section("Refused", el("p", {}, "Nothing is refused."));
  const picture = el("div", { class: "picture" });
  const box = el("div");
  const show = (r) => {
    highlight(box, r.rank, "row");
    picture.replaceChildren(...witness(region, r));
  };
  const columns = [
    { name: "Reason", value: (r) => r.code, cell: (r) => el("button", { type: "button", class: "small", click: () => show(r) }, r.code) },
    { name: "Predicted", number: true, value: (r) => r.predicted_ratio, cell: (r) => ratio(r.predicted_ratio) },
    { name: "Recipe", wide: true, value: (r) => r.recipe, cell: (r) => recipeText(r.recipe) },
    { value: (r) => r.reason },
  ];
  const rows = region.refused.map((r, rank) => ({ ...r, rank }));
  const drawn = rows.filter((r) => r.example);
  const note = el("p", { class: "note" }, "Predicted: what it would gain if it were legal.");
  fill(box, {}, [note, sortable({ caption: "Refused variants", columns, rows, id: `refused-${number}`, pick: show, order: [1, true], words: "order interchange …" })]);
  show(drawn.length ? drawn.reduce((a, b) => ((b.predicted_ratio || 0) > (a.predicted_ratio || 0) ? b : a)) : rows[0]);
  return section("Refused", el("div", { class: "halves" }, box, picture));
};

const nest = (region, number) => {
  let rank = 0;
  const box = el("div", { class: "nest" });
  const panel = el("div");
  const choose = (wanted) => {
    rank = wanted;
    panel.replaceChildren(...variantPanel(region, region.variants.find((v) => v.rank === wanted)).filter(Boolean));
    costs.show();
    highlight(box, wanted);
  };
  const measured = region.variants.some((v) => finite(v.measured_ratio));
  const costs = stacksFigure(region, number, choose, () => rank);
  const missing = region.not_measured ? `Not measured: ${region.not_measured}` : "Nothing was measured: looptree explore --measure does it.";
  box.append(
    el("h1", {}, region.name, region.location && el("small", {}, ` ${region.location}`)),
    facts(region),
    section("Source", idioms(region), sourceText(region)),
    section(
      "Variants",
      el("div", { class: "halves" }, figure("Gain by rank", gains(region.variants, choose), measured ? "Bars: predicted; diamonds: measured; the line: the original." : `Bars: predicted; the line: the original. ${missing}`), measured ? figure("Predicted and measured", scatter(region.variants, choose), "On the line the prediction is exact; above it the variant is faster than predicted.") : rooflineFigure(region, number, choose, () => rank)),
      variantsTable(region, number, choose),
    ),
    section("The chosen variant", panel),
    section("Cost", el("div", { class: "halves" }, costs, measured && rooflineFigure(region, number, choose, () => rank))),
    dependencesSection(region, number),
    refusedSection(region, number),
  );
  choose(0);
  return box;
};
