/*
 * symbol_transfer.c - one HTTP request, from its start to what becomes of the answer.
 *
 * In: a URL, and maybe a partial file from an earlier attempt. Out: a complete file on disk, a
 * short text (index2.txt, file.ptr), or why there is neither.
 *
 *     answer ──▶ head: the first bytes ──judge──▶ a symbol file? ──▶ appended to the partial file
 *                                        └──────▶ a page of HTML: refused, nothing is written
 *
 * Invariant: not a byte reaches the disk before the head was judged, because servers answer with
 * login pages. A part that is resumed must continue exactly where it ends; a server that sends
 * everything again starts the file over.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbol_transfer.h"

#define STALL_BYTES_PER_S 100L
#define REDIRECTS_MAX     5L
#define ERROR_BYTES_MAX   (256 * ETL_KIB)

static bool has_part(const symbol_transfer *transfer);
static bool open_part(symbol_transfer *transfer);
static bool set_request(symbol_transfer *transfer, const symbol_fetch_options *options);
static void set_protocols(symbol_transfer *transfer);
static size_t on_header(char *line, size_t size, size_t count, void *user);
static void read_range(symbol_transfer *transfer, const char *value);
static size_t on_body(char *bytes, size_t size, size_t count, void *user);
static bool take_body(symbol_transfer *transfer, etl_bytes bytes);
static bool take_text(symbol_transfer *transfer, etl_bytes bytes);
static bool gather_head(symbol_transfer *transfer, etl_bytes *bytes);
static bool judge(symbol_transfer *transfer);
static bool has_page_type(symbol_transfer *transfer);
static bool append(symbol_transfer *transfer, etl_bytes bytes);
static bool refuse(symbol_transfer *transfer, symbol_transfer_end end, const char *reason);
static symbol_transfer_end end_of(symbol_transfer *transfer, CURLcode result);
static symbol_transfer_end end_of_status(symbol_transfer *transfer, long status);
static symbol_transfer_end end_of_complete(symbol_transfer *transfer);
static symbol_transfer_end end_of_error(CURLcode result);
static long status_of(const symbol_transfer *transfer);

symbol_transfer_end symbol_transfer_begin(symbol_transfer *transfer,
                                          const symbol_fetch_options *options)
{
    if (transfer->kind != SYMBOL_TRANSFER_TEXT && has_part(transfer) && !open_part(transfer))
        return SYMBOL_TRANSFER_UNWRITABLE;
    transfer->easy = transfer->curl->easy_init();
    if (!transfer->easy || !set_request(transfer, options))
        return SYMBOL_TRANSFER_NO_MEMORY;
    return SYMBOL_TRANSFER_OK;
}

/* Is there a partial file? Without one, no file is created before there is something to write. */
static bool has_part(const symbol_transfer *transfer)
{
    char part[SYMBOL_FILE_SIZE];
    const int size = snprintf(part, sizeof part, "%s.new", transfer->target);
    return size > 0 && (size_t)size < sizeof part && symbol_is_file(part);
}

static bool open_part(symbol_transfer *transfer)
{
    if (!symbol_partial_open(&transfer->partial, transfer->target)) {
        (void)snprintf(transfer->message, sizeof transfer->message,
                       "the file cannot be written: %s", strerror(errno));
        return false;
    }
    transfer->is_open = true;
    transfer->resumed_from = transfer->partial.size_bytes;
    return true;
}

/* libcurl reads its own options through `...`, where the type must be exact. */
static bool set_request(symbol_transfer *transfer, const symbol_fetch_options *options)
{
    CURL *const easy = transfer->easy;
    CURLcode result = transfer->curl->easy_setopt(easy, CURLOPT_URL, transfer->url);
    (void)transfer->curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)transfer->curl->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    (void)transfer->curl->easy_setopt(easy, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
    (void)transfer->curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                                      (long)options->connect_timeout_ms);
    (void)transfer->curl->easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, STALL_BYTES_PER_S);
    (void)transfer->curl->easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)options->stall_timeout_s);
    (void)transfer->curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    (void)transfer->curl->easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    (void)transfer->curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    (void)transfer->curl->easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    if (result == CURLE_OK)
        result = transfer->curl->easy_setopt(easy, CURLOPT_USERAGENT, options->user_agent);
    if (result == CURLE_OK && options->authority_file)
        result = transfer->curl->easy_setopt(easy, CURLOPT_CAINFO, options->authority_file);
    if (result == CURLE_OK && transfer->resumed_from > 0) {
        char range[24];
        (void)snprintf(range, sizeof range, "%llu-", (unsigned long long)transfer->resumed_from);
        result = transfer->curl->easy_setopt(easy, CURLOPT_RANGE, range);
    }
    set_protocols(transfer);
    return result == CURLE_OK;
}

