/*
 * etlheap_gate.h - the leak gate: budgets, suppressions and a baseline in, a verdict out. Part of
 * engine.h.
 *
 *     etlheap_suppressions_*  text -> patterns for stacks that are known leaks
 *     etlheap_gate_judge      result (+ result of the baseline) -> gate
 *
 * The gate judges the outstanding memory at the end of the query's window, separately for each
 * kind: the same bytes may be in a block, an extent and a committed range, so kinds are never added
 * together. A budget has a limit and a scope. The scope says what the limit applies to one by one:
 * each process, heap, stack or mark is a *subject*. The interval of a mark reaches to the next
 * mark, or to the end of the window; with scope MARK, the gate judges what was allocated in an
 * interval and not freed in it. Marks that end something (etlheap_mark.is_end) and the time before
 * the first mark are not subjects. Suppressed stacks do not count towards any subject.
 *
 * A verdict is only as good as the trace. If events were lost or bytes are damaged, totals may be
 * too low (lost allocations) or too high (lost frees). A subject over its limit fails anyway, and
 * one within its limit is inconclusive. Growth is inconclusive if the baseline is lossy. A budget
 * fails if nothing could be measured for it, and the subjects that do not fail with it are
 * inconclusive, because what they are part of is not known. The first line that applies decides:
 *
 *     nothing measured, not allowed   FAIL
 *     exceeded                        FAIL (growth: INCONCLUSIVE if the baseline is lossy)
 *     this run is lossy               INCONCLUSIVE, also growth without a baseline
 *     growth, the baseline is lossy   INCONCLUSIVE
 *     symbol files are damaged        INCONCLUSIVE
 *     growth without a baseline       SKIPPED
 *     else                            PASS
 */
#ifndef ETLHEAP_GATE_H
#define ETLHEAP_GATE_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- suppressions ------------------------------------------------------------- */

/*
 * Suppressions: lines `leak:PATTERN` in the syntax of LeakSanitizer. `#` begins a comment line,
 * blank lines are skipped. A pattern is searched for in the names of the functions, source files
 * and modules of a stack's frames; case matters. `*` stands for any text; `^` at the start and `$`
 * at the end anchor the pattern. One thread at a time may add; any number may judge with it.
 */
typedef struct etlheap_suppressions etlheap_suppressions;

/* [stable] An empty set, owned by the caller (etlheap_suppressions_close). ETL_ERR_MEMORY. */
etl_status etlheap_suppressions_open(etlheap_suppressions **out, etl_error *err);
void etlheap_suppressions_close(etlheap_suppressions *suppressions); /* NULL is allowed */

/*
 * [stable] Adds the lines in `text`; `name` is the file's name for messages. Both are copied.
 * ETL_ERR_ARGUMENT (the message names the line that is not a suppression; the lines before it stay
 * added), ETL_ERR_LIMIT (more than 4 GiB or 2^20 lines in all), ETL_ERR_MEMORY.
 */
etl_status etlheap_suppressions_add(etlheap_suppressions *suppressions, const char *name,
                                    etl_bytes text, etl_error *err);

/* [stable] Adds the lines of the file at `path`. Also ETL_ERR_IO. */
etl_status etlheap_suppressions_read(etlheap_suppressions *suppressions, const char *path,
                                     etl_error *err);

/* The number of suppressions. */
uint32_t etlheap_suppressions_count(const etlheap_suppressions *suppressions);

/* --- budgets ------------------------------------------------------------------ */

/* X(enumerator, word): what a limit applies to. */
#define ETLHEAP_SCOPES(X)                                                                          \
    X(TOTAL, "total")       /* everything that the query selects */                                \
    X(PROCESS, "process")   /* each process; for growth, all processes with one name together */   \
    X(HEAP, "heap")         /* each heap of a process; not for growth, as handles differ */        \
    X(STACK, "stack")       /* each stack of a process */                                          \
    X(MARK, "mark")         /* the interval of each mark; not for growth */                        \
    X(MODULE, "module")     /* each module of a process that allocates: that of the site */        \
    X(FUNCTION, "function") /* each function of a process: all stacks that it is in */             \
    X(POOL_TAG, "pool_tag") /* each tag of pool blocks, whichever process asked */

