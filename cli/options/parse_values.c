/*
 * parse_values.c - reads values that people type: times, durations, sizes, counts, ranges, lists
 * and patterns.
 *
 * In: one complete argument. Out: integers: nanoseconds, bytes, counts; or false if it is
 * malformed.
 *
 *     "1.5s"   digits ──▶ decimal { 15, power -1 } ──× 10^9──▶ 1500000000 ns
 *
 * A number is kept as value × 10^power and scaled once, so no value passes through floating point
 * and none depends on the locale. Invariants: fractions below a nanosecond or byte are rounded
 * towards zero, and a value that does not fit is refused, never wrapped; reading `READ_TOO_LARGE`
 * tells callers the difference.
 */
#include "parse_values.h"

#include <stdlib.h>

#define NS_POWER            9 /* a second is 10 to the 9 nanoseconds */
#define NS_PER_SECOND       INT64_C(1000000000)
#define FILETIME_UNIX_EPOCH INT64_C(116444736000000000) /* 1970-01-01 */
#define NS_PER_FILETIME     100
#define EXPONENT_MAX        400
#define FRACTION_UNIT_MAX   UINT64_C(1000000000000000000) /* 18 digits; twice it fits */
#define PPM_OF_PERCENT      10000u
#define RANGE_END_SIZE      64

/* A decimal number: value * 10 to the power. */
typedef struct decimal {
    u64 value;
    int power;
    bool negative;
} decimal;

typedef struct unit {
    const char *name;
    int power;
    u32 times; /* the power of ten */
} unit;

/* The outcome of reading a word. */
typedef enum reading {
    READ_NOTHING, /* it is of another form */
    READ_VALUE,
    READ_TOO_LARGE /* its form is right, its value does not fit */
} reading;

/* "us" also with the micro sign and with the Greek letter. */
static const unit time_units[] = { { "s", NS_POWER, 1 },    { "ms", 6, 1 },
                                   { "us", 3, 1 },          { "ns", 0, 1 },
                                   { "\xC2\xB5s", 3, 1 },   { "\xCE\xBCs", 3, 1 },
                                   { "min", NS_POWER, 60 }, { "h", NS_POWER, 3600 } };

static bool parse_decimal(const char **text, decimal *out);
static bool parse_digits(const char **text, decimal *out);
static bool parse_exponent(const char **text, decimal *out);
static bool scale(const decimal *number, int power, i64 *out);
static reading read_span(const char *text, i64 *ns);
static reading read_instant(const char *text, i64 *ns);
static reading read_time(const char *text, cli_time *out);
static bool read_end(const char *text, size_t size, cli_time *out);
static reading read_size(const char *text, u64 *size_bytes);
static bool parse_date(const char **text, i64 *days);
static bool parse_clock(const char **text, i64 *seconds, i64 *fraction_ns);
static bool parse_zone(const char **text, i64 *seconds);
static bool parse_fixed(const char **text, int digits, i64 min, i64 max, i64 *out);
static bool is_digit(char c);
static bool split_range(const char *text, char low[RANGE_END_SIZE], char high[RANGE_END_SIZE]);

bool cli_parse_time(const char *text, cli_time *out)
{
    return read_end(text, strlen(text), out);
}

/* Reads one end of a range. For a mark, only its name is kept; it may be long. */
static bool read_end(const char *text, size_t size, cli_time *out)
{
    static const char prefix[] = "mark:";
    const size_t prefix_size = sizeof prefix - 1;
    char copy[RANGE_END_SIZE];
    if (size > prefix_size && memcmp(text, prefix, prefix_size) == 0) {
        *out = (cli_time){ .given = true,
                           .mark = text + prefix_size,
                           .mark_size = size - prefix_size };
        return true;
    }
    if (size >= sizeof copy)
        return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    return read_time(copy, out) == READ_VALUE;
}

static reading read_time(const char *text, cli_time *out)
{
    cli_time time = { .given = true };
    reading what = read_span(text, &time.ns);
    if (what == READ_NOTHING) {
        time.is_instant = true;
        what = read_instant(text, &time.ns);
    }
    if (what == READ_VALUE)
        *out = time;
    return what;
}

