/*
 * anonymise_names.c - resolves the functions of an anonymised store, and writes their words.
 *
 * In: a store, and symbols that are opened for it. Out: a place for each address that can be a
 * frame, with the words of its calls.
 *
 * Which module an address lies in depends on process and time. So each address is looked up in
 * every module whose range has it, whatever the process: a few places more than stacks need.
 * Invariant: none is missing, because a frame is always at its address less the base of such a
 * module.
 */
#include "anonymise_inside.h"

#include <stdlib.h>

#include "engine/names/frames.h"

/* A base at which a build was loaded, once for all processes. */
typedef struct loaded_build {
    u64 base, end;
    u32 module; /* that represents the build */
} loaded_build;

typedef struct namer {
    anonymiser *a;
    frame_table frames; /* for the representatives of modules */
    u64 *addresses;     /* of all stacks, ascending */
    u32 address_count;
    ETLHEAP_VECTOR(loaded_build) loaded;
    ETLHEAP_VECTOR(symbol_place) places;
    told_names told;
} namer;

static int by_number(const void *left, const void *right)
{
    const u64 x = *(const u64 *)left, y = *(const u64 *)right;
    return (x > y) - (x < y);
}

static bool sort_addresses(namer *n)
{
    const stack_table *const stacks = &n->a->result->stacks;
    n->address_count = stacks->number_count;
    n->addresses = calloc((size_t)n->address_count + 1, sizeof *n->addresses);
    if (n->addresses == NULL)
        return false;
    if (n->address_count > 0) {
        memcpy(n->addresses, stacks->addresses, n->address_count * sizeof *n->addresses);
        qsort(n->addresses, n->address_count, sizeof *n->addresses, by_number);
    }
    return true;
}

static int by_build(const void *left, const void *right)
{
    const loaded_build *const x = left, *const y = right;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* The builds, and the bases at which they were. Their names are asked for through the module that
 * represents them, as frames do. */
static bool list_loaded(namer *n)
{
    const module_table *const modules = &n->a->result->modules;
    for (u32 i = 0; i < modules_image_count(modules); i++) {
        const etlheap_module_info *const module = &modules->list.at[i];
        const loaded_build row = { module->base, etl_sat_add_u64(module->base, module->size_bytes),
                                   n->frames.canonical[i] };
        if (!ETLHEAP_PUSH(&n->loaded, row))
            return false;
    }
    if (n->loaded.count > 0)
        qsort(n->loaded.at, n->loaded.count, sizeof *n->loaded.at, by_build);
    return true;
}

static bool list_places(namer *n)
{
    for (size_t i = 0; i < n->loaded.count; i++) {
        const loaded_build *const row = &n->loaded.at[i];
        size_t at;
        if (i > 0 && by_build(row - 1, row) == 0)
            continue;
        ETL_BISECT(at, 0, n->address_count, n->addresses[at] < row->base);
        for (; at < n->address_count && n->addresses[at] < row->end; at++) {
            const symbol_place place = { .offset = n->addresses[at] - row->base,
                                         .module = row->module };
            if (!ETLHEAP_PUSH(&n->places, place))
                return false;
        }
    }
    return true;
}

/* --- words ------------------------------------------------------------------------- */

static bool keep(namer *n, const char *word, const char **out)
{
    u32 id;
    if (!etlheap_strings_add(&n->a->saver.strings, word, strlen(word), &id))
        return false;
    *out = etlheap_strings_get(&n->a->saver.strings, id);
    return true;
}

static bool keep_word(namer *n, word_sort sort, u32 text, const char **out)
{
    char word[KEYED_WORD_SIZE];
    return keyed_word(&n->a->words, sort, symbols_text(n->a->symbols, text), word) &&
           keep(n, word, out);
}

static bool add_place(namer *n, const symbol_address *address)
{
    const etlheap_symbols *const symbols = n->a->symbols;
    const symbol_name *const name = symbols_name(symbols, address->name);
    const symbol_level *const levels = symbols_levels(symbols, name);
    const char *const module = symbols->builds.at[address->build].module->name;
    told_place place = { .build = address->build,
                         .offset = address->rva,
                         .displacement = name->displacement,
                         .quality = name->quality,
                         .calls = name->level_count };
    for (u32 i = 0; i < name->level_count; i++) {
        char word[KEYED_WORD_SIZE];
        told_call call = { .line = levels[i].line };
        if (!keyed_function(&n->a->words, module, symbols_text(symbols, levels[i].name), word) ||
            !keep(n, word, &call.function) ||
            !keep_word(n, WORD_SOURCE, levels[i].file, &call.file) ||
            !ETLHEAP_PUSH(&n->told.calls, call))
            return false;
    }
    return keep_word(n, WORD_TYPE, name->alloc_type, &place.type) &&
           ETLHEAP_PUSH(&n->told.places, place);
}

static int by_address(const void *left, const void *right)
{
    const symbol_address *const x = left, *const y = right;
    if (x->build != y->build)
        return x->build < y->build ? -1 : 1;
    return (x->rva > y->rva) - (x->rva < y->rva);
}

/* Adds the places with a name, in order. */
static bool add_places(namer *n)
{
    const etlheap_symbols *const symbols = n->a->symbols;
    const size_t count = symbols->addresses.count;
    symbol_address *const sorted = calloc(count + 1, sizeof *sorted);
    bool ok = sorted != NULL;
    if (ok && count > 0) {
        memcpy(sorted, symbols->addresses.at, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, by_address);
    }
    for (size_t i = 0; ok && i < count; i++) {
        const bool is_method = sorted[i].build == SYMBOL_BUILD_METHOD;
        if (!is_method && symbols_name(symbols, sorted[i].name)->level_count > 0)
            ok = add_place(n, &sorted[i]);
    }
    free(sorted);
    return ok;
}

static bool add_builds(namer *n)
{
    const etlheap_symbols *const symbols = n->a->symbols;
    for (size_t i = 0; i < symbols->builds.count; i++) {
        const symbol_build *const build = &symbols->builds.at[i];
        const told_build row = { (u32)(build->module - n->a->result->modules.list.at),
                                 (u32)build->state };
        if (!ETLHEAP_PUSH(&n->told.builds, row))
            return false;
    }
    return true;
}

static etl_status resolve(namer *n)
{
    const etlheap_query query = { .size = sizeof query };
    const bool ok = frames_open(&n->frames, n->a->result, &query) && sort_addresses(n) &&
                    list_loaded(n) && list_places(n);
    etl_status status = ok ? ETL_OK : etl_no_memory(n->a->err);
    if (status == ETL_OK)
        status = symbols_resolve(n->a->symbols, n->places.at, n->places.count, n->a->err);
    frames_close(&n->frames);
    return status;
}

static void close_namer(namer *n)
{
    free(n->addresses);
    ETLHEAP_VECTOR_FREE(&n->loaded);
    ETLHEAP_VECTOR_FREE(&n->places);
    told_names_free(&n->told);
}

etl_status anonymise_names(anonymiser *a)
{
    namer n = { .a = a };
    n.told.anonymised = (anonymised_row){ keyed_words_check(&a->words), ANONYMISED_SCHEME };
    etl_status status = a->symbols == NULL ? ETL_OK : resolve(&n);
    bool ok = status == ETL_OK;
    if (ok && a->symbols != NULL)
        ok = add_builds(&n) && add_places(&n);
    ok = ok && told_names_save(&a->saver, &n.told);
    if (status == ETL_OK)
        status = ok ? anonymise_put(a) : etl_no_memory(a->err);
    close_namer(&n);
    return status;
}
