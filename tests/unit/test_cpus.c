/* SPDX-License-Identifier: BSD-2-Clause */
/* test_cpus.c: CPUs of a process: what its cgroups grant, and how many are spare. */
#include "cpus.h"
#include "folder_fixture.h"
#include <sched.h>
#include <sys/stat.h>

static void make_folders(const char *path)
{
    char part[256];
    for (const char *at = strchr(path, '/'); at != NULL; at = strchr(at + 1, '/')) {
        (void)snprintf(part, sizeof part, "%.*s", (int)(at - path), path);
        (void)mkdir(part, 0700);
    }
}

static void put(const char *name, const char *text)
{
    make_folders(name);
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void assert_quota(double expected)
{
    double is = hpx_cpus_quota(".", 7);
    assert_true(is > expected - 1e-9 && is < expected + 1e-9);
}

TEST(the_least_quota_of_all_groups_above_counts, setup, teardown)
{
    put("proc/7/cgroup", "0::/a/b\n");
    put("sys/fs/cgroup/a/b/cpu.max", "300000 100000\n");
    assert_quota(3);
    put("sys/fs/cgroup/a/cpu.max", "75000 50000\n");
    assert_quota(1.5);
    put("sys/fs/cgroup/a/cpu.max", "max 100000\n");
    assert_quota(3);
    put("sys/fs/cgroup/cpu.max", "50000 100000\n"); /* the mount of a container */
    assert_quota(0.5);
    put("proc/7/cgroup", "0::/not/seen/here\n");
    assert_quota(0.5);
    put("proc/7/cgroup", "0::/../outside\n");
    assert_quota(0);
}

TEST(the_first_version_of_cgroups_has_it_in_two_files, setup, teardown)
{
    put("proc/7/cgroup", "9:name=systemd:/a\n4:cpuset:/c\n3:cpuacct,cpu:/a\n0::/\n");
    assert_quota(0);
    put("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "250000\n");
    assert_quota(0); /* without a period */
    put("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    put("sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "1\n");
    put("sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n");
    assert_quota(2.5);
    put("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
    assert_quota(0);
}

TEST(texts_of_another_shape_are_no_quota, setup, teardown)
{
    assert_quota(0); /* no process */
    put("proc/7/cgroup", "\n0\n0:\n0::\n0::relative\n::/a\n");
    put("sys/fs/cgroup/cpu.max", "1000 0\n");
    put("sys/fs/cgroup/a/cpu.max", "many\n");
    assert_quota(0);
    assert_string_equal(content("said"), "");
}

TEST(one_cpu_is_the_calling_threads_and_of_a_quota_one_the_programs)
{
    static const struct {
        unsigned allowed;
        double quota;
        unsigned spare;
    } cases[] = {{1, 0, 0},    {2, 0, 1},  {64, 0, 63},  {1, 0.5, 0}, {64, 0.5, 0},  {64, 1, 0}, {64, 2, 0},
                 {64, 2.9, 0}, {64, 3, 1}, {64, 4.5, 2}, {2, 3.5, 1}, {2, 1e300, 1}, {4, 4, 2},  {4, 5, 3}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        assert_int_equal(hpx_cpus_spare_of(cases[i].allowed, cases[i].quota), cases[i].spare);
    }
}

TEST(on_one_cpu_none_is_spare)
{
    cpu_set_t was, one;
    CPU_ZERO(&one);
    assert_int_equal(sched_getaffinity(0, sizeof was, &was), 0);
    assert_int_equal(hpx_cpus_allowed(0), CPU_COUNT(&was));
    assert_true(hpx_cpus_spare() < hpx_cpus_allowed(0));
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(hpx_cpus_allowed(0), 1);
    assert_int_equal(hpx_cpus_spare(), 0);
    assert_int_equal(sched_setaffinity(0, sizeof was, &was), 0);
}

TESTS(NULL, NULL)
