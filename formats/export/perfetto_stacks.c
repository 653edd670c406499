/*
 * perfetto_stacks.c - numbers the call stacks of a Perfetto trace and writes what they consist of.
 *
 * In: rows with stacks. Out: numbers of call stacks, and the fields of InternedData that define
 * them. perfetto_stacks.h says what Perfetto takes for equal.
 *
 * Invariant: every frame has a mapping, or Perfetto drops its whole call stack. Frames outside all
 * modules, and those that are no code, have a mapping without a place.
 */
#include "perfetto_stacks.h"

#include "formats/parts/display.h"
#include "export_samples.h"
#include "frame_modules.h"

#include <stdlib.h>

#define PLACES_FIRST 64u

enum {
    INTERNED_FUNCTION = 5,
    INTERNED_FRAME = 6,
    INTERNED_STACK = 7,
    INTERNED_BUILD = 16,
    INTERNED_PATH = 17,
    INTERNED_SOURCE = 18,
    INTERNED_MAPPING = 19
};
enum { STRING_ID = 1, STRING_BYTES };
enum { MAPPING_ID = 1, MAPPING_BUILD, MAPPING_START = 4, MAPPING_END, MAPPING_PATH = 7 };
enum { FRAME_ID = 1, FRAME_FUNCTION, FRAME_MAPPING, FRAME_PLACE, FRAME_SOURCE, FRAME_LINE };
enum { STACK_ID = 1, STACK_FRAME };

/* Paths of mappings without code. */
static const char no_module[] = "[no module]", no_code[] = "[etlheap]";

static u64 frame_of(perfetto_stacks *stacks, const etlheap_frame *frame);
static u64 name_frame(perfetto_stacks *stacks, const char *name);
static u64 add_frame(perfetto_stacks *stacks, u64 mapping, u64 place, const etlheap_frame *frame);
static u64 mapping_of(perfetto_stacks *stacks, const etlheap_frame *frame);
static u64 add_place(perfetto_stacks *stacks, const etlheap_frame *frame, u32 number);
static u64 add_mapping(perfetto_stacks *stacks, const char *path,
                       const etlheap_module_info *module);
static u64 add_string(perfetto_stacks *stacks, export_numbers *strings, u32 field,
                      const char *text);
static void put(perfetto_stacks *stacks, u32 field);

u32 perfetto_stack(perfetto_stacks *stacks, const etlheap_row *row)
{
    const etlheap_indices frames = etlheap_row_frames(stacks->table, row);
    u32 number;
    etlheap_text_clear(&stacks->list);
    etlheap_protobuf_present(&stacks->list, STACK_FRAME,
                             name_frame(stacks, etlheap_kind_name((etlheap_kind)row->kind)));
    for (u32 i = frames.count; i-- > 0;)
        etlheap_protobuf_present(&stacks->list, STACK_FRAME,
                                 frame_of(stacks, &stacks->table->frames[frames.at[i]]));
    if (frames.count == 0)
        etlheap_protobuf_present(&stacks->list, STACK_FRAME, name_frame(stacks, EXPORT_NO_STACK));
    if (export_number_of(&stacks->stacks, etlheap_protobuf_of(&stacks->list), &number)) {
        etlheap_protobuf_number(&stacks->message, STACK_ID, (u64)number + 1);
        etlheap_text_add(&stacks->message, etlheap_text_of(&stacks->list), stacks->list.size);
        put(stacks, INTERNED_STACK);
    }
    return number + 1;
}

bool perfetto_stacks_ok(const perfetto_stacks *stacks)
{
    return !stacks->failed && !stacks->functions.failed && !stacks->paths.failed &&
           !stacks->sources.failed && !stacks->builds.failed && !stacks->places.failed &&
           !stacks->mappings.failed && !stacks->frames.failed && !stacks->stacks.failed &&
           !stacks->interned.failed && !stacks->message.failed && !stacks->list.failed &&
           !stacks->key.failed && !stacks->name.failed && !stacks->clean.failed;
}

void perfetto_stacks_free(perfetto_stacks *stacks)
{
    export_numbers *const numbers[] = {
        &stacks->functions, &stacks->paths,    &stacks->sources, &stacks->builds,
        &stacks->places,    &stacks->mappings, &stacks->frames,  &stacks->stacks,
    };
    etlheap_text *const texts[] = { &stacks->interned, &stacks->message, &stacks->list,
                                    &stacks->key,      &stacks->name,    &stacks->clean };
    for (size_t i = 0; i < ETL_COUNT_OF(numbers); i++)
        export_numbers_free(numbers[i]);
    for (size_t i = 0; i < ETL_COUNT_OF(texts); i++)
        etlheap_text_free(texts[i]);
    free(stacks->mapping_of_place);
}

/* The frame, named as in all our output: "app.exe!Leaky::grow". */
static u64 frame_of(perfetto_stacks *stacks, const etlheap_frame *frame)
{
    const bool has_place = frame->module != NULL && frame->offset != ETLHEAP_NO_ADDRESS;
    const u64 address = frame->address != ETLHEAP_NO_ADDRESS ? frame->address : 0;
    const u64 mapping =
        frame->module != NULL ? mapping_of(stacks, frame) : add_mapping(stacks, no_module, NULL);
    etlheap_text_clear(&stacks->name);
    if (frame->module || !frame->symbol)
        etlheap_text_add_frame(&stacks->name, frame);
    else
        etlheap_text_add_string(&stacks->name, frame->symbol);
    const u64 elsewhere = frame->module != NULL ? 0 : address;
    return add_frame(stacks, mapping, has_place ? frame->offset : elsewhere, frame);
}

