// The table: keys that make rows, a gold bar, and the measures of each row, as in WPA.
//
//     Process > Handle > Type > Stack  [+]  || Outstanding Size | Count | ...
//     v app.exe (42)                        ||         12.4 MiB |   310 |
//         > 0x1f0000                        ||         11.9 MiB |   288 |
//
// Keys are buttons left of the bar: drag them, or open their menu. Rows are a treegrid made by
// view_table_rows.js from one answer a level. An update of the state asks anew; opening a row or
// showing more of what was answered only paints the rows again.

const ROWS_SHOWN = 15,
  ROWS_MORE = 200,
  FEW_ROWS = 30;

const table = {
  keys: [],
  levels: [],
  below: new Map(),
  root: null,
  entries: [],
  open: new Map(),
  shown: new Map(),
  focus: "",
  focusKey: null,
  body: null,
  rows: null,
  context: null,
  total: null,
  whole: null, // the sums of all, while those of a search are the total
  scroll: 0,
  note: null,
  marked: null, // what the rows that a search marks have
};

// --- which rows are listed -----------------------------------------------------------------------

function canOpenNode(node) {
  return node.level < table.keys.length || STACK_KEYS.has(node.key);
}

// Unless the user says otherwise, the path to the largest row is open, or all of a small table.
function isOpenNode(node, isFirst) {
  const isInner = node.level < table.keys.length;
  return table.open.get(node.id) ?? (isInner && (isFirst || rowsOfPages(table.levels.at(-1)) <= FEW_ROWS));
}

function listTableRows(parent, isFirst, listed) {
  const children = [...parent.children.values()];
  labelNodes(children.slice(0, table.shown.get(parent.id) ?? ROWS_SHOWN));
  const most = Math.min(children.length, table.shown.get(parent.id) ?? ROWS_SHOWN);
  for (let i = 0; i < most; i++) {
    const node = children[i];
    const isOpen = canOpenNode(node) && isOpenNode(node, isFirst && i === 0);
    listed.push({ id: node.id, node, isOpen, position: i + 1, size: children.length });
    if (isOpen) listTableRows(node, isFirst && i === 0, listed);
  }
  const left = children.length - most;
  if (left > 0 || parent.isCut) listed.push({ id: `${parent.id}\u0001more`, node: parent, left, isMore: true });
}

// --- painting ------------------------------------------------------------------------------------

function paintRows() {
  const listed = [];
  listTableRows(table.root, true, listed);
  table.entries = listed;
  const columns = columnsShown();
  const fragment = new DocumentFragment();
  fragment.append(...tableTotalRows(columns));
  for (const entry of listed) {
    fragment.append(entry.isMore ? moreTableRow(entry, columns) : tableNodeRow(entry, columns));
    if (entry.isOpen && STACK_KEYS.has(entry.node.key)) fragment.append(tableFramesRow(entry.node, columns));
  }
  table.rows.replaceChildren(fragment);
  const rows = rowsToFocus();
  const current = rows.find((row) => row.dataset.id === table.focus) ?? rows[0];
  if (current) current.tabIndex = 0;
  table.marked.replaceChildren(...markedSums());
  if (state.curves) watchCurves(rows);
}

function columnCount(columns) {
  return columns.length + 1 + (state.curves ? 1 : 0);
}

function tableTotalRows(columns) {
  const all = `All of ${state.kind}`;
  if (table.whole === null) return [tableTotalRow(columns, table.total, all)];
  return [tableTotalRow(columns, table.whole, all), tableTotalRow(columns, table.total, foundName())];
}

const ADDED_UP = ["size", "count", "outstanding_size", "outstanding_count", "impacting_size"];

// What is found, and its share of all, in the column that sorts.
function foundName() {
  const { column } = sortOfTable(table.keys);
  const [part, whole] = [table.total.sums?.[column], table.whole.sums?.[column]];
  const hasShare = ADDED_UP.includes(column) && whole > 0 && part >= 0;
  const share = hasShare ? ` (${formatPercent(part, whole)} of ${WORDS[column]})` : "";
  return `With ${searchText()}${share}`;
}

function tableTotalRow(columns, total, text) {
  const name = make("th", { scope: "row", role: "rowheader", class: "gold" }, text);
  const row = make(
    "tr",
    { class: "total", role: "row", "aria-level": 1, "data-row": "totals", "data-command": total.command },
    name,
  );
  for (const key of columns) row.append(measureCell(key, total.sums?.[key], "only rows have this"));
  if (state.curves) row.append(make("td", { role: "gridcell" }));
  return row;
}

