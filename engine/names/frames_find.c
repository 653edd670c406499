/*
 * frames_find.c - finds the frames of raw stacks.
 *
 * In: a stack, its process and a time. Out: numbers of interned frames, one for each address.
 *
 * The meaning of an address depends on the process and the moment: its context. Finding the module
 * and then the frame takes two searches for each frame of each stack, but all stacks together have
 * few addresses. So addresses have numbers, and the first frame that an address became stands for
 * it. Modules nearly always lie at one place in all processes; then that frame is right in every
 * context, and a bit of the context says so for the next stack.
 *
 *     address --> number --> known here? --> the standing frame
 *                            not yet ------> module --> the standing frame, a new
 *                                                       one, or one of the index
 *
 * A frame outside of modules, or of a module that lies at only one place, has just one address. It
 * is in the index only if another frame stands for that address; which of them came first does not
 * show. Invariant: a bit "known here" may be set only after the module at the address was looked up
 * in this context.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "engine/context/methods.h"
#include "frames.h"

#define NUMBERS_AHEAD   64u            /* fetched while others are looked up */
#define CULLED_AHEAD    3u             /* innermost frames, which culling will look at */
#define HINT_SHIFT      16             /* modules begin where 64 KiB do */
#define KNOWN_BYTES_MAX (16 * ETL_MIB) /* of all; the others look up every frame */

static inline bool has_flag(const address_flags *flags, u32 number, enum address_flag flag);
static bool find_number(frame_table *table, frame_context *where, address_flags *flags, u32 number);
static bool fit_standing(frame_finder *finder, u32 count);
static bool fit_known(frame_finder *finder, frame_context *context, u32 count);
static bool find_frame(frame_table *table, frame_context *context, const frame_row *row, u32 number,
                       u32 *frame);
static frame_row row_of(const frame_table *table, const frame_context *context, u32 module,
                        u64 address, i64 ticks);

bool frames_finder_open(frame_table *table)
{
    const module_table *const modules = &table->result->modules;
    frame_finder *const finder = &table->finder;
    finder->contexts_by_process =
        calloc(table->result->processes.count + 1, sizeof *finder->contexts_by_process);
    finder->sure = calloc(table->result->processes.count + 1, sizeof *finder->sure);
    finder->moves = calloc(modules->list.count + 1, sizeof *finder->moves);
    for (u32 i = 0; finder->moves != NULL && i < modules->list.count; i++) {
        const u32 stands = table->canonical[i];
        finder->moves[stands] |= modules->list.at[i].base != modules->list.at[stands].base ||
                                 modules_function(&modules->list.at[i]) != NULL;
    }
    return finder->contexts_by_process != NULL && finder->sure != NULL && finder->moves != NULL;
}

void frames_finder_close(frame_finder *finder)
{
    for (size_t i = 0; i < finder->contexts.count; i++)
        free(finder->contexts.at[i].known);
    ETLHEAP_VECTOR_FREE(&finder->contexts);
    etlheap_index_free(&finder->context_index);
    ETLHEAP_VECTOR_FREE(&finder->standing);
    free(finder->contexts_by_process);
    free(finder->sure);
    free(finder->moves);
    *finder = (frame_finder){ .moves = NULL };
}

u64 frames_finder_bytes(const frame_finder *finder)
{
    return finder->standing.capacity * sizeof *finder->standing.at +
           finder->contexts.capacity * sizeof *finder->contexts.at + finder->known_bytes;
}

static bool same_context(const void *owner, u32 id, const void *key)
{
    const frame_finder *const finder = owner;
    const frame_context *const a = &finder->contexts.at[id - 1], *const b = key;
    return a->process == b->process && a->epoch == b->epoch && a->kernel_epoch == b->kernel_epoch;
}

/* Finds the context: the process's last one, or one of the index. */
bool frames_context(frame_table *table, u32 process, i64 ticks, u32 *context)
{
    const module_table *const modules = &table->result->modules;
    frame_finder *const finder = &table->finder;
    u32 *const last = &finder->contexts_by_process[process];
    frame_context key = { .process = process, .pid = table->result->processes.at[process - 1].pid };
    if (modules->epochs.count > 0) {
        key.epoch = modules_epoch(modules, key.pid, ticks);
        key.kernel_epoch = modules_epoch(modules, 0, ticks);
    }
    if (*last == 0 || !same_context(finder, *last, &key)) {
        const u64 hash = etlheap_hash_bytes(&key, offsetof(frame_context, pid));
        u32 id = etlheap_index_find(&finder->context_index, hash, same_context, finder, &key);
        if (id == 0) {
            key.is_steady = !modules_has_epochs(modules, key.pid);
            key.is_kernel_steady = !modules_has_epochs(modules, 0);
            id = (u32)finder->contexts.count + 1;
            if (!ETLHEAP_PUSH(&finder->contexts, key) ||
                !etlheap_index_add(&finder->context_index, hash, id))
                return false;
        }
        *last = id;
    }
    *context = *last - 1;
    return true;
}

