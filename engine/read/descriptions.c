/*
 * descriptions.c - collects the descriptions of events that a trace contains, in a pass of its own.
 *
 * In: MetaData records anywhere in the traces. Out: an index by provider, event id and version;
 * maps of values. Invariant: descriptions point into copies, because buffers are released.
 */
#include "descriptions.h"

#include <stdlib.h>

static bool same_event(const void *owner, u32 id, const void *key)
{
    const description_set *const set = owner;
    return memcmp(&set->events.at[id - 1].id, key, sizeof(etl_event_id)) == 0;
}

static u64 hash_of(const etl_event_id *id)
{
    return etlheap_hash_bytes(id, sizeof *id);
}

/* The payload in memory that stays. False without memory. */
static bool keep(description_set *set, etl_bytes payload, etl_bytes *out)
{
    set->bytes += payload.size;
    return etlheap_arena_copy(&set->arena, payload, out);
}

/* Merges of several files describe an event once for each. */
static bool add_event(description_set *set, etl_bytes payload, etl_diag_counts *diag)
{
    described_event row;
    if (!etl_description_of_info(payload, &row.id, &row.description)) {
        etl_diag_add(diag, ETL_DIAG_description_invalid, 1);
        return true;
    }
    const u64 hash = hash_of(&row.id);
    if (etlheap_index_find(&set->index, hash, same_event, set, &row.id) != 0)
        return true;
    etl_bytes kept;
    if (!keep(set, payload, &kept))
        return false;
    etl_description_of_info(kept, &row.id, &row.description);
    return ETLHEAP_PUSH(&set->events, row) &&
           etlheap_index_add(&set->index, hash, (u32)set->events.count);
}

static bool add_map(description_set *set, etl_bytes payload, etl_diag_counts *diag)
{
    etl_value_map map;
    if (!etl_value_map_of_info(payload, &map)) {
        etl_diag_add(diag, ETL_DIAG_description_invalid, 1);
        return true;
    }
    etl_bytes kept;
    if (!keep(set, payload, &kept))
        return false;
    etl_value_map_of_info(kept, &map);
    return ETLHEAP_PUSH(&set->maps, map);
}

bool descriptions_add(description_set *set, const etl_record *record, etl_diag_counts *diag)
{
    const etl_info_kind kind = etl_record_info_kind(record);
    if (kind == ETL_INFO_NONE)
        return true;
    if (set->bytes + record->payload.size > DESCRIPTIONS_BYTES_MAX) {
        etl_diag_add(diag, ETL_DIAG_descriptions_limited, 1);
        return true;
    }
    return kind == ETL_INFO_EVENT ? add_event(set, record->payload, diag)
                                  : add_map(set, record->payload, diag);
}

static int compare_maps(const void *a, const void *b)
{
    return etl_value_map_compare(a, b);
}

/* Of maps that several files have, any will do: equal names of one provider mean the same
 * manifest, so the order among them does not matter. */
bool descriptions_read(description_set *set, etl_trace *const *traces, u32 trace_count,
                       etl_diag_counts *diag)
{
    etl_scratch scratch = { 0 };
    bool is_done = true;
    for (u32 i = 0; i < trace_count && is_done; i++) {
        const u32 count = etl_buffer_count(traces[i]);
        for (u32 k = 0; k < count && is_done; k++) {
            etl_diag_counts ignored = { { 0 } };
            etl_buffer buffer;
            etl_record record;
            is_done = etl_buffer_load(traces[i], k, &scratch, &ignored, &buffer) == ETL_OK;
            while (is_done && etl_record_next(&buffer, &record))
                is_done = descriptions_add(set, &record, diag);
        }
    }
    etl_scratch_free(&scratch);
    if (set->maps.count > 0)
        qsort(set->maps.at, set->maps.count, sizeof *set->maps.at, compare_maps);
    return is_done;
}

bool descriptions_find(const description_set *set, const etl_record *record, etl_description *out,
                       etl_diag_counts *diag)
{
    etl_event_id id;
    if (etl_description_of_record(record, out, diag))
        return true;
    if (set->events.count == 0 || !etl_event_id_of_record(record, &id))
        return false;
    const u32 found = etlheap_index_find(&set->index, hash_of(&id), same_event, set, &id);
    if (found == 0)
        return false;
    *out = set->events.at[found - 1].description;
    out->maps = (etl_value_maps){ set->maps.at, set->maps.count };
    return true;
}

void descriptions_free(description_set *set)
{
    ETLHEAP_VECTOR_FREE(&set->events);
    ETLHEAP_VECTOR_FREE(&set->maps);
    etlheap_index_free(&set->index);
    etlheap_arena_free(&set->arena);
    *set = (description_set){ 0 };
}
