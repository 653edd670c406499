/* browser_posix.c - see browser.h; by xdg-open, which knows the desktop's choice. */
#include "browser.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

extern char **environ;

/* The program holds signals back and its output belongs to a script: the browser inherits neither,
 * and Ctrl-C in this terminal does not end it. */
static bool spawn(const char *address, posix_spawnattr_t *attributes,
                  posix_spawn_file_actions_t *files)
{
    char *const words[] = { (char[]){ "xdg-open" }, (char *)(size_t)address, NULL };
    sigset_t none;
    pid_t child;
    sigemptyset(&none);
    return posix_spawnattr_setsigmask(attributes, &none) == 0 &&
           posix_spawnattr_setpgroup(attributes, 0) == 0 &&
           posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP) ==
               0 &&
           posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
           posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
           posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
           posix_spawnp(&child, words[0], files, attributes, words, environ) == 0;
}

bool cli_browser_open(const char *address)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    if (posix_spawnattr_init(&attributes) != 0)
        return false;
    bool is_started = false;
    if (posix_spawn_file_actions_init(&files) == 0) {
        is_started = spawn(address, &attributes, &files);
        (void)posix_spawn_file_actions_destroy(&files);
    }
    (void)posix_spawnattr_destroy(&attributes);
    return is_started;
}
