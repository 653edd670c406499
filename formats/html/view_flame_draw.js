// The bars of the flame graph, its keys and its line of details.
//
// Bars are elements at places that are parts of the width. Those narrower than a pixel are not
// made; what is not shown is said with its sum. A bar's colour is made of its module's name, so
// it is the same in every run, and varies a little with the function's.

const BAR_HEIGHT = 20; // px
const BAR_TEXT_MIN = 26; // px of width below which a bar has no text

const flameBars = new Map();
let flameNarrow = { count: 0, value: 0 };
let flameShrunk = { count: 0, value: 0 }; // of Impacting Size: what did not grow has no width

function textHash(text) {
  let hash = 7;
  for (const c of text) hash = (hash * 31 + c.codePointAt(0)) % 1000003;
  return hash;
}

function colourBar(bar, node, isDimmed) {
  const frame = flameFrame(node);
  if (frame === null || isUnknown(frame.module) || isDimmed) {
    bar.classList.add("plain");
    return;
  }
  bar.style.setProperty("--hue", (textHash(frame.module.toLowerCase()) * 137) % 360);
  bar.style.setProperty("--tone", `${(textHash(frameText(frame)) % 7) - 3}%`);
}

function makeBar(node, left, width, isAbove, found) {
  const value = flame.value[node];
  const names = flameNames(node);
  const isMatch = found.matches.has(node);
  const bar = make(
    "div",
    {
      class: `bar${isAbove ? " above" : ""}${isMatch ? " match" : ""}`,
      role: "treeitem",
      tabindex: -1,
      "aria-level": flame.depth[node] + 1,
      "aria-selected": node === flame.zoom,
      "data-node": node,
      "data-row": node === 0 ? null : node - 1,
      "data-measure": flame.metric,
      "data-value": value,
      "aria-label": `${names.join(" ")}, ${flameAmount(value)}${flameShare(value)}${isMatch ? ", matches the search" : ""}`,
    },
    ...(width * flame.width >= BAR_TEXT_MIN
      ? [names[0], ...(names.length > 1 ? [" ", make("span", { class: "of" }, names[1])] : [])]
      : []),
  );
  colourBar(bar, node, state.search !== "" && !isMatch);
  bar.style.left = `${(100 * left).toFixed(4)}%`;
  bar.style.width = `${(100 * width).toFixed(4)}%`;
  bar.style.top = `${flame.depth[node] * BAR_HEIGHT}px`;
  flameBars.set(node, bar);
  return bar;
}

// From the zoomed node down: its bar fills the width.
function makeBars(found) {
  const scale = flame.weight[flame.zoom] > 0 ? 1 / flame.weight[flame.zoom] : 0;
  const bars = flameAncestors(flame.zoom).map((node) => makeBar(node, 0, 1, true, found));
  const pending = [[flame.zoom, 0]];
  while (pending.length > 0) {
    const [node, left] = pending.pop();
    bars.push(makeBar(node, left, node === flame.zoom ? 1 : flame.weight[node] * scale, false, found));
    let at = left;
    const wide = [];
    for (const child of flameChildren(node)) {
      const part = flame.weight[child] * scale;
      if (part * flame.width >= 1) wide.push([child, at]);
      else {
        const untold = flame.weight[child] > 0 ? flameNarrow : flameShrunk;
        untold.count += flame.end[child] - child;
        untold.value += flame.value[child];
      }
      at += part;
    }
    pending.push(...wide.reverse());
  }
  return bars;
}

// --- what is told beside the bars -----------------------------------------------------------

// Nothing if the whole did not grow: then no part is a share of it.
function flameShare(value, of = "") {
  return flame.whole > 0 && value >= 0 ? `, ${formatPercent(value, flame.whole)}${of}` : "";
}

// A sum that is not drawn as a bar; `rest` says which bars it stands for.
function flameRest(rest, value) {
  return figure("span", flame.metric, value, flameAmount(value), { "data-rest": rest });
}

