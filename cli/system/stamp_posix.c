/* stamp_posix.c - what POSIX systems, and Linux above all, say; see stamp.h. */
#include "stamp.h"

#include <errno.h>
#if defined(__linux__)
#include <malloc.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <sys/vfs.h>
#endif
#include <time.h>

#define RELIABLE_AFTER_SECONDS 2 /* the coarsest clock of a file system: FAT's */

/* Those of which we know it. Not so FAT, whose time of the last change can be set, and
 * what is seen over a network or through another program, which may be behind. Source:
 * statfs(2); the file systems of Linux. */
static bool keeps_change_times(const char *path)
{
#if defined(__linux__)
    static const u32 known[] = {
        0x0000EF53, /* ext2, ext3, ext4 */
        0x58465342, /* XFS */
        0x9123683E, /* Btrfs */
        0xF2F52010, /* F2FS */
        0xCA451A4E, /* bcachefs */
        0x2FC12FC1, /* ZFS */
        0x01021994, /* tmpfs */
        0x794C7630, /* overlayfs, of containers */
    };
    struct statfs about;
    if (statfs(path, &about) != 0)
        return false;
    for (size_t i = 0; i < ETL_COUNT_OF(known); i++) {
        if ((u32)about.f_type == known[i])
            return true;
    }
#else
    (void)path;
#endif
    return false;
}

etl_status cli_stamp_take(const char *path, cli_stamp *out, etl_error *err)
{
    struct stat about;
    *out = (cli_stamp){ 0 };
    if (stat(path, &about) != 0)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot be opened: %s", strerror(errno));
    if (S_ISDIR(about.st_mode))
        return etl_fail_with(err, ETL_ERR_IO, 0, "is a directory, not a file");
    if (!S_ISREG(about.st_mode))
        return etl_fail_with(err, ETL_ERR_IO, 0, "is not a regular file; copy it into one first");
    out->size_bytes = (u64)about.st_size;
    struct timespec now;
    const i64 noted[] = { (i64)about.st_dev,    (i64)about.st_ino,     about.st_size,
                          about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_ctim.tv_sec,
                          about.st_ctim.tv_nsec };
    out->is_kept = keeps_change_times(path);
    out->is_reliable = out->is_kept && clock_gettime(CLOCK_REALTIME, &now) == 0 &&
                       now.tv_sec - about.st_ctim.tv_sec > RELIABLE_AFTER_SECONDS;
    out->id = etlheap_content_of(noted, sizeof noted);
    return ETL_OK;
}

bool cli_stamp_is_same(const cli_stamp *a, const cli_stamp *b)
{
    return a->id.high == b->id.high && a->id.low == b->id.low;
}

bool cli_is_link(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
}

etlheap_run_id cli_boot_id(void)
{
    char text[64];
    FILE *const file = fopen("/proc/sys/kernel/random/boot_id", "r");
    const size_t size = file ? fread(text, 1, sizeof text, file) : 0;
    if (file)
        (void)fclose(file);
    return (etlheap_run_id){ size > 0, etlheap_content_of(text, size) };
}

bool cli_is_running(u64 process)
{
    return process == 0 || process > INT32_MAX || kill((pid_t)process, 0) == 0 || errno != ESRCH;
}

u64 cli_peak_memory_bytes(void)
{
    char line[128];
    u64 kib = 0;
    FILE *const file = fopen("/proc/self/status", "r");
    while (file && kib == 0 && fgets(line, sizeof line, file)) {
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtoull(line + 6, NULL, 10);
    }
    if (file)
        (void)fclose(file);
    return kib * 1024;
}

void cli_give_back_memory(void)
{
#if defined(__GLIBC__)
    (void)malloc_trim(0);
#endif
}
