// The columns of all tables: titles, forms of their numbers, and which of them go together.
//
// Titles are WPA's if WPA has the column: they are those of engine/etlheap_columns.h, in its order.
// A measure is a number of a row (`--columns`), a key is what makes a row (`--group-by`). Some
// measures need rows of a certain kind, and some cost the program a second reading of the events,
// so a measure is asked for only while its column is shown.

const WORDS = {
  kind: "Kind",
  process: "Process",
  pid: "PID",
  heap: "Handle",
  type: "Type",
  impacting_type: "Impacting Type",
  free_type: "Free Type",
  stack: "Stack",
  frame: "Frame",
  site: "Site",
  module: "Module",
  thread: "Thread",
  size_class: "Size Class",
  type_name: "Type Name",
  tag: "Stack Tag",
  generation: "Generation",
  mark: "Mark",
  thread_name: "Thread Name",
  free_stack: "Free Stack",
  free_site: "Free Site",
  free_module: "Free Module",
  free_thread: "Free Thread",
  impacting_stack: "Impacting Stack",
  source_line: "Source Line",
  object_type: "Object Type",
  pool_tag: "Pool Tag",
  pool_tag_description: "Pool Tag Description",
  count: "Count",
  size: "Size",
  impacting_size: "Impacting Size",
  outstanding_count: "Outstanding Count",
  outstanding_size: "Outstanding Size",
  realloc_count: "Realloc Count",
  peak_count: "Count Peak",
  peak_size: "Size Peak",
  lifetime_median_ns: "Lifetime Median",
  lifetime_p99_ns: "Lifetime 99%",
  committed_size: "Committed Size",
  reserved_size: "Reserved Size",
  overhead_size: "Overhead Size",
  growth_rate: "Growth/s",
  steadiness: "Steadiness",
  freed_by_other_count: "Freed by Other Thread",
  grows_most: "Grows Most",
  alloc_size: "Alloc Size",
  alloc_rate: "Allocs/s",
  alloc_bytes_rate: "Bytes/s",
  freed_count: "Freed Count",
  freed_size: "Freed Size",
  temporary_count: "Temporary",
  temporary_size: "Temporary Size",
  temporary_10_count: "In 10",
  temporary_1ms_count: "In 1 ms",
  lifetime_mean_ns: "Lifetime Mean",
  lifetime_p90_ns: "Lifetime 90%",
  exclusive_count: "Exclusive Count",
  exclusive_size: "Exclusive Size",
  is_realloc: "Is Realloc",
  address: "Address",
  alloc_time_ns: "Alloc Time",
  free_time_ns: "Free Time",
  lifetime_ns: "Lifetime",
  from_ns: "From (ns)",
  to_ns: "To (ns)",
  window_mark: "Window Mark",
  aifi_count: "AIFI Count",
  aifi_size: "AIFI Size",
  aifo_count: "AIFO Count",
  aifo_size: "AIFO Size",
  aofi_count: "AOFI Count",
  aofi_size: "AOFI Size",
  aofo_count: "AOFO Count",
  aofo_size: "AOFO Size",
  from: "From",
  to: "Below",
  rounding_size: "Rounding",
  lfh_rounding_size: "LFH Rounding",
  category: "Category",
  regions: "Regions",
  largest_uncommitted_size: "Largest Uncommitted",
  largest_empty_size: "Largest Empty",
  touched_size: "Touched Size",
  score: "Score",
  alloc_count: "Alloc Count",
  never_freed_count: "Never Freed Count",
  never_freed_size: "Never Freed Size",
  outstanding_share_millionths: "Outstanding Share (millionths)",
  first_ns: "First",
  last_ns: "Last",
  oldest_ns: "Oldest",
  typical_lifetime_ns: "Typical Lifetime",
  threads: "Threads",
  reason: "Reason",
  state: "State",
  backtrace: "BackTrace",
  status: "Status",
  expected: "Expected",
  file: "File",
  note: "Note",
  path: "Path",
  named_size: "Named Size",
  function: "Function",
  line: "Line",
  heap_name: "Heap Name",
  stack_hash: "Stack Hash",
  trace: "Trace",
  computer: "Computer",
  session: "Session",
  start_time: "Start Time",
  duration_ns: "Duration (ns)",
  at_ns: "At",
  height_size: "Height",
  spiked_size: "Came and Went",
  came_size: "Came",
  went_size: "Went",
  used_size: "Used Size",
  uncommitted_size: "Uncommitted Size",
  decommitted_size: "Decommitted Size",
  fragmentation_millionths: "Fragmentation",
};

