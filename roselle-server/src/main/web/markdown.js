// Markdown as models write it, to elements. Whatever is not understood stays text; the time is linear in the length.
import { copy, element } from "./elements.js";
import { typeset } from "./formulas.js";
import { highlight } from "./highlighting.js";

const MOST_DEPTH = 16; // lists and quotes within each other
const MOST_OPENERS = 256; // marks that wait for their partner

/** The elements of a text: headings, paragraphs, lists, quotes, tables, code. */
export function markdown(text) {
  const fragment = document.createDocumentFragment();
  blocks(text.replaceAll("\r\n", "\n").split("\n"), fragment, 0);
  return fragment;
}

// ---- blocks ----

function blocks(lines, parent, depth) {
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    if (line.trim() === "") {
      at++;
    } else if (fence(line)) {
      at = code(lines, at, parent);
    } else if (formula(lines, at)) {
      at = display(lines, at, parent);
    } else if (heading(line)) {
      const { level, title } = heading(line);
      parent.append(inline(element("h" + level), title));
      at++;
    } else if (isRule(line)) {
      parent.append(element("hr"));
      at++;
    } else if (depth < MOST_DEPTH && line.trimStart().startsWith(">")) {
      at = quote(lines, at, parent, depth);
    } else if (depth < MOST_DEPTH && item(line)) {
      at = list(lines, at, parent, depth);
    } else if (isTable(lines, at)) {
      at = table(lines, at, parent);
    } else {
      at = paragraph(lines, at, parent, depth);
    }
  }
}

/** What opens a block of code: how far it is indented, its mark, its language. */
function fence(line) {
  const start = line.trimStart();
  const mark = start[0];
  if ((mark !== "`" && mark !== "~") || !start.startsWith(mark.repeat(3))) {
    return null;
  }
  let length = 3;
  while (start[length] === mark) {
    length++;
  }
  const language = start.slice(length).trim();
  if (mark === "`" && language.includes("`")) {
    return null;
  }
  return { indent: line.length - start.length, mark: mark.repeat(length), language };
}

function code(lines, at, parent) {
  const { indent, mark, language: words } = fence(lines[at]);
  const language = words.split(" ")[0].slice(0, 40);
  const content = [];
  let isClosed = false;
  for (at++; at < lines.length; at++) {
    const end = lines[at].trim();
    if (end.startsWith(mark) && end === mark[0].repeat(end.length)) {
      isClosed = true;
      at++;
      break;
    }
    content.push(withoutIndent(lines[at], indent));
  }
  const text = content.join("\n");
  const button = element("button", { type: "button", onclick: () => copy(button, text) }, "Copy");
  const shown = element("code", {}, text);
  if (isClosed) {
    highlight(shown, language, text); // what is still being written changes with each token
  }
  parent.append(
    element("div", { className: "block" }, element("header", {}, element("span", {}, language), button), element("pre", { tabIndex: 0 }, shown)),
  );
  return at;
}

const DISPLAYS = { "\\[": "\\]", $$: "$$" };

/** What ends the formula that opens in this line, if it does end. */
function formula(lines, at) {
  const opening = lines[at].trimStart().slice(0, 2);
  const closing = DISPLAYS[opening];
  if (closing === undefined) {
    return null;
  }
  const rest = lines[at].trim().slice(2);
  const isOneLine = rest.length > 2 && rest.endsWith(closing);
  const isOpen = opening === "$$" ? rest === "" : !rest.includes(closing);
  return isOneLine || isOpen ? closing : null;
}

/** A formula in lines of its own, to its end or, while it is still being written, to the next empty line. */
function display(lines, at, parent) {
  const closing = formula(lines, at);
  const content = [];
  let line = lines[at].trim().slice(2);
  while (!line.endsWith(closing) && at + 1 < lines.length && lines[at + 1].trim() !== "") {
    content.push(line);
    line = lines[++at].trim();
  }
  const isClosed = line.endsWith(closing);
  content.push(isClosed ? line.slice(0, -2) : line);
  const source = content.join("\n").trim();
  const place = element("pre", { className: "math", tabIndex: 0 }, source);
  if (isClosed) {
    typeset(place, source, true);
  }
  parent.append(place);
  return at + 1;
}

