/*
 * archive_open.c - opens a store for answers: loads its facts, stacks and ranges, and leaves heap
 * events in the mapped file.
 *
 * In: a reader of an .ehs file. Out: a result whose heap events are walked with the columns that
 * a question needs.
 *
 * Invariant: lifetimes are made from events at most once, and only if a question needs all of
 * them in memory.
 */
#include "archive.h"

#include <stdlib.h>

#include "engine/core/machine.h"
#include "engine/log/ehs_stacks.h"
#include "summary_file.h"
#include "ehs_facts.h"
#include "parser/sized.h"

/* The pieces in which expected memory is touched. A heap allocates pieces of this size in itself;
 * larger ones may be mapped separately. */
#define EXPECTED_PIECE_BYTES (30 * ETL_MIB)
#define EXPECTED_PIECES_MAX  4u

static void expect_memory(u64 size);
static etl_status load(etlheap_result *result, const archive_request *request, etl_error *err);
static etl_status load_parts(etlheap_result *result, ehs_loader *loader,
                             const archive_request *request);
static bool adopt_origins(etlheap_result *result);
static bool name_file(etlheap_result *result, const char *path);

etl_status archive_open(const etl_map *map, const archive_request *request, etlheap_result **out,
                        etl_error *err)
{
    etlheap_result *const result = calloc(1, sizeof *result);
    ehs_archive *const archive = calloc(1, sizeof *archive);
    *out = NULL;
    if (result == NULL || archive == NULL) {
        etl_map unused = *map;
        etl_map_close(&unused);
        free(result);
        free(archive);
        return etl_no_memory(err);
    }
    result->archive = archive;
    archive->map = *map;
    if (!request->is_log && !request->facts_only && request->memory_bytes_max == 0)
        expect_memory(map->bytes.size);
    etl_status status = ehs_reader_open(&archive->reader, map->bytes, err);
    if (status == ETL_OK)
        status = load(result, request, err);
    if (status == ETL_OK && request->name != NULL && !name_file(result, request->name))
        status = etl_no_memory(err);
    if (status == ETL_OK)
        *out = result;
    else
        etlheap_result_free(result);
    return status;
}

/*
 * Prepares memory. A report on a store makes dozens of arrays and uses each once, so mapping their
 * pages is a quarter of its time. Together they are about as large as the file. A heap that keeps
 * freed memory, as the program's does, then has it ready, in large pages; with another heap nothing
 * is lost. After a log was made there is free memory already. Under a limit all memory counts, so
 * nothing is prepared.
 */
static void expect_memory(u64 size)
{
    void *pieces[EXPECTED_PIECES_MAX];
    u32 count = 0;
    const u64 wanted = size / EXPECTED_PIECE_BYTES + (size >= ETL_MIB);
    while (count < wanted && count < EXPECTED_PIECES_MAX) {
        void *const piece = malloc(EXPECTED_PIECE_BYTES);
        machine_expect_use(piece, EXPECTED_PIECE_BYTES);
        pieces[count++] = piece;
    }
    while (count > 0)
        free(pieces[--count]);
}

/* Names the file in the result. */
static bool name_file(etlheap_result *result, const char *path)
{
    u32 id;
    result->files.count = 0;
    if (!etlheap_strings_add(&result->context.strings, path, strlen(path), &id) ||
        !ETLHEAP_PUSH(&result->files, etlheap_strings_get(&result->context.strings, id)))
        return false;
    result->info.files = result->files.at;
    result->info.file_count = 1;
    return true;
}

static etl_status load(etlheap_result *result, const archive_request *request, etl_error *err)
{
    ehs_archive *const archive = result->archive;
    const u64 memory = request->memory_bytes_max;
    archive->memory_bytes_max = memory;
    archive->is_log = request->is_log;
    ehs_loader loader = { .reader = &archive->reader,
                          .arena = &result->context.strings.arena,
                          .bytes_left = memory == 0 ? UINT64_MAX : memory,
                          .err = err };
    etl_status status = ehs_loader_open(&loader);
    const bool is_summary = archive->reader.content == EHS_CONTENT_SUMMARY;
    if (status == ETL_OK && is_summary)
        status = summary_load(&loader, request->facts_only, result);
    else if (status == ETL_OK)
        status = request->facts_only ? ehs_facts_load(&loader, result)
                                     : load_parts(result, &loader, request);
    ehs_loader_free(&loader);
    result->mode = RESULT_FACTS;
    if (request->facts_only)
        result->diag = result->inventory_diag;
    else if (is_summary)
        result->mode = RESULT_SUMMARY;
    if (status != ETL_OK || request->facts_only || is_summary)
        return status;
    if (!adopt_origins(result))
        return etl_no_memory(err);
    result->mode = request->as_rows ? RESULT_LIFETIMES : RESULT_STORE;
    if (request->keeps_sums && !request->as_rows)
        archive->kept = kept_sums_open(archive->origins.origins.count + 1);
    if (!request->as_rows)
        return ETL_OK;
    status = result_answers(result, RESULT_NEED_COLUMNS, err);
    return status == ETL_OK ? archive_add_rows(archive, request->cancel, &result->store, err)
                            : status;
}

