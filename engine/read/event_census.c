/*
 * event_census.c - counts events of providers by id and version, and joins the counts with names
 * from MetaData records.
 *
 * In: records of all tasks. Out: rows of provider, event, count and bytes, with names where the
 * trace has them.
 *
 * TraceLogging events have no meaningful ids, so they are told apart by name. Invariant: counts
 * do not depend on where the names are in the trace, because both meet at the end.
 */
#include "event_census.h"

#include <stdlib.h>

#define NAME_BYTES_MAX 512u

static bool same_event(const void *owner, u32 id, const void *key)
{
    const event_census_row *const a = &((const event_census *)owner)->events.at[id - 1];
    const event_census_row *const b = key;
    return a->provider == b->provider && a->name == b->name &&
           memcmp(&a->id, &b->id, sizeof a->id) == 0;
}

static bool same_id(const void *owner, u32 id, const void *key)
{
    const event_census_row *const a = &((const event_census *)owner)->names.at[id - 1];
    return memcmp(&a->id, &((const event_census_row *)key)->id, sizeof a->id) == 0;
}

static u64 hash_of(const event_census_row *row)
{
    return etlheap_hash_bytes(&row->id, sizeof row->id) ^
           etlheap_hash_u64((u64)row->provider << 32 | row->name);
}

/* Adds to the row of the event, which is made if it is new. */
static bool count_event(event_census *census, const event_census_row *row)
{
    u32 id = census->last;
    if (id == 0 || !same_event(census, id, row)) {
        const u64 hash = hash_of(row);
        id = etlheap_index_find(&census->event_index, hash, same_event, census, row);
        if (id == 0) {
            event_census_row fresh = *row;
            fresh.count = fresh.bytes = 0;
            if (census->events.count >= EVENT_CENSUS_ROWS_MAX)
                return true;
            if (!ETLHEAP_PUSH(&census->events, fresh))
                return false;
            id = (u32)census->events.count;
            if (!etlheap_index_add(&census->event_index, hash, id))
                return false;
        }
        census->last = id;
    }
    census->events.at[id - 1].count += row->count;
    census->events.at[id - 1].bytes += row->bytes;
    return true;
}

static const char *text_of(const event_census *census, u32 id)
{
    return etlheap_strings_get(&census->strings, id);
}

/* Which of two descriptions of an event counts? The answer does not depend on their order. */
static bool precedes(const event_census *census, const event_census_row *a,
                     const event_census_row *b)
{
    const int by_provider = strcmp(text_of(census, a->provider), text_of(census, b->provider));
    return by_provider != 0 ? by_provider < 0
                            : strcmp(text_of(census, a->name), text_of(census, b->name)) < 0;
}

static bool note_names(event_census *census, const event_census_row *row)
{
    const u64 hash = etlheap_hash_bytes(&row->id, sizeof row->id);
    const u32 id = etlheap_index_find(&census->name_index, hash, same_id, census, row);
    if (id != 0) {
        if (precedes(census, row, &census->names.at[id - 1]))
            census->names.at[id - 1] = *row;
        return true;
    }
    return census->names.count >= EVENT_CENSUS_ROWS_MAX ||
           (ETLHEAP_PUSH(&census->names, *row) &&
            etlheap_index_add(&census->name_index, hash, (u32)census->names.count));
}

static size_t utf8_of(etl_text text, char *out, size_t capacity)
{
    const size_t wanted = text.is_utf16 ? etl_utf16_to_utf8(text.bytes, out, capacity)
                                        : etl_text_to_utf8(text.bytes, out, capacity);
    return wanted < capacity ? wanted : strlen(out);
}

/* "Event" or "Event/Opcode". */
static bool add_names(event_census *census, const etl_description *from, event_census_row *row)
{
    char text[2 * NAME_BYTES_MAX + 1];
    size_t size = utf8_of(from->provider, text, NAME_BYTES_MAX);
    if (!etlheap_strings_add(&census->strings, text, size, &row->provider))
        return false;
    size = utf8_of(from->event, text, NAME_BYTES_MAX);
    if (size > 0 && from->opcode.bytes.size > 0) {
        text[size++] = '/';
        size += utf8_of(from->opcode, text + size, NAME_BYTES_MAX);
    }
    return etlheap_strings_add(&census->strings, text, size, &row->name);
}

