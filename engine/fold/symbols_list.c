/*
 * symbols_list.c - lists which modules have symbols, and how much memory that names.
 *
 * In: a query with symbols. Out: an etlheap_symbol_list: modules with their files, and the bytes
 * that have or lack names.
 *
 * Outstanding memory is summed by whole stacks, without culling, so that every module is known. All
 * modules are searched at once. Then stacks are culled by names, and the bytes of each go to the
 * module of its site. Invariant: a name guessed from exports does not count as a name.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/core/type_rule.h"
#include "engine/names/symbols.h"
#include "engine/symbol_store/symbol_files.h"
#include "aggregate.h"

/* A list, and the memory behind its arrays. */
typedef struct owned_list {
    etlheap_symbol_list list;
    ETLHEAP_VECTOR(etlheap_symbol_module) modules;
    etlheap_strings texts;
} owned_list;

/* The bytes outstanding with one stack. */
typedef struct stack_bytes {
    u32 stack; /* id in `sites` */
    u8 kind;
    i64 size_bytes;
} stack_bytes;

typedef struct lister {
    etlheap_symbols *symbols;
    aggregator sums;    /* by kind, type and whole stack */
    frame_table frames; /* of the stacks with something outstanding */
    ETLHEAP_VECTOR(stack_bytes) stacks;
    u32 *rows; /* by build: index + 1 into the list; 0: not in a stack */
    owned_list *out;
} lister;

static etl_status fill_list(lister *l, const etlheap_query *query, etl_error *err);
static bool take_stacks(lister *l);
static etl_status list_modules(lister *l, etl_error *err);
static bool add_module(lister *l, u32 build);
static void add_sites(lister *l);
static int by_size(const void *a, const void *b);

etl_status etlheap_symbols_list(const etlheap_query *query, const etlheap_symbol_list **out,
                                etl_error *err)
{
    etlheap_query own;
    *out = NULL;
    etl_status status = query_read(query, &own, err);
    if (status == ETL_OK && own.symbols != NULL)
        result_part_default(own.symbols->result, &own);
    if (status == ETL_OK && own.symbols == NULL)
        status = etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "the query names no symbols to list");
    if (status != ETL_OK)
        return status;
    lister l = { .symbols = own.symbols, .out = calloc(1, sizeof *l.out) };
    status = l.out == NULL ? etl_no_memory(err) : fill_list(&l, &own, err);
    aggregate_close(&l.sums);
    frames_close(&l.frames);
    ETLHEAP_VECTOR_FREE(&l.stacks);
    free(l.rows);
    if (status == ETL_OK)
        *out = &l.out->list;
    else if (l.out != NULL)
        etlheap_symbol_list_free(&l.out->list);
    return status;
}

void etlheap_symbol_list_free(const etlheap_symbol_list *list)
{
    if (list == NULL)
        return;
    owned_list *const owned = (owned_list *)(uintptr_t)list;
    ETLHEAP_VECTOR_FREE(&owned->modules);
    etlheap_strings_free(&owned->texts);
    free(owned);
}

static etl_status fill_list(lister *l, const etlheap_query *query, etl_error *err)
{
    const etlheap_result *const result = l->symbols->result;
    etlheap_query whole = *query;
    whole.group_by[0] = ETLHEAP_KEY_KIND;
    whole.group_by[1] = ETLHEAP_KEY_TYPE;
    whole.group_by[2] = ETLHEAP_KEY_STACK;
    whole.group_by_count = 3;
    whole.types = TYPES_OUTSTANDING;
    whole.sums_only = true;
    whole.sort = ETLHEAP_MEASURE_OUTSTANDING_SIZE;
    whole.cull_frame_count = whole.require_frame_count = whole.exclude_frame_count = 0;
    whole.fold_module_count = 0;
    whole.only_excluded = false;
    whole.symbols = NULL;
    etlheap_query by_site = *query;
    by_site.group_by[0] = ETLHEAP_KEY_SITE;
    by_site.group_by_count = 1;
    by_site.require_frame_count = by_site.exclude_frame_count = 0;
    by_site.fold_module_count = 0;
    by_site.only_excluded = false;

    etl_status status = aggregate_open(&l->sums, result, &whole, err);
    if (status == ETL_OK)
        status = aggregate_fill(&l->sums, err);
    if (status == ETL_OK && (!frames_open(&l->frames, result, &by_site) || !take_stacks(l)))
        status = etl_no_memory(err);
    if (status == ETL_OK)
        status = list_modules(l, err);
    if (status == ETL_OK)
        status = frames_finish(&l->frames, err);
    if (status != ETL_OK)
        return status;
    add_sites(l);
    owned_list *const out = l->out;
    if (out->modules.count > 0)
        qsort(out->modules.at, out->modules.count, sizeof *out->modules.at, by_size);
    out->list.from_ns = l->sums.plan.from_ns;
    out->list.to_ns = l->sums.plan.to_ns;
    out->list.modules = out->modules.at;
    out->list.module_count = (u32)out->modules.count;
    out->list.diagnostics = *etlheap_result_diagnostics(result);
    etl_diag_add(&out->list.diagnostics, ETL_DIAG_module_guessed, l->sums.frames.guessed_count);
    etl_diag_merge(&out->list.diagnostics, &l->symbols->diag);
    return ETL_OK;
}

