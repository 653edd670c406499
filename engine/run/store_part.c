/*
 * store_part.c - writes a store of a part of another store: chooses, numbers and writes.
 * store_part.h has the steps.
 *
 * In: a result that was read from a store, and the part. Out: the bytes of an .ehs file.
 *
 * Which lifetimes belong to the part is decided by the rule of every question (type_rule.h), and
 * what a query would refuse is refused by query_open. Invariant: whatever a written row names was
 * marked before numbers were given, so no number of the new file is 0 by mistake.
 */
#include "store_part.h"

#include <stdlib.h>

#include "engine/core/type_rule.h"
#include "engine/log/ehs_stacks.h"
#include "engine/log/store_batch.h"
#include "engine/result/result_part.h"
#include "options_read.h"

static bool open_numbers(part_numbers *numbers, size_t count)
{
    numbers->of = calloc(count + 1, sizeof *numbers->of);
    numbers->count = (u32)count;
    return numbers->of != NULL;
}

/* Gives what is marked consecutive numbers from 1 on. */
static void part_number(part_numbers *numbers)
{
    for (u32 i = 1; i <= numbers->count; i++)
        numbers->of[i] = numbers->of[i] == 0 ? 0 : ++numbers->kept;
}

/* The words must name processes, or a misspelt name would make an empty store. */
static etl_status check_words(const etlheap_result *from, const etlheap_part *part, etl_error *err)
{
    etlheap_word_use *const uses = calloc((size_t)part->process_count + 1, sizeof *uses);
    etl_status status =
        uses != NULL && etlheap_word_uses(from, part->processes, part->process_count, uses)
            ? ETL_OK
            : etl_no_memory(err);
    for (u32 i = 0; status == ETL_OK && i < part->process_count; i++) {
        if (uses[i] == ETLHEAP_WORD_MISSING)
            status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                   "no process matches '%.60s', so the part would be empty",
                                   part->processes[i]);
    }
    free(uses);
    return status;
}

/* Looks up the window and processes. */
static etl_status open_plan(store_part *part, const etlheap_query *query, etl_error *err)
{
    const etlheap_result *const from = part->from;
    etl_status status = query_open(&part->plan, from, query, err);
    if (status == ETL_OK)
        status = check_words(from, part->part, err);
    if (status != ETL_OK)
        return status;
    part->kinds = part->part->kinds == 0 ? ETLHEAP_KINDS_ALL : part->part->kinds;
    part->from_ticks = query->from_ns == INT64_MIN ? INT64_MIN : part->plan.from_ticks;
    part->to_ticks = query->to_ns == INT64_MAX ? INT64_MAX : part->plan.to_ticks;
    const ehs_origins *const origins = &part->archive->origins;
    const bool ok = open_numbers(&part->stacks, from->stacks.list.count) &&
                    open_numbers(&part->origins, origins->origins.count) &&
                    open_numbers(&part->owners, origins->owners.count) &&
                    open_numbers(&part->heaps, origins->heaps.count) &&
                    open_numbers(&part->freers, origins->freers.count) &&
                    open_numbers(&part->processes, from->processes.count);
    return ok ? ETL_OK : etl_no_memory(err);
}

static void close_part(store_part *part)
{
    free(part->stacks.of);
    free(part->origins.of);
    free(part->owners.of);
    free(part->heaps.of);
    free(part->freers.of);
    free(part->processes.of);
    free(part->origin_selected);
    rank_map_free(&part->blocks);
    query_close(&part->plan);
}

/* --- rows ---------------------------------------------------------------------------- */

/* Does a row of the segment belong to the part? Frees of unknown memory are of their moment. */
static bool has_row(const store_part *part, const etlheap_segment *rows, u32 at, bool is_unmatched)
{
    const i64 free_ticks = rows->free_ticks[at];
    const bool is_inside =
        is_unmatched
            ? free_ticks >= part->from_ticks && free_ticks < part->to_ticks
            : store_part_touches(part, rows->alloc_ticks[at], free_ticks, rows->free_type[at]);
    return is_inside && (part->kinds >> rows->kind[at] & 1) != 0 &&
           part->plan.process_selected[rows->process[at]];
}

