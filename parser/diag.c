/*
 * diag.c - the table behind diag.h.
 */
#include "base.h"
#include "diag.h"

static const etl_diag_info diagnostics[] = {
#define ETL_DIAG_ROW(name, severity, sentence) { #name, ETL_SEVERITY_##severity, sentence },
    ETL_DIAGNOSTICS(ETL_DIAG_ROW)
#undef ETL_DIAG_ROW
};

static_assert(ETL_COUNT_OF(diagnostics) == ETL_DIAG_COUNT, "one row per diagnostic");

const etl_diag_info *etl_diag_describe(etl_diag diag)
{
    return (unsigned)diag < ETL_DIAG_COUNT ? &diagnostics[diag] : NULL;
}

etl_hint etl_diag_hint(etl_diag diag)
{
    switch (diag) {
    case ETL_DIAG_symbol_missing:
        return ETL_HINT_LIST_MODULES;
    case ETL_DIAG_symbol_mismatch:
        return ETL_HINT_OTHER_BUILDS;
    case ETL_DIAG_symbol_server_unreachable:
        return ETL_HINT_OFFLINE;
    case ETL_DIAG_symbol_server_denied:
        return ETL_HINT_SERVER_LOGIN;
    case ETL_DIAG_symbol_proxy_denied:
        return ETL_HINT_PROXY_LOGIN;
    case ETL_DIAG_symbol_too_slow:
        return ETL_HINT_DOWNLOAD_TIME;
    case ETL_DIAG_symbol_too_large:
        return ETL_HINT_DOWNLOAD_SIZE;
    case ETL_DIAG_symbol_redirect_refused:
        return ETL_HINT_PRIVATE_REDIRECTS;
    default:
        return ETL_HINT_NONE;
    }
}

const char *etl_severity_name(etl_severity severity)
{
    switch (severity) {
    case ETL_SEVERITY_INFO:
        return "info";
    case ETL_SEVERITY_LOSS:
        return "loss";
    case ETL_SEVERITY_DAMAGE:
        return "damage";
    case ETL_SEVERITY_LIMIT:
        return "limit";
    }
    return "unknown";
}
