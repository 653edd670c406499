// The flame graph of the change between two runs: red grew, blue shrank, and a bar is as wide as either
// side has it.
//
// The tree is made of the rows of the shown kind: a row's path is its keys, then its frames, and each
// node has the sums of both sides. What the totals have above the rows is a node of its own. Lifetimes do
// not add up: in their tree a bar is as wide as the number of blocks that were freed, and has the colour
// of the change of their mean lifetime.
//
// A live view asks for the stacks that changed most of the two inputs that are compared; the page of a
// comparison has the rows of its document.

const OTHER_STACKS = "[other rows]"; // those that the page does not have one by one
const DIFFERENCE_SUMS = ["baseWidth", "newWidth", "baseSum", "newSum"];
const DIFFERENCE_WIDTHS = [
  ["new", "the new run"],
  ["base", "the base"],
  ["larger", "the larger side"],
];

defineState("differenceWidth", { default: "new", read: oneOf(...DIFFERENCE_WIDTHS.map(([value]) => value)) });
defineState("differenceTree", { default: "callees", read: oneOf("callees", "callers") });
// Numbers of children, from the top to the bar that fills the width: "0.2.1".
defineState("differenceZoom", {
  default: "",
  read: (text) => (/^(\d{1,5}(\.\d{1,5}){0,999})?$/.test(text) ? text : undefined),
});

const difference = { key: "", answer: null, root: null, leaves: new Map(), zoom: null, current: null, width: "new", box: null };

// --- the tree -------------------------------------------------------------------------------

function differenceNode(text, parent) {
  return { text, parent, depth: parent === null ? 0 : parent.depth + 1, children: new Map(), baseWidth: 0, newWidth: 0, baseSum: 0, newSum: 0 };
}

// What a row, or a total, adds to a node: its width, and the sum of its lifetimes.
function weightOf(amounts, side) {
  const { answer } = difference;
  if (!hasLifetimes(answer)) return Math.max(0, amounts[amountsOf(answer).key(side)] ?? 0);
  return isUnknown(amounts[`${side}_lifetime_mean_ns`]) ? 0 : amounts[`${side}_freed_count`];
}

function addToNode(node, amounts) {
  for (const side of ["base", "new"]) {
    const weight = weightOf(amounts, side);
    node[`${side}Width`] += weight;
    if (hasLifetimes(difference.answer)) node[`${side}Sum`] += weight * (amounts[`${side}_lifetime_mean_ns`] ?? 0);
  }
}

// What a side's bar tells: its amount, or the mean lifetime of so many blocks, which may be unknown.
function sideValue(node, side) {
  const weight = node[`${side}Width`];
  if (!hasLifetimes(difference.answer)) return weight;
  return weight > 0 ? node[`${side}Sum`] / weight : null;
}

function differencePath(answer, row) {
  const frames = comparedFrames(answer, row).map(frameText);
  if (state.differenceTree === "callees") frames.reverse();
  if ("stack" in row && frames.length === 0) frames.push(NO_STACK_TEXT);
  return [processText(row), ...otherKeyTexts(answer, row), ...frames].filter((text) => text !== "");
}

function buildDifference() {
  const { answer } = difference;
  difference.root = differenceNode(`all ${state.kind}`, null);
  difference.leaves = new Map();
  for (const row of answer.rows) {
    if (kindOfRow(row) !== state.kind) continue;
    let node = difference.root;
    addToNode(node, row);
    for (const text of differencePath(answer, row)) {
      if (!node.children.has(text)) node.children.set(text, differenceNode(text, node));
      node = node.children.get(text);
      addToNode(node, row);
    }
    difference.leaves.set(row, node);
  }
  addOtherRows(difference.root);
}

// The whole has what the totals say: rates of rows, and amounts of which some are below 0, may add up to
// more.
function addOtherRows(root) {
  const total = difference.answer.totals.find(({ kind }) => kind === state.kind);
  const whole = differenceNode(root.text, null),
    other = differenceNode(OTHER_STACKS, root);
  if (total !== undefined) addToNode(whole, total);
  for (const part of DIFFERENCE_SUMS) other[part] = Math.max(0, whole[part] - root[part]);
  if (other.baseWidth + other.newWidth > 0) root.children.set(OTHER_STACKS, other);
  for (const part of DIFFERENCE_SUMS) root[part] = whole[part];
}

// --- widths ---------------------------------------------------------------------------------

function differenceWidth(node) {
  return difference.width === "larger" ? Math.max(node.baseWidth, node.newWidth) : node[`${difference.width}Width`];
}

// Widths of children by the larger side add up to more than the parent's: they share it.
function differenceChildren(node) {
  const found = [...node.children.values()].filter((child) => differenceWidth(child) > 0);
  const sum = found.reduce((total, child) => total + differenceWidth(child), 0);
  const whole = Math.max(sum, differenceWidth(node));
  return found
    .map((child) => ({ node: child, part: differenceWidth(child) / whole }))
    .sort((a, b) => b.part - a.part || (a.node.text < b.node.text ? -1 : 1));
}

function differenceAncestors(node) {
  const path = [];
  for (let at = node.parent; at !== null; at = at.parent) path.unshift(at);
  return path;
}

// --- zoom -----------------------------------------------------------------------------------

