/*
 * Goal: lifetimes become events: each begins once and, if it has an end in the window,
 * ends once, in the order of time and in the order that is promised within a tick.
 * Method: cases by hand, read as short texts; then random lifetimes, with many to a
 * tick and in windows, against a list of all events that is sorted by the definitions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/engine_check.h"
#include "formats/export/export_events.h"
#include "tests/support/hand_result.h"

#define TICK(n) (HAND_START_TICKS + (i64)(n))
#define NS(n)   ((i64)(n)*HAND_TICK_NS)
#define ROWS    300u
#define NEVER   1000000

/* A lifetime by hand, in ticks from time zero. Its size is its name. */
typedef struct span {
    i64 a, f;
    u64 size;
} span;

static etlheap_result *result_of(const span *spans, u32 count, u8 kind)
{
    etlheap_result *const result = hand_result_new();
    const u32 process = hand_process(result, 10, "a.exe");
    for (u32 i = 0; i < count; i++) {
        const bool is_freed = spans[i].f != NEVER;
        const lifetime row = { .alloc_ticks = TICK(spans[i].a),
                               .free_ticks = is_freed ? TICK(spans[i].f) : ETLHEAP_TICKS_NEVER,
                               .address = 0x1000 * (i + 1),
                               .size = spans[i].size,
                               .process = process,
                               .thread = ETL_NO_ID,
                               .kind = kind,
                               .free_type = is_freed ? ETLHEAP_FREE_FREE : ETLHEAP_FREE_NONE };
        hand_lifetime(result, &row);
    }
    hand_ready(result, TICK(NEVER));
    return result;
}

static etlheap_query window(i64 from, i64 to)
{
    etlheap_query query = etlheap_query_default();
    query.kinds = 1u << ETLHEAP_KIND_EXTENT;
    query.from_ns = NS(from);
    query.to_ns = NS(to);
    return query;
}

