// What the pages that compare runs have in common: amounts of their measure, and names of frames.
// Each page says by IS_SIZE whether its measure is bytes or a number of blocks, and by IS_TIME
// whether it is a time, which may be unknown.

function duration(ns) {
  return (ns < 0 ? "\u2212" : "") + span(Math.abs(ns));
}

function amount(value) {
  if (value === null) return "unknown";
  return IS_TIME ? duration(Math.round(value)) : IS_SIZE ? bytes(value) : count(value);
}

function signedAmount(value) {
  return (value > 0 ? "+" : "") + amount(value);
}

// "Leaky::grow (app.exe)": as the text output names frames.
function frameText(frame) {
  if (frame.module === null) return frame.address;
  return frame.symbol === null ? `${frame.module}+${frame.offset}` : `${frame.symbol} (${frame.module})`;
}

function lossNotice(sentence, lines) {
  const items = lines.map((line) => make("li", {}, line));
  return lines.length === 0 ? [] : [make("div", { class: "notice bad" }, sentence, make("ul", {}, ...items))];
}