function tableNodeRow(entry, columns) {
  const { node, isOpen } = entry;
  const row = make(
    "tr",
    {
      role: "row",
      tabindex: -1,
      class: `level-${node.level}${isTableMatch(node) ? " match" : ""}`,
      "aria-level": node.level,
      "aria-posinset": entry.position,
      "aria-setsize": node.parent.isCut ? -1 : entry.size,
      "aria-expanded": canOpenNode(node) ? String(isOpen) : null,
      "data-id": node.id,
      "data-row": node.row === null ? null : node.index,
      "data-command": node.page === null ? null : node.page.command,
    },
    nameCell(node, isOpen),
  );
  const keys = table.keys.slice(0, node.level);
  for (const key of columns) {
    const why = node.row === null ? "not among the rows asked for" : whyNoCell(key, keys);
    row.append(measureCell(key, node.row?.[key], why));
  }
  if (state.curves) row.append(make("td", { role: "gridcell", class: "curve" }));
  return STACK_KEYS.has(node.key)
    ? keepFrames(row, framesOfRow(node.sample.answer, node.sample.row, node.key) ?? [])
    : row;
}

function isTableMatch(node) {
  const words = state.search.trim().toLowerCase();
  return words !== "" && `${node.label.text} ${node.label.detail}`.toLowerCase().includes(words);
}

// What is below a row that matches is in its sum.
function markedNodes() {
  const isMarked = ({ node, isMore }) => !isMore && isTableMatch(node) && !pathToNode(node.parent).some(isTableMatch);
  return table.entries.filter(isMarked).map(({ node }) => node);
}

// While the search cannot narrow the sums: those of the rows that are shown.
function markedSums() {
  if (state.search === "" || isNarrowing()) return [];
  const nodes = markedNodes();
  const { column } = sortOfTable(table.keys);
  const text = `${plural(nodes.length, "row shown matches", "rows shown match")} ${searchText()}`;
  const canAdd = ADDED_UP.includes(column) && nodes.every(({ row }) => Number.isInteger(row?.[column]));
  const whole = table.total.sums?.[column];
  if (nodes.length === 0 || !canAdd || isUnknown(whole)) return [`${text}.`];
  const sum = nodes.reduce((total, { row }) => total + row[column], 0);
  const { command } = table.total;
  return [
    `${text}: `,
    figure("span", column, sum, measureText(column, sum), { "data-rest": "marked", "data-command": command }),
    " of ",
    figure("span", column, whole, measureText(column, whole), { "data-row": "totals", "data-command": command }),
    ` ${WORDS[column]}.`,
  ];
}

function nameCell(node, isOpen) {
  const { text, detail } = node.label;
  const cell = make(
    "th",
    { scope: "row", role: "rowheader", class: "gold name" },
    make("span", { class: "twist", "aria-hidden": "true" }, canOpenNode(node) ? (isOpen ? "\u25be" : "\u25b8") : ""),
    make(
      "span",
      { class: "label" },
      ...withHits(text),
      detail === "" ? "" : make("span", { class: "detail" }, ...withHits(` ${detail}`)),
    ),
    make("button", { type: "button", class: "row-menu", tabindex: -1, "aria-label": `Actions for ${text}` }, "\u22ef"),
  );
  cell.style.setProperty("--level", node.level - 1);
  return cell;
}

// The text, with what matches the search marked.
function withHits(text) {
  const words = state.search.toLowerCase();
  const nodes = [];
  let from = 0;
  for (let at; words !== "" && (at = text.toLowerCase().indexOf(words, from)) >= 0; from = at + words.length)
    nodes.push(...breakable(text.slice(from, at)), make("span", { class: "hit" }, text.slice(at, at + words.length)));
  return [...nodes, ...breakable(text.slice(from))];
}

// Long names of functions wrap behind "!", "::" and folders, and not in the middle of a word.
function breakable(text) {
  const parts = [];
  for (const part of text.split(/(?<=!|::|[\\/,<])/)) {
    if (parts.length > 0) parts.push(make("wbr"));
    parts.push(part);
  }
  return parts;
}

