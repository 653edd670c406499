/*
 * pdb_check.c - what the PDB reader says of a built file, as text.
 */
#include <stdio.h>

#include "pdb_check.h"

void pdb_check_begin(pdb_check *c)
{
    *c = (pdb_check){ 0 };
    pdb_build_open(&c->built);
}

static void close_all(pdb_check *c)
{
    etl_pdb_resolver_close(c->resolver);
    etl_pdb_close(c->file);
    c->resolver = NULL;
    c->file = NULL;
    if (c->memory.pages)
        hand_unguard(&c->memory);
    c->memory = (hand_guarded){ 0 };
}

void pdb_check_end(pdb_check *c)
{
    close_all(c);
    hand_free(&c->bytes);
    pdb_build_close(&c->built);
}

void pdb_check_write(pdb_check *c)
{
    pdb_build_finish(&c->built, &c->bytes);
}

etl_status pdb_check_reopen(pdb_check *c)
{
    close_all(c);
    c->memory = hand_guard_bytes(hand_view(&c->bytes), HAND_AT_END);
    c->error = (etl_error){ 0 };
    const etl_bytes bytes = { c->memory.at, c->memory.size };
    const etl_status status = etl_pdb_open_memory(bytes, &c->file, &c->error);
    return status == ETL_OK
               ? etl_pdb_resolver_open(c->file, ETL_PDB_WANT_ALL, &c->resolver, &c->error)
               : status;
}

void pdb_check_open(pdb_check *c)
{
    pdb_check_write(c);
    if (pdb_check_reopen(c) != ETL_OK) {
        fprintf(stderr, "%s\n", c->error.message);
        abort(); /* the test is wrong: the file was to be sound */
    }
}

static void print_line(FILE *to, const etl_pdb_frame *frame)
{
    if (frame->file.size > 0 || frame->line > 0)
        fprintf(to, " %.*s:%u", (int)frame->file.size, (const char *)frame->file.at, frame->line);
}

const char *pdb_check_text(pdb_check *c, const etl_pdb_location *location)
{
    static const char *const kinds[] = { "-", "", "thunk ", "near " };
    FILE *const to = fmemopen(c->text, sizeof c->text, "w");
    if (!to)
        abort();
    for (u32 i = 0; i < location->inline_count; i++) {
        const etl_pdb_frame *const frame = &location->inlined[i];
        fprintf(to, "%.*s", (int)frame->name.size, (const char *)frame->name.at);
        print_line(to, frame);
        fputs(" < ", to);
    }
    fputs(kinds[location->kind], to);
    if (location->kind != ETL_PDB_SYMBOL_NONE)
        fprintf(to, "%.*s+0x%x", (int)location->function.name.size,
                (const char *)location->function.name.at, location->displacement);
    print_line(to, &location->function);
    if (location->alloc_type.size > 0)
        fprintf(to, " new %.*s", (int)location->alloc_type.size,
                (const char *)location->alloc_type.at);
    fputc('\0', to);
    (void)fclose(to);
    c->text[sizeof c->text - 1] = '\0';
    return c->text;
}

const char *pdb_check_at(pdb_check *c, u32 rva)
{
    etl_pdb_location location;
    if (etl_pdb_resolver_begin(c->resolver, &rva, 1, &c->error) != ETL_OK)
        return c->error.message;
    return etl_pdb_resolver_next(c->resolver, &location) ? pdb_check_text(c, &location) : "nothing";
}
