/*
 * allocation_rows.h - what lists of lifetimes have in common: a lifetime as a row
 * of a table, and frames as text.
 */
#ifndef ETLHEAP_ALLOCATION_ROWS_H
#define ETLHEAP_ALLOCATION_ROWS_H

#include "formats/io/text_buffer.h"

/* What a row begins with, in all formats: keys of a table. */
#define ETLHEAP_ALLOCATION_KEYS 5
extern const etlheap_key etlheap_allocation_keys[ETLHEAP_ALLOCATION_KEYS];

/* The row's keys, for the writers of keys; it has no measures. */
etlheap_row etlheap_allocation_row(const etlheap_lifetimes *walk, const etlheap_lifetime *lifetime);

/* Frames as etlheap_text_add_frame says them, those shown with the function first. Lists have the same ones over and
 * over, so each is made once. Start from {0}. */
typedef struct etlheap_frame_texts {
    bool is_shown; /* they go to a terminal: what may not be shown is replaced */
    etlheap_text text, scratch;
    size_t *ends; /* by frame */
    u32 count, capacity;
    bool failed; /* out of memory: frames that are not there are "" */
} etlheap_frame_texts;

/* The text of a frame of the table, whose frames stay as they are but for new ones
 * behind them. Not terminated; valid until the next call. */
etl_bytes etlheap_frame_texts_of(etlheap_frame_texts *texts, const etlheap_table *table, u32 frame);
void etlheap_frame_texts_free(etlheap_frame_texts *texts);

#endif
