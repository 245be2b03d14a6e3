// SPDX-License-Identifier: Apache-2.0
// The tree: a list of the rows that are unfolded, of which the page holds those that can be seen.
const data = JSON.parse(document.getElementById("data").textContent);
const lineHeight = 22;
const deepestIndent = 32;
const colours = ["#2a78d6", "#e0771b", "#2f9e44", "#c2388f", "#7a5af5", "#b58900", "#0f9ba8", "#d64545"];

const rows = data.rows.map((row, index) => ({ ...row, index, parent: null, hasChildren: false, open: false, group: -1 }));
const ancestors = [];
for (const row of rows) {
  ancestors.length = row.depth;
  row.parent = ancestors[row.depth - 1] ?? null;
  if (row.parent) row.parent.hasChildren = true;
  ancestors.push(row);
}
const kinds = new Map(data.names.map(([name, known]) => {
  const isKind = (kind) => {
    while (kind >= 0 && kind !== known) kind = data.kinds[kind].base;
    return kind === known;
  };
  return [toBytes(name), isKind];
}));

// What filters look at, made when a variable is first asked about.
function subject(row) {
  if (row.subject) return row.subject;
  const way = [];
  for (let at = row; at.parent; at = at.parent) way.push(at);
  way.reverse();
  const keys = way.map(({ key }) => Array.isArray(key) ? { isInteger: true, bytes: key[0] }
                                                       : { isInteger: false, bytes: toBytes(key) });
  return row.subject = {
    keys, path: way.map((at) => at.printed ?? keyText(at)).join("/"), kind: row.kind, dtype: data.dtypes[row.dtype],
    shape: row.shape, size: row.elements, tag: row.tag === undefined ? undefined : toBytes(row.tag),
  };
}
const keyText = ({ key }) => Array.isArray(key) ? key[0] : key;
const variables = rows.filter((row) => row.kind !== undefined);
const fields = [];

function addFilter(text) {
  const number = fields.length;
  const box = document.createElement("div");
  box.className = "filter";
  box.style.setProperty("--group", colours[number % colours.length]);
  const input = document.createElement("input");
  Object.assign(input, { value: text, placeholder: "A filter, such as Param & path('encoder')", spellcheck: false });
  input.setAttribute("aria-label", `Filter ${number}`);
  const count = document.createElement("span");
  count.className = "count";
  const error = document.createElement("pre");
  error.setAttribute("role", "alert");
  box.append(input, count, error);
  document.getElementById("filters").append(box);
  input.addEventListener("input", colour);
  fields.push({ box, input, count, error, filter: null });
  return input;
}

// The text with a caret under the mistake.
function errorText(text, { what, column, length, hint }) {
  const characters = Array.from(text.replace(/[\t\r\n]/g, " "));
  const begin = Math.max(0, column - 61);
  const head = begin > 0 ? "..." : "";
  const shown = characters.slice(begin, column + 60).join("") + (column + 60 < characters.length ? "..." : "");
  const caret = " ".repeat(head.length + column - 1 - begin) + "^" + "~".repeat(Math.min(length, 60) - 1);
  return `${what}, at column ${column}:\n  ${head}${shown}\n  ${caret}${hint ? `\n${hint}` : ""}`;
}

function parse(field) {
  const text = field.input.value;
  field.filter = null;
  field.error.textContent = "";
  field.box.removeAttribute("data-column");
  if (!text.trim()) return;
  try {
    field.filter = new FilterParser(text, kinds, data.dtypes).parse();
  } catch (error) {
    if (error instanceof Error) throw error;
    field.error.textContent = errorText(text, error);
    field.box.dataset.column = error.column;
  }
}

// Gives every variable the first filter that takes it.
function colour() {
  fields.forEach(parse);
  const active = fields.filter((field) => field.filter);
  const misplaced = active.find((field, i) => field.filter.isRest && active.slice(i).some((other) => !other.filter.isRest));
  if (misplaced) misplaced.error.textContent = "`rest` leaves nothing to the filters after it. Put it at the end.";
  const totals = fields.map(() => ({ variables: 0, bytes: 0 }));
  for (const row of variables) {
    row.group = misplaced ? -1 : fields.findIndex((field) => field.filter?.takes(subject(row)));
    if (row.group < 0) continue;
    ++totals[row.group].variables;
    totals[row.group].bytes += row.bytes;
  }
  fields.forEach(({ count, filter }, i) => {
    count.textContent = filter && !misplaced ? `${totals[i].variables} variables, ${byteText(totals[i].bytes)}` : "";
  });
  draw();
}

