/*
 * Goal: a query selects exactly the lifetimes that cli.md says it does and gives
 * each its type; patterns match as wildcards do.
 * Method: results by hand, one filter at a time, at its edges; windows compared
 * tick by tick with the definition in nanoseconds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/query/query.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/hand_result.h"
#include "parser/system/name_fold.h"

#define T0   HAND_START_TICKS
#define LAST (HAND_START_TICKS + 100)

/* One lifetime in one segment, and the query that looks at it. */
typedef struct bench {
    etlheap_result *result;
    etlheap_query query;
    lifetime row;
} bench;

static bench open_bench(void)
{
    bench b = { .result = hand_result_new(), .query = etlheap_query_default() };
    b.row = (lifetime){ .alloc_ticks = T0 + 10,
                        .free_ticks = T0 + 20,
                        .free_type = ETLHEAP_FREE_FREE,
                        .size = 64,
                        .heap = 0x1f0000,
                        .process = hand_process(b.result, 4321, "App.exe"),
                        .thread = 77 };
    hand_ready(b.result, LAST);
    return b;
}

static void close_bench(bench *b)
{
    etlheap_result_free(b->result);
}

static bool select_row(const bench *b, query_row *out)
{
    hand_lifetime(b->result, &b->row);
    query_plan plan;
    assert_int_equal(query_open(&plan, b->result, &b->query, NULL), ETL_OK);
    const store_segment *const segment =
        &b->result->store.segments.at[b->result->store.segments.count - 1];
    const etlheap_segment view = store_view(segment);
    const bool selected = query_select(&plan, &view, segment->rows - 1, out);
    query_close(&plan);
    return selected;
}

static bool selects(const bench *b)
{
    query_row ignored;
    return select_row(b, &ignored);
}

/* --- windows --------------------------------------------------------------------- */

static void the_whole_trace_is_the_default(void **state)
{
    (void)state;
    bench b = open_bench();
    query_plan plan;
    assert_int_equal(query_open(&plan, b.result, &b.query, NULL), ETL_OK);
    assert_int_equal(plan.from_ns, 0);
    assert_int_equal(plan.to_ns, 101 * HAND_TICK_NS);
    assert_int_equal(plan.from_ticks, T0);
    assert_int_equal(plan.to_ticks, LAST + 1);
    query_close(&plan);
    close_bench(&b);
}

static void events_before_time_zero_are_in_the_default_window(void **state)
{
    (void)state;
    bench b = open_bench();
    b.result->first_ticks = T0 - 7;
    query_plan plan;
    assert_int_equal(query_open(&plan, b.result, &b.query, NULL), ETL_OK);
    assert_int_equal(plan.from_ns, -7 * HAND_TICK_NS);
    assert_int_equal(plan.from_ticks, T0 - 7);
    query_close(&plan);
    close_bench(&b);
}

/* A query's window in ns at, just before and just after a tick; alloc and free at
 * all ticks around it. The definition of cli.md, in nanoseconds. */
static void windows_select_what_the_nanoseconds_say(void **state)
{
    (void)state;
    bench b = open_bench();
    static const i64 edges_ns[][2] = { { 1000, 2000 }, { 999, 1999 }, { 1001, 2001 },
                                       { 950, 1050 },  { 0, 1 },      { 1000, 1000 } };
    for (size_t e = 0; e < ETL_COUNT_OF(edges_ns); e++) {
        const i64 from = edges_ns[e][0], to = edges_ns[e][1];
        b.query.from_ns = from;
        b.query.to_ns = to;
        for (i64 alloc = 0; alloc < 25; alloc++) {
            for (i64 freed = alloc; freed < 26; freed++) {
                b.row.alloc_ticks = T0 + alloc;
                b.row.free_ticks = freed == 25 ? ETLHEAP_TICKS_NEVER : T0 + freed;
                const i64 a = alloc * HAND_TICK_NS;
                const i64 f = freed == 25 ? INT64_MAX : freed * HAND_TICK_NS;
                query_row row;
                const bool selected = select_row(&b, &row);
                assert_int_equal(selected, a < to && f >= from);
                if (!selected)
                    continue;
                const etlheap_type expected =
                    a >= from ? (f < to ? ETLHEAP_TYPE_AIFI : ETLHEAP_TYPE_AIFO)
                              : (f < to ? ETLHEAP_TYPE_AOFI : ETLHEAP_TYPE_AOFO);
                assert_int_equal(row.type, expected);
            }
        }
    }
    close_bench(&b);
}

