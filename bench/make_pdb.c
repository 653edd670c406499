/*
 * make_pdb.c - writes a PDB as large as those of browsers and games, always with the same bytes.
 *
 *     make_pdb FUNCTIONS PATH
 *
 * In: a number of functions; a million give about 700 MB. Out: a PDB that bench_symbols resolves.
 *
 * Each function has a procedure with locals as compilers write them, lines, a public symbol and a
 * section contribution; two functions in three have two nested inline sites. Streams lie one after
 * the other, as lld leaves them, so a stream leaves memory as soon as it is written (pdb_writer.c).
 * Invariant: names and offsets follow from a function's number alone; bench_symbols.c computes them
 * again to check answers.
 */
#include "bench.h"
#include "pdb_model.h"
#include "pdb_writer.h"

#include "parser/symbols/layout_pdb.h"

#include <stdio.h>
#include <stdlib.h>

#define FIRST_TYPE PDB_TYPES_FIRST
#define FILES      4u /* source files of a module */

typedef struct writer {
    pdb_writer pdb;
    u32 function_count, module_count;
    pdb_buffer names; /* of source files */
    pdb_buffer modules, contributions, publics, public_map;
} writer;

/* --- a module --------------------------------------------------------------------- */

/* Begins a call that is inlined into another one or into the function. Returns the place of its
 * record, whose end is not known yet. */
static size_t open_inline_site(pdb_buffer *b, u32 id, u32 at, u32 size)
{
    const u8 annotations[] = {
        PDB_BA_CODE_DELTA, (u8)at,         PDB_BA_LINE_DELTA,  (u8)(PDB_MODEL_LINE_DELTA * 2),
        PDB_BA_CODE_DELTA, (u8)(size / 2), PDB_BA_CODE_LENGTH, (u8)(size - size / 2),
    };
    const size_t record = pdb_begin_record(b, PDB_S_INLINESITE);
    pdb_put_u32(b, 0);
    pdb_put_u32(b, 0);
    pdb_put_u32(b, id);
    pdb_put(b, annotations, sizeof annotations);
    pdb_end_record(b, record);
    return record;
}

static void close_scope(pdb_buffer *b, size_t opened, u32 kind)
{
    pdb_set_u32(b, opened + 8, (u32)b->size);
    pdb_put_record(b, kind, 0);
}

static void put_locals(pdb_buffer *b)
{
    for (u32 i = 0; i < 4; i++) {
        pdb_put_record(b, 0x113e, 16); /* S_LOCAL */
        pdb_put_record(b, 0x1142, 16); /* S_DEFRANGE_FRAMEPOINTER_REL */
    }
}

static void put_function(pdb_buffer *b, u32 function)
{
    char name[80];
    (void)snprintf(name, sizeof name, "large::program::component_%u::object<int>::function_%u",
                   function / PDB_MODEL_MODULE_FUNCTIONS, function);
    const size_t record = pdb_begin_record(b, PDB_S_GPROC32);
    (void)pdb_grow(b, 12);
    pdb_put_u32(b, PDB_MODEL_FUNCTION_BYTES);
    (void)pdb_grow(b, 12);
    pdb_put_u32(b, function * PDB_MODEL_FUNCTION_BYTES);
    pdb_put_u16(b, 1);
    (void)pdb_grow(b, 1);
    pdb_put_text(b, name);
    pdb_end_record(b, record);
    pdb_put_record(b, 0x1012, 26); /* S_FRAMEPROC */
    put_locals(b);
    if (pdb_model_has_inlined(function)) {
        const size_t outer = open_inline_site(b, FIRST_TYPE + pdb_model_inlinee(function, 0),
                                              PDB_MODEL_INLINE_AT, PDB_MODEL_INLINE_BYTES);
        const size_t inner = open_inline_site(b, FIRST_TYPE + pdb_model_inlinee(function, 1),
                                              PDB_MODEL_INNER_AT, PDB_MODEL_INNER_BYTES);
        close_scope(b, inner, PDB_S_INLINESITE_END);
        close_scope(b, outer, PDB_S_INLINESITE_END);
    }
    close_scope(b, record, PDB_S_END);
}

