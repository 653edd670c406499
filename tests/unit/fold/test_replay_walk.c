/*
 * Goal: the walk over an event list gives each group the sums and the peaks of its
 * blocks, whatever the window and the sizes selected, for any number of jobs, from
 * memory and from disk, and however many segments the event list is cut into.
 * Method: short event lists by hand; one of more than three segments against a naive
 * model: a list of blocks, and for each group one array with a place per tick.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "engine/fold/replay_walk.h"
#include "tests/support/event_list_check.h"
#include "tests/support/temporary.h"

#define T0            CHECK_START
#define SEGMENT_WORDS ((u64)1 << 20) /* at most, see replay_walk.c */
#define GROUPS        5u
#define ORIGINS       40u

/* Of origin n, but for one in six that is not selected. */
static u32 group_of(u32 origin)
{
    return origin % 6 == 5 || origin == 0 ? GROUP_NONE : origin % 6;
}

static const u32 *groups_of_origins(void)
{
    static u32 groups[ORIGINS + 1];
    for (u32 origin = 0; origin <= ORIGINS; origin++)
        groups[origin] = group_of(origin);
    return groups;
}

static replay_walk walk_of(bool by_type)
{
    return (replay_walk){ .origin_groups = groups_of_origins(),
                          .origin_count = ORIGINS,
                          .group_count = GROUPS,
                          .size_max_bytes = UINT64_MAX,
                          .by_type = by_type };
}

/* What walks leave, by so many threads; the event list is closed first unless it was. */
static etl_status run_jobs(event_list_check *f, replay_job *const *jobs, u32 count, u32 threads)
{
    if (f->event_list.survivor_bits == NULL)
        assert_int_equal(event_list_close(&f->event_list), ETL_OK);
    const event_list_source own = { &f->event_list, NULL, count }; /* no windows */
    const replay_source source = replay_event_list_source(&own);
    for (u32 i = 0; i < count; i++)
        jobs[i]->walk.survivors = f->event_list.survivor_bits;
    return replay_jobs_run(jobs, count, threads, &source, NULL);
}

/* The groups, to be freed. */
static live_group *run_walk_by(event_list_check *f, replay_walk walk, u32 threads)
{
    replay_job job = { .walk = walk };
    assert_int_equal(run_jobs(f, (replay_job *[]){ &job }, 1, threads), ETL_OK);
    assert_non_null(job.groups);
    return job.groups;
}

static live_group *run_walk(event_list_check *f, replay_walk walk)
{
    return run_walk_by(f, walk, 1);
}

static void assert_sums(const live_group *group, etlheap_type type, type_sums expected)
{
    const type_sums *const found = &group->types[type];
    assert_int_equal(found->count, expected.count);
    assert_int_equal(found->size, expected.size);
    assert_int_equal(found->realloc_count, expected.realloc_count);
}

static void assert_peak(const live_group *group, i64 size, i64 count)
{
    assert_int_equal(group->curve.peak_size, size);
    assert_int_equal(group->curve.peak_count, count);
}

/* Group 1's peak of the event list at hand, by type or of everything. */
static void assert_peak_of_one(event_list_check *f, bool by_type, i64 size, i64 count)
{
    const replay_walk walk = walk_of(by_type);
    live_group *const groups = run_walk(f, walk);
    assert_peak(&groups[1], size, count);
    free(groups);
}

/* --- by hand --- */

static void event_list_of_nothing_gives_empty_groups(void **state)
{
    event_list_check *const f = *state;
    replay_walk walk = walk_of(true);
    live_group *groups = run_walk(f, walk);
    for (u32 g = 0; g < GROUPS; g++) {
        assert_peak(&groups[g], 0, 0);
        assert_sums(&groups[g], ETLHEAP_TYPE_AIFI, (type_sums){ 0 });
    }
    free(groups);
    walk.group_count = 0;
    groups = run_walk(f, walk);
    free(groups);
}

