/*
 * text_parts.c - what the text reports have in common: the head, measures as columns, keys,
 * diagnostics and remedies.
 *
 * In: a result, a table or a row. Out: text in a sink, or cells of a grid.
 *
 * Invariant: each of these looks the same in every report, so a report must not write its own form.
 * Names come from traces, so they pass through display.c before they reach a terminal.
 */
#include "text_parts.h"

#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "abilities.h"
#include "display.h"
#include "layout_read.h"
#include "short_names.h"

#include <inttypes.h>
#include <stdio.h>

#define LABEL_COLUMNS 14
#define REMEDY_SIZE   768
#define SHARE_WHOLE   1000000 /* shares are in millionths */

static const etlheap_measure_style measure_styles[ETLHEAP_MEASURES_COUNT] = {
    [ETLHEAP_MEASURE_COUNT] = { .adds_up = true },
    [ETLHEAP_MEASURE_SIZE] = { .is_size = true, .adds_up = true },
    [ETLHEAP_MEASURE_IMPACTING_SIZE] = { .is_size = true, .adds_up = true },
    [ETLHEAP_MEASURE_OUTSTANDING_COUNT] = { .adds_up = true },
    [ETLHEAP_MEASURE_OUTSTANDING_SIZE] = { .is_size = true, .adds_up = true },
    [ETLHEAP_MEASURE_REALLOC_COUNT] = { .adds_up = true },
    [ETLHEAP_MEASURE_PEAK_COUNT] = { .is_peak = true },
    [ETLHEAP_MEASURE_PEAK_SIZE] = { .is_size = true, .is_peak = true },
    [ETLHEAP_MEASURE_LIFETIME_MEAN] = { .is_time = true },
    [ETLHEAP_MEASURE_LIFETIME_MEDIAN] = { .is_time = true },
    [ETLHEAP_MEASURE_LIFETIME_P90] = { .is_time = true },
    [ETLHEAP_MEASURE_LIFETIME_P99] = { .is_time = true },
    [ETLHEAP_MEASURE_FIRST] = { .is_time = true },
    [ETLHEAP_MEASURE_LAST] = { .is_time = true },
    [ETLHEAP_MEASURE_COMMITTED_SIZE] = { .is_size = true },
    [ETLHEAP_MEASURE_RESERVED_SIZE] = { .is_size = true },
    [ETLHEAP_MEASURE_OVERHEAD_SIZE] = { .is_size = true },
    [ETLHEAP_MEASURE_UNCOMMITTED_SIZE] = { .is_size = true },
    [ETLHEAP_MEASURE_DECOMMITTED_SIZE] = { .is_size = true },
    [ETLHEAP_MEASURE_FRAGMENTATION] = { .is_share = true },
    [ETLHEAP_MEASURE_GROWTH_RATE] = { .is_size = true },
    [ETLHEAP_MEASURE_STEADINESS] = { .adds_up = false },
    [ETLHEAP_MEASURE_ALLOC_COUNT] = { .adds_up = true },
    [ETLHEAP_MEASURE_ALLOC_SIZE] = { .is_size = true, .adds_up = true },
    [ETLHEAP_MEASURE_ALLOC_RATE] = { .adds_up = true },
    [ETLHEAP_MEASURE_ALLOC_BYTES_RATE] = { .is_size = true, .adds_up = true },
    [ETLHEAP_MEASURE_FREED_COUNT] = { .adds_up = true },
    [ETLHEAP_MEASURE_FREED_SIZE] = { .is_size = true, .adds_up = true },
    [ETLHEAP_MEASURE_FREED_BY_OTHER] = { .adds_up = true },
    [ETLHEAP_MEASURE_TEMPORARY_COUNT] = { .adds_up = true },
    [ETLHEAP_MEASURE_TEMPORARY_SIZE] = { .is_size = true, .adds_up = true },
    [ETLHEAP_MEASURE_TEMPORARY_10_COUNT] = { .adds_up = true },
    [ETLHEAP_MEASURE_TEMPORARY_1MS_COUNT] = { .adds_up = true },
    [ETLHEAP_MEASURE_EXCLUSIVE_COUNT] = { .adds_up = true },
    [ETLHEAP_MEASURE_EXCLUSIVE_SIZE] = { .is_size = true, .adds_up = true },
};

