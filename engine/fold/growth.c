/* growth.c - see growth.h. */
#include "growth.h"

i64 sample_time_ns(i64 from_ns, i64 to_ns, u32 sample)
{
    const u32 pieces = GROWTH_SAMPLES - 1;
    const u64 span = (u64)to_ns - (u64)from_ns;
    return (i64)((u64)from_ns + span / pieces * sample + span % pieces * sample / pieces);
}

i64 sample_time_ticks(const query_plan *plan, const etlheap_time_range *span, u32 sample)
{
    return etl_time_ticks(plan->result->base.base,
                          sample_time_ns(span->from_ns, span->to_ns, sample));
}

sample_times sample_times_between(const query_plan *plan, i64 from_ns, i64 to_ns)
{
    sample_times out;
    for (u32 i = 0; i < GROWTH_SAMPLES; i++) {
        out.times_ns[i] = sample_time_ns(from_ns, to_ns, i);
        out.ticks[i] = etl_time_ticks(plan->result->base.base, out.times_ns[i]);
    }
    sample_times_prepare(&out);
    return out;
}

void growth_scale(u8 kind, i64 sizes[GROWTH_SAMPLES])
{
    const i64 seconds = 3600;
    for (u32 i = 0; etlheap_kind_has(kind, ETLHEAP_KIND_NO_SIZES) && i < GROWTH_SAMPLES; i++)
        sizes[i] = sizes[i] < INT64_MAX / seconds ? sizes[i] * seconds : INT64_MAX;
}

void growth_set(i64 *measures, growth_rating rating)
{
    measures[ETLHEAP_MEASURE_GROWTH_RATE] = rating.rate;
    measures[ETLHEAP_MEASURE_STEADINESS] = rating.steadiness;
}
