#!/usr/bin/env python3
"""Holds what pages say of themselves against what they show, in a real browser.

    browser_told.py

  * A report of a window says so, and never speaks of the whole trace; so does one of a selection.
  * Parts that ignore the selected window or a filter say so, and those that say nothing change with it.
  * The command of a stack's blocks finds them: with symbols, with --at-exit, in a window, and with names
    that a shell might run. No command has a login, which the page says.
  * A suspect has its whole stack, on the page, copied and as CSV.
  * Rows that begin alike are told apart by a caller or a line.
  * Losses are told on every page.
  * A comparison says what its sides lost, and begins with the kind whose row grew most.

Skipped when there is no Chromium. $BROWSER_PROGRAM names one that is not on the path.
"""

import json
import os
import shlex
import subprocess

from browser_page import MAKE_TRACE, make_trace
from browser_shown import clipboard, copy_by, saved
from oracle_support import ETLHEAP, run, run_json
from static_page import run_static

MAKE_SYMBOL_TRACE = os.path.join(os.environ.get("OUT", "build/check"), "make_symbol_trace")
MAKE_SYMBOLS = os.path.join(os.path.dirname(os.path.abspath(MAKE_TRACE)), "make_demo_symbols")

# Titles of buttons and fields are said, too.
SAID = """[document.body.innerText, ...[...document.querySelectorAll('[title], [aria-label]')]
  .flatMap((one) => [one.title, one.getAttribute('aria-label') ?? ''])].join('\\n')"""


# --- windows ------------------------------------------------------------------------------------


def check_window(view):
    results = view.results
    view.export("demo.etl", "--no-symbols")
    said = view.run(SAID).lower()
    results.check("a report of the whole trace says so", said.count("whole trace") >= 10 and "all of this page" not in said, said.count("whole trace"))
    view.export("demo.etl", "--no-symbols", "--from", "3s", "--to", "11s")
    texts = []
    for step in ("0", "update({ groupBy: ['process', 'thread'] })", "update({ from: 4e9, to: 7e9, groupBy: ['process', 'heap', 'type', 'stack'] })",
                 "update({ from: null, to: null, search: 'battery' })", "showBlocksOf(table.entries.find((one) => !one.isMore).node)"):
        view.run(step)
        view.page.rest()
        texts.append(view.run(SAID))
    wrong = [line for text in texts for line in text.split("\n") if "whole trace" in line.lower() or "during the trace" in line.lower() or "end of the trace" in line.lower()]
    results.equal("a report of a window never speaks of the whole trace", wrong, [])
    covers = view.run("[...document.querySelectorAll('main section:not([hidden])')].map((one) => [one.id, one.querySelector('.covers').textContent])")
    unsaid = [one for one in covers if "3.000 s \u2013 11.000 s, all of this page" not in one[1] and not (one[0] == "map" and one[1].startswith("At 11.000 s"))]
    results.check(f"each of its {len(covers)} parts names the window", len(covers) >= 13 and not unsaid, *unsaid)
    results.check("and the page says how it was selected", "selected: --from 3s --to 11s" in texts[0], view.texts("#page-subtitle"))
    view.run("update({ search: '' })")
    view.page.rest()
    view.step("numbers of a window are those of commands with it", overview=20, table=20, map=5)
    view.export("demo.etl", "--no-symbols", "--process", "Bat*", "--size", "1K..")
    view.step("so are those of a selection", overview=10, table=20)
    results.check("which the page names", "selected: --process 'Bat*' --size 1K.." in view.run(SAID), view.texts("#page-subtitle"))
    view.export("demo.etl", "--no-symbols", "--process", "nothing*")
    said = view.run("byId('notices').textContent")
    results.check("a selection of nothing says that", "no memory that this page was to show" in said, said)


# --- what parts ignore --------------------------------------------------------------------------

# What a part shows, without what it says of choices.
SECTIONS = """Object.fromEntries([...document.querySelectorAll('main section:not([hidden])')].map((section) => {
  const copy = section.cloneNode(true);
  for (const one of copy.querySelectorAll('.covers, .hint, .tools, .command, .brush, .handle, .cursor, .flame-details, .match')) one.remove();
  return [section.id, copy.textContent + [...copy.querySelectorAll('[data-value]')].map((one) => one.dataset.value)];
}))"""
TOLD = "Object.fromEntries([...document.querySelectorAll('main section:not([hidden])')].map((section) => [section.id, section.querySelector('.covers').textContent]))"
CHOICES = {
    "the selected window": "update({ from: 6e9, to: 12e9 })",
    "Process": "setFilter('process', 'MemoryTestApp')",
    "No stacks with": "setFilter('exclude-frame', 'BatteryMeter!History::append')",
}


