// What is shown is in the link, behind the #, so that a link opens the page as it was:
//
//     #kind=heap&from=2.1&to=5&search=app.exe&zoom=1f0c2a7
//
// Times are seconds, as on the command line; what is as it is at first is left out. A bar of
// the flame graph is a hash of the names from the root to it, which other reports have too.

const LINK_DELAY_MS = 150; // keys that are held move the selection often

// By node of the flame graph.
function flameHashes() {
  const tree = flame.tree;
  tree.hashes ??= new Uint32Array(tree.size);
  if (tree.hashes[0] !== 0) return tree.hashes;
  tree.hashes[0] = 2166136261;
  for (let node = 1; node < tree.size; node++) {
    let hash = tree.hashes[tree.parent[node]];
    for (const c of `;${flameText(node)}`) hash = Math.imul(hash ^ c.codePointAt(0), 16777619);
    tree.hashes[node] = hash >>> 0;
  }
  return tree.hashes;
}

function secondsText(ns) {
  const text = (ns / 1e9).toFixed(9);
  return text.replace(/\.?0+$/, "");
}

// The edge at a time, or the nearest.
function edgeAtSeconds(text) {
  const ns = Number(text) * 1e9;
  let best = 0;
  for (let i = 1; i <= WINDOWS; i++) if (Math.abs(edge(i) - ns) < Math.abs(edge(best) - ns)) best = i;
  return best;
}

function linkText() {
  const link = new URLSearchParams();
  if (state.kind === null) return "";
  if (state.kind !== kinds[0]) link.set("kind", state.kind.kind);
  if (isSelected()) {
    link.set("from", secondsText(edge(state.selection.from)));
    link.set("to", secondsText(edge(state.selection.to)));
  }
  if (state.group !== null) link.set("heap", state.group.label);
  if (flame.direction !== "callees") link.set("flame", flame.direction);
  if (flame.metric !== "endSize") link.set("bytes", flame.metric);
  if (state.node !== null) link.set("zoom", flameHashes()[state.node].toString(16));
  if (state.search !== "") link.set("search", byId("search").value.trim());
  if (table.grouping !== "heap") link.set("group", table.grouping);
  if (table.sort !== "endSize" || table.ascending) link.set("sort", (table.ascending ? "-" : "") + table.sort);
  return link.toString();
}

let linkTimer = 0,
  linkWritten = "";

function writeLink() {
  clearTimeout(linkTimer);
  const text = linkText();
  if (text === linkWritten) return;
  linkWritten = text;
  history.replaceState(null, "", text === "" ? location.pathname + location.search : `#${text}`);
}

function pick(list, wanted, otherwise) {
  return list.includes(wanted) ? wanted : otherwise;
}

// Names that this report does not know are passed over.
function readLink() {
  if (state.kind === null) return;
  linkWritten = location.hash.slice(1);
  const link = new URLSearchParams(linkWritten);
  const kind = kinds.find((one) => one.kind === link.get("kind")) ?? kinds[0];
  const sort = link.get("sort") ?? "endSize";
  flame.direction = pick(["callees", "callers"], link.get("flame"), "callees");
  flame.metric = pick(FLAME_METRICS.map(([key]) => key), link.get("bytes"), "endSize");
  byId("flame-direction").value = flame.direction;
  byId("flame-metric").value = flame.metric;
  flame.tree = null;
  table.grouping = pick(Object.keys(GROUPINGS), link.get("group"), "heap");
  table.ascending = sort.startsWith("-");
  table.sort = sort.replace(/^-/, "");
  byId("search").value = link.get("search") ?? "";
  const group = groups.find(
    (one) => one.kind === kind.kind && one.label === link.get("heap") && one.cells !== null,
  );
  const [from, to] = ["from", "to"].map((name) => (link.has(name) ? edgeAtSeconds(link.get(name)) : null));
  const selection = from !== null && to !== null && from < to ? { from, to } : null;
  update({ kind, group: group ?? null, selection, search: byId("search").value.trim().toLowerCase() });
  const node = link.has("zoom") ? flameHashes().indexOf(parseInt(link.get("zoom"), 16)) : -1;
  if (node > 0) update({ node });
}

function writeLinkSoon() {
  clearTimeout(linkTimer);
  linkTimer = setTimeout(writeLink, LINK_DELAY_MS);
}

views.push(writeLinkSoon);

// Links within the page go to a section and leave the rest of the address as it is.
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (link === null) return;
  const section = byId(link.getAttribute("href").slice(1));
  event.preventDefault();
  section.tabIndex = -1;
  section.focus({ preventScroll: true });
  section.scrollIntoView();
});

addEventListener("hashchange", () => {
  if (location.hash.slice(1) !== linkWritten) readLink();
});
