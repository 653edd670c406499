/*
 * json_map.c - writes a map of address space as the `etlheap-map-1` document.
 *
 * In: an etlheap_map. Out: JSON: processes with their regions, runs, heaps and pins. Invariant:
 * addresses are hexadecimal strings, because JSON numbers of many readers hold only 53 bits.
 */
#include <stdlib.h>

#include "formats/parts/layout_read.h"
#include "formats/parts/map_parts.h"
#include "formats/writers.h"
#include "json_rows.h"

static void add(etlheap_json *json, etlheap_field field, u64 value)
{
    etlheap_json_u64(json, etlheap_field_key(field), value);
}

/* What no event says is null, not 0. */
static void add_known(etlheap_json *json, etlheap_field field, bool is_known, u64 value)
{
    if (is_known)
        add(json, field, value);
    else
        etlheap_json_null(json, etlheap_field_key(field));
}

static void write_amounts(etlheap_json *json, const etlheap_map_amounts *amounts)
{
    static const etlheap_field_list columns = { map_fields, NULL, MAP_AMOUNT_COUNT };
    etlheap_value values[MAP_AMOUNT_COUNT];
    map_amount_values(amounts, values);
    etlheap_json_values(json, &columns, values);
}

static void write_address(etlheap_json *json, const char *key, u64 address)
{
    etlheap_json_hex(json, key, address, 1);
}

static void write_run(etlheap_json *json, const etlheap_map_run *run, bool is_known)
{
    etlheap_json_object(json, NULL);
    write_address(json, etlheap_field_key(ETLHEAP_FIELD_ADDRESS), run->address);
    add(json, ETLHEAP_FIELD_SIZE, run->size);
    add_known(json, ETLHEAP_FIELD_COMMITTED_SIZE, is_known, run->committed);
    add(json, ETLHEAP_FIELD_OUTSTANDING_SIZE, run->live);
    add(json, ETLHEAP_FIELD_OUTSTANDING_COUNT, run->blocks);
    etlheap_json_object_close(json);
}

/* The module is null unless the region is an image, or a view whose file is known. */
static void write_region(etlheap_json *json, const etlheap_map *map,
                         const etlheap_map_process *process, const etlheap_map_region *region)
{
    etlheap_value values[MAP_COLUMN_COUNT];
    map_region_values(process, region, values);
    etlheap_json_object(json, NULL);
    etlheap_json_value(json, ETLHEAP_FIELD_ADDRESS, &values[MAP_ADDRESS]);
    etlheap_json_value(json, ETLHEAP_FIELD_CATEGORY, &values[MAP_CATEGORY]);
    etlheap_json_bool(json, "is_known", region->is_known);
    etlheap_json_value(json, ETLHEAP_FIELD_HEAP, &values[MAP_HEAP]);
    etlheap_json_value(json, ETLHEAP_FIELD_MODULE, &values[MAP_MODULE]);
    write_amounts(json, &region->amounts);
    etlheap_json_array(json, "runs");
    for (u32 i = 0; i < region->run_count; i++)
        write_run(json, &map->runs[region->first_run + i], region->amounts.is_committed_known);
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
}

