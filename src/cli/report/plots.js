// Plots. Marks of a variant say which one it is, so that the chosen one can be told apart in all of them.
const WIDTH = 620;
const HEIGHT = 320;
const MARGIN = { left: 56, right: 16, top: 12, bottom: 44 };

const linear = (low, high, from, to) => (x) => from + ((x - low) / (high - low || 1)) * (to - from);
const logarithmic = (low, high, from, to) => {
  const scale = linear(Math.log(low), Math.log(high), from, to);
  return (x) => scale(Math.log(x));
};
// Round numbers between two bounds.
const ticks = (low, high, wanted = 5) => {
  const raw = (high - low || 1) / wanted;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * unit).find((s) => s >= raw);
  const list = [];
  for (let x = Math.ceil(low / step) * step; x <= high + step / 1e6; x += step) list.push(Number(x.toPrecision(12)));
  return list;
};
const powers = (low, high) => {
  const list = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
    for (const k of high / low > 200 ? [1] : [1, 2, 5]) list.push(k * 10 ** e);
  }
  return list.filter((x) => x >= low * 0.999 && x <= high * 1.001);
};

const frame = (label) => svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label, class: "plot" });
const inside = { left: MARGIN.left, right: WIDTH - MARGIN.right, top: MARGIN.top, bottom: HEIGHT - MARGIN.bottom };

