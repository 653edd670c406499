/* allocation_rows.h - shared by lists of lifetimes: a lifetime as a row of a table, and frames as
 * text. */
#ifndef ETLHEAP_ALLOCATION_ROWS_H
#define ETLHEAP_ALLOCATION_ROWS_H

#include "columns.h"
#include "formats/io/text_buffer.h"

/* X(field, value of the lifetime `l`): the columns of a list. CSV and JSON have the keys below in
 * place of the first four. */
#define ETLHEAP_ALLOCATION_COLUMNS(X)                                                              \
    X(KIND, etlheap_value_text(etlheap_kind_name((etlheap_kind)l->kind)))                          \
    X(HEAP, etlheap_value_heap(l->has_heap, l->heap_handle, l->heap_name))                         \
    X(TYPE, etlheap_value_text(etlheap_type_name((etlheap_type)l->type)))                          \
    X(FREE_TYPE, etlheap_value_text(etlheap_free_type_name((etlheap_free_type)l->free_type)))      \
    X(IS_REALLOC, etlheap_value_if(true, ETLHEAP_VALUE_TRUTH, l->is_realloc))                      \
    X(ADDRESS, etlheap_value_if(true, ETLHEAP_VALUE_ADDRESS, l->address))                          \
    X(SIZE, etlheap_value_if(!etlheap_kinds_are_counted(1u << l->kind), ETLHEAP_VALUE_COUNT,       \
                             l->size_bytes))                                                       \
    X(ALLOC_TIME, etlheap_value_time(l->alloc_ns))                                                 \
    X(FREE_TIME, etlheap_value_time(l->free_ns))                                                   \
    X(LIFETIME, etlheap_value_time(l->lifetime_ns))                                                \
    X(THREAD, etlheap_value_if(l->thread != ETL_NO_ID, ETLHEAP_VALUE_COUNT, l->thread))            \
    X(FREE_THREAD,                                                                                 \
      etlheap_value_if(l->free_thread != ETL_NO_ID, ETLHEAP_VALUE_COUNT, l->free_thread))

typedef enum etlheap_allocation_column {
#define ETLHEAP_ALLOCATION_ENUM(name, value) ETLHEAP_ALLOCATION_##name,
    ETLHEAP_ALLOCATION_COLUMNS(ETLHEAP_ALLOCATION_ENUM)
#undef ETLHEAP_ALLOCATION_ENUM
        ETLHEAP_ALLOCATION_COLUMN_COUNT
} etlheap_allocation_column;

extern const etlheap_field etlheap_allocation_fields[ETLHEAP_ALLOCATION_COLUMN_COUNT];
void etlheap_allocation_values(const etlheap_lifetime *l,
                               etlheap_value out[ETLHEAP_ALLOCATION_COLUMN_COUNT]);

/* The keys at the start of a row, in all formats. */
#define ETLHEAP_ALLOCATION_KEYS 5
extern const etlheap_key etlheap_allocation_keys[ETLHEAP_ALLOCATION_KEYS];

/* Makes a row with the lifetime's keys, for functions that write keys; it has no measures. */
etlheap_row etlheap_allocation_row(const etlheap_lifetimes *walk, const etlheap_lifetime *lifetime);

/* Texts of frames, as from etlheap_text_add_frame; for a terminal, with the function first. Lists
 * have the same frames many times, so each text is made once. Start from {0}. */
typedef struct etlheap_frame_texts {
    bool is_shown; /* for a terminal: replaces what cannot be printed */
    etlheap_text text, scratch;
    size_t *ends; /* by frame */
    u32 count, capacity;
    bool failed; /* out of memory: missing texts are "" */
} etlheap_frame_texts;

/* The text of a frame of the table, without a NUL; valid until the next call. The table may get new
 * frames, but must keep the ones it has. */
etl_bytes etlheap_frame_texts_of(etlheap_frame_texts *texts, const etlheap_table *table, u32 frame);
void etlheap_frame_texts_free(etlheap_frame_texts *texts);

#endif
