/* many_work.h - makes the store of one input of a batch, if needed. */
#ifndef CLI_MANY_WORK_H
#define CLI_MANY_WORK_H

#include "cli/store_write.h"
#include "cli/system/guard.h"
#include "many_list.h"

/* Data shared by the inputs of a batch. */
typedef struct many_batch {
    const cli_options *options;
    const many_list *list;
    cli_guard *guard; /* active */
    etlheap_run_id boot;
    _Atomic bool is_full; /* an output could not be written, so further ones will fail, too */
} many_batch;

/* An input during the work, until the result is written down. */
typedef struct many_work {
    etlheap_run run;
    cli_stored stored;
    etlheap_result *reread; /* of a summary: the facts of its trace, from the file */
    etl_error error;
} many_work;

/*
 * Stores the item, unless it is unchanged since an earlier run. Its state is then SKIPPED; or DONE
 * with item->work, which the caller frees (cli_many_work_free); or NOT_BEGUN if the user asked to
 * stop. Any thread, for different items.
 */
etlheap_batch_answer cli_many_work(many_batch *batch, many_item *item, u32 jobs, bool is_alone);

void cli_many_work_free(many_item *item);

#endif
