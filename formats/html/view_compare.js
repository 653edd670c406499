// Two inputs compared: which rows are new, grew, shrank or went. The window and the filters are those of
// the page, for both.

const COMPARE_VIEWS = {
  stack: { title: "call stack", keys: ["process", "stack"] },
  site: { title: "function", keys: ["process", "site"] },
  module: { title: "module", keys: ["process", "module"] },
  process: { title: "process", keys: ["process"] },
  size: { title: "size class", keys: ["size_class"] },
};
const COMPARE_MEASURES = ["outstanding_size", "outstanding_count", "size", "count"];

defineState("compareBy", { default: "stack", read: oneOf(...Object.keys(COMPARE_VIEWS)) });

// Null until the user chooses a base at the top of the page.
function baseInput() {
  const isBase = ({ number, state: readiness }) =>
    number === state.base && number !== state.input && readiness === "ready";
  return source.session.inputs.some(isBase) ? state.base : null;
}

function comparedInputs() {
  return [
    ["input", String(baseInput())],
    ["input", String(state.input)],
  ];
}

function usualCompareMeasure() {
  return state.kind === "handle" ? "outstanding_count" : "outstanding_size";
}

function compareMeasure() {
  const { sort } = listState("compare");
  return COMPARE_MEASURES.includes(sort) ? sort : usualCompareMeasure();
}

// The windows of both sides; null until they are known.
function coversOfSides(documents) {
  return documents === null ? null : [...sideCovers(documents[0]), state.kind];
}

function compareQuestions() {
  if (state.kind === null || baseInput() === null) return null;
  const options = [
    ...comparedInputs(),
    ["group-by", COMPARE_VIEWS[state.compareBy].keys.join(",")],
    ...listOptions("compare", COMPARE_MEASURES, usualCompareMeasure()),
    ...filterOptions(),
  ];
  return [{ command: "diff", options }];
}

const STATE_WORDS = {
  added: "new",
  removed: "gone",
  grown: "grown",
  shrunk: "shrunk",
  unchanged: "unchanged",
  unknown: "unknown",
};

// Signed; more is bad, which is told by the sign as well as by the colour.
function changeSpan(key, value, form) {
  if (isUnknown(value)) return numberSpan(key, null);
  const text = `${value > 0 ? "+" : ""}${form(value)}`;
  return make(
    "span",
    { "data-measure": key, "data-value": String(value), class: value > 0 ? "up" : value < 0 ? "down" : null },
    text,
  );
}

// --- amounts --------------------------------------------------------------------------------

function hasLifetimes(answer) {
  return answer.measure.startsWith("lifetime_");
}

// The count beside a size; null if there is none.
function partnerOf({ measure, totals }) {
  const partner = measure.replace(/size$/, "count");
  return partner !== measure && totals.some((total) => `delta_${partner}` in total) ? partner : null;
}

function rateText(measure, perSecond) {
  const size = Math.abs(perSecond);
  const number = measureForm(measure) !== "size" ? size.toFixed(1) : size < 100 ? `${size.toFixed(1)} B` : formatSize(size);
  return `${perSecond < 0 ? MINUS : ""}${number}/s`;
}

// How amounts of a measure are written: the key of a side in rows, and numbers as text. Amounts per second
// have three more digits.
function amountsOf(answer, measure = answer.measure) {
  if (answer.per_second)
    return { key: (side) => `${side}_${measure}_per_1000s`, text: (value) => rateText(measure, value / 1000) };
  const text = (value) => (value < 0 ? `${MINUS}${measureText(measure, -value)}` : measureText(measure, value));
  return { key: (side) => `${side}_${measure}`, text };
}

function compareColumns(answer) {
  const side = (word, title, measure = answer.measure) => {
    const { key, text } = amountsOf(answer, measure);
    return { key: key(word), title, text };
  };
  const change = (measure, title) => {
    const { key, text } = amountsOf(answer, measure);
    return { key: key("delta"), title, draw: (row, value) => changeSpan(key("delta"), value, text) };
  };
  const columns = [
    {
      key: "state",
      title: "Change",
      draw: (row) => make("span", { class: `badge ${row.state}` }, STATE_WORDS[row.state]),
      class: "text",
    },
    change(answer.measure, "Difference"),
    side("base", "Base"),
    side("new", "New"),
  ];
  if (hasLifetimes(answer))
    return [
      ...columns,
      side("base", "Base Freed", "freed_count"),
      side("new", "New Freed", "freed_count"),
      side("base", "Base Outstanding", "outstanding_count"),
      side("new", "New Outstanding", "outstanding_count"),
    ];
  const partner = partnerOf(answer);
  return partner === null ? columns : [...columns, change(partner, "Difference in Count")];
}

function compareSentence(answer, measure) {
  const at = answer.totals.findIndex((one) => one.kind === state.kind);
  const total = answer.totals[at];
  const name = (number) =>
    fileName(source.session.inputs.find((input) => input.number === number)?.name ?? `input ${number}`);
  const form = measure.endsWith("size") ? formatSize : formatCount;
  const value = (word) => {
    const key = `${word}_${measure}`;
    return numberSpan(`totals.${at}.${key}`, total[key], isUnknown(total[key]) ? null : form(total[key]));
  };
  const sums = total === undefined ? [] : [` ${WORDS[measure]}: `, value("base"), " \u2192 ", value("new"), "."];
  const rest = answer.unchanged_count > 0 ? ` ${plural(answer.unchanged_count, "row")} did not change.` : "";
  return [`${name(state.input)} compared with ${name(baseInput())}.`, ...sums, rest];
}

function compareChoices() {
  const measures = COMPARE_MEASURES.filter((key) => state.kind !== "handle" || !key.endsWith("size")).map((key) => [
    key,
    WORDS[key],
  ]);
  const by = choiceOf(
    "By",
    Object.entries(COMPARE_VIEWS).map(([value, { title }]) => [value, title]),
    state.compareBy,
    (value) => update({ compareBy: value }),
  );
  const measure = choiceOf("Measure", measures, listState("compare").sort, (value) =>
    changeList("compare", { sort: value }),
  );
  return make("div", { class: "choices" }, by, measure);
}

function drawCompare(body, [answer], { questions }) {
  const { measure } = answer;
  const list = {
    id: "compare",
    rows: answer.rows,
    question: questions[0],
    label: "What changed, the largest difference first",
    nameTitle: COMPARE_VIEWS[state.compareBy].title.replace(/^./, (letter) => letter.toUpperCase()),
    ...sideNaming(answer),
    columns: compareColumns(answer),
    isAsked: true,
    sortKeys: [],
    usual: "",
    canGrow: true,
  };
  const nothing = "Nothing changed between the two inputs in this window and with these filters.";
  const table = answer.rows.length > 0 ? drawList(list) : emptyList(nothing);
  // What the new input lost is told at the top of the page.
  const lost = sideLosses(diffSides(answer)[0]);
  const sentence = make("p", { class: "hint" }, ...compareSentence(answer, measure));
  replaceBody(body, compareChoices(), ...lost, sentence, table);
}

registerPart({
  id: "compare",
  title: "Comparison",
  order: 80,
  covers: coversOfSides,
  questions: compareQuestions,
  draw: drawCompare,
  csv: true,
  text: true,
  lazy: true,
  follows: ["lists"],
});
