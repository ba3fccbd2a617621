/* SPDX-License-Identifier: BSD-2-Clause */
/* view.h: what hprofx view shows of a tree, for other commands (hprofx_view.c). One thread. */
#ifndef HPX_COMMAND_VIEW_H
#define HPX_COMMAND_VIEW_H

#include "json.h"
#include "status.h"
#include "tree.h"

/* A finished tree without an option. apart: something stands above. HPX_FAILED: err says why. */
enum hpx_status hpx_look_all(FILE *to, struct hpx_tree *t, bool apart, struct hpx_err *err);
/* --idle: idle threads are not folded into one row of the wall clock. */
void hpx_look_idle(void);
/* --by: the methods that match get a table of their own, before all others. false: no memory. */
bool hpx_look_by_method(const char *pattern);
/* -t: behind its table the first view has the total of every thread, and the methods of the busiest. */
void hpx_look_by_thread(void);
struct hpx_trend;
/* top, before each profile: the table of CPU time has the last seconds as a column. columns: of the screen; utf8: it has blocks. */
void hpx_look_trend(struct hpx_trend *t, size_t columns, bool utf8);
/* The same as members of the object that is open. false: no memory. */
bool hpx_look_members(struct hpx_json *j, struct hpx_tree *t);

#endif
