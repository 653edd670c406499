/*
 * units.c - formats sizes, counts, durations and dates.
 *
 * In: integers. Out: short texts: "1.02 MiB", "411K", "20.000 s", "2020-07-29T00:07:00.623615000Z".
 *
 * Everything is fixed-point arithmetic on integers. Invariant: no output depends on the locale of
 * the process, so printf's %f is not used (etlheap_units_real repairs its comma).
 */
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NS_PER_SECOND       INT64_C(1000000000)
#define FILETIME_PER_SECOND INT64_C(10000000)
#define SECONDS_PER_DAY     INT64_C(86400)
#define SHORT_COUNT_MIN     100000u

/* Days from 1601-01-01 to 0000-03-01 of the proleptic Gregorian calendar:
 * counting years from March puts the leap day last. */
#define DAYS_TO_MARCH_0    INT64_C(584694)
#define DAYS_PER_400_YEARS INT64_C(146097)

static u64 magnitude_of(i64 value);
static u64 rounded(u64 magnitude, u64 unit);
static u64 parts_of(u64 magnitude, u32 unit, u64 parts);
static void civil_of(i64 days_since_1601, i64 *year, u32 *month, u32 *day);

void etlheap_units_count(i64 value, char out[ETLHEAP_UNITS_SIZE])
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, magnitude_of(value));
    char *at = out;
    if (value < 0)
        *at++ = '-';
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *at++ = ',';
        *at++ = digits[i];
    }
    *at = '\0';
}

/* Fixed point throughout: printf's %f would follow the locale of the process. */
void etlheap_units_size(i64 size_bytes, char out[ETLHEAP_UNITS_SIZE])
{
    static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    const u64 magnitude = magnitude_of(size_bytes);
    const char *const sign = size_bytes < 0 ? "-" : "";
    u32 unit = 0;
    while (unit + 1 < ETL_COUNT_OF(names) && parts_of(magnitude, unit, 1) >= 1024)
        unit++;
    const u64 hundredths = parts_of(magnitude, unit, 100);
    const u64 tenths = parts_of(magnitude, unit, 10);
    if (unit > 0 && hundredths < 1000)
        snprintf(out, ETLHEAP_UNITS_SIZE, "%s%" PRIu64 ".%02" PRIu64 " %s", sign, hundredths / 100,
                 hundredths % 100, names[unit]);
    else if (unit > 0 && tenths < 1000)
        snprintf(out, ETLHEAP_UNITS_SIZE, "%s%" PRIu64 ".%" PRIu64 " %s", sign, tenths / 10,
                 tenths % 10, names[unit]);
    else
        snprintf(out, ETLHEAP_UNITS_SIZE, "%s%" PRIu64 " %s", sign, parts_of(magnitude, unit, 1),
                 names[unit]);
}

void etlheap_units_short_size(i64 size_bytes, char out[ETLHEAP_UNITS_SIZE])
{
    etlheap_units_size(size_bytes, out);
    char *const space = strchr(out, ' ');
    const char unit = space[1];
    space[0] = unit == 'B' ? '\0' : unit;
    space[1] = '\0';
}

void etlheap_units_short_count(i64 value, char out[ETLHEAP_UNITS_SIZE])
{
    static const char units[] = { ' ', 'k', 'M', 'G', 'T', 'P', 'E' };
    const u64 magnitude = magnitude_of(value);
    const char *const sign = value < 0 ? "-" : "";
    u64 scale = 1;
    u32 unit = 0;
    if (magnitude < SHORT_COUNT_MIN) {
        etlheap_units_count(value, out);
        return;
    }
    for (; magnitude / scale >= 1000; unit++)
        scale *= 1000;
    const u64 whole = magnitude / scale;
    const u64 hundredths = magnitude % scale / (scale / 100);
    if (whole < 10)
        snprintf(out, ETLHEAP_UNITS_SIZE, "%s%" PRIu64 ".%02" PRIu64 "%c", sign, whole, hundredths,
                 units[unit]);
    else if (whole < 100)
        snprintf(out, ETLHEAP_UNITS_SIZE, "%s%" PRIu64 ".%" PRIu64 "%c", sign, whole,
                 hundredths / 10, units[unit]);
    else
        snprintf(out, ETLHEAP_UNITS_SIZE, "%s%" PRIu64 "%c", sign, whole, units[unit]);
}

