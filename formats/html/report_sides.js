// Who freed, and how often is allocated: the lists of the document, as rows with names.
//
// Frames of stacks that freed become frames like all others, so that the search, the colours and the
// flame graph know them: what they show is a function's label, wherever the function was met.

const sideLabels = new Map(labels.map((label, i) => [label.text, i]));

function sideName(number) {
  return number === 0 ? null : report.side_names[number - 1];
}

// A module, and a function of it or a place in it; a module alone; or an address.
function labelOfText(text) {
  const known = sideLabels.get(text);
  if (known !== undefined) return known;
  const at = text.indexOf("!");
  const end = at >= 0 ? at : text.lastIndexOf("+0x");
  const moduleName = end >= 0 ? text.slice(0, end) : report.modules.includes(text) ? text : null;
  if (moduleName !== null && !report.modules.includes(moduleName)) report.modules.push(moduleName);
  const module = moduleName === null ? -1 : report.modules.indexOf(moduleName);
  labels.push({ text, module, functionName: at >= 0 ? text.slice(at + 1) : "" });
  sideLabels.set(text, labels.length - 1);
  return labels.length - 1;
}

const sideFrames = new Map(); // by number of a name

function sideFrame(number) {
  if (!sideFrames.has(number)) {
    labelOf[frames.length] = labelOfText(sideName(number));
    sideFrames.set(number, frames.length);
    frames.push({ file: -1, line: 0, isInlined: false });
  }
  return sideFrames.get(number);
}

// The number of a stack, which is listed innermost first.
function sideStack(numbers) {
  if (numbers === null) return -1;
  stacks.push([...numbers].reverse().map(sideFrame));
  return stacks.length - 1;
}

// `keys`: what a row has behind its kind and process; `sums`: names of the numbers behind these.
function sideRows(list, keys, sums) {
  return (list?.rows ?? []).map((cells) => {
    const row = { kind: sideName(cells[0]), process: sideName(cells[1]) };
    keys.forEach((key, i) => (row[key] = cells[2 + i]));
    sums.forEach((sum, i) => (row[sum] = cells[2 + keys.length + i]));
    return row;
  });
}

const FREE_SUMS = ["count", "size", "outstanding", "byOther"];
const CHURN_SUMS = ["allocs", "allocSize", "frees", "freeSize", "temporary", "temporarySize", "in10", "in1ms"];

const freeStackRows = sideRows(report.frees?.stacks, ["stack"], FREE_SUMS).map((row, i) => ({
  ...row,
  index: `f${i}`,
  stack: sideStack(row.stack),
  group: { kind: row.kind, processLabel: row.process, label: row.process },
}));

const unmatchedRows = sideRows(report.frees?.unmatched, ["stack"], ["count"]).map((row) => ({
  ...row,
  stack: sideStack(row.stack),
}));
