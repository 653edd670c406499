/*
 * Goal: what a query and a question need is said for each key, filter, measure and kind of
 * question. Method: one change to the default query at a time, with what follows from it written
 * down here by what the change means; then pairs, of which the needs are those of both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/query/needs.h"

static const char *const id_words[] = { "4711" }, *const name_words[] = { "app.exe" };
static const u64 heap_words[] = { 0x1000 };
static const u32 thread_words[] = { 12 };
static const i64 moments[ETLHEAP_KIND_COUNT] = { 1, 2, 3, 4, 5 };

/* Whole sums, owners, stacks and names suffice for a query that changes nothing here. */
typedef struct change {
    const char *what;
    void (*make)(etlheap_query *query);
    u32 needs;
    const char *lacks; /* what a summary says; NULL: it answers */
} change;

#define CHANGE(name, statement)                                                                    \
    static void name(etlheap_query *query)                                                         \
    {                                                                                              \
        statement;                                                                                 \
    }
CHANGE(from, query->from_ns = 5)
CHANGE(to, query->to_ns = 5)
CHANGE(at_moments, query->kind_to_ticks = moments)
CHANGE(at_end, query->at_end = true)
CHANGE(types, query->types = 1)
CHANGE(heaps, (query->heaps = heap_words, query->heap_count = 1))
CHANGE(threads, (query->threads = thread_words, query->thread_count = 1))
CHANGE(thread_names, (query->thread_names = name_words, query->thread_name_count = 1))
CHANGE(size_min, query->size_min_bytes = 1)
CHANGE(size_max, query->size_max_bytes = 4096)
CHANGE(lifetime_min, query->lifetime_min_ns = 1)
CHANGE(lifetime_max, query->lifetime_max_ns = 1)
CHANGE(left_behind, query->left_behind = true)
CHANGE(process_ids, (query->processes = id_words, query->process_count = 1))
CHANGE(process_names, (query->processes = name_words, query->process_count = 1))
CHANGE(named_kinds, query->kinds = ETLHEAP_KINDS_DEFAULT | 1u << ETLHEAP_KIND_RESERVE)
CHANGE(ranks, query->lifetime_ranks = true)
CHANGE(growth, query->growth = true)
CHANGE(rates, query->rates = true)
CHANGE(churn, query->churn = true)
CHANGE(freed_by_other, query->freed_by_other = true)
CHANGE(unmatched, query->unmatched = true)
#undef CHANGE

#define PARTS     "covers only whole traces"
#define HEAPS     "has no heap handles, which differ from run to run"
#define FREES     "does not say who freed"
#define THREADS   "has no threads"
#define SIZES     "has no sizes of single allocations"
#define LIFETIMES "has no lifetimes"

static const change changes[] = {
    { "from", from, 0, PARTS },
    { "to", to, 0, PARTS },
    { "moments", at_moments, 0, PARTS },
    { "types, which are not a key", types, NEEDS_BLOCKS, NULL },
    { "at the end, by no type", at_end, NEEDS_BLOCKS, NULL },
    { "heaps", heaps, 0, HEAPS },
    { "threads", threads, NEEDS_BLOCKS | NEEDS_THREADS, THREADS },
    { "names of threads", thread_names, NEEDS_BLOCKS | NEEDS_THREADS, THREADS },
    { "least size", size_min, NEEDS_SIZES, SIZES },
    { "largest size", size_max, NEEDS_SIZES, SIZES },
    { "least lifetime", lifetime_min, NEEDS_BLOCKS, LIFETIMES },
    { "longest lifetime", lifetime_max, NEEDS_BLOCKS, LIFETIMES },
    { "left behind", left_behind, NEEDS_BLOCKS, "has no marks" },
    { "process ids", process_ids, 0, "has no process ids: select the process by name" },
    { "names of processes", process_names, 0, NULL },
    { "named kinds", named_kinds, NEEDS_NAMED_KINDS, NULL },
    { "lifetimes as measures", ranks, NEEDS_BLOCKS, LIFETIMES },
    { "growth", growth, NEEDS_TIMES, LIFETIMES },
    { "rates", rates, 0, NULL },
    { "churn", churn, NEEDS_BLOCKS | NEEDS_THREADS, LIFETIMES },
    { "freed by others", freed_by_other,
      NEEDS_BLOCKS | NEEDS_THREADS | NEEDS_FREES | NEEDS_FREE_THREADS, FREES },
    { "unmatched frees", unmatched, NEEDS_BLOCKS | NEEDS_FREES, FREES },
};

