/* fuzz_trace.c - any bytes as a whole trace file. */
#include "trace_check.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    trace_check(data, size, 0);
    return 0;
}
