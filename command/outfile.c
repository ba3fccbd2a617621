/* SPDX-License-Identifier: BSD-2-Clause */
/* outfile.c: see outfile.h. */
#include "outfile.h"
#include "plain.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

int hpx_out_open(const char *file, bool *fresh, struct hpx_err *err)
{
    const int how = O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
    int fd = open(file, how | O_CREAT | O_EXCL, 0600);
    *fresh = fd >= 0;
    if (fd < 0 && errno == EEXIST) {
        fd = open(file, how);
    }
    if (fd < 0) {
        (void)hpx_err_set(err, HPX_E_IO, "cannot write %s: %s", file, strerror(errno));
    }
    return fd;
}

void hpx_misuse(const char *verb, const char *why)
{
    (void)fprintf(stderr, "hprofx: %s; `hprofx %s%s--help` shows how\n", why, verb, verb[0] != 0 ? " " : "");
}

int hpx_complain(enum hpx_status s, struct hpx_err *err)
{
    if (s != HPX_OK) {
        (void)fprintf(stderr, "hprofx: %s\n", hpx_plain(err->msg));
    }
    return (int)s;
}
