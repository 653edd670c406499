/*
 * columns.c - keys and titles of columns; see etlheap_columns.h.
 */
#include "engine/engine.h"
#include "engine/etlheap_lifetimes.h"

#include "parser/base.h"

static const struct {
    const char *key, *title;
} fields[ETLHEAP_FIELDS_COUNT] = {
#define FIELD_ROW(name, key, title) { key, title },
    ETLHEAP_FIELDS(FIELD_ROW)
#undef FIELD_ROW
};

#define FIELD_OF(name) ETLHEAP_FIELD_##name,
static const u8 key_fields[ETLHEAP_KEY_COUNT] = { ETLHEAP_KEYS(FIELD_OF) };
static const u8 measure_fields[ETLHEAP_MEASURES_COUNT] = { ETLHEAP_MEASURES(FIELD_OF) };
#undef FIELD_OF

static const struct {
    const char *word;
    etlheap_field field;
} lifetime_columns[ETLHEAP_LIFETIME_COLUMN_COUNT] = {
#define COLUMN_ROW(name, word) { word, ETLHEAP_FIELD_##name },
    ETLHEAP_LIFETIME_COLUMNS(COLUMN_ROW)
#undef COLUMN_ROW
};

const char *etlheap_field_key(etlheap_field field)
{
    return (u32)field < ETLHEAP_FIELDS_COUNT ? fields[field].key : "";
}

const char *etlheap_field_title(etlheap_field field)
{
    return (u32)field < ETLHEAP_FIELDS_COUNT ? fields[field].title : "";
}

etlheap_field etlheap_key_field(etlheap_key key)
{
    return (u32)key < ETLHEAP_KEY_COUNT ? (etlheap_field)key_fields[key] : ETLHEAP_FIELDS_COUNT;
}

const char *etlheap_key_word(etlheap_key key)
{
    return etlheap_field_key(etlheap_key_field(key));
}

const char *etlheap_key_title(etlheap_key key)
{
    return etlheap_field_title(etlheap_key_field(key));
}

etlheap_field etlheap_measure_field(etlheap_measure measure)
{
    return (u32)measure < ETLHEAP_MEASURES_COUNT ? (etlheap_field)measure_fields[measure]
                                                 : ETLHEAP_FIELDS_COUNT;
}

const char *etlheap_measure_word(etlheap_measure measure)
{
    return etlheap_field_key(etlheap_measure_field(measure));
}

const char *etlheap_measure_title(etlheap_measure measure)
{
    return etlheap_field_title(etlheap_measure_field(measure));
}

etlheap_field etlheap_lifetime_column_field(etlheap_lifetime_column column)
{
    return (u32)column < ETLHEAP_LIFETIME_COLUMN_COUNT ? lifetime_columns[column].field
                                                       : ETLHEAP_FIELDS_COUNT;
}

const char *etlheap_lifetime_column_word(etlheap_lifetime_column column)
{
    return (u32)column < ETLHEAP_LIFETIME_COLUMN_COUNT ? lifetime_columns[column].word : "";
}
