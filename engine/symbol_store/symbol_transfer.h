/*
 * symbol_transfer.h - one HTTP request and its answer.
 *
 * The first bytes of an answer decide whether it is a symbol file; only then is it written to disk.
 * If an earlier attempt left a part of the same answer (symbol_origin.h), only the rest is
 * requested; if the server sends everything again, that is used.
 */
#ifndef ETLHEAP_SYMBOL_TRANSFER_H
#define ETLHEAP_SYMBOL_TRANSFER_H

#include "symbol_answer.h"
#include "symbol_content.h"
#include "symbol_curl.h"
#include "symbol_fetch.h"
#include "symbol_partial.h"
#include "symbol_url.h"

typedef enum symbol_transfer_end {
    SYMBOL_TRANSFER_OK,
    SYMBOL_TRANSFER_MISSING,    /* 404 or 410 */
    SYMBOL_TRANSFER_DENIED,     /* 401 */
    SYMBOL_TRANSFER_UNSENT,     /* 401, because the login must not be sent to this address */
    SYMBOL_TRANSFER_FORBIDDEN,  /* 403: refused, or missing in a cloud store */
    SYMBOL_TRANSFER_REJECTED,   /* not the requested kind of file, or not all of it */
    SYMBOL_TRANSFER_REDIRECTED, /* to where it is not followed */
    SYMBOL_TRANSFER_REFUSED,    /* complete, but the caller does not accept it */
    SYMBOL_TRANSFER_TOO_LARGE,
    SYMBOL_TRANSFER_UNWRITABLE,
    SYMBOL_TRANSFER_AGAIN,        /* interrupted, too slow or too busy: try again */
    SYMBOL_TRANSFER_RESTART,      /* the part we have is useless: restart at once without it */
    SYMBOL_TRANSFER_HOPELESS,     /* no connection, or an invalid URL */
    SYMBOL_TRANSFER_UNTRUSTED,    /* the certificate is not trusted */
    SYMBOL_TRANSFER_PROXY_DENIED, /* 407 */
    SYMBOL_TRANSFER_NO_MEMORY
} symbol_transfer_end;

/* What is requested. */
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
    u64 ms_max;                      /* 0: no limit */
    const symbol_download *download; /* NULL: the file of no download */
    symbol_accept_fn *accept;        /* of the options; NULL: none */
    void *accept_user;
    u64 bytes_received; /* in this attempt, of the file */
    u64 bytes_expected; /* expected in this attempt; 0 unknown */
    u32 retry_after_s;  /* requested by the server; 0: none */
    bool has_progress;  /* the stored part has grown */
    char message[160];  /* why it failed */

    /* Private. */
    CURL *easy;
    struct curl_slist *headers;
    symbol_partial partial;
    bool is_open;         /* partial */
    bool is_marked;       /* the partial file has an origin, of whatever address */
    symbol_origin origin; /* of the part that is resumed or received */
    symbol_answer answer; /* the one being received */
    bool is_private;      /* the first address that was asked, the server's or a proxy's */
    bool is_withheld;     /* a login that must not be sent to this address */
    u32 requests;         /* sent, those after redirects included */
    u64 bytes_ignored;
    u64 resumed_from; /* 0: everything was requested */
    u8 head[SYMBOL_CONTENT_BYTES];
    size_t head_size;
    bool is_judged;
    symbol_transfer_end refusal; /* set by the callbacks; OK: none */
} symbol_transfer;

/* Prepares transfer->easy from curl, kind, url, target and bytes_max; all other members start as 0.
 * Returns SYMBOL_TRANSFER_OK, UNWRITABLE or NO_MEMORY. End it with symbol_transfer_finish or
 * symbol_transfer_cancel in any case. */
symbol_transfer_end symbol_transfer_begin(symbol_transfer *transfer,
                                          const symbol_fetch_options *options);

/* Returns how the transfer ended, closes or commits the file, and frees the handle. */
symbol_transfer_end symbol_transfer_finish(symbol_transfer *transfer, CURLcode result);

/* Cancels the transfer. The received part is kept for another attempt. */
void symbol_transfer_cancel(symbol_transfer *transfer);

#endif
