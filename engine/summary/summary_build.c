/*
 * summary_build.c - a summary while recordings are added to it.
 *
 * In: modules, processes, stacks and sums of a result or of another summary. Out: numbers, and sums
 * in entries; summary_finish.c makes the result.
 *
 *     thing ──hash of its content──▶ index ──▶ number      module: build; process: name; stack: its
 *                                                          frames; entry: all these; file: its id
 *
 * Each kind of thing is a list, with an index that finds it again by content. So adding takes time
 * in proportion to what is added, and memory in proportion to what is distinct. Invariant: sums are
 * combined by addition, minimum and maximum only, so the order of adding does not matter.
 */
#include "summary_build.h"

#include <stdlib.h>

#include "engine/context/methods.h"
#include "parser/system/name_fold.h"
#include "parser/sized.h"

#define EVERY_NS_MIN ((i64)1000000)
#define PATH_SHOWN   76u

static bool copy_text(etlheap_summary *s, const char **text);
static etl_status refuse_duplicate(const etlheap_summary *s, u32 file, const char *name,
                                   const char *origin, etl_error *err);

etl_status etlheap_summary_open(const etlheap_summary_options *options, etlheap_summary **out,
                                etl_error *err)
{
    *out = NULL;
    etlheap_summary_options own = { .size = sizeof own };
    const etl_status status =
        etl_read_sized(options, "etlheap_summary_options", &own, sizeof own, err);
    if (status != ETL_OK)
        return status;
    etlheap_summary *const s = calloc(1, sizeof *s);
    if (s == NULL)
        return etl_no_memory(err);
    s->options = own;
    if (s->options.every_ns < 0 ||
        (s->options.every_ns > 0 && s->options.every_ns < EVERY_NS_MIN)) {
        free(s);
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "windows of a summary take a millisecond at least");
    }
    s->every_ns = s->options.every_ns == 0 ? -1 : s->options.every_ns;
    *out = s;
    return ETL_OK;
}

void etlheap_summary_free(etlheap_summary *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->entries.count; i++)
        ETLHEAP_VECTOR_FREE(&s->entries.at[i].cells);
    ETLHEAP_VECTOR_FREE(&s->modules);
    ETLHEAP_VECTOR_FREE(&s->processes);
    ETLHEAP_VECTOR_FREE(&s->entries);
    ETLHEAP_VECTOR_FREE(&s->traces);
    ETLHEAP_VECTOR_FREE(&s->files);
    ETLHEAP_VECTOR_FREE(&s->origins);
    ETLHEAP_VECTOR_FREE(&s->hooks);
    ETLHEAP_VECTOR_FREE(&s->providers);
    ETLHEAP_VECTOR_FREE(&s->scratch);
    ETLHEAP_VECTOR_FREE(&s->fresh);
    etlheap_index_free(&s->module_index);
    etlheap_index_free(&s->process_index);
    etlheap_index_free(&s->entry_index);
    etlheap_index_free(&s->file_index);
    etlheap_index_free(&s->hook_index);
    etlheap_index_free(&s->provider_index);
    stack_table_free(&s->stacks);
    etlheap_strings_free(&s->strings);
    free(s);
}

const etl_diag_counts *etlheap_summary_diagnostics(const etlheap_summary *s)
{
    return &s->diag;
}

/* Replaces a text by the summary's copy. */
static bool copy_text(etlheap_summary *s, const char **text)
{
    u32 id;
    if (*text == NULL)
        *text = "";
    if (!etlheap_strings_add_text(&s->strings, (etl_bytes){ (const u8 *)*text, strlen(*text) },
                                  &id))
        return false;
    *text = etlheap_strings_get(&s->strings, id);
    return true;
}

/* Chooses a spelling: the first in byte order, whatever was added first. */
static bool take_spelling(etlheap_summary *s, const char **known, const char *fresh)
{
    const char *copy = fresh;
    if (strcmp(fresh, *known) >= 0)
        return true;
    const bool ok = copy_text(s, &copy);
    *known = ok ? copy : *known;
    return ok;
}

static int compare_u64(u64 x, u64 y)
{
    return (x > y) - (x < y);
}

int summary_compare_modules(const etlheap_module_info *a, const etlheap_module_info *b)
{
    int order = etl_name_compare(a->name, b->name);
    if (order == 0)
        order = (int)a->has_rsds - (int)b->has_rsds;
    if (order == 0 && a->has_rsds)
        order = memcmp(&a->guid, &b->guid, sizeof a->guid);
    if (order == 0 && a->has_rsds)
        order = compare_u64(a->age, b->age);
    if (order == 0)
        order = compare_u64(a->time_date_stamp, b->time_date_stamp);
    if (order == 0)
        order = compare_u64(a->size_bytes, b->size_bytes);
    if (order == 0)
        order = compare_u64(a->checksum, b->checksum);
    return order != 0 ? order : etl_name_compare(a->pdb_name, b->pdb_name);
}