/* Alloc 100, alloc 50, free 100, alloc 30, free 50, then nothing. */
static void peak_is_the_largest_sum(void **state)
{
    event_list_check *const f = *state;
    EVENT_LIST_BEGIN(f, T0, T0 + 1, T0 + 2, T0 + 3, T0 + 4);
    const entry_block a = event_list_check_alloc(f, (noted_event){ T0, 0 }, 1, 100);
    const entry_block b = event_list_check_alloc(f, (noted_event){ T0 + 1, 1 }, 7, 50);
    event_list_check_free(f, &a, T0 + 2, 2);
    const entry_block c = event_list_check_alloc(f, (noted_event){ T0 + 3, 3 }, 1, 30);
    event_list_check_free(f, &b, T0 + 4, 4);
    event_list_check_free(f, &c, ETLHEAP_TICKS_NEVER, ENTRY_LATE);
    live_group *const groups = run_walk(f, walk_of(true));
    assert_peak(&groups[1], 150, 2);
    assert_sums(&groups[1], ETLHEAP_TYPE_AIFI, (type_sums){ 2, 150, 0 });
    assert_sums(&groups[1], ETLHEAP_TYPE_AIFO, (type_sums){ 1, 30, 0 });
    assert_peak(&groups[2], 0, 0);
    free(groups);
    assert_peak_of_one(f, false, 150, 2);
}

/* What is gone within its tick was never outstanding. */
static void moments_of_one_tick_count_together(void **state)
{
    event_list_check *const f = *state;
    EVENT_LIST_BEGIN(f, T0, T0 + 1, T0 + 1, T0 + 1, T0 + 2);
    const entry_block a = event_list_check_alloc(f, (noted_event){ T0, 0 }, 1, 100);
    const entry_block b = event_list_check_alloc(f, (noted_event){ T0 + 1, 1 }, 1, 50);
    event_list_check_free(f, &b, T0 + 1, 2);
    event_list_check_free(f, &a, T0 + 1, 3);
    const entry_block c = event_list_check_alloc(f, (noted_event){ T0 + 2, 4 }, 1, 20);
    event_list_check_free(f, &c, T0 + 2, ENTRY_LATE);
    assert_peak_of_one(f, true, 100, 1);
    assert_peak_of_one(f, false, 100, 1);
}

/* The curve begins with what is in use before the first tick of the window. */
static void window_begins_with_what_is_in_use(void **state)
{
    event_list_check *const f = *state;
    event_list_check_window(f, T0 + 5, T0 + 9);
    EVENT_LIST_BEGIN(f, T0, T0 + 1, T0 + 2, T0 + 5, T0 + 6, T0 + 7, T0 + 9);
    const entry_block gone = event_list_check_alloc(f, (noted_event){ T0, 0 }, 1, 1000);
    const entry_block freed = event_list_check_alloc(f, (noted_event){ T0 + 1, 1 }, 1, 100);
    event_list_check_free(f, &gone, T0 + 2, 2);
    event_list_check_free(f, &freed, T0 + 5, 3);
    const entry_block inside = event_list_check_alloc(f, (noted_event){ T0 + 6, 4 }, 1, 30);
    event_list_check_free(f, &inside, T0 + 9, 6);
    live_group *const groups = run_walk(f, walk_of(false));
    assert_peak(&groups[1], 100, 1);
    assert_sums(&groups[1], ETLHEAP_TYPE_AOFI, (type_sums){ 1, 100, 0 });
    assert_sums(&groups[1], ETLHEAP_TYPE_AIFO, (type_sums){ 1, 30, 0 });
    assert_sums(&groups[1], ETLHEAP_TYPE_AOFO, (type_sums){ 0 });
    free(groups);
    assert_peak_of_one(f, true, 0, 0);
}

