"""Record headers, and the payloads of the events that the writer makes.

Sources. Headers: System Informer's phnt (ntwmi.h: SYSTEM_TRACE_HEADER,
PERFINFO_TRACE_HEADER), the SDK (evntrace.h: EVENT_TRACE_HEADER; evntcons.h:
EVENT_HEADER) and Geoff Chappell's pages on them. Heap and VirtualAlloc payloads:
phnt ntwmi.h and the kernel's MOF as dissect.etl ships it. Processes, threads, images,
ImageID and stack walks: the MOF and PerfView's TraceEvent parsers, checked by their
authors against real traces.

A pointer has the width of its record, 4 or 8 bytes, never that of the file: a 32-bit
program on 64-bit Windows writes records of width 4. Fields are packed.

Methods and modules of .NET: Microsoft's pages on method and loader events, and the manifest of
Microsoft-Windows-DotNETRuntime as dissect.etl ships it.
"""

import struct
import uuid

HEAP_CREATE, HEAP_ALLOC, HEAP_REALLOC, HEAP_DESTROY, HEAP_FREE = 0x1020, 0x1021, 0x1022, 0x1023, 0x1024
HEAP_EXPAND, HEAP_CONTRACT = 0x1025, 0x102A
VIRTUAL_ALLOC, VIRTUAL_FREE, VIRTUAL_RUNDOWN_START, VIRTUAL_RUNDOWN_END = 0x0262, 0x0263, 0x0280, 0x0281
PROCESS_START, PROCESS_END, PROCESS_RUNDOWN_START, PROCESS_RUNDOWN_END = 0x0301, 0x0302, 0x0303, 0x0304
THREAD_START, THREAD_END, THREAD_RUNDOWN_START, THREAD_RUNDOWN_END = 0x0501, 0x0502, 0x0503, 0x0504
IMAGE_LOAD, IMAGE_UNLOAD, IMAGE_RUNDOWN_START, IMAGE_RUNDOWN_END = 0x030A, 0x1402, 0x1403, 0x1404
STACK, KEY_DELETE, KEY_RUNDOWN, KEY_KERNEL, KEY_USER = 0x1820, 0x1823, 0x1824, 0x1825, 0x1826
SAMPLED_PROFILE = 0x0F2E
MARK = 0x0F22

IMAGE_ID = uuid.UUID("b3e675d7-2554-4f18-830b-2762732560de").bytes_le
IMAGE_ID_INFO, IMAGE_ID_RSDS = 0, 36

DOTNET = uuid.UUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4").bytes_le
DOTNET_RUNDOWN = uuid.UUID("a669021c-c450-4609-a035-5af59af4df18").bytes_le
METHOD_LOAD, METHOD_UNLOAD, METHOD_DCSTOP = (DOTNET, 143), (DOTNET, 144), (DOTNET_RUNDOWN, 144)
MODULE_LOAD, MODULE_DCSTOP = (DOTNET, 152), (DOTNET_RUNDOWN, 154)

MEM_COMMIT, MEM_RESERVE, MEM_DECOMMIT, MEM_RELEASE = 0x1000, 0x2000, 0x4000, 0x8000
STILL_ACTIVE = 259
PROCESS_WOW64 = 2

# --- headers -----------------------------------------------------------------------


def system(width, version, hook, tid, pid, ticks, payload, cpu_times=(0, 0)):
    """SYSTEM_TRACE_HEADER: 32 bytes, thread and process are its own."""
    kind = 1 if width == 4 else 2
    size = 32 + len(payload)
    return struct.pack("<HBBHHIIqII", version, kind, 0xC0, size, hook, tid, pid, ticks, *cpu_times) + payload


def compact(width, version, hook, tid, pid, ticks, payload):
    """The same without the processor times: 24 bytes (Windows 8 and later)."""
    kind = 3 if width == 4 else 4
    return struct.pack("<HBBHHIIq", version, kind, 0xC0, 24 + len(payload), hook, tid, pid, ticks) + payload


def perfinfo(width, version, hook, ticks, payload):
    """PERFINFO_TRACE_HEADER: 16 bytes, no thread and no process."""
    kind = 0x10 if width == 4 else 0x11
    return struct.pack("<HBBHHq", version, kind, 0xC0, 16 + len(payload), hook, ticks) + payload


def full(width, class_guid, opcode, version, tid, pid, ticks, payload):
    """EVENT_TRACE_HEADER, named by a class GUID: 48 bytes."""
    kind = 0x0A if width == 4 else 0x14
    head = struct.pack("<HBBBBHIIq", 48 + len(payload), kind, 0xC0, opcode, 0, version, tid, pid, ticks)
    return head + class_guid + struct.pack("<II", 0, 0) + payload


def item(kind, data, more=0):
    """An extended item of an EVENT_HEADER, padded to 8 bytes."""
    size = (8 + len(data) + 7) & ~7
    return (struct.pack("<HHHH", size, kind, more, len(data)) + data).ljust(size, b"\0")


