// Signs above the curve: marks of the recording, spikes, and lasting rises. Choosing one selects its
// window; a mark selects what follows it, up to the next. Only one of them has its place in the
// order of the tab key, and arrow keys go from one to the next.

const SIGN_SIZE = 9; // px
const SIGN_LANES = { mark: 0, spike: 11, rise: 22 }; // px from the top, so that none covers another
const SIGNS_MAX = 40; // spikes and rises that are drawn; the parts below the curve list all

function markSigns() {
  const marks = traceInfo?.marks ?? [];
  return marks.map((mark, i) => ({
    sign: "mark",
    at: mark.time_ns,
    from: mark.time_ns,
    to: marks.slice(i + 1).find((next) => next.time_ns > mark.time_ns)?.time_ns ?? traceEnd(),
    text: `Mark ${mark.name}`,
  }));
}

function ownerText(one) {
  const process = isUnknown(one.process) ? "" : ` of ${one.process}`;
  return isUnknown(one.heap) ? process : ` of heap ${one.heap}${process}`;
}

function spikeSigns(answer) {
  return answer.rows
    .filter((spike) => spike.kind === state.kind)
    .map((spike) => ({
      sign: "spike",
      at: spike.at_ns,
      from: spike.from_ns,
      to: spike.to_ns,
      text: `Spike${ownerText(spike)}: ${formatSize(spike.height_size)} above the level around it`,
    }));
}

function riseSigns(answer) {
  const growth = answer.growth;
  if (isUnknown(growth)) return [];
  return [growth, ...(growth.others ?? [])]
    .filter((rise) => rise.kind === state.kind)
    .map(({ from_ns: from, to_ns: to, ...rise }) => ({
      sign: "rise",
      at: from,
      from,
      to,
      text: `Lasting rise${ownerText(rise)}: ${signedSize(rise.after_size - rise.before_size)}`,
    }));
}

// Asked once for a kind and its filters: spikes and rises are those of the whole trace.
async function askSigns(context) {
  const options = curveFilters();
  const key = JSON.stringify([state.input, options]);
  if (curve.signsKey === key) return;
  curve.signs = markSigns();
  drawCurve();
  drawSignKeys();
  if (state.kind === "handle" || isSummary()) return;
  await firstDrawn;
  if (context.signal.aborted) return;
  try {
    const questions = [
      { command: "report", options: [["spikes", ""], ["top", String(SIGNS_MAX)], ...filterOptions({ window: false, types: false })] },
      { command: "windows", options: [["find-growth", ""], ["top", "1"], ...options] },
    ].map((question) => source.nearest(question));
    if (questions.includes(null)) return;
    const [spikes, growth] = await Promise.all(questions.map((one) => context.ask(one.command, one.options, "signs")));
    if (context.signal.aborted) return;
    curve.signsKey = key;
    curve.signs = [...markSigns(), ...[...spikeSigns(spikes), ...riseSigns(growth)].slice(0, SIGNS_MAX)].sort(
      (a, b) => a.at - b.at,
    );
    drawCurve();
    drawSignKeys();
  } catch (error) {
    if (error.name !== "AbortError") announce(`Spikes and rises are not known: ${error.message}`);
  }
}

// --- drawing --------------------------------------------------------------------------------

function signTimes(sign) {
  const span = sign.to - sign.from;
  return `${formatTime(sign.from, span)} \u2013 ${formatTime(sign.to, span)}`;
}

function signShape(sign, x) {
  const half = SIGN_SIZE / 2;
  if (sign.sign === "mark") return makeSvg("path", { d: `M${x - half},1 h${SIGN_SIZE} l${-half},${SIGN_SIZE} Z` });
  if (sign.sign === "spike")
    return makeSvg("path", { d: `M${x - half},${12 + SIGN_SIZE} h${SIGN_SIZE} l${-half},${-SIGN_SIZE} Z` });
  const end = Math.min(curveX(sign.to), plotRight());
  return makeSvg("rect", {
    x: Math.max(PLOT.left, x),
    y: 25,
    width: Math.max(4, end - Math.max(PLOT.left, x)),
    height: 5,
    rx: 2,
  });
}

function nameSign(text) {
  curve.places.signName.textContent = text;
}

function chooseSign(sign) {
  selectWindow(sign.from, sign.to);
  announce(`Selected ${sign.text}, ${signTimes(sign)}`);
}

