"""Outputs made readable: binary formats as text or JSON, so that a difference says something.

decode(name, data) gives ("json", value), ("table", {columns, rows}), ("rows", [value]) or
("text", str). Nothing
here is needed to find a difference, which is one of bytes; it only says what it means.
"""

import csv
import gzip
import io
import json
import re
import shutil
import struct
import subprocess
import zipfile

HTML_DATA = re.compile(rb'<script type="application/json" id="data">(.*?)</script>', re.S)


def decode(name, data):
    try:
        return decode_bytes(name, data)
    except (ValueError, IndexError, KeyError, struct.error, OSError, zipfile.BadZipFile,
            subprocess.SubprocessError) as error:
        return "text", f"(unreadable: {type(error).__name__}: {error})\n" + data[:2000].decode("latin-1")


def decode_bytes(name, data):
    if data[:2] == b"\x1f\x8b":
        inner = gzip.decompress(data)
        return ("text", pprof_text(inner)) if "pprof" in name else decode_bytes(name, inner)
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return decode_bytes(name, unzstd(data))
    if data[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            parts = [f"== {part}\n" + packed.read(part).decode("utf-8", "replace") for part in packed.namelist()]
        return "text", "\n".join(parts).replace("><", ">\n<")
    if data[:4] == b"PAR1":
        return "rows", parquet_rows(data)
    if "perfetto" in name:
        return "text", perfetto_text(data)
    page = HTML_DATA.search(data)
    if page:
        return "json", {"data": json.loads(page[1]), "page": HTML_DATA.sub(b"", data).decode("utf-8", "replace")}
    text = data.decode("utf-8", "replace")
    if text.startswith("{"):
        try:
            return "json", with_stacks(json.loads(text))
        except ValueError:
            return "rows", [json.loads(line) for line in text.splitlines()]
    if name.endswith("csv"):
        reader = csv.DictReader(io.StringIO(text))
        return "table", {"columns": list(reader.fieldnames or []), "rows": list(reader)}
    return "text", text


def unzstd(data):
    if not shutil.which("zstd"):
        raise ValueError("there is no zstd program to read it with")
    return subprocess.run(["zstd", "-dc"], input=data, capture_output=True, check=True).stdout


def with_stacks(document):
    """Numbers of stacks as their frames, so that a new stack does not change all rows behind it."""
    if not isinstance(document, dict) or not {"frames", "stacks"} <= document.keys():
        return document
    texts = [frame_text(frame) for frame in document["frames"]]
    stacks = [" < ".join(texts[i] for i in stack) for stack in document["stacks"]]

    def expand(value):
        if isinstance(value, list):
            return [expand(part) for part in value]
        if not isinstance(value, dict):
            return value
        expanded = {key: expand(part) for key, part in value.items()}
        for key in ("stack", "free_stack"):
            if isinstance(value.get(key), int):
                expanded[key] = stacks[value[key]]
        return expanded

    return {**{key: expand(value) for key, value in document.items() if key not in ("frames", "stacks")},
            "frames": texts, "stacks": stacks}


def frame_text(frame):
    place = f"{frame.get('module') or ''}+{frame.get('offset') or frame.get('address')}"
    name = frame.get("symbol")
    return f"{place} {name} {frame.get('file')}:{frame.get('line')}" if name else place


# --- pprof ----------------------------------------------------------------------------


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """A protobuf message: {field: [values]}."""
    at, found = 0, {}
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {key & 7}")
        found.setdefault(key >> 3, []).append(value)
    return found


def packed(values):
    numbers = []
    for value in values:
        if isinstance(value, int):
            numbers.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            numbers.append(number)
    return numbers


def pprof_text(data):
    profile = fields(data)
    words = [word.decode("utf-8", "replace") for word in profile.get(6, [])]

    def first(message, field):
        return message.get(field, [0])[0]

    functions = {first(f, 1): words[first(f, 2)] for f in map(fields, profile.get(5, []))}
    mappings = {first(m, 1): words[first(m, 5)] for m in map(fields, profile.get(3, []))}
    places = {}
    for location in map(fields, profile.get(4, [])):
        names = [functions.get(first(fields(line), 1), "?") for line in location.get(4, [])]
        places[first(location, 1)] = f"{mappings.get(first(location, 2), '')} {first(location, 3):#x} {'/'.join(names)}"
    lines = [f"type {words[first(t, 1)]} {words[first(t, 2)]}" for t in map(fields, profile.get(1, []))]
    for sample in map(fields, profile.get(2, [])):
        stack = " < ".join(places.get(number, "?") for number in packed(sample.get(1, [])))
        labels = [f"{words[first(l, 1)]}={words[first(l, 2)] if 2 in l else first(l, 3)}"
                  for l in map(fields, sample.get(3, []))]
        lines.append(f"{packed(sample.get(2, []))} {' '.join(labels)} {stack}")
    lines += [f"comment {words[number]}" for number in packed(profile.get(13, []))]
    lines += [f"field {field}: {profile[field]}" for field in sorted(profile) if field not in (1, 2, 3, 4, 5, 6, 13)]
    return "\n".join(lines) + "\n"


# --- perfetto -------------------------------------------------------------------------


def perfetto_text(data):
    """A line for each track, event and sample of a heap dump, with call stacks in words."""
    lines, tracks = [], {}
    interned = {field: {} for field in (5, 6, 7, 17, 19)}  # functions, frames, stacks, paths, mappings
    for packet in map(fields, fields(data).get(1, [])):
        for part in map(fields, packet.get(12, [])):
            for field, known in interned.items():
                known.update({message[1][0]: message for message in map(fields, part.get(field, []))})
        for track in map(fields, packet.get(60, [])):
            name = track.get(2) or [b" ".join(word for process in map(fields, track[3]) for word in process[6])]
            tracks[track[1][0]] = f"{track.get(5, [0])[0]} {name[0].decode('utf-8', 'replace')}"
        time = packet.get(8, ["-"])[0]
        for event in map(fields, packet.get(11, [])):
            lines.append(f"{time} {tracks[event[11][0]]}: {event.get(23, event.get(30))[0]}")
        for heap in (part for dump in map(fields, packet.get(37, [])) for part in map(fields, dump.get(5, []))):
            lines += [f"{heap[9][0]} {heap[1][0]} {heap[11][0].decode()} {perfetto_stack(interned, sample[1][0])}: "
                      f"{[sample.get(field, [0])[0] for field in (2, 3, 5, 6)]}" for sample in map(fields, heap.get(2, []))]
        lines += [f"clock {clock}" for clocks in map(fields, packet.get(6, [])) for clock in map(fields, clocks[1])]
    return "\n".join([*lines, *(f"track {name}" for name in sorted(tracks.values()))]) + "\n"


def perfetto_stack(interned, iid):
    words = []
    for frame in (interned[6][number] for number in interned[7][iid][2]):
        path = interned[17][interned[19][frame[3][0]][7][0]][2][0]
        words.append(f"{path.decode('utf-8', 'replace')}+{frame[4][0]:#x} {interned[5][frame[2][0]][2][0].decode('utf-8', 'replace')}")
    return " > ".join(words)


# --- parquet: what this program writes, plain or by dictionary, in zstd pages ---------------


def thrift(data, at):
    """A struct of Thrift's compact protocol: {field: value}, and where it ends."""
    found, field = {}, 0
    while data[at]:
        kind, step = data[at] & 15, data[at] >> 4
        at += 1
        if step:
            field += step
        else:
            number, at = varint(data, at)
            field = (number >> 1) ^ -(number & 1)
        found[field], at = thrift_value(data, at, kind)
    return found, at + 1


def thrift_value(data, at, kind):
    if kind in (1, 2):
        return kind == 1, at
    if kind == 3:
        return data[at], at + 1
    if kind in (4, 5, 6):
        number, at = varint(data, at)
        return (number >> 1) ^ -(number & 1), at
    if kind == 7:
        return struct.unpack_from("<d", data, at)[0], at + 8
    if kind == 8:
        size, at = varint(data, at)
        return data[at:at + size], at + size
    if kind in (9, 10):
        count, inner, at = data[at] >> 4, data[at] & 15, at + 1
        if count == 15:
            count, at = varint(data, at)
        values = []
        for _ in range(count):
            if inner in (1, 2):
                value, at = data[at] == 1, at + 1
            else:
                value, at = thrift_value(data, at, inner)
            values.append(value)
        return values, at
    if kind == 12:
        return thrift(data, at)
    raise ValueError(f"thrift type {kind}")


def leaves(schema):
    """Columns of the file: name of the outermost, levels of definition and of repetition."""
    found, at = [], 1

    def walk(name, definition, repetition):
        nonlocal at
        element, at = schema[at], at + 1
        name = name or element[4].decode()
        definition += element.get(3, 0) > 0
        repetition += element.get(3, 0) == 2
        if 1 in element:
            found.append((name, definition, repetition, element))
        for _ in range(element.get(5, 0)):
            walk(name, definition, repetition)

    while at < len(schema):
        walk(None, 0, 0)
    return found


def parquet_rows(data):
    footer, _ = thrift(data, len(data) - 8 - struct.unpack_from("<I", data, len(data) - 8)[0])
    columns_of = leaves(footer[2])
    facts = {pair[1].decode(): pair[2].decode("utf-8", "replace")[:400] for pair in footer.get(5, [])}
    rows = [{"(footer)": facts, "(schema)": [[name, element[1]] for name, _, _, element in columns_of]}]
    for group in footer[4]:
        columns = [column_values(data, chunk[3], definition, repetition)
                   for chunk, (_, definition, repetition, _) in zip(group[1], columns_of, strict=True)]
        names = [name for name, _, _, _ in columns_of]
        rows += [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    return rows


def levels(page, place, largest, count):
    """Levels behind their size, and where they end; none are kept when all are 0."""
    if largest == 0:
        return [0] * count, place
    size = struct.unpack_from("<I", page, place)[0]
    return hybrid(page, place + 4, largest.bit_length(), count), place + 4 + size


def column_values(data, chunk, definition, repetition):
    kind, count = chunk[1], chunk[5]
    at = chunk.get(11) or chunk[9]
    dictionary, values, read = None, [], 0
    while read < count:
        header, at = thrift(data, at)
        page = data[at:at + header[3]]
        at += header[3]
        page = unzstd(page) if chunk[4] == 6 and page else page
        if header[1] == 2:
            dictionary = plain(page, kind, header[7][1])
            continue
        shape = header[5]
        read += shape[1]
        repeated, place = levels(page, 0, repetition, shape[1])
        defined, place = levels(page, place, definition, shape[1])
        filled = sum(level == definition for level in defined)
        if shape[2] == 8:
            found = [dictionary[i] for i in hybrid(page, place + 1, page[place], filled)] if filled else []
        else:
            found = plain(page[place:], kind, filled)
        found = iter(found)
        for again, level in zip(repeated, defined, strict=True):
            value = [next(found)] if level == definition else []
            if repetition == 0:
                values.append(value[0] if value else None)
            elif again:
                values[-1] += value
            else:
                values.append(value if level + 1 >= definition else None)
    return values


def plain(page, kind, count):
    if kind == 0:
        return [bool(page[i >> 3] >> (i & 7) & 1) for i in range(count)]
    if kind == 6:
        at, found = 0, []
        for _ in range(count):
            size = struct.unpack_from("<I", page, at)[0]
            found.append(page[at + 4:at + 4 + size].decode("utf-8", "replace"))
            at += 4 + size
        return found
    return list(struct.unpack_from(f"<{count}{ {1: 'i', 2: 'q', 4: 'f', 5: 'd'}[kind]}", page))


def hybrid(page, at, bits, count):
    """Run lengths and bit-packed groups of eight."""
    found = []
    while len(found) < count:
        head, at = varint(page, at)
        if head & 1:
            size = (head >> 1) * bits
            packed_bits = int.from_bytes(page[at:at + size], "little")
            found += [packed_bits >> (i * bits) & ((1 << bits) - 1) for i in range((head >> 1) * 8)]
        else:
            size = (bits + 7) // 8
            found += [int.from_bytes(page[at:at + size], "little")] * (head >> 1)
        at += size
    return found[:count]
