/* allocation_rows.h - shared by lists of lifetimes: a lifetime as a row of a table, and frames as
 * text. */
#ifndef ETLHEAP_ALLOCATION_ROWS_H
#define ETLHEAP_ALLOCATION_ROWS_H

#include "formats/io/text_buffer.h"

/* The keys at the start of a row, in all formats. */
#define ETLHEAP_ALLOCATION_KEYS 5
extern const etlheap_key etlheap_allocation_keys[ETLHEAP_ALLOCATION_KEYS];

/* Makes a row with the lifetime's keys, for functions that write keys; it has no measures. */
etlheap_row etlheap_allocation_row(const etlheap_lifetimes *walk, const etlheap_lifetime *lifetime);

/* Texts of frames, as from etlheap_text_add_frame; for a terminal, with the function first. Lists
 * have the same frames many times, so each text is made once. Start from {0}. */
typedef struct etlheap_frame_texts {
    bool is_shown; /* for a terminal: replaces what cannot be printed */
    etlheap_text text, scratch;
    size_t *ends; /* by frame */
    u32 count, capacity;
    bool failed; /* out of memory: missing texts are "" */
} etlheap_frame_texts;

/* The text of a frame of the table, without a NUL; valid until the next call. The table may get new
 * frames, but must keep the ones it has. */
etl_bytes etlheap_frame_texts_of(etlheap_frame_texts *texts, const etlheap_table *table, u32 frame);
void etlheap_frame_texts_free(etlheap_frame_texts *texts);

#endif
