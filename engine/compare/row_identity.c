/*
 * row_identity.c - gives rows of different tables an id by what they are: names, not numbers of
 * one run.
 *
 * In: rows with process, stack and other keys. Out: equal ids for rows that are the same group in
 * another run.
 *
 * Strings, frames and stacks are interned bottom up, so comparing two rows compares a few
 * numbers. Names of functions are interned by their stable forms (row_names.c). Invariant: ids
 * depend on the order in which rows come, so nothing that is shown may be ordered by them; use
 * row_identities_rank.
 */
#include "row_identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define UNNAMED_SIZE 32

/* A table while its rows are identified. */
typedef struct table_reader {
    row_identities *to;
    const etlheap_table *table;
    u32 run;
    u32 *frames; /* identity of each of the table's frames; 0: not looked at yet */
    u32 *stacks;
} table_reader;

static bool identify_row(table_reader *r, const etlheap_row *row, u32 *id);
static bool set_key(table_reader *r, const etlheap_row *row, etlheap_key key, identity_key *out);
static bool identify_process(table_reader *r, const etlheap_row *row, u32 *id);
static bool add_text(etlheap_strings *strings, const char *text, u32 *id);
static bool identify_stack(table_reader *r, u32 stack, u32 *id);
static bool intern_stack(row_identities *to, const identity_stack *fresh, u32 *id);
static bool identify_frame(table_reader *r, u32 frame, u32 *id);
static bool describe_frame(table_reader *r, const etlheap_frame *frame, identity_frame *out);
static bool note_rebuilt(row_identities *identities, u32 name);
static bool add_name(row_identities *identities, name_spellings *spellings, const char *name,
                     u32 *id);
static bool same_key(const void *owner, u32 id, const void *key);
static bool same_stack(const void *owner, u32 id, const void *key);
static bool same_frame(const void *owner, u32 id, const void *key);

bool row_identities_open(row_identities *identities, const etlheap_result *const *results,
                         u32 count)
{
    bool ok = diff_builds_find(&identities->builds, &identities->strings, results, count);
    for (u32 run = 0; ok && run < count; run++)
        ok = ETLHEAP_PUSH(&identities->is_lone, row_identities_is_lone(results[run]));
    return ok;
}

void row_identities_free(row_identities *identities)
{
    etlheap_strings_free(&identities->strings);
    diff_builds_free(&identities->builds);
    ETLHEAP_VECTOR_FREE(&identities->is_lone);
    ETLHEAP_VECTOR_FREE(&identities->frames);
    ETLHEAP_VECTOR_FREE(&identities->pool);
    ETLHEAP_VECTOR_FREE(&identities->stacks);
    ETLHEAP_VECTOR_FREE(&identities->keys);
    ETLHEAP_VECTOR_FREE(&identities->rebuilt);
    ETLHEAP_VECTOR_FREE(&identities->processes);
    ETLHEAP_VECTOR_FREE(&identities->modules);
    ETLHEAP_VECTOR_FREE(&identities->names);
    ETLHEAP_VECTOR_FREE(&identities->stable);
    ETLHEAP_VECTOR_FREE(&identities->is_merged);
    etlheap_index_free(&identities->frame_index);
    etlheap_index_free(&identities->stack_index);
    etlheap_index_free(&identities->key_index);
}

bool row_identities_add(row_identities *identities, const etlheap_table *table, u32 run, u32 *ids)
{
    table_reader r = { .to = identities,
                       .table = table,
                       .run = run,
                       .frames = calloc((size_t)table->frame_count + 1, sizeof(u32)),
                       .stacks = calloc((size_t)table->stack_count + 1, sizeof(u32)) };
    bool ok = r.frames != NULL && r.stacks != NULL;
    for (u32 i = 0; ok && i < table->row_count; i++)
        ok = identify_row(&r, &table->rows[i], &ids[i]);
    ok = ok && row_identities_count_merged(identities, table, ids);
    free(r.frames);
    free(r.stacks);
    return ok;
}

static bool identify_row(table_reader *r, const etlheap_row *row, u32 *id)
{
    row_identities *const to = r->to;
    identity_key key = { 0 };
    for (u32 k = 0; k < r->table->group_by_count; k++) {
        if (!set_key(r, row, r->table->group_by[k], &key))
            return false;
    }
    const u64 hash = etlheap_hash_bytes(&key, sizeof key);
    *id = etlheap_index_find(&to->key_index, hash, same_key, to, &key);
    if (*id != 0)
        return true;
    if (to->keys.count >= UINT32_MAX - 1 || !ETLHEAP_PUSH(&to->keys, key))
        return false;
    *id = (u32)to->keys.count;
    return etlheap_index_add(&to->key_index, hash, *id);
}

