/*
 * ehs_pack.c - packs columns of integers into few bits, and unpacks them at the speed of memory.
 * ehs_pack.h has the layout of a chunk.
 *
 * In (pack): values of a chunk. Out: base, widths, codes and lanes. In (unpack): bytes that may be
 * damaged. Out: values, or a refusal.
 *
 * Unpacking a chunk takes two steps: the lanes of all groups into one array, group after group,
 * then a walk over the codes that takes each value from its group's next place.
 *
 *     codes     0 1 0 0 2 1 ...           places, four 16-bit fields of one register:
 *     groups    | group 0 | group 1 | 2 |   next of group 0 | next of group 1 | ...
 *
 * So the walk has no branch, and its only dependency from value to value is one addition. Packing
 * goes the same way back: distances are shared out to the places of their groups, and rows of eight
 * of them fill the lanes side by side. Invariant: counts of each group follow from the codes, so
 * they are checked against the bytes before anything is read (count_codes, unpack_half).
 */
#include "ehs_pack.h"

#define LANE_BITS      32u
#define WIDTH_MAX      64u
#define CODE_BITS_MAX  2u
#define LANE_ROW_BYTES (EHS_PACK_LANES * sizeof(u32))
#define FIELD_BITS     16u /* of a group's place */

static_assert(EHS_PACK_CHUNK + EHS_PACK_GROUPS * EHS_PACK_LANES + EHS_PACK_CHUNK <= UINT16_MAX,
              "a place fits its field");

/* How a chunk's values fall into groups. */
typedef struct chunk_plan {
    u32 code_bits;
    u32 widths[EHS_PACK_GROUPS];
    u32 counts[EHS_PACK_GROUPS];
} chunk_plan;

static bool pack_chunk(ehs_bytes *out, const u64 *values, u32 count);
static bool read_plan(etl_cursor *in, u32 count, chunk_plan *plan, u64 *base, etl_bytes *codes);
static bool unpack_half(etl_cursor *in, const chunk_plan *plan, bool high, u32 base, u32 *streams);
static void merge(const chunk_plan *plan, etl_bytes codes, const u32 *streams, u32 *out, u32 count);

bool ehs_put(ehs_bytes *out, const void *bytes, size_t size)
{
    if (!ETLHEAP_RESERVE(out, size))
        return false;
    if (size > 0)
        memcpy(out->at + out->count, bytes, size);
    out->count += size;
    return true;
}

bool ehs_pack(ehs_bytes *out, const u64 *values, size_t count)
{
    for (size_t i = 0; i < count; i += EHS_PACK_CHUNK) {
        const size_t left = count - i;
        if (!pack_chunk(out, values + i, (u32)(left < EHS_PACK_CHUNK ? left : EHS_PACK_CHUNK)))
            return false;
    }
    return true;
}

static u32 bit_length(u64 value)
{
    return value == 0 ? 0 : 64 - (u32)__builtin_clzll(value);
}

static u32 rows_of(u32 count)
{
    return (count + EHS_PACK_LANES - 1) / EHS_PACK_LANES;
}

/* The u32 words of one lane. */
static u32 words_of(u32 rows, u32 width)
{
    return (rows * width + LANE_BITS - 1) / LANE_BITS;
}

static u32 low_width(u32 width)
{
    return width < LANE_BITS ? width : LANE_BITS;
}

static u32 high_width(u32 width)
{
    return width - low_width(width);
}

static u32 code_bytes(u32 count, u32 code_bits)
{
    return (count * code_bits + 63) / 64 * (u32)sizeof(u64);
}

static bool is_wide(const chunk_plan *plan)
{
    return plan->widths[(1u << plan->code_bits) - 1] > LANE_BITS;
}

/* The least bits for distances of up to `bits` bits in a number of groups, by that number and the
 * widest group; and the widest of the groups before. */
typedef struct plan_cost {
    u64 bits[EHS_PACK_GROUPS][WIDTH_MAX + 1];
    u8 before[EHS_PACK_GROUPS][WIDTH_MAX + 1];
} plan_cost;

/* Dynamic programming over bit lengths: the best split of the shorter lengths
 * into one group less, plus one group for the rest. up_to[b] counts distances of
 * at most b bits. */
