// The smaller views: overview, filters, histograms, modules, diagnostics.

// --- overview -------------------------------------------------------------------------------------

// A search counts in the cards too, so that it shows which kinds have what it finds.
function drawOverview() {
  byId("kinds").replaceChildren(...kinds.map(kindCard));
}

function kindCard(kind) {
  const isSearching = searchWords() !== "";
  const types = isSearching ? typesFound(kind) : kind.types;
  const size = outstandingSize(types),
    isChosen = kind === state.kind;
  const amount = blocks(outstandingCount(types));
  return make(
    "div",
    {
      class: "kind",
      role: "radio",
      "aria-checked": isChosen,
      tabindex: isChosen ? 0 : -1,
      "data-kind": kind.kind,
      onclick: () => chooseKind(kind),
      onkeydown: (event) => moveKind(event, kind),
    },
    make("div", { class: "name" }, kind.kind),
    make(
      "div",
      { class: "big", "data-value": size },
      bytes(size),
      " ",
      make(
        "small",
        {},
        isSearching
          ? `found in ${amount}, of ${bytes(outstandingSize(kind.types))} outstanding`
          : `outstanding in ${amount}`,
      ),
    ),
    kindFacts(kind, types),
    spark(kind.cells.curve(), 100, 20),
  );
}

function kindFacts(kind, types) {
  const list = make("dl"),
    isSearching = searchWords() !== "";
  const entry = (title, text, attributes = {}) => list.append(make("dt", {}, title), make("dd", attributes, text));
  entry("allocated", `${bytes(types[1] + types[3])} in ${blocks(types[0] + types[2])}`, { class: "allocated" });
  const whole = isSearching ? ", all" : "";
  if (report.window.at_exit === "leaked")
    entry(
      `left at process exit${whole}`,
      kind.leaked_size > 0 ? `${bytes(kind.leaked_size)} in ${blocks(kind.leaked_count)}` : "none",
      { class: "leaked" },
    );
  entry(`peak${whole}`, `${bytes(kind.peak.size)} at ${seconds(kind.peak.at_ns)}`);
  if (kind.growth !== null)
    entry(
      `largest lasting rise${whole}`,
      `${signed(kind.growth.after_size - kind.growth.before_size)} from ${seconds(edge(kind.growth.first_window))}`,
    );
  const steepest = steepestRise(kind);
  if (steepest !== null)
    entry(`steepest rise${whole}`, `${bytes(Math.round(steepest.rate))}/s at ${seconds(edge(steepest.window))}`, {
      class: "steepest",
    });
  if (kind.free_without_alloc > 0) entry(`frees of older memory${whole}`, count(kind.free_without_alloc));
  return list;
}

// The window with the most bytes added per second, whether they stay or not. Null without a rise.
function steepestRise(kind) {
  const curve = kind.cells.curve();
  let best = null;
  for (let window = 0; window < WINDOWS; window++) {
    const rate = ((curve[window + 1] - curve[window]) * 1e9) / (edge(window + 1) - edge(window));
    if (rate > (best?.rate ?? 0)) best = { window, rate };
  }
  return best;
}

function chooseKind(kind) {
  update({ kind });
  byId("kinds").querySelector('[aria-checked="true"]').focus({ preventScroll: true });
}

function moveKind(event, kind) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step === undefined && event.key !== " " && event.key !== "Enter") return;
  event.preventDefault();
  chooseKind(kinds[(kinds.indexOf(kind) + (step ?? 0) + kinds.length) % kinds.length]);
}

// A time of an unknown zone has no Z.
function startTime(time) {
  return `${time.slice(0, 19).replace("T", " ")} ${time.endsWith("Z") ? "UTC" : "local time"}`;
}

// What was allocated at one moment has no curve.
function hideTimes() {
  for (const id of ["chart", "chart-hint", "select-peak", "select-rise", "select-steepest", "select-none", "selection"])
    byId(id).style.display = "none";
  byId("timeline-title").textContent = "Outstanding at one moment";
}

