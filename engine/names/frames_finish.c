/*
 * frames_finish.c - applies everything that depends on names of functions: culling, required
 * and excluded frames, tags, sites and allocated types.
 *
 * In: resolved stacks, and symbols. Out: finished stacks, each with the frames that culling leaves,
 * its site, tag and type.
 *
 * Culling goes from the innermost frame outwards and needs a name only for a frame before which all
 * were culled. One by one, each stack would ask for one name at a time. Here all stacks advance
 * together:
 *
 *     round 1   every stack stops at its first frame without a name ──▶ all names at once
 *     round 2   every stack ends, or stops further out ──▶ all names at once ...
 *
 * Most stacks end within a few rounds, and outer frames, which are the majority, need no name. A
 * frame may be several calls, one inlined into the other. Each counts as a frame to culling, so a
 * finished stack may begin within one. Invariant: the result does not depend on which stacks are
 * finished together.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "frames.h"
#include "symbols.h"

#define FIRST_TYPE_FRAMES 4u  /* looked at for an allocated type, then twice as many */
#define LINE_TEXT_SIZE    12u /* of a colon, a number of ten digits and a NUL */

/* What is known about a frame. */
typedef struct frame_note {
    u16 culled; /* innermost calls that match */
    bool is_culled_known;
    bool is_asked; /* in this round */
} frame_note;

/* The progress of culling a stack. */
typedef struct cull_progress {
    u32 frame; /* the innermost one left, as an index into the stack */
    u32 skip;  /* calls of it that are culled */
    bool is_done;
} cull_progress;

typedef struct finisher {
    frame_table *table;
    etlheap_symbols *symbols;
    size_t stack_count, frame_count; /* as resolved; finishing adds more */
    frame_note *notes;               /* by frame */
    cull_progress *progress;         /* by stack id - 1 */
    ETLHEAP_VECTOR(u32) asked;       /* frames to name next */
    ETLHEAP_VECTOR(symbol_place) places;
} finisher;

static bool open_finisher(finisher *s, frame_table *table);
static void close_finisher(finisher *s);
static etl_status name_asked(finisher *s, etl_error *err);
static etl_status cull_stacks(finisher *s, etl_error *err);
static etl_status mark_wanted(finisher *s, bool *wanted, etl_error *err);
static etl_status find_types(finisher *s, etl_error *err);
static etl_status find_tags(finisher *s, u32 *tags, etl_error *err);
static bool add_finished(finisher *s, const bool *wanted, const u32 *tags);
static etl_status find_sites(finisher *s, etl_error *err);
static etl_status find_functions(finisher *s, etl_error *err);
static etl_status find_source_lines(finisher *s, etl_error *err);

etl_status frames_finish(frame_table *table, etl_error *err)
{
    const etlheap_query *const query = table->query;
    finisher s;
    etl_status status = ETL_OK;
    bool *wanted = NULL;
    u32 *tags = NULL; /* by stack */
    assert(query->symbols != NULL && table->finished == NULL);
    if (open_finisher(&s, table)) {
        wanted = calloc(s.stack_count + 1, sizeof *wanted);
        tags = calloc(s.stack_count + 1, sizeof *tags);
    }
    if (wanted == NULL || tags == NULL)
        status = etl_no_memory(err);
    if (status == ETL_OK)
        status = cull_stacks(&s, err);
    if (status == ETL_OK)
        status = mark_wanted(&s, wanted, err);
    if (status == ETL_OK && query_groups_by(query, ETLHEAP_KEY_TYPE_NAME))
        status = find_types(&s, err);
    if (status == ETL_OK && query_groups_by(query, ETLHEAP_KEY_TAG))
        status = find_tags(&s, tags, err);
    if (status == ETL_OK && !add_finished(&s, wanted, tags))
        status = etl_no_memory(err);
    const bool by_site =
        query_groups_by(query, ETLHEAP_KEY_FRAME) || query_groups_by(query, ETLHEAP_KEY_SITE);
    if (status == ETL_OK && by_site)
        status = find_sites(&s, err);
    if (status == ETL_OK && query_groups_by(query, ETLHEAP_KEY_FUNCTION))
        status = find_functions(&s, err);
    if (status == ETL_OK && query_groups_by(query, ETLHEAP_KEY_SOURCE_LINE))
        status = find_source_lines(&s, err);
    close_finisher(&s);
    free(wanted);
    free(tags);
    return status;
}

