/*
 * etlheap_gate.h - the leak gate: budgets, suppressions and a baseline in, a
 * verdict out.
 *
 *     etlheap_suppressions_*  text -> patterns of stacks that are known leaks
 *     etlheap_gate_judge      result (+ baseline's result) -> gate
 *
 * Judged is outstanding memory at the end of the query's window, each kind by
 * itself: the same bytes may be in a block, an extent and a committed range, so
 * sums over kinds would mean nothing. A budget has a scope, what its limit holds
 * for one by one; each such process, heap, stack or mark is a *subject*. The interval of
 * a mark reaches to the next one, or to the end of the window; of scope MARK what is
 * judged was allocated in an interval and not freed in it. Marks that end something
 * (etlheap_mark.is_end) and what comes before the first mark are no subjects. Memory whose
 * stack a suppression matches counts for no subject.
 *
 * A verdict is only as good as the trace. If events were lost or bytes are damaged,
 * totals are lower bounds: what exceeds its limit has failed all the same, what does
 * not is inconclusive. Growth is inconclusive if the baseline is lossy. A budget for
 * which nothing could be measured fails, which comes before everything else:
 *
 *     nothing measured, not allowed   FAIL
 *     exceeded                        FAIL (growth: INCONCLUSIVE if the baseline is lossy)
 *     this run is lossy               INCONCLUSIVE, also growth without a baseline
 *     growth, the baseline is lossy   INCONCLUSIVE
 *     growth without a baseline       SKIPPED
 *     else                            PASS
 *
 * Included by engine.h, whose types it uses.
 */
#ifndef ETLHEAP_GATE_H
#define ETLHEAP_GATE_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- suppressions ------------------------------------------------------------- */

/*
 * Lines `leak:PATTERN` in the syntax of LeakSanitizer: `#` begins a comment line,
 * blank lines are skipped. A pattern is searched for in the names of the
 * functions, of the source files and of the modules of a stack's frames, with
 * regard to case; `*` stands for any text, `^` at its begin and `$` at its end tie
 * it to the name's.
 */
typedef struct etlheap_suppressions etlheap_suppressions;

etl_status etlheap_suppressions_open(etlheap_suppressions **out, etl_error *err);
void etlheap_suppressions_close(etlheap_suppressions *suppressions); /* NULL is allowed */

/*
 * Adds the lines of a file; `name` is for messages, both are copied. ETL_ERR_ARGUMENT
 * names the line that is not a suppression; lines before it stay added.
 * ETL_ERR_LIMIT: more than 4 GiB or 2^20 lines in all. ETL_ERR_MEMORY.
 */
etl_status etlheap_suppressions_add(etlheap_suppressions *suppressions, const char *name,
                                    etl_bytes text, etl_error *err);

/* Adds the lines of the file at `path`. Errors besides: ETL_ERR_IO. */
etl_status etlheap_suppressions_read(etlheap_suppressions *suppressions, const char *path,
                                     etl_error *err);

u32 etlheap_suppressions_count(const etlheap_suppressions *suppressions);

/* --- budgets ------------------------------------------------------------------ */

/* X(enumerator, word) - what a limit holds for */
#define ETLHEAP_SCOPES(X)                                                                          \
    X(TOTAL, "total")     /* all that the filters let through */                                   \
    X(PROCESS, "process") /* each process; for growth, all of one name together */                 \
    X(HEAP, "heap")       /* each heap of a process; not for growth: handles differ by run */      \
    X(STACK, "stack")     /* each stack of a process */                                            \
    X(MARK, "mark")       /* what each mark's interval leaves behind; not for growth */

typedef enum etlheap_scope {
#define ETLHEAP_SCOPE_ENUM(name, word) ETLHEAP_SCOPE_##name,
    ETLHEAP_SCOPES(ETLHEAP_SCOPE_ENUM)
#undef ETLHEAP_SCOPE_ENUM
        ETLHEAP_SCOPE_COUNT
} etlheap_scope;

const char *etlheap_scope_word(etlheap_scope scope); /* "" for what is none */

#define ETLHEAP_BUDGET_MILLIONTHS 1000000

/*
 * What is measured must not exceed `limit`. For growth, that is what there is more
 * than in the baseline, and the limit is raised by `baseline_millionths` of what
 * the baseline has: 50,000 is 5 %.
 */
typedef struct etlheap_budget {
    bool is_growth;
    bool is_count; /* allocations, else bytes */
    etlheap_scope scope;
    u32 kinds; /* bit per etlheap_kind; 0: each that the query lets through */
    u64 limit;
    u64 baseline_millionths;
} etlheap_budget;

/* --- the gate ------------------------------------------------------------------ */

/* A result and the question put to it. Of the query, what selects, culls and names
 * counts; how it groups, sorts and which types it has does not. */