static bool same_module(const void *owner, u32 id, const void *key)
{
    const etlheap_summary *const s = owner;
    return summary_compare_modules(&s->modules.at[id - 1], key) == 0;
}

/* Interns a module without its folder and address: folders differ between machines, addresses
 * between boots. */
bool summary_intern_module(etlheap_summary *s, const etlheap_module_info *module, u32 *number)
{
    const char *const function = modules_function(module);
    etlheap_module_info copy = { .pid = ETL_NO_ID,
                                 .size_bytes =
                                     etl_min_u64(module->size_bytes, SUMMARY_MODULE_BYTES_MAX),
                                 .name = module->name,
                                 .time_date_stamp = module->time_date_stamp,
                                 .checksum = module->checksum,
                                 .has_rsds = module->has_rsds,
                                 .guid = module->guid,
                                 .age = module->age,
                                 .pdb_name = module->pdb_name,
                                 .load_ticks = ETLHEAP_TICKS_BEFORE,
                                 .unload_ticks = ETLHEAP_TICKS_NEVER };
    const u64 build = copy.size_bytes ^ (u64)copy.time_date_stamp << 32;
    if (function == NULL && !module->has_rsds)
        copy.pdb_name = ""; /* without a process, it would be taken for a function */
    if (function != NULL)
        copy.size_bytes = METHOD_BYTES_MAX; /* for offsets in it */
    const u64 told = function != NULL ? etl_name_hash(function, 0) : 0;
    const u64 hash = etl_name_hash(copy.name, etlheap_hash_bytes(&copy.guid, sizeof copy.guid) ^
                                                  etlheap_hash_u64(build) ^ etlheap_hash_u64(told));
    *number = etlheap_index_find(&s->module_index, hash, same_module, s, &copy);
    if (*number != 0) {
        etlheap_module_info *const known = &s->modules.at[*number - 1];
        const bool ok = take_spelling(s, &known->name, copy.name) &&
                        take_spelling(s, &known->pdb_name, copy.pdb_name);
        known->path = known->name;
        return ok;
    }
    if (!copy_text(s, &copy.name) || !copy_text(s, &copy.pdb_name))
        return false;
    copy.path = copy.name;
    if (!ETLHEAP_PUSH(&s->modules, copy))
        return false;
    *number = (u32)s->modules.count;
    return etlheap_index_add(&s->module_index, hash, *number);
}

static bool same_process(const void *owner, u32 id, const void *key)
{
    const etlheap_summary *const s = owner;
    return etl_name_same(s->processes.at[id - 1].info.name, key);
}

bool summary_intern_process(etlheap_summary *s, const char *name, u32 *number)
{
    const u64 hash = etl_name_hash(name, etlheap_hash_seed());
    *number = etlheap_index_find(&s->process_index, hash, same_process, s, name);
    if (*number != 0)
        return take_spelling(s, &s->processes.at[*number - 1].info.name, name);
    summary_build_process fresh = { .info = { .pid = ETL_NO_ID,
                                              .parent_pid = ETL_NO_ID,
                                              .name = name,
                                              .command_line = "",
                                              .start_ticks = ETLHEAP_TICKS_BEFORE,
                                              .end_ticks = ETLHEAP_TICKS_NEVER,
                                              .pointer_bits = SUMMARY_BITS_UNSET } };
    if (!copy_text(s, &fresh.info.name) || !ETLHEAP_PUSH(&s->processes, fresh))
        return false;
    *number = (u32)s->processes.count;
    return etlheap_index_add(&s->process_index, hash, *number);
}

bool summary_has_rows(const etlheap_summary *s, const char *name)
{
    const u64 hash = etl_name_hash(name, etlheap_hash_seed());
    const u32 number = etlheap_index_find(&s->process_index, hash, same_process, s, name);
    return number != 0 && s->processes.at[number - 1].counted == s->traces.count;
}

bool summary_add_process(etlheap_summary *s, const etlheap_process_info *from)
{
    u32 number;
    if (!summary_intern_process(s, from->name, &number))
        return false;
    etlheap_process_info *const to = &s->processes.at[number - 1].info;
    /* Once values differ, they stay unknown. */
    if (to->pointer_bits == SUMMARY_BITS_UNSET)
        to->pointer_bits = from->pointer_bits;
    else if (to->pointer_bits != from->pointer_bits)
        to->pointer_bits = 0;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        to->events[kind] = etl_sat_add_u64(to->events[kind], from->events[kind]);
        to->free_without_alloc[kind] =
            etl_sat_add_u64(to->free_without_alloc[kind], from->free_without_alloc[kind]);
    }
    return true;
}

