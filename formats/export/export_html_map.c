/*
 * export_html_map.c - writes the map of address space in an HTML report.
 *
 * In: an etlheap_map at the end of the report's window. Out: a JSON object for the page.
 *
 * The page gets at most HTML_MAP_PROCESSES processes with HTML_MAP_REGIONS regions each. Each
 * region is a strip of columns, one digit for the level of each: 160 KB at most. Invariant: the
 * number of columns does not depend on the size of a region, or a reservation of terabytes would
 * fill the page.
 */
#include "export_html_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "export_html_choice.h"
#include "formats/parts/map_parts.h"

#define HTML_MAP_PROCESSES 12u
#define HTML_MAP_REGIONS   60u
#define HTML_MAP_COLUMNS   96u

static void add(etlheap_json *json, etlheap_field field, u64 value)
{
    etlheap_json_u64(json, etlheap_field_key(field), value);
}

static void write_text(etlheap_json *json, const char *key, const char *text, etlheap_text *scratch)
{
    etlheap_text_clear(scratch);
    html_name_add(scratch, text);
    etlheap_json_string(json, key, etlheap_text_of(scratch));
}

static void write_amounts(etlheap_json *json, const etlheap_map_amounts *amounts)
{
    add(json, ETLHEAP_FIELD_SIZE, amounts->size);
    if (amounts->is_committed_known)
        add(json, ETLHEAP_FIELD_COMMITTED_SIZE, amounts->committed);
    else
        etlheap_json_null(json, etlheap_field_key(ETLHEAP_FIELD_COMMITTED_SIZE));
    add(json, ETLHEAP_FIELD_USED_SIZE, amounts->used);
    add(json, ETLHEAP_FIELD_OUTSTANDING_SIZE, amounts->live);
    add(json, ETLHEAP_FIELD_OUTSTANDING_COUNT, amounts->blocks);
}

/* Writes the levels of a region's strip. No event says what is inside an image or a view. */
static void write_levels(const etlheap_map *map, const etlheap_map_region *region,
                         etlheap_json *json)
{
    const u64 size = region->amounts.size, units = (size + map->unit - 1) / map->unit;
    const bool is_shown = map_region_has_levels(region);
    const u32 count = is_shown ? (u32)etl_min_u64(units, HTML_MAP_COLUMNS) : 0;
    char levels[HTML_MAP_COLUMNS + 1];
    for (u32 i = 0; i < count; i++) {
        const u64 start = region->address + size / count * i;
        const u64 end = i + 1 == count ? region->address + size : start + size / count;
        levels[i] = (char)('0' + map_level_of(map, region, start, end));
    }
    levels[count] = '\0';
    etlheap_json_string(json, "levels", levels);
}

static void write_region(const etlheap_map *map, const etlheap_map_region *region,
                         etlheap_json *json, etlheap_text *scratch)
{
    char heap[ETLHEAP_HEAP_NAME_SIZE] = "";
    if (region->has_heap)
        etlheap_heap_name(region->heap, heap);
    etlheap_json_object(json, NULL);
    etlheap_json_hex(json, etlheap_field_key(ETLHEAP_FIELD_ADDRESS), region->address, 1);
    etlheap_json_string(json, etlheap_field_key(ETLHEAP_FIELD_CATEGORY),
                        etlheap_map_category_word((etlheap_map_category)region->category));
    write_text(json, "name", region->module != NULL ? region->module : heap, scratch);
    write_amounts(json, &region->amounts);
    write_levels(map, region, json);
    etlheap_json_object_close(json);
}

static void write_process(const etlheap_map *map, const etlheap_map_process *process,
                          etlheap_json *json, etlheap_text *scratch)
{
    bool *const listed = map_choose(map, process, HTML_MAP_REGIONS);
    const u32 shown = (u32)etl_min_u64(process->region_count, HTML_MAP_REGIONS);
    scratch->failed |= listed == NULL;
    etlheap_json_object(json, NULL);
    write_text(json, etlheap_field_key(ETLHEAP_FIELD_PROCESS), process->name, scratch);
    add(json, ETLHEAP_FIELD_PID, process->pid);
    add(json, ETLHEAP_FIELD_RESERVED_SIZE, process->reserved);
    write_amounts(json, &process->amounts);
    etlheap_json_u64(json, "hidden", process->region_count - shown);
    etlheap_json_array(json, "regions");
    for (u32 i = 0; listed != NULL && i < process->region_count; i++) {
        if (listed[i])
            write_region(map, &map->regions[process->first_region + i], json, scratch);
    }
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
    free(listed);
}

static void write_pin(const etlheap_map *map, u32 index, etlheap_json *json, etlheap_text *scratch)
{
    const etlheap_map_pin *const pin = &map->pins[index];
    const etlheap_row *const row = &map->table->rows[index];
    etlheap_text stack = { 0 };
    etlheap_json_object(json, NULL);
    write_text(json, etlheap_field_key(ETLHEAP_FIELD_PROCESS), row->process, scratch);
    add(json, ETLHEAP_FIELD_PID, row->pid);
    etlheap_json_hex(json, etlheap_field_key(ETLHEAP_FIELD_ADDRESS), pin->address, 1);
    add(json, ETLHEAP_FIELD_COMMITTED_SIZE, pin->committed);
    add(json, ETLHEAP_FIELD_OUTSTANDING_SIZE, pin->live);
    add(json, ETLHEAP_FIELD_OUTSTANDING_COUNT, pin->blocks);
    etlheap_json_u64(json, "largest_size", pin->largest_size);
    etlheap_text_add_key(&stack, map->table, row, ETLHEAP_KEY_STACK);
    write_text(json, etlheap_field_key(ETLHEAP_FIELD_STACK), etlheap_text_of(&stack), scratch);
    scratch->failed |= stack.failed;
    etlheap_text_free(&stack);
    etlheap_json_object_close(json);
}

void html_map_write(const etlheap_map *map, etlheap_json *json, etlheap_text *scratch)
{
    if (map == NULL) {
        etlheap_json_null(json, "map");
        return;
    }
    etlheap_json_object(json, "map");
    etlheap_json_i64(json, "at_ns", map->at_ns);
    etlheap_json_u64(json, "unit", map->unit);
    etlheap_json_u64(json, "columns", HTML_MAP_COLUMNS);
    etlheap_json_string(json, "hint", map_hint(map));
    etlheap_json_array(json, "processes");
    for (u32 i = 0; i < map->process_count && i < HTML_MAP_PROCESSES; i++)
        write_process(map, &map->processes[i], json, scratch);
    etlheap_json_array_close(json);
    etlheap_json_array(json, "pins");
    for (u32 i = 0; i < map->pin_count; i++)
        write_pin(map, i, json, scratch);
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
}
