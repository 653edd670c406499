/*
 * Goal: the committed and reserved bytes of a heap at a moment are what its records
 * up to then tell, heap records before ranges.
 * Method: notes and their history by hand; random notes against a model that goes
 * through all of them again for each moment; and records of a built trace, from its
 * bytes to the rows of a report.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/context/heap_sizes.h"
#include "tests/support/engine_check.h"
#include "tests/support/run_check.h"

#define UNKNOWN HEAP_SIZE_UNKNOWN
#define PID     40u
#define HEAP    0x1000u

typedef struct sizes_check {
    engine_check check;
    heap_notes notes;
    heap_size_list list;
    heap_sizes_odd odd;
    u32 ids[8]; /* final process ids: the run's own */
} sizes_check;

static void open_check(sizes_check *c)
{
    *c = (sizes_check){ .notes = { 0 } };
    engine_check_open(&c->check);
    for (u32 i = 0; i < ETL_COUNT_OF(c->ids); i++)
        c->ids[i] = i;
    engine_check_owner(&c->check, PID, CHECK_START);
    engine_check_owner(&c->check, PID + 4, CHECK_START);
}

static void close_check(sizes_check *c)
{
    ETLHEAP_VECTOR_FREE(&c->notes);
    ETLHEAP_VECTOR_FREE(&c->list);
    engine_check_close(&c->check);
}

static void note(sizes_check *c, i64 ms, heap_note_kind kind, u64 committed, u64 reserved)
{
    const heap_note row = { .ticks = CHECK_START + ms * CHECK_MS,
                            .handle = HEAP,
                            .committed = committed,
                            .reserved = reserved,
                            .pid = PID,
                            .kind = (u8)kind };
    assert_true(ETLHEAP_PUSH(&c->notes, row));
}

/* The history says this from `ms` on, as its row `index`. */
static void assert_row(const sizes_check *c, size_t index, i64 ms, u64 committed, u64 reserved)
{
    assert_in_range(index, 0, c->list.count - 1);
    assert_int_equal(c->list.at[index].ticks, CHECK_START + ms * CHECK_MS);
    assert_int_equal(c->list.at[index].committed, committed);
    assert_int_equal(c->list.at[index].reserved, reserved);
}

static void build(sizes_check *c)
{
    assert_true(heap_sizes_build(&c->list, &c->notes, &c->check.context, c->ids, &c->odd));
}

static void later_records_take_the_place_of_earlier_ones(void **state)
{
    sizes_check c;
    (void)state;
    open_check(&c);
    note(&c, 9, HEAP_NOTE_SIZES, 300, 900);
    note(&c, 1, HEAP_NOTE_CREATED, 100, 800);
    note(&c, 5, HEAP_NOTE_SIZES, 200, UNKNOWN);
    build(&c);
    assert_int_equal(c.list.count, 3);
    assert_row(&c, 0, 1, 100, 800);
    assert_row(&c, 1, 5, 200, 800);
    assert_row(&c, 2, 9, 300, 900);
    close_check(&c);
}

static void destroyed_heap_has_nothing_and_a_new_one_begins_anew(void **state)
{
    sizes_check c;
    (void)state;
    open_check(&c);
    note(&c, 1, HEAP_NOTE_CREATED, 100, 800);
    note(&c, 2, HEAP_NOTE_DESTROYED, UNKNOWN, UNKNOWN);
    note(&c, 3, HEAP_NOTE_CREATED, UNKNOWN, UNKNOWN);
    build(&c);
    assert_row(&c, 1, 2, 0, 0);
    assert_row(&c, 2, 3, UNKNOWN, UNKNOWN);
    close_check(&c);
}

static void heaps_that_take_over_a_handle_are_counted(void **state)
{
    sizes_check c;
    (void)state;
    open_check(&c);
    note(&c, 1, HEAP_NOTE_DESTROYED, UNKNOWN, UNKNOWN);
    note(&c, 2, HEAP_NOTE_SIZES, 10, 20); /* late, and no new heap */
    build(&c);
    assert_int_equal(c.odd.recreated, 0);
    note(&c, 3, HEAP_NOTE_CREATED, 100, 800);
    note(&c, 4, HEAP_NOTE_CREATED, 100, 800); /* told again by another session */
    note(&c, 5, HEAP_NOTE_DESTROYED, UNKNOWN, UNKNOWN);
    note(&c, 6, HEAP_NOTE_CREATED, 100, 800);
    build(&c);
    assert_int_equal(c.odd.recreated, 2);
    c.notes.at[4].handle++; /* the destruction of another heap */
    build(&c);
    assert_int_equal(c.odd.recreated, 1);
    close_check(&c);
}

