/*
 * decode_check.h - checks decoders against hand-written payloads.
 *
 * A vector is one payload in hexadecimal, taken down field by field from the
 * layout in layout_events.h, and the line that its event must print when every
 * field of etl_event_describe() is written out. So a vector checks the decoder
 * and the field table at once. From each vector follow checks that hold for all
 * events: the kind of header does not matter, each cut of the payload fails
 * cleanly, more bytes behind it change nothing, a newer version reads as the
 * newest known.
 *
 * Every check returns true, or false with the reason in `why`.
 */
#ifndef TESTS_DECODE_CHECK_H
#define TESTS_DECODE_CHECK_H

#include "parser/base.h"
#include "parser/parser.h"

#define DECODE_WHY_SIZE 4096

/* In decode_vector.least: no cut of the payload decodes. */
#define WHOLE SIZE_MAX

typedef struct decode_vector {
    const char *name;   /* what this one shows */
    u16 key;            /* hook id, or class << 8 | type for classes without one */
    u16 version;        /* of the payload */
    u8 pointer_bytes;   /* 4 or 8 */
    const char *hex;    /* the payload; blanks are ignored */
    const char *event;  /* "Heap/Free heap_handle=0x1f0000 ..." */
    size_t least;       /* bytes of the shortest cut that still decodes, or WHOLE */
    size_t least_short; /* a shorter length that decodes as well, or 0 */
    bool open_ended;    /* bytes behind it belong to it: frames, missing strings */
    bool newest;        /* of the newest version known */
} decode_vector;

/* The payload of a vector in memory of exactly its size, which the caller frees. */
u8 *decode_vector_payload(const decode_vector *vector, size_t *size);

/* A record with this payload, hook or class GUID, and the given kind of header.
 * Header pid is 77. */
etl_record decode_vector_record(const decode_vector *vector, etl_bytes payload,
                                etl_header_kind header);

/* The event of a record as one line: the name and all fields. */
void decode_print_event(const etl_record *record, const etl_event *event, char *out,
                        size_t capacity);

bool decode_in_all_headers(const decode_vector *vector, char why[DECODE_WHY_SIZE]);
bool decode_cuts_cleanly(const decode_vector *vector, char why[DECODE_WHY_SIZE]);
bool decode_ignores_more_bytes(const decode_vector *vector, char why[DECODE_WHY_SIZE]);
bool decode_takes_newer_version(const decode_vector *vector, char why[DECODE_WHY_SIZE]);

#endif