bool cli_time_resolve(const cli_time *time, i64 start_filetime, i64 *ns)
{
    i64 start_ns;
    if (!time->is_instant) {
        *ns = time->ns;
        return true;
    }
    return !__builtin_sub_overflow(start_filetime, FILETIME_UNIX_EPOCH, &start_ns) &&
           !__builtin_mul_overflow(start_ns, NS_PER_FILETIME, &start_ns) &&
           !__builtin_sub_overflow(time->ns, start_ns, ns);
}

bool cli_parse_duration(const char *text, i64 *ns)
{
    i64 value;
    if (read_span(text, &value) != READ_VALUE || value < 0)
        return false;
    *ns = value;
    return true;
}

bool cli_parse_time_range(const char *text, cli_time *from, cli_time *to)
{
    const char *const dots = strstr(text, "..");
    const size_t low_size = dots ? (size_t)(dots - text) : strlen(text);
    const char *const high = dots ? dots + 2 : text;
    *from = (cli_time){ .given = false };
    *to = (cli_time){ .given = false };
    return low_size + strlen(high) > 0 && (low_size == 0 || read_end(text, low_size, from)) &&
           (high[0] == '\0' || read_end(high, strlen(high), to));
}

bool cli_parse_size(const char *text, u64 *size_bytes)
{
    return read_size(text, size_bytes) == READ_VALUE;
}

/* Takes a unit such as "K", "KiB" or "kb" and returns its power of two. */
static u32 take_size_unit(const char **text)
{
    static const char letters[] = "kmgt";
    const char *at = *text;
    const char *const letter = *at != '\0' ? strchr(letters, cli_lower(*at)) : NULL;
    if (letter) {
        at++;
        if (cli_lower(at[0]) == 'i' && cli_lower(at[1]) == 'b')
            at++;
    }
    if (cli_lower(*at) == 'b')
        at++;
    *text = at;
    return letter ? 10 * (u32)(letter - letters + 1) : 0;
}

/* Long division: each doubling of the fraction yields one more bit of the result. The fraction that
 * is dropped is less than two millionths of a byte. */
static reading read_size(const char *text, u64 *size_bytes)
{
    u64 whole = 0, fraction = 0, fraction_unit = 1;
    bool fits = true, point = false;
    u32 digits = 0;
    for (; is_digit(*text) || (*text == '.' && !point); text++) {
        const u64 digit = (u64)(*text - '0');
        if (*text == '.') {
            point = true;
            continue;
        }
        digits++;
        if (!point) {
            fits = fits && !__builtin_mul_overflow(whole, 10, &whole) &&
                   !__builtin_add_overflow(whole, digit, &whole);
        } else if (fraction_unit < FRACTION_UNIT_MAX) {
            fraction = fraction * 10 + digit;
            fraction_unit *= 10;
        }
    }
    const u32 power = take_size_unit(&text);
    if (digits == 0 || *text != '\0')
        return READ_NOTHING;
    for (u32 i = 0; i < power; i++) {
        fits = fits && whole >> 63 == 0;
        fraction *= 2;
        whole = whole << 1 | (fraction >= fraction_unit ? 1 : 0);
        fraction -= fraction >= fraction_unit ? fraction_unit : 0;
    }
    if (!fits)
        return READ_TOO_LARGE;
    *size_bytes = whole;
    return READ_VALUE;
}

bool cli_time_is_too_large(const char *text)
{
    char low[RANGE_END_SIZE], high[RANGE_END_SIZE];
    cli_time time;
    return split_range(text, low, high) &&
           (read_time(low, &time) == READ_TOO_LARGE || read_time(high, &time) == READ_TOO_LARGE);
}

bool cli_size_is_too_large(const char *text)
{
    char low[RANGE_END_SIZE], high[RANGE_END_SIZE];
    u64 size_bytes;
    return split_range(text, low, high) && (read_size(low, &size_bytes) == READ_TOO_LARGE ||
                                            read_size(high, &size_bytes) == READ_TOO_LARGE);
}

