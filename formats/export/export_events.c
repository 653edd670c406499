/*
 * export_events.c - turns lifetimes, which come by time of allocation, into events in order of
 * time.
 *
 * In: lifetimes of one kind. Out: calls for each allocation and free, in order.
 *
 * Ends of open lifetimes wait in a heap, earliest first; before a new allocation all earlier ends
 * are handed out. Invariant: memory is what is open at one time, not the number of lifetimes.
 */
#include "export_events.h"

#include "formats/io/text_buffer.h"
#include "export_rows.h"

#include <stdlib.h>

#define CAPACITY_FIRST 64u

/* The selected kind, or the first one that the trace has. */
static etl_status choose_kind(const etlheap_export_request *request, etlheap_kind *out,
                              etl_error *err);
static void look_ahead(export_events *events);
static export_event beginning(const etlheap_lifetime *lifetime);
static i64 size_of(const etlheap_lifetime *lifetime);
static bool is_old(const etlheap_lifetime *lifetime);
static bool has_end(const etlheap_lifetime *lifetime);
static void hold(export_events *events);
static void pop_end(export_events *events, export_event *out);
static void *grown(void *items, size_t *capacity, size_t item_size);

etl_status export_events_open(const etlheap_export_request *request, export_events *events,
                              etl_error *err)
{
    etlheap_export_request one = *request;
    *events = (export_events){ .now_ticks = INT64_MIN,
                               .memory_bytes_max = request->memory_bytes_max,
                               .query = *request->query };
    etl_status status = choose_kind(request, &events->kind, err);
    if (status != ETL_OK)
        return status;
    events->query.kinds = 1u << events->kind;
    one.query = &events->query;
    status = export_walk_open(&one, &events->walk, err);
    if (status == ETL_OK)
        look_ahead(events);
    return status;
}

/* Hands out the next event. The conditions are in the order of events within a tick. */
bool export_events_next(export_events *events, export_event *out)
{
    while (events->status == ETL_OK) {
        const bool is_later = !events->has_ahead || is_old(&events->ahead) ||
                              events->ahead.alloc_ticks > events->now_ticks;
        if (events->end_count > 0 && events->ends[0].ticks <= events->now_ticks) {
            pop_end(events, out);
            return true;
        }
        if (events->held_count > 0 && is_later) {
            *out = beginning(&events->held[events->held_first++]);
            if (events->held_first == events->held_count)
                events->held_first = events->held_count = 0;
            return true;
        }
        if (!events->has_ahead && events->end_count == 0)
            return false;
        if (!events->has_ahead) {
            events->now_ticks = INT64_MAX;
        } else if (is_old(&events->ahead) ||
                   (!is_later && events->ahead.free_ticks == events->ahead.alloc_ticks)) {
            *out = beginning(&events->ahead);
            look_ahead(events);
            return true;
        } else if (is_later) {
            events->now_ticks = events->ahead.alloc_ticks;
        } else {
            hold(events);
        }
    }
    return false;
}

