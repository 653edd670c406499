// The tables of the page, what it begins with, and what its controls do.

function changeCell(value) {
  return make("td", { class: value > 0 ? "grew" : value < 0 ? "shrank" : "", "data-value": value }, signedAmount(value));
}

function drawRow(row) {
  return make(
    "tr",
    { "data-row": row.index, tabindex: 0, "aria-selected": state.chosen.has(row.index) },
    make("td", { class: "word" }, patternText(row)),
    changeCell(row.slope),
    changeCell(row.change),
    numberCell(row.first, IS_SIZE),
    numberCell(row.last, IS_SIZE),
    numberCell(row.since, false),
    make("td", { class: "where" }, row.where),
    make("td", { class: "curve" }, spark(row.values, 110, 22, Math.min(...row.values))),
  );
}

function sortRows(key) {
  state.ascending = state.sort === key ? !state.ascending : key === "where" || key === "pattern";
  state.sort = key;
  drawRows();
}

function drawHead() {
  const titles = COLUMNS.map(({ key, title, look }) => {
    const sort = state.sort !== key ? "none" : state.ascending ? "ascending" : "descending";
    return make(
      "th",
      { scope: "col", class: look ?? "", "aria-sort": sort, "data-key": key },
      make("button", { type: "button", onclick: () => sortRows(key) }, title),
    );
  });
  return make("thead", {}, make("tr", {}, ...titles, make("th", { scope: "col" }, "Runs")));
}

function drawRows() {
  const found = rowsShown();
  const lines = found.slice(0, state.shown).map(drawRow);
  const left = found.length - lines.length;
  byId("rows").replaceChildren(drawHead(), make("tbody", {}, ...lines));
  byId("rows").parentElement.querySelector(".more")?.remove();
  if (left > 0)
    byId("rows").after(
      make("button", { type: "button", class: "more", onclick: () => ((state.shown += ROWS_MORE), drawRows()) }, ...moreText(Math.min(left, ROWS_MORE), left)),
    );
  markColumns(byId("rows").parentElement);
  byId("search-result").textContent = state.search === "" ? "" : `${count(found.length)} rows match`;
}

// Runs may have windows of their own, because marks and ends lie elsewhere in each.
function windowText({ from_ns, to_ns }) {
  return from_ns === null || to_ns === null ? "\u2013" : `${exactSeconds(from_ns)} to ${exactSeconds(to_ns)}`;
}

// A line for each kind of loss, because the lists of many runs would fill the page. The list of
// runs says what each lost.
function runLosses() {
  const found = new Map();
  for (const one of trend.runs.flatMap(lossesOf)) {
    const sum = found.get(one.name) ?? { ...one, runs: 0, count: 0 };
    found.set(one.name, { ...sum, runs: sum.runs + 1, count: sum.count + one.count });
  }
  const lines = [...found.values()].map((sum) => `${lossText(sum)}, in ${count(sum.runs)} of ${count(trend.runs.length)} runs: ${sum.advice}`);
  return lossNotice("Not all runs are complete, so sizes may be off:", lines);
}

function runLossText(run) {
  return lossesOf(run).map(lossText).join(", ") || "nothing";
}

// A line a run: the amounts of all its rows, kind by kind.
function drawRunList() {
  const words = {
    File: (told) => told.file,
    "Recording started": (told) => told.start_time ?? "\u2013",
    Window: (told) => windowText(told.window),
    "Lost or damaged": runLossText,
  };
  const titles = ["Run", ...Object.keys(words), ...kinds];
  const lines = trend.runs.map((told, run) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, String(told.run)),
      ...Object.values(words).map((textOf) => make("td", { class: "word" }, textOf(told))),
      ...kinds.map((kind) => numberCell(trend.totals.find((total) => total.kind === kind)[AMOUNTS][run], IS_SIZE)),
    ),
  );
  const head = titles.map((title) => make("th", { scope: "col", class: title in words ? "word" : "" }, title));
  byId("run-list").replaceChildren(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...lines));
}

function drawPage() {
  drawCurves();
  drawRows();
}

function change(name, value) {
  state[name] = value;
  state.chosen.clear();
  state.shown = 100;
  drawPage();
}

function chooseRow(event) {
  const line = event.target.closest("tr[data-row]");
  if (line === null) return;
  const index = Number(line.dataset.row);
  if (!state.chosen.delete(index)) state.chosen.add(index);
  drawCurves();
  line.setAttribute("aria-selected", state.chosen.has(index));
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-pressed", theme === "dark");
}

function begin() {
  const title = `${count(trend.runs.length)} runs`;
  document.title = `${title}: memory over many runs`;
  byId("page-title").textContent = title;
  byId("page-subtitle").textContent = `${trend.measure.replaceAll("_", " ")}, ${count(trend.steady_count)} groups are steady`;
  byId("notices").replaceChildren(...runLosses(), ...trend.hints.map((hint) => make("p", { class: "notice" }, hint.text)));
  const largest = (kind) => rows.reduce((sum, row) => sum + (row.kind === kind ? row.weight : 0), 0);
  kinds.sort((a, b) => largest(b) - largest(a));
  byId("kind").append(...kinds.map((kind) => make("option", { value: kind }, kind)));
  const patterns = [...new Set(rows.map((row) => row.pattern))].sort();
  byId("pattern").append(make("option", { value: "" }, "all"), ...patterns.map((pattern) => make("option", { value: pattern }, pattern)));
  state.kind = kinds[0] ?? "heap";
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  drawRunList();
  drawPage();
  markAllColumns();
}

for (const name of ["kind", "pattern"]) byId(name).addEventListener("change", (event) => change(name, event.target.value));
byId("search").addEventListener("input", (event) => change("search", event.target.value.trim().toLowerCase()));
byId("rows").addEventListener("click", chooseRow);
byId("rows").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.tagName === "TR") chooseRow(event);
});
byId("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
byId("print").addEventListener("click", () => print());
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.tagName === "INPUT") return;
  event.preventDefault();
  byId("search").focus();
});
addEventListener("resize", drawCurves);
begin();
