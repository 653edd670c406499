// Two sections with lists of sums: who frees memory, and where it comes and goes.
//
//     who frees   pairs of allocating and freeing function, functions, modules, call stacks, threads,
//                 and frees of memory that was allocated before the recording
//     churn       how often functions, modules and threads allocate, what of that is temporary,
//                 and what rounding sizes up costs by size
//
// Lists are of all that the file holds. The kind and the search narrow them; each can be sorted by each of
// its columns, and a name searches for its stacks.

const SIDE_SHOWN = 20,
  SIDE_MORE = 100;

// Rates are per second of the time in which the row's process was recorded.
const rateTimes = new Map((report.churn?.rates ?? []).map((rate) => [`${rate.kind} ${rate.process}`, rate.ns]));

function perSecond(amount, row) {
  const ns = rateTimes.get(`${row.kind} ${row.process}`) ?? report.churn.window_ns;
  return ns > 0 ? Math.round((amount * 1e9) / ns) : 0;
}

const FREE_COLUMNS = [
  { key: "count", title: "Count" },
  { key: "size", title: "Size", isBytes: true },
  { key: "outstanding", title: "Outstanding Size", isBytes: true },
  { key: "byOther", title: "Freed by Other Thread" },
];
const CHURN_COLUMNS = [
  { key: "allocs", title: "Alloc Count" },
  { key: "rate", title: "Allocs/s" },
  { key: "bytesRate", title: "Bytes/s", isBytes: true },
  { key: "temporary", title: "Temporary" },
  { key: "share", title: "Share (%)" },
  { key: "in10", title: "In 10" },
  { key: "in1ms", title: "In 1 ms" },
];
const CLASS_COLUMNS = [
  { key: "count", title: "Count" },
  { key: "size", title: "Size", isBytes: true },
  { key: "outstanding", title: "Outstanding Size", isBytes: true },
  { key: "rounding", title: "Rounding", isBytes: true },
  { key: "lfhRounding", title: "LFH Rounding", isBytes: true },
];

// A name of a function or module: null where there is none.
function nameCell(number, none) {
  const text = sideName(number);
  return { text: text ?? none, search: text };
}

function threadCell(thread, row, none) {
  if (thread === null) return { text: none, search: null };
  const pid = /\((\d+)\)$/.exec(row.process)?.[1];
  const name = threadNames.get(`${pid}:${thread}`);
  return { text: name === undefined ? String(thread) : `${name} (${thread})`, search: null };
}

function stackCells(row, none) {
  if (row.stack < 0) return { text: none, search: null };
  return { text: stackText(row), search: stackText(row), stack: row.stack };
}

// Memory without a freeing function was not freed, or nobody recorded who did.
const NO_FREER = "[not freed, or no stack recorded]";
const NOT_FREED = "[not freed, or not known]";
const NO_SITE = "[no stack]",
  NO_MODULE = "[no module]";

const FREE_VIEWS = {
  pairs: {
    title: "allocating and freeing function",
    names: ["Allocated by", "Freed by"],
    keys: ["site", "freer"],
    cells: (row) => [nameCell(row.site, NO_SITE), nameCell(row.freer, NO_FREER)],
  },
  sites: {
    title: "freeing function",
    names: ["Freed by"],
    keys: ["freer"],
    cells: (row) => [nameCell(row.freer, NO_FREER)],
  },
  modules: {
    title: "freeing module",
    names: ["Freed by"],
    keys: ["module"],
    cells: (row) => [nameCell(row.module, NO_FREER)],
  },
  stacks: {
    title: "freeing call stack",
    names: ["Freed by"],
    rows: () => freeStackRows,
    cells: (row) => [stackCells(row, NO_FREER)],
  },
  threads: {
    title: "allocating and freeing thread",
    names: ["Allocating thread", "Freeing thread"],
    keys: ["thread", "freer"],
    cells: (row) => [threadCell(row.thread, row, "[not known]"), threadCell(row.freer, row, NOT_FREED)],
  },
  unmatched: {
    title: "frees of what was allocated before the recording",
    names: ["Freed by"],
    rows: () => unmatchedRows,
    cells: (row) => [stackCells(row, "[no stack recorded]")],
    columns: [{ key: "count", title: "Count" }],
  },
};

function classRows() {
  const { histogram } = report.histograms.find((one) => one.histogram.by === "size");
  return histogram.buckets.map((bucket) => ({
    kind: bucket.kind,
    process: "",
    from: bucket,
    count: bucket.count,
    size: bucket.size,
    outstanding: bucket.outstanding_size,
    rounding: bucket.rounding_size ?? null,
    lfhRounding: bucket.lfh_rounding_size ?? null,
  }));
}

