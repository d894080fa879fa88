// Elements and words. Text of the document enters the page here, as text nodes and attributes only.
const data = JSON.parse(document.getElementById("document").textContent);
const SPACE = "http://www.w3.org/2000/svg";

// Sets attributes, listeners (functions) and children: elements, text, lists, nothing.
const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
};
const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => fill(document.createElementNS(SPACE, name), attributes, children);

const finite = (x) => typeof x === "number" && Number.isFinite(x);
const scaled = (x, units) => {
  for (const [size, unit] of units) if (x >= size) return `${Number((x / size).toPrecision(3))} ${unit}`.trim();
  return String(Number(x.toPrecision(2)));
};
const count = (x) => (finite(x) ? scaled(x, [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]]) : "–");
const time = (s) => (finite(s) ? scaled(s * 1e9, [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]) : "–");
const ratio = (x) => (finite(x) ? `${x < 10 ? x.toFixed(2) : x.toFixed(1)}×` : "–");
const share = (x) => `${(100 * x).toFixed(x > 0 && x < 0.0995 ? 1 : 0)} %`;
const plural = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;
const tuple = (values) => `(${values.join(", ")})`;

// The steps of a recipe: a semicolon inside of parentheses separates arguments.
const steps = (recipe) => (recipe ? recipe.split(/(?<=\);)\s+/) : []);

// A word for the shell.
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

const copy = (text, name = "Copy") => {
  const button = el("button", { type: "button", class: "small", click: () => store() }, name);
  const told = (word) => {
    button.textContent = word;
    setTimeout(() => (button.textContent = name), 1500);
  };
  // Where pages may not write to the clipboard, the text is selected and copied as by hand.
  const byHand = () => {
    const area = el("textarea", { class: "unseen" });
    area.value = text;
    button.after(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };
  const store = () =>
    (navigator.clipboard ? navigator.clipboard.writeText(text).then(() => true, byHand) : Promise.resolve(byHand())).then((done) =>
      told(done ? "Copied" : "Not allowed"),
    );
  return button;
};

// Colours in a picture of its own are those seen now.
const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight", "text-anchor"];
const save = (picture, name) => {
  const own = picture.cloneNode(true);
  const [seen, copies] = [picture, own].map((p) => [p, ...p.querySelectorAll("*")]);
  seen.forEach((from, at) => {
    const style = getComputedStyle(from);
    LOOKS.forEach((look) => copies[at].setAttribute(look, style.getPropertyValue(look)));
  });
  const [x, y, width, height] = picture.getAttribute("viewBox").split(" ");
  own.prepend(svg("rect", { x, y, width, height, fill: getComputedStyle(document.body).backgroundColor }));
  own.setAttribute("width", width);
  own.setAttribute("height", height);
  const url = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(own)], { type: "image/svg+xml" }));
  el("a", { href: url, download: `${name}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
};

// A picture with its title, what it shows in words, and a way to keep it.
const figure = (title, picture, words, ...more) =>
  el(
    "figure",
    {},
    el("figcaption", {}, el("h3", {}, title), picture && el("button", { type: "button", class: "small", click: () => save(picture, title.replace(/\W+/g, "-").toLowerCase()) }, "Save as SVG")),
    more,
    picture,
    words && el("p", { class: "note" }, words),
  );
