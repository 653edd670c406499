/*
 * allocation_rows.c - presents a lifetime as a row of a table, and caches the text of its frames,
 * for all lists of lifetimes.
 */
#include "allocation_rows.h"

#include "display.h"

#include <stdlib.h>

const etlheap_key etlheap_allocation_keys[ETLHEAP_ALLOCATION_KEYS] = {
    ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS,   ETLHEAP_KEY_HEAP,
    ETLHEAP_KEY_TYPE, ETLHEAP_KEY_FREE_TYPE,
};

const etlheap_field etlheap_allocation_fields[ETLHEAP_ALLOCATION_COLUMN_COUNT] = {
    ETLHEAP_ALLOCATION_COLUMNS(ETLHEAP_COLUMN_FIELD)
};

static bool add_frames(etlheap_frame_texts *texts, const etlheap_table *table);

void etlheap_allocation_values(const etlheap_lifetime *l,
                               etlheap_value out[ETLHEAP_ALLOCATION_COLUMN_COUNT])
{
    const etlheap_value values[] = { ETLHEAP_ALLOCATION_COLUMNS(ETLHEAP_COLUMN_VALUE) };
    memcpy(out, values, sizeof values);
}

etlheap_row etlheap_allocation_row(const etlheap_lifetimes *walk, const etlheap_lifetime *lifetime)
{
    const etlheap_process_info *const process =
        etlheap_process_of(etlheap_lifetimes_result(walk), lifetime->process);
    return (etlheap_row){
        .kind = lifetime->kind,
        .type = lifetime->type,
        .free_type = lifetime->free_type,
        .process = process->name,
        .pid = process->pid,
        .thread = lifetime->thread,
        .thread_name = etlheap_process_thread_name(etlheap_lifetimes_result(walk),
                                                   lifetime->process, lifetime->thread),
        .has_heap = lifetime->has_heap,
        .heap_handle = lifetime->heap_handle,
        .heap_name = lifetime->heap_name,
        .stack = lifetime->stack,
        .frame = ETLHEAP_NO_INDEX,
        .free_stack = lifetime->free_stack,
        .free_frame = ETLHEAP_NO_INDEX,
        .free_thread = lifetime->free_thread,
    };
}

etl_bytes etlheap_frame_texts_of(etlheap_frame_texts *texts, const etlheap_table *table, u32 frame)
{
    assert(frame < table->frame_count);
    if (frame >= texts->count && !texts->failed)
        texts->failed = !add_frames(texts, table);
    if (frame >= texts->count)
        return (etl_bytes){ NULL, 0 };
    const size_t start = frame == 0 ? 0 : texts->ends[frame - 1];
    return (etl_bytes){ (const u8 *)texts->text.bytes + start, texts->ends[frame] - start };
}

void etlheap_frame_texts_free(etlheap_frame_texts *texts)
{
    etlheap_text_free(&texts->text);
    etlheap_text_free(&texts->scratch);
    free(texts->ends);
    *texts = (etlheap_frame_texts){ 0 };
}

/* All that the table has by now. */
static bool add_frames(etlheap_frame_texts *texts, const etlheap_table *table)
{
    if (table->frame_count > texts->capacity) {
        const size_t capacity = (size_t)table->frame_count + table->frame_count / 2;
        size_t *const ends =
            capacity > UINT32_MAX ? NULL : realloc(texts->ends, capacity * sizeof *ends);
        if (!ends)
            return false;
        texts->ends = ends;
        texts->capacity = (u32)capacity;
    }
    for (u32 i = texts->count; i < table->frame_count; i++) {
        etlheap_text_clear(&texts->scratch);
        if (texts->is_shown)
            etlheap_text_add_function(&texts->scratch, &table->frames[i]);
        else
            etlheap_text_add_frame(&texts->scratch, &table->frames[i]);
        if (texts->is_shown)
            etlheap_display_add(&texts->text, etlheap_text_of(&texts->scratch));
        else
            etlheap_text_add_string(&texts->text, etlheap_text_of(&texts->scratch));
        if (texts->text.failed || texts->scratch.failed)
            return false;
        texts->ends[i] = texts->text.size;
        texts->count = i + 1;
    }
    return true;
}
