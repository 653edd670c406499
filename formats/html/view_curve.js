// Outstanding over time, for the kind that is shown, stacked by a key that the user picks.
//
// Two questions give the picture, both of `windows` with the same steps: the sums of the kind, with
// its peaks, and the ten largest groups. All others are the sums less these groups. The steps are of
// 1, 2 or 5 times a power of ten, at most 400 of what is shown, so zooming in asks for finer ones. A
// selected window asks nothing: the curve does not depend on it.
//
//     zoomFrom, zoomTo   what is shown        changes the questions
//     from, to           the selected window  moves the brush only

const CURVE_STEPS = 400;
const CURVE_GROUPS = 10;
const CURVE_SPAN_MIN = 1000; // ns: a microsecond
const CURVE_KEYS = [
  ["process", "Process"],
  ["heap", "Heap"],
  ["module", "Module"],
  ["site", "Function"],
  ["stack", "Stack"],
  ["thread", "Thread"],
  ["thread_name", "Thread name"],
  ["type_name", "Type name"],
  ["size_class", "Size class"],
  ["tag", "Stack tag"],
  ["pool_tag", "Pool tag"],
  ["object_type", "Object type"],
  ["kind", "Nothing"],
];

const CURVE_MEASURES = [
  ["size", "Size"],
  ["count", "Count"],
];

defineState("curveKey", { default: "process", read: oneOf(...CURVE_KEYS.map(([key]) => key)) });
defineState("curveMeasure", { default: "size", read: oneOf("size", "count") });

const curve = {
  data: null, // what is drawn: see curveData()
  view: { from: 0, to: 1 }, // ns; follows the zoom at once, before finer steps have arrived
  signs: [], // marks, spikes and rises: see view_curve_signs.js
  signsKey: null,
  places: null, // elements below the body
  drag: null, // x where it began, whether it has moved, and the end that is pulled
};

// --- questions ------------------------------------------------------------------------------

function roundStep(ns) {
  let step = 1;
  while (step * 10 < ns) step *= 10;
  return [1, 2, 5, 10].map((times) => step * times).find((one) => one >= ns);
}

// What is shown: the zoom, within the trace.
function curveView() {
  const end = Math.max(1, traceEnd());
  const from = Math.min(Math.max(traceStart(), state.zoomFrom ?? 0), end - 1);
  return { from, to: Math.max(from + 1, Math.min(state.zoomTo ?? end, end)) };
}

// Steps begin at multiples of their length, so that moving sideways shows the same ones. Those of a
// summary are as it was written, and zooming asks for no others.
function curveTimes() {
  if (isSummary()) return [["every", exactTime(traceInfo.every_ns)]];
  const { from, to } = curveView();
  const every = roundStep(Math.max(1, (to - from) / (CURVE_STEPS - 2)));
  const options = [["every", exactTime(every)]];
  if (state.zoomFrom !== null) options.push(["from", exactTime(Math.floor(from / every) * every)]);
  if (state.zoomTo !== null && state.zoomTo < traceEnd())
    options.push(["to", exactTime(Math.ceil(to / every) * every)]);
  return options;
}

// As in all other parts, memory of a process that has ended is outstanding, unless a filter says else.
// The windows of a summary have it only as freed.
function curveFilters() {
  const options = filterOptions({ window: false, types: false });
  return isSummary() || options.some(([name]) => name === "at-exit") ? options : [...options, ["at-exit", "leaked"]];
}

function curveQuestions() {
  if (state.kind === null || recordedKinds().length === 0 || (isSummary() && isUnknown(traceInfo.every_ns)))
    return null;
  const options = [...curveTimes(), ...curveFilters()];
  const questions = [{ command: "windows", options: [["group-by", "kind"], ...options] }];
  if (state.curveKey !== "kind")
    questions.push({
      command: "windows",
      options: [["group-by", state.curveKey], ["top", String(CURVE_GROUPS)], ...options],
    });
  return questions;
}

// --- data -----------------------------------------------------------------------------------

const WINDOW_MEASURE = /^(aifi|aifo|aofi|aofo|outstanding|peak|impacting|start|alloc|freed)_/;

// Handles have no sizes, so they are counted.
function curveMeasure(rows) {
  return state.curveMeasure === "count" || rows.some((row) => row.outstanding_size === null) ? "count" : "size";
}

// One point more than there are windows: the first is what was outstanding at the start.
function setPoints(points, i, row, measure) {
  points[i + 1] = row[`outstanding_${measure}`] ?? 0;
  if (i === 0) points[0] = startOf(row, measure);
}

// A static page has what was allocated and freed in a window, and not by types.
function startOf(row, measure) {
  return row[`start_${measure}`] ?? (row[`aofi_${measure}`] ?? 0) + (row[`aofo_${measure}`] ?? 0);
}

function groupIdentity(row) {
  return JSON.stringify(Object.entries(row).filter(([name]) => !WINDOW_MEASURE.test(name)));
}

