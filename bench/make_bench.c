/*
 * make_bench.c - writes one input of the benchmark, always with the same bytes.
 *
 *     make_bench INPUT FILE      INPUT is H, HK, HC, HF, H1, H8, N, N20, V, L, LS, S
 *     make_bench --list          the inputs, one line each
 *
 * In: the heap workload (heap_model.c) and the trace builder of the tests. Out: a trace, and
 * FILE.json with what it holds. `report` must find the same, and events per second are counted from
 * it. With /dev/null as FILE, the time shows how fast the bytes are made without storing them.
 * Invariant: everything is drawn from fixed seeds; if an input's bytes change, older measurements
 * no longer compare.
 */
#include "bench.h"
#include "heap_model.h"
#include "virtual_model.h"

#include "parser/parser.h"
#include "tests/build/etl_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define START_TICKS   1000000
#define RUNDOWN_TICKS 2000 /* what a session begins with comes first */
/* Few stacks share a slot: recording profiles ask for caches that hold all stacks
 * of a program, so most keys are defined when the session stops. */
#define STACK_KEY_SLOTS  262144u
#define BUFFER_BYTES     65536u
#define FREE_STACK_DELAY 10 /* ticks: less than to the CPU's next event */

typedef struct input {
    const char *name;
    const char *what;
    u64 events;   /* allocations; V: calls */
    u64 bytes;    /* about, for the check of free space */
    u32 open_max; /* blocks at once; 0: as many as the model wants */
    bool is_virtual;
    bool keyed;
    bool compressed;
    bool has_pdb;      /* modules name the PDB of make_pdb */
    bool is_bare;      /* no allocation has a stack */
    bool frees_stacks; /* frees have stacks as well */
} input;

static const input inputs[] = {
    { .name = "H", .what = "heap, inline stacks", .events = 6250000, .bytes = 2260 * ETL_MIB },
    { .name = "HK",
      .what = "the same events, stacks as keys",
      .events = 6250000,
      .bytes = 1100 * ETL_MIB,
      .keyed = true },
    { .name = "HC",
      .what = "the same events, compressed",
      .events = 6250000,
      .bytes = 1000 * ETL_MIB,
      .compressed = true },
    { .name = "HF",
      .what = "the same events, frees have stacks as well",
      .events = 6250000,
      .bytes = 4300 * ETL_MIB,
      .frees_stacks = true },
    { .name = "H1", .what = "H, scaled to 1 GiB", .events = 3125000, .bytes = 1130 * ETL_MIB },
    { .name = "H8", .what = "H, scaled to 8 GiB", .events = 25000000, .bytes = 9040 * ETL_MIB },
    { .name = "N",
      .what = "heap, no stacks, 1,000 blocks open",
      .events = 6000000,
      .bytes = 700 * ETL_MIB,
      .open_max = 1000,
      .is_bare = true },
    { .name = "N20",
      .what = "N, 20 million allocations",
      .events = 20000000,
      .bytes = 2300 * ETL_MIB,
      .open_max = 1000,
      .is_bare = true },
    { .name = "V",
      .what = "VirtualAlloc and VirtualFree",
      .events = 1400000,
      .bytes = 700 * ETL_MIB,
      .is_virtual = true },
    { .name = "L", .what = "heap, 192 MB", .events = 535000, .bytes = 200 * ETL_MIB },
    { .name = "LS",
      .what = "L, modules with a PDB",
      .events = 535000,
      .bytes = 200 * ETL_MIB,
      .has_pdb = true },
    { .name = "S", .what = "heap, 20 MB", .events = 56000, .bytes = 30 * ETL_MIB },
    { .name = "XS", .what = "heap, 15 MB", .events = 42000, .bytes = 20 * ETL_MIB },
    { .name = "XXS", .what = "heap, 10 MB", .events = 28000, .bytes = 15 * ETL_MIB },
};

/* The PDB that make_pdb writes, under the name that bench_inputs.py gives it. No module is longer
 * than its image. */
