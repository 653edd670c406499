/*
 * parse_values.h - values of options: times, sizes, ranges, lists, patterns.
 *
 * Each parser takes a complete argument and returns false if it is malformed. The
 * caller, who knows the option, reports what was expected. Nothing depends on the
 * locale, and no value passes through floating point. Fractions of a nanosecond or a
 * byte are rounded towards zero. Values out of range are refused, for which
 * cli_time_is_too_large and cli_size_is_too_large give the reason.
 */
#ifndef CLI_PARSE_VALUES_H
#define CLI_PARSE_VALUES_H

#include "engine/engine.h"

/* A point in time: since the start of the trace, on the calendar, or a mark. */
typedef struct cli_time {
    bool given;
    bool is_instant;
    i64 ns;           /* since the start of the trace; of an instant, since 1970-01-01 UTC */
    const char *mark; /* NULL: none; its name, in the text that was read, which stays */
    size_t mark_size;
} cli_time;

/* "12s", "350ms", "1.5e6us", "800ns", "-1s", "0", or ISO 8601:
 * "2020-07-29T00:07:10.5Z", "2020-07-29 00:07+02:00"; without a zone it is UTC. Or
 * "mark:load", "mark:load#2". */
bool cli_parse_time(const char *text, cli_time *out);

/* Nanoseconds since the start of a trace that began at `start_filetime`; false
 * when an instant is centuries away from it. Not of marks. */
bool cli_time_resolve(const cli_time *time, i64 start_filetime, i64 *ns);

/* "12s" and the like, not negative. */
bool cli_parse_duration(const char *text, i64 *ns);

/* Two times. In "A.." and "..B" the missing end has given == false; "A" alone sets both
 * ends to A. */
bool cli_parse_time_range(const char *text, cli_time *from, cli_time *to);

/* "100", "64K", "1.5M", "2GiB", "10kb": units are powers of 1024. */
bool cli_parse_size(const char *text, u64 *size_bytes);

/* Decimal digits, at most `max`. */
bool cli_parse_count(const char *text, u64 max, u64 *out);

/* "0x1f0000", or decimal digits. */
bool cli_parse_handle(const char *text, u64 *out);

/* "A..B", "A..", "..B" or "A" alone; both ends belong to the range. Either end
 * may be left out, not both. False as well when A is above B: see *empty. */
bool cli_parse_duration_range(const char *text, i64 *min_ns, i64 *max_ns, bool *empty);
bool cli_parse_size_range(const char *text, u64 *min_bytes, u64 *max_bytes, bool *empty);

/* The same for addresses, "0x7ff61000..0x7ff62000", in the form of handles. */
bool cli_parse_address_range(const char *text, u64 *first, u64 *last, bool *empty);

/* After a parser refused a word: is it, or an end of the range that it is, a time or a
 * size of the right form whose value does not fit? Times reach 2^63 ns, some 292 years,
 * from the start of the trace and from 1970; sizes reach 2^64 bytes. */
bool cli_time_is_too_large(const char *text);
bool cli_size_is_too_large(const char *text);

/* The first of a comma-separated list into word[CLI_WORD_SIZE]; *list moves past
 * it and its comma. False at the end, or with *list unmoved when the word is
 * empty or too long. */
#define CLI_WORD_SIZE 64
bool cli_next_word(const char **list, char word[CLI_WORD_SIZE]);

/* "[module!][symbol]": cuts the text at its "!", in place, and the pattern points into
 * it. A part that is absent or "*" matches anything. False when both parts are. */
bool cli_parse_pattern(char *text, etlheap_pattern *out);

/* Levenshtein distance, ignoring ASCII case; UINT32_MAX if a word is longer than 32
 * bytes. */
u32 cli_edit_distance(const char *a, const char *b);

#endif
