/* store_anonymise.h - `etlheap store --anonymise`: writes a store whose names are keyed words. */
#ifndef CLI_STORE_ANONYMISE_H
#define CLI_STORE_ANONYMISE_H

#include "store_write.h"

/* The bytes of a key file. Start from {0}. */
typedef struct cli_key {
    char *bytes;
    size_t count;
} cli_key;

/* Reads the key of --anonymise. Returns an exit status, after a message about a file that does not
 * exist or is too small. */
int cli_key_read(const cli_options *options, cli_key *out);
void cli_key_free(cli_key *key);

/* Writes the anonymised store of the inputs to the sink, which stays open. As cli_store_write. */
etl_status cli_store_anonymise(const cli_options *options, const cli_inputs *inputs,
                               cli_guard *guard, const cli_key *key, etlheap_sink *sink,
                               cli_stored *out, etl_error *err);

/* Says on stderr what the store still tells. */
void cli_note_anonymised(const cli_options *options);

#endif
