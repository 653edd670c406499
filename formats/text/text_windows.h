/*
 * text_windows.h - the parts of the text that shows time windows.
 */
#ifndef ETLHEAP_TEXT_WINDOWS_H
#define ETLHEAP_TEXT_WINDOWS_H

#include "formats/parts/text_parts.h"
#include "formats/parts/window_rows.h"

/* What the parts show, and how. */
typedef struct etlheap_windows_view {
    const etlheap_windows_answer *answer;
    const etlheap_layout *layout;
    i64 end_ns;       /* of the trace */
    const char *unit; /* of the windows' times: "s", "ms" or "us" */
    i64 unit_ns;
    u32 decimals; /* as many as the windows need */
} etlheap_windows_view;

etlheap_windows_view etlheap_windows_view_of(const etlheap_result *result,
                                             const etlheap_windows_answer *answer,
                                             const etlheap_layout *layout);

/* "19.5..20.0" in the unit of the view. The end of the trace is "end": it is rarely round. */
#define ETLHEAP_SPAN_SIZE 80
void etlheap_windows_span_text(const etlheap_windows_view *view, i64 from_ns, i64 to_ns,
                               char out[ETLHEAP_SPAN_SIZE]);

/* A group's name, and below it its outstanding size and peak as curves over the
 * windows, drawn to one scale. */
etl_status etlheap_windows_write_head(const etlheap_windows_view *view, u32 row,
                                      etlheap_sink *sink);

/* One value a window. */
typedef struct etlheap_windows_curve {
    const char *label;
    i64 *values;
    i64 largest; /* what the highest stands for; 0: the largest value */
    char note[ETLHEAP_SPAN_SIZE + 16];
} etlheap_windows_curve;

/* A line with the curve, if there are windows enough for one, and its note. */
etl_status etlheap_windows_write_curve(const etlheap_windows_view *view,
                                       const etlheap_windows_curve *curve, etlheap_sink *sink);

/* The steepest rise, and the stacks that explain it; or that there is none. */
etl_status etlheap_windows_write_growth(const etlheap_windows_view *view, etlheap_sink *sink);

/* What the system said of its memory and of that of processes; nothing when the
 * trace does not have it. */
etl_status etlheap_windows_write_memory(const etlheap_windows_view *view, etlheap_sink *sink);

#endif
