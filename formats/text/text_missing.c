/*
 * text_missing.c - the answer to a trace that holds no memory events.
 *
 * Someone recorded the wrong thing, or opened the wrong file: say what is in
 * it, and how to record what is not.
 */
#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "formats/parts/abilities.h"
#include "formats/parts/text_parts.h"

#include <inttypes.h>

#define EVENTS_NAMED_MAX 8

static const char heap_snapshot_guid[] = "901d2afa-4ff6-46d7-8d0e-53645e1a47f5";

static void add_events(const etlheap_result *result, etlheap_text *text);
static const etlheap_hook_count *next_largest(const etlheap_hook_count *rows, u32 count,
                                              const etlheap_hook_count *before);
static bool comes_before(const etlheap_hook_count *a, const etlheap_hook_count *b);
static u64 provider_events(const etlheap_result *result);

/* The kinds that the trace has events of, and that a report shows only if they are named. */
static u32 kinds_to_name(const etlheap_result *result)
{
    u32 kinds = 0;
    for (u32 i = 0; i < etlheap_process_count(result); i++)
        kinds |= etlheap_process_kinds(etlheap_process_of(result, (etlheap_process){ i + 1 }));
    return kinds & ~ETLHEAP_KINDS_DEFAULT;
}

static void add_named(u32 kinds, etlheap_text *text)
{
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_kind_row *const row = etlheap_kind_at((etlheap_kind)kind);
        if ((kinds >> kind & 1) != 0)
            etlheap_text_add_format(text, "%s (kind %s), ", row->plural, row->word);
    }
    etlheap_text_add_string(text, "which are reported if their kind is named");
}

void etlheap_text_missing(etlheap_sink *sink, const etlheap_layout *layout,
                          const etlheap_result *result, etlheap_text *scratch)
{
    const u32 named = kinds_to_name(result);
    etlheap_text_heading(sink, layout,
                         named == 0 ? "No heap or VirtualAlloc events: nothing to report"
                                    : "No heap or VirtualAlloc events");
    etlheap_text_clear(scratch);
    add_named(named, scratch);
    if (named != 0)
        etlheap_text_label(sink, layout, "It has", etlheap_text_of(scratch));
    etlheap_text_clear(scratch);
    add_events(result, scratch);
    etlheap_text_label(sink, layout, "It holds", etlheap_text_of(scratch));
    etlheap_text_snapshots(sink, layout, result);
    etlheap_text_heading(sink, layout, "How to record what is missing");
    etlheap_text_remedies(sink, layout, result, false);
    etlheap_text_remedies(sink, layout, result, true);
}

/* Snapshots are events of one provider, whatever is in them. */
void etlheap_text_snapshots(etlheap_sink *sink, const etlheap_layout *layout,
                            const etlheap_result *result)
{
    const etlheap_provider_count *rows = NULL;
    const u32 count = etlheap_provider_counts(result, &rows);
    for (u32 i = 0; i < count; i++) {
        char guid[ETL_GUID_TEXT_SIZE];
        etl_guid_format(rows[i].guid.bytes, guid);
        if (!rows[i].is_message && strcmp(guid, heap_snapshot_guid) == 0)
            etlheap_text_label(sink, layout, "Snapshots",
                               "a heap snapshot recording (wpr -start HeapSnapshot): it lists the "
                               "blocks of a moment, which etlheap does not read; open it in WPA, "
                               "or record allocations as said below");
    }
}

/* The most frequent named events, then how many others there are. */
static void add_events(const etlheap_result *result, etlheap_text *text)
{
    const etlheap_hook_count *rows = NULL;
    const u32 count = etlheap_hook_counts(result, &rows);
    const u64 others = provider_events(result);
    const etlheap_hook_count *row = next_largest(rows, count, NULL);
    for (u32 i = 0; row && i < EVENTS_NAMED_MAX; i++) {
        char number[ETLHEAP_UNITS_SIZE];
        etlheap_units_count((i64)etl_min_u64(row->count, INT64_MAX), number);
        etlheap_text_add_format(text, "%s%s ", i > 0 ? ", " : "", number);
        if (row->name)
            etlheap_text_add_string(text, row->name);
        else
            etlheap_text_add_format(text, "of hook 0x%04" PRIx16, row->hook);
        row = next_largest(rows, count, row);
    }
    if (row)
        etlheap_text_add_string(text, ", and more kinds");
    if (others > 0)
        etlheap_text_add_format(text, "%s%" PRIu64 " events of providers", count > 0 ? "; " : "",
                                others);
    etlheap_text_add_string(text, count == 0 && others == 0 ? "nothing" : " (see etlheap info)");
}

/* The row after `before` in order of count; NULL after the last. */
static const etlheap_hook_count *next_largest(const etlheap_hook_count *rows, u32 count,
                                              const etlheap_hook_count *before)
{
    const etlheap_hook_count *best = NULL;
    for (u32 i = 0; i < count; i++) {
        if (before && !comes_before(before, &rows[i]))
            continue;
        if (!best || comes_before(&rows[i], best))
            best = &rows[i];
    }
    return best;
}

static bool comes_before(const etlheap_hook_count *a, const etlheap_hook_count *b)
{
    return a->count != b->count ? a->count > b->count : a->hook < b->hook;
}

static u64 provider_events(const etlheap_result *result)
{
    const etlheap_provider_count *rows = NULL;
    const u32 count = etlheap_provider_counts(result, &rows);
    u64 events = 0;
    for (u32 i = 0; i < count; i++)
        events = etl_sat_add_u64(events, rows[i].count);
    return events;
}
