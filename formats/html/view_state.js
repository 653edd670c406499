// What the user chose. All of it is in the fragment of the address, so a link, a reload, Back and
// Forward restore it:
//
//     #from=5s&to=9s&kind=heap&process=app.exe&exclude-frame=ntdll!
//
// update() makes an entry of the browser's history and tells the listeners; undo goes back in that
// history. A fragment may come from anywhere: members with a value that is not valid keep their
// default, and unknown names are passed over.

const FRAGMENT_MAX = 8000; // characters that are read
const TEXT_MAX = 500; // of one value
const FILTERS_MAX = 40;

const KIND_NAMES = ["heap", "virtualalloc", "extent", "custom", "reserve", "pool", "handle", "mapped", "section"];
const WORD = /^[a-z0-9_]{1,40}$/;

// Options of the command line that are filters, in the order of the menu, and what chips say. An
// option takes one value (`single`), or several, of which `any` has to match, or none.
const FILTER_NAMES = {
  process: { title: "Process", example: "app.exe or 4128", any: true },
  heap: { title: "Heap", example: "0x1f0000", any: true },
  thread: { title: "Thread", example: "42 or render*", any: true },
  type: { title: "Type", example: "AIFO,AOFO", single: true },
  size: { title: "Size", example: "64K..1.5M", single: true },
  lifetime: { title: "Lifetime", example: "1s..", single: true },
  "require-frame": { title: "Only stacks with", example: "module!function", any: true },
  "exclude-frame": { title: "No stacks with", example: "module!function" },
  "fold-module": { title: "Fold module", example: "ntdll" },
  "cull-frame": { title: "Hide innermost", example: "module!function" },
  "at-exit": { title: "At process exit", example: "freed or leaked", single: true },
};

// --- members --------------------------------------------------------------------------------

const stateMembers = new Map();
const state = { filters: [] };

// A member of the state: `read(text)` returns undefined if the text is not valid, and `write(value)`
// returns the text for the fragment. Members that have their default are not in the fragment.
function defineState(name, { default: first, read, write = String }) {
  stateMembers.set(name, { first, read, write });
  if (!(name in state)) state[name] = structuredClone(first);
}

function oneOf(...texts) {
  return (text) => (texts.includes(text) ? text : undefined);
}

function readWords(text) {
  const words = text.split(",");
  return words.length <= 60 && words.every((word) => WORD.test(word)) ? words : undefined;
}

function readText(text) {
  return text.length <= TEXT_MAX ? text : undefined;
}

function readNumber(text) {
  return /^[1-9]\d{0,3}$/.test(text) ? Number(text) : undefined;
}

const TIME_UNITS = { s: 1e9, ms: 1e6, us: 1e3, ns: 1 };

// Times are whole ns, exact to 2^53: 104 days.
function readTime(text) {
  const match = /^(\d{1,16})(s|ms|us|ns)$/.exec(text);
  const ns = match === null ? NaN : Number(match[1]) * TIME_UNITS[match[2]];
  return Number.isSafeInteger(ns) ? ns : undefined;
}

const TIME_MEMBER = { default: null, read: readTime, write: exactTime };
const TEXT_MEMBER = { default: null, read: readText };
defineState("input", { default: 1, read: readNumber });
defineState("base", { default: null, read: readNumber });
defineState("from", TIME_MEMBER);
defineState("to", TIME_MEMBER);
defineState("zoomFrom", TIME_MEMBER);
defineState("zoomTo", TIME_MEMBER);
defineState("kind", { default: null, read: oneOf(...KIND_NAMES) });
defineState("groupBy", {
  default: ["process", "heap", "type", "stack"],
  read: readWords,
  write: (words) => words.join(","),
});
defineState("sort", {
  default: "outstanding_size",
  read: (text) => (/^-?[a-z0-9_]{1,40}$/.test(text) ? text : undefined),
});
defineState("columns", { default: null, read: readWords, write: (words) => words.join(",") });
defineState("metric", { default: "outstanding_size", read: (text) => (WORD.test(text) ? text : undefined) });
defineState("root", TEXT_MEMBER);
defineState("focus", TEXT_MEMBER);
defineState("tree", { default: "callees", read: oneOf("callees", "callers") });
defineState("search", { default: "", read: readText });

