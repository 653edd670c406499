/* hand_result.c - see hand_result.h. */
#include "hand_result.h"

#include "engine/context/methods.h"
#include <stdlib.h>

#include "engine/result/spellings.h"
#include "engine/context/stack_numbering.h"

#define TEXT_MAX 256u

const etl_session *hand_session(void)
{
    static const etl_session session = {
        .header_ticks = HAND_START_TICKS,
        .start_time_filetime = INT64_C(132404116200000000),
        .clock = ETL_CLOCK_QPC,
        .clock_hz = 10000000,
        .cpu_count = 4,
        .pointer_bytes = 8,
        .cpu_known = true,
    };
    return &session;
}

timebase hand_timebase(void)
{
    return (timebase){ .base = hand_session() };
}

static void require(bool made)
{
    if (!made)
        abort(); /* the test is wrong or has no memory, not the tested code */
}

etlheap_result *hand_result_new(void)
{
    etlheap_result *const result = calloc(1, sizeof *result);
    require(result != NULL);
    result->mode = RESULT_LIFETIMES;
    result->base = hand_timebase();
    context_open(&result->context, &result->base);
    result->first_ticks = HAND_START_TICKS;
    result->last_ticks = HAND_START_TICKS;
    return result;
}

static void apply(trace_context *context, etl_event event, i64 ticks)
{
    const system_event row = { .ticks = ticks, .event = event };
    require(context_apply(context, &row, 1));
}

static etl_bytes widen(const char *text, u8 out[2 * TEXT_MAX])
{
    size_t size = 0;
    for (; text[size] != '\0'; size++) {
        require(size < TEXT_MAX);
        out[2 * size] = (u8)text[size];
        out[2 * size + 1] = 0;
    }
    return (etl_bytes){ out, 2 * size };
}

void hand_image(trace_context *context, const hand_image_spec *image)
{
    u8 wide[2 * TEXT_MAX];
    etl_event event = { .kind = image->kind, .pointer_bytes = 8 };
    event.as.image.image_base = image->base;
    event.as.image.image_size_bytes = image->size_bytes;
    event.as.image.process_id = image->pid;
    event.as.image.time_date_stamp = image->time_date_stamp;
    event.as.image.image_checksum = image->checksum;
    event.as.image.file_name = widen(image->path, wide);
    apply(context, event, image->ticks);
}

void hand_volume(trace_context *context, const char *nt_path, const char *dos_path)
{
    u8 wide_nt[2 * TEXT_MAX], wide_dos[2 * TEXT_MAX];
    etl_event event = { .kind = ETL_EVENT_VOLUME_MAPPING, .pointer_bytes = 8 };
    event.as.volume_mapping.nt_path = widen(nt_path, wide_nt);
    event.as.volume_mapping.dos_path = widen(dos_path, wide_dos);
    apply(context, event, HAND_START_TICKS);
}

void hand_rsds(trace_context *context, const hand_image_spec *image, u8 mark, const char *pdb)
{
    etl_event event = { .kind = ETL_EVENT_IMAGE_RSDS, .pointer_bytes = 8 };
    event.as.image_rsds.image_base = image->base;
    event.as.image_rsds.process_id = image->pid;
    event.as.image_rsds.age = 1;
    event.as.image_rsds.guid.bytes[0] = mark;
    event.as.image_rsds.pdb_file_name = (etl_bytes){ (const u8 *)pdb, strlen(pdb) };
    apply(context, event, image->ticks);
}

void hand_image_id(trace_context *context, const hand_image_spec *image, u32 time_date_stamp)
{
    etl_event event = { .kind = ETL_EVENT_IMAGE_ID, .pointer_bytes = 8 };
    event.as.image_id.image_base = image->base;
    event.as.image_id.process_id = image->pid;
    event.as.image_id.time_date_stamp = time_date_stamp;
    apply(context, event, image->ticks);
}

u32 hand_process(etlheap_result *result, u32 pid, const char *name)
{
    const etlheap_process_info info = { .pid = pid,
                                        .parent_pid = ETL_NO_ID,
                                        .name = name,
                                        .command_line = "",
                                        .start_ticks = ETLHEAP_TICKS_BEFORE,
                                        .end_ticks = ETLHEAP_TICKS_NEVER };
    require(ETLHEAP_PUSH(&result->processes, info));
    return (u32)result->processes.count;
}

static void number_stacks(stack_table *stacks)
{
    stack_numbering numbering = { .stack_count = 0 };
    require(stack_numbering_finish(&numbering, stacks));
}

u32 hand_stack(etlheap_result *result, const u64 *frames, u32 count)
{
    u32 id;
    stack_table *const stacks = &result->stacks;
    const bool is_numbered = stacks->numbers != NULL;
    free(stacks->numbers);
    free(stacks->addresses);
    stacks->numbers = NULL;
    stacks->addresses = NULL;
    require(stack_add(stacks, stack_hash(frames, count), frames, count, &id));
    if (is_numbered)
        number_stacks(stacks);
    return id;
}

void hand_lifetime(etlheap_result *result, const lifetime *row)
{
    require(store_append(&result->store, row, 1));
}

void hand_ready(etlheap_result *result, i64 last_ticks)
{
    result->last_ticks = last_ticks;
    result->info.duration_ns = etl_time_ns(result->base.base, last_ticks);
    result->info.end_ns = etl_time_ns(result->base.base, last_ticks + 1);
    const module_owners owners = { .processes = result->processes.at,
                                   .count = result->processes.count };
    require(modules_build(&result->modules, &result->context, &owners));
    require(methods_build(&result->modules, &result->context, &owners));
    require(spellings_set(result));
    number_stacks(&result->stacks);
}
