/*
 * frames.h - raw stacks as frames of modules, for output and grouping.
 *
 * The same code has different addresses in different processes and boots, so
 * what is shown and grouped is module + offset. A raw stack is resolved once
 * per process and module epochs, its own and the kernel's; equal results share
 * one id.
 *
 * With symbols, what culling leaves depends on names, and names are cheap only
 * for many frames at once. So it takes two steps: frames_resolve of all stacks
 * that matter, then frames_settle once (frames_settle.c); frames_settled gives
 * the stack that is left of each. Without symbols that is the stack itself.
 *
 * A stack's tag goes by all its frames, so stacks that are equal after culling
 * may have different ones; they are then different stacks.
 */
#ifndef ETLHEAP_FRAMES_H
#define ETLHEAP_FRAMES_H

#include "engine/query/query.h"
#include "symbols.h"
#include "tags.h"

#define FRAME_NONE UINT32_MAX

/* A distinct frame: (module, offset), or an address outside every module. */
typedef struct frame_row {
    u64 offset; /* in the module, or the address */
    u64 address;
    u32 module;   /* index of the module that stands for its build; FRAME_NONE */
    u32 skip;     /* inlined calls at its inner end that were culled */
    u32 name;     /* of symbols_name; 0: not looked up */
    u32 function; /* into functions, + 1: stands for all frames of one; 0: a frame */
} frame_row;

/* A function that sites are grouped by. Texts are those of the symbols. */
typedef struct frame_function {
    u32 namesake; /* module */
    u32 symbol, file, line;
    u32 displacement; /* of its lowest frame, for a guess */
    u32 frame;        /* the row that stands for it */
    bool is_nearest;
} frame_function;

/* A distinct stack of frames after culling; id 0 is "no stack". */
typedef struct frame_stack {
    u32 start, count; /* into pool */
    u32 tag;          /* text of the tags' strings; 0: not grouped by */
    bool wanted;      /* passes --require-frame */
} frame_stack;

/* The tag of a frame's calls: that of the highest priority, innermost of equals. */
typedef struct frame_tag {
    u32 tag; /* TAG_NONE */
    u16 level;
    bool is_known;
} frame_tag;

/* A frame's calls, innermost first. A frame without a name is one call. */
typedef struct frame_calls {
    const symbol_level *levels; /* NULL: no name */
    u32 count;
    u8 quality; /* symbol_quality */
} frame_calls;

/* What addresses mean: that of a process at a time. */
typedef struct frame_context {
    u32 process, epoch, kernel_epoch;
    u32 pid;
    bool is_steady, is_kernel_steady; /* no address is of other modules at other times */
    u64 *known; /* a bit by number of an address: it is the frame that stands for it */
    u32 known_words;
} frame_context;

/* What a raw stack became in a context, + 1; 0: there is none. */
typedef struct frame_cache {
    u32 context, stack, resolved;
    u32 span; /* see frames_guess.c; 0: not known yet */
} frame_cache;

/* For one process: when no look-up is a guess. */
typedef struct frame_sureness {
    module_span span;
    bool is_known;
} frame_sureness;

#define FRAME_HINTS 256u /* a power of two */

/* What finds the frames of addresses: see frames_find.c. */
typedef struct frame_finder {
    ETLHEAP_VECTOR(u32) standing; /* by number: the frame that stands for it, + 1; 0: none */
    ETLHEAP_VECTOR(frame_context) contexts;
    etlheap_index context_index;
    u32 *contexts_by_process; /* the last one of each, + 1 */
    frame_sureness *sure;     /* by process; 0: the kernel */
    bool *moves;              /* by module that stands for its build: it lies at several places */
    u64 known_bytes;          /* of all contexts */
    u32 hints[FRAME_HINTS];   /* by parts of addresses: a module that was there, + 1 */
} frame_finder;

/* What a list of patterns says of a module's frames, whatever their functions. */
typedef enum frame_verdict {
    FRAME_VERDICT_UNKNOWN, /* not looked at yet */
    FRAME_VERDICT_NONE,
    FRAME_VERDICT_ALL,
    FRAME_VERDICT_BY_NAME /* depends on the function */
} frame_verdict;

typedef struct frame_patterns {
    const etlheap_pattern *at;
    u32 count;
    u8 *verdicts; /* frame_verdict by module; behind the last one: no module */
} frame_patterns;

