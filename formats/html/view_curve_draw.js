// The picture of the curve: areas, axes, the brush with its two ends, and what the pointer does.
// Everything is drawn anew on a change, 400 points of eleven areas, but for the brush, which moves.

const PLOT = { height: 290, left: 72, right: 14, top: 32, bottom: 26 };

function plotRight() {
  return curve.width - PLOT.right;
}

function plotBottom() {
  return PLOT.height - PLOT.bottom;
}

function curveX(ns) {
  const { from, to } = curve.view;
  return PLOT.left + ((ns - from) / (to - from)) * (plotRight() - PLOT.left);
}

function curveTime(x) {
  const { from, to } = curve.view;
  return from + ((Math.max(PLOT.left, Math.min(x, plotRight())) - PLOT.left) / (plotRight() - PLOT.left)) * (to - from);
}

// A time that is picked with the pointer has no more digits than the pointer has.
function pickedTime(x) {
  const { from, to } = curve.view;
  const unit = 10 ** Math.max(0, Math.floor(Math.log10((to - from) / (plotRight() - PLOT.left))));
  return Math.max(0, Math.min(traceEnd(), Math.round(curveTime(x) / unit) * unit));
}

// --- places ---------------------------------------------------------------------------------

function makeCurvePlaces(body) {
  if (curve.places !== null && body.contains(curve.places.chart)) return;
  const places = {
    chart: make("div", { class: "chart" }),
    signName: make("p", { class: "hint sign-name" }),
    legend: make("div", { class: "legend", role: "group", "aria-label": "What the areas are" }),
    memory: make("div", { class: "memory" }),
    table: make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The curve as a table" }),
  };
  const details = make(
    "details",
    { class: "curve-table", ontoggle: () => drawCurveTable() },
    make("summary", {}, "The curve as a table"),
    places.table,
  );
  curve.places = { ...places, details };
  clear(body).append(
    make("div", { class: "panel" }, places.chart, places.signName, places.legend, places.memory, details),
  );
}

// --- axes and areas -------------------------------------------------------------------------

// Sizes have steps of powers of two, counts of 1, 2 and 5.
function valueStep(most, measure) {
  if (measure === "count") return roundStep(Math.max(1, most / 5));
  let step = 1;
  while (step < most / 5) step *= 2;
  return step;
}

function tickText(ns, every) {
  const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(every) - 1e-9)));
  return `${(ns / 1e9).toFixed(digits)} s`;
}

function drawAxes(svg, most, y) {
  const step = valueStep(most, curve.data.measure);
  for (let value = 0; value <= most; value += step) {
    svg.append(
      makeSvg("line", {
        class: value === 0 ? "axis" : "grid",
        x1: PLOT.left,
        x2: plotRight(),
        y1: y(value),
        y2: y(value),
      }),
      makeSvg("text", { x: PLOT.left - 8, y: y(value) + 4, "text-anchor": "end" }, curveText(value)),
    );
  }
  const { from, to } = curve.view;
  const every = roundStep(Math.max(1, ((to - from) * 110) / curve.width));
  for (let ns = Math.ceil(from / every) * every; ns <= to; ns += every) {
    const x = curveX(ns);
    const anchor = x > curve.width - 40 ? "end" : "middle";
    svg.append(
      makeSvg("line", { class: "axis", x1: x, x2: x, y1: y(0), y2: y(0) + 4 }),
      makeSvg(
        "text",
        { x: anchor === "end" ? plotRight() + 10 : x, y: PLOT.height - 6, "text-anchor": anchor },
        tickText(ns, every),
      ),
    );
  }
}

function pointsText(points, y) {
  return Array.from(points, (value, i) => `${curveX(curve.data.edges[i]).toFixed(1)},${y(value).toFixed(1)}`);
}

