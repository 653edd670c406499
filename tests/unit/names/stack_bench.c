/* stack_bench.c - see stack_bench.h. */
#include "stack_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

int bench_begin(void **state)
{
    bench *const b = calloc(1, sizeof *b);
    b->world = world_new();
    world_open_symbols(b->world, NULL);
    b->world->query.cull_frames = b->cull;
    b->world->query.require_frames = b->require;
    b->world->query.exclude_frames = b->exclude;
    b->world->query.fold_modules = b->fold;
    *state = b;
    return 0;
}

int bench_end(void **state)
{
    bench *const b = *state;
    frames_close(&b->table);
    world_free(b->world);
    free(b);
    return 0;
}

void bench_cull(bench *b, const char *module, const char *symbol)
{
    b->cull[b->world->query.cull_frame_count++] =
        (etlheap_pattern){ .module = module, .symbol = symbol };
}

void bench_cull_unnamed(bench *b, const char *module)
{
    bench_cull(b, module, NULL);
    b->cull[b->world->query.cull_frame_count - 1].unnamed_only = true;
}

void bench_require(bench *b, const char *module, const char *symbol)
{
    b->require[b->world->query.require_frame_count++] =
        (etlheap_pattern){ .module = module, .symbol = symbol };
}

void bench_exclude(bench *b, const char *module, const char *symbol)
{
    b->exclude[b->world->query.exclude_frame_count++] =
        (etlheap_pattern){ .module = module, .symbol = symbol };
}

void bench_fold(bench *b, const char *module)
{
    b->fold[b->world->query.fold_module_count++] = (etlheap_pattern){ .module = module };
}

void bench_group_by(bench *b, etlheap_key key)
{
    b->world->query.group_by[0] = key;
    b->world->query.group_by_count = 1;
}

u32 bench_add_stack(bench *b, const u64 *frames, u32 count)
{
    u32 id;
    if (b->table.result == NULL)
        assert_true(frames_open(&b->table, b->world->result, &b->world->query));
    const u32 stack = hand_stack(b->world->result, frames, count);
    assert_true(frames_resolve(&b->table, b->world->process, stack, HAND_START_TICKS, &id));
    return id;
}

void bench_finish(bench *b)
{
    assert_int_equal(frames_finish(&b->table, NULL), ETL_OK);
}

const char *bench_left_of(bench *b, u32 id)
{
    const u32 finished = frames_finished(&b->table, id);
    const frame_stack *const stack = &b->table.stacks.at[finished - 1];
    size_t size = 0;
    for (u32 i = 0; i < stack->count; i++) {
        const u32 frame = b->table.pool.at[stack->start + i];
        const frame_row *const row = &b->table.frames.at[frame];
        const char *const module = frames_module(&b->table, frame);
        size += (size_t)snprintf(b->text + size, sizeof b->text - size, "%s%s", i > 0 ? " " : "",
                                 module == NULL ? "?" : module);
        if (row->offset != ETLHEAP_NO_ADDRESS)
            size += (size_t)snprintf(b->text + size, sizeof b->text - size, "+%llx",
                                     (unsigned long long)row->offset);
        if (row->skip > 0)
            size += (size_t)snprintf(b->text + size, sizeof b->text - size, "-%u", row->skip);
    }
    return b->text;
}

bool bench_wants(const bench *b, u32 id)
{
    return b->table.stacks.at[frames_finished(&b->table, id) - 1].wanted;
}

const char *bench_site_of(bench *b, u32 id)
{
    const u32 frame = frames_site(&b->table, frames_finished(&b->table, id));
    const frame_row *const row = &b->table.frames.at[frame];
    const char *const module = frames_module(&b->table, frame);
    const char *const place = module == NULL ? "?" : module;
    if (row->offset == ETLHEAP_NO_ADDRESS)
        return place;
    if (row->function == 0) {
        snprintf(b->text, sizeof b->text, "%s+%llx", place, (unsigned long long)row->offset);
        return b->text;
    }
    const frame_function *const f = &b->table.functions.at[row->function - 1];
    const char *const file = symbols_text(b->world->symbols, f->file);
    const char *const slash = strrchr(file, '\\');
    snprintf(b->text, sizeof b->text, "%s %s+%llx %s:%u%s",
             symbols_text(b->world->symbols, f->symbol), place, (unsigned long long)row->offset,
             slash == NULL ? file : slash + 1, f->line, f->is_nearest ? " near" : "");
    return b->text;
}
