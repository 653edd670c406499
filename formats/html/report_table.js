// The table: what report_rows.js adds up, sorted, opened and closed row by row.
//
// For the whole trace a stack has a row for each type. For a selected window it has
// one row: what was allocated and freed in several windows adds up, whether both
// happened to the same block does not.

const CHILDREN_SHOWN = 15,
  CHILDREN_MORE = 200;

const WHOLE_COLUMNS = [
  { key: "endSize", title: "Outstanding Size", isBytes: true },
  { key: "endCount", title: "Outstanding Count" },
  { key: "net", title: "Impacting Size", isBytes: true },
  { key: "size", title: "Size", isBytes: true },
  { key: "count", title: "Count" },
  { key: "peak", title: "Size Peak", isBytes: true },
];
const WINDOW_COLUMNS = [
  { key: "endSize", title: "Outstanding Size", isBytes: true },
  { key: "net", title: "Impacting Size", isBytes: true },
  { key: "allocSize", title: "Allocated", isBytes: true },
  { key: "allocCount", title: "Blocks" },
  { key: "freeSize", title: "Freed", isBytes: true },
  { key: "freeCount", title: "Blocks freed" },
  { key: "peak", title: "Size Peak", isBytes: true },
];

const table = {
  grouping: "heap",
  sort: "endSize",
  ascending: false,
  open: new Map(),
  more: new Map(),
  nodes: [],
  focus: "",
};

// Threads are known for all that the file holds, not for single windows.
function hasWindowRows() {
  return isSelected() && table.grouping !== "thread";
}

function tableColumns() {
  return hasWindowRows() ? WINDOW_COLUMNS : WHOLE_COLUMNS;
}

// What the levels of the tree are called, below the one for the kind.
function treeColumns() {
  return GROUPINGS[table.grouping].columns.filter((name) => name !== "Type" || !hasWindowRows());
}

// --- drawing -----------------------------------------------------------------------------------

function sortNodes(nodes) {
  const way = table.ascending ? 1 : -1;
  return nodes.sort((a, b) => {
    if (a.isHidden !== b.isHidden) return a.isHidden ? 1 : -1;
    if (table.sort === "name") return (a.text < b.text ? -1 : a.text > b.text ? 1 : 0) * -way;
    return (
      way * ((a.sums[table.sort] ?? -1) - (b.sums[table.sort] ?? -1)) ||
      b.sums.size + b.sums.allocSize - (a.sums.size + a.sums.allocSize)
    );
  });
}

// Unless the user says otherwise all is open down to the stacks of what is largest.
function isOpen(node, isFirst) {
  return table.open.get(node.id) ?? (node.row === null && (node.level === 1 || (isFirst && node.level < 5)));
}

function listNodes(root) {
  const listed = [];
  const pending = [{ node: root, isFirst: true, isRoot: true }];
  while (pending.length > 0) {
    const entry = pending.pop();
    if (!entry.isRoot) listed.push(entry);
    if (!entry.isRoot && (entry.more || !isOpen(entry.node, entry.isFirst))) continue;
    const children = sortNodes([...entry.node.children.values()]);
    const most = table.more.get(entry.node.id) ?? CHILDREN_SHOWN;
    const texts = tellApart(children.filter((node) => node.row !== null).map((node) => node.row));
    const below = children.slice(0, most).map((node, i) => ({
      node,
      caller: node.row === null ? "" : texts.get(node.row),
      isFirst: entry.isFirst && i === 0,
      position: i + 1,
      size: children.length,
      parent: entry,
    }));
    if (children.length > most) below.push({ node: entry.node, more: children.length - most, parent: entry });
    pending.push(...below.reverse());
  }
  return listed;
}

function drawHead() {
  const cells = [{ key: "name", title: treeColumns().join(" / ") }, ...tableColumns()];
  const row = make("tr");
  for (const { key, title } of cells) {
    const sort = table.sort !== key ? "none" : table.ascending ? "ascending" : "descending";
    row.append(
      make(
        "th",
        { scope: "col", role: "columnheader", "aria-sort": sort, "data-key": key },
        make("button", { type: "button", onclick: () => sortTable(key) }, title),
      ),
    );
  }
  row.append(make("th", { scope: "col", role: "columnheader" }, "Over time"));
  byId("rows").tHead.replaceChildren(row);
}

function sortTable(key) {
  table.ascending = table.sort === key ? !table.ascending : false;
  table.sort = key;
  drawTable();
  markAllColumns();
  writeLinkSoon();
  byId("rows").tHead.querySelector(`[data-key="${key}"] button`).focus();
}

