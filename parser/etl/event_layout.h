/*
 * event_layout.h - lists of values as data, and the decoder table (private to the parser).
 *
 * The lists are those of event_rows.h. ETL_LAYOUT_OF makes an array of one, and does not compile if
 * a value does not fit its member.
 */
#ifndef ETL_EVENT_LAYOUT_H
#define ETL_EVENT_LAYOUT_H

#include "decode_internal.h"
#include "event_rows.h"

/* One value, or a gap. */
typedef struct etl_layout_item {
    u8 type;      /* etl_bytes_type */
    u8 since;     /* the version that added it */
    bool is_late; /* read together with all other late ones, or not at all */
    bool is_gap;  /* skipped: no member */
    u16 member;   /* offset in etl_event */
} etl_layout_item;

typedef struct etl_layout {
    const etl_layout_item *items;
    size_t count;
} etl_layout;

/* A row of the decoder table: either decode or a layout. */
typedef struct etl_decoder {
    etl_decode_fn *decode;
    etl_layout layout;
    const char *name; /* "Heap/Alloc" */
    u8 kind;          /* etl_event_kind */
    u8 version_max;   /* the newest version with a known layout */
} etl_decoder;

/* The row of a key, or NULL. */
const etl_decoder *etl_decoder_of_key(u16 key);

/* Reads the payload of a record. False: too short, and nothing was written. */
bool etl_layout_read(const etl_layout *layout, const etl_record *record, etl_event *out);

/* The type of the member for a value. */
#define ETL_MEMBER_U8     u8
#define ETL_MEMBER_U16    u16
#define ETL_MEMBER_U32    u32
#define ETL_MEMBER_U64    u64
#define ETL_MEMBER_PTR    u64
#define ETL_MEMBER_PTRS8  u64
#define ETL_MEMBER_GUID   etl_guid
#define ETL_MEMBER_TEXT8  etl_bytes
#define ETL_MEMBER_TEXT16 etl_bytes

/* The offset of a member. Does not compile if the member has another type. */
#define ETL_MEMBER_AT(type, member)                                                                \
    (u16) _Generic(((etl_event *)0)->as.member, ETL_MEMBER_##type : offsetof(etl_event, as.member))

#define ETL_ITEM_VALUE(since, type, member, shown, label)                                          \
    { ETL_BYTES_##type, since, false, false, ETL_MEMBER_AT(type, member) },
#define ETL_ITEM_LATE(since, type, member, shown, label)                                           \
    { ETL_BYTES_##type, since, true, false, ETL_MEMBER_AT(type, member) },
#define ETL_ITEM_GAP(since, type) { ETL_BYTES_##type, since, false, true, 0 },
#define ETL_ITEMS_OF(list)                                                                         \
    (const etl_layout_item[])                                                                      \
    {                                                                                              \
        ETL_LAYOUT_##list(ETL_ITEM_VALUE, ETL_ITEM_GAP, ETL_ITEM_LATE)                             \
    }
#define ETL_LAYOUT_OF(list)                                                                        \
    {                                                                                              \
        ETL_ITEMS_OF(list), sizeof(ETL_ITEMS_OF(list)) / sizeof(etl_layout_item)                   \
    }

#endif
