/*
 * fuzz_http.c - any answers of a symbol server.
 *
 * libcurl is replaced (symbol_curl_load is wrapped): what it would receive, the bytes say. So the
 * client is fuzzed, not libcurl: status and header lines, bodies in pieces, connections that break,
 * parts that are resumed, from one server and then another.
 *
 *     byte 0    the result of the transfer, and the status
 *     ...       header lines: a length byte each, up to a line of length 0; 255: a line of
 *               4,096 times the byte that follows
 *     ...       body: a length byte, then as many bytes, up to a length of 0; 255: 4,096 bytes of
 *               the file that the server should have
 *
 * In: the answers to all requests, one after the other; without bytes left, 404. Out: nothing, or a
 * crash. Invariants that it checks: a file in the cache was accepted by the check under that very
 * content, and nothing but the cache, its parts and their origins is written.
 */
#include "fuzz.h"

#include "engine/symbol_store/symbol_curl.h"
#include "engine/symbol_store/symbol_path.h"
#include "engine/symbol_store/symbol_temporary.h"
#include "parser/system/files.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PIECE_BYTES    4096u
#define FILE_BYTES     (3 * PIECE_BYTES)
#define ANSWERS_MAX    64u
#define HANDLES_MAX    16u
#define NAME           "app.pdb"
#define FILE_BYTES_MAX ((u64)1 << 20)

typedef size_t receive_fn(char *bytes, size_t size, size_t count, void *user);

/* One request, as the client set it up. */
typedef struct request {
    bool is_used, is_added, is_done;
    receive_fn *header, *body;
    void *header_user, *body_user, *own;
    long status;
    curl_off_t length;
    CURLcode result;
    CURLMsg message;
} request;

/* libcurl is one for the process, so this is, too. */
static struct {
    etl_bytes left;
    u32 answers;
    request requests[HANDLES_MAX];
    i64 clock_ms;
    u64 accepted_hash; /* of the file that the check accepted last */
} world;

static u8 file_byte(size_t at)
{
    static const char magic[] = "Microsoft C/C++ MSF 7.00\r\n\x1a"
                                "DS\0\0";
    return at < sizeof magic ? (u8)magic[at] : (u8)(at * 31 + (at >> 8));
}

static u8 take_byte(void)
{
    if (world.left.size == 0)
        return 0;
    const u8 byte = world.left.at[0];
    world.left = (etl_bytes){ world.left.at + 1, world.left.size - 1 };
    return byte;
}

static etl_bytes take_bytes(size_t size)
{
    const etl_bytes taken = { world.left.at, etl_min_u64(size, world.left.size) };
    world.left = (etl_bytes){ taken.at + taken.size, world.left.size - taken.size };
    return taken;
}

/* --- what libcurl would do ------------------------------------------------------------ */

static CURLcode fake_global_init(long flags)
{
    (void)flags;
    return CURLE_OK;
}

static void fake_global_cleanup(void)
{
}

static CURL *fake_easy_init(void)
{
    for (u32 i = 0; i < HANDLES_MAX; i++) {
        request *const r = &world.requests[i];
        if (!r->is_used) {
            *r = (request){ .is_used = true, .length = -1 };
            return r;
        }
    }
    return NULL;
}

static void fake_easy_cleanup(CURL *easy)
{
    request *const r = easy;
    if (r != NULL)
        r->is_used = false;
}

static CURLcode fake_easy_setopt(CURL *easy, CURLoption option, ...)
{
    request *const r = easy;
    va_list arguments;
    va_start(arguments, option);
    switch (option) {
    case CURLOPT_HEADERFUNCTION:
        r->header = va_arg(arguments, receive_fn *);
        break;
    case CURLOPT_WRITEFUNCTION:
        r->body = va_arg(arguments, receive_fn *);
        break;
    case CURLOPT_HEADERDATA:
        r->header_user = va_arg(arguments, void *);
        break;
    case CURLOPT_WRITEDATA:
        r->body_user = va_arg(arguments, void *);
        break;
    case CURLOPT_PRIVATE:
        r->own = va_arg(arguments, void *);
        break;
    default:
        break;
    }
    va_end(arguments);
    return CURLE_OK;
}

static CURLcode fake_easy_getinfo(CURL *easy, CURLINFO info, ...)
{
    const request *const r = easy;
    va_list arguments;
    va_start(arguments, info);
    switch (info) {
    case CURLINFO_RESPONSE_CODE:
        *va_arg(arguments, long *) = r->status;
        break;
    case CURLINFO_CONTENT_LENGTH_DOWNLOAD_T:
        *va_arg(arguments, curl_off_t *) = r->length;
        break;
    case CURLINFO_RETRY_AFTER:
        *va_arg(arguments, curl_off_t *) = r->status == 503 ? 7 : 0;
        break;
    case CURLINFO_PRIVATE:
        *va_arg(arguments, void **) = r->own;
        break;
    default:
        *va_arg(arguments, char **) = NULL;
        break;
    }
    va_end(arguments);
    return CURLE_OK;
}

static const char *fake_easy_strerror(CURLcode code)
{
    (void)code;
    return "broken";
}

