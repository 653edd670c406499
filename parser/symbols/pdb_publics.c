/*
 * pdb_publics.c - finds public symbols in the address map of the file.
 *
 * In: queries that no module named, ascending. Out: the nearest public symbol at or before each
 * that may be a function.
 *
 * The map lists the records of a symbol stream in order of address, so each probe reads a number in
 * the map and a place in the record. Addresses ascend, so a search begins where the last one ended,
 * with steps that double. Invariant: the map is part of a file that may be damaged: a record that
 * cannot be read ends a search without an answer.
 */
#include "parser/undecorate.h"
#include "pdb_internal.h"

typedef struct public_symbol {
    u32 record; /* in the symbol stream */
    u32 section, offset;
    u32 flags;
} public_symbol;

static bool read_public(etl_pdb_resolver *r, u32 i, public_symbol *out);
static u32 last_at_or_before(etl_pdb_resolver *r, u32 section, u32 offset);
static etl_bytes name_in_record(etl_pdb_resolver *r, msf_stream *stream, u32 at, u32 name_at);
static etl_bytes trampoline_name(etl_pdb_resolver *r, u32 at);

void pdb_open_publics(etl_pdb_resolver *r)
{
    if (r->publics.size == 0)
        return;
    u8 scratch[PDB_PUBLICS_HEADER_BYTES];
    etl_cursor c = etl_cursor_of(msf_view(&r->publics, 0, PDB_PUBLICS_HEADER_BYTES, scratch));
    const u32 hash_size = etl_u32(&c);
    const u32 map_size = etl_u32(&c);
    const u64 end = (u64)PDB_PUBLICS_HEADER_BYTES + hash_size + map_size;
    if (!etl_ok(&c) || end > r->publics.size) {
        (void)pdb_note_damage(r, &r->publics, 0, "the address map of public symbols is cut off");
        return;
    }
    r->publics_at = PDB_PUBLICS_HEADER_BYTES + hash_size;
    r->publics_count = map_size / 4;
}

/* Linkers put constants between functions, some in large numbers. Only a few are passed over: a
 * function that far away is hardly the one that is looked for. */
#define CONSTANTS_MAX 64u

/* The last public symbol at or before map entry `last` that is no constant; UINT32_MAX if there is
 * none nearby. Assembler code has no flags, so the name decides. */
static u32 last_function(etl_pdb_resolver *r, u32 last, public_symbol *out)
{
    for (u32 i = 0; i < CONSTANTS_MAX && i <= last; i++) {
        if (!read_public(r, last - i, out))
            return UINT32_MAX;
        if ((out->flags & PDB_PUBLIC_FLAG_FUNCTION) != 0 ||
            !etl_is_data_name(name_in_record(r, &r->symbols, out->record, PDB_PUBLIC_NAME_AT)))
            return last - i;
    }
    return UINT32_MAX;
}

void pdb_find_publics(etl_pdb_resolver *r)
{
    public_symbol found;
    for (u32 i = 0; i < r->query_count; i++) {
        pdb_query *const query = &r->queries[i];
        u32 section = 0;
        u32 offset = 0;
        if (query->record_kind != 0 || !pdb_place_of(r->file, query->rva, &section, &offset))
            continue;
        const u32 last = last_at_or_before(r, section, offset);
        if (last == UINT32_MAX)
            continue;
        r->public_hint = last;
        if (last_function(r, last, &found) == UINT32_MAX || found.section != section)
            continue;
        query->record = found.record;
        query->record_kind = PDB_S_PUB32;
        query->start = query->rva - (offset - found.offset);
    }
}

bool pdb_public_at(etl_pdb_resolver *r, u32 section, u32 offset, u32 *record)
{
    public_symbol found;
    const u32 last = last_at_or_before(r, section, offset);
    if (last == UINT32_MAX || !read_public(r, last, &found) || found.section != section ||
        found.offset != offset)
        return false;
    *record = found.record;
    return true;
}

bool etl_pdb_public_next(etl_pdb_resolver *r, u32 *at, etl_pdb_public *out)
{
    public_symbol found;
    while (*at < r->publics_count) {
        if (!read_public(r, (*at)++, &found))
            continue;
        *out = (etl_pdb_public){ .is_function = (found.flags & PDB_PUBLIC_FLAG_FUNCTION) != 0 };
        u32 source = 0;
        if (!pdb_rva_of(r->file, found.section, found.offset, &source) ||
            !pdb_rva_from_source(r, source, &out->rva))
            out->rva = 0;
        out->name = name_in_record(r, &r->symbols, found.record, PDB_PUBLIC_NAME_AT);
        return true;
    }
    return false;
}

