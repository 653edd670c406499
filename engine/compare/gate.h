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
 */
#ifndef ETLHEAP_GATE_INSIDE_H
#define ETLHEAP_GATE_INSIDE_H

#include "engine/core/intern.h"
#include "engine/query/query.h"
#include "suppressions.h"

/* Outstanding memory of one stack of one process; and of one heap, in a table for
 * budgets on heaps. Rows without memory say that a process was there. */
typedef struct gate_row {
    u8 kind;
    bool has_heap;
    u64 heap;
    const char *name; /* of the process */
    u32 pid;          /* ETL_NO_ID in a comparison */
    u32 process;      /* rank of name, in any case, and pid: the same for the same process */
    u32 stack;        /* into the table's; ETLHEAP_NO_INDEX */
    u32 suppression;  /* SUPPRESSION_NONE */
    u32 generation;   /* of budgets on marks: which of them; else 0 */
    etlheap_amount now, baseline;
} gate_row;

/* The rows of a table, or of a comparison with the baseline. */
typedef struct gate_rows {
    const etlheap_table *table;
    ETLHEAP_VECTOR(gate_row) list;
    u32 missing_count; /* processes with memory in the baseline alone that did not run */
} gate_rows;

/* A listed subject: its fingerprints follow once its frames have names. */
typedef struct gate_unsigned {
    const etlheap_gate_budget *budget;
    etlheap_gate_subject *subject;
    etlheap_gate_stack *stacks;
} gate_unsigned;

/* A gate and all that it is made of. */
typedef struct owned_gate {
    etlheap_gate gate;
    etlheap_arena arena;
    const etlheap_gate_side *now;
    const etlheap_gate_options *options;
    query_plan plan;                        /* of now, for processes */
    u32 trace_kinds;                        /* as gate.kinds, of all processes */
    u32 baseline_kinds;                     /* as gate.kinds */
    bool is_baseline_lossy;                 /* events are missing that totals would contain */
    ETLHEAP_VECTOR(const char *) unmatched; /* patterns that match no process with events */
    const etlheap_table *table;             /* of now */
    const etlheap_table *compared;          /* of now, never by heap; NULL: table will do */
    const etlheap_table *baseline;          /* NULL: none, and no diff */
    etlheap_diff *diff;
    const etlheap_table *left_table; /* left behind by generations; NULL: no such budget */
    gate_rows absolute, growth, left;
    etlheap_gate_budget *budgets;
    ETLHEAP_VECTOR(gate_unsigned) listed;
} owned_gate;

/* --- gate_tables.c ------------------------------------------------------------- */

/* Has the gate a budget of that scope? Are all of them? */
bool gate_has_scope(const owned_gate *gate, etlheap_scope scope);
bool gate_has_only_scope(const owned_gate *gate, etlheap_scope scope);

/* The table that the subjects of a budget are of. */
const etlheap_table *gate_table_of(const owned_gate *gate, const etlheap_budget *budget);

/* Makes the tables, named as far as judging needs it. Errors as of
 * etlheap_gate_judge. */
etl_status gate_tables_open(owned_gate *gate, etl_error *err);
void gate_tables_close(owned_gate *gate);

/* Names the frames of what is listed, if that was not needed before. */
etl_status gate_tables_name(owned_gate *gate, etl_error *err);

/* --- gate_rows.c ---------------------------------------------------------------- */

/* Makes the rows of the tables. False without memory. */
bool gate_rows_open(owned_gate *gate);
void gate_rows_close(owned_gate *gate);

/* Is a mark's interval judged, by the number of its generation? */
bool gate_judges_generation(const owned_gate *gate, u32 generation);

/* --- gate_subjects.c ------------------------------------------------------------ */

/* Judges the subjects of a budget, whose `budget` and `doubts` are set; its outcome is
 * that of the worst of them. False without memory. */
bool gate_subjects_judge(owned_gate *gate, const gate_rows *rows, etlheap_gate_budget *out);

void gate_add_amount(etlheap_amount *to, const etlheap_amount *amount);

/* --- gate_doubts.c --------------------------------------------------------------- */

/* Finds out what is lost, and of which kinds the selected processes have events.
 * ETL_ERR_MEMORY and what query_open refuses. */
etl_status gate_find_events(owned_gate *gate, etl_error *err);

/* The status of a call that concerned the baseline: what is wrong with that must not
 * look as if it were wrong with the run. */
etl_status gate_of_baseline(etl_status status, const etl_error *why, etl_error *err);

/* Bits of etlheap_doubt: why it proves nothing that a budget is kept. */
u32 gate_doubts_of(const owned_gate *gate, const etlheap_budget *budget);

/* Why it proves nothing that memory of the kind grew. */
u32 gate_doubts_of_growth(const owned_gate *gate, etlheap_kind kind);

/* Says why nothing could be measured, if a budget is under such a doubt. False without
 * memory. */
bool gate_explain_absence(owned_gate *gate);

/* Kinds that a process can have memory of: whose heap events are recorded, its
 * extents are too. */
u32 gate_kinds_of_process(const etlheap_process_info *process);

/* Kinds that a budget is for, of those that there are. */
u32 gate_kinds_of(const owned_gate *gate, const etlheap_budget *budget);

/* --- gate_fingerprint.c ---------------------------------------------------------- */

/* Of a process name and a stack of the table (ETLHEAP_NO_INDEX: none). */
u64 gate_stack_fingerprint(const etlheap_table *table, const char *process, u32 stack);

/* Of what a budget's subject is. */
u64 gate_subject_fingerprint(const etlheap_table *table, const etlheap_budget *budget,
                             const etlheap_gate_subject *subject);

/* --- gate_wrappers.c -------------------------------------------------------------- */

/* Sets the wrappers of the gate; frames have names. False without memory. */
bool gate_find_wrappers(owned_gate *gate);

/* --- gate_apart.c ---------------------------------------------------------------- */

/* Sets frames_apart of what is listed, whose frames have names. False without memory. */
bool gate_tell_apart(owned_gate *gate);

#endif
