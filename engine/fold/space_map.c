/*
 * space_map.c - shows how full the address space of each process is at one moment.
 *
 * In: ranges (reservations, commits, extents) and blocks of a feed, and images. Out: an
 * etlheap_map.
 *
 *     ranges, images ──▶ space_ranges   reservations, commits, extents, images
 *     blocks         ──▶ space_cells    live bytes by unit, each task its own
 *                              │
 *                              ▼
 *     space_regions, space_sweep, process by process ──▶ etlheap_map
 *
 * A large block would take a cell for each of its units. So it is kept whole until the unit is
 * final; then only its ends become cells, and the part between is a range. Invariant: tasks may use
 * different units; join_blocks brings them to one before large blocks are split.
 */
#include <stdlib.h>

#include "engine/core/workers.h"
#include "engine/query/needs.h"
#include "block_selection.h"
#include "folds.h"
#include "parser/sized.h"
#include "space_sweep.h"

#define UNIT_SHIFT_MIN 12u
#define UNIT_SHIFT_MAX 40u
#define LARGE_UNITS    16u

typedef struct space_large {
    u64 heap;
    u32 process;
    space_block block;
} space_large;

/* The live blocks that one task adds. */
typedef struct space_blocks {
    space_cells cells;
    ETLHEAP_VECTOR(space_large) large;
    space_range_list ranges;
    u64 large_bytes;
} space_blocks;

typedef struct space_task space_task;

typedef struct space_maker {
    aggregator a;
    etlheap_query query;
    etlheap_map_options options;
    space_blocks blocks; /* of all tasks, and images */
    origin_groups origins;
    space_task *tasks;
    u32 task_count;
} space_maker;

struct space_task {
    const space_maker *maker;
    space_blocks blocks;
    u8 padding[SHARD_PADDING];
};

/* A map, and the memory that it points to. */
typedef struct owned_map {
    etlheap_map map;
    space_output output;
    ETLHEAP_VECTOR(etlheap_map_process) processes;
    ETLHEAP_VECTOR(etlheap_map_pin) pins;
} owned_map;

static etl_status read_options(space_maker *m, const etlheap_result *result,
                               const etlheap_question *question, etl_error *err);
static void set_query(space_maker *m, const etlheap_result *result);
static bool add_images(space_maker *m);
static etl_status want_blocks(space_maker *m, block_feed *feed, etl_error *err);
static etl_status take_blocks(void *state, const lifetimes_batch *batch, etl_error *err);
static bool join_blocks(space_maker *m);
static bool make_map(space_maker *m, owned_map *out);
static bool list_pins(space_maker *m, owned_map *out);

/* --- what is asked ------------------------------------------------------------------------ */

static etl_status begin(void *state, const etlheap_result *result, const etlheap_question *question,
                        log_pass *pass, etl_error *err)
{
    space_maker *const m = state;
    etl_status status = read_options(m, result, question, err);
    if (status == ETL_OK)
        status = result_answers(result, RESULT_NEED_ADDRESSES, err);
    if (status != ETL_OK)
        return status;
    const bool has_images = m->query.kinds == 0 && m->query.heap_count == 0;
    set_query(m, result);
    m->blocks.cells.shift = (u32)__builtin_ctzll(m->options.unit);
    m->blocks.large_bytes = m->options.unit * LARGE_UNITS;
    status = aggregate_prepare(&m->a, result, &m->query, err);
    if (status == ETL_OK)
        status = feed_groups(&pass->feed, &m->a, &m->origins, err);
    if (status == ETL_OK && has_images && !add_images(m))
        status = etl_no_memory(err);
    return status == ETL_OK ? want_blocks(m, &pass->feed, err) : status;
}