function drawAreas(group, y) {
  let below = new Float64Array(curve.data.edges.length);
  [...curve.data.series].reverse().forEach((one, i, all) => {
    const above = below.map((value, k) => value + one.points[k]);
    const colour = one.row === null ? "rest" : all.length - 1 - i;
    const d = `M${pointsText(above, y).join(" L")} L${pointsText(below, y).reverse().join(" L")} Z`;
    group.append(makeSvg("path", { class: `area colour-${colour}`, d }));
    below = above;
  });
}

// The most in each step, which a spike inside of it may be.
function drawPeaks(group, y) {
  const { edges, sums } = curve.data;
  const points = sums.flatMap((row, i) => {
    const top = y(peakValue(row)).toFixed(1);
    return [`${curveX(edges[i]).toFixed(1)},${top}`, `${curveX(edges[i + 1]).toFixed(1)},${top}`];
  });
  group.append(makeSvg("path", { class: "peak", d: `M${points.join(" L")}` }));
}

// Of what is in view, so that a zoom also shows small changes of small amounts.
function highestShown() {
  const { edges, sums } = curve.data;
  const { from, to } = curve.view;
  let most = 1;
  sums.forEach((row, i) => {
    if (edges[i + 1] >= from && edges[i] <= to)
      most = Math.max(most, peakValue(row), curve.data.total[i + 1], curve.data.total[i]);
  });
  return most * 1.04;
}

function curveSummary() {
  const { total, edges } = curve.data;
  const span = curve.view.to - curve.view.from;
  const peak = Math.max(0, ...curve.data.sums.map((row) => peakValue(row)));
  return `${state.kind} from ${formatTime(edges[0], span)} to ${formatTime(edges.at(-1), span)}: ${curveText(total.at(-1))} outstanding at the end, peak ${curveText(peak)}`;
}

function drawCurve() {
  if (curve.data === null || curve.places === null) return;
  const focused = curve.places.chart.contains(document.activeElement) ? document.activeElement.id : "";
  const box = clear(curve.places.chart);
  curve.width = Math.max(320, box.clientWidth || 1180);
  if (curve.data.windows.length === 0)
    return box.append(make("p", { class: "empty" }, "The trace has no time in which memory could be outstanding."));
  const most = highestShown();
  const y = (value) => plotBottom() - (value / most) * (plotBottom() - PLOT.top);
  const svg = makeSvg("svg", {
    height: PLOT.height,
    viewBox: `0 0 ${curve.width} ${PLOT.height}`,
    role: "group",
    "aria-label": curveSummary(),
  });
  svg.append(
    makeSvg(
      "clipPath",
      { id: "curve-clip" },
      makeSvg("rect", { x: PLOT.left, y: 0, width: plotRight() - PLOT.left, height: PLOT.height }),
    ),
  );
  drawAxes(svg, most, y);
  const areas = makeSvg("g", { "clip-path": "url(#curve-clip)" });
  drawAreas(areas, y);
  drawPeaks(areas, y);
  svg.append(areas);
  box.append(svg);
  addBrush(svg);
  drawSigns(svg);
  if (focused !== "") byId(focused)?.focus({ preventScroll: true });
}

// --- the brush ------------------------------------------------------------------------------

function selectionEnds() {
  return [state.from ?? 0, state.to ?? traceEnd()];
}

function previewBrush(from, to) {
  const [left, right] = [Math.min(from, to), Math.max(from, to)].map((ns) =>
    Math.max(PLOT.left, Math.min(curveX(ns), plotRight())),
  );
  curve.brush.setAttribute("x", left);
  curve.brush.setAttribute("width", right - left);
}

function placeBrush() {
  const ends = selectionEnds();
  const isSelected = state.from !== null || state.to !== null;
  if (isSelected) previewBrush(...ends);
  else curve.brush.setAttribute("width", 0);
  curve.ends.forEach((end, i) => {
    const x = Math.max(PLOT.left, Math.min(curveX(ends[i]), plotRight()));
    end.setAttribute("transform", `translate(${x.toFixed(1)},0)`);
    end.setAttribute("aria-valuenow", ends[i]);
    end.setAttribute("aria-valuetext", formatTime(ends[i], curve.view.to - curve.view.from));
    end.setAttribute("opacity", isSelected ? 1 : 0.6);
  });
}

