/*
 * hostile_build.c - writes the traces that hostile_build.h describes.
 *
 * In: fuzz bytes. Out: a trace in memory, and its analysis. Invariant: equal bytes give equal
 * traces, or a finding cannot be repeated.
 */
#include "hostile_build.h"

#define BREAKS_MAX   16u
#define DEPTH_MAX    6u
#define IMAGE_BASE   0x7ff600000000u
#define ADDRESS_STEP 0x40u
#define OUTPUT_BYTES ((size_t)4 << 20) /* of an answer about nothing: a page has its scripts */
#define OUTPUT_TIMES 4096u             /* an event of 8 bytes names a process, a stack, a block */

typedef struct step {
    u8 what, where, address, stack;
    u64 size;
    etl_build_at at;
    u64 heap, block;
} step;

u64 hostile_number(u8 value, u8 shift)
{
    return (u64)value << shift % 64;
}

static etl_build *open_session(const u8 *session)
{
    static const etl_build_field fields[] = {
        ETL_BREAK_SESSION_END_TIME, ETL_BREAK_SESSION_FREQUENCY, ETL_BREAK_SESSION_START_TIME,
        ETL_BREAK_SESSION_CLOCK,    ETL_BREAK_SESSION_CPU_MHZ,
    };
    const u8 flags = session[0];
    const etl_build_options options = {
        .cpus = 2,
        .buffer_bytes = 4096u,
        .pointer_bytes = 8,
        .unclosed = (flags & 4) != 0,
        .order = (flags & 8) != 0 ? ETL_BUILD_AS_CALLED : ETL_BUILD_SORTED,
    };
    etl_build *const b = etl_build_new(&options);
    if (session[1] % 2 == 1)
        etl_build_break(b, fields[session[1] / 2 % ETL_COUNT_OF(fields)], 0,
                        hostile_number(session[2], session[3]));
    return b;
}

/* Records are broken before they are written: their times become anything. */
static void break_times(etl_build *b, const u8 *data, size_t size)
{
    u32 breaks = 0;
    for (size_t at = HOSTILE_STEP_BYTES; at + HOSTILE_STEP_BYTES <= size && breaks < BREAKS_MAX;
         at += HOSTILE_STEP_BYTES) {
        if (data[at] % 16 != 15)
            continue;
        const u64 ticks = hostile_number(data[at + 5], data[at + 6]);
        etl_build_break(b, ETL_BREAK_RECORD_TICKS, data[at + 4],
                        data[at + 7] % 2 == 0 ? ticks : ~ticks);
        breaks++;
    }
}

static void write_names(etl_build *b)
{
    static const char *const names[] = { "a.exe", "b.exe", "<script>.exe" };
    const etl_build_at start = { .ticks = etl_build_start_ticks(b), .pid = 100, .tid = 7 };
    for (u32 i = 0; i < ETL_COUNT_OF(names); i++) {
        etl_build_at at = start;
        at.pid = 100 + 4 * i;
        const etl_build_process_spec process = { .pid = at.pid, .name = names[i] };
        const etl_build_image_spec image = { .pid = at.pid,
                                             .base = IMAGE_BASE,
                                             .size = 0x10000,
                                             .path = "\\Device\\HarddiskVolume3\\fuzz.dll" };
        etl_build_process(b, at, ETL_BUILD_DCSTART, &process);
        etl_build_image(b, at, ETL_BUILD_DCSTART, &image);
    }
}

static step read_step(const etl_build *b, i64 *ticks, const u8 *bytes)
{
    step s = { .what = bytes[0],
               .where = bytes[3],
               .address = bytes[4],
               .stack = bytes[7],
               .size = hostile_number(bytes[5], bytes[6]) };
    const i64 time = bytes[2] < 192 ? bytes[2] : (i64)bytes[2] - 256;
    *ticks += time * (bytes[1] % 8 == 0 ? 1000000 : 9);
    if (*ticks < etl_build_start_ticks(b))
        *ticks = etl_build_start_ticks(b);
    s.at = (etl_build_at){ .ticks = *ticks,
                           .cpu = bytes[1] % 2,
                           .pid = 100u + s.where % 3 * 4,
                           .tid = 7u + (bytes[1] >> 4) % 3 };
    s.heap = 0x10000u * (1u + (s.where >> 4) % 3);
    s.block = 0x200000u + ADDRESS_STEP * (u64)s.address;
    return s;
}

