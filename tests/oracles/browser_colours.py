#!/usr/bin/env python3
"""Reads in a real browser whether text can be read: its colour against what is painted behind it.

    browser_colours.py

Every text of the three pages - reports, comparisons, trends - in light and in dark has a contrast of
at least 4.5 to what is painted behind it, as WCAG counts it. Behind it is what the browser says is at
that place, from the page up to the element of the text: backgrounds, shapes of drawings, opacity.

  * All sections are read, each with every kind of row that its table can have, and rows again while
    the pointer is over them.
  * Controls that are switched off may be pale, as WCAG has it.

Skipped when there is no Chromium. $BROWSER_PROGRAM names one that is not on the path.
"""

import os
import subprocess

from browser_page import MAKE_TRACE, make_trace, run_in_browser
from oracle_support import run

CONTRAST_MIN = 4.5
MAKE_SYMBOLS = os.path.join(os.path.dirname(os.path.abspath(MAKE_TRACE)), "make_demo_symbols")

# Texts whose contrast is too low, the lowest first, and the kinds of rows that were read.
READ = r"""((least, only) => {
  const parse = (text) => {
    const srgb = /^color\(srgb ([^)]*)\)$/.exec(text), rgb = /^rgba?\(([^)]*)\)$/.exec(text);
    if (!srgb && !rgb) return [0, 0, 0, 0];
    const numbers = (srgb ?? rgb)[1].split(/[\s,\/]+/).map(Number);
    const scale = srgb ? 255 : 1;
    return [...numbers.slice(0, 3).map((n) => n * scale), numbers[3] ?? 1];
  };
  const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] + below[i] * (1 - top[3]));
  const kept = (make) => {
    const known = new Map();
    return (one) => known.get(one) ?? (known.set(one, make(one)), known.get(one));
  };
  const opacityOf = kept((one) => Number(getComputedStyle(one).opacity) * (one.parentElement ? opacityOf(one.parentElement) : 1));
  const paintOf = kept((one) => {
    const style = getComputedStyle(one), alpha = opacityOf(one);
    const layers = [parse(style.backgroundColor)];
    for (const colour of style.backgroundImage.match(/rgba?\([^)]*\)|color\([^)]*\)/g)?.slice(0, 1) ?? []) layers.push(parse(colour));
    if (one instanceof SVGGeometryElement) layers.push([...parse(style.fill).slice(0, 3), parse(style.fill)[3] * Number(style.fillOpacity)]);
    return layers.map(([r, g, b, a]) => [r, g, b, a * alpha]).filter((layer) => layer[3] > 0);
  });
  // Rows are painted below their cells, but no point of the page is said to be in a row.
  const withRows = (one) => (one.matches("td, th") ? [one.closest("thead, tbody"), one.parentElement, one] : [one]);
  const luminance = (colour) => {
    const [r, g, b] = colour.map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
  const read = (owner, box, colour, text) => {
    const x = box.left + box.width / 2, y = box.top + box.height / 2;
    const stack = document.elementsFromPoint(x, y), at = stack.indexOf(owner);
    if (at < 0) return null;
    // What is painted over the text hides it: columns that are moved below a fixed one, say.
    if (stack.slice(0, at).some((one) => !owner.contains(one) && paintOf(one).some((layer) => layer[3] > 0.5))) return null;
    let behind = [255, 255, 255];
    for (const one of stack.slice(at).reverse()) for (const part of withRows(one)) for (const layer of paintOf(part)) behind = over(layer, behind);
    const [r, g, b, a] = parse(colour);
    const front = over([r, g, b, a * opacityOf(owner)], behind);
    return { ratio: contrast(front, behind), text: text.trim().slice(0, 50), front: front.map(Math.round), behind: behind.map(Math.round) };
  };
  const rowOf = (owner) => {
    const row = owner.closest("tr, .bar, .kind, .notice, li, button, .chip, dl, p");
    const section = owner.closest("section, header, footer, #filters");
    return `${section?.id || section?.tagName.toLowerCase()} ${row?.tagName.toLowerCase() ?? ""}.${row?.className.replaceAll(" ", ".") ?? ""}`;
  };
  const found = [], kinds = new Set();
  let texts = 0;
  const note = (owner, result) => {
    if (result === null) return;
    texts++;
    kinds.add(rowOf(owner));
    if (result.ratio < least) found.push({ where: rowOf(owner), ...result });
  };
  const root = only === null ? document.body : document.querySelector(only);
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const owner = node.parentElement;
    if (node.data.trim() === "" || owner.closest("script, style, noscript, option, :disabled, .sr, .skip, #tip")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = [...range.getClientRects()].find((one) => one.width > 1 && one.height > 1);
    const style = getComputedStyle(owner);
    if (box) note(owner, read(owner, box, owner instanceof SVGElement ? style.fill : style.color, node.data));
  }
  for (const field of root.querySelectorAll("input:enabled, select:enabled")) {
    const box = field.getBoundingClientRect();
    note(field, read(field, box, getComputedStyle(field).color, field.id));
    if (field.placeholder) note(field, read(field, box, getComputedStyle(field, "::placeholder").color, field.placeholder));
  }
  return { texts, kinds: [...kinds], found: found.sort((a, b) => a.ratio - b.ratio).slice(0, 12), count: found.length };
})"""

