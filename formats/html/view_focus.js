// The butterfly of a function: who calls it, the function, and what it calls, each with the memory
// that goes through both. A click on a caller or callee makes it the function in the middle.
//
// `report --focus` answers with two trees that begin with the function, grouped by kind and stack
// only, so that node 0 is the sum of all processes. Below it are the functions that match the
// pattern (a pattern such as "app!" matches many), and below them their callers or callees. Rows
// of one function are added up: the stacks below different nodes are different ones.

const FOCUS_ROWS_MAX = 200;

const focusField = make("input", {
  list: "focus-names",
  autocomplete: "off",
  spellcheck: "false",
  placeholder: "module!function",
});
const focusForm = make(
  "form",
  { class: "focus-form" },
  make("label", {}, make("span", { class: "sr" }, "Function in the middle"), focusField),
  make("datalist", { id: "focus-names" }),
  make("button", {}, "Show"),
);
focusForm.addEventListener("submit", (event) => {
  event.preventDefault();
  const pattern = focusField.value.trim();
  if (pattern !== "") update({ focus: pattern });
});

function focusOptions() {
  return [
    ["focus", state.focus],
    ["sort", flameMetric()],
    ["tree-min", "0.5"],
    ...flameSelection("kind"),
  ];
}

function focusQuestions() {
  return state.focus === null || state.kind === null ? null : [{ command: "report", options: focusOptions() }];
}

// --- rows -----------------------------------------------------------------------------------

function focusDepths(nodes) {
  const depths = [];
  for (const node of nodes) depths.push(node.parent === null ? 0 : depths[node.parent] + 1);
  return depths;
}

// Callers or callees of the functions in the middle, each function once.
function focusRows(document, side, metric) {
  const nodes = document[side];
  const rows = new Map();
  focusDepths(nodes).forEach((depth, i) => {
    if (depth !== 2) return;
    const frame = isUnknown(nodes[i].frame) ? null : document.frames[nodes[i].frame];
    const text = frameText(frame);
    const row = rows.get(text) ?? { text, frame, value: 0, own: 0, nodes: [] };
    row.value += nodes[i][metric] ?? 0;
    row.own += nodes[i].exclusive[metric] ?? 0;
    row.nodes.push(i);
    rows.set(text, row);
  });
  return [...rows.values()].sort((a, b) => b.value - a.value);
}

// The functions that match, and what of them has neither caller nor callee below: its stacks end
// in the function, or what follows is too small.
function focusMiddle(document, side, metric) {
  const nodes = document[side];
  const depths = focusDepths(nodes);
  const functions = new Map();
  let own = 0;
  nodes.forEach((node, i) => {
    if (depths[i] !== 1) return;
    own += node.exclusive[metric] ?? 0;
    const frame = isUnknown(node.frame) ? null : document.frames[node.frame];
    functions.set(frameText(frame), frame);
  });
  return { own, functions };
}

// --- drawing --------------------------------------------------------------------------------

function focusNumber(metric, value, nodes = null) {
  return figure("td", metric, value, measureText(metric, value), { "data-nodes": nodes === null ? null : nodes.join(",") });
}

function focusName(row) {
  const pattern = framePattern(row.frame);
  if (pattern === null) return make("span", {}, row.text);
  return make(
    "button",
    { type: "button", class: "link", onclick: () => showFocus(pattern), title: frameSource(row.frame) || null },
    row.text,
  );
}

function focusMenu(row) {
  const items = [...flameFrameItems(row.frame), { label: "Copy", act: () => copyText(row.text, "the name") }];
  return menuButton(items, row.text);
}

// Where some parts grow and others shrink, as of Impacting Size, none is a share of the whole.
function focusShare(value, metric, whole) {
  return metric === "impacting_size" ? UNKNOWN_TEXT : formatPercent(value, whole);
}

function focusRow(row, metric, whole) {
  return make(
    "tr",
    {},
    make("th", { scope: "row", class: "wrap" }, focusName(row)),
    focusNumber(metric, row.value, row.nodes),
    make("td", {}, focusShare(row.value, metric, whole)),
    make("td", {}, focusMenu(row)),
  );
}