typedef struct frame_table {
    const etlheap_result *result;
    const etlheap_query *query;
    u32 *canonical; /* by module: the module that stands for its path and build */
    u32 *namesakes; /* by module: the first module of the same name */
    frame_patterns cull, require;
    tag_matcher tags;                     /* empty when not grouped by tag */
    ETLHEAP_VECTOR(frame_tag) frame_tags; /* by frame */
    ETLHEAP_VECTOR(frame_row) frames;
    ETLHEAP_VECTOR(u32) pool; /* frame indices */
    ETLHEAP_VECTOR(frame_stack) stacks;
    etlheap_index frame_index, stack_index;
    frame_cache *firsts; /* by stack: what it became where it was met first */
    u32 first_count;
    ETLHEAP_VECTOR(frame_cache) cache; /* and in other contexts */
    etlheap_index cache_index;
    ETLHEAP_VECTOR(module_span) spans; /* of stacks of which frames are no guess at times */
    u64 guessed_count;                 /* stacks, in their contexts, with frames that are guesses */
    frame_finder finder;
    u32 *ranks;            /* by frame, after frames_rank: places in frames_compare order */
    size_t resolved_count; /* stacks when they were settled */
    u32 *settled;          /* by stack id as resolved: the stack that is left; NULL: itself */
    u32 *alloc_types;      /* by stack id as resolved: symbols_text; NULL: none */
    u32 *sites;            /* by stack id as settled: frame of its site; NULL: innermost */
    ETLHEAP_VECTOR(frame_function) functions;
} frame_table;

/* False without memory; the table is then empty, and closing it is harmless. */
bool frames_open(frame_table *out, const etlheap_result *result, const etlheap_query *query);
void frames_close(frame_table *table);

/* The resolved stack of a lifetime, whose addresses have numbers; false without memory. */
bool frames_resolve(frame_table *table, u32 process, u32 stack, i64 ticks, u32 *id);

/* What is going to be asked for, once or more. */
typedef struct frame_question {
    i64 ticks;
    u32 process, stack;
} frame_question;

/* The same of a stack that another process has made: whose addresses it has, and when. */
static inline frame_question frames_asked(const frame_table *table, frame_question question)
{
    const foreign_stack *const found = foreign_find(&table->result->foreign, question.stack);
    if (found == NULL)
        return question;
    const bool is_timed = found->ticks != ETLHEAP_TICKS_NEVER;
    return (frame_question){ is_timed ? found->ticks : question.ticks, found->process,
                             question.stack };
}

/* Resolves what can be resolved together, which is faster than one by one; the others
 * are left to frames_resolve. False without memory. */
bool frames_resolve_all(frame_table *table, const frame_question *questions, size_t count);

/*
 * Names what culling, required frames, sites and types need, and culls all stacks
 * resolved so far. For queries with symbols, once. ETL_ERR_MEMORY,
 * ETL_ERR_CANCELLED.
 */
etl_status frames_settle(frame_table *table, etl_error *err);

/* The stack that is left of a resolved one. */
static inline u32 frames_settled(const frame_table *table, u32 id)
{
    assert(table->settled == NULL || id <= table->resolved_count);
    return table->settled == NULL ? id : table->settled[id];
}

/* The innermost frame of a settled stack, FRAME_NONE for id 0. */
u32 frames_innermost(const frame_table *table, u32 id);

/* The same, but a function as a whole when its name is known. */
u32 frames_site(const frame_table *table, u32 id);

/* --- finding (frames_find.c) --------------------------------------------------- */

/* After the modules that stand for others are known. False without memory. */
bool frames_finder_open(frame_table *table);
void frames_finder_close(frame_finder *finder);
u64 frames_finder_bytes(const frame_finder *finder);

/* The index of a process's context at a time. False without memory. */
bool frames_context(frame_table *table, u32 process, i64 ticks, u32 *context);

/* The module of an address in a context at one of its moments; FRAME_NONE: none. `hints`
 * are FRAME_HINTS of modules found before. */
u32 frames_module_at(const frame_table *table, const frame_context *context, u32 *hints,
                     u64 address, i64 ticks);

/* Counts a stack that was resolved for `ticks`, once for its context, if the modules of its
 * frames were not all there at that moment. False without memory. */
