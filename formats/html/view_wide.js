// Tables that are wider than their box: nothing but a note tells that there are more columns. It names
// those out of sight, and a click on it moves to them.

const WIDE_BOXES = "#parts .scroll, #parts .table-box";

function columnHeads(box) {
  return [...(box.querySelector(":scope > table > thead > tr:last-child")?.cells ?? [])];
}

// Titles out of sight on both sides. The first column stays at the edge, if it is made to.
function hiddenColumns(box) {
  const edges = box.getBoundingClientRect();
  const [first, ...heads] = columnHeads(box);
  const isKept = first !== undefined && getComputedStyle(first).left === "0px";
  const left = isKept ? first.getBoundingClientRect().right : edges.left;
  const cells = isKept || first === undefined ? heads : [first, ...heads];
  return {
    before: cells.filter((head) => head.getBoundingClientRect().left < left - 2),
    after: cells.filter((head) => head.getBoundingClientRect().right > edges.left + box.clientLeft + box.clientWidth + 2),
    left,
  };
}

// The first hidden column on that side comes to the other side, with as many more as there is room for.
function showColumns(box, isAfter) {
  const { before, after, left } = hiddenColumns(box);
  const right = box.getBoundingClientRect().left + box.clientLeft + box.clientWidth;
  if (isAfter && after.length > 0) box.scrollLeft += after[0].getBoundingClientRect().left - left;
  if (!isAfter && before.length > 0) box.scrollLeft += before.at(-1).getBoundingClientRect().right - right;
  markWideBox(box);
}

function wideText(heads, isAfter) {
  const titles = heads.map((head) => head.textContent.trim() || "keys");
  const text = `${plural(heads.length, "column")} out of sight: ${titles.join(" \u00b7 ")}`;
  return isAfter ? `${text} \u2192` : `\u2190 ${text}`;
}

function wideNote(box) {
  const button = (isAfter) =>
    make("button", { type: "button", class: "small", hidden: true, onclick: () => showColumns(box, isAfter) });
  const note = make("div", { class: "wide-note" }, button(false), button(true));
  box.append(note);
  return note;
}

function markWideBox(box) {
  const { before, after } = hiddenColumns(box);
  let note = box.querySelector(":scope > .wide-note");
  if (note === null && before.length + after.length === 0) return;
  note ??= wideNote(box);
  [before, after].forEach((heads, i) => {
    const button = note.children[i];
    const text = heads.length === 0 ? "" : wideText(heads, i === 1);
    if (button.textContent !== text) button.textContent = text;
    button.hidden = text === "";
  });
  note.hidden = before.length + after.length === 0;
}

let wideFrame = 0;

function markWideBoxes() {
  wideFrame = 0;
  for (const box of document.querySelectorAll(WIDE_BOXES)) markWideBox(box);
}

function markWideSoon() {
  if (wideFrame === 0) wideFrame = requestAnimationFrame(markWideBoxes);
}

// Of what is drawn, opened, moved, and made wider or narrower.
function startWideNotes() {
  new MutationObserver(markWideSoon).observe(byId("parts"), { childList: true, subtree: true });
  new ResizeObserver(markWideSoon).observe(byId("parts"));
  byId("parts").addEventListener("toggle", markWideSoon, true);
  byId("parts").addEventListener("scroll", (event) => event.target.matches?.(WIDE_BOXES) && markWideSoon(), true);
}
