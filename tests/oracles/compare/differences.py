"""What differs between two outputs: its kind, which groups differences, and its first lines.

Kinds name places and not values: `json: rows[].peak_size`, `text: Total # blocks`. Two
runs that differ in the same way are of one kind, whatever their numbers.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest

from compare.decode import decode

NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d[\d,.]*")
PLACES_MAX = 8  # in the name of a kind
PAIRS_MAX = 400  # rows that are matched with their likes
LINE_MAX = 220


@dataclass
class Difference:
    name: str  # the output: json, csv, stderr
    places: list  # where it differs, in words without numbers
    lines: list  # "- old", "+ new"

    @property
    def kind(self):
        more = len(self.places) - PLACES_MAX
        return f"{self.name}: {', '.join(self.places[:PLACES_MAX])}" + (f" and {more} more" if more > 0 else "")


def clip(text):
    return text if len(text) <= LINE_MAX else text[: LINE_MAX - 1] + "…"


def of_status(old, new):
    return Difference("exit status", [f"{old} -> {new}"], [f"- status {old}", f"+ status {new}"])


def of_outputs(name, old, new, read_store=None):
    """old and new differ; either may be None, for no such file. read_store(which) reads a store."""
    if old is None or new is None:
        return Difference(name, ["only new" if old is None else "only old"], [f"{'+' if old is None else '-'} {name}"])
    if read_store:
        was, now = ("json", read_store("old")), ("json", read_store("new"))
    else:
        was, now = decode(name, old), decode(name, new)
    if was == now:
        return Difference(suffix(name), ["other bytes, same content"], around_first_byte(old, new))
    if was[0] != now[0]:
        return Difference(suffix(name), [f"{was[0]} became {now[0]}"], around_first_byte(old, new))
    if was[0] == "text":
        return of_texts(suffix(name), was[1], now[1])
    places = {}
    before, after = was[1], now[1]
    if was[0] == "table":
        before = with_columns_of(before, after, places)
    of_values(before, after, "rows" if was[0] == "rows" else "", places)
    names = sorted(places)
    lines = []
    for place in names[:PLACES_MAX]:
        before, after = places[place]
        lines += [clip(f"- {place}: {shown(before)}"), clip(f"+ {place}: {shown(after)}")]
    return Difference(suffix(name), names, lines)


def with_columns_of(old, new, places):
    """A table whose columns have other names: its rows under the new ones, to be compared."""
    if old["columns"] == new["columns"]:
        return old
    places["columns"] = (old["columns"], new["columns"])
    names = dict(zip(old["columns"], new["columns"]))
    if len(old["columns"]) != len(new["columns"]):
        return {**old, "columns": new["columns"]}
    return {"columns": new["columns"], "rows": [{names[key]: cell for key, cell in row.items()} for row in old["rows"]]}


def suffix(name):
    """The part of an output's name that says what it is."""
    return name.removeprefix("out.")


def around_first_byte(old, new):
    at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, at - 30)
    return [f"{sign} byte {at} of {len(data)}: {data[start:at + 60]!r}" for sign, data in (("-", old), ("+", new))]


def shown(value):
    return "(none)" if value is NOTHING else json.dumps(value, ensure_ascii=False)


# --- texts ----------------------------------------------------------------------------


def of_texts(name, old, new):
    lines = [pair for pair in zip_longest(old.splitlines(), new.splitlines()) if pair[0] != pair[1]]
    if not lines:
        return Difference(name, ["ends of lines"], [])
    before, after = ({shape(line) for line in text.splitlines()} for text in (old, new))
    gone, come = sorted(before - after), sorted(after - before)
    words = [f"- {line[:100]}" for line in gone] + [f"+ {line[:100]}" for line in come]
    words = words or [f"{shape(lines[0][0] or lines[0][1])[:100]} (numbers)"]
    shown_lines = []
    for was, now in lines[:3]:
        shown_lines += [clip(f"- {was}")] * (was is not None) + [clip(f"+ {now}")] * (now is not None)
    return Difference(name, words, shown_lines)


def shape(line):
    return " ".join(NUMBERS.sub("#", line).split())


# --- JSON and rows ------------------------------------------------------------------------

NOTHING = object()


def of_values(old, new, path, places):
    """Notes in places, by path, the first pair of values that differ there."""
    if type(old) is not type(new) or not isinstance(old, (dict, list)):
        if old != new:
            places.setdefault(path, (old, new))
    elif isinstance(old, dict):
        for key in {**old, **new}:
            if old.get(key, NOTHING) != new.get(key, NOTHING):
                of_values(old.get(key, NOTHING), new.get(key, NOTHING), f"{path}.{key}" if path else key, places)
    elif old != new:
        of_lists(old, new, path, places)


def of_lists(old, new, path, places):
    def text(value):
        return json.dumps(value, sort_keys=True, ensure_ascii=False)

    was, now = Counter(map(text, old)), Counter(map(text, new))
    gone, come = list((was - now).elements()), list((now - was).elements())
    if not gone and not come:
        at = next(i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b)
        places.setdefault(f"{path}[] order", (old[at], new[at]))
        return
    gone, come = [json.loads(part) for part in gone], [json.loads(part) for part in come]
    for value in gone[:PAIRS_MAX]:
        other = nearest(value, come)
        if other is None:
            places.setdefault(f"{path}[] only old", (value, NOTHING))
        else:
            come.remove(other)
            of_values(value, other, f"{path}[]", places)
    if come and len(gone) < PAIRS_MAX:
        places.setdefault(f"{path}[] only new", (NOTHING, come[0]))


def nearest(value, others):
    """The one that is most likely the same row: it has at least half of the cells."""
    if not isinstance(value, dict):
        return None
    best, most = None, len(value) / 2
    for other in others[:PAIRS_MAX]:
        same = sum(1 for key, part in value.items() if isinstance(other, dict) and other.get(key, NOTHING) == part)
        if same >= most:
            best, most = other, same + 0.5
    return best


# --- what is accepted -------------------------------------------------------------------


@dataclass
class Acceptance:
    pattern: re.Pattern
    reason: str
    used: int = 0


def read_accepted(path):
    """Lines PATTERN -- REASON; # begins a comment. A line without a reason is an error."""
    accepted = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            pattern, dashes, reason = line.partition(" -- ")
            if not dashes or not reason.strip():
                raise ValueError(f"{path}:{number}: expected PATTERN -- REASON")
            try:
                accepted.append(Acceptance(re.compile(pattern.strip()), reason.strip()))
            except re.error as error:
                raise ValueError(f"{path}:{number}: invalid pattern: {error}") from error
    return accepted


def accept(title, difference, accepted):
    """The acceptances of a difference, one for each of its places; None if one has none.

    A pattern is searched for in `COMMAND LINE > OUTPUT | NAME: PLACE`, place by place, so
    that what is accepted does not hide what differs beside it.
    """
    found = []
    for place in difference.places:
        text = f"{title} | {difference.name}: {place}"
        one = next((one for one in accepted if one.pattern.search(text)), None)
        if one is None:
            return None
        found.append(one)
    for one in found:
        one.used += 1
    return found
