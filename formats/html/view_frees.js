// Who frees what others allocate: sums by who allocated and who freed, or by who freed alone.
//
// "Who frees this" in a menu asks for one call stack, or for all stacks through a function (freesOf). The
// command line has no filter for one whole stack. So a stack is a key of the rows, of which those of
// other stacks are not shown; --require-frame with its innermost function keeps the answer small.
//
//     report --group-by process,stack,free_stack --require-frame 'app.exe!History::append'
//
// A static page has pairs of functions, so it shows those of the innermost function.
//
// The flame graph of the stacks that free is one of the choices of the flame graph.

const FREE_VIEWS = {
  pairs: { title: "allocating and freeing function" },
  site: { title: "freeing function", keys: ["process", "free_site"] },
  stack: { title: "freeing call stack", keys: ["process", "free_stack"] },
  module: { title: "freeing module", keys: ["process", "free_module"] },
  thread: { title: "allocating and freeing thread", keys: ["process", "thread", "free_thread"] },
  unmatched: { title: "frees of blocks from before the recording" },
};

const NO_FREE = "[not freed in the window, or no stack recorded]";

// "STACK~FUNCTION": the name of one stack, or nothing for all stacks through the function.
function readFreesOf(text) {
  const match = text.length > TEXT_MAX ? null : /^([0-9a-z]{0,12})~([^\0\r\n]+)$/.exec(text);
  return match === null ? undefined : { stack: match[1], pattern: match[2] };
}

defineState("freesBy", { default: "pairs", read: oneOf(...Object.keys(FREE_VIEWS)) });
defineState("freesOf", {
  default: null,
  read: readFreesOf,
  write: ({ stack, pattern }) => `${stack}~${pattern}`,
});

// --- one call stack -------------------------------------------------------------------------

// A short name of a stack, of the places that it returns to: it stays the same when functions get their
// names. Inlined functions are at the place of the function that they are in.
function stackName53(frames) {
  const places = frames.map(({ module, offset, address }) => (isUnknown(offset) ? address : `${module}+${offset}`));
  let high = 7,
    low = 11;
  for (const place of places.filter((one, i) => one !== places[i - 1]))
    for (const letter of `${place}|`) {
      const code = letter.codePointAt(0);
      high = Math.imul(high ^ code, 2654435761);
      low = Math.imul(low ^ code, 1597334677) ^ (high >>> 15);
    }
  return ((high >>> 11) * 2 ** 32 + (low >>> 0)).toString(36);
}

function showFreesOf(frames, isStack) {
  const freesOf = { stack: isStack ? stackName53(frames) : "", pattern: framePattern(frames[0]) };
  update({ freesOf, freesBy: source.isLive ? "stack" : "pairs" });
  byId("frees").scrollIntoView();
  announce(`Who frees what ${freesOf.pattern} allocates`);
}

// For the menus of call stacks and of functions.
function freersItem(frames, isStack = true) {
  if (isSummary() || frames.length === 0 || framePattern(frames[0]) === null || byId("frees").hidden) return null;
  const label = isStack && source.isLive ? "Who frees this" : `Who frees what ${framePattern(frames[0])} allocates`;
  return { label, act: () => showFreesOf(frames, isStack) };
}

function isOfFreesOf(answer, row) {
  const { stack, pattern } = state.freesOf;
  if (!source.isLive) return framePattern(answer.frames[row.site]) === pattern;
  return stack === "" || stackName53(stackFrames(answer, row.stack)) === stack;
}

// Rows that are shown, without the stack that all of them have; the others are passed over.
function rowsOfFreesOf(answer) {
  const shown = new Set();
  const rows = answer.rows.map((row) => {
    const { stack, ...others } = row;
    if (isOfFreesOf(answer, row)) shown.add(others);
    return stack === undefined ? Object.assign(others, row) : others;
  });
  return { rows, shown };
}

// What the rows are of; the frames are those of the first row.
function freesOfNote(answer) {
  if (state.freesOf === null) return null;
  const row = state.freesOf.stack === "" ? undefined : answer.rows.find((one) => isOfFreesOf(answer, one));
  const frames = row === undefined || !source.isLive ? [] : stackFrames(answer, row.stack);
  const what = frames.length === 0 ? `what ${state.freesOf.pattern} allocates` : "what one call stack allocates: ";
  const all = make("button", { type: "button", class: "small", onclick: () => update({ freesOf: null }) }, "All frees");
  return make(
    "div",
    { class: "note freed-of" },
    `Who frees ${what}`,
    frames.length === 0 ? null : stackDetails(frames, [make("span", {}, ...breakable(frameText(frames[0])))]),
    all,
  );
}