const TABLE_KEYS = [
  "kind",
  "process",
  "heap",
  "type",
  "free_type",
  "stack",
  "frame",
  "site",
  "module",
  "thread",
  "size_class",
  "type_name",
  "tag",
  "generation",
  "thread_name",
  "free_stack",
  "free_site",
  "free_module",
  "free_thread",
  "impacting_stack",
  "impacting_type",
  "source_line",
  "function",
  "pool_tag",
  "object_type",
];

const TABLE_MEASURES = [
  "count",
  "size",
  "impacting_size",
  "outstanding_count",
  "outstanding_size",
  "realloc_count",
  "peak_count",
  "peak_size",
  "lifetime_median_ns",
  "lifetime_p99_ns",
  "committed_size",
  "reserved_size",
  "overhead_size",
  "growth_rate",
  "steadiness",
  "alloc_count",
  "alloc_size",
  "alloc_rate",
  "alloc_bytes_rate",
  "freed_count",
  "freed_size",
  "temporary_count",
  "temporary_size",
  "temporary_10_count",
  "temporary_1ms_count",
  "freed_by_other_count",
  "lifetime_mean_ns",
  "lifetime_p90_ns",
  "first_ns",
  "last_ns",
  "exclusive_count",
  "exclusive_size",
  "uncommitted_size",
  "decommitted_size",
  "fragmentation_millionths",
];

const USUAL_COLUMNS = ["outstanding_size", "outstanding_count", "impacting_size", "size", "count"];
// Handles are counted and have no sizes.
const USUAL_COLUMNS_OF_HANDLES = ["outstanding_count", "count"];

const MEASURES_OF_HEAPS = new Set([
  "committed_size",
  "reserved_size",
  "overhead_size",
  "uncommitted_size",
  "decommitted_size",
  "fragmentation_millionths",
]);
const MEASURES_OF_FUNCTIONS = new Set(["exclusive_count", "exclusive_size"]);
const MEASURES_OF_GROWTH = new Set(["growth_rate", "steadiness"]);

const MEASURES_OF_BLOCKS = /^(lifetime_|first_ns|last_ns|growth_rate|steadiness|temporary_|freed_by_other)/;

const COLUMN_GROUPS = [
  { title: "Outstanding", has: (key) => /^(outstanding|impacting)/.test(key) },
  { title: "All blocks", has: (key) => /^(count|size|realloc_count|first_ns|last_ns|exclusive)/.test(key) },
  { title: "Peaks (events are read twice)", has: (key) => key.startsWith("peak") },
  { title: "Lifetimes", has: (key) => key.startsWith("lifetime") },
  { title: "Churn", has: (key) => /^(alloc_|freed_|temporary)/.test(key) },
  { title: "Growth", has: (key) => MEASURES_OF_GROWTH.has(key) },
  { title: "Heaps", has: (key) => MEASURES_OF_HEAPS.has(key) },
];

// --- which columns and keys go together --------------------------------------------------------

const KEYS_OF_STACKS = ["stack", "impacting_stack"];
const KEYS_OF_FRAMES = [...KEYS_OF_STACKS, "frame", "site", "source_line"];
const KEYS_THAT_REPEAT = [
  ["type", "impacting_type"],
  ["thread", "thread_name"],
];

// As the command line refuses them: one key would repeat the other, or what stands beside it.
function keysExclude(a, b) {
  if (a === b) return true;
  const has = (list) => list.includes(a) && list.includes(b);
  const isOneFunction = a === "function" || b === "function";
  if (isOneFunction && (KEYS_OF_FRAMES.includes(a) || KEYS_OF_FRAMES.includes(b))) return true;
  return has(KEYS_OF_STACKS) || KEYS_THAT_REPEAT.some(has);
}

const KEYS_NOT_IN_SUMMARIES = new Set([
  "heap",
  "thread",
  "thread_name",
  "size_class",
  "generation",
  "free_type",
  "free_stack",
  "free_site",
  "free_module",
  "free_thread",
  "impacting_stack",
  "tag",
]);

