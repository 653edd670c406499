/*
 * symbol_elements.c - the text of a symbol path, taken apart.
 *
 * In: a path, such as srv*C:\sym*https://server. Out: elements with their stores, whose texts are
 * copies; or the reason why it is no path. Invariant: no message repeats the text, which may hold
 * logins.
 */
#include <stdlib.h>

#include "parser/system/files.h"
#include "symbol_elements.h"
#include "symbol_files.h"

#define WHITE_SPACE " \t\r\n"

static etl_status add_element(symbol_elements *elements, etl_bytes text, etl_error *err);
static etl_status add_stores(symbol_elements *elements, symbol_element *element, etl_bytes text,
                             etl_error *err);
static bool make_store(symbol_elements *elements, etl_bytes text, symbol_store_text *out);
static etl_bytes take_until(etl_bytes *rest, char separator);
static etl_bytes trimmed(etl_bytes text);
static bool is_word(etl_bytes text, const char *word);
static bool is_url(etl_bytes text);

etl_status symbol_elements_parse(symbol_elements *elements, const char *text, etl_error *err)
{
    etl_bytes rest = { (const u8 *)text, strlen(text) };
    while (rest.size > 0) {
        const etl_bytes element = trimmed(take_until(&rest, ';'));
        if (element.size == 0)
            continue;
        const etl_status status = add_element(elements, element, err);
        if (status != ETL_OK)
            return status;
    }
    return ETL_OK;
}

void symbol_elements_free(symbol_elements *elements)
{
    ETLHEAP_VECTOR_FREE(&elements->list);
    etlheap_arena_free(&elements->texts);
}

/* Where the host of "//host/share" or "https://user@host:port/path" stands; {NULL, 0}: there is
 * none. */
static etl_bytes host_of(const char *place)
{
    const char *const scheme_end = strstr(place, "://");
    const bool is_share =
        (place[0] == '/' || place[0] == '\\') && (place[1] == '/' || place[1] == '\\');
    if (!is_share && !scheme_end)
        return (etl_bytes){ NULL, 0 };
    const char *host = is_share ? place + 2 : scheme_end + 3;
    size_t size = strcspn(host, "/\\?#");
    for (size_t i = 0; !is_share && i < size; i++) {
        if (host[i] == '@') {
            host += i + 1;
            size -= i + 1;
            i = SIZE_MAX; /* the last one counts */
        }
    }
    if (!is_share && size > 0 && host[0] != '[')
        size = etl_min_u64(size, strcspn(host, ":"));
    return (etl_bytes){ (const u8 *)host, size };
}

static bool is_same_host(etl_bytes a, etl_bytes b)
{
    char name[2][256];
    if (a.size == 0 || a.size != b.size || a.size >= sizeof name[0])
        return false;
    memcpy(name[0], a.at, a.size);
    memcpy(name[1], b.at, b.size);
    name[0][a.size] = name[1][b.size] = 0;
    return symbol_same_word(name[0], name[1]);
}

bool symbol_elements_name_host(const symbol_elements *elements, const char *place)
{
    const etl_bytes host = place[0] == '/' ? host_of(place) : (etl_bytes){ NULL, 0 };
    /* "//?/" and "//./" are devices and local files. */
    if (host.size == 0 || strcspn(place + 2, "?.") == 0)
        return false;
    for (size_t e = 0; e < elements->list.count; e++) {
        const symbol_element *const element = &elements->list.at[e];
        for (u32 i = 0; i < element->store_count; i++) {
            if (is_same_host(host, host_of(element->stores[i].text)))
                return true;
        }
    }
    return false;
}

static etl_status add_element(symbol_elements *elements, etl_bytes text, etl_error *err)
{
    symbol_element element = { .kind = SYMBOL_ELEMENT_FOLDER };
    etl_bytes stores = text;
    const bool has_parts = memchr(text.at, '*', text.size) != NULL;
    const etl_bytes word = take_until(&stores, '*');
    if (has_parts && is_word(word, "cache")) {
        element.kind = SYMBOL_ELEMENT_CACHE;
    } else if (has_parts && is_word(word, "srv")) {
        element.kind = SYMBOL_ELEMENT_CHAIN;
    } else if (has_parts && is_word(word, "symsrv")) {
        element.kind = SYMBOL_ELEMENT_CHAIN;
        (void)take_until(&stores, '*'); /* the DLL that would do the search on Windows */
    } else {
        element.kind = is_url(text) ? SYMBOL_ELEMENT_CHAIN : SYMBOL_ELEMENT_FOLDER;
        stores = text;
    }
    const etl_status status = add_stores(elements, &element, stores, err);
    if (status != ETL_OK)
        return status;
    return ETLHEAP_PUSH(&elements->list, element)
               ? ETL_OK
               : etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for the symbol path");
}

