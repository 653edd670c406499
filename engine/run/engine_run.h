/*
 * engine_run.h - one reading of traces, stage by stage.
 */
#ifndef ETLHEAP_ENGINE_RUN_H
#define ETLHEAP_ENGINE_RUN_H

#include "engine/engine.h"

/* The traces that are analyzed, as one; all borrowed. */
typedef struct traces_named {
    etl_trace *const *traces;
    const char *const *names;
    u32 count;
} traces_named;

/* Keeps what the options say: facts, a store, or without these every lifetime in memory; or for
 * a question, if it is not NULL, a journal. Questions of the options do not count. Errors as of
 * etlheap_analyze. */
etl_status engine_run(const traces_named *traces, const etlheap_options *options,
                      const etlheap_question *question, etlheap_result **out, etl_error *err);

/* One attempt. *is_too_early: it began before all traces were indexed, which was wrong. Then
 * there is no result; the caller indexes the rest, and tries again. */
etl_status engine_run_once(const traces_named *traces, const etlheap_options *options,
                           const etlheap_question *question, etlheap_result **out,
                           bool *is_too_early, etl_error *err);

#endif
