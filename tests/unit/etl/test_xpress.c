/*
 * Goal: the plain XPRESS decoder gives exactly what [MS-XCA] says, for sound and
 * for hostile input, and touches no byte outside input and output.
 * Method: the published examples, hand-built streams for each form and each
 * defect, every cut of a stream, and random streams, whose output and verdict
 * must be those of a reference decoder that goes byte by byte. All input and
 * output lies against pages that cannot be touched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/hand_bytes.h"
#include "parser/etl/xpress.h"

#define OUTPUT_MAX ((size_t)1 << 20)

typedef struct stream {
    hand_bytes bytes;
    size_t flags_at;
    u32 flags;
    unsigned flag_count;
    size_t half_at; /* offset of the byte whose high half is free; 0 for none */
} stream;

static void put_flag(stream *s, u32 flag)
{
    if (s->flag_count == 32)
        s->flag_count = 0;
    if (s->flag_count == 0) {
        s->flags_at = s->bytes.size;
        s->flags = 0;
        hand_u32(&s->bytes, 0);
    }
    s->flag_count++;
    s->flags |= flag << (32 - s->flag_count);
    const u32 unused = s->flag_count == 32 ? 0 : UINT32_MAX >> s->flag_count;
    hand_set_u32(&s->bytes, s->flags_at, s->flags | unused);
}

static void put_literal(stream *s, unsigned byte)
{
    put_flag(s, 0);
    hand_u8(&s->bytes, byte);
}

static void put_text(stream *s, const char *text)
{
    for (; *text; text++)
        put_literal(s, (u8)*text);
}

static void put_half(stream *s, unsigned half)
{
    if (s->half_at != 0) {
        s->bytes.at[s->half_at] |= (u8)(half << 4);
        s->half_at = 0;
        return;
    }
    s->half_at = s->bytes.size;
    hand_u8(&s->bytes, half);
}

/* The u16 of a match with `low` in its length bits; what follows is the caller's. */
static void put_match_word(stream *s, size_t distance, unsigned low)
{
    put_flag(s, 1);
    hand_u16(&s->bytes, (unsigned)(distance - 1) << 3 | low);
}

static void put_match(stream *s, size_t distance, size_t length)
{
    const size_t rest = length - 3;
    put_match_word(s, distance, rest < 7 ? (unsigned)rest : 7);
    if (rest < 7)
        return;
    put_half(s, rest < 22 ? (unsigned)(rest - 7) : 15);
    if (rest < 22)
        return;
    hand_u8(&s->bytes, rest < 277 ? (unsigned)(rest - 22) : 255);
    if (rest < 277)
        return;
    hand_u16(&s->bytes, rest <= UINT16_MAX ? (unsigned)rest : 0);
    if (rest > UINT16_MAX)
        hand_u32(&s->bytes, (u32)rest);
}

typedef struct reference {
    etl_bytes in;
    size_t at;
    size_t half_at;
    u8 *out;
    size_t size;
    size_t wanted;
} reference;

/* The next `count` bytes as a number, or false at the end of the input. */
static bool reference_read(reference *r, size_t count, size_t *value)
{
    if (count > r->in.size - r->at) {
        r->at = r->in.size;
        return false;
    }
    *value = 0;
    for (size_t i = count; i > 0; i--)
        *value = *value << 8 | r->in.at[r->at + i - 1];
    r->at += count;
    return true;
}

/* False at the end of the input; *length is 0 when it is impossible. */
static bool reference_length(reference *r, size_t low, size_t *length)
{
    size_t more = low;
    *length = low + 3;
    if (low < 7)
        return true;
    if (r->half_at != 0) {
        more = r->in.at[r->half_at] >> 4;
        r->half_at = 0;
    } else {
        r->half_at = r->at;
        if (!reference_read(r, 1, &more))
            return false;
        more &= 15;
    }
    *length = more + 7 + 3;
    if (more < 15)
        return true;
    if (!reference_read(r, 1, &more))
        return false;
    *length = more + 15 + 7 + 3;
    if (more < 255)
        return true;
    if (!reference_read(r, 2, &more) || (more == 0 && !reference_read(r, 4, &more)))
        return false;
    *length = more < 22 ? 0 : more + 3;
    return true;
}

static etl_xpress_end reference_match(reference *r)
{
    size_t word, length;
    if (!reference_read(r, 2, &word) || !reference_length(r, word & 7, &length))
        return ETL_XPRESS_SHORT;
    const size_t distance = (word >> 3) + 1;
    if (length == 0 || distance > r->size)
        return ETL_XPRESS_INVALID;
    for (size_t i = 0; i < length; i++) {
        if (r->size == r->wanted)
            return ETL_XPRESS_CUT;
        r->out[r->size] = r->out[r->size - distance];
        r->size++;
    }
    return ETL_XPRESS_DONE;
}

