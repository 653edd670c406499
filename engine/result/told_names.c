/* told_names.c - saves and loads names of functions in a store; see told_names.h. */
#include "told_names.h"

#include <stdlib.h>

#include "ehs_facts_inside.h"
#include "engine/etlheap_symbols.h"

#define QUALITY_MAX 3u /* symbol_quality */

static const ehs_field place_fields[] = {
    EHS_FIELD(PLACE_BUILD, told_place, build, U32),
    EHS_FIELD(PLACE_OFFSET, told_place, offset, U32),
    EHS_FIELD(PLACE_DISPLACEMENT, told_place, displacement, U32),
    EHS_FIELD(PLACE_QUALITY, told_place, quality, U32),
    EHS_FIELD(PLACE_TYPE, told_place, type, TEXT),
    EHS_FIELD(PLACE_CALLS, told_place, calls, U32),
};

static const ehs_field call_fields[] = {
    EHS_FIELD(CALL_FUNCTION, told_call, function, TEXT),
    EHS_FIELD(CALL_FILE, told_call, file, TEXT),
    EHS_FIELD(CALL_LINE, told_call, line, U32),
};

static const ehs_field build_fields[] = {
    EHS_FIELD(BUILD_MODULE, told_build, module, U32),
    EHS_FIELD(BUILD_STATE, told_build, state, U32),
};

static const ehs_field anonymised_fields[] = {
    EHS_FIELD(ANONYMISED_SCHEME, anonymised_row, scheme, U32),
    EHS_FIELD(ANONYMISED_KEY, anonymised_row, key_check, U64),
};

static const ehs_table place_table = EHS_TABLE(place_fields, told_place);
static const ehs_table call_table = EHS_TABLE(call_fields, told_call);
static const ehs_table build_table = EHS_TABLE(build_fields, told_build);
static const ehs_table anonymised_table = EHS_TABLE(anonymised_fields, anonymised_row);

void told_names_free(told_names *names)
{
    ETLHEAP_VECTOR_FREE(&names->builds);
    ETLHEAP_VECTOR_FREE(&names->places);
    ETLHEAP_VECTOR_FREE(&names->calls);
    *names = (told_names){ .anonymised = { 0 } };
}

static bool is_before(const told_place *place, u32 build, u32 offset)
{
    return place->build < build || (place->build == build && place->offset < offset);
}

const told_place *told_names_find(const told_names *names, u32 build, u32 offset)
{
    size_t low;
    ETL_BISECT(low, 0, names->places.count, is_before(&names->places.at[low], build, offset));
    if (low == names->places.count)
        return NULL;
    const told_place *const place = &names->places.at[low];
    return place->build == build && place->offset == offset ? place : NULL;
}

bool told_names_save(ehs_saver *saver, const told_names *names)
{
    return names->anonymised.scheme == 0 ||
           (ehs_table_save(saver, &anonymised_table, &names->anonymised, 1) &&
            ehs_table_save(saver, &build_table, names->builds.at, names->builds.count) &&
            ehs_table_save(saver, &place_table, names->places.at, names->places.count) &&
            ehs_table_save(saver, &call_table, names->calls.at, names->calls.count));
}

static etl_status blame(ehs_loader *loader, const char *table, size_t row)
{
    return etl_fail_with(loader->err, ETL_ERR_CORRUPT, 0,
                         "row %zu of the table of %s is wrong or out of order", row, table);
}

static etl_status load_anonymised(ehs_loader *loader, anonymised_row *out)
{
    anonymised_row *row = NULL;
    size_t count = 0;
    etl_status status = ehs_table_load(loader, &anonymised_table, &row, &count);
    if (status == ETL_OK && (count > 1 || (count == 1 && row->scheme == 0)))
        status = blame(loader, "anonymised stores", 0);
    if (status == ETL_OK && count == 1 && row->scheme > ANONYMISED_SCHEME)
        status = etl_fail_with(loader->err, ETL_ERR_UNSUPPORTED, 0,
                               "is anonymised in a way that this version does not know: use a "
                               "newer version");
    if (status == ETL_OK && count == 1)
        *out = *row;
    free(row);
    return status;
}

/* Checks the places, and finds their calls. */
static etl_status check_places(ehs_loader *loader, told_names *names)
{
    u64 calls = 0;
    for (size_t i = 0; i < names->places.count; i++) {
        told_place *const place = &names->places.at[i];
        const bool is_later = i == 0 || is_before(place - 1, place->build, place->offset);
        if (!is_later || place->build >= names->builds.count || place->quality > QUALITY_MAX ||
            place->calls == 0 || place->calls > UINT16_MAX ||
            calls + place->calls > names->calls.count)
            return blame(loader, "named places", i);
        place->first_call = (u32)calls;
        calls += place->calls;
    }
    return calls == names->calls.count ? ETL_OK : blame(loader, "named calls", (size_t)calls);
}

etl_status told_names_load(ehs_loader *loader, size_t module_count, told_names *names)
{
    etl_status status = load_anonymised(loader, &names->anonymised);
    if (status == ETL_OK)
        status = ehs_vector_load(loader, &build_table, &names->builds);
    for (size_t i = 0; status == ETL_OK && i < names->builds.count; i++) {
        if (names->builds.at[i].module >= module_count ||
            names->builds.at[i].state >= ETLHEAP_SYMBOL_STATE_COUNT)
            status = blame(loader, "builds", i);
    }
    if (status == ETL_OK)
        status = ehs_vector_load(loader, &place_table, &names->places);
    if (status == ETL_OK)
        status = ehs_vector_load(loader, &call_table, &names->calls);
    return status == ETL_OK ? check_places(loader, names) : status;
}