static const etl_build_pdb_spec large_pdb = { .guid = { 'l', 'a', 'r', 'g', 'e', ' ', 'p', 'r', 'o',
                                                        'g', 'r', 'a', 'm', ' ', ':', ')' },
                                              .age = 1,
                                              .name = "large.pdb" };

/* The file being written and what is known about it. */
typedef struct output {
    const input *kind;
    const char *path;
    stack_pool *pool;
    etl_build *trace;
    i64 last_ticks;
    heap_model_sums heap;
    virtual_model_sums memory;
} output;

static int usage(void);
static const input *find_input(const char *name);
static bool has_room(const char *path, u64 bytes);
static bool write_trace(output *o);
static void write_system(output *o);
static void write_images(output *o, etl_build_at at, const pool_process *process);
static void write_heap_events(output *o);
static void write_heap_event(output *o, const heap_event *event);
static void write_virtual_events(output *o);
static bool report(const output *o, double seconds);
static bool write_facts(const output *o, u64 bytes);
static u64 uncompressed_size(const char *path);

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < ETL_COUNT_OF(inputs); i++)
            printf("%s\t%llu\t%s\n", inputs[i].name, (unsigned long long)inputs[i].bytes,
                   inputs[i].what);
        return 0;
    }
    if (argc != 3 || find_input(argv[1]) == NULL)
        return usage();
    output o = { .kind = find_input(argv[1]), .path = argv[2] };
    if (!has_room(o.path, o.kind->bytes))
        return 1;
    return write_trace(&o) ? 0 : 1;
}

static int usage(void)
{
    fprintf(stderr, "usage: make_bench INPUT FILE | --list\n");
    return 2;
}

static const input *find_input(const char *name)
{
    for (size_t i = 0; i < ETL_COUNT_OF(inputs); i++) {
        if (strcmp(inputs[i].name, name) == 0)
            return &inputs[i];
    }
    return NULL;
}

/* Checks for free space first, because a full disk would otherwise show only after minutes. */
static bool has_room(const char *path, u64 bytes)
{
    char folder[4096];
    const char *const slash = strrchr(path, '/');
    const int length = slash != NULL ? (int)(slash - path) + 1 : 1;
    snprintf(folder, sizeof folder, "%.*s", length, slash != NULL ? path : ".");
    struct statvfs disk;
    if (statvfs(folder, &disk) != 0) {
        fprintf(stderr, "make_bench: %s: no such folder\n", folder);
        return false;
    }
    const u64 room = (u64)disk.f_bavail * disk.f_frsize;
    if (room >= bytes)
        return true;
    fprintf(stderr, "make_bench: %s has %llu MiB free, %s needs %llu MiB\n", folder,
            (unsigned long long)(room / ETL_MIB), path, (unsigned long long)(bytes / ETL_MIB));
    return false;
}

static bool write_trace(output *o)
{
    const double begin = bench_now_seconds();
    o->pool = stack_pool_new(BENCH_STACKS);
    o->trace = etl_build_new(&(etl_build_options){
        .path = o->path,
        .buffer_bytes = BUFFER_BYTES,
        .cpus = HEAP_MODEL_CPUS,
        .clock_hz = HEAP_MODEL_HZ,
        .start_ticks = START_TICKS,
        .session_name = "bench",
        .compress = o->kind->compressed,
        .keyed_stacks = o->kind->keyed,
        .stack_key_slots = STACK_KEY_SLOTS,
        .order = ETL_BUILD_AS_CALLED,
    });
    write_system(o);
    if (o->kind->is_virtual)
        write_virtual_events(o);
    else
        write_heap_events(o);
    const bool finished = etl_build_finish(o->trace);
    if (!finished)
        fprintf(stderr, "make_bench: %s: %s\n", o->path, etl_build_error(o->trace));
    const bool written = finished && report(o, bench_now_seconds() - begin);
    etl_build_free(o->trace);
    stack_pool_free(o->pool);
    return written;
}

