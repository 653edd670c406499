/*
 * methods.c - finds the method of .NET at an address, and builds the table of methods when a run
 * ends. methods.h has the model.
 *
 * In (building): the rows that methods_told.c collected. Out: a module for each distinct name, and
 * ranges of code. In (look-up): a process id, an address, a time. Out: an index of a module, or
 * none.
 *
 *     ranges, by (pid, start, time)   |a-----|  |b---|            an address in both a and c means
 *                                       |c--------|               the one placed last by that time
 *
 * A look-up starts at the last range that begins at or before the address and goes back as long as
 * an earlier range reaches that far, over at most RANGES_MAX ranges. Invariant: each range knows
 * how far earlier ranges reach; inserting or sorting differently breaks the stop condition.
 */
#include "methods.h"

#include <stdlib.h>
#include <string.h>

#include "parser/system/name_fold.h"

#define RANGES_MAX     64u             /* looked at for one address */
#define UNKNOWN_MODULE "ManagedModule" /* as PerfView calls it */

/* --- look-ups -------------------------------------------------------------------- */

/* The first range after all those of the pid that start at or before the address. */
static size_t ranges_after(const method_table *methods, u32 pid, u64 address)
{
    size_t low;
    ETL_BISECT(low, 0, methods->list.count,
               methods->list.at[low].pid < pid ||
                   (methods->list.at[low].pid == pid && methods->list.at[low].start <= address));
    return low;
}

/* Is `a` a better answer? The last range that was there by then, else the first later one. */
static bool is_better(const method_range *a, const method_range *than, i64 ticks)
{
    if (than == NULL)
        return true;
    const bool is_there = a->load_ticks <= ticks, was_there = than->load_ticks <= ticks;
    if (is_there != was_there)
        return is_there;
    return is_there ? a->load_ticks > than->load_ticks : a->load_ticks < than->load_ticks;
}

const method_range *methods_find(const module_table *modules, const module_space *space,
                                 u64 address)
{
    const method_table *const methods = &modules->methods;
    if (methods->list.count == 0 || address == 0 || stack_is_kernel_address(address, 8))
        return NULL;
    const u64 call = address - 1; /* what returns may lie behind the last instruction */
    const method_range *best = NULL;
    size_t end = ranges_after(methods, space->pid, call);
    for (u32 i = 0; i < RANGES_MAX && end > 0; i++, end--) {
        const method_range *const row = &methods->list.at[end - 1];
        if (row->pid != space->pid || methods->reach.at[end - 1] <= call)
            break;
        const bool is_of =
            row->process == 0 || space->process == 0 || row->process == space->process;
        if (is_of && call < methods_end(row->start, row->size_bytes) &&
            is_better(row, best, space->ticks))
            best = row;
    }
    return best;
}

bool methods_are_missing(const module_table *modules)
{
    static const char *const runtimes[] = { "clr.dll", "coreclr.dll", "mscorwks.dll" };
    const method_table *const methods = &modules->methods;
    for (u32 i = 0; i < modules_image_count(modules); i++) {
        const etlheap_module_info *const image = &modules->list.at[i];
        const size_t last = ranges_after(methods, image->pid, UINT64_MAX);
        if (last > 0 && methods->list.at[last - 1].pid == image->pid)
            continue;
        for (size_t k = 0; k < ETL_COUNT_OF(runtimes); k++) {
            if (etl_name_same(image->name, runtimes[k]))
                return true;
        }
    }
    return false;
}

/* --- the table ------------------------------------------------------------------- */

typedef struct function_search {
    const module_table *modules;
    u32 first; /* module of the first method */
} function_search;

static bool same_function(const void *owner, u32 id, const void *key)
{
    const function_search *const search = owner;
    return strcmp(search->modules->list.at[search->first + id - 1].path, key) == 0;
}

/* Makes "file!function", which tells methods apart. */
static bool join_path(etlheap_strings *strings, const method_stay *stay, const char **path)
{
    const size_t file = strlen(stay->file), function = strlen(stay->function);
    char *const joined = malloc(file + function + 2);
    u32 id = 0;
    if (joined == NULL)
        return false;
    memcpy(joined, stay->file, file);
    joined[file] = '!';
    memcpy(joined + file + 1, stay->function, function + 1);
    const bool ok = etlheap_strings_add(strings, joined, file + function + 1, &id);
    free(joined);
    *path = etlheap_strings_get(strings, id);
    return ok;
}

