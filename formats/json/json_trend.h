/*
 * json_trend.h - the document of a trend, as a file or as the data of a page.
 */
#ifndef ETLHEAP_JSON_TREND_H
#define ETLHEAP_JSON_TREND_H

#include "json.h"

/* Like etlheap_write_trend_json. in_markup: escapes every character that could begin a tag. */
etl_status json_trend_write(const etlheap_trend_answer *answer, const etlheap_layout *given,
                            bool in_markup, etlheap_sink *sink);

#endif
