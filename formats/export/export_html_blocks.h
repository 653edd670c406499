/*
 * export_html_blocks.h - single blocks of the stacks in an HTML report.
 *
 * After finding a stack, people want to see its blocks: addresses, sizes and times. A trace may
 * have billions of blocks, so the page has a few per stack: first those that were not freed, the
 * largest first. They are chosen from the largest of all blocks, so small blocks of a stack with
 * many others may be missing. The page says how many of a stack's blocks it has, and how to list
 * all of them.
 */
#ifndef ETLHEAP_EXPORT_HTML_BLOCKS_H
#define ETLHEAP_EXPORT_HTML_BLOCKS_H

#include "export_html.h"

#define HTML_OUTSTANDING_MAX 3000 /* number of blocks examined in each of the two lists */
#define HTML_FREED_MAX       1500
#define HTML_BLOCKS_OF_ROW   25
#define HTML_BLOCK_BYTES     100000

/* Start from {0}. */
struct html_blocks {
    struct html_block *at; /* ordered by row, and within a row as the page shows them */
    u32 count, capacity;
};

/* Finds the blocks. A result without addresses or single lifetimes has no blocks, which is not an
 * error. Close it in any case. ETL_ERR_MEMORY, ETL_ERR_LIMIT, ETL_ERR_IO, ETL_ERR_CORRUPT,
 * ETL_ERR_CANCELLED. */
etl_status html_blocks_find(const html_answers *answers, const html_choice *choice,
                            html_blocks *out, etl_error *err);
void html_blocks_close(html_blocks *blocks);

/*
 * Adds the blocks as numbers (export_html_code.h), as many as fit. For each row with blocks: its
 * distance in rows from the last one, starting from -1; the number of blocks; and for each block
 *
 *     size, address, thread + 1 or 0, free type, allocated at, freed at
 *
 * A time is 0 if unknown, else 1 + 2 * ns, plus 1 if negative. `page_rows` has, for each row of the
 * table, its row in the page.
 */
void html_blocks_add(const html_blocks *blocks, const u32 *page_rows, etlheap_text *text);

#endif
