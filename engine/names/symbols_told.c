/*
 * symbols_told.c - names functions with what an anonymised store itself says: no PDB has its words.
 */
#include "symbols.h"

#include <stdlib.h>

bool symbols_told_open(etlheap_symbols *symbols)
{
    const told_names *const told = &symbols->result->told;
    symbols->told_of = calloc(symbols->builds.count + 1, sizeof *symbols->told_of);
    for (u32 i = 0; symbols->told_of != NULL && i < told->builds.count; i++) {
        const u32 build = symbols->build_of[told->builds.at[i].module];
        if (build != SYMBOL_BUILD_METHOD)
            symbols->told_of[build] = i + 1;
    }
    return symbols->told_of != NULL;
}

void symbols_told_builds(etlheap_symbols *symbols, const u32 *builds, u32 count)
{
    const told_names *const told = &symbols->result->told;
    for (u32 i = 0; i < count; i++) {
        symbol_build *const build = &symbols->builds.at[builds[i]];
        const u32 at = symbols->told_of[builds[i]];
        if (build->is_searched)
            continue;
        build->is_searched = told->builds.count == 0; /* no symbols were given for the store */
        if (build->is_searched)
            continue;
        if (at > 0)
            build->state = (etlheap_symbol_state)told->builds.at[at - 1].state;
        if (build->state == ETLHEAP_SYMBOL_STATE_LOOSE)
            etl_diag_add(&symbols->diag, ETL_DIAG_symbol_loose, 1);
    }
}

static bool add_text(etlheap_symbols *symbols, const char *text, u32 *id)
{
    return etlheap_strings_add(&symbols->strings, text, strlen(text), id);
}

static bool add_calls(etlheap_symbols *symbols, const told_place *place)
{
    for (u32 i = 0; i < place->calls; i++) {
        const told_call *const call = &symbols->result->told.calls.at[place->first_call + i];
        symbol_level level = { .line = call->line };
        if (!add_text(symbols, call->function, &level.name) ||
            !add_text(symbols, call->file, &level.file) || !ETLHEAP_PUSH(&symbols->levels, level))
            return false;
    }
    return true;
}

etl_status symbols_told_names(etlheap_symbols *symbols, const symbol_address *addresses,
                              size_t count, etl_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const u32 build = symbols->told_of[addresses[i].build];
        const told_place *const place =
            build == 0 ? NULL
                       : told_names_find(&symbols->result->told, build - 1, addresses[i].rva);
        if (place == NULL)
            continue;
        symbol_name name = { .first_level = (u32)symbols->levels.count,
                             .displacement = place->displacement,
                             .level_count = (u16)place->calls,
                             .quality = (u8)place->quality };
        if (!add_calls(symbols, place) || !add_text(symbols, place->type, &name.alloc_type))
            return etl_no_memory(err);
        symbols->names.at[addresses[i].name - 1] = name;
    }
    return ETL_OK;
}