static bool open_finisher(finisher *s, frame_table *table)
{
    *s = (finisher){ .table = table,
                     .symbols = table->query->symbols,
                     .stack_count = table->stacks.count,
                     .frame_count = table->frames.count };
    s->notes = calloc(s->frame_count + 1, sizeof *s->notes);
    s->progress = calloc(s->stack_count + 1, sizeof *s->progress);
    return s->notes != NULL && s->progress != NULL;
}

static void close_finisher(finisher *s)
{
    free(s->notes);
    free(s->progress);
    ETLHEAP_VECTOR_FREE(&s->asked);
    ETLHEAP_VECTOR_FREE(&s->places);
}

/* --- names of frames --------------------------------------------------------- */

static u32 frame_at(const finisher *s, size_t stack, u32 at)
{
    return s->table->pool.at[s->table->stacks.at[stack].start + at];
}

/* Must the frame's name still be asked for? */
static bool is_unnamed(const finisher *s, u32 frame)
{
    const frame_row *const row = &s->table->frames.at[frame];
    return row->name == 0 && row->module != FRAME_NONE;
}

/* Asks for the name of a frame; false without memory. */
static bool ask(finisher *s, u32 frame)
{
    assert(frame < s->frame_count);
    if (!is_unnamed(s, frame) || s->notes[frame].is_asked)
        return true;
    s->notes[frame].is_asked = true;
    return ETLHEAP_PUSH(&s->asked, frame);
}

static etl_status name_asked(finisher *s, etl_error *err)
{
    s->places.count = 0;
    for (size_t i = 0; i < s->asked.count; i++) {
        const frame_row *const row = &s->table->frames.at[s->asked.at[i]];
        const symbol_place place = { .offset = row->offset, .module = row->module };
        if (!ETLHEAP_PUSH(&s->places, place))
            return etl_no_memory(err);
    }
    const etl_status status = symbols_resolve(s->symbols, s->places.at, s->places.count, err);
    for (size_t i = 0; status == ETL_OK && i < s->asked.count; i++) {
        s->table->frames.at[s->asked.at[i]].name = s->places.at[i].name;
        s->notes[s->asked.at[i]].is_asked = false;
    }
    s->asked.count = 0;
    return status;
}

static bool call_matches(const finisher *s, const frame_patterns *patterns, u32 frame,
                         const frame_calls *calls, u32 at)
{
    const u32 text = calls->levels == NULL ? 0 : calls->levels[at].name;
    return frame_patterns_match(patterns, frames_module(s->table, frame),
                                text == 0 ? NULL : symbols_text(s->symbols, text),
                                calls->quality == SYMBOL_QUALITY_EXPORT);
}

/* --- culling ------------------------------------------------------------------- */

/* The number of innermost calls of a named frame that match. */
static u32 culled_calls(finisher *s, u32 frame, const frame_calls *calls)
{
    frame_note *const note = &s->notes[frame];
    if (!note->is_culled_known) {
        u32 culled = 0;
        while (culled < calls->count && call_matches(s, &s->table->cull, frame, calls, culled))
            culled++;
        note->culled = (u16)culled;
        note->is_culled_known = true;
    }
    return note->culled;
}

/* Culls as far as names are known; the last call of a stack always stays. True if the name of the
 * current frame is needed. */
static bool advance(finisher *s, size_t stack)
{
    cull_progress *const p = &s->progress[stack];
    const u32 count = s->table->stacks.at[stack].count;
    while (!p->is_done) {
        const u32 frame = frame_at(s, stack, p->frame);
        const frame_verdict verdict = frames_verdict(s->table, &s->table->cull, frame);
        const bool is_last = p->frame + 1 == count;
        bool is_culled = verdict == FRAME_VERDICT_ALL;
        if (verdict == FRAME_VERDICT_BY_NAME) {
            if (is_unnamed(s, frame))
                return true;
            const frame_calls calls = frames_calls(s->table, frame);
            const u32 culled = culled_calls(s, frame, &calls);
            is_culled = culled == calls.count;
            p->skip = is_culled ? calls.count - 1 : culled;
        }
        p->is_done = !is_culled || is_last;
        if (!p->is_done) {
            p->frame++;
            p->skip = 0;
        }
    }
    return false;
}

