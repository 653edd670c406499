#!/usr/bin/env python3
"""Shows every kind of memory with `etlheap view` in a real browser, and compares every number.

    browser_view_kinds.py

Several recordings are the inputs of one view: handles, pool, mapped views, sections, heaps with pages, marks,
managed code, and one with every event. Of each input and each kind that it has, all parts are drawn for the
whole trace and for a window, and compared with their commands (view_page.py). Then two inputs are compared
with each other. Another view is started for a trace, while it is still being read.
"""

import os
import subprocess

from browser_page import MAKE_TRACE
from view_page import run_views, viewed, write_demo

SCENARIOS = "handle-leak pool-leak mapped-views section-leak heap-pages test-runner dotnet kitchen-sink workload".split()
LENGTH = "Math.max(1, Math.round(traceEnd()))"


def kinds_of(view):
    return view.run("[...document.querySelectorAll('#overview [data-kind]')].map((one) => one.dataset.kind)")


def check_kinds(view, names):
    seen, unmatched = set(), 0
    for number, name in enumerate(names, 1):
        view.open(f"#input={number}")
        kinds = kinds_of(view)
        view.results.check(f"{name}: it has kinds of memory", kinds)
        for kind in kinds:
            seen.add(kind)
            view.step(f"{name}: {kind}", lambda: view.run(f"update({{ kind: '{kind}', freesBy: 'unmatched' }})"), overview=3)
            unmatched += view.run("document.querySelectorAll('#frees tbody tr[data-row]').length")
            view.step(f"{name}: {kind} in a window", lambda: view.run(
                f"update({{ freesBy: 'pairs', churnBy: 'stack', curveKey: 'stack', from: Math.floor({LENGTH} * 0.3), to: Math.floor({LENGTH} * 0.8) }})"))
            view.run("update({ from: null, to: null, churnBy: 'site', curveKey: 'process' })")
            view.page.rest()
    view.results.equal("all kinds were seen", sorted(seen), sorted("heap virtualalloc extent reserve pool handle mapped section".split()))
    view.results.check("and frees of blocks from before the recordings", unmatched > 0, unmatched)


def check_marks(view, number):
    view.open(f"#input={number}")
    signs = view.run("document.querySelectorAll('#curve .sign.mark').length")
    view.results.check("marks stand above the curve", signs >= 5, signs)
    view.run("document.querySelector('#curve .sign.mark').focus()")
    view.page.press("ArrowRight")
    view.step("a mark selects what follows it", lambda: view.page.press("Enter"))
    view.results.check("up to the next", {"from", "to"} <= set(view.state()), view.state())
    view.step("rows by generation", lambda: view.run("update({ groupBy: ['generation', 'stack'], from: null, to: null })"), table=10)


def check_compare(view, names):
    base, new = (names.index(name) + 1 for name in ("demo", "fixed"))
    view.open(f"#input={new}&base={base}")
    view.step("two inputs", compare=10)
    view.results.check("the sentence names both", "fixed.etl compared with demo.etl" in view.run("document.querySelector('#compare .hint:not(.covers)').textContent"))
    for by in ("site", "module", "process", "size", "stack"):
        view.step(f"compared by {by}", lambda: view.page.choose("#compare select", by), compare=4)
    for measure in ("outstanding_count", "size", "count", "outstanding_size"):
        view.step(f"compared by {measure}", lambda: view.page.choose("#compare .choices label:nth-of-type(2) select", measure), compare=4)
    view.step("in a window", lambda: view.brush(0.2, 0.7), compare=4)
    command = view.run("document.getElementById('compare').dataset.command")
    tool = view.mark("[...document.querySelectorAll('#compare .tools button')].find((one) => one.textContent === 'CSV')", "tool")
    _, data = view.page.download(os.path.join(view.documents.folder, "saved"), lambda: view.click(tool))
    view.results.check("saved as CSV: what diff prints", data == view.documents.bytes_of(command, "--format", "csv"), data[:200])
    pickers = "#inputs label:nth-of-type({}) select"
    view.step("nothing to compare with", lambda: view.page.choose(pickers.format(2), ""))
    view.results.check("the part is gone", view.run("document.getElementById('compare').hidden"))
    view.step("another trace", lambda: view.page.choose(pickers.format(1), str(base)), table=10)
    view.results.check("the title names it", view.run("document.getElementById('page-title').textContent") == "demo.etl")


def make_inputs(folder):
    """Names of the inputs, each with the suffix .etl."""
    write_demo(folder)
    for scenario in SCENARIOS:
        subprocess.run([MAKE_TRACE, scenario, os.path.join(folder, scenario + ".etl")], check=True, stdout=subprocess.DEVNULL)
    return [*SCENARIOS, "demo", "fixed"]


def check_all(results, folder):
    names = make_inputs(folder)
    with viewed(results, folder, [name + ".etl" for name in names], "--no-symbols") as view:
        check_kinds(view, names)
        check_marks(view, names.index("test-runner") + 1)
        check_compare(view, names)
        view.finish({"compare": 100, "overview": 500, "table": 1000, "map": 500, "suspects": 50, "blocks": 2000})


if __name__ == "__main__":
    run_views(check_all)
