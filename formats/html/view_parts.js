// The parts of the page: a section each, drawn from the answers to its questions.
//
//     registerPart({
//       id, title, order,
//       questions(state) -> [{ command, options }]   or null: the part does not apply and is hidden
//       draw(body, documents, context)               documents in the order of the questions
//       nav: "its name in the list at the top",      optional, all of these:
//       hint: "a sentence below the heading",        or a function that returns it
//       tools: [{ label, act() }] or [element],      more buttons of the heading
//       csv: true, text: true,                       buttons Copy, CSV, JSON and Command
//       first: true,                                 asked before the others
//       plainOptions(options),                       those that Copy and CSV take, if not all
//       lazy: true,                                  asked when it is near the viewport
//       needsBlocks: true,                           hidden if the input is a summary
//       isOfMoment: true,                            it shows the end of the window
//       ignoresWindow: true,                         it shows the window in another way, as the curve does
//       covers(documents) -> [text],                 in place of the window of the question; null before the answer
//       marksSearch: true,                           it shows what is not found, too
//       follows: ["search", "metric"],               drawn again from the same answers when these change
//     })
//
// The source makes of each question the nearest one that it can answer: on a static page a list may
// be of the whole window only. A part without an answer is hidden.
//
// A change of the state asks only parts whose questions have become others. An older question of
// the part is aborted, and its picture stays, greyed, until the answer is there. `context` has
//
//     ask(command, options)   -> document; aborted with the part's questions; for paging
//                             a third argument names the questions as those of another part: their turn
//     signal, questions, pending (names of functions are still arriving), changes (of `follows`)
//     isRedraw                true if the answers are those of the last drawing

const parts = [];
let partsStarted = false;
let slotNumber = 0;
let refreshNumber = 0;

function registerPart(part) {
  parts.push({ ...part, asked: null, drawn: null, abort: null, isNear: !part.lazy, elements: null });
}

function questionKey(questions) {
  return JSON.stringify([state.input, questions]);
}

// --- the section of a part ------------------------------------------------------------------

function partButton(label, act) {
  return make("button", { type: "button", onclick: act }, label);
}

function toolButtons(part) {
  const own = (part.tools ?? []).map((tool) => (tool instanceof Node ? tool : partButton(tool.label, tool.act)));
  const name = (button) => button.setAttribute("aria-label", `${button.textContent}: ${part.title}`) ?? button;
  const buttons = [];
  if (part.text) buttons.push(partButton("Copy", () => copyPart(part)));
  if (part.csv) buttons.push(partButton("CSV", () => saveAnswer(part, currentQuestion(part), part.id, "csv")));
  if (part.text || part.csv) {
    buttons.push(partButton("JSON", () => saveAnswer(part, currentQuestion(part), part.id, "json")));
    buttons.push(partButton("Command", () => toggleCommand(part)));
  }
  return [...own, ...buttons.map(name)];
}

function makeSection(part) {
  const heading = make("h2", { id: `${part.id}-title` }, part.title);
  const tools = make("div", { class: "tools" }, ...toolButtons(part));
  const covers = make("p", { class: "covers", id: `${part.id}-covers` });
  const error = make("div", { class: "notice bad", role: "alert", hidden: true });
  const command = make("div", { class: "command", hidden: true });
  const hint = part.hint ? make("p", { class: "hint" }) : null;
  const working = make("div", { class: "working", "aria-hidden": "true" });
  const body = make("div", { class: "body" });
  const section = make(
    "section",
    { id: part.id, class: part.lazy ? "lazy" : null, "aria-labelledby": heading.id },
    make("div", { class: "head" }, make("div", { class: "heading" }, heading, covers), tools),
    hint,
    command,
    error,
    working,
    body,
  );
  const link = make("a", { href: `#${part.id}` }, part.nav ?? part.title);
  part.elements = { section, tools, hint, covers, error, command, working, body, link };
}

// --- which window and filters a part covers -------------------------------------------------

function valueOf(options, name) {
  return options.find(([option]) => option === name)?.[1];
}

// A static page may be of a part of the trace, which it never calls the whole.
function wholeTime() {
  const whole = source.window;
  if (whole === null || whole.isWhole) return "Whole trace";
  const span = whole.to - whole.from;
  return `${formatTime(whole.from, span)} \u2013 ${formatTime(whole.to, span)}, all of this page`;
}