function makeSign(sign, i, all) {
  const x = curveX(sign.at);
  const text = `${sign.text}, ${signTimes(sign)}`;
  const element = makeSvg(
    "g",
    { class: `sign ${sign.sign}`, role: "button", tabindex: i === 0 ? 0 : -1, "aria-label": `Select ${text}` },
    sign.sign === "mark" ? makeSvg("line", { x1: x, x2: x, y1: PLOT.top, y2: PLOT.height - PLOT.bottom }) : null,
    makeSvg("rect", { class: "hit", x: x - 8, y: SIGN_LANES[sign.sign], width: 16, height: 11 }),
    signShape(sign, x),
  );
  const places = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: all.length - 1 };
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") chooseSign(sign);
    else if (event.key in places) moveToSign(all, places[event.key]);
    else return;
    event.preventDefault();
  });
  element.addEventListener("click", () => chooseSign(sign));
  element.addEventListener("focus", () => nameSign(text));
  element.addEventListener("blur", () => nameSign(""));
  tip(element, [sign.text, signTimes(sign)]);
  return element;
}

function moveToSign(all, place) {
  const at = Math.max(0, Math.min(all.length - 1, place));
  all.forEach((element, k) => element.setAttribute("tabindex", k === at ? 0 : -1));
  all[at].focus();
}

function drawSigns(svg) {
  const { from, to } = curve.view;
  const shown = curve.signs.filter((sign) =>
    sign.sign === "rise" ? sign.to > from && sign.from < to : sign.at >= from && sign.at <= to,
  );
  if (shown.length === 0) return;
  const group = makeSvg("g", {
    role: "group",
    "aria-label": "Marks, spikes and rises: arrow keys go from one to the next",
  });
  const all = [];
  shown.forEach((sign, i) => all.push(makeSign(sign, i, all)));
  group.append(...all);
  svg.append(group);
}

// --- memory of the system and of a process --------------------------------------------------

const MEMORY_LANE = 84;

function memoryLane(title, windows, pick, names) {
  const records = windows.map(pick);
  const lines = names
    .map(([key, label], i) => ({ key, label, i, values: records.map((record) => record?.[key] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null));
  return lines.length === 0 ? null : { title, lines };
}

function lanePath(values, y) {
  let path = "",
    isOpen = false;
  values.forEach((value, i) => {
    if (value !== null)
      path += `${isOpen ? "L" : "M"}${curveX(curve.data.edges[i + 1]).toFixed(1)},${y(value).toFixed(1)}`;
    isOpen = value !== null;
  });
  return path;
}

function drawLane({ title, lines }) {
  const most = Math.max(1, ...lines.flatMap(({ values }) => values.filter((value) => value !== null)));
  const y = (value) => MEMORY_LANE - 6 - (value / most) * (MEMORY_LANE - 16);
  const last = (line) => line.values.findLast((value) => value !== null);
  const texts = lines.map((line) => `${line.label} ${formatSize(last(line))}`);
  const svg = makeSvg("svg", {
    height: MEMORY_LANE,
    viewBox: `0 0 ${curve.width} ${MEMORY_LANE}`,
    role: "img",
    "aria-label": `${title} at the end: ${texts.join(", ")}`,
  });
  for (const value of [0, most]) {
    svg.append(
      makeSvg("line", {
        class: value === 0 ? "axis" : "grid",
        x1: PLOT.left,
        x2: plotRight(),
        y1: y(value),
        y2: y(value),
      }),
      makeSvg("text", { x: PLOT.left - 8, y: y(value) + 4, "text-anchor": "end" }, formatSize(value)),
    );
  }
  const legend = make("p", { class: "hint" }, `${title}:`);
  lines.forEach((line, i) => {
    svg.append(
      makeSvg("path", {
        class: `memory-line colour-${line.i}`,
        d: lanePath(line.values, y),
        "clip-path": "url(#curve-clip)",
      }),
    );
    legend.append(
      " ",
      make(
        "span",
        { class: "key" },
        make("span", { class: `swatch colour-${line.i}` }),
        figure("span", line.key, last(line), texts[i], { "data-window": line.values.lastIndexOf(last(line)) }),
      ),
    );
  });
  return [legend, svg];
}

// The process with the largest working set at the end, of those that are recorded.
function largestProcess(windows) {
  const found = windows.findLast((window) => (window.process_memory ?? []).length > 0)?.process_memory ?? [];
  return [...found].sort((a, b) => b.working_set_size - a.working_set_size)[0];
}

function drawCurveMemory() {
  const { windows } = curve.data;
  const process = largestProcess(windows);
  const lanes = [
    memoryLane("The system", windows, (window) => window.memory, [
      ["commit_size", "commit"],
      ["available_size", "available"],
    ]),
  ];
  if (process !== undefined)
    lanes.push(
      memoryLane(
        `${process.process ?? "Process"} (${process.pid})`,
        windows,
        (window) => (window.process_memory ?? []).find((one) => one.pid === process.pid),
        [
          ["commit_size", "commit"],
          ["working_set_size", "working set"],
        ],
      ),
    );
  clear(curve.places.memory).append(...lanes.filter((lane) => lane !== null).flatMap(drawLane));
}
