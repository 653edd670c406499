/*
 * Goal: program files of real linkers are read as another reader reads them.
 * Method: DLLs made here with clang and lld-link for x64 and x86, with names,
 * aliases, bare ordinals, data and forwarders, and the programs in the folder
 * `symbols` beside TRACES; headers, debug directory and exports are compared
 * with what llvm-readobj prints. Without these tools the tests are skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "parser/base.h"
#include "parser/pe.h"
#include "tests/support/temporary.h"

#define READOBJ          "llvm-readobj-%d --file-headers --coff-debug-directory --coff-exports"
#define LLVM_VERSION_MIN 16
#define LLVM_VERSION_MAX 19
#define LINE_SIZE        1024
#define COMMAND_SIZE     4096

static const char source_text[] = "int variable = 7;\n"
                                  "int alpha(int x) { return x + 1; }\n"
                                  "int beta(int x) { return x * 3; }\n"
                                  "static int (*volatile keep)(int) = alpha;\n"
                                  "int last(int x) { return keep(x) + 2; }\n";

static const char definitions_text[] = "LIBRARY sample\n"
                                       "EXPORTS\n"
                                       "  alpha @5\n"
                                       "  AliasOfAlpha=alpha\n"
                                       "  beta @9 NONAME\n"
                                       "  last\n"
                                       "  variable DATA\n"
                                       "  Forward=NTDLL.RtlAllocateHeap\n"
                                       "  ForwardByOrdinal=MFC42.#17 @40\n";

typedef struct fixture {
    char folder[TEMPORARY_PATH_BYTES];
    char image[512];
    etl_pe_image *opened;
    etl_pe_exports *exports;
} fixture;

static int set_up(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    *state = f;
    return temporary_subfolder(f->folder, "etlheap-pe") ? 0 : -1;
}

static int tear_down(void **state)
{
    fixture *const f = *state;
    char command[COMMAND_SIZE];
    etl_pe_exports_close(f->exports);
    etl_pe_close(f->opened);
    snprintf(command, sizeof command, "rm -r '%s'", f->folder);
    const int result = system(command);
    free(f);
    return result;
}

static void write_text(const fixture *f, const char *name, const char *text)
{
    char path[2 * TEMPORARY_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* A version that the tests accept and of which all programs are here; 0: none. */
static int llvm_version(void)
{
    char command[COMMAND_SIZE];
    for (int version = LLVM_VERSION_MIN; version <= LLVM_VERSION_MAX; version++) {
        snprintf(command, sizeof command,
                 "{ command -v clang-%d && command -v lld-link-%d && command -v llvm-readobj-%d; } "
                 "> /dev/null",
                 version, version, version);
        if (system(command) == 0)
            return version;
    }
    return 0;
}

static void need_tools(void)
{
    if (llvm_version() == 0) {
        print_message("clang, lld-link and llvm-readobj of one version, 16 to 19, are missing\n");
        skip();
    }
}

static void make_dll(fixture *f, const char *target, const char *link_options)
{
    char command[COMMAND_SIZE];
    const int version = llvm_version();
    write_text(f, "sample.c", source_text);
    write_text(f, "sample.def", definitions_text);
    snprintf(command, sizeof command,
             "cd '%s' && clang-%d --target=%s -g -gcodeview -O1 -c sample.c -o sample.obj && "
             "lld-link-%d -dll -noentry -nodefaultlib -debug %s -def:sample.def "
             "-out:sample.dll sample.obj",
             f->folder, version, target, version, link_options);
    assert_int_equal(system(command), 0);
    snprintf(f->image, sizeof f->image, "%s/sample.dll", f->folder);
}

static void open_image(fixture *f)
{
    etl_error error = { 0 };
    if (etl_pe_open(f->image, &f->opened, &error) != ETL_OK)
        fail_msg("%s: %s", f->image, error.message);
    assert_int_equal(etl_pe_exports_open(f->opened, &f->exports, &error), ETL_OK);
    assert_true(etl_pe_damage_of(f->opened)->count == 0);
    assert_true(etl_pe_exports_damage(f->exports)->count == 0);
}

/* --- what llvm-readobj says --------------------------------------------------- */

/* One export of its list. */
typedef struct listed_export {
    u32 ordinal;
    u32 rva;
    char name[LINE_SIZE];
    char forwarder[LINE_SIZE];
} listed_export;

/* A line "  Key: value" taken apart; the value is "" for other lines. */
typedef struct listed_line {
    char key[LINE_SIZE];
    char value[LINE_SIZE];
} listed_line;

