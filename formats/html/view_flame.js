// The flame graph: the call tree of `report --tree`, and what can be done with its functions.
//
// Nodes are numbered as in the document, plus one: node 0 stands for all of the kind. Their order
// is depth first, so a subtree is a run of numbers. A node has the value that the document states
// and a weight, which is its share of the width: never less than the weights of its children, so
// that a node of Impacting Size whose children grow and shrink holds the bars of those that grow.
//
// The command leaves out nodes below a share of their process. The share is raised until the tree
// has at most FLAME_NODES_MAX nodes; what fits a question is remembered, so that it is asked once.

const FLAME_NODES_MAX = 5000;
const FLAME_SHARES = ["0.2", "0.5", "1", "2", "5", "10", "20"];
const FLAME_MEASURES = {
  outstanding_size: "Outstanding Size",
  outstanding_count: "Outstanding Count",
  impacting_size: "Impacting Size",
  size: "Size",
  count: "Count",
};

// Stacks are those that allocated, or those that freed what was freed in the window.
const FLAME_STACKS = [
  ["alloc", "stacks that allocated"],
  ["free", "stacks that freed"],
];
const FREED_MEASURES = ["size", "count"];
defineState("stacks", { default: "alloc", read: oneOf(...FLAME_STACKS.map(([value]) => value)) });

// Ranks of children, from the top to the node that fills the width: "0.2.1".
defineState("flameZoom", {
  default: "",
  read: (text) => (/^(\d{1,4}(\.\d{1,4}){0,999})?$/.test(text) ? text : undefined),
});

const flame = {
  shares: new Map(), // what is left out, by question
  document: null,
  found: null, // the question about what is searched for, and its sum
  metric: "outstanding_size",
  parent: [],
  value: [],
  weight: [],
  end: [],
  depth: [],
  whole: 0,
  cutValue: 0,
  zoom: 0,
  zoomNames: [],
  zoomWritten: "",
  isPlacing: false, // the zoom is written to the address before the drawing
  current: 0, // the node that the line of details tells of
  width: 1000,
  box: null,
};

// --- questions ------------------------------------------------------------------------------

function isOfFrees() {
  return state.stacks === "free" && canDrawFrees();
}

// Of handles only the number is known.
function flameMetric() {
  if (isOfFrees()) return state.kind === "handle" || (source.isLive && state.metric.endsWith("count")) ? "count" : "size";
  if (state.kind === "handle") return state.metric === "count" ? "count" : "outstanding_count";
  return state.metric in FLAME_MEASURES ? state.metric : "outstanding_size";
}

function flameOptions(share) {
  return [
    ["tree", state.tree === "callers" ? "callers" : ""],
    ["sort", flameMetric()],
    ["tree-min", share],
    ...(state.root === null || (isOfFrees() && !source.isLive) ? [] : [["root", state.root]]),
    ...flameSelection("process"),
  ];
}

// Which blocks, and by which of their stacks, below a key. A search marks stacks, and leaves out none.
function flameSelection(key) {
  const filters = filterOptions({ search: false });
  if (!isOfFrees()) return key === "process" ? filters : [["group-by", `${key},stack`], ...filters];
  const types = filters.some(([name]) => name === "type") ? [] : [["type", "AIFI,AOFI"]];
  return [["group-by", `${key},free_stack`], ...filters, ...types];
}

// A summary has no blocks, and a static page has whole trees of frees.
function canDrawFrees() {
  return !isSummary() && source.can("report", freesTreeOptions(state.tree));
}

function freesTreeOptions(tree) {
  const sort = state.kind === "handle" ? "count" : "size";
  const own = [["tree", tree === "callers" ? "callers" : ""], ["sort", sort], ["tree-min", FLAME_SHARES[0]]];
  return [...own, ["group-by", "process,free_stack"], ["type", "AIFI,AOFI"], ["kind", state.kind]];
}

function showFlameOfFrees() {
  update({ stacks: "free", root: null, flameZoom: "" });
  byId("flame").scrollIntoView();
  announce("The flame graph is of the call stacks that freed");
}

function flameQuestionKey() {
  return JSON.stringify([state.input, flameOptions("")]);
}

function flameQuestions() {
  if (state.kind === null) return null;
  const share = flame.shares.get(flameQuestionKey()) ?? FLAME_SHARES[0];
  const questions = [{ command: "report", options: flameOptions(share) }];
  // The stacks below a root that are found cannot be asked for.
  if (!isNarrowing() || state.root !== null || isOfFrees()) return questions;
  const columns = ["group-by", "kind"];
  return [...questions, { command: "report", options: [columns, ["columns", flameMetric()], ...filterOptions()] }];
}

