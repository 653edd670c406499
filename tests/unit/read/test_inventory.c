/*
 * Goal: every record is counted under its hook id or its provider, sums of tasks
 * are sums, and every stack walk is matched with its event.
 * Method: records by hand and random ones against plain arrays; slices by hand
 * for the matching; built traces for what the records of a trace are counted as.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/read/inventory_match.h"
#include "tests/support/run_check.h"
#include "tests/support/hand_bytes.h"
#include "tests/support/hand_result.h"

static etl_record hook_record(u16 hook, u32 size)
{
    return (
        etl_record){ .header = ETL_HEADER_SYSTEM64, .has_hook = true, .hook = hook, .size = size };
}

static etl_record provider_record(const u8 *guid, u32 size)
{
    return (etl_record){ .header = ETL_HEADER_EVENT64, .provider = guid, .size = size };
}

static inventory_count of_hook(const record_inventory *inventory, u16 hook)
{
    const inventory_count *const page = inventory->pages[hook >> 8];
    return page == NULL ? (inventory_count){ 0 } : page[hook & 0xFF];
}

/* --- counting ------------------------------------------------------------------- */

static void records_with_a_hook_are_counted_by_it(void **state)
{
    (void)state;
    record_inventory inventory = { 0 };
    static const u16 hooks[] = { 0x0000, 0x1021, 0x1021, 0x10FF, 0xFFFF };
    for (u32 i = 0; i < ETL_COUNT_OF(hooks); i++) {
        const etl_record record = hook_record(hooks[i], 100 + i);
        assert_true(inventory_add(&inventory, &record));
    }
    assert_int_equal(inventory.records, 5);
    assert_int_equal(of_hook(&inventory, 0x0000).bytes, 100);
    assert_int_equal(of_hook(&inventory, 0x1021).count, 2);
    assert_int_equal(of_hook(&inventory, 0x1021).bytes, 203);
    assert_int_equal(of_hook(&inventory, 0x10FF).count, 1);
    assert_int_equal(of_hook(&inventory, 0xFFFF).count, 1);
    assert_int_equal(of_hook(&inventory, 0x1022).count, 0);
    assert_int_equal(inventory.providers.count, 0);
    inventory_free(&inventory);
}

static void records_without_a_hook_are_counted_by_provider(void **state)
{
    (void)state;
    record_inventory inventory = { 0 };
    const u8 one[16] = { 1 }, two[16] = { 2 };
    const u8 *const guids[] = { one, two, one, one, two };
    for (u32 i = 0; i < ETL_COUNT_OF(guids); i++) {
        const etl_record record = provider_record(guids[i], 80);
        assert_true(inventory_add(&inventory, &record));
    }
    assert_int_equal(inventory.providers.count, 2);
    assert_int_equal(inventory.providers.at[0].count, 3);
    assert_int_equal(inventory.providers.at[0].bytes, 240);
    assert_int_equal(inventory.providers.at[1].count, 2);
    assert_memory_equal(inventory.providers.at[1].guid.bytes, two, 16);
    inventory_free(&inventory);
}

/* Whatever GUID they carry: it names a source file, not a provider. */
static void messages_are_one_row(void **state)
{
    (void)state;
    record_inventory inventory = { 0 };
    const u8 one[16] = { 1 };
    etl_record record = provider_record(one, 60);
    assert_true(inventory_add(&inventory, &record));
    record.header = ETL_HEADER_MESSAGE;
    assert_true(inventory_add(&inventory, &record));
    record.provider = NULL;
    assert_true(inventory_add(&inventory, &record));
    assert_int_equal(inventory.providers.count, 2);
    assert_true(inventory.providers.at[1].is_message);
    assert_int_equal(inventory.providers.at[1].count, 2);
    inventory_free(&inventory);
}

static void a_record_without_any_name_has_the_empty_guid(void **state)
{
    (void)state;
    record_inventory inventory = { 0 };
    const u8 none[16] = { 0 };
    const etl_record record = { .header = ETL_HEADER_OTHER, .size = 16 };
    assert_true(inventory_add(&inventory, &record));
    assert_int_equal(inventory.providers.count, 1);
    assert_false(inventory.providers.at[0].is_message);
    assert_memory_equal(inventory.providers.at[0].guid.bytes, none, 16);
    inventory_free(&inventory);
}

#define MODEL_HOOKS     600u
#define MODEL_PROVIDERS 50u