static etl_xpress_end reference_decode(reference *r)
{
    size_t flags = 0;
    unsigned flag_count = 0;
    while (r->size < r->wanted) {
        if (flag_count == 0 && !reference_read(r, 4, &flags))
            return ETL_XPRESS_SHORT;
        flag_count = flag_count == 0 ? 31 : flag_count - 1;
        if ((flags >> flag_count & 1) == 0) {
            size_t literal;
            if (!reference_read(r, 1, &literal))
                return ETL_XPRESS_SHORT;
            r->out[r->size++] = (u8)literal;
            continue;
        }
        const etl_xpress_end end = reference_match(r);
        if (end != ETL_XPRESS_DONE)
            return end;
    }
    return ETL_XPRESS_DONE;
}

static u8 expected_bytes[OUTPUT_MAX];

/* Decodes with `slack` and checks output and verdict against the reference. */
static etl_xpress_end check_once(etl_bytes in, size_t wanted, size_t slack, hand_edge edge)
{
    reference r = { .in = in, .out = expected_bytes, .wanted = wanted };
    const etl_xpress_end expected_end = reference_decode(&r);
    hand_guarded input = hand_guard_bytes(in, edge);
    hand_guarded memory = hand_guard(wanted + slack, edge);
    etl_xpress_output output = { .at = memory.at, .wanted = wanted, .slack = slack };
    const etl_xpress_end end = etl_xpress_plain((etl_bytes){ input.at, in.size }, &output);
    assert_int_equal(end, expected_end);
    assert_int_equal(output.size, r.size);
    assert_memory_equal(memory.at, expected_bytes, r.size);
    hand_unguard(&memory);
    hand_unguard(&input);
    return end;
}

static etl_xpress_end check(etl_bytes in, size_t wanted)
{
    (void)check_once(in, wanted, 0, HAND_AT_END);
    (void)check_once(in, wanted, 7, HAND_AT_END);
    (void)check_once(in, wanted, ETL_XPRESS_SLACK, HAND_AT_START);
    return check_once(in, wanted, ETL_XPRESS_SLACK, HAND_AT_END);
}

static void assert_decodes_to(etl_bytes in, const void *plain, size_t size)
{
    assert_int_equal(check(in, size), ETL_XPRESS_DONE);
    assert_memory_equal(expected_bytes, plain, size);
}

static void assert_stream_decodes_to(stream *s, const void *plain, size_t size)
{
    assert_decodes_to(hand_view(&s->bytes), plain, size);
    hand_free(&s->bytes);
}

/* [MS-XCA] 3.1, first example. */
static void published_literals_decode(void **state)
{
    (void)state;
    static const u8 packed[] = { 0x3f, 0x00, 0x00, 0x00, 'a', 'b', 'c', 'd', 'e', 'f',
                                 'g',  'h',  'i',  'j',  'k', 'l', 'm', 'n', 'o', 'p',
                                 'q',  'r',  's',  't',  'u', 'v', 'w', 'x', 'y', 'z' };
    assert_decodes_to((etl_bytes){ packed, sizeof packed }, "abcdefghijklmnopqrstuvwxyz", 26);
}

/* [MS-XCA] 3.1, second example: "abc" a hundred times. */
static void published_match_decodes(void **state)
{
    (void)state;
    static const u8 packed[] = { 0xff, 0xff, 0xff, 0x1f, 'a',  'b', 'c',
                                 0x17, 0x00, 0x0f, 0xff, 0x26, 0x01 };
    u8 plain[300];
    for (size_t i = 0; i < sizeof plain; i++)
        plain[i] = (u8)('a' + i % 3);
    assert_decodes_to((etl_bytes){ packed, sizeof packed }, plain, sizeof plain);
}

static void runs_of_literals_longer_than_a_flag_word_decode(void **state)
{
    (void)state;
    u8 plain[333];
    stream s = { 0 };
    for (size_t i = 0; i < sizeof plain; i++) {
        plain[i] = (u8)(i * 7);
        put_literal(&s, plain[i]);
    }
    assert_stream_decodes_to(&s, plain, sizeof plain);
}

static void matches_of_every_length_form_decode(void **state)
{
    (void)state;
    const size_t lengths[] = { 3,   4,   9,   10,  11,    24,    25,    26,    279,
                               280, 281, 300, 999, 65537, 65538, 65539, 70000, 99999 };
    for (size_t i = 0; i < ETL_COUNT_OF(lengths); i++) {
        stream s = { 0 };
        put_text(&s, "xyz");
        put_match(&s, 3, lengths[i]);
        put_literal(&s, '!');
        assert_int_equal(check(hand_view(&s.bytes), lengths[i] + 4), ETL_XPRESS_DONE);
        assert_int_equal(expected_bytes[lengths[i] + 2], "zxy"[lengths[i] % 3]);
        assert_int_equal(expected_bytes[lengths[i] + 3], '!');
        hand_free(&s.bytes);
    }
}

