/*
 * markdown.h - writes Markdown for GitHub, GitLab and Azure DevOps.
 *
 * Names from a trace may contain anything: markup is escaped, and what would break a line of a
 * table is replaced. Functions and files are written as code, in which servers look for neither
 * markup nor mentions.
 */
#ifndef ETLHEAP_MARKDOWN_H
#define ETLHEAP_MARKDOWN_H

#include "formats/io/text_buffer.h"
#include "formats/parts/more_rows.h"

typedef struct etlheap_markdown_column {
    const char *title;
    bool right; /* numbers */
} etlheap_markdown_column;

/* Writes running text. */
void etlheap_markdown_text(etlheap_sink *sink, const char *text);

/* Writes code, also in a cell of a table; nothing for "". */
void etlheap_markdown_code(etlheap_sink *sink, const char *text);

/* Writes a command, outside of tables. */
void etlheap_markdown_command(etlheap_sink *sink, const char *text);

/* Writes "### title" between empty lines. */
void etlheap_markdown_heading(etlheap_sink *sink, const char *title);

/* Writes a paragraph. */
void etlheap_markdown_paragraph(etlheap_sink *sink, const char *text);

/* Writes the two lines above the rows of a table. A row is a line: "| a | b |". */
void etlheap_markdown_columns(etlheap_sink *sink, const etlheap_markdown_column *columns,
                              u32 count);

/* Writes a heading about a trace: the words, then its files. `scratch` is overwritten. */
void etlheap_markdown_trace(etlheap_sink *sink, const char *words, const etlheap_trace_info *trace,
                            etlheap_text *scratch);

/* Writes a key of a row as one cell, a stack as its first frames. `scratch` is overwritten. */
void etlheap_markdown_key(etlheap_sink *sink, const etlheap_table *table, const etlheap_row *row,
                          etlheap_key key, u32 frames_max, etlheap_text *scratch);

/* Writes frames as one cell: the first `frames_max` from `first` on, innermost first, one per
 * line. */
void etlheap_markdown_frames(etlheap_sink *sink, const etlheap_table *table, etlheap_indices frames,
                             u32 frames_max);

/* Writes the keys of a row that several runs share, one cell each: a process is only a name. */
void etlheap_markdown_compared_keys(const etlheap_table *table, const etlheap_row *row,
                                    u32 frames_max, etlheap_text *text, etlheap_sink *sink);

/* Writes, after a table, how many rows are left out, and what shows them; `noun` is the word for
 * one row. Nothing if none is. */
void etlheap_markdown_more(etlheap_sink *sink, u32 left_out, u32 listed, const char *noun,
                           etl_hint_fn *hint);

/* The same for rows of a table, and why they are left out. `scratch` is overwritten. */
void etlheap_markdown_more_rows(etlheap_sink *sink, const etlheap_more_rows *more,
                                etl_hint_fn *hint, etlheap_text *scratch);

/* Writes how much excluded frames left out, a paragraph for each run; nothing if nothing was to be
 * left out. `names` as for etlheap_excluded_add. */
void etlheap_markdown_excluded(etlheap_sink *sink, const etlheap_layout *layout,
                               const char *const *names);

/* Writes what the trace lost or where it is damaged, one line each; nothing if there is nothing. */
void etlheap_markdown_losses(etlheap_sink *sink, const char *whose, const etl_diag_counts *counts,
                             etl_hint_fn *hint);

#endif
