/*
 * moment.c - the moment of a report of what is outstanding at one.
 */
#include "formats/io/units.h"
#include "formats/writers.h"
#include "text_parts.h"

#include <stdio.h>

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

/* Exact, because a moment is what gets copied into the next command. */
void etlheap_text_moment(etlheap_sink *sink, const etlheap_layout *layout,
                         const etlheap_table *table)
{
    i64 at_ns;
    char time[ETLHEAP_UNITS_SIZE];
    char line[ETLHEAP_KIND_COUNT * (ETLHEAP_UNITS_SIZE + 24)] = "";
    int used = 0;
    if (!table->at_end)
        return;
    const bool is_one = etlheap_table_moment(table, &at_ns);
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (!table->totals[kind].present)
            continue;
        etlheap_units_moment(table->totals[kind].to_ns, time);
        if (is_one)
            snprintf(line, sizeof line, "%s s", time);
        else
            used += snprintf(line + used, sizeof line - (size_t)used, "%s%s s (%s)",
                             used > 0 ? ", " : "", time, etlheap_kind_name((etlheap_kind)kind));
    }
    etlheap_text_label(sink, layout, "Moment", line);
}