/* Writes what a session begins with: processes, images with their identities, and heaps. */
static void write_system(output *o)
{
    etl_build_at at = { .ticks = START_TICKS + 10, .pid = 4, .tid = 8 };
    etl_build_config_cpu(
        o->trace, at,
        &(etl_build_cpu_spec){ .mhz = 3000, .memory_mib = 32768, .computer_name = "BENCH" });
    for (u32 p = 0; p < STACK_POOL_PROCESSES; p++) {
        const pool_process *const process = &o->pool->processes[p];
        at.ticks++;
        etl_build_process(o->trace, at, ETL_BUILD_DCSTART,
                          &(etl_build_process_spec){ .pid = process->pid,
                                                     .parent_pid = 700,
                                                     .name = process->name,
                                                     .command_line = process->name });
        write_images(o, at, process);
        at.ticks += (i64)o->pool->library_count + 1;
    }
}

static void write_images(output *o, etl_build_at at, const pool_process *process)
{
    for (u32 i = 0; i <= o->pool->library_count; i++) {
        const bool is_program = i == o->pool->library_count;
        const pool_module *const module = is_program ? &process->program : &o->pool->libraries[i];
        const etl_build_image_spec image = { .pid = process->pid,
                                             .base = module->base,
                                             .size = module->size_bytes,
                                             .checksum = 0x1000 + i,
                                             .time_date_stamp = 0x5f000000 + i,
                                             .path = module->path };
        at.ticks++;
        if (o->kind->has_pdb)
            etl_build_image_id(o->trace, at, &image, &large_pdb);
        etl_build_image(o->trace, at, ETL_BUILD_DCSTART, &image);
    }
}

static void write_heap_events(output *o)
{
    heap_model *const model =
        heap_model_new(o->pool, o->kind->events, o->kind->open_max, START_TICKS + RUNDOWN_TICKS);
    const heap_model_heap *heaps;
    const u32 heap_count = heap_model_heaps(model, &heaps);
    for (u32 i = 0; i < heap_count; i++) {
        const etl_build_at at = { .ticks = START_TICKS + RUNDOWN_TICKS / 2 + i,
                                  .pid = o->pool->processes[heaps[i].process].pid,
                                  .tid = 6000 };
        etl_build_heap_create(o->trace, at, heaps[i].handle);
    }
    heap_event event;
    while (heap_model_next(model, &event))
        write_heap_event(o, &event);
    o->heap = *heap_model_sums_of(model);
    heap_model_free(model);
}

/* What is allocated by many stacks is freed by fewer, such as destructors. */
static void write_free_stack(output *o, const heap_event *event, etl_build_at at)
{
    const pool_process *const process = &o->pool->processes[event->process];
    const u32 rank = event->stack - process->first_stack;
    const pool_stack stack = stack_pool_get(o->pool, process->first_stack + rank / 4);
    etl_build_stack_walk(o->trace, at,
                         &(etl_build_stack){ .user = stack.frames,
                                             .user_count = stack.count,
                                             .delay_ticks = FREE_STACK_DELAY });
}

static void write_heap_event(output *o, const heap_event *event)
{
    etl_build_at at = { .ticks = event->ticks,
                        .cpu = event->cpu,
                        .pid = o->pool->processes[event->process].pid,
                        .tid = event->tid };
    if (event->kind == HEAP_EVENT_ALLOC) {
        etl_build_heap_alloc(o->trace, at, event->heap, event->address, event->size);
    } else if (event->kind == HEAP_EVENT_FREE) {
        etl_build_heap_free(o->trace, at, event->heap, event->address);
        if (o->kind->frees_stacks)
            write_free_stack(o, event, at);
    } else if (!o->kind->is_bare) {
        const pool_stack stack = stack_pool_get(o->pool, event->stack);
        at.ticks = event->alloc_ticks;
        etl_build_stack_walk(
            o->trace, at,
            &(etl_build_stack){ .user = stack.frames,
                                .user_count = stack.count,
                                .delay_ticks = event->ticks - event->alloc_ticks });
    }
}

