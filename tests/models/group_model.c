/*
 * group_model.c - makes random lifetimes, and groups them in the plainest way. group_model.h has
 * the idea.
 *
 * In: a seed, then queries. Out: rows with measures and peaks, as the engine should find them.
 *
 *     lifetime ──▶ its keys as text ──linear search──▶ group; peaks by trying every tick
 *
 * Invariant: it shares no code with the engine: frames of a stack are known because the model made
 * the stack, and text keys cannot collide as hashes might.
 */
#include "group_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/hand_bytes.h"

#define MODULES 4u
#define T0      HAND_START_TICKS

static const char *const process_names[MODEL_PROCESSES] = { "a.exe", "b.exe", "a.exe", "c.exe",
                                                            "a.exe" };
/* The first and the third look alike. */
static const u32 process_pids[MODEL_PROCESSES] = { 10, 20, 10, 30, 5 };
static const char *const module_names[MODULES] = { "app.exe", "lib.dll", "ntdll.dll", NULL };

/* Modules lie elsewhere in each process; the two instances of pid 10 share. */
static u64 base_of(u32 process, u32 module)
{
    return UINT64_C(0x100000000) * process_pids[process] + UINT64_C(0x1000000) * (module + 1);
}

static void add_modules(model_world *world)
{
    for (u32 p = 0; p < MODEL_PROCESSES; p++) {
        for (u32 m = 0; p != 2 && m + 1 < MODULES; m++) {
            char path[64];
            (void)snprintf(path, sizeof path, "C:\\x\\%s", module_names[m]);
            hand_image(&world->result->context, &(hand_image_spec){ .kind = ETL_EVENT_IMAGE_DCSTART,
                                                                    .pid = process_pids[p],
                                                                    .base = base_of(p, m),
                                                                    .size_bytes = 0x100000,
                                                                    .ticks = T0,
                                                                    .path = path });
        }
    }
}

static void add_stacks(model_world *world, u64 *random)
{
    for (u32 i = 0; i < MODEL_STACKS; i++) {
        model_stack *const stack = &world->stacks[i];
        stack->count = 1 + hand_random(random) % MODEL_DEPTH_MAX;
        for (u32 k = 0; k < stack->count; k++) {
            stack->module[k] = hand_random(random) % MODULES;
            stack->offset[k] = 0x10 + hand_random(random) % 3;
        }
        for (u32 p = 0; p < MODEL_PROCESSES; p++) {
            u64 frames[MODEL_DEPTH_MAX];
            for (u32 k = 0; k < stack->count; k++) {
                const bool bare = module_names[stack->module[k]] == NULL;
                frames[k] = stack->offset[k] + (bare ? 0 : base_of(p, stack->module[k]));
            }
            world->ids[i][p] = hand_stack(world->result, frames, stack->count);
        }
    }
}

static u64 random_size(u64 *random)
{
    static const u64 sizes[] = { 0, 1, 2, 3, 8, 100, 4096, 5000 };
    return sizes[hand_random(random) % ETL_COUNT_OF(sizes)];
}

/* Not of one of its heaps. */
static bool is_of_process(u8 kind)
{
    return kind == ETLHEAP_KIND_VIRTUALALLOC || kind == ETLHEAP_KIND_RESERVE;
}

static lifetime random_lifetime(u64 *random)
{
    lifetime row = { .kind = (u8)(hand_random(random) % ETLHEAP_KIND_COUNT),
                     .process = 1 + hand_random(random) % MODEL_PROCESSES,
                     .size = random_size(random),
                     .thread = hand_random(random) % 4 == 0 ? ETL_NO_ID : hand_random(random) % 3,
                     .is_realloc = hand_random(random) % 5 == 0 };
    const u64 heap = 0x1000 * (hand_random(random) % 3);
    row.heap = is_of_process(row.kind) ? 0 : heap;
    row.alloc_ticks = T0 + hand_random(random) % MODEL_TICKS;
    if (hand_random(random) % 10 == 0)
        row.alloc_ticks = ETLHEAP_TICKS_BEFORE;
    row.free_ticks = ETLHEAP_TICKS_NEVER;
    row.free_type = (u8)(hand_random(random) % ETLHEAP_FREE_TYPE_COUNT);
    if (row.free_type != ETLHEAP_FREE_NONE)
        row.free_ticks = row.alloc_ticks == ETLHEAP_TICKS_BEFORE
                             ? T0 + hand_random(random) % MODEL_TICKS
                             : row.alloc_ticks + hand_random(random) % 60;
    return row;
}

