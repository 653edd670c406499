/* options_read.c - see options_read.h. */
#include "options_read.h"

#include "engine/query/query.h"
#include "parser/sized.h"

etl_status options_read_all(const etlheap_options *given, options_read *out, etl_error *err)
{
    etlheap_options *const own = &out->own;
    *out = (options_read){ .own = { .size = sizeof *own } };
    etl_status status = etl_read_sized(given, "etlheap_options", own, sizeof *own, err);
    if (status == ETL_OK)
        status = query_read(own->report, &out->report, err);
    if (status == ETL_OK)
        status = etl_read_sized(own->windows, "etlheap_windows_options", &out->windows,
                                sizeof out->windows, err);
    if (status == ETL_OK)
        status = etl_read_sized(own->store, "etlheap_store_options", &out->store, sizeof out->store,
                                err);
    if (status != ETL_OK)
        return status;
    own->report = own->report == NULL ? NULL : &out->report;
    own->windows = own->windows == NULL ? NULL : &out->windows;
    own->store = own->store == NULL ? NULL : &out->store;
    if (own->store != NULL && own->store->write == NULL)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "a store takes a function to write it");
    if (own->store != NULL && (own->census_only || own->report != NULL))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "a store is written in place of a census or a report");
    return ETL_OK;
}
