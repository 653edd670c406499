/*
 * text_allocations.c - writes one line for each lifetime.
 *
 * In: lifetimes from a walk. Out: lines, written as lifetimes are read:
 *
 *       Address    Size  Handle  Type  Alloc Time  Free Time  ...  Process         Site
 *     0x1f00120      24  0x1f0000 AIFO  1.234567800         -  ...  app.exe (4321)  f (app.exe)
 *
 * Columns are as wide as usual values need. If the output has a width, columns of least importance
 * are left out, and the process and the site, which is the innermost frame, are cut. If frames are
 * wanted, they are on lines of their own below, in place of the site:
 *
 *       Address    Size  Type  Alloc Time (s)  Process
 *     0x1f00120      24  AIFO     1.234567800  app.exe (4321)
 *         f (app.exe)
 *         main (app.exe)
 *
 * Invariant: up to the process, no word contains a space, so that programs can split lines.
 */
#include "formats/io/units.h"
#include "formats/parts/allocation_rows.h"
#include "formats/parts/display.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/short_names.h"
#include "formats/parts/text_parts.h"
#include "formats/writers.h"

#include <inttypes.h>
#include <stdio.h>

#define GAP             2
#define PROCESS_COLUMNS 24 /* at least */
#define SITE_COLUMNS    22 /* at least, unless that is more than half of what is left */
#define INDENT          4  /* of frames below a line */

typedef struct list_column {
    const char *title;
    u32 columns;
    bool is_left;
    u32 rank; /* those with a lower one are shown first */
    etlheap_allocation_column column;
} list_column;

/* State that all lines of a list share. */
typedef struct list_writer {
    const etlheap_layout *layout;
    u32 width; /* 0: lines have no end */
    u32 shown; /* columns by bit */
    bool has_sites;
    etlheap_frame_texts frames;
    etlheap_text text;
    etlheap_sink *sink;
} list_writer;

/* WPA's titles, and units where there are any. */
static const list_column list_columns[] = {
    { "Address", 16, false, 0, ETLHEAP_ALLOCATION_ADDRESS },
    { "Size", 10, false, 1, ETLHEAP_ALLOCATION_SIZE },
    { "Kind", 12, true, 8, ETLHEAP_ALLOCATION_KIND },
    { "Handle", 14, false, 6, ETLHEAP_ALLOCATION_HEAP },
    { "Type", 4, true, 3, ETLHEAP_ALLOCATION_TYPE },
    { "Alloc Time (s)", 14, false, 2, ETLHEAP_ALLOCATION_ALLOC_TIME },
    { "Free Time (s)", 14, false, 4, ETLHEAP_ALLOCATION_FREE_TIME },
    { "Lifetime (s)", 14, false, 5, ETLHEAP_ALLOCATION_LIFETIME },
    { "Free Type", 12, true, 9, ETLHEAP_ALLOCATION_FREE_TYPE },
    { "Is Realloc", 10, false, 10, ETLHEAP_ALLOCATION_IS_REALLOC },
    { "Thread", 6, false, 7, ETLHEAP_ALLOCATION_THREAD },
};

static u32 columns_that_fit(u32 width, bool has_sites);
static void write_head(const list_writer *w);
static u32 write_row(list_writer *w, const etlheap_lifetime *lifetime);
static void write_padded(etlheap_sink *sink, const list_column *column, const char *text,
                         u32 padding, bool is_first);
static u32 write_process(list_writer *w, const etlheap_row *row, u32 used);
static void write_site(list_writer *w, const etlheap_table *table, const etlheap_row *row,
                       u32 used);
static void write_stack(list_writer *w, const etlheap_table *table, const etlheap_row *row);
static void write_frame(list_writer *w, etl_bytes frame);
static void write_note(const list_writer *w);

etl_status etlheap_write_allocations_text(etlheap_lifetimes *walk, const etlheap_layout *given,
                                          etlheap_sink *sink)
{
    etlheap_layout own;
    const etl_status layout_status = etlheap_layout_read(given, &own);
    if (layout_status != ETL_OK)
        return layout_status;
    list_writer w = {
        .layout = &own,
        .width = own.whole ? 0 : own.width,
        .frames = { .is_shown = true },
        .sink = sink,
    };
    etlheap_lifetime lifetime;
    w.has_sites = own.frames_max == 0;
    w.shown = columns_that_fit(w.width, w.has_sites);
    write_head(&w);
    while (etlheap_sink_ok(sink) && etlheap_lifetimes_next(walk, &lifetime)) {
        const etlheap_row row = etlheap_allocation_row(walk, &lifetime);
        const u32 used = write_process(&w, &row, write_row(&w, &lifetime));
        if (w.has_sites)
            write_site(&w, etlheap_lifetimes_table(walk), &row, used);
        else
            write_stack(&w, etlheap_lifetimes_table(walk), &row);
        etlheap_sink_text(sink, "\n");
    }
    write_note(&w);
    const bool failed = w.frames.failed || w.text.failed;
    etlheap_frame_texts_free(&w.frames);
    etlheap_text_free(&w.text);
    return failed ? ETL_ERR_MEMORY : etlheap_lifetimes_status(walk, NULL);
}

