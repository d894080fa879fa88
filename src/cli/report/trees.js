// Trees, from the lines of their text.

// Nodes with their children; a brace ends what a line begins.
const parseTree = (text) => {
  const top = { text: "", children: [], parent: null };
  let at = top;
  for (const line of text.split("\n").map((l) => l.trim())) {
    if (line === "}") at = at.parent || top;
    else if (line) {
      const block = line.endsWith("{");
      const node = { text: block ? line.slice(0, -1).trim() : line, children: [], parent: at };
      at.children.push(node);
      if (block) at = node;
    }
  }
  return top;
};
const nodesOf = (node) => node.children.flatMap((child) => [child, ...nodesOf(child)]);
// The loop's variable, where it is a loop.
const variable = (text) => (text.match(/^(?:parallel |vector |library )?(?:for|loop|let) (\S+)/) || [])[1];
const chain = (node) => (node.parent ? `${chain(node.parent)}\n${node.text}` : "");

const STATES = {
  same: [" ", "as it was"],
  moved: ["↷", "moved"],
  changed: ["~", "other bounds"],
  added: ["+", "new"],
  gone: ["−", "gone"],
};
// What has become of each node, compared with the other tree.
const compare = (tree, other, missing) => {
  const chains = new Set(nodesOf(other).map(chain));
  const texts = new Set(nodesOf(other).map((n) => n.text));
  const variables = new Set(nodesOf(other).map((n) => variable(n.text)));
  for (const node of nodesOf(tree)) {
    const name = variable(node.text);
    if (chains.has(chain(node))) node.state = "same";
    else if (texts.has(node.text)) node.state = "moved";
    else node.state = name && variables.has(name) ? "changed" : missing;
  }
};

// Copies that differ in numbers only.
const shape = (node) => (node.shape ??= `${node.text.replace(/ \+ \d+$/, "").replace(/\d+/g, "0")}(${node.children.map(shape).join(",")})`);
const FOLDED = 3;

// Lines of a tree. Statements point at one another in both trees.
const treeLines = (node, depth, point) => {
  const list = [];
  const { children } = node;
  for (let at = 0; at < children.length; ) {
    let end = at + 1;
    while (end < children.length && children[end].children.length && shape(children[end]) === shape(children[at])) end++;
    const folded = end - at > FOLDED;
    for (const child of children.slice(at, folded ? at + 1 : end)) list.push(...treeNode(child, depth, point));
    if (folded) {
      const rest = children.slice(at + 1, end);
      const fold = el("div", { class: "line" }, el("span", { class: "state" }), indent(depth));
      const open = () => fold.replaceWith(...rest.flatMap((child) => treeNode(child, depth, point)));
      fold.append(el("button", { type: "button", class: "small", click: open }, `… ${rest.length} more like it`));
      list.push(fold);
    }
    at = end;
  }
  return list;
};
const indent = (depth) => el("span", { class: "indent", style: `width:${Math.min(depth, 40) * 1.1}rem` });
const treeNode = (node, depth, point) => {
  const [sign, word] = STATES[node.state];
  const leaf = !node.children.length;
  const line = el(
    "div",
    { class: `line ${node.state}${leaf ? " leaf" : ""}`, "data-text": leaf ? node.text : null, mouseenter: () => leaf && point(node.text), mouseleave: () => leaf && point(null) },
    el("span", { class: "state", title: word, "aria-label": word, role: "img" }, sign),
    indent(depth),
    el("code", {}, node.text),
  );
  return [line, ...treeLines(node, depth + 1, point)];
};

// Both trees side by side.
const sideBySide = (before, after) => {
  const [a, b] = [parseTree(before), parseTree(after)];
  compare(a, b, "gone");
  compare(b, a, "added");
  const box = el("div", { class: "trees" });
  const point = (text) => box.querySelectorAll(".leaf").forEach((line) => line.classList.toggle("pointed", line.dataset.text === text));
  const pane = (title, tree) => el("section", { "aria-label": title }, el("h4", {}, title), el("div", { class: "tree", tabindex: 0 }, treeLines(tree, 0, point)));
  box.append(pane("Before", a), pane("After", b));
  const states = Object.entries(STATES).filter(([name]) => name !== "same");
  return el("div", {}, box, el("ul", { class: "legend" }, states.map(([name, [sign, word]]) => el("li", {}, el("span", { class: `state ${name}`, "aria-hidden": "true" }, sign), word))));
};
