// Markdown as elements: what models write, no more. A text that wants too many elements ends as plain text.

const MOST_ELEMENTS = 500;
const DEEPEST = 8;
const SAFE_ADDRESS = /^(https?:\/\/|mailto:)[^\s]+$/i;

const INLINE = new RegExp(
  [
    "(?<!`)(?<ticks>`{1,3})(?!`)(?<code>[^`](?:[^]{0,2000}?[^`])?)\\k<ticks>(?!`)",
    "!?\\[(?<label>[^\\[\\]\\n]{1,500})\\]\\((?<target>[^()\\s]{1,2000})(?:\\s\"[^\"\\n]{0,300}\")?\\)",
    "(?<bare>https?:\\/\\/[^\\s<>\"'`)\\]]{1,2000})",
    "\\*\\*(?=\\S)(?<strong>[^*\\n]{1,1000})\\*\\*",
    "(?<![\\w*])\\*(?=[^\\s*])(?<em>[^*\\n]{1,1000})\\*(?!\\w)",
    "(?<!\\w)_(?=[^\\s_])(?<under>[^_\\n]{1,1000})_(?!\\w)",
    "~~(?=\\S)(?<gone>[^~\\n]{1,1000})~~",
  ].join("|"),
  "g",
);

/** `text` as elements. */
function markdown(text) {
  const budget = { left: MOST_ELEMENTS };
  const holder = make("div.prose");
  blocksInto(holder, text.replace(/\r\n?/g, "\n").split("\n"), budget, 0);
  return holder;
}

function blocksInto(holder, lines, budget, depth) {
  let at = 0;
  let paragraph = [];
  const flush = () => {
    if (paragraph.length) holder.append(inline(make("p"), paragraph.join("\n"), budget, 0));
    paragraph = [];
  };
  while (at < lines.length) {
    if (budget.left <= 0 || depth > DEEPEST) {
      flush();
      holder.append(make("pre.plain", null, lines.slice(at).join("\n")));
      return;
    }
    const found = blockAt(lines, at, budget, depth);
    if (found) {
      flush();
      if (found.element) {
        budget.left -= 1;
        holder.append(found.element);
      }
      at = found.next;
    } else {
      paragraph.push(lines[at]);
      at += 1;
    }
  }
  flush();
}

