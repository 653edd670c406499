/*
 * export_dhat.c - writes a file for the viewer of DHAT, valgrind's heap profiler.
 *
 * In: lifetimes of one kind, as events in order (export_events.h). Out: a JSON file with a row for
 * each program point.
 *
 * A program point is a stack of a process, its frames from the innermost one and the process behind
 * them: what it allocated, how long that lived, its own maximum, its part in the maximum of all
 * points together (t-gmax), and what is left at the end. A file has one kind, because all of its
 * points are added up. Times are microseconds since the window began. Older blocks count as
 * allocated then; blocks without an end in the window live up to its end.
 *
 * A maximum counts what is there when a tick is over. Copying every point's bytes at each new
 * maximum would be too slow. But a point's part in the last maximum stays right until the point
 * changes, so it is copied just then:
 *
 *     maxima have numbers; a point remembers the number of the one that its part belongs to
 *
 * Invariant: a point's part must be copied before its bytes change (change).
 * Source: valgrind's dh_main.c (comments on the file format, version 2), dh_view.js.
 */
#include "formats/json/json.h"
#include "formats/parts/export_numbers.h"
#include "export_events.h"
#include "export_samples.h"
#include "export_writers.h"

#include <stdlib.h>

#define NS_PER_UNIT       1000
#define SHORT_LIVED_UNITS 10 /* the viewer can sort by what lives no longer than that */
#define POINTS_FIRST      256u
#define ROOT_FRAMES       2u /* "[root]", which the viewer wants first, and no stack */

typedef struct dhat_amount {
    i64 bytes, blocks;
} dhat_amount;

typedef struct dhat_point {
    dhat_amount total, now, highest, at_peak;
    i64 lifetime_ns;
    i64 changed_ticks;
    u64 peak; /* at_peak is of this one */
} dhat_point;

typedef struct dhat_writer {
    const etlheap_result *result;
    const etlheap_table *table; /* the walk's */
    export_events events;
    export_numbers places; /* process and stack of each point */
    export_numbers processes;
    export_program program;
    dhat_point *points;
    u32 capacity;
    dhat_amount now, highest;
    i64 now_ticks, peak_ticks;
    u64 peak; /* the number of the last one */
    bool failed;
} dhat_writer;

static etl_status count_all(dhat_writer *w, etl_error *err);
static void count_begin(dhat_writer *w, const export_event *event);
static u32 point_of(dhat_writer *w, const etlheap_lifetime *lifetime);
static i64 length_of(const etlheap_table *window, const export_event *event);
static void change(dhat_writer *w, dhat_point *point, i64 ticks, i64 bytes, i64 blocks);
static void raise(dhat_amount now, dhat_amount *highest);
static void end_tick(dhat_writer *w);
static void write_document(dhat_writer *w, etlheap_text *scratch, etlheap_sink *sink);
static i64 units_since_begin(const dhat_writer *w, i64 ns);
static void write_program(etlheap_json *json, const dhat_writer *w, etlheap_text *scratch);
static void write_point(etlheap_json *json, dhat_writer *w, u32 number);
static void write_amount(etlheap_json *json, const char *bytes_key, const char *blocks_key,
                         dhat_amount amount);
static void write_frames(etlheap_json *json, const dhat_writer *w, etlheap_text *scratch);
static void place_of(const dhat_writer *w, u32 number, u64 place[2]);

etl_status etlheap_export_dhat(const etlheap_export_request *request, etlheap_sink *sink,
                               etl_error *err)
{
    dhat_writer w = { .result = request->result, .now_ticks = INT64_MIN };
    etlheap_text scratch = { 0 };
    etl_status status = export_events_open(request, &w.events, err);
    if (status == ETL_OK)
        status = count_all(&w, err);
    if (status == ETL_OK && !w.failed)
        write_document(&w, &scratch, sink);
    if (status == ETL_OK && (w.failed || w.processes.failed || scratch.failed))
        status = etl_no_memory(err);
    etlheap_text_free(&scratch);
    export_numbers_free(&w.places);
    export_numbers_free(&w.processes);
    free(w.points);
    export_events_close(&w.events);
    return status;
}

static etl_status count_all(dhat_writer *w, etl_error *err)
{
    export_event event;
    w->table = etlheap_lifetimes_table(w->events.walk);
    while (!w->failed && export_events_next(&w->events, &event)) {
        if (event.is_end)
            change(w, &w->points[event.item], event.ticks, -event.size_bytes, -1);
        else
            count_begin(w, &event);
    }
    end_tick(w);
    return export_events_status(&w->events, err);
}

