/*
 * wpa_frames.c - numbers the frames of several tables, each frame once, by everything that is known
 * about it.
 */
#include "wpa_frames.h"

#include <stdlib.h>

#define CAPACITY_FIRST 256u

static u32 number_of(wpa_frames *frames, const etlheap_frame *frame);
static void make_key(etlheap_text *key, const etlheap_frame *frame);
static void add_name(etlheap_text *key, const char *name);
static void *with_room(void *items, u32 needed, u32 *capacity, size_t item_size);

const u32 *wpa_frames_of(wpa_frames *frames, const etlheap_table *table)
{
    u32 *const numbers =
        with_room(frames->numbers, table->frame_count, &frames->number_capacity, sizeof *numbers);
    frames->failed |= numbers == NULL && table->frame_count > 0;
    if (frames->failed)
        return NULL;
    frames->numbers = numbers;
    for (; frames->number_count < table->frame_count && !frames->failed; frames->number_count++)
        numbers[frames->number_count] = number_of(frames, &table->frames[frames->number_count]);
    return frames->failed ? NULL : numbers;
}

void wpa_frames_next_table(wpa_frames *frames)
{
    frames->number_count = 0;
}

void wpa_frames_free(wpa_frames *frames)
{
    export_numbers_free(&frames->keys);
    etlheap_text_free(&frames->key);
    free(frames->frames);
    free(frames->numbers);
    *frames = (wpa_frames){ 0 };
}

static u32 number_of(wpa_frames *frames, const etlheap_frame *frame)
{
    u32 number;
    make_key(&frames->key, frame);
    const etl_bytes key = { (const u8 *)etlheap_text_of(&frames->key), frames->key.size };
    const bool is_new = export_number_of(&frames->keys, key, &number);
    frames->failed |= frames->key.failed || frames->keys.failed;
    if (!is_new || frames->failed)
        return number;
    etlheap_frame *const copies =
        with_room(frames->frames, number + 1, &frames->capacity, sizeof *copies);
    frames->failed |= copies == NULL;
    if (copies) {
        frames->frames = copies;
        copies[number] = *frame;
    }
    return number;
}

static void make_key(etlheap_text *key, const etlheap_frame *frame)
{
    const u64 numbers[] = { frame->address, frame->offset, frame->displacement, frame->line,
                            (u64)frame->is_inlined << 1 | frame->is_nearest };
    etlheap_text_clear(key);
    etlheap_text_add(key, (const char *)numbers, sizeof numbers);
    add_name(key, frame->module);
    add_name(key, frame->symbol);
    add_name(key, frame->file);
}

/* No name is told from an empty one; a terminator ends each. */
static void add_name(etlheap_text *key, const char *name)
{
    if (name) {
        etlheap_text_add(key, "=", 1);
        etlheap_text_add_string(key, name);
    }
    etlheap_text_add(key, "", 1);
}

/* NULL: no memory; the items are then as they were. */
static void *with_room(void *items, u32 needed, u32 *capacity, size_t item_size)
{
    const size_t wanted = (size_t)needed + needed / 2 + CAPACITY_FIRST;
    if (needed <= *capacity)
        return items;
    void *const grown = wanted > UINT32_MAX ? NULL : realloc(items, wanted * item_size);
    if (grown)
        *capacity = (u32)wanted;
    return grown;
}
