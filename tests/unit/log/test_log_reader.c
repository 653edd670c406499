/*
 * Goal: a reader gives each event of a file with the block it concerns, in order, in
 * batches; it goes wherever it is sent, and says when an end names no block.
 * Method: random events beside a plain model of their blocks (event_model.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/log/log_reader.h"
#include "tests/support/hand_bytes.h"
#include "tests/models/event_model.h"

#define EVERYTHING (EHS_WANT_OPENS | EHS_WANT_ENDS | EHS_WANT_LATER)

static event_model the_model;
static model_file the_file;

static int set_up(void **state)
{
    (void)state;
    event_model_open(&the_model);
    model_file_write(&the_model, &the_file);
    model_file_open(&the_file);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    model_file_close(&the_file);
    event_model_close(&the_model);
    return 0;
}

static void begin(log_reader *reader, u32 wanted)
{
    assert_true(log_reader_open(reader, &the_file.reader, &the_file.index, wanted, NULL));
}

static void assert_event(const log_batch *batch, u32 at)
{
    const u32 number = batch->segment * EHS_PART_ROWS + batch->first + at, row = batch->row[at];
    const model_event *const event = &the_model.events[number];
    assert_int_equal(batch->ticks[at], event->ticks);
    assert_int_equal(log_opens(batch, at), !event->is_end);
    assert_int_equal((batch->kind[at] & EHS_EVENT_LATER) != 0, event->is_later);
    assert_int_equal(batch->ordinal[at], event->block);
    if (event->is_end) {
        assert_int_equal(batch->how[row], event->how);
        return;
    }
    const model_block *const block = &the_model.blocks[event->block];
    assert_int_equal(batch->origin[row], block->origin);
    assert_int_equal(batch->size[row], block->size);
    assert_int_equal(batch->address[row], block->address);
    assert_int_equal(batch->thread[row], block->thread);
    assert_int_equal(batch->is_realloc[row], block->is_realloc);
}

/* Reads to the end and compares; returns how many events came. */
static u32 read_on(log_reader *reader)
{
    const log_batch *batch;
    u32 events = 0;
    assert_int_equal(log_next(reader, &batch, NULL), ETL_OK);
    while (batch != NULL) {
        assert_in_range(batch->count, 1, LOG_BATCH_ROWS);
        for (u32 i = 0; i < batch->count; i++)
            assert_event(batch, i);
        events += batch->count;
        assert_int_equal(log_next(reader, &batch, NULL), ETL_OK);
    }
    return events;
}

static void every_event_comes_with_its_block(void **state)
{
    (void)state;
    log_reader reader;
    begin(&reader, EVERYTHING);
    assert_int_equal(read_on(&reader), MODEL_EVENTS);
    log_reader_close(&reader);
}

static void a_reader_goes_where_it_is_sent(void **state)
{
    (void)state;
    const u32 tail = MODEL_EVENTS - (MODEL_SEGMENTS - 1) * EHS_PART_ROWS;
    log_reader reader;
    const log_batch *batch;
    begin(&reader, EVERYTHING);
    log_reader_seek(&reader, 2, MODEL_SEGMENTS);
    assert_int_equal(read_on(&reader), EHS_PART_ROWS * (MODEL_SEGMENTS - 3) + tail);
    log_reader_seek(&reader, 1, 2);
    assert_int_equal(log_next(&reader, &batch, NULL), ETL_OK);
    assert_int_equal(log_next(&reader, &batch, NULL), ETL_OK);
    assert_int_equal(batch->segment, 1);
    assert_int_equal(batch->first, LOG_BATCH_ROWS);
    log_reader_seek(&reader, 1, 2); /* back to its beginning */
    assert_int_equal(read_on(&reader), EHS_PART_ROWS);
    log_reader_seek(&reader, 0, 1); /* sent on before it has read */
    log_reader_seek(&reader, MODEL_SEGMENTS - 1, MODEL_SEGMENTS);
    assert_int_equal(read_on(&reader), tail);
    log_reader_seek(&reader, 1, 1);
    assert_int_equal(read_on(&reader), 0);
    log_reader_seek(&reader, MODEL_SEGMENTS, MODEL_SEGMENTS);
    assert_int_equal(read_on(&reader), 0);
    log_reader_close(&reader);
}

