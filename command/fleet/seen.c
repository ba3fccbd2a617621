/* SPDX-License-Identifier: BSD-2-Clause */
/* seen.c: see seen.h. */
#include "seen.h"
#include "list.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define NAME  "seen"
#define PART  "seen.part"
#define NOW   "reading"
#define ONCE  "once\n"
#define AGAIN "again\n"

#define NAME_LINE (3 * NAME_MAX + 2) /* of an escaped name */

struct entry {
    struct hpx_seen_file file; /* the name is owned */
    bool met;                  /* since the last save */
    bool dropped;
};

struct hpx_seen {
    int folder;
    struct hpx_list entries;  /* struct entry: in the order in which they were added */
    struct hpx_seeded_map of; /* index + 1 */
    FILE *reading;            /* NULL: it cannot be written */
    struct hpx_seen_file fatal;
    char fatal_name[NAME_LINE]; /* "": there was none */
    bool twice;                 /* the process before that was reading it, too */
    uint64_t suspect, now;      /* key() of what the process before was reading, until it was read; and of what is read now; 0: none */
};

static struct entry *at(const struct hpx_seen *s, size_t i)
{
    return (struct entry *)s->entries.items + i;
}

/* A file under another name is another: also where no time of birth is known, a new file may get the inode of an old one. */
static uint64_t key(const struct hpx_seen_file *f)
{
    const uint64_t numbers[] = {f->dev, f->ino, f->born_ns};
    return XXH3_64bits_withSeed(numbers, sizeof numbers, XXH3_64bits(f->name, strlen(f->name)));
}

static struct entry *find(const struct hpx_seen *s, const struct hpx_seen_file *f)
{
    const uint32_t *i = hpx_seeded_map_find(&s->of, key(f));
    struct entry *e = i != NULL && *i > 0 ? at(s, *i - 1) : NULL;
    return e != NULL && !e->dropped ? e : NULL;
}

bool hpx_seen_has(struct hpx_seen *s, const struct hpx_seen_file *f)
{
    struct entry *e = find(s, f);
    if (e != NULL) {
        e->met = true;
    }
    return e != NULL;
}

bool hpx_seen_add(struct hpx_seen *s, const struct hpx_seen_file *f)
{
    char *name = strdup(f->name);
    struct entry *e = name != NULL ? hpx_list_entry(&s->of, &s->entries, sizeof *e, key(f)) : NULL;
    if (e == NULL) {
        free(name);
        return false;
    }
    free((char *)(uintptr_t)e->file.name);
    *e = (struct entry){.file = *f, .met = true};
    e->file.name = name;
    return true;
}

void hpx_seen_drop(struct hpx_seen *s, const struct hpx_seen_file *f)
{
    struct entry *e = find(s, f);
    if (e != NULL) {
        e->dropped = true;
        e->met = false;
    }
}

void hpx_seen_keep(struct hpx_seen *s)
{
    for (size_t i = 0; i < s->entries.len; i++) {
        at(s, i)->met = !at(s, i)->dropped;
    }
}

void hpx_seen_run(struct hpx_seen *s, const struct hpx_seen_file *f)
{
    struct entry *e = find(s, f);
    if (e != NULL) {
        e->file.run = f->run;
    }
}

const struct hpx_seen_file *hpx_seen_last(const struct hpx_seen *s, uint64_t run)
{
    for (size_t i = s->entries.len; run != 0 && i-- > 0;) {
        if (at(s, i)->file.run == run && !at(s, i)->dropped) {
            return &at(s, i)->file;
        }
    }
    return NULL;
}

/* ---- the file ---- */

static void put_name(FILE *to, const char *name)
{
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;
        if (c <= ' ' || c == '%' || c == 0x7f) {
            (void)fprintf(to, "%%%02x", c);
        } else {
            (void)putc(c, to);
        }
    }
}

