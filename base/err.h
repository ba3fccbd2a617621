/* SPDX-License-Identifier: BSD-2-Clause */
/* err.h: what went wrong, for a person.
 *
 * A function that can fail returns 0 or -HPX_E_*, each listed at its declaration, and puts one sentence into the caller's
 * struct hpx_err where it takes one. Nothing here allocates. Not for signal handlers (formatting). */
#ifndef HPX_ERR_H
#define HPX_ERR_H

#include "compiler.h"

enum hpx_errc {
    HPX_E_NOMEM = 1, /* an allocation failed */
    HPX_E_OPT,       /* an option is wrong; the text is the original's where the original has one */
    HPX_E_IO,        /* a file or descriptor refused; errno is in the text */
    HPX_E_SYS,       /* another system call refused */
    HPX_E_VM,        /* JVMTI or JNI refused; its error name is in the text */
    HPX_E_RANGE,     /* outside what the format or a limit allows */
    HPX_E_TIMEOUT,   /* a bounded wait ended */
};

struct hpx_err {
    char msg[4352]; /* room for an option string or a path of PATH_MAX and the sentence around it; always terminated */
};

/* Writes the sentence (cut at the end of msg) and returns -code. `err` may be NULL. Any thread. */
int hpx_err_set(struct hpx_err *err, enum hpx_errc code, const char *fmt, ...) HPX_PRINTF(3, 4);

#endif
