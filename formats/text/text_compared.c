/*
 * text_compared.c - writes the keys of rows that several runs have in common, for diffs and trends:
 * a process is only a name.
 */
#include "text_compared.h"

#include "formats/parts/text_parts.h"

/* Are rows divided by kind? Else all count as one kind. */
static bool is_by_kind(const etlheap_table *table)
{
    for (u32 k = 0; k < table->group_by_count; k++) {
        if (table->group_by[k] == ETLHEAP_KEY_KIND)
            return true;
    }
    return false;
}

bool text_compared_begin_kind(const etlheap_table *table, u8 kind, const etlheap_layout *layout,
                              etlheap_sink *sink)
{
    u32 first = 0;
    while (first < table->row_count && table->rows[first].kind != kind)
        first++;
    if (first == table->row_count)
        return false;
    if (is_by_kind(table))
        etlheap_text_heading(sink, layout, etlheap_kind_name((etlheap_kind)kind));
    else
        etlheap_sink_text(sink, "\n");
    return true;
}

void text_compared_title(const etlheap_table *table, etlheap_text *text)
{
    for (u32 k = 0; k < table->group_by_count; k++) {
        const etlheap_key key = table->group_by[k];
        if (key == ETLHEAP_KEY_KIND)
            continue;
        etlheap_text_add_string(text, text->size > 0 ? " / " : "");
        etlheap_text_add_string(text, etlheap_key_title(key));
    }
    if (text->size == 0)
        etlheap_text_add_string(text, etlheap_key_title(ETLHEAP_KEY_KIND));
}

void text_compared_keys(const etlheap_table *table, const etlheap_row *row, etlheap_text *text)
{
    etlheap_text_clear(text);
    for (u32 k = 0; k < table->group_by_count; k++) {
        const etlheap_key key = table->group_by[k];
        if (key == ETLHEAP_KEY_KIND && table->group_by_count > 1)
            continue;
        etlheap_text_add_string(text, text->size > 0 ? "  " : "");
        etlheap_text_add_key_source(text, table, row, key);
    }
}
