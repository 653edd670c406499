/*
 * gate_apart.c - computes how many frames of a stack must be shown so that no two listed stacks
 * read alike.
 *
 * In: the stacks that `check` lists for a budget. Stacks of one subject are told apart from each
 * other; if subjects are stacks themselves, all of one budget are. Out: a number of frames for
 * each.
 *
 *     stacks, sorted by their frames               frames to show
 *         alloc ← grow ← load                      3: the next one differs in its third
 *         alloc ← grow ← save ← main               3
 *         alloc ← read ← main                      2
 *
 * After sorting, the stack that shares the most leading frames with a given stack is one of its two
 * neighbours. Invariant: frames are compared as they are printed, by function and line; two
 * addresses of one line read alike. Two stacks that print the same to the end are shown whole.
 */
#include <stdlib.h>

#include "gate.h"

/* A stack to compare, and where to put its number of frames. */
typedef struct apart {
    const etlheap_table *table;
    const char *process;
    u32 kind, pid;
    u32 stack;
    u32 *frames;
} apart;

typedef ETLHEAP_VECTOR(apart) apart_list;

static bool add_stacks(apart_list *list, const gate_unsigned *listed);
static bool add_subject(apart_list *list, const gate_unsigned *listed);
static void tell(apart_list *list);
static int by_frames(const void *a, const void *b);
static u32 count_alike(const apart *a, const apart *b);

bool gate_tell_apart(owned_gate *gate)
{
    apart_list subjects = { 0 }, stacks = { 0 };
    bool ok = true;
    for (size_t i = 0; ok && i < gate->listed.count; i++) {
        const gate_unsigned *const listed = &gate->listed.at[i];
        if (i > 0 && listed->budget != listed[-1].budget)
            tell(&subjects);
        ok = add_stacks(&stacks, listed) && add_subject(&subjects, listed);
        tell(&stacks);
    }
    tell(&subjects);
    /* Subjects that are stacks have exactly one stack, which is compared with those of the
     * others. */
    for (size_t i = 0; i < gate->listed.count; i++) {
        const gate_unsigned *const listed = &gate->listed.at[i];
        if (listed->budget->budget.scope == ETLHEAP_SCOPE_STACK && listed->subject->stack_count > 0)
            listed->stacks[0].frames_apart = listed->subject->frames_apart;
    }
    ETLHEAP_VECTOR_FREE(&subjects);
    ETLHEAP_VECTOR_FREE(&stacks);
    return ok;
}

/* The stacks to blame for one subject. */
static bool add_stacks(apart_list *list, const gate_unsigned *listed)
{
    for (u32 i = 0; i < listed->subject->stack_count; i++) {
        etlheap_gate_stack *const stack = &listed->stacks[i];
        const apart one = { .table = listed->budget->table,
                            .process = stack->process,
                            .stack = stack->stack,
                            .frames = &stack->frames_apart };
        if (!ETLHEAP_PUSH(list, one))
            return false;
    }
    return true;
}

/* A subject that is a stack. */
static bool add_subject(apart_list *list, const gate_unsigned *listed)
{
    const apart one = { .table = listed->budget->table,
                        .process = listed->subject->process,
                        .kind = listed->subject->kind,
                        .pid = listed->subject->pid,
                        .stack = listed->subject->stack,
                        .frames = &listed->subject->frames_apart };
    return listed->budget->budget.scope != ETLHEAP_SCOPE_STACK || ETLHEAP_PUSH(list, one);
}

static u32 frame_count(const apart *of)
{
    if (of->stack == ETLHEAP_NO_INDEX)
        return 0;
    return of->table->stack_starts[of->stack + 1] - of->table->stack_starts[of->stack];
}

/* Computes the numbers for the stacks of a list, and empties it. */
static void tell(apart_list *list)
{
    if (list->count > 1)
        qsort(list->at, list->count, sizeof *list->at, by_frames);
    for (size_t i = 0; i < list->count; i++) {
        const apart *const at = &list->at[i];
        u32 alike = i > 0 ? count_alike(at, at - 1) : 0;
        if (i + 1 < list->count) {
            const u32 with_next = count_alike(at, at + 1);
            alike = with_next > alike ? with_next : alike;
        }
        *at->frames = alike < frame_count(at) ? alike + 1 : alike;
    }
    list->count = 0;
}

static int compare_u64(u64 a, u64 b)
{
    return a < b ? -1 : a > b;
}

static int compare_names(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int compare_frames(const etlheap_frame *a, const etlheap_frame *b)
{
    int order = compare_names(a->module, b->module);
    if (order == 0)
        order = compare_names(a->symbol, b->symbol);
    if (order == 0 && a->module == NULL)
        return compare_u64(a->address, b->address);
    if (order == 0 && a->symbol == NULL)
        order = compare_u64(a->offset, b->offset);
    if (order == 0)
        order =
            compare_u64(a->is_nearest ? a->displacement : 0, b->is_nearest ? b->displacement : 0);
    if (order == 0)
        order = compare_u64(a->line, b->line);
    if (order == 0 && a->line != 0)
        order = compare_names(a->file, b->file);
    return order != 0 ? order : compare_u64(a->is_inlined, b->is_inlined);
}

static const etlheap_frame *frame_of(const apart *of, u32 place)
{
    const etlheap_table *const table = of->table;
    return &table->frames[table->frame_indices[table->stack_starts[of->stack] + place]];
}

static int compare_owners(const apart *a, const apart *b)
{
    int order = compare_u64(a->kind, b->kind);
    if (order == 0)
        order = compare_names(a->process, b->process);
    return order != 0 ? order : compare_u64(a->pid, b->pid);
}

/* The number of leading frames that both share. Stacks of different owners share none, because the
 * owner is shown before the frames. */
static u32 count_alike(const apart *a, const apart *b)
{
    const u32 most = frame_count(a) < frame_count(b) ? frame_count(a) : frame_count(b);
    u32 count = 0;
    if (compare_owners(a, b) != 0)
        return 0;
    while (count < most && compare_frames(frame_of(a, count), frame_of(b, count)) == 0)
        count++;
    return count;
}

static int by_frames(const void *a, const void *b)
{
    const apart *const left = a;
    const apart *const right = b;
    const int order = compare_owners(left, right);
    if (order != 0)
        return order;
    const u32 alike = count_alike(left, right);
    if (alike < frame_count(left) && alike < frame_count(right))
        return compare_frames(frame_of(left, alike), frame_of(right, alike));
    return compare_u64(frame_count(left), frame_count(right));
}
