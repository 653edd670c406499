/*
 * scenario_mapped.h - views of files, and a trace of them with known numbers.
 *
 * "mapped-views": viewer.exe maps MAPPED_LEAK_COUNT views of data.bin and never unmaps them. It
 * maps and unmaps temp.dat again and again, at three addresses. Two views of font.ttf are from
 * before the trace, of which one is unmapped; so is the view of its own image. System maps one view
 * of shared.dat into it. One view is of a file whose name is not in the trace.
 *
 * gone.exe maps three views of data.bin, and ends with them. One key names first.tmp, and after its
 * deletion second.tmp; viewer.exe keeps a view of each.
 *
 * MAPPED_UNKNOWN_UNMAPS views are unmapped that nothing else tells of. The rundown at the end lists
 * one more view, of late.dat, and lacks one of data.bin. Names of files are logged at the end, but
 * those of the temporary files when they are created and deleted.
 *
 *     outstanding at the end, views of viewer.exe            count      bytes
 *         data.bin                                              20    1310720
 *         viewer.exe (its image)                                 1      65536
 *         font.ttf                                               1     262144
 *         shared.dat                                             1      16384
 *         first.tmp, second.tmp                               1, 1   32768, 49152
 *         late.dat                                               1       8192
 *         a file without a name, MAPPED_UNNAMED_KEY             1      12288
 *     swept by the exit of gone.exe: data.bin                    3      12288
 */
#ifndef TESTS_SCENARIO_MAPPED_H
#define TESTS_SCENARIO_MAPPED_H

#include "scenario.h"

#define MAPPED_LEAK_COUNT     20u
#define MAPPED_LEAK_BYTES     65536u
#define MAPPED_TEMP_COUNT     15u
#define MAPPED_UNKNOWN_UNMAPS 2u
#define MAPPED_UNNAMED_KEY    UINT64_C(0xffff82082c3f9990)

typedef struct view_spec {
    u64 base, file, size, offset;
    u32 pid; /* of the view's owner */
} view_spec;

/* Writes MapFile, UnmapFile or a row of a rundown, version 3. */
void build_view(etl_build *b, etl_build_at at, u16 hook, const view_spec *view);

/* Writes FileIo/Name, FileCreate, FileDelete or FileRundown. */
void build_file_name(etl_build *b, etl_build_at at, u16 hook, u64 file, const char *path);

void scenario_mapped_views(const scenario_run *run, etl_build *b);

#endif
