"""Payloads of events beside heaps: .NET, memory of the system, services, allocators.

Sources. Methods and modules of .NET: Microsoft's pages on method and loader events, and the
manifest of Microsoft-Windows-DotNETRuntime as dissect.etl ships it. Memory: the manifest of
Microsoft-Windows-Kernel-Memory as dissect.etl ships it, and System Informer's phnt
(PERFINFO_WORKINGSET_ENTRY). Services and thread names: the kernel's MOF and PerfView's
TraceEvent parsers. mimalloc: its manifest etw.man; PIX: PIXETW.man of WinPixEventRuntime. Views and
names of files: TraceEvent's MapFileTraceData and FileIONameTraceData; sections, rotations and
resets: System Informer's phnt and the kernel's public symbols. Handles and objects: phnt and TraceEvent's
ObjectHandleTraceData.

Each function returns the payload and the values in it, by the names of their sources made
lower case with underscores. Values are chosen at random.
"""

import struct
import uuid

from . import records
from .records import text16, words

KERNEL_MEMORY = uuid.UUID("d1d93ef7-e1f2-4f45-9943-03d245fe6c00").bytes_le
MIMALLOC = uuid.UUID("138f4dbb-ee04-4899-aa0a-572ad4475779").bytes_le
PIX = uuid.UUID("8819ca17-7faa-4184-afb7-a4120ca793cd").bytes_le

MEMINFO, MEMINFO_WS, MEMINFO_SESSION_WS = 0x0270, 0x027D, 0x027E
THREAD_SET_NAME, SERVICES = 0x0548, 0x0B0F
LETTERS = "abcXYZ019 .<>`ÄßЖ漢"


def some_text(chance):
    return "".join(chance.choice(LETTERS) for _ in range(chance.randrange(0, 30)))


def numbers(chance, **bits):
    return {name: chance.getrandbits(count) for name, count in bits.items()}


def method(chance, _width, version):
    """MethodLoadVerbose and its kin."""
    values = numbers(chance, method_id=64, module_id=64, start_address=64, size=32, token=32, flags=32)
    values |= {name: some_text(chance) for name in ("namespace", "name", "signature")}
    values["clr_instance_id"] = chance.getrandbits(16) if version >= 1 else 0
    values["rejit_id"] = chance.getrandbits(64) if version >= 2 else 0
    given = list(values.values())
    token, flags = given[4:6]
    return records.method(*given[:4], *given[6:9], version, token, flags, *given[9:]), values


def managed_module(chance, _width, version):
    """ModuleLoad and its kin; from version 2 on with two PDBs."""
    values = numbers(chance, module_id=64, assembly_id=64, flags=32)
    values |= {"il_path": some_text(chance), "native_path": some_text(chance)}
    payload = struct.pack("<QQII", values["module_id"], values["assembly_id"], values["flags"], chance.getrandbits(32))
    payload += text16(values["il_path"]) + text16(values["native_path"])
    payload += chance.randbytes(2) if version >= 1 else b""
    for _ in range(2 if version >= 2 else 0):
        payload += chance.randbytes(20) + text16(some_text(chance))
    return payload, values


def system_memory(chance, width, _version, with_levels):
    """MemInfo: page counts of the system. The manifest's event begins with the number of priorities."""
    before = ("zero_pages", "free_pages", "modified_pages", "modified_no_write_pages", "bad_pages")
    after = ("modified_page_file_pages", "paged_pool_commit_pages", "non_paged_pool_pages", "mdl_pages", "commit_pages")
    bits = 8 * width - 4  # sums of eight have room
    values = numbers(chance, **dict.fromkeys(before, bits))
    standby, repurposed = ([chance.getrandbits(bits) for _ in range(8)] for _ in range(2))
    values |= {"standby_pages": sum(standby), "repurposed_pages": sum(repurposed)}
    values |= numbers(chance, **dict.fromkeys(after, bits))
    counts = [values[name] for name in before] + standby + repurposed + [values[name] for name in after]
    return (b"\x08" if with_levels else b"") + words(width, *counts), values


def memory_rows(chance, width, version, id_name, third_name):
    """MemInfoWS and MemInfoSessionWS: a row for each process or session; version 2 has four counts more."""
    rows = []
    payload = b""
    for _ in range(chance.randrange(0, 9)):
        row = {id_name: chance.getrandbits(32)}
        row |= numbers(chance, **dict.fromkeys(("working_set_pages", "commit_pages", third_name,
                                                "private_working_set_pages"), 8 * width))
        payload += struct.pack("<I", row[id_name]) + words(width, *list(row.values())[1:])
        payload += chance.randbytes(4 * width) if version >= 2 else b""
        rows.append(row)
    return struct.pack("<I", len(rows)) + payload, {"count": len(rows), "entries": rows}


def thread_name(chance, _width, _version):
    values = numbers(chance, process_id=32, thread_id=32) | {"name": some_text(chance)}
    return struct.pack("<II", values["process_id"], values["thread_id"]) + text16(values["name"]), values


def service(chance, _width, version):
    values = numbers(chance, process_id=32, state=32, sub_process_tag=32)
    payload = struct.pack("<III", *values.values())
    names = ("service_name", "display_name", "process_name", "load_order_group", "host_group")
    values |= {name: some_text(chance) if version >= 3 or at < 3 else "" for at, name in enumerate(names)}
    return payload + b"".join(text16(values[name]) for name in names[: 5 if version >= 3 else 3]), values


