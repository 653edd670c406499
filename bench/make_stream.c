/*
 * make_stream.c - writes the heap trace that Windows would have recorded of a program that ran
 * under heaptrack.
 *
 *     make_stream plain|keyed|compressed FILE < RECORDING      (from heaptrack --raw)
 *
 * In: a recording with real sizes, addresses, stacks, modules and order of events (raw_stream.h).
 * Out: a trace, and FILE.json with its size. What heaptrack does not record is made up:
 *
 *     time      known every 10 ms; events between two stamps are spread evenly
 *     thread    one: the recorded programs have no other thread that allocates
 *     CPU       another one of four every 50 ms, as schedulers move a thread
 *     heap      one, created before everything else
 *
 * Paths become NT paths. Invariant: no sums are computed here; heaptrack's own programs say what
 * the trace must add up to, so that the check is independent.
 */
#include "bench.h"
#include "raw_stream.h"

#include "parser/parser.h"
#include "tests/build/etl_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define CLOCK_HZ         10000000
#define TICKS_PER_MS     (CLOCK_HZ / 1000)
#define START_TICKS      1000000
#define FIRST_TICKS      (START_TICKS + TICKS_PER_MS)
#define CPUS             4u
#define TIME_ON_CPU_MS   50
#define STACK_DELAY      5 /* ticks from an allocation to its stack */
#define EVENT_TICKS_MIN  8
#define STACK_KEY_SLOTS  262144u /* few stacks share a slot, as recording profiles ask for */
#define PID              4242u
#define TID              4244u
#define HEAP             0x1c0000u
#define FIRST_EVENT_ROOM 4096u
#define NT_PREFIX        "\\Device\\HarddiskVolume3"

typedef struct form {
    const char *name;
    bool keyed;
    bool compressed;
} form;

static const form forms[] = {
    { "plain", false, false },
    { "keyed", true, false },
    { "compressed", false, true },
};

typedef struct converter {
    const char *path;
    raw_stream *stream;
    etl_build *trace;
    bool has_begun;
    i64 ticks;         /* of the next event, unless it has to be later */
    u64 from_ms;       /* the latest stamp */
    raw_event *events; /* behind that stamp */
    u32 event_count, event_room;
} converter;

static const form *find_form(const char *name);
static bool convert(converter *c, const form *f);
static bool read_stream(converter *c);
static void keep_event(converter *c, const raw_event *event);
static void write_events(converter *c, u64 to_ms);
static void write_event(converter *c, const raw_event *event);
static void write_alloc(converter *c, const raw_event *event, etl_build_at at);
static void write_begin(converter *c, etl_build_at at);
static void write_image(converter *c, const raw_event *event, etl_build_at at);
static void nt_path(const char *path, char *text, size_t room);
static bool write_facts(const converter *c);

int main(int argc, char **argv)
{
    if (argc != 3 || find_form(argv[1]) == NULL) {
        fprintf(stderr, "usage: make_stream plain|keyed|compressed FILE < RECORDING\n");
        return 2;
    }
    converter c = { .path = argv[2],
                    .stream = raw_stream_open(stdin),
                    .ticks = FIRST_TICKS,
                    .events = bench_allocate(FIRST_EVENT_ROOM, sizeof(raw_event)),
                    .event_room = FIRST_EVENT_ROOM };
    const bool ok = convert(&c, find_form(argv[1]));
    free(c.events);
    raw_stream_close(c.stream);
    return ok ? 0 : 1;
}

static const form *find_form(const char *name)
{
    for (size_t i = 0; i < ETL_COUNT_OF(forms); i++) {
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    }
    return NULL;
}

static bool convert(converter *c, const form *f)
{
    c->trace = etl_build_new(&(etl_build_options){
        .path = c->path,
        .cpus = CPUS,
        .clock_hz = CLOCK_HZ,
        .start_ticks = START_TICKS,
        .session_name = "stream",
        .compress = f->compressed,
        .keyed_stacks = f->keyed,
        .stack_key_slots = STACK_KEY_SLOTS,
        .order = ETL_BUILD_AS_CALLED,
    });
    bool ok = read_stream(c);
    if (!etl_build_finish(c->trace)) {
        fprintf(stderr, "make_stream: %s: %s\n", c->path, etl_build_error(c->trace));
        ok = false;
    }
    ok = ok && write_facts(c);
    etl_build_free(c->trace);
    return ok;
}

static bool read_stream(converter *c)
{
    raw_event event;
    while (raw_stream_next(c->stream, &event)) {
        if (event.kind == RAW_EVENT_TIME)
            write_events(c, event.ms);
        else
            keep_event(c, &event);
    }
    write_events(c, c->from_ms + 1);
    const char *const error = raw_stream_error(c->stream);
    if (error != NULL)
        fprintf(stderr, "make_stream: %s\n", error);
    return error == NULL;
}

