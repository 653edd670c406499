// Tables of rows of one document, for parts that list: suspects, rises, spikes, churn, frees, modules,
// diagnostics, comparison. A part says what its columns are:
//
//     drawList({ id, rows, question, label, nameTitle, frames, columns })
//
// A row is one of the document, and its cells carry the exact numbers (data-measure, data-value), so
// the row can be found again in what the command prints. The first cell names the row: by its call
// stack, which opens, or as the part has it; a button beside it has what can be done with the row.
//
// A heading sorts. If the command can sort, it is asked again, because it may have more rows than
// are listed; else the rows that are listed are sorted here. How each list is sorted, and how long
// it is, is `lists` of the state.

const LIST_TOP = 12;
const FIRST_ROWS = 50; // of a list that has all of its rows
const LIST_TOP_MAX = 10000;

// --- the state of lists ---------------------------------------------------------------------

const LIST_WORD = /^([a-z]{1,20})~(-?[a-z0-9_]{0,40})~([1-9]\d{0,4})$/;

function readLists(text) {
  const lists = {};
  for (const word of text.split(",").slice(0, 20)) {
    const match = LIST_WORD.exec(word);
    if (match === null) return undefined;
    lists[match[1]] = { sort: match[2], top: Math.min(Number(match[3]), LIST_TOP_MAX) };
  }
  return lists;
}

function writeLists(lists) {
  return Object.entries(lists)
    .map(([id, { sort, top }]) => `${id}~${sort}~${top}`)
    .join(",");
}

defineState("lists", { default: {}, read: readLists, write: writeLists });

function listState(id) {
  return Object.hasOwn(state.lists, id) ? state.lists[id] : { sort: "", top: LIST_TOP };
}

function changeList(id, changes) {
  update({ lists: { ...state.lists, [id]: { ...listState(id), ...changes } } });
}

// Options for a list that the command sorts. `keys`: what it can be sorted by.
function listOptions(id, keys, usual) {
  const { sort, top } = listState(id);
  // A static page sorts the rows that it has.
  const isKnown = source.isLive && keys.includes(sort.replace(/^-/, ""));
  return [
    ["sort", isKnown ? sort : usual],
    ["top", String(top)],
  ];
}

// The filters, without those that the command or this view of it does not take. The part says
// which filters in force it does not follow.
function optionsWithout(...names) {
  return filterOptions().filter(([name]) => !names.includes(name));
}

// --- numbers --------------------------------------------------------------------------------

function listCell(column, row) {
  const value = column.key in row ? row[column.key] : null;
  if (column.draw) return make("td", { class: column.class ?? null }, column.draw(row, value));
  const attributes = { class: column.class ?? null };
  if (isUnknown(value)) return figure("td", column.key, null, UNKNOWN_TEXT, { ...attributes, title: "unknown" });
  return figure(
    "td",
    column.key,
    value,
    column.text ? column.text(value, row) : measureText(column.key, value),
    attributes,
  );
}

// --- names of rows --------------------------------------------------------------------------

// The innermost function, which opens the call stack. Frames are put into the page when they are
// opened.
function stackDetails(frames, head) {
  const details = make("details", {}, make("summary", {}, ...head));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(framesBox(frames));
  });
  return details;
}

function processSpan(process) {
  return [" ", make("span", { class: "detail process" }, `in ${process}`)];
}

// The name of a row with a call stack: its innermost function, the caller that tells it from others
// of the list, its process, and more lines below.
function stackName(frames, { nothing = NO_STACK_TEXT, caller = "", process = "", lines = [] }) {
  const head = [
    make("span", {}, ...breakable(frames.length === 0 ? nothing : frameText(frames[0]))),
    caller === "" ? null : make("span", { class: "detail" }, " ", ...breakable(caller)),
    ...(process === "" ? [] : processSpan(process)),
  ].filter((node) => node !== null);
  const below = lines
    .filter((line) => !isUnknown(line) && line !== "")
    .map((line) => make("p", { class: "hint" }, line));
  return [frames.length > 1 || hasCode(frames[0]) ? stackDetails(frames, head) : make("div", {}, ...head), ...below];
}

// The first depth at which the stacks are not alike, or -1. `idOf` tells frames apart.
function depthThatDiffers(stacks, idOf) {
  const longest = Math.max(...stacks.map((frames) => frames.length));
  for (let depth = 0; depth < longest; depth++)
    if (stacks.some((frames) => idOf(frames[depth]) !== idOf(stacks[0][depth]))) return depth;
  return -1;
}

