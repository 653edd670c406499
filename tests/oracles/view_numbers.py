"""The numbers that a page of `etlheap view` paints, and what they have to be.

A painted number says which command prints it: the element has its exact value (data-value) and its key
in the document (data-measure), and what stands around it has the command line (data-command) and the
place in the document (data-row, data-window and so on). So a number is read off the page, the command
is run, and the value is looked up there, by code of its own:

    "12.4 MiB" ──▶ data-value=13002752 ──▶ etlheap report app.etl ... ──▶ rows[3].outstanding_size
       └── reads as that value, to the digits that are painted

Sums that the page makes itself, such as what is left of a curve, are made here from the same document.
"""

import json
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor

from oracle_support import ETLHEAP

COMMAND_SECONDS = 120
DAMAGED = 4  # exit status of an answer about a damaged trace

# Everything that names a number, if it can be seen.
PAINTED = """(() => {
// Of what the rows that are not shown have: the row above, and those that are shown.
const place = (row) => [row.closest('[data-command]').dataset.command, row.dataset.row ?? null];
const othersOf = (one) => {
  if (one.dataset.rest !== 'rows') return null;
  const level = Number(one.closest('tr').ariaLevel), shown = [];
  let row = one.closest('tr').previousElementSibling;
  for (; row !== null && Number(row.ariaLevel) >= level && !row.matches('.total'); row = row.previousElementSibling)
    if (Number(row.ariaLevel) === level && row.dataset.row !== undefined) shown.push(place(row));
  return { above: place(row), shown };
};
// The rows that a search marks, without those below another one.
const markedOf = (one) => {
  if (one.dataset.rest !== 'marked') return null;
  const marked = [];
  let level = Infinity;
  for (const row of one.closest('section').querySelectorAll('tbody tr[data-id]')) {
    if (Number(row.ariaLevel) > level) continue;
    level = row.matches('.match') ? Number(row.ariaLevel) : Infinity;
    if (level < Infinity) marked.push(place(row));
  }
  return marked;
};
const drawn = () => [...document.querySelectorAll('#flame .bar[role=treeitem]')].map((bar) => [bar.dataset.row ?? null, bar.matches('.above'), bar.matches('[aria-selected=true]')]);
return [...document.querySelectorAll('main [data-measure]')].filter((one) => one.checkVisibility({ visibilityProperty: true })).map((one) => {
  const around = (name) => one.closest(`[data-${name}]`)?.getAttribute(`data-${name}`) ?? null;
  return {
    section: one.closest('section')?.id ?? '', measure: one.dataset.measure, value: one.dataset.value ?? null,
    text: one.matches('.bar[role=treeitem]') ? one.getAttribute('aria-label') : one.textContent,
    command: around('command'), whole: one.closest('section')?.dataset.command ?? null,
    row: around('row'), path: around('rows'), window: around('window'), pin: around('pin'), nodes: around('nodes'), side: around('side'),
    rest: around('rest'), kind: around('kind'), names: around('names'), tree: around('tree'), others: othersOf(one), marked: markedOf(one),
    process: one.closest('section')?.querySelector('[data-process]')?.dataset.process ?? null,
    memory: one.closest('.memory') === null ? null : one.closest('p').textContent,
    isOther: one.closest('.legend')?.contains(one) && one.closest('.key')?.querySelector('.colour-rest') !== null,
    bars: one.closest('.flame-told') === null ? null : drawn(), search: document.getElementById('search').value.trim(),
  };
});
})()"""

# Sizes in text that names no number, but for the axes of pictures, names of classes of sizes, and what
# only the pointer shows.
UNTOLD = """(() => {
  const found = [], walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node !== null; node = walk.nextNode()) {
    const one = node.parentElement;
    if (!/\\d (B|KiB|MiB|GiB)\\b/.test(node.data) || one.closest('[data-measure], svg, .bar') || !one.checkVisibility()) continue;
    found.push([one.closest('section')?.id ?? '', one.closest('[class]')?.className ?? '', node.data]);
  }
  return found;
})()"""


class Commands:
    """Runs the commands that a page shows, each once."""

    def __init__(self, folder):
        self.folder = folder
        self.documents = {}

    def words(self, command):
        words = shlex.split(command)
        if words[0] != "etlheap":
            raise ValueError(f"not a command of etlheap: {command}")
        return [ETLHEAP, *words[1:]]

    def bytes_of(self, command, *more):
        done = subprocess.run([*self.words(command), *more], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=COMMAND_SECONDS, check=False)
        if done.returncode not in (0, DAMAGED):
            raise RuntimeError(f"{command}: status {done.returncode}: {done.stderr.decode()}")
        return done.stdout

    def run_all(self, commands):
        """Those that were not run yet, two at a time."""
        new = [command for command in dict.fromkeys(commands) if command not in self.documents]
        with ThreadPoolExecutor(2) as pool:
            for command, data in zip(new, pool.map(lambda one: self.bytes_of(one, "--format", "json"), new)):
                self.documents[command] = json.loads(data)

    def document(self, command):
        self.run_all([command])
        return self.documents[command]