static void add_tags(model_world *world)
{
    static const etlheap_tag tags[] = { { .path = "System\\Library" },
                                        { .path = "System", .priority = 1 } };
    static const etlheap_pattern entries[] = { { .module = "lib.*" }, { .module = "NTDLL.dll" } };
    assert_int_equal(etlheap_tags_open(&world->tags, NULL), ETL_OK);
    for (u32 i = 0; i < ETL_COUNT_OF(tags); i++) {
        u32 id;
        assert_int_equal(etlheap_tags_add(world->tags, &tags[i], &id, NULL), ETL_OK);
        assert_int_equal(etlheap_tags_add_entry(world->tags, id, &entries[i], NULL), ETL_OK);
    }
}

/* Adds marks: two at one moment, and one after the last allocation. */
static void add_marks(model_world *world)
{
    static const struct {
        i64 ticks;
        const char *name;
    } marks[MODEL_MARKS] = { { T0 + 50, "a" },
                             { T0 + 120, "b" },
                             { T0 + 120, "c" },
                             { T0 + 260, "a" },
                             { T0 + MODEL_TICKS + 20, "d" } };
    mark_list *const list = &world->result->marks;
    for (u32 i = 0; i < MODEL_MARKS; i++) {
        const etlheap_mark mark = { .ticks = marks[i].ticks, .name = marks[i].name };
        world->marks[i] = marks[i].ticks;
        assert_true(ETLHEAP_PUSH(&list->made, mark));
    }
    assert_true(mark_list_number(list, world->result->base.base));
}

/* The number of marks at or before the moment. */
static u32 generation_of(const model_world *world, i64 ticks)
{
    u32 count = 0;
    for (u32 i = 0; i < MODEL_MARKS; i++)
        count += world->marks[i] <= ticks;
    return count;
}

model_world *model_world_new(u64 seed)
{
    model_world *const world = calloc(1, sizeof *world);
    assert_non_null(world);
    u64 random = seed;
    world->result = hand_result_new();
    for (u32 i = 0; i < MODEL_PROCESSES; i++)
        (void)hand_process(world->result, process_pids[i], process_names[i]);
    add_modules(world);
    add_stacks(world, &random);
    for (u32 i = 0; i < MODEL_ROWS; i++) {
        world->rows[i] = random_lifetime(&random);
        world->made[i] = hand_random(&random) % (MODEL_STACKS + 1);
        if (world->made[i] < MODEL_STACKS)
            world->rows[i].stack = world->ids[world->made[i]][world->rows[i].process - 1];
        hand_lifetime(world->result, &world->rows[i]);
    }
    hand_ready(world->result, T0 + MODEL_TICKS + 60);
    add_tags(world);
    add_marks(world);
    return world;
}

void model_world_free(model_world *world)
{
    etlheap_result_free(world->result);
    etlheap_tags_close(world->tags);
    free(world);
}

/* --- the model ------------------------------------------------------------------ */

void model_put(model_text *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(out->at, out->left, format, arguments);
    va_end(arguments);
    assert_true(written >= 0 && (size_t)written < out->left);
    out->at += written;
    out->left -= (size_t)written;
}

void model_put_frame(model_text *out, const char *module, u64 offset)
{
    model_put(out, " %s+%llx", module == NULL ? "?" : module, (unsigned long long)offset);
}

/* The innermost frame that culling leaves. */
static u32 first_frame(const model_stack *stack, const etlheap_query *query)
{
    u32 first = 0;
    while (query->cull_frame_count > 0 && first + 1 < stack->count &&
           module_names[stack->module[first]] != NULL &&
           strcmp(module_names[stack->module[first]], query->cull_frames[0].module) == 0)
        first++;
    return first;
}

static bool is_folded(const model_stack *stack, u32 frame, const etlheap_query *query)
{
    const char *const name = module_names[stack->module[frame]];
    return query->fold_module_count > 0 && name != NULL &&
           strcmp(name, query->fold_modules[0].module) == 0;
}

