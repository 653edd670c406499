/*
 * export_heaptrack.c - writes what heaptrack records of a program, for heaptrack_print and
 * heaptrack_gui: events in time order, as text.
 *
 *     v VERSION FILE_VERSION          s LENGTH TEXT         strings, from 1
 *     c MILLISECONDS                  i ADDRESS MODULE FUNCTION FILE LINE
 *     a SIZE T                        t I PARENT            stacks as nodes, from 1
 *     + A      - A                    X COMMAND
 *
 * In: lifetimes of one kind, as events. Out: lines; numbers are hexadecimal.
 *
 * Blocks of equal size and stack are one kind, A, and a free names only the kind. So readers have
 * nothing to pair, and their sums check our pairing. Processes are outermost frames. Blocks older
 * than the window are allocated as it begins. Invariant: everything is written when the first event
 * needs it, before that event.
 *
 * Kinds count from 0 in the order of their first allocations. heaptrack_gui counts allocations in
 * an array that grows by one when the next kind is first allocated: a skipped number makes it write
 * outside the array. Comparisons abort on a kind without a stack. Yet 0 is a poor number for a
 * kind: a free of kind 0 looks temporary (freed right after its allocation) whenever another free
 * precedes it, because readers also use 0 for "no allocation since the last free". So kind 0 has
 * one block, the first; other blocks of its size and stack are a second kind, the twin. If the twin
 * exists when the first block is freed, the free names the twin. At most one free in a file is
 * counted as temporary by mistake.
 * Source: data files that heaptrack 1.4 recorded; its accumulatedtracedata.cpp and gui/parser.cpp.
 */
#include "formats/parts/display.h"
#include "formats/parts/export_numbers.h"
#include "export_events.h"
#include "export_samples.h"
#include "export_writers.h"

#define FILE_VERSION "v 10400 3\n" /* heaptrack 1.4.0, version 3 of its format */
#define NS_PER_MS    1000000

/* The meaning of an instruction pointer: a frame of the table, or one that we add. */
enum { POINTER_FRAME, POINTER_PROCESS, POINTER_NO_STACK };

typedef struct heaptrack_writer {
    const etlheap_result *result;
    const etlheap_table *table; /* the walk's */
    etlheap_sink *sink;
    export_events events;
    export_numbers strings, pointers, nodes;
    export_numbers stacks; /* with their processes */
    export_numbers blocks; /* size and stack; kind 0 is not among them */
    bool has_first;        /* kind 0 is written */
    u64 first_size;
    u32 first_stack;
    u32 first_twin; /* 0: kind 0 is the only one of its size and stack */
    etlheap_text name, clean;
    i64 stamp_ms;
    export_program program;
} heaptrack_writer;

static bool write_events(heaptrack_writer *w);
static bool is_ok(const heaptrack_writer *w);
static void write_begin(heaptrack_writer *w, const export_event *event);
static void write_stamp(heaptrack_writer *w, i64 ns);
static void write_end(heaptrack_writer *w, u32 block);
static u32 block_of(heaptrack_writer *w, const export_event *event);
static u32 node_of_stack(heaptrack_writer *w, const etlheap_lifetime *lifetime);
static u32 node_of(heaptrack_writer *w, u32 pointer, u32 parent);
static u32 pointer_of(heaptrack_writer *w, u32 what, u32 index);
static void write_pointer(heaptrack_writer *w, const etlheap_frame *frame);
static u32 string_of(heaptrack_writer *w, const char *text);
static void write_command(heaptrack_writer *w);
static void write_numbers(etlheap_sink *sink, const char *mode, u64 first, u64 second);