/* Random records spread over tasks: the merged inventory counts what an array does. */
static void merged_tasks_count_what_one_would(void **state)
{
    (void)state;
    u64 random = 5;
    inventory_count hooks[MODEL_HOOKS] = { { 0 } }, providers[MODEL_PROVIDERS] = { { 0 } };
    record_inventory *const tasks = calloc(5, sizeof *tasks);
    assert_non_null(tasks);
    record_inventory *const merged = &tasks[4];
    for (u32 i = 0; i < 20000; i++) {
        const u32 size = 16 + hand_random(&random) % 200;
        const bool has_hook = hand_random(&random) % 4 != 0;
        const u32 number = hand_random(&random) % (has_hook ? MODEL_HOOKS : MODEL_PROVIDERS);
        u8 guid[16] = { (u8)number, 7 };
        const etl_record record =
            has_hook ? hook_record((u16)(number * 109), size) : provider_record(guid, size);
        assert_true(inventory_add(&tasks[hand_random(&random) % 4], &record));
        inventory_count *const expected = has_hook ? &hooks[number] : &providers[number];
        expected->count++;
        expected->bytes += size;
    }
    for (u32 i = 0; i < 4; i++) {
        tasks[i].stack_records = i;
        tasks[i].key_records = 10 * i;
        assert_true(inventory_merge(merged, &tasks[i]));
        inventory_free(&tasks[i]);
    }
    for (u32 i = 0; i < MODEL_HOOKS; i++) {
        assert_int_equal(of_hook(merged, (u16)(i * 109)).count, hooks[i].count);
        assert_int_equal(of_hook(merged, (u16)(i * 109)).bytes, hooks[i].bytes);
    }
    assert_int_equal(merged->providers.count, MODEL_PROVIDERS);
    for (u32 i = 0; i < MODEL_PROVIDERS; i++) {
        const etlheap_provider_count *const row = &merged->providers.at[i];
        assert_int_equal(row->count, providers[row->guid.bytes[0]].count);
        assert_int_equal(row->bytes, providers[row->guid.bytes[0]].bytes);
    }
    assert_int_equal(merged->records, 20000);
    assert_int_equal(merged->stack_records, 6);
    assert_int_equal(merged->key_records, 60);
    inventory_free(merged);
    free(tasks);
}

/* --- matching --------------------------------------------------------------------- */

typedef struct bench {
    inventory_matcher matcher;
    keyed_stacks keyed;
    scan_output task;
} bench;

static bench *open_bench(void)
{
    bench *const b = calloc(1, sizeof *b);
    assert_non_null(b);
    const timebase base = hand_timebase();
    inventory_match_open(&b->matcher, &base);
    b->keyed.counts_passed = true;
    return b;
}

static void add_target_of(bench *b, i64 ticks, u32 tid, u16 cpu, bool frees)
{
    assert_true(ETLHEAP_PUSH(&b->task.targets, (inventory_target){ ticks, tid, cpu, frees }));
}

static void add_target(bench *b, i64 ticks, u32 tid, u16 cpu)
{
    add_target_of(b, ticks, tid, cpu, false);
}

static void add_piece(bench *b, i64 event_ticks, u32 tid, u16 cpu, stack_part part)
{
    const stack_piece piece = {
        .event_ticks = event_ticks, .tid = tid, .cpu = cpu, .part = part & 3u
    };
    assert_true(ETLHEAP_PUSH(&b->task.pieces, piece));
}

static void end_slice(bench *b, i64 end_ticks)
{
    assert_true(keyed_define(&b->keyed, NULL, 0));
    assert_true(inventory_count_keys(&b->keyed, &b->task, 1));
    assert_true(inventory_match_slice(&b->matcher, &b->task, 1, end_ticks));
    scan_output_free(&b->task);
    b->task = (scan_output){ 0 };
}

static void expect_counts(bench *b, u64 matched, u64 unmatched)
{
    assert_int_equal(b->matcher.matched, matched);
    assert_int_equal(b->matcher.unmatched, unmatched);
}

static void close_bench(bench *b)
{
    inventory_match_close(&b->matcher);
    keyed_free(&b->keyed);
    free(b);
}

static void a_stack_matches_an_event_of_its_time_and_thread(void **state)
{
    (void)state;
    bench *const b = open_bench();
    add_target(b, 100, 70, 0);
    add_target(b, 100, 71, 0);
    add_target(b, 90, 72, 0);
    add_piece(b, 100, 70, 3, PART_KERNEL);
    add_piece(b, 100, 71, 3, PART_USER);
    add_piece(b, 100, 72, 3, PART_USER);
    add_piece(b, 101, 70, 0, PART_USER);
    end_slice(b, INT64_MAX);
    expect_counts(b, 2, 2);
    close_bench(b);
}

