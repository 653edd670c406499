/*
 * Goal: views of files, sections of the page file and names of files decode as layout_mapped.h
 * says, in both pointer widths and in each version.
 * Method: hand-written payloads with every field expected, two of them from real recordings, and
 * the checks that follow from any vector (decode_check.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode_check.h"
#include "parser/etl/layout_events.h"
#include "parser/etl/layout_mapped.h"

static const decode_vector vectors[] = {
    { .name = "map file, as ETWAnalyzer's MapFileEventObjects.cs quotes it",
      .key = ETL_HOOK_MAP_FILE,
      .version = 3,
      .pointer_bytes = 8,
      .hex = "00007e3eb9020000 70fb3f2c0882ffff 000000000000c100 0010000000000000 0000000000000000 "
             "80190000",
      .event = "FileIo/MapFile view_base=0x2b93e7e0000 file_object=0xffff82082c3ffb70 "
               "misc_info=0xc1000000000000 view_size=4096 byte_offset=0 process_id=6528",
      .least = WHOLE,
      .newest = true },
    { .name = "map file, as goetw's list of MOF classes quotes it",
      .key = ETL_HOOK_MAP_FILE,
      .version = 3,
      .pointer_bytes = 8,
      .hex = "0000d9aff77f0000 7011969a85e6ffff 0000000000004700 0010050000000000 0040040000000000 "
             "00000000",
      .event = "FileIo/MapFile view_base=0x7ff7afd90000 file_object=0xffffe6859a961170 "
               "misc_info=0x47000000000000 view_size=331776 byte_offset=278528 process_id=0",
      .least = WHOLE,
      .newest = true },
    { .name = "map file, version 2",
      .key = ETL_HOOK_MAP_FILE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "00003b40f77f0000 10203040a0ffffff 0100000000004700 0010050000000000 04180000",
      .event = "FileIo/MapFile view_base=0x7ff7403b0000 file_object=0xffffffa040302010 "
               "misc_info=0x47000000000001 view_size=331776 byte_offset=0 process_id=6148",
      .least = WHOLE },
    { .name = "unmap file, 32-bit",
      .key = ETL_HOOK_UNMAP_FILE,
      .version = 3,
      .pointer_bytes = 4,
      .hex = "00003b40 10203085 0000000000004700 00100500 0000010002000000 04180000",
      .event = "FileIo/UnmapFile view_base=0x403b0000 file_object=0x85302010 "
               "misc_info=0x47000000000000 view_size=331776 byte_offset=8590000128 process_id=6148",
      .least = WHOLE,
      .newest = true },
    { .name = "unmap file, 32-bit, version 2",
      .key = ETL_HOOK_UNMAP_FILE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00003b40 10203085 0000000000004700 00100500 04180000",
      .event = "FileIo/UnmapFile view_base=0x403b0000 file_object=0x85302010 "
               "misc_info=0x47000000000000 view_size=331776 byte_offset=0 process_id=6148",
      .least = WHOLE },
    { .name = "views at the start",
      .key = ETL_HOOK_MAP_FILE_DCSTART,
      .version = 3,
      .pointer_bytes = 8,
      .hex = "00007e3eb9020000 70fb3f2c0882ffff 0000000000000000 0010000000000000 0000010000000000 "
             "80190000",
      .event = "FileIo/MapFileDCStart view_base=0x2b93e7e0000 file_object=0xffff82082c3ffb70 "
               "misc_info=0x0 view_size=4096 byte_offset=65536 process_id=6528",
      .least = WHOLE,
      .newest = true },
    { .name = "views at the end",
      .key = ETL_HOOK_MAP_FILE_DCEND,
      .version = 3,
      .pointer_bytes = 8,
      .hex = "00007e3eb9020000 70fb3f2c0882ffff 0000000000000000 0010000000000000 0000010000000000 "
             "80190000",
      .event = "FileIo/MapFileDCEnd view_base=0x2b93e7e0000 file_object=0xffff82082c3ffb70 "
               "misc_info=0x0 view_size=4096 byte_offset=65536 process_id=6528",
      .least = WHOLE,
      .newest = true },
    { .name = "file name",
      .key = ETL_HOOK_FILE_NAME,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "70fb3f2c0882ffff 5c0061002e0064006c006c000000",
      .event = "FileIo/Name file_object=0xffff82082c3ffb70 file_name='\\a.dll'",
      .least = 8,
      .open_ended = true,
      .newest = true },
    { .name = "file created, 32-bit",
      .key = ETL_HOOK_FILE_CREATE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "10203085 5c0061000000",
      .event = "FileIo/FileCreate file_object=0x85302010 file_name='\\a'",
      .least = 4,
      .open_ended = true,
      .newest = true },
    { .name = "file deleted",
      .key = ETL_HOOK_FILE_DELETE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "70fb3f2c0882ffff 5c0061000000",
      .event = "FileIo/FileDelete file_object=0xffff82082c3ffb70 file_name='\\a'",
      .least = 8,
      .open_ended = true,
      .newest = true },
    { .name = "file of a rundown, without a name",
      .key = ETL_HOOK_FILE_RUNDOWN,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "70fb3f2c0882ffff 0000",
      .event = "FileIo/FileRundown file_object=0xffff82082c3ffb70 file_name=''",
      .least = 8,
      .open_ended = true,
      .newest = true },
    { .name = "section of a rundown",
      .key = ETL_HOOK_SECTION_RUNDOWN,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "70fb3f2c0882ffff 70fc3f2c0882ffff 80190000",
      .event = "PageFault/PFMappedSectionRundown range_base=0xffff82082c3ffb70 "
               "range_end=0xffff82082c3ffc70 creating_process_id=6528",
      .least = WHOLE,
      .newest = true },
    { .name = "section created, 32-bit",
      .key = ETL_HOOK_SECTION_CREATE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "10203085 50203085 80190000",
      .event = "PageFault/PFMappedSectionCreate range_base=0x85302010 range_end=0x85302050 "
               "creating_process_id=6528",
      .least = WHOLE,
      .newest = true },
    { .name = "section deleted",
      .key = ETL_HOOK_SECTION_DELETE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "70fb3f2c0882ffff 70fc3f2c0882ffff 00000000",
      .event = "PageFault/PFMappedSectionDelete range_base=0xffff82082c3ffb70 "
               "range_end=0xffff82082c3ffc70 creating_process_id=0",
      .least = WHOLE,
      .newest = true },
    { .name = "section object created",
      .key = ETL_HOOK_SECTION_OBJECT_CREATE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "40fb3f2c0882ffff 70fb3f2c0882ffff",
      .event = "PageFault/PFMappedSectionObjectCreate section_object=0xffff82082c3ffb40 "
               "range_base=0xffff82082c3ffb70",
      .least = WHOLE,
      .newest = true },
    { .name = "section object deleted, 32-bit",
      .key = ETL_HOOK_SECTION_OBJECT_DELETE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "10203085 50203085",
      .event = "PageFault/PFMappedSectionObjectDelete section_object=0x85302010 "
               "range_base=0x85302050",
      .least = WHOLE,
      .newest = true },
    { .name = "rotation",
      .key = ETL_HOOK_VIRTUAL_ROTATE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "00003b40f77f0000 0000010000000000 01000000",
      .event = "PageFault/VirtualRotate base_address=0x7ff7403b0000 region_size=65536 flags=0x1",
      .least = WHOLE,
      .newest = true },
    { .name = "reset, 32-bit",
      .key = ETL_HOOK_MEM_RESET,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00003b40 00000100 02000000",
      .event = "PageFault/MemResetInfo base_address=0x403b0000 region_size=65536 flags=0x2",
      .least = WHOLE,
      .newest = true },
};

#include "decode_vector_tests.h"

int main(void)
{
    const struct CMUnitTest tests[] = { DECODE_VECTOR_TESTS };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
