/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fork_check.c: the decision whether a fork is sound and the prediction of its stop, with made-up files of the kernel. */
#include "folder_fixture.h"
#include "fork_check.h"

#define MIB  (UINT64_C(1) << 20)
#define HEAP "700000000-740000000 rw-p 00000000 00:00 0 \n"

static int tree(void **state)
{
    if (setup(state) != 0) {
        return -1;
    }
    file("proc/self/maps", HEAP "7f0000000000-7f0000001000 r-xp 00000000 08:01 5      /lib/libjvm.so\n");
    file("proc/self/status", "Name:\tjava\nVmPin:\t       0 kB\nRssAnon:\t  262144 kB\n");
    file("proc/meminfo", "MemTotal:       4096000 kB\nMemAvailable:   1024000 kB\nAnonHugePages:      2048 kB\n");
    file("proc/sys/vm/overcommit_memory", "0\n");
    file("proc/self/cgroup", "0::/a/b\n");
    return 0;
}

static struct hpx_fork_query ask;
static struct hpx_fork_answer answer;

static int tree_and_query(void **state)
{
    ask = (struct hpx_fork_query){.objects = 1000000, .heap_committed = 128 * MIB, .heap_marked = UINT64_MAX, .root = "."};
    return tree(state);
}

static void is_sound(void)
{
    hpx_fork_check(&ask, &answer);
    assert_string_equal(answer.text, "");
    assert_int_equal(answer.verdict, HPX_FORK_SOUND);
}

static void says(enum hpx_fork_verdict verdict, const char *text)
{
    hpx_fork_check(&ask, &answer);
    assert_string_equal(answer.text, text);
    assert_int_equal(answer.verdict, verdict);
}

static void unsound(const char *text)
{
    says(HPX_FORK_UNSOUND, text);
}

TEST(a_private_heap_with_memory_is_sound, tree_and_query, teardown)
{
    is_sound();
    ask.addresses = (const uintptr_t[]){0x700000010, 0x73fffffff};
    ask.naddresses = 2;
    is_sound();
}

TEST(a_shared_heap_is_not, tree_and_query, teardown)
{
    file("proc/self/maps", HEAP "4000000000-4002000000 rw-s 00000000 00:01 9   /memfd:java_heap (deleted)\n");
    unsound("the heap is or may be a shared mapping (/memfd:java_heap (deleted), 32 MiB)");
    file("proc/self/maps", HEAP "4000000000-4010000000 rw-s 00000000 00:01 9   /data/jvmheap.x (deleted)\n");
    unsound("the heap is or may be a shared mapping (/data/jvmheap.x (deleted), 256 MiB)");
    file("proc/self/maps", HEAP "4000000000-4002000000 rw-s 00000000 00:01 9   /data/jvmheap.x1y2z3 (deleted)\n");
    unsound("the heap is or may be a shared mapping (/data/jvmheap.x1y2z3 (deleted), 32 MiB)");
    file("proc/self/maps", HEAP "4000000000-4010000000 rw-p 00000000 00:01 9   /anon_hugepage (deleted)\n");
    unsound("the heap is on huge pages of a pool (/anon_hugepage (deleted), 256 MiB)");
    file("proc/self/maps", HEAP "4000000000-4010000000 rw-s 00000000 00:01 9   /data/index.db\n"
                                "5000000000-5001000000 rw-s 00000000 00:01 9   /dev/zero (deleted)\n");
    is_sound(); /* files of the program, and small ones */
    ask.addresses = (const uintptr_t[]){0x4000000000};
    ask.naddresses = 1;
    unsound("the heap is or may be a shared mapping (/data/index.db, 256 MiB)");
    ask.zgc = true;
    unsound("the heap is a shared mapping (ZGC)");
}

TEST(odd_maps_are_endured, tree_and_query, teardown)
{
    static char text[40000];
    memset(text, 'x', sizeof text - 200);                                                                    /* longer than any buffer */
    strcat(text, "\n\n-\n1-\nzz\n4000000000-4002000000 rw-s 00000000 00:01 9   /memfd:java_heap (deleted)"); /* cut at the end */
    file("proc/self/maps", text);
    is_sound();
    strcat(text, "\n");
    file("proc/self/maps", text);
    hpx_fork_check(&ask, &answer);
    assert_int_equal(answer.verdict, HPX_FORK_UNSOUND);
    assert_int_equal(unlink("proc/self/maps"), 0);
    unsound("/proc/self/maps cannot be read");
    assert_string_equal(content("said"), "");
}

