/*
 * descriptions.h - what a trace says of its events, kept while they are read.
 *
 * A merge puts the descriptions of events into MetaData records that may stand anywhere,
 * mostly behind the events. So they are collected in a pass of their own, and only when an
 * event turns up that needs one.
 */
#ifndef ETLHEAP_DESCRIPTIONS_H
#define ETLHEAP_DESCRIPTIONS_H

#include "engine/core/intern.h"
#include "parser/parser.h"

/* Bytes of descriptions that are kept; traces at hand have up to 150 KB. */
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

/* Keeps the description or map of a MetaData record; any other record is passed over. What
 * is no sound one is counted. False without memory. */
bool descriptions_add(description_set *set, const etl_record *record, etl_diag_counts *diag);

/* Reads all MetaData records of the traces. Damage of buffers is not counted: whoever reads
 * the events counts it. False without memory. */
bool descriptions_read(description_set *set, etl_trace *const *traces, u32 trace_count,
                       etl_diag_counts *diag);

/* The description of the record's event, from its own items or else from the set. */
bool descriptions_find(const description_set *set, const etl_record *record, etl_description *out,
                       etl_diag_counts *diag);

void descriptions_free(description_set *set);

#endif