/* A frame that is only a name. */
static u64 name_frame(perfetto_stacks *stacks, const char *name)
{
    static const etlheap_frame none = { .symbol = NULL };
    etlheap_text_clear(&stacks->name);
    etlheap_text_add_string(&stacks->name, name);
    return add_frame(stacks, add_mapping(stacks, no_code, NULL), 0, &none);
}

/* The number of the frame that `name` names. */
static u64 add_frame(perfetto_stacks *stacks, u64 mapping, u64 place, const etlheap_frame *frame)
{
    const u64 function =
        add_string(stacks, &stacks->functions, INTERNED_FUNCTION, etlheap_text_of(&stacks->name));
    const u64 parts[] = { mapping, place, function };
    const etl_bytes key = { (const u8 *)parts, sizeof parts };
    u32 number;
    if (!export_number_of(&stacks->frames, key, &number))
        return (u64)number + 1;
    const u64 source =
        frame->file ? add_string(stacks, &stacks->sources, INTERNED_SOURCE, frame->file) : 0;
    etlheap_protobuf_number(&stacks->message, FRAME_ID, (u64)number + 1);
    etlheap_protobuf_number(&stacks->message, FRAME_FUNCTION, function);
    etlheap_protobuf_number(&stacks->message, FRAME_MAPPING, mapping);
    etlheap_protobuf_present(&stacks->message, FRAME_PLACE, place);
    etlheap_protobuf_number(&stacks->message, FRAME_SOURCE, source);
    etlheap_protobuf_number(&stacks->message, FRAME_LINE, source != 0 ? frame->line : 0);
    put(stacks, INTERNED_FRAME);
    return (u64)number + 1;
}

/* The mapping of a frame that has a module. To search modules takes long, so it is done once for
 * each name and base. */
static u64 mapping_of(perfetto_stacks *stacks, const etlheap_frame *frame)
{
    const u64 base = frame_base(frame);
    u32 number;
    etlheap_text_clear(&stacks->key);
    etlheap_text_add(&stacks->key, (const char *)&base, sizeof base);
    etlheap_text_add_string(&stacks->key, frame->module);
    if (export_number_of(&stacks->places, etlheap_protobuf_of(&stacks->key), &number))
        return add_place(stacks, frame, number);
    return stacks->places.failed || stacks->failed ? 0 : stacks->mapping_of_place[number];
}

static u64 add_place(perfetto_stacks *stacks, const etlheap_frame *frame, u32 number)
{
    if (number >= stacks->place_capacity) {
        const u32 capacity = number * 2 + PLACES_FIRST;
        u32 *const more = realloc(stacks->mapping_of_place, (size_t)capacity * sizeof *more);
        if (!more) {
            stacks->failed = true;
            return 0;
        }
        stacks->mapping_of_place = more;
        stacks->place_capacity = capacity;
    }
    const u32 index = frame_module(stacks->result, frame);
    const etlheap_module_info *const module = etlheap_module_of(stacks->result, index);
    const u64 mapping = add_mapping(stacks, module ? module->path : frame->module, module);
    stacks->mapping_of_place[number] = (u32)mapping;
    return mapping;
}

/* The mapping of a module, or of a path alone if the module is NULL. */
static u64 add_mapping(perfetto_stacks *stacks, const char *path, const etlheap_module_info *module)
{
    char build[MODULE_BUILD_ID_SIZE] = "";
    if (module)
        module_build_id(module, build);
    const u64 path_id = add_string(stacks, &stacks->paths, INTERNED_PATH, path);
    const u64 build_id =
        build[0] != '\0' ? add_string(stacks, &stacks->builds, INTERNED_BUILD, build) : 0;
    const u64 start = module ? module->base : 0;
    const u64 end = module ? etl_sat_add_u64(start, module->size_bytes) : 0;
    const u64 parts[] = { path_id, build_id, start, end };
    const etl_bytes key = { (const u8 *)parts, sizeof parts };
    u32 number;
    if (!export_number_of(&stacks->mappings, key, &number))
        return (u64)number + 1;
    etlheap_protobuf_number(&stacks->message, MAPPING_ID, (u64)number + 1);
    etlheap_protobuf_number(&stacks->message, MAPPING_BUILD, build_id);
    etlheap_protobuf_number(&stacks->message, MAPPING_START, start);
    etlheap_protobuf_number(&stacks->message, MAPPING_END, end);
    etlheap_protobuf_number(&stacks->message, MAPPING_PATH, path_id);
    put(stacks, INTERNED_MAPPING);
    return (u64)number + 1;
}

/* The number of a string, after replacing what cannot be printed. Each field has its own. */
static u64 add_string(perfetto_stacks *stacks, export_numbers *strings, u32 field, const char *text)
{
    u32 number;
    etlheap_text_clear(&stacks->clean);
    etlheap_display_add(&stacks->clean, text);
    if (export_number_of(strings, etlheap_protobuf_of(&stacks->clean), &number)) {
        etlheap_protobuf_number(&stacks->message, STRING_ID, (u64)number + 1);
        etlheap_protobuf_bytes(&stacks->message, STRING_BYTES, etlheap_protobuf_of(&stacks->clean));
        put(stacks, field);
    }
    return (u64)number + 1;
}

/* Adds the message to the interned data and empties it. */
static void put(perfetto_stacks *stacks, u32 field)
{
    etlheap_protobuf_bytes(&stacks->interned, field, etlheap_protobuf_of(&stacks->message));
    etlheap_text_clear(&stacks->message);
}
