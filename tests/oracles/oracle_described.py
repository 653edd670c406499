#!/usr/bin/env python3
"""Events that describe themselves, and events that the trace describes: names and values.

Three truths. A second writer (second_writer/described.py) makes events of every type, with
values that are chosen here, in TraceLogging form and with MetaData records, also of 32-bit
programs and with damage; `dump` must show exactly these. PerfView's listings of real traces
name fields of events and their values; those that `dump` calls by the same name must agree.
And real merged traces must be described to the last byte where they describe themselves.
"""

import datetime
import json
import os
import random
import re
import struct
import subprocess
import tempfile
import uuid
from collections import Counter, defaultdict

from oracle_baseline import TOLERANCE_NS, number
from oracle_support import Results, dump, run, run_json, traces_folder
from second_writer import records
from second_writer.container import Clock, QPC, Record, Style, TraceFile
from second_writer.described import (
    BIT_MAP, COUNT_BY, EVENT_INFO, EVENT_MAP_INFO, FIXED_COUNT, LENGTH_BY, METADATA, STRUCT,
    event, event_info, event_map, field, schema, structure, text8, traits,
)

PROVIDER = uuid.UUID("11112222-3333-4444-5555-666677778888")
SID = bytes([1, 2, 0, 0, 0, 0, 0, 5]) + struct.pack("<II", 32, 544)
FILETIME = 132_754_091_757_990_000  # 2021-09-07T...


