/* store_check.c - see store_check.h. */
#include "store_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/result/ehs_facts.h"
#include "engine/log/ehs_open.h"
#include "engine/log/ehs_rows.h"
#include "engine/log/ehs_stacks.h"

static bool keep(void *user, const void *bytes, size_t size)
{
    return ehs_put(user, bytes, size);
}

static ehs_bytes write_store(const check_traces *traces, const etlheap_options *options,
                             const etlheap_store_options *how, etlheap_result **facts)
{
    ehs_bytes file = { 0 };
    etlheap_store_options store = *how;
    store.size = sizeof store;
    store.write = keep;
    store.user = &file;
    etlheap_options with_store = { .size = sizeof with_store };
    if (options != NULL)
        with_store = *options;
    with_store.store = &store;
    etlheap_result *const result = check_analyze(traces, &with_store);
    if (facts != NULL)
        *facts = result;
    else
        etlheap_result_free(result);
    return file;
}

ehs_bytes store_check_write(const check_traces *traces, const etlheap_options *options,
                            etlheap_result **facts)
{
    return write_store(traces, options, &(etlheap_store_options){ .size = 0 }, facts);
}

ehs_bytes store_check_write_without_frees(const check_traces *traces,
                                          const etlheap_options *options)
{
    const etlheap_store_options how = { .is_without_frees = true };
    return write_store(traces, options, &how, NULL);
}

ehs_bytes store_check_write_temporary(const check_traces *traces, const etlheap_options *options)
{
    const etlheap_store_options how = { .is_temporary = true, .is_without_info = true };
    return write_store(traces, options, &how, NULL);
}

/* A file while its events are gone through. */
typedef struct reading {
    ehs_reader reader;
    ehs_loader loader;
    ehs_origins origins;
    ehs_segment_index index;
    ehs_checkpoints checkpoints;
    ehs_events events;
    etlheap_result *result;
    ETLHEAP_VECTOR(lifetime) rows; /* by ordinal; NEVER: open */
    i64 ticks;
    u64 open;
    etl_error err;
} reading;

static void require(const reading *r, etl_status status)
{
    if (status != ETL_OK)
        fail_msg("%s", r->err.message);
}

static void open_reading(reading *r, const ehs_bytes *file)
{
    *r = (reading){ .ticks = INT64_MIN };
    require(r, ehs_reader_open(&r->reader, (etl_bytes){ file->at, file->count }, &r->err));
    r->result = calloc(1, sizeof *r->result);
    if (r->result != NULL)
        r->result->mode = RESULT_LIFETIMES;
    assert_non_null(r->result);
    r->loader = (ehs_loader){ .reader = &r->reader,
                              .arena = &r->result->context.strings.arena,
                              .bytes_left = UINT64_MAX,
                              .err = &r->err };
    require(r, ehs_loader_open(&r->loader));
    require(r, ehs_facts_load(&r->loader, r->result));
    require(r, ehs_stacks_load(&r->loader, EHS_FRAMES_ADDRESSES, &r->result->stacks));
    const ehs_bounds bounds = { (u32)r->result->processes.count, (u32)r->result->stacks.list.count,
                                &r->result->foreign };
    u32 lacks = 0;
    const ehs_rows_out rows = { &r->result->store, &r->result->unmatched, &lacks, UINT32_MAX };
    require(r, ehs_rows_load(&r->loader, &bounds, &rows));
    require(r, ehs_origins_load(&r->loader, &bounds, &r->origins));
    require(r, ehs_segment_index_load(&r->loader, &r->index));
    require(r, ehs_checkpoints_load(&r->loader, &r->checkpoints));
    assert_true(ehs_events_open(&r->events));
}

static void close_reading(reading *r)
{
    ehs_origins_free(&r->origins);
    ETLHEAP_VECTOR_FREE(&r->index);
    ETLHEAP_VECTOR_FREE(&r->checkpoints);
    ETLHEAP_VECTOR_FREE(&r->rows);
    ehs_events_close(&r->events);
    ehs_loader_free(&r->loader);
    ehs_reader_close(&r->reader);
}

static void open_block(reading *r, u32 row, i64 ticks)
{
    const ehs_events *const events = &r->events;
    assert_in_range(events->origin[row], 1, r->origins.origins.count);
    const ehs_origin *const origin = &r->origins.origins.at[events->origin[row] - 1];
    const ehs_owner *const owner = &r->origins.owners.at[origin->owner - 1];
    const ehs_heap *const heap = &r->origins.heaps.at[owner->heap - 1];
    assert_true(owner->first_ticks <= ticks);
    const lifetime block = { .alloc_ticks = ticks,
                             .free_ticks = ETLHEAP_TICKS_NEVER,
                             .address = events->address[row],
                             .size = events->size[row],
                             .heap = heap->value,
                             .process = heap->process,
                             .stack = origin->stack,
                             .thread = events->thread[row] != ETL_NO_ID ? events->thread[row]
                                                                        : origin->thread,
                             .kind = ETLHEAP_KIND_HEAP,
                             .free_type = ETLHEAP_FREE_NONE,
                             .is_realloc = events->is_realloc[row] != 0 };
    assert_true(ETLHEAP_PUSH(&r->rows, block));
    r->open++;
}

