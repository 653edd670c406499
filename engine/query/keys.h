/*
 * keys.h - the table of grouping keys: one row says what a key reads of a block, what a query with
 * it needs, what summaries lack of it, and how its value is written.
 */
#ifndef ETLHEAP_KEYS_H
#define ETLHEAP_KEYS_H

#include "engine/engine.h"

#include "parser/base.h"

/* What a key reads of a block. Rows of two runs are the same if what comes before
 * KEY_READS_COMPARED is the same, and are ordered by it in this order; the rest is different in
 * each run. */
typedef enum key_reads {
    KEY_READS_KIND,
    KEY_READS_PROCESS,
    KEY_READS_POOL_TAG,    /* part of what names the heap: pool_heap.h */
    KEY_READS_OBJECT_TYPE, /* what the heap stands for: logged_names.h */
    KEY_READS_TYPE,
    KEY_READS_FREE_TYPE,
    KEY_READS_STACK,
    KEY_READS_FRAME,
    KEY_READS_MODULE,
    KEY_READS_SIZE,
    KEY_READS_TYPE_NAME,
    KEY_READS_TAG,
    KEY_READS_THREAD_NAME,
    KEY_READS_FUNCTION, /* all frames of the stack: see function_rows.h */
    KEY_READS_COMPARED,
    KEY_READS_HEAP = KEY_READS_COMPARED,
    KEY_READS_THREAD,
    KEY_READS_GENERATION,
    KEY_READS_IMPACT, /* the stack that allocated or freed */
    KEY_READS_SOURCE_LINE,
    KEY_READS_FREER,
    KEY_READS_FREE_THREAD,
} key_reads;

#define KEY_READS(name) (1u << KEY_READS_##name)

/* What summaries lack, in the order in which it is told. */
typedef enum summary_lack {
    LACKS_NOTHING,
    LACKS_PARTS,
    LACKS_HEAPS,
    LACKS_POOL_TAGS,
    LACKS_OBJECT_TYPES,
    LACKS_FREES,
    LACKS_THREADS,
    LACKS_SIZES,
    LACKS_LIFETIMES,
    LACKS_FREE_TYPES,
    LACKS_MARKS,
    LACKS_PROCESS_IDS,
} summary_lack;

typedef struct key_row {
    u8 reads;                   /* key_reads */
    u8 form;                    /* etlheap_key_form */
    u8 detail;                  /* etlheap_field beside it in JSON and CSV; 0: none */
    u8 lacks;                   /* summary_lack */
    u16 number, text;           /* where etlheap_row has its value, as wide as the form says */
    bool of_unmatched;          /* frees without an allocation have it */
    bool holds_text;            /* `text` is where the text itself is, and not a pointer to it */
    u32 needs;                  /* needs_bit */
    const char *missing;        /* for people, in place of an unknown value */
    const char *not_in_windows; /* why windows cannot be grouped by it; NULL: they can */
} key_row;

/* The row of a key, which must be a key. */
const key_row *key_row_of(etlheap_key key);

/* What the query's keys read, as bits 1u << key_reads. */
u32 keys_read(const etlheap_query *query);

static inline bool query_reads(const etlheap_query *query, u32 reads)
{
    return (keys_read(query) & reads) != 0;
}

/* The types of blocks as rows of the query have them: 0 unless a key reads the type. */
void keys_set_types(const etlheap_query *query, u8 types[ETLHEAP_TYPE_COUNT]);

/* Refuses keys that say the same thing, or that share a column. ETL_ERR_ARGUMENT. */
etl_status keys_refuse(const etlheap_query *query, etl_error *err);

#endif