static void what_was_there_before_the_trace_is_allocated_outside(void **state)
{
    (void)state;
    bench b = open_bench();
    b.row.alloc_ticks = ETLHEAP_TICKS_BEFORE;
    query_row row;
    assert_true(select_row(&b, &row));
    assert_int_equal(row.type, ETLHEAP_TYPE_AOFI);
    b.row.free_ticks = ETLHEAP_TICKS_NEVER;
    assert_true(select_row(&b, &row));
    assert_int_equal(row.type, ETLHEAP_TYPE_AOFO);
    close_bench(&b);
}

/* A window that begins after the trace shows what was left. */
static void a_window_behind_the_trace_is_empty_but_not_reversed(void **state)
{
    (void)state;
    bench b = open_bench();
    b.query.from_ns = 500 * HAND_TICK_NS;
    query_plan plan;
    assert_int_equal(query_open(&plan, b.result, &b.query, NULL), ETL_OK);
    assert_int_equal(plan.from_ns, 500 * HAND_TICK_NS);
    assert_int_equal(plan.to_ns, plan.from_ns);
    query_close(&plan);
    assert_false(selects(&b));
    b.row.free_ticks = ETLHEAP_TICKS_NEVER;
    query_row row;
    assert_true(select_row(&b, &row));
    assert_int_equal(row.type, ETLHEAP_TYPE_AOFO);
    close_bench(&b);
}

static void a_window_before_time_zero_is_empty_but_not_reversed(void **state)
{
    (void)state;
    bench b = open_bench();
    b.query.to_ns = -1000;
    query_plan plan;
    assert_int_equal(query_open(&plan, b.result, &b.query, NULL), ETL_OK);
    assert_int_equal(plan.to_ns, -1000);
    assert_int_equal(plan.from_ns, -1000);
    query_close(&plan);
    assert_false(selects(&b));
    close_bench(&b);
}

/* --- how a lifetime ends -------------------------------------------------------------- */

static void a_process_exit_ends_a_lifetime_only_when_asked(void **state)
{
    (void)state;
    bench b = open_bench();
    b.row.free_type = ETLHEAP_FREE_PROCESS_EXIT;
    query_row row;
    assert_true(select_row(&b, &row));
    assert_int_equal(row.type, ETLHEAP_TYPE_AIFO);
    assert_true(row.free_ticks == ETLHEAP_TICKS_NEVER);
    b.query.at_exit_freed = true;
    assert_true(select_row(&b, &row));
    assert_int_equal(row.type, ETLHEAP_TYPE_AIFI);
    assert_int_equal(row.free_ticks, T0 + 20);
    close_bench(&b);
}

static void a_destroyed_heap_always_ends_it(void **state)
{
    (void)state;
    bench b = open_bench();
    b.row.free_type = ETLHEAP_FREE_HEAP_DESTROY;
    query_row row;
    assert_true(select_row(&b, &row));
    assert_int_equal(row.type, ETLHEAP_TYPE_AIFI);
    close_bench(&b);
}

/* --- filters ----------------------------------------------------------------------------- */

static void kinds_are_bits(void **state)
{
    (void)state;
    bench b = open_bench();
    for (u32 kinds = 0; kinds < 1u << ETLHEAP_KIND_COUNT; kinds++) {
        for (u8 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
            b.query.kinds = kinds;
            b.row.kind = kind;
            const bool is_default = kinds == 0 && (ETLHEAP_KINDS_DEFAULT >> kind & 1) != 0;
            assert_int_equal(selects(&b), is_default || (kinds & 1u << kind) != 0);
        }
    }
    close_bench(&b);
}

static void types_are_bits(void **state)
{
    (void)state;
    bench b = open_bench();
    b.query.from_ns = 5 * HAND_TICK_NS;
    b.query.to_ns = 50 * HAND_TICK_NS;
    static const i64 times[ETLHEAP_TYPE_COUNT][2] = {
        { 10, 60 }, { 10, 20 }, { 1, 20 }, { 1, 60 }
    };
    for (u32 types = 0; types < 16; types++) {
        for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++) {
            b.query.types = types;
            b.row.alloc_ticks = T0 + times[type][0];
            b.row.free_ticks = T0 + times[type][1];
            query_row row;
            assert_int_equal(select_row(&b, &row), types == 0 || (types & 1u << type) != 0);
            assert_int_equal(row.type, type);
        }
    }
    close_bench(&b);
}

