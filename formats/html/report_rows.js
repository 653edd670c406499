// The rows of the table as a tree, in one of three groupings, each with the sums of what is
// below it.
//
//     heap      process, heap, type, stack     as `report` groups them
//     module    module, process and heap, type, stack
//     thread    process, heap, thread, type    without stacks: see report_threads.js
//
// The module is that of a stack's innermost frame, which is where the program asked for the
// memory. For a selected window there are no types: see report_table.js.

const GROUPINGS = {
  heap: { title: "process and heap", columns: ["Process", "Handle", "Type", "Stack"] },
  module: { title: "module", columns: ["Module", "Process and handle", "Type", "Stack"] },
  thread: { title: "thread", columns: ["Process", "Handle", "Thread", "Type"] },
};

const TABLE_SUMS = [...SUMS, "size", "count"];

function newNode(id, level, column, text) {
  const sums = { ...noAmounts(), size: 0, count: 0 };
  return { id, level, column, text, sums, children: new Map(), row: null, isHidden: false };
}

function childNode(parent, key, column, text) {
  let node = parent.children.get(key);
  if (node === undefined) {
    node = newNode(`${parent.id}/${key}`, parent.level + 1, column, text);
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

function buildTable() {
  const root = newNode("", 0, "", "");
  const all = childNode(root, "all", "Kind", `All ${state.kind.kind}`);
  if (table.grouping === "thread") {
    addThreads(all);
    return root;
  }
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
  const process = childNode(all, group.processLabel, "Process", group.processLabel);
  if (group.heap === null) return [all, process];
  return [all, process, childNode(process, group.heap, "Handle", group.heap)];
}

// Above a stack; null: above what a heap has besides the stacks in this file.
function pathOfRow(all, group, row) {
  if (table.grouping === "heap") return pathOfGroup(all, group);
  const name = row === null ? OTHER_STACKS : moduleOf(row);
  const module = childNode(all, name, "Module", name);
  return [all, module, childNode(module, group.label, "Process and handle", group.label)];
}

function moduleOf(row) {
  if (row.stack < 0) return NO_STACK;
  const { module } = labels[siteOf(row)];
  return module < 0 ? "[no module]" : report.modules[module];
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
  if (!isNarrowed() && table.grouping === "heap") pathOfGroup(all, group).at(-1).group = group;
  for (const row of picked) {
    if (isSelected()) addWindowRow(pathOfRow(all, group, row), row);
    else addTypedRow(pathOfRow(all, group, row), row);
  }
  if (hiddenRows === 0 || hidden === null) return;
  const types = isSelected() ? null : group.hidden.types;
  addHidden(
    pathOfRow(all, group, null),
    `${count(hiddenRows)} other ${hiddenRows === 1 ? "stack" : "stacks"}${isSelected() ? ", not followed over time" : ""}`,
    hidden,
    types,
  );
}

function addWindowRow(path, row) {
  const amounts = amountsOf(row);
  if (amounts === null || (amounts.endSize === 0 && amounts.allocCount === 0 && amounts.freeCount === 0)) return;
  addTo([...path, addLeaf(path.at(-1), row, amounts.peak)], amounts);
}

function addLeaf(parent, row, peak) {
  const leaf = childNode(parent, `r${row.index}`, "Stack", stackText(row));
  leaf.row = row;
  leaf.sums.peak = peak;
  return leaf;
}

function addTypedRow(path, row) {
  for (let type = 0; type < 4; type++) {
    if (row.types[2 * type] === 0) continue;
    const branch = typeNode(path.at(-1), type);
    addTo([...path, branch, addLeaf(branch, row, row.peakSize)], sumsOfType(row.types, type));
  }
}

function typeNode(parent, type) {
  const node = childNode(parent, TYPES[type][0], "Type", TYPES[type][0]);
  node.title = TYPES[type][1];
  return node;
}

function addHidden(path, text, hidden, types) {
  const leaf = childNode(path.at(-1), "hidden", "Stack", text);
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

// --- what stacks are called ----------------------------------------------------------------------

// The label of the innermost frame.
function siteOf(row) {
  return labelOf[stacks[row.stack].at(-1)];
}

function stackText(row) {
  return row.stack < 0 ? NO_STACK : labels[siteOf(row)].text;
}

// The frame at a depth below the innermost one, with its line if that is needed.
function callerAt(row, depth, withLine) {
  const frame = row.stack < 0 ? undefined : stacks[row.stack].at(-1 - depth);
  if (frame === undefined) return "start of the thread";
  return labels[labelOf[frame]].text + (withLine ? frameSource(frame) : "");
}

// What is written behind the names of stacks, so that no two of them read alike: the caller, and
// of those that have the same one, the first caller in which they differ, or else the line.
// Texts by row.
//
// `told` has for each row the depths of the frames that are named, and which of them with a line.
// Each is named once, in the order of the stack: an arrow always leads to a caller.
function tellApart(all) {
  const told = new Map();
  const byText = new Map();
  for (const row of all) {
    const hasCaller = row.stack >= 0 && stacks[row.stack].length >= 2;
    told.set(row, { lines: new Map(hasCaller ? [[1, false]] : []), number: "" });
    const key = `${row.group.index} ${stackText(row)} ${hasCaller ? callerAt(row, 1, false) : ""}`;
    if (byText.has(key)) byText.get(key).push(row);
    else byText.set(key, [row]);
  }
  for (const alike of byText.values()) if (alike.length > 1) splitAlike(alike, 2, false, told);
  return new Map(all.map((row) => [row, callersText(row, told.get(row))]));
}

function splitAlike(alike, first, withLine, told) {
  const deepest = Math.max(...alike.map((row) => (row.stack < 0 ? 0 : stacks[row.stack].length)));
  for (let depth = first; depth <= deepest; depth++) {
    const parts = new Map();
    for (const row of alike) {
      const text = callerAt(row, depth, withLine);
      if (parts.has(text)) parts.get(text).push(row);
      else parts.set(text, [row]);
    }
    if (parts.size === 1) continue;
    for (const part of parts.values()) {
      for (const row of part) told.get(row).lines.set(depth, withLine);
      if (part.length > 1) splitAlike(part, depth + 1, withLine, told);
    }
    return;
  }
  if (!withLine) splitAlike(alike, 0, true, told);
  else alike.forEach((row, i) => (told.get(row).number = ` (${count(i + 1)} of ${count(alike.length)})`));
}

// "history.cpp:41 ← caller ← … ← a caller further out": a line of its own comes without an arrow.
function callersText(row, { lines, number }) {
  const own = lines.get(0) === true ? frameSource(stacks[row.stack].at(-1)).trim() : "";
  let text = own,
    before = 0;
  for (const depth of [...lines.keys()].sort((a, b) => a - b)) {
    if (depth === 0) continue;
    text += ` \u2190 ${depth > before + 1 ? "\u2026 \u2190 " : ""}${callerAt(row, depth, lines.get(depth))}`;
    before = depth;
  }
  return text.trim() + number;
}
