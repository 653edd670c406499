/*
 * csv_map.c - the regions of a map of address space as comma-separated values.
 */
#include <stdlib.h>

#include "csv_rows.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/map_parts.h"
#include "formats/writers.h"

#include <inttypes.h>

static const etlheap_field fields[] = {
    ETLHEAP_FIELD_PROCESS,
    ETLHEAP_FIELD_PID,
    ETLHEAP_FIELD_ADDRESS,
    ETLHEAP_FIELD_SIZE,
    ETLHEAP_FIELD_CATEGORY,
    ETLHEAP_FIELD_HEAP,
    ETLHEAP_FIELD_MODULE,
    ETLHEAP_FIELD_COMMITTED_SIZE,
    ETLHEAP_FIELD_OUTSTANDING_SIZE,
    ETLHEAP_FIELD_OUTSTANDING_COUNT,
    ETLHEAP_FIELD_LARGEST_UNCOMMITTED,
    ETLHEAP_FIELD_LARGEST_EMPTY,
    ETLHEAP_FIELD_USED_SIZE,
};

static void write_region(const etlheap_map_process *process, const etlheap_map_region *region,
                         etlheap_sink *sink)
{
    const etlheap_map_amounts *const amounts = &region->amounts;
    const bool is_known = amounts->is_committed_known;
    const struct {
        bool is_known;
        u64 number;
    } cells[] = {
        { is_known, amounts->committed }, { true, amounts->live },
        { true, amounts->blocks },        { is_known, amounts->largest_uncommitted },
        { true, amounts->largest_empty }, { is_known, amounts->used },
    };
    char heap[ETLHEAP_HEAP_NAME_SIZE] = "";
    if (region->has_heap)
        etlheap_heap_name(region->heap, heap);
    etlheap_csv_cell(sink, process->name);
    etlheap_sink_format(sink, ",%" PRIu32 ",0x%" PRIx64 ",%" PRIu64 ",%s,", process->pid,
                        region->address, amounts->size,
                        etlheap_map_category_word((etlheap_map_category)region->category));
    etlheap_csv_cell(sink, heap);
    etlheap_sink_text(sink, ",");
    etlheap_csv_cell(sink, region->module == NULL ? "" : region->module);
    for (size_t i = 0; i < ETL_COUNT_OF(cells); i++) {
        etlheap_sink_text(sink, ",");
        if (cells[i].is_known)
            etlheap_sink_format(sink, "%" PRIu64, cells[i].number);
    }
    etlheap_sink_text(sink, "\n");
}

static etl_status write_process(const etlheap_map *map, const etlheap_map_process *process,
                                u32 most, etlheap_sink *sink)
{
    bool *const listed = map_choose(map, process, most);
    if (listed == NULL)
        return ETL_ERR_MEMORY;
    for (u32 i = 0; i < process->region_count; i++) {
        if (listed[i])
            write_region(process, &map->regions[process->first_region + i], sink);
    }
    free(listed);
    return ETL_OK;
}

etl_status etlheap_write_map_csv(const etlheap_result *result, const etlheap_map *map,
                                 const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_layout layout;
    etl_status status = etlheap_layout_read(given, &layout);
    if (status != ETL_OK)
        return status;
    (void)result;
    etlheap_csv_head head = etlheap_csv_head_begin(&layout, sink);
    for (size_t i = 0; i < ETL_COUNT_OF(fields); i++)
        etlheap_csv_head_field(&head, fields[i]);
    etlheap_csv_head_end(&head);
    for (u32 i = 0; i < map->process_count && status == ETL_OK; i++)
        status = write_process(map, &map->processes[i], map_limit(&layout), sink);
    return status;
}