/* The columns that fit, by rank, up to the first that does not fit beside the process. The first
 * two always stay. */
static u32 columns_that_fit(u32 width, bool has_sites)
{
    u32 shown = 0;
    u32 used = PROCESS_COLUMNS + (has_sites ? GAP + SITE_COLUMNS : 0);
    for (u32 rank = 0; rank < ETL_COUNT_OF(list_columns); rank++) {
        for (u32 c = 0; c < ETL_COUNT_OF(list_columns); c++) {
            if (list_columns[c].rank != rank)
                continue;
            used += list_columns[c].columns + GAP;
            if (width > 0 && rank > 1 && used > width)
                return shown;
            shown |= 1u << c;
        }
    }
    return shown;
}

/* Appends text from a file, cut to the columns; 0: not cut. */
static void add_cut(list_writer *w, const char *text, size_t size, u32 columns, bool is_name)
{
    const etlheap_fit fit = { columns, is_name, false, w->layout->ascii };
    if (columns == 0 || etlheap_display_width(text, size) <= columns)
        etlheap_text_add(&w->text, text, size);
    else
        etlheap_display_add_fitted(&w->text, text, size, &fit);
}

/* The columns that a line has left; 0 if it has no end, and at least 1 else. */
static u32 room_behind(const list_writer *w, u32 used)
{
    return w->width == 0 ? 0 : w->width > used ? w->width - used : 1;
}

/* The columns that the process may take beside the site; 0: any. */
static u32 room_of_process(const list_writer *w, u32 used)
{
    const u32 room = room_behind(w, used + GAP + (w->has_sites ? GAP : 0));
    const u32 site = w->has_sites ? (u32)etl_min_u64(SITE_COLUMNS, room / 2) : 0;
    return room == 0 ? 0 : (u32)etl_max_u64(room - site, 1);
}

/* Fills the column of the process, unless nothing follows. Returns how many columns of the line are
 * used then. */
static u32 end_process(const list_writer *w, u32 used, u32 columns)
{
    const u32 room = room_of_process(w, used);
    const u32 wanted = room == 0 ? PROCESS_COLUMNS : (u32)etl_min_u64(PROCESS_COLUMNS, room);
    const u32 padding = w->has_sites && columns < wanted ? wanted - columns : 0;
    etlheap_sink_fill(w->sink, ' ', padding);
    return used + GAP + columns + padding;
}

static void write_head(const list_writer *w)
{
    u32 used = 0;
    etlheap_emphasis_on(w->sink, w->layout, ETLHEAP_EMPHASIS_STRONG);
    for (u32 c = 0; c < ETL_COUNT_OF(list_columns); c++) {
        if (!(w->shown >> c & 1))
            continue;
        const char *const title = list_columns[c].title;
        write_padded(w->sink, &list_columns[c], title, list_columns[c].columns - (u32)strlen(title),
                     c == 0);
        used += list_columns[c].columns + (c == 0 ? 0 : GAP);
    }
    etlheap_sink_text(w->sink, "  Process");
    end_process(w, used, (u32)strlen("Process"));
    etlheap_sink_text(w->sink, w->has_sites ? "  Site" : "");
    etlheap_emphasis_off(w->sink, w->layout, ETLHEAP_EMPHASIS_STRONG);
    etlheap_sink_text(w->sink, "\n");
}

/* Writes a value as one word. */
static void value_word(const etlheap_value *value, char out[ETLHEAP_UNITS_SIZE])
{
    if (value->form == ETLHEAP_VALUE_TIME)
        etlheap_units_seconds((i64)value->number, out);
    else if (value->form == ETLHEAP_VALUE_HEAP)
        etlheap_heap_name(value->number, out);
    else if (value->form == ETLHEAP_VALUE_ADDRESS)
        snprintf(out, ETLHEAP_UNITS_SIZE, "0x%" PRIx64, value->number);
    else if (value->form == ETLHEAP_VALUE_COUNT)
        snprintf(out, ETLHEAP_UNITS_SIZE, "%" PRIu64, value->number);
    else if (value->form == ETLHEAP_VALUE_TEXT)
        snprintf(out, ETLHEAP_UNITS_SIZE, "%s", value->text);
    else
        snprintf(out, ETLHEAP_UNITS_SIZE, "%s",
                 value->form == ETLHEAP_VALUE_TRUTH && value->number != 0 ? "yes" : "-");
}

/* Writes a value as one word, or as the name that the recording gives to a heap. */
static void write_value(list_writer *w, const list_column *column, const etlheap_value *value,
                        bool is_first, u32 *used)
{
    char word[ETLHEAP_UNITS_SIZE];
    const char *text = word;
    etlheap_text_clear(&w->text);
    if (value->form == ETLHEAP_VALUE_HEAP && value->text != NULL) {
        etlheap_display_add(&w->text, value->text);
        text = etlheap_text_of(&w->text);
    } else {
        value_word(value, word);
    }
    const u32 width = etlheap_display_width(text, strlen(text));
    const u32 padding = width < column->columns ? column->columns - width : 0;
    write_padded(w->sink, column, text, padding, is_first);
    *used += width + padding + (is_first ? 0 : GAP);
}

