// Below the curve: what its areas are, and the same numbers as a table.

function legendEntry(one, i) {
  const { measure, windows } = curve.data;
  const last = windows.length - 1;
  const swatch = make("span", { class: `swatch colour-${one.row === null ? "rest" : i}` });
  const place = one.numbers[last] === undefined ? {} : { "data-window": last, "data-row": one.numbers[last] };
  const value = figure("span", `outstanding_${measure}`, one.points[last + 1], curveText(one.points[last + 1]), place);
  const items = one.row === null ? [] : itemsOfKey(one.answer, one.row, state.curveKey);
  const content = [swatch, make("span", { class: "label" }, one.label), value];
  if (items.length === 0) return make("span", { class: "key", title: one.label }, ...content);
  const button = make(
    "button",
    { type: "button", class: "key", title: one.label, "aria-haspopup": "menu" },
    ...content,
  );
  button.addEventListener("click", () =>
    openMenu(button, [...items, { label: "Copy", act: () => copyText(one.label, "the name") }]),
  );
  return button;
}

const SIGN_KEYS = [
  ["mark", "\u25bc", "mark"],
  ["spike", "\u25b2", "spike"],
  ["rise", "\u25ac", "lasting rise"],
];

// What is drawn above the curve. It comes later than the areas, whose buttons stay.
function drawSignKeys() {
  const { legend } = curve.places;
  for (const old of legend.querySelectorAll(".of-signs")) old.remove();
  const found = SIGN_KEYS.filter(([sign]) => curve.signs.some((one) => one.sign === sign));
  const keys = found.map(([sign, shape, text]) =>
    make("span", { class: "key of-signs" }, make("span", { class: `sign-key ${sign}`, "aria-hidden": "true" }, shape), text),
  );
  legend.append(...keys);
}

function drawLegend() {
  const legend = clear(curve.places.legend);
  const { command, options } = curveQuestions().at(-1);
  legend.dataset.command = source.commandFor(command, options);
  legend.append(
    ...curve.data.series.map(legendEntry),
    make("span", { class: "key" }, make("span", { class: "swatch line" }), "peak in each time step"),
  );
  drawSignKeys();
}

// Written when it is opened: 400 rows are not for everyone.
function drawCurveTable() {
  const { details, table } = curve.places;
  clear(table);
  if (!details.open || curve.data === null) return;
  const { windows, sums, measure } = curve.data;
  const names = [`outstanding_${measure}`, `peak_${measure}`];
  const titles = ["From", "To", "Outstanding at the end", "Peak", "Allocated", "Freed"];
  const head = make("thead", {}, make("tr", {}, ...titles.map((title) => make("th", { scope: "col" }, title))));
  const rows = windows.map((window, i) => {
    const span = window.to_ns - window.from_ns;
    const cells = names.map((name) =>
      figure("td", name, sums[i]?.[name] ?? 0, curveText(sums[i]?.[name] ?? 0), { "data-window": i }),
    );
    const changes = [
      [`aifi_${measure}+aifo_${measure}`, allocatedIn(sums[i], measure)],
      [`aifi_${measure}+aofi_${measure}`, freedIn(sums[i], measure)],
    ].map(([key, value]) => figure("td", key, value, curveText(value), { "data-window": i }));
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, formatTime(window.from_ns, span)),
      make("td", {}, formatTime(window.to_ns, span)),
      ...cells,
      ...changes,
    );
  });
  table.append(make("table", {}, head, make("tbody", {}, ...rows)));
}
