/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fork_watch.c: when the child of a heap walk costs too much memory, with made-up files of the kernel. */
#include "folder_fixture.h"
#include "fork_watch.h"

#define MIB   (UINT64_C(1) << 20)
#define LATER UINT64_C(10000000000) /* ns; so long that the next look is due, whatever the last one took */

static struct hpx_fork_watch watch;
static uint64_t now;

static int tree(void **state)
{
    if (setup(state) != 0) {
        return -1;
    }
    file("proc/meminfo", "MemTotal:       4096000 kB\nMemAvailable:   1024000 kB\n");
    file("proc/self/cgroup", "0::/a/b\n");
    file("proc/77/smaps_rollup", "1-2 ---p 0 0:0 0 [rollup]\nRss: 9 kB\nShared_Dirty: 900000 kB\nPrivate_Dirty:  10240 kB\n");
    return 0;
}

static void begin(void)
{
    now = 1;
    hpx_fork_watch_begin(&watch, 77, 10 * MIB, ".");
}

static void goes_on(void)
{
    const char *why = hpx_fork_watch_look(&watch, now += LATER);
    assert_string_equal(why != NULL ? why : "", "");
}

static void ends(const char *text)
{
    const char *why = hpx_fork_watch_look(&watch, now += LATER);
    assert_string_equal(why != NULL ? why : "", text);
}

TEST(growth_beyond_the_estimate_ends_the_child, tree, teardown)
{
    begin();
    goes_on();
    file("proc/77/smaps_rollup", "Private_Dirty:  20480 kB\n");
    ends("the copy of the process grew to 20 MiB, 10 MiB were expected");
    watch.pid = 0; /* not forked yet */
    goes_on();
}

TEST(a_look_waits_for_its_time, tree, teardown)
{
    begin();
    goes_on();
    file("proc/77/smaps_rollup", "Private_Dirty:  20480 kB\n");
    file("proc/meminfo", "MemTotal:       4096000 kB\nMemAvailable:   1024 kB\n");
    assert_null(hpx_fork_watch_look(&watch, now + HPX_FORK_WATCH_STEP_NS - 1));
    ends("the machine leaves only 1 MiB");
    assert_int_equal(hpx_fork_watch_pause(0), HPX_FORK_WATCH_STEP_NS);
    assert_int_equal(hpx_fork_watch_pause(1000000), HPX_FORK_WATCH_STEP_NS);
    assert_int_equal(hpx_fork_watch_pause(50000000), 1000000000); /* 5 % of the time */
    assert_int_equal(hpx_fork_watch_pause(UINT64_MAX), UINT64_MAX / 2);
}

TEST(a_reserve_stays_free, tree, teardown)
{
    begin();
    file("proc/meminfo", "MemTotal:       4096000 kB\nMemAvailable:   64000 kB\n"); /* a 64th */
    goes_on();
    file("proc/meminfo", "MemTotal:       4096000 kB\nMemAvailable:   63999 kB\n");
    ends("the machine leaves only 62 MiB");
    file("proc/meminfo", "MemTotal:       4096000 kB\nMemAvailable:   1024000 kB\n");
    file("sys/fs/cgroup/a/memory.current", "209715200\n");
    file("sys/fs/cgroup/a/memory.max", "241172480\n");
    ends("the cgroup limit memory.max leaves only 30 MiB");
    file("sys/fs/cgroup/a/memory.stat", "inactive_file 104857600\n");
    goes_on();
}

/* With 100 MiB left the reserve of 32 MiB is kept, but not four times that. */
static void limit(const char *left)
{
    file("sys/fs/cgroup/a/b/memory.current", "209715200\n");
    file("sys/fs/cgroup/a/b/memory.max", left);
}

TEST(a_limit_that_was_reached_wants_more_room, tree, teardown)
{
    limit("314572800\n");
    file("sys/fs/cgroup/a/b/memory.events", "low 0\nhigh 3\nmax 5\noom 0\noom_kill 0\n");
    begin();
    goes_on();
    file("sys/fs/cgroup/a/b/memory.events", "low 9\nhigh 3\nmax 6\noom 0\noom_kill 0\n");
    ends("the cgroup limit memory.max leaves only 100 MiB");
    limit("419430400\n"); /* 200 MiB: only files filled the group */
    goes_on();
    begin();
    limit("314572800\n");
    goes_on();
    file("sys/fs/cgroup/a/b/memory.events", "low 9\nhigh 4\nmax 6\noom 0\noom_kill 0\n");
    ends("the cgroup limit memory.max leaves only 100 MiB");
}

TEST(memory_that_ran_out_ends_the_child, tree, teardown)
{
    file("sys/fs/cgroup/a/b/memory.events", "high 3\nmax 5\noom 1\noom_kill 2\n");
    file("sys/fs/cgroup/a/memory.events", "high 3\nmax 5\noom 1\noom_kill 2\n");
    begin();
    goes_on();
    file("sys/fs/cgroup/a/memory.events", "high 3\nmax 5\noom 2\noom_kill 3\n"); /* perhaps of another program */
    goes_on();
    file("sys/fs/cgroup/a/b/memory.events", "high 3\nmax 5\noom 2\noom_kill 2\n");
    ends("the memory of the program's cgroup ran out");
    begin();
    file("sys/fs/cgroup/a/b/memory.events", "high 3\nmax 5\noom 2\noom_kill 3\n");
    ends("the memory of the program's cgroup ran out");
    file("sys/fs/cgroup/a/memory.events.local", "high 3\nmax 5\noom 2\noom_kill 3\n");
    begin();
    goes_on();
    file("sys/fs/cgroup/a/memory.events.local", "high 3\nmax 5\noom 3\noom_kill 3\n"); /* the limit that was missed is ours, too */
    ends("the memory of the program's cgroup ran out");
}

TEST(groups_of_version_1_count_failures, tree, teardown)
{
    file("proc/self/cgroup", "4:memory:/x\n");
    file("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "209715200\n");
    file("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "314572800\n");
    file("sys/fs/cgroup/memory/x/memory.failcnt", "7\n");
    file("sys/fs/cgroup/memory/x/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
    begin();
    goes_on();
    file("sys/fs/cgroup/memory/x/memory.failcnt", "8\n");
    ends("the cgroup limit memory.limit_in_bytes leaves only 100 MiB");
    file("sys/fs/cgroup/memory/x/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
    ends("the memory of the program's cgroup ran out");
}

TEST(odd_files_are_endured, tree, teardown)
{
    static char text[100000];
    begin();
    memset(text, '9', sizeof text - 1);
    file("proc/77/smaps_rollup", text);
    file("sys/fs/cgroup/a/b/memory.events.local", text);
    file("sys/fs/cgroup/a/b/memory.current", text);
    goes_on();
    memcpy(text, "Private_Dirty:", 14);
    file("proc/77/smaps_rollup", text); /* more than 64 bits */
    file("sys/fs/cgroup/a/b/memory.max", "0\n");
    file("sys/fs/cgroup/a/b/memory.events", "max 18446744073709551615\noom -1\noom_kill\n");
    goes_on();
    file("proc/meminfo", "MemAvailable: 18446744073709551615 kB\n");
    goes_on();
    assert_int_equal(system("rm -r proc sys"), 0);
    goes_on();
    assert_string_equal(content("said"), "");
}

TESTS(NULL, NULL)