const CHURN_VIEWS = {
  sites: {
    title: "allocating function",
    names: ["Allocated by"],
    keys: ["site"],
    cells: (row) => [nameCell(row.site, NO_SITE)],
  },
  modules: {
    title: "module",
    names: ["Module"],
    keys: ["module"],
    cells: (row) => [nameCell(row.module, NO_MODULE)],
  },
  threads: {
    title: "thread",
    names: ["Thread"],
    keys: ["thread"],
    cells: (row) => [threadCell(row.thread, row, "[not known]")],
  },
  classes: {
    title: "size",
    names: ["Size of a block"],
    rows: classRows,
    cells: (row) => [{ text: bucketText(row.from, "size"), search: null }],
    columns: CLASS_COLUMNS,
  },
};

function withRates(row) {
  return {
    ...row,
    rate: perSecond(row.allocs, row),
    bytesRate: perSecond(row.allocSize, row),
    share: row.allocs > 0 ? Math.round((1000 * row.temporary) / row.allocs) / 10 : 0,
  };
}

// --- a section ---------------------------------------------------------------------------------

// `lists`: the lists of the document, or null; `hint`: what is said above the table.
class SideSection {
  constructor(id, views, sums, columns, lists, hint) {
    Object.assign(this, { id, views, columns, lists, hint, view: Object.keys(views)[0], shown: SIDE_SHOWN });
    Object.assign(this, { sort: columns[0].key, ascending: false, listed: [] });
    this.rows = {};
    for (const [name, view] of Object.entries(views)) {
      const rows = view.rows === undefined ? sideRows(lists?.[name], view.keys, sums) : view.rows();
      this.rows[name] = (lists === null ? [] : rows).map((row) => (row.allocs === undefined ? row : withRates(row)));
    }
    const chooser = byId(`${id}-view`);
    const known = Object.keys(views).filter((name) => this.isKnown(name));
    chooser.append(...known.map((value) => make("option", { value }, views[value].title)));
    if (!known.includes(this.view) && known.length > 0) this.view = known[0];
    chooser.addEventListener("change", () => this.choose(chooser.value));
  }

  isKnown(name) {
    return this.lists !== null && (name === "classes" || (this.lists[name] ?? null) !== null);
  }

  choose(view) {
    this.view = view;
    this.shown = SIDE_SHOWN;
    byId(`${this.id}-view`).value = view;
    this.draw();
    markAllColumns();
  }

  columnsOf() {
    return this.views[this.view].columns ?? this.columns;
  }

  // The rows of the kind that the search finds, in order.
  found() {
    const words = searchWords();
    const view = this.views[this.view];
    const isFound = (row) =>
      words === "" ||
      row.process.toLowerCase().includes(words) ||
      (row.stack !== undefined && row.stack >= 0 && stackMatches[row.stack] === 1) ||
      view.cells(row).some(({ text }) => text.toLowerCase().includes(words));
    const key = this.columnsOf().some((column) => column.key === this.sort) ? this.sort : this.columnsOf()[0].key;
    const way = this.ascending ? 1 : -1;
    const rows = this.rows[this.view].filter((row) => row.kind === state.kind.kind && isFound(row));
    return this.view === "classes" && this.sort !== key ? rows : rows.sort((a, b) => way * ((a[key] ?? -1) - (b[key] ?? -1)));
  }

  sortBy(key) {
    this.ascending = this.sort === key ? !this.ascending : false;
    this.sort = key;
    this.draw();
    byId(`${this.id}-rows`).tHead.querySelector(`[data-key="${key}"] button`).focus();
  }

  drawHead() {
    const texts = [...this.views[this.view].names, ...(this.view === "classes" ? [] : ["Process"])];
    const names = texts.map((text) => make("th", { scope: "col", class: "text" }, text));
    const numbers = this.columnsOf().map(({ key, title }) => {
      const sort = this.sort !== key ? "none" : this.ascending ? "ascending" : "descending";
      const button = make("button", { type: "button", onclick: () => this.sortBy(key) }, title);
      return make("th", { scope: "col", "aria-sort": sort, "data-key": key }, button);
    });
    return make("thead", {}, make("tr", {}, ...names, ...numbers));
  }

  drawRow(row) {
    const cells = this.views[this.view].cells(row);
    const names = cells.map((cell, i) =>
      make(i === 0 ? "th" : "td", { class: "wrap", scope: i === 0 ? "row" : null }, ...sideNameParts(cell)),
    );
    if (this.view !== "classes") names.push(make("td", { class: "text" }, row.process));
    return make("tr", {}, ...names, ...this.columnsOf().map(({ key, isBytes }) => numberCell(row[key], isBytes)));
  }

  draw() {
    byId(`${this.id}-hint`).textContent = this.hint(this);
    byId(`${this.id}-panel`).hidden = this.lists === null;
    if (this.lists === null || state.kind === null) return;
    this.listed = this.found();
    const shown = this.listed.slice(0, this.shown);
    const body = make("tbody", {}, ...shown.map((row) => this.drawRow(row)));
    const width = this.columnsOf().length + 3;
    const more = () => {
      this.shown += SIDE_MORE;
      this.draw();
    };
    if (shown.length < this.listed.length) {
      const left = this.listed.length - shown.length;
      const button = make("button", { type: "button", onclick: more }, ...moreText(Math.min(left, SIDE_MORE), left));
      body.append(make("tr", {}, make("td", { colspan: width }, button)));
    }
    if (shown.length === 0) body.append(make("tr", {}, make("td", { class: "empty", colspan: width }, "No data for this selection.")));
    byId(`${this.id}-rows`).replaceChildren(this.drawHead(), body);
  }

