/* engine_run.h - one pass over traces, stage by stage. */
#ifndef ETLHEAP_ENGINE_RUN_H
#define ETLHEAP_ENGINE_RUN_H

#include "engine/engine.h"

#include "parser/base.h"

/* The traces of one recording. Everything is borrowed. */
typedef struct traces_named {
    etl_trace *const *traces;
    const char *const *names;
    u32 count;
} traces_named;

/* What a log for known questions can do that a store cannot. Its stacks are not in the file: they
 * stay in the run's result, with numbers. */
typedef struct log_extra {
    void (*forget)(void *user); /* forgets what was written, because the run begins again */
    void *user;
    /* Columns of heap blocks that no question needs. */
    bool lacks_addresses, lacks_threads, lacks_freer_threads;
} log_extra;

/* Runs the analysis and keeps what the options ask for: only facts, a store, or every lifetime in
 * memory. If `question` is not NULL, keeps an event list for it; options->questions is ignored.
 * `log` is for options->store; NULL: it is a store. Errors as for etlheap_analyze. */
etl_status engine_run(const traces_named *traces, const etlheap_options *options,
                      const etlheap_question *question, const log_extra *log, etlheap_result **out,
                      etl_error *err);

/* One attempt. *is_too_early: it began before all traces were indexed, which was wrong. Then
 * there is no result; the caller indexes the rest, and tries again. */
etl_status engine_run_once(const traces_named *traces, const etlheap_options *options,
                           const etlheap_question *question, const log_extra *log,
                           etlheap_result **out, bool *is_too_early, etl_error *err);

#endif
