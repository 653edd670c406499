/* churn_blocks.c - see churn_blocks.h. */
#include "churn_blocks.h"

#include <stdlib.h>

#include "block_selection.h"
#include "churn_rows.h"
#include "log_pass.h"

typedef struct origin_churn_task {
    const origin_churn *shared;
    churn_track track;
    u8 padding[SHARD_PADDING];
} origin_churn_task;

bool churn_view_open(churn_view *out, const aggregator *a, const origin_groups *groups)
{
    *out = (churn_view){ .plan = &a->plan,
                         .origins = groups,
                         .fast_ticks = churn_fast_ticks(&a->plan) };
    if (groups->rows != NULL)
        return true;
    out->processes = malloc((groups->origin_count + (size_t)1) * sizeof *out->processes);
    if (out->processes == NULL)
        return false;
    out->processes[0] = 0;
    for (u32 origin = 1; origin <= groups->origin_count; origin++)
        out->processes[origin] = origin_groups_owner(groups, origin).process;
    return true;
}

void churn_view_close(churn_view *view)
{
    free(view->processes);
    view->processes = NULL;
}

bool churn_note_row(const churn_view *view, churn_track *track, const lifetimes_batch *batch,
                    u32 at, const query_block *block, u32 group, const query_row *row)
{
    if (block->alloc_ticks < view->plan->from_ticks)
        return true;
    const bool is_freed = group != 0 && row->type == ETLHEAP_TYPE_AIFI &&
                          block->free_type != ETLHEAP_FREE_PROCESS_EXIT;
    const churn_block noted = { .thread =
                                    (u64)view->processes[batch->origin[at]] << 32 | block->thread,
                                .size = block->size_bytes,
                                .number = batch->ordinal[at],
                                .end = is_freed ? batch->end_allocs[at] : CHURN_NO_END,
                                .group = is_freed ? group : 0,
                                .is_fast =
                                    is_freed && churn_is_fast(view->plan, view->fast_ticks, row) };
    return churn_note(track, &noted);
}

/* --- groups of origins ------------------------------------------------------------------ */

#define SUMS_AHEAD 16u /* blocks whose sums are fetched before they are used */

/* Prefetches what the next blocks need: groups of their origins, and then sums of these. */
__attribute__((always_inline)) static inline void fetch_ahead(const origin_churn_task *task,
                                                              const lifetimes_batch *batch, u32 at)
{
    const u32 *const of_origin = task->shared->origins->of_origin;
    lifetimes_fetch_origin(batch, at, of_origin);
    lifetimes_fetch_origin(batch, at, task->shared->view.processes);
    if (at + SUMS_AHEAD < batch->count)
        churn_fetch(&task->track, of_origin[batch->origin[at + SUMS_AHEAD]] + 1);
}

static etl_status step(void *state, const lifetimes_batch *batch, etl_error *err)
{
    origin_churn_task *const task = state;
    const origin_churn *const churn = task->shared;
    const query_plan *const plan = churn->view.plan;
    const u32 *const of_origin = churn->origins->of_origin;
    for (u32 i = 0; i < batch->count; i++) {
        const u32 group = of_origin[batch->origin[i]];
        fetch_ahead(task, batch, i);
        query_row row = { .type = ETLHEAP_TYPE_AIFO };
        const query_block block = lifetimes_batch_block(plan->result->archive, batch, i);
        const bool is_selected = group != GROUP_NONE && block_selected(plan, batch, i, &row);
        if (!churn_note_row(&churn->view, &task->track, batch, i, &block,
                            is_selected ? group + 1 : 0, &row))
            return etl_no_memory(err);
    }
    return ETL_OK;
}

etl_status origin_churn_begin(origin_churn *out, const aggregator *a, const origin_groups *origins,
                              log_pass *pass, etl_error *err)
{
    *out = (origin_churn){ .origins = origins, .task_count = feed_tasks(a->query) };
    out->tasks = calloc(out->task_count, sizeof *out->tasks);
    if (out->tasks == NULL || !churn_view_open(&out->view, a, origins))
        return etl_no_memory(err);
    for (u32 i = 0; i < out->task_count; i++)
        out->tasks[i].shared = out;
    const block_want want = { .plan = &a->plan,
                              .step = step,
                              .states = { out->tasks, sizeof *out->tasks },
                              .more = EHS_WANT_THREAD,
                              .churns = true };
    return ETLHEAP_PUSH(&pass->feed.wants, want) ? ETL_OK : etl_no_memory(err);
}

etl_status origin_churn_finish(origin_churn *churn, etl_error *err)
{
    const u32 count = (u32)churn->origins->keys.count;
    u32 *const same = malloc(((size_t)count + 1) * sizeof *same);
    bool ok = same != NULL;
    for (u32 i = 0; ok && i < count; i++)
        same[i] = i;
    for (u32 i = 0; ok && i < churn->task_count; i++)
        ok = churn_join_take(&churn->join, &churn->tasks[i].track, same, count);
    ok = ok && churn_join_finish(&churn->join, count);
    free(same);
    return ok ? ETL_OK : etl_no_memory(err);
}

void origin_churn_close(origin_churn *churn)
{
    for (u32 i = 0; churn->tasks != NULL && i < churn->task_count; i++)
        churn_track_free(&churn->tasks[i].track);
    free(churn->tasks);
    churn->tasks = NULL;
    churn_view_close(&churn->view);
    churn_join_free(&churn->join);
}
