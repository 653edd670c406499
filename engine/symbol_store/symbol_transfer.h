/*
 * symbol_transfer.h - one HTTP request and what becomes of its answer.
 *
 * The first bytes of an answer decide whether it is a symbol file at all; only
 * then does it reach the disk. A part left by an earlier attempt is asked for
 * from its end on; a server that sends all again is taken at its word.
 */
#ifndef ETLHEAP_SYMBOL_TRANSFER_H
#define ETLHEAP_SYMBOL_TRANSFER_H

#include "symbol_content.h"
#include "symbol_curl.h"
#include "symbol_fetch.h"
#include "symbol_partial.h"
#include "symbol_url.h"

typedef enum symbol_transfer_end {
    SYMBOL_TRANSFER_OK,
    SYMBOL_TRANSFER_MISSING,   /* 404 or 410 */
    SYMBOL_TRANSFER_DENIED,    /* 401 or 407 */
    SYMBOL_TRANSFER_FORBIDDEN, /* 403: a refusal, or how cloud stores say missing */
    SYMBOL_TRANSFER_REJECTED,  /* not what was asked for */
    SYMBOL_TRANSFER_TOO_LARGE,
    SYMBOL_TRANSFER_UNWRITABLE,
    SYMBOL_TRANSFER_AGAIN,    /* cut off, too slow, too busy: worth another attempt */
    SYMBOL_TRANSFER_RESTART,  /* the part we have is of no use: at once, without it */
    SYMBOL_TRANSFER_HOPELESS, /* no connection that could be trusted, bad URL */
    SYMBOL_TRANSFER_NO_MEMORY
} symbol_transfer_end;

/* What is asked for. */
typedef enum symbol_transfer_kind {
    SYMBOL_TRANSFER_FILE,    /* a PDB or an image, to `target` */
    SYMBOL_TRANSFER_CABINET, /* to `target` */
    SYMBOL_TRANSFER_TEXT     /* a short text, into `text` */
} symbol_transfer_kind;

typedef struct symbol_transfer {
    const symbol_curl *curl;
    symbol_transfer_kind kind;
    char url[SYMBOL_URL_SIZE];
    char target[SYMBOL_FILE_SIZE];
    char text[SYMBOL_POINTER_SIZE];
    size_t text_size;
    u64 bytes_max;
    u64 bytes_received; /* in this attempt, of the file */
    u64 bytes_expected; /* to come in this attempt; 0 unknown */
    u32 retry_after_s;  /* the server's wish; 0 none */
    bool has_progress;  /* the part that is kept has grown */
    char message[160];  /* why it did not end well */

    /* Private. */
    CURL *easy;
    symbol_partial partial;
    bool is_open; /* partial */
    u64 bytes_ignored;
    u64 resumed_from;
    u64 range_start; /* of the answer's Content-Range */
    u64 range_total;
    bool has_range;
    u8 head[SYMBOL_CONTENT_BYTES];
    size_t head_size;
    bool is_judged;
    symbol_transfer_end refusal; /* of the callbacks; OK while there is none */
} symbol_transfer;

/* Makes transfer->easy, ready to be run, from curl, kind, url, target and
 * bytes_max;
 * the rest is {0}. SYMBOL_TRANSFER_OK, UNWRITABLE or NO_MEMORY; the caller ends it with
 * symbol_transfer_finish or symbol_transfer_cancel in any case. */
symbol_transfer_end symbol_transfer_begin(symbol_transfer *transfer,
                                          const symbol_fetch_options *options);

/* Says how it ended, closes or commits the file, and frees the handle. */
symbol_transfer_end symbol_transfer_finish(symbol_transfer *transfer, CURLcode result);

/* Breaks off; the part received is kept for another attempt. */
void symbol_transfer_cancel(symbol_transfer *transfer);

#endif