function moreTableRow(entry, columns) {
  const { node, left } = entry;
  const asks = node.canAsk && node.isCut && left < ROWS_MORE;
  const more = asks ? `show them and ask for ${TABLE_TOP} more` : `show ${formatCount(Math.min(left, ROWS_MORE))}`;
  const rest = restOfRows(node);
  const text =
    left > 0
      ? [
          `${formatCount(left)}${node.isCut ? " or more" : ""} other ${left === 1 ? "row" : "rows"}`,
          ...rest,
          ` \u2013 ${more}`,
        ]
      : node.canAsk
        ? ["Other rows, not asked for yet", ...rest, ` \u2013 ask for ${TABLE_TOP} more`]
        : ["Smaller stacks, which are not on this page", ...rest];
  const cell = make(
    "td",
    { role: "gridcell", class: "more gold", colspan: columnCount(columns) },
    make("span", { class: left > 0 || node.canAsk ? "link" : null }, ...text),
  );
  cell.style.setProperty("--level", node.level);
  return make(
    "tr",
    { class: "more", role: "row", tabindex: -1, "aria-level": node.level + 1, "data-id": entry.id },
    cell,
  );
}

// What the rows that are not shown have of the column that sorts, if it can be added up at all.
function restOfRows(node) {
  const { column } = sortOfTable(table.keys);
  const whole = node.level === 0 ? table.total.sums : node.row;
  const children = [...node.children.values()];
  if (!ADDED_UP.includes(column) || !Number.isInteger(whole?.[column]) || children[0]?.key === "function") return [];
  const shown = children.slice(0, table.shown.get(node.id) ?? ROWS_SHOWN);
  if (shown.some((child) => !Number.isInteger(child.row?.[column]))) return [];
  const rest = whole[column] - shown.reduce((sum, child) => sum + child.row[column], 0);
  const command = node.level === 0 ? table.total.command : node.page.command;
  const sum = { "data-rest": "rows", "data-command": command };
  return [": ", figure("span", column, rest, measureText(column, rest), sum), ` ${WORDS[column].toLowerCase()}`];
}

// --- opening rows and asking for more --------------------------------------------------------------

function activateTableRow(id) {
  const entry = table.entries.find((one) => one.id === id);
  if (entry === undefined) return;
  table.focus = id;
  if (entry.isMore) return showMore(entry);
  if (!canOpenNode(entry.node)) return;
  table.open.set(entry.node.id, !entry.isOpen);
  paintRows();
  focusTableRow(id);
}

async function showMore({ node, left }) {
  const shown = table.shown.get(node.id) ?? ROWS_SHOWN;
  table.shown.set(node.id, Math.min(shown, node.children.size) + ROWS_MORE);
  if (node.canAsk && (left === 0 || (left < ROWS_MORE && node.isCut))) await askMore(node);
  const next = [...node.children.values()][shown] ?? node;
  paintRows();
  focusTableRow(next.id);
}

async function askMore(node) {
  const keys = table.keys.slice(0, node.level + 1);
  const given = filterOptions({ window: true, kind: true, types: true });
  const { options, exact } = optionsOfNode(node, given);
  const isOwn = exact && node.level > 0;
  const pages = isOwn ? (table.below.get(node.id) ?? []) : table.levels[node.level];
  const question = levelQuestion(keys, isOwn ? options : given, rowsOfPages(pages));
  const { context } = table;
  try {
    const answer = await context.ask(question.command, question.options);
    if (context.signal.aborted) return;
    const page = newTablePage(answer, question, rowsOfPages(pages));
    page.keys = keys;
    pages.push(page);
    if (isOwn) table.below.set(node.id, pages);
    table.root = buildTableTree(table.keys, table.levels, table.below);
    announce(`${formatCount(page.document.rows.length)} more rows`);
  } catch (error) {
    if (error.name !== "AbortError") table.note.textContent = error.message;
  }
}

// --- keys and pointer ------------------------------------------------------------------------------

function rowsToFocus() {
  return [...table.rows.querySelectorAll("tr[data-id]")];
}

function focusTableRow(id) {
  const rows = rowsToFocus();
  const row = rows.find((one) => one.dataset.id === id) ?? rows[0];
  if (row === undefined) return;
  for (const one of rows) one.tabIndex = -1;
  row.tabIndex = 0;
  row.focus();
  table.focus = row.dataset.id;
}

