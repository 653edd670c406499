/*
 * text_windows_parts.c - parts of the text about windows: names of groups, curves and times.
 *
 * In: an etlheap_windows and a layout. Out: a view with a common unit for all times, and text for
 * heads and curves.
 *
 *     span   "0.5..1"  in the unit that suits the largest time (s, ms or us), with all digits
 *
 * Invariant: times are exact: decimals that are left out are 0, so that a user can copy a window
 * into a command.
 */
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "formats/parts/display.h"
#include "formats/parts/field_units.h"
#include "formats/parts/sparkline.h"
#include "text_windows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NOTE_COLUMNS  48 /* label and note beside a curve */
#define CURVE_LEAST   16
#define CURVE_WINDOWS 3 /* fewer make no curve */
#define FRAME_INDENT  2

static void choose_unit(u64 largest_ns, etlheap_windows_view *view);
static u64 magnitude_of(i64 ns);
static u32 decimals_of(const etlheap_windows_view *view, i64 ns);
static void time_text(const etlheap_windows_view *view, i64 ns, char out[ETLHEAP_UNITS_SIZE]);
static bool write_name(const etlheap_windows_view *view, u32 row, etlheap_sink *sink);
static bool write_frames(const etlheap_windows_view *view, const etlheap_row *row,
                         etlheap_sink *sink);
static void fill_curves(const etlheap_windows_view *view, u32 row, etlheap_windows_curve *size,
                        etlheap_windows_curve *peak);

etlheap_windows_view etlheap_windows_view_of(const etlheap_result *result,
                                             const etlheap_windows_answer *answer,
                                             const etlheap_layout *layout)
{
    const etlheap_windows *const windows = answer->windows;
    etlheap_windows_view view = {
        .result = result,
        .answer = answer,
        .layout = layout,
        .end_ns = etlheap_result_trace(result)->end_ns,
    };
    u64 largest_ns = 0;
    for (u32 w = 0; w < windows->window_count; w++) {
        largest_ns = etl_max_u64(largest_ns, magnitude_of(windows->windows[w].from_ns));
        largest_ns = etl_max_u64(largest_ns, magnitude_of(windows->windows[w].to_ns));
    }
    choose_unit(largest_ns, &view);
    for (u32 w = 0; w < windows->window_count; w++) {
        const i64 to_ns = windows->windows[w].to_ns;
        const u32 from = decimals_of(&view, windows->windows[w].from_ns);
        const u32 to = to_ns == view.end_ns ? 0 : decimals_of(&view, to_ns);
        view.decimals = (u32)etl_max_u64(view.decimals, etl_max_u64(from, to));
    }
    return view;
}

void etlheap_windows_span_text(const etlheap_windows_view *view, i64 from_ns, i64 to_ns,
                               char out[ETLHEAP_SPAN_SIZE])
{
    char from[ETLHEAP_UNITS_SIZE];
    char to[ETLHEAP_UNITS_SIZE];
    time_text(view, from_ns, from);
    time_text(view, to_ns, to);
    snprintf(out, ETLHEAP_SPAN_SIZE, "%.30s..%.30s", from, to_ns == view->end_ns ? "end" : to);
}

etl_status etlheap_windows_write_head(const etlheap_windows_view *view, u32 row, etlheap_sink *sink)
{
    const u32 count = view->answer->windows->window_count;
    i64 *const values = calloc((size_t)count * 2 + 1, sizeof *values);
    etlheap_windows_curve size = { .label = "Outstanding", .values = values };
    if (!values)
        return ETL_ERR_MEMORY;
    etlheap_windows_curve peak = { .label = "Peak", .values = values + count };
    fill_curves(view, row, &size, &peak);
    etl_status status = write_name(view, row, sink) ? ETL_OK : ETL_ERR_MEMORY;
    if (status == ETL_OK)
        status = etlheap_windows_write_curve(view, &size, sink);
    if (status == ETL_OK)
        status = etlheap_windows_write_curve(view, &peak, sink);
    free(values);
    return status;
}

