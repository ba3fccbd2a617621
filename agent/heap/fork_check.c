/* SPDX-License-Identifier: BSD-2-Clause */
/* fork_check.c: the decision of fork_check.h. Every file is read into a bounded buffer; what cannot be read or understood forbids a fork
 * only where it says how much memory there is. */
#include "fork_check.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MIB       (UINT64_C(1) << 20)
#define SHARED    (64 * MIB) /* a shared mapping up to that size is no heap, unless it is named so */
#define UNLIMITED UINT64_MAX
#define PATHS     2048 /* bytes of a path; longer ones are not followed */
#define TEXT      8192 /* bytes of a file that are read, but of maps */

struct check {
    const struct hpx_fork_query *query;
    char *buf;
    size_t size;
};

/* ---- files ---- */

static int open_file(const struct check *c, const char *path)
{
    char whole[2 * PATHS];
    int n = snprintf(whole, sizeof whole, "%s/%s", c->query->root != NULL ? c->query->root : "", path);
    return n < 0 || (size_t)n >= sizeof whole ? -1 : open(whole, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

/* The beginning of the file, terminated. false: it cannot be read. */
static bool read_file(const struct check *c, const char *path, char *text, size_t size)
{
    int fd = open_file(c, path);
    size_t n = 0;
    ssize_t got = -1;
    while (fd >= 0 && n < size - 1 && (got = read(fd, text + n, size - 1 - n)) > 0) {
        n += (size_t)got;
    }
    text[n] = '\0';
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0 && got >= 0;
}

/* The number at the beginning of the text; blanks may precede it. false: there is none, or it is too large. */
static bool number(const char *text, uint64_t *value)
{
    uint64_t n = 0;
    text += strspn(text, " \t");
    if (*text < '0' || *text > '9') {
        return false;
    }
    for (; *text >= '0' && *text <= '9'; text++) {
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(*text - '0'), &n)) {
            return false;
        }
    }
    *value = n;
    return true;
}

/* The number behind `key` at the beginning of a line. */
static bool field(const char *text, const char *key, uint64_t *value)
{
    size_t n = strlen(key);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0) {
            return number(line + n, value);
        }
    }
    return false;
}

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

/* ZGC: /memfd:java_heap, or a deleted file java_heap.PID; AllocateHeapAt: a deleted file; large pages of System V: /SYSV. A program's own
 * files that are mapped still have a name. */
static bool heap_by_name(const struct mapping *m)
{
    bool large = m->to - m->from > SHARED,
         nameless = m->name[0] == '\0' || ends(m->name, "(deleted)") || strstr(m->name, "/SYSV") == m->name;
    return m->mode[1] == 'w' && (m->mode[3] == 's' || huge_pages(m)) &&
           (strstr(m->name, "java_heap") != NULL || (large && (nameless || huge_pages(m))));
}

static bool heap_by_address(const struct check *c, const struct mapping *m)
{
    bool in = false;
    for (size_t i = 0; i < c->query->naddresses; i++) {
        in |= c->query->addresses[i] >= m->from && c->query->addresses[i] < m->to;
    }
    return in && (m->mode[3] != 'p' || huge_pages(m));
}

static const char *judge(const struct check *c, const char *line)
{
    struct mapping m;
    if (!parse(line, &m) || !(heap_by_address(c, &m) || heap_by_name(&m))) {
        return NULL;
    }
    (void)snprintf(c->buf, c->size, "the heap %s (%s, %" PRIu64 " MiB)",
                   m.mode[3] == 'p' ? "is on huge pages of a pool" : "is or may be a shared mapping",
                   m.name[0] != '\0' ? m.name : "no name", (m.to - m.from) / MIB);
    return c->buf;
}

