/* SPDX-License-Identifier: BSD-2-Clause */
/* origin.c: the lines of origin.h, and where their values are found. */
#include "origin.h"
#include "clock.h"
#include "text.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINES 8192 /* bytes of a line of the kernel's files that are looked at */

struct name {
    char bytes[HPX_ORIGIN_NAME];
    uint32_t len; /* 0: unknown */
};

static HPX_OF_SESSION struct {
    struct name host, service, version;
    char container[HPX_ORIGIN_CONTAINER + 1]; /* the writer's; "": none */
    uint64_t began_ms, began_ns;              /* wall clock, hpx_clock_mono() */
    uint64_t from_ms, from_ns;                /* the same, when the session began to record; 0: it has not */
} origin;

#define NOT_YET UINT64_MAX
static HPX_OF_SESSION _Atomic uint64_t all_ns; /* relaxed: how much later it recorded in all threads and classes; 0: it began so */

static void set(struct name *to, const char *s, size_t n)
{
    if (n > sizeof to->bytes) {
        for (n = sizeof to->bytes; n > 0 && ((unsigned char)s[n] & 0xC0) == 0x80; n--) { /* no half character */
        }
    }
    memcpy(to->bytes, s, n);
    to->len = (uint32_t)n;
}

/* ---- names ---- */

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static size_t trimmed(const char **s, size_t n)
{
    for (; n > 0 && isspace((unsigned char)**s); n--) {
        ++*s;
    }
    for (; n > 0 && isspace((unsigned char)(*s)[n - 1]); n--) {
    }
    return n;
}

/* %20 is a blank. */
static void set_decoded(struct name *to, const char *s, size_t n)
{
    char text[2 * HPX_ORIGIN_NAME];
    size_t used = 0;
    for (size_t i = 0; i < n && used < sizeof text; i++) {
        bool coded = s[i] == '%' && n - i > 2 && hex(s[i + 1]) >= 0 && hex(s[i + 2]) >= 0;
        text[used] = s[i];
        if (coded) {
            text[used] = (char)(unsigned char)(hex(s[i + 1]) << 4 | hex(s[i + 2]));
        }
        used++;
        i += coded ? 2 : 0;
    }
    set(to, text, used);
}

/* An attribute of a list KEY=VALUE,KEY=VALUE. */
static void set_attribute(struct name *to, const char *list, const char *key)
{
    for (size_t n; list != NULL && *list != '\0'; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        size_t k = strcspn(list, "=,");
        const char *name = list, *value = list + k + 1;
        size_t len = trimmed(&name, k);
        if (k < n && len == strlen(key) && memcmp(name, key, len) == 0) {
            len = trimmed(&value, n - k - 1);
            set_decoded(to, value, len);
        }
    }
}

/* The main class or the file name of the jar. A class has no blank in its name; the path of a jar may, and then begins with a folder. */
static void set_program(struct name *to, const char *command)
{
    size_t n = strcspn(command, " ");
    if (*command == '/' || *command == '.') {
        for (const char *at = command; (at = strstr(at, ".jar")) != NULL; at += 4) {
            if (at[4] == '\0' || at[4] == ' ') {
                n = (size_t)(at + 4 - command);
                break;
            }
        }
    }
    const char *begin = command + n;
    while (begin > command && begin[-1] != '/') { /* MODULE/CLASS, FOLDER/JAR */
        begin--;
    }
    set(to, begin, (size_t)(command + n - begin));
}

