/* SPDX-License-Identifier: BSD-2-Clause */
/* leftover.h: renames the files of a killed run before another run uses the name.
 *
 * Renames NAME.part and NAME.journal.part, if no living run holds them (flock), to NAME.killed.part and NAME.killed.journal.part, for
 * `hprofx recover NAME.killed`, with one message. One generation is kept; it replaces an older one. Removes files without counts
 * (empty, or only header, threads, classes and traces), keeping the older generation, and NAME.journal.new.part.
 *
 * Only touches regular files of this user that have one link and can be locked, judged by the opened file (O_NOFOLLOW) while it still
 * has the name, and renames them within their directory. A file that cannot be renamed stays, with a message. Any thread that may block,
 * one at a time per name; two processes may run it concurrently. */
#ifndef HPX_LEFTOVER_H
#define HPX_LEFTOVER_H

void hpx_leftover_keep(const char *name);

#endif
