// The flame graph: all stacks of a kind as one tree, drawn with its root at the top.
//
// Nodes are numbered so that a parent comes before its children and a subtree is a
// run of numbers: values are added up in one pass backwards, and "is below" is a
// comparison. Only bars that are wide enough to be seen become elements.

const BAR_HEIGHT = 22,
  BAR_WIDTH_MIN = 2.5,
  FLAME_DEPTH_MAX = 400,
  LEVELS_ON_PAPER = 44; // the height of #flame-tree in print
const NO_STACK = "[no stack]",
  OTHER_STACKS = "[other stacks]";

const FLAME_METRICS = [
  ["endSize", "outstanding at the end"],
  ["net", "growth"],
  ["allocSize", "allocated"],
  ["freeSize", "freed"],
];
// The same graph of the stacks that freed: the whole trace, which the table is not narrowed to.
if (freeStackRows.some((row) => row.stack >= 0)) FLAME_METRICS.push([FREED_BY, "freed, by the stack that freed"]);

const flame = {
  direction: "callees",
  metric: "endSize",
  tree: null,
  values: null,
  matched: null,
  bars: new Map(),
  current: 0,
};

// --- the tree ----------------------------------------------------------------------------

// Children are met in any order first; then nodes are numbered anew, depth first.
function buildFlame() {
  const parent = [-1],
    label = [-1],
    process = [null],
    depth = [0],
    known = new Map(),
    leafOf = new Map();
  const texts = new Map();
  const child = (at, key, text, labelIndex) => {
    const name = `${at} ${key}`;
    let node = known.get(name);
    if (node === undefined) {
      node = parent.length;
      known.set(name, node);
      parent.push(at);
      label.push(labelIndex);
      depth.push(depth[at] + 1);
      if (text !== null) texts.set(node, text);
    }
    return node;
  };
  const paths = new Map();
  for (const row of flameRows()) {
    let at = child(0, `p${row.group.processLabel}`, row.group.processLabel, -1);
    const path = `${at} ${row.stack}`;
    let leaf = paths.get(path);
    if (leaf === undefined) {
      if (row.stack < 0) at = child(at, "none", NO_STACK, -1);
      const frames = row.stack < 0 ? [] : stacks[row.stack];
      for (let i = 0; i < frames.length; i++) {
        const frame = frames[flame.direction === "callees" ? i : frames.length - 1 - i];
        at = child(at, labelOf[frame], null, labelOf[frame]);
      }
      leaf = at;
      paths.set(path, leaf);
    }
    leafOf.set(row.index, leaf);
  }
  const other = child(0, "other", OTHER_STACKS, -1);
  return numberFlame({ parent, label, process, depth, texts, leafOf, other });
}

function numberFlame(tree) {
  const size = tree.parent.length;
  const children = Array.from({ length: size }, () => []);
  for (let i = 1; i < size; i++) children[tree.parent[i]].push(i);
  const number = new Int32Array(size),
    end = new Int32Array(size),
    order = [];
  const pending = [0];
  while (pending.length > 0) {
    const node = pending.pop();
    number[node] = order.length;
    order.push(node);
    for (let i = children[node].length - 1; i >= 0; i--) pending.push(children[node][i]);
  }
  const parent = new Int32Array(size),
    label = new Int32Array(size),
    depth = new Int32Array(size),
    texts = new Map();
  order.forEach((node, i) => {
    parent[i] = node === 0 ? -1 : number[tree.parent[node]];
    label[i] = tree.label[node];
    depth[i] = tree.depth[node];
    if (tree.texts.has(node)) texts.set(i, tree.texts.get(node));
  });
  for (let i = size - 1; i >= 0; i--) {
    end[i] = Math.max(end[i], i + 1);
    if (i > 0) end[parent[i]] = Math.max(end[parent[i]], end[i]);
  }
  const leafOf = new Map();
  for (const [row, leaf] of tree.leafOf) leafOf.set(row, number[leaf]);
  return { size, parent, label, depth, texts, end, leafOf, other: number[tree.other] };
}

