/* export_parquet.c - the rows of a report, or lifetimes, as Apache Parquet files. */
#include "export_parquet.h"

#include "export_writers.h"

etl_status etlheap_export_parquet(const etlheap_export_request *request, etlheap_sink *sink,
                                  etl_error *err)
{
    return request->rows ? export_parquet_lifetimes(request, sink, err)
                         : export_parquet_report(request, sink, err);
}
