/*
 * fault_program.c - the program, with calls of the system that fail on request.
 *
 * It is linked with the objects of etlheap itself, whose calls of malloc, write and
 * so on end here (ld --wrap). Run with FAULT_CALLS it is its own driver: a child
 * runs the command and counts the calls, then one child for each call runs it
 * again, with that call failing (or that one and all after it). What must hold of
 * each run:
 *
 *     it ends by itself, within ten seconds, without a signal and without a leak
 *     (in builds that look for leaks);
 *     it gives the same output as without the failure, or exit status 3 with one
 *     sentence on stderr and no file of the output, whole or in part;
 *     the folder for temporary files is empty afterwards.
 *
 *     FAULT_CALLS=memory FAULT_FOLDER=f etlheap_faults report app.etl -o f/out/x
 *
 * FAULT_CALLS    memory, or the name of a call: write, rename, mmap, ...; or what
 *                happens when the call is made: interrupt (SIGTERM behind any call), stop
 *                (SIGTERM behind a write to a file, after which it must soon write no more),
 *                shrink and grow (another program changes the file being mapped)
 * FAULT_FOLDER   an empty folder; TMPDIR becomes tmp in it, output belongs into out
 * FAULT_AT       in place of all this: only that call fails, in this process, and nobody
 *                judges it; 0: none fails, and how many there are is said at the end
 * FAULT_STRIDE   after the first 6 only every so many calls [1]
 * FAULT_STICKY   1: all calls after the failing one fail too [0]
 */
#define _GNU_SOURCE 1 /* wait4 */

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parser/base.h"

#define SECONDS_MAX     10
#define ALL_AT_FIRST    6
#define EXIT_INPUT      3
#define SHOWN_MAX       12
#define CALLERS         6
#define LATE_WRITES_MAX 1  /* what was under way */
#define LEAK_STATUS     23 /* of LeakSanitizer */

/* The calls that can fail, each with its kind and what it then says. */
#define CALLS(X)                                                                                   \
    X(memory, ENOMEM)                                                                              \
    X(open, EMFILE)                                                                                \
    X(stat, EIO)                                                                                   \
    X(read, EIO)                                                                                   \
    X(mmap, ENOMEM)                                                                                \
    X(write, ENOSPC)                                                                               \
    X(pwrite, ENOSPC)                                                                              \
    X(close, EIO)                                                                                  \
    X(rename, EIO)                                                                                 \
    X(mkstemp, ENOSPC)                                                                             \
    X(thread, EAGAIN)                                                                              \
    X(interrupt, 0)                                                                                \
    X(stop, 0)                                                                                     \
    X(shrink, 0)                                                                                   \
    X(grow, 0)

typedef enum call_kind {
#define CALL_ENUM(name, error) CALL_##name,
    CALLS(CALL_ENUM)
#undef CALL_ENUM
        CALL_COUNT
} call_kind;

static const struct {
    const char *name;
    int error;
} calls[] = {
#define CALL_ROW(name, error) { #name, error },
    CALLS(CALL_ROW)
#undef CALL_ROW
};

/* Between the driver and its children. */
typedef struct board {
    _Atomic u64 count;      /* calls of the kind so far */
    u64 fail_at;            /* 0: none */
    u64 late_writes;        /* to files, after the signal of `stop` */
    char changed[512];      /* the file that was shrunk or grown */
    void *callers[CALLERS]; /* of the call that failed, from the inside */
} board;

static board *shared; /* NULL: nothing fails */
static board single;  /* of FAULT_AT */
static call_kind chosen;
static bool sticky;

/* What one run gave. */
typedef struct outcome {
    int status; /* of waitpid */
    long rss_kib;
    double seconds;
} outcome;

/* A file's bytes; {NULL, 0}: there is none. */
typedef struct contents {
    char *at;
    size_t size;
} contents;

typedef struct driver {
    const char *folder;
    contents output, file; /* of the run in which nothing failed */
    int status;
    u64 runs, crashes, hangs, faults;
    long rss_kib;
    double seconds;
} driver;

extern char __executable_start;

static void drive(void);

/* --- the calls ------------------------------------------------------------------ */

static bool fails(call_kind kind)
{
    if (shared == NULL || kind != chosen)
        return false;
    const u64 n = ++shared->count;
    if (shared->fail_at == 0 || n < shared->fail_at || (n > shared->fail_at && !sticky))
        return false;
    if (n == shared->fail_at)
        (void)backtrace(shared->callers, CALLERS);
    errno = calls[kind].error;
    return true;
}

#define FAILS(kind) fails(CALL_##kind)

/* Behind a call, where what it made must not be left over. */
static void interrupt(void)
{
    const int error = errno;
    if (FAILS(interrupt))
        (void)kill(getpid(), SIGTERM);
    errno = error;
}