static void put_lines(pdb_buffer *b, u32 function)
{
    pdb_put_u32(b, PDB_SUBSECTION_LINES);
    pdb_put_u32(b,
                PDB_LINES_HEADER_BYTES + PDB_LINE_BLOCK_BYTES + PDB_MODEL_LINES * PDB_LINE_BYTES);
    pdb_put_u32(b, function * PDB_MODEL_FUNCTION_BYTES);
    pdb_put_u16(b, 1);
    pdb_put_u16(b, 0);
    pdb_put_u32(b, PDB_MODEL_FUNCTION_BYTES);
    pdb_put_u32(b, function % FILES * 24);
    pdb_put_u32(b, PDB_MODEL_LINES);
    pdb_put_u32(b, PDB_LINE_BLOCK_BYTES + PDB_MODEL_LINES * PDB_LINE_BYTES);
    for (u32 i = 0; i < PDB_MODEL_LINES; i++) {
        pdb_put_u32(b, i * PDB_MODEL_LINE_BYTES);
        pdb_put_u32(b, 0x80000000u | (pdb_model_first_line(function) + i));
    }
}

static void put_inlinee_lines(pdb_buffer *b, u32 first, u32 count)
{
    const size_t at = b->size;
    pdb_put_u32(b, PDB_SUBSECTION_INLINEE_LINES);
    pdb_put_u32(b, 0);
    pdb_put_u32(b, 0);
    for (u32 i = 0; i < count * 2; i++) {
        const u32 inlinee = pdb_model_inlinee(first + i / 2, i % 2);
        pdb_put_u32(b, FIRST_TYPE + inlinee);
        pdb_put_u32(b, inlinee % FILES * 24);
        pdb_put_u32(b, PDB_MODEL_INLINEE_LINE + inlinee);
    }
    pdb_set_u32(b, at + 4, (u32)(b->size - at - PDB_SUBSECTION_HEADER_BYTES));
}

/* Appends the checksums of a module's source files. Their names are in the list of all names
 * too. */
static void put_checksums(writer *w, pdb_buffer *b, u32 module)
{
    pdb_put_u32(b, PDB_SUBSECTION_CHECKSUMS);
    pdb_put_u32(b, FILES * 24);
    for (u32 i = 0; i < FILES; i++) {
        char name[80];
        (void)snprintf(name, sizeof name, "C:\\src\\large\\program\\component_%u\\source_%u.cpp",
                       i == 0 ? module : 0, i);
        pdb_put_u32(b, (u32)w->names.size);
        pdb_put_u16(b, 1 << 8 | 16); /* MD5, 16 bytes, and 2 to align */
        (void)pdb_grow(b, 18);
        pdb_put_text(&w->names, name);
    }
}

static void put_module_row(writer *w, u32 index, size_t symbols_size, size_t lines_size)
{
    pdb_buffer *const b = &w->modules;
    (void)pdb_grow(b, 34);
    pdb_put_u16(b, index);
    pdb_put_u32(b, (u32)symbols_size);
    pdb_put_u32(b, 0);
    pdb_put_u32(b, (u32)lines_size);
    (void)pdb_grow(b, 16);
    char name[80];
    (void)snprintf(name, sizeof name, "obj/large/program/component_%u.obj", index);
    pdb_put_text(b, name);
    pdb_put_text(b, name);
    pdb_align(b);
}

static void write_module(writer *w, u32 module, pdb_buffer *b)
{
    const u32 first = module * PDB_MODEL_MODULE_FUNCTIONS;
    const u32 left = w->function_count - first;
    const u32 count = left < PDB_MODEL_MODULE_FUNCTIONS ? left : PDB_MODEL_MODULE_FUNCTIONS;
    b->size = 0;
    pdb_put_u32(b, PDB_SYMBOLS_C13);
    for (u32 i = 0; i < count; i++)
        put_function(b, first + i);
    const size_t symbols_size = b->size;
    put_checksums(w, b, module);
    for (u32 i = 0; i < count; i++)
        put_lines(b, first + i);
    put_inlinee_lines(b, first, count);
    const size_t lines_size = b->size - symbols_size;
    pdb_put_u32(b, 0); /* references to global symbols: none */
    put_module_row(w, pdb_write_stream(&w->pdb, b), symbols_size, lines_size);
}

/* --- what is about all modules -------------------------------------------------------- */

static void put_contribution(writer *w, u32 function)
{
    pdb_buffer *const b = &w->contributions;
    pdb_put_u32(b, 1);
    pdb_put_u32(b, function * PDB_MODEL_FUNCTION_BYTES);
    pdb_put_u32(b, PDB_MODEL_FUNCTION_BYTES);
    pdb_put_u32(b, 0x60500020);
    pdb_put_u32(b, function / PDB_MODEL_MODULE_FUNCTIONS);
    (void)pdb_grow(b, 8);
}

