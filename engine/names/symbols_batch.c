/*
 * symbols_batch.c - resolves addresses to names, on all processors.
 *
 * In: addresses of modules, sorted by build and address. Out: a name for each: inlined calls,
 * texts, lines.
 *
 *     addresses   | build 1                    | build 2    |     cut into tasks, which do not
 *     tasks       |--- 0 ---|--- 1 ---|-- 2 ---|---- 3 -----|     depend on the number of threads
 *
 * A PDB is read object file by object file, so neighbours are cheap together, and a large module
 * keeps all threads busy. A task collects its own texts and levels; they are added to the symbols'
 * in task order. Neighbours mostly lie in the same function and file, so the last text is compared
 * first, and decorated names, which are costly to read, are read once for each symbol. Invariant: a
 * task's ids mean nothing to others until text_of has translated them.
 */
#include <stdlib.h>

#include "engine/core/workers.h"
#include "symbols.h"

#define TASK_ADDRESSES_MAX 32768u

/* The text found last, and its id. */
typedef struct text_memo {
    u32 id;
    u32 key; /* its size, or what it was found for */
    bool is_set;
} text_memo;

typedef struct batch_task {
    const symbol_build *build;
    const symbol_address *addresses;
    u32 count;
    symbol_name *names; /* of the addresses; levels and texts are the task's */
    etlheap_strings strings;
    ETLHEAP_VECTOR(symbol_level) levels;
    symbol_file_set files; /* texts are the task's */
    text_memo name, file, undecorated;
    bool is_damaged, is_out_of_memory;
} batch_task;

typedef struct batch {
    ETLHEAP_VECTOR(batch_task) tasks;
    symbol_name *names;
} batch;

static bool cut(const etlheap_symbols *symbols, const symbol_address *addresses, size_t count,
                batch *out);
static void run_task(void *context, u32 index);
static bool resolve_pdb(batch_task *task);
static bool resolve_exports(batch_task *task);
static bool add_location(batch_task *task, etl_pdb_resolver *resolver,
                         const etl_pdb_location *location, bool is_x86);
static bool add_text(batch_task *task, text_memo *memo, etl_bytes text, u32 *id);
static bool add_symbol(batch_task *task, etl_bytes decorated, u32 key, bool is_x86, u32 *id);
static bool merge_task(etlheap_symbols *symbols, const batch_task *task);

etl_status symbols_run_batch(etlheap_symbols *symbols, const symbol_address *addresses,
                             size_t count, etl_error *err)
{
    batch work = { .names = calloc(count + 1, sizeof *work.names) };
    bool ok = work.names != NULL && cut(symbols, addresses, count, &work);
    if (ok)
        etlheap_workers_run(symbols->jobs, (u32)work.tasks.count, run_task, &work);
    for (size_t i = 0; i < work.tasks.count; i++) {
        batch_task *const task = &work.tasks.at[i];
        ok = ok && !task->is_out_of_memory && merge_task(symbols, task);
        etlheap_strings_free(&task->strings);
        ETLHEAP_VECTOR_FREE(&task->levels);
        symbol_files_free(&task->files);
    }
    ETLHEAP_VECTOR_FREE(&work.tasks);
    free(work.names);
    return ok ? ETL_OK : etl_no_memory(err);
}

/* Cuts tasks. Builds without symbols make none: their names are empty already. */
static bool cut(const etlheap_symbols *symbols, const symbol_address *addresses, size_t count,
                batch *out)
{
    size_t at = 0;
    while (at < count) {
        const u32 build = addresses[at].build;
        size_t end = at + 1;
        while (end < count && end - at < TASK_ADDRESSES_MAX && addresses[end].build == build)
            end++;
        const symbol_build *const row = &symbols->builds.at[build];
        const batch_task task = { .build = row,
                                  .addresses = addresses + at,
                                  .count = (u32)(end - at),
                                  .names = out->names + at };
        if ((row->pdb != NULL || row->exports != NULL) && !ETLHEAP_PUSH(&out->tasks, task))
            return false;
        at = end;
    }
    return true;
}

static void run_task(void *context, u32 index)
{
    const batch *const work = context;
    batch_task *const task = &work->tasks.at[index];
    const bool ok = task->build->pdb != NULL ? resolve_pdb(task) : resolve_exports(task);
    task->is_out_of_memory = !ok;
}

