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

function compareQuestions() {
  const base = baseInput();
  if (state.kind === null || base === null) return null;
  const usual = state.kind === "handle" ? "outstanding_count" : "outstanding_size";
  const options = [
    ["input", String(base)],
    ["input", String(state.input)],
    ["group-by", COMPARE_VIEWS[state.compareBy].keys.join(",")],
    ...listOptions("compare", COMPARE_MEASURES, usual),
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

function compareColumns(measure) {
  const isBytes = measure.endsWith("size");
  const form = isBytes ? formatSize : formatCount;
  const side = (word, title) => ({ key: `${word}_${measure}`, title, text: form, isSorted: false });
  const change = (key, title, how) => ({
    key,
    title,
    draw: (row, value) => changeSpan(key, value, how),
    isSorted: key === `delta_${measure}`,
  });
  const columns = [
    {
      key: "state",
      title: "Change",
      draw: (row) => make("span", { class: `badge ${row.state}` }, STATE_WORDS[row.state]),
      class: "text",
      isSorted: false,
    },
    change(`delta_${measure}`, "Difference", form),
    side("base", "Base"),
    side("new", "New"),
  ];
  const count = measure.replace("size", "count");
  return isBytes ? [...columns, change(`delta_${count}`, "Difference in Count", formatCount)] : columns;
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
    columns: compareColumns(measure),
    isAsked: true,
    sortKeys: [],
    usual: "",
    canGrow: true,
  };
  const nothing = "Nothing changed between the two inputs in this window and with these filters.";
  const table = answer.rows.length > 0 ? drawList(list) : emptyList(nothing);
  replaceBody(body, compareChoices(), make("p", { class: "hint" }, ...compareSentence(answer, measure)), table);
}

registerPart({
  id: "compare",
  title: "Comparison",
  order: 80,
  questions: compareQuestions,
  draw: drawCompare,
  csv: true,
  text: true,
  lazy: true,
  follows: ["lists"],
});
