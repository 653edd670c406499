/*
 * custom_events.h - events of allocators other than the Windows heap.
 *
 * Included by parser.h. A program with its own allocator (mimalloc, a game engine) may log an event
 * for each allocation and each free. One row describes such an allocator: the provider, the two
 * events, and where their values are. Rows for well-known allocators are built in. Users can write
 * others, which go from etl_custom_parse into etlheap_options.custom_allocators:
 *
 *     PROVIDER:alloc=ID(address@OFFSET:TYPE,size@OFFSET:TYPE),free=ID(address@OFFSET:TYPE)
 *
 *     PROVIDER  a GUID, or the name of a provider that etlheap knows
 *     ID        number of the event, decimal
 *     OFFSET    bytes from the start of the payload, decimal; "+P" adds the size of one pointer of
 *               the process: 2+P
 *     TYPE      uint16_t, uint32_t, uint64_t, ptr
 *
 * Optional values: heap@OFFSET:TYPE in both events distinguishes several heaps of the allocator;
 * size@OFFSET:TYPE in the free event means that a free may release part of a block. ",name=NAME" at
 * the end names the allocator in output: letters, digits, - and _, at most ETL_CUSTOM_NAME_MAX, or
 * ETL_CUSTOM_HEAP_NAME_MAX if it has heaps.
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

/* The place of a value in a payload. */
typedef struct etl_custom_value {
    uint16_t offset_bytes;
    uint8_t pointers; /* number of pointers to add to the offset: 0 or 1 */
    uint8_t type;     /* etl_custom_type */
} etl_custom_value;

/* The places of the values in one event. */
typedef struct etl_custom_layout {
    uint16_t id; /* of the event */
    etl_custom_value address, size, heap;
} etl_custom_layout;

/* The description of an allocator. */
typedef struct etl_custom_allocator {
    etl_guid provider;
    char name[ETL_CUSTOM_NAME_MAX + 1];
    etl_custom_layout alloc, free;
} etl_custom_allocator;

/* The built-in rows. NULL for an index beyond the count. Static; any thread. */
uint32_t etl_custom_allocator_count(void);
const etl_custom_allocator *etl_custom_allocator_at(uint32_t index);

/* [stable] Reads a row from text. An allocator without a name is called "custom". ETL_ERR_ARGUMENT:
 * the message says what is wrong, and err->offset is the position in the text. */
etl_status etl_custom_parse(const char *text, etl_custom_allocator *out, etl_error *err);

/*
 * Decodes an allocation or free of an allocator in the list, or else of a built-in one, as
 * ETL_EVENT_CUSTOM_ALLOC or ETL_EVENT_CUSTOM_FREE. *out borrows from the record and from the row.
 * False for other records, and for payloads that are too short (counted as event_truncated). Any
 * thread.
 */
bool etl_custom_decode(const etl_custom_allocator *allocators, uint32_t count,
                       const etl_record *record, etl_event *out, etl_diag_counts *diag);

#ifdef __cplusplus
}
#endif

#endif
