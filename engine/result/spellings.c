/*
 * spellings.c - see spellings.h.
 *
 *     processes, modules --> distinct names without case --> the first spelling of each
 *
 * A name is folded once for each process or module that has it, of which even large
 * traces have tens of thousands, and never for an event.
 */
#include "spellings.h"

#include <stdlib.h>

#include "parser/system/name_fold.h"

typedef struct spellings {
    ETLHEAP_VECTOR(const char *) firsts; /* by id - 1: the first in byte order */
    etlheap_index index;
} spellings;

static bool same_name(const void *owner, u32 id, const void *key)
{
    const spellings *const s = owner;
    return etl_name_same(s->firsts.at[id - 1], key);
}

static bool note(spellings *s, const char *name, u32 *id)
{
    const u64 hash = etl_name_hash(name, etlheap_hash_seed());
    *id = etlheap_index_find(&s->index, hash, same_name, s, name);
    if (*id == 0) {
        *id = (u32)s->firsts.count + 1;
        return ETLHEAP_PUSH(&s->firsts, name) && etlheap_index_add(&s->index, hash, *id);
    }
    const char **const first = &s->firsts.at[*id - 1];
    *first = strcmp(name, *first) < 0 ? name : *first;
    return true;
}

static void close_spellings(spellings *s)
{
    ETLHEAP_VECTOR_FREE(&s->firsts);
    etlheap_index_free(&s->index);
}

static bool spell_processes(etlheap_result *result, u32 *ids)
{
    const size_t count = result->processes.count;
    spellings s = { .index = { 0 } };
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = note(&s, result->processes.at[i].name, &ids[i]);
    for (size_t i = 0; ok && i < count; i++)
        result->processes.at[i].name = s.firsts.at[ids[i] - 1];
    close_spellings(&s);
    return ok;
}

static bool spell_modules(etlheap_result *result, u32 *ids)
{
    const size_t count = result->modules.list.count;
    spellings s = { .index = { 0 } };
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = note(&s, result->modules.list.at[i].name, &ids[i]);
    for (size_t i = 0; ok && i < count; i++)
        result->modules.list.at[i].name = s.firsts.at[ids[i] - 1];
    close_spellings(&s);
    return ok;
}

bool spellings_set(etlheap_result *result)
{
    const u64 count = etl_max_u64(result->processes.count, result->modules.list.count);
    u32 *const ids = malloc((count + 1) * sizeof *ids);
    const bool ok = ids != NULL && spell_processes(result, ids) && spell_modules(result, ids) &&
                    module_names_set(result);
    free(ids);
    return ok;
}