function moveEnd(which, ns) {
  const [from, to] = selectionEnds();
  const step = 1;
  const end = traceEnd();
  const ends =
    which === "start" ? [Math.max(0, Math.min(to - step, ns)), to] : [from, Math.min(end, Math.max(from + step, ns))];
  const isWhole = ends[0] === 0 && ends[1] === end;
  update(isWhole ? { from: null, to: null } : { from: ends[0], to: ends[1] }, {
    replace: state.from !== null || state.to !== null,
  });
}

// Arrow keys move an end by a step of the curve, page keys by ten, Home and End to the ends.
function endKeys(event, which) {
  const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
  const every = curve.data.edges[1] - curve.data.edges[0];
  const at = selectionEnds()[which === "start" ? 0 : 1];
  if (event.key in steps) moveEnd(which, at + steps[event.key] * every * (event.shiftKey ? 10 : 1));
  else if (event.key === "Home") moveEnd(which, curve.view.from);
  else if (event.key === "End") moveEnd(which, curve.view.to);
  else if (event.key === "+" || event.key === "=") zoomByKey(0.5);
  else if (event.key === "-") zoomByKey(2);
  else return;
  event.preventDefault();
}

function makeEnd(which) {
  const middle = (PLOT.top + plotBottom()) / 2;
  const end = makeSvg(
    "g",
    {
      class: "handle",
      tabindex: 0,
      role: "slider",
      id: `brush-${which}`,
      "aria-label": which === "start" ? "Start of the window" : "End of the window",
      "aria-orientation": "horizontal",
      "aria-valuemin": 0,
      "aria-valuemax": traceEnd(),
      "aria-valuenow": 0,
    },
    makeSvg("line", { class: "edge", y1: PLOT.top, y2: plotBottom() }),
    makeSvg("rect", { class: "ring", x: -11, y: middle - 19, width: 22, height: 38, rx: 8 }),
    makeSvg("rect", { class: "grip", x: -5, y: middle - 13, width: 10, height: 26, rx: 4 }),
  );
  end.addEventListener("keydown", (event) => endKeys(event, which));
  let pulled = null;
  end.addEventListener("pointerdown", (event) => {
    end.setPointerCapture(event.pointerId);
    pulled = undefined;
  });
  end.addEventListener("pointermove", (event) => {
    if (pulled === null) return;
    pulled = pickedTime(pointerX(event));
    const ends = selectionEnds();
    previewBrush(which === "start" ? pulled : ends[0], which === "end" ? pulled : ends[1]);
  });
  end.addEventListener("pointerup", () => {
    if (typeof pulled === "number") moveEnd(which, pulled);
    pulled = null;
  });
  return end;
}

// --- the pointer ----------------------------------------------------------------------------

function pointerX(event) {
  const box = curve.places.chart.firstChild.getBoundingClientRect();
  return ((event.clientX - box.left) * curve.width) / box.width;
}

function pointerLines(ns) {
  const { edges, sums, series, windows, measure } = curve.data;
  const i = curveWindowAt(ns);
  const row = sums[i];
  const span = windows[i].to_ns - windows[i].from_ns;
  const lines = [
    `${formatTime(edges[i], span)} \u2013 ${formatTime(edges[i + 1], span)}`,
    `Outstanding ${curveText(curve.data.total[i + 1])}, peak ${curveText(peakValue(row))}`,
    `Allocated ${curveText(allocatedIn(row, measure))}, freed ${curveText(freedIn(row, measure))}`,
  ];
  if (series.length > 1)
    lines.push(
      ...series
        .filter((one) => one.points[i + 1] > 0)
        .slice(0, 8)
        .map((one) => `${one.label}: ${curveText(one.points[i + 1])}`),
    );
  return lines;
}

