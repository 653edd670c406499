/* symbol_key.c - the name of a build of a module, as symbol stores name folders. */
#include "symbol_path.h"

#include <stdio.h>

void symbol_key_format(const symbol_key *key, char out[SYMBOL_KEY_TEXT_SIZE])
{
    if (key->kind == SYMBOL_KIND_IMAGE) {
        (void)snprintf(out, SYMBOL_KEY_TEXT_SIZE, "%08X%x", (unsigned)key->time_date_stamp,
                       (unsigned)key->image_size_bytes);
        return;
    }
    const u8 *const guid = key->guid.bytes;
    const int size =
        snprintf(out, SYMBOL_KEY_TEXT_SIZE, "%08X%04X%04X", (unsigned)etl_load_u32(guid),
                 (unsigned)etl_load_u16(guid + 4), (unsigned)etl_load_u16(guid + 6));
    char *at = out + size;
    for (int i = 8; i < 16; i++, at += 2)
        (void)snprintf(at, 3, "%02X", (unsigned)guid[i]);
    (void)snprintf(at, 9, "%x", (unsigned)key->age);
}
