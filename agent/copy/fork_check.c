/* SPDX-License-Identifier: BSD-2-Clause */
/* fork_check.c: decides whether the process may be copied (fork_check.h). Reads files of /proc into bounded buffers. A file that cannot be
 * read or parsed forbids the fork only if it tells how much memory is available. */
#include "fork_check.h"
#include "cgroup.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MIB         (UINT64_C(1) << 20)
#define GIB         (UINT64_C(1) << 30)
#define SHARED      (64 * MIB) /* a shared mapping up to this size is no heap, unless its name says so */
#define TEXT        8192       /* bytes of a file that are read; maps is read whole, in pieces of this size */
#define DESCRIPTORS 65536      /* most descriptors that are checked */
#define LINK        128        /* bytes that are read of the name of a descriptor */
#define TELLING     (64 * MIB) /* least memory on small pages from which the cost of a page is computed */

struct check {
    const struct hpx_fork_query *query;
    struct hpx_fork_answer *answer;
};

/* ---- the heap ---- */

struct mapping {
    uint64_t from, to;
    const char *mode, *name; /* "rw-p"; "" without a name */
};

static bool hex(const char **at, uint64_t *value)
{
    int used = 0;
    if (sscanf(*at, "%16" SCNx64 "%n", value, &used) != 1) {
        return false;
    }
    *at += used;
    return true;
}

/* FROM-TO MODE OFFSET DEVICE INODE    NAME. false: not such a line. */
static bool parse(const char *line, struct mapping *m)
{
    if (!hex(&line, &m->from) || *line++ != '-' || !hex(&line, &m->to) || *line++ != ' ' || strlen(line) < 5 || line[4] != ' ') {
        return false;
    }
    m->mode = line;
    line += 5;
    for (int i = 0; i < 3; i++) { /* offset, device, inode */
        line += strcspn(line, " ");
        line += strspn(line, " ");
    }
    m->name = line;
    return m->to > m->from;
}

static bool ends(const char *text, const char *with)
{
    size_t n = strlen(text), k = strlen(with);
    return n >= k && strcmp(text + n - k, with) == 0;
}

static bool huge_pages(const struct mapping *m)
{
    return strstr(m->name, "/anon_hugepage") == m->name || strstr(m->name, "hugetlb") != NULL || strstr(m->name, "/hugepages") != NULL;
}

/* The heap of ZGC is /memfd:java_heap or a deleted file java_heap.PID, that of AllocateHeapAt a deleted file, that on large pages of System
 * V /SYSV. Files that the program itself maps still have a name. */
static bool heap_by_name(const struct mapping *m)
{
    bool large = m->to - m->from > SHARED,
         nameless = m->name[0] == '\0' || ends(m->name, "(deleted)") || strstr(m->name, "/SYSV") == m->name;
    return m->mode[1] == 'w' && (m->mode[3] == 's' || huge_pages(m)) &&
           (strstr(m->name, "java_heap") != NULL || strstr(m->name, "/jvmheap.") != NULL || (large && (nameless || huge_pages(m))));
}

static bool heap_by_address(const struct check *c, const struct mapping *m)
{
    bool in = false;
    for (size_t i = 0; i < c->query->naddresses; i++) {
        in |= c->query->addresses[i] >= m->from && c->query->addresses[i] < m->to;
    }
    return in && (m->mode[3] != 'p' || huge_pages(m));
}

static bool judge(const struct check *c, const char *line)
{
    struct mapping m;
    if (!parse(line, &m) || !(heap_by_address(c, &m) || heap_by_name(&m))) {
        return false;
    }
    (void)snprintf(c->answer->text, sizeof c->answer->text, "the heap %s (%s, %" PRIu64 " MiB)",
                   m.mode[3] == 'p' ? "is on huge pages of a pool" : "is or may be a shared mapping",
                   m.name[0] != '\0' ? m.name : "no name", (m.to - m.from) / MIB);
    return true;
}

/* Lines are cut at the size of the buffer. Everything needed is at their beginning, except "(deleted)" behind a very long name. Returns
 * true if a fork is unsound; the text of the answer says why. The other checks return the same. */
