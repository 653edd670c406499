/*
 * cgroup.h - what Linux's control groups leave to this process (private to the libraries).
 *
 * In a container, or in a step of a batch system, a process may use less than the computer
 * has. The kernel says how much in files: /proc/self/cgroup names the process's groups,
 * /proc/self/mountinfo the folders where groups are mounted, and a group's folder holds its
 * limits. Both versions of control groups are read, since a system may have both.
 *
 * `root` is the folder that all these paths start from: "" for the system's own, another
 * one in tests. A file that is missing or damaged counts as no limit. Elsewhere than on
 * Linux there are no such files, and so no limits. Any thread.
 */
#ifndef ETL_CGROUP_H
#define ETL_CGROUP_H

#include "parser/base.h"

/* Processors that the quotas allow, rounded up, at least 1: the least of the process's
 * group and all groups around it. 0: there is no quota. */
u32 etl_cgroup_processors(const char *root);

/* Bytes of memory that the groups allow, the page cache included; UINT64_MAX: no limit. */
u64 etl_cgroup_memory(const char *root);

/* Bytes of memory that can be used without anybody having to make room, by /proc/meminfo, and
 * no more than the groups allow; UINT64_MAX: not known. */
u64 etl_memory_available(const char *root);

#endif
