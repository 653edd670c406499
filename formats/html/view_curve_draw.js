// The picture of the curve: its axes and areas. The brush lies over it: see view_curve_brush.js.
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
  return Math.max(traceStart(), Math.min(traceEnd(), Math.round(curveTime(x) / unit) * unit));
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
  listenToPointer(places.chart);
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
  if (!hasPeaks()) return;
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
  const highest = Math.max(0, ...curve.data.sums.map((row) => peakValue(row)));
  const peak = hasPeaks() ? `, peak ${curveText(highest)}` : "";
  return `${state.kind} from ${formatTime(edges[0], span)} to ${formatTime(edges.at(-1), span)}: ${curveText(total.at(-1))} outstanding at the end${peak}`;
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

let curveWidth = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === curveWidth || curve.data === null) return;
  curveWidth = innerWidth;
  drawCurve();
  drawCurveMemory();
});