static void weigh(plan_cost *cost, const u32 up_to[WIDTH_MAX + 1], u32 widest)
{
    for (u32 b = 0; b <= widest; b++)
        cost->bits[0][b] = (u64)up_to[b] * b;
    for (u32 group = 1; group < EHS_PACK_GROUPS; group++) {
        for (u32 b = 0; b <= widest; b++) {
            cost->bits[group][b] = cost->bits[group - 1][b];
            cost->before[group][b] = (u8)b;
            for (u32 split = 0; split < b; split++) {
                const u64 bits = cost->bits[group - 1][split] + (u64)(up_to[b] - up_to[split]) * b;
                if (bits < cost->bits[group][b]) {
                    cost->bits[group][b] = bits;
                    cost->before[group][b] = (u8)split;
                }
            }
        }
    }
}

/* Plans a chunk from the number of distances of each bit length. */
static chunk_plan plan_chunk(const u32 lengths[WIDTH_MAX + 1], u32 count)
{
    u32 up_to[WIDTH_MAX + 1];
    u32 widest = 0;
    for (u32 b = 0; b <= WIDTH_MAX; b++) {
        up_to[b] = lengths[b] + (b == 0 ? 0 : up_to[b - 1]);
        widest = lengths[b] > 0 ? b : widest;
    }
    plan_cost cost;
    weigh(&cost, up_to, widest);

    chunk_plan plan = { 0 };
    u64 least = UINT64_MAX;
    for (u32 code_bits = 0; code_bits <= CODE_BITS_MAX; code_bits++) {
        /* Lanes are rounded up to whole words, which groups cost too. */
        const u32 groups = 1u << code_bits;
        const u64 bits = cost.bits[groups - 1][widest] + (u64)count * code_bits +
                         (u64)groups * LANE_ROW_BYTES * 8 / 2;
        if (bits < least) {
            least = bits;
            plan.code_bits = code_bits;
        }
    }
    u32 width = widest;
    for (u32 group = 1u << plan.code_bits; group-- > 0;) {
        const u32 narrower = group > 0 ? cost.before[group][width] : width;
        plan.widths[group] = width;
        plan.counts[group] = up_to[width] - (group > 0 ? up_to[narrower] : 0);
        width = narrower;
    }
    return plan;
}

/* The distances of a chunk, group by group. Each group starts at a whole row of lanes, with zeros
 * after its last value. */
typedef struct pack_work {
    u8 groups[EHS_PACK_CHUNK];
    u32 low[EHS_PACK_CHUNK + EHS_PACK_GROUPS * EHS_PACK_LANES];
    u32 high[EHS_PACK_CHUNK + EHS_PACK_GROUPS * EHS_PACK_LANES]; /* of wide ones */
} pack_work;

/* Puts the low `width` bits (1..32) of rows of eight values into lanes. All eight fill one word
 * each; the bits that do not fit begin the next. */
static bool put_lanes(ehs_bytes *out, const u32 *restrict values, u32 rows, u32 width)
{
    const size_t size = words_of(rows, width) * LANE_ROW_BYTES;
    if (size == 0)
        return true;
    if (!ETLHEAP_RESERVE(out, size))
        return false;
    u8 *restrict to = out->at + out->count;
    u32 words[EHS_PACK_LANES] = { 0 };
    u32 filled = 0;
    for (u32 row = 0; row < rows; row++, values += EHS_PACK_LANES) {
        for (u32 lane = 0; lane < EHS_PACK_LANES; lane++)
            words[lane] |= values[lane] << filled;
        filled += width;
        if (filled < LANE_BITS)
            continue;
        filled -= LANE_BITS;
        memcpy(to, words, sizeof words);
        to += sizeof words;
        for (u32 lane = 0; lane < EHS_PACK_LANES; lane++)
            words[lane] = values[lane] >> 1 >> (width - filled - 1);
    }
    if (filled > 0)
        memcpy(to, words, sizeof words);
    out->count += size;
    return true;
}

/* code_bits is a constant to the compiler. */
static inline void gather_codes(u32 code_bits, const u8 *groups, u32 count, u64 *words)
{
    const u32 per_word = 64 / code_bits;
    for (u32 first = 0; first < count; first += per_word, words++) {
        const u32 here = count - first < per_word ? count - first : per_word;
        u64 word = 0;
        for (u32 k = 0; k < here; k++)
            word |= (u64)groups[first + k] << k * code_bits;
        *words = word;
    }
}

static bool put_codes(ehs_bytes *out, const chunk_plan *plan, const u8 *groups, u32 count)
{
    u64 words[EHS_PACK_CHUNK * CODE_BITS_MAX / 64];
    if (plan->code_bits == 1)
        gather_codes(1, groups, count, words);
    else if (plan->code_bits == 2)
        gather_codes(2, groups, count, words);
    return ehs_put(out, words, code_bytes(count, plan->code_bits));
}

