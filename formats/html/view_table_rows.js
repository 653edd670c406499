// The rows of the table as a tree whose numbers are all the program's own.
//
// A tree of keys k1, k2, ... kn is asked for level by level, so nothing is added up here and sums,
// peaks and lifetimes of inner rows are as exact as those of leaves:
//
//     level 1   report --group-by k1         --top 200
//     level 2   report --group-by k1,k2      --top 200      rows find their parent by the keys
//     level n   report --group-by k1,...,kn  --top 200      that they share with it
//
// A level that has more rows is cut. What is missing below a row is asked for with the filters of
// that row (--process, --heap, --type, ...) if its keys have such filters, else the level's next
// rows are asked for with --skip. Each answer is a page: { document, command, skip }.

const TABLE_TOP = 200;

// --- questions -----------------------------------------------------------------------------------

function tableKeys() {
  const known = (state.groupBy ?? []).filter((key) => TABLE_KEYS.includes(key) && key !== "kind" && tableHasKey(key));
  const keys = answerableKeys(known.filter((key, i) => !known.slice(0, i).some((one) => keysExclude(one, key))));
  return keys.length > 0 ? keys : ["process"];
}

function levelQuestion(keys, filters, skip) {
  const chosen = sortOfTable(tableKeys());
  const { column, smallestFirst } = whyNoSort(chosen.column, keys) === null ? chosen : sortOfTable(keys);
  const columns = columnsToAsk(keys);
  const options = [
    ["group-by", keys.join(",")],
    ["columns", (columns.length > 0 ? columns : [column]).join(",")],
    ["sort", `${smallestFirst ? "-" : ""}${column}`],
    ["top", String(TABLE_TOP)],
  ];
  if (skip > 0) options.push(["skip", String(skip)]);
  return { command: "report", options: [...options, ...filters] };
}

function tableQuestions() {
  if (state.kind === null) return null;
  const keys = tableKeys();
  const filters = filterOptions({ window: true, kind: true, types: true });
  // The deepest first: that is the one to copy or to save as CSV.
  const levels = keys.map((_, i) => levelQuestion(keys.slice(0, keys.length - i), filters, 0));
  // While a search narrows the rows, the sums of all are asked for, too: as they were before.
  return isNarrowing() ? [...levels, levelQuestion(keys.slice(0, 1), filterOptions({ search: false }), 0)] : levels;
}

function newTablePage(answer, question, skip) {
  return { document: answer, command: source.commandFor(question.command, question.options), skip };
}

// True if the program may have more rows than the pages.
function areCut(pages) {
  const last = pages.at(-1);
  return last !== undefined && (last.document.rows.length >= TABLE_TOP || last.document.is_cut === true);
}

// False if the page has no more of them: a static page leaves out the smallest stacks.
function canAskMore(pages) {
  return pages.at(-1)?.document.rows.length >= TABLE_TOP;
}

function rowsOfPages(pages) {
  return pages.reduce((sum, page) => sum + page.document.rows.length, 0);
}

// --- what tells rows apart -----------------------------------------------------------------------

// Indices of stacks and frames belong to one document, so rows of two are compared by what they
// stand for.
const idsOfStacks = new WeakMap();

function frameId(frame) {
  if (frame === undefined) return "";
  return `${frame.module}+${frame.offset}@${frame.address}!${frame.symbol}#${frame.number ?? ""}`;
}

function stackId(answer, index) {
  if (index === null || index === undefined) return "none";
  let ids = idsOfStacks.get(answer);
  if (ids === undefined) idsOfStacks.set(answer, (ids = { frames: answer.frames.map(frameId), stacks: [] }));
  ids.stacks[index] ??= answer.stacks[index].map((frame) => ids.frames[frame]).join("|");
  return ids.stacks[index];
}

const STACK_KEYS = new Set(["stack", "impacting_stack", "free_stack"]);
const FRAME_KEYS = new Set(["frame", "site", "function", "free_site"]);

function keyId(answer, row, key) {
  const value = row[key];
  if (STACK_KEYS.has(key)) return stackId(answer, value);
  if (FRAME_KEYS.has(key)) return value === null ? "none" : frameId(answer.frames[value]);
  if (key === "process") return `${row.process}#${row.pid}`;
  if (key === "thread") return `${value}#${row.thread_name ?? ""}`;
  if (key === "generation") return String(value);
  return value === null ? "none" : `=${value}`;
}

