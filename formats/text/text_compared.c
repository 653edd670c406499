/*
 * text_compared.c - writes the keys of rows that several runs have in common, for diffs and trends:
 * a process is only a name.
 */
#include "text_compared.h"

#include "formats/parts/text_parts.h"

bool text_compared_by_kind(const etlheap_table *table)
{
    for (u32 k = 0; k < table->group_by_count; k++) {
        if (table->group_by[k] == ETLHEAP_KEY_KIND)
            return true;
    }
    return false;
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
