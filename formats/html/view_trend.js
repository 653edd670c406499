// The page of `trend`: how memory develops over many runs. A card for each kind, the curves of rows
// (view_trend_chart.js), and the table of rows, the largest change first.

defineState("pattern", { default: "", read: (text) => (/^[a-z]{1,20}$/.test(text) ? text : undefined) });
// Rows that the chart draws, by their number in the document; none: those that change most.
defineState("drawn", {
  default: [],
  read: (text) => (/^\d{1,6}(,\d{1,6}){0,19}$/.test(text) ? text.split(",").map(Number) : undefined),
  write: (rows) => rows.join(","),
});

const DRAWN_MAX = 20;

// --- amounts --------------------------------------------------------------------------------

function isOfSizes(answer) {
  return measureForm(answer.measure) === "size";
}

// The member of rows that has the amounts of each run.
function amountsKey(answer) {
  return isOfSizes(answer) ? "sizes" : "counts";
}

function amountText(answer, value) {
  return isUnknown(value) ? null : measureText(answer.measure, value);
}

// Rows with what columns sort by.
function trendRows() {
  const key = amountsKey(compared.answer);
  compared.rows ??= compared.answer.rows.map((row, index) => {
    const [first, last] = [row[key][0], row[key].at(-1)];
    const difference = isUnknown(first) || isUnknown(last) ? null : last - first;
    return { ...row, index, of: row, first, last, difference, since: row.turn_run, values: row[key] };
  });
  return compared.rows;
}

function isShownRow(row) {
  return (
    kindOfRow(row) === state.kind && (state.pattern === "" || row.pattern === state.pattern) && isFound(row.of)
  );
}

// The kind whose rows change most.
function kindThatChanged(kinds) {
  const sums = new Map(kinds.map((kind) => [kind, 0]));
  for (const row of compared.answer.rows) sums.set(kindOfRow(row), sums.get(kindOfRow(row)) + Math.abs(row.change));
  return [...kinds].sort((a, b) => sums.get(b) - sums.get(a))[0];
}

function patternText({ pattern, turn_run: turn }) {
  return isUnknown(turn) ? pattern : `${pattern} in ${turn}`;
}

// --- cards ----------------------------------------------------------------------------------

function trendCard(answer, total, at) {
  const key = amountsKey(answer);
  const values = total[key];
  const last = values.length - 1;
  const number = (run) => figure("span", `${key}.${run}`, values[run], amountText(answer, values[run]) ?? UNKNOWN_TEXT);
  const change = changeSpan(`${key}.${last}-${key}.0`, isUnknown(values[0]) ? null : values[last] - values[0], (value) => amountText(answer, value));
  const slope = changeSpan("slope", total.slope, (value) => amountText(answer, value));
  const facts = [
    ["First run", number(0)],
    ["Change", change],
    ["Slope per run", slope],
    ["Pattern", patternText(total)],
  ];
  return kindRadio(
    total.kind,
    at,
    `${amountText(answer, values[last]) ?? "unknown"} in the last run`,
    make("div", { class: "big" }, number(last), make("small", {}, " in the last run")),
    make("dl", {}, ...facts.flatMap(([title, value]) => [make("dt", {}, title), make("dd", {}, value)])),
  );
}

registerComparedPart("trend", {
  id: "kinds",
  title: "Overview",
  order: 0,
  hasAllKinds: true,
  csv: false,
  follows: ["kind"],
  draw(body, [answer]) {
    const cards = answer.totals.map((total, at) => trendCard(answer, total, at));
    showKinds(body, cards, { "data-rows": "totals" });
  },
});

// --- the table ------------------------------------------------------------------------------

function toggleDrawn(index) {
  const others = state.drawn.filter((one) => one !== index);
  update({ drawn: others.length < state.drawn.length ? others : [...others, index].slice(-DRAWN_MAX) });
}

// From the smallest to the largest amount of the row.
function sparkOf(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const x = (run) => (values.length === 1 ? 50 : (100 * run) / (values.length - 1)).toFixed(1);
  const y = (value) => (most === least ? 20 : 21 - ((value - least) / (most - least)) * 18).toFixed(1);
  const line = values.map((value, run) => `${x(run)},${y(value)}`).join(" ");
  return makeSvg(
    "svg",
    { class: "row-curve", viewBox: "0 0 100 22", preserveAspectRatio: "none", "aria-hidden": true },
    makeSvg("polygon", { points: `0,22 ${line} 100,22` }),
    makeSvg("polyline", { points: line }),
  );
}

function sparkButton(row) {
  const isDrawn = state.drawn.includes(row.index);
  return make(
    "button",
    {
      type: "button",
      class: "spark",
      "aria-pressed": isDrawn,
      "aria-label": `Draw the curve of ${rowTitle(row)} above`,
      title: isDrawn ? "Take the curve out of the chart" : "Draw the curve in the chart above",
      "data-key": `spark-${row.index}`,
      onclick: () => toggleDrawn(row.index),
    },
    sparkOf(row.values),
  );
}

function trendColumns(answer) {
  const key = amountsKey(answer);
  const last = answer.runs.length - 1;
  const form = (value) => amountText(answer, value);
  const number = (measure) => (row, value) => figure("span", measure, value, form(value) ?? UNKNOWN_TEXT);
  const run = (row, value) => figure("span", "turn_run", value, isUnknown(value) ? UNKNOWN_TEXT : String(value));
  return [
    { key: "pattern", title: "Pattern", draw: patternText, class: "text" },
    { key: "difference", title: "Change", draw: (row, value) => changeSpan(`${key}.${last}-${key}.0`, value, form) },
    { key: "first", title: "First", draw: number(`${key}.0`) },
    { key: "last", title: "Last", draw: number(`${key}.${last}`) },
    { key: "curve", title: "Runs", draw: sparkButton, class: "spark-cell", isSorted: false },
    { key: "slope", title: "Slope/Run", draw: (row, value) => changeSpan("slope", value, form) },
    { key: "since", title: "Since Run", draw: run },
  ];
}

function patternChoice() {
  const found = [...new Set(trendRows().filter((row) => kindOfRow(row) === state.kind).map(({ pattern }) => pattern))].sort();
  const choices = [["", "all"], ...found.map((pattern) => [pattern, pattern])];
  return choiceOf("Pattern", choices, state.pattern, (pattern) => update({ pattern }));
}

function drawTrendRows(body, [answer], { questions }) {
  const list = {
    id: "rows",
    rows: trendRows(),
    question: questions[0],
    label: "What changed over the runs, the largest change first",
    nameTitle: comparedKeys(answer).map((key) => WORDS[key] ?? key).join(" / ") || "Process",
    ...comparedNaming(answer),
    columns: trendColumns(answer),
    isShown: isShownRow,
    isWhole: true,
  };
  const count = trendRows().filter(isShownRow).length;
  const isAll = state.search === "" && state.pattern === "";
  const all = answer.steady_count > 0 ? "All rows of this kind are steady." : "No run has memory of this kind.";
  const nothing = isAll ? all : "No row matches.";
  const choices = make("div", { class: "choices" }, patternChoice());
  replaceBody(body, choices, foundHint(count), count > 0 ? drawList(list) : emptyList(nothing));
}

registerComparedPart("trend", {
  id: "rows",
  title: "What changed over the runs",
  nav: "Table",
  order: 20,
  hint: "The largest change comes first, unless the page was written with another order; a click on a title sorts. Each small curve goes from the smallest to the largest amount of its row, and draws it in the chart above.",
  follows: ["kind", "search", "lists", "pattern", "drawn"],
  draw: drawTrendRows,
});
