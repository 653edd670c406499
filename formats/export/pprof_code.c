/*
 * pprof_code.c - writes functions, mappings and locations of a pprof profile when the first
 * sample needs them.
 *
 * In: frames of samples. Out: numbers of locations, and the messages that define them, written
 * before the sample.
 *
 * Invariant: everything is numbered once and written once, so only numbers are kept in memory;
 * strings come last.
 */
#include "pprof_code.h"

#include "formats/parts/display.h"
#include "export_samples.h"
#include "frame_modules.h"

#include <stdlib.h>

#include "parser/system/name_fold.h"

#define MAPPING_FLAG_COUNT 4u /* has_functions and so on: nobody is to look names up */
#define MAPPINGS_FIRST     64u

enum {
    MAPPING_ID = 1,
    MAPPING_START,
    MAPPING_LIMIT,
    MAPPING_FILE = 5,
    MAPPING_BUILD,
    MAPPING_FLAGS
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_FILE = 4 };

static u32 location_of(pprof_code *code, const u32 *frames, u32 count);
static u32 function_of(pprof_code *code, const etlheap_frame *frame);
static u32 mapping_of(pprof_code *code, const etlheap_frame *frame, u64 *base);
static bool add_place(pprof_code *code, const etlheap_frame *frame, u32 number);
static u32 write_mapping(pprof_code *code, u32 index);
static u64 seen_at(const etlheap_frame *frame);

u32 pprof_program_module(const pprof_code *code, const char *process, u32 pid)
{
    const u32 count = etlheap_module_count(code->result);
    for (u32 i = 0; i < count; i++) {
        const etlheap_module_info *const module = etlheap_module_of(code->result, i);
        if ((pid == ETL_NO_ID || module->pid == pid) && etl_name_same(module->name, process))
            return module_of_build(code->result, module);
    }
    return ETLHEAP_NO_INDEX;
}

void pprof_add_mapping(pprof_code *code, u32 module)
{
    (void)write_mapping(code, module);
}

/* Adds locations. Inlined calls come before the frame of the code that they are part of, and make
 * one location with it. */
void pprof_add_locations(pprof_code *code, const etlheap_row *row, etlheap_text *list)
{
    const etlheap_indices frames = etlheap_row_frames(code->table, row);
    u32 first = 0;
    for (u32 i = 0; i < frames.count; i++) {
        if (code->table->frames[frames.at[i]].is_inlined && i + 1 < frames.count)
            continue;
        etlheap_protobuf_varint(list, location_of(code, frames.at + first, i + 1 - first));
        first = i + 1;
    }
    if (frames.count == 0)
        etlheap_protobuf_varint(list, location_of(code, NULL, 0));
}

/* Strings are UTF-8 by the format's definition, and are shown on terminals. */
u32 pprof_string(pprof_code *code, const char *text)
{
    u32 number;
    etlheap_text_clear(&code->clean);
    etlheap_display_add(&code->clean, text);
    (void)export_number_of(&code->strings, etlheap_protobuf_of(&code->clean), &number);
    return number;
}

void pprof_put(pprof_code *code, u32 field, etlheap_text *message)
{
    etlheap_protobuf_head(&code->head, field, message->size);
    etlheap_gzip_write(code->gzip, etlheap_text_of(&code->head), code->head.size);
    etlheap_gzip_write(code->gzip, etlheap_text_of(message), message->size);
    etlheap_text_clear(&code->head);
    etlheap_text_clear(message);
}

bool pprof_code_ok(const pprof_code *code)
{
    return !code->failed && !code->strings.failed && !code->functions.failed &&
           !code->locations.failed && !code->modules.failed && !code->places.failed &&
           !code->head.failed && !code->message.failed && !code->lines.failed &&
           !code->line.failed && !code->name.failed && !code->clean.failed;
}

void pprof_code_free(pprof_code *code)
{
    export_numbers_free(&code->strings);
    export_numbers_free(&code->functions);
    export_numbers_free(&code->locations);
    export_numbers_free(&code->modules);
    export_numbers_free(&code->places);
    free(code->mappings);
    etlheap_text_free(&code->head);
    etlheap_text_free(&code->message);
    etlheap_text_free(&code->lines);
    etlheap_text_free(&code->line);
    etlheap_text_free(&code->name);
    etlheap_text_free(&code->clean);
}

/* The location of frames at one address; the last one is not inlined. Without frames, the location
 * of memory whose stack was not recorded. */