function withoutIndent(line, most) {
  return line.slice(Math.min(most, indentOf(line)));
}

function indentOf(line) {
  return line.length - line.trimStart().length;
}

function heading(line) {
  let level = 0;
  while (line[level] === "#") {
    level++;
  }
  return level > 0 && level <= 6 && line[level] === " " ? { level, title: line.slice(level).trim() } : null;
}

function isRule(line) {
  const marks = line.replaceAll(" ", "");
  return marks.length >= 3 && "-*_".includes(marks[0]) && marks === marks[0].repeat(marks.length);
}

function quote(lines, at, parent, depth) {
  const inner = [];
  for (; at < lines.length && lines[at].trimStart().startsWith(">"); at++) {
    const rest = lines[at].trimStart().slice(1);
    inner.push(rest.startsWith(" ") ? rest.slice(1) : rest);
  }
  const made = element("blockquote");
  blocks(inner, made, depth + 1);
  parent.append(made);
  return at;
}

/** What opens an item of a list: the column of its text, and its number where it has one. */
function item(line) {
  const indent = indentOf(line);
  let at = indent;
  while (at - indent < 9 && line[at] >= "0" && line[at] <= "9") {
    at++;
  }
  const isNumbered = at > indent && (line[at] === "." || line[at] === ")");
  const isMarked = at === indent && (line[at] === "-" || line[at] === "*" || line[at] === "+");
  if ((!isNumbered && !isMarked) || line[at + 1] !== " ") {
    return null;
  }
  return { indent, column: at + 2, isNumbered, number: isNumbered ? Number(line.slice(indent, at)) : 0 };
}

function list(lines, at, parent, depth) {
  const first = item(lines[at]);
  const made = element(first.isNumbered ? "ol" : "ul", first.isNumbered ? { start: first.number } : {});
  let next = item(lines[at]);
  while (next && next.indent <= first.indent + 1 && next.isNumbered === first.isNumbered) {
    const inner = [lines[at].slice(next.column)];
    for (at++; at < lines.length && belongs(lines, at, next); at++) {
      inner.push(withoutIndent(lines[at], next.column));
    }
    made.append(listItem(inner, depth));
    next = at < lines.length && !isRule(lines[at]) ? item(lines[at]) : null;
  }
  parent.append(made);
  return at;
}

/** Whether a line goes on with an item: indented below its text, lazily unindented, or a blank line before such a one. */
function belongs(lines, at, opened) {
  const line = lines[at];
  if (line.trim() === "") {
    const next = lines[at + 1] ?? "";
    return next.trim() !== "" && (indentOf(next) > opened.indent + 1 || item(next) !== null);
  }
  return indentOf(line) > opened.indent + 1 || (!item(line) && !startsBlock(line));
}

/** A short item is a line, a long one has paragraphs. */
function listItem(lines, depth) {
  const made = element("li");
  blocks(lines, made, depth + 1);
  const only = made.firstElementChild;
  if (only?.tagName === "P") {
    only.replaceWith(...only.childNodes);
  }
  return made;
}

function isTable(lines, at) {
  const rule = lines[at + 1];
  return lines[at].includes("|") && rule !== undefined && rule.includes("-") && [...rule].every((c) => " |:-".includes(c)) && rule.includes("|");
}

function table(lines, at, parent) {
  const sides = cells(lines[at + 1]).map(side);
  const row = (line, cell) =>
    element("tr", {}, ...cells(line).map((text, column) => inline(element(cell, sides[column] ? { className: sides[column] } : {}), text)));
  const made = element("table", {}, element("thead", {}, row(lines[at], "th")));
  const body = element("tbody");
  for (at += 2; at < lines.length && lines[at].includes("|"); at++) {
    body.append(row(lines[at], "td"));
  }
  made.append(body);
  parent.append(made);
  return at;
}

