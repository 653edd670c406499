// Spikes: memory that came and went within a tenth of the trace.
//
// What lasts longer is a level, not a spike, however large it is. The level in a window is the
// most that was outstanding all through SPIKE_EDGES edges in a row that end in the window, begin
// in it or lie around it (image processing calls this an opening). A spike is what a peak has
// above that:
//
//     outstanding      __|\__          ____|\___         a step is a level from its first
//                     /      \        /                  window on, so it is no spike
//     level        __/        \__  __/
//
// A curve that rises slowly and then falls steeply has something like a spike at its end, though
// what went may have been there for long. So the level of several stacks is at least the sum of
// their own.
//
// Windows in which something stands above the level are one spike as long as it does not fall
// below half of the lower of two tops between them. So a spike may cross any number of edges.

const SPIKES_SHOWN = 15,
  MOMENTS_SHOWN = 12,
  SPIKE_PART = 10, // of the trace: what lasts longer is a level
  SMALL_PART = 20; // of the largest spike: those below it are listed on demand
const SPIKE_EDGES = Math.max(1, Math.round(WINDOWS / SPIKE_PART));
const spikes = { shown: SPIKES_SHOWN, listed: [], allMoments: false };

// The best of each run of `size` neighbours, with those at both ends cut short: at i the run
// that ends with i.
function bestOfRuns(values, size, isBetter) {
  const best = new Float64Array(values.length + size - 1),
    queue = [];
  let first = 0;
  for (let i = 0; i < best.length; i++) {
    if (i < values.length) {
      while (queue.length > first && !isBetter(values[queue[queue.length - 1]], values[i])) queue.pop();
      queue.push(i);
    }
    if (queue[first] <= i - size) first++;
    best[i] = values[queue[first]];
  }
  return best;
}

// The level in each window, of what is outstanding at their edges. Outside of the trace nothing
// is known: what reaches one of its ends may have lasted.
function levelsOf(curve) {
  const least = bestOfRuns(curve, SPIKE_EDGES, (a, b) => a < b);
  // Runs that touch window i end with the edges from i to i + SPIKE_EDGES.
  const most = bestOfRuns(least, SPIKE_EDGES + 1, (a, b) => a > b);
  return most.slice(SPIKE_EDGES, SPIKE_EDGES + WINDOWS);
}

// The same for the sum of rows, and of what is there besides them.
function levelsOfSum(curve, list) {
  const levels = levelsOf(curve),
    rest = curve.slice(),
    sum = new Float64Array(WINDOWS);
  for (const row of list) {
    if (row.cells === null) continue;
    const own = row.cells.curve();
    addCurve(sum, levelsOf(own));
    addCurve(rest, own, -1);
  }
  addCurve(sum, levelsOf(rest));
  return levels.map((level, i) => Math.max(level, sum[i]));
}

// Spikes in the order of time: windows [from, to), the one with the top, and the size.
function findSpikes(curve, peaks, levels) {
  const found = [];
  let spike = null,
    dip = 0;
  for (let window = 0; window < WINDOWS; window++) {
    const size = peaks[window] - levels[window];
    if (size <= 0) {
      spike = null;
      continue;
    }
    if (window > 0 && spike !== null) {
      dip = Math.min(dip, Math.max(0, curve[window] - Math.max(levels[window - 1], levels[window])));
      if (dip < Math.min(spike.size, size) / 2) spike = null;
    }
    if (spike === null) {
      spike = { from: window, to: window, top: window, size: 0 };
      found.push(spike);
    }
    spike.to = window + 1;
    if (size <= spike.size) continue;
    spike.size = size;
    spike.top = window;
    dip = Infinity;
  }
  return found;
}

// Of a row, looked for once. Null when it is not followed over time.
function spikesOfRow(row) {
  if (row.cells === null) return null;
  if (row.spikes === undefined) {
    const curve = row.cells.curve();
    row.spikes = findSpikes(curve, row.cells.peaks(), levelsOf(curve));
  }
  return row.spikes;
}

function isInSelection(spike) {
  return !isSelected() || (spike.top >= state.selection.from && spike.top < state.selection.to);
}

function largestSpike(list) {
  return list.reduce((best, one) => (best === null || one.size > best.size ? one : best), null);
}

function spikingRow(row) {
  const all = (spikesOfRow(row) ?? []).filter(isInSelection);
  const largest = largestSpike(all);
  if (largest === null) return null;
  const times = all.filter((one) => one.size * SMALL_PART >= largest.size).length;
  return { row, amounts: amountsOf(row), largest, times };
}

function spikesHint(shown) {
  const unknown = shown.filter((row) => row.cells === null).length;
  const when = isSelected() ? "in the selection" : report.window.is_whole ? "during the trace" : "during the window";
  return (
    `Memory that came and went ${when} within ${span((edge(WINDOWS) - edge(0)) / SPIKE_PART)}, a tenth of ${report.window.is_whole ? "the trace" : "the window"}. ` +
    "Memory that stays longer does not count as a spike." +
    (unknown > 0 ? ` ${count(unknown)} stacks with small peaks are not followed over time, so they are not here.` : "")
  );
}