typedef struct etlheap_gate_side {
    const etlheap_result *result;
    const etlheap_query *query;
} etlheap_gate_side;

typedef struct etlheap_gate_options {
    size_t size; /* sizeof(etlheap_gate_options) */
    const etlheap_budget *budgets;
    u32 budget_count;
    const etlheap_suppressions *suppressions; /* NULL: none */
    const etlheap_gate_side *baseline;        /* NULL: none; growth is then not judged */
    u32 stacks_max;                           /* listed of a subject that failed */
    u32 passes_max;                           /* subjects listed of a budget that did not fail */
    bool allow_empty; /* a budget for which nothing could be measured does not fail */
} etlheap_gate_options;

/* X(enumerator, word) - worst last */
#define ETLHEAP_OUTCOMES(X)                                                                        \
    X(SKIPPED, "skipped") /* growth without a baseline */                                          \
    X(PASS, "pass")                                                                                \
    X(INCONCLUSIVE, "inconclusive")                                                                \
    X(FAIL, "fail")

typedef enum etlheap_outcome {
#define ETLHEAP_OUTCOME_ENUM(name, word) ETLHEAP_OUTCOME_##name,
    ETLHEAP_OUTCOMES(ETLHEAP_OUTCOME_ENUM)
#undef ETLHEAP_OUTCOME_ENUM
        ETLHEAP_OUTCOME_COUNT
} etlheap_outcome;

const char *etlheap_outcome_word(etlheap_outcome outcome); /* "" for what is none */

/* X(enumerator, word, sentence) - why an answer would prove nothing */
#define ETLHEAP_DOUBTS(X)                                                                          \
    X(LOSS, "loss",                                                                                \
      "the trace lost events or is damaged: its totals are lower bounds, so staying within a "     \
      "limit proves nothing")                                                                      \
    X(BASELINE_LOSS, "baseline-loss",                                                              \
      "the baseline lost events or is damaged: lost allocations there look like growth, and lost " \
      "frees hide growth, so a comparison proves nothing")                                         \
    X(NO_EVENTS, "no-events",                                                                      \
      "the trace has no memory events of a kind that has a limit, so nothing was measured")        \
    X(NO_PROCESS, "no-process",                                                                    \
      "a process pattern matches no process with memory events of a kind that has a limit, so "    \
      "nothing was measured")                                                                      \
    X(BASELINE_NO_EVENTS, "baseline-no-events",                                                    \
      "the baseline has no memory events of a kind whose growth has a limit")                      \
    X(NO_MARKS, "no-marks",                                                                        \
      "the window has no marks, and a limit is for what happens between them, so nothing was "     \
      "measured")

typedef enum etlheap_doubt {
#define ETLHEAP_DOUBT_ENUM(name, word, sentence) ETLHEAP_DOUBT_##name,
    ETLHEAP_DOUBTS(ETLHEAP_DOUBT_ENUM)
#undef ETLHEAP_DOUBT_ENUM
        ETLHEAP_DOUBT_COUNT
} etlheap_doubt;

/* "" for what is none. */
const char *etlheap_doubt_word(etlheap_doubt doubt);
const char *etlheap_doubt_sentence(etlheap_doubt doubt);

/* Outstanding memory, now and in the baseline. */
typedef struct etlheap_amount {
    u64 size_bytes, count;
} etlheap_amount;

/* A stack that is to blame for a failed subject. */
typedef struct etlheap_gate_stack {
    u32 stack; /* into the table's stacks; ETLHEAP_NO_INDEX: memory without a stack */
    const char *process;
    u64 fingerprint; /* of process name and functions: the same in the next build */
    etlheap_amount now, baseline;
    u32 frames_apart; /* so many, from the innermost, tell it apart from the others listed */
} etlheap_gate_stack;

/* What a limit was held against. */
typedef struct etlheap_gate_subject {
    etlheap_outcome outcome;
    etlheap_kind kind;
    const char *process; /* NULL: of scope TOTAL */
    u32 pid;             /* ETL_NO_ID: several processes of the name, or none */
    bool has_heap;       /* scope HEAP, but for virtualalloc */
    u64 heap_handle;
    u32 stack;       /* scope STACK: into the table's; else, or without one, ETLHEAP_NO_INDEX */
    u64 fingerprint; /* identity across runs: without ids and addresses */
    etlheap_amount now, baseline;
    i64 measured; /* by the budget; growth may be negative */
    i64 limit;
    const etlheap_gate_stack *stacks; /* of failures: largest first */
    u32 stack_count;                  /* at most stacks_max */
    u32 stacks_omitted;
    u32 frames_apart; /* scope STACK: so many of its frames tell it apart from the others listed */
    /* Scope MARK: the mark that begins the interval, and the interval as far as it is in the
     * window; `now` is what was allocated in it and not freed in it. Else NULL and 0. */
    const char *mark;
    u32 mark_number; /* as in etlheap_mark */
    i64 from_ns, to_ns;
} etlheap_gate_subject;

