/*
 * recorder.c - the sessions that record what happens, and their files; recorder.h says what for.
 *
 * In: events in their true order, and the pieces that sessions write. Out: the bytes of the files.
 *
 * Each event is given to the session that records its kind, if that one runs, with the time of the
 * session's clock. Builders get them in the true order (ETL_BUILD_AS_CALLED): a clock that was set
 * back does not sort them. A merge writes what the files have into a new one, and so needs to know
 * first what they have.
 */
#include "recorder.h"

#include "tests/build/scenario_handle.h"
#include "tests/build/scenario_mapped.h"
#include "tests/build/scenario_pool.h"

#include <stdio.h>
#include <stdlib.h>

#define BUFFER_BYTES   4096u
#define TICK_NS        100
#define SECOND_NS      INT64_C(1000000000)
#define START_TIME     INT64_C(132400000000000000) /* wall time when the world begins */
#define ORIGIN_TICKS   1000000                     /* of clocks that count since boot */
#define MODE_BUFFERING 0x400u
#define MODE_CIRCULAR  0x2u
#define MODE_APPEND    0x4u
#define MODE_NEWFILE   0x8u
#define MODE_MERGED    0x10001u

/* --- clocks ---------------------------------------------------------------------------- */

typedef struct clock_kind {
    u32 kind;
    u64 hz;
    i64 origin_ticks;
} clock_kind;

static clock_kind clock_of(const recorder *r, const recorder_piece *piece)
{
    const recorder_setup *const s = &r->setup;
    if (s->mixes_clocks && !piece->is_heap)
        return (clock_kind){ 1, 10000000, ORIGIN_TICKS };
    return (clock_kind){ s->clock, s->clock_hz, s->clock == 2 ? START_TIME : ORIGIN_TICKS };
}

/* The time that a clock shows, since the world began. */
static i64 shown_ns(const recorder *r, const clock_kind *clock, i64 ns)
{
    const recorder_setup *const s = &r->setup;
    i64 shown = ns;
    if (ns > s->length_ns / 3)
        shown += s->sleep_ns;
    if (ns > s->length_ns / 2 && clock->kind == 2)
        shown += s->clock_shift_ns;
    if (s->clock_step_ns > 0 && clock->kind == 2)
        shown = shown / s->clock_step_ns * s->clock_step_ns;
    return shown;
}

static i64 clock_ticks(const recorder *r, const recorder_piece *piece, i64 ns)
{
    const clock_kind clock = clock_of(r, piece);
    const i64 shown = shown_ns(r, &clock, ns);
    const i64 hz = (i64)clock.hz;
    return clock.origin_ticks + shown / SECOND_NS * hz + shown % SECOND_NS * hz / SECOND_NS;
}

/* --- files ----------------------------------------------------------------------------- */

static u32 mode_of(const recorder *r, const recorder_piece *piece)
{
    static const u32 modes[] = {
        [RECORDER_RING] = MODE_CIRCULAR,
        [RECORDER_BUFFERING] = MODE_BUFFERING,
        [RECORDER_APPEND] = MODE_APPEND | 1u,
        [RECORDER_NEWFILE] = MODE_NEWFILE | 1u,
        [RECORDER_FILE] = 1u,
    };
    return piece->is_heap ? modes[r->setup.mode] : modes[RECORDER_FILE];
}

/* What a piece's session is like, if it is not the last word of its file. */
static etl_build_options options_of(const recorder *r, const recorder_piece *piece)
{
    const recorder_setup *const s = &r->setup;
    const clock_kind clock = clock_of(r, piece);
    const i64 set_ns = piece->is_kernel ? 0 : s->wall_shift_ns;
    return (etl_build_options){
        .cpus = s->cpus,
        .buffer_bytes = BUFFER_BYTES,
        .clock = clock.kind,
        .clock_hz = clock.hz,
        .start_ticks = clock_ticks(r, piece, piece->start_ns),
        .start_filetime = START_TIME + (shown_ns(r, &clock, piece->start_ns) + set_ns) / TICK_NS,
        .log_file_mode = mode_of(r, piece),
        .ring_buffers = piece->is_ring ? s->ring_buffers : 0,
        .flush_interval_ticks = s->flush_ns / 1000 * (i64)(clock.hz / 1000000),
        .events_lost = piece->lost_events,
        .order = ETL_BUILD_AS_CALLED,
        .session_name = piece->is_heap ? "Heap Session" : "NT Kernel Logger",
    };
}