static void a_stack_matches_a_threadless_event_of_its_cpu(void **state)
{
    (void)state;
    bench *const b = open_bench();
    add_target(b, 100, ETL_NO_ID, 0);
    add_target(b, 100, ETL_NO_ID, 2);
    add_piece(b, 100, 70, 2, PART_KERNEL);
    add_piece(b, 100, 70, 0, PART_WHOLE);
    add_piece(b, 100, 70, 1, PART_KERNEL);
    add_piece(b, 100, 70, 1, PART_WHOLE);
    end_slice(b, INT64_MAX);
    expect_counts(b, 2, 2);
    close_bench(b);
}

static void a_user_part_matches_a_threadless_event_of_any_cpu(void **state)
{
    (void)state;
    bench *const b = open_bench();
    add_target(b, 100, 60, 0);
    add_target(b, 100, ETL_NO_ID, 0);
    add_piece(b, 100, 70, 1, PART_USER);
    add_piece(b, 99, 70, 0, PART_USER);
    end_slice(b, INT64_MAX);
    expect_counts(b, 1, 1);
    close_bench(b);
}

static void an_event_may_have_many_stacks(void **state)
{
    (void)state;
    bench *const b = open_bench();
    add_target(b, 100, 70, 0);
    add_piece(b, 100, 70, 0, PART_KERNEL);
    add_piece(b, 100, 70, 1, PART_USER);
    add_piece(b, 100, 70, 1, PART_USER);
    end_slice(b, INT64_MAX);
    expect_counts(b, 3, 0);
    close_bench(b);
}

/* They are not looked for again. */
static void stacks_that_met_their_event_count_as_matched(void **state)
{
    (void)state;
    bench *const b = open_bench();
    b->task.met = 3;
    add_piece(b, 100, 70, 0, PART_KERNEL);
    end_slice(b, INT64_MAX);
    b->task.met = 1;
    end_slice(b, INT64_MAX);
    expect_counts(b, 4, 1);
    close_bench(b);
}

static void targets_are_kept_two_seconds(void **state)
{
    (void)state;
    const i64 second = 10000000;
    bench *const b = open_bench();
    add_target(b, 100, 70, 0);
    add_target(b, 200, 70, 0);
    end_slice(b, 200 + 2 * second);
    add_piece(b, 100, 70, 0, PART_USER);
    add_piece(b, 200, 70, 0, PART_USER);
    end_slice(b, INT64_MAX);
    expect_counts(b, 1, 1);
    close_bench(b);
}

static void stacks_of_frees_are_counted(void **state)
{
    (void)state;
    bench *const b = open_bench();
    add_target_of(b, 100, 70, 0, true);
    add_target_of(b, 110, 70, 0, true);
    add_target_of(b, 110, 70, 1, false); /* the stack may be that of this event */
    add_target_of(b, 120, 70, 0, true);
    add_target_of(b, 120, 71, 0, false);
    add_target_of(b, 130, 70, 0, true);  /* has no stack */
    add_target_of(b, 140, 70, 0, false); /* or of this one */
    add_target_of(b, 140, 70, 1, true);
    add_piece(b, 100, 70, 0, PART_USER);
    add_piece(b, 110, 70, 0, PART_USER);
    add_piece(b, 120, 70, 0, PART_USER);
    add_piece(b, 120, 71, 0, PART_USER);
    add_piece(b, 140, 70, 0, PART_USER);
    b->task.item_free_stacks = 5;
    end_slice(b, INT64_MAX);
    expect_counts(b, 5, 0);
    assert_int_equal(b->matcher.of_frees, 2 + 5);
    close_bench(b);
}

static void what_is_kept_is_told(void **state)
{
    (void)state;
    const i64 second = 10000000;
    bench *const b = open_bench();
    assert_int_equal(inventory_match_bytes(&b->matcher), 0);
    for (i64 i = 0; i < 100; i++)
        add_target(b, i, 70, 0);
    end_slice(b, second);
    assert_int_equal(inventory_match_bytes(&b->matcher), 100 * sizeof(inventory_target));
    end_slice(b, 3 * second);
    assert_int_equal(inventory_match_bytes(&b->matcher), 0);
    close_bench(b);
}

static void absurd_times_do_not_overflow(void **state)
{
    (void)state;
    bench *const b = open_bench();
    add_target(b, INT64_MIN, 70, 0);
    add_piece(b, INT64_MIN, 70, 0, PART_USER);
    end_slice(b, INT64_MIN + 1);
    end_slice(b, INT64_MAX);
    expect_counts(b, 1, 0);
    close_bench(b);
}

