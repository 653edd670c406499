// Which stacks probably leak: over all that the file holds, whatever is selected.
//
// A suspect has the texts of all its frames, and the number of its stack if the page has it one by
// one: its name then opens that stack in the table.

for (const row of report.suspects?.rows ?? []) row.frames = row.frames.map((number) => report.suspects.frames[number]);

const SUSPECT_COLUMNS = ["Suspect", "Score", "Outstanding Size", "Share", "Growth/s", "Never freed", "First", "Last", "Threads"];
const SUSPECTS_SHOWN = 10;
let allSuspects = false;

function suspectsOfKind() {
  return (report.suspects?.rows ?? []).filter((row) => row.kind === state.kind.kind);
}

// Of its heaps the one in which it holds most.
function rowOfSuspect(suspect) {
  const process = suspect.pid === null ? suspect.process : `${suspect.process} (${suspect.pid})`;
  return rows
    .filter(
      (row) =>
        row.stack === suspect.page_stack - 1 && row.group.kind === suspect.kind && row.group.processLabel === process,
    )
    .reduce((best, row) => (best === null || outstandingSize(row.types) > outstandingSize(best.types) ? row : best), null);
}

// The function that allocates. A stack that the page does not have one by one is looked for by its
// function.
function suspectName(suspect) {
  const name = suspect.frames[0] ?? "Unknown stack";
  if (suspect.frames.length === 0) return make("span", {}, name);
  const row = suspect.page_stack > 0 ? rowOfSuspect(suspect) : null;
  const words = name.replace(/ {2}.*$/, "").replace(/ \([^()]*\)$/, "");
  const search = () => {
    byId("search").value = words;
    update({ search: words.toLowerCase() });
    announce(`Showing stacks with ${words}`);
  };
  const [title, onclick] =
    row === null ? ["Search for this function", search] : ["Open this stack in the table", () => showStack(row)];
  return make("button", { type: "button", class: "link mono", title, onclick }, name);
}

function suspectStack(row) {
  const lines = row.frames.slice(1).map((frame) => make("div", { class: "mono" }, frame));
  return lines.length === 0 ? "" : make("details", {}, make("summary", {}, "Call stack"), ...lines);
}

function suspectRow(row) {
  const threads = row.threads.join(", ") + (row.has_more_threads ? " \u2026" : "");
  return make(
    "tr",
    {},
    make(
      "th",
      { scope: "row", class: "wrap" },
      suspectName(row),
      make("p", { class: "hint" }, `${row.process} (${row.pid}). ${row.reason}`),
      suspectStack(row),
    ),
    numberCell(row.score, false),
    numberCell(row.outstanding_size, true),
    make("td", {}, row.outstanding_share_millionths === null ? "\u2013" : share(row.outstanding_share_millionths, 1e6)),
    numberCell(row.growth_rate, true),
    make("td", { "data-value": row.never_freed_count }, `${count(row.never_freed_count)} of ${count(row.alloc_count)}`),
    make("td", { "data-value": row.first_ns }, seconds(row.first_ns)),
    make("td", { "data-value": row.last_ns }, seconds(row.last_ns)),
    make("td", {}, threads),
  );
}

function suspectsText(rows) {
  if (report.suspects === null) return "This input has no allocation times, so suspects cannot be found.";
  const { groups, hidden } = report.suspects;
  if (rows.length === 0)
    return groups === 0
      ? "No suspects: every block was freed."
      : `No suspects: of ${count(groups)} call stacks with blocks that were never freed, none of this kind looks like a leak.`;
  return (
    `Of ${count(groups)} call stacks with blocks that were never freed, these look like leaks: some blocks outlive all ` +
    `others and were allocated all over the run. A score above 75 means that the stack still leaked in the second half. ` +
    `Share is of all outstanding ${state.kind.kind} memory.${hidden > 0 ? ` ${count(hidden)} with lower scores are left out.` : ""}`
  );
}

function drawSuspects() {
  if (state.kind === null) return;
  const rows = suspectsOfKind();
  const shown = allSuspects ? rows : rows.slice(0, SUSPECTS_SHOWN);
  const body = make("tbody", {}, ...shown.map(suspectRow));
  const showAll = () => {
    allSuspects = true;
    drawSuspects();
  };
  if (shown.length < rows.length)
    body.append(
      make(
        "tr",
        {},
        make(
          "td",
          { colspan: SUSPECT_COLUMNS.length },
          make("button", { type: "button", onclick: showAll }, ...moreText(null, rows.length - shown.length)),
        ),
      ),
    );
  byId("suspects-hint").textContent = suspectsText(rows);
  byId("suspect-panel").hidden = rows.length === 0;
  byId("suspect-rows").replaceChildren(
    make("thead", {}, make("tr", {}, ...SUSPECT_COLUMNS.map((text) => make("th", { scope: "col" }, text)))),
    body,
  );
}

function shownSuspects() {
  const lines = [["Kind", "Process", "PID", "Frames", "Score", "Outstanding (bytes)", "Share (millionths)", "Growth (bytes/s)"]];
  lines[0].push("Never freed", "Allocated", "First (s)", "Last (s)", "Reason");
  for (const row of suspectsOfKind())
    lines.push([
      row.kind,
      row.process,
      row.pid,
      row.frames.join(";"),
      row.score,
      row.outstanding_size,
      row.outstanding_share_millionths,
      row.growth_rate,
      row.never_freed_count,
      row.alloc_count,
      row.first_ns / 1e9,
      row.last_ns / 1e9,
      row.reason,
    ]);
  return lines;
}