/* Of ends it says where they are, and not of what. */
static void blocks_are_numbered_without_their_ends(void **state)
{
    (void)state;
    log_reader reader;
    const log_batch *batch;
    begin(&reader, EHS_WANT_TICKS);
    log_reader_seek(&reader, 1, 2);
    assert_int_equal(log_next(&reader, &batch, NULL), ETL_OK);
    for (u32 i = 0; i < batch->count; i++) {
        const model_event *const event = &the_model.events[EHS_PART_ROWS + i];
        assert_int_equal(log_opens(batch, i), !event->is_end);
        assert_true(event->is_end || batch->ordinal[i] == event->block);
        assert_int_equal(batch->ticks[i], event->ticks);
    }
    log_reader_close(&reader);
}

/* Three events of a file that has had `allocs` allocations before. */
typedef struct end_case {
    u64 allocs;
    u32 back;
    bool is_right;
    u32 ordinal;
} end_case;

static void an_end_names_a_block_that_there_is(void **state)
{
    (void)state;
    static const end_case cases[] = {
        { 0, 1, true, 0 },
        { 0, 0, false, 0 },
        { 0, 2, false, 0 },
        { 0, UINT32_MAX, false, 0 },
        { 10, 11, true, 0 },
        { 10, 12, false, 0 },
        { 10, 1, true, 10 },
        { UINT32_MAX - 2, UINT32_MAX - 1, true, 0 },
        { UINT32_MAX - 2, 1, true, UINT32_MAX - 2 },
    };
    ehs_events events;
    assert_true(ehs_events_open(&events));
    events.count = 3;
    events.alloc_count = 2;
    events.end_count = 1;
    events.kind[0] = events.kind[2] = 0;
    events.kind[1] = EHS_EVENT_END;
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        log_place place = { .allocs = cases[i].allocs };
        log_numbers numbers;
        log_batch batch;
        events.back[0] = cases[i].back;
        assert_int_equal(log_number(&events, true, &place, &numbers, &batch), cases[i].is_right);
        assert_int_equal(place.event, 3);
        assert_int_equal(place.allocs, cases[i].allocs + 2);
        if (cases[i].is_right)
            assert_int_equal(batch.ordinal[1], cases[i].ordinal);
        assert_int_equal(batch.ordinal[0], cases[i].allocs);
        assert_int_equal(batch.ordinal[2], cases[i].allocs + 1);
        place = (log_place){ .allocs = cases[i].allocs };
        assert_true(log_number(&events, false, &place, &numbers, &batch));
        assert_true(log_number(&events, false, &place, &numbers, &batch));
        assert_int_equal(batch.count, 0);
    }
    ehs_events_close(&events);
}

static void a_segment_that_is_damaged_is_told_and_left_again(void **state)
{
    (void)state;
    const ehs_row *const row = ehs_reader_find(&the_file.reader, EHS_HEAP_BACK, 1);
    u8 *const at = the_file.bytes.at + row->offset + row->size / 2;
    log_reader reader;
    const log_batch *batch = NULL;
    etl_error err = { .message = "" };
    begin(&reader, EVERYTHING);
    *at ^= 1;
    etl_status status = ETL_OK;
    u32 batches = 0;
    while (status == ETL_OK && batches < MODEL_EVENTS) {
        status = log_next(&reader, &batch, &err);
        batches++;
    }
    *at ^= 1;
    assert_int_equal(status, ETL_ERR_CORRUPT);
    assert_int_equal(batches, EHS_PART_ROWS / LOG_BATCH_ROWS + 1);
    assert_null(batch);
    assert_string_not_equal(err.message, "");
    log_reader_seek(&reader, 1, 2);
    assert_int_equal(read_on(&reader), EHS_PART_ROWS);
    log_reader_close(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_comes_with_its_block),
        cmocka_unit_test(a_reader_goes_where_it_is_sent),
        cmocka_unit_test(blocks_are_numbered_without_their_ends),
        cmocka_unit_test(an_end_names_a_block_that_there_is),
        cmocka_unit_test(a_segment_that_is_damaged_is_told_and_left_again),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
