// The table: process, heap, type, stack, each with the sums of what is below it.
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

const table = { sort: "endSize", ascending: false, open: new Map(), more: new Map(), nodes: [], focus: "" };

function tableColumns() {
  return isSelected() ? WINDOW_COLUMNS : WHOLE_COLUMNS;
}

// --- the tree --------------------------------------------------------------------------------

const TABLE_SUMS = [...SUMS, "size", "count"];

function newNode(id, level, text) {
  const sums = { ...noAmounts(), size: 0, count: 0 };
  return { id, level, text, sums, children: new Map(), row: null, curve: null, isHidden: false };
}

function childNode(parent, key, text) {
  let node = parent.children.get(key);
  if (node === undefined) {
    node = newNode(`${parent.id}/${key}`, parent.level + 1, text);
    parent.children.set(key, node);
  }
  return node;
}

function addTo(path, sums) {
  for (const node of path) for (const key of TABLE_SUMS) node.sums[key] += sums[key] ?? 0;
}

// A stack's amounts of one type, as the columns of the whole trace have them.
function sumsOfType(types, type) {
  const amount = types[2 * type],
    size = types[2 * type + 1];
  const isOut = type === AIFO || type === AOFO;
  return {
    ...noAmounts(),
    count: amount,
    size,
    endSize: isOut ? size : 0,
    endCount: isOut ? amount : 0,
    net: type === AIFO ? size : type === AOFI ? -size : 0,
  };
}

function stackText(row) {
  if (row.stack < 0) return NO_STACK;
  const frames = stacks[row.stack];
  return labels[labelOf[frames[frames.length - 1]]].text;
}

// The caller tells stacks apart that allocate at one place.
function callerOf(row) {
  if (row.stack < 0 || stacks[row.stack].length < 2) return "";
  const frames = stacks[row.stack];
  return ` \u2190 ${labels[labelOf[frames[frames.length - 2]]].text}`;
}

function buildTable() {
  const root = newNode("", 0, "");
  const all = childNode(root, "all", `All ${state.kind.kind}`);
  const shown = new Set(rowsShown());
  for (const group of groups) {
    if (group.kind !== state.kind.kind || (state.group !== null && state.group !== group)) continue;
    addGroup(all, group, group.rows, shown);
  }
  if (!isNarrowed() && state.group === null) addHiddenGroups(all);
  setPeaks(all);
  return root;
}

function pathOfGroup(all, group) {
  const process = childNode(all, group.processLabel, group.processLabel);
  if (group.heap === null) return [all, process];
  return [all, process, childNode(process, group.heap, group.heap)];
}

function addGroup(all, group, mine, shown) {
  // What it holds in the selection is not known: it is one of the others.
  if (isSelected() && group.cells === null && !isNarrowed()) return;
  const picked = mine.filter((row) => shown.has(row));
  const hidden = isNarrowed()
    ? null
    : hiddenOf(
        group,
        mine.map(amountsOf).filter((amounts) => amounts !== null),
      );
  const hiddenRows = isSelected()
    ? mine.filter((row) => row.cells === null).length + (group.hidden?.rows ?? 0)
    : (group.hidden?.rows ?? 0);
  if (picked.length === 0 && (hidden === null || hiddenRows === 0)) return;
  const path = pathOfGroup(all, group);
  const last = path[path.length - 1];
  if (!isNarrowed()) last.group = group;
  for (const row of picked) {
    if (isSelected()) addWindowRow(path, row);
    else addTypedRow(path, row);
  }
  if (hiddenRows === 0 || hidden === null) return;
  const types = isSelected() ? null : group.hidden.types;
  addHidden(
    path,
    `${count(hiddenRows)} other ${hiddenRows === 1 ? "stack" : "stacks"}${isSelected() ? ", not followed over time" : ""}`,
    hidden,
    types,
  );
}

function addWindowRow(path, row) {
  const amounts = amountsOf(row);
  if (amounts === null || (amounts.endSize === 0 && amounts.allocCount === 0 && amounts.freeCount === 0)) return;
  const leaf = childNode(path[path.length - 1], `r${row.index}`, stackText(row));
  leaf.row = row;
  leaf.sums.peak = amounts.peak;
  addTo([...path, leaf], amounts);
}

