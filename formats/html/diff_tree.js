// The data of a comparison as trees: the document that --format json writes, etlheap-diff-1.
//
// A row is a group with both sides' amounts; its path is its keys, then its frames. Every node
// of the tree has the sums of both sides, so that a bar can be as wide as either of them and have
// the colour of the change. Lifetimes do not add up: in their tree a bar is as wide as the number of
// blocks that were freed, and has the colour of their mean lifetime's change.

const diff = JSON.parse(byId("data").textContent);
const NO_STACK = "[no stack]",
  OTHER_STACKS = "[other stacks]", // those that the file does not have one by one
  NODE_SUMS = ["baseWidth", "nowWidth", "baseSum", "nowSum"];
const IS_SIZE = diff.measure.endsWith("size"),
  HAS_LIFETIMES = diff.histogram !== undefined,
  BY_LIFETIME = diff.measure.startsWith("lifetime_"),
  IS_TIME = BY_LIFETIME;
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

// What a side of a row, or of a total, adds to a node: its width, and the sum of its lifetimes.
function weightOf(amounts, side) {
  if (!BY_LIFETIME) return Math.max(0, amounts[`${side}_${diff.measure}`]);
  return amounts[`${side}_lifetime_mean_ns`] === null ? 0 : amounts[`${side}_freed_count`];
}

function lifetimeSum(amounts, side) {
  return BY_LIFETIME ? weightOf(amounts, side) * (amounts[`${side}_lifetime_mean_ns`] ?? 0) : 0;
}

const rows = diff.rows.map((row, index) => ({
  index,
  kind: isGroupedByKind ? row.kind : diff.totals[0].kind, // of one kind alone
  state: row.state,
  base: row[`base_${diff.measure}`],
  now: row[`new_${diff.measure}`],
  baseCount: COUNT_OF === null ? null : row[`base_${COUNT_OF}`],
  newCount: COUNT_OF === null ? null : row[`new_${COUNT_OF}`],
  amounts: row,
  keys: upperKeys.map((key) => keyText(row, key)),
  frames: row.stack === undefined ? null : row.stack === null ? [NO_STACK] : diff.stacks[row.stack].map((at) => frameTexts[at]),
}));

const kinds = [...new Set(rows.map((row) => row.kind))];

function rowText(row) {
  return [...row.keys, ...(row.frames ?? [])].join("\n").toLowerCase();
}

// `base` and `now` are what a bar tells: its width, or the mean lifetime of so many blocks.
function valueOf(weight, sum) {
  if (!BY_LIFETIME) return weight;
  return weight > 0 ? sum / weight : null;
}

function makeNode(text, parent) {
  return {
    text,
    parent,
    depth: parent === null ? 0 : parent.depth + 1,
    baseWidth: 0,
    nowWidth: 0,
    baseSum: 0,
    nowSum: 0,
    children: new Map(),
    isMatch: false,
    get base() {
      return valueOf(this.baseWidth, this.baseSum);
    },
    get now() {
      return valueOf(this.nowWidth, this.nowSum);
    },
  };
}

function addTo(node, amounts) {
  node.baseWidth += weightOf(amounts, "base");
  node.nowWidth += weightOf(amounts, "new");
  node.baseSum += lifetimeSum(amounts, "base");
  node.nowSum += lifetimeSum(amounts, "new");
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
    addTo(node, row.amounts);
    for (const text of path) {
      let child = node.children.get(text);
      if (child === undefined) {
        child = makeNode(text, node);
        node.children.set(text, child);
      }
      node = child;
      addTo(node, row.amounts);
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
  addTo(other, total);
  for (const part of NODE_SUMS) other[part] = Math.max(0, other[part] - root[part]);
  if (other.baseWidth + other.nowWidth === 0) return;
  root.children.set(OTHER_STACKS, other);
  for (const part of NODE_SUMS) root[part] += other[part];
}

function widthOf(node) {
  if (state.width === "larger") return Math.max(node.baseWidth, node.nowWidth);
  return state.width === "now" ? node.nowWidth : node.baseWidth;
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
