/*
 * frames_rows.c - the rows of a frame table: frames and stacks, each once, and what is known about
 * a frame.
 *
 * In: a frame (module, offset), or a list of frames. Out: its number. Equal ones have one number,
 * which does not change.
 */
#include "frames.h"

static bool same_frame(const void *owner, u32 id, const void *key)
{
    const frame_table *const table = owner;
    const frame_row *const a = &table->frames.at[id - 1], *const b = key;
    return a->module == b->module && a->offset == b->offset && a->skip == b->skip;
}

/* Finds or adds a frame. Among equal frames, the lowest address is kept. */
bool frames_intern(frame_table *table, const frame_row *row, u32 *frame)
{
    const u64 hash = etlheap_hash_u64(row->offset ^ (u64)row->module << 40 ^ (u64)row->skip << 32);
    u32 id = etlheap_index_find(&table->frame_index, hash, same_frame, table, row);
    if (id == 0) {
        if (table->frames.count >= UINT32_MAX - 1 || !ETLHEAP_PUSH(&table->frames, *row))
            return false;
        id = (u32)table->frames.count;
        if (!etlheap_index_add(&table->frame_index, hash, id))
            return false;
    }
    frame_row *const kept = &table->frames.at[id - 1];
    kept->address = kept->address < row->address ? kept->address : row->address;
    *frame = id - 1;
    return true;
}

bool frames_add_skipped(frame_table *table, u32 frame, u32 skip, u32 *out)
{
    frame_row row = table->frames.at[frame];
    row.skip = skip;
    return frames_intern(table, &row, out);
}

frame_verdict frames_verdict(const frame_table *table, const frame_patterns *patterns, u32 frame)
{
    const u32 module = table->frames.at[frame].module;
    const size_t slot = module == FRAME_NONE ? table->result->modules.list.count : module;
    u8 *const verdict = &patterns->verdicts[slot];
    if (*verdict == FRAME_VERDICT_UNKNOWN)
        *verdict = (u8)frame_patterns_judge(patterns, frames_module(table, frame),
                                            table->query->symbols != NULL);
    return (frame_verdict)*verdict;
}

typedef struct stack_wanted {
    const u32 *frames;
    const frame_stack *row;
} stack_wanted;

static bool same_stack(const void *owner, u32 id, const void *key)
{
    const frame_table *const table = owner;
    const frame_stack *const a = &table->stacks.at[id - 1];
    const stack_wanted *const b = key;
    return a->count == b->row->count && a->wanted == b->row->wanted && a->tag == b->row->tag &&
           memcmp(table->pool.at + a->start, b->frames, a->count * sizeof(u32)) == 0;
}

u64 frames_hash(const u32 *frames, u32 count)
{
    return etlheap_hash_bytes(frames, count * sizeof *frames);
}

bool frames_add_stack(frame_table *table, const u32 *frames, const frame_stack *row, u32 *id)
{
    const stack_wanted key = { frames, row };
    const u32 count = row->count;
    const u64 hash = frames_hash(frames, count);
    *id = etlheap_index_find(&table->stack_index, hash, same_stack, table, &key);
    if (*id != 0)
        return true;
    frame_stack added = *row;
    added.start = (u32)table->pool.count;
    if (table->pool.count + count > UINT32_MAX || !ETLHEAP_RESERVE(&table->pool, count) ||
        !ETLHEAP_PUSH(&table->stacks, added))
        return false;
    memcpy(table->pool.at + table->pool.count, frames, count * sizeof *frames);
    table->pool.count += count;
    *id = (u32)table->stacks.count;
    return etlheap_index_add(&table->stack_index, hash, *id);
}

bool frames_add_pooled(frame_table *table, const frame_stack *row, u64 hash, u32 *id)
{
    const stack_wanted key = { table->pool.at + row->start, row };
    *id = etlheap_index_find(&table->stack_index, hash, same_stack, table, &key);
    if (*id != 0)
        return true;
    if (!ETLHEAP_PUSH(&table->stacks, *row))
        return false;
    *id = (u32)table->stacks.count;
    return etlheap_index_add(&table->stack_index, hash, *id);
}

frame_calls frames_calls(const frame_table *table, u32 frame)
{
    const u32 id = table->frames.at[frame].name;
    const symbol_name *const name = id == 0 ? NULL : symbols_name(table->query->symbols, id);
    if (name == NULL || name->level_count == 0)
        return (frame_calls){ NULL, 1, SYMBOL_QUALITY_NONE };
    return (frame_calls){ symbols_levels(table->query->symbols, name), name->level_count,
                          name->quality };
}

u32 frames_innermost(const frame_table *table, u32 id)
{
    return id == 0 ? FRAME_NONE : table->pool.at[table->stacks.at[id - 1].start];
}

u32 frames_site(const frame_table *table, u32 id)
{
    return table->sites == NULL || id == 0 ? frames_innermost(table, id) : table->sites[id];
}

u32 frames_source_line(const frame_table *table, u32 id)
{
    return table->source_lines == NULL || id == 0 ? 0 : table->source_lines[id];
}

const char *frames_module(const frame_table *table, u32 frame)
{
    if (frame == FRAME_NONE || table->frames.at[frame].module == FRAME_NONE)
        return NULL;
    return table->result->modules.list.at[table->frames.at[frame].module].name;
}