/* Puts a frame; one that is folded has no offset, and stands for those around it. */
static void put_frame(model_text *out, const model_stack *stack, u32 frame,
                      const etlheap_query *query)
{
    model_put_frame(out, module_names[stack->module[frame]],
                    is_folded(stack, frame, query) ? ETLHEAP_NO_ADDRESS : stack->offset[frame]);
}

static void put_stack(model_text *out, const model_stack *stack, u32 first,
                      const etlheap_query *query)
{
    for (u32 i = first; stack != NULL && i < stack->count; i++) {
        const bool goes_on =
            i > first && is_folded(stack, i, query) && stack->module[i] == stack->module[i - 1];
        if (!goes_on)
            put_frame(out, stack, i, query);
    }
}

/* ntdll.dll wins over lib.dll, wherever it is; culling does not matter. */
static const char *stack_tag_of(const model_stack *stack)
{
    const char *tag = "Other";
    for (u32 i = 0; i < stack->count; i++) {
        const char *const module = module_names[stack->module[i]];
        if (module != NULL && strcmp(module, "ntdll.dll") == 0)
            return "System";
        if (module != NULL && strcmp(module, "lib.dll") == 0)
            tag = "System\\Library";
    }
    return tag;
}

static u64 size_class(u64 size)
{
    u64 power = size == 0 ? 0 : 1;
    while (power != 0 && power * 2 <= size)
        power *= 2;
    return power;
}

static const char *module_of(const model_stack *stack, u32 frame)
{
    const char *const name = stack == NULL ? NULL : module_names[stack->module[frame]];
    return name == NULL ? "?" : name;
}

static const char *const kind_words[ETLHEAP_KIND_COUNT] = { "heap",   "virtualalloc", "extent",
                                                            "custom", "reserve",      "pool" };
static const char *const type_words[ETLHEAP_TYPE_COUNT] = { "AIFO", "AIFI", "AOFI", "AOFO" };
static const char *const impacting_words[ETLHEAP_TYPE_COUNT] = { "Impacting", "Transient",
                                                                 "Impacting", "Persistent" };
static const char *const free_type_words[ETLHEAP_FREE_TYPE_COUNT] = { "none", "free",
                                                                      "heap-destroy",
                                                                      "process-exit" };

/* A lifetime in a row. */
typedef struct model_member {
    const model_world *world;
    const etlheap_query *query;
    u32 row, function; /* a frame of its stack */
    etlheap_type type;
} model_member;

static const model_stack *stack_of(const model_member *member)
{
    const u32 made = member->world->made[member->row];
    return made == MODEL_STACKS ? NULL : &member->world->stacks[made];
}

static void put_key(model_text *out, const model_member *member, etlheap_key key)
{
    const etlheap_query *const query = member->query;
    const lifetime *const life = &member->world->rows[member->row];
    const model_stack *const stack = stack_of(member);
    const u32 first = stack == NULL ? 0 : first_frame(stack, query);
    switch (key) {
    case ETLHEAP_KEY_KIND:
        model_put(out, " %s", kind_words[life->kind]);
        break;
    case ETLHEAP_KEY_PROCESS:
        model_put(out, " %s %u", process_names[life->process - 1], process_pids[life->process - 1]);
        break;
    case ETLHEAP_KEY_HEAP:
        model_put(out, " %d %llx", !is_of_process(life->kind), (unsigned long long)life->heap);
        break;
    case ETLHEAP_KEY_TYPE:
    case ETLHEAP_KEY_IMPACTING_TYPE:
        model_put(out, " %s",
                  (key == ETLHEAP_KEY_TYPE ? type_words : impacting_words)[member->type]);
        break;
    case ETLHEAP_KEY_FREE_TYPE:
        model_put(out, " %s", free_type_words[life->free_type]);
        break;
    case ETLHEAP_KEY_STACK:
        put_stack(out, stack, first, query);
        break;
    case ETLHEAP_KEY_FRAME:
    case ETLHEAP_KEY_SITE: /* the first one */
    case ETLHEAP_KEY_FUNCTION:
        if (stack != NULL)
            put_frame(out, stack, member->function, query);
        break;
    case ETLHEAP_KEY_MODULE:
        model_put(out, " %s", module_of(stack, first));
        break;
    case ETLHEAP_KEY_THREAD:
        model_put(out, " %u", life->thread);
        break;
    case ETLHEAP_KEY_SIZE_CLASS:
        model_put(out, " %llu", (unsigned long long)size_class(life->size));
        break;
    case ETLHEAP_KEY_TYPE_NAME:
        model_put(out, " unknown");
        break;
    case ETLHEAP_KEY_TAG:
        model_put(out, " %s", stack == NULL ? "?" : stack_tag_of(stack));
        break;
    case ETLHEAP_KEY_GENERATION:
        model_put(out, " %u", generation_of(member->world, life->alloc_ticks));
        break;
    case ETLHEAP_KEY_THREAD_NAME: /* threads have no names, frames no lines, nobody freed */
    case ETLHEAP_KEY_SOURCE_LINE:
    case ETLHEAP_KEY_POOL_TAG:
    case ETLHEAP_KEY_OBJECT_TYPE:
        model_put(out, " ?");
        break;
    default:
        fail();
    }
}

