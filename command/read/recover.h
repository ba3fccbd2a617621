/* SPDX-License-Identifier: BSD-2-Clause */
/* recover.h: a file that a killed run left, made whole. */
#ifndef HPX_READ_RECOVER_H
#define HPX_READ_RECOVER_H

#include "err.h"
#include <stddef.h>

/* NAME, NAME.part or NAME.journal.part, as `name` or with its suffix: cut behind the last whole record, and left under NAME alone. A sound
 * NAME without the others is not touched. The journal stands in where it counts more than the other two; its tables, one a second, are
 * added up by whoever reads them (sums.h). Where both are there: of one run (the same header) the one that counts more, then the one with
 * more dumps, then the longer one; of two runs NAME.part, which is what the later run would have put in the place of NAME. A file is
 * replaced by rename alone: NAME is at each moment the old file or the new one. Symbolic links, files that are not regular, not this user's
 * or with more than one link, and what a living run holds are refused. 0: said = what was done. -HPX_E_RANGE: it is broken, not cut, or
 * nothing in it is whole: nothing changed. -HPX_E_IO: refused as above, or cannot be read or written. -HPX_E_NOMEM. */
int hpx_recover(const char *name, struct hpx_err *said);
/* The length of NAME in `given`, which may have a suffix. */
size_t hpx_recover_base(const char *given);

#endif