static void put_line(FILE *to, const struct hpx_seen_file *f)
{
    (void)fprintf(to, "%" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " ", (uint64_t)f->dev, (uint64_t)f->ino, f->born_ns, f->run);
    put_name(to, f->name);
    (void)putc('\n', to);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A byte, or one behind '%' as two digits; 0: these are none. */
static int byte_at(const char *at)
{
    if (*at != '%') {
        return *at;
    }
    return digit(at[1]) >= 0 && digit(at[2]) >= 0 ? digit(at[1]) * 16 + digit(at[2]) : 0;
}

/* In place. false: it is no name of a file in a folder. */
static bool get_name(char *name)
{
    char *to = name;
    for (const char *from = name; *from != '\0'; from++) {
        int c = byte_at(from);
        if (c == '\0' || c == '/') {
            return false;
        }
        from += *from == '%' ? 2 : 0;
        *to++ = (char)c;
    }
    *to = '\0';
    return to > name && to - name <= NAME_MAX;
}

/* false: no such line; it may have been torn. */
static bool parse_line(const char *line, struct hpx_seen_file *f, char name[static NAME_LINE])
{
    uint64_t dev, ino, born, run;
    int end = 0;
    if (sscanf(line, "%16" SCNx64 " %16" SCNx64 " %16" SCNx64 " %16" SCNx64 " %766s%n", &dev, &ino, &born, &run, name, &end) != 5 ||
        strcmp(line + end, "\n") != 0 || !get_name(name)) {
        return false;
    }
    *f = (struct hpx_seen_file){.dev = (dev_t)dev, .ino = (ino_t)ino, .born_ns = born, .name = name, .run = run};
    return true;
}

/* Also of a line that was torn. false: no memory. */
static bool read_line(struct hpx_seen *s, const char *line)
{
    char name[NAME_LINE];
    struct hpx_seen_file f;
    return !parse_line(line, &f, name) || hpx_seen_add(s, &f);
}

/* false: errno. */
static bool read_all(struct hpx_seen *s)
{
    int fd = openat(s->folder, NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    FILE *from = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (from == NULL) {
        int error = errno;
        (void)(fd >= 0 ? close(fd) : 0);
        errno = error;
        return fd < 0 && errno == ENOENT;
    }
    char *line = NULL;
    size_t size = 0;
    bool all = true;
    while (all && getline(&line, &size, from) > 0) {
        all = read_line(s, line);
    }
    all = all && feof(from) != 0;
    int error = errno;
    free(line);
    (void)fclose(from);
    errno = error;
    return all;
}

/* ---- the file that is read ---- */

static void open_reading(struct hpx_seen *s)
{
    static const char again[] = AGAIN;
    char line[4 * NAME_MAX];
    int fd = openat(s->folder, NOW, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    s->reading = fd >= 0 ? fdopen(fd, "r+") : NULL;
    if (s->reading == NULL) {
        (void)(fd >= 0 ? close(fd) : 0);
        return;
    }
    if (fgets(line, sizeof line, s->reading) == NULL || !parse_line(line, &s->fatal, s->fatal_name)) {
        s->fatal_name[0] = '\0';
        return;
    }
    s->suspect = key(&s->fatal);
    s->twice = fgets(line, sizeof line, s->reading) != NULL && strcmp(line, again) == 0;
}

const struct hpx_seen_file *hpx_seen_fatal(const struct hpx_seen *s)
{
    return s->fatal_name[0] != '\0' && s->twice ? &s->fatal : NULL;
}

void hpx_seen_end(struct hpx_seen *s)
{
    s->suspect = s->now == s->suspect ? 0 : s->suspect;
    if (s->reading != NULL) {
        (void)!ftruncate(fileno(s->reading), 0);
    }
}

/* What was longer before stands behind the end of the lines. */
void hpx_seen_begin(struct hpx_seen *s, const struct hpx_seen_file *f)
{
    s->fatal_name[0] = '\0';
    s->now = key(f);
    if (s->reading != NULL) {
        rewind(s->reading);
        put_line(s->reading, f);
        (void)fputs(s->now == s->suspect ? AGAIN : ONCE, s->reading);
        (void)fflush(s->reading);
    }
}

size_t hpx_seen_count(const struct hpx_seen *s)
{
    return s->entries.len;
}

struct hpx_seen *hpx_seen_open(int folder, struct hpx_err *err)
{
    struct hpx_seen *s = calloc(1, sizeof *s);
    if (s == NULL) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
        return NULL;
    }
    s->folder = folder;
    hpx_seeded_map_init(&s->of, true);
    if (!read_all(s)) {
        (void)hpx_err_set(err, HPX_E_IO, "the file `seen` of the spool cannot be read: %s", strerror(errno));
        hpx_seen_close(s);
        return NULL;
    }
    open_reading(s);
    return s;
}

void hpx_seen_close(struct hpx_seen *s)
{
    for (size_t i = 0; s != NULL && i < s->entries.len; i++) {
        free((char *)(uintptr_t)at(s, i)->file.name);
    }
    if (s != NULL) {
        free(s->entries.items);
        hpx_seeded_map_fini(&s->of);
        (void)(s->reading != NULL ? fclose(s->reading) : 0);
    }
    free(s);
}

/* What was not met since the last save is gone. Without memory it is forgotten another time. */
static void forget(struct hpx_seen *s)
{
    struct hpx_seeded_map of;
    uint32_t n = 0;
    hpx_seeded_map_init(&of, true);
    for (size_t i = 0; i < s->entries.len; i++) {
        uint32_t *index;
        if (at(s, i)->met && hpx_seeded_map_add(&of, key(&at(s, i)->file), &index) < 0) {
            hpx_seeded_map_fini(&of);
            return;
        }
        if (at(s, i)->met) {
            *index = ++n;
        }
    }
    n = 0;
    for (size_t i = 0; i < s->entries.len; i++) {
        struct entry e = *at(s, i);
        if (e.met) {
            e.met = false;
            *at(s, n++) = e;
        } else {
            free((char *)(uintptr_t)e.file.name);
        }
    }
    s->entries.len = n;
    hpx_seeded_map_fini(&s->of);
    s->of = of;
}

bool hpx_seen_save(struct hpx_seen *s)
{
    forget(s);
    (void)unlinkat(s->folder, PART, 0);
    int fd = openat(s->folder, PART, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (to == NULL) {
        int error = errno;
        (void)(fd >= 0 ? close(fd) : 0);
        errno = error;
        return false;
    }
    for (size_t i = 0; i < s->entries.len; i++) {
        if (!at(s, i)->dropped) {
            put_line(to, &at(s, i)->file);
        }
    }
    bool wrong = ferror(to) != 0;
    wrong = fclose(to) != 0 || wrong;
    return !wrong && renameat(s->folder, PART, s->folder, NAME) == 0;
}
