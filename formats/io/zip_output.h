/*
 * zip_output.h - a zip file with one member, written as a stream.
 */
#ifndef ETLHEAP_ZIP_OUTPUT_H
#define ETLHEAP_ZIP_OUTPUT_H

#include "gzip.h"

/* Its members are private. */
typedef struct etlheap_zip_output {
    etlheap_sink *sink;
    etlheap_gzip *gzip;
    const char *name;
    u32 checksum;
    u64 size_bytes;
} etlheap_zip_output;

/* Begins a zip file with one member. `name` is ASCII; it and the sink are borrowed until
 * etlheap_zip_end. The member's time is the earliest that zip files can have. ETL_ERR_MEMORY: then
 * there is nothing to end. */
etl_status etlheap_zip_begin(etlheap_sink *sink, const char *name, etlheap_zip_output *out);

/* An etlheap_write_fn: `user` is the etlheap_zip_output. */
bool etlheap_zip_put(void *user, const void *bytes, size_t size);

/* Ends the file. ETL_ERR_LIMIT: the member is too large for a plain zip file (4 GiB). */
etl_status etlheap_zip_end(etlheap_zip_output *zip);

#endif
