/*
 * etlheap_counts.h - how many records of each kind a trace has. Part of engine.h.
 *
 * Set etlheap_options.inventory_only to get all counts without analyzing memory. Rows are owned by
 * the result. Any thread.
 */
#include "engine.h" /* before the guard: it includes this header */

#ifndef ETLHEAP_COUNTS_H
#define ETLHEAP_COUNTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* What a run on traces keeps until it has answered: each more than the one before. */
typedef enum etlheap_keeps {
    ETLHEAP_KEEPS_NOTHING, /* records go by */
    ETLHEAP_KEEPS_COUNTS,
    ETLHEAP_KEEPS_SUMS,      /* by owner and call stack */
    ETLHEAP_KEEPS_STACKS,    /* rows of all call stacks */
    ETLHEAP_KEEPS_FUNCTIONS, /* rows of all functions of all call stacks */
    ETLHEAP_KEEPS_EVENTS,    /* all events, in a log */
    ETLHEAP_KEEPS_BLOCKS,    /* rows of all blocks, or a store */
    ETLHEAP_KEEPS_PAGES,     /* a page with a part for each process and stack */
    ETLHEAP_KEEPS_DOCUMENTS, /* the answers of many questions at once */
    ETLHEAP_KEEPS_CLASSES
} etlheap_keeps;

/* Records are counted by hook id, and records without one by the GUID of their provider or
 * class. */
typedef struct etlheap_hook_count {
    uint16_t hook;
    const char *name; /* NULL unknown */
    uint64_t count;
    uint64_t bytes;
} etlheap_hook_count;

/* is_message: the GUID is that of a WPP message. */
typedef struct etlheap_provider_count {
    etl_guid guid;
    bool is_message;
    uint64_t count;
    uint64_t bytes;
} etlheap_provider_count;

/* Events of providers by id and version, TraceLogging events by name. Names come from the trace.
 * Only in results with inventory_only, and in stores. */
typedef struct etlheap_event_count {
    etl_guid provider;
    bool is_class; /* a classic event, identified by `opcode`; else by `id` */
    uint16_t id;
    uint16_t opcode;
    uint16_t version;
    const char *provider_name; /* "" if unknown, as for `name` */
    const char *name;          /* "Event" or "Event/Opcode" */
    uint64_t count;
    uint64_t bytes;
} etlheap_event_count;

/* Stack records, and whether the events they belong to were found. */
typedef struct etlheap_stack_counts {
    uint64_t records; /* stack walks, and references to stack keys */
    uint64_t matched; /* their event is in the trace; only with inventory_only */
    uint64_t unmatched;
    uint64_t keys_referenced;
    uint64_t keys_resolved;
} etlheap_stack_counts;

/* Set *rows to the rows, in ascending order of hook or GUID, and return their number. */
uint32_t etlheap_hook_counts(const etlheap_result *result, const etlheap_hook_count **rows);
uint32_t etlheap_provider_counts(const etlheap_result *result, const etlheap_provider_count **rows);
/* Sets *rows to the rows, in ascending order of GUID, id, version and name, and returns their
 * number. */
uint32_t etlheap_event_counts(const etlheap_result *result, const etlheap_event_count **rows);
const etlheap_stack_counts *etlheap_result_stacks(const etlheap_result *result);

/* How much a store has, as its directory says. */
typedef struct etlheap_store_counts {
    uint64_t allocs, frees; /* of heap blocks */
    uint64_t lives;         /* lifetimes of other kinds */
    uint64_t open_rows;     /* rows of blocks that are open at checkpoints */
    uint64_t origins;       /* pairs of owner and call stack */
    uint64_t stacks;
    uint64_t own_frames; /* of stacks, without those that a stack shares with the one before */
    uint64_t addresses;  /* distinct */
    uint64_t sums;       /* of a summary */
    uint64_t text_bytes;
} etlheap_store_counts;

/* Reads the counts of a store without loading it. ETL_ERR_IO, ETL_ERR_CORRUPT, ETL_ERR_UNSUPPORTED,
 * ETL_ERR_MEMORY. Any thread. */
etl_status etlheap_store_counts_read(const char *path, etlheap_store_counts *out, etl_error *err);

/* How much a trace has. Of a large trace, evenly spread buffers are read, and the rest is
 * estimated. */
typedef struct etlheap_trace_counts {
    uint64_t buffers;
    uint64_t bytes;         /* of buffers, decompressed */
    uint64_t allocs, frees; /* of heap blocks; a reallocation is both */
    uint64_t lives;         /* events of other kinds of memory */
    uint64_t walks;         /* stack records, and references to stack keys */
    uint64_t stacks;        /* distinct */
    uint64_t frames;        /* of distinct stacks */
    uint64_t addresses;     /* distinct, in these frames */
    uint64_t processes;
    uint64_t system_bytes; /* of events about processes, modules and methods */
} etlheap_trace_counts;

/* Reads the counts of a trace; takes some MiB of memory. Errors as for etl_open. Any thread. */
etl_status etlheap_trace_counts_read(const char *path, etlheap_trace_counts *out, etl_error *err);

/* Adds the counts of another trace. */
void etlheap_trace_counts_add(etlheap_trace_counts *sum, const etlheap_trace_counts *more);

/* About how much memory a run takes that keeps so much of traces; rather more than less. */
uint64_t etlheap_trace_memory(const etlheap_trace_counts *counts, etlheap_keeps keeps);

#ifdef __cplusplus
}
#endif

#endif
