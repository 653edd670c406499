/*
 * text_symbols.c - writes which modules have symbols, for people.
 *
 * In: an etlheap_symbol_list. Out: text: how much memory is named; then module after module, those
 * with the most memory first; then the files that are needed and those in use. Invariant: paths are
 * written whole, because users copy them from here.
 */
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "formats/parts/display.h"
#include "formats/parts/text_parts.h"
#include "formats/writers.h"
#include "formats/parts/layout_read.h"

#include <stdio.h>

#define INDENT           "  "
#define COLUMNS_MAX      (2 + 2 * ETLHEAP_KIND_COUNT)
#define TITLE_SIZE       32
#define NAME_COLUMNS_MAX 28

static etl_status write_totals(const etlheap_symbol_list *list, const etlheap_layout *layout,
                               etlheap_sink *sink);
static etl_status write_modules(const etlheap_symbol_list *list, const etlheap_layout *layout,
                                etlheap_sink *sink);
static void write_needed(const etlheap_symbol_list *list, const etlheap_layout *layout,
                         etlheap_text *text, etlheap_sink *sink);
static void write_used(const etlheap_symbol_list *list, const etlheap_layout *layout,
                       etlheap_text *text, etlheap_sink *sink);
static void add_module(const etlheap_symbol_list *list, const etlheap_symbol_module *row,
                       etlheap_grid *grid);
static bool is_named(const etlheap_symbol_module *row);
static void write_line(const etlheap_symbol_list *list, const etlheap_layout *layout,
                       const char *module, etlheap_text *text, etlheap_sink *sink);
static void add_sizes(etlheap_grid *grid, i64 size, i64 named_size);

etl_status etlheap_write_symbols_text(const etlheap_result *result, const etlheap_symbol_list *list,
                                      const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout own;
    const etlheap_layout *const layout = &own;
    const etl_status layout_status = etlheap_layout_read(given, &own);
    if (layout_status != ETL_OK)
        return layout_status;
    etlheap_text text = { 0 };
    etlheap_text_trace(sink, layout, etlheap_result_trace(result), &text);
    etl_status status = ETL_OK;
    if (list->module_count == 0)
        etlheap_text_heading(sink, layout, "No outstanding memory has a stack with modules in it.");
    else
        status = write_totals(list, layout, sink);
    if (status == ETL_OK && list->module_count > 0)
        status = write_modules(list, layout, sink);
    write_needed(list, layout, &text, sink);
    write_used(list, layout, &text, sink);
    etlheap_text_diagnostics(sink, layout, &list->diagnostics);
    if (text.failed)
        status = ETL_ERR_MEMORY;
    etlheap_text_free(&text);
    return status;
}

static etl_status write_totals(const etlheap_symbol_list *list, const etlheap_layout *layout,
                               etlheap_sink *sink)
{
    static const etlheap_column columns[] = { { .title = "Kind" },
                                              { .title = "Outstanding Size", .right = true },
                                              { .title = "Sites Named", .right = true } };
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (list->size[kind] == 0)
            continue;
        etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
        etlheap_grid_cell(&grid, etlheap_kind_name((etlheap_kind)kind));
        add_sizes(&grid, list->size[kind], list->named_size[kind]);
    }
    etlheap_sink_text(sink, "\n");
    return etlheap_grid_write(&grid, layout, sink);
}

static etl_status write_modules(const etlheap_symbol_list *list, const etlheap_layout *layout,
                                etlheap_sink *sink)
{
    char titles[ETLHEAP_KIND_COUNT][TITLE_SIZE];
    etlheap_column columns[COLUMNS_MAX] = { { .title = "Module", .flexible = true },
                                            { .title = "Status" } };
    u32 count = 2;
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (list->size[kind] == 0)
            continue;
        snprintf(titles[kind], sizeof titles[kind], "%s Size",
                 etlheap_kind_name((etlheap_kind)kind));
        columns[count++] = (etlheap_column){ .title = titles[kind], .right = true };
        columns[count++] = (etlheap_column){ .title = "Sites Named", .right = true };
    }
    etlheap_grid grid = etlheap_grid_begin(columns, count);
    for (u32 i = 0; i < list->module_count; i++) {
        add_module(list, &list->modules[i], &grid);
    }
    etlheap_sink_text(sink, "\n");
    return etlheap_grid_write(&grid, layout, sink);
}

