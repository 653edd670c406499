/*
 * stamp.h - what the system says of a file and of this process.
 */
#ifndef CLI_STAMP_H
#define CLI_STAMP_H

#include "formats/formats.h"

/*
 * What the file system notes of a file. Whoever changes its content changes the time
 * of its last change too, which cannot be set back as the time of its last writing
 * can. Two changes within one step of the clock are not told apart, though: a stamp
 * is settled when the last change was a while ago.
 */
typedef struct cli_stamp {
    u64 size_bytes;
    etlheap_content_id id; /* of all that is noted */
    bool is_kept;          /* the file system notes every change, and nobody can take it back */
    bool is_settled;       /* and this one was a while ago: same id, same content */
} cli_stamp;

/* Of a regular file; links are followed. ETL_ERR_IO. */
etl_status cli_stamp_take(const char *path, cli_stamp *out, etl_error *err);

bool cli_stamp_is_same(const cli_stamp *a, const cli_stamp *b);

/* Whether the name is a link, wherever it leads. */
bool cli_is_link(const char *path);

/* Of this run of the machine: what was written before may not have reached the disk
 * when the machine stopped. Absent where the system does not tell. */
etlheap_run_id cli_boot_id(void);

/* Whether there is a process of that number. */
bool cli_is_running(u64 process);

/* The most memory that the process ever had, as the system counts it: all that is
 * resident, with pages of mapped files. 0: not known. */
u64 cli_peak_memory_bytes(void);

/* Gives back to the system what was freed, where the allocator keeps it. */
void cli_give_back_memory(void);

#endif