static void ranges_count_where_no_heap_record_tells_what_is_reserved(void **state)
{
    sizes_check c;
    (void)state;
    open_check(&c);
    note(&c, 0, HEAP_NOTE_RANGE_ADDED, UNKNOWN, 5); /* of how many others is not known */
    note(&c, 1, HEAP_NOTE_RANGES, UNKNOWN, 1000);
    note(&c, 2, HEAP_NOTE_RANGE_ADDED, UNKNOWN, 500);
    note(&c, 3, HEAP_NOTE_RANGE_REMOVED, UNKNOWN, 1000);
    note(&c, 4, HEAP_NOTE_RANGE_REMOVED, UNKNOWN, 9999);
    note(&c, 5, HEAP_NOTE_SIZES, 10, 77);
    note(&c, 6, HEAP_NOTE_RANGE_ADDED, UNKNOWN, 500);
    build(&c);
    assert_row(&c, 0, 0, UNKNOWN, UNKNOWN);
    assert_row(&c, 1, 1, UNKNOWN, 1000);
    assert_row(&c, 2, 2, UNKNOWN, 1500);
    assert_row(&c, 3, 3, UNKNOWN, 500);
    assert_row(&c, 4, 4, UNKNOWN, 0);
    assert_row(&c, 5, 5, 10, 77);
    assert_row(&c, 6, 6, 10, 77);
    close_check(&c);
}

static void note_pages(sizes_check *c, i64 ms, heap_note_kind kind, u64 address, u64 bytes)
{
    note(c, ms, kind, UNKNOWN, UNKNOWN);
    heap_note *const last = &c->notes.at[c->notes.count - 1];
    last->address = address;
    last->bytes = bytes;
}

static void commits_change_the_size_between_records_that_state_it(void **state)
{
    sizes_check c;
    (void)state;
    open_check(&c);
    note_pages(&c, 0, HEAP_NOTE_COMMITTED, 0x5000, 16); /* of how much is not known */
    note(&c, 1, HEAP_NOTE_SIZES, 100, 800);
    note_pages(&c, 2, HEAP_NOTE_COMMITTED, 0x1000, 40);
    note_pages(&c, 3, HEAP_NOTE_DECOMMITTED, 0x1000, 30);
    note(&c, 4, HEAP_NOTE_SIZES, 110, 800);
    note_pages(&c, 5, HEAP_NOTE_DECOMMITTED, 0x2000, 999);
    note(&c, 6, HEAP_NOTE_SIZES, 7, UNKNOWN); /* contradicts */
    build(&c);
    assert_row(&c, 0, 0, UNKNOWN, UNKNOWN);
    assert_row(&c, 2, 2, 140, 800);
    assert_row(&c, 3, 3, 110, 800);
    assert_row(&c, 5, 5, 0, 800);
    assert_row(&c, 6, 6, 7, 800);
    assert_int_equal(c.list.at[2].decommitted, 0);
    assert_int_equal(c.list.at[4].decommitted, 30);
    assert_int_equal(c.list.at[6].decommitted, 30 + 999);
    assert_int_equal(c.odd.differing, 1);
    close_check(&c);
}

static void pages_that_two_records_tell_of_count_once(void **state)
{
    sizes_check c;
    (void)state;
    open_check(&c);
    note(&c, 0, HEAP_NOTE_CREATED, 100, 800);
    note_pages(&c, 1, HEAP_NOTE_COMMITTED, 0x1000, 40);
    note_pages(&c, 2, HEAP_NOTE_EXPANDED, 0x1000, 40);
    c.notes.at[2].committed = 140;
    note_pages(&c, 3, HEAP_NOTE_EXPANDED, 0x2000, 20);
    c.notes.at[3].committed = 160;
    note_pages(&c, 4, HEAP_NOTE_COMMITTED, 0x2000, 20);
    note_pages(&c, 5, HEAP_NOTE_CONTRACTED, 0x2000, 20);
    c.notes.at[5].committed = 140;
    note_pages(&c, 6, HEAP_NOTE_DECOMMITTED, 0x2000, 20);
    note_pages(&c, 7, HEAP_NOTE_COMMITTED, 0x2000, 20);
    build(&c);
    assert_row(&c, 2, 2, 140, 800);
    assert_row(&c, 4, 4, 160, 800);
    assert_row(&c, 6, 6, 140, 800);
    assert_row(&c, 7, 7, 160, 800);
    assert_int_equal(c.list.at[7].decommitted, 20);
    assert_int_equal(c.odd.differing, 0);
    close_check(&c);
}