  // What is listed, for a spreadsheet.
  lines() {
    const view = this.views[this.view];
    const head = ["Kind", "Process", ...view.names, "Frames", ...this.columnsOf().map(sizeTitle)];
    return [
      head,
      ...this.listed.map((row) => [
        row.kind,
        row.process,
        ...view.cells(row).map(({ text }) => text),
        row.stack === undefined ? "" : stackCell(row),
        ...this.columnsOf().map(({ key }) => row[key] ?? ""),
      ]),
    ];
  }
}

// The name, which searches for its stacks, and the frames of a stack.
function sideNameParts({ text, search, stack }) {
  if (search === null) return [make("span", { class: "none" }, text)];
  const find = () => {
    byId("search").value = search;
    update({ search: search.toLowerCase() });
    announce(`Showing stacks with ${search}`);
  };
  const name = make("button", { type: "button", class: "link mono", title: "Search for this function", onclick: find }, text);
  if (stack === undefined) return [name];
  const lines = [...stacks[stack]].reverse().slice(1).map((frame) => make("div", { class: "mono" }, labels[labelOf[frame]].text));
  return lines.length === 0 ? [name] : [name, make("details", {}, make("summary", {}, "Call stack"), ...lines)];
}

// --- the two sections ----------------------------------------------------------------------------

function hiddenText(section) {
  const hidden = section.lists?.[section.view]?.hidden?.[state.kind?.kind] ?? 0;
  return hidden > 0 ? ` ${count(hidden)} smaller rows are left out.` : "";
}

function freesHint(section) {
  if (report.frees === null) return "This input does not say who freed its memory.";
  const total = report.frees.totals.find((one) => one.kind === state.kind?.kind);
  const freed = total === undefined ? 0 : total.freed_count;
  const other = total === undefined ? 0 : total.freed_by_other_count;
  const stacksText = report.frees.has_stacks
    ? ""
    : ` The functions that free are not known, because the recording has no call stacks of frees: record it with ${report.frees.advice}.`;
  return (
    `${capital(fileWindow())}. Of ${count(freed)} blocks that were freed, ${count(other)} were freed by another thread than ` +
    `the one that allocated them.${stacksText}${hiddenText(section)}`
  );
}

function churnHint(section) {
  if (report.churn === null) return "This input has no allocation times, so rates are unknown.";
  const total = report.churn.totals.find((one) => one.kind === state.kind?.kind);
  if (section.view === "classes")
    return (
      "Estimate: Rounding is what the heap's granularity adds to what is outstanding, LFH Rounding what the size classes " +
      "of the low-fragmentation heap add. No event says how large a block really is."
    );
  const allocs = total === undefined ? 0 : total.alloc_count;
  const temporary = total === undefined ? 0 : total.temporary_count;
  return (
    `${capital(fileWindow())}. ${count(temporary)} of ${count(allocs)} allocations were temporary: freed before their thread ` +
    `allocated again. In 10: freed before the tenth allocation that their thread made after them. ` +
    `In 1 ms: freed within a millisecond.${hiddenText(section)}`
  );
}

const freesSection = new SideSection("frees", FREE_VIEWS, FREE_SUMS, FREE_COLUMNS, report.frees, freesHint);
const churnSection = new SideSection("churn", CHURN_VIEWS, CHURN_SUMS, CHURN_COLUMNS, report.churn, churnHint);

function drawSides() {
  freesSection.draw();
  churnSection.draw();
}

// --- who frees the blocks of a row of the table ----------------------------------------------------

// The functions that free what the row's function allocates in its process, the most blocks first.
function freersOf(row) {
  if (row.stack < 0 || report.frees?.has_stacks !== true) return [];
  const site = labels[siteOf(row)].text;
  const mine = freesSection.rows.pairs.filter(
    (pair) => pair.kind === row.group.kind && pair.process === row.group.processLabel && sideName(pair.site) === site,
  );
  if (mine.length === 0) return [];
  const lines = mine.slice(0, 10).map((pair) => {
    const by = pair.byOther > 0 ? `, ${count(pair.byOther)} by another thread` : "";
    return make("li", {}, ...sideNameParts(nameCell(pair.freer, NO_FREER)), ` ${blocks(pair.count)}, ${bytes(pair.size)}${by}`);
  });
  if (mine.length > 10) lines.push(make("li", {}, `${count(mine.length - 10)} more`));
  return [make("div", { class: "freers" }, `Freed by, for all blocks that ${site} allocates:`, make("ul", {}, ...lines))];
}
