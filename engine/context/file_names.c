/* file_names.c - the lives of keys of files, and their names; see file_names.h. */
#include "context.h"
#include "volumes.h"

#include <stdlib.h>

#define LIFE_SHIFT 48 /* where addresses of the kernel have only ones */

static bool same_key(const void *owner, u32 id, const void *key)
{
    const file_names *const files = owner;
    return files->lives.at[files->latest.at[id - 1] - 1].key == *(const u64 *)key;
}

/* Begins a life of the key at `place` in `latest`. NULL if memory runs out. */
static file_life *begin_life(file_names *files, u32 place)
{
    const u32 former = files->latest.at[place];
    const file_life *const last = &files->lives.at[former - 1];
    const file_life life = { .key = last->key,
                             .until_ticks = ETLHEAP_TICKS_NEVER,
                             .former = former,
                             .number = last->number + 1 };
    if (files->lives.count >= UINT32_MAX - 1 || !ETLHEAP_PUSH(&files->lives, life))
        return NULL;
    files->latest.at[place] = (u32)files->lives.count;
    return &files->lives.at[files->lives.count - 1];
}

/* Finds or adds a key: its index in `latest` + 1; 0 if memory runs out. */
static u32 place_of(file_names *files, u64 key)
{
    const u64 hash = etlheap_hash_u64(key);
    const u32 found = etlheap_index_find(&files->by_key, hash, same_key, files, &key);
    const file_life life = { .key = key, .until_ticks = ETLHEAP_TICKS_NEVER };
    if (found != 0)
        return found;
    const bool ok = files->lives.count < UINT32_MAX - 1 && ETLHEAP_PUSH(&files->lives, life) &&
                    ETLHEAP_PUSH(&files->latest, (u32)files->lives.count) &&
                    etlheap_index_add(&files->by_key, hash, (u32)files->latest.count);
    return ok ? (u32)files->latest.count : 0;
}

static void name_life(file_life *life, u32 name)
{
    life->has_two |= life->name != 0 && life->name != name;
    life->name = name;
}

bool file_names_tell(file_names *files, etl_event_kind kind, u64 key, u32 name, i64 ticks)
{
    const u32 place = place_of(files, key);
    if (place == 0)
        return false;
    file_life *life = &files->lives.at[files->latest.at[place - 1] - 1];
    const bool is_other = life->name != 0 && name != 0 && life->name != name;
    if (kind == ETL_EVENT_FILE_CREATE && is_other) {
        life->until_ticks = ticks;
        life = begin_life(files, place - 1);
        if (life == NULL)
            return false;
    }
    if (name != 0)
        name_life(life, name);
    if (kind != ETL_EVENT_FILE_DELETE)
        return true;
    life->until_ticks = ticks;
    return begin_life(files, place - 1) != NULL;
}

bool file_names_told(trace_context *context, const system_event *row)
{
    const etl_file_name *const event = &row->event.as.file_name;
    u32 name;
    return etlheap_strings_add_utf16(&context->strings, event->file_name, &name) &&
           file_names_tell(&context->files, row->event.kind, event->file_object, name,
                           context_counts_from(context, row->ticks));
}

bool file_names_number(file_names *files, u64 key, i64 ticks, u64 *out)
{
    const u32 kind_number = etlheap_kind_at(ETLHEAP_KIND_MAPPED)->lane;
    const u32 place = place_of(files, key);
    if (place == 0)
        return false;
    file_life *life = &files->lives.at[files->latest.at[place - 1] - 1];
    while (life->former != 0 && files->lives.at[life->former - 1].until_ticks >= ticks)
        life = &files->lives.at[life->former - 1];
    life->is_used = true;
    const u64 number = life->number < FILE_LIVES_NAMED ? life->number : FILE_LIVES_NAMED;
    *out = logged_heap(kind_number, key ^ number << LIFE_SHIFT);
    return true;
}

bool file_names_finish(trace_context *context)
{
    const u32 kind_number = etlheap_kind_at(ETLHEAP_KIND_MAPPED)->lane;
    bool ok = true;
    for (size_t i = 0; ok && i < context->files.lives.count; i++) {
        const file_life *const life = &context->files.lives.at[i];
        const char *path;
        if (!life->is_used || life->name == 0 || life->has_two || life->number >= FILE_LIVES_NAMED)
            continue;
        const u64 number = logged_heap(kind_number, life->key ^ (u64)life->number << LIFE_SHIFT);
        ok = volumes_path(context, etlheap_strings_get(&context->strings, life->name), &path) &&
             logged_names_add_text(&context->logged_names, number, path);
    }
    return ok;
}

void file_names_free(file_names *files)
{
    ETLHEAP_VECTOR_FREE(&files->lives);
    ETLHEAP_VECTOR_FREE(&files->latest);
    etlheap_index_free(&files->by_key);
}