// The question is corrected in place, so that the section names the command that prints what is
// shown.
async function askFlame(document, context) {
  const key = flameQuestionKey();
  const question = context.questions[0];
  let at = FLAME_SHARES.indexOf(valueOf(question.options, "tree-min"));
  while (document.nodes.length > FLAME_NODES_MAX && at + 1 < FLAME_SHARES.length) {
    const options = flameOptions(FLAME_SHARES[++at]);
    document = await context.ask(question.command, options);
    question.options = options;
    if (flame.shares.size > 200) flame.shares.clear();
    flame.shares.set(key, FLAME_SHARES[at]);
  }
  return document;
}

// --- the tree -------------------------------------------------------------------------------

function flameTotal(sums) {
  return sums?.find((sum) => sum.kind === state.kind)?.[flame.metric] ?? 0;
}

function buildFlame(document) {
  const { nodes } = document;
  const size = nodes.length + 1;
  const metric = (flame.metric = flameMetric());
  flame.document = document;
  flame.whole = flameTotal(document.totals);
  flame.parent = [-1, ...nodes.map((node) => (node.parent === null ? 0 : node.parent + 1))];
  flame.value = [flameTotal(document.sums ?? document.totals), ...nodes.map((node) => node[metric] ?? 0)];
  flame.depth = new Array(size).fill(0);
  flame.end = Array.from({ length: size }, (_, i) => i + 1);
  for (let i = 1; i < size; i++) flame.depth[i] = flame.depth[flame.parent[i]] + 1;
  sumFlame(nodes, size, metric);
}

// A parent comes before its children, so one pass backwards adds them up.
function sumFlame(nodes, size, metric) {
  const below = new Array(size).fill(0);
  const cut = flame.value.map((value, i) => value - (i === 0 ? 0 : (nodes[i - 1].exclusive[metric] ?? 0)));
  flame.weight = new Array(size).fill(0);
  for (let i = size - 1; i >= 0; i--) {
    flame.weight[i] = Math.max(0, flame.value[i], below[i]);
    if (i === 0) break;
    below[flame.parent[i]] += flame.weight[i];
    cut[flame.parent[i]] -= flame.value[i];
    flame.end[flame.parent[i]] = Math.max(flame.end[flame.parent[i]], flame.end[i]);
  }
  flame.cutValue = cut.reduce((sum, value) => sum + value, 0);
}

// As the document has them: the largest first.
function flameChildren(node) {
  const found = [];
  for (let child = node + 1; child < flame.end[node]; child = flame.end[child]) found.push(child);
  return found;
}

function flameAncestors(node) {
  const path = [];
  for (let at = flame.parent[node]; at >= 0; at = flame.parent[at]) path.unshift(at);
  return path;
}

function flameFrame(node) {
  const frame = node === 0 ? undefined : flame.document.nodes[node - 1].frame;
  return isUnknown(frame) ? null : flame.document.frames[frame];
}

// The function comes first and its module after it: of a narrow bar only the beginning is seen.
function flameNames(node) {
  if (node === 0) return [state.root === null ? `all ${state.kind}` : `all ${state.kind} through ${state.root}`];
  const frame = flameFrame(node);
  if (frame !== null)
    return isUnknown(frame.symbol) ? [frameText(frame)] : [frame.symbol, frame.module ?? "unknown module"];
  const row = flame.document.nodes[node - 1];
  return [row.parent === null ? processText(row) : NO_STACK_TEXT];
}

function flameText(node) {
  const frame = flameFrame(node);
  return frame === null ? flameNames(node)[0] : frameText(frame);
}

function flameAmount(value) {
  return measureText(flame.metric, value);
}

function flameExact(value) {
  return exactText(flame.metric, value) ?? formatCount(value);
}

// --- zoom -----------------------------------------------------------------------------------

function flameRanks(node) {
  return [...flameAncestors(node), node]
    .slice(1)
    .map((at) => flameChildren(flame.parent[at]).indexOf(at))
    .join(".");
}

function flameAtRanks(ranks) {
  let node = 0;
  for (const rank of ranks === "" ? [] : ranks.split(".")) node = flameChildren(node)[Number(rank)] ?? node;
  return node;
}

// Where the same functions are in another tree, or as far as they are there.
function flameAtNames(names) {
  let node = 0;
  for (const name of names) {
    const next = flameChildren(node).find((child) => flameText(child) === name);
    if (next === undefined) break;
    node = next;
  }
  return node;
}

// A zoom from the address is a place in this tree. Otherwise the tree has become another one under
// the same zoom, and the functions are looked for.
function placeFlameZoom() {
  const isGiven = state.flameZoom !== flame.zoomWritten;
  keepFlameZoom(isGiven ? flameAtRanks(state.flameZoom) : flameAtNames(flame.zoomNames));
}

function keepFlameZoom(node) {
  flame.zoom = node;
  flame.zoomNames = [...flameAncestors(node), node].slice(1).map(flameText);
  flame.zoomWritten = flameRanks(node);
  flame.isPlacing = true;
  if (flame.zoomWritten !== state.flameZoom) update({ flameZoom: flame.zoomWritten }, { replace: true });
  flame.isPlacing = false;
}

