/* SPDX-License-Identifier: BSD-2-Clause */
/* ship.h: `hprofx ship` and `hprofx watch`: profiles from folders, or from JVMs that the watcher finds, to destinations. */
#ifndef HPX_FLEET_SHIP_H
#define HPX_FLEET_SHIP_H

#include "arguments.h"
#include "dest.h"
#include "watch.h"

#define HPX_SHIP_MOST 16 /* folders, and destinations */

struct hpx_ship_asked {
    bool watches; /* `hprofx watch`: there are no folders */
    const char *folders[HPX_SHIP_MOST];
    size_t nfolders;
    const char *receive; /* HOST:PORT where agents send to; NULL: nowhere */
    struct hpx_dest_asked dests[HPX_SHIP_MOST];
    size_t ndests;
    const char *spool; /* NULL: hpx_ship_spool() */
    uint64_t spool_bytes;
    double batch, wait; /* seconds */
    const char *listen; /* NULL: no */
    bool anywhere;      /* --listen-anywhere */
    bool removes, once;
    const char *service; /* NULL: as the profile says */
    struct hpx_watch_asked watch;
};

/* The command line. -1: go on; else the status with which the command ends, and all is said. */
int hpx_ship_options(struct hpx_arguments *args, struct hpx_ship_asked *a);
/* The folder for spools where none was given: $STATE_DIRECTORY, else $XDG_STATE_HOME/hprofx, else ~/.local/state/hprofx. false: none of
 * them is set. */
bool hpx_ship_spool(char *to, size_t size);
/* Ships until a signal comes, or all was sent (--once). The command's status. */
int hpx_ship(const struct hpx_ship_asked *a);

#endif