etl_status etlheap_windows_write_curve(const etlheap_windows_view *view,
                                       const etlheap_windows_curve *curve, etlheap_sink *sink)
{
    const u32 count = view->answer->windows->window_count;
    const u32 width = view->layout->width;
    const etlheap_sparkline how = {
        .columns = width > NOTE_COLUMNS + CURVE_LEAST ? width - NOTE_COLUMNS
                                                      : (width > 0 ? CURVE_LEAST : 0),
        .ascii = view->layout->ascii,
        .largest = curve->largest,
    };
    etlheap_text text = { 0 };
    if (count >= CURVE_WINDOWS) {
        etlheap_sparkline_add(&text, curve->values, count, &how);
        etlheap_text_add_string(&text, " ");
    }
    etlheap_text_add_string(&text, curve->note);
    etlheap_text_label(sink, view->layout, curve->label, etlheap_text_of(&text));
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}

/* Chooses the largest unit in which the largest time is at least 1. */
static void choose_unit(u64 largest_ns, etlheap_windows_view *view)
{
    static const struct {
        i64 ns;
        const char *name;
    } units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" } };
    for (size_t i = 0; i < ETL_COUNT_OF(units); i++) {
        view->unit_ns = units[i].ns;
        view->unit = units[i].name;
        if (largest_ns >= (u64)units[i].ns)
            return;
    }
}

static u64 magnitude_of(i64 ns)
{
    return ns < 0 ? 0 - (u64)ns : (u64)ns;
}

/* The digits after the point, without zeros at the end. */
static u32 decimals_of(const etlheap_windows_view *view, i64 ns)
{
    u32 decimals = 0;
    for (i64 part = view->unit_ns; ns % part != 0; part /= 10)
        decimals++;
    return decimals;
}

/* Writes a time exactly: decimals that are left out are 0. */
static void time_text(const etlheap_windows_view *view, i64 ns, char out[ETLHEAP_UNITS_SIZE])
{
    const u64 magnitude = magnitude_of(ns);
    const u64 unit_ns = (u64)view->unit_ns;
    u64 part = magnitude % unit_ns;
    u64 scale = unit_ns;
    for (u32 i = 0; i < view->decimals; i++)
        scale /= 10;
    part /= scale;
    const int length =
        snprintf(out, ETLHEAP_UNITS_SIZE, "%s%" PRIu64, ns < 0 ? "-" : "", magnitude / unit_ns);
    if (view->decimals > 0)
        snprintf(out + length, ETLHEAP_UNITS_SIZE - (size_t)length, ".%0*" PRIu64,
                 (int)view->decimals, part);
}

void etlheap_windows_add_name(const etlheap_windows_view *view, u32 row, etlheap_text *text)
{
    const etlheap_table *const table = view->answer->windows->table;
    for (u32 k = 0; k < table->group_by_count; k++) {
        etlheap_text_add_string(text, k > 0 ? " / " : "");
        etlheap_text_add_key_source(text, table, &table->rows[row], table->group_by[k]);
    }
}

/* False without memory. */
static bool write_name(const etlheap_windows_view *view, u32 row, etlheap_sink *sink)
{
    const etlheap_table *const table = view->answer->windows->table;
    etlheap_text text = { 0 };
    etlheap_text shown = { 0 };
    etlheap_windows_add_name(view, row, &text);
    etlheap_display_add(&shown, etlheap_text_of(&text));
    etlheap_text_heading(sink, view->layout, etlheap_text_of(&shown));
    const bool failed = text.failed || shown.failed;
    etlheap_text_free(&text);
    etlheap_text_free(&shown);
    return !failed && write_frames(view, &table->rows[row], sink);
}

