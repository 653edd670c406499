/*
 * long_tests.h - whether tests take their long form, as `make check-nightly` asks for.
 */
#ifndef TESTS_LONG_TESTS_H
#define TESTS_LONG_TESTS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool long_tests(void)
{
    const char *const value = getenv("LONG");
    return value != NULL && strcmp(value, "1") == 0;
}

#endif
