// What the rest is built with. Text only ever becomes a text node.

const data = JSON.parse(document.getElementById("data").textContent);

const SEVERITIES = ["CRITICAL", "HIGH", "MEDIUM", "LOW"];
const CHUNK = 100;

// An element: `h("p", { class: "x", onclick }, "text", child)`.
function h(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const number = (value) => Number(value).toLocaleString("en-US");
const plural = (count, one, many) => `${number(count)} ${count === 1 ? one : many}`;
const sum = (list, of) => list.reduce((total, item) => total + of(item), 0);

function duration(milliseconds) {
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

const money = (usd) => (usd > 0 && usd < 0.01 ? "< $0.01" : `$${usd.toFixed(2)}`);

// Prose in which pairs of backticks make code.
function prose(text) {
  const nodes = [];
  let rest = text;
  for (;;) {
    const match = /(?<!`)`([^`\s](?:[^`\n]*[^`\s])?)`(?!`)/.exec(rest);
    if (!match) break;
    nodes.push(rest.slice(0, match.index), h("code", {}, match[1]));
    rest = rest.slice(match.index + match[0].length);
  }
  nodes.push(rest);
  return nodes.filter((node) => node !== "");
}

const titles = new Map(data.agents.map((agent) => [agent.name, agent.title]));
const title = (name) => titles.get(name) || name;

// A list that grows as it is scrolled, so that thousands of rows cost what is seen of them.
class Growing {
  constructor(container, make) {
    this.container = container;
    this.make = make;
    this.items = [];
    this.shown = 0;
    this.end = h("div", { "aria-hidden": "true" });
    this.observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && this.grow(),
      { rootMargin: "800px" },
    );
  }

  show(items, empty) {
    this.items = items;
    this.shown = 0;
    this.container.replaceChildren();
    this.observer.disconnect();
    if (!items.length) {
      this.container.append(empty);
      return;
    }
    this.grow();
  }

  grow(upTo = this.shown + CHUNK) {
    const end = Math.min(this.items.length, upTo);
    const fragment = document.createDocumentFragment();
    for (; this.shown < end; this.shown++) fragment.append(this.make(this.items[this.shown], this.shown));
    this.end.remove();
    this.container.append(fragment);
    if (this.shown < this.items.length) {
      this.anchor().append(this.end);
      // Observing anew reports at once whether the end is still in sight.
      this.observer.disconnect();
      this.observer.observe(this.end);
    }
  }

  anchor() {
    return this.container.tagName === "TBODY" ? this.container.closest(".list") : this.container;
  }

  all() {
    this.grow(this.items.length);
  }
}

function copyable(text) {
  const button = h("button", { class: "quiet", type: "button", onclick: () => copy(text, button) }, "Copy");
  return button;
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    const code = button.parentElement.querySelector("code");
    if (code) getSelection().selectAllChildren(code);
    button.textContent = "Selected";
  }
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

function select(label, options, onchange) {
  const element = h("select", { "aria-label": label, onchange });
  for (const [value, text] of options) element.append(h("option", { value }, text));
  return element;
}