static bool check_maps(const struct check *c)
{
    char text[TEXT];
    size_t n = 0;
    ssize_t got = 0;
    int fd = hpx_proc_open(c->query->root, "proc/self/maps");
    bool bad = false, any = false, rest = false; /* rest: the buffer begins with the rest of a cut line */
    while (fd >= 0 && !bad && (got = read(fd, text + n, sizeof text - 1 - n)) > 0) {
        n += (size_t)got;
        text[n] = '\0';
        char *line = text, *end;
        while (!bad && ((end = memchr(line, '\n', n - (size_t)(line - text))) != NULL || (line == text && n == sizeof text - 1))) {
            bool whole = end != NULL;
            end = whole ? end : text + n;
            *end = '\0';
            bad = !rest && judge(c, line);
            any = true;
            rest = !whole;
            line = whole ? end + 1 : end;
        }
        n -= (size_t)(line - text);
        memmove(text, line, n);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (!bad && (!any || got < 0)) {
        (void)snprintf(c->answer->text, sizeof c->answer->text, "/proc/self/maps cannot be read");
        bad = true;
    }
    return bad;
}

/* ---- devices ---- */

struct entry { /* of getdents64() */
    uint64_t inode, next;
    unsigned short size;
    unsigned char type;
    char name[];
};

/* Pipes and sockets are no devices, and O_DIRECT has another meaning for a pipe. */
static bool direct(const struct check *c, const char *number)
{
    char path[64], text[512];
    (void)snprintf(path, sizeof path, "proc/self/fdinfo/%.20s", number);
    const char *flags = hpx_proc_read(c->query->root, path, text, sizeof text) ? strstr(text, "flags:") : NULL;
    return flags != NULL && (strtoull(flags + 6, NULL, 8) & O_DIRECT) != 0;
}

static bool judge_descriptor(const struct check *c, int fds, const char *number)
{
    static const char *const devices[] = {"/dev/infiniband/", "/dev/vfio", "anon_inode:[io_uring]"};
    char name[LINK];
    ssize_t n = readlinkat(fds, number, name, sizeof name - 1);
    bool device = false;
    name[n > 0 ? n : 0] = '\0';
    for (size_t i = 0; i < HPX_ARRAY_LEN(devices); i++) {
        device |= strncmp(name, devices[i], strlen(devices[i])) == 0;
    }
    bool file = !device && name[0] == '/' && direct(c, number);
    for (char *at = name; *at != '\0'; at++) { /* a file name may contain any byte */
        if ((unsigned char)*at < ' ' || *at == 127) {
            *at = '?';
        }
    }
    if (device || file) {
        (void)snprintf(c->answer->text, sizeof c->answer->text,
                       "%s is open%s: a device may write to the program's memory while it is copied", name, file ? " with O_DIRECT" : "");
    }
    return device || file;
}

/* Calls getdents64() itself, because readdir() allocates. */
static bool check_descriptors(const struct check *c)
{
    union {
        char bytes[4096];
        uint64_t aligned;
    } buf;
    int fds = hpx_proc_open(c->query->root, "proc/self/fd");
    long n, seen = 0;
    bool bad = false;
    while (fds >= 0 && !bad && seen < DESCRIPTORS && (n = syscall(SYS_getdents64, fds, buf.bytes, sizeof buf.bytes)) > 0) {
        for (long at = 0; at < n && !bad && seen < DESCRIPTORS; seen++) {
            const struct entry *e = (const struct entry *)(const void *)(buf.bytes + at);
            bad = e->name[0] != '.' && judge_descriptor(c, fds, e->name);
            at += e->size;
        }
    }
    if (fds >= 0) {
        close(fds);
    }
    return bad;
}

/* A device must not write into private memory during a fork: open(2), O_DIRECT; madvise(2), MADV_DONTFORK. */
static bool check_devices(const struct check *c)
{
    char text[TEXT];
    uint64_t pinned = 0;
    if (hpx_proc_read(c->query->root, "proc/self/status", text, sizeof text) && hpx_proc_field(text, "VmPin:", &pinned) && pinned > 0) {
        (void)snprintf(c->answer->text, sizeof c->answer->text, "%" PRIu64 " KiB of the program's memory are pinned for devices (VmPin)",
                       pinned);
        return true;
    }
    return check_descriptors(c);
}

/* ---- the stop ---- */

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t all;
    return __builtin_mul_overflow(a, b, &all) ? UINT64_MAX : all;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    uint64_t all;
    return __builtin_add_overflow(a, b, &all) ? UINT64_MAX : all;
}

/* Reading smaps_rollup makes the kernel walk all page tables, and the program cannot change its mappings meanwhile. So the file is read
 * only if the machine has enough huge pages to make a difference. */
static void find_pages(const struct check *c, struct hpx_fork_answer *a)
{
    char text[TEXT];
    uint64_t anonymous, huge = 0;
    const char *root = c->query->root;
    a->small = hpx_proc_read(root, "proc/self/status", text, sizeof text) && hpx_proc_field(text, "RssAnon:", &anonymous)
                   ? times(anonymous, 1024)
                   : c->query->heap_committed;
    a->huge = 0;
    if (!hpx_proc_read(root, "proc/meminfo", text, sizeof text) || !hpx_proc_field(text, "AnonHugePages:", &huge) ||
        times(huge, 1024) <= a->small / 8) {
        return;
    }
    if (hpx_proc_read(root, "proc/self/smaps_rollup", text, sizeof text) && hpx_proc_field(text, "Anonymous:", &anonymous) &&
        hpx_proc_field(text, "AnonHugePages:", &huge) && huge <= anonymous) {
        a->small = times(anonymous - huge, 1024);
        a->huge = times(huge, 1024);
    }
}