function flameText(node) {
  return flameParts(node).join(" in ");
}

// The function comes first and its module after it: of a narrow bar only the beginning is
// seen, and neighbours are mostly of one module.
function flameParts(node) {
  if (node === 0) return [`all ${state.kind.kind}`];
  const label = labels[flame.tree.label[node]];
  if (label === undefined) return [flame.tree.texts.get(node)];
  return label.functionName === "" ? [label.text] : [label.functionName, report.modules[label.module]];
}

// Is the row's stack at the node or below it?
function flameHolds(node, row) {
  const leaf = flame.tree.leafOf.get(row.index);
  return leaf !== undefined && leaf >= node && leaf < flame.tree.end[node];
}

// Those of allocations, or those of frees.
function flameRows() {
  if (flame.metric !== FREED_BY) return rowsOfGroup();
  return freeStackRows.filter(
    (row) =>
      row.stack >= 0 &&
      row.kind === state.kind.kind &&
      (state.group === null || state.group.processLabel === row.process),
  );
}

function flameAmount(row) {
  if (flame.metric === FREED_BY) return row.size;
  return amountsOf(row)?.[flame.metric] ?? 0;
}

// --- values ---------------------------------------------------------------------------------

function valueFlame() {
  const tree = flame.tree;
  const values = new Float64Array(tree.size),
    matched = new Float64Array(tree.size);
  let known = 0;
  for (const row of flameRows()) {
    const amount = flameAmount(row);
    const value = Math.max(0, amount);
    known += amount;
    values[tree.leafOf.get(row.index)] += value;
    if (searchWords() !== "" && rowMatches(row)) matched[tree.leafOf.get(row.index)] += value;
  }
  const whole = flame.metric === FREED_BY ? null : state.group === null ? amountsOfKind(state.kind) : amountsOfGroup(state.group);
  if (whole !== null) values[tree.other] = Math.max(0, whole[flame.metric] - known);
  for (let i = tree.size - 1; i > 0; i--) {
    values[tree.parent[i]] += values[i];
    matched[tree.parent[i]] += matched[i];
  }
  flame.values = values;
  flame.matched = matched;
}

// Largest child first.
function flameChildren(node) {
  const tree = flame.tree,
    found = [];
  for (let child = node + 1; child < tree.end[node]; child = tree.end[child])
    if (flame.values[child] > 0) found.push(child);
  return found.sort((a, b) => flame.values[b] - flame.values[a] || a - b);
}

function flameAncestors(node) {
  const path = [];
  for (let at = flame.tree.parent[node]; at >= 0; at = flame.tree.parent[at]) path.unshift(at);
  return path;
}

// --- drawing ----------------------------------------------------------------------------------

// A function always has the same colour, in every run and every build, because the colour is
// made of its name alone. A place without a name has its module's.
function colourOf(node) {
  const label = labels[flame.tree.label[node]];
  if (label === undefined || label.module < 0) return null;
  const text = label.functionName === "" ? report.modules[label.module].toLowerCase() : label.functionName;
  let hash = 7;
  for (const c of text) hash = (hash * 31 + c.codePointAt(0)) % 1000003;
  return { hue: (hash * 137) % 360, tone: (Math.floor(hash / 360) % 9) - 4 };
}

// Places are parts of the whole width, so that they hold on paper too.
function addBar(node, left, width, extra) {
  const text = flameText(node),
    value = flame.values[node],
    whole = flame.values[0];
  const colour = colourOf(node);
  const [name, ...modules] = flameParts(node);
  const isMatch =
    searchWords() !== "" &&
    flame.matched[node] > 0 &&
    (flame.tree.label[node] >= 0
      ? labelMatches[flame.tree.label[node]] === 1
      : text.toLowerCase().includes(searchWords()));
  const bar = make(
    "div",
    {
      class: `bar${colour === null ? " plain" : ""}${extra}${isMatch ? " match" : ""}`,
      role: "treeitem",
      tabindex: -1,
      "aria-level": flame.tree.depth[node] + 1,
      "aria-selected": node === flame.zoom,
      "data-node": node,
      "data-value": value,
      "aria-label": `${text}, ${bytes(value)}, ${share(value, whole)}`,
    },
    ...(width > 0.015 ? [name, ...modules.map((module) => make("span", { class: "of" }, module))] : []),
  );
  bar.style.left = `${(100 * left).toFixed(3)}%`;
  bar.style.width = `${(100 * width).toFixed(3)}%`;
  bar.style.top = `${flame.tree.depth[node] * BAR_HEIGHT}px`;
  if (colour !== null) {
    bar.style.setProperty("--hue", colour.hue);
    bar.style.setProperty("--tone", `${colour.tone}%`);
  }
  flame.bars.set(node, bar);
  return bar;
}

