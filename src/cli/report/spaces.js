// Iteration spaces: instances of statements as points over two loops, dependences as arrows between them.
const CELL = 72;
const DOT = 6;
// Of two statements, from the middle of their cell.
const APART = 17;

const loopsOf = (region, statement) => (region.statements.find((s) => s.name === statement) || { loops: [] }).loops;
// The loops around both, and of those around one only the ones that are as deep: these are drawn over one another.
const paired = (a, b) => a.slice(0, b.length).map((name, at) => (name === b[at] ? name : `${name}, ${b[at]}`));

// The one or two loops that are drawn: those along which pairs go furthest first, else the innermost.
const chosenAxes = (common, pairs) => {
  const along = common.map((_, at) => pairs.some(([s, t]) => s[at] !== t[at]));
  const order = [...common.keys()].sort((a, b) => along[b] - along[a] || b - a);
  return order.slice(0, 2).sort((a, b) => a - b);
};

const arrowhead = (id) =>
  svg("defs", {}, svg("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, svg("path", { d: "M0 0L8 4L0 8Z", class: "head" })));

// An arrow between two points, bent a little, so that it passes by what lies between.
const arrow = (from, to, id, more) => {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy) || 1;
  const bend = length > 2 * APART ? Math.min(0.18 * length, 26) : 0;
  const middle = [(from[0] + to[0]) / 2 + (dy / length) * bend, (from[1] + to[1]) / 2 - (dx / length) * bend];
  const short = (end) => {
    const [x, y] = [middle[0] - end[0], middle[1] - end[1]];
    const own = Math.hypot(x, y) || 1;
    return [end[0] + (x / own) * (DOT + 2), end[1] + (y / own) * (DOT + 2)];
  };
  const [a, b] = [short(from), short(to)];
  return svg("path", { class: `arrow${more ? ` ${more}` : ""}`, d: `M${a[0]} ${a[1]}Q${middle[0]} ${middle[1]} ${b[0]} ${b[1]}`, "marker-end": `url(#${id})` });
};

let pictures = 0;

// `pairs`: [values of the source's loops, values of the target's]. `points`: of each of the two statements what is known to be
// executed, or nothing.
const space = (region, source, target, pairs, { points, label, look = "", numbers } = {}) => {
  const common = paired(loopsOf(region, source), loopsOf(region, target));
  if (!common.length) return ladder(source, target, pairs, label, look, numbers);
  const id = `head${pictures++}`;
  const [a, b] = common.length > 1 ? chosenAxes(common, pairs) : [null, 0];
  const others = [...common.keys()].filter((at) => at !== a && at !== b);
  // The plane in which most pairs begin.
  const planes = new Map();
  for (const [s] of pairs) {
    const plane = tuple(others.map((at) => s[at]));
    planes.set(plane, [...(planes.get(plane) || []), s]);
  }
  const [base] = [...planes.values()].reduce((most, list) => (list.length > most.length ? list : most));
  const inPlane = (dims) => others.every((at) => dims[at] === base[at]);
  const rowOf = (dims) => (a === null ? 0 : dims[a]);
  const drawn = pairs.filter(([s]) => inPlane(s));
  const known = points ? points.map((list) => list.filter(inPlane)) : [[], []];
  const all = [...drawn.flat(), ...known.flat()];
  if (!all.length) return null;
  const spread = points ? 0 : 1;
  const [lowRow, highRow] = [Math.min(...all.map(rowOf)) - (a === null ? 0 : spread), Math.max(...all.map(rowOf)) + (a === null ? 0 : spread)];
  const [lowColumn, highColumn] = [Math.min(...all.map((d) => d[b])) - spread, Math.max(...all.map((d) => d[b])) + spread];
  const [rows, columns] = [Math.min(highRow - lowRow + 1, 9), Math.min(highColumn - lowColumn + 1, 9)];
  // What is far away is drawn nearer: positions are those among the values that occur.
  const compact = (low, high, values) => (high - low < 9 ? (v) => v - low : (v) => [...new Set(values)].sort((p, q) => p - q).indexOf(v));
  const row = compact(lowRow, highRow, all.map(rowOf));
  const column = compact(lowColumn, highColumn, all.map((d) => d[b]));
  const [left, top] = [74, 44];
  const [width, height] = [left + columns * CELL + 10, top + rows * CELL + 10];
  const plot = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: `space ${look}`, style: `max-width:${width}px` }, arrowhead(id));
  const two = source !== target;
  const place = (dims, second) => [left + (column(dims[b]) + 0.5) * CELL + (two ? (second ? APART : -APART) : 0), top + (row(rowOf(dims)) + 0.5) * CELL];
  const line = (attributes) => plot.append(svg("line", { class: "grid", ...attributes }));
  const seen = new Set();
  const tick = (key, attributes, text) => !seen.has(key) && seen.add(key) && plot.append(svg("text", { class: "tick", ...attributes }, text));
  for (const dims of [...all].sort((p, q) => rowOf(p) - rowOf(q) || p[b] - q[b])) {
    const [cx, cy] = [left + (column(dims[b]) + 0.5) * CELL, top + (row(rowOf(dims)) + 0.5) * CELL];
    tick(`c${dims[b]}`, { x: cx, y: top - 8, "text-anchor": "middle" }, dims[b]);
    if (a !== null) tick(`r${dims[a]}`, { x: left - 10, y: cy + 4, "text-anchor": "end" }, dims[a]);
  }
  for (let r = 0; r < rows; r++) line({ x1: left, x2: width - 10, y1: top + (r + 0.5) * CELL, y2: top + (r + 0.5) * CELL });
  for (let c = 0; c < columns; c++) line({ x1: left + (c + 0.5) * CELL, x2: left + (c + 0.5) * CELL, y1: top, y2: height - 10 });
  plot.append(svg("text", { class: "name", x: left + (columns * CELL) / 2, y: 16, "text-anchor": "middle" }, `${common[b]} →`));
  if (a !== null) plot.append(svg("text", { class: "name", x: 8, y: top + (rows * CELL) / 2 + 4 }, `${common[a]} ↓`));
  const dots = new Set();
  const dot = (dims, second, bold) => {
    const [x, y] = place(dims, second);
    const key = `${x} ${y} ${bold}`;
    if (dots.has(key)) return;
    dots.add(key);
    const name = second ? target : source;
    plot.append(svg("circle", { class: `point${second && two ? " second" : ""}${bold ? " bold" : ""}`, cx: x, cy: y, r: DOT }, svg("title", {}, `${name} ${tuple(dims)}`)));
  };
  known[0].forEach((dims) => dot(dims, false, false));
  if (two) known[1].forEach((dims) => dot(dims, true, false));
  drawn.forEach(([s, t]) => {
    dot(s, false, !points);
    dot(t, true, !points);
    plot.append(arrow(place(s, false), place(t, true), id, inPlane(t) ? "" : "leaving"));
    if (numbers) {
      const ends = [place(s, false), place(t, true)];
      const downwards = ends[0][1] <= ends[1][1];
      ends.forEach(([x, y], at) => plot.append(svg("text", { class: "name", x, y: y + ((at === 1) === downwards ? DOT + 14 : -DOT - 6), "text-anchor": "middle" }, numbers[at])));
    }
  });
  plot.dataset.fixed = others.map((at) => `${common[at]} = ${base[at]}`).join(", ");
  return plot;
};