static etl_status read_options(space_maker *m, const etlheap_result *result,
                               const etlheap_question *question, etl_error *err)
{
    m->options = (etlheap_map_options){ .size = sizeof m->options };
    etl_status status = query_read_for(result, question->query, &m->query, err);
    if (status == ETL_OK)
        status = etl_read_sized(question->map, "etlheap_map_options", &m->options,
                                sizeof m->options, err);
    if (m->options.unit == 0)
        m->options.unit = ETLHEAP_MAP_UNIT_DEFAULT;
    const u64 unit = m->options.unit;
    const bool is_unit = (unit & (unit - 1)) == 0 && unit >= (u64)1 << UNIT_SHIFT_MIN &&
                         unit <= (u64)1 << UNIT_SHIFT_MAX;
    if (status == ETL_OK && !is_unit)
        status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                               "the unit of a map is a power of two from 4 KiB to 1 TiB");
    return status;
}

static etlheap_kind_place place_of(u32 kind)
{
    return etlheap_kind_at((etlheap_kind)kind)->place;
}

/* The kinds whose memory is in the address space of its process. */
static u32 kinds_with_place(void)
{
    u32 kinds = 0;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        kinds |= place_of(kind) != ETLHEAP_PLACE_NOWHERE ? 1u << kind : 0;
    return kinds;
}

/* Makes the query. A moment is an empty window, so a log is read from shortly before it. */
static void set_query(space_maker *m, const etlheap_result *result)
{
    etlheap_query *const query = &m->query;
    if (query->kinds == 0)
        query->kinds = ETLHEAP_KINDS_DEFAULT | (result->abilities.kinds & kinds_with_place());
    if (query->kind_to_ticks == NULL)
        query->from_ns = query->to_ns == INT64_MAX ? result->info.end_ns : query->to_ns;
    query->types = 0;
    query->at_end = true;
    query->group_by[0] = ETLHEAP_KEY_KIND;
    query->group_by[1] = ETLHEAP_KEY_PROCESS;
    query->group_by[2] = ETLHEAP_KEY_HEAP;
    query->group_by[3] = ETLHEAP_KEY_STACK;
    query->group_by_count = 4;
    query->processes_by_name = false;
    etlheap_query_drop_measures(query);
    query->whole_rows_max = 0;
    query->sort = ETLHEAP_MEASURE_OUTSTANDING_SIZE;
}

/* --- what there is -------------------------------------------------------------------------- */

static bool add_block(space_blocks *to, u32 process, u64 heap, const space_block *block)
{
    if (block->size > to->large_bytes)
        return ETLHEAP_PUSH(&to->large, ((space_large){ heap, process, *block }));
    return space_cells_add(&to->cells, process, heap, block);
}

/* Adds the modules loaded at the moment, or at the end of a process that ended before it. */
static bool add_images(space_maker *m)
{
    const etlheap_result *const result = m->a.result;
    bool ok = true;
    for (u32 i = 0; ok && i < modules_image_count(&result->modules); i++) {
        const etlheap_module_info *const module = &result->modules.list.at[i];
        const u32 process = module->process.v;
        if (process == 0 || !m->a.plan.process_selected[process])
            continue;
        const i64 moment = m->a.plan.kind_to_ticks[ETLHEAP_KIND_HEAP];
        const i64 exit_ticks = result->processes.at[process - 1].end_ticks;
        const bool has_ended = exit_ticks < moment;
        if (has_ended && m->query.at_exit_freed)
            continue;
        const i64 ticks = has_ended ? exit_ticks : moment;
        const space_range range = { .start = module->base,
                                    .end = etl_sat_add_u64(module->base, module->size_bytes),
                                    .process = process,
                                    .module = i,
                                    .what = SPACE_IMAGE };
        if (module->load_ticks < ticks && module->unload_ticks >= ticks && range.start < range.end)
            ok = ETLHEAP_PUSH(&m->blocks.ranges, range);
    }
    return ok;
}

static etl_status want_blocks(space_maker *m, block_feed *feed, etl_error *err)
{
    const u32 count = feed_tasks(&m->query);
    m->tasks = calloc(count, sizeof *m->tasks);
    m->task_count = count;
    for (u32 i = 0; m->tasks != NULL && i < count; i++) {
        m->tasks[i].maker = m;
        m->tasks[i].blocks.cells.shift = m->blocks.cells.shift;
        m->tasks[i].blocks.large_bytes = m->blocks.large_bytes;
    }
    const block_want want = { .plan = &m->a.plan,
                              .step = take_blocks,
                              .states = { m->tasks, sizeof *m->tasks },
                              .more = EHS_WANT_ADDRESS,
                              .of_origin = m->origins.of_origin };
    return m->tasks != NULL && ETLHEAP_PUSH(&feed->wants, want) ? ETL_OK : etl_no_memory(err);
}