bool event_census_add(event_census *census, const etl_record *record)
{
    etl_diag_counts ignored = { { 0 } };
    event_census_row row;
    etl_description description;
    memset(&row, 0, sizeof row);
    if (etl_record_info_kind(record) == ETL_INFO_EVENT) {
        if (!etl_description_of_info(record->payload, &row.id, &description))
            return true; /* counted when it is decoded */
        return add_names(census, &description, &row) && note_names(census, &row);
    }
    if (etl_record_is_injected(record) || !etl_event_id_of_record(record, &row.id))
        return true;
    if (etl_description_of_record(record, &description, &ignored) &&
        !add_names(census, &description, &row))
        return false;
    row.count = 1;
    row.bytes = record->size;
    return count_event(census, &row);
}

/* The row with the texts of another census. */
static bool translate(event_census *into, const event_census *from, event_census_row *row)
{
    const char *const provider = text_of(from, row->provider);
    const char *const name = text_of(from, row->name);
    return etlheap_strings_add(&into->strings, provider, strlen(provider), &row->provider) &&
           etlheap_strings_add(&into->strings, name, strlen(name), &row->name);
}

bool event_census_merge(event_census *into, const event_census *from)
{
    for (size_t i = 0; i < from->events.count; i++) {
        event_census_row row = from->events.at[i];
        if (!translate(into, from, &row) || !count_event(into, &row))
            return false;
    }
    for (size_t i = 0; i < from->names.count; i++) {
        event_census_row row = from->names.at[i];
        if (!translate(into, from, &row) || !note_names(into, &row))
            return false;
    }
    return true;
}

static int by_id_and_name(const void *a, const void *b)
{
    const etlheap_event_count *const x = a, *const y = b;
    char text_x[ETL_GUID_TEXT_SIZE], text_y[ETL_GUID_TEXT_SIZE];
    etl_guid_format(x->provider.bytes, text_x);
    etl_guid_format(y->provider.bytes, text_y);
    const int by_guid = strcmp(text_x, text_y);
    if (by_guid != 0)
        return by_guid;
    const u32 id_x = (u32)x->is_class << 24 | (u32)x->id << 8 | x->opcode;
    const u32 id_y = (u32)y->is_class << 24 | (u32)y->id << 8 | y->opcode;
    if (id_x != id_y)
        return id_x < id_y ? -1 : 1;
    if (x->version != y->version)
        return x->version < y->version ? -1 : 1;
    const int by_name = strcmp(x->name, y->name);
    return by_name != 0 ? by_name : strcmp(x->provider_name, y->provider_name);
}

static bool keep_text(etlheap_strings *strings, const char *text, const char **kept)
{
    u32 id;
    if (!etlheap_strings_add(strings, text, strlen(text), &id))
        return false;
    *kept = etlheap_strings_get(strings, id);
    return true;
}

bool event_census_finish(const event_census *census, etlheap_strings *strings,
                         etlheap_event_count **rows, size_t *count)
{
    *count = 0;
    *rows = calloc(census->events.count + 1, sizeof **rows);
    if (*rows == NULL)
        return false;
    for (size_t i = 0; i < census->events.count; i++) {
        event_census_row row = census->events.at[i];
        const u64 hash = etlheap_hash_bytes(&row.id, sizeof row.id);
        const u32 named = etlheap_index_find(&census->name_index, hash, same_id, census, &row);
        if (row.provider == 0 && row.name == 0 && named != 0) {
            row.provider = census->names.at[named - 1].provider;
            row.name = census->names.at[named - 1].name;
        }
        etlheap_event_count *const out = &(*rows)[i];
        *out = (etlheap_event_count){ .provider = row.id.provider,
                                      .id = row.id.id,
                                      .opcode = row.id.opcode,
                                      .version = row.id.version,
                                      .is_class = row.id.is_class,
                                      .count = row.count,
                                      .bytes = row.bytes };
        if (!keep_text(strings, text_of(census, row.provider), &out->provider_name) ||
            !keep_text(strings, text_of(census, row.name), &out->name))
            return false;
    }
    *count = census->events.count;
    if (*count > 0)
        qsort(*rows, *count, sizeof **rows, by_id_and_name);
    return true;
}

void event_census_free(event_census *census)
{
    etlheap_strings_free(&census->strings);
    ETLHEAP_VECTOR_FREE(&census->events);
    ETLHEAP_VECTOR_FREE(&census->names);
    etlheap_index_free(&census->event_index);
    etlheap_index_free(&census->name_index);
    *census = (event_census){ 0 };
}
