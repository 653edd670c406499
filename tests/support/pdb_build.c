/*
 * pdb_build.c - small PDB files made in memory.
 *
 * Each part grows on its own; pdb_build_file.c puts them together.
 */
#include <string.h>

#include "pdb_build.h"

#define TYPE_INDEX_STEP 4u /* every so many types have an entry in the index */

static pdb_build_row *last_module(pdb_build *b)
{
    if (b->module_count == 0)
        abort(); /* the test is wrong, not the tested code */
    return &b->modules[b->module_count - 1];
}

static void put_text(hand_bytes *to, const char *text)
{
    hand_put(to, text, strlen(text) + 1);
}

void pdb_build_open(pdb_build *b)
{
    *b = (pdb_build){
        .block_bytes = 512, .age = 3, .file_age = 7, .module_signature = PDB_SYMBOLS_C13
    };
    for (u32 i = 0; i < sizeof b->guid; i++)
        b->guid[i] = (u8)(0xa0 + i);
    hand_u8(&b->names, 0); /* name 0 is empty */
}

void pdb_build_close(pdb_build *b)
{
    for (u32 i = 0; i < PDB_BUILD_STREAMS_MAX; i++)
        hand_free(&b->streams[i]);
    for (u32 i = 0; i < PDB_BUILD_MODULES_MAX; i++) {
        hand_free(&b->modules[i].symbols);
        hand_free(&b->modules[i].lines);
        hand_free(&b->modules[i].inlinee_lines);
        hand_free(&b->modules[i].checksums);
    }
    hand_bytes *const parts[] = { &b->sections,
                                  &b->original_sections,
                                  &b->names,
                                  &b->publics,
                                  &b->public_map,
                                  &b->types,
                                  &b->ids,
                                  &b->type_index,
                                  &b->omap_to_source,
                                  &b->omap_from_source };
    for (size_t i = 0; i < ETL_COUNT_OF(parts); i++)
        hand_free(parts[i]);
}

/* --- the image ---------------------------------------------------------------- */

static void put_section(hand_bytes *to, u32 rva, u32 size)
{
    hand_fill(to, '.', 8);
    hand_u32(to, size);
    hand_u32(to, rva);
    hand_fill(to, 0, 20);
    hand_u32(to, 0x60000020);
}

void pdb_build_section(pdb_build *b, u32 rva, u32 size)
{
    put_section(&b->sections, rva, size);
}

void pdb_build_original_section(pdb_build *b, u32 rva, u32 size)
{
    put_section(&b->original_sections, rva, size);
}

void pdb_build_omap(pdb_build *b, u32 image_rva, u32 source_rva)
{
    hand_u32(&b->omap_to_source, image_rva);
    hand_u32(&b->omap_to_source, source_rva);
    hand_u32(&b->omap_from_source, source_rva);
    hand_u32(&b->omap_from_source, image_rva);
}

/* --- modules ------------------------------------------------------------------- */

u32 pdb_build_module(pdb_build *b)
{
    if (b->module_count == PDB_BUILD_MODULES_MAX)
        abort();
    pdb_build_row *const module = &b->modules[b->module_count];
    hand_u32(&module->symbols, b->module_signature);
    b->scope_count = 0;
    return b->module_count++;
}

void pdb_build_contribution(pdb_build *b, u32 section, u32 offset, u32 size)
{
    if (b->contribution_count == PDB_BUILD_ROWS_MAX)
        abort();
    b->contributions[b->contribution_count++] =
        (pdb_build_piece){ section, offset, size, b->module_count - 1 };
}

static u32 put_record(hand_bytes *to, u32 kind, const hand_bytes *payload)
{
    const u32 at = (u32)to->size;
    const size_t padding = (4 - payload->size % 4) % 4;
    hand_u16(to, (unsigned)(2 + payload->size + padding));
    hand_u16(to, kind);
    hand_put(to, payload->at, payload->size);
    hand_fill(to, 0, padding);
    return at;
}

/* Puts the record and empties the payload. */
static u32 take_record(hand_bytes *to, u32 kind, hand_bytes *payload)
{
    const u32 at = put_record(to, kind, payload);
    hand_free(payload);
    return at;
}

u32 pdb_build_symbol(pdb_build *b, u32 kind, const hand_bytes *payload)
{
    return put_record(&last_module(b)->symbols, kind, payload);
}