function flameCutNodes() {
  const left = flame.document.left_out_count;
  const nodes = [];
  const share = flame.shares.get(flameQuestionKey()) ?? FLAME_SHARES[0];
  if (left > 0)
    nodes.push(
      `${plural(left, "call", "calls")} of less than ${share} % of their process (together `,
      flameRest("cut", flame.cutValue),
      `${flameShare(flame.cutValue)}) are left out. `,
    );
  if (flameNarrow.count > 0)
    nodes.push(
      `${plural(flameNarrow.count, "bar")} narrower than a pixel (`,
      flameRest("narrow", flameNarrow.value),
      ") are not drawn: zoom in to see them. ",
    );
  if (flameShrunk.count > 0)
    nodes.push(
      `${plural(flameShrunk.count, "call")} that did not grow (`,
      flameRest("shrunk", flameShrunk.value),
      ") have no bar. ",
    );
  if (left > 0) nodes.push("Begin the graph at a function to see its smaller calls.");
  return nodes;
}

// Of stacks, the sum is the command's; of bars, what is too small for a bar is not counted.
function flameFoundNodes(found) {
  if (state.search === "") return [];
  const count = found.matches.size;
  const bars = count === 0 ? `No bar matches ${searchText()}` : `${plural(count, "bar matches", "bars match")} ${searchText()}`;
  if (flame.found === null && count === 0) return [`${bars}. `];
  if (flame.found === null) return [`${bars}: `, flameRest("found", found.sum), `${flameShare(found.sum, " of all")}. `];
  const { question, value } = flame.found;
  const command = { "data-command": source.commandFor(question.command, question.options) };
  const sum = figure("span", flame.metric, value, flameAmount(value), command);
  return [`Call stacks with ${searchText()}: `, make("b", {}, sum, `${flameShare(value, " of all")}`), `. ${bars}. `];
}

// Which stacks these are, if they are not those of allocations.
function flameOfNodes() {
  if (!isOfFrees()) return [];
  if (flame.document.frames.length === 0) return [withoutFreeStacksText(), " "];
  return ["Memory that was freed in this window, by the call stacks that freed it. "];
}

function flameDetailLines(node) {
  const value = flame.value[node];
  const frame = flameFrame(node);
  const places = node > 0 && flame.document.nodes[node - 1].has_places ? "at several places" : frameSource(frame);
  const own = node === 0 ? null : (flame.document.nodes[node - 1].exclusive[flame.metric] ?? null);
  return [
    [flameText(node), places].filter((text) => text !== "").join("  "),
    `${FLAME_MEASURES[flame.metric]} ${flameExact(value)}${flameShare(value, " of all")}`,
    own === null || own === 0 ? "" : `${flameExact(own)} of it in stacks that end here`,
  ].filter((text) => text !== "");
}

// One line for the bar under the pointer or the focus, with a button for its menu.
function drawFlameDetails(node) {
  flame.current = node;
  const [name, amount, own = ""] = flameDetailLines(node);
  const box = flame.details;
  box.querySelector(".name").textContent = name;
  const number = box.querySelector(".amount");
  number.textContent = amount;
  number.dataset.value = flame.value[node];
  number.dataset.measure = flame.metric;
  if (node === 0) delete number.dataset.row;
  else number.dataset.row = node - 1;
  box.querySelector(".own").textContent = own;
}

function makeFlameDetails() {
  const button = make(
    "button",
    { type: "button", "aria-haspopup": "menu", onclick: () => openMenu(button, flameItems(flame.current)) },
    "Actions\u2026",
  );
  flame.details = make(
    "div",
    { class: "flame-details" },
    button,
    make("span", { class: "name" }),
    make("span", { class: "amount" }),
    make("span", { class: "own" }),
  );
}

// --- drawing --------------------------------------------------------------------------------

function prepareFlameBody(body) {
  if (body.contains(flame.box)) return;
  makeFlameDetails();
  flame.box = make("div", { class: "flame-tree", role: "tree", "aria-label": "Call tree" });
  flame.told = make("p", { class: "hint flame-told" });
  clear(body).append(flame.details, make("div", { class: "panel flame-panel" }, flame.box), flame.told);
  startFlameKeys(flame.box);
  new ResizeObserver(() => {
    if (flame.box.clientWidth !== flame.width && flame.document !== null && flame.box.clientWidth > 0) drawFlameBars();
  }).observe(flame.box);
}

