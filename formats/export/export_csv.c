/*
 * export_csv.c - the rows of a report, or lifetimes, as comma-separated values.
 */
#include "formats/writers.h"
#include "export_rows.h"
#include "export_writers.h"

etl_status etlheap_export_csv(const etlheap_export_request *request, etlheap_sink *sink,
                              etl_error *err)
{
    etlheap_table *table;
    etlheap_lifetimes *walk;
    etlheap_layout layout = etlheap_layout_default();
    layout.titles = request->titles;
    if (request->rows) {
        const etl_status status = export_walk_open(request, &walk, err);
        if (status != ETL_OK)
            return status;
        return export_walk_close(walk, etlheap_write_allocations_csv(walk, &layout, sink), err);
    }
    const etl_status status = export_report_open(request, &table, err);
    if (status != ETL_OK)
        return status;
    return export_report_close(
        table, etlheap_write_report_csv(request->result, table, &layout, sink), err);
}
