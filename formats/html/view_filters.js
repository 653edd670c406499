// Filters: a chip for each, and the field to type one. Menus of rows set them too: see view_menu.js.
//
// Parts put `filterOptions()` behind the options of their questions, and so follow the selected
// window and all chips.

// What the options of a question are, besides its own. Leave out what the command does not take:
// { window: false } for --from/--to, { kind: false }, { types: false } for --type; { search: false }
// for all stacks, found or not.
function filterOptions({ window = true, kind = true, types = true, search = true } = {}) {
  const options = [];
  if (window && state.from !== null) options.push(["from", exactTime(state.from)]);
  if (window && state.to !== null) options.push(["to", exactTime(state.to)]);
  if (kind && state.kind !== null) options.push(["kind", state.kind]);
  for (const filter of state.filters) {
    if (filter.option === "type" && !types) continue;
    for (const value of filter.values) options.push([filter.option, value]);
  }
  return search ? [...options, ...searchOptions()] : options;
}

// On a static page some filters have no answers.
function canFilter(option) {
  return source.can("report", [
    ["group-by", "kind"],
    [option, "1"],
  ]);
}

// --- setting them ---------------------------------------------------------------------------

const TYPE_NAMES = ["AIFO", "AIFI", "AOFI", "AOFO"];

function setFilter(option, value) {
  update({ filters: addFilter(state.filters, option, value) });
  announce(`Filter added: ${filterText(option, value)}`);
}

// The command line takes what matches any of an option's values, so a second process would show more
// and not less: "Only this" replaces the option's other values.
function onlyFilter(option, value) {
  const others = state.filters.filter((filter) => filter.option !== option);
  update({ filters: addFilter(others, option, value) });
  announce(`Filter set: ${filterText(option, value)}`);
}

// --- chips ----------------------------------------------------------------------------------

function filterText(option, value) {
  return `${FILTER_NAMES[option].title}: ${value}`;
}

function chip(text, remove) {
  return make(
    "span",
    { class: "chip", role: "listitem", title: text },
    make("span", {}, text),
    make("button", { type: "button", "aria-label": `Remove ${text}`, onclick: remove }, "\u00d7"),
  );
}

function windowText() {
  const end = (ns, otherwise) => (ns === null ? otherwise : formatTime(ns, shownSpan()));
  return `Window: ${end(state.from, "start")} \u2013 ${end(state.to, "end")}`;
}

// How long the selected window is, for the digits of its ends.
function shownSpan() {
  return state.from !== null && state.to !== null ? state.to - state.from : 1e9;
}

function drawChips() {
  const box = clear(byId("chips"));
  if (state.from !== null || state.to !== null) box.append(chip(windowText(), () => update({ from: null, to: null })));
  state.filters.forEach((filter, i) => {
    const remove = () => update({ filters: state.filters.filter((_, k) => k !== i) });
    const isAlternative =
      FILTER_NAMES[filter.option].any && state.filters.findIndex(({ option }) => option === filter.option) < i;
    box.append(chip((isAlternative ? "or " : "") + filterText(filter.option, filter.values.join(", ")), remove));
  });
  const count = box.childElementCount;
  if (count > 1) {
    const clearAll = () => update({ filters: [], from: null, to: null });
    box.append(make("span", { role: "listitem" }, make("button", { type: "button", onclick: clearAll }, "Clear all")));
  }
  box.hidden = count === 0;
  byId("undo").disabled = !canUndo();
  measureSticky();
}

// Headings that are jumped to stay below the filters, which stick to the top.
function measureSticky() {
  document.documentElement.style.scrollPaddingTop = `${byId("filters").offsetHeight + 12}px`;
}

// --- typing one -----------------------------------------------------------------------------

// Names to choose from, as the trace has them.
let filterChoices = {};

function setFilterChoices(choices) {
  filterChoices = choices;
  describeFilterValue();
}

function describeFilterValue() {
  const option = byId("filter-option").value;
  const list = clear(byId("filter-list"));
  byId("filter-value").placeholder = FILTER_NAMES[option]?.example ?? "";
  for (const name of (filterChoices[option] ?? []).slice(0, 200)) list.append(make("option", { value: name }));
}

function sayAtTop(sentence) {
  byId("filter-error").textContent = sentence;
  byId("filter-error").hidden = sentence === "";
  measureSticky();
}

// A value that the command line refuses is not added: all parts would show its error.
async function addTypedFilter(option, value) {
  sayAtTop("");
  if (value === "") return byId("filter-value").focus();
  try {
    await source.ask(
      "report",
      [
        ["group-by", "kind"],
        ["columns", "count"],
        [option, value],
      ],
      { part: "filter" },
    );
  } catch (error) {
    sayAtTop(error.message.replace(/^etlheap: /, ""));
    return byId("filter-value").focus();
  }
  setFilter(option, value);
  byId("filter-value").value = "";
}

function startFilters() {
  const known = Object.entries(FILTER_NAMES).filter(([name]) => canFilter(name));
  byId("filter-option").append(...known.map(([option, { title }]) => make("option", { value: option }, title)));
  byId("filter-form").hidden = known.length === 0;
  byId("filter-option").addEventListener("change", describeFilterValue);
  byId("filter-form").addEventListener("submit", (event) => {
    event.preventDefault();
    addTypedFilter(byId("filter-option").value, byId("filter-value").value.trim());
  });
  byId("undo").addEventListener("click", undo);
  addEventListener("resize", measureSticky);
  onChange(drawChips);
  describeFilterValue();
  drawChips();
}
