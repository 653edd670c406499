/*
 * text_info.c - writes what a trace holds, for people.
 *
 * In: a result of an inventory. Out: text: what the recording is and what can be analysed, with the
 * command that would record the rest; then processes, events and providers, largest first.
 * Invariant: whatever is missing comes with its remedy (write_abilities).
 */
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "formats/json/summary_traces.h"
#include "formats/parts/abilities.h"
#include "formats/parts/info_rank.h"
#include "formats/parts/provider_events.h"
#include "formats/parts/text_parts.h"
#include "formats/writers.h"
#include "formats/parts/layout_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TITLE_SIZE  32 /* "VirtualAlloc Events" */
#define COLUMNS_MAX (6 + ETLHEAP_KIND_COUNT)

static void write_abilities(const etlheap_result *result, const etlheap_layout *layout,
                            etlheap_sink *sink);
static void write_part(const etlheap_result *result, const etlheap_layout *layout,
                       etlheap_sink *sink);
static void write_stacks(const etlheap_result *result, const etlheap_layout *layout,
                         etlheap_text *text, etlheap_sink *sink);
static void write_marks(const etlheap_result *result, const etlheap_layout *layout,
                        etlheap_text *text, etlheap_sink *sink);
static etl_status write_processes(const etlheap_result *result, const etlheap_layout *layout,
                                  etlheap_sink *sink);
static void add_process(const etlheap_result *result, const etlheap_process_info *process,
                        etlheap_grid *grid);
static etl_status write_events(const etlheap_result *result, const etlheap_layout *layout,
                               etlheap_sink *sink);
static etl_status write_providers(const etlheap_result *result, const etlheap_layout *layout,
                                  etlheap_sink *sink);
static etl_status write_named_events(const etlheap_result *result, const etlheap_layout *layout,
                                     etlheap_sink *sink);
static u32 shown_of(u32 count, const etlheap_layout *layout);
static etl_status write_list(const char *heading, u32 count, etlheap_grid *grid,
                             const etlheap_layout *layout, etlheap_sink *sink);
static void add_unsigned(etlheap_grid *grid, u64 value);

/* Only for anonymised stores: why names are words, and how to see whether two stores agree. */
static void write_key(const etlheap_result *result, const etlheap_layout *layout,
                      etlheap_text *text, etlheap_sink *sink)
{
    u64 key_check;
    if (!etlheap_result_is_anonymised(result, &key_check))
        return;
    etlheap_text_clear(text);
    etlheap_text_add_format(text,
                            "anonymised: words of a key, which stores with key check "
                            "%016" PRIx64 " share",
                            key_check);
    etlheap_text_label(sink, layout, "Names", etlheap_text_of(text));
}

etl_status etlheap_write_info_text(const etlheap_result *result, const etlheap_layout *given,
                                   etlheap_sink *sink)
{
    etlheap_layout own;
    const etlheap_layout *const layout = &own;
    const etl_status layout_status = etlheap_layout_read(given, &own);
    if (layout_status != ETL_OK)
        return layout_status;
    etlheap_text text = { 0 };
    etlheap_text_recording(sink, layout, etlheap_result_trace(result), &text);
    etlheap_text_spans(sink, layout, result,
                       (etlheap_time_range){ 0, etlheap_result_trace(result)->end_ns });
    write_part(result, layout, sink);
    write_stacks(result, layout, &text, sink);
    write_key(result, layout, &text, sink);
    write_marks(result, layout, &text, sink);
    etlheap_text_summary(result, layout, sink);
    write_abilities(result, layout, sink);
    etl_status status = etlheap_text_traces(result, layout, sink);
    if (status == ETL_OK)
        status = write_processes(result, layout, sink);
    if (status == ETL_OK)
        status = write_events(result, layout, sink);
    if (status == ETL_OK)
        status = write_providers(result, layout, sink);
    if (status == ETL_OK)
        status = write_named_events(result, layout, sink);
    etlheap_text_diagnostics(sink, layout, etlheap_result_diagnostics(result));
    if (text.failed)
        status = ETL_ERR_MEMORY;
    etlheap_text_free(&text);
    return status;
}

