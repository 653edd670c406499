/*
 * record_view.h - a record and its event as values to write.
 *
 * Shared by both formats of dump: how a field of an event structure is read, and the stack in the
 * extended items of an EVENT record.
 */
#ifndef ETLHEAP_RECORD_VIEW_H
#define ETLHEAP_RECORD_VIEW_H

#include "formats/formats.h"

#include "parser/base.h"

typedef enum etlheap_value_kind {
    ETLHEAP_VALUE_UNSIGNED,
    ETLHEAP_VALUE_SIGNED,
    ETLHEAP_VALUE_HEX,
    ETLHEAP_VALUE_TEXT, /* converted, in the scratch text */
    ETLHEAP_VALUE_FRAMES,
    ETLHEAP_VALUE_RANGES,
    ETLHEAP_VALUE_WORKING_SETS
} etlheap_value_kind;

typedef struct etlheap_value {
    etlheap_value_kind kind;
    u64 number;        /* UNSIGNED, HEX */
    i64 signed_number; /* SIGNED */
    u32 count;         /* FRAMES, RANGES, WORKING_SETS: number of members */
    u32 width;         /* bytes of a frame or pointer */
    const u8 *at;      /* FRAMES, RANGES */
    const etl_meminfo_ws *working_sets;
    bool of_sessions; /* WORKING_SETS: of sessions, not processes */
} etlheap_value;

/* The value of a field. Text is written to *scratch, replacing its content. */
etlheap_value etlheap_value_of(const etl_event *event, const etl_field *field,
                               etlheap_text *scratch);

/* Member `index` of a FRAMES value. */
u64 etlheap_value_frame(const etlheap_value *value, u32 index);

/* Member `index` of a RANGES value. */
void etlheap_value_range(const etlheap_value *value, u32 index, u64 *address, u64 *size_bytes);

/* The stack in the extended items of an EVENT record, as a FRAMES value: the first one from *items
 * on, which is advanced. False if there is none. */
bool etlheap_value_stack(etl_bytes *items, etlheap_value *out);

#endif