static uint64_t huge_ns(const struct hpx_fork_answer *a)
{
    return plus(a->huge / MIB * HPX_FORK_HUGE_NS / (GIB / MIB), HPX_FORK_STOP_NS);
}

static void predict(const struct check *c, struct hpx_fork_answer *a)
{
    uint64_t rate = c->query->rate_ns_per_gib != 0 ? c->query->rate_ns_per_gib : HPX_FORK_SMALL_NS;
    a->stop_ns = plus(times(a->small / MIB, rate) / (GIB / MIB), huge_ns(a));
}

uint64_t hpx_fork_rate(const struct hpx_fork_answer *answer, uint64_t stopped_ns)
{
    uint64_t other = huge_ns(answer), small = answer->small / MIB;
    if (answer->small < TELLING) {
        return 0;
    }
    uint64_t rate = stopped_ns > other ? times(stopped_ns - other, GIB / MIB) / small : 0;
    return rate > 0 ? rate : 1;
}

/* ---- memory ---- */

static bool look_oom_group(void *arg, const struct hpx_cgroup *group)
{
    uint64_t n = 0;
    *(bool *)arg = hpx_cgroup_number(group, "memory.oom.group", NULL, &n) && n != 0;
    return !*(bool *)arg;
}

/* Bytes of the pages that the kernel may have to copy. */
static uint64_t copied(const struct hpx_fork_query *q)
{
    const uint64_t all = q->heap_committed, some = plus(all / HPX_FORK_DIRTY_SHARE, q->heap_marked);
    return some < all ? some : all;
}

static void find_need(const struct check *c, struct hpx_fork_answer *a)
{
    const struct hpx_fork_query *q = c->query;
    uint64_t each = q->tagged ? HPX_FORK_TAGGED_BYTES : HPX_FORK_OBJECT_BYTES;
    uint64_t own = plus(plus(q->heap_committed / HPX_FORK_BITMAP_SHARE, times(q->objects, each)), HPX_FORK_OWN_BYTES);
    a->oom_group = false;
    hpx_cgroup_each(q->root, look_oom_group, &a->oom_group);
    a->need = plus(plus(own, q->files), q->here ? 0 : a->oom_group ? plus(a->small, a->huge) : copied(q));
}

/* With vm.overcommit_memory=2 the kernel counts all memory of the child as used, even if it is never copied. */
static bool check_overcommit(const struct check *c)
{
    char text[64];
    uint64_t n = 0;
    if (!hpx_proc_read(c->query->root, "proc/sys/vm/overcommit_memory", text, sizeof text) || !hpx_proc_number(text, &n) || n != 2) {
        return false;
    }
    (void)snprintf(c->answer->text, sizeof c->answer->text,
                   "vm.overcommit_memory=2, so the program itself could be refused memory while the child lives");
    return true;
}

static enum hpx_fork_verdict check_room(const struct check *c, struct hpx_fork_answer *a)
{
    struct hpx_room room;
    if (!hpx_room_find(c->query->root, &room)) {
        (void)snprintf(a->text, sizeof a->text, "/proc/meminfo does not say how much memory is available");
        return HPX_FORK_UNSOUND;
    }
    if (room.left > room.reserve && room.left - room.reserve > a->need) {
        return HPX_FORK_SOUND;
    }
    (void)snprintf(a->text, sizeof a->text,
                   "%s%s leaves %" PRIu64 " MiB; a copy of the process needs about %" PRIu64 " MiB%s, and %" PRIu64 " MiB must stay free",
                   room.limit != NULL ? "the cgroup limit " : "the machine", room.limit != NULL ? room.limit : "", room.left / MIB,
                   a->need / MIB, a->oom_group ? " (all that it can grow to, because of memory.oom.group=1)" : "", room.reserve / MIB);
    return HPX_FORK_MEMORY;
}

void hpx_fork_check(const struct hpx_fork_query *query, struct hpx_fork_answer *answer)
{
    struct check c = {query, answer};
    answer->text[0] = '\0';
    find_pages(&c, answer);
    predict(&c, answer);
    find_need(&c, answer);
    answer->verdict = HPX_FORK_UNSOUND;
    if (query->zgc) {
        (void)snprintf(answer->text, sizeof answer->text, "the heap is a shared mapping (ZGC)");
    } else if (!check_maps(&c) && !(query->careful && check_devices(&c)) && !check_overcommit(&c)) {
        answer->verdict = check_room(&c, answer);
    }
}
