/*
 * Goal: a quota of processors, or of memory, is found wherever control groups put it: in the
 * process's group or one around it, in both versions, and in containers that see only a part
 * of the groups. What is missing or damaged is no limit.
 * Method: each test builds the few files that Linux shows, in a folder of its own, and says
 * what they must come to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "parser/system/cgroup.h"
#include "parser/system/files.h"
#include "tests/support/temporary.h"

#define MOUNTS "proc/self/mountinfo"
#define GROUPS "proc/self/cgroup"

#define V2_MOUNT                                                                                   \
    "24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"                                      \
    "31 24 0:30 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1_MOUNT                                                                                   \
    "32 24 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"                            \
    "33 24 0:32 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"

static char root[TEMPORARY_PATH_BYTES];

static int begin_test(void **state)
{
    (void)state;
    return temporary_subfolder(root, "test_cgroup") ? 0 : -1;
}

static int end_test(void **state)
{
    char command[TEMPORARY_PATH_BYTES + 16];
    (void)state;
    snprintf(command, sizeof command, "rm -r \"%s\"", root);
    return system(command);
}

/* A file below the root, and the folders on its way. */
static void put(const char *name, const char *text)
{
    char path[2 * TEMPORARY_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)etl_folder_make(path);
        *at = '/';
    }
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void put_v2(const char *group)
{
    put(MOUNTS, V2_MOUNT);
    put(GROUPS, group);
}

static void nothing_to_read_is_no_limit(void **state)
{
    (void)state;
    assert_int_equal(etl_cgroup_processors(root), 0);
    assert_true(etl_cgroup_memory(root) == UINT64_MAX);
    put(GROUPS, "0::/\n");
    assert_int_equal(etl_cgroup_processors(root), 0);
    put(MOUNTS, "");
    assert_int_equal(etl_cgroup_processors(root), 0);
}

static void quota_of_version_2_is_rounded_up(void **state)
{
    static const struct {
        const char *text;
        u32 processors;
    } cases[] = {
        { "200000 100000\n", 2 }, { "250000 100000\n", 3 },
        { "1000 100000\n", 1 },   { "6400000 100000\n", 64 },
        { "max 100000\n", 0 },    { "200000 100000", 2 }, /* without an end of line */
    };
    (void)state;
    put_v2("0::/app\n");
    for (size_t i = 0; i < ETL_COUNT_OF(cases); i++) {
        put("sys/fs/cgroup/app/cpu.max", cases[i].text);
        assert_int_equal(etl_cgroup_processors(root), cases[i].processors);
    }
}

