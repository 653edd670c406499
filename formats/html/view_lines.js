// What a row of the table has besides its numbers: its menu, the frames of its stack, and its curve.

// --- the menu of a row -----------------------------------------------------------------------------

function rowMenu(node) {
  const items = itemsOfKey(node.sample.answer, node.sample.row, node.key);
  items.push({ label: "Blocks of this row", act: () => showBlocksOf(node) });
  items.push(freersItemOf(node));
  items.push({ label: state.curves ? "Hide curves" : "Curve of this row", act: () => showCurves(!state.curves) });
  items.push({ label: "Copy", act: () => copyText(rowText(node), "the row") });
  if (node.page !== null)
    items.push({ label: "Copy the command", act: () => copyText(node.page.command, "the command") });
  return items;
}

// Of rows by the stack or the function that allocated.
function freersItemOf({ key, sample: { answer, row } }) {
  if (key === "stack") return freersItem(framesOfRow(answer, row, key) ?? []);
  return key === "site" && !isUnknown(row.site) ? freersItem([answer.frames[row.site]], false) : null;
}

// The row as lines for a mail or a bug report: its keys, its numbers, and all frames of its stack.
function rowText(node) {
  const lines = pathToNode(node).map((one) => `${WORDS[one.key]}: ${labelText(one)}`);
  for (const key of columnsShown()) {
    const value = node.row?.[key];
    lines.push(`${WORDS[key]}: ${isUnknown(value) ? "unknown" : `${measureText(key, value)} (${value})`}`);
  }
  const frames = STACK_KEYS.has(node.key) ? framesOfRow(node.sample.answer, node.sample.row, node.key) : null;
  for (const frame of frames ?? []) lines.push(`  ${[frameText(frame), frameSource(frame)].join(" ").trim()}`);
  return lines.join("\n");
}

function labelText(node) {
  labelNodes([node]);
  return node.label.text;
}

// --- frames ------------------------------------------------------------------------

defineState("stackOrder", { default: "callers", read: oneOf("callers", "callees") });
defineState("curves", { default: false, read: (text) => (text === "1" ? true : undefined), write: () => "1" });

function framesBox(frames) {
  const box = make("div", { class: "frames-box" });
  const draw = () => {
    const isReversed = state.stackOrder === "callees";
    const list = make("ol", {
      class: "frames",
      "aria-label": isReversed ? "Callees, outermost first" : "Callers, innermost first",
    });
    list.append(...[...(isReversed ? frames.toReversed() : frames)].map(frameListItem));
    const order = make(
      "button",
      { type: "button", class: "small" },
      isReversed ? "Innermost first" : "Outermost first",
    );
    order.addEventListener("click", () => {
      update({ stackOrder: isReversed ? "callers" : "callees" }, { replace: true });
      draw();
    });
    box.replaceChildren(list, order);
  };
  draw();
  return box;
}

function frameListItem(frame) {
  const items = frameItems(frame);
  const name = make(
    "button",
    { type: "button", class: "frame", "aria-haspopup": "menu" },
    ...breakable(frameText(frame)),
  );
  name.addEventListener("click", () => openMenu(name, items));
  return make("li", {}, items.length > 0 ? name : make("span", {}, ...breakable(frameText(frame))), lineOfCode(frame));
}

function tableFramesRow(node, columns) {
  const frames = framesOfRow(node.sample.answer, node.sample.row, node.key);
  const shown = frames === null ? make("p", {}, "No stack was recorded.") : framesBox(frames);
  const cell = make("td", { role: "gridcell", class: "stack-cell gold", colspan: columnCount(columns) }, shown);
  cell.style.setProperty("--level", node.level);
  return make("tr", { class: "stack-row", role: "row", "aria-level": node.level + 1 }, cell);
}

// --- curves of rows ------------------------------------------------------------------------------------

const ROW_CURVE_STEPS = 40;
const ROW_CURVE_WIDTH = 120,
  ROW_CURVE_HEIGHT = 22;
const KEYS_WITHOUT_CURVE = new Set(["type", "impacting_type", "free_type", "function", "impacting_stack"]);

function showCurves(isShown) {
  update({ curves: isShown }, { replace: true });
}