TALL = 30000  # elementsFromPoint sees no further than the window


def check(results, page, name, wanted=(), only=None):
    """Reads the page as it stands; rows of these kinds must be among what is read."""
    page.call("Emulation.setDeviceMetricsOverride", width=1280, height=TALL, deviceScaleFactor=1, mobile=False)
    page.until(f"innerHeight === {TALL}")
    page.come_to_rest()
    got = page.run(f"{READ}({CONTRAST_MIN}, {'null' if only is None else repr(only)})")
    lines = [f"{one['ratio']:.2f} {one['where']}: {one['text']!r}, {one['front']} on {one['behind']}" for one in got["found"]]
    results.check(f"{name}: {got['texts']} texts can be read", got["texts"] > 0 and not lines, f"{got['count']} cannot", *lines)
    if only is None:
        missing = [kind for kind in wanted if not any(kind in one for one in got["kinds"])]
        results.check(f"{name}: every kind of row was read", not missing, *missing, got["kinds"])


ROWS = """(() => {
  const kinds = new Map();
  for (const row of document.querySelectorAll('table tbody tr, .bar, .kind, #chips button, .tools button:enabled, .key')) {
    const kind = `${row.closest('table, section, #filters')?.id} ${row.tagName} ${row.className}`;
    if (!kinds.has(kind) && row.getBoundingClientRect().height > 0) kinds.set(kind, row);
  }
  return [...kinds.values()].map((row, i) => {
    row.dataset.read = i;
    const box = row.getBoundingClientRect();
    return [box.left + box.width - 4, box.top + box.height / 2];
  });
})()"""


def check_bars(results, page, name):
    """Bars have their colours from names: any hue, lighter or darker."""
    wrong = page.run(f"""(() => {{
      const bar = [...document.querySelectorAll('.bar')].find((one) => one.querySelector('.of')), wrong = [];
      bar.dataset.read = 'bar';
      for (let hue = 0; hue < 360; hue += 10)
        for (const tone of [-4, 4]) {{
          bar.style.setProperty('--hue', hue);
          bar.style.setProperty('--tone', `${{tone}}%`);
          for (const one of {READ}({CONTRAST_MIN}, '[data-read=bar]').found) wrong.push(`hue ${{hue}}, tone ${{tone}}: ${{one.ratio.toFixed(2)}}`);
        }}
      return wrong;
    }})()""")
    results.check(f"{name}: bars of all hues can be read", not wrong, len(wrong), *wrong[:6])


def check_hovered(results, page, name, least=4):
    """One row of each kind, with the pointer over it."""
    wrong = []
    places = page.run(ROWS)
    for i, (x, y) in enumerate(places):
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button="none", buttons=0)
        got = page.run(f"{READ}({CONTRAST_MIN}, '[data-read=\"{i}\"]')")
        wrong += [f"{one['ratio']:.2f} {one['where']}: {one['text']!r}, {one['front']} on {one['behind']}" for one in got["found"]]
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1, button="none", buttons=0)
    results.check(f"{name}: {len(places)} kinds of rows can be read below the pointer", len(places) >= least and not wrong, *wrong[:8])


