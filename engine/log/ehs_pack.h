/*
 * ehs_pack.h - packs integers into few bits; unpacks them at memory speed.
 *
 * Values are packed in chunks of up to EHS_PACK_CHUNK. A chunk has a base, its smallest value, and
 * up to four groups of bit widths. Each value belongs to the narrowest group that fits its distance
 * from the base; a group code of 0, 1 or 2 bits per value says which. So a few large values among
 * many small ones take the bits they need and do not widen the others:
 *
 *     u8        code bits c: 0, 1 or 2
 *     u8[2^c]   widths of the groups, ascending, 0..64
 *     u64       base
 *     u64[...]  codes: c bits each, lowest first; the bits after the last are 0
 *     per group, in order: its values, as
 *       lanes of the low min(width, 32) bits, then
 *       lanes of the bits above the 32nd, if any
 *
 * Lanes: value i of n is in row i / 8 of lane i % 8. A lane is a run of u32 words, word k of all
 * eight side by side, and row r of a lane begins at its bit r * width. All lanes shift equally, so
 * a compiler can use vectors. They take 32 * ceil(ceil(n / 8) * width / 32) bytes.
 *
 * All numbers are little endian. Naive packing with one width per chunk takes 21 bits where
 * distances to freed blocks take 18, and one byte-oriented code per value cannot be unpacked with
 * vectors.
 */
#ifndef ETLHEAP_EHS_PACK_H
#define ETLHEAP_EHS_PACK_H

#include "engine/core/arena.h"
#include "parser/cursor.h"

#define EHS_PACK_CHUNK  4096u
#define EHS_PACK_GROUPS 4u
#define EHS_PACK_LANES  8u

/* The bytes of a block that is being written. */
typedef ETLHEAP_VECTOR(u8) ehs_bytes;

/* Appends bytes; false if memory runs out. */
bool ehs_put(ehs_bytes *out, const void *bytes, size_t size);

/* Working memory for unpacking; one per thread, not initialised. */
typedef struct ehs_pack_scratch {
    u32 streams[EHS_PACK_CHUNK + EHS_PACK_GROUPS * EHS_PACK_LANES];
    u32 low[EHS_PACK_CHUNK];
    u32 high[EHS_PACK_CHUNK];
} ehs_pack_scratch;

/* Appends the values as chunks. False if memory runs out. */
bool ehs_pack(ehs_bytes *out, const u64 *values, size_t count);

/*
 * Reads `count` values from the front of the cursor, and consumes exactly what ehs_pack wrote.
 * False, with a failed cursor, if the bytes are not packed values or too few. For u32, a group or
 * base with values above 32 bits is refused; a sum of the two beyond 32 bits, which only a forged
 * file has, wraps.
 */
bool ehs_unpack_u64(etl_cursor *in, ehs_pack_scratch *scratch, u64 *out, size_t count);
bool ehs_unpack_u32(etl_cursor *in, ehs_pack_scratch *scratch, u32 *out, size_t count);

#endif
