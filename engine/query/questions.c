/*
 * questions.c - the table of all questions: which lanes and columns of the event log each needs,
 * how often it reads them, and whether it can run live. questions.h explains it.
 *
 * In: nothing. Out: const rows, and their sums over several questions and refinements.
 *
 * Three shapes of fold explain nearly every row:
 *
 *     sums      ORIGIN END SIZE ...   live: adding up needs no order and no group's name
 *     curves    + LATER               not live: which origins make one row is known at the end,
 *                                     unless rows are owners (windows and live views by process)
 *     listing   + BEGIN_TICKS ...     two passes where a row shows how its block ended
 *
 * Invariant: every command, exporter and option of the program has a row; test_questions.c fails if
 * one is missing.
 */
#include "questions.h"

#define LANE(name) LOG_LANE_BIT(name)
#define COL(name)  LOG_COLUMN_BIT(name)

/* The kinds of memory that commands ask for. */
#define KINDS (LANE(HEAP) | LANE(RANGE) | LANE(EXTENT))
/* Everything that takes address space in a process. */
#define MEMORY (KINDS | LANE(RESERVE) | LANE(CUSTOM))

#define SUMS      (COL(ORIGIN) | COL(END) | COL(REALLOC) | COL(HOW) | COL(SIZE))
#define CURVES    (SUMS | COL(LATER))
#define WINDOWED  (COL(TICKS) | COL(BACK))
#define LIFETIMES (COL(TICKS) | COL(BEGIN_TICKS))
#define ROWS      (CURVES | LIFETIMES | WINDOWED | COL(THREAD) | COL(ADDRESS))

#define LIVE          1, true, false
#define ONCE          1, false, false
#define TWICE         2, false, false
#define PLANNED(how)  PLANNED_##how
#define PLANNED_LIVE  1, true, true
#define PLANNED_ONCE  1, false, true
#define PLANNED_TWICE 2, false, true

static const log_lane_info lanes[LOG_LANE_COUNT] = {
#define LANE_ROW(name, word, what) { word, what },
    LOG_LANES(LANE_ROW)
#undef LANE_ROW
};

static const log_column_info columns[LOG_COLUMN_COUNT] = {
#define COLUMN_ROW(name, word, bits, why) { word, bits, why },
    LOG_COLUMNS(COLUMN_ROW)
#undef COLUMN_ROW
};

