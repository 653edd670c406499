/*
 * workload_write.c - writes a workload's operations as events.
 *
 * In: a workload. Out: calls of the builder:
 *
 *     machine, volumes ─ rundown at the start ─ operations ─ rundown at the end
 *
 * A 32-bit process logs heap events with 4-byte pointers; what the kernel logs about it has 8-byte
 * pointers like everything else. Invariant: only operations are written, never the truth, so the
 * trace and workload_model.c do not share a mistake.
 */
#include "workload_inside.h"

#include <stdio.h>
#include <stdlib.h>

#define HOOK_SAMPLE         0x0F2Eu
#define HOOK_SWITCH         0x0524u
#define ITEM_STACK64        6u
#define RUNDOWN_STEP_TICKS  7
#define HEAP_FIRST_BYTES    0x2000   /* as Create says */
#define HEAP_RESERVED_BYTES 0x100000 /* more than what is committed */
#define CONTROLLER_PID      812u
#define CONTROLLER_TID      2044u
#define PROVIDER_MANIFEST   "3f471139-acb7-4a01-b7a7-ff5da4ba2d43"

static void write_machine(const workload *w, etl_build *b);
static void write_rundown(const workload *w, etl_build *b, bool at_end);
static void rundown_process(const workload *w, etl_build *b, u32 process, etl_build_at *at,
                            bool at_end);
static void rundown_image(const workload *w, etl_build *b, const workload_image *image,
                          etl_build_at *at, bool at_end);
static void write_op(const workload *w, etl_build *system, etl_build *heap, const workload_op *op);
static void write_heap_op(const workload *w, etl_build *b, const workload_op *op);
static void write_extent(const workload *w, etl_build *b, etl_build_at at, const workload_op *op);
static void write_system_op(const workload *w, etl_build *b, const workload_op *op);
static void write_process(const workload *w, etl_build *b, etl_build_at at, u8 type, u32 process);
static void write_image(const workload *w, etl_build *b, etl_build_at at, u8 type,
                        const workload_image *image);
static void write_stack(const workload *w, etl_build *b, etl_build_at at, const workload_op *op);
static void write_noise(const workload *w, etl_build *b, const workload_op *op);
static void write_sample(const workload *w, etl_build *b, etl_build_at at, const workload_op *op);
static void write_manifest(const workload *w, etl_build *b, etl_build_at at, const workload_op *op);
static etl_build_at at_of(const workload *w, const workload_op *op);

void workload_write(const workload *w, etl_build *system, etl_build *heap)
{
    write_machine(w, system);
    if (!w->end_rundown_only)
        write_rundown(w, system, false);
    for (u32 i = 0; i < w->op_count; i++)
        write_op(w, system, heap, &w->ops[i]);
    write_rundown(w, system, true);
}

static void write_machine(const workload *w, etl_build *b)
{
    static const u16 os_version[4] = { 10, 0, 26100, 4652 };
    const etl_build_at at = { .ticks = w->start_ticks + 100 };
    etl_build_config_cpu(
        b, at,
        &(etl_build_cpu_spec){ .mhz = 3000, .memory_mib = 16384, .computer_name = "TESTBENCH" });
    etl_build_device_family(b, at, os_version);
    etl_build_system_paths(b, at, "C:\\Windows\\system32\\", "C:\\Windows\\");
    etl_build_volume(b, at, "\\Device\\HarddiskVolume3\\", "C:\\");
    etl_build_volume(b, at, "\\SystemRoot\\", "C:\\Windows\\");
}

/* One controller thread writes it, so the records have times of their own. */
static void write_rundown(const workload *w, etl_build *b, bool at_end)
{
    etl_build_at at = { .ticks = at_end ? w->end_ticks : w->rundown_ticks,
                        .pid = CONTROLLER_PID,
                        .tid = CONTROLLER_TID };
    for (u32 i = 0; i < w->process_count; i++)
        rundown_process(w, b, i, &at, at_end);
    for (u32 i = 0; i < w->image_count; i++)
        rundown_image(w, b, &w->images[i], &at, at_end);
}

static void rundown_process(const workload *w, etl_build *b, u32 process, etl_build_at *at,
                            bool at_end)
{
    const workload_process *const p = &w->processes[process];
    if (at_end ? p->ends : !p->ran_before)
        return;
    const u8 type = at_end ? ETL_BUILD_DCEND : ETL_BUILD_DCSTART;
    at->ticks += RUNDOWN_STEP_TICKS;
    write_process(w, b, *at, type, process);
    for (u32 i = 0; i < p->thread_count; i++) {
        etl_build_at thread_at = *at;
        thread_at.ticks = at->ticks += RUNDOWN_STEP_TICKS;
        thread_at.pid = p->pid;
        thread_at.tid = p->tids[i];
        etl_build_thread(b, thread_at, type,
                         &(etl_build_thread_spec){
                             .pid = p->pid, .tid = p->tids[i], .start_address = 0x7ff6d2a41000 });
    }
}

