/*
 * event_model.c - makes random heap events with what they do to blocks, and writes a file of
 * them.
 *
 * In: a seed. Out: events in time order, blocks by ordinal, and the segments of an .ehs file with
 * index and checkpoints. Tests compare readers of the file with the blocks. Invariant: an end names
 * its block by ordinal in the model, and by distance (`back`) only in the file, so a wrong distance
 * shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/hand_bytes.h"
#include "event_model.h"

static model_block random_block(event_model *m, i64 ticks)
{
    const u32 bits = hand_random(&m->random);
    return (model_block){ .ticks = ticks,
                          .size = (u64)(bits % 100 == 0 ? 1 : 0) << 33 | bits >> 20,
                          .address = 0x1F000000000 + ((u64)bits >> 4 << 4),
                          .origin = 1 + hand_random(&m->random) % 5000,
                          .thread = 4 * (bits % 32),
                          .is_realloc = bits % 17 == 0,
                          .is_open = true };
}

static void end_block(event_model *m, model_event *event)
{
    const u32 place = hand_random(&m->random) % m->open_count;
    event->is_end = true;
    event->block = m->open[place];
    const u32 kind = hand_random(&m->random) % 50;
    event->how = kind == 0   ? EHS_HOW_REALLOC
                 : kind == 1 ? ETLHEAP_FREE_HEAP_DESTROY
                 : kind == 2 ? ETLHEAP_FREE_PROCESS_EXIT
                             : ETLHEAP_FREE_FREE;
    const bool is_known = event->how == ETLHEAP_FREE_FREE && place % 9 != 0;
    event->freer = is_known ? 1 + place % 3000 : 0;
    event->freer_thread = is_known && place % 5 != 0 ? 4 * (place % 64) : ETL_NO_ID;
    if (event->how == EHS_HOW_REALLOC)
        return;
    m->open[place] = m->open[--m->open_count];
}

/* Fills the model: half of the time few blocks are open, then they pile up. */
void event_model_open(event_model *m)
{
    *m = (event_model){ .events = calloc(MODEL_EVENTS, sizeof *m->events),
                        .blocks = calloc(MODEL_EVENTS, sizeof *m->blocks),
                        .open = calloc(MODEL_EVENTS, sizeof *m->open),
                        .random = 42 };
    i64 ticks = -5000;
    for (u32 i = 0; i < MODEL_EVENTS; i++) {
        model_event *const event = &m->events[i];
        const u32 step = hand_random(&m->random) % 8;
        event->is_later = i == 0 || step > 0;
        ticks += step;
        event->ticks = ticks;
        const bool piles_up = i > MODEL_EVENTS / 2;
        if (m->open_count > 0 && hand_random(&m->random) % 8 < (piles_up ? 3u : 4u)) {
            end_block(m, event);
            continue;
        }
        event->block = m->block_count;
        m->blocks[m->block_count] = random_block(m, ticks);
        m->open[m->open_count++] = m->block_count++;
    }
}

void event_model_close(event_model *m)
{
    free(m->events);
    free(m->blocks);
    free(m->open);
}

void event_model_fill(const event_model *m, u32 first, u32 count, u32 *allocs, ehs_events *out)
{
    out->count = count;
    out->alloc_count = out->end_count = 0;
    out->has_freers = out->has_freer_threads = true;
    for (u32 i = 0; i < count; i++) {
        const model_event *const event = &m->events[first + i];
        out->ticks[i] = event->ticks;
        out->kind[i] = event->is_end ? EHS_EVENT_END : 0;
        if (event->is_end) {
            out->back[out->end_count] = *allocs - event->block;
            out->freer[out->end_count] = event->freer;
            out->freer_thread[out->end_count] = event->freer_thread;
            out->how[out->end_count++] = event->how;
            continue;
        }
        const model_block *const block = &m->blocks[event->block];
        out->origin[out->alloc_count] = block->origin;
        out->size[out->alloc_count] = block->size;
        out->address[out->alloc_count] = block->address;
        out->thread[out->alloc_count] = block->thread;
        out->is_realloc[out->alloc_count++] = block->is_realloc;
        (*allocs)++;
    }
}

bool model_file_keep(void *user, const void *bytes, size_t size)
{
    return ehs_put(user, bytes, size);
}

void model_file_write(const event_model *m, model_file *file)
{
    *file = (model_file){ 0 };
    ehs_saver saver = { 0 };
    ehs_writer writer;
    ehs_events events;
    u32 allocs = 0, parts = 0;
    i64 previous = INT64_MIN;
    assert_true(ehs_events_open(&events));
    assert_int_equal(ehs_writer_open(&writer, model_file_keep, &file->bytes, EHS_CONTENT_STORE),
                     ETL_OK);
    for (u32 first = 0; first < MODEL_EVENTS; first += EHS_PART_ROWS) {
        const u32 number = first / EHS_PART_ROWS;
        if (number > 0) {
            ehs_checkpoint row = { .segment = number, .first_part = parts };
            assert_true(ehs_open_trim(&file->open));
            assert_true(ehs_checkpoint_encode(&saver.blocks, &saver.codec, &file->open.rows, &row));
            parts += (u32)((row.rows + EHS_PART_ROWS - 1) / EHS_PART_ROWS);
            assert_true(ETLHEAP_PUSH(&file->checkpoints, row));
        }
        const u32 left = MODEL_EVENTS - first;
        ehs_segment_info info;
        event_model_fill(m, first, left < EHS_PART_ROWS ? left : EHS_PART_ROWS, &allocs, &events);
        assert_true(
            ehs_segment_encode(&saver.blocks, &saver.codec, number, &events, previous, &info));
        assert_true(ETLHEAP_PUSH(&file->index, info));
        previous = info.last_ticks;
        assert_int_equal(ehs_open_follow(&file->open, &events), ETL_OK);
        assert_true(ehs_open_gather(&file->open));
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

void model_file_open(model_file *file)
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

void model_file_close(model_file *file)
{
    ehs_loader_free(&file->loader);
    ehs_reader_close(&file->reader);
    ehs_open_free(&file->open);
    etlheap_arena_free(&file->arena);
    ETLHEAP_VECTOR_FREE(&file->bytes);
    ETLHEAP_VECTOR_FREE(&file->index);
    ETLHEAP_VECTOR_FREE(&file->checkpoints);
}
