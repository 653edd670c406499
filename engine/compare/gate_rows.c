/*
 * gate_rows.c - lists outstanding memory stack by stack for the gate, with known leaks marked.
 *
 * In: the gate's tables: this run by stack, the baseline or a diff, what marks leave behind. Out:
 * gate_rows: (process, kind, heap, stack) with amounts on both sides.
 *
 * A budget that is not about heaps reads the rows by heap too, because sums do not mind that a
 * stack has several rows. Processes that were recorded but hold nothing get a row without memory,
 * so that a budget can see that they were measured. Invariant: suppressed rows stay in the list,
 * only marked: their sums are reported.
 */
#include <stdlib.h>

#include "engine/context/pool_heap.h"
#include "engine/core/intern.h"
#include "gate.h"
#include "row_identity.h"

/* A process of the rows, for ranking. */
typedef struct process_place {
    const char *folded;
    u32 pid;
    u32 row;
} process_place;

static bool add_table(gate_rows *out, const owned_gate *gate);
static bool add_diff(gate_rows *out, const etlheap_diff *diff);
static bool add_left(gate_rows *out, const owned_gate *gate);
static bool add_intervals(gate_rows *out, const owned_gate *gate);
static bool add_processes(gate_rows *out, const owned_gate *gate, bool with_ids);
static bool rank_processes(gate_rows *rows);
static bool suppress(owned_gate *gate, gate_rows *rows);
static bool find_missing(owned_gate *gate, gate_rows *rows);

const gate_rows *gate_rows_for(const owned_gate *gate, const etlheap_budget *budget)
{
    const gate_source *const source = gate_source_of(gate, budget);
    if (source != NULL)
        return &source->rows;
    if (budget->is_growth)
        return &gate->growth;
    return budget->scope == ETLHEAP_SCOPE_MARK ? &gate->left : &gate->absolute;
}

bool gate_rows_open(owned_gate *gate)
{
    bool ok = add_table(&gate->absolute, gate) && add_processes(&gate->absolute, gate, true) &&
              rank_processes(&gate->absolute) && suppress(gate, &gate->absolute);
    for (size_t i = 0; ok && i < gate->absolute.list.count; i++) {
        const gate_row *const row = &gate->absolute.list.at[i];
        gate_add_amount(&gate->unsure[row->kind], &row->unsure);
    }
    if (gate->left_table != NULL)
        ok = ok && add_left(&gate->left, gate) && add_intervals(&gate->left, gate) &&
             rank_processes(&gate->left) && suppress(gate, &gate->left);
    if (gate->diff != NULL)
        ok = ok && add_diff(&gate->growth, gate->diff) &&
             add_processes(&gate->growth, gate, false) && rank_processes(&gate->growth) &&
             suppress(gate, &gate->growth) && find_missing(gate, &gate->growth);
    for (u32 i = 0; ok && i < gate->source_count; i++)
        ok = gate_rows_of_source(gate, &gate->sources[i]);
    return ok;
}

static u64 unsigned_of(i64 value)
{
    return value < 0 ? 0 : (u64)value;
}

/* The amounts of measures; *is_unknown becomes true if the row does not have them. */
static etlheap_amount read_amount(const gate_source *source, etlheap_measure_set known,
                                  const i64 *measures, bool *is_unknown)
{
    const i64 size = measures[source->reads.size], count = measures[source->reads.count];
    *is_unknown |= (known >> source->reads.size & 1) == 0 || size == ETLHEAP_NOT_KNOWN ||
                   count == ETLHEAP_NOT_KNOWN;
    return *is_unknown ? (etlheap_amount){ 0, 0 }
                       : (etlheap_amount){ unsigned_of(size), unsigned_of(count) };
}

