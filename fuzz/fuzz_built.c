/*
 * fuzz_built.c - fuzzes with traces that the builder writes as the bytes say.
 *
 * In: fuzz bytes. Out: a trace, which goes through trace_check.
 *
 * Random bytes hardly ever make a file in which anything happens. So here they are a program: 8
 * bytes for the session, then 8 for each event, with few processes, heaps and addresses, so that
 * events meet. Some instructions lie about one field of the sound file (etl_build_break).
 *
 *     session  +0 CPUs  +1 flags  +2 buffer size  +3 slice size  +4 .. +7 unused
 *     event    +0 what  +1 who: 4 bits CPU, 4 bits thread  +2 time step (signed)
 *              +3 heap, process  +4 address  +5 size  +6 +7 a number
 *
 * Invariant: equal bytes give equal traces, or a finding cannot be repeated; a new instruction must
 * not change the meaning of kept inputs.
 */
#include "tests/build/etl_build.h"
#include "trace_check.h"

#define STEP_BYTES     8u
#define STEPS_MAX      4000u
#define BREAKS_MAX     32u
#define DEPTH_MAX      12u
#define TAIL_BYTES_MAX 65536u
#define IMAGE_BASE     0x7ff600000000u
#define ADDRESS_STEP   0x40u

typedef struct builder_run {
    etl_build *b;
    i64 ticks;
    u32 breaks;
} builder_run;

/* One decoded instruction. */
typedef struct step {
    u8 what, who, time, where, address, size;
    u16 number;
    etl_build_at at;
    u64 heap, block;
} step;

static etl_build *open_session(const u8 *session);
static step read_step(builder_run *run, const u8 *bytes);
static void write_heap(const builder_run *run, const step *s);
static void write_memory(const builder_run *run, const step *s);
static void write_system(const builder_run *run, const step *s);
static void write_stack(const builder_run *run, const step *s);
static void break_field(builder_run *run, const u8 *bytes);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    if (size < 2 * STEP_BYTES)
        return 0;
    builder_run run = { .b = open_session(data) };
    run.ticks = etl_build_start_ticks(run.b);
    /* Fields are broken as they are written, so breaking instructions come first. */
    for (size_t at = STEP_BYTES; at + STEP_BYTES <= size; at += STEP_BYTES) {
        if (data[at] % 8 == 7)
            break_field(&run, data + at);
    }
    u32 steps = 0;
    for (size_t at = STEP_BYTES; at + STEP_BYTES <= size && steps < STEPS_MAX; at += STEP_BYTES) {
        const step s = read_step(&run, data + at);
        steps++;
        switch (s.what % 8) {
        case 0:
        case 1:
        case 2:
            write_heap(&run, &s);
            break;
        case 3:
            write_memory(&run, &s);
            break;
        case 4:
            write_system(&run, &s);
            break;
        case 5:
        case 6:
            write_stack(&run, &s);
            break;
        default:
            break;
        }
    }
    if (etl_build_finish(run.b)) {
        size_t built;
        const u8 *const bytes = etl_build_data(run.b, &built);
        trace_check(bytes, built, data[3] % 2 == 0 ? 0 : 1024u * data[3]);
    }
    etl_build_free(run.b);
    return 0;
}

static etl_build *open_session(const u8 *session)
{
    const u8 flags = session[1];
    const etl_build_options options = {
        .cpus = 1 + session[0] % 4,
        .buffer_bytes = 1024u << session[2] % 5,
        .pointer_bytes = (flags & 1) != 0 ? 4 : 8,
        .compress = (flags & 2) != 0,
        .keyed_stacks = (flags & 4) != 0,
        .stack_key_slots = 4,
        .one_stream = (flags & 8) != 0,
        .virtual_alloc_without_tid = (flags & 16) != 0,
        .unclosed = (flags & 32) != 0,
        .order = (flags & 64) != 0 ? ETL_BUILD_AS_CALLED : ETL_BUILD_SORTED,
    };
    return etl_build_new(&options);
}

static step read_step(builder_run *run, const u8 *bytes)
{
    step s = { .what = bytes[0],
               .who = bytes[1],
               .time = bytes[2],
               .where = bytes[3],
               .address = bytes[4],
               .size = bytes[5],
               .number = (u16)(bytes[6] | bytes[7] << 8) };
    const i64 time = s.time < 128 ? s.time : (i64)s.time - 256;
    run->ticks += time * (s.number % 16 == 0 ? 1000000 : 7);
    if (run->ticks < etl_build_start_ticks(run->b))
        run->ticks = etl_build_start_ticks(run->b);
    s.at = (etl_build_at){ .ticks = run->ticks,
                           .cpu = s.who % 4,
                           .pid = 100u + s.where % 3 * 4,
                           .tid = 7u + (s.who >> 4) % 3 };
    s.heap = 0x10000u * (1u + (s.where >> 4) % 3);
    s.block = 0x200000u + ADDRESS_STEP * (u64)s.address;
    return s;
}

