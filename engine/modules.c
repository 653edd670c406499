/*
 * modules.c - see modules.h.
 *
 * Image events come as loads, unloads and rundowns, in any mixture: many traces
 * hold the end rundown only. Sorted by (process, base, time) they are replayed:
 * a load opens a module, an unload closes it, and either an unload or a rundown
 * without one before it tells of a module that was there since before the trace,
 * or since the former one of its place left.
 *
 * The table is sorted by base, and modules alive at one time do not overlap, but
 * over time they may. So a look-up walks back from the last base at or below the
 * address for as long as any earlier module reaches that far. The lives of one
 * base follow each other in time, so of each base it looks at two at most.
 */
#include "modules.h"

#include <stdlib.h>

#include "parser/name_fold.h"

#define KERNEL_PID 0u
#define SYSTEM_PID 4u

static int by_place(const void *a, const void *b);
static int by_identity(const void *a, const void *b);
static bool replay(module_table *out, trace_context *context);
static bool add_module(module_table *out, trace_context *context, const image_row *row,
                       i64 load_ticks, i64 unload_ticks);
static bool name_module(trace_context *context, u32 path, etlheap_module_info *module);
static void identify(const trace_context *context, const image_row *row,
                     etlheap_module_info *module);

/* Kernel images are reported for process 0 and, at times, 4. */
static u32 owner_pid(const trace_context *context, u32 pid, u64 base)
{
    const bool is_kernel = stack_is_kernel_address(base, context->os_pointer_bits / 8);
    return pid == SYSTEM_PID && is_kernel ? KERNEL_PID : pid;
}

static int compare_place(u32 pid_a, u64 base_a, i64 ticks_a, u32 pid_b, u64 base_b, i64 ticks_b)
{
    if (pid_a != pid_b)
        return pid_a < pid_b ? -1 : 1;
    if (base_a != base_b)
        return base_a < base_b ? -1 : 1;
    return (ticks_a > ticks_b) - (ticks_a < ticks_b);
}

static int by_place(const void *a, const void *b)
{
    const image_row *const x = a, *const y = b;
    const int order = compare_place(x->pid, x->base, x->ticks, y->pid, y->base, y->ticks);
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

static int by_identity(const void *a, const void *b)
{
    const image_identity *const x = a, *const y = b;
    const int order = compare_place(x->pid, x->base, x->ticks, y->pid, y->base, y->ticks);
    return order != 0 ? order : (int)x->has_rsds - (int)y->has_rsds;
}

bool modules_build(module_table *out, trace_context *context)
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
    if (replay(out, context) && modules_index(out))
        return true;
    modules_free(out);
    return false;
}

void modules_free(module_table *modules)
{
    ETLHEAP_VECTOR_FREE(&modules->list);
    ETLHEAP_VECTOR_FREE(&modules->reach);
    ETLHEAP_VECTOR_FREE(&modules->epochs);
}

/* The newest module if it is at the row's place; NULL: there was none yet. */
static etlheap_module_info *former_module(const module_table *out, const image_row *row)
{
    if (out->list.count == 0)
        return NULL;
    etlheap_module_info *const newest = &out->list.at[out->list.count - 1];
    return newest->pid == row->pid && newest->base == row->base ? newest : NULL;
}

/* Is the module the row speaks of still loaded? Two sessions may both tell of
 * one unload. */
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

/* Kernel and loader spell volumes differently, so only file names are compared. */
static bool is_same_image(const trace_context *context, const etlheap_module_info *module,
                          const image_row *row)
{
    const char *const name = file_name(etlheap_strings_get(&context->strings, row->path));
    return module->size_bytes == row->size_bytes && etl_name_same(module->name, name);
}

