/*
 * symbol_transfer.c - one HTTP request, from its start to what becomes of the answer.
 *
 * In: a URL, and maybe a partial file from an earlier attempt. Out: a complete file on disk, a
 * short text (index2.txt, file.ptr), or why there is neither.
 *
 *     answer ──▶ head: the first bytes ──judge──▶ a symbol file? ──▶ appended to the partial file
 *                                        └──────▶ a page of HTML: refused, nothing is written
 *
 * Invariants: not a byte reaches the disk before the head was judged, because servers answer with
 * login pages. A part is resumed only with the answer that it is a part of, exactly where it ends;
 * a server that sends everything again starts the file over. A file gets its name only if it is as
 * long as the server said, or as it says itself, and the caller accepts it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbol_credentials.h"
#include "symbol_logins.h"
#include "symbol_transfer.h"

/* CURLOPT_PROTOCOLS and CURLOPT_REDIR_PROTOCOLS, at whose names newer headers warn. Source:
 * curl.h. */
#define PROTOCOLS_BEFORE_7_85       ((CURLoption)(CURLOPTTYPE_LONG + 181))
#define REDIR_PROTOCOLS_BEFORE_7_85 ((CURLoption)(CURLOPTTYPE_LONG + 182))

#define STALL_BYTES_PER_S 100L
#define REDIRECTS_MAX     5L
#define ERROR_BYTES_MAX   (256 * ETL_KIB)
#define PROBE_BYTES       (512 * ETL_KIB)

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
    return true;
}

/* Resumes the part if it is of this address. */
static void plan_resume(symbol_transfer *transfer)
{
    symbol_origin known;
    char url[SYMBOL_URL_SIZE];
    (void)symbol_path_without_logins(transfer->url, url);
    transfer->is_marked = symbol_origin_read(&transfer->partial, &known);
    if (transfer->is_marked && strcmp(known.url, url) == 0) {
        transfer->origin = known;
        transfer->resumed_from = transfer->partial.size_bytes;
    }
}

/* Called for each line of each answer, those of redirects included. */
static size_t on_header(char *line, size_t size, size_t count, void *user)
{
    symbol_transfer *const transfer = user;
    symbol_answer_line(&transfer->answer, (etl_bytes){ (const u8 *)line, size * count });
    return size * count;
}

