/*
 * nameless.h - temporary files without a name.
 */
#ifndef ETLHEAP_NAMELESS_H
#define ETLHEAP_NAMELESS_H

/*
 * A file in the folder for reading and writing, which is gone when it is closed,
 * however that happens. The caller closes it; -1 with errno when there is none.
 */
int nameless_file(const char *folder);

#endif