static bool replay(module_table *out, trace_context *context)
{
    for (size_t i = 0; i < context->images.count; i++) {
        const image_row *const row = &context->images.at[i];
        etlheap_module_info *const former = former_module(out, row);
        etlheap_module_info *open = former != NULL && is_open(former, row) ? former : NULL;
        const bool same_image = open != NULL && is_same_image(context, open, row);
        if (open != NULL && !same_image && row->kind != ETL_EVENT_IMAGE_UNLOAD) {
            open->unload_ticks = row->ticks; /* its unload was not seen */
            open = NULL;
        }
        if (open == NULL) {
            const i64 since = former == NULL ? ETLHEAP_TICKS_BEFORE : former->unload_ticks;
            const i64 load = row->kind == ETL_EVENT_IMAGE_LOAD ? row->ticks : since;
            if (!add_module(out, context, row, load, ETLHEAP_TICKS_NEVER))
                return false;
            open = &out->list.at[out->list.count - 1];
        }
        if (row->kind == ETL_EVENT_IMAGE_UNLOAD)
            open->unload_ticks = row->ticks;
        if (open->time_date_stamp == 0)
            open->time_date_stamp = row->time_date_stamp;
        if (open->checksum == 0)
            open->checksum = row->checksum;
        identify(context, row, open);
    }
    return true;
}

static bool add_module(module_table *out, trace_context *context, const image_row *row,
                       i64 load_ticks, i64 unload_ticks)
{
    etlheap_module_info module = { .pid = row->pid,
                                   .base = row->base,
                                   .size_bytes = row->size_bytes,
                                   .pdb_name = "",
                                   .load_ticks = load_ticks,
                                   .unload_ticks = unload_ticks };
    return name_module(context, row->path, &module) && ETLHEAP_PUSH(&out->list, module);
}

/* How much of the path a volume is, which is a whole number of its components; 0: it
 * is another's. */
static size_t volume_size(const char *path, const char *volume)
{
    const size_t size = etl_name_begins(path, volume);
    if (size == 0)
        return 0;
    return path[size - 1] == '\\' || path[size] == '\\' || path[size] == '\0' ? size : 0;
}

/* The volume whose NT path is the longest prefix of the path, and the size of that; NULL:
 * none. */
static const volume_row *volume_of(const trace_context *context, const char *path, size_t *skip)
{
    const volume_row *best = NULL;
    *skip = 0;
    for (size_t i = 0; i < context->volumes.count; i++) {
        const size_t size = volume_size(
            path, etlheap_strings_get(&context->strings, context->volumes.at[i].nt_path));
        if (size > *skip) {
            best = &context->volumes.at[i];
            *skip = size;
        }
    }
    return best;
}

static bool name_module(trace_context *context, u32 path_id, etlheap_module_info *module)
{
    const char *const path = etlheap_strings_get(&context->strings, path_id);
    size_t skip;
    const volume_row *const volume = volume_of(context, path, &skip);
    module->path = path;
    if (volume != NULL) {
        const char *const dos = etlheap_strings_get(&context->strings, volume->dos_path);
        const size_t size = strlen(dos) + strlen(path + skip);
        char *const joined = malloc(size + 1);
        u32 id;
        if (joined == NULL)
            return false;
        memcpy(joined, dos, strlen(dos));
        memcpy(joined + strlen(dos), path + skip, strlen(path + skip) + 1);
        const bool added = etlheap_strings_add(&context->strings, joined, size, &id);
        free(joined);
        if (!added)
            return false;
        module->path = etlheap_strings_get(&context->strings, id);
    }
    module->name = file_name(module->path);
    return true;
}