function moveInTable(event, row) {
  const rows = rowsToFocus(),
    at = rows.indexOf(row),
    level = Number(row.getAttribute("aria-level")),
    expanded = row.getAttribute("aria-expanded");
  const goTo = (one) => focusTableRow((one ?? row).dataset.id);
  const parent = () => rows.slice(0, at).findLast((one) => Number(one.getAttribute("aria-level")) < level);
  const moves = {
    ArrowDown: () => goTo(rows[at + 1]),
    ArrowUp: () => goTo(rows[at - 1]),
    Home: () => goTo(rows[0]),
    End: () => goTo(rows.at(-1)),
    ArrowRight: () => (expanded === "false" ? activateTableRow(row.dataset.id) : goTo(rows[at + 1])),
    ArrowLeft: () => (expanded === "true" ? activateTableRow(row.dataset.id) : goTo(parent())),
    Enter: () => activateTableRow(row.dataset.id),
    " ": () => activateTableRow(row.dataset.id),
    ContextMenu: () => openRowMenu(row),
    m: () => openRowMenu(row),
  };
  if (moves[event.key] === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  moves[event.key]();
}

function openRowMenu(row) {
  const entry = table.entries.find((one) => one.id === row.dataset.id);
  if (entry === undefined || entry.isMore) return;
  openMenu(row.querySelector(".row-menu"), rowMenu(entry.node));
}

function listenToRows(body) {
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-id]");
    if (row === null) return;
    if (event.target.closest(".row-menu") !== null) openRowMenu(row);
    else if (String(getSelection()) === "") activateTableRow(row.dataset.id);
  });
  body.addEventListener("contextmenu", (event) => {
    const row = event.target.closest("tr[data-id]");
    if (row === null) return;
    event.preventDefault();
    openRowMenu(row);
  });
  body.addEventListener("keydown", (event) => {
    if (event.target.matches("tr[data-id]")) moveInTable(event, event.target);
  });
}

// --- the part --------------------------------------------------------------------------------------

function setTableAnswers(documents, questions) {
  const keys = tableKeys();
  if (keys.join() !== table.keys.join()) Object.assign(table, { keys, open: new Map(), shown: new Map() });
  const pages = documents.map((answer, i) => newTablePage(answer, questions[i], 0));
  const sumsOf = (page) => page.document.totals.find((one) => one.kind === state.kind);
  table.whole = null;
  if (pages.length > keys.length) {
    const page = pages.pop();
    table.whole = { sums: sumsOf(page), command: page.command };
  }
  table.levels = pages.reverse().map((page) => [page]);
  table.below = new Map();
  table.total = { sums: sumsOf(table.levels[0][0]), command: table.levels[0][0].command };
  table.root = buildTableTree(table.keys, table.levels, table.below);
}

function emptyTable(answer) {
  if (isNarrowing()) return nothingFound();
  const recorded = (answer.recorded ?? []).some((one) => one.kind === state.kind);
  if (!recorded) return `The trace has no events of kind ${state.kind}.`;
  if ((state.filters ?? []).length > 0) return "No blocks match the filters above. Remove one of them.";
  return "Nothing was allocated, freed or outstanding in the selected window.";
}

function drawTable(body, documents, context) {
  if (!context.isRedraw) setTableAnswers(documents, context.questions);
  Object.assign(table, { context, body });
  if (table.root.children.size === 0) {
    body.replaceChildren(make("p", { class: "empty" }, emptyTable(documents[0])));
    return;
  }
  const columns = columnsShown();
  table.rows = make("tbody", { role: "rowgroup" });
  listenToRows(table.rows);
  const grid = make(
    "table",
    { class: "gold-table", role: "treegrid", "aria-label": "Memory by keys" },
    tableHead(columns),
    table.rows,
  );
  const box = make("div", { class: "table-box" }, grid);
  box.addEventListener("scroll", () => (table.scroll = box.scrollTop), { passive: true });
  table.note = make("p", { class: "note", role: "status" });
  table.marked = make("p", { class: "note", role: "status" });
  paintRows();
  body.replaceChildren(
    ...(columnPicker.isOpen ? [drawColumnPicker(table.keys, toggleColumnPicker)] : []),
    table.marked,
    box,
    table.note,
  );
  if (table.focusKey !== null) grid.querySelector(table.focusKey)?.focus();
  table.focusKey = null;
}

function toggleColumnPicker() {
  columnPicker.isOpen = !columnPicker.isOpen;
  const old = byId("column-picker");
  if (old !== null) old.remove();
  else table.body?.prepend(drawColumnPicker(table.keys, toggleColumnPicker));
}

registerPart({
  id: "table",
  title: "Table",
  order: 20,
  first: true,
  questions: tableQuestions,
  draw: drawTable,
  tools: [{ label: "Columns", act: toggleColumnPicker }],
  follows: ["curves", "search"],
  csv: true,
  text: true,
});