static bool process_matches(const char *word)
{
    bench b = open_bench();
    const char *const words[] = { "nobody.exe", word };
    b.query.processes = words;
    b.query.process_count = 2;
    const bool matches = selects(&b);
    close_bench(&b);
    return matches;
}

static void processes_are_selected_by_name_with_wildcards(void **state)
{
    (void)state;
    assert_true(process_matches("app.EXE"));
    assert_true(process_matches("a*"));
    assert_true(process_matches("?pp.exe"));
    assert_true(process_matches("app"));
    assert_true(process_matches("A?p"));
    assert_false(process_matches("ap"));
    assert_false(process_matches("exe"));
    assert_false(process_matches("app."));
    assert_false(process_matches("pp.exe"));
    assert_false(process_matches(""));
}

static void processes_are_selected_by_id(void **state)
{
    (void)state;
    assert_true(process_matches("4321"));
    assert_true(process_matches("04321"));
    assert_false(process_matches("432"));
    assert_false(process_matches("43210"));
    assert_false(process_matches("4294971617"));           /* 2^32 more */
    assert_false(process_matches("18446744073709555937")); /* 2^64 more */
    assert_false(process_matches("99999999999999999999999999"));
    assert_false(process_matches("4321.exe"));
}

static void heaps_are_selected_by_handle(void **state)
{
    (void)state;
    bench b = open_bench();
    const u64 heaps[] = { 0x2f0000, 0x1f0000 };
    b.query.heaps = heaps;
    b.query.heap_count = 2;
    assert_true(selects(&b));
    b.query.heap_count = 1;
    assert_false(selects(&b));
    b.row.heap = 0; /* VirtualAlloc */
    assert_false(selects(&b));
    close_bench(&b);
}

static void threads_are_selected_by_id(void **state)
{
    (void)state;
    bench b = open_bench();
    const u32 threads[] = { 78, 77 };
    b.query.threads = threads;
    b.query.thread_count = 2;
    assert_true(selects(&b));
    b.query.thread_count = 1;
    assert_false(selects(&b));
    b.row.thread = ETL_NO_ID;
    assert_false(selects(&b));
    close_bench(&b);
}

static void sizes_are_inclusive(void **state)
{
    (void)state;
    bench b = open_bench();
    b.query.size_min_bytes = 64;
    b.query.size_max_bytes = 128;
    static const struct {
        u64 size;
        bool selected;
    } rows[] = {
        { 63, false }, { 64, true }, { 128, true }, { 129, false }, { UINT64_MAX, false }
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        b.row.size = rows[i].size;
        assert_int_equal(selects(&b), rows[i].selected);
    }
    close_bench(&b);
}

static void lifetimes_are_inclusive(void **state)
{
    (void)state;
    bench b = open_bench();
    b.query.lifetime_min_ns = 10 * HAND_TICK_NS;
    b.query.lifetime_max_ns = 20 * HAND_TICK_NS;
    static const struct {
        i64 ticks;
        bool selected;
    } rows[] = { { 9, false }, { 10, true }, { 20, true }, { 21, false } };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        b.row.free_ticks = b.row.alloc_ticks + rows[i].ticks;
        assert_int_equal(selects(&b), rows[i].selected);
    }
    close_bench(&b);
}

static void what_is_not_freed_has_no_upper_end(void **state)
{
    (void)state;
    bench b = open_bench();
    b.row.free_ticks = ETLHEAP_TICKS_NEVER;
    b.query.lifetime_min_ns = 1;
    assert_true(selects(&b));
    b.query.lifetime_max_ns = INT64_MAX - 1;
    assert_false(selects(&b));
    close_bench(&b);
}

/* A lifetime from one end of the number range to the other. */
static void absurd_lifetimes_do_not_overflow(void **state)
{
    (void)state;
    bench b = open_bench();
    b.row.alloc_ticks = INT64_MIN + 1;
    b.row.free_ticks = INT64_MAX - 1;
    b.query.from_ns = INT64_MIN + 1;
    b.query.lifetime_min_ns = 1;
    assert_true(selects(&b));
    b.query.lifetime_max_ns = INT64_MAX - 1;
    assert_false(selects(&b));
    close_bench(&b);
}

/* --- contradictions ------------------------------------------------------------------------- */

static void expect_refused(etlheap_query query)
{
    bench b = open_bench();
    etl_error err = { .message = "" };
    query_plan plan;
    assert_int_equal(query_open(&plan, b.result, &query, &err), ETL_ERR_ARGUMENT);
    assert_true(err.message[0] != '\0');
    query_close(&plan);
    etlheap_table *table;
    assert_int_equal(etlheap_aggregate(b.result, &query, &table, &err), ETL_ERR_ARGUMENT);
    assert_null(table);
    close_bench(&b);
}