/* Adds a range; empty ones are nowhere. */
static bool add_range(space_blocks *to, const origin_owner *owner, const space_block *block)
{
    static const u8 whats[ETLHEAP_PLACE_COUNT] = { [ETLHEAP_PLACE_COMMITTED] = SPACE_COMMITTED,
                                                   [ETLHEAP_PLACE_EXTENT] = SPACE_EXTENT,
                                                   [ETLHEAP_PLACE_RESERVED] = SPACE_RESERVED,
                                                   [ETLHEAP_PLACE_VIEW] = SPACE_VIEW };
    const space_range range = { .start = block->address,
                                .end = etl_sat_add_u64(block->address, block->size),
                                .heap = owner->heap,
                                .process = owner->process,
                                .what = whats[place_of(block->kind)] };
    return range.start >= range.end || ETLHEAP_PUSH(&to->ranges, range);
}

static etl_status take_blocks(void *state, const lifetimes_batch *batch, etl_error *err)
{
    space_task *const task = state;
    const space_maker *const m = task->maker;
    bool ok = true;
    for (u32 i = 0; ok && i < batch->count; i++) {
        query_row row;
        if (!block_selected(&m->a.plan, batch, i, &row))
            continue;
        const u32 origin = batch->origin[i], group = m->origins.of_origin[origin];
        if (group == GROUP_NONE)
            continue;
        const origin_owner owner = origin_groups_owner(&m->origins, origin);
        const space_block block = { .address = batch->address[i],
                                    .size = batch->size[i],
                                    .alloc_ticks = row.alloc_ticks,
                                    .stack = m->origins.keys.at[group].stack,
                                    .kind = (u8)lifetimes_batch_kind(batch, i) };
        const etlheap_kind_place place = place_of(block.kind);
        if (place != ETLHEAP_PLACE_NOWHERE)
            ok = place == ETLHEAP_PLACE_BLOCK
                     ? add_block(&task->blocks, owner.process, owner.heap, &block)
                     : add_range(&task->blocks, &owner, &block);
    }
    return ok ? ETL_OK : etl_no_memory(err);
}

/* --- the map ---------------------------------------------------------------------------------- */

static int by_large(const void *a, const void *b)
{
    const space_large *const x = a, *const y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->block.address != y->block.address)
        return x->block.address < y->block.address ? -1 : 1;
    if (x->block.size != y->block.size)
        return x->block.size < y->block.size ? -1 : 1;
    return (x->heap > y->heap) - (x->heap < y->heap);
}

/* Joins the blocks of all tasks, with one unit. */
static bool join_blocks(space_maker *m)
{
    space_blocks *const all = &m->blocks;
    bool ok = true;
    for (u32 i = 0; ok && i < m->task_count; i++) {
        const space_blocks *const from = &m->tasks[i].blocks;
        ok = space_cells_join(&all->cells, &from->cells) &&
             ETLHEAP_RESERVE(&all->large, from->large.count) &&
             ETLHEAP_RESERVE(&all->ranges, from->ranges.count);
        for (size_t k = 0; ok && k < from->large.count; k++)
            ok = ETLHEAP_PUSH(&all->large, from->large.at[k]);
        for (size_t k = 0; ok && k < from->ranges.count; k++)
            ok = ETLHEAP_PUSH(&all->ranges, from->ranges.at[k]);
    }
    if (ok && all->large.count > 0)
        qsort(all->large.at, all->large.count, sizeof *all->large.at, by_large);
    for (size_t i = 0; ok && i < all->large.count; i++) {
        const space_large *const one = &all->large.at[i];
        space_range inner = { .heap = one->heap, .process = one->process, .what = SPACE_INNER };
        ok = space_cells_add_ends(&all->cells, one->process, one->heap, &one->block, &inner.start,
                                  &inner.end) &&
             (inner.start >= inner.end || ETLHEAP_PUSH(&m->blocks.ranges, inner));
    }
    space_cells_sort(&all->cells);
    space_ranges_sort(&m->blocks.ranges);
    return ok;
}

