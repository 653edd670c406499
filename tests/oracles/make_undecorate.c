/*
 * make_undecorate.c - prints the readable forms of names, for other programs to
 * compare with.
 *
 *     make_undecorate < NAMES             C++ names; an empty line: not readable
 *     make_undecorate (x86 | x64) < NAMES names of C functions
 *
 * One name a line, and one line of answer for each.
 */
#include <stdio.h>

#include "parser/base.h"
#include "parser/undecorate.h"

/* Longer than any name that is read, so that longer ones are seen to be refused. */
#define LINE_SIZE (4 * ETL_DECORATED_SIZE_MAX)

int main(int argc, char **argv)
{
    static char line[LINE_SIZE];
    char text[ETL_UNDECORATED_CAPACITY];
    while (fgets(line, sizeof line, stdin) != NULL) {
        const etl_bytes name = { (const u8 *)line, strcspn(line, "\n") };
        if (argc > 1) {
            const etl_bytes plain = etl_undecorate_c(name, strcmp(argv[1], "x86") == 0);
            fwrite(plain.at, 1, plain.size, stdout);
        } else {
            size_t length = 0;
            if (etl_undecorate(name, text, sizeof text, &length))
                fwrite(text, 1, length, stdout);
        }
        putchar('\n');
    }
    return 0;
}
