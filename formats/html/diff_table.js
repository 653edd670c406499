// The totals of each kind, and the rows that changed, the largest change first.

const ROWS_MORE = 200;

function isTime(measure) {
  return measure.startsWith("lifetime_");
}

function timeCell(ns, attributes) {
  return make("td", { "data-value": ns, title: `${count(ns)} ns`, ...attributes }, duration(ns));
}

// Of lifetimes that nothing was freed for there is none.
function amountCell(value, measure) {
  return isTime(measure) && value !== null ? timeCell(value, {}) : numberCell(value, measure.endsWith("size"));
}

function changeCell(value, measure) {
  if (value === null) return numberCell(null, false);
  const text = isTime(measure) ? duration(value) : measure.endsWith("size") ? bytes(value) : count(value);
  return make("td", { class: value > 0 ? "grew" : value < 0 ? "shrank" : "", "data-value": value }, (value > 0 ? "+" : "") + text);
}

function drawTotals() {
  if (HAS_LIFETIMES) return drawLifetimeTotals();
  const titles = ["Kind", "Change", "Base", "New"];
  const lines = diff.totals.map((total) => {
    const base = total[`base_${diff.measure}`],
      now = total[`new_${diff.measure}`];
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, total.kind),
      changeCell(now - base, diff.measure),
      amountCell(base, diff.measure),
      amountCell(now, diff.measure),
    );
  });
  byId("totals").replaceChildren(
    make("thead", {}, make("tr", {}, ...titles.map((title) => make("th", { scope: "col" }, title)))),
    make("tbody", {}, ...lines),
  );
}

function rowsShown() {
  return rows
    .filter((row) => row.kind === state.kind && row.state !== "unchanged")
    .filter((row) => state.search === "" || rowText(row).includes(state.search))
    .sort((a, b) => isUnknown(a) - isUnknown(b) || magnitude(b) - magnitude(a) || a.index - b.index);
}

function magnitude(row) {
  return isUnknown(row) ? 0 : Math.abs(row.now - row.base);
}

// A change that is not known comes last.
function isUnknown(row) {
  return row.base === null || row.now === null;
}

// Beside the measure: the change of the count of a size, or how many blocks lifetimes are of.
function besides() {
  if (HAS_LIFETIMES)
    return [
      ["Base freed", (row) => row.amounts.base_freed_count],
      ["New freed", (row) => row.amounts.new_freed_count],
      ["Base outstanding", (row) => row.amounts.base_outstanding_count],
      ["New outstanding", (row) => row.amounts.new_outstanding_count],
    ];
  return COUNT_OF === null ? [] : [["Count change", (row) => row.newCount - row.baseCount]];
}

function drawRow(row) {
  const place = row.frames === null ? "" : row.frames[0];
  return make(
    "tr",
    { "data-row": row.index, tabindex: 0 },
    make("td", { class: "word" }, row.state),
    changeCell(isUnknown(row) ? null : row.now - row.base, diff.measure),
    amountCell(row.base, diff.measure),
    amountCell(row.now, diff.measure),
    ...besides().map(([, value]) => numberCell(value(row), false)),
    make("td", { class: "frame", title: (row.frames ?? []).join("\n") }, [...row.keys, place].filter((text) => text !== "").join(" \u00b7 ")),
  );
}

function drawRows() {
  const found = rowsShown();
  const titles = [
    ["State", "word"],
    ["Change", ""],
    ["Base", ""],
    ["New", ""],
    ...besides().map(([title]) => [title, ""]),
    ["Where", "frame"],
  ];
  const lines = found.slice(0, state.shown).map(drawRow);
  const left = found.length - lines.length;
  byId("changes").replaceChildren(
    make("thead", {}, make("tr", {}, ...titles.map(([title, look]) => make("th", { scope: "col", class: look }, title)))),
    make("tbody", {}, ...lines),
  );
  byId("changes").parentElement.querySelector(".more")?.remove();
  if (left > 0)
    byId("changes").after(
      make("button", { type: "button", class: "more", onclick: () => ((state.shown += ROWS_MORE), drawRows()) }, ...moreText(Math.min(left, ROWS_MORE), left)),
    );
  markColumns(byId("changes").parentElement);
  byId("search-result").textContent = state.search === "" ? "" : `${count(found.length)} changed stacks match`;
}

function showRow(event) {
  const line = event.target.closest("tr[data-row]");
  if (line === null) return;
  const node = tree.leaves.get(Number(line.dataset.row));
  if (widthOf(node) === 0) {
    state.width = "larger";
    byId("width").value = "larger";
  }
  zoomTo(node);
  byId("flame").scrollIntoView();
}

byId("changes").addEventListener("click", showRow);
byId("changes").addEventListener("keydown", (event) => {
  if (event.key === "Enter") showRow(event);
});
