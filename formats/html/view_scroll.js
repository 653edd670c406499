// A table that is wider than its panel is moved sideways. The panel says which columns are out of sight,
// by name, because nothing else tells that there are any.

function columnsText(where, titles) {
  return titles.length === 0 ? "" : `${where}: ${titles.map((title) => title.textContent).join(", ")}`;
}

// The first column sticks to the left and hides what is moved below it.
function markColumns(panel) {
  const titles = [...panel.querySelectorAll(":scope > table > thead > tr > *")];
  const edge = panel.getBoundingClientRect();
  if (titles.length === 0 || edge.width === 0) return;
  const left = titles[0].getBoundingClientRect().right;
  const before = titles.slice(1).filter((title) => title.getBoundingClientRect().left < left - 1);
  const after = titles.slice(1).filter((title) => title.getBoundingClientRect().right > edge.right + 1);
  const texts = [columnsText("\u2190 out of sight", before), columnsText("\u2192 out of sight", after)];
  panel.querySelector(":scope > .columns-hidden").textContent = texts.filter((text) => text !== "").join("; ");
}

const widths = new ResizeObserver((entries) => entries.forEach(({ target }) => markColumns(target.closest(".scroll"))));

// The observer tells of a size as soon as there is one, without a layout of its own.
function watchColumns(panel) {
  panel.append(make("p", { class: "columns-hidden" }));
  widths.observe(panel);
  panel.addEventListener("scroll", () => markColumns(panel));
}
