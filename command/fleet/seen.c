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

#define NAME "seen"
#define PART "seen.part"

struct entry {
    struct hpx_seen_file file; /* the name is owned */
    bool met;                  /* since the last save */
};

struct hpx_seen {
    int folder;
    struct hpx_list entries; /* struct entry: in the order in which they were added */
    struct hpx_idmap of;     /* index + 1 */
};

static struct entry *at(const struct hpx_seen *s, size_t i)
{
    return (struct entry *)s->entries.items + i;
}

/* A file under another name is another: a name may be taken by a new file that gets the inode of an old one. */
static uint64_t key(const struct hpx_seen_file *f)
{
    const uint64_t numbers[] = {f->dev, f->ino};
    return XXH3_64bits_withSeed(numbers, sizeof numbers, XXH3_64bits(f->name, strlen(f->name)));
}

static struct entry *find(const struct hpx_seen *s, const struct hpx_seen_file *f)
{
    const uint32_t *i = hpx_idmap_find(&s->of, key(f));
    return i != NULL && *i > 0 ? at(s, *i - 1) : NULL;
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
    *e = (struct entry){*f, true};
    e->file.name = name;
    return true;
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
        if (at(s, i)->file.run == run) {
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

static bool get_name(char *name)
{
    char *to = name;
    for (const char *from = name; *from != '\0'; from++) {
        unsigned c;
        if (*from == '%' && sscanf(from + 1, "%2x", &c) == 1 && c != 0) {
            *to++ = (char)c;
            from += 2;
        } else if (*from == '%') {
            return false;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    return to > name;
}

static void read_line(struct hpx_seen *s, const char *line)
{
    static char name[4 * NAME_MAX];
    uint64_t dev, ino, run;
    if (sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %1019s", &dev, &ino, &run, name) == 4 && get_name(name)) {
        (void)hpx_seen_add(s, &(struct hpx_seen_file){.dev = (dev_t)dev, .ino = (ino_t)ino, .name = name, .run = run});
    }
}

struct hpx_seen *hpx_seen_open(int folder, struct hpx_err *err)
{
    struct hpx_seen *s = calloc(1, sizeof *s);
    if (s == NULL) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
        return NULL;
    }
    s->folder = folder;
    hpx_idmap_init(&s->of, true);
    int fd = openat(folder, NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    FILE *from = fd >= 0 ? fdopen(fd, "r") : NULL;
    char *line = NULL;
    size_t size = 0;
    if (fd < 0 && errno != ENOENT) {
        (void)hpx_err_set(err, HPX_E_IO, "the file `seen` of the spool cannot be read: %s", strerror(errno));
        hpx_seen_close(s);
        return NULL;
    }
    while (from != NULL && getline(&line, &size, from) > 0) {
        read_line(s, line);
    }
    free(line);
    if (from != NULL) {
        (void)fclose(from);
    }
    return s;
}

void hpx_seen_close(struct hpx_seen *s)
{
    for (size_t i = 0; s != NULL && i < s->entries.len; i++) {
        free((char *)(uintptr_t)at(s, i)->file.name);
    }
    if (s != NULL) {
        free(s->entries.items);
        hpx_idmap_fini(&s->of);
    }
    free(s);
}

/* What was not met since the last save is gone; so is what there is no memory for, and will be sent again. */
static bool forget(struct hpx_seen *s)
{
    size_t n = 0;
    bool all = true;
    hpx_idmap_clear(&s->of);
    for (size_t i = 0; i < s->entries.len; i++) {
        struct entry e = *at(s, i);
        uint32_t *index;
        all = all && (!e.met || hpx_idmap_add(&s->of, key(&e.file), &index) >= 0);
        if (!e.met || !all) {
            free((char *)(uintptr_t)e.file.name);
            continue;
        }
        e.met = false;
        *at(s, n++) = e;
        *index = (uint32_t)n;
    }
    s->entries.len = n;
    return all;
}

bool hpx_seen_save(struct hpx_seen *s)
{
    bool whole = forget(s);
    errno = whole ? 0 : ENOMEM;
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
        const struct hpx_seen_file *f = &at(s, i)->file;
        (void)fprintf(to, "%" PRIx64 " %" PRIx64 " %" PRIx64 " ", (uint64_t)f->dev, (uint64_t)f->ino, f->run);
        put_name(to, f->name);
        (void)putc('\n', to);
    }
    bool wrong = ferror(to) != 0;
    wrong = fclose(to) != 0 || wrong;
    return !wrong && renameat(s->folder, PART, s->folder, NAME) == 0 && whole;
}
