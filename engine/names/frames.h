/*
 * frames.h - turns raw stacks into frames of modules, for output and grouping.
 *
 * The same code has different addresses in different processes and boots, so frames are shown and
 * grouped as module + offset. A raw stack is resolved once per process and module epochs (its own
 * and the kernel's); equal results share an id.
 *
 * With symbols, culling depends on names, and names are cheap only for many frames at once. So
 * there are two steps: frames_resolve for all needed stacks, then frames_finish once
 * (frames_finish.c). After that, frames_finished gives the remaining stack of each. Without symbols
 * that is the stack itself.
 *
 * The tag of a stack depends on all its frames. Stacks that are equal after culling but have
 * different tags are therefore different stacks.
 */
#ifndef ETLHEAP_FRAMES_H
#define ETLHEAP_FRAMES_H

#include "engine/query/query.h"
#include "frame_patterns.h"
#include "symbols.h"
#include "tags.h"

#define FRAME_NONE UINT32_MAX

/* A distinct frame: (module, offset), or an address outside all modules. */
typedef struct frame_row {
    u64 offset; /* in the module, or the address */
    u64 address;
    u32 module;   /* index of the module that represents its build; FRAME_NONE */
    u32 skip;     /* number of culled inlined calls at its inner end */
    u32 name;     /* id for symbols_name; 0: not looked up */
    u32 function; /* index into functions + 1: represents all its frames; 0: a frame */
} frame_row;

/* A function that sites are grouped by. Texts are owned by the symbols. */
typedef struct frame_function {
    u32 namesake; /* module */
    u32 symbol, file, line;
    u32 displacement; /* displacement of its lowest frame, for guesses */
    u32 frame;        /* the row that represents it */
    bool is_nearest;
    u32 last_file, last_line;     /* added to function_lines last */
    u32 lines_first, lines_count; /* its places in the source, in function_lines */
} frame_function;

/* A place in the source of a function. */
typedef struct function_line {
    u32 function; /* index into functions */
    u32 file, line;
} function_line;

/* A distinct stack of frames after culling. Id 0 is "no stack". */
typedef struct frame_stack {
    u32 start, count; /* into pool */
    u32 tag;          /* text id in the tags; 0: not grouped by tag */
    bool wanted;      /* frames let the query select it */
} frame_stack;

/* The tag of a frame's calls: the one of highest priority, of equal ones the innermost. */
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

/* A context, in which addresses have one meaning: a process at a time. */
typedef struct frame_context {
    u32 process, epoch, kernel_epoch;
    u32 pid;
    bool is_steady, is_kernel_steady; /* no address changes its module over time */
    u64 *known; /* bit by address number: the address has its own representative frame */
    u32 known_words;
} frame_context;

/* The result for a raw stack in a context: resolved stack + 1; 0: none. */
typedef struct frame_cache {
    u32 context, stack, resolved;
    u32 span; /* see frames_guess.c; 0: not determined */
} frame_cache;

/* The time in which no look-up in a process is a guess. */
typedef struct frame_sureness {
    module_span span;
    bool is_known;
} frame_sureness;

#define FRAME_HINTS 256u /* a power of two */

/* Finds the frames of addresses: see frames_find.c. */
typedef struct frame_finder {
    ETLHEAP_VECTOR(u32) standing; /* by address number: the representative frame + 1; 0: none */
    ETLHEAP_VECTOR(frame_context) contexts;
    etlheap_index context_index;
    u32 *contexts_by_process; /* the last context of each + 1 */
    frame_sureness *sure;     /* by process; 0: the kernel */
    bool *moves;              /* by representative module: it is loaded at several addresses */
    u64 known_bytes;          /* bytes in all contexts */
    u32 hints[FRAME_HINTS];   /* by address bits: a module that was there, + 1 */
} frame_finder;

/* The functions of each stack, innermost first. */
typedef struct function_lists {
    u32 *starts; /* by finished stack id, and one more: into frames; NULL: there are no lists */
    ETLHEAP_VECTOR(u32) frames;
} function_lists;

typedef struct frame_table {
    const etlheap_result *result;
    const etlheap_query *query;
    u32 *canonical; /* by module: the module that represents its path and build */
    u32 *namesakes; /* by module: the first module with this name */
    frame_patterns cull, require, exclude, fold;
    u32 *folded; /* by namesake: the frame that stands for the module + 1; NULL: nothing folds */
    tag_matcher tags;                     /* empty if not grouped by tag */
    ETLHEAP_VECTOR(frame_tag) frame_tags; /* by frame */
    ETLHEAP_VECTOR(frame_row) frames;
    ETLHEAP_VECTOR(u32) pool; /* frame indices */
    ETLHEAP_VECTOR(frame_stack) stacks;
    etlheap_index frame_index, stack_index;
    frame_cache *firsts; /* by stack: its result in the first context */
    u32 first_count;
    ETLHEAP_VECTOR(frame_cache) cache; /* results in other contexts */
    etlheap_index cache_index;
    ETLHEAP_VECTOR(module_span) spans; /* times in which frames of stacks are not guesses */
    u64 guessed_count;                 /* number of (stack, context) with guessed frames */
    frame_finder finder;
    u32 *ranks;                  /* by frame, after frames_rank: rank in frames_compare order */
    size_t resolved_count;       /* number of stacks when they were finished */
    u32 *finished;               /* by resolved stack id: the remaining stack; NULL: itself */
    u32 *alloc_types;            /* by resolved stack id: symbols_text; NULL: none */
    u32 *sites;                  /* by finished stack id: frame of its site; NULL: innermost */
    function_lists functions_of; /* by finished stack id; empty: its frames */
    u32 *source_lines;           /* by finished stack id: symbols_text, "FILE:LINE"; NULL: none */
    ETLHEAP_VECTOR(frame_function) functions;
    ETLHEAP_VECTOR(function_line) function_lines; /* by function, each once */
} frame_table;

