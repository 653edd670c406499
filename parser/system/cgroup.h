/*
 * cgroup.h - the limits that Linux control groups set for this process (private to the libraries).
 *
 * In a container, or in a step of a batch system, a process may use less than the computer has. The
 * kernel states the limits in files: /proc/self/cgroup names the process's groups,
 * /proc/self/mountinfo the folders where groups are mounted, and a group's folder has its limits.
 * Both versions of control groups are read, because a system may have both.
 *
 * All these paths start at the folder `root`: "" for the system's own, another one in tests. A
 * missing or damaged file counts as no limit. Other systems than Linux have no such files, and so
 * no limits. Any thread.
 */
#ifndef ETL_CGROUP_H
#define ETL_CGROUP_H

#include "parser/base.h"

/* The number of processors that the quotas allow, rounded up, at least 1: the least over the
 * process's group and all groups around it. 0: no quota. */
u32 etl_cgroup_processors(const char *root);

/* Bytes of memory that the groups allow, including the page cache; UINT64_MAX: no limit. */
u64 etl_cgroup_memory(const char *root);

/* Bytes of memory that are available by /proc/meminfo, limited to what the groups allow;
 * UINT64_MAX: unknown. */
u64 etl_memory_available(const char *root);

#endif
