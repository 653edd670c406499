/* stamp.h - facts from the system about a file and this process. */
#ifndef CLI_STAMP_H
#define CLI_STAMP_H

#include "formats/formats.h"

#include "parser/base.h"

/*
 * The file system's record of a file. Every change of the content also sets the time of the last
 * change, which cannot be set back, unlike the time of the last write. Two changes within one step
 * of the clock look the same, however, so a stamp is reliable only if the last change was a while
 * ago.
 */
typedef struct cli_stamp {
    u64 size_bytes;
    etlheap_content_id id; /* hash of the record */
    bool is_kept;          /* the file system records every change permanently */
    bool is_reliable;      /* the last change was a while ago: same id means same content */
} cli_stamp;

/* Takes the stamp of a regular file. Follows links. ETL_ERR_IO. */
etl_status cli_stamp_take(const char *path, cli_stamp *out, etl_error *err);

bool cli_stamp_is_same(const cli_stamp *a, const cli_stamp *b);

/* True if the name is a link. */
bool cli_is_link(const char *path);

/* An id of this boot of the computer: earlier writes may not have reached the disk if the computer
 * stopped. Absent if the system has none. */
etlheap_run_id cli_boot_id(void);

/* True if there is a process with this id. */
bool cli_is_running(u64 process);

/* The peak memory of the process, as the system counts it: everything resident, including pages of
 * mapped files. 0: unknown. */
u64 cli_peak_memory_bytes(void);

/* Returns freed memory that the allocator keeps to the system. */
void cli_give_back_memory(void);

#endif
