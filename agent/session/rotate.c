/* SPDX-License-Identifier: BSD-2-Clause */
/* rotate.c: the list of rotate.h, oldest first. */
#include "rotate.h"
#include "log.h"
#include "session.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct kept {
    char *name;
    dev_t device;
    ino_t inode;
    uint64_t bytes;
    struct timespec changed;
};

static HPX_OF_SESSION struct {
    struct kept *files;
    size_t n, room;
    uint64_t bytes;         /* of all */
    uint64_t removed, full; /* by the options; because of a full disk */
    atomic_bool said_full, said_stays, said_no_memory;
} rotate;

static bool on(void)
{
    return hpx_session.in_effect.split && (hpx_session.opt->keep_files > 0 || hpx_session.opt->keep_bytes > 0);
}

/* ---- the list ---- */

static void say_stays(const char *name, int error)
{
    hpx_warn_once(&rotate.said_stays, "file=%.1500s: cannot be removed (error %d); it stays, and others that cannot be removed", name,
                  error);
}

/* false: no regular file of this name, or nothing is known of it, which is said. */
static bool look(const char *name, struct kept *k)
{
    struct stat st;
    if (lstat(name, &st) != 0) {
        if (errno != ENOENT) {
            say_stays(name, errno);
        }
        return false;
    }
    k->device = st.st_dev;
    k->inode = st.st_ino;
    k->bytes = (uint64_t)st.st_size;
    k->changed = st.st_mtim;
    return S_ISREG(st.st_mode);
}

static bool still_ours(const struct kept *k)
{
    struct kept now;
    return look(k->name, &now) && now.device == k->device && now.inode == k->inode && now.bytes == k->bytes &&
           now.changed.tv_sec == k->changed.tv_sec && now.changed.tv_nsec == k->changed.tv_nsec;
}

static void forget_first(void)
{
    rotate.bytes -= rotate.files[0].bytes;
    free(rotate.files[0].name);
    rotate.n--;
    memmove(rotate.files, rotate.files + 1, rotate.n * sizeof *rotate.files);
}

/* What others have taken needs no room. */
static void forget_gone(void)
{
    size_t left = 0;
    for (size_t i = 0; i < rotate.n; i++) {
        if (still_ours(&rotate.files[i])) {
            rotate.files[left++] = rotate.files[i];
        } else {
            rotate.bytes -= rotate.files[i].bytes;
            free(rotate.files[i].name);
        }
    }
    rotate.n = left;
}

/* Removes the first file that is still ours and may be removed. false: none. `up_to`: how many may be looked at. Its name is left in
 * `removed`, which the caller frees. */
static bool remove_oldest(size_t up_to, char **removed)
{
    for (size_t i = 0; i < up_to; i++) {
        struct kept *first = rotate.files;
        bool ours = still_ours(first), gone = ours && unlink(first->name) == 0;
        if (ours && !gone) {
            say_stays(first->name, errno);
        }
        if (gone) {
            *removed = first->name;
            first->name = NULL;
        }
        forget_first();
        if (gone) {
            return true;
        }
    }
    return false;
}

/* ---- too many, or too large together ---- */

static bool too_much(void)
{
    const struct hpx_options *o = hpx_session.opt;
    size_t most = o->keep_files > 0 ? o->keep_files : HPX_OPT_MAX_KEEP;
    return rotate.n > most || (o->keep_bytes > 0 && rotate.bytes > o->keep_bytes);
}

static void trim(void)
{
    char *name = NULL;
    if (too_much()) {
        forget_gone();
    }
    while (rotate.n > 1 && too_much()) {
        if (remove_oldest(1, &name)) {
            rotate.removed++;
            free(name);
        }
    }
}

static bool has_room(void)
{
    if (rotate.n < rotate.room) {
        return true;
    }
    size_t room = rotate.room > 0 ? 2 * rotate.room : 16;
    struct kept *more = realloc(rotate.files, room * sizeof *more);
    if (more == NULL) {
        return false;
    }
    rotate.files = more;
    rotate.room = room;
    return true;
}

void hpx_rotate_add(const char *name)
{
    struct kept k;
    if (!on() || !look(name, &k)) {
        return;
    }
    k.name = has_room() ? strdup(name) : NULL;
    if (k.name == NULL) {
        hpx_warn_once(
            &rotate.said_no_memory,
            "file=%.1500s: no memory to remember the file, and perhaps further ones; it is not removed; raise the memory limit of "
            "the process",
            name);
        return;
    }
    rotate.files[rotate.n++] = k;
    rotate.bytes += k.bytes;
    trim();
}

/* ---- a full disk ---- */

bool hpx_rotate_make_room(void)
{
    char *name = NULL;
    if (!on() || !remove_oldest(rotate.n, &name)) {
        return false;
    }
    rotate.full++;
    hpx_warn_once(&rotate.said_full, "file=%.1500s: the disk is full; this oldest profile was removed for the next one; free some space",
                  name);
    free(name);
    return true;
}

void hpx_rotate_count(struct hpx_counters *to)
{
    atomic_store_explicit(&to->v[HPX_C_PROFILES_REMOVED], rotate.full, memory_order_relaxed);
}

void hpx_rotate_lines(struct hpx_lines *to)
{
    if (on()) {
        hpx_lines_add(to, "hprofx: profiles removed: %" PRIu64 " (keep-files=, keep-bytes=)\n", rotate.removed);
    }
}

void hpx_rotate_fini(void)
{
    for (size_t i = 0; i < rotate.n; i++) {
        free(rotate.files[i].name);
    }
    free(rotate.files);
    memset(&rotate, 0, sizeof rotate);
}
