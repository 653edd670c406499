// Answers that a static page works out of its cells: `report` (rows, trees, butterfly), `windows` and
// `allocations`, for its whole window or a part of it.
//
//     readCellQuestion   command, options -> query, or null: the cells cannot answer it
//     answerFromCells    query -> a document as the command prints it
//
// What is summed up are the page's rows, one for each heap and call stack. Of the whole window each
// has amounts of four types; of a selected window, what was there at its start, what was allocated
// and what was freed. All sums of these are exact. What a page leaves out, its smaller stacks, are
// one more row of their heap, so that sums of heaps and processes are complete; in rows by stack they
// are missing, which the document says (`is_cut`).
//
// Of a selected window nothing is known of types, threads and counts at peaks.

const CELL_KEYS = new Set(["kind", "process", "heap", "type", "impacting_type", "stack", "site", "module", "thread"]);
const CELL_STACK_KEYS = ["stack", "site", "module"];
const CELL_TYPE_KEYS = ["type", "impacting_type"];
const CELL_MEASURES = new Set(
  ["count", "size", "impacting_size", "outstanding_count", "outstanding_size"].concat([
    "alloc_count",
    "alloc_size",
    "freed_count",
    "freed_size",
    "peak_size",
    "peak_count",
  ]),
);
const CELL_IMPACTING = { AIFO: "Impacting", AIFI: "Transient", AOFI: "Impacting", AOFO: "Persistent" };
const CELL_FILTERS = new Set(["process", "heap", "type", "require-frame", "exclude-frame"]);
const CELL_OPTIONS = {
  report: ["group-by", "columns", "sort", "top", "skip", "tree", "tree-min", "root", "focus"],
  windows: ["group-by", "sort", "top", "every", "at-exit"],
  allocations: ["sort", "top", "skip", "address"],
};
const TREE_PAIRS = {
  outstanding_size: "outstanding_count",
  outstanding_count: "outstanding_size",
  impacting_size: "count",
  size: "count",
  count: "size",
};

// --- reading a question -------------------------------------------------------------------------

function globOf(text) {
  const words = text
    .replace(/[\\^$+.()|[\]{}]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/\?/g, ".");
  return new RegExp(`^${words}$`, "i");
}

// The extension of a file may be left out.
function namesFile(glob, name) {
  return glob.test(name) || glob.test(name.replace(/(.)\.[^.]*$/, "$1"));
}

function framePredicate(pattern) {
  const mark = pattern.indexOf("!");
  const module = mark <= 0 ? null : globOf(pattern.slice(0, mark));
  const symbol = mark < 0 ? pattern : pattern.slice(mark + 1);
  const name = symbol === "" ? null : globOf(symbol);
  return (frame) =>
    (name === null || name.test(frame.symbol ?? "")) &&
    (module === null || (frame.module !== null && namesFile(module, frame.module)));
}

function processPredicate(words) {
  const tests = words.map((word) => {
    if (/^\d+$/.test(word)) return (group) => group.pid === Number(word);
    const glob = globOf(word);
    return (group) => group.process !== null && namesFile(glob, group.process);
  });
  return (group) => tests.some((test) => test(group));
}

function listOf(options, name) {
  return options.filter(([option]) => option === name).flatMap(([, value]) => value.split(","));
}

function edgeIndex(cells, text, otherwise) {
  if (text === undefined) return otherwise;
  return cells.edges.indexOf(readTime(text) ?? NaN);
}

function keysOfQuestion(command, options) {
  const given = valueOf(options, "group-by");
  if (given !== undefined) return given.split(",");
  if (command === "allocations") return [];
  return valueOf(options, "tree") !== undefined || valueOf(options, "focus") !== undefined
    ? ["kind", "process", "stack"]
    : null;
}

// Views of a report other than rows and trees are documents.
function isCellQuestion(command, options) {
  const own = CELL_OPTIONS[command];
  if (own === undefined) return false;
  const known = new Set([...own, "kind", "from", "to", "input", ...CELL_FILTERS]);
  if (!options.every(([name]) => known.has(name))) return false;
  return command !== "allocations" || valueOf(options, "kind") !== undefined;
}