// What is in no row: stacks that end at the function, and callers or callees that are too small.
function focusPlainRow(text, value, metric, whole, name) {
  return make(
    "tr",
    { "data-rest": name },
    make("th", { scope: "row", class: "wrap none" }, text),
    focusNumber(metric, value),
    make("td", {}, focusShare(value, metric, whole)),
    make("td"),
  );
}

function focusTable(document, side, sum, metric) {
  const rows = focusRows(document, side, metric);
  const { own } = focusMiddle(document, side, metric);
  const shown = rows.slice(0, FOCUS_ROWS_MAX);
  const rest = sum - own - shown.reduce((total, row) => total + row.value, 0);
  const body = make("tbody", {}, ...shown.map((row) => focusRow(row, metric, sum)));
  const ends = side === "callers" ? "no caller: stacks begin here" : "no callee: stacks end here";
  if (own !== 0) body.append(focusPlainRow(ends, own, metric, sum, "own"));
  if (rest !== 0) body.append(focusPlainRow(`smaller ${side}`, rest, metric, sum, "small"));
  const title = side === "callers" ? "Callers" : "Callees";
  const head = [title, FLAME_MEASURES[metric], "Share", ""].map((text, i) =>
    make("th", { scope: "col" }, i < 3 ? text : make("span", { class: "sr" }, "Actions")),
  );
  return make(
    "div",
    { class: "panel scroll", "data-side": side, tabindex: 0, role: "region", "aria-label": title },
    make("table", { "aria-label": title }, make("thead", {}, make("tr", {}, ...head)), body),
  );
}

function focusWholeText(sum, metric, whole) {
  const share = focusShare(sum, metric, whole);
  return share === UNKNOWN_TEXT ? FLAME_MEASURES[metric] : `${FLAME_MEASURES[metric]}, ${share} of all ${state.kind}`;
}

function focusCard(document, sum, metric) {
  const { functions } = focusMiddle(document, "callees", metric);
  const whole = document.totals.find((total) => total.kind === state.kind)?.[metric] ?? 0;
  const [[name, frame]] = functions.size === 1 ? functions : [[state.focus, null]];
  const place = lineOfCode(frame);
  return make(
    "div",
    { class: "panel focus-card" },
    make("div", { class: "name" }, ...breakable(name)),
    functions.size > 1 ? make("div", { class: "none" }, `${plural(functions.size, "place")} of at least 0.5 %`) : null,
    place === null ? null : make("div", { class: "none" }, place),
    figure("div", metric, sum, measureText(metric, sum), { class: "big" }),
    make("div", { class: "none" }, focusWholeText(sum, metric, whole)),
  );
}

// Functions that the flame graph and the butterfly have seen.
function offerFocusNames(document) {
  const names = new Set();
  for (const frame of [...document.frames, ...(flame.document?.frames ?? [])]) {
    const pattern = framePattern(frame);
    if (pattern !== null) names.add(pattern);
  }
  const list = clear(focusForm.querySelector("datalist"));
  list.append(
    ...[...names]
      .sort()
      .slice(0, 500)
      .map((value) => make("option", { value })),
  );
}

function drawFocus(body, [document]) {
  const metric = flameMetric();
  const sum = document.sums.find((one) => one.kind === state.kind)?.[metric] ?? null;
  const hadFocus = body.contains(window.document.activeElement);
  focusField.value = state.focus;
  offerFocusNames(document);
  clear(body).append(focusForm);
  if (sum === null) {
    body.append(
      make("p", { class: "empty" }, `No stack of ${state.kind} that is left has the function ${state.focus}.`),
    );
    return;
  }
  body.append(
    make(
      "div",
      { class: "butterfly" },
      focusTable(document, "callers", sum, metric),
      focusCard(document, sum, metric),
      focusTable(document, "callees", sum, metric),
    ),
  );
  if (hadFocus) focusField.focus({ preventScroll: true });
}

registerPart({
  id: "focus",
  title: "Callers and callees",
  nav: "Callers",
  order: 35,
  text: true,
  lazy: true,
  hint: "Memory of the stacks that go through a function. Recursive calls count once.",
  tools: [{ label: "Close", act: () => update({ focus: null }) }],
  questions: focusQuestions,
  draw: drawFocus,
});