static bool groups_by_function(const etlheap_query *query)
{
    for (u32 i = 0; i < query->group_by_count; i++) {
        if (query->group_by[i] == ETLHEAP_KEY_FUNCTION)
            return true;
    }
    return false;
}

static bool has_frame_of(const model_world *world, u32 row, const char *module)
{
    if (world->made[row] == MODEL_STACKS)
        return false;
    const model_stack *const stack = &world->stacks[world->made[row]];
    for (u32 i = 0; i < stack->count; i++) {
        const char *const name = module_names[stack->module[i]];
        if (name != NULL && strcmp(name, module) == 0)
            return true;
    }
    return false;
}

static bool is_wanted(const model_world *world, const etlheap_query *query, u32 row)
{
    const bool lacks = query->require_frame_count > 0 &&
                       !has_frame_of(world, row, query->require_frames[0].module);
    const bool is_excluded =
        query->exclude_frame_count > 0 && has_frame_of(world, row, query->exclude_frames[0].module);
    return !lacks && (query->only_excluded ? is_excluded : !is_excluded);
}

static i64 end_of(const lifetime *row, const etlheap_query *query)
{
    return row->free_type == ETLHEAP_FREE_PROCESS_EXIT && !query->at_exit_freed
               ? ETLHEAP_TICKS_NEVER
               : row->free_ticks;
}

/* Ticks are 100 ns and the windows are whole ticks. */
static i64 ticks_of(i64 ns)
{
    return T0 + ns / HAND_TICK_NS;
}

static void add_measures(i64 measures[ETLHEAP_MEASURES_COUNT], const lifetime *row,
                         etlheap_type type)
{
    const i64 size = (i64)row->size;
    const bool stays = type == ETLHEAP_TYPE_AIFO || type == ETLHEAP_TYPE_AOFO;
    measures[ETLHEAP_MEASURE_COUNT] += 1;
    measures[ETLHEAP_MEASURE_SIZE] += size;
    measures[ETLHEAP_MEASURE_IMPACTING_SIZE] += type == ETLHEAP_TYPE_AIFO   ? size
                                                : type == ETLHEAP_TYPE_AOFI ? -size
                                                                            : 0;
    measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT] += stays ? 1 : 0;
    measures[ETLHEAP_MEASURE_OUTSTANDING_SIZE] += stays ? size : 0;
    measures[ETLHEAP_MEASURE_REALLOC_COUNT] += row->is_realloc ? 1 : 0;
}