static void write_heap(const builder_run *run, const step *s)
{
    const etl_build_realloc change = { .new_address = s->block,
                                       .old_address = s->number % 3 == 0
                                                          ? s->block
                                                          : 0x200000u + ADDRESS_STEP * s->number,
                                       .new_size = s->size,
                                       .old_size = s->number };
    switch (s->what / 8 % 8) {
    case 0:
    case 1:
    case 2:
        etl_build_heap_alloc(run->b, s->at, s->heap, s->block,
                             s->number == 0xFFFF ? UINT64_MAX : s->size);
        break;
    case 3:
    case 4:
        etl_build_heap_free(run->b, s->at, s->heap, s->block);
        break;
    case 5:
        etl_build_heap_realloc(run->b, s->at, s->heap, &change);
        break;
    case 6:
        etl_build_heap_create(run->b, s->at, s->heap);
        break;
    default:
        etl_build_heap_destroy(run->b, s->at, s->heap);
        break;
    }
}

static void write_memory(const builder_run *run, const step *s)
{
    static const u32 flags[] = { ETL_BUILD_COMMIT, ETL_BUILD_RESERVE,
                                 ETL_BUILD_COMMIT | ETL_BUILD_RESERVE, ETL_BUILD_RESET };
    const u64 base = 0x1000u * (u64)s->address;
    const u64 size = 0x1000u * (u64)s->size;
    switch (s->what / 8 % 8) {
    case 0:
    case 1:
    case 2:
        etl_build_virtual_alloc(run->b, s->at, base, size, flags[s->number % 4]);
        break;
    case 3:
        etl_build_virtual_free(run->b, s->at, base, size, ETL_BUILD_DECOMMIT);
        break;
    case 4:
        etl_build_virtual_free(run->b, s->at, base, size, ETL_BUILD_RELEASE);
        break;
    case 5:
        etl_build_heap_expand(run->b, s->at, s->heap, base, size);
        break;
    case 6:
        etl_build_heap_contract(run->b, s->at, s->heap, base, size);
        break;
    default: {
        const etl_build_virtual_spec spec = { .hook = s->number % 2 == 0 ? 0x0280 : 0x0281,
                                              .base = base,
                                              .size = size,
                                              .flags = ETL_BUILD_COMMIT,
                                              .owner_pid = s->at.pid,
                                              .commit_bytes = size / 2 };
        etl_build_virtual(run->b, s->at, &spec);
        break;
    }
    }
}

static void write_system(const builder_run *run, const step *s)
{
    static const u8 types[] = { ETL_BUILD_START, ETL_BUILD_END, ETL_BUILD_DCSTART,
                                ETL_BUILD_DCEND };
    const etl_build_process_spec process = { .pid = s->at.pid, .name = "fuzz.exe" };
    const etl_build_image_spec image = { .pid = s->at.pid,
                                         .base = IMAGE_BASE + 0x10000u * (u64)(s->address % 4),
                                         .size = 0x10000u + s->number,
                                         .path = "\\Device\\HarddiskVolume3\\fuzz.dll" };
    const u8 type = types[s->number % 4];
    if (s->what / 8 % 2 == 0)
        etl_build_process(run->b, s->at, type, &process);
    else
        etl_build_image(run->b, s->at, type, &image);
}

static void write_stack(const builder_run *run, const step *s)
{
    u64 user[DEPTH_MAX], kernel[DEPTH_MAX];
    etl_build_stack stack = { .user = user,
                              .kernel = kernel,
                              .user_count = 1 + s->size % DEPTH_MAX,
                              .kernel_count = s->what / 8 % 4 == 0 ? s->number % DEPTH_MAX : 0,
                              .form = (u8)(s->what / 32 % 4),
                              .delay_ticks = 1 + s->number % 64 };
    for (u32 i = 0; i < DEPTH_MAX; i++) {
        user[i] = IMAGE_BASE + 0x10u * ((u64)s->address % 8 + i);
        kernel[i] = 0xfffff80000000000u + 0x10u * i;
    }
    etl_build_stack_walk(run->b, s->at, &stack);
}

static void break_field(builder_run *run, const u8 *bytes)
{
    if (run->breaks++ >= BREAKS_MAX)
        return;
    const etl_build_field field = (etl_build_field)(bytes[1] % ETL_BREAK_COUNT);
    const u64 value = (u64)bytes[4] << (bytes[5] % 57) | bytes[6];
    const bool is_length = field == ETL_BREAK_FILE_ZEROS || field == ETL_BREAK_FILE_GARBAGE;
    etl_build_break(run->b, field, bytes[2], is_length ? value % TAIL_BYTES_MAX : value);
}
