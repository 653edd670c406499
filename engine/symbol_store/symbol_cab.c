/*
 * symbol_cab.c - expands the compressed files of symbol stores (cabinets with one file).
 *
 * In: a cabinet, which may be hostile. Out: the file, in an output that is open already.
 *
 * libmspack reads and writes through a table of functions that we give it. Its own functions print
 * warnings and open the output by name, but our output is a file that is locked and counted.
 * Invariant: libmspack writes exactly as many bytes as the cabinet states, so the limit is checked
 * against that number before anything is written.
 */
#include <errno.h>
#include <mspack.h>
#include <stdio.h>
#include <stdlib.h>

#include "parser/system/files.h"
#include "parser/system/name_fold.h"
#include "symbol_cab.h"

/* libmspack's table of functions, followed by the state of one expansion. */
typedef struct cab_system {
    struct mspack_system functions; /* first: libmspack hands back its address */
    symbol_partial *out;
    u64 bytes_max;
    int write_errno;
} cab_system;

/* A file of libmspack: the cabinet or the output. */
typedef struct cab_file {
    FILE *in;           /* NULL for the output */
    cab_system *system; /* of the output */
} cab_file;

static etl_status expand(struct mscab_decompressor *decompressor, cab_system *system,
                         const char *path, const char *name, etl_error *err);
static struct mscabd_file *choose(struct mscabd_cabinet *cabinet, const char *name);
static etl_status open_failure(int reason, etl_error *err);
static etl_status expand_failure(const cab_system *system, int reason, etl_error *err);
static struct mspack_file *on_open(struct mspack_system *self, const char *name, int mode);
static void on_close(struct mspack_file *file);
static int on_read(struct mspack_file *file, void *into, int size);
static int on_write(struct mspack_file *file, void *from, int size);
static int on_seek(struct mspack_file *file, off_t offset, int mode);
static off_t on_tell(struct mspack_file *file);
static void on_message(struct mspack_file *file, const char *format, ...);
static void *on_alloc(struct mspack_system *self, size_t size);
static void on_free(void *memory);
static void on_copy(void *from, void *to, size_t size);

static const struct mspack_system functions = {
    .open = on_open,
    .close = on_close,
    .read = on_read,
    .write = on_write,
    .seek = on_seek,
    .tell = on_tell,
    .message = on_message,
    .alloc = on_alloc,
    .free = on_free,
    .copy = on_copy,
};

bool symbol_cab_name(char *out, size_t capacity, const char *name)
{
    const size_t size = strlen(name);
    if (size == 0 || size >= capacity)
        return false;
    memcpy(out, name, size + 1);
    out[size - 1] = '_';
    return true;
}

etl_status symbol_cab_expand(const char *path, const char *name, u64 bytes_max, symbol_partial *out,
                             etl_error *err)
{
    cab_system system = { .functions = functions, .out = out, .bytes_max = bytes_max };
    if (!symbol_partial_clear(out))
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot be written: %s", strerror(errno));
    struct mscab_decompressor *const decompressor =
        mspack_create_cab_decompressor(&system.functions);
    if (!decompressor)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory to expand the cabinet");
    const etl_status status = expand(decompressor, &system, path, name, err);
    mspack_destroy_cab_decompressor(decompressor);
    return status;
}

static etl_status expand(struct mscab_decompressor *decompressor, cab_system *system,
                         const char *path, const char *name, etl_error *err)
{
    struct mscabd_cabinet *const cabinet = decompressor->open(decompressor, path);
    if (!cabinet)
        return open_failure(decompressor->last_error(decompressor), err);
    etl_status status = ETL_OK;
    struct mscabd_file *const file = choose(cabinet, name);
    if (!file)
        status = etl_fail_with(err, ETL_ERR_CORRUPT, 0, "the cabinet holds no file");
    else if (file->length > system->bytes_max)
        status = etl_fail_with(err, ETL_ERR_LIMIT, 0, "the cabinet holds %u bytes, too many",
                               (unsigned)file->length);
    else if (decompressor->extract(decompressor, file, "") != MSPACK_ERR_OK)
        status = expand_failure(system, decompressor->last_error(decompressor), err);
    else if (system->out->size_bytes != file->length)
        status =
            etl_fail_with(err, ETL_ERR_CORRUPT, 0, "the cabinet holds less than its header states");
    decompressor->close(decompressor, cabinet);
    return status;
}

