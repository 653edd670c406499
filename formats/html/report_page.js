// Elements, numbers for people, and the tip beside the pointer.

function byId(id) {
  return document.getElementById(id);
}

// Text is never taken for markup: it is put in as text.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.className = value ?? "";
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// What a click shows more of; on paper, what is left out.
function moreText(shown, left) {
  return [
    make("span", { class: "screen" }, shown === null ? `Show ${count(left)} more` : `Show ${count(shown)} more of ${count(left)}`),
    make("span", { class: "paper" }, `${count(left)} more are in the file`),
  ];
}

function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

function bytes(value) {
  let unit = 0,
    size = Math.abs(value);
  while (size >= 999.5 && unit < UNITS.length - 1) {
    size /= 1024;
    unit++;
  }
  const digits = unit === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return `${value < 0 ? "\u2212" : ""}${size.toFixed(digits)} ${UNITS[unit]}`;
}

function count(value) {
  return `${value < 0 ? "\u2212" : ""}${String(Math.abs(value)).replace(/\B(?=(\d{3})+$)/g, ",")}`;
}

function blocks(value) {
  return `${count(value)} ${value === 1 ? "block" : "blocks"}`;
}
function signed(value) {
  return (value > 0 ? "+" : "") + bytes(value);
}

function share(part, whole) {
  return whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : "";
}

// Moments and spans of time are rounded as in text output (formats/io/units.h): half a unit up.
function rounded(ns, unit, digits) {
  return (Math.round(ns / unit) / 10 ** digits).toFixed(digits);
}

function roundedMoment(ns, window_ns) {
  if (window_ns >= 1e9) return rounded(ns, 1e6, 3);
  return window_ns >= 1e6 ? rounded(ns, 1e3, 6) : rounded(ns, 1, 9);
}

function seconds(ns) {
  return `${roundedMoment(ns, edge(WINDOWS) - edge(0))} s`;
}

function span(ns) {
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 1e6) return `${rounded(ns, 1, 3)} \u00b5s`;
  return Math.round(ns / 1e3) < 1e6 ? `${rounded(ns, 1e3, 3)} ms` : `${rounded(ns, 1e6, 3)} s`;
}

// To the nanosecond, as commands write it.
function exactSeconds(ns) {
  return `${(ns / 1e9).toFixed(9)} s`;
}

// What a recording lost or what of it is damaged. Other diagnostics do not change sizes.
function lossesOf(told) {
  return (told.diagnostics ?? []).filter((one) => one.severity === "loss" || one.severity === "damage");
}

function lossText(loss) {
  return `${loss.name} (${count(loss.count)})`;
}

// A round time, as at an axis: "5 s".
function tick(ns) {
  if (ns >= 1e9 || ns === 0) return `${+(ns / 1e9).toPrecision(4)} s`;
  if (ns >= 1e6) return `${+(ns / 1e6).toPrecision(4)} ms`;
  if (ns >= 1e3) return `${+(ns / 1e3).toPrecision(4)} \u00b5s`;
  return `${ns} ns`;
}

function announce(text) {
  byId("announce").textContent = text;
}

// A small curve of what is outstanding.
function spark(curve, width = 110, height = 22, least = 0) {
  const most = Math.max(1, ...curve.map((value) => value - least));
  const step = Math.max(1, Math.floor(curve.length / width));
  const points = [];
  for (let i = 0; i < curve.length; i += step) {
    let top = 0;
    for (let k = i; k < Math.min(i + step, curve.length); k++) top = Math.max(top, curve[k] - least);
    points.push(
      `${((i / Math.max(1, curve.length - 1)) * width).toFixed(1)},${(height - 1 - (top / most) * (height - 3)).toFixed(1)}`,
    );
  }
  return draw(
    "svg",
    { class: "spark", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    draw("path", { d: `M0,${height} L${points.join(" L")} L${width},${height} Z` }),
  );
}

const tip = byId("tip");

function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 6))}px`;
  tip.style.top = `${event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18}px`;
}

function hideTip() {
  tip.hidden = true;
}

// A cell with a number: the exact value is in its title, and in data-value.
function numberCell(value, isBytes, attributes = {}) {
  if (value === null || value === undefined) return make("td", { class: "none", ...attributes }, "\u2013");
  return make(
    "td",
    { "data-value": value, title: isBytes ? `${count(value)} bytes` : null, ...attributes },
    isBytes ? bytes(value) : count(value),
  );
}

// --- columns out of sight -----------------------------------------------------------------------

// A table that is wider than its panel is moved sideways; the panel says which columns are out of
// sight, by name, as nothing else tells that there are any.
function markColumns(panel) {
  const titles = [...panel.querySelectorAll(":scope > table > thead > tr > *")];
  const note = panel.querySelector(":scope > .columns-hidden") ?? panel.appendChild(make("p", { class: "columns-hidden" }));
  const right = panel.getBoundingClientRect().right,
    left = titles.length > 0 ? titles[0].getBoundingClientRect().right : 0;
  const after = titles.slice(1).filter((title) => title.getBoundingClientRect().right > right + 1);
  const before = titles.slice(1).filter((title) => title.getBoundingClientRect().left < left - 1);
  panel.classList.toggle("more-right", after.length > 0);
  note.textContent = [columnsText("\u2190 out of sight", before), columnsText("\u2192 out of sight", after)]
    .filter((text) => text !== "")
    .join("; ");
}

function columnsText(where, titles) {
  return titles.length === 0 ? "" : `${where}: ${titles.map((title) => title.textContent).join(", ")}`;
}

function markAllColumns() {
  for (const panel of document.querySelectorAll(".panel.scroll")) markColumns(panel);
}

addEventListener("resize", markAllColumns);
addEventListener("scroll", (event) => event.target.classList?.contains("scroll") && markColumns(event.target), true);
