/* rates.c - amounts per second; see etlheap_per_second and etlheap_diff_rate. */
#include "engine/engine.h"

#include "parser/base.h"

#define DIGITS_OF_NS 9 /* 1 s is 10^9 ns */

/* amount * 10^digits / ns as a long division: the product would not fit. */
static i64 divide(i64 amount, i64 ns, int digits)
{
    const u64 longest = 1000000000000000000u; /* 31 years: ten times it still fits */
    if (ns <= 0)
        return 0;
    const u64 divisor = etl_min_u64((u64)ns, longest);
    const u64 whole = amount < 0 ? 0 - (u64)amount : (u64)amount;
    u64 quotient = whole / divisor, rest = whole % divisor;
    for (int digit = 0; digit < digits; digit++) {
        rest *= 10;
        if (quotient > ((u64)INT64_MAX - 9) / 10)
            return amount < 0 ? INT64_MIN : INT64_MAX;
        quotient = quotient * 10 + rest / divisor;
        rest %= divisor;
    }
    quotient += rest >= divisor - rest;
    return amount < 0 ? -(i64)quotient : (i64)quotient;
}

i64 etlheap_per_second(i64 amount, i64 ns)
{
    return divide(amount, ns, DIGITS_OF_NS);
}

i64 etlheap_diff_rate(i64 amount, i64 ns)
{
    return divide(amount, ns, DIGITS_OF_NS + 3);
}
