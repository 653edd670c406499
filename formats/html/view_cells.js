// The cells of a static page, decoded: what each stack, heap and kind of memory did in each of the
// page's windows. formats/export/export_html_data.c says how they are written.
//
//     decodeCells(document) -> {
//       edges             N + 1 times of N windows
//       frames, stacks    as in documents: frames are objects, stacks lists of numbers of frames
//       kinds, groups, rows    each { ..., run } with what it did; a row is one stack of a group
//       threads           { group, thread, type, count, size }
//     }
//
// Sums beyond 2^53 lose their last digits here, as all numbers of a browser do.

const CELL_TYPES = ["AIFO", "AIFI", "AOFI", "AOFO"];
const CELL_WHOLE_MODULE = "0xffffffffffffffff"; // the place of a frame that stands for its module
const CELL_DIGITS = new Uint8Array(128);
[..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].forEach((digit, i) => {
  CELL_DIGITS[digit.charCodeAt(0)] = i;
});

class CellNumbers {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  get hasMore() {
    return this.at < this.text.length;
  }

  next() {
    let value = 0;
    for (let scale = 1; ; scale *= 32) {
      const digit = CELL_DIGITS[this.text.charCodeAt(this.at++)];
      value += (digit & 31) * scale;
      if (digit < 32) return value;
    }
  }

  // An address has more digits than a number has.
  nextHex() {
    let value = 0n;
    for (let shift = 0n; ; shift += 5n) {
      const digit = CELL_DIGITS[this.text.charCodeAt(this.at++)];
      value |= BigInt(digit & 31) << shift;
      if (digit < 32) return `0x${value.toString(16)}`;
    }
  }

  nextAmount() {
    return { count: this.next(), size: this.next() };
  }

  // 0 if unknown, else 1 + 2 * ns, plus 1 if negative.
  nextTime() {
    const value = this.next();
    if (value === 0) return null;
    return value % 2 === 1 ? (value - 1) / 2 : -(value - 2) / 2;
  }
}

// --- what something did in each window --------------------------------------------------------

// `at`: the windows with news. Sums of what was allocated and freed are those up to and with a
// window with news, from the first on; `above` is how far its peak is above both its ends.
class CellRun {
  constructor(numbers, news, start) {
    this.start = start;
    this.at = [];
    this.allocated = { count: [0], size: [0] };
    this.freed = { count: [0], size: [0] };
    this.above = [];
    for (let i = 0, window = -1; i < news; i++) {
      const head = numbers.next();
      window += Math.floor(head / 8) + 1;
      this.at.push(window);
      for (const [bit, sums] of [
        [1, this.allocated],
        [2, this.freed],
      ])
        for (const key of ["count", "size"]) sums[key].push(sums[key][i] + (head & bit ? numbers.next() : 0));
      this.above.push(head & 4 ? numbers.next() : 0);
    }
  }

  // How many windows with news are before a window.
  newsBefore(window) {
    let low = 0,
      high = this.at.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at[middle] < window) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // What is outstanding after so many windows with news.
  outstanding(key, news) {
    return this.start[key] + this.allocated[key][news] - this.freed[key][news];
  }

  // The sums over the windows from `first` up to, and without, `end`.
  sums(first, end) {
    const from = this.newsBefore(first),
      to = this.newsBefore(end);
    let peak = this.outstanding("size", from);
    for (let i = from; i < to; i++)
      peak = Math.max(peak, Math.max(this.outstanding("size", i), this.outstanding("size", i + 1)) + this.above[i]);
    const sums = { peak_size: peak };
    for (const key of ["count", "size"]) {
      sums[`start_${key}`] = this.outstanding(key, from);
      sums[`alloc_${key}`] = this.allocated[key][to] - this.allocated[key][from];
      sums[`freed_${key}`] = this.freed[key][to] - this.freed[key][from];
    }
    return sums;
  }
}

function cellRun(text, news, start) {
  return text === null ? null : new CellRun(new CellNumbers(text), news, start);
}

// --- frames and stacks ------------------------------------------------------------------------

// A name of the nearest function ends in how far behind it the frame is.
function namedFrame(name) {
  const match = /^(.+)\+(0x[0-9a-f]+)$/.exec(name);
  return match === null ? { symbol: name } : { symbol: match[1], nearest: true, displacement: match[2] };
}

// Offsets of frames with a name are not on the page: `number` tells apart two places in a function.
function decodeFrame(document, numbers, number) {
  const head = numbers.next();
  const module = head >= 8 ? document.modules[Math.floor(head / 8) - 1] : null;
  const frame = { module, offset: null, address: null, symbol: null, file: null, line: null, number };
  if (head & 1) Object.assign(frame, namedFrame(document.names[numbers.next()]));
  else {
    const place = numbers.nextHex();
    if (module === null) frame.address = place;
    else if (place !== CELL_WHOLE_MODULE) frame.offset = place;
  }
  if (head & 2) Object.assign(frame, { file: document.files[numbers.next()], line: numbers.next() });
  if (head & 4) frame.inlined = true;
  return frame;
}