function allocatedIn(row, measure) {
  return row === null ? 0 : row[`aifi_${measure}`] + row[`aifo_${measure}`];
}

function freedIn(row, measure) {
  return row === null ? 0 : row[`aifi_${measure}`] + row[`aofi_${measure}`];
}

// Two fingers zoom, one finger or the mouse selects.
const touches = new Map();
let pinch = null;

function startPinch() {
  const [a, b] = [...touches.values()];
  pinch = { distance: Math.max(10, Math.abs(a - b)), view: { ...curve.view }, middle: curveTime((a + b) / 2) };
  curve.drag = null;
  placeBrush();
}

function movePinch() {
  const [a, b] = [...touches.values()];
  const factor = pinch.distance / Math.max(10, Math.abs(a - b));
  zoomSoon(
    pinch.middle - (pinch.middle - pinch.view.from) * factor,
    pinch.middle + (pinch.view.to - pinch.middle) * factor,
  );
}

function dragStart(event, surface) {
  if (event.button !== 0) return;
  surface.setPointerCapture?.(event.pointerId);
  touches.set(event.pointerId, pointerX(event));
  if (touches.size === 2) startPinch();
  else curve.drag = { x: pointerX(event), moved: false };
}

function dragMove(event, cursor) {
  const x = pointerX(event);
  if (touches.has(event.pointerId)) touches.set(event.pointerId, x);
  if (pinch !== null && touches.size === 2) return movePinch();
  cursor.setAttribute("x1", x);
  cursor.setAttribute("x2", x);
  cursor.setAttribute("visibility", "visible");
  showTip(event.clientX, event.clientY, pointerLines(curveTime(x)).join("\n"));
  if (!curve.drag || (!curve.drag.moved && Math.abs(x - curve.drag.x) < 4)) return;
  curve.drag.moved = true;
  previewBrush(pickedTime(curve.drag.x), pickedTime(x));
}

function dragEnd(event) {
  touches.delete(event.pointerId);
  const drag = curve.drag;
  curve.drag = null;
  if (pinch !== null) {
    if (touches.size === 0) pinch = null;
    return;
  }
  if (!drag) return;
  if (drag.moved) return selectWindow(pickedTime(drag.x), pickedTime(pointerX(event)));
  const i = curveWindowAt(curveTime(drag.x));
  selectWindow(curve.data.edges[i], curve.data.edges[i + 1]);
}

const SCROLL_REST_MS = 400;
let scrolledAt = -SCROLL_REST_MS;
addEventListener("scroll", () => (scrolledAt = performance.now()), { passive: true });

// The wheel zooms at the pointer, but not in the middle of scrolling the page past the curve.
function wheelZoom(event) {
  if (!event.ctrlKey && performance.now() - scrolledAt < SCROLL_REST_MS) return;
  event.preventDefault();
  const { from, to } = curve.view;
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    const shift = ((to - from) * event.deltaX) / 800;
    return zoomSoon(from + shift, to + shift);
  }
  zoomAround(
    curveTime(pointerX(event)),
    1.0018 ** Math.max(-500, Math.min(500, event.deltaY * (event.ctrlKey ? 4 : 1))),
  );
}

function addBrush(svg) {
  const height = plotBottom() - PLOT.top;
  const surface = makeSvg("rect", {
    class: "surface",
    x: PLOT.left,
    y: PLOT.top,
    width: plotRight() - PLOT.left,
    height,
  });
  const cursor = makeSvg("line", { class: "cursor", y1: PLOT.top, y2: plotBottom(), visibility: "hidden" });
  curve.brush = makeSvg("rect", { class: "brush", y: PLOT.top, height, x: 0, width: 0, "pointer-events": "none" });
  curve.ends = ["start", "end"].map(makeEnd);
  svg.append(curve.brush, cursor, surface, ...curve.ends);
  placeBrush();
  surface.addEventListener("pointerdown", (event) => dragStart(event, surface));
  surface.addEventListener("pointermove", (event) => dragMove(event, cursor));
  surface.addEventListener("pointerup", dragEnd);
  surface.addEventListener("pointercancel", dragEnd);
  surface.addEventListener("pointerleave", () => {
    cursor.setAttribute("visibility", "hidden");
    hideTip();
  });
  surface.addEventListener("dblclick", () => update({ from: null, to: null }));
  svg.addEventListener("wheel", wheelZoom, { passive: false });
}