/* The stack's kernel half follows at once, its user half when the thread returns to user mode. */
static void write_virtual_events(output *o)
{
    static const u64 kernel[] = { 0xfffff80312345678, 0xfffff80312a1b2c3, 0xfffff80312000fe4,
                                  0xfffff8031241c245 };
    virtual_model *const model =
        virtual_model_new(o->pool, o->kind->events, START_TICKS + RUNDOWN_TICKS);
    virtual_event event;
    while (virtual_model_next(model, &event)) {
        const etl_build_at at = { .ticks = event.ticks,
                                  .cpu = event.cpu,
                                  .pid = o->pool->processes[event.process].pid,
                                  .tid = event.tid };
        if (event.is_alloc)
            etl_build_virtual_alloc(o->trace, at, event.base, event.size, event.flags);
        else
            etl_build_virtual_free(o->trace, at, event.base, event.size, event.flags);
        const pool_stack stack = stack_pool_get(o->pool, event.stack);
        etl_build_stack_walk(o->trace, at,
                             &(etl_build_stack){ .kernel = kernel,
                                                 .kernel_count = ETL_COUNT_OF(kernel),
                                                 .user = stack.frames,
                                                 .user_count = stack.count });
    }
    o->memory = *virtual_model_sums_of(model);
    virtual_model_free(model);
}

/* Writes FILE.json. For /dev/null there is no file to describe, only the builder's own speed. */
static bool report(const output *o, double seconds)
{
    struct stat written;
    if (stat(o->path, &written) != 0)
        return false;
    const bool is_file = S_ISREG(written.st_mode);
    const u64 bytes =
        is_file ? (u64)written.st_size : (u64)etl_build_buffer_count(o->trace) * BUFFER_BYTES;
    printf("%s: %.1f MB in %.1f s, %.0f MB/s\n", o->path, (double)bytes / 1e6, seconds,
           (double)bytes / 1e6 / seconds);
    return !is_file || write_facts(o, bytes);
}

static bool write_facts(const output *o, u64 bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.json", o->path);
    FILE *const file = fopen(path, "w");
    if (file == NULL) {
        fprintf(stderr, "make_bench: cannot create %s\n", path);
        return false;
    }
    const struct {
        const char *name;
        u64 value;
    } facts[] = {
        { "bytes", bytes },
        { "bytes_uncompressed", uncompressed_size(o->path) },
        { "records", etl_build_record_count(o->trace) },
        { "heap_allocs", o->heap.allocs },
        { "heap_frees", o->heap.frees },
        { "heap_bytes", o->heap.alloc_bytes },
        { "heap_open_peak", o->heap.open_peak },
        { "heap_open_end", o->heap.open },
        { "heap_open_end_bytes", o->heap.open_bytes },
        { "heap_frames", o->heap.frames },
        { "virtual_allocs", o->memory.allocs },
        { "virtual_frees", o->memory.frees },
        { "virtual_end_bytes", o->memory.committed_bytes },
    };
    fprintf(file, "{\"input\": \"%s\"", o->kind->name);
    for (size_t i = 0; i < ETL_COUNT_OF(facts); i++)
        fprintf(file, ", \"%s\": %llu", facts[i].name, (unsigned long long)facts[i].value);
    fprintf(file, "}\n");
    return fclose(file) == 0;
}

/* The bytes that a reader must go through: valid bytes of all buffers; 0 if unreadable. */
static u64 uncompressed_size(const char *path)
{
    etl_trace *trace;
    if (etl_open(path, NULL, &trace, NULL) != ETL_OK)
        return 0;
    u64 size = 0;
    for (u32 i = 0; i < etl_buffer_count(trace); i++)
        size += etl_buffer_info_of(trace, i)->valid_size;
    etl_close(trace);
    return size;
}