typedef enum etlheap_scope {
#define ETLHEAP_SCOPE_ENUM(name, word) ETLHEAP_SCOPE_##name,
    ETLHEAP_SCOPES(ETLHEAP_SCOPE_ENUM)
#undef ETLHEAP_SCOPE_ENUM
        ETLHEAP_SCOPE_COUNT
} etlheap_scope;

/* [stable] "" if out of range. */
const char *etlheap_scope_word(etlheap_scope scope);

#define ETLHEAP_BUDGET_MILLIONTHS 1000000

/* What a limit is held against. Peaks do not add up, so the peak of a subject is that of its own
 * curve, and is not known if only those of its parts are. */
typedef enum etlheap_quantity {
    ETLHEAP_QUANTITY_OUTSTANDING, /* at the end of the window; of a mark: left behind by it */
    ETLHEAP_QUANTITY_PEAK,        /* the most that was outstanding in the window or interval */
    ETLHEAP_QUANTITY_ALLOCATED,   /* allocated in the window or interval */
    ETLHEAP_QUANTITY_TEMPORARY,   /* of these, freed before the thread's next allocation */
    ETLHEAP_QUANTITY_ALLOC_RATE,  /* allocated, per second of the recorded part */
    ETLHEAP_QUANTITY_COUNT
} etlheap_quantity;

/* The measured amount must not exceed `limit`. For growth, it is the amount above the baseline, and
 * the limit is raised by `baseline_millionths` of the baseline: 50,000 is 5 %. */
typedef struct etlheap_budget {
    bool is_growth;
    bool is_count; /* count blocks, else bytes */
    etlheap_scope scope;
    uint32_t kinds; /* bit per etlheap_kind; 0: each that the query selects */
    uint64_t limit;
    uint64_t baseline_millionths;
    etlheap_quantity quantity;
    /* Judge only subjects of this name; NULL: all. Wildcards are * and ?. A process, or its id; a
     * heap handle in hexadecimal; a module; a mark, or MARK#NUMBER; a function as
     * [MODULE!]FUNCTION, of scope STACK: stacks that it is in; a pool tag, whose case matters
     * unless there are wildcards. Not for scope TOTAL. */
    const char *name;
    const void *reserved[4]; /* NULL: room for later versions */
} etlheap_budget;

/* How a limit is given: as an amount, as what may be added to the baseline, or either way. */
typedef enum etlheap_limit_form {
    ETLHEAP_LIMIT_ABSOLUTE,
    ETLHEAP_LIMIT_GROWTH,
    ETLHEAP_LIMIT_EITHER
} etlheap_limit_form;

/* A limit that programs offer, with the words for it. */
typedef struct etlheap_limit {
    etlheap_quantity quantity;
    bool is_count; /* of budgets: allocations, else bytes */
    etlheap_limit_form form;
    const char *option;    /* "max-outstanding": its name as an option */
    const char *words;     /* "outstanding size": what is limited */
    const char *unit;      /* after a number: "" or " per second" */
    const char *title;     /* "Outstanding memory": the kind of finding, as trackers list it */
    const char *exceeded;  /* one sentence: the limit is exceeded */
    const char *explained; /* the same with what is measured */
    const char *advice;    /* what to do, without a full stop */
} etlheap_limit;

/* The limits, numbered from 0; NULL from the first number on that there is no limit for. */
const etlheap_limit *etlheap_limit_at(uint32_t number);

/* The number of the limit that sets such budgets. */
uint32_t etlheap_limit_of(const etlheap_budget *budget);

/* The measures of rows that a quantity reads: bytes and allocations. */
typedef struct etlheap_quantity_measures {
    etlheap_measure size, count;
} etlheap_quantity_measures;

