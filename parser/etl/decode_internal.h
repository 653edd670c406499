/*
 * decode_internal.h - shared by the hand-written decoders (private to the parser).
 *
 * A decoder is a body and a row function. The body, `read_<name>`, reads a payload with the pointer
 * width of `p`. ETL_DECODER makes the row function, which calls it with the constant width 4 or 8,
 * so that the compiler removes the other width and, after etl_need, the checks of single fields. A
 * file begins with its row functions, followed by their bodies.
 *
 * A body checks the length first, reads into locals and assigns the whole event structure at the
 * end, so it publishes nothing on failure.
 */
#ifndef ETL_DECODE_INTERNAL_H
#define ETL_DECODE_INTERNAL_H

#include "parser/cursor.h"
#include "parser/parser.h"
#include "event_class.h"
#include "layout_events.h"

/* The data of a record that a body needs. */
typedef struct etl_payload {
    etl_cursor c;
    unsigned width; /* of a pointer: 4 or 8 */
    u16 version;
    u8 type;
    u32 header_pid; /* for the oldest layouts, which lack a process id */
    etl_diag_counts *diag;
} etl_payload;

/* A row function. False: the payload is too short, and nothing was written. */
typedef bool etl_decode_fn(const etl_record *record, etl_event *out, etl_diag_counts *diag);

static inline etl_payload etl_payload_of(const etl_record *record, unsigned width,
                                         etl_diag_counts *diag)
{
    return (etl_payload){
        .c = etl_cursor_of(record->payload),
        .width = width,
        .version = record->version,
        .type = record->opcode,
        .header_pid = record->pid,
        .diag = diag,
    };
}

#define ETL_DECODER(name)                                                                          \
    static inline bool read_##name(etl_payload p, etl_event *out);                                 \
    bool etl_decode_##name(const etl_record *record, etl_event *out, etl_diag_counts *diag)        \
    {                                                                                              \
        return record->pointer_bytes == 4 ? read_##name(etl_payload_of(record, 4, diag), out)      \
                                          : read_##name(etl_payload_of(record, 8, diag), out);     \
    }

/* The result of a body for an event that ends in a string: whether it used the payload to the last
 * byte and found nothing odd; see ETL_DECODER_BY_FIT. */
typedef enum etl_fit { ETL_FIT_NONE, ETL_FIT_LOOSE, ETL_FIT_EXACT } etl_fit;

/*
 * For events that tools log in classic form. A 32-bit tool may log the payload of a 64-bit system
 * (seen in 42 records), and then the header states the wrong width. If a classic payload does not
 * quite fit its stated width but fits the other one exactly, the other one is used.
 */
#define ETL_DECODER_BY_FIT(name)                                                                   \
    static inline etl_fit read_##name(etl_payload p, etl_event *out);                              \
    bool etl_decode_##name(const etl_record *record, etl_event *out, etl_diag_counts *diag)        \
    {                                                                                              \
        const unsigned width = record->pointer_bytes == 4 ? 4 : 8;                                 \
        const unsigned other_width = 12 - width;                                                   \
        const etl_fit fit = read_##name(etl_payload_of(record, width, diag), out);                 \
        if (fit == ETL_FIT_EXACT || !etl_record_is_classic(record))                                \
            return fit != ETL_FIT_NONE;                                                            \
        etl_event other = { .kind = ETL_EVENT_NONE };                                              \
        if (read_##name(etl_payload_of(record, other_width, diag), &other) != ETL_FIT_EXACT)       \
            return fit != ETL_FIT_NONE;                                                            \
        out->as = other.as;                                                                        \
        out->pointer_bytes = (u8)other_width;                                                      \
        return true;                                                                               \
    }

etl_decode_fn etl_decode_heap_alloc, etl_decode_heap_realloc, etl_decode_heap_free,
    etl_decode_heap_snapshot;

etl_decode_fn etl_decode_virtual_memory, etl_decode_heap_range_rundown, etl_decode_meminfo_ws;

etl_decode_fn etl_decode_process, etl_decode_process_defunct, etl_decode_thread, etl_decode_image;

etl_decode_fn etl_decode_stack, etl_decode_stack_key, etl_decode_stack_definition;

etl_decode_fn etl_decode_config_cpu, etl_decode_device_family, etl_decode_lost_event;

etl_decode_fn etl_decode_event_description, etl_decode_event_map;

#endif
