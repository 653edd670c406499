/*
 * memory_count.c - counts the memory that a program holds; loaded with LD_PRELOAD.
 *
 * Every call that takes or gives back memory goes through here: those of the C
 * library's heap, and anonymous mappings that a program or a library makes itself.
 * What a block takes is what the C library says of it (malloc_usable_size), so no
 * header is added and blocks may be freed by anybody. When the program ends, the
 * file that MEMORY_COUNT names gets one line of JSON:
 *
 *     {"peak":bytes, "blocks":bytes, "rss_anon":bytes, "calls":n}
 *
 * peak is the largest sum of bytes that were held at one moment, rss_anon the largest
 * anonymous resident memory, which is looked at whenever `peak` has grown by
 * LOOK_BYTES: moments that a sampler from outside could miss.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOOK_BYTES ((int64_t)1 << 19)

/* glibc's own, under the names it keeps for interposers. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static _Atomic int64_t held, peak, looked_at, rss_anon;
static _Atomic uint64_t calls;

/* Resident less shared and file-backed pages, in pages: two fields of one short line. */
static void look(void)
{
    static _Atomic int file = -1;
    char text[128];
    if (atomic_load(&file) < 0)
        atomic_store(&file, open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
    const ssize_t size = pread(atomic_load(&file), text, sizeof text - 1, 0);
    if (size <= 0)
        return;
    text[size] = '\0';
    char *at = text;
    (void)strtoull(at, &at, 10);
    const int64_t resident = (int64_t)strtoull(at, &at, 10);
    const int64_t shared = (int64_t)strtoull(at, &at, 10);
    const int64_t bytes = (resident - shared) * (int64_t)sysconf(_SC_PAGESIZE);
    int64_t old = atomic_load(&rss_anon);
    while (bytes > old && !atomic_compare_exchange_weak(&rss_anon, &old, bytes)) {
    }
}

static void add(int64_t bytes)
{
    const int64_t now = atomic_fetch_add(&held, bytes) + bytes;
    if (bytes <= 0)
        return;
    atomic_fetch_add(&calls, 1);
    int64_t old = atomic_load(&peak);
    while (now > old && !atomic_compare_exchange_weak(&peak, &old, now)) {
    }
    int64_t seen = atomic_load(&looked_at);
    if (now > seen + LOOK_BYTES && atomic_compare_exchange_strong(&looked_at, &seen, now))
        look();
}

static void *taken(void *memory)
{
    if (memory != NULL)
        add((int64_t)malloc_usable_size(memory));
    return memory;
}

void *malloc(size_t size)
{
    return taken(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return taken(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
    const int64_t before = memory == NULL ? 0 : (int64_t)malloc_usable_size(memory);
    void *const moved = __libc_realloc(memory, size);
    if (moved != NULL)
        add((int64_t)malloc_usable_size(moved) - before);
    else if (size == 0)
        add(-before);
    return moved;
}

void *memalign(size_t alignment, size_t size)
{
    return taken(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return taken(__libc_memalign(alignment, size));
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *const memory = taken(__libc_memalign(alignment, size));
    if (memory == NULL)
        return 12; /* ENOMEM */
    *out = memory;
    return 0;
}

void free(void *memory)
{
    if (memory != NULL)
        add(-(int64_t)malloc_usable_size(memory));
    __libc_free(memory);
}

/* Mappings of files are pages that the system takes back when it needs them. */
void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    static void *(*next)(void *, size_t, int, int, int, off_t);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "mmap");
    void *const memory = next(at, size, protection, flags, file, offset);
    if (memory != MAP_FAILED && (flags & MAP_ANONYMOUS) != 0 && (protection & PROT_WRITE) != 0)
        add((int64_t)size);
    return memory;
}

__attribute__((destructor)) static void tell(void)
{
    const char *const path = getenv("MEMORY_COUNT");
    char line[160];
    look();
    const int file = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const int size =
        snprintf(line, sizeof line, "{\"peak\":%lld,\"rss_anon\":%lld,\"calls\":%llu}\n",
                 (long long)atomic_load(&peak), (long long)atomic_load(&rss_anon),
                 (unsigned long long)atomic_load(&calls));
    if (file >= 0 && (write(file, line, (size_t)size) != size || close(file) != 0))
        _exit(125);
}