// Of stacks that begin with the same function: the first caller that not all of them have, or else the
// line in which they differ.
function callersOf(stacks) {
  const byName = depthThatDiffers(stacks, (frame) => (frame === undefined ? "" : frameText(frame)));
  if (byName >= 0) return stacks.map((frames) => (byName in frames ? `\u2190 ${frameText(frames[byName])}` : ""));
  const byPlace = depthThatDiffers(stacks, frameId);
  if (byPlace <= 0) return stacks.map((frames) => (byPlace < 0 ? "" : `(at ${framePlace(frames[0])})`));
  return stacks.map((frames) => `\u2190 ${frameText(frames[byPlace])} (${framePlace(frames[byPlace])})`);
}

function callersThatDiffer(stacks) {
  const groups = new Map();
  stacks.forEach((frames, i) => {
    const first = frames.length === 0 ? "" : frameText(frames[0]);
    groups.set(first, [...(groups.get(first) ?? []), i]);
  });
  const callers = stacks.map(() => "");
  for (const group of groups.values()) {
    if (group.length < 2) continue;
    const texts = callersOf(group.map((i) => stacks[i]));
    group.forEach((i, k) => (callers[i] = texts[k]));
  }
  return callers;
}

// What can be done with a row: filters of its process and of its innermost function.
function rowItems(row, frames) {
  const items = [...keyItems(row, "process"), ...frameItems(frames[0]), freersItem(frames), copyStackItem(frames)];
  return items.filter((item) => item !== null);
}

function listNameCell(list, row, caller) {
  const frames = list.frames?.(row) ?? [];
  const words = { nothing: list.nothing, caller, process: processText(row), lines: list.lines?.(row) };
  const parts = list.name ? list.name(row) : stackName(frames, words);
  const items = list.items ? list.items(row) : rowItems(row, frames);
  const what = parts.find((part) => part !== null)?.textContent ?? "this row";
  return make(
    "th",
    { scope: "row", class: "name" },
    make(
      "div",
      { class: "named" },
      make("div", {}, ...parts.filter((part) => part !== null)),
      items.length > 0 ? menuButton(items, what) : null,
    ),
  );
}

// As many digits as the span needs, and no more than the moment has.
function momentText(ns, span) {
  return formatTime(ns, ns % 1e6 === 0 ? 1e9 : span);
}

function windowOfRow({ from_ns: from, to_ns: to }) {
  return `${momentText(from, to - from)} \u2013 ${momentText(to, to - from)}`;
}

// A button that selects the window of a row.
function windowButton(row, text = windowOfRow(row)) {
  const act = () => {
    update({ from: row.from_ns, to: row.to_ns });
    announce(`Selected ${windowOfRow(row)}`);
  };
  const button = make("button", { type: "button", class: "moment", onclick: act }, text);
  button.title = `Select ${windowOfRow(row)}`;
  button.dataset.from = String(row.from_ns);
  button.dataset.to = String(row.to_ns);
  return button;
}

// --- sorting --------------------------------------------------------------------------------

function isUp(sort) {
  return sort.startsWith("-");
}

// What is unknown comes last.
function rowOrder(key, sign) {
  return ({ row: a }, { row: b }) => {
    const [left, right] = [a[key], b[key]];
    if (isUnknown(left) || isUnknown(right)) return Number(isUnknown(left)) - Number(isUnknown(right));
    return sign * (left < right ? -1 : left > right ? 1 : 0);
  };
}

function isSortedByCommand(list) {
  return list.isAsked === true && source.isLive;
}

function sortedListRows(list, sort) {
  const rows = list.rows.map((row, index) => ({ row, index })).filter(({ row }) => list.isShown?.(row) ?? true);
  const key = sort.replace(/^-/, "");
  if (isSortedByCommand(list) || !list.columns.some((column) => column.key === key)) return rows;
  return rows.sort(rowOrder(key, isUp(sort) ? 1 : -1));
}

function listHeadCell(list, column, sort) {
  const title = column.title ?? WORDS[column.key];
  const attributes = { scope: "col", class: column.class?.replace(" mono", "") ?? null };
  const canSort = column.isSorted !== false && (!list.isAsked || list.sortKeys.includes(column.key));
  if (!canSort) return make("th", attributes, title);
  const isBy = sort.replace(/^-/, "") === column.key;
  const next = isBy && !isUp(sort) ? `-${column.key}` : column.key;
  const button = make("button", { type: "button", onclick: () => changeList(list.id, { sort: next }) }, title);
  const order = !isBy ? "none" : isUp(sort) ? "ascending" : "descending";
  return make("th", { ...attributes, "aria-sort": order }, button);
}

// --- drawing anew -----------------------------------------------------------------------------

function controlKey(control) {
  const name =
    control.dataset.key ?? control.getAttribute("aria-label") ?? control.closest("label, button, summary")?.textContent;
  return `${control.tagName} ${control.closest("table")?.dataset.rows ?? ""} ${name}`;
}

