/*
 * Goal: names that are not trusted open regular files below a folder, and nothing else.
 * Method: a tree with links, pipes and names of odd case; the paths of hostile PDBs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parser/system/below.h"
#include "parser/system/files.h"

static char base[64];

static const char *in_base(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", base, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *const file = fopen(in_base(name), "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void link_to(const char *name, const char *target)
{
    char to[256];
    snprintf(to, sizeof to, "%s", target); /* which may lie where in_base writes */
    assert_int_equal(symlink(to, in_base(name)), 0);
}

static int make_tree(void **state)
{
    (void)state;
    snprintf(base, sizeof base, "/tmp/etlheap-below-XXXXXX");
    assert_true(etl_folder_make_temporary(base));
    static const char *const folders[] = { "root", "root/src", "root/Sub", "rootless" };
    for (size_t i = 0; i < ETL_COUNT_OF(folders); i++)
        assert_int_equal(mkdir(in_base(folders[i]), 0777), 0);
    write_file("secret.txt", "secret");
    write_file("rootless/other.c", "secret");
    write_file("root/src/leak.cpp", "leak");
    write_file("root/src/Mixed.CPP", "mixed");
    write_file("root/src/twin.h", "lower");
    write_file("root/src/Twin.h", "upper");
    write_file("root/Sub/deep.c", "deep");
    write_file("root/back\\slash.c", "never");
    link_to("root/src/inside.cpp", "leak.cpp");
    link_to("root/src/out.cpp", "../../secret.txt");
    link_to("root/src/absolute.cpp", in_base("secret.txt"));
    link_to("root/src/loop.cpp", "loop.cpp");
    link_to("root/out", "..");
    link_to("root/sub2", "Sub");
    link_to("root/null.c", "/dev/null");
    assert_int_equal(mkfifo(in_base("root/pipe.c"), 0666), 0);
    link_to("link_to_root", "root");
    return 0;
}

static int remove_tree(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    return system(command);
}

/* What is read; "" with errno if nothing is opened. */
static const char *read_below(const char *folder, const char *path)
{
    static char text[64];
    char *found = NULL;
    const int file = etl_file_open_below(folder, path, &found);
    text[0] = '\0';
    assert_int_equal(file >= 0, found != NULL);
    if (file < 0)
        return text;
    const i64 size = etl_file_read(file, text, sizeof text - 1);
    assert_true(size > 0);
    text[size] = '\0';
    assert_non_null(strstr(found, "/root/"));
    assert_true(etl_file_close(file));
    free(found);
    return text;
}

static void files_below_the_folder_are_opened(void **state)
{
    static const char *const rows[][2] = {
        { "src/leak.cpp", "leak" },        { "SRC/LEAK.CPP", "leak" },
        { "src/mixed.cpp", "mixed" },      { "src//./leak.cpp", "leak" },
        { "src/../src/leak.cpp", "leak" }, { "nowhere/../src/leak.cpp", "leak" },
        { "src\\leak.cpp", "leak" },       { "sub/deep.c", "deep" },
        { "sub2/deep.c", "deep" },         { "src/inside.cpp", "leak" },
        { "src/twin.h", "lower" },         { "src/Twin.h", "upper" },
        { "src/TWIN.H", "upper" },         { "/src/leak.cpp", "leak" },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        assert_string_equal(read_below(in_base("root"), rows[i][0]), rows[i][1]);
        assert_string_equal(read_below(in_base("link_to_root"), rows[i][0]), rows[i][1]);
    }
}

static void nothing_else_is(void **state)
{
    static const struct {
        const char *path;
        int reason;
    } rows[] = {
        { "../secret.txt", EPERM },
        { "src/../../secret.txt", EPERM },
        { "..", EPERM },
        { "", EPERM },
        { ".", EPERM },
        { "src/..", EPERM },
        { "src", EPERM },
        { "../rootless/other.c", EPERM },
        { "..\\secret.txt", EPERM },
        { "src/out.cpp", EPERM },
        { "src/absolute.cpp", EPERM },
        { "out/secret.txt", EPERM },
        { "out/root/src/leak.cpp", 0 }, /* by a link out and back: it is below */
        { "src/loop.cpp", ELOOP },
        { "null.c", EPERM },
        { "pipe.c", EPERM },
        { "src/missing.cpp", ENOENT },
        { "missing/leak.cpp", ENOENT },
        { "src/leak.cpp/x", ENOTDIR },
        { "back\\slash.c", ENOENT },
    };
    (void)state;
    for (size_t i = 0; i < ETL_COUNT_OF(rows); i++) {
        errno = 0;
        const char *const text = read_below(in_base("root"), rows[i].path);
        if (rows[i].reason == 0)
            assert_string_equal(text, "leak");
        else
            assert_string_equal(text, "");
        if (rows[i].reason != 0)
            assert_int_equal(errno, rows[i].reason);
    }
    assert_string_equal(read_below(in_base("nowhere"), "src/leak.cpp"), "");
    assert_int_equal(errno, ENOENT);
}

static void root_of_the_system_is_a_folder(void **state)
{
    (void)state;
    assert_string_equal(read_below("/", in_base("root/src/leak.cpp") + 1), "leak");
}

static void long_paths_are_refused(void **state)
{
    char path[3 * ETL_BELOW_BYTES_MAX];
    (void)state;
    memset(path, 'a', sizeof path);
    path[sizeof path - 1] = '\0';
    assert_string_equal(read_below(in_base("root"), path), "");
    for (size_t i = 1; i < sizeof path - 1; i += 2)
        path[i] = '/';
    assert_string_equal(read_below(in_base("root"), path), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_below_the_folder_are_opened),
        cmocka_unit_test(nothing_else_is),
        cmocka_unit_test(root_of_the_system_is_a_folder),
        cmocka_unit_test(long_paths_are_refused),
    };
    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