const SPIKE_TITLES = ["Stack", "Process and heap", "Spike", "Times", "Largest at", "Own peak", "Allocated", "Blocks"];

function drawSpikes() {
  if (state.kind === null) return;
  const shown = rowsShown();
  byId("spikes-hint").textContent = spikesHint(shown);
  const found = shown
    .map(spikingRow)
    .filter((one) => one !== null)
    .sort((a, b) => b.largest.size - a.largest.size || b.times - a.times || a.row.index - b.row.index);
  const titles = [...SPIKE_TITLES, "Over time"];
  const head = make(
    "thead",
    {},
    make("tr", {}, ...titles.map((title, i) => make("th", { scope: "col", class: i === 1 ? "text" : null }, title))),
  );
  const listed = found.slice(0, spikes.shown);
  spikes.listed = listed;
  const texts = tellApart(listed.map(({ row }) => row));
  const body = make("tbody", {}, ...listed.map((one) => spikeRow(one, texts)));
  if (found.length === 0)
    body.append(make("tr", {}, make("td", { class: "empty", colspan: titles.length }, "No spikes in this selection.")));
  if (found.length > spikes.shown) body.append(moreSpikes(found.length - spikes.shown, titles.length));
  byId("spike-rows").replaceChildren(head, body);
  drawMoments();
}

function spikeRow({ row, amounts, largest, times }, texts) {
  return make(
    "tr",
    {},
    make("th", { scope: "row", title: stackPath(row) }, stackText(row), make("span", { class: "caller" }, texts.get(row))),
    make("td", { class: "text" }, row.group.label),
    numberCell(largest.size, true),
    numberCell(times, false),
    make("td", {}, momentButton(largest, seconds(edge(largest.top)))),
    numberCell(amounts.peak, true),
    numberCell(amounts.allocSize, true),
    numberCell(amounts.allocCount, false),
    make("td", {}, spark(row.cells.peaks())),
  );
}

function moreSpikes(left, columns) {
  const more = () => {
    spikes.shown += 50;
    drawSpikes();
  };
  return make(
    "tr",
    { class: "more" },
    make("td", { colspan: columns }, make("button", { type: "button", onclick: more }, ...moreText(null, left))),
  );
}

function momentButton(spike, text) {
  return make(
    "button",
    {
      type: "button",
      title: `Select ${seconds(edge(spike.from))} \u2013 ${seconds(edge(spike.to))}`,
      "data-from": spike.from,
      "data-to": spike.to,
      "data-size": spike.size,
      onclick: () => select(spike.from, spike.to),
    },
    text,
  );
}

function stackPath(row) {
  return row.stack < 0
    ? NO_STACK
    : [...stacks[row.stack]]
        .reverse()
        .map((frame) => labels[labelOf[frame]].text)
        .join("\n");
}

// What the chart shows, and the peaks inside of its windows. Those of several rows together are
// not known: they are at least what is outstanding at the edges.
function curveShown() {
  if (!isNarrowed()) {
    const cells = (state.group ?? state.kind).cells;
    return { curve: cells.curve(), peaks: cells.peaks() };
  }
  const followed = rowsShown().filter((row) => row.cells !== null);
  if (followed.length === 1) return { curve: followed[0].cells.curve(), peaks: followed[0].cells.peaks() };
  const curve = focusCurve();
  return { curve, peaks: curve.slice(0, WINDOWS).map((size, i) => Math.max(size, curve[i + 1])) };
}

// Without zoom and search they are looked for once.
function spikesShown() {
  const whole = state.group ?? state.kind;
  if (!isNarrowed() && whole.spikes !== undefined) return whole.spikes;
  const { curve, peaks } = curveShown();
  const found = findSpikes(curve, peaks, levelsOfSum(curve, rowsShown()));
  if (!isNarrowed()) whole.spikes = found;
  return found;
}

// The spikes of what the chart shows, largest first.
function drawMoments() {
  const found = spikesShown()
    .filter(isInSelection)
    .sort((a, b) => b.size - a.size || a.top - b.top);
  const large = found.filter((one) => one.size * SMALL_PART >= found[0].size).slice(0, MOMENTS_SHOWN);
  const listed = spikes.allMoments ? found : large;
  const box = byId("spike-moments");
  box.replaceChildren(...listed.map((one) => momentButton(one, `${seconds(edge(one.top))}: ${signed(one.size)}`)));
  if (listed.length === found.length) return;
  const showAll = () => {
    spikes.allMoments = true;
    drawMoments();
  };
  const text = `Show ${count(found.length - listed.length)} ${found.length - listed.length === 1 ? "more" : "smaller"}`;
  box.append(make("button", { type: "button", class: "quiet", onclick: showAll }, text));
}