OPEN_ALL = """(() => {
  [...document.querySelectorAll('#table tr.level-4[aria-expanded=false]')][0]?.click();
  [...document.querySelectorAll('#blocks .address')][0]?.click();
  for (const one of document.querySelectorAll('details')) one.open = true;
  document.activeElement?.blur();
})()"""

TABLE = ["table tr.total", "table tr.level-1", "table tr.level-2", "table tr.level-3", "table tr.level-4", "table li."]
REPORT = [
    "overview div.kind", "filters ", "curve button.", "suspects tr.", "suspects li.", "flame div.bar", *TABLE, "growth tr.",
    "spikes p.", "frees tr.", "churn tr.", "blocks tr.", "blocks li.", "histogram tr.", "map tr.", "map p.", "modules p.", "diagnostics dl.", "header ", "footer",
]  # fmt: skip


def export(page, folder, *arguments):
    path = os.path.join(folder, "page.html")
    run(*arguments, "-o", path)
    page.open(path)
    page.until("document.documentElement.dataset.ready", 60)
    page.come_to_rest()


def check_reports(results, page, folder, scheme):
    demo, fixed, workload = (make_trace(folder, name) for name in ("demo", "battery-meter-fixed", "workload"))
    symbols = os.path.join(folder, "symbols")
    os.makedirs(symbols, exist_ok=True)
    subprocess.run([MAKE_SYMBOLS, symbols], check=True)
    export(page, folder, "export", demo, "--format", "html", "--symbols", symbols)
    page.rest()
    page.run(OPEN_ALL)
    page.rest()
    check(results, page, f"report, {scheme}", REPORT)
    check_hovered(results, page, f"report, {scheme}")
    check_bars(results, page, f"report, {scheme}")
    page.run("update({ from: source.cells.edges[20], to: source.cells.edges[60], search: 'history' }); setFilter('process', 'BatteryMeter')")
    page.rest()
    page.run("zoomFlame(flameChildren(0)[0])")
    page.run(OPEN_ALL)
    page.rest()
    check(results, page, f"report with a window, a filter, a zoom and a search, {scheme}", ["filters span.chip", "div.bar.match", "table tr.level-3", "suspects p."])
    export(page, folder, "export", fixed, "--format", "html", "--symbols", symbols)
    page.run("update({ groupBy: ['process', 'heap', 'thread'] })")
    page.rest()
    page.run(OPEN_ALL)
    check(results, page, f"report with pins, {scheme}", ["map tr.", "frees tr.", "table tr.level-3"])
    export(page, folder, "export", workload, "--format", "html", "--no-symbols")
    page.run("update({ groupBy: ['stack'] })")
    page.rest()
    page.run(OPEN_ALL)
    check(results, page, f"report of a damaged trace, {scheme}", ["notice", "diagnostics tr.", "modules tr.", "table tr.level-1", "table tr.more"])


def check_compared(results, page, folder, scheme):
    runs = []
    for events in ("1500", "2500", "2000"):
        runs.append(os.path.join(folder, f"{events}.etl"))
        subprocess.run([MAKE_TRACE, "workload", runs[-1], "--seed", "3", "--events", events], check=True, stdout=subprocess.DEVNULL)
    for name, more in (("comparison", []), ("comparison of lifetimes", ["--lifetimes"])):
        export(page, folder, "diff", *runs[:2], "--no-symbols", *more)
        page.run("update({ differenceWidth: 'larger' })")
        page.rest()
        wanted = ["div.notice.bad", "kinds-changed div.kind", "difference div.bar.grew", "difference div.bar.shrank", "changes tr.", "runs tr."]
        check(results, page, f"{name}, {scheme}", wanted + (["lifetimes tr."] if more else []))
        check_hovered(results, page, f"{name}, {scheme}")
    export(page, folder, "trend", *runs, "--no-symbols", "--in-order", "--all")
    page.run("document.querySelector('#rows .spark').click()")
    page.rest()
    check(results, page, f"trend, {scheme}", ["curves ", "kinds div.kind", "rows tr.", "runs tr."])
    check_hovered(results, page, f"trend, {scheme}", 2)


def use(results, page, folder):
    for scheme in ("light", "dark"):
        page.prefer(scheme)
        check_reports(results, page, folder, scheme)
        check_compared(results, page, folder, scheme)
    results.equal("no errors or warnings", page.problems, [])


if __name__ == "__main__":
    run_in_browser(use)
