/* SPDX-License-Identifier: BSD-2-Clause */
/* screen.h: text that replaces itself, on a terminal (ncurses); one text below the other where standard output is none. One thread. */
#ifndef HPX_COMMAND_SCREEN_H
#define HPX_COMMAND_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* Takes the terminal, if standard input and output are one whose abilities are known. */
void hpx_screen_open(void);
/* The columns of the terminal, and whether it shows more than ASCII. 0, false: it was not taken. */
size_t hpx_screen_columns(void);
bool hpx_screen_is_utf8(void);
/* Lines of UTF-8 without controls; what does not fit is cut off. false: standard output cannot be written. */
bool hpx_screen_show(const char *text);
/* Somebody has pressed q. */
bool hpx_screen_quits(void);
/* Gives the terminal back. */
void hpx_screen_close(void);
/* The same for a handler of a signal that ends the process. Async-signal-safe. */
void hpx_screen_rescue(void);

#endif