const char etlheap_shared_words[] = "A block counts in every function of its stack, so the rows "
                                    "add up to more than the totals.";
const char etlheap_shared_hint[] = "a block counts in every function of its stack, so the rows add "
                                   "up to more than the totals";

static void add_frame(etlheap_grid *grid, const etlheap_text *text);
static void add_files(etlheap_text *text, const etlheap_trace_info *trace);
static void add_sizes(etlheap_text *text, const etlheap_trace_info *trace);
static void add_count(etlheap_text *text, u64 count, const char *what);
static void write_recorded(etlheap_sink *sink, const etlheap_layout *layout,
                           const etlheap_trace_info *trace, etlheap_text *scratch);
static void write_lost(etlheap_sink *sink, const etlheap_layout *layout,
                       const etlheap_trace_info *trace, etlheap_text *scratch);
static void label_of_text(etlheap_sink *sink, const etlheap_layout *layout, const char *label,
                          const etlheap_text *text);

etlheap_measure_style etlheap_measure_style_of(etlheap_measure measure)
{
    return measure_styles[measure];
}

bool etlheap_rows_share_blocks(const etlheap_table *table)
{
    bool is = false;
    for (u32 i = 0; i < table->group_by_count; i++)
        is |= table->group_by[i] == ETLHEAP_KEY_FUNCTION;
    return is;
}

bool etlheap_measure_adds_up(const etlheap_table *table, etlheap_measure measure)
{
    const bool is_exclusive =
        measure == ETLHEAP_MEASURE_EXCLUSIVE_COUNT || measure == ETLHEAP_MEASURE_EXCLUSIVE_SIZE;
    return measure_styles[measure].adds_up && (is_exclusive || !etlheap_rows_share_blocks(table));
}

void etlheap_measure_words(etlheap_measure measure, i64 value, char out[ETLHEAP_UNITS_SIZE])
{
    const etlheap_measure_style style = measure_styles[measure];
    if (value == ETLHEAP_NOT_KNOWN)
        snprintf(out, ETLHEAP_UNITS_SIZE, "%s", style.is_peak ? "\xE2\x80\x93" : "");
    else if (style.is_time)
        etlheap_units_duration(value, out);
    else if (style.is_size)
        etlheap_units_size(value, out);
    else if (style.is_share)
        etlheap_units_share(value, SHARE_WHOLE, out);
    else
        etlheap_units_count(value, out);
}

void etlheap_amount_words(etlheap_measure measure, u32 kinds, i64 value,
                          char out[ETLHEAP_UNITS_SIZE])
{
    char count[ETLHEAP_UNITS_SIZE];
    etlheap_measure_words(measure, value, out);
    if (!etlheap_kinds_are_counted(kinds) || !measure_styles[measure].is_size)
        return;
    etlheap_units_count(value, count);
    if (measure == ETLHEAP_MEASURE_GROWTH_RATE)
        snprintf(out, ETLHEAP_UNITS_SIZE, "%.40s per h", count);
    else
        snprintf(out, ETLHEAP_UNITS_SIZE, "\xE2\x80\x93");
}

void etlheap_grid_measure(etlheap_grid *grid, etlheap_measure measure, i64 value)
{
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_measure_words(measure, value, words);
    etlheap_grid_cell(grid, words);
}

void etlheap_text_add_key_source(etlheap_text *text, const etlheap_table *table,
                                 const etlheap_row *row, etlheap_key key)
{
    const etlheap_key_value value = etlheap_row_value(row, key);
    const u32 index = etlheap_key_frame(table, &value);
    if (index == ETLHEAP_NO_INDEX) {
        etlheap_text_add_key(text, table, row, key);
        return;
    }
    etlheap_text_add_function(text, &table->frames[index]);
    etlheap_text_add_source(text, &table->frames[index]);
}

void etlheap_text_add_keys(etlheap_text *text, const etlheap_table *table, const etlheap_row *row,
                           const etlheap_key *keys, u32 count)
{
    const size_t start = text->size;
    for (u32 i = 0; i < count; i++) {
        etlheap_text_add_string(text, text->size > start ? "  " : "");
        etlheap_text_add_key_source(text, table, row, keys[i]);
    }
    if (text->size == start)
        etlheap_text_add_format(text, "[no %s]", etlheap_key_word(keys[0]));
}

