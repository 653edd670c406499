"""Reads all columns of an .ehs file, as formats/ehs.md specifies its bytes.

Shares no code with the program. Needs libzstd, which the program is linked with as well.
"""

import ctypes
import ctypes.util
import struct

MAGIC_END = b"EHSEND\r\n"
CHUNK = 4096


def _library(name, file):
    return ctypes.CDLL(ctypes.util.find_library(name) or file)


def _unpack_zstd(frame, size):
    library = _library("zstd", "libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    out = ctypes.create_string_buffer(size + 1)
    if library.ZSTD_decompress(out, size, frame, len(frame)) != size:
        raise ValueError("a zstd frame is damaged")
    return out.raw[:size]


def checksum(data):
    library = _library("xxhash", "libxxhash.so.0")
    library.XXH3_64bits.restype = ctypes.c_uint64
    library.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return library.XXH3_64bits(bytes(data), len(data))


class _Input:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        part = self.data[self.at:self.at + size]
        if len(part) != size:
            raise ValueError("a block is too short")
        self.at += size
        return part

    def number(self, size):
        return int.from_bytes(self.take(size), "little")


def _plane(block, count):
    mode = block.number(1)
    if mode == 0:
        return block.take(1) * count
    return block.take(count) if mode == 1 else _unpack_zstd(block.take(block.number(4)), count)


def _planes(block, width, count):
    planes = [_plane(block, count) for _ in range(width)]
    return [int.from_bytes(bytes(values), "little") for values in zip(*planes)] if count else []


def _bits(block, count):
    data = _plane(block, (count + 7) // 8)
    return [data[i // 8] >> i % 8 & 1 for i in range(count)]


def _lanes(block, count, width):
    """`count` numbers of `width` bits, dealt to eight lanes of words."""
    if width == 0:
        return [0] * count
    words = ((count + 7) // 8 * width + 31) // 32
    data = block.take(words * 32)
    lanes = [0] * 8
    for word in range(words):
        for lane, part in enumerate(struct.unpack_from("<8I", data, word * 32)):
            lanes[lane] |= part << 32 * word
    mask = (1 << width) - 1
    return [lanes[i % 8] >> i // 8 * width & mask for i in range(count)]


def _packed(block, count):
    out = []
    while len(out) < count:
        number = min(CHUNK, count - len(out))
        bits = block.number(1)
        widths = block.take(1 << bits)
        base = block.number(8)
        codes = int.from_bytes(block.take((number * bits + 63) // 64 * 8), "little")
        groups = [codes >> i * bits & ((1 << bits) - 1) for i in range(number)]
        values = []
        for group, width in enumerate(widths):
            size = groups.count(group)
            low, high = _lanes(block, size, min(width, 32)), _lanes(block, size, max(width, 32) - 32)
            values.append(iter([a | b << 32 for a, b in zip(low, high)]))
        out += [base + next(values[group]) for group in groups]
    return out


def values_of(data):
    """The values of a block, and their width in bytes."""
    block = _Input(data)
    layout, transform, width, shift = block.take(4)
    count = block.number(4)
    first = block.number(8) if transform == 1 else 0
    values = {1: lambda: _packed(block, count),
              2: lambda: _planes(block, width, count),
              3: lambda: _bits(block, count)}[layout]()
    if transform == 1:
        last = first
        values = [last := (last + value) % (1 << 8 * width) for value in values]
    if block.at != len(data):
        raise ValueError("a block has bytes left")
    return [(value << shift) % (1 << 8 * width) for value in values], width


class EhsFile:
    """A file's header words and its blocks by (column, part)."""

    def __init__(self, path):
        with open(path, "rb") as stream:
            self.data = stream.read()
        if self.data[-8:] != MAGIC_END:
            raise ValueError("no footer")
        self.directory, self.rows = struct.unpack_from("<QQ", self.data, len(self.data) - 40)
        self.blocks = {}
        for row in range(self.rows):
            column, part, offset, size, values, wanted = struct.unpack_from("<IIQIIQ", self.data, self.directory + 32 * row)
            block = self.data[offset:offset + size]
            if checksum(block) != wanted:
                raise ValueError(f"block {part} of {column:#x} has another checksum")
            self.blocks[column, part] = (block, values)

    def columns(self):
        return sorted({column for column, _ in self.blocks})

    def column(self, column):
        out, width = [], 0
        for part in range(len(self.blocks)):
            if (column, part) not in self.blocks:
                break
            values, width = values_of(self.blocks[column, part][0])
            out += values
        return out, width

    def texts(self):
        return bytes(self.column(0x1001)[0]).split(b"\0")[:-1]

    def with_column(self, old, new):
        """The bytes of the file with one more column, as of a later version: a copy of another."""
        data = bytearray(self.data)
        rows = []
        for row in range(self.rows):
            at = self.directory + 32 * row
            column, part = struct.unpack_from("<II", data, at)
            rows.append((column, part, bytes(data[at + 8:at + 32])))
            if column == old:
                rows.append((new, part, rows[-1][2]))
        rows.sort()
        directory = b"".join(struct.pack("<II", column, part) + rest for column, part, rest in rows)
        footer = struct.pack("<QQQ", self.directory, len(rows), checksum(directory))
        return bytes(data[:self.directory]) + directory + footer + struct.pack("<Q", checksum(footer)) + MAGIC_END
