/* posix_calls.c - see posix_calls.h. */
#include "posix_calls.h"

#undef fclose
#undef tmpfile
#undef mkstemp

#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <stdbool.h>
#include <string.h>
#include <sys/utime.h>

#define MEMORY_FILES_MAX 16u        /* in use at once */
#define MEMORY_BUFFER    (1u << 16) /* bytes before they go to the file */
#define SUFFIX_SIZE      6u         /* XXXXXX */
#define NAME_TRIES       1000u

/* A file that stands for memory, and is kept for the next that is asked for: making and
 * removing a file is what takes the time. Tests have one thread. */
typedef struct memory_file {
    FILE *file;
    bool is_used;
    char **text; /* of open_memstream */
    size_t *size;
    void *bytes; /* of fmemopen */
    size_t bytes_size;
} memory_file;

/* Makes what a name is for; < 0 with errno: not. */
typedef int make_fn(const char *path);

static memory_file memory_files[MEMORY_FILES_MAX];
static unsigned names_made;

static FILE *add_file(memory_file memory);
static int take_back(memory_file *memory);
static int make_unique(char *path, make_fn *make);
static make_fn make_temporary, make_file;

/* Files and results are bytes, as everywhere else. */
__attribute__((constructor)) static void begin(void)
{
    _fmode = _O_BINARY;
    (void)_setmode(1, _O_BINARY);
    (void)_setmode(2, _O_BINARY);
}

FILE *open_memstream(char **text, size_t *size)
{
    return add_file((memory_file){ .text = text, .size = size });
}

FILE *fmemopen(void *bytes, size_t size, const char *mode)
{
    return strcmp(mode, "w") == 0 ? add_file((memory_file){ .bytes = bytes, .bytes_size = size })
                                  : NULL;
}

static FILE *add_file(memory_file memory)
{
    memory_file *at = memory_files;
    while (at < memory_files + MEMORY_FILES_MAX && at->is_used)
        at++;
    if (at == memory_files + MEMORY_FILES_MAX)
        abort();
    memory.file = at->file ? at->file : posix_calls_tmpfile();
    if (!memory.file || (!at->file && setvbuf(memory.file, NULL, _IOFBF, MEMORY_BUFFER) != 0))
        abort();
    memory.is_used = true;
    *at = memory;
    return memory.file;
}

int posix_calls_fclose(FILE *file)
{
    for (size_t i = 0; i < MEMORY_FILES_MAX; i++) {
        if (memory_files[i].is_used && memory_files[i].file == file)
            return take_back(&memory_files[i]);
    }
    return fclose(file);
}

static int take_back(memory_file *memory)
{
    FILE *const file = memory->file;
    const long size = ftell(file);
    char *const text = calloc((size_t)size + 1, 1);
    if (size < 0 || !text || fseek(file, 0, SEEK_SET) != 0 ||
        fread(text, 1, (size_t)size, file) != (size_t)size || fseek(file, 0, SEEK_SET) != 0 ||
        _chsize(_fileno(file), 0) != 0)
        abort();
    memory->is_used = false;
    if (memory->text) {
        *memory->text = text;
        *memory->size = (size_t)size;
        return 0;
    }
    /* With its end when there is room for that, as the real one. */
    const size_t kept = (size_t)size < memory->bytes_size ? (size_t)size + 1 : memory->bytes_size;
    memcpy(memory->bytes, text, kept);
    free(text);
    return 0;
}

/* --- names ------------------------------------------------------------------ */

FILE *posix_calls_tmpfile(void)
{
    const char *const folder = getenv("TMP");
    char path[FILENAME_MAX];
    (void)snprintf(path, sizeof path, "%s\\etlheap-XXXXXX", folder ? folder : ".");
    const int descriptor = make_unique(path, make_temporary);
    return descriptor < 0 ? NULL : _fdopen(descriptor, "w+b");
}

static int make_temporary(const char *path)
{
    return _open(path, _O_CREAT | _O_EXCL | _O_RDWR | _O_BINARY | _O_TEMPORARY, 0600);
}

/* Of the process and a counter, so that no two of the programs that run side by side make
 * the same name, not even of a file that one of them has just removed. What others have
 * left behind is passed over. */
static int make_unique(char *path, make_fn *make)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    char *const suffix = path + strlen(path) - SUFFIX_SIZE;
    for (unsigned tries = 0; tries < NAME_TRIES; tries++) {
        /* Numbers of processes are multiples of four. */
        unsigned number = (unsigned)_getpid() / 4 << 16 | (names_made++ & 0xffffu);
        for (size_t i = SUFFIX_SIZE; i-- > 0; number /= 32)
            suffix[i] = letters[number % 32];
        const int made = make(path);
        if (made >= 0 || errno != EEXIST)
            return made;
    }
    return -1;
}

int posix_calls_mkstemp(char *path)
{
    return make_unique(path, make_file);
}

static int make_file(const char *path)
{
    return _open(path, _O_CREAT | _O_EXCL | _O_RDWR | _O_BINARY, 0600);
}

char *mkdtemp(char *path)
{
    return make_unique(path, _mkdir) < 0 ? NULL : path;
}

/* --- reading and writing ---------------------------------------------------- */

ssize_t pread(int descriptor, void *bytes, size_t size, off_t offset)
{
    if (_lseeki64(descriptor, offset, SEEK_SET) < 0)
        return -1;
    return _read(descriptor, bytes, (unsigned)size);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    if (_lseeki64(descriptor, offset, SEEK_SET) < 0)
        return -1;
    return _write(descriptor, bytes, (unsigned)size);
}

int futimens(int descriptor, const struct timespec times[2])
{
    struct __utimbuf64 whole = { times[0].tv_sec, times[1].tv_sec };
    return _futime64(descriptor, &whole);
}
