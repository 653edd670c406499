// Churn: how often blocks are allocated and how soon they are freed again; and who frees what who
// allocated. Both are lists of sums, by what the user chooses.

// --- choosing what rows are -----------------------------------------------------------------

const CHURN_VIEWS = {
  site: { title: "function", keys: ["process", "site"] },
  stack: { title: "call stack", keys: ["process", "stack"] },
  module: { title: "module", keys: ["process", "module"] },
  thread: { title: "thread", keys: ["process", "thread"] },
  process: { title: "process", keys: ["process"] },
  size: { title: "size class", keys: ["size_class"] },
};

const FREE_VIEWS = {
  pairs: { title: "allocating and freeing function" },
  site: { title: "freeing function", keys: ["process", "free_site"] },
  stack: { title: "freeing call stack", keys: ["process", "free_stack"] },
  module: { title: "freeing module", keys: ["process", "free_module"] },
  thread: { title: "allocating and freeing thread", keys: ["process", "thread", "free_thread"] },
  unmatched: { title: "frees of blocks from before the recording" },
};

defineState("churnBy", { default: "site", read: oneOf(...Object.keys(CHURN_VIEWS)) });
defineState("freesBy", { default: "pairs", read: oneOf(...Object.keys(FREE_VIEWS)) });

function viewChoice(label, views, member) {
  const choices = Object.entries(views).map(([value, { title }]) => [value, title]);
  return choiceOf(label, choices, state[member], (value) => update({ [member]: value }));
}

// --- the names of rows ----------------------------------------------------------------------

const NO_FREE = "[not freed in the window, or no stack recorded]";

// What each key of a row says, and the frames it stands for.
const SIDE_NAMES = {
  site: (answer, row) => (isUnknown(row.site) ? NO_STACK_TEXT : frameText(answer.frames[row.site])),
  free_site: (answer, row) => (isUnknown(row.free_site) ? NO_FREE : frameText(answer.frames[row.free_site])),
  module: (answer, row) => row.module ?? "[no module]",
  free_module: (answer, row) => row.free_module ?? NO_FREE,
  thread: (answer, row) => threadText(row.thread, row.thread_name),
  free_thread: (answer, row) =>
    isUnknown(row.free_thread) ? "[not freed in the window, or not known]" : threadText(row.free_thread),
  size_class: (answer, row) => `from ${formatSize(row.size_class)}`,
};

function threadText(thread, name) {
  if (isUnknown(thread)) return "[unknown thread]";
  return isUnknown(name) ? `thread ${thread}` : `${name} (${thread})`;
}

function sideFrames(answer, row) {
  if ("stack" in row) return stackFrames(answer, row.stack);
  if ("free_stack" in row) return stackFrames(answer, row.free_stack);
  return isUnknown(row.site) ? [] : [answer.frames[row.site]];
}

// Two names when one allocates and the other frees.
function sideName(answer, row) {
  const keys = Object.keys(SIDE_NAMES).filter((key) => key in row);
  if (keys.length === 0) return [make("span", {}, processText(row))];
  const lines = keys.map((key) => SIDE_NAMES[key](answer, row));
  const first = make("span", {}, ...breakable(lines[0]));
  const freed =
    lines.length > 1
      ? make("div", { class: "freer" }, make("span", { class: "detail" }, "freed by "), ...breakable(lines[1]))
      : null;
  const process = "process" in row ? processSpan(processText(row)) : null;
  return [first, process, freed];
}

// How a list of such rows names them.
function sideNaming(answer, { nothing = NO_STACK_TEXT, lines } = {}) {
  const items = (row) => sideItems(answer, row);
  const first = answer.rows[0] ?? {};
  if (!("stack" in first) && !("free_stack" in first)) return { name: (row) => sideName(answer, row), items };
  return { frames: (row) => sideFrames(answer, row), nothing, lines, items };
}

function sideItems(answer, row) {
  const items = rowItems(row, "site" in row || "stack" in row ? sideFrames(answer, row) : []);
  for (const key of ["module", "thread", "size_class"].filter((name) => name in row))
    items.push(...itemsOfKey(answer, row, key));
  return items;
}

