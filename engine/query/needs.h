/*
 * needs.h - what a question needs of the events, beyond kinds, owners, sizes and call stacks, which
 * every answer needs.
 *
 * It follows from the question's kind, its keys and its filters, each a row of a table in needs.c.
 * Everyone who keeps less than everything asks here: the plan of a run, the columns of a log, what
 * a result or a summary cannot answer.
 */
#ifndef ETLHEAP_NEEDS_H
#define ETLHEAP_NEEDS_H

#include "engine/engine.h"
#include "engine/etlheap_ask.h"

#include "parser/base.h"

typedef enum needs_bit {
    NEEDS_BLOCKS = 1u << 0, /* properties of single blocks that their owner and stack do not tell */
    NEEDS_SIZES = 1u << 1,  /* the sizes of single blocks: sums of sizes do not suffice */
    NEEDS_THREADS = 1u << 2,      /* who allocated */
    NEEDS_FREES = 1u << 3,        /* who freed */
    NEEDS_FREE_STACKS = 1u << 4,  /* from where */
    NEEDS_FREE_THREADS = 1u << 5, /* on which thread */
    NEEDS_ADDRESSES = 1u << 6,
    NEEDS_NAMED_KINDS = 1u << 7, /* kinds that are not selected by default */
    NEEDS_LOG = 1u << 8,   /* all events: what a run keeps for one table or windows is not enough */
    NEEDS_TIMES = 1u << 9, /* when events happened, not only in which order */
} needs_bit;

/* The needs of rows of the query, or of `question` about them, as bits. */
u32 needs_of_query(const etlheap_query *query);
u32 needs_of_question(const etlheap_question *question, const etlheap_query *query);

/* True if the query needs one of the bits. */
static inline bool query_needs(const etlheap_query *query, u32 bits)
{
    return (needs_of_query(query) & bits) != 0;
}

/* True if sums by origin and type (tally.h) are sums of the rows of the query; the second: if they
 * answer the query. They have no sizes of single blocks and no peaks. */
bool query_fits_sums(const etlheap_query *query);
bool query_asks_sums(const etlheap_query *query);

/* Do sums by origin and type, of the blocks of the selected sizes, suffice for rows without peaks?
 * Types may be selected. */
bool query_fits_typed_sums(const etlheap_query *query);

/* Why a summary cannot answer the query: the end of a sentence that begins with "a summary". NULL
 * if it can. */
const char *needs_that_summaries_lack(const etlheap_query *query);

/* Does the query cover only a part of the recording? */
bool needs_part(const etlheap_query *query);

#endif
