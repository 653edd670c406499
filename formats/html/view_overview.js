// What is above the curve: the inputs, what was recorded and lost, and a card for each kind of
// memory. The cards choose the kind that all parts show; kinds are never added together.

// The document of `info` for the shown input: marks, processes, recorded kinds, losses.
let traceInfo = null;

// In the order of KIND_NAMES. A kind without events has no card.
function recordedKinds() {
  if (traceInfo === null) return [];
  const can = (traceInfo.questions ?? []).filter((question) => question.can).map((question) => question.name);
  const found = new Set([...can, ...(traceInfo.recorded ?? []).map((span) => span.kind)]);
  return KIND_NAMES.filter(
    (name) =>
      found.has(name) &&
      source.can("report", [
        ["group-by", "kind"],
        ["kind", name],
      ]) || source.compared !== null,
  );
}

function traceStart() {
  return source.window?.from ?? 0;
}

// A summary has totals of whole traces, by call stack: no single blocks, and no window can be selected.
function isSummary() {
  return !isUnknown(traceInfo?.traces);
}

function traceEnd() {
  if (source.window !== null) return source.window.to;
  return Math.max(0, traceInfo?.trace?.duration_ns ?? 0, ...(traceInfo?.recorded ?? []).map((span) => span.to_ns ?? 0));
}

// --- inputs ---------------------------------------------------------------------------------

function shownInput() {
  return source.session.inputs.find((input) => input.number === state.input) ?? null;
}

function inputPicker(title, chosen, choose, without) {
  const choices = source.session.inputs.map(({ number, name }) => [number, fileName(name)]);
  if (without !== null) choices.unshift(["", without]);
  return choiceOf(title, choices, chosen ?? "", (value) => choose(value === "" ? null : Number(value)));
}

// Inputs are named as they were typed, which may be a long path.
function fileName(path) {
  return path.split(/[\\/]/).at(-1);
}

// While a large trace is read, its share is shown; what is read can be asked when it is complete.
function readingText(input) {
  if (input.state === "failed") return make("span", { class: "up" }, input.message ?? "could not be read");
  if (input.state !== "reading") return input.symbols === "pending" ? make("span", {}, "Loading symbols\u2026") : null;
  const percent = input.total_bytes > 0 ? Math.floor((100 * input.done_bytes) / input.total_bytes) : 0;
  const bar = make("progress", { max: 100, value: percent, "aria-label": `Reading ${fileName(input.name)}` });
  return make("span", {}, `Reading ${fileName(input.name)} `, bar, ` ${percent} %`);
}

function drawInputs() {
  const box = byId("inputs");
  if (box.contains(document.activeElement)) return;
  clear(box);
  if (source.session.inputs.length > 1) {
    box.append(
      inputPicker(
        "Trace",
        state.input,
        (number) => update({ input: number, from: null, to: null, zoomFrom: null, zoomTo: null }),
        null,
      ),
      inputPicker("compared with", state.base, (number) => update({ base: number }), "nothing"),
    );
  }
  for (const input of source.session.inputs) {
    const text = readingText(input);
    if (text !== null) box.append(text);
  }
}

// --- title and losses -----------------------------------------------------------------------

function recordedText(trace) {
  const start = isUnknown(trace.start_time)
    ? null
    : `recorded ${trace.start_time.slice(0, 19).replace("T", " ")}${trace.start_time.endsWith("Z") ? " UTC" : ""}`;
  const where = isUnknown(trace.computer) || trace.computer === "" ? null : `on ${trace.computer}`;
  const about = [start, where].filter((text) => text !== null).join(" ");
  const length = isUnknown(trace.duration_ns) ? null : formatTime(trace.duration_ns);
  const events = isUnknown(trace.events) ? null : plural(trace.events, "event");
  return [about === "" ? null : about, length, events].filter((text) => text !== null).join(", ");
}

function drawTitle() {
  if (compared !== null) return drawComparedTitle();
  const name = shownInput()?.name ?? "";
  byId("page-title").textContent = name === "" ? "Memory" : fileName(name);
  byId("page-title").title = name;
  document.title = name === "" ? "etlheap view" : `${fileName(name)} \u2013 etlheap view`;
  const selected = source.selectedText();
  const texts =
    traceInfo === null ? [] : [recordedText(traceInfo.trace), selected === "" ? null : `selected: ${selected}`];
  // A number stays with its unit.
  const subtitle = texts.filter((text) => text !== null).join("; ");
  byId("page-subtitle").textContent = subtitle.replace(/(\d) (?=[a-z])/g, "$1\u00a0");
  byId("footer").textContent = source.session.version ? `etlheap ${source.session.version}` : "";
}

function sentenceStart(text) {
  return text[0].toUpperCase() + text.slice(1);
}

// Losses and damage make every total doubtful, so they come first.
function drawNotices() {
  const box = clear(byId("notices"));
  const input = shownInput();
  if (source.loginAdvice !== "") box.append(make("div", { class: "notice" }, source.loginAdvice));
  if (compared !== null) return box.append(...comparedNotices());
  if (input?.state === "failed")
    box.append(make("div", { class: "notice bad" }, `${input.name}: ${input.message ?? "could not be read"}`));
  const found = (traceInfo?.diagnostics ?? []).filter(({ severity }) => severity === "loss" || severity === "damage");
  if (found.length === 0) return;
  const lines = found.map((one) =>
    make("li", {}, `${sentenceStart(one.name.replaceAll("_", " "))} (${formatCount(one.count)}): ${one.advice ?? ""}`),
  );
  box.append(
    make(
      "div",
      { class: "notice bad" },
      "The trace is not complete, so totals may be wrong.",
      make("ul", {}, ...lines),
    ),
  );
}

