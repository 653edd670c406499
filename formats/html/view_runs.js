// The runs that a page compares: of each its file, when it was recorded, its window, and what it lost.
// Of a trend, the sums of each kind as well, which come first: they are what a narrow page has to show.

function diffSides({ base, new: now }) {
  return [
    { word: "Base", told: base },
    { word: "New", told: now },
  ];
}

function sideFiles(told) {
  return told.trace?.files ?? (isUnknown(told.file) ? [] : [told.file]);
}

function sideStart(told) {
  return told.trace?.start_time ?? told.start_time ?? told.log?.time ?? null;
}

function startText(told) {
  const start = sideStart(told);
  if (isUnknown(start) || start === "") return UNKNOWN_TEXT;
  return /^\d{4}-/.test(start) ? `${start.slice(0, 19).replace("T", " ")}${start.endsWith("Z") ? " UTC" : ""}` : start;
}

// --- what the page says of them -------------------------------------------------------------

function diffTitle() {
  const names = diffSides(compared.answer).map(({ told }) => sideFiles(told).map(fileName).join(", "));
  return names.join(" \u2192 ");
}

// Also of the comparison of a live view.
function sideCovers(answer) {
  const texts = diffSides(answer).map(({ word, told }) => [word, windowOfSide(told)]);
  if (texts.some(([, text]) => text === "")) return ["Blocks at the moment of each log"];
  return texts.map(([word, text]) => `${word} ${text}`);
}

function sideLosses({ word, told }) {
  const lines = lossesOf(told).map((one) => `${lossText(one)}: ${one.advice}`);
  return lossNotice(`The ${word.toLowerCase()} run is not complete, so sizes may be wrong.`, lines);
}

function diffLosses() {
  return diffSides(compared.answer).flatMap(sideLosses);
}

function trendCovers() {
  const { runs } = compared.answer;
  const texts = [...new Set(runs.map(windowOfSide))];
  if (texts.length === 1) return [texts[0] === "" ? "Blocks at the moment of each log" : `${texts[0]} of each run`];
  const lengths = runs.filter((run) => windowOfSide(run) !== "").map(({ window: { from_ns, to_ns } }) => to_ns - from_ns);
  const [least, most] = [Math.min(...lengths), Math.max(...lengths)];
  const length = formatTime(least) === formatTime(most) ? formatTime(least) : `${formatTime(least)} to ${formatTime(most)}`;
  return [`Window of each run (see Runs), ${length} long`];
}

// A line for each kind of loss, because those of many runs would fill the page. The list of runs says
// what each lost.
function trendLosses() {
  const { runs } = compared.answer;
  const found = new Map();
  for (const one of runs.flatMap(lossesOf)) {
    const sum = found.get(one.name) ?? { ...one, runs: 0, count: 0 };
    found.set(one.name, { ...sum, runs: sum.runs + 1, count: sum.count + one.count });
  }
  const lines = [...found.values()].map(
    (sum) => `${lossText(sum)} in ${formatCount(sum.runs)} of ${plural(runs.length, "run")}: ${sum.advice}`,
  );
  return lossNotice("Not all runs are complete, so sizes may be wrong.", lines);
}

// --- the table ------------------------------------------------------------------------------

const RUN_COLUMNS = [
  { key: "start", title: "Recording started", draw: ({ told }) => startText(told), class: "text", isSorted: false },
  { key: "window", title: "Window", draw: ({ told }) => windowOfSide(told) || UNKNOWN_TEXT, class: "text", isSorted: false },
  {
    key: "lost",
    title: "Lost or damaged",
    draw: ({ told }) => lossesOf(told).map(lossText).join(", ") || "nothing",
    class: "wrap",
    isSorted: false,
  },
];

function runName({ word, told }) {
  const files = sideFiles(told);
  return [make("span", { title: files.join("\n") }, `${word}: ${files.map(fileName).join(", ")}`)];
}

// Numbers are those of the totals: a row of the table is a run, and a column a kind.
function kindColumn({ kind }, at) {
  const { answer } = compared;
  const key = amountsKey(answer);
  const draw = ({ run }) => numberSpan(`totals.${at}.${key}.${run}`, answer.totals[at][key][run], amountText(answer, answer.totals[at][key][run]));
  return { key: kind, title: kind, draw, isSorted: false };
}

function drawRuns(body, [answer], { questions }) {
  const isTrend = compared.command === "trend";
  const runs = isTrend ? answer.runs.map((told) => ({ word: `Run ${told.run}`, told })) : diffSides(answer);
  const columns = isTrend ? [...answer.totals.map(kindColumn), ...RUN_COLUMNS] : RUN_COLUMNS;
  const list = {
    id: "runs",
    rows: runs.map((one, run) => ({ ...one, run })),
    path: "runs",
    question: questions[0],
    label: "Runs",
    nameTitle: isTrend ? WORDS[answer.measure] : "Run",
    name: runName,
    items: () => [],
    columns,
  };
  replaceBody(body, drawList(list));
}

registerComparedPart(null, {
  id: "runs",
  title: "Runs",
  order: 87,
  hasAllKinds: true,
  follows: [],
  draw: drawRuns,
});