static const question questions[] = {
    /* Single blocks. In order of allocation, the first pass finds their ends; the N largest are
     * found as they come, with their ends. */
    { "allocations", KINDS, ROWS, TWICE },
    { "allocations --sort", KINDS, ROWS, TWICE },
    { "allocations --sort size --top", KINDS, ROWS, ONCE },

    /* Budgets: what is outstanding, or how much more than in the baseline. */
    { "check", KINDS, SUMS, LIVE },
    { "check --baseline", KINDS, SUMS, LIVE },
    { "check --max-outstanding mark", KINDS, SUMS | LIFETIMES | WINDOWED, ONCE },

    /* Each side is a report of its own, without peaks. */
    { "diff", KINDS, SUMS, LIVE },
    { "diff --churn", KINDS, SUMS | LIFETIMES | COL(BACK) | COL(THREAD), ONCE },
    { "diff --format html", KINDS, SUMS, LIVE },
    { "diff --lifetimes", KINDS, SUMS | LIFETIMES | WINDOWED, ONCE },

    { "export --churn", KINDS, SUMS | LIFETIMES | COL(BACK) | COL(THREAD), ONCE },
    { "export --format csv", KINDS, CURVES, ONCE },
    { "export --format dhat", KINDS, CURVES | LIFETIMES | COL(BACK), TWICE },
    { "export --format folded", KINDS, SUMS, LIVE },
    { "export --format heaptrack", KINDS, CURVES | LIFETIMES | COL(ADDRESS), ONCE },
    { "export --format html", KINDS, ROWS, TWICE },
    { "export --format ndjson", KINDS, CURVES, ONCE },
    { "export --format parquet", KINDS, CURVES, ONCE },
    { "export --format perfview", KINDS, SUMS, LIVE },
    { "export --format pprof", KINDS, SUMS, LIVE },
    { "export --format speedscope", KINDS, SUMS, LIVE },
    { "export --format wpa-xml", KINDS, SUMS | WINDOWED, LIVE },
    { "export --format wpaprofile", KINDS, SUMS, LIVE },
    { "export --metric outstanding", KINDS, SUMS, LIVE },
    { "export --metric peak", KINDS, CURVES, ONCE },
    { "export --metric total", KINDS, SUMS, LIVE },
    { "export --metric transient", KINDS, SUMS | WINDOWED, LIVE },
    { "export --rows", KINDS, ROWS, TWICE },

    /* Handles have no size. */
    { "handles", LANE(HANDLE), CURVES & ~COL(SIZE), PLANNED(ONCE) },

    /* A trace that is still being written: curves of owners, which are known at once. */
    { "live", MEMORY, CURVES | WINDOWED, PLANNED(LIVE) },

    /* Summaries have no log; full stores are summarised on the way. */
    { "merge", KINDS, CURVES, ONCE },
    { "merge --every", KINDS, CURVES | WINDOWED, ONCE },

    { "pool", LANE(POOL), CURVES, PLANNED(ONCE) },

    { "report", KINDS, SUMS, LIVE },
    { "report --at", KINDS, SUMS | COL(TICKS), LIVE },
    /* The first pass finds the moment, the second what was outstanding then. */
    { "report --at peak", KINDS, CURVES | COL(TICKS), TWICE },
    /* When a block is freed its thread must not have allocated again: the block waits for its
     * end, and for its thread. */
    { "report --churn", KINDS, SUMS | LIFETIMES | COL(BACK) | COL(THREAD), ONCE },
    { "report --format csv", KINDS, CURVES, ONCE },
    { "report --format json", KINDS, CURVES, ONCE },
    { "report --growth", KINDS, SUMS | COL(TICKS), LIVE },
    { "report --histogram lifetime", KINDS, SUMS | LIFETIMES, LIVE },
    { "report --histogram size", KINDS, SUMS, LIVE },
    /* Median and 99th percentile of a row's lifetimes: exact, so they wait for its origins. */
    { "report --impacting", KINDS, SUMS | WINDOWED | LIFETIMES, ONCE },
    { "report --map", MEMORY, SUMS | COL(TICKS) | COL(BACK) | COL(ADDRESS), LIVE },
    { "report --pairs", KINDS, CURVES | COL(BACK) | COL(ACTOR) | COL(ACTOR_THREAD), ONCE },
    { "report --sort lifetime_median", KINDS, SUMS | LIFETIMES, ONCE },
    { "report --sort peak_size", KINDS, CURVES, ONCE },
    /* Outstanding blocks have no end that would tell their age. */
    { "report --suspects", KINDS, SUMS | LIFETIMES | COL(BACK) | COL(THREAD), TWICE },
    { "report --tree", KINDS, SUMS, LIVE },
    /* Frees whose allocation was not recorded, by the stack that freed. */
    { "report --unmatched", KINDS, SUMS | COL(ACTOR) | COL(ACTOR_THREAD), LIVE },

    /* Everything, so that any question can be asked later. Only sums are added up. */
    { "store", LOG_LANES_ALL, LOG_COLUMNS_ALL, LIVE },
    { "store --every", KINDS, CURVES | WINDOWED, ONCE },
    { "store --summary", KINDS, CURVES, ONCE },

    { "symbols", KINDS, SUMS, LIVE },
    { "trend", KINDS, CURVES, ONCE },

    /* As --group-by stack needs them: by process, which is the default, they could be live. */
    { "windows", KINDS, CURVES | WINDOWED, ONCE },
    { "windows --at", KINDS, CURVES | WINDOWED, ONCE },
    { "windows --at marks", KINDS, CURVES | WINDOWED, ONCE },
    { "windows --every", KINDS, CURVES | WINDOWED, ONCE },
    /* The first pass finds the steepest window, the second the stacks that explain it. */
    { "windows --find-growth", KINDS, CURVES | WINDOWED, TWICE },
    { "windows --window", KINDS, CURVES | WINDOWED, ONCE },
};