static bool next_line(FILE *list, listed_line *out)
{
    char line[LINE_SIZE];
    *out = (listed_line){ "", "" };
    if (!fgets(line, sizeof line, list))
        return false;
    line[strcspn(line, "\n")] = 0;
    const char *const text = line + strspn(line, " ");
    const char *const colon = strchr(text, ':');
    snprintf(out->key, sizeof out->key, "%.*s", colon ? (int)(colon - text) : LINE_SIZE - 1, text);
    if (colon)
        snprintf(out->value, sizeof out->value, "%s", colon + 1 + strspn(colon + 1, " "));
    return true;
}

/* The number in "0x51" or "2013-01-22 20:12:32 (0x50FEF2B0)" or "CodeView (0x2)". */
static u64 number_in(const char *value)
{
    const char *const bracket = strrchr(value, '(');
    return strtoull(bracket ? bracket + 1 : value, NULL, 0);
}

static bool text_is(etl_bytes text, const char *expected)
{
    return text.size == strlen(expected) &&
           (text.size == 0 || memcmp(text.at, expected, text.size) == 0);
}

/* Its rows have one name for an ordinal; ours have all. */
static void check_export(const fixture *f, const listed_export *listed)
{
    for (u32 i = 0; i < etl_pe_exports_count(f->exports); i++) {
        const etl_pe_export entry = etl_pe_exports_at(f->exports, i);
        const bool is_forwarder = listed->forwarder[0] != 0;
        if (entry.ordinal == listed->ordinal && text_is(entry.name, listed->name) &&
            text_is(entry.forwarder, listed->forwarder) &&
            entry.rva == (is_forwarder ? 0 : listed->rva))
            return;
    }
    fail_msg("%s: export %u '%s' at 0x%x to '%s' is not found", f->image, (unsigned)listed->ordinal,
             listed->name, (unsigned)listed->rva, listed->forwarder);
}

/* "(B7 78 0A ...)" of LLVM 16, in the file's order, or "{8B0A78B7-...}" of later ones. */
static void check_guid(const fixture *f, const char *value)
{
    static const u8 written[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
    const bool is_braced = value[0] == '{';
    char text[LINE_SIZE] = "";
    for (size_t i = 0; i < 16; i++) {
        const size_t place = is_braced ? written[i] : i;
        const char *const dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
        const char *const space = i ? " " : "";
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%02X",
                 is_braced ? dash : space, (unsigned)etl_pe_pdb_of(f->opened)->guid.bytes[place]);
    }
    char whole[LINE_SIZE + 2];
    snprintf(whole, sizeof whole, is_braced ? "{%s}" : "(%s)", text);
    assert_string_equal(whole, value);
}

/* Compares the facts of one line; returns how many it compared. */
static u32 check_fact(const fixture *f, const listed_line *line, bool in_debug_entry)
{
    const etl_pe_info *const info = etl_pe_info_of(f->opened);
    const etl_pe_pdb *const pdb = etl_pe_pdb_of(f->opened);
    const struct {
        const char *key;
        u64 ours;
    } facts[] = {
        { "Machine", info->machine },
        { "SectionCount", info->section_count },
        { "TimeDateStamp", info->time_date_stamp },
        { "AddressOfEntryPoint", info->entry_rva },
        { "ImageBase", info->image_base },
        { "SizeOfImage", info->image_size_bytes },
        { "CheckSum", info->image_checksum },
        { "PDBAge", pdb->age },
    };
    /* The entries of the debug directory have a time stamp of their own. */
    if (in_debug_entry && strcmp(line->key, "TimeDateStamp") == 0)
        return 0;
    for (size_t i = 0; i < ETL_COUNT_OF(facts); i++) {
        if (strcmp(line->key, facts[i].key) != 0)
            continue;
        if (number_in(line->value) != facts[i].ours)
            fail_msg("%s: %s is %s, we read 0x%llx", f->image, line->key, line->value,
                     (unsigned long long)facts[i].ours);
        return 1;
    }
    if (strcmp(line->key, "PDBGUID") == 0)
        check_guid(f, line->value);
    else if (strcmp(line->key, "PDBFileName") == 0)
        assert_true(text_is(pdb->path, line->value));
    else
        return 0;
    return 1;
}

/* Whether the ordinal is in use; llvm-readobj lists unused ones too. */
static bool is_used(const listed_export *listed)
{
    return listed->rva != 0 || listed->forwarder[0] != 0;
}

