/* symbol_world.c - see symbol_world.h. */
#include "symbol_world.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "pdb_build.h"
#include "pe_build.h"
#include "temporary.h"

#define PID         10u
#define APP_SIZE    UINT64_C(0x8000)
#define LIB_STAMP   0x5e0a1234u
#define FIRST_HEAP  UINT64_C(0x1f0000)
#define UNLINKED_ID 0x7000u

static void write_file(symbol_world *w, const char *name, const hand_bytes *bytes)
{
    FILE *const file = fopen(world_file(w, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes->at, 1, bytes->size, file), bytes->size);
    assert_int_equal(fclose(file), 0);
}

static void finish_pdb(symbol_world *w, pdb_build *b, const char *name)
{
    hand_bytes bytes = { 0 };
    pdb_build_finish(b, &bytes);
    write_file(w, name, &bytes);
    hand_free(&bytes);
    pdb_build_close(b);
}

static void add_grow(pdb_build *b, u32 file)
{
    static const u8 push[] = { PDB_BA_CODE_DELTA, 8, PDB_BA_CODE_LENGTH, 0x38 };
    static const u8 allocate[] = { PDB_BA_CODE_DELTA, 0x10, PDB_BA_CODE_LENGTH, 0x20 };
    static const u32 lines[] = { 0, 11, 0x40, 12 };
    const u32 scope = pdb_build_function_id(b, PDB_LF_STRING_ID, 0, "vec<int>");
    const u32 push_id = pdb_build_function_id(b, PDB_LF_FUNC_ID, scope, "push");
    const u32 allocate_id = pdb_build_function_id(b, PDB_LF_FUNC_ID, 0, "allocate");
    const u32 begin = pdb_build_lines_begin(b, 0x100, 0x100);
    pdb_build_lines_block(b, file, lines, 2);
    pdb_build_lines_end(b, begin);
    pdb_build_inlinee_line(b, allocate_id, file, 3);
    (void)pdb_build_procedure(b, 1, 0x100, 0x100, "grow");
    pdb_build_alloc_site(b, 0x112, 5, 0x74); /* T_INT4 */
    (void)pdb_build_inline_site(b, push_id, push, sizeof push);
    (void)pdb_build_inline_site(b, allocate_id, allocate, sizeof allocate);
    pdb_build_end(b, PDB_S_INLINESITE_END);
    pdb_build_end(b, PDB_S_INLINESITE_END);
    pdb_build_end(b, PDB_S_END);
}

/* Calls of functions that the PDB does not describe: their ids are beyond its last. */
static void add_unnamed(pdb_build *b)
{
    static const u8 outer[] = { PDB_BA_CODE_DELTA, 8, PDB_BA_CODE_LENGTH, 0x38 };
    static const u8 inner[] = { PDB_BA_CODE_DELTA, 0x10, PDB_BA_CODE_LENGTH, 0x20 };
    (void)pdb_build_procedure(b, 1, 0x400, 0x100, "stripped");
    (void)pdb_build_inline_site(b, UNLINKED_ID, outer, sizeof outer);
    (void)pdb_build_inline_site(b, UNLINKED_ID + 1, inner, sizeof inner);
    pdb_build_end(b, PDB_S_INLINESITE_END);
    pdb_build_end(b, PDB_S_INLINESITE_END);
    pdb_build_end(b, PDB_S_END);
}

static void write_files(symbol_world *w)
{
    static const pe_build_export exports[] = {
        { .name = "?grow@Heap@@QEAAXXZ", .ordinal = 1, .rva = 0x1200 },
        { .name = "make", .ordinal = 2, .rva = 0x1100 },
    };
    pdb_build b;
    pdb_build_open(&b);
    pdb_build_section(&b, 0x1000, 0x1000);
    (void)pdb_build_module(&b);
    pdb_build_contribution(&b, 1, 0, 0x1000);
    const u32 file = pdb_build_file(&b, "c:\\src\\a.cpp");
    pdb_build_function(&b, 1, 0x10, 0x30, "operator new");
    add_grow(&b, file);
    pdb_build_function(&b, 1, 0x300, 0x100, "main");
    add_unnamed(&b);
    finish_pdb(w, &b, "app.pdb");

    pdb_build_open(&b);
    pdb_build_section(&b, 0x1000, 0x1000);
    pdb_build_public(&b, 1, 0, "malloc");
    pdb_build_public(&b, 1, 0x100, "?open@File@@QEAAXXZ");
    pdb_build_public_label(&b, 1, 0x180, "??_C@_05CJBACGMB@hello?$AA@");
    pdb_build_public_label(&b, 1, 0x188, "__real@3ff0000000000000");
    pdb_build_public_label(&b, 1, 0x1c0, "asm_copy");
    pdb_build_public(&b, 1, 0x200, "#RtlAllocateHeap");
    pdb_build_public(&b, 1, 0x280, "??$make@H@app@@$$hYAPEAHXZ");
    pdb_build_public(&b, 1, 0x300, "_ZN4leak5cache6insert17h0123456789abcdefE");
    pdb_build_public(&b, 1, 0x380, "_ZNSt6vectorIiSaIiEE9push_backEOi");
    b.age = 5;
    finish_pdb(w, &b, "crt.pdb");

    const pe_build_options library = { .pointer_bytes = 8,
                                       .time_date_stamp = LIB_STAMP,
                                       .ordinal_base = 1,
                                       .exports = exports,
                                       .export_count = 2 };
    pe_build_file(world_file(w, "lib.dll"), &library);
}

