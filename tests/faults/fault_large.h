/*
 * fault_large.h - traces that are sound, but larger in one way than any recording.
 */
#ifndef TESTS_FAULT_LARGE_H
#define TESTS_FAULT_LARGE_H

#include "parser/base.h"

typedef struct fault_large {
    const char *name;
    u64 full;                                   /* how many of what the name says */
    bool (*write)(const char *path, u64 count); /* false, said on stderr: it could not */
} fault_large;

extern const fault_large fault_larges[];
extern const size_t fault_large_count;

#endif