static void sizes_that_are_not_selected_do_not_count(void **state)
{
    event_list_check *const f = *state;
    static const u64 sizes[] = { 9, 10, ENTRY_BIG, (u64)1 << 33, ((u64)1 << 33) + 1 };
    EVENT_LIST_BEGIN(f, T0, T0 + 1, T0 + 2, T0 + 3, T0 + 4);
    for (u32 i = 0; i < ETL_COUNT_OF(sizes); i++) {
        const entry_block noted =
            event_list_check_alloc(f, (noted_event){ T0 + i, i }, 1, sizes[i]);
        event_list_check_free(f, &noted, ETLHEAP_TICKS_NEVER, ENTRY_LATE);
    }
    replay_walk walk = walk_of(false);
    walk.size_min_bytes = 10;
    walk.size_max_bytes = (u64)1 << 33;
    live_group *const groups = run_walk(f, walk);
    const i64 sum = 10 + (i64)ENTRY_BIG + ((i64)1 << 33);
    assert_sums(&groups[1], ETLHEAP_TYPE_AIFO, (type_sums){ 3, sum, 0 });
    assert_peak(&groups[1], sum, 3);
    free(groups);
}

static void reallocs_count_where_their_block_does(void **state)
{
    event_list_check *const f = *state;
    event_list_check_window(f, T0 + 2, T0 + 20);
    EVENT_LIST_BEGIN(f, T0, T0 + 1, T0 + 2, T0 + 3, T0 + 4, T0 + 5, T0 + 6, T0 + 7, T0 + 8);
    entry_block aofi = event_list_check_alloc(f, (noted_event){ T0, 0 }, 1, 1);
    entry_block aofo = event_list_check_alloc(f, (noted_event){ T0 + 1, 1 }, 1, 10);
    entry_block aifi = event_list_check_alloc(f, (noted_event){ T0 + 2, 2 }, 1, 100);
    entry_block aifo = event_list_check_alloc(f, (noted_event){ T0 + 3, 3 }, 1, ENTRY_BIG);
    entry_block *const all[4] = { &aofi, &aofo, &aifi, &aifo };
    for (u32 i = 0; i < 4; i++) {
        event_list_check_realloc(f, all[i], T0 + 4 + i, 4 + i);
        all[i]->is_realloc = true;
    }
    event_list_check_free(f, &aofi, T0 + 8, 8);
    event_list_check_free(f, &aifi, T0 + 9, ENTRY_LATE);
    event_list_check_free(f, &aofo, T0 + 20, ENTRY_LATE);
    event_list_check_free(f, &aifo, ETLHEAP_TICKS_NEVER, ENTRY_LATE);
    live_group *const groups = run_walk(f, walk_of(true));
    assert_sums(&groups[1], ETLHEAP_TYPE_AOFI, (type_sums){ 1, 1, 1 });
    assert_sums(&groups[1], ETLHEAP_TYPE_AOFO, (type_sums){ 1, 10, 1 });
    assert_sums(&groups[1], ETLHEAP_TYPE_AIFI, (type_sums){ 1, 100, 1 });
    assert_sums(&groups[1], ETLHEAP_TYPE_AIFO, (type_sums){ 1, (i64)ENTRY_BIG, 1 });
    free(groups);
}

/* A slice that alone is a segment: empty entries, one event in the last tick. */
static void begin_long_slice(event_list_check *f, i64 last_ticks)
{
    const u32 count = (u32)SEGMENT_WORDS + 1;
    i64 *const ticks = malloc(count * sizeof *ticks);
    assert_non_null(ticks);
    for (u32 i = 0; i < count; i++)
        ticks[i] = i + 1 < count ? T0 : last_ticks;
    event_list_check_begin(f, ticks, count);
    free(ticks);
}

/* Segments end where time moves on, not within a tick. */
static void tick_is_not_cut(void **state)
{
    event_list_check *const f = *state;
    begin_long_slice(f, T0 + 5);
    const entry_block noted =
        event_list_check_alloc(f, (noted_event){ T0 + 5, (u32)SEGMENT_WORDS }, 1, 100);
    event_list_check_end(f, T0 + 5);
    EVENT_LIST_BEGIN(f, T0 + 5, T0 + 6);
    event_list_check_free(f, &noted, T0 + 5, 0);
    const entry_block later = event_list_check_alloc(f, (noted_event){ T0 + 6, 1 }, 1, 30);
    event_list_check_free(f, &later, T0 + 7, ENTRY_LATE);
    assert_peak_of_one(f, true, 30, 1);
    assert_peak_of_one(f, false, 30, 1);
}