#define WRAP(kind, type, failure, name, parameters, arguments)                                     \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        type const result = FAILS(kind) ? (failure) : __real_##name arguments;                     \
        interrupt();                                                                               \
        return result;                                                                             \
    }

static void change_file(int fd, off_t size);

WRAP(memory, void *, NULL, malloc, (size_t size), (size))
WRAP(memory, void *, NULL, calloc, (size_t count, size_t size), (count, size))
WRAP(memory, void *, NULL, realloc, (void *old, size_t size), (old, size))
WRAP(memory, void *, NULL, aligned_alloc, (size_t to, size_t size), (to, size))
WRAP(memory, char *, NULL, strdup, (const char *text), (text))
WRAP(memory, char *, NULL, realpath, (const char *path, char *out), (path, out))
WRAP(open, FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode))
WRAP(stat, int, -1, stat, (const char *path, struct stat *out), (path, out))
WRAP(stat, int, -1, fstat, (int fd, struct stat *out), (fd, out))
WRAP(write, int, -1, ftruncate, (int fd, off_t size), (fd, size))
WRAP(read, ssize_t, -1, read, (int fd, void *into, size_t size), (fd, into, size))
WRAP(pwrite, ssize_t, -1, pwrite, (int fd, const void *from, size_t size, off_t at),
     (fd, from, size, at))
WRAP(rename, int, -1, rename, (const char *from, const char *to), (from, to))
WRAP(mkstemp, int, -1, mkstemp, (char *path), (path))
WRAP(thread, int, EAGAIN, pthread_create,
     (pthread_t * out, const pthread_attr_t *how, void *(*fn)(void *), void *argument),
     (out, how, fn, argument))

ssize_t __real_write(int fd, const void *from, size_t size);
ssize_t __wrap_write(int fd, const void *from, size_t size);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_close(int fd);
int __wrap_close(int fd);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);

/* The sentence about a failure is written too, and must arrive to be seen. */
ssize_t __wrap_write(int fd, const void *from, size_t size)
{
    const bool failing = fd != STDERR_FILENO && FAILS(write);
    const ssize_t result = failing ? -1 : __real_write(fd, from, size);
    if (fd > STDERR_FILENO && shared != NULL && chosen == CALL_stop) {
        shared->late_writes += shared->fail_at != 0 && shared->count >= shared->fail_at;
        if (FAILS(stop))
            (void)kill(getpid(), SIGTERM);
    }
    interrupt();
    return result;
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    const int result = FAILS(open) ? -1 : __real_open(path, flags, mode);
    interrupt();
    return result;
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    struct stat about;
    void *const result =
        FAILS(mmap) ? MAP_FAILED : __real_mmap(at, size, protection, flags, fd, offset);
    /* A file without a name is the program's own. */
    if (fd >= 0 && __real_fstat(fd, &about) == 0 && about.st_nlink > 0) {
        if (FAILS(shrink))
            change_file(fd, (about.st_size / 2) & ~(off_t)4095);
        if (FAILS(grow))
            change_file(fd, about.st_size + 100000);
    }
    interrupt();
    return result;
}

/* What another program does meanwhile. The parent puts the file back. */
static void change_file(int fd, off_t size)
{
    char link[64];
    char command[1200];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, shared->changed, sizeof shared->changed - 1) < 0)
        abort();
    (void)snprintf(command, sizeof command, "cp -p '%s' '%s/saved'", shared->changed,
                   getenv("FAULT_FOLDER"));
    if (system(command) != 0 || truncate(shared->changed, size) != 0)
        abort();
}

/* A descriptor is gone whatever close says. */
int __wrap_close(int fd)
{
    const bool failing = FAILS(close);
    const int result = __real_close(fd);
    if (failing)
        errno = calls[CALL_close].error;
    interrupt();
    return failing ? -1 : result;
}

/* --- the driver ----------------------------------------------------------------- */

/* Before main, so that the children go on into the program as it is. */
__attribute__((constructor)) static void begin(void)
{
    const char *const wanted = getenv("FAULT_CALLS");
    if (wanted == NULL)
        return;
    for (call_kind kind = 0; kind < CALL_COUNT; kind++) {
        if (strcmp(calls[kind].name, wanted) != 0)
            continue;
        chosen = kind;
        if (getenv("FAULT_AT") != NULL) {
            single.fail_at = strtoull(getenv("FAULT_AT"), NULL, 10);
            shared = &single;
        } else {
            drive();
        }
        return;
    }
    fprintf(stderr, "etlheap_faults: no call of the name %s\n", wanted);
    _exit(2);
}

/* After main, so that counters of coverage, which are written later, meet no faults. */
__attribute__((destructor)) static void end(void)
{
    if (shared == &single && single.fail_at == 0)
        fprintf(stderr, "%s calls: %llu\n", calls[chosen].name, (unsigned long long)single.count);
    shared = NULL;
}

