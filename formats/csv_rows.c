/* csv_rows.c - see csv_rows.h. */
#include "csv_rows.h"

#include "text_buffer.h"
#include "writers.h"

#include <inttypes.h>

static void write_key(const etlheap_table *table, const etlheap_row *row, etlheap_key key,
                      etlheap_text *text, etlheap_sink *sink);
static void write_stack(const etlheap_table *table, const etlheap_row *row, etlheap_text *text,
                        etlheap_sink *sink);

void etlheap_csv_key_titles(const etlheap_table *table, etlheap_sink *sink)
{
    for (u32 k = 0; k < table->group_by_count; k++) {
        const etlheap_key key = table->group_by[k];
        etlheap_sink_text(sink, etlheap_key_title(key));
        if (key == ETLHEAP_KEY_PROCESS)
            etlheap_sink_text(sink, ",PID");
        if (key == ETLHEAP_KEY_TYPE)
            etlheap_sink_text(sink, ",Impacting Type");
        etlheap_sink_text(sink, ",");
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

/* Nothing between two commas is what CSV has for "unknown". */
static void write_key(const etlheap_table *table, const etlheap_row *row, etlheap_key key,
                      etlheap_text *text, etlheap_sink *sink)
{
    switch (key) {
    case ETLHEAP_KEY_PROCESS:
        etlheap_csv_cell(sink, row->process);
        etlheap_sink_text(sink, ",");
        if (row->pid != ETL_NO_ID)
            etlheap_sink_format(sink, "%" PRIu32, row->pid);
        return;
    case ETLHEAP_KEY_TYPE:
        etlheap_sink_text(sink, etlheap_type_name((etlheap_type)row->type));
        etlheap_sink_text(sink, ",");
        etlheap_sink_text(sink, etlheap_impacting_type_name((etlheap_type)row->type));
        return;
    case ETLHEAP_KEY_STACK:
        write_stack(table, row, text, sink);
        return;
    case ETLHEAP_KEY_MODULE:
        etlheap_csv_cell(sink, row->module ? row->module : "");
        return;
    case ETLHEAP_KEY_TYPE_NAME:
        etlheap_csv_cell(sink, row->type_name);
        return;
    case ETLHEAP_KEY_TAG:
        etlheap_csv_cell(sink, row->tag ? row->tag : "");
        return;
    case ETLHEAP_KEY_THREAD:
        if (row->thread != ETL_NO_ID)
            etlheap_sink_format(sink, "%" PRIu32, row->thread);
        return;
    case ETLHEAP_KEY_SIZE_CLASS:
        etlheap_sink_format(sink, "%" PRIu64, row->size_class_bytes);
        return;
    case ETLHEAP_KEY_FRAME:
    case ETLHEAP_KEY_SITE:
        if (row->frame == ETLHEAP_NO_INDEX)
            return;
        break;
    case ETLHEAP_KEY_KIND:
    case ETLHEAP_KEY_HEAP:
    case ETLHEAP_KEY_FREE_TYPE:
    case ETLHEAP_KEY_COUNT:
        break;
    }
    etlheap_text_clear(text);
    etlheap_text_add_key(text, table, row, key);
    etlheap_csv_cell(sink, etlheap_text_of(text));
}

static void write_stack(const etlheap_table *table, const etlheap_row *row, etlheap_text *text,
                        etlheap_sink *sink)
{
    const etlheap_indices frames = etlheap_row_frames(table, row);
    etlheap_text_clear(text);
    for (u32 i = 0; i < frames.count; i++) {
        etlheap_text_add_string(text, i > 0 ? " < " : "");
        etlheap_text_add_frame(text, &table->frames[frames.at[i]]);
    }
    etlheap_csv_cell(sink, etlheap_text_of(text));
}
