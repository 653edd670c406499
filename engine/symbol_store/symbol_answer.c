/*
 * symbol_answer.c - see symbol_answer.h. Source: RFC 9110, 8.8 (validators), 13.1.5 (If-Range),
 * 14.4 (Content-Range) and 15.3.7 (206 repeats the ETag that a 200 would have).
 */
#include "symbol_answer.h"

#include <stdio.h>
#include <stdlib.h>

#define LINE_BYTES_MAX 1024

static void take_range(symbol_answer *answer, const char *value)
{
    const char *const unit = strstr(value, "bytes ");
    const char *const slash = strchr(value, '/');
    if (!unit || !slash)
        return;
    answer->has_range = true;
    answer->range_start = unit[6] == '*' ? 0 : strtoull(unit + 6, NULL, 10);
    answer->range_total = slash[1] == '*' ? 0 : strtoull(slash + 1, NULL, 10);
}

/* HTTP/1 has to say where a body ends; later versions always do. */
static void begin(symbol_answer *answer, const char *line)
{
    *answer = (symbol_answer){ .is_framed = strncmp(line, "HTTP/1", 6) != 0 &&
                                            strncmp(line, "HTTP/0", 6) != 0 };
}

/* "chunked" is always the last coding. */
static bool ends_in_chunked(const char *value)
{
    static const char chunked[] = "chunked";
    const size_t size = strlen(value), word = sizeof chunked - 1;
    return size >= word && symbol_same_word(value + size - word, chunked);
}

void symbol_answer_line(symbol_answer *answer, etl_bytes line)
{
    char text[LINE_BYTES_MAX];
    size_t size = line.size;
    if (size >= sizeof text)
        return;
    if (size > 0)
        memcpy(text, line.at, size);
    while (size > 0 && strchr("\r\n \t", text[size - 1]) && text[size - 1] != '\0')
        size--;
    text[size] = '\0';
    if (strncmp(text, "HTTP/", 5) == 0)
        begin(answer, text);
    char *value = strchr(text, ':');
    if (!value)
        return;
    *value++ = '\0';
    value += strspn(value, " \t");
    if (symbol_same_word(text, "content-range"))
        take_range(answer, value);
    else if (symbol_same_word(text, "content-length"))
        answer->is_framed = true;
    else if (symbol_same_word(text, "transfer-encoding"))
        answer->is_framed |= ends_in_chunked(value);
    else if (symbol_same_word(text, "etag"))
        (void)symbol_validator_take(answer->etag, SYMBOL_VALIDATOR_ETAG, value);
    else if (symbol_same_word(text, "last-modified"))
        (void)symbol_validator_take(answer->date, SYMBOL_VALIDATOR_DATE, value);
}

void symbol_answer_origin(const symbol_answer *answer, symbol_origin *out)
{
    const char *const validator = answer->etag[0] ? answer->etag : answer->date;
    out->kind = answer->etag[0]   ? SYMBOL_VALIDATOR_ETAG
                : answer->date[0] ? SYMBOL_VALIDATOR_DATE
                                  : SYMBOL_VALIDATOR_NONE;
    memcpy(out->validator, validator, strlen(validator) + 1);
}

/* A 206 must repeat an ETag, but need not repeat a date that it was asked for. */
bool symbol_answer_continues(const symbol_answer *answer, const symbol_origin *origin,
                             u64 part_bytes)
{
    if (!answer->has_range || answer->range_start != part_bytes || answer->range_total == 0 ||
        (origin->total_bytes != 0 && answer->range_total != origin->total_bytes))
        return false;
    if (origin->kind == SYMBOL_VALIDATOR_ETAG)
        return strcmp(answer->etag, origin->validator) == 0;
    return origin->kind == SYMBOL_VALIDATOR_DATE &&
           (answer->date[0] == '\0' || strcmp(answer->date, origin->validator) == 0);
}