def option_of(command, name):
    """The last value of an option of a command line, or None."""
    words, found = shlex.split(command), None
    for i, word in enumerate(words):
        if word == f"--{name}" and i + 1 < len(words):
            found = words[i + 1]
        elif word.startswith(f"--{name}="):
            found = word.split("=", 1)[1]
    return found


def of_kind(rows, command):
    """The row of the kind that a command is about."""
    kind = option_of(command, "kind")
    return next((row for row in rows if row["kind"] == kind), {})


def at_path(document, path):
    """The value at "growth.others.1", or None."""
    for word in path.split("."):
        document = (document[int(word)] if int(word) < len(document) else None) if isinstance(document, list) else document.get(word)
        if document is None:
            return None
    return document


def measure_of(row, measure):
    """The value of a key; of a sum "a+b", a difference "a-b" and a pair "a/b", which is written as it stands, too."""
    for sign, combine in (("-", lambda a, b: a - b), ("+", lambda a, b: a + b), ("/", lambda a, b: f"{a}/{b}")):
        if sign in measure:
            return combine(*(at_path(row, word) for word in measure.split(sign)))
    return at_path(row, measure)


# --- where the number of each part is in its document ------------------------------------------------


def depths_of(nodes):
    depths = []
    for node in nodes:
        depths.append(0 if node["parent"] is None else depths[node["parent"]] + 1)
    return depths


def focus_value(number, document):
    measure, side = number["measure"], number["side"]
    whole = of_kind(document["sums"], number["command"]).get(measure)
    if side is None:
        return whole
    nodes = document[side]
    if number["nodes"] is not None:
        return sum(nodes[int(at)][measure] for at in number["nodes"].split(","))
    depths = depths_of(nodes)
    own = sum(node["exclusive"][measure] for node, depth in zip(nodes, depths) if depth == 1)
    below = sum(node[measure] for node, depth in zip(nodes, depths) if depth == 2)
    return own if number["rest"] == "own" else whole - own - below


def frame_text(document, node):
    """module!function, as text output has it; of a node without a frame, what it groups."""
    if node.get("frame") is None:
        if node["parent"] is not None:
            return "[no stack]"
        return (node["process"] or "unknown process") + (f" ({node['pid']})" if node["pid"] is not None else "")
    frame = document["frames"][node["frame"]]
    if frame["symbol"] is not None:
        return frame["symbol"] if frame["module"] is None else f"{frame['module']}!{frame['symbol']}"
    return f"{frame['module']}+{frame['offset']}" if frame["module"] is not None else frame["address"]


def flame_weights(nodes, measure):
    """Shares of the width: never less than those of the nodes below have together."""
    below = [0] * len(nodes)
    weights = [0] * len(nodes)
    for at in range(len(nodes) - 1, -1, -1):
        weights[at] = max(0, nodes[at][measure], below[at])
        if nodes[at]["parent"] is not None:
            below[nodes[at]["parent"]] += weights[at]
    return weights


def flame_found(number, document):
    """The sum of the nodes whose text has the words of the search, without those below another one."""
    nodes, words = document["nodes"], number["search"].lower()
    is_in = [False] * len(nodes)
    total = 0
    for at, node in enumerate(nodes):
        is_below = node["parent"] is not None and is_in[node["parent"]]
        is_in[at] = is_below or words in frame_text(document, node).lower()
        total += node[number["measure"]] if is_in[at] and not is_below else 0
    return total


def flame_undrawn(number, document):
    """Of the nodes that have no bar, though the one above them has: those with a share of the width, or without."""
    nodes, measure = document["nodes"], number["measure"]
    drawn = {None if row is None else int(row) for row, is_above, _ in number["bars"] if not is_above}
    all_drawn = {None if row is None else int(row) for row, _, _ in number["bars"]}
    weights = flame_weights(nodes, measure)
    undrawn = [at for at, node in enumerate(nodes) if node["parent"] in drawn and at not in all_drawn]
    return sum(nodes[at][measure] for at in undrawn if (weights[at] > 0) == (number["rest"] == "narrow"))


def flame_value(number, document):
    measure, nodes = number["measure"], document.get("nodes")
    whole = of_kind(document.get("sums") or document["totals"], number["command"]).get(measure)
    if nodes is None:
        return whole  # of the stacks that a search finds
    if number["rest"] == "cut":
        # What no node has: the whole, without what ends in each node, as far as that is known.
        return whole - sum(node["exclusive"][measure] for node in nodes)
    if number["rest"] == "found":
        return flame_found(number, document)
    if number["rest"] is not None:
        return flame_undrawn(number, document)
    return whole if number["row"] is None else nodes[int(number["row"])][measure]


