/* text_parts.h - shared by text reports: their heads, measures as columns, and diagnostics. */
#ifndef ETLHEAP_TEXT_PARTS_H
#define ETLHEAP_TEXT_PARTS_H

#include "formats/io/units.h"
#include "excluded_parts.h"
#include "more_rows.h"
#include "tabular.h"

/* How a measure is shown. */
typedef struct etlheap_measure_style {
    bool is_size;  /* bytes, in powers of 1024; else a count */
    bool is_time;  /* ns */
    bool is_share; /* millionths, shown in per cent */
    bool adds_up;  /* can be added up over rows; a peak cannot */
    bool is_peak;  /* a dash if unknown, as every row has a peak */
} etlheap_measure_style;

etlheap_measure_style etlheap_measure_style_of(etlheap_measure measure);

/* True if rows share blocks, as those by function do, so that they add up to more than the
 * totals; and the sentence that says so. */
bool etlheap_rows_share_blocks(const etlheap_table *table);
extern const char etlheap_shared_words[];
extern const char etlheap_shared_hint[]; /* the same as a hint */

/* Can the measure be added up over rows of the table? */
bool etlheap_measure_adds_up(const etlheap_table *table, etlheap_measure measure);

/* Writes a measure for people: a duration, a size or a count; if unknown, nothing, or a dash for a
 * peak. */
/* The same for an amount of kinds, given as bits: without sizes, "\xE2\x80\x93" in their place, and growth is
 * their number per hour. */
void etlheap_amount_words(etlheap_measure measure, u32 kinds, i64 value,
                          char out[ETLHEAP_UNITS_SIZE]);
void etlheap_measure_words(etlheap_measure measure, i64 value, char out[ETLHEAP_UNITS_SIZE]);

/* Fills the next cell of a row with a measure; leaves it empty if unknown. */
void etlheap_grid_measure(etlheap_grid *grid, etlheap_measure measure, i64 value);

/* Appends a key of a row like etlheap_text_add_key, but frames with the function first and its
 * place in the source. */
void etlheap_text_add_key_source(etlheap_text *text, const etlheap_table *table,
                                 const etlheap_row *row, etlheap_key key);

/* Appends keys of a row, side by side. If a row has none of them, appends "[no heap]" or similar;
 * committed ranges have no heap. */
void etlheap_text_add_keys(etlheap_text *text, const etlheap_table *table, const etlheap_row *row,
                           const etlheap_key *keys, u32 count);

/* True if values of the key are names of functions or types, which may be long. */
bool etlheap_key_is_name(etlheap_key key);

/* Adds rows for the frames of a stack after the first, one each, so that there are `frames_max`
 * frames with the first. */
void etlheap_grid_frames(etlheap_grid *grid, const etlheap_table *table, const etlheap_row *row,
                         u32 frames_max, u32 indent);

/* Writes a "Label value" line; the value wraps at the width. */
void etlheap_text_label(etlheap_sink *sink, const etlheap_layout *layout, const char *label,
                        const char *value);

/* Writes the heading of a section, after an empty line. */
void etlheap_text_heading(etlheap_sink *sink, const etlheap_layout *layout, const char *heading);

/* Appends words to be wrapped. Words longer than a line, such as names, are shortened to one. */
void etlheap_text_add_words(etlheap_text *text, const char *words, const etlheap_layout *layout);

/* Appends a name that has separate lines, shortened to fit. */
void etlheap_text_add_name(etlheap_text *text, const etlheap_text *name,
                           const etlheap_layout *layout);

/* Writes which trace was read, in one line, and what it lost. `scratch` is overwritten. */
void etlheap_text_trace(etlheap_sink *sink, const etlheap_layout *layout,
                        const etlheap_trace_info *trace, etlheap_text *scratch);

/* Writes the facts of the recording: files, session, computer, time, losses. */
void etlheap_text_recording(etlheap_sink *sink, const etlheap_layout *layout,
                            const etlheap_trace_info *trace, etlheap_text *scratch);

/* Writes when each kind was recorded, for kinds of which a window lacks much; nothing if none. */
void etlheap_text_spans(etlheap_sink *sink, const etlheap_layout *layout,
                        const etlheap_result *result, etlheap_time_range window);

/* Says that rates of a table are per second of the recorded span, if the window lacks much. */
void etlheap_text_rates(etlheap_sink *sink, const etlheap_layout *layout,
                        const etlheap_result *result, const etlheap_table *table);

/* Writes the window of a question, exactly, because people copy it into the next command; nothing
 * if it is the whole trace. And when it was recorded, if that is not in all of it, and what
 * excluded frames left out. */
void etlheap_text_window(etlheap_sink *sink, const etlheap_layout *layout,
                         const etlheap_result *result, i64 from_ns, i64 to_ns);

/* Writes how much excluded frames left out, a line for each run; nothing if nothing was to be left
 * out. `names` as for etlheap_excluded_add. */
void etlheap_text_excluded(etlheap_sink *sink, const etlheap_layout *layout,
                           const char *const *names);

/* Writes the moment of a report about outstanding memory at one time, or the moments of its kinds;
 * nothing for other reports. */
void etlheap_text_moment(etlheap_sink *sink, const etlheap_layout *layout,
                         const etlheap_table *table, etlheap_text *text);

/* Appends the same as a sentence without its end. The table is of a moment. */
void etlheap_text_add_moment(etlheap_text *text, const etlheap_layout *layout,
                             const etlheap_table *table);

/* Writes how many rows a list leaves out, and why; nothing if it has them all. `scratch` is
 * overwritten. */
void etlheap_text_more_rows(etlheap_sink *sink, const etlheap_layout *layout,
                            const etlheap_more_rows *more, etlheap_text *scratch);

/* The same for lists of other things, of which `listed` are listed. */
void etlheap_text_more(etlheap_sink *sink, const etlheap_layout *layout, u64 count, u64 listed,
                       const char *noun);

/* Writes the diagnostics that are not zero, with advice; nothing if all are zero. */
void etlheap_text_diagnostics(etlheap_sink *sink, const etlheap_layout *layout,
                              const etl_diag_counts *counts);

/* Writes diagnostics below a heading that says what they belong to. */
void etlheap_text_diagnostics_of(etlheap_sink *sink, const etlheap_layout *layout,
                                 const char *whose, const etl_diag_counts *counts);

/* Writes how to record what the result lacks, one label per question: the extras, or all others. */
void etlheap_text_remedies(etlheap_sink *sink, const etlheap_layout *layout,
                           const etlheap_result *result, bool extras);

/* Writes the complete answer for a trace without memory events. */
void etlheap_text_missing(etlheap_sink *sink, const etlheap_layout *layout,
                          const etlheap_result *result, etlheap_text *scratch);

/* Says that the trace is a heap snapshot recording, if it is. */
void etlheap_text_snapshots(etlheap_sink *sink, const etlheap_layout *layout,
                            const etlheap_result *result);

#endif