static void mark_rows(const store_part *part, const lifetime_table *table, bool is_unmatched)
{
    for (size_t s = 0; s < table->segments.count; s++) {
        const etlheap_segment rows = store_view(&table->segments.at[s]);
        for (u32 at = 0; at < rows.rows; at++) {
            if (!has_row(part, &rows, at, is_unmatched))
                continue;
            part_mark(&part->stacks, rows.stack[at]);
            part_mark(&part->stacks, rows.free_stack[at]);
            part_mark(&part->processes, rows.process[at]);
        }
    }
}

/* A row with new numbers. */
static lifetime row_of(const store_part *part, const etlheap_segment *rows, u32 at,
                       bool is_unmatched)
{
    return (lifetime){ .alloc_ticks = rows->alloc_ticks[at],
                       .free_ticks = rows->free_ticks[at],
                       .address = rows->address[at],
                       .size = rows->size_bytes[at],
                       .heap = rows->heap_handle[at],
                       .process = part->processes.of[rows->process[at]],
                       .stack = part->stacks.of[rows->stack[at]],
                       .thread = rows->thread[at],
                       .free_stack = part->stacks.of[rows->free_stack[at]],
                       .free_thread = rows->free_thread[at],
                       .kind = (u8)(rows->kind[at] | (is_unmatched ? EHS_LIFE_UNMATCHED : 0)),
                       .free_type = rows->free_type[at],
                       .is_realloc = rows->is_realloc[at] };
}

static bool keep_rows(const store_part *part, const lifetime_table *table, bool is_unmatched,
                      lifetime_table *out)
{
    bool ok = true;
    for (size_t s = 0; ok && s < table->segments.count; s++) {
        const etlheap_segment rows = store_view(&table->segments.at[s]);
        for (u32 at = 0; ok && at < rows.rows; at++) {
            if (!has_row(part, &rows, at, is_unmatched))
                continue;
            const lifetime row = row_of(part, &rows, at, is_unmatched);
            ok = store_append(out, &row, 1);
        }
    }
    return ok;
}

static etl_status write_rows(const store_part *part, ehs_writer *writer)
{
    lifetime_table kept = { 0 };
    ehs_codec codec = { 0 };
    etl_status status = keep_rows(part, &part->from->store, false, &kept) &&
                                keep_rows(part, &part->from->unmatched, true, &kept)
                            ? ETL_OK
                            : ETL_ERR_MEMORY;
    for (u32 i = 0; status == ETL_OK && i < kept.segments.count; i++) {
        etlheap_segment rows = store_view(&kept.segments.at[i]);
        ehs_blocks blocks = { 0 };
        if ((part->archive->lacks & EHS_WANT_FREER) != 0)
            rows.free_stack = NULL;
        status = ehs_rows_encode(&blocks, &codec, i, &rows) ? ehs_writer_put(writer, &blocks)
                                                            : ETL_ERR_MEMORY;
        ehs_blocks_free(&blocks);
    }
    ehs_codec_free(&codec);
    store_free(&kept);
    return status;
}

/* --- numbers ------------------------------------------------------------------------- */