static bool add_function(module_table *out, etlheap_strings *strings, etlheap_index *index,
                         const method_stay *stay, u32 *module)
{
    const function_search search = { out, (u32)(out->list.count - out->methods.function_count) };
    const char *path;
    if (!join_path(strings, stay, &path))
        return false;
    const u64 hash = etlheap_hash_bytes(path, strlen(path));
    const u32 known = etlheap_index_find(index, hash, same_function, &search, path);
    *module = search.first + (known != 0 ? known - 1 : out->methods.function_count);
    if (known != 0)
        return true;
    const u64 base = UINT64_MAX - UINT32_MAX + out->methods.function_count; /* nobody's place */
    const etlheap_module_info function = { .pid = ETL_NO_ID,
                                           .base = base,
                                           .path = path,
                                           .name = stay->file,
                                           .pdb_name = stay->function,
                                           .load_ticks = ETLHEAP_TICKS_BEFORE,
                                           .unload_ticks = ETLHEAP_TICKS_NEVER };
    out->methods.function_count++;
    return ETLHEAP_PUSH(&out->list, function) && ETLHEAP_PUSH(&out->reach, base) &&
           ETLHEAP_PUSH(&out->is_program, false) &&
           etlheap_index_add(index, hash, out->methods.function_count);
}

/* Makes an epoch at each load of ranges that overlap over time: an address may mean another method
 * from then on. */
static bool add_epochs(module_table *out)
{
    const method_table *const methods = &out->methods;
    size_t first = 0; /* of the neighbours whose epochs are not told yet */
    for (size_t i = 1; i < methods->list.count; i++) {
        const method_range *const row = &methods->list.at[i];
        const bool overlaps = row[-1].pid == row->pid && methods->reach.at[i - 1] > row->start;
        if (!overlaps)
            first = i;
        for (; overlaps && first <= i; first++) {
            const method_range *const moved = &methods->list.at[first];
            if (!ETLHEAP_PUSH(&out->epochs, (module_epoch){ moved->pid, moved->load_ticks }))
                return false;
        }
    }
    modules_sort_epochs(out);
    return true;
}

bool methods_index(module_table *out, etlheap_strings *strings, const method_stay *stays,
                   size_t count)
{
    etlheap_index index = { 0 };
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        const method_stay *const stay = &stays[i];
        method_range range = { .start = stay->start,
                               .load_ticks = stay->load_ticks,
                               .pid = stay->pid,
                               .process = stay->process,
                               .size_bytes = stay->size_bytes };
        const u64 before = i > 0 && stay[-1].pid == stay->pid ? out->methods.reach.at[i - 1] : 0;
        const u64 end = methods_end(stay->start, stay->size_bytes);
        ok = add_function(out, strings, &index, stay, &range.module) &&
             ETLHEAP_PUSH(&out->methods.list, range) &&
             ETLHEAP_PUSH(&out->methods.reach, etl_max_u64(before, end));
    }
    etlheap_index_free(&index);
    return ok && add_epochs(out);
}

method_stay methods_stay(const module_table *modules, size_t index)
{
    const method_range *const row = &modules->methods.list.at[index];
    const etlheap_module_info *const module = &modules->list.at[row->module];
    return (method_stay){ .start = row->start,
                          .load_ticks = row->load_ticks,
                          .pid = row->pid,
                          .process = row->process,
                          .size_bytes = row->size_bytes,
                          .file = module->name,
                          .function = module->pdb_name };
}

