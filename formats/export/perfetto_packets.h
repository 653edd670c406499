/*
 * perfetto_packets.h - packets of a Perfetto trace, and the tracks that they are about.
 *
 * A trace is a list of packets. Times are nanoseconds since time zero of the recording, on
 * Perfetto's clock BOOTTIME; the first packet sets the other clocks by it.
 *
 * Source: google/perfetto, protos/perfetto/trace/trace_packet.proto, clock_snapshot.proto and
 * track_event/{track_descriptor,track_event,counter_descriptor,process_descriptor}.proto.
 */
#ifndef ETLHEAP_PERFETTO_PACKETS_H
#define ETLHEAP_PERFETTO_PACKETS_H

#include "formats/parts/export_numbers.h"
#include "protobuf.h"

/* Fields of packets. */
enum {
    PACKET_CLOCKS = 6,
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_DUMP = 37,
    PACKET_TRACK = 60,
    PACKET_FIRST = 87
};

/* Packets that may refer to each other belong to one sequence. Heap dumps have their own. */
typedef enum perfetto_sequence { PERFETTO_TRACKS = 1, PERFETTO_DUMPS } perfetto_sequence;

/* What a track shows. Counters of kinds follow PERFETTO_KIND. */
typedef enum perfetto_track {
    PERFETTO_PROCESS,
    PERFETTO_MARKS,
    PERFETTO_COMMIT,
    PERFETTO_AVAILABLE,
    PERFETTO_WORKING_SET,
    PERFETTO_KIND
} perfetto_track;

/* Start from {0} with the sink set. */
typedef struct perfetto_packets {
    etlheap_sink *sink;
    u32 begun;            /* sequences, a bit for each */
    export_numbers known; /* tracks that are written */
    etlheap_text packet, message, part, head, clean;
} perfetto_packets;

/* Begins a packet; its fields are then added to `packet`. */
void perfetto_begin(perfetto_packets *packets, perfetto_sequence sequence);
void perfetto_begin_at(perfetto_packets *packets, perfetto_sequence sequence, i64 time_ns);
void perfetto_end(perfetto_packets *packets); /* writes it */

/* Writes the clocks. start_filetime: of time zero in UTC; 0: unknown. */
void perfetto_clocks(perfetto_packets *packets, i64 start_filetime);

/* The track of a process, which other tracks of it refer to. Later names are ignored. */
void perfetto_process(perfetto_packets *packets, u32 pid, const char *name);

/* A value of a counter, in bytes. pid NULL: of the system. */
void perfetto_counter(perfetto_packets *packets, const u32 *pid, perfetto_track track,
                      const char *name, i64 time_ns, u64 value);

/* A named moment on the track of marks. */
void perfetto_mark(perfetto_packets *packets, const char *name, i64 time_ns);

/* Times before time zero, of which Perfetto has none, are at time zero. */
static inline u64 perfetto_time(i64 time_ns)
{
    return time_ns < 0 ? 0 : (u64)time_ns;
}

/* Adds a string as UTF-8, after replacing what cannot be printed. */
void perfetto_string(perfetto_packets *packets, etlheap_text *message, u32 field, const char *text);

/* True if nothing failed. */
bool perfetto_packets_ok(const perfetto_packets *packets);
void perfetto_packets_free(perfetto_packets *packets);

#endif