static void put_public(writer *w, u32 function)
{
    char name[100];
    pdb_put_u32(&w->public_map, (u32)w->publics.size);
    (void)snprintf(name, sizeof name, "?function_%u@?$object@H@component_%u@program@large@@QEAAXXZ",
                   function, function / PDB_MODEL_MODULE_FUNCTIONS);
    const size_t record = pdb_begin_record(&w->publics, PDB_S_PUB32);
    pdb_put_u32(&w->publics, PDB_PUBLIC_FLAG_FUNCTION);
    pdb_put_u32(&w->publics, function * PDB_MODEL_FUNCTION_BYTES);
    pdb_put_u16(&w->publics, 1);
    pdb_put_text(&w->publics, name);
    pdb_end_record(&w->publics, record);
}

static void write_info(writer *w, u32 names_stream)
{
    static const char name[] = PDB_NAMES_STREAM_NAME;
    pdb_buffer b = { 0 };
    pdb_put_u32(&b, PDB_INFO_VERSION_VC70);
    pdb_put_u32(&b, 1);
    pdb_put_u32(&b, 1);
    pdb_put(&b, "large program :)", 16);
    pdb_put_u32(&b, sizeof name);
    pdb_put(&b, name, sizeof name);
    for (u32 i = 0; i < 4; i++)
        pdb_put_u32(&b, 1); /* one entry of one, one word says that it is there */
    pdb_put_u32(&b, 0);
    pdb_put_u32(&b, 0);
    pdb_put_u32(&b, names_stream);
    pdb_put_u32(&b, 0);
    pdb_put_u32(&b, 20140508);
    pdb_write_stream_as(&w->pdb, PDB_STREAM_INFO, &b);
    free(b.at);
}

static u32 write_names(writer *w)
{
    pdb_buffer b = { 0 };
    pdb_put_u32(&b, PDB_NAMES_SIGNATURE);
    pdb_put_u32(&b, 1);
    pdb_put_u32(&b, (u32)w->names.size);
    pdb_put(&b, w->names.at, w->names.size);
    pdb_put_u32(&b, 0); /* a hash table without places, and a count */
    pdb_put_u32(&b, 0);
    const u32 index = pdb_write_stream(&w->pdb, &b);
    free(b.at);
    return index;
}

/* `records` holds `count` types; `places` where each eighth of them begins. */
static void write_types(writer *w, u32 index, const pdb_buffer *records, const pdb_buffer *places,
                        u32 count)
{
    pdb_buffer b = { 0 };
    const u32 hash_stream = pdb_write_stream(&w->pdb, places);
    pdb_put_u32(&b, 20040203);
    pdb_put_u32(&b, PDB_TYPES_HEADER_BYTES);
    pdb_put_u32(&b, FIRST_TYPE);
    pdb_put_u32(&b, FIRST_TYPE + count);
    pdb_put_u32(&b, (u32)records->size);
    pdb_put_u16(&b, hash_stream);
    pdb_put_u16(&b, PDB_STREAM_NONE);
    (void)pdb_grow(&b, 16);
    pdb_put_u32(&b, 0);
    pdb_put_u32(&b, (u32)places->size);
    (void)pdb_grow(&b, 8);
    pdb_put(&b, records->at, records->size);
    pdb_write_stream_as(&w->pdb, index, &b);
    free(b.at);
}

/* Writes a class and one member function for each inlined function. */
static void write_all_types(writer *w)
{
    pdb_buffer classes = { 0 };
    pdb_buffer ids = { 0 };
    pdb_buffer class_places = { 0 };
    pdb_buffer id_places = { 0 };
    for (u32 i = 0; i < PDB_MODEL_INLINEES; i++) {
        if (i % 100 == 0) {
            pdb_put_u32(&class_places, FIRST_TYPE + i);
            pdb_put_u32(&class_places, (u32)classes.size);
            pdb_put_u32(&id_places, FIRST_TYPE + i);
            pdb_put_u32(&id_places, (u32)ids.size);
        }
        char name[60];
        (void)snprintf(name, sizeof name, "large::inlined::vector<item_%u>", i);
        size_t record = pdb_begin_record(&classes, PDB_LF_CLASS);
        (void)pdb_grow(&classes, 18);
        pdb_put_text(&classes, name);
        pdb_end_record(&classes, record);
        record = pdb_begin_record(&ids, PDB_LF_MFUNC_ID);
        pdb_put_u32(&ids, FIRST_TYPE + i);
        pdb_put_u32(&ids, 0);
        pdb_put_text(&ids, "push_back");
        pdb_end_record(&ids, record);
    }
    write_types(w, PDB_STREAM_TPI, &classes, &class_places, PDB_MODEL_INLINEES);
    write_types(w, PDB_STREAM_IPI, &ids, &id_places, PDB_MODEL_INLINEES);
    free(classes.at);
    free(ids.at);
    free(class_places.at);
    free(id_places.at);
}