bool cli_parse_count(const char *text, u64 max, u64 *out)
{
    u64 value = 0;
    if (*text == '\0')
        return false;
    for (; is_digit(*text); text++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (u64)(*text - '0'), &value))
            return false;
    }
    if (*text != '\0' || value > max)
        return false;
    *out = value;
    return true;
}

bool cli_parse_percent(const char *text, u32 *ppm)
{
    char integer[RANGE_END_SIZE];
    u64 value = 0;
    u32 step = PPM_OF_PERCENT;
    const size_t size = strcspn(text, ".%");
    if (size >= sizeof integer)
        return false;
    memcpy(integer, text, size);
    integer[size] = '\0';
    if (!cli_parse_count(integer, 100, &value))
        return false;
    value *= PPM_OF_PERCENT;
    text += size;
    if (*text == '.') {
        for (text++; is_digit(*text) && step >= 10; text++) {
            step /= 10;
            value += step * (u64)(*text - '0');
        }
    }
    text += *text == '%';
    *ppm = (u32)value;
    return *text == '\0' && value <= 100 * PPM_OF_PERCENT;
}

bool cli_parse_handle(const char *text, u64 *out)
{
    static const char digits[] = "0123456789abcdef";
    if (text[0] != '0' || cli_lower(text[1]) != 'x')
        return cli_parse_count(text, UINT64_MAX, out);
    u64 value = 0;
    text += 2;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        const char *const digit = strchr(digits, cli_lower(*text));
        if (!digit || value >> 60 != 0)
            return false;
        value = value << 4 | (u64)(digit - digits);
    }
    *out = value;
    return true;
}

bool cli_parse_duration_range(const char *text, i64 *min_ns, i64 *max_ns, bool *empty)
{
    char low[RANGE_END_SIZE];
    char high[RANGE_END_SIZE];
    i64 min = 0;
    i64 max = INT64_MAX;
    *empty = false;
    if (!split_range(text, low, high))
        return false;
    if ((low[0] != '\0' && !cli_parse_duration(low, &min)) ||
        (high[0] != '\0' && !cli_parse_duration(high, &max)))
        return false;
    *empty = min > max;
    if (*empty)
        return false;
    *min_ns = min;
    *max_ns = max;
    return true;
}

/* Parses "A..B"; either end may be missing, and `parse_end` reads them. */
static bool parse_range(const char *text, bool (*parse_end)(const char *text, u64 *out), u64 *first,
                        u64 *last, bool *empty)
{
    char low[RANGE_END_SIZE];
    char high[RANGE_END_SIZE];
    u64 min = 0;
    u64 max = UINT64_MAX;
    *empty = false;
    if (!split_range(text, low, high))
        return false;
    if ((low[0] != '\0' && !parse_end(low, &min)) || (high[0] != '\0' && !parse_end(high, &max)))
        return false;
    *empty = min > max;
    if (*empty)
        return false;
    *first = min;
    *last = max;
    return true;
}

bool cli_parse_size_range(const char *text, u64 *min_bytes, u64 *max_bytes, bool *empty)
{
    return parse_range(text, cli_parse_size, min_bytes, max_bytes, empty);
}

bool cli_parse_address_range(const char *text, u64 *first, u64 *last, bool *empty)
{
    return parse_range(text, cli_parse_handle, first, last, empty);
}

bool cli_next_word(const char **list, char word[CLI_WORD_SIZE])
{
    const size_t size = strcspn(*list, ",");
    if (size == 0 || size >= CLI_WORD_SIZE)
        return false;
    memcpy(word, *list, size);
    word[size] = '\0';
    *list += size;
    /* A trailing comma is left in place: the next call fails, and the caller reports it. */
    if (**list == ',' && (*list)[1] != '\0')
        (*list)++;
    return true;
}