function differenceRanks(node) {
  return [...differenceAncestors(node), node]
    .slice(1)
    .map((at) => [...at.parent.children.values()].indexOf(at))
    .join(".");
}

function differenceAt(ranks) {
  let node = difference.root;
  for (const rank of ranks === "" ? [] : ranks.split(".")) node = [...node.children.values()][Number(rank)] ?? node;
  return node;
}

function zoomDifference(node) {
  difference.current = node;
  update({ differenceZoom: differenceRanks(node) });
  announce(differenceLines(node).join(", "));
}

// Of what is gone, only the larger side has a bar.
function showInDifference(row) {
  const node = difference.leaves.get(row);
  const isDrawn = differenceWidth(node) > 0;
  difference.current = node;
  update({ differenceZoom: differenceRanks(node), ...(isDrawn ? {} : { differenceWidth: "larger" }) });
  byId("difference").scrollIntoView();
  announce(differenceLines(node).join(", "));
}

// --- what is said of a bar ------------------------------------------------------------------

function sideText(node, side) {
  const { answer } = difference;
  const value = sideValue(node, side);
  if (!hasLifetimes(answer)) return amountsOf(answer).text(value);
  if (value === null) return "nothing freed";
  return `${formatDuration(Math.round(value))} (${formatCount(node[`${side}Width`])} freed)`;
}

function differenceChange(node) {
  const [base, now] = [sideValue(node, "base"), sideValue(node, "new")];
  return base === null || now === null ? null : now - base;
}

function differenceChangeText(node) {
  const { answer } = difference;
  const change = differenceChange(node);
  if (change === null) return "change unknown";
  const text = amountsOf(answer, hasLifetimes(answer) ? "lifetime_mean_ns" : answer.measure).text;
  return `${change > 0 ? "+" : ""}${text(Math.round(change))}`;
}

function differenceLines(node) {
  const what = hasLifetimes(difference.answer) ? "mean lifetime " : "";
  return [node.text, `${what}new ${sideText(node, "new")}, base ${sideText(node, "base")}`, differenceChangeText(node)];
}

function differenceItems(node) {
  const path = [...differenceAncestors(node), node].slice(1).map(({ text }) => text);
  if (state.differenceTree === "callees") path.reverse();
  return [
    node === difference.zoom ? null : { label: "Zoom to this", act: () => zoomDifference(node) },
    { label: "Copy name", act: () => copyText(node.text, "the name") },
    path.length > 1 ? { label: "Copy stack", act: () => copyText(path.join("\n"), "the call stack") } : null,
  ];
}

// --- the part -------------------------------------------------------------------------------

const DIFFERENCE_TREES = [
  ["callees", "callees: outermost function first"],
  ["callers", "callers: innermost function first"],
];
const differenceChoices = {
  width: choiceOf("Width", DIFFERENCE_WIDTHS, "new", (width) => update({ differenceWidth: width }), "difference-width"),
  tree: choiceOf("Tree of", DIFFERENCE_TREES, "callees", (tree) => update({ differenceTree: tree, differenceZoom: "" }), "difference-tree"),
  reset: make("button", { type: "button", onclick: () => zoomDifference(difference.root) }, "Reset zoom"),
};

function drawDifferencePart(body, [answer]) {
  const key = `${state.kind} ${state.differenceTree}`;
  const isAnother = answer !== difference.answer;
  difference.answer = answer;
  if (isAnother || key !== difference.key) buildDifference();
  if (difference.key !== "" && key !== difference.key && state.differenceZoom !== "") update({ differenceZoom: "" }, { replace: true });
  difference.key = key;
  const { baseWidth, newWidth } = difference.root;
  // A side that has nothing of the kind has no widths: then the other one gives them.
  const isEmpty = state.differenceWidth !== "larger" && difference.root[`${state.differenceWidth}Width`] === 0;
  difference.width = isEmpty && baseWidth + newWidth > 0 ? "larger" : state.differenceWidth;
  const zoom = differenceAt(state.differenceZoom);
  difference.zoom = differenceWidth(zoom) > 0 ? zoom : difference.root;
  byId("difference-width").value = difference.width;
  byId("difference-tree").value = state.differenceTree;
  differenceChoices.reset.disabled = difference.zoom === difference.root;
  drawDifference(body);
}

const DIFFERENCE_ROWS = 2000; // that a live view asks for

function differenceQuestions() {
  if (state.kind === null) return null;
  if (source.compared !== null) return compared?.command === "diff" ? [comparedQuestion()] : null;
  if (baseInput() === null) return null;
  const rows = [
    ["group-by", "process,stack"],
    ["sort", compareMeasure()],
    ["all", ""],
    ["top", String(DIFFERENCE_ROWS)],
  ];
  return [{ command: "diff", options: [...comparedInputs(), ...rows, ...filterOptions()] }];
}

registerPart({
  id: "difference",
  title: "Flame graph of the change",
  nav: "Change",
  order: 81,
  lazy: true,
  tools: [differenceChoices.width, differenceChoices.tree, differenceChoices.reset],
  hint: "A click zooms to a frame. Arrow keys move, Enter zooms, Escape zooms out, M opens the menu.",
  covers: coversOfSides,
  follows: ["kind", "search", "differenceWidth", "differenceTree", "differenceZoom"],
  questions: differenceQuestions,
  draw: drawDifferencePart,
});