bool etlheap_key_is_name(etlheap_key key)
{
    return etlheap_key_has_frames(key) || etlheap_key_form_of(key) == ETLHEAP_FORM_TYPE_NAME;
}

void etlheap_grid_frames(etlheap_grid *grid, const etlheap_table *table, const etlheap_row *row,
                         u32 frames_max, u32 indent)
{
    const etlheap_indices frames = etlheap_row_frames(table, row);
    const u32 shown = (u32)etl_min_u64(frames.count, frames_max);
    etlheap_text text = { 0 };
    for (u32 i = 1; i < shown; i++) {
        etlheap_text_clear(&text);
        etlheap_text_add_format(&text, "%*s", (int)indent, "");
        etlheap_text_add_function(&text, &table->frames[frames.at[i]]);
        etlheap_text_add_source(&text, &table->frames[frames.at[i]]);
        add_frame(grid, &text);
    }
    if (shown > 0 && shown < frames.count) {
        etlheap_text_clear(&text);
        etlheap_text_add_format(&text, "%*s(%" PRIu32 " more)", (int)indent, "",
                                frames.count - shown);
        add_frame(grid, &text);
    }
    etlheap_text_free(&text);
}

void etlheap_text_label(etlheap_sink *sink, const etlheap_layout *layout, const char *label,
                        const char *value)
{
    const size_t size = strlen(label);
    etlheap_sink_text(sink, label);
    etlheap_sink_fill(sink, ' ', size < LABEL_COLUMNS ? LABEL_COLUMNS - size : 1);
    etlheap_display_wrap(sink, value, LABEL_COLUMNS, LABEL_COLUMNS, layout->width);
}

void etlheap_text_heading(etlheap_sink *sink, const etlheap_layout *layout, const char *heading)
{
    etlheap_text text = { 0 };
    etlheap_text_add_words(&text, heading, layout);
    etlheap_sink_text(sink, "\n");
    etlheap_emphasis_on(sink, layout, ETLHEAP_EMPHASIS_STRONG);
    etlheap_display_wrap(sink, text.failed ? heading : etlheap_text_of(&text), 0, 0, layout->width);
    etlheap_emphasis_off(sink, layout, ETLHEAP_EMPHASIS_STRONG);
    etlheap_text_free(&text);
}

void etlheap_text_add_words(etlheap_text *text, const char *words, const etlheap_layout *layout)
{
    const etlheap_fit fit = { layout->width, true, false, layout->ascii };
    while (*words != '\0') {
        const size_t size = etlheap_display_word_size(words, strlen(words));
        const size_t gap = strspn(words + size, " ");
        if (layout->whole || layout->width == 0)
            etlheap_text_add(text, words, size);
        else
            etlheap_display_add_fitted(text, words, size, &fit);
        etlheap_text_add(text, words + size, gap);
        words += size + gap;
    }
}

void etlheap_text_add_name(etlheap_text *text, const etlheap_text *name,
                           const etlheap_layout *layout)
{
    const etlheap_fit fit = { layout->width, true, true, layout->ascii };
    if (layout->whole || layout->width == 0)
        etlheap_text_add(text, etlheap_text_of(name), name->size);
    else
        etlheap_display_add_fitted(text, etlheap_text_of(name), name->size, &fit);
}

/* What stands after the time of a log that states no zone. */
static const char *zone_of(const etlheap_trace_info *trace)
{
    return trace->is_local_time && trace->start_time_filetime != 0 ? " local time" : "";
}

/* "app.etl, recorded 2020-07-29T00:07:00Z, 20.000 s": what tells one recording from another. A UMDH
 * log may not say when it was written, and has no duration. */
void etlheap_text_trace(etlheap_sink *sink, const etlheap_layout *layout,
                        const etlheap_trace_info *trace, etlheap_text *scratch)
{
    char text[ETLHEAP_UNITS_SIZE];
    etlheap_text_clear(scratch);
    add_files(scratch, trace);
    etlheap_units_start_date(trace, text);
    etlheap_text_add_format(scratch, ", recorded %s",
                            trace->start_time_filetime != 0 ? text : "at an unknown time");
    etlheap_text_add_string(scratch, zone_of(trace));
    if (trace->buffers != 0) {
        etlheap_units_duration(trace->duration_ns, text);
        etlheap_text_add_format(scratch, ", %s", text);
    }
    label_of_text(sink, layout, "Trace", scratch);
    write_lost(sink, layout, trace, scratch);
}