static void least_quota_on_the_way_up_counts(void **state)
{
    (void)state;
    put_v2("0::/slurm/job_7/step_0\n");
    put("sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "max 100000\n");
    assert_int_equal(etl_cgroup_processors(root), 0);
    put("sys/fs/cgroup/slurm/cpu.max", "1600000 100000\n");
    assert_int_equal(etl_cgroup_processors(root), 16);
    put("sys/fs/cgroup/slurm/job_7/cpu.max", "150000 50000\n");
    assert_int_equal(etl_cgroup_processors(root), 3);
    put("sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "800000 100000\n");
    assert_int_equal(etl_cgroup_processors(root), 3);
    put("sys/fs/cgroup/slurm/job_8/cpu.max", "100000 100000\n"); /* somebody else's */
    assert_int_equal(etl_cgroup_processors(root), 3);
    put("sys/fs/cgroup/cpu.max", "200000 100000\n"); /* a container's first group */
    assert_int_equal(etl_cgroup_processors(root), 2);
}

static void quota_of_version_1_has_two_files(void **state)
{
    (void)state;
    put(MOUNTS, V1_MOUNT);
    put(GROUPS, "5:cpuset:/other\n4:cpu,cpuacct:/docker/ab\n1:name=systemd:/x\n");
    put("sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_period_us", "100000\n");
    put("sys/fs/cgroup/cpuset/other/cpu.cfs_quota_us", "100000\n"); /* not its group */
    put("sys/fs/cgroup/cpuset/other/cpu.cfs_period_us", "100000\n");
    assert_int_equal(etl_cgroup_processors(root), 0);
    put("sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_quota_us", "320000\n");
    assert_int_equal(etl_cgroup_processors(root), 4);
    put("sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "20000\n");
    assert_int_equal(etl_cgroup_processors(root), 4); /* its period is missing */
    put("sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "10000\n");
    assert_int_equal(etl_cgroup_processors(root), 2);
}

static void both_versions_may_be_there(void **state)
{
    (void)state;
    put(MOUNTS, V1_MOUNT "40 24 0:40 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put(GROUPS, "4:cpu,cpuacct:/a\n0::/b\n");
    put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "500000\n");
    put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
    assert_int_equal(etl_cgroup_processors(root), 5);
    put("sys/fs/cgroup/unified/b/cpu.max", "300000 100000\n");
    assert_int_equal(etl_cgroup_processors(root), 3);
}

/* Docker without a name space of groups: the paths are the computer's, and the mount begins
 * with the container's group. */
static void container_sees_its_own_group_only(void **state)
{
    (void)state;
    put(MOUNTS, "33 24 0:32 /docker/ab /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
    put(GROUPS, "4:cpu:/docker/ab\n");
    put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
    put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(etl_cgroup_processors(root), 2);
    put("sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "100000\n");
    put("sys/fs/cgroup/cpu/inner/cpu.cfs_period_us", "100000\n");
    put(GROUPS, "4:cpu:/docker/ab/inner\n");
    assert_int_equal(etl_cgroup_processors(root), 1);
    put(GROUPS, "4:cpu:/docker/abc\n"); /* not below /docker/ab: what is mounted counts */
    assert_int_equal(etl_cgroup_processors(root), 2);
    put(GROUPS, "4:cpu:/../../elsewhere\n");
    assert_int_equal(etl_cgroup_processors(root), 2);
}

static void mount_that_holds_the_group_is_taken(void **state)
{
    (void)state;
    put(MOUNTS, "30 24 0:30 /other /mnt/other rw - cgroup2 none rw\n"
                "31 24 0:30 / /mnt/all\\040groups rw - cgroup2 none rw\n");
    put(GROUPS, "0::/mine\n");
    put("mnt/other/cpu.max", "100000 100000\n");
    put("mnt/all groups/mine/cpu.max", "700000 100000\n");
    assert_int_equal(etl_cgroup_processors(root), 7);
}

static void damaged_numbers_are_no_limit(void **state)
{
    static const char *const damaged[] = {
        "",
        "\n",
        "max",
        "100000\n",
        "200000 0\n",
        "0 100000\n",
        "-1 100000\n",
        "two 100000\n",
        "200000x 100000\n",
        "200000 100000x\n",
        "99999999999999999999999 100000\n",
        "max max\n",
    };
    (void)state;
    put_v2("0::/app\n");
    for (size_t i = 0; i < ETL_COUNT_OF(damaged); i++) {
        put("sys/fs/cgroup/app/cpu.max", damaged[i]);
        assert_int_equal(etl_cgroup_processors(root), 0);
    }
    put("sys/fs/cgroup/app/cpu.max", "200000 100000\n");
    put(GROUPS, "\n:\n0\n0:\n::\nnonsense\n0::/app\n");
    put(MOUNTS, "\n-\n - \n1 2\n1 2 3 4 - cgroup2\n" V2_MOUNT);
    assert_int_equal(etl_cgroup_processors(root), 2);
}

static void long_lines_are_passed_over(void **state)
{
    static char text[20000];
    (void)state;
    put_v2("0::/app\n");
    put("sys/fs/cgroup/app/cpu.max", "200000 100000\n");
    memset(text, 'x', sizeof text - 1);
    snprintf(text + sizeof text - 300, 300, "\n%s", V2_MOUNT);
    put(MOUNTS, text);
    assert_int_equal(etl_cgroup_processors(root), 2);
}

static void memory_is_limited_likewise(void **state)
{
    (void)state;
    put(MOUNTS, V2_MOUNT "34 24 0:33 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    put(GROUPS, "0::/app\n");
    put("sys/fs/cgroup/app/memory.max", "max\n");
    assert_true(etl_cgroup_memory(root) == UINT64_MAX);
    put("sys/fs/cgroup/app/memory.max", "1073741824\n");
    assert_true(etl_cgroup_memory(root) == ETL_GIB);
    put(GROUPS, "9:memory:/old\n");
    put("sys/fs/cgroup/memory/old/memory.limit_in_bytes", "536870912\n");
    assert_true(etl_cgroup_memory(root) == 512 * ETL_MIB);
    assert_true(etl_memory_available(root) == 512 * ETL_MIB);
    put("proc/meminfo", "MemTotal:       8000000 kB\nMemFree:  1 kB\nMemAvailable:     1024 kB\n");
    assert_true(etl_memory_available(root) == ETL_MIB);
    put("proc/meminfo", "MemAvailable:     2097152 kB\n");
    assert_true(etl_memory_available(root) == 512 * ETL_MIB);
    put("proc/meminfo", "MemAvailable: lots\nMemAvailable:");
    assert_true(etl_memory_available(root) == 512 * ETL_MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_to_read_is_no_limit, begin_test, end_test),
        cmocka_unit_test_setup_teardown(quota_of_version_2_is_rounded_up, begin_test, end_test),
        cmocka_unit_test_setup_teardown(least_quota_on_the_way_up_counts, begin_test, end_test),
        cmocka_unit_test_setup_teardown(quota_of_version_1_has_two_files, begin_test, end_test),
        cmocka_unit_test_setup_teardown(both_versions_may_be_there, begin_test, end_test),
        cmocka_unit_test_setup_teardown(container_sees_its_own_group_only, begin_test, end_test),
        cmocka_unit_test_setup_teardown(mount_that_holds_the_group_is_taken, begin_test, end_test),
        cmocka_unit_test_setup_teardown(damaged_numbers_are_no_limit, begin_test, end_test),
        cmocka_unit_test_setup_teardown(long_lines_are_passed_over, begin_test, end_test),
        cmocka_unit_test_setup_teardown(memory_is_limited_likewise, begin_test, end_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
