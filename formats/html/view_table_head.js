// The head of the table: keys left of the gold bar, columns right of it.
//
// A key is a button with a menu; Alt and an arrow key move it, Delete removes it. A key that is
// dropped on another takes its place, and one that is dropped right of the bar leaves the table.
// Columns are dragged among columns, and a click sorts by one. Each change is a new question.

function tableHead(columns) {
  const row = make(
    "tr",
    { role: "row" },
    make("th", { scope: "col", role: "columnheader", class: "gold keys" }, keyList()),
  );
  const sort = sortOfTable(table.keys);
  for (const key of columns) row.append(columnHead(key, sort));
  if (state.curves) row.append(make("th", { scope: "col", role: "columnheader", class: "curve" }, "Over Time"));
  row.addEventListener("dragover", (event) => event.preventDefault());
  row.addEventListener("drop", dropOnHead);
  return make("thead", { role: "rowgroup" }, row);
}

function columnHead(key, sort) {
  const direction = sort.column !== key ? "none" : sort.smallestFirst ? "ascending" : "descending";
  const whyNot = whyNoSort(key, table.keys);
  const button = make(
    "button",
    { type: "button", disabled: whyNot !== null || null, title: whyNot, onclick: () => sortByColumn(key) },
    WORDS[key],
  );
  const head = make(
    "th",
    { scope: "col", role: "columnheader", "aria-sort": direction, "data-column": key, draggable: "true" },
    button,
  );
  head.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", `column:${key}`));
  return head;
}

function sortByColumn(key) {
  const sort = sortOfTable(table.keys);
  table.focusKey = `[data-column="${key}"] button`;
  update({ sort: sort.column === key && !sort.smallestFirst ? `-${key}` : key });
}

function keyList() {
  const items = table.keys.map((key, i) => {
    const chip = make(
      "button",
      {
        type: "button",
        class: "key",
        "data-key": key,
        "aria-haspopup": "menu",
        "aria-label": `Key ${i + 1}: ${WORDS[key]}`,
      },
      WORDS[key],
    );
    chip.addEventListener("click", () => openMenu(chip, tableKeyMenu(key)));
    chip.addEventListener("keydown", (event) => moveKeyByKeyboard(event, key));
    const item = make("li", { draggable: "true", "data-key": key }, chip);
    item.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", `key:${key}`));
    return item;
  });
  const add = make(
    "button",
    { type: "button", class: "key add", "aria-label": "Add a key", "aria-haspopup": "menu" },
    "+",
  );
  add.addEventListener("click", () => openMenu(add, addKeyMenu()));
  return make("ul", { class: "key-list", "aria-label": "Rows are grouped by" }, ...items, make("li", {}, add));
}

function setKeys(keys, focused) {
  table.focusKey = focused === null ? ".key.add" : `.key[data-key="${focused}"]`;
  update({ groupBy: keys });
  announce(`Rows are grouped by ${keys.map((key) => WORDS[key]).join(", ")}`);
}

function moveTableKey(key, to) {
  const keys = table.keys.filter((one) => one !== key);
  keys.splice(Math.max(0, Math.min(to, keys.length)), 0, key);
  setKeys(keys, key);
}

function tableKeyMenu(key) {
  const at = table.keys.indexOf(key);
  const others = table.keys.filter((one) => one !== key);
  const items = [];
  if (at > 0) items.push({ label: "Move left", act: () => moveTableKey(key, at - 1) });
  if (at < others.length) items.push({ label: "Move right", act: () => moveTableKey(key, at + 1) });
  if (others.length > 0) items.push({ label: "Remove", act: () => setKeys(others, null) });
  for (const other of keysToAdd(others).filter((one) => one !== key))
    items.push({ label: `Replace by ${WORDS[other]}`, act: () => setKeys(table.keys.with(at, other), other) });
  return items;
}

function addKeyMenu() {
  return keysToAdd(table.keys).map((key) => ({ label: WORDS[key], act: () => setKeys([...table.keys, key], key) }));
}

function moveKeyByKeyboard(event, key) {
  const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (way === undefined || !event.altKey) {
    if (event.key === "Delete" && table.keys.length > 1)
      setKeys(
        table.keys.filter((one) => one !== key),
        null,
      );
    return;
  }
  event.preventDefault();
  moveTableKey(key, table.keys.indexOf(key) + way);
}

// A key dropped on another takes its place, and right of the gold bar it leaves the table.
function dropOnHead(event) {
  event.preventDefault();
  const [what, key] = event.dataTransfer.getData("text/plain").split(":");
  const column = event.target.closest("[data-column]")?.dataset.column;
  const onKey = event.target.closest("[data-key]")?.dataset.key;
  if (what === "column" && column !== undefined && column !== key) {
    const box = event.target.closest("[data-column]").getBoundingClientRect();
    moveColumn(key, column, event.clientX > box.left + box.width / 2);
  }
  if (what !== "key" || !table.keys.includes(key)) return;
  if (column !== undefined && table.keys.length > 1)
    setKeys(
      table.keys.filter((one) => one !== key),
      null,
    );
  else if (onKey !== undefined && onKey !== key) moveTableKey(key, table.keys.indexOf(onKey));
  else if (onKey === undefined && column === undefined) moveTableKey(key, table.keys.length);
}
