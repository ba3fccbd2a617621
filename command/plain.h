/* SPDX-License-Identifier: BSD-2-Clause */
/* plain.h: text of others, on its way to a terminal. */
#ifndef HPX_COMMAND_PLAIN_H
#define HPX_COMMAND_PLAIN_H

/* Puts '?' for the bytes of controls, also of C1 (U+0080 to U+009F), and for bytes that are no UTF-8. Returns s. */
char *hpx_plain(char *s);

#endif
