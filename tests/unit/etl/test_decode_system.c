/*
 * Goal: process, thread and machine events decode as layout_events.h says, in
 * all versions, with and without the parts that writers leave out.
 * Method: hand-written payloads with every field expected and the checks that
 * follow from any vector (decode_check.h); what a vector cannot say has a test
 * of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "decode_check.h"
#include "parser/etl/layout_events.h"

/* S-1-5-18: revision, count, authority, one sub-authority. */
#define SID_SYSTEM "0101000000000005 12000000 "
/* S-1-5-21-... with five sub-authorities. */
#define SID_USER "0105000000000005 15000000 962cec2c 68fd3106 f1dca4d3 e8030000 "
#define A_EXE    "612e65786500 "                /* "a.exe", 8-bit */
#define ARGS     "61002000 2d007800 0000 "      /* "a -x", UTF-16 */
#define PACKAGE  "50006b00 0000 "               /* "Pk" */
#define APP      "41007000 7000 0000 "          /* "App" */
#define NAME     "77006f00 72006b00 e900 0000 " /* "worké" */

static const decode_vector vectors[] = {
    { .name = "process version 0 without SID",
      .key = ETL_HOOK_PROCESS_START,
      .version = 0,
      .pointer_bytes = 4,
      .hex = "e1100000 90100000 00000000 " A_EXE,
      .event = "Process/Start unique_process_key=0x0 process_id=4321 parent_id=4240 session_id=0 "
               "exit_status=0 flags=0x0 image_file_name='a.exe' command_line='' "
               "package_full_name='' application_id=''",
      .least = 12 },
    { .name = "process version 0, 64-bit",
      .key = ETL_HOOK_PROCESS_END,
      .version = 0,
      .pointer_bytes = 8,
      .hex =
          "e110000000000000 9010000000000000 00ee330b80f8ffff 0000000000000000 " SID_SYSTEM A_EXE,
      .event = "Process/End unique_process_key=0x0 process_id=4321 parent_id=4240 session_id=0 "
               "exit_status=0 flags=0x0 image_file_name='a.exe' command_line='' "
               "package_full_name='' application_id=''",
      .least = 44 },
    { .name = "process version 1",
      .key = ETL_HOOK_PROCESS_START,
      .version = 1,
      .pointer_bytes = 4,
      .hex = "00700300 e1100000 90100000 01000000 03010000 78563412 00000000 " SID_USER A_EXE,
      .event = "Process/Start unique_process_key=0x37000 process_id=4321 parent_id=4240 "
               "session_id=1 exit_status=259 flags=0x0 image_file_name='a.exe' command_line='' "
               "package_full_name='' application_id=''",
      .least = 56 },
    { .name = "process version 1 without SID, 64-bit",
      .key = ETL_HOOK_PROCESS_DCEND,
      .version = 1,
      .pointer_bytes = 8,
      .hex = "0070030001000000 e1100000 90100000 01000000 03010000 00000000 " A_EXE,
      .event = "Process/DCEnd unique_process_key=0x100037000 process_id=4321 parent_id=4240 "
               "session_id=1 exit_status=259 flags=0x0 image_file_name='a.exe' command_line='' "
               "package_full_name='' application_id=''",
      .least = 28 },
    { .name = "process version 2",
      .key = ETL_HOOK_PROCESS_DCSTART,
      .version = 2,
      .pointer_bytes = 4,
      .hex =
          "88d60285 e1100000 90100000 ffffffff 03010000 78563412 00000000 " SID_SYSTEM A_EXE ARGS,
      .event = "Process/DCStart unique_process_key=0x8502d688 process_id=4321 parent_id=4240 "
               "session_id=4294967295 exit_status=259 flags=0x0 image_file_name='a.exe' "
               "command_line='a -x' package_full_name='' application_id=''",
      .least = 40 },
    { .name = "process version 2 without SID, 64-bit",
      .key = ETL_HOOK_PROCESS_DCEND,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "90ed430383faffff e1100000 90100000 02000000 050000c0 00000000 " A_EXE ARGS,
      .event = "Process/DCEnd unique_process_key=0xfffffa830343ed90 process_id=4321 "
               "parent_id=4240 session_id=2 exit_status=-1073741819 flags=0x0 "
               "image_file_name='a.exe' command_line='a -x' package_full_name='' "
               "application_id=''",
      .least = 28 },
    { .name = "process version 3",
      .key = ETL_HOOK_PROCESS_END,
      .version = 3,
      .pointer_bytes = 4,
      .hex =
          "88d60285 e1100000 90100000 01000000 00000000 40c5de3e 78563412 00000000 " SID_USER A_EXE
              ARGS,
      .event = "Process/End unique_process_key=0x8502d688 process_id=4321 parent_id=4240 "
               "session_id=1 exit_status=0 flags=0x0 image_file_name='a.exe' command_line='a -x' "
               "package_full_name='' application_id=''",
      .least = 60 },
    { .name = "process version 3, 64-bit",
      .key = ETL_HOOK_PROCESS_START,
      .version = 3,
      .pointer_bytes = 8,
      .hex = "90ed430383faffff e1100000 90100000 01000000 03010000 00b08f5500000000 "
             "78563412a0f8ffff 0000000000000000 " SID_SYSTEM A_EXE ARGS,
      .event = "Process/Start unique_process_key=0xfffffa830343ed90 process_id=4321 "
               "parent_id=4240 session_id=1 exit_status=259 flags=0x0 image_file_name='a.exe' "
               "command_line='a -x' package_full_name='' application_id=''",
      .least = 60 },
    { .name = "process version 4",
      .key = ETL_HOOK_PROCESS_DCSTART,
      .version = 4,
      .pointer_bytes = 4,
      .hex = "88d60285 e1100000 90100000 01000000 03010000 40c5de3e 02000000 "
             "78563412 00000000 " SID_SYSTEM A_EXE ARGS PACKAGE APP,
      .event = "Process/DCStart unique_process_key=0x8502d688 process_id=4321 parent_id=4240 "
               "session_id=1 exit_status=259 flags=0x2 image_file_name='a.exe' "
               "command_line='a -x' package_full_name='Pk' application_id='App'",
      .least = 48 },
    { .name = "process version 4 without SID and with empty strings, 64-bit",
      .key = ETL_HOOK_PROCESS_DCEND,
      .version = 4,
      .pointer_bytes = 8,
      .hex = "90ed430383faffff 00000000 00000000 ffffffff 00000000 0070180000000000 01000000 "
             "00000000 49646c6500 0000 0000 0000",
      .event = "Process/DCEnd unique_process_key=0xfffffa830343ed90 process_id=0 parent_id=0 "
               "session_id=4294967295 exit_status=0 flags=0x1 image_file_name='Idle' "
               "command_line='' package_full_name='' application_id=''",
      .least = 40 },
    { .name = "defunct process version 5, 64-bit",
      .key = ETL_HOOK_PROCESS_DEFUNCT,
      .version = 5,
      .pointer_bytes = 8,
      .hex =
          "90ed430383faffff e1100000 90100000 01000000 00000000 00b08f5500000000 08000000 "
          "78563412a0f8ffff 0000000000000000 " SID_SYSTEM A_EXE ARGS PACKAGE APP "00d01a2b3c4dd601",
      .event = "Process/Defunct unique_process_key=0xfffffa830343ed90 process_id=4321 "
               "parent_id=4240 session_id=1 exit_status=0 flags=0x8 image_file_name='a.exe' "
               "command_line='a -x' package_full_name='Pk' application_id='App' "
               "exit_time=132378159870562304",
      .least = 64,
      .newest = true },
    { .name = "defunct process version 4 has no exit time",
      .key = ETL_HOOK_PROCESS_DEFUNCT,
      .version = 4,
      .pointer_bytes = 8,
      .hex = "90ed430383faffff e1100000 90100000 01000000 00000000 00b08f5500000000 08000000 "
             "78563412a0f8ffff 0000000000000000 " SID_SYSTEM A_EXE ARGS PACKAGE APP,
      .event = "Process/Defunct unique_process_key=0xfffffa830343ed90 process_id=4321 "
               "parent_id=4240 session_id=1 exit_status=0 flags=0x8 image_file_name='a.exe' "
               "command_line='a -x' package_full_name='Pk' application_id='App' exit_time=0",
      .least = 64 },
    { .name = "process terminate",
      .key = ETL_HOOK_PROCESS_TERMINATE,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "e1100100",
      .event = "Process/Terminate process_id=69857",
      .least = WHOLE,
      .newest = true },

    { .name = "thread version 0 has the thread first",
      .key = ETL_HOOK_THREAD_START,
      .version = 0,
      .pointer_bytes = 4,
      .hex = "c40e0000 e1100000",
      .event = "Thread/Start process_id=4321 thread_id=3780 user_stack_base=0x0 "
               "user_stack_limit=0x0 win32_start_address=0x0 teb_base=0x0 sub_process_tag=0 "
               "name=''",
      .least = WHOLE },
    { .name = "thread start version 1",
      .key = ETL_HOOK_THREAD_START,
      .version = 1,
      .pointer_bytes = 4,
      .hex = "e1100000 c40e0000 00f0ff8a 00d0ff8a 00001300 00c01200 11114000 22224000 01",
      .event = "Thread/Start process_id=4321 thread_id=3780 user_stack_base=0x130000 "
               "user_stack_limit=0x12c000 win32_start_address=0x402222 teb_base=0x0 "
               "sub_process_tag=0 name=''",
      .least = WHOLE },
    { .name = "thread end version 1 has ids only, 64-bit",
      .key = ETL_HOOK_THREAD_END,
      .version = 1,
      .pointer_bytes = 8,
      .hex = "e1100000 c40e0000",
      .event = "Thread/End process_id=4321 thread_id=3780 user_stack_base=0x0 "
               "user_stack_limit=0x0 win32_start_address=0x0 teb_base=0x0 sub_process_tag=0 "
               "name=''",
      .least = WHOLE },
    { .name = "thread end version 2, 64-bit",
      .key = ETL_HOOK_THREAD_END,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "e1100000 c40e0000 0010e50880f8ffff 00b0e40880f8ffff 0000130000000000 "
             "00c0120000000000 1111000000000000 22223340f77f0000 00e0fdff07000000 05000000",
      .event = "Thread/End process_id=4321 thread_id=3780 user_stack_base=0x130000 "
               "user_stack_limit=0x12c000 win32_start_address=0x7ff740332222 "
               "teb_base=0x7fffde000 sub_process_tag=5 name=''",
      .least = WHOLE },
    { .name = "thread version 3 without name, 64-bit",
      .key = ETL_HOOK_THREAD_DCSTART,
      .version = 3,
      .pointer_bytes = 8,
      .hex = "e1100000 c40e0000 0010e50880f8ffff 00b0e40880f8ffff 0000130000000000 "
             "00c0120000000000 ff00000000000000 22223340f77f0000 00e0fdff07000000 05000000 "
             "08050200",
      .event = "Thread/DCStart process_id=4321 thread_id=3780 user_stack_base=0x130000 "
               "user_stack_limit=0x12c000 win32_start_address=0x7ff740332222 "
               "teb_base=0x7fffde000 sub_process_tag=5 name=''",
      .least = WHOLE,
      .open_ended = true },
    { .name = "thread version 3 with name",
      .key = ETL_HOOK_THREAD_DCEND,
      .version = 3,
      .pointer_bytes = 4,
      .hex = "e1100000 c40e0000 00f0ff8a 00d0ff8a 00001300 00c01200 ff000000 22224000 "
             "00e0fd7f 05000000 08050200 " NAME,
      .event = "Thread/DCEnd process_id=4321 thread_id=3780 user_stack_base=0x130000 "
               "user_stack_limit=0x12c000 win32_start_address=0x402222 teb_base=0x7ffde000 "
               "sub_process_tag=5 name='work\u00e9'",
      .least = 44 },
    { .name = "thread version 4, 64-bit",
      .key = ETL_HOOK_THREAD_START,
      .version = 4,
      .pointer_bytes = 8,
      .hex = "e1100000 c40e0000 0010e50880f8ffff 00b0e40880f8ffff 0000130000000000 "
             "00c0120000000000 ff00000000000000 22223340f77f0000 00e0fdff07000000 05000000 "
             "08050200 " NAME,
      .event = "Thread/Start process_id=4321 thread_id=3780 user_stack_base=0x130000 "
               "user_stack_limit=0x12c000 win32_start_address=0x7ff740332222 "
               "teb_base=0x7fffde000 sub_process_tag=5 name='work\u00e9'",
      .least = 72,
      .newest = true },
    { .name = "thread name",
      .key = ETL_HOOK_THREAD_SET_NAME,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "e1100000 c40e0000 " NAME,
      .event = "Thread/SetName process_id=4321 thread_id=3780 name='work\u00e9'",
      .least = 8,
      .newest = true },

    { .name = "platform",
      .key = ETL_HOOK_CONFIG_PLATFORM,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "4d00 0000 50007200 0000 31003200 0000 7600 0000",
      .event = "SystemConfig/Platform manufacturer='M' product='Pr' bios_date='12' "
               "bios_version='v'",
      .least = 0,
      .newest = true },
    { .name = "service of version 2",
      .key = ETL_HOOK_CONFIG_SERVICE,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "00000000 01000000 02000000 4100 0000 4200 0000 0000",
      .event = "SystemConfig/Services process_id=0 state=1 sub_process_tag=2 service_name='A' "
               "display_name='B' process_name='' load_order_group='' host_group=''",
      .least = 12,
      .newest = false },
    { .name = "service",
      .key = ETL_HOOK_CONFIG_SERVICE,
      .version = 3,
      .pointer_bytes = 8,
      .hex = "2c0c0000 04000000 03000000 4100 4200 0000 4300 0000 7300 0000 0000 4c00 0000",
      .event = "SystemConfig/Services process_id=3116 state=4 sub_process_tag=3 "
               "service_name='AB' display_name='C' process_name='s' load_order_group='' "
               "host_group='L'",
      .least = 12,
      .newest = true },
    { .name = "device family",
      .key = ETL_HOOK_CONFIG_DEVICE_FAMILY,
      .version = 2,
      .pointer_bytes = 8,
      .hex = "2c12f46500000a00 03000000 02000000",
      .event = "SystemConfig/DeviceFamily os_major=10 os_minor=0 os_build=26100 "
               "os_revision=4652 device_family=3 device_form=2",
      .least = WHOLE,
      .newest = true },
    { .name = "device family, written by a merge",
      .key = ETL_KEY_DEVICE_FAMILY,
      .version = 0,
      .pointer_bytes = 8,
      .hex = "2c12f46503000a00 03000000 02000000",
      .event = "SysConfigEx/DeviceFamily os_major=10 os_minor=3 os_build=26100 "
               "os_revision=4652 device_family=3 device_form=2",
      .least = WHOLE,
      .newest = true },
    { .name = "build info",
      .key = ETL_KEY_BUILD_INFO,
      .version = 0,
      .pointer_bytes = 8,
      .hex = "00d01a2b3c4dd601 39003200 0000 570069006e00 0000",
      .event = "SysConfigEx/BuildInfo install_date=132378159870562304 build_lab='92' "
               "product_name='Win'",
      .least = 8,
      .newest = true },
    { .name = "system paths",
      .key = ETL_KEY_SYSTEM_PATHS,
      .version = 0,
      .pointer_bytes = 8,
      .hex = "43003a00 5c007300 0000 43003a00 5c00 0000",
      .event = "SysConfigEx/SystemPaths system_directory='C:\\s' windows_directory='C:\\'",
      .least = 0,
      .newest = true },
    { .name = "volume mapping",
      .key = ETL_KEY_VOLUME_MAPPING,
      .version = 0,
      .pointer_bytes = 8,
      .hex = "5c004400 0000 43003a00 5c00 0000",
      .event = "SysConfigEx/VolumeMapping nt_path='\\D' dos_path='C:\\'",
      .least = 0,
      .newest = true },
    { .name = "volume mapping to nothing, 32-bit",
      .key = ETL_KEY_VOLUME_MAPPING,
      .version = 2,
      .pointer_bytes = 4,
      .hex = "5c003f00 3f005c00 0000 0000",
      .event = "SysConfigEx/VolumeMapping nt_path='\\??\\' dos_path=''",
      .least = 0 },
    { .name = "unknown volume",
      .key = ETL_KEY_VOLUME_UNKNOWN,
      .version = 0,
      .pointer_bytes = 8,
      .hex = "5c004400 0000",
      .event = "SysConfigEx/UnknownVolume nt_path='\\D'",
      .least = 0,
      .newest = true },
    { .name = "lost events",
      .key = ETL_KEY_LOST_EVENT,
      .version = 0,
      .pointer_bytes = 8,
      .hex = "",
      .event = "Lost_Event/RTLostEvent type=32",
      .least = 0,
      .newest = true },
    { .name = "lost buffer",
      .key = ETL_KEY_LOST_BUFFER,
      .version = 0,
      .pointer_bytes = 8,
      .hex = "",
      .event = "Lost_Event/RTLostBuffer type=33",
      .least = 0,
      .newest = true },
    { .name = "lost file",
      .key = ETL_KEY_LOST_FILE,
      .version = 0,
      .pointer_bytes = 4,
      .hex = "",
      .event = "Lost_Event/RTLostFile type=34",
      .least = 0,
      .newest = true },
    { .name = "mark",
      .key = ETL_HOOK_MARK,
      .version = 0,
      .pointer_bytes = 8,
      .hex = "5770725f496e697400",
      .event = "PerfInfo/Mark text='Wpr_Init'",
      .least = 0,
      .newest = true },
};