function drawFlameBars() {
  const hadFocus = flame.box.contains(document.activeElement);
  const found = searchFlame();
  flame.width = flame.box.clientWidth || 1000;
  flameBars.clear();
  flameNarrow = { count: 0, value: 0 };
  flameShrunk = { count: 0, value: 0 };
  const bars = makeBars(found);
  const deepest = Math.max(...[...flameBars.keys()].map((node) => flame.depth[node]));
  flame.box.replaceChildren(...bars);
  flame.box.style.height = `${(deepest + 1) * BAR_HEIGHT}px`;
  flame.told.replaceChildren(...flameOfNodes(), ...flameFoundNodes(found), ...flameCutNodes());
  const current = flameBars.has(flame.current) ? flame.current : flame.zoom;
  flameBars.get(current).tabIndex = 0;
  drawFlameDetails(current);
  if (hadFocus) flameBars.get(current).focus({ preventScroll: true });
}

function drawFlame(body) {
  if (flame.weight[0] <= 0) {
    clear(body).append(make("p", { class: "empty" }, ...flameEmptyNodes()));
    return;
  }
  prepareFlameBody(body);
  drawFlameBars();
}

function flameEmptyNodes() {
  if (state.root !== null) return [`No stack of ${state.kind} that is left has the function ${state.root}.`];
  const amount = figure("span", flame.metric, flame.value[0], flameAmount(flame.value[0]));
  return [`Nothing of ${state.kind} is left to draw: its ${FLAME_MEASURES[flame.metric]} is `, amount, "."];
}

// --- keys and pointer -----------------------------------------------------------------------

function focusBar(node) {
  const bar = flameBars.get(node);
  if (bar === undefined) return;
  flameBars.get(flame.current)?.setAttribute("tabindex", "-1");
  bar.tabIndex = 0;
  bar.focus();
}

function flameNeighbour(node, step) {
  if (node === 0) return node;
  const shown = flameChildren(flame.parent[node]).filter((child) => flameBars.has(child));
  return shown[shown.indexOf(node) + step] ?? node;
}

function flameKey(event) {
  const node = flame.current;
  const moves = {
    ArrowDown: () => focusBar(flameChildren(node).find((child) => flameBars.has(child)) ?? node),
    ArrowUp: () => focusBar(Math.max(0, flame.parent[node])),
    ArrowRight: () => focusBar(flameNeighbour(node, 1)),
    ArrowLeft: () => focusBar(flameNeighbour(node, -1)),
    Home: () => focusBar(0),
    Enter: () => zoomFlame(node),
    " ": () => zoomFlame(node),
    m: () => openMenu(flameBars.get(node), flameItems(node)),
    ContextMenu: () => openMenu(flameBars.get(node), flameItems(node)),
  };
  if (flame.zoom !== 0) moves.Escape = () => zoomFlame(Math.max(0, flame.parent[flame.zoom]));
  const key = event.shiftKey && event.key === "F10" ? "ContextMenu" : event.key === "M" ? "m" : event.key;
  if (moves[key] === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  moves[key]();
}

function barOf(event) {
  const bar = event.target.closest?.(".bar") ?? null;
  return bar === null ? null : Number(bar.dataset.node);
}

function startFlameKeys(box) {
  box.addEventListener("keydown", flameKey);
  box.addEventListener("click", (event) => barOf(event) !== null && zoomFlame(barOf(event)));
  box.addEventListener("focusin", (event) => barOf(event) !== null && drawFlameDetails(barOf(event)));
  box.addEventListener("contextmenu", (event) => {
    const node = barOf(event);
    if (node === null) return;
    event.preventDefault();
    hideTip();
    focusBar(node);
    openMenu(flameBars.get(node), flameItems(node), { x: event.clientX, y: event.clientY });
  });
  tip(box, (event) => {
    const node = barOf(event);
    return node === null ? null : flameDetailLines(node);
  });
}
