/*
 * workload_truth.c - the truth as JSON, in the form outside checks read.
 */
#include "tests/build/workload_inside.h"

#include <stdio.h>

static void write_lifetimes(const workload *w, const workload_lifetime *lives, u32 count,
                            FILE *file);
static void write_lifetime(const workload *w, const workload_lifetime *life, FILE *file);
static void write_stack(const workload *w, u32 stack, FILE *file);
static void write_unknown_frees(const workload *w, const workload_truth *truth, FILE *file);
static void write_unknown(const workload *w, const workload_unknown_free *row,
                          const char *separator, FILE *file);
static void write_tid(u32 tid, FILE *file);

const char *workload_kind_name(workload_kind kind)
{
    static const char *const names[] = { "heap", "virtualalloc", "extent", "reserve" };
    return names[kind];
}

const char *workload_free_type_name(workload_free_type type)
{
    static const char *const names[] = { "none", "free", "heap-destroy", "process-exit" };
    return names[type];
}

bool workload_truth_save(const workload *w, const workload_truth *truth, const etl_build *system,
                         const etl_build *heap, const char *path)
{
    FILE *const file = fopen(path, "w");
    if (file == NULL)
        return false;
    u64 records = etl_build_record_count(system);
    i64 end = etl_build_last_ticks(system);
    if (heap != system) {
        records += etl_build_record_count(heap);
        end = etl_build_last_ticks(heap) > end ? etl_build_last_ticks(heap) : end;
    }
    fprintf(file, "{\"hz\": %llu, \"H\": %lld, \"end\": %lld, \"records\": %llu,\n\"lifetimes\": [",
            (unsigned long long)w->clock_hz, (long long)w->start_ticks, (long long)end,
            (unsigned long long)records);
    write_lifetimes(w, truth->lifetimes, truth->count, file);
    fputs("],\n\"reservations\": [", file);
    write_lifetimes(w, truth->reservations, truth->reservation_count, file);
    fputs("],\n\"unknown\": [", file);
    for (u32 i = 0; i < truth->unknown_count; i++)
        write_unknown(w, &truth->unknown[i], i == 0 ? "" : ",\n", file);
    fputs("],\n\"unknown_frees\": {", file);
    write_unknown_frees(w, truth, file);
    fputs("}}\n", file);
    const bool written = !ferror(file);
    return fclose(file) == 0 && written;
}

static void write_lifetimes(const workload *w, const workload_lifetime *lives, u32 count,
                            FILE *file)
{
    for (u32 i = 0; i < count; i++) {
        fputs(i == 0 ? "\n" : ",\n", file);
        write_lifetime(w, &lives[i], file);
    }
}

static void write_lifetime(const workload *w, const workload_lifetime *life, FILE *file)
{
    const workload_process *const p = &w->processes[life->process];
    fprintf(file, "{\"kind\": \"%s\", \"pid\": %u, \"process\": \"%s\", \"heap\": ",
            workload_kind_name(life->kind), p->pid, p->name);
    if (life->kind == WORKLOAD_KIND_VIRTUALALLOC || life->kind == WORKLOAD_KIND_RESERVE)
        fputs("null", file);
    else
        fprintf(file, "%llu", (unsigned long long)life->heap);
    fprintf(file, ", \"addr\": %llu, \"size\": %llu, \"a\": %lld, \"f\": ",
            (unsigned long long)life->address, (unsigned long long)life->size, (long long)life->a);
    if (life->ft == WORKLOAD_FREE_NONE)
        fputs("null", file);
    else
        fprintf(file, "%lld", (long long)life->f);
    fprintf(file, ", \"ft\": \"%s\", \"stack\": ", workload_free_type_name(life->ft));
    write_stack(w, life->stack, file);
    fprintf(file, ", \"realloc\": %s", life->is_realloc ? "true" : "false");
    fprintf(file, ", \"tid\": %u, \"free_tid\": ", life->tid);
    write_tid(life->free_tid, file);
    fputs(", \"free_stack\": ", file);
    write_stack(w, life->free_stack, file);
    fputs("}", file);
}

static void write_tid(u32 tid, FILE *file)
{
    if (tid == WORKLOAD_NONE)
        fputs("null", file);
    else
        fprintf(file, "%u", tid);
}

static void write_unknown(const workload *w, const workload_unknown_free *row,
                          const char *separator, FILE *file)
{
    const workload_process *const p = &w->processes[row->process];
    fprintf(file,
            "%s{\"pid\": %u, \"process\": \"%s\", \"heap\": %llu, \"addr\": %llu, \"f\": %lld",
            separator, p->pid, p->name, (unsigned long long)row->heap,
            (unsigned long long)row->address, (long long)row->ticks);
    fputs(", \"free_tid\": ", file);
    write_tid(row->tid, file);
    fputs(", \"free_stack\": ", file);
    write_stack(w, row->stack, file);
    fputs("}", file);
}

static void write_stack(const workload *w, u32 stack, FILE *file)
{
    if (stack == WORKLOAD_NONE) {
        fputs("null", file);
        return;
    }
    char text[64];
    for (u32 i = 0; workload_stack_text(w, stack, i, text); i++)
        fprintf(file, "%s\"%s\"", i == 0 ? "[" : ", ", text);
    fputs("]", file);
}

/* By pid: instances that share one are added. */
static void write_unknown_frees(const workload *w, const workload_truth *truth, FILE *file)
{
    const char *separator = "";
    for (u32 i = 0; i < w->process_count; i++) {
        u64 sum = 0;
        bool seen = false;
        for (u32 j = 0; j < w->process_count; j++) {
            if (w->processes[j].pid != w->processes[i].pid)
                continue;
            seen = seen || j < i;
            sum += truth->unknown_frees[j];
        }
        if (seen || sum == 0)
            continue;
        fprintf(file, "%s\"%u\": %llu", separator, w->processes[i].pid, (unsigned long long)sum);
        separator = ", ";
    }
}
