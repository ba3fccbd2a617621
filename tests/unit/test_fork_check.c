/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fork_check.c: the decision whether a fork is sound, with made-up files of the kernel. */
#include "folder_fixture.h"
#include "fork_check.h"

#define MIB  (UINT64_C(1) << 20)
#define HEAP "700000000-740000000 rw-p 00000000 00:00 0 \n"

static void file(const char *path, const char *text)
{
    char command[256];
    snprintf(command, sizeof command, "mkdir -p \"$(dirname ./%s)\"", path);
    assert_int_equal(system(command), 0);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int tree(void **state)
{
    if (setup(state) != 0) {
        return -1;
    }
    file("proc/self/maps", HEAP "7f0000000000-7f0000001000 r-xp 00000000 08:01 5      /lib/libjvm.so\n");
    file("proc/meminfo", "MemTotal:       4096000 kB\nMemAvailable:   1024000 kB\n");
    file("proc/sys/vm/overcommit_memory", "0\n");
    file("proc/self/cgroup", "0::/a/b\n");
    return 0;
}

static struct hpx_fork_query ask = {.objects = 1000000, .heap_bytes = 100 * MIB, .root = "."};

static const char *why(void)
{
    static char buf[256];
    return hpx_fork_unsound(&ask, buf, sizeof buf);
}

static void says(const char *text)
{
    const char *got = why();
    assert_non_null(got);
    assert_string_equal(got, text);
}

static void a_private_heap_with_memory_is_sound(void **state)
{
    (void)state;
    assert_null(why());
    ask.addresses = (const uintptr_t[]){0x700000010, 0x73fffffff};
    ask.naddresses = 2;
    assert_null(why());
    ask.naddresses = 0;
}

static void a_shared_heap_is_not(void **state)
{
    (void)state;
    file("proc/self/maps", HEAP "4000000000-4002000000 rw-s 00000000 00:01 9   /memfd:java_heap (deleted)\n");
    says("the heap is or may be a shared mapping (/memfd:java_heap (deleted), 32 MiB)");
    file("proc/self/maps", HEAP "4000000000-4010000000 rw-s 00000000 00:01 9   /data/jvmheap.x (deleted)\n");
    says("the heap is or may be a shared mapping (/data/jvmheap.x (deleted), 256 MiB)");
    file("proc/self/maps", HEAP "4000000000-4010000000 rw-p 00000000 00:01 9   /anon_hugepage (deleted)\n");
    says("the heap is on huge pages of a pool (/anon_hugepage (deleted), 256 MiB)");
    file("proc/self/maps", HEAP "4000000000-4010000000 rw-s 00000000 00:01 9   /data/index.db\n"
                                "5000000000-5001000000 rw-s 00000000 00:01 9   /dev/zero (deleted)\n");
    assert_null(why()); /* files of the program, and small ones */
    ask.addresses = (const uintptr_t[]){0x4000000000};
    ask.naddresses = 1;
    says("the heap is or may be a shared mapping (/data/index.db, 256 MiB)");
    ask.naddresses = 0;
    ask.zgc = true;
    says("the heap is a shared mapping (ZGC)");
    ask.zgc = false;
}

static void odd_maps_are_endured(void **state)
{
    (void)state;
    static char text[40000];
    memset(text, 'x', sizeof text - 200);                                                                    /* longer than any buffer */
    strcat(text, "\n\n-\n1-\nzz\n4000000000-4002000000 rw-s 00000000 00:01 9   /memfd:java_heap (deleted)"); /* cut at the end */
    file("proc/self/maps", text);
    assert_null(why());
    strcat(text, "\n");
    file("proc/self/maps", text);
    assert_non_null(why());
    assert_int_equal(unlink("proc/self/maps"), 0);
    says("/proc/self/maps cannot be read");
    assert_string_equal(content("said"), "");
}

static void memory_must_suffice(void **state)
{
    (void)state;
    ask.objects = 20000000;
    says("memory for the child is missing: about 1917 MiB are needed, 1000 MiB are available");
    ask.objects = UINT64_MAX;
    assert_non_null(why());
    ask.objects = 1000000;
    file("proc/sys/vm/overcommit_memory", "2\n");
    says("vm.overcommit_memory=2, so the program itself could be refused memory while the child lives");
    file("proc/sys/vm/overcommit_memory", "1\n");
    file("proc/meminfo", "MemAvailable: much\n");
    says("/proc/meminfo does not say how much memory is available");
}

static void the_limits_of_all_groups_above_hold(void **state)
{
    (void)state;
    file("sys/fs/cgroup/a/b/memory.current", "104857600\n");
    file("sys/fs/cgroup/a/b/memory.max", "max\n");
    assert_null(why());
    file("sys/fs/cgroup/a/memory.current", "209715200\n");
    file("sys/fs/cgroup/a/memory.max", "262144000\n");
    says("the cgroup limit memory.max leaves 50 MiB, about 105 MiB are needed for the child");
    file("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 104857600\n"); /* given back at need */
    assert_null(why());
    file("sys/fs/cgroup/a/memory.high", "104857600\n");
    says("the cgroup limit memory.high leaves 0 MiB, about 105 MiB are needed for the child");
    file("proc/self/cgroup", "12:cpu,memory:/docker/1\n5:cpu:/a\n"); /* the host's path: only the mount is visible */
    assert_null(why());
    file("sys/fs/cgroup/memory/memory.usage_in_bytes", "209715200\n");
    file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_null(why());
    file("sys/fs/cgroup/memory/memory.limit_in_bytes", "262144000\n");
    says("the cgroup limit memory.limit_in_bytes leaves 50 MiB, about 105 MiB are needed for the child");
    file("proc/self/cgroup", "::\n:\n0::/../..\n");
    assert_null(why());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_private_heap_with_memory_is_sound, tree, teardown),
        cmocka_unit_test_setup_teardown(a_shared_heap_is_not, tree, teardown),
        cmocka_unit_test_setup_teardown(odd_maps_are_endured, tree, teardown),
        cmocka_unit_test_setup_teardown(memory_must_suffice, tree, teardown),
        cmocka_unit_test_setup_teardown(the_limits_of_all_groups_above_hold, tree, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