static void set_protocols(symbol_transfer *transfer)
{
    const bool is_secure = symbol_url_is_secure(transfer->url);
#if LIBCURL_VERSION_NUM >= 0x075500
    (void)transfer->curl->easy_setopt(transfer->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)transfer->curl->easy_setopt(transfer->easy, CURLOPT_REDIR_PROTOCOLS_STR,
                                      is_secure ? "https" : "http,https");
#else
    (void)transfer->curl->easy_setopt(transfer->easy, CURLOPT_PROTOCOLS,
                                      (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    (void)transfer->curl->easy_setopt(
        transfer->easy, CURLOPT_REDIR_PROTOCOLS,
        (long)(is_secure ? CURLPROTO_HTTPS : CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/* Called for each line of each answer, those of redirects included. */
static size_t on_header(char *line, size_t size, size_t count, void *user)
{
    symbol_transfer *const transfer = user;
    char copy[160];
    const size_t bytes = size * count;
    (void)snprintf(copy, sizeof copy, "%.*s", (int)etl_min_u64(bytes, sizeof copy - 1), line);
    if (strncmp(copy, "HTTP/", 5) == 0)
        transfer->has_range = false;
    char *const colon = strchr(copy, ':');
    if (!colon)
        return bytes;
    *colon = 0;
    if (symbol_same_word(copy, "content-range"))
        read_range(transfer, colon + 1);
    return bytes;
}

/* "bytes 100-199/200" of a 206, "bytes *" and "/200" of a 416. Source: RFC 9110, 14.4. */
static void read_range(symbol_transfer *transfer, const char *value)
{
    const char *const unit = strstr(value, "bytes ");
    const char *const slash = strchr(value, '/');
    if (!unit || !slash)
        return;
    transfer->has_range = true;
    transfer->range_start = unit[6] == '*' ? 0 : strtoull(unit + 6, NULL, 10);
    transfer->range_total = slash[1] == '*' ? 0 : strtoull(slash + 1, NULL, 10);
}

static size_t on_body(char *bytes, size_t size, size_t count, void *user)
{
    symbol_transfer *const transfer = user;
    const etl_bytes body = { (const u8 *)bytes, size * count };
    const long status = status_of(transfer);
    if (status != 200 && status != 206) {
        /* Skips the text of an error. Servers send little, but may send much. */
        transfer->bytes_ignored += body.size;
        return transfer->bytes_ignored < ERROR_BYTES_MAX ? body.size : 0;
    }
    transfer->bytes_received += body.size;
    return take_body(transfer, body) ? body.size : 0;
}

static bool take_body(symbol_transfer *transfer, etl_bytes bytes)
{
    if (transfer->bytes_expected == 0) {
        curl_off_t size = -1;
        (void)transfer->curl->easy_getinfo(transfer->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T,
                                           &size);
        transfer->bytes_expected = size > 0 ? (u64)size : 0;
    }
    if (transfer->kind == SYMBOL_TRANSFER_TEXT)
        return take_text(transfer, bytes);
    const bool is_rest = status_of(transfer) == 206;
    if (is_rest && (!transfer->has_range || transfer->range_start != transfer->resumed_from))
        return refuse(transfer, SYMBOL_TRANSFER_RESTART, "the server sent another part");
    if (transfer->bytes_expected > transfer->bytes_max)
        return refuse(transfer, SYMBOL_TRANSFER_TOO_LARGE, "the file is larger than the limit");
    if (!is_rest && !transfer->is_judged && !gather_head(transfer, &bytes))
        return transfer->refusal == SYMBOL_TRANSFER_OK;
    return append(transfer, bytes);
}

static bool take_text(symbol_transfer *transfer, etl_bytes bytes)
{
    if (bytes.size > sizeof transfer->text - 1 - transfer->text_size)
        return refuse(transfer, SYMBOL_TRANSFER_REJECTED, "the answer is too long for a text");
    memcpy(transfer->text + transfer->text_size, bytes.at, bytes.size);
    transfer->text_size += bytes.size;
    transfer->text[transfer->text_size] = 0;
    return true;
}

/* Moves bytes to the head until it is full and judged; true once the head is in the file. */
static bool gather_head(symbol_transfer *transfer, etl_bytes *bytes)
{
    const size_t taken =
        (size_t)etl_min_u64(bytes->size, sizeof transfer->head - transfer->head_size);
    memcpy(transfer->head + transfer->head_size, bytes->at, taken);
    transfer->head_size += taken;
    *bytes = (etl_bytes){ bytes->at + taken, bytes->size - taken };
    return transfer->head_size == sizeof transfer->head && judge(transfer);
}

/* Judges the head, and writes it to the file if it is accepted. */
static bool judge(symbol_transfer *transfer)
{
    const etl_bytes head = { transfer->head, transfer->head_size };
    const symbol_content content = symbol_content_of(head);
    const bool is_wanted = transfer->kind == SYMBOL_TRANSFER_CABINET
                               ? content == SYMBOL_CONTENT_CABINET
                               : content == SYMBOL_CONTENT_PDB || content == SYMBOL_CONTENT_IMAGE;
    if (!is_wanted && (content == SYMBOL_CONTENT_MARKUP || has_page_type(transfer)))
        return refuse(transfer, SYMBOL_TRANSFER_REJECTED,
                      "the server answered with a page (of a login?) instead of the file");
    if (!is_wanted)
        return refuse(transfer, SYMBOL_TRANSFER_REJECTED, "the answer is not a symbol file");
    transfer->is_judged = true;
    if (!transfer->is_open && !open_part(transfer)) {
        transfer->refusal = SYMBOL_TRANSFER_UNWRITABLE;
        return false;
    }
    if (!symbol_partial_clear(&transfer->partial))
        return refuse(transfer, SYMBOL_TRANSFER_UNWRITABLE, "the file cannot be written");
    return append(transfer, head);
}

static bool has_page_type(symbol_transfer *transfer)
{
    char *type = NULL;
    (void)transfer->curl->easy_getinfo(transfer->easy, CURLINFO_CONTENT_TYPE, &type);
    return type && strstr(type, "html");
}

static bool append(symbol_transfer *transfer, etl_bytes bytes)
{
    if (transfer->partial.size_bytes + bytes.size > transfer->bytes_max)
        return refuse(transfer, SYMBOL_TRANSFER_TOO_LARGE, "the file is larger than the limit");
    if (!symbol_partial_append(&transfer->partial, bytes)) {
        (void)snprintf(transfer->message, sizeof transfer->message,
                       "the file cannot be written: %s", strerror(errno));
        transfer->refusal = SYMBOL_TRANSFER_UNWRITABLE;
        return false;
    }
    return true;
}

/* Returns false, which ends the transfer. */
static bool refuse(symbol_transfer *transfer, symbol_transfer_end end, const char *reason)
{
    (void)snprintf(transfer->message, sizeof transfer->message, "%s", reason);
    transfer->refusal = end;
    return false;
}

symbol_transfer_end symbol_transfer_finish(symbol_transfer *transfer, CURLcode result)
{
    symbol_transfer_end end = end_of(transfer, result);
    if (transfer->is_open && end == SYMBOL_TRANSFER_OK) {
        if (!symbol_partial_commit(&transfer->partial)) {
            (void)refuse(transfer, SYMBOL_TRANSFER_UNWRITABLE, "the file cannot be renamed");
            end = SYMBOL_TRANSFER_UNWRITABLE;
        }
        transfer->is_open = false;
    }
    if (transfer->is_open && (end == SYMBOL_TRANSFER_RESTART || end == SYMBOL_TRANSFER_TOO_LARGE)) {
        symbol_partial_drop(&transfer->partial);
        transfer->is_open = false;
    }
    symbol_transfer_cancel(transfer);
    return end;
}

void symbol_transfer_cancel(symbol_transfer *transfer)
{
    if (transfer->is_open) {
        transfer->has_progress = transfer->partial.size_bytes > transfer->resumed_from;
        symbol_partial_keep(&transfer->partial);
    }
    transfer->is_open = false;
    transfer->curl->easy_cleanup(transfer->easy);
    transfer->easy = NULL;
}

static symbol_transfer_end end_of(symbol_transfer *transfer, CURLcode result)
{
    if (transfer->refusal != SYMBOL_TRANSFER_OK)
        return transfer->refusal;
    curl_off_t wait_s = 0;
    (void)transfer->curl->easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &wait_s);
    transfer->retry_after_s = (u32)etl_min_u64(wait_s > 0 ? (u64)wait_s : 0, UINT32_MAX);
    const long status = status_of(transfer);
    /* An error whose text was not read to its end is still that error. */
    const bool is_read = result == CURLE_OK || (result == CURLE_WRITE_ERROR && status >= 300);
    if (is_read)
        return end_of_status(transfer, status);
    (void)snprintf(transfer->message, sizeof transfer->message, "%s",
                   transfer->curl->easy_strerror(result));
    return end_of_error(result);
}

static symbol_transfer_end end_of_status(symbol_transfer *transfer, long status)
{
    (void)snprintf(transfer->message, sizeof transfer->message, "HTTP status %ld", status);
    switch (status) {
    case 200:
    case 206:
        return end_of_complete(transfer);
    case 404:
    case 410:
        return SYMBOL_TRANSFER_MISSING;
    case 401:
    case 407:
        return SYMBOL_TRANSFER_DENIED;
    case 403:
        return SYMBOL_TRANSFER_FORBIDDEN;
    case 416: /* we have all of it, or more than there is */
        return transfer->has_range && transfer->range_total == transfer->resumed_from
                   ? SYMBOL_TRANSFER_OK
                   : SYMBOL_TRANSFER_RESTART;
    case 408:
    case 429:
        return SYMBOL_TRANSFER_AGAIN;
    default:
        return status >= 500 ? SYMBOL_TRANSFER_AGAIN : SYMBOL_TRANSFER_REJECTED;
    }
}

/* Files shorter than a head are judged here. */
static symbol_transfer_end end_of_complete(symbol_transfer *transfer)
{
    const bool is_rest = status_of(transfer) == 206;
    const bool is_text = transfer->kind == SYMBOL_TRANSFER_TEXT;
    if (!is_text && !is_rest && !transfer->is_judged && !judge(transfer))
        return transfer->refusal;
    if (is_rest && !is_text && transfer->range_total > 0 &&
        transfer->partial.size_bytes != transfer->range_total)
        return SYMBOL_TRANSFER_RESTART;
    const etl_bytes text = { (const u8 *)transfer->text, transfer->text_size };
    if (is_text && (symbol_content_of(text) != SYMBOL_CONTENT_UNKNOWN || has_page_type(transfer))) {
        (void)refuse(transfer, SYMBOL_TRANSFER_REJECTED,
                     "the server answered with a page (of a login?) instead of the file");
        return SYMBOL_TRANSFER_REJECTED;
    }
    transfer->message[0] = 0;
    return SYMBOL_TRANSFER_OK;
}

static symbol_transfer_end end_of_error(CURLcode result)
{
    switch (result) {
    case CURLE_OUT_OF_MEMORY:
        return SYMBOL_TRANSFER_NO_MEMORY;
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_UNSUPPORTED_PROTOCOL: /* a redirect from https to http, or to a file */
        return SYMBOL_TRANSFER_REJECTED;
    case CURLE_URL_MALFORMAT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CERTPROBLEM:
        return SYMBOL_TRANSFER_HOPELESS;
    default:
        return SYMBOL_TRANSFER_AGAIN;
    }
}

static long status_of(const symbol_transfer *transfer)
{
    long status = 0;
    (void)transfer->curl->easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}
