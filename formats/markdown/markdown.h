/*
 * markdown.h - parts of Markdown as GitHub, GitLab and Azure DevOps read it.
 *
 * Names from a trace may hold anything: what would be markup is escaped, what would break a
 * line of a table is replaced. Functions and files are code, in which servers look for neither
 * markup nor mentions.
 */
#ifndef ETLHEAP_MARKDOWN_H
#define ETLHEAP_MARKDOWN_H

#include "formats/io/text_buffer.h"

typedef struct etlheap_markdown_column {
    const char *title;
    bool right; /* numbers */
} etlheap_markdown_column;

/* Running text. */
void etlheap_markdown_text(etlheap_sink *sink, const char *text);

/* Code, also in a cell of a table; nothing for "". */
void etlheap_markdown_code(etlheap_sink *sink, const char *text);

/* "### title", between empty lines. */
void etlheap_markdown_heading(etlheap_sink *sink, const char *title);

/* A paragraph of its own. */
void etlheap_markdown_paragraph(etlheap_sink *sink, const char *text);

/* The two lines above the rows of a table. A row is a line: "| a | b |". */
void etlheap_markdown_columns(etlheap_sink *sink, const etlheap_markdown_column *columns,
                              u32 count);

/* The heading of what is about a trace: the words, then its files. `scratch` is overwritten. */
void etlheap_markdown_trace(etlheap_sink *sink, const char *words, const etlheap_trace_info *trace,
                            etlheap_text *scratch);

/* A key of a row as one cell, a stack as its first frames. `scratch` is overwritten. */
void etlheap_markdown_key(etlheap_sink *sink, const etlheap_table *table, const etlheap_row *row,
                          etlheap_key key, u32 frames_max, etlheap_text *scratch);

/* Frames as one cell: the first `frames_max` from `first` on, innermost first, a line each. */
void etlheap_markdown_frames(etlheap_sink *sink, const etlheap_table *table, etlheap_indices frames,
                             u32 frames_max);

/* The keys of a row that several runs have in common, a cell each: a process is a name alone. */
void etlheap_markdown_compared_keys(const etlheap_table *table, const etlheap_row *row,
                                    u32 frames_max, etlheap_text *text, etlheap_sink *sink);

/* Behind a table: how many rows are left out, and what shows them; the noun is that of one row.
 * Nothing if none is. */
void etlheap_markdown_more(etlheap_sink *sink, u32 left_out, const char *noun, etl_hint_fn *hint);

/* What the trace lost or where it is damaged, one line each; nothing if nothing was. */
void etlheap_markdown_losses(etlheap_sink *sink, const char *whose, const etl_diag_counts *counts,
                             etl_hint_fn *hint);

#endif
