/*
 * hint.c - the table behind hint.h.
 */
#include "hint.h"

#include "base.h"

static const char *const texts[] = {
#define ETL_HINT_ROW(name, text) text,
    ETL_HINTS(ETL_HINT_ROW)
#undef ETL_HINT_ROW
};

static_assert(ETL_COUNT_OF(texts) == ETL_HINT_COUNT, "one row per hint");

const char *etl_hint_text(etl_hint hint)
{
    return (unsigned)hint < ETL_HINT_COUNT ? texts[hint] : "";
}
