// When memory rose and stayed, which call stacks grow, and memory that came and went.
//
// Rises and spikes are buttons: each selects its window, which all parts follow.

// --- rises ----------------------------------------------------------------------------------

const GROWTH_KEYS = ["growth_rate", "steadiness", "outstanding_size", "outstanding_count", "size", "count"];
const GROWTH_MEASURES = ["growth_rate", "steadiness", "outstanding_size", "outstanding_count"];

// Handles have no sizes, so their curve has no rises to be found: only their rows grow.
function growthQuestions() {
  if (state.kind === null) return null;
  const filters = optionsWithout("type");
  const rises = { command: "windows", options: [["find-growth", ""], ["top", "25"], ...filters] };
  const rows = {
    command: "report",
    options: [
      ["growth", ""],
      ["group-by", "process,stack"],
      ["columns", GROWTH_MEASURES.join(",")],
      ...listOptions("growth", GROWTH_KEYS, "growth_rate"),
      ...filters,
    ],
  };
  return state.kind === "handle" ? [rows] : [rises, rows];
}

const RISE_COLUMNS = [
  {
    key: "from_ns",
    title: "Window",
    draw: (row) => windowButton(row),
    isSorted: false,
  },
  { key: "before_size", title: "Before" },
  { key: "after_size", title: "After" },
  {
    key: "rise",
    title: "Rise",
    draw: (row) =>
      numberSpan(
        "after_size-before_size",
        row.after_size - row.before_size,
        formatSize(row.after_size - row.before_size),
      ),
    isSorted: false,
  },
];

function riseList(answer, question, rows, path, label) {
  return {
    id: "rises",
    rows,
    path,
    question,
    label,
    nameTitle: "Process",
    name: (row) => [make("span", {}, processText(row))],
    items: (row) => keyItems(row, "process"),
    columns: RISE_COLUMNS,
  };
}

function steepestSentence(growth) {
  const { steepest } = growth;
  if (isUnknown(steepest)) return null;
  const button = windowButton(steepest);
  return make(
    "p",
    { class: "hint" },
    `${processText(growth)} rises fastest, by `,
    make(
      "span",
      { "data-measure": "growth.steepest.size", "data-value": String(steepest.size) },
      formatSize(steepest.size),
    ),
    ", in ",
    button,
  );
}

const RISE_STACK_COLUMNS = [
  { key: "impacting_size" },
  { key: "outstanding_size" },
  { key: "outstanding_count" },
  { key: "size" },
  { key: "count" },
];

function riseStacks(growth, question) {
  return drawList({
    id: "risestacks",
    rows: growth.rows,
    path: "growth.rows",
    question,
    label: "Call stacks that own what the largest rise added",
    nameTitle: "Call stack",
    frames: (row) => stackFrames(growth, row.stack),
    columns: RISE_STACK_COLUMNS,
  });
}

function drawRises(answer, question) {
  const { growth } = answer;
  if (growth === null)
    return [emptyList("No lasting rise: in this window the outstanding size did not go up and stay there.")];
  const largest = riseList(answer, question, [growth], "growth", "The largest lasting rise");
  const others = riseList(answer, question, growth.others, "growth.others", "Lasting rises of other processes");
  return [
    make("h3", {}, "Largest lasting rise"),
    drawList(largest),
    steepestSentence(growth),
    ...(growth.rows.length > 0
      ? [make("h3", {}, "Call stacks that own what it added"), riseStacks(growth, question)]
      : []),
    ...(growth.others.length > 0 ? [make("h3", {}, "Other lasting rises"), drawList(others)] : []),
  ];
}

const GROWING_COLUMNS = [
  { key: "growth_rate", title: "Growth" },
  { key: "steadiness", title: "Steadiness" },
  { key: "outstanding_size" },
  { key: "outstanding_count" },
];

function growingStacks(answer, question) {
  if (answer.rows.length === 0) return [emptyList("No blocks belong to this window and these filters.")];
  const list = {
    id: "growth",
    rows: answer.rows,
    question,
    label: "Call stacks by how fast they grow",
    nameTitle: "Call stack",
    frames: (row) => stackFrames(answer, row.stack),
    columns: GROWING_COLUMNS,
    isAsked: true,
    sortKeys: GROWTH_KEYS,
    usual: "growth_rate",
    canGrow: true,
  };
  const what = state.kind === "handle" ? "number" : "size";
  const hint =
    `Growth is the slope of the outstanding ${what} over the window. ` +
    `Steadiness is 100 if the ${what} only rises, and \u2212100 if it only falls.`;
  return [answerHead("growth", "Call stacks that grow", question, "growing-stacks"), make("p", { class: "hint" }, hint), drawList(list)];
}

