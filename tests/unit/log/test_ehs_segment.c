/*
 * Goal: heap events of an event list come back from its segments, column by column;
 * the open set is what is open, and a checkpoint gives it back; columns that a file
 * lacks are told.
 * Method: random event lists, beside which a plain model keeps every block; segments
 * read with each column alone and with all; files whose columns do not agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/hand_bytes.h"
#include "tests/support/store_check.h"
#include "tests/models/event_model.h"

#define ALL 0xFFFu

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

static etl_status read_segment(u32 number, u32 wanted, ehs_events *out)
{
    const ehs_segment_source from = { &the_file.reader, &the_file.loader.codec, number };
    return ehs_segment_read(&from, &the_file.index.at[number], wanted, out, &the_file.err);
}

/* --- tests --------------------------------------------------------------------------- */

static void all_columns_of_all_segments_come_back(void **state)
{
    (void)state;
    ehs_events wanted, got;
    u32 allocs = 0;
    assert_true(ehs_events_open(&wanted) && ehs_events_open(&got));
    assert_int_equal(the_file.index.count, MODEL_SEGMENTS);
    for (u32 number = 0; number < MODEL_SEGMENTS; number++) {
        const u32 first = number * EHS_PART_ROWS, left = MODEL_EVENTS - first;
        assert_int_equal(the_file.index.at[number].first_event, first);
        assert_int_equal(the_file.index.at[number].first_ordinal, allocs);
        event_model_fill(&the_model, first, left < EHS_PART_ROWS ? left : EHS_PART_ROWS, &allocs,
                         &wanted);
        assert_int_equal(read_segment(number, ALL, &got), ETL_OK);
        assert_int_equal(got.count, wanted.count);
        assert_int_equal(got.alloc_count, wanted.alloc_count);
        assert_int_equal(got.end_count, wanted.end_count);
        for (u32 i = 0; i < got.count; i++) {
            const bool is_later = the_model.events[first + i].is_later;
            assert_int_equal(got.kind[i], wanted.kind[i] | (is_later ? EHS_EVENT_LATER : 0u));
        }
        assert_memory_equal(got.ticks, wanted.ticks, got.count * sizeof *got.ticks);
        assert_memory_equal(got.origin, wanted.origin, got.alloc_count * sizeof *got.origin);
        assert_memory_equal(got.size, wanted.size, got.alloc_count * sizeof *got.size);
        assert_memory_equal(got.address, wanted.address, got.alloc_count * sizeof *got.address);
        assert_memory_equal(got.thread, wanted.thread, got.alloc_count * sizeof *got.thread);
        assert_memory_equal(got.is_realloc, wanted.is_realloc, got.alloc_count);
        assert_memory_equal(got.back, wanted.back, got.end_count * sizeof *got.back);
        assert_memory_equal(got.how, wanted.how, got.end_count);
        assert_memory_equal(got.freer, wanted.freer, got.end_count * sizeof *got.freer);
        assert_memory_equal(got.freer_thread, wanted.freer_thread,
                            got.end_count * sizeof *got.freer_thread);
    }
    ehs_events_close(&wanted);
    ehs_events_close(&got);
}

/* What nobody asked for is not read, and in builds with assertions no value that a file has, so
 * that no answer rests on it unseen. */
static void a_column_alone_poisons_the_others(void **state)
{
    (void)state;
    ehs_events got;
    assert_true(ehs_events_open(&got));
    memset(got.origin, 0xAA, sizeof *got.origin);
    memset(got.back, 0xAA, sizeof *got.back);
    assert_int_equal(read_segment(1, EHS_WANT_ORIGIN, &got), ETL_OK);
    assert_int_not_equal(got.origin[0], 0xAAAAAAAA);
#ifdef NDEBUG
    assert_int_equal(got.back[0], 0xAAAAAAAA);
#else
    assert_int_equal(got.back[0], 0xA5A5A5A5);
    assert_int_equal(got.back[got.end_count - 1], 0xA5A5A5A5);
    assert_int_equal(got.thread[got.alloc_count - 1], 0xA5A5A5A5);
    assert_int_equal(got.how[0], 0xA5);
#endif
    ehs_events_close(&got);
}