static void keep_event(converter *c, const raw_event *event)
{
    if (c->event_count == c->event_room) {
        raw_event *const events = bench_allocate(c->event_room * (size_t)2, sizeof *events);
        memcpy(events, c->events, c->event_room * sizeof *events);
        free(c->events);
        c->events = events;
        c->event_room *= 2;
    }
    c->events[c->event_count++] = *event;
}

/* Spreads the events since the last stamp over the time up to this one. If that time is too short,
 * the remaining events come after the stamp, and later events are delayed too. */
static void write_events(converter *c, u64 to_ms)
{
    const i64 end = FIRST_TICKS + (i64)to_ms * TICKS_PER_MS;
    const i64 room = end > c->ticks ? (end - c->ticks) / ((i64)c->event_count + 1) : 0;
    const i64 step = room > EVENT_TICKS_MIN ? room : EVENT_TICKS_MIN;
    for (u32 i = 0; i < c->event_count; i++) {
        write_event(c, &c->events[i]);
        c->ticks += step;
    }
    c->event_count = 0;
    c->from_ms = to_ms;
    if (c->ticks < end)
        c->ticks = end;
}

static void write_event(converter *c, const raw_event *event)
{
    const i64 ms = (c->ticks - START_TICKS) / TICKS_PER_MS;
    const etl_build_at at = {
        .ticks = c->ticks, .cpu = (u32)(ms / TIME_ON_CPU_MS) % CPUS, .pid = PID, .tid = TID
    };
    if (!c->has_begun)
        write_begin(c, at);
    if (event->kind == RAW_EVENT_ALLOC)
        write_alloc(c, event, at);
    else if (event->kind == RAW_EVENT_FREE)
        etl_build_heap_free(c->trace, at, HEAP, event->address);
    else
        write_image(c, event, at);
}

static void write_alloc(converter *c, const raw_event *event, etl_build_at at)
{
    u64 frames[RAW_STREAM_FRAMES_MAX];
    const u32 count = raw_stream_stack(c->stream, event->frame, frames);
    etl_build_heap_alloc(c->trace, at, HEAP, event->address, event->size);
    const etl_build_stack stack = { .user = frames,
                                    .user_count = count,
                                    .delay_ticks = STACK_DELAY };
    etl_build_stack_walk(c->trace, at, &stack);
}

/* Writes the start of the trace, which needs the name of the program, known only at the first
 * event. */
static void write_begin(converter *c, etl_build_at at)
{
    const char *const program = raw_stream_program(c->stream);
    const char *const slash = strrchr(program, '/');
    const char *const name = slash != NULL ? slash + 1 : program;
    at.ticks = START_TICKS + 10;
    etl_build_config_cpu(
        c->trace, at,
        &(etl_build_cpu_spec){ .mhz = 3000, .memory_mib = 32768, .computer_name = "STREAM" });
    etl_build_process(c->trace, at, ETL_BUILD_DCSTART,
                      &(etl_build_process_spec){
                          .pid = PID, .parent_pid = 700, .name = name, .command_line = program });
    etl_build_heap_create(c->trace, at, HEAP);
    c->has_begun = true;
}

static void write_image(converter *c, const raw_event *event, etl_build_at at)
{
    const raw_module *const module = raw_stream_module(c->stream, event->module);
    char path[1024];
    nt_path(module->path, path, sizeof path);
    const etl_build_image_spec image = { .pid = PID,
                                         .base = module->base,
                                         .size = module->size,
                                         .checksum = 0x1000 + event->module,
                                         .time_date_stamp = 0x5f000000 + event->module,
                                         .path = path };
    etl_build_image(c->trace, at, event->kind == RAW_EVENT_LOAD ? ETL_BUILD_START : ETL_BUILD_END,
                    &image);
}

static void nt_path(const char *path, char *text, size_t room)
{
    snprintf(text, room, "%s%s%s", NT_PREFIX, path[0] == '/' ? "" : "\\", path);
    for (char *p = text; *p != '\0'; p++) {
        if (*p == '/')
            *p = '\\';
    }
}

static bool write_facts(const converter *c)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.json", c->path);
    struct stat written;
    etl_trace *trace;
    if (stat(c->path, &written) != 0 || etl_open(c->path, NULL, &trace, NULL) != ETL_OK) {
        fprintf(stderr, "make_stream: %s cannot be read again\n", c->path);
        return false;
    }
    u64 uncompressed = 0;
    for (u32 i = 0; i < etl_buffer_count(trace); i++)
        uncompressed += etl_buffer_info_of(trace, i)->valid_size;
    etl_close(trace);
    FILE *const file = fopen(path, "w");
    if (file == NULL) {
        fprintf(stderr, "make_stream: cannot create %s\n", path);
        return false;
    }
    fprintf(file, "{\"bytes\": %llu, \"bytes_uncompressed\": %llu, \"records\": %llu}\n",
            (unsigned long long)written.st_size, (unsigned long long)uncompressed,
            (unsigned long long)etl_build_record_count(c->trace));
    return fclose(file) == 0;
}
