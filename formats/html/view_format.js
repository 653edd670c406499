// Elements, and numbers, times and frames as text. Text that comes from a trace is put into
// elements as text only, so that no name is ever taken for markup.
"use strict";

function byId(id) {
  return document.getElementById(id);
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true)
      element.setAttribute(name, name.startsWith("aria-") || name.startsWith("data-") ? "true" : "");
    else if (value === false && (name.startsWith("aria-") || name.startsWith("data-")))
      element.setAttribute(name, "false");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
}

// make("td", { class: "text", onclick: act }, "text", child): null children are left out.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(element, attributes);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// A select with its label. Radio buttons would fill a line at 800 pixels.
function choiceOf(label, choices, chosen, act, id = null) {
  const options = choices.map(([value, text]) => make("option", { value, selected: value === chosen }, text));
  const select = make("select", { id, onchange: () => act(select.value) }, ...options);
  return make("label", { class: "choice" }, `${label} `, select);
}

function clear(element) {
  element.replaceChildren();
  return element;
}

// Read out by screen readers, also if the same sentence comes twice.
function announce(sentence) {
  const place = byId("announce");
  place.textContent = place.textContent === sentence ? `${sentence}\u00a0` : sentence;
}

// --- numbers --------------------------------------------------------------------------------

const SIZE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const UNKNOWN_TEXT = "\u2013";
const MINUS = "\u2212";

// What is unknown is a dash, never 0.
function isUnknown(value) {
  return value === null || value === undefined;
}

function formatSize(value) {
  if (isUnknown(value)) return UNKNOWN_TEXT;
  let unit = 0,
    size = Math.abs(value);
  while (size >= 999.5 && unit < SIZE_UNITS.length - 1) {
    size /= 1024;
    unit++;
  }
  const digits = unit === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return `${value < 0 ? MINUS : ""}${size.toFixed(digits)} ${SIZE_UNITS[unit]}`;
}

function formatCount(value) {
  if (isUnknown(value)) return UNKNOWN_TEXT;
  return `${value < 0 ? MINUS : ""}${String(Math.abs(value)).replace(/\B(?=(\d{3})+$)/g, ",")}`;
}

function formatPercent(part, whole) {
  return isUnknown(part) || isUnknown(whole) || whole <= 0 ? UNKNOWN_TEXT : `${((100 * part) / whole).toFixed(1)} %`;
}

function plural(value, one, many = `${one}s`) {
  return `${formatCount(value)} ${value === 1 ? one : many}`;
}

// --- times ----------------------------------------------------------------------------------

function roundedTo(ns, unit, digits) {
  return (Math.round(ns / unit) / 10 ** digits).toFixed(digits);
}

// A moment of the trace; as many digits as a span of that length needs.
function formatTime(ns, span_ns = 1e9) {
  if (isUnknown(ns)) return UNKNOWN_TEXT;
  if (span_ns >= 1e9) return `${roundedTo(ns, 1e6, 3)} s`;
  return `${span_ns >= 1e6 ? roundedTo(ns, 1e3, 6) : roundedTo(ns, 1, 9)} s`;
}

function formatDuration(ns) {
  if (isUnknown(ns)) return UNKNOWN_TEXT;
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 1e6) return `${roundedTo(ns, 1, 3)} \u00b5s`;
  return Math.round(ns / 1e3) < 1e6 ? `${roundedTo(ns, 1e3, 3)} ms` : `${roundedTo(ns, 1e6, 3)} s`;
}

// The exact time as the command line takes it, in the largest unit that divides it.
function exactTime(ns) {
  for (const [unit, length] of [
    ["s", 1e9],
    ["ms", 1e6],
    ["us", 1e3],
  ])
    if (ns % length === 0) return `${ns / length}${unit}`;
  return `${ns}ns`;
}

// --- processes and frames -------------------------------------------------------------------

// "" for rows that are not of a process.
function processText(row) {
  if (!("process" in row)) return "";
  if (isUnknown(row.process)) return isUnknown(row.pid) ? "unknown process" : `process ${row.pid}`;
  return isUnknown(row.pid) ? row.process : `${row.process} (${row.pid})`;
}

const NO_STACK_TEXT = "[no stack]";

// As text output has it: module!function, or module+offset without a name.
function frameText(frame) {
  if (isUnknown(frame)) return NO_STACK_TEXT;
  if (!isUnknown(frame.symbol)) return isUnknown(frame.module) ? frame.symbol : `${frame.module}!${frame.symbol}`;
  if (isUnknown(frame.module)) return frame.address ?? "[unknown]";
  return isUnknown(frame.offset) ? frame.module : `${frame.module}+${frame.offset}`;
}

// Where in the source the frame is; "" if that is unknown.
function frameSource(frame) {
  if (isUnknown(frame) || isUnknown(frame.file)) return "";
  return isUnknown(frame.line) ? frame.file : `${frame.file}:${frame.line}`;
}

// The frames of a stack, innermost first; none if no stack was recorded.
function stackFrames(documentOfStack, index) {
  if (isUnknown(index)) return [];
  return documentOfStack.stacks[index].map((frame) => documentOfStack.frames[frame]);
}

// --- the tip --------------------------------------------------------------------------------

function showTip(x, y, text) {
  const tipBox = byId("tip");
  tipBox.textContent = text;
  tipBox.hidden = false;
  const box = tipBox.getBoundingClientRect();
  tipBox.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 6))}px`;
  tipBox.style.top = `${y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10) : y + 18}px`;
}

function hideTip() {
  byId("tip").hidden = true;
}

// Shows lines beside the pointer while it is over the element. `lines` is an array of texts or
// a function that returns one, called with the event.
function tip(element, lines) {
  const show = (event) => {
    const found = typeof lines === "function" ? lines(event) : lines;
    if (found === null || found.length === 0) hideTip();
    else showTip(event.clientX, event.clientY, found.join("\n"));
  };
  element.addEventListener("pointermove", show);
  element.addEventListener("pointerleave", hideTip);
}

// --- copying --------------------------------------------------------------------------------

// Pages from another machine, without TLS, have no clipboard of their own, but may copy what is
// selected.
function copySelected(text) {
  const field = make("textarea", { class: "sr", "aria-hidden": true, tabindex: -1 });
  const focused = document.activeElement;
  field.value = text;
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  focused?.focus({ preventScroll: true });
  return isDone;
}

async function copyText(text, what) {
  let isDone = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    isDone = copySelected(text);
  }
  announce(isDone ? `Copied ${what}` : `The browser did not let the page copy ${what}`);
  return isDone;
}
