/* description_internal.h - shared by the code that reads descriptions and walks fields
 * (private). */
#ifndef ETL_DESCRIPTION_INTERNAL_H
#define ETL_DESCRIPTION_INTERNAL_H

#include "layout.h"
#include "layout_descriptions.h"
#include "parser/cursor.h"
#include "parser/described.h"

/* Reads the UTF-16 name at an offset of an EventInfo or a map; empty for offset 0. False: the
 * offset is out of range. */
bool etl_info_text(etl_bytes info, u32 offset, etl_text *out);

/* Skips tag bytes. */
void etl_skip_tags(etl_cursor *c);

/* The source of a count or a length. */
typedef enum etl_bound {
    ETL_BOUND_NONE,     /* one value; or the length follows from the type */
    ETL_BOUND_FIXED,    /* a constant */
    ETL_BOUND_PROPERTY, /* the value of the property with this number */
    ETL_BOUND_PREFIX    /* u16 in the payload */
} etl_bound;

/* How a value is shown, if its type does not decide it. */
typedef enum etl_shown {
    ETL_SHOWN_PLAIN,
    ETL_SHOWN_HEX,
    ETL_SHOWN_BOOL,
    ETL_SHOWN_TEXT,
    ETL_SHOWN_PORT, /* u16, highest byte first */
    ETL_SHOWN_IPV4,
    ETL_SHOWN_IPV6,
    ETL_SHOWN_FILETIME,
    ETL_SHOWN_SIGNED,
    ETL_SHOWN_UNSIGNED
} etl_shown;

/* The largest number of properties and values that a walk reads: many times what a payload has. */
#define ETL_WALK_WORK_MAX (1u << 20)

/* Reads the property at *at, and advances *at. False: there is none, or it is damaged. */
bool etl_property_read(etl_walk *walk, u32 *at, etl_property *out);

/* Skips the members of a structure, which follow it in TraceLogging. */
bool etl_property_skip_members(etl_walk *walk, u32 *at, u32 members);

/* Computes a count or a length. False: it is that of a property that was not kept. */
bool etl_bound_resolve(const etl_walk *walk, u8 by, u32 stated, u32 *out);

/* Reads a value of a property from the cursor, which fails if too short. False: an unknown type, so
 * the next value cannot be found. */
bool etl_value_read(const etl_walk *walk, const etl_property *p, etl_cursor *c, etl_value *out);

#endif