// --- the tree ------------------------------------------------------------------------------------

function newTableNode(parent, id, key) {
  const level = parent === null ? 0 : parent.level + 1;
  return { parent, id, key, level, row: null, page: null, index: -1, children: new Map(), isCut: false, canAsk: false };
}

// The node of a row. Parents that no page has are made without numbers.
function nodeOfRow(root, answer, row, keys) {
  let node = root;
  for (const key of keys) {
    const id = `${node.id}\u0001${keyId(answer, row, key)}`;
    let child = node.children.get(id);
    if (child === undefined) node.children.set(id, (child = newTableNode(node, id, key)));
    child.sample ??= { answer, row };
    node = child;
  }
  return node;
}

function addPage(root, page, keys) {
  page.document.rows.forEach((row, index) => {
    const node = nodeOfRow(root, page.document, row, keys);
    if (node.row !== null) return;
    Object.assign(node, { row, page, index, sample: { answer: page.document, row } });
  });
}

// levels[i]: the pages of level i + 1; below: pages asked for with the filters of one row, by id.
function buildTableTree(keys, levels, below) {
  const root = newTableNode(null, "", "");
  levels.forEach((pages, i) => pages.forEach((page) => addPage(root, page, keys.slice(0, i + 1))));
  for (const [, pages] of below) pages.forEach((page) => addPage(root, page, page.keys));
  markCuts(root, levels, below);
  return root;
}

function markCuts(node, levels, below) {
  if (node.level >= levels.length) return;
  const pages = below.get(node.id) ?? levels[node.level];
  node.isCut = areCut(pages) && !hasAllRows(node);
  node.canAsk = canAskMore(pages);
  for (const child of node.children.values()) markCuts(child, levels, below);
}

// True if the counts of what is listed below a row are all of its own. Rows of functions overlap.
function hasAllRows(node) {
  if (node.row === null || !Number.isInteger(node.row.count)) return false;
  const children = [...node.children.values()];
  if (children.length === 0 || children[0].key === "function") return false;
  return children.reduce((sum, child) => sum + (child.row?.count ?? 0), 0) === node.row.count;
}

// --- filters of a row ----------------------------------------------------------------------------

const IMPACTING_TYPES = { Impacting: ["AIFO", "AOFI"], Transient: ["AIFI"], Persistent: ["AOFO"] };

function sizeClassRange(lower) {
  return lower === 0 ? "0" : `${lower}..${lower * 2 - 1}`;
}

// The option that selects exactly the rows with this value of a key, or null.
function exactFilter(row, key) {
  if (key === "process") return isUnknown(row.pid) ? null : { option: "process", values: [String(row.pid)] };
  if (key === "heap") return isUnknown(row.heap) ? null : { option: "heap", values: [row.heap] };
  if (key === "type") return isUnknown(row.type) ? null : { option: "type", values: [row.type] };
  if (key === "impacting_type") return { option: "type", values: IMPACTING_TYPES[row.impacting_type] };
  if (key === "thread") return isUnknown(row.thread) ? null : { option: "thread", values: [String(row.thread)] };
  if (key === "size_class") return { option: "size", values: [sizeClassRange(row.size_class)] };
  return null;
}

function pathToNode(node) {
  const path = [];
  for (let one = node; one.level > 0; one = one.parent) path.unshift(one);
  return path;
}

// Options of all that the page selects and of a row's own keys; exact: false if a key has none.
function optionsOfNode(node, given) {
  const own = [];
  let exact = true;
  for (const one of pathToNode(node)) {
    const filter = exactFilter(one.sample.row, one.key);
    const clash = filter?.option === "size" && given.some(([name]) => name === "size");
    if (filter === null || clash) exact = false;
    else own.push([filter.option, filter.values.join(",")]);
  }
  const names = new Set(own.map(([name]) => name));
  return { options: [...given.filter(([name]) => !names.has(name)), ...own], exact };
}

// --- texts ---------------------------------------------------------------------------------------

