/*
 * packed_traces.h - traces that went through a package, for tests.
 *
 * The bytes of open traces are put into a zip as other tools write it, with what such a zip has
 * beside traces, and taken out again by etlheap_unpack.
 */
#ifndef TESTS_PACKED_TRACES_H
#define TESTS_PACKED_TRACES_H

#include "formats/formats.h"
#include "run_check.h"
#include "temporary.h"

/* Start from {0}. */
typedef struct packed_traces {
    char path[TEMPORARY_PATH_BYTES]; /* of the package */
    etlheap_unpacked *unpacked;
    etl_trace *at[CHECK_TRACES_MAX]; /* in the order of the traces that were packed */
    u32 count;
} packed_traces;

/* Packs the traces, unpacks and opens them. A failure ends the test program. Close it
 * afterwards. */
void packed_open(packed_traces *out, const check_traces *traces, bool is_diagsession);
void packed_close(packed_traces *packed);

#endif