static void matches_of_every_distance_repeat_their_source(void **state)
{
    (void)state;
    for (size_t distance = 1; distance <= 40; distance++) {
        stream s = { 0 };
        for (size_t i = 0; i < 40; i++)
            put_literal(&s, (unsigned)i);
        put_match(&s, distance, 100);
        for (size_t i = 0; i < 100; i++)
            put_literal(&s, 'x'); /* keeps the match away from the end */
        assert_int_equal(check(hand_view(&s.bytes), 240), ETL_XPRESS_DONE);
        for (size_t i = 0; i < 100; i++)
            assert_int_equal(expected_bytes[40 + i], 40 - distance + i % distance);
        hand_free(&s.bytes);
    }
}

static void the_farthest_distance_decodes(void **state)
{
    (void)state;
    stream s = { 0 };
    put_text(&s, "abcd");
    put_match(&s, 4, 8192 - 4);
    put_match(&s, 8192, 5);
    assert_int_equal(check(hand_view(&s.bytes), 8197), ETL_XPRESS_DONE);
    assert_memory_equal(expected_bytes + 8192, "abcda", 5);
    hand_free(&s.bytes);
}

/* The second long match takes the high half of a byte far behind it by then. */
static void half_bytes_pair_up_across_other_symbols(void **state)
{
    (void)state;
    stream s = { 0 };
    put_text(&s, "ab");
    put_match(&s, 2, 12);
    put_text(&s, "0123456789012345678901234567890123456789");
    put_match(&s, 40, 20);
    put_match(&s, 1, 15);
    put_match(&s, 1, 16);
    assert_stream_decodes_to(&s,
                             "ababababababab0123456789012345678901234567890123456789"
                             "01234567890123456789"
                             "999999999999999"
                             "9999999999999999",
                             14 + 40 + 20 + 15 + 16);
}

static void an_unused_flag_word_at_the_end_is_ignored(void **state)
{
    (void)state;
    stream s = { 0 };
    put_text(&s, "0123456789abcdef0123456789abcdef");
    hand_u32(&s.bytes, UINT32_MAX);
    assert_stream_decodes_to(&s, "0123456789abcdef0123456789abcdef", 32);
}

static void a_match_before_the_start_is_invalid(void **state)
{
    (void)state;
    for (size_t literals = 0; literals < 100; literals += 9) {
        stream s = { 0 };
        for (size_t i = 0; i < literals; i++)
            put_literal(&s, 'x');
        put_match(&s, literals + 1, 5);
        for (size_t i = 0; i < 100; i++)
            put_literal(&s, 'y');
        assert_int_equal(check(hand_view(&s.bytes), literals + 105), ETL_XPRESS_INVALID);
        hand_free(&s.bytes);
    }
}

/* A u16 or u32 length below what shorter forms hold cannot come from a writer. */
static void a_long_form_of_a_short_length_is_invalid(void **state)
{
    (void)state;
    for (unsigned length = 1; length <= 22; length++) {
        for (int is_u32 = 0; is_u32 <= 1; is_u32++) {
            stream s = { 0 };
            put_text(&s, "abc");
            put_match_word(&s, 3, 7);
            put_half(&s, 15);
            hand_u8(&s.bytes, 255);
            hand_u16(&s.bytes, is_u32 ? 0 : length);
            if (is_u32)
                hand_u32(&s.bytes, length);
            const etl_xpress_end end = check(hand_view(&s.bytes), 28);
            assert_int_equal(end, length < 22 ? ETL_XPRESS_INVALID : ETL_XPRESS_DONE);
            hand_free(&s.bytes);
        }
    }
}

static void an_endless_match_stops_at_the_wanted_size(void **state)
{
    (void)state;
    stream s = { 0 };
    put_text(&s, "abc");
    put_match_word(&s, 1, 7);
    put_half(&s, 15);
    hand_u8(&s.bytes, 255);
    hand_u16(&s.bytes, 0);
    hand_u32(&s.bytes, UINT32_MAX);
    assert_int_equal(check(hand_view(&s.bytes), 100000), ETL_XPRESS_CUT);
    hand_free(&s.bytes);
}

static void empty_input_is_short_unless_nothing_is_wanted(void **state)
{
    (void)state;
    assert_int_equal(check((etl_bytes){ NULL, 0 }, 1), ETL_XPRESS_SHORT);
    assert_int_equal(check((etl_bytes){ NULL, 0 }, 0), ETL_XPRESS_DONE);
}