// --- legend and table -----------------------------------------------------------------------

// What narrows the page to a group of the curve.
function seriesItems(one) {
  const key = state.curveKey;
  if (key === "process") return filterItems("process", one.row.pid ?? one.row.process);
  if (key === "heap" || key === "thread") return filterItems(key, one.row[key]);
  if (key === "module") return isUnknown(one.row.module) ? [] : filterItems("require-frame", `${one.row.module}!`);
  if (key === "site" || key === "frame")
    return isUnknown(one.row[key]) ? [] : frameItems(one.answer.frames[one.row[key]]);
  if (key === "stack") return frameItems(stackFrames(one.answer, one.row.stack)[0]);
  return [];
}

function legendEntry(one, i) {
  const { measure, windows } = curve.data;
  const last = windows.length - 1;
  const swatch = make("span", { class: `swatch colour-${one.row === null ? "rest" : i}` });
  const place = one.numbers[last] === undefined ? {} : { "data-window": last, "data-row": one.numbers[last] };
  const value = figure("span", `outstanding_${measure}`, one.points[last + 1], curveText(one.points[last + 1]), place);
  const items = one.row === null ? [] : seriesItems(one);
  const content = [swatch, make("span", { class: "label" }, one.label), value];
  if (items.length === 0) return make("span", { class: "key", title: one.label }, ...content);
  const button = make(
    "button",
    { type: "button", class: "key", title: one.label, "aria-haspopup": "menu" },
    ...content,
  );
  button.addEventListener("click", () =>
    openMenu(button, [...items, { label: "Copy", act: () => copyText(one.label, "the name") }]),
  );
  return button;
}

function drawLegend() {
  const legend = clear(curve.places.legend);
  const { command, options } = curveQuestions().at(-1);
  legend.dataset.command = source.commandFor(command, options);
  legend.append(
    ...curve.data.series.map(legendEntry),
    make("span", { class: "key" }, make("span", { class: "swatch line" }), "peak in each time step"),
  );
}

// Written when it is opened: 400 rows are not for everyone.
function drawCurveTable() {
  const { details, table } = curve.places;
  clear(table);
  if (!details.open || curve.data === null) return;
  const { windows, sums, measure } = curve.data;
  const names = [`outstanding_${measure}`, `peak_${measure}`];
  const titles = ["From", "To", "Outstanding at the end", "Peak", "Allocated", "Freed"];
  const head = make("thead", {}, make("tr", {}, ...titles.map((title) => make("th", { scope: "col" }, title))));
  const rows = windows.map((window, i) => {
    const span = window.to_ns - window.from_ns;
    const cells = names.map((name) =>
      figure("td", name, sums[i]?.[name] ?? 0, curveText(sums[i]?.[name] ?? 0), { "data-window": i }),
    );
    const changes = [allocatedIn(sums[i], measure), freedIn(sums[i], measure)].map((value) =>
      make("td", {}, curveText(value)),
    );
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, formatTime(window.from_ns, span)),
      make("td", {}, formatTime(window.to_ns, span)),
      ...cells,
      ...changes,
    );
  });
  table.append(make("table", {}, head, make("tbody", {}, ...rows)));
}

let curveWidth = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === curveWidth || curve.data === null) return;
  curveWidth = innerWidth;
  drawCurve();
  drawCurveMemory();
});