static u32 write_sections(writer *w)
{
    pdb_buffer b = { 0 };
    pdb_put(&b, ".text\0\0", 8);
    pdb_put_u32(&b, w->function_count * PDB_MODEL_FUNCTION_BYTES);
    pdb_put_u32(&b, PDB_MODEL_CODE_RVA);
    (void)pdb_grow(&b, 20);
    pdb_put_u32(&b, 0x60000020);
    const u32 index = pdb_write_stream(&w->pdb, &b);
    free(b.at);
    return index;
}

static u32 write_publics(writer *w)
{
    pdb_buffer b = { 0 };
    pdb_put_u32(&b, 0);
    pdb_put_u32(&b, (u32)w->public_map.size);
    (void)pdb_grow(&b, 20);
    pdb_put(&b, w->public_map.at, w->public_map.size);
    const u32 index = pdb_write_stream(&w->pdb, &b);
    free(b.at);
    return index;
}

static void write_debug(writer *w)
{
    const u32 sections = write_sections(w);
    const u32 publics = write_publics(w);
    const u32 symbols = pdb_write_stream(&w->pdb, &w->publics);
    pdb_buffer b = { 0 };
    pdb_put_u32(&b, PDB_DBI_SIGNATURE);
    pdb_put_u32(&b, 19990903);
    pdb_put_u32(&b, 1);
    pdb_put_u32(&b, PDB_STREAM_NONE);
    pdb_put_u32(&b, publics);
    pdb_put_u32(&b, symbols);
    pdb_put_u32(&b, (u32)w->modules.size);
    pdb_put_u32(&b, (u32)w->contributions.size);
    pdb_put_u32(&b, 0);
    pdb_put_u32(&b, 4 + w->module_count * 4);
    pdb_put_u32(&b, 0);
    pdb_put_u32(&b, 0);
    pdb_put_u32(&b, PDB_DEBUG_COUNT * 2);
    pdb_put_u32(&b, 0);
    pdb_put_u16(&b, 0);
    pdb_put_u16(&b, 0x8664);
    pdb_put_u32(&b, 0);
    pdb_put(&b, w->modules.at, w->modules.size);
    pdb_put(&b, w->contributions.at, w->contributions.size);
    /* The source files of modules, a table that other readers insist on: empty. */
    pdb_put_u16(&b, w->module_count);
    pdb_put_u16(&b, 0);
    (void)pdb_grow(&b, (size_t)w->module_count * 4);
    for (u32 i = 0; i < PDB_DEBUG_COUNT; i++)
        pdb_put_u16(&b, i == PDB_DEBUG_SECTIONS ? sections : PDB_STREAM_NONE);
    pdb_write_stream_as(&w->pdb, PDB_STREAM_DBI, &b);
    free(b.at);
}

static void write_all(writer *w, FILE *file)
{
    pdb_buffer scratch = { 0 };
    w->module_count = (w->function_count - 1) / PDB_MODEL_MODULE_FUNCTIONS + 1;
    pdb_writer_begin(&w->pdb, file, PDB_STREAM_IPI + 1, w->module_count + 32);
    pdb_put_u32(&w->contributions, PDB_CONTRIBUTIONS_V1);
    (void)pdb_grow(&w->names, 1);
    for (u32 i = 0; i < w->function_count; i++) {
        put_contribution(w, i);
        put_public(w, i);
    }
    for (u32 i = 0; i < w->module_count; i++)
        write_module(w, i, &scratch);
    write_all_types(w);
    write_debug(w);
    write_info(w, write_names(w));
    pdb_writer_end(&w->pdb);
    free(scratch.at);
}

int main(int argc, char **argv)
{
    const long count = argc == 3 ? atol(argv[1]) : 0;
    if (count < 1 || count > (long)PDB_MODEL_FUNCTION_COUNT_MAX) {
        fprintf(stderr, "usage: make_pdb FUNCTIONS PATH\n");
        return 2;
    }
    FILE *const file = fopen(argv[2], "wb");
    if (file == NULL) {
        perror(argv[2]);
        return 1;
    }
    writer w = { .function_count = (u32)count };
    write_all(&w, file);
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        perror(argv[2]);
        return 1;
    }
    free(w.names.at);
    free(w.modules.at);
    free(w.contributions.at);
    free(w.publics.at);
    free(w.public_map.at);
    return 0;
}
