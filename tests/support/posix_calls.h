/*
 * posix_calls.h - the few POSIX calls that tests make, for tests that run on Windows.
 *
 * The Makefile includes it before all else there, and links posix_calls.c. The program
 * and its libraries have none of this: they ask parser/system/files.h and its like.
 *
 * Memory as a file is a temporary file, which fclose() takes back into memory: so text
 * and size are there after fclose(), not after fflush().
 */
#ifndef TESTS_POSIX_CALLS_H
#define TESTS_POSIX_CALLS_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>

FILE *open_memstream(char **text, size_t *size);
FILE *fmemopen(void *bytes, size_t size, const char *mode); /* "w" alone */
int posix_calls_fclose(FILE *file);
#define fclose posix_calls_fclose

/* In the folder for temporary files: Windows' own makes it on top of the drive. */
FILE *posix_calls_tmpfile(void);
#define tmpfile posix_calls_tmpfile

/* Of at most two gigabytes; the file's own place is not kept. */
ssize_t pread(int descriptor, void *bytes, size_t size, off_t offset);
ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset);

/* In whole seconds. */
int futimens(int descriptor, const struct timespec times[2]);

/* mingw's mkstemp() makes the same names in every process. */
int posix_calls_mkstemp(char *path);
#define mkstemp posix_calls_mkstemp

char *mkdtemp(char *path);

#endif
