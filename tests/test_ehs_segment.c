/*
 * Goal: heap events of a journal come back from its segments, column by column;
 * the open set is what is open, and a checkpoint gives it back.
 * Method: random journals, beside which a plain model keeps every block; segments
 * read with each column alone and with all; files whose columns do not agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/ehs_open.h"
#include "hand_bytes.h"

#define EVENTS   200000u
#define ALL      0x3FFu
#define SEGMENTS ((EVENTS + EHS_PART_ROWS - 1) / EHS_PART_ROWS)

/* A block of the model. */
typedef struct model_block {
    i64 ticks;
    u64 size, address;
    u32 slot, thread;
    bool is_realloc, is_open;
} model_block;

/* The journal, one row per event, and what it does to blocks. */
typedef struct model_event {
    i64 ticks;
    bool is_end, is_later;
    u32 block;
    u8 how;
} model_event;

typedef struct model {
    model_event *events;
    model_block *blocks; /* by ordinal, as they were opened */
    u32 *open;           /* ordinals */
    u32 block_count, open_count;
    u64 random;
} model;

typedef struct journal_file {
    ehs_bytes bytes;
    ehs_segment_index index;
    ehs_checkpoints checkpoints;
    ehs_open_set open;
    ehs_reader reader;
    ehs_loader loader;
    etlheap_arena arena;
    etl_error err;
} journal_file;

static model_block random_block(model *m, i64 ticks)
{
    const u32 bits = hand_random(&m->random);
    return (model_block){ .ticks = ticks,
                          .size = (u64)(bits % 100 == 0 ? 1 : 0) << 33 | bits >> 20,
                          .address = 0x1F000000000 + ((u64)bits >> 4 << 4),
                          .slot = 1 + hand_random(&m->random) % 5000,
                          .thread = 4 * (bits % 32),
                          .is_realloc = bits % 17 == 0,
                          .is_open = true };
}

static void end_block(model *m, model_event *event)
{
    const u32 place = hand_random(&m->random) % m->open_count;
    event->is_end = true;
    event->block = m->open[place];
    const u32 kind = hand_random(&m->random) % 50;
    event->how = kind == 0   ? EHS_HOW_REALLOC
                 : kind == 1 ? ETLHEAP_FREE_HEAP_DESTROY
                 : kind == 2 ? ETLHEAP_FREE_PROCESS_EXIT
                             : ETLHEAP_FREE_FREE;
    if (event->how == EHS_HOW_REALLOC)
        return;
    m->open[place] = m->open[--m->open_count];
}

/* Half of the time few blocks are open, then they pile up. */
static void model_open(model *m)
{
    *m = (model){ .events = calloc(EVENTS, sizeof *m->events),
                  .blocks = calloc(EVENTS, sizeof *m->blocks),
                  .open = calloc(EVENTS, sizeof *m->open),
                  .random = 42 };
    i64 ticks = -5000;
    for (u32 i = 0; i < EVENTS; i++) {
        model_event *const event = &m->events[i];
        const u32 step = hand_random(&m->random) % 8;
        event->is_later = i == 0 || step > 0;
        ticks += step;
        event->ticks = ticks;
        const bool piles_up = i > EVENTS / 2;
        if (m->open_count > 0 && hand_random(&m->random) % 8 < (piles_up ? 3u : 4u)) {
            end_block(m, event);
            continue;
        }
        event->block = m->block_count;
        m->blocks[m->block_count] = random_block(m, ticks);
        m->open[m->open_count++] = m->block_count++;
    }
}

static void model_close(model *m)
{
    free(m->events);
    free(m->blocks);
    free(m->open);
}

/* Events `first` up to `first + count` as columns. */
static void fill(const model *m, u32 first, u32 count, u32 *allocs, ehs_events *out)
{
    out->count = count;
    out->alloc_count = out->end_count = 0;
    for (u32 i = 0; i < count; i++) {
        const model_event *const event = &m->events[first + i];
        out->ticks[i] = event->ticks;
        out->kind[i] = event->is_end ? EHS_EVENT_END : 0;
        if (event->is_end) {
            out->back[out->end_count] = *allocs - event->block;
            out->how[out->end_count++] = event->how;
            continue;
        }
        const model_block *const block = &m->blocks[event->block];
        out->slot[out->alloc_count] = block->slot;
        out->size[out->alloc_count] = block->size;
        out->address[out->alloc_count] = block->address;
        out->thread[out->alloc_count] = block->thread;
        out->is_realloc[out->alloc_count++] = block->is_realloc;
        (*allocs)++;
    }
}

static bool keep(void *user, const void *bytes, size_t size)
{
    return ehs_put(user, bytes, size);
}

