// Marks: moments with a name, in the margin above the chart. Only one of them has its place in the order
// of the tab key; arrow keys go from one to the next. Choosing one selects what follows, up to the next.

const MARK_SIZE = 9; // of the sign above the chart, in px

function markWindow(mark) {
  return edgeAt(timeX(mark.time_ns));
}

// A window at least, also between marks that are closer than the windows of the page.
function selectMark(marks, i) {
  const from = Math.min(WINDOWS - 1, markWindow(marks[i]));
  const to = i + 1 < marks.length ? markWindow(marks[i + 1]) : WINDOWS;
  select(from, Math.max(from + 1, to));
  announce(`Selected what follows the mark ${marks[i].name}`);
}

function markText(marks, i) {
  const next = i + 1 < marks.length ? `until ${marks[i + 1].name}` : "the last mark";
  return `${marks[i].name}\n${seconds(marks[i].time_ns)}, ${next}`;
}

function moveToMark(signs, i) {
  const at = Math.max(0, Math.min(signs.length - 1, i));
  signs.forEach((sign, k) => sign.setAttribute("tabindex", k === at ? 0 : -1));
  chart.mark = at;
  signs[at].focus();
}

function makeMark(marks, i, signs) {
  const x = timeX(marks[i].time_ns);
  const sign = draw(
    "g",
    {
      class: "mark",
      role: "button",
      tabindex: i === (chart.mark ?? 0) ? 0 : -1,
      "aria-label": `Mark ${marks[i].name} at ${seconds(marks[i].time_ns)}: select what follows`,
    },
    draw("rect", { class: "hit", x: x - 8, y: 0, width: 16, height: MARGIN.top }),
    draw("line", { x1: x, x2: x, y1: MARGIN.top, y2: CHART_HEIGHT - MARGIN.bottom }),
    draw("path", { d: `M${x - MARK_SIZE / 2},${MARGIN.top - MARK_SIZE} h${MARK_SIZE} l${-MARK_SIZE / 2},${MARK_SIZE} Z` }),
  );
  const keys = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: marks.length - 1 };
  sign.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") selectMark(marks, i);
    else if (event.key in keys) moveToMark(signs, keys[event.key]);
    else return;
    event.preventDefault();
  });
  sign.addEventListener("click", () => selectMark(marks, i));
  sign.addEventListener("pointermove", (event) => showTip(event, markText(marks, i)));
  sign.addEventListener("pointerleave", hideTip);
  sign.addEventListener("focus", () => nameMark(markText(marks, i)));
  sign.addEventListener("blur", () => nameMark(""));
  return sign;
}

// What the keyboard has reached is said below the chart, where the pointer has its tip.
function nameMark(text) {
  byId("mark-name").textContent = text.replace("\n", ", ");
}

function drawMarks(svg) {
  const marks = report.marks.filter((mark) => mark.time_ns >= edge(0) && mark.time_ns <= edge(WINDOWS));
  if (marks.length === 0) return;
  const group = draw("g", { role: "group", "aria-label": "Marks: arrow keys go from one to the next" });
  const signs = [];
  chart.mark = Math.min(chart.mark ?? 0, marks.length - 1);
  marks.forEach((_, i) => signs.push(makeMark(marks, i, signs)));
  group.append(...signs);
  svg.append(group);
  const left = report.marks_omitted > 0 ? `, and ${count(report.marks_omitted)} more that are not drawn` : "";
  byId("mark-hint").textContent = `Triangles above the chart are marks: ${count(marks.length)}${left}. Choose one to select the time up to the next.`;
}
