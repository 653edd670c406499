/*
 * Goal: chunks of an event list become segments of a file with every event at its
 * place, wherever a chunk or a segment ends; and ranks become ordinals.
 * Method: chunks made by hand, given to the batch as a run does; the file's
 * segments read back and compared with what was given.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/log/store_batch.h"
#include "tests/support/engine_check.h"

/* An event as it is read back: which block, at what time, and what of it. */
typedef struct told {
    u64 ordinal;
    i64 ticks;
    u32 origin; /* 0: an end */
    u8 how;
} told;

typedef struct fixture {
    ehs_bytes file;
    ehs_writer writer;
    store_batch batch;
    u32 next_rank;
    ETLHEAP_VECTOR(told) given;
    ETLHEAP_VECTOR(told) read;
    ETLHEAP_VECTOR(u32) ranks; /* by ordinal */
    i64 read_ticks;            /* of the last event read */
} fixture;

static bool keep(void *user, const void *bytes, size_t size)
{
    return ehs_put(user, bytes, size);
}

static int open_fixture(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    f->batch.writer = &f->writer;
    f->batch.crew = etlheap_crew_open(2);
    f->batch.taken_ticks = f->batch.encoded_ticks = INT64_MIN;
    *state = f;
    return f->batch.crew == NULL ||
           ehs_writer_open(&f->writer, keep, &f->file, EHS_CONTENT_STORE) != ETL_OK;
}

static int close_fixture(void **state)
{
    fixture *const f = *state;
    etlheap_crew_close(f->batch.crew);
    store_batch_free(&f->batch);
    ETLHEAP_VECTOR_FREE(&f->writer.rows);
    ETLHEAP_VECTOR_FREE(&f->file);
    ETLHEAP_VECTOR_FREE(&f->given);
    ETLHEAP_VECTOR_FREE(&f->read);
    ETLHEAP_VECTOR_FREE(&f->ranks);
    free(f);
    return 0;
}

/* --- chunks by hand --- */

static event_chunk new_chunk(const fixture *f, u32 capacity)
{
    const size_t places = (size_t)capacity + 1;
    const event_chunk chunk = { .entries = calloc(places, sizeof *chunk.entries),
                                .ticks = calloc(places, sizeof *chunk.ticks),
                                .wide = { .addresses = calloc(places, sizeof(u64)),
                                          .sizes = calloc(places, sizeof(u64)),
                                          .threads = calloc(places, sizeof(u32)),
                                          .partners = calloc(places, sizeof(u32)) },
                                .first_rank = f->next_rank };
    assert_non_null(chunk.entries);
    assert_non_null(chunk.ticks);
    assert_non_null(chunk.wide.addresses);
    assert_non_null(chunk.wide.sizes);
    assert_non_null(chunk.wide.threads);
    assert_non_null(chunk.wide.partners);
    return chunk;
}

/* An event that is none of a heap block's. */
static void add_other(fixture *f, event_chunk *chunk, i64 ticks)
{
    chunk->ticks[chunk->count++] = ticks;
    f->next_rank++;
}

static void add_alloc(fixture *f, event_chunk *chunk, i64 ticks, u32 origin)
{
    const told row = { f->ranks.count, ticks, origin, 0 };
    chunk->entries[chunk->count] = (event_entry)origin << 6 | ENTRY_ALLOC;
    chunk->wide.sizes[chunk->count] = origin * (u64)3;
    chunk->wide.addresses[chunk->count] = origin * (u64)16;
    assert_true(ETLHEAP_PUSH(&f->ranks, f->next_rank));
    assert_true(ETLHEAP_PUSH(&f->given, row));
    add_other(f, chunk, ticks);
}

static void add_end(fixture *f, event_chunk *chunk, i64 ticks, u64 ordinal, entry_kind kind)
{
    const told row = { ordinal, ticks, 0, kind == ENTRY_REALLOC ? EHS_HOW_REALLOC : 1 };
    chunk->entries[chunk->count] = kind;
    chunk->wide.partners[chunk->count] = f->ranks.at[ordinal];
    assert_true(ETLHEAP_PUSH(&f->given, row));
    add_other(f, chunk, ticks);
}

static late_entry late_end(const fixture *f, i64 ticks, u64 ordinal)
{
    return (late_entry){ .ticks = ticks,
                         .entry = ENTRY_LATE_FREE,
                         .rank = f->ranks.at[ordinal],
                         .how = ETLHEAP_FREE_HEAP_DESTROY };
}

static void expect_late(fixture *f, i64 ticks, u64 ordinal)
{
    const told row = { ordinal, ticks, 0, ETLHEAP_FREE_HEAP_DESTROY };
    assert_true(ETLHEAP_PUSH(&f->given, row));
}

static void give(fixture *f, event_chunk *chunk, const late_entry *late, size_t late_count)
{
    assert_int_equal(store_batch_take(&f->batch, chunk, late, late_count), ETL_OK);
    assert_null(chunk->entries);
    event_chunk_free(chunk);
}

/* --- and back --- */

