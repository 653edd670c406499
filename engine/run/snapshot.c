/*
 * snapshot.c - presents a heap snapshot as a result: a list of the blocks in use at one moment, as
 * UMDH and other tools write it.
 *
 * In: blocks with sizes and stacks. Out: a result that answers questions about outstanding memory.
 *
 * A snapshot is presented as a recording without duration, in which every block was allocated
 * before the first event and is never freed. So every block is AOFO, and questions about
 * outstanding memory have their usual answers. A snapshot has one process, number 1 in all tables.
 * Stacks of blocks are indices + 1, and 0 is no stack. Invariant: the stack table merges equal
 * stacks, so a stack of the snapshot must go through `keyed_ids` to find its id there.
 */
#include "engine/engine.h"

#include <stdlib.h>

#include "engine/context/stack_numbering.h"
#include "engine/names/symbols.h"
#include "engine/result/result.h"
#include "engine/result/spellings.h"
#include "engine/table/table.h"
#include "parser/sized.h"

#define SNAPSHOT_CLOCK_HZ ((u64)1000000000)

static bool set_clock(etlheap_result *result, const etlheap_snapshot *snapshot);
static bool describe(etlheap_result *result, const etlheap_snapshot *snapshot);
static bool add_process(etlheap_result *result, const etlheap_snapshot *snapshot);
static bool add_modules(etlheap_result *result, const etlheap_snapshot *snapshot);
static bool add_stacks(etlheap_result *result, const etlheap_snapshot *snapshot);
static etl_status add_blocks(etlheap_result *result, const etlheap_snapshot *snapshot,
                             etl_error *err);
static const char *copy_text(etlheap_result *result, const char *text);

etl_status etlheap_snapshot_result(const etlheap_snapshot *given, etlheap_result **out,
                                   etl_error *err)
{
    etlheap_snapshot snapshot = { .size = sizeof snapshot,
                                  .file = "",
                                  .tool = "",
                                  .computer = "",
                                  .process = RESULT_UNNAMED_PROCESS,
                                  .pid = ETL_NO_ID };
    *out = NULL;
    etl_status status = etl_read_sized(given, "etlheap_snapshot", &snapshot, sizeof snapshot, err);
    if (status != ETL_OK)
        return status;
    etlheap_result *const result = calloc(1, sizeof *result);
    if (result == NULL)
        return etl_no_memory(err);
    if (!set_clock(result, &snapshot) || !describe(result, &snapshot) ||
        !add_process(result, &snapshot) || !add_modules(result, &snapshot) ||
        !spellings_set(result) || !add_stacks(result, &snapshot))
        status = etl_no_memory(err);
    if (status == ETL_OK)
        status = add_blocks(result, &snapshot, err);
    if (status != ETL_OK) {
        etlheap_result_free(result);
        return status;
    }
    result->mode = RESULT_LIFETIMES;
    *out = result;
    return ETL_OK;
}

/* A snapshot has no duration: a clock of 1 GHz starts when it was taken, and stays at 0. */
static bool set_clock(etlheap_result *result, const etlheap_snapshot *snapshot)
{
    etl_session *const session =
        etlheap_arena_alloc(&result->context.strings.arena, sizeof *session);
    if (session == NULL)
        return false;
    *session = (etl_session){ .start_time_filetime = snapshot->taken_filetime,
                              .clock_hz = SNAPSHOT_CLOCK_HZ,
                              .clock = ETL_CLOCK_QPC };
    result->base.base = session;
    return true;
}

static bool describe(etlheap_result *result, const etlheap_snapshot *snapshot)
{
    const char *const file = copy_text(result, snapshot->file);
    result->info = (etlheap_trace_info){
        .session = copy_text(result, snapshot->tool),
        .computer = copy_text(result, snapshot->computer),
        .pointer_bits = snapshot->pointer_bits,
        .clock = "qpc",
        .clock_hz = SNAPSHOT_CLOCK_HZ,
        .start_time_filetime = snapshot->taken_filetime,
        .is_local_time = true,
        .end_ns = 1,
        .events = snapshot->block_count,
        .bytes = snapshot->file_bytes,
    };
    if (file == NULL || result->info.session == NULL || result->info.computer == NULL ||
        !ETLHEAP_PUSH(&result->files, file))
        return false;
    result->info.files = result->files.at;
    result->info.file_count = 1;
    result->is_snapshot = true;
    etl_diag_add(&result->diag, ETL_DIAG_snapshot_lines_skipped, snapshot->skipped_lines);
    result->abilities = (etlheap_abilities){ .kinds = 1u << ETLHEAP_KIND_HEAP,
                                             .stacks = snapshot->stack_count > 0,
                                             .modules = snapshot->module_count > 0 };
    return true;
}

static bool add_process(etlheap_result *result, const etlheap_snapshot *snapshot)
{
    const etlheap_process_info info = { .pid = snapshot->pid,
                                        .parent_pid = ETL_NO_ID,
                                        .name = copy_text(result, snapshot->process),
                                        .command_line = "",
                                        .start_ticks = ETLHEAP_TICKS_BEFORE,
                                        .end_ticks = ETLHEAP_TICKS_NEVER,
                                        .pointer_bits = snapshot->pointer_bits,
                                        .events = { [ETLHEAP_KIND_HEAP] = snapshot->block_count } };
    return info.name != NULL && ETLHEAP_PUSH(&result->processes, info);
}

