/*
 * made_table.c - a small table of results with known content, for writers.
 */
#include "made_table.h"

#include "parser/base.h"

#define MEASURES(size, outstanding)                                                                \
    {                                                                                              \
        [ETLHEAP_MEASURE_COUNT] = 1, [ETLHEAP_MEASURE_SIZE] = (size),                              \
        [ETLHEAP_MEASURE_IMPACTING_SIZE] = (outstanding),                                          \
        [ETLHEAP_MEASURE_OUTSTANDING_COUNT] = (outstanding) > 0 ? 1 : 0,                           \
        [ETLHEAP_MEASURE_OUTSTANDING_SIZE] = (outstanding), [ETLHEAP_MEASURE_PEAK_COUNT] = 1,      \
        [ETLHEAP_MEASURE_PEAK_SIZE] = (size)                                                       \
    }

static const etlheap_key group_by[] = { ETLHEAP_KEY_KIND, ETLHEAP_KEY_PROCESS, ETLHEAP_KEY_HEAP,
                                        ETLHEAP_KEY_TYPE, ETLHEAP_KEY_STACK };

static const etlheap_frame frames[] = {
    { .module = "leaky.exe", .address = 0x400010, .offset = 0x10, .symbol = "Leaky::grow" },
    { .module = "leaky.exe", .address = 0x400020, .offset = 0x20 },
    { .module = "main,\"x\".dll", .address = 0x500030, .offset = 0x30 },
    { .address = 0x7ff612340000 },
};

static const u32 stack_starts[] = { 0, 3, 6, 7 };
static const u32 frame_indices[] = { 0, 1, 2, 3, 1, 2, 3 };

static const etlheap_row rows[MADE_ROWS] = {
    { .kind = ETLHEAP_KIND_VIRTUALALLOC,
      .type = ETLHEAP_TYPE_AIFO,
      .process = "quiet.exe",
      .pid = 20,
      .stack = 0,
      .frame = ETLHEAP_NO_INDEX,
      .measures = MEASURES(4096, 4096) },
    { .kind = ETLHEAP_KIND_HEAP,
      .type = ETLHEAP_TYPE_AIFO,
      .process = "leaky.exe",
      .pid = 10,
      .has_heap = true,
      .heap_handle = 0x10,
      .stack = 0,
      .frame = ETLHEAP_NO_INDEX,
      .measures = MEASURES(300, 300) },
    { .kind = ETLHEAP_KIND_HEAP,
      .type = ETLHEAP_TYPE_AIFO,
      .process = "leaky.exe",
      .pid = 10,
      .has_heap = true,
      .heap_handle = 0x10,
      .stack = 1,
      .frame = ETLHEAP_NO_INDEX,
      .measures = MEASURES(200, 200) },
    { .kind = ETLHEAP_KIND_HEAP,
      .type = ETLHEAP_TYPE_AOFO,
      .process = "quiet.exe",
      .pid = 20,
      .has_heap = true,
      .heap_handle = 0x20,
      .stack = ETLHEAP_NO_INDEX,
      .frame = ETLHEAP_NO_INDEX,
      .measures = MEASURES(100, 100) },
    { .kind = ETLHEAP_KIND_HEAP,
      .type = ETLHEAP_TYPE_AIFI,
      .process = "leaky.exe",
      .pid = 10,
      .has_heap = true,
      .heap_handle = 0x20,
      .stack = 2,
      .frame = ETLHEAP_NO_INDEX,
      .measures = MEASURES(50, 0) },
};

etlheap_table made_table(void)
{
    return (etlheap_table){
        .from_ns = 0,
        .to_ns = 1000,
        .group_by = group_by,
        .group_by_count = (u32)ETL_COUNT_OF(group_by),
        .measures = (2u << ETLHEAP_MEASURE_PEAK_SIZE) - 1,
        .frames = frames,
        .frame_count = (u32)ETL_COUNT_OF(frames),
        .stack_starts = stack_starts,
        .frame_indices = frame_indices,
        .stack_count = 3,
        .rows = rows,
        .row_count = MADE_ROWS,
    };
}
