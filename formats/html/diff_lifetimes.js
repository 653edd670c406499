// Lifetimes of both sides: how many blocks they are of, and how they are spread.
//
// Only a comparison that was asked for lifetimes has them. The sides freed different numbers of
// blocks, so bars compare shares: each is as long as its class's part of what its side freed.

const LIFETIME_TOTALS = ["lifetime_median_ns", "lifetime_mean_ns", "lifetime_p90_ns", "lifetime_p99_ns", "freed_count", "outstanding_count"];
const MEASURE_TITLES = {
  lifetime_median_ns: "Median lifetime",
  lifetime_mean_ns: "Mean lifetime",
  lifetime_p90_ns: "90% live at most",
  lifetime_p99_ns: "99% live at most",
  freed_count: "Freed",
  outstanding_count: "Outstanding",
};

function lifetimeTotalLine(total, measure, isFirst) {
  return make(
    "tr",
    { "data-measure": measure, "data-kind": total.kind },
    make("th", { scope: "row" }, isFirst ? total.kind : ""),
    make("td", { class: "word" }, MEASURE_TITLES[measure]),
    changeCell(total[`delta_${measure}`], measure),
    amountCell(total[`base_${measure}`], measure),
    amountCell(total[`new_${measure}`], measure),
  );
}

function drawLifetimeTotals() {
  const titles = [["Kind"], ["", "word"], ["Change"], ["Base"], ["New"]];
  byId("totals").replaceChildren(
    make("thead", {}, make("tr", {}, ...titles.map(([title, look]) => make("th", { scope: "col", class: look ?? "" }, title)))),
    make("tbody", {}, ...diff.totals.flatMap((total) => LIFETIME_TOTALS.map((measure, i) => lifetimeTotalLine(total, measure, i === 0)))),
  );
}

function barCell(value, all, largest, side) {
  const share = all > 0 ? value / all : 0;
  if (value === 0) return make("td", { class: "shares" });
  const bar = make("div", { class: `share ${side}`, title: `${(100 * share).toFixed(1)} % of ${count(all)}` });
  bar.style.width = `${largest > 0 ? (100 * share) / largest : 0}%`;
  return make("td", { class: "shares" }, bar);
}

function drawSpread() {
  const classes = diff.histogram.buckets.filter((bucket) => bucket.kind === state.kind);
  const sum = (side) => classes.reduce((total, bucket) => total + bucket[side], 0);
  const base = sum("base_count"),
    now = sum("new_count");
  const largest = Math.max(...classes.map((bucket) => Math.max(base > 0 ? bucket.base_count / base : 0, now > 0 ? bucket.new_count / now : 0)), 0);
  const titles = [["From"], ["Below"], ["Base"], ["New"], ["Share of the base", "shares"], ["Share of the new side", "shares"]];
  const lines = classes.map((bucket) =>
    make(
      "tr",
      {},
      make("td", {}, tick(bucket.from)),
      make("td", {}, bucket.to === null ? "" : tick(bucket.to)),
      numberCell(bucket.base_count, false),
      numberCell(bucket.new_count, false),
      barCell(bucket.base_count, base, largest, "base"),
      barCell(bucket.new_count, now, largest, "now"),
    ),
  );
  byId("spread").replaceChildren(
    make("thead", {}, make("tr", {}, ...titles.map(([title, look]) => make("th", { scope: "col", class: look ?? "" }, title)))),
    make("tbody", {}, ...lines),
  );
  if (lines.length === 0) byId("spread").replaceChildren(make("tbody", {}, make("tr", {}, make("td", { class: "word" }, "Nothing was freed on either side."))));
}

function beginLifetimes() {
  if (!HAS_LIFETIMES) return;
  byId("lifetimes").hidden = false;
  byId("lifetimes-link").hidden = false;
  if (!BY_LIFETIME) return;
  byId("legend-grew").textContent = "lived longer";
  byId("legend-shrank").textContent = "lived shorter";
  byId("legend-same").textContent = "equal, or freed on one side alone.";
  byId("legend-width").textContent = "Frames are as wide as the number of blocks freed, and coloured by their mean lifetime.";
}
