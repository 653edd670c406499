#!/usr/bin/env python3
"""Measures the shape of the libraries: rooms, include circles, rules that must stand once.

    rooms.py FILE...     all C files of the tree (make rooms); status 1 if a limit is exceeded

What is counted:

  loops over event columns    functions in engine/ that have a loop and index a column of an
                              ehs_events to read it. The codec (ehs_segment.c) packs and
                              unpacks columns, and is left out; so are assignments to a
                              column, by which a store is written.
  places that decode columns  calls of ehs_segment_read outside of the codec.
  folds of the reader         functions that call log_next(): they see batches, not columns.
                              No limit; each question needs a loop over its rows.
  copies of the type rule     files with a statement that gives a lifetime its type: one that
                              compares alloc_ticks and free_ticks with ends of a window, or
                              one that picks between a type from inside (AI..) and one from
                              outside (AO..). Indices and tests of a type are neither.
  allowed upward includes     lines of layers_upward.txt; `make layers` refuses others.
  include circles             groups of rooms of a library that include each other, directly
                              or in a circle; headers in the library's own folder count as
                              a room. Units (NAME.c with NAME.h) are counted too: their
                              circles lie within a room.
  call circles    .c files of one library that call each other in a circle, by names of functions
                  that are not static. Readers of nested names and types are left out: they
                  follow a grammar, and a grammar is recursive.
  flat .c files, headers      in engine/ itself.
"""

import os
import re
import sys
from collections import Counter, defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = ("parser", "engine", "formats", "cli")
COLUMNS = "ticks|kind|slot|size|address|thread|is_realloc|back|how|is_later"
CODEC = "engine/log/ehs_segment.c"
GRAMMARS = "parser/undecorate/"
CALL_CIRCLES = 9


def without_comments(text):
    """Strings stay, comments become spaces; lines keep their numbers."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return pattern.sub(lambda m: m[0] if m[0][0] in "\"'" else re.sub(r"[^\n]", " ", m[0]), text)


def functions(text):
    """(name, text with its head) of each function; the formatter puts braces in column 0."""
    for match in re.finditer(r"^[A-Za-z_][^;{}]*\)\n\{\n.*?^\}", text, re.S | re.M):
        head = re.sub(r"__attribute__\(\(.*?\)\)", "", match[0].split("\n{\n", 1)[0])
        yield re.search(r"(\w+)\(", head)[1], match[0]


# --- event columns ----------------------------------------------------------------------


def reads_columns(function):
    """Does it index a column of an ehs_events, other than to assign to it?"""
    names = re.findall(r"\behs_events\s*\*?\s*(?:const\s+)?(?:restrict\s+)?(\w+)", function)
    owners = "|".join([re.escape(name) for name in names] + [r"[\w\]\[.>-]*(?:->|\.)events"])
    column = rf"(?:\b|(?<=&))(?:{owners})(?:->|\.)(?:{COLUMNS})\b"
    if re.search(column + r"\s*\[(?:[^\[\]]|\[[^\]]*\])*\](?!\s*=[^=])", function):
        return True
    for alias in re.findall(r"(\w+)\s*=\s*" + column, function):
        if re.search(rf"\b{alias}\s*\[", function):
            return True
    return False


def has_loop(function):
    return re.search(r"\b(?:for|while)\s*\(", function) is not None


# --- the type rule ------------------------------------------------------------------------


def gives_a_type(statement):
    """See the head of this file."""
    ticks = r"(?:\w+(?:->|\.))*(?:alloc|free)_ticks"
    statement = re.sub(rf"{ticks}\s*[<>]=?\s*{ticks}", "", statement)
    if all(re.search(rf"\b{name}\b\s*(?:<|>)|(?<!-)[<>]=?\s*(?:\w+(?:->|\.))*{name}\b", statement)
           for name in ("alloc_ticks", "free_ticks")):
        return True
    picked = re.sub(r"\[\s*ETLHEAP_TYPE_\w+\s*\]|[=!]=\s*ETLHEAP_TYPE_\w+|1u\s*<<\s*ETLHEAP_TYPE_\w+", "", statement)
    return "static_assert" not in statement and "enum" not in statement and \
        re.search(r"ETLHEAP_TYPE_AI", picked) is not None and re.search(r"ETLHEAP_TYPE_AO", picked) is not None


# --- includes -----------------------------------------------------------------------------


def rooms_in_order():
    """{library: its rooms, bottom first}, as layers.awk has them."""
    with open(os.path.join(HERE, "layers.awk"), encoding="utf-8") as file:
        return {library: names.split() for library, names in re.findall(r'^\s*rooms\("(\w+)", "([^"]+)"\)', file.read(), re.M)}


def room_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def includes_of(path, text, files):
    """Headers of the same library that a file includes."""
    library = path.split("/")[0] + "/"
    for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', text, re.M):
        target = name if "/" in name else f"{os.path.dirname(path)}/{name}"
        if target in files and target.startswith(library):
            yield target


def circles(graph):
    """Groups of two and more nodes that reach each other, largest first (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            group = stack[at:]
            del stack[at:]
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found, key=len, reverse=True)


