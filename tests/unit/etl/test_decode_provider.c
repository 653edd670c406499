/*
 * Goal: events of providers with a manifest decode as event_rows.h says: methods of .NET,
 * and the memory of the system.
 * Method: hand-written payloads with every field expected, the checks that follow from any
 * vector (decode_check.h), and ids that are not those of a class.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "decode_check.h"
#include "parser/etl/layout_events.h"

static const decode_vector vectors[] = {
    { .name = "method compiled again",
      .key = ETL_KEY_METHOD_LOAD,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "30a2b05ef90700002030935ef90700009000b15ef907000079020000d9060006"
             "08000000530079007300740065006d002e0041007000700044006f006d006100"
             "69006e000000530065007400000076006f006900640020002800290000000900"
             "0300000000000000",
      .event = "Microsoft-Windows-DotNETRuntime/Method/LoadVerbose "
               "method_id=0x7f95eb0a230 module_id=0x7f95e933020 "
               "start_address=0x7f95eb10090 size=633 token=0x60006d9 flags=0x8 "
               "namespace='System.AppDomain' name='Set' signature='void ()' "
               "clr_instance_id=9 rejit_id=3",
      .least = 36,
      .newest = true },
    { .name = "method that goes, of version 1, in a 32-bit process",
      .key = ETL_KEY_METHOD_UNLOAD,
      .version = 1,
      .pointer_bytes = 4,
      .hex = "30a2b05ef90700002030935ef90700009000b15ef907000079020000d9060006"
             "08000000530079007300740065006d002e0041007000700044006f006d006100"
             "69006e000000530065007400000076006f006900640020002800290000000900",
      .event = "Microsoft-Windows-DotNETRuntime/Method/UnloadVerbose "
               "method_id=0x7f95eb0a230 module_id=0x7f95e933020 "
               "start_address=0x7f95eb10090 size=633 token=0x60006d9 flags=0x8 "
               "namespace='System.AppDomain' name='Set' signature='void ()' "
               "clr_instance_id=9 rejit_id=0",
      .least = 36,
      .newest = false },
    { .name = "method at the start, of version 0",
      .key = ETL_KEY_METHOD_DCSTART,
      .version = 0,
      .pointer_bytes = 8,
      .hex = "30a2b05ef90700002030935ef90700009000b15ef907000079020000d9060006"
             "08000000530079007300740065006d002e0041007000700044006f006d006100"
             "69006e000000530065007400000076006f00690064002000280029000000",
      .event = "Microsoft-Windows-DotNETRuntimeRundown/Method/DCStartVerbose "
               "method_id=0x7f95eb0a230 module_id=0x7f95e933020 "
               "start_address=0x7f95eb10090 size=633 token=0x60006d9 flags=0x8 "
               "namespace='System.AppDomain' name='Set' signature='void ()' "
               "clr_instance_id=0 rejit_id=0",
      .least = 36,
      .newest = false },
    { .name = "method at the end",
      .key = ETL_KEY_METHOD_DCEND,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "30a2b05ef90700002030935ef90700009000b15ef907000079020000d9060006"
             "08000000530079007300740065006d002e0041007000700044006f006d006100"
             "69006e000000530065007400000076006f006900640020002800290000000900"
             "0000000000000000",
      .event = "Microsoft-Windows-DotNETRuntimeRundown/Method/DCStopVerbose "
               "method_id=0x7f95eb0a230 module_id=0x7f95e933020 "
               "start_address=0x7f95eb10090 size=633 token=0x60006d9 flags=0x8 "
               "namespace='System.AppDomain' name='Set' signature='void ()' "
               "clr_instance_id=9 rejit_id=0",
      .least = 36,
      .newest = true },
    { .name = "file with methods",
      .key = ETL_KEY_ASSEMBLY_LOAD,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "2030935ef9070000c04d780000000000090000000000000043003a005c006100"
             "2e0064006c006c0000006e002e0064006c006c0000000900",
      .event = "Microsoft-Windows-DotNETRuntime/Loader/ModuleLoad "
               "module_id=0x7f95e933020 assembly_id=0x784dc0 flags=0x9 "
               "il_path='C:\\a.dll' native_path='n.dll'",
      .least = 24,
      .newest = true },
    { .name = "file that goes",
      .key = ETL_KEY_ASSEMBLY_UNLOAD,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "2030935ef9070000c04d780000000000090000000000000043003a005c006100"
             "2e0064006c006c0000006e002e0064006c006c0000000900",
      .event = "Microsoft-Windows-DotNETRuntime/Loader/ModuleUnload "
               "module_id=0x7f95e933020 assembly_id=0x784dc0 flags=0x9 "
               "il_path='C:\\a.dll' native_path='n.dll'",
      .least = 24,
      .newest = true },
    { .name = "file at the start",
      .key = ETL_KEY_ASSEMBLY_DCSTART,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "2030935ef9070000c04d780000000000090000000000000043003a005c006100"
             "2e0064006c006c0000006e002e0064006c006c0000000900",
      .event = "Microsoft-Windows-DotNETRuntimeRundown/Loader/ModuleDCStart "
               "module_id=0x7f95e933020 assembly_id=0x784dc0 flags=0x9 "
               "il_path='C:\\a.dll' native_path='n.dll'",
      .least = 24,
      .newest = true },
    { .name = "file at the end, of version 0",
      .key = ETL_KEY_ASSEMBLY_DCEND,
      .version = 0,
      .pointer_bytes = 8,
      .hex = "2030935ef9070000c04d780000000000090000000000000043003a005c006100"
             "2e0064006c006c0000006e002e0064006c006c000000",
      .event = "Microsoft-Windows-DotNETRuntimeRundown/Loader/ModuleDCStop "
               "module_id=0x7f95e933020 assembly_id=0x784dc0 flags=0x9 "
               "il_path='C:\\a.dll' native_path='n.dll'",
      .least = 24,
      .newest = false },
    { .name = "memory of the system",
      .key = ETL_KEY_KERNEL_MEMINFO,
      .version = 1,
      .pointer_bytes = 8,
      .hex = "080b000000000000000c000000000000000d000000000000000e000000000000"
             "000f000000000000000100000000000000020000000000000003000000000000"
             "0004000000000000000500000000000000060000000000000007000000000000"
             "0008000000000000006500000000000000660000000000000067000000000000"
             "00680000000000000069000000000000006a000000000000006b000000000000"
             "006c000000000000001000000000000000110000000000000012000000000000"
             "0013000000000000001400000000000000",
      .event = "Microsoft-Windows-Kernel-Memory/MemInfo zero_pages=11 free_pages=12 "
               "modified_pages=13 modified_no_write_pages=14 bad_pages=15 "
               "standby_pages=36 repurposed_pages=836 modified_page_file_pages=16 "
               "paged_pool_commit_pages=17 non_paged_pool_pages=18 mdl_pages=19 "
               "commit_pages=20",
      .least = WHOLE,
      .newest = true },
    { .name = "memory of a 32-bit system",
      .key = ETL_KEY_KERNEL_MEMINFO,
      .version = 1,
      .pointer_bytes = 4,
      .hex = "080b0000000c0000000d0000000e0000000f0000000100000002000000030000"
             "0004000000050000000600000007000000080000006500000066000000670000"
             "0068000000690000006a0000006b0000006c0000001000000011000000120000"
             "001300000014000000",
      .event = "Microsoft-Windows-Kernel-Memory/MemInfo zero_pages=11 free_pages=12 "
               "modified_pages=13 modified_no_write_pages=14 bad_pages=15 "
               "standby_pages=36 repurposed_pages=836 modified_page_file_pages=16 "
               "paged_pool_commit_pages=17 non_paged_pool_pages=18 mdl_pages=19 "
               "commit_pages=20",
      .least = WHOLE,
      .newest = true },
    { .name = "working sets",
      .key = ETL_KEY_KERNEL_MEMINFO_WS,
      .version = 1,
      .pointer_bytes = 8,
      .hex = "02000000e1100000010000000000000002000000000000000300000000000000"
             "0400000000000000080000000500000000000000060000000000000007000000"
             "000000000800000000000000",
      .event = "Microsoft-Windows-Kernel-Memory/MemInfoWS count=2 entries=4321:1/2/3/4,8:5/6/7/8",
      .least = WHOLE,
      .newest = false },
    { .name = "working sets of sessions, with what version 2 adds",
      .key = ETL_KEY_KERNEL_MEMINFO_SESSION_WS,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "01000000020000000b0000000c0000000d0000000e0000000f00000010000000"
             "1100000012000000",
      .event = "Microsoft-Windows-Kernel-Memory/MemInfoSessionWS count=1 entries=2:11/12/13/14",
      .least = WHOLE,
      .newest = true },
    { .name = "working sets of sessions, of the kernel",
      .key = ETL_HOOK_MEMINFO_SESSION_WS,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "01000000010000000b000000000000000c000000000000000d00000000000000"
             "0e000000000000000f0000000000000010000000000000001100000000000000"
             "1200000000000000",
      .event = "PageFault/MemInfoSessionWS count=1 entries=1:11/12/13/14",
      .least = WHOLE,
      .newest = true },
};

#include "decode_vector_tests.h"

/* The GUID of a provider says nothing about opcodes, and an id of 256 and more has no key. */
static void only_ids_of_a_manifest_are_read(void **state)
{
    (void)state;
    size_t size = 0;
    u8 *const bytes = decode_vector_payload(&vectors[0], &size);
    etl_record record =
        decode_vector_record(&vectors[0], (etl_bytes){ bytes, size }, ETL_HEADER_EVENT64);
    etl_event event;
    etl_diag_counts diag = { { 0 } };
    assert_true(etl_decode(&record, &event, &diag));
    record.id += 256;
    assert_false(etl_decode(&record, &event, &diag));
    assert_string_equal(etl_record_name(&record), "Microsoft-Windows-DotNETRuntime");
    record.id -= 256;
    record.header = ETL_HEADER_FULL64;
    record.opcode = (u8)record.id;
    assert_false(etl_decode(&record, &event, &diag));
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DECODE_VECTOR_TESTS,
        cmocka_unit_test(only_ids_of_a_manifest_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
