// Outstanding over time: a stack of areas, one for each heap, and the brush.

const CHART_HEIGHT = 270,
  MARGIN = { left: 66, right: 14, top: 12, bottom: 26 };
const SERIES_MAX = 7;
const PAPER_WIDTH = 680; // of A4 without margins, in px
const chart = { width: 0, paperWidth: null, handles: null, drag: null };

function timeX(ns) {
  const from = edge(0),
    to = edge(WINDOWS);
  const part = to > from ? (ns - from) / (to - from) : 0;
  return MARGIN.left + part * (chart.width - MARGIN.left - MARGIN.right);
}

function chartX(window) {
  return timeX(edge(window));
}

// The edge nearest to a place in the chart.
function edgeAt(x) {
  let low = 0,
    high = WINDOWS;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (chartX(middle) < x) low = middle + 1;
    else high = middle;
  }
  return low > 0 && x - chartX(low - 1) < chartX(low) - x ? low - 1 : low;
}

function windowAt(x) {
  let window = edgeAt(x);
  if (window > 0 && chartX(window) > x) window--;
  return Math.min(window, WINDOWS - 1);
}

// The largest heaps by themselves, the rest together: what is left of the kind.
function seriesOfKind(kind) {
  const all = groups
    .filter((group) => group.kind === kind.kind && group.cells !== null)
    .sort((a, b) => b.peak_size - a.peak_size || a.index - b.index);
  const shown = all.length > SERIES_MAX + 1 ? all.slice(0, SERIES_MAX) : all.slice(0, SERIES_MAX + 1);
  const series = shown.map((group, i) => ({ group, label: group.label, colour: i, curve: group.cells.curve() }));
  const rest = addCurve(new Float64Array(WINDOWS + 1), kind.cells.curve());
  for (const one of series) addCurve(rest, one.curve, -1);
  if (rest.some((size) => size > 0)) series.push({ group: null, label: "all others", colour: 7, curve: rest });
  return series;
}

// Powers of two are round numbers of bytes.
function sizeStep(most) {
  let step = 1;
  while (step < most / 5) step *= 2;
  return step;
}

function pathOf(curve, y) {
  return Array.from(curve, (size, i) => `${chartX(i).toFixed(1)},${y(size).toFixed(1)}`);
}

function drawAxes(svg, most, y) {
  const step = sizeStep(most);
  for (let size = 0; size <= most; size += step) {
    svg.append(
      draw("line", {
        class: size === 0 ? "axis" : "grid",
        x1: MARGIN.left,
        x2: chart.width - MARGIN.right,
        y1: y(size),
        y2: y(size),
      }),
    );
    svg.append(draw("text", { x: MARGIN.left - 8, y: y(size) + 4, "text-anchor": "end" }, bytes(size)));
  }
  const from = edge(0),
    to = edge(WINDOWS);
  let every = 1;
  while (every * 10 < (to - from) / 8) every *= 10;
  for (const times of [10, 5, 2])
    if ((to - from) / (every * times) >= 5) {
      every *= times;
      break;
    }
  for (let ns = Math.ceil(from / every) * every; ns <= to; ns += every) {
    const x = timeX(ns);
    svg.append(draw("line", { class: "axis", x1: x, x2: x, y1: y(0), y2: y(0) + 4 }));
    svg.append(draw("text", { x, y: CHART_HEIGHT - 6, "text-anchor": "middle" }, tick(ns)));
  }
}

// Each point is the most in its window, which a spike inside of it may be.
function drawPeaks(svg, peaks, y) {
  const points = [];
  peaks.forEach((size, i) =>
    points.push(`${chartX(i).toFixed(1)},${y(size).toFixed(1)}`, `${chartX(i + 1).toFixed(1)},${y(size).toFixed(1)}`),
  );
  svg.append(draw("path", { class: "peak", d: `M${points.join(" L")}` }));
}