function coveredTime(options) {
  const at = valueOf(options, "at");
  if (at !== undefined) return `At ${readTime(at) === undefined ? at : formatTime(readTime(at))}`;
  if (valueOf(options, "map") !== undefined) return "End of the trace";
  const [from, to] = ["from", "to"].map((name) => readTime(valueOf(options, name) ?? "") ?? null);
  if (from === null && to === null) return wholeTime();
  const span = from !== null && to !== null ? to - from : 1e9;
  return `${from === null ? "Start" : formatTime(from, span)} \u2013 ${to === null ? "end" : formatTime(to, span)}`;
}

// Filters in force that none of the part's questions has.
function ignoredFilters(part, questions) {
  const options = questions.flatMap((question) => question.options);
  const isIn = (name, value) => options.some((option) => option[0] === name && option[1] === value);
  const ignored = state.filters.filter((filter) => filter.values.some((value) => !isIn(filter.option, value)));
  const texts = ignored.map((filter) => filterText(filter.option, filter.values.join(", ")));
  const isWindowed = state.from !== null || state.to !== null;
  if (isWindowed && !part.ignoresWindow && !hasWindow(part, options)) texts.unshift("the selected window");
  if (!part.marksSearch && !hasSearch(options)) texts.push("the search");
  return texts;
}

function hasWindow(part, options) {
  if (part.isOfMoment) return state.to === null || valueOf(options, "at") === exactTime(state.to);
  return (
    (state.from === null || valueOf(options, "from") === exactTime(state.from)) &&
    (state.to === null || valueOf(options, "to") === exactTime(state.to))
  );
}

function drawCovers(part, questions) {
  const options = questions[0].options;
  const texts = part.covers?.(part.drawn?.documents ?? null) ?? [coveredTime(options)];
  const kind = valueOf(options, "kind");
  if (kind !== undefined && !kind.includes(",") && !texts.includes(kind)) texts.push(kind);
  const count = state.filters.filter((filter) =>
    filter.values.every((value) => options.some(([name, text]) => name === filter.option && text === value)),
  ).length;
  if (count > 0) texts.push(plural(count, "filter"));
  if (isNarrowing() && !part.marksSearch && hasSearch(options)) texts.push(`with ${searchText()}`);
  const ignored = ignoredFilters(part, questions);
  clear(part.elements.covers).append(make("span", {}, texts.join(", ")));
  if (ignored.length > 0)
    part.elements.covers.append(make("span", { class: "warn" }, `Does not follow ${ignored.join("; ")}.`));
  if (part.drawn?.documents.some((answer) => answer.is_cut))
    part.elements.covers.append(
      make("span", { class: "warn" }, "Without the smaller stacks, which are not on this page."),
    );
  if (part.pending)
    part.elements.covers.append(make("span", { class: "warn" }, "Names of functions are still arriving."));
  part.elements.section.dataset.command = source.commandFor(questions[0].command, questions[0].options);
}

function drawHint({ hint, elements }) {
  if (elements.hint !== null) elements.hint.textContent = typeof hint === "function" ? hint() : hint;
}

// --- asking ---------------------------------------------------------------------------------

const LATE_MS = 200;

// An answer that comes soon takes the place of the older picture without a sign in between.
function setBusy(part, isBusy) {
  const { body, working } = part.elements;
  body.setAttribute("aria-busy", String(isBusy));
  clearTimeout(part.lateTimer);
  const setLate = (isLate) => {
    body.toggleAttribute("data-late", isLate);
    working.toggleAttribute("data-on", isLate);
  };
  if (isBusy && part.isNear) part.lateTimer = setTimeout(() => setLate(true), LATE_MS);
  else setLate(false);
}

function showPart(part, isShown) {
  part.elements.section.hidden = !isShown;
  part.elements.link.hidden = !isShown;
}

function contextOf(part, questions, more) {
  const { signal } = part.abort;
  const ask = async (command, options, slot = part.id) =>
    (await source.ask(command, options, { part: `${slot}.${++slotNumber}`, signal })).document;
  return { ask, signal, questions, pending: part.pending, changes: {}, isRedraw: false, ...more };
}