static struct curl_slist *fake_slist_append(struct curl_slist *list, const char *text)
{
    static struct curl_slist one;
    (void)text;
    return list != NULL ? list : &one;
}

static void fake_slist_free_all(struct curl_slist *list)
{
    (void)list;
}

static CURLM *fake_multi_init(void)
{
    return (CURLM *)&world;
}

static CURLMcode fake_multi_cleanup(CURLM *multi)
{
    (void)multi;
    return CURLM_OK;
}

static CURLMcode fake_multi_add(CURLM *multi, CURL *easy)
{
    request *const r = easy;
    (void)multi;
    r->is_added = true;
    return CURLM_OK;
}

static CURLMcode fake_multi_remove(CURLM *multi, CURL *easy)
{
    request *const r = easy;
    (void)multi;
    r->is_added = false;
    return CURLM_OK;
}

/* Libcurl reads the length from the line itself. */
static void send_header(request *r, etl_bytes line)
{
    static const char word[] = "Content-Length:";
    char copy[256];
    const size_t size = etl_min_u64(line.size, sizeof copy - 1);
    if (size > 0)
        memcpy(copy, line.at, size);
    copy[size] = '\0';
    if (strncmp(copy, word, sizeof word - 1) == 0)
        r->length = (curl_off_t)(strtoull(copy + sizeof word - 1, NULL, 10) >> 1);
    (void)r->header(copy, 1, size, r->header_user);
}

/* Longer than any buffer for lines. */
static void send_long_header(request *r)
{
    char line[PIECE_BYTES];
    memset(line, take_byte(), sizeof line);
    (void)r->header(line, 1, sizeof line, r->header_user);
}

static bool send_piece(request *r, u8 size)
{
    char piece[PIECE_BYTES];
    if (size == UINT8_MAX) {
        const size_t first = take_byte() % 3 * PIECE_BYTES;
        for (size_t i = 0; i < PIECE_BYTES; i++)
            piece[i] = (char)file_byte(first + i);
        return r->body(piece, 1, PIECE_BYTES, r->body_user) == PIECE_BYTES;
    }
    const etl_bytes taken = take_bytes(size);
    if (taken.size > 0)
        memcpy(piece, taken.at, taken.size);
    return taken.size == 0 || r->body(piece, 1, taken.size, r->body_user) == taken.size;
}

static void answer(request *r)
{
    static const long statuses[] = { 200, 206, 404, 416, 403, 503, 302, 401 };
    static const CURLcode results[] = { CURLE_OK, CURLE_PARTIAL_FILE, CURLE_OUT_OF_MEMORY,
                                        CURLE_COULDNT_CONNECT };
    const bool is_given = world.left.size > 0 && world.answers++ < ANSWERS_MAX;
    const u8 how = is_given ? take_byte() : 2;
    r->status = statuses[how % 8];
    r->result = results[how / 8 % 4];
    send_header(r, (etl_bytes){ (const u8 *)(how < 128 ? "HTTP/1.1 200 OK" : "HTTP/2 200"), 10 });
    for (u8 size = is_given ? take_byte() : 0; size != 0; size = take_byte()) {
        if (size == UINT8_MAX)
            send_long_header(r);
        else
            send_header(r, take_bytes(size));
    }
    for (u8 size = is_given ? take_byte() : 0; size != 0; size = take_byte()) {
        if (!send_piece(r, size)) {
            r->result = CURLE_WRITE_ERROR;
            break;
        }
    }
    r->is_done = true;
}

static CURLMcode fake_multi_perform(CURLM *multi, int *active)
{
    (void)multi;
    *active = 0;
    for (u32 i = 0; i < HANDLES_MAX; i++) {
        if (world.requests[i].is_added && !world.requests[i].is_done)
            answer(&world.requests[i]);
    }
    return CURLM_OK;
}

static CURLMsg *fake_multi_info_read(CURLM *multi, int *left)
{
    (void)multi;
    *left = 0;
    for (u32 i = 0; i < HANDLES_MAX; i++) {
        request *const r = &world.requests[i];
        if (r->is_added && r->is_done) {
            r->message = (CURLMsg){ .msg = CURLMSG_DONE, .easy_handle = r };
            r->message.data.result = r->result;
            return &r->message;
        }
    }
    return NULL;
}

/* Waiting takes no time here. */
static CURLMcode fake_multi_poll(CURLM *multi, struct curl_waitfd *more, unsigned count,
                                 int timeout_ms, int *ready)
{
    (void)multi;
    (void)more;
    (void)count;
    (void)ready;
    world.clock_ms += timeout_ms > 0 ? timeout_ms : 1;
    return CURLM_OK;
}

static curl_version_info_data *fake_version_info(CURLversion version)
{
    static curl_version_info_data info = { .version = "fuzz", .version_num = LIBCURL_VERSION_NUM };
    (void)version;
    return &info;
}