#include "decode_vector_tests.h"

/*
 * The CPU record is 800 bytes of mostly nothing, two names in fields of fixed
 * size; so it is printed rather than written down.
 */
static decode_vector cpu_vector(char *hex, size_t capacity, u16 version, u8 width)
{
    const int domain_bytes = version < 2 ? 264 : 268;
    const int pointers = version < 3 ? 1 : 2;
    const char *const appended = version < 3 ? "" : "0900 0600 014e 0101 800c0000";
    const int size = snprintf(hex, capacity, "%s50004300%0*d44004f00%0*d%0*d%s",
                              "080e0000 08000000 00100000 00100000 00000100 ", (512 - 4) * 2, 0,
                              (domain_bytes - 4) * 2, 0, pointers * width * 2, 0, appended);
    assert_true(size > 0 && (size_t)size < capacity);
    return (decode_vector){
        .name = "cpu",
        .key = ETL_HOOK_CONFIG_CPU,
        .version = version,
        .pointer_bytes = width,
        .hex = hex,
        .event = version < 3 ? "SystemConfig/CPU mhz=3592 cpu_count=8 memory_mib=4096 "
                               "page_size=4096 allocation_granularity=65536 computer_name='PC' "
                               "domain_name='DO' processor_architecture=0 memory_speed_mhz=0"
                             : "SystemConfig/CPU mhz=3592 cpu_count=8 memory_mib=4096 "
                               "page_size=4096 allocation_granularity=65536 computer_name='PC' "
                               "domain_name='DO' processor_architecture=9 memory_speed_mhz=3200",
        .least = WHOLE,
        .newest = version == 3,
    };
}

