/* SPDX-License-Identifier: BSD-2-Clause */
/* plain.h: text of others, on its way to a terminal. */
#ifndef HPX_COMMAND_PLAIN_H
#define HPX_COMMAND_PLAIN_H

/* Puts '?' for controls, C1 in UTF-8 included. Returns s. */
char *hpx_plain(char *s);

#endif
