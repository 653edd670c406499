/*
 * row_names.c - names of functions, types and processes as parts of identities.
 *
 * In: names as a run spells them. Out: ids of their stable forms (stable_name.h), the spelling that
 * came first, and the number of identities that rows with different names share.
 *
 * The lambdas of one function have names that differ only in a number. Their rows fall together,
 * because nobody can tell which of them is which in another build. Whoever reads the sums is told:
 * so each run's rows are hashed by their names as they are, and an identity with several hashes is
 * one in which names were added up. Invariant: hashes decide only what is counted, never what is
 * equal.
 */
#include <stdlib.h>

#include "engine/core/stable_name.h"
#include "row_identity.h"

bool row_identities_add_name(row_identities *identities, const char *name, u32 *id)
{
    if (name == NULL)
        return true;
    const char *stable = name;
    size_t size = strlen(name);
    if (stable_name_differs(name)) {
        if (!ETLHEAP_RESERVE(&identities->stable, size + 1))
            return false;
        stable = identities->stable.at;
        size = stable_name_write(name, identities->stable.at);
    }
    if (!etlheap_strings_add(&identities->strings, stable, size, id))
        return false;
    while (identities->names.count <= *id) {
        if (!ETLHEAP_PUSH(&identities->names, NULL))
            return false;
    }
    if (identities->names.at[*id] == NULL)
        identities->names.at[*id] = name;
    return true;
}

bool row_identities_spell_name(row_identities *identities, const char **name)
{
    u32 id;
    if (*name == NULL)
        return true;
    if (!row_identities_add_name(identities, *name, &id))
        return false;
    *name = identities->names.at[id];
    return true;
}

/* --- rows that fall together -------------------------------------------------------- */

static bool has_unstable_name(const etlheap_table *table)
{
    for (u32 i = 0; i < table->frame_count; i++) {
        const char *const symbol = table->frames[i].symbol;
        if (symbol != NULL && stable_name_differs(symbol))
            return true;
    }
    for (u32 i = 0; i < table->row_count; i++) {
        const etlheap_row *const row = &table->rows[i];
        if ((row->type_name != NULL && stable_name_differs(row->type_name)) ||
            (row->tag != NULL && stable_name_differs(row->tag)))
            return true;
    }
    return false;
}

static u64 mix(u64 hash, const char *name)
{
    const u64 value = name == NULL ? 1 : etlheap_mix_bytes(name, strlen(name));
    return etlheap_mix_u64(hash * 31 + value);
}

/* A hash of the names of a row's keys, as the run spells them. */
static u64 names_of(const etlheap_table *table, const etlheap_row *row)
{
    u64 hash = 1;
    for (u32 k = 0; k < table->group_by_count; k++) {
        const etlheap_key key = table->group_by[k];
        const etlheap_key_value value = etlheap_row_value(row, key);
        if (key == ETLHEAP_KEY_TYPE_NAME || key == ETLHEAP_KEY_TAG)
            hash = mix(hash, value.text);
        if (value.form == ETLHEAP_FORM_FRAME && value.is_known)
            hash = mix(hash, table->frames[value.number].symbol);
        if (key != ETLHEAP_KEY_STACK || row->stack == ETLHEAP_NO_INDEX)
            continue;
        const u32 end = table->stack_starts[row->stack + 1];
        for (u32 i = table->stack_starts[row->stack]; i < end; i++)
            hash = mix(hash, table->frames[table->frame_indices[i]].symbol);
    }
    return hash | 1;
}

bool row_identities_count_merged(row_identities *identities, const etlheap_table *table,
                                 const u32 *ids)
{
    if (!has_unstable_name(table))
        return true;
    u64 *const seen = calloc(identities->keys.count + 1, sizeof *seen); /* 0: no row yet */
    bool ok = seen != NULL;
    while (ok && identities->is_merged.count < identities->keys.count)
        ok = ETLHEAP_PUSH(&identities->is_merged, 0);
    for (u32 i = 0; ok && i < table->row_count; i++) {
        const u64 names = names_of(table, &table->rows[i]);
        const u32 id = ids[i] - 1;
        if (seen[id] != 0 && seen[id] != names && !identities->is_merged.at[id]) {
            identities->is_merged.at[id] = 1;
            identities->merged_count++;
        }
        seen[id] = names;
    }
    free(seen);
    return ok;
}

bool row_identities_is_lone(const etlheap_result *result)
{
    u32 count = 0;
    bool is_named = false;
    for (u32 i = 0; i < etlheap_process_count(result); i++) {
        const etlheap_process_info *const process =
            etlheap_process_of(result, (etlheap_process){ i + 1 });
        if (etlheap_process_events(process) == 0)
            continue;
        is_named |= etlheap_process_is_named(process->name);
        count++;
    }
    return count == 1 && !is_named;
}

bool row_identities_by_pid(const row_identities *identities, const etlheap_row *row, u32 run)
{
    const bool is_lone = identities->is_lone.count <= run || identities->is_lone.at[run];
    return !is_lone && row->pid != ETL_NO_ID && row->process != NULL &&
           !etlheap_process_is_named(row->process);
}
