// The page of `diff`: what changed between two runs. A card for each kind, how long freed blocks had
// lived, the flame graph of the change (view_difference.js), and the table of rows. The comparison of a
// live view (view_compare.js) has the same columns.

// --- cards ----------------------------------------------------------------------------------

// The kind with the row that grew most; if none grew, the one that changed most.
function kindThatGrew(kinds) {
  const { answer } = compared;
  const { key } = amountsOf(answer);
  const isOfLifetimes = hasLifetimes(answer);
  const grown = new Map(kinds.map((kind) => [kind, [0, 0]]));
  for (const row of answer.rows) {
    const size = isOfLifetimes ? row.base_freed_count + row.new_freed_count : (row[key("delta")] ?? 0);
    const [most, sum] = grown.get(kindOfRow(row));
    grown.set(kindOfRow(row), [Math.max(most, size), sum + Math.abs(size)]);
  }
  const [first] = [...kinds].sort((a, b) => grown.get(b)[0] - grown.get(a)[0] || grown.get(b)[1] - grown.get(a)[1]);
  return first;
}

function sideFigure(answer, row, side, measure = answer.measure) {
  const { key, text } = amountsOf(answer, measure);
  const value = row[key(side)];
  if (side === "delta") return changeSpan(key(side), value, text);
  return isUnknown(value) ? numberSpan(key(side), null) : figure("span", key(side), value, text(value));
}

function diffFacts(answer, total) {
  const sides = (measure) => ["base", "new"].map((side) => sideFigure(answer, total, side, measure));
  if (hasLifetimes(answer))
    return [
      ["Base", sides(answer.measure)[0]],
      ["New", sides(answer.measure)[1]],
      ["Freed", sides("freed_count")],
      ["Outstanding", sides("outstanding_count")],
    ];
  const partner = partnerOf(answer);
  const [base, now] = sides(answer.measure);
  const count = partner === null ? [] : [[WORDS[partner], sideFigure(answer, total, "delta", partner)]];
  return [["Base", base], ["New", now], ...count];
}

function diffCard(answer, total, at) {
  const { key, text } = amountsOf(answer);
  const change = total[key("delta")];
  const facts = diffFacts(answer, total).flatMap(([title, values]) => {
    const nodes = [values].flat();
    return [make("dt", {}, title), make("dd", {}, ...nodes.flatMap((node, i) => (i > 0 ? [" \u2192 ", node] : [node])))];
  });
  return kindRadio(
    total.kind,
    at,
    isUnknown(change) ? "change unknown" : `change ${text(change)}`,
    make("div", { class: "big" }, sideFigure(answer, total, "delta"), make("small", {}, ` ${WORDS[answer.measure].toLowerCase()}`)),
    make("dl", {}, ...facts),
  );
}

registerComparedPart("diff", {
  id: "kinds-changed",
  title: "What changed",
  nav: "Overview",
  order: 0,
  hasAllKinds: true,
  csv: false,
  follows: ["kind"],
  draw(body, [answer]) {
    const cards = answer.totals.map((total, at) => diffCard(answer, total, at));
    showKinds(body, cards, { "data-rows": "totals" });
  },
});

// --- lifetimes ------------------------------------------------------------------------------

const LIFETIME_TOTALS = ["lifetime_median_ns", "lifetime_mean_ns", "lifetime_p90_ns", "lifetime_p99_ns", "freed_count", "outstanding_count"];

