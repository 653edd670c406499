/*
 * symbol_logins.c - finds logins in the addresses of symbol servers. symbol_logins.h has the forms.
 *
 * In: a symbol path as typed, or a sentence that cites one. Out: the same text without logins.
 *
 *     SRV*cache*https://user:pw@host/sym ; folder     a path: stores between ; and *
 *     cannot open 'SRV*c*http://pw@host'              a sentence: its words are treated as paths
 *
 * Invariant: what is written is part of the text, in its order, so it is never longer. Whatever
 * stands before the last @ of an address is not shown, because passwords contain anything.
 */
#include "symbol_logins.h"

#include "parser/parser.h"
#include "symbol_files.h"

#define TOKEN_SIZE_MIN 20 /* bytes: a GUID has 32 digits, a personal access token 52 */
#define WHITE_SPACE    " \t\r\n"

/* Text being written. */
typedef struct shown_text {
    char *at;
    bool is_changed;
} shown_text;

static void show(shown_text *out, const char *text, size_t size)
{
    memcpy(out->at, text, size);
    out->at += size;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t count_until(etl_bytes text, const char *ends)
{
    size_t count = 0;
    while (count < text.size && strchr(ends, (char)text.at[count]) == NULL)
        count++;
    return count;
}

static etl_bytes after(etl_bytes text, size_t size)
{
    return (etl_bytes){ text.at + size, text.size - size };
}

/* The size of "https://" and its misspellings at the beginning of an address; 0: it has none. A
 * single letter is a drive of Windows. */
static size_t scheme_size(etl_bytes text)
{
    size_t size = 0;
    while (size < text.size && is_letter((char)text.at[size]))
        size++;
    if (size < 2 || size + 1 >= text.size || text.at[size] != ':' ||
        strchr("/\\", (char)text.at[size + 1]) == NULL)
        return 0;
    for (size++; size < text.size && strchr("/\\", (char)text.at[size]) != NULL;)
        size++;
    return size;
}

/* Letters and digits, too many for a word. */
static bool looks_like_token(etl_bytes part)
{
    bool digit = false, letter = false, other = false;
    for (size_t i = 0; i < part.size; i++) {
        const char c = (char)part.at[i];
        digit |= is_digit(c);
        letter |= is_letter(c);
        other |= !is_digit(c) && !is_letter(c) && strchr("-_~%=+", c) == NULL;
    }
    return part.size >= TOKEN_SIZE_MIN && digit && letter && !other;
}

/* The words after which paths of symbol and package servers have a token. */
static bool announces_token(etl_bytes part)
{
    static const char *const words[] = { "auth",    "token", "tokens", "key", "apikey", "api-key",
                                         "api_key", "pat",   "secret", "sig", "sas" };
    char copy[16];
    if (part.size >= sizeof copy)
        return false;
    memcpy(copy, part.at, part.size);
    copy[part.size] = 0;
    for (size_t i = 0; i < ETL_COUNT_OF(words); i++) {
        if (symbol_same_word(copy, words[i]))
            return true;
    }
    return false;
}

/* Shows the parts of a path, each with the slash before it, without tokens. */
static void show_parts(shown_text *out, etl_bytes path)
{
    bool is_token = false;
    while (path.size > 0) {
        const size_t size = 1 + count_until(after(path, 1), "/\\");
        const etl_bytes part = { path.at + 1, size - 1 };
        if ((is_token && part.size > 0) || looks_like_token(part) ||
            memchr(part.at, '=', part.size) != NULL)
            out->is_changed = true;
        else
            show(out, (const char *)path.at, size);
        is_token = !is_token && announces_token(part);
        path = after(path, size);
    }
}

/* "host", "host:8080" or "[::1]:8080": has a colon only before digits. */
static bool is_plain_host(etl_bytes host)
{
    const size_t name =
        host.size > 0 && host.at[0] == '[' ? count_until(host, "]") : count_until(host, ":");
    const size_t colon = name + count_until(after(host, name), ":");
    for (size_t i = colon + 1; i < host.size; i++) {
        if (!is_digit((char)host.at[i]))
            return false;
    }
    return !looks_like_token((etl_bytes){ host.at, name }) && colon + 1 != host.size;
}

/* The part of an address that follows the last @ of its host; false if it is not clear where its
 * login ends. */
static bool skip_login(etl_bytes *address)
{
    const size_t authority = count_until(*address, "/\\?#");
    size_t at = address->size;
    while (at > 0 && address->at[at - 1] != '@')
        at--;
    if (at > authority)
        return false;
    *address = after(*address, at);
    return is_plain_host((etl_bytes){ address->at, count_until(*address, "/\\?#") });
}

/* Shows an address without its login; nothing if it is not clear where the login ends. */
static void show_address(shown_text *out, etl_bytes address, size_t scheme)
{
    etl_bytes rest = after(address, scheme);
    const size_t whole = rest.size;
    if (!skip_login(&rest)) {
        out->is_changed = true;
        return;
    }
    out->is_changed |= rest.size < whole;
    show(out, (const char *)address.at, scheme);
    const size_t host = count_until(rest, "/\\?#");
    show(out, (const char *)rest.at, host);
    rest = after(rest, host);
    const size_t path = count_until(rest, "?#");
    show_parts(out, (etl_bytes){ rest.at, path });
    out->is_changed |= path < rest.size;
}

/* user:password@host, without https:// before it. Neither the two colons of C++ nor the one of a
 * drive begin a password. */
static bool has_bare_login(etl_bytes store)
{
    size_t colon = 1;
    for (; colon < store.size; colon++) {
        const char next = colon + 1 < store.size ? (char)store.at[colon + 1] : '\0';
        const bool is_drive = colon == 1 && (next == '/' || next == '\\');
        if (store.at[colon] == ':' && store.at[colon - 1] != ':' && next != ':' && !is_drive)
            break;
    }
    return colon < store.size && memchr(store.at + colon, '@', store.size - colon) != NULL;
}

/* host/symbols?sig=abc, without https:// before it. */
static size_t size_before_query(etl_bytes store)
{
    const size_t size = count_until(store, "?");
    return memchr(store.at + size, '=', store.size - size) != NULL ? size : store.size;
}

/* Shows one store of a path. Quotes, or an option that was misspelled, may precede an address. */
static void show_store(shown_text *out, etl_bytes store)
{
    size_t start = 0;
    while (start < store.size && ((start > 0 && is_letter((char)store.at[start - 1])) ||
                                  scheme_size(after(store, start)) == 0))
        start++;
    if (start < store.size) {
        show(out, (const char *)store.at, start);
        show_address(out, after(store, start), scheme_size(after(store, start)));
    } else if (has_bare_login(store)) {
        out->is_changed = true;
    } else {
        const size_t size = size_before_query(store);
        show(out, (const char *)store.at, size);
        out->is_changed |= size < store.size;
    }
}

/* Stores are between semicolons and asterisks. The separator before a store that is left out
 * goes, too. */
static void show_path(shown_text *out, etl_bytes path)
{
    bool is_first = true;
    while (path.size > 0 || is_first) {
        const size_t separator = is_first ? 0 : 1;
        const size_t size = count_until(after(path, separator), ";*");
        char *const begin = out->at;
        show(out, (const char *)path.at, separator);
        show_store(out, (etl_bytes){ path.at + separator, size });
        if (size > 0 && out->at == begin + separator)
            out->at = begin;
        path = after(path, separator + size);
        is_first = false;
    }
}

bool symbol_path_without_logins(const char *path, char *out)
{
    shown_text shown = { out, false };
    show_path(&shown, (etl_bytes){ (const u8 *)path, strlen(path) });
    *shown.at = 0;
    return shown.is_changed;
}

/* Does a word of a sentence contain an address, or stores of a symbol path? */
static bool is_path_like(etl_bytes word)
{
    bool is_address = false;
    for (size_t i = 0; i + 2 < word.size; i++)
        is_address |= word.at[i] == ':' && strchr("/\\", (char)word.at[i + 1]) != NULL && i >= 2;
    return is_address || (count_until(word, "*;") < word.size && memchr(word.at, '@', word.size));
}

/* A word ends with signs of the sentence, which stay. */
static size_t size_of_signs(etl_bytes word)
{
    size_t size = 0;
    while (size < word.size && strchr("'\":;,.)", (char)word.at[word.size - 1 - size]) != NULL)
        size++;
    return size;
}

bool symbol_sentence_without_logins(const char *sentence, char *out)
{
    shown_text shown = { out, false };
    etl_bytes rest = { (const u8 *)sentence, strlen(sentence) };
    while (rest.size > 0) {
        const size_t size = count_until(rest, WHITE_SPACE);
        const etl_bytes word = { rest.at, size };
        const size_t signs = size_of_signs(word);
        if (is_path_like(word))
            show_path(&shown, (etl_bytes){ word.at, size - signs });
        else
            show(&shown, (const char *)word.at, size - signs);
        show(&shown, (const char *)word.at + size - signs, signs);
        rest = after(rest, size);
        const size_t blanks = rest.size > 0 ? 1 : 0;
        show(&shown, (const char *)rest.at, blanks);
        rest = after(rest, blanks);
    }
    *shown.at = 0;
    return shown.is_changed;
}
