/*
 * modules.c - finds the module at an address, by process and time. modules.h says what happens if
 * none was loaded there.
 *
 * In: a process, an address, a time. Out: an index of the module table, or none.
 *
 *     table, by base    |a: kernel32, life 1|  |a: life 2|  |b: app.exe------|
 *                        modules of one time do not overlap; over time they may
 *
 * A look-up walks back from the last base at or below the address as long as any earlier module
 * reaches that far. The lives of one base follow each other in time, so at each base it looks at
 * two at most: the last that began by then, and the next. The processes of one id follow each other
 * too, so if the asking process has a life at this base, one of these two is it. Invariant: the
 * table must stay sorted by (pid, base, time), with the reach of earlier modules kept up to date
 * (modules_index).
 */
#include "modules.h"

#include <stdlib.h>

#include "parser/system/name_fold.h"

void modules_free(module_table *modules)
{
    ETLHEAP_VECTOR_FREE(&modules->list);
    ETLHEAP_VECTOR_FREE(&modules->reach);
    ETLHEAP_VECTOR_FREE(&modules->is_program);
    ETLHEAP_VECTOR_FREE(&modules->epochs);
    ETLHEAP_VECTOR_FREE(&modules->methods.list);
    ETLHEAP_VECTOR_FREE(&modules->methods.reach);
}

int modules_compare_place(u32 pid_a, u64 base_a, i64 ticks_a, u32 pid_b, u64 base_b, i64 ticks_b)
{
    if (pid_a != pid_b)
        return pid_a < pid_b ? -1 : 1;
    if (base_a != base_b)
        return base_a < base_b ? -1 : 1;
    return (ticks_a > ticks_b) - (ticks_a < ticks_b);
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

#define SHORT_NAME_SIZE 14u /* of a process, in the records of older systems */

/* Is it the program of its process? Its file may have any name. */
static bool is_program(const module_owners *owners, const etlheap_module_info *module)
{
    const size_t size = strlen(module->name);
    if (size >= 4 && etl_name_same(module->name + size - 4, ".exe"))
        return true;
    const u32 process = module->process.v;
    if (process == 0 || process > owners->count)
        return false;
    const char *const name = owners->processes[process - 1].name;
    const size_t length = etl_name_begins(module->name, name);
    return length > 0 && (length == size || strlen(name) >= SHORT_NAME_SIZE);
}

/* Builds the look-up data. Among modules that share addresses over time, each load or unload begins
 * an epoch. Such modules are neighbours in the table. */
bool modules_index(module_table *out, const module_owners *owners)
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
        if (!ETLHEAP_PUSH(&out->reach, etl_max_u64(before, end_of(module))) ||
            !ETLHEAP_PUSH(&out->is_program, is_program(owners, module)))
            return false;
    }
    modules_sort_epochs(out);
    return true;
}

void modules_sort_epochs(module_table *modules)
{
    if (modules->epochs.count > 0)
        qsort(modules->epochs.at, modules->epochs.count, sizeof *modules->epochs.at, by_epoch);
}

/* The first module at or after a place of the table. */
static size_t first_from(const module_table *modules, u32 pid, u64 base, i64 ticks)
{
    size_t low;
    ETL_BISECT(low, 0, modules->list.count,
               modules_compare_place(modules->list.at[low].pid, modules->list.at[low].base,
                                     modules->list.at[low].load_ticks, pid, base, ticks) < 0);
    return low;
}

static bool covers(const etlheap_module_info *module, u64 address)
{
    return address >= module->base && address < end_of(module);
}

/* Finds the lives of the base just before `end`: the first of them, and the first that begins after
 * `ticks`. There is nearly always one life. */
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

/* Answers from the best to none. */
typedef enum find_rank {
    FIND_NONE,
    FIND_OTHER_PROCESS, /* a guess, as the next: with the same id */
    FIND_OTHER_TIME,
    FIND_SURE
} find_rank;

static bool is_of(const etlheap_module_info *module, const module_space *space)
{
    return module->process.v == 0 || space->process == 0 || module->process.v == space->process;
}