/* What a heap commits to create itself is in the sizes of Create, which comes before or after. */
static void commits_that_create_a_heap_are_no_notes(void **state)
{
    (void)state;
    etl_event event = { .kind = ETL_EVENT_HEAP_COMMIT,
                        .as.heap_commit = { .heap_handle = HEAP, .address = 16, .size_bytes = 8 } };
    heap_note out;
    for (u32 caller = 0; caller < 14; caller++) {
        event.as.heap_commit.caller = caller;
        assert_int_equal(heap_note_of(&event, PID, &out), caller != 1);
    }
    assert_int_equal(out.kind, HEAP_NOTE_COMMITTED);
    assert_true(out.handle == HEAP && out.address == 16 && out.bytes == 8 && out.pid == PID);
    assert_true(out.committed == UNKNOWN && out.reserved == UNKNOWN);
}

/* Without records of commits, two snapshots may well differ. */
static void sizes_alone_contradict_nothing(void **state)
{
    sizes_check c;
    (void)state;
    open_check(&c);
    note(&c, 0, HEAP_NOTE_SIZES, 100, 800);
    note(&c, 1, HEAP_NOTE_SIZES, 300, 800);
    build(&c);
    assert_int_equal(c.odd.differing, 0);
    close_check(&c);
}

static void of_one_moment_the_last_word_counts(void **state)
{
    sizes_check c;
    (void)state;
    open_check(&c);
    note(&c, 1, HEAP_NOTE_SIZES, 1, 10);
    note(&c, 1, HEAP_NOTE_SIZES, 2, 20);
    build(&c);
    assert_int_equal(c.list.count, 1);
    assert_row(&c, 0, 1, 2, 20);
    close_check(&c);
}

static void heaps_of_unknown_processes_are_nobodys(void **state)
{
    sizes_check c;
    (void)state;
    open_check(&c);
    note(&c, 1, HEAP_NOTE_SIZES, 1, 10);
    c.notes.at[0].pid = 4711;
    build(&c);
    assert_int_equal(c.list.count, 0);
    close_check(&c);
}

/* --- random notes ------------------------------------------------------------------ */

typedef struct plain_sizes {
    u64 committed, reserved, decommitted;
    u64 differing;
    bool found;
} plain_sizes;

static bool is_page_kind(u8 kind)
{
    return kind >= HEAP_NOTE_EXPANDED;
}

/* A note about pages: `before` is the last one of the heap. */
static void plain_pages(plain_sizes *out, const heap_note *before, const heap_note *n)
{
    const bool ends = n->kind == HEAP_NOTE_CONTRACTED || n->kind == HEAP_NOTE_DECOMMITTED;
    const u8 other = n->kind == HEAP_NOTE_CONTRACTED    ? HEAP_NOTE_DECOMMITTED
                     : n->kind == HEAP_NOTE_DECOMMITTED ? HEAP_NOTE_CONTRACTED
                     : n->kind == HEAP_NOTE_EXPANDED    ? HEAP_NOTE_COMMITTED
                                                        : HEAP_NOTE_EXPANDED;
    if (before != NULL && before->kind == other && before->address == n->address &&
        before->bytes == n->bytes)
        return;
    out->decommitted += ends ? n->bytes : 0;
    if (out->committed == UNKNOWN)
        return;
    if (!ends)
        out->committed += n->bytes;
    else
        out->committed -= n->bytes < out->committed ? n->bytes : out->committed;
}

static bool states_sizes(u8 kind)
{
    return kind == HEAP_NOTE_SIZES || kind == HEAP_NOTE_EXPANDED || kind == HEAP_NOTE_CONTRACTED;
}