static gate_row row_of(const gate_source *source, const etlheap_row *row)
{
    const bool has_stack = !source->is_peak || source->scope == ETLHEAP_SCOPE_STACK;
    const bool is_total = source->is_peak && (source->scope == ETLHEAP_SCOPE_TOTAL ||
                                              source->scope == ETLHEAP_SCOPE_POOL_TAG);
    return (gate_row){
        .kind = row->kind,
        .has_heap = source->scope == ETLHEAP_SCOPE_HEAP && row->has_heap,
        .heap = source->scope == ETLHEAP_SCOPE_HEAP ? row->heap_handle : 0,
        .tag = pool_heap_of_tag(row->pool_tag),
        .name = is_total ? "" : row->process,
        .pid = is_total ? ETL_NO_ID : row->pid,
        .stack = has_stack ? row->stack : ETLHEAP_NO_INDEX,
        .suppression = SUPPRESSION_NONE,
        .generation = source->scope == ETLHEAP_SCOPE_MARK ? row->generation : 0,
        .module = source->scope == ETLHEAP_SCOPE_MODULE ? row->module : NULL,
        .frame = source->scope == ETLHEAP_SCOPE_FUNCTION ? row->frame : ETLHEAP_NO_INDEX,
        .now_ns = row->rates_ns,
    };
}

/* Adds the rows of this run, or with a comparison of both. */
static bool add_source(gate_source *source, const owned_gate *gate)
{
    const etlheap_table *const table = source->diff != NULL ? &source->diff->table : source->table;
    source->rows.table = table;
    for (u32 i = 0; table != NULL && i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        gate_row one = row_of(source, row);
        if (source->scope == ETLHEAP_SCOPE_MARK && !gate_judges_generation(gate, row->generation))
            continue;
        if (source->diff != NULL) {
            const etlheap_change *const change = &source->diff->changes[i];
            one.now = read_amount(source, source->table->measures, change->now, &one.is_unknown);
            one.baseline =
                read_amount(source, source->baseline->measures, change->base, &one.is_unknown);
            one.now_ns = change->new_ns;
            one.baseline_ns = change->base_ns;
        } else {
            one.now = read_amount(source, table->measures, row->measures, &one.is_unknown);
        }
        if (!ETLHEAP_PUSH(&source->rows.list, one))
            return false;
    }
    return true;
}

/* Adds the peak of each interval. Rows of a kind may be several, if it is not a key. */
static bool add_windows(gate_source *source, const owned_gate *gate)
{
    const etlheap_windows *const windows = source->windows;
    for (u32 i = 0; windows != NULL && i < windows->table->row_count; i++) {
        for (u32 at = 0; at < windows->window_count; at++) {
            etlheap_cell cell;
            if (!gate_judges_generation(gate, at + 1) ||
                !etlheap_windows_cell(windows, i, at, &cell))
                continue;
            const gate_row row = { .kind = windows->table->rows[i].kind,
                                   .name = "",
                                   .pid = ETL_NO_ID,
                                   .stack = ETLHEAP_NO_INDEX,
                                   .suppression = SUPPRESSION_NONE,
                                   .generation = at + 1,
                                   .is_unknown = cell.peak_size == ETLHEAP_NOT_KNOWN,
                                   .now = { unsigned_of(cell.peak_size),
                                            unsigned_of(cell.peak_count) } };
            if (!ETLHEAP_PUSH(&source->rows.list, row))
                return false;
        }
    }
    return true;
}

bool gate_rows_of_source(owned_gate *gate, gate_source *source)
{
    const bool is_mark = source->scope == ETLHEAP_SCOPE_MARK;
    if (source->is_growth && source->diff == NULL)
        return true;
    return add_source(source, gate) && add_windows(source, gate) &&
           (is_mark ? add_intervals(&source->rows, gate)
                    : add_processes(&source->rows, gate, !source->is_growth)) &&
           rank_processes(&source->rows) && suppress(gate, &source->rows);
}

void gate_rows_close(owned_gate *gate)
{
    ETLHEAP_VECTOR_FREE(&gate->absolute.list);
    ETLHEAP_VECTOR_FREE(&gate->growth.list);
    ETLHEAP_VECTOR_FREE(&gate->left.list);
}

/* The amount of a row. Sums of a table are not negative, and stop at the largest i64. */
static etlheap_amount amount_of(const i64 *measures)
{
    const i64 size = measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE];
    const i64 count = measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT];
    return (etlheap_amount){ size < 0 ? 0 : (u64)size, count < 0 ? 0 : (u64)count };
}

/* Memory of a ring is unsure if it was allocated outside the recorded span, or if that cannot be
 * told. The table's window begins with the last kind's span; kinds that were recorded before it are
 * those of another session, which is no ring. */
