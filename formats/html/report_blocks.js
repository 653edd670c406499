// The blocks of a stack, one by one: those that were not freed first, the largest of them first.
// The file has as many as it has room for, and a list that is cut says so.

{
  const numbers = new Numbers(report.blocks);
  let index = -1;
  while (numbers.more) {
    index += numbers.next();
    const row = rows[index];
    row.blocks = [];
    for (let left = numbers.next(); left > 0; left--) row.blocks.push(readBlock(numbers));
  }
}

// A time is 0 when it is not known, else 1 more than twice its size, and 1 more than that when it
// is before the trace began.
function readTime(numbers) {
  const value = numbers.next() - 1;
  return value < 0 ? null : value % 2 === 0 ? value / 2 : -(value - 1) / 2;
}

function readBlock(numbers) {
  const block = { size: numbers.next(), address: numbers.nextHex(), thread: numbers.next() - 1 };
  block.end = report.free_types[numbers.next()];
  block.from = readTime(numbers);
  block.to = readTime(numbers);
  return block;
}

const BLOCK_COLUMNS = ["Address", "Size", "Allocated at", "Freed at", "Lived", "Thread"];

function blockRow(block, group) {
  const { size, address, thread, end, from, to } = block;
  const freed = to === null ? "not freed" : exactSeconds(to);
  const how = end === "none" || end === "free" ? "" : ` (${end.replaceAll("-", " ")})`;
  return make(
    "tr",
    {},
    make("th", { scope: "row", class: "mono" }, address),
    numberCell(size, true),
    make("td", {}, from === null ? "before the trace" : exactSeconds(from)),
    make("td", {}, freed + how),
    make("td", {}, from === null || to === null ? "\u2013" : span(to - from)),
    make("td", {}, thread < 0 ? "\u2013" : threadLabel(thread, group)),
  );
}

// --- commands for a shell ------------------------------------------------------------------------

// Names come from traces, so a word that a shell might read in its own way stands between quotes.
// The shells of Windows have only double quotes in common; PowerShell makes a list at a comma, and
// cuts options at a full stop or colon. formats/parts/shell_words.c has the same rules.
const IS_WINDOWS = navigator.userAgent.includes("Windows");

function shellWord(word) {
  if ((IS_WINDOWS ? /^(?!-.*[.:])[\w.\-/:+]+$/ : /^[\w.\-/:+,@]+$/).test(word)) return word;
  if (!IS_WINDOWS) return `'${word.replaceAll("'", "'\\''")}'`;
  return `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, "$&$&")}"`;
}

// What the shells of Windows read between double quotes too is left to a wildcard.
function shellPattern(pattern) {
  return shellWord(IS_WINDOWS ? pattern.replace(/["$%`\u2018-\u201f]/g, "?") : pattern);
}

// Fills the places of a command. A part in brackets is left out if its place is empty.
function fillCommand(words, facts) {
  const places = {
    files: report.inputs.map(shellWord).join(" "),
    selection: report.selection.map(shellWord).join(" "),
    ...facts,
  };
  const fill = (text) => text.replace(/\{(\w+)\}/g, (_, name) => places[name] ?? "");
  return fill(
    words.replace(/\[([^\]{]*)\{(\w+)\}([^\]]*)\]/g, (_, before, name, after) =>
      (places[name] ?? "") === "" ? "" : `${before}{${name}}${after}`,
    ),
  );
}

// A guessed name stands with its distance, which is no part of it; a long one is cut in its middle.
function framePattern({ module, functionName }) {
  const name = functionName.replace(/\+0x[0-9a-f]+$/, "");
  return `${report.modules[module]}!${name}`.replaceAll("\u2026", "*");
}

// The command line that lists all of them, with the names filled in.
function blocksCommand(row) {
  const label = [...stacks[row.stack]].reverse().map((frame) => labels[labelOf[frame]]).find((one) => one.module >= 0);
  return fillCommand(report.block_advice, {
    kind: shellWord(row.group.kind),
    process: shellPattern(row.group.pid === null ? row.group.process : String(row.group.pid)),
    frame: shellPattern(label === undefined ? "*" : framePattern(label)),
  });
}

function blocksText(row) {
  const whole = row.types[0] + row.types[2] + row.types[4] + row.types[6];
  const shown = row.blocks?.length ?? 0;
  if (shown === whole) return `${whole === 1 ? "The only block" : `All ${blocks(whole)}`} of this stack in ${fileWindow()}`;
  if (shown === 0) return `None of the ${blocks(whole)} of this stack is in this file`;
  return `${count(shown)} of the ${blocks(whole)} of this stack: not freed first, then by size`;
}

// For a spreadsheet: times in seconds, empty when they are not known.
function blockLines(row) {
  const time = (ns) => (ns === null ? "" : (ns / 1e9).toFixed(9));
  return [
    ["Address", "Size (bytes)", "Allocated at (s)", "Freed at (s)", "Freed by", "Thread", "Frames"],
    ...row.blocks.map(({ address, size, from, to, end, thread }) => [
      address,
      size,
      time(from),
      time(to),
      end,
      thread < 0 ? "" : threadLabel(thread, row.group),
      stackCell(row),
    ]),
  ];
}

function blocksOf(row) {
  const cut = (row.blocks?.length ?? 0) < row.types[0] + row.types[2] + row.types[4] + row.types[6];
  const text = make("p", { class: "hint" }, blocksText(row) + (cut ? blocksCommand(row) : "."));
  if (row.blocks === undefined) return [make("div", { class: "blocks-text" }, text)];
  const head = make(
    "thead",
    {},
    make("tr", {}, ...BLOCK_COLUMNS.map((title) => make("th", { scope: "col" }, title))),
  );
  return [
    make(
      "div",
      { class: "blocks-text tools" },
      text,
      make("button", { type: "button", onclick: (event) => copyLines(event.target, blockLines(row)) }, "Copy blocks"),
      make("button", { type: "button", onclick: () => saveLines("blocks", blockLines(row)) }, "CSV"),
    ),
    make("table", { class: "blocks", "aria-label": "Blocks" }, head, make("tbody", {}, ...row.blocks.map((block) => blockRow(block, row.group)))),
  ];
}
