#!/usr/bin/env python3
"""Looks at the page of `etlheap view` in a real browser: can everybody read and use it?

    browser_view_looks.py

In light and in dark, at 1,400 and 800 pixels, with all parts drawn, with a window and filters, and with what
opens on the page (columns, menus, frames, commands, an error):

  * axe-core finds no violation in the page with all its sections, nor in a menu;
  * each text has a contrast of at least 4.5 to what is painted behind it, as browser_colours reads it;
  * the page does not scroll to the side, at 390 pixels either, and no column is narrower than a few letters;
  * a heading that a link of the navigation goes to is not covered by what sticks to the top.
"""

import json

from axe import axe_script, violations
from browser_colours import CONTRAST_MIN, READ, check_bars
from view_page import run_views, viewed, write_demo

ALL_PARTS = "#base=2&kind=heap&focus=BatteryMeter.exe!History%3A%3Aappend"
WINDOWED = ("#from=5s&to=9s&kind=virtualalloc&process=BatteryMeter.exe&search=ntdll&curves=1"
            "&columns=outstanding_size,outstanding_count,impacting_size,size,count,peak_size,lifetime_median_ns,alloc_rate,alloc_bytes_rate,first_ns")

# What opens on the page, all at once.
OPEN = """(() => {
  document.querySelectorAll('main details').forEach((one) => { one.open = true; });
  const press = (part, text) => [...document.querySelectorAll(`#${part} .tools button`)].find((one) => one.textContent === text)?.click();
  press('table', 'Columns');
  for (const part of ['overview', 'curve', 'suspects']) press(part, 'Command');
  document.querySelector('#table tr[aria-expanded=false].level-4 .label, #table tr[aria-expanded=false] .label')?.click();
  document.querySelector('#blocks .address')?.click();
  sayAtTop("invalid size 'banana'");
})()"""

# Cells whose text has to break after less than so many letters.
LETTERS = 6
NARROW = """(() => {
  const narrow = [], pen = document.createElement('canvas').getContext('2d');
  for (const cell of document.querySelectorAll('main td, main th')) {
    const style = getComputedStyle(cell), text = cell.innerText.trim();
    if (text.length < %d || !cell.checkVisibility() || cell.querySelector(':scope > .sr') !== null) continue;
    pen.font = style.font;
    const width = cell.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const longest = Math.max(...text.split(/\\s+/).map((word) => pen.measureText(word.slice(0, %d)).width));
    if (width + 1 < longest) narrow.push(`${cell.closest('section').id}: ${text.slice(0, 30)} in ${Math.round(width)} px`);
  }
  return narrow;
})()""" % (LETTERS, LETTERS)

COVERED = """(() => {
  const heading = document.activeElement, box = heading.getBoundingClientRect();
  if (heading.tagName !== 'H2') return `the focus is on ${heading.tagName}`;
  const at = document.elementFromPoint(box.left + Math.min(20, box.width / 2), box.top + 3);
  return at !== null && heading.contains(at) && box.bottom < innerHeight ? '' : `at ${Math.round(box.top)} px is ${at?.outerHTML.slice(0, 80)}`;
})()"""


def check_contrast(view, name, least=300):
    got = view.run(f"{READ}({CONTRAST_MIN}, null)")
    lines = [f"{one['ratio']:.2f} {one['where']}: {one['text']!r}, {one['front']} on {one['behind']}" for one in got["found"]]
    view.results.check(f"{name}: {got['texts']} texts can be read", got["texts"] > least and not lines, f"{got['count']} cannot", *lines)


def check_axe(view, script, name):
    passed, wrong = violations(view.page, script, "html")
    view.results.check(f"{name}: axe-core finds nothing, {passed} rules pass", passed > 25 and not wrong, *wrong[:6])


def check_widths(view, name):
    hidden = view.run("document.documentElement.scrollWidth - innerWidth")
    view.results.check(f"{name}: no scrolling to the side", hidden <= 0, f"{hidden} px", *view.run(
        "[...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('.scroll, .table-box, svg'))"
        ".slice(0, 4).map((one) => one.outerHTML.slice(0, 120))"))
    narrow = view.run(NARROW)
    view.results.check(f"{name}: no column is narrower than {LETTERS} letters", not narrow, *narrow[:6])


def check_headings(view, name, width, least=10):
    view.page.resize(width, 900)
    view.page.rest()
    links = view.run("[...document.querySelectorAll('#nav a')].filter((one) => !one.hidden).map((one) => one.getAttribute('href'))")
    covered = []
    for link in links:
        view.run(f"document.querySelector({json.dumps(f'#nav a[href={json.dumps(link)}]')}).click()")
        view.page.rest()
        said = view.run(COVERED)
        covered += [f"{link}: {said}"] if said else []
    view.results.check(f"{name}: {len(links)} headings are not covered", len(links) >= least and not covered, *covered)


def check_menu(view, script, name):
    view.click("#blocks tbody tr[data-row] .row-menu")
    passed, wrong = violations(view.page, script, "[role=menu]")
    view.results.check(f"{name}: axe-core finds nothing in a menu", passed > 0 and not wrong, *wrong[:4])
    items = view.texts("[role=menu] [role=menuitem]")
    view.page.press("ArrowDown")
    view.results.equal(f"{name}: arrow keys go through it", view.run("document.activeElement.textContent"), items[1])
    view.page.press("Escape")
    view.results.check(f"{name}: Escape closes it, and the focus goes back", view.run("document.activeElement.matches('.row-menu')"))


def check_schemes(view, script, title, width, fragment, prepare, *least):
    """In light and in dark, texts can be read, axe has no complaint, and nothing is too wide."""
    for scheme in ("light", "dark"):
        name = f"{title}, {scheme}"
        view.page.resize(width, 20000)
        view.page.prefer(scheme)
        view.open(fragment)
        view.run(prepare)
        view.page.rest()
        check_contrast(view, name, *least)
        check_axe(view, script, name)
        check_widths(view, name)


def check_looks(results, folder):
    write_demo(folder)
    script = axe_script()
    with viewed(results, folder, ["demo.etl", "fixed.etl"], "--symbols", "symbols") as view:
        for fragment, what in ((ALL_PARTS, "all parts"), (WINDOWED, "a window")):
            for width in (1400, 800):
                check_schemes(view, script, f"{what}, {width} px", width, fragment, OPEN)
                if what == "all parts":
                    check_menu(view, script, f"{width} px")
                    check_bars(results, view.page, f"{width} px")
                check_headings(view, f"{what}, {width} px", width)
            view.page.resize(390, 30000)
            view.open(fragment)
            check_widths(view, f"{what}, 390 px")
            check_headings(view, f"{what}, 390 px", 390)


if __name__ == "__main__":
    run_views(check_looks)
