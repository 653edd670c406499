/*
 * session.h - the log-file header (private to the parser).
 */
#ifndef ETL_SESSION_H
#define ETL_SESSION_H

#include "parser/base.h"
#include "parser/parser.h"

/*
 * Reads the log-file header in the HEADER buffer at `offset` of the file. Strings in *out borrow
 * from the file. ETL_ERR_NOT_ETL (there is none), ETL_ERR_UNSUPPORTED (older than Windows Vista),
 * ETL_ERR_CORRUPT (cut off or contradictory).
 */
etl_status etl_session_read(etl_bytes file, u64 offset, etl_session *out, etl_error *err);

#endif
