// A static page: the page of a live view, with the answers in it.
//
// The source of a static page has two kinds of answers, and takes whichever has the question:
//
//     documents   what commands print, whole: lists such as suspects, churn, spikes, the map. One
//                 document for each of these questions as the page first asks it; shorter lists are
//                 its first rows
//     cells       what each stack, heap and kind did in each of about 200 windows: they give the
//                 table, the flame graph, callers and callees, the curve, the cards and single
//                 blocks, in any window and with filters (view_cells.js, view_sums.js)
//
// Parts ask as they ask a server. Before, nearest(question) makes of a question the one that the
// page can answer: a document of the whole window for a list in a selected window, say. The part
// then asks that, states which window it covers and what it does not follow, and shows the command
// that prints its numbers. What has no near question is not shown. So no part says more than it
// knows, and the parts hold nothing that is for static pages alone but can() and nearest().
//
// Windows are those of the page: a selection moves to their edges (settle). The page may be of a
// part of a trace, selected by options when it was written (`selection`): every command has them.

// Options that choose what is asked about, not what is asked.
const SELECTING_OPTIONS = new Set([
  ...["from", "to", "at", "at-exit", "every", "top", "skip", "input"],
  ...Object.keys(FILTER_NAMES),
]);

// What is asked, without what it is asked about.
function questionName(command, options) {
  const words = options
    .filter(([name]) => !SELECTING_OPTIONS.has(name))
    .map(([name, value]) => `${name}=${name === "kind" ? value.split(",").sort().join() : value}`);
  return [command, ...words.sort()].join(" ");
}

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}

// The first rows of a document.
function firstRows(answer, top) {
  return Array.isArray(answer.rows) && answer.rows.length > top
    ? { ...answer, rows: answer.rows.slice(0, top) }
    : answer;
}

function topOf(options) {
  const top = valueOf(options, "top");
  return top === undefined || top === "all" ? Infinity : Number(top);
}

function withOption(options, name, value) {
  return [...options.filter(([other]) => other !== name), [name, value]];
}