/* Rounding may carry a value into the next unit: 999.9996 ms are 1.000 s. */
void etlheap_units_duration(i64 ns, char out[ETLHEAP_UNITS_SIZE])
{
    static const struct {
        u64 ns;
        const char *name;
    } rows[] = { { 1000, "us" }, { 1000000, "ms" }, { NS_PER_SECOND, "s" } };
    const u64 magnitude = magnitude_of(ns);
    size_t row = 0;
    if (magnitude < rows[0].ns) {
        snprintf(out, ETLHEAP_UNITS_SIZE, "%" PRId64 " ns", ns);
        return;
    }
    while (row + 1 < ETL_COUNT_OF(rows) && rounded(magnitude, rows[row].ns / 1000) >= 1000000)
        row++;
    const u64 thousandths = rounded(magnitude, rows[row].ns / 1000);
    snprintf(out, ETLHEAP_UNITS_SIZE, "%s%" PRIu64 ".%03" PRIu64 " %s", ns < 0 ? "-" : "",
             thousandths / 1000, thousandths % 1000, rows[row].name);
}

void etlheap_units_estimate(i64 ns, char out[ETLHEAP_UNITS_SIZE])
{
    i64 unit = 1;
    while (ns / unit >= 100)
        unit *= 10;
    etlheap_units_duration((ns + unit / 2) / unit * unit, out);
    char *const space = strchr(out, ' ');
    char *end = space;
    if (strchr(out, '.') == NULL || space == NULL)
        return;
    while (end[-1] == '0')
        end--;
    end -= end[-1] == '.';
    memmove(end, space, strlen(space) + 1);
}

void etlheap_units_seconds(i64 ns, char out[ETLHEAP_UNITS_SIZE])
{
    const u64 magnitude = magnitude_of(ns);
    snprintf(out, ETLHEAP_UNITS_SIZE, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "",
             magnitude / (u64)NS_PER_SECOND, magnitude % (u64)NS_PER_SECOND);
}

void etlheap_units_moment(i64 ns, char out[ETLHEAP_UNITS_SIZE])
{
    etlheap_units_seconds(ns, out);
    size_t size = strlen(out);
    for (int group = 0; group < 2 && strcmp(out + size - 3, "000") == 0; group++) {
        size -= 3;
        out[size] = '\0';
    }
}

void etlheap_units_rounded_moment(i64 ns, i64 window_ns, char out[ETLHEAP_UNITS_SIZE])
{
    const int digits = window_ns >= (i64)NS_PER_SECOND ? 3 : (window_ns >= 1000000 ? 6 : 9);
    const u64 unit = digits == 3 ? 1000000 : (digits == 6 ? 1000 : 1);
    const u64 parts = rounded(magnitude_of(ns), unit);
    const u64 second = (u64)NS_PER_SECOND / unit;
    snprintf(out, ETLHEAP_UNITS_SIZE, "%s%" PRIu64 ".%0*" PRIu64, ns < 0 && parts > 0 ? "-" : "",
             parts / second, digits, parts % second);
}

void etlheap_units_date(i64 filetime, char out[ETLHEAP_UNITS_SIZE])
{
    etlheap_units_filetime(filetime, out);
    snprintf(strchr(out, '.'), 2, "Z");
}

static void drop_zone(char *time)
{
    time[strlen(time) - 1] = '\0';
}

void etlheap_units_start(const etlheap_trace_info *trace, char out[ETLHEAP_UNITS_SIZE])
{
    etlheap_units_filetime(trace->start_time_filetime, out);
    if (trace->is_local_time)
        drop_zone(out);
}

void etlheap_units_start_date(const etlheap_trace_info *trace, char out[ETLHEAP_UNITS_SIZE])
{
    etlheap_units_date(trace->start_time_filetime, out);
    if (trace->is_local_time)
        drop_zone(out);
}

void etlheap_units_filetime(i64 filetime, char out[ETLHEAP_UNITS_SIZE])
{
    i64 seconds = filetime / FILETIME_PER_SECOND;
    i64 fraction = filetime % FILETIME_PER_SECOND;
    if (fraction < 0) {
        fraction += FILETIME_PER_SECOND;
        seconds--;
    }
    i64 days = seconds / SECONDS_PER_DAY;
    i64 second = seconds % SECONDS_PER_DAY;
    if (second < 0) {
        second += SECONDS_PER_DAY;
        days--;
    }
    i64 year;
    u32 month;
    u32 day;
    civil_of(days, &year, &month, &day);
    snprintf(out, ETLHEAP_UNITS_SIZE,
             "%04" PRId64 "-%02" PRIu32 "-%02" PRIu32 "T%02d:%02d:%02d.%07" PRId64 "00Z", year,
             month, day, (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60),
             fraction);
}