static void read_events(fixture *f, const ehs_events *events, u64 ordinal)
{
    u32 alloc = 0, end = 0;
    for (u32 i = 0; i < events->count; i++) {
        told row = { .ticks = events->ticks[i] };
        const bool is_later = (events->kind[i] & EHS_EVENT_LATER) != 0;
        assert_int_equal(is_later, row.ticks > f->read_ticks);
        f->read_ticks = row.ticks;
        if ((events->kind[i] & EHS_EVENT_END) == 0) {
            row.ordinal = ordinal++;
            row.origin = events->origin[alloc++];
            assert_int_equal(events->size[alloc - 1], row.origin * (u64)3);
            assert_int_equal(events->address[alloc - 1], row.origin * (u64)16);
        } else {
            assert_in_range(events->back[end], 1, ordinal);
            row.ordinal = ordinal - events->back[end];
            row.how = events->how[end++];
        }
        assert_true(ETLHEAP_PUSH(&f->read, row));
    }
}

/* Ends the file and compares all its events with those given. */
static void expect_given(fixture *f, size_t segments)
{
    ehs_saver saver = { 0 };
    ehs_reader reader;
    ehs_codec codec = { 0 };
    ehs_events events;
    u64 ordinal = 0;
    f->read_ticks = INT64_MIN;
    assert_int_equal(store_batch_finish(&f->batch), ETL_OK);
    assert_int_equal(f->batch.index.count, segments);
    assert_true(ehs_segment_index_save(&saver, &f->batch.index));
    assert_int_equal(ehs_writer_put(&f->writer, &saver.blocks), ETL_OK);
    assert_int_equal(ehs_writer_close(&f->writer), ETL_OK);
    assert_int_equal(ehs_reader_open(&reader, (etl_bytes){ f->file.at, f->file.count }, NULL),
                     ETL_OK);
    assert_true(ehs_events_open(&events));
    for (u32 i = 0; i < segments; i++) {
        const ehs_segment_source from = { &reader, &codec, i };
        assert_int_equal(ehs_segment_read(&from, &f->batch.index.at[i], UINT32_MAX, &events, NULL),
                         ETL_OK);
        assert_true(i + 1 == segments || events.count == EHS_PART_ROWS);
        read_events(f, &events, ordinal);
        ordinal += events.alloc_count;
    }
    assert_int_equal(f->read.count, f->given.count);
    for (size_t i = 0; i < f->read.count; i++) {
        assert_int_equal(f->read.at[i].ordinal, f->given.at[i].ordinal);
        assert_int_equal(f->read.at[i].ticks, f->given.at[i].ticks);
        assert_int_equal(f->read.at[i].origin, f->given.at[i].origin);
        assert_int_equal(f->read.at[i].how, f->given.at[i].how);
    }
    ehs_events_close(&events);
    ehs_codec_free(&codec);
    ehs_reader_close(&reader);
    ehs_saver_free(&saver);
}

static void a_run_without_events_has_no_segment(void **state)
{
    fixture *const f = *state;
    event_chunk empty = new_chunk(f, 0), others = new_chunk(f, 3);
    give(f, &empty, NULL, 0);
    for (u32 i = 0; i < 3; i++)
        add_other(f, &others, i);
    give(f, &others, NULL, 0);
    expect_given(f, 0);
}

static void events_of_other_memory_leave_no_gap(void **state)
{
    fixture *const f = *state;
    for (u32 i = 0; i < 200; i++) {
        event_chunk chunk = new_chunk(f, 4);
        add_other(f, &chunk, 10 * i);
        add_alloc(f, &chunk, 10 * i + 1, i + 1);
        if (i % 3 == 0)
            add_other(f, &chunk, 10 * i + 2);
        if (i >= 5)
            add_end(f, &chunk, 10 * i + 3, i - 5, i % 7 == 0 ? ENTRY_REALLOC : ENTRY_FREE);
        give(f, &chunk, NULL, 0);
    }
    expect_given(f, 1);
}

/* A late end comes after all events of its tick, and before the next. */
static void late_ends_are_merged_in_by_time(void **state)
{
    fixture *const f = *state;
    event_chunk chunk = new_chunk(f, 6);
    for (u32 i = 0; i < 4; i++)
        add_alloc(f, &chunk, 10, i + 1);
    expect_late(f, 10, 3);
    expect_late(f, 15, 1);
    add_alloc(f, &chunk, 20, 5);
    expect_late(f, 20, 0);
    expect_late(f, 99, 2);
    const late_entry late[] = { late_end(f, 10, 3), late_end(f, 15, 1), late_end(f, 20, 0),
                                late_end(f, 99, 2) };
    give(f, &chunk, late, ETL_COUNT_OF(late));
    expect_given(f, 1);
}

/* The last chunk of a run has no events, but may have what came late. */
static void late_ends_may_come_alone(void **state)
{
    fixture *const f = *state;
    event_chunk chunk = new_chunk(f, 2), last = new_chunk(f, 0);
    add_alloc(f, &chunk, 10, 1);
    add_alloc(f, &chunk, 11, 2);
    give(f, &chunk, NULL, 0);
    last.first_rank = f->next_rank;
    expect_late(f, 30, 1);
    const late_entry late = late_end(f, 30, 1);
    give(f, &last, &late, 1);
    expect_given(f, 1);
}

