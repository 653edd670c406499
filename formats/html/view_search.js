// The search field: it narrows the sums of all parts to the call stacks with a function or module whose
// name contains the text. The command line has a filter for that:
//
//     ntdll       --require-frame '*ntdll*' --require-frame '*ntdll*!'     a function or a module
//     app!Load    --require-frame '*app!Load*'                             a function of a module
//
// The flame graph keeps all stacks, marks the bars that match, and says what the found stacks have
// together.
//
// Several such options mean stacks with any of them. So while a filter of frames is in force, the search
// cannot be one, too; nor can it for addresses and offsets, which are no names, nor on pages of
// comparisons and trends. Then it marks rows and bars, and the page adds up those that it shows.

const SEARCH_DELAY_MS = 150;

function searchPatterns(text) {
  const at = text.indexOf("!");
  if (at < 0) return [`*${text}*`, `*${text}*!`];
  const symbol = text.slice(at + 1);
  return [`*${text.slice(0, at)}!${symbol}${symbol === "" ? "" : "*"}`];
}

function isNarrowing() {
  const isOfNames = state.search !== "" && !/(^|\+)0x[0-9a-f]*$/i.test(state.search);
  return isOfNames && canFilter("require-frame") && !state.filters.some(({ option }) => option === "require-frame");
}

function searchOptions() {
  return isNarrowing() ? searchPatterns(state.search).map((pattern) => ["require-frame", pattern]) : [];
}

function searchText() {
  return `\u201c${state.search}\u201d`;
}

function hasSearch(options) {
  return searchOptions().every(([, pattern]) =>
    options.some(([name, value]) => name === "require-frame" && value === pattern),
  );
}

// --- nothing found --------------------------------------------------------------------------

// Processes whose names have the text, which are filters of their own.
function processesFound() {
  const words = state.search.toLowerCase();
  const names = (traceInfo?.processes ?? []).map(({ name }) => name ?? "");
  return !state.search.includes(",") && names.some((name) => name.toLowerCase().includes(words));
}

function onlyProcessesFound() {
  update({ search: "", filters: addFilter(state.filters, "process", `*${state.search}*`) });
}

function nothingFound() {
  const text = `No call stack here has a function or module with ${searchText()}.`;
  if (!processesFound()) return [text];
  const label = `Only processes with ${searchText()}`;
  return [`${text} `, make("button", { type: "button", onclick: onlyProcessesFound }, label)];
}

// --- the field ------------------------------------------------------------------------------

// Enter makes a filter of the search, and leaves the field for another.
function keepSearch() {
  if (!isNarrowing()) return;
  let { filters } = state;
  for (const pattern of searchPatterns(state.search)) filters = addFilter(filters, "require-frame", pattern);
  update({ search: "", filters });
  byId("search").value = "";
  announce("The search is a filter now");
}

// What is searched on pages without filters are the names of rows.
function nameSearch(field) {
  if (canFilter("require-frame")) return;
  field.placeholder = "Search  ( / )";
  field.closest("label").querySelector(".sr").textContent = "Search names of rows";
}

function startSearch() {
  const field = byId("search");
  let timer = 0;
  nameSearch(field);
  const take = () => {
    clearTimeout(timer);
    update({ search: field.value.trim() }, { replace: state.search !== "" && field.value.trim() !== "" });
  };
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(take, SEARCH_DELAY_MS);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      take();
      keepSearch();
    }
    if (event.key !== "Escape" || field.value === "") return;
    field.value = "";
    take();
    event.stopPropagation();
  });
  field.value = state.search;
  onChange((changes) => {
    if ("search" in changes && document.activeElement !== field) field.value = state.search;
  });
}