uint64_t hpx_origin_wall_ms(void)
{
    struct timespec ts = {0};
    (void)clock_gettime(CLOCK_REALTIME, &ts);
    return ts.tv_sec < 0 ? 0 : (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

void hpx_origin_begin(const char *command)
{
    char host[HOST_NAME_MAX + 1];
    memset(&origin, 0, sizeof origin);
    const char *service = getenv("OTEL_SERVICE_NAME"), *attributes = getenv("OTEL_RESOURCE_ATTRIBUTES");
    if (gethostname(host, sizeof host) != 0) {
        snprintf(host, sizeof host, "localhost");
    }
    set(&origin.host, host, strnlen(host, sizeof host));
    size_t n = service != NULL ? trimmed(&service, strlen(service)) : 0;
    if (n > 0) {
        set(&origin.service, service, n);
    } else {
        set_attribute(&origin.service, attributes, "service.name");
    }
    if (origin.service.len == 0 && command != NULL) {
        set_program(&origin.service, command);
    }
    set_attribute(&origin.version, attributes, "service.version");
    origin.began_ms = hpx_origin_wall_ms();
    origin.began_ns = hpx_clock_mono();
}

void hpx_origin_recorded(bool partly)
{
    origin.from_ms = hpx_origin_wall_ms();
    origin.from_ns = hpx_clock_mono();
    atomic_store_explicit(&all_ns, partly ? NOT_YET : 0, memory_order_relaxed);
}

void hpx_origin_recorded_all(void)
{
    atomic_store_explicit(&all_ns, hpx_clock_mono() - origin.from_ns, memory_order_relaxed);
}

/* ---- the container ---- */

struct reader {
    int fd;
    size_t have, at; /* bytes read, start of the next line */
    char text[LINES + 1];
};

/* The next line, without its newline; of a longer one the first LINES bytes, then the rest as further lines. NULL: that was the last. */
static char *next_line(struct reader *r)
{
    for (;;) {
        char *line = r->text + r->at, *end = memchr(line, '\n', r->have - r->at);
        if (end == NULL && r->at == 0 && r->have == LINES) {
            end = line + LINES;
        }
        if (end != NULL) {
            r->at = (size_t)(end - r->text) + (end < r->text + LINES);
            *end = '\0';
            return line;
        }
        memmove(r->text, line, r->have - r->at);
        r->have -= r->at;
        r->at = 0;
        ssize_t n = read(r->fd, r->text + r->have, LINES - r->have);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return NULL; /* the kernel ends every line */
        }
        r->have += (size_t)n;
    }
}

/* The last run of exactly 64 lower hexadecimal digits. */
static void find_id(const char *text, const char *end)
{
    size_t run = 0;
    for (const char *c = text; c <= end; c++) {
        if (c < end && isalnum((unsigned char)*c)) {
            run = hex(*c) >= 0 && !isupper((unsigned char)*c) && run <= HPX_ORIGIN_CONTAINER ? run + 1 : HPX_ORIGIN_CONTAINER + 1;
            continue;
        }
        if (run == HPX_ORIGIN_CONTAINER) {
            memcpy(origin.container, c - run, run);
        }
        run = 0;
    }
}

/* NUMBER:NAMES:PATH: runtimes put the id into the path. */
static void look_in_groups(const char *line)
{
    find_id(line, line + strlen(line));
}

/* ID PARENT DEVICE ROOT POINT ...: where a container sees no groups but its own, its host name is a file of the runtime, in a folder of the
 * container's name. Not in one of a sandbox, which is another container. */
static void look_in_mounts(const char *line)
{
    const char *root = line;
    for (int i = 0; i < 3 && root != NULL; i++) {
        root = strchr(root, ' ');
        root = root != NULL ? root + 1 : NULL;
    }
    const char *end = root != NULL ? strchr(root, ' ') : NULL;
    static const char point[] = " /etc/hostname ";
    const char *sandbox = root != NULL ? strstr(root, "/sandboxes/") : NULL;
    if (end != NULL && strncmp(end, point, sizeof point - 1) == 0 && (sandbox == NULL || sandbox > end)) {
        find_id(root, end);
    }
}

static void look(const char *root, const char *path, void (*in)(const char *line))
{
    struct reader r = {.fd = -1};
    char whole[PATH_MAX];
    int n = snprintf(whole, sizeof whole, "%s/%s", root != NULL ? root : "", path);
    if (n < 0 || (size_t)n >= sizeof whole) {
        return;
    }
    r.fd = open(whole, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (r.fd < 0) {
        return;
    }
    for (const char *line = next_line(&r); line != NULL; line = next_line(&r)) {
        in(line);
    }
    close(r.fd);
}

void hpx_origin_look_for_container(const char *root)
{
    look(root, "proc/self/cgroup", look_in_groups);
    if (origin.container[0] == '\0') {
        look(root, "proc/self/mountinfo", look_in_mounts);
    }
}

/* ---- the lines ---- */

static void add_name(struct hpx_lines *to, const char *format, const struct name *n)
{
    char text[6 * sizeof n->bytes + 1];
    text[hpx_text_escape(text, (struct hpx_text){n->bytes, n->len}, false)] = '\0';
    if (n->len > 0) {
        hpx_lines_add(to, "%s%s\n", format, text);
    }
}

static void add_recorded(struct hpx_lines *to)
{
    uint64_t later = atomic_load_explicit(&all_ns, memory_order_relaxed);
    char rest[96] = "";
    if (later == NOT_YET) {
        snprintf(rest, sizeof rest, "; not yet in all threads and loaded classes");
    } else if (later > 0) {
        snprintf(rest, sizeof rest, "; in all threads and loaded classes %.0f ms later", hpx_lines_ms(later));
    }
    if (origin.from_ns > 0) {
        hpx_lines_add(to, "hprofx: recorded from: %" PRIu64 " ms since 1970, %.0f ms after the run began%s\n", origin.from_ms,
                      hpx_lines_ms(origin.from_ns - origin.began_ns), rest);
    }
}

void hpx_origin_lines(struct hpx_lines *to, const struct hpx_period *profile)
{
    add_name(to, "hprofx: host: ", &origin.host);
    hpx_lines_add(to, "hprofx: pid: %ld\n", (long)getpid());
    add_name(to, "hprofx: service: ", &origin.service);
    add_name(to, "hprofx: service version: ", &origin.version);
    if (origin.container[0] != '\0') {
        hpx_lines_add(to, "hprofx: container: %s\n", origin.container);
    }
    hpx_lines_add(to, "hprofx: run began: %" PRIu64 " ms since 1970\n", origin.began_ms);
    add_recorded(to);
    hpx_lines_add(to, "hprofx: profile: %" PRIu32 ", from %" PRIu64 " to %" PRIu64 " ms since 1970\n", profile->number, profile->from_ms,
                  profile->to_ms);
}