static void count_begin(dhat_writer *w, const export_event *event)
{
    const u32 number = point_of(w, &event->lifetime);
    export_program_meet(&w->program, event->lifetime.process);
    if (w->failed)
        return;
    dhat_point *const point = &w->points[number];
    change(w, point, event->ticks, event->size_bytes, 1);
    point->total.bytes = etl_sat_add_i64(point->total.bytes, event->size_bytes);
    point->total.blocks++;
    point->lifetime_ns = etl_sat_add_i64(point->lifetime_ns, length_of(w->table, event));
    export_events_expect(&w->events, &event->lifetime, number);
}

static u32 point_of(dhat_writer *w, const etlheap_lifetime *lifetime)
{
    const etlheap_row row = { .stack = lifetime->stack };
    /* A row without frames has no stack: the viewer wants each point only once. */
    const bool has_stack = etlheap_row_frames(w->table, &row).count > 0;
    u32 number;
    if (export_number_of_pair(&w->places, lifetime->process.v,
                              has_stack ? lifetime->stack : ETLHEAP_NO_INDEX, &number) &&
        number >= w->capacity) {
        const size_t capacity = w->capacity == 0 ? POINTS_FIRST : (size_t)w->capacity * 2;
        dhat_point *const points = realloc(w->points, capacity * sizeof *points);
        w->failed = points == NULL || capacity > UINT32_MAX;
        if (points) {
            w->points = points;
            memset(points + w->capacity, 0, (capacity - w->capacity) * sizeof *points);
            w->capacity = (u32)capacity;
        }
    }
    w->failed |= w->places.failed;
    return number;
}

/* The part of the block's life inside the window. */
static i64 length_of(const etlheap_table *window, const export_event *event)
{
    const etlheap_lifetime *const lifetime = &event->lifetime;
    const i64 begin_ns = event->ticks == INT64_MIN ? window->from_ns : lifetime->alloc_ns;
    const i64 end_ns = lifetime->free_ns < window->to_ns ? lifetime->free_ns : window->to_ns;
    return etl_span_i64(begin_ns, end_ns);
}

/* Changes a point. Its bytes before the change belong to its own maximum if the tick is another
 * one, and to the last maximum of all points if it has no part of that yet. */
static void change(dhat_writer *w, dhat_point *point, i64 ticks, i64 bytes, i64 blocks)
{
    if (ticks != w->now_ticks)
        end_tick(w);
    w->now_ticks = ticks;
    if (ticks != point->changed_ticks)
        raise(point->now, &point->highest);
    point->changed_ticks = ticks;
    if (point->peak != w->peak) {
        point->at_peak = point->now;
        point->peak = w->peak;
    }
    point->now.bytes = etl_sat_add_i64(point->now.bytes, bytes);
    point->now.blocks += blocks;
    w->now.bytes = etl_sat_add_i64(w->now.bytes, bytes);
    w->now.blocks += blocks;
}

static void raise(dhat_amount now, dhat_amount *highest)
{
    if (now.bytes > highest->bytes)
        *highest = now;
}

static void end_tick(dhat_writer *w)
{
    if (w->now.bytes <= w->highest.bytes)
        return;
    w->highest = w->now;
    w->peak_ticks = w->now_ticks;
    w->peak++;
}

static void write_document(dhat_writer *w, etlheap_text *scratch, etlheap_sink *sink)
{
    etlheap_json json = etlheap_json_begin(sink, 2);
    const bool is_heap = w->events.kind == ETLHEAP_KIND_HEAP;
    const i64 peak_ns = w->peak == 0 || w->peak_ticks == INT64_MIN
                            ? w->table->from_ns
                            : etlheap_time_ns(w->result, w->peak_ticks);
    etlheap_json_object(&json, NULL);
    etlheap_json_u64(&json, "dhatFileVersion", 2);
    etlheap_json_string(&json, "mode", etlheap_kind_name(w->events.kind));
    etlheap_json_string(&json, "verb", is_heap ? "Allocated" : "Committed");
    etlheap_json_bool(&json, "bklt", true);
    etlheap_json_bool(&json, "bkacc", false);
    etlheap_json_string(&json, "tu", "\xC2\xB5s");
    etlheap_json_string(&json, "Mtu", "s");
    etlheap_json_u64(&json, "tuth", SHORT_LIVED_UNITS);
    write_program(&json, w, scratch);
    etlheap_json_i64(&json, "tg", units_since_begin(w, peak_ns));
    etlheap_json_i64(&json, "te", units_since_begin(w, w->table->to_ns));
    etlheap_json_array(&json, "pps");
    for (u32 i = 0; i < w->places.count && etlheap_sink_ok(sink); i++)
        write_point(&json, w, i);
    etlheap_json_array_close(&json);
    write_frames(&json, w, scratch);
    etlheap_json_object_close(&json);
    etlheap_json_end(&json);
}

