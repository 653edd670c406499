#!/usr/bin/env python3
"""Holds what the pages say of themselves against what they show, in a real browser.

    browser_told.py

  * A report of a window says so, and never speaks of the whole trace.
  * Sections that ignore the selected window, the chosen heap, the zoom or the search say so, and those
    that say nothing change with it.
  * The command below a stack finds that stack: with symbols, with --at-exit, in a window, and with
    names that a shell might run.
  * A suspect has its whole stack, on the page, copied and as CSV, and its name opens that stack.
  * An arrow leads from a function to its caller, and to nothing else.
  * A comparison says what its sides lost, and begins with the kind whose row grew most.

Skipped when there is no Chromium. $BROWSER_PROGRAM names one that is not on the path.
"""

import json
import os
import shlex
import subprocess

from browser_page import MAKE_TRACE, make_trace, run_in_browser
from browser_shown import clipboard, copy_by, saved
from oracle_support import ETLHEAP, run, run_json

MAKE_SYMBOL_TRACE = os.path.join(os.environ.get("OUT", "build/check"), "make_symbol_trace")
MAKE_SYMBOLS = os.path.join(os.path.dirname(os.path.abspath(MAKE_TRACE)), "make_demo_symbols")


def open_page(page, folder, *arguments):
    path = os.path.join(folder, "page.html")
    run(*arguments, "-o", path)
    page.open(path)
    page.come_to_rest()


def report(page, folder, trace, *options):
    open_page(page, folder, "export", trace, "--format", "html", *options)


# --- windows ------------------------------------------------------------------------------------

# Titles of buttons and fields are said, too.
SAID = """[document.body.innerText, ...[...document.querySelectorAll('[title], [aria-label]')]
  .flatMap((one) => [one.title, one.getAttribute('aria-label') ?? ''])].join('\\n')"""


def check_window(results, page, folder, demo):
    report(page, folder, demo, "--no-symbols")
    said = page.run(SAID).lower()
    results.check("a report of the whole trace says so", said.count("whole trace") >= 6 and "whole window" not in said, said.count("whole trace"))
    report(page, folder, demo, "--no-symbols", "--from", "3s", "--to", "11s")
    texts = []
    for step in ("0", "showAllGroupings()", "select(10, 40)", "update({ selection: null, search: 'battery' })", "openStack()"):
        page.run(
            "globalThis.showAllGroupings = () => { byId('table-grouping').value = 'thread'; byId('table-grouping').dispatchEvent(new Event('change')); };"
            "globalThis.openStack = () => { update({ search: '' }); showStack(rows.find((row) => row.stack >= 0 && row.types[0] > 0)); }"
        )
        page.run(step)
        page.come_to_rest()
        texts.append(page.run(SAID))
    wrong = [line for text in texts for line in text.split("\n") if "whole trace" in line.lower() or "during the trace" in line.lower()]
    results.equal("a report of a window never speaks of the whole trace", wrong, [])
    named = [line for line in set(texts[0].split("\n")) if "the window from 3.000 s to 11.000 s" in line.lower()]
    results.check("and names the window in its title, filters and sections", len(named) >= 6, *named)


# --- what sections ignore -----------------------------------------------------------------------

# What a section shows, without what it says of choices.
SECTIONS = """Object.fromEntries([...document.querySelectorAll('main section')].map((section) => {
  const copy = section.cloneNode(true);
  for (const one of copy.querySelectorAll('[data-ignores], .hint, #flame-details, .columns-hidden, #legend, .brush, .handle, .cursor, .tools')) one.remove();
  return [section.id, copy.innerHTML];
}))"""
TOLD = """Object.fromEntries([...document.querySelectorAll('main section')].map((section) =>
  [section.id, [...section.querySelectorAll('.hint')].map((one) => one.textContent).join(' ')]))"""
CHOICES = {
    "the selected window": "select(40, 90)",
    "the chosen heap": "update({ group: groups.filter((one) => one.kind === 'heap').at(-1) })",
    "the zoom of the flame graph": "zoomFlame([...flame.bars.keys()].filter((node) => flame.values[node] < flame.values[0]).at(-1))",
    "the search": "byId('search').value = 'icon'; update({ search: 'icon' })",
}
NOTHING = "byId('search').value = ''; update({ selection: null, group: null, node: null, search: '' })"


