// How full the address space is at the end: a table of regions, each with a strip of its parts.
//
// A strip is as many columns as the file has levels for the region, in address order. A level
// says how full a part is; colours go from light to dark, and what is committed and empty is of
// another hue, so that both are told apart without colours. The pointer, or arrow keys in a
// strip, say what a part is.

const MAP_LEVELS = [
  "reserved",
  "committed and empty",
  "committed, less than a quarter outstanding",
  "committed, a quarter to half outstanding",
  "committed, half to three quarters outstanding",
  "committed, three quarters or more outstanding",
];

function mapPart(region, at) {
  const size = region.size / region.levels.length;
  const start = BigInt(region.address) + BigInt(Math.round(size * at));
  return `0x${start.toString(16)}, ${bytes(Math.round(size))}: ${MAP_LEVELS[region.levels[at]]}`;
}

// Neighbours of one level are one rectangle.
function mapRectangles(levels) {
  const out = [];
  for (let at = 0; at < levels.length; ) {
    let end = at + 1;
    while (end < levels.length && levels[end] === levels[at]) end++;
    out.push(draw("rect", { class: `map-level-${levels[at]}`, x: at, y: 0, width: end - at, height: 1 }));
    at = end;
  }
  return out;
}

function mapStrip(region) {
  const columns = region.levels.length;
  const cursor = draw("rect", { class: "cursor", x: 0, y: 0, width: 1, height: 1, visibility: "hidden" });
  const svg = draw(
    "svg",
    {
      class: "strip",
      viewBox: `0 0 ${columns} 1`,
      preserveAspectRatio: "none",
      role: "slider",
      tabindex: 0,
      "aria-label": `Parts of ${region.address}`,
      "aria-valuemin": 1,
      "aria-valuemax": columns,
    },
    ...mapRectangles(region.levels),
    cursor,
  );
  svg.style.width = `${Math.max(1, Math.round(columns * 100 / report.map.columns))}%`;
  let at = 0;
  const point = (to, isShown) => {
    at = Math.max(0, Math.min(columns - 1, to));
    cursor.setAttribute("x", at);
    cursor.setAttribute("visibility", isShown ? "visible" : "hidden");
    svg.setAttribute("aria-valuenow", at + 1);
    svg.setAttribute("aria-valuetext", mapPart(region, at));
    byId("map-details").textContent = isShown ? mapPart(region, at) : "";
  };
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, Home: -columns, End: columns };
  svg.addEventListener("keydown", (event) => {
    if (!(event.key in steps)) return;
    event.preventDefault();
    point(at + steps[event.key], true);
  });
  svg.addEventListener("focus", () => point(at, true));
  svg.addEventListener("blur", () => point(at, false));
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    point(Math.floor(((event.clientX - box.left) / box.width) * columns), true);
  });
  svg.addEventListener("pointerleave", () => point(at, document.activeElement === svg));
  point(0, false);
  return svg;
}

function mapRow(region) {
  const amount = (key, text) =>
    region[key] === null ? numberCell(null) : make("td", { "data-value": region[key] }, text(region[key]));
  return make(
    "tr",
    { "data-address": region.address },
    make("th", { scope: "row", class: "mono" }, region.address),
    amount("size", bytes),
    make("td", { class: "text" }, region.category),
    make("td", { class: "text" }, region.name),
    amount("committed_size", bytes),
    amount("outstanding_size", bytes),
    amount("outstanding_count", count),
    make("td", { class: "text strips" }, ...(region.levels === "" ? [] : [mapStrip(region)])),
  );
}

// Titles stand as their columns do: texts on the left.
function mapHead(titles, texts) {
  const cell = (title) => make("th", { scope: "col", class: texts.includes(title) ? "text" : null }, title);
  return make("thead", {}, make("tr", {}, ...titles.map(cell)));
}

function drawMapProcess() {
  const process = report.map.processes[Number(byId("map-process").value)];
  const committed = process.committed_size;
  const figures = [
    ["reserved", report.map.hint === null ? process.reserved_size : null],
    ["committed", committed],
    ["outstanding", process.outstanding_size],
  ].map(([word, size]) =>
    make("span", { "data-map": word, "data-value": size }, size === null ? `unknown how much is ${word}` : `${bytes(size)} ${word}`),
  );
  const used = committed > 0 ? `, which fill ${share(process.used_size, committed)} of what is committed` : "";
  byId("map-figures").replaceChildren(figures[0], ", ", figures[1], ", ", figures[2], ` in ${blocks(process.outstanding_count)}${used}.`);
  byId("map-rows").replaceChildren(
    mapHead(["Address", "Size", "Category", "Heap, module", "Committed", "Outstanding", "Count", "Map"], ["Category", "Heap, module", "Map"]),
    make("tbody", {}, ...process.regions.map(mapRow)),
  );
  byId("map-hidden").textContent = process.hidden > 0 ? `${count(process.hidden)} smaller regions are not in the file.` : "";
  markAllColumns();
}

function drawPins() {
  const pins = report.map.pins;
  if (pins.length === 0) return;
  const rows = pins.map((pin) =>
    make(
      "tr",
      {},
      make("th", { scope: "row", class: "mono" }, pin.address),
      make("td", { "data-value": pin.committed_size }, bytes(pin.committed_size)),
      make("td", { "data-value": pin.outstanding_size }, bytes(pin.outstanding_size)),
      make("td", {}, count(pin.outstanding_count)),
      make("td", {}, bytes(pin.largest_size)),
      make("td", { class: "text" }, `${pin.process} (${pin.pid})`),
      make("td", { class: "text" }, pin.stack),
    ),
  );
  byId("map-pins").append(
    make("h3", {}, "Blocks that pin memory"),
    make("p", { class: "hint" }, "Committed memory in which blocks fill at most a sixteenth of each unit. It could be given back if these blocks lay elsewhere. The stack is that of the largest block."),
    make(
      "div",
      { class: "panel scroll" },
      make(
        "table",
        { "aria-label": "Blocks that pin memory" },
        mapHead(["Address", "Committed", "Outstanding", "Count", "Largest block", "Process", "Stack"], ["Process", "Stack"]),
        make("tbody", {}, ...rows),
      ),
    ),
  );
}

function drawMap() {
  const map = report.map;
  if (map === null || map.processes.length === 0) {
    byId("map").hidden = true;
    document.querySelector('nav a[href="#map"]').hidden = true;
    return;
  }
  map.processes.forEach((process, i) =>
    byId("map-process").append(make("option", { value: i }, `${process.process} (${process.pid})`)),
  );
  byId("map-process").addEventListener("change", drawMapProcess);
  byId("map-hint").append(`At ${(map.at_ns / 1e9).toFixed(3)} s, in units of ${bytes(map.unit)}.${map.hint === null ? "" : ` ${capital(map.hint)}.`}`);
  MAP_LEVELS.forEach((text, level) =>
    byId("map-legend").append(make("span", { class: "key" }, make("span", { class: `swatch map-level-${level}` }), text), " "),
  );
  drawMapProcess();
  drawPins();
}
