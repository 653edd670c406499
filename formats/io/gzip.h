/*
 * gzip.h - bytes written through zlib into a sink, as one gzip member or bare, as zip
 * files have them.
 */
#ifndef ETLHEAP_GZIP_H
#define ETLHEAP_GZIP_H

#include "formats/formats.h"

typedef struct etlheap_gzip etlheap_gzip;

/* The member has no name and no time. The sink is borrowed until the close. NULL: no
 * memory. */
etlheap_gzip *etlheap_gzip_open(etlheap_sink *sink);
etlheap_gzip *etlheap_gzip_open_bare(etlheap_sink *sink); /* deflate without anything around it */

void etlheap_gzip_write(etlheap_gzip *gzip, const void *bytes, size_t size);

/* Ends the member and frees the writer; how many bytes it took. NULL is allowed. */
u64 etlheap_gzip_close(etlheap_gzip *gzip);

#endif
