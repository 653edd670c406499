/* function_curves.h - peaks of groups by function. */
#ifndef ETLHEAP_FUNCTION_CURVES_H
#define ETLHEAP_FUNCTION_CURVES_H

#include "log_pass.h"

/* Must not move after function_curves_begin. Start from {0}. */
typedef struct function_curves {
    aggregator *a;
    bool by_type;
    ETLHEAP_VECTOR(group_key) keys; /* by function group; the type is 0 if by_type */
    etlheap_index index;
    ETLHEAP_VECTOR(u32) members; /* function groups of one group by stack after the other */
    ETLHEAP_VECTOR(u32) first;   /* by group by stack, and one more: its first member */
    replay_sets sets;
    event_want events;
    u64 held_bytes;
} function_curves;

/* Asks for a walk over the events, in which an event of a group by stack moves the curves of all
 * functions of the stack. `by_type`: the curves are those of AIFI. Close it in any case.
 * ETL_ERR_MEMORY, ETL_ERR_LIMIT. */
etl_status function_curves_begin(function_curves *out, aggregator *a, const log_groups *groups,
                                 bool by_type, log_pass *pass, etl_error *err);

/* After the walk and function_rows: fills the peaks of the groups that it has curves of. */
void function_curves_finish(const function_curves *curves);
void function_curves_close(function_curves *curves);

#endif