static void die(const char *what)
{
    perror(what);
    _exit(2);
}

static void path_in(const driver *d, const char *name, char out[512])
{
    if (snprintf(out, 512, "%s/%s", d->folder, name) >= 512)
        die("FAULT_FOLDER is too long");
}

static void redirect(const driver *d, const char *name, int descriptor)
{
    char path[512];
    path_in(d, name, path);
    const int file = __real_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, descriptor) < 0)
        die(path);
    (void)__real_close(file);
}

/* The file that was changed, unless it was the run's own temporary file: a packed trace. */
static void put_back(const driver *d)
{
    char saved[512];
    char temporary[512];
    path_in(d, "saved", saved);
    path_in(d, "tmp/", temporary);
    const bool is_temporary = strncmp(shared->changed, temporary, strlen(temporary)) == 0;
    if ((is_temporary ? unlink(saved) : __real_rename(saved, shared->changed)) != 0)
        die(saved);
    shared->changed[0] = '\0';
}

/* Returns in the child only with *is_child, which then goes on to main. */
static outcome run_once(const driver *d, u64 fail_at, bool *is_child)
{
    outcome got = { 0 };
    struct rusage usage;
    struct timespec begun, ended;
    shared->count = 0;
    shared->late_writes = 0;
    memset(shared->callers, 0, sizeof shared->callers);
    shared->fail_at = fail_at;
    (void)clock_gettime(CLOCK_MONOTONIC, &begun);
    const pid_t child = fork();
    if (child < 0)
        die("fork");
    *is_child = child == 0;
    if (child == 0) {
        /* Jobs of a shell in the background may have inherited others. */
        (void)signal(SIGTERM, SIG_DFL);
        redirect(d, "stdout", STDOUT_FILENO);
        redirect(d, "stderr", STDERR_FILENO);
        (void)alarm(SECONDS_MAX);
        return got;
    }
    while (wait4(child, &got.status, 0, &usage) < 0 && errno == EINTR)
        continue;
    (void)clock_gettime(CLOCK_MONOTONIC, &ended);
    if (shared->changed[0] != '\0')
        put_back(d);
    got.rss_kib = usage.ru_maxrss;
    got.seconds =
        (double)(ended.tv_sec - begun.tv_sec) + (double)(ended.tv_nsec - begun.tv_nsec) / 1e9;
    return got;
}

static contents read_all(const char *path)
{
    contents got = { NULL, 0 };
    struct stat about;
    FILE *const file = __real_fopen(path, "rb");
    if (file == NULL)
        return got;
    if (__real_fstat(fileno(file), &about) != 0)
        die(path);
    got.at = __real_malloc((size_t)about.st_size + 1);
    if (got.at == NULL)
        die(path);
    got.size = fread(got.at, 1, (size_t)about.st_size, file);
    got.at[got.size] = '\0';
    (void)fclose(file);
    return got;
}

static contents read_file(const driver *d, const char *name)
{
    char path[512];
    path_in(d, name, path);
    return read_all(path);
}

/* Empties a folder; the number of files, and the bytes of the last. */
static u32 take_files(const driver *d, const char *name, contents *last)
{
    char path[512], file[1024];
    u32 count = 0;
    path_in(d, name, path);
    DIR *const folder = opendir(path);
    if (folder == NULL)
        die(path);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        free(last->at);
        *last = read_all(file);
        (void)unlink(file);
        count++;
    }
    (void)closedir(folder);
    return count;
}

static bool same(const contents *a, const contents *b)
{
    return a->size == b->size && (a->at == NULL) == (b->at == NULL) &&
           (a->size == 0 || memcmp(a->at, b->at, a->size) == 0);
}

static u32 lines_of(const contents *text)
{
    u32 lines = 0;
    for (size_t i = 0; i < text->size; i++)
        lines += text->at[i] == '\n';
    return lines;
}

/* What is wrong with an ended run; NULL: nothing. */
static const char *judge_end(const driver *d, const outcome *got)
{
    contents file = { NULL, 0 }, left = { NULL, 0 };
    contents output = read_file(d, "stdout"), said = read_file(d, "stderr");
    const u32 files = take_files(d, "out", &file);
    const u32 temporary = take_files(d, "tmp", &left);
    const char *fault = NULL;
    if (WEXITSTATUS(got->status) == LEAK_STATUS)
        fault = "leaks memory";
    else if (WEXITSTATUS(got->status) == d->status)
        fault = same(&output, &d->output) && same(&file, &d->file)
                    ? NULL
                    : "has another output, without an error";
    else if (WEXITSTATUS(got->status) != EXIT_INPUT)
        fault = "has an exit status other than 3";
    else if (lines_of(&said) != 1)
        fault = "does not say one sentence";
    else if (files != 0)
        fault = "leaves a file of its output";
    if (fault == NULL && temporary != 0)
        fault = "leaves temporary files";
    free(output.at);
    free(said.at);
    free(file.at);
    free(left.at);
    return fault;
}

