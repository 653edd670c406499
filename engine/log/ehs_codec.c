/*
 * ehs_codec.c - encodes one column of integers to a block, and decodes it. ehs_codec.h describes
 * the bytes.
 *
 * In: an array of 1-, 4- or 8-byte integers. Out: a block that describes itself. Encoding tries
 * no alternatives: the caller chooses the layout, and the values decide only shift, constant
 * planes and whether zstd makes a plane smaller.
 *
 * Decoding reads hostile bytes. Invariant: nothing is written beyond the `count` that the caller
 * made room for, and a block that has bytes left after its last value is refused, so every valid
 * block has one meaning.
 */
#include "ehs_codec.h"

#include <stdlib.h>
#include <zstd.h>

/* Planes are compressed by their byte frequencies more than by repetition, so higher
 * levels cost time and save next to nothing: 3 takes up to twice as long for 0.1 to 0.9 % of
 * a file. */
#define COMPRESSION_LEVEL 1

/* A plane is stored uncompressed if compression saves less than this part of it. */
#define SAVING_PART 14u

#define RUN 16u

/* Executes `statement` for each index `i` below `count`, in runs of a constant length, which
 * compilers vectorize even at low optimization. */
#define FOR_EACH(i, count, statement)                                                              \
    do {                                                                                           \
        u32 run_start = 0;                                                                         \
        for (; (count)-run_start >= RUN; run_start += RUN) {                                       \
            for (u32 i = run_start; i < run_start + RUN; i++)                                      \
                statement;                                                                         \
        }                                                                                          \
        for (u32 i = run_start; i < (count); i++)                                                  \
            statement;                                                                             \
    } while (0)

enum plane_mode { PLANE_CONSTANT = 0, PLANE_STORED = 1, PLANE_ZSTD = 2 };

typedef struct column_head {
    u8 layout, transform, value_bytes, shift;
    u32 count;
    u64 first;
} column_head;

static bool ready_to_write(ehs_codec *codec);
static void widen(u64 *out, const void *values, u32 value_bytes, u32 count);
static u8 drop_low_bits(u64 *values, u32 count);
static void make_deltas(u64 *values, u32 value_bytes, u32 count);
static bool put_head(ehs_bytes *out, const column_head *head);
static bool put_planes(ehs_codec *codec, u32 value_bytes, u32 count, ehs_bytes *out);
static bool put_bits(ehs_codec *codec, const u8 *values, u32 count, ehs_bytes *out);
static bool put_plane(ehs_codec *codec, const u8 *plane, u32 count, ehs_bytes *out);
static bool put_varying(ehs_codec *codec, const u8 *plane, u32 count, ehs_bytes *out);

static bool ready_to_read(ehs_codec *codec);
static const char *read_head(etl_cursor *in, const ehs_target *target, column_head *head);
static const char *read_packed(ehs_codec *codec, etl_cursor *in, ehs_target *target);
static const char *read_planes(ehs_codec *codec, etl_cursor *in, ehs_target *target);
static const char *read_bits(ehs_codec *codec, etl_cursor *in, ehs_target *target);
static const char *read_plane(ehs_codec *codec, etl_cursor *in, u8 *out, u32 count);
static void undo_deltas(const ehs_target *target, u64 first);
static void restore_low_bits(const ehs_target *target, u32 shift);

void ehs_codec_free(ehs_codec *codec)
{
    free(codec->pack);
    free(codec->wide);
    free(codec->plane);
    ZSTD_freeCCtx(codec->compressor);
    ZSTD_freeDCtx(codec->decompressor);
    *codec = (ehs_codec){ 0 };
}

bool ehs_encode(ehs_codec *codec, const ehs_format *format, const void *values, u32 count,
                ehs_bytes *out)
{
    assert((size_t)count * format->value_bytes <= EHS_COLUMN_BYTES_MAX);
    if (!ready_to_write(codec))
        return false;
    const bool is_packed = codec->is_quick && format->value_bytes > 1;
    const u8 layout = is_packed ? EHS_LAYOUT_PACKED : format->layout;
    column_head head = { layout, format->transform, format->value_bytes, 0, count, 0 };
    if (format->value_bytes > 1) {
        widen(codec->wide, values, format->value_bytes, count);
        head.shift = drop_low_bits(codec->wide, count);
        head.first = count > 0 ? codec->wide[0] : 0;
        if (format->transform == EHS_TRANSFORM_DELTA)
            make_deltas(codec->wide, format->value_bytes, count);
    }
    if (!put_head(out, &head))
        return false;
    if (layout == EHS_LAYOUT_PACKED)
        return ehs_pack(out, codec->wide, count);
    if (layout == EHS_LAYOUT_BITS)
        return put_bits(codec, values, count, out);
    return format->value_bytes == 1 ? put_plane(codec, values, count, out)
                                    : put_planes(codec, format->value_bytes, count, out);
}