/* What is in use as a segment begins counts in it. */
static void segment_goes_on_from_the_one_before(void **state)
{
    event_list_check *const f = *state;
    begin_long_slice(f, T0 + 5);
    const entry_block noted =
        event_list_check_alloc(f, (noted_event){ T0 + 5, (u32)SEGMENT_WORDS }, 1, 100);
    event_list_check_end(f, T0 + 6);
    EVENT_LIST_BEGIN(f, T0 + 6, T0 + 7, T0 + 8);
    event_list_check_free(f, &noted, T0 + 6, 0);
    const entry_block later = event_list_check_alloc(f, (noted_event){ T0 + 7, 1 }, 1, 130);
    const entry_block other = event_list_check_alloc(f, (noted_event){ T0 + 8, 2 }, 1, 30);
    event_list_check_free(f, &later, T0 + 8, ENTRY_LATE);
    event_list_check_free(f, &other, T0 + 9, ENTRY_LATE);
    assert_peak_of_one(f, true, 130, 1);
}

static void event_list_that_cannot_be_read_is_an_error(void **state)
{
    event_list_check *const f = *state;
    f->event_list.spill_folder = strdup(temporary_folder());
    f->event_list.resident_bytes_max = 0;
    EVENT_LIST_BEGIN(f, T0);
    event_list_check_alloc(f, (noted_event){ T0, 0 }, 1, 100);
    assert_int_equal(event_list_close(&f->event_list), ETL_OK);
    assert_int_equal(close(f->event_list.file), 0);
    f->event_list.file = -1;
    replay_job job = { .walk = walk_of(true) };
    assert_int_equal(run_jobs(f, (replay_job *[]){ &job }, 1, 1), ETL_ERR_IO);
    free(job.groups);
}

/* --- more than three segments --- */

typedef struct life_story {
    i64 alloc_ticks, free_ticks;
    u64 size;
    u32 origin;
    bool is_realloc;
} life_story;

typedef struct open_story {
    entry_block noted;
    u32 story;
} open_story;

typedef struct model {
    event_list_check *f;
    ETLHEAP_VECTOR(life_story) stories;
    ETLHEAP_VECTOR(open_story) open;
    bool on_disk;
    i64 *ticks; /* of the slice at hand */
    i64 now, from_ticks, to_ticks;
    u64 seed;
} model;

#define LONG_SLICES 42u
#define LONG_EVENTS 60000u
#define LONG_TICKS  (LONG_SLICES * (i64)LONG_EVENTS / 2)

static u32 roll(model *m, u32 below)
{
    return engine_check_random(&m->seed, below);
}

static void open_one(model *m, noted_event at)
{
    const u32 origin = 1 + roll(m, ORIGINS);
    const u64 size = roll(m, 3) == 0 ? ENTRY_BIG + roll(m, 1000) : roll(m, 5000);
    const life_story story = { at.ticks, ETLHEAP_TICKS_NEVER, size, origin, false };
    open_story open = { event_list_check_alloc(m->f, at, origin, size), (u32)m->stories.count };
    assert_true(ETLHEAP_PUSH(&m->stories, story) && ETLHEAP_PUSH(&m->open, open));
}

static void close_one(model *m, noted_event at)
{
    const u32 index = roll(m, (u32)m->open.count);
    const open_story open = m->open.at[index];
    if (at.ticks < open.noted.alloc_ticks)
        return;
    event_list_check_free(m->f, &open.noted, at.ticks, at.rank);
    m->stories.at[open.story].free_ticks = at.ticks;
    m->open.at[index] = m->open.at[--m->open.count];
}

static void mark_one(model *m, noted_event at)
{
    open_story *const open = &m->open.at[roll(m, (u32)m->open.count)];
    if (open->noted.is_realloc)
        return;
    event_list_check_realloc(m->f, &open->noted, at.ticks, at.rank);
    open->noted.is_realloc = true;
    m->stories.at[open->story].is_realloc = true;
}

/* Allocations outnumber frees for a while, then frees do, again and again. */
static void add_event(model *m, noted_event at)
{
    const u32 likely = (m->stories.count >> 16) % 2 == 0 ? 12 : 8;
    const u32 what = m->open.count < 100 ? 0 : roll(m, 24);
    if (what < likely)
        open_one(m, at);
    else if (what < 20)
        close_one(m, at);
    else if (what < 22)
        mark_one(m, at);
}