bool etlheap_units_real(double value, char out[ETLHEAP_UNITS_SIZE])
{
    if (value != value || value - value != 0) {
        snprintf(out, ETLHEAP_UNITS_SIZE, "%s",
                 value != value ? "nan"
                 : value < 0    ? "-inf"
                                : "inf");
        return false;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, ETLHEAP_UNITS_SIZE, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    /* A locale that the host program has set may write a comma. */
    char *const comma = strchr(out, ',');
    if (comma != NULL)
        *comma = '.';
    return true;
}

void etlheap_units_share(i64 part, i64 whole, char out[ETLHEAP_UNITS_SIZE])
{
    out[0] = '\0';
    if (whole == 0)
        return;
    const double share = (double)part / (double)whole;
    const i64 tenths = (i64)(share * 1000 + (share < 0 ? -0.5 : 0.5));
    const u64 magnitude = magnitude_of(tenths);
    snprintf(out, ETLHEAP_UNITS_SIZE, "%s%" PRIu64 ".%" PRIu64 " %%", tenths < 0 ? "-" : "",
             magnitude / 10, magnitude % 10);
}

size_t etlheap_units_utf8_length(const char *text, size_t size)
{
    const u8 *const at = (const u8 *)text;
    if (size == 0)
        return 0;
    if (at[0] < 0x80)
        return 1;
    /* The second byte's range excludes overlong forms and surrogates. */
    const size_t length = at[0] >= 0xF0 ? 4 : (at[0] >= 0xE0 ? 3 : 2);
    const u8 lowest = at[0] == 0xE0 ? 0xA0 : (at[0] == 0xF0 ? 0x90 : 0x80);
    const u8 highest = at[0] == 0xED ? 0x9F : (at[0] == 0xF4 ? 0x8F : 0xBF);
    if (at[0] < 0xC2 || at[0] > 0xF4 || length > size)
        return 0;
    if (at[1] < lowest || at[1] > highest)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    }
    return length;
}

static u64 magnitude_of(i64 value)
{
    return value < 0 ? 0 - (u64)value : (u64)value;
}

/* Half a unit is rounded up. */
static u64 rounded(u64 magnitude, u64 unit)
{
    return magnitude / unit + (magnitude % unit * 2 >= unit ? 1 : 0);
}

/* `magnitude` in 1/parts of 1024 to the power of `unit`, rounded; parts <= 100. */
static u64 parts_of(u64 magnitude, u32 unit, u64 parts)
{
    const u32 shift = unit * 10;
    const u64 whole = magnitude >> shift;
    const u64 rest = magnitude - (whole << shift);
    /* Twenty bits of the rest decide; all of them times 100 would overflow. */
    const u32 surplus = shift > 20 ? shift - 20 : 0;
    if (unit == 0)
        return etl_min_u64(magnitude, UINT64_MAX / parts) * parts;
    const u64 half = (u64)1 << (shift - surplus - 1);
    return whole * parts + (((rest >> surplus) * parts + half) >> (shift - surplus));
}

/*
 * Day number to date. Years begin in March, so that the months' lengths follow
 * one linear rule, (153 * month + 2) / 5 days before month (0 is March).
 */
static void civil_of(i64 days_since_1601, i64 *year, u32 *month, u32 *day)
{
    const i64 days = days_since_1601 + DAYS_TO_MARCH_0;
    const i64 era = (days >= 0 ? days : days - (DAYS_PER_400_YEARS - 1)) / DAYS_PER_400_YEARS;
    const i64 day_of_era = days - era * DAYS_PER_400_YEARS;
    const i64 year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const i64 day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const i64 march_month = (5 * day_of_year + 2) / 153;
    *day = (u32)(day_of_year - (153 * march_month + 2) / 5 + 1);
    *month = (u32)(march_month < 10 ? march_month + 3 : march_month - 9);
    *year = year_of_era + era * 400 + (*month <= 2 ? 1 : 0);
}
