/* random_windows.c - see random.h. */
#define _CRT_RAND_S
#include "random.h"

#include <stdlib.h>
#include <string.h>

/* rand_s draws from the system's generator for secrets, and needs no further library. */
bool cli_random_bytes(void *out, size_t size)
{
    unsigned char *const bytes = out;
    for (size_t done = 0; done < size; done += sizeof(unsigned)) {
        unsigned value;
        const size_t left = size - done;
        if (rand_s(&value) != 0)
            return false;
        memcpy(bytes + done, &value, left < sizeof value ? left : sizeof value);
    }
    return true;
}
