/* answer_check.c - see answer_check.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "answer_check.h"
#include "formats/io/text_buffer.h"
#include "tests/support/windows_check.h"

static void add_buckets(const etlheap_histogram *histogram, FILE *out)
{
    for (u32 i = 0; i < histogram->bucket_count; i++) {
        const etlheap_bucket *const b = &histogram->buckets[i];
        fprintf(out, "%u %d %s %u %" PRIu64 " %" PRIu64, b->kind, b->is_open,
                b->process == NULL ? "" : b->process, b->pid, b->from, b->to);
        fprintf(out, " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", b->count, b->size_bytes,
                b->outstanding_count, b->outstanding_size_bytes);
    }
}

/* Each row with the frames of its stack. */
static void add_lifetimes(etlheap_lifetimes *walk, FILE *out)
{
    const etlheap_table *const table = etlheap_lifetimes_table(walk);
    etlheap_lifetime life;
    while (etlheap_lifetimes_next(walk, &life)) {
        fprintf(out, "%u %u %u %d %u %u", life.kind, life.type, life.free_type, life.is_realloc,
                life.thread, life.process.v);
        fprintf(out, " %" PRIx64 " %" PRIu64 " %" PRIx64 " %" PRId64 " %" PRId64, life.address,
                life.size_bytes, life.heap_handle, life.alloc_ns, life.free_ns);
        if (life.stack != ETLHEAP_NO_INDEX) {
            const etlheap_row row = { .stack = life.stack };
            const etlheap_indices frames = etlheap_row_frames(table, &row);
            for (u32 i = 0; i < frames.count; i++)
                fprintf(out, " %" PRIx64, table->frames[frames.at[i]].offset);
        }
        fputc('\n', out);
    }
    assert_int_equal(etlheap_lifetimes_status(walk, NULL), ETL_OK);
}

static void add_suspects(const etlheap_suspects *suspects, FILE *out)
{
    fprintf(out, "%u groups", suspects->group_count);
    for (u32 i = 0; i < suspects->table->row_count; i++) {
        const etlheap_suspect *const s = &suspects->rows[i];
        fprintf(out, "\n%u %" PRId64 " %" PRId64 " %" PRId64, s->score, s->alloc_count,
                s->never_freed_count, s->never_freed_size);
        fprintf(out, " %" PRId64 " %" PRId64 " %" PRId64, s->first_ns, s->last_ns,
                s->typical_lifetime_ns);
        for (u32 k = 0; k < s->thread_count; k++)
            fprintf(out, " %u", s->threads[k]);
    }
}

static void add_map(const etlheap_map *map, FILE *out)
{
    fprintf(out, "map at %" PRId64 " of %" PRIu64 "\n", map->at_ns, map->unit);
    for (u32 i = 0; i < map->process_count; i++) {
        const etlheap_map_process *const p = &map->processes[i];
        fprintf(out, "%s %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", p->name, p->pid,
                p->amounts.committed, p->amounts.live, p->amounts.blocks);
    }
    for (u32 i = 0; i < map->run_count; i++)
        fprintf(out, "%" PRIx64 " %" PRIu64 " %" PRIu64 "\n", map->runs[i].address,
                map->runs[i].size, map->runs[i].live);
}

static void add_part(char *text, FILE *out)
{
    fputs(text, out);
    free(text);
}

char *answer_check_text(const etlheap_answer *answer)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    assert_non_null(out);
    if (answer->table != NULL)
        add_part(check_table_text(answer->table), out);
    if (answer->windows != NULL)
        add_part(windows_check_text(answer->windows), out);
    if (answer->histogram != NULL)
        add_buckets(answer->histogram, out);
    if (answer->lifetimes != NULL)
        add_lifetimes(answer->lifetimes, out);
    if (answer->map != NULL) {
        add_part(check_table_text(answer->map->table), out);
        add_map(answer->map, out);
    }
    if (answer->suspects != NULL) {
        add_part(check_table_text(answer->suspects->table), out);
        add_suspects(answer->suspects, out);
    }
    for (u32 kind = 0; kind < ETLHEAP_KIND_COUNT; kind++) {
        const etlheap_peak_moment *const peak = &answer->peaks[kind];
        fprintf(out, "peak %d %" PRId64 " %" PRId64 " %" PRId64 "\n", peak->found, peak->to_ticks,
                peak->size_bytes, peak->count);
    }
    assert_int_equal(fclose(out), 0);
    return text;
}
