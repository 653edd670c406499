// The brush of the curve: its two ends, and what keys, the pointer, fingers and the wheel do.

// --- the brush ------------------------------------------------------------------------------

function selectionEnds() {
  return [state.from ?? traceStart(), state.to ?? traceEnd()];
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
  const [begin, end] = [traceStart(), traceEnd()];
  const ends =
    which === "start" ? [Math.max(begin, Math.min(to - 1, ns)), to] : [from, Math.min(end, Math.max(from + 1, ns))];
  if (isSummary()) return announce("No window of a summary can be selected");
  const isWhole = ends[0] === begin && ends[1] === end;
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
      "aria-valuemin": traceStart(),
      "aria-valuemax": traceEnd(),
      "aria-valuenow": 0,
    },
    makeSvg("line", { class: "edge", y1: PLOT.top, y2: plotBottom() }),
    makeSvg("rect", { class: "ring", x: -11, y: middle - 19, width: 22, height: 38, rx: 8 }),
    makeSvg("rect", { class: "grip", x: -5, y: middle - 13, width: 10, height: 26, rx: 4 }),
  );
  end.addEventListener("keydown", (event) => endKeys(event, which));
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
    `Outstanding ${curveText(curve.data.total[i + 1])}${hasPeaks() ? `, peak ${curveText(peakValue(row))}` : ""}`,
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
  return row === null ? 0 : (row[`alloc_${measure}`] ?? row[`aifi_${measure}`] + row[`aifo_${measure}`]);
}

function freedIn(row, measure) {
  return row === null ? 0 : (row[`freed_${measure}`] ?? row[`aifi_${measure}`] + row[`aofi_${measure}`]);
}

// Two fingers zoom, one finger or the mouse selects.
const touches = new Map();
let pinch = null; // distance of the fingers and what was shown when the second one came

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

// The box stays while the picture in it is drawn anew, as zooming does: it takes the pointer.
function dragStart(event) {
  const handle = event.target.closest(".handle");
  if (event.button !== 0 || (handle === null && !event.target.matches(".surface"))) return;
  curve.places.chart.setPointerCapture(event.pointerId);
  touches.set(event.pointerId, pointerX(event));
  if (touches.size === 2) startPinch();
  else if (!isSummary()) curve.drag = { x: pointerX(event), moved: false, end: handle === null ? null : handle.id };
  handle?.focus({ preventScroll: true });
}

// The two ends that the drag stands for.
function draggedEnds(x) {
  const ends = selectionEnds();
  if (curve.drag.end === "brush-start") return [pickedTime(x), ends[1]];
  if (curve.drag.end === "brush-end") return [ends[0], pickedTime(x)];
  return [pickedTime(curve.drag.x), pickedTime(x)];
}

function showCursor(event, x) {
  const isInside = curve.drag !== null || event.target.matches?.(".surface");
  curve.cursor.setAttribute("x1", x);
  curve.cursor.setAttribute("x2", x);
  curve.cursor.setAttribute("visibility", isInside ? "visible" : "hidden");
  if (isInside) showTip(event.clientX, event.clientY, pointerLines(curveTime(x)).join("\n"));
}

function dragMove(event) {
  const x = pointerX(event);
  if (touches.has(event.pointerId)) touches.set(event.pointerId, x);
  if (pinch !== null) return touches.size === 2 ? movePinch() : undefined;
  showCursor(event, x);
  if (curve.drag === null || (!curve.drag.moved && Math.abs(x - curve.drag.x) < 4)) return;
  curve.drag.moved = true;
  previewBrush(...draggedEnds(x));
}

function dragEnd(event) {
  touches.delete(event.pointerId);
  const { drag } = curve;
  if (pinch !== null && touches.size === 0) pinch = null;
  if (drag === null) return;
  if (event.type === "pointercancel") placeBrush();
  else if (drag.moved) selectWindow(...draggedEnds(pointerX(event)));
  else if (drag.end === null) selectWindow(...curve.data.edges.slice(curveWindowAt(curveTime(drag.x))).slice(0, 2));
  curve.drag = null;
}

function leaveChart() {
  curve.cursor?.setAttribute("visibility", "hidden");
  hideTip();
}

function listenToPointer(box) {
  box.addEventListener("pointerdown", dragStart);
  box.addEventListener("pointermove", dragMove);
  box.addEventListener("pointerup", dragEnd);
  box.addEventListener("pointercancel", dragEnd);
  box.addEventListener("pointerleave", leaveChart);
  box.addEventListener("dblclick", (event) => event.target.matches(".surface") && update({ from: null, to: null }));
  box.addEventListener("wheel", wheelZoom, { passive: false });
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
  const area = { x: PLOT.left, y: PLOT.top, width: plotRight() - PLOT.left, height };
  const surface = makeSvg("rect", { class: "surface", ...area });
  curve.cursor = makeSvg("line", { class: "cursor", y1: PLOT.top, y2: plotBottom(), visibility: "hidden" });
  curve.brush = makeSvg("rect", { class: "brush", ...area, width: 0, "pointer-events": "none" });
  curve.ends = isSummary() ? [] : ["start", "end"].map(makeEnd);
  svg.append(curve.brush, curve.cursor, surface, ...curve.ends);
  placeBrush();
}