// --- cards ----------------------------------------------------------------------------------

const CARD_COLUMNS =
  "outstanding_size,outstanding_count,impacting_size,peak_size,peak_count,alloc_size,alloc_count,freed_size,freed_count";
const CARD_FIGURES = [
  ["Peak", "peak"],
  ["Allocated", "alloc"],
  ["Freed", "freed"],
];

function cardFigure(row, title, name) {
  const sizes = isUnknown(row[`${name}_size`])
    ? null
    : figure("span", `${name}_size`, row[`${name}_size`], formatSize(row[`${name}_size`]));
  const counts = figure("span", `${name}_count`, row[`${name}_count`], formatCount(row[`${name}_count`]));
  return [make("dt", {}, title), make("dd", {}, sizes, sizes === null ? null : " \u00b7 ", counts)];
}

function signedSize(value) {
  return value > 0 ? `+${formatSize(value)}` : formatSize(value);
}

// A card that chooses a kind. `i` is its row in the document; a screen reader says `said` after its name.
function kindRadio(name, i, said, ...children) {
  const isShown = name === state.kind;
  return make(
    "div",
    {
      class: "kind",
      role: "radio",
      "aria-checked": isShown,
      tabindex: isShown ? 0 : -1,
      "data-kind": name,
      "data-row": i < 0 ? null : i,
      "aria-label": `${name}: ${said}`,
      onclick: () => chooseKind(name),
    },
    make("div", { class: "name" }, name),
    ...children,
  );
}

function kindCard(name, row, i) {
  const big = isUnknown(row.outstanding_size)
    ? figure("span", "outstanding_count", row.outstanding_count, formatCount(row.outstanding_count))
    : figure("span", "outstanding_size", row.outstanding_size, formatSize(row.outstanding_size));
  const small = isUnknown(row.outstanding_size)
    ? " outstanding"
    : [
        " outstanding, ",
        figure("span", "outstanding_count", row.outstanding_count, formatCount(row.outstanding_count)),
        row.outstanding_count === 1 ? " block" : " blocks",
      ];
  const net = isUnknown(row.impacting_size)
    ? []
    : [
        make("dt", {}, "Net growth"),
        make("dd", {}, figure("span", "impacting_size", row.impacting_size, signedSize(row.impacting_size))),
      ];
  const said = isUnknown(row.outstanding_size) ? formatCount(row.outstanding_count) : formatSize(row.outstanding_size);
  return kindRadio(
    name,
    i,
    `${said} outstanding`,
    make("div", { class: "big" }, big, make("small", {}, small)),
    make("dl", {}, ...CARD_FIGURES.flatMap(([title, key]) => cardFigure(row, title, key)), ...net),
  );
}

function chooseKind(name) {
  update({ kind: name });
  document.querySelector(`.kinds [data-kind="${name}"]`)?.focus();
}

function moveKind(event) {
  const names = recordedKinds();
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step === undefined && event.key !== " " && event.key !== "Enter") return;
  event.preventDefault();
  const at = names.indexOf(event.target.dataset.kind);
  chooseKind(names[(at + (step ?? 0) + names.length) % names.length]);
}

function showKinds(body, cards, attributes = {}) {
  const label = { role: "radiogroup", "aria-label": "Kind of memory", onkeydown: moveKind };
  clear(body).append(make("div", { class: "kinds", ...label, ...attributes }, ...cards));
  if (cards.length > 1)
    body.append(
      make("p", { class: "hint" }, "Kinds are never added together, because the same bytes can appear in each."),
    );
}

function drawCards(body, [report]) {
  const order = [...report.rows.keys()].sort(
    (a, b) => KIND_NAMES.indexOf(report.rows[a].kind) - KIND_NAMES.indexOf(report.rows[b].kind),
  );
  const shown = order.map((i) => [report.rows[i].kind, report.rows[i], i]);
  for (const name of recordedKinds())
    if (!shown.some((one) => one[0] === name)) shown.push([name, emptyRow(report, name), -1]);
  showKinds(
    body,
    shown.map(([name, row, i]) => kindCard(name, row, i)),
  );
}

// A kind of which nothing matches has no row, but totals that are known to be 0.
function emptyRow(report, name) {
  return { ...(report.totals.find((total) => total.kind === name) ?? {}), kind: name };
}

registerPart({
  id: "overview",
  title: "Overview",
  order: 0,
  text: true,
  csv: true,
  follows: ["kind"],
  questions() {
    const kinds = recordedKinds();
    if (kinds.length === 0) return null;
    const options = [
      ["group-by", "kind"],
      ["columns", CARD_COLUMNS],
      ...filterOptions({ kind: false }),
      ["kind", kinds.join(",")],
    ];
    return [{ command: "report", options }];
  },
  draw: drawCards,
});
