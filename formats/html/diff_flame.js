// The flame graph: red grew, blue shrank, wide by either side.

const BAR_HEIGHT = 22,
  BAR_WIDTH_MIN = 2.5,
  DEPTH_MAX = 400;

let tree = null;
const bars = new Map(); // element to node
const barOf = new Map(); // node to element

function changeClass(node) {
  if (node.now === null || node.base === null) return "same";
  return node.now > node.base ? "grew" : node.now < node.base ? "shrank" : "same";
}

// Light for a small change, strong where all of it is new or gone.
function depthOf(node) {
  const whole = Math.max(node.base, node.now);
  const isKnown = node.base !== null && node.now !== null;
  const part = isKnown && whole > 0 ? Math.abs(node.now - node.base) / whole : 0;
  const isDark = document.documentElement.dataset.theme === "dark";
  return isDark ? `${(22 + 20 * part).toFixed(0)}%` : `${(92 - 27 * part).toFixed(0)}%`;
}

function meanText(value, freed) {
  return value === null ? "nothing freed" : `${amount(value)} (${count(freed)} freed)`;
}

function nodeText(node) {
  if (BY_LIFETIME) {
    const change = node.now === null || node.base === null ? "" : `, ${signedAmount(node.now - node.base)}`;
    return `${node.text}: mean lifetime ${meanText(node.now, node.nowWidth)}, was ${meanText(node.base, node.baseWidth)}${change}`;
  }
  return `${node.text}: ${amount(node.now)}, was ${amount(node.base)}, ${signedAmount(node.now - node.base)}`;
}

function addBar(node, left, width, extra) {
  const match = state.search !== "" && node.text.toLowerCase().includes(state.search);
  const bar = make(
    "div",
    {
      class: `bar change ${changeClass(node)}${extra}${match ? " match" : ""}`,
      role: "treeitem",
      tabindex: -1,
      "aria-level": node.depth + 1,
      "aria-label": nodeText(node),
      "data-base": node.baseWidth,
      "data-now": node.nowWidth,
      "data-base-mean": BY_LIFETIME ? node.base : null,
      "data-now-mean": BY_LIFETIME ? node.now : null,
    },
    ...(width > 0.015 ? [node.text] : []),
  );
  bar.style.left = `${(100 * left).toFixed(3)}%`;
  bar.style.width = `${(100 * width).toFixed(3)}%`;
  bar.style.top = `${node.depth * BAR_HEIGHT}px`;
  bar.style.setProperty("--depth", depthOf(node));
  bars.set(bar, node);
  barOf.set(node, bar);
  return bar;
}

function ancestorsOf(node) {
  const path = [];
  for (let at = node.parent; at !== null; at = at.parent) path.unshift(at);
  return path;
}

function drawFlame() {
  const box = byId("flame-tree"),
    zoom = state.zoom ?? tree.root;
  bars.clear();
  barOf.clear();
  byId("flame-reset").disabled = state.zoom === null;
  if (widthOf(zoom) === 0) {
    const isEmpty = zoom.baseWidth + zoom.nowWidth === 0;
    const nothing = BY_LIFETIME ? "Nothing was freed on either side." : "Neither side has any data.";
    box.replaceChildren(make("p", { class: "empty" }, isEmpty ? nothing : "No data on this side. Choose another width."));
    box.style.height = "auto";
    return;
  }
  const least = BAR_WIDTH_MIN / (box.clientWidth || 1180);
  const drawn = ancestorsOf(zoom).map((node) => addBar(node, 0, 1, " above"));
  const pending = [[zoom, 0, 1]];
  let deepest = zoom.depth;
  while (pending.length > 0) {
    const [node, left, width] = pending.pop();
    drawn.push(addBar(node, left, width, ""));
    deepest = Math.max(deepest, node.depth);
    if (node.depth >= DEPTH_MAX) continue;
    let at = left;
    for (const { node: child, part } of childrenOf(node)) {
      if (part * width >= least) pending.push([child, at, part * width]);
      at += part * width;
    }
  }
  box.replaceChildren(...drawn);
  box.style.height = `${(deepest + 1) * BAR_HEIGHT + 2}px`;
  barOf.get(zoom).tabIndex = 0;
}

function drawDetails() {
  const node = state.zoom ?? tree.root;
  byId("flame-details").replaceChildren(make("b", {}, node.text), make("br"), nodeText(node).slice(node.text.length + 2));
}

function zoomTo(node) {
  state.zoom = node === tree.root ? null : node;
  drawFlame();
  drawDetails();
  barOf.get(node)?.focus({ preventScroll: true });
  announce(nodeText(node));
}

function moveFocus(from, to) {
  if (to === undefined || to === null || !barOf.has(to)) return;
  barOf.get(from).tabIndex = -1;
  barOf.get(to).tabIndex = 0;
  barOf.get(to).focus();
}

function sibling(node, step) {
  if (node.parent === null) return null;
  const shown = childrenOf(node.parent).map((child) => child.node).filter((child) => barOf.has(child));
  return shown[shown.indexOf(node) + step];
}

byId("flame-tree").addEventListener("click", (event) => {
  const node = bars.get(event.target.closest(".bar"));
  if (node !== undefined) zoomTo(node);
});
byId("flame-tree").addEventListener("pointermove", (event) => {
  const node = bars.get(event.target.closest(".bar"));
  if (node === undefined) hideTip();
  else showTip(event, nodeText(node));
});
byId("flame-tree").addEventListener("pointerleave", hideTip);
byId("flame-tree").addEventListener("keydown", (event) => {
  const node = bars.get(document.activeElement);
  if (node === undefined) return;
  const moves = {
    ArrowDown: () => moveFocus(node, childrenOf(node)[0]?.node),
    ArrowUp: () => moveFocus(node, node.parent),
    ArrowRight: () => moveFocus(node, sibling(node, 1)),
    ArrowLeft: () => moveFocus(node, sibling(node, -1)),
    Enter: () => zoomTo(node),
    " ": () => zoomTo(node),
    Escape: () => zoomTo((state.zoom ?? tree.root).parent ?? tree.root),
  };
  if (moves[event.key] === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  moves[event.key]();
});
byId("flame-reset").addEventListener("click", () => zoomTo(tree.root));
