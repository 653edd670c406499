/*
 * perfetto_packets.c - writes packets of a Perfetto trace: clocks, tracks, counters and marks.
 *
 * In: times, names and values. Out: packets. Invariant: a track is written before its first event,
 * and once. Its number follows from its process and what it shows, so the same trace gives the same
 * bytes.
 */
#include "perfetto_packets.h"

#include "formats/parts/display.h"

#define TRACE_PACKET  1
#define FLAG_CLEARED  1u /* the sequence begins anew */
#define FLAG_NEEDS    2u /* refers to interned data */
#define UNIT_BYTES    3u
#define TRACK_BITS    8
#define UNIX_EPOCH    INT64_C(116444736000000000) /* as a FILETIME */
#define FILETIME_NS   100
#define EVENT_INSTANT 3u
#define EVENT_COUNTER 4u

enum { CLOCKS_CLOCK = 1, CLOCKS_PRIMARY };
enum { CLOCK_ID = 1, CLOCK_TIME };
enum { CLOCK_REALTIME = 1, CLOCK_MONOTONIC = 3, CLOCK_MONOTONIC_COARSE = 4, CLOCK_BOOTTIME = 6 };
enum { TRACK_ID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { COUNTER_UNIT = 3 };
enum { EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_NAME = 23, EVENT_VALUE = 30 };

static void put_clock(perfetto_packets *packets, u32 clock, u64 time_ns);
static void put_track(perfetto_packets *packets);
static u64 track_id(const u32 *pid, perfetto_track track);
static bool is_new(perfetto_packets *packets, u64 track);
static void begin_event(perfetto_packets *packets, i64 time_ns, u64 type, u64 track);
static void end_event(perfetto_packets *packets);

void perfetto_begin(perfetto_packets *packets, perfetto_sequence sequence)
{
    const bool is_first = (packets->begun >> sequence & 1) == 0;
    packets->begun |= 1u << sequence;
    etlheap_text_clear(&packets->packet);
    etlheap_protobuf_number(&packets->packet, PACKET_SEQUENCE, sequence);
    etlheap_protobuf_number(&packets->packet, PACKET_FLAGS, is_first ? FLAG_CLEARED : FLAG_NEEDS);
    etlheap_protobuf_number(&packets->packet, PACKET_FIRST, is_first);
}

void perfetto_begin_at(perfetto_packets *packets, perfetto_sequence sequence, i64 time_ns)
{
    perfetto_begin(packets, sequence);
    etlheap_protobuf_present(&packets->packet, PACKET_TIME, perfetto_time(time_ns));
}

void perfetto_end(perfetto_packets *packets)
{
    etlheap_text_clear(&packets->head);
    etlheap_protobuf_head(&packets->head, TRACE_PACKET, packets->packet.size);
    etlheap_sink_write(packets->sink, etlheap_text_of(&packets->head), packets->head.size);
    etlheap_sink_write(packets->sink, etlheap_text_of(&packets->packet), packets->packet.size);
}

void perfetto_clocks(perfetto_packets *packets, i64 start_filetime)
{
    perfetto_begin(packets, PERFETTO_TRACKS);
    etlheap_text_clear(&packets->message);
    put_clock(packets, CLOCK_BOOTTIME, 0);
    put_clock(packets, CLOCK_MONOTONIC, 0);
    put_clock(packets, CLOCK_MONOTONIC_COARSE, 0);
    if (start_filetime > UNIX_EPOCH && start_filetime - UNIX_EPOCH < INT64_MAX / FILETIME_NS)
        put_clock(packets, CLOCK_REALTIME, (u64)(start_filetime - UNIX_EPOCH) * FILETIME_NS);
    etlheap_protobuf_number(&packets->message, CLOCKS_PRIMARY, CLOCK_BOOTTIME);
    etlheap_protobuf_bytes(&packets->packet, PACKET_CLOCKS, etlheap_protobuf_of(&packets->message));
    perfetto_end(packets);
}

static void put_clock(perfetto_packets *packets, u32 clock, u64 time_ns)
{
    etlheap_text_clear(&packets->part);
    etlheap_protobuf_number(&packets->part, CLOCK_ID, clock);
    etlheap_protobuf_present(&packets->part, CLOCK_TIME, time_ns);
    etlheap_protobuf_bytes(&packets->message, CLOCKS_CLOCK, etlheap_protobuf_of(&packets->part));
}

void perfetto_process(perfetto_packets *packets, u32 pid, const char *name)
{
    const u64 track = track_id(&pid, PERFETTO_PROCESS);
    if (!is_new(packets, track))
        return;
    etlheap_text_clear(&packets->part);
    etlheap_protobuf_present(&packets->part, PROCESS_PID, (u64)(i64)(i32)pid);
    perfetto_string(packets, &packets->part, PROCESS_NAME, name);
    etlheap_text_clear(&packets->message);
    etlheap_protobuf_number(&packets->message, TRACK_ID, track);
    etlheap_protobuf_bytes(&packets->message, TRACK_PROCESS, etlheap_protobuf_of(&packets->part));
    put_track(packets);
}

void perfetto_counter(perfetto_packets *packets, const u32 *pid, perfetto_track track,
                      const char *name, i64 time_ns, u64 value)
{
    const u64 id = track_id(pid, track);
    if (is_new(packets, id)) {
        etlheap_text_clear(&packets->part);
        etlheap_protobuf_number(&packets->part, COUNTER_UNIT, UNIT_BYTES);
        etlheap_text_clear(&packets->message);
        etlheap_protobuf_number(&packets->message, TRACK_ID, id);
        perfetto_string(packets, &packets->message, TRACK_NAME, name);
        if (pid)
            etlheap_protobuf_number(&packets->message, TRACK_PARENT,
                                    track_id(pid, PERFETTO_PROCESS));
        etlheap_protobuf_bytes(&packets->message, TRACK_COUNTER,
                               etlheap_protobuf_of(&packets->part));
        put_track(packets);
    }
    begin_event(packets, time_ns, EVENT_COUNTER, id);
    etlheap_protobuf_present(&packets->message, EVENT_VALUE, value);
    end_event(packets);
}

void perfetto_mark(perfetto_packets *packets, const char *name, i64 time_ns)
{
    const u64 id = track_id(NULL, PERFETTO_MARKS);
    if (is_new(packets, id)) {
        etlheap_text_clear(&packets->message);
        etlheap_protobuf_number(&packets->message, TRACK_ID, id);
        perfetto_string(packets, &packets->message, TRACK_NAME, "marks");
        put_track(packets);
    }
    begin_event(packets, time_ns, EVENT_INSTANT, id);
    perfetto_string(packets, &packets->message, EVENT_NAME, name);
    end_event(packets);
}

/* Writes the message as a track. */
static void put_track(perfetto_packets *packets)
{
    perfetto_begin(packets, PERFETTO_TRACKS);
    etlheap_protobuf_bytes(&packets->packet, PACKET_TRACK, etlheap_protobuf_of(&packets->message));
    perfetto_end(packets);
}

/* The number of a track, never 0. */
static u64 track_id(const u32 *pid, perfetto_track track)
{
    return (pid ? (u64)*pid + 1 : 0) << TRACK_BITS | (u64)track;
}

static bool is_new(perfetto_packets *packets, u64 track)
{
    u32 number;
    return export_number_of_pair(&packets->known, track, 0, &number);
}

static void begin_event(perfetto_packets *packets, i64 time_ns, u64 type, u64 track)
{
    perfetto_begin_at(packets, PERFETTO_TRACKS, time_ns);
    etlheap_text_clear(&packets->message);
    etlheap_protobuf_number(&packets->message, EVENT_TYPE, type);
    etlheap_protobuf_number(&packets->message, EVENT_TRACK, track);
}

static void end_event(perfetto_packets *packets)
{
    etlheap_protobuf_bytes(&packets->packet, PACKET_EVENT, etlheap_protobuf_of(&packets->message));
    perfetto_end(packets);
}

void perfetto_string(perfetto_packets *packets, etlheap_text *message, u32 field, const char *text)
{
    etlheap_text_clear(&packets->clean);
    etlheap_display_add(&packets->clean, text);
    etlheap_protobuf_bytes(message, field, etlheap_protobuf_of(&packets->clean));
}

bool perfetto_packets_ok(const perfetto_packets *packets)
{
    return !packets->known.failed && !packets->packet.failed && !packets->message.failed &&
           !packets->part.failed && !packets->head.failed && !packets->clean.failed;
}

void perfetto_packets_free(perfetto_packets *packets)
{
    export_numbers_free(&packets->known);
    etlheap_text_free(&packets->packet);
    etlheap_text_free(&packets->message);
    etlheap_text_free(&packets->part);
    etlheap_text_free(&packets->head);
    etlheap_text_free(&packets->clean);
}