/* Writes three lines that describe the recording, and a fourth if it is incomplete. */
void etlheap_text_recording(etlheap_sink *sink, const etlheap_layout *layout,
                            const etlheap_trace_info *trace, etlheap_text *scratch)
{
    etlheap_text_clear(scratch);
    add_files(scratch, trace);
    add_sizes(scratch, trace);
    label_of_text(sink, layout, "Trace", scratch);

    etlheap_text_clear(scratch);
    etlheap_display_add(scratch, trace->session[0] != '\0' ? trace->session : "(several names)");
    etlheap_text_add_string(scratch, trace->computer[0] != '\0' ? " on " : "");
    etlheap_display_add(scratch, trace->computer);
    if (trace->os_build != 0)
        etlheap_text_add_format(scratch, ", Windows build %" PRIu32, trace->os_build);
    if (trace->pointer_bits != 0)
        etlheap_text_add_format(scratch, ", %" PRIu32 "-bit", trace->pointer_bits);
    if (trace->cpus != 0)
        etlheap_text_add_format(scratch, ", %" PRIu32 " %s", trace->cpus,
                                trace->cpus == 1 ? "CPU" : "CPUs");
    label_of_text(sink, layout, "Session", scratch);

    write_recorded(sink, layout, trace, scratch);
    write_lost(sink, layout, trace, scratch);
}

static void add_files(etlheap_text *text, const etlheap_trace_info *trace)
{
    for (u32 i = 0; i < trace->file_count; i++) {
        etlheap_text_add_string(text, i > 0 ? ", " : "");
        etlheap_display_add(text, trace->files[i]);
    }
}

static void write_lost(etlheap_sink *sink, const etlheap_layout *layout,
                       const etlheap_trace_info *trace, etlheap_text *scratch)
{
    if (trace->events_lost == 0 && trace->buffers_lost == 0)
        return;
    etlheap_text_clear(scratch);
    add_count(scratch, trace->events_lost, " events, ");
    add_count(scratch, trace->buffers_lost, " buffers: sizes below may be too low or too high");
    label_of_text(sink, layout, "Lost", scratch);
}

/* Writes when it was recorded. A UMDH log is of one moment, has no buffers, and may not say when it
 * was written. */
static void write_recorded(etlheap_sink *sink, const etlheap_layout *layout,
                           const etlheap_trace_info *trace, etlheap_text *scratch)
{
    char text[ETLHEAP_UNITS_SIZE];
    etlheap_text_clear(scratch);
    etlheap_units_start(trace, text);
    etlheap_text_add_string(scratch, trace->start_time_filetime != 0 ? text : "at an unknown time");
    etlheap_text_add_string(scratch, zone_of(trace));
    etlheap_text_add_string(scratch, ", ");
    if (trace->buffers != 0) {
        etlheap_units_duration(trace->duration_ns, text);
        etlheap_text_add_format(scratch, "%s, ", text);
    }
    add_count(scratch, trace->events, trace->events == 1 ? " event" : " events");
    if (trace->buffers != 0) {
        etlheap_text_add_string(scratch, " in ");
        add_count(scratch, trace->buffers, trace->buffers == 1 ? " buffer" : " buffers");
    }
    label_of_text(sink, layout, "Recorded", scratch);
}

/* Adds sizes: for a store its own, and that of its input. */
static void add_sizes(etlheap_text *text, const etlheap_trace_info *trace)
{
    char bytes[ETLHEAP_UNITS_SIZE];
    char store_bytes[ETLHEAP_UNITS_SIZE];
    etlheap_units_size((i64)etl_min_u64(trace->bytes, INT64_MAX), bytes);
    etlheap_units_size((i64)etl_min_u64(trace->store_bytes, INT64_MAX), store_bytes);
    if (trace->store_bytes != 0)
        etlheap_text_add_format(text, " (%s, a store of %s of trace)", store_bytes, bytes);
    else
        etlheap_text_add_format(text, " (%s)", bytes);
}

