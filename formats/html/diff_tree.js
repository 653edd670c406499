// The data of a comparison as trees: the document that --format json writes, etlheap-diff-1.
//
// A row is a group with both sides' amounts; its path is its keys, then its frames. Every node
// of the tree has the sums of both sides, so that a bar can be as wide as either of them and have
// the colour of the change.

const diff = JSON.parse(byId("data").textContent);
const NO_STACK = "[no stack]",
  OTHER_STACKS = "[other stacks]"; // those that the file does not have one by one
const IS_SIZE = diff.measure.endsWith("size");
const COUNT_OF = { outstanding_size: "outstanding_count", size: "count" }[diff.measure] ?? null;

const state = { kind: null, width: "now", direction: "callees", zoom: null, search: "", shown: 50 };

const frameTexts = diff.frames.map(frameText);
const isGroupedByKind = diff.group_by.includes("kind");
const upperKeys = diff.group_by.filter((key) => key !== "kind" && key !== "stack");

function keyText(row, key) {
  const value = row[key];
  if (value === null || value === undefined) return `[no ${key}]`;
  return typeof value === "object" ? frameText(value) : String(value);
}

const rows = diff.rows.map((row, index) => ({
  index,
  kind: isGroupedByKind ? row.kind : diff.totals[0].kind, // of one kind alone
  state: row.state,
  base: row[`base_${diff.measure}`],
  now: row[`new_${diff.measure}`],
  baseCount: COUNT_OF === null ? null : row[`base_${COUNT_OF}`],
  newCount: COUNT_OF === null ? null : row[`new_${COUNT_OF}`],
  keys: upperKeys.map((key) => keyText(row, key)),
  frames: row.stack === undefined ? null : row.stack === null ? [NO_STACK] : diff.stacks[row.stack].map((at) => frameTexts[at]),
}));

const kinds = [...new Set(rows.map((row) => row.kind))];

function rowText(row) {
  return [...row.keys, ...(row.frames ?? [])].join("\n").toLowerCase();
}

function makeNode(text, parent) {
  return { text, parent, depth: parent === null ? 0 : parent.depth + 1, base: 0, now: 0, children: new Map(), isMatch: false };
}

function addTo(node, row) {
  node.base += Math.max(0, row.base);
  node.now += Math.max(0, row.now);
}

// Every row of the kind; leaves by row, so that the table finds them.
function buildTree() {
  const root = makeNode(`all ${state.kind}`, null),
    leaves = new Map();
  for (const row of rows) {
    if (row.kind !== state.kind) continue;
    const frames = row.frames ?? [];
    const path = [...row.keys, ...(state.direction === "callees" ? [...frames].reverse() : frames)];
    let node = root;
    addTo(node, row);
    for (const text of path) {
      let child = node.children.get(text);
      if (child === undefined) {
        child = makeNode(text, node);
        node.children.set(text, child);
      }
      node = child;
      addTo(node, row);
    }
    leaves.set(row.index, node);
  }
  addOthers(root);
  return { root, leaves };
}

// What the totals of the kind have above the rows.
function addOthers(root) {
  const total = diff.totals.find((one) => one.kind === state.kind);
  const other = makeNode(OTHER_STACKS, root);
  other.base = Math.max(0, total[`base_${diff.measure}`] - root.base);
  other.now = Math.max(0, total[`new_${diff.measure}`] - root.now);
  if (other.base + other.now === 0) return;
  root.children.set(OTHER_STACKS, other);
  root.base += other.base;
  root.now += other.now;
}

function widthOf(node) {
  if (state.width === "larger") return Math.max(node.base, node.now);
  return state.width === "now" ? node.now : node.base;
}

// Widths of children by the larger side add up to more than the parent's: they share it.
function childrenOf(node) {
  const found = [...node.children.values()].filter((child) => widthOf(child) > 0);
  const sum = found.reduce((total, child) => total + widthOf(child), 0);
  const whole = Math.max(sum, widthOf(node));
  return found
    .map((child) => ({ node: child, part: widthOf(child) / whole }))
    .sort((a, b) => b.part - a.part || (a.node.text < b.node.text ? -1 : 1));
}
