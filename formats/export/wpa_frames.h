/*
 * wpa_frames.h - numbers the frames of several tables, each once.
 *
 * Two frames are the same if everything known about them is the same.
 */
#ifndef ETLHEAP_WPA_FRAMES_H
#define ETLHEAP_WPA_FRAMES_H

#include "formats/parts/export_numbers.h"

/* Start from {0}. Running out of memory is sticky (`failed`). Names are borrowed from
 * the result and its symbols. */
typedef struct wpa_frames {
    export_numbers keys;
    etlheap_frame *frames; /* by number */
    u32 capacity;
    u32 *numbers; /* by frame of the current table */
    u32 number_count, number_capacity;
    etlheap_text key;
    bool failed;
} wpa_frames;

/* The number of each frame in the table; valid until the next call, and only if nothing failed. */
const u32 *wpa_frames_of(wpa_frames *frames, const etlheap_table *table);

/* Call it before using frames of another table. */
void wpa_frames_next_table(wpa_frames *frames);

static inline u32 wpa_frames_count(const wpa_frames *frames)
{
    return frames->keys.count;
}

void wpa_frames_free(wpa_frames *frames);

#endif