function drawChart() {
  const box = byId("chart");
  box.replaceChildren();
  byId("legend").replaceChildren();
  if (state.kind === null || WINDOWS === 0) {
    box.append(make("p", { class: "empty" }, "This trace has no memory events."));
    return;
  }
  chart.width = chart.paperWidth ?? Math.max(320, box.clientWidth || 1180);
  const all = seriesOfKind(state.kind);
  const series = state.group === null ? all : all.filter((one) => one.group === state.group);
  if (series.length === 0)
    series.push({ group: state.group, label: state.group.label, colour: 0, curve: state.group.cells.curve() });
  const cells = (state.group ?? state.kind).cells;
  const peaks = cells.peaks();
  const most = Math.max(1, ...peaks) * 1.04;
  const y = (size) => CHART_HEIGHT - MARGIN.bottom - (size / most) * (CHART_HEIGHT - MARGIN.bottom - MARGIN.top);
  const svg = draw("svg", {
    height: CHART_HEIGHT,
    viewBox: `0 0 ${chart.width} ${CHART_HEIGHT}`,
    role: "group",
    "aria-label": chartSummary(),
  });
  drawAxes(svg, most, y);
  let below = new Float64Array(WINDOWS + 1);
  for (const one of [...series].reverse()) {
    const above = addCurve(below.slice(), one.curve);
    svg.append(
      draw("path", {
        fill: `var(--series-${one.colour})`,
        "fill-opacity": 0.75,
        d: `M${pathOf(above, y).join(" L")} L${pathOf(below, y).reverse().join(" L")} Z`,
      }),
    );
    below = above;
  }
  drawPeaks(svg, peaks, y);
  drawFocus(svg, y);
  box.append(svg);
  addBrush(svg, cells, peaks);
  drawMarks(svg);
  drawLegend(all);
  drawMemory();
}

function chartSummary() {
  const kind = state.kind;
  const end = `${bytes(outstandingSize(kind.types))} outstanding at the end`;
  return `${kind.kind}: ${end}, peak ${bytes(kind.peak.size)} at ${seconds(kind.peak.at_ns)}`;
}

// The curve of what the flame graph, or the search, has picked.
function drawFocus(svg, y) {
  const curve = focusCurve();
  if (curve !== null) svg.append(draw("path", { class: "focus", d: `M${pathOf(curve, y).join(" L")}` }));
}

function focusCurve() {
  if (!isNarrowed()) return null;
  const sum = new Float64Array(WINDOWS + 1);
  for (const row of rowsShown()) if (row.cells !== null) addCurve(sum, row.cells.curve());
  return sum;
}

function drawLegend(series) {
  const legend = byId("legend");
  for (const one of series) {
    const swatch = make("span", { class: "swatch" });
    swatch.style.background = `var(--series-${one.colour})`;
    if (one.group === null) {
      legend.append(make("span", { class: "key" }, swatch, one.label));
      continue;
    }
    const pressed = state.group === one.group;
    legend.append(
      make(
        "button",
        {
          type: "button",
          "aria-pressed": pressed,
          title: "Show this heap only",
          onclick: () => update({ group: pressed ? null : one.group }),
        },
        swatch,
        one.label,
      ),
    );
  }
  legend.append(make("span", { class: "key" }, make("span", { class: "swatch line" }), "peak in each time step"));
  if (isNarrowed()) {
    const swatch = make("span", { class: "swatch line" });
    swatch.style.borderTop = "2px solid var(--text)";
    legend.append(make("span", { class: "key" }, swatch, "stacks picked below"));
  }
}

// --- the brush ------------------------------------------------------------------------------