// --- churn ----------------------------------------------------------------------------------

const CHURN_MEASURES = [
  "alloc_count",
  "alloc_rate",
  "alloc_size",
  "alloc_bytes_rate",
  "temporary_count",
  "temporary_10_count",
  "temporary_1ms_count",
];

function churnQuestions() {
  if (state.kind === null) return null;
  const options = [
    ["churn", ""],
    ["group-by", CHURN_VIEWS[state.churnBy].keys.join(",")],
    ["columns", CHURN_MEASURES.join(",")],
    ...listOptions("churn", CHURN_MEASURES, "alloc_count"),
    ...filterOptions(),
  ];
  return [{ command: "report", options }];
}

const CHURN_TITLES = { temporary_10_count: "Freed Within 10 Allocs", temporary_1ms_count: "Freed Within 1 ms" };
const CHURN_COLUMNS = CHURN_MEASURES.flatMap((key) => {
  const column = { key, title: CHURN_TITLES[key] };
  return key === "temporary_count"
    ? [column, { key: "temporary_share", title: "Temporary (%)", draw: temporaryShare, isSorted: false }]
    : [column];
});

function temporaryShare(row) {
  const attributes = {
    "data-measure": "temporary_count/alloc_count",
    "data-value": `${row.temporary_count}/${row.alloc_count}`,
  };
  return make("span", attributes, formatPercent(row.temporary_count, row.alloc_count));
}

function totalSpan(answer, key) {
  const at = answer.totals.findIndex((one) => one.kind === state.kind);
  const value = at < 0 ? null : answer.totals[at][key];
  const span = numberSpan(key, value);
  span.dataset.measure = `totals.${at}.${key}`;
  return span;
}

function churnSentence(answer) {
  const cost = answer.estimates?.temporary_cost_ns;
  const text = [
    "In this window the program allocated ",
    totalSpan(answer, "alloc_count"),
    " times (",
    totalSpan(answer, "alloc_rate"),
    "). Temporary blocks, which their thread freed before its next allocation: ",
    totalSpan(answer, "temporary_count"),
    ".",
  ];
  if (state.kind !== "heap" || isUnknown(cost) || cost === 0) return text;
  const spent = make(
    "span",
    { "data-measure": "estimates.temporary_cost_ns", "data-value": String(cost) },
    formatDuration(cost),
  );
  return [
    ...text,
    " They cost an estimated ",
    spent,
    ` of processor time, at ${answer.estimates.assumed_ns_per_temporary} ns each.`,
  ];
}

function drawChurn(body, [answer], { questions }) {
  const view = CHURN_VIEWS[state.churnBy];
  const list = {
    id: "churn",
    rows: answer.rows,
    question: questions[0],
    label: `Allocations by ${view.title}`,
    nameTitle: "Allocated by",
    ...sideNaming(answer),
    columns: CHURN_COLUMNS,
    isAsked: true,
    sortKeys: CHURN_MEASURES,
    usual: "alloc_count",
    canGrow: true,
  };
  const hint = make("p", { class: "hint" }, ...churnSentence(answer));
  const nothing = "Nothing was allocated in this window with these filters.";
  const table = answer.rows.length > 0 ? drawList(list) : emptyList(nothing);
  replaceBody(body, viewChoice("By", CHURN_VIEWS, "churnBy"), hint, table);
}

registerPart({
  id: "churn",
  title: "Churn",
  order: 55,
  needsBlocks: true,
  questions: churnQuestions,
  draw: drawChurn,
  csv: true,
  text: true,
  lazy: true,
  follows: ["lists"],
});

// --- who frees ------------------------------------------------------------------------------

const FREE_MEASURES = ["count", "size", "outstanding_size", "outstanding_count", "freed_by_other_count"];
// Only frees are counted: nothing is known of the blocks and how they were allocated.
const NOT_FOR_UNMATCHED = ["type", "size", "lifetime", "require-frame", "exclude-frame", "at-exit"];