static void contradictions_are_refused_with_a_sentence(void **state)
{
    (void)state;
    etlheap_query query = etlheap_query_default();
    query.from_ns = 5;
    query.to_ns = 4;
    expect_refused(query);
    query = etlheap_query_default();
    query.lifetime_min_ns = 5;
    query.lifetime_max_ns = 4;
    expect_refused(query);
    query = etlheap_query_default();
    query.size_min_bytes = 5;
    query.size_max_bytes = 4;
    expect_refused(query);
}

static void words_that_do_not_exist_are_refused(void **state)
{
    (void)state;
    etlheap_query query = etlheap_query_default();
    query.group_by_count = ETLHEAP_GROUP_BY_MAX + 1;
    expect_refused(query);
    query = etlheap_query_default();
    query.group_by[0] = ETLHEAP_KEY_COUNT;
    expect_refused(query);
    query = etlheap_query_default();
    query.sort = ETLHEAP_MEASURES_COUNT;
    expect_refused(query);
}

/* --- patterns -------------------------------------------------------------------------------- */

static void globs_match_as_wildcards_do(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool matches;
    } rows[] = {
        { "", "", true },
        { "", "a", false },
        { "*", "", true },
        { "*", "abc", true },
        { "?", "", false },
        { "?", "a", true },
        { "a*c", "abbbc", true },
        { "a*c", "abbbcd", false },
        { "a*b*c", "aXbYbZc", true },
        { "*b", "aab", true },
        { "*ab", "aab", true },
        { "**", "x", true },
        { "a**b", "ab", true },
        { "ABC", "abc", true },
        { "abc", "ABC", true },
        { "a?c", "abc", true },
        { "a?c", "ac", false },
        { "*.dll", "x.dll", true },
        { "*.dll", "x.dll2", false },
        { "a*", "a", true },
        { "[a]", "a", false },
        { "*?", "", false },
        { "*?", "ab", true },
        { "?*?", "a", false },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++)
        assert_int_equal(etl_name_glob(rows[i].pattern, rows[i].text), rows[i].matches);
}

/* "é" is two bytes and one character. */
static void a_question_mark_is_one_character(void **state)
{
    (void)state;
    assert_true(etl_name_glob("caf?.exe", "caf\xC3\xA9.exe"));
    assert_false(etl_name_glob("caf??.exe", "caf\xC3\xA9.exe"));
    assert_true(etl_name_glob("*?.exe", "caf\xC3\xA9.exe"));
    assert_true(etl_name_glob("?", "\xF0\x9F\x98\x80"));
}

/* The naive way: try every length of every star. Short, so that it may recurse. */
static bool naive_glob(const char *pattern, const char *text)
{
    if (*pattern == '\0')
        return *text == '\0';
    if (*pattern == '*')
        return naive_glob(pattern + 1, text) || (*text != '\0' && naive_glob(pattern, text + 1));
    return *text != '\0' && (*pattern == '?' || *pattern == *text) &&
           naive_glob(pattern + 1, text + 1);
}

static void globs_match_what_trying_everything_matches(void **state)
{
    (void)state;
    u64 random = 4;
    u32 matches = 0;
    for (u32 i = 0; i < 100000; i++) {
        char pattern[8] = "", text[10] = "";
        const u32 pattern_size = hand_random(&random) % 7, text_size = hand_random(&random) % 9;
        for (u32 k = 0; k < pattern_size; k++)
            pattern[k] = "ab*?"[hand_random(&random) % 4];
        for (u32 k = 0; k < text_size; k++)
            text[k] = "ab"[hand_random(&random) % 2];
        const bool expected = naive_glob(pattern, text);
        assert_int_equal(etl_name_glob(pattern, text), expected);
        matches += expected;
    }
    assert_true(matches > 1000);
}