static void write_categories(etlheap_json *json, const etlheap_map_process *process)
{
    etlheap_json_array(json, "categories");
    for (u32 c = 0; c < ETLHEAP_MAP_CATEGORY_COUNT; c++) {
        if (process->category_regions[c] == 0)
            continue;
        etlheap_json_object(json, NULL);
        etlheap_json_string(json, etlheap_field_key(ETLHEAP_FIELD_CATEGORY),
                            etlheap_map_category_word((etlheap_map_category)c));
        add(json, ETLHEAP_FIELD_REGIONS, process->category_regions[c]);
        write_amounts(json, &process->categories[c]);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

static void write_heaps(etlheap_json *json, const etlheap_map *map,
                        const etlheap_map_process *process)
{
    etlheap_json_array(json, "heaps");
    for (u32 i = 0; i < process->heap_count; i++) {
        const etlheap_map_heap *const heap = &map->heaps[process->first_heap + i];
        etlheap_json_object(json, NULL);
        etlheap_json_heap(json, etlheap_field_key(ETLHEAP_FIELD_HEAP), heap->heap);
        add_known(json, ETLHEAP_FIELD_COMMITTED_SIZE, heap->committed > 0, heap->committed);
        add(json, ETLHEAP_FIELD_OUTSTANDING_SIZE, heap->live);
        add(json, ETLHEAP_FIELD_OUTSTANDING_COUNT, heap->blocks);
        add(json, ETLHEAP_FIELD_TOUCHED, heap->touched);
        add_known(json, ETLHEAP_FIELD_UNCOMMITTED_SIZE, heap->is_uncommitted_known,
                  heap->uncommitted);
        etlheap_json_object_close(json);
    }
    etlheap_json_array_close(json);
}

static etl_status write_process(etlheap_json *json, const etlheap_map *map,
                                const etlheap_map_process *process, u32 most)
{
    bool *const listed = map_choose(map, process, most);
    if (listed == NULL)
        return ETL_ERR_MEMORY;
    etlheap_json_object(json, NULL);
    etlheap_json_process(json, etlheap_field_key(ETLHEAP_FIELD_PROCESS), process->name);
    add(json, ETLHEAP_FIELD_PID, process->pid);
    add(json, ETLHEAP_FIELD_REGIONS, process->region_count);
    add(json, ETLHEAP_FIELD_RESERVED_SIZE, process->reserved);
    write_amounts(json, &process->amounts);
    write_categories(json, process);
    write_heaps(json, map, process);
    etlheap_json_array(json, "map");
    for (u32 i = 0; i < process->region_count && etlheap_sink_ok(json->sink); i++) {
        if (listed[i])
            write_region(json, map, process, &map->regions[process->first_region + i]);
    }
    etlheap_json_array_close(json);
    etlheap_json_object_close(json);
    free(listed);
    return ETL_OK;
}

static void write_pin(etlheap_json *json, const etlheap_map *map, u32 index)
{
    const etlheap_map_pin *const pin = &map->pins[index];
    const etlheap_row *const row = &map->table->rows[index];
    etlheap_json_object(json, NULL);
    etlheap_json_key(json, row, ETLHEAP_KEY_PROCESS);
    etlheap_json_key(json, row, ETLHEAP_KEY_HEAP);
    write_address(json, etlheap_field_key(ETLHEAP_FIELD_ADDRESS), pin->address);
    add(json, ETLHEAP_FIELD_SIZE, pin->size);
    add(json, ETLHEAP_FIELD_COMMITTED_SIZE, pin->committed);
    add(json, ETLHEAP_FIELD_OUTSTANDING_SIZE, pin->live);
    add(json, ETLHEAP_FIELD_OUTSTANDING_COUNT, pin->blocks);
    write_address(json, "largest_address", pin->largest_address);
    etlheap_json_u64(json, "largest_size", pin->largest_size);
    if (pin->largest_ns == INT64_MIN)
        etlheap_json_null(json, etlheap_field_key(ETLHEAP_FIELD_ALLOC_TIME));
    else
        etlheap_json_i64(json, etlheap_field_key(ETLHEAP_FIELD_ALLOC_TIME), pin->largest_ns);
    etlheap_json_key(json, row, ETLHEAP_KEY_STACK);
    etlheap_json_object_close(json);
}

etl_status etlheap_write_map_json(const etlheap_result *result, const etlheap_map *map,
                                  const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout layout;
    etl_status status = etlheap_layout_read(given, &layout);
    if (status != ETL_OK)
        return status;
    etlheap_json json = etlheap_json_begin(sink, 4);
    json.hint = layout.hint;
    etlheap_json_object(&json, NULL);
    etlheap_json_string(&json, "schema", "etlheap-map-1");
    etlheap_json_recording(&json, result);
    etlheap_json_i64(&json, "at_ns", map->at_ns);
    etlheap_json_u64(&json, "unit", map->unit);
    etlheap_json_frames(&json, map->table);
    etlheap_json_stacks(&json, map->table);
    etlheap_json_array(&json, "processes");
    for (u32 i = 0; i < map->process_count && status == ETL_OK; i++)
        status = write_process(&json, map, &map->processes[i], etlheap_layout_most(&layout));
    etlheap_json_array_close(&json);
    etlheap_json_array(&json, "pins");
    for (u32 i = 0; i < map->pin_count; i++)
        write_pin(&json, map, i);
    etlheap_json_array_close(&json);
    etlheap_json_diagnostics(&json, &map->table->diagnostics);
    etlheap_json_document_end(&json);
    return status;
}
