// The data of a trend as rows: the document that --format json writes, etlheap-trend-1.

const trend = JSON.parse(byId("data").textContent);
const IS_SIZE = trend.measure.endsWith("size"),
  IS_TIME = false;
const AMOUNTS = IS_SIZE ? "sizes" : "counts";
const PARTNERS = IS_SIZE ? "counts" : "sizes";
const SERIES = 7; // colours there are
const ROWS_MORE = 200;

const state = { kind: null, pattern: "", search: "", sort: "weight", ascending: false, shown: 100, chosen: new Set() };

function partnerAmount(value) {
  return IS_SIZE ? count(value) : bytes(value);
}

const frameTexts = trend.frames.map(frameText);
const isGroupedByKind = trend.group_by.includes("kind");

function keyText(row, key) {
  const value = row[key];
  if (value === null || value === undefined) return `[no ${key}]`;
  if (key === "stack") return trend.stacks[value].map((at) => frameTexts[at]).join(" < ");
  return typeof value === "object" ? frameText(value) : key === "site" || key === "frame" ? frameTexts[value] : String(value);
}

const rows = trend.rows.map((row, index) => ({
  index,
  kind: isGroupedByKind ? row.kind : trend.totals[0].kind, // of one kind alone
  pattern: row.pattern,
  slope: row.slope,
  weight: Math.abs(row.change),
  change: row[AMOUNTS][row[AMOUNTS].length - 1] - row[AMOUNTS][0],
  first: row[AMOUNTS][0],
  last: row[AMOUNTS][row[AMOUNTS].length - 1],
  since: row.turn_run,
  values: row[AMOUNTS],
  partners: row[PARTNERS] ?? null,
  where: trend.group_by
    .filter((key) => key !== "kind")
    .map((key) => keyText(row, key))
    .join(" \u00b7 "),
}));

const kinds = trend.totals.map((total) => total.kind);

function patternText(row) {
  return row.since === null ? row.pattern : `${row.pattern} in ${row.since}`;
}

// What comes first: without a choice, rows with the largest step or drift.
function sortValue(row) {
  return state.sort === "change" ? Math.abs(row.change) : row[state.sort];
}

const COLUMNS = [
  { key: "pattern", title: "Pattern", look: "word" },
  { key: "slope", title: "Slope/run" },
  { key: "change", title: "Change" },
  { key: "first", title: "First" },
  { key: "last", title: "Last" },
  { key: "since", title: "Since run" },
  { key: "where", title: "Where", look: "where" },
];

function compareRows(a, b) {
  const x = sortValue(a),
    y = sortValue(b);
  const order = x === y ? 0 : x < y || x === null ? -1 : 1;
  return (state.ascending ? order : -order) || a.index - b.index;
}

function rowsShown() {
  return rows
    .filter((row) => row.kind === state.kind && (state.pattern === "" || row.pattern === state.pattern))
    .filter((row) => state.search === "" || row.where.toLowerCase().includes(state.search))
    .sort(compareRows);
}
