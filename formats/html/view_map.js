// The address map: what each process has reserved and committed, and how full it is of blocks.
//
// A map is of one moment: the end of the selected window, or of the trace. Each region has a strip
// of its runs from its first to its last byte. A run's colour says how full it is, from light to
// dark; what is committed and empty is of another hue.

// Memory in the address space of a process; pools and handles are not.
const MAP_KINDS = ["heap", "virtualalloc", "extent", "custom", "reserve", "mapped"];
const MAP_REGIONS_MAX = 100;
const MAP_LEVELS = [
  "reserved, or unknown what is committed",
  "committed and empty",
  "less than a quarter filled with blocks",
  "a quarter to half filled",
  "half to three quarters filled",
  "three quarters or more filled",
];
const MAP_COLUMNS = [
  ["Address", "text"],
  ["Size", "size"],
  ["Map", "text"],
  ["Committed", "committed_size"],
  ["Outstanding Size", "outstanding_size"],
  ["Outstanding Count", "outstanding_count"],
  ["Category", "text"],
  ["Handle, module", "text"],
];

defineState("mapProcess", { default: null, read: (text) => (/^\d{1,10}$/.test(text) ? Number(text) : undefined) });

const mapShowsAll = new Set(); // numbers of processes of which all regions are shown

function mapQuestions() {
  if (!recordedKinds().some((kind) => MAP_KINDS.includes(kind))) return null;
  const at = state.to === null ? [] : [["at", exactTime(state.to)]];
  const options = [["map", ""], ...at, ...filterOptions({ window: false, kind: false, types: false })];
  return [{ command: "report", options }];
}

// --- strips ---------------------------------------------------------------------------------

// Where nothing says what is committed, blocks show it: only what they fill is known.
function mapLevel(run) {
  if (run.outstanding_size === 0) return isUnknown(run.committed_size) || run.committed_size === 0 ? 0 : 1;
  const whole = run.committed_size > 0 ? run.committed_size : run.size;
  return 2 + Math.min(3, Math.floor((4 * run.outstanding_size) / whole));
}

function mapOffset(region, run) {
  return Number(BigInt(run.address) - BigInt(region.address));
}

function mapRunText(run) {
  const committed = isUnknown(run.committed_size)
    ? "committed size unknown"
    : `${formatSize(run.committed_size)} committed`;
  return `${run.address}, ${formatSize(run.size)}: ${committed}, ${formatSize(run.outstanding_size)} in ${plural(run.outstanding_count, "block")}`;
}

function mapRect(region, run) {
  return makeSvg("rect", {
    class: `map-${mapLevel(run)}`,
    x: Math.max(0, mapOffset(region, run) / region.size),
    y: 0,
    width: Math.min(1, run.size / region.size),
    height: 1,
  });
}

// A slider over the runs: arrow keys or the pointer go from one to the next.
function mapStrip(region) {
  const { runs } = region;
  const cursor = makeSvg("rect", { class: "cursor", y: 0, height: 1, visibility: "hidden" });
  const svg = makeSvg(
    "svg",
    {
      class: "strip",
      viewBox: "0 0 1 1",
      preserveAspectRatio: "none",
      role: "slider",
      tabindex: 0,
      "aria-label": `Parts of ${region.address}`,
      "aria-valuemin": 1,
      "aria-valuemax": runs.length,
    },
    ...runs.map((run) => mapRect(region, run)),
    cursor,
  );
  startMapStrip(svg, cursor, region);
  return svg;
}

function startMapStrip(svg, cursor, region) {
  const { runs } = region;
  let at = 0;
  const point = (to) => {
    at = Math.max(0, Math.min(runs.length - 1, to));
    cursor.setAttribute("x", Math.max(0, mapOffset(region, runs[at]) / region.size));
    cursor.setAttribute("width", Math.min(1, runs[at].size / region.size));
    svg.setAttribute("aria-valuenow", at + 1);
    svg.setAttribute("aria-valuetext", mapRunText(runs[at]));
  };
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, Home: -runs.length, End: runs.length };
  const tell = () => {
    const edge = svg.getBoundingClientRect();
    cursor.setAttribute("visibility", "visible");
    showTip(edge.left, edge.bottom - 12, mapRunText(runs[at]));
  };
  svg.addEventListener("keydown", (event) => {
    if (!(event.key in steps)) return;
    event.preventDefault();
    point(at + steps[event.key]);
    tell();
  });
  svg.addEventListener("focus", () => svg.matches(":focus-visible") && tell());
  svg.addEventListener("blur", () => (cursor.setAttribute("visibility", "hidden"), hideTip()));
  tip(svg, (event) => {
    const box = svg.getBoundingClientRect();
    const offset = ((event.clientX - box.left) / box.width) * region.size;
    const run = runs.find((one) => offset >= mapOffset(region, one) && offset < mapOffset(region, one) + one.size);
    return run === undefined ? null : [mapRunText(run)];
  });
  point(0);
}