/* By the word of the key. Keys that follow from owner, stack or type need nothing. */
static const struct {
    const char *word;
    u32 needs;
    const char *lacks;
} keys[] = {
    { "heap", 0, HEAPS },
    { "free_type", NEEDS_BLOCKS, "has no free types" },
    { "thread", NEEDS_BLOCKS | NEEDS_THREADS, THREADS },
    { "thread_name", NEEDS_BLOCKS | NEEDS_THREADS, THREADS },
    { "size_class", NEEDS_BLOCKS | NEEDS_SIZES, SIZES },
    { "generation", NEEDS_BLOCKS, "has no marks" },
    { "free_stack", NEEDS_BLOCKS | NEEDS_FREES | NEEDS_FREE_STACKS, FREES },
    { "free_site", NEEDS_BLOCKS | NEEDS_FREES | NEEDS_FREE_STACKS, FREES },
    { "free_module", NEEDS_BLOCKS | NEEDS_FREES | NEEDS_FREE_STACKS, FREES },
    { "impacting_stack", NEEDS_BLOCKS | NEEDS_FREES | NEEDS_FREE_STACKS, FREES },
    { "free_thread", NEEDS_BLOCKS | NEEDS_FREES | NEEDS_FREE_THREADS, FREES },
    { "impacting_type", NEEDS_BLOCKS, NULL },
    { "pool_tag", 0, "has no pool tags" },
    { "object_type", 0, "has no object types: ask a store or the trace" },
};

static void check_words(const char *found, const char *expected)
{
    assert_int_equal(found == NULL, expected == NULL);
    if (found != NULL)
        assert_string_equal(found, expected);
}

static etlheap_query by_stack(void)
{
    etlheap_query query = etlheap_query_default();
    query.group_by[0] = ETLHEAP_KEY_STACK;
    query.group_by_count = 1;
    return query;
}

static void each_change_has_its_needs(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(changes); i++) {
        etlheap_query query = by_stack();
        changes[i].make(&query);
        assert_int_equal(needs_of_query(&query), changes[i].needs);
        check_words(needs_that_summaries_lack(&query), changes[i].lacks);
    }
}

static void two_changes_need_what_both_need(void **state)
{
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(changes); i++) {
        for (size_t k = 0; k < ETL_COUNT_OF(changes); k++) {
            etlheap_query query = by_stack();
            changes[i].make(&query);
            changes[k].make(&query);
            assert_int_equal(needs_of_query(&query), changes[i].needs | changes[k].needs);
            const bool lacks = changes[i].lacks != NULL || changes[k].lacks != NULL;
            const bool are_processes =
                changes[i].make == process_ids || changes[k].make == process_ids;
            if (!are_processes)
                assert_int_equal(needs_that_summaries_lack(&query) != NULL, lacks);
        }
    }
}

static void each_key_has_its_needs(void **state)
{
    (void)state;
    for (u32 key = 0; key < ETLHEAP_KEY_COUNT; key++) {
        etlheap_query query = etlheap_query_default();
        query.group_by[0] = (etlheap_key)key;
        query.group_by_count = 1;
        u32 needs = 0;
        const char *lacks = NULL;
        for (size_t i = 0; i < ETL_COUNT_OF(keys); i++) {
            if (strcmp(keys[i].word, etlheap_key_word((etlheap_key)key)) == 0) {
                needs = keys[i].needs;
                lacks = keys[i].lacks;
            }
        }
        assert_int_equal(needs_of_query(&query), needs);
        check_words(needs_that_summaries_lack(&query), lacks);
        assert_int_equal(etlheap_key_is_of_free((etlheap_key)key), (needs & NEEDS_FREES) != 0);
        assert_int_equal(etlheap_key_needs_free_stacks((etlheap_key)key),
                         (needs & NEEDS_FREE_STACKS) != 0);
    }
    assert_false(etlheap_key_is_of_free(ETLHEAP_KEY_COUNT));
}

/* By type as a key, selected types are sums too. */
static void types_by_type_are_sums(void **state)
{
    (void)state;
    etlheap_query query = by_stack();
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_TYPE;
    query.types = 1;
    assert_int_equal(needs_of_query(&query), 0);
}

