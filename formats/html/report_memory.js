// Memory of the system and of a process over the same time, as MemInfo records tell it.
//
// These sizes have nothing to do with those of heaps, so they are not drawn into the chart of these
// but below it, each panel with its own scale. A point stands at the end of its window.

const MEMORY_HEIGHT = 92;

function memorySeries(source, names) {
  return names
    .map(([key, label], i) => ({ label, colour: i, curve: source[key] }))
    .filter((one) => one.curve.some((size) => size !== null));
}

// The selected heap's process; else the first one that the page has.
function shownProcess() {
  const pid = state.group === null ? null : state.group.pid;
  return report.process_memory.find((one) => pid === null || one.pid === pid);
}

// Pieces between gaps: what is not known is not drawn.
function memoryPath(curve, y) {
  let path = "",
    isOpen = false;
  curve.forEach((size, i) => {
    if (size !== null) path += `${isOpen ? "L" : "M"}${chartX(i + 1).toFixed(1)},${y(size).toFixed(1)} `;
    isOpen = size !== null;
  });
  return path;
}

function memoryPanel(title, series) {
  const most = Math.max(1, ...series.flatMap((one) => one.curve.filter((size) => size !== null)));
  const y = (size) => MEMORY_HEIGHT - 6 - (size / most) * (MEMORY_HEIGHT - 16);
  const ends = series.map((one) => `${one.label} ${bytes(one.curve.findLast((size) => size !== null))}`);
  const svg = draw("svg", {
    height: MEMORY_HEIGHT,
    viewBox: `0 0 ${chart.width} ${MEMORY_HEIGHT}`,
    role: "img",
    "aria-label": `${title} at the end: ${ends.join(", ")}`,
  });
  for (const size of [0, most]) {
    svg.append(
      draw("line", { class: size === 0 ? "axis" : "grid", x1: MARGIN.left, x2: chart.width - MARGIN.right, y1: y(size), y2: y(size) }),
      draw("text", { x: MARGIN.left - 8, y: y(size) + 4, "text-anchor": "end" }, bytes(size)),
    );
  }
  for (const one of series)
    svg.append(draw("path", { class: "memory-line", stroke: `var(--series-${one.colour})`, d: memoryPath(one.curve, y) }));
  const legend = make("p", { class: "hint" }, `${title}:`);
  series.forEach((one, i) => {
    const swatch = make("span", { class: "swatch" });
    swatch.style.background = `var(--series-${one.colour})`;
    legend.append(" ", make("span", { class: "key" }, swatch, ends[i]));
  });
  return [legend, svg];
}

function drawMemory() {
  const box = byId("memory");
  box.replaceChildren();
  if (WINDOWS === 0 || chart.width === 0) return;
  const process = shownProcess();
  const panels = [
    ["The system", report.memory, [["commit_size", "commit"], ["available_size", "available"]]],
    [process && `${process.process} (${process.pid})`, process, [["commit_size", "commit"], ["working_set_size", "working set"]]],
  ];
  for (const [title, source, names] of panels) {
    const series = source ? memorySeries(source, names) : [];
    if (series.length > 0) box.append(...memoryPanel(title, series));
  }
}
