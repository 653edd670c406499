/*
 * export_html_pack.h - text for an HTML page: deflated, then base64, which is safe in markup.
 */
#ifndef ETLHEAP_EXPORT_HTML_PACK_H
#define ETLHEAP_EXPORT_HTML_PACK_H

#include "formats/formats.h"
#include "formats/io/gzip.h"
#include "formats/io/text_buffer.h"

/* Packs what is written to its sink, piece by piece: a document may be a hundred times as large as
 * what is kept of it. */
typedef struct html_packer {
    etlheap_sink *sink; /* where to write */
    etlheap_sink *inner;
    etlheap_gzip *gzip;
    etlheap_text deflated;
    size_t most; /* bytes of `deflated`; behind them writing stops */
} html_packer;

/* Opens a packer for at most `most` bytes of packed text; UINT64_MAX: any. The packer stays where
 * it is until it is closed. ETL_ERR_MEMORY. */
etl_status html_packer_open(html_packer *packer, u64 most, etl_error *err);

/* True if there was more to write. */
bool html_packer_is_full(const html_packer *packer);

/* Closes the packer, and adds what it has packed to a text; if it is full, it adds nothing, and the
 * status is ETL_ERR_CANCELLED. ETL_ERR_MEMORY. */
etl_status html_packer_close(html_packer *packer, etlheap_text *out, etl_error *err);

/* Closes a packer without its text. */
void html_packer_discard(html_packer *packer);

#endif
