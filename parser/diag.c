/*
 * diag.c - the table behind diag.h.
 */
#include "diag.h"

static const etl_diag_info diagnostics[] = {
#define ETL_DIAG_ROW(name, severity, sentence) { #name, ETL_SEVERITY_##severity, sentence },
    ETL_DIAGNOSTICS(ETL_DIAG_ROW)
#undef ETL_DIAG_ROW
};

static_assert(ETL_COUNT_OF(diagnostics) == ETL_DIAG_COUNT, "one row per diagnostic");

const etl_diag_info *etl_diag_describe(etl_diag diag)
{
    assert((unsigned)diag < ETL_DIAG_COUNT);
    return &diagnostics[diag];
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
