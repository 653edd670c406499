// Steps of the curve that a static page works out of its cells, as `windows` prints them, and its single
// blocks, as `allocations` does: of each call stack a few.

// --- windows ----------------------------------------------------------------------------------------

// Rows of a window: what is outstanding at its end, and what was allocated and freed in it. The
// types that a window parts these by are not known.
function windowRow(member, runs, at) {
  const row = { ...member };
  const sums = runs.map((run) => run.sums(at, at + 1));
  for (const key of ["count", "size"]) {
    const add = (name) => sums.reduce((sum, one) => sum + one[`${name}_${key}`], 0);
    row[`start_${key}`] = add("start");
    row[`alloc_${key}`] = add("alloc");
    row[`freed_${key}`] = add("freed");
    row[`outstanding_${key}`] = row[`start_${key}`] + row[`alloc_${key}`] - row[`freed_${key}`];
  }
  row.peak_size = runs.length === 1 ? sums[0].peak_size : null;
  row.peak_count = null;
  row.impacting_size = row.alloc_size - row.freed_size;
  return row;
}

function isQuiet(row) {
  return row.start_count + row.alloc_count === 0;
}

function systemMemory(cells, at) {
  const { memory, process_memory: processes } = cells.document;
  const found = {};
  if (memory !== null)
    found.memory =
      memory.available_size[at] === null
        ? null
        : { commit_size: memory.commit_size[at], available_size: memory.available_size[at] };
  if (processes.length > 0)
    found.process_memory = processes
      .map(({ process, pid, commit_size, working_set_size }) => ({
        process,
        pid,
        commit_size: commit_size[at],
        working_set_size: working_set_size[at],
      }))
      .filter((one) => one.working_set_size !== null);
  return found;
}

// Kinds and heaps have cells of their own, which have all of their stacks.
function runsOfWindows(cells, query) {
  const isGroup = groupSelector(query);
  const isPlain = query.processes.length + query.heaps.length + query.required.length + query.excluded.length === 0;
  const keys = query.keys.join();
  if (keys === "kind" && isPlain)
    return kindsOfQuery(cells, query).map((kind) => ({ item: { group: kind }, runs: [kind.run] }));
  const byStack = query.keys.some((key) => CELL_STACK_KEYS.includes(key));
  const hasFrames = query.required.length + query.excluded.length > 0;
  const things =
    byStack || hasFrames
      ? cells.rows.filter((row) => isGroup(row.group) && matchesFrames(cells, query, row.stack))
      : cells.groups.filter(isGroup).map((group) => ({ group, run: group.run }));
  const groups = new Map();
  for (const thing of things) {
    if (thing.run === null) continue;
    const id = query.keys.map((key) => keyOfItem(cells, thing, key)).join("\u0001") + `\u0001${thing.group.kind}`;
    if (!groups.has(id)) groups.set(id, { item: thing, runs: [] });
    groups.get(id).runs.push(thing.run);
  }
  return [...groups.values()];
}

// The largest by what they have at their height; of several runs together, the sum of heights.
function largestRuns(cells, groups, top) {
  const most = ({ runs }) => runs.reduce((sum, run) => sum + run.sums(0, cells.edges.length - 1).peak_size, 0);
  return groups
    .map((group) => ({ ...group, most: most(group) }))
    .sort((a, b) => b.most - a.most)
    .slice(0, top);
}

function windowsFromCells(cells, query) {
  const places = documentPlaces(cells);
  const groups = largestRuns(cells, runsOfWindows(cells, query), query.top).map(({ item, runs }) => ({
    member: membersOfItem(cells, item, query.keys, places),
    runs,
  }));
  const windowAt = (from_ns, at) => ({
    from_ns,
    to_ns: cells.edges[at + 1],
    ...systemMemory(cells, at),
    rows: groups.map(({ member, runs }) => windowRow(member, runs, at)).filter((row) => !isQuiet(row)),
  });
  const windows = cells.edges.slice(query.first, query.last).map((ns, i) => windowAt(ns, query.first + i));
  return {
    ...documentHead(cells, query, "etlheap-windows-1"),
    every_ns: cells.document.window.every_ns,
    frames: places.frames,
    stacks: places.stacks,
    windows,
    diagnostics: cells.document.diagnostics,
  };
}

// --- single blocks ----------------------------------------------------------------------------------

function typeOfBlock(block, from, to) {
  const isInside = block.alloc_time_ns !== null && block.alloc_time_ns >= from;
  const isFreed = block.free_time_ns !== null && block.free_time_ns < to;
  return `A${isInside ? "I" : "O"}F${isFreed ? "I" : "O"}`;
}

function isInWindow(block, from, to) {
  return (block.alloc_time_ns ?? -Infinity) < to && (block.free_time_ns ?? Infinity) >= from;
}

function compareBlocks(sort) {
  const name = sort.replace(/^-/, "");
  const isUp = ["address", "alloc_time", "free_time"].includes(name) !== sort.startsWith("-");
  const key = { alloc_time: "alloc_time_ns", free_time: "free_time_ns", lifetime: "lifetime_ns" }[name] ?? name;
  const value = (block) => (key === "address" ? BigInt(block.address) : block[key]);
  return (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (isUnknown(x) || isUnknown(y)) return Number(isUnknown(x)) - Number(isUnknown(y));
    return (isUp ? 1 : -1) * (x < y ? -1 : x > y ? 1 : 0);
  };
}

// "0x10" or "0x10..0x20".
function addressPredicate(text) {
  if (text === undefined) return () => true;
  const [first, last = first] = text.split("..").map((word) => BigInt(word));
  return ({ address, size }) => BigInt(address) <= last && BigInt(address) + BigInt(Math.max(1, size)) > first;
}

// The page has a few blocks of each stack, so this is a part of what the command lists.
function blocksFromCells(cells, query) {
  const isGroup = groupSelector(query);
  const isAt = addressPredicate(valueOf(query.options, "address"));
  const [from, to] = [cells.edges[query.first], cells.edges[query.last]];
  const places = documentPlaces(cells);
  const found = [];
  for (const row of cells.rows) {
    if (!isGroup(row.group) || row.blocks.length === 0 || !matchesFrames(cells, query, row.stack)) continue;
    for (const block of row.blocks) {
      const type = typeOfBlock(block, from, to);
      const isSelected = query.types.length === 0 || query.types.includes(type);
      if (isInWindow(block, from, to) && isSelected && isAt(block)) found.push({ ...block, type, at: row.stack });
    }
  }
  found.sort(compareBlocks(query.sort));
  const rows = found.slice(query.skip, query.skip + query.top).map(({ at, ...block }) => ({
    ...block,
    impacting_type: CELL_IMPACTING[block.type],
    stack: at === null ? null : places.stack(at),
    free_thread: null,
    free_stack: null,
  }));
  const head = documentHead(cells, query, "etlheap-allocations-1");
  return { ...head, rows, frames: places.frames, stacks: places.stacks, on_page: found.length, diagnostics: [] };
}