/* Keeps the stacks that hold memory; frames keep their numbers. */
static bool take_stacks(lister *l)
{
    const frame_table *const from = &l->sums.frames;
    if (!ETLHEAP_RESERVE(&l->frames.frames, from->frames.count))
        return false;
    if (from->frames.count > 0)
        memcpy(l->frames.frames.at, from->frames.at, from->frames.count * sizeof *from->frames.at);
    l->frames.frames.count = from->frames.count;
    for (size_t i = 0; i < l->sums.groups.count; i++) {
        const group_head *const group = &l->sums.groups.at[i];
        const i64 *const measures = aggregate_measures(&l->sums, i);
        stack_bytes row = { .kind = group->key.kind,
                            .size_bytes = measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE] };
        l->out->list.size[row.kind] = etl_sat_add_i64(l->out->list.size[row.kind], row.size_bytes);
        if (group->key.stack == 0)
            continue;
        const frame_stack *const stack = &from->stacks.at[group->key.stack - 1];
        const frame_stack bare = { .count = stack->count };
        if (!frames_add_stack(&l->frames, from->pool.at + stack->start, &bare, &row.stack) ||
            !ETLHEAP_PUSH(&l->stacks, row))
            return false;
    }
    return true;
}

/* Searches the files of all modules of the stacks, and gives each module a row. */
static etl_status list_modules(lister *l, etl_error *err)
{
    etlheap_symbols *const symbols = l->symbols;
    u32 *const builds = malloc((symbols->builds.count + 1) * sizeof *builds);
    u32 count = 0;
    l->rows = calloc(symbols->builds.count + 1, sizeof *l->rows);
    if (builds == NULL || l->rows == NULL) {
        free(builds);
        return etl_no_memory(err);
    }
    for (size_t i = 0; i < l->frames.pool.count; i++) {
        const u32 module = l->frames.frames.at[l->frames.pool.at[i]].module;
        if (module == FRAME_NONE || symbols->build_of[module] == SYMBOL_BUILD_METHOD ||
            l->rows[symbols->build_of[module]] != 0)
            continue;
        builds[count++] = symbols->build_of[module];
        l->rows[symbols->build_of[module]] = count;
    }
    etl_status status = symbols_find_builds(symbols, builds, count, err);
    for (u32 i = 0; status == ETL_OK && i < count; i++) {
        if (!add_module(l, builds[i]))
            status = etl_no_memory(err);
    }
    free(builds);
    return status;
}

static bool add_module(lister *l, u32 build)
{
    const symbol_build *const row = &l->symbols->builds.at[build];
    etlheap_symbol_module out = {
        .module = row->module, .state = row->state, .expected = "", .file = row->file, .note = ""
    };
    symbol_key key = row->key;
    if (!row->has_key)
        key = (symbol_key){ .kind = SYMBOL_KIND_IMAGE,
                            .name = row->module->name,
                            .time_date_stamp = row->module->time_date_stamp,
                            .image_size_bytes = (u32)row->module->size_bytes };
    if (l->symbols->told_of == NULL && (row->has_key || key.time_date_stamp != 0)) {
        char text[SYMBOL_KEY_TEXT_SIZE];
        char expected[512];
        u32 id;
        symbol_key_format(&key, text);
        const int size =
            snprintf(expected, sizeof expected, "%.400s/%s", symbol_base_name(key.name), text);
        if (!etlheap_strings_add(&l->out->texts, expected, (size_t)size, &id))
            return false;
        out.expected = etlheap_strings_get(&l->out->texts, id);
    }
    if (row->pdb == NULL && row->note[0] != '\0') {
        u32 id;
        if (!etlheap_strings_add(&l->out->texts, row->note, strlen(row->note), &id))
            return false;
        out.note = etlheap_strings_get(&l->out->texts, id);
    }
    return ETLHEAP_PUSH(&l->out->modules, out);
}

/* Has the site a name? One named after an export is a guess and does not count. */
static bool is_named(const lister *l, const frame_row *site)
{
    const symbol_name *const name = site->name == 0 ? NULL : symbols_name(l->symbols, site->name);
    return name != NULL && name->level_count > site->skip &&
           symbols_levels(l->symbols, name)[site->skip].name != 0 &&
           name->quality != SYMBOL_QUALITY_EXPORT;
}

static void add_bytes(i64 *to, i64 size_bytes)
{
    *to = etl_sat_add_i64(*to, size_bytes);
}

static void add_sites(lister *l)
{
    etlheap_symbol_list *const list = &l->out->list;
    for (size_t i = 0; i < l->stacks.count; i++) {
        const stack_bytes *const row = &l->stacks.at[i];
        const u32 finished = frames_finished(&l->frames, row->stack);
        const frame_row *const site = &l->frames.frames.at[frames_innermost(&l->frames, finished)];
        const bool named = is_named(l, site);
        if (named)
            add_bytes(&list->named_size[row->kind], row->size_bytes);
        if (site->module == FRAME_NONE || l->symbols->build_of[site->module] == SYMBOL_BUILD_METHOD)
            continue;
        etlheap_symbol_module *const out =
            &l->out->modules.at[l->rows[l->symbols->build_of[site->module]] - 1];
        add_bytes(&out->size[row->kind], row->size_bytes);
        if (named)
            add_bytes(&out->named_size[row->kind], row->size_bytes);
    }
}

/* Largest first, kind by kind: kinds are never added up. */
static int by_size(const void *a, const void *b)
{
    const etlheap_symbol_module *const x = a, *const y = b;
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        if (x->size[kind] != y->size[kind])
            return x->size[kind] > y->size[kind] ? -1 : 1;
    }
    int order = strcmp(x->module->name, y->module->name);
    if (order == 0)
        order = strcmp(x->module->path, y->module->path);
    return order != 0 ? order : strcmp(x->expected, y->expected);
}
