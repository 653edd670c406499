/* growth.c - see growth.h. */
#include "growth.h"

i64 growth_moment_ns(i64 from_ns, i64 to_ns, u32 sample)
{
    const u32 pieces = GROWTH_SAMPLES - 1;
    const u64 span = (u64)to_ns - (u64)from_ns;
    return (i64)((u64)from_ns + span / pieces * sample + span % pieces * sample / pieces);
}

growth_moments growth_moments_between(const query_plan *plan, i64 from_ns, i64 to_ns)
{
    growth_moments out;
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        out.times_ns[i] = growth_moment_ns(from_ns, to_ns, i);
        out.ticks[i] = etl_time_ticks(plan->result->base.base, out.times_ns[i]);
    }
    growth_moments_settle(&out);
    return out;
}

bool growth_sets_open(growth_sets *out, const aggregator *a)
{
    *out = (growth_sets){ .at = { 0 } };
    return row_spans_open(&out->spans, a, false);
}

void growth_sets_close(growth_sets *sets)
{
    row_spans_close(&sets->spans);
    ETLHEAP_VECTOR_FREE(&sets->at);
}

bool growth_sets_find(growth_sets *sets, const group_key *key, u32 *number)
{
    if (!row_spans_find(&sets->spans, key, number))
        return false;
    if (*number < sets->at.count)
        return true;
    const etlheap_time_range span = sets->spans.spans.at[*number];
    assert(*number == sets->at.count);
    return ETLHEAP_PUSH(&sets->at,
                        growth_moments_between(&sets->spans.a->plan, span.from_ns, span.to_ns));
}

void growth_set(i64 *measures, growth_rating rating)
{
    measures[ETLHEAP_MEASURE_GROWTH_RATE] = rating.rate;
    measures[ETLHEAP_MEASURE_STEADINESS] = rating.steadiness;
}