/* own: 2 MiB for the bitmap, 1.9 for a million objects, 16 */
#define OWN (128 * MIB / 64 + 2000000 + 16 * MIB)

static void needs(uint64_t bytes)
{
    hpx_fork_check(&ask, &answer);
    assert_int_equal(answer.need, bytes);
}

TEST(need_is_a_share_and_what_the_child_writes, tree_and_query, teardown)
{
    needs(OWN + 128 * MIB);
    ask.heap_marked = 0;
    needs(OWN + 16 * MIB);
    ask.heap_marked = 50 * MIB;
    needs(OWN + 16 * MIB + 50 * MIB);
    ask.heap_marked = 120 * MIB; /* with the share more than there is */
    needs(OWN + 128 * MIB);
    ask.heap_marked = 0;
    ask.tagged = true;
    needs(OWN + 98000000 + 16 * MIB);
    ask.tagged = false;
    ask.here = true;
    needs(OWN);
    ask.files = 30 * MIB;
    needs(OWN + 30 * MIB);
}

TEST(memory_must_suffice, tree_and_query, teardown)
{
    ask.heap_committed = 1000 * MIB;
    says(HPX_FORK_MEMORY, "the machine leaves 1000 MiB; a copy of the process needs about 1033 MiB, and 62 MiB must stay free");
    ask.heap_committed = 900 * MIB; /* 932 MiB and 62.5 free */
    is_sound();
    ask.heap_committed = 910 * MIB;
    hpx_fork_check(&ask, &answer);
    assert_int_equal(answer.verdict, HPX_FORK_MEMORY);
    ask.objects = UINT64_MAX;
    hpx_fork_check(&ask, &answer);
    assert_int_equal(answer.verdict, HPX_FORK_MEMORY);
    assert_true(answer.need == UINT64_MAX);
}

TEST(what_is_not_short_is_not_called_missing, tree_and_query, teardown)
{
    ask.objects = UINT64_MAX;
    file("proc/sys/vm/overcommit_memory", "2\n");
    unsound("vm.overcommit_memory=2, so the program itself could be refused memory while the child lives");
    file("proc/sys/vm/overcommit_memory", "1\n");
    file("proc/meminfo", "MemAvailable: much\n");
    unsound("/proc/meminfo does not say how much memory is available");
}

#define SHORT(limit, left, need)                                                                                                           \
    "the cgroup limit " limit " leaves " left " MiB; a copy of the process needs about " need " MiB, and 32 MiB must stay free"

TEST(the_limits_of_all_groups_above_hold, tree_and_query, teardown)
{
    file("sys/fs/cgroup/a/b/memory.current", "104857600\n");
    file("sys/fs/cgroup/a/b/memory.max", "max\n");
    is_sound();
    file("sys/fs/cgroup/a/memory.current", "209715200\n");
    file("sys/fs/cgroup/a/memory.max", "367001600\n");
    says(HPX_FORK_MEMORY, SHORT("memory.max", "150", "147"));                 /* less than 32 MiB would be left */
    file("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 104857600\n"); /* given back at need */
    is_sound();
    file("sys/fs/cgroup/a/memory.high", "104857600\n");
    says(HPX_FORK_MEMORY, SHORT("memory.high", "0", "147"));
    file("proc/self/cgroup", "12:cpu,memory:/docker/1\n5:cpu:/a\n"); /* the host's path: only the mount is visible */
    is_sound();
    file("sys/fs/cgroup/memory/memory.usage_in_bytes", "209715200\n");
    file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    is_sound();
    file("sys/fs/cgroup/memory/memory.limit_in_bytes", "262144000\n");
    says(HPX_FORK_MEMORY, SHORT("memory.limit_in_bytes", "50", "147"));
    file("proc/self/cgroup", "::\n:\n0::/../..\n");
    is_sound();
}

TEST(an_oom_group_needs_room_for_everything, tree_and_query, teardown)
{
    ask.heap_marked = 0;
    file("sys/fs/cgroup/a/b/memory.oom.group", "0\n");
    needs(OWN + 16 * MIB);
    assert_false(answer.oom_group);
    file("sys/fs/cgroup/a/memory.oom.group", "1\n"); /* an ancestor's kill takes all below it */
    needs(OWN + 256 * MIB);
    assert_true(answer.oom_group);
    assert_int_equal(answer.verdict, HPX_FORK_SOUND);
    file("sys/fs/cgroup/a/b/memory.oom.group", "1\n");
    file("sys/fs/cgroup/a/memory.oom.group", "0\n");
    needs(OWN + 256 * MIB);
    file("sys/fs/cgroup/a/b/memory.current", "104857600\n");
    file("sys/fs/cgroup/a/b/memory.max", "262144000\n");
    says(HPX_FORK_MEMORY, "the cgroup limit memory.max leaves 150 MiB; a copy of the process needs about 275 MiB (all that it can grow to, "
                          "because of memory.oom.group=1), and 32 MiB must stay free");
}