static bool resolve_pdb(batch_task *task)
{
    const bool is_x86 = etl_pdb_info_of(task->build->pdb)->machine == 0x14c;
    etl_pdb_resolver *resolver = NULL;
    etl_pdb_location location;
    u32 *const rvas = malloc((size_t)task->count * sizeof *rvas);
    for (u32 i = 0; rvas != NULL && i < task->count; i++)
        rvas[i] = task->addresses[i].rva;
    bool ok =
        rvas != NULL &&
        etl_pdb_resolver_open(task->build->pdb, ETL_PDB_WANT_ALL, &resolver, NULL) == ETL_OK &&
        etl_pdb_resolver_begin(resolver, rvas, task->count, NULL) == ETL_OK;
    while (ok && etl_pdb_resolver_next(resolver, &location))
        ok = add_location(task, resolver, &location, is_x86);
    if (ok) {
        const etl_pdb_damage *const damage = etl_pdb_resolver_damage(resolver);
        task->is_damaged = damage->count > 0;
        ok = damage->first.status != ETL_ERR_MEMORY;
    }
    etl_pdb_resolver_close(resolver);
    free(rvas);
    return ok;
}

/* Notes the file of a level, in the state in which it was compiled. */
static bool add_file(batch_task *task, etl_pdb_resolver *resolver, u32 number, u32 file)
{
    symbol_file found = { .build = task->addresses[0].build, .file = file };
    return !etl_pdb_frame_checksum(resolver, number, &found.checksum) ||
           symbol_files_add(&task->files, &found);
}

/* Adds the frame that is `number` in its location. */
static bool add_level(batch_task *task, etl_pdb_resolver *resolver, const etl_pdb_frame *frame,
                      u32 number, u32 name)
{
    symbol_level level = { .name = name, .line = frame->line };
    return (frame->file.size == 0 || (add_text(task, &task->file, frame->file, &level.file) &&
                                      add_file(task, resolver, number, level.file))) &&
           ETLHEAP_PUSH(&task->levels, level);
}

/* The name of a function as its debug information has it. That is readable, except for compilers
 * that write there what the linker sees. */
static bool add_function(batch_task *task, etl_bytes name, u32 *id)
{
    char readable[ETL_UNDECORATED_CAPACITY];
    size_t size;
    name = etl_undecorate_arm64ec(name);
    if (name.size > 2 && name.at[0] == '_' && etl_demangle(name, readable, sizeof readable, &size))
        name = (etl_bytes){ (const u8 *)readable, size };
    return add_text(task, &task->name, name, id);
}

static bool add_location(batch_task *task, etl_pdb_resolver *resolver,
                         const etl_pdb_location *location, bool is_x86)
{
    symbol_name *const out = &task->names[location->index];
    u32 text = 0;
    out->first_level = (u32)task->levels.count;
    if (location->kind == ETL_PDB_SYMBOL_NONE)
        return true;
    for (u32 i = 0; i < location->inline_count && i < UINT16_MAX - 1; i++) {
        const etl_pdb_frame *const frame = &location->inlined[i];
        if (!add_text(task, &task->name, frame->name, &text) ||
            !add_level(task, resolver, frame, i, text))
            return false;
    }
    const etl_bytes name = location->function.name;
    const bool is_public = location->kind == ETL_PDB_SYMBOL_PUBLIC;
    if (is_public ? !add_symbol(task, name, location->function_rva, is_x86, &text)
                  : !add_function(task, name, &text))
        return false;
    if (!add_level(task, resolver, &location->function, location->inline_count, text))
        return false;
    out->level_count = (u16)(task->levels.count - out->first_level);
    out->displacement = location->displacement;
    out->quality = location->is_nearest ? SYMBOL_QUALITY_PUBLIC : SYMBOL_QUALITY_FUNCTION;
    return location->alloc_type.size == 0 ||
           add_text(task, NULL, location->alloc_type, &out->alloc_type);
}

/* Interns a text; the one found last is tried first. */
static bool add_text(batch_task *task, text_memo *memo, etl_bytes text, u32 *id)
{
    if (memo != NULL && memo->is_set && memo->key == text.size) {
        *id = memo->id;
        if (text.size == 0 ||
            memcmp(etlheap_strings_get(&task->strings, *id), text.at, text.size) == 0)
            return true;
    }
    if (!etlheap_strings_add_text(&task->strings, text, id))
        return false;
    if (memo != NULL) {
        const bool is_same_size = strlen(etlheap_strings_get(&task->strings, *id)) == text.size;
        *memo = (text_memo){ .id = *id, .key = (u32)text.size, .is_set = is_same_size };
    }
    return true;
}