// Steps of the curve are those of the page, and a zoom between their edges is one of the whole.
function settledOptions(cells, command, options) {
  if (command !== "windows") return options;
  const isEdge = ([name, value]) => (name !== "from" && name !== "to") || edgeIndex(cells, value, -1) >= 0;
  // The page does not know which groups have the highest peaks, so the command lists all.
  const left = options.filter(([name]) => name !== "every" && name !== "at-exit" && name !== "top");
  const kept = left.every(isEdge) ? left : left.filter(([name]) => name !== "from" && name !== "to");
  const every = ["every", exactTime(cells.document.window.every_ns)];
  return [...kept, every, ["at-exit", cells.document.window.at_exit]];
}

function readCellQuestion(cells, command, given) {
  if (!isCellQuestion(command, given)) return null;
  const options = settledOptions(cells, command, given);
  const keys = keysOfQuestion(command, options);
  const isWindows = command === "windows";
  const first = edgeIndex(cells, valueOf(options, "from"), 0);
  const last = edgeIndex(cells, valueOf(options, "to"), cells.edges.length - 1);
  if (keys === null || first < 0 || last <= first || !keys.every((key) => CELL_KEYS.has(key))) return null;
  const columns = valueOf(options, "columns")?.split(",") ?? null;
  const query = {
    command,
    options,
    keys,
    columns,
    first,
    last,
    isWhole: first === 0 && last === cells.edges.length - 1,
    kinds: listOf(options, "kind"),
    types: listOf(options, "type"),
    processes: listOf(options, "process"),
    heaps: listOf(options, "heap"),
    required: options.filter(([name]) => name === "require-frame").map(([, value]) => framePredicate(value)),
    excluded: options.filter(([name]) => name === "exclude-frame").map(([, value]) => framePredicate(value)),
    sort:
      valueOf(options, "sort") ??
      (isWindows ? "peak_size" : command === "allocations" ? "address" : "outstanding_size"),
    top: topOf(given),
    skip: Number(valueOf(options, "skip") ?? 0),
    tree: valueOf(options, "tree"),
    treeMin: Number(valueOf(options, "tree-min") ?? 1),
    root: valueOf(options, "root") ?? null,
    focus: valueOf(options, "focus") ?? null,
  };
  const isKind = (name) => cells.kinds.some(({ kind }) => kind === name);
  return query.kinds.every(isKind) && canSum(query) ? query : null;
}

function canSum(query) {
  const has = (keys) => query.keys.some((key) => keys.includes(key));
  const usesTypes = has(CELL_TYPE_KEYS) || query.types.length > 0;
  const usesStacks = has(CELL_STACK_KEYS) || query.required.length + query.excluded.length > 0;
  const usesThreads = query.keys.includes("thread");
  if (query.columns !== null && !query.columns.every((name) => CELL_MEASURES.has(name))) return false;
  if (query.command === "report" && !CELL_MEASURES.has(query.sort.replace(/^-/, ""))) return false;
  if (query.command === "windows" && (usesTypes || usesThreads)) return false;
  if (usesThreads && (usesStacks || !query.isWhole)) return false;
  return query.command === "allocations" || query.isWhole || !usesTypes;
}

// --- amounts --------------------------------------------------------------------------------------

const SUM_NAMES = ["count", "size", "impacting_size", "outstanding_count", "outstanding_size"].concat([
  "alloc_count",
  "alloc_size",
  "freed_count",
  "freed_size",
]);

function noSums() {
  return Object.fromEntries(SUM_NAMES.map((name) => [name, 0]));
}

function addSums(sums, more) {
  for (const name of SUM_NAMES) sums[name] += more[name];
  return sums;
}

function sumsLess(sums, less) {
  return Object.fromEntries(SUM_NAMES.map((name) => [name, sums[name] - less[name]]));
}

