// Pages that compare runs: `diff` two of them, `trend` three or more. They are static and have one
// document, the answer of the command, with all its kinds and rows. So nothing is asked again: when the
// state changes, the parts are drawn anew from that answer.
//
//     COMPARED    what the two commands have apart: title, sentences at the top, what parts cover
//     compared    the answer, once it has been read; null on all other pages
//
// A window or a filter is chosen when the page is written, and cannot be chosen on it.

const COMPARED = {
  diff: {
    title: () => diffTitle(),
    about: (answer) => `${plural(answer.unchanged_count, "group is", "groups are")} equal in both`,
    what: "memory comparison",
    losses: () => diffLosses(),
    covers: () => sideCovers(compared.answer),
    kind: (kinds) => kindThatGrew(kinds),
    main: "changes",
  },
  trend: {
    title: (answer) => plural(answer.runs.length, "run"),
    about: (answer) => `${plural(answer.steady_count, "group is", "groups are")} steady`,
    what: "memory over many runs",
    losses: () => trendLosses(),
    covers: () => trendCovers(),
    kind: (kinds) => kindThatChanged(kinds),
    main: "rows",
  },
};

let compared = null;

// In place of `info`, which is about one trace.
async function readCompared() {
  const { command, options } = source.compared;
  const { document: answer } = await source.ask(command, options);
  compared = { ...COMPARED[command], command, answer, rows: null };
  const skip = document.querySelector(".skip");
  skip.textContent = "Skip to the table";
  skip.setAttribute("href", `#${compared.main}`);
  return { recorded: answer.totals.map(({ kind }) => ({ kind })), questions: [], diagnostics: [] };
}

// What cannot be chosen here, whatever the address says.
function withoutSelection(changes) {
  const none = { from: null, to: null, zoomFrom: null, zoomTo: null, filters: [] };
  return Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, name in none ? none[name] : value]));
}

function comparedKind(kinds) {
  return compared.kind(kinds);
}

// --- rows -----------------------------------------------------------------------------------

// Without the key, all rows are of one kind.
function kindOfRow(row) {
  return row.kind ?? state.kind ?? compared.answer.totals[0].kind;
}

function comparedKeys(answer) {
  return answer.group_by.filter((key) => !["kind", "process"].includes(key));
}

function comparedFrames(answer, row) {
  return "stack" in row ? stackFrames(answer, row.stack) : [];
}

// The keys of a row as text, without its kind, process and stack.
function otherKeyTexts(answer, row) {
  return comparedKeys(answer)
    .filter((key) => key !== "stack")
    .map((key) => keyText(answer, row, key).text);
}

// How lists name such rows: by the call stack, or else by the first key, with its process beside it.
function comparedNaming(answer) {
  const items = (row) => [copyStackItem(comparedFrames(answer, row))].filter((item) => item !== null);
  if (comparedKeys(answer).includes("stack"))
    return { frames: (row) => comparedFrames(answer, row), lines: (row) => otherKeyTexts(answer, row), items };
  const name = (row) => {
    const [first, ...more] = [...otherKeyTexts(answer, row), processText(row), row.kind].filter((text) => text);
    const process = first === processText(row) ? [] : processSpan(processText(row));
    const lines = more.filter((text) => text !== processText(row) && text !== row.kind);
    return [
      make("span", {}, ...breakable(first)),
      ...(processText(row) === "" ? [] : process),
      ...lines.map((text) => make("p", { class: "hint" }, text)),
    ];
  };
  return { name, items };
}

// One line, for legends and searches.
function rowTitle(row) {
  const { answer } = compared;
  const frames = comparedFrames(answer, row);
  const stack = "stack" in row ? [frames.length === 0 ? NO_STACK_TEXT : frameText(frames[0])] : [];
  const texts = [...stack, ...otherKeyTexts(answer, row), processText(row)].filter((text) => text !== "");
  return texts.length === 0 ? kindOfRow(row) : texts.join(" \u00b7 ");
}

const searchedTexts = new WeakMap();

function searchedText(row) {
  if (!searchedTexts.has(row)) {
    const frames = comparedFrames(compared.answer, row).map(frameText);
    searchedTexts.set(row, [rowTitle(row), ...frames].join("\n").toLowerCase());
  }
  return searchedTexts.get(row);
}

function isFound(row) {
  return state.search === "" || searchedText(row).includes(state.search.toLowerCase());
}

// Beside the choices of a table: how many of its rows the search leaves.
function foundHint(count) {
  return state.search === "" ? null : make("p", { class: "hint" }, `${plural(count, "row matches", "rows match")} \u201c${state.search}\u201d.`);
}

// --- at the top -----------------------------------------------------------------------------

function drawComparedTitle() {
  const { answer } = compared;
  const title = compared.title(answer);
  const selected = source.selectedText();
  byId("page-title").textContent = title;
  byId("page-title").title = source.page.inputs.join("\n");
  document.title = `${title} \u2013 ${compared.what}`;
  const measure = `${WORDS[answer.measure]}${answer.per_second ? " per second" : ""}`;
  const texts = [measure, compared.about(answer), selected === "" ? "" : `selected: ${selected}`];
  byId("page-subtitle").textContent = texts.filter((text) => text !== "").join("; ");
  byId("footer").textContent = `etlheap ${source.session.version}`;
}

// What a recording lost, or what of it is damaged. Other diagnostics do not change sizes.
function lossesOf(told) {
  return (told.diagnostics ?? []).filter(({ severity }) => severity === "loss" || severity === "damage");
}

function lossText({ name, count }) {
  return `${sentenceStart(name.replaceAll("_", " "))} (${formatCount(count)})`;
}

function lossNotice(sentence, lines) {
  if (lines.length === 0) return [];
  const list = make("ul", {}, ...lines.map((line) => make("li", {}, line)));
  return [make("div", { class: "notice bad" }, sentence, list)];
}

function comparedNotices() {
  const hints = compared.answer.hints.map(({ text }) => make("div", { class: "notice" }, `${sentenceStart(text)}.`));
  return [...compared.losses(), ...hints];
}

// --- windows --------------------------------------------------------------------------------

// "" for a list of blocks at one moment, such as a log of UMDH.
function windowOfSide(told) {
  const { from_ns: from = null, to_ns: to = null } = told.window ?? {};
  return from === null || to === null ? "" : `${formatTime(from, to - from)} \u2013 ${formatTime(to, to - from)}`;
}

// --- parts ----------------------------------------------------------------------------------

function comparedQuestion() {
  return { command: compared.command, options: source.compared.options };
}

// A part of the page of a command, and of no other page. It covers what the document does; parts of one
// kind say which.
function registerComparedPart(command, part) {
  const covers = () => (compared === null ? [] : [...compared.covers(), ...(part.hasAllKinds ? [] : [state.kind])]);
  registerPart({
    text: true,
    csv: true,
    ignoresWindow: true,
    covers,
    follows: ["kind", "search", "lists"],
    ...part,
    questions() {
      const isOfPage = compared !== null && (command === null || compared.command === command) && state.kind !== null;
      return isOfPage && (part.applies?.(compared.answer) ?? true) ? [comparedQuestion()] : null;
    },
  });
}