def check_ignored(results, page, folder, demo, symbols):
    """What a section shows is the same if and only if it says that the choice does not change it."""
    report(page, folder, demo, "--symbols", symbols, "--from", "3s", "--to", "11s")
    page.run(NOTHING)
    page.come_to_rest()
    before, quiet = page.run(SECTIONS), page.run(TOLD)
    results.check("without a choice nothing is said of choices", not [text for text in quiet.values() if "not change" in text], quiet)
    for name, step in CHOICES.items():
        page.run(step)
        page.come_to_rest()
        after, told = page.run(SECTIONS), page.run(TOLD)
        ignoring = {section for section in before if before[section] == after[section]}
        saying = {section for section, text in told.items() if "not change what is shown here" in text and name in text.lower()}
        results.equal(f"sections that ignore {name} say so, and no others", sorted(saying), sorted(ignoring))
        page.run(NOTHING)
        page.come_to_rest()


def check_zoom_of_frees(results, page, folder, fixed):
    report(page, folder, fixed, "--no-symbols")
    page.run("byId('flame-metric').value = FREED_BY; byId('flame-metric').dispatchEvent(new Event('change')); select(20, 60)")
    said = page.run("byId('flame-frees-hint').textContent")
    results.check("frees in the flame graph ignore the window and say so", "The selected window does not change" in said, said)
    page.run("update({ selection: null }); zoomFlame(flameChildren(flameChildren(0)[0])[0])")
    page.come_to_rest()
    told = page.run(TOLD)
    saying = sorted(section for section, text in told.items() if "The zoom of the flame graph does not change" in text)
    wanted = sorted(["overview", "timeline", "suspects", "table", "spikes", "frees", "churn", "map", "histograms", "modules", "diagnostics"])
    results.equal("a zoom into stacks that freed narrows only the flame graph, and the others say so", saying, wanted)


# --- the command below a stack ------------------------------------------------------------------

OPEN = "(() => { showStack(rows.filter((row) => %s && row.stack >= 0).sort((a, b) => outstandingSize(b.types) - outstandingSize(a.types))[0]); })()"
COMMAND = "document.querySelector('.blocks-text p').textContent"


def listed(command, folder):
    """What a shell that reads the command prints."""
    line = "etlheap() { " + shlex.quote(ETLHEAP) + ' "$@" --format json; }; ' + command
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, check=False)
    return json.loads(done.stdout)["rows"] if done.returncode == 0 else done.stderr.decode()


def check_command(results, page, folder, name, trace, options, row="row.group.kind === 'heap'"):
    report(page, folder, trace, *options)
    page.run(OPEN % row)
    page.come_to_rest()
    text = page.run(COMMAND)
    command = text[text.index("etlheap ") :] if "etlheap " in text else ""
    shown = page.run("[...document.querySelectorAll('table.blocks tbody th')].map((one) => one.textContent)")
    whole = page.run("(() => { const row = table.nodes.find((one) => table.focus === one.node.id).node.row; return row.types[0] + row.types[2] + row.types[4] + row.types[6]; })()")
    found = listed(command, folder)
    addresses = [one["address"] for one in found] if isinstance(found, list) else []
    results.check(f"{name}: the command below a stack finds its blocks", addresses and set(shown) <= set(addresses) and len(addresses) >= whole,
                  command, found if isinstance(found, str) else len(found), len(shown), whole)
    return command, found


