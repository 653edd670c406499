/*
 * frames_guess.c - counts stacks with frames in modules not known to be loaded at that time.
 *
 * Where a trace lost the load or unload of a module, or does not have it, an address is
 * named by what lay there at another time (modules.h). Such names may be wrong, so the
 * stacks that have them are counted (module_guessed). Most stacks fall within the time when
 * all modules of the process are loaded, so one comparison decides them:
 *
 *     loads and unloads of the process   |  | ||            |      |   ||
 *     no look-up is a guess                     |<-------->|
 *     nor any of this stack               |<----------------------->|
 *
 * For the others, the time during which all their frames are certain is computed once per
 * stack and context. Look-ups within a context have the same answer at all times, so
 * which moment is asked for first does not matter; nor does the order of stacks.
 */
#include "frames.h"

#define SPAN_ALWAYS  (UINT32_MAX - 1) /* its frames are sure at any time */
#define SPAN_COUNTED UINT32_MAX       /* as a guess */

static bool is_within(const module_span *span, i64 ticks)
{
    return ticks >= span->from_ticks && ticks < span->until_ticks;
}

static void narrow(module_span *span, const module_span *by)
{
    span->from_ticks = by->from_ticks > span->from_ticks ? by->from_ticks : span->from_ticks;
    span->until_ticks = by->until_ticks < span->until_ticks ? by->until_ticks : span->until_ticks;
}

/* `process` 0: the kernel. */
static const module_span *sure_span(frame_table *table, u32 pid, u32 process)
{
    frame_sureness *const sure = &table->finder.sure[process];
    if (!sure->is_known) {
        sure->span = modules_sure_span(&table->result->modules, pid, process);
        sure->is_known = true;
    }
    return &sure->span;
}

static bool find_span(frame_table *table, frame_cache *entry, i64 ticks)
{
    const stack_table *const stacks = &table->result->stacks;
    const frame_context *const context = &table->finder.contexts.at[entry->context - 1];
    const module_space space = { context->pid, context->process, ticks };
    const u32 *const numbers = stack_numbers(stacks, entry->stack);
    const u32 count = stack_get(stacks, entry->stack).count;
    module_span span = MODULE_SPAN_ALWAYS;
    u32 last = FRAME_NONE;
    for (u32 i = 0; i < count; i++) {
        const u64 address = stacks->addresses[numbers[i]];
        const u32 module = frames_module_at(table, context, table->finder.hints, address, ticks);
        if (module == FRAME_NONE || module == last)
            continue;
        const module_span of_module = modules_span(&table->result->modules, module, &space);
        narrow(&span, &of_module);
        last = module;
    }
    entry->span = SPAN_ALWAYS;
    if (span.from_ticks == INT64_MIN && span.until_ticks == INT64_MAX)
        return true;
    if (table->spans.count >= SPAN_ALWAYS - 1 || !ETLHEAP_PUSH(&table->spans, span))
        return false;
    entry->span = (u32)table->spans.count;
    return true;
}

bool frames_note_guess(frame_table *table, frame_cache *entry, i64 ticks)
{
    const frame_context *const context = &table->finder.contexts.at[entry->context - 1];
    if (entry->span >= SPAN_ALWAYS)
        return true;
    if (is_within(sure_span(table, context->pid, context->process), ticks) &&
        is_within(sure_span(table, MODULES_KERNEL_PID, 0), ticks))
        return true;
    if (entry->span == 0 && !find_span(table, entry, ticks))
        return false;
    if (entry->span == SPAN_ALWAYS || is_within(&table->spans.at[entry->span - 1], ticks))
        return true;
    entry->span = SPAN_COUNTED;
    table->guessed_count++;
    return true;
}
