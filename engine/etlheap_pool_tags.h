/*
 * etlheap_pool_tags.h - what tags of the kernel's pools mean. Part of engine.h.
 *
 * No descriptions are built in. Fill a handle with etlheap_pool_tags_add, or from a file in the
 * form of pooltag.txt with etlheap_pool_tags_read (formats/formats.h), and set it as
 * etlheap_query.pool_tags: rows by POOL_TAG then have a description.
 *
 * A pattern is a tag of up to four characters, filled up with spaces; case matters. `?` stands for
 * any character, and `*` for all that follow. Of several patterns that fit a tag, the one with the
 * most characters before its first wildcard wins, then the one added first.
 *
 * Once filled, any number of threads may use a handle.
 */
#ifndef ETLHEAP_POOL_TAGS_H
#define ETLHEAP_POOL_TAGS_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct etlheap_pool_tags etlheap_pool_tags;

/* Makes an empty set, owned by the caller (etlheap_pool_tags_close). ETL_ERR_MEMORY. */
etl_status etlheap_pool_tags_open(etlheap_pool_tags **out, etl_error *err);

/* Call it after freeing the tables and gates that were made with it. NULL is allowed. */
void etlheap_pool_tags_close(etlheap_pool_tags *tags);

/* Adds a description, UTF-8; both texts are copied. ETL_ERR_ARGUMENT (not one to four characters,
 * or the first is a space), ETL_ERR_LIMIT (more than 2^20 tags, or 1024 patterns with wildcards),
 * ETL_ERR_MEMORY. */
etl_status etlheap_pool_tags_add(etlheap_pool_tags *tags, const char *pattern,
                                 const char *description, etl_error *err);

/* The description of a tag as rows have it, "Etwr", "Irp" or "0x00000001"; NULL: there is none.
 * Valid as long as the handle, to which nothing may be added meanwhile. */
const char *etlheap_pool_tags_describe(const etlheap_pool_tags *tags, const char *tag);

/* The number of descriptions. */
uint32_t etlheap_pool_tags_count(const etlheap_pool_tags *tags);

#ifdef __cplusplus
}
#endif

#endif