static etl_status cull_stacks(finisher *s, etl_error *err)
{
    etl_status status;
    bool any;
    do {
        for (size_t i = 0; i < s->stack_count; i++) {
            if (advance(s, i) && !ask(s, frame_at(s, i, s->progress[i].frame)))
                return etl_no_memory(err);
        }
        any = s->asked.count > 0;
        status = name_asked(s, err);
    } while (any && status == ETL_OK);
    return status;
}

/* --- required and excluded frames ------------------------------------------------- */

static bool frame_matches(const finisher *s, const frame_patterns *patterns, u32 frame)
{
    const frame_verdict verdict = frames_verdict(s->table, patterns, frame);
    if (verdict != FRAME_VERDICT_BY_NAME)
        return verdict == FRAME_VERDICT_ALL;
    const frame_calls calls = frames_calls(s->table, frame);
    for (u32 i = 0; i < calls.count; i++) {
        if (call_matches(s, patterns, frame, &calls, i))
            return true;
    }
    return false;
}

/* Asks for the names that decide which frames of the stack match; false without memory. */
static bool ask_matching(finisher *s, const frame_patterns *patterns, size_t stack)
{
    for (u32 i = 0; i < s->table->stacks.at[stack].count; i++) {
        const u32 frame = frame_at(s, stack, i);
        if (frames_verdict(s->table, patterns, frame) == FRAME_VERDICT_BY_NAME && !ask(s, frame))
            return false;
    }
    return true;
}

/* Marks the stacks that have a frame which matches. The names that decide are known. False without
 * memory. */
static bool mark_matching(const finisher *s, const frame_patterns *patterns, bool *stacks)
{
    bool *const frames = calloc(s->frame_count + 1, sizeof *frames);
    if (frames == NULL)
        return false;
    for (u32 i = 0; i < s->frame_count; i++)
        frames[i] = frame_matches(s, patterns, i);
    for (size_t i = 0; i < s->stack_count; i++) {
        for (u32 k = 0; k < s->table->stacks.at[i].count && !stacks[i]; k++)
            stacks[i] = frames[frame_at(s, i, k)];
    }
    free(frames);
    return true;
}

/* A frame that is culled still counts. */
static etl_status mark_wanted(finisher *s, bool *wanted, etl_error *err)
{
    const frame_patterns *const require = &s->table->require, *const exclude = &s->table->exclude;
    bool *const excluded = calloc(s->stack_count + 1, sizeof *excluded);
    bool ok = excluded != NULL;
    for (size_t i = 0; ok && i < s->stack_count; i++)
        ok = (require->count == 0 || ask_matching(s, require, i)) &&
             (exclude->count == 0 || ask_matching(s, exclude, i));
    const etl_status status = ok ? name_asked(s, err) : ETL_OK;
    if (ok && status == ETL_OK)
        ok = (require->count == 0 || mark_matching(s, require, wanted)) &&
             (exclude->count == 0 || mark_matching(s, exclude, excluded));
    for (size_t i = 0; ok && status == ETL_OK && i < s->stack_count; i++)
        wanted[i] = query_selects_stack(s->table->query, wanted[i], excluded[i]);
    free(excluded);
    return ok ? status : etl_no_memory(err);
}

/* --- allocated types --------------------------------------------------------------- */

static u32 type_at(const finisher *s, u32 frame)
{
    const u32 name = s->table->frames.at[frame].name;
    return name == 0 ? 0 : symbols_name(s->symbols, name)->alloc_type;
}

/* Asks for frames `first` to `end` of the stacks without a type; false without memory. *any: there
 * were such frames. */
static bool ask_types(finisher *s, u32 first, u32 end, bool *any)
{
    *any = false;
    for (size_t i = 0; i < s->stack_count; i++) {
        const u32 count = s->table->stacks.at[i].count;
        for (u32 k = first; s->table->alloc_types[i + 1] == 0 && k < end && k < count; k++) {
            *any = true;
            if (!ask(s, frame_at(s, i, k)))
                return false;
        }
    }
    return true;
}

/* Finds the innermost call that is known to allocate a type; calls within it are allocators. It is
 * mostly near the innermost end, so looking at twice as many frames each time takes few rounds and
 * few names. */
