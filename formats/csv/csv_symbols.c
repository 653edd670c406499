/*
 * csv_symbols.c - which modules have symbols, as comma-separated values.
 *
 * What JSON lists by kind under `sites` are columns here, with the kind before the key:
 * heap_size, heap_named_size.
 */
#include "csv_rows.h"
#include "formats/writers.h"

#include <stdio.h>

#define NAME_SIZE 64

/* X(field, value of the module's row `r`). */
#define SYMBOL_COLUMNS(X)                                                                          \
    X(MODULE, etlheap_value_text(r->module->name))                                                 \
    X(STATUS, etlheap_value_text(etlheap_symbol_state_word(r->state)))                             \
    X(EXPECTED, etlheap_value_text(r->expected))                                                   \
    X(FILE, etlheap_value_text(r->file))                                                           \
    X(NOTE, etlheap_value_text(r->note))                                                           \
    X(PATH, etlheap_value_text(r->module->path))

static const etlheap_field fields[] = { SYMBOL_COLUMNS(ETLHEAP_COLUMN_FIELD) };
static const etlheap_field_list columns = { fields, NULL, ETL_COUNT_OF(fields) };

/* Few traces have the other kinds, so that most files have the same columns. */
static bool has_columns(const etlheap_symbol_list *list, int kind)
{
    return etlheap_kind_has((u32)kind, ETLHEAP_KIND_COMMON) || list->size[kind] != 0;
}

static void add_size(etlheap_csv *csv, etlheap_kind kind, etlheap_field field)
{
    char name[NAME_SIZE];
    if (csv->layout.titles)
        snprintf(name, sizeof name, "%s %s (B)", etlheap_kind_name(kind),
                 etlheap_field_title(field));
    else
        snprintf(name, sizeof name, "%s_%s", etlheap_kind_name(kind), etlheap_field_key(field));
    etlheap_csv_text(csv, name);
}

static void write_head(etlheap_csv *csv, const etlheap_symbol_list *list)
{
    etlheap_csv_fields(csv, &columns);
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (!has_columns(list, kind))
            continue;
        add_size(csv, (etlheap_kind)kind, ETLHEAP_FIELD_SIZE);
        add_size(csv, (etlheap_kind)kind, ETLHEAP_FIELD_NAMED_SIZE);
    }
    etlheap_csv_line(csv);
}

static void write_module(etlheap_csv *csv, const etlheap_symbol_list *list,
                         const etlheap_symbol_module *r)
{
    const etlheap_value values[] = { SYMBOL_COLUMNS(ETLHEAP_COLUMN_VALUE) };
    etlheap_csv_values(csv, &columns, values);
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (!has_columns(list, kind))
            continue;
        etlheap_csv_number(csv, r->size[kind]);
        etlheap_csv_number(csv, r->named_size[kind]);
    }
    etlheap_csv_line(csv);
}

etl_status etlheap_write_symbols_csv(const etlheap_result *result, const etlheap_symbol_list *list,
                                     const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_csv csv;
    const etl_status status = etlheap_csv_begin(given, sink, &csv);
    if (status != ETL_OK)
        return status;
    (void)result;
    write_head(&csv, list);
    for (u32 i = 0; i < list->module_count; i++)
        write_module(&csv, list, &list->modules[i]);
    return etlheap_csv_end(&csv);
}
