#!/usr/bin/env python3
"""Compares what `export --format pprof` writes with `report`.

The message is read twice: here, by the definitions of profile.proto alone, which finds
every stack with all of its values, and references that lead nowhere; and by `go tool
pprof`, whose sums of each sample type, whole and by function, must be the report's. It also
compares two profiles, writes the comparison as a profile, and serves it to a browser.
"""

import gzip
import html
import json
import os
import re
import shutil
import signal
import subprocess
import urllib.request
from collections import defaultdict

import oracle_symbols
from oracle_export import HINT, NO_STACK, WORK, cleaned, export, frame_text, hostile_trace, made_traces
from oracle_support import Results, run, run_json

GO = shutil.which("go")
KINDS = ["heap", "virtualalloc", "extent"]
VALUES = ["inuse_space", "inuse_objects", "alloc_space", "alloc_objects"]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of each field of a message: varints and what has a length."""
    at, out = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        if tag & 7 == 2:
            assert at + value <= len(data), "a field is longer than its message"
            value, at = data[at:at + value], at + value
        else:
            assert tag & 7 == 0, f"wire type {tag & 7}"
        out.append((tag >> 3, value))
    return out


def numbers(data):
    at, out = 0, []
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out


class Profile:
    """A profile with all references followed."""

    def __init__(self, data):
        parts = defaultdict(list)
        for number, value in fields(gzip.decompress(data)):
            parts[number].append(value)
        self.strings = [text.decode("utf-8") for text in parts[6]]
        assert self.strings[0] == "", "string 0 is empty"
        self.types = [tuple(self.strings[dict(fields(part))[i]] for i in (1, 2)) for part in parts[1]]
        functions = {dict(fields(part))[1]: dict(fields(part)) for part in parts[5]}
        self.functions = {key: (self.strings[part[2]], self.strings[part.get(4, 0)]) for key, part in functions.items()}
        self.mappings = {dict(fields(part))[1]: dict(fields(part)) for part in parts[3]}
        self.locations = {}
        for part in parts[4]:
            location = dict(fields(part))
            lines = [dict(fields(value)) for number, value in fields(part) if number == 4]
            names = [(*self.functions[line[1]], line.get(2, 0)) for line in lines]
            self.locations[location[1]] = (location.get(3, 0), location.get(2, 0), names)
        self.samples = [self.sample(part) for part in parts[2]]
        self.default = self.strings[parts[14][0]] if 14 in parts else ""
        self.times = (parts[9], parts[10])

    def sample(self, part):
        parts, labels = {}, {}
        for number, value in fields(part):
            if number == 3:
                label = dict(fields(value))
                labels[self.strings[label[1]]] = self.strings[label[2]] if 2 in label else label.get(3, 0)
            else:  # go writes a list of one number as the number
                parts[number] = [value] if isinstance(value, int) else numbers(value)
        assert len(parts[2]) == len(self.types), "a value for each sample type"
        return [self.locations[i] for i in parts[1]], parts[2], labels


def report_values(trace, *arguments):
    """{(process, pid, type, stack): {sample type: value}} by the report."""
    report = run_json("report", trace, "--group-by", "kind,process,type,stack", *arguments)
    texts = [(cleaned(frame_text(frame)), frame["file"] or "", frame["line"] or 0) for frame in report["frames"]]
    out = defaultdict(lambda: defaultdict(int))
    for row in report["rows"]:
        stack = tuple(texts[i] for i in report["stacks"][row["stack"]]) if row["stack"] is not None else ()
        key = (cleaned(row["process"]), row["pid"], row["type"], stack or ((NO_STACK, "", 0),))
        is_made = row["type"] in ("AIFO", "AIFI")
        values = [row["outstanding_size"], row["outstanding_count"], is_made * row["size"], is_made * row["count"]]
        for name, value in zip(VALUES, values):
            if value:
                out[key][("" if row["kind"] == "heap" else row["kind"] + "_") + name] += value
    return {key: dict(values) for key, values in out.items()}


def check_message(results, trace, label, *arguments):
    profile = Profile(export(trace, "pprof", *arguments))
    wanted = report_values(trace, *arguments)
    got = {}
    for stack, values, labels in profile.samples:
        names = tuple(name for _, _, lines in stack for name in lines)
        key = (labels["process"], labels.get("pid"), labels["type"], names)
        row = got.setdefault(key, {})
        for (name, _), value in zip(profile.types, values, strict=True):
            if value:
                row[name] = row.get(name, 0) + value
    results.equal_maps(f"{label}: {len(wanted)} samples are the report's", got, wanted)
    kinds = arguments[arguments.index("--kind") + 1].split(",") if "--kind" in arguments else KINDS
    names = [("" if kind == "heap" else kind + "_") + value for kind in kinds for value in VALUES]
    results.equal(f"{label}: sample types are those of the kinds asked for", profile.types,
                  [(name, "bytes" if "space" in name else "count") for name in names])
    check_file(results, profile, wanted, label)
    outside = [hex(address) for address, number, _ in profile.locations.values() if number != 0 and not
               profile.mappings[number][2] <= address < profile.mappings[number][3]]
    results.check(f"{label}: code lies inside its mapping", not outside, *outside[:5])
    return profile


def check_file(results, profile, wanted, label):
    """The first mapping, which viewers call the file, is the program with most bytes."""
    sums = defaultdict(int)
    for (process, _, _, _), values in wanted.items():
        sums[process] += values.get(profile.default, 0)
    files = {number: profile.strings[mapping[5]].split("\\")[-1] for number, mapping in profile.mappings.items()}
    known = [size for process, size in sums.items() if process in files.values()]
    if known:
        results.equal(f"{label}: the file is the program with most bytes", sums[files[min(files)]], max(known))


def pprof_command():
    """The tool itself: the program that starts it takes longer than most of what it is asked."""
    if not GO:
        return []
    folder = subprocess.run([GO, "env", "GOTOOLDIR"], capture_output=True, check=True, text=True).stdout.strip()
    tool = os.path.join(folder, "pprof")
    return [tool] if os.path.exists(tool) else [GO, "tool", "pprof"]


PPROF = pprof_command()


def go_pprof(*arguments, commands=""):
    """What `go tool pprof` writes, and what it says."""
    done = subprocess.run([*PPROF, *arguments], input=commands.encode(), capture_output=True, check=False,
                          env={**os.environ, "PPROF_TMPDIR": WORK})
    return done.stdout, done.stderr.decode(errors="replace")


def go_tops(sample_types, *files):
    """(total, {function: value}) of each sample type, of a session that reads the files once."""
    commands = ["unit=B", "nodecount=1000000", "nodefraction=0", "edgefraction=0"]
    for name in sample_types:
        commands += [f"sample_index={name}", "top"]
    text, said = go_pprof(*files, commands="\n".join([*commands, "quit", ""]))
    answers = text.decode().split("Showing nodes accounting for ")[1:]
    if len(answers) != len(sample_types):
        return [(said, {})] * len(sample_types)
    return [read_top(answer) for answer in answers]


def read_top(text):
    total = re.search(r"of (-?\d+)B? total", text)
    flat = {}
    for line in text.split("cum%\n")[-1].removesuffix("(pprof) ").splitlines():
        if line.startswith("(pprof) "):
            break
        cells = line.split(None, 5)
        value = int(cells[0].rstrip("B"))
        if value:
            flat[cells[5].removesuffix(" (inline)")] = value
    return int(total.group(1)) if total else text[:200], flat


def profile_of(name, trace, *arguments):
    path = os.path.join(WORK, f"{name}.pb.gz")
    with open(path, "wb") as file:
        file.write(export(trace, "pprof", *arguments))
    return path


def flat_sums(trace, *arguments):
    """{sample type: {function that allocated: value}} by the report."""
    sums = defaultdict(lambda: defaultdict(int))
    for (_, _, _, stack), values in report_values(trace, *arguments).items():
        for name, value in values.items():
            sums[name][stack[0][0]] += value
    return sums


def check_go(results, trace, label, *arguments):
    path = profile_of("profile", trace, *arguments)
    sums = flat_sums(trace, *arguments)
    for name, (total, flat) in zip(sums, go_tops(list(sums), path), strict=True):
        results.equal(f"{label}: go tool pprof finds {name}", total, sum(sums[name].values()))
        results.equal_maps(f"{label}: and the same by function", flat, dict(sums[name]))


def check_difference(results, label, base, new):
    """base and new are (trace, arguments...); go's total of a comparison is the base's."""
    base_path, new_path = profile_of("base", *base), profile_of("new", *new)
    before, after = flat_sums(*base), flat_sums(*new)
    names = sorted(set(before) | set(after))
    for name, (_, flat) in zip(names, go_tops(names, f"-diff_base={base_path}", new_path), strict=True):
        wanted = {function: after[name][function] - before[name][function]
                  for function in set(before[name]) | set(after[name])}
        results.equal_maps(f"{label}: -diff_base finds {name} by function", flat,
                           {function: value for function, value in wanted.items() if value})
    path = os.path.join(WORK, "difference.pb.gz")
    said = go_pprof("-proto", f"-output={path}", f"-diff_base={base_path}", new_path)[1]
    if not os.path.exists(path):
        results.check(f"{label}: -proto writes the difference", False, said)
        return
    with open(path, "rb") as file:
        difference = Profile(file.read())
    os.remove(path)
    results.equal(f"{label}: -proto writes the difference with the same sample types", difference.types,
                  Profile(export(new[0], "pprof", *new[1:])).types)


def check_browser(results, label, base, new):
    """What the viewer serves: its table, sources of the flame graph, and functions there."""
    base_path, new_path = profile_of("base", *base), profile_of("new", *new)
    server = subprocess.Popen(
        [*PPROF, "-http=localhost:", "-no_browser", f"-diff_base={base_path}", new_path],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, "PPROF_TMPDIR": WORK},
        start_new_session=True)
    try:
        said, address = [], None
        for line in server.stderr:
            said.append(line)
            address = re.search(r"http://\S+", line)
            if address:
                break
        if not address:
            results.check(f"{label}: the viewer serves it", False, *said)
            return
        before, after = (flat_sums(*side)["inuse_space"] for side in (base, new))
        function = max(after, key=lambda name: abs(after[name] - before[name]))
        for page in ("top", "flamegraph", "peek?f=."):
            with urllib.request.urlopen(f"{address.group(0)}/ui/{page}", timeout=60) as answer:
                text = html.unescape(answer.read().decode()).replace(r"\u002b", "+")
            results.check(f"{label}: the viewer serves {page}", function in text, function, text[-1000:])
    finally:
        os.killpg(server.pid, signal.SIGTERM)  # go, and the tool that it started
        server.communicate()


def check_builds(results, trace):
    """Mappings are the modules that the trace tells of, with their builds."""
    profile = Profile(export(trace, "pprof"))
    modules = json.loads(run("symbols", trace, "--format", "json"))["modules"]
    known = {module["expected"].split("/")[-1].lower() for module in modules}
    builds = {profile.strings[mapping.get(6, 0)].lower() for mapping in profile.mappings.values()} - {""}
    results.check(f"{len(builds)} builds are those that symbols are looked for by", builds and builds & known,
                  builds, known)


def check_names(results):
    """Inlined calls are lines of one location, with files and lines."""
    program = oracle_symbols.made_program("inline-x64", "sample_inline.cpp", "x86_64", ["-O2"], [])
    code = [rva + i for rva, size, is_code in program.sections if is_code for i in range(0, size, 3)]
    lines = [program.lines()]
    for number, rva in enumerate(code[:: max(1, len(code) // 150)]):
        lines.append(oracle_symbols.memory("freed" if number % 3 else "alloc", 16 + number,
                                           [program.at(rva), program.at(code[number])]))
    trace = oracle_symbols.make_trace("pprof-names", *lines)
    named = ["--symbols", os.path.dirname(program.pdb)]
    profile = check_message(results, trace, "names", *named)
    results.check("names: some locations have several lines",
                  any(len(names) > 1 and names[-1][2] > 0 for _, _, names in profile.locations.values()))
    if GO:
        check_go(results, trace, "names", *named)


def main():
    results = Results()
    if not GO:
        print(f"skipped: go tool pprof is not here; {HINT}")
    demo, keyed, _ = made_traces()
    hostile, named = hostile_trace()
    for trace, *arguments in ([demo], [keyed], [hostile, *named]):
        check_message(results, trace, os.path.basename(trace), *arguments)
    summary = os.path.join(WORK, "summary.ehs")
    run("store", keyed, "--summary", "-o", summary)
    check_message(results, summary, "a summary")
    check_message(results, keyed, "a window", "--from", "2ms", "--to", "40ms", "--kind", "heap")
    if GO:
        check_go(results, demo, os.path.basename(demo))
        check_go(results, hostile, os.path.basename(hostile), *named)
        early, late = (keyed, "--to", "40ms"), (keyed, "--from", "20ms")
        check_difference(results, "two windows", early, late)
        check_difference(results, "a trace without ranges and one with", (hostile,), (keyed,))
        check_difference(results, "one kind of both", (demo, "--kind", "heap"), (keyed, "--kind", "heap"))
        check_browser(results, "two windows", early, late)
    results.equal("the default is what is in use", Profile(export(demo, "pprof")).default, "inuse_space")
    results.equal("--metric total shows what was allocated",
                  Profile(export(demo, "pprof", "--metric", "total")).default, "alloc_space")
    check_builds(results, demo)
    check_names(results)
    results.finish()


if __name__ == "__main__":
    main()
