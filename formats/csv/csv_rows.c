/*
 * csv_rows.c - writes the keys of table rows as CSV: the names in the first line, and the cells of
 * each row.
 *
 * In: a table and its rows. Out: cells, separated by commas, in a sink.
 *
 * Some keys take two columns, so that spreadsheets can sort by either: process and pid, type and
 * impacting type, generation and mark. Invariant: etlheap_csv_head_keys and write_key must agree on
 * the columns of each key, or all columns after it shift. An unknown value is an empty cell, never
 * a word.
 */
#include "csv_rows.h"

#include "formats/parts/field_units.h"
#include "formats/io/text_buffer.h"
#include "formats/writers.h"

#include <inttypes.h>

etlheap_csv_head etlheap_csv_head_begin(const etlheap_layout *layout, etlheap_sink *sink)
{
    return (etlheap_csv_head){ .sink = sink, .titles = layout->titles };
}

void etlheap_csv_head_field(etlheap_csv_head *head, etlheap_field field)
{
    etlheap_csv_head_unit(head, field, etlheap_field_unit(field));
}

void etlheap_csv_head_unit(etlheap_csv_head *head, etlheap_field field, const char *unit)
{
    char title[ETLHEAP_TITLE_SIZE];
    etlheap_title_with_unit(etlheap_field_title(field), unit, title);
    etlheap_csv_head_name(head, head->titles ? title : etlheap_field_key(field));
}

void etlheap_csv_head_name(etlheap_csv_head *head, const char *name)
{
    etlheap_sink_text(head->sink, head->filled ? "," : "");
    etlheap_csv_cell(head->sink, name);
    head->filled = true;
}

void etlheap_csv_head_end(etlheap_csv_head *head)
{
    etlheap_sink_text(head->sink, "\n");
}

void etlheap_csv_head_keys(etlheap_csv_head *head, const etlheap_table *table)
{
    for (u32 k = 0; k < table->group_by_count; k++) {
        const etlheap_field detail = etlheap_key_detail(table->group_by[k]);
        etlheap_csv_head_field(head, etlheap_key_field(table->group_by[k]));
        if (detail != ETLHEAP_FIELDS_COUNT)
            etlheap_csv_head_field(head, detail);
    }
}

static void write_generation(const etlheap_row *row, etlheap_text *text, etlheap_sink *sink)
{
    etlheap_sink_format(sink, "%" PRIu32 ",", row->generation);
    etlheap_text_clear(text);
    etlheap_text_add_mark(text, row->mark, row->mark_number);
    etlheap_csv_cell(sink, etlheap_text_of(text));
}

static void write_stack(const etlheap_table *table, u32 stack, etlheap_text *text,
                        etlheap_sink *sink)
{
    const etlheap_indices frames = etlheap_stack_members(table, stack);
    etlheap_text_clear(text);
    for (u32 i = 0; i < frames.count; i++) {
        etlheap_text_add_string(text, i > 0 ? " < " : "");
        etlheap_text_add_frame(text, &table->frames[frames.at[i]]);
    }
    etlheap_csv_cell(sink, etlheap_text_of(text));
}

/* Writes the cell or cells of one key. An unknown value leaves its cell empty. */
static void write_key(const etlheap_table *table, const etlheap_row *row, etlheap_key key,
                      etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_key_value value = etlheap_row_value(row, key);
    switch (value.form) {
    case ETLHEAP_FORM_PROCESS:
        etlheap_csv_cell(sink, value.text);
        etlheap_sink_text(sink, ",");
        if (value.number != ETL_NO_ID)
            etlheap_sink_unsigned(sink, value.number);
        return;
    case ETLHEAP_FORM_TYPE:
        etlheap_sink_text(sink, value.text);
        if (etlheap_key_detail(key) == ETLHEAP_FIELDS_COUNT)
            return;
        etlheap_sink_text(sink, ",");
        etlheap_sink_text(sink, etlheap_impacting_type_name((etlheap_type)row->type));
        return;
    case ETLHEAP_FORM_STACK:
        write_stack(table, (u32)value.number, text, sink);
        return;
    case ETLHEAP_FORM_KIND:
    case ETLHEAP_FORM_NAME:
    case ETLHEAP_FORM_TYPE_NAME:
        etlheap_csv_cell(sink, value.is_known ? value.text : "");
        return;
    case ETLHEAP_FORM_THREAD:
        if (value.is_known)
            etlheap_sink_unsigned(sink, value.number);
        return;
    case ETLHEAP_FORM_GENERATION:
        write_generation(row, text, sink);
        return;
    case ETLHEAP_FORM_SIZE:
        etlheap_sink_unsigned(sink, value.number);
        return;
    case ETLHEAP_FORM_FRAME:
    case ETLHEAP_FORM_HEAP:
        etlheap_text_clear(text);
        if (value.is_known)
            etlheap_text_add_key(text, table, row, key);
        etlheap_csv_cell(sink, etlheap_text_of(text));
        return;
    }
}

void etlheap_csv_keys(const etlheap_table *table, const etlheap_row *row, etlheap_text *scratch,
                      etlheap_sink *sink)
{
    for (u32 k = 0; k < table->group_by_count; k++) {
        write_key(table, row, table->group_by[k], scratch, sink);
        etlheap_sink_text(sink, ",");
    }
}
