/*
 * ties.h - the order of events that have one time on several processors.
 *
 * The clock of a session may tick only every 1 to 15.6 ms. Then many events have the same time, and
 * a file does not say in which order those of different processors happened. For one address the
 * events themselves say it: a block is allocated before it is freed.
 *
 *     processor 0      F             file order      F A F    the first free finds no block
 *     processor 1      A  F          merges          A F F    a second free finds none
 *                                                    F A F
 *                      and if a block is live before: F A F   all is well
 *
 * The order on each processor stays. Of the possible merges, the one in which the fewest frees find
 * no block is taken; of these, the one in which the fewest allocations find a block; of these, the
 * one that is nearest to the order of the processors.
 */
#ifndef ETLHEAP_TIES_H
#define ETLHEAP_TIES_H

#include "engine/core/arena.h"

/* The most events of one address at one time that are ordered. */
#define TIE_EVENTS_MAX 64u

/* What an event does to the block at its address. */
typedef enum tie_effect {
    TIE_NONE,
    TIE_ALLOC, /* opens one */
    TIE_FREE,  /* closes one, and is unknown if there is none */
    TIE_CLOSE  /* closes one if there is one */
} tie_effect;

typedef struct tie_event {
    u16 cpu;
    u8 effect; /* tie_effect */
} tie_event;

/* Finds the best merge of up to TIE_EVENTS_MAX events; those of a processor come in their order.
 * `is_live`: there is a block before. out[i] is the number of the event that comes at place i.
 * False if that is the order they have. */
bool ties_merge(const tie_event *events, u32 count, bool is_live, u8 out[TIE_EVENTS_MAX]);

#endif