/* Finds the data of a process; false if it has at most images. */
static bool find_process(const space_maker *m, u32 process, size_t *first_cell, space_process *out)
{
    const space_cells *const cells = &m->blocks.cells;
    bool has_some = false;
    size_t end = *first_cell;
    while (end < cells->list.count && cells->list.at[end].process == process)
        end++;
    *out = (space_process){ .shift = cells->shift,
                            .cells = cells->list.at == NULL ? NULL : cells->list.at + *first_cell,
                            .cell_count = (u32)(end - *first_cell) };
    *first_cell = end;
    for (u32 what = 0; what < SPACE_WHAT_COUNT; what++) {
        out->of[what] = space_ranges_of(&m->blocks.ranges, process, (space_what)what);
        has_some |= what != SPACE_IMAGE && out->of[what].count > 0;
    }
    return has_some || out->cell_count > 0;
}

static const char *file_of_path(const char *path)
{
    const char *const slash = path == NULL ? NULL : strrchr(path, '\\');
    return slash == NULL ? path : slash + 1;
}

/* Names the regions of images after their modules, and those of views after their files. */
static void name_mappings(const space_maker *m, const space_regions *regions,
                          const etlheap_map_process *process, owned_map *out)
{
    const etlheap_result *const result = m->a.result;
    for (u32 i = 0; i < process->region_count; i++) {
        const space_region *const from = &regions->list.at[i];
        etlheap_map_region *const region = &out->output.regions.at[process->first_region + i];
        if (from->is_image)
            region->module = result->modules.list.at[from->module].name;
        else if (from->is_view)
            region->module =
                file_of_path(logged_names_find(&result->context.logged_names, from->file));
    }
}

static int by_amount(const void *a, const void *b)
{
    const etlheap_map_process *const x = a, *const y = b;
    const u64 p = etl_max_u64(x->amounts.committed, x->amounts.live);
    const u64 q = etl_max_u64(y->amounts.committed, y->amounts.live);
    if (p != q)
        return p > q ? -1 : 1;
    return (x->first_region > y->first_region) - (x->first_region < y->first_region);
}

/* Adds what events of the heaps state. */
static void add_uncommitted(const space_maker *m, u32 id, const etlheap_map_process *process,
                            owned_map *out)
{
    const i64 to_ticks = m->a.plan.kind_to_ticks[ETLHEAP_KIND_HEAP];
    for (u32 i = 0; i < process->heap_count; i++) {
        etlheap_map_heap *const heap = &out->output.heaps.at[process->first_heap + i];
        const heap_size *const size =
            heap_sizes_at(&m->a.result->heap_sizes, id, heap->heap, to_ticks);
        const u64 bytes = size == NULL ? HEAP_SIZE_UNKNOWN : heap_size_uncommitted(size);
        heap->is_uncommitted_known = bytes != HEAP_SIZE_UNKNOWN;
        heap->uncommitted = heap->is_uncommitted_known ? bytes : 0;
    }
}

static bool make_map(space_maker *m, owned_map *out)
{
    const etlheap_result *const result = m->a.result;
    size_t cell = 0;
    bool ok = true;
    for (u32 id = 1; ok && id <= result->processes.count; id++) {
        const etlheap_process_info *const info = &result->processes.at[id - 1];
        etlheap_map_process process = { .name = info->name, .pid = info->pid };
        space_regions regions = { 0 };
        space_process has;
        if (!find_process(m, id, &cell, &has))
            continue;
        ok = space_regions_make(&regions, &has) &&
             space_sweep(&out->output, &has, &regions, (u32)out->processes.count, &process) &&
             ETLHEAP_PUSH(&out->processes, process);
        if (ok) {
            name_mappings(m, &regions, &process, out);
            add_uncommitted(m, id, &process, out);
        }
        space_regions_free(&regions);
    }
    ETLHEAP_TRIM(&out->processes);
    ETLHEAP_TRIM(&out->output.regions);
    ETLHEAP_TRIM(&out->output.runs);
    ETLHEAP_TRIM(&out->output.heaps);
    return ok && list_pins(m, out);
}