// Of amounts by type, those that are selected.
function sumsOfTypes(types, isSelected) {
  const sums = noSums();
  types.forEach(({ count, size }, i) => {
    const type = CELL_TYPES[i];
    if (!isSelected(type)) return;
    const isOutstanding = type.endsWith("FO"),
      isAllocated = type.startsWith("AI"),
      isFreed = type.endsWith("FI");
    sums.count += count;
    sums.size += size;
    sums.outstanding_count += isOutstanding ? count : 0;
    sums.outstanding_size += isOutstanding ? size : 0;
    sums.alloc_count += isAllocated ? count : 0;
    sums.alloc_size += isAllocated ? size : 0;
    sums.freed_count += isFreed ? count : 0;
    sums.freed_size += isFreed ? size : 0;
    sums.impacting_size += type === "AIFO" ? size : type === "AOFI" ? -size : 0;
  });
  return sums;
}

function sumsOfRun(run, query) {
  const found = run.sums(query.first, query.last);
  const sums = { peak_size: found.peak_size };
  for (const key of ["count", "size"]) {
    sums[key] = found[`start_${key}`] + found[`alloc_${key}`];
    sums[`outstanding_${key}`] = sums[key] - found[`freed_${key}`];
    sums[`alloc_${key}`] = found[`alloc_${key}`];
    sums[`freed_${key}`] = found[`freed_${key}`];
  }
  sums.impacting_size = sums.alloc_size - sums.freed_size;
  return sums;
}

// --- what is selected -----------------------------------------------------------------------------

function groupSelector(query) {
  const isProcess = query.processes.length === 0 ? () => true : processPredicate(query.processes);
  const heaps = query.heaps.map((heap) => heap.toLowerCase());
  return (group) =>
    (query.kinds.length === 0 || query.kinds.includes(group.kind)) &&
    isProcess(group) &&
    (heaps.length === 0 || heaps.includes(String(group.heap).toLowerCase()));
}

function matchesFrames(cells, query, stack) {
  const frames = stack === null ? [] : cells.stacks[stack].map((frame) => cells.frames[frame]);
  const isRequired = query.required.length === 0 || query.required.some((test) => frames.some(test));
  return isRequired && !query.excluded.some((test) => frames.some(test));
}

function isNothing(sums) {
  return sums.count === 0;
}

// Rows by type, or one of all types together. `stack` is undefined for the stacks that the page
// leaves out.
function itemsOfAmounts(query, group, stack, types, run) {
  const byType = query.keys.some((key) => CELL_TYPE_KEYS.includes(key));
  const isSelected = (type) => query.types.length === 0 || query.types.includes(type);
  if (!query.isWhole) return [{ group, stack, sums: sumsOfRun(run, query) }];
  if (!byType) return [{ group, stack, sums: sumsOfTypes(types, isSelected) }];
  return CELL_TYPES.filter(isSelected).map((type) => ({
    group,
    stack,
    type,
    sums: sumsOfTypes(types, (one) => one === type),
  }));
}

// What the rows of a group leave out of it in a selected window.
function restOfWindow(query, group, shown) {
  if (group.run === null) return [];
  const sums = sumsLess(sumsOfRun(group.run, query), shown);
  return isNothing(sums) ? [] : [{ group, stack: undefined, sums }];
}

// Everything that the query selects.
function selectedItems(cells, query) {
  if (query.keys.includes("thread")) return threadItems(cells, query);
  const isGroup = groupSelector(query);
  const hasFrames = query.required.length + query.excluded.length > 0;
  const shown = new Map();
  const items = [];
  for (const row of cells.rows) {
    if (!isGroup(row.group) || (!query.isWhole && row.run === null)) continue;
    const of = itemsOfAmounts(query, row.group, row.stack, row.types, row.run);
    if (!query.isWhole) shown.set(row.group, addSums(shown.get(row.group) ?? noSums(), of[0].sums));
    if (matchesFrames(cells, query, row.stack)) items.push(...of.map((item) => ({ ...item, row })));
  }
  for (const group of cells.groups) {
    if (!isGroup(group)) continue;
    if (query.isWhole && group.hidden !== null)
      items.push(...itemsOfAmounts(query, group, undefined, group.hidden.types, null));
    if (!query.isWhole) items.push(...restOfWindow(query, group, shown.get(group) ?? noSums()));
  }
  const found = items.filter((item) => !isNothing(item.sums));
  // Nobody knows the frames of what is left out.
  return hasFrames ? found.filter((item) => item.stack !== undefined) : found;
}

