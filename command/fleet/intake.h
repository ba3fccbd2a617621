/* SPDX-License-Identifier: BSD-2-Clause */
/* intake.h: profiles that appear in folders, each read once. Folders are hostile: links, devices and files that grow are left alone. One
 * thread.
 *
 * What was handed on and settled is remembered in a file `seen` of the state folder, by device, inode, time of birth and name; or removed,
 * where that was asked for. After a crash between the two a profile is handed on again, with the same id. */
#ifndef HPX_FLEET_INTAKE_H
#define HPX_FLEET_INTAKE_H

#include "err.h"
#include "otlp.h"
#include <stdbool.h>

struct hpx_intake;

struct hpx_intake_asked {
    const char *const *folders;
    size_t nfolders;
    int state;           /* an open folder */
    bool removes;        /* files that were settled */
    bool owns;           /* the folders are the shipper's: with `removes` also what could not be read goes, else nobody would remove it */
    const char *service; /* --service; NULL: as the profile says, or the first part of its file's name */
};

/* A new profile: finished, without threads, its allocations those since the profile before of its run; good during the call. */
typedef void hpx_intake_profile(void *ctx, const struct hpx_tree *t, const uint8_t id[HPX_PROFILE_ID]);

/* NULL: err. asked is copied; its texts outlive the object. */
struct hpx_intake *hpx_intake_open(const struct hpx_intake_asked *asked, struct hpx_err *err);
/* NULL: nothing to do. */
void hpx_intake_close(struct hpx_intake *in);
/* Hands on a profile that came without a file, which is not finished; it is finished and changed, and stays the caller's. */
void hpx_intake_receive(struct hpx_intake *in, struct hpx_tree *t, const uint8_t id[HPX_PROFILE_ID], hpx_intake_profile *profile,
                        void *ctx);
/* Hands on what is new, at most `most` profiles, the oldest first; what is left of a look at the folders comes before what is newer. How
 * many it handed on; 0: there was nothing in the folders. What cannot be read is
 * counted and told once. */
size_t hpx_intake_scan(struct hpx_intake *in, size_t most, hpx_intake_profile *profile, void *ctx);
/* Something has been taken, or found to be no profile, since the last hpx_intake_settle(). */
bool hpx_intake_unsettled(const struct hpx_intake *in);
/* What was handed on is in the spools. false: it could not be remembered (told once): a later shipper may send it again. */
bool hpx_intake_settle(struct hpx_intake *in);

#endif
