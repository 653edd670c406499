/*
 * Goal: formatted text keeps every byte, however long what goes into it is.
 * Method: names of all lengths around the sizes of the buffers behind it, into text
 * and into a file.
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

#include "formats/text_buffer.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_names_are_formatted_whole),
        cmocka_unit_test(format_appends),
        cmocka_unit_test(sinks_write_long_names_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