// --- the fragment ---------------------------------------------------------------------------

function fragmentOf(values) {
  const words = new URLSearchParams();
  for (const [name, { first, write }] of stateMembers) {
    const value = values[name];
    if (value !== null && JSON.stringify(value) !== JSON.stringify(first)) words.append(name, write(value));
  }
  for (const filter of values.filters) for (const value of filter.values) words.append(filter.option, value);
  const text = words.toString();
  return text === "" ? "" : `#${text}`;
}

// With one more filter; as it was if the value cannot be one. Some options take one value only.
function addFilter(filters, option, value) {
  if (filters.length >= FILTERS_MAX || value === "" || value.length > TEXT_MAX || /[\0\r\n]/.test(value))
    return filters;
  const others = filters.filter(
    (filter) => filter.option !== option || (!FILTER_NAMES[option].single && filter.values[0] !== value),
  );
  return [...others, { option, values: [value] }];
}

function stateOf(fragment) {
  const values = { filters: [] };
  for (const [name, { first }] of stateMembers) values[name] = structuredClone(first);
  for (const [name, text] of new URLSearchParams(fragment.replace(/^#/, "").slice(0, FRAGMENT_MAX))) {
    if (Object.hasOwn(FILTER_NAMES, name)) values.filters = addFilter(values.filters, name, text);
    else if (stateMembers.has(name)) values[name] = stateMembers.get(name).read(text) ?? values[name];
  }
  for (const [from, to] of [
    ["from", "to"],
    ["zoomFrom", "zoomTo"],
  ])
    if (values[from] !== null && values[to] !== null && values[from] >= values[to]) values[from] = values[to] = null;
  return values;
}

// --- changes --------------------------------------------------------------------------------

const stateListeners = [];

// `listener(changes)` gets an object of the members that have changed.
function onChange(listener) {
  stateListeners.push(listener);
}

function tellChanges(values) {
  const changes = {};
  for (const [name, value] of Object.entries(values))
    if (JSON.stringify(state[name]) !== JSON.stringify(value)) changes[name] = value;
  if (Object.keys(changes).length === 0) return false;
  Object.assign(state, changes);
  for (const listener of stateListeners) listener(changes);
  return true;
}

function historyDepth() {
  return Number.isInteger(history.state?.depth) ? history.state.depth : 0;
}

function writeHistory(fragment, replace) {
  const address = location.pathname + location.search + fragment;
  if (replace) history.replaceState({ depth: historyDepth() }, "", address);
  else history.pushState({ depth: historyDepth() + 1 }, "", address);
}

// The address is written before the listeners run: one of them may change the state again.
function update(wanted, { replace = false } = {}) {
  const changes = source.settle(wanted);
  const fragment = fragmentOf({ ...state, ...changes });
  if (fragment !== fragmentOf(state)) writeHistory(fragment, replace);
  tellChanges(changes);
}

function canUndo() {
  return historyDepth() > 0;
}

function undo() {
  if (canUndo()) history.back();
}

// Before anything is drawn, and when the user goes back or edits the address.
function readAddress() {
  Object.assign(state, source.settle(stateOf(location.hash)));
  history.replaceState({ depth: historyDepth() }, "", location.href);
  settleAddress();
}

// A static page has windows of its own: the address then says which one is shown.
function settleAddress() {
  const fragment = fragmentOf(state);
  if (!source.isLive && fragment !== location.hash) writeHistory(fragment, true);
}

addEventListener("popstate", () => {
  tellChanges(source.settle(stateOf(location.hash)));
  settleAddress();
});
