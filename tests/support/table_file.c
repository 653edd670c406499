/* table_file.c - see table_file.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "table_file.h"

static bool keep(void *user, const void *bytes, size_t size)
{
    return ehs_put(user, bytes, size);
}

etl_status table_file_open(table_file *file, u64 bytes_max)
{
    ehs_writer writer;
    assert_int_equal(ehs_writer_open(&writer, keep, &file->bytes, EHS_CONTENT_STORE), ETL_OK);
    assert_int_equal(ehs_writer_put(&writer, &file->saver.blocks), ETL_OK);
    assert_int_equal(ehs_writer_close(&writer), ETL_OK);
    const etl_bytes bytes = { file->bytes.at, file->bytes.count };
    assert_int_equal(ehs_reader_open(&file->reader, bytes, &file->err), ETL_OK);
    file->loader = (ehs_loader){
        .reader = &file->reader, .arena = &file->arena, .bytes_left = bytes_max, .err = &file->err
    };
    return ehs_loader_open(&file->loader);
}

void table_file_close(table_file *file)
{
    ehs_loader_free(&file->loader);
    ehs_reader_close(&file->reader);
    ehs_saver_free(&file->saver);
    etlheap_arena_free(&file->arena);
    ETLHEAP_VECTOR_FREE(&file->bytes);
    *file = (table_file){ 0 };
}

void table_file_says(const table_file *file, const char *part)
{
    if (strstr(file->err.message, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, file->err.message);
}

void table_file_add(table_file *file, ehs_column column, const u32 *values, u32 count)
{
    assert_true(ehs_blocks_add(&file->saver.blocks, &file->saver.codec, column, 0, values, count));
}