static void write_stack(etl_build *b, etl_build_at at, u32 site)
{
    const u64 frames[] = { recorder_site_address(site), recorder_image(0) + 0x900 };
    if (site != RECORDER_NO_STACK)
        etl_build_stack_inline(b, at, at.ticks, frames, ETL_COUNT_OF(frames));
}

static void write_program(etl_build *b, etl_build_at at, const recorder_event *event)
{
    static const u8 types[RECORDER_OPS] = {
        [RECORDER_START] = ETL_BUILD_START,        [RECORDER_RUNNING] = ETL_BUILD_DCSTART,
        [RECORDER_STILL] = ETL_BUILD_DCEND,        [RECORDER_EXIT] = ETL_BUILD_END,
        [RECORDER_LOAD] = ETL_BUILD_START,         [RECORDER_LOADED] = ETL_BUILD_DCSTART,
        [RECORDER_STILL_LOADED] = ETL_BUILD_DCEND,
    };
    const u32 image = event->address == recorder_image(0) ? 0 : 1;
    const char *const name = recorder_image_name(event->program, image);
    char path[64];
    snprintf(path, sizeof path, "\\Device\\HarddiskVolume3\\%s", name);
    if (event->op >= RECORDER_LOAD)
        etl_build_image(b, at, types[event->op],
                        &(etl_build_image_spec){
                            .pid = at.pid, .base = event->address, .size = 0x10000, .path = path });
    else
        etl_build_process(b, at, types[event->op],
                          &(etl_build_process_spec){
                              .pid = at.pid, .name = recorder_image_name(event->program, 0) });
}

static const u8 object_hooks[RECORDER_OPS] = {
    [RECORDER_POOL_ALLOC] = 0x20,  [RECORDER_POOL_FREE] = 0x22,  [RECORDER_POOL_LISTED] = 0x28,
    [RECORDER_POOL_STILL] = 0x29,  [RECORDER_OPEN] = 0x20,       [RECORDER_SHUT] = 0x21,
    [RECORDER_OPEN_LISTED] = 0x26, [RECORDER_OPEN_STILL] = 0x27, [RECORDER_MAP] = 0x25,
    [RECORDER_UNMAP] = 0x26,       [RECORDER_MAPPED] = 0x27,     [RECORDER_STILL_MAPPED] = 0x28,
};

static void write_pool(etl_build *b, etl_build_at at, const recorder_event *event)
{
    pool_spec block = { .type = 512, .size = event->size, .entry = event->address };
    const u16 hook = (u16)(0x0e00 | object_hooks[event->op]);
    snprintf(block.tag, sizeof block.tag, "%s", recorder_tag(event->tag));
    if (event->op == RECORDER_POOL_ALLOC || event->op == RECORDER_POOL_FREE)
        build_pool(b, at, hook, &block, 0);
    else
        build_pool_list(b, at, hook, &block, 1, 0);
}

static void write_handle(etl_build *b, etl_build_at at, const recorder_event *event)
{
    const handle_spec handle = { .handle = (u32)event->address, .type = (u16)(event->tag + 1) };
    const u16 hook = (u16)(0x1100 | object_hooks[event->op]);
    if (event->op == RECORDER_COPY)
        build_handle_copy(b, at, &handle, recorder_pid(event->program), 0);
    else if (event->op == RECORDER_OPEN || event->op == RECORDER_SHUT)
        build_handle(b, at, hook, &handle);
    else
        build_handle_row(b, at, hook, &handle, recorder_pid(event->program));
}

static void write_view(etl_build *b, etl_build_at at, const recorder_event *event)
{
    const view_spec view = { .base = event->address,
                             .file = UINT64_C(0xffff82082c300000) + event->tag * UINT64_C(0x100),
                             .size = event->size,
                             .pid = recorder_pid(event->program) };
    build_view(b, at, (u16)(0x0400 | object_hooks[event->op]), &view);
}