/* The places where the groups begin among the chunk's distances, as fields. */
static u64 group_places(const chunk_plan *plan)
{
    u64 places = 0, start = 0;
    for (u32 group = 0; group < EHS_PACK_GROUPS; group++) {
        places |= start << group * FIELD_BITS;
        start += rows_of(plan->counts[group]) * EHS_PACK_LANES;
    }
    return places;
}

static void clear_row_ends(const chunk_plan *plan, u32 *distances)
{
    for (u32 group = 0; group < EHS_PACK_GROUPS; group++) {
        const u32 whole = rows_of(plan->counts[group]) * EHS_PACK_LANES;
        for (u32 i = plan->counts[group]; i < whole; i++)
            distances[i] = 0;
        distances += whole;
    }
}

/* Shares out the distances to their groups. groups[] holds bit lengths at first and group numbers
 * afterwards. */
static void share_out(const chunk_plan *plan, const u64 *values, u32 count, u64 base,
                      pack_work *work)
{
    u8 group_of[WIDTH_MAX + 1];
    for (u32 bits = 0, group = 0; bits <= plan->widths[(1u << plan->code_bits) - 1]; bits++) {
        while (bits > plan->widths[group])
            group++;
        group_of[bits] = (u8)group;
    }
    clear_row_ends(plan, work->low);
    u64 places = group_places(plan);
    for (u32 i = 0; i < count; i++) {
        const u32 group = group_of[work->groups[i]];
        const u32 field = group * FIELD_BITS;
        work->groups[i] = (u8)group;
        work->low[places >> field & UINT16_MAX] = (u32)(values[i] - base);
        places += (u64)1 << field;
    }
    if (!is_wide(plan))
        return;
    clear_row_ends(plan, work->high);
    places = group_places(plan);
    for (u32 i = 0; i < count; i++) {
        const u32 field = work->groups[i] * FIELD_BITS;
        work->high[places >> field & UINT16_MAX] = (u32)((values[i] - base) >> LANE_BITS);
        places += (u64)1 << field;
    }
}

/* Packs a chunk of equal values. */
static bool pack_equal(ehs_bytes *out, u64 value)
{
    const u8 no_codes_nor_bits[] = { 0, 0 };
    return ehs_put(out, no_codes_nor_bits, sizeof no_codes_nor_bits) &&
           ehs_put(out, &value, sizeof value);
}

static bool pack_chunk(ehs_bytes *out, const u64 *values, u32 count)
{
    pack_work work;
    u32 lengths[WIDTH_MAX + 1] = { 0 };
    u64 base = values[0], varying = 0;
    for (u32 i = 1; i < count; i++) {
        base = etl_min_u64(base, values[i]);
        varying |= values[i] ^ values[0];
    }
    if (varying == 0)
        return pack_equal(out, base);
    for (u32 i = 0; i < count; i++) {
        work.groups[i] = (u8)bit_length(values[i] - base);
        lengths[work.groups[i]]++;
    }
    const chunk_plan plan = plan_chunk(lengths, count);
    const u8 head[] = { (u8)plan.code_bits, (u8)plan.widths[0], (u8)plan.widths[1],
                        (u8)plan.widths[2], (u8)plan.widths[3] };
    share_out(&plan, values, count, base, &work);
    if (!ehs_put(out, head, 1 + ((size_t)1 << plan.code_bits)) ||
        !ehs_put(out, &base, sizeof base) || !put_codes(out, &plan, work.groups, count))
        return false;
    u32 at = 0;
    for (u32 group = 0; group < 1u << plan.code_bits; group++) {
        const u32 rows = rows_of(plan.counts[group]);
        if (!put_lanes(out, work.low + at, rows, low_width(plan.widths[group])) ||
            !put_lanes(out, work.high + at, rows, high_width(plan.widths[group])))
            return false;
        at += rows * EHS_PACK_LANES;
    }
    return true;
}

/* Adds up the 2-bit fields, each at most 2, of up to 31 words. */
typedef struct field_sum {
    u64 bytes;
} field_sum;

static inline void add_fields(field_sum *sum, u64 pairs)
{
    const u64 nibbles = (pairs & 0x3333333333333333) + (pairs >> 2 & 0x3333333333333333);
    sum->bytes += (nibbles & 0x0F0F0F0F0F0F0F0F) + (nibbles >> 4 & 0x0F0F0F0F0F0F0F0F);
}

