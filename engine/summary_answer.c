/*
 * summary_answer.c - see summary_answer.h.
 *
 * An entry is as many lifetimes of one stack. So each of its sums is put where one
 * such lifetime would go. Of several entries in one group the largest peak is
 * kept: more is not known of when each had it.
 */
#include "summary_answer.h"

#define ALL_TYPES ((1u << ETLHEAP_TYPE_COUNT) - 1)

/* The lifetime that stands for a sum. */
typedef struct stand_in {
    i64 ticks;
    u64 zero;
    u32 process, stack, thread;
    u8 kind, no;
} stand_in;

static bool add_entry(aggregator *a, u32 index, const summary_row *rows, size_t count);
static bool add_sum(aggregator *a, const summary_entry *entry, const summary_row *row);
static void add_measures(i64 measures[ETLHEAP_MEASURES_COUNT], const summary_sum *sum,
                         etlheap_type type);
static void keep_peak(group_row *group, const summary_peak *most);

/* The reason why not; NULL: it can be answered. */
static const char *reason_against(const etlheap_query *query)
{
    if (query->from_ns != INT64_MIN || query->to_ns != INT64_MAX || query->kind_to_ticks != NULL)
        return "the whole of each trace: leave out --from, --to and --at";
    if (query->heap_count > 0 || query_groups_by(query, ETLHEAP_KEY_HEAP))
        return "no heap handles, which differ from run to run";
    if (query->thread_count > 0 || query_groups_by(query, ETLHEAP_KEY_THREAD))
        return "no threads";
    if (query->size_min_bytes > 0 || query->size_max_bytes != UINT64_MAX ||
        query_groups_by(query, ETLHEAP_KEY_SIZE_CLASS))
        return "no sizes of single allocations";
    if (query->lifetime_min_ns > 0 || query->lifetime_max_ns != INT64_MAX ||
        query->lifetime_ranks || query->growth || query->needs_lifetimes)
        return "no lifetimes";
    if (query_groups_by(query, ETLHEAP_KEY_FREE_TYPE))
        return "no free types";
    for (u32 i = 0; i < query->process_count; i++) {
        const char *const word = query->processes[i];
        if (word[0] != '\0' && word[strspn(word, "0123456789")] == '\0')
            return "names of processes, no ids: name the process";
    }
    return NULL;
}

etl_status summary_refuse(const etlheap_query *query, etl_error *err)
{
    const char *const reason = reason_against(query);
    return reason == NULL
               ? ETL_OK
               : etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                               "a summary keeps %s; ask the trace or its full store", reason);
}

bool summary_selects(const aggregator *a, const summary_entry *entry)
{
    return (entry->stack != SUMMARY_ALL_STACKS) == a->wants_stack &&
           query_select_owner(&a->plan, (etlheap_kind)entry->kind, entry->process, 0);
}

/* All stacks that will be asked for. */
static bool resolve_stacks(aggregator *a)
{
    const summary_data *const data = a->result->summary;
    frame_question *const questions = malloc((data->entries.count + 1) * sizeof *questions);
    size_t count = 0;
    for (size_t i = 0; questions != NULL && i < data->entries.count; i++) {
        const summary_entry *const entry = &data->entries.at[i];
        if (summary_selects(a, entry))
            questions[count++] = (frame_question){ 0, entry->process, entry->stack };
    }
    const bool ok = questions != NULL && frames_resolve_all(&a->frames, questions, count);
    free(questions);
    return ok;
}

bool summary_rows(aggregator *a)
{
    const summary_data *const data = a->result->summary;
    size_t first = 0;
    bool ok = !a->wants_stack || resolve_stacks(a);
    if (!a->is_collecting)
        ETLHEAP_EXPECT(&a->groups, data->rows.count);
    for (u32 i = 0; ok && i < data->entries.count; i++) {
        size_t end = first;
        while (end < data->rows.count && data->rows.at[end].entry == i)
            end++;
        const summary_entry *const entry = &data->entries.at[i];
        if (summary_selects(a, entry))
            ok = add_entry(a, i, data->rows.at + first, end - first);
        first = end;
    }
    return ok;
}

