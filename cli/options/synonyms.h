/* synonyms.h - other words for options, values and commands, as newcomers and users of other tools
 * type them. */
#ifndef CLI_SYNONYMS_H
#define CLI_SYNONYMS_H

/* What a word means, if the first word of the meaning is one of the choices, which end with NULL.
 * NULL: nothing that is known. Letters of either case are the same. */
const char *cli_synonym(const char *word, const char *const *choices);

/* A row of the table; NULL after the last. */
const char *cli_synonym_at(unsigned index, const char **meaning);

#endif
