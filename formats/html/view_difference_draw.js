// The bars of the flame graph of a change, its legend, keys and line of details.

const DIFFERENCE_BAR_MIN = 2.5; // px: narrower bars are not drawn
const DIFFERENCE_DEPTH_MAX = 400;

const differenceBars = new Map(); // of nodes
const differenceNodes = new WeakMap(); // of bars
let differenceNarrow = 0;

function changeClass(node) {
  const change = differenceChange(node);
  return change === null || change === 0 ? "same" : change > 0 ? "grew" : "shrank";
}

// Pale for a small change, strong where all of it is new or gone.
function changedPart(node) {
  const [base, now] = [sideValue(node, "base"), sideValue(node, "new")];
  const whole = Math.max(base ?? 0, now ?? 0);
  return base === null || now === null || whole === 0 ? 0 : Math.abs(now - base) / whole;
}

function isDifferenceFound(node) {
  return state.search !== "" && node.text.toLowerCase().includes(state.search.toLowerCase());
}

function makeDifferenceBar(node, left, width, isAbove) {
  const isMatch = isDifferenceFound(node);
  const bar = make(
    "div",
    {
      class: `bar ${changeClass(node)}${isAbove ? " above" : ""}${isMatch ? " match" : ""}`,
      role: "treeitem",
      tabindex: -1,
      "aria-level": node.depth + 1,
      "aria-selected": node === difference.zoom,
      "aria-label": `${differenceLines(node).join(", ")}${isMatch ? ", matches the search" : ""}`,
      "data-name": node.text,
      "data-base": node.baseWidth,
      "data-new": node.newWidth,
      "data-base-sum": node.baseSum,
      "data-new-sum": node.newSum,
    },
    ...(width * difference.pixels >= BAR_TEXT_MIN ? [node.text] : []),
  );
  bar.style.left = `${(100 * left).toFixed(4)}%`;
  bar.style.width = `${(100 * width).toFixed(4)}%`;
  bar.style.top = `${node.depth * BAR_HEIGHT}px`;
  bar.style.setProperty("--part", changedPart(node).toFixed(3));
  differenceBars.set(node, bar);
  differenceNodes.set(bar, node);
  return bar;
}

function makeDifferenceBars() {
  const bars = differenceAncestors(difference.zoom).map((node) => makeDifferenceBar(node, 0, 1, true));
  const pending = [[difference.zoom, 0, 1]];
  while (pending.length > 0) {
    const [node, left, width] = pending.pop();
    bars.push(makeDifferenceBar(node, left, width, false));
    if (node.depth >= DIFFERENCE_DEPTH_MAX) continue;
    let at = left;
    const wide = [];
    for (const { node: child, part } of differenceChildren(node)) {
      if (part * width * difference.pixels >= DIFFERENCE_BAR_MIN) wide.push([child, at, part * width]);
      else differenceNarrow++;
      at += part * width;
    }
    pending.push(...wide.reverse());
  }
  return bars;
}

// --- what is told beside the bars -----------------------------------------------------------

function differenceLegend() {
  const isOfLifetimes = hasLifetimes(difference.answer);
  const words = isOfLifetimes
    ? ["lived longer", "lived shorter", "equal, or freed on one side only"]
    : ["grew", "shrank", "equal"];
  const keys = ["grew", "shrank", "same"].map((word, i) => make("span", {}, make("span", { class: `swatch ${word}` }), ` ${words[i]} `));
  const width = isOfLifetimes ? "A frame is as wide as the number of blocks that were freed. " : "";
  return make("p", { class: "hint difference-legend" }, ...keys, `${width}The stronger the colour, the larger the change as a part of the frame.`);
}

function differenceTold() {
  const found = [...differenceBars.keys()].filter(isDifferenceFound).length;
  const texts = [];
  if (state.search !== "") texts.push(`${plural(found, "bar matches", "bars match")} \u201c${state.search}\u201d.`);
  if (differenceNarrow > 0) texts.push(`${plural(differenceNarrow, "bar")} too narrow to be seen are not drawn, nor what is below them: zoom in to see them.`);
  return texts.join(" ");
}

// One line for the bar under the pointer or the focus, with a button for its menu. Amounts say which rows
// they add up.
function drawDifferenceDetails(node) {
  difference.current = node;
  const { details, answer } = difference;
  const { key } = amountsOf(answer, hasLifetimes(answer) ? "freed_count" : answer.measure);
  const part = (side) => make("span", { "data-measure": key(side), "data-value": node[`${side}Width`] }, `${side} ${sideText(node, side)}`);
  const look = { grew: "up", shrank: "down", same: "" }[changeClass(node)];
  const change = make("span", { class: `own ${look}` }, differenceChangeText(node));
  if (!hasLifetimes(answer)) setAttributes(change, { "data-measure": key("delta"), "data-value": node.newWidth - node.baseWidth });
  const names = [...differenceAncestors(node), node].slice(1).map(({ text }) => text);
  Object.assign(details.dataset, { kind: state.kind, tree: state.differenceTree, names: JSON.stringify(names) });
  details.querySelector(".name").textContent = node.text;
  details.querySelector(".told").replaceChildren(hasLifetimes(answer) ? "Mean lifetime: " : "", part("new"), ", ", part("base"), " ", change);
}

