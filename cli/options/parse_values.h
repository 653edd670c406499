/*
 * parse_values.h - parses the values of options: times, sizes, ranges, lists, patterns.
 *
 * Each parser takes a complete argument and returns false if it is malformed. The caller, who knows
 * the option, reports what was expected. Nothing depends on the locale, and no value passes through
 * floating point. Fractions of a nanosecond or a byte are rounded towards zero. Values out of range
 * are refused; cli_time_is_too_large and cli_size_is_too_large recognize them.
 */
#ifndef CLI_PARSE_VALUES_H
#define CLI_PARSE_VALUES_H

#include "engine/engine.h"

#include "parser/base.h"

/* A point in time: since the start of the trace, on the calendar, or a mark. */
typedef struct cli_time {
    bool given;
    bool is_instant;
    i64 ns;           /* since the start of the trace; for a calendar time: since 1970-01-01 UTC */
    const char *mark; /* name of a mark, in the parsed text, which must stay; NULL: none */
    size_t mark_size;
} cli_time;

/* The small letter of an ASCII capital; any other character as it is. */
static inline char cli_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* "12s", "350ms", "1.5e6us", "800ns", "10min", "1h", "-1s", "0", or ISO 8601:
 * "2020-07-29T00:07:10.5Z", "2020-07-29 00:07+02:00"; without a zone it is UTC. Or
 * "mark:load", "mark:load#2". */
bool cli_parse_time(const char *text, cli_time *out);

/* Converts a time to nanoseconds since the start of a trace that began at `start_filetime`. False
 * if a calendar time is too far from it for an i64. Not for marks. */
bool cli_time_resolve(const cli_time *time, i64 start_filetime, i64 *ns);

/* "12s" and similar, not negative. */
bool cli_parse_duration(const char *text, i64 *ns);

/* Two times. In "A.." and "..B" the missing end has given == false; "A" alone sets both
 * ends to A. */
bool cli_parse_time_range(const char *text, cli_time *from, cli_time *to);

/* "100", "64K", "1.5M", "2GiB", "10kb": units are powers of 1024. */
bool cli_parse_size(const char *text, u64 *size_bytes);

/* A percentage with at most four decimals, such as 5, 0.1 or 2.5%, up to 100, in millionths. */
bool cli_parse_percent(const char *text, u32 *ppm);

/* Decimal digits, at most `max`. */
bool cli_parse_count(const char *text, u64 max, u64 *out);

/* "0x1f0000", or decimal digits. */
bool cli_parse_handle(const char *text, u64 *out);

/* "A..B", "A..", "..B" or "A"; both ends are inclusive. One end may be left out. Also false if A is
 * above B: see *empty. */
bool cli_parse_duration_range(const char *text, i64 *min_ns, i64 *max_ns, bool *empty);
bool cli_parse_size_range(const char *text, u64 *min_bytes, u64 *max_bytes, bool *empty);

/* A range of addresses, "0x7ff61000..0x7ff62000", written as handles. */
bool cli_parse_address_range(const char *text, u64 *first, u64 *last, bool *empty);

/* Call it after a parser refused a word: true if the word, or an end of its range, is a well-formed
 * time or size that is out of range. Times reach 2^63 ns, about 292 years, from the start of the
 * trace and from 1970; sizes reach 2^64 bytes. */
bool cli_time_is_too_large(const char *text);
bool cli_size_is_too_large(const char *text);

/* Copies the first word of a comma-separated list to word[CLI_WORD_SIZE], and moves *list past it
 * and its comma. False at the end, or, with *list unchanged, if the word is empty or too long. */
#define CLI_WORD_SIZE 64
bool cli_next_word(const char **list, char word[CLI_WORD_SIZE]);

/* "[module!][symbol]": cuts the text at its "!", in place; the pattern points into it. A missing
 * part or "*" matches anything. False if both are missing. */
bool cli_parse_pattern(char *text, etlheap_pattern *out);

#endif
