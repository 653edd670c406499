/*
 * lifetimes_asked.c - a walk over lifetimes as one answer among others.
 *
 * The first rows of an order are few, so they are found in the reading of the blocks that all
 * questions share (log_pass.h): each task keeps the first rows of its own blocks, and the first
 * of these are those of all. The order is total and by content, so it does not matter which task
 * met a block.
 *
 *     blocks ──▶ a list of `top` rows for each task ──▶ kept ──▶ sorted and named (lifetimes.c)
 *
 * Any other walk is opened when all questions were read: one that hands out all rows, one
 * whose frames have to be resolved before a row counts, or one that says who freed.
 */
#include <stdlib.h>

#include "block_selection.h"
#include "folds.h"
#include "lifetimes.h"

/* The rows of one task. */
typedef struct first_rows {
    const etlheap_lifetimes *walk;
    walk_list list;
    u8 padding[SHARD_PADDING];
} first_rows;

typedef struct asked_walk {
    etlheap_lifetimes *walk;
    first_rows *tasks; /* NULL: the reading is not shared */
    u32 task_count;
} asked_walk;

/* --- blocks ------------------------------------------------------------------------- */

/* Most blocks are smaller than the largest ones, and are not looked at any further. */
static etl_status step(void *state, const lifetimes_batch *batch, etl_error *err)
{
    first_rows *const task = state;
    const etlheap_lifetimes *const walk = task->walk;
    const ehs_archive *const archive = walk->result->archive;
    etl_status status = ETL_OK;
    for (u32 i = 0; status == ETL_OK && i < batch->count; i++) {
        const u64 size = batch->size[i];
        query_row row;
        walk_row found;
        if (size < walk_list_floor(&task->list) ||
            !walk_wants_address(&walk->options, batch->address[i], size))
            continue;
        lifetime *const life = &found.life;
        const u32 thread = lifetimes_batch_thread(archive, batch, i);
        if (!block_selected(&walk->plan, batch, i, &row) ||
            !archive_open_block(archive, batch->origin[i], thread, life) ||
            !query_select_owner(&walk->plan, ETLHEAP_KIND_HEAP, life->process, life->heap))
            continue;
        life->alloc_ticks = row.alloc_ticks;
        life->free_ticks = row.free_ticks;
        life->address = batch->address[i];
        life->size = size;
        life->free_type = batch->how[i];
        life->is_realloc = (batch->is_realloc[i] | batch->is_marked[i]) != 0;
        found.type = (u8)row.type;
        status = walk_list_add(&task->list, &found, 0, err);
    }
    return status;
}

/* --- the question ------------------------------------------------------------------- */

static bool can_share(const etlheap_lifetimes *walk)
{
    return walk->has_archive && !walk->is_streaming && walk->options.top != 0 &&
           !query_selects_frames(&walk->query) && !walk->has_frees;
}

static etl_status want_blocks(asked_walk *asked, log_pass *pass, etl_error *err)
{
    const etlheap_lifetimes *const walk = asked->walk;
    asked->task_count = feed_tasks(&walk->query);
    asked->tasks = calloc(asked->task_count, sizeof *asked->tasks);
    if (asked->tasks == NULL)
        return etl_no_memory(err);
    for (u32 i = 0; i < asked->task_count; i++)
        asked->tasks[i] = (first_rows){ .walk = walk, .list = walk->kept };
    const block_want want = { .plan = &walk->plan,
                              .step = step,
                              .states = { asked->tasks, sizeof *asked->tasks },
                              .more = EHS_WANT_ADDRESS | EHS_WANT_THREAD };
    return ETLHEAP_PUSH(&pass->feed.wants, want) ? ETL_OK : etl_no_memory(err);
}

static etl_status begin(void *state, const etlheap_result *result, const etlheap_question *question,
                        log_pass *pass, etl_error *err)
{
    asked_walk *const asked = state;
    const etl_status status =
        lifetimes_begin(result, question->query, question->lifetimes, &asked->walk, err);
    return status == ETL_OK && can_share(asked->walk) ? want_blocks(asked, pass, err) : status;
}

static etl_status join_tasks(asked_walk *asked, etl_error *err)
{
    etl_status status = ETL_OK;
    for (u32 t = 0; t < asked->task_count; t++) {
        const walk_list *const list = &asked->tasks[t].list;
        for (size_t i = 0; status == ETL_OK && i < list->items.count; i++)
            status =
                walk_list_add(&asked->walk->kept, &list->rows.at[list->items.at[i].place], 0, err);
    }
    asked->walk->has_archive = false;
    return status;
}

static etl_status answer(void *state, etlheap_answer *out, etl_error *err)
{
    asked_walk *const asked = state;
    etl_status status = asked->tasks != NULL ? join_tasks(asked, err) : ETL_OK;
    if (status == ETL_OK)
        status = lifetimes_fill(asked->walk, LIFETIMES_ENDS_MAX, err);
    if (status != ETL_OK)
        return status;
    out->lifetimes = asked->walk;
    asked->walk = NULL;
    return ETL_OK;
}

static void close_walk(void *state)
{
    asked_walk *const asked = state;
    for (u32 i = 0; asked->tasks != NULL && i < asked->task_count; i++)
        walk_list_free(&asked->tasks[i].list);
    free(asked->tasks);
    etlheap_lifetimes_close(asked->walk);
}

const fold fold_lifetimes = { sizeof(asked_walk), begin, NULL, answer, close_walk };