/* Writes what can be analysed. Whatever is missing comes with its remedy. */
static void write_abilities(const etlheap_result *result, const etlheap_layout *layout,
                            etlheap_sink *sink)
{
    u32 missing = 0, extras = 0, shown = 0;
    etlheap_text_heading(sink, layout, "Can be analysed");
    for (u32 i = 0; i < etlheap_ability_count(); i++) {
        etlheap_ability ability;
        etlheap_ability_of(result, i, &ability);
        const bool is_missing = ability.record != NULL && !ability.has_own_line;
        extras += is_missing && ability.is_extra;
        missing += is_missing && !ability.is_extra;
        if (!ability.can || ability.has_own_line)
            continue;
        shown++;
        etlheap_text_label(sink, layout, ability.word, ability.question);
    }
    if (shown == 0)
        etlheap_text_label(sink, layout, "nothing", "the trace has no memory events");
    etlheap_text_snapshots(sink, layout, result);
    if (missing > 0)
        etlheap_text_heading(sink, layout, "Missing, and how to record it");
    etlheap_text_remedies(sink, layout, result, false);
    if (extras > 0)
        etlheap_text_heading(sink, layout, "Can also be recorded, if you need it");
    etlheap_text_remedies(sink, layout, result, true);
}

/* What a store has, if it was cut. Counts of records are those of the whole recording. */
static void write_part(const etlheap_result *result, const etlheap_layout *layout,
                       etlheap_sink *sink)
{
    char words[ETLHEAP_PART_WORDS_SIZE], line[ETLHEAP_PART_WORDS_SIZE + 96];
    const etlheap_part *const part = etlheap_result_part(result);
    if (part == NULL)
        return;
    etlheap_part_words(part, words);
    snprintf(line, sizeof line, "%s; counts of events and losses are those of the whole recording",
             words);
    etlheap_text_label(sink, layout, "Part", line);
}

/* Stacks and modules decide how much a report can say, so they stand on top. */
static void write_stacks(const etlheap_result *result, const etlheap_layout *layout,
                         etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_stack_counts *const stacks = etlheap_result_stacks(result);
    etlheap_text_clear(text);
    etlheap_text_add_format(text, "%" PRIu64 " records", stacks->records);
    if (stacks->records > 0)
        etlheap_text_add_format(text, ", %" PRIu64 " matched to their event", stacks->matched);
    if (stacks->keys_referenced > 0)
        etlheap_text_add_format(text, ", %" PRIu64 " of %" PRIu64 " keys resolved",
                                stacks->keys_resolved, stacks->keys_referenced);
    etlheap_text_label(sink, layout, "Stacks", etlheap_text_of(text));
    etlheap_text_clear(text);
    etlheap_text_add_format(text, "%" PRIu32, etlheap_module_count(result));
    if (etlheap_method_count(result) > 0)
        etlheap_text_add_format(text, ", and %" PRIu32 " methods of .NET",
                                etlheap_method_count(result));
    etlheap_text_label(sink, layout, "Modules", etlheap_text_of(text));
}

/* How many marks are named. Without any, the text says how to record some. A summary keeps none. */
#define MARKS_NAMED 5

static void write_marks(const etlheap_result *result, const etlheap_layout *layout,
                        etlheap_text *text, etlheap_sink *sink)
{
    const etlheap_marks *const marks = etlheap_result_marks(result);
    if (etlheap_result_is_summary(result))
        return;
    etlheap_text_clear(text);
    if (marks->count == 0)
        etlheap_text_add_string(text, "none (to add some while recording: wpr -marker NAME, or "
                                      "xperf -m NAME)");
    else
        etlheap_text_add_format(text, "%" PRIu32 ": ", marks->count);
    for (u32 i = 0; i < marks->count && i < MARKS_NAMED; i++) {
        etlheap_text_add_string(text, i > 0 ? ", " : "");
        etlheap_text_add_string(text, marks->at[i].name);
    }
    etlheap_text_add_string(text, marks->count > MARKS_NAMED ? ", ..." : "");
    etlheap_text_label(sink, layout, "Marks", etlheap_text_of(text));
}

/* Does the kind have a column of events? Those that few traces have only if it is there. */
static bool has_column(const etlheap_result *result, u32 kind)
{
    return etlheap_kind_at((etlheap_kind)kind)->recorded_with == kind &&
           (etlheap_kind_has(kind, ETLHEAP_KIND_COMMON) ||
            (etlheap_result_kinds(result) >> kind & 1) != 0);
}

