/*
 * moment.c - the moment of a report of what is outstanding at one.
 */
#include "formats/io/units.h"
#include "formats/writers.h"
#include "display.h"
#include "text_parts.h"

bool etlheap_table_moment(const etlheap_table *table, i64 *at_ns)
{
    bool found = false, same = true;
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_total *const total = &table->totals[kind];
        if (!total->present)
            continue;
        same &= !found || total->to_ns == *at_ns;
        *at_ns = total->to_ns;
        found = true;
    }
    return table->at_end && found && same;
}

/* A kind of which nothing is selected has no peak. */
static bool has_moment(const etlheap_layout *layout, const etlheap_total *total)
{
    return total->present &&
           (!layout->peak_of || total->measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT] > 0);
}

/* Exact, because a moment is what gets copied into the next command. */
static void add_moments(const etlheap_layout *layout, const etlheap_table *table,
                        etlheap_text *text)
{
    i64 at_ns;
    char time[ETLHEAP_UNITS_SIZE];
    const bool is_one = etlheap_table_moment(table, &at_ns);
    bool is_first = true;
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (!has_moment(layout, &table->totals[kind]) || (is_one && !is_first))
            continue;
        etlheap_units_moment(table->totals[kind].to_ns, time);
        etlheap_text_add_format(text, "%s%s s", is_first ? "" : ", ", time);
        if (!is_one)
            etlheap_text_add_format(text, " (%s)", etlheap_kind_name((etlheap_kind)kind));
        is_first = false;
    }
    if (is_first && layout->peak_of)
        etlheap_text_add_string(text, "no time, because nothing was outstanding");
}

/* What the moment is the peak of. */
static void add_peak_of(const etlheap_layout *layout, const etlheap_table *table,
                        etlheap_text *text)
{
    i64 at_ns;
    if (layout->peak_of[0] == '\0') {
        etlheap_text_add_string(text, "all memory");
    } else {
        etlheap_text_add_string(text, "what ");
        etlheap_display_add(text, layout->peak_of);
        etlheap_text_add_string(text, " selects");
    }
    if (!etlheap_table_moment(table, &at_ns))
        etlheap_text_add_string(text, ", each kind at its own");
}

void etlheap_text_moment(etlheap_sink *sink, const etlheap_layout *layout,
                         const etlheap_table *table, etlheap_text *text)
{
    if (!table->at_end)
        return;
    etlheap_text_clear(text);
    add_moments(layout, table, text);
    etlheap_text_label(sink, layout, "Moment", etlheap_text_of(text));
    if (!layout->peak_of)
        return;
    etlheap_text_clear(text);
    add_peak_of(layout, table, text);
    etlheap_text_label(sink, layout, "Peak of", etlheap_text_of(text));
}

void etlheap_text_add_moment(etlheap_text *text, const etlheap_layout *layout,
                             const etlheap_table *table)
{
    etlheap_text_add_string(text, "Outstanding at ");
    add_moments(layout, table, text);
    if (!layout->peak_of)
        return;
    etlheap_text_add_string(text, ", the peak of ");
    add_peak_of(layout, table, text);
}
