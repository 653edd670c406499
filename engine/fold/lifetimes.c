/*
 * lifetimes.c - walks over lifetimes: opens a walk and hands out its rows one by one.
 * etlheap_lifetimes.h is its public interface.
 *
 * In: a query with an order and maybe a limit; rows of a result in memory, segments of an archive.
 * Out: lifetimes in that order, with their stacks in a growing table.
 *
 *     rows of the result's store ──▶ kept (references, sorted) ──┐
 *                                                               ├─▶ merged ─▶ stack ─▶ out
 *     segments of an archive ──▶ batch (copies, sorted) ─────────┘
 *
 * By time of allocation, an archive is read as rows are asked for: a batch is a segment, and rows
 * that may still tie with the next segment wait. In any other order, all its rows go to `kept`.
 *
 * A stack gets its number in the table when the first row with it leaves. With symbols, culling and
 * names are found for all stacks at once (frames.h). So there is a pass over all rows first, which
 * only resolves stacks; their names are in `base`, a table that nobody sees, and are copied from
 * there. Invariant: rows must leave in the same order and with the same numbers whether they were
 * kept or streamed.
 */
#include <stdlib.h>

#include "lifetimes.h"
#include "engine/names/symbols.h"
#include "parser/sized.h"

static etl_status read_question(etlheap_lifetimes *walk, const etlheap_query *query,
                                const etlheap_lifetimes_options *options, etl_error *err);
static etl_status open_parts(etlheap_lifetimes *walk, etl_error *err);
static etl_status open_archive(etlheap_lifetimes *walk, u64 ends_max, etl_error *err);
static bool rank_processes(etlheap_lifetimes *walk);
static etl_status hand_out(etlheap_lifetimes *walk, const walk_row *row, etlheap_lifetime *out,
                           etl_error *err);

etl_status etlheap_lifetimes_open(const etlheap_result *result, const etlheap_query *query,
                                  const etlheap_lifetimes_options *options, etlheap_lifetimes **out,
                                  etl_error *err)
{
    return lifetimes_open(result, query, options, LIFETIMES_ENDS_MAX, out, err);
}

etl_status lifetimes_open(const etlheap_result *result, const etlheap_query *query,
                          const etlheap_lifetimes_options *options, u64 ends_max,
                          etlheap_lifetimes **out, etl_error *err)
{
    etlheap_lifetimes *walk = NULL;
    etl_status status = lifetimes_begin(result, query, options, &walk, err);
    if (status == ETL_OK)
        status = lifetimes_fill(walk, ends_max, err);
    if (status != ETL_OK) {
        etlheap_lifetimes_close(walk);
        walk = NULL;
    }
    *out = walk;
    return status;
}

etl_status lifetimes_begin(const etlheap_result *result, const etlheap_query *query,
                           const etlheap_lifetimes_options *options, etlheap_lifetimes **out,
                           etl_error *err)
{
    *out = NULL;
    etl_status status = result_answers(result, RESULT_NEED_LIST, err);
    if (status != ETL_OK)
        return status;
    etlheap_lifetimes *const walk = calloc(1, sizeof *walk);
    if (walk == NULL)
        return etl_no_memory(err);
    walk->result = result;
    status = read_question(walk, query, options, err);
    if (status == ETL_OK)
        status = open_parts(walk, err);
    if (status == ETL_OK)
        *out = walk;
    else
        etlheap_lifetimes_close(walk);
    return status;
}

void etlheap_lifetimes_close(etlheap_lifetimes *walk)
{
    if (walk == NULL)
        return;
    query_close(&walk->plan);
    frames_close(&walk->frames);
    free(walk->process_ranks);
    walk_list_free(&walk->kept);
    walk_list_free(&walk->batch);
    lifetimes_archive_close(&walk->archive);
    if (walk->base != NULL)
        etlheap_table_free(&walk->base->table);
    table_numbers_free(&walk->base_numbers);
    table_numbers_free(&walk->numbers);
    ETLHEAP_VECTOR_FREE(&walk->copied_frames);
    ETLHEAP_VECTOR_FREE(&walk->copied_stacks);
    if (walk->table != NULL)
        etlheap_table_free(&walk->table->table);
    free(walk);
}

bool etlheap_lifetimes_next(etlheap_lifetimes *walk, etlheap_lifetime *out)
{
    walk_row row;
    bool found = false;
    if (walk->status == ETL_OK)
        walk->status = walk_next(walk, &row, &found, &walk->err);
    if (walk->status == ETL_OK && found)
        walk->status = hand_out(walk, &row, out, &walk->err);
    else if (walk->status == ETL_OK)
        walk_finish_frames(walk);
    walk->count += walk->status == ETL_OK && found;
    return walk->status == ETL_OK && found;
}