static void write_event(etl_build *b, const recorder_event *event, bool with_stack)
{
    const etl_build_at at = { .ticks = event->ticks,
                              .cpu = event->cpu,
                              .pid = recorder_pid(event->actor),
                              .tid = event->tid };
    switch ((recorder_op)event->op) {
    case RECORDER_ALLOC:
        etl_build_heap_alloc(b, at, event->heap, event->address, event->size);
        break;
    case RECORDER_FREE:
        etl_build_heap_free(b, at, event->heap, event->address);
        break;
    case RECORDER_COMMIT:
        etl_build_virtual_alloc(b, at, event->address, event->size,
                                ETL_BUILD_COMMIT | ETL_BUILD_RESERVE);
        break;
    case RECORDER_RELEASE:
        etl_build_virtual_free(b, at, event->address, event->size, ETL_BUILD_RELEASE);
        break;
    case RECORDER_CREATE:
        etl_build_heap_create(b, at, event->heap);
        break;
    case RECORDER_DESTROY:
        etl_build_heap_destroy(b, at, event->heap);
        break;
    case RECORDER_POOL_ALLOC:
    case RECORDER_POOL_FREE:
    case RECORDER_POOL_LISTED:
    case RECORDER_POOL_STILL:
        write_pool(b, at, event);
        break;
    case RECORDER_OPEN:
    case RECORDER_COPY:
    case RECORDER_SHUT:
    case RECORDER_OPEN_LISTED:
    case RECORDER_OPEN_STILL:
        write_handle(b, at, event);
        break;
    case RECORDER_MAP:
    case RECORDER_UNMAP:
    case RECORDER_MAPPED:
    case RECORDER_STILL_MAPPED:
        write_view(b, at, event);
        break;
    default:
        write_program(b, at, event);
    }
    if (with_stack)
        write_stack(b, at, event->site);
}

/* --- sessions -------------------------------------------------------------------------- */

bool recorder_is_of_heap(u8 op)
{
    return op == RECORDER_ALLOC || op == RECORDER_FREE || op == RECORDER_CREATE ||
           op == RECORDER_DESTROY;
}

static u8 piece_of(const recorder *r, const recorder_event *event)
{
    const bool is_heap = recorder_is_of_heap(event->op);
    for (u32 i = 0; i < r->piece_count; i++) {
        const recorder_piece *const piece = &r->pieces[i];
        if ((is_heap ? piece->is_heap : piece->is_kernel) && event->ns >= piece->start_ns &&
            event->ns < piece->stop_ns &&
            (!is_heap || (r->setup.heap_programs >> event->program & 1) != 0))
            return (u8)i;
    }
    return RECORDER_NOWHERE;
}

/* Finds where each event goes, and loses some. */
static void place_events(recorder *r)
{
    u64 random = r->setup.seed ^ 0x7777;
    u32 lost = r->setup.lost_events;
    for (u32 i = 0; i < r->count; i++) {
        recorder_event *const event = &r->events[i];
        event->piece = piece_of(r, event);
        if (event->piece == RECORDER_NOWHERE)
            continue;
        recorder_piece *const piece = &r->pieces[event->piece];
        event->ticks = clock_ticks(r, piece, event->ns);
        event->is_recorded = !(lost > 0 && piece->is_heap && recorder_chance(&random, 5));
        if (event->is_recorded)
            continue;
        piece->lost_events++;
        lost--;
    }
}

static void fail(recorder *r, etl_build *b)
{
    if (r->error[0] == '\0')
        snprintf(r->error, sizeof r->error, "%s", etl_build_error(b));
}

static void write_piece(recorder *r, u32 index, u32 *lost, u64 *random)
{
    const recorder_piece *const piece = &r->pieces[index];
    etl_build *const b = r->files[piece->file];
    for (u32 i = 0; i < r->count; i++) {
        const recorder_event *const event = &r->events[i];
        if (!event->is_recorded || event->piece != index)
            continue;
        write_event(b, event, true);
        if (*lost > 0 && piece->is_heap && i > r->count / 3 && recorder_chance(random, 3)) {
            etl_build_lose_buffer(b, event->ticks, event->cpu);
            --*lost;
        }
    }
}

static void finish_file(recorder *r, const recorder_piece *piece, u64 *random)
{
    etl_build *const b = r->files[piece->file];
    const bool is_last = piece == &r->pieces[r->piece_count - 1];
    if (is_last && r->setup.ending == RECORDER_CUT && etl_build_buffer_count(b) > 3)
        etl_build_break(b, ETL_BREAK_FILE_CUT, 0, 1 + recorder_below(random, BUFFER_BYTES * 3 / 2));
    if (!etl_build_finish(b))
        fail(r, b);
}

/* Writes the pieces one after the other: the number of a file's first buffer follows from the file
 * before it. */
