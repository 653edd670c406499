/*
 * symbol_origin.c - reads and writes the files that symbol_origin.h describes.
 *
 *     etlheap-part 1
 *     url https://example.com/symbols/app.pdb/app.pdb
 *     etag "5f3a-59e1"
 *     bytes 147456
 *
 * Invariant: a file that is cut short, or of a later form, is no origin.
 */
#include "symbol_origin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "parser/system/files.h"

#define TEXT_BYTES_MAX (SYMBOL_URL_SIZE + SYMBOL_VALIDATOR_SIZE + 128)
#define FIRST_LINE     "etlheap-part 1"

static const char *const words[SYMBOL_VALIDATOR_COUNT] = {
#define VALIDATOR_WORD(name, word) word,
    SYMBOL_VALIDATORS(VALIDATOR_WORD)
#undef VALIDATOR_WORD
};

/* The next line, without its end; NULL if the text ends before. */
static char *take_line(char **text)
{
    char *const line = *text;
    char *const end = strchr(line, '\n');
    if (!end)
        return NULL;
    *end = '\0';
    *text = end + 1;
    return line;
}

/* What stands behind a word and a blank; NULL if the line begins otherwise. */
static const char *value_of(const char *line, const char *word)
{
    const size_t size = strlen(word);
    return line && strncmp(line, word, size) == 0 && line[size] == ' ' ? line + size + 1 : NULL;
}

static bool take_validator(symbol_origin *out, const char *line)
{
    for (u32 kind = SYMBOL_VALIDATOR_NONE + 1; kind < SYMBOL_VALIDATOR_COUNT; kind++) {
        const char *const value = value_of(line, words[kind]);
        if (value) {
            out->kind = (symbol_validator)kind;
            return symbol_validator_take(out->validator, out->kind, value);
        }
    }
    return false;
}

static bool parse(char *text, symbol_origin *out)
{
    const char *const first = take_line(&text);
    const char *const url = first ? value_of(take_line(&text), "url") : NULL;
    const bool is_ours = first && strcmp(first, FIRST_LINE) == 0 && url;
    if (!is_ours || strlen(url) >= sizeof out->url || !take_validator(out, take_line(&text)))
        return false;
    memcpy(out->url, url, strlen(url) + 1);
    const char *const bytes = value_of(take_line(&text), "bytes");
    if (!bytes || *bytes < '0' || *bytes > '9')
        return false;
    out->total_bytes = strtoull(bytes, NULL, 10);
    return true;
}

bool symbol_origin_read(const symbol_partial *partial, symbol_origin *out)
{
    char name[SYMBOL_FILE_SIZE];
    char text[TEXT_BYTES_MAX + 1];
    *out = (symbol_origin){ .kind = SYMBOL_VALIDATOR_NONE };
    if (!symbol_partial_origin(partial, name) || !symbol_is_file(name))
        return false;
    const size_t size = etl_file_start(name, text, TEXT_BYTES_MAX);
    text[size] = '\0';
    if (strlen(text) == size && parse(text, out))
        return true;
    *out = (symbol_origin){ .kind = SYMBOL_VALIDATOR_NONE };
    return false;
}

bool symbol_origin_write(const symbol_partial *partial, const symbol_origin *origin)
{
    char name[SYMBOL_FILE_SIZE];
    char text[TEXT_BYTES_MAX];
    const int size =
        snprintf(text, sizeof text, "%s\nurl %s\n%s %s\nbytes %" PRIu64 "\n", FIRST_LINE,
                 origin->url, words[origin->kind], origin->validator, origin->total_bytes);
    if (origin->kind == SYMBOL_VALIDATOR_NONE || size < 0 || (size_t)size >= sizeof text ||
        !symbol_partial_origin(partial, name))
        return false;
    (void)etl_file_remove(name); /* a link in the way is not followed */
    const int file = etl_file_create_new(name);
    if (file < 0)
        return false;
    const bool is_written = etl_file_write(file, text, (size_t)size);
    if (etl_file_close(file) && is_written)
        return true;
    (void)etl_file_remove(name);
    return false;
}

bool symbol_validator_take(char out[SYMBOL_VALIDATOR_SIZE], symbol_validator kind,
                           const char *value)
{
    const size_t size = strlen(value);
    out[0] = '\0';
    if (size == 0 || size >= SYMBOL_VALIDATOR_SIZE)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (value[i] < ' ' || value[i] > '~')
            return false;
    }
    if (kind == SYMBOL_VALIDATOR_ETAG && (value[0] != '"' || size < 2 || value[size - 1] != '"'))
        return false;
    memcpy(out, value, size + 1);
    return true;
}