/* Interns a name in the way of its key: modules by their builds; threads, tags and types of objects
 * as they are spelled. */
static bool identify_name(table_reader *r, etlheap_key key, const char *name, u32 *id)
{
    row_identities *const to = r->to;
    if (key == ETLHEAP_KEY_MODULE)
        return add_name(to, &to->modules, diff_builds_module_name(&to->builds, name), id);
    if (key == ETLHEAP_KEY_THREAD_NAME || key == ETLHEAP_KEY_POOL_TAG ||
        key == ETLHEAP_KEY_OBJECT_TYPE)
        return add_text(&to->strings, name, id);
    return row_identities_add_name(to, name, id);
}

/* Sets the identity's part for one key. Only keys that the table is grouped by mean anything. */
static bool set_key(table_reader *r, const etlheap_row *row, etlheap_key key, identity_key *out)
{
    const etlheap_key_value value = etlheap_row_value(row, key);
    u32 *const part = &out->parts[key_row_of(key)->reads];
    if (!etlheap_diff_compares_key(key))
        return true;
    switch (value.form) {
    case ETLHEAP_FORM_PROCESS:
        return identify_process(r, row, part);
    case ETLHEAP_FORM_STACK:
        return identify_stack(r, row->stack, part);
    case ETLHEAP_FORM_FRAME:
        return !value.is_known || identify_frame(r, row->frame, part);
    case ETLHEAP_FORM_NAME:
    case ETLHEAP_FORM_TYPE_NAME:
        return identify_name(r, key, value.text, part);
    case ETLHEAP_FORM_SIZE: /* 0, or a power of two */
        *part = value.number == 0 ? 0 : 1 + (u32)__builtin_ctzll(value.number);
        return true;
    case ETLHEAP_FORM_KIND:
    case ETLHEAP_FORM_TYPE:
    case ETLHEAP_FORM_HEAP: /* not compared */
    case ETLHEAP_FORM_THREAD:
    case ETLHEAP_FORM_GENERATION:
        *part = (u32)value.number;
        return true;
    }
    return true;
}

/* Interns a process: by its name, or by its id if it has none. */
static bool identify_process(table_reader *r, const etlheap_row *row, u32 *id)
{
    char text[UNNAMED_SIZE];
    if (!row_identities_by_pid(r->to, row, r->run))
        return add_name(r->to, &r->to->processes, row->process, id);
    snprintf(text, sizeof text, "%s (%" PRIu32 ")", row->process, row->pid);
    return add_text(&r->to->strings, text, id);
}

/* Interns a text, with regard to case; NULL is 0. */
static bool add_text(etlheap_strings *strings, const char *text, u32 *id)
{
    return text == NULL || etlheap_strings_add(strings, text, strlen(text), id);
}

/* Interns a stack. Its frames are written at the end of the pool and stay there only if it is
 * new. */
static bool identify_stack(table_reader *r, u32 stack, u32 *id)
{
    row_identities *const to = r->to;
    if (stack == ETLHEAP_NO_INDEX)
        return true;
    if (r->stacks[stack] == 0) {
        const identity_stack fresh = { (u32)to->pool.count, r->table->stack_starts[stack + 1] -
                                                                r->table->stack_starts[stack] };
        for (u32 i = 0; i < fresh.count; i++) {
            u32 frame;
            if (!identify_frame(r, r->table->frame_indices[r->table->stack_starts[stack] + i],
                                &frame) ||
                !ETLHEAP_PUSH(&to->pool, frame))
                return false;
        }
        if (!intern_stack(to, &fresh, &r->stacks[stack]))
            return false;
    }
    *id = r->stacks[stack];
    return true;
}

static bool intern_stack(row_identities *to, const identity_stack *fresh, u32 *id)
{
    const u64 hash = etlheap_hash_bytes(to->pool.at + fresh->start, fresh->count * sizeof(u32));
    *id = etlheap_index_find(&to->stack_index, hash, same_stack, to, fresh);
    if (*id != 0) {
        to->pool.count = fresh->start;
        return true;
    }
    if (to->pool.count >= UINT32_MAX || !ETLHEAP_PUSH(&to->stacks, *fresh))
        return false;
    *id = (u32)to->stacks.count;
    return etlheap_index_add(&to->stack_index, hash, *id);
}