function drawGrowth(body, documents, { questions }) {
  const at = documents.length - 1;
  const rises = at > 0 ? drawRises(documents[0], questions[0]) : [];
  replaceBody(body, ...rises, ...growingStacks(documents[at], questions[at]));
}

registerPart({
  id: "growth",
  title: "Growth",
  order: 45,
  needsBlocks: true,
  questions: growthQuestions,
  draw: drawGrowth,
  csv: true,
  text: true,
  lazy: true,
  follows: ["lists"],
});

// --- spikes ---------------------------------------------------------------------------------

const NOT_FOR_SPIKES = ["type"]; // a spike is one of all memory of a process

function spikeQuestions() {
  if (state.kind === null || state.kind === "handle") return null;
  const { top } = listState("spikes");
  return [{ command: "report", options: [["spikes", ""], ["top", String(top)], ...optionsWithout(...NOT_FOR_SPIKES)] }];
}

const SPIKE_COLUMNS = [
  { key: "at_ns", title: "At", draw: (row) => spikeMoment(row) },
  { key: "height_size" },
  { key: "peak_size" },
  { key: "spiked_size", title: "Came and Went" },
  {
    key: "width",
    title: "Width",
    draw: (row) => numberSpan("to_ns-from_ns", row.to_ns - row.from_ns, formatDuration(row.to_ns - row.from_ns)),
    isSorted: false,
  },
];

function spikeMoment(row) {
  const button = windowButton(row, momentText(row.at_ns, row.to_ns - row.from_ns));
  button.dataset.measure = "at_ns";
  button.dataset.value = String(row.at_ns);
  return button;
}

const PART_COLUMNS = [{ key: "size", title: "Came and Went" }, { key: "came_size" }, { key: "went_size" }];

// The call stacks of a spike, put into the page when they are opened.
function spikeParts(answer, row, question) {
  if (row.parts.length === 0) return null;
  const details = make("details", {}, make("summary", {}, plural(row.parts.length, "call stack")));
  details.addEventListener("toggle", () => {
    if (!details.open || details.childElementCount > 1) return;
    const list = {
      id: "spikeparts",
      rows: row.parts,
      path: `rows.${answer.rows.indexOf(row)}.parts`,
      question,
      label: "Call stacks of the memory that came and went",
      nameTitle: "Call stack",
      frames: (part) => stackFrames(answer, part.stack),
      columns: PART_COLUMNS,
    };
    details.append(drawList(list));
  });
  return details;
}

function largestPart(answer, row) {
  const frames = row.parts.length === 0 ? [] : stackFrames(answer, row.parts[0].stack);
  return frames.length === 0 ? null : make("p", {}, ...breakable(frameText(frames[0])));
}

function spikesSentence(answer) {
  const { level_span_ns: span, left_out_count: left } = answer;
  const limit = make("span", { "data-measure": "level_span_ns", "data-value": String(span) }, formatDuration(span));
  if (answer.rows.length === 0) return ["No spikes: no memory came and went within ", limit, "."];
  const more = left === 0 ? "" : ` ${plural(left, "lower spike")} ${left === 1 ? "is" : "are"} not listed.`;
  return [
    "Memory that came and went within ",
    limit,
    `, a tenth of the window. What stays longer is not a spike.${more}`,
  ];
}

function drawSpikes(body, [answer], { questions }) {
  const list = {
    id: "spikes",
    rows: answer.rows,
    question: questions[0],
    label: "Spikes, the highest first",
    nameTitle: "Process and call stacks",
    name: (row) => [make("span", {}, processText(row)), largestPart(answer, row)],
    below: (row) => spikeParts(answer, row, questions[0]),
    items: (row) => rowItems(row, row.parts.length === 0 ? [] : stackFrames(answer, row.parts[0].stack)),
    columns: SPIKE_COLUMNS,
    usual: "height_size",
    canGrow: true,
  };
  const hint = make("p", { class: "hint" }, ...spikesSentence(answer));
  replaceBody(body, hint, answer.rows.length > 0 ? drawList(list) : null);
}

registerPart({
  id: "spikes",
  title: "Spikes",
  order: 50,
  needsBlocks: true,
  questions: spikeQuestions,
  draw: drawSpikes,
  csv: true,
  text: true,
  lazy: true,
  follows: ["lists"],
});
