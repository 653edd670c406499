/*
 * perfetto_stacks.h - the call stacks of a Perfetto trace.
 *
 * Packets refer to strings, mappings, frames and call stacks by number, from 1 (interned data).
 * Everything is numbered and written once.
 *
 * Perfetto takes frames of the same mapping, place and function for one, and call stacks of the
 * same frames, too, whatever their numbers. It also adds the heaps of a process up by call stack.
 * So stacks of equal frames get one number here, and the outermost frame of each is its kind.
 *
 * Source: google/perfetto, protos/perfetto/trace/profiling/profile_common.proto and
 * interned_data.proto; profile_packet_sequence_state.cc of its trace processor.
 */
#ifndef ETLHEAP_PERFETTO_STACKS_H
#define ETLHEAP_PERFETTO_STACKS_H

#include "formats/parts/export_numbers.h"
#include "protobuf.h"

/* Start from {0} with the borrowed members set. */
typedef struct perfetto_stacks {
    const etlheap_result *result;
    const etlheap_table *table;
    export_numbers functions, paths, sources, builds; /* strings */
    export_numbers places;                            /* names and bases of modules in frames */
    u32 *mapping_of_place;
    u32 place_capacity;
    export_numbers mappings, frames, stacks;
    etlheap_text interned; /* fields of InternedData that are not written yet */
    etlheap_text message, list, key, name, clean; /* being built */
    bool failed;                                  /* no memory */
} perfetto_stacks;

/* The number of a row's call stack, from 1. */
u32 perfetto_stack(perfetto_stacks *stacks, const etlheap_row *row);

/* True if nothing failed. */
bool perfetto_stacks_ok(const perfetto_stacks *stacks);

/* Frees everything that is not borrowed. */
void perfetto_stacks_free(perfetto_stacks *stacks);

#endif
