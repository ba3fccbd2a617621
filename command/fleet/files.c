/* SPDX-License-Identifier: BSD-2-Clause */
/* files.c: see files.h. */
#include "files.h"
#include "batch.h"
#include "outfile.h"
#include "writers.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct hpx_files {
    int dir;
};

struct hpx_files *hpx_files_open(const char *folder, struct hpx_err *err)
{
    struct hpx_files *f = calloc(1, sizeof *f);
    if (f == NULL) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
        return NULL;
    }
    (void)mkdir(folder, 0700);
    f->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->dir < 0 || faccessat(f->dir, ".", W_OK | X_OK, AT_EACCESS) != 0) {
        (void)hpx_err_set(err, HPX_E_IO, "profiles cannot be written to %s: %s", folder, strerror(errno));
        hpx_files_close(f);
        return NULL;
    }
    return f;
}

void hpx_files_close(struct hpx_files *f)
{
    if (f != NULL && f->dir >= 0) {
        (void)close(f->dir);
    }
    free(f);
}

/* A name of the program as a part of a file's name. */
static void put(char *to, size_t size, const char *text, const char *missing)
{
    size_t n = 0;
    for (const char *c = text[0] != '\0' ? text : missing; *c != '\0' && n + 1 < size; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_' || (*c == '.' && n > 0);
        to[n++] = '_';
        if (plain) {
            to[n - 1] = *c;
        }
    }
    to[n] = '\0';
}

static bool write_to(int fd, const struct hpx_tree *t)
{
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    FILE *to = hpx_out_stream(fd, true);
    if (to == NULL) {
        return false;
    }
    errno = 0;
    bool all = hpx_tree_columns(t, of) == 0 || hpx_write_pprof(t, of[0], to);
    int error = ferror(to) != 0 ? (errno != 0 ? errno : EIO) : all ? 0 : ENOMEM;
    errno = 0;
    if (fclose(to) != 0 && error == 0) {
        error = errno != 0 ? errno : EIO;
    }
    errno = error;
    return error == 0;
}

bool hpx_files_add(struct hpx_files *f, const struct hpx_tree *t, const uint8_t id[HPX_PROFILE_ID])
{
    char service[80], host[64], hex[HPX_BATCH_ID], name[248], part[256];
    put(service, sizeof service, hpx_tree_text(t, t->origin.service), "java");
    put(host, sizeof host, hpx_tree_text(t, t->origin.host), "host");
    hpx_batch_id(id, hex);
    (void)snprintf(name, sizeof name, "%s-%s-%llu-%llu-%.8s.pb.gz", service, host, (unsigned long long)t->origin.pid,
                   (unsigned long long)t->start_ms, hex);
    (void)snprintf(part, sizeof part, ".%s.part", name); /* another shipper may write to this folder, too */
    (void)unlinkat(f->dir, part, 0);                     /* of a shipper that was killed */
    int fd = openat(f->dir, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool done = fd >= 0 && write_to(fd, t);
    int error = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (done && renameat(f->dir, part, f->dir, name) == 0) {
        return true;
    }
    error = done ? errno : error;
    (void)unlinkat(f->dir, part, 0);
    errno = error;
    return false;
}