/* A merge writes an image's identity with the time of the image's own event. */
static void identify(const trace_context *context, const image_row *row,
                     etlheap_module_info *module)
{
    const image_identity wanted = { .pid = row->pid, .base = row->base, .ticks = row->ticks };
    size_t low = 0, high = context->identities.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_identity(&context->identities.at[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < context->identities.count; low++) {
        const image_identity *const found = &context->identities.at[low];
        if (found->pid != row->pid || found->base != row->base || found->ticks != row->ticks)
            return;
        if (found->has_stamp)
            module->time_date_stamp = found->time_date_stamp;
        if (found->has_rsds) {
            module->has_rsds = true;
            module->guid = found->guid;
            module->age = found->age;
            module->pdb_name = etlheap_strings_get(&context->strings, found->pdb_name);
        }
    }
}

static u64 end_of(const etlheap_module_info *module)
{
    return etl_sat_add_u64(module->base, module->size_bytes);
}

static int by_epoch(const void *a, const void *b)
{
    const module_epoch *const x = a, *const y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

static bool add_epochs(module_table *out, const etlheap_module_info *module)
{
    return ETLHEAP_PUSH(&out->epochs, (module_epoch){ module->pid, module->load_ticks }) &&
           ETLHEAP_PUSH(&out->epochs, (module_epoch){ module->pid, module->unload_ticks });
}

/* Among modules that share addresses over time, each coming or going begins an
 * epoch. They lie side by side in the table, from one that nothing before it
 * reaches into to the next such. */
bool modules_index(module_table *out)
{
    u32 first = 0; /* of the neighbours whose epochs are not told yet */
    for (u32 i = 0; i < out->list.count; i++) {
        const etlheap_module_info *const module = &out->list.at[i];
        const bool same_pid = i > 0 && module[-1].pid == module->pid;
        const u64 before = same_pid ? out->reach.at[i - 1] : 0;
        if (before <= module->base)
            first = i;
        for (; before > module->base && first <= i; first++) {
            if (!add_epochs(out, &out->list.at[first]))
                return false;
        }
        if (!ETLHEAP_PUSH(&out->reach, etl_max_u64(before, end_of(module))))
            return false;
    }
    if (out->epochs.count > 0)
        qsort(out->epochs.at, out->epochs.count, sizeof *out->epochs.at, by_epoch);
    return true;
}

/* The first module at or after a place of the table. */
static size_t first_from(const module_table *modules, u32 pid, u64 base, i64 ticks)
{
    size_t low = 0, high = modules->list.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const etlheap_module_info *const row = &modules->list.at[middle];
        if (compare_place(row->pid, row->base, row->load_ticks, pid, base, ticks) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool covers(const etlheap_module_info *module, u64 address)
{
    return address >= module->base && address < end_of(module);
}

/* The lives of one base that end before `end` in the table: the first, and the
 * first that begins after `ticks`. Nearly always there is one life. */
static size_t lives_before(const module_table *modules, size_t end, i64 ticks, size_t *next)
{
    const etlheap_module_info *const last = &modules->list.at[end - 1];
    if (end < 2 || last[-1].pid != last->pid || last[-1].base != last->base) {
        *next = last->load_ticks <= ticks ? end : end - 1;
        return end - 1;
    }
    *next = first_from(modules, last->pid, last->base, etl_sat_add_i64(ticks, 1));
    return first_from(modules, last->pid, last->base, INT64_MIN);
}

static u32 find_in(const module_table *modules, u32 pid, u64 address, i64 ticks)
{
    const etlheap_module_info *const list = modules->list.at;
    u32 other_time = UINT32_MAX;
    size_t end = first_from(modules, pid, address, INT64_MAX);
    while (end > 0 && list[end - 1].pid == pid && modules->reach.at[end - 1] > address) {
        size_t next;
        const size_t start = lives_before(modules, end, ticks, &next);
        const bool is_last = next > start && covers(&list[next - 1], address);
        if (is_last && ticks < list[next - 1].unload_ticks)
            return (u32)(next - 1);
        if (other_time == UINT32_MAX && is_last)
            other_time = (u32)(next - 1);
        else if (other_time == UINT32_MAX && next < end && covers(&list[next], address))
            other_time = (u32)next;
        end = start;
    }
    return other_time;
}

u32 modules_find(const module_table *modules, u32 pid, u64 address, i64 ticks)
{
    if (stack_is_kernel_address(address, 8))
        return find_in(modules, KERNEL_PID, address, ticks);
    const u32 found = find_in(modules, pid, address, ticks);
    return found != UINT32_MAX || pid == KERNEL_PID ? found
                                                    : find_in(modules, KERNEL_PID, address, ticks);
}

bool modules_is_at(const module_table *modules, u32 module, u32 pid, u64 address)
{
    const etlheap_module_info *const row = &modules->list.at[module];
    return row->pid == (stack_is_kernel_address(address, 8) ? KERNEL_PID : pid) &&
           covers(row, address);
}

bool modules_has_epochs(const module_table *modules, u32 pid)
{
    const u32 first = modules_epoch(modules, pid, INT64_MIN);
    return first != modules_epoch(modules, pid, INT64_MAX) ||
           (first > 0 && modules->epochs.at[first - 1].pid == pid);
}

/* The number of epoch starts up to the moment, over all processes: what matters
 * is that it differs between epochs of one process. */
u32 modules_epoch(const module_table *modules, u32 pid, i64 ticks)
{
    const module_epoch wanted = { pid, ticks };
    size_t low = 0, high = modules->epochs.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_epoch(&modules->epochs.at[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return (u32)low;
}
