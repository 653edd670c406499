// The menu of a row, and what it offers: filters of what the row stands for, its frames, and copying.
//
//     openMenu(button, [...keyItems(row, "process"), { label: "Copy", act }])
//
// opens below the element `anchor` (or at { x, y } of a context menu: openMenu(row, items, { x, y })).
// Arrow keys move, Escape closes, and the focus goes back to the anchor. Items are { label, act };
// null items are left out.
//
// All parts take their items from here, so that the same thing is called the same everywhere.

// --- filters of a row -----------------------------------------------------------------------

const VALUES_MAX = 500; // characters of a list of other values

// The command line has no "not" for names, so all others that the selection has are listed.
async function filterByOthers(key, row) {
  const filter = exactFilter(row, key);
  const options = [["group-by", key], ["columns", "count"], ["sort", "count"], ["top", "all"], ...filterOptions()];
  try {
    const answer = (await source.ask("report", options)).document;
    const others = answer.rows.map((other) => exactFilter(other, key)?.values.join(","));
    const listed = [...new Set(others)].filter((value) => value !== undefined && value !== filter.values.join(","));
    if (listed.length === 0) announce(`Nothing else has another ${WORDS[key]}`);
    else if (listed.join(",").length > VALUES_MAX) announce("Too many others to list: filter by another key");
    else onlyFilter(filter.option, listed.join(","));
  } catch (error) {
    announce(error.message);
  }
}

function filterByOtherTypes(types) {
  onlyFilter("type", TYPE_NAMES.filter((type) => !types.includes(type)).join(","));
}

// Of a process, heap, thread, type or size class.
function keyItems(row, key) {
  const filter = exactFilter(row, key);
  if (filter === null || !canFilter(filter.option)) return [];
  const name = key === "process" ? (row.process ?? row.pid) : keyText(null, row, key).text;
  const items = [
    { label: `Only this: ${WORDS[key]} ${name}`, act: () => onlyFilter(filter.option, filter.values.join(",")) },
  ];
  if (filter.option === "type")
    items.push({ label: `Not this: ${name}`, act: () => filterByOtherTypes(filter.values) });
  else if (key !== "size_class") items.push({ label: `Not this: ${name}`, act: () => filterByOthers(key, row) });
  return items;
}

// Of a range of --size or --lifetime.
function rangeItem(option, range) {
  if (!canFilter(option)) return null;
  return { label: `Only this: ${FILTER_NAMES[option].title} ${range}`, act: () => onlyFilter(option, range) };
}

// --- frames ---------------------------------------------------------------------------------

// "app!f" for the filters of frames: a module alone is "app!". "*" in a name is not a wildcard here.
function framePattern(frame) {
  if (isUnknown(frame) || isUnknown(frame.module)) return null;
  const text = isUnknown(frame.symbol) ? `${frame.module}!` : `${frame.module}!${frame.symbol}`;
  return text.replaceAll("*", "?");
}

function showFocus(pattern) {
  update({ focus: pattern });
  byId("focus").scrollIntoView();
  announce(`Callers and callees of ${pattern}`);
}

// The tree begins at the function, and what was too small to be shown is asked again.
function showRoot(pattern) {
  update({ root: pattern, flameZoom: "" });
  byId("flame").scrollIntoView();
  announce(`The flame graph begins at ${pattern}`);
}

// Several patterns of --require-frame mean stacks with any of them, so a new one replaces the old;
// --exclude-frame leaves out all.
function frameItems(frame) {
  const pattern = framePattern(frame);
  if (pattern === null || !canFilter("require-frame")) return [];
  const items = [
    { label: `Only stacks with ${pattern}`, act: () => onlyFilter("require-frame", pattern) },
    { label: `No stacks with ${pattern}`, act: () => setFilter("exclude-frame", pattern) },
  ];
  if (!isUnknown(frame.symbol)) {
    items.push({ label: "Callers and callees", act: () => showFocus(pattern) });
    items.push({ label: "Begin the flame graph here", act: () => showRoot(pattern) });
  }
  if (canFilter("fold-module"))
    items.push({ label: `Fold module ${frame.module}`, act: () => setFilter("fold-module", frame.module) });
  return items;
}

function moduleItems(module) {
  return isUnknown(module) ? [] : frameItems({ module, symbol: null }).slice(0, 2);
}

// What a row of an answer stands for, by one of its keys.
function itemsOfKey(answer, row, key) {
  if (STACK_KEYS.has(key)) return frameItems(framesOfRow(answer, row, key)?.[0]);
  if (FRAME_KEYS.has(key)) return isUnknown(row[key]) ? [] : frameItems(answer.frames[row[key]]);
  return key === "module" ? moduleItems(row.module) : keyItems(row, key);
}

function copyStackItem(frames) {
  if (frames.length === 0) return null;
  const text = frames.map(frameText).join("\n");
  return { label: "Copy the call stack", act: () => copyText(text, "the call stack") };
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
  const box = make("div", { class: "menu", role: "menu", "aria-label": "Actions" });
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

// The button at the end of a row's name. `items`: an array, or a function that makes it when it is needed.
function menuButton(items, what) {
  const button = make(
    "button",
    { type: "button", class: "row-menu", "aria-haspopup": "menu", "aria-label": `Actions for ${what}` },
    "\u22ef",
  );
  button.addEventListener("click", () => openMenu(button, typeof items === "function" ? items() : items));
  return button;
}
