// What the user chose, and what follows from it for every row.
//
//     kind       one of the kinds                      the cards
//     from, to   windows, or null for all of them      the brush
//     group      a heap, or null                       the legend
//     node       of the flame graph, or null           a click in it
//     search     words, lower case                     the search field
//
// A change is told to the views through update(), which draws all of them anew.

const state = { kind: kinds.length > 0 ? kinds[0] : null, selection: null, group: null, node: null, search: "" };

function isSelected() {
  return state.selection !== null;
}
function edge(i) {
  return report.window.edges_ns[i];
}

// The file was made of the whole trace, or of a window of it.
function fileWindow() {
  if (report.window.is_whole) return "the whole trace";
  return `the window from ${seconds(edge(0))} to ${seconds(edge(WINDOWS))}`;
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

// --- what a section ignores ----------------------------------------------------------------

// Choices that a section may ignore. A zoom into stacks that freed narrows only the flame graph.
const CHOICES = {
  window: { text: "the selected window", isMade: () => isSelected() },
  heap: { text: "the chosen heap", isMade: () => state.group !== null },
  zoom: { text: "the zoom of the flame graph", isMade: () => state.node !== null },
  "zoom-of-frees": { text: "the zoom of the flame graph", isMade: () => state.node !== null && !isZoomed() },
  search: { text: "the search", isMade: () => state.search !== "" },
};

function joinedTexts(texts) {
  return texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}

// Empty if none of these choices is made.
function ignoredText(names) {
  const made = names.map((name) => CHOICES[name]).filter((choice) => choice.isMade());
  if (made.length === 0) return "";
  const verb = made.length === 1 ? "does" : "do";
  return `${capital(joinedTexts(made.map((choice) => choice.text)))} ${verb} not change what is shown here.`;
}

// Each section names in the page what it ignores.
function drawIgnored() {
  for (const place of document.querySelectorAll("[data-ignores]"))
    place.textContent = state.kind === null ? "" : ignoredText(place.dataset.ignores.split(" "));
}

// --- amounts of rows -------------------------------------------------------------------

// What a row holds under the current selection; null when that is not known: a row whose
// cells are not in the file is only told as a part of its heap.
function amountsOf(row) {
  if (!isSelected()) {
    return {
      endSize: outstandingSize(row.types),
      endCount: outstandingCount(row.types),
      allocSize: row.types[2 * AIFO + 1] + row.types[2 * AIFI + 1],
      allocCount: row.types[2 * AIFO] + row.types[2 * AIFI],
      freeSize: row.types[2 * AIFI + 1] + row.types[2 * AOFI + 1],
      freeCount: row.types[2 * AIFI] + row.types[2 * AOFI],
      net: impactingSize(row.types),
      peak: row.peakSize ?? null,
    };
  }
  if (row.cells === null) return null;
  const sums = row.cells.over(state.selection.from, state.selection.to);
  return { ...sums, net: sums.endSize - sums.startSize };
}

const SUMS = ["endSize", "endCount", "allocSize", "allocCount", "freeSize", "freeCount", "net"];

function noAmounts() {
  return { endSize: 0, endCount: 0, allocSize: 0, allocCount: 0, freeSize: 0, freeCount: 0, net: 0, peak: null };
}

function addAmounts(sum, amounts, sign = 1) {
  for (const key of SUMS) sum[key] += sign * amounts[key];
  return sum;
}

// Of a heap: with its exact peak. Null when its cells are not in the file.
function amountsOfGroup(group) {
  return amountsOf({ types: group.types, cells: group.cells, peakSize: group.peak_size });
}

function amountsOfKind(kind) {
  return amountsOf({ types: kind.types, cells: kind.cells, peakSize: kind.peak.size });
}

// Zooming into the stacks that freed selects no stacks of allocations.
const FREED_BY = "freedBy";

function isZoomed() {
  return state.node !== null && flame.metric !== FREED_BY;
}

// --- which rows ------------------------------------------------------------------------------

function searchWords() {
  return state.search;
}

const labelMatches = new Uint8Array(labels.length);
let stackMatches = new Uint8Array(stacks.length);

function applySearch() {
  const words = searchWords();
  labels.forEach((label, i) => {
    labelMatches[i] = words !== "" && label.text.toLowerCase().includes(words) ? 1 : 0;
  });
  stackMatches = new Uint8Array(stacks.length);
  if (words === "") return;
  stacks.forEach((frames, i) => {
    for (const frame of frames) {
      if (labelMatches[labelOf[frame]]) {
        stackMatches[i] = 1;
        return;
      }
    }
  });
}

function groupMatches(group) {
  return group.label.toLowerCase().includes(searchWords());
}

function rowMatches(row) {
  return (row.stack >= 0 && stackMatches[row.stack] === 1) || groupMatches(row.group);
}

// Rows of the kind and heap: what the flame graph is made of.
function rowsOfGroup() {
  if (state.group !== null) return state.group.rows;
  return groups.filter((group) => group.kind === state.kind.kind).flatMap((group) => group.rows);
}

// These, below the bar that was clicked.
function rowsOfNode() {
  const all = rowsOfGroup();
  return !isZoomed() ? all : all.filter((row) => flameHolds(state.node, row));
}

// And of these what the search finds: what the tables show.
function rowsShown() {
  const all = rowsOfNode();
  return searchWords() === "" ? all : all.filter(rowMatches);
}

// Rows are left out for no other reason than that they are not in the file.
function isNarrowed() {
  return isZoomed() || searchWords() !== "";
}

// What is shown holds together: all of a heap or kind, or the stacks that zoom and search leave.
// The peak of several stacks is not known, as theirs are at different times.
function amountsShown() {
  if (!isNarrowed()) return state.group === null ? amountsOfKind(state.kind) : amountsOfGroup(state.group);
  const found = rowsShown(),
    sum = noAmounts();
  for (const row of found) {
    const amounts = amountsOf(row);
    if (amounts !== null) addAmounts(sum, amounts);
  }
  return { ...sum, peak: found.length === 1 ? (amountsOf(found[0])?.peak ?? null) : null };
}

// Of a kind over the whole trace, what the search finds: by type, as typesOfKind.
function typesFound(kind) {
  const sum = [0, 0, 0, 0, 0, 0, 0, 0];
  for (const group of groups)
    if (group.kind === kind.kind)
      for (const row of group.rows) if (rowMatches(row)) row.types.forEach((value, i) => (sum[i] += value));
  return sum;
}

// What rows of a heap that are not in the file, or not by window, hold together.
function hiddenOf(group, known) {
  const whole = amountsOfGroup(group);
  if (whole === null) return null;
  const rest = { ...whole, peak: null };
  for (const amounts of known) addAmounts(rest, amounts, -1);
  return rest;
}

// --- changes ----------------------------------------------------------------------------------

const views = [];

function update(changes) {
  Object.assign(state, changes);
  if ("search" in changes) applySearch();
  if ("kind" in changes) Object.assign(state, { group: changes.group ?? null, node: null });
  if ("group" in changes && !("node" in changes)) state.node = null;
  for (const view of views) view(changes);
}

function select(from, to) {
  const low = Math.max(0, Math.min(from, to)),
    high = Math.min(WINDOWS, Math.max(from, to));
  update({ selection: high > low ? { from: low, to: high } : null });
}