/* Compares everything; returns how many facts and exports were compared. */
static u32 compare_with_readobj(fixture *f)
{
    char command[COMMAND_SIZE];
    listed_line line;
    listed_export listed = { 0 };
    bool in_export = false;
    bool in_debug_entry = false;
    u32 compared = 0;
    open_image(f);
    snprintf(command, sizeof command, READOBJ " '%s'", llvm_version(), f->image);
    FILE *const list = popen(command, "r");
    assert_non_null(list);
    while (next_line(list, &line)) {
        in_debug_entry |= strcmp(line.key, "DebugEntry {") == 0;
        if (strcmp(line.key, "Export {") == 0) {
            in_export = true;
            listed = (listed_export){ 0 };
        } else if (in_export && strcmp(line.key, "}") == 0) {
            in_export = false;
            if (is_used(&listed)) {
                check_export(f, &listed);
                compared++;
            }
        } else if (in_export && strcmp(line.key, "Ordinal") == 0) {
            listed.ordinal = (u32)number_in(line.value);
        } else if (in_export && strcmp(line.key, "RVA") == 0) {
            listed.rva = (u32)number_in(line.value);
        } else if (in_export && strcmp(line.key, "Name") == 0) {
            memcpy(listed.name, line.value, sizeof listed.name);
        } else if (in_export && strcmp(line.key, "ForwardedTo") == 0) {
            memcpy(listed.forwarder, line.value, sizeof listed.forwarder);
        } else {
            compared += check_fact(f, &line, in_debug_entry);
        }
    }
    assert_int_equal(pclose(list), 0);
    return compared;
}

/* --- the tests ------------------------------------------------------------------ */

/* 7 header facts, 3 of the PDB and 7 used ordinals. */
#define DLL_FACTS 17

static void a_64_bit_dll_reads_as_llvm_reads_it(void **state)
{
    fixture *const f = *state;
    need_tools();
    make_dll(f, "x86_64-pc-windows-msvc", "");
    assert_int_equal(compare_with_readobj(f), DLL_FACTS);
}

static void a_32_bit_dll_reads_as_llvm_reads_it(void **state)
{
    fixture *const f = *state;
    need_tools();
    make_dll(f, "i686-pc-windows-msvc", "-safeseh:no");
    assert_int_equal(compare_with_readobj(f), DLL_FACTS);
}

static void code_of_a_dll_is_named_after_its_exports(void **state)
{
    fixture *const f = *state;
    need_tools();
    make_dll(f, "x86_64-pc-windows-msvc", "");
    open_image(f);
    u32 forwarders = 0;
    u32 unnamed = 0;
    for (u32 i = 0; i < etl_pe_exports_count(f->exports); i++) {
        const etl_pe_export entry = etl_pe_exports_at(f->exports, i);
        etl_pe_export found;
        forwarders += entry.forwarder.size > 0;
        unnamed += entry.name.size == 0;
        if (entry.rva == 0)
            continue;
        assert_true(etl_pe_exports_find(f->exports, entry.rva + 1, &found));
        assert_int_equal(found.rva, entry.rva);
        /* alpha has two names, and upper case comes first. */
        assert_false(text_is(found.name, "alpha"));
    }
    assert_int_equal(forwarders, 2);
    assert_int_equal(unnamed, 1);
}

static void real_programs_read_as_llvm_reads_them(void **state)
{
    static const char *const names[] = { "redis-server.exe", "redis-cli.exe",
                                         "redis-benchmark-x86.exe", "BatteryMeter.exe" };
    fixture *const f = *state;
    const char *const traces = getenv("TRACES");
    need_tools();
    for (size_t i = 0; i < ETL_COUNT_OF(names); i++) {
        snprintf(f->image, sizeof f->image, "%s/../symbols/%s",
                 traces ? traces : "../shared/traces", names[i]);
        if (access(f->image, R_OK) != 0) {
            print_message("%s is missing\n", f->image);
            skip();
        }
        assert_true(compare_with_readobj(f) >= 8);
        etl_pe_exports_close(f->exports);
        etl_pe_close(f->opened);
        f->exports = NULL;
        f->opened = NULL;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_64_bit_dll_reads_as_llvm_reads_it),
        TEST(a_32_bit_dll_reads_as_llvm_reads_it),
        TEST(code_of_a_dll_is_named_after_its_exports),
        TEST(real_programs_read_as_llvm_reads_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
