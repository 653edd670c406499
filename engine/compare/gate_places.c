/*
 * gate_places.c - modules and functions as subjects of a budget, and the names that select
 * subjects.
 *
 * In: rows of a table with frames, and a budget. Out: numbers that are equal for frames of one
 * function or module, and whether a row or frame has the budget's name.
 *
 * Frames are of one function if module and symbol are the same, as with the key FUNCTION; frames
 * without a symbol are functions of their own. Invariant: each frame is looked at once, however
 * many stacks it is in.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/context/pool_heap.h"
#include "engine/query/process_words.h"
#include "parser/system/name_fold.h"
#include "gate.h"

#define OFFSET_SIZE 48

/* Reads "[module!]function", or the name of a module. "module!" is every function of it. */
static bool read_pattern(gate_places *places)
{
    const char *const bang = places->name == NULL ? NULL : strchr(places->name, '!');
    if (places->scope == ETLHEAP_SCOPE_MODULE)
        places->pattern.module = places->name;
    if (places->name == NULL || places->scope == ETLHEAP_SCOPE_MODULE)
        return true;
    const char *const symbol = bang == NULL ? places->name : bang + 1;
    places->pattern.symbol = bang != NULL && *symbol == '\0' ? NULL : symbol;
    if (bang == NULL || bang == places->name)
        return true;
    const size_t size = (size_t)(bang - places->name);
    places->pattern_module = calloc(size + 1, 1);
    if (places->pattern_module != NULL)
        memcpy(places->pattern_module, places->name, size);
    places->pattern.module = places->pattern_module;
    return places->pattern_module != NULL;
}

bool gate_places_open(gate_places *out, const etlheap_table *table, const etlheap_budget *budget)
{
    const size_t count = table == NULL ? 0 : table->frame_count;
    *out = (gate_places){ .table = table,
                          .name = budget->name,
                          .scope = budget->scope,
                          .functions = calloc(count + 1, sizeof(u32)),
                          .modules = calloc(count + 1, sizeof(u32)),
                          .matches = calloc(count + 1, sizeof(u8)) };
    return out->functions != NULL && out->modules != NULL && out->matches != NULL &&
           read_pattern(out);
}

void gate_places_close(gate_places *places)
{
    etlheap_strings_free(&places->names);
    free(places->functions);
    free(places->modules);
    free(places->matches);
    free(places->pattern_module);
}

const u32 *gate_places_frames(const gate_places *places, const gate_row *row, u32 *count)
{
    const etlheap_table *const table = places->table;
    *count = 0;
    if (table == NULL || row->stack == ETLHEAP_NO_INDEX)
        return NULL;
    *count = table->stack_starts[row->stack + 1] - table->stack_starts[row->stack];
    return table->frame_indices + table->stack_starts[row->stack];
}

/* Adds "app.exe!grow", "app.exe!+0x1a2b" or "!+0x7ff6..." to the names: a function, by what it is
 * grouped by. */
static bool add_function(gate_places *places, const etlheap_frame *frame, u32 *number)
{
    const char *const module = frame->module == NULL ? "" : frame->module;
    char offset[OFFSET_SIZE];
    snprintf(offset, sizeof offset, "+0x%" PRIx64,
             frame->module == NULL ? frame->address : frame->offset);
    const char *const symbol = frame->symbol == NULL ? offset : frame->symbol;
    const size_t size = ETL_NAME_FOLDED_SIZE(strlen(module)) + strlen(symbol) + 2;
    char *const name = malloc(size);
    if (name == NULL)
        return false;
    const size_t used = etl_name_fold(module, name);
    snprintf(name + used, size - used, "!%s", symbol);
    const bool ok = etlheap_strings_add(&places->names, name, strlen(name), number);
    free(name);
    return ok;
}

bool gate_places_function(gate_places *places, u32 frame, u32 *number)
{
    *number = 0;
    if (frame == ETLHEAP_NO_INDEX)
        return true;
    if (places->functions[frame] == 0) {
        u32 id;
        if (!add_function(places, &places->table->frames[frame], &id))
            return false;
        places->functions[frame] = id + 1;
    }
    *number = places->functions[frame];
    return true;
}

bool gate_places_module(gate_places *places, const char *module, u32 *number)
{
    *number = 0;
    if (module == NULL)
        return true;
    u32 id;
    const bool ok = etlheap_strings_add_name(&places->names, module, &id);
    *number = id + 1;
    return ok;
}

const char *gate_places_module_of(const gate_places *places, const gate_row *row)
{
    u32 count;
    const u32 *const frames = gate_places_frames(places, row, &count);
    return count == 0 ? row->module : places->table->frames[frames[0]].module;
}

bool gate_places_matches(gate_places *places, u32 frame)
{
    if (places->name == NULL)
        return true;
    if (frame == ETLHEAP_NO_INDEX)
        return false;
    u8 *const known = &places->matches[frame];
    const etlheap_frame *const own = &places->table->frames[frame];
    if (*known == 0)
        *known = etlheap_pattern_matches(&places->pattern, own->module, own->symbol) ? 1 : 2;
    return *known == 1;
}

static bool has_function(gate_places *places, const gate_row *row)
{
    u32 count;
    const u32 *const frames = gate_places_frames(places, row, &count);
    bool has = false;
    for (u32 i = 0; !has && i < count; i++)
        has = gate_places_matches(places, frames[i]);
    return has;
}

bool gate_names_mark(const char *name, const etlheap_mark *mark)
{
    const char *const hash = strrchr(name, '#');
    char *end;
    if (etl_name_glob(name, mark->name))
        return true;
    const unsigned long number = hash == NULL ? 0 : strtoul(hash + 1, &end, 10);
    if (hash == NULL || hash[1] == '\0' || *end != '\0' || number != mark->number)
        return false;
    return strlen(mark->name) == (size_t)(hash - name) &&
           memcmp(mark->name, name, (size_t)(hash - name)) == 0;
}

/* Tags of different case are different tags. */
static bool names_tag(const char *name, u64 tag)
{
    char text[ETLHEAP_POOL_TAG_SIZE];
    pool_heap_tag_text(tag, text);
    return strpbrk(name, "*?") != NULL ? etl_name_glob(name, text) : strcmp(name, text) == 0;
}

bool gate_places_has(const owned_gate *gate, gate_places *places, const gate_row *row)
{
    const etlheap_process_info process = { .name = row->name, .pid = row->pid };
    if (places->scope == ETLHEAP_SCOPE_POOL_TAG && row->tag == 0)
        return false;
    if (places->name == NULL)
        return true;
    switch (places->scope) {
    case ETLHEAP_SCOPE_PROCESS:
        return etlheap_word_names_process(places->name, &process);
    case ETLHEAP_SCOPE_HEAP:
        return row->has_heap && strtoull(places->name, NULL, 16) == row->heap;
    case ETLHEAP_SCOPE_MODULE: {
        const char *const module = gate_places_module_of(places, row);
        return module != NULL && etlheap_pattern_matches(&places->pattern, module, NULL);
    }
    case ETLHEAP_SCOPE_STACK:
        return has_function(places, row);
    case ETLHEAP_SCOPE_MARK:
        return row->generation > 0 &&
               gate_names_mark(places->name,
                               &etlheap_result_marks(gate->now->result)->at[row->generation - 1]);
    case ETLHEAP_SCOPE_POOL_TAG:
        return names_tag(places->name, row->tag);
    case ETLHEAP_SCOPE_FUNCTION: /* by frame */
    case ETLHEAP_SCOPE_TOTAL:
    case ETLHEAP_SCOPE_COUNT:
        break;
    }
    return true;
}