static etl_status find_types(finisher *s, etl_error *err)
{
    u32 *const types = calloc(s->stack_count + 1, sizeof *types);
    etl_status status = ETL_OK;
    bool any = types != NULL;
    s->table->alloc_types = types;
    for (u32 first = 0, end = FIRST_TYPE_FRAMES; any && status == ETL_OK; first = end, end *= 2) {
        if (!ask_types(s, first, end, &any))
            break;
        status = name_asked(s, err);
        for (size_t i = 0; status == ETL_OK && i < s->stack_count; i++) {
            const u32 count = s->table->stacks.at[i].count;
            for (u32 k = first; k < end && k < count && types[i + 1] == 0; k++)
                types[i + 1] = type_at(s, frame_at(s, i, k));
        }
    }
    const bool ok = types != NULL && !any;
    return ok || status != ETL_OK ? status : etl_no_memory(err);
}

/* --- tags ------------------------------------------------------------------------- */

/* Asks for the functions that tags depend on; false without memory. */
static bool ask_tagged(finisher *s, size_t stack)
{
    bool ok = true;
    for (u32 i = 0; ok && i < s->table->stacks.at[stack].count; i++) {
        const u32 frame = frame_at(s, stack, i);
        if (frames_tag_needs_name(s->table, frame, &ok))
            ok = ask(s, frame);
    }
    return ok;
}

/* Asks for the functions beside the entry points of hints. */
static bool ask_neighbour(finisher *s, size_t stack)
{
    const frame_stack *const row = &s->table->stacks.at[stack];
    u32 neighbour;
    return frames_tag_neighbour(s->table, s->table->pool.at + row->start, row->count, &neighbour) &&
           (neighbour == FRAME_NONE || ask(s, neighbour));
}

static etl_status find_tags(finisher *s, u32 *tags, etl_error *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < s->stack_count; i++)
        ok = ask_tagged(s, i);
    etl_status status = ok ? name_asked(s, err) : ETL_OK;
    for (size_t i = 0; ok && status == ETL_OK && i < s->stack_count; i++)
        ok = ask_neighbour(s, i);
    if (ok && status == ETL_OK)
        status = name_asked(s, err);
    for (size_t i = 0; ok && status == ETL_OK && i < s->stack_count; i++) {
        const frame_stack *const row = &s->table->stacks.at[i];
        ok = frames_tag(s->table, s->table->pool.at + row->start, row->count, &tags[i]);
    }
    return ok ? status : etl_no_memory(err);
}

/* --- what is left -------------------------------------------------------------- */

static bool add_finished(finisher *s, const bool *wanted, const u32 *tags)
{
    frame_table *const table = s->table;
    u32 frames[2 * STACK_FRAMES_MAX];
    table->finished = calloc(s->stack_count + 1, sizeof *table->finished);
    table->resolved_count = s->stack_count;
    if (table->finished == NULL)
        return false;
    for (size_t i = 0; i < s->stack_count; i++) {
        const cull_progress *const p = &s->progress[i];
        u32 count = table->stacks.at[i].count - p->frame;
        for (u32 k = 0; k < count; k++)
            frames[k] = frame_at(s, i, p->frame + k);
        if (p->skip > 0 && !frames_add_skipped(table, frames[0], p->skip, &frames[0]))
            return false;
        if (!frames_fold_prepare(table, frames, count))
            return false;
        count = frames_fold(table, frames, count);
        const frame_stack row = { .count = count, .tag = tags[i], .wanted = wanted[i] };
        if (!frames_add_stack(table, frames, &row, &table->finished[i + 1]))
            return false;
    }
    return true;
}

/* --- sites ------------------------------------------------------------------------ */

/* Names the innermost frames that culling leaves, or all. A partly culled frame has the name of the
 * whole one; only the whole one may be asked for. */
static etl_status name_finished(finisher *s, bool innermost_only, etl_error *err)
{
    const frame_table *const table = s->table;
    bool ok = true;
    for (size_t i = 0; ok && i < s->stack_count; i++) {
        const frame_stack *const stack = &table->stacks.at[table->finished[i + 1] - 1];
        const u32 count = !stack->wanted ? 0 : innermost_only ? 1 : stack->count;
        for (u32 k = 0; ok && k < count; k++) {
            const u32 frame = table->pool.at[stack->start + k];
            ok = frame >= s->frame_count || ask(s, frame);
        }
    }
    return ok ? name_asked(s, err) : etl_no_memory(err);
}