bool cli_parse_pattern(char *text, etlheap_pattern *out)
{
    char *const mark = strchr(text, '!');
    const char *module = mark ? text : "";
    const char *symbol = mark ? mark + 1 : text;
    if (mark)
        *mark = '\0';
    if (strcmp(module, "*") == 0)
        module = "";
    if (strcmp(symbol, "*") == 0)
        symbol = "";
    *out = (etlheap_pattern){
        .module = *module != '\0' ? module : NULL,
        .symbol = *symbol != '\0' ? symbol : NULL,
    };
    return out->module || out->symbol;
}

/* "[+-]digits[.digits][e[+-]digits]"; digits may be missing on one side of the point. */
static bool parse_decimal(const char **text, decimal *out)
{
    const char *at = *text;
    decimal number = { .negative = *at == '-' };
    at += *at == '-' || *at == '+' ? 1 : 0;
    if (!parse_digits(&at, &number) || !parse_exponent(&at, &number))
        return false;
    *text = at;
    *out = number;
    return true;
}

/* When the value is full, further digits before the point only raise the power, and those after it
 * are ignored. scale() then refuses the value unless a negative exponent makes it fit. */
static bool parse_digits(const char **text, decimal *out)
{
    const char *at = *text;
    bool point = false;
    int digits = 0;
    bool full = false;
    for (; is_digit(*at) || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        digits++;
        u64 value;
        full = full || __builtin_mul_overflow(out->value, 10, &value) ||
               __builtin_add_overflow(value, (u64)(*at - '0'), &value);
        if (!full)
            out->value = value;
        if (!full && point)
            out->power--;
        if (full && !point && out->power < EXPONENT_MAX)
            out->power++;
    }
    *text = at;
    return digits > 0;
}

static bool parse_exponent(const char **text, decimal *out)
{
    const char *at = *text;
    if (cli_lower(*at) != 'e')
        return true;
    at++;
    const bool negative = *at == '-';
    at += *at == '-' || *at == '+' ? 1 : 0;
    if (!is_digit(*at))
        return false;
    int exponent = 0;
    for (; is_digit(*at); at++)
        exponent = exponent < EXPONENT_MAX ? exponent * 10 + (*at - '0') : exponent;
    out->power += negative ? -exponent : exponent;
    *text = at;
    return true;
}

/* The number times 10 to `power`, rounded towards zero. */
static bool scale(const decimal *number, int power, i64 *out)
{
    u64 value = number->value;
    int shift = number->power + power;
    for (; shift < 0 && value != 0; shift++)
        value /= 10;
    for (; shift > 0 && value != 0; shift--) {
        if (__builtin_mul_overflow(value, 10, &value))
            return false;
    }
    if (value > INT64_MAX)
        return false;
    *out = number->negative ? -(i64)value : (i64)value;
    return true;
}

/* A number with a unit of time right behind it. */
static reading read_span(const char *text, i64 *ns)
{
    decimal number;
    if (!parse_decimal(&text, &number))
        return READ_NOTHING;
    /* Zero is the same in every unit. */
    if (*text == '\0' && number.value == 0) {
        *ns = 0;
        return READ_VALUE;
    }
    for (size_t i = 0; i < ETL_COUNT_OF(time_units); i++) {
        if (strcmp(text, time_units[i].name) != 0)
            continue;
        if (__builtin_mul_overflow(number.value, time_units[i].times, &number.value))
            return READ_TOO_LARGE;
        return scale(&number, time_units[i].power, ns) ? READ_VALUE : READ_TOO_LARGE;
    }
    return READ_NOTHING;
}

/* Reads a date and, if present, the time of day and the zone. Years 1 to 9999 are read; those too
 * far from 1970 for 64 bits of nanoseconds do not fit. */