static void add_module(symbol_world *w, const char *path, u64 base, u32 stamp)
{
    hand_image(&w->result->context, &(hand_image_spec){ .kind = ETL_EVENT_IMAGE_DCSTART,
                                                        .pid = PID,
                                                        .base = base,
                                                        .size_bytes = APP_SIZE,
                                                        .ticks = HAND_START_TICKS,
                                                        .path = path,
                                                        .time_date_stamp = stamp });
}

/* What a merge would have told, with the identity that the file has. */
static void identify(symbol_world *w, const char *module, const char *pdb_name)
{
    etlheap_module_info *const info = &w->result->modules.list.at[world_module(w, module)];
    etl_pdb_file *file = NULL;
    info->has_rsds = true;
    info->pdb_name = pdb_name;
    if (etl_pdb_open(world_file(w, pdb_name), &file, NULL) != ETL_OK)
        return;
    info->guid = etl_pdb_info_of(file)->guid;
    info->age = etl_pdb_info_of(file)->age;
    etl_pdb_close(file);
}

symbol_world *world_new(void)
{
    symbol_world *const w = calloc(1, sizeof *w);
    assert_non_null(w);
    assert_true(temporary_subfolder(w->folder, "etlheap-symbols"));
    write_files(w);
    w->result = hand_result_new();
    w->process = hand_process(w->result, PID, "a.exe");
    add_module(w, "C:\\app.exe", WORLD_APP, 0x1111);
    add_module(w, "C:\\Windows\\crt.dll", WORLD_CRT, 0x2222);
    add_module(w, "C:\\lib.dll", WORLD_LIB, LIB_STAMP);
    add_module(w, "C:\\gone.dll", WORLD_GONE, 0);
    add_module(w, "C:\\blank.dll", WORLD_BLANK, 0);
    hand_ready(w->result, HAND_START_TICKS + 10000);
    identify(w, "app.exe", "app.pdb");
    identify(w, "crt.dll", "crt.pdb");
    identify(w, "gone.dll", "gone.pdb");
    w->query = etlheap_query_default();
    w->query.jobs = 1;
    return w;
}

void world_free(symbol_world *w)
{
    etlheap_symbols_close(w->symbols);
    etlheap_result_free(w->result);
    DIR *const folder = opendir(w->folder);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        (void)unlink(world_file(w, entry->d_name));
    if (folder != NULL)
        closedir(folder);
    (void)rmdir(w->folder);
    free(w);
}

void world_open_symbols(symbol_world *w, const etlheap_symbol_options *options)
{
    const etlheap_symbol_options plain = { .size = sizeof plain, .path = w->folder, .jobs = 1 };
    etlheap_symbols_close(w->symbols);
    assert_int_equal(
        etlheap_symbols_open(w->result, options == NULL ? &plain : options, &w->symbols, NULL),
        ETL_OK);
    w->query.symbols = w->symbols;
}

u32 world_module(const symbol_world *w, const char *name)
{
    for (u32 i = 0; i < w->result->modules.list.count; i++) {
        if (strcmp(w->result->modules.list.at[i].name, name) == 0)
            return i;
    }
    fail_msg("no module %s", name);
    return 0;
}

const char *world_file(symbol_world *w, const char *name)
{
    snprintf(w->text, sizeof w->text, "%s/%s", w->folder, name);
    return w->text;
}

static void put_level(symbol_world *w, const symbol_name *name, u32 index, FILE *out)
{
    static const char *const marks[] = { "", "", "near ", "guess " };
    const symbol_level *const level = &symbols_levels(w->symbols, name)[index];
    const bool is_last = index + 1 == name->level_count;
    const char *const file = symbols_text(w->symbols, level->file);
    const char *const slash = strrchr(file, '\\');
    fprintf(out, "%s%s%s", index > 0 ? " < " : "", is_last ? marks[name->quality] : "",
            symbols_text(w->symbols, level->name));
    if (is_last && name->quality != SYMBOL_QUALITY_FUNCTION)
        fprintf(out, "+0x%x", name->displacement);
    if (level->line != 0)
        fprintf(out, " %s:%u", slash == NULL ? file : slash + 1, level->line);
}

const char *world_name(symbol_world *w, const char *module, u64 offset)
{
    symbol_place place = { .offset = offset, .module = world_module(w, module) };
    assert_int_equal(symbols_resolve(w->symbols, &place, 1, NULL), ETL_OK);
    assert_int_not_equal(place.name, 0);
    const symbol_name *const name = symbols_name(w->symbols, place.name);
    if (name->level_count == 0)
        return "-";
    FILE *const out = fmemopen(w->text, sizeof w->text, "w");
    assert_non_null(out);
    for (u32 i = 0; i < name->level_count; i++)
        put_level(w, name, i, out);
    if (name->alloc_type != 0)
        fprintf(out, " new %s", symbols_text(w->symbols, name->alloc_type));
    assert_int_equal(fclose(out), 0);
    return w->text;
}

u64 world_diag(const symbol_world *w, etl_diag diag)
{
    return w->symbols->diag.of[diag];
}

u32 world_block(symbol_world *w, u64 size, const u64 *frames, u32 count)
{
    const u32 stack = hand_stack(w->result, frames, count);
    const lifetime row = { .alloc_ticks = HAND_START_TICKS + 1,
                           .free_ticks = ETLHEAP_TICKS_NEVER,
                           .address = FIRST_HEAP + stack * UINT64_C(0x100000),
                           .size = size,
                           .heap = FIRST_HEAP,
                           .process = w->process,
                           .stack = stack,
                           .thread = 1,
                           .kind = ETLHEAP_KIND_HEAP };
    hand_lifetime(w->result, &row);
    return stack;
}
