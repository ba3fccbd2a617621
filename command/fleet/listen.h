/* SPDX-License-Identifier: BSD-2-Clause */
/* listen.h: the socket of --listen. One thread. */
#ifndef HPX_FLEET_LISTEN_H
#define HPX_FLEET_LISTEN_H

#include "err.h"
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/un.h>

struct hpx_listen {
    int fd;                                                     /* listens; the caller's */
    bool loopback;                                              /* an address of this machine alone */
    char at[sizeof((struct sockaddr_un *)NULL)->sun_path + 64]; /* "unix:PATH", "127.0.0.1:40123" */
    struct stat made;                                           /* the socket's file, if it has one */
};

/* As hpx_pull_start() says. -HPX_E_OPT: no such address; -HPX_E_BUSY: somebody listens there; -HPX_E_IO, -HPX_E_SYS. */
int hpx_listen_open(struct hpx_listen *l, const char *at, bool anywhere, struct hpx_err *err);
/* Removes the socket's file, if it is still the one that was made. */
void hpx_listen_remove(const struct hpx_listen *l);

#endif
