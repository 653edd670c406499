/*
 * needs.c - the tables of what filters, measures and kinds of questions need; see needs.h. What
 * keys need is in keys.c.
 *
 * In: a query, or a question. Out: bits, and why a summary cannot answer.
 *
 * A new filter or question is a row here. Invariant: a row that needs something which some
 * results lack says so, or the answer would be an empty table. The words for summaries have an
 * order: a query that asks for several things that summaries lack is told the first.
 */
#include "needs.h"

#include "keys.h"
#include "query.h"

static const char *const lacks_words[] = {
    [LACKS_NOTHING] = NULL,
    [LACKS_PARTS] = "covers only whole traces",
    [LACKS_HEAPS] = "has no heap handles, which differ from run to run",
    [LACKS_POOL_TAGS] = "has no pool tags",
    [LACKS_OBJECT_TYPES] = "has no object types: ask a store or the trace",
    [LACKS_FREES] = "does not say who freed",
    [LACKS_THREADS] = "has no threads",
    [LACKS_SIZES] = "has no sizes of single allocations",
    [LACKS_LIFETIMES] = "has no lifetimes",
    [LACKS_FREE_TYPES] = "has no free types",
    [LACKS_MARKS] = "has no marks",
    [LACKS_PROCESS_IDS] = "has no process ids: select the process by name",
};

bool needs_part(const etlheap_query *query)
{
    return query->from_ns != INT64_MIN || query->to_ns != INT64_MAX || query->kind_to_ticks != NULL;
}

static bool selects_heaps(const etlheap_query *query)
{
    return query->heap_count > 0;
}

static bool selects_types(const etlheap_query *query)
{
    return (query->types != 0 || query->at_end) && !query_groups_by(query, ETLHEAP_KEY_TYPE);
}

static bool selects_sizes(const etlheap_query *query)
{
    return query->size_min_bytes > 0 || query->size_max_bytes != UINT64_MAX;
}

static bool selects_lifetimes(const etlheap_query *query)
{
    return query->lifetime_min_ns > 0 || query->lifetime_max_ns != INT64_MAX;
}

static bool selects_left_behind(const etlheap_query *query)
{
    return query->left_behind;
}

static bool selects_process_ids(const etlheap_query *query)
{
    for (u32 i = 0; i < query->process_count; i++) {
        const char *const word = query->processes[i];
        if (word[0] != '\0' && word[strspn(word, "0123456789")] == '\0')
            return true;
    }
    return false;
}

static bool selects_named_kinds(const etlheap_query *query)
{
    return (query->kinds & ~ETLHEAP_KINDS_DEFAULT) != 0;
}

static bool measures_lifetimes(const etlheap_query *query)
{
    return query->lifetime_ranks;
}

static bool measures_alloc_times(const etlheap_query *query)
{
    return query->alloc_times;
}

static bool measures_growth(const etlheap_query *query)
{
    return query->growth;
}

static bool measures_churn(const etlheap_query *query)
{
    return query->churn;
}

static bool measures_freed_by_other(const etlheap_query *query)
{
    return query->freed_by_other;
}

static bool lists_unmatched(const etlheap_query *query)
{
    return query->unmatched;
}

static const struct {
    bool (*applies)(const etlheap_query *query);
    u32 needs;
    summary_lack lacks;
} options[] = {
    { needs_part, 0, LACKS_PARTS },
    { selects_heaps, 0, LACKS_HEAPS },
    { selects_types, NEEDS_BLOCKS, LACKS_NOTHING },
    { query_selects_threads, NEEDS_BLOCKS | NEEDS_THREADS, LACKS_THREADS },
    { selects_sizes, NEEDS_SIZES, LACKS_SIZES },
    { selects_lifetimes, NEEDS_BLOCKS, LACKS_LIFETIMES },
    { selects_left_behind, NEEDS_BLOCKS, LACKS_MARKS },
    { selects_process_ids, 0, LACKS_PROCESS_IDS },
    { selects_named_kinds, NEEDS_NAMED_KINDS, LACKS_NOTHING },
    { measures_lifetimes, NEEDS_BLOCKS, LACKS_LIFETIMES },
    { measures_alloc_times, NEEDS_BLOCKS, LACKS_LIFETIMES },
    { measures_growth, NEEDS_TIMES, LACKS_LIFETIMES },
    { measures_churn, NEEDS_BLOCKS | NEEDS_THREADS, LACKS_LIFETIMES },
    { measures_freed_by_other, NEEDS_BLOCKS | NEEDS_FREES | NEEDS_FREE_THREADS | NEEDS_THREADS,
      LACKS_FREES },
    { lists_unmatched, NEEDS_BLOCKS | NEEDS_FREES, LACKS_FREES },
};

