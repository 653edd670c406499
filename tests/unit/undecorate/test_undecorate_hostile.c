/*
 * Goal: no input makes name undecoration read or write outside of its bounds, take
 * long, or answer with half a name.
 * Method: real names cut everywhere, in buffers of every size and damaged at random;
 * names that nest, repeat and refer to themselves as much as they can.
 * Everything lies in memory of exactly its size, so that a sanitizer sees overruns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "parser/base.h"
#include "parser/undecorate.h"

#define OUT_CAPACITY 4096

static const char *const names[] = {
    "??$emplace@V?$map@HV?$vec@D@@@app@@AEAV12@@?$vec@V?$map@HV?$vec@D@@@app@@@app@@QEAAXHPEBD0@Z",
    "??R<lambda_1>@?1??run@?$t@$$A6AXPEAH0@Z@@QEAAXP8c@@EAAHD@Z@Z@QEBA@H@Z",
    "??$f@$$V$0?BA@$1?x@c@@2PAY02HA$H?g@c@@QAEXXZ7$$CBV?$u@P6AP6AX_N@Z0@Z@@@@YAXXZ",
    "?x@?BA@??g@?A0x12@@SAX_K@Z@4PEQc@@HEQ1@",
    "??_C@_1CAA@A@?$AAa?$CA?$KM?a?b?$AA?6@",
    "??_7widget@@6Bbase@app@@@",
    "??_R1A@?0A@EA@?$t@H@app@@8",
    "?f@c@@$R4BA@M@PPPPPPPM@7EAAXXZ",
    "??__E?x@?$t@Y0BA@$$CBH@@2V1@A@@YAXXZ",
    "??_B?1??f@@YAXXZ@51",
};

/* The answer for a copy of the input without a byte to spare; length 0: refused. */
static size_t read_copy(const char *name, size_t size, char *out, size_t capacity)
{
    u8 *const input = malloc(size > 0 ? size : 1);
    assert_non_null(input);
    if (size > 0)
        memcpy(input, name, size);
    size_t length = 0;
    const bool is_read = etl_undecorate((etl_bytes){ input, size }, out, capacity, &length);
    const etl_bytes plain = etl_undecorate_c((etl_bytes){ input, size }, true);
    assert_true(plain.at >= input && plain.size <= size - (size_t)(plain.at - input));
    free(input);
    if (!is_read)
        return 0;
    assert_true(length > 0 && length < capacity);
    assert_int_equal(out[length], '\0');
    return length;
}

static void a_name_may_end_anywhere(void **state)
{
    (void)state;
    char out[OUT_CAPACITY];
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++) {
        for (size_t size = 0; size < strlen(names[i]); size++)
            (void)read_copy(names[i], size, out, sizeof out);
        assert_true(read_copy(names[i], strlen(names[i]), out, sizeof out) > 0);
    }
}

static void the_result_fits_or_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++) {
        char whole[OUT_CAPACITY];
        const size_t size = strlen(names[i]);
        const size_t length = read_copy(names[i], size, whole, sizeof whole);
        for (size_t capacity = 0; capacity <= length + 2; capacity++) {
            char *const out = malloc(capacity > 0 ? capacity : 1);
            assert_non_null(out);
            const size_t got = read_copy(names[i], size, out, capacity);
            assert_int_equal(got, capacity > length ? length : 0);
            if (got > 0)
                assert_string_equal(out, whole);
            free(out);
        }
    }
}