etlheap_quantity_measures etlheap_quantity_reads(etlheap_quantity quantity);

/* --- the gate ------------------------------------------------------------------ */

/* A result and a query. Of the query, only filters, culling and symbols count; its keys, sort order
 * and types do not. Borrowed by the gate. */
typedef struct etlheap_gate_side {
    const etlheap_result *result;
    const etlheap_query *query;
} etlheap_gate_side;

/* Options of etlheap_gate_judge. Start from {0} with `size` set. Everything is borrowed. */
typedef struct etlheap_gate_options {
    size_t size; /* sizeof(etlheap_gate_options) */
    const etlheap_budget *budgets;
    uint32_t budget_count;
    const etlheap_suppressions *suppressions; /* NULL: none */
    const etlheap_gate_side *baseline;        /* NULL: none, and growth is not judged */
    uint32_t stacks_max;                      /* stacks listed per failed subject */
    uint32_t passes_max;                      /* subjects listed per budget that did not fail */
    bool allow_empty;                         /* a budget with nothing measured does not fail */
    bool requires_baseline;                   /* without a baseline, the gate fails */
    /* Words for processes, as in etlheap_query.processes. The gate fails if one names no process
     * with events of a kind that the query selects. */
    const char *const *required_processes;
    uint32_t required_process_count;
} etlheap_gate_options;

/* X(enumerator, word): outcomes, the worst last. */
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

const char *etlheap_outcome_word(etlheap_outcome outcome); /* "" if out of range */

/* X(enumerator, word, sentence): why a verdict would prove nothing. */
#define ETLHEAP_DOUBTS(X)                                                                          \
    X(LOSS, "loss",                                                                                \
      "the trace lost events or is damaged: its totals may be too low or too high, so staying "    \
      "within a limit proves nothing")                                                             \
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
      "measured")                                                                                  \
    X(OVERWRITTEN, "overwritten",                                                                  \
      "older buffers were overwritten: a limit is exceeded only with memory from before the "      \
      "recorded span, which may have been freed unseen")                                           \
    X(SYMBOLS, "symbols",                                                                          \
      "symbol files are damaged: functions without names may hide a known leak, or be compared "   \
      "with the wrong stacks")                                                                     \
    X(NO_BASELINE, "no-baseline",                                                                  \
      "the baseline that is required is missing, so growth was not judged")                        \
    X(MISSING_PROCESS, "missing-process",                                                          \
      "a process that is required has no memory events, so nothing says that it does not leak")    \
    X(PEAK_UNKNOWN, "peak-unknown",                                                                \
      "a peak is not known: summaries, and rows that add up others, have none, so nothing is "     \
      "known about a limit of it")                                                                 \
    X(PEAK_SUPPRESSED, "peak-suppressed",                                                          \
      "a peak exceeds its limit, but suppressed stacks are part of it, so the peak of the others " \
      "is not known")

typedef enum etlheap_doubt {
#define ETLHEAP_DOUBT_ENUM(name, word, sentence) ETLHEAP_DOUBT_##name,
    ETLHEAP_DOUBTS(ETLHEAP_DOUBT_ENUM)
#undef ETLHEAP_DOUBT_ENUM
        ETLHEAP_DOUBT_COUNT
} etlheap_doubt;

/* Static text; "" for a number out of range. */
const char *etlheap_doubt_word(etlheap_doubt doubt);
const char *etlheap_doubt_sentence(etlheap_doubt doubt);

/* An amount of memory. */
typedef struct etlheap_amount {
    uint64_t size_bytes, count;
} etlheap_amount;

/* A stack of a failed subject. */
typedef struct etlheap_gate_stack {
    uint32_t stack; /* index into the table; ETLHEAP_NO_INDEX: no stack */
    const char *process;
    uint64_t fingerprint; /* hash of process name and functions, stable across builds */
    etlheap_amount now, baseline;
    uint32_t frames_apart; /* so many innermost frames tell it apart from the other stacks */
} etlheap_gate_stack;