static void record(recorder *r)
{
    u64 random = r->setup.seed ^ 0x5151;
    u32 lost = r->setup.lost_buffers;
    i64 sequence = 1;
    for (u32 i = 0; i < r->piece_count; i++) {
        const recorder_piece *const piece = &r->pieces[i];
        const bool is_last = i + 1 == r->piece_count || !piece->is_heap;
        const bool begins_file = i == 0 || piece->file != piece[-1].file;
        const bool ends_file = i + 1 == r->piece_count || piece->file != piece[1].file;
        etl_build_options options = options_of(r, piece);
        options.first_sequence = piece->goes_on ? sequence : 1;
        options.unclosed = r->setup.ending != RECORDER_STOPPED && is_last &&
                           (piece->is_heap || r->setup.ending == RECORDER_GROWING);
        if (begins_file)
            r->files[piece->file] = etl_build_new(&options);
        else
            etl_build_append_session(r->files[piece->file], &options);
        write_piece(r, i, &lost, &random);
        if (!ends_file)
            continue;
        finish_file(r, piece, &random);
        sequence = options.first_sequence + etl_build_buffer_count(r->files[piece->file]) - 1;
    }
}

static bool is_given(const recorder *r, const recorder_piece *piece)
{
    switch (r->setup.given) {
    case RECORDER_KERNEL_ONLY:
        return !piece->is_heap;
    case RECORDER_HEAP_ONLY:
        return piece->is_heap;
    case RECORDER_LAST_ONLY:
        return !piece->is_heap || piece->file + 1 == r->file_count;
    default:
        return true;
    }
}

/* Takes away the files that nobody gives. */
static void choose_files(recorder *r)
{
    for (u32 i = 0; i < r->piece_count; i++) {
        recorder_piece *const piece = &r->pieces[i];
        piece->is_given = is_given(r, piece);
        if (piece->is_given)
            continue;
        etl_build_free(r->files[piece->file]);
        r->files[piece->file] = NULL;
    }
}

/* --- merges ---------------------------------------------------------------------------- */

static void merge(recorder *r)
{
    etl_build_options options = options_of(r, &r->pieces[0]);
    options.ring_buffers = 0;
    options.flush_interval_ticks = 0;
    options.compress = r->setup.merge == RECORDER_COMPRESSED;
    options.log_file_mode = options.compress ? 0 : MODE_MERGED;
    options.events_lost = 0;
    for (u32 i = 0; i < r->piece_count; i++)
        options.events_lost += r->pieces[i].lost_events;
    for (u32 i = 0; i < r->file_count; i++) {
        etl_build_free(r->files[i]);
        r->files[i] = NULL;
    }
    r->pieces[0] = (recorder_piece){ .start_ns = r->pieces[0].start_ns,
                                     .stop_ns = INT64_MAX,
                                     .is_kernel = true,
                                     .is_heap = true,
                                     .is_given = true };
    r->piece_count = r->file_count = 1;
    r->files[0] = etl_build_new(&options);
    for (u32 i = 0; i < r->count; i++) {
        recorder_event *const event = &r->events[i];
        event->is_recorded = event->is_kept;
        event->piece = 0;
        if (event->is_kept)
            write_event(r->files[0], event, event->has_stack);
        event->is_kept = event->has_stack = false;
    }
    if (!etl_build_finish(r->files[0]))
        fail(r, r->files[0]);
}

void recorder_make(recorder *out, const recorder_setup *setup)
{
    *out = (recorder){ .setup = *setup };
    out->events = calloc(RECORDER_EVENTS, sizeof *out->events);
    if (out->events == NULL)
        abort();
    recorder_live(out);
    place_events(out);
    record(out);
    choose_files(out);
    if (setup->merge != RECORDER_UNMERGED && out->error[0] == '\0') {
        recorder_find_kept(out);
        merge(out);
    }
    if (out->error[0] == '\0')
        recorder_find_kept(out);
    if (out->error[0] != '\0')
        return;
    u32 first = 0;
    while (!out->pieces[first].is_given)
        first++;
    out->zero_ticks = clock_ticks(out, &out->pieces[first], out->pieces[first].start_ns);
    recorder_find_sums(out);
    recorder_find_objects(out);
}

void recorder_free(recorder *r)
{
    for (u32 i = 0; i < r->file_count; i++)
        etl_build_free(r->files[i]);
    free(r->events);
    *r = (recorder){ .count = 0 };
}
