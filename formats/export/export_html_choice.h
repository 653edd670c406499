/*
 * export_html_choice.h - which rows an HTML report shows one by one, and their stacks
 * as tables.
 *
 * A page has a budget of bytes. The rows with the largest peaks are taken until ten
 * thousand stacks are there or the budget is spent; what is left is told as sums
 * ("other stacks"), so that totals stay true. The same rows give the same choice.
 */
#ifndef ETLHEAP_EXPORT_HTML_CHOICE_H
#define ETLHEAP_EXPORT_HTML_CHOICE_H

#include "formats/parts/export_numbers.h"

#define HTML_STACKS_MAX  10000
#define HTML_ROWS_MAX    20000
#define HTML_GROUPS_MAX  500
#define HTML_STACK_BYTES 1410000

/* Longer names are cut in their middle. */
#define HTML_NAME_BYTES_MAX 300

/* Start from {0}. */
typedef struct html_choice {
    u32 row_count;   /* the first rows of the table by stack are shown */
    u32 group_count; /* the first rows of the table by heap are shown */
    u32 *group_of;   /* by row of the table by stack: its row in the table by heap */

    /* For each stack how many outermost frames it shares with the one before, how many
     * others it has, and those, outermost first: 0 for one that was not met before, else
     * 1 more than its number. All are written by html_code_add. */
    etlheap_text stacks;
    u32 stack_count;
    u32 *stack_number; /* by stack of the table: its place among them, from 1; 0: not shown */

    /* For each frame 8 times the number of its module, from 1, or 0 for none, plus bits;
     * with bit 0 the number of its name, else its offset in the module or its address;
     * with bit 1 the number of its file, and the line; bit 2 is for inlined calls. */
    etlheap_text frames;
    export_numbers modules, names, files;
    u32 frame_count;
    u32 *frame_number; /* by frame of the table, from 1; 0: not shown */
    u32 names_cut;
    const char *latest_module; /* the module that was numbered last; NULL: none yet */
    u32 latest_number;
} html_choice;

/* Rows of `rows` are by kind, process, heap and stack, those of `groups` by the first
 * three; both begin with the largest peak. ETL_ERR_MEMORY; to be closed in any case. */
etl_status html_choice_make(const etlheap_table *groups, const etlheap_table *rows,
                            html_choice *out, etl_error *err);
void html_choice_close(html_choice *choice);

/* Tables have keys, not numbers in common: for the first `count` rows of a table that is grouped by
 * kind, process, heap and more, their rows in the table by the first three. False: out of
 * memory. */
bool html_find_groups(const etlheap_table *groups, const etlheap_table *rows, u32 count,
                      u32 *group_of);

/* What rows, stacks and frames take in the page, in bytes: an upper bound. */
u64 html_choice_bytes(const html_choice *choice);

/* A name as the page has it: no character that does more than show, and no longer than
 * HTML_NAME_BYTES_MAX. True: it was cut. */
bool html_name_add(etlheap_text *text, const char *name);

#endif