/* Opens a table. If memory runs out, returns false, and the table is empty and may be closed. */
bool frames_open(frame_table *out, const etlheap_result *result, const etlheap_query *query);
void frames_close(frame_table *table);

/* Resolves the stack of a lifetime. Its addresses must have numbers. False if memory runs out. */
bool frames_resolve(frame_table *table, u32 process, u32 stack, i64 ticks, u32 *id);

/* A stack to resolve, in a process at a time. */
typedef struct stack_place {
    i64 ticks;
    u32 process, stack;
} stack_place;

/* Replaces the process and time of a stack that another process made with those of its
 * addresses. */
static inline stack_place frames_asked(const frame_table *table, stack_place place)
{
    const foreign_stack *const found = foreign_find(&table->result->foreign, place.stack);
    if (found == NULL)
        return place;
    const bool is_timed = found->ticks != ETLHEAP_TICKS_NEVER;
    return (stack_place){ is_timed ? found->ticks : place.ticks, found->process, place.stack };
}

/* Resolves many stacks together, which is faster than one by one. Those that cannot be are left to
 * frames_resolve. False if memory runs out. */
bool frames_resolve_all(frame_table *table, const stack_place *places, size_t count);

/*
 * Names the frames that culling, filters by frames, sites and types need, and culls all stacks
 * resolved so far. Only for queries with symbols; call it once. ETL_ERR_MEMORY, ETL_ERR_CANCELLED.
 */
etl_status frames_finish(frame_table *table, etl_error *err);

/* The remaining stack of a resolved one. */
static inline u32 frames_finished(const frame_table *table, u32 id)
{
    assert(table->finished == NULL || id <= table->resolved_count);
    return table->finished == NULL ? id : table->finished[id];
}

/* Do its frames let the query select a finished stack? Only for queries that select by frames. */
static inline bool frames_wants(const frame_table *table, u32 id)
{
    return id == 0 ? query_selects_stack(table->query, false, false)
                   : table->stacks.at[id - 1].wanted;
}

/* The innermost frame of a finished stack; FRAME_NONE for id 0. */
u32 frames_innermost(const frame_table *table, u32 id);

/* The site of a finished stack: like frames_innermost, but the whole function if its name is
 * known. */
u32 frames_site(const frame_table *table, u32 id);

/* The functions of a finished stack, innermost first; a frame without a name stands for itself.
 * Each may be there several times. Only for queries that group by function. */
const u32 *frames_functions(const frame_table *table, u32 id, u32 *count);

/* Goes through the functions of one stack after the other, each once, innermost first. */
typedef struct function_steps {
    const frame_table *table;
    u32 *seen; /* by frame: the last stack that had it, by its number here */
    u32 stack_number;
    const u32 *functions; /* of the current stack */
    u32 count, next;
} function_steps;

/* False if memory runs out. No frames may be added while it is open. Close it in any case. */
bool function_steps_open(function_steps *steps, const frame_table *table);
void function_steps_close(function_steps *steps);

/* Begins a finished stack. */
void function_steps_begin(function_steps *steps, u32 stack);

/* The next function; a stack without any has FRAME_NONE. False after the last one. */
bool function_steps_next(function_steps *steps, u32 *frame);

/* Where the site of a finished stack is in the source: symbols_text; 0: unknown. */
u32 frames_source_line(const frame_table *table, u32 id);

/* --- finding (frames_find.c) --------------------------------------------------- */

/* Opens the finder. The representative modules must be known. False if memory runs out. */
bool frames_finder_open(frame_table *table);
void frames_finder_close(frame_finder *finder);
u64 frames_finder_bytes(const frame_finder *finder);

/* Finds the context of a process at a time. False if memory runs out. */
bool frames_context(frame_table *table, u32 process, i64 ticks, u32 *context);

/* The module of an address in a context, at a time in it; FRAME_NONE: none. `hints` has FRAME_HINTS
 * modules found before. */
u32 frames_module_at(const frame_table *table, const frame_context *context, u32 *hints,
                     u64 address, i64 ticks);

/* Counts a stack resolved at `ticks`, once per context, if a module of its frames was not loaded at
 * that time. False if memory runs out. */
bool frames_note_guess(frame_table *table, frame_cache *entry, i64 ticks);

