/* demo_data.h - the files of the demo, as the build put them into the program (embed.sh). */
#ifndef CLI_DEMO_DATA_H
#define CLI_DEMO_DATA_H

#include "parser/parser.h"

typedef struct cli_demo_data {
    const char *name;  /* below the demo's folder: "symbols/ntdll.pdb" */
    const void *frame; /* one zstd frame, which says how large the file is */
    size_t frame_bytes;
} cli_demo_data;

/* The last row has no name. */
extern const cli_demo_data cli_demo_files[];

#endif