function decodeFrames(document) {
  const numbers = new CellNumbers(document.frames);
  return Array.from({ length: document.frame_count }, (_, number) => decodeFrame(document, numbers, number));
}

// Innermost first, as in documents; they are written outermost first.
function decodeStacks(document) {
  const numbers = new CellNumbers(document.stacks);
  const stacks = [];
  let before = [],
    fresh = 0;
  for (let i = 0; i < document.stack_count; i++) {
    const stack = before.slice(0, numbers.next());
    for (let added = numbers.next(); added > 0; added--) {
      const number = numbers.next();
      stack.push(number === 0 ? fresh++ : number - 1);
    }
    stacks.push(stack.toReversed());
    before = stack;
  }
  return stacks;
}

// --- groups, rows, threads, blocks ------------------------------------------------------------

// Count and size of the four types, one after the other.
function typesOf(numbers) {
  return CELL_TYPES.map((_, i) => ({ count: numbers[2 * i], size: numbers[2 * i + 1] }));
}

function decodeGroup(group) {
  const start = { count: group.start_count, size: group.start_size };
  return {
    ...group,
    types: typesOf(group.types),
    hidden: group.hidden === undefined ? null : { rows: group.hidden.rows, types: typesOf(group.hidden.types) },
    run: cellRun(group.cells, group.news, start),
  };
}

function decodeRow(groups, numbers) {
  const group = groups[numbers.next()];
  const stack = numbers.next() - 1;
  const bits = numbers.next();
  const peak_size = numbers.next();
  const start = bits & 32 ? numbers.nextAmount() : { count: 0, size: 0 };
  const types = CELL_TYPES.map((_, i) => ((bits >> i) & 1 ? numbers.nextAmount() : { count: 0, size: 0 }));
  const run = bits & 16 ? new CellRun(numbers, numbers.next(), start) : null;
  return { group, stack: stack < 0 ? null : stack, peak_size, start, types, run, blocks: [] };
}

function decodeThreads(document, groups) {
  const numbers = new CellNumbers(document.threads);
  const names = new Map(document.thread_names.map(({ pid, thread, name }) => [`${pid} ${thread}`, name]));
  const threads = [];
  while (numbers.hasMore) {
    const group = groups[numbers.next()];
    const thread = numbers.next() - 1;
    const type = numbers.next();
    const thread_name = names.get(`${group.pid} ${thread}`) ?? null;
    threads.push({ group, thread: thread < 0 ? null : thread, thread_name, type, ...numbers.nextAmount() });
  }
  return threads;
}

function decodeBlock(document, numbers, row) {
  const size = numbers.next();
  const address = numbers.nextHex();
  const thread = numbers.next() - 1;
  const free_type = document.free_types[numbers.next()];
  const alloc_time_ns = numbers.nextTime();
  const free_time_ns = numbers.nextTime();
  const isKnown = alloc_time_ns !== null && free_time_ns !== null;
  const { kind, process, pid, heap } = row.group;
  const times = { alloc_time_ns, free_time_ns, lifetime_ns: isKnown ? free_time_ns - alloc_time_ns : null };
  return { kind, process, pid, heap, free_type, address, size, ...times, thread: thread < 0 ? null : thread };
}

function decodeBlocks(document, rows) {
  const numbers = new CellNumbers(document.blocks);
  for (let at = -1; numbers.hasMore;) {
    at += numbers.next();
    for (let left = numbers.next(); left > 0; left--) rows[at].blocks.push(decodeBlock(document, numbers, rows[at]));
  }
}

function decodeCells(document) {
  const groups = document.groups.map(decodeGroup);
  const numbers = new CellNumbers(document.rows);
  const rows = Array.from({ length: document.row_count }, () => decodeRow(groups, numbers));
  decodeBlocks(document, rows);
  return {
    document,
    edges: document.window.edges_ns,
    kinds: document.kinds.map((kind) => ({
      kind: kind.kind,
      free_without_alloc: kind.free_without_alloc,
      run: cellRun(kind.cells, kind.news, { count: kind.start_count, size: kind.start_size }),
    })),
    frames: decodeFrames(document),
    stacks: decodeStacks(document),
    groups,
    rows,
    threads: decodeThreads(document, groups),
    hiddenGroups: new Map(Object.entries(document.hidden_groups).map(([kind, { types }]) => [kind, typesOf(types)])),
  };
}