static void add_slice(model *m)
{
    for (u32 i = 0; i < LONG_EVENTS; i++) {
        m->now += roll(m, 2);
        m->ticks[i] = m->now;
    }
    event_list_check_begin(m->f, m->ticks, LONG_EVENTS);
    for (u32 i = 0; i < LONG_EVENTS; i++)
        add_event(m, (noted_event){ m->ticks[i], i });
    for (u32 i = 0; i < 20; i++)
        close_one(m, (noted_event){ m->now - roll(m, (u32)CHECK_MS), ENTRY_LATE });
    /* Every other slice ends within a tick. */
    m->now += roll(m, 2);
    event_list_check_end(m->f, m->now);
}

static void write_long_event_list(model *m)
{
    m->ticks = malloc(LONG_EVENTS * sizeof *m->ticks);
    assert_non_null(m->ticks);
    event_list_check_window(m->f, m->from_ticks, m->to_ticks);
    m->f->event_list.spill_folder = m->on_disk ? strdup(temporary_folder()) : NULL;
    m->f->event_list.resident_bytes_max = m->on_disk ? ETL_MIB : UINT64_MAX;
    for (u32 i = 0; i < LONG_SLICES; i++)
        add_slice(m);
    for (size_t i = 0; i < m->open.count; i++)
        event_list_check_free(m->f, &m->open.at[i].noted, ETLHEAP_TICKS_NEVER, ENTRY_LATE);
    assert_int_equal(event_list_close(&m->f->event_list), ETL_OK);
    assert_true(m->f->event_list.next_index > 3 * SEGMENT_WORDS + SEGMENT_WORDS / 8);
}

static void free_model(model *m)
{
    ETLHEAP_VECTOR_FREE(&m->stories);
    ETLHEAP_VECTOR_FREE(&m->open);
    free(m->ticks);
}

/* What happens to a group in one tick; place 0 stands for the window's opening. */
typedef struct tick_change {
    i64 size, count;
} tick_change;

static bool is_selected(const model *m, const replay_walk *walk, const life_story *story, u32 group)
{
    return group_of(story->origin) == group && story->size >= walk->size_min_bytes &&
           story->size <= walk->size_max_bytes && story->alloc_ticks < m->to_ticks &&
           story->free_ticks >= m->from_ticks;
}

static void add_story(const model *m, const life_story *story, bool by_type, live_group *sums,
                      tick_change *changes)
{
    const bool is_inside = story->alloc_ticks >= m->from_ticks;
    const bool survives = story->free_ticks >= m->to_ticks;
    const etlheap_type type = is_inside  ? (survives ? ETLHEAP_TYPE_AIFO : ETLHEAP_TYPE_AIFI)
                              : survives ? ETLHEAP_TYPE_AOFO
                                         : ETLHEAP_TYPE_AOFI;
    type_sums *const of_type = &sums->types[type];
    of_type->count++;
    of_type->size += (i64)story->size;
    of_type->realloc_count += story->is_realloc;
    if (by_type && type != ETLHEAP_TYPE_AIFI)
        return;
    tick_change *const first = &changes[is_inside ? story->alloc_ticks - m->from_ticks + 1 : 0];
    first->size += (i64)story->size;
    first->count++;
    if (survives)
        return;
    tick_change *const last = &changes[story->free_ticks - m->from_ticks + 1];
    last->size -= (i64)story->size;
    last->count--;
}

static live_group model_group(const model *m, const replay_walk *walk, u32 group)
{
    live_group sums = { 0 };
    const i64 ticks = m->now - m->from_ticks + 2;
    tick_change *const changes = calloc((size_t)ticks, sizeof *changes);
    assert_non_null(changes);
    for (size_t i = 0; i < m->stories.count; i++) {
        if (is_selected(m, walk, &m->stories.at[i], group))
            add_story(m, &m->stories.at[i], walk->by_type, &sums, changes);
    }
    tick_change sum = { 0, 0 };
    for (i64 i = 0; i < ticks; i++) {
        sum.size += changes[i].size;
        sum.count += changes[i].count;
        sums.curve.peak_size = sum.size > sums.curve.peak_size ? sum.size : sums.curve.peak_size;
        sums.curve.peak_count =
            sum.count > sums.curve.peak_count ? sum.count : sums.curve.peak_count;
    }
    free(changes);
    return sums;
}

