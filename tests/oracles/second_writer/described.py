"""Events that describe themselves, and the records in which a merge describes others.

Sources: TraceLoggingProvider.h of the Windows SDK for the two extended items of a
TraceLogging event; Microsoft's pages on TRACE_EVENT_INFO, EVENT_PROPERTY_INFO and
EVENT_MAP_INFO for what MetaData records hold. The GUID before an EVENT_MAP_INFO was seen
in real traces.
"""

import struct
import uuid

from .records import text16

METADATA = uuid.UUID("bbccf6c1-6cd1-48c4-80ff-839482e37671").bytes_le
EVENT_INFO, EVENT_MAP_INFO = 0x20, 0x21
SCHEMA_TL, PROVIDER_TRAITS = 11, 12

# Property flags, and flags of maps.
STRUCT, LENGTH_BY, COUNT_BY, FIXED_COUNT = 1, 2, 4, 0x20
VALUE_MAP, BIT_MAP = 1, 2


def event(width, provider, event_id, version, tid, pid, ticks, payload, items=(), opcode=0):
    """EVENT_HEADER with any extended items, a list of (type, data)."""
    packed = b""
    for number, (kind, data) in enumerate(items):
        padded = data + bytes(-len(data) % 8)
        packed += struct.pack("<HHHH", 8 + len(padded), kind, number + 1 < len(items), len(data)) + padded
    kind = 0x12 if width == 4 else 0x13
    size = 80 + len(packed) + len(payload)
    head = struct.pack("<HBBHHIIq", size, kind, 0xC0, 1 if items else 0, 0, tid, pid, ticks)
    descriptor = struct.pack("<HBBBBHQ", event_id, version, 11, 4, opcode, 0, 0)
    return head + provider + descriptor + struct.pack("<II", 0, 0) + bytes(16) + packed + payload


# --- TraceLogging -----------------------------------------------------------------------


def text8(text):
    return text.encode("utf-8") + b"\0"


def sized(data):
    return struct.pack("<H", 2 + len(data)) + data


def traits(provider):
    """The provider's name and one trait, its group."""
    return PROVIDER_TRAITS, sized(text8(provider) + struct.pack("<HB", 19, 1) + bytes(range(16)))


def field(name, in_type, out_type=0, tags=None, count=None, array=False):
    """count: a fixed number of elements; array: the payload says how many."""
    kind = in_type | (0x20 if count is not None else 0x40 if array else 0)
    data = text8(name)
    if out_type == 0 and tags is None:
        data += bytes([kind])
    else:
        data += bytes([kind | 0x80, out_type | (0x80 if tags is not None else 0)]) + (tags or b"")
    return data + (struct.pack("<H", count) if count is not None else b"")


def structure(name, members, **more):
    """So many of the fields after it are its members."""
    return field(name, 24, members, **more)


def schema(event_name, fields, tags=b"\0"):
    return SCHEMA_TL, sized(tags + text8(event_name) + b"".join(fields))


# --- MetaData ---------------------------------------------------------------------------


class Names:
    """UTF-16 names behind a table whose size is known; each gets its offset."""

    def __init__(self, start):
        self.start = start
        self.bytes = b""

    def add(self, name):
        if name is None:
            return 0
        offset = self.start + len(self.bytes)
        self.bytes += text16(name)
        return offset


def property_info(names, name, in_type=0, out_type=0, flags=0, count=1, length=0, map_name=None,
                  first=0, members=0):
    kind = (struct.pack("<HHI", first, members, 0) if flags & STRUCT
            else struct.pack("<HHI", in_type, out_type, names.add(map_name)))
    return struct.pack("<II", flags, names.add(name)) + kind + struct.pack("<HHI", count, length, 0)


def event_info(provider, event_id, version, properties, top=None, provider_name=None, task=None,
               opcode_name=None, event_name=None, source=0, event_guid=bytes(16), opcode=0):
    """properties: keyword arguments of property_info, one dict each."""
    names = Names(112 + 24 * len(properties))
    descriptor = struct.pack("<HBBBBHQ", event_id, version, 0, 4, opcode, 0, 0)
    offsets = [0] * 12
    offsets[0] = names.add(provider_name)
    offsets[4] = names.add(task)
    offsets[5] = names.add(opcode_name)
    offsets[10] = names.add(event_name)
    rows = b"".join(property_info(names, **row) for row in properties)
    count = len(properties)
    return (provider + event_guid + descriptor + struct.pack("<I12I", source, *offsets)
            + struct.pack("<III", count, count if top is None else top, 1) + rows + names.bytes)


def event_map(provider, name, entries, flags=VALUE_MAP):
    """entries: (value, name). Message compilers end each name with a space."""
    names = Names(16 + 8 * len(entries))
    at = names.add(name)
    rows = b"".join(struct.pack("<II", names.add(text + " "), value) for value, text in entries)
    return provider + struct.pack("<IIII", at, flags, len(entries), 0) + rows + names.bytes