function tableHasKey(key) {
  return !isSummary() || !KEYS_NOT_IN_SUMMARIES.has(key);
}

// Keys that the command line cannot answer without more of the user's files are not offered.
function keysToAdd(keys) {
  const needFiles = new Set([...(hasCommandWord("--stack-tags") ? [] : ["tag"]), "kind"]);
  return TABLE_KEYS.filter(
    (key) => tableHasKey(key) && !needFiles.has(key) && !keys.some((one) => keysExclude(one, key)),
  ).filter((key) => answerableKeys([...keys, key]).includes(key));
}

// The keys that rows can be grouped by: a static page has not all of them in every window.
function answerableKeys(keys) {
  const kept = [];
  for (const key of keys)
    if (source.can("report", [["group-by", [...kept, key].join()], ...filterOptions()])) kept.push(key);
  return kept;
}

function canMeasure(measure) {
  return source.can("report", [["group-by", "kind"], ["columns", measure], ...filterOptions()]);
}

function hasCommandWord(word) {
  return (source.session?.command_words.report ?? []).some((one) => one === word || one.startsWith(`${word}=`));
}

// Growth follows all blocks of a row over the window, so these keys, which part them by how they
// end, are not for it.
const KEYS_WITHOUT_GROWTH = new Set([
  "type",
  "impacting_type",
  "impacting_stack",
  "function",
  "free_type",
  "free_stack",
  "free_site",
  "free_module",
  "free_thread",
]);

// Null if rows of these keys can have the measure, else why not.
function whyNoMeasure(measure, keys) {
  if (MEASURES_OF_FUNCTIONS.has(measure) && !keys.includes("function")) return "only rows of functions have this";
  if (measure.startsWith("lifetime") && keys.includes("function"))
    return "rows of functions share blocks and do not have this";
  const key = keys.find((one) => KEYS_WITHOUT_GROWTH.has(one));
  if (MEASURES_OF_GROWTH.has(measure) && key !== undefined) return `rows by ${WORDS[key]} do not have this`;
  if (isSummary() && MEASURES_OF_BLOCKS.test(measure)) return "a summary does not have this";
  const areHeaps = keys.includes("heap") && keys.every((key) => ["kind", "process", "heap"].includes(key));
  if (MEASURES_OF_HEAPS.has(measure) && !areHeaps) return "only rows of heaps have this";
  return null;
}

function columnsShown() {
  const columns = (state.columns ?? []).filter((key) => TABLE_MEASURES.includes(key) && canMeasure(key));
  if (columns.length > 0) return columns;
  return state.kind === "handle" ? USUAL_COLUMNS_OF_HANDLES : USUAL_COLUMNS;
}

// The columns to ask for. Growth is not answered together with blocks freed by another thread.
function columnsToAsk(keys) {
  const columns = columnsShown().filter((measure) => whyNoMeasure(measure, keys) === null);
  const hasGrowth = columns.some((measure) => MEASURES_OF_GROWTH.has(measure));
  return hasGrowth ? columns.filter((measure) => measure !== "freed_by_other_count") : columns;
}

function whyNoCell(measure, keys) {
  return (
    whyNoMeasure(measure, keys) ?? (columnsToAsk(keys).includes(measure) ? "unknown" : "not shown together with growth")
  );
}

function whyNoSort(column, keys) {
  const hasNoSizes = state.kind === "handle" && ["size", "byte rate"].includes(measureForm(column));
  return hasNoSizes ? "handles have no sizes" : whyNoMeasure(column, keys);
}

// The column to sort by, without its dash; one that all levels of the table have.
function sortOfTable(keys) {
  const column = (state.sort ?? "").replace(/^-/, "");
  const fallback = state.kind === "handle" ? "outstanding_count" : "outstanding_size";
  if (!TABLE_MEASURES.includes(column) || whyNoSort(column, keys) !== null || !canMeasure(column))
    return { column: fallback, smallestFirst: false };
  return { column, smallestFirst: state.sort.startsWith("-") };
}

// --- numbers -----------------------------------------------------------------------------------