static void cpu_record_decodes_in_all_versions(void **state)
{
    (void)state;
    static const size_t sizes[4][2] = { { 800, 804 }, { 800, 804 }, { 804, 808 }, { 820, 828 } };
    for (u16 version = 0; version <= 3; version++) {
        for (u8 width = 4; width <= 8; width += 4) {
            static char hex[2000];
            char why[DECODE_WHY_SIZE] = "";
            const decode_vector vector = cpu_vector(hex, sizeof hex, version, width);
            size_t size = 0;
            free(decode_vector_payload(&vector, &size));
            assert_int_equal(size, sizes[version][width == 8]);
            if (!decode_in_all_headers(&vector, why) || !decode_cuts_cleanly(&vector, why) ||
                !decode_ignores_more_bytes(&vector, why) ||
                !decode_takes_newer_version(&vector, why))
                fail_msg("%s", why);
        }
    }
}

/* A full name field has no NUL; the next field must not become part of it. */
static void cpu_names_end_with_their_fields(void **state)
{
    (void)state;
    static const size_t domain_sizes[] = { 264, 264, 268, 268 };
    for (u16 version = 0; version <= 3; version++) {
        u8 payload[828];
        memset(payload, 'x', sizeof payload);
        const etl_record record = { .hook = ETL_HOOK_CONFIG_CPU,
                                    .opcode = ETL_HOOK_CONFIG_CPU & 0xff,
                                    .version = version,
                                    .header = ETL_HEADER_SYSTEM64,
                                    .pointer_bytes = 8,
                                    .has_hook = true,
                                    .payload = { payload, sizeof payload } };
        etl_event event;
        etl_diag_counts diag = { { 0 } };
        assert_true(etl_decode(&record, &event, &diag));
        assert_int_equal(event.as.config_cpu.computer_name.size, 512);
        assert_int_equal(event.as.config_cpu.domain_name.size, domain_sizes[version]);
    }
}