static bool identify_frame(table_reader *r, u32 frame, u32 *id)
{
    row_identities *const to = r->to;
    if (r->frames[frame] == 0) {
        identity_frame fresh = { 0 };
        if (!describe_frame(r, &r->table->frames[frame], &fresh))
            return false;
        const u64 hash = etlheap_hash_bytes(&fresh, sizeof fresh);
        u32 found = etlheap_index_find(&to->frame_index, hash, same_frame, to, &fresh);
        if (found == 0) {
            if (!ETLHEAP_PUSH(&to->frames, fresh))
                return false;
            found = (u32)to->frames.count;
            if (!etlheap_index_add(&to->frame_index, hash, found))
                return false;
        }
        r->frames[frame] = found;
    }
    *id = r->frames[frame];
    return true;
}

/* Describes a frame. One that stands for its module is the same in all builds. A name guessed from
 * exports is worth less than the offset if all runs have the same build; between builds it is all
 * there is. */
static bool describe_frame(table_reader *r, const etlheap_frame *frame, identity_frame *out)
{
    row_identities *const to = r->to;
    if (frame->module == NULL)
        return true;
    const char *const module = diff_builds_module_name(&to->builds, frame->module);
    if (!add_name(to, &to->modules, module, &out->module))
        return false;
    const u32 side = diff_builds_side(&to->builds, out->module, r->run);
    if (frame->symbol != NULL && (side != 0 || !frame->is_nearest))
        return row_identities_add_name(to, frame->symbol, &out->symbol);
    out->offset = frame->offset;
    if (side == 0 || frame->offset == ETLHEAP_NO_ADDRESS)
        return true;
    out->side = side;
    return note_rebuilt(to, out->module);
}

static bool note_rebuilt(row_identities *identities, u32 name)
{
    for (size_t i = 0; i < identities->rebuilt.count; i++) {
        if (identities->rebuilt.at[i] == name)
            return true;
    }
    return ETLHEAP_PUSH(&identities->rebuilt, name);
}

/* Interns a name without case. Runs are added in order, so the first run's spelling is shown. */
static bool add_name(row_identities *identities, name_spellings *spellings, const char *name,
                     u32 *id)
{
    if (!etlheap_strings_add_name(&identities->strings, name, id))
        return false;
    while (spellings->count <= *id) {
        if (!ETLHEAP_PUSH(spellings, NULL))
            return false;
    }
    if (spellings->at[*id] == NULL)
        spellings->at[*id] = name;
    return true;
}

bool row_identities_spell(row_identities *identities, name_spellings *spellings, const char **name)
{
    u32 id;
    if (*name == NULL)
        return true;
    if (spellings == &identities->modules)
        *name = diff_builds_module_name(&identities->builds, *name);
    if (!add_name(identities, spellings, *name, &id))
        return false;
    *name = spellings->at[id];
    return true;
}

static int compare_names(const void *a, const void *b)
{
    const char *const *const x = a, *const *const y = b;
    return strcmp(*x, *y);
}

bool row_identities_rebuilt(const row_identities *identities, name_spellings *names)
{
    for (size_t i = 0; i < identities->rebuilt.count; i++) {
        if (!ETLHEAP_PUSH(names, identities->modules.at[identities->rebuilt.at[i]]))
            return false;
    }
    if (names->count > 0)
        qsort(names->at, names->count, sizeof *names->at, compare_names);
    return true;
}

static bool same_key(const void *owner, u32 id, const void *key)
{
    const row_identities *const identities = owner;
    return memcmp(&identities->keys.at[id - 1], key, sizeof(identity_key)) == 0;
}

static bool same_frame(const void *owner, u32 id, const void *key)
{
    const row_identities *const identities = owner;
    return memcmp(&identities->frames.at[id - 1], key, sizeof(identity_frame)) == 0;
}

static bool same_stack(const void *owner, u32 id, const void *key)
{
    const row_identities *const identities = owner;
    const identity_stack *const known = &identities->stacks.at[id - 1], *const wanted = key;
    return known->count == wanted->count &&
           (wanted->count == 0 ||
            memcmp(identities->pool.at + known->start, identities->pool.at + wanted->start,
                   wanted->count * sizeof(u32)) == 0);
}