static void the_index_tells_times_and_sizes(void **state)
{
    (void)state;
    const ehs_segment_info *const info = &the_file.index.at[1];
    u64 least = UINT64_MAX, most = 0;
    for (u32 i = 0; i < EHS_PART_ROWS; i++) {
        const model_event *const event = &the_model.events[EHS_PART_ROWS + i];
        const u64 size = the_model.blocks[event->block].size;
        least = !event->is_end && size < least ? size : least;
        most = !event->is_end && size > most ? size : most;
    }
    assert_int_equal(info->first_ticks, the_model.events[EHS_PART_ROWS].ticks);
    assert_int_equal(info->last_ticks, the_model.events[2 * EHS_PART_ROWS - 1].ticks);
    assert_int_equal(info->size_min, least);
    assert_int_equal(info->size_max, most);
}

/* Is the row what the model says of the block, given the events before `end`? */
static void assert_open_row(const ehs_open_rows *rows, size_t row, u32 ordinal, bool is_realloc)
{
    const model_block *const block = &the_model.blocks[ordinal];
    assert_int_equal(rows->ordinal[row], ordinal);
    assert_int_equal(rows->origin[row], block->origin);
    assert_int_equal(rows->size[row], block->size);
    assert_int_equal(rows->ticks[row], block->ticks);
    assert_int_equal(rows->address[row], block->address);
    assert_int_equal(rows->thread[row], block->thread);
    assert_int_equal(rows->is_realloc[row], is_realloc);
}

static void checkpoints_hold_the_blocks_open_before_their_segment(void **state)
{
    (void)state;
    bool *const is_open = calloc(MODEL_EVENTS, 1), *const is_realloc = calloc(MODEL_EVENTS, 1);
    u32 at = 0, blocks = 0;
    assert_int_equal(the_file.checkpoints.count, MODEL_SEGMENTS - 1);
    for (size_t c = 0; c < the_file.checkpoints.count; c++) {
        const ehs_checkpoint *const checkpoint = &the_file.checkpoints.at[c];
        for (; at < checkpoint->segment * EHS_PART_ROWS; at++) {
            const model_event *const event = &the_model.events[at];
            if (!event->is_end) {
                blocks = event->block + 1;
                is_open[event->block] = true;
                is_realloc[event->block] = the_model.blocks[event->block].is_realloc;
            } else if (event->how == EHS_HOW_REALLOC) {
                is_realloc[event->block] = true;
            } else {
                is_open[event->block] = false;
            }
        }
        ehs_open_rows rows = { 0 };
        assert_int_equal(ehs_checkpoint_load(&the_file.loader, checkpoint, ALL, &rows), ETL_OK);
        size_t row = 0;
        for (u32 ordinal = 0; ordinal < blocks; ordinal++) {
            if (is_open[ordinal])
                assert_open_row(&rows, row++, ordinal, is_realloc[ordinal]);
        }
        assert_int_equal(rows.count, row);
        ehs_open_rows_free(&rows);
    }
    free(is_open);
    free(is_realloc);
}

static void the_checkpoint_at_or_before_a_segment_is_found(void **state)
{
    (void)state;
    ehs_checkpoint list[] = { { .segment = 3 }, { .segment = 10 } };
    const ehs_checkpoints checkpoints = { list, 2, 2 }, none = { 0 };
    assert_null(ehs_checkpoint_before(&none, 5));
    assert_null(ehs_checkpoint_before(&checkpoints, 2));
    assert_ptr_equal(ehs_checkpoint_before(&checkpoints, 3), &list[0]);
    assert_ptr_equal(ehs_checkpoint_before(&checkpoints, 9), &list[0]);
    assert_ptr_equal(ehs_checkpoint_before(&checkpoints, 10), &list[1]);
    assert_ptr_equal(ehs_checkpoint_before(&checkpoints, UINT32_MAX), &list[1]);
}