static int by_base(const void *a, const void *b)
{
    const etlheap_module_info *const x = a, *const y = b;
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return strcmp(x->path, y->path);
}

static bool add_modules(etlheap_result *result, const etlheap_snapshot *snapshot)
{
    const module_owners owners = { .processes = result->processes.at,
                                   .count = result->processes.count };
    for (u32 i = 0; i < snapshot->module_count; i++) {
        const char *const name = copy_text(result, snapshot->modules[i].name);
        const etlheap_module_info module = { .pid = snapshot->pid,
                                             .base = snapshot->modules[i].base,
                                             .size_bytes = snapshot->modules[i].size_bytes,
                                             .path = name,
                                             .name = name,
                                             .pdb_name = "",
                                             .load_ticks = ETLHEAP_TICKS_BEFORE,
                                             .unload_ticks = ETLHEAP_TICKS_NEVER,
                                             .process = { 1 } };
        if (name == NULL || !ETLHEAP_PUSH(&result->modules.list, module))
            return false;
    }
    if (result->modules.list.count > 0)
        qsort(result->modules.list.at, result->modules.list.count, sizeof *result->modules.list.at,
              by_base);
    return modules_index(&result->modules, &owners);
}

/* Adds the stacks. Equal stacks have one number in the table, so the blocks' own numbers are kept
 * beside it. */
static bool add_stacks(etlheap_result *result, const etlheap_snapshot *snapshot)
{
    stack_numbering numbering = { .stack_count = 0 };
    result->process_ids = calloc((size_t)snapshot->stack_count + 2, sizeof *result->process_ids);
    result->keyed_ids = calloc((size_t)snapshot->stack_count + 1, sizeof *result->keyed_ids);
    if (result->process_ids == NULL || result->keyed_ids == NULL)
        return false;
    result->process_ids[1] = 1;
    for (u32 i = 0; i < snapshot->stack_count; i++) {
        const etlheap_snapshot_stack *const stack = &snapshot->stacks[i];
        if (stack->count > 0 &&
            !stack_add(&result->stacks, stack_hash(stack->addresses, stack->count),
                       stack->addresses, stack->count, &result->keyed_ids[i]))
            return false;
    }
    return stack_numbering_finish(&numbering, &result->stacks);
}

static etl_status add_blocks(etlheap_result *result, const etlheap_snapshot *snapshot,
                             etl_error *err)
{
    for (u64 i = 0; i < snapshot->block_count; i++) {
        const etlheap_snapshot_block *const block = &snapshot->blocks[i];
        if (block->stack > snapshot->stack_count)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "block %llu names stack %u, but there are %u stacks",
                                 (unsigned long long)i, block->stack, snapshot->stack_count);
        const lifetime row = { .alloc_ticks = ETLHEAP_TICKS_BEFORE,
                               .free_ticks = ETLHEAP_TICKS_NEVER,
                               .address = block->address,
                               .size = block->size_bytes,
                               .heap = block->heap_handle,
                               .process = 1,
                               .stack = block->stack == 0 ? 0 : result->keyed_ids[block->stack - 1],
                               .thread = ETL_NO_ID,
                               .kind = ETLHEAP_KIND_HEAP,
                               .free_type = ETLHEAP_FREE_NONE };
        if (!store_append(&result->store, &row, 1))
            return etl_no_memory(err);
    }
    return ETL_OK;
}

static const char *copy_text(etlheap_result *result, const char *text)
{
    u32 id;
    return etlheap_strings_add(&result->context.strings, text, strlen(text), &id)
               ? etlheap_strings_get(&result->context.strings, id)
               : NULL;
}

/* --- names of single frames ---------------------------------------------------------- */

etl_status etlheap_symbols_name_frames(etlheap_symbols *symbols, etlheap_frame *frames, u32 count,
                                       etl_error *err)
{
    const etlheap_result *const result = symbols->result;
    const module_space space = { .pid =
                                     result->processes.count > 0 ? result->processes.at[0].pid : 0,
                                 .process = 1,
                                 .ticks = 0 };
    symbol_place *const places = malloc(((size_t)count + 1) * sizeof *places);
    u32 *const indices = malloc(((size_t)count + 1) * sizeof *indices);
    size_t asked = 0;
    etl_status status = ETL_OK;
    if (places == NULL || indices == NULL)
        status = etl_no_memory(err);
    for (u32 i = 0; status == ETL_OK && i < count; i++) {
        const u32 module = modules_find(&result->modules, &space, frames[i].address);
        if (module == UINT32_MAX)
            continue;
        indices[asked] = i;
        places[asked++] =
            (symbol_place){ .offset = frames[i].address - result->modules.list.at[module].base,
                            .module = module };
    }
    if (status == ETL_OK)
        status = symbols_resolve(symbols, places, asked, err);
    for (size_t i = 0; status == ETL_OK && i < asked; i++) {
        const symbol_name *const name = symbols_name(symbols, places[i].name);
        etlheap_frame *const frame = &frames[indices[i]];
        if (name->level_count == 0)
            continue;
        const symbol_level *const level = &symbols_levels(symbols, name)[name->level_count - 1];
        table_set_names(frame, symbols, level->name, level->file, level->line);
        frame->is_nearest = name->quality != SYMBOL_QUALITY_FUNCTION && frame->symbol != NULL;
        frame->displacement = frame->is_nearest ? name->displacement : 0;
    }
    free(places);
    free(indices);
    return status;
}

bool etlheap_result_is_snapshot(const etlheap_result *result)
{
    return result->is_snapshot;
}
