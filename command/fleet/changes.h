/* SPDX-License-Identifier: BSD-2-Clause */
/* changes.h: what has changed in folders since they were looked at last, so that nobody looks at each of their files again. By inotify,
 * which tells the names. Where that is refused, or says nothing of a folder that has changed (a network's), the time of the folder tells
 * that all of it has to be looked at. From time to time all of it is looked at in any case.
 *
 * One thread. */
#ifndef HPX_FLEET_CHANGES_H
#define HPX_FLEET_CHANGES_H

#include "list.h"
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define HPX_CHANGES_NAMES ((size_t)1 << 16) /* at most; beyond them the folder as a whole has changed */

struct hpx_changed_name {
    size_t folder;
    char *name; /* owned */
};

struct hpx_changes {
    struct hpx_changes_folder {
        int dir;              /* the caller's */
        int watch;            /* -1: inotify does not watch it */
        bool whole;           /* all of it has to be looked at. The caller clears it when it has done so */
        bool told, silent;    /* inotify has told of it just now; it has not, although the folder has changed */
        bool unsure;          /* it has changed so recently that its time would not tell of another change */
        struct timespec time; /* of its last change, as of the last call */
        unsigned calls;       /* since `whole` was set */
    } * folders;
    size_t n;
    int inotify;           /* -1: refused */
    struct hpx_list names; /* struct hpx_changed_name: perhaps several times the same */
    size_t gone;           /* files that were removed or moved away. The caller clears it */
};

/* dirs: open folders, which outlive it. At first all of each has to be looked at. false: no memory. */
bool hpx_changes_open(struct hpx_changes *c, const int *dirs, size_t n);
void hpx_changes_close(struct hpx_changes *c);
/* What has changed since the last call. */
void hpx_changes_look(struct hpx_changes *c);
/* A name that shall be among those of the next look, too. */
void hpx_changes_again(struct hpx_changes *c, size_t folder, const char *name);
/* Forgets the names. */
void hpx_changes_taken(struct hpx_changes *c);
void hpx_changes_all(struct hpx_changes *c);

#endif
