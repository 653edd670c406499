// What the recording cannot tell: modules without symbols, and what was lost, damaged or not
// recorded.

// --- modules without symbols ----------------------------------------------------------------

const NOT_FOR_MODULES = ["thread", "type", "lifetime", "require-frame", "exclude-frame", "fold-module"];

// While symbols are looked up, which modules lack them is not known.
function modulesQuestions() {
  if (state.kind === null || shownInput()?.symbols === "pending") return null;
  return [{ command: "symbols", options: optionsWithout(...NOT_FOR_MODULES) }];
}

const STATUS_ADVICE = {
  missing: "not on the symbol path",
  mismatch: "found, but of another build",
  unusable: "damaged, or in a format that etlheap does not read",
  withheld: "marked as unavailable in the symbol store",
  unreachable: "the server did not answer",
  unidentified: "the trace does not say which build it was",
  exports: "only the exports of the program file",
  loose: "the PDB of another build",
};

// What the module's functions allocated, of the kind that is shown.
function siteOf(module) {
  return module.sites.find((site) => site.kind === state.kind);
}

// The memory of handles is their number.
function memoryText(value) {
  return state.kind === "handle" ? plural(value, "handle") : formatSize(value);
}

function siteNumber(module, key) {
  const at = module.sites.findIndex((site) => site.kind === state.kind);
  if (at < 0) return make("span", { class: "none" }, UNKNOWN_TEXT);
  return numberSpan(`sites.${at}.${key}`, module.sites[at][key], memoryText(module.sites[at][key]));
}

const MODULE_COLUMNS = [
  { key: "size", title: "Outstanding", draw: (row) => siteNumber(row, "size"), isSorted: false },
  { key: "named_size", title: "With Function Name", draw: (row) => siteNumber(row, "named_size"), isSorted: false },
  { key: "status", draw: (row) => make("span", { class: "badge" }, row.status), class: "text" },
  {
    key: "note",
    title: "Why",
    draw: (row) => row.note ?? STATUS_ADVICE[row.status] ?? "",
    class: "wrap",
    isSorted: false,
  },
  { key: "expected", draw: (row) => row.expected ?? row.file ?? "", class: "wrap mono", isSorted: false },
];

function modulesSentence(answer, lacking) {
  const at = answer.totals.findIndex((one) => one.kind === state.kind);
  const total = answer.totals[at];
  const text = [];
  if (total !== undefined && total.size > 0) {
    text.push(numberSpan(`totals.${at}.named_size`, total.named_size, memoryText(total.named_size)), " of ");
    text.push(numberSpan(`totals.${at}.size`, total.size, memoryText(total.size)));
    text.push(
      ` outstanding (${formatPercent(total.named_size, total.size)}) were allocated by a function whose name is known. `,
    );
  }
  if (lacking.length > 0)
    text.push(
      "These modules have no symbols, or only symbols of another build. Their files belong on the symbol path that etlheap view is started with.",
    );
  return text;
}

// Of the modules that lack symbols, the one with the most memory first.
function lackingModules(answer) {
  const lacking = answer.modules.filter((module) => module.status !== "found");
  return lacking.sort((a, b) => (siteOf(b)?.size ?? 0) - (siteOf(a)?.size ?? 0));
}

function drawModules(body, [answer], { questions }) {
  const lacking = new Set(lackingModules(answer));
  const list = {
    id: "modules",
    rows: answer.modules,
    path: "modules",
    question: questions[0],
    isShown: (module) => lacking.has(module),
    label: "Modules without symbols",
    nameTitle: "Module",
    name: (module) => [make("span", { class: "mono" }, module.module), make("p", { class: "hint" }, module.path ?? "")],
    items: (module) => [
      ...moduleItems(module.module),
      isUnknown(module.expected)
        ? null
        : { label: "Copy the expected file", act: () => copyText(module.expected, "the name of the file") },
    ],
    columns: MODULE_COLUMNS,
  };
  const hint = make("p", { class: "hint" }, ...modulesSentence(answer, [...lacking]));
  const nothing =
    answer.modules.length === 0 ? "No call stack of outstanding memory has a module." : "All modules have symbols.";
  replaceBody(body, hint, lacking.size > 0 ? drawList(list) : emptyList(nothing));
}

