/*
 * export_parquet_stacks.c - stacks as columns: their text, a hash to group by in the
 * files of many runs, and where their innermost frame is.
 *
 * Rows share stacks, so what a stack is called is worked out once for each row group,
 * and its hash once.
 */
#include "export_parquet.h"

#include <stdlib.h>

#include "parser/system/name_fold.h"

#define FNV_PRIME 0x100000001b3u

const export_column export_stack_columns[EXPORT_STACK_COLUMNS] = {
    { ETLHEAP_FIELD_STACK, .type = PARQUET_STRING, .is_optional = true, .is_list = true },
    { ETLHEAP_FIELD_STACK_HASH, .type = PARQUET_INT64, .is_optional = true, .repeats = true },
    { ETLHEAP_FIELD_SITE, .type = PARQUET_STRING, .is_optional = true },
    { ETLHEAP_FIELD_MODULE, .type = PARQUET_STRING, .is_optional = true },
    { ETLHEAP_FIELD_FUNCTION, .type = PARQUET_STRING, .is_optional = true },
    { ETLHEAP_FIELD_FILE, .type = PARQUET_STRING, .is_optional = true },
    { ETLHEAP_FIELD_LINE, .type = PARQUET_INT64, .is_optional = true, .repeats = true },
};

static export_stack_names *names_of(export_stacks *stacks, u32 stack);
static void put_stack(export_stacks *stacks, const etlheap_table *table, etlheap_indices frames,
                      export_stack_names *names, parquet_writer *writer);
static u64 hash_stack(const etlheap_table *table, etlheap_indices frames);
static u64 hash_bytes(u64 hash, const char *bytes, size_t size);
static u64 hash_offset(u64 hash, u64 offset);

void export_stacks_put(export_stacks *stacks, const etlheap_table *table, const etlheap_row *row,
                       parquet_writer *writer)
{
    const etlheap_indices frames = etlheap_row_frames(table, row);
    export_stack_names *const names = frames.count > 0 ? names_of(stacks, row->stack) : NULL;
    if (!names) {
        for (u32 i = 0; i < EXPORT_STACK_COLUMNS; i++)
            parquet_put_null(writer);
        return;
    }
    if (!names->is_hashed)
        names->hash = hash_stack(table, frames);
    names->is_hashed = true;
    const etlheap_frame *const first = &table->frames[frames.at[0]];
    if (!parquet_put_known(writer, &names->stack))
        put_stack(stacks, table, frames, names, writer);
    parquet_put_number(writer, names->hash);
    if (!parquet_put_known(writer, &names->site)) {
        const etl_bytes site = etlheap_frame_texts_of(&stacks->texts, table, frames.at[0]);
        parquet_put_new(writer, &names->site, (const char *)site.at, site.size);
    }
    parquet_put_name(writer, &names->module, first->module);
    parquet_put_name(writer, &names->function, first->symbol);
    parquet_put_name(writer, &names->file, first->line != 0 ? first->file : NULL);
    export_put_number(writer, first->line != 0, first->line);
}

void export_stacks_put_list(export_stacks *stacks, const etlheap_table *table, u32 stack,
                            parquet_writer *writer)
{
    const etlheap_indices frames = etlheap_stack_members(table, stack);
    export_stack_names *const names = frames.count > 0 ? names_of(stacks, stack) : NULL;
    if (!names)
        parquet_put_null(writer);
    else if (!parquet_put_known(writer, &names->stack))
        put_stack(stacks, table, frames, names, writer);
}

void export_stacks_free(export_stacks *stacks)
{
    free(stacks->names);
    etlheap_frame_texts_free(&stacks->texts);
    free(stacks->frames);
}

static export_stack_names *names_of(export_stacks *stacks, u32 stack)
{
    if (stack >= stacks->capacity) {
        const size_t capacity = (size_t)stack + stack / 2 + 64;
        export_stack_names *const names =
            capacity > UINT32_MAX ? NULL : realloc(stacks->names, capacity * sizeof *names);
        if (!names) {
            stacks->failed = true;
            return NULL;
        }
        memset(names + stacks->capacity, 0, (capacity - stacks->capacity) * sizeof *names);
        stacks->names = names;
        stacks->capacity = (u32)capacity;
    }
    return &stacks->names[stack];
}

static void put_stack(export_stacks *stacks, const etlheap_table *table, etlheap_indices frames,
                      export_stack_names *names, parquet_writer *writer)
{
    if (frames.count > stacks->frame_capacity) {
        etl_bytes *const grown = realloc(stacks->frames, frames.count * sizeof *grown);
        if (!grown) {
            stacks->failed = true;
            parquet_put_null(writer);
            return;
        }
        stacks->frames = grown;
        stacks->frame_capacity = frames.count;
    }
    /* The first call makes the texts of all frames, which may move them. */
    (void)etlheap_frame_texts_of(&stacks->texts, table, table->frame_count - 1);
    for (u32 i = 0; i < frames.count; i++)
        stacks->frames[i] = etlheap_frame_texts_of(&stacks->texts, table, frames.at[i]);
    stacks->failed |= stacks->texts.failed;
    parquet_put_new_list(writer, &names->stack, stacks->frames, frames.count);
}

static u64 hash_stack(const etlheap_table *table, etlheap_indices frames)
{
    u64 hash = ETL_FNV1A_START;
    for (u32 i = 0; i < frames.count; i++) {
        const etlheap_frame *const frame = &table->frames[frames.at[i]];
        if (frame->module)
            hash = etl_name_fnv1a(hash, frame->module);
        if (frame->module && frame->symbol) {
            hash = hash_bytes(hash, "!", 1);
            hash = hash_bytes(hash, frame->symbol, strlen(frame->symbol));
        } else if (frame->module) {
            hash = hash_offset(hash_bytes(hash, "+", 1), frame->offset);
        }
        hash = hash_bytes(hash, ";", 1);
    }
    return hash;
}

static u64 hash_bytes(u64 hash, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (u8)bytes[i]) * FNV_PRIME;
    return hash;
}

static u64 hash_offset(u64 hash, u64 offset)
{
    u32 shift = 60;
    while (shift > 0 && offset >> shift == 0)
        shift -= 4;
    for (; shift > 0; shift -= 4)
        hash = hash_bytes(hash, &"0123456789abcdef"[offset >> shift & 15], 1);
    return hash_bytes(hash, &"0123456789abcdef"[offset & 15], 1);
}