/* A subject: an amount that was compared with a limit. */
typedef struct etlheap_gate_subject {
    etlheap_outcome outcome;
    etlheap_kind kind;
    const char *process; /* NULL: scopes TOTAL, MARK and POOL_TAG */
    uint32_t pid;        /* ETL_NO_ID: several processes of this name, or none */
    bool has_heap;       /* scope HEAP, except for virtualalloc */
    uint64_t heap_handle;
    uint32_t stack;       /* scope STACK: index into the table; else ETLHEAP_NO_INDEX */
    uint64_t fingerprint; /* identity across runs, without ids and addresses */
    etlheap_amount now, baseline;
    int64_t measured;   /* as the budget says; growth may be negative */
    bool is_unknown;    /* nothing was measured: `measured` and its amounts are 0 */
    const char *module; /* scope MODULE; NULL: outside all modules, or no stack */
    uint32_t frame;     /* scope FUNCTION: a frame of it in the table; ETLHEAP_NO_INDEX: no stack */
    int64_t limit;
    const etlheap_gate_stack *stacks; /* of failed subjects: largest first */
    uint32_t stack_count;             /* at most stacks_max */
    uint32_t stacks_omitted;
    uint32_t frames_apart; /* scope STACK: number of innermost frames that tell it apart */
    /* Scope MARK: the mark that begins the interval, and the interval within the window; `now` is
     * what was allocated in it and not freed in it. Else NULL and 0. */
    const char *mark;
    uint32_t mark_number; /* as in etlheap_mark */
    int64_t from_ns, to_ns;
    char pool_tag[ETLHEAP_POOL_TAG_SIZE]; /* scope POOL_TAG; else "" */
    const char *pool_tag_description;     /* of the query's pool_tags; NULL: unknown */
    const char *heap_name;                /* with has_heap: as in etlheap_row */
} etlheap_gate_subject;

/* A budget and its subjects: those that failed, then up to passes_max others (all marks), those in
 * doubt first; each group largest first. */
typedef struct etlheap_gate_budget {
    etlheap_budget budget;
    etlheap_outcome outcome;
    uint32_t doubts;            /* bit per etlheap_doubt that applies to the outcome */
    bool is_unmeasured;         /* NO_EVENTS, NO_PROCESS or NO_MARKS: fails unless allow_empty */
    const etlheap_table *table; /* frames and stacks of the subjects; NULL: none */
    const etlheap_gate_subject *subjects;
    uint32_t subject_count; /* number of listed subjects */
    uint32_t judged_count, failed_count;
} etlheap_gate_budget;

/* A suppression, and how much it suppressed of each kind. */
typedef struct etlheap_suppression_use {
    const char *pattern, *file;
    uint32_t line;
    uint64_t stacks;
    etlheap_amount of[ETLHEAP_KIND_CAPACITY];
} etlheap_suppression_use;

/* A process that has memory events. Strings are borrowed from the result. */
typedef struct etlheap_gate_process {
    const char *name;
    uint32_t pid;   /* ETL_NO_ID: not known */
    uint32_t kinds; /* bit per etlheap_kind */
    uint64_t events;
} etlheap_gate_process;

/* Why nothing could be measured for a budget. Patterns are borrowed from the query. */
typedef struct etlheap_gate_absence {
    const char *const *patterns; /* process patterns that match no process with events */
    uint32_t pattern_count;
    uint32_t pattern_kinds; /* bit per etlheap_kind that they were needed for; 0: any events */
    uint32_t kinds;         /* bit per etlheap_kind that was asked for and is not in the trace */
    uint32_t other_kinds;   /* kinds asked for that only unselected processes have */
    const etlheap_gate_process *processes; /* processes with memory events, most events first */
    uint32_t process_count;
    bool no_marks;            /* a budget has scope MARK, but the window has no marks */
    const char *const *marks; /* names in budgets that no mark in the window has */
    uint32_t mark_count;
} etlheap_gate_absence;

