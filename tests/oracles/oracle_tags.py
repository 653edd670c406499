#!/usr/bin/env python3
"""Compares stack tags with those that the rules give to the stacks of a report.

The tags files are made and read here with Python's own XML library. What `etlheap report
--no-cull --group-by stack` prints, with its functions and inlined calls, is tagged by the
rules of etlheap_tags.h written down again in Python, and summed; `--group-by tag` must
say the same, of the trace and of its store, in all formats.
"""

import csv
import functools
import io
import json
import os
import random
import re
import xml.etree.ElementTree as ET

import oracle_symbols
from oracle_pdb import WORK
from oracle_support import Results

STACKS = 300
ROUNDS = 9


@functools.lru_cache(maxsize=None)
def fits(pattern, text):
    """A whole match with * and ?, without regard to case; no pattern, or *, matches anything."""
    if pattern in (None, "*"):
        return True
    parts = {"*": ".*", "?": "."}
    return text is not None and re.fullmatch(
        "".join(parts.get(c, re.escape(c)) for c in pattern), text, re.IGNORECASE | re.DOTALL) is not None


class Tag:
    """A Tag or HintTag element."""

    def __init__(self, element, parents, order):
        self.path = "\\".join(name for name in [*parents, element.get("Name")] if name)
        self.rank = (int(element.get("Priority", "0")), len(parents), -order)
        self.priority = self.rank[0]
        self.hint = element.get("HintOperator") if element.tag == "HintTag" else None
        self.with_function = element.get("OnlyShowModule", "true").lower() == "false"
        self.entries = [(e.get("Module"), e.get("Method")) for e in element.findall("Entrypoint")]

    def matches(self, frame):
        return any(fits(module, frame["module"]) and fits(method, frame["symbol"]) for module, method in self.entries)


def tags_of(element, parents=(), found=None):
    """All tags of a file that have a name, in its order."""
    found = [] if found is None else found
    tag = Tag(element, parents, len(found))
    if tag.path:
        found.append(tag)
    for child in element:
        if child.tag in ("Tag", "HintTag"):
            tags_of(child, (*parents, element.get("Name")), found)
    return found


def tag_of(frames, tags):
    """The tag of a stack, innermost frame first."""
    best, place = None, None
    for at, frame in enumerate(frames):
        fitting = [tag for tag in tags if tag.matches(frame)]
        tag = max(fitting, key=lambda tag: tag.rank, default=None)
        if tag and (best is None or tag.priority > best.priority):
            best, place = tag, at
    if best is None:
        return "Other"
    beside = place + {"Callee": -1, "Caller": 1}.get(best.hint, len(frames))
    if not 0 <= beside < len(frames):
        return best.path
    text = best.path + "\\" + (frames[beside]["module"] or "?")
    return text + "\\" + frames[beside]["symbol"] if best.with_function and frames[beside]["symbol"] else text


def random_element(choose, functions, depth):
    """A tag and, mostly, some more inside."""
    is_hint = choose.random() < 0.3
    element = ET.Element("HintTag" if is_hint else "Tag", Name=choose.choice(["", "A", "B & <C>", "Größe", 'a"b']))
    if choose.random() < 0.4:
        element.set("Priority", str(choose.randint(-2, 2)))
    if is_hint:
        element.set("HintOperator", choose.choice(["Callee", "Caller"]))
        if choose.random() < 0.6:
            element.set("OnlyShowModule", choose.choice(["true", "false"]))
    for _ in range(choose.randint(0, 3)):
        name = choose.choice(functions)
        methods = [name, name[:3] + "*", "*" + name[-4:], name.upper(), name[1:], "*::*"]
        methods += [None, "*"] if depth == 3 else []
        modules = [None, "*", "inline-x64.*", "INLINE*", "alloc-x64.exe", "*.exe", "inline-x64"]
        entry = ET.SubElement(element, "Entrypoint")
        for key, value in (("Module", choose.choice(modules)), ("Method", choose.choice(methods))):
            if value is not None:
                entry.set(key, value)
    for _ in range(choose.randint(0, 3) if depth < 3 else 0):
        element.append(random_element(choose, functions, depth + 1))
    return element