function measureForm(key) {
  if (key === "first_ns" || key === "last_ns" || key === "alloc_time_ns" || key === "free_time_ns") return "time";
  if (key.endsWith("_ns")) return "duration";
  if (key === "growth_rate") return "growth";
  if (key === "alloc_bytes_rate") return "byte rate";
  if (key.endsWith("_rate")) return "rate";
  if (key.endsWith("_millionths")) return "share";
  if (key === "size" || key.endsWith("_size")) return "size";
  return "count";
}

function growthText(value) {
  return state.kind === "handle" ? `${formatCount(value)}/h` : `${formatSize(value)}/s`;
}

const FORM_TEXTS = {
  time: formatTime,
  duration: formatDuration,
  growth: growthText,
  "byte rate": (value) => `${formatSize(value)}/s`,
  rate: (value) => `${formatCount(value)}/s`,
  share: (value) => `${(value / 10000).toFixed(1)} %`,
  size: formatSize,
  count: formatCount,
};

function measureText(key, value) {
  return FORM_TEXTS[measureForm(key.split(".").at(-1))](value);
}

const EXACT_UNITS = { size: "bytes", duration: "ns", time: "ns", share: "millionths", "byte rate": "bytes per second" };

// The number to the last digit, if what is painted is rounded. Measures of one row are "rows.0.size".
function exactText(key, value) {
  const unit = EXACT_UNITS[measureForm(key.split(".").at(-1))];
  return isUnknown(value) || typeof value !== "number" || unit === undefined ? null : `${formatCount(value)} ${unit}`;
}

// A number on the page: its exact value is what tests compare, and what the pointer shows.
function figure(tag, key, value, text, more = {}) {
  const attributes = { "data-measure": key, "data-value": isUnknown(value) ? "" : String(value) };
  return make(tag, { ...attributes, title: exactText(key, value), ...more }, text);
}

// In a sentence. `text`: how it is shown if not as all numbers of that key.
function numberSpan(key, value, text = null) {
  if (isUnknown(value)) return figure("span", key, null, "unknown", { class: "none" });
  return figure("span", key, value, text ?? measureText(key, value));
}

// In the table: a dash if it is not known, which says why.
function measureCell(key, value, why = "unknown") {
  const attributes = { class: "number", role: "gridcell" };
  if (isUnknown(value)) return figure("td", key, null, UNKNOWN_TEXT, { ...attributes, title: why, "aria-label": why });
  return figure("td", key, value, measureText(key, value), attributes);
}

// --- choosing columns ----------------------------------------------------------------------------

const columnPicker = { isOpen: false };

function changeColumn(measure, isShown) {
  const columns = columnsShown().filter((key) => key !== measure);
  update({ columns: isShown ? [...columns, measure] : columns });
}

function moveColumn(measure, beside, isAfter) {
  const columns = columnsShown().filter((key) => key !== measure);
  const at = columns.indexOf(beside);
  if (at < 0) return;
  columns.splice(at + (isAfter ? 1 : 0), 0, measure);
  update({ columns });
}

function columnChoice(measure, keys) {
  const shown = columnsShown();
  const why = whyNoMeasure(measure, keys);
  const isLast = shown.length === 1 && shown[0] === measure;
  const box = make("input", {
    type: "checkbox",
    id: `column-${measure}`,
    disabled: (why !== null && !shown.includes(measure)) || isLast || null,
    onchange: (event) => changeColumn(measure, event.target.checked),
  });
  box.checked = shown.includes(measure);
  return make("label", { title: why }, box, ` ${WORDS[measure]}`);
}

// The list of all measures stands above the table, so that it covers nothing.
function drawColumnPicker(keys, redraw) {
  const curve = make("input", {
    type: "checkbox",
    id: "column-curve",
    onchange: (event) => showCurves(event.target.checked),
  });
  curve.checked = state.curves === true;
  const groups = COLUMN_GROUPS.map(({ title, has }) =>
    make(
      "fieldset",
      {},
      make("legend", {}, title),
      ...TABLE_MEASURES.filter((key) => has(key) && canMeasure(key)).map((measure) => columnChoice(measure, keys)),
    ),
  ).filter((group) => group.childElementCount > 1);
  groups[0].append(make("label", {}, curve, " Curve of each row"));
  return make(
    "div",
    { class: "column-picker", id: "column-picker" },
    ...groups,
    make("button", { type: "button", onclick: () => update({ columns: null }) }, "Usual columns"),
    make("button", { type: "button", onclick: redraw }, "Close"),
  );
}
