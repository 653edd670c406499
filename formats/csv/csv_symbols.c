/*
 * csv_symbols.c - which modules have symbols, as comma-separated values.
 *
 * What JSON lists by kind under `sites` are columns here, with the kind before the key:
 * heap_size, heap_named_size.
 */
#include "formats/writers.h"
#include "formats/parts/layout_read.h"
#include "csv_rows.h"

#include <stdio.h>

#define NAME_SIZE 64

static const etlheap_field own_fields[] = {
    ETLHEAP_FIELD_MODULE, ETLHEAP_FIELD_STATUS, ETLHEAP_FIELD_EXPECTED,
    ETLHEAP_FIELD_FILE,   ETLHEAP_FIELD_NOTE,   ETLHEAP_FIELD_PATH,
};

static bool has_columns(const etlheap_symbol_list *list, int kind);
static void write_head(const etlheap_symbol_list *list, const etlheap_layout *layout,
                       etlheap_sink *sink);
static void add_size(etlheap_csv_head *head, etlheap_kind kind, etlheap_field field);

etl_status etlheap_write_symbols_csv(const etlheap_result *result, const etlheap_symbol_list *list,
                                     const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout own;
    const etlheap_layout *const layout = &own;
    const etl_status layout_status = etlheap_layout_read(given, &own);
    if (layout_status != ETL_OK)
        return layout_status;
    (void)result;
    write_head(list, layout, sink);
    for (u32 i = 0; i < list->module_count; i++) {
        const etlheap_symbol_module *const row = &list->modules[i];
        const char *const cells[] = { row->module->name, etlheap_symbol_state_word(row->state),
                                      row->expected,     row->file ? row->file : "",
                                      row->note,         row->module->path };
        for (size_t c = 0; c < ETL_COUNT_OF(cells); c++) {
            etlheap_sink_text(sink, c > 0 ? "," : "");
            etlheap_csv_cell(sink, cells[c]);
        }
        for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
            if (!has_columns(list, kind))
                continue;
            etlheap_sink_text(sink, ",");
            etlheap_sink_signed(sink, row->size[kind]);
            etlheap_sink_text(sink, ",");
            etlheap_sink_signed(sink, row->named_size[kind]);
        }
        etlheap_sink_text(sink, "\n");
    }
    return ETL_OK;
}

/* Few traces have the other kinds, so that most files have the same columns. */
static bool has_columns(const etlheap_symbol_list *list, int kind)
{
    return etlheap_kind_has((u32)kind, ETLHEAP_KIND_COMMON) || list->size[kind] != 0;
}

static void write_head(const etlheap_symbol_list *list, const etlheap_layout *layout,
                       etlheap_sink *sink)
{
    etlheap_csv_head head = etlheap_csv_head_begin(layout, sink);
    for (size_t i = 0; i < ETL_COUNT_OF(own_fields); i++)
        etlheap_csv_head_field(&head, own_fields[i]);
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (!has_columns(list, kind))
            continue;
        add_size(&head, (etlheap_kind)kind, ETLHEAP_FIELD_SIZE);
        add_size(&head, (etlheap_kind)kind, ETLHEAP_FIELD_NAMED_SIZE);
    }
    etlheap_csv_head_end(&head);
}

static void add_size(etlheap_csv_head *head, etlheap_kind kind, etlheap_field field)
{
    char name[NAME_SIZE];
    if (head->titles)
        snprintf(name, sizeof name, "%s %s (B)", etlheap_kind_name(kind),
                 etlheap_field_title(field));
    else
        snprintf(name, sizeof name, "%s_%s", etlheap_kind_name(kind), etlheap_field_key(field));
    etlheap_csv_head_name(head, name);
}
