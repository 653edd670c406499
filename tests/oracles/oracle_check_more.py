#!/usr/bin/env python3
"""What a failed check tells to do next: the command that shows more, and the frame to cull.

The command of each failure is run by a shell, as it is printed. It must show the stack that the
verdict blames, with the bytes that the verdict has, however the check was asked: with a window,
filters, other culling, symbols of another build, packed inputs, stores, files with spaces and
quotes in their names. A function of a real program that allocates for others must be named by
all formats, and its --cull-frame must put its callers into its place.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import zipfile
import xml.etree.ElementTree

import oracle_symbols
from oracle_check import MAKE_TRACE, Block, attempt, make_trace, path_of, verdict, write_trace
from oracle_support import ETLHEAP, Results, run, run_json

SHOWN, SHOWN_MARKDOWN = 20, 10  # failures of a limit that text and Markdown list
ON_WINDOWS = os.environ.get("PLATFORM") == "windows"  # its shells have other quotes than sh, which runs them under Wine
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "_NT_SYMBOL_PATH"}


def frames_of(frames):
    return None if frames is None else tuple((f["module"], f["symbol"] or f["offset"] or f["address"]) for f in frames)


def stacks_shown(document):
    """{frames: bytes} of the rows of a report or a diff."""
    sums = {}
    for row in document["rows"]:
        index = row["stack"]
        frames = None if index is None else frames_of([document["frames"][i] for i in document["stacks"][index]])
        size = row["outstanding_size"] if "outstanding_size" in row else row["new_outstanding_size"]
        sums[frames] = sums.get(frames, 0) + size
    return sums


def commands_of(text):
    return re.findall(r"^More: (.*)$", text, re.MULTILINE)


def check_command(results, name, command, stack, word):
    """Runs a command as it is printed; `stack` is what the verdict blames."""
    results.equal(f"{name}: it is a {word}", command.split(" ")[:2], ["etlheap", word])
    line = command.replace("etlheap", shlex.quote(ETLHEAP), 1) + " --format json"
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=False, timeout=60, env=ENVIRONMENT)
    said = done.stderr.decode().strip()
    good = done.returncode == 0 and said == ""
    results.check(f"{name}: it runs", good, command, done.returncode, said)
    shown = stacks_shown(json.loads(done.stdout)) if done.returncode == 0 else {}
    wanted = frames_of(stack["frames"])
    results.equal(f"{name}: it shows the stack with the verdict's bytes", shown.get(wanted), stack["outstanding_size"])


def first_of_each(subjects):
    """By function and owner of the largest stack, the first subject: commands do not tell others apart."""
    first = {}
    for subject in subjects:
        stack = subject["stacks"][0]
        frame = next((f for f in stack["frames"] or [] if f["module"] is not None), None)
        function = frame and (frame["module"], frame["symbol"])
        first.setdefault((subject["kind"], stack["process"], subject.get("heap"), function), subject)
    return first


def check_case(results, name, inputs, options, word="report"):
    arguments = [*inputs, *options]
    text = attempt(*arguments)[1].decode()
    document = verdict(*arguments)[1]
    everything = [[s for s in budget["subjects"] if s["verdict"] == "fail"] for budget in document["budgets"]]
    commands = commands_of(text)
    subjects, brief = (first_of_each(s for failed in everything for s in failed[:count]) for count in (SHOWN, SHOWN_MARKDOWN))
    results.check(f"{name}: a command for each failing function, and none twice",
                  len(commands) == len(subjects) > 0 and len(set(commands)) == len(commands), text[:400])
    for number, (command, subject) in enumerate(zip(commands, subjects.values())):
        if number < 3:
            check_command(results, name, command, subject["stacks"][0], word)
    markdown = attempt(*arguments, "--format", "markdown")[1].decode()
    of_function = dict(zip(subjects, commands))
    results.check(f"{name}: Markdown has those of its subjects, too", markdown.count("\nMore: `") == len(brief) and
                  all(of_function[function] in markdown for function in brief), markdown[:300])


def make_inputs():
    """Files of several kinds that hold the demo, and two that are read together."""
    demo = make_trace("more demo.etl")
    parts = [path_of("more kernel.etl"), path_of("more heap.etl")]
    subprocess.run([MAKE_TRACE, "demo", parts[0], "--split", parts[1]], check=True, capture_output=True)
    store, packed, two = path_of("more.ehs"), path_of("more.etl.zip"), path_of("two.etl.zip")
    run("store", demo, "-o", store)
    for path, members in ((packed, [demo]), (two, parts)):
        with zipfile.ZipFile(path, "w") as zipped:
            for member in members:
                zipped.write(member, os.path.basename(member).replace(" ", "-"))
    return demo, parts, store, packed, two


def check_selections(results):
    demo, parts, store, packed, two = make_inputs()
    rows = run_json("allocations", demo, "--type", "AIFO", "--kind", "heap")["rows"]
    thread, heap = rows[-1]["thread"], rows[-1]["heap"]
    listed = path_of("more cull.txt")
    with open(listed, "w", encoding="ascii") as file:
        file.write("kernel32!\n")
    limit = ["--max-outstanding", "heap/stack:1K"]
    for name, options in (
        ("plain", []),
        ("a window", ["--from", "2s", "--to=9.5s"]),
        ("a thread", ["--thread", thread]),
        ("a heap", ["--heap", heap]),
        ("sizes", ["--size", "..5000"]),
        ("life times", ["--lifetime", "1s.."]),
        ("the end of processes", ["--at-exit", "freed", "--to", "15s"]),
        ("no culling", ["--no-cull"]),
        ("a culled module", ["--cull-frame", "ntdll*!"]),
        ("a culled list", ["--cull-list", listed]),
        ("processes", ["--process", "battery*,memorytestapp"]),
        ("a frame", ["--require-frame", "kernel32!"]),
        ("no symbols", ["--no-symbols"]),
    ):
        check_case(results, f"with {name}", [demo], [*limit, *options])
    check_case(results, "heaps", [demo], ["--max-outstanding", "heap/heap:1K"])
    check_case(results, "in total", [demo], ["--max-outstanding", "total:1K"])
    for name, inputs in (("a store", [store]), ("a zip", [packed]), ("a zip of two", [two]), ("two files", parts)):
        check_case(results, f"of {name}", inputs, limit)
    other = path_of("more other.etl")
    subprocess.run([MAKE_TRACE, "heap-exercise", other], check=True, capture_output=True)
    check_case(results, "of two recordings", [demo, other], [*limit, "--together"])
    longer = path_of("more longer.etl")
    subprocess.run([MAKE_TRACE, "battery-meter", longer], check=True, capture_output=True)
    growth = ["--max-growth", "heap/process:1K", "--process", "BatteryMeter.exe", "--baseline"]
    check_case(results, "growth in a window", [longer], [*growth, demo, "--from", "2s", "--to", "30s"], "diff")
    check_case(results, "growth over a store", [longer], [*growth, store, "--size", "..8K"], "diff")
    check_case(results, "growth over a zip", [longer], [*growth, packed, "--no-cull"], "diff")
    subprocess.run([MAKE_TRACE, "battery-meter", parts[0], "--split", parts[1]], check=True, capture_output=True)
    check_case(results, "growth of two files", parts, [*growth, demo])


def check_names(results):
    """Names of files and modules as a shell takes them; what has no stack."""
    stack = (("app.exe", 0x1000), ("lib.dll", 0x1010))
    small = write_trace("more small.etl", [Block("heap", 0x1000, stack)])
    trace = write_trace("more %TMP% it's.etl" if ON_WINDOWS else "more $(x)'s.etl", [Block("heap", 0x8000, stack), Block("virtualalloc", 0x8000, ())])
    check_case(results, "outstanding memory", [trace], ["--max-outstanding", "heap/stack:1K"])
    check_case(results, "growth", [trace], ["--max-growth", "heap/process:1K", "--baseline", small], "diff")
    check_case(results, "memory without a stack", [trace], ["--max-outstanding", "virtualalloc/total:1K"])
    text = attempt(trace, "--max-outstanding", "heap/total:1G")[1].decode()
    results.equal("a pass names no command", commands_of(text), [])


def check_logs(results):
    """diff compares logs of UMDH as a whole, so the growth of one is shown by a report."""
    blocks = "".join(f"400 bytes + 8 at {0x1000 + 64 * i:X} by BackTrace{i + 1:X}\n\t40{i + 1}000\n\n" for i in range(3))
    head = ("// UMDH: version 10.0.1: Logtime 2024-02-29 12:26 - Machine=BOX - PID=77\n// Loaded modules:\n"
            "//     Base Size Module\n//  400000 10000 C:\\app\\app.exe\n//\n\n"
            "*- - - - Start of data for heap @ 1F0000 - - - -\n")
    first = blocks.split("\n\n", maxsplit=1)[0]
    for name, content in (("more-base.txt", first + "\n"), ("more-now.txt", blocks)):
        with open(path_of(name), "w", encoding="ascii") as file:
            file.write(head + content + "*- - - - End of data for heap @ 1F0000 - - - -\n")
    check_case(results, "growth of a log", [path_of("more-now.txt")],
               ["--max-growth", "heap/process:1K", "--baseline", path_of("more-base.txt")])


# --- a program with names -------------------------------------------------------------------


def wrapped_trace(program):
    """One function allocates for more others than a verdict lists stacks."""
    at = {name: [program.at(rva + k) for k in (8, 12)] for name, rva in oracle_symbols.functions_of(program).items()}
    callers = sorted(name for name in at if name.startswith("make<"))[:12]
    stacks = [oracle_symbols.memory("alloc", 0x1000, [at["get_memory"][0], at[name][0], at["entry"][0]]) for name in callers]
    stacks.append(oracle_symbols.memory("alloc", 0x800, [at["entry"][1]]))
    return oracle_symbols.make_trace("wrapped", program.lines(), *stacks), callers


def check_wrapper(results, program, folder):
    trace, callers = wrapped_trace(program)
    arguments = [trace, "--max-outstanding", "heap/stack:1K", "--symbols", folder]
    function = f"{program.name}!get_memory"
    mark = '"' if ON_WINDOWS else "'"
    hint = f"--cull-frame {mark}{function}{mark} lists its callers instead"
    results.equal("the program has twelve callers", len(callers), 12)
    sentence = f"heap: {function} allocates 48.0 KiB of 50.0 KiB for 12 functions that call it"
    text = " ".join(attempt(*arguments)[1].decode().split())
    results.check("text names the wrapper and what to cull", sentence in text and hint in text, text[-600:])
    markdown = attempt(*arguments, "--format", "markdown")[1].decode().replace("\\", "")
    results.check("so does Markdown", sentence in markdown and hint in markdown, markdown[-600:])
    document = verdict(*arguments)[1]
    results.equal("JSON has it in numbers", document["wrappers"], [{
        "kind": "heap", "module": program.name, "symbol": "get_memory", "size": 0xC000, "of_size": 0xC800, "callers": 12}])
    suite = xml.etree.ElementTree.fromstring(attempt(*arguments, "--format", "junit")[1])[0]
    results.check("JUnit says it in what the run printed", sentence in suite.find("system-out").text and
                  hint in suite.find("system-out").text, suite.find("system-out").text)
    # As it is told: the callers stand in the place of the wrapper, and nothing wraps any more.
    again = verdict(*arguments, "--cull-frame", function)[1]
    shown = attempt(*arguments, "--cull-frame", function)[1].decode()
    results.check("text has functions before modules, but in commands",
                  f"make<int> ({program.name})" in shown and not re.search(r"^(?!More: ).*!make<", shown, re.MULTILINE), shown[:600])
    innermost = sorted(s["frames"][0]["symbol"] for s in again["budgets"][0]["subjects"])
    results.equal("with that frame culled the callers are blamed", innermost, sorted([*callers, "entry"]))
    results.equal("and there is no wrapper left", again["wrappers"], [])
    for top in ("1", "5"):
        of_process = verdict(trace, "--max-outstanding", "heap/process:1K", "--symbols", folder, "--top", top)[1]
        results.equal(f"a limit for processes finds it, too, and all callers, with {top} stacks listed",
                      (len(of_process["budgets"][0]["subjects"][0]["stacks"]), of_process["wrappers"]),
                      (int(top), document["wrappers"]))


def check_symbols(results, program, folder):
    """Symbols of the right build, and of another one with --symbols-loose."""
    trace, _ = wrapped_trace(program)
    limit = ["--max-outstanding", "heap/stack:1K"]
    check_case(results, "with symbols", [trace], [*limit, "--symbols", folder])
    check_case(results, "with a wrapper culled", [trace], [*limit, "--symbols", folder, "--cull-frame", f"{program.name}!get_memory"])
    loose = oracle_symbols.make_trace("loose", program.lines(age=program.age + 1), oracle_symbols.memory(
        "alloc", 0x1000, [program.at(oracle_symbols.functions_of(program)["get_memory"] + 8)]))
    options = [*limit, "--symbols", folder, "--symbols-loose", "--offline"]
    check_case(results, "with symbols of another build", [loose], options)
    results.check("its command has the function", "get_memory" in commands_of(attempt(loose, *options)[1].decode())[0])


def main():
    results = Results()
    check_selections(results)
    check_names(results)
    check_logs(results)
    program = oracle_symbols.made_program("alloc-x64", "sample_alloc.cpp", "x86_64", ["-O0"], ["/export:get_memory"])
    folder = path_of("more symbols")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    shutil.copy(program.pdb, folder)
    check_wrapper(results, program, folder)
    check_symbols(results, program, folder)
    results.finish()


if __name__ == "__main__":
    main()