/* Interrupted: what there is of the output is all of it. */
static const char *judge_interrupted(const driver *d)
{
    contents file = { NULL, 0 }, left = { NULL, 0 };
    const u32 files = take_files(d, "out", &file);
    const u32 temporary = take_files(d, "tmp", &left);
    const char *fault = NULL;
    if (shared->late_writes > LATE_WRITES_MAX)
        fault = "goes on writing after the signal";
    else if (files != 0 && !same(&file, &d->file))
        fault = "leaves a part of its output";
    else if (temporary != 0)
        fault = "leaves temporary files";
    free(file.at);
    free(left.at);
    return fault;
}

static void judge(driver *d, u64 fail_at, const outcome *got)
{
    const char *fault = NULL;
    d->runs++;
    if (got->seconds > d->seconds)
        d->seconds = got->seconds;
    if (got->rss_kib > d->rss_kib)
        d->rss_kib = got->rss_kib;
    if (WIFSIGNALED(got->status) && WTERMSIG(got->status) == SIGALRM) {
        d->hangs++;
        fault = "hangs";
    } else if (WIFSIGNALED(got->status) && WTERMSIG(got->status) == SIGTERM) {
        fault = judge_interrupted(d);
    } else if (WIFSIGNALED(got->status)) {
        d->crashes++;
        fault = strsignal(WTERMSIG(got->status));
    } else {
        fault = judge_end(d, got);
    }
    if (fault == NULL)
        return;
    contents ignored = { NULL, 0 };
    (void)take_files(d, "out", &ignored);
    (void)take_files(d, "tmp", &ignored);
    free(ignored.at);
    if (++d->faults > SHOWN_MAX)
        return;
    printf("# %s call %llu%s: %s; addr2line:", calls[chosen].name, (unsigned long long)fail_at,
           sticky ? " and all after it" : "", fault);
    /* The first two are of this file. */
    for (u32 i = 2; i < CALLERS && shared->callers[i] != NULL; i++)
        printf(" 0x%llx", (unsigned long long)((uintptr_t)shared->callers[i] -
                                               (uintptr_t)&__executable_start));
    printf("\n");
}

static void prepare(driver *d)
{
    static const char *const folders[] = { "tmp", "out" };
    char path[512];
    d->folder = getenv("FAULT_FOLDER");
    if (d->folder == NULL)
        die("FAULT_FOLDER");
    for (size_t i = 0; i < ETL_COUNT_OF(folders); i++) {
        path_in(d, folders[i], path);
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            die(path);
    }
    path_in(d, "tmp", path);
    (void)setenv("TMPDIR", path, 1);
    shared = __real_mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                         -1, 0);
    if (shared == MAP_FAILED)
        die("mmap");
}

/* The run without a failure says what is right. False in the child. */
static bool run_soundly(driver *d, u64 *count)
{
    bool is_child;
    const outcome got = run_once(d, 0, &is_child);
    if (is_child)
        return false;
    *count = shared->count;
    d->output = read_file(d, "stdout");
    const u32 files = take_files(d, "out", &d->file);
    if (!WIFEXITED(got.status) || WEXITSTATUS(got.status) > 1 || files > 1) {
        const contents said = read_file(d, "stderr");
        printf("# without a failure: status %d, %u files: %s\n", got.status, files, said.at);
        _exit(1);
    }
    d->status = WEXITSTATUS(got.status);
    return true;
}

/* Returns in children alone. */
static void drive(void)
{
    static driver d; /* children search for leaks, and this is none */
    u64 count = 0;
    const char *const stride_text = getenv("FAULT_STRIDE"), *const text = getenv("FAULT_STICKY");
    const u64 stride = stride_text == NULL ? 1 : strtoull(stride_text, NULL, 10);
    sticky = text != NULL && text[0] == '1';
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    prepare(&d);
    if (!run_soundly(&d, &count))
        return;
    for (u64 n = 1; n <= count; n += n < ALL_AT_FIRST || stride == 0 ? 1 : stride) {
        bool is_child;
        const outcome got = run_once(&d, n, &is_child);
        if (is_child)
            return;
        judge(&d, n, &got);
    }
    printf("%llu runs, %llu faults, %llu crashes, %llu hangs, max %.1f MiB, max %.2f s\n",
           (unsigned long long)d.runs, (unsigned long long)d.faults, (unsigned long long)d.crashes,
           (unsigned long long)d.hangs, (double)d.rss_kib / 1024, d.seconds);
    (void)fflush(stdout);
    _exit(d.faults == 0 ? 0 : 1);
}
