/*
 * export_html_code.h - numbers as short text: the tables of an HTML report.
 *
 * A report of ten thousand stacks has a million numbers, most of them small. As decimals with
 * commas they would take several MB; here a number below 32 is one character. The code is the
 * base64 VLQ of JavaScript's source maps, without signs: digits of 5 bits in the base64 alphabet,
 * the lowest first, with bit 5 set in all but the last. 0 is "A", 31 is "f", 32 is "gB", 1000 is
 * "of".
 */
#ifndef ETLHEAP_EXPORT_HTML_CODE_H
#define ETLHEAP_EXPORT_HTML_CODE_H

#include "formats/io/text_buffer.h"

void html_code_add(etlheap_text *text, u64 value);

/* Adds a value that should not be negative, but comes from sums that may have reached the limit of
 * their range: negative ones count as 0. */
void html_code_add_signed(etlheap_text *text, i64 value);

/*
 * Adds what a row does in the first `window_count` windows, which follow each other without gaps.
 * For each window with a change:
 *
 *     8 * (windows skipped since the last one written) + bits
 *     bit 0: count and size of what is allocated in it (AIFI + AIFO)
 *     bit 1: count and size of what is freed in it     (AIFI + AOFI)
 *     bit 2: how far its peak is above the outstanding amounts at both its ends
 *
 * Together with the outstanding amount at the start of the first window, this gives the sums over
 * any run of windows exactly. Returns the number of windows with a change.
 *
 * Stops when the text is longer than `size_max` bytes, because cells that do not fit are not used.
 */
u32 html_code_add_cells(etlheap_text *text, const etlheap_windows *windows, u32 row,
                        u32 window_count, size_t size_max);

/* The count and size outstanding at the start of the first window. */
typedef struct html_amount {
    i64 count, size;
} html_amount;

html_amount html_start_of(const etlheap_windows *windows, u32 row);

#endif
