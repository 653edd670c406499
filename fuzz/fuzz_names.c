/*
 * fuzz_names.c - any bytes as the PDB of a module, from which an answer gets its names.
 *
 * fuzz_pdb.c stops at what the parser returns. Here the whole way is taken: the file is found on a
 * symbol path and checked, addresses become frames with inlined calls, files and allocated types,
 * and reports, lists and profiles are written with them. The PDB is always the one that the module
 * wants, so a mismatch never ends the run early.
 *
 * In: bytes of a PDB. Out: nothing, or a crash. Invariant that it checks: whatever the names are,
 * documents hold no broken UTF-8, and no control characters. In cells of CSV, names are as they
 * are.
 */
#include "fuzz.h"

#include "engine/names/symbols.h"
#include "formats/formats.h"
#include "formats/io/units.h"
#include "parser/pdb.h"
#include "tests/support/hand_result.h"

#include <stdio.h>
#include <stdlib.h>

#define PID     10u
#define BASE    UINT64_C(0x400000)
#define STACKS  48u
#define DEPTH   5u
#define SPACING 9u /* bytes between two addresses */

typedef struct named_world {
    etlheap_result *result;
    etlheap_symbols *symbols;
    etlheap_query query;
    etlheap_table *table;
} named_world;

/* The module wants the very PDB that is there. */
static void identify(etlheap_result *result, etl_bytes bytes, const char *name)
{
    etlheap_module_info *const info = &result->modules.list.at[0];
    etl_pdb_file *file = NULL;
    etl_error err;
    info->has_rsds = true;
    info->pdb_name = name;
    if (etl_pdb_open_memory(bytes, &file, &err) != ETL_OK)
        return;
    info->guid = etl_pdb_info_of(file)->guid;
    info->age = etl_pdb_info_of(file)->age;
    etl_pdb_close(file);
}

static void add_blocks(etlheap_result *result, u32 process)
{
    u64 frames[DEPTH];
    for (u32 i = 0; i < STACKS; i++) {
        for (u32 k = 0; k < DEPTH; k++)
            frames[k] = BASE + 0x1000 + SPACING * (i * DEPTH + k);
        const lifetime row = { .alloc_ticks = HAND_START_TICKS + 1 + i,
                               .free_ticks = ETLHEAP_TICKS_NEVER,
                               .address = 4096u * (1 + i),
                               .size = 16,
                               .heap = 1,
                               .process = process,
                               .stack = hand_stack(result, frames, DEPTH),
                               .kind = ETLHEAP_KIND_HEAP };
        hand_lifetime(result, &row);
    }
}

static bool open_world(named_world *w, etl_bytes bytes)
{
    const char *const path = fuzz_file(bytes.at, bytes.size);
    const char *const name = strrchr(path, '/') + 1;
    char folder[64];
    const hand_image_spec image = { .kind = ETL_EVENT_IMAGE_DCSTART,
                                    .pid = PID,
                                    .base = BASE,
                                    .size_bytes = 0x1000000,
                                    .ticks = HAND_START_TICKS,
                                    .path = "C:\\app.exe" };
    const etlheap_symbol_options options = { .size = sizeof options, .path = folder, .jobs = 1 };
    etl_error err;
    memcpy(folder, path, (size_t)(name - path));
    folder[name - path] = '\0';
    *w = (named_world){ .result = hand_result_new(), .query = etlheap_query_default() };
    const u32 process = hand_process(w->result, PID, "app.exe");
    hand_image(&w->result->context, &image);
    add_blocks(w->result, process);
    hand_ready(w->result, HAND_START_TICKS + 10000);
    w->result->info.session = w->result->info.computer = "";
    w->result->info.clock = "qpc";
    identify(w->result, bytes, name);
    if (etlheap_symbols_open(w->result, &options, &w->symbols, &err) != ETL_OK)
        return false;
    w->query.jobs = 1;
    w->query.symbols = w->symbols;
    return etlheap_aggregate(w->result, &w->query, &w->table, &err) == ETL_OK &&
           etlheap_table_name(w->table, w->symbols, NULL, &err) == ETL_OK;
}

