/* gzip.h - writes bytes through zlib into a sink, as a gzip member or as bare deflate data for zip
 * files. */
#ifndef ETLHEAP_GZIP_H
#define ETLHEAP_GZIP_H

#include "formats/formats.h"

#include "parser/base.h"

typedef struct etlheap_gzip etlheap_gzip;

/* Opens a gzip member, without name and time. The sink is borrowed until etlheap_gzip_close. NULL
 * if memory runs out. */
etlheap_gzip *etlheap_gzip_open(etlheap_sink *sink);
etlheap_gzip *etlheap_gzip_open_bare(etlheap_sink *sink); /* bare deflate data */

void etlheap_gzip_write(etlheap_gzip *gzip, const void *bytes, size_t size);

/* Ends the member and frees the writer. Returns the number of bytes written. NULL is allowed. */
u64 etlheap_gzip_close(etlheap_gzip *gzip);

#endif