static bool add_table(gate_rows *out, const owned_gate *gate)
{
    const etlheap_table *const table = gate->table;
    out->table = table;
    if (!ETLHEAP_RESERVE(&out->list, table->row_count))
        return false;
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        const etlheap_recorded *const span =
            &etlheap_result_trace(gate->now->result)->recorded[row->kind];
        const bool is_unsure =
            gate->is_ring && (!gate->tells_unsure ||
                              (row->type == ETLHEAP_TYPE_AOFO && span->from_ns >= table->from_ns));
        const etlheap_amount none = { 0, 0 };
        out->list.at[out->list.count++] = (gate_row){
            .kind = row->kind,
            .has_heap = row->has_heap,
            .heap = row->heap_handle,
            .tag = pool_heap_of_tag(row->pool_tag),
            .name = row->process,
            .pid = row->pid,
            .stack = row->stack,
            .suppression = SUPPRESSION_NONE,
            .now = amount_of(row->measures),
            .unsure = is_unsure ? amount_of(row->measures) : none,
        };
    }
    return true;
}

/* Adds what intervals leave behind. The query selected just that, so all of a row counts. */
static bool add_left(gate_rows *out, const owned_gate *gate)
{
    const etlheap_table *const table = gate->left_table;
    out->table = table;
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        const gate_row one = {
            .kind = row->kind,
            .name = row->process,
            .pid = row->pid,
            .stack = row->stack,
            .suppression = SUPPRESSION_NONE,
            .generation = row->generation,
            .now = { (u64)row->measures[ETLHEAP_MEASURE_SIZE],
                     (u64)row->measures[ETLHEAP_MEASURE_COUNT] },
        };
        if (gate_judges_generation(gate, row->generation) && !ETLHEAP_PUSH(&out->list, one))
            return false;
    }
    return true;
}

/* Adds a row without memory for each interval and each kind that selected processes have events of:
 * nothing was left behind unless other rows say so. */
static bool add_intervals(gate_rows *out, const owned_gate *gate)
{
    const u32 count = etlheap_result_marks(gate->now->result)->count;
    for (u32 generation = 1; generation <= count; generation++) {
        if (!gate_judges_generation(gate, generation))
            continue;
        for (u8 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
            const gate_row row = { .kind = kind,
                                   .name = "",
                                   .pid = ETL_NO_ID,
                                   .stack = ETLHEAP_NO_INDEX,
                                   .frame = ETLHEAP_NO_INDEX,
                                   .suppression = SUPPRESSION_NONE,
                                   .generation = generation };
            if (gate->gate.kinds >> kind & 1 && !ETLHEAP_PUSH(&out->list, row))
                return false;
        }
    }
    return true;
}

static bool add_diff(gate_rows *out, const etlheap_diff *diff)
{
    const etlheap_table *const table = &diff->table;
    out->table = table;
    if (!ETLHEAP_RESERVE(&out->list, table->row_count))
        return false;
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        out->list.at[out->list.count++] = (gate_row){
            .kind = row->kind,
            .tag = pool_heap_of_tag(row->pool_tag),
            .name = row->process,
            .pid = row->pid, /* of processes without a name */
            .stack = row->stack,
            .suppression = SUPPRESSION_NONE,
            .now = amount_of(diff->changes[i].now),
            .baseline = amount_of(diff->changes[i].base),
        };
    }
    return true;
}

/* Adds a row without memory for each kind that a selected process has events of: it was measured,
 * and has nothing outstanding unless other rows say so. */
static bool add_processes(gate_rows *out, const owned_gate *gate, bool with_ids)
{
    const etlheap_result *const result = gate->now->result;
    const bool is_lone = row_identities_is_lone(result);
    for (u32 i = 0; i < etlheap_process_count(result); i++) {
        const etlheap_process_info *const process =
            etlheap_process_of(result, (etlheap_process){ i + 1 });
        const bool by_pid = with_ids || !(is_lone || etlheap_process_is_named(process->name));
        const u32 kinds = gate->plan.process_selected[i + 1] ? etlheap_process_kinds(process) : 0;
        for (u8 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
            const gate_row row = { .kind = kind,
                                   .name = process->name,
                                   .pid = by_pid ? process->pid : ETL_NO_ID,
                                   .stack = ETLHEAP_NO_INDEX,
                                   .frame = ETLHEAP_NO_INDEX,
                                   .suppression = SUPPRESSION_NONE };
            if ((kinds & gate->gate.kinds) >> kind & 1 && !ETLHEAP_PUSH(&out->list, row))
                return false;
        }
    }
    return true;
}

