/* archive.c - opens stores; see archive.h. */
#include "archive.h"

#include <stdlib.h>

#include "ehs_facts.h"
#include "ehs_stacks.h"
#include "replay.h"

static etl_status load(etlheap_result *result, const etlheap_options *options, etl_error *err);
static etl_status load_parts(etlheap_result *result, ehs_loader *loader);
static bool adopt_slots(etlheap_result *result);
static bool name_file(etlheap_result *result, const char *path);

bool etlheap_is_store(etl_bytes file)
{
    return ehs_is_store(file);
}

etl_status etlheap_open_store(const char *path, const etlheap_options *options,
                              etlheap_result **out, etl_error *err)
{
    *out = NULL;
    etlheap_options own = { .size = sizeof own };
    if (options != NULL)
        memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
    etlheap_result *const result = calloc(1, sizeof *result);
    ehs_archive *const archive = calloc(1, sizeof *archive);
    if (result == NULL || archive == NULL) {
        free(result);
        free(archive);
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    }
    result->archive = archive;
    archive->memory_bytes_max = own.memory_bytes_max;
    etl_status status = etl_map_open(path, false, &archive->map, err);
    if (status == ETL_OK)
        status = ehs_reader_open(&archive->reader, archive->map.bytes, err);
    if (status == ETL_OK)
        status = load(result, &own, err);
    if (status == ETL_OK && !name_file(result, path))
        status = etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    if (status == ETL_OK)
        *out = result;
    else
        etlheap_result_free(result);
    return status;
}

/* The answer names what it was read from. */
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

void archive_free(ehs_archive *archive)
{
    if (archive == NULL)
        return;
    ETLHEAP_VECTOR_FREE(&archive->segments);
    ETLHEAP_VECTOR_FREE(&archive->checkpoints);
    ehs_slots_free(&archive->slots);
    ehs_reader_close(&archive->reader);
    etl_map_close(&archive->map);
    free(archive);
}

static etl_status load(etlheap_result *result, const etlheap_options *options, etl_error *err)
{
    ehs_archive *const archive = result->archive;
    const u64 memory = options->memory_bytes_max;
    ehs_loader loader = { .reader = &archive->reader,
                          .arena = &result->context.strings.arena,
                          .bytes_left = memory == 0 ? UINT64_MAX : memory,
                          .err = err };
    etl_status status = ehs_loader_open(&loader);
    if (status == ETL_OK)
        status =
            options->census_only ? ehs_facts_load(&loader, result) : load_parts(result, &loader);
    ehs_loader_free(&loader);
    if (options->census_only)
        result->diag = result->census_diag;
    if (status != ETL_OK || options->census_only)
        return status;
    if (!adopt_slots(result))
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
    result->is_walked = options->report != NULL && replay_can(options->report);
    return result->is_walked ? ETL_OK : archive_add_rows(archive, &result->store, err);
}

static etl_status load_parts(etlheap_result *result, ehs_loader *loader)
{
    ehs_archive *const archive = result->archive;
    etl_status status = ehs_facts_load(loader, result);
    if (status == ETL_OK)
        status = ehs_stacks_load(loader, &result->stacks);
    const ehs_bounds bounds = { (u32)result->processes.count, (u32)result->stacks.list.count };
    if (status == ETL_OK)
        status = ehs_rows_load(loader, &bounds, &result->store);
    if (status == ETL_OK)
        status = ehs_slots_load(loader, &bounds, &archive->slots);
    if (status == ETL_OK)
        status = ehs_segment_index_load(loader, &archive->segments);
    if (status == ETL_OK)
        status = ehs_checkpoints_load(loader, &archive->checkpoints);
    return status;
}

/* The slots of the file as those of a run, with numbers that are final already. */
static bool adopt_slots(etlheap_result *result)
{
    const ehs_slots *const from = &result->archive->slots;
    slot_table *const to = &result->slot_table;
    result->process_ids = calloc(result->processes.count + 1, sizeof *result->process_ids);
    if (result->process_ids == NULL || from->slots.count > SLOT_NUMBER_MAX)
        return false;
    for (u32 i = 0; i <= result->processes.count; i++)
        result->process_ids[i] = i;
    bool ok = true;
    for (size_t i = 0; ok && i < from->handles.count; i++) {
        const ehs_handle *const row = &from->handles.at[i];
        ok = ETLHEAP_PUSH(&to->heaps, (heap_row){ row->value, row->process });
    }
    for (size_t i = 0; ok && i < from->owners.count; i++) {
        const ehs_owner *const row = &from->owners.at[i];
        ok = ETLHEAP_PUSH(&to->owners, (owner_row){ row->first_ticks, row->heap, row->epoch });
    }
    for (size_t i = 0; ok && i < from->slots.count; i++) {
        const ehs_slot *const row = &from->slots.at[i];
        ok = ETLHEAP_PUSH(&to->slots, (slot_row){ row->stack, row->owner });
    }
    return ok;
}
