/*
 * temporary.h - where tests put temporary files: in the folder of TMPDIR (on Windows
 * TMP), or the system's.
 */
#ifndef TESTS_TEMPORARY_H
#define TESTS_TEMPORARY_H

#include <stdio.h>

#define TEMPORARY_PATH_BYTES 256

const char *temporary_folder(void);

/* Makes a file, or a folder, whose name begins with `name`, and writes its path to `path`.
 * The caller removes it. The file's descriptor, -1 if it cannot be made; or false. */
int temporary_file(char path[TEMPORARY_PATH_BYTES], const char *name);
_Bool temporary_subfolder(char path[TEMPORARY_PATH_BYTES], const char *name);

/* An empty file to write and read, gone when it is closed. NULL if it cannot be made. */
FILE *temporary_stream(void);

#endif