static void write_stack(etl_build *b, const step *s)
{
    u64 frames[DEPTH_MAX];
    const etl_build_stack stack = { .user = frames,
                                    .user_count = 1 + s->stack % DEPTH_MAX,
                                    .delay_ticks = 1 };
    for (u32 i = 0; i < DEPTH_MAX; i++)
        frames[i] = IMAGE_BASE + 0x10u * ((u64)s->stack + i);
    etl_build_stack_walk(b, s->at, &stack);
}

static void write_event(etl_build *b, const step *s)
{
    const u64 base = s->where % 2 == 0 ? 0x1000u * (u64)s->address : s->size & ~(u64)4095;
    const etl_build_realloc change = { s->block, s->block + ADDRESS_STEP, s->size, 16 };
    switch (s->what % 16) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
        etl_build_heap_alloc(b, s->at, s->heap, s->block, s->size);
        write_stack(b, s);
        break;
    case 5:
    case 6:
    case 7:
        etl_build_heap_free(b, s->at, s->heap, s->block);
        write_stack(b, s);
        break;
    case 8:
        etl_build_heap_realloc(b, s->at, s->heap, &change);
        break;
    case 9:
    case 10:
        etl_build_virtual_alloc(b, s->at, base, s->size, ETL_BUILD_COMMIT | ETL_BUILD_RESERVE);
        write_stack(b, s);
        break;
    case 11:
        etl_build_virtual_free(b, s->at, base, s->size, ETL_BUILD_RELEASE);
        break;
    case 12:
        etl_build_heap_expand(b, s->at, s->heap, base, s->size);
        break;
    case 13:
        etl_build_heap_snapshot(b, s->at, s->heap, s->at.pid, s->size);
        break;
    case 14:
        etl_build_heap_destroy(b, s->at, s->heap);
        break;
    default: /* a broken time */
        break;
    }
}

static etl_build *build(const u8 *data, size_t size)
{
    if (size < 2 * HOSTILE_STEP_BYTES)
        return NULL;
    etl_build *const b = open_session(data);
    i64 ticks = etl_build_start_ticks(b);
    u32 steps = 0;
    break_times(b, data, size);
    write_names(b);
    for (size_t at = HOSTILE_STEP_BYTES;
         at + HOSTILE_STEP_BYTES <= size && steps < HOSTILE_STEPS_MAX; at += HOSTILE_STEP_BYTES) {
        const step s = read_step(b, &ticks, data + at);
        write_event(b, &s);
        steps++;
    }
    if (etl_build_finish(b))
        return b;
    etl_build_free(b);
    return NULL;
}

bool hostile_open(hostile_run *run, const u8 *data, size_t size, const etlheap_question *questions,
                  u32 count)
{
    static const char *const name = "fuzz.etl";
    const etlheap_options options = { .size = sizeof options,
                                      .jobs = 1,
                                      .memory_bytes_max = HOSTILE_MEMORY_BYTES,
                                      .questions = questions,
                                      .question_count = count };
    etl_error err;
    size_t bytes;
    *run = (hostile_run){ .built = build(data, size) };
    if (run->built == NULL)
        return false;
    const u8 *const file = etl_build_data(run->built, &bytes);
    return etl_open_memory((etl_bytes){ file, bytes }, NULL, &run->trace, &err) == ETL_OK &&
           etlheap_analyze(&run->trace, &name, 1, &options, &run->result, &err) == ETL_OK;
}

void hostile_close(hostile_run *run)
{
    etlheap_result_free(run->result);
    etl_close(run->trace);
    etl_build_free(run->built);
}

hostile_bound hostile_bound_of(const etlheap_text *text, size_t program_bytes)
{
    return (hostile_bound){ text, OUTPUT_BYTES + program_bytes * OUTPUT_TIMES };
}

bool hostile_is_bounded(void *user)
{
    const hostile_bound *const bound = user;
    if (bound->text->size > bound->bytes_max)
        __builtin_trap();
    return true;
}