def include_circles(texts):
    """(circles of rooms, circles of units). A .c file in a library's own folder may include
    every room and nobody includes it, so only headers there count."""
    by_room, by_unit = defaultdict(set), defaultdict(set)
    for path, text in texts.items():
        for target in includes_of(path, text, texts):
            here, there = room_of(path), room_of(target)
            if here != there and not (path.endswith(".c") and "/" not in here):
                by_room[here].add(there)
            unit, other = path.rsplit(".", 1)[0], target.rsplit(".", 1)[0]
            if unit != other:
                by_unit[unit].add(other)
    return circles(by_room), circles(by_unit)


def call_circles(texts):
    """Circles of .c files, by calls. A name that two files define belongs to the one for a platform."""
    owner, graph = {}, defaultdict(set)
    sources = {path: text for path, text in texts.items() if path.endswith(".c") and not path.startswith(GRAMMARS)}
    for path, text in sources.items():
        for name, function in functions(text):
            if not function.startswith("static "):
                owner[name] = path
    for path, text in sources.items():
        for name in set(re.findall(r"\b[a-z]\w+(?=\()", text)) & owner.keys():
            if owner[name] != path:
                graph[path].add(owner[name])
    return circles(graph)


# --- the table ------------------------------------------------------------------------------


class Table:
    def __init__(self):
        self.exceeded = False

    def row(self, title, found, limit=None):
        """What was found, by name; more than the limit fails."""
        found = list(found)
        over = limit is not None and len(found) > limit
        self.exceeded |= over
        names = ", ".join(map(str, found[:6])) + (", ..." if len(found) > 6 else "")
        print(f"{title:<30} {len(found):>5}  {'' if limit is None else f'at most {limit}':<10}"
              f"{'  EXCEEDED' if over else ''}{'  ' + names if names else ''}".rstrip())


def upward_includes():
    with open(os.path.join(HERE, "layers_upward.txt"), encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def print_rules(table, texts):
    loops, decodes, folds, rules = [], [], [], []
    for path, text in sorted(texts.items()):
        if not path.startswith("engine/"):
            continue
        for name, function in functions(text):
            if path != CODEC:
                if has_loop(function) and reads_columns(function):
                    loops.append(name)
                decodes += [name] * len(re.findall(r"\behs_segment_read\(", function.split("\n{\n", 1)[1]))
            if name != "log_next" and re.search(r"\blog_next\(", function):
                folds.append(name)
        if any(gives_a_type(statement) for statement in re.split(r";|\n\}", text)):
            rules.append(path)
    table.row("loops over event columns", loops, 1)
    table.row("places that decode columns", decodes, 1)
    table.row("folds of the reader", folds)
    table.row("copies of the type rule", rules, 1)


def main(paths):
    texts = {}
    for path in paths:
        if path.split("/")[0] in LIBRARIES:
            with open(path, encoding="utf-8") as file:
                texts[path] = file.read()
    if not texts:
        print("rooms.py: no files given")
        return 1
    plain = {path: without_comments(text) for path, text in texts.items()}
    table = Table()
    print_rules(table, plain)
    table.row("allowed upward includes", upward_includes(), 0)
    rooms, units = include_circles(plain)
    table.row("include circles of rooms", [" ".join(group) for group in rooms], 0)
    table.row("units in include circles", [unit for group in units for unit in group])
    table.row("units in the largest circle", units[0] if units else [])
    table.row("call circles", [" ".join(group) for group in call_circles(plain)], CALL_CIRCLES)
    table.row("flat .c files in engine/", [path for path in texts if re.fullmatch(r"engine/\w+\.c", path)], 0)
    table.row("flat headers in engine/", [path.split("/")[1] for path in texts if re.fullmatch(r"engine/\w+\.h", path)])

    lines = Counter()
    for path, text in texts.items():
        lines[room_of(path)] += text.count("\n")
    order = rooms_in_order()
    print()
    for library in LIBRARIES:
        listed = [f"{library}/{room}" for room in order[library]]
        for room in [*listed, library]:
            print(f"{room if room != library else library + '/ itself':<30} {lines.pop(room, 0):>5}  lines")
    for room, count in sorted(lines.items()):
        print(f"{room:<30} {count:>5}  lines  EXCEEDED: no room of its library")
        table.exceeded = True
    return 1 if table.exceeded else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
