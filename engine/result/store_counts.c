/* store_counts.c - reads how much a store has from its directory. */
#include "engine/etlheap_counts.h"
#include "engine/log/ehs_file.h"
#include "parser/system/map.h"

etl_status etlheap_store_counts_read(const char *path, etlheap_store_counts *out, etl_error *err)
{
    static const struct {
        ehs_column column;
        size_t count; /* offset in etlheap_store_counts */
    } columns[] = {
        { EHS_HEAP_ORIGIN, offsetof(etlheap_store_counts, allocs) },
        { EHS_HEAP_BACK, offsetof(etlheap_store_counts, frees) },
        { EHS_LIFE_ALLOC_TICKS, offsetof(etlheap_store_counts, lives) },
        { EHS_OPEN_ORDINAL, offsetof(etlheap_store_counts, open_rows) },
        { EHS_ORIGIN_STACK, offsetof(etlheap_store_counts, origins) },
        { EHS_STACK_ID, offsetof(etlheap_store_counts, stacks) },
        { EHS_STACK_FRAME, offsetof(etlheap_store_counts, own_frames) },
        { EHS_FRAME_ADDRESS, offsetof(etlheap_store_counts, addresses) },
        { EHS_SUM_COUNT, offsetof(etlheap_store_counts, sums) },
        { EHS_STRING_TEXT, offsetof(etlheap_store_counts, text_bytes) },
    };
    etl_map map;
    ehs_reader reader;
    *out = (etlheap_store_counts){ .allocs = 0 };
    etl_status status = etl_map_open(path, false, &map, err);
    if (status != ETL_OK)
        return status;
    status = ehs_reader_open(&reader, map.bytes, err);
    for (size_t i = 0; status == ETL_OK && i < ETL_COUNT_OF(columns); i++) {
        u64 values;
        (void)ehs_reader_parts(&reader, columns[i].column, &values);
        memcpy((u8 *)out + columns[i].count, &values, sizeof values);
    }
    if (status == ETL_OK)
        ehs_reader_close(&reader);
    etl_map_close(&map);
    return status;
}
