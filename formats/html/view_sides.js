// Churn: how often blocks are allocated and how soon they are freed again, by what the user chooses. Who
// frees (view_frees.js) is a list of the same sort: choices and names of both are here.

// --- choosing what rows are -----------------------------------------------------------------

const CHURN_VIEWS = {
  site: { title: "function", keys: ["process", "site"] },
  stack: { title: "call stack", keys: ["process", "stack"] },
  module: { title: "module", keys: ["process", "module"] },
  thread: { title: "thread", keys: ["process", "thread"] },
  process: { title: "process", keys: ["process"] },
  size: { title: "size class", keys: ["size_class"] },
};

defineState("churnBy", { default: "site", read: oneOf(...Object.keys(CHURN_VIEWS)) });

function viewChoice(label, views, member) {
  const choices = Object.entries(views).map(([value, { title }]) => [value, title]);
  return choiceOf(label, choices, state[member], (value) => update({ [member]: value }));
}

// --- the names of rows ----------------------------------------------------------------------

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
    answer.totals.some((one) => one.kind === state.kind && one.alloc_count === 1) ? " time (" : " times (",
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