static u32 open_scope(pdb_build *b, u32 kind, hand_bytes *payload)
{
    if (b->scope_count == PDB_BUILD_SCOPES_MAX)
        abort();
    const u32 at = take_record(&last_module(b)->symbols, kind, payload);
    b->scopes[b->scope_count++] = at;
    return at;
}

u32 pdb_build_procedure_of(pdb_build *b, u32 kind, const u32 place[3], const char *name)
{
    hand_bytes payload = { 0 };
    hand_fill(&payload, 0, 12); /* parent, end, next */
    hand_u32(&payload, place[2]);
    hand_fill(&payload, 0, 12); /* debug start and end, type */
    hand_u32(&payload, place[1]);
    hand_u16(&payload, place[0]);
    hand_u8(&payload, 0);
    put_text(&payload, name);
    return open_scope(b, kind, &payload);
}

u32 pdb_build_procedure(pdb_build *b, u32 section, u32 offset, u32 size, const char *name)
{
    const u32 place[3] = { section, offset, size };
    return pdb_build_procedure_of(b, PDB_S_GPROC32, place, name);
}

u32 pdb_build_block(pdb_build *b)
{
    hand_bytes payload = { 0 };
    hand_fill(&payload, 0, 19);
    return open_scope(b, PDB_S_BLOCK32, &payload);
}

u32 pdb_build_inline_site(pdb_build *b, u32 inlinee, const u8 *annotations, u32 size)
{
    hand_bytes payload = { 0 };
    hand_fill(&payload, 0, 8);
    hand_u32(&payload, inlinee);
    hand_put(&payload, annotations, size);
    return open_scope(b, PDB_S_INLINESITE, &payload);
}

void pdb_build_end(pdb_build *b, u32 kind)
{
    hand_bytes *const symbols = &last_module(b)->symbols;
    hand_bytes nothing = { 0 };
    const u32 at = put_record(symbols, kind, &nothing);
    if (b->scope_count == 0)
        abort();
    hand_set_u32(symbols, b->scopes[--b->scope_count] + 8, at);
}

void pdb_build_function(pdb_build *b, u32 section, u32 offset, u32 size, const char *name)
{
    (void)pdb_build_procedure(b, section, offset, size, name);
    pdb_build_end(b, PDB_S_END);
}

void pdb_build_thunk(pdb_build *b, u32 section, u32 offset, u32 size, const char *name)
{
    hand_bytes payload = { 0 };
    hand_fill(&payload, 0, 12);
    hand_u32(&payload, offset);
    hand_u16(&payload, section);
    hand_u16(&payload, size);
    hand_u8(&payload, 0);
    put_text(&payload, name);
    (void)open_scope(b, PDB_S_THUNK32, &payload);
    pdb_build_end(b, PDB_S_END);
}

void pdb_build_trampoline(pdb_build *b, u32 offset, u32 size, u32 target)
{
    hand_bytes payload = { 0 };
    hand_u16(&payload, 0);
    hand_u16(&payload, size);
    hand_u32(&payload, offset);
    hand_u32(&payload, target);
    hand_u16(&payload, 1);
    hand_u16(&payload, 1);
    (void)take_record(&last_module(b)->symbols, PDB_S_TRAMPOLINE, &payload);
}

void pdb_build_piece_of(pdb_build *b, u32 offset, u32 size, u32 parent)
{
    hand_bytes payload = { 0 };
    hand_fill(&payload, 0, 8);
    hand_u32(&payload, size);
    hand_u32(&payload, 0);
    hand_u32(&payload, offset);
    hand_u32(&payload, parent);
    hand_u16(&payload, 1);
    hand_u16(&payload, 1);
    (void)open_scope(b, PDB_S_SEPCODE, &payload);
    pdb_build_end(b, PDB_S_END);
}

void pdb_build_alloc_site(pdb_build *b, u32 offset, u32 call_size, u32 type)
{
    hand_bytes payload = { 0 };
    hand_u32(&payload, offset);
    hand_u16(&payload, 1);
    hand_u16(&payload, call_size);
    hand_u32(&payload, type);
    (void)take_record(&last_module(b)->symbols, PDB_S_HEAPALLOCSITE, &payload);
}

/* --- lines -------------------------------------------------------------------------- */

u32 pdb_build_file(pdb_build *b, const char *name)
{
    return pdb_build_file_checksum(b, name, 0, NULL, 0);
}

