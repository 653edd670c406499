/*
 * frames_tags.c - finds the tag of a stack: the tag of the frame that decides.
 *
 * In: the frames of a stack, the tag matcher (tags.c), and names if tags depend on functions. Out:
 * the text of the tag.
 *
 *     frames' tags    -, "Allocators" (priority -1), "Strings", -    ──▶ highest priority, then
 *                                                                        innermost: "Strings"
 *
 * A frame's tag is worked out once, as soon as its function is known if that matters. A hint tag
 * adds the callee or caller of its entry point, which is looked at only after the hint has won.
 * Invariant: a stack without a tag has the text `other`; a frame's tag must not be asked for before
 * its name is known.
 */
#include "frames.h"

/* A call of a stack: inline level `level` of frame `at`. */
typedef struct stack_call {
    u32 at, level;
    bool is_there;
} stack_call;

static u32 find_tag(frame_table *table, const u32 *frames, u32 count, stack_call *call, bool *ok);
static stack_call neighbour_of(const frame_table *table, const u32 *frames, u32 count,
                               const stack_call *call, etlheap_tag_hint hint);

static size_t slot_of(const frame_table *table, u32 frame)
{
    const u32 module = table->frames.at[frame].module;
    return module == FRAME_NONE ? table->result->modules.list.count : module;
}

/* The name of a call, NULL when it is not known. */
static const char *call_name(const frame_table *table, const frame_calls *calls, u32 level)
{
    const u32 text = calls->levels == NULL ? 0 : calls->levels[level].name;
    return text == 0 ? NULL : symbols_text(table->query->symbols, text);
}

bool frames_tag_needs_name(frame_table *table, u32 frame, bool *ok)
{
    const size_t slot = slot_of(table, frame);
    *ok = tag_matcher_prepare(&table->tags, slot, frames_module(table, frame));
    return *ok && tag_depends_on_function(&table->tags, slot);
}

bool frames_tag_neighbour(frame_table *table, const u32 *frames, u32 count, u32 *neighbour)
{
    bool ok = true;
    stack_call call;
    *neighbour = FRAME_NONE;
    const u32 tag = find_tag(table, frames, count, &call, &ok);
    if (tag == TAG_NONE || !table->tags.tags->rows.at[tag].hint_names_function)
        return ok;
    const tag_row *const row = &table->tags.tags->rows.at[tag];
    const stack_call beside =
        neighbour_of(table, frames, count, &call, (etlheap_tag_hint)row->hint);
    if (beside.is_there)
        *neighbour = frames[beside.at];
    return ok;
}

bool frames_tag(frame_table *table, const u32 *frames, u32 count, u32 *text)
{
    bool ok = true;
    stack_call call;
    const u32 tag = find_tag(table, frames, count, &call, &ok);
    *text = table->tags.tags->other;
    if (tag == TAG_NONE)
        return ok;
    const tag_row *const row = &table->tags.tags->rows.at[tag];
    const stack_call beside =
        neighbour_of(table, frames, count, &call, (etlheap_tag_hint)row->hint);
    if (!beside.is_there)
        return tag_text(&table->tags, tag, NULL, NULL, text);
    const u32 frame = frames[beside.at];
    const frame_calls calls = frames_calls(table, frame);
    const u32 level = beside.level < calls.count ? beside.level : calls.count - 1;
    const char *const module = frames_module(table, frame);
    return tag_text(&table->tags, tag, module == NULL ? "?" : module,
                    call_name(table, &calls, level), text);
}

/* The highest priority wins, and of equals the innermost. */
static u32 tag_of_calls(const frame_table *table, u32 frame, u16 *level)
{
    const tag_row *const rows = table->tags.tags->rows.at;
    const frame_calls calls = frames_calls(table, frame);
    u32 best = TAG_NONE;
    for (u32 i = 0; i < calls.count; i++) {
        const u32 tag =
            tag_of_function(&table->tags, slot_of(table, frame), call_name(table, &calls, i));
        if (tag != TAG_NONE && (best == TAG_NONE || rows[tag].priority > rows[best].priority)) {
            best = tag;
            *level = (u16)i;
        }
    }
    return best;
}

/* Makes sure that the frame's tag is known; false without memory. */
static bool know_tag(frame_table *table, u32 frame)
{
    while (table->frame_tags.count <= frame) {
        if (!ETLHEAP_PUSH(&table->frame_tags, (frame_tag){ .tag = TAG_NONE }))
            return false;
    }
    frame_tag *const made = &table->frame_tags.at[frame];
    if (made->is_known)
        return true;
    if (!tag_matcher_prepare(&table->tags, slot_of(table, frame), frames_module(table, frame)))
        return false;
    made->tag = tag_of_calls(table, frame, &made->level);
    made->is_known = true;
    return true;
}

/* The tag that decides; TAG_NONE if no frame has one, or if *ok is false, without memory. */
static u32 find_tag(frame_table *table, const u32 *frames, u32 count, stack_call *call, bool *ok)
{
    const tag_row *const rows = table->tags.tags->rows.at;
    u32 best = TAG_NONE;
    for (u32 i = 0; i < count; i++) {
        if (!know_tag(table, frames[i])) {
            *ok = false;
            return TAG_NONE;
        }
        const frame_tag *const made = &table->frame_tags.at[frames[i]];
        if (made->tag == TAG_NONE)
            continue;
        if (best == TAG_NONE || rows[made->tag].priority > rows[best].priority) {
            best = made->tag;
            *call = (stack_call){ .at = i, .level = made->level, .is_there = true };
        }
    }
    return best;
}

/* The call inside the entry point, or around it. UINT32_MAX stands for the outermost level of a
 * frame that has no name yet. */
static stack_call neighbour_of(const frame_table *table, const u32 *frames, u32 count,
                               const stack_call *call, etlheap_tag_hint hint)
{
    const stack_call none = { .is_there = false };
    switch (hint) {
    case ETLHEAP_TAG_CALLEE:
        if (call->level > 0)
            return (stack_call){ call->at, call->level - 1, true };
        return call->at == 0 ? none : (stack_call){ call->at - 1, UINT32_MAX, true };
    case ETLHEAP_TAG_CALLER:
        if (call->level + 1 < frames_calls(table, frames[call->at]).count)
            return (stack_call){ call->at, call->level + 1, true };
        return call->at + 1 == count ? none : (stack_call){ call->at + 1, 0, true };
    case ETLHEAP_TAG_PLAIN:
        break;
    }
    return none;
}