static bool ready_to_write(ehs_codec *codec)
{
    if (codec->wide == NULL)
        codec->wide = malloc((size_t)EHS_COLUMN_BYTES_MAX / sizeof(u32) * sizeof(u64));
    if (codec->plane == NULL)
        codec->plane = malloc(EHS_COLUMN_BYTES_MAX);
    if (codec->compressor == NULL && !codec->is_quick)
        codec->compressor = ZSTD_createCCtx();
    return codec->wide != NULL && codec->plane != NULL &&
           (codec->is_quick || codec->compressor != NULL);
}

static void widen(u64 *out, const void *values, u32 value_bytes, u32 count)
{
    if (value_bytes == sizeof(u64)) {
        memcpy(out, values, (size_t)count * sizeof *out);
        return;
    }
    const u32 *const narrow = values;
    for (u32 i = 0; i < count; i++)
        out[i] = narrow[i];
}

/* Addresses and many sizes are multiples of 16 or more. */
static u8 drop_low_bits(u64 *values, u32 count)
{
    u64 used = 0;
    for (u32 i = 0; i < count; i++)
        used |= values[i];
    const u8 shift = used == 0 ? 0 : (u8)__builtin_ctzll(used);
    for (u32 i = 0; shift > 0 && i < count; i++)
        values[i] >>= shift;
    return shift;
}

/* Differences wrap at the values' width, so values in any order come back. */
static void make_deltas(u64 *values, u32 value_bytes, u32 count)
{
    const u64 mask = value_bytes == sizeof(u32) ? UINT32_MAX : UINT64_MAX;
    for (u32 i = count; i-- > 1;)
        values[i] = (values[i] - values[i - 1]) & mask;
    if (count > 0)
        values[0] = 0;
}

static bool put_head(ehs_bytes *out, const column_head *head)
{
    const u8 bytes[] = { head->layout, head->transform, head->value_bytes, head->shift };
    return ehs_put(out, bytes, sizeof bytes) && ehs_put(out, &head->count, sizeof head->count) &&
           (head->transform == EHS_TRANSFORM_NONE ||
            ehs_put(out, &head->first, sizeof head->first));
}

static bool put_constant(ehs_bytes *out, u8 byte)
{
    const u8 bytes[] = { PLANE_CONSTANT, byte };
    return ehs_put(out, bytes, sizeof bytes);
}

static void take_byte(u8 *restrict plane, const u64 *restrict values, u32 place, u32 count)
{
    FOR_EACH(i, count, plane[i] = (u8)(values[i] >> 8 * place));
}

/* Finds out which bytes vary before any plane is made: most high bytes do not. */
static bool put_planes(ehs_codec *codec, u32 value_bytes, u32 count, ehs_bytes *out)
{
    const u64 *const values = codec->wide;
    const u64 first = count > 0 ? values[0] : 0;
    u64 varying = count > 0 ? 0 : UINT64_MAX;
    for (u32 i = 0; i < count; i++)
        varying |= values[i] ^ first;
    for (u32 place = 0; place < value_bytes; place++) {
        bool ok;
        if ((varying >> 8 * place & 0xFF) == 0) {
            ok = put_constant(out, (u8)(first >> 8 * place));
        } else {
            take_byte(codec->plane, values, place, count);
            ok = put_varying(codec, codec->plane, count, out);
        }
        if (!ok)
            return false;
    }
    return true;
}

/* Gathers the lowest bits of eight bytes, the first byte's as the lowest: a multiplication moves
 * each to its place in the highest byte. */
static u8 gather_bits(const u8 *values)
{
    return (u8)((etl_load_u64(values) & 0x0101010101010101) * 0x0102040810204080 >> 56);
}

static bool put_bits(ehs_codec *codec, const u8 *values, u32 count, ehs_bytes *out)
{
    const u32 whole = count / 8, rest = count % 8;
    for (u32 i = 0; i < whole; i++)
        codec->plane[i] = gather_bits(values + (size_t)i * 8);
    if (rest > 0) {
        u8 last[8] = { 0 };
        memcpy(last, values + (size_t)whole * 8, rest);
        codec->plane[whole] = gather_bits(last);
    }
    return put_plane(codec, codec->plane, whole + (rest > 0), out);
}

