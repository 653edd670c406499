// Call stacks that probably leak, with the program's reasons.

const NOT_FOR_SUSPECTS = ["type"]; // all blocks of a stack are judged together

function suspectQuestions() {
  if (state.kind === null) return null;
  const { top } = listState("suspects");
  return [
    { command: "report", options: [["suspects", ""], ["top", String(top)], ...optionsWithout(...NOT_FOR_SUSPECTS)] },
  ];
}

function threadsText(row) {
  return row.threads.join(", ") + (row.has_more_threads ? " \u2026" : "");
}

const SUSPECT_COLUMNS = [
  { key: "score" },
  { key: "outstanding_size" },
  { key: "outstanding_count" },
  { key: "outstanding_share_millionths", title: "Share" },
  { key: "growth_rate", title: "Growth" },
  { key: "never_freed_count", title: "Never Freed" },
  { key: "alloc_count", title: "Allocated" },
  { key: "first_ns" },
  { key: "last_ns" },
  { key: "threads", draw: threadsText, isSorted: false },
];

function suspectsSentence({ rows, never_freed_groups: groups }) {
  const stacks = make(
    "span",
    { "data-measure": "never_freed_groups", "data-value": String(groups) },
    formatCount(groups),
  );
  if (groups === 0) return ["No suspects: every block was freed."];
  const what = groups === 1 ? "call stack" : "call stacks";
  if (rows.length === 0)
    return ["Of ", stacks, ` ${what} with blocks that were never freed, none looks like a leak.`];
  const why =
    rows.length === 1
      ? "this one looks like a leak: some of its blocks outlive all others, and it allocated such blocks all over the window. "
      : "these look like leaks: some of their blocks outlive all others, and they allocated such blocks all over the window. ";
  return [
    "Of ",
    stacks,
    ` ${what} with blocks that were never freed, ${why}A score above 75 means that a stack still leaked in the second half.`,
  ];
}

function drawSuspects(body, [answer], context) {
  const list = {
    id: "suspects",
    rows: answer.rows,
    question: context.questions[0],
    label: "Call stacks that probably leak",
    nameTitle: "Suspect",
    frames: (row) => stackFrames(answer, row.stack),
    lines: (row) => [row.reason],
    columns: SUSPECT_COLUMNS,
    usual: "score",
    canGrow: true,
  };
  const hint = make("p", { class: "hint" }, ...suspectsSentence(answer));
  replaceBody(body, hint, answer.rows.length > 0 ? drawList(list) : null);
}

registerPart({
  id: "suspects",
  title: "Probable leaks",
  nav: "Leaks",
  order: 40,
  needsBlocks: true,
  questions: suspectQuestions,
  draw: drawSuspects,
  csv: true,
  text: true,
  lazy: true,
  follows: ["lists"],
});