/* "5+1 7-1": at tick 5 begins the block of size 1, at 7 it ends; "<+1" is an older one. */
static char *text_of(const etlheap_result *result, const etlheap_query *query)
{
    const etlheap_export_request request = { .size = sizeof request,
                                             .result = result,
                                             .query = query };
    export_events events;
    export_event event;
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(export_events_open(&request, &events, NULL), ETL_OK);
    while (export_events_next(&events, &event)) {
        if (event.ticks == INT64_MIN)
            fprintf(out, "<");
        else
            fprintf(out, "%lld", (long long)(event.ticks - HAND_START_TICKS));
        fprintf(out, "%c%lld ", event.is_end ? '-' : '+', (long long)event.size_bytes);
        if (event.is_end)
            assert_int_equal(event.item, event.size_bytes + 1);
        else
            export_events_expect(&events, &event.lifetime, (u32)event.size_bytes + 1);
    }
    assert_int_equal(export_events_status(&events, NULL), ETL_OK);
    export_events_close(&events);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void check(const span *spans, u32 count, const etlheap_query *query, const char *wanted)
{
    etlheap_result *const result = result_of(spans, count, ETLHEAP_KIND_EXTENT);
    char *const text = text_of(result, query);
    assert_string_equal(text, wanted);
    free(text);
    etlheap_result_free(result);
}

static void block_begins_and_ends(void **state)
{
    const span spans[] = { { 5, 9, 1 }, { 6, 8, 2 }, { 7, NEVER, 3 } };
    const etlheap_query query = window(0, 100);
    (void)state;
    check(spans, 3, &query, "5+1 6+2 7+3 8-2 9-1 ");
}

static void ends_come_first_in_a_tick(void **state)
{
    const span spans[] = { { 5, 9, 1 }, { 9, 20, 2 }, { 9, 21, 3 } };
    const etlheap_query query = window(0, 100);
    (void)state;
    check(spans, 3, &query, "5+1 9-1 9+2 9+3 20-2 21-3 ");
}

static void block_without_length_begins_and_ends_before_others_begin(void **state)
{
    const span spans[] = { { 5, 9, 1 }, { 9, 20, 2 }, { 9, 9, 3 }, { 9, 9, 4 } };
    const etlheap_query query = window(0, 100);
    (void)state;
    check(spans, 4, &query, "5+1 9-1 9+3 9-3 9+4 9-4 9+2 20-2 ");
}

static void older_block_begins_before_all_ticks(void **state)
{
    const span spans[] = { { 5, 12, 1 }, { 6, NEVER, 2 }, { 10, 11, 3 }, { 3, 4, 4 } };
    const etlheap_query query = window(10, 100);
    (void)state;
    check(spans, 4, &query, "<+1 <+2 10+3 11-3 12-1 ");
}

static void end_after_the_window_is_none(void **state)
{
    const span spans[] = { { 5, 20, 1 }, { 6, 19, 2 }, { 20, 30, 3 } };
    const etlheap_query query = window(0, 20);
    (void)state;
    check(spans, 3, &query, "5+1 6+2 19-2 ");
}

static void what_the_caller_does_not_expect_has_no_end(void **state)
{
    const span spans[] = { { 5, 9, 1 } };
    const etlheap_query query = window(0, 100);
    etlheap_result *const result = result_of(spans, 1, ETLHEAP_KIND_EXTENT);
    const etlheap_export_request request = { .size = sizeof request,
                                             .result = result,
                                             .query = &query };
    export_events events;
    export_event event;
    (void)state;
    assert_int_equal(export_events_open(&request, &events, NULL), ETL_OK);
    assert_true(export_events_next(&events, &event));
    assert_false(export_events_next(&events, &event));
    export_events_close(&events);
    etlheap_result_free(result);
}

static void size_that_does_not_fit_is_the_largest(void **state)
{
    const span spans[] = { { 5, NEVER, UINT64_MAX } };
    const etlheap_query query = window(0, 100);
    (void)state;
    check(spans, 1, &query, "5+9223372036854775807 ");
}

static void several_kinds_are_refused(void **state)
{
    etlheap_result *const result = result_of(NULL, 0, ETLHEAP_KIND_HEAP);
    etlheap_query query = etlheap_query_default();
    const etlheap_export_request request = { .size = sizeof request,
                                             .result = result,
                                             .query = &query };
    export_events events;
    etl_error err;
    (void)state;
    query.kinds = 1u << ETLHEAP_KIND_HEAP | 1u << ETLHEAP_KIND_EXTENT;
    assert_int_equal(export_events_open(&request, &events, &err), ETL_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "choose one"));
    assert_int_equal(err.hint, ETL_HINT_ONE_KIND);
    export_events_close(&events);
    etlheap_result_free(result);
}

static void memory_for_ends_is_limited(void **state)
{
    const span spans[] = { { 1, 9, 1 }, { 2, 9, 2 }, { 3, 9, 3 }, { 4, 9, 4 } };
    const etlheap_query query = window(0, 100);
    etlheap_result *const result = result_of(spans, 4, ETLHEAP_KIND_EXTENT);
    const etlheap_export_request request = { .size = sizeof request,
                                             .result = result,
                                             .query = &query };
    export_events events;
    export_event event;
    u32 count = 0;
    (void)state;
    assert_int_equal(export_events_open(&request, &events, NULL), ETL_OK);
    events.memory_bytes_max = 2 * sizeof(export_open_end);
    for (; export_events_next(&events, &event); count++)
        export_events_expect(&events, &event.lifetime, 0);
    assert_int_equal(count, 4);
    assert_int_equal(export_events_status(&events, NULL), ETL_ERR_LIMIT);
    export_events_close(&events);
    etlheap_result_free(result);
}

/* --- random lifetimes -------------------------------------------------------------- */

/* What the order of events goes by. */
typedef struct model_event {
    i64 tick; /* -1: older than the window */
    i64 rank; /* in the tick: 0 an end, 1 without length, 2 a beginning */
    i64 size;
    i64 sign;
} model_event;

static int compare_events(const void *a, const void *b)
{
    const model_event *const x = a, *const y = b;
    if (x->tick != y->tick)
        return x->tick < y->tick ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->sign > y->sign ? -1 : 1;
}