bool __wrap_symbol_curl_load(symbol_curl *out);
bool __wrap_symbol_curl_load(symbol_curl *out)
{
    *out = (symbol_curl){ .global_init = fake_global_init,
                          .global_cleanup = fake_global_cleanup,
                          .version_info = fake_version_info,
                          .easy_init = fake_easy_init,
                          .easy_cleanup = fake_easy_cleanup,
                          .easy_setopt = fake_easy_setopt,
                          .easy_getinfo = fake_easy_getinfo,
                          .easy_strerror = fake_easy_strerror,
                          .slist_append = fake_slist_append,
                          .slist_free_all = fake_slist_free_all,
                          .multi_init = fake_multi_init,
                          .multi_cleanup = fake_multi_cleanup,
                          .multi_add_handle = fake_multi_add,
                          .multi_remove_handle = fake_multi_remove,
                          .multi_perform = fake_multi_perform,
                          .multi_info_read = fake_multi_info_read,
                          .multi_poll = fake_multi_poll };
    return true;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    (void)clock;
    *out = (struct timespec){ .tv_sec = (time_t)(world.clock_ms / 1000),
                              .tv_nsec = (long)(world.clock_ms % 1000 * 1000000) };
    return 0;
}

/* --- what must hold ------------------------------------------------------------------- */

static u64 hash_file(const char *path)
{
    u8 bytes[PIECE_BYTES];
    u64 hash = 14695981039346656037u;
    FILE *const file = fopen(path, "rb");
    size_t size = 0;
    while (file != NULL && (size = fread(bytes, 1, sizeof bytes, file)) > 0) {
        for (size_t i = 0; i < size; i++)
            hash = (hash ^ bytes[i]) * 1099511628211u;
    }
    if (file != NULL)
        (void)fclose(file);
    return hash;
}

/* A file of the wanted build begins as it should; its last byte says how the check finds it. */
static symbol_verdict check_file(void *user, const char *path, const symbol_key *key)
{
    u8 head[64];
    (void)user;
    (void)key;
    const size_t size = etl_file_start(path, head, sizeof head);
    for (size_t i = 0; i < size; i++) {
        if (head[i] != file_byte(i))
            return SYMBOL_VERDICT_UNUSABLE;
    }
    if (size < sizeof head)
        return SYMBOL_VERDICT_MISMATCH;
    world.accepted_hash = hash_file(path);
    return SYMBOL_VERDICT_MATCH;
}

static void stop(const char *why)
{
    fprintf(stderr, "fuzz_http: %s\n", why);
    __builtin_trap();
}

static bool ends_with(const char *text, const char *end)
{
    const size_t size = strlen(text), wanted = strlen(end);
    return size >= wanted && strcmp(text + size - wanted, end) == 0;
}

static void check_cache(const char *folder, const symbol_request *found)
{
    symbol_listing files = { 0 };
    char path[SYMBOL_FILE_SIZE];
    symbol_listing_read(&files, folder);
    for (size_t i = 0; i < files.names.count; i++) {
        const char *const name = files.names.at[i];
        if (!symbol_join(path, folder, name))
            continue;
        if (strcmp(name, NAME) == 0) {
            if (hash_file(path) != world.accepted_hash)
                stop("a file is in the cache that was not accepted");
            if (found->outcome != SYMBOL_FOUND)
                stop("a file is in the cache that was not found");
        } else if (!ends_with(name, ".new") && !ends_with(name, ".new.from") &&
                   !ends_with(name, "_")) {
            stop("a file has an unknown name");
        }
    }
    symbol_listing_free(&files);
}

/* The two servers are asked in the first run; a second run finds what is left. */
static void search(const char *folder, const symbol_key *key)
{
    char path[SYMBOL_FILE_SIZE], below[SYMBOL_FILE_SIZE], text[SYMBOL_KEY_TEXT_SIZE];
    (void)snprintf(path, sizeof path, "SRV*%s*https://u:p@one.invalid/s*http://two.invalid?t",
                   folder);
    symbol_key_format(key, text);
    (void)snprintf(below, sizeof below, "%s/" NAME "/%s", folder, text);
    for (u32 run = 0; run < 2; run++) {
        const symbol_path_options options = {
            .temporary_folder = folder,
            .check = check_file,
            .fetch = { .attempts_max = 3, .retry_delay_ms = 1, .file_bytes_max = FILE_BYTES_MAX }
        };
        symbol_request wanted = { .key = *key };
        symbol_path *opened = NULL;
        etl_diag_counts diag = { { 0 } };
        etl_error err;
        world.answers = 0;
        memset(world.requests, 0, sizeof world.requests);
        if (symbol_path_open(path, &options, &opened, &err) == ETL_OK &&
            symbol_path_find(opened, &wanted, 1, &diag, &err) == ETL_OK)
            check_cache(below, &wanted);
        symbol_path_free(opened);
    }
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    static const symbol_key key = {
        .kind = SYMBOL_KIND_PDB, .name = NAME, .guid = { { 1, 2, 3, 4, 5, 6, 7, 8 } }, .age = 1
    };
    symbol_temporary temporary = { .is_made = false };
    const symbol_store *const store = symbol_temporary_store(&temporary, etl_temporary_default);
    if (store == NULL)
        abort();
    world.left = (etl_bytes){ data, size };
    search(store->folder, &key);
    symbol_temporary_free(&temporary);
    return 0;
}