def event(width, provider, event_id, tid, pid, ticks, payload, stack=(), version=0, items=b""):
    """EVENT_HEADER: 80 bytes, then a stack as an extended item if there is one."""
    if stack:
        data = struct.pack(f"<Q{len(stack)}Q", 0, *stack)  # 64-bit addresses, whatever the width
        items = item(6, data)
    kind = 0x12 if width == 4 else 0x13
    head = struct.pack("<HBBHHIIq", 80 + len(items) + len(payload), kind, 0xC0, 1 if items else 0, 0, tid, pid, ticks)
    descriptor = struct.pack("<HBBBBHQ", event_id, version, 0, 4, 0, 0, 0)
    return head + provider + descriptor + struct.pack("<II", 0, 0) + bytes(16) + items + payload


# --- payloads ------------------------------------------------------------------------


def words(width, *values):
    return b"".join(value.to_bytes(width, "little") for value in values)


def u32(*values):
    return struct.pack(f"<{len(values)}I", *values)


def text16(text):
    return text.encode("utf-16-le") + b"\0\0"


def heap_alloc(width, heap, size, address, source):
    return words(width, heap, size, address) + u32(source)


def heap_free(width, heap, address, source):
    return words(width, heap, address) + u32(source)


def heap_realloc(width, heap, new, old, new_size, old_size, source):
    return words(width, heap, new, old, new_size, old_size) + u32(source)


def heap_create(width, heap, flags, reserved, committed):
    """Version 3, which adds the three sizes."""
    return words(width, heap) + u32(flags) + words(width, reserved, committed, 0)


def heap_destroy(width, heap):
    return words(width, heap)


def heap_extent(width, heap, size, address, committed, reserved):
    """Expand and Contract have one layout; version 3 ends with the allocated space."""
    return words(width, heap, size, address, 0, committed, reserved) + u32(1) + words(width, 0)


def virtual(width, base, size, pid, flags):
    return words(width, base, size) + u32(pid, flags)


def virtual_rundown(width, base, size, pid, flags, committed):
    return virtual(width, base, size, pid, flags) + words(width, committed)


def sid_block(width, sub_authorities):
    """TOKEN_USER (pointer and attributes, padded) and the SID it points to."""
    token = words(width, 0xFFFFE001 if width == 4 else 0xFFFFE00123456780) + words(width, 0)
    sid = struct.pack("<BB", 1, len(sub_authorities)) + bytes([0, 0, 0, 0, 0, 5]) + u32(*sub_authorities)
    return token + sid


def process(width, key, pid, parent, flags, name, command_line, exit_status=STILL_ACTIVE):
    """Version 4: Windows 8 and later."""
    return (
        words(width, key) + u32(pid, parent, 1, exit_status) + words(width, key ^ 0x5A5A000) + u32(flags)
        + sid_block(width, (18,) if pid < 8 else (21, 1, 2, 3, 1001))
        + name.encode("ascii") + b"\0" + text16(command_line) + text16("") + text16("")
    )


def thread(width, pid, tid, start, name=None):
    """Version 3; later Windows 10 appends the name, empty if there is none."""
    kernel = (0xF1000000 if width == 4 else 0xFFFFF10000000000) + tid * 0x8000
    user = 0x00300000 + tid * 0x1000
    payload = u32(pid, tid) + words(width, kernel, kernel - 0x6000, user, user - 0x1000, 1, start, 0x7E000000 + tid)
    payload += u32(0) + bytes([8, 5, 2, 0])
    return payload if name is None else payload + text16(name)


def image(width, module, pid, version, stamp):
    signature = u32(0) if version == 2 else bytes([4, 1, 0, 0])
    return (
        words(width, module.base, module.size) + u32(pid, module.checksum, stamp) + signature
        + words(width, module.base) + u32(0, 0, 0, 0) + text16(module.path)
    )


def image_id_info(width, module, pid):
    return words(width, module.base, module.size) + u32(pid, module.stamp) + text16(module.name)


def image_id_rsds(width, module, pid):
    pdb = module.name.rsplit(".", 1)[0] + ".pdb"
    return words(width, module.base) + u32(pid) + module.guid + u32(1) + pdb.encode("ascii") + b"\0"


def stack(width, event_ticks, pid, tid, frames):
    return struct.pack("<qII", event_ticks, pid, tid) + words(width, *frames)


def stack_key(width, event_ticks, pid, tid, key):
    return struct.pack("<qII", event_ticks, pid, tid) + words(width, key)


def stack_definition(width, key, frames):
    return words(width, key, *frames)


def sampled_profile(width, address, tid):
    return words(width, address) + u32(tid, 1)


def method(method_id, module_id, start, size, name_space, name, signature, version=2,
           token=0x06000001, flags=1, instance=9, rejit=0):
    """MethodLoadVerbose and its kin; ids and addresses have 8 bytes, whatever the width."""
    payload = struct.pack("<QQQIII", method_id, module_id, start, size, token, flags)
    payload += text16(name_space) + text16(name) + text16(signature)
    payload += struct.pack("<H", instance) if version > 0 else b""
    return payload + (struct.pack("<Q", rejit) if version > 1 else b"")


def managed_module(module_id, path):
    """ModuleLoad and its kin, version 2, with two PDBs that do not matter."""
    payload = struct.pack("<QQII", module_id, module_id ^ 0x7777, 8, 0) + text16(path) + text16("") + struct.pack("<H", 9)
    return payload + 2 * (bytes(16) + u32(1) + text16(""))
