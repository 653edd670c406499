/* text_windows.h - the parts of the text report on time windows. */
#ifndef ETLHEAP_TEXT_WINDOWS_H
#define ETLHEAP_TEXT_WINDOWS_H

#include "formats/parts/text_parts.h"
#include "formats/parts/window_rows.h"

/* The data of the parts, and how to show it. */
typedef struct etlheap_windows_view {
    const etlheap_result *result;
    const etlheap_windows_answer *answer;
    const etlheap_layout *layout;
    i64 end_ns;       /* of the trace */
    const char *unit; /* unit of the windows' times: "s", "ms" or "us" */
    i64 unit_ns;
    u32 decimals; /* decimals that the windows need */
} etlheap_windows_view;

etlheap_windows_view etlheap_windows_view_of(const etlheap_result *result,
                                             const etlheap_windows_answer *answer,
                                             const etlheap_layout *layout);

/* Writes "19.5..20.0" in the unit of the view. The end of the trace is "end", because it is rarely
 * a round number. */
#define ETLHEAP_SPAN_SIZE 80
void etlheap_windows_span_text(const etlheap_windows_view *view, i64 from_ns, i64 to_ns,
                               char out[ETLHEAP_SPAN_SIZE]);

/* Appends a group's name: "heap / app.exe (6480)". */
void etlheap_windows_add_name(const etlheap_windows_view *view, u32 row, etlheap_text *text);

/* Writes a group's name, and below it its outstanding size and peak as curves over the windows,
 * drawn to one scale. */
etl_status etlheap_windows_write_head(const etlheap_windows_view *view, u32 row,
                                      etlheap_sink *sink);

/* A curve: one value per window. */
typedef struct etlheap_windows_curve {
    const char *label;
    i64 *values;
    i64 largest; /* value of the highest character; 0: the largest value */
    char note[ETLHEAP_SPAN_SIZE + 16];
} etlheap_windows_curve;

/* Writes a line with the curve, if there are enough windows, and its note. */
etl_status etlheap_windows_write_curve(const etlheap_windows_view *view,
                                       const etlheap_windows_curve *curve, etlheap_sink *sink);

/* Writes the largest lasting rise, and the stacks that explain it, or that there is none. */
etl_status etlheap_windows_write_growth(const etlheap_windows_view *view, etlheap_sink *sink);

/* Writes a line for each window around a spike. */
etl_status etlheap_windows_write_spikes(const etlheap_windows_view *view, etlheap_sink *sink);

/* Adds columns of a cell with short numbers, 411K for 411 KiB, and a dash for 0. */
void etlheap_windows_add_cell(const etlheap_cell *cell, u32 kind,
                              const etlheap_cell_column *columns, u32 count, etlheap_grid *grid);

/* Writes the memory of the system and of processes; nothing if the trace does not have it. */
etl_status etlheap_windows_write_memory(const etlheap_windows_view *view, etlheap_sink *sink);

#endif