/* Writes the frames after the first, which the name has. */
static bool write_frames(const etlheap_windows_view *view, const etlheap_row *row,
                         etlheap_sink *sink)
{
    const etlheap_table *const table = view->answer->windows->table;
    const etlheap_indices frames = etlheap_row_frames(table, row);
    etlheap_text text = { 0 };
    etlheap_text shown = { 0 };
    etlheap_text fitted = { 0 };
    etlheap_emphasis_on(sink, view->layout, ETLHEAP_EMPHASIS_WEAK);
    for (u32 i = 1; i < frames.count && i < view->layout->frames_max; i++) {
        etlheap_text_clear(&text);
        etlheap_text_clear(&shown);
        etlheap_text_clear(&fitted);
        etlheap_text_add_format(&text, "%*s", FRAME_INDENT, "");
        etlheap_text_add_function(&text, &table->frames[frames.at[i]]);
        etlheap_text_add_source(&text, &table->frames[frames.at[i]]);
        etlheap_display_add(&shown, etlheap_text_of(&text));
        etlheap_text_add_name(&fitted, &shown, view->layout);
        etlheap_sink_text(sink, etlheap_text_of(&fitted));
        etlheap_sink_text(sink, "\n");
    }
    etlheap_emphasis_off(sink, view->layout, ETLHEAP_EMPHASIS_WEAK);
    const bool failed = text.failed || shown.failed || fitted.failed;
    etlheap_text_free(&text);
    etlheap_text_free(&shown);
    etlheap_text_free(&fitted);
    return !failed;
}

/* The larger of the outstanding sizes at the start and end of the window. */
static i64 least_peak(const etlheap_cell *cell)
{
    const i64 start = etl_sat_add_i64(cell->size[ETLHEAP_TYPE_AOFI], cell->size[ETLHEAP_TYPE_AOFO]);
    return start > cell->outstanding_size ? start : cell->outstanding_size;
}

static void fill_curves(const etlheap_windows_view *view, u32 row, etlheap_windows_curve *size,
                        etlheap_windows_curve *peak)
{
    const etlheap_windows *const windows = view->answer->windows;
    char text[ETLHEAP_UNITS_SIZE];
    char span[ETLHEAP_SPAN_SIZE];
    u32 highest = 0;
    bool is_known = true;
    for (u32 w = 0; w < windows->window_count; w++) {
        etlheap_cell cell;
        (void)etlheap_windows_cell(windows, row, w, &cell);
        is_known &= cell.peak_size != ETLHEAP_NOT_KNOWN;
        size->values[w] = cell.outstanding_size;
        peak->values[w] = cell.peak_size != ETLHEAP_NOT_KNOWN ? cell.peak_size : least_peak(&cell);
        if (cell.peak_size > peak->values[highest])
            highest = w;
    }
    size->largest = peak->values[highest];
    const u32 kinds = 1u << windows->table->rows[row].kind;
    const bool is_counted = etlheap_kinds_are_counted(kinds);
    const etlheap_measure measure =
        is_counted ? ETLHEAP_MEASURE_OUTSTANDING_COUNT : ETLHEAP_MEASURE_OUTSTANDING_SIZE;
    etlheap_measure_words(measure, size->values[windows->window_count - 1], text);
    snprintf(size->note, sizeof size->note, "%s at the end", text);
    etlheap_measure_words(measure, peak->values[highest], text);
    etlheap_windows_span_text(view, windows->windows[highest].from_ns,
                              windows->windows[highest].to_ns, span);
    snprintf(peak->note, sizeof peak->note, "%s%.20s in %.50s %s", is_known ? "" : "at least ",
             text, span, view->unit);
}

void etlheap_windows_add_cell(const etlheap_cell *cell, u32 kind,
                              const etlheap_cell_column *columns, u32 count, etlheap_grid *grid)
{
    etlheap_value values[ETLHEAP_CELL_COLUMN_COUNT];
    etlheap_cell_values(cell, kind, values);
    for (u32 c = 0; c < count; c++) {
        char text[ETLHEAP_UNITS_SIZE];
        const etlheap_value *const value = &values[columns[c]];
        if (value->form == ETLHEAP_VALUE_UNKNOWN)
            snprintf(text, sizeof text, "?"); /* a dash is 0 here */
        else if (etlheap_field_unit(etlheap_cell_columns.fields[columns[c]])[0] != '\0')
            etlheap_units_short_size((i64)value->number, text);
        else
            etlheap_units_short_count((i64)value->number, text);
        etlheap_grid_cell(grid, value->number == 0 ? "-" : text);
    }
}
