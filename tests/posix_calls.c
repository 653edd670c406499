/* posix_calls.c - see posix_calls.h. */
#include "posix_calls.h"

#undef fclose
#undef tmpfile

#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <string.h>

#define OPEN_MAX 16 /* at once */

/* A file that stands for memory. Tests have one thread. */
typedef struct memory_file {
    FILE *file;
    char **text; /* of open_memstream */
    size_t *size;
    void *bytes; /* of fmemopen */
    size_t bytes_size;
} memory_file;

static memory_file open_files[OPEN_MAX];

static FILE *add_file(memory_file memory);
static int take_back(memory_file *memory);

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
    memory.file = posix_calls_tmpfile();
    for (size_t i = 0; memory.file && i < OPEN_MAX; i++) {
        if (!open_files[i].file) {
            open_files[i] = memory;
            return memory.file;
        }
    }
    abort();
}

int posix_calls_fclose(FILE *file)
{
    for (size_t i = 0; i < OPEN_MAX; i++) {
        if (open_files[i].file == file)
            return take_back(&open_files[i]);
    }
    return fclose(file);
}

static int take_back(memory_file *memory)
{
    FILE *const file = memory->file;
    const long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *const text = calloc((size_t)size + 1, 1);
    if (size < 0 || !text || fseek(file, 0, SEEK_SET) != 0 ||
        fread(text, 1, (size_t)size, file) != (size_t)size)
        abort();
    memory->file = NULL;
    if (memory->text) {
        *memory->text = text;
        *memory->size = (size_t)size;
        return fclose(file);
    }
    /* With its end when there is room for that, as the real one. */
    const size_t kept = (size_t)size < memory->bytes_size ? (size_t)size + 1 : memory->bytes_size;
    memcpy(memory->bytes, text, kept);
    free(text);
    return fclose(file);
}

FILE *posix_calls_tmpfile(void)
{
    char *const path = _tempnam(NULL, "etlheap");
    const int descriptor =
        path ? _open(path, _O_CREAT | _O_EXCL | _O_RDWR | _O_BINARY | _O_TEMPORARY, 0600) : -1;
    free(path);
    return descriptor < 0 ? NULL : _fdopen(descriptor, "w+b");
}

ssize_t pread(int descriptor, void *bytes, size_t size, off_t offset)
{
    if (_lseeki64(descriptor, offset, SEEK_SET) < 0)
        return -1;
    return _read(descriptor, bytes, (unsigned)size);
}

char *mkdtemp(char *path)
{
    return _mktemp(path) && _mkdir(path) == 0 ? path : NULL;
}
