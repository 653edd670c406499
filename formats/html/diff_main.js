// What the page begins with, and what its controls do.

function fileNames(side) {
  const files = side.trace?.files ?? (side.file === undefined ? [] : [side.file]);
  return files.map((path) => path.split(/[\\/]/).pop()).join(", ");
}

// A kind that one side has nothing of is shown as the other side has it.
function drawPage() {
  tree = buildTree();
  if (widthOf(tree.root) === 0 && tree.root.baseWidth + tree.root.nowWidth > 0) state.width = byId("width").value = "larger";
  if (HAS_LIFETIMES) drawSpread();
  drawFlame();
  drawDetails();
  drawRows();
}

function change(name, value) {
  state[name] = value;
  if (name === "kind" || name === "direction") state.zoom = null;
  if (name === "kind") state.shown = 50;
  if (name === "width") drawFlame();
  else drawPage();
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-pressed", theme === "dark");
}

// The kind with the row that grew most comes first; if no row grew, the kind that changed most.
function kindsByGrowth() {
  const grown = new Map(kinds.map((kind) => [kind, 0])),
    changed = new Map(grown);
  for (const row of rows) {
    const size = BY_LIFETIME ? row.amounts.base_freed_count + row.amounts.new_freed_count : row.now - row.base;
    grown.set(row.kind, Math.max(grown.get(row.kind), size));
    changed.set(row.kind, changed.get(row.kind) + Math.abs(size));
  }
  return kinds.sort((a, b) => grown.get(b) - grown.get(a) || changed.get(b) - changed.get(a));
}

function sideNotice(name, side) {
  const lines = lossesOf(side).map((one) => `${lossText(one)}: ${one.advice}`);
  return lossNotice(`${name} is not complete, so sizes may be off:`, lines);
}

function begin() {
  const title = `${fileNames(diff.base)} \u2192 ${fileNames(diff.new)}`;
  document.title = `${title}: memory comparison`;
  byId("page-title").textContent = title;
  byId("page-subtitle").textContent = `${diff.measure.replace(/_ns$/, "").replaceAll("_", " ")}, ${count(diff.unchanged_count)} groups are equal on both sides`;
  byId("notices").replaceChildren(
    ...sideNotice("The base", diff.base),
    ...sideNotice("The new side", diff.new),
    ...diff.hints.map((hint) => make("p", { class: "notice" }, hint.text)),
  );
  kindsByGrowth();
  byId("kind").append(...kinds.map((kind) => make("option", { value: kind }, kind)));
  state.kind = kinds[0] ?? "heap";
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  beginLifetimes();
  drawTotals();
  drawPage();
  markAllColumns();
}

for (const name of ["kind", "width", "direction"]) byId(name).addEventListener("change", (event) => change(name, event.target.value));
byId("search").addEventListener("input", (event) => change("search", event.target.value.trim().toLowerCase()));
byId("theme").addEventListener("click", () => {
  setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  drawFlame();
});
byId("print").addEventListener("click", () => print());
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.tagName === "INPUT") return;
  event.preventDefault();
  byId("search").focus();
});
addEventListener("resize", () => drawFlame());
begin();