function byteText(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["KB", "MB", "GB"];
  let unit = 0;
  for (bytes /= 1000; unit + 1 < units.length && bytes >= 999.95; ++unit) bytes /= 1000;
  return `${bytes.toFixed(1)} ${units[unit]}`;
}

let shown = [];
function choose() {
  const wanted = document.getElementById("search").value.toLowerCase();
  shown = [];
  if (wanted) {
    const kept = new Set();
    for (const row of rows) {
      const text = row.kind === undefined ? row.printed ?? keyText(row) ?? "" : subject(row).path;
      if (!text.toLowerCase().includes(wanted)) continue;
      for (let at = row; at && !kept.has(at); at = at.parent) kept.add(at);
    }
    shown = rows.filter((row) => kept.has(row));
  } else {
    for (let i = 0; i < rows.length;) {
      shown.push(rows[i]);
      const { open, hasChildren, depth } = rows[i++];
      if (hasChildren && !open) while (i < rows.length && rows[i].depth > depth) ++i;
    }
  }
  draw();
}

function cell(className, text) {
  const span = document.createElement("span");
  span.className = className;
  span.textContent = text;
  return span;
}

function rowElement(row, line) {
  const element = document.createElement("div");
  element.className = "row";
  element.style.top = `${line * lineHeight}px`;
  element.style.setProperty("--indent", `${8 + 16 * Math.min(row.depth, deepestIndent)}px`);
  element.setAttribute("role", "treeitem");
  element.setAttribute("aria-level", row.depth + 1);
  if (row.group >= 0) {
    element.dataset.group = row.group;
    element.style.setProperty("--group", colours[row.group % colours.length]);
  }
  if (row.kind !== undefined) element.title = element.dataset.path = subject(row).path;
  const name = (row.depth > deepestIndent ? `(${row.depth}) ` : "") + (row.printed ?? keyText(row) ?? data.title);
  const key = cell("key", "");
  if (row.hasChildren) {
    const toggle = document.createElement("button");
    toggle.type = "button";
    toggle.textContent = row.open ? "▾" : "▸";
    toggle.setAttribute("aria-label", row.open ? "Fold" : "Unfold");
    toggle.addEventListener("click", () => {
      row.open = !row.open;
      choose();
    });
    key.append(toggle);
    element.setAttribute("aria-expanded", row.open);
  } else {
    key.append(cell("leaf", ""));
  }
  key.append(name);
  element.append(key, cell("what", row.what), cell("number", row.elements.toLocaleString("en")),
                 cell("number", byteText(row.bytes)));
  return element;
}

function draw() {
  const list = document.getElementById("list");
  const first = Math.max(0, Math.floor(list.scrollTop / lineHeight) - 5);
  const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / lineHeight) + 5);
  const container = document.getElementById("rows");
  container.style.height = `${shown.length * lineHeight}px`;
  container.replaceChildren(...shown.slice(first, last).map((row, i) => rowElement(row, first + i)));
}

function setOpen(isOpen) {
  for (const row of rows) row.open = isOpen || row.depth === 0;
  choose();
}

document.getElementById("add").addEventListener("click", () => addFilter("").focus());
document.getElementById("search").addEventListener("input", choose);
document.getElementById("unfold").addEventListener("click", () => setOpen(true));
document.getElementById("fold").addEventListener("click", () => setOpen(false));
document.getElementById("list").addEventListener("scroll", draw);
window.addEventListener("resize", draw);
document.getElementById("summary").textContent =
    `${variables.length} variables, ${rows[0].elements.toLocaleString("en")} elements, ${byteText(rows[0].bytes)}`;
for (const text of data.filters.length ? data.filters : [""]) addFilter(text);
const fewRows = 2000;
setOpen(rows.length <= fewRows);
colour();
