// Putting it together: which view hears of which change, theme, keys, first drawing.

views.push((changes) => {
  if ("kind" in changes || "search" in changes) drawOverview();
  if ("kind" in changes) {
    drawSuspects();
    drawHistograms();
    drawModules();
  }
  spikes.shown = SPIKES_SHOWN;
  spikes.allMoments = false;
  drawFilters();
  drawSpikes();
  if ("kind" in changes || "search" in changes) drawSides();
  drawIgnored();
  markAllColumns();
});

function setTheme(isDark) {
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  byId("theme").setAttribute("aria-pressed", String(isDark));
}

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
setTheme(prefersDark.matches);
prefersDark.addEventListener("change", () => setTheme(prefersDark.matches));
byId("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));

// Paper is light, and as wide as it is: a chart that is made smaller has letters too small to
// read.
let themeOnScreen = null;
addEventListener("beforeprint", () => {
  themeOnScreen = document.documentElement.dataset.theme;
  setTheme(false);
  chart.paperWidth = PAPER_WIDTH;
  drawChart();
});
addEventListener("afterprint", () => {
  setTheme(themeOnScreen === "dark");
  chart.paperWidth = null;
  drawChart();
});
byId("print").addEventListener("click", () => print());

let searchTimer = 0;
byId("search").addEventListener("input", () => {
  clearTimeout(searchTimer);
  searchTimer = setTimeout(() => update({ search: byId("search").value.trim().toLowerCase() }), 120);
});
byId("search").addEventListener("keydown", (event) => {
  if (event.key === "Escape" && state.search !== "") clearSearch();
});

addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName ?? "");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    byId("search").focus();
  } else if (event.key === "Escape" && !isTyping && isSelected()) {
    update({ selection: null });
  }
});

let drawnWidth = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === drawnWidth) return;
  drawnWidth = innerWidth;
  for (const view of views) view({ size: true });
});

drawTitle();
if (report.window.is_moment) hideTimes();
drawNotices();
drawDiagnostics();
drawMap();
if (state.kind === null) {
  byId("kinds").append(
    make(
      "p",
      { class: "empty" },
      "The trace has no heap, VirtualAlloc or extent events. etlheap info lists the commands that record them.",
    ),
  );
  drawChart();
} else {
  readLink();
}
markAllColumns();
document.documentElement.dataset.ready = performance.now().toFixed(0);
