// How large blocks are, and how long they live: two tables with bars. The menu of a row filters
// to the blocks of its bucket.

// Bounds are round numbers.
function boundText(text) {
  return text.replace(/\.0+ /, " ");
}

const HISTOGRAMS = {
  size: {
    title: "Size of a block",
    text: (value) => boundText(formatSize(value)),
    inclusive: (value) => String(value),
  },
  lifetime: {
    title: "Lifetime of a block",
    text: (value) => boundText(formatDuration(value)),
    inclusive: (value) => `${value}ns`,
  },
};

// JSON has rows beside the buckets, which are not shown: one is the fewest.
const HISTOGRAM_ROWS = [
  ["group-by", "kind"],
  ["columns", "count"],
  ["top", "1"],
];

// Handles have no sizes, so there are no histograms of them.
function histogramQuestions() {
  if (state.kind === null || state.kind === "handle") return null;
  return Object.keys(HISTOGRAMS).map((by) => ({
    command: "report",
    options: [["histogram", by], ...HISTOGRAM_ROWS, ...filterOptions()],
  }));
}

function withoutHistogramRows(options) {
  return options.filter(([name]) => !HISTOGRAM_ROWS.some(([one]) => one === name));
}

function bucketText({ from, to }, { text }) {
  if (isUnknown(from)) return "not freed, or unknown";
  if (isUnknown(to)) return `${text(from)} and more`;
  return to - from === 1 ? text(from) : `${text(from)} \u2013 ${text(to)}`;
}

// Both ends of a range of --size and --lifetime belong to it.
function bucketItems(bucket, by, { inclusive }) {
  if (isUnknown(bucket.from)) return [];
  const range = `${inclusive(bucket.from)}..${isUnknown(bucket.to) ? "" : inclusive(bucket.to - 1)}`;
  return [rangeItem(by, range)];
}

function bucketBars(bucket, most) {
  const box = make("div", { class: "bars", "aria-hidden": "true" });
  for (const key of ["size", "count"]) {
    const bar = make("div", { class: `meter-bar ${key}` });
    bar.style.width = `${(100 * bucket[key]) / most[key]}%`;
    bar.style.visibility = bucket[key] > 0 ? "visible" : "hidden";
    box.append(bar);
  }
  return box;
}

function mostOf(buckets) {
  const most = (key) => Math.max(1, ...buckets.map((bucket) => bucket[key] ?? 0));
  return { size: most("size"), count: most("count") };
}

function barLegend() {
  const entry = (key, text) => make("span", {}, make("span", { class: `swatch ${key}` }), ` ${text} `);
  return make("p", { class: "bar-legend" }, entry("size", "Size"), entry("count", "Count"));
}

function histogramList(answer, question) {
  const { by, buckets } = answer.histogram;
  const form = HISTOGRAMS[by];
  const isOfKind = (bucket) => bucket.kind === state.kind;
  const most = mostOf(buckets.filter(isOfKind));
  return drawList({
    id: `${by}s`,
    rows: buckets,
    path: "histogram.buckets",
    question,
    isShown: isOfKind,
    label: form.title,
    nameTitle: by === "size" ? "Size" : "Lifetime",
    name: (bucket) => [make("span", {}, bucketText(bucket, form))],
    items: (bucket) => bucketItems(bucket, by, form),
    columns: [
      {
        key: "bars",
        title: "Size and count",
        draw: (bucket) => bucketBars(bucket, most),
        class: "meter",
        isSorted: false,
      },
      { key: "size" },
      { key: "count" },
      { key: "outstanding_size", title: "Outstanding" },
      { key: "rounding_size" },
      { key: "lfh_rounding_size" },
    ],
  });
}

const ROUNDING_HINT =
  "Rounding is an estimate: the bytes that rounding up to the heap's granularity, or to the size classes of the " +
  "low-fragmentation heap (LFH), adds to the outstanding blocks.";

// The buttons of the part are those of the sizes.
function histogramHead(by, question) {
  const { title } = HISTOGRAMS[by];
  return by === "size" ? make("div", { class: "head" }, make("h3", {}, title)) : answerHead("histogram", title, question, "lifetimes");
}

function drawHistograms(body, documents, { questions }) {
  const hasBuckets = documents.some((answer) => answer.histogram.buckets.some(({ kind }) => kind === state.kind));
  if (!hasBuckets) {
    replaceBody(body, emptyList("No blocks belong to this window and these filters."));
    return;
  }
  const boxes = documents.map((answer, i) =>
    make("div", {}, histogramHead(answer.histogram.by, questions[i]), histogramList(answer, questions[i])),
  );
  const hasRounding = documents[0].histogram.buckets.some(
    ({ kind, rounding_size: size }) => kind === state.kind && !isUnknown(size),
  );
  const hint = hasRounding ? make("p", { class: "hint" }, ROUNDING_HINT) : null;
  replaceBody(body, barLegend(), make("div", { class: "side-by-side" }, ...boxes), hint);
}

registerPart({
  id: "histogram",
  title: "Sizes and lifetimes",
  nav: "Sizes",
  order: 70,
  needsBlocks: true,
  questions: histogramQuestions,
  draw: drawHistograms,
  plainOptions: withoutHistogramRows,
  csv: true,
  text: true,
  lazy: true,
  follows: ["lists"],
});
