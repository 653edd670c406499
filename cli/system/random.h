/* random.h - bytes that nobody can guess. */
#ifndef CLI_RANDOM_H
#define CLI_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

/* Fills the memory with random bytes from the system, for secrets. At most 256 bytes. False if the
 * system has none. */
bool cli_random_bytes(void *out, size_t size);

#endif