static void assert_groups(const model *m, const replay_walk *walk, const live_group *groups)
{
    for (u32 g = 0; g < GROUPS; g++) {
        const live_group expected = model_group(m, walk, g);
        assert_peak(&groups[g], expected.curve.peak_size, expected.curve.peak_count);
        for (u32 type = 0; type < ETLHEAP_TYPE_COUNT; type++)
            assert_sums(&groups[g], (etlheap_type)type, expected.types[type]);
    }
}

/* Walks by several numbers of threads; all must be what the model says. */
static void compare_walk(const model *m, replay_walk walk)
{
    static const u32 threads[] = { 0, 1, 2, 3, 7, 64 };
    for (size_t i = 0; i < ETL_COUNT_OF(threads); i++) {
        live_group *const groups = run_walk_by(m->f, walk, threads[i]);
        assert_groups(m, &walk, groups);
        free(groups);
    }
}

/* Three jobs in one walk, one of them without groups: each leaves what it would leave alone. */
static void compare_shared_walk(const model *m, replay_walk a, replay_walk b)
{
    replay_walk nothing = b;
    u32 nobody[ORIGINS + 1];
    memset(nobody, 0xFF, sizeof nobody); /* GROUP_NONE */
    nothing.origin_groups = nobody;
    nothing.group_count = 0;
    for (u32 threads = 1; threads <= 3; threads += 2) {
        replay_job first = { .walk = a }, second = { .walk = nothing }, third = { .walk = b };
        replay_job *const jobs[] = { &first, &second, &third };
        assert_int_equal(run_jobs(m->f, jobs, ETL_COUNT_OF(jobs), threads), ETL_OK);
        assert_groups(m, &a, first.groups);
        assert_groups(m, &b, third.groups);
        for (size_t i = 0; i < ETL_COUNT_OF(jobs); i++)
            free(jobs[i]->groups);
    }
}

static void many_segments_are_as_one(void **state)
{
    event_list_check *const f = *state;
    model m = { .f = f,
                .now = T0,
                .from_ticks = T0 + LONG_TICKS / 3,
                .to_ticks = T0 + LONG_TICKS / 5 * 4,
                .seed = 3 };
    write_long_event_list(&m);
    replay_walk walk = walk_of(true);
    const replay_walk by_type = walk;
    compare_walk(&m, walk);
    walk.size_min_bytes = 1000;
    walk.size_max_bytes = ENTRY_BIG + 500;
    walk.by_type = false;
    compare_walk(&m, walk);
    compare_shared_walk(&m, by_type, walk);
    free_model(&m);
}

static void segments_on_disk_are_the_same(void **state)
{
    event_list_check *const f = *state;
    model m = {
        .f = f, .now = T0, .from_ticks = T0 - 1, .to_ticks = INT64_MAX, .on_disk = true, .seed = 4
    };
    write_long_event_list(&m);
    assert_true(f->event_list.file_bytes > 3 * SEGMENT_WORDS * sizeof(event_entry));
    compare_walk(&m, walk_of(false));
    free_model(&m);
}

int main(void)
{
#define RULE(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, event_list_check_open, event_list_check_close)
    const struct CMUnitTest tests[] = {
        RULE(event_list_of_nothing_gives_empty_groups),
        RULE(peak_is_the_largest_sum),
        RULE(moments_of_one_tick_count_together),
        RULE(window_begins_with_what_is_in_use),
        RULE(sizes_that_are_not_selected_do_not_count),
        RULE(reallocs_count_where_their_block_does),
        RULE(tick_is_not_cut),
        RULE(segment_goes_on_from_the_one_before),
        RULE(event_list_that_cannot_be_read_is_an_error),
        RULE(many_segments_are_as_one),
        RULE(segments_on_disk_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
