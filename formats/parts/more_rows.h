/* more_rows.h - says which rows a list leaves out, and why. */
#ifndef ETLHEAP_MORE_ROWS_H
#define ETLHEAP_MORE_ROWS_H

#include "formats/io/text_buffer.h"
#include "formats/formats.h"

/* The rows of a table that etlheap_layout_choose does not list. Kinds are never added up. */
typedef struct etlheap_more_rows {
    u32 later[ETLHEAP_KIND_COUNT];   /* behind the first rows_max */
    u32 empty[ETLHEAP_KIND_COUNT];   /* with 0 in the sort measure */
    i64 amounts[ETLHEAP_KIND_COUNT]; /* of the later ones, in `measure` */
    etlheap_measure measure;         /* one that adds up */
    etlheap_measure sort;
    u32 rows_max;
    u32 rows_skip, listed; /* rows before the first that is listed, and how many are */
    bool of_each_kind;
    bool without_amounts; /* rows share blocks */
    const char *noun;     /* "row"; the plural has an s */
} etlheap_more_rows;

etlheap_more_rows etlheap_more_rows_of(const etlheap_table *table, const etlheap_layout *layout,
                                       const bool *listed);

/* Appends a sentence about the later rows: "12 more rows of heap with 599 KiB outstanding, 3 of
 * virtualalloc with 10.0 MiB: only the first 25 of each kind are listed". False if there are
 * none. If rows are skipped, the sentence says which are listed: "Rows 26 to 50 of 5,310 are
 * listed". */
bool etlheap_more_rows_later(const etlheap_more_rows *more, etlheap_text *text);

/* Do rows follow those that are listed, which a larger limit would list? */
bool etlheap_more_rows_follow(const etlheap_more_rows *more);

/* Appends a sentence about the empty rows: "33 rows of heap have nothing outstanding and are not
 * listed". False if there are none. */
bool etlheap_more_rows_empty(const etlheap_more_rows *more, etlheap_text *text);

/* Appends "3 more suspects: only the first 25 are listed", for lists of other things. The plural of
 * the noun has an s. */
void etlheap_more_add(etlheap_text *text, u64 count, u64 listed, const char *noun);

#endif
