/*
 * text_sources.c - writes lines of source code for people.
 *
 * In: the lines of places. Out: for each place, where it is, what may be wrong with it, and its
 * lines with their numbers; the line itself has a mark. Invariant: lines come from files that
 * anybody may have written, so only what is printable is written, and blanks in place of tabs.
 */
#include "formats/parts/display.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/source_lines.h"
#include "formats/parts/text_parts.h"

#include <stdio.h>

#define TAB_COLUMNS 4u

static const char *const reasons[] = {
    [ETLHEAP_SOURCE_UNMAPPED] = "No folder is given for files of this path.",
    [ETLHEAP_SOURCE_MISSING] = "The file was not found.",
    [ETLHEAP_SOURCE_REFUSED] = "The file is outside the given folder, or not a regular file.",
    [ETLHEAP_SOURCE_UNREADABLE] = "The file cannot be read.",
    [ETLHEAP_SOURCE_TOO_LARGE] = "The file is larger than 4 MiB.",
    [ETLHEAP_SOURCE_BINARY] = "The file is not text.",
    [ETLHEAP_SOURCE_PAST_END] = "The file has fewer lines.",
};

/* Appends a line with blanks up to the next stop in place of each tab. */
static void add_without_tabs(etlheap_text *text, const char *line, size_t size)
{
    u32 column = 0;
    while (size > 0) {
        const size_t plain = etl_min_u64(size, (u64)strcspn(line, "\t\n"));
        etlheap_text_add(text, line, plain);
        column += etlheap_display_width(line, plain);
        line += plain;
        size -= plain;
        if (size == 0)
            break;
        const u32 blanks = TAB_COLUMNS - column % TAB_COLUMNS;
        etlheap_text_add(text, "    ", blanks);
        column += blanks;
        line++;
        size--;
    }
}

static u32 digits_of(u32 number)
{
    char text[16];
    return (u32)snprintf(text, sizeof text, "%u", number);
}

static void write_lines(const etlheap_source_part *part, const etlheap_layout *layout,
                        etlheap_text *text, etlheap_sink *sink)
{
    const char *at = part->text;
    const int width = (int)digits_of(part->first_line + part->line_count - 1);
    etlheap_sink_text(sink, "\n");
    for (u32 i = 0; i < part->line_count; i++) {
        const u32 number = part->first_line + i;
        const bool is_it = number == part->line;
        const size_t size = strcspn(at, "\n");
        etlheap_text_clear(text);
        add_without_tabs(text, at, size);
        etlheap_sink_text(sink, is_it && layout->colour ? "\x1b[1m" : "");
        etlheap_sink_format(sink, "%c %*u%s", is_it ? '>' : ' ', width, number,
                            text->size > 0 ? "  " : "");
        etlheap_sink_printable(sink, etlheap_text_of(text), text->size);
        etlheap_sink_text(sink, is_it && layout->colour ? "\x1b[0m\n" : "\n");
        at += size + 1;
    }
}

static void write_part(const etlheap_source_part *part, const etlheap_layout *layout,
                       etlheap_text *text, etlheap_sink *sink)
{
    char line[16];
    snprintf(line, sizeof line, ":%u", part->line);
    etlheap_sink_printable(sink, part->file, strlen(part->file));
    etlheap_sink_format(sink, "%s\n", line);
    if (part->path) {
        etlheap_sink_printable(sink, part->path, strlen(part->path));
        etlheap_sink_format(sink, "%s\n", line);
    }
    if (part->status != ETLHEAP_SOURCE_SHOWN)
        etlheap_sink_format(sink, "%s\n", reasons[part->status]);
    if (part->state == ETLHEAP_SOURCE_CHANGED)
        etlheap_sink_text(sink,
                          "The file has changed since it was compiled: lines may be others.\n");
    if (part->line_count > 0)
        write_lines(part, layout, text, sink);
}

etl_status etlheap_source_lines_write_text(const etlheap_source_lines *lines,
                                           const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout layout;
    etlheap_text text = { 0 };
    const etl_status status = etlheap_layout_read(given, &layout);
    if (status != ETL_OK)
        return status;
    for (u32 i = 0; i < lines->count; i++) {
        etlheap_sink_text(sink, i > 0 ? "\n" : "");
        write_part(&lines->at[i], &layout, &text, sink);
    }
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