/* All the forms in one stream, about 2,000 bytes of it. */
static void put_a_bit_of_everything(stream *s)
{
    u64 random = 7;
    put_text(s, "the quick brown fox jumps over the lazy dog");
    size_t size = 43;
    while (s->bytes.size < 2000) {
        for (u32 i = hand_random(&random) % 4; i > 0; i--, size++)
            put_literal(s, hand_random(&random) & 0xff);
        const u32 kind = hand_random(&random) % 8;
        const size_t length = kind == 0   ? 3 + hand_random(&random) % 500
                              : kind == 1 ? 3 + hand_random(&random) % 40
                                          : 3 + hand_random(&random) % 12;
        const size_t reach = size < 8192 ? size : 8192;
        const size_t far = kind < 4 ? reach : 20;
        put_match(s, 1 + hand_random(&random) % far, length);
        size += length;
    }
}

static void every_cut_of_a_stream_gives_a_prefix(void **state)
{
    (void)state;
    stream s = { 0 };
    put_a_bit_of_everything(&s);
    reference whole = { .in = hand_view(&s.bytes), .out = expected_bytes, .wanted = OUTPUT_MAX };
    (void)reference_decode(&whole);
    u8 *const plain = malloc(whole.size);
    assert_non_null(plain);
    memcpy(plain, expected_bytes, whole.size);
    for (size_t cut = 0; cut < s.bytes.size; cut++) {
        const etl_bytes in = { s.bytes.at, cut };
        assert_int_equal(check_once(in, whole.size, ETL_XPRESS_SLACK, HAND_AT_END),
                         ETL_XPRESS_SHORT);
        assert_int_equal(check_once(in, whole.size, 0, HAND_AT_END), ETL_XPRESS_SHORT);
    }
    assert_decodes_to(hand_view(&s.bytes), plain, whole.size);
    free(plain);
    hand_free(&s.bytes);
}

static void every_wanted_size_gives_that_prefix(void **state)
{
    (void)state;
    stream s = { 0 };
    put_a_bit_of_everything(&s);
    for (size_t wanted = 0; wanted < 3000; wanted++) {
        const etl_xpress_end end = check_once(hand_view(&s.bytes), wanted, 0, HAND_AT_END);
        assert_true(end == ETL_XPRESS_DONE || end == ETL_XPRESS_CUT);
    }
    hand_free(&s.bytes);
}

static void damaged_streams_decode_as_the_reference_does(void **state)
{
    (void)state;
    stream s = { 0 };
    put_a_bit_of_everything(&s);
    reference whole = { .in = hand_view(&s.bytes), .out = expected_bytes, .wanted = OUTPUT_MAX };
    (void)reference_decode(&whole);
    u64 random = 99;
    for (int round = 0; round < 4000; round++) {
        const size_t at = hand_random(&random) % s.bytes.size;
        const u8 saved = s.bytes.at[at];
        s.bytes.at[at] ^= (u8)(1u << hand_random(&random) % 8);
        (void)check_once(hand_view(&s.bytes), whole.size, ETL_XPRESS_SLACK, HAND_AT_END);
        s.bytes.at[at] = saved;
    }
    hand_free(&s.bytes);
}

static void random_bytes_decode_as_the_reference_does(void **state)
{
    (void)state;
    u64 random = 12345;
    for (int round = 0; round < 4000; round++) {
        hand_bytes bytes = { 0 };
        for (u32 size = 4 + hand_random(&random) % 400; size > 0; size--) {
            const u32 value = hand_random(&random);
            hand_u8(&bytes, value % 3 == 0 ? 0 : value >> 8 & (value % 3 == 1 ? 15 : 255));
        }
        (void)check_once(hand_view(&bytes), hand_random(&random) % 5000, hand_random(&random) % 40,
                         HAND_AT_END);
        hand_free(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_literals_decode),
        cmocka_unit_test(published_match_decodes),
        cmocka_unit_test(runs_of_literals_longer_than_a_flag_word_decode),
        cmocka_unit_test(matches_of_every_length_form_decode),
        cmocka_unit_test(matches_of_every_distance_repeat_their_source),
        cmocka_unit_test(the_farthest_distance_decodes),
        cmocka_unit_test(half_bytes_pair_up_across_other_symbols),
        cmocka_unit_test(an_unused_flag_word_at_the_end_is_ignored),
        cmocka_unit_test(a_match_before_the_start_is_invalid),
        cmocka_unit_test(a_long_form_of_a_short_length_is_invalid),
        cmocka_unit_test(an_endless_match_stops_at_the_wanted_size),
        cmocka_unit_test(empty_input_is_short_unless_nothing_is_wanted),
        cmocka_unit_test(every_cut_of_a_stream_gives_a_prefix),
        cmocka_unit_test(every_wanted_size_gives_that_prefix),
        cmocka_unit_test(damaged_streams_decode_as_the_reference_does),
        cmocka_unit_test(random_bytes_decode_as_the_reference_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