function addBrush(svg, cells, peaks) {
  const height = CHART_HEIGHT - MARGIN.bottom - MARGIN.top;
  const surface = draw("rect", {
    class: "surface",
    x: MARGIN.left,
    y: MARGIN.top,
    width: chart.width - MARGIN.left - MARGIN.right,
    height,
  });
  const brush = draw("rect", { class: "brush", y: MARGIN.top, height, x: 0, width: 0, "pointer-events": "none" });
  const cursor = draw("line", { class: "cursor", y1: MARGIN.top, y2: MARGIN.top + height, visibility: "hidden" });
  chart.handles = ["start", "end"].map((which) => makeHandle(which, height));
  chart.brush = brush;
  svg.append(brush, cursor, surface, ...chart.handles);
  placeBrush();
  const place = (event) => {
    const box = svg.getBoundingClientRect();
    return ((event.clientX - box.left) * chart.width) / box.width;
  };
  surface.addEventListener("pointerdown", (event) => {
    surface.setPointerCapture(event.pointerId);
    chart.drag = { x: place(event), moved: false };
  });
  surface.addEventListener("pointermove", (event) => {
    const x = place(event);
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    cursor.setAttribute("visibility", "visible");
    showTip(event, windowText(windowAt(x), cells, peaks));
    if (chart.drag === null || (!chart.drag.moved && Math.abs(x - chart.drag.x) < 4)) return;
    chart.drag.moved = true;
    previewBrush(edgeAt(chart.drag.x), edgeAt(x));
  });
  surface.addEventListener("pointerup", (event) => {
    const drag = chart.drag;
    chart.drag = null;
    if (drag === null) return;
    const x = place(event);
    if (drag.moved) select(edgeAt(drag.x), edgeAt(x));
    else select(windowAt(x), windowAt(x) + 1);
  });
  surface.addEventListener("pointerleave", () => {
    cursor.setAttribute("visibility", "hidden");
    hideTip();
  });
  surface.addEventListener("dblclick", () => update({ selection: null }));
}

function windowText(window, cells, peaks) {
  const sums = cells.over(window, window + 1);
  return (
    `${seconds(edge(window))} \u2013 ${seconds(edge(window + 1))}\n` +
    `Outstanding ${bytes(sums.endSize)}, peak ${bytes(peaks[window])}\n` +
    `Allocated ${bytes(sums.allocSize)}, freed ${bytes(sums.freeSize)}`
  );
}

// Ends of the selection; without one they wait at the ends of the chart.
function selectionEnds() {
  return state.selection === null ? [0, WINDOWS] : [state.selection.from, state.selection.to];
}

function previewBrush(from, to) {
  const left = chartX(Math.min(from, to)),
    right = chartX(Math.max(from, to));
  chart.brush.setAttribute("x", left);
  chart.brush.setAttribute("width", right - left);
}

function placeBrush() {
  const ends = selectionEnds();
  if (state.selection === null) chart.brush.setAttribute("width", 0);
  else previewBrush(...ends);
  chart.handles.forEach((handle, i) => {
    handle.setAttribute("transform", `translate(${chartX(ends[i]).toFixed(1)},0)`);
    handle.setAttribute("aria-valuenow", ends[i]);
    handle.setAttribute("aria-valuetext", seconds(edge(ends[i])));
    handle.setAttribute("opacity", state.selection === null ? 0.55 : 1);
  });
}

// A slider: arrows move by a window, page keys by ten, Home and End to the ends.
function makeHandle(which, height) {
  const bottom = MARGIN.top + height;
  const handle = draw(
    "g",
    {
      class: "handle",
      tabindex: 0,
      role: "slider",
      "aria-label": `Selection ${which}`,
      "aria-valuemin": 0,
      "aria-valuemax": WINDOWS,
      id: `brush-${which}`,
    },
    draw("line", { class: "edge", y1: MARGIN.top, y2: bottom }),
    draw("rect", { class: "ring", x: -11, y: MARGIN.top + height / 2 - 19, width: 22, height: 38, rx: 8 }),
    draw("rect", { class: "grip", x: -5, y: MARGIN.top + height / 2 - 13, width: 10, height: 26, rx: 4 }),
  );
  handle.addEventListener("keydown", (event) => {
    const steps = {
      ArrowLeft: -1,
      ArrowDown: -1,
      ArrowRight: 1,
      ArrowUp: 1,
      PageDown: -10,
      PageUp: 10,
      Home: -WINDOWS,
      End: WINDOWS,
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    moveHandle(which, step * (event.shiftKey ? 10 : 1));
  });
  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    handle.dragging = true;
  });
  handle.addEventListener("pointermove", (event) => {
    if (!handle.dragging) return;
    const box = handle.ownerSVGElement.getBoundingClientRect();
    chart.pulled = edgeAt(((event.clientX - box.left) * chart.width) / box.width);
    const ends = selectionEnds();
    previewBrush(which === "start" ? chart.pulled : ends[0], which === "end" ? chart.pulled : ends[1]);
  });
  handle.addEventListener("pointerup", () => {
    const ends = selectionEnds();
    handle.dragging = false;
    if (chart.pulled === undefined) return;
    select(which === "start" ? chart.pulled : ends[0], which === "end" ? chart.pulled : ends[1]);
    chart.pulled = undefined;
  });
  return handle;
}

