/*
 * trend_curve.h - what the values of one group do over the runs: see etlheap_trend.h.
 */
#ifndef ETLHEAP_TREND_CURVE_H
#define ETLHEAP_TREND_CURVE_H

#include "engine/engine.h"

/* `scratch` has room for 2 * count numbers; count is at least 2. */
etlheap_trend_curve trend_curve_of(const i64 *values, const i64 *partners, u32 count, i64 *scratch);

#endif