static bool same_entry(const void *owner, u32 id, const void *key)
{
    const etlheap_summary *const s = owner;
    const summary_entry *const a = &s->entries.at[id - 1].head, *const b = key;
    return a->kind == b->kind && a->process == b->process && a->stack == b->stack;
}

/* Finds or adds an entry. Its sums start at 0, and its times of traces are unset. */
summary_build_entry *summary_intern_entry(etlheap_summary *s, u32 kind, u32 process, u32 stack)
{
    const u64 hash = etlheap_hash_u64((u64)process << 32 | stack) + kind;
    const summary_entry key = { .process = process,
                                .stack = stack,
                                .kind = kind,
                                .first_filetime = INT64_MAX,
                                .last_filetime = INT64_MIN };
    const u32 found = etlheap_index_find(&s->entry_index, hash, same_entry, s, &key);
    if (found != 0)
        return &s->entries.at[found - 1];
    const summary_build_entry fresh = { .head = key };
    if (s->entries.count >= UINT32_MAX - 1 || !ETLHEAP_PUSH(&s->entries, fresh) ||
        !etlheap_index_add(&s->entry_index, hash, (u32)s->entries.count))
        return NULL;
    return &s->entries.at[s->entries.count - 1];
}

void summary_add_entry_peak(summary_build_entry *entry, u32 rule, const summary_peak *peak)
{
    summary_add_peak(&entry->head.peaks[rule], !entry->has_peak[rule], peak);
    entry->has_peak[rule] = true;
}

bool summary_add_entry_cells(etlheap_summary *s, summary_build_entry *entry,
                             const summary_cell *cells, size_t count)
{
    const size_t before = entry->cells.capacity;
    const bool ok = summary_add_cells(&entry->cells, cells, count, &s->scratch);
    s->cell_bytes += (entry->cells.capacity - before) * sizeof *cells;
    return ok;
}

static bool same_hook(const void *owner, u32 id, const void *key)
{
    const etlheap_summary *const s = owner;
    return s->hooks.at[id - 1].hook == ((const etlheap_hook_count *)key)->hook;
}

static bool add_hook(etlheap_summary *s, const etlheap_hook_count *row)
{
    const u64 hash = etlheap_hash_u64(row->hook);
    const u32 found = etlheap_index_find(&s->hook_index, hash, same_hook, s, row);
    if (found == 0)
        return ETLHEAP_PUSH(&s->hooks, *row) &&
               etlheap_index_add(&s->hook_index, hash, (u32)s->hooks.count);
    etlheap_hook_count *const hook = &s->hooks.at[found - 1];
    hook->count = etl_sat_add_u64(hook->count, row->count);
    hook->bytes = etl_sat_add_u64(hook->bytes, row->bytes);
    return true;
}

static bool same_provider(const void *owner, u32 id, const void *key)
{
    const etlheap_summary *const s = owner;
    const etlheap_provider_count *const a = &s->providers.at[id - 1], *const b = key;
    return a->is_message == b->is_message && memcmp(&a->guid, &b->guid, sizeof a->guid) == 0;
}

static bool add_provider(etlheap_summary *s, const etlheap_provider_count *row)
{
    const u64 hash = etlheap_hash_bytes(&row->guid, sizeof row->guid) + row->is_message;
    const u32 found = etlheap_index_find(&s->provider_index, hash, same_provider, s, row);
    if (found == 0)
        return s->providers.count < UINT32_MAX - 1 && ETLHEAP_PUSH(&s->providers, *row) &&
               etlheap_index_add(&s->provider_index, hash, (u32)s->providers.count);
    etlheap_provider_count *const provider = &s->providers.at[found - 1];
    provider->count = etl_sat_add_u64(provider->count, row->count);
    provider->bytes = etl_sat_add_u64(provider->bytes, row->bytes);
    return true;
}

bool summary_add_records(etlheap_summary *s, const etlheap_result *result)
{
    bool ok = true;
    for (size_t i = 0; ok && i < result->hooks.count; i++)
        ok = add_hook(s, &result->hooks.at[i]);
    for (size_t i = 0; ok && i < result->providers.count; i++)
        ok = add_provider(s, &result->providers.at[i]);
    return ok;
}