static reading read_instant(const char *text, i64 *ns)
{
    i64 days;
    i64 seconds = 0;
    i64 fraction_ns = 0;
    i64 zone_seconds = 0;
    if (!parse_date(&text, &days))
        return READ_NOTHING;
    if (cli_lower(*text) == 't' || *text == ' ') {
        text++;
        if (!parse_clock(&text, &seconds, &fraction_ns) || !parse_zone(&text, &zone_seconds))
            return READ_NOTHING;
    }
    if (*text != '\0')
        return READ_NOTHING;
    seconds += days * 86400 - zone_seconds;
    i64 whole_ns;
    const bool fits = !__builtin_mul_overflow(seconds, NS_PER_SECOND, &whole_ns) &&
                      !__builtin_add_overflow(whole_ns, fraction_ns, ns);
    return fits ? READ_VALUE : READ_TOO_LARGE;
}

/* The days from 1970-01-01 to a date of the Gregorian calendar. Years start in March, so that the
 * leap day is the last day of a year. */
static bool parse_date(const char **text, i64 *days)
{
    static const i64 lengths[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    i64 year;
    i64 month;
    i64 day;
    if (!parse_fixed(text, 4, 1, 9999, &year) || *(*text)++ != '-' ||
        !parse_fixed(text, 2, 1, 12, &month) || *(*text)++ != '-' ||
        !parse_fixed(text, 2, 1, lengths[month - 1], &day))
        return false;
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (month == 2 && day == 29 && !leap)
        return false;
    const i64 march_year = month > 2 ? year : year - 1;
    const i64 march_month = month > 2 ? month - 3 : month + 9;
    *days = march_year * 365 + march_year / 4 - march_year / 100 + march_year / 400 +
            (153 * march_month + 2) / 5 + day - 1 - 719468;
    return true;
}

/* "hh:mm[:ss[.fraction]]" */
static bool parse_clock(const char **text, i64 *seconds, i64 *fraction_ns)
{
    i64 hour;
    i64 minute;
    i64 second = 0;
    if (!parse_fixed(text, 2, 0, 23, &hour) || *(*text)++ != ':' ||
        !parse_fixed(text, 2, 0, 59, &minute))
        return false;
    if (**text == ':') {
        (*text)++;
        if (!parse_fixed(text, 2, 0, 59, &second))
            return false;
    }
    if (**text == '.') {
        decimal fraction = { 0 };
        if (!is_digit((*text)[1]) || !parse_digits(text, &fraction) ||
            !scale(&fraction, NS_POWER, fraction_ns))
            return false;
    }
    *seconds = hour * 3600 + minute * 60 + second;
    return true;
}

/* "Z", "+02:00", or nothing: UTC. */
static bool parse_zone(const char **text, i64 *seconds)
{
    i64 hours;
    i64 minutes;
    const char sign = **text;
    if (cli_lower(sign) == 'z')
        (*text)++;
    if (sign != '+' && sign != '-')
        return true;
    (*text)++;
    if (!parse_fixed(text, 2, 0, 23, &hours) || *(*text)++ != ':' ||
        !parse_fixed(text, 2, 0, 59, &minutes))
        return false;
    *seconds = (hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
    return true;
}

/* Parses exactly `digits` digits; the value must be in the range. */
static bool parse_fixed(const char **text, int digits, i64 min, i64 max, i64 *out)
{
    i64 value = 0;
    for (int i = 0; i < digits; i++) {
        if (!is_digit((*text)[i]))
            return false;
        value = value * 10 + ((*text)[i] - '0');
    }
    *text += digits;
    *out = value;
    return value >= min && value <= max;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Splits "A..B" into its ends; for "A" alone, both ends are A. False if both are empty. */
static bool split_range(const char *text, char low[RANGE_END_SIZE], char high[RANGE_END_SIZE])
{
    const char *const dots = strstr(text, "..");
    const size_t low_size = dots ? (size_t)(dots - text) : strlen(text);
    const char *const high_text = dots ? dots + 2 : text;
    const size_t high_size = strlen(high_text);
    if (low_size >= RANGE_END_SIZE || high_size >= RANGE_END_SIZE || low_size + high_size == 0)
        return false;
    memcpy(low, text, low_size);
    low[low_size] = '\0';
    memcpy(high, high_text, high_size + 1);
    return true;
}
