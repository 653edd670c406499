/* page_parts.h - reads what is packed into an HTML report, for tests. */
#ifndef TESTS_PAGE_PARTS_H
#define TESTS_PAGE_PARTS_H

/* Unpacks the first value of a key at or after `*at`, such as "cells" or "deflated", and moves `*at`
 * behind it. Free the text; NULL if there are no more. */
char *page_part(const char **at, const char *key);

#endif
