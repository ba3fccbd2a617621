/* SPDX-License-Identifier: BSD-2-Clause */
/* options_file.c: reads an option file whole, or says why not. */
#include "options_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes read, at most `room`; -errno. */
static ssize_t read_all(int fd, char *to, size_t room)
{
    size_t used = 0;
    while (used < room) {
        ssize_t n = read(fd, to + used, room - used);
        if (n == 0) {
            break;
        }
        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        used += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)used;
}

/* NULL: s holds the text, ended by 0; else why not. */
static const char *read_text(int fd, char *s)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return strerror(errno);
    }
    if (!S_ISREG(st.st_mode)) {
        return "not a regular file";
    }
    ssize_t n = read_all(fd, s, HPX_OPT_FILE_MAX + 1);
    if (n < 0) {
        return strerror((int)-n);
    }
    if (n > (ssize_t)HPX_OPT_FILE_MAX) {
        return "larger than 64 KiB";
    }
    s[n] = 0;
    return strlen(s) == (size_t)n ? NULL : "not a text file";
}

int hpx_opt_read_file(const struct hpx_opt_parse *p, const char *name, char **text)
{
    char *s = malloc(HPX_OPT_FILE_MAX + 1);
    *text = NULL;
    if (!s) {
        return hpx_opt_no_memory(p);
    }
    /* Not blocking: a FIFO is refused, not waited for. */
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const char *why = fd < 0 ? strerror(errno) : read_text(fd, s);
    if (fd >= 0) {
        (void)close(fd);
    }
    if (why) {
        free(s);
        return hpx_opt_refuse(p, why, "cannot read option file: %s", name);
    }
    *text = s;
    return 0;
}
