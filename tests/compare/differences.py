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
    kind: str
    lines: list  # "- old", "+ new"


def clip(text):
    return text if len(text) <= LINE_MAX else text[: LINE_MAX - 1] + "…"


def of_status(old, new):
    return Difference(f"exit status {old} -> {new}", [f"- status {old}", f"+ status {new}"])


def of_outputs(name, old, new, read_store=None):
    """old and new differ; either may be None, for no such file. read_store(which) reads a store."""
    if old is None or new is None:
        return Difference(f"{name}: only {'new' if old is None else 'old'}", [f"{'+' if old is None else '-'} {name}"])
    if read_store and old[:8] != new[:8] or read_store and name.endswith(".ehs"):
        was, now = ("json", read_store("old")), ("json", read_store("new"))
    else:
        was, now = decode(name, old), decode(name, new)
    if was == now:
        sizes = f"{len(old)} and {len(new)} bytes"
        return Difference(f"{suffix(name)}: other bytes, same content", [f"- {sizes}", f"+ first at {first_byte(old, new)}"])
    if was[0] != now[0]:
        return Difference(f"{suffix(name)}: {was[0]} became {now[0]}", [f"- {clip(old[:200].decode('latin-1'))}",
                                                                      f"+ {clip(new[:200].decode('latin-1'))}"])
    if was[0] == "text":
        return of_texts(suffix(name), was[1], now[1])
    places = {}
    of_values(was[1], now[1], "rows" if was[0] == "rows" else "", places)
    names = sorted(places)
    kind = ", ".join(names[:PLACES_MAX]) + (f" and {len(names) - PLACES_MAX} more" if len(names) > PLACES_MAX else "")
    lines = []
    for place in names[:PLACES_MAX]:
        before, after = places[place]
        lines += [clip(f"- {place}: {shown(before)}"), clip(f"+ {place}: {shown(after)}")]
    return Difference(f"{suffix(name)}: {kind}", lines)


def suffix(name):
    """The part of an output's name that says what it is."""
    return name.removeprefix("out.")


def first_byte(old, new):
    return next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def shown(value):
    return "(none)" if value is NOTHING else json.dumps(value, ensure_ascii=False)


# --- texts ----------------------------------------------------------------------------


def of_texts(name, old, new):
    lines = [pair for pair in zip_longest(old.splitlines(), new.splitlines()) if pair[0] != pair[1]]
    if not lines:
        return Difference(f"{name}: ends of lines", [])
    before, after = ({shape(line) for line in text.splitlines()} for text in (old, new))
    gone, come = sorted(before - after), sorted(after - before)
    if gone or come:
        words = f"{(gone or ['(nothing)'])[0][:80]} -> {(come or ['(nothing)'])[0][:80]}"
    else:
        words = f"{shape(lines[0][0] or lines[0][1])[:80]} (numbers)"
    shown_lines = []
    for was, now in lines[:3]:
        shown_lines += [clip(f"- {was}")] * (was is not None) + [clip(f"+ {now}")] * (now is not None)
    return Difference(f"{name}: {words}", shown_lines)


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


def accept(title, accepted):
    """The first acceptance whose pattern is found in the title of a difference."""
    for one in accepted:
        if one.pattern.search(title):
            one.used += 1
            return one
    return None