static bool is_constant(const u8 *plane, u32 count)
{
    return count > 0 && memcmp(plane, plane + 1, count - 1) == 0;
}

static bool put_plane(ehs_codec *codec, const u8 *plane, u32 count, ehs_bytes *out)
{
    return is_constant(plane, count) ? put_constant(out, plane[0])
                                     : put_varying(codec, plane, count, out);
}

static bool put_stored(const u8 *plane, u32 count, ehs_bytes *out)
{
    const u8 mode = PLANE_STORED;
    return ehs_put(out, &mode, 1) && ehs_put(out, plane, count);
}

static bool put_varying(ehs_codec *codec, const u8 *plane, u32 count, ehs_bytes *out)
{
    if (codec->is_quick)
        return put_stored(plane, count, out);
    const u32 head = 1 + sizeof(u32);
    const size_t bound = ZSTD_compressBound(count);
    if (!ETLHEAP_RESERVE(out, head + bound))
        return false;
    u8 *const at = out->at + out->count;
    const size_t size =
        ZSTD_compressCCtx(codec->compressor, at + head, bound, plane, count, COMPRESSION_LEVEL);
    if (ZSTD_isError(size) || size + head + count / SAVING_PART >= count)
        return put_stored(plane, count, out);
    const u32 narrow_size = (u32)size;
    at[0] = PLANE_ZSTD;
    memcpy(at + 1, &narrow_size, sizeof narrow_size);
    out->count += head + size;
    return true;
}

etl_status ehs_decode(ehs_codec *codec, etl_bytes block, ehs_target *target, const char **reason)
{
    etl_cursor in = etl_cursor_of(block);
    column_head head;
    *reason = read_head(&in, target, &head);
    if (*reason != NULL)
        return ETL_ERR_CORRUPT;
    if (!ready_to_read(codec))
        return ETL_ERR_MEMORY;
    target->count = head.count;
    switch (head.layout) {
    case EHS_LAYOUT_PACKED:
        *reason = read_packed(codec, &in, target);
        break;
    case EHS_LAYOUT_PLANES:
        *reason = read_planes(codec, &in, target);
        break;
    default:
        *reason = read_bits(codec, &in, target);
        break;
    }
    if (*reason == NULL && in.left > 0)
        *reason = "has bytes left after its last value";
    if (*reason != NULL)
        return ETL_ERR_CORRUPT;
    if (head.transform == EHS_TRANSFORM_DELTA)
        undo_deltas(target, head.first);
    if (head.shift > 0)
        restore_low_bits(target, head.shift);
    return ETL_OK;
}

static bool ready_to_read(ehs_codec *codec)
{
    if (codec->pack == NULL)
        codec->pack = malloc(sizeof *codec->pack);
    if (codec->plane == NULL)
        codec->plane = malloc(EHS_COLUMN_BYTES_MAX);
    if (codec->decompressor == NULL)
        codec->decompressor = ZSTD_createDCtx();
    return codec->pack != NULL && codec->plane != NULL && codec->decompressor != NULL;
}

static bool is_layout_of(const column_head *head)
{
    if (head->value_bytes == 1)
        return head->transform == EHS_TRANSFORM_NONE && head->shift == 0 &&
               (head->layout == EHS_LAYOUT_PLANES || head->layout == EHS_LAYOUT_BITS);
    return head->transform <= EHS_TRANSFORM_DELTA && head->shift < 8 * head->value_bytes &&
           (head->layout == EHS_LAYOUT_PACKED || head->layout == EHS_LAYOUT_PLANES);
}

static const char *read_head(etl_cursor *in, const ehs_target *target, column_head *head)
{
    *head = (column_head){ 0 };
    head->layout = etl_u8(in);
    head->transform = etl_u8(in);
    head->value_bytes = etl_u8(in);
    head->shift = etl_u8(in);
    head->count = etl_u32(in);
    if (head->transform == EHS_TRANSFORM_DELTA)
        head->first = etl_u64(in);
    if (!etl_ok(in))
        return "ends inside its head";
    if (head->value_bytes != target->value_bytes)
        return "has values of the wrong width";
    if (!is_layout_of(head))
        return "has a layout that this version does not know";
    if (head->count > target->capacity ||
        (size_t)head->count * head->value_bytes > EHS_COLUMN_BYTES_MAX)
        return "has more values than it may";
    return NULL;
}

static const char *read_packed(ehs_codec *codec, etl_cursor *in, ehs_target *target)
{
    const bool ok = target->value_bytes == sizeof(u32)
                        ? ehs_unpack_u32(in, codec->pack, target->values, target->count)
                        : ehs_unpack_u64(in, codec->pack, target->values, target->count);
    return ok ? NULL : "has packed values that cannot be unpacked";
}

