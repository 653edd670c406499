/*
 * churn_parts.c - the share and the estimated cost of temporary blocks, in words and numbers.
 */
#include "churn_parts.h"

#include "formats/io/text_buffer.h"
#include "formats/io/units.h"
#include "display.h"

i64 etlheap_churn_cost_ns(i64 temporary_count)
{
    i64 ns;
    return __builtin_mul_overflow(temporary_count, ETLHEAP_CHURN_COST_NS, &ns) ? INT64_MAX : ns;
}

void etlheap_churn_share(const i64 measures[ETLHEAP_MEASURES_COUNT], char out[ETLHEAP_UNITS_SIZE])
{
    out[0] = '\0';
    if (measures[ETLHEAP_MEASURE_ALLOC_COUNT] > 0)
        etlheap_units_share(measures[ETLHEAP_MEASURE_TEMPORARY_COUNT],
                            measures[ETLHEAP_MEASURE_ALLOC_COUNT], out);
}

static void add_kind(etlheap_text *text, etlheap_kind kind, const i64 *measures)
{
    char temporary[ETLHEAP_UNITS_SIZE], all[ETLHEAP_UNITS_SIZE], share[ETLHEAP_UNITS_SIZE];
    etlheap_units_count(measures[ETLHEAP_MEASURE_TEMPORARY_COUNT], temporary);
    etlheap_units_count(measures[ETLHEAP_MEASURE_ALLOC_COUNT], all);
    etlheap_churn_share(measures, share);
    etlheap_text_add_format(text,
                            "%s of %s %s allocations (%s) were temporary: freed before their "
                            "thread allocated again.",
                            temporary, all, etlheap_kind_name(kind), share);
}

/* Of heap blocks alone something is known of the cost. */
static void add_cost(etlheap_text *text, const i64 *measures)
{
    char cost[ETLHEAP_UNITS_SIZE];
    etlheap_units_estimate(etlheap_churn_cost_ns(measures[ETLHEAP_MEASURE_TEMPORARY_COUNT]), cost);
    etlheap_text_add_format(text,
                            " Estimate: at %d ns for each allocation and its free, they took about "
                            "%s of processor time.",
                            ETLHEAP_CHURN_COST_NS, cost);
}

etl_status etlheap_write_churn_text(const etlheap_table *table, const etlheap_layout *layout,
                                    etlheap_sink *sink)
{
    etlheap_text text = { 0 };
    for (int kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const i64 *const measures = table->totals[kind].measures;
        if (measures[ETLHEAP_MEASURE_ALLOC_COUNT] == 0)
            continue;
        etlheap_text_clear(&text);
        add_kind(&text, (etlheap_kind)kind, measures);
        if (kind == ETLHEAP_KIND_HEAP && measures[ETLHEAP_MEASURE_TEMPORARY_COUNT] > 0)
            add_cost(&text, measures);
        etlheap_sink_text(sink, "\n");
        etlheap_display_wrap(sink, etlheap_text_of(&text), 0, 0, layout->width);
    }
    const bool failed = text.failed;
    etlheap_text_free(&text);
    return failed ? ETL_ERR_MEMORY : ETL_OK;
}