def difference_value(number, document):
    """Of the rows below a bar of the flame graph of a change: those whose path begins with its names."""
    kind, measure, names = number["kind"], number["measure"], json.loads(number["names"])
    whole = next(total for total in document["totals"] if total["kind"] == kind)[measure]
    rows = [row for row in document["rows"] if row.get("kind", kind) == kind]

    def path(row):
        frames = [frame_text(document, {"frame": frame}) for frame in document["stacks"][row["stack"]]] if row["stack"] is not None else ["[no stack]"]
        name = row["process"] or (f"process {row['pid']}" if row.get("pid") is not None else "unknown process")
        return [name, *(frames if number["tree"] == "callers" else reversed(frames))]

    if names == ["[other rows]"]:
        return whole - sum(row[measure] for row in rows)
    return whole if not names else sum(row[measure] for row in rows if path(row)[: len(names)] == names)


def row_value(documents, command, row, measure):
    document = documents.document(command)
    return of_kind(document["totals"], command)[measure] if row == "totals" else document["rows"][int(row)][measure]


def others_value(number, documents):
    """Of the rows that are not shown: what the row above has, without those that are shown."""
    measure = number["measure"]
    return row_value(documents, *number["others"]["above"], measure) - sum(row_value(documents, *one, measure) for one in number["others"]["shown"])


def memory_value(number, window):
    """Of the system, or of the process that the legend names."""
    process = re.match(r".*\((\d+)\):", number["memory"])
    if process is None:
        return (window["memory"] or {}).get(number["measure"])
    return next((one.get(number["measure"]) for one in window["process_memory"] if one["pid"] == int(process[1])), None)


def curve_value(number, document, documents):
    measure = number["measure"]
    if number["memory"] is not None:
        return memory_value(number, document["windows"][int(number["window"])])
    if number["window"] is not None:
        rows = document["windows"][int(number["window"])]["rows"]
        return measure_of(rows[int(number["row"] or 0)], measure) if int(number["row"] or 0) < len(rows) else 0
    if not number["isOther"]:
        return 0  # a group of earlier steps, of which nothing is outstanding at the end
    total = documents.document(number["whole"])["windows"][-1]["rows"]
    return sum(row[measure] for row in total) - sum(row[measure] for row in document["windows"][-1]["rows"])


def map_value(number, document):
    measure = number["measure"]
    if measure == "at_ns":
        return document["at_ns"]
    if number["pin"] is not None:
        return document["pins"][int(number["pin"])][measure]
    process = document["processes"][int(number["process"])]
    if number["row"] is not None:
        return process["map"][int(number["row"])][measure]
    # Without events that reserve, the sum of what is reserved is 0, and unknown.
    is_known = measure != "reserved_size" or any(row["kind"] in ("virtualalloc", "reserve") for row in document["recorded"])
    return process[measure] if is_known else None


def expected(number, documents):
    """The value that a painted number has to have; None: it is unknown."""
    document = documents.document(number["command"])
    section, measure, row = number["section"], number["measure"], number["row"]
    if section == "difference":
        return difference_value(number, document)
    if section == "runs":
        return measure_of(document, measure)  # a row is a run, and a number one of the totals
    if section == "curve":
        return curve_value(number, document, documents)
    if section == "map":
        return map_value(number, document)
    if section == "focus":
        return focus_value(number, document)
    if section == "flame":
        return flame_value(number, document)
    if number["others"] is not None:
        return others_value(number, documents)
    if number["marked"] is not None:
        return sum(row_value(documents, *one, measure) for one in number["marked"])
    if row == "totals":
        return of_kind(document["totals"], number["command"]).get(measure)
    if section == "overview" and row is None:
        return next((total.get(measure) for total in document["totals"] if total["kind"] == number["kind"]), None)
    if row is None:
        return measure_of(document, measure)
    rows = at_path(document, number["path"] or "rows")
    return measure_of(rows[int(row)] if isinstance(rows, list) else rows, measure)


# --- what is painted ----------------------------------------------------------------------------------

UNITS = {
    "B": 1, "byte": 1, "bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50,
    "ns": 1, "\u00b5s": 10**3, "ms": 10**6, "s": 10**9, "%": 1,
}
SIZE_UNITS, TIME_UNITS = {"B", "byte", "bytes", "KiB", "MiB", "GiB", "TiB", "PiB"}, {"ns", "\u00b5s", "ms", "s"}
TOKEN = re.compile(r"([+\u2212-]?)(\d[\d,]*)(?:\.(\d+))?(?: (B|bytes?|[KMGTP]iB|ns|\u00b5s|ms|s|%)(?!\w))?(/s|/h)?")


