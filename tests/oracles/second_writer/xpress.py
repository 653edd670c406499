"""XPRESS plain LZ77, the compression of a trace's buffers: an encoder.

Source: MS-XCA (open specification), sections 2.3 and 2.4, which describe the decoder.
Symbols are announced by bits of 32-bit words, most significant bit first: 0 is a byte
as it stands, 1 is a copy of 3 or more bytes from up to 8,192 bytes back. Lengths grow
by steps: 3 bits in the pair of bytes, then half a byte (two copies share one byte),
then a byte, then two bytes.

Finding copies is plain: the last place where the next three bytes stood.
"""

import struct

MIN_MATCH = 3
MAX_DISTANCE = 8192
MAX_MATCH = 60000
UNUSED_FLAGS = 0xFFFFFFFF


class Encoder:
    def __init__(self):
        self.out = bytearray(4)
        self.flags_at = 0
        self.flags = 0
        self.flag_count = 0
        self.half_byte_at = None

    def flag(self, bit):
        """Room for the next 32 flags is taken as soon as the word before is full."""
        self.flags = self.flags << 1 | bit
        self.flag_count += 1

    def write_flags(self):
        if self.flag_count == 32:
            struct.pack_into("<I", self.out, self.flags_at, self.flags)
            self.flags_at = len(self.out)
            self.out += b"\0\0\0\0"
            self.flags = self.flag_count = 0

    def literal(self, byte):
        self.flag(0)
        self.out.append(byte)
        self.write_flags()

    def match(self, distance, length):
        self.flag(1)
        rest = length - MIN_MATCH
        self.out += struct.pack("<H", (distance - 1) << 3 | min(rest, 7))
        if rest >= 7:
            self.long_length(rest)
        self.write_flags()

    def long_length(self, rest):
        nibble = min(rest - 7, 15)
        if self.half_byte_at is None:
            self.half_byte_at = len(self.out)
            self.out.append(nibble)
        else:
            self.out[self.half_byte_at] |= nibble << 4
            self.half_byte_at = None
        if nibble < 15:
            return
        if rest - 22 < 255:
            self.out.append(rest - 22)
        else:
            self.out.append(255)
            self.out += struct.pack("<H", rest)

    def finish(self):
        """Flags that announce nothing are ones."""
        left = 32 - self.flag_count
        struct.pack_into("<I", self.out, self.flags_at, (self.flags << left | ((1 << left) - 1)) & UNUSED_FLAGS)
        return bytes(self.out)


def match_length(data, at, before):
    length = MIN_MATCH
    limit = min(len(data) - at, MAX_MATCH)
    while length + 32 <= limit and data[before + length:before + length + 32] == data[at + length:at + length + 32]:
        length += 32
    while length < limit and data[before + length] == data[at + length]:
        length += 1
    return length


def compress(data):
    encoder = Encoder()
    seen = {}
    at = 0
    while at < len(data):
        key = data[at:at + MIN_MATCH]
        before = seen.get(key) if len(key) == MIN_MATCH else None
        if before is None or at - before > MAX_DISTANCE:
            encoder.literal(data[at])
            length = 1
        else:
            length = match_length(data, at, before)
            encoder.match(at - before, length)
        for place in range(at, min(at + length, at + 8)):
            seen[data[place:place + MIN_MATCH]] = place
        at += length
    return encoder.finish()
