/*
 * modules_build.c - builds the module table from the image events of a run.
 *
 * In: loads, unloads and rundowns, in any mixture; many traces have only the rundown at the end.
 * Out: one row for each stay of a module, from load to unload.
 *
 *     sorted by (process, base, time)    load ... unload    rundown         unload
 *     modules                            |── module ──|     ──── since before ──|
 *
 * A load opens a module and an unload closes it. An unload or rundown without a load before it
 * means that the module was there since before the trace, or since the former module at that
 * address left. Invariant: a module belongs to one process; the next owner of the process id begins
 * with modules of its own, even if they are the same.
 */
#include <stdlib.h>

#include "parser/system/name_fold.h"
#include "methods.h"
#include "volumes.h"

/* Kernel images are reported for process 0 and, at times, 4. */
static u32 owner_pid(const trace_context *context, u32 pid, u64 base)
{
    const bool is_kernel = stack_is_kernel_address(base, context->os_pointer_bits / 8);
    return pid == SYSTEM_PID && is_kernel ? MODULES_KERNEL_PID : pid;
}

static int by_place(const void *a, const void *b)
{
    const image_row *const x = a, *const y = b;
    const int order = modules_compare_place(x->pid, x->base, x->ticks, y->pid, y->base, y->ticks);
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

static int by_identity(const void *a, const void *b)
{
    const image_identity *const x = a, *const y = b;
    const int order = modules_compare_place(x->pid, x->base, x->ticks, y->pid, y->base, y->ticks);
    return order != 0 ? order : (int)x->has_rsds - (int)y->has_rsds;
}

/* The newest module if it is at the row's address; NULL if there was none yet. */
static etlheap_module_info *former_module(const module_table *out, const image_row *row)
{
    if (out->list.count == 0)
        return NULL;
    etlheap_module_info *const newest = &out->list.at[out->list.count - 1];
    return newest->pid == row->pid && newest->base == row->base ? newest : NULL;
}

/* Is the row's module still loaded? Two sessions may both report one unload. */
static bool is_open(const etlheap_module_info *former, const image_row *row)
{
    return former->unload_ticks == ETLHEAP_TICKS_NEVER ||
           (row->kind == ETL_EVENT_IMAGE_UNLOAD && former->unload_ticks == row->ticks);
}

static const char *file_name(const char *path)
{
    const char *const slash = strrchr(path, '\\');
    return slash != NULL ? slash + 1 : path;
}

static bool name_module(trace_context *context, u32 path_id, etlheap_module_info *module)
{
    const char *const path = etlheap_strings_get(&context->strings, path_id);
    if (!volumes_path(context, path, &module->path))
        return false;
    module->name = file_name(module->path);
    return true;
}

/* The identity that a merge wrote for an image, with the time of the image's own event. */
static image_identity identity_of(const trace_context *context, const image_row *row)
{
    const image_identity wanted = { .pid = row->pid, .base = row->base, .ticks = row->told_ticks };
    image_identity out = wanted;
    size_t low;
    ETL_BISECT(low, 0, context->identities.count,
               by_identity(&context->identities.at[low], &wanted) < 0);
    for (; low < context->identities.count; low++) {
        const image_identity *const found = &context->identities.at[low];
        if (found->pid != row->pid || found->base != row->base || found->ticks != row->told_ticks)
            break;
        if (found->has_stamp) {
            out.has_stamp = true;
            out.time_date_stamp = found->time_date_stamp;
        }
        if (found->has_rsds) {
            out.has_rsds = true;
            out.guid = found->guid;
            out.age = found->age;
            out.pdb_name = found->pdb_name;
        }
    }
    return out;
}

static void identify(const trace_context *context, const image_row *row,
                     const image_identity *identity, etlheap_module_info *module)
{
    if (module->time_date_stamp == 0)
        module->time_date_stamp = row->time_date_stamp;
    if (module->checksum == 0)
        module->checksum = row->checksum;
    if (identity->has_stamp)
        module->time_date_stamp = identity->time_date_stamp;
    if (identity->has_rsds) {
        module->has_rsds = true;
        module->guid = identity->guid;
        module->age = identity->age;
        module->pdb_name = etlheap_strings_get(&context->strings, identity->pdb_name);
    }
}

/* Are both the same file? Kernel and loader spell volumes differently, so only file names are
 * compared. The file may have been rebuilt while it was not loaded. */
static bool is_same_image(const trace_context *context, const etlheap_module_info *module,
                          const image_row *row, const image_identity *identity)
{
    const char *const name = file_name(etlheap_strings_get(&context->strings, row->path));
    if (module->has_rsds && identity->has_rsds &&
        (module->age != identity->age ||
         memcmp(&module->guid, &identity->guid, sizeof module->guid) != 0))
        return false;
    return module->size_bytes == row->size_bytes && etl_name_same(module->name, name);
}

/* The process of an image event, by the run's id; 0 for the kernel or a process that no other
 * record names. Modules of an ended process are unloaded some time later; they do not belong to a
 * process that is about to start. */
static u32 process_of(const trace_context *context, const image_row *row)
{
    const u32 id =
        row->pid == MODULES_KERNEL_PID ? 0 : context_process_at(context, row->pid, row->ticks);
    if (id == 0 || row->kind != ETL_EVENT_IMAGE_UNLOAD)
        return id;
    const process_history *const process = &context->processes.at[id - 1];
    return process->start_ticks > row->ticks && process->previous != 0 ? process->previous : id;
}

static bool add_module(module_table *out, trace_context *context, const image_row *row, u32 process,
                       i64 load_ticks)
{
    etlheap_module_info module = { .pid = row->pid,
                                   .base = row->base,
                                   .size_bytes = row->size_bytes,
                                   .pdb_name = "",
                                   .load_ticks = load_ticks,
                                   .unload_ticks = ETLHEAP_TICKS_NEVER,
                                   .process = { process } };
    return name_module(context, row->path, &module) && ETLHEAP_PUSH(&out->list, module);
}

/* When the open module left, if the row shows that it left without an unload: when its process
 * ended, if it did. */
static i64 unseen_unload(const trace_context *context, const etlheap_module_info *open,
                         const image_row *row, u32 process)
{
    if (open->process.v == 0 || open->process.v == process)
        return row->ticks;
    const i64 end_ticks = context->processes.at[open->process.v - 1].end_ticks;
    return end_ticks > open->load_ticks && end_ticks < row->ticks ? end_ticks : row->ticks;
}

/* Applies one image row. Processes are the run's own ids here. */
static bool replay_image(module_table *out, trace_context *context, const image_row *row)
{
    etlheap_module_info *const former = former_module(out, row);
    etlheap_module_info *open = former != NULL && is_open(former, row) ? former : NULL;
    const image_identity identity = identity_of(context, row);
    const u32 process = process_of(context, row);
    const bool same_process = open != NULL && open->process.v == process;
    const bool is_going = row->kind == ETL_EVENT_IMAGE_UNLOAD;
    if (open != NULL &&
        !(same_process && (is_going || is_same_image(context, open, row, &identity)))) {
        if (open->unload_ticks == ETLHEAP_TICKS_NEVER)
            open->unload_ticks = unseen_unload(context, open, row, process);
        open = NULL;
    }
    if (open == NULL) {
        const i64 since = former == NULL ? ETLHEAP_TICKS_BEFORE : former->unload_ticks;
        const i64 load = row->kind == ETL_EVENT_IMAGE_LOAD ? row->ticks : since;
        if (!add_module(out, context, row, process, load))
            return false;
        open = &out->list.at[out->list.count - 1];
    }
    if (is_going)
        open->unload_ticks = row->ticks;
    identify(context, row, &identity, open);
    return true;
}

static bool replay(module_table *out, trace_context *context, const module_owners *owners)
{
    for (size_t i = 0; i < context->images.count; i++) {
        if (!replay_image(out, context, &context->images.at[i]))
            return false;
    }
    for (size_t i = 0; owners->ids != NULL && i < out->list.count; i++)
        out->list.at[i].process.v = owners->ids[out->list.at[i].process.v];
    return true;
}

bool modules_build(module_table *out, trace_context *context, const module_owners *owners)
{
    *out = (module_table){ 0 };
    for (size_t i = 0; i < context->images.count; i++) {
        image_row *const row = &context->images.at[i];
        row->pid = owner_pid(context, row->pid, row->base);
    }
    for (size_t i = 0; i < context->identities.count; i++) {
        image_identity *const row = &context->identities.at[i];
        row->pid = owner_pid(context, row->pid, row->base);
    }
    if (context->images.count > 0)
        qsort(context->images.at, context->images.count, sizeof *context->images.at, by_place);
    if (context->identities.count > 0)
        qsort(context->identities.at, context->identities.count, sizeof *context->identities.at,
              by_identity);
    if (replay(out, context, owners) && modules_index(out, owners))
        return true;
    modules_free(out);
    return false;
}