const staticSource = {
  isLive: false,
  session: null,
  page: null, // the data of the page
  compared: null, // its only document, if it compares runs: see view_compared.js
  documents: new Map(), // by questionName
  cells: null,
  sources: new Map(), // lines of code by FILE:LINE
  window: null, // what the page covers: { from, to } in ns, isWhole

  async open(page) {
    this.page = page;
    this.loginAdvice = page.login_advice ?? "";
    for (const one of page.documents) this.documents.set(questionName(one.command, one.options), one);
    this.compared = page.documents.find(({ command }) => command in COMPARED) ?? null;
    if (page.cells !== undefined) {
      this.cells = decodeCells(JSON.parse(await inflate(page.cells)));
      const { from_ns: from, to_ns: to, is_whole: isWhole } = this.cells.document.window;
      this.window = { from, to, isWhole };
    }
    const { sources } = page.sources === undefined ? { sources: [] } : JSON.parse(await inflate(page.sources));
    for (const part of sources) this.sources.set(frameSource(part), part);
    this.session = {
      schema: "etlheap-view-1",
      version: page.version,
      inputs: [{ number: 1, name: page.inputs.join(" "), words: page.inputs, state: "ready", symbols: page.symbols }],
      command_words: {},
      source_roots: page.source_roots ?? [],
    };
  },

  // --- questions ---

  // The document of just this question: nothing is selected but what the whole page is of.
  exactDocument(command, options) {
    const isSelecting = ([name]) => ["from", "to", "at"].includes(name) || Object.hasOwn(FILTER_NAMES, name);
    return options.some(isSelecting) ? undefined : this.documents.get(questionName(command, options));
  },

  documentQuestion(command, known, options) {
    const asked = topOf(options);
    return {
      command,
      options: asked < topOf(known.options) ? withOption(known.options, "top", String(asked)) : known.options,
    };
  },

  // As the cells have it: without filters that they do not have, and in a selected window without
  // types.
  nearestOfCells(command, options) {
    if (this.cells === null) return null;
    const isKnown = ([name]) => CELL_FILTERS.has(name) || !Object.hasOwn(FILTER_NAMES, name);
    const known = options.filter(isKnown);
    const untyped = known.filter(([name]) => name !== "type");
    for (const candidate of [options, known, untyped]) {
      const query = readCellQuestion(this.cells, command, candidate);
      if (query !== null) return { command, options: query.options };
    }
    return null;
  },

  // The question that this page has an answer to; null if there is none.
  nearest({ command, options }) {
    const exact = this.exactDocument(command, options);
    if (exact !== undefined) return this.documentQuestion(command, exact, options);
    const ofCells = this.nearestOfCells(command, options);
    if (ofCells !== null) return ofCells;
    const known = this.documents.get(questionName(command, options));
    return known === undefined ? null : this.documentQuestion(command, known, options);
  },

  // Whether it can be asked just so; for choices that are offered.
  can(command, options) {
    const place = valueOf(options, "source");
    if (place !== undefined) return this.sources.has(place);
    if (this.cells !== null && readCellQuestion(this.cells, command, options) !== null) return true;
    return this.documents.has(questionName(command, options));
  },

  async ask(command, options) {
    const part = this.sources.get(valueOf(options, "source"));
    if (part !== undefined) return { document: { schema: "etlheap-sources-1", sources: [part] }, pending: false };
    const exact = this.exactDocument(command, options);
    const query = this.cells === null || exact !== undefined ? null : readCellQuestion(this.cells, command, options);
    if (query !== null) return { document: answerFromCells(this.cells, query), pending: false };
    const known = exact ?? this.documents.get(questionName(command, options));
    if (known === undefined) throw new AnswerError("This page does not have the answer.", 422);
    known.document ??= JSON.parse(await inflate(known.deflated));
    return { document: firstRows(known.document, topOf(options)), pending: false };
  },

  async text(command, options) {
    return JSON.stringify((await this.ask(command, options)).document, null, 2);
  },

  // True if the page has fewer rows than there are, and no more of them than are shown.
  isCut(command, options) {
    const known = this.documents.get(questionName(command, options));
    return known !== undefined && known.is_cut && topOf(options) >= topOf(known.options);
  },

  // A moment at the nearest edge of a window of the page.
  settleTime(ns) {
    if (ns === null || this.cells === null) return ns;
    const { edges } = this.cells;
    return edges.reduce((best, edge) => (Math.abs(edge - ns) < Math.abs(best - ns) ? edge : best), edges[0]);
  },

  // The window that a change selects, as this page has it: never empty.
  settle(changes) {
    if (this.compared !== null) return withoutSelection(changes);
    if (this.cells === null || !("from" in changes || "to" in changes)) return changes;
    const { edges } = this.cells;
    const settled = { ...changes };
    for (const name of ["from", "to"]) if (name in settled) settled[name] = this.settleTime(settled[name]);
    const ends = { from: state.from, to: state.to, ...settled };
    const from = ends.from ?? edges[0],
      to = ends.to ?? edges.at(-1);
    if (to <= from && from < edges.at(-1)) settled.to = edges[edges.indexOf(from) + 1];
    else if (to <= from) settled.from = edges.at(-2);
    if (settled.from === edges[0] && settled.to === edges.at(-1)) settled.from = settled.to = null;
    return settled;
  },

  // --- commands ---

  // Options of the selection that a command takes, without those that the question itself has.
  selectionFor(command, options) {
    if (command === "info") return []; // it is about the whole trace
    const names = new Set(options.map(([name]) => name));
    const isOfMoment = names.has("at");
    const isOfCode = names.has("source"); // whatever is selected
    const leftOut = new Set();
    if (command === "symbols")
      for (const name of ["thread", "lifetime", "require-frame", "exclude-frame", "fold-module", "no-symbols"])
        leftOut.add(name);
    if (isOfCode) for (const name of [...SELECTING_OPTIONS, "kind", "no-cull", "cull-list"]) leftOut.add(name);
    if (names.has("unmatched")) leftOut.add("at-exit");
    const words = isOfCode ? this.session.source_roots.flatMap((root) => ["--source-root", root]) : [];
    const { selection } = this.page;
    for (let i = 0; i < selection.length;) {
      const hasValue = i + 1 < selection.length && !selection[i + 1].startsWith("--");
      const name = selection[i].slice(2);
      const isAdded = name === "exclude-frame" || name === "fold-module" || name === "cull-frame";
      const isRepeated = names.has(name) && !isAdded;
      if (!isRepeated && !leftOut.has(name) && !(isOfMoment && (name === "from" || name === "to")))
        words.push(...selection.slice(i, i + 1 + hasValue));
      i += 1 + hasValue;
    }
    return words;
  },

  // What the page was made of, if not of the whole trace.
  selectedText() {
    const { selection } = this.page;
    const isSelecting = (word) => ["from", "to", "kind", ...Object.keys(FILTER_NAMES)].includes(word.slice(2));
    return selection
      .flatMap((word, i) => (isSelecting(word) ? [word, ...(selection[i + 1] ? [selection[i + 1]] : [])] : []))
      .map(shellWord)
      .join(" ");
  },

  commandFor(command, options) {
    const words = options.filter(([name]) => name !== "input").flatMap(([name, value]) => optionWords(name, value));
    words.push(...this.selectionFor(command, options));
    const { inputs } = this.page;
    const all = inputs.some((name) => name.startsWith("-")) ? [...words, "--", ...inputs] : [...inputs, ...words];
    // Whoever reads the page may type its commands.
    return commandText(["etlheap", command, ...all], /Windows/.test(navigator.userAgent) ? "windows" : "posix");
  },

  onSession() {},

  async download(command, options, fileName) {
    const own = options.filter(([name]) => name !== "format");
    saveText(await this.text(command, own), fileName);
  },
};

// The source of this page: the data in it, if there is any.
async function openSource() {
  const data = byId("data")?.textContent.trim() ?? "";
  if (data === "") return;
  await staticSource.open(JSON.parse(data));
  source = staticSource;
}
