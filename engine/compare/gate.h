/*
 * gate.h - the parts of the leak gate; private to the engine.
 *
 *     gate_tables       result, baseline ──▶ tables, and the names in them
 *     gate_rows         tables ──▶ memory stack by stack, known leaks marked
 *     gate_subjects     rows, budget ──▶ subjects, judged
 *     gate_doubts       results ──▶ why a verdict may prove nothing
 *     gate_fingerprint  subjects, stacks ──▶ names that outlive ids and addresses
 *     gate_wrappers     rows ──▶ functions that hide who allocates
 *     gate_apart        subjects, stacks ──▶ frames that tell them apart
 *     gate_limits       the limits that there are, with their words
 */
#ifndef ETLHEAP_GATE_INSIDE_H
#define ETLHEAP_GATE_INSIDE_H

#include "engine/core/intern.h"
#include "engine/query/query.h"
#include "suppressions.h"

/* Outstanding memory of one stack of one process; for budgets on heaps, of one heap. A row without
 * memory says that the process was there. */
typedef struct gate_row {
    u8 kind;
    bool has_heap;
    u64 heap;
    u64 tag;          /* for budgets on tags: pool_heap_tag; else, or without a tag, 0 */
    const char *name; /* process name */
    u32 pid;          /* ETL_NO_ID if compared */
    u32 process;      /* rank of (name ignoring case, pid): equal for the same process */
    u32 stack;        /* index into the table; ETLHEAP_NO_INDEX: none */
    u32 suppression;  /* SUPPRESSION_NONE */
    u32 generation;   /* for budgets on marks: the generation; else 0 */
    etlheap_amount now, baseline;
    etlheap_amount unsure;   /* part of `now` that may have been freed unseen */
    bool is_unknown;         /* the amounts are not known */
    const char *module;      /* of a peak of a module; else NULL: its stack tells */
    u32 frame;               /* of a peak of a function */
    i64 now_ns, baseline_ns; /* what rates are per second of; 0: no allocations */
} gate_row;

/* The rows of a table, or of a comparison with the baseline. */
typedef struct gate_rows {
    const etlheap_table *table;
    ETLHEAP_VECTOR(gate_row) list;
} gate_rows;

/* What several budgets ask for: a table of this run by the keys of a scope, and for growth the
 * comparison with that of the baseline. */
typedef struct gate_source {
    etlheap_quantity_measures reads;
    etlheap_scope scope; /* STACK for all that the rows of stacks add up to */
    bool is_growth, is_peak;
    etlheap_table *table;
    etlheap_table *baseline; /* NULL: no growth, or no baseline */
    etlheap_diff *diff;
    etlheap_windows *windows; /* for peaks in intervals of marks; has the table */
    gate_rows rows;
} gate_source;

/* A listed subject, whose fingerprints are computed when its frames have names. */
typedef struct gate_unsigned {
    const etlheap_gate_budget *budget;
    etlheap_gate_subject *subject;
    etlheap_gate_stack *stacks;
} gate_unsigned;

/* A gate and everything behind it. */
typedef struct owned_gate {
    etlheap_gate gate;
    etlheap_arena arena;
    const etlheap_gate_side *now;
    const etlheap_gate_options *options;
    query_plan plan;        /* plan of `now`, for processes */
    u32 trace_kinds;        /* as gate.kinds, for all processes */
    u32 baseline_kinds;     /* as gate.kinds */
    bool is_baseline_lossy; /* events are missing from its totals */
    bool is_ring;           /* older buffers of `now` were overwritten ... */
    bool tells_unsure;      /* ... and what was allocated before can be told from the rest */
    etlheap_amount unsure[ETLHEAP_KIND_COUNT]; /* memory that may have been freed unseen */
    ETLHEAP_VECTOR(const char *) unmatched;    /* patterns that match no process with events */
    ETLHEAP_VECTOR(const char *) missing; /* names of processes of the baseline that did not run */
    etlheap_table *table;                 /* table of `now` */
    etlheap_table *compared;              /* table of `now`, never by heap; NULL: use `table` */
    etlheap_table *baseline;              /* NULL: none, and no diff */
    etlheap_diff *diff;
    etlheap_table *left_table; /* memory left behind by generations; NULL: no such budget */
    gate_rows absolute, growth, left;
    u64 suppression_steps; /* places and pieces looked at for suppressions; tests bound it */
    gate_source *sources;  /* of quantities that are not what is outstanding at the end */
    u32 source_count;
    const gate_source *all_stacks; /* if peaks may contain suppressed stacks; else NULL */
    etlheap_gate_budget *budgets;
    ETLHEAP_VECTOR(gate_unsigned) listed;
} owned_gate;

/* --- gate_tables.c ------------------------------------------------------------- */

/* True if the gate has a budget of that scope, or only such budgets. */
bool gate_has_scope(const owned_gate *gate, etlheap_scope scope);
bool gate_has_only_scope(const owned_gate *gate, etlheap_scope scope);

/* The table and the rows of a budget's subjects. */
const gate_rows *gate_rows_for(const owned_gate *gate, const etlheap_budget *budget);
const etlheap_table *gate_table_of(const owned_gate *gate, const etlheap_budget *budget);

/* Makes the tables, and names frames if judging needs names. Errors as for etlheap_gate_judge. */
etl_status gate_tables_open(owned_gate *gate, etl_error *err);
void gate_tables_close(owned_gate *gate);

/* Names the frames of listed subjects and stacks, if that was not done before. */
etl_status gate_tables_name(owned_gate *gate, etl_error *err);

/* --- gate_rows.c ---------------------------------------------------------------- */