/* Lists of single blocks show all that is recorded about a block, but who freed it. */
static const u32 questions[ETLHEAP_ASK_COUNT] = {
    [ETLHEAP_ASK_TABLE] = 0,
    [ETLHEAP_ASK_WINDOWS] = 0,
    [ETLHEAP_ASK_HISTOGRAM] = NEEDS_LOG,
    [ETLHEAP_ASK_PEAKS] = NEEDS_LOG,
    [ETLHEAP_ASK_EVENTS] = NEEDS_LOG | NEEDS_ADDRESSES | NEEDS_THREADS,
    [ETLHEAP_ASK_LIFETIMES] = NEEDS_LOG | NEEDS_ADDRESSES | NEEDS_THREADS,
    [ETLHEAP_ASK_SUSPECTS] = NEEDS_LOG | NEEDS_THREADS,
    [ETLHEAP_ASK_MAP] = NEEDS_LOG | NEEDS_ADDRESSES,
};

/* Heap blocks have a thread only if it is asked for; ranges always have one. */
static u32 without_threads_of_ranges(const etlheap_query *query, u32 needs)
{
    const bool has_blocks = (query_kinds(query) >> ETLHEAP_KIND_HEAP & 1) != 0;
    return has_blocks ? needs : needs & ~(u32)NEEDS_THREADS;
}

u32 needs_of_query(const etlheap_query *query)
{
    u32 needs = 0;
    for (u32 i = 0; i < query->group_by_count; i++)
        needs |= key_row_of(query->group_by[i])->needs;
    for (size_t i = 0; i < ETL_COUNT_OF(options); i++)
        needs |= options[i].applies(query) ? options[i].needs : 0;
    return without_threads_of_ranges(query, needs);
}

u32 needs_of_question(const etlheap_question *question, const etlheap_query *query)
{
    const bool maps_all = question->kind == ETLHEAP_ASK_MAP && query->kinds == 0;
    const u32 needs = needs_of_query(query);
    const bool times_many = question->kind != ETLHEAP_ASK_TABLE && (needs & NEEDS_TIMES) != 0;
    return needs | questions[question->kind] | (maps_all ? NEEDS_NAMED_KINDS : 0) |
           (times_many ? NEEDS_LOG : 0) |
           (question->frees ? NEEDS_FREES | NEEDS_FREE_THREADS | NEEDS_THREADS : 0);
}

void etlheap_query_drop_measures(etlheap_query *query)
{
    query->lifetime_ranks = query->growth = query->rates = query->churn = false;
    query->freed_by_other = query->alloc_times = false;
}

bool query_fits_sums(const etlheap_query *query)
{
    return !query_needs(query, NEEDS_BLOCKS | NEEDS_SIZES);
}

bool query_asks_sums(const etlheap_query *query)
{
    return query->sums_only && query_fits_sums(query) && !query_needs(query, NEEDS_TIMES);
}

bool query_fits_typed_sums(const etlheap_query *query)
{
    etlheap_query of_all_types = *query;
    of_all_types.types = 0;
    of_all_types.at_end = false;
    return !query_needs(&of_all_types, NEEDS_BLOCKS);
}

static void note_lack(summary_lack *first, summary_lack lack)
{
    if (lack != LACKS_NOTHING && (*first == LACKS_NOTHING || lack < *first))
        *first = lack;
}

const char *needs_that_summaries_lack(const etlheap_query *query)
{
    summary_lack first = LACKS_NOTHING;
    for (u32 i = 0; i < query->group_by_count; i++)
        note_lack(&first, (summary_lack)key_row_of(query->group_by[i])->lacks);
    for (size_t i = 0; i < ETL_COUNT_OF(options); i++) {
        if (options[i].applies(query))
            note_lack(&first, options[i].lacks);
    }
    return lacks_words[first];
}

/* Call stacks, or what follows from their frames. */
static bool groups_by_stacks(const etlheap_query *query)
{
    static const u32 of_stacks = KEY_READS(STACK) | KEY_READS(FRAME) | KEY_READS(TAG) |
                                 KEY_READS(IMPACT) | KEY_READS(FREER) | KEY_READS(TYPE_NAME) |
                                 KEY_READS(SOURCE_LINE) | KEY_READS(FUNCTION);
    u32 reads = 0;
    for (u32 i = 0; i < query->group_by_count; i++)
        reads |= 1u << key_row_of(query->group_by[i])->reads;
    return (reads & of_stacks) != 0;
}

etlheap_keeps etlheap_question_keeps(const etlheap_question *question)
{
    const u32 needs = needs_of_question(question, question->query);
    const bool by_function = query_groups_by(question->query, ETLHEAP_KEY_FUNCTION);
    if (question->kind == ETLHEAP_ASK_LIFETIMES)
        return ETLHEAP_KEEPS_BLOCKS;
    if (by_function) /* as many rows as a page, if rows are of single blocks, too */
        return (needs & (NEEDS_LOG | NEEDS_BLOCKS)) != 0 ? ETLHEAP_KEEPS_PAGES
                                                         : ETLHEAP_KEEPS_FUNCTIONS;
    if ((needs & (NEEDS_LOG | NEEDS_BLOCKS)) != 0)
        return ETLHEAP_KEEPS_EVENTS;
    return groups_by_stacks(question->query) ? ETLHEAP_KEEPS_STACKS : ETLHEAP_KEEPS_SUMS;
}
