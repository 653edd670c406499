/* lifetime_ranks.c - see lifetime_ranks.h. */
#include "lifetime_ranks.h"

#include <stdlib.h>

#include "engine/core/workers.h"

#define GROUPS_PER_TASK 64u

typedef struct rank_work {
    i64 *ns;              /* by group */
    const size_t *starts; /* group_count + 1 */
    u32 group_count;
    lifetime_ranks *ranks;
} rank_work;

static void spread(const ranked_lifetimes *lifetimes, u32 group_count, size_t *starts, i64 *ns);
static void rank_task(void *context, u32 task);

bool lifetime_ranks_compute(const ranked_lifetimes *lifetimes, u32 group_count, u32 jobs,
                            lifetime_ranks *ranks)
{
    const u32 task_count = group_count / GROUPS_PER_TASK + 1;
    size_t *const starts = calloc((size_t)group_count + 2, sizeof *starts);
    i64 *const ns = malloc((lifetimes->count + 1) * sizeof *ns);
    const bool ok = starts != NULL && ns != NULL;
    if (ok) {
        spread(lifetimes, group_count, starts, ns);
        rank_work work = { ns, starts, group_count, ranks };
        etlheap_workers_run(jobs, task_count, rank_task, &work);
    }
    free(starts);
    free(ns);
    return ok;
}

/* Counts, then places: while lifetimes are put in place, starts[g + 1] is where the
 * next one of group g goes, and ends up as where group g + 1 begins. */
static void spread(const ranked_lifetimes *lifetimes, u32 group_count, size_t *starts, i64 *ns)
{
    for (size_t i = 0; i < lifetimes->count; i++)
        starts[lifetimes->at[i].group + 2]++;
    starts[1] = 0;
    for (size_t g = 1; g < group_count; g++)
        starts[g + 1] += starts[g];
    for (size_t i = 0; i < lifetimes->count; i++)
        ns[starts[lifetimes->at[i].group + 1]++] = lifetimes->at[i].ns;
}

static int by_length(const void *a, const void *b)
{
    const i64 x = *(const i64 *)a, y = *(const i64 *)b;
    return (x > y) - (x < y);
}

static void rank_task(void *context, u32 task)
{
    const rank_work *const work = context;
    const u32 first = task * GROUPS_PER_TASK;
    for (u32 g = first; g < work->group_count && g - first < GROUPS_PER_TASK; g++) {
        i64 *const ns = work->ns + work->starts[g];
        const size_t count = work->starts[g + 1] - work->starts[g];
        if (count == 0)
            continue;
        qsort(ns, count, sizeof *ns, by_length);
        work->ranks[g].median_ns = ns[(count - 1) / 2];
        /* The rank of the 99th percentile is count * 99 / 100, rounded up. */
        work->ranks[g].p99_ns = ns[count - 1 - count / 100];
    }
}