static etl_status find_sites(finisher *s, etl_error *err)
{
    frame_table *const table = s->table;
    const size_t count = table->stacks.count;
    etlheap_index index = { 0 };
    const etl_status status = name_finished(s, true, err);
    table->sites = calloc(count + 1, sizeof *table->sites);
    bool ok = table->sites != NULL;
    for (u32 id = (u32)s->stack_count + 1; ok && status == ETL_OK && id <= count; id++) {
        const u32 frame = frames_innermost(table, id);
        if (table->stacks.at[id - 1].wanted)
            ok = frames_function_at(table, &index, frame, table->frames.at[frame].skip,
                                    &table->sites[id]);
    }
    etlheap_index_free(&index);
    frames_gather_lines(table);
    return ok ? status : etl_no_memory(err);
}

/* Adds the functions of a frame: those of its calls that are not culled. */
static bool add_functions(frame_table *table, etlheap_index *index, u32 frame)
{
    const u32 count = frames_calls(table, frame).count;
    bool ok = true;
    for (u32 at = table->frames.at[frame].skip; ok && at < count; at++) {
        u32 function;
        ok = frames_function_at(table, index, frame, at, &function) &&
             ETLHEAP_PUSH(&table->functions_of.frames, function);
    }
    return ok;
}

static etl_status find_functions(finisher *s, etl_error *err)
{
    frame_table *const table = s->table;
    function_lists *const lists = &table->functions_of;
    const size_t count = table->stacks.count;
    etlheap_index index = { 0 };
    const etl_status status = name_finished(s, false, err);
    lists->starts = calloc(count + 2, sizeof *lists->starts);
    bool ok = lists->starts != NULL;
    for (u32 id = 1; ok && status == ETL_OK && id <= count; id++) {
        const frame_stack *const stack = &table->stacks.at[id - 1];
        const bool is_wanted = id > s->stack_count && stack->wanted;
        for (u32 k = 0; ok && is_wanted && k < stack->count; k++)
            ok = add_functions(table, &index, table->pool.at[stack->start + k]);
        ok = ok && lists->frames.count <= UINT32_MAX;
        lists->starts[id + 1] = (u32)lists->frames.count;
    }
    etlheap_index_free(&index);
    frames_gather_lines(table);
    return ok ? status : etl_no_memory(err);
}

/* Interns "FILE:LINE" of the call that a frame stands for; 0 if the PDB does not say. */
static bool source_line_of(finisher *s, u32 frame, u32 *text)
{
    const frame_row *const row = &s->table->frames.at[frame];
    const frame_calls calls = frames_calls(s->table, frame);
    const symbol_level *const level = calls.levels == NULL ? NULL : &calls.levels[row->skip];
    if (level == NULL || level->file == 0 || level->line == 0)
        return true;
    const char *const file = symbols_text(s->symbols, level->file);
    const size_t size = strlen(file) + LINE_TEXT_SIZE;
    char *const spelled = malloc(size);
    if (spelled == NULL)
        return false;
    const int length = snprintf(spelled, size, "%s:%" PRIu32, file, level->line);
    const bool ok = etlheap_strings_add(&s->symbols->strings, spelled, (size_t)length, text);
    free(spelled);
    return ok;
}

/* Neighbours mostly have the same site, whose text is made once. */
static etl_status find_source_lines(finisher *s, etl_error *err)
{
    frame_table *const table = s->table;
    const size_t count = table->stacks.count;
    const etl_status status = name_finished(s, true, err);
    u32 frame_before = FRAME_NONE, text = 0;
    table->source_lines = calloc(count + 1, sizeof *table->source_lines);
    bool ok = table->source_lines != NULL;
    for (u32 id = (u32)s->stack_count + 1; ok && status == ETL_OK && id <= count; id++) {
        const u32 frame = frames_innermost(table, id);
        if (!table->stacks.at[id - 1].wanted)
            continue;
        if (frame != frame_before) {
            text = 0;
            ok = source_line_of(s, frame, &text);
        }
        frame_before = frame;
        table->source_lines[id] = text;
    }
    return ok ? status : etl_no_memory(err);
}