static void close_world(named_world *w)
{
    etlheap_table_free(w->table);
    etlheap_symbols_close(w->symbols);
    etlheap_result_free(w->result);
}

/* Stops the process if a document cannot be shown. Programs that read CSV get names unchanged. */
static void check_text(const etlheap_text *text, const char *format)
{
    const bool is_data = strcmp(format, "csv") == 0;
    for (size_t at = 0; at < text->size;) {
        const u8 byte = (u8)text->bytes[at];
        const size_t length = etlheap_units_utf8_length(text->bytes + at, text->size - at);
        const bool is_control = (byte < ' ' && byte != '\n') || byte == 0x7F;
        if (length == 0 || (is_control && !is_data)) {
            fprintf(stderr, "fuzz_names: %s has byte 0x%02x at %zu\n", format, byte, at);
            __builtin_trap();
        }
        at += length;
    }
}

typedef etl_status write_fn(const named_world *w, const etlheap_format *format,
                            const etlheap_layout *layout, etlheap_sink *sink);

static etl_status write_report(const named_world *w, const etlheap_format *format,
                               const etlheap_layout *layout, etlheap_sink *sink)
{
    return format->write_report ? format->write_report(w->result, w->table, layout, sink) : ETL_OK;
}

static etl_status write_list(const named_world *w, const etlheap_format *format,
                             const etlheap_layout *layout, etlheap_sink *sink)
{
    const etlheap_symbol_list *list = NULL;
    etl_error err;
    if (!format->write_symbols || etlheap_symbols_list(&w->query, &list, &err) != ETL_OK)
        return ETL_OK;
    const etl_status status = format->write_symbols(w->result, list, layout, sink);
    etlheap_symbol_list_free(list);
    return status;
}

static void write_all(const named_world *w, write_fn *write, etlheap_tree tree)
{
    etlheap_layout layout = etlheap_layout_default();
    layout.tree = tree;
    for (u32 i = 0; i < etlheap_format_count(); i++) {
        etlheap_text text = { NULL, 0, 0, false };
        etlheap_sink *sink = NULL;
        etl_error err;
        if (etlheap_sink_open_text(&text, &sink, &err) != ETL_OK)
            continue;
        (void)write(w, etlheap_format_at(i), &layout, sink);
        (void)etlheap_sink_close(sink, &err);
        check_text(&text, etlheap_format_at(i)->name);
        etlheap_text_free(&text);
    }
}

static void export_all(const named_world *w)
{
    for (u32 i = 0; i < etlheap_exporter_count(); i++) {
        const etlheap_exporter *const exporter = etlheap_exporter_at(i);
        const etlheap_export_request request = { .size = sizeof request,
                                                 .result = w->result,
                                                 .query = &w->query,
                                                 .metric =
                                                     etlheap_exporter_default_metric(exporter) };
        etlheap_text text = { NULL, 0, 0, false };
        etlheap_sink *sink = NULL;
        etl_error err;
        if (exporter->asks_map || etlheap_sink_open_text(&text, &sink, &err) != ETL_OK)
            continue;
        (void)etlheap_export(exporter, &request, sink, &err);
        (void)etlheap_sink_close(sink, &err);
        if (exporter->is_text)
            check_text(&text, exporter->name);
        etlheap_text_free(&text);
    }
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    named_world w;
    if (open_world(&w, (etl_bytes){ data, size })) {
        write_all(&w, write_report, ETLHEAP_TREE_NONE);
        write_all(&w, write_report, ETLHEAP_TREE_CALLEES);
        write_all(&w, write_list, ETLHEAP_TREE_NONE);
        /* Profiles take longer than all the rest. */
        if (!FUZZ_SAMPLE || size % 4 == 0)
            export_all(&w);
    }
    close_world(&w);
    return 0;
}