void etlheap_text_spans(etlheap_sink *sink, const etlheap_layout *layout,
                        const etlheap_result *result, etlheap_time_range window)
{
    const etlheap_trace_info *const trace = etlheap_result_trace(result);
    u32 left = etlheap_result_kinds(result) & ETLHEAP_KINDS_DEFAULT;
    for (u32 first = 0; first < ETLHEAP_KIND_COUNT; first++) {
        const etlheap_recorded *const span = &trace->recorded[first];
        const etlheap_time_range part = etlheap_recorded_part(trace, 1u << first, window);
        char from[ETLHEAP_UNITS_SIZE], to[ETLHEAP_UNITS_SIZE], kinds[128] = "";
        if ((left >> first & 1) == 0 || !span->is_known || !etlheap_recorded_lacks(part, window))
            continue;
        for (u32 kind = first; kind < ETLHEAP_KIND_COUNT; kind++) {
            const etlheap_recorded *const other = &trace->recorded[kind];
            if ((left >> kind & 1) == 0 || !other->is_known || other->from_ns != span->from_ns ||
                other->to_ns != span->to_ns)
                continue;
            const size_t length = strlen(kinds);
            snprintf(kinds + length, sizeof kinds - length, "%s%s", length > 0 ? ", " : "",
                     etlheap_kind_name((etlheap_kind)kind));
            left &= ~(1u << kind);
        }
        etlheap_units_moment(span->from_ns, from);
        etlheap_units_moment(span->to_ns, to);
        char line[sizeof kinds + 3 * ETLHEAP_UNITS_SIZE];
        snprintf(line, sizeof line, "%s s to %s s (%s)", from, to, kinds);
        etlheap_text_label(sink, layout, "Recorded span", line);
    }
}

void etlheap_text_window(etlheap_sink *sink, const etlheap_layout *layout,
                         const etlheap_result *result, i64 from_ns, i64 to_ns)
{
    char from[ETLHEAP_UNITS_SIZE];
    char to[ETLHEAP_UNITS_SIZE];
    char window[3 * ETLHEAP_UNITS_SIZE];
    if (from_ns > 0 || to_ns < etlheap_result_trace(result)->end_ns) {
        etlheap_units_moment(from_ns, from);
        etlheap_units_moment(to_ns, to);
        snprintf(window, sizeof window, "%s s to %s s", from, to);
        etlheap_text_label(sink, layout, "Window", window);
    }
    etlheap_text_spans(sink, layout, result, (etlheap_time_range){ from_ns, to_ns });
    etlheap_text_excluded(sink, layout, NULL);
}

void etlheap_text_excluded(etlheap_sink *sink, const etlheap_layout *layout,
                           const char *const *names)
{
    etlheap_text text = { 0 };
    for (u32 run = 0; run < layout->excluded_count; run++) {
        etlheap_text_clear(&text);
        etlheap_excluded_add(&text, layout, run, names);
        etlheap_text_label(sink, layout, "Left out", etlheap_text_of(&text));
    }
    etlheap_text_free(&text);
}

void etlheap_text_rates(etlheap_sink *sink, const etlheap_layout *layout,
                        const etlheap_result *result, const etlheap_table *table)
{
    const etlheap_time_range window = { table->from_ns, table->to_ns };
    const u32 kinds = etlheap_result_kinds(result) & ETLHEAP_KINDS_DEFAULT;
    bool lacks = false;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        lacks |=
            (kinds >> kind & 1) != 0 &&
            etlheap_recorded_lacks(
                etlheap_recorded_part(etlheap_result_trace(result), 1u << kind, window), window);
    if (lacks)
        etlheap_text_label(sink, layout, "Note",
                           "rates count only the recorded span, not the whole window");
}

/* Writes a note about rows that are not listed, and how to list them. */
static void write_more(etlheap_sink *sink, const etlheap_layout *layout, bool may_list,
                       etlheap_text *text)
{
    etlheap_text_add_string(text,
                            may_list ? etlheap_hint_words(layout->hint, ETL_HINT_MORE_ROWS) : "");
    etlheap_emphasis_on(sink, layout, ETLHEAP_EMPHASIS_WEAK);
    etlheap_display_wrap(sink, etlheap_text_of(text), 0, 0, layout->width);
    etlheap_emphasis_off(sink, layout, ETLHEAP_EMPHASIS_WEAK);
    etlheap_text_clear(text);
}