static void checkpoints_are_due_when_they_are_small_beside_the_events(void **state)
{
    (void)state;
    assert_false(ehs_checkpoint_due(EHS_CHECKPOINT_EVENTS_MIN - 1, 0));
    assert_true(ehs_checkpoint_due(EHS_CHECKPOINT_EVENTS_MIN, 0));
    assert_true(ehs_checkpoint_due(16000000, 1000000));
    assert_false(ehs_checkpoint_due(16000000, 1000001));
}

/* --- what is not right ------------------------------------------------------------- */

static void an_end_of_a_block_that_is_not_open_is_refused(void **state)
{
    (void)state;
    ehs_events events;
    assert_true(ehs_events_open(&events));
    const struct {
        u32 first_back, second_back;
        etl_status status;
    } cases[] = { { 1, 2, ETL_OK },
                  { 1, 1, ETL_ERR_ARGUMENT },
                  { 0, 1, ETL_ERR_ARGUMENT },
                  { 3, 1, ETL_ERR_ARGUMENT } };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        ehs_open_set set = { 0 };
        events.count = 4;
        events.alloc_count = events.end_count = 2;
        for (u32 k = 0; k < 4; k++) {
            events.ticks[k] = k;
            events.kind[k] = (u8)(k < 2 ? 0 : EHS_EVENT_END);
        }
        memset(events.origin, 0, 8);
        memset(events.size, 0, 16);
        memset(events.address, 0, 16);
        memset(events.thread, 0, 8);
        memset(events.is_realloc, 0, 2);
        memset(events.how, ETLHEAP_FREE_FREE, 2);
        events.back[0] = cases[i].first_back;
        events.back[1] = cases[i].second_back;
        assert_int_equal(ehs_open_follow(&set, &events), cases[i].status);
        ehs_open_free(&set);
    }
    ehs_events_close(&events);
}

/* Blocks that come and go at once: a long event list keeps next to nothing. */
static void the_open_set_does_not_grow_with_the_event_list(void **state)
{
    (void)state;
    ehs_open_set set = { 0 };
    ehs_events events;
    assert_true(ehs_events_open(&events));
    memset(events.origin, 0, EHS_PART_ROWS * sizeof *events.origin);
    memset(events.size, 0, EHS_PART_ROWS * sizeof *events.size);
    memset(events.address, 0, EHS_PART_ROWS * sizeof *events.address);
    memset(events.thread, 0, EHS_PART_ROWS * sizeof *events.thread);
    memset(events.is_realloc, 0, EHS_PART_ROWS);
    memset(events.how, ETLHEAP_FREE_FREE, EHS_PART_ROWS);
    events.count = EHS_PART_ROWS;
    events.alloc_count = events.end_count = EHS_PART_ROWS / 2;
    for (u32 i = 0; i < EHS_PART_ROWS; i++) {
        events.ticks[i] = i;
        events.kind[i] = (u8)(i % 2 == 0 ? 0 : EHS_EVENT_END);
        events.back[i / 2] = 1;
    }
    for (u32 segment = 0; segment < 20; segment++) {
        assert_int_equal(ehs_open_follow(&set, &events), ETL_OK);
        assert_int_equal(set.alive, 0);
        if (segment % 3 == 2)
            assert_true(ehs_open_gather(&set));
        assert_true(set.rows.count <= 3 * (size_t)EHS_PART_ROWS);
    }
    assert_int_equal(set.allocs, 10 * EHS_PART_ROWS);
    assert_true(ehs_open_trim(&set));
    assert_int_equal(set.rows.count, 0);
    ehs_open_free(&set);
    ehs_events_close(&events);
}