function moveHandle(which, step) {
  const [from, to] = selectionEnds();
  const ends =
    which === "start"
      ? [Math.max(0, Math.min(to - 1, from + step)), to]
      : [from, Math.min(WINDOWS, Math.max(from + 1, to + step))];
  if (ends[0] === 0 && ends[1] === WINDOWS) update({ selection: null });
  else select(...ends);
}

// --- what the selection holds -----------------------------------------------------------------

function drawSelection() {
  const box = byId("selection");
  box.replaceChildren();
  byId("select-none").disabled = !isSelected();
  byId("select-rise").disabled = state.kind === null || state.kind.growth === null;
  byId("select-steepest").disabled = state.kind === null || steepestRise(state.kind) === null;
  if (state.kind === null) return;
  const sums = amountsShown(),
    whole = state.group === null ? amountsOfKind(state.kind) : amountsOfGroup(state.group);
  if (sums === null || whole === null) return;
  const [from, to] = selectionEnds();
  const list = make("dl");
  const figure = (title, key, text, small = "") =>
    list.append(
      make(
        "div",
        {},
        make("dt", {}, title),
        make(
          "dd",
          { "data-figure": key, "data-value": sums[key] ?? "" },
          text,
          make("small", {}, small === "" ? "" : ` ${small}`),
        ),
      ),
    );
  const part = (key) => (isNarrowed() && whole[key] > 0 ? `, ${share(sums[key], whole[key])}` : "");
  figure(
    isSelected() ? "Selected" : report.window.is_whole ? "Whole trace" : "Window",
    "windows",
    `${seconds(edge(from))} \u2013 ${seconds(edge(to))}`,
    span(edge(to) - edge(from)),
  );
  figure("Outstanding at the end", "endSize", bytes(sums.endSize), blocks(sums.endCount) + part("endSize"));
  figure("Net growth", "net", signed(sums.net));
  figure("Allocated", "allocSize", bytes(sums.allocSize), blocks(sums.allocCount) + part("allocSize"));
  figure("Freed", "freeSize", bytes(sums.freeSize), blocks(sums.freeCount) + part("freeSize"));
  figure("Peak", "peak", sums.peak === null ? "\u2013" : bytes(sums.peak));
  box.append(list);
  if (isNarrowed()) box.append(make("p", { class: "hint narrowed" }, narrowedText(whole)));
}

// Which stacks these are the sums of.
function narrowedText(whole) {
  const found = rowsShown(),
    unknown = found.filter((row) => amountsOf(row) === null).length;
  const counted = found.length - unknown;
  const which = [
    isZoomed() ? "that the flame graph is zoomed to" : "",
    searchWords() !== "" ? `that ${counted === 1 ? "matches" : "match"} the search` : "",
  ];
  return (
    `These figures count only the ${counted === 1 ? "stack" : `${count(counted)} stacks`} ` +
    `${which.filter((text) => text !== "").join(" and ")}. ` +
    `All stacks together have ${bytes(whole.endSize)} outstanding.` +
    (unknown > 0 ? ` ${count(unknown)} stacks are not counted, because this file does not follow them over time.` : "")
  );
}

views.push((changes) => {
  if (["kind", "group", "node", "search", "size"].some((key) => key in changes)) drawChart();
  else if ("selection" in changes && chart.handles !== null) placeBrush();
  drawSelection();
});

byId("select-peak").addEventListener("click", () => {
  const peaks = (state.group ?? state.kind).cells.peaks();
  const window = peaks.indexOf(Math.max(...peaks));
  select(window, window + 1);
});
byId("select-rise").addEventListener("click", () => {
  const growth = state.kind.growth;
  select(growth.first_window, growth.first_window + growth.window_count);
});
byId("select-steepest").addEventListener("click", () => {
  const { window } = steepestRise(state.kind);
  select(window, window + 1);
});
byId("select-none").textContent = report.window.is_whole ? "Whole trace" : "Whole window";
byId("select-none").addEventListener("click", () => update({ selection: null }));
