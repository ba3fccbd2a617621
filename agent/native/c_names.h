/* SPDX-License-Identifier: BSD-2-Clause */
/* c_names.h: the names of C functions, as a trace shows them: of C++ and Rust demangled by the C++ library, if the process has or finds
 * one, without parameters, and without characters that divide a line of a profile. */
#ifndef HPX_C_NAMES_H
#define HPX_C_NAMES_H

#include "unwind.h"

#define HPX_C_NAME_BYTES 512u /* with the zero behind it */

/* ---- the thread that looks at libraries.h ---- */

/* The names of the library and of the function at this place; the symbols of a library are read when its first name is asked for. A
 * function without a symbol is [0xBEGIN], its distance from the library's base, or, where no table says where it begins, the frame's.
 * An address of no library is looked for in what is mapped now. */
void hpx_c_names_of(struct hpx_unwind_place place, char library[HPX_C_NAME_BYTES], char function[HPX_C_NAME_BYTES]);
/* Frees the symbols and lets the C++ library go, for which the loader may be waited for. */
void hpx_c_names_end(void);

/* A symbol's name as a trace shows it. */
void hpx_c_names_clean(char to[HPX_C_NAME_BYTES], const char *symbol);

#endif