def check_commands(results, page, folder, demo, symbols):
    name = "demo"
    command, found = check_command(results, page, folder, f"{name} with symbols", demo, ["--symbols", symbols])
    results.check("it names functions, so it has the symbol path", "History::append" in command and "--symbols" in command, command)
    command, found = check_command(results, page, folder, f"{name} in a window", demo, ["--symbols", symbols, "--from", "3s", "--to", "11s"])
    results.check("it lists that window", found and all(one["alloc_time_ns"] < 11 * 10**9 for one in found), command)
    workload = make_trace(folder, "workload")
    command, found = check_command(results, page, folder, "processes that end free their memory", workload, ["--no-symbols", "--at-exit", "freed"],
                                   "row.group.kind === 'heap' && (row.blocks?.length ?? 0) < row.types[0] + row.types[2]")
    results.check("the command says so, too", "--at-exit freed" in command, command)
    hostile = os.path.join(folder, "a $(touch by-file)'.etl")
    lines = "module \\Device\\HarddiskVolume3\\a$(touch${IFS}by-name)`touch\u00a0x`'\"b.dll 7ff600000000 10000 1\n"
    blocks = "".join(f"alloc {100 + i} 7ff600001234 7ff600002345\n" for i in range(60))
    subprocess.run([MAKE_SYMBOL_TRACE, hostile], input=(lines + blocks).encode("latin-1"), check=True)
    before = set(os.listdir(folder))
    command, _ = check_command(results, page, folder, "names that a shell might run", hostile, ["--no-symbols"])
    results.equal("they run nothing", set(os.listdir(folder)) - before, set())
    patterns = page.run("""['kernel32.dll!BaseThreadInitThunk+0x14', 'a.dll!f<\\u2026>', 'a.dll!operator+'].map((text) =>
      framePattern({ module: report.modules.push(text.split('!')[0]) - 1, functionName: text.split('!')[1] }))""")
    results.equal("names of frames are as the program knows them", patterns, ["kernel32.dll!BaseThreadInitThunk", "a.dll!f<*>", "a.dll!operator+"])
    secret = "SRV*" + folder + "/cache*http://me:s3cret@127.0.0.1:9/s"
    report(page, folder, demo, "--symbols", secret, "--offline")
    page.run(OPEN % "row.group.kind === 'heap'")
    said = [page.run("document.documentElement.outerHTML.includes('s3cret')"), page.run("byId('table-hint').textContent"), page.run(COMMAND)]
    results.check("a login is in no page, which says so once", not said[0] and "lack the login" in said[1] and "127.0.0.1:9" in said[2], said)
    quoted = page.run("""(() => { const before = IS_WINDOWS; return ['a b', "it's", 'a$(x)', 'plain.etl', ''].map(shellWord); })()""")
    results.equal("words are quoted as a shell reads them", [shlex.split(word)[0] if shlex.split(word) else "" for word in quoted], ["a b", "it's", "a$(x)", "plain.etl", ""])


# --- suspects -----------------------------------------------------------------------------------


def deep_trace(folder):
    """A leak whose stack is deeper than a page once had room for."""
    path = os.path.join(folder, "deep.etl")
    frames = " ".join(f"{0x7FF600001000 + 0x20 * depth:x}" for depth in range(60))
    lines = "module \\Device\\HarddiskVolume3\\deep.exe 7ff600000000 10000 1\n"
    subprocess.run([MAKE_SYMBOL_TRACE, path], input=(lines + f"alloc 4096 {frames}\n" * 400).encode(), check=True)
    return path


def check_suspects(results, page, folder, demo, symbols):
    report(page, folder, demo, "--symbols", symbols)
    document = run_json("report", demo, "--suspects", "--symbols", symbols, "--kind", "heap", "--group-by", "kind,process,stack")
    depths = [len(document["stacks"][row["stack"]]) for row in document["rows"]]
    page.run("byId('search').value = 'nothing'; update({ search: 'nothing' }); select(3, 5)")
    for number, row in enumerate(document["rows"]):
        line = document["frames"][document["stacks"][row["stack"]][0]]["line"]
        page.run(f"document.querySelectorAll('#suspect-rows button.link')[{number}].click()")
        page.come_to_rest()
        page.until("((top) => top >= 0 && top < 900)(document.activeElement.getBoundingClientRect().top)")  # the page scrolls
        got = page.run("(() => { const row = document.activeElement; return [row.getAttribute('aria-expanded'), row.querySelector('th').textContent,"
                       " row.nextElementSibling.querySelector('li')?.textContent, row.nextElementSibling.querySelectorAll('li').length, row.getBoundingClientRect().top]; })()")
        good = got[0] == "true" and "History::append" in got[1] and got[2].endswith(f":{line}") and got[3] == depths[number] and 0 <= got[4] < 900
        results.check(f"a click on suspect {number + 1} opens its own stack", good, got, line)
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)
    page.run("document.querySelector('[data-csv=suspects]').click()")
    lines = saved(folder, "demo-heap-suspects.csv")
    results.equal("the CSV file has whole stacks", [line[3].count(";") + 1 for line in lines[1:]], depths)


def check_deep_suspects(results, page, folder):
    """Suspects of a page made by hand, as no demo's stack is so deep."""
    trace = deep_trace(folder)
    report(page, folder, trace, "--no-symbols")
    document = run_json("report", trace, "--suspects", "--no-symbols", "--group-by", "kind,process,stack")
    depths = [len(document["stacks"][row["stack"]]) for row in document["rows"]]
    results.check("there is a suspect with a deep stack", max(depths, default=0) == 60, depths)
    shown = page.run("[...document.querySelectorAll('#suspect-rows details')].map((one) => one.querySelectorAll('div').length + 1)")
    results.equal("the page has all frames of suspects", shown, depths)
    copy_by(page, "[data-copy=suspects]")
    text = clipboard(page)
    results.check("and so has what is copied", text.count("deep.exe") == sum(depths), text.count("deep.exe"), depths)