/* Of one heap's notes in the order of time: the last that tells each size, and all pages. */
static plain_sizes plain_at(const heap_notes *notes, const heap_note *of, i64 ticks)
{
    plain_sizes out = { .committed = UNKNOWN, .reserved = UNKNOWN };
    u64 told = UNKNOWN, ranges = UNKNOWN;
    bool gone = false, has_pages = false;
    const heap_note *before = NULL;
    for (i64 t = CHECK_START; t <= ticks; t++) {
        for (size_t i = 0; i < notes->count; i++) {
            const heap_note *const n = &notes->at[i];
            if (n->ticks != t || n->pid != of->pid || n->handle != of->handle)
                continue;
            out.found = true;
            if (n->kind == HEAP_NOTE_DESTROYED) {
                out.committed = told = UNKNOWN;
                if (ranges != UNKNOWN)
                    ranges = 0;
                gone = true;
                before = NULL;
                continue;
            }
            if (n->kind != HEAP_NOTE_RANGE_REMOVED)
                gone = false;
            if (is_page_kind(n->kind)) {
                plain_pages(&out, before, n);
                before = n;
            }
            has_pages |= n->kind == HEAP_NOTE_COMMITTED || n->kind == HEAP_NOTE_DECOMMITTED;
            if (n->kind == HEAP_NOTE_CREATED) {
                has_pages = false;
                out.committed = n->committed;
                told = n->reserved;
            }
            if (states_sizes(n->kind) && n->committed != UNKNOWN) {
                out.differing +=
                    has_pages && out.committed != UNKNOWN && out.committed != n->committed;
                out.committed = n->committed;
            }
            if (states_sizes(n->kind) && n->reserved != UNKNOWN)
                told = n->reserved;
            if (n->kind == HEAP_NOTE_RANGES)
                ranges = n->reserved;
            if (n->kind == HEAP_NOTE_RANGE_ADDED && ranges != UNKNOWN)
                ranges += n->reserved;
            if (n->kind == HEAP_NOTE_RANGE_REMOVED && ranges != UNKNOWN)
                ranges = ranges > n->reserved ? ranges - n->reserved : 0;
        }
    }
    out.reserved = told != UNKNOWN ? told : ranges;
    if (gone)
        out.committed = out.reserved = 0;
    return out;
}

static plain_sizes listed_at(const heap_size_list *list, u32 process, u64 handle, i64 ticks)
{
    plain_sizes out = { .committed = UNKNOWN, .reserved = UNKNOWN };
    for (size_t i = 0; i < list->count; i++) {
        const heap_size *const row = &list->at[i];
        if (row->process == process && row->handle == handle && row->ticks <= ticks)
            out = (plain_sizes){ row->committed, row->reserved, row->decommitted, 0, true };
    }
    return out;
}

/* Contradictions of all heaps of the random notes. */
static u64 plain_differing(const heap_notes *notes)
{
    u64 sum = 0;
    for (u32 which = 0; which < 4; which++) {
        const heap_note of = { .pid = PID + 4 * (which / 2), .handle = HEAP + which % 2 };
        sum += plain_at(notes, &of, CHECK_START + 42).differing;
    }
    return sum;
}

static void random_notes_agree_with_going_through_them_again(void **state)
{
    (void)state;
    for (u64 round = 1; round <= 20; round++) {
        sizes_check c;
        u64 seed = round;
        open_check(&c);
        for (u32 i = 0; i < 60; i++) {
            note(&c, 0, (heap_note_kind)engine_check_random(&seed, HEAP_NOTE_DECOMMITTED + 1),
                 engine_check_random(&seed, 4) == 0 ? UNKNOWN : engine_check_random(&seed, 1000),
                 engine_check_random(&seed, 1000));
            heap_note *const last = &c.notes.at[c.notes.count - 1];
            last->ticks = CHECK_START + engine_check_random(&seed, 40);
            last->pid = PID + 4 * engine_check_random(&seed, 2);
            last->handle = HEAP + engine_check_random(&seed, 2);
            if (states_sizes(last->kind) && engine_check_random(&seed, 3) == 0)
                last->reserved = UNKNOWN;
            if (is_page_kind(last->kind)) {
                last->address = 0x1000 * engine_check_random(&seed, 2);
                last->bytes = 1 + engine_check_random(&seed, 2);
            }
        }
        build(&c);
        for (size_t i = 1; i < c.list.count; i++)
            assert_true(heap_size_precedes(&c.list.at[i - 1], &c.list.at[i]));
        for (size_t i = 0; i < c.notes.count; i++) {
            const heap_note *const of = &c.notes.at[i];
            const u32 process = context_process_at(&c.check.context, of->pid, of->ticks);
            for (i64 t = CHECK_START; t < CHECK_START + 42; t += 3) {
                const plain_sizes wanted = plain_at(&c.notes, of, t);
                const plain_sizes got = listed_at(&c.list, process, of->handle, t);
                assert_int_equal(got.found, wanted.found);
                assert_int_equal(got.committed, wanted.committed);
                assert_int_equal(got.reserved, wanted.reserved);
                assert_int_equal(got.decommitted, wanted.decommitted);
            }
        }
        assert_int_equal(c.odd.differing, plain_differing(&c.notes));
        close_check(&c);
    }
}

