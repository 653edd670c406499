/*
 * custom_events.h - events of allocators that are not Windows' own.
 *
 * Included by parser.h. A program with an allocator of its own (mimalloc, a game engine)
 * may log an event for each allocation and each free, with a provider of its own. Such an
 * allocator is described by one row: the provider, the two events, and where their values
 * lie. Rows of well-known allocators are built in; others are written by the user:
 *
 *     PROVIDER:alloc=ID(address@OFFSET:TYPE,size@OFFSET:TYPE),free=ID(address@OFFSET:TYPE)
 *
 *     PROVIDER  a GUID, or the name of a provider that we know
 *     ID        the event's number, decimal
 *     OFFSET    bytes from the start of the payload, decimal; "+P" after it adds the
 *               size of one pointer of the process: 2+P
 *     TYPE      u16, u32, u64, ptr
 *
 * Further values: heap@OFFSET:TYPE in both events tells several heaps of the allocator
 * apart; size@OFFSET:TYPE in the free event says that a free may give back part of a
 * block. ",name=NAME" at the end names the allocator in output: letters, digits, - and _,
 * no more than ETL_CUSTOM_NAME_MAX, with heaps ETL_CUSTOM_HEAP_NAME_MAX.
 */
#ifndef ETL_CUSTOM_EVENTS_H
#define ETL_CUSTOM_EVENTS_H

#include "parser.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ETL_CUSTOM_NAME_MAX      9
#define ETL_CUSTOM_HEAP_NAME_MAX 6

typedef enum etl_custom_type {
    ETL_CUSTOM_NONE, /* the event has no such value */
    ETL_CUSTOM_U16,
    ETL_CUSTOM_U32,
    ETL_CUSTOM_U64,
    ETL_CUSTOM_PTR
} etl_custom_type;

typedef struct etl_custom_value {
    u16 offset_bytes;
    u8 pointers; /* so many pointers lie before it besides: 0 or 1 */
    u8 type;     /* etl_custom_type */
} etl_custom_value;

typedef struct etl_custom_layout {
    u16 id; /* of the event */
    etl_custom_value address, size, heap;
} etl_custom_layout;

typedef struct etl_custom_allocator {
    etl_guid provider;
    char name[ETL_CUSTOM_NAME_MAX + 1];
    etl_custom_layout alloc, free;
} etl_custom_allocator;

/* The rows that are built in. NULL for an index from the count on. */
u32 etl_custom_allocator_count(void);
const etl_custom_allocator *etl_custom_allocator_at(u32 index);

/*
 * Reads a row from text. ETL_ERR_ARGUMENT: the message says what is wrong and
 * `offset` at which byte of the text. An allocator without a name is called "custom".
 */
etl_status etl_custom_parse(const char *text, etl_custom_allocator *out, etl_error *err);

/*
 * The allocation or free of an allocator of the list, or else of one that is built in, as
 * ETL_EVENT_CUSTOM_ALLOC or _FREE. False for other records, and with event_truncated
 * counted for payloads that are too short. The event points to the allocator's name.
 */
bool etl_custom_decode(const etl_custom_allocator *allocators, u32 count, const etl_record *record,
                       etl_event *out, etl_diag_counts *diag);

#ifdef __cplusplus
}
#endif

#endif
