/*
 * markdown.c - writes parts of Markdown as GitHub, GitLab and Azure DevOps read it.
 *
 * In: text that may come from a trace. Out: escaped Markdown: paragraphs, code, tables. Invariant:
 * whatever would be markup is escaped, and what would break a line of a table is replaced; names of
 * functions and files are code, in which servers look for no mentions.
 */
#include "markdown.h"

#include "formats/io/units.h"
#include "formats/parts/display.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/text_parts.h"

#include <inttypes.h>

void etlheap_markdown_text(etlheap_sink *sink, const char *text)
{
    static const char special[] = "\\`*_{}[]<>#|~&!$@";
    etlheap_text shown = { 0 };
    etlheap_display_add(&shown, text);
    for (const char *at = etlheap_text_of(&shown); *at != '\0'; at++) {
        if (strchr(special, *at))
            etlheap_sink_text(sink, "\\");
        etlheap_sink_write(sink, at, 1);
    }
    etlheap_text_free(&shown);
}

/* The fence is longer than any run of backticks inside. A bar would end a cell: a backslash before
 * it is taken away when the line is cut into cells, also in code. */
static void write_code(etlheap_sink *sink, const char *text, const char *bar)
{
    etlheap_text shown = { 0 };
    size_t longest = 0;
    etlheap_display_add(&shown, text);
    const char *const code = etlheap_text_of(&shown);
    for (const char *at = code; *at != '\0'; at++) {
        const size_t run = strspn(at, "`");
        longest = run > longest ? run : longest;
        at += run > 0 ? run - 1 : 0;
    }
    if (*code != '\0') {
        etlheap_sink_fill(sink, '`', longest + 1);
        etlheap_sink_text(sink, longest > 0 ? " " : "");
        for (const char *at = code; *at != '\0'; at++) {
            if (*at == '|')
                etlheap_sink_text(sink, bar);
            else
                etlheap_sink_write(sink, at, 1);
        }
        etlheap_sink_text(sink, longest > 0 ? " " : "");
        etlheap_sink_fill(sink, '`', longest + 1);
    }
    etlheap_text_free(&shown);
}

void etlheap_markdown_code(etlheap_sink *sink, const char *text)
{
    write_code(sink, text, "\\|");
}

void etlheap_markdown_command(etlheap_sink *sink, const char *text)
{
    write_code(sink, text, "|");
}

void etlheap_markdown_heading(etlheap_sink *sink, const char *title)
{
    etlheap_sink_text(sink, "### ");
    etlheap_markdown_text(sink, title);
    etlheap_sink_text(sink, "\n\n");
}

void etlheap_markdown_paragraph(etlheap_sink *sink, const char *text)
{
    etlheap_markdown_text(sink, text);
    etlheap_sink_text(sink, "\n\n");
}

void etlheap_markdown_columns(etlheap_sink *sink, const etlheap_markdown_column *columns, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        etlheap_sink_text(sink, "| ");
        etlheap_markdown_text(sink, columns[i].title);
        etlheap_sink_text(sink, " ");
    }
    etlheap_sink_text(sink, "|\n");
    for (u32 i = 0; i < count; i++)
        etlheap_sink_text(sink, columns[i].right ? "| ---: " : "| :--- ");
    etlheap_sink_text(sink, "|\n");
}

void etlheap_markdown_frames(etlheap_sink *sink, const etlheap_table *table, etlheap_indices frames,
                             u32 frames_max)
{
    const u32 shown = (u32)etl_min_u64(frames.count, frames_max);
    etlheap_text text = { 0 };
    for (u32 i = 0; i < shown; i++) {
        etlheap_text_clear(&text);
        etlheap_text_add_frame(&text, &table->frames[frames.at[i]]);
        etlheap_text_add_source(&text, &table->frames[frames.at[i]]);
        etlheap_sink_text(sink, i > 0 ? "<br>" : "");
        etlheap_markdown_code(sink, etlheap_text_of(&text));
    }
    if (shown < frames.count)
        etlheap_sink_format(sink, "%s(%" PRIu32 " more)", shown > 0 ? "<br>" : "",
                            frames.count - shown);
    etlheap_text_free(&text);
}