static u32 take_sum(field_sum *sum)
{
    const u64 words = (sum->bytes & 0x00FF00FF00FF00FF) + (sum->bytes >> 8 & 0x00FF00FF00FF00FF);
    sum->bytes = 0;
    return (u32)(words * 0x0001000100010001 >> 48);
}

/* Counts the values of each group; false if the unused bits of the codes are not 0. */
static bool count_codes(chunk_plan *plan, etl_bytes codes, u32 count)
{
    static const u64 each_pair = 0x5555555555555555;
    const size_t words = codes.size / sizeof(u64);
    field_sum ones = { 0 }, twos = { 0 }, threes = { 0 };
    u64 word = 0;
    for (size_t i = 0; i < words; i++) {
        word = etl_load_u64(codes.at + i * sizeof word);
        const u64 low = word & each_pair, high = word >> 1 & each_pair;
        if (plan->code_bits == 1) {
            add_fields(&ones, low + high);
        } else {
            add_fields(&ones, low & ~high);
            add_fields(&twos, high & ~low);
            add_fields(&threes, low & high);
        }
        if (i % 31 == 30 || i + 1 == words) {
            plan->counts[1] += take_sum(&ones);
            plan->counts[2] += take_sum(&twos);
            plan->counts[3] += take_sum(&threes);
        }
    }
    plan->counts[0] = count - plan->counts[1] - plan->counts[2] - plan->counts[3];
    const u32 used_bits = count * plan->code_bits % 64;
    return used_bits == 0 || word >> used_bits == 0;
}

static bool read_plan(etl_cursor *in, u32 count, chunk_plan *plan, u64 *base, etl_bytes *codes)
{
    *plan = (chunk_plan){ .code_bits = etl_u8(in) };
    if (!etl_ok(in) || plan->code_bits > CODE_BITS_MAX)
        return false;
    for (u32 group = 0; group < 1u << plan->code_bits; group++)
        plan->widths[group] = etl_u8(in);
    *base = etl_u64(in);
    *codes = etl_view(in, code_bytes(count, plan->code_bits));
    if (!etl_ok(in))
        return false;
    for (u32 group = 0; group < 1u << plan->code_bits; group++) {
        const u32 least = group == 0 ? 0 : plan->widths[group - 1];
        if (plan->widths[group] < least || plan->widths[group] > WIDTH_MAX)
            return false;
    }
    return count_codes(plan, *codes, count);
}

/* Unpacks eight lanes of `width` bits (1..32) to rows of eight values and adds `base`. A row's
 * second word is read even if it holds nothing of the row: the mask removes it. */
static void unpack_lanes(const u8 *restrict in, u32 rows, u32 width, u32 base, u32 *restrict out)
{
    const u32 words = words_of(rows, width);
    const u32 mask = UINT32_MAX >> (LANE_BITS - width);
    for (u32 row = 0; row < rows; row++) {
        const u32 bit = row * width, word = bit / LANE_BITS, shift = bit % LANE_BITS;
        const u32 next = word + 1 < words ? word + 1 : word;
        const u8 *const first = in + word * LANE_ROW_BYTES;
        const u8 *const second = in + next * LANE_ROW_BYTES;
        u32 *const to = out + (size_t)row * EHS_PACK_LANES;
        for (u32 lane = 0; lane < EHS_PACK_LANES; lane++) {
            u32 a, b;
            memcpy(&a, first + lane * sizeof a, sizeof a);
            memcpy(&b, second + lane * sizeof b, sizeof b);
            to[lane] = base + ((a >> shift | b << 1 << (LANE_BITS - 1 - shift)) & mask);
        }
    }
}

static void fill(u32 *out, u32 value, u32 count)
{
    for (u32 i = 0; i < count; i++)
        out[i] = value;
}

/* Unpacks one half, the low or the high bits, of every group and adds `base`. False unless all
 * bytes of both halves are there. */
static bool unpack_half(etl_cursor *in, const chunk_plan *plan, bool high, u32 base, u32 *streams)
{
    u32 at = 0;
    for (u32 group = 0; group < 1u << plan->code_bits; group++) {
        const u32 rows = rows_of(plan->counts[group]);
        const u32 widths[2] = { low_width(plan->widths[group]), high_width(plan->widths[group]) };
        const u8 *halves[2];
        halves[0] = etl_take(in, words_of(rows, widths[0]) * LANE_ROW_BYTES);
        halves[1] = etl_take(in, words_of(rows, widths[1]) * LANE_ROW_BYTES);
        if (!etl_ok(in))
            return false;
        if (widths[high] == 0)
            fill(streams + at, base, rows * EHS_PACK_LANES);
        else
            unpack_lanes(halves[high], rows, widths[high], base, streams + at);
        at += rows * EHS_PACK_LANES;
    }
    return true;
}