function addTypedRow(path, row) {
  for (let type = 0; type < 4; type++) {
    if (row.types[2 * type] === 0) continue;
    const branch = childNode(path[path.length - 1], TYPES[type][0], TYPES[type][0]);
    branch.title = TYPES[type][1];
    const leaf = childNode(branch, `r${row.index}`, stackText(row));
    leaf.row = row;
    leaf.sums.peak = row.peakSize;
    addTo([...path, branch, leaf], sumsOfType(row.types, type));
  }
}

function addHidden(path, text, hidden, types) {
  const leaf = childNode(path[path.length - 1], "hidden", text);
  leaf.isHidden = true;
  if (types === null) {
    addTo([...path, leaf], hidden);
    return;
  }
  for (let type = 0; type < 4; type++) addTo([...path, leaf], sumsOfType(types, type));
}

// Heaps past the limit of the file, or without cells: what is left of the kind.
function addHiddenGroups(all) {
  const hidden = report.hidden_groups[state.kind.kind];
  if (!isSelected()) {
    if (hidden) addHidden([all], `${count(hidden.rows)} other heaps`, null, hidden.types);
    return;
  }
  const rest = { ...amountsOfKind(state.kind), peak: null };
  let left = hidden?.rows ?? 0;
  for (const group of groups.filter((one) => one.kind === state.kind.kind)) {
    if (group.cells === null) left++;
    else addAmounts(rest, amountsOfGroup(group), -1);
  }
  if (left > 0) addHidden([all], `${count(left)} other heaps, not followed over time`, rest, null);
}

// A peak of several rows is no sum of theirs: it is told where it is known.
function setPeaks(all) {
  if (isNarrowed()) return;
  all.sums.peak = state.group === null ? amountsOfKind(state.kind).peak : null;
  const visit = [...all.children.values()];
  for (const node of visit) {
    if (node.group) node.sums.peak = amountsOfGroup(node.group)?.peak ?? null;
    visit.push(...node.children.values());
    if (node.group === undefined && node.level === 2 && node.children.size === 1) {
      const only = [...node.children.values()][0];
      if (only.group) node.sums.peak = amountsOfGroup(only.group)?.peak ?? null;
    }
  }
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
    const below = children.slice(0, most).map((node, i) => ({
      node,
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
  const cells = [
    { key: "name", title: isSelected() ? "Process / Handle / Stack" : "Process / Handle / Type / Stack" },
    ...tableColumns(),
  ];
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
}

function tableHint() {
  const parts = isSelected() ? windowHints() : traceHints();
  if (report.names_cut > 0) parts.push(`${count(report.names_cut)} long names are cut in their middle.`);
  return parts.join(" ");
}

function traceHints() {
  const exits = report.window.at_exit === "leaked" ? "frees nothing" : "frees its memory";
  const hidden = groups.reduce((sum, group) => sum + (group.hidden?.rows ?? 0), 0);
  const parts = [`The whole trace, where the end of a process ${exits}. Open a stack to see its frames.`];
  if (hidden > 0) {
    const shown = `The ${count(rows.length)} rows with the largest peaks are here one by one`;
    parts.push(`${shown}, ${count(hidden)} others as sums.`);
  }
  return parts;
}

function windowHints() {
  const parts = [
    "Exact sums over the selected windows: allocated is AIFO + AIFI, freed is AIFI + AOFI,",
    "impacting size is their difference.",
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
    ...(node.row === null ? [] : [make("span", { class: "caller" }, callerOf(node.row))]),
  );
  name.style.paddingLeft = `${0.5 + (node.level - 1) * 1.15}rem`;
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

// Innermost frame first, as stacks are read.
function framesRow(node) {
  const list = make("ol", {});
  for (const frame of [...stacks[node.row.stack]].reverse())
    list.append(make("li", {}, labels[labelOf[frame]].text, make("span", { class: "source" }, frameSource(frame))));
  return make(
    "tr",
    { class: "stack-frames" },
    make("td", { class: "frames", colspan: tableColumns().length + 2 }, list),
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

byId("table-collapse").addEventListener("click", () => {
  for (const { node } of table.nodes) table.open.set(node.id, node.level < 2);
  drawTable();
});

views.push(() => drawTable());
