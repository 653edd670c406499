// Curves over the runs: one line for each row that is chosen, or for those that move most.

const CHART_HEIGHT = 260,
  CHART_LEFT = 74,
  CHART_BOTTOM = 26,
  CHART_TOP = 10;

function chartRows() {
  const chosen = rows.filter((row) => state.chosen.has(row.index));
  if (chosen.length > 0) return chosen;
  return rowsShown()
    .sort((a, b) => b.weight - a.weight || a.index - b.index)
    .slice(0, SERIES);
}

// The next larger of 1, 2 and 5 times a power: of ten for counts, of two for bytes.
function niceStep(value) {
  if (IS_SIZE) return 2 ** Math.ceil(Math.log2(Math.max(1, value)));
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= value);
}

function runX(run, width) {
  const room = width - CHART_LEFT - 16;
  return CHART_LEFT + (trend.runs.length === 1 ? room / 2 : (run / (trend.runs.length - 1)) * room);
}

function drawGrid(svg, most, width) {
  const step = niceStep(most / 4);
  const top = Math.max(step, Math.ceil(most / step) * step);
  const y = (value) => CHART_HEIGHT - CHART_BOTTOM - (value / top) * (CHART_HEIGHT - CHART_BOTTOM - CHART_TOP);
  for (let value = 0; value <= top; value += step) {
    svg.append(draw("line", { class: value === 0 ? "axis" : "grid", x1: CHART_LEFT, x2: width - 16, y1: y(value), y2: y(value) }));
    svg.append(draw("text", { x: CHART_LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, amount(value)));
  }
  return y;
}

function runTip(run, shown) {
  const told = trend.runs[run];
  const lines = shown.map((row) => `${amount(row.values[run])}  ${row.where.slice(0, 80)}`);
  return [`Run ${told.run}: ${told.file}`, told.start_time ?? "", ...lines].filter((line) => line !== "").join("\n");
}

// Bands that take the pointer, one a run.
function drawRuns(svg, shown, width) {
  const band = trend.runs.length === 1 ? width : runX(1, width) - runX(0, width);
  const every = Math.ceil(trend.runs.length / Math.max(1, Math.floor(width / 44)));
  trend.runs.forEach((told, run) => {
    const x = runX(run, width);
    if (run % every === 0) svg.append(draw("text", { x, y: CHART_HEIGHT - 8, "text-anchor": "middle" }, String(told.run)));
    const area = draw("rect", {
      class: "run",
      x: x - band / 2,
      y: CHART_TOP,
      width: band,
      height: CHART_HEIGHT - CHART_BOTTOM - CHART_TOP,
      tabindex: 0,
      role: "img",
      "aria-label": runTip(run, shown),
      "data-run": told.run,
    });
    area.addEventListener("pointermove", (event) => showTip(event, runTip(run, shown)));
    area.addEventListener("pointerleave", hideTip);
    svg.append(area);
  });
}

function drawLine(svg, row, colour, y, width) {
  const style = `var(--series-${colour})`;
  const points = row.values.map((value, run) => `${runX(run, width).toFixed(1)},${y(value).toFixed(1)}`);
  svg.append(draw("path", { class: "line", d: `M${points.join(" L")}`, style: `stroke: ${style}`, "data-row": row.index }));
  if (row.values.length <= 60)
    points.forEach((point) => {
      const [cx, cy] = point.split(",");
      svg.append(draw("circle", { class: "dot", cx, cy, r: 3.5, style: `fill: ${style}` }));
    });
}

function drawCurves() {
  const shown = chartRows();
  const width = Math.max(320, byId("trend-chart").clientWidth || 900);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${CHART_HEIGHT}`, height: CHART_HEIGHT, role: "group", "aria-labelledby": "curves-title" });
  const y = drawGrid(svg, Math.max(1, ...shown.flatMap((row) => row.values)), width);
  shown.forEach((row, at) => drawLine(svg, row, at % (SERIES + 1), y, width));
  drawRuns(svg, shown, width);
  byId("trend-chart").replaceChildren(svg);
  byId("legend").replaceChildren(
    ...shown.map((row, at) => {
      const swatch = make("span", { class: "swatch" });
      swatch.style.background = `var(--series-${at % (SERIES + 1)})`;
      return make("span", {}, swatch, row.where);
    }),
  );
}
