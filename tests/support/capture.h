/*
 * capture.h - what is written to a sink, as text.
 */
#ifndef TESTS_CAPTURE_H
#define TESTS_CAPTURE_H

#include "formats/formats.h"

typedef struct capture {
    etlheap_sink *sink; /* write here */
    int descriptor;     /* of an unnamed temporary file */
    char *text;
} capture;

/* Aborts the program when the machine does not let it. */
void capture_open(capture *out);

/* Completes the sink; the text with a final NUL, valid until capture_close. */
const char *capture_text(capture *captured);

void capture_close(capture *captured);

#endif
