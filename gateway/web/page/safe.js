// HTML that the gateway rendered, rebuilt from what is allowed here. The gateway escapes already, and the page's policy
// runs no script of others; this is the third lock.

const plain = new Set(["P", "BR", "STRONG", "B", "EM", "I", "DEL", "S", "U", "CODE", "PRE", "UL", "OL", "LI", "BLOCKQUOTE", "H1", "H2",
  "H3", "H4", "H5", "H6", "TABLE", "THEAD", "TBODY", "TR", "TH", "TD", "HR", "SUP", "SUB", "DETAILS", "SUMMARY"]);
const dropped = new Set(["SCRIPT", "STYLE", "TEMPLATE", "IFRAME", "OBJECT", "SVG", "MATH", "HEAD", "TITLE"]);

/** safe returns nodes for an HTML text. */
export function safe(html) {
  const out = document.createDocumentFragment();
  copy(new DOMParser().parseFromString(html, "text/html").body, out);
  return out;
}

function copy(from, into) {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) into.append(node.data);
    else if (node.nodeType === Node.ELEMENT_NODE) copyElement(node, into);
  }
}

function copyElement(node, into) {
  const name = node.tagName.toUpperCase();
  if (dropped.has(name)) return;
  if (name === "A") return copyLink(node, into);
  if (name === "IMG") return into.append(node.getAttribute("alt") || "image");
  if (name === "INPUT") return into.append(node.hasAttribute("checked") ? "☑ " : "☐ ");
  if (!plain.has(name)) return copy(node, into);
  const copied = document.createElement(name);
  if (name === "OL" && /^\d{1,9}$/.test(node.getAttribute("start") || "")) copied.start = node.getAttribute("start");
  if (name === "TH") copied.scope = "col";
  copy(node, copied);
  into.append(name === "TABLE" ? scrollable(copied, "Table") : name === "PRE" ? scrollable(copied, "Code") : copied);
}

/** scrollable lets the keyboard scroll what is too wide. */
function scrollable(node, label) {
  const box = node.tagName === "PRE" ? node : document.createElement("div");
  if (box !== node) box.append(node);
  box.classList.add("wide-box");
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", label);
  return box;
}

function copyLink(node, into) {
  const a = document.createElement("a");
  let to;
  try {
    to = new URL(node.getAttribute("href"));
  } catch {
    return copy(node, into);
  }
  if (!["https:", "http:", "mailto:"].includes(to.protocol)) return copy(node, into);
  a.href = to.href;
  a.target = "_blank";
  a.rel = "noopener noreferrer";
  copy(node, a);
  into.append(a);
}