/* One block, opened in the first of two segments, resized and then ended in the second. */
static void rows_are_made_of_several_segments_at_once(void **state)
{
    (void)state;
    for (u32 ends = 1; ends <= 2; ends++) {
        ehs_open_set set = { 0 };
        ehs_events first, second;
        assert_true(ehs_events_open(&first) && ehs_events_open(&second));
        first.count = first.alloc_count = 2;
        first.end_count = second.alloc_count = 0;
        second.count = second.end_count = ends;
        for (u32 i = 0; i < 2; i++) {
            first.ticks[i] = 100 + i;
            first.kind[i] = first.is_realloc[i] = 0;
            first.origin[i] = first.thread[i] = 7 + i;
            first.size[i] = first.address[i] = 70 + i;
            second.kind[i] = EHS_EVENT_END;
            second.back[i] = 1;
        }
        second.how[0] = EHS_HOW_REALLOC;
        second.how[1] = ETLHEAP_FREE_FREE;
        assert_int_equal(ehs_open_follow(&set, &first), ETL_OK);
        assert_int_equal(ehs_open_follow(&set, &second), ETL_OK);
        assert_true(ehs_open_gather(&set));
        assert_int_equal(set.alive, 3 - ends);
        assert_int_equal(set.rows.count, 3 - ends);
        assert_int_equal(set.rows.ordinal[0], 0);
        assert_int_equal(set.rows.ticks[0], 100);
        assert_int_equal(set.rows.origin[0], 7);
        assert_int_equal(set.rows.is_realloc[0], 0);
        if (ends == 1)
            assert_int_equal(set.rows.is_realloc[1], 1);
        ehs_open_free(&set);
        ehs_events_close(&first);
        ehs_events_close(&second);
    }
}

/* A segment of two events whose columns are given, under a segment row of its own. */
typedef struct forged {
    u8 is_end[2];
    u32 origins;
    u32 events, allocs;
} forged;

static etl_status read_forged(const forged *what, etl_error *err)
{
    model_file file = { 0 };
    ehs_saver saver = { 0 };
    ehs_writer writer;
    ehs_segment_info info = { .events = what->events, .allocs = what->allocs };
    const u32 origins[4] = { 1, 2, 3, 4 };
    ehs_segment_index index = { &info, 1, 1 };
    assert_true(ehs_blocks_add(&saver.blocks, &saver.codec, EHS_HEAP_IS_END, 0, what->is_end, 2));
    assert_true(
        ehs_blocks_add(&saver.blocks, &saver.codec, EHS_HEAP_ORIGIN, 0, origins, what->origins));
    assert_true(ehs_segment_index_save(&saver, &index));
    assert_int_equal(ehs_writer_open(&writer, model_file_keep, &file.bytes, EHS_CONTENT_STORE),
                     ETL_OK);
    assert_int_equal(ehs_writer_put(&writer, &saver.blocks), ETL_OK);
    assert_int_equal(ehs_writer_close(&writer), ETL_OK);
    ehs_saver_free(&saver);

    const etl_bytes bytes = { file.bytes.at, file.bytes.count };
    assert_int_equal(ehs_reader_open(&file.reader, bytes, err), ETL_OK);
    file.loader = (ehs_loader){
        .reader = &file.reader, .arena = &file.arena, .bytes_left = UINT64_MAX, .err = err
    };
    assert_int_equal(ehs_loader_open(&file.loader), ETL_OK);
    etl_status status = ehs_segment_index_load(&file.loader, &file.index);
    if (status == ETL_OK) {
        ehs_events events;
        const ehs_segment_source from = { &file.reader, &file.loader.codec, 0 };
        assert_true(ehs_events_open(&events));
        status = ehs_segment_read(&from, &file.index.at[0], EHS_WANT_KIND | EHS_WANT_ORIGIN,
                                  &events, err);
        if (status == ETL_OK)
            status = ehs_segment_read(&from, &file.index.at[0], EHS_WANT_BACK, &events, err);
        ehs_events_close(&events);
    }
    model_file_close(&file);
    return status;
}