static void add_to_row(model *m, const model_member *member, bool is_site)
{
    const lifetime *const row = &member->world->rows[member->row];
    char key[MODEL_KEY_TEXT] = "";
    model_text out = { key, sizeof key };
    for (u32 i = 0; i < member->query->group_by_count; i++) {
        model_put(&out, " %s", etlheap_key_word(member->query->group_by[i]));
        put_key(&out, member, member->query->group_by[i]);
    }
    u32 found = 0;
    while (found < m->count && strcmp(m->rows[found].key, key) != 0)
        found++;
    model_row *const group = &m->rows[found];
    if (found == m->count) {
        m->count++;
        memcpy(group->key, key, sizeof key);
    }
    group->members[group->member_count++] = member->row;
    add_measures(group->measures, row, member->type);
    if (is_site && groups_by_function(member->query)) {
        group->measures[ETLHEAP_MEASURE_EXCLUSIVE_COUNT] += 1;
        group->measures[ETLHEAP_MEASURE_EXCLUSIVE_SIZE] += (i64)row->size;
    }
}

/* Do two frames of a stack show the same? */
static bool same_frame(const model_stack *stack, u32 a, u32 b, const etlheap_query *query)
{
    return stack->module[a] == stack->module[b] &&
           (stack->offset[a] == stack->offset[b] || is_folded(stack, a, query));
}

static void add_to_model(model *m, model_member member)
{
    const model_stack *const stack = stack_of(&member);
    const u32 first = stack == NULL ? 0 : first_frame(stack, member.query);
    const u32 end = stack == NULL || !groups_by_function(member.query) ? first + 1 : stack->count;
    for (member.function = first; member.function < end; member.function++) {
        bool is_again = false;
        for (u32 i = first; i < member.function; i++)
            is_again |= same_frame(stack, i, member.function, member.query);
        if (!is_again)
            add_to_row(m, &member, member.function == first);
    }
    const lifetime *const row = &member.world->rows[member.row];
    add_measures(m->totals[row->kind], row, member.type);
}

/* Finds peaks: the largest sum when the window begins, or at any of its ticks. */
static void find_peaks(model_row *group, const model_world *world, const etlheap_query *query,
                       i64 from, i64 to)
{
    for (i64 at = from - 1; at < to; at++) {
        i64 size = 0, count = 0;
        for (u32 i = 0; i < group->member_count; i++) {
            const lifetime *const row = &world->rows[group->members[i]];
            const bool lives = row->alloc_ticks <= at && at < end_of(row, query);
            size += lives ? (i64)row->size : 0;
            count += lives;
        }
        i64 *const measures = group->measures;
        if (size > measures[ETLHEAP_MEASURE_PEAK_SIZE])
            measures[ETLHEAP_MEASURE_PEAK_SIZE] = size;
        if (count > measures[ETLHEAP_MEASURE_PEAK_COUNT])
            measures[ETLHEAP_MEASURE_PEAK_COUNT] = count;
    }
}

/* Is it still there at the end of its generation, or of the window? */
static bool is_left_behind(const model_world *world, const lifetime *row, i64 end, i64 from, i64 to)
{
    for (i64 at = row->alloc_ticks; at >= from && at < to; at++) {
        const bool is_last =
            at + 1 == to || generation_of(world, at + 1) != generation_of(world, row->alloc_ticks);
        if (end <= at)
            return false;
        if (is_last)
            return true;
    }
    return false;
}

void model_make(model *m, const model_world *world, const etlheap_query *query)
{
    const i64 from = ticks_of(query->from_ns), to = ticks_of(query->to_ns);
    memset(m, 0, sizeof *m);
    for (u32 i = 0; i < MODEL_ROWS; i++) {
        const lifetime *const row = &world->rows[i];
        const i64 end = end_of(row, query);
        if (row->alloc_ticks >= to || end < from || !is_wanted(world, query, i))
            continue;
        if (query->kinds == 0 ? (ETLHEAP_KINDS_DEFAULT >> row->kind & 1) == 0
                              : (query->kinds & 1u << row->kind) == 0)
            continue;
        if (query->left_behind && !is_left_behind(world, row, end, from, to))
            continue;
        const bool inside = row->alloc_ticks >= from, freed = end < to;
        const etlheap_type type = inside ? (freed ? ETLHEAP_TYPE_AIFI : ETLHEAP_TYPE_AIFO)
                                         : (freed ? ETLHEAP_TYPE_AOFI : ETLHEAP_TYPE_AOFO);
        add_to_model(m, (model_member){ .world = world, .query = query, .row = i, .type = type });
    }
    for (u32 i = 0; i < m->count; i++)
        find_peaks(&m->rows[i], world, query, from, to);
}
