/*
 * columns.h - the columns of an answer as rows of a table, and the values of a row of the answer.
 *
 * An answer lists its columns once, as X(name, value): the field, which has a key, a title and a
 * unit, and an expression for the value of a row. Numbers of columns, fields and values follow:
 *
 *     #define SUSPECT_COLUMNS(X)                     \
 *         X(SCORE, etlheap_value_count(s->score))    \
 *         ...
 *     static const etlheap_field fields[] = { SUSPECT_COLUMNS(ETLHEAP_COLUMN_FIELD) };
 *     const etlheap_value values[] = { SUSPECT_COLUMNS(ETLHEAP_COLUMN_VALUE) };
 *
 * A format writes any of the columns in any order: those of an etlheap_field_list. The drivers are
 * etlheap_csv_fields, etlheap_csv_values and etlheap_json_values.
 */
#ifndef ETLHEAP_VALUE_COLUMNS_H
#define ETLHEAP_VALUE_COLUMNS_H

#include "formats/formats.h"

#include "parser/base.h"

#define ETLHEAP_COLUMN_FIELD(name, value) ETLHEAP_FIELD_##name,
#define ETLHEAP_COLUMN_VALUE(name, value) value,
#define ETLHEAP_COLUMN_ONE(name, value)   +1 /* to count them */

/* What a value is, and so how it is written. */
typedef enum etlheap_value_form {
    ETLHEAP_VALUE_UNKNOWN, /* null in JSON, empty in CSV */
    ETLHEAP_VALUE_NUMBER,  /* an i64 */
    ETLHEAP_VALUE_COUNT,   /* a u64 */
    ETLHEAP_VALUE_TIME,    /* ns, an i64 */
    ETLHEAP_VALUE_ADDRESS,
    ETLHEAP_VALUE_HEAP, /* a handle; its text is the name that the recording gives it, or NULL */
    ETLHEAP_VALUE_TRUTH,
    ETLHEAP_VALUE_TEXT,
    ETLHEAP_VALUE_PROCESS /* a name, maybe one that no record has */
} etlheap_value_form;

typedef struct etlheap_value {
    etlheap_value_form form;
    u64 number;
    const char *text; /* borrowed */
} etlheap_value;

static inline etlheap_value etlheap_value_if(bool is_known, etlheap_value_form form, u64 number)
{
    return (etlheap_value){ is_known ? form : ETLHEAP_VALUE_UNKNOWN, number, NULL };
}

static inline etlheap_value etlheap_value_number(i64 number)
{
    return etlheap_value_if(number != ETLHEAP_NOT_KNOWN, ETLHEAP_VALUE_NUMBER, (u64)number);
}

static inline etlheap_value etlheap_value_count(u64 count)
{
    return etlheap_value_if(true, ETLHEAP_VALUE_COUNT, count);
}

static inline etlheap_value etlheap_value_heap(bool is_known, u64 handle, const char *name)
{
    return (etlheap_value){ is_known ? ETLHEAP_VALUE_HEAP : ETLHEAP_VALUE_UNKNOWN, handle, name };
}

/* Neither before the trace nor never is a time. */
static inline etlheap_value etlheap_value_time(i64 ns)
{
    return etlheap_value_if(ns != INT64_MIN && ns != INT64_MAX, ETLHEAP_VALUE_TIME, (u64)ns);
}

static inline etlheap_value etlheap_value_text(const char *text)
{
    return (etlheap_value){ text ? ETLHEAP_VALUE_TEXT : ETLHEAP_VALUE_UNKNOWN, 0, text };
}

static inline etlheap_value etlheap_value_process(const char *name)
{
    return (etlheap_value){ ETLHEAP_VALUE_PROCESS, 0, name };
}

/* Makes values of fields in bytes unknown, if the kind has no sizes. */
void etlheap_values_hide(u32 kind, const etlheap_field *fields, etlheap_value *values, u32 count);

/* The columns that a format writes. */
typedef struct etlheap_field_list {
    const etlheap_field *fields; /* of the answer's table */
    const u8 *shown;             /* their numbers, in order; NULL: the first `count` */
    u32 count;
} etlheap_field_list;

static inline u32 etlheap_column_at(const etlheap_field_list *columns, u32 index)
{
    return columns->shown ? columns->shown[index] : index;
}

#endif
