// Lines of code around a frame, where there are files of the source: those below --source-root.
//
// A line of code asks `symbols --source FILE:LINE`, which reads the file where the server runs; a
// static page has the answers for its frames. The program chooses the file among those that the
// symbols name, and says whether it is the one that was compiled.

const CODE_REASONS = {
  unmapped: "No source folder is given for files of this path.",
  missing: "The file was not found.",
  refused: "The file is outside the source folder, or not a regular file.",
  unreadable: "The file cannot be read.",
  "too-large": "The file is larger than 4 MiB.",
  binary: "The file is not text.",
  "past-end": "The file has fewer lines.",
};

function codeQuestion(frame) {
  return { command: "symbols", options: [["source", `${frame.file}:${frame.line}`]] };
}

function hasCode(frame) {
  if (isUnknown(frame) || isUnknown(frame.file) || isUnknown(frame.line)) return false;
  if (source.session.source_roots.length === 0) return false;
  const { command, options } = codeQuestion(frame);
  return source.can(command, options);
}

// Where the frame is in the source; a button that shows the lines if they can be had. They come
// behind it.
function lineOfCode(frame) {
  const text = frameSource(frame);
  if (text === "") return null;
  if (!hasCode(frame)) return make("span", { class: "source" }, ...breakable(text));
  const button = make(
    "button",
    { type: "button", class: "source", "aria-expanded": "false", title: "Show the lines of code" },
    ...breakable(text),
  );
  const box = make("div", { class: "code-box", hidden: true });
  button.addEventListener("click", () => toggleCode(button, box, frame));
  return make("div", { class: "code" }, button, box);
}

async function toggleCode(button, box, frame) {
  const isOpen = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!isOpen));
  box.hidden = isOpen;
  if (isOpen || (box.childElementCount > 0 && !box.hasAttribute("data-failed"))) return;
  const { command, options } = codeQuestion(frame);
  box.dataset.command = source.commandFor(command, options);
  box.setAttribute("aria-busy", "true");
  try {
    const answer = await source.ask(command, options);
    box.removeAttribute("data-failed");
    box.replaceChildren(...answer.document.sources.map(codePart));
  } catch (error) {
    box.dataset.failed = ""; // asked again when it is opened again
    box.replaceChildren(make("p", { class: "note" }, error.message));
  }
  box.removeAttribute("aria-busy");
}

// One file, with what is to be known about it.
function codePart(part) {
  const path = part.path === null ? null : make("span", { class: "path" }, ...breakable(part.path));
  const link = part.link === undefined ? null : make("a", { href: part.link }, "Open in VS Code");
  const notes = [];
  if (part.status !== "shown") notes.push(CODE_REASONS[part.status]);
  if (part.changed) notes.push("This file has changed since it was compiled: lines may be others.");
  return make(
    "div",
    { class: "code-part", "data-file": part.file },
    make("div", { class: "code-head" }, path, " ", link),
    ...notes.map((note) => make("p", { class: "note warn" }, note)),
    part.lines.length === 0 ? null : codeLines(part),
  );
}

// The numbers are not copied with the lines.
function codeLines(part) {
  const digits = String(part.first_line + part.lines.length - 1).length;
  const lines = part.lines.map((text, i) => {
    const number = part.first_line + i;
    const attributes = number === part.line ? { class: "code-line is-it", "aria-current": "true" } : { class: "code-line" };
    return make(
      "div",
      attributes,
      make("span", { class: "code-number" }, String(number).padStart(digits, "\u2007")),
      make("span", { class: "code-text" }, `${text}\n`),
    );
  });
  const name = `Lines of code around ${frameSource(part)}`;
  return make(
    "div",
    { class: "code-lines", tabindex: "0", role: "group", "aria-label": name },
    make("div", { class: "code-sheet" }, ...lines),
  );
}