/* Lines are cut at the size of the buffer: what matters is at their beginning, but for "(deleted)" behind a very long name. */
static const char *check_maps(const struct check *c)
{
    char text[TEXT];
    size_t n = 0;
    ssize_t got = 0;
    int fd = open_file(c, "proc/self/maps");
    const char *why = NULL;
    bool any = false, rest = false; /* rest: of a line that was too long */
    while (fd >= 0 && why == NULL && (got = read(fd, text + n, sizeof text - 1 - n)) > 0) {
        n += (size_t)got;
        text[n] = '\0';
        char *line = text, *end;
        while (why == NULL && ((end = memchr(line, '\n', n - (size_t)(line - text))) != NULL || (line == text && n == sizeof text - 1))) {
            bool whole = end != NULL;
            end = whole ? end : text + n;
            *end = '\0';
            why = rest ? NULL : judge(c, line);
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
    if (why == NULL && (!any || got < 0)) {
        (void)snprintf(c->buf, c->size, "/proc/self/maps cannot be read");
        why = c->buf;
    }
    return why;
}

/* ---- memory ---- */

static uint64_t needed(const struct hpx_fork_query *q)
{
    uint64_t tags, all;
    bool much = __builtin_mul_overflow(q->objects, HPX_FORK_OBJECT_BYTES, &tags) ||
                __builtin_add_overflow(tags, q->heap_bytes / HPX_FORK_DIRTY_SHARE, &all);
    return much ? UNLIMITED : all;
}

static const char *check_machine(const struct check *c, uint64_t need)
{
    char text[TEXT];
    uint64_t n = 0;
    if (read_file(c, "proc/sys/vm/overcommit_memory", text, sizeof text) && number(text, &n) && n == 2) {
        (void)snprintf(c->buf, c->size, "vm.overcommit_memory=2, so the program itself could be refused memory while the child lives");
        return c->buf;
    }
    if (!read_file(c, "proc/meminfo", text, sizeof text) || !field(text, "MemAvailable:", &n)) {
        (void)snprintf(c->buf, c->size, "/proc/meminfo does not say how much memory is available");
        return c->buf;
    }
    if (need / 1024 >= n) {
        (void)snprintf(c->buf, c->size, "memory for the child is missing: about %" PRIu64 " MiB are needed, %" PRIu64 " MiB are available",
                       need / MIB, n / 1024);
        return c->buf;
    }
    return NULL;
}

/* The files of a group's limits; version 2 and version 1. */
static const struct limits {
    const char *mount, *limit[2], *usage, *cache; /* cache: a line of memory.stat: files that the kernel drops at need */
} versions[] = {
    {"sys/fs/cgroup", {"memory.max", "memory.high"}, "memory.current", "inactive_file "},
    {"sys/fs/cgroup/memory", {"memory.limit_in_bytes", NULL}, "memory.usage_in_bytes", "total_inactive_file "},
};

static bool group_number(const struct check *c, const struct limits *v, const char *group, const char *file, const char *key,
                         uint64_t *value)
{
    char path[PATHS], text[TEXT];
    int n = snprintf(path, sizeof path, "%s%s/%s", v->mount, group, file);
    return n > 0 && (size_t)n < sizeof path && read_file(c, path, text, sizeof text) &&
           (key != NULL ? field(text, key, value) : number(text, value));
}

static const char *check_group(const struct check *c, const struct limits *v, const char *group, uint64_t need)
{
    uint64_t usage = 0, cache = 0, limit;
    if (!group_number(c, v, group, v->usage, NULL, &usage)) {
        return NULL; /* the root, or not visible from this container */
    }
    (void)group_number(c, v, group, "memory.stat", v->cache, &cache);
    usage -= cache < usage ? cache : usage;
    for (size_t i = 0; i < HPX_ARRAY_LEN(v->limit) && v->limit[i] != NULL; i++) {
        if (group_number(c, v, group, v->limit[i], NULL, &limit) && (limit <= usage || limit - usage <= need)) { /* not "max" */
            (void)snprintf(c->buf, c->size, "the cgroup limit %s leaves %" PRIu64 " MiB, about %" PRIu64 " MiB are needed for the child",
                           v->limit[i], limit > usage ? (limit - usage) / MIB : 0, need / MIB);
            return c->buf;
        }
    }
    return NULL;
}

/* The group, and all above it. In a container the path may be that of the host: then only the last step up, the mount, exists. */
static const char *check_groups_above(const struct check *c, const struct limits *v, char *group, uint64_t need)
{
    const char *why = NULL;
    if (group[0] != '/' || strstr(group, "..") != NULL) {
        group[0] = '\0';
    }
    for (;;) {
        size_t n = strlen(group);
        while (n > 0 && group[n - 1] == '/') {
            group[--n] = '\0';
        }
        why = check_group(c, v, group, need);
        if (why != NULL || n == 0) {
            return why;
        }
        *strrchr(group, '/') = '\0';
    }
}

/* "memory" among the comma-separated names. */
static bool memory_group(const char *names)
{
    for (const char *at = names; (at = strstr(at, "memory")) != NULL; at += 6) {
        if ((at == names || at[-1] == ',') && (at[6] == '\0' || at[6] == ',')) {
            return true;
        }
    }
    return false;
}

static const char *check_groups(const struct check *c, uint64_t need)
{
    char text[TEXT], *rest = NULL;
    const char *why = NULL;
    if (!read_file(c, "proc/self/cgroup", text, sizeof text)) {
        return NULL;
    }
    for (char *line = strtok_r(text, "\n", &rest); line != NULL && why == NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *names = strchr(line, ':'), *group = names != NULL ? strchr(names + 1, ':') : NULL; /* NUMBER:NAMES:/PATH */
        if (group == NULL || strlen(group) >= PATHS / 2) {
            continue;
        }
        *group++ = '\0';
        names++;
        if (names[0] == '\0' || memory_group(names)) {
            why = check_groups_above(c, &versions[names[0] != '\0'], group, need);
        }
    }
    return why;
}

const char *hpx_fork_unsound(const struct hpx_fork_query *query, char *buf, size_t size)
{
    struct check c = {query, buf, size};
    uint64_t need = needed(query);
    if (query->zgc) {
        (void)snprintf(buf, size, "the heap is a shared mapping (ZGC)");
        return buf;
    }
    const char *why = check_maps(&c);
    why = why != NULL ? why : check_machine(&c, need);
    return why != NULL ? why : check_groups(&c, need);
}