/* Twenty stars that never match: going back to each of them would not end. */
static void many_stars_do_not_explode(void **state)
{
    (void)state;
    char text[2001];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_false(etl_name_glob("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

static bool frame_matches(const char *pattern_module, const char *pattern_symbol,
                          const char *module, const char *symbol)
{
    const etlheap_pattern pattern = { .module = pattern_module, .symbol = pattern_symbol };
    return etlheap_pattern_matches(&pattern, module, symbol);
}

static void frame_patterns_match_module_and_symbol(void **state)
{
    (void)state;
    assert_true(frame_matches("ntdll.dll", NULL, "ntdll.dll", NULL));
    assert_true(frame_matches("NTDLL", NULL, "ntdll.dll", NULL));
    assert_true(frame_matches("nt*", NULL, "ntdll.dll", NULL));
    assert_false(frame_matches("ntdl", NULL, "ntdll.dll", NULL));
    assert_false(frame_matches("dll", NULL, "ntdll.dll", NULL));
    assert_true(frame_matches("a.b", NULL, "a.b.dll", NULL));
    assert_false(frame_matches("a", NULL, "a.b.dll", NULL));
    assert_true(frame_matches("app", NULL, "app", NULL));
    assert_true(frame_matches(NULL, NULL, NULL, NULL));
    assert_false(frame_matches("*", NULL, NULL, NULL));
    assert_true(frame_matches(NULL, "Rtl*", "ntdll.dll", "RtlAllocateHeap"));
    assert_false(frame_matches(NULL, "Rtl*", "ntdll.dll", NULL));
    assert_true(frame_matches("ntdll", "*", "ntdll.dll", NULL));
    assert_false(frame_matches("ntdll", "Rtl*", "other.dll", "RtlAllocateHeap"));
}

/* --- words
 * ---------------------------------------------------------------------------------------- */

static void words_are_those_of_the_contract(void **state)
{
    (void)state;
    assert_string_equal(etlheap_kind_name(ETLHEAP_KIND_VIRTUALALLOC), "virtualalloc");
    assert_string_equal(etlheap_free_type_name(ETLHEAP_FREE_HEAP_DESTROY), "heap-destroy");
    assert_string_equal(etlheap_free_type_name(ETLHEAP_FREE_PROCESS_EXIT), "process-exit");
    assert_string_equal(etlheap_type_name(ETLHEAP_TYPE_AOFI), "AOFI");
    static const char *const impacts[] = { "Impacting", "Transient", "Impacting", "Persistent" };
    for (int i = 0; i < ETLHEAP_TYPE_COUNT; i++)
        assert_string_equal(etlheap_impacting_type_name((etlheap_type)i), impacts[i]);
    assert_string_equal(etlheap_key_word(ETLHEAP_KEY_SIZE_CLASS), "size_class");
    assert_string_equal(etlheap_key_title(ETLHEAP_KEY_HEAP), "Handle");
    assert_string_equal(etlheap_measure_word(ETLHEAP_MEASURE_PEAK_SIZE), "peak_size");
    assert_string_equal(etlheap_measure_title(ETLHEAP_MEASURE_SIZE), "Size");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_trace_is_the_default),
        cmocka_unit_test(events_before_time_zero_are_in_the_default_window),
        cmocka_unit_test(windows_select_what_the_nanoseconds_say),
        cmocka_unit_test(what_was_there_before_the_trace_is_allocated_outside),
        cmocka_unit_test(a_window_behind_the_trace_is_empty_but_not_reversed),
        cmocka_unit_test(a_window_before_time_zero_is_empty_but_not_reversed),
        cmocka_unit_test(a_process_exit_ends_a_lifetime_only_when_asked),
        cmocka_unit_test(a_destroyed_heap_always_ends_it),
        cmocka_unit_test(kinds_are_bits),
        cmocka_unit_test(types_are_bits),
        cmocka_unit_test(processes_are_selected_by_name_with_wildcards),
        cmocka_unit_test(processes_are_selected_by_id),
        cmocka_unit_test(heaps_are_selected_by_handle),
        cmocka_unit_test(threads_are_selected_by_id),
        cmocka_unit_test(sizes_are_inclusive),
        cmocka_unit_test(lifetimes_are_inclusive),
        cmocka_unit_test(what_is_not_freed_has_no_upper_end),
        cmocka_unit_test(absurd_lifetimes_do_not_overflow),
        cmocka_unit_test(contradictions_are_refused_with_a_sentence),
        cmocka_unit_test(words_that_do_not_exist_are_refused),
        cmocka_unit_test(globs_match_as_wildcards_do),
        cmocka_unit_test(a_question_mark_is_one_character),
        cmocka_unit_test(globs_match_what_trying_everything_matches),
        cmocka_unit_test(many_stars_do_not_explode),
        cmocka_unit_test(frame_patterns_match_module_and_symbol),
        cmocka_unit_test(words_are_those_of_the_contract),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