etl_status etlheap_export_heaptrack(const etlheap_export_request *request, etlheap_sink *sink,
                                    etl_error *err)
{
    heaptrack_writer w = { .result = request->result, .sink = sink };
    etl_status status = export_events_open(request, &w.events, err);
    if (status == ETL_OK) {
        const bool ok = write_events(&w);
        status = export_events_status(&w.events, err);
        if (status == ETL_OK && !ok)
            status = etl_no_memory(err);
    }
    export_numbers_free(&w.strings);
    export_numbers_free(&w.pointers);
    export_numbers_free(&w.nodes);
    export_numbers_free(&w.stacks);
    export_numbers_free(&w.blocks);
    etlheap_text_free(&w.name);
    etlheap_text_free(&w.clean);
    export_events_close(&w.events);
    return status;
}

static bool write_events(heaptrack_writer *w)
{
    export_event event;
    w->table = etlheap_lifetimes_table(w->events.walk);
    etlheap_sink_text(w->sink, FILE_VERSION);
    while (is_ok(w) && export_events_next(&w->events, &event)) {
        if (event.ticks != INT64_MIN)
            write_stamp(w, etlheap_time_ns(w->result, event.ticks));
        if (event.is_end)
            write_end(w, event.item);
        else
            write_begin(w, &event);
    }
    write_stamp(w, w->table->to_ns);
    write_command(w);
    return is_ok(w) || !etlheap_sink_ok(w->sink);
}

static bool is_ok(const heaptrack_writer *w)
{
    return !w->strings.failed && !w->pointers.failed && !w->nodes.failed && !w->stacks.failed &&
           !w->blocks.failed && !w->name.failed && !w->clean.failed && etlheap_sink_ok(w->sink);
}

static void write_begin(heaptrack_writer *w, const export_event *event)
{
    const u32 block = block_of(w, event);
    export_program_meet(&w->program, event->lifetime.process);
    etlheap_sink_text(w->sink, "+ ");
    etlheap_sink_hex(w->sink, block, 1);
    etlheap_sink_text(w->sink, "\n");
    export_events_expect(&w->events, &event->lifetime, block);
}

static void write_end(heaptrack_writer *w, u32 block)
{
    etlheap_sink_text(w->sink, "- ");
    etlheap_sink_hex(w->sink, block != 0 ? block : w->first_twin, 1);
    etlheap_sink_text(w->sink, "\n");
}

/* Writes the time since the window began, whenever a millisecond is over. */
static void write_stamp(heaptrack_writer *w, i64 ns)
{
    const i64 from_ns = w->table->from_ns;
    const i64 ms = ns > from_ns ? (i64)(((u64)ns - (u64)from_ns) / NS_PER_MS) : 0;
    if (ms <= w->stamp_ms)
        return;
    w->stamp_ms = ms;
    etlheap_sink_text(w->sink, "c ");
    etlheap_sink_hex(w->sink, (u64)ms, 1);
    etlheap_sink_text(w->sink, "\n");
}

static u32 block_of(heaptrack_writer *w, const export_event *event)
{
    const etlheap_lifetime *const lifetime = &event->lifetime;
    const u64 size = (u64)event->size_bytes;
    u32 stack, number;
    (void)export_number_of_pair(&w->stacks, lifetime->process.v, lifetime->stack, &stack);
    if (!w->has_first) {
        w->has_first = true;
        w->first_size = size;
        w->first_stack = stack;
        write_numbers(w->sink, "a ", size, node_of_stack(w, lifetime));
        return 0;
    }
    if (export_number_of_pair(&w->blocks, size, stack, &number)) {
        write_numbers(w->sink, "a ", size, node_of_stack(w, lifetime));
        if (size == w->first_size && stack == w->first_stack)
            w->first_twin = number + 1;
    }
    return number + 1;
}

/* The node of a stack, made from the outermost frame inwards. */
static u32 node_of_stack(heaptrack_writer *w, const etlheap_lifetime *lifetime)
{
    const etlheap_row row = { .stack = lifetime->stack };
    const etlheap_indices frames = etlheap_row_frames(w->table, &row);
    u32 node = node_of(w, pointer_of(w, POINTER_PROCESS, lifetime->process.v), 0);
    for (u32 i = frames.count; i > 0; i--)
        node = node_of(w, pointer_of(w, POINTER_FRAME, frames.at[i - 1]), node);
    return frames.count > 0 ? node : node_of(w, pointer_of(w, POINTER_NO_STACK, 0), node);
}