void export_events_expect(export_events *events, const etlheap_lifetime *lifetime, u32 item)
{
    if (!has_end(lifetime))
        return;
    if (events->end_count == events->end_capacity) {
        export_open_end *const ends =
            grown(events->ends, &events->end_capacity, sizeof *events->ends);
        if (!ends) {
            events->status = ETL_ERR_MEMORY;
            return;
        }
        events->ends = ends;
    }
    if (events->memory_bytes_max != 0 &&
        events->end_count > events->memory_bytes_max / sizeof *events->ends) {
        events->status = ETL_ERR_LIMIT;
        return;
    }
    export_open_end *const heap = events->ends;
    const i64 ticks = lifetime->free_ticks;
    size_t at = events->end_count++;
    for (; at > 0 && heap[(at - 1) / 2].ticks > ticks; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = (export_open_end){ ticks, size_of(lifetime), item };
}

etl_status export_events_status(const export_events *events, etl_error *err)
{
    if (events->status == ETL_ERR_LIMIT)
        return etl_fail_hint(err, ETL_ERR_LIMIT, ETL_HINT_MORE_MEMORY,
                             "the ends of all blocks that are outstanding at one time need more "
                             "memory than allowed");
    if (events->status != ETL_OK)
        return etl_fail_with(err, events->status, 0, "out of memory");
    return etlheap_lifetimes_status(events->walk, err);
}

void export_events_close(export_events *events)
{
    etlheap_lifetimes_close(events->walk);
    free(events->ends);
    free(events->held);
    *events = (export_events){ 0 };
}

void export_process_text(const etlheap_result *result, etlheap_process id, etlheap_text *text)
{
    const etlheap_process_info *const process = etlheap_process_of(result, id);
    const etlheap_row row = { .process = process->name, .pid = process->pid };
    etlheap_text_add_key(text, NULL, &row, ETLHEAP_KEY_PROCESS);
}

void export_program_text(const etlheap_result *result, const export_program *program,
                         etlheap_text *text)
{
    if (program->process.v == 0 || program->is_several) {
        etlheap_text_add_string(text, program->is_several ? "several programs" : "no program");
        return;
    }
    const etlheap_process_info *const info = etlheap_process_of(result, program->process);
    etlheap_text_add_string(text, info->command_line[0] != '\0' ? info->command_line : info->name);
}

static etl_status choose_kind(const etlheap_export_request *request, etlheap_kind *out,
                              etl_error *err)
{
    const u32 present = etlheap_result_kinds(request->result) & ETLHEAP_KINDS_DEFAULT;
    const u32 kinds = request->query->kinds;
    if (kinds != 0 && (kinds & (kinds - 1)) != 0)
        return etl_fail_hint(err, ETL_ERR_ARGUMENT, ETL_HINT_ONE_KIND,
                             "this format adds up all rows, and kinds of memory must not be added "
                             "together; choose one kind");
    const u32 choice = kinds != 0 ? kinds : present;
    *out = choice == 0 ? ETLHEAP_KIND_HEAP : (etlheap_kind)__builtin_ctz(choice);
    return ETL_OK;
}

static export_event beginning(const etlheap_lifetime *lifetime)
{
    return (export_event){ .ticks = is_old(lifetime) ? INT64_MIN : lifetime->alloc_ticks,
                           .size_bytes = size_of(lifetime),
                           .lifetime = *lifetime };
}

static i64 size_of(const etlheap_lifetime *lifetime)
{
    return (i64)etl_min_u64(lifetime->size_bytes, INT64_MAX);
}

/* Was it allocated before the window, at a time that is unknown or not shown? */
static bool is_old(const etlheap_lifetime *lifetime)
{
    return lifetime->type == ETLHEAP_TYPE_AOFI || lifetime->type == ETLHEAP_TYPE_AOFO;
}

static bool has_end(const etlheap_lifetime *lifetime)
{
    return lifetime->type == ETLHEAP_TYPE_AIFI || lifetime->type == ETLHEAP_TYPE_AOFI;
}

static void look_ahead(export_events *events)
{
    events->has_ahead = etlheap_lifetimes_next(events->walk, &events->ahead);
}

/* Holds back the next row, which must wait for others of its tick. */
static void hold(export_events *events)
{
    if (events->held_count == events->held_capacity) {
        etlheap_lifetime *const held =
            grown(events->held, &events->held_capacity, sizeof *events->held);
        if (!held) {
            events->status = ETL_ERR_MEMORY;
            return;
        }
        events->held = held;
    }
    events->held[events->held_count++] = events->ahead;
    look_ahead(events);
}

static void pop_end(export_events *events, export_event *out)
{
    export_open_end *const heap = events->ends;
    const size_t count = --events->end_count;
    const export_open_end last = heap[count];
    *out = (export_event){ .is_end = true,
                           .ticks = heap[0].ticks,
                           .size_bytes = heap[0].size_bytes,
                           .item = heap[0].item };
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1].ticks < heap[child].ticks)
            child++;
        if (heap[child].ticks >= last.ticks)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
}

/* Doubles the room; NULL without memory, and the items stay where they are. */
static void *grown(void *items, size_t *capacity, size_t item_size)
{
    const size_t more = *capacity == 0 ? CAPACITY_FIRST : *capacity * 2;
    void *const larger = more > SIZE_MAX / item_size ? NULL : realloc(items, more * item_size);
    if (larger)
        *capacity = more;
    return larger;
}
