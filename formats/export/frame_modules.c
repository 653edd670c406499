/*
 * frame_modules.c - finds the module that a frame lies in, for formats that keep code by module.
 *
 * In: frames of a table and the modules of its result. Out: indices of modules, and how symbol
 * stores call a build. Invariant: all processes that loaded one build get the same module, the
 * first one of the result, so code of a build has one place in the format.
 */
#include "frame_modules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "parser/system/name_fold.h"

static bool is_same_build(const etlheap_module_info *a, const etlheap_module_info *b);

u32 frame_module(const etlheap_result *result, const etlheap_frame *frame)
{
    const u32 count = etlheap_module_count(result);
    const etlheap_module_info *seen = NULL;
    for (u32 i = 0; i < count; i++) {
        const etlheap_module_info *const module = etlheap_module_of(result, i);
        if (etl_name_same(module->name, frame->module) && frame->offset < module->size_bytes &&
            (!seen || (seen->base != frame_base(frame) && module->base == frame_base(frame))))
            seen = module;
    }
    return seen ? module_of_build(result, seen) : ETLHEAP_NO_INDEX;
}

u32 module_of_build(const etlheap_result *result, const etlheap_module_info *seen)
{
    u32 i = 0;
    while (!is_same_build(etlheap_module_of(result, i), seen))
        i++;
    return i;
}

static bool is_same_build(const etlheap_module_info *a, const etlheap_module_info *b)
{
    return etl_name_same(a->name, b->name) && a->size_bytes == b->size_bytes &&
           a->time_date_stamp == b->time_date_stamp && a->has_rsds == b->has_rsds &&
           a->age == b->age && memcmp(&a->guid, &b->guid, sizeof a->guid) == 0;
}

u64 frame_base(const etlheap_frame *frame)
{
    return frame->address != ETLHEAP_NO_ADDRESS ? frame->address - frame->offset : frame->offset;
}

void module_build_id(const etlheap_module_info *module, char out[MODULE_BUILD_ID_SIZE])
{
    char guid[ETL_GUID_TEXT_SIZE];
    size_t size = 0;
    out[0] = '\0';
    if (!module->has_rsds)
        return;
    etl_guid_format(module->guid.bytes, guid);
    for (const char *at = guid; *at != '\0'; at++) {
        if (*at != '-')
            out[size++] = (char)(*at >= 'a' ? *at - 'a' + 'A' : *at);
    }
    snprintf(out + size, MODULE_BUILD_ID_SIZE - size, "%" PRIX32, module->age);
}