function unmatchedQuestion() {
  const { top } = listState("frees");
  return {
    command: "report",
    options: [["unmatched", ""], ["top", String(top)], ...optionsWithout(...NOT_FOR_UNMATCHED)],
  };
}

function freesQuestions() {
  if (state.kind === null) return null;
  if (state.freesBy === "unmatched") return [unmatchedQuestion()];
  const { keys } = FREE_VIEWS[state.freesBy];
  const what = keys === undefined ? ["pairs", ""] : ["group-by", keys.join(",")];
  const options = [
    what,
    ["columns", FREE_MEASURES.join(",")],
    ...listOptions("frees", FREE_MEASURES, "count"),
    ...filterOptions(),
  ];
  return [{ command: "report", options }];
}

const FREE_COLUMNS = FREE_MEASURES.map((key) => ({ key }));
const FREES_HINT =
  "A block that was not freed in the window counts in the row without a freeing function. " +
  "Freed by Other Thread: blocks that another thread freed than the one that allocated them.";
// The events whose call stacks name who frees, as xperf -stackwalk has them.
const FREE_EVENTS = {
  heap: "HeapAlloc+HeapRealloc+HeapFree",
  virtualalloc: "VirtualAlloc+VirtualFree",
  reserve: "VirtualAlloc+VirtualFree",
  pool: "PoolAlloc+PoolFree",
  handle: "HandleCreate+HandleDuplicate+HandleClose",
  mapped: "MapFile+UnMapFile",
};

function withoutFreeStacksText() {
  const events = FREE_EVENTS[state.kind];
  const advice = events === undefined ? "" : ` To record them: xperf -stackwalk ${events}.`;
  return `No call stack of a free was recorded for this window, so these rows do not tell which code freed.${advice}`;
}

const UNMATCHED_HINT =
  "Frees of blocks that were allocated before the recording, so their sizes and call stacks are unknown.";

function isWithoutFreeStacks(answer) {
  const key = ["free_site", "free_stack", "free_module"].find((name) => answer.group_by.includes(name));
  return key !== undefined && answer.rows.length > 0 && answer.rows.every((row) => isUnknown(row[key]));
}

function freesHint(answer) {
  if (state.freesBy === "unmatched") return make("p", { class: "hint" }, UNMATCHED_HINT);
  if (isWithoutFreeStacks(answer)) return make("p", { class: "notice" }, withoutFreeStacksText());
  return make("p", { class: "hint" }, FREES_HINT);
}

function drawFrees(body, [answer], { questions }) {
  const isUnmatched = state.freesBy === "unmatched";
  const words = isUnmatched
    ? { lines: (row) => [isUnknown(row.heap) ? "" : `${state.kind === "heap" ? "heap " : ""}${row.heap}`] }
    : { nothing: NO_FREE };
  const list = {
    id: "frees",
    rows: answer.rows,
    question: questions[0],
    label: `Frees by ${FREE_VIEWS[state.freesBy].title}`,
    nameTitle: state.freesBy === "pairs" || state.freesBy === "thread" ? "Allocated by, freed by" : "Freed by",
    ...sideNaming(answer, words),
    columns: isUnmatched ? [{ key: "count" }] : FREE_COLUMNS,
    isAsked: true,
    sortKeys: isUnmatched ? [] : FREE_MEASURES,
    usual: "count",
    canGrow: true,
  };
  const nothing = isUnmatched
    ? "Every free in this window is of a block whose allocation was recorded."
    : "No blocks belong to this window and these filters.";
  const table = answer.rows.length > 0 ? drawList(list) : emptyList(nothing);
  replaceBody(body, viewChoice("By", FREE_VIEWS, "freesBy"), freesHint(answer), table);
}

registerPart({
  id: "frees",
  title: "Frees",
  order: 60,
  needsBlocks: true,
  questions: freesQuestions,
  draw: drawFrees,
  csv: true,
  text: true,
  lazy: true,
  follows: ["lists"],
});