/* Marks what marked origins and freers name in turn, and numbers everything. */
static void number_all(store_part *part)
{
    const ehs_origins *const tables = &part->archive->origins;
    for (u32 i = 1; i <= part->freers.count; i++) {
        const ehs_freer *const row = &tables->freers.at[i - 1];
        part_mark(&part->stacks, part->freers.of[i] != 0 ? row->stack : 0);
        part_mark(&part->owners, part->freers.of[i] != 0 ? row->owner : 0);
    }
    for (u32 i = 1; i <= part->origins.count; i++) {
        const ehs_origin *const row = &tables->origins.at[i - 1];
        part_mark(&part->stacks, part->origins.of[i] != 0 ? row->stack : 0);
        part_mark(&part->owners, part->origins.of[i] != 0 ? row->owner : 0);
    }
    for (u32 i = 1; i <= part->owners.count; i++)
        part_mark(&part->heaps, part->owners.of[i] != 0 ? tables->owners.at[i - 1].heap : 0);
    for (u32 i = 1; i <= part->heaps.count; i++)
        part_mark(&part->processes, part->heaps.of[i] != 0 ? tables->heaps.at[i - 1].process : 0);
    part_facts_mark(part);
    part_numbers *const all[] = { &part->stacks, &part->origins, &part->owners,
                                  &part->heaps,  &part->freers,  &part->processes };
    for (size_t i = 0; i < ETL_COUNT_OF(all); i++)
        part_number(all[i]);
}

/* The sums of origins are those of the whole recording, so they are left out. */
static bool save_origins(ehs_saver *saver, const store_part *part)
{
    const ehs_origins *const from = &part->archive->origins;
    ehs_origins out = { 0 };
    bool ok = true;
    for (u32 i = 1; ok && i <= part->origins.count; i++) {
        const ehs_origin *const row = &from->origins.at[i - 1];
        const ehs_origin kept = { part->stacks.of[row->stack], part->owners.of[row->owner],
                                  row->thread };
        ok = part->origins.of[i] == 0 || ETLHEAP_PUSH(&out.origins, kept);
    }
    for (u32 i = 1; ok && i <= part->freers.count; i++) {
        const ehs_freer *const row = &from->freers.at[i - 1];
        const ehs_freer kept = { part->stacks.of[row->stack], part->owners.of[row->owner] };
        ok = part->freers.of[i] == 0 || ETLHEAP_PUSH(&out.freers, kept);
    }
    for (u32 i = 1; ok && i <= part->owners.count; i++) {
        const ehs_owner *const row = &from->owners.at[i - 1];
        const ehs_owner kept = { row->first_ticks, part->heaps.of[row->heap], row->epoch };
        ok = part->owners.of[i] == 0 || ETLHEAP_PUSH(&out.owners, kept);
    }
    for (u32 i = 1; ok && i <= part->heaps.count; i++) {
        const ehs_heap *const row = &from->heaps.at[i - 1];
        const ehs_heap kept = { row->value, part->processes.of[row->process] };
        ok = part->heaps.of[i] == 0 || ETLHEAP_PUSH(&out.heaps, kept);
    }
    ok = ok && ehs_origins_save(saver, &out);
    ehs_origins_free(&out);
    return ok;
}

static bool save_stacks(ehs_saver *saver, const store_part *part)
{
    stack_table kept = { .groups = NULL }; /* only a list, of frames that the result has */
    bool ok = true;
    for (u32 i = 1; ok && i <= part->stacks.count; i++) {
        if (part->stacks.of[i] == 0)
            continue;
        const etlheap_frames frames = stack_spell(&part->from->stacks, i);
        ok = ETLHEAP_PUSH(&kept.list,
                          (stack_entry){ .frames = frames.addresses, .count = frames.count });
    }
    ok = ok && ehs_stacks_save(saver, &kept);
    ETLHEAP_VECTOR_FREE(&kept.list);
    return ok;
}

/* --- the file ------------------------------------------------------------------------ */

static etl_status write_end(const store_part *part, store_batch *batch)
{
    ehs_saver saver = { .codec = { 0 } };
    const bool ok = save_stacks(&saver, part) && ehs_segment_index_save(&saver, &batch->index) &&
                    ehs_checkpoints_save(&saver, &batch->checkpoints) &&
                    save_origins(&saver, part) && part_facts_save(&saver, part);
    const etl_status status = ok ? ehs_writer_put(batch->writer, &saver.blocks) : ETL_ERR_MEMORY;
    ehs_saver_free(&saver);
    return status;
}

