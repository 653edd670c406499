/*
 * status.c - status names and how an etl_error is filled.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base.h"
#include "parser.h"

etl_status etl_fail_with(etl_error *err, etl_status status, u64 offset, const char *format, ...)
{
    if (!err)
        return status;
    err->status = status;
    err->hint = ETL_HINT_NONE;
    err->offset = offset;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return status;
}

etl_status etl_no_memory(etl_error *err)
{
    return etl_fail_with(err, ETL_ERR_MEMORY, 0, "out of memory");
}

etl_status etl_fail_hint(etl_error *err, etl_status status, etl_hint hint, const char *format, ...)
{
    if (!err)
        return status;
    err->status = status;
    err->hint = hint;
    err->offset = 0;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return status;
}

const char *etl_status_name(etl_status status)
{
    switch (status) {
    case ETL_OK:
        return "ok";
    case ETL_ERR_IO:
        return "cannot read or write";
    case ETL_ERR_MEMORY:
        return "out of memory";
    case ETL_ERR_ARGUMENT:
        return "invalid argument";
    case ETL_ERR_LIMIT:
        return "a limit was exceeded";
    case ETL_ERR_CANCELLED:
        return "cancelled";
    case ETL_ERR_NOT_ETL:
        return "not an ETL file";
    case ETL_ERR_UNSUPPORTED:
        return "unsupported kind of file";
    case ETL_ERR_CORRUPT:
        return "damaged file";
    }
    return "unknown status";
}

size_t etl_error_size(void)
{
    return sizeof(etl_error);
}

const char *etl_error_message(const etl_error *err)
{
    return err->message;
}
