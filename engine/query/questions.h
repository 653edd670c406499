/*
 * questions.h - a table of what each question needs of the event log.
 *
 * A run keeps, and a reader of a store decodes, only the lanes and columns that are needed. They
 * follow from two tables:
 *
 *     question      a command's answer: "report", "windows --every", "store"
 *     refinement    an option that selects or groups: "--thread", "--group-by type"
 *
 * A question can have any number of refinements, so a plan needs the sum of them
 * (question_refined). Planned questions are rows too, because the log must be able to answer them
 * before its format is written to files.
 *
 * A column that no question needs is not part of the log. tests/unit/query/test_questions.c checks
 * that, and that every command, exporter and option of the program has its row.
 */
#ifndef ETLHEAP_QUESTIONS_H
#define ETLHEAP_QUESTIONS_H

#include "parser/base.h"

/* X(enumerator, name, what its rows are): the lanes, one kind each, never mixed. */
#define LOG_LANES(X)                                                                               \
    X(HEAP, "heap", "blocks of the heap functions")                                                \
    X(RANGE, "virtualalloc", "committed ranges; each piece is one lifetime")                       \
    X(EXTENT, "extent", "committed heap extents; each piece is one lifetime")                      \
    X(RESERVE, "reserve", "reserved ranges, with the reservation's time and stack")                \
    X(CUSTOM, "custom", "blocks of other allocators; parts of them may be freed")                  \
    X(HANDLE, "handle", "handles of objects; their sizes are 0")                                   \
    X(POOL, "pool", "blocks of the kernel's pools")

/* X(enumerator, name, bits of a row in memory, why a question needs it): the columns. */
#define LOG_COLUMNS(X)                                                                             \
    X(ORIGIN, "origin", 27, "groups, names and filters all follow from owner and call stack")      \
    X(END, "end", 1, "tells what a row does: it opens a block or ends it")                         \
    X(LATER, "later", 1, "a peak counts only what is outstanding when time moves on")              \
    X(REALLOC, "realloc", 1, "reports count the blocks that a realloc opened")                     \
    X(HOW, "how", 2, "a process exit frees or leaks; on an allocation: how its block will end")    \
    X(SIZE, "size", 32, "every measure in bytes adds it up; 4 GiB and more: in a side list")       \
    X(TICKS, "ticks", 32, "finds the rows of a window, a moment or a mark")                        \
    X(BACK, "back", 32, "tells whether the allocation of what ends lies in the window")            \
    X(THREAD, "thread", 32, "filters and groups by the allocating thread, on ends too")            \
    X(ADDRESS, "address", 64, "lists blocks one by one and draws the address space")               \
    X(BEGIN_TICKS, "begin_ticks", 32, "how long a block lived; 2^32 ticks and more: side list")    \
    X(ACTOR, "actor", 32, "the call stack that freed the block, as an origin")                     \
    X(ACTOR_THREAD, "actor_thread", 32, "the thread that freed the block")

typedef enum log_lane_number {
#define LOG_LANE_NUMBER(name, word, what) LOG_LANE_NUMBER_##name,
    LOG_LANES(LOG_LANE_NUMBER)
#undef LOG_LANE_NUMBER
        LOG_LANE_COUNT
} log_lane_number;

typedef enum log_column_number {
#define LOG_COLUMN_NUMBER(name, word, bits, why) LOG_COLUMN_NUMBER_##name,
    LOG_COLUMNS(LOG_COLUMN_NUMBER)
#undef LOG_COLUMN_NUMBER
        LOG_COLUMN_COUNT
} log_column_number;

/* Masks with a bit per lane, and per column. */
#define LOG_LANE_BIT(name)   ((u32)1 << LOG_LANE_NUMBER_##name)
#define LOG_COLUMN_BIT(name) ((u32)1 << LOG_COLUMN_NUMBER_##name)
#define LOG_LANES_ALL        (((u32)1 << LOG_LANE_COUNT) - 1)
#define LOG_COLUMNS_ALL      (((u32)1 << LOG_COLUMN_COUNT) - 1)

typedef struct log_lane_info {
    const char *name, *what;
} log_lane_info;

typedef struct log_column_info {
    const char *name;
    u32 bits;
    const char *why;
} log_column_info;

const log_lane_info *log_lane_at(u32 number);     /* number < LOG_LANE_COUNT */
const log_column_info *log_column_at(u32 number); /* number < LOG_COLUMN_COUNT */

/* The bytes of a row with these columns. */
u32 log_row_bytes(u32 columns);

typedef struct question {
    const char *name;
    u32 lanes, columns; /* masks */
    u8 passes;    /* passes over the log: 1, or 2 if the meaning of a row depends on a later one */
    bool is_live; /* parts are processed as they close, so nothing is kept */
    bool is_planned; /* no command uses it yet */
} question;

/* The questions, ordered by name. */
u32 question_count(void);
const question *question_at(u32 index);
const question *question_named(const char *name); /* NULL: none */

typedef struct question_refinement {
    const char *name; /* "--thread", "--group-by type" */
    u32 columns;
    /* It needs facts about an allocation that are known only when the block ends. Sums are added up
     * then; a curve needs a first pass. */
    bool wants_fate;
    bool is_planned;
} question_refinement;

u32 question_refinement_count(void);
const question_refinement *question_refinement_at(u32 index);
const question_refinement *question_refinement_named(const char *name); /* NULL: none */

/* The needs of the question with the refinement. */
question question_refined(const question *asked, const question_refinement *by);

#endif