static u32 model(const span *spans, i64 from, i64 to, model_event *out)
{
    u32 count = 0;
    for (u32 i = 0; i < ROWS; i++) {
        const span *const s = &spans[i];
        const bool is_old = s->a < from, is_empty = !is_old && s->a == s->f;
        if (s->a >= to || s->f < from)
            continue;
        out[count++] = (model_event){ is_old ? -1 : s->a, is_empty ? 1 : 2, (i64)s->size, 1 };
        if (s->f < to)
            out[count++] = (model_event){ s->f, is_empty ? 1 : 0, (i64)s->size, -1 };
    }
    qsort(out, count, sizeof *out, compare_events);
    return count;
}

/* Ties by size are the model's own: ranks must be in order, what they hold is compared
 * as a set, since it is sorted the same way on both sides. */
static u32 events_of(const etlheap_result *result, const etlheap_query *query, model_event *out)
{
    const etlheap_export_request request = { .size = sizeof request,
                                             .result = result,
                                             .query = query };
    export_events events;
    export_event event;
    u32 count = 0;
    assert_int_equal(export_events_open(&request, &events, NULL), ETL_OK);
    while (export_events_next(&events, &event)) {
        const bool is_old = event.ticks == INT64_MIN;
        model_event *const e = &out[count++];
        *e = (model_event){ is_old ? -1 : event.ticks - HAND_START_TICKS, event.is_end ? 0 : 2,
                            event.size_bytes, event.is_end ? -1 : 1 };
        if (!event.is_end && !is_old && event.lifetime.free_ticks == event.ticks)
            e->rank = 1;
        if (event.is_end && count > 1 && e[-1].rank == 1 && e[-1].sign > 0)
            e->rank = 1;
        if (count > 1 && e[-1].tick == e->tick)
            assert_true(e[-1].rank <= e->rank);
        if (!event.is_end)
            export_events_expect(&events, &event.lifetime, 0);
    }
    assert_int_equal(export_events_status(&events, NULL), ETL_OK);
    export_events_close(&events);
    for (u32 i = 1; i < count; i++)
        assert_true(out[i - 1].tick <= out[i].tick);
    qsort(out, count, sizeof *out, compare_events);
    return count;
}

static void random_lifetimes_are_the_events_of_the_definitions(void **state)
{
    static const i64 windows[][2] = { { 0, NEVER }, { 40, 90 }, { 60, 61 }, { 100, 2 * ROWS } };
    model_event wanted[2 * ROWS], got[2 * ROWS];
    span spans[ROWS];
    (void)state;
    for (u64 run = 1, seed = 1; run <= 20; run++) {
        for (u32 i = 0; i < ROWS; i++) {
            const i64 a = (i64)engine_check_random(&seed, 120);
            const i64 length = (i64)engine_check_random(&seed, 64) - 32;
            const bool is_freed = engine_check_random(&seed, 4) > 0;
            spans[i] = (span){ a, !is_freed ? NEVER : length > 0 ? a + length : a, 1000 + i };
        }
        etlheap_result *const result = result_of(spans, ROWS, ETLHEAP_KIND_EXTENT);
        for (size_t w = 0; w < ETL_COUNT_OF(windows); w++) {
            const etlheap_query query = window(windows[w][0], windows[w][1]);
            const u32 count = model(spans, windows[w][0], windows[w][1], wanted);
            assert_int_equal(events_of(result, &query, got), count);
            assert_memory_equal(got, wanted, count * sizeof *got);
        }
        etlheap_result_free(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_begins_and_ends),
        cmocka_unit_test(ends_come_first_in_a_tick),
        cmocka_unit_test(block_without_length_begins_and_ends_before_others_begin),
        cmocka_unit_test(older_block_begins_before_all_ticks),
        cmocka_unit_test(end_after_the_window_is_none),
        cmocka_unit_test(what_the_caller_does_not_expect_has_no_end),
        cmocka_unit_test(size_that_does_not_fit_is_the_largest),
        cmocka_unit_test(several_kinds_are_refused),
        cmocka_unit_test(memory_for_ends_is_limited),
        cmocka_unit_test(random_lifetimes_are_the_events_of_the_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
