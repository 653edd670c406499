/* suspect_parts.h - texts about suspects, shared by all formats. */
#ifndef ETLHEAP_SUSPECT_PARTS_H
#define ETLHEAP_SUSPECT_PARTS_H

#include "columns.h"

/* X(field, value of the suspect `s`, whose row has the measures `m`): the numbers of a suspect. */
#define SUSPECT_COLUMNS(X)                                                                         \
    X(SCORE, etlheap_value_count(s->score))                                                        \
    X(ALLOC_COUNT, etlheap_value_number(s->alloc_count))                                           \
    X(NEVER_FREED_COUNT, etlheap_value_number(s->never_freed_count))                               \
    X(NEVER_FREED_SIZE, etlheap_value_number(s->never_freed_size))                                 \
    X(OUTSTANDING_SIZE, etlheap_value_number(m[ETLHEAP_MEASURE_OUTSTANDING_SIZE]))                 \
    X(OUTSTANDING_SHARE, etlheap_value_number(s->outstanding_share))                               \
    X(OUTSTANDING_COUNT, etlheap_value_number(m[ETLHEAP_MEASURE_OUTSTANDING_COUNT]))               \
    X(GROWTH_RATE, etlheap_value_number(m[ETLHEAP_MEASURE_GROWTH_RATE]))                           \
    X(STEADINESS, etlheap_value_number(m[ETLHEAP_MEASURE_STEADINESS]))                             \
    X(FIRST, etlheap_value_number(s->first_ns))                                                    \
    X(LAST, etlheap_value_number(s->last_ns))                                                      \
    X(OLDEST, etlheap_value_number(s->oldest_ns))                                                  \
    X(TYPICAL_LIFETIME, etlheap_value_number(s->typical_lifetime_ns))

enum { SUSPECT_COLUMN_COUNT = SUSPECT_COLUMNS(ETLHEAP_COLUMN_ONE) };

extern const etlheap_field_list suspect_columns;
void suspect_values(const etlheap_row *row, const etlheap_suspect *s,
                    etlheap_value out[SUSPECT_COLUMN_COUNT]);

/* Appends why the row is a suspect, as one sentence. */
void suspect_add_reason(const etlheap_row *row, const etlheap_suspect *suspect, etlheap_text *text);

/* Appends "53 of 60". */
void suspect_add_never_freed(const etlheap_suspect *suspect, etlheap_text *text);

/* Appends the share of the outstanding memory, "12.5 %". */
void suspect_add_share(const etlheap_suspect *suspect, etlheap_text *text);

/* Appends the ids of its threads, separated by `separator`, and "..." if there are more. */
void suspect_add_threads(const etlheap_suspect *suspect, const char *separator, etlheap_text *text);

/* True if the key is worth showing to people next to the others. The site is the first frame of the
 * stack, so it is not. */
bool suspect_shows_key(const etlheap_table *table, etlheap_key key);

/* Appends the number of suspects and of groups, or that there are no suspects. */
void suspect_add_verdict(const etlheap_suspects *suspects, etlheap_text *text);

#endif
