/* random_posix.c - see random.h; from the kernel's device, which every POSIX system here has. */
#include "random.h"

#include <fcntl.h>
#include <unistd.h>

bool cli_random_bytes(void *out, size_t size)
{
    const int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    const bool is_filled = file >= 0 && read(file, out, size) == (ssize_t)size;
    if (file >= 0)
        (void)close(file);
    return is_filled;
}