/* Writes with an open batch; the kinds of failure that have no sentence of their own get one. */
static etl_status write_all(store_part *part, store_batch *batch, etl_error *err)
{
    etl_error own = { .status = ETL_OK };
    etl_status status = part_blocks_write(part, batch, &own);
    if (status == ETL_OK)
        status = store_batch_finish(batch);
    if (status == ETL_OK)
        status = write_rows(part, batch->writer);
    if (status == ETL_OK)
        status = write_end(part, batch);
    if (own.status != ETL_OK || status == ETL_OK) {
        if (err != NULL && own.status != ETL_OK)
            *err = own;
        return status;
    }
    if (status == ETL_ERR_MEMORY)
        return etl_no_memory(err);
    return etl_fail_with(err, status, 0, "%s",
                         status == ETL_ERR_IO ? "the store could not be written"
                                              : "the store is damaged: an event ends a block that "
                                                "is not open");
}

static etl_status write_part(store_part *part, const etlheap_options *options, etl_error *err)
{
    const etlheap_store_options *const to = options->store;
    ehs_writer writer;
    store_batch batch = { .has_freers = (part->archive->lacks & EHS_WANT_FREER) == 0 };
    batch.lacks_addresses = (part->archive->lacks & EHS_WANT_ADDRESS) != 0;
    batch.lacks_threads = (part->archive->lacks & EHS_WANT_THREAD) != 0;
    batch.is_temporary = to->is_temporary;
    batch.segments_max = store_batch_segments_for(options->memory_bytes_max);
    batch.writer = &writer;
    batch.taken_ticks = batch.encoded_ticks = INT64_MIN;
    batch.crew = etlheap_crew_open(options->jobs == 0 ? etlheap_default_jobs() : options->jobs);
    etl_status status =
        ehs_writer_open_for(&writer, to->write, to->user, EHS_CONTENT_STORE, EHS_MINOR_PART);
    if (batch.crew == NULL)
        status = etl_no_memory(err);
    else if (status == ETL_OK)
        status = write_all(part, &batch, err);
    store_batch_free(&batch);
    etlheap_crew_close(batch.crew);
    if (status == ETL_OK)
        return ehs_writer_close(&writer);
    ETLHEAP_VECTOR_FREE(&writer.rows);
    return status;
}

etl_status store_part_write(const etlheap_result *from, const etlheap_part *asked,
                            const etlheap_options *options, etl_error *err)
{
    etlheap_query query = etlheap_query_default();
    query.from_ns = asked->from_ns;
    query.to_ns = asked->to_ns;
    query.kinds = asked->kinds;
    query.processes = asked->processes;
    query.process_count = asked->process_count;
    result_part_default(from, &query);
    etlheap_part own = *asked;
    own.from_ns = query.from_ns;
    own.to_ns = query.to_ns;
    own.kinds = query.kinds;
    store_part part = {
        .from = from, .archive = from->archive, .part = &own, .cancel = options->cancel
    };
    etl_status status = open_plan(&part, &query, err);
    if (status == ETL_OK)
        status = part_blocks_find(&part, err);
    if (status == ETL_OK)
        status = part_blocks_mark(&part, err);
    if (status == ETL_OK) {
        mark_rows(&part, &from->store, false);
        mark_rows(&part, &from->unmatched, true);
        number_all(&part);
        status = write_part(&part, options, err);
    }
    close_part(&part);
    return status;
}

etl_status etlheap_store_part(const etlheap_result *from, const etlheap_options *options,
                              etl_error *err)
{
    options_read read;
    etl_status status = options_read_all(options, &read, err);
    if (status != ETL_OK)
        return status;
    if (read.own.store == NULL || read.own.store->part == NULL)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "the options name no part to write");
    if (from->mode != RESULT_STORE)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "a part is written of a store that was opened for its events");
    return store_part_write(from, read.own.store->part, &read.own, err);
}