static void every_key_is_counted_as_referenced(void **state)
{
    (void)state;
    bench *const b = open_bench();
    for (u32 i = 0; i < 5; i++) {
        const stack_piece piece = { .ticks = 10, .event_ticks = 9, .key = i, .is_key = true };
        assert_true(ETLHEAP_PUSH(&b->task.pieces, piece));
        assert_true(ETLHEAP_PUSH(&b->task.key_uses, (key_use){ .ticks = 10, .key = i }));
    }
    end_slice(b, INT64_MAX);
    assert_int_equal(b->keyed.passed.referenced, 10);
    assert_int_equal(b->keyed.passed.resolved, 0);
    close_bench(b);
}

/* None of the pieces has an event, and all are of the one tick there is. Going
 * through the events for each of them takes minutes. */
static void a_crowd_at_one_tick_is_matched_quickly(void **state)
{
    (void)state;
    enum { CROWD = 150000 };
    bench *const b = open_bench();
    for (u32 i = 0; i < CROWD; i++) {
        add_target(b, 100, 1000 + i, 0);
        add_target(b, 100, ETL_NO_ID, 0);
        add_piece(b, 100, 70, 1, PART_KERNEL);
    }
    end_slice(b, INT64_MAX);
    expect_counts(b, 0, CROWD);
    close_bench(b);
}

/* --- a whole trace ------------------------------------------------------------------ */

static void an_inventory_counts_stacks_and_their_events(void **state)
{
    (void)state;
    check_traces traces = { 0 };
    etl_build *const b = etl_build_new(NULL);
    const u64 user[] = { 0x7ff600001000, 0x7ff600002000 };
    const etl_build_stack stack = { .user = user, .user_count = 2 };
    for (u32 i = 0; i < 10; i++) {
        const etl_build_at at = { .ticks = 1000100 + 100 * (i64)i, .pid = 8, .tid = 16 };
        etl_build_heap_alloc(b, at, 0x10000, 0x2000 + 0x100 * i, 24);
        etl_build_stack_walk(b, at, &stack);
    }
    const etl_build_at late = { .ticks = 1009000, .pid = 8, .tid = 16 };
    etl_build_stack_inline(b, late, 1008000, user, 2);
    check_open(&traces, b);
    const etlheap_options options = { .size = sizeof options, .inventory_only = true };
    etlheap_result *const result = check_analyze(&traces, &options);
    const etlheap_stack_counts *const stacks = etlheap_result_stacks(result);
    assert_int_equal(stacks->records, 11);
    assert_int_equal(stacks->matched, 10);
    assert_int_equal(stacks->unmatched, 1);
    assert_int_equal(etlheap_result_diagnostics(result)->of[ETL_DIAG_stack_unmatched], 1);
    assert_int_equal(etlheap_segment_count(result), 0);
    const etlheap_hook_count *hooks;
    const u32 count = etlheap_hook_counts(result, &hooks);
    for (u32 i = 0; i + 1 < count; i++)
        assert_true(hooks[i].hook < hooks[i + 1].hook);
    u64 allocs = 0;
    for (u32 i = 0; i < count; i++)
        allocs += hooks[i].hook == 0x1021 ? hooks[i].count : 0;
    assert_int_equal(allocs, 10);
    assert_int_equal(etlheap_result_trace(result)->events, etl_build_record_count(b));
    etlheap_result_free(result);
    check_close(&traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_with_a_hook_are_counted_by_it),
        cmocka_unit_test(records_without_a_hook_are_counted_by_provider),
        cmocka_unit_test(messages_are_one_row),
        cmocka_unit_test(a_record_without_any_name_has_the_empty_guid),
        cmocka_unit_test(merged_tasks_count_what_one_would),
        cmocka_unit_test(a_stack_matches_an_event_of_its_time_and_thread),
        cmocka_unit_test(a_stack_matches_a_threadless_event_of_its_cpu),
        cmocka_unit_test(a_user_part_matches_a_threadless_event_of_any_cpu),
        cmocka_unit_test(an_event_may_have_many_stacks),
        cmocka_unit_test(stacks_that_met_their_event_count_as_matched),
        cmocka_unit_test(targets_are_kept_two_seconds),
        cmocka_unit_test(stacks_of_frees_are_counted),
        cmocka_unit_test(what_is_kept_is_told),
        cmocka_unit_test(absurd_times_do_not_overflow),
        cmocka_unit_test(every_key_is_counted_as_referenced),
        cmocka_unit_test(a_crowd_at_one_tick_is_matched_quickly),
        cmocka_unit_test(an_inventory_counts_stacks_and_their_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