static int by_process(const void *a, const void *b)
{
    const process_place *const left = a;
    const process_place *const right = b;
    const int order = strcmp(left->folded, right->folded);
    if (order != 0)
        return order;
    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    return left->row < right->row ? -1 : left->row > right->row;
}

/* Ranks processes by name without case: WPA's recordings write names in capitals. */
static bool rank_processes(gate_rows *rows)
{
    etlheap_strings folded = { 0 };
    process_place *const places = malloc((rows->list.count + 1) * sizeof *places);
    bool ok = places != NULL;
    for (size_t i = 0; ok && i < rows->list.count; i++) {
        u32 id;
        ok = etlheap_strings_add_name(&folded, rows->list.at[i].name, &id);
        if (ok)
            places[i] =
                (process_place){ etlheap_strings_get(&folded, id), rows->list.at[i].pid, (u32)i };
    }
    u32 rank = 0;
    if (ok && rows->list.count > 0)
        qsort(places, rows->list.count, sizeof *places, by_process);
    for (size_t i = 0; ok && i < rows->list.count; i++) {
        rank += i > 0 && (strcmp(places[i].folded, places[i - 1].folded) != 0 ||
                          places[i].pid != places[i - 1].pid);
        rows->list.at[places[i].row].process = rank;
    }
    free(places);
    etlheap_strings_free(&folded);
    return ok;
}

/* Finds the suppression of each frame. */
static bool suppress_frames(owned_gate *gate, const gate_rows *rows, u32 *frames)
{
    const etlheap_table *const table = rows->table;
    const etlheap_gate_side *const baseline = gate->options->baseline;
    suppression_finder finder;
    bool ok = suppression_finder_open(&finder, gate->options->suppressions) &&
              suppression_finder_add_files(&finder, gate->now->result);
    if (ok && rows == &gate->growth && baseline != NULL)
        ok = suppression_finder_add_files(&finder, baseline->result);
    for (u32 i = 0; ok && i < table->frame_count; i++)
        ok = suppressions_find(&finder, &table->frames[i], &frames[i]);
    gate->suppression_steps += suppression_finder_steps(&finder);
    suppression_finder_close(&finder);
    return ok;
}

/* Marks known leaks. Each frame is compared once, however many stacks it is in. The innermost frame
 * that a suppression matches decides. */
static bool suppress(owned_gate *gate, gate_rows *rows)
{
    const etlheap_table *const table = rows->table;
    if (gate->options->suppressions == NULL || table == NULL)
        return true;
    u32 *const frames = malloc(((size_t)table->frame_count + 1) * sizeof *frames);
    if (frames == NULL)
        return false;
    const bool ok = suppress_frames(gate, rows, frames);
    for (size_t i = 0; ok && i < rows->list.count; i++) {
        gate_row *const row = &rows->list.at[i];
        if (row->stack == ETLHEAP_NO_INDEX)
            continue;
        const u32 end = table->stack_starts[row->stack + 1];
        for (u32 k = table->stack_starts[row->stack];
             k < end && row->suppression == SUPPRESSION_NONE; k++)
            row->suppression = frames[table->frame_indices[k]];
    }
    free(frames);
    return ok;
}

/* Lists the processes that have memory in the baseline and no event in this run, in the order of
 * their names. There are fewer ranks of processes than rows. */
static bool find_missing(owned_gate *gate, gate_rows *rows)
{
    enum { RAN = 1, HAD_MEMORY = 2 };
    const size_t count = rows->list.count;
    u8 *const seen = calloc(count + 1, sizeof *seen);
    const char **const names = calloc(count + 1, sizeof(const char *));
    bool ok = seen != NULL && names != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        const gate_row *const row = &rows->list.at[i];
        if (row->baseline.count == 0 || row->now.count > 0)
            seen[row->process] |= RAN;
        else if (row->suppression == SUPPRESSION_NONE)
            seen[row->process] |= HAD_MEMORY;
        if (names[row->process] == NULL)
            names[row->process] = row->name;
    }
    for (size_t i = 0; ok && i < count; i++)
        ok = seen[i] != HAD_MEMORY || ETLHEAP_PUSH(&gate->missing, names[i]);
    free(seen);
    free(names);
    return ok;
}