/* Are foreign stacks the last ones? Their ids are consecutive. */
static bool ends_with_foreign(const etlheap_result *result)
{
    const foreign_stacks *const foreign = &result->foreign;
    return foreign->count == 0 ||
           (foreign->at[0].stack > 0 &&
            foreign->at[foreign->count - 1].stack == result->stacks.list.count);
}

static etl_status load_parts(etlheap_result *result, ehs_loader *loader,
                             const archive_request *request)
{
    ehs_archive *const archive = result->archive;
    const ehs_frames frames = request->no_addresses ? EHS_FRAMES_NUMBERS : EHS_FRAMES_ADDRESSES;
    const u32 kinds = request->no_named_kinds ? ETLHEAP_KINDS_DEFAULT : ETLHEAP_KINDS_ALL;
    etl_status status = ehs_facts_load(loader, result);
    if (status == ETL_OK && request->stacks == NULL)
        status = ehs_stacks_load(loader, frames, &result->stacks);
    else if (status == ETL_OK)
        stack_table_move(&result->stacks, request->stacks);
    if (status == ETL_OK && !ends_with_foreign(result))
        status = etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                               "the table of foreign stacks does not fit that of stacks");
    const ehs_rows_out rows = { &result->store, &result->unmatched, &archive->lacks, kinds };
    const ehs_bounds bounds = { (u32)result->processes.count, (u32)result->stacks.list.count,
                                &result->foreign };
    if (status == ETL_OK)
        status = ehs_rows_load(loader, &bounds, &rows);
    result_note_askers(result);
    result->abilities.kinds &= kinds;
    if (status == ETL_OK)
        status = ehs_origins_load(loader, &bounds, &archive->origins);
    if (status == ETL_OK)
        status = ehs_segment_index_load(loader, &archive->segments);
    if (status == ETL_OK)
        status = ehs_checkpoints_load(loader, &archive->checkpoints);
    if (status == ETL_OK)
        status =
            ehs_segments_lack(&archive->reader, &archive->segments, &archive->lacks, loader->err);
    if (status == ETL_OK)
        status = ehs_checkpoints_lack(&archive->reader, &archive->checkpoints, &archive->lacks,
                                      loader->err);
    /* Only a log may have one without the other. */
    if (!archive->is_log && (archive->lacks & EHS_WANT_FREER_THREAD) != 0)
        archive->lacks |= EHS_WANT_FREER;
    return status;
}

/* Takes over the file's origins as those of a run, with final numbers. */
static bool adopt_origins(etlheap_result *result)
{
    const ehs_origins *const from = &result->archive->origins;
    origin_table *const to = &result->origin_table;
    result->process_ids = calloc(result->processes.count + 1, sizeof *result->process_ids);
    if (result->process_ids == NULL || from->origins.count > ORIGIN_NUMBER_MAX)
        return false;
    for (u32 i = 0; i <= result->processes.count; i++)
        result->process_ids[i] = i;
    bool ok = true;
    for (size_t i = 0; ok && i < from->heaps.count; i++) {
        const ehs_heap *const row = &from->heaps.at[i];
        ok = ETLHEAP_PUSH(&to->heaps, (heap_row){ row->value, row->process });
    }
    for (size_t i = 0; ok && i < from->owners.count; i++) {
        const ehs_owner *const row = &from->owners.at[i];
        ok = ETLHEAP_PUSH(&to->owners, (owner_row){ row->first_ticks, row->heap, row->epoch });
    }
    for (size_t i = 0; ok && i < from->origins.count; i++) {
        const ehs_origin *const row = &from->origins.at[i];
        ok = ETLHEAP_PUSH(&to->origins, (origin_row){ row->stack, row->owner });
    }
    for (size_t i = 0; ok && i < from->freers.count; i++) {
        const ehs_freer *const row = &from->freers.at[i];
        ok = ETLHEAP_PUSH(&result->freers.origins, (origin_row){ row->stack, row->owner });
    }
    return ok;
}