// --- regions --------------------------------------------------------------------------------

function mapNumber(row, measure) {
  const value = row[measure];
  return figure("td", measure, value, isUnknown(value) ? UNKNOWN_TEXT : measureText(measure, value));
}

// Of images and views nothing is known but where they are.
function mapHasStrip(region) {
  const isEmpty = isUnknown(region.committed_size) && region.outstanding_size === 0;
  return !isEmpty && region.runs.length > 0 && region.size > 0;
}

function mapRow(region, index) {
  return make(
    "tr",
    { "data-row": index },
    make("th", { scope: "row", class: "mono" }, region.address),
    mapNumber(region, "size"),
    make("td", { class: "text strips" }, mapHasStrip(region) ? mapStrip(region) : null),
    mapNumber(region, "committed_size"),
    mapNumber(region, "outstanding_size"),
    mapNumber(region, "outstanding_count"),
    make("td", { class: "text" }, region.category),
    make("td", { class: "text" }, region.module ?? region.heap ?? ""),
  );
}

// Those with the most committed or outstanding bytes, in the order of their addresses.
function mapShownRegions(process, at) {
  const all = [...process.map.keys()];
  if (mapShowsAll.has(at) || all.length <= MAP_REGIONS_MAX) return all;
  const weight = (i) => process.map[i].committed_size ?? process.map[i].outstanding_size;
  return all
    .sort((a, b) => weight(b) - weight(a) || a - b)
    .slice(0, MAP_REGIONS_MAX)
    .sort((a, b) => a - b);
}

function mapTable(process, at) {
  const shown = mapShownRegions(process, at);
  const head = MAP_COLUMNS.map(([title, form]) =>
    make("th", { scope: "col", class: form === "text" ? "text" : null }, title),
  );
  return make(
    "div",
    { class: "panel scroll map-box", tabindex: 0, role: "region", "aria-label": "Regions" },
    make(
      "table",
      { "aria-label": `Regions of ${processText(process)}` },
      make("thead", {}, make("tr", {}, ...head)),
      make("tbody", {}, ...shown.map((i) => mapRow(process.map[i], i))),
    ),
  );
}

// --- sums, legend and pins ------------------------------------------------------------------

// Without events of VirtualAlloc, what is reserved is not known, though the sum of it is 0.
function mapFigures(document, process) {
  const isReserveKnown = document.recorded.some(({ kind }) => kind === "virtualalloc" || kind === "reserve");
  const part = (measure) => {
    const value = measure === "reserved_size" && !isReserveKnown ? null : process[measure];
    return figure("span", measure, value, isUnknown(value) ? "unknown" : formatSize(value));
  };
  const count = figure("span", "outstanding_count", process.outstanding_count, formatCount(process.outstanding_count));
  const used =
    isUnknown(process.used_size) || process.outstanding_count === 0
      ? ""
      : `, which fill ${formatPercent(process.used_size, process.committed_size)} of what is committed`;
  return make(
    "p",
    { class: "map-figures" },
    "Reserved: ",
    part("reserved_size"),
    ". Committed: ",
    part("committed_size"),
    ". Outstanding: ",
    part("outstanding_size"),
    " in ",
    count,
    `${process.outstanding_count === 1 ? " block" : " blocks"}${used}.`,
  );
}

function mapLegend() {
  const keys = MAP_LEVELS.map((text, level) =>
    make("span", { class: "key" }, make("span", { class: `swatch map-${level}` }), text),
  );
  return make("p", { class: "hint map-legend" }, ...keys);
}

function mapStack(document, index) {
  return stackFrames(document, index).slice(0, 4).map(frameText).join(" \u2190 ");
}