static const question_refinement refinements[] = {
    { "--address", COL(ADDRESS), false, false },
    { "--at-exit", COL(HOW), false, false },
    { "--from", WINDOWED, false, false },
    { "--from mark", WINDOWED, false, false },
    { "--group-by frame", COL(ORIGIN), false, false },
    /* A begin does not say who will free the block: its group is known from a first pass. */
    { "--group-by free_module", COL(ACTOR), true, false },
    { "--group-by free_site", COL(ACTOR), true, false },
    { "--group-by free_stack", COL(ACTOR), true, false },
    { "--group-by free_thread", COL(ACTOR_THREAD), true, false },
    { "--group-by free_type", COL(HOW), true, false },
    { "--group-by generation", LIFETIMES, false, false },
    { "--group-by heap", COL(ORIGIN), false, false },
    { "--group-by impacting_stack", WINDOWED | COL(ORIGIN) | COL(ACTOR), true, false },
    { "--group-by kind", COL(ORIGIN), false, false },
    { "--group-by module", COL(ORIGIN), false, false },
    { "--group-by process", COL(ORIGIN), false, false },
    { "--group-by site", COL(ORIGIN), false, false },
    { "--group-by size_class", COL(SIZE), false, false },
    { "--group-by stack", COL(ORIGIN), false, false },
    { "--group-by tag", COL(ORIGIN), false, false },
    { "--group-by thread", COL(THREAD), false, false },
    { "--group-by thread_name", COL(THREAD), false, false },
    { "--group-by type", WINDOWED, true, false },
    { "--group-by type_name", COL(ORIGIN), false, false },
    { "--heap", COL(ORIGIN), false, false },
    { "--kind", COL(ORIGIN), false, false },
    { "--lifetime", LIFETIMES, true, false },
    { "--process", COL(ORIGIN), false, false },
    { "--require-frame", COL(ORIGIN), false, false },
    { "--size", COL(SIZE), false, false },
    { "--thread", COL(THREAD), false, false },
    { "--to", WINDOWED, false, false },
    { "--type", WINDOWED, true, false },
};

const log_lane_info *log_lane_at(u32 number)
{
    assert(number < LOG_LANE_COUNT);
    return &lanes[number];
}

const log_column_info *log_column_at(u32 number)
{
    assert(number < LOG_COLUMN_COUNT);
    return &columns[number];
}

u32 log_row_bytes(u32 mask)
{
    u32 bits = 0;
    for (u32 i = 0; i < LOG_COLUMN_COUNT; i++)
        bits += (mask >> i & 1) != 0 ? columns[i].bits : 0;
    return (bits + 7) / 8;
}

u32 question_count(void)
{
    return (u32)ETL_COUNT_OF(questions);
}

const question *question_at(u32 index)
{
    assert(index < ETL_COUNT_OF(questions));
    return &questions[index];
}

const question *question_named(const char *name)
{
    for (u32 i = 0; i < ETL_COUNT_OF(questions); i++) {
        if (strcmp(questions[i].name, name) == 0)
            return &questions[i];
    }
    return NULL;
}

u32 question_refinement_count(void)
{
    return (u32)ETL_COUNT_OF(refinements);
}

const question_refinement *question_refinement_at(u32 index)
{
    assert(index < ETL_COUNT_OF(refinements));
    return &refinements[index];
}

const question_refinement *question_refinement_named(const char *name)
{
    for (u32 i = 0; i < ETL_COUNT_OF(refinements); i++) {
        if (strcmp(refinements[i].name, name) == 0)
            return &refinements[i];
    }
    return NULL;
}

question question_refined(const question *asked, const question_refinement *by)
{
    question both = *asked;
    both.columns |= by->columns;
    if (by->wants_fate && (asked->columns & COL(LATER)) != 0) {
        both.columns |= COL(BACK) | COL(HOW) | COL(TICKS);
        both.passes = 2;
        both.is_live = false;
    }
    return both;
}