function groupLabel(answer, row) {
  const key = state.curveKey;
  const { text, detail } = keyText(answer, row, key);
  if (STACK_KEYS.has(key)) return detail === "" ? text : `${text} \u2190 ${detail}`;
  if (key === "heap" && !isUnknown(row.process)) return `${text} of ${row.process}`;
  return detail === "" ? text : `${text} ${detail}`;
}

// The largest at their greatest height come first, which is also the order of colours.
function curveSeries(answer, measure) {
  const series = new Map();
  answer.windows.forEach((window, i) => {
    window.rows.forEach((row, number) => {
      const identity = groupIdentity(row);
      if (!series.has(identity))
        series.set(identity, {
          row,
          label: groupLabel(answer, row),
          answer,
          points: new Float64Array(answer.windows.length + 1),
          most: 0,
          numbers: [],
        });
      const one = series.get(identity);
      setPoints(one.points, i, row, measure);
      one.numbers[i] = number;
      one.most = Math.max(one.most, row[`peak_${measure}`] ?? 0);
    });
  });
  return [...series.values()].sort((a, b) => b.most - a.most);
}

function othersOf(total, series) {
  const points = total.slice();
  for (const one of series) for (let i = 0; i < points.length; i++) points[i] -= one.points[i];
  return points.some((value) => value > 0) ? [{ row: null, label: "all others", points, most: 0, numbers: [] }] : [];
}

// edges: N + 1 times; total and each of series.points: values at them; sums: rows of the kind by
// window, or null where nothing is outstanding and nothing happens.
function curveData([totals, groups]) {
  const windows = totals.windows;
  const sums = windows.map((window) => window.rows[0] ?? null);
  const measure = curveMeasure(sums.filter((row) => row !== null));
  const total = new Float64Array(windows.length + 1);
  sums.forEach((row, i) => row !== null && setPoints(total, i, row, measure));
  const edges = windows.map((window) => window.from_ns);
  edges.push(windows.at(-1)?.to_ns ?? 0);
  const series =
    groups === undefined
      ? [{ row: sums.find((row) => row !== null), label: state.kind, points: total, numbers: windows.map(() => 0) }]
      : curveSeries(groups, measure).slice(0, CURVE_GROUPS); // a static page may know more
  const others = groups === undefined ? [] : othersOf(total, series);
  return { edges, sums, total, measure, windows, series: [...series, ...others] };
}

function curveText(value, measure = curve.data.measure) {
  return measure === "size" ? formatSize(value) : formatCount(value);
}

function peakValue(row, measure = curve.data.measure) {
  return row === null ? 0 : (row[`peak_${measure}`] ?? 0);
}

// A static page has no peaks of counts.
function hasPeaks() {
  const { sums, measure } = curve.data;
  return sums.some((row) => row !== null && !isUnknown(row[`peak_${measure}`]));
}

// The window of the data that a time lies in.
function curveWindowAt(ns) {
  const { edges } = curve.data;
  let low = 0,
    high = edges.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (edges[middle] <= ns) low = middle;
    else high = middle - 1;
  }
  return low;
}

// --- selecting and zooming ------------------------------------------------------------------

function selectWindow(from, to, options = {}) {
  const [low, high] = from <= to ? [from, to] : [to, from];
  if (isSummary()) announce("No window of a summary can be selected");
  else if (high > low) update({ from: low, to: high }, options);
}

function selectPeak() {
  const { sums, edges } = curve.data;
  const peaks = sums.map((row) => peakValue(row));
  const i = peaks.indexOf(Math.max(...peaks));
  if (i < 0) return;
  selectWindow(edges[i], edges[i + 1]);
  announce(`Selected the peak of ${curveText(peaks[i])} at ${formatTime(edges[i], edges[i + 1] - edges[i])}`);
}

// The step of the curve in which most is added per second, whether it stays or not; -1 if nothing rises.
function steepestStep() {
  const { total, edges } = curve.data;
  let step = -1,
    most = 0;
  for (let i = 0; i + 1 < edges.length; i++) {
    const rate = (total[i + 1] - total[i]) / (edges[i + 1] - edges[i]);
    if (rate > most) [step, most] = [i, rate];
  }
  return step;
}

function selectSteepest() {
  const i = steepestStep();
  const { total, edges } = curve.data;
  selectWindow(edges[i], edges[i + 1]);
  const rise = curveText(total[i + 1] - total[i]);
  announce(`Selected the steepest rise: ${rise} from ${formatTime(edges[i], edges[i + 1] - edges[i])}`);
}

function zoomTo(from, to, options = {}) {
  const [begin, end] = [traceStart(), traceEnd()];
  const span = Math.min(end - begin, Math.max(CURVE_SPAN_MIN, Math.round(to - from)));
  const start = Math.max(begin, Math.min(end - span, Math.round(from)));
  if (span >= end - begin) update({ zoomFrom: null, zoomTo: null }, options);
  else update({ zoomFrom: start, zoomTo: start + span }, options);
}

