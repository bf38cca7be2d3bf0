// Markdown as it comes in: finished blocks are built once, only the last one is built again. What it makes is close to what
// the gateway renders at the end, so that the exchange is hardly seen. It builds nodes, never HTML.

/** Live shows a text that grows. */
export class Live {
  constructor(box) {
    this.box = box;
    this.set("");
  }

  set(text) {
    this.text = "";
    this.done = 0;
    this.open = null;
    this.box.replaceChildren();
    this.add(text);
  }

  add(text) {
    this.text += text;
    for (let end; (end = blockEnd(this.text, this.done)) >= 0; this.done = end) {
      this.show(this.text.slice(this.done, end));
      this.open = null;
    }
    this.show(this.text.slice(this.done));
  }

  show(source) {
    if (!source.trim()) return;
    const node = block(source);
    if (this.open) this.open.replaceWith(node);
    else this.box.append(node);
    this.open = node;
  }
}

const fence = /^ {0,3}(`{3,}|~{3,})[^`\n]*$/;

/** blockEnd returns where the block that begins at from is certainly over, -1 while it is not. */
function blockEnd(text, from) {
  let at = from;
  let closing = null;
  let begun = false;
  while (true) {
    const end = text.indexOf("\n", at);
    if (end < 0) return -1;
    const line = text.slice(at, end);
    at = end + 1;
    if (closing) {
      if (line.trim().startsWith(closing) && !line.trim().slice(closing.length).trim()) return at;
    } else if (fence.test(line)) {
      if (begun) return end + 1 - line.length - 1;
      closing = line.match(fence)[1];
      begun = true;
    } else if (line.trim()) begun = true;
    else if (begun) return at;
  }
}

function block(source) {
  const lines = source.replace(/^\n+|\n+$/g, "").split("\n");
  const first = lines[0];
  if (fence.test(first)) return code(lines);
  const heading = first.match(/^(#{1,6}) +(.*)$/);
  if (heading && lines.length === 1) return element("h" + heading[1].length, inline(heading[2]));
  if (/^ {0,3}([-*+]|\d+[.)]) /.test(first)) return list(lines);
  if (first.startsWith(">")) return element("blockquote", [element("p", inline(lines.map((l) => l.replace(/^> ?/, "")).join("\n")))]);
  if (first.startsWith("|")) return element("pre", [lines.join("\n")]);
  return element("p", inline(lines.join("\n")));
}

function code(lines) {
  const mark = lines[0].match(fence)[1];
  const last = lines.length > 1 && lines[lines.length - 1].trim().startsWith(mark) ? -1 : undefined;
  const pre = element("pre", [element("code", [lines.slice(1, last).join("\n")])]);
  pre.className = "wide-box";
  return pre;
}

function list(lines) {
  const ordered = /^ {0,3}\d/.test(lines[0]);
  const box = element(ordered ? "ol" : "ul", []);
  if (ordered) box.start = parseInt(lines[0], 10) || 1;
  for (const line of lines) {
    const item = line.match(/^ *(?:[-*+]|\d+[.)]) +(.*)$/);
    if (item || !box.lastChild) box.append(element("li", inline(item ? item[1] : line)));
    else box.lastChild.append("\n", ...inline(line.trim()));
  }
  return box;
}

const marks = /(`+)([^`][\s\S]*?)\1|\*\*([^*\n]+)\*\*|__([^_\n]+)__|\*([^*\s][^*\n]*)\*|~~([^~\n]+)~~|\[([^\]\n]+)\]\([^)\s]+\)/g;

function inline(text) {
  const out = [];
  let at = 0;
  for (const m of text.matchAll(marks)) {
    out.push(text.slice(at, m.index));
    if (m[2] !== undefined) out.push(element("code", [m[2]]));
    else if (m[3] || m[4]) out.push(element("strong", [m[3] || m[4]]));
    else if (m[5]) out.push(element("em", [m[5]]));
    else if (m[6]) out.push(element("del", [m[6]]));
    else out.push(m[7]);
    at = m.index + m[0].length;
  }
  out.push(text.slice(at));
  return out;
}

/** element makes one with children, which are nodes or texts. */
export function element(name, children = [], attributes = {}) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}
