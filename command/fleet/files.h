/* SPDX-License-Identifier: BSD-2-Clause */
/* files.h: a folder into which every profile goes as a file of pprof, SERVICE-HOST-PID-TIME-ID.pb.gz, whole under its name at once. One
 * thread; other processes may write to the same folder. */
#ifndef HPX_FLEET_FILES_H
#define HPX_FLEET_FILES_H

#include "err.h"
#include "otlp.h"

struct hpx_files;

/* The folder, which is made if it is missing (0700). NULL: err. */
struct hpx_files *hpx_files_open(const char *folder, struct hpx_err *err);
/* NULL: nothing to do. */
void hpx_files_close(struct hpx_files *f);
/* Writes a finished tree with its origin. false: errno. A profile that was there already is replaced by itself: its id is in the name. */
bool hpx_files_add(struct hpx_files *f, const struct hpx_tree *t, const uint8_t id[HPX_PROFILE_ID]);

#endif