/* Writes the journal, with a checkpoint before each segment but the first. */
static void write_file(const model *m, journal_file *file)
{
    *file = (journal_file){ 0 };
    ehs_saver saver = { 0 };
    ehs_writer writer;
    ehs_events events;
    u32 allocs = 0, parts = 0;
    i64 previous = INT64_MIN;
    assert_true(ehs_events_open(&events));
    assert_int_equal(ehs_writer_open(&writer, keep, &file->bytes, EHS_CONTENT_JOURNAL), ETL_OK);
    for (u32 first = 0; first < EVENTS; first += EHS_PART_ROWS) {
        const u32 number = first / EHS_PART_ROWS;
        if (number > 0) {
            ehs_checkpoint row = { .segment = number, .first_part = parts };
            ehs_open_settle(&file->open);
            assert_true(ehs_checkpoint_encode(&saver.blocks, &saver.codec, &file->open.rows, &row));
            parts += (u32)((row.rows + EHS_PART_ROWS - 1) / EHS_PART_ROWS);
            assert_true(ETLHEAP_PUSH(&file->checkpoints, row));
        }
        const u32 left = EVENTS - first;
        ehs_segment_info info;
        fill(m, first, left < EHS_PART_ROWS ? left : EHS_PART_ROWS, &allocs, &events);
        assert_true(
            ehs_segment_encode(&saver.blocks, &saver.codec, number, &events, previous, &info));
        assert_true(ETLHEAP_PUSH(&file->index, info));
        previous = info.last_ticks;
        assert_int_equal(ehs_open_follow(&file->open, &events), ETL_OK);
        assert_int_equal(ehs_writer_put(&writer, &saver.blocks), ETL_OK);
        ehs_blocks_clear(&saver.blocks);
    }
    assert_true(ehs_segment_index_save(&saver, &file->index));
    assert_true(ehs_checkpoints_save(&saver, &file->checkpoints));
    assert_int_equal(ehs_writer_put(&writer, &saver.blocks), ETL_OK);
    assert_int_equal(ehs_writer_close(&writer), ETL_OK);
    ehs_events_close(&events);
    ehs_saver_free(&saver);
    ETLHEAP_VECTOR_FREE(&file->index);
    ETLHEAP_VECTOR_FREE(&file->checkpoints);
}

static void open_file(journal_file *file)
{
    const etl_bytes bytes = { file->bytes.at, file->bytes.count };
    assert_int_equal(ehs_reader_open(&file->reader, bytes, &file->err), ETL_OK);
    file->loader = (ehs_loader){
        .reader = &file->reader, .arena = &file->arena, .bytes_left = UINT64_MAX, .err = &file->err
    };
    assert_int_equal(ehs_loader_open(&file->loader), ETL_OK);
    assert_int_equal(ehs_segment_index_load(&file->loader, &file->index), ETL_OK);
    assert_int_equal(ehs_checkpoints_load(&file->loader, &file->checkpoints), ETL_OK);
}

static void close_file(journal_file *file)
{
    ehs_loader_free(&file->loader);
    ehs_reader_close(&file->reader);
    ehs_open_free(&file->open);
    etlheap_arena_free(&file->arena);
    ETLHEAP_VECTOR_FREE(&file->bytes);
    ETLHEAP_VECTOR_FREE(&file->index);
    ETLHEAP_VECTOR_FREE(&file->checkpoints);
}

static model the_model;
static journal_file the_file;

static int set_up(void **state)
{
    (void)state;
    model_open(&the_model);
    write_file(&the_model, &the_file);
    open_file(&the_file);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_file(&the_file);
    model_close(&the_model);
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
    assert_int_equal(the_file.index.count, SEGMENTS);
    for (u32 number = 0; number < SEGMENTS; number++) {
        const u32 first = number * EHS_PART_ROWS, left = EVENTS - first;
        assert_int_equal(the_file.index.at[number].first_event, first);
        assert_int_equal(the_file.index.at[number].first_ordinal, allocs);
        fill(&the_model, first, left < EHS_PART_ROWS ? left : EHS_PART_ROWS, &allocs, &wanted);
        assert_int_equal(read_segment(number, ALL, &got), ETL_OK);
        assert_int_equal(got.count, wanted.count);
        assert_int_equal(got.alloc_count, wanted.alloc_count);
        assert_int_equal(got.end_count, wanted.end_count);
        for (u32 i = 0; i < got.count; i++) {
            const bool is_later = the_model.events[first + i].is_later;
            assert_int_equal(got.kind[i], wanted.kind[i] | (is_later ? EHS_EVENT_LATER : 0u));
        }
        assert_memory_equal(got.ticks, wanted.ticks, got.count * sizeof *got.ticks);
        assert_memory_equal(got.slot, wanted.slot, got.alloc_count * sizeof *got.slot);
        assert_memory_equal(got.size, wanted.size, got.alloc_count * sizeof *got.size);
        assert_memory_equal(got.address, wanted.address, got.alloc_count * sizeof *got.address);
        assert_memory_equal(got.thread, wanted.thread, got.alloc_count * sizeof *got.thread);
        assert_memory_equal(got.is_realloc, wanted.is_realloc, got.alloc_count);
        assert_memory_equal(got.back, wanted.back, got.end_count * sizeof *got.back);
        assert_memory_equal(got.how, wanted.how, got.end_count);
    }
    ehs_events_close(&wanted);
    ehs_events_close(&got);
}

