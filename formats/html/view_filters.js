// Filters: a chip for each, the field to type one, and the menu of rows.
//
// Parts put `filterOptions()` behind the options of their questions, and so follow the selected
// window and all chips. Rows offer `openMenu(anchor, filterItems(option, value))`:
//
//     openMenu(button, [...filterItems("process", "app.exe"), { label: "Copy", act: () => copyText(text, "the name") }])
//
// opens below the element `anchor` (or at { x, y } of a context menu: openMenu(row, items, { x, y })).
// Arrow keys move, Escape closes, and the focus goes back to the anchor. Items are { label, act };
// null items are left out.

// What the options of a question are, besides its own. Leave out what the command does not take:
// { window: false } for --from/--to, { kind: false }, { types: false } for --type.
function filterOptions({ window = true, kind = true, types = true } = {}) {
  const options = [];
  if (window && state.from !== null) options.push(["from", exactTime(state.from)]);
  if (window && state.to !== null) options.push(["to", exactTime(state.to)]);
  if (kind && state.kind !== null) options.push(["kind", state.kind]);
  for (const filter of state.filters) {
    if (filter.option === "type" && !types) continue;
    for (const value of filter.values) options.push([filter.option, value]);
  }
  return options;
}

// --- what rows offer ------------------------------------------------------------------------

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

// "app!f" for the filters of frames: a module alone is "app!".
function framePattern(frame) {
  if (isUnknown(frame) || isUnknown(frame.module)) return null;
  return isUnknown(frame.symbol) ? `${frame.module}!` : `${frame.module}!${frame.symbol}`;
}

// Items "Only this" and "Not this" for an option of FILTER_NAMES; for frames, the value is a pattern
// (see framePattern). Values that are unknown cannot be filtered: no items.
function filterItems(option, value) {
  if (isUnknown(value) || value === "") return [];
  if (option === "kind") return [{ label: `Only ${value}`, act: () => update({ kind: value }) }];
  const text = String(value);
  const items = [{ label: `Only this: ${text}`, act: () => onlyFilter(option, text) }];
  if (option === "type") {
    const others = TYPE_NAMES.filter((name) => !text.split(",").includes(name)).join(",");
    items.push({ label: `Not this: ${text}`, act: () => onlyFilter("type", others) });
  }
  if (option === "require-frame")
    items.push({ label: `Not this: ${text}`, act: () => setFilter("exclude-frame", text) });
  return items;
}

// For the frame of a row: its function, its module, and folding that module.
function frameItems(frame) {
  const pattern = framePattern(frame);
  if (pattern === null) return [];
  const items = filterItems("require-frame", pattern);
  if (!isUnknown(frame.symbol)) items.push(...filterItems("require-frame", `${frame.module}!`));
  items.push({ label: `Fold module ${frame.module}`, act: () => setFilter("fold-module", frame.module) });
  return items;
}

// --- the menu -------------------------------------------------------------------------------

let openedMenu = null;

function closeMenu() {
  if (openedMenu === null) return;
  const { box, anchor } = openedMenu;
  const hadFocus = box.contains(document.activeElement);
  openedMenu = null;
  box.remove();
  anchor.removeAttribute("aria-expanded");
  if (hadFocus) anchor.focus({ preventScroll: true });
}

function menuKeys(event, box) {
  const items = [...box.children];
  const at = items.indexOf(document.activeElement);
  const places = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 };
  if (event.key === "Escape" || event.key === "Tab") closeMenu();
  else if (event.key in places) items.at(places[event.key] % items.length).focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function placeMenu(box, anchor, place) {
  const edge = anchor.getBoundingClientRect();
  const size = box.getBoundingClientRect();
  const x = place?.x ?? edge.left;
  const y = place?.y ?? edge.bottom + 2;
  box.style.left = `${Math.max(4, Math.min(x, innerWidth - size.width - 4))}px`;
  box.style.top = `${Math.max(4, y + size.height > innerHeight ? (place?.y ?? edge.top - 2) - size.height : y)}px`;
}

function openMenu(anchor, items, place = null) {
  closeMenu();
  const shown = items.filter((item) => item !== null);
  if (shown.length === 0) return;
  const box = make("div", { class: "menu", role: "menu", "aria-label": "What to do with this row" });
  for (const { label, act } of shown) {
    const choose = () => {
      closeMenu();
      act();
    };
    box.append(make("button", { type: "button", role: "menuitem", tabindex: "-1", onclick: choose }, label));
  }
  box.addEventListener("keydown", (event) => menuKeys(event, box));
  document.querySelector("main").append(box);
  openedMenu = { box, anchor };
  anchor.setAttribute("aria-expanded", "true");
  placeMenu(box, anchor, place);
  box.firstChild.focus({ preventScroll: true });
}

addEventListener(
  "pointerdown",
  (event) => openedMenu !== null && !openedMenu.box.contains(event.target) && closeMenu(),
);
addEventListener(
  "scroll",
  (event) => openedMenu !== null && !openedMenu.box.contains(event.target) && closeMenu(),
  true,
);
addEventListener("resize", closeMenu);

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
  byId("filter-value").placeholder = FILTER_NAMES[option].example;
  for (const name of (filterChoices[option] ?? []).slice(0, 200)) list.append(make("option", { value: name }));
}

function sayFilterError(sentence) {
  byId("filter-error").textContent = sentence;
  byId("filter-error").hidden = sentence === "";
  measureSticky();
}

// A value that the command line refuses is not added: all parts would show its error.
async function addTypedFilter(option, value) {
  sayFilterError("");
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
    sayFilterError(error.message.replace(/^etlheap: /, ""));
    return byId("filter-value").focus();
  }
  setFilter(option, value);
  byId("filter-value").value = "";
}

function startFilters() {
  for (const [option, { title }] of Object.entries(FILTER_NAMES))
    byId("filter-option").append(make("option", { value: option }, title));
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