function mapPinRow(document, pin, index) {
  return make(
    "tr",
    { "data-pin": index },
    make("th", { scope: "row", class: "mono" }, pin.address),
    mapNumber(pin, "committed_size"),
    mapNumber(pin, "outstanding_size"),
    mapNumber(pin, "outstanding_count"),
    mapNumber(pin, "largest_size"),
    make("td", { class: "wrap" }, mapStack(document, pin.stack)),
  );
}

function mapPins(document, process) {
  const pins = document.pins
    .map((pin, i) => [pin, i])
    .filter(([pin]) => pin.pid === process.pid)
    .slice(0, 25);
  if (pins.length === 0) return [];
  const titles = ["Address", "Committed", "Outstanding Size", "Outstanding Count", "Largest block", "Stack"];
  const head = titles.map((title) => make("th", { scope: "col", class: title === "Stack" ? "text" : null }, title));
  return [
    make("h3", {}, "Blocks that pin memory"),
    make(
      "p",
      { class: "hint" },
      "Committed memory in which blocks fill at most a sixteenth of each unit. The process could give it back if these blocks lay elsewhere. The stack is that of the largest block.",
    ),
    make(
      "div",
      { class: "panel scroll", tabindex: 0, role: "region", "aria-label": "Blocks that pin memory" },
      make(
        "table",
        { "aria-label": "Blocks that pin memory" },
        make("thead", {}, make("tr", {}, ...head)),
        make("tbody", {}, ...pins.map(([pin, i]) => mapPinRow(document, pin, i))),
      ),
    ),
  ];
}

// --- the part -------------------------------------------------------------------------------

const mapChoice = choiceOf("Process", [], null, (pid) => update({ mapProcess: Number(pid) }), "map-process");

// A static page has the map of its own end only.
function mapEnd() {
  if (source.isLive && state.to !== null) return "the end of the selected window";
  return source.window === null || source.window.isWhole ? "the end of the trace" : "the end of this page";
}

function mapMoment(document) {
  const where = mapEnd();
  return make(
    "p",
    { class: "map-moment" },
    "At ",
    make("span", { "data-measure": "at_ns", "data-value": document.at_ns }, formatTime(document.at_ns, 1e6)),
    `, ${where}, in units of ${formatSize(document.unit)}.`,
  );
}

function mapMore(process, at, redraw) {
  const hidden = process.map.length - mapShownRegions(process, at).length;
  if (hidden <= 0) return null;
  const showAll = () => {
    mapShowsAll.add(at);
    redraw();
  };
  return make(
    "p",
    { class: "hint" },
    `${plural(hidden, "smaller region is", "smaller regions are")} not shown. `,
    make("button", { type: "button", onclick: showAll }, "Show all"),
  );
}

// The process that was chosen, or else the one with the most in blocks, or committed.
function mapProcessAt(processes) {
  const chosen = processes.findIndex((process) => process.pid === state.mapProcess);
  if (chosen >= 0) return chosen;
  const isMore = (a, b) =>
    (a.outstanding_size ?? 0) - (b.outstanding_size ?? 0) || (a.committed_size ?? 0) - (b.committed_size ?? 0);
  return processes.reduce((most, process, i) => (isMore(process, processes[most]) > 0 ? i : most), 0);
}

function drawMap(body, [document], context) {
  const { processes } = document;
  if (!context.isRedraw) mapShowsAll.clear();
  mapChoice.hidden = processes.length < 2;
  clear(body);
  if (processes.length === 0) {
    body.append(make("p", { class: "empty" }, "No process has address space that the filters leave."));
    return;
  }
  byId("map-process").replaceChildren(
    ...processes.map((process, i) => make("option", { value: process.pid ?? i }, processText(process))),
  );
  const at = mapProcessAt(processes);
  byId("map-process").selectedIndex = at;
  const process = processes[at];
  const redraw = () => drawMap(body, [document], { isRedraw: true });
  const figures = mapFigures(document, process);
  figures.dataset.process = at;
  body.append(mapMoment(document), figures, mapLegend(), mapTable(process, at));
  body.append(...[mapMore(process, at, redraw)].filter((more) => more !== null), ...mapPins(document, process));
}

registerPart({
  id: "map",
  title: "Address map",
  nav: "Map",
  order: 75,
  needsBlocks: true,
  lazy: true,
  text: true,
  csv: true,
  isOfMoment: true,
  follows: ["mapProcess"],
  hint: "What each process has reserved and committed, and how full it is of blocks, at one moment.",
  tools: [mapChoice],
  questions: mapQuestions,
  draw: drawMap,
});
