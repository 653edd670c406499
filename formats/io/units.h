/*
 * units.h - numbers, times and characters as text for people and programs.
 *
 * Every function writes a short text into a buffer of ETLHEAP_UNITS_SIZE bytes. None depends on a
 * locale.
 */
#ifndef ETLHEAP_UNITS_H
#define ETLHEAP_UNITS_H

#include "engine/engine.h"

#include "parser/base.h"

#define ETLHEAP_UNITS_SIZE 48

/* "-1,234,567" */
void etlheap_units_count(i64 value, char out[ETLHEAP_UNITS_SIZE]);

/* Bytes by powers of 1024: "17 B", "3.37 KiB", "126 MiB"; never more than four
 * digits. */
void etlheap_units_size(i64 size_bytes, char out[ETLHEAP_UNITS_SIZE]);

/* For narrow columns, at most five characters and a sign: "17", "3.37K", "126M". Counts are exact
 * below 100,000, then cut: "99,999", "123k", "1.23M". */
void etlheap_units_short_size(i64 size_bytes, char out[ETLHEAP_UNITS_SIZE]);
void etlheap_units_short_count(i64 value, char out[ETLHEAP_UNITS_SIZE]);

/* A span of time for people, rounded: "12.345 s", "100.000 ms", "800 ns". Pages round alike:
 * formatDuration() in formats/html/view_format.js. */
void etlheap_units_duration(i64 ns, char out[ETLHEAP_UNITS_SIZE]);

/* An estimate of a span of time, to two digits: "5.8 us", "120 ms". */
void etlheap_units_estimate(i64 ns, char out[ETLHEAP_UNITS_SIZE]);

/* Seconds with nine digits: "-0.000000100". Exact. */
void etlheap_units_seconds(i64 ns, char out[ETLHEAP_UNITS_SIZE]);

/* The same with three digits, or six or nine if they are needed: "5.000", "20.000012". Exact. */
void etlheap_units_moment(i64 ns, char out[ETLHEAP_UNITS_SIZE]);

/* Seconds, rounded to three digits if the window lasts a second or more, to six if it lasts a
 * millisecond or more. Pages round alike: formatTime() in formats/html/view_format.js. */
void etlheap_units_rounded_moment(i64 ns, i64 window_ns, char out[ETLHEAP_UNITS_SIZE]);

/* ISO 8601 in UTC with nine digits: "2020-07-29T00:07:00.623615000Z". */
void etlheap_units_filetime(i64 filetime, char out[ETLHEAP_UNITS_SIZE]);

/* The same to the second, which has begun: "2020-07-29T00:07:00Z". */
void etlheap_units_date(i64 filetime, char out[ETLHEAP_UNITS_SIZE]);

/* When the trace began, in both forms; without the Z if it is local time. */
void etlheap_units_start(const etlheap_trace_info *trace, char out[ETLHEAP_UNITS_SIZE]);
void etlheap_units_start_date(const etlheap_trace_info *trace, char out[ETLHEAP_UNITS_SIZE]);

/* The shortest decimal number that reads back as the same value. False: "nan", "inf" or "-inf". */
bool etlheap_units_real(double value, char out[ETLHEAP_UNITS_SIZE]);

/* "97.3 %", the share of part in whole; "" if whole is 0. */
void etlheap_units_share(i64 part, i64 whole, char out[ETLHEAP_UNITS_SIZE]);

/* The number of bytes of the valid UTF-8 character at `text`; 0 if there is none. Overlong forms,
 * surrogates and values past U+10FFFF are invalid. */
size_t etlheap_units_utf8_length(const char *text, size_t size);

#endif