static int by_waste(const void *a, const void *b)
{
    const space_pin *const x = a, *const y = b;
    const u64 p = x->pin.committed - x->pin.live, q = y->pin.committed - y->pin.live;
    if (p != q)
        return p > q ? -1 : 1;
    if (x->pin.process != y->pin.process)
        return x->pin.process < y->pin.process ? -1 : 1;
    return (x->pin.address > y->pin.address) - (x->pin.address < y->pin.address);
}

/* Sorts processes. *ranks gives their places by the order of the sweep; the caller frees it. */
static bool order_processes(owned_map *out, u32 **ranks)
{
    const size_t count = out->processes.count;
    etlheap_map_process *const rows = out->processes.at;
    u32 *const starts = calloc(count + 1, sizeof *starts);
    *ranks = calloc(count + 1, sizeof **ranks);
    const bool ok = starts != NULL && *ranks != NULL;
    for (size_t i = 0; ok && i < count; i++)
        starts[i] = rows[i].first_region;
    if (ok && count > 0)
        qsort(rows, count, sizeof *rows, by_amount);
    for (size_t i = 0; ok && i < count; i++) {
        size_t next;
        ETL_BISECT(next, 1, count, starts[next] <= rows[i].first_region);
        (*ranks)[next - 1] = (u32)i;
    }
    free(starts);
    return ok;
}

static bool add_pin(const space_maker *m, owned_map *out, owned_table *table,
                    table_numbers *numbers, const space_pin *from)
{
    etlheap_map_pin pin = from->pin;
    const etlheap_map_process *const process = &out->processes.at[pin.process];
    etlheap_row row = { .kind = from->largest.kind,
                        .process = process->name,
                        .pid = process->pid,
                        .has_heap = true,
                        .heap_handle = from->heap,
                        .frame = ETLHEAP_NO_INDEX };
    row.measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE] = (i64)etl_min_u64(pin.live, INT64_MAX);
    row.measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT] = (i64)etl_min_u64(pin.blocks, INT64_MAX);
    pin.largest_ns = from->largest.alloc_ticks == ETLHEAP_TICKS_BEFORE
                         ? INT64_MIN
                         : etlheap_time_ns(m->a.result, from->largest.alloc_ticks);
    return table_number_stack(table, numbers, &m->a.frames, from->largest.stack, &row.stack) &&
           ETLHEAP_PUSH(&table->rows, row) && ETLHEAP_PUSH(&out->pins, pin);
}

static void describe_table(const space_maker *m, owned_table *out)
{
    memcpy(out->group_by, m->query.group_by, sizeof out->group_by);
    out->table.from_ns = m->a.plan.from_ns;
    out->table.to_ns = m->a.plan.to_ns;
    out->table.group_by_count = m->query.group_by_count;
    out->table.measures =
        ETLHEAP_MEASURE_BIT(OUTSTANDING_SIZE) | ETLHEAP_MEASURE_BIT(OUTSTANDING_COUNT);
    out->table.at_end = true;
    out->table.diagnostics = *etlheap_result_diagnostics(m->a.result);
    etl_diag_add(&out->table.diagnostics, ETL_DIAG_module_guessed, m->a.frames.guessed_count);
    if (m->query.symbols != NULL)
        etl_diag_merge(&out->table.diagnostics, &m->query.symbols->diag);
    table_publish(out);
}