def make_stacks(choose, programs):
    """Random stacks of calls in both programs and outside."""
    places = [program.at(rva + k) for program in programs
              for rva in oracle_symbols.functions_of(program).values() for k in range(4, 20, 5)]
    places += [0x10, 0x7FFFFFFF0000]
    stacks = [oracle_symbols.memory(choose.choice(["alloc", "commit"]), 0x10 * (i + 1),
                                    choose.choices(places, k=choose.randint(1, 7))) for i in range(STACKS)]
    return [*stacks, oracle_symbols.memory("alloc", 0x7, [])]


def sums_of_stacks(document, tags):
    """{tag: outstanding size} by the rules."""
    sums = {}
    for row in document["rows"]:
        tag = None
        if row["stack"] is not None:
            tag = tag_of([document["frames"][i] for i in document["stacks"][row["stack"]]], tags)
        sums[tag] = sums.get(tag, 0) + row["outstanding_size"]
    return sums


def sums_of_tags(document):
    sums = {}
    for row in document["rows"]:
        sums[row["tag"]] = sums.get(row["tag"], 0) + row["outstanding_size"]
    return sums


def check_formats(results, name, arguments, document):
    """CSV and text say what JSON says."""
    table = csv.DictReader(io.StringIO(oracle_symbols.etlheap("report", *arguments, "--format", "csv")))
    sums = {}
    for row in table:
        tag = row["tag"] or None
        sums[tag] = sums.get(tag, 0) + int(row["outstanding_size"])
    results.equal_maps(f"{name} as CSV", sums, sums_of_tags(document))
    text = oracle_symbols.etlheap("report", *arguments, "--top", "1000", environment={"COLUMNS": "400"})
    missing = [tag for tag in sums_of_tags(document) if (tag or "[no stack recorded]") not in text]
    results.equal(f"{name} as text", missing, [])


def check_round(results, number, trace, functions, symbol_options):
    choose = random.Random(number)
    # Of several files the last has the first say between equals.
    files = []
    for i in range(1 + number % 2):
        element = ET.Element("Tag", Name="")
        element.extend(random_element(choose, functions, 1) for _ in range(6))
        files.append(os.path.join(WORK, f"{number}-{i}.stacktags"))
        ET.ElementTree(element).write(files[-1], encoding=choose.choice(["utf-8", "utf-16", "iso-8859-1"]),
                                      xml_declaration=True)
    tags = [tag for name in reversed(files) for tag in tags_of(ET.parse(name).getroot())]
    for order, tag in enumerate(tags):
        tag.rank = (*tag.rank[:2], -order)
    store = os.path.splitext(trace)[0] + ".ehs"
    plain = ["--format", "json", *symbol_options, "--no-cull", "--group-by", "stack"]
    wanted = sums_of_stacks(json.loads(oracle_symbols.etlheap("report", trace, *plain)), tags)
    options = [part for name in files for part in ("--stack-tags", name)] + ["--group-by", "tag", *symbol_options]
    said = [oracle_symbols.etlheap("report", trace, *options, "--format", "json", "-j", j) for j in (1, 2, 7)]
    document = json.loads(said[0])
    name = f"{len(tags)} tags give {len(wanted)} sums {'with' if symbol_options[0] == '--symbols' else 'without'} symbols"
    results.equal_maps(name, sums_of_tags(document), wanted)
    results.check(f"{name}, whatever -j", len(set(said)) == 1)
    of_store = json.loads(oracle_symbols.etlheap("report", store, *options, "--format", "json"))
    results.check(f"{name}, of the store", of_store["rows"] == document["rows"])
    if number < 2:
        check_formats(results, name, [trace, *options], document)


def main():
    os.makedirs(WORK, exist_ok=True)
    results = Results()
    programs = [oracle_symbols.made_program(name, source, "x86_64", options, links) for name, source, options, links in (
        ("inline-x64", "sample_inline.cpp", ["-O2"], []),
        ("alloc-x64", "sample_alloc.cpp", ["-O0"], ["/export:get_memory"]))]
    choose = random.Random(1)
    functions = sorted(name for program in programs for name in oracle_symbols.functions_of(program))
    trace = oracle_symbols.make_trace("tags", *[program.lines() for program in programs],
                                      *make_stacks(choose, programs))
    oracle_symbols.etlheap("store", trace, "-o", os.path.splitext(trace)[0] + ".ehs")
    for number in range(ROUNDS):
        symbol_options = ["--no-symbols"] if number % 3 == 2 else ["--symbols", WORK]
        check_round(results, number, trace, functions, symbol_options)
    results.finish()


if __name__ == "__main__":
    main()