static void columns_that_disagree_with_their_segment_are_refused(void **state)
{
    (void)state;
    static const struct {
        forged what;
        const char *part;
    } cases[] = {
        { { { 0, 1 }, 1, 2, 1 }, "block 0 of heap.back is missing" },
        { { { 1, 1 }, 1, 2, 1 }, "a different number of ends than its segment" },
        { { { 0, 1 }, 2, 2, 1 }, "a different number of values than its segment" },
        { { { 0, 1 }, 1, 3, 1 }, "a different number of values than its segment" },
        { { { 0, 1 }, 1, 2, 3 }, "an impossible number of events" },
        { { { 0, 1 }, 1, 0, 0 }, "an impossible number of events" },
        { { { 0, 1 }, 1, EHS_PART_ROWS + 1, 1 }, "an impossible number of events" },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        etl_error err = { .message = "" };
        assert_int_equal(read_forged(&cases[i].what, &err), ETL_ERR_CORRUPT);
        if (strstr(err.message, cases[i].part) == NULL)
            fail_msg("case %zu: \"%s\"", i, err.message);
    }
}

static void a_checkpoint_with_more_rows_than_its_blocks_is_refused(void **state)
{
    (void)state;
    ehs_checkpoint row = the_file.checkpoints.at[0];
    ehs_open_rows rows = { 0 };
    row.rows++;
    assert_int_equal(ehs_checkpoint_load(&the_file.loader, &row, ALL, &rows), ETL_ERR_CORRUPT);
    ehs_open_rows_free(&rows);
    row.rows = UINT64_MAX;
    assert_int_equal(ehs_checkpoint_load(&the_file.loader, &row, ALL, &rows), ETL_ERR_LIMIT);
    ehs_open_rows_free(&rows);
}

/* The model's file without a column. */
static void open_without(ehs_column column, model_file *file)
{
    *file = (model_file){ .bytes = store_check_rewrite(&the_file.bytes, &column, NULL) };
    model_file_open(file);
}

static etl_status what_lacks(model_file *file, u32 *lacks)
{
    *lacks = 0;
    const etl_status status = ehs_segments_lack(&file->reader, &file->index, lacks, &file->err);
    return status == ETL_OK
               ? ehs_checkpoints_lack(&file->reader, &file->checkpoints, lacks, &file->err)
               : status;
}

static void columns_that_may_be_left_out_are_told(void **state)
{
    (void)state;
    static const struct {
        ehs_column column;
        u32 lacks;
    } cases[] = {
        { EHS_HEAP_ADDRESS, EHS_WANT_ADDRESS },
        { EHS_OPEN_ADDRESS, EHS_WANT_ADDRESS },
        { EHS_HEAP_THREAD, EHS_WANT_THREAD },
        { EHS_OPEN_THREAD, EHS_WANT_THREAD },
        { EHS_HEAP_FREER, EHS_WANT_FREER },
        { EHS_HEAP_FREER_THREAD, EHS_WANT_FREER_THREAD },
        { EHS_HEAP_IS_LATER, 0 },
        { EHS_HEAP_BACK, 0 },
        { EHS_OPEN_ORDINAL, 0 },
        { EHS_OPEN_ORIGIN, 0 },
    };
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        model_file file;
        u32 lacks;
        open_without(cases[i].column, &file);
        const etl_status status = what_lacks(&file, &lacks);
        assert_int_equal(status, cases[i].lacks != 0 ? ETL_OK : ETL_ERR_CORRUPT);
        if (status == ETL_OK)
            assert_int_equal(lacks, cases[i].lacks);
        else
            assert_non_null(strstr(file.err.message, ehs_column_find(cases[i].column)->name));
        model_file_close(&file);
    }
    u32 lacks;
    assert_int_equal(what_lacks(&the_file, &lacks), ETL_OK);
    assert_int_equal(lacks, 0);
}

