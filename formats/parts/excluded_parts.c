/*
 * excluded_parts.c - see excluded_parts.h.
 *
 * In: totals of what was left out, kind by kind. Out: words such as "heap 1.60 MiB in 2,200
 * allocations, of which 640 KiB in 160 are outstanding".
 */
#include "excluded_parts.h"

#include "formats/io/text_buffer.h"
#include "formats/io/units.h"

#include <inttypes.h>

const char *const etlheap_excluded_sides[2] = { "base", "new" };

static void add_amount(etlheap_text *text, i64 size_bytes, i64 count)
{
    char size[ETLHEAP_UNITS_SIZE], number[ETLHEAP_UNITS_SIZE];
    etlheap_units_size(size_bytes, size);
    etlheap_units_count(count, number);
    etlheap_text_add_format(text, "%s in %s", size, number);
}

static void add_total(etlheap_text *text, const char *kind, const i64 *measures)
{
    const i64 count = measures[ETLHEAP_MEASURE_COUNT];
    const i64 outstanding = measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT];
    etlheap_text_add_format(text, "%s ", kind);
    add_amount(text, measures[ETLHEAP_MEASURE_SIZE], count);
    etlheap_text_add_string(text, count == 1 ? " allocation, " : " allocations, ");
    if (outstanding == 0) {
        etlheap_text_add_string(text, "none outstanding");
    } else if (outstanding == count) {
        etlheap_text_add_string(text, count == 1 ? "outstanding" : "all outstanding");
    } else {
        etlheap_text_add_string(text, "of which ");
        add_amount(text, measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE], outstanding);
        etlheap_text_add_string(text, outstanding == 1 ? " is outstanding" : " are outstanding");
    }
}

void etlheap_excluded_words(const etlheap_table *excluded, etlheap_text *text)
{
    bool any = false;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const i64 *const measures = excluded->totals[kind].measures;
        if (measures[ETLHEAP_MEASURE_COUNT] == 0)
            continue;
        etlheap_text_add_string(text, any ? "; " : "");
        add_total(text, etlheap_kind_name((etlheap_kind)kind), measures);
        any = true;
    }
    etlheap_text_add_string(text, any ? " (excluded frames)"
                                      : "nothing, because no call stack has an excluded frame");
}

void etlheap_excluded_add(etlheap_text *text, const etlheap_layout *layout, u32 run,
                          const char *const *names)
{
    if (names != NULL)
        etlheap_text_add_format(text, "%s: ", names[run]);
    else if (layout->excluded_count > 1)
        etlheap_text_add_format(text, "run %" PRIu32 ": ", run + 1);
    etlheap_excluded_words(layout->excluded[run], text);
}