u64 etlheap_lifetimes_count(const etlheap_lifetimes *walk)
{
    return walk->count;
}

etl_status etlheap_lifetimes_status(const etlheap_lifetimes *walk, etl_error *err)
{
    if (err != NULL && walk->status != ETL_OK)
        *err = walk->err;
    return walk->status;
}

const etlheap_table *etlheap_lifetimes_table(const etlheap_lifetimes *walk)
{
    return &walk->table->table;
}

const etlheap_result *etlheap_lifetimes_result(const etlheap_lifetimes *walk)
{
    return walk->result;
}

/* --- opening ------------------------------------------------------------------------ */

static etl_status read_question(etlheap_lifetimes *walk, const etlheap_query *query,
                                const etlheap_lifetimes_options *given, etl_error *err)
{
    etlheap_lifetimes_options *const options = &walk->options;
    *options = (etlheap_lifetimes_options){ .size = sizeof *options };
    etl_status status =
        etl_read_sized(given, "etlheap_lifetimes_options", options, sizeof *options, err);
    if (status == ETL_OK)
        status = query_read_for(walk->result, query, &walk->query, err);
    if (status != ETL_OK)
        return status;
    if ((u32)options->sort >= ETLHEAP_LIFETIME_COLUMN_COUNT)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "unknown column to sort by");
    if (options->top != 0 && __builtin_add_overflow(options->top, options->skip, &options->top))
        options->top = 0;
    if (options->by_address && options->address_first > options->address_last)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "the address range is empty");
    return query_open(&walk->plan, walk->result, &walk->query, err);
}

static etl_status open_parts(etlheap_lifetimes *walk, etl_error *err)
{
    const etlheap_query *const query = walk->plan.query;
    const etlheap_lifetimes_options *const options = &walk->options;
    const bool by_time = options->sort == ETLHEAP_LIFETIME_ALLOC_TIME && !options->sort_descending;
    const u32 heap_bit = 1u << ETLHEAP_KIND_HEAP;
    walk->table = calloc(1, sizeof *walk->table);
    if (!frames_open(&walk->frames, walk->result, query) || walk->table == NULL ||
        !ETLHEAP_PUSH(&walk->table->stack_starts, 0) || !rank_processes(walk))
        return etl_no_memory(err);
    walk->has_frees = options->frees &&
                      result_answers(walk->result, RESULT_NEED_FREES, NULL) == ETL_OK &&
                      result_answers(walk->result, RESULT_NEED_FREE_THREADS, NULL) == ETL_OK;
    walk->has_archive = walk->result->mode == RESULT_STORE && (query_kinds(query) & heap_bit) != 0;
    /* Rows stream in order of time. With both a limit and a filter by frames they are kept
     * instead, because that filter takes a pass over all rows anyway. */
    walk->is_streaming =
        walk->has_archive && by_time && (options->top == 0 || !query_selects_frames(query));
    walk->batch = (walk_list){ .plan = &walk->plan, .is_copied = true };
    walk->kept = (walk_list){ .plan = &walk->plan,
                              .process_ranks = walk->process_ranks,
                              .sort = options->sort,
                              .descending = options->sort_descending,
                              .is_copied = walk->has_archive && !walk->is_streaming,
                              .top = options->top };
    return ETL_OK;
}

etl_status lifetimes_fill(etlheap_lifetimes *walk, u64 ends_max, etl_error *err)
{
    const etlheap_query *const query = walk->plan.query;
    const bool has_symbols = query->symbols != NULL;
    etl_status status = walk->has_archive ? open_archive(walk, ends_max, err) : ETL_OK;
    if (status == ETL_OK && has_symbols && query_selects_frames(query)) {
        status = walk_visit_all(walk, WALK_RESOLVE, err);
        if (status == ETL_OK)
            status = walk_finish_stacks(walk, err);
    }
    if (status == ETL_OK)
        status = walk_visit_all(walk, WALK_KEEP, err);
    if (status == ETL_OK)
        status = walk_list_sort(&walk->kept, err);
    if (status == ETL_OK && has_symbols)
        status = walk_name(walk, err);
    if (status != ETL_OK)
        return status;
    walk_rewind(walk);
    walk->table->table.from_ns = walk->plan.from_ns;
    walk->table->table.to_ns = walk->plan.to_ns;
    walk->table->table.diagnostics = *etlheap_result_diagnostics(walk->result);
    walk_note_guesses(walk);
    if (has_symbols)
        etl_diag_merge(&walk->table->table.diagnostics, &query->symbols->diag);
    table_publish(walk->table);
    return ETL_OK;
}

