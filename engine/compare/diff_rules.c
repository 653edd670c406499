/*
 * diff_rules.c - which measures can be compared, and what a change is.
 *
 * In: amounts of a group on both sides. Out: the change, and the state of the group: new, gone,
 * grown and so on.
 */
#include "diff_inside.h"

/* The measures that add up over rows, with their partners. */
const diff_pair diff_comparable[DIFF_PAIRS] = {
    { ETLHEAP_MEASURE_COUNT, ETLHEAP_MEASURE_SIZE },
    { ETLHEAP_MEASURE_SIZE, ETLHEAP_MEASURE_COUNT },
    { ETLHEAP_MEASURE_IMPACTING_SIZE, ETLHEAP_MEASURE_IMPACTING_SIZE },
    { ETLHEAP_MEASURE_OUTSTANDING_COUNT, ETLHEAP_MEASURE_OUTSTANDING_SIZE },
    { ETLHEAP_MEASURE_OUTSTANDING_SIZE, ETLHEAP_MEASURE_OUTSTANDING_COUNT },
    { ETLHEAP_MEASURE_REALLOC_COUNT, ETLHEAP_MEASURE_REALLOC_COUNT },
    { ETLHEAP_MEASURE_OVERHEAD_SIZE, ETLHEAP_MEASURE_OVERHEAD_SIZE },
    { ETLHEAP_MEASURE_ALLOC_COUNT, ETLHEAP_MEASURE_ALLOC_SIZE },
    { ETLHEAP_MEASURE_ALLOC_SIZE, ETLHEAP_MEASURE_ALLOC_COUNT },
    { ETLHEAP_MEASURE_FREED_COUNT, ETLHEAP_MEASURE_FREED_SIZE },
    { ETLHEAP_MEASURE_FREED_SIZE, ETLHEAP_MEASURE_FREED_COUNT },
    { ETLHEAP_MEASURE_TEMPORARY_COUNT, ETLHEAP_MEASURE_TEMPORARY_SIZE },
    { ETLHEAP_MEASURE_TEMPORARY_SIZE, ETLHEAP_MEASURE_TEMPORARY_COUNT },
    { ETLHEAP_MEASURE_TEMPORARY_10_COUNT, ETLHEAP_MEASURE_TEMPORARY_10_COUNT },
    { ETLHEAP_MEASURE_TEMPORARY_1MS_COUNT, ETLHEAP_MEASURE_TEMPORARY_1MS_COUNT },
};

/* Compared only if both tables keep the lifetimes of their rows. */
static const diff_pair lifetimes[] = {
    { ETLHEAP_MEASURE_LIFETIME_MEAN, ETLHEAP_MEASURE_LIFETIME_MEDIAN },
    { ETLHEAP_MEASURE_LIFETIME_MEDIAN, ETLHEAP_MEASURE_LIFETIME_MEAN },
    { ETLHEAP_MEASURE_LIFETIME_P90, ETLHEAP_MEASURE_LIFETIME_P99 },
    { ETLHEAP_MEASURE_LIFETIME_P99, ETLHEAP_MEASURE_LIFETIME_P90 },
};

/* The partner of a measure in a table of pairs; NULL if it has none there. */
static const etlheap_measure *partner_in(const diff_pair *pairs, size_t count,
                                         etlheap_measure measure)
{
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].measure == measure)
            return &pairs[i].partner;
    }
    return NULL;
}

bool etlheap_diff_compares_lifetimes(etlheap_measure measure)
{
    return partner_in(lifetimes, ETL_COUNT_OF(lifetimes), measure) != NULL;
}

bool etlheap_diff_compares(etlheap_measure measure)
{
    return partner_in(diff_comparable, DIFF_PAIRS, measure) != NULL;
}

etlheap_measure etlheap_diff_partner(etlheap_measure measure)
{
    const etlheap_measure *const sum = partner_in(diff_comparable, DIFF_PAIRS, measure);
    const etlheap_measure *const lifetime = partner_in(lifetimes, ETL_COUNT_OF(lifetimes), measure);
    return sum != NULL ? *sum : lifetime != NULL ? *lifetime : measure;
}

i64 etlheap_diff_subtract(i64 base, i64 now)
{
    i64 result;
    if (!__builtin_sub_overflow(now, base, &result))
        return result;
    return now > base ? INT64_MAX : INT64_MIN;
}

bool diff_is_unknown(etlheap_measure measure, i64 amount)
{
    return amount == ETLHEAP_NOT_KNOWN && etlheap_diff_compares_lifetimes(measure);
}

i64 diff_change_of(etlheap_measure measure, i64 base, i64 now)
{
    return diff_is_unknown(measure, base) || diff_is_unknown(measure, now)
               ? ETLHEAP_NOT_KNOWN
               : etlheap_diff_subtract(base, now);
}

/* Rates depend on where exactly a window ends: a thousandth is no change. */
static bool is_equal(const diff_maker *maker, i64 a, i64 b)
{
    const u64 size_a = a < 0 ? 0 - (u64)a : (u64)a, size_b = b < 0 ? 0 - (u64)b : (u64)b;
    const u64 difference = a > b ? (u64)a - (u64)b : (u64)b - (u64)a;
    return difference == 0 ||
           (maker->options.per_second && difference <= etl_max_u64(size_a, size_b) / 1000);
}

i64 diff_amount_of(const diff_maker *maker, i64 value, i64 ns)
{
    return maker->options.per_second ? etlheap_diff_rate(value, ns) : value;
}

etlheap_diff_state diff_state_of(const diff_maker *maker, const i64 *base, const i64 *now,
                                 const i64 ns[2])
{
    const etlheap_measure measure = maker->options.measure;
    const etlheap_measure partner = etlheap_diff_partner(measure);
    const i64 before = diff_amount_of(maker, base[measure], ns[0]);
    const i64 after = diff_amount_of(maker, now[measure], ns[1]);
    const i64 partner_before = diff_amount_of(maker, base[partner], ns[0]);
    const i64 partner_after = diff_amount_of(maker, now[partner], ns[1]);
    const bool is_same = is_equal(maker, before, after);
    if (diff_is_unknown(measure, before) != diff_is_unknown(measure, after))
        return base[ETLHEAP_MEASURE_COUNT] == 0  ? ETLHEAP_DIFF_ADDED
               : now[ETLHEAP_MEASURE_COUNT] == 0 ? ETLHEAP_DIFF_REMOVED
                                                 : ETLHEAP_DIFF_UNKNOWN;
    if (is_same && is_equal(maker, partner_before, partner_after))
        return ETLHEAP_DIFF_UNCHANGED;
    if (base[measure] == 0 && base[partner] == 0)
        return ETLHEAP_DIFF_ADDED;
    if (now[measure] == 0 && now[partner] == 0)
        return ETLHEAP_DIFF_REMOVED;
    if (is_same)
        return ETLHEAP_DIFF_UNCHANGED;
    return after > before ? ETLHEAP_DIFF_GROWN : ETLHEAP_DIFF_SHRUNK;
}

i64 diff_ns_of(const diff_maker *maker, i64 rates_ns, bool is_new)
{
    const etlheap_diff *const diff = &maker->out->diff;
    const etlheap_result *const result =
        is_new ? maker->options.new_result : maker->options.base_result;
    const bool is_summary = result != NULL && etlheap_result_is_summary(result);
    if (rates_ns > 0 && !is_summary)
        return rates_ns;
    return is_new ? diff->new_ns : diff->base_ns;
}
