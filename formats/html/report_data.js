// What the page knows: the document of the exporter, decoded once.
//
// Numbers are written as the comment of export_html_code.h says. Sums beyond 2^53
// lose their last digits here, as all numbers of a browser do.
"use strict";

const report = JSON.parse(document.getElementById("data").textContent);
const AIFO = 0,
  AIFI = 1,
  AOFI = 2,
  AOFO = 3;
const TYPES = [
  ["AIFO", "Impacting: allocated inside, not freed by the end"],
  ["AIFI", "Transient: allocated and freed inside"],
  ["AOFI", "Impacting: allocated before, freed inside"],
  ["AOFO", "Persistent: allocated before, not freed by the end"],
];
const WINDOWS = report.window.edges_ns.length - 1;

const DIGITS = new Uint8Array(128);
[..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].forEach((c, i) => {
  DIGITS[c.charCodeAt(0)] = i;
});

class Numbers {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  get more() {
    return this.at < this.text.length;
  }

  next() {
    let value = 0;
    for (let scale = 1; ; scale *= 32) {
      const digit = DIGITS[this.text.charCodeAt(this.at++)];
      value += (digit & 31) * scale;
      if (digit < 32) return value;
    }
  }

  // An address has more digits than a number has.
  nextHex() {
    let value = 0n;
    for (let shift = 0n; ; shift += 5n) {
      const digit = DIGITS[this.text.charCodeAt(this.at++)];
      value |= BigInt(digit & 31) << shift;
      if (digit < 32) return `0x${value.toString(16)}`;
    }
  }
}

// --- frames and stacks ---------------------------------------------------------------

// Frames of one function are one label, wherever in it they are. Without a name a
// frame is one by its place.
const WHOLE_MODULE = "0xffffffffffffffff"; // the place of a frame that stands for its module
const frames = [];
const labels = [];
const labelOf = [];
{
  const known = new Map();
  const numbers = new Numbers(report.frames);
  while (numbers.more) {
    const head = numbers.next();
    const module = Math.floor(head / 8) - 1;
    const place = head & 1 ? numbers.next() : numbers.nextHex();
    const key = `${module} ${place}`;
    let label = known.get(key);
    if (label === undefined) {
      label = labels.length;
      known.set(key, label);
      labels.push({
        text: frameText(module, place),
        module,
        functionName: module >= 0 && typeof place === "number" ? report.names[place] : "",
      });
    }
    labelOf[frames.length] = label;
    frames.push({
      file: head & 2 ? numbers.next() : -1,
      line: head & 2 ? numbers.next() : 0,
      isInlined: (head & 4) !== 0,
    });
  }
}

function frameText(module, place) {
  if (module < 0) return place;
  if (place === WHOLE_MODULE) return report.modules[module];
  return report.modules[module] + (typeof place === "number" ? `!${report.names[place]}` : `+${place}`);
}

// Frames of a stack, outermost first.
const stacks = [];
{
  const numbers = new Numbers(report.stacks);
  let before = [],
    fresh = 0;
  for (let i = 0; i < report.stack_count; i++) {
    const shared = numbers.next();
    const added = numbers.next();
    const stack = before.slice(0, shared);
    for (let k = 0; k < added; k++) {
      const number = numbers.next();
      stack.push(number === 0 ? fresh++ : number - 1);
    }
    stacks.push(stack);
    before = stack;
  }
}

function frameSource(frame) {
  const { file, line, isInlined } = frames[frame];
  return (file < 0 ? "" : ` ${report.files[file]}:${line}`) + (isInlined ? " [inlined]" : "");
}

// --- what happens in windows -----------------------------------------------------------

// Cells as sums up to and with each window that has news: `at` its windows.
class Cells {
  constructor(numbers, news, startCount, startSize) {
    this.startCount = startCount;
    this.startSize = startSize;
    this.at = [];
    this.allocCount = [0];
    this.allocSize = [0];
    this.freeCount = [0];
    this.freeSize = [0];
    this.peak = [];
    for (let i = 0, window = -1; i < news; i++) {
      const head = numbers.next();
      window += Math.floor(head / 8) + 1;
      this.at.push(window);
      this.allocCount.push(this.allocCount[i] + (head & 1 ? numbers.next() : 0));
      this.allocSize.push(this.allocSize[i] + (head & 1 ? numbers.next() : 0));
      this.freeCount.push(this.freeCount[i] + (head & 2 ? numbers.next() : 0));
      this.freeSize.push(this.freeSize[i] + (head & 2 ? numbers.next() : 0));
      this.peak.push(Math.max(this.sizeAt(i), this.sizeAt(i + 1)) + (head & 4 ? numbers.next() : 0));
    }
  }

