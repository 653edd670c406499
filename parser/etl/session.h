/*
 * session.h - the log-file header (private to the parser).
 */
#ifndef ETL_SESSION_H
#define ETL_SESSION_H

#include "parser/parser.h"

/*
 * Reads the log-file header of the HEADER buffer at `offset` of the file; the
 * strings in *out borrow from the file. ETL_ERR_NOT_ETL: there is none;
 * ETL_ERR_UNSUPPORTED: it is older than Windows Vista; ETL_ERR_CORRUPT: it is cut
 * off or contradicts itself.
 */
etl_status etl_session_read(etl_bytes file, u64 offset, etl_session *out, etl_error *err);

#endif