/* Adds byte `place` to each value; lower bytes are there already. */
static void put_byte_u32(u32 *restrict values, const u8 *restrict plane, u32 place, u32 count)
{
    FOR_EACH(i, count, values[i] |= (u32)plane[i] << 8 * place);
}

static void put_byte_u64(u64 *restrict values, const u8 *restrict plane, u32 place, u32 count)
{
    FOR_EACH(i, count, values[i] |= (u64)plane[i] << 8 * place);
}

static bool is_zero_plane(const etl_cursor *in)
{
    return in->left >= 2 && in->at[0] == PLANE_CONSTANT && in->at[1] == 0;
}

static const char *read_planes(ehs_codec *codec, etl_cursor *in, ehs_target *target)
{
    if (target->value_bytes == 1)
        return read_plane(codec, in, target->values, target->count);
    memset(target->values, 0, (size_t)target->count * target->value_bytes);
    for (u32 place = 0; place < target->value_bytes; place++) {
        if (is_zero_plane(in)) {
            etl_skip(in, 2);
            continue;
        }
        const char *const reason = read_plane(codec, in, codec->plane, target->count);
        if (reason != NULL)
            return reason;
        if (target->value_bytes == sizeof(u32))
            put_byte_u32(target->values, codec->plane, place, target->count);
        else
            put_byte_u64(target->values, codec->plane, place, target->count);
    }
    return NULL;
}

static const char *read_plane(ehs_codec *codec, etl_cursor *in, u8 *out, u32 count)
{
    static const char *const cut = "ends inside a plane of bytes";
    const u8 mode = etl_u8(in);
    if (!etl_ok(in))
        return cut;
    if (mode == PLANE_CONSTANT) {
        memset(out, etl_u8(in), count);
        return etl_ok(in) ? NULL : cut;
    }
    if (mode != PLANE_STORED && mode != PLANE_ZSTD)
        return "has a plane of unknown mode";
    const u32 size = mode == PLANE_ZSTD ? etl_u32(in) : count;
    const etl_bytes bytes = etl_view(in, size);
    if (!etl_ok(in))
        return cut;
    if (mode == PLANE_STORED) {
        if (count > 0)
            memcpy(out, bytes.at, count);
        return NULL;
    }
    const size_t got = ZSTD_decompressDCtx(codec->decompressor, out, count, bytes.at, bytes.size);
    return got == count ? NULL : "has a plane that cannot be decompressed";
}

/* Spreads eight bits to eight bytes. A copy of the byte in each, masked to its bit, is 0 or not;
 * adding all but that bit's complement carries "not 0" into bit 7. */
static u64 spread_bits(u8 bits)
{
    const u64 copies = bits * (u64)0x0101010101010101;
    const u64 chosen = copies & 0x8040201008040201;
    return (chosen + 0x00406070787C7E7F) >> 7 & 0x0101010101010101;
}

static const char *read_bits(ehs_codec *codec, etl_cursor *in, ehs_target *target)
{
    const u32 bytes = (target->count + 7) / 8;
    const char *const reason = read_plane(codec, in, codec->plane, bytes);
    if (reason != NULL)
        return reason;
    u8 *const values = target->values;
    const u32 whole = target->count / 8, rest = target->count % 8;
    for (u32 i = 0; i < whole; i++) {
        const u64 eight = spread_bits(codec->plane[i]);
        memcpy(values + (size_t)i * 8, &eight, sizeof eight);
    }
    if (rest == 0)
        return NULL;
    const u64 eight = spread_bits(codec->plane[whole]);
    memcpy(values + (size_t)whole * 8, &eight, rest);
    return codec->plane[whole] >> rest == 0 ? NULL : "has bits left after its last value";
}

static void undo_deltas(const ehs_target *target, u64 first)
{
    if (target->value_bytes == sizeof(u32)) {
        u32 *const values = target->values;
        u32 sum = (u32)first;
        for (u32 i = 0; i < target->count; i++)
            values[i] = sum += values[i];
        return;
    }
    u64 *const values = target->values;
    u64 sum = first;
    for (u32 i = 0; i < target->count; i++)
        values[i] = sum += values[i];
}

static void restore_low_bits(const ehs_target *target, u32 shift)
{
    if (target->value_bytes == sizeof(u32)) {
        u32 *const values = target->values;
        FOR_EACH(i, target->count, values[i] <<= shift);
        return;
    }
    u64 *const values = target->values;
    FOR_EACH(i, target->count, values[i] <<= shift);
}
