/*
 * export_html_blocks.h - single blocks of the stacks that an HTML report shows.
 *
 * Whoever found the stack wants to see its blocks: where they are, how large, from when to when.
 * A trace may have billions of them, so the page has a few of each stack: those that were not
 * freed first, and the largest of them first. They are looked for among the largest of all
 * blocks, so small blocks of a stack with many others may be missing. The page says how many of
 * a stack's blocks it has, and what lists all of them.
 */
#ifndef ETLHEAP_EXPORT_HTML_BLOCKS_H
#define ETLHEAP_EXPORT_HTML_BLOCKS_H

#include "export_html.h"

#define HTML_OUTSTANDING_MAX 3000 /* blocks that are looked at, of each of the two lists */
#define HTML_FREED_MAX       1500
#define HTML_BLOCKS_OF_ROW   25
#define HTML_BLOCK_BYTES     100000

/* Start from {0}. */
struct html_blocks {
    struct html_block *at; /* in the order of rows; of a row, as the page shows them */
    u32 count, capacity;
};

/* ETL_ERR_MEMORY, LIMIT, IO, CORRUPT, CANCELLED. A result that keeps no addresses, or no
 * lifetimes one by one, has no blocks to show, and that is no error. To be closed in any case. */
etl_status html_blocks_find(const html_answers *answers, const html_choice *choice,
                            html_blocks *out, etl_error *err);
void html_blocks_close(html_blocks *blocks);

/*
 * Adds them as numbers (export_html_code.h), as many as fit. For each row that has some, how many
 * rows further it is than the last one, from -1; how many blocks; and for each block
 *
 *     size, address, thread + 1 or 0, free type, allocated at, freed at
 *
 * A time is 0 when it is not known, else 1 + 2 * ns, and 1 more below zero. `page_rows` says for
 * each row of the table which row of the page it is.
 */
void html_blocks_add(const html_blocks *blocks, const u32 *page_rows, etlheap_text *text);

#endif