static int by_hook(const void *a, const void *b)
{
    const etlheap_hook_count *const x = a, *const y = b;
    return (x->hook > y->hook) - (x->hook < y->hook);
}

bool summary_sort_records(etlheap_summary *s, etlheap_result *result)
{
    if (!ETLHEAP_RESERVE(&result->hooks, s->hooks.count) ||
        !ETLHEAP_RESERVE(&result->providers, s->providers.count))
        return false;
    if (s->hooks.count > 0) {
        qsort(s->hooks.at, s->hooks.count, sizeof *s->hooks.at, by_hook);
        memcpy(result->hooks.at, s->hooks.at, s->hooks.count * sizeof *s->hooks.at);
    }
    if (s->providers.count > 0) {
        qsort(s->providers.at, s->providers.count, sizeof *s->providers.at, result_by_guid);
        memcpy(result->providers.at, s->providers.at, s->providers.count * sizeof *s->providers.at);
    }
    result->hooks.count = s->hooks.count;
    result->providers.count = s->providers.count;
    return true;
}

static bool same_file(const void *owner, u32 id, const void *key)
{
    const etlheap_summary *const s = owner;
    return memcmp(s->files.at[id - 1].id, key, sizeof s->files.at[id - 1].id) == 0;
}

static u64 hash_file(const etlheap_summary_file *file)
{
    return etlheap_hash_u64(file->id[0] ^ file->id[1]);
}

/* Adds a trace. If an input lists a file twice, that was allowed when it was made. */
etl_status summary_add_trace(etlheap_summary *s, const summary_trace *trace,
                             const etlheap_summary_file *files, const char *origin, etl_error *err)
{
    summary_trace copy = *trace;
    copy.first_file = (u32)s->files.count;
    copy.info.files = NULL; /* they have their own list */
    copy.info.file_count = 0;
    bool ok = copy_text(s, &copy.info.session) && copy_text(s, &copy.info.computer) &&
              copy_text(s, &copy.info.clock) && copy_text(s, &origin);
    for (u32 i = 0; ok && i < trace->file_count; i++) {
        etlheap_summary_file file = files[i];
        const u64 hash = hash_file(&file);
        const u32 found = etlheap_index_find(&s->file_index, hash, same_file, s, file.id);
        if (found != 0 && found <= s->input_file && !s->options.allow_duplicates)
            return refuse_duplicate(s, found - 1, file.name, origin, err);
        ok = copy_text(s, &file.name) && ETLHEAP_PUSH(&s->files, file) &&
             ETLHEAP_PUSH(&s->origins, origin) &&
             (found != 0 || etlheap_index_add(&s->file_index, hash, (u32)s->files.count));
    }
    if (!ok || !ETLHEAP_PUSH(&s->traces, copy))
        return etl_no_memory(err);
    etl_diag_merge(&s->diag, &trace->diag);
    return ETL_OK;
}

const char *summary_path(const char *path)
{
    const size_t size = strlen(path);
    return size <= PATH_SHOWN ? path : path + size - PATH_SHOWN;
}

static etl_status refuse_duplicate(const etlheap_summary *s, u32 file, const char *name,
                                   const char *origin, etl_error *err)
{
    const char *const slash = strrchr(name, '/');
    return etl_fail_hint(err, ETL_ERR_ARGUMENT, ETL_HINT_DUPLICATES,
                         "%s and %s both hold the trace %.40s; leave one out",
                         summary_path(s->origins.at[file]), summary_path(origin),
                         slash == NULL ? name : slash + 1);
}

etl_status summary_set_every(etlheap_summary *s, i64 every_ns, const char *origin, etl_error *err)
{
    if (s->every_ns < 0)
        s->every_ns = every_ns;
    if (s->every_ns == every_ns)
        return ETL_OK;
    char own[SUMMARY_EVERY_TEXT], wanted[SUMMARY_EVERY_TEXT];
    summary_every_text(every_ns, own);
    summary_every_text(s->every_ns, wanted);
    return etl_fail_hint(
        err, ETL_ERR_ARGUMENT, ETL_HINT_SAME_WINDOWS,
        "%s has %s%s, but the others have %s%s; make all summaries with windows of one length",
        summary_path(origin), every_ns == 0 ? "no windows" : "windows of ", own,
        s->every_ns == 0 ? "have none" : "of ", wanted);
}

u64 summary_bytes(const etlheap_summary *s)
{
    return s->stacks.arena.total_bytes + s->strings.arena.total_bytes +
           s->stacks.list.capacity * sizeof *s->stacks.list.at +
           s->entries.capacity * sizeof *s->entries.at + s->cell_bytes;
}