u32 pdb_build_file_checksum(pdb_build *b, const char *name, u8 kind, const u8 *bytes, u8 size)
{
    hand_bytes *const checksums = &last_module(b)->checksums;
    const u32 at = (u32)checksums->size;
    hand_u32(checksums, (u32)b->names.size);
    hand_u8(checksums, size);
    hand_u8(checksums, kind);
    hand_put(checksums, bytes, size);
    while (checksums->size % 4 != 0)
        hand_u8(checksums, 0);
    put_text(&b->names, name);
    return at;
}

u32 pdb_build_lines_begin(pdb_build *b, u32 offset, u32 size)
{
    hand_bytes *const lines = &last_module(b)->lines;
    const u32 begin = (u32)lines->size;
    hand_u32(lines, PDB_SUBSECTION_LINES);
    hand_u32(lines, 0);
    hand_u32(lines, offset);
    hand_u16(lines, 1);
    hand_u16(lines, 0);
    hand_u32(lines, size);
    return begin;
}

void pdb_build_lines_block(pdb_build *b, u32 file, const u32 *pairs, u32 count)
{
    hand_bytes *const lines = &last_module(b)->lines;
    hand_u32(lines, file);
    hand_u32(lines, count);
    hand_u32(lines, PDB_LINE_BLOCK_BYTES + count * PDB_LINE_BYTES);
    for (u32 i = 0; i < count; i++) {
        hand_u32(lines, pairs[i * 2]);
        hand_u32(lines, pairs[i * 2 + 1] | 0x80000000u);
    }
}

void pdb_build_lines_end(pdb_build *b, u32 begin)
{
    hand_bytes *const lines = &last_module(b)->lines;
    hand_set_u32(lines, begin + 4, (u32)lines->size - begin - PDB_SUBSECTION_HEADER_BYTES);
}

void pdb_build_inlinee_line(pdb_build *b, u32 id, u32 file, u32 line)
{
    hand_bytes *const to = &last_module(b)->inlinee_lines;
    if (to->size == 0)
        hand_u32(to, 0);
    hand_u32(to, id);
    hand_u32(to, file);
    hand_u32(to, line);
}

/* --- public symbols, types, ids ------------------------------------------------------- */

static void add_public(pdb_build *b, u32 flags, u32 section, u32 offset, const char *name)
{
    hand_bytes payload = { 0 };
    hand_u32(&payload, flags);
    hand_u32(&payload, offset);
    hand_u16(&payload, section);
    put_text(&payload, name);
    hand_u32(&b->public_map, take_record(&b->publics, PDB_S_PUB32, &payload));
}

void pdb_build_public(pdb_build *b, u32 section, u32 offset, const char *name)
{
    add_public(b, PDB_PUBLIC_FLAG_FUNCTION, section, offset, name);
}

void pdb_build_public_label(pdb_build *b, u32 section, u32 offset, const char *name)
{
    add_public(b, 0, section, offset, name);
}

u32 pdb_build_type(pdb_build *b, u32 kind, const hand_bytes *payload)
{
    const u32 number = PDB_TYPES_FIRST + b->type_count++;
    if ((number - PDB_TYPES_FIRST) % TYPE_INDEX_STEP == 0) {
        hand_u32(&b->type_index, number);
        hand_u32(&b->type_index, (u32)b->types.size);
    }
    (void)put_record(&b->types, kind, payload);
    return number;
}

u32 pdb_build_id(pdb_build *b, u32 kind, const hand_bytes *payload)
{
    (void)put_record(&b->ids, kind, payload);
    return PDB_TYPES_FIRST + b->id_count++;
}

u32 pdb_build_class(pdb_build *b, const char *name)
{
    hand_bytes payload = { 0 };
    hand_fill(&payload, 0, 16);
    hand_u16(&payload, 8); /* size */
    put_text(&payload, name);
    const u32 number = pdb_build_type(b, PDB_LF_CLASS, &payload);
    hand_free(&payload);
    return number;
}

u32 pdb_build_function_id(pdb_build *b, u32 kind, u32 scope, const char *name)
{
    hand_bytes payload = { 0 };
    hand_u32(&payload, scope);
    if (kind != PDB_LF_STRING_ID)
        hand_u32(&payload, 0);
    put_text(&payload, name);
    const u32 number = pdb_build_id(b, kind, &payload);
    hand_free(&payload);
    return number;
}