function drawFlame() {
  const box = byId("flame-tree");
  flame.bars.clear();
  flame.zoom = state.node ?? 0;
  byId("flame-reset").disabled = state.node === null;
  if (flame.values[0] === 0) {
    box.replaceChildren(make("p", { class: "empty" }, "No data for this selection."));
    box.style.height = "auto";
    return;
  }
  const least = BAR_WIDTH_MIN / (box.clientWidth || 1180);
  const bars = flameAncestors(flame.zoom).map((node) => addBar(node, 0, 1, " above"));
  const scale = flame.values[flame.zoom] > 0 ? 1 / flame.values[flame.zoom] : 0;
  const pending = [[flame.zoom, 0]];
  let deepest = flame.tree.depth[flame.zoom];
  while (pending.length > 0) {
    const [node, left] = pending.pop();
    bars.push(addBar(node, left, node === flame.zoom ? 1 : flame.values[node] * scale, ""));
    deepest = Math.max(deepest, flame.tree.depth[node]);
    if (flame.tree.depth[node] >= FLAME_DEPTH_MAX) continue;
    let at = left;
    for (const child of flameChildren(node)) {
      const part = flame.values[child] * scale;
      if (part >= least) pending.push([child, at]);
      at += part;
    }
  }
  box.replaceChildren(...bars);
  box.style.height = `${(deepest + 1) * BAR_HEIGHT + 2}px`;
  drawFlameCut(deepest + 1);
  flame.current = flame.zoom;
  flame.bars.get(flame.current).tabIndex = 0;
}

// On paper a page holds so many levels; the style sheet cuts the graph there.
function drawFlameCut(levels) {
  const left = levels - LEVELS_ON_PAPER;
  byId("flame-cut").textContent =
    left > 0 ? `${count(left)} more levels of calls are not printed. They are in the file.` : "";
}

// Frees are counted as the section below counts them.
function freesHintOfFlame() {
  if (flame.metric !== FREED_BY) return "";
  const heap = state.group === null ? "" : " of all heaps of the process";
  return `All frees${heap} in ${fileWindow()}. ${ignoredText(["window"])}`;
}

function drawFlameDetails() {
  byId("flame-frees-hint").textContent = freesHintOfFlame();
  const box = byId("flame-details"),
    node = state.node ?? 0;
  const value = flame.values[node];
  const about = make(
    "div",
    { class: "about" },
    make("b", {}, flameParts(node)[0]),
    ...flameParts(node)
      .slice(1)
      .map((module) => make("span", { class: "of" }, module)),
    make("br"),
    `${bytes(value)} ${FLAME_METRICS.find(([key]) => key === flame.metric)[1]}`,
    node === 0 ? "" : ` \u00b7 ${share(value, flame.values[0])} of all ${state.kind.kind}`,
  );
  const sources = state.node === null ? [] : sourcesOfNode(node);
  if (sources.length > 0) about.append(make("br"), make("span", { class: "none" }, `Calls at ${sources.join(", ")}`));
  box.replaceChildren(about);
  const curve = focusCurve();
  if (curve === null || flame.metric === FREED_BY) return;
  const found = rowsShown();
  const followed = found.filter((row) => row.cells !== null).length;
  const stackRows = `${count(found.length)} ${found.length === 1 ? "stack" : "stacks"}`;
  box.append(
    make(
      "div",
      { class: "curve" },
      make("div", { class: "none" }, `Outstanding over time, up to ${bytes(Math.max(...curve))}`),
      spark(curve, 300, 54),
      make(
        "div",
        { class: "none" },
        followed === found.length ? stackRows : `${count(followed)} of ${stackRows} followed over time`,
      ),
    ),
  );
}