function drawTable() {
  if (state.kind === null) {
    byId("rows").tBodies[0].replaceChildren(make("tr", {}, make("td", { class: "empty" }, "Nothing was recorded.")));
    return;
  }
  if (!["name", ...tableColumns().map((column) => column.key)].includes(table.sort)) table.sort = "endSize";
  drawHead();
  const listed = listNodes(buildTable());
  table.nodes = listed;
  const body = byId("rows").tBodies[0];
  const drawn = listed.flatMap((entry) => (entry.more ? [moreRow(entry)] : nodeRows(entry)));
  body.replaceChildren(...drawn);
  const current = drawn.find((row) => row.dataset.id === table.focus) ?? drawn[0];
  if (current) current.tabIndex = 0;
  byId("table-hint").textContent = tableHint();
  byId("table-grouping").value = table.grouping;
}

function tableHint() {
  if (table.grouping === "thread") return `${threadHint()} ${report.login_advice}`;
  const parts = isSelected() ? windowHints() : traceHints();
  if (report.names_cut > 0) parts.push(`${count(report.names_cut)} long names are cut in their middle.`);
  if (report.login_advice !== "") parts.push(report.login_advice);
  return parts.join(" ");
}

function traceHints() {
  const exits = report.window.at_exit === "leaked" ? "does not free its memory" : "frees its memory";
  const hidden = groups.reduce((sum, group) => sum + (group.hidden?.rows ?? 0), 0);
  const parts = [`${capital(fileWindow())}; the end of a process ${exits}. Open a stack to see its frames and blocks.`];
  if (hidden > 0) {
    const shown = `The ${count(rows.length)} rows with the largest peaks are listed one by one`;
    parts.push(`${shown}, ${count(hidden)} others are added up.`);
  }
  return parts;
}

function windowHints() {
  const parts = [
    "Allocated and Freed count what was allocated and freed in the selected window.",
    "Impacting Size is Allocated minus Freed.",
  ];
  const unknown = isNarrowed() ? rowsShown().filter((row) => row.cells === null).length : 0;
  if (unknown > 0) {
    parts.push(`${count(unknown)} matching rows with small peaks, which this file does not follow over time, are missing.`);
  } else if (rows.some((row) => row.cells === null)) {
    parts.push("Rows with small peaks, which this file does not follow over time, are summed up.");
  }
  return parts;
}

function nodeRows(entry) {
  const { node } = entry;
  const open = isOpen(node, entry.isFirst);
  const canOpen = node.children.size > 0 || (node.row !== null && node.row.stack >= 0);
  const name = make(
    "th",
    { scope: "row", role: "rowheader", title: node.title ?? node.text },
    make("span", { class: "twist", "aria-hidden": "true" }, canOpen ? (open ? "\u25be" : "\u25b8") : ""),
    node.text,
    ...(entry.caller ? [make("span", { class: "caller" }, entry.caller)] : []),
  );
  name.style.setProperty("--level", node.level - 1);
  const row = make(
    "tr",
    {
      class: `level-${node.level}${node.isHidden ? " hidden-rows" : ""}`,
      role: "row",
      tabindex: -1,
      "aria-level": node.level,
      "aria-posinset": entry.position,
      "aria-setsize": entry.size,
      "aria-expanded": canOpen ? open : null,
      "data-id": node.id,
    },
    name,
  );
  for (const { key, isBytes } of tableColumns()) row.append(numberCell(node.sums[key], isBytes, { role: "gridcell" }));
  row.append(make("td", { role: "gridcell" }, ...sparkOf(node)));
  return open && node.row !== null ? [row, framesRow(node)] : [row];
}

function sparkOf(node) {
  const cells = node.row?.cells ?? node.group?.cells;
  return cells ? [spark(cells.curve())] : [];
}

// Innermost frame first, as stacks are read, and the blocks.
function framesRow(node) {
  const list = make("ol", {});
  for (const frame of [...stacks[node.row.stack]].reverse())
    list.append(make("li", {}, labels[labelOf[frame]].text, make("span", { class: "source" }, frameSource(frame))));
  return make(
    "tr",
    { class: "stack-frames" },
    make("td", { class: "frames", colspan: tableColumns().length + 2 }, list, ...freersOf(node.row), ...blocksOf(node.row)),
  );
}

function moreRow(entry) {
  const id = `${entry.node.id}/more`;
  return make(
    "tr",
    { class: "more", role: "row", tabindex: -1, "aria-level": entry.node.level + 1, "data-id": id },
    make(
      "td",
      { role: "gridcell", colspan: tableColumns().length + 2 },
      ...moreText(Math.min(CHILDREN_MORE, entry.more), entry.more),
    ),
  );
}