function threadItems(cells, query) {
  const isGroup = groupSelector(query);
  return cells.threads
    .filter(({ group }) => isGroup(group))
    .flatMap(({ group, thread, thread_name, type, count, size }) => {
      const types = CELL_TYPES.map((_, i) => (i === type ? { count, size } : { count: 0, size: 0 }));
      return itemsOfAmounts(query, group, undefined, types, null)
        .filter((item) => !isNothing(item.sums))
        .map((item) => ({ ...item, thread, thread_name }));
    });
}

// --- keys of rows ---------------------------------------------------------------------------------

function siteOfItem(cells, { stack }) {
  return stack === null || stack === undefined ? null : (cells.stacks[stack][0] ?? null);
}

// Frames of a function are one site, wherever in it they are.
function functionOf(frame) {
  if (frame.module === null) return `@${frame.address}`;
  return frame.symbol === null ? `${frame.module}+${frame.offset}` : `${frame.module}!${frame.symbol}`;
}

function keyOfItem(cells, item, key) {
  const { group, stack } = item;
  if (key === "kind") return group.kind;
  if (key === "process") return `${group.process} ${group.pid}`;
  if (key === "heap") return group.heap;
  if (CELL_TYPE_KEYS.includes(key)) return key === "type" ? item.type : CELL_IMPACTING[item.type];
  if (key === "thread") return item.thread;
  if (key === "stack") return stack;
  const site = siteOfItem(cells, item);
  if (site === null) return null;
  return key === "site" ? functionOf(cells.frames[site]) : cells.frames[site].module;
}

// The members of a row for its keys, as documents have them.
function membersOfItem(cells, item, keys, places) {
  const row = {};
  for (const key of keys) {
    if (key === "process") Object.assign(row, { process: item.group.process, pid: item.group.pid });
    else if (key === "kind" || key === "heap") row[key] = item.group[key];
    else if (key === "type") Object.assign(row, { type: item.type, impacting_type: CELL_IMPACTING[item.type] });
    else if (key === "impacting_type") row[key] = CELL_IMPACTING[item.type];
    else if (key === "thread") Object.assign(row, { thread: item.thread, thread_name: item.thread_name });
    else if (key === "stack") row.stack = item.stack === null ? null : places.stack(item.stack);
    else if (key === "site") row.site = siteOfItem(cells, item) === null ? null : places.frame(siteOfItem(cells, item));
    else row[key] = keyOfItem(cells, item, key);
  }
  return row;
}

// Numbers frames and stacks of a document in the order in which its rows have them.
function documentPlaces(cells) {
  const frames = [],
    stacks = [],
    frameAt = new Map(),
    stackAt = new Map();
  const frame = (number) => {
    if (!frameAt.has(number)) frameAt.set(number, frames.push(cells.frames[number]) - 1);
    return frameAt.get(number);
  };
  const stack = (number) => {
    if (!stackAt.has(number)) stackAt.set(number, stacks.push(cells.stacks[number].map(frame)) - 1);
    return stackAt.get(number);
  };
  return { frames, stacks, frame, stack };
}

// --- documents --------------------------------------------------------------------------------------

// What begins each document, and its totals by kind.
function documentHead(cells, query, schema) {
  const { trace, recorded } = cells.document;
  const window = { from_ns: cells.edges[query.first], to_ns: cells.edges[query.last] };
  return { schema, trace, recorded, window, group_by: query.keys };
}