// Puts the new picture of a part in the place of the old one. Who works with keys stays at the control
// that was pressed, or goes to the heading of the part if it is gone.
function replaceBody(body, ...nodes) {
  const focused = body.contains(document.activeElement) ? document.activeElement : null;
  const controlsLike = (key) =>
    [...body.querySelectorAll("button, select, summary")].filter((one) => controlKey(one) === key);
  const key = focused === null ? "" : controlKey(focused);
  const at = focused === null ? 0 : controlsLike(key).indexOf(focused);
  clear(body).append(...nodes.filter((node) => node !== null));
  if (focused === null) return;
  const heading = body.closest("section").querySelector("h2");
  const next = controlsLike(key)[at] ?? heading;
  if (next === heading) heading.tabIndex = -1;
  next.focus({ preventScroll: true });
}

// --- the table ------------------------------------------------------------------------------

// How many rows are shown of an answer that has all of them.
function firstRowsOf(list) {
  const { top } = listState(list.id);
  return top === LIST_TOP ? FIRST_ROWS : top;
}

function moreOfList(list, shown, known) {
  const top = list.isWhole ? firstRowsOf(list) : listState(list.id).top;
  const { command, options } = list.question;
  if (source.isCut(command, options) && shown === known)
    return make("p", { class: "after" }, `The first ${plural(shown, "row")}: this page has no others.`);
  const isCut = list.isWhole ? shown < known : list.canGrow && list.rows.length >= top && top < LIST_TOP_MAX;
  if (!isCut) return null;
  const more = Math.min(LIST_TOP_MAX, top * 4);
  const act = () => changeList(list.id, { top: more });
  return make(
    "p",
    { class: "after" },
    `The first ${plural(shown, "row")}. `,
    make("button", { type: "button", "data-key": "more", onclick: act }, `Show up to ${formatCount(more)}`),
  );
}

// What belongs to a row and is as wide as the table.
function rowBelow(list, row, width) {
  const node = list.below?.(row) ?? null;
  return node === null ? [] : [make("tr", { class: "below" }, make("td", { colspan: String(width) }, node))];
}

// list: id, rows, path (of the rows in the document), question,
//   label (what the table is about), nameTitle, columns, below(row);
//   frames(row), nothing (in place of a stack) and lines(row), or name(row) -> nodes; items(row);
//   isShown(row), isWhole (rows are all there are), canGrow (the question has `top`), isAsked and sortKeys (the command sorts), usual (sort).
// Columns: key; and title, text(value, row), draw(row, value), class, isSorted. Columns in which
// nothing is known, as sizes of handles, are left out.
function drawList(list) {
  const { sort: chosen } = listState(list.id);
  const canSortBy = (key) => (list.isAsked ? list.sortKeys : list.columns.map((column) => column.key)).includes(key);
  const sort = canSortBy(chosen.replace(/^-/, "")) ? chosen : (list.usual ?? "");
  const known = sortedListRows(list, sort);
  const rows = list.isWhole ? known.slice(0, firstRowsOf(list)) : known;
  const columns = list.columns.filter((column) => column.draw || rows.some(({ row }) => !isUnknown(row[column.key])));
  const head = make(
    "tr",
    {},
    make("th", { scope: "col" }, list.nameTitle),
    ...columns.map((column) => listHeadCell(list, column, sort)),
  );
  const callers = list.frames ? callersThatDiffer(rows.map(({ row }) => list.frames(row))) : [];
  const body = rows.flatMap(({ row, index }, at) => [
    keepFrames(
      make(
        "tr",
        { "data-row": String(index) },
        listNameCell(list, row, callers[at] ?? ""),
        ...columns.map((column) => listCell(column, row)),
      ),
      list.frames?.(row) ?? [],
    ),
    ...rowBelow(list, row, columns.length + 1),
  ]);
  const table = make(
    "table",
    { class: "list", "data-rows": list.path ?? "rows" },
    make("caption", { class: "sr" }, list.label),
  );
  table.dataset.command = source.commandFor(list.question.command, list.question.options);
  table.append(make("thead", {}, head), make("tbody", {}, ...body));
  return make("div", {}, scrolledTable(table, list.label), moreOfList(list, rows.length, known.length));
}

// What does not fit is scrolled to. A table without buttons must itself take the keys for that.
function scrolledTable(table, label) {
  const box = make("div", { class: "panel scroll" }, table);
  if (table.querySelector("button, summary") === null)
    setAttributes(box, { tabindex: "0", role: "group", "aria-label": label });
  return box;
}

// A sentence in place of a table.
function emptyList(sentence) {
  return make("p", { class: "panel empty" }, sentence);
}
