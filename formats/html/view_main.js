// Puts the page together: theme, keys, the session, and the first questions.

function setTheme(isDark) {
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  byId("theme").setAttribute("aria-pressed", String(isDark));
}

// The system's theme, until the user chooses one. Storage may be forbidden, as in a file.
function startTheme() {
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try {
    chosen = localStorage.getItem("etlheap-theme");
  } catch {
    chosen = null;
  }
  setTheme(chosen === null ? prefersDark.matches : chosen === "dark");
  prefersDark.addEventListener("change", () => chosen === null && setTheme(prefersDark.matches));
  byId("theme").addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    setTheme(chosen === "dark");
    try {
      localStorage.setItem("etlheap-theme", chosen);
    } catch {
      announce("The browser does not keep the theme");
    }
  });
}

// --- keys -----------------------------------------------------------------------------------

function startKeys() {
  addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName ?? "");
    if (isTyping || event.defaultPrevented) return;
    if (event.key === "/" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      byId("search").focus();
    } else if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey) {
      event.preventDefault();
      undo();
    } else if (event.key === "Escape" && (state.from !== null || state.to !== null)) {
      update({ from: null, to: null });
    }
  });
  byId("save").hidden = !source.can("export", []);
  byId("save").addEventListener("click", () => openMenu(byId("save"), saveItems()));
  byId("copy-link").addEventListener("click", () => copyText(location.href, "the link to this view"));
}

// --- saving ---------------------------------------------------------------------------------

const SAVED_FORMATS = [
  ["html", "html", "One HTML file"],
  ["speedscope", "speedscope.json", "Flame graph for speedscope"],
  ["pprof", "pb.gz", "Profile for pprof"],
  ["folded", "folded", "Folded stacks"],
  ["csv", "csv", "Stacks as CSV"],
];

// What `export` writes of the window and the filters. Its HTML has all kinds, like the cards; it takes no
// types.
function savedOptions(format) {
  const isPage = format === "html";
  const options = [["format", format], ...filterOptions({ kind: !isPage, types: false, search: false })];
  return isPage ? [...options, ["kind", recordedKinds().join(",")]] : options;
}

function saveItems() {
  const name = fileName(shownInput()?.name ?? "trace").replace(/\.[a-z0-9]+$/i, "");
  const without = state.filters.some(({ option }) => option === "type") ? ", without the filter of types" : "";
  const items = SAVED_FORMATS.map(([format, suffix, label]) => ({
    label: `${label} (${name}.${suffix})${without}`,
    act: () =>
      source
        .download("export", savedOptions(format), `${name}.${suffix}`)
        .then(() => sayAtTop(""))
        .catch((error) => sayAtTop(error.message)),
  }));
  const command = source.commandFor("export", [...savedOptions("html"), ["output", `${name}.html`]]);
  return [...items, { label: "Copy the command for the HTML file", act: () => copyText(command, "the command") }];
}

// --- the trace ------------------------------------------------------------------------------

// Until a kind is chosen, heap blocks are shown, or else the first kind that was recorded.
function chooseFirstKind() {
  const kinds = recordedKinds();
  const usual = compared === null ? kinds[0] : comparedKind(kinds);
  if (kinds.length > 0 && !kinds.includes(state.kind)) update({ kind: usual }, { replace: true });
}

function processChoices() {
  const names = new Set(
    (traceInfo.processes ?? []).flatMap(({ name, pid }) => [name, pid]).filter((word) => !isUnknown(word)),
  );
  return { process: [...names].map(String), "at-exit": ["freed", "leaked"], type: TYPE_NAMES };
}

let infoOf = null;

// `info` of the shown input, once it has been read.
async function readInfo() {
  const input = shownInput();
  const key = `${input?.number} ${input?.state}`;
  if (key === infoOf) return;
  infoOf = key;
  traceInfo = null;
  if (input?.state === "ready") {
    try {
      const answer = source.compared === null ? (await source.ask("info", [])).document : await readCompared();
      if (key !== infoOf) return;
      traceInfo = answer;
      setFilterChoices(processChoices());
      chooseFirstKind();
      if (isSummary()) update({ from: null, to: null }, { replace: true });
    } catch (error) {
      clear(byId("notices")).append(make("div", { class: "notice bad" }, error.message));
      return;
    }
  }
  drawTitle();
  drawNotices();
  if (traceInfo !== null && recordedKinds().length === 0) sayNoMemory();
  if (isSummary()) saySummary();
}

function saySummary() {
  const text =
    "This is a summary: it has totals of whole traces, by call stack. To select a window, or to see single blocks, open the traces or their stores. The curve counts memory as freed when its process ends.";
  byId("notices").append(make("div", { class: "notice" }, text));
}

function sayNoMemory() {
  if (compared !== null)
    return byId("notices").append(make("div", { class: "notice" }, "No run has memory that this page was to show."));
  if (!source.isLive && (traceInfo.recorded ?? []).length > 0)
    return byId("notices").append(
      make("div", { class: "notice" }, "The trace has no memory that this page was to show."),
    );
  const heap = (traceInfo.questions ?? []).find((question) => question.name === "heap");
  const how = isUnknown(heap?.record) ? "" : ` To record heap blocks: ${heap.record}.`;
  byId("notices").append(make("div", { class: "notice" }, `The trace has no events about memory.${how}`));
}

// The first parts are drawn, or the trace has nothing to draw. Until it has been read, the page waits.
function markReady() {
  const isRead = shownInput()?.state !== "reading";
  if (isRead && document.documentElement.dataset.ready === undefined)
    document.documentElement.dataset.ready = performance.now().toFixed(0);
}

async function followSession(changed) {
  drawInputs();
  drawTitle();
  if (changed.length === 0 || !partsStarted) return;
  await readInfo();
  await askAllAgain();
  markReady();
}

async function startPage() {
  await openSource();
  startTheme();
  readAddress();
  startFilters();
  startSearch();
  startKeys();
  startWideNotes();
  onChange((changes) => {
    if ("kind" in changes) chooseFirstKind();
    if ("input" in changes || "base" in changes) readInfo().then(() => (drawInputs(), refreshParts()));
  });
  source.onSession?.(followSession);
  if (source.isLive) await source.readSession();
  drawInputs();
  if (shownInput() === null && source.session.inputs.length > 0)
    update({ input: source.session.inputs[0].number }, { replace: true });
  await readInfo();
  await startParts();
  if (!source.isLive) await drawDistantParts();
  markReady();
}

startPage().catch((error) => {
  console.error(error);
  byId("notices").append(make("div", { class: "notice bad" }, error.message));
});
