/*
 * csv_rows.c - writes CSV: the names in the first line, then the cells of each row.
 *
 * In: the columns of an answer with the values of a row, or a table with the keys of a row. Out:
 * cells, separated by commas, in a sink.
 *
 * Some keys take two columns, so that spreadsheets can sort by either: process and pid, type and
 * impacting type, generation and mark. Invariant: etlheap_csv_key_names and write_key must agree on
 * the columns of each key, or all columns after it shift. An unknown value is an empty cell, never
 * a word.
 */
#include "csv_rows.h"

#include "formats/parts/field_units.h"
#include "formats/parts/layout_read.h"
#include "formats/writers.h"

etl_status etlheap_csv_begin(const etlheap_layout *given, etlheap_sink *sink, etlheap_csv *out)
{
    *out = (etlheap_csv){ .sink = sink };
    return etlheap_layout_read(given, &out->layout);
}

etl_status etlheap_csv_end(etlheap_csv *csv)
{
    const bool failed = csv->text.failed;
    etlheap_text_free(&csv->text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}

void etlheap_csv_line(etlheap_csv *csv)
{
    etlheap_sink_text(csv->sink, "\n");
    csv->filled = false;
}

static void begin_cell(etlheap_csv *csv)
{
    etlheap_sink_text(csv->sink, csv->filled ? "," : "");
    csv->filled = true;
}

/* --- the header ------------------------------------------------------------------------- */

void etlheap_csv_field(etlheap_csv *csv, etlheap_field field)
{
    etlheap_csv_field_unit(csv, field, etlheap_field_unit(field));
}

void etlheap_csv_field_unit(etlheap_csv *csv, etlheap_field field, const char *unit)
{
    char title[ETLHEAP_TITLE_SIZE];
    etlheap_title_with_unit(etlheap_field_title(field), unit, title);
    etlheap_csv_text(csv, csv->layout.titles ? title : etlheap_field_key(field));
}

void etlheap_csv_fields(etlheap_csv *csv, const etlheap_field_list *columns)
{
    for (u32 i = 0; i < columns->count; i++)
        etlheap_csv_field(csv, columns->fields[etlheap_column_at(columns, i)]);
}

void etlheap_csv_key_names(etlheap_csv *csv, const etlheap_table *table)
{
    for (u32 k = 0; k < table->group_by_count; k++) {
        const etlheap_field detail = etlheap_key_detail(table->group_by[k]);
        etlheap_csv_field(csv, etlheap_key_field(table->group_by[k]));
        if (detail != ETLHEAP_FIELDS_COUNT)
            etlheap_csv_field(csv, detail);
    }
}

/* --- cells ------------------------------------------------------------------------------ */

void etlheap_csv_text(etlheap_csv *csv, const char *text)
{
    begin_cell(csv);
    etlheap_csv_cell(csv->sink, text);
}

void etlheap_csv_number(etlheap_csv *csv, i64 number)
{
    const etlheap_value value = etlheap_value_number(number);
    etlheap_csv_value(csv, &value);
}

void etlheap_csv_value(etlheap_csv *csv, const etlheap_value *value)
{
    char name[ETLHEAP_HEAP_NAME_SIZE];
    begin_cell(csv);
    switch (value->form) {
    case ETLHEAP_VALUE_UNKNOWN:
        return;
    case ETLHEAP_VALUE_NUMBER:
    case ETLHEAP_VALUE_TIME:
        etlheap_sink_signed(csv->sink, (i64)value->number);
        return;
    case ETLHEAP_VALUE_COUNT:
    case ETLHEAP_VALUE_TRUTH:
        etlheap_sink_unsigned(csv->sink, value->number);
        return;
    case ETLHEAP_VALUE_ADDRESS:
        etlheap_sink_text(csv->sink, "0x");
        etlheap_sink_hex(csv->sink, value->number, 1);
        return;
    case ETLHEAP_VALUE_HEAP:
        etlheap_heap_name(value->number, name);
        etlheap_csv_cell(csv->sink, value->text ? value->text : name);
        return;
    case ETLHEAP_VALUE_TEXT:
    case ETLHEAP_VALUE_PROCESS:
        etlheap_csv_cell(csv->sink, value->text);
        return;
    }
}

void etlheap_csv_values(etlheap_csv *csv, const etlheap_field_list *columns,
                        const etlheap_value *values)
{
    for (u32 i = 0; i < columns->count; i++)
        etlheap_csv_value(csv, &values[etlheap_column_at(columns, i)]);
}

/* --- keys ------------------------------------------------------------------------------- */

static void write_mark(etlheap_csv *csv, const etlheap_row *row)
{
    etlheap_text_clear(&csv->text);
    etlheap_text_add_mark(&csv->text, row->mark, row->mark_number);
    etlheap_csv_text(csv, etlheap_text_of(&csv->text));
}

static void write_stack(etlheap_csv *csv, const etlheap_table *table, u32 stack)
{
    const etlheap_indices frames = etlheap_stack_members(table, stack);
    etlheap_text_clear(&csv->text);
    for (u32 i = 0; i < frames.count; i++) {
        etlheap_text_add_string(&csv->text, i > 0 ? " < " : "");
        etlheap_text_add_frame(&csv->text, &table->frames[frames.at[i]]);
    }
    etlheap_csv_text(csv, etlheap_text_of(&csv->text));
}

static void write_count(etlheap_csv *csv, bool is_known, u64 number)
{
    const etlheap_value value = etlheap_value_if(is_known, ETLHEAP_VALUE_COUNT, number);
    etlheap_csv_value(csv, &value);
}

/* Writes the cell or cells of one key. An unknown value leaves its cell empty. */
static void write_key(etlheap_csv *csv, const etlheap_table *table, const etlheap_row *row,
                      etlheap_key key)
{
    const etlheap_key_value value = etlheap_row_value(row, key);
    switch (value.form) {
    case ETLHEAP_FORM_PROCESS:
        etlheap_csv_text(csv, value.text);
        write_count(csv, value.number != ETL_NO_ID, value.number);
        return;
    case ETLHEAP_FORM_TYPE:
        etlheap_csv_text(csv, value.text);
        if (etlheap_key_detail(key) != ETLHEAP_FIELDS_COUNT)
            etlheap_csv_text(csv, etlheap_impacting_type_name((etlheap_type)row->type));
        return;
    case ETLHEAP_FORM_STACK:
        write_stack(csv, table, (u32)value.number);
        return;
    case ETLHEAP_FORM_KIND:
    case ETLHEAP_FORM_NAME:
    case ETLHEAP_FORM_TYPE_NAME:
        etlheap_csv_text(csv, value.is_known ? value.text : "");
        if (etlheap_key_detail(key) != ETLHEAP_FIELDS_COUNT)
            etlheap_csv_text(csv, value.detail != NULL ? value.detail : "");
        return;
    case ETLHEAP_FORM_THREAD:
        write_count(csv, value.is_known, value.number);
        return;
    case ETLHEAP_FORM_GENERATION:
        write_count(csv, true, value.number);
        write_mark(csv, row);
        return;
    case ETLHEAP_FORM_SIZE:
        write_count(csv, true, value.number);
        return;
    case ETLHEAP_FORM_FRAME:
    case ETLHEAP_FORM_HEAP:
        etlheap_text_clear(&csv->text);
        if (value.is_known)
            etlheap_text_add_key(&csv->text, table, row, key);
        etlheap_csv_text(csv, etlheap_text_of(&csv->text));
        return;
    }
}

void etlheap_csv_keys(etlheap_csv *csv, const etlheap_table *table, const etlheap_row *row)
{
    for (u32 k = 0; k < table->group_by_count; k++)
        write_key(csv, table, row, table->group_by[k]);
}

void etlheap_csv_compared_name(etlheap_csv *csv, etlheap_field key)
{
    etlheap_csv_field(csv, key);
    if (key == ETLHEAP_FIELD_TYPE)
        etlheap_csv_field(csv, ETLHEAP_FIELD_IMPACTING_TYPE);
}

void etlheap_csv_compared_keys(etlheap_csv *csv, const etlheap_table *table, const etlheap_row *row)
{
    for (u32 k = 0; k < table->group_by_count; k++) {
        if (table->group_by[k] == ETLHEAP_KEY_PROCESS) {
            etlheap_text_clear(&csv->text);
            etlheap_text_add_key(&csv->text, table, row, ETLHEAP_KEY_PROCESS);
            etlheap_csv_text(csv, etlheap_text_of(&csv->text));
        } else {
            write_key(csv, table, row, table->group_by[k]);
        }
    }
}
