/*
 * wpa_columns.h - WPA's two tables of lifetimes, and their columns.
 *
 * GUIDs and titles are those of published profiles, which spell them differently from table to
 * table ("ImpactingType", "Impacting Type"). Heap extents have a table too, but no published
 * profile states its GUIDs. Missing columns: those that no record has (Allocation Nature, Commit
 * Nature), those that are not kept (Source, Bucket, SubSegment, Decommit Stack and thread), and
 * those with an unpublished definition (SelectionLifeTime, Impacting Stack).
 */
#ifndef ETLHEAP_WPA_COLUMNS_H
#define ETLHEAP_WPA_COLUMNS_H

#include "formats/formats.h"

#include "parser/base.h"

/*
 * X(enumerator, attribute in wpa-xml, unit of the values, where, aggregation)
 *
 * where: in rows of lifetimes (LIFETIMES), in rows of sums (SUMS), or both (ALL). Rows of sums are
 * grouped by the columns without an aggregation.
 */
#define WPA_FIELDS(X)                                                                              \
    X(PROCESS_NAME, "ProcessName", "text", ALL, NULL)                                              \
    X(PROCESS, "Process", "text", ALL, NULL)                                                       \
    X(TYPE, "Type", "text", ALL, NULL)                                                             \
    X(IMPACTING_TYPE, "ImpactingType", "text", ALL, NULL)                                          \
    X(HANDLE, "Handle", "address", ALL, NULL)                                                      \
    X(STACK, "Stack", "node", ALL, NULL)                                                           \
    X(THREAD, "Thread", "number", LIFETIMES, NULL)                                                 \
    X(ADDRESS, "Address", "address", LIFETIMES, NULL)                                              \
    X(PAGE_ADDRESS, "PageAddress", "address", LIFETIMES, NULL)                                     \
    X(ALLOC_TIME, "AllocTime", "ns", LIFETIMES, NULL)                                              \
    X(FREE_TIME, "FreeTime", "ns", LIFETIMES, NULL)                                                \
    X(LIFETIME, "LifeTime", "ns", LIFETIMES, NULL)                                                 \
    X(IS_REALLOC, "IsRealloc", "boolean", LIFETIMES, NULL)                                         \
    X(FREE_TYPE, "FreeType", "text", LIFETIMES, NULL)                                              \
    X(COUNT, "Count", "number", ALL, "Sum")                                                        \
    X(IMPACTING_SIZE, "ImpactingSize", "bytes", ALL, "Sum")                                        \
    X(SIZE, "Size", "bytes", ALL, "Sum")                                                           \
    X(COUNT_PEAK, "CountPeak", "number", SUMS, "Peak")                                             \
    X(SIZE_PEAK, "SizePeak", "bytes", SUMS, "Peak")

typedef enum wpa_field {
#define WPA_FIELD_ENUM(name, attribute, unit, where, aggregation) WPA_##name,
    WPA_FIELDS(WPA_FIELD_ENUM)
#undef WPA_FIELD_ENUM
        WPA_FIELD_COUNT
} wpa_field;

typedef struct wpa_field_info {
    const char *attribute, *unit;
    const char *aggregation; /* NULL: none */
    bool of_lifetimes, of_sums;
} wpa_field_info;

const wpa_field_info *wpa_field_of(wpa_field field);

typedef struct wpa_column {
    const char *guid; /* NULL: the table has no such column */
    const char *title;
} wpa_column;

typedef struct wpa_table {
    etlheap_kind kind;
    const char *guid, *title;           /* the graph and its table */
    const char *view_guid, *view_title; /* a tab that shows it */
    const char *colour;
    const char *height; /* of the graph */
    wpa_column columns[WPA_FIELD_COUNT];
} wpa_table;

#define WPA_TABLE_COUNT 2u

const wpa_table *wpa_table_at(u32 index); /* index < WPA_TABLE_COUNT */

/* The table of a kind; NULL: none is known. */
const wpa_table *wpa_table_of(etlheap_kind kind);

/* Finds the selected kinds that have a table. ETL_ERR_ARGUMENT if none has. */
etl_status wpa_kinds_of(const etlheap_query *query, u32 *kinds, etl_error *err);

#endif