/* --- the search --------------------------------------------------------------------- */

static bool is_after(const public_symbol *symbol, u32 section, u32 offset)
{
    return symbol->section > section || (symbol->section == section && symbol->offset > offset);
}

/* The last symbol at or before the place; UINT32_MAX if there is none, or the map cannot be
 * read. */
static u32 last_at_or_before(etl_pdb_resolver *r, u32 section, u32 offset)
{
    const u32 count = r->publics_count;
    public_symbol symbol;
    /* Invariant: the answer is in low - 1 .. high - 1. */
    u32 low = r->public_hint < count ? r->public_hint : 0;
    u32 high = count;
    if (count == 0 || !read_public(r, low, &symbol))
        return UINT32_MAX;
    if (is_after(&symbol, section, offset)) {
        high = low;
        low = 0;
    } else {
        low++;
        for (u32 step = 1; step < count - low; step *= 2) {
            if (!read_public(r, low + step - 1, &symbol))
                return UINT32_MAX;
            if (is_after(&symbol, section, offset)) {
                high = low + step - 1;
                break;
            }
            low += step;
        }
    }
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (!read_public(r, middle, &symbol))
            return UINT32_MAX;
        if (is_after(&symbol, section, offset))
            high = middle;
        else
            low = middle + 1;
    }
    return low - 1; /* 0 - 1 is UINT32_MAX */
}

static bool read_public(etl_pdb_resolver *r, u32 i, public_symbol *out)
{
    u8 scratch[PDB_RECORD_HEADER_BYTES + PDB_PUBLIC_NAME_AT];
    etl_bytes bytes = msf_view(&r->publics, r->publics_at + i * 4, 4, scratch);
    if (!bytes.at)
        return pdb_note_damage(r, &r->publics, r->publics_at + i * 4,
                               "the address map of public symbols cannot be read");
    out->record = etl_load_u32(bytes.at);
    bytes = msf_view(&r->symbols, out->record, sizeof scratch, scratch);
    if (!bytes.at || etl_load_u16(bytes.at) < PDB_PUBLIC_NAME_AT + 2 ||
        etl_load_u16(bytes.at + 2) != PDB_S_PUB32)
        return pdb_note_damage(r, &r->symbols, out->record, "no public symbol where one should be");
    out->flags = etl_load_u32(bytes.at + 4);
    out->offset = etl_load_u32(bytes.at + 8);
    out->section = etl_load_u16(bytes.at + 12);
    return true;
}

/* --- names of symbols ------------------------------------------------------------------ */

etl_bytes pdb_symbol_name(etl_pdb_resolver *r, const pdb_query *query)
{
    switch (query->record_kind) {
    case PDB_S_PUB32:
        return name_in_record(r, &r->symbols, query->record, PDB_PUBLIC_NAME_AT);
    case PDB_S_THUNK32:
        return name_in_record(r, &r->module, query->record, PDB_THUNK_NAME_AT);
    case PDB_S_TRAMPOLINE:
        return trampoline_name(r, query->record);
    default:
        return name_in_record(r, &r->module, query->record, PDB_PROC_NAME_AT);
    }
}

static etl_bytes name_in_record(etl_pdb_resolver *r, msf_stream *stream, u32 at, u32 name_at)
{
    pdb_record record;
    if (!pdb_record_at(r, stream, at, stream->size, &record))
        return (etl_bytes){ NULL, 0 };
    etl_cursor c = pdb_payload_all(r, stream, &record);
    etl_skip(&c, name_at);
    return etl_string8(&c);
}

/* Names a jump to a function after the function, if that is public. */
static etl_bytes trampoline_name(etl_pdb_resolver *r, u32 at)
{
    pdb_record record;
    u32 target_record = 0;
    if (!pdb_record_at(r, &r->module, at, r->module.size, &record))
        return (etl_bytes){ NULL, 0 };
    etl_cursor c = pdb_payload(r, &r->module, &record, PDB_TRAMPOLINE_BYTES);
    etl_skip(&c, 8);
    const u32 offset = etl_u32(&c);
    etl_skip(&c, 2);
    const u32 section = etl_u16(&c);
    if (!etl_ok(&c) || !pdb_public_at(r, section, offset, &target_record))
        return (etl_bytes){ NULL, 0 };
    return name_in_record(r, &r->symbols, target_record, PDB_PUBLIC_NAME_AT);
}
