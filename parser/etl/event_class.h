/* event_class.h - the known GUIDs of classes and providers (private to the parser). */
#ifndef ETL_EVENT_CLASS_H
#define ETL_EVENT_CLASS_H

#include "parser/parser.h"
#include "layout_events.h"

typedef struct etl_class_row {
    etl_guid guid;
    u8 class_number;  /* etl_class; ETL_CLASS_NONE: only the name is known */
    const char *name; /* spelled as in the tools */
} etl_class_row;

/* The row of a GUID (16 bytes), or NULL. */
const etl_class_row *etl_class_of_guid(const u8 *guid);

/* The rows in table order; the index must be less than etl_class_row_count(). */
size_t etl_class_row_count(void);
const etl_class_row *etl_class_row_at(size_t index);

/* True for records whose GUID is a class and whose opcode is a type. */
static inline bool etl_record_is_classic(const etl_record *record)
{
    return record->header >= ETL_HEADER_FULL32 && record->header <= ETL_HEADER_INSTANCE64;
}

/* Not a known class and type; larger than any key. */
#define ETL_KEY_NONE ((u16)0xffffu)

/*
 * The class and type of a record with a GUID as one number: class << 8 | type, where image loads
 * have the hook id used elsewhere; for a provider with a manifest: provider << 8 | id. ETL_KEY_NONE
 * for messages, unknown classes, and ids above 255; else class < ETL_CLASS_COUNT.
 */
u16 etl_guid_record_key(const etl_record *record);

/* The key of any record; its hook id if it has one. */
static inline u16 etl_record_key(const etl_record *record)
{
    if (!record->has_hook)
        return etl_guid_record_key(record);
    return record->hook >> 8 < ETL_CLASS_HOOK_COUNT ? record->hook : ETL_KEY_NONE;
}

#endif