/* Something that must be there. If it is not, the gate fails whatever its budgets say. */
typedef struct etlheap_gate_requirement {
    const char *process; /* a word of the options, borrowed; NULL: the baseline */
    bool is_met;
} etlheap_gate_requirement;

/* A function that allocates for others: it is the innermost of more than half of the outstanding
 * bytes of a kind, and at least three functions call it. Cull it to see the callers. */
typedef struct etlheap_gate_wrapper {
    etlheap_kind kind;
    const char *module, *symbol;
    uint64_t size_bytes, of_bytes; /* bytes of the function and of the kind, not suppressed */
    uint32_t callers;              /* number of calling functions */
} etlheap_gate_wrapper;

/* The verdict. Freed with etlheap_gate_free. */
typedef struct etlheap_gate {
    etlheap_outcome outcome;      /* the worst of budgets and requirements; PASS if all skipped */
    uint32_t doubts;              /* doubts of all budgets */
    bool is_lossy;                /* this run lost events or is damaged */
    bool is_unmeasured;           /* a budget could not be measured */
    etlheap_gate_absence absence; /* all 0 unless is_unmeasured; processes also if one is missing */
    const etlheap_gate_requirement *requirements; /* the baseline first */
    uint32_t requirement_count, unmet_count;
    uint32_t judged_kinds;  /* bit per etlheap_kind that a limit was compared with */
    int64_t from_ns, to_ns; /* the window */
    const etlheap_gate_budget *budgets;
    uint32_t budget_count;
    const etlheap_suppression_use *suppressions; /* in the order in which they were added */
    uint32_t suppression_count;
    uint32_t kinds;                                    /* bit per etlheap_kind that has events */
    etlheap_amount outstanding[ETLHEAP_KIND_CAPACITY]; /* not suppressed */
    etlheap_amount suppressed[ETLHEAP_KIND_CAPACITY];
    etlheap_gate_wrapper wrappers[ETLHEAP_KIND_CAPACITY]; /* at most one per kind */
    uint32_t wrapper_count;
    const etlheap_trace_info *baseline; /* NULL: none */
    /* This run can become the next baseline without loosening a limit: no subject of a growth
     * budget is larger than in the baseline (grown_count are), and no process with memory in the
     * baseline is missing (missing_count are). shrunk_count subjects are smaller. */
    bool may_tighten;
    bool may_found; /* can become the first baseline: growth was measured */
    uint32_t grown_count, shrunk_count, missing_count;
    const char *const *missing; /* the names of the processes that are missing; of missing_count */
    /* Modules that differ in build and lack names, so their stacks cannot be compared; as
     * etlheap_diff.rebuilt. */
    const char *const *rebuilt;
    uint32_t rebuilt_count;
    uint32_t merged_count;       /* stacks compared with the baseline; as in etlheap_diff */
    etl_diag_counts diagnostics; /* of the result, and of looking up symbols */
    etl_diag_counts baseline_diagnostics; /* the same of the baseline */
} etlheap_gate;

/*
 * [stable] Judges a result by budgets. On success the caller owns *out (etlheap_gate_free), which
 * borrows from the results, their symbols and the suppressions. Without symbols, suppressions match
 * only modules. Stacks are compared with the baseline as described in etlheap_diff.h. Errors as for
 * etlheap_aggregate; ETL_ERR_ARGUMENT also for a budget on the growth of heaps or marks.
 */
etl_status etlheap_gate_judge(const etlheap_gate_side *now, const etlheap_gate_options *options,
                              const etlheap_gate **out, etl_error *err);
void etlheap_gate_free(const etlheap_gate *gate); /* NULL is allowed */

/* Writes the name of a function without what changes from build to build, such as the number of a
 * lambda; fingerprints and comparisons have it so. `out` has room for the name and a NUL. */
void etlheap_stable_function(const char *symbol, char *out);

#ifdef __cplusplus
}
#endif

#endif
