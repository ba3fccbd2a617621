/* SPDX-License-Identifier: BSD-2-Clause */
/* stale.c: see stale.h. */
#include "stale.h"
#include "control.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define YOUNG_SECONDS 10 /* an agent may be about to listen at it */

/* The number in the name; 0: it is none of ours. */
static int number_of(const char *name)
{
    char again[32];
    int number;
    if (sscanf(name, HPX_CONTROL_NAME, &number) != 1) {
        return 0;
    }
    (void)snprintf(again, sizeof again, HPX_CONTROL_NAME, number);
    return number > 0 && strcmp(name, again) == 0 ? number : 0;
}

/* It refuses a connection. Containers may share the folder, so that numbers tell too little. */
static bool nobody_listens(int folder, int number)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void)snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/" HPX_CONTROL_NAME, folder, number);
    bool nobody = fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof at) != 0 && errno == ECONNREFUSED;
    if (fd >= 0) {
        (void)close(fd);
    }
    return nobody;
}

static bool is_stale(const struct hpx_target *t, int folder, const char *name)
{
    struct stat s;
    int number = number_of(name);
    return number != 0 && kill(number, 0) != 0 && errno == ESRCH && fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISSOCK(s.st_mode) && s.st_uid == t->uid && s.st_mtime < time(NULL) - YOUNG_SECONDS && nobody_listens(folder, number);
}

void hpx_stale_remove(const struct hpx_target *t)
{
    if (hpx_become(t, NULL) != HPX_OK) {
        return;
    }
    int fd = openat(t->tmp, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    for (const struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
        if (is_stale(t, fd, e->d_name)) {
            (void)unlinkat(fd, e->d_name, 0);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    } else if (fd >= 0) {
        (void)close(fd);
    }
    hpx_become_self();
}
