/*
 * cancel.h - whether the client still waits for its answer.
 *
 * A client may give a query or options the address of a flag, and set the flag on any thread. Loops
 * over batches look at it once a batch, with `cancel_check` or `cancel_is_set`.
 */
#ifndef ETLHEAP_CANCEL_H
#define ETLHEAP_CANCEL_H

#include "parser/base.h"
#include "parser/parser.h"

/* NULL: nobody cancels. Nothing else is read after the flag, so its order does not matter. */
static inline bool cancel_is_set(const u32 *cancel)
{
    return cancel != NULL && __atomic_load_n(cancel, __ATOMIC_RELAXED) != 0;
}

static inline etl_status cancelled(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_CANCELLED, 0, "cancelled");
}

/* Why a loop stopped that only memory that runs out, or the flag, can stop. */
static inline etl_status cancelled_or_no_memory(const u32 *cancel, etl_error *err)
{
    return cancel_is_set(cancel) ? cancelled(err) : etl_no_memory(err);
}

static inline etl_status cancel_check(const u32 *cancel, etl_error *err)
{
    return cancel_is_set(cancel) ? cancelled(err) : ETL_OK;
}

#endif
