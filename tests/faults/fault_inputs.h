/*
 * fault_inputs.h - what can become of a trace, one input after the other.
 *
 * A *material* is a sound trace; a *harm* makes inputs of it, each by a number, so
 * that any of them can be made again alone.
 */
#ifndef TESTS_FAULT_INPUTS_H
#define TESTS_FAULT_INPUTS_H

#include "parser/base.h"
#include "parser/parser.h"

/* The places of a trace where a flipped bit means something. */
typedef struct fault_material {
    const char *name;
    u8 *bytes;
    size_t size;
    etl_buffer_info *buffers;
    u32 buffer_count;
    u32 *header_bytes; /* offsets of bytes of headers: buffers, log file, records */
    size_t header_byte_count;
    bool is_counted; /* its header says how many buffers there are */
} fault_material;

/* Takes over the bytes (from malloc). False: they are no trace. */
bool fault_material_open(fault_material *out, const char *name, u8 *bytes, size_t size);
void fault_material_close(fault_material *material);

/* What is promised of the analysis of an input. */
typedef enum fault_promise {
    FAULT_TOLD = 1,    /* damage or loss is diagnosed, or the input is refused */
    FAULT_NO_MORE = 2, /* no more records are read than from the material */
    FAULT_WHOLE = 4    /* what is lost are whole buffers */
} fault_promise;

typedef struct fault_harm {
    const char *name;
    u64 (*count)(const fault_material *material);
    /* Makes input `number` in `out`, which has room for twice the material; the size. */
    size_t (*make)(const fault_material *material, u64 number, u8 *out);
    u32 promises;
} fault_harm;

/* Whether damage by input `number` must be told. Where a file does not say how many
 * buffers it has, whole ones at the end of a processor's row are not missed. */
bool fault_is_told(const fault_material *material, const fault_harm *harm, u64 number);

extern const fault_harm fault_harms[];
extern const size_t fault_harm_count;

#endif
