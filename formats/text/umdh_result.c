/*
 * umdh_result.c - a log of UMDH as a result, which answers what a trace answers, and names for
 * the frames of its table.
 *
 *     lines ──▶ snapshot: modules, one stack for each backtrace, blocks ──▶ result
 */
#include "umdh_inside.h"

#include <stdio.h>
#include <stdlib.h>

#define FILETIME_OF_1970   INT64_C(116444736000000000)
#define FILETIME_OF_MINUTE INT64_C(600000000)

/* The arrays of a snapshot. */
typedef struct snapshot_parts {
    etlheap_snapshot_module *modules;
    etlheap_snapshot_stack *stacks;
    etlheap_snapshot_block *blocks;
} snapshot_parts;

static bool make_parts(const umdh_lines *lines, snapshot_parts *parts, u32 *stack_count);
static u32 pointer_bits_of(const etlheap_umdh *log);
static i64 filetime_of(const char *time);
static i64 days_of(i64 year, i64 month, i64 day);

etl_status etlheap_umdh_result(const etlheap_umdh *log, const char *name, etlheap_result **out,
                               etl_error *err)
{
    const umdh_lines *const lines = &log->lines;
    snapshot_parts parts = { NULL, NULL, NULL };
    char tool[64];
    u32 stack_count = 0;
    etl_status status = ETL_OK;
    *out = NULL;
    snprintf(tool, sizeof tool, "UMDH%s%.50s", log->info.version[0] != '\0' ? " " : "",
             log->info.version);
    if (!make_parts(lines, &parts, &stack_count))
        status = etl_no_memory(err);
    const etlheap_snapshot snapshot = {
        .size = sizeof snapshot,
        .file = name,
        .tool = tool,
        .computer = log->info.machine,
        .process = log->info.process,
        .pid = log->info.pid,
        .pointer_bits = pointer_bits_of(log),
        .file_bytes = log->file_bytes,
        .taken_filetime = filetime_of(log->info.time),
        .modules = parts.modules,
        .module_count = (u32)lines->module_count,
        .stacks = parts.stacks,
        .stack_count = stack_count,
        .blocks = parts.blocks,
        .block_count = lines->block_count,
        .skipped_lines = lines->skipped_lines,
    };
    if (status == ETL_OK)
        status = etlheap_snapshot_result(&snapshot, out, err);
    free(parts.modules);
    free(parts.stacks);
    free(parts.blocks);
    return status;
}

etl_status etlheap_umdh_name(etlheap_umdh *log, etlheap_symbols *symbols, etl_error *err)
{
    return etlheap_symbols_name_frames(symbols, log->frames, log->address_count, err);
}

/* A backtrace is written out once, behind one of its blocks. */
static bool make_parts(const umdh_lines *lines, snapshot_parts *parts, u32 *stack_count)
{
    parts->modules = calloc(lines->module_count + 1, sizeof *parts->modules);
    parts->stacks = calloc(lines->block_count + 1, sizeof *parts->stacks);
    parts->blocks = calloc(lines->block_count + 1, sizeof *parts->blocks);
    if (!parts->modules || !parts->stacks || !parts->blocks)
        return false;
    for (size_t i = 0; i < lines->module_count; i++) {
        const umdh_module *const module = &lines->modules[i];
        parts->modules[i] = (etlheap_snapshot_module){ module->base, module->size_bytes,
                                                       lines->texts.bytes + module->name };
    }
    for (size_t start = 0, end; start < lines->block_count; start = end) {
        const umdh_block *with_frames = NULL;
        for (end = start; end < lines->block_count &&
                          lines->blocks[end].backtrace == lines->blocks[start].backtrace;
             end++) {
            if (!with_frames && lines->blocks[end].frame_count > 0)
                with_frames = &lines->blocks[end];
        }
        if (with_frames)
            parts->stacks[(*stack_count)++] =
                (etlheap_snapshot_stack){ &lines->frames[with_frames->frame_first],
                                          with_frames->frame_count };
        for (size_t i = start; i < end; i++) {
            const umdh_block *const block = &lines->blocks[i];
            parts->blocks[i] =
                (etlheap_snapshot_block){ block->address, (u64)block->size_bytes, block->heap,
                                          with_frames ? *stack_count : 0 };
        }
    }
    return true;
}

/* A program of 64 bits has system libraries above 4 GiB. */
static u32 pointer_bits_of(const etlheap_umdh *log)
{
    for (size_t i = 0; i < log->lines.module_count; i++) {
        if (log->lines.modules[i].base >> 32 != 0)
            return 64;
    }
    return 32;
}

/* "2010-07-23 12:26": the machine's clock, of which the log does not say the zone. */
static i64 filetime_of(const char *time)
{
    int year, month, day, hour, minute;
    if (sscanf(time, "%4d-%2d-%2d %2d:%2d", &year, &month, &day, &hour, &minute) != 5 ||
        year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 ||
        minute < 0 || minute > 59)
        return 0;
    const i64 minutes = (days_of(year, month, day) * 24 + hour) * 60 + minute;
    return FILETIME_OF_1970 + minutes * FILETIME_OF_MINUTE;
}

/* Since 1970, in the Gregorian calendar: years begin in March, so that February ends them. */
static i64 days_of(i64 year, i64 month, i64 day)
{
    const i64 y = month <= 2 ? year - 1 : year;
    const i64 day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return y * 365 + y / 4 - y / 100 + y / 400 + day_of_year - 719468;
}