const TYPE_TEXTS = {
  AIFO: "allocated inside, freed outside the window",
  AIFI: "allocated and freed inside the window",
  AOFI: "allocated outside, freed inside the window",
  AOFO: "allocated and freed outside the window",
};

const FRAMES_IN_ROW = 3;

function framesOfRow(answer, row, key) {
  return isUnknown(row[key]) ? null : stackFrames(answer, row[key]);
}

// The innermost frames; siblings that begin alike are told apart by the first that differs.
function stackRowText(answer, row, key) {
  const frames = framesOfRow(answer, row, key);
  if (frames === null || frames.length === 0) return { text: noValueText(key), detail: "" };
  const texts = frames.slice(0, FRAMES_IN_ROW).map((frame) => frameText(frame));
  return { text: texts[0], detail: texts.slice(1).join(" \u2190 ") };
}

// Two frames of one function differ by their lines, or by where they return to.
function framePlace(frame) {
  const line = frameSource(frame).split(/[\\/]/).at(-1);
  return line === "" ? (frame?.offset ?? frame?.address ?? "") : line;
}

function differingFrameText(frame, at) {
  const place = framePlace(frame);
  if (at < FRAMES_IN_ROW) return ` (${at === 0 ? "at" : "through"} ${place})`;
  return ` \u2190 \u2026 ${frameText(frame)}${isUnknown(frame.symbol) ? "" : ` (${place})`}`;
}

function tellStacksApart(nodes) {
  const groups = new Map();
  for (const node of nodes) {
    const text = `${node.label.text}\u0001${node.label.detail}`;
    groups.set(text, [...(groups.get(text) ?? []), node]);
  }
  for (const group of groups.values()) {
    if (group.length < 2) continue;
    const stacks = group.map(({ sample, key }) => framesOfRow(sample.answer, sample.row, key) ?? []);
    const at = depthThatDiffers(stacks, frameId);
    group.forEach((node, i) => {
      const frame = stacks[i][at];
      if (frame !== undefined) node.label.detail += differingFrameText(frame, at);
    });
  }
}

function noValueText(key) {
  if (["free_stack", "free_site", "free_module", "free_thread"].includes(key))
    return "not freed in the window, or unknown";
  return STACK_KEYS.has(key) || FRAME_KEYS.has(key) ? NO_STACK_TEXT : "unknown";
}

function sizeClassText(lower) {
  return lower === 0 ? "0 bytes" : `${formatSize(lower)} to ${formatSize(lower * 2)}`;
}

const KEY_TEXTS = {
  process: (row) => ({ text: row.process ?? "unknown process", detail: row.pid === null ? "" : `(${row.pid})` }),
  heap: (row) => ({ text: row.heap ?? "not of a heap", detail: "" }),
  type: (row) => ({ text: row.type, detail: TYPE_TEXTS[row.type] ?? "" }),
  thread: (row) => ({
    text: row.thread === null ? "unknown thread" : `thread ${row.thread}`,
    detail: row.thread_name ?? "",
  }),
  size_class: (row) => ({ text: sizeClassText(row.size_class), detail: "" }),
  generation: (row) => ({
    text: row.generation === 0 ? "before the first mark" : `after ${row.mark ?? `mark ${row.generation}`}`,
    detail: row.mark_number === undefined ? "" : `#${row.mark_number}`,
  }),
  pool_tag: (row) => ({ text: row.pool_tag ?? "no tag", detail: row.pool_tag_description ?? "" }),
};

function keyText(answer, row, key) {
  if (STACK_KEYS.has(key)) return stackRowText(answer, row, key);
  if (FRAME_KEYS.has(key))
    return { text: row[key] === null ? noValueText(key) : frameText(answer.frames[row[key]]), detail: "" };
  if (KEY_TEXTS[key] !== undefined) return KEY_TEXTS[key](row);
  return { text: isUnknown(row[key]) ? noValueText(key) : String(row[key]), detail: "" };
}

function labelNodes(nodes) {
  for (const node of nodes) node.label ??= keyText(node.sample.answer, node.sample.row, node.key);
  const stacks = nodes.filter((node) => STACK_KEYS.has(node.key) && !node.label.isApart);
  tellStacksApart(stacks);
  for (const node of stacks) node.label.isApart = true;
}