/* The file stays in order of time, whatever the trace did. */
static void an_end_from_before_what_has_left_counts_after_it(void **state)
{
    fixture *const f = *state;
    event_chunk first = new_chunk(f, 2);
    add_alloc(f, &first, 10, 1);
    add_alloc(f, &first, 20, 2);
    give(f, &first, NULL, 0);
    event_chunk second = new_chunk(f, 1);
    expect_late(f, 20, 0);
    expect_late(f, 25, 1);
    const late_entry late[] = { late_end(f, 15, 0), late_end(f, 25, 1) };
    add_alloc(f, &second, 30, 3);
    give(f, &second, late, ETL_COUNT_OF(late));
    expect_given(f, 1);
}

/* Chunks of all lengths against segments of one length, over several batches. */
static void segments_end_anywhere_in_chunks(void **state)
{
    fixture *const f = *state;
    static const u32 lengths[] = { EHS_PART_ROWS,     1,     EHS_PART_ROWS - 1,
                                   3 * EHS_PART_ROWS, 40000, 2 * EHS_PART_ROWS + 7 };
    i64 ticks = 0;
    u64 freed = 0, total = 0;
    u64 seed = 7;
    for (u32 round = 0; round < 18; round++) {
        const u32 length = lengths[round % ETL_COUNT_OF(lengths)];
        event_chunk chunk = new_chunk(f, length);
        for (u32 i = 0; i < length; i++, ticks += 2) {
            if (freed + 1000 < f->ranks.count && engine_check_random(&seed, 2) == 0)
                add_end(f, &chunk, ticks, freed++, ENTRY_FREE);
            else
                add_alloc(f, &chunk, ticks, 1 + (u32)f->ranks.count % 1000);
        }
        const bool is_late = round % 2 != 0;
        const late_entry late = is_late ? late_end(f, ticks, freed) : (late_entry){ 0 };
        if (is_late)
            expect_late(f, ticks, freed++);
        give(f, &chunk, &late, is_late);
        total += length + is_late;
    }
    expect_given(f, (size_t)((total + EHS_PART_ROWS - 1) / EHS_PART_ROWS));
    assert_true(total > STORE_BATCH_SEGMENTS * (u64)EHS_PART_ROWS);
}

static void a_segment_may_end_between_late_ends(void **state)
{
    fixture *const f = *state;
    const u32 length = EHS_PART_ROWS + 5;
    event_chunk chunk = new_chunk(f, length);
    late_entry late[4];
    u32 late_count = 0;
    for (u32 i = 0; i < length; i++) {
        add_alloc(f, &chunk, i, 1);
        if (i != 3 && i != 100 && i != EHS_PART_ROWS - 3 && i != EHS_PART_ROWS)
            continue;
        late[late_count] = late_end(f, i, late_count);
        expect_late(f, i, late_count++);
    }
    give(f, &chunk, late, late_count);
    expect_given(f, 2);
}

static void a_segment_may_end_inside_a_tick(void **state)
{
    fixture *const f = *state;
    event_chunk chunk = new_chunk(f, 3 * EHS_PART_ROWS);
    for (u32 i = 0; i < 3 * EHS_PART_ROWS; i++)
        add_alloc(f, &chunk, i < EHS_PART_ROWS + 3 ? 10 : 11, 1);
    give(f, &chunk, NULL, 0);
    expect_given(f, 3);
}

static void ranks_become_ordinals(void **state)
{
    fixture *const f = *state;
    u64 seed = 3, opened = 0;
    rank_map map = { 0 };
    for (u32 length = 0; length < 200; length++) {
        event_chunk chunk = new_chunk(f, length);
        for (u32 i = 0; i < length; i++) {
            if (engine_check_random(&seed, 3) == 0)
                add_alloc(f, &chunk, 0, 1);
            else
                add_other(f, &chunk, 0);
        }
        assert_true(rank_map_add(&map, &chunk));
        event_chunk_free(&chunk);
    }
    for (u32 rank = 0; rank <= f->next_rank; rank++) {
        assert_int_equal(rank_map_ordinal(&map, rank), opened);
        opened += opened < f->ranks.count && f->ranks.at[opened] == rank;
    }
    rank_map_free(&map);
}

#define BATCH_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BATCH_TEST(a_run_without_events_has_no_segment),
        BATCH_TEST(events_of_other_memory_leave_no_gap),
        BATCH_TEST(late_ends_are_merged_in_by_time),
        BATCH_TEST(late_ends_may_come_alone),
        BATCH_TEST(an_end_from_before_what_has_left_counts_after_it),
        BATCH_TEST(segments_end_anywhere_in_chunks),
        BATCH_TEST(a_segment_may_end_between_late_ends),
        BATCH_TEST(a_segment_may_end_inside_a_tick),
        BATCH_TEST(ranks_become_ordinals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
