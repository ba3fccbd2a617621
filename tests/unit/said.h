/* SPDX-License-Identifier: BSD-2-Clause */
/* said.h: what the code under test says on stderr. */
#ifndef HPX_SAID_H
#define HPX_SAID_H

void said_begin(void);
void said_end(void);
/* Since said_begin(). */
const char *said(void);
unsigned said_times(const char *what);

#endif
