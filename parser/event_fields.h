/*
 * event_fields.h - the fields of decoded events, for output. Part of parser.h.
 *
 * A program that shows any event, as `etlheap dump` does, reads its values by these rows and knows
 * no structure of events.h.
 */
#ifndef ETL_EVENT_FIELDS_H
#define ETL_EVENT_FIELDS_H

#include "events.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a field of an event struct is stored and shown. */
typedef enum etl_field_type {
    ETL_FIELD_U16,
    ETL_FIELD_U32,
    ETL_FIELD_I32,
    ETL_FIELD_U64,
    ETL_FIELD_I64,
    ETL_FIELD_HEX32, /* uint32_t shown as "0x..." */
    ETL_FIELD_HEX64,
    ETL_FIELD_GUID,
    ETL_FIELD_TEXT8,  /* etl_bytes, 8-bit */
    ETL_FIELD_TEXT16, /* etl_bytes, UTF-16 */
    ETL_FIELD_FRAMES, /* the {frame_count, frame_bytes, frames} of a stack struct */
    ETL_FIELD_RANGES, /* etl_bytes of {address, size} pairs, pointer_bytes each */
    ETL_FIELD_WS_ROWS /* a whole etl_meminfo_ws: read it with etl_meminfo_ws_entry */
} etl_field_type;

typedef struct etl_field {
    const char *name; /* as in output: lower_snake_case */
    uint16_t offset;  /* in etl_event; of FRAMES: where frame_count is */
    uint16_t type;    /* etl_field_type */
} etl_field;

typedef struct etl_event_info {
    const etl_field *fields;
    size_t field_count;
} etl_event_info;

/* The fields of a kind, in output order; none for a number out of range. Static. */
const etl_event_info *etl_event_describe(etl_event_kind kind);

#ifdef __cplusplus
}
#endif

#endif