// Instances of statements of which one is in no loop: two columns.
const ladder = (source, target, pairs, label, look, numbers) => {
  const id = `head${pictures++}`;
  const list = pairs.slice(0, 8);
  if (!list.length) return null;
  const columns = [0, 1].map((at) => [...new Set(list.map((pair) => tuple(pair[at])))]);
  const height = Math.max(...columns.map((c) => c.length)) * 30 + 34;
  const plot = svg("svg", { viewBox: `0 0 420 ${height}`, role: "img", "aria-label": label, class: `space ${look}`, style: "max-width:420px" }, arrowhead(id));
  const place = (column, text) => [column ? 270 : 150, columns[column].indexOf(text) * 30 + 44];
  [source, target].forEach((name, at) => plot.append(svg("text", { class: "name", x: at ? 270 : 150, y: 18, "text-anchor": at ? "start" : "end" }, `${name}${numbers ? `: ${numbers[at]}` : ""}`)));
  columns.forEach((texts, at) =>
    texts.forEach((text) => {
      const [x, y] = place(at, text);
      plot.append(
        svg("circle", { class: `point${at ? " second" : ""}`, cx: x, cy: y, r: DOT }),
        svg("text", { class: "tick", x: x + (at ? 14 : -14), y: y + 4, "text-anchor": at ? "start" : "end" }, text),
      );
    }),
  );
  list.forEach(([s, t]) => plot.append(arrow(place(0, tuple(s)), place(1, tuple(t)), id)));
  plot.dataset.fixed = "";
  return plot;
};

// One instance, in its surroundings.
const single = (region, statement, dims, label) => space(region, statement, statement, [[dims, dims]], { label, look: "bad" });