bool frames_note_guess(frame_table *table, frame_cache *entry, i64 ticks);

/* The frames of a raw stack, of which there are `count`. False without memory. */
bool frames_find(frame_table *table, u32 context, u32 stack, i64 ticks, u32 *frames);

/* --- for frames_batch.c --------------------------------------------------------- */

/* Makes room for all stacks of the result. False without memory. */
bool frames_prepare(frame_table *table);

enum frame_mark {
    FRAME_MARK_ASKED = 1, /* somebody needs its frame */
    FRAME_MARK_CULLED = 2,
    FRAME_MARK_STRAY = 4 /* another frame stands for the address */
};

/* What is known of addresses in a context, by number. */
typedef struct frame_marks {
    _Atomic u8 *at; /* frame_mark */
    u32 *modules;   /* at the addresses that are asked for; FRAME_NONE: none */
    u32 context;
    i64 ticks;   /* a moment of it */
    bool strays; /* there are some */
} frame_marks;

/* Looks up the modules of the numbers from `first` to `end`, exclusive, that are asked
 * for. By any thread while nobody finds frames. */
void frames_look_up(const frame_table *table, const frame_marks *marks, u32 first, u32 end);

/* After that was done for all numbers: finds the frames of those that are asked for, and
 * says in the marks what stacks are to know of them. False without memory. */
bool frames_find_marked(frame_table *table, frame_marks *marks);

/* The frames of a stack after that, and how many innermost ones of them go
 * without symbols; false: one is a stray. By any thread while nobody finds others. */
bool frames_known(const frame_table *table, const frame_marks *marks, u32 stack, u32 *frames,
                  u32 *culled);

/* What is left of a stack when `culled` of its frames go: its row but for the place.
 * By any thread once frames_verdict was asked for all of the frames. */
frame_stack frames_row(const frame_table *table, const u32 *frames, u32 count, u32 culled);

u64 frames_hash(const u32 *frames, u32 count);

/* A stack whose frames are in the pool already. */
bool frames_add_pooled(frame_table *table, const frame_stack *row, u64 hash, u32 *id);

/* --- for frames_settle.c ------------------------------------------------------ */

/* What the patterns say of the frame's module. */
frame_verdict frames_verdict(const frame_table *table, const frame_patterns *patterns, u32 frame);

/* Does a pattern match the module and a function of it? The name may be NULL. */
bool frames_match(const frame_patterns *patterns, const char *module, const char *symbol,
                  bool is_guess);

/* The frame of equal content, added if need be. False without memory. */
bool frames_intern(frame_table *table, const frame_row *row, u32 *frame);

/* The frame less `skip` inlined calls at its inner end. */
bool frames_add_skipped(frame_table *table, u32 frame, u32 skip, u32 *out);

/* A stack of frames as they are, and the rest of its row. */
bool frames_add_stack(frame_table *table, const u32 *frames, const frame_stack *row, u32 *id);

/* What is known of the frame's calls so far. */
frame_calls frames_calls(const frame_table *table, u32 frame);

/* --- tags (frames_tags.c), for queries that group by them ------------------------ */

/* Whether the frame's tag depends on its function; false in *ok without memory. */
bool frames_tag_needs_name(frame_table *table, u32 frame, bool *ok);

/* The frame whose function is part of the stack's tag; FRAME_NONE: the names that
 * frames_tag_needs_name asks for are enough. False without memory. */
bool frames_tag_neighbour(frame_table *table, const u32 *frames, u32 count, u32 *neighbour);

/* The tag of a stack of frames before culling. False without memory. */
bool frames_tag(frame_table *table, const u32 *frames, u32 count, u32 *text);

/* --- order -------------------------------------------------------------------- */

/* Module's name or NULL. */
const char *frames_module(const frame_table *table, u32 frame);

/* By module name, then offset or address, the same for every run. frames_rank puts
 * all frames in that order, after which many comparisons are fast, and prefixes can
 * be had. False without memory. */
bool frames_rank(frame_table *table);
int frames_compare(const frame_table *table, u32 a, u32 b);
int frames_compare_stacks(const frame_table *table, u32 a, u32 b);

/* Stacks whose prefixes differ are in the order of their prefixes. After frames_rank. */
u64 frames_prefix(const frame_table *table, u32 id);

#endif
