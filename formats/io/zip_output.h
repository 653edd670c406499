/*
 * zip_output.h - a zip file with one member, written as a stream.
 */
#ifndef ETLHEAP_ZIP_OUTPUT_H
#define ETLHEAP_ZIP_OUTPUT_H

#include "gzip.h"

/* Members are for its functions alone. */
typedef struct etlheap_zip_output {
    etlheap_sink *sink;
    etlheap_gzip *gzip;
    const char *name;
    u32 checksum;
    u64 size_bytes;
} etlheap_zip_output;

/* The member's name is ASCII and borrowed, as is the sink, until the close; its time
 * is the earliest that zip files know. ETL_ERR_MEMORY; then there is nothing to close. */
etl_status etlheap_zip_begin(etlheap_sink *sink, const char *name, etlheap_zip_output *out);

/* An etlheap_write_fn: `user` is the etlheap_zip_output. */
bool etlheap_zip_put(void *user, const void *bytes, size_t size);

/* ETL_ERR_LIMIT: the member has more bytes than a plain zip file can say (4 GiB). */
etl_status etlheap_zip_end(etlheap_zip_output *zip);

#endif