def check_ignored(view):
    """What a part shows is the same if and only if it says that the choice does not change it. The curve
    shows the window as its brush, and overview and diagnostics count kinds that a filter may leave as they are."""
    view.export("demo.etl", "--symbols", "symbols")
    before, quiet = view.run(SECTIONS), view.run(TOLD)
    view.results.check("without a choice nothing is said of choices", not [text for text in quiet.values() if "not follow" in text], quiet)
    for name, step in CHOICES.items():
        view.run(step)
        view.page.rest()
        after, told = view.run(SECTIONS), view.run(TOLD)
        ignoring = {part for part in before if before[part] == after.get(part)} - {"curve", "diagnostics"}
        saying = {part for part, text in told.items() if "Does not follow" in text and name in text} - {"curve", "diagnostics"}
        view.results.equal(f"parts that ignore {name} say so, and no others", sorted(saying), sorted(ignoring))
        view.run("update({ from: null, to: null, filters: [] })")
        view.page.rest()


# --- the command of blocks ----------------------------------------------------------------------


def listed(command, folder):
    """What a shell that reads the command prints."""
    line = "etlheap() { " + shlex.quote(ETLHEAP) + ' "$@" --format json; }; ' + command
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, check=False)
    return json.loads(done.stdout)["rows"] if done.returncode == 0 else done.stderr.decode()


# Blocks of the stack of the table with the most outstanding bytes.
OPEN = """(async () => {
  update({ kind: '%s', blocksOf: null });
  await new Promise((done) => setTimeout(done, 300));
  const nodes = table.entries.filter((one) => !one.isMore && one.node.key === 'stack' && one.node.sample.row.stack !== null);
  showBlocksOf(nodes[0].node);
  return nodes[0].node.row.count;
})()"""


def check_command(view, name, trace, options, kind="heap"):
    view.export(trace, *options)
    whole = view.run(OPEN % kind)
    view.page.rest()
    command = view.run("document.querySelector('#blocks .note code')?.textContent ?? document.querySelector('#blocks').dataset.command")
    command = " ".join(word for word in [command.split(" --top ")[0], *command.split(" --top ")[1:2]] if word) if " --top " not in command else command.replace(" --top 100", "")
    shown = view.run("[...document.querySelectorAll('#blocks tbody tr[data-address]')].map((one) => one.dataset.address)")
    found = listed(command, view.documents.folder)
    addresses = [one["address"] for one in found] if isinstance(found, list) else []
    view.results.check(f"{name}: the command of a stack's blocks finds them", addresses and shown and set(shown) <= set(addresses) and len(addresses) >= whole,
                       command, found if isinstance(found, str) else len(found), len(shown), whole)
    return command, found


def check_commands(view):
    results, folder = view.results, view.documents.folder
    command, found = check_command(view, "demo with symbols", "demo.etl", ["--symbols", "symbols"])
    results.check("it names functions, so it has the symbol path", "History::append" in command and "--symbols" in command, command)
    said = view.run("document.querySelector('#blocks .note:last-of-type').textContent")
    count = len(found) if isinstance(found, list) else 0
    results.check("and the page says how many it has", f"of the {count} blocks" in said or f"All {count} blocks" in said, said, count)
    command, found = check_command(view, "demo in a window", "demo.etl", ["--symbols", "symbols", "--from", "3s", "--to", "11s"])
    results.check("it lists that window", found and all(one["alloc_time_ns"] < 11 * 10**9 for one in found), command)
    make_trace(folder, "workload")
    command, found = check_command(view, "processes that end free their memory", "workload.etl", ["--no-symbols", "--at-exit", "freed"])
    results.check("the command says so, too", "--at-exit freed" in command, command)
    hostile = os.path.join(folder, "a $(touch by-file)'.etl")
    lines = "module \\Device\\HarddiskVolume3\\a$(touch${IFS}by-name)`touch\u00a0x`'\"b.dll 7ff600000000 10000 1\n"
    blocks = "".join(f"alloc {100 + i} 7ff600001234 7ff600002345\n" for i in range(60))
    subprocess.run([MAKE_SYMBOL_TRACE, hostile], input=(lines + blocks).encode("latin-1"), check=True)
    before = set(os.listdir(folder))
    check_command(view, "names that a shell might run", os.path.basename(hostile), ["--no-symbols"])
    results.equal("they run nothing", set(os.listdir(folder)) - before, {os.path.basename(hostile) + ".html"})
    secret = "SRV*" + folder + "/cache*http://me:s3cret@127.0.0.1:9/s"
    view.export("demo.etl", "--symbols", secret, "--offline")
    said = [view.run("document.documentElement.outerHTML.includes('s3cret')"), view.run("byId('notices').textContent"), view.run("document.querySelector('#table').dataset.command")]
    results.check("a login is in no page, which says so once", not said[0] and "lack the login" in said[1] and "127.0.0.1:9" in said[2], said)
    quoted = view.run("['a b', \"it's\", 'a$(x)', 'plain.etl', ''].map(shellWord)")
    results.equal("words are quoted as a shell reads them", [shlex.split(word)[0] if shlex.split(word) else "" for word in quoted], ["a b", "it's", "a$(x)", "plain.etl", ""])


# --- suspects -----------------------------------------------------------------------------------


