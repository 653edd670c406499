/*
 * export_html_choice.h - chooses the rows that an HTML report shows one by one, and makes tables of
 * their stacks.
 *
 * A page has a budget of bytes. The rows with the largest peaks are taken until there are ten
 * thousand stacks, or the budget is used up. All others are shown as sums ("other stacks"), so that
 * totals are correct. The same rows give the same choice.
 */
#ifndef ETLHEAP_EXPORT_HTML_CHOICE_H
#define ETLHEAP_EXPORT_HTML_CHOICE_H

#include "formats/parts/export_numbers.h"

#define HTML_STACKS_MAX  10000
#define HTML_ROWS_MAX    20000
#define HTML_GROUPS_MAX  500
#define HTML_STACK_BYTES 1410000

/* Longer names are cut in the middle. */
#define HTML_NAME_BYTES_MAX 300

/* Start from {0}. */
typedef struct html_choice {
    u32 row_count;   /* number of rows shown of the table by stack */
    u32 group_count; /* number of rows shown of the table by heap */
    u32 *group_of;   /* by row of the table by stack: row in the table by heap */

    /* For each stack: the number of outermost frames it shares with the one before, the number of
     * others, and those, outermost first: 0 for a new frame, else its number + 1. All are written
     * with html_code_add. */
    etlheap_text stacks;
    u32 stack_count;
    u32 *stack_number; /* by stack of the table: its number, from 1; 0: not shown */

    /* For each frame: 8 times the number of its module, from 1, or 0 for none, plus bits. With bit
     * 0 the number of its name follows, else its offset in the module or its address; with bit 1
     * the number of its file, and the line; bit 2 marks inlined calls. */
    etlheap_text frames;
    export_numbers modules, names, files;
    u32 frame_count;
    u32 *frame_number; /* by frame of the table, from 1; 0: not shown */
    u32 names_cut;
    const char *latest_module; /* the last module numbered; NULL: none yet */
    u32 latest_number;
} html_choice;

/* Makes the choice. `rows` are grouped by kind, process, heap and stack, `groups` by the first
 * three; both begin with the largest peak. Close it in any case. ETL_ERR_MEMORY. */
etl_status html_choice_make(const etlheap_table *groups, const etlheap_table *rows,
                            html_choice *out, etl_error *err);
void html_choice_close(html_choice *choice);

/* Finds rows of one table in another by their keys: for the first `count` rows of a table grouped
 * by kind, process, heap and more, the rows in the table by the first three. False if memory runs
 * out. */
bool html_find_groups(const etlheap_table *groups, const etlheap_table *rows, u32 count,
                      u32 *group_of);

/* The bytes that rows, stacks and frames take in the page: an upper bound. */
u64 html_choice_bytes(const html_choice *choice);

/* Adds a name for the page: without control characters, and at most HTML_NAME_BYTES_MAX long. True
 * if it was cut. */
bool html_name_add(etlheap_text *text, const char *name);

#endif
