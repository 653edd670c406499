#!/usr/bin/env python3
"""Shows every kind of memory with `etlheap view` in a real browser, and compares every number.

    browser_view_kinds.py

Several recordings are the inputs of one view: handles, pool, mapped views, sections, heaps with pages, marks,
managed code, and one with every event. Of each input and each kind that it has, all parts are drawn for the
whole trace and for a window, and compared with their commands (view_page.py). Then two inputs are compared
with each other. Another view is started for a trace, while it is still being read.
"""

import ast
import json
import os
import re
import subprocess

from browser_page import MAKE_TRACE
from oracle_support import ETLHEAP
from view_page import run_views, viewed, write_demo

SCENARIOS = "handle-leak pool-leak mapped-views section-leak heap-pages test-runner dotnet kitchen-sink workload".split()
WORDS = os.path.abspath("tests/unit/formats/test_shell_words.c")
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
    view.step("in a window", lambda: view.brush(0.2, 0.7), compare=4, difference=3)
    for bar in (1, 4, 7):
        view.step(f"bar {bar} of the change", lambda: view.run(f"document.querySelectorAll('#difference .bar')[{bar}].focus()"), difference=3)
    view.step("from callees to callers", lambda: view.page.choose("#difference-tree", "callers"), difference=3)
    state = view.state()
    said = view.run("[...document.querySelectorAll('#compare .covers, #difference .covers')].map((one) => one.textContent)")
    ends = [float(state[end][0].rstrip("nsum")) / {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[state[end][0].lstrip("0123456789")] for end in ("from", "to")]
    window = " \u2013 ".join(f"{end:.3f} s" for end in ends)
    view.results.check("both parts say both windows", len(said) == 2 and all(text.startswith(f"Base {window}, New {window}") for text in said), said, window)
    command = view.run("document.getElementById('compare').dataset.command")
    tool = view.mark("[...document.querySelectorAll('#compare .tools button')].find((one) => one.textContent === 'CSV')", "tool")
    _, data = view.page.download(os.path.join(view.documents.folder, "saved"), lambda: view.click(tool))
    view.results.check("saved as CSV: what diff prints", data == view.documents.bytes_of(command, "--format", "csv"), data[:200])
    view.open(f"#input={new}&base={names.index('workload') + 1}")
    view.step("compared with a damaged trace", compare=4, difference=3)
    view.results.check("what the base lost is told", "The base run is not complete" in view.run("document.getElementById('compare').textContent"))
    view.open(f"#input={new}&base={base}")
    pickers = "#inputs label:nth-of-type({}) select"
    view.step("nothing to compare with", lambda: view.page.choose(pickers.format(2), ""))
    view.results.check("the part is gone", view.run("document.getElementById('compare').hidden"))
    view.step("another trace", lambda: view.page.choose(pickers.format(1), str(base)), table=10)
    view.results.check("the title names it", view.run("document.getElementById('page-title').textContent") == "demo.etl")


def check_quotes(view):
    """Words of commands are quoted as formats/parts/shell_words.c does, of whose test the words are."""
    with open(WORDS, encoding="utf-8") as file:
        table = re.search(r"static const sample words\[\] = \{(.*?)\n\};", file.read(), re.S)[1]
    samples = [[ast.literal_eval(text) for text in row] for row in re.findall(r'\{ ("(?:[^"\\]|\\.)*"), ("(?:[^"\\]|\\.)*"), ("(?:[^"\\]|\\.)*") \}', table)]
    got = view.run(f"{json.dumps([word for word, _, _ in samples])}.map((word) => [word, shellWord(word, 'posix'), shellWord(word, 'windows')])")
    view.results.check(f"{len(samples)} words are quoted for both shells as the program does", len(samples) >= 14 and got == samples, *[(one, other) for one, other in zip(got, samples) if one != other])
    read = view.run("[['a\u201db', 'x$(y)', '--symbols=C:\\\\a b\\\\', '--tree=callers', '*']].flat().map((word) => shellWord(word, 'windows'))")
    view.results.equal("words that PowerShell would expand have its own quotes", read, ["'a\u201db'", "'x$(y)'", '"--symbols=C:\\a b\\\\"', "--tree=callers", '"*"'])
    view.run("source.session.shell = 'windows'")
    view.results.equal("a server on Windows has commands for its shells", view.run("source.commandFor('report', [['process', 'a b'], ['require-frame', '*x*!']])"),
                       'etlheap report fixed.etl --process "a b" --require-frame "*x*!" --no-symbols')
    view.run("source.session.shell = 'posix'")


def check_summary(view, number):
    """Of a summary no window can be selected, and nothing says that one can."""
    view.open(f"#input={number}")
    view.step("a summary", overview=10, table=10)
    said = view.texts("#curve > .hint")
    view.results.check("its curve does not ask to drag", said and all("Drag" not in text and "select" not in text for text in said), said)
    view.results.equal("nor has it buttons that select", view.run("['select-peak', 'select-steepest', 'zoom-window'].filter((id) => !document.getElementById(id).hidden)"), [])
    view.brush(0.2, 0.6)
    view.page.rest()
    view.results.check("dragging selects nothing", not {"from", "to"} & set(view.state()), view.state())


def make_inputs(folder):
    """Names of the inputs, each with the suffix .etl."""
    write_demo(folder)
    for scenario in SCENARIOS:
        subprocess.run([MAKE_TRACE, scenario, os.path.join(folder, scenario + ".etl")], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([ETLHEAP, "store", os.path.join(folder, "demo.etl"), "--summary", "--every", "1s", "-o", os.path.join(folder, "summary.ehs")], check=True, stdout=subprocess.DEVNULL)
    return [*SCENARIOS, "demo", "fixed"]


def check_all(results, folder):
    names = make_inputs(folder)
    with viewed(results, folder, [*[name + ".etl" for name in names], "summary.ehs"], "--no-symbols") as view:
        check_kinds(view, names)
        check_quotes(view)
        check_summary(view, len(names) + 1)
        check_marks(view, names.index("test-runner") + 1)
        check_compare(view, names)
        view.finish({"compare": 100, "overview": 500, "table": 1000, "map": 500, "suspects": 50, "blocks": 2000})


if __name__ == "__main__":
    run_views(check_all)
