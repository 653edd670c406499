/*
 * Goal: formatted text keeps every byte, however long what goes into it is, and says
 * of each key of a row what it is, known or not.
 * Method: names of all lengths around the sizes of the buffers behind it, into text
 * and into a file; two rows, one of which everything is known and one of which nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "formats/io/text_buffer.h"

#define NAME_MAX_BYTES 5000u

static void long_names_are_formatted_whole(void **state)
{
    (void)state;
    static char name[NAME_MAX_BYTES + 1];
    memset(name, 'x', NAME_MAX_BYTES);
    static const size_t sizes[] = { 0, 1, 119, 120, 121, 127, 128, 255, 256, 511, 512, 4096, 5000 };
    for (size_t i = 0; i < ETL_COUNT_OF(sizes); i++) {
        etlheap_text text = { 0 };
        etlheap_text_add_format(&text, "<%s> (%u)", name + NAME_MAX_BYTES - sizes[i], 42u);
        assert_int_equal(text.size, sizes[i] + 7);
        assert_int_equal(strlen(text.bytes), text.size);
        assert_string_equal(text.bytes + sizes[i] + 1, "> (42)");
        etlheap_text_free(&text);
    }
}

static void format_appends(void **state)
{
    (void)state;
    etlheap_text text = { 0 };
    etlheap_text_add_string(&text, "a");
    etlheap_text_add_format(&text, "%s", "");
    etlheap_text_add_format(&text, "%d", 7);
    assert_string_equal(etlheap_text_of(&text), "a7");
    etlheap_text_free(&text);
}

static void sinks_write_long_names_whole(void **state)
{
    (void)state;
    static char name[NAME_MAX_BYTES + 1], back[NAME_MAX_BYTES + 3];
    memset(name, 'y', NAME_MAX_BYTES);
    int ends[2];
    etlheap_sink *sink = NULL;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(etlheap_sink_open_descriptor(ends[1], "pipe", &sink, NULL), ETL_OK);
    etlheap_sink_format(sink, "<%s>", name);
    assert_int_equal(etlheap_sink_close(sink, NULL), ETL_OK);
    assert_int_equal(read(ends[0], back, sizeof back), NAME_MAX_BYTES + 2);
    assert_int_equal(back[0], '<');
    assert_memory_equal(back + 1, name, NAME_MAX_BYTES);
    assert_int_equal(back[NAME_MAX_BYTES + 1], '>');
    close(ends[0]);
    close(ends[1]);
}

static const etlheap_row known = { .kind = ETLHEAP_KIND_VIRTUALALLOC,
                                   .type = ETLHEAP_TYPE_AOFI,
                                   .free_type = ETLHEAP_FREE_PROCESS_EXIT,
                                   .process = "app.exe",
                                   .pid = 4321,
                                   .thread = 77,
                                   .has_heap = true,
                                   .heap_handle = 0x1f0000,
                                   .module = "app.exe",
                                   .type_name = "Widget",
                                   .source_line = "C:\\src\\f.cpp:41",
                                   .pool_tag = "Etwr",
                                   .object_type = "Event",
                                   .pool_tag_description = "nt!etw: buffers",
                                   .tag = "Startup\\Load",
                                   .size_class_bytes = 65536,
                                   .generation = 12,
                                   .mark = "load",
                                   .mark_number = 2,
                                   .thread_name = "worker",
                                   .free_thread = 78,
                                   .free_module = "app.exe" };

static const struct {
    const char *known, *unknown;
    etlheap_key key;
} keys[] = {
    { "virtualalloc", "heap", ETLHEAP_KEY_KIND },
    { "app.exe (4321)", "Unknown", ETLHEAP_KEY_PROCESS },
    { "0x1f0000", "", ETLHEAP_KEY_HEAP },
    { "AOFI", "AIFO", ETLHEAP_KEY_TYPE },
    { "process-exit", "none", ETLHEAP_KEY_FREE_TYPE },
    { "app.exe!f", "[no stack recorded]", ETLHEAP_KEY_STACK },
    { "app.exe!f", "[no stack recorded]", ETLHEAP_KEY_FRAME },
    { "app.exe!f", "[no stack recorded]", ETLHEAP_KEY_SITE },
    { "app.exe", "[no module]", ETLHEAP_KEY_MODULE },
    { "worker (77)", "[unknown thread]", ETLHEAP_KEY_THREAD },
    { "Widget", "unknown", ETLHEAP_KEY_TYPE_NAME },
    { "Startup\\Load", "[no stack recorded]", ETLHEAP_KEY_TAG },
    { "64.0 KiB", "0 B", ETLHEAP_KEY_SIZE_CLASS },
    { "12 load#2", "0 [before the first mark]", ETLHEAP_KEY_GENERATION },
    { "worker", "[no name]", ETLHEAP_KEY_THREAD_NAME },
    { "app.exe!f", "[not freed]", ETLHEAP_KEY_FREE_STACK },
    { "app.exe!f", "[not freed]", ETLHEAP_KEY_FREE_SITE },
    { "app.exe", "[not freed]", ETLHEAP_KEY_FREE_MODULE },
    { "78", "[not freed]", ETLHEAP_KEY_FREE_THREAD },
    { "app.exe!f", "[no stack recorded]", ETLHEAP_KEY_IMPACTING_STACK },
    { "Impacting", "Impacting", ETLHEAP_KEY_IMPACTING_TYPE },
    { "C:\\src\\f.cpp:41", "[no source line]", ETLHEAP_KEY_SOURCE_LINE },
    { "app.exe!f", "[no stack recorded]", ETLHEAP_KEY_FUNCTION },
    { "Etwr (nt!etw: buffers)", "[no pool tag]", ETLHEAP_KEY_POOL_TAG },
    { "Event", "[no object type]", ETLHEAP_KEY_OBJECT_TYPE },
};

static void each_key_reads_as_people_write_it(void **state)
{
    static const etlheap_frame frame = { .module = "app.exe", .symbol = "f" };
    static const u32 starts[] = { 0, 1 }, indices[] = { 0 };
    static const etlheap_table table = { .frames = &frame,
                                         .frame_count = 1,
                                         .stack_starts = starts,
                                         .frame_indices = indices,
                                         .stack_count = 1 };
    static const etlheap_row unknown = { .type = ETLHEAP_TYPE_AIFO,
                                         .free_type = ETLHEAP_FREE_NONE,
                                         .process = "Unknown",
                                         .pid = ETL_NO_ID,
                                         .thread = ETL_NO_ID,
                                         .stack = ETLHEAP_NO_INDEX,
                                         .frame = ETLHEAP_NO_INDEX,
                                         .free_stack = ETLHEAP_NO_INDEX,
                                         .free_frame = ETLHEAP_NO_INDEX,
                                         .free_thread = ETL_NO_ID,
                                         .type_name = "unknown" };
    (void)state;
    assert_int_equal(ETL_COUNT_OF(keys), ETLHEAP_KEY_COUNT);
    for (size_t i = 0; i < ETL_COUNT_OF(keys); i++) {
        etlheap_text text = { 0 };
        etlheap_text_add_key(&text, &table, &known, keys[i].key);
        assert_string_equal(etlheap_text_of(&text), keys[i].known);
        etlheap_text_clear(&text);
        etlheap_text_add_key(&text, &table, &unknown, keys[i].key);
        assert_string_equal(etlheap_text_of(&text), keys[i].unknown);
        etlheap_text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_names_are_formatted_whole),
        cmocka_unit_test(format_appends),
        cmocka_unit_test(sinks_write_long_names_whole),
        cmocka_unit_test(each_key_reads_as_people_write_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