static u32 next_random(u32 *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Changes, removes, repeats or brings in a few characters of another name. */
static size_t damage(u32 *seed, char *name, size_t size, size_t capacity)
{
    static const char letters[] = "?@$_0123456789ABCDEFGHIJPQRSTUVWXYZ";
    for (u32 n = next_random(seed) % 4 + 1; n > 0; n--) {
        const size_t at = next_random(seed) % (size + 1);
        const char *const other = names[next_random(seed) % ETL_COUNT_OF(names)];
        const size_t from = next_random(seed) % strlen(other);
        size_t count = next_random(seed) % 12;
        if (count > strlen(other) - from)
            count = strlen(other) - from;
        switch (next_random(seed) % 3) {
        case 0:
            if (at < size)
                name[at] = letters[next_random(seed) % (sizeof letters - 1)];
            break;
        case 1:
            size = at;
            break;
        default:
            if (size + count > capacity)
                break;
            memmove(name + at + count, name + at, size - at);
            memcpy(name + at, other + from, count);
            size += count;
            break;
        }
    }
    return size;
}

static void damaged_names_are_read_or_refused(void **state)
{
    (void)state;
    char out[OUT_CAPACITY];
    u32 seed = 2024;
    size_t read = 0;
    for (unsigned i = 0; i < 40000; i++) {
        char name[256];
        const char *const whole = names[i % ETL_COUNT_OF(names)];
        memcpy(name, whole, strlen(whole));
        const size_t size = damage(&seed, name, strlen(whole), sizeof name);
        read += read_copy(name, size, out, next_random(&seed) % sizeof out) > 0;
    }
    /* Both ways through were taken, or this tests nothing. */
    assert_in_range(read, 1000, 39000);
}

static void all_bytes_are_allowed_in_names(void **state)
{
    (void)state;
    char out[OUT_CAPACITY];
    for (unsigned byte = 0; byte < 256; byte++) {
        char name[] = "?f\0g@@YAXXZ";
        name[2] = (char)byte;
        const size_t length = read_copy(name, sizeof name - 1, out, sizeof out);
        if (byte == '@')
            continue;
        assert_int_equal(length, 3);
        assert_memory_equal(out, name + 1, 3);
    }
}

typedef struct nesting {
    const char *prefix, *open, *middle, *close, *suffix;
} nesting;

static const nesting nestings[] = {
    { "?f@?$t@", "V?$t@", "H", "@@", "@@QEAAXXZ" },                     /* templates */
    { "?x@", "?1??x@", "?1??f@@YAXXZ@", "4HA@", "4HA" },                /* blocks */
    { "?f@?$t@", "$1?f@?$t@", "H", "@@3HA", "@@QEAAXXZ" },              /* symbols as arguments */
    { "?f@?$t@", "PA", "H", "", "@@QEAAXXZ" },                          /* pointers */
    { "?f@?$t@", "P6AX", "H", "@Z", "@@QEAAXXZ" },                      /* parameters */
    { "?f@?$t@", "P6A", "H", "XZ", "@@QEAAXXZ" },                       /* return types */
    { "?f@?$t@", "Y02", "H", "", "@@QEAAXXZ" },                         /* arrays */
    { "?f@?$t@", "V?$t@Va@b@c@d@e@g@h@i@j@@", "H", "@@", "@@QEAAXXZ" }, /* memorized names */
};

static size_t append(char *name, size_t size, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++, size += strlen(text))
        memcpy(name + size, text, strlen(text));
    return size;
}

static size_t read_nested(const nesting *form, size_t count)
{
    static char name[1 << 15];
    static char out[1 << 16];
    size_t size = append(name, 0, form->prefix, 1);
    size = append(name, size, form->open, count);
    size = append(name, size, form->middle, 1);
    size = append(name, size, form->close, count);
    size = append(name, size, form->suffix, 1);
    return read_copy(name, size, out, sizeof out);
}

static void nesting_is_read_to_a_depth_and_then_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(nestings); i++) {
        size_t depth = 1;
        while (depth < 1000 && read_nested(&nestings[i], depth) > 0)
            depth++;
        assert_in_range(depth, 100, 2000);
        for (; depth < 1000; depth += 7)
            assert_int_equal(read_nested(&nestings[i], depth), 0);
    }
}

/* Each parameter is a function of six times the one before it. */
static size_t read_repeating(int levels)
{
    char name[1024] = "?f@?$t@P6AXPAH";
    for (char digit = '0'; digit < '0' + levels; digit++) {
        const char sixfold[] = { 'P',   '6',   'A',   'X', digit, digit, digit,
                                 digit, digit, digit, '@', 'Z',   '\0' };
        strcat(name, sixfold);
    }
    strcat(name, "@Z@@QAEXXZ");
    /* Room for all of it: not what the room is, but what is done is limited. */
    const size_t capacity = (size_t)1 << 26;
    char *const out = malloc(capacity);
    assert_non_null(out);
    const size_t length = read_copy(name, strlen(name), out, capacity);
    free(out);
    return length;
}

static void names_that_multiply_themselves_are_refused(void **state)
{
    (void)state;
    assert_in_range(read_repeating(2), 300, 1500);
    assert_in_range(read_repeating(3), 2000, 9000);
    assert_int_equal(read_repeating(7), 0);
    assert_int_equal(read_repeating(9), 0);
}