/* Writes all columns but the last two, and returns how many columns of the line they take. */
static u32 write_row(list_writer *w, const etlheap_lifetime *lifetime)
{
    etlheap_value values[ETLHEAP_ALLOCATION_COLUMN_COUNT];
    u32 used = 0;
    etlheap_allocation_values(lifetime, values);
    for (u32 c = 0; c < ETL_COUNT_OF(list_columns); c++) {
        if (!(w->shown >> c & 1))
            continue;
        write_value(w, &list_columns[c], &values[list_columns[c].column], c == 0, &used);
    }
    return used;
}

/* A value that is wider than its column moves those behind it: it is never cut. */
static void write_padded(etlheap_sink *sink, const list_column *column, const char *text,
                         u32 padding, bool is_first)
{
    etlheap_sink_fill(sink, ' ', (is_first ? 0 : GAP) + (column->is_left ? 0 : padding));
    etlheap_sink_text(sink, text);
    etlheap_sink_fill(sink, ' ', column->is_left ? padding : 0);
}

/* Writes the process after so many columns, and returns how many are used then. If the site would
 * have too little room, the name is cut, and never the id. */
static u32 write_process(list_writer *w, const etlheap_row *row, u32 used)
{
    char id[ETLHEAP_UNITS_SIZE];
    etlheap_text name = { 0 };
    const u32 size = (u32)snprintf(id, sizeof id, " (%" PRIu32 ")", row->pid);
    const u32 room = room_of_process(w, used);
    etlheap_text_clear(&w->text);
    etlheap_display_add(&name, row->process);
    add_cut(w, etlheap_text_of(&name), name.size, room > size ? room - size : room != 0, false);
    etlheap_text_add_string(&w->text, id);
    etlheap_sink_fill(w->sink, ' ', GAP);
    etlheap_sink_text(w->sink, etlheap_text_of(&w->text));
    w->text.failed |= name.failed;
    etlheap_text_free(&name);
    return end_process(w, used, etlheap_display_width(etlheap_text_of(&w->text), w->text.size));
}

/* Writes the innermost frame, cut to the rest of the line; a dash for a block without a stack. */
static void write_site(list_writer *w, const etlheap_table *table, const etlheap_row *row, u32 used)
{
    const etlheap_indices frames = etlheap_row_frames(table, row);
    const etl_bytes site = frames.count > 0
                               ? etlheap_frame_texts_of(&w->frames, table, frames.at[0])
                               : (etl_bytes){ (const u8 *)"-", 1 };
    etlheap_text_clear(&w->text);
    add_cut(w, (const char *)site.at, site.size, room_behind(w, used + GAP), true);
    etlheap_sink_fill(w->sink, ' ', GAP);
    etlheap_sink_text(w->sink, etlheap_text_of(&w->text));
}

static void write_stack(list_writer *w, const etlheap_table *table, const etlheap_row *row)
{
    const etlheap_indices frames = etlheap_row_frames(table, row);
    const u32 shown = (u32)etl_min_u64(frames.count, w->layout->frames_max);
    etlheap_emphasis_on(w->sink, w->layout, ETLHEAP_EMPHASIS_WEAK);
    for (u32 i = 0; i < shown; i++)
        write_frame(w, etlheap_frame_texts_of(&w->frames, table, frames.at[i]));
    if (shown < frames.count)
        etlheap_sink_format(w->sink, "\n%*s(%" PRIu32 " more)", INDENT, "", frames.count - shown);
    etlheap_emphasis_off(w->sink, w->layout, ETLHEAP_EMPHASIS_WEAK);
}

static void write_frame(list_writer *w, etl_bytes frame)
{
    etlheap_text fitted = { 0 };
    etlheap_text_clear(&w->text);
    etlheap_text_add_format(&w->text, "%*s", INDENT, "");
    etlheap_text_add(&w->text, (const char *)frame.at, frame.size);
    if (w->width > 0)
        etlheap_text_add_name(&fitted, &w->text, w->layout);
    etlheap_sink_text(w->sink, "\n");
    etlheap_sink_text(w->sink, etlheap_text_of(w->width > 0 ? &fitted : &w->text));
    w->text.failed |= fitted.failed;
    etlheap_text_free(&fitted);
}

static void write_note(const list_writer *w)
{
    etlheap_column omitted[ETL_COUNT_OF(list_columns)];
    u32 count = 0;
    for (u32 c = 0; c < ETL_COUNT_OF(list_columns); c++) {
        if (!(w->shown >> c & 1))
            omitted[count++] = (etlheap_column){ .title = list_columns[c].title };
    }
    etlheap_grid_note(omitted, 0, count, w->layout, w->sink);
}