static long status_of(const symbol_transfer *transfer)
{
    long status = 0;
    (void)transfer->curl->easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* Returns false, which ends the transfer. */
static bool refuse(symbol_transfer *transfer, symbol_transfer_end end, const char *reason)
{
    (void)snprintf(transfer->message, sizeof transfer->message, "%s", reason);
    transfer->refusal = end;
    return false;
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

static bool has_page_type(symbol_transfer *transfer)
{
    char *type = NULL;
    (void)transfer->curl->easy_getinfo(transfer->easy, CURLINFO_CONTENT_TYPE, &type);
    return type && strstr(type, "html");
}

/* Notes where the part comes from, before its first byte. Without that it is not kept. */
static void mark_part(symbol_transfer *transfer)
{
    symbol_origin *const origin = &transfer->origin;
    (void)symbol_path_without_logins(transfer->url, origin->url);
    symbol_answer_origin(&transfer->answer, origin);
    origin->total_bytes = transfer->bytes_expected;
    transfer->is_marked = symbol_origin_write(&transfer->partial, origin);
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
    mark_part(transfer);
    return append(transfer, head);
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
    if (is_rest && transfer->resumed_from == 0)
        return refuse(transfer, SYMBOL_TRANSFER_REJECTED, "the server sent a part of the file");
    if (is_rest &&
        !symbol_answer_continues(&transfer->answer, &transfer->origin, transfer->resumed_from))
        return refuse(transfer, SYMBOL_TRANSFER_RESTART, "the server sent another part");
    if (transfer->bytes_expected > transfer->bytes_max)
        return refuse(transfer, SYMBOL_TRANSFER_TOO_LARGE, "the file is larger than the limit");
    if (!is_rest && !transfer->is_judged && !gather_head(transfer, &bytes))
        return transfer->refusal == SYMBOL_TRANSFER_OK;
    return append(transfer, bytes);
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

/* "If-Range: VALIDATOR": the rest of that very file, or all of another one. */
static bool set_condition(symbol_transfer *transfer)
{
    char line[SYMBOL_VALIDATOR_SIZE + sizeof "If-Range: "];
    (void)snprintf(line, sizeof line, "If-Range: %s", transfer->origin.validator);
    transfer->headers = transfer->curl->slist_append(NULL, line);
    return transfer->headers && transfer->curl->easy_setopt(transfer->easy, CURLOPT_HTTPHEADER,
                                                            transfer->headers) == CURLE_OK;
}

/* HTTP only, and no way back from https. The options took another form in 7.85, and both are
 * compiled if the headers have both, because the library may be older than they are. */
static void set_protocols(symbol_transfer *transfer)
{
    const bool is_secure = symbol_url_is_secure(transfer->url);
#if LIBCURL_VERSION_NUM >= 0x075500
    if (symbol_curl_is(transfer->curl, 0x075500)) {
        (void)transfer->curl->easy_setopt(transfer->easy, CURLOPT_PROTOCOLS_STR, "http,https");
        (void)transfer->curl->easy_setopt(transfer->easy, CURLOPT_REDIR_PROTOCOLS_STR,
                                          is_secure ? "https" : "http,https");
        return;
    }
#endif
    (void)transfer->curl->easy_setopt(transfer->easy, PROTOCOLS_BEFORE_7_85,
                                      (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    (void)transfer->curl->easy_setopt(
        transfer->easy, REDIR_PROTOCOLS_BEFORE_7_85,
        (long)(is_secure ? CURLPROTO_HTTPS : CURLPROTO_HTTP | CURLPROTO_HTTPS));
}

/* Called before each request, that after a redirect included, with the address it goes to. */
static int on_request(void *user, char *address, char *own_address, int port, int own_port)
{
    symbol_transfer *const transfer = user;
    (void)own_address;
    (void)port;
    (void)own_port;
    if (transfer->requests++ == 0) {
        transfer->is_private = symbol_address_is_private(address);
    } else if (!transfer->is_private && symbol_address_is_private(address)) {
        (void)refuse(transfer, SYMBOL_TRANSFER_REDIRECTED,
                     "the server redirected to a private address");
        return CURL_PREREQFUNC_ABORT;
    }
    return CURL_PREREQFUNC_OK;
}

/* Without the function that sees where a redirect leads, none is followed. */
static void set_redirects(symbol_transfer *transfer, const symbol_fetch_options *options)
{
    CURL *const easy = transfer->easy;
    bool is_seen = options->private_redirects;
#if LIBCURL_VERSION_NUM >= 0x075000
    if (!is_seen)
        is_seen = transfer->curl->easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_request) == CURLE_OK;
    (void)transfer->curl->easy_setopt(easy, CURLOPT_PREREQDATA, transfer);
#endif
    (void)transfer->curl->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, is_seen ? 1L : 0L);
    (void)transfer->curl->easy_setopt(easy, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
}

/* libcurl reads its own options through `...`, where the type must be exact. */
static bool set_request(symbol_transfer *transfer, const symbol_fetch_options *options)
{
    CURL *const easy = transfer->easy;
    CURLcode result = transfer->curl->easy_setopt(easy, CURLOPT_URL, transfer->url);
    (void)transfer->curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    set_redirects(transfer, options);
    (void)transfer->curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                                      (long)etl_min_u64(transfer->ms_max, INT32_MAX));
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
        if (result == CURLE_OK && !set_condition(transfer))
            result = CURLE_OUT_OF_MEMORY;
    }
    set_protocols(transfer);
    return result == CURLE_OK &&
           symbol_credentials_apply(transfer->curl, easy, transfer->url, options->login,
                                    options->login_user, &transfer->is_withheld);
}

symbol_transfer_end symbol_transfer_begin(symbol_transfer *transfer,
                                          const symbol_fetch_options *options)
{
    if (transfer->kind != SYMBOL_TRANSFER_TEXT && has_part(transfer)) {
        if (!open_part(transfer))
            return SYMBOL_TRANSFER_UNWRITABLE;
        plan_resume(transfer);
    }
    transfer->easy = transfer->curl->easy_init();
    if (!transfer->easy || !set_request(transfer, options))
        return SYMBOL_TRANSFER_NO_MEMORY;
    return SYMBOL_TRANSFER_OK;
}

/* As long as the server said. If it did not say where the body ends, a broken connection looks like
 * the end of the file, so the file itself must say how long it is. */
static bool is_whole(const symbol_transfer *transfer)
{
    const u64 size = transfer->partial.size_bytes;
    if (transfer->bytes_expected != 0 && size != transfer->bytes_expected)
        return false;
    return transfer->answer.is_framed ||
           symbol_content_size((etl_bytes){ transfer->head, transfer->head_size }) == size;
}

/* Files shorter than a head are judged here. */
static symbol_transfer_end end_of_complete(symbol_transfer *transfer)
{
    const bool is_rest = status_of(transfer) == 206;
    const bool is_text = transfer->kind == SYMBOL_TRANSFER_TEXT;
    if (!is_text && !is_rest && !transfer->is_judged && !judge(transfer))
        return transfer->refusal;
    if (is_rest && !is_text && transfer->partial.size_bytes != transfer->answer.range_total)
        return SYMBOL_TRANSFER_RESTART;
    if (!is_rest && !is_text && !is_whole(transfer)) {
        transfer->is_marked = false; /* nobody can tell what it is a part of */
        (void)refuse(transfer, SYMBOL_TRANSFER_REJECTED, "the answer is not the whole file");
        return SYMBOL_TRANSFER_REJECTED;
    }
    const etl_bytes text = { (const u8 *)transfer->text, transfer->text_size };
    if (is_text && (symbol_content_of(text) != SYMBOL_CONTENT_UNKNOWN || has_page_type(transfer))) {
        (void)refuse(transfer, SYMBOL_TRANSFER_REJECTED,
                     "the server answered with a page (of a login?) instead of the file");
        return SYMBOL_TRANSFER_REJECTED;
    }
    transfer->message[0] = 0;
    return SYMBOL_TRANSFER_OK;
}

/* Of a part that was complete before: the server has no more, and is the one it came from. */
static bool is_all_there(const symbol_transfer *transfer)
{
    const symbol_origin *const origin = &transfer->origin;
    const symbol_answer *const answer = &transfer->answer;
    const bool is_other = origin->kind == SYMBOL_VALIDATOR_ETAG && answer->etag[0] &&
                          strcmp(answer->etag, origin->validator) != 0;
    return transfer->is_open && transfer->resumed_from > 0 && !is_other && answer->has_range &&
           answer->range_total == transfer->resumed_from &&
           (origin->total_bytes == 0 || origin->total_bytes == transfer->resumed_from);
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
        if (!transfer->is_withheld)
            return SYMBOL_TRANSFER_DENIED;
        (void)snprintf(transfer->message, sizeof transfer->message,
                       "the login is sent over https only, and without control characters");
        return SYMBOL_TRANSFER_UNSENT;
    case 407:
        return SYMBOL_TRANSFER_PROXY_DENIED;
    case 403:
        return SYMBOL_TRANSFER_FORBIDDEN;
    case 416: /* we have all of it, or more than there is */
        return is_all_there(transfer) ? SYMBOL_TRANSFER_OK : SYMBOL_TRANSFER_RESTART;
    case 408:
    case 429:
        return SYMBOL_TRANSFER_AGAIN;
    default:
        if (status >= 300 && status < 400)
            return SYMBOL_TRANSFER_REDIRECTED;
        return status >= 500 ? SYMBOL_TRANSFER_AGAIN : SYMBOL_TRANSFER_REJECTED;
    }
}

/* libcurl calls a header line of more than 100 KB a lack of memory, too. If there is more memory
 * than that, the server is to blame. */
static bool is_memory_short(void)
{
    void *const probe = malloc(PROBE_BYTES);
    free(probe);
    return probe == NULL;
}

static symbol_transfer_end end_of_error(CURLcode result)
{
    switch (result) {
    case CURLE_OUT_OF_MEMORY:
        return is_memory_short() ? SYMBOL_TRANSFER_NO_MEMORY : SYMBOL_TRANSFER_HOPELESS;
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_UNSUPPORTED_PROTOCOL: /* a redirect from https to http, or to a file */
        return SYMBOL_TRANSFER_REDIRECTED;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
        return SYMBOL_TRANSFER_UNTRUSTED;
    case CURLE_URL_MALFORMAT:
    case CURLE_SSL_CERTPROBLEM:
        return SYMBOL_TRANSFER_HOPELESS;
    default:
        return SYMBOL_TRANSFER_AGAIN;
    }
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
    long proxy_status = 0; /* of the request to connect to a server, for https */
    (void)transfer->curl->easy_getinfo(transfer->easy, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
    return proxy_status == 407 ? SYMBOL_TRANSFER_PROXY_DENIED : end_of_error(result);
}

/* Gives a complete file its name, if the caller accepts it. */
static symbol_transfer_end take_complete(symbol_transfer *transfer)
{
    if (transfer->accept && transfer->kind == SYMBOL_TRANSFER_FILE &&
        !transfer->accept(transfer->accept_user, transfer->download, transfer->partial.name)) {
        symbol_partial_drop(&transfer->partial);
        return SYMBOL_TRANSFER_REFUSED;
    }
    if (symbol_partial_commit(&transfer->partial))
        return SYMBOL_TRANSFER_OK;
    (void)refuse(transfer, SYMBOL_TRANSFER_UNWRITABLE, "the file cannot be renamed");
    return SYMBOL_TRANSFER_UNWRITABLE;
}

/* A part of no use to another attempt: it would only fill the disk. */
static bool is_useless(symbol_transfer_end end)
{
    return end == SYMBOL_TRANSFER_RESTART || end == SYMBOL_TRANSFER_TOO_LARGE ||
           end == SYMBOL_TRANSFER_UNWRITABLE;
}

symbol_transfer_end symbol_transfer_finish(symbol_transfer *transfer, CURLcode result)
{
    symbol_transfer_end end = end_of(transfer, result);
    if (transfer->is_open && end == SYMBOL_TRANSFER_OK) {
        end = take_complete(transfer);
        transfer->is_open = false;
    }
    if (transfer->is_open && is_useless(end)) {
        symbol_partial_drop(&transfer->partial);
        transfer->is_open = false;
    }
    symbol_transfer_cancel(transfer);
    return end;
}

/* Only what can be resumed is kept, and only that is progress. It may be a part of another address,
 * to which nothing was added. */
void symbol_transfer_cancel(symbol_transfer *transfer)
{
    if (transfer->is_open && transfer->is_marked) {
        const bool is_ours = transfer->is_judged || transfer->resumed_from > 0;
        transfer->has_progress = is_ours && transfer->partial.size_bytes > transfer->resumed_from;
        symbol_partial_keep(&transfer->partial);
    } else if (transfer->is_open) {
        symbol_partial_drop(&transfer->partial);
    }
    transfer->is_open = false;
    transfer->curl->easy_cleanup(transfer->easy);
    transfer->curl->slist_free_all(transfer->headers);
    transfer->easy = NULL;
    transfer->headers = NULL;
}