function makeDifferenceDetails() {
  const button = make("button", { type: "button", "aria-haspopup": "menu" }, "Actions\u2026");
  button.addEventListener("click", () => openMenu(button, differenceItems(difference.current)));
  return make(
    "div",
    { class: "flame-details" },
    button,
    make("span", { class: "name" }),
    make("span", { class: "told" }),
  );
}

// --- drawing --------------------------------------------------------------------------------

function prepareDifference(body) {
  if (difference.box !== null && body.contains(difference.box)) return;
  difference.details = makeDifferenceDetails();
  difference.box = make("div", { class: "flame-tree difference", role: "tree", "aria-label": "Call tree of the change" });
  difference.told = make("p", { class: "hint flame-told" });
  const panel = make("div", { class: "panel flame-panel" }, difference.box);
  clear(body).append(differenceLegend(), difference.details, panel, difference.told);
  listenToDifference(difference.box);
  new ResizeObserver(() => {
    if (difference.box.clientWidth > 0 && difference.box.clientWidth !== difference.pixels) drawDifferenceBars();
  }).observe(difference.box);
}

function drawDifferenceBars() {
  const hadFocus = difference.box.contains(document.activeElement);
  difference.pixels = difference.box.clientWidth || 1000;
  differenceBars.clear();
  differenceNarrow = 0;
  const bars = makeDifferenceBars();
  const deepest = Math.max(...[...differenceBars.keys()].map(({ depth }) => depth));
  difference.box.replaceChildren(...bars);
  difference.box.style.height = `${(deepest + 1) * BAR_HEIGHT}px`;
  difference.told.textContent = differenceTold();
  const current = differenceBars.has(difference.current) ? difference.current : difference.zoom;
  differenceBars.get(current).tabIndex = 0;
  drawDifferenceDetails(current);
  if (hadFocus) differenceBars.get(current).focus({ preventScroll: true });
}

function drawDifference(body) {
  if (differenceWidth(difference.root) === 0) {
    const nothing = hasLifetimes(difference.answer) ? "Nothing of this kind was freed in either run." : "Neither run has memory of this kind.";
    clear(body).append(emptyList(nothing));
    return;
  }
  prepareDifference(body);
  drawDifferenceBars();
}

// --- keys and pointer -----------------------------------------------------------------------

function focusDifference(node) {
  const bar = differenceBars.get(node);
  if (bar === undefined) return;
  differenceBars.get(difference.current)?.setAttribute("tabindex", "-1");
  bar.tabIndex = 0;
  bar.focus();
}

function differenceNeighbour(node, step) {
  if (node.parent === null) return node;
  const shown = differenceChildren(node.parent).filter((child) => differenceBars.has(child.node));
  return shown[shown.findIndex((child) => child.node === node) + step]?.node ?? node;
}

function differenceKey(event) {
  const node = difference.current;
  const menu = () => openMenu(differenceBars.get(node), differenceItems(node));
  const moves = {
    ArrowDown: () => focusDifference(differenceChildren(node).find((child) => differenceBars.has(child.node))?.node ?? node),
    ArrowUp: () => focusDifference(node.parent ?? node),
    ArrowRight: () => focusDifference(differenceNeighbour(node, 1)),
    ArrowLeft: () => focusDifference(differenceNeighbour(node, -1)),
    Home: () => focusDifference(difference.root),
    Enter: () => zoomDifference(node),
    " ": () => zoomDifference(node),
    m: menu,
    ContextMenu: menu,
  };
  if (difference.zoom !== difference.root) moves.Escape = () => zoomDifference(difference.zoom.parent);
  const key = event.shiftKey && event.key === "F10" ? "ContextMenu" : event.key === "M" ? "m" : event.key;
  if (moves[key] === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  moves[key]();
}

function differenceOf(event) {
  return differenceNodes.get(event.target.closest?.(".bar")) ?? null;
}

function listenToDifference(box) {
  box.addEventListener("keydown", differenceKey);
  box.addEventListener("click", (event) => differenceOf(event) !== null && zoomDifference(differenceOf(event)));
  box.addEventListener("focusin", (event) => differenceOf(event) !== null && drawDifferenceDetails(differenceOf(event)));
  box.addEventListener("contextmenu", (event) => {
    const node = differenceOf(event);
    if (node === null) return;
    event.preventDefault();
    hideTip();
    focusDifference(node);
    openMenu(differenceBars.get(node), differenceItems(node), { x: event.clientX, y: event.clientY });
  });
  tip(box, (event) => {
    const node = differenceOf(event);
    return node === null ? null : differenceLines(node);
  });
}