static u32 location_of(pprof_code *code, const u32 *frames, u32 count)
{
    static const etlheap_frame none = { .symbol = EXPORT_NO_STACK };
    const etlheap_frame *const last = count > 0 ? &code->table->frames[frames[count - 1]] : &none;
    const u64 first_index = count > 0 ? frames[0] : ETLHEAP_NO_INDEX;
    const u64 last_index = count > 0 ? frames[count - 1] : ETLHEAP_NO_INDEX;
    u64 base = 0;
    u32 number;
    if (!export_number_of_pair(&code->locations, first_index, last_index, &number))
        return number + 1;
    const u32 mapping = last->module ? mapping_of(code, last, &base) : 0;
    const u64 address = mapping != 0 ? etl_sat_add_u64(base, last->offset) : seen_at(last);
    for (u32 i = 0; i < (count > 0 ? count : 1); i++) {
        const etlheap_frame *const frame = count > 0 ? &code->table->frames[frames[i]] : &none;
        etlheap_protobuf_number(&code->line, LINE_FUNCTION, function_of(code, frame));
        etlheap_protobuf_number(&code->line, LINE_NUMBER, frame->line);
        etlheap_protobuf_bytes(&code->lines, LOCATION_LINE, etlheap_protobuf_of(&code->line));
        etlheap_text_clear(&code->line);
    }
    etlheap_protobuf_number(&code->message, LOCATION_ID, (u64)number + 1);
    etlheap_protobuf_number(&code->message, LOCATION_MAPPING, mapping);
    etlheap_protobuf_number(&code->message, LOCATION_ADDRESS, address);
    etlheap_text_add(&code->message, etlheap_text_of(&code->lines), code->lines.size);
    etlheap_text_clear(&code->lines);
    pprof_put(code, PROFILE_LOCATION, &code->message);
    return number + 1;
}

/* The function, named as in all our output: "app.exe!Leaky::grow". */
static u32 function_of(pprof_code *code, const etlheap_frame *frame)
{
    u32 number;
    etlheap_text_clear(&code->name);
    if (frame->module || !frame->symbol)
        etlheap_text_add_frame(&code->name, frame);
    else
        etlheap_text_add_string(&code->name, frame->symbol);
    const u32 name = pprof_string(code, etlheap_text_of(&code->name));
    const u32 file = frame->file ? pprof_string(code, frame->file) : 0;
    if (!export_number_of_pair(&code->functions, name, file, &number))
        return number + 1;
    etlheap_protobuf_number(&code->message, FUNCTION_ID, (u64)number + 1);
    etlheap_protobuf_number(&code->message, FUNCTION_NAME, name);
    etlheap_protobuf_number(&code->message, FUNCTION_FILE, file);
    pprof_put(code, PROFILE_FUNCTION, &code->message);
    return number + 1;
}

/* The mapping of a frame; 0 if the trace does not say where the module was. */
static u32 mapping_of(pprof_code *code, const etlheap_frame *frame, u64 *base)
{
    const u32 name = pprof_string(code, frame->module);
    u32 number;
    if (export_number_of_pair(&code->places, name, frame_base(frame), &number) &&
        !add_place(code, frame, number))
        code->failed = true;
    if (!pprof_code_ok(code))
        return 0;
    *base = code->mappings[number].base;
    return code->mappings[number].id;
}

static bool add_place(pprof_code *code, const etlheap_frame *frame, u32 number)
{
    if (number >= code->mapping_capacity) {
        const u32 capacity = number * 2 + MAPPINGS_FIRST;
        pprof_mapping *const more = realloc(code->mappings, (size_t)capacity * sizeof *more);
        if (!more)
            return false;
        code->mappings = more;
        code->mapping_capacity = capacity;
    }
    const u32 index = frame_module(code->result, frame);
    code->mappings[number] = (pprof_mapping){ 0 };
    if (index != ETLHEAP_NO_INDEX) {
        code->mappings[number].id = write_mapping(code, index);
        code->mappings[number].base = etlheap_module_of(code->result, index)->base;
    }
    return true;
}

/* The id of the mapping that a module is. */
static u32 write_mapping(pprof_code *code, u32 index)
{
    const etlheap_module_info *const module = etlheap_module_of(code->result, index);
    char id[MODULE_BUILD_ID_SIZE];
    u32 number;
    if (!export_number_of_pair(&code->modules, index, 0, &number))
        return number + 1;
    module_build_id(module, id);
    etlheap_protobuf_number(&code->message, MAPPING_ID, (u64)number + 1);
    etlheap_protobuf_number(&code->message, MAPPING_START, module->base);
    etlheap_protobuf_number(&code->message, MAPPING_LIMIT,
                            etl_sat_add_u64(module->base, module->size_bytes));
    etlheap_protobuf_number(&code->message, MAPPING_FILE, pprof_string(code, module->path));
    etlheap_protobuf_number(&code->message, MAPPING_BUILD, pprof_string(code, id));
    for (u32 i = 0; i < MAPPING_FLAG_COUNT; i++)
        etlheap_protobuf_number(&code->message, MAPPING_FLAGS + i, 1);
    pprof_put(code, PROFILE_MAPPING, &code->message);
    return number + 1;
}

/* The address at which a frame was seen; summaries have none. */
static u64 seen_at(const etlheap_frame *frame)
{
    return frame->address != ETLHEAP_NO_ADDRESS ? frame->address : 0;
}