/* Processes with memory events first, the others by number. */
static etl_status write_processes(const etlheap_result *result, const etlheap_layout *layout,
                                  etlheap_sink *sink)
{
    etlheap_column columns[COLUMNS_MAX] = {
        { .title = "PID", .right = true },
        { .title = "Process" },
        { .title = "Bits", .right = true },
    };
    char titles[ETLHEAP_KIND_COUNT][TITLE_SIZE];
    u32 used = 3;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (!has_column(result, kind))
            continue;
        snprintf(titles[kind], TITLE_SIZE, "%s Events", etlheap_kind_at((etlheap_kind)kind)->title);
        columns[used++] = (etlheap_column){ .title = titles[kind], .right = true };
    }
    columns[used++] = (etlheap_column){ .title = "Start (s)", .right = true };
    columns[used++] = (etlheap_column){ .title = "End (s)", .right = true };
    columns[used++] = (etlheap_column){ .title = "Command Line", .flexible = true };
    const u32 count = etlheap_process_count(result);
    info_row *const rows = info_processes(result);
    if (!rows)
        return ETL_ERR_MEMORY;
    etlheap_grid grid = etlheap_grid_begin(columns, used);
    for (u32 i = 0; i < shown_of(count, layout); i++)
        add_process(result, etlheap_process_of(result, (etlheap_process){ rows[i].index + 1 }),
                    &grid);
    free(rows);
    return write_list("Processes", count, &grid, layout, sink);
}

/* The bytes shown of services or a package: those of a host process may fill lines. */
#define MORE_SHOWN_MAX 40

/* Adds "svchost.exe [Dhcp,EventLog]" or "SearchApp.exe [Microsoft.Windows.Search]", to tell
 * processes of one name apart. Version and publisher of a package are left out. */
static void add_process_name(const etlheap_process_info *process, etlheap_grid *grid)
{
    const char *const more = process->services ? process->services : process->package;
    if (more == NULL) {
        etlheap_grid_cell(grid, process->name);
        return;
    }
    etlheap_text text = { 0 };
    const size_t size = process->services ? strlen(more) : strcspn(more, "_");
    size_t shown = size <= MORE_SHOWN_MAX ? size : MORE_SHOWN_MAX;
    while (shown > 0 && shown < size && ((u8)more[shown] & 0xC0) == 0x80)
        shown--;
    etlheap_text_add_string(&text, process->name);
    etlheap_text_add_string(&text, " [");
    etlheap_text_add(&text, more, shown);
    etlheap_text_add_string(&text, shown < size ? "...]" : "]");
    etlheap_grid_cell(grid, etlheap_text_of(&text));
    etlheap_text_free(&text);
}

/* Adds a process. Start and end are empty if it was there before or stayed after. */
static void add_process(const etlheap_result *result, const etlheap_process_info *process,
                        etlheap_grid *grid)
{
    char text[ETLHEAP_UNITS_SIZE];
    etlheap_grid_row(grid, ETLHEAP_EMPHASIS_NONE);
    snprintf(text, sizeof text, "%" PRIu32, process->pid);
    etlheap_grid_cell(grid, process->pid == ETL_NO_ID ? "" : text);
    add_process_name(process, grid);
    snprintf(text, sizeof text, "%" PRIu32, process->pointer_bits);
    etlheap_grid_cell(grid, process->pointer_bits ? text : "");
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (has_column(result, kind))
            add_unsigned(grid, process->events[kind]);
    }
    etlheap_units_seconds(etlheap_time_ns(result, process->start_ticks), text);
    etlheap_grid_cell(grid, process->start_ticks == ETLHEAP_TICKS_BEFORE ? "" : text);
    etlheap_units_seconds(etlheap_time_ns(result, process->end_ticks), text);
    etlheap_grid_cell(grid, process->end_ticks == ETLHEAP_TICKS_NEVER ? "" : text);
    etlheap_grid_cell(grid, process->command_line);
}

/* Writes events by count, because the first rows show what kind of recording it is. */
static etl_status write_events(const etlheap_result *result, const etlheap_layout *layout,
                               etlheap_sink *sink)
{
    static const etlheap_column columns[] = {
        { .title = "Hook" },
        { .title = "Event", .flexible = true },
        { .title = "Count", .right = true },
        { .title = "Size", .right = true },
    };
    const etlheap_hook_count *hooks = NULL;
    const u32 count = etlheap_hook_counts(result, &hooks);
    info_row *const rows = calloc((size_t)count + 1, sizeof *rows);
    if (!rows)
        return ETL_ERR_MEMORY;
    for (u32 i = 0; i < count; i++)
        rows[i] = (info_row){ hooks[i].count, i };
    info_rank(rows, count);
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    for (u32 i = 0; i < shown_of(count, layout); i++) {
        const etlheap_hook_count *const hook = &hooks[rows[i].index];
        char text[ETLHEAP_UNITS_SIZE];
        snprintf(text, sizeof text, "0x%04" PRIx16, hook->hook);
        etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
        etlheap_grid_cell(&grid, text);
        etlheap_grid_cell(&grid, hook->name ? hook->name : "");
        add_unsigned(&grid, hook->count);
        etlheap_grid_size(&grid, (i64)etl_min_u64(hook->bytes, INT64_MAX));
    }
    free(rows);
    return write_list("Events by hook", count, &grid, layout, sink);
}

