/*
 * fuzz_decode.c - any bytes as the payload of an event that we decode. The first four
 * bytes choose hook, version and pointer width; the payload has memory of its own,
 * so that reading past it is found out.
 */
#include "fuzz.h"
#include "parser/parser.h"

#include <stdlib.h>

#define CHOICE_BYTES 4u

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    static const u8 groups[] = { 0x00, 0x02, 0x03, 0x05, 0x0B, 0x10, 0x18, 0x03 };
    if (size < CHOICE_BYTES)
        return 0;
    const size_t left = size - CHOICE_BYTES;
    u8 *const payload = malloc(left + (left == 0));
    if (payload == NULL)
        abort();
    memcpy(payload, data + CHOICE_BYTES, left);
    const etl_record record = { .ticks = 1,
                                .tid = 1,
                                .pid = 1,
                                .hook = (u16)(groups[data[0] % 8] << 8 | data[1]),
                                .opcode = data[1],
                                .version = data[2] % 8,
                                .header = ETL_HEADER_SYSTEM64,
                                .pointer_bytes = data[3] % 2 == 0 ? 8 : 4,
                                .has_hook = true,
                                .has_time = true,
                                .payload = { payload, left } };
    etl_diag_counts diag = { 0 };
    etl_event event;
    if (etl_decode(&record, &event, &diag) && event.kind == ETL_EVENT_NONE)
        __builtin_trap();
    free(payload);
    return 0;
}