/* Takes the values of one word of codes, each from the next place of its group. */
static inline u64 merge_word(u32 code_bits, u64 word, u64 places, const u32 *streams, u32 *out,
                             u32 count)
{
    const u64 mask = ((u64)1 << code_bits) - 1;
    for (u32 i = 0; i < count; i++) {
        const u32 field = (u32)(word & mask) * FIELD_BITS;
        out[i] = streams[places >> field & UINT16_MAX];
        places += (u64)1 << field;
        word >>= code_bits;
    }
    return places;
}

/* code_bits and so the count of a full word are constants to the compiler. */
static inline void merge_codes(u32 code_bits, etl_bytes codes, u64 places, const u32 *streams,
                               u32 *out, u32 count)
{
    const u32 per_word = 64 / code_bits;
    const u8 *at = codes.at;
    for (; count >= per_word; count -= per_word, at += sizeof(u64), out += per_word)
        places = merge_word(code_bits, etl_load_u64(at), places, streams, out, per_word);
    if (count > 0)
        merge_word(code_bits, etl_load_u64(at), places, streams, out, count);
}

static void merge(const chunk_plan *plan, etl_bytes codes, const u32 *streams, u32 *out, u32 count)
{
    const u64 places = group_places(plan);
    if (plan->code_bits == 0)
        memcpy(out, streams, count * sizeof *out);
    else if (plan->code_bits == 1)
        merge_codes(1, codes, places, streams, out, count);
    else
        merge_codes(2, codes, places, streams, out, count);
}

static bool unpack_chunk_u32(etl_cursor *in, ehs_pack_scratch *scratch, u32 *out, u32 count)
{
    chunk_plan plan;
    u64 base;
    etl_bytes codes;
    if (!read_plan(in, count, &plan, &base, &codes) || is_wide(&plan) || base > UINT32_MAX ||
        !unpack_half(in, &plan, false, (u32)base, scratch->streams))
        return false;
    merge(&plan, codes, scratch->streams, out, count);
    return true;
}

/* Rows of eight, whose count a compiler knows, become vectors. */
static void widen(const u32 *restrict low, u64 base, u64 *restrict out, u32 count)
{
    u32 at = 0;
    for (; count - at >= EHS_PACK_LANES; at += EHS_PACK_LANES) {
        for (u32 i = 0; i < EHS_PACK_LANES; i++)
            out[at + i] = base + low[at + i];
    }
    for (; at < count; at++)
        out[at] = base + low[at];
}

static bool unpack_chunk_u64(etl_cursor *in, ehs_pack_scratch *scratch, u64 *out, u32 count)
{
    chunk_plan plan;
    u64 base;
    etl_bytes codes;
    if (!read_plan(in, count, &plan, &base, &codes))
        return false;
    etl_cursor again = *in;
    if (!unpack_half(in, &plan, false, 0, scratch->streams))
        return false;
    merge(&plan, codes, scratch->streams, scratch->low, count);
    widen(scratch->low, base, out, count);
    if (!is_wide(&plan))
        return true;
    if (!unpack_half(&again, &plan, true, 0, scratch->streams))
        return false;
    merge(&plan, codes, scratch->streams, scratch->high, count);
    for (u32 i = 0; i < count; i++)
        out[i] += (u64)scratch->high[i] << LANE_BITS;
    return true;
}

static u32 chunk_size(size_t left)
{
    return left < EHS_PACK_CHUNK ? (u32)left : EHS_PACK_CHUNK;
}

bool ehs_unpack_u32(etl_cursor *in, ehs_pack_scratch *scratch, u32 *out, size_t count)
{
    for (size_t i = 0; i < count; i += EHS_PACK_CHUNK) {
        if (!unpack_chunk_u32(in, scratch, out + i, chunk_size(count - i))) {
            etl_fail(in);
            return false;
        }
    }
    return etl_ok(in);
}

bool ehs_unpack_u64(etl_cursor *in, ehs_pack_scratch *scratch, u64 *out, size_t count)
{
    for (size_t i = 0; i < count; i += EHS_PACK_CHUNK) {
        if (!unpack_chunk_u64(in, scratch, out + i, chunk_size(count - i))) {
            etl_fail(in);
            return false;
        }
    }
    return etl_ok(in);
}
