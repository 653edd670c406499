/* trend_curve.h - classifies the values of a group over the runs: see etlheap_trend.h. */
#ifndef ETLHEAP_TREND_CURVE_H
#define ETLHEAP_TREND_CURVE_H

#include "engine/engine.h"

#include "parser/base.h"

/* Computes the curve of `count` values, at least 2. `scratch` has room for 2 * count numbers. */
etlheap_trend_curve trend_curve_of(const i64 *values, const i64 *partners, u32 count, i64 *scratch);

#endif
