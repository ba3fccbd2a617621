/* SPDX-License-Identifier: BSD-2-Clause */
/* names.h: names of classes and methods as people write them, on a line. Any thread; no state. */
#ifndef HPX_READ_NAMES_H
#define HPX_READ_NAMES_H

#include <stddef.h>

/* Copies `name` to `to`, at most `room` bytes with the 0. Types of the JVM become those of the language: Lp/C; and p/C become p.C, [B
 * becomes byte[], p/C.m(I[J)V becomes p.C.m(int, long[]). What is neither, or does not fit, is copied as it is and cut at its end. */
void hpx_name_spoken(char *to, size_t room, const char *name);

/* Shortens UTF-8 in place to `columns` characters: first the arguments become "...", then the middle of the package. Class and method stay;
 * if they do not fit, the method stays; if it does not fit either, the name loses its middle. */
void hpx_name_shorten(char *text, size_t columns);

/* Shortens UTF-8 in place to `columns` characters and "..." behind them. */
void hpx_name_cut(char *text, size_t columns);

/* Characters up to `end`, or to the 0 for NULL. */
size_t hpx_name_columns(const char *text, const char *end);

#endif