/* Subjects are those that failed, then as many others as were asked for, of marks all,
 * those in doubt first; each by what was measured, largest first. */
typedef struct etlheap_gate_budget {
    etlheap_budget budget;
    etlheap_outcome outcome;
    u32 doubts;         /* bit per etlheap_doubt: those that the outcome is under */
    bool is_unmeasured; /* NO_EVENTS, NO_PROCESS or NO_MARKS: it fails unless that is allowed */
    const etlheap_table *table; /* frames and stacks of the subjects; NULL: there are none */
    const etlheap_gate_subject *subjects;
    u32 subject_count; /* listed */
    u32 judged_count, failed_count;
} etlheap_gate_budget;

/* A suppression, and what it suppressed of each kind. */
typedef struct etlheap_suppression_use {
    const char *pattern, *file;
    u32 line;
    u64 stacks;
    etlheap_amount of[ETLHEAP_KIND_CAPACITY];
} etlheap_suppression_use;

/* A process that has memory events. Strings are the result's. */
typedef struct etlheap_gate_process {
    const char *name;
    u32 pid;   /* ETL_NO_ID: not known */
    u32 kinds; /* bit per etlheap_kind */
    u64 events;
} etlheap_gate_process;

/* Why nothing could be measured for a budget. Patterns are the query's. */
typedef struct etlheap_gate_absence {
    const char *const *patterns; /* of processes: match none with events */
    u32 pattern_count;
    u32 pattern_kinds; /* bit per etlheap_kind: what they were asked for; 0: any events */
    u32 kinds;         /* likewise: asked for, and not in the trace */
    u32 other_kinds;   /* asked for, and only processes that are not selected have them */
    const etlheap_gate_process *processes; /* those that have memory events, most first */
    u32 process_count;
    bool no_marks; /* a budget is for marks, and the window has none */
} etlheap_gate_absence;

/* A function that is the innermost of more than half of the outstanding bytes of a kind, with
 * three callers at least: it allocates for others, and should be culled to see them. */
typedef struct etlheap_gate_wrapper {
    etlheap_kind kind;
    const char *module, *symbol;
    u64 size_bytes, of_bytes; /* its own, and those of the kind; without what is suppressed */
    u32 callers;              /* functions */
} etlheap_gate_wrapper;

typedef struct etlheap_gate {
    etlheap_outcome outcome;      /* the worst of the budgets; PASS when all were skipped */
    u32 doubts;                   /* of all budgets */
    bool is_lossy;                /* this run lost events or is damaged */
    bool is_unmeasured;           /* a budget is */
    etlheap_gate_absence absence; /* all 0 unless is_unmeasured */
    i64 from_ns, to_ns;           /* the window */
    const etlheap_gate_budget *budgets;
    u32 budget_count;
    const etlheap_suppression_use *suppressions; /* in the order they were added */
    u32 suppression_count;
    u32 kinds;                                         /* bit per etlheap_kind: it has events */
    etlheap_amount outstanding[ETLHEAP_KIND_CAPACITY]; /* without what is suppressed */
    etlheap_amount suppressed[ETLHEAP_KIND_CAPACITY];
    etlheap_gate_wrapper wrappers[ETLHEAP_KIND_CAPACITY]; /* at most one of a kind */
    u32 wrapper_count;
    const etlheap_trace_info *baseline; /* NULL: none */
    /* Taking this run as the next baseline loosens nothing: no subject of a growth
     * budget is larger than it was (grown_count are), and no process with memory in
     * the baseline is missing (missing_count are). shrunk_count subjects are smaller. */
    bool may_tighten;
    bool may_found; /* as the first baseline: a growth budget has something measured */
    u32 grown_count, shrunk_count, missing_count;
    /* Of modules that differ in build and lack names, whose stacks cannot be compared:
     * as etlheap_diff.rebuilt. */
    const char *const *rebuilt;
    u32 rebuilt_count;
    etl_diag_counts diagnostics;          /* the result's, and those of finding symbols */
    etl_diag_counts baseline_diagnostics; /* the baseline's likewise */
} etlheap_gate;

/*
 * Judges a result by budgets. On success the caller owns *out (etlheap_gate_free),
 * which borrows from the results, their symbols and the suppressions. Without symbols
 * suppressions see modules alone. What is the same stack in the baseline, and what
 * is not to be told, is as in etlheap_diff.h.
 * Errors as of etlheap_aggregate; ETL_ERR_ARGUMENT too for a budget on the growth
 * of heaps.
 */
etl_status etlheap_gate_judge(const etlheap_gate_side *now, const etlheap_gate_options *options,
                              const etlheap_gate **out, etl_error *err);
void etlheap_gate_free(const etlheap_gate *gate); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