static u32 node_of(heaptrack_writer *w, u32 pointer, u32 parent)
{
    u32 number;
    if (export_number_of_pair(&w->nodes, pointer, parent, &number))
        write_numbers(w->sink, "t ", pointer, parent);
    return number + 1;
}

static u32 pointer_of(heaptrack_writer *w, u32 what, u32 index)
{
    etlheap_frame frame = { .symbol = EXPORT_NO_STACK };
    etlheap_text process = { 0 };
    u32 number;
    if (!export_number_of_pair(&w->pointers, what, index, &number))
        return number + 1;
    if (what == POINTER_PROCESS) {
        export_process_text(w->result, (etlheap_process){ index }, &process);
        frame.symbol = etlheap_text_of(&process);
    }
    write_pointer(w, what == POINTER_FRAME ? &w->table->frames[index] : &frame);
    w->name.failed |= process.failed;
    etlheap_text_free(&process);
    return number + 1;
}

/* Writes an instruction pointer. A function without a name is called by its place: readers would
 * show the address, which says nothing without the list of modules. */
static void write_pointer(heaptrack_writer *w, const etlheap_frame *frame)
{
    etlheap_text_clear(&w->name);
    if (frame->symbol)
        etlheap_text_add_string(&w->name, frame->symbol);
    else
        etlheap_text_add_frame(&w->name, frame);
    const u32 module = frame->module ? string_of(w, frame->module) : 0;
    const u32 function = string_of(w, etlheap_text_of(&w->name));
    const u32 file = frame->file ? string_of(w, frame->file) : 0;
    const u32 numbers[] = { module, function, file, frame->line };
    etlheap_sink_text(w->sink, "i ");
    etlheap_sink_hex(w->sink, frame->address != ETLHEAP_NO_ADDRESS ? frame->address : 0, 1);
    for (size_t i = 0; i < ETL_COUNT_OF(numbers); i++) {
        etlheap_sink_text(w->sink, " ");
        etlheap_sink_hex(w->sink, numbers[i], 1);
    }
    etlheap_sink_text(w->sink, "\n");
}

/* Numbers a string. It is the rest of its line, so line ends in it are replaced. */
static u32 string_of(heaptrack_writer *w, const char *text)
{
    u32 number;
    etlheap_text_clear(&w->clean);
    etlheap_display_add(&w->clean, text);
    const etl_bytes clean = { (const u8 *)etlheap_text_of(&w->clean), w->clean.size };
    if (export_number_of(&w->strings, clean, &number)) {
        etlheap_sink_text(w->sink, "s ");
        etlheap_sink_hex(w->sink, clean.size, 1);
        etlheap_sink_text(w->sink, " ");
        etlheap_sink_write(w->sink, clean.at, clean.size);
        etlheap_sink_text(w->sink, "\n");
    }
    return number + 1;
}

/* Writes the command, which is known only after all events; readers accept the line anywhere. */
static void write_command(heaptrack_writer *w)
{
    etlheap_text_clear(&w->name);
    etlheap_text_clear(&w->clean);
    export_program_text(w->result, &w->program, &w->name);
    etlheap_display_add(&w->clean, etlheap_text_of(&w->name));
    etlheap_sink_text(w->sink, "X ");
    etlheap_sink_write(w->sink, etlheap_text_of(&w->clean), w->clean.size);
    etlheap_sink_text(w->sink, "\n");
}

static void write_numbers(etlheap_sink *sink, const char *mode, u64 first, u64 second)
{
    etlheap_sink_text(sink, mode);
    etlheap_sink_hex(sink, first, 1);
    etlheap_sink_text(sink, " ");
    etlheap_sink_hex(sink, second, 1);
    etlheap_sink_text(sink, "\n");
}