static struct mscabd_file *choose(struct mscabd_cabinet *cabinet, const char *name)
{
    for (struct mscabd_file *file = cabinet->files; file; file = file->next)
        if (etl_name_same(symbol_base_name(file->filename), name))
            return file;
    return cabinet->files;
}

static etl_status open_failure(int reason, etl_error *err)
{
    switch (reason) {
    case MSPACK_ERR_NOMEMORY:
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory to read the cabinet");
    case MSPACK_ERR_OPEN:
        return etl_fail_with(err, ETL_ERR_IO, 0, "the cabinet cannot be opened");
    case MSPACK_ERR_SIGNATURE:
        return etl_fail_with(err, ETL_ERR_UNSUPPORTED, 0, "not a cabinet");
    default:
        return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                             "the cabinet's header is damaged (libmspack error %d)", reason);
    }
}

static etl_status expand_failure(const cab_system *system, int reason, etl_error *err)
{
    if (system->write_errno != 0)
        return etl_fail_with(err, ETL_ERR_IO, 0, "cannot be written: %s",
                             strerror(system->write_errno));
    if (reason == MSPACK_ERR_NOMEMORY)
        return etl_fail_with(err, ETL_ERR_MEMORY, 0, "no memory to expand the cabinet");
    return etl_fail_with(err, ETL_ERR_CORRUPT, 0,
                         "the cabinet's data is damaged (libmspack error %d)", reason);
}

/* Opens a file. Any file opened for writing is the output, which is open already. */
static struct mspack_file *on_open(struct mspack_system *self, const char *name, int mode)
{
    cab_file *const file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    if (mode == MSPACK_SYS_OPEN_READ)
        file->in = etl_file_stream(name);
    else
        file->system = (cab_system *)self;
    if (!file->in && !file->system) {
        free(file);
        return NULL;
    }
    return (struct mspack_file *)file;
}

static void on_close(struct mspack_file *file)
{
    cab_file *const open = (void *)file;
    if (open->in)
        (void)fclose(open->in);
    free(open);
}

static int on_read(struct mspack_file *file, void *into, int size)
{
    const cab_file *const open = (const void *)file;
    if (!open->in || size < 0)
        return -1;
    const size_t got = fread(into, 1, (size_t)size, open->in);
    return ferror(open->in) ? -1 : (int)got;
}

static int on_write(struct mspack_file *file, void *from, int size)
{
    const cab_file *const open = (const void *)file;
    cab_system *const system = open->system;
    if (!system || size < 0)
        return -1;
    if (!symbol_partial_append(system->out, (etl_bytes){ from, (size_t)size })) {
        system->write_errno = errno;
        return -1;
    }
    return size;
}

static int on_seek(struct mspack_file *file, off_t offset, int mode)
{
    const cab_file *const open = (const void *)file;
    if (!open->in)
        return -1;
    const int whence = mode == MSPACK_SYS_SEEK_START ? SEEK_SET
                       : mode == MSPACK_SYS_SEEK_CUR ? SEEK_CUR
                                                     : SEEK_END;
    return fseeko(open->in, offset, whence);
}

static off_t on_tell(struct mspack_file *file)
{
    const cab_file *const open = (const void *)file;
    return open->in ? ftello(open->in) : (off_t)open->system->out->size_bytes;
}

static void on_message(struct mspack_file *file, const char *format, ...)
{
    (void)file;
    (void)format;
}

static void *on_alloc(struct mspack_system *self, size_t size)
{
    (void)self;
    return malloc(size);
}

static void on_free(void *memory)
{
    free(memory);
}

static void on_copy(void *from, void *to, size_t size)
{
    memmove(to, from, size);
}
