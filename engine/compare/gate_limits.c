/*
 * gate_limits.c - the table of the limits that a check offers.
 *
 * In: a number, or a budget. Out: what the limit measures, how it is given, and its words for
 * people.
 *
 * A new limit is a row of `limits`, and a row of `quantities` if it measures something new.
 * Options, verdicts and SARIF's rules follow. Invariant: rows are only added at the end, because
 * SARIF's rules are numbered by them, and every budget has exactly one row.
 */
#include "gate.h"

#define FREE                                                                                       \
    "Free the memory that this call stack allocates. If it is meant to stay, raise the limit, or " \
    "suppress the stack"
#define REUSE                                                                                      \
    "Allocate less often: reuse the memory, or allocate more at once. If the allocations are "     \
    "meant, raise the limit, or suppress the stack"
#define OR_ACCEPT ", or make this run the baseline"

/* "More bytes were outstanding at once ..." */
#define THAN_ALLOWED                                                                               \
    " than the limit allows for a process, heap, module, call stack, function, mark or in total, " \
    "or than the limit adds to the baseline."

static const etlheap_quantity_measures quantities[ETLHEAP_QUANTITY_COUNT] = {
    [ETLHEAP_QUANTITY_OUTSTANDING] = { ETLHEAP_MEASURE_OUTSTANDING_SIZE,
                                       ETLHEAP_MEASURE_OUTSTANDING_COUNT },
    [ETLHEAP_QUANTITY_PEAK] = { ETLHEAP_MEASURE_PEAK_SIZE, ETLHEAP_MEASURE_PEAK_COUNT },
    [ETLHEAP_QUANTITY_ALLOCATED] = { ETLHEAP_MEASURE_ALLOC_SIZE, ETLHEAP_MEASURE_ALLOC_COUNT },
    [ETLHEAP_QUANTITY_TEMPORARY] = { ETLHEAP_MEASURE_TEMPORARY_SIZE,
                                     ETLHEAP_MEASURE_TEMPORARY_COUNT },
    [ETLHEAP_QUANTITY_ALLOC_RATE] = { ETLHEAP_MEASURE_ALLOC_SIZE, ETLHEAP_MEASURE_ALLOC_COUNT },
};

static const etlheap_limit limits[] = {
    { ETLHEAP_QUANTITY_OUTSTANDING, false, ETLHEAP_LIMIT_ABSOLUTE, "max-outstanding",
      "outstanding size", "", "Outstanding memory",
      "More bytes were allocated and not freed than the limit allows.",
      "More bytes were allocated and not freed at the end of the recording, or of a mark's "
      "interval, than the limit allows for a process, heap, call stack, mark or in total.",
      FREE },
    { ETLHEAP_QUANTITY_OUTSTANDING, true, ETLHEAP_LIMIT_ABSOLUTE, "max-outstanding-count",
      "outstanding count", "", "Outstanding allocations",
      "More allocations were not freed than the limit allows.",
      "More allocations were not freed at the end of the recording, or of a mark's interval, than "
      "the limit allows for a process, heap, call stack, mark or in total.",
      FREE },
    { ETLHEAP_QUANTITY_OUTSTANDING, false, ETLHEAP_LIMIT_GROWTH, "max-growth", "outstanding size",
      "", "Growth of outstanding memory",
      "More bytes were not freed than in the baseline, by more than the limit allows.",
      "More bytes were allocated and not freed at the end of the recording than at the end of "
      "the baseline, by more than the limit allows.",
      FREE OR_ACCEPT },
    { ETLHEAP_QUANTITY_OUTSTANDING, true, ETLHEAP_LIMIT_GROWTH, "max-growth-count",
      "outstanding count", "", "Growth of outstanding allocations",
      "More allocations were not freed than in the baseline, by more than the limit allows.",
      "More allocations were not freed at the end of the recording than at the end of the "
      "baseline, by more than the limit allows.",
      FREE OR_ACCEPT },
    { ETLHEAP_QUANTITY_PEAK, false, ETLHEAP_LIMIT_EITHER, "max-peak", "peak size", "",
      "Peak of outstanding memory",
      "More bytes were outstanding at the same time than the limit allows.",
      "At some moment of the recording, or of a mark's interval, more bytes were "
      "outstanding" THAN_ALLOWED,
      "Free memory earlier, or do less at once. If the peak is meant, raise the limit" OR_ACCEPT },
    { ETLHEAP_QUANTITY_ALLOCATED, true, ETLHEAP_LIMIT_EITHER, "max-allocations", "allocations", "",
      "Allocations", "More allocations were made than the limit allows.",
      "More allocations were made in the recording, or in a mark's interval," THAN_ALLOWED,
      REUSE OR_ACCEPT },
    { ETLHEAP_QUANTITY_TEMPORARY, true, ETLHEAP_LIMIT_EITHER, "max-temporary",
      "temporary allocations", "", "Temporary allocations",
      "More allocations were freed before the thread's next allocation than the limit allows.",
      "More allocations of the recording, or of a mark's interval, were freed before their thread "
      "allocated again" THAN_ALLOWED,
      REUSE OR_ACCEPT },
    { ETLHEAP_QUANTITY_ALLOC_RATE, true, ETLHEAP_LIMIT_EITHER, "max-alloc-rate", "allocation rate",
      " per second", "Allocation rate",
      "More allocations were made per second than the limit allows.",
      "More allocations were made per second of the recording, or of a mark's "
      "interval," THAN_ALLOWED,
      REUSE OR_ACCEPT },
};

const etlheap_limit *etlheap_limit_at(u32 number)
{
    return number < ETL_COUNT_OF(limits) ? &limits[number] : NULL;
}

u32 etlheap_limit_of(const etlheap_budget *budget)
{
    const etlheap_limit_form other =
        budget->is_growth ? ETLHEAP_LIMIT_ABSOLUTE : ETLHEAP_LIMIT_GROWTH;
    u32 number = 0;
    while (number + 1 < ETL_COUNT_OF(limits) &&
           (limits[number].quantity != budget->quantity ||
            limits[number].is_count != budget->is_count || limits[number].form == other))
        number++;
    return number;
}

etlheap_quantity_measures etlheap_quantity_reads(etlheap_quantity quantity)
{
    return quantities[(u32)quantity < ETLHEAP_QUANTITY_COUNT ? quantity
                                                             : ETLHEAP_QUANTITY_OUTSTANDING];
}