# --- arrows -------------------------------------------------------------------------------------

# Names behind the arrows of each row, and the frames of its stack below the innermost one.
ARROWS = """[...tellApart(rows).entries()].map(([row, text]) => [text.split('\\u2190').map((one) => one.trim()),
  row.stack < 0 ? [] : [...stacks[row.stack]].reverse().map((frame) => [labels[labelOf[frame]].text, frameSource(frame)])])"""


def follows(parts, frames):
    """Are these callers, in the order of the stack, each named once? The first part is a line of the
    innermost frame, or empty."""
    if parts[0] and (not frames or parts[0].split(" (")[0] != frames[0][1].strip()):
        return False
    at = 1
    for part in parts[1:]:
        if part == "\u2026":
            continue
        name = part.split(" (")[0] if part.endswith(")") and " of " in part else part
        while at < len(frames) and name not in (frames[at][0], "".join(frames[at])):
            at += 1
        if at == len(frames):
            return part.startswith("start of the thread")
        at += 1
    return True


def check_arrows(results, page, folder, demo, symbols):
    for name, trace, options in (("demo", demo, ["--symbols", symbols]), ("workload", make_trace(folder, "workload"), ["--no-symbols"])):
        report(page, folder, trace, *options)
        told = page.run(ARROWS)
        wrong = [(parts, frames[:4]) for parts, frames in told if parts != [""] and not follows(parts, frames)]
        results.check(f"{name}: arrows of {len(told)} rows lead to callers", len(told) > 20 and not wrong, *wrong[:4])
    report(page, folder, demo, "--symbols", symbols)
    shown = page.run("[...document.querySelectorAll('#rows tr.level-5 .caller')].map((one) => one.textContent)")
    wanted = [f"C:\\src\\BatteryMeter\\history.cpp:{line} \u2190 BatteryMeter.exe!Monitor::on_timer" for line in (41, 45)]
    results.equal("two lines of one function are told apart by the line, without an arrow", sorted(shown), wanted)


# --- comparisons --------------------------------------------------------------------------------


def check_diff(results, page, folder, demo):
    longer, workload = make_trace(folder, "battery-meter"), make_trace(folder, "workload")
    open_page(page, folder, "diff", demo, longer, "--no-symbols")
    document = run_json("diff", demo, longer, "--no-symbols")
    grown = {total["kind"]: total["delta_outstanding_size"] for total in document["totals"]}
    results.check("more shrank than grew", max(-size for size in grown.values()) > max(grown.values()) > 0, grown)
    most = max(document["rows"], key=lambda row: row["delta_outstanding_size"])["kind"]
    results.equal("a comparison begins with the kind whose row grew most", page.run("[state.kind, byId('kind').value]"), [most, most])
    first = page.run("Number(document.querySelector('#changes tbody tr td:nth-child(2)').dataset.value)")
    results.check("its first row grew", first > 0, first)
    results.equal("nothing was lost, and nothing is said of losses", page.run("document.querySelectorAll('.notice.bad').length"), 0)
    for pair, names in (((demo, workload), ["The new side"]), ((workload, demo), ["The base"])):
        open_page(page, folder, "diff", *pair, "--no-symbols")
        document = run_json("diff", *pair, "--no-symbols")
        notices = page.run("[...document.querySelectorAll('.notice.bad')].map((one) => one.textContent)")
        lost = [one for side in ("base", "new") for one in document[side]["diagnostics"] if one["severity"] in ("loss", "damage")]
        results.check("a side that lost events is named", len(notices) == 1 and notices[0].startswith(names[0]), notices)
        results.check("with what it lost, and advice", lost and all(one["name"] in notices[0] and one["advice"] in notices[0] for one in lost), notices)


def use(results, page, folder):
    demo = make_trace(folder, "demo")
    symbols = os.path.join(folder, "symbols")
    os.mkdir(symbols)
    subprocess.run([MAKE_SYMBOLS, symbols], check=True)
    check_window(results, page, folder, demo)
    check_ignored(results, page, folder, demo, symbols)
    check_zoom_of_frees(results, page, folder, make_trace(folder, "battery-meter-fixed"))
    check_commands(results, page, folder, demo, symbols)
    check_suspects(results, page, folder, demo, symbols)
    check_deep_suspects(results, page, folder)
    check_arrows(results, page, folder, demo, symbols)
    check_diff(results, page, folder, demo)
    results.equal("no errors or warnings", page.problems, [])


if __name__ == "__main__":
    run_in_browser(use)