// --- one stack -------------------------------------------------------------------------------------

// The nodes from below the root to the leaf of a row; of its types the one with most outstanding.
function pathToRow(node, row) {
  let best = null;
  for (const child of node.children.values()) {
    const path = child.row === row ? [child] : pathToRow(child, row);
    const leaf = path?.at(-1);
    if (path !== null && (best === null || leaf.sums.endSize > best.at(-1).sums.endSize))
      best = child.row === row ? path : [child, ...path];
  }
  return best;
}

// Opens a stack in the table. Choices that might hide it are undone.
function showStack(row) {
  table.grouping = "heap";
  byId("search").value = "";
  const kind = kinds.find((one) => one.kind === row.group.kind);
  update({ kind, selection: null, group: null, node: null, search: "", grouping: "heap" });
  const root = buildTable(),
    path = pathToRow(root, row);
  if (path === null) return;
  path.forEach((node, i) => {
    const parent = i === 0 ? root : path[i - 1];
    const position = sortNodes([...parent.children.values()]).indexOf(node) + 1;
    table.open.set(node.id, true);
    table.more.set(parent.id, Math.max(table.more.get(parent.id) ?? CHILDREN_SHOWN, position));
  });
  drawTable();
  focusRow(path.at(-1).id);
  document.activeElement.scrollIntoView({ block: "center" });
  announce(`Opened the stack of ${stackText(row)}`);
}

// --- keys and pointer ----------------------------------------------------------------------------

function activateRow(id) {
  const entry = table.nodes.find((one) => (one.more ? `${one.node.id}/more` : one.node.id) === id);
  if (entry === undefined) return;
  table.focus = id;
  if (entry.more) table.more.set(entry.node.id, (table.more.get(entry.node.id) ?? CHILDREN_SHOWN) + CHILDREN_MORE);
  else table.open.set(entry.node.id, !isOpen(entry.node, entry.isFirst));
  drawTable();
  focusRow(id);
}

function focusRow(id) {
  const all = [...byId("rows").tBodies[0].querySelectorAll("tr[data-id]")];
  const row = all.find((one) => one.dataset.id === id) ?? all[0];
  if (!row) return;
  for (const one of all) one.tabIndex = -1;
  row.tabIndex = 0;
  row.focus();
  table.focus = row.dataset.id;
}

byId("rows").addEventListener("click", (event) => {
  const row = event.target.closest("tbody tr[data-id]");
  if (row !== null && String(getSelection()) === "") activateRow(row.dataset.id);
});

byId("rows").addEventListener("keydown", (event) => {
  const row = event.target.closest("tbody tr[data-id]");
  if (row === null) return;
  const all = [...byId("rows").tBodies[0].querySelectorAll("tr[data-id]")];
  const at = all.indexOf(row),
    level = Number(row.ariaLevel ?? row.getAttribute("aria-level"));
  const expanded = row.getAttribute("aria-expanded");
  const levelOf = (one) => Number(one.getAttribute("aria-level"));
  const moves = {
    ArrowDown: () => focusRow(all[Math.min(at + 1, all.length - 1)].dataset.id),
    ArrowUp: () => focusRow(all[Math.max(at - 1, 0)].dataset.id),
    Home: () => focusRow(all[0].dataset.id),
    End: () => focusRow(all[all.length - 1].dataset.id),
    ArrowRight: () =>
      expanded === "false" ? activateRow(row.dataset.id) : focusRow(all[Math.min(at + 1, all.length - 1)].dataset.id),
    ArrowLeft: () => {
      if (expanded === "true") activateRow(row.dataset.id);
      else
        focusRow(
          (
            all
              .slice(0, at)
              .reverse()
              .find((one) => levelOf(one) < level) ?? row
          ).dataset.id,
        );
    },
    Enter: () => activateRow(row.dataset.id),
    " ": () => activateRow(row.dataset.id),
  };
  if (moves[event.key] === undefined) return;
  event.preventDefault();
  moves[event.key]();
});

for (const [value, { title }] of Object.entries(GROUPINGS))
  byId("table-grouping").append(make("option", { value }, title));
byId("table-grouping").addEventListener("change", (event) => {
  table.grouping = event.target.value;
  update({ grouping: table.grouping });
});

byId("table-collapse").addEventListener("click", () => {
  for (const { node } of table.nodes) table.open.set(node.id, node.level < 2);
  drawTable();
});

views.push(() => drawTable());