static etl_status add_stores(symbol_elements *elements, symbol_element *element, etl_bytes text,
                             etl_error *err)
{
    /* A cache and a folder are one place, and a folder may have a star in its name. */
    const bool is_chain = element->kind == SYMBOL_ELEMENT_CHAIN;
    do {
        if (element->store_count == SYMBOL_CHAIN_STORES_MAX)
            return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                                 "a chain of the symbol path has more than %d stores",
                                 SYMBOL_CHAIN_STORES_MAX);
        etl_bytes store = text;
        text.size = 0;
        if (is_chain) {
            text = store;
            store = take_until(&text, '*');
        }
        if (!make_store(elements, trimmed(store), &element->stores[element->store_count++]))
            return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory for the symbol path");
    } while (text.size > 0);
    return ETL_OK;
}

static bool make_store(symbol_elements *elements, etl_bytes text, symbol_store_text *out)
{
    out->place = text.size == 0 ? SYMBOL_PLACE_DEFAULT
                 : is_url(text) ? SYMBOL_PLACE_SERVER
                                : SYMBOL_PLACE_FOLDER;
    while (text.size > 1 && (text.at[text.size - 1] == '/' || text.at[text.size - 1] == '\\'))
        text.size--;
    char *const copy = etlheap_arena_alloc(&elements->texts, text.size + 1);
    if (!copy)
        return false;
    if (text.size > 0)
        memcpy(copy, text.at, text.size);
    copy[text.size] = 0;
    out->text = copy;
    return true;
}

/* What stands before the next separator; *rest is what stands behind it. */
static etl_bytes take_until(etl_bytes *rest, char separator)
{
    const u8 *const end = rest->size ? memchr(rest->at, separator, rest->size) : NULL;
    const size_t size = end ? (size_t)(end - rest->at) : rest->size;
    const etl_bytes taken = { rest->at, size };
    const size_t step = end ? size + 1 : size;
    *rest = (etl_bytes){ rest->at + step, rest->size - step };
    return taken;
}

static etl_bytes trimmed(etl_bytes text)
{
    while (text.size > 0 && strchr(WHITE_SPACE "\"", text.at[0])) {
        text.at++;
        text.size--;
    }
    while (text.size > 0 && strchr(WHITE_SPACE "\"", text.at[text.size - 1]))
        text.size--;
    return text;
}

static bool is_word(etl_bytes text, const char *word)
{
    char copy[8];
    if (text.size >= sizeof copy)
        return false;
    memcpy(copy, text.at, text.size);
    copy[text.size] = 0;
    return symbol_same_word(copy, word);
}

static bool is_url(etl_bytes text)
{
    char copy[9];
    const size_t size = etl_min_u64(text.size, sizeof copy - 1);
    memcpy(copy, text.at, size);
    copy[size] = 0;
    symbol_fold(copy, copy, false);
    return strncmp(copy, "http://", 7) == 0 || strncmp(copy, "https://", 8) == 0;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* True if the text has a %VARIABLE%. */
static bool has_variable(const char *text)
{
    while ((text = strchr(text, '%')) != NULL) {
        const char *end = text + 1;
        while (is_letter(*end) || (*end >= '0' && *end <= '9') || *end == '(' || *end == ')')
            end++;
        if (*end == '%' && end > text + 1 && is_letter(text[1]))
            return true;
        text++;
    }
    return false;
}

bool symbol_elements_is_foreign(const char *text)
{
    if (text[0] == '~' || has_variable(text))
        return true;
    if (text[0] == '$' && (text[1] == '{' || is_letter(text[1])))
        return true;
    const bool has_drive = is_letter(text[0]) && text[1] == ':' && (text[2] == '\\' || !text[2]);
    const bool is_share = text[0] == '\\' && text[1] == '\\';
    return (has_drive || is_share) && etl_path_root_size(text) == 0;
}
