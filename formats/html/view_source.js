// Where answers come from: the server that sent this page. A question is a command of the command
// line and its options; the answer is the document that the command prints, so each number on the
// page has a command that prints it.
//
//     source.ask("report", [["from","5s"], ["churn",""]], { part, signal }) -> { document, pending }
//
// Options are pairs of a long option without its dashes and a value, "" for a flag. Answers are
// kept until names of functions arrive, so going back asks nothing again.

const KEPT_ANSWERS = 60;
const KEPT_CHARACTERS = 20e6;
const SESSION_INTERVAL_MS = 250;
const SAVING_MS = 60000; // how long the browser may take to save an answer

class AnswerError extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

// Least recently used first.
class AnswerCache {
  constructor() {
    this.answers = new Map();
    this.characters = 0;
  }

  get(key) {
    const answer = this.answers.get(key);
    if (answer !== undefined) {
      this.answers.delete(key);
      this.answers.set(key, answer);
    }
    return answer;
  }

  set(key, document, characters) {
    this.drop(key);
    this.answers.set(key, { document, characters });
    this.characters += characters;
    while (this.answers.size > KEPT_ANSWERS || this.characters > KEPT_CHARACTERS)
      this.drop(this.answers.keys().next().value);
  }

  drop(key) {
    this.characters -= this.answers.get(key)?.characters ?? 0;
    this.answers.delete(key);
  }

  clear() {
    this.answers.clear();
    this.characters = 0;
  }
}

// As a shell reads the word; most need no quotes. PowerShell makes a list at a comma, and cuts options
// at a full stop or colon. cmd and PowerShell share only double quotes, in which PowerShell expands
// $NAME, $(...) and `, and takes typographic quotes for quotes: such words get its single quotes. No file of
// Windows has a double quote in its name, and patterns have a wildcard for it. The same rules are
// those of formats/parts/shell_words.c.
function shellWord(word, shell = "posix") {
  if (shell !== "windows") return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  if (/^(-[\w+=/-]*|[\w+=:./][\w+=:./-]*)$/.test(word)) return word;
  const isExpanded = /[`\u2018-\u201f]|\$[a-z0-9_({$^?:]/i.test(word);
  if (isExpanded) return `'${word.replaceAll("'", "''")}'`;
  return `"${word.replaceAll('"', "?").replace(/\\+$/, "$&$&")}"`;
}

function commandText(words, shell) {
  return words.map((word) => shellWord(word, shell)).join(" ");
}

// An option as it is typed. The value of --tree may be left out, so it has to be in the same word.
function optionWords(name, value) {
  if (value === "") return [`--${name}`];
  return value.startsWith("-") || name === "tree" ? [`--${name}=${value}`] : [`--${name}`, value];
}

const liveSource = {
  isLive: true,
  session: { inputs: [], command_words: {}, source_roots: [], version: "", shell: "posix" },
  tab: Math.random().toString(36).slice(2, 12),
  kept: new AnswerCache(),
  listeners: [],

  // Base of the API: beside the page.
  url(command, options, more = []) {
    const words = new URLSearchParams();
    if (!options.some(([name]) => name === "input")) words.append("input", String(state.input));
    for (const [name, value] of [...options, ...more]) words.append(name, value);
    return `api/${command}?${words}`;
  },

  async fetch(url, signal) {
    let response;
    try {
      response = await fetch(url, { signal, cache: "no-store" });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new AnswerError(
        "The server does not answer: etlheap view has ended, or the connection to it is broken.",
        0,
      );
    }
    if (response.ok) return response;
    const answer = await response.json().catch(() => ({}));
    throw new AnswerError(answer.error ?? `The server answered with status ${response.status}.`, response.status);
  },

  async ask(command, options, { part = null, signal = undefined } = {}) {
    const key = this.url(command, options);
    const known = this.kept.get(key);
    if (known !== undefined) return { document: known.document, pending: false };
    const asking =
      part === null
        ? []
        : [
            ["tab", this.tab],
            ["part", part],
          ];
    const response = await this.fetch(this.url(command, options, asking), signal);
    const text = await response.text();
    const answer = JSON.parse(text);
    const pending = response.headers.get("Etlheap-Symbols-Pending") !== null;
    if (!pending) this.kept.set(key, answer, text.length);
    return { document: answer, pending };
  },

  async text(command, options, { signal = undefined } = {}) {
    return (await this.fetch(this.url(command, options), signal)).text();
  },

  // A server answers all questions as they are, in any window.
  can() {
    return true;
  },

  nearest(question) {
    return question;
  },

  settle(changes) {
    return changes;
  },

  isCut() {
    return false;
  },

  window: null,
  compared: null, // the document of a page that compares runs
  loginAdvice: "",

  selectedText() {
    return "";
  },

  // What to type for the same numbers. Inputs are named as they were when the view was started.
  commandFor(command, options) {
    const numbers = options.filter(([name]) => name === "input").map(([, value]) => Number(value));
    const inputs = (numbers.length > 0 ? numbers : [state.input]).flatMap(
      (number) => this.session.inputs.find((input) => input.number === number)?.words ?? [`input-${number}`],
    );
    const words = options.filter(([name]) => name !== "input").flatMap(([name, value]) => optionWords(name, value));
    words.push(...(this.session.command_words[command] ?? []));
    // A name that looks like an option comes last, behind "--".
    const all = inputs.some((name) => name.startsWith("-")) ? [...words, "--", ...inputs] : [...inputs, ...words];
    return commandText(["etlheap", command, ...all], this.session.shell);
  },

  // The answer is fetched first: a link to a question that is refused would save nothing, and say
  // nothing.
  async download(command, options, fileName) {
    const answer = await (await this.fetch(this.url(command, options))).blob();
    const address = URL.createObjectURL(answer);
    const link = make("a", { href: address, download: fileName });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), SAVING_MS);
  },

  // --- the session ---

  isWaiting() {
    return this.session.inputs.some((input) => input.state === "reading" || input.symbols === "pending");
  },

  async readSession() {
    const before = this.session;
    this.session = await (await this.fetch("api/session")).json();
    const changed = this.session.inputs.filter((input, i) => {
      const old = before.inputs[i];
      return old !== undefined && (old.state !== input.state || old.symbols !== input.symbols);
    });
    if (changed.length > 0) this.kept.clear();
    for (const listener of this.listeners) listener(changed);
    if (this.isWaiting()) setTimeout(() => this.readSession().catch(() => {}), SESSION_INTERVAL_MS);
  },

  // `listener(changed)` hears of each new state of the session: inputs whose reading or symbols
  // have changed.
  onSession(listener) {
    this.listeners.push(listener);
  },
};

// A static page replaces this with the documents that it holds: see view_static.js.
let source = liveSource;
