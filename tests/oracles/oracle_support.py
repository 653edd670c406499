"""What the oracles share: running the program, and results as TAP lines.

An oracle compares the program's machine-readable output with a truth that our
code had no part in, and prints one TAP line per comparison.
"""

import json
import os
import pty
import subprocess
import sys
import tempfile
from collections import Counter

ETLHEAP = os.path.abspath(os.environ.get("ETLHEAP", "build/etlheap"))
TRACES = os.environ.get("TRACES", "../shared/traces")
# The folder of an oracle's own files.
WORK = os.environ.get("TEST_TMP") or tempfile.gettempdir()
# The long form of an oracle is for `make check-nightly`.
LONG = os.environ.get("LONG") == "1"
# Of Windows, Wine has some things in name only; what needs them is skipped there.
UNDER_WINE = os.environ.get("PLATFORM") == "windows" and "WINEPREFIX" in os.environ
TIMEOUT_SECONDS = 600


def why_no_terminal():
    """The reason why no terminal can be opened here, or None."""
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError as error:
        return f"no terminal can be opened, as in a system without /dev/pts: {error.args[-1]}"
    return None


class Results:
    """Counts comparisons and prints each as it is made."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def check(self, name, good, *details):
        self.count += 1
        if not good:
            self.failed += 1
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}")
        if not good:
            for detail in details:
                print(f"#   {detail}")

    def skip(self, name, reason):
        """Not compared, and not counted as passed."""
        self.count += 1
        print(f"ok {self.count} # SKIP {name}: {reason}")

    def equal(self, name, got, wanted):
        self.check(name, got == wanted, f"got    {got!r}", f"wanted {wanted!r}")

    def equal_maps(self, name, got, wanted):
        """Compares two dictionaries and shows only where they differ."""
        wrong = [
            f"{key}: got {got.get(key)!r}, wanted {wanted.get(key)!r}"
            for key in sorted(set(got) | set(wanted), key=str)
            if got.get(key) != wanted.get(key)
        ]
        self.check(name, not wrong, *wrong[:12])

    def finish(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)


def skip_all(reason):
    """The whole oracle has nothing to compare with."""
    print(f"skipped: {reason}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)


def traces_folder(*needed):
    """The folder of real traces, or the end of the run."""
    for name in needed:
        path = os.path.normpath(os.path.join(TRACES, name))
        if not os.path.exists(path):
            skip_all(f"{path} is not here; set TRACES to the folder of real traces")
    return TRACES


def run(*arguments):
    """Runs the program; a status other than 0 ends the oracle with what it said."""
    done = subprocess.run(
        [ETLHEAP, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=TIMEOUT_SECONDS,
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise RuntimeError(f"etlheap {' '.join(map(str, arguments))}: status {done.returncode}: {said}")
    return done.stdout


def run_json(*arguments):
    return json.loads(run(*arguments, "--format", "json"))


ALWAYS = -10**30, 10**30


def recorded_part(document, window, kind=None, life=ALWAYS):
    """The part of a window that rates of a row are about: recorded (of all kinds, if it has none), and in which its
    process ran. A process that did not run then has no rows there."""
    spans = [row for row in document["recorded"] if kind in (None, row["kind"]) and row["from_ns"] is not None]
    begin = max([window[0], *([min(row["from_ns"] for row in spans)] if spans else [])])
    end = min([window[1], *([max(row["to_ns"] for row in spans)] if spans else [])])
    begin = min(begin, window[1])
    end = max(begin, end)
    first, last = max(begin, life[0]), min(end, life[1])
    return (first, last) if first < last else (begin, end)


def lives_of(path):
    """{(process, pid): from when to when the processes of that name and id ran}, as `info` lists them."""
    lives = {}
    for process in run_json("info", path)["processes"]:
        key = process["name"], process["pid"]
        first = ALWAYS[0] if process["start_ns"] is None else process["start_ns"]
        last = ALWAYS[1] if process["end_ns"] is None else process["end_ns"]
        old = lives.get(key, (first, last))
        lives[key] = min(first, old[0]), max(last, old[1])
    return lives


def owner_of(key, group_by):
    """The kind of a row, and the name and id of its process, as far as its key has them."""
    at = {word: i + sum(earlier in ("process", "type") for earlier in group_by[:i]) for i, word in enumerate(group_by)}
    return (key[at["kind"]] if "kind" in at else None,
            tuple(key[at["process"]:at["process"] + 2]) if "process" in at else None)


def life_of(lives, owner, options):
    """When a row's process ran. Without a process: when those ran that --process selects by name or id."""
    if owner is not None:
        return lives[owner]
    if "--process" not in options:
        return ALWAYS
    word = options[options.index("--process") + 1].lower()
    selected = [life for (name, pid), life in lives.items() if word in (str(pid), name.lower())]
    return min(first for first, _ in selected), max(last for _, last in selected)


def counts_by(rows, key):
    """Counts of an `info` table; rows of one key are added, so that none can hide."""
    counts = Counter()
    for row in rows:
        counts[row[key]] += row["count"]
    return dict(counts)


def dump(path, *arguments):
    """The lines of `dump` as dictionaries."""
    text = run("dump", path, *arguments, "--format", "ndjson")
    return [json.loads(line) for line in text.splitlines()]