TEST(the_stop_is_that_of_small_pages, tree_and_query, teardown)
{
    is_sound();
    assert_int_equal(answer.stop_ns, 256 * HPX_FORK_SMALL_NS / 1024 + HPX_FORK_STOP_NS);
    ask.rate_ns_per_gib = 8000000;
    is_sound();
    assert_int_equal(answer.stop_ns, 3000000);
    file("proc/self/smaps_rollup", "1-2 ---p 0 0:0 0 [rollup]\nAnonymous:  262144 kB\nAnonHugePages: 131072 kB\n");
    is_sound();
    assert_int_equal(answer.small, 256 * MIB); /* not read: the machine has 2 MiB of huge pages */
    file("proc/meminfo", "MemAvailable:   1024000 kB\nAnonHugePages:    204800 kB\n");
    is_sound();
    assert_int_equal(answer.small, 128 * MIB);
    assert_int_equal(answer.huge, 128 * MIB);
    assert_int_equal(answer.stop_ns, 1000000 + HPX_FORK_HUGE_NS / 8 + HPX_FORK_STOP_NS);
    file("proc/self/smaps_rollup", "Anonymous:  1 kB\nAnonHugePages: 131072 kB\n"); /* nonsense */
    is_sound();
    assert_int_equal(answer.small, 256 * MIB);
    assert_int_equal(unlink("proc/self/status"), 0);
    is_sound();
    assert_int_equal(answer.small, 128 * MIB); /* the heap, then */
}

TEST(a_fork_tells_the_rate_of_the_next, tree_and_query, teardown)
{
    is_sound();
    ask.rate_ns_per_gib = hpx_fork_rate(&answer, 5000000);
    assert_int_equal(ask.rate_ns_per_gib, 16000000); /* 4 ms for a quarter */
    is_sound();
    assert_int_equal(answer.stop_ns, 5000000);
    assert_int_equal(hpx_fork_rate(&answer, 10), 1);
    answer.small = 10 * MIB;
    assert_int_equal(hpx_fork_rate(&answer, 5000000), 0);
}

static void descriptor(int number, const char *name, unsigned flags)
{
    char path[64], text[64];
    snprintf(path, sizeof path, "proc/self/fd/%d", number);
    assert_int_equal(system("mkdir -p proc/self/fd"), 0);
    (void)unlink(path);
    assert_int_equal(symlink(name, path), 0);
    snprintf(path, sizeof path, "proc/self/fdinfo/%d", number);
    snprintf(text, sizeof text, "pos:\t0\nflags:\t0%o\nmnt_id:\t9\n", flags);
    file(path, text);
}

#define MAY_WRITE ": a device may write to the program's memory while it is copied"

TEST(a_careful_look_finds_devices, tree_and_query, teardown)
{
    descriptor(0, "/dev/null", O_RDWR | O_CLOEXEC);
    descriptor(3, "pipe:[77]", O_RDWR | O_DIRECT); /* a pipe of packets */
    descriptor(4, "/data/\x1b[31mtable", O_RDWR);
    ask.careful = true;
    is_sound();
    descriptor(4, "/data/\x1b[31mtable", O_RDWR | O_DIRECT);
    unsound("/data/?[31mtable is open with O_DIRECT" MAY_WRITE);
    ask.careful = false;
    is_sound();
    ask.careful = true;
    descriptor(4, "anon_inode:[io_uring]", O_RDWR);
    unsound("anon_inode:[io_uring] is open" MAY_WRITE);
    descriptor(4, "/dev/infiniband/uverbs0", O_RDWR);
    unsound("/dev/infiniband/uverbs0 is open" MAY_WRITE);
    descriptor(4, "/dev/vfio/7", O_RDWR);
    unsound("/dev/vfio/7 is open" MAY_WRITE);
    descriptor(4, "anon_inode:[eventpoll]", O_RDWR);
    is_sound();
    file("proc/self/status", "VmPin:\t      64 kB\n");
    unsound("64 KiB of the program's memory are pinned for devices (VmPin)");
}

TESTS(NULL, NULL)