/** Where the texts of a column stand, by the colons of its rule. */
function side(rule) {
  if (!rule.endsWith(":")) {
    return "";
  }
  return rule.startsWith(":") ? "center" : "right";
}

function cells(line) {
  const trimmed = line.trim();
  const inner = trimmed.slice(trimmed.startsWith("|") ? 1 : 0, trimmed.endsWith("|") ? -1 : undefined);
  return inner.split("|").map((text) => text.trim());
}

function startsBlock(line) {
  return Boolean(fence(line) || formula([line], 0) || heading(line) || isRule(line) || line.trimStart().startsWith(">"));
}

function paragraph(lines, at, parent, depth) {
  const text = [lines[at].trim()];
  for (at++; at < lines.length && lines[at].trim() !== "" && !startsBlock(lines[at]); at++) {
    if (item(lines[at]) && depth < MOST_DEPTH) {
      break;
    }
    text.push(lines[at].trim());
  }
  parent.append(inline(element("p"), text.join("\n")));
  return at;
}

// ---- inline ----

const EMPHASIS = { "**": "strong", __: "strong", "*": "em", _: "em", "~~": "del" };
const SPECIAL = "\\`*_~[]\nh!$";
const MATHEMATICAL = /[\\^_={}<>+]|^[A-Za-z]$/;

/** Adds a text to an element. Nodes are kept in a list with the places of what may still be opened, as CommonMark does. */
function inline(parent, text) {
  const nodes = [];
  const openers = []; // { mark, index } of nodes that may begin an emphasis or a link
  const missing = new Set(); // lengths of runs of backticks that have no partner any more
  const lastFormula = text.lastIndexOf("\\)");
  let plain = "";
  const flush = () => {
    if (plain) {
      nodes.push(document.createTextNode(plain));
      plain = "";
    }
  };
  let at = 0;
  while (at < text.length) {
    const unit = text[at];
    if (!SPECIAL.includes(unit)) {
      plain += unit;
      at++;
    } else if (unit === "\\" && text[at + 1] === "(" && at < lastFormula) {
      flush();
      const end = text.indexOf("\\)", at);
      nodes.push(inlineFormula(text.slice(at + 2, end).trim()));
      at = end + 2;
    } else if (unit === "$" && dollars(text, at)) {
      flush();
      const { source, after } = dollars(text, at);
      nodes.push(inlineFormula(source));
      at = after;
    } else if (unit === "\\" && isPunctuation(text[at + 1])) {
      plain += text[at + 1];
      at += 2;
    } else if (unit === "\n") {
      flush();
      nodes.push(element("br"));
      at++;
    } else if (unit === "`") {
      const length = runLength(text, at);
      const end = missing.has(length) ? -1 : closingTicks(text, at + length, length);
      if (end < 0) {
        missing.add(length);
        plain += text.slice(at, at + length);
        at += length;
      } else {
        flush();
        nodes.push(element("code", {}, text.slice(at + length, end).replaceAll("\n", " ").trim()));
        at = end + length;
      }
    } else if (unit === "h" && address(text, at)) {
      flush();
      const url = address(text, at);
      nodes.push(link(url, url));
      at += url.length;
    } else if (unit === "[" || (unit === "!" && text[at + 1] === "[")) {
      flush();
      const mark = unit === "!" ? "![" : "[";
      if (openers.length < MOST_OPENERS) {
        openers.push({ mark: "[", index: nodes.length });
      }
      nodes.push(document.createTextNode(mark));
      at += mark.length;
    } else if (unit === "]") {
      flush();
      at = closeLink(text, at, nodes, openers);
    } else if ("*_~".includes(unit)) {
      flush();
      at = emphasis(text, at, nodes, openers);
    } else {
      plain += unit;
      at++;
    }
  }
  flush();
  parent.append(...nodes);
  return parent;
}

function inlineFormula(source) {
  const place = element("code", { className: "math" }, source);
  typeset(place, source, false);
  return place;
}

