/*
 * wpa_frames.h - frames of several tables, each numbered once.
 *
 * Two frames are one if all that is known of them is the same.
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
    u32 *numbers; /* by frame of the table at hand */
    u32 number_count, number_capacity;
    etlheap_text key;
    bool failed;
} wpa_frames;

/* The number of each frame that the table has by now; valid until the next call, and
 * only while nothing failed. */
const u32 *wpa_frames_of(wpa_frames *frames, const etlheap_table *table);

/* Frames of another table will be asked for. */
void wpa_frames_next_table(wpa_frames *frames);

static inline u32 wpa_frames_count(const wpa_frames *frames)
{
    return frames->keys.count;
}

void wpa_frames_free(wpa_frames *frames);

#endif