static i64 units_since_begin(const dhat_writer *w, i64 ns)
{
    const i64 from_ns = w->table->from_ns;
    return ns > from_ns ? (i64)(((u64)ns - (u64)from_ns) / NS_PER_UNIT) : 0;
}

static void write_program(etlheap_json *json, const dhat_writer *w, etlheap_text *scratch)
{
    const bool is_one = w->program.process.v != 0 && !w->program.is_several;
    etlheap_text_clear(scratch);
    export_program_text(w->result, &w->program, scratch);
    etlheap_json_string(json, "cmd", etlheap_text_of(scratch));
    etlheap_json_u64(json, "pid",
                     is_one ? etlheap_process_of(w->result, w->program.process)->pid : 0);
}

/* Writes a point. Processes are numbered meanwhile: their frames follow those of stacks. */
static void write_point(etlheap_json *json, dhat_writer *w, u32 number)
{
    dhat_point *const point = &w->points[number];
    u64 place[2];
    u32 process;
    place_of(w, number, place);
    (void)export_number_of_pair(&w->processes, place[0], 0, &process);
    raise(point->now, &point->highest);
    etlheap_json_object(json, NULL);
    write_amount(json, "tb", "tbk", point->total);
    etlheap_json_i64(json, "tl", point->lifetime_ns / NS_PER_UNIT);
    write_amount(json, "mb", "mbk", point->highest);
    write_amount(json, "gb", "gbk", point->peak == w->peak ? point->at_peak : point->now);
    write_amount(json, "eb", "ebk", point->now);
    etlheap_json_array(json, "fs");
    const etlheap_row row = { .stack = (u32)place[1] };
    const etlheap_indices frames = etlheap_row_frames(w->table, &row);
    for (u32 i = 0; i < frames.count; i++)
        etlheap_json_u64(json, NULL, (u64)frames.at[i] + ROOT_FRAMES);
    if (frames.count == 0)
        etlheap_json_u64(json, NULL, ROOT_FRAMES - 1);
    etlheap_json_u64(json, NULL, (u64)w->table->frame_count + ROOT_FRAMES + process);
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
}

static void write_amount(etlheap_json *json, const char *bytes_key, const char *blocks_key,
                         dhat_amount amount)
{
    etlheap_json_i64(json, bytes_key, amount.bytes);
    etlheap_json_i64(json, blocks_key, amount.blocks);
}

static void write_frames(etlheap_json *json, const dhat_writer *w, etlheap_text *scratch)
{
    etlheap_json_array(json, "ftbl");
    etlheap_json_string(json, NULL, "[root]");
    etlheap_json_string(json, NULL, EXPORT_NO_STACK);
    for (u32 i = 0; i < w->table->frame_count; i++) {
        etlheap_text_clear(scratch);
        etlheap_text_add_frame(scratch, &w->table->frames[i]);
        etlheap_text_add_source(scratch, &w->table->frames[i]);
        etlheap_json_string(json, NULL, etlheap_text_of(scratch));
    }
    for (u32 i = 0; i < w->processes.count; i++) {
        u64 pair[2];
        memcpy(pair, export_number_key(&w->processes, i).at, sizeof pair);
        etlheap_text_clear(scratch);
        export_process_text(w->result, (etlheap_process){ (u32)pair[0] }, scratch);
        etlheap_json_string(json, NULL, etlheap_text_of(scratch));
    }
    etlheap_json_array_close(json);
}

/* The process and stack of a point. */
static void place_of(const dhat_writer *w, u32 number, u64 place[2])
{
    memcpy(place, export_number_key(&w->places, number).at, 2 * sizeof *place);
}
