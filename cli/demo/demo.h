/* demo.h - the traces and symbols that the examples of the documentation use. */
#ifndef CLI_DEMO_H
#define CLI_DEMO_H

/* Writes the traces into `folder` and their PDBs into its folder "symbols". Makes both folders, and
 * replaces files of the same names. Prints what it wrote, and what failed. Returns an exit
 * status. */
int cli_demo_write(const char *folder);

#endif