registerPart({
  id: "modules",
  title: "Modules without symbols",
  nav: "Symbols",
  order: 85,
  questions: modulesQuestions,
  draw: drawModules,
  csv: true,
  text: true,
  lazy: true,
  follows: ["lists"],
});

// --- diagnostics ----------------------------------------------------------------------------

// `info` tells of the whole input, also if it has no memory; `report` of what was met for an answer.
function diagnosticsQuestions() {
  if (traceInfo === null) return null;
  const info = { command: "info", options: [] };
  if (recordedKinds().length === 0) return [info];
  const options = [["group-by", "kind"], ["columns", "count"], ["top", "1"], ...filterOptions()];
  return [{ command: "report", options }, info];
}

const DIAGNOSTIC_COLUMNS = [
  { key: "count" },
  {
    key: "severity",
    title: "Severity",
    draw: (row) => make("span", { class: `badge ${row.severity}` }, row.severity),
    class: "text",
    isSorted: false,
  },
  { key: "advice", title: "Meaning and advice", draw: (row) => row.advice, class: "wrap", isSorted: false },
];

function diagnosticList(answer, question) {
  const found = answer.diagnostics;
  if (found.length === 0) return emptyList("Nothing was lost, damaged or left out.");
  return drawList({
    id: "diagnostics",
    rows: found,
    path: "diagnostics",
    question,
    label: "Diagnostics",
    nameTitle: "Name",
    name: (row) => [make("span", { class: "mono" }, row.name)],
    columns: DIAGNOSTIC_COLUMNS,
  });
}

const FACT_NAMES = {
  events: "Events",
  events_lost: "Events lost",
  buffers: "Buffers",
  buffers_lost: "Buffers lost",
  duration_ns: "Duration",
  cpus: "Processors",
};

function traceFacts(answer, question) {
  const facts = make("dl", { class: "facts", "data-command": source.commandFor(question.command, question.options) });
  for (const [key, title] of Object.entries(FACT_NAMES)) {
    const value = answer.trace?.[key];
    if (isUnknown(value)) continue;
    facts.append(
      make("dt", {}, title),
      make(
        "dd",
        {},
        numberSpan(`trace.${key}`, value, key === "duration_ns" ? formatDuration(value) : formatCount(value)),
      ),
    );
  }
  return facts;
}

// What a recording of this kind could tell, and how to record what it lacks.
function missingAnswers(info, question, isOpen) {
  const missing = (info.questions ?? []).filter(({ can }) => !can);
  if (missing.length === 0) return null;
  const list = drawList({
    id: "abilities",
    rows: info.questions,
    path: "questions",
    question,
    isShown: ({ can }) => !can,
    label: "What this recording cannot tell",
    nameTitle: "Question",
    name: (row) => [make("span", {}, row.name)],
    columns: [
      { key: "why", title: "Why not", draw: (row) => row.why, class: "wrap", isSorted: false },
      {
        key: "record",
        title: "How to record it",
        draw: (row) => row.record ?? "",
        class: "wrap mono",
        isSorted: false,
      },
    ],
  });
  return make(
    "details",
    { open: isOpen },
    make("summary", {}, `What this recording cannot tell, and how to record it (${missing.length})`),
    list,
  );
}

function drawDiagnostics(body, documents, { questions }) {
  const [info, question] = [documents.at(-1), questions.at(-1)];
  const nodes = [
    traceFacts(info, question),
    diagnosticList(documents[0], questions[0]),
    missingAnswers(info, question, documents.length === 1),
  ];
  replaceBody(body, ...nodes);
}

registerPart({
  id: "diagnostics",
  title: "Diagnostics",
  order: 90,
  questions: diagnosticsQuestions,
  draw: drawDiagnostics,
  csv: false,
  text: true,
  lazy: true,
  follows: ["lists"],
});
