/*
 * descriptions.h - collects the descriptions of events that a trace contains.
 *
 * A merge writes descriptions into MetaData records anywhere in the trace, mostly after the events.
 * They are therefore collected in a separate pass, and only when an event turns up that needs one.
 */
#ifndef ETLHEAP_DESCRIPTIONS_H
#define ETLHEAP_DESCRIPTIONS_H

#include "engine/core/intern.h"
#include "parser/parser.h"

/* Limit on the bytes of descriptions that are kept. Known traces have up to 150 KB. */
#define DESCRIPTIONS_BYTES_MAX (64u << 20)

typedef struct described_event {
    etl_event_id id;
    etl_description description;
} described_event;

/* Starts from {0}. */
typedef struct description_set {
    etlheap_arena arena;
    ETLHEAP_VECTOR(described_event) events; /* the first description of each id */
    etlheap_index index;
    ETLHEAP_VECTOR(etl_value_map) maps; /* in order after descriptions_read */
    u64 bytes;
} description_set;

/* Keeps the description or map of a MetaData record and ignores other records. Counts invalid ones.
 * False if memory runs out. */
bool descriptions_add(description_set *set, const etl_record *record, etl_diag_counts *diag);

/* Reads all MetaData records of the traces. Does not count damaged buffers, because the pass over
 * the events counts them. False if memory runs out. */
bool descriptions_read(description_set *set, etl_trace *const *traces, u32 trace_count,
                       etl_diag_counts *diag);

/* Finds the description of the record's event, in its own items or in the set. */
bool descriptions_find(const description_set *set, const etl_record *record, etl_description *out,
                       etl_diag_counts *diag);

void descriptions_free(description_set *set);

#endif