/** The block that begins at line `at`, and the line behind it; null if a paragraph goes on there. */
function blockAt(lines, at, budget, depth) {
  const line = lines[at];
  if (!line.trim()) return { element: null, next: at + 1 };
  const fence = line.match(/^\s{0,12}(`{3,}|~{3,})\s*([^\s`]{0,40})/);
  if (fence) return fencedBlock(lines, at, fence);
  const heading = line.match(/^(#{1,6})\s+(.{1,500}?)\s*#*$/);
  if (heading) {
    const level = Math.min(heading[1].length + 2, 6); // the page has an h1, an entry an h2
    return { element: inline(make(`h${level}`), heading[2], budget, 0), next: at + 1 };
  }
  if (/^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) return { element: make("hr"), next: at + 1 };
  if (/^\s{0,3}>/.test(line)) return quotedBlock(lines, at, budget, depth);
  if (LIST_ITEM.test(line)) return listBlock(lines, at, budget, depth);
  if (line.includes("|") && /^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/.test(lines[at + 1] ?? "")) return tableBlock(lines, at, budget);
  return null;
}

function fencedBlock(lines, at, fence) {
  const end = new RegExp(`^\\s*${fence[1][0] === "`" ? "`" : "~"}{${fence[1].length},}\\s*$`);
  let next = at + 1;
  while (next < lines.length && !end.test(lines[next])) next += 1;
  const code = make("pre.code", { "data-language": fence[2] || null, tabindex: "0" }, lines.slice(at + 1, next).join("\n"));
  return { element: code, next: next + 1 };
}

function quotedBlock(lines, at, budget, depth) {
  const inner = [];
  while (at < lines.length && /^\s{0,3}>/.test(lines[at])) {
    inner.push(lines[at].replace(/^\s{0,3}>\s?/, ""));
    at += 1;
  }
  const element = make("blockquote");
  blocksInto(element, inner, budget, depth + 1);
  return { element, next: at };
}

const LIST_ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;

function listBlock(lines, at, budget, depth) {
  const [, indent, mark] = lines[at].match(LIST_ITEM);
  const isNumbered = /\d/.test(mark);
  const element = make(isNumbered ? "ol" : "ul", isNumbered && parseInt(mark, 10) !== 1 ? { start: parseInt(mark, 10) } : null);
  while (at < lines.length && budget.left > 0) {
    const item = lines[at].match(LIST_ITEM);
    if (!item || item[1].length > indent.length + 1 || /\d/.test(item[2]) !== isNumbered) break;
    const inner = [item[3]];
    at += 1;
    while (at < lines.length) {
      const line = lines[at];
      const deeper = line.match(/^\s*/)[0].length > indent.length;
      if (!line.trim() ? !/^\s+\S/.test(lines[at + 1] ?? "") : !deeper) break;
      inner.push(line.slice(Math.min(indent.length + 2, line.match(/^\s*/)[0].length)));
      at += 1;
    }
    budget.left -= 1;
    element.append(listItem(inner, budget, depth));
    if (!(lines[at] ?? "").trim() && LIST_ITEM.test(lines[at + 1] ?? "")) at += 1; // one blank line between items
  }
  return { element, next: at };
}

function listItem(inner, budget, depth) {
  const task = inner[0].match(/^\[([ xX])\]\s+/);
  if (task) inner[0] = `${task[1] === " " ? "☐" : "☑"} ${inner[0].slice(task[0].length)}`;
  const element = make("li");
  if (inner.length === 1) return inline(element, inner[0], budget, 0);
  blocksInto(element, inner, budget, depth + 1);
  return element;
}

function tableBlock(lines, at, budget) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).slice(0, 20).map((cell) => cell.trim());
  const row = (line, tag) => {
    const element = make("tr");
    for (const cell of cells(line)) {
      budget.left -= 1;
      element.append(inline(make(tag), cell, budget, 0));
    }
    return element;
  };
  const head = make("thead", null, row(lines[at], "th"));
  const body = make("tbody");
  let next = at + 2;
  while (next < lines.length && lines[next].includes("|") && budget.left > 0) {
    body.append(row(lines[next], "td"));
    next += 1;
  }
  return { element: make("div.table", { tabindex: "0" }, make("table", null, head, body)), next };
}

/** Put `text` into `element`, with what is marked in it. */
function inline(element, text, budget, depth) {
  let last = 0;
  for (const match of text.matchAll(INLINE)) {
    if (budget.left <= 0) break;
    add(element, [text.slice(last, match.index), marked(match, budget, depth)]);
    budget.left -= 2;
    last = match.index + match[0].length;
  }
  add(element, [text.slice(last)]);
  return element;
}

function marked(match, budget, depth) {
  const parts = match.groups;
  if (parts.code !== undefined) return make("code", null, parts.code);
  if (parts.bare) {
    const address = parts.bare.replace(/[.,;:!?]+$/, "");
    return [link(address, address), parts.bare.slice(address.length)];
  }
  if (parts.label !== undefined) return SAFE_ADDRESS.test(parts.target) ? link(parts.target, parts.label) : match[0];
  const [tag, inner] = parts.strong ? ["strong", parts.strong] : parts.gone ? ["del", parts.gone] : ["em", parts.em ?? parts.under];
  return depth > 3 ? match[0] : inline(make(tag), inner, budget, depth + 1);
}

function link(address, label) {
  return make("a", { href: address, title: address, rel: "noopener noreferrer nofollow", target: "_blank" }, label);
}