/* Finds the `count` frames of a raw stack. False if memory runs out. */
bool frames_find(frame_table *table, u32 context, u32 stack, i64 ticks, u32 *frames);

/* --- for frames_batch.c --------------------------------------------------------- */

/* Allocates room for all stacks of the result. False if memory runs out. */
bool frames_prepare(frame_table *table);

enum address_flag {
    ADDRESS_ASKED = 1, /* its frame is needed */
    ADDRESS_CULLED = 2,
    ADDRESS_STRAY = 4 /* another frame represents the address */
};

/* Flags of addresses in a context, by number. */
typedef struct address_flags {
    _Atomic u8 *at; /* address_flag */
    u32 *modules;   /* modules at requested addresses; FRAME_NONE: none */
    u32 context;
    i64 ticks;   /* a time in the context */
    bool strays; /* some addresses are strays */
} address_flags;

/* Looks up the modules of the requested numbers from `first` to `end`, exclusive. Any thread, while
 * none finds frames. */
void frames_look_up(const frame_table *table, const address_flags *flags, u32 first, u32 end);

/* Call it after frames_look_up for all numbers. Finds the frames of the requested ones, and sets
 * their flags. False if memory runs out. */
bool frames_find_flagged(frame_table *table, address_flags *flags);

/* Finds the frames of a stack after that, and the number of innermost ones that are culled without
 * symbols. False: one is a stray. Any thread, while none finds other frames. */
bool frames_known(const frame_table *table, const address_flags *flags, u32 stack, u32 *frames,
                  u32 *culled);

/* The row of a stack without its `culled` innermost frames, except the place. Any thread, after
 * frames_verdict was called for all its frames. */
frame_stack frames_row(const frame_table *table, const u32 *frames, u32 count, u32 culled);

u64 frames_hash(const u32 *frames, u32 count);

/* Adds a stack with frames that are already in the pool. */
bool frames_add_pooled(frame_table *table, const frame_stack *row, u64 hash, u32 *id);

/* --- for frames_finish.c ------------------------------------------------------ */

/* The result of the patterns for the frame's module. */
frame_verdict frames_verdict(const frame_table *table, const frame_patterns *patterns, u32 frame);

/* Finds or adds the frame with this content. False if memory runs out. */
bool frames_intern(frame_table *table, const frame_row *row, u32 *frame);

/* Finds or adds the frame without `skip` inlined calls at its inner end. */
bool frames_add_skipped(frame_table *table, u32 frame, u32 skip, u32 *out);

/* Adds a stack of these frames, with the other members of its row. */
bool frames_add_stack(frame_table *table, const u32 *frames, const frame_stack *row, u32 *id);

/* The calls of a frame as far as they are known. */
frame_calls frames_calls(const frame_table *table, u32 frame);

/* --- functions (frames_functions.c) --------------------------------------------------- */

/* The row that stands for the function of a call of a frame; if it has no name, the frame itself.
 * `index` is of table->functions. False if memory runs out. */
bool frames_function_at(frame_table *table, etlheap_index *index, u32 frame, u32 at, u32 *out);

/* Leaves each place in the source once, and tells functions which are theirs. */
void frames_gather_lines(frame_table *table);

/* --- folding (frames_fold.c) ------------------------------------------------------- */

/* Opens the patterns of modules to fold. False if memory runs out. */
bool frames_fold_open(frame_table *table);

/* Makes the frames that stand for modules of these frames. False if memory runs out. */
bool frames_fold_prepare(frame_table *table, const u32 *frames, u32 count);

/* Folds the frames of a stack in place, and returns how many are left. Any thread, after
 * frames_fold_prepare for all of them. */
u32 frames_fold(const frame_table *table, u32 *frames, u32 count);

/* --- tags (frames_tags.c), for queries that group by them ------------------------ */

/* True if the frame's tag depends on its function. Sets *ok to false if memory runs out. */
bool frames_tag_needs_name(frame_table *table, u32 frame, bool *ok);

/* Finds the frame whose function is part of the stack's tag; FRAME_NONE: the names that
 * frames_tag_needs_name requires are enough. False if memory runs out. */
bool frames_tag_neighbour(frame_table *table, const u32 *frames, u32 count, u32 *neighbour);

/* Finds the tag of a stack of frames before culling. False if memory runs out. */
bool frames_tag(frame_table *table, const u32 *frames, u32 count, u32 *text);

/* --- order -------------------------------------------------------------------- */

/* The name of the frame's module, or NULL. */
const char *frames_module(const frame_table *table, u32 frame);

/* Frames ordered by module name, then offset or address: the same in every run. frames_rank ranks
 * all frames, after which comparisons are fast and prefixes are available. False if memory runs
 * out. */
bool frames_rank(frame_table *table);
int frames_compare(const frame_table *table, u32 a, u32 b);
int frames_compare_stacks(const frame_table *table, u32 a, u32 b);

/* The prefix of a stack, or of a frame: stacks with different prefixes are in the order of these,
 * and so are frames. Call frames_rank first. */
u64 frames_prefix(const frame_table *table, u32 id);
u64 frames_prefix_of_frame(const frame_table *table, u32 frame);

#endif