/* Templates that differ at their ends are printed to be compared, each with each. */
static size_t read_alike(size_t length, char last)
{
    static char name[ETL_DECORATED_SIZE_MAX + 1];
    static char out[1 << 16];
    size_t size = append(name, 0, "?f@?$t@", 1);
    for (char end = 'C'; end <= last; end++) {
        size = append(name, size, "V?$u@", 1);
        size = append(name, size, "H", length);
        name[size++] = end;
        size = append(name, size, "@@", 1);
    }
    size = append(name, size, "@@QEAAXXZ", 1);
    return read_copy(name, size, out, sizeof out);
}

static void names_that_are_costly_to_compare_are_refused(void **state)
{
    (void)state;
    assert_true(read_alike(100, 'K') > 0);
    assert_true(read_alike(1000, 'C') > 0);
    assert_int_equal(read_alike(1900, 'D'), 0);
}

static void names_up_to_the_limit_are_read(void **state)
{
    (void)state;
    static char name[ETL_DECORATED_SIZE_MAX + 2];
    static char out[2 * ETL_DECORATED_SIZE_MAX];
    static const char encoding[] = "@@YAXXZ";
    for (size_t size = ETL_DECORATED_SIZE_MAX; size <= ETL_DECORATED_SIZE_MAX + 1; size++) {
        memset(name, 'x', size);
        name[0] = '?';
        memcpy(name + size - strlen(encoding), encoding, strlen(encoding));
        const size_t length = read_copy(name, size, out, sizeof out);
        assert_int_equal(length, size > ETL_DECORATED_SIZE_MAX ? 0 : size - 1 - strlen(encoding));
    }
}

/* The scratch of a call lies where this array lay, and begins with what it held. */
__attribute__((noinline)) static unsigned fill_stack(int byte)
{
    volatile u8 area[200 * 1024];
    for (size_t i = 0; i < sizeof area; i++)
        area[i] = (u8)byte;
    return area[sizeof area / 2];
}

static void answers_do_not_depend_on_what_was_in_memory(void **state)
{
    (void)state;
    static const char *const parts_missing[] = { "?f@?$t@$1@@QEAAXXZ", "??_R2widget@@8" };
    static const char *const readable[] = { "t<&>::f", "widget::`RTTI Base Class Array'" };
    for (int byte = 0; byte < 256; byte++) {
        for (size_t i = 0; i < ETL_COUNT_OF(readable); i++) {
            char out[64];
            assert_int_equal(fill_stack(byte), byte);
            const etl_bytes name = { (const u8 *)parts_missing[i], strlen(parts_missing[i]) };
            assert_true(etl_undecorate(name, out, sizeof out, NULL));
            assert_string_equal(out, readable[i]);
        }
    }
}

static void literals_longer_than_compilers_write_are_refused(void **state)
{
    (void)state;
    char name[256];
    char out[256];
    size_t size = append(name, 0, "??_C@_0EAA@A@", 1);
    size = append(name, size, "x", 128);
    name[size] = '@';
    assert_int_equal(read_copy(name, size + 1, out, sizeof out), 128 + strlen("\"\"..."));
    size = append(name, size, "x@", 1);
    assert_int_equal(read_copy(name, size, out, sizeof out), 0);
}

/* A list of sizes that is never there, and numbers with more digits than bits. */
static void numbers_may_be_of_any_size(void **state)
{
    (void)state;
    char out[OUT_CAPACITY];
    assert_int_equal(read_copy("?f@?$t@YPPPPPPPPPPPPPPPP@0H@@YAXXZ", 34, out, sizeof out), 0);
    static const char wide[] = "?f@?$t@$0BPPPPPPPPPPPPPPPO@@@QAEXXZ";
    assert_true(read_copy(wide, sizeof wide - 1, out, sizeof out) > 0);
    assert_string_equal(out, "t<18446744073709551614>::f");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_may_end_anywhere),
        cmocka_unit_test(the_result_fits_or_is_refused),
        cmocka_unit_test(damaged_names_are_read_or_refused),
        cmocka_unit_test(all_bytes_are_allowed_in_names),
        cmocka_unit_test(nesting_is_read_to_a_depth_and_then_refused),
        cmocka_unit_test(names_that_multiply_themselves_are_refused),
        cmocka_unit_test(names_that_are_costly_to_compare_are_refused),
        cmocka_unit_test(names_up_to_the_limit_are_read),
        cmocka_unit_test(answers_do_not_depend_on_what_was_in_memory),
        cmocka_unit_test(literals_longer_than_compilers_write_are_refused),
        cmocka_unit_test(numbers_may_be_of_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