function drawTitle() {
  const trace = report.trace;
  const names = trace.files.map((file) => file.replace(/^.*[\\/]/, ""));
  const title = `Memory in ${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`;
  document.title = title;
  byId("page-title").textContent = title;
  const lost = trace.events_lost + trace.buffers_lost;
  const facts = [
    trace.computer,
    trace.os_build > 0 ? `Windows build ${trace.os_build}` : "",
    trace.start_time ? `recorded ${startTime(trace.start_time)}` : "recorded at an unknown time",
    report.window.is_moment ? "" : span(trace.duration_ns),
    report.window.is_whole ? "" : `only ${fileWindow()}`,
    `${count(trace.events)} events${lost === 0 ? ", none lost" : `, ${count(lost)} lost`}`,
  ];
  byId("page-subtitle").textContent = facts.filter((fact) => fact !== "").join(" \u00b7 ");
  byId("footer").textContent =
    `Made by etlheap ${report.version}. Sizes are the bytes that programs asked for. This file loads nothing from anywhere.`;
}

function drawNotices() {
  const found = lossesOf(report);
  if (found.length === 0) return;
  byId("notices").append(
    make(
      "p",
      { class: "notice bad" },
      `The recording is not complete: ${found.map(lossText).join(", ")}. Sizes may be off; `,
      make("a", { href: "#diagnostics" }, "what that means and what helps"),
      ".",
    ),
  );
}

// --- filters ------------------------------------------------------------------------------------------

function drawFilters() {
  const chips = [];
  const chip = (text, name, clear) =>
    chips.push(
      make(
        "button",
        {
          type: "button",
          class: "chip",
          "aria-label": `Remove: ${text}`,
          title: text,
          "data-chip": name,
          onclick: clear,
        },
        make("span", {}, text),
        "\u00d7",
      ),
    );
  if (state.selection !== null)
    chip(`${seconds(edge(state.selection.from))} \u2013 ${seconds(edge(state.selection.to))}`, "selection", () =>
      update({ selection: null }),
    );
  if (state.group !== null) chip(state.group.label, "group", () => update({ group: null }));
  if (state.node !== null) chip(flameText(state.node), "node", () => zoomFlame(0));
  if (state.search !== "") chip(`\u201c${state.search}\u201d`, "search", clearSearch);
  if (chips.length === 0)
    chips.push(
      make(
        "span",
        { class: "chip plain" },
        state.kind === null ? "" : `Showing all ${state.kind.kind}, ${fileWindow()}`,
      ),
    );
  byId("chips").replaceChildren(...chips);
  byId("search-result").textContent = searchResult();
}

function searchResult() {
  if (state.search === "" || state.kind === null) return "";
  let size = 0,
    found = 0;
  for (const row of rowsShown()) {
    const amounts = amountsOf(row);
    size += amounts === null ? 0 : amounts.endSize;
    found++;
  }
  const whole = (state.group === null ? amountsOfKind(state.kind) : amountsOfGroup(state.group))?.endSize ?? 0;
  const part = whole > 0 ? `, ${share(size, whole)}` : "";
  return `${count(found)} ${found === 1 ? "row matches" : "rows match"}: ${bytes(size)} outstanding${part}`;
}

function clearSearch() {
  byId("search").value = "";
  update({ search: "" });
  byId("search").focus();
}

// --- histograms ---------------------------------------------------------------------------------------

function boundText(value, by) {
  return by === "size" ? bytes(value) : tick(value);
}

function bucketText(bucket, by) {
  if (bucket.from === null) return "unknown";
  if (bucket.to === null) return `${boundText(bucket.from, by)} and more`;
  if (bucket.to - bucket.from === 1) return boundText(bucket.from, by);
  return `${boundText(bucket.from, by)} \u2013 ${boundText(bucket.to, by)}`;
}

function drawHistograms() {
  if (state.kind === null) return;
  byId("histograms-hint").textContent = `All allocations in ${fileWindow()}.`;
  byId("histogram-tables").replaceChildren(
    ...report.histograms.map(({ histogram }) => {
      const buckets = histogram.buckets.filter((bucket) => bucket.kind === state.kind.kind);
      const mostSize = Math.max(1, ...buckets.map((bucket) => bucket.size)),
        mostCount = Math.max(1, ...buckets.map((bucket) => bucket.count));
      const title = histogram.by === "size" ? "Size of a block" : "Lifetime of a block";
      const body = make("tbody");
      for (const bucket of buckets) {
        const bars = [make("div"), make("div")];
        bars[0].style.width = `${(100 * bucket.size) / mostSize}%`;
        bars[1].style.width = `${(100 * bucket.count) / mostCount}%`;
        body.append(
          make(
            "tr",
            {},
            make("th", { scope: "row" }, bucketText(bucket, histogram.by)),
            make("td", { class: "meter", "aria-hidden": "true" }, ...bars),
            numberCell(bucket.size, true),
            numberCell(bucket.count, false),
            numberCell(bucket.outstanding_size, true),
          ),
        );
      }
      const swatches = ["Size", "Count"].map((text, i) => {
        const swatch = make("span", { class: "swatch" });
        swatch.style.cssText = `display:inline-block;background:var(--series-${i});margin-right:.3rem`;
        return make("span", {}, swatch, `${text} `);
      });
      return make(
        "div",
        { class: "panel scroll" },
        make(
          "table",
          { "data-histogram": histogram.by },
          make("caption", { class: "sr" }, title),
          make(
            "thead",
            {},
            make(
              "tr",
              {},
              make("th", { scope: "col" }, title),
              make("td", { class: "text" }, ...swatches),
              ...["Size", "Count", "Outstanding"].map((text) => make("th", { scope: "col" }, text)),
            ),
          ),
          body,
        ),
      );
    }),
  );
}

