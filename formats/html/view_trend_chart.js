// The chart of a trend: a line for each row that is chosen in the table, or for those that change most.

const TREND_PLOT = { height: 260, left: 74, right: 16, top: 10, bottom: 26 };
const TREND_LINES = 7; // colours there are, for those that change most
const DOTS_MAX = 60; // runs, so that dots do not touch

const trendChart = { box: null, width: 900, focused: 0 };

function chartRows() {
  const rows = trendRows();
  const chosen = state.drawn.map((index) => rows[index]).filter((row) => row !== undefined && kindOfRow(row) === state.kind);
  return chosen.length > 0 ? chosen : rows.filter(isShownRow).slice(0, TREND_LINES);
}

function runX(run) {
  const { runs } = compared.answer;
  const room = trendChart.width - TREND_PLOT.left - TREND_PLOT.right;
  return TREND_PLOT.left + (runs.length === 1 ? room / 2 : (run / (runs.length - 1)) * room);
}

// Returns where a value is. A negative one, as of Impacting Size, is below the axis.
function drawTrendGrid(svg, values) {
  const { answer } = compared;
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  const step = valueStep(Math.max(1, most - least), amountsKey(answer) === "counts" ? "count" : "size");
  const [bottom, top] = [Math.floor(least / step) * step, Math.max(step, Math.ceil(most / step) * step)];
  const height = TREND_PLOT.height - TREND_PLOT.top - TREND_PLOT.bottom;
  const y = (value) => TREND_PLOT.top + ((top - value) / (top - bottom)) * height;
  for (let value = bottom; value <= top; value += step) {
    const place = { y1: y(value), y2: y(value), x1: TREND_PLOT.left, x2: trendChart.width - TREND_PLOT.right };
    svg.append(makeSvg("line", { class: value === 0 ? "axis" : "grid", ...place }));
    svg.append(makeSvg("text", { x: TREND_PLOT.left - 8, y: y(value) + 4, "text-anchor": "end" }, amountText(answer, value)));
  }
  return y;
}

function drawTrendLine(svg, row, colour, y) {
  const places = row.values.map((value, run) => [runX(run).toFixed(1), y(value ?? 0).toFixed(1)]);
  const path = `M${places.map((place) => place.join()).join(" L")}`;
  svg.append(makeSvg("path", { class: `line colour-${colour}`, d: path, "data-row": row.index }));
  if (places.length > DOTS_MAX) return;
  for (const [cx, cy] of places) svg.append(makeSvg("circle", { class: `dot colour-${colour}`, cx, cy, r: 3.5 }));
}

// --- runs -----------------------------------------------------------------------------------

function runLines(run, rows) {
  const { answer } = compared;
  const told = answer.runs[run];
  const amounts = rows.map((row) => `${amountText(answer, row.values[run]) ?? "unknown"}  ${rowTitle(row.of).slice(0, 80)}`);
  return [`Run ${told.run}: ${fileName(told.file)}`, startText(told), ...amounts];
}

function runKey(event) {
  const bands = [...trendChart.box.querySelectorAll(".run")];
  const at = bands.indexOf(event.target);
  const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bands.length - 1 }[event.key];
  if (at < 0 || next === undefined || bands[next] === undefined) return;
  event.preventDefault();
  bands[at].setAttribute("tabindex", "-1");
  bands[next].setAttribute("tabindex", "0");
  bands[next].focus();
  trendChart.focused = next;
}

// Bands that take the pointer, one for each run; arrow keys go through them.
function drawTrendRuns(svg, rows) {
  const { runs } = compared.answer;
  const band = runs.length === 1 ? trendChart.width : runX(1) - runX(0);
  const every = Math.ceil(runs.length / Math.max(1, Math.floor(trendChart.width / 44)));
  runs.forEach((told, run) => {
    const x = runX(run);
    if (run % every === 0)
      svg.append(makeSvg("text", { x, y: TREND_PLOT.height - 8, "text-anchor": "middle" }, String(told.run)));
    const area = makeSvg("rect", {
      class: "run",
      x: x - band / 2,
      y: TREND_PLOT.top,
      width: band,
      height: TREND_PLOT.height - TREND_PLOT.top - TREND_PLOT.bottom,
      tabindex: run === Math.min(trendChart.focused, runs.length - 1) ? 0 : -1,
      role: "img",
      "aria-label": runLines(run, rows).join("; "),
      "data-run": told.run,
    });
    tip(area, () => runLines(run, rows));
    svg.append(area);
  });
}

// --- the part -------------------------------------------------------------------------------

function trendKey(row, at) {
  const title = rowTitle(row.of);
  return make(
    "span",
    { class: "key", title },
    make("span", { class: `swatch colour-${at}` }),
    make("span", { class: "label" }, title),
  );
}

function drawTrendChart() {
  const rows = chartRows();
  trendChart.width = Math.max(320, trendChart.box.clientWidth || 900);
  const size = { viewBox: `0 0 ${trendChart.width} ${TREND_PLOT.height}`, height: TREND_PLOT.height };
  const svg = makeSvg("svg", { ...size, role: "group", "aria-labelledby": "curves-title", onkeydown: runKey });
  const y = drawTrendGrid(svg, rows.flatMap((row) => row.values.map((value) => value ?? 0)));
  rows.forEach((row, at) => drawTrendLine(svg, row, at % 11, y));
  drawTrendRuns(svg, rows);
  trendChart.box.replaceChildren(svg);
  trendChart.legend.replaceChildren(...rows.map((row, at) => trendKey(row, at % 11)));
}

function drawTrendPart(body) {
  if (!body.contains(trendChart.box)) {
    trendChart.box = make("div", { class: "chart trend-chart" });
    trendChart.legend = make("div", { class: "legend" });
    clear(body).append(make("div", { class: "panel" }, trendChart.box, trendChart.legend));
    new ResizeObserver(() => {
      if (trendChart.box.clientWidth > 0 && trendChart.box.clientWidth !== trendChart.width) drawTrendChart();
    }).observe(trendChart.box);
  }
  drawTrendChart();
}

registerComparedPart("trend", {
  id: "curves",
  title: "From run to run",
  nav: "Curves",
  order: 10,
  csv: false,
  text: false,
  hint: "The rows that change most, or those that are chosen in the table. Point at a run for its numbers, or go through the runs with the arrow keys.",
  follows: ["kind", "search", "pattern", "drawn"],
  draw: drawTrendPart,
});