static inline bool is_known(const frame_context *context, u32 number)
{
    return number / 64 < context->known_words &&
           (context->known[number / 64] >> number % 64 & 1) != 0;
}

/* Finds the frames of a stack. Stacks are mostly asked for one after the other, so the data of the
 * next ones is prefetched too. */
bool frames_find(frame_table *table, u32 context, u32 stack, i64 ticks, u32 *frames)
{
    frame_finder *const finder = &table->finder;
    frame_context *const where = &finder->contexts.at[context];
    const stack_table *const stacks = &table->result->stacks;
    const u32 *const numbers = stack_numbers(stacks, stack);
    const u32 count = stack_get(stacks, stack).count;
    assert(numbers != NULL);
    if ((finder->standing.count < stacks->number_count && !frames_prepare(table)) ||
        !fit_known(finder, where, stacks->number_count))
        return false;
    /* Prefetches from here on, into the stacks that follow. */
    const size_t ahead = stacks->numbered_count - (size_t)(numbers - stacks->numbers);
    for (u32 i = 0; i < count; i++) {
        const u32 number = numbers[i];
        if (i + NUMBERS_AHEAD < ahead)
            __builtin_prefetch(&finder->standing.at[numbers[i + NUMBERS_AHEAD]]);
        if (is_known(where, number)) {
            frames[i] = finder->standing.at[number] - 1;
        } else {
            const u64 address = stacks->addresses[number];
            const u32 module = frames_module_at(table, where, finder->hints, address, ticks);
            const frame_row row = row_of(table, where, module, address, ticks);
            if (!find_frame(table, where, &row, number, &frames[i]))
                return false;
        }
        if (i < CULLED_AHEAD)
            __builtin_prefetch(&table->frames.at[frames[i]]);
    }
    return true;
}

/* Most questions are about all stacks, so all get numbers; those not asked about are not
 * touched. */
bool frames_prepare(frame_table *table)
{
    const stack_table *const stacks = &table->result->stacks;
    ETLHEAP_EXPECT(&table->frames, stacks->number_count);
    ETLHEAP_EXPECT(&table->stacks, stacks->list.count);
    ETLHEAP_EXPECT(&table->pool, stacks->numbered_count);
    return fit_standing(&table->finder, stacks->number_count);
}

/* Looks up modules, which takes longest. It changes only hints, and each part has its own. */
void frames_look_up(const frame_table *table, const address_flags *flags, u32 first, u32 end)
{
    u32 hints[FRAME_HINTS] = { 0 };
    const frame_context *const where = &table->finder.contexts.at[flags->context];
    const u64 *const addresses = table->result->stacks.addresses;
    for (u32 number = first; number < end; number++) {
        if (has_flag(flags, number, ADDRESS_ASKED) && !is_known(where, number))
            flags->modules[number] =
                frames_module_at(table, where, hints, addresses[number], flags->ticks);
    }
}

bool frames_find_flagged(frame_table *table, address_flags *flags)
{
    frame_context *const where = &table->finder.contexts.at[flags->context];
    const u32 count = table->result->stacks.number_count;
    if (!fit_known(&table->finder, where, count))
        return false;
    for (u32 number = 0; number < count; number++) {
        if (atomic_load_explicit(&flags->at[number], memory_order_relaxed) != 0 &&
            !find_number(table, where, flags, number))
            return false;
    }
    return true;
}

/* Works the verdict of patterns out, if there are any: several threads may ask for it later. */
static void judge(const frame_table *table, const frame_patterns *patterns, u32 frame)
{
    if (patterns->count > 0)
        (void)frames_verdict(table, patterns, frame);
}

/* Finds the frame of a number. Verdicts depend on the module, so they are worked out here. */
static bool find_number(frame_table *table, frame_context *where, address_flags *flags, u32 number)
{
    u32 frame;
    if (is_known(where, number)) {
        frame = table->finder.standing.at[number] - 1;
    } else {
        const u64 address = table->result->stacks.addresses[number];
        const frame_row row = row_of(table, where, flags->modules[number], address, flags->ticks);
        if (!find_frame(table, where, &row, number, &frame))
            return false;
    }
    const bool stands = table->finder.standing.at[number] == frame + 1;
    const bool culled = frames_verdict(table, &table->cull, frame) == FRAME_VERDICT_ALL;
    judge(table, &table->require, frame);
    judge(table, &table->exclude, frame);
    if (table->fold.count > 0 && table->query->symbols == NULL &&
        !frames_fold_prepare(table, &frame, 1))
        return false;
    flags->strays |= !stands;
    const u8 flag = ADDRESS_ASKED | (culled ? ADDRESS_CULLED : 0) | (stands ? 0 : ADDRESS_STRAY);
    atomic_store_explicit(&flags->at[number], flag, memory_order_relaxed);
    return true;
}

