/* umdh_inside.h - an open UMDH log; private to the umdh_ files. */
#ifndef ETLHEAP_UMDH_INSIDE_H
#define ETLHEAP_UMDH_INSIDE_H

#include "formats/umdh_log.h"
#include "umdh_lines.h"

#define UMDH_ID_SIZE (sizeof "BackTrace" + 16)

/* A log. Blocks are sorted by backtrace, modules and addresses by address. */
struct etlheap_umdh {
    umdh_lines lines;
    etlheap_umdh_info info;
    etlheap_table table;
    etlheap_row *rows;
    u32 row_count;
    char (*ids)[UMDH_ID_SIZE]; /* of the rows */
    u64 *addresses;            /* distinct addresses of the frames, ascending */
    u32 address_count;
    etlheap_frame *frames;
    u32 *stack_starts;
    u32 stack_count;
    u32 *frame_indices;
    u64 file_bytes; /* 0: parsed from memory */
};

/* Returns the bytes, or if they are UTF-16, as PowerShell redirects output, their conversion to
 * UTF-8: then free *text. ETL_ERR_LIMIT, ETL_ERR_MEMORY. */
etl_status umdh_text_of(etl_bytes bytes, char **text, etl_bytes *out, etl_error *err);

/* Fills the table from the log's rows, frames and stacks, and adds the rows to the totals. For a
 * comparison, the totals must already have the overhead, which its rows lack. */
void umdh_set_table(etlheap_umdh *log);

#endif