/* The readable name of a public symbol or an export; `key` tells symbols apart. */
static bool add_symbol(batch_task *task, etl_bytes decorated, u32 key, bool is_x86, u32 *id)
{
    text_memo *const memo = &task->undecorated;
    if (!memo->is_set || memo->key != key) {
        char readable[ETL_UNDECORATED_CAPACITY];
        size_t size;
        const etl_bytes plain = etl_undecorate_arm64ec(decorated);
        etl_bytes name = etl_undecorate_c(plain, is_x86);
        if (etl_undecorate(plain, readable, sizeof readable, &size) ||
            etl_demangle(plain, readable, sizeof readable, &size))
            name = (etl_bytes){ (const u8 *)readable, size };
        if (!add_text(task, NULL, name, &memo->id))
            return false;
        memo->key = key;
        memo->is_set = true;
    }
    *id = memo->id;
    return true;
}

static bool resolve_exports(batch_task *task)
{
    const bool is_x86 = etl_pe_info_of(task->build->image)->machine == 0x14c;
    for (u32 i = 0; i < task->count; i++) {
        char name[ETL_UNDECORATED_CAPACITY];
        etl_pe_export found;
        symbol_level level = { 0 };
        const u32 rva = task->addresses[i].rva;
        if (!etl_pe_exports_find(task->build->exports, rva, &found))
            continue;
        const size_t size = etl_pe_export_display_name(&found, name, sizeof name);
        const etl_bytes text = { (const u8 *)name, etl_min_u64(size, sizeof name - 1) };
        task->names[i] = (symbol_name){ .first_level = (u32)task->levels.count,
                                        .level_count = 1,
                                        .displacement = rva - found.rva,
                                        .quality = SYMBOL_QUALITY_EXPORT };
        if (!add_symbol(task, text, found.rva, is_x86, &level.name) ||
            !ETLHEAP_PUSH(&task->levels, level))
            return false;
    }
    return true;
}

/* The task's text as one of the symbols'. */
static u32 text_of(const u32 *texts, u32 id)
{
    return id == 0 ? 0 : texts[id - 1];
}

static bool merge_task(etlheap_symbols *symbols, const batch_task *task)
{
    const u32 base = (u32)symbols->levels.count;
    const size_t text_count = task->strings.list.count;
    u32 *const texts = malloc((text_count + 1) * sizeof *texts);
    bool ok = texts != NULL && symbols->levels.count + task->levels.count < UINT32_MAX &&
              ETLHEAP_RESERVE(&symbols->levels, task->levels.count);
    for (size_t i = 0; ok && i < text_count; i++) {
        const char *const text = task->strings.list.at[i];
        ok = etlheap_strings_add(&symbols->strings, text, strlen(text), &texts[i]);
    }
    for (size_t i = 0; ok && i < task->levels.count; i++) {
        const symbol_level level = task->levels.at[i];
        symbols->levels.at[base + i] = (symbol_level){ .name = text_of(texts, level.name),
                                                       .file = text_of(texts, level.file),
                                                       .line = level.line };
    }
    for (size_t i = 0; ok && i < task->files.list.count; i++) {
        symbol_file file = task->files.list.at[i];
        file.file = text_of(texts, file.file);
        ok = symbol_files_add(&symbols->files, &file);
    }
    for (u32 i = 0; ok && i < task->count; i++) {
        symbol_name name = task->names[i];
        name.first_level += base;
        name.displacement++; /* the byte looked up is the one before the address */
        name.alloc_type = text_of(texts, name.alloc_type);
        symbols->names.at[task->addresses[i].name - 1] = name;
    }
    if (ok)
        symbols->levels.count += task->levels.count;
    free(texts);
    symbol_build *const build = &symbols->builds.at[task->addresses[0].build];
    if (task->is_damaged && !build->is_damaged) {
        build->is_damaged = true;
        etl_diag_add(&symbols->diag, ETL_DIAG_symbol_file_damaged, 1);
    }
    return ok;
}
