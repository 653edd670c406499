/* engine_run.h - one pass over traces, stage by stage. */
#ifndef ETLHEAP_ENGINE_RUN_H
#define ETLHEAP_ENGINE_RUN_H

#include "engine/engine.h"

/* The traces of one recording. Everything is borrowed. */
typedef struct traces_named {
    etl_trace *const *traces;
    const char *const *names;
    u32 count;
} traces_named;

/* Forgets what was written of a store, because the run begins again. */
typedef struct store_undo {
    void (*forget)(void *user);
    void *user;
} store_undo;

/* Runs the analysis and keeps what the options ask for: only facts, a store, or every lifetime in
 * memory. If `question` is not NULL, keeps a journal for it; options->questions is ignored. `undo` is
 * for options->store; NULL: what was written stays. Errors as for etlheap_analyze. */
etl_status engine_run(const traces_named *traces, const etlheap_options *options,
                      const etlheap_question *question, const store_undo *undo,
                      etlheap_result **out, etl_error *err);

/* One attempt. *is_too_early: it began before all traces were indexed, which was wrong. Then
 * there is no result; the caller indexes the rest, and tries again. */
etl_status engine_run_once(const traces_named *traces, const etlheap_options *options,
                           const etlheap_question *question, etlheap_result **out,
                           bool *is_too_early, etl_error *err);

#endif