static find_rank rank_of(const module_table *modules, u32 module, const module_space *space,
                         u64 address)
{
    const etlheap_module_info *const row = &modules->list.at[module];
    if (!covers(row, address))
        return FIND_NONE;
    if (!is_of(row, space))
        return modules->is_program.at[module] ? FIND_NONE : FIND_OTHER_PROCESS;
    const bool is_there = space->ticks >= row->load_ticks && space->ticks < row->unload_ticks;
    return is_there ? FIND_SURE : FIND_OTHER_TIME;
}

/* Finds the best module. Among equally good ones, the latest that was there before the moment comes
 * first, then later ones. */
static u32 find_in(const module_table *modules, const module_space *space, u64 address)
{
    const etlheap_module_info *const list = modules->list.at;
    u32 best = UINT32_MAX;
    find_rank best_rank = FIND_NONE;
    size_t end = first_from(modules, space->pid, address, INT64_MAX);
    while (best_rank != FIND_SURE && end > 0 && list[end - 1].pid == space->pid &&
           modules->reach.at[end - 1] > address) {
        size_t next;
        const size_t start = lives_before(modules, end, space->ticks, &next);
        for (size_t i = next > start ? next - 1 : next; i <= next && i < end; i++) {
            const find_rank rank = rank_of(modules, (u32)i, space, address);
            if (rank > best_rank) {
                best = (u32)i;
                best_rank = rank;
            }
        }
        end = start;
    }
    return best;
}

u32 modules_find(const module_table *modules, const module_space *space, u64 address)
{
    const module_space kernel = { .pid = MODULES_KERNEL_PID, .ticks = space->ticks };
    if (stack_is_kernel_address(address, 8))
        return find_in(modules, &kernel, address);
    const u32 found = find_in(modules, space, address);
    return found != UINT32_MAX || space->pid == MODULES_KERNEL_PID
               ? found
               : find_in(modules, &kernel, address);
}

bool modules_is_at(const module_table *modules, u32 module, const module_space *space, u64 address)
{
    const etlheap_module_info *const row = &modules->list.at[module];
    if (!covers(row, address))
        return false;
    return stack_is_kernel_address(address, 8) ? row->pid == MODULES_KERNEL_PID
                                               : row->pid == space->pid && is_of(row, space);
}

module_span modules_span(const module_table *modules, u32 module, const module_space *space)
{
    const etlheap_module_info *const row = &modules->list.at[module];
    if (row->pid != MODULES_KERNEL_PID && !is_of(row, space))
        return (module_span){ INT64_MAX, INT64_MIN };
    return (module_span){ row->load_ticks, row->unload_ticks };
}

module_span modules_sure_span(const module_table *modules, u32 pid, u32 process)
{
    const module_space space = { .pid = pid, .process = process };
    module_span sure = MODULE_SPAN_ALWAYS;
    for (size_t i = first_from(modules, pid, 0, INT64_MIN);
         i < modules->list.count && modules->list.at[i].pid == pid; i++) {
        const module_span one = modules_span(modules, (u32)i, &space);
        sure.from_ticks = one.from_ticks > sure.from_ticks ? one.from_ticks : sure.from_ticks;
        sure.until_ticks = one.until_ticks < sure.until_ticks ? one.until_ticks : sure.until_ticks;
    }
    return sure;
}

bool modules_has_epochs(const module_table *modules, u32 pid)
{
    const u32 first = modules_epoch(modules, pid, INT64_MIN);
    return first != modules_epoch(modules, pid, INT64_MAX) ||
           (first > 0 && modules->epochs.at[first - 1].pid == pid);
}

/* The epoch at a moment: the number of epoch starts up to then, over all processes. All that
 * matters is that it differs between the epochs of one process. */
u32 modules_epoch(const module_table *modules, u32 pid, i64 ticks)
{
    const module_epoch wanted = { pid, ticks };
    size_t low;
    ETL_BISECT(low, 0, modules->epochs.count, by_epoch(&modules->epochs.at[low], &wanted) <= 0);
    return (u32)low;
}