/* Each message GUID is a row here; JSON sums them up. */
static etl_status write_providers(const etlheap_result *result, const etlheap_layout *layout,
                                  etlheap_sink *sink)
{
    static const etlheap_column columns[] = {
        { .title = "Provider" },
        { .title = "Name", .flexible = true },
        { .title = "Count", .right = true },
        { .title = "Size", .right = true },
    };
    const etlheap_provider_count *providers = NULL;
    const u32 count = etlheap_provider_counts(result, &providers);
    info_row *const rows = calloc((size_t)count + 1, sizeof *rows);
    if (!rows)
        return ETL_ERR_MEMORY;
    for (u32 i = 0; i < count; i++)
        rows[i] = (info_row){ providers[i].count, i };
    info_rank(rows, count);
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    for (u32 i = 0; i < shown_of(count, layout); i++) {
        const etlheap_provider_count *const provider = &providers[rows[i].index];
        const char *const name = etlheap_provider_title(result, provider->guid.bytes);
        char guid[ETL_GUID_TEXT_SIZE];
        etl_guid_format(provider->guid.bytes, guid);
        etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
        etlheap_grid_cell(&grid, guid);
        etlheap_grid_cell(&grid, provider->is_message ? "(messages)" : name ? name : "");
        add_unsigned(&grid, provider->count);
        etlheap_grid_size(&grid, (i64)etl_min_u64(provider->bytes, INT64_MAX));
    }
    free(rows);
    return write_list("Events by provider", count, &grid, layout, sink);
}

/* Writes the events that the trace names; others have only ids. */
static etl_status write_named_events(const etlheap_result *result, const etlheap_layout *layout,
                                     etlheap_sink *sink)
{
    static const etlheap_column columns[] = {
        { .title = "Provider" },
        { .title = "Id", .right = true },
        { .title = "Event", .flexible = true },
        { .title = "Count", .right = true },
        { .title = "Size", .right = true },
    };
    const etlheap_event_count *events = NULL;
    const u32 all = etlheap_event_counts(result, &events);
    info_row *const rows = calloc((size_t)all + 1, sizeof *rows);
    u32 count = 0;
    if (!rows)
        return ETL_ERR_MEMORY;
    for (u32 i = 0; i < all; i++) {
        if (events[i].name[0] != '\0')
            rows[count++] = (info_row){ events[i].count, i };
    }
    info_rank(rows, count);
    etlheap_grid grid = etlheap_grid_begin(columns, ETL_COUNT_OF(columns));
    for (u32 i = 0; i < shown_of(count, layout); i++) {
        const etlheap_event_count *const event = &events[rows[i].index];
        const char *const provider = etlheap_provider_title(result, event->provider.bytes);
        etlheap_grid_row(&grid, ETLHEAP_EMPHASIS_NONE);
        etlheap_grid_cell(&grid, provider ? provider : "");
        add_unsigned(&grid, event->is_class ? event->opcode : event->id);
        etlheap_grid_cell(&grid, event->name);
        add_unsigned(&grid, event->count);
        etlheap_grid_size(&grid, (i64)etl_min_u64(event->bytes, INT64_MAX));
    }
    free(rows);
    return write_list("Events of providers by name", count, &grid, layout, sink);
}

static u32 shown_of(u32 count, const etlheap_layout *layout)
{
    return layout->rows_max ? (u32)etl_min_u64(count, layout->rows_max) : count;
}

/* Heading, table, and how many rows were left out; frees the table. */
static etl_status write_list(const char *heading, u32 count, etlheap_grid *grid,
                             const etlheap_layout *layout, etlheap_sink *sink)
{
    char title[128];
    const u32 shown = shown_of(count, layout);
    if (shown == count)
        snprintf(title, sizeof title, "%s", heading);
    else
        snprintf(title, sizeof title, "%s (%" PRIu32 " of %" PRIu32 "%s)", heading, shown, count,
                 etlheap_hint_words(layout->hint, ETL_HINT_MORE_ROWS));
    if (count > 0)
        etlheap_text_heading(sink, layout, title);
    return etlheap_grid_write(grid, layout, sink);
}

static void add_unsigned(etlheap_grid *grid, u64 value)
{
    etlheap_grid_count(grid, (i64)etl_min_u64(value, INT64_MAX));
}