// --- questions ------------------------------------------------------------------------------

const FREE_MEASURES = ["count", "size", "outstanding_size", "outstanding_count", "freed_by_other_count"];
const FREES_OF_TOP = 5000;
// Only frees are counted: nothing is known of the blocks and how they were allocated.
const NOT_FOR_UNMATCHED = ["type", "size", "lifetime", "require-frame", "exclude-frame", "at-exit"];

function unmatchedQuestion() {
  const { top } = listState("frees");
  return {
    command: "report",
    options: [["unmatched", ""], ["top", String(top)], ...optionsWithout(...NOT_FOR_UNMATCHED)],
  };
}

// Keys of the rows; undefined: pairs, which the command names.
function freeKeys() {
  const { keys } = FREE_VIEWS[state.freesBy];
  if (state.freesOf === null || state.freesOf.stack === "" || !source.isLive) return keys;
  return ["process", "stack", ...(keys ?? ["process", "free_site"]).slice(1)];
}

function freesOfOptions() {
  if (state.freesOf === null || !source.isLive) return filterOptions();
  return [...optionsWithout("require-frame"), ["require-frame", state.freesOf.pattern]];
}

function freesQuestions() {
  if (state.kind === null) return null;
  if (state.freesBy === "unmatched") return [unmatchedQuestion()];
  const keys = freeKeys();
  const what = keys === undefined ? ["pairs", ""] : ["group-by", keys.join(",")];
  const [sort, top] = listOptions("frees", FREE_MEASURES, "count");
  const options = [
    what,
    ["columns", FREE_MEASURES.join(",")],
    sort,
    state.freesOf === null ? top : ["top", String(FREES_OF_TOP)],
    ...freesOfOptions(),
  ];
  return [{ command: "report", options }];
}

// --- drawing --------------------------------------------------------------------------------

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
  return `No call stack of a free was recorded for this window, so nothing here tells which code freed.${advice}`;
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

function freesChoices(answer) {
  const choice = viewChoice("By", FREE_VIEWS, "freesBy");
  const flame = make("button", { type: "button", onclick: showFlameOfFrees }, "Flame graph of freeing stacks");
  return make("div", { class: "choices" }, choice, canDrawFrees() && !isWithoutFreeStacks(answer) ? flame : null);
}

function freesCutNote(answer) {
  const isCut = state.freesOf !== null && source.isLive && answer.rows.length >= FREES_OF_TOP;
  return isCut ? make("p", { class: "after" }, `Among the first ${formatCount(FREES_OF_TOP)} rows of the command.`) : null;
}

// The list, and whether it has rows.
function freesList(answer, question) {
  const isUnmatched = state.freesBy === "unmatched";
  const isOfOne = state.freesOf !== null && !isUnmatched;
  const { rows, shown } = isOfOne ? rowsOfFreesOf(answer) : { rows: answer.rows, shown: null };
  const words = isUnmatched
    ? { lines: (row) => [isUnknown(row.heap) ? "" : `${state.kind === "heap" ? "heap " : ""}${row.heap}`] }
    : { nothing: NO_FREE };
  const isPair = state.freesBy === "thread" || (state.freesBy === "pairs" && freeKeys() === undefined);
  return {
    id: "frees",
    rows,
    question,
    label: `Frees by ${FREE_VIEWS[state.freesBy].title}`,
    nameTitle: isPair ? "Allocated by, freed by" : "Freed by",
    ...sideNaming({ ...answer, rows }, words),
    columns: isUnmatched ? [{ key: "count" }] : FREE_COLUMNS,
    isShown: shown === null ? undefined : (row) => shown.has(row),
    isEmpty: shown === null ? rows.length === 0 : shown.size === 0,
    isAsked: true,
    sortKeys: isUnmatched ? [] : FREE_MEASURES,
    usual: "count",
    canGrow: state.freesOf === null,
  };
}

function noFreesText() {
  if (state.freesBy === "unmatched") return "Every free in this window is of a block whose allocation was recorded.";
  return state.freesOf === null
    ? "No blocks belong to this window and these filters."
    : "Nothing of it belongs to this window and these filters.";
}

function drawFrees(body, [answer], { questions }) {
  const list = freesList(answer, questions[0]);
  const note = state.freesBy === "unmatched" ? null : freesOfNote(answer);
  const table = list.isEmpty ? emptyList(noFreesText()) : drawList(list);
  replaceBody(body, freesChoices(answer), note, freesHint(answer), table, freesCutNote(answer));
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