function kindsOfQuery(cells, query) {
  return cells.kinds.filter(({ kind }) => query.kinds.length === 0 || query.kinds.includes(kind));
}

// Of whole kinds, from their own cells: groups that the page leaves out count, too.
function totalsOf(cells, query, items) {
  const isAll = query.processes.length + query.heaps.length + query.types.length === 0;
  const isOfKind = isAll && query.required.length + query.excluded.length === 0;
  return kindsOfQuery(cells, query).map(({ kind, run, free_without_alloc }) => {
    const sums = noSums();
    if (isOfKind && run !== null) addSums(sums, sumsOfRun(run, query));
    else for (const item of items) if (item.group.kind === kind) addSums(sums, item.sums);
    return { kind, ...sums, free_without_alloc };
  });
}

// Peaks are known of what is one thing: a kind, a heap, a stack of a heap.
function peakOf(cells, query, items) {
  const filters = query.processes.length + query.heaps.length + query.types.length + query.required.length;
  if (filters + query.excluded.length > 0) return null;
  const keys = query.keys.filter((key) => key !== "kind").join();
  const { group, row } = items[0];
  if (keys === "")
    return cells.kinds.find(({ kind }) => kind === group.kind)?.run?.sums(query.first, query.last).peak_size ?? null;
  if (keys === "process,heap") return group.run?.sums(query.first, query.last).peak_size ?? null;
  if (keys !== "process,heap,stack" || row === undefined) return null;
  return query.isWhole ? row.peak_size : (row.run?.sums(query.first, query.last).peak_size ?? null);
}

function compareRows(query) {
  const name = query.sort.replace(/^-/, "");
  const sign = query.sort.startsWith("-") ? -1 : 1;
  return (a, b) => sign * ((b.sums[name] ?? 0) - (a.sums[name] ?? 0));
}

// Items with the same keys, the largest first. Without their frames, stacks that the page leaves out
// are in no row.
function groupItems(cells, query, items) {
  const byStack = query.keys.some((key) => CELL_STACK_KEYS.includes(key));
  const groups = new Map();
  let isCut = false;
  for (const item of items) {
    if (byStack && item.stack === undefined) {
      isCut = true;
      continue;
    }
    const id = query.keys.map((key) => keyOfItem(cells, item, key)).join("\u0001") + `\u0001${item.group.kind}`;
    const group = groups.get(id) ?? { items: [], sums: noSums() };
    group.items.push(item);
    addSums(group.sums, item.sums);
    groups.set(id, group);
  }
  const rows = [...groups.values()];
  for (const row of rows) row.sums.peak_size = peakOf(cells, query, row.items);
  return { rows: rows.sort(compareRows(query)), isCut };
}

function measuresOf(query, sums) {
  const names = query.columns ?? ["count", "size", "impacting_size", "outstanding_count", "outstanding_size"];
  return Object.fromEntries(names.map((name) => [name, sums[name] ?? null]));
}

function reportFromCells(cells, query) {
  const items = selectedItems(cells, query);
  const { rows, isCut } = groupItems(cells, query, items);
  const places = documentPlaces(cells);
  const shown = rows.slice(query.skip, query.skip + query.top).map(({ items: [item], sums }) => ({
    ...membersOfItem(cells, item, query.keys, places),
    ...measuresOf(query, sums),
  }));
  return {
    ...documentHead(cells, query, "etlheap-report-1"),
    frames: places.frames,
    stacks: places.stacks,
    rows: shown,
    totals: totalsOf(cells, query, items),
    diagnostics: cells.document.diagnostics,
    is_cut: isCut,
  };
}

function answerFromCells(cells, query) {
  if (query.command === "windows") return windowsFromCells(cells, query);
  if (query.command === "allocations") return blocksFromCells(cells, query);
  return query.tree === undefined && query.focus === null ? reportFromCells(cells, query) : treeFromCells(cells, query);
}