static void add_module(const etlheap_symbol_list *list, const etlheap_symbol_module *row,
                       etlheap_grid *grid)
{
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_NONE);
    etlheap_grid_cell(grid, row->module->name);
    etlheap_grid_cell(grid, etlheap_symbol_state_word(row->state));
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (list->size[kind] != 0)
            add_sizes(grid, row->size[kind], row->named_size[kind]);
    }
}

/* Are the module's functions known? Exports are guesses. */
static bool is_named(const etlheap_symbol_module *row)
{
    return row->state == ETLHEAP_SYMBOL_STATE_FOUND || row->state == ETLHEAP_SYMBOL_STATE_LOOSE;
}

static void write_needed(const etlheap_symbol_list *list, const etlheap_layout *layout,
                         etlheap_text *text, etlheap_sink *sink)
{
    bool any = false;
    for (u32 i = 0; i < list->module_count; i++) {
        const etlheap_symbol_module *const row = &list->modules[i];
        if (is_named(row))
            continue;
        if (!any)
            etlheap_text_heading(sink, layout, "Needed, as NAME/KEY of a symbol store");
        any = true;
        etlheap_text_clear(text);
        etlheap_text_add_string(text, row->expected[0] != '\0' ? row->expected : "unknown");
        if (row->note[0] != '\0' && row->file) {
            etlheap_text_add_string(text, "; there is ");
            etlheap_text_add_string(text, row->file);
        }
        if (row->note[0] != '\0') {
            etlheap_text_add_string(text, ": ");
            etlheap_text_add_string(text, row->note);
        }
        write_line(list, layout, row->module->name, text, sink);
    }
}

static void write_used(const etlheap_symbol_list *list, const etlheap_layout *layout,
                       etlheap_text *text, etlheap_sink *sink)
{
    bool any = false;
    for (u32 i = 0; i < list->module_count; i++) {
        const etlheap_symbol_module *const row = &list->modules[i];
        const bool is_used = is_named(row) || row->state == ETLHEAP_SYMBOL_STATE_EXPORTS;
        if (!is_used || !row->file)
            continue;
        if (!any)
            etlheap_text_heading(sink, layout, "In use");
        any = true;
        etlheap_text_clear(text);
        etlheap_text_add_string(text, row->file);
        write_line(list, layout, row->module->name, text, sink);
    }
}

/* Writes the module, and text about it from one column on. Names come from the trace and paths from
 * the file system, so they are shown only as far as they are printable. */
static void write_line(const etlheap_symbol_list *list, const etlheap_layout *layout,
                       const char *module, etlheap_text *text, etlheap_sink *sink)
{
    u32 column = 0;
    for (u32 i = 0; i < list->module_count; i++) {
        const char *const name = list->modules[i].module->name;
        column = (u32)etl_max_u64(column, etlheap_display_width(name, strlen(name)));
    }
    column = (u32)etl_min_u64(column, NAME_COLUMNS_MAX) + 2;
    etlheap_text shown = { 0 };
    etlheap_display_add(&shown, module);
    const u32 width = etlheap_display_width(etlheap_text_of(&shown), shown.size);
    etlheap_sink_text(sink, etlheap_text_of(&shown));
    etlheap_sink_fill(sink, ' ', width < column ? column - width : 1);
    etlheap_text_clear(&shown);
    etlheap_display_add(&shown, etlheap_text_of(text));
    etlheap_display_wrap(sink, etlheap_text_of(&shown), (u32)etl_max_u64(column, width + 1), column,
                         layout->width);
    text->failed |= shown.failed;
    etlheap_text_free(&shown);
}

/* Adds sizes and the share; there is no share of 0. */
static void add_sizes(etlheap_grid *grid, i64 size, i64 named_size)
{
    char share[ETLHEAP_UNITS_SIZE] = "";
    etlheap_grid_size(grid, size);
    if (size != 0)
        etlheap_units_share(named_size, size, share);
    etlheap_grid_cell(grid, share);
}