  // Outstanding after the first i windows with news.
  sizeAt(i) {
    return this.startSize + this.allocSize[i] - this.freeSize[i];
  }
  countAt(i) {
    return this.startCount + this.allocCount[i] - this.freeCount[i];
  }

  // How many windows with news lie before this one.
  before(window) {
    let low = 0,
      high = this.at.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at[middle] < window) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // What happens in the windows from `from` on and before `to`.
  over(from, to) {
    const low = this.before(from),
      high = this.before(to);
    let peak = this.sizeAt(low);
    for (let i = low; i < high; i++) peak = Math.max(peak, this.peak[i]);
    return {
      startSize: this.sizeAt(low),
      endSize: this.sizeAt(high),
      endCount: this.countAt(high),
      allocCount: this.allocCount[high] - this.allocCount[low],
      allocSize: this.allocSize[high] - this.allocSize[low],
      freeCount: this.freeCount[high] - this.freeCount[low],
      freeSize: this.freeSize[high] - this.freeSize[low],
      peak,
    };
  }

  // Outstanding at each edge of the windows.
  curve() {
    const sizes = new Float64Array(WINDOWS + 1);
    let i = 0;
    for (let window = 0; window <= WINDOWS; window++) {
      while (i < this.at.length && this.at[i] < window) i++;
      sizes[window] = this.sizeAt(i);
    }
    return sizes;
  }

  // The most that is outstanding in each window.
  peaks() {
    const sizes = this.curve();
    const peaks = sizes.slice(0, WINDOWS);
    this.at.forEach((window, i) => {
      peaks[window] = this.peak[i];
    });
    return peaks;
  }
}

function addCurve(sum, curve, sign = 1) {
  for (let i = 0; i < sum.length; i++) sum[i] += sign * curve[i];
  return sum;
}

// --- rows ------------------------------------------------------------------------------------

const kinds = report.kinds
  .map((kind) => ({ ...kind, cells: cellsOf(kind) }))
  .sort((a, b) => kindRank(a.kind) - kindRank(b.kind));

function kindRank(kind) {
  return ["heap", "virtualalloc", "extent"].indexOf(kind);
}

const groups = report.groups.map((group, index) => ({
  ...group,
  index,
  processLabel: group.pid === null ? group.process : `${group.process} (${group.pid})`,
  cells: cellsOf(group),
  rows: [],
}));
for (const group of groups)
  group.label = group.heap === null ? group.processLabel : `${group.processLabel} ${group.heap}`;

function cellsOf({ cells, news, start_count, start_size }) {
  return cells === null ? null : new Cells(new Numbers(cells), news, start_count, start_size);
}

const rows = [];
{
  const numbers = new Numbers(report.rows);
  while (numbers.more) {
    const row = {
      index: rows.length,
      group: groups[numbers.next()],
      stack: numbers.next() - 1,
      startSize: 0,
      cells: null,
    };
    const bits = numbers.next();
    row.peakSize = numbers.next();
    const startCount = bits & 32 ? numbers.next() : 0;
    if (bits & 32) row.startSize = numbers.next();
    row.types = [0, 0, 0, 0, 0, 0, 0, 0];
    for (let type = 0; type < 4; type++) {
      if (((bits >> type) & 1) === 0) continue;
      row.types[2 * type] = numbers.next();
      row.types[2 * type + 1] = numbers.next();
    }
    if (bits & 16) row.cells = new Cells(numbers, numbers.next(), startCount, row.startSize);
    rows.push(row);
    row.group.rows.push(row);
  }
}

// All of a kind over the whole trace, by type: count and size, one after the other.
function typesOfKind(kind) {
  const sum = [0, 0, 0, 0, 0, 0, 0, 0];
  const add = (types) =>
    types.forEach((value, i) => {
      sum[i] += value;
    });
  for (const group of groups) if (group.kind === kind) add(group.types);
  if (report.hidden_groups[kind]) add(report.hidden_groups[kind].types);
  return sum;
}
for (const kind of kinds) kind.types = typesOfKind(kind.kind);

function outstandingSize(types) {
  return types[2 * AIFO + 1] + types[2 * AOFO + 1];
}
function outstandingCount(types) {
  return types[2 * AIFO] + types[2 * AOFO];
}
function impactingSize(types) {
  return types[2 * AIFO + 1] - types[2 * AOFI + 1];
}