static void events_without_an_index_are_refused(void **state)
{
    (void)state;
    const ehs_segment_index none = { 0 };
    u32 lacks = 0;
    etl_error err;
    assert_int_equal(ehs_segments_lack(&the_file.reader, &none, &lacks, &err), ETL_ERR_CORRUPT);
    assert_non_null(strstr(err.message, "segment.events"));
}

static void values_that_were_not_recorded_are_all_ones(void **state)
{
    (void)state;
    model_file file;
    ehs_events events;
    ehs_open_rows rows = { 0 };
    open_without(EHS_HEAP_THREAD, &file);
    assert_true(ehs_events_open(&events));
    const ehs_segment_source from = { &file.reader, &file.loader.codec, 1 };
    assert_int_equal(ehs_segment_read(&from, &file.index.at[1], ALL, &events, &file.err), ETL_OK);
    for (u32 i = 0; i < events.alloc_count; i++)
        assert_int_equal(events.thread[i], ETL_NO_ID);
    ehs_events_close(&events);
    model_file_close(&file);

    open_without(EHS_OPEN_ADDRESS, &file);
    const ehs_checkpoint *const row = &file.checkpoints.at[0];
    assert_int_equal(ehs_checkpoint_load(&file.loader, row, ALL, &rows), ETL_OK);
    assert_true(rows.count > 0);
    for (size_t i = 0; i < rows.count; i++)
        assert_true(rows.address[i] == UINT64_MAX);
    ehs_open_rows_free(&rows);
    model_file_close(&file);
}

/* Recorded in one segment is recorded in all. */
static void an_optional_column_without_one_of_its_blocks_is_damaged(void **state)
{
    (void)state;
    const ehs_column column = EHS_HEAP_THREAD;
    const u32 allocs = the_file.index.at[0].allocs;
    u32 *const threads = calloc(allocs, sizeof *threads);
    ehs_blocks first = { 0 };
    ehs_events events;
    assert_non_null(threads);
    assert_true(ehs_blocks_add(&first, &the_file.loader.codec, column, 0, threads, allocs));
    model_file file = { .bytes = store_check_rewrite(&the_file.bytes, &column, &first) };
    model_file_open(&file);
    assert_true(ehs_events_open(&events));
    const ehs_segment_source from = { &file.reader, &file.loader.codec, 1 };
    assert_int_equal(ehs_segment_read(&from, &file.index.at[1], ALL, &events, &file.err),
                     ETL_ERR_CORRUPT);
    assert_string_equal(file.err.message, "block 1 of heap.thread is missing");
    ehs_events_close(&events);
    model_file_close(&file);
    ehs_blocks_free(&first);
    free(threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_columns_of_all_segments_come_back),
        cmocka_unit_test(a_column_alone_poisons_the_others),
        cmocka_unit_test(the_index_tells_times_and_sizes),
        cmocka_unit_test(checkpoints_hold_the_blocks_open_before_their_segment),
        cmocka_unit_test(the_checkpoint_at_or_before_a_segment_is_found),
        cmocka_unit_test(checkpoints_are_due_when_they_are_small_beside_the_events),
        cmocka_unit_test(an_end_of_a_block_that_is_not_open_is_refused),
        cmocka_unit_test(rows_are_made_of_several_segments_at_once),
        cmocka_unit_test(the_open_set_does_not_grow_with_the_event_list),
        cmocka_unit_test(columns_that_disagree_with_their_segment_are_refused),
        cmocka_unit_test(a_checkpoint_with_more_rows_than_its_blocks_is_refused),
        cmocka_unit_test(columns_that_may_be_left_out_are_told),
        cmocka_unit_test(events_without_an_index_are_refused),
        cmocka_unit_test(values_that_were_not_recorded_are_all_ones),
        cmocka_unit_test(an_optional_column_without_one_of_its_blocks_is_damaged),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