function zoomToSelection() {
  const from = state.from ?? traceStart(),
    to = state.to ?? traceEnd();
  const margin = (to - from) * 0.05;
  zoomTo(from - margin, to + margin);
}

const ZOOM_DELAY_MS = 140;
let zoomTimer = 0;
let zoomMade = 0; // when the zoom was last written: turns of the wheel in a row are one entry to undo

// Shows the new range at once, and asks for its steps when the wheel rests.
function zoomSoon(from, to) {
  const [begin, end] = [traceStart(), traceEnd()];
  const span = Math.min(end - begin, Math.max(CURVE_SPAN_MIN, to - from));
  const start = Math.max(begin, Math.min(end - span, from));
  curve.view = { from: start, to: start + span };
  drawCurve();
  clearTimeout(zoomTimer);
  zoomTimer = setTimeout(() => {
    const replace = performance.now() - zoomMade < 1500;
    zoomMade = performance.now();
    zoomTo(curve.view.from, curve.view.to, { replace });
  }, ZOOM_DELAY_MS);
}

function zoomAround(ns, factor) {
  const { from, to } = curve.view;
  zoomSoon(ns - (ns - from) * factor, ns + (to - ns) * factor);
}

function zoomByKey(factor) {
  const { from, to } = curve.view;
  const middle = state.from !== null && state.to !== null ? (state.from + state.to) / 2 : (from + to) / 2;
  zoomAround(middle, factor);
}

function showWholeTrace() {
  update({ from: null, to: null, zoomFrom: null, zoomTo: null });
}

// --- the part -------------------------------------------------------------------------------

function curveButton(id, text, act) {
  return make("button", { type: "button", id, onclick: act }, text);
}

// Keys that say nothing about a kind are not offered for it.
function offerCurveKeys() {
  const only = {
    pool_tag: ["pool"],
    object_type: ["handle"],
    type_name: ["heap", "custom"],
    heap: ["heap", "custom", "extent"],
  };
  for (const option of byId("curve-key").options)
    option.hidden =
      (option.value in only && !only[option.value].includes(state.kind)) ||
      !tableHasKey(option.value) ||
      !source.can("windows", [["group-by", option.value], ...curveFilters()]);
  byId("curve-key").value = state.curveKey;
  byId("curve-measure").value = curve.data?.measure ?? state.curveMeasure;
  byId("curve-measure").disabled = state.kind === "handle";
}

function markCurveButtons() {
  const isZoomed = state.zoomFrom !== null || state.zoomTo !== null;
  const isWindowed = state.from !== null || state.to !== null;
  const isOfPart = source.window !== null && !source.window.isWhole;
  byId("select-none").textContent = isOfPart ? "Whole window" : "Whole trace";
  byId("select-peak").hidden = isSummary() || !hasPeaks();
  byId("select-steepest").hidden = isSummary();
  byId("select-steepest").disabled = steepestStep() < 0;
  byId("zoom-window").hidden = isSummary();
  byId("zoom-window").disabled = !isWindowed;
  byId("zoom-out").disabled = !isZoomed;
  byId("select-none").disabled = !isZoomed && !isWindowed;
}

function zoomOut() {
  update({ zoomFrom: null, zoomTo: null });
}

registerPart({
  id: "curve",
  title: "Outstanding over time",
  nav: "Curve",
  order: 10,
  first: true,
  text: true,
  csv: true,
  hint: () =>
    isSummary()
      ? "Turn the wheel or pinch to zoom."
      : "Drag over the curve to select a window, or move its two ends with the arrow keys. Turn the wheel or pinch to zoom.",
  tools: [
    choiceOf("Stack by", CURVE_KEYS, "process", (curveKey) => update({ curveKey }), "curve-key"),
    choiceOf("Show", CURVE_MEASURES, "size", (curveMeasure) => update({ curveMeasure }), "curve-measure"),
    curveButton("select-peak", "Select the peak", selectPeak),
    curveButton("select-steepest", "Select the steepest rise", selectSteepest),
    curveButton("zoom-window", "Zoom to window", zoomToSelection),
    curveButton("zoom-out", "Zoom out", zoomOut),
    curveButton("select-none", "Whole trace", showWholeTrace),
  ],
  follows: ["curveMeasure"],
  ignoresWindow: true,
  questions: curveQuestions,
  draw(body, documents, context) {
    curve.data = curveData(documents);
    curve.view = curveView();
    makeCurvePlaces(body);
    offerCurveKeys();
    markCurveButtons();
    drawCurve();
    drawLegend();
    drawCurveMemory();
    drawCurveTable();
    askSigns(context);
  },
});

onChange((changes) => {
  if (curve.data === null || byId("curve").hidden) return;
  markCurveButtons();
  if ("zoomFrom" in changes || "zoomTo" in changes) {
    clearTimeout(zoomTimer);
    curve.view = curveView();
    drawCurve();
  } else if ("from" in changes || "to" in changes) placeBrush();
});