def form_of(measure):
    """(units that the number may have, what follows them)."""
    key = [word for word in measure.split(".") if not word.isdigit()][-1].replace("sizes", "size")
    if key.endswith("_per_1000s"):
        return SIZE_UNITS if key.endswith("size_per_1000s") else {None}, "/s"
    if "/" in measure or key.endswith("_millionths"):
        return {"%"}, None
    if key == "alloc_bytes_rate":
        return SIZE_UNITS, "/s"
    if key == "growth_rate":
        return SIZE_UNITS | {None}, ("/s", "/h")
    if key.endswith("_rate"):
        return {None}, "/s"
    if key.endswith("_ns"):
        return TIME_UNITS, None
    # The memory of handles is their number.
    if key.endswith("size"):
        return SIZE_UNITS | {None}, None
    return {None}, None


def reads_as(text, measure, value):
    """Whether a text has the number, in its unit, rounded to digits that are enough: half a percent at most."""
    units, rates = form_of(measure)
    if isinstance(value, str) and "/" in value:
        part, whole = map(int, value.split("/"))
        if whole == 0:
            return text == "\u2013"
        value = 100 * part / whole
    elif measure.endswith("_millionths"):
        value = value / 10**4
    elif measure.endswith("_per_1000s"):
        value = value / 1000
    for sign, digits, decimals, unit, rate in TOKEN.findall(text):
        unit, rate = unit or None, rate or None
        if unit not in units or (rate not in rates if isinstance(rates, tuple) else rate != rates):
            continue
        scale = UNITS.get(unit, 1)
        painted = float(f"{digits.replace(',', '')}.{decimals or 0}") * (-1 if sign in ("\u2212", "-") else 1) * scale
        step = scale / 10 ** len(decimals)
        if unit is None or unit in ("B", "byte", "bytes", "ns"):
            step = 0 if not decimals else step
        is_near = abs(painted - value) <= step * 0.5000001
        is_exact_enough = unit in ("%", "s") or rate is not None and step <= 0.1 or step <= abs(value) * 0.011
        if is_near and is_exact_enough:
            return True
    return False


def is_of_equals(number, documents):
    """Whether another row of the document, equal in what sorts them, has the painted value."""
    command, measure = number["command"], number["measure"]
    sort = (option_of(command, "sort") or "outstanding_size").removeprefix("-")
    document = documents.document(command)
    if number["section"] == "curve" and number["row"] is not None:
        return any(str(row.get(measure)) == number["value"] for row in document["windows"][int(number["window"])]["rows"])
    rows = document.get("rows")
    if number["section"] not in ("table", "overview") or not rows or not (number["row"] or "").isdigit():
        return False
    return any(str(row.get(measure)) == number["value"] for row in rows if row.get(sort) == rows[int(number["row"])].get(sort))


def measure_in(number, documents):
    """The measure, also of what a trend says of the curve of a row."""
    measure = number["measure"]
    return documents.document(number["command"])["measure"] if measure in ("slope", "change") else measure


def wrong_numbers(numbers, documents, is_static=False):
    """What is wrong with numbers that a page paints, as texts. A static page may not know a number, and rows
    that are equal in what sorts them have no order there."""
    documents.run_all([number["command"] for number in numbers if number["command"]])
    wrong = []
    named = [int(number["value"]) for number in numbers if is_static and number["section"] == "curve" and number["kind"] is None
             and number["window"] is not None and number["row"] is not None]
    for number in numbers:
        place = f"{number['section']} {number['measure']} of row {number['row']}: {number['text'][:80]!r}"
        if number["command"] is None:
            wrong.append(f"{place} names no command")
            continue
        try:
            value = expected(number, documents)
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            wrong.append(f"{place} is not in the document ({error!r}): {number['command']}")
            continue
        if is_static and number.get("isOther"):
            # The command lists all groups, and the page has the largest: the others are what is left.
            total = documents.document(number["whole"])["windows"][-1]["rows"]
            value = sum(row[number["measure"]] for row in total) - sum(named)
        if is_static and (number["value"] or "") == "" and not re.search(r"\d", number["text"]):
            continue
        if is_static and str(value) != number["value"] and is_of_equals(number, documents):
            continue
        if ("" if value is None else str(value)) != (number["value"] or ""):
            wrong.append(f"{place} is {number['value']}, the command says {value}: {number['command']}")
        elif value is None and re.search(r"\d", number["text"]):
            wrong.append(f"{place} is unknown, and painted as a number")
        elif value is not None and not reads_as(number["text"], measure_in(number, documents), value):
            wrong.append(f"{place} does not read as {value}")
    return wrong
