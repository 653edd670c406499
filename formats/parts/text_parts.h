/*
 * text_parts.h - what the text reports have in common: their head, their
 * measures as columns, their diagnostics.
 */
#ifndef ETLHEAP_TEXT_PARTS_H
#define ETLHEAP_TEXT_PARTS_H

#include "formats/io/units.h"
#include "tabular.h"

/* How a measure is shown. */
typedef struct etlheap_measure_style {
    bool is_size; /* bytes, shown by powers of 1024; else a count */
    bool is_time; /* ns */
    bool adds_up; /* the sum over rows means something; a peak's does not */
    bool is_peak; /* not known: a dash, as every row has one */
} etlheap_measure_style;

etlheap_measure_style etlheap_measure_style_of(etlheap_measure measure);

/* The measures of what is outstanding that a report lists, in order. */
enum { ETLHEAP_SHOWN_MEASURES = 5 };
extern const etlheap_measure etlheap_shown_measures[ETLHEAP_SHOWN_MEASURES];

/* A measure as a person reads it: a duration, a size or a count; nothing, or a dash for a peak,
 * if it is not known. */
void etlheap_measure_words(etlheap_measure measure, i64 value, char out[ETLHEAP_UNITS_SIZE]);

/* Fills the next cell of a row with a measure; not with one that is not known. */
void etlheap_grid_measure(etlheap_grid *grid, etlheap_measure measure, i64 value);

/* A key of a row as etlheap_text_add_key has it, but frames with the function first and
 * where it is in the source. */
void etlheap_text_add_key_source(etlheap_text *text, const etlheap_table *table,
                                 const etlheap_row *row, etlheap_key key);

/* Keys of a row as above, side by side, at least one; "[no heap]" and the like where a row has
 * none of them, as committed ranges have no heap. */
void etlheap_text_add_keys(etlheap_text *text, const etlheap_table *table, const etlheap_row *row,
                           const etlheap_key *keys, u32 count);

/* Whether values of the key are names of functions or types, which may be long. */
bool etlheap_key_is_name(etlheap_key key);

/* The frames of a row's stack after the first, each as the first cell of a row of its
 * own, as many as make `frames_max` with the first. */
void etlheap_grid_frames(etlheap_grid *grid, const etlheap_table *table, const etlheap_row *row,
                         u32 frames_max, u32 indent);

/* "Label     value" lines; the value wraps at the width. */
void etlheap_text_label(etlheap_sink *sink, const etlheap_layout *layout, const char *label,
                        const char *value);

/* A heading of a section, after an empty line. */
void etlheap_text_heading(etlheap_sink *sink, const etlheap_layout *layout, const char *heading);

/* Appends words that will be wrapped; those longer than a line, which names are, are
 * fitted into one. */
void etlheap_text_add_words(etlheap_text *text, const char *words, const etlheap_layout *layout);

/* Appends a name that has its lines to itself, as it fits. */
void etlheap_text_add_name(etlheap_text *text, const etlheap_text *name,
                           const etlheap_layout *layout);

/* What the trace is: files, session, machine, time. `scratch` is overwritten. */
void etlheap_text_trace(etlheap_sink *sink, const etlheap_layout *layout,
                        const etlheap_trace_info *trace, etlheap_text *scratch);

/* The window of a question. Exact, because a window is what gets copied into the
 * next command. */
void etlheap_text_window(etlheap_sink *sink, const etlheap_layout *layout,
                         const etlheap_result *result, i64 from_ns, i64 to_ns);

/* The moment of a report of what is outstanding at one, or those of its kinds;
 * nothing for other reports. */
void etlheap_text_moment(etlheap_sink *sink, const etlheap_layout *layout,
                         const etlheap_table *table);

/* The diagnostics that are not zero, with advice; nothing when all are. */
void etlheap_text_diagnostics(etlheap_sink *sink, const etlheap_layout *layout,
                              const etl_diag_counts *counts);

/* The same below a heading that says whose they are. */
void etlheap_text_diagnostics_of(etlheap_sink *sink, const etlheap_layout *layout,
                                 const char *whose, const etl_diag_counts *counts);

/* How to record what the trace lacks, one label a missing ability. */
void etlheap_text_remedies(etlheap_sink *sink, const etlheap_layout *layout,
                           const etlheap_abilities *abilities);

/* The whole answer to a trace without memory events. */
void etlheap_text_missing(etlheap_sink *sink, const etlheap_layout *layout,
                          const etlheap_result *result, etlheap_text *scratch);

#endif