/* --- of a run -------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const method_stay *const x = a, *const y = b;
    const int order =
        modules_compare_place(x->pid, x->start, x->load_ticks, y->pid, y->start, y->load_ticks);
    if (order != 0)
        return order;
    if (x->size_bytes != y->size_bytes)
        return x->size_bytes < y->size_bytes ? -1 : 1;
    const int function = strcmp(x->function, y->function);
    return function != 0 ? function : strcmp(x->file, y->file);
}

bool methods_precedes(const method_stay *a, const method_stay *b)
{
    return modules_compare_place(a->pid, a->start, a->load_ticks, b->pid, b->start,
                                 b->load_ticks) <= 0;
}

static int by_id(const void *a, const void *b)
{
    const assembly_row *const x = a, *const y = b;
    return modules_compare_place(x->pid, x->module_id, x->ticks, y->pid, y->module_id, y->ticks);
}

static const char *last_component(const char *path)
{
    const char *name = path;
    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '\\' || *at == '/')
            name = at + 1;
    }
    return name;
}

/* The assembly of an id: the first record at the method's time or later, else the last one; NULL if
 * there is none. */
static const char *assembly_of(const trace_context *context, const method_row *row)
{
    const assembly_row *const list = context->assemblies.at;
    size_t low;
    ETL_BISECT(low, 0, context->assemblies.count,
               modules_compare_place(list[low].pid, list[low].module_id, list[low].ticks, row->pid,
                                     row->module_id, etl_sat_add_i64(row->told_ticks, 1)) < 0);
    for (size_t i = low > 0 ? low - 1 : 0; i <= low && i < context->assemblies.count; i++) {
        if (list[i].pid == row->pid && list[i].module_id == row->module_id)
            return last_component(etlheap_strings_get(&context->strings, list[i].path));
    }
    return NULL;
}

/* The file to show. Code that was compiled ahead lies in an image, and tools show the image's
 * name. */
static const char *file_of(const module_table *modules, const trace_context *context,
                           const method_row *row, u32 process)
{
    const module_space space = { row->pid, process, row->told_ticks };
    const u32 image = modules_find(modules, &space, row->start);
    if (image != UINT32_MAX)
        return modules->list.at[image].name;
    const char *const name = assembly_of(context, row);
    return name != NULL && name[0] != '\0' ? name : UNKNOWN_MODULE;
}

/* Makes "Namespace.Type.Method". Methods that compilers make at run time have no type. */
static bool function_of(trace_context *context, const method_row *row, const char **out)
{
    const char *const name_space = etlheap_strings_get(&context->strings, row->name_space);
    const char *const name = etlheap_strings_get(&context->strings, row->name);
    const size_t before = strlen(name_space), size = strlen(name);
    char *const joined = malloc(before + size + 2);
    u32 id = row->name;
    if (joined == NULL)
        return false;
    memcpy(joined, name_space, before);
    joined[before] = '.';
    memcpy(joined + before + 1, name, size + 1);
    const bool ok =
        before == 0 || etlheap_strings_add(&context->strings, joined, before + size + 1, &id);
    free(joined);
    *out = id == 0 ? "?" : etlheap_strings_get(&context->strings, id);
    return ok;
}

static bool take_row(const module_table *modules, trace_context *context,
                     const module_owners *owners, const method_row *row, method_stay *out)
{
    const u32 id = context_process_at(context, row->pid, row->told_ticks);
    const i64 since = id == 0 ? ETLHEAP_TICKS_BEFORE : context->processes.at[id - 1].start_ticks;
    *out = (method_stay){ .start = row->start,
                          .load_ticks = row->load_ticks < since ? since : row->load_ticks,
                          .pid = row->pid,
                          .process = owners->ids != NULL ? owners->ids[id] : id,
                          .size_bytes = row->size_bytes };
    out->file = file_of(modules, context, row, out->process);
    return function_of(context, row, &out->function);
}

bool methods_build(module_table *out, trace_context *context, const module_owners *owners)
{
    const size_t count = context->methods.count;
    if (count == 0)
        return true;
    if (context->assemblies.count > 0)
        qsort(context->assemblies.at, context->assemblies.count, sizeof *context->assemblies.at,
              by_id);
    method_stay *const stays = calloc(count, sizeof *stays);
    bool ok = stays != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = take_row(out, context, owners, &context->methods.at[i], &stays[i]);
    if (ok) {
        qsort(stays, count, sizeof *stays, by_place);
        ok = methods_index(out, &context->strings, stays, count);
    }
    free(stays);
    return ok;
}