def filetime_text(value):
    moment = datetime.datetime(1601, 1, 1) + datetime.timedelta(microseconds=value // 10)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value % 10_000_000 * 100:09d}Z"


def counted(data):
    return struct.pack("<H", len(data)) + data


# Types with a value: (in type, TraceLogging's type to show, TDH's, bytes by width, as shown).
# The numbers are those of the SDK's headers.
VALUES = [
    ("text16", 1, 0, 1, lambda w: "Grüße".encode("utf-16-le") + b"\0\0", "Grüße"),
    ("text8", 2, 0, 1, lambda w: b"plain\0", "plain"),
    ("utf8", 2, 35, 35, lambda w: "naïve".encode() + b"\0", "naïve"),
    ("i8", 3, 0, 3, lambda w: b"\xfb", -5),
    ("u8", 4, 0, 4, lambda w: b"\xfb", 251),
    ("i16", 5, 0, 5, lambda w: struct.pack("<h", -300), -300),
    ("u16", 6, 0, 6, lambda w: struct.pack("<H", 65000), 65000),
    ("i32", 7, 0, 7, lambda w: struct.pack("<i", -70000), -70000),
    ("u32", 8, 0, 8, lambda w: struct.pack("<I", 4_000_000_000), 4_000_000_000),
    ("i64", 9, 0, 9, lambda w: struct.pack("<q", -(1 << 60)), -(1 << 60)),
    ("u64", 10, 0, 10, lambda w: struct.pack("<Q", (1 << 64) - 2), (1 << 64) - 2),
    ("float", 11, 0, 11, lambda w: struct.pack("<f", 0.375), 0.375),
    ("double", 12, 0, 12, lambda w: struct.pack("<d", -0.1), -0.1),
    ("large", 12, 0, 12, lambda w: struct.pack("<d", 1e300), 1e300),
    ("nan", 12, 0, 12, lambda w: struct.pack("<d", float("nan")), "nan"),
    ("infinite", 11, 0, 11, lambda w: struct.pack("<f", float("-inf")), "-inf"),
    ("bool32", 13, 0, 13, lambda w: struct.pack("<I", 1), True),
    ("guid", 15, 0, 14, lambda w: PROVIDER.bytes_le, str(PROVIDER)),
    ("pointer", 16, 0, 0, lambda w: (0x7FF00010).to_bytes(w, "little"), "0x7ff00010"),
    ("filetime", 17, 0, 0, lambda w: struct.pack("<Q", FILETIME), filetime_text(FILETIME)),
    ("systemtime", 18, 0, 0, lambda w: struct.pack("<8H", 2021, 9, 4, 9, 14, 59, 35, 7),
     "2021-09-09T14:59:35.007"),
    ("sid", 19, 0, 0, lambda w: SID, "S-1-5-32-544"),
    ("hex32", 20, 0, 18, lambda w: struct.pack("<I", 0xDEAD), "0xdead"),
    ("hex64", 21, 0, 19, lambda w: struct.pack("<Q", 0xBEEF << 40), "0xbeef0000000000"),
    ("counted16", 22, 0, 1, lambda w: counted("zwölf".encode("utf-16-le")), "zwölf"),
    ("counted8", 23, 0, 1, lambda w: counted(b"twelve"), "twelve"),
    ("bool8", 4, 3, 13, lambda w: b"\x01", True),
    ("hex16", 6, 4, 17, lambda w: struct.pack("<H", 0xABC), "0xabc"),
    ("port", 6, 7, 22, lambda w: struct.pack(">H", 8080), 8080),
    ("ipv4", 8, 8, 23, lambda w: bytes([10, 9, 1, 22]), "10.9.1.22"),
    ("hresult", 7, 15, 32, lambda w: struct.pack("<I", 0x80070005), "0x80070005"),
    ("pid", 8, 5, 20, lambda w: struct.pack("<I", 4321), 4321),
]
TRACELOGGING_ONLY = [
    ("binary", 14, 0, lambda w: counted(b"\x01\x02\xff"), "0102ff"),
    ("ipv6", 14, 9, lambda w: counted(bytes(15) + b"\x01"), "0:0:0:0:0:0:0:1"),
    ("character", 4, 2, lambda w: b"M", "M"),
    ("character16", 6, 2, lambda w: "ü".encode("utf-16-le"), "ü"),
    ("time", 10, 16, lambda w: struct.pack("<Q", FILETIME), filetime_text(FILETIME)),
    ("signed", 8, 17, lambda w: struct.pack("<i", -7), -7),
    ("counted_binary", 25, 0, lambda w: counted(b"\x00\x10"), "0010"),
]


class Listing:
    """A trace of described events; wanted: by time, the name and the fields."""

    def __init__(self, folder, name):
        self.path = os.path.join(folder, name)
        self.clock = Clock(QPC, 10_000_000, 1_000_000, 132_000_000_000_000_000)
        style = Style("merged", 65536)
        self.file = TraceFile(self.clock, 1, style, 1_000_000, random.Random(1))
        self.ticks = 1_000_000
        self.wanted = {}

    def add(self, make, name=None, fields=None):
        self.ticks += 10
        self.file.add(Record(0, self.ticks, 0, make(self.ticks), False))
        if name is not None:
            self.wanted[self.ticks] = (name, fields)

    def add_metadata(self, opcode, payload):
        self.add(lambda ticks: records.full(8, METADATA, opcode, 0, 0, 0, ticks, payload))

    def write(self):
        self.file.cut()
        self.file.write(self.path, "described.etl")
        return self.path


def add_tracelogging(listing, width, name, fields, payload, wanted):
    items = [traits("Example.Provider"), schema(name, fields, tags=b"\x85\x03")]
    listing.add(
        lambda ticks: event(width, PROVIDER.bytes_le, 0, 0, 7, 8, ticks, payload, items),
        f"Example.Provider/{name}", wanted,
    )


def tracelogging_events(listing):
    for width in (4, 8):
        rows = [(n, i, o, make, shown) for n, i, o, _, make, shown in VALUES] + TRACELOGGING_ONLY
        for name, in_type, out, make, shown in rows:
            data = make(width)
            add_tracelogging(listing, width, name, [field(name, in_type, out)], data, {name: shown})
            # An array of no, of two and of a fixed number of them; another field behind it.
            for count in (0, 2):
                add_tracelogging(
                    listing, width, f"{name}s", [field(name, in_type, out, array=True), field("end", 4)],
                    struct.pack("<H", count) + data * count + b"\x07", {name: [shown] * count, "end": 7},
                )
            add_tracelogging(
                listing, width, f"three_{name}", [field(name, in_type, out, tags=b"\x81\x00", count=3)],
                data * 3, {name: [shown] * 3},
            )
        every = [field(name, in_type, out) for name, in_type, out, _, _ in rows]
        add_tracelogging(listing, width, "every", every, b"".join(make(width) for _, _, _, make, _ in rows),
                         {name: shown for name, _, _, _, shown in rows})
    # Structures: nested, in arrays, of no members.
    fields = [field("a", 4), structure("outer", 3), field("b", 4), structure("inner", 2), field("c", 4),
              field("d", 2), field("e", 4), field("f", 4)]
    add_tracelogging(listing, 8, "nested", fields, b"\1\2\3ddd\0\4\5",
                     {"a": 1, "outer": {"b": 2, "inner": {"c": 3, "d": "ddd"}, "e": 4}, "f": 5})
    rows = [structure("rows", 2, array=True), field("k", 4), structure("v", 1, count=2), field("x", 4), field("z", 4)]
    add_tracelogging(listing, 8, "rows", rows, struct.pack("<H", 2) + b"\1\2\3\4\5\6" + b"\7",
                     {"rows": [{"k": 1, "v": [{"x": 2}, {"x": 3}]}, {"k": 4, "v": [{"x": 5}, {"x": 6}]}], "z": 7})
    add_tracelogging(listing, 8, "rows", rows, struct.pack("<H", 0) + b"\7", {"rows": [], "z": 7})
    add_tracelogging(listing, 8, "none", [], b"", {})
    add_tracelogging(listing, 8, "more", [field("a", 4)], b"\1\xaa\xbb", {"a": 1, "undecoded": "aabb"})
    # Names are the file's.
    add_tracelogging(listing, 8, 'odd "name"\x1b', [field('a"b\\c\n', 4)], b"\1", {'a"b\\c\n': 1})


def damaged_events(listing):
    """Each with what is left, and how many diagnostics of which name."""
    add_tracelogging(listing, 8, "short", [field("a", 4), field("b", 8)], b"\1\2\3", {"a": 1, "undecoded": "0203"})
    add_tracelogging(listing, 8, "long_array", [field("a", 8, array=True)], struct.pack("<HI", 9, 1),
                     {"a": [1]})
    add_tracelogging(listing, 8, "unknown", [field("a", 4), field("b", 30), field("c", 4)], b"\1\2\3",
                     {"a": 1, "undecoded": "0203"})
    add_tracelogging(listing, 8, "members", [structure("s", 5), field("a", 4)], b"\1", {"undecoded": "01"})
    return {"description_mismatch": 2, "description_invalid": 2}


def manifest_events(listing):
    provider = PROVIDER.bytes_le
    for width in (4, 8):
        version = width
        properties = [dict(name=name, in_type=i, out_type=o) for name, i, _, o, _, _ in VALUES]
        payload = b"".join(make(width) for _, _, _, _, make, _ in VALUES)
        listing.add(
            lambda ticks: event(width, provider, 100, version, 7, 8, ticks, payload),
            "Example-Manifest/AllTypes/Start", {name: shown for name, _, _, _, _, shown in VALUES},
        )
        listing.add_metadata(EVENT_INFO, event_info(
            provider, 100, version, properties, provider_name="Example-Manifest", task="AllTypes ",
            opcode_name="win:Start"))
    # Lengths and counts by other fields, fixed ones, maps, structures at the end of the table.
    properties = [
        dict(name="n", in_type=6),
        dict(name="blob", in_type=14, out_type=15, flags=LENGTH_BY, length=0),
        dict(name="mac", in_type=14, out_type=15, length=6),
        dict(name="address", in_type=14, out_type=24),
        dict(name="text", in_type=1, out_type=1, flags=LENGTH_BY, length=0),
        dict(name="fixed", in_type=2, out_type=1, length=4),
        dict(name="list", in_type=8, out_type=8, flags=COUNT_BY, count=0),
        dict(name="pair", in_type=4, out_type=4, flags=FIXED_COUNT, count=2),
        dict(name="color", in_type=4, map_name="Colors"),
        dict(name="bits", in_type=8, map_name="Bits"),
        dict(name="none", in_type=8, map_name="Colors"),
        dict(name="lost", in_type=8, map_name="Nowhere"),
        dict(name="rows", flags=STRUCT | COUNT_BY, count=0, first=13, members=2),
        dict(name="key", in_type=4),
        dict(name="value", in_type=302, out_type=1),
    ]
    payload = (struct.pack("<H", 2) + b"\xca\xfe" + bytes(range(6)) + bytes(15) + b"\x09"
               + "hi".encode("utf-16-le") + b"ok\0\0" + struct.pack("<II", 5, 6) + b"\7\x08" + b"\2"
               + struct.pack("<III", 5, 9, 1)
               + b"\1" + b"\0\2" + "A".encode("utf-16-le") + b"\2" + b"\0\0")
    listing.add_metadata(EVENT_MAP_INFO, event_map(provider, "Colors", [(1, "red"), (2, "blau")]))
    listing.add_metadata(EVENT_MAP_INFO, event_map(provider, "Bits", [(1, "one"), (2, "two"), (4, "four")], BIT_MAP))
    listing.add_metadata(EVENT_MAP_INFO, event_map(bytes(16), "Nowhere", [(1, "another provider's")]))
    listing.add(
        lambda ticks: event(8, provider, 20, 0, 7, 8, ticks, payload), "Example-Manifest/20",
        {"n": 2, "blob": "cafe", "mac": "000102030405", "address": "0:0:0:0:0:0:0:9", "text": "hi",
         "fixed": "ok", "list": [5, 6], "pair": [7, 8], "color": 2, "color_name": "blau", "bits": 5,
         "bits_name": "one|four", "none": 9, "lost": 1,
         "rows": [{"key": 1, "value": "A"}, {"key": 2, "value": ""}]},
    )
    listing.add_metadata(EVENT_INFO, event_info(provider, 20, 0, properties, top=13, provider_name="Example-Manifest"))
    # A classic event, by class GUID and opcode; the name of a newer build's event.
    class_guid = uuid.UUID("99990000-3333-4444-5555-666677778888").bytes_le
    listing.add(lambda ticks: records.full(8, class_guid, 12, 2, 7, 8, ticks, struct.pack("<I", 17)),
                "Classic/Thing/Send", {"Value": 17})
    listing.add_metadata(EVENT_INFO, event_info(
        bytes(16), 0, 2, [dict(name="Value", in_type=8)], provider_name="Classic", task="Thing",
        opcode_name="Send", source=1, event_guid=class_guid, opcode=12))
    listing.add(lambda ticks: event(8, provider, 21, 0, 7, 8, ticks, b""), "Example-Manifest/Named", {})
    listing.add_metadata(EVENT_INFO, event_info(
        provider, 21, 0, [], provider_name="Example-Manifest", task="Task", opcode_name="win:Info", event_name="Named"))
    # Of two descriptions the first counts; another version has none.
    listing.add_metadata(EVENT_INFO, event_info(provider, 21, 0, [], provider_name="Later", task="Later"))
    listing.add(lambda ticks: event(8, provider, 21, 1, 7, 8, ticks, b"\1"), None, None)


def same(shown, wanted):
    return json.dumps(shown) == json.dumps(wanted)


def check_listing(results, name, listing):
    path = listing.write()
    found = {row["ts"]: row for row in dump(path)}
    wrong = []
    for ticks, (title, fields) in listing.wanted.items():
        row = found.get(ticks, {})
        if row.get("name") != title or not same(row.get("fields"), fields):
            wrong.append(f"{title}: wanted {fields}, {row.get('name')} has {row.get('fields')}")
    results.check(f"{name}: {len(listing.wanted)} events have their names and values", not wrong, *wrong[:5])
    return path, found


def diagnostics_of(path):
    """What `dump` says on stderr, by name."""
    process = subprocess.run([os.environ["ETLHEAP"], "dump", path, "--format", "ndjson"],
                             capture_output=True, text=True, check=False)
    return process.stderr


def check_info(results, path, folder):
    """Names and counts of events, from the trace and from a store."""
    store = os.path.join(folder, "described.ehs")
    run("store", path, "-o", store)
    for name, source in (("trace", path), ("store", store)):
        found = {row["guid"]: row for row in run_json("info", source)["providers"]}
        example = found[str(PROVIDER)]
        results.equal(f"info of the {name}: the provider's name", example["name"], "Example-Manifest")
        told = [(row["id"], row["version"], row["name"], row["count"]) for row in example["events"]]
        results.equal(f"info of the {name}: its events", told,
                      [(20, 0, None, 1), (21, 0, "Named", 1), (21, 1, None, 1),
                       (100, 4, "AllTypes/Start", 1), (100, 8, "AllTypes/Start", 1)])
        told = [(row["opcode"], row["name"]) for row in found["99990000-3333-4444-5555-666677778888"]["events"]]
        results.equal(f"info of the {name}: a classic event", told, [(12, "Thing/Send")])


def check_built(results, folder):
    listing = Listing(folder, "tracelogging.etl")
    tracelogging_events(listing)
    path, found = check_listing(results, "TraceLogging", listing)
    results.equal("TraceLogging: nothing is wrong", "description" in diagnostics_of(path), False)
    listing = Listing(folder, "manifest.etl")
    manifest_events(listing)
    path, found = check_listing(results, "manifest", listing)
    results.equal("manifest: nothing is wrong", "description" in diagnostics_of(path), False)
    check_info(results, path, folder)
    other = [row for row in found.values() if row.get("id") == 21 and row["version"] == 1]
    results.equal("another version is not described", ["fields" in row for row in other], [False])
    text = run("dump", path, "--events", "Example-Manifest/AllTypes/*").decode("utf-8")
    results.equal("--events takes names that the trace gives", text.count("Example-Manifest/AllTypes/Start"), 2)
    results.equal("--events lists nothing else", len(text.splitlines()), 3)
    results.check("text shows names of numbers", b"color=2 (blau) bits=5 (one|four)" in run("dump", path))
    listing = Listing(folder, "damaged.etl")
    wanted = damaged_events(listing)
    path, _ = check_listing(results, "damaged", listing)
    words = diagnostics_of(path)
    results.check("damage is told", "the description of an event's fields" in words, words)


# --- PerfView's listings -------------------------------------------------------------------

LINE = re.compile(r"^EVENT\s+([\d,.]+): (.+?) PID=(-?[\d,]+); TID=(-?[\d,]+);.*?ProceNum=(\d+); DataLen=([\d,]+); (.*)$")
PAIR = re.compile(r"(\w+)=(.*?); (?=\w+=|$)")


def agrees(listed, shown, names):
    """PerfView's form of a value: 1,234, 0x00ff, text that is cut, names of numbers."""
    listed = listed.strip()
    if listed.endswith("..."):
        whole = names.replace("|", ", ") if names else str(shown)
        return whole.startswith(listed[:-3])
    if isinstance(shown, bool):
        return listed == str(shown)
    if isinstance(shown, str) and shown.startswith("0x"):
        shown = int(shown, 16)
    if isinstance(shown, int):
        if names and listed == names.replace("|", ", "):
            return True
        if re.fullmatch(r"-?[\d,]+", listed):
            return (number(listed) - shown) % (1 << (32 if shown < 1 << 32 else 64)) == 0
        if re.fullmatch(r"0x[0-9a-f]+", listed):
            return int(listed, 16) == shown
        return None  # a name that PerfView made up
    if shown == "" or listed == "":
        return True if listed in ("", "NULL") and shown in ("", "NULL") else None
    if isinstance(shown, str) and len(shown) == 1 and listed.isdigit():
        return ord(shown) == int(listed)
    return listed == str(shown)


# PerfView shows these in a form of its own: device paths become drive letters, times are local
# and cut, and the upper byte of the options of a file is a field of its own.
NOT_COMPARED = {"FileName", "CreateTime", "ExitTime", "file_time_type", "system_time_type", "CreateOptions"}


def check_listing_of_perfview(results, path, listing_path, fewest):
    by_place = defaultdict(list)
    for row in dump(path):
        if "/" in row.get("name", "") and "fields" in row and "provider" in row:
            by_place[row["cpu"], row["payload_bytes"], row["pid"], row["tid"]].append(row)
    compared, wrong, events = 0, [], 0
    with open(listing_path, encoding="utf-8-sig") as file:
        lines = [LINE.match(line) for line in file if line.startswith("EVENT")]
    for match in filter(None, lines):
        milliseconds, name, pid, tid, cpu, size, rest = match.groups()
        whole, _, thousandths = milliseconds.replace(",", "").partition(".")
        time_ns = int(whole) * 1_000_000 + int(thousandths.ljust(3, "0")) * 1000
        rows = [row for row in by_place[int(cpu), number(size), number(pid), number(tid)]
                if abs(row["time_ns"] - time_ns) <= TOLERANCE_NS and row["name"].split("/")[0] == name.split("/")[0]]
        if len(rows) != 1:
            continue
        events += 1
        fields = rows[0]["fields"]
        for key, value in PAIR.findall(rest):
            if key not in fields or key in NOT_COMPARED or isinstance(fields[key], (list, dict)):
                continue
            result = agrees(value, fields[key], fields.get(key + "_name"))
            compared += result is not None
            if result is False:
                wrong.append(f"{name} {key}: PerfView {value}, dump {fields[key]} {fields.get(key + '_name')}")
    base = os.path.basename(path)
    results.check(f"{base}: {compared} values of {events} events are PerfView's", not wrong, *wrong[:8])
    results.check(f"{base}: at least {fewest} values were compared", compared >= fewest, str(compared))


def check_real(results, folder):
    # Every PktMon event is described to the last byte: 403 of them.
    rows = dump(os.path.join(folder, "pktmon-16mbuffers-compressed.etl"))
    described = [row for row in rows if row["header"] == "event64"]
    results.equal("pktmon: described events", sum("fields" in row for row in described), 403)
    results.equal("pktmon: to the last byte", sum("undecoded" in row["fields"] for row in described), 0)
    payloads = [row["fields"] for row in described if row["id"] == 160]
    results.equal("pktmon: packets are as long as they say",
                  sum(len(row["Payload"]) != 2 * row["LoggedPayloadSize"] for row in payloads), 0)
    # `info` counts under the names that `dump` shows.
    for name in ("dynamicevents-28cpu-compressed.etl", "primitive-types.etl"):
        path = os.path.join(folder, name)
        shown = Counter(row["name"] for row in dump(path) if row["header"].startswith("event") and "/" in row.get("name", ""))
        told = Counter()
        for provider in run_json("info", path)["providers"]:
            for row in provider.get("events", ()):
                if row["name"]:
                    told[f"{provider['name']}/{row['name']}"] += row["count"]
        results.equal_maps(f"{name}: info counts what dump names", dict(told), dict(shown))
    rows = dump(os.path.join(folder, "tiny-selfdescribing-compressed.etl"))
    told = [(row["name"], row["fields"]) for row in rows if row["header"] == "event64"]
    results.equal("tiny: its only event", told, [("MySource/TestEvent", {"a": {"b": "Hello", "c": "World!"}})])
    # All but two rundown events that came without a description.
    rows = dump(os.path.join(folder, "dynamicevents-28cpu-compressed.etl"))
    described = [row for row in rows if row["header"] == "event64" and "fields" in row]
    histories = [row["fields"] for row in described if row["name"].endswith("GCPerHeapHistory")]
    results.equal("dynamicevents: arrays are as long as they say",
                  sum(len(row["Values"]) != row["Count"] for row in histories), 0)
    results.check("dynamicevents: there are such arrays", len(histories) > 100, str(len(histories)))
    for name, fewest in (("primitive-types", 30), ("perfview-net452-x64-merged-compressed-stackkeys", 500)):
        path = os.path.join(folder, name + ".etl")
        check_listing_of_perfview(results, path, os.path.join(folder, name + ".baseline.txt"), fewest)


def main():
    results = Results()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP")) as folder:
        check_built(results, folder)
    check_real(results, traces_folder("MANIFEST.json"))
    results.finish()


if __name__ == "__main__":
    main()