// Where in a function its calls are, if symbols say so.
function sourcesOfNode(node) {
  const label = flame.tree.label[node],
    found = new Set();
  for (const row of rowsOfNode()) {
    if (label < 0 || row.stack < 0) continue;
    for (const frame of stacks[row.stack])
      if (labelOf[frame] === label && frameSource(frame) !== "") found.add(frameSource(frame).trim());
    if (found.size > 5) break;
  }
  return [...found].slice(0, 5);
}

// --- keys and pointer ----------------------------------------------------------------------------

function zoomFlame(node) {
  update({ node: node === 0 ? null : node });
  const bar = flame.bars.get(node);
  if (bar) bar.focus({ preventScroll: true });
  announce(`${flameText(node)}, ${bytes(flame.values[node])}`);
}

function focusBar(node) {
  const bar = flame.bars.get(node);
  if (bar === undefined) return;
  const before = flame.bars.get(flame.current);
  if (before) before.tabIndex = -1;
  flame.current = node;
  bar.tabIndex = 0;
  bar.focus();
}

function neighbour(node, step) {
  const parent = flame.tree.parent[node];
  if (parent < 0) return node;
  const shown = flameChildren(parent).filter((child) => flame.bars.has(child));
  return shown[shown.indexOf(node) + step] ?? node;
}

byId("flame-tree").addEventListener("keydown", (event) => {
  const node = flame.current;
  const moves = {
    ArrowDown: () => focusBar(flameChildren(node).find((child) => flame.bars.has(child)) ?? node),
    ArrowUp: () => focusBar(Math.max(0, flame.tree.parent[node])),
    ArrowRight: () => focusBar(neighbour(node, 1)),
    ArrowLeft: () => focusBar(neighbour(node, -1)),
    Home: () => focusBar(0),
    Enter: () => zoomFlame(node),
    " ": () => zoomFlame(node),
    Escape: () => zoomFlame(Math.max(0, flame.tree.parent[flame.zoom])),
  };
  if (moves[event.key] === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  moves[event.key]();
});

function barOf(event) {
  const bar = event.target.closest(".bar");
  return bar === null ? null : Number(bar.dataset.node);
}

byId("flame-tree").addEventListener("click", (event) => {
  const node = barOf(event);
  if (node !== null) zoomFlame(node);
});
byId("flame-tree").addEventListener("pointermove", (event) => {
  const node = barOf(event);
  if (node === null) hideTip();
  else
    showTip(
      event,
      `${flameText(node)}\n${bytes(flame.values[node])} \u00b7 ${share(flame.values[node], flame.values[0])}`,
    );
});
byId("flame-tree").addEventListener("pointerleave", hideTip);
byId("flame-reset").addEventListener("click", () => zoomFlame(0));
byId("flame-direction").addEventListener("change", (event) => {
  flame.direction = event.target.value;
  flame.tree = null;
  update({ node: null });
});
byId("flame-metric").addEventListener("change", (event) => {
  const wasOfFrees = flame.metric === FREED_BY;
  flame.metric = event.target.value;
  if (wasOfFrees || flame.metric === FREED_BY) {
    flame.tree = null;
    update({ node: null });
  } else update({ metric: flame.metric });
});
byId("flame-metric").append(...FLAME_METRICS.map(([key, title]) => make("option", { value: key }, title)));

// Before all others: they ask which rows a node holds.
views.unshift((changes) => {
  if (state.kind === null) return;
  if ("kind" in changes || "group" in changes || flame.tree === null) flame.tree = buildFlame();
  valueFlame();
  drawFlame();
  drawFlameDetails();
});
