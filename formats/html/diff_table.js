// The totals of each kind, and the rows that changed, the largest change first.

const ROWS_MORE = 200;

function changeCell(value) {
  return make("td", { class: value > 0 ? "grew" : value < 0 ? "shrank" : "", "data-value": value }, signedAmount(value));
}

function drawTotals() {
  const titles = ["Kind", "Change", "Base", "New"];
  const lines = diff.totals.map((total) => {
    const base = total[`base_${diff.measure}`],
      now = total[`new_${diff.measure}`];
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, total.kind),
      changeCell(now - base),
      numberCell(base, IS_SIZE),
      numberCell(now, IS_SIZE),
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
    .sort((a, b) => Math.abs(b.now - b.base) - Math.abs(a.now - a.base) || a.index - b.index);
}

function drawRow(row) {
  const place = row.frames === null ? "" : row.frames[0];
  return make(
    "tr",
    { "data-row": row.index, tabindex: 0 },
    make("td", { class: "word" }, row.state),
    changeCell(row.now - row.base),
    numberCell(row.base, IS_SIZE),
    numberCell(row.now, IS_SIZE),
    ...(COUNT_OF === null ? [] : [numberCell(row.newCount - row.baseCount, false)]),
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
    ...(COUNT_OF === null ? [] : [["Count change", ""]]),
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