function lifetimeTotals(answer) {
  const at = answer.totals.findIndex(({ kind }) => kind === state.kind);
  const head = ["Measure", "Difference", "Base", "New"].map((title) => make("th", { scope: "col" }, title));
  const rows = LIFETIME_TOTALS.map((measure) =>
    make(
      "tr",
      { "data-row": at },
      make("th", { scope: "row" }, WORDS[measure]),
      ...["delta", "base", "new"].map((side) => make("td", {}, sideFigure(answer, answer.totals[at], side, measure))),
    ),
  );
  const table = make("table", { "data-rows": "totals" }, make("caption", { class: "sr" }, "Lifetimes of freed blocks"));
  table.append(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  return scrolledTable(table, "Lifetimes of freed blocks");
}

// The sides freed different numbers of blocks, so bars compare shares of what each side freed.
function shareBars(bucket, sums, largest) {
  const box = make("div", { class: "bars" });
  for (const side of ["base", "new"]) {
    const count = bucket[`${side}_count`];
    const share = sums[side] > 0 ? count / sums[side] : 0;
    const bar = make("div", { class: `meter-bar side-${side}`, title: `${formatPercent(count, sums[side])} of ${formatCount(sums[side])}` });
    bar.style.width = `${largest > 0 ? (100 * share) / largest : 0}%`;
    bar.style.visibility = count > 0 ? "visible" : "hidden";
    box.append(bar);
  }
  return box;
}

function spreadList(answer, question) {
  const { buckets } = answer.histogram;
  const own = buckets.filter(({ kind }) => kind === state.kind);
  const sum = (side) => own.reduce((total, bucket) => total + bucket[`${side}_count`], 0);
  const sums = { base: sum("base"), new: sum("new") };
  const shares = own.flatMap((bucket) => ["base", "new"].map((side) => (sums[side] > 0 ? bucket[`${side}_count`] / sums[side] : 0)));
  const largest = Math.max(0, ...shares);
  if (own.length === 0) return emptyList("Nothing was freed on either side.");
  return drawList({
    id: "spread",
    rows: buckets,
    path: "histogram.buckets",
    question,
    label: "Lifetimes of freed blocks, by class",
    nameTitle: "Lifetime",
    name: (bucket) => [make("span", {}, bucketText(bucket, HISTOGRAMS.lifetime))],
    items: () => [],
    isShown: ({ kind }) => kind === state.kind,
    columns: [
      { key: "base_count", title: "Base" },
      { key: "new_count", title: "New" },
      { key: "share", title: "Share of what each side freed", draw: (bucket) => shareBars(bucket, sums, largest), class: "meter", isSorted: false },
    ],
  });
}

function sideLegend() {
  const entry = (side, text) => make("span", {}, make("span", { class: `swatch side-${side}` }), ` ${text} `);
  return make("p", { class: "bar-legend" }, entry("base", "Base"), entry("new", "New"));
}

registerComparedPart("diff", {
  id: "lifetimes",
  title: "How long freed blocks had lived",
  nav: "Lifetimes",
  order: 15,
  applies: (answer) => answer.histogram !== undefined,
  follows: ["kind", "lists"],
  draw(body, [answer], { questions }) {
    const boxes = [make("div", {}, lifetimeTotals(answer)), make("div", {}, sideLegend(), spreadList(answer, questions[0]))];
    replaceBody(body, make("div", { class: "side-by-side" }, ...boxes));
  },
});

// --- the table ------------------------------------------------------------------------------

function isShownChange(row) {
  return kindOfRow(row) === state.kind && row.state !== "unchanged" && isFound(row);
}

function drawChanges(body, [answer], { questions }) {
  const naming = comparedNaming(answer);
  const show = (row) => ({ label: "Show in the flame graph", act: () => showInDifference(row) });
  const list = {
    id: "changes",
    rows: answer.rows,
    question: questions[0],
    label: "What changed, the largest difference first",
    nameTitle: comparedKeys(answer).map((key) => WORDS[key] ?? key).join(" / ") || "Process",
    ...naming,
    items: (row) => [show(row), ...naming.items(row)],
    columns: compareColumns(answer),
    isShown: isShownChange,
    isWhole: true,
  };
  const count = answer.rows.filter(isShownChange).length;
  const nothing = state.search === "" ? "Nothing of this kind changed." : "No row matches.";
  replaceBody(body, foundHint(count), count > 0 ? drawList(list) : emptyList(nothing));
}

registerComparedPart("diff", {
  id: "changes",
  title: "Rows that changed",
  nav: "Table",
  order: 82,
  hint: "The largest change comes first, unless the page was written with another order; a click on a title sorts. The menu of a row finds it in the flame graph.",
  draw: drawChanges,
});