/* The pointer means nothing, and writers other than the kernel leave it zero;
 * then only the SID tells the structure from the zero that means no SID. */
static void a_token_user_with_a_pointer_of_zero_is_followed_by_its_sid(void **state)
{
    (void)state;
    const decode_vector vector = {
        .name = "TOKEN_USER with a pointer of zero",
        .key = ETL_HOOK_PROCESS_DCSTART,
        .version = 2,
        .pointer_bytes = 4,
        .hex =
            "88d60285 e1100000 90100000 ffffffff 03010000 00000000 00000000 " SID_SYSTEM A_EXE ARGS,
        .event = "Process/DCStart unique_process_key=0x8502d688 process_id=4321 parent_id=4240 "
                 "session_id=4294967295 exit_status=259 flags=0x0 image_file_name='a.exe' "
                 "command_line='a -x' package_full_name='' application_id=''",
    };
    char why[DECODE_WHY_SIZE] = "";
    if (!decode_in_all_headers(&vector, why))
        fail_msg("%s", why);
}

/* Decodes vector `name` with one byte of its payload changed. */
static bool decodes_with_byte(const char *name, size_t offset, u8 value)
{
    for (size_t i = 0; i < ETL_COUNT_OF(vectors); i++) {
        if (strcmp(vectors[i].name, name) != 0)
            continue;
        size_t size = 0;
        u8 *const bytes = decode_vector_payload(&vectors[i], &size);
        assert_true(offset < size);
        bytes[offset] = value;
        const etl_record record =
            decode_vector_record(&vectors[i], (etl_bytes){ bytes, size }, ETL_HEADER_SYSTEM32);
        etl_event event;
        etl_diag_counts diag = { { 0 } };
        const bool decodes = etl_decode(&record, &event, &diag);
        assert_int_equal(diag.of[ETL_DIAG_event_truncated], !decodes);
        free(bytes);
        return decodes;
    }
    fail_msg("no vector is called %s", name);
    return false;
}