static void a_column_alone_leaves_the_others_as_they_are(void **state)
{
    (void)state;
    ehs_events got;
    assert_true(ehs_events_open(&got));
    memset(got.slot, 0xAA, sizeof *got.slot);
    memset(got.back, 0xAA, sizeof *got.back);
    assert_int_equal(read_segment(1, EHS_WANT_SLOT, &got), ETL_OK);
    assert_int_not_equal(got.slot[0], 0xAAAAAAAA);
    assert_int_equal(got.back[0], 0xAAAAAAAA);
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
    assert_int_equal(rows->slot[row], block->slot);
    assert_int_equal(rows->size[row], block->size);
    assert_int_equal(rows->ticks[row], block->ticks);
    assert_int_equal(rows->address[row], block->address);
    assert_int_equal(rows->thread[row], block->thread);
    assert_int_equal(rows->is_realloc[row], is_realloc);
}

static void checkpoints_hold_the_blocks_open_before_their_segment(void **state)
{
    (void)state;
    bool *const is_open = calloc(EVENTS, 1), *const is_realloc = calloc(EVENTS, 1);
    u32 at = 0, blocks = 0;
    assert_int_equal(the_file.checkpoints.count, SEGMENTS - 1);
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
        memset(events.slot, 0, 8);
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

/* Blocks that come and go at once: a long journal keeps next to nothing. */
static void the_open_set_does_not_grow_with_the_journal(void **state)
{
    (void)state;
    ehs_open_set set = { 0 };
    ehs_events events;
    assert_true(ehs_events_open(&events));
    memset(events.slot, 0, EHS_PART_ROWS * sizeof *events.slot);
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
        assert_true(set.rows.count <= 3 * (size_t)EHS_PART_ROWS);
    }
    assert_int_equal(set.allocs, 10 * EHS_PART_ROWS);
    ehs_open_settle(&set);
    assert_int_equal(set.rows.count, 0);
    ehs_open_free(&set);
    ehs_events_close(&events);
}

static void an_end_beyond_the_first_block_has_no_ordinal(void **state)
{
    (void)state;
    u64 ordinal;
    assert_true(ehs_ordinal(10, 10, &ordinal));
    assert_int_equal(ordinal, 0);
    assert_false(ehs_ordinal(10, 11, &ordinal));
    assert_false(ehs_ordinal(10, 0, &ordinal));
}

/* A segment of two events whose columns are given, under a segment row of its own. */
typedef struct forged {
    u8 is_end[2];
    u32 slots;
    u32 events, allocs;
} forged;

static etl_status read_forged(const forged *what, etl_error *err)
{
    journal_file file = { 0 };
    ehs_saver saver = { 0 };
    ehs_writer writer;
    ehs_segment_info info = { .events = what->events, .allocs = what->allocs };
    const u32 slots[4] = { 1, 2, 3, 4 };
    ehs_segment_index index = { &info, 1, 1 };
    assert_true(ehs_blocks_add(&saver.blocks, &saver.codec, EHS_HEAP_IS_END, 0, what->is_end, 2));
    assert_true(ehs_blocks_add(&saver.blocks, &saver.codec, EHS_HEAP_SLOT, 0, slots, what->slots));
    assert_true(ehs_segment_index_save(&saver, &index));
    assert_int_equal(ehs_writer_open(&writer, keep, &file.bytes, EHS_CONTENT_JOURNAL), ETL_OK);
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
        status =
            ehs_segment_read(&from, &file.index.at[0], EHS_WANT_KIND | EHS_WANT_SLOT, &events, err);
        if (status == ETL_OK)
            status = ehs_segment_read(&from, &file.index.at[0], EHS_WANT_BACK, &events, err);
        ehs_events_close(&events);
    }
    close_file(&file);
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
        { { { 1, 1 }, 1, 2, 1 }, "another number of ends than its segment" },
        { { { 0, 1 }, 2, 2, 1 }, "another number of values than its segment" },
        { { { 0, 1 }, 1, 3, 1 }, "another number of values than its segment" },
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_columns_of_all_segments_come_back),
        cmocka_unit_test(a_column_alone_leaves_the_others_as_they_are),
        cmocka_unit_test(the_index_tells_times_and_sizes),
        cmocka_unit_test(checkpoints_hold_the_blocks_open_before_their_segment),
        cmocka_unit_test(the_checkpoint_at_or_before_a_segment_is_found),
        cmocka_unit_test(checkpoints_are_due_when_they_are_small_beside_the_events),
        cmocka_unit_test(an_end_of_a_block_that_is_not_open_is_refused),
        cmocka_unit_test(the_open_set_does_not_grow_with_the_journal),
        cmocka_unit_test(an_end_beyond_the_first_block_has_no_ordinal),
        cmocka_unit_test(columns_that_disagree_with_their_segment_are_refused),
        cmocka_unit_test(a_checkpoint_with_more_rows_than_its_blocks_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