const axes = (plot, x, y, names, marks) => {
  const { left, right, top, bottom } = inside;
  for (const at of marks.y) {
    plot.append(
      svg("line", { class: "grid", x1: left, x2: right, y1: y(at), y2: y(at) }),
      svg("text", { class: "tick", x: left - 6, y: y(at) + 4, "text-anchor": "end" }, count(at)),
    );
  }
  for (const at of marks.x) {
    if (marks.vertical) plot.append(svg("line", { class: "grid", x1: x(at), x2: x(at), y1: top, y2: bottom }));
    plot.append(svg("text", { class: "tick", x: x(at), y: bottom + 16, "text-anchor": "middle" }, count(at)));
  }
  plot.append(
    svg("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }),
    svg("text", { class: "name", x: (left + right) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, names.x),
    svg("text", { class: "name", x: 0, y: 0, "text-anchor": "middle", transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)` }, names.y),
  );
};

const hint = (v) => svg("title", {}, `#${v.rank} ${v.recipe || "the original"}\npredicted ${ratio(v.predicted_ratio)}${finite(v.measured_ratio) ? `, measured ${ratio(v.measured_ratio)}` : ""}`);
const mark = (v, choose, name, attributes) => svg(name, { ...attributes, "data-variant": v.rank, click: () => choose(v.rank) }, hint(v));
const diamond = (x, y, r) => `M${x - r} ${y}L${x} ${y - r}L${x + r} ${y}L${x} ${y + r}Z`;

// Gains in the order of rank: predicted as bars, measured as diamonds.
const gains = (variants, choose) => {
  const most = Math.max(1, ...variants.flatMap((v) => [v.predicted_ratio, v.measured_ratio || 0])) * 1.05;
  const { left, right, top, bottom } = inside;
  const x = linear(-0.5, variants.length - 0.5, left, right);
  const y = linear(0, most, bottom, top);
  const plot = frame(`Predicted${variants.some((v) => finite(v.measured_ratio)) ? " and measured" : ""} gain of ${variants.length} variants, the best first`);
  axes(plot, x, y, { x: "variants by rank", y: "times as fast" }, { x: ticks(0, variants.length - 1, 8).filter(Number.isInteger), y: ticks(0, most) });
  const width = (right - left) / variants.length;
  const gap = width > 4 ? Math.min(width * 0.25, 8) : 0;
  for (const v of variants) {
    const at = x(v.rank) - width / 2 + gap / 2;
    const own = Math.min(width - gap, 40);
    plot.append(mark(v, choose, "rect", { class: `bar predicted${v.recipe ? "" : " original"}`, x: at + (width - gap - own) / 2, width: own, y: y(v.predicted_ratio), height: bottom - y(v.predicted_ratio) }));
  }
  plot.append(svg("line", { class: "reference", x1: left, x2: right, y1: y(1), y2: y(1) }));
  for (const v of variants) if (finite(v.measured_ratio)) plot.append(mark(v, choose, "path", { class: "dot measured", d: diamond(x(v.rank), y(v.measured_ratio), 5) }));
  return plot;
};

// Predicted against measured gain; on the diagonal the prediction is exact.
const scatter = (variants, choose) => {
  const both = variants.filter((v) => finite(v.measured_ratio) && v.measured_ratio > 0);
  const values = both.flatMap((v) => [v.predicted_ratio, v.measured_ratio]);
  const [low, high] = [Math.min(0.8, ...values) * 0.85, Math.max(1.25, ...values) * 1.2];
  const { left, right, top, bottom } = inside;
  const [x, y] = [logarithmic(low, high, left, right), logarithmic(low, high, bottom, top)];
  const plot = frame(`Predicted against measured gain of ${both.length} variants`);
  axes(plot, x, y, { x: "predicted, times as fast", y: "measured" }, { x: powers(low, high), y: powers(low, high), vertical: true });
  plot.append(svg("line", { class: "reference", x1: x(low), y1: y(low), x2: x(high), y2: y(high) }));
  for (const v of both) plot.append(mark(v, choose, "circle", { class: `dot predicted${v.recipe ? "" : " original"}`, cx: x(v.predicted_ratio), cy: y(v.measured_ratio), r: 5 }));
  return plot;
};

// Bytes that the terms of a cost move into a level.
const moved = (terms, name) => terms.reduce((sum, t) => sum + (t.name === name ? t.bytes : 0) + moved(t.parts, name), 0);

// Operations per cycle over operations per byte; `slope` is the level whose bytes count.
const roof = (region, slope, choose) => {
  const { roofline, variants } = region;
  const points = [];
  for (const v of variants) {
    const bytes = v.cost ? moved(v.cost.terms, slope.term) : 0;
    if (!(bytes > 0)) continue;
    const intensity = roofline.operations / bytes;
    points.push({ v, intensity, speed: roofline.operations / Math.max(v.cycles, 1), kind: "predicted" });
    if (v.seconds > 0) points.push({ v, intensity, speed: roofline.operations / (v.seconds * roofline.gigahertz * 1e9), kind: "measured" });
  }
  if (!points.length) return null;
  const peak = Math.max(...roofline.ceilings.map((c) => c.per_cycle));
  const ridge = peak / slope.per_cycle;
  const [xs, ys] = [points.map((p) => p.intensity), points.map((p) => p.speed)];
  const [lowX, highX] = [Math.min(ridge / 4, ...xs) / 1.5, Math.max(ridge * 2, ...xs) * 8];
  const [lowY, highY] = [Math.min(roofline.ceilings[0].per_cycle / 2, ...ys) / 1.5, Math.max(peak, ...ys) * 1.6];
  const { left, right, top, bottom } = inside;
  const [x, y] = [logarithmic(lowX, highX, left, right), logarithmic(lowY, highY, bottom, top)];
  const plot = frame(`Roofline: ${plural(points.filter((p) => p.kind === "predicted").length, "variant")} against what core and ${slope.from} can do`);
  axes(plot, x, y, { x: `${roofline.unit} per byte from ${slope.from}`, y: "per cycle" }, { x: powers(lowX, highX), y: powers(lowY, highY), vertical: true });
  const end = Math.min(highX, ridge);
  const start = Math.max(lowX, lowY / slope.per_cycle);
  if (start < end) {
    plot.append(svg("line", { class: "roof", x1: x(start), y1: y(start * slope.per_cycle), x2: x(end), y2: y(end * slope.per_cycle) }));
    plot.append(svg("text", { class: "tick", x: x(start) + 18, y: y(start * slope.per_cycle) + 2 }, `${count(slope.per_cycle)} bytes per cycle`));
  }
  for (const c of roofline.ceilings) {
    const from = Math.max(lowX, c.per_cycle / slope.per_cycle);
    plot.append(svg("line", { class: c.per_cycle === peak ? "roof" : "roof lower", x1: x(from), x2: right, y1: y(c.per_cycle), y2: y(c.per_cycle) }));
    plot.append(svg("text", { class: "tick", x: right - 4, y: y(c.per_cycle) - 5, "text-anchor": "end" }, `${c.name}: ${count(c.per_cycle)}`));
  }
  for (const p of points) {
    const place = p.kind === "measured" ? ["path", { d: diamond(x(p.intensity), y(p.speed), 5) }] : ["circle", { cx: x(p.intensity), cy: y(p.speed), r: 5 }];
    plot.append(mark(p.v, choose, place[0], { ...place[1], class: `dot ${p.kind}${p.v.recipe ? "" : " original"}` }));
  }
  return plot;
};

// What time goes to, with the class that colours it.
const KINDS = [
  ["computation", "compute"],
  ["entry and remainder", "entry"],
  ["L1 misses", "l1"],
  ["L2 misses", "l2"],
  ["L3 misses", "l3"],
  ["address translation", "pages"],
  ["outer loops", "outer"],
  ["other", "other"],
];
const kind = (name) => {
  if (name.endsWith("TLB misses")) return "address translation";
  return KINDS.some(([known]) => known === name) ? name : null;
};
// Cycles by kind. Parts of a term overlap in time: they share its cycles in proportion.
const byKind = (cost) => {
  const sums = new Map(KINDS.map(([name]) => [name, 0]));
  const add = (name, cycles) => sums.set(name, sums.get(name) + cycles);
  for (const term of cost.terms) {
    const parts = term.parts.filter((p) => kind(p.name));
    const whole = parts.reduce((sum, p) => sum + p.cycles, 0);
    if (kind(term.name) || !(whole > 0)) add(kind(term.name) || "other", term.cycles);
    else for (const p of parts) add(kind(p.name), (term.cycles * p.cycles) / whole);
  }
  return sums;
};

// The terms of costs as stacked bars: as shares of each, or in cycles.
const stacks = (variants, inCycles, choose) => {
  const costs = variants.filter((v) => v.cost);
  const row = 24;
  const height = costs.length * row + 34;
  const plot = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": `Terms of the predicted cost of ${costs.length} variants`, class: "plot" });
  const most = inCycles ? Math.max(...costs.map((v) => v.cycles), 1) : 1;
  const x = linear(0, most, 86, WIDTH - 76);
  for (const at of ticks(0, most, 5)) {
    plot.append(
      svg("line", { class: "grid", x1: x(at), x2: x(at), y1: 4, y2: height - 28 }),
      svg("text", { class: "tick", x: x(at), y: height - 12, "text-anchor": "middle" }, inCycles ? count(at) : share(at)),
    );
  }
  costs.forEach((v, line) => {
    const y = line * row + 6;
    const all = [...byKind(v.cost)].filter(([, cycles]) => cycles > 0);
    const sum = all.reduce((total, [, cycles]) => total + cycles, 0) || 1;
    const group = svg("g", { class: "stack", "data-variant": v.rank, click: () => choose(v.rank) });
    group.append(svg("text", { class: "tick", x: 80, y: y + 12, "text-anchor": "end" }, v.recipe ? `#${v.rank}` : "original"));
    let from = 0;
    for (const [name, cycles] of all) {
      const part = inCycles ? cycles : cycles / sum;
      group.append(
        svg("rect", { class: `term ${KINDS.find(([known]) => known === name)[1]}`, x: x(from), y, width: Math.max(x(from + part) - x(from), 0), height: row - 8 }, svg("title", {}, `${name}: ${count(cycles)} cycles, ${share(cycles / sum)}`)),
      );
      from += part;
    }
    group.append(svg("text", { class: "tick", x: x(from) + 6, y: y + 12 }, count(v.cycles)));
    plot.append(group);
  });
  return plot;
};
const legend = (names) =>
  el("ul", { class: "legend" }, names.map(([name, look]) => el("li", {}, el("span", { class: `swatch ${look}`, "aria-hidden": "true" }), name)));