/* The SID of "process version 1" begins at 28: revision, then its count. */
static void a_user_sid_that_is_none_makes_the_process_truncated(void **state)
{
    (void)state;
    assert_true(decodes_with_byte("process version 1", 28, 1));
    assert_false(decodes_with_byte("process version 1", 28, 2));
    assert_false(decodes_with_byte("process version 1", 29, 16));
    assert_false(decodes_with_byte("process version 1", 29, 15));
    assert_false(decodes_with_byte("process version 1", 30, 1));
}

/* Decodes a classic record whose header says one width and whose payload, a
 * vector of this file, has the other. */
static etl_event decoded_with_wrong_header(const char *name, etl_header_kind header, u8 stated)
{
    etl_event event = { .kind = ETL_EVENT_NONE };
    for (size_t i = 0; i < ETL_COUNT_OF(vectors); i++) {
        if (strcmp(vectors[i].name, name) != 0)
            continue;
        size_t size = 0;
        u8 *const bytes = decode_vector_payload(&vectors[i], &size);
        etl_record record = decode_vector_record(&vectors[i], (etl_bytes){ bytes, size }, header);
        record.pointer_bytes = stated;
        etl_diag_counts diag = { { 0 } };
        (void)etl_decode(&record, &event, &diag);
        event.as.process.image_file_name = (etl_bytes){ NULL, 0 }; /* goes with the payload */
        free(bytes);
    }
    return event;
}

