/*
 * umdh_inside.h - an open log of UMDH. Private to the umdh_ files.
 */
#ifndef ETLHEAP_UMDH_INSIDE_H
#define ETLHEAP_UMDH_INSIDE_H

#include "formats/umdh_log.h"
#include "umdh_lines.h"

#define UMDH_ID_SIZE (sizeof "BackTrace" + 16)

/* Blocks are sorted by backtrace, modules by base, addresses by themselves. */
struct etlheap_umdh {
    umdh_lines lines;
    etlheap_umdh_info info;
    etlheap_table table;
    etlheap_row *rows;
    u32 row_count;
    char (*ids)[UMDH_ID_SIZE]; /* of the rows */
    u64 *addresses;            /* distinct, ascending: those of the frames */
    u32 address_count;
    etlheap_frame *frames;
    u32 *stack_starts;
    u32 stack_count;
    u32 *frame_indices;
    u64 file_bytes; /* 0: it was parsed from memory */
};

/* The bytes, or if they are UTF-16, as what PowerShell redirects, the same in UTF-8: then *text
 * is to be freed. LIMIT, MEMORY. */
etl_status umdh_text_of(etl_bytes bytes, char **text, etl_bytes *out, etl_error *err);

/* Fills the table of the rows, frames and stacks that are there, and adds the rows to the
 * totals. A comparison has put the overhead there, which no row of it tells. */
void umdh_set_table(etlheap_umdh *log);

#endif