static void rundown_image(const workload *w, etl_build *b, const workload_image *image,
                          etl_build_at *at, bool at_end)
{
    const bool process_ends =
        image->process != WORKLOAD_KERNEL && w->processes[image->process].ends;
    if (at_end ? image->unloads || process_ends : !image->loaded_before)
        return;
    at->ticks += RUNDOWN_STEP_TICKS;
    write_image(w, b, *at, at_end ? ETL_BUILD_DCEND : ETL_BUILD_DCSTART, image);
}

static void write_op(const workload *w, etl_build *system, etl_build *heap, const workload_op *op)
{
    const bool is_heap = op->kind <= WORKLOAD_HEAP_CONTRACT;
    etl_build *const b = is_heap ? heap : system;
    if (op->kind == WORKLOAD_NOISE)
        write_noise(w, b, op);
    else if (is_heap)
        write_heap_op(w, b, op);
    else
        write_system_op(w, b, op);
    if (op->kind != WORKLOAD_NOISE && op->halves != 0)
        write_stack(w, b, at_of(w, op), op);
}

static etl_build_at at_of(const workload *w, const workload_op *op)
{
    return (etl_build_at){
        .ticks = op->ticks, .cpu = op->cpu, .pid = w->processes[op->freer].pid, .tid = op->tid
    };
}

static void write_heap_op(const workload *w, etl_build *b, const workload_op *op)
{
    etl_build_at at = at_of(w, op);
    if (w->processes[op->process].wow64)
        at.pointer_bytes = 4;
    switch ((workload_op_kind)op->kind) {
    case WORKLOAD_HEAP_CREATE:
        etl_build_heap_create(b, at, op->heap);
        break;
    case WORKLOAD_HEAP_ALLOC:
        etl_build_heap_alloc(b, at, op->heap, op->address, op->size);
        break;
    case WORKLOAD_HEAP_FREE:
        etl_build_heap_free(b, at, op->heap, op->address);
        break;
    case WORKLOAD_HEAP_REALLOC:
        etl_build_heap_realloc(b, at, op->heap,
                               &(etl_build_realloc){ .new_address = op->address,
                                                     .old_address = op->old_address,
                                                     .new_size = op->size,
                                                     .old_size = op->old_size });
        break;
    case WORKLOAD_HEAP_DESTROY:
        etl_build_heap_destroy(b, at, op->heap);
        break;
    default:
        write_extent(w, b, at, op);
        break;
    }
}

/* Writes the extent of a heap: it begins with two pages; expansions add to it and contractions take
 * away, as its operations since its creation say. */
static void write_extent(const workload *w, etl_build *b, etl_build_at at, const workload_op *op)
{
    i64 committed = HEAP_FIRST_BYTES;
    for (const workload_op *of = op; of >= w->ops; of--) {
        if (of->process != op->process || of->heap != op->heap)
            continue;
        if (of->kind == WORKLOAD_HEAP_CREATE)
            break;
        if (of->kind == WORKLOAD_HEAP_EXPAND)
            committed += (i64)of->size;
        if (of->kind == WORKLOAD_HEAP_CONTRACT)
            committed -= (i64)of->size;
    }
    const u64 bytes = committed > HEAP_FIRST_BYTES ? (u64)committed : HEAP_FIRST_BYTES;
    const etl_build_heap_extent extent = {
        op->heap, op->address, op->size, { bytes, bytes + HEAP_RESERVED_BYTES }
    };
    etl_build_heap_resize(b, at, op->kind == WORKLOAD_HEAP_EXPAND ? 0x25 : 0x2A, &extent);
}

static void write_system_op(const workload *w, etl_build *b, const workload_op *op)
{
    const etl_build_at at = at_of(w, op);
    const workload_process *const p = &w->processes[op->process];
    etl_build_virtual_spec memory = {
        .base = op->address, .size = op->size, .flags = op->flags, .owner_pid = p->pid
    };
    switch ((workload_op_kind)op->kind) {
    case WORKLOAD_VIRTUAL_ALLOC:
        memory.hook = 0x0262;
        etl_build_virtual(b, at, &memory);
        break;
    case WORKLOAD_VIRTUAL_FREE:
        memory.hook = 0x0263;
        etl_build_virtual(b, at, &memory);
        break;
    case WORKLOAD_PROCESS_START:
        write_process(w, b, at, ETL_BUILD_START, op->process);
        break;
    case WORKLOAD_PROCESS_END:
        write_process(w, b, at, ETL_BUILD_END, op->process);
        break;
    case WORKLOAD_THREAD_START:
        etl_build_thread(b, at, ETL_BUILD_START,
                         &(etl_build_thread_spec){ .pid = p->pid, .tid = op->tid });
        break;
    case WORKLOAD_IMAGE_LOAD:
        write_image(w, b, at, ETL_BUILD_START, &w->images[op->image]);
        break;
    default:
        write_image(w, b, at, ETL_BUILD_END, &w->images[op->image]);
        break;
    }
}