function zoomFlame(node) {
  flame.current = node;
  update({ flameZoom: flameRanks(node) });
  announce(`${flameText(node)}, ${flameAmount(flame.value[node])}`);
}

// --- what a bar offers ----------------------------------------------------------------------

// Filters of frames look at the stacks that allocated.
function flameFrameItems(frame) {
  if (!isOfFrees()) return [...frameItems(frame), freersItem([frame], false)];
  const pattern = framePattern(frame);
  if (pattern === null || isUnknown(frame.symbol)) return [];
  return [
    { label: "Callers and callees", act: () => showFocus(pattern) },
    source.isLive ? { label: "Begin the flame graph here", act: () => showRoot(pattern) } : null,
  ];
}

function flameItems(node) {
  const frame = flameFrame(node);
  const copied = [...flameAncestors(node), node].slice(1).map(flameText);
  if (state.tree === "callees") copied.reverse();
  return [
    node === flame.zoom ? null : { label: "Zoom to this", act: () => zoomFlame(node) },
    ...(frame === null ? [] : flameFrameItems(frame)),
    ...(node > 0 && frame === null ? keyItems(flame.document.nodes[node - 1], "process") : []),
    { label: "Copy name", act: () => copyText(flameText(node), "the name") },
    copied.length > 1 ? { label: "Copy stack", act: () => copyText(copied.join("\n"), "the call stack") } : null,
  ];
}

// --- search ---------------------------------------------------------------------------------

// Nodes that match, and their sum: a match below another is in that one's value.
function searchFlame() {
  const words = state.search.toLowerCase();
  const matches = new Set();
  let sum = 0,
    covered = 0;
  if (words === "") return { matches, sum };
  for (let node = 1; node < flame.value.length; node++) {
    if (!flameText(node).toLowerCase().includes(words)) continue;
    matches.add(node);
    if (node < covered) continue;
    sum += flame.value[node];
    covered = flame.end[node];
  }
  return { matches, sum };
}

// What the stacks that are found have together, in bars or not.
function flameFoundSum(answer) {
  return answer.totals.find((one) => one.kind === state.kind)?.[flameMetric()] ?? 0;
}

// --- the part -------------------------------------------------------------------------------

const FLAME_TREES = [
  ["callees", "callees: outermost function first"],
  ["callers", "callers: innermost function first"],
];
const flameChoices = {
  metric: choiceOf("Measure", [], null, (metric) => update({ metric }), "flame-metric"),
  stacks: choiceOf("Of", FLAME_STACKS, "alloc", (stacks) => update({ stacks, root: null, flameZoom: "" }), "flame-stacks"),
  tree: choiceOf("Tree of", FLAME_TREES, "callees", (tree) => update({ tree, flameZoom: "" }), "flame-tree"),
  reset: make("button", { type: "button", onclick: () => zoomFlame(0) }, "Reset zoom"),
  root: make("button", { type: "button", onclick: () => update({ root: null, flameZoom: "" }) }, "Whole stacks"),
};

function drawFlameChoices() {
  const isOffered = (key) =>
    (state.kind !== "handle" || key.endsWith("count")) && (!isOfFrees() || FREED_MEASURES.includes(key));
  const measures = Object.entries(FLAME_MEASURES).filter(([key]) => isOffered(key));
  flameChoices.stacks.hidden = !canDrawFrees();
  byId("flame-stacks").value = isOfFrees() ? "free" : "alloc";
  clear(byId("flame-metric")).append(...measures.map(([value, title]) => make("option", { value }, title)));
  byId("flame-metric").value = flame.metric;
  byId("flame-tree").value = state.tree;
  flameChoices.reset.disabled = flame.zoom === 0;
  flameChoices.root.hidden = state.root === null;
}

async function drawFlamePart(body, [first, found], context) {
  if (flame.isPlacing) return;
  flame.found = found === undefined ? null : { question: context.questions[1], value: flameFoundSum(found) };
  if (!context.isRedraw || flame.document === null) {
    buildFlame(await askFlame(first, context));
    placeFlameZoom();
    flame.current = flame.zoom;
  } else if (state.flameZoom !== flame.zoomWritten) keepFlameZoom(flameAtRanks(state.flameZoom));
  drawFlameChoices();
  drawFlame(body);
}

registerPart({
  id: "flame",
  title: "Flame graph",
  order: 30,
  first: true,
  lazy: true,
  text: true,
  follows: ["search", "flameZoom"],
  marksSearch: true,
  hint: "A click zooms to a function. Arrow keys move, Enter zooms, Escape zooms out, M opens the menu.",
  tools: [
    flameChoices.metric,
    flameChoices.stacks,
    flameChoices.tree,
    flameChoices.root,
    flameChoices.reset,
  ],
  questions: flameQuestions,
  draw: drawFlamePart,
});
