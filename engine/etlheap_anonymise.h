/*
 * etlheap_anonymise.h - makes a store that can be shared: names become keyed words. Part of
 * engine.h.
 *
 * Kept are sizes, times, counts, addresses, ids of processes and threads, and which calls which. So
 * questions have the same answers as those about the original, under other names. The words of two
 * stores made with one key can be compared.
 */
#ifndef ETLHEAP_ANONYMISE_H
#define ETLHEAP_ANONYMISE_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A key may have any bytes. Fewer could be guessed. */
#define ETLHEAP_KEY_BYTES_MIN 16u

/* Options of etlheap_anonymise. Start from {0} with `size` set. All borrowed for the call. */
typedef struct etlheap_anonymise_options {
    size_t size; /* sizeof(etlheap_anonymise_options) */
    const void *key;
    size_t key_bytes;         /* at least ETLHEAP_KEY_BYTES_MIN */
    etlheap_symbols *symbols; /* of the store; NULL: functions get no names */
    etlheap_write_fn *write;
    void *user;
    const uint32_t *cancel; /* as in etlheap_query */
} etlheap_anonymise_options;

/*
 * Writes an anonymised copy of an opened store, which must not be a summary or anonymised already.
 * Functions are resolved first, all of them. Errors: ETL_ERR_ARGUMENT (no such store, or the key is
 * too short), ETL_ERR_UNSUPPORTED (the store has a column that this version does not know, which
 * might name something), ETL_ERR_CORRUPT, ETL_ERR_IO, ETL_ERR_MEMORY, ETL_ERR_CANCELLED.
 */
etl_status etlheap_anonymise(const etlheap_result *store, const etlheap_anonymise_options *options,
                             etl_error *err);

/* True if a result was read from an anonymised store. *key_check then tells whether two of them
 * have the same key. */
bool etlheap_result_is_anonymised(const etlheap_result *result, uint64_t *key_check);

#ifdef __cplusplus
}
#endif

#endif
