/*
 * folded_path.c - a row as the path of a flame graph; see folded_path.h.
 */
#include "folded_path.h"

#include "export_samples.h"
#include "formats/io/text_buffer.h"
#include "formats/parts/display.h"

/* A semicolon in a name would end it. */
static void write_name(etlheap_text *name, bool is_first, etlheap_text *scratch, etlheap_sink *sink)
{
    etlheap_text_clear(scratch);
    etlheap_display_add(scratch, etlheap_text_of(name));
    etlheap_sink_text(sink, is_first ? "" : ";");
    for (size_t i = 0; i < scratch->size; i++)
        etlheap_sink_write(sink, scratch->bytes[i] == ';' ? ":" : &scratch->bytes[i], 1);
    etlheap_text_clear(name);
}

void folded_path_write(const etlheap_table *table, const etlheap_row *row, const etlheap_key *keys,
                       u32 key_count, etlheap_text *scratch, etlheap_sink *sink)
{
    const etlheap_indices frames = etlheap_row_frames(table, row);
    etlheap_text name = { 0 };
    bool has_stack = false;
    for (u32 i = 0; i < key_count; i++) {
        if (keys[i] == ETLHEAP_KEY_STACK) {
            has_stack = true;
            continue;
        }
        etlheap_text_add_key(&name, table, row, keys[i]);
        write_name(&name, i == 0, scratch, sink);
    }
    for (u32 i = has_stack ? frames.count : 0; i > 0; i--) {
        etlheap_text_add_frame(&name, &table->frames[frames.at[i - 1]]);
        write_name(&name, false, scratch, sink);
    }
    if (has_stack && frames.count == 0) {
        etlheap_text_add_string(&name, EXPORT_NO_STACK);
        write_name(&name, false, scratch, sink);
    }
    scratch->failed |= name.failed;
    etlheap_text_free(&name);
}