static inline bool has_flag(const address_flags *flags, u32 number, enum address_flag flag)
{
    return (atomic_load_explicit(&flags->at[number], memory_order_relaxed) & flag) != 0;
}

bool frames_known(const frame_table *table, const address_flags *flags, u32 stack, u32 *frames,
                  u32 *culled)
{
    const u32 *const standing = table->finder.standing.at;
    const u32 *const numbers = stack_numbers(&table->result->stacks, stack);
    const u32 count = stack_get(&table->result->stacks, stack).count;
    for (u32 i = 0; flags->strays && i < count; i++) {
        if (has_flag(flags, numbers[i], ADDRESS_STRAY))
            return false;
    }
    for (u32 i = 0; i < count; i++)
        frames[i] = standing[numbers[i]] - 1;
    *culled = 0;
    while (*culled + 1 < count && has_flag(flags, numbers[*culled], ADDRESS_CULLED))
        (*culled)++;
    return true;
}

/* Makes room for `count` numbers; new ones have no frame yet. */
static bool fit_standing(frame_finder *finder, u32 count)
{
    if (finder->standing.count >= count)
        return true;
    const size_t more = count - finder->standing.count;
    if (!ETLHEAP_RESERVE(&finder->standing, more))
        return false;
    memset(finder->standing.at + finder->standing.count, 0, more * sizeof *finder->standing.at);
    finder->standing.count = count;
    return true;
}

/* Makes room for `count` bits, unless all contexts together would take too much. */
static bool fit_known(frame_finder *finder, frame_context *context, u32 count)
{
    if (context->known_words >= (count + 63) / 64)
        return true;
    u32 words = context->known_words == 0 ? 1 : context->known_words;
    while (words < (count + 63) / 64)
        words *= 2;
    const u64 more = (words - context->known_words) * sizeof *context->known;
    if (finder->known_bytes + more > KNOWN_BYTES_MAX)
        return true;
    u64 *const known = realloc(context->known, words * sizeof *known);
    if (known == NULL)
        return false;
    memset(known + context->known_words, 0, (size_t)more);
    context->known = known;
    context->known_words = words;
    finder->known_bytes += more;
    return true;
}

/* The module at an address; mostly one that was found nearby. */
u32 frames_module_at(const frame_table *table, const frame_context *context, u32 *hints,
                     u64 address, i64 ticks)
{
    const module_space space = { context->pid, context->process, ticks };
    const module_table *const modules = &table->result->modules;
    const bool is_steady =
        stack_is_kernel_address(address, 8) ? context->is_kernel_steady : context->is_steady;
    u32 *const hint = &hints[(address >> HINT_SHIFT) % FRAME_HINTS];
    if (is_steady && *hint != 0 && modules_is_at(modules, *hint - 1, &space, address))
        return *hint - 1;
    const u32 module = modules_find(modules, &space, address);
    if (module != FRAME_NONE)
        *hint = module + 1;
    return module;
}

/* Makes a frame. The runtime's record of a method says more than the image that contains it. */
static frame_row row_of(const frame_table *table, const frame_context *context, u32 module,
                        u64 address, i64 ticks)
{
    const module_space space = { context->pid, context->process, ticks };
    const method_range *const method = methods_find(&table->result->modules, &space, address);
    if (method != NULL)
        return (frame_row){ .offset = address - method->start,
                            .address = address,
                            .module = table->canonical[method->module] };
    frame_row row = { .offset = address, .address = address, .module = FRAME_NONE };
    if (module != FRAME_NONE) {
        row.module = table->canonical[module];
        row.offset = address - table->result->modules.list.at[module].base;
    }
    return row;
}

static bool stands_for(const frame_table *table, u32 frame, const frame_row *row)
{
    const frame_row *const stands = &table->frames.at[frame];
    return stands->module == row->module && stands->offset == row->offset;
}

static bool find_frame(frame_table *table, frame_context *context, const frame_row *row, u32 number,
                       u32 *frame)
{
    u32 *const standing = &table->finder.standing.at[number];
    const bool moves = row->module != FRAME_NONE && table->finder.moves[row->module];
    if (*standing != 0 && stands_for(table, *standing - 1, row)) {
        *frame = *standing - 1;
    } else if (*standing == 0 && !moves) {
        if (table->frames.count >= UINT32_MAX - 1 || !ETLHEAP_PUSH(&table->frames, *row))
            return false;
        *frame = (u32)table->frames.count - 1;
    } else if (!frames_intern(table, row, frame)) {
        return false;
    }
    if (*standing == 0)
        *standing = *frame + 1;
    if (*standing == *frame + 1 && number / 64 < context->known_words)
        context->known[number / 64] |= (u64)1 << number % 64;
    return true;
}