static bool list_pins(space_maker *m, owned_map *out)
{
    const u32 most = m->options.pins_max == 0 ? UINT32_MAX : m->options.pins_max;
    owned_table *const table = calloc(1, sizeof *table);
    table_numbers numbers = { .frames = { 0 } };
    u32 *ranks = NULL;
    bool ok =
        table != NULL && ETLHEAP_PUSH(&table->stack_starts, 0) && order_processes(out, &ranks);
    for (size_t i = 0; ok && i < out->output.pins.count; i++)
        out->output.pins.at[i].pin.process = ranks[out->output.pins.at[i].pin.process];
    if (ok && out->output.pins.count > 0)
        qsort(out->output.pins.at, out->output.pins.count, sizeof *out->output.pins.at, by_waste);
    for (size_t i = 0; ok && i < out->output.pins.count && i < most; i++)
        ok = add_pin(m, out, table, &numbers, &out->output.pins.at[i]);
    if (ok)
        describe_table(m, table);
    table_numbers_free(&numbers);
    free(ranks);
    out->map.table = table == NULL ? NULL : &table->table;
    return ok;
}

/* Does the result have memory of such a place? */
static bool has_place(const etlheap_result *result, etlheap_kind_place place)
{
    bool has = false;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++)
        has |= place_of(kind) == place && (result->abilities.kinds >> kind & 1) != 0;
    return has;
}

static void publish(const space_maker *m, owned_map *out)
{
    const etlheap_result *const result = m->a.result;
    const i64 ticks = m->a.plan.kind_to_ticks[ETLHEAP_KIND_HEAP];
    etlheap_map *const map = &out->map;
    map->at_ns = m->query.kind_to_ticks == NULL ? m->a.plan.to_ns
                                                : query_end_ns(m->a.result->base.base, ticks);
    map->unit = (u64)1 << m->blocks.cells.shift;
    map->has_virtualalloc = has_place(result, ETLHEAP_PLACE_COMMITTED);
    map->has_reservations = has_place(result, ETLHEAP_PLACE_RESERVED);
    map->has_extents = has_place(result, ETLHEAP_PLACE_EXTENT);
    map->processes = out->processes.at;
    map->process_count = (u32)out->processes.count;
    map->regions = out->output.regions.at;
    map->region_count = (u32)out->output.regions.count;
    map->runs = out->output.runs.at;
    map->run_count = (u32)out->output.runs.count;
    map->heaps = out->output.heaps.at;
    map->heap_count = (u32)out->output.heaps.count;
    map->pins = out->pins.at;
    map->pin_count = (u32)out->pins.count;
}

static etl_status answer(void *state, etlheap_answer *out, etl_error *err)
{
    space_maker *const m = state;
    owned_map *const made = calloc(1, sizeof *made);
    if (made == NULL || !join_blocks(m) || !make_map(m, made)) {
        if (made != NULL)
            etlheap_map_free(&made->map);
        return etl_no_memory(err);
    }
    publish(m, made);
    out->map = &made->map;
    return ETL_OK;
}

static void free_blocks(space_blocks *blocks)
{
    space_cells_free(&blocks->cells);
    ETLHEAP_VECTOR_FREE(&blocks->large);
    ETLHEAP_VECTOR_FREE(&blocks->ranges);
}

static void close_maker(void *state)
{
    space_maker *const m = state;
    for (u32 i = 0; m->tasks != NULL && i < m->task_count; i++)
        free_blocks(&m->tasks[i].blocks);
    free(m->tasks);
    free_blocks(&m->blocks);
    origin_groups_close(&m->origins);
    aggregate_close(&m->a);
}

const fold fold_map = { sizeof(space_maker), begin, NULL, answer, close_maker };

void etlheap_map_free(etlheap_map *map)
{
    if (map == NULL)
        return;
    owned_map *const owned = (owned_map *)map;
    etlheap_table_free(map->table);
    ETLHEAP_VECTOR_FREE(&owned->output.regions);
    ETLHEAP_VECTOR_FREE(&owned->output.runs);
    ETLHEAP_VECTOR_FREE(&owned->output.heaps);
    ETLHEAP_VECTOR_FREE(&owned->output.pins);
    ETLHEAP_VECTOR_FREE(&owned->processes);
    ETLHEAP_VECTOR_FREE(&owned->pins);
    free(owned);
}
