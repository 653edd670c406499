/*
 * make_suppression_matches.c - says which suppressions match which names, for another
 * program to compare with.
 *
 *     make_suppression_matches < LINES     PATTERN, a tab, NAME; answers 1 or 0
 */
#include <stdio.h>

#include "engine/compare/suppressions.h"

#define LINE_SIZE 4096

int main(void)
{
    static char line[LINE_SIZE];
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *const name = line + strcspn(line, "\t");
        if (*name == '\0')
            return 1;
        *name = '\0';
        name[1 + strcspn(name + 1, "\n")] = '\0';
        puts(suppression_matches(line, name + 1) ? "1" : "0");
    }
    return 0;
}
