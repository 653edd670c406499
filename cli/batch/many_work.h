/*
 * many_work.h - one input of a batch: from its file to its store, if need be.
 */
#ifndef CLI_MANY_WORK_H
#define CLI_MANY_WORK_H

#include "cli/store_write.h"
#include "cli/system/guard.h"
#include "many_list.h"

/* What the inputs of a batch have in common. */
typedef struct many_batch {
    const cli_options *options;
    const many_list *list;
    cli_guard *guard; /* active */
    etlheap_run_id boot;
    _Atomic bool is_full; /* what was made could not be written: so it will be with more */
} many_batch;

/* An input while it is worked on, and until that has been written down. */
typedef struct many_work {
    etlheap_run run;
    cli_stored stored;
    etlheap_result *reread; /* of a summary: what the file says of its trace */
    etl_error error;
} many_work;

/*
 * Stores the item, unless it is as an earlier run left it. Its state is then SKIPPED,
 * or DONE with item->work, which the caller frees (cli_many_work_free); or NOT_BEGUN
 * when the user wants to stop. Any thread, for different items.
 */
etlheap_batch_answer cli_many_work(many_batch *batch, many_item *item, u32 jobs, bool is_alone);

void cli_many_work_free(many_item *item);

/* Makes the folder that the path lies in, and those above; what is wrong, opening the
 * file will say. */
void cli_many_make_folder(const char *path);

#endif
