/*
 * trace_memory.c - estimates how much memory a run on traces takes.
 *
 * In: what the traces have, and what the run keeps of it. Out: bytes.
 *
 * While a trace is read, slices of it are in memory: SLICES_BYTES of its bytes, or all of a smaller
 * one. What is kept of events, stacks and addresses comes on top. Invariant: the bytes of each are
 * measured; oracle_memory.py fails if a row is too small, or much too large.
 */
#include "engine/etlheap_counts.h"
#include "parser/base.h"

#define SLICES_BYTES ((u64)32 << 20)
#define BUFFER_BYTES 80u            /* of the index */
#define FEW_EVENTS   ((u64)1 << 19) /* more of them go through memory part by part */

/* What a run takes: fixed, of a byte in slices, and for each of the counts. */
typedef struct keeps_bytes {
    double fixed_mib, slice_byte, event, life, frame, address, few_event, system_byte, process;
} keeps_bytes;

static const keeps_bytes kept[ETLHEAP_KEEPS_CLASSES] = {
    [ETLHEAP_KEEPS_NOTHING] = { .fixed_mib = 0.9 },
    /*                         MiB slice event life frame address few system process */
    [ETLHEAP_KEEPS_COUNTS] = { 2.1, 0.4, 4, 1, 26, 1, 0, 1.5, 0 },
    [ETLHEAP_KEEPS_SUMS] = { 2, 1.05, 17, 115, 20, 62, 0, 0.3, 0 },
    [ETLHEAP_KEEPS_STACKS] = { 2.2, 1.3, 22, 128, 26, 400, 0, 0.3, 1500 },
    [ETLHEAP_KEEPS_FUNCTIONS] = { 2.2, 1.3, 22, 128, 26, 900, 0, 0.3, 1500 },
    [ETLHEAP_KEEPS_EVENTS] = { 17.5, 0.8, 38, 91, 46, 1, 155, 0.3, 0 },
    [ETLHEAP_KEEPS_BLOCKS] = { 20.4, 0.8, 37, 83, 128, 233, 230, 0.3, 0 },
    [ETLHEAP_KEEPS_PAGES] = { 23, 0.7, 30, 376, 1, 200, 420, 0.3, 6500 },
    [ETLHEAP_KEEPS_DOCUMENTS] = { 24, 0.7, 30, 376, 31, 200, 450, 0.3, 6500 },
};

void etlheap_trace_counts_add(etlheap_trace_counts *sum, const etlheap_trace_counts *more)
{
    u64 *const to[] = { &sum->buffers,   &sum->bytes,     &sum->allocs,      &sum->frees,
                        &sum->lives,     &sum->walks,     &sum->stacks,      &sum->frames,
                        &sum->addresses, &sum->processes, &sum->system_bytes };
    const u64 from[] = { more->buffers,   more->bytes,     more->allocs,      more->frees,
                         more->lives,     more->walks,     more->stacks,      more->frames,
                         more->addresses, more->processes, more->system_bytes };
    static_assert(ETL_COUNT_OF(to) == ETL_COUNT_OF(from), "all members");
    for (size_t i = 0; i < ETL_COUNT_OF(to); i++)
        *to[i] = etl_sat_add_u64(*to[i], from[i]);
}

u64 etlheap_trace_memory(const etlheap_trace_counts *has, etlheap_keeps keeps)
{
    const keeps_bytes *const each = &kept[keeps];
    const u64 slices = etl_min_u64(has->bytes, SLICES_BYTES);
    const u64 events = etl_sat_add_u64(has->allocs, has->frees);
    const u64 few = etl_min_u64(etl_sat_add_u64(events, has->lives), FEW_EVENTS);
    return (u64)(each->fixed_mib * (double)ETL_MIB + each->slice_byte * (double)slices +
                 each->event * (double)events + each->life * (double)has->lives +
                 each->frame * (double)has->frames + each->address * (double)has->addresses +
                 each->few_event * (double)few + each->system_byte * (double)has->system_bytes +
                 each->process * (double)has->processes) +
           has->buffers * BUFFER_BYTES;
}