static void write_process(const workload *w, etl_build *b, etl_build_at at, u8 type, u32 process)
{
    const workload_process *const p = &w->processes[process];
    char command_line[64];
    snprintf(command_line, sizeof command_line, "\"C:\\Programs\\%.30s\" -run", p->name);
    etl_build_process(b, at, type,
                      &(etl_build_process_spec){ .pid = p->pid,
                                                 .parent_pid = p->parent_pid,
                                                 .session_id = 1,
                                                 .wow64 = p->wow64,
                                                 .name = p->name,
                                                 .command_line = command_line });
}

/* With its identity, which a merge injects before the record. */
static void write_image(const workload *w, etl_build *b, etl_build_at at, u8 type,
                        const workload_image *image)
{
    char pdb_name[64];
    etl_build_pdb_spec pdb = { .age = WORKLOAD_PDB_AGE, .name = pdb_name };
    workload_image_pdb(image, pdb_name, pdb.guid);
    u64 guid[2];
    memcpy(guid, pdb.guid, sizeof guid);

    const bool is_kernel = image->process == WORKLOAD_KERNEL;
    const etl_build_image_spec spec = { .pid = is_kernel ? 0 : w->processes[image->process].pid,
                                        .base = image->base,
                                        .size = image->size,
                                        .checksum = (u32)(guid[0] >> 32),
                                        .time_date_stamp = (u32)guid[1],
                                        .path = image->path };
    etl_build_image_id(b, at, &spec, &pdb);
    etl_build_image(b, at, type, &spec);
}

static void write_stack(const workload *w, etl_build *b, etl_build_at at, const workload_op *op)
{
    const workload_stack *const s = &w->stacks[op->stack];
    etl_build_stack stack = { .form = op->form,
                              .user_cpu_differs = op->user_cpu != op->cpu,
                              .user_cpu = op->user_cpu,
                              .user_delay_ticks = op->user_delay };
    if (op->halves & WORKLOAD_HALF_KERNEL) {
        stack.kernel = s->frames;
        stack.kernel_count = s->kernel_count;
    }
    if (op->halves & WORKLOAD_HALF_USER) {
        stack.user = s->frames + s->kernel_count;
        stack.user_count = s->user_count;
    }
    etl_build_stack_walk(b, at, &stack);
}

static void write_noise(const workload *w, etl_build *b, const workload_op *op)
{
    const etl_build_at at = at_of(w, op);
    const u8 switch_payload[24] = { 0x34, 0x12, 0, 0, 0x78, 0x56 };
    switch ((workload_noise)op->noise) {
    case WORKLOAD_NOISE_SAMPLE:
        write_sample(w, b, at, op);
        break;
    case WORKLOAD_NOISE_SWITCH:
        etl_build_hook(b,
                       (etl_build_at){ .ticks = op->ticks,
                                       .cpu = op->cpu,
                                       .header = ETL_BUILD_HEADER_PERFINFO },
                       HOOK_SWITCH, switch_payload, sizeof switch_payload);
        break;
    case WORKLOAD_NOISE_MANIFEST:
        write_manifest(w, b, at, op);
        break;
    default:
        etl_build_mark(b, at, "phase");
        break;
    }
}

/* The header has no tid: its stack could be taken for that of another record
 * of the same time on another CPU. */
static void write_sample(const workload *w, etl_build *b, etl_build_at at, const workload_op *op)
{
    u8 payload[16] = { 0 };
    memcpy(payload, &op->address, sizeof op->address);
    memcpy(payload + 8, &op->tid, sizeof op->tid);
    etl_build_at sample = at;
    sample.header = ETL_BUILD_HEADER_PERFINFO;
    etl_build_hook(b, sample, HOOK_SAMPLE, payload, sizeof payload);
    write_stack(w, b, at, op);
}

static void write_manifest(const workload *w, etl_build *b, etl_build_at at, const workload_op *op)
{
    const workload_stack *const s = &w->stacks[op->stack];
    const u32 count = s->user_count < 16 ? s->user_count : 16;
    u64 data[17] = { 0 }; /* match id, frames */
    memcpy(data + 1, s->frames + s->kernel_count, count * sizeof *data);
    const etl_build_item item = { .type = ITEM_STACK64,
                                  .data = data,
                                  .size = (count + 1) * sizeof *data };
    static const u8 payload[12] = "a payload";
    etl_build_manifest event = { .id = 7,
                                 .version = 1,
                                 .level = 4,
                                 .keyword = 0x8000000000000001u,
                                 .items = &item,
                                 .item_count = 1,
                                 .payload = payload,
                                 .payload_size = sizeof payload };
    etl_build_guid(PROVIDER_MANIFEST, event.provider);
    etl_build_event(b, at, &event);
}
