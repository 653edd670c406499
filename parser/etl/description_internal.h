/*
 * description_internal.h - what reading descriptions and walking fields share (private).
 */
#ifndef ETL_DESCRIPTION_INTERNAL_H
#define ETL_DESCRIPTION_INTERNAL_H

#include "layout.h"
#include "layout_descriptions.h"
#include "parser/cursor.h"
#include "parser/described.h"

/* The UTF-16 name at an offset of an EventInfo or a map; empty for offset 0. False: the
 * offset lies outside. */
bool etl_info_text(etl_bytes info, u32 offset, etl_text *out);

/* Moves behind tag bytes. */
void etl_skip_tags(etl_cursor *c);

/* Where a count or a length is. */
typedef enum etl_bound {
    ETL_BOUND_NONE,     /* one value; a length that the type itself says */
    ETL_BOUND_FIXED,    /* the number */
    ETL_BOUND_PROPERTY, /* the value of the property of that number */
    ETL_BOUND_PREFIX    /* u16 in the payload */
} etl_bound;

/* How a value is shown, as far as its type does not say it. */
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

/* Properties and values that one walk may read: what is in a payload, many times over. */
#define ETL_WALK_WORK_MAX (1u << 20)

/* Reads the property at *at, which moves past it. False: there is none, or it is damaged. */
bool etl_property_read(etl_walk *walk, u32 *at, etl_property *out);

/* Moves behind the members of a structure, which in TraceLogging stand behind it. */
bool etl_property_skip_members(etl_walk *walk, u32 *at, u32 members);

/* What a count or a length comes to. False: that of a property that is not kept. */
bool etl_bound_resolve(const etl_walk *walk, u8 by, u32 stated, u32 *out);

/* Reads a value of a property from the cursor, which fails when it is too short. False: a
 * type that we do not know, which leaves no way to find the next value. */
bool etl_value_read(const etl_walk *walk, const etl_property *p, etl_cursor *c, etl_value *out);

#endif
