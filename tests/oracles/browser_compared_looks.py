#!/usr/bin/env python3
"""Looks at the pages of `diff` and `trend` in a real browser: can everybody read and use them?

In light and in dark, at 1,400 and 800 pixels, with a row opened, a search, and the command of each part:

  * axe-core finds no violation;
  * each text has a contrast of at least 4.5 to what is painted behind it;
  * the page does not scroll to the side, at 390 pixels either, and no column is narrower than a few letters;
  * a heading that a link of the navigation goes to is not covered by what sticks to the top;
  * what a page cannot ask is not shown: filters, saving as other formats, parts of one trace.
"""

import os
import subprocess

from axe import axe_script
from browser_page import MAKE_TRACE
from browser_view_looks import check_headings, check_schemes, check_widths
from static_page import ComparedView, run_static
from view_page import write_demo

# What opens on the page, all at once.
OPEN = """(() => {
  document.querySelectorAll('main details').forEach((one) => { one.open = true; });
  for (const one of document.querySelectorAll('.tools button')) if (one.textContent === 'Command' && one.checkVisibility()) one.click();
})()"""
UNASKED = "[...document.querySelectorAll('#filter-form, #save, #inputs *')].filter((one) => one.checkVisibility()).map((one) => one.outerHTML.slice(0, 80))"

DEMO = ["demo.etl", "longer.etl", "fixed.etl"]
WORK = ["run0.etl", "run1.etl", "run2.etl"]
# Command, inputs, options, fragment, parts.
PAGES = [
    ("trend", DEMO, ["--symbols", "symbols", "--in-order", "--all"], "#kind=heap&drawn=0", ["kinds", "curves", "rows", "runs"]),
    ("diff", DEMO[:2], ["--symbols", "symbols"], "#kind=heap", ["kinds-changed", "difference", "changes", "runs"]),
    ("diff", WORK[:2], ["--no-symbols", "--lifetimes"], "#kind=heap&search=ckb&differenceWidth=larger", ["kinds-changed", "lifetimes", "difference", "changes", "runs"]),
    ("trend", WORK, ["--no-symbols", "--in-order", "--group-by", "kind,process,type,stack"], "#kind=heap&search=app", ["kinds", "curves", "rows", "runs"]),
]


def make_runs(folder):
    write_demo(folder)
    for name, events in zip(WORK, ("1500", "2500", "2000")):
        subprocess.run([MAKE_TRACE, "workload", os.path.join(folder, name), "--seed", "3", "--events", events], check=True, stdout=subprocess.DEVNULL)


def check_page(view, script, command, inputs, options, fragment, parts):
    view.write(command, inputs, *options)
    title = f"{command} {' '.join([*inputs, *options])[:60]}"
    shown = view.run("[...document.querySelectorAll('main section')].filter((one) => !one.hidden).map((one) => one.id)")
    view.results.equal(f"{title}: its parts are shown, and no others", shown, parts)
    view.results.equal(f"{title}: what it cannot ask is not shown", view.run(UNASKED), [])
    for width in (1400, 800):
        check_schemes(view, script, f"{title}, {width} px", width, fragment, OPEN, 60)
        check_headings(view, f"{title}, {width} px", width, len(parts))
    view.page.resize(390, 30000)
    view.open(fragment)
    check_widths(view, f"{title}, 390 px")
    check_headings(view, f"{title}, 390 px", 390, len(parts))
    view.page.prefer("light")


def use(view):
    make_runs(view.documents.folder)
    script = axe_script()
    for page in PAGES:
        check_page(view, script, *page)
    view.results.equal("no errors or warnings", view.page.problems, [])


if __name__ == "__main__":
    run_static(use, ComparedView)
