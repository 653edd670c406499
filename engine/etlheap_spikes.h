/*
 * etlheap_spikes.h - memory that came and went. Part of engine.h.
 *
 *     etlheap_spikes_make  result ──▶ moments at which much was outstanding for a short time,
 *                                     and the call stacks of what came and went
 *
 * A spike is what a peak of outstanding memory has above the level around it. The level in a moment
 * is the most that was outstanding all through some tenth of the time that touches the moment. So
 * memory that stays for longer than a tenth is a level, however large it is. fold/spikes_find.c has
 * the rule.
 */
#include "engine.h" /* before the guard: it includes this header */

#ifndef ETLHEAP_SPIKES_H
#define ETLHEAP_SPIKES_H

#ifdef __cplusplus
extern "C" {
#endif

/* What a call stack has to do with a spike. Sizes in bytes, of outstanding memory. */
typedef struct etlheap_spike_part {
    uint32_t row;      /* of etlheap_spikes.stacks */
    int64_t came_size; /* by how much it rose from the begin of the spike to its moment ... */
    int64_t went_size; /* ... and fell from there to the end of the spike */
    int64_t size;      /* the smaller of both, above 0: what came and went */
} etlheap_spike_part;

/* Memory that was outstanding for a short time. */
typedef struct etlheap_spike {
    uint32_t row;           /* of etlheap_spikes.groups: whose memory */
    int64_t from_ns, to_ns; /* more than the level is outstanding in [from_ns, to_ns) ... */
    int64_t at_ns;       /* ... and most just before this moment, the first of those with as much */
    int64_t height_size; /* bytes above the level at that moment ... */
    int64_t peak_size;   /* ... and all that is outstanding then */
    int64_t spiked_size; /* what came and went, of all call stacks */
    uint32_t first_part, part_count; /* of etlheap_spikes.parts, the largest first */
} etlheap_spike;

/* The spikes, the highest first. Owned by the caller (etlheap_spikes_free); strings are borrowed
 * from the result. */
typedef struct etlheap_spikes {
    etlheap_table *groups; /* rows by the keys without STACK */
    etlheap_table *stacks; /* rows by the keys and STACK */
    const etlheap_spike *spikes;
    uint32_t count;
    uint32_t left_out_count; /* spikes that are lower than the first count_max, at least */
    /* Parts of at least a hundredth of their spike. */
    const etlheap_spike_part *parts;
    int64_t span_ns; /* what stays for longer than this is a level */
} etlheap_spikes;

/* Which spikes to list. */
typedef struct etlheap_spikes_options {
    size_t size;        /* sizeof(etlheap_spikes_options) */
    uint32_t count_max; /* at most ETLHEAP_SPIKES_MAX; 0: that many */
} etlheap_spikes_options;

#define ETLHEAP_SPIKES_MAX 100u

/*
 * Finds the spikes of each group in the query's window. The result must have kept all events
 * (ETLHEAP_ASK_EVENTS). Keys may be KIND, PROCESS, HEAP and STACK; types cannot be selected. Spikes
 * that are lower than a thirtieth of the group's peak are noise and left out, and so are those of
 * which less than half came and went with the same call stacks: other memory came than went.
 * ETL_ERR_MEMORY, ETL_ERR_IO, ETL_ERR_CORRUPT, ETL_ERR_ARGUMENT (the message says why),
 * ETL_ERR_LIMIT, ETL_ERR_CANCELLED. Any thread.
 */
etl_status etlheap_spikes_make(const etlheap_result *result, const etlheap_query *query,
                               const etlheap_spikes_options *options, etlheap_spikes **out,
                               etl_error *err);
void etlheap_spikes_free(etlheap_spikes *spikes); /* NULL is allowed */

/* Names the frames of the parts' call stacks in place. Errors as of etlheap_table_name. */
etl_status etlheap_spikes_name(etlheap_spikes *spikes, etlheap_symbols *symbols, etl_error *err);

#ifdef __cplusplus
}
#endif

#endif
