/*
 * suspect_parts.c - says in words why a group is a suspect, for all formats.
 *
 * In: an etlheap_suspect. Out: phrases: share, reason, threads, verdict. Invariant: a verdict reads
 * the same in every format.
 */
#include "suspect_parts.h"

#include "formats/io/text_buffer.h"
#include "formats/io/units.h"

#include <inttypes.h>

#define SHARE_WHOLE 1000000 /* etlheap_suspect.outstanding_share is in millionths */

static const etlheap_field fields[] = { SUSPECT_COLUMNS(ETLHEAP_COLUMN_FIELD) };
const etlheap_field_list suspect_columns = { fields, NULL, SUSPECT_COLUMN_COUNT };

void suspect_values(const etlheap_row *row, const etlheap_suspect *s,
                    etlheap_value out[SUSPECT_COLUMN_COUNT])
{
    const i64 *const m = row->measures;
    const etlheap_value values[] = { SUSPECT_COLUMNS(ETLHEAP_COLUMN_VALUE) };
    memcpy(out, values, sizeof values);
    etlheap_values_hide(row->kind, fields, out, SUSPECT_COLUMN_COUNT);
}

static void add_count(etlheap_text *text, i64 count)
{
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_units_count(count, words);
    etlheap_text_add_string(text, words);
}

static void add_duration(etlheap_text *text, i64 ns)
{
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_units_duration(ns, words);
    etlheap_text_add_string(text, words);
}

static void add_estimate(etlheap_text *text, i64 ns)
{
    char words[ETLHEAP_UNITS_SIZE];
    etlheap_units_estimate(ns, words);
    etlheap_text_add_string(text, words);
}

bool suspect_shows_key(const etlheap_table *table, etlheap_key key)
{
    bool by_stack = false;
    for (u32 k = 0; k < table->group_by_count; k++)
        by_stack |= table->group_by[k] == ETLHEAP_KEY_STACK;
    return key != ETLHEAP_KEY_SITE || !by_stack;
}

void suspect_add_never_freed(const etlheap_suspect *suspect, etlheap_text *text)
{
    add_count(text, suspect->never_freed_count);
    etlheap_text_add_string(text, " of ");
    add_count(text, suspect->alloc_count);
}

void suspect_add_share(const etlheap_suspect *suspect, etlheap_text *text)
{
    char words[ETLHEAP_UNITS_SIZE];
    if (suspect->outstanding_share == ETLHEAP_NOT_KNOWN) {
        etlheap_text_add_string(text, "\xE2\x80\x93");
        return;
    }
    etlheap_units_share(suspect->outstanding_share, SHARE_WHOLE, words);
    etlheap_text_add_string(text, words);
}

static void add_last(const char *words, const etlheap_suspect *suspect, etlheap_text *text)
{
    char moment[ETLHEAP_UNITS_SIZE];
    etlheap_units_moment(suspect->last_ns, moment);
    etlheap_text_add_format(text, "%s at %s s", words, moment);
}

static void add_never_freed_only(const etlheap_suspect *suspect, etlheap_text *text)
{
    etlheap_text_add_string(text, "None of ");
    add_count(text, suspect->alloc_count);
    etlheap_text_add_format(text,
                            " blocks was freed, and new ones were allocated in %" PRIu32
                            " of %d equal parts of the run",
                            suspect->part_count, ETLHEAP_SUSPECT_PARTS);
    if (suspect->has_stopped)
        add_last(", the last one", suspect, text);
}

static void add_never_freed_some(const etlheap_suspect *suspect, etlheap_text *text)
{
    const bool is_one = suspect->never_freed_count == 1;
    suspect_add_never_freed(suspect, text);
    etlheap_text_add_string(text, is_one ? " blocks was never freed" : " blocks were never freed");
    if (suspect->has_stopped) {
        add_last(", the last of them allocated", suspect, text);
    } else {
        etlheap_text_add_string(text, is_one ? ", for " : ", for up to ");
        add_duration(text, suspect->oldest_ns);
    }
    etlheap_text_add_string(text, "; the others usually lived about ");
    add_estimate(text, suspect->typical_lifetime_ns);
}

/* The engine limits the score of rows that stopped or do not grow, so the reason says it. */
void suspect_add_reason(const etlheap_row *row, const etlheap_suspect *suspect, etlheap_text *text)
{
    if (suspect->never_freed_count == suspect->alloc_count)
        add_never_freed_only(suspect, text);
    else
        add_never_freed_some(suspect, text);
    if (!suspect->has_stopped && row->measures[ETLHEAP_MEASURE_GROWTH_RATE] <= 0)
        etlheap_text_add_string(text, ", and the size does not grow");
    etlheap_text_add_string(text, ".");
}

void suspect_add_threads(const etlheap_suspect *suspect, const char *separator, etlheap_text *text)
{
    for (u32 i = 0; i < suspect->thread_count; i++)
        etlheap_text_add_format(text, "%s%" PRIu32, i > 0 ? separator : "", suspect->threads[i]);
    if (suspect->has_more_threads)
        etlheap_text_add_format(text, "%s...", separator);
}

/* Of a grouping by stack, which is the default, groups are stacks. */
static const char *groups_word(const etlheap_table *table, bool several)
{
    for (u32 k = 0; k < table->group_by_count; k++) {
        if (table->group_by[k] == ETLHEAP_KEY_STACK)
            return several ? "call stacks" : "call stack";
    }
    return several ? "groups" : "group";
}

void suspect_add_verdict(const etlheap_suspects *suspects, etlheap_text *text)
{
    const bool several = suspects->group_count != 1;
    const char *const groups = groups_word(suspects->table, several);
    if (suspects->group_count == 0) {
        etlheap_text_add_string(text, "No suspects: every block was freed.");
        return;
    }
    if (suspects->table->row_count == 0) {
        etlheap_text_add_string(text, "No suspects: ");
        add_count(text, suspects->group_count);
        etlheap_text_add_format(text,
                                " %s %s blocks that were never freed, and none looks like a leak.",
                                groups, several ? "have" : "has");
        return;
    }
    etlheap_text_add_string(text, "Suspects: ");
    add_count(text, suspects->table->row_count);
    etlheap_text_add_string(text, " of ");
    add_count(text, suspects->group_count);
    etlheap_text_add_format(text, " %s with blocks that were never freed", groups);
}
