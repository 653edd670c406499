/*
 * csv_map.c - the regions of a map of address space as comma-separated values.
 */
#include "csv_rows.h"
#include "formats/parts/layout_read.h"
#include "formats/parts/map_parts.h"
#include "formats/writers.h"

#include <stdlib.h>

static const u8 shown[] = {
    MAP_PROCESS,
    MAP_PID,
    MAP_ADDRESS,
    MAP_SIZE,
    MAP_CATEGORY,
    MAP_HEAP,
    MAP_MODULE,
    MAP_COMMITTED_SIZE,
    MAP_OUTSTANDING_SIZE,
    MAP_OUTSTANDING_COUNT,
    MAP_LARGEST_UNCOMMITTED,
    MAP_LARGEST_EMPTY,
    MAP_USED_SIZE,
};
static const etlheap_field_list columns = { map_fields, shown, ETL_COUNT_OF(shown) };

static etl_status write_process(etlheap_csv *csv, const etlheap_map *map,
                                const etlheap_map_process *process)
{
    etlheap_value values[MAP_COLUMN_COUNT];
    bool *const listed = map_choose(map, process, etlheap_layout_most(&csv->layout));
    if (listed == NULL)
        return ETL_ERR_MEMORY;
    for (u32 i = 0; i < process->region_count; i++) {
        if (!listed[i])
            continue;
        map_region_values(process, &map->regions[process->first_region + i], values);
        etlheap_csv_values(csv, &columns, values);
        etlheap_csv_line(csv);
    }
    free(listed);
    return ETL_OK;
}

etl_status etlheap_write_map_csv(const etlheap_result *result, const etlheap_map *map,
                                 const etlheap_layout *given, etlheap_sink *sink)
{
    etlheap_csv csv;
    etl_status status = etlheap_csv_begin(given, sink, &csv);
    if (status != ETL_OK)
        return status;
    (void)result;
    etlheap_csv_fields(&csv, &columns);
    etlheap_csv_line(&csv);
    for (u32 i = 0; i < map->process_count && status == ETL_OK; i++)
        status = write_process(&csv, map, &map->processes[i]);
    const etl_status ended = etlheap_csv_end(&csv);
    return status == ETL_OK ? ended : status;
}
