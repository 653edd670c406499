// What is shown, to be taken elsewhere: as text for a spreadsheet on the clipboard (tabs between
// columns), or as a CSV file. Sizes are exact, in bytes, and stacks are whole.

function sizeTitle({ title, isBytes }) {
  return isBytes ? `${title} (bytes)` : title;
}

// The frames from the innermost on, as the columns of `export` have them.
function stackCell(row) {
  return row === null || row.stack < 0 ? "" : stackPath(row).replaceAll("\n", ";");
}

// The rows of the table that are open, each with the names above it.
function shownRows() {
  const names = treeColumns(),
    columns = tableColumns();
  const lines = [["Kind", ...names, "Frames", ...columns.map(sizeTitle)]];
  for (const entry of table.nodes) {
    if (entry.more) continue;
    const cells = {};
    for (let at = entry; at !== undefined; at = at.parent?.isRoot ? undefined : at.parent)
      if (!at.node.isHidden || at === entry) cells[at.node.column] = at.node.text;
    lines.push([
      state.kind.kind,
      ...names.map((name) => cells[name] ?? ""),
      stackCell(entry.node.row),
      ...columns.map(({ key }) => entry.node.sums[key] ?? ""),
    ]);
  }
  return lines;
}

function shownSpikes() {
  const lines = [
    ["Kind", "Process and heap", "Stack", "Frames", "Spike (bytes)", "Times", "Largest from (s)", "Largest to (s)"],
  ];
  lines[0].push("Own peak (bytes)", "Allocated (bytes)", "Blocks");
  for (const { row, amounts, largest, times } of spikes.listed)
    lines.push([
      state.kind.kind,
      row.group.label,
      stackText(row),
      stackCell(row),
      largest.size,
      times,
      edge(largest.from) / 1e9,
      edge(largest.to) / 1e9,
      amounts.peak,
      amounts.allocSize,
      amounts.allocCount,
    ]);
  return lines;
}

const SHOWN = {
  rows: shownRows,
  spikes: shownSpikes,
  suspects: shownSuspects,
  frees: () => freesSection.lines(),
  churn: () => churnSection.lines(),
};

// RFC 4180.
function csvOf(lines) {
  const cell = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  return lines.map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}

function tabsOf(lines) {
  return lines.map((line) => `${line.map((value) => String(value).replace(/[\t\r\n]/g, " ")).join("\t")}\n`).join("");
}

// Pages from a disk may not be allowed to use the clipboard but for what is selected.
function copySelected(text) {
  const box = make("textarea", { class: "sr", "aria-hidden": "true" });
  const before = document.activeElement;
  box.value = text;
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  before?.focus({ preventScroll: true });
  return done;
}

async function copyText(text, what) {
  let done = copySelected(text);
  if (!done) {
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      done = false;
    }
  }
  announce(done ? `Copied ${what}` : "The browser does not allow copying");
  return done;
}

// The button says for a moment what it did.
async function copyBy(button, text, what) {
  const done = await copyText(text, what);
  const before = (button.dataset.text ??= button.textContent);
  button.textContent = done ? "Copied" : "Not allowed";
  setTimeout(() => (button.textContent = before), 1500);
}

function saveCsv(name, text) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  announce(`Saved ${name}`);
}

function csvName(what) {
  const trace = report.trace.files[0].replace(/^.*[\\/]/, "").replace(/\.[^.]*$/, "");
  return `${trace}-${state.kind.kind}-${what}.csv`;
}

function copyLines(button, lines) {
  copyBy(button, tabsOf(lines), `${count(lines.length - 1)} rows`);
}

function saveLines(what, lines) {
  saveCsv(csvName(what), csvOf(lines));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-csv]");
  if (button === null || state.kind === null) return;
  const what = button.dataset.copy ?? button.dataset.csv;
  if (button.dataset.copy) copyLines(button, SHOWN[what]());
  else saveLines(what, SHOWN[what]());
});

byId("copy-link").addEventListener("click", () => {
  writeLink();
  copyBy(byId("copy-link"), location.href, "the link to what is shown");
});