/* --- from records to rows ------------------------------------------------------------- */

static etl_build_at at(i64 ms)
{
    return (etl_build_at){ .ticks = CHECK_START + ms * CHECK_MS, .pid = PID, .tid = 44 };
}

/* The row of a heap as a window ends. */
static etlheap_row row_at(const etlheap_result *result, etlheap_kind kind, u64 heap, i64 ms)
{
    etlheap_query query = etlheap_query_default();
    etlheap_table *table = NULL;
    etlheap_row found = { .pid = 0 };
    query.group_by_count = 3; /* kind, process, heap */
    query.to_ns = ms * 1000000;
    assert_int_equal(etlheap_aggregate(result, &query, &table, NULL), ETL_OK);
    for (u32 i = 0; i < table->row_count; i++) {
        if (table->rows[i].kind == kind && table->rows[i].heap_handle == heap)
            found = table->rows[i];
    }
    etlheap_table_free(table);
    assert_int_equal(found.pid, PID);
    return found;
}

#define ASSERT_MEASURE(row, name, value)                                                           \
    assert_int_equal((row).measures[ETLHEAP_MEASURE_##name], (value))

static void records_of_a_trace_become_sizes_of_rows(void **state)
{
    check_traces traces = { .count = 0 };
    etl_build *const b = etl_build_new(NULL);
    (void)state;
    etl_build_heap_create_of(b, at(1), HEAP, (etl_build_heap_sizes){ 0x2000, 0x90000 });
    etl_build_heap_alloc(b, at(2), HEAP, 0x5000, 0x800);
    etl_build_heap_resize(b, at(10), 0x25,
                          &(etl_build_heap_extent){ HEAP, 0x8000, 0x4000, { 0x6000, 0x90000 } });
    etl_build_heap_alloc(b, at(11), HEAP, 0x6000, 0x1000);
    etl_build_heap_resize(b, at(20), 0x2A,
                          &(etl_build_heap_extent){ HEAP, 0x8000, 0x1000, { 0x5000, 0xA0000 } });
    etl_build_heap_range_rundown(b, at(1), HEAP + 1,
                                 (const etl_build_range[]){ { 0x100, 0x300 }, { 0x900, 0x50 } }, 2);
    etl_build_heap_alloc(b, at(3), HEAP + 1, 0x7000, 0x10);
    etl_build_heap_range(b, at(4), 0x66, HEAP + 1, (etl_build_range){ 0x2000, 0x1000 });
    etl_build_heap_snapshot(b, at(30), HEAP + 1, PID, 0x3000);
    etl_build_heap_destroy(b, at(40), HEAP);
    check_open(&traces, b);
    etlheap_result *const result = check_analyze(&traces, NULL);

    etlheap_row row = row_at(result, ETLHEAP_KIND_HEAP, HEAP, 5);
    ASSERT_MEASURE(row, COMMITTED_SIZE, 0x2000);
    ASSERT_MEASURE(row, RESERVED_SIZE, 0x90000);
    ASSERT_MEASURE(row, OVERHEAD_SIZE, 0x1800);
    assert_true(row.grows_most);
    row = row_at(result, ETLHEAP_KIND_HEAP, HEAP, 10); /* the window ends before the record */
    ASSERT_MEASURE(row, COMMITTED_SIZE, 0x2000);
    row = row_at(result, ETLHEAP_KIND_HEAP, HEAP, 15);
    ASSERT_MEASURE(row, COMMITTED_SIZE, 0x6000);
    ASSERT_MEASURE(row, OVERHEAD_SIZE, 0x6000 - 0x1800);
    row = row_at(result, ETLHEAP_KIND_EXTENT, HEAP, 25);
    ASSERT_MEASURE(row, COMMITTED_SIZE, 0x5000);
    ASSERT_MEASURE(row, RESERVED_SIZE, 0xA0000);
    ASSERT_MEASURE(row, OVERHEAD_SIZE, ETLHEAP_NOT_KNOWN);
    row = row_at(result, ETLHEAP_KIND_HEAP, HEAP + 1, 25);
    ASSERT_MEASURE(row, COMMITTED_SIZE, ETLHEAP_NOT_KNOWN);
    ASSERT_MEASURE(row, RESERVED_SIZE, 0x1350);
    assert_false(row.grows_most);
    row = row_at(result, ETLHEAP_KIND_HEAP, HEAP + 1, 35);
    ASSERT_MEASURE(row, COMMITTED_SIZE, 0x3000);
    ASSERT_MEASURE(row, RESERVED_SIZE, 0x6000);
    row = row_at(result, ETLHEAP_KIND_HEAP, HEAP, 45);
    ASSERT_MEASURE(row, COMMITTED_SIZE, 0);
    etlheap_result_free(result);
    check_close(&traces);
}

/* What is known before the first record of a heap is nothing. */
static void sizes_are_not_known_before_the_first_record(void **state)
{
    check_traces traces = { .count = 0 };
    etl_build *const b = etl_build_new(NULL);
    (void)state;
    etl_build_heap_alloc(b, at(2), HEAP, 0x5000, 0x800);
    etl_build_heap_resize(b, at(10), 0x25,
                          &(etl_build_heap_extent){ HEAP, 0x8000, 0x4000, { 0x6000, 0x90000 } });
    check_open(&traces, b);
    etlheap_result *const result = check_analyze(&traces, NULL);
    const etlheap_row row = row_at(result, ETLHEAP_KIND_HEAP, HEAP, 5);
    ASSERT_MEASURE(row, COMMITTED_SIZE, ETLHEAP_NOT_KNOWN);
    ASSERT_MEASURE(row, RESERVED_SIZE, ETLHEAP_NOT_KNOWN);
    ASSERT_MEASURE(row, OVERHEAD_SIZE, ETLHEAP_NOT_KNOWN);
    etlheap_result_free(result);
    check_close(&traces);
}

static void rows_that_are_no_heaps_have_no_sizes(void **state)
{
    etlheap_query query = etlheap_query_default();
    (void)state;
    const u32 sizes = ETLHEAP_MEASURE_BIT(COMMITTED_SIZE);
    assert_int_equal(etlheap_query_measures(&query) & sizes, 0); /* by type and stack too */
    query.group_by_count = 2;                                    /* kind, process */
    assert_int_equal(etlheap_query_measures(&query) & sizes, 0);
    query.group_by_count = 3; /* and heap */
    assert_int_equal(etlheap_query_measures(&query) & sizes, sizes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_records_take_the_place_of_earlier_ones),
        cmocka_unit_test(destroyed_heap_has_nothing_and_a_new_one_begins_anew),
        cmocka_unit_test(heaps_that_take_over_a_handle_are_counted),
        cmocka_unit_test(ranges_count_where_no_heap_record_tells_what_is_reserved),
        cmocka_unit_test(commits_change_the_size_between_records_that_state_it),
        cmocka_unit_test(pages_that_two_records_tell_of_count_once),
        cmocka_unit_test(commits_that_create_a_heap_are_no_notes),
        cmocka_unit_test(sizes_alone_contradict_nothing),
        cmocka_unit_test(of_one_moment_the_last_word_counts),
        cmocka_unit_test(heaps_of_unknown_processes_are_nobodys),
        cmocka_unit_test(random_notes_agree_with_going_through_them_again),
        cmocka_unit_test(records_of_a_trace_become_sizes_of_rows),
        cmocka_unit_test(sizes_are_not_known_before_the_first_record),
        cmocka_unit_test(rows_that_are_no_heaps_have_no_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
