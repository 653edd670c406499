/*
 * log_resolve.h - the events of a store as a resolved log. Throwaway: see bench_log.c.
 */
#ifndef BENCH_LOG_RESOLVE_H
#define BENCH_LOG_RESOLVE_H

#include "event_log.h"
#include "engine/fold/archive_walk.h"

typedef struct log_archive {
    const ehs_archive *archive; /* NULL: the run reads no store */
    bool exit_frees;
    u8 *survivors;         /* what log_resolve returned */
    double serial_seconds; /* one thread alone, between the steps */
} log_archive;

/* Appends all events of the store to the log. Returns a bit per allocation, by ordinal: is it
 * outstanding at the end? A damaged store ends the program. */
u8 *log_resolve(log_archive *from, event_log *log);

#endif