void etlheap_markdown_trace(etlheap_sink *sink, const char *words, const etlheap_trace_info *trace,
                            etlheap_text *scratch)
{
    etlheap_text_clear(scratch);
    etlheap_text_add_string(scratch, words);
    for (u32 i = 0; i < trace->file_count; i++) {
        etlheap_text_add_string(scratch, i > 0 ? ", " : "");
        etlheap_text_add_string(scratch, trace->files[i]);
    }
    etlheap_markdown_heading(sink, etlheap_text_of(scratch));
}

void etlheap_markdown_key(etlheap_sink *sink, const etlheap_table *table, const etlheap_row *row,
                          etlheap_key key, u32 frames_max, etlheap_text *scratch)
{
    const etlheap_indices frames = etlheap_row_frames(table, row);
    if (etlheap_key_is_stack(key) && frames.count > 0) {
        etlheap_markdown_frames(sink, table, frames, frames_max);
        return;
    }
    etlheap_text_clear(scratch);
    etlheap_text_add_key_source(scratch, table, row, key);
    etlheap_markdown_code(sink, etlheap_text_of(scratch));
}

void etlheap_markdown_more(etlheap_sink *sink, u32 left_out, u32 listed, const char *noun,
                           etl_hint_fn *hint)
{
    etlheap_text text = { 0 };
    if (left_out == 0)
        return;
    etlheap_more_add(&text, left_out, listed, noun);
    etlheap_sink_format(sink, "%s%s\n\n", etlheap_text_of(&text),
                        etlheap_hint_words(hint, ETL_HINT_MORE_ROWS));
    etlheap_text_free(&text);
}

void etlheap_markdown_more_rows(etlheap_sink *sink, const etlheap_more_rows *more,
                                etl_hint_fn *hint, etlheap_text *scratch)
{
    const char *const words = etlheap_hint_words(hint, ETL_HINT_MORE_ROWS);
    etlheap_text_clear(scratch);
    if (etlheap_more_rows_later(more, scratch))
        etlheap_sink_format(sink, "%s%s\n\n", etlheap_text_of(scratch),
                            etlheap_more_rows_follow(more) ? words : "");
    etlheap_text_clear(scratch);
    if (etlheap_more_rows_empty(more, scratch))
        etlheap_sink_format(sink, "%s%s\n\n", etlheap_text_of(scratch), words);
}

void etlheap_markdown_excluded(etlheap_sink *sink, const etlheap_layout *layout,
                               const char *const *names)
{
    etlheap_text text = { 0 };
    for (u32 run = 0; run < layout->excluded_count; run++) {
        etlheap_text_clear(&text);
        etlheap_text_add_string(&text, "Left out: ");
        etlheap_excluded_add(&text, layout, run, names);
        etlheap_text_add_string(&text, ".");
        etlheap_markdown_paragraph(sink, etlheap_text_of(&text));
    }
    etlheap_text_free(&text);
}

void etlheap_markdown_losses(etlheap_sink *sink, const char *whose, const etl_diag_counts *counts,
                             etl_hint_fn *hint)
{
    bool any = false;
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        char count[ETLHEAP_UNITS_SIZE], sentence[ETLHEAP_SENTENCE_SIZE];
        if (counts->of[i] == 0 || etl_diag_describe((etl_diag)i)->severity == ETL_SEVERITY_INFO)
            continue;
        any = true;
        etlheap_units_count((i64)etl_min_u64(counts->of[i], INT64_MAX), count);
        etlheap_diag_sentence((etl_diag)i, hint, sentence);
        etlheap_sink_format(sink, "- %s%s ", whose, count);
        etlheap_markdown_code(sink, etl_diag_describe((etl_diag)i)->name);
        etlheap_sink_text(sink, ": ");
        etlheap_markdown_text(sink, sentence);
        etlheap_sink_text(sink, "\n");
    }
    etlheap_sink_text(sink, any ? "\n" : "");
}