def file_name(chance, width, _version):
    values = numbers(chance, file_object=8 * width) | {"file_name": some_text(chance)}
    return words(width, values["file_object"]) + text16(values["file_name"]), values


def file_view(chance, width, version):
    bits = 8 * width
    values = numbers(chance, view_base=bits, file_object=bits, misc_info=64, view_size=bits, byte_offset=64, process_id=32)
    if version < 3:
        values["byte_offset"] = 0
    payload = words(width, values["view_base"], values["file_object"]) + struct.pack("<Q", values["misc_info"])
    payload += words(width, values["view_size"]) + (struct.pack("<Q", values["byte_offset"]) if version >= 3 else b"")
    return payload + struct.pack("<I", values["process_id"]), values


def section(chance, width, _version):
    values = numbers(chance, range_base=8 * width, range_end=8 * width, creating_process_id=32)
    pointers = words(width, values["range_base"], values["range_end"])
    return pointers + struct.pack("<I", values["creating_process_id"]), values


def section_object(chance, width, _version):
    values = numbers(chance, section_object=8 * width, range_base=8 * width)
    return words(width, *values.values()), values


def memory_flags(chance, width, _version):
    values = numbers(chance, base_address=8 * width, region_size=8 * width, flags=32)
    return words(width, values["base_address"], values["region_size"]) + struct.pack("<I", values["flags"]), values


def heap_commit(chance, width, _version):
    """Pages of a heap that are committed or decommitted: phnt's heap events."""
    values = numbers(chance, heap_handle=8 * width, address=8 * width, size=8 * width, caller=32)
    return words(width, *list(values.values())[:3]) + struct.pack("<I", values["caller"]), values


SUBSEGMENT = ("heap_handle", "subsegment", "size", "block_size")


def heap_subsegment(chance, width, _version):
    values = numbers(chance, **{name: 8 * width for name in SUBSEGMENT})
    return words(width, *values.values()), values


def heap_subsegment_init(chance, width, _version):
    values = numbers(chance, **{name: 8 * width for name in ("heap_handle", "subsegment", "block_size", "block_count")}, number=32)
    return words(width, *list(values.values())[:4]) + struct.pack("<I", values["number"]), values


def heap_subsegment_use(chance, width, _version):
    values = numbers(chance, heap_handle=8 * width, subsegment=8 * width, number=32)
    return words(width, *list(values.values())[:2]) + struct.pack("<I", values["number"]), values


def heap_bucket(chance, width, _version):
    values = numbers(chance, heap_handle=8 * width, number=32)
    return words(width, values["heap_handle"]) + struct.pack("<I", values["number"]), values


def mimalloc(chance, _width, _version):
    values = numbers(chance, address=64, size=64)
    return struct.pack("<QQ", *values.values()), values


def mimalloc_free(chance, width, version):
    """Its size is what the block could hold, which is not what was asked for: a reader leaves it alone."""
    payload, values = mimalloc(chance, width, version)
    return payload, values | {"size": 0}


def pix(chance, width, _version):
    values = numbers(chance, heap=16, address=8 * width, size=64)
    payload = struct.pack("<H", values["heap"]) + words(width, values["address"])
    return payload + struct.pack("<QQ", values["size"], chance.getrandbits(64)), values


def handle(chance, width, _version):
    """A handle is created or closed: phnt's ETW_CREATE_HANDLE_EVENT and ETW_CLOSE_HANDLE_EVENT."""
    values = numbers(chance, object=8 * width, handle=32, object_type=16) | {"name": some_text(chance)}
    return open_handle(width, *values.values()), values


def open_handle(width, address, number, kind, name=""):
    return words(width, address) + struct.pack("<IH", number, kind) + text16(name)


def handle_copy(chance, width, _version):
    """A handle is duplicated; newer builds say of which process the source is."""
    values = numbers(chance, object=8 * width, source_handle=32, target_handle=32, target_process_id=32, object_type=16)
    values["source_process_id"] = chance.choice((0, chance.getrandbits(32)))
    payload = copied_handle(width, *values.values())
    return payload if values["source_process_id"] or chance.random() < 0.5 else payload[:-4], values


def copied_handle(width, address, source, target, pid, kind, source_pid):
    return words(width, address) + struct.pack("<IIIHI", source, target, pid, kind, source_pid)


def handle_row(chance, width, _version):
    values = numbers(chance, object=8 * width, process_id=32, handle=32, object_type=16) | {"name": some_text(chance)}
    return listed_handle(width, *values.values()), values


def listed_handle(width, address, pid, number, kind, name=""):
    return words(width, address) + struct.pack("<IIH", pid, number, kind) + text16(name)


def object_type(chance, _width, _version):
    values = numbers(chance, object_type=16) | {"name": some_text(chance)}
    return named_type(values["object_type"], values["name"], chance.getrandbits(16)), values


def named_type(kind, name, reserved=0):
    return struct.pack("<HH", kind, reserved) + text16(name)


def some_object(chance, width, _version):
    values = numbers(chance, object=8 * width, object_type=16)
    return words(width, values["object"]) + struct.pack("<H", values["object_type"]), values