static void end_block(reading *r, u32 row, i64 ticks)
{
    assert_in_range(r->events.back[row], 1, r->rows.count);
    lifetime *const block = &r->rows.at[r->rows.count - r->events.back[row]];
    assert_int_equal(block->free_type, ETLHEAP_FREE_NONE);
    if (r->events.how[row] == EHS_HOW_REALLOC) {
        assert_false(block->is_realloc);
        block->is_realloc = true;
        return;
    }
    block->free_ticks = ticks;
    block->free_type = r->events.how[row];
    r->open--;
}

static void read_segment(reading *r, u32 number)
{
    const ehs_segment_source from = { &r->reader, &r->loader.codec, number };
    const ehs_segment_info *const info = &r->index.at[number];
    require(r, ehs_segment_read(&from, info, UINT32_MAX, &r->events, &r->err));
    const ehs_events *const events = &r->events;
    assert_int_equal(events->ticks[0], info->first_ticks);
    assert_int_equal(events->ticks[events->count - 1], info->last_ticks);
    assert_int_equal(info->first_ordinal, r->rows.count);
    u32 alloc = 0, end = 0;
    for (u32 i = 0; i < events->count; i++) {
        const bool is_later = (events->kind[i] & EHS_EVENT_LATER) != 0;
        assert_true(events->ticks[i] >= r->ticks);
        assert_int_equal(is_later, events->ticks[i] > r->ticks);
        r->ticks = events->ticks[i];
        if ((events->kind[i] & EHS_EVENT_END) == 0)
            open_block(r, alloc++, r->ticks);
        else
            end_block(r, end++, r->ticks);
    }
}

static void check_checkpoint(reading *r, const ehs_checkpoint *row)
{
    ehs_open_rows open = { 0 };
    require(r, ehs_checkpoint_load(&r->loader, row, UINT32_MAX, &open));
    assert_int_equal(open.count, r->open);
    for (size_t i = 0; i < open.count; i++) {
        assert_true(open.ordinal[i] < r->rows.count);
        assert_true(i == 0 || open.ordinal[i] > open.ordinal[i - 1]);
        const lifetime *const block = &r->rows.at[open.ordinal[i]];
        assert_int_equal(block->free_type, ETLHEAP_FREE_NONE);
        assert_int_equal(block->size, open.size[i]);
        assert_int_equal(block->address, open.address[i]);
        assert_int_equal(block->alloc_ticks, open.ticks[i]);
        assert_int_equal(block->is_realloc, open.is_realloc[i]);
        assert_int_equal(block->stack, r->origins.origins.at[open.origin[i] - 1].stack);
        if (open.thread[i] != ETL_NO_ID)
            assert_int_equal(block->thread, open.thread[i]);
    }
    ehs_open_rows_free(&open);
}

etlheap_result *store_check_read(const ehs_bytes *file)
{
    reading r;
    open_reading(&r, file);
    size_t checkpoint = 0;
    for (u32 i = 0; i < r.index.count; i++) {
        if (checkpoint < r.checkpoints.count && r.checkpoints.at[checkpoint].segment == i)
            check_checkpoint(&r, &r.checkpoints.at[checkpoint++]);
        read_segment(&r, i);
    }
    assert_int_equal(checkpoint, r.checkpoints.count);
    assert_true(store_append(&r.result->store, r.rows.at, r.rows.count));
    etlheap_result *const result = r.result;
    close_reading(&r);
    return result;
}

size_t store_check_checkpoints(const ehs_bytes *file)
{
    reading r;
    open_reading(&r, file);
    const size_t count = r.checkpoints.count;
    etlheap_result_free(r.result);
    close_reading(&r);
    return count;
}

static void copy_block(ehs_writer *writer, const ehs_bytes *file, const ehs_row *row)
{
    ehs_blocks one = { 0 };
    ehs_row at_start = *row;
    at_start.offset = 0;
    assert_true(ehs_put(&one.bytes, file->at + row->offset, row->size));
    assert_true(ETLHEAP_PUSH(&one.rows, at_start));
    assert_int_equal(ehs_writer_put(writer, &one), ETL_OK);
    ehs_blocks_free(&one);
}

ehs_bytes store_check_rewrite(const ehs_bytes *file, const ehs_column *without,
                              const ehs_blocks *more)
{
    ehs_bytes out = { 0 };
    ehs_reader reader;
    ehs_writer writer;
    assert_int_equal(ehs_reader_open(&reader, (etl_bytes){ file->at, file->count }, NULL), ETL_OK);
    assert_int_equal(ehs_writer_open(&writer, keep, &out, reader.content), ETL_OK);
    for (size_t i = 0; i < reader.row_count; i++) {
        if (without == NULL || reader.rows[i].column != (u32)*without)
            copy_block(&writer, file, &reader.rows[i]);
    }
    if (more != NULL)
        assert_int_equal(ehs_writer_put(&writer, more), ETL_OK);
    assert_int_equal(ehs_writer_close(&writer), ETL_OK);
    ehs_reader_close(&reader);
    return out;
}
