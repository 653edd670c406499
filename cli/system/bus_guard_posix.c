/*
 * bus_guard_posix.c - see bus_guard.h; by a handler for SIGBUS.
 *
 * A jump out of the handler would leave locks and other threads as they are. The
 * handler puts a page of zeros in the place of the one that is gone instead, and
 * the thread goes on as if the file held zeros there, which every reader must bear
 * anyway. What is read from then on is thrown away, so zeros do no harm.
 *
 * Only the program and its libraries are kept out: without their own bytes there
 * is no going on. Any other mapping of a file is one that the program reads.
 */
#define _GNU_SOURCE 1 /* dl_iterate_phdr, MAP_ANONYMOUS */

#include "bus_guard.h"

#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEGMENTS_MAX 512

typedef struct segment {
    uintptr_t begin, end;
} segment;

/* A signal handler is given nothing of its program, so this is global: written
 * before the handler is in place. */
static struct {
    segment segments[SEGMENTS_MAX];
    size_t segment_count;
    uintptr_t page_bytes;
} guard;

static int note_segments(struct dl_phdr_info *object, size_t size, void *user);
static void replace_page(int number, siginfo_t *info, void *context);
static bool is_program(uintptr_t address);

void cli_bus_guard_begin(void)
{
    struct sigaction action = { .sa_flags = SA_SIGINFO };
    const long page_bytes = sysconf(_SC_PAGESIZE);
    guard.segment_count = 0;
    if (page_bytes <= 0 || dl_iterate_phdr(note_segments, NULL) != 0)
        return;
    guard.page_bytes = (uintptr_t)page_bytes;
    action.sa_sigaction = replace_page;
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGBUS, &action, NULL);
}

/* Of the program and each library; not 0 when there are too many. */
static int note_segments(struct dl_phdr_info *object, size_t size, void *user)
{
    (void)size;
    (void)user;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const uintptr_t begin = (uintptr_t)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        if (object->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        if (guard.segment_count == SEGMENTS_MAX)
            return 1;
        guard.segments[guard.segment_count++] =
            (segment){ begin, begin + (uintptr_t)object->dlpi_phdr[i].p_memsz };
    }
    return 0;
}

static void replace_page(int number, siginfo_t *info, void *context)
{
    const uintptr_t offset = (uintptr_t)info->si_addr % guard.page_bytes;
    (void)context;
    if (info->si_code == BUS_ADRERR && !is_program((uintptr_t)info->si_addr) &&
        mmap((char *)info->si_addr - offset, guard.page_bytes, PROT_READ,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
        cli_bus_guard_trip();
        return;
    }
    /* Held back until this returns; then it ends the program as ever. */
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static bool is_program(uintptr_t address)
{
    for (size_t i = 0; i < guard.segment_count; i++) {
        if (address >= guard.segments[i].begin && address < guard.segments[i].end)
            return true;
    }
    return false;
}