/** The formula between dollars, as pandoc has it, and only where it looks like one: prices stay prices. */
function dollars(text, at) {
  const mark = text[at + 1] === "$" ? "$$" : "$";
  const begin = at + mark.length;
  const end = text.indexOf(mark, begin);
  const after = end + mark.length;
  const source = text.slice(begin, Math.max(begin, end));
  const isApart = [text[at - 1], text[after]].every((unit) => unit === undefined || (unit !== "$" && !isWord(unit)));
  const isTight = source === source.trim() && !source.includes("\n");
  return end > begin && end - at < 2000 && isApart && isTight && MATHEMATICAL.test(source) ? { source, after } : null;
}

function isPunctuation(unit) {
  return unit !== undefined && "\\`*_{}[]()#+-.!~|<>\"'$%&,/:;=?@^".includes(unit);
}

function runLength(text, at) {
  let length = 1;
  while (text[at + length] === text[at]) {
    length++;
  }
  return length;
}

function closingTicks(text, from, length) {
  for (let at = text.indexOf("`", from); at >= 0; at = text.indexOf("`", at)) {
    const found = runLength(text, at);
    if (found === length) {
      return at;
    }
    at += found;
  }
  return -1;
}

function emphasis(text, at, nodes, openers) {
  const run = Math.min(runLength(text, at), 3);
  const innermost = openers.findLast((one) => one.mark[0] === text[at])?.mark.length ?? 0;
  const length = run === 3 && innermost > 0 ? innermost : Math.min(2, run);
  const mark = text[at].repeat(length);
  const after = at + length;
  if (!(mark in EMPHASIS)) {
    nodes.push(document.createTextNode(mark));
    return after;
  }
  const before = text[at - 1] ?? " ";
  const next = text[after] ?? " ";
  const isWordInside = mark[0] === "_" && isWord(before) && isWord(next);
  const opener = openers.findLastIndex((one) => one.mark === mark);
  if (opener >= 0 && before.trim() !== "" && !(mark[0] === "_" && isWord(next))) {
    const { index } = openers[opener];
    const children = nodes.splice(index + 1);
    nodes[index] = element(EMPHASIS[mark], {}, ...children);
    openers.length = opener;
  } else {
    if (next.trim() !== "" && !isWordInside && openers.length < MOST_OPENERS) {
      openers.push({ mark, index: nodes.length });
    }
    nodes.push(document.createTextNode(mark));
  }
  return after;
}

function isWord(unit) {
  return unit.toLowerCase() !== unit.toUpperCase() || (unit >= "0" && unit <= "9");
}

function closeLink(text, at, nodes, openers) {
  const opener = openers.findLastIndex((one) => one.mark === "[");
  const end = text[at + 1] === "(" ? text.slice(at + 2, at + 2050).indexOf(")") : -1;
  if (opener < 0 || end < 0) {
    nodes.push(document.createTextNode("]"));
    return at + 1;
  }
  const url = text.slice(at + 2, at + 2 + end).trim().split(" ")[0];
  const { index } = openers[opener];
  const children = nodes.splice(index + 1);
  openers.length = opener;
  if (isSafe(url)) {
    nodes[index] = link(url, ...children);
  } else {
    nodes.push(...children, document.createTextNode("](" + text.slice(at + 2, at + 2 + end) + ")"));
  }
  return at + 3 + end;
}

/** Only addresses that a reader can judge: never a script, a file, or data. */
function isSafe(url) {
  try {
    return ["http:", "https:", "mailto:"].includes(new URL(url).protocol);
  } catch {
    return false;
  }
}

function link(url, ...children) {
  return element("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, ...children);
}

/** A bare address that begins here, without the punctuation that ends a sentence. */
function address(text, at) {
  if (!text.startsWith("http://", at) && !text.startsWith("https://", at)) {
    return null;
  }
  let end = at;
  while (end < text.length && end - at < 2048 && !" \n\t<>\"`[]()".includes(text[end])) {
    end++;
  }
  while (".,;:!?'*_".includes(text[end - 1])) {
    end--;
  }
  const url = text.slice(at, end);
  return isSafe(url) ? url : null;
}