function showError(part, sentence) {
  part.elements.error.textContent = sentence;
  part.elements.error.hidden = sentence === "";
}

// The question in flight is of no use: the part asks another when it is in sight, and its turn comes.
function leavePart(part, isWaiting) {
  part.abort?.abort();
  part.asked = null;
  setBusy(part, isWaiting);
}

// Of answers that come together, one part is drawn a frame, and the table before the flame graph, so that it is
// seen before the other takes its time. A tab in the background has no frames.
const TURN_MS = 100;
let lastFrame = Promise.resolve();

function after(ms) {
  return new Promise((done) => setTimeout(done, ms));
}

function nextFrame() {
  if (document.hidden || !source.isLive) return Promise.resolve();
  return Promise.race([new Promise((done) => requestAnimationFrame(() => setTimeout(done))), after(TURN_MS)]);
}

async function awaitTurn(part) {
  const earlier = parts.filter((one) => one.first && one.order < part.order).map((one) => one.drawing);
  await Promise.race([Promise.all(earlier), after(TURN_MS)]);
  const before = lastFrame;
  lastFrame = before.then(nextFrame);
  await before;
}

async function askPart(part, questions, key) {
  part.abort?.abort();
  const abort = (part.abort = new AbortController());
  part.asked = key;
  setBusy(part, true);
  try {
    const answers = await Promise.all(
      questions.map(({ command, options }, i) =>
        source.ask(command, options, { part: `${part.id}-${i}`, signal: abort.signal }),
      ),
    );
    await awaitTurn(part);
    if (abort.signal.aborted) return;
    part.pending = answers.some((answer) => answer.pending);
    part.drawn = { questions, documents: answers.map((answer) => answer.document) };
    showError(part, "");
    await part.draw(part.elements.body, part.drawn.documents, contextOf(part, questions, {}));
  } catch (error) {
    if (error.name === "AbortError" || abort.signal.aborted) return;
    failPart(part, error);
  }
  if (part.abort !== abort) return;
  setBusy(part, false);
  drawCovers(part, questions);
}

// The picture of an older question would be taken for the answer to this one.
function failPart(part, error) {
  if (!(error instanceof AnswerError)) console.error(error);
  part.drawn = null;
  clear(part.elements.body);
  showError(part, error.message);
}

async function redrawPart(part, changes) {
  if (part.drawn === null) return;
  const { questions, documents } = part.drawn;
  await part.draw(part.elements.body, documents, contextOf(part, questions, { changes, isRedraw: true }));
}

// What the part asks, as the source can answer it; null if it cannot, or the part does not apply.
function questionsOf(part) {
  const isHidden = (source.session.inputs.length === 0 && source.isLive) || (part.needsBlocks && isSummary());
  const wanted = isHidden ? null : part.questions(state);
  const questions = wanted?.map((question) => source.nearest(question)) ?? null;
  return questions === null || questions.includes(null) ? null : questions;
}

// Asks, draws again, or hides, as the state has it. Returns a promise that is kept when it is done.
async function refreshPart(part, changes = {}) {
  const questions = questionsOf(part);
  showPart(part, questions !== null);
  if (questions === null) {
    part.abort?.abort();
    part.asked = null;
    return;
  }
  const key = questionKey(questions);
  if (!part.isNear) {
    if (key !== part.asked) leavePart(part, false);
    return;
  }
  drawHint(part);
  drawCovers(part, questions);
  if (key !== part.asked) return (part.drawing = askPart(part, questions, key));
  if ((part.follows ?? []).some((name) => name in changes)) await redrawPart(part, changes);
}

// Whether a part in sight has another question, which can wait.
function isWaiting(part) {
  if (part.first || !part.isNear || (part.drawn === null && !part.lazy)) return false;
  const questions = questionsOf(part);
  return questions !== null && questionKey(questions) !== part.asked;
}

let firstDrawn = Promise.resolve(); // when curve, table and flame graph are

// Curve, table and flame graph come first. The other parts ask when those are drawn, unless the state has
// changed again by then.
async function refreshParts(changes = {}) {
  const number = ++refreshNumber;
  const waiting = parts.filter(isWaiting);
  for (const part of waiting) leavePart(part, true);
  firstDrawn = Promise.all(parts.filter((part) => !waiting.includes(part)).map((part) => refreshPart(part, changes)));
  await firstDrawn;
  if (number === refreshNumber) await Promise.all(waiting.map((part) => refreshPart(part, changes)));
}