/* Makes the rows of the tables. False if memory runs out. */
bool gate_rows_open(owned_gate *gate);
void gate_rows_close(owned_gate *gate);

/* True if the interval of a mark is judged, given the number of its generation. */
bool gate_judges_generation(const owned_gate *gate, u32 generation);

/* The part of a mark's interval that is inside the window. */
etlheap_time_range gate_interval_of(const owned_gate *gate, u32 generation);

/* Makes the rows of a source, whose table is there. False if memory runs out. */
bool gate_rows_of_source(owned_gate *gate, gate_source *source);

/* --- gate_sources.c ------------------------------------------------------------- */

/* True if names of functions decide: for suppressions, comparisons, limits of functions. */
bool gate_needs_names(const owned_gate *gate);

/* Makes the tables that budgets need besides those of gate_tables_open. Errors as for
 * etlheap_gate_judge. */
etl_status gate_sources_open(owned_gate *gate, etl_error *err);
void gate_sources_close(owned_gate *gate);

/* The source of a budget; NULL: what is outstanding at the end. */
gate_source *gate_source_of(const owned_gate *gate, const etlheap_budget *budget);

/* --- gate_places.c --------------------------------------------------------------- */

/* Modules and functions of the frames of a table, as numbers; 0: none. */
typedef struct gate_places {
    const etlheap_table *table;
    const char *name; /* of the budget; NULL: everything matches */
    etlheap_scope scope;
    etlheap_pattern pattern; /* of a function or module with that name ... */
    char *pattern_module;    /* ... and the module's part of it; NULL: none */
    etlheap_strings names;
    u32 *functions, *modules; /* by frame: number + 1; 0: not looked up yet */
    u8 *matches;              /* by frame: 1 yes, 2 no; 0: not looked up yet */
} gate_places;

/* The table may be NULL, if there are no rows. False if memory runs out. */
bool gate_places_open(gate_places *out, const etlheap_table *table, const etlheap_budget *budget);
void gate_places_close(gate_places *places);

/* The frames of the row's stack, innermost first: indices into those of the table. */
const u32 *gate_places_frames(const gate_places *places, const gate_row *row, u32 *count);

/* Numbers of the function of a frame, and of a module, which may be NULL. False if memory runs
 * out. */
bool gate_places_function(gate_places *places, u32 frame, u32 *number);
bool gate_places_module(gate_places *places, const char *module, u32 *number);

/* The module of the row's site; NULL: none. */
const char *gate_places_module_of(const gate_places *places, const gate_row *row);

/* True if a frame is of the function that the budget names. */
bool gate_places_matches(gate_places *places, u32 frame);

/* True if the budget's name is that of the row's subject; a function is decided frame by frame. */
bool gate_places_has(const owned_gate *gate, gate_places *places, const gate_row *row);

/* The mark's name, or NAME#NUMBER. */
bool gate_names_mark(const char *name, const etlheap_mark *mark);

/* --- gate_subjects.c ------------------------------------------------------------ */

/* Judges the subjects of a budget. Set `budget` and `doubts` first. Its outcome is that of the
 * worst subject. False if memory runs out. */
bool gate_subjects_judge(owned_gate *gate, const gate_rows *rows, etlheap_gate_budget *out);

static inline void gate_add_amount(etlheap_amount *to, const etlheap_amount *amount)
{
    to->size_bytes = etl_sat_add_u64(to->size_bytes, amount->size_bytes);
    to->count = etl_sat_add_u64(to->count, amount->count);
}

/* --- gate_doubts.c --------------------------------------------------------------- */

/* Finds which events are lost, and the kinds for which the selected processes have events.
 * ETL_ERR_MEMORY, and errors of query_open. */
etl_status gate_find_events(owned_gate *gate, etl_error *err);

/* Converts the status of a call about the baseline, so that an error of the baseline does not look
 * like one of this run. */
etl_status gate_of_baseline(etl_status status, const etl_error *why, etl_error *err);

/* Bits of etlheap_doubt: why it would prove nothing that a budget is met. */
u32 gate_doubts_of(const owned_gate *gate, const etlheap_budget *budget);

/* Bits of etlheap_doubt: why it would prove nothing that memory of the kind grew. */
u32 gate_doubts_of_growth(const owned_gate *gate, etlheap_kind kind);

/* Puts what did not fail in doubt if symbol files of either side are damaged. Frames must have
 * names. */
void gate_doubt_symbols(owned_gate *gate);

/* Judges the requirements of the options. False if memory runs out. */
bool gate_judge_requirements(owned_gate *gate);

/* Explains why nothing could be measured, if a budget has such a doubt, and lists the processes
 * that there are if a required one is missing. False if memory runs out. */
bool gate_explain_absence(owned_gate *gate);

/* The kinds that a budget applies to and that exist. */
u32 gate_kinds_of(const owned_gate *gate, const etlheap_budget *budget);

/* --- gate_fingerprint.c ---------------------------------------------------------- */

/* The fingerprint of a process name and a stack of the table (ETLHEAP_NO_INDEX: none). */
u64 gate_stack_fingerprint(const etlheap_table *table, const char *process, u32 stack);

/* The fingerprint of a budget's subject. */
u64 gate_subject_fingerprint(const etlheap_table *table, const etlheap_budget *budget,
                             const etlheap_gate_subject *subject);

/* --- gate_wrappers.c -------------------------------------------------------------- */

/* Sets the wrappers of the gate. Frames must have names. False if memory runs out. */
bool gate_find_wrappers(owned_gate *gate);

/* --- gate_apart.c ---------------------------------------------------------------- */

/* Sets frames_apart of listed subjects and stacks. Frames must have names. False if memory runs
 * out. */
bool gate_tell_apart(owned_gate *gate);

#endif