/* Ranges have their threads in every log. */
static void threads_of_ranges_need_nothing(void **state)
{
    (void)state;
    etlheap_query query = by_stack();
    threads(&query);
    query.kinds = 1u << ETLHEAP_KIND_VIRTUALALLOC;
    assert_int_equal(needs_of_query(&query), NEEDS_BLOCKS);
    check_words(needs_that_summaries_lack(&query), THREADS);
}

static void each_kind_of_question_has_its_needs(void **state)
{
    (void)state;
    static const u32 expected[ETLHEAP_ASK_COUNT] = {
        [ETLHEAP_ASK_HISTOGRAM] = NEEDS_LOG,
        [ETLHEAP_ASK_PEAKS] = NEEDS_LOG,
        [ETLHEAP_ASK_EVENTS] = NEEDS_LOG | NEEDS_ADDRESSES | NEEDS_THREADS,
        [ETLHEAP_ASK_LIFETIMES] = NEEDS_LOG | NEEDS_ADDRESSES | NEEDS_THREADS,
        [ETLHEAP_ASK_SUSPECTS] = NEEDS_LOG | NEEDS_THREADS,
        [ETLHEAP_ASK_MAP] = NEEDS_LOG | NEEDS_ADDRESSES | NEEDS_NAMED_KINDS,
    };
    const u32 frees = NEEDS_FREES | NEEDS_FREE_THREADS | NEEDS_THREADS;
    for (u32 kind = 0; kind < ETLHEAP_ASK_COUNT; kind++) {
        etlheap_query query = by_stack();
        etlheap_question question = { .size = sizeof question,
                                      .kind = (etlheap_question_kind)kind };
        assert_int_equal(needs_of_question(&question, &query), expected[kind]);
        question.frees = true;
        assert_int_equal(needs_of_question(&question, &query), expected[kind] | frees);
        question.frees = false;
        query.kinds = 1u << ETLHEAP_KIND_HEAP;
        assert_int_equal(needs_of_question(&question, &query),
                         expected[kind] & ~(u32)NEEDS_NAMED_KINDS);
    }
}

/* An event list has the growth of a table's rows, not that of windows. */
static void growth_of_windows_needs_a_log(void **state)
{
    (void)state;
    etlheap_query query = by_stack();
    growth(&query);
    etlheap_question question = { .size = sizeof question, .kind = ETLHEAP_ASK_TABLE };
    assert_int_equal(needs_of_question(&question, &query), NEEDS_TIMES);
    question.kind = ETLHEAP_ASK_WINDOWS;
    assert_int_equal(needs_of_question(&question, &query), NEEDS_LOG | NEEDS_TIMES);
}

/* An answer that shows no measures needs none, whatever the caller's query asks. */
static void dropped_measures_need_nothing(void **state)
{
    (void)state;
    etlheap_query query = by_stack();
    query.lifetime_ranks = query.growth = query.rates = query.churn = query.freed_by_other = true;
    etlheap_query_drop_measures(&query);
    assert_int_equal(needs_of_query(&query), 0);
    assert_null(needs_that_summaries_lack(&query));
    assert_false(query.rates);
}

/* The sentence names what comes first in the order, whatever was asked first. */
static void the_first_lack_is_told(void **state)
{
    (void)state;
    etlheap_query query = by_stack();
    growth(&query);
    size_min(&query);
    check_words(needs_that_summaries_lack(&query), SIZES);
    threads(&query);
    check_words(needs_that_summaries_lack(&query), THREADS);
    from(&query);
    check_words(needs_that_summaries_lack(&query), PARTS);
    query = by_stack();
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_GENERATION;
    query.group_by[query.group_by_count++] = ETLHEAP_KEY_HEAP;
    check_words(needs_that_summaries_lack(&query), HEAPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_change_has_its_needs),
        cmocka_unit_test(two_changes_need_what_both_need),
        cmocka_unit_test(each_key_has_its_needs),
        cmocka_unit_test(types_by_type_are_sums),
        cmocka_unit_test(threads_of_ranges_need_nothing),
        cmocka_unit_test(each_kind_of_question_has_its_needs),
        cmocka_unit_test(growth_of_windows_needs_a_log),
        cmocka_unit_test(dropped_measures_need_nothing),
        cmocka_unit_test(the_first_lack_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