// --- modules ------------------------------------------------------------------------------------------

const STATE_ADVICE = {
  missing: "not on the symbol path",
  mismatch: "found, but of another build",
  unusable: "damaged, or in a format that etlheap does not read",
  withheld: "marked as unavailable in the symbol store",
  unreachable: "the server did not answer",
  unidentified: "the trace does not say which build it was",
  exports: "only the exports of the program file",
  loose: "the PDB of another build",
};

function drawModules() {
  if (state.kind === null) return;
  const kind = state.kind.kind,
    symbols = report.symbols;
  const missing = symbols.modules
    .filter((module) => module.status !== "found")
    .sort((a, b) => (b.size[kind] ?? 0) - (a.size[kind] ?? 0));
  const whole = symbols.size[kind] ?? 0,
    named = symbols.named_size[kind] ?? 0;
  byId("modules-hint").textContent =
    (whole > 0 ? `${share(named, whole)} of the outstanding bytes have an allocating function with a name. ` : "") +
    (symbols.asked
      ? missing.length > 0
        ? "These modules have no symbols, or only symbols of another build."
        : ""
      : `No symbol path was given, so frames do not have the names of their functions${symbols.advice ?? ""}.`) +
    (symbols.hidden > 0 ? ` ${count(symbols.hidden)} modules with less memory are left out.` : "");
  const body = make("tbody");
  for (const module of missing)
    body.append(
      make(
        "tr",
        {},
        make("th", { scope: "row", title: module.path }, module.module),
        numberCell(module.size[kind] ?? 0, true),
        make("td", { class: "text" }, make("span", { class: "badge" }, module.status)),
        make("td", { class: "wrap" }, module.note || (STATE_ADVICE[module.status] ?? "")),
        make("td", { class: "wrap mono" }, module.expected),
      ),
    );
  if (missing.length === 0)
    body.append(
      make(
        "tr",
        {},
        make(
          "td",
          { class: "empty", colspan: 5 },
          symbols.modules.length === 0
            ? "No stack of outstanding memory has a module."
            : "All modules have symbols.",
        ),
      ),
    );
  byId("module-rows").replaceChildren(
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        make("th", { scope: "col" }, "Module"),
        make("th", { scope: "col" }, "Outstanding Size"),
        ...["Status", "Why", "Expected"].map((text) => make("th", { scope: "col", class: "text" }, text)),
      ),
    ),
    body,
  );
}

// --- diagnostics --------------------------------------------------------------------------------------

function drawDiagnostics() {
  const box = byId("diagnostic-rows");
  if (report.diagnostics.length === 0) {
    box.append(make("p", { class: "hint" }, "Nothing was lost or damaged."));
    return;
  }
  const rank = ["damage", "loss", "limit", "info"];
  const sorted = [...report.diagnostics].sort((a, b) => rank.indexOf(a.severity) - rank.indexOf(b.severity));
  const body = make("tbody");
  for (const one of sorted)
    body.append(
      make(
        "tr",
        {},
        make("th", { scope: "row" }, make("span", { class: `badge ${one.severity}` }, one.severity)),
        numberCell(one.count, false),
        make("td", { class: "text mono" }, one.name),
        make("td", { class: "wrap" }, one.advice),
      ),
    );
  box.append(
    make(
      "div",
      { class: "panel scroll" },
      make(
        "table",
        { "aria-labelledby": "diagnostics-title" },
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            make("th", { scope: "col" }, "Severity"),
            make("th", { scope: "col" }, "Count"),
            make("th", { scope: "col", class: "text" }, "Name"),
            make("th", { scope: "col", class: "text" }, "Meaning and advice"),
          ),
        ),
        body,
      ),
    ),
  );
}