/* Half of the memory is for the ends of blocks, the other half for kept rows. */
static etl_status open_archive(etlheap_lifetimes *walk, u64 ends_max, etl_error *err)
{
    const etlheap_query *const query = walk->plan.query;
    const u64 memory = walk->options.memory_bytes_max / 2;
    const lifetimes_wanted wanted = {
        .from_ticks = walk->plan.from_ticks,
        .to_ticks = walk->plan.kind_to_ticks[ETLHEAP_KIND_HEAP],
        .size_min_bytes = query->size_min_bytes,
        .size_max_bytes = query->size_max_bytes,
        .ends_max = memory == 0 ? ends_max : etl_min_u64(ends_max, memory / LIFETIMES_END_BYTES),
        .jobs = query->jobs,
        .cancel = query->cancel,
        .has_frees = walk->has_frees,
        .has_free_threads = walk->has_frees,
    };
    return lifetimes_archive_open(&walk->archive, walk->result->archive, &wanted, err);
}

typedef struct ranked_process {
    const char *name;
    u32 pid, id;
} ranked_process;

static int by_name(const void *a, const void *b)
{
    const ranked_process *const x = a, *const y = b;
    const int order = strcmp(x->name, y->name);
    if (order != 0)
        return order;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Ranks processes by name without case, then by id. */
static bool rank_processes(etlheap_lifetimes *walk)
{
    const size_t count = walk->result->processes.count;
    if (walk->options.sort != ETLHEAP_LIFETIME_PROCESS)
        return true;
    ranked_process *const sorted = calloc(count + 1, sizeof *sorted);
    walk->process_ranks = calloc(count + 1, sizeof *walk->process_ranks);
    const bool ok = sorted != NULL && walk->process_ranks != NULL;
    for (u32 i = 0; ok && i < count; i++) {
        const etlheap_process_info *const info = &walk->result->processes.at[i];
        sorted[i] = (ranked_process){ info->name, info->pid, i + 1 };
    }
    if (ok)
        qsort(sorted, count, sizeof *sorted, by_name);
    for (u32 i = 0; ok && i < count; i++)
        walk->process_ranks[sorted[i].id] = i;
    free(sorted);
    return ok;
}

/* --- handing out --------------------------------------------------------------------------- */

static etl_status hand_out(etlheap_lifetimes *walk, const walk_row *row, etlheap_lifetime *out,
                           etl_error *err)
{
    const lifetime *const life = &row->life;
    const etl_session *const session = walk->result->base.base;
    const query_row times = { .alloc_ticks = life->alloc_ticks, .free_ticks = life->free_ticks };
    *out = (etlheap_lifetime){
        .kind = life->kind,
        .type = row->type,
        .free_type = life->free_type,
        .is_realloc = life->is_realloc,
        .has_heap = etlheap_kind_has(life->kind, ETLHEAP_KIND_HAS_HEAP),
        .thread = life->thread,
        .process = { life->process },
        .raw_stack = { life->stack },
        .address = life->address,
        .size_bytes = life->size,
        .heap_handle = life->heap,
        .heap_name = logged_names_find(&walk->result->context.logged_names, life->heap),
        .alloc_ticks = life->alloc_ticks,
        .free_ticks = life->free_ticks,
        .alloc_ns = INT64_MIN,
        .free_ns = INT64_MAX,
        .free_thread = walk->has_frees ? life->free_thread : ETL_NO_ID,
        .free_stack = ETLHEAP_NO_INDEX,
    };
    if (life->alloc_ticks != ETLHEAP_TICKS_BEFORE)
        out->alloc_ns = etl_time_ns(session, life->alloc_ticks);
    if (life->free_ticks != ETLHEAP_TICKS_NEVER)
        out->free_ns = etl_time_ns(session, life->free_ticks);
    if (!query_lifetime_ns(&walk->plan, &times, &out->lifetime_ns))
        out->lifetime_ns = INT64_MAX;
    bool ok = walk_number_stack(walk, life, &out->stack);
    if (walk->has_frees) {
        out->raw_free_stack.v = life->free_stack;
        ok = ok && walk_number_free_stack(walk, life, &out->free_stack);
    }
    return ok ? ETL_OK : etl_no_memory(err);
}
