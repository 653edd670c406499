/*
 * export_html_code.h - numbers as text that is short: the tables of an HTML report.
 *
 * A report of ten thousand stacks has a million numbers, most of them small. As
 * decimals with commas they would be several MB; here a number below 32 is a
 * character. It is the base64 VLQ of JavaScript's source maps, without signs: digits
 * of 5 bits in the base64 alphabet, the lowest first, with bit 5 set in all but the
 * last. 0 is "A", 31 is "f", 32 is "gB", 1000 is "of".
 */
#ifndef ETLHEAP_EXPORT_HTML_CODE_H
#define ETLHEAP_EXPORT_HTML_CODE_H

#include "formats/io/text_buffer.h"

void html_code_add(etlheap_text *text, u64 value);

/* Values that should not be negative, but come from sums that may have stopped at the
 * end of their range: those count as 0. */
void html_code_add_signed(etlheap_text *text, i64 value);

/*
 * What a row does in the first `window_count` windows, which follow each other without
 * gaps. For each window with news:
 *
 *     8 * (windows skipped since the last one written) + bits
 *     bit 0: count and size of what is allocated in it (AIFI + AIFO)
 *     bit 1: count and size of what is freed in it     (AIFI + AOFI)
 *     bit 2: by how much the peak in it is above what is outstanding at both its ends
 *
 * With what is outstanding as the first window begins, the sums over any run of
 * windows follow exactly. Returns how many windows have news.
 */
u32 html_code_add_cells(etlheap_text *text, const etlheap_windows *windows, u32 row,
                        u32 window_count);

/* Count and size of what is outstanding as the first window begins. */
typedef struct html_amount {
    i64 count, size;
} html_amount;

html_amount html_start_of(const etlheap_windows *windows, u32 row);

#endif
