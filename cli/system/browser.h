/* browser.h - the browser of the user. */
#ifndef CLI_BROWSER_H
#define CLI_BROWSER_H

#include <stdbool.h>

/* Opens the address, which begins with http://, in the browser that the system has for it, without
 * waiting. No shell reads the address. False if no program can be started for it. */
bool cli_browser_open(const char *address);

#endif