static bool add_entry(aggregator *a, u32 index, const summary_row *rows, size_t count)
{
    const summary_entry *const entry = &a->result->summary->entries.at[index];
    const u32 first_part = a->query->at_exit_freed ? ETLHEAP_TYPE_COUNT : 0;
    for (size_t i = 0; i < count; i++) {
        const summary_row *const row = &rows[i];
        const u32 type = row->part - first_part; /* wraps for the other rule's */
        const bool is_wanted = type < ETLHEAP_TYPE_COUNT && (a->plan.types >> type & 1) != 0;
        if (is_wanted && !add_sum(a, entry, row))
            return false;
    }
    return true;
}

bool summary_group(aggregator *a, const summary_entry *entry, etlheap_type type, u32 *group)
{
    const stand_in of = { .process = entry->process,
                          .stack = entry->stack,
                          .thread = ETL_NO_ID,
                          .kind = (u8)entry->kind };
    const etlheap_segment segment = { .rows = 1,
                                      .alloc_ticks = &of.ticks,
                                      .free_ticks = &of.ticks,
                                      .address = &of.zero,
                                      .size_bytes = &of.zero,
                                      .heap_handle = &of.zero,
                                      .process = &of.process,
                                      .stack = &of.stack,
                                      .thread = &of.thread,
                                      .kind = &of.kind,
                                      .free_type = &of.no,
                                      .is_realloc = &of.no };
    group_key key;
    *group = GROUP_UNWANTED;
    if (!aggregate_key(a, &segment, 0, type, &key))
        return false;
    return key.unwanted || aggregate_group(a, &key, group);
}

static bool add_sum(aggregator *a, const summary_entry *entry, const summary_row *row)
{
    const etlheap_type type = (etlheap_type)(row->part % ETLHEAP_TYPE_COUNT);
    const bool is_typed = a->plan.types != ALL_TYPES || query_groups_by(a->query, ETLHEAP_KEY_TYPE);
    u32 index;
    if (!summary_group(a, entry, type, &index))
        return false;
    if (index == GROUP_UNWANTED)
        return true;
    group_row *const group = &a->groups.at[index];
    add_measures(group->measures, &row->sum, type);
    add_measures(a->totals[entry->kind], &row->sum, type);
    keep_peak(group, is_typed ? &row->sum.peak : &entry->peaks[a->query->at_exit_freed]);
    return true;
}

static i64 signed_of(u64 value)
{
    return value > INT64_MAX ? INT64_MAX : (i64)value;
}

static void add(i64 *measure, i64 value)
{
    *measure = etl_sat_add_i64(*measure, value);
}

static void add_measures(i64 measures[ETLHEAP_MEASURES_COUNT], const summary_sum *sum,
                         etlheap_type type)
{
    const i64 count = signed_of(sum->count), size = signed_of(sum->size_bytes);
    const bool outstanding = type == ETLHEAP_TYPE_AIFO || type == ETLHEAP_TYPE_AOFO;
    const i64 impact = type == ETLHEAP_TYPE_AIFO ? size : type == ETLHEAP_TYPE_AOFI ? -size : 0;
    add(&measures[ETLHEAP_MEASURE_COUNT], count);
    add(&measures[ETLHEAP_MEASURE_SIZE], size);
    add(&measures[ETLHEAP_MEASURE_IMPACTING_SIZE], impact);
    add(&measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT], outstanding ? count : 0);
    add(&measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE], outstanding ? size : 0);
    add(&measures[ETLHEAP_MEASURE_REALLOC_COUNT], signed_of(sum->realloc_count));
}

static void keep_peak(group_row *group, const summary_peak *most)
{
    i64 *const count = &group->measures[ETLHEAP_MEASURE_PEAK_COUNT];
    i64 *const size = &group->measures[ETLHEAP_MEASURE_PEAK_SIZE];
    *count = signed_of(most->count) > *count ? signed_of(most->count) : *count;
    *size = signed_of(most->size_bytes) > *size ? signed_of(most->size_bytes) : *size;
}