void etlheap_text_more_rows(etlheap_sink *sink, const etlheap_layout *layout,
                            const etlheap_more_rows *more, etlheap_text *scratch)
{
    etlheap_text_clear(scratch);
    const bool has_later = etlheap_more_rows_later(more, scratch);
    if (has_later) {
        etlheap_sink_text(sink, "\n");
        write_more(sink, layout, etlheap_more_rows_follow(more), scratch);
    }
    if (etlheap_more_rows_empty(more, scratch)) {
        etlheap_sink_text(sink, has_later ? "" : "\n");
        write_more(sink, layout, true, scratch);
    }
}

void etlheap_text_more(etlheap_sink *sink, const etlheap_layout *layout, u64 count, u64 listed,
                       const char *noun)
{
    etlheap_text text = { 0 };
    if (count == 0)
        return;
    etlheap_more_add(&text, count, listed, noun);
    etlheap_sink_text(sink, "\n");
    write_more(sink, layout, true, &text);
    etlheap_text_free(&text);
}

/* Writes diagnostics: name and count first, for searching, then the sentence with advice. */
void etlheap_text_diagnostics(etlheap_sink *sink, const etlheap_layout *layout,
                              const etl_diag_counts *counts)
{
    bool any = false;
    for (int i = 0; i < ETL_DIAG_COUNT; i++) {
        const etl_diag_info *const info = etl_diag_describe((etl_diag)i);
        char count[ETLHEAP_UNITS_SIZE];
        char head[128], sentence[ETLHEAP_SENTENCE_SIZE];
        if (counts->of[i] == 0)
            continue;
        if (!any)
            etlheap_text_heading(sink, layout, "Diagnostics");
        any = true;
        etlheap_units_count((i64)etl_min_u64(counts->of[i], INT64_MAX), count);
        const int size =
            snprintf(head, sizeof head, "%-6s %11s  %s: ", etl_severity_name(info->severity), count,
                     info->name);
        etlheap_sink_text(sink, head);
        etlheap_diag_sentence((etl_diag)i, layout->hint, sentence);
        etlheap_display_wrap(sink, sentence, (u32)size, 20, layout->width);
    }
}

void etlheap_text_diagnostics_of(etlheap_sink *sink, const etlheap_layout *layout,
                                 const char *whose, const etl_diag_counts *counts)
{
    bool any = false;
    for (int i = 0; i < ETL_DIAG_COUNT; i++)
        any |= counts->of[i] != 0;
    if (any)
        etlheap_text_heading(sink, layout, whose);
    etlheap_text_diagnostics(sink, layout, counts);
}

/* Writes the remedy of a question. What comes with another kind needs no command of its own. */
static void write_remedy(etlheap_sink *sink, const etlheap_layout *layout,
                         const etlheap_ability *ability)
{
    char value[REMEDY_SIZE];
    const char *const before = ability->is_extra ? ability->question : ability->why;
    if (ability->with != NULL)
        snprintf(value, sizeof value, "%s: recorded together with %s", before, ability->with);
    else
        snprintf(value, sizeof value, "%s: %s", before, ability->record);
    etlheap_text_label(sink, layout, ability->word, value);
}

void etlheap_text_remedies(etlheap_sink *sink, const etlheap_layout *layout,
                           const etlheap_result *result, bool extras)
{
    for (u32 i = 0; i < etlheap_ability_count(); i++) {
        etlheap_ability ability;
        etlheap_ability_of(result, i, &ability);
        if (ability.record != NULL && !ability.has_own_line && ability.is_extra == extras)
            write_remedy(sink, layout, &ability);
    }
}

static void add_frame(etlheap_grid *grid, const etlheap_text *text)
{
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_WEAK);
    etlheap_grid_name(grid, etlheap_text_of(text));
    if (text->failed)
        grid->text.failed = true;
}

/* Counts of files are u64; beyond i64 they are wrong anyway. */
static void add_count(etlheap_text *text, u64 count, const char *what)
{
    char digits[ETLHEAP_UNITS_SIZE];
    etlheap_units_count((i64)etl_min_u64(count, INT64_MAX), digits);
    etlheap_text_add_string(text, digits);
    etlheap_text_add_string(text, what);
}

static void label_of_text(etlheap_sink *sink, const etlheap_layout *layout, const char *label,
                          const etlheap_text *text)
{
    etlheap_text_label(sink, layout, label, etlheap_text_of(text));
}
