/*
 * peak_moment.c - finds the moment at which most memory is outstanding, for each kind.
 *
 * In: the events of each source of blocks (feed.h). Out: a moment and the size at it.
 *
 * All blocks of a kind are one group, and each group has a walk of its own (replay_walk.c), which
 * leaves the position of the peak. Its time is then read from the events.
 */
#include <stdlib.h>

#include "engine/query/needs.h"
#include "folds.h"

/* The groups of a walk that sees only one: see event_want.of_word. */
typedef struct one_group {
    u32 of_word[ETLHEAP_KIND_COUNT + 1];
} one_group;

typedef struct peak_finder {
    etlheap_query query; /* of all types, not grouped */
    aggregator a;
    log_groups groups[FEED_SOURCE_COUNT];
    bool has[FEED_SOURCE_COUNT];
    one_group only[ETLHEAP_KIND_COUNT]; /* of rows, by kind */
    event_want events[ETLHEAP_KIND_COUNT];
} peak_finder;

static etl_status begin(void *state, const etlheap_result *result, const etlheap_question *question,
                        log_pass *pass, etl_error *err)
{
    peak_finder *const finder = state;
    etl_status status = query_read_for(result, question->query, &finder->query, err);
    if (status != ETL_OK)
        return status;
    finder->query.group_by_count = 0;
    finder->query.types = 0;
    finder->query.at_end = false;
    etlheap_query_drop_measures(&finder->query);
    finder->query.kind_to_ticks = NULL;
    finder->query.sort = ETLHEAP_MEASURE_SIZE;
    status = result_answers(result, RESULT_NEED_EACH, err);
    if (status == ETL_OK)
        status = aggregate_prepare(&finder->a, result, &finder->query, err);
    if (status == ETL_OK)
        status = feed_number(&pass->feed, &finder->a, err);
    if (status == ETL_OK)
        status = aggregate_finish_stacks(&finder->a, &pass->feed.rows, err);
    for (u32 i = 0; status == ETL_OK && i < FEED_SOURCE_COUNT; i++) {
        const log_groups_wanted wanted = { .source = (feed_source)i, .walks_events = true };
        finder->has[i] = log_groups_exist(&finder->a, (feed_source)i);
        if (finder->has[i])
            status = log_groups_begin(&finder->groups[i], &finder->a, &wanted, pass, err);
    }
    return status;
}

/* Asks for a walk of a group alone. The blocks of a log are one group already. */
static bool want_group(peak_finder *finder, const log_groups *groups, u32 group, log_pass *pass)
{
    const u8 kind = log_groups_key(groups, group).kind;
    event_want *const want = &finder->events[kind];
    *want = (event_want){ .a = &finder->a,
                          .groups = groups,
                          .job.walk = { .curves_only = true, .finds_peak = true } };
    if (groups->source == FEED_ROWS) {
        assert(groups->count <= ETLHEAP_KIND_COUNT);
        u32 *const of_word = finder->only[kind].of_word;
        for (u32 i = 0; i <= groups->count; i++)
            of_word[i] = i == group + 1 ? 0 : GROUP_NONE;
        want->of_word = of_word;
    }
    return ETLHEAP_PUSH(&pass->events, want);
}

static etl_status walk(void *state, log_pass *pass, etl_error *err)
{
    peak_finder *const finder = state;
    etl_status status = ETL_OK;
    for (u32 i = 0; status == ETL_OK && i < FEED_SOURCE_COUNT; i++) {
        const log_groups *const groups = &finder->groups[i];
        if (finder->has[i])
            status = log_groups_finish(&finder->groups[i], 0, err);
        for (u32 g = 0; status == ETL_OK && g < groups->count; g++)
            status = want_group(finder, groups, g, pass) ? ETL_OK : etl_no_memory(err);
    }
    return status;
}

/* The peak as a moment. Memory allocated before the window counts as allocated one tick before it.
 * If nothing is ever outstanding, the moment is the end of the window. */
static etlheap_peak_moment moment_at(const query_plan *plan, i64 ticks, i64 size, i64 count)
{
    const bool found = size > 0;
    const i64 before = etl_sat_add_i64(plan->from_ticks, -1);
    const i64 end_ticks = etl_time_ticks(plan->result->base.base, plan->to_ns);
    const i64 to_ticks = !found ? end_ticks : (ticks > before ? ticks : before) + 1;
    return (etlheap_peak_moment){ .found = found,
                                  .to_ticks = to_ticks,
                                  .at_ns = query_end_ns(plan->result->base.base, to_ticks),
                                  .size_bytes = size,
                                  .count = count };
}

static etl_status answer(void *state, etlheap_answer *out, etl_error *err)
{
    const peak_finder *const finder = state;
    (void)err;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const event_want *const events = &finder->events[kind];
        const replay_peak *const peak = &events->job.peak;
        out->peaks[kind] = moment_at(&finder->a.plan, events->peak_ticks, peak->size, peak->count);
    }
    return ETL_OK;
}

static void close_finder(void *state)
{
    peak_finder *const finder = state;
    for (u32 i = 0; i < FEED_SOURCE_COUNT; i++)
        log_groups_close(&finder->groups[i]);
    aggregate_close(&finder->a);
}

const fold fold_peaks = { sizeof(peak_finder), begin, walk, answer, close_finder };