async function refreshSeen(part) {
  if (!part.first) await firstDrawn;
  if (part.isNear) await refreshPart(part);
}

// All parts ask anew, as the input has been read or names have arrived.
function askAllAgain() {
  for (const part of parts) part.asked = null;
  return refreshParts();
}

// --- buttons --------------------------------------------------------------------------------

function currentQuestion(part) {
  return questionsOf(part)[0];
}

// Text and CSV have what JSON has, but for parts that say which of their options are for JSON only.
function optionsAs(part, options, format) {
  const taken = format === "json" ? options : (part.plainOptions?.(options) ?? options);
  return [...taken, ["format", format]];
}

async function copyPart(part) {
  const { command, options } = currentQuestion(part);
  try {
    const text = source.isLive
      ? await source.text(command, optionsAs(part, options, "text"))
      : tablesText(part.elements.body, "\t");
    await copyText(text, `the text of \u201c${part.title}\u201d`);
  } catch (error) {
    showError(part, error.message);
  }
}

// A static page has what it shows, and not what the command would write.
async function saveAnswer(part, { command, options }, name, format) {
  try {
    if (!source.isLive && format === "csv") saveText(tablesText(part.elements.body, ","), `${name}.csv`);
    else await source.download(command, optionsAs(part, options, format), `${name}.${format}`);
    showError(part, "");
  } catch (error) {
    showError(part, error.message);
  }
}

// A heading within a part, with buttons of its own: the part's are those of its first question.
function answerHead(id, title, question, name) {
  const part = parts.find((one) => one.id === id);
  const buttons = ["csv", "json"].map((format) => {
    const button = partButton(format.toUpperCase(), () => saveAnswer(part, question, name, format));
    button.setAttribute("aria-label", `${button.textContent}: ${title}`);
    return button;
  });
  return make("div", { class: "head" }, make("h3", {}, title), make("div", { class: "tools" }, ...buttons));
}

// Words are not broken at their hyphens.
function commandWords(line, i) {
  const words = line.split(" ").flatMap((word, k) => [k > 0 ? " " : null, make("span", {}, word)]);
  return i > 0 ? ["\n", ...words] : words;
}

function toggleCommand(part) {
  const box = part.elements.command;
  if (!box.hidden) {
    box.hidden = true;
    return;
  }
  clear(box);
  const lines = questionsOf(part).map(({ command, options }) => source.commandFor(command, options));
  box.append(
    make("code", {}, ...lines.map(commandWords)),
    partButton("Copy command", () => copyText(lines.join("\n"), "the command")),
  );
  box.hidden = false;
}

// --- putting parts on the page --------------------------------------------------------------

const nearness = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const part = parts.find(({ id }) => id === entry.target.id);
      part.isNear = entry.isIntersecting;
      if (part.isNear && partsStarted) refreshSeen(part);
    }
  },
  { rootMargin: "400px 0px" },
);

// Links go to the heading and leave the address, which has the state, as it is.
function goToPart(event) {
  const link = event.target.closest?.('a[href^="#"]');
  if (!link) return;
  const section = byId(link.getAttribute("href").slice(1));
  event.preventDefault();
  if (section === null) return;
  const heading = section.querySelector("h2");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  section.scrollIntoView();
}

// The answers of a static page are in it, and it can be printed, so all parts are drawn once those in
// sight are.
function drawDistantParts() {
  for (const part of parts) part.isNear = true;
  return refreshParts();
}

function startParts() {
  parts.sort((a, b) => a.order - b.order);
  for (const part of parts) {
    makeSection(part);
    byId("parts").append(part.elements.section);
    byId("nav").append(part.elements.link);
    if (part.lazy && source.isLive) nearness.observe(part.elements.section);
  }
  document.addEventListener("click", goToPart);
  partsStarted = true;
  onChange((changes) => {
    for (const part of parts) if (!part.elements.command.hidden) part.elements.command.hidden = true;
    refreshParts(changes);
  });
  return refreshParts();
}
