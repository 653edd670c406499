/*
 * Goal: events of handles, objects and their types are read from built payloads of both pointer
 * widths, of every length.
 * Method: payloads written byte by byte as layout_handle.h describes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode_check.h"
#include "parser/etl/layout_handle.h"

static const decode_vector vectors[] = {
    { .name = "a handle is created, 32-bit",
      .key = ETL_HOOK_HANDLE_CREATE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "10325486 a4010000 10005c00 42006100 73006500 4e006100 6d006500 64004f00 "
             "62006a00 65006300 74007300 5c006700 6f000000",
      .event = "Object/CreateHandle object=0x86543210 handle=0x1a4 object_type=16 "
               "name='\\BaseNamedObjects\\go'",
      .least = 10,
      .open_ended = true,
      .newest = true },
    { .name = "a handle of the kernel is closed, 32-bit",
      .key = ETL_HOOK_HANDLE_CLOSE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "10325486 400a0080 2c000000",
      .event = "Object/CloseHandle object=0x86543210 handle=0x80000a40 object_type=44 "
               "name=''",
      .least = 10,
      .open_ended = true,
      .newest = true },
    { .name = "a handle is duplicated, 32-bit, newer",
      .key = ETL_HOOK_HANDLE_DUPLICATE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "10325486 a4010000 0c020000 e1100000 1000d204 0000",
      .event = "Object/DuplicateHandle object=0x86543210 source_handle=0x1a4 target_ha"
               "ndle=0x20c target_process_id=4321 object_type=16 source_process_id=123"
               "4",
      .least = 18,
      .newest = true },
    { .name = "a handle is duplicated, 32-bit, older",
      .key = ETL_HOOK_HANDLE_DUPLICATE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "10325486 a4010000 0c020000 e1100000 1000",
      .event = "Object/DuplicateHandle object=0x86543210 source_handle=0x1a4 target_ha"
               "ndle=0x20c target_process_id=4321 object_type=16 source_process_id=0",
      .least = 18,
      .open_ended = true,
      .newest = true },
    { .name = "a handle was open at the start, 32-bit",
      .key = ETL_HOOK_HANDLE_DCSTART,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "10325486 e1100000 a4010000 25005c00 61000000",
      .event = "Object/HandleDCStart object=0x86543210 process_id=4321 handle=0x1a4 ob"
               "ject_type=37 name='\\a'",
      .least = 14,
      .open_ended = true,
      .newest = true },
    { .name = "a handle was open at the end, 32-bit",
      .key = ETL_HOOK_HANDLE_DCEND,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "10325486 04000000 400a0080 25000000",
      .event = "Object/HandleDCEnd object=0x86543210 process_id=4 handle=0x80000a40 ob"
               "ject_type=37 name=''",
      .least = 14,
      .open_ended = true,
      .newest = true },
    { .name = "an object is created, 32-bit",
      .key = ETL_HOOK_OBJECT_CREATE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "10325486 1000",
      .event = "Object/Create object=0x86543210 object_type=16",
      .least = WHOLE,
      .newest = true },
    { .name = "an object is deleted, 32-bit",
      .key = ETL_HOOK_OBJECT_DELETE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "10325486 1000",
      .event = "Object/Delete object=0x86543210 object_type=16",
      .least = WHOLE,
      .newest = true },
    { .name = "a handle is created, 64-bit",
      .key = ETL_HOOK_HANDLE_CREATE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "78563412 00a7ffff a4010000 10005c00 42006100 73006500 4e006100 6d006500 "
             "64004f00 62006a00 65006300 74007300 5c006700 6f000000",
      .event = "Object/CreateHandle object=0xffffa70012345678 handle=0x1a4 object_type"
               "=16 name='\\BaseNamedObjects\\go'",
      .least = 14,
      .open_ended = true,
      .newest = true },
    { .name = "a handle of the kernel is closed, 64-bit",
      .key = ETL_HOOK_HANDLE_CLOSE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "78563412 00a7ffff 400a0080 2c000000",
      .event = "Object/CloseHandle object=0xffffa70012345678 handle=0x80000a40 object_"
               "type=44 name=''",
      .least = 14,
      .open_ended = true,
      .newest = true },
    { .name = "a handle is duplicated, 64-bit, newer",
      .key = ETL_HOOK_HANDLE_DUPLICATE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "78563412 00a7ffff a4010000 0c020000 e1100000 1000d204 0000",
      .event = "Object/DuplicateHandle object=0xffffa70012345678 source_handle=0x1a4 t"
               "arget_handle=0x20c target_process_id=4321 object_type=16 source_proces"
               "s_id=1234",
      .least = 22,
      .newest = true },
    { .name = "a handle is duplicated, 64-bit, older",
      .key = ETL_HOOK_HANDLE_DUPLICATE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "78563412 00a7ffff a4010000 0c020000 e1100000 1000",
      .event = "Object/DuplicateHandle object=0xffffa70012345678 source_handle=0x1a4 t"
               "arget_handle=0x20c target_process_id=4321 object_type=16 source_proces"
               "s_id=0",
      .least = 22,
      .open_ended = true,
      .newest = true },
    { .name = "a handle was open at the start, 64-bit",
      .key = ETL_HOOK_HANDLE_DCSTART,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "78563412 00a7ffff e1100000 a4010000 25005c00 61000000",
      .event = "Object/HandleDCStart object=0xffffa70012345678 process_id=4321 handle="
               "0x1a4 object_type=37 name='\\a'",
      .least = 18,
      .open_ended = true,
      .newest = true },
    { .name = "a handle was open at the end, 64-bit",
      .key = ETL_HOOK_HANDLE_DCEND,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "78563412 00a7ffff 04000000 400a0080 25000000",
      .event = "Object/HandleDCEnd object=0xffffa70012345678 process_id=4 handle=0x800"
               "00a40 object_type=37 name=''",
      .least = 18,
      .open_ended = true,
      .newest = true },
    { .name = "an object is created, 64-bit",
      .key = ETL_HOOK_OBJECT_CREATE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "78563412 00a7ffff 1000",
      .event = "Object/Create object=0xffffa70012345678 object_type=16",
      .least = WHOLE,
      .newest = true },
    { .name = "an object is deleted, 64-bit",
      .key = ETL_HOOK_OBJECT_DELETE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "78563412 00a7ffff 1000",
      .event = "Object/Delete object=0xffffa70012345678 object_type=16",
      .least = WHOLE,
      .newest = true },
    { .name = "a type has a name",
      .key = ETL_HOOK_OBJECT_TYPE_DCSTART,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "1000ffff 45007600 65006e00 74000000",
      .event = "Object/TypeDCStart object_type=16 name='Event'",
      .least = 4,
      .open_ended = true,
      .newest = true },
    { .name = "a type has a name, at the end",
      .key = ETL_HOOK_OBJECT_TYPE_DCEND,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "10000000 45007600 65006e00 74000000",
      .event = "Object/TypeDCEnd object_type=16 name='Event'",
      .least = 4,
      .open_ended = true,
      .newest = true },
};

#include "decode_vector_tests.h"

int main(void)
{
    const struct CMUnitTest tests[] = { DECODE_VECTOR_TESTS };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