def check_deep_suspects(view):
    """A leak whose stack is deeper than a page once had room for."""
    folder, results = view.documents.folder, view.results
    trace = os.path.join(folder, "deep.etl")
    frames = " ".join(f"{0x7FF600001000 + 0x20 * depth:x}" for depth in range(60))
    lines = "module \\Device\\HarddiskVolume3\\deep.exe 7ff600000000 10000 1\n"
    subprocess.run([MAKE_SYMBOL_TRACE, trace], input=(lines + f"alloc 4096 {frames}\n" * 400).encode(), check=True)
    view.export("deep.etl", "--no-symbols")
    document = run_json("report", trace, "--suspects", "--no-symbols", "--kind", "heap")
    depths = [len(document["stacks"][row["stack"]]) for row in document["rows"]]
    results.check("there is a suspect with a deep stack", max(depths, default=0) == 60, depths)
    view.run("document.querySelectorAll('#suspects summary').forEach((one) => one.click())")
    view.page.rest()
    shown = view.run("[...document.querySelectorAll('#suspects tbody details')].map((one) => one.querySelectorAll('li').length)")
    results.equal("the page has all frames of suspects", shown, depths)
    copy_by(view, "suspects")
    text = clipboard(view)
    results.check("and so has what is copied", text.count("deep.exe+") >= sum(depths), text.count("deep.exe+"), depths)
    lines = saved(view, "suspects")
    results.equal("and the CSV file", [line[-1].count(";") + 1 for line in lines[1:]], depths)


# --- rows that begin alike ----------------------------------------------------------------------


def check_alike(view):
    view.export("demo.etl", "--symbols", "symbols")
    names = view.run("[...document.querySelectorAll('#table tr.level-4 .label')].map((one) => one.textContent)")
    results = view.results
    results.check("rows of the table have names of their own", len(names) == len(set(names)) > 1, names)
    two = [name for name in names if name.startswith("BatteryMeter.exe!History::append")]
    results.check("two lines of one function are told apart by the line", len(two) == 2 and sorted(line for name in two for line in ("41", "45") if f":{line}" in name) == ["41", "45"], two)
    names = view.run("[...document.querySelectorAll('#suspects tbody th')].map((one) => one.querySelector('summary, div div')?.textContent ?? one.textContent)")
    results.check("suspects, too", len(names) == len(set(names)), names)


# --- losses, comparisons ------------------------------------------------------------------------


def check_losses(view):
    for trace in ("demo.etl", "workload.etl"):
        view.export(trace, "--no-symbols")
        lost = [one["name"] for one in run_json("report", os.path.join(view.documents.folder, trace), "--no-symbols")["diagnostics"] if one["severity"] in ("loss", "damage")]
        said = view.run("byId('notices').textContent").lower()
        view.results.check(f"{trace}: the page says what was lost, and nothing else", all(name.replace("_", " ") in said for name in lost) and ("not complete" in said) == bool(lost), said, lost)


def check_diff(view):
    results, folder = view.results, view.documents.folder
    make_trace(folder, "battery-meter")
    view.write("diff", ["demo.etl", "battery-meter.etl"], "--no-symbols")
    document = run_json("diff", *(os.path.join(folder, name) for name in ("demo.etl", "battery-meter.etl")), "--no-symbols")
    grown = {total["kind"]: total["delta_outstanding_size"] for total in document["totals"]}
    results.check("more shrank than grew", max(-size for size in grown.values()) > max(grown.values()) > 0, grown)
    most = max(document["rows"], key=lambda row: row["delta_outstanding_size"])["kind"]
    results.equal("a comparison begins with the kind whose row grew most", view.run("state.kind"), most)
    first = view.run("Number(document.querySelector('#changes tbody [data-measure^=delta]').dataset.value)")
    results.check("its first row grew", first > 0, first)
    results.equal("nothing was lost, and nothing is said of losses", view.run("document.querySelectorAll('#notices .bad').length"), 0)
    for pair, name in ((("demo.etl", "workload.etl"), "The new run"), (("workload.etl", "demo.etl"), "The base run")):
        view.write("diff", list(pair), "--no-symbols")
        document = run_json("diff", *(os.path.join(folder, one) for one in pair), "--no-symbols")
        notices = view.texts("#notices .bad")
        lost = [one for side in ("base", "new") for one in document[side]["diagnostics"] if one["severity"] in ("loss", "damage")]
        results.check("a run that lost events is named", len(notices) == 1 and notices[0].startswith(name), notices)
        results.check("with what it lost, and advice", lost and all(one["name"].replace("_", " ") in notices[0].lower() and one["advice"] in notices[0] for one in lost), notices)


def use(view):
    folder = view.documents.folder
    make_trace(folder, "demo")
    symbols = os.path.join(folder, "symbols")
    os.mkdir(symbols)
    subprocess.run([MAKE_SYMBOLS, symbols], check=True)
    check_window(view)
    check_ignored(view)
    check_commands(view)
    check_deep_suspects(view)
    check_alike(view)
    check_losses(view)
    check_diff(view)
    view.results.equal("no errors or warnings", view.page.problems, [])


if __name__ == "__main__":
    run_static(use)
