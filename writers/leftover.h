/* SPDX-License-Identifier: BSD-2-Clause */
/* leftover.h: what a run that died has left under a name, before another run takes the name.
 *
 * NAME.part and NAME.journal.part, where no living run holds them (flock), become NAME.killed.part and NAME.killed.journal.part, for
 * `hprofx-read --recover NAME.killed`: one generation, an older one is replaced. Said in one line. Where nothing had been counted (no
 * bytes, or header, threads, classes and traces alone) they are removed, and an older generation stays.
 *
 * Touched is nothing but regular files of this user with one link that can be locked, each judged by what was opened (O_NOFOLLOW) and still
 * has the name, and moved within its directory. What cannot be moved stays where it is, with a line. Any thread that may block, one at a
 * time for one name; two processes may do it at once. */
#ifndef HPX_LEFTOVER_H
#define HPX_LEFTOVER_H

void hpx_leftover_keep(const char *name);

#endif