static void a_classic_process_is_read_at_the_width_its_bytes_prove(void **state)
{
    (void)state;
    const etl_event wide =
        decoded_with_wrong_header("process version 3, 64-bit", ETL_HEADER_FULL32, 4);
    assert_int_equal(wide.kind, ETL_EVENT_PROCESS_START);
    assert_int_equal(wide.pointer_bytes, 8);
    assert_int_equal(wide.as.process.process_id, 4321);
    const etl_event narrow = decoded_with_wrong_header("process version 3", ETL_HEADER_FULL64, 8);
    assert_int_equal(narrow.kind, ETL_EVENT_PROCESS_END);
    assert_int_equal(narrow.pointer_bytes, 4);
    assert_int_equal(narrow.as.process.process_id, 4321);
}

/* The kernel writes hook records itself and knows its own width. */
static void a_hook_process_is_read_at_the_width_of_its_header(void **state)
{
    (void)state;
    const etl_event event =
        decoded_with_wrong_header("process version 3, 64-bit", ETL_HEADER_SYSTEM32, 4);
    assert_int_equal(event.kind, ETL_EVENT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DECODE_VECTOR_TESTS,
        cmocka_unit_test(cpu_record_decodes_in_all_versions),
        cmocka_unit_test(cpu_names_end_with_their_fields),
        cmocka_unit_test(a_token_user_with_a_pointer_of_zero_is_followed_by_its_sid),
        cmocka_unit_test(a_user_sid_that_is_none_makes_the_process_truncated),
        cmocka_unit_test(a_classic_process_is_read_at_the_width_its_bytes_prove),
        cmocka_unit_test(a_hook_process_is_read_at_the_width_of_its_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