// One question a level: `windows` with the level's keys. It has no types, so the curve of a row is
// that of all types.
function rowCurveQuestion(keys) {
  const { from_ns, to_ns } = table.levels[0][0].document.window;
  const every = Math.max(1, Math.ceil((to_ns - from_ns) / ROW_CURVE_STEPS));
  const metric = state.kind === "handle" ? "outstanding_count" : "outstanding_size";
  const filters = filterOptions({ window: true, kind: true, types: false });
  const options = [
    ["group-by", keys.join(",")],
    ["every", `${every}ns`],
    ["sort", metric],
    ["top", String(TABLE_TOP)],
  ];
  return { command: "windows", options: [...options, ...filters], metric };
}

function rowCurveId(answer, row, keys) {
  return keys.map((key) => keyId(answer, row, key)).join("\u0001");
}

function rowCurvesOf(answer, keys, metric) {
  const curves = new Map();
  answer.windows.forEach((one, at) => {
    for (const row of one.rows) {
      const id = rowCurveId(answer, row, keys);
      if (!curves.has(id)) curves.set(id, new Array(answer.windows.length).fill(0));
      curves.get(id)[at] = row[metric] ?? 0;
    }
  });
  return curves;
}

// A level is asked for when one of its rows comes into view.
let curveWatcher = null;

function watchCurves(rows) {
  curveWatcher?.disconnect();
  curveWatcher = new IntersectionObserver((seen) => {
    const levels = seen.filter((one) => one.isIntersecting).map((one) => Number(one.target.getAttribute("aria-level")));
    askCurves(new Set(levels));
  });
  for (const row of rows) if (!row.classList.contains("more")) curveWatcher.observe(row);
}

async function askCurves(levels) {
  const { root, context } = table;
  for (const level of levels) {
    const keys = table.keys.slice(0, level).filter((key) => !KEYS_WITHOUT_CURVE.has(key));
    if (keys.length === 0) continue;
    root.curves ??= new Map();
    if (!root.curves.has(level)) root.curves.set(level, askLevelCurves(keys, context));
    const found = await root.curves.get(level);
    if (root !== table.root) return;
    paintCurves(level, keys, found);
  }
}

async function askLevelCurves(keys, context) {
  const wanted = rowCurveQuestion(keys);
  const question = source.nearest(wanted);
  if (question === null) return { curves: new Map(), why: "not on this page" };
  const { metric } = wanted;
  const { command, options } = question;
  try {
    const answer = await context.ask(command, options);
    return { curves: rowCurvesOf(answer, keys, metric), command: source.commandFor(command, options), metric };
  } catch (error) {
    return { curves: new Map(), why: error.name === "AbortError" ? "unknown" : error.message };
  }
}

function paintCurves(level, keys, { curves, why, metric }) {
  const rows = new Map([...table.rows.querySelectorAll(`tr.level-${level}`)].map((row) => [row.dataset.id, row]));
  for (const { node, isMore } of table.entries) {
    if (isMore || node.level !== level) continue;
    const { answer, row } = node.sample;
    const values = curves.get(rowCurveId(answer, row, keys));
    const cell = rows.get(node.id)?.lastElementChild;
    if (cell)
      cell.replaceChildren(
        values === undefined ? make("span", { title: why ?? "unknown" }, UNKNOWN_TEXT) : rowCurve(values, metric),
      );
  }
}

function rowCurve(values, metric) {
  const most = Math.max(...values, 1);
  const x = (at) => ((at * ROW_CURVE_WIDTH) / (values.length - 1 || 1)).toFixed(1);
  const y = (value) => (ROW_CURVE_HEIGHT - 1 - (value * (ROW_CURVE_HEIGHT - 2)) / most).toFixed(1);
  const line = values.map((value, at) => `${x(at)},${y(value)}`).join(" ");
  const name = `${WORDS[metric]} over time, all types: at most ${measureText(metric, Math.max(...values))}, ${measureText(metric, values.at(-1))} at the end`;
  const area = `0,${ROW_CURVE_HEIGHT} ${line} ${ROW_CURVE_WIDTH},${ROW_CURVE_HEIGHT}`;
  return makeSvg(
    "svg",
    {
      class: "row-curve",
      viewBox: `0 0 ${ROW_CURVE_WIDTH} ${ROW_CURVE_HEIGHT}`,
      role: "img",
      "aria-label": name,
      preserveAspectRatio: "none",
    },
    makeSvg("polygon", { points: area }),
    makeSvg("polyline", { points: line }),
  );
}
