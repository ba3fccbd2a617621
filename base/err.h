/* SPDX-License-Identifier: BSD-2-Clause */
/* err.h: error codes, and a message for the user.
 *
 * A function that can fail returns 0 or -HPX_E_*; its declaration lists which. If it takes a struct hpx_err, it writes one sentence into
 * it. Allocates nothing. Not for signal handlers (formatting). */
#ifndef HPX_ERR_H
#define HPX_ERR_H

#include "compiler.h"

enum hpx_errc {
    HPX_E_NOMEM = 1, /* an allocation failed */
    HPX_E_OPT,       /* an option is wrong; HPROF's text if it has one */
    HPX_E_IO,        /* a file operation failed; errno is in the text */
    HPX_E_SYS,       /* another system call failed */
    HPX_E_VM,        /* JVMTI or JNI failed; its error name is in the text */
    HPX_E_RANGE,     /* outside what the format or a limit allows */
    HPX_E_BUSY,      /* somebody else has it */
    HPX_E_NOT_LIVE,  /* the JVM is starting, or is ending */
};

struct hpx_err {
    char msg[4352]; /* room for an option string or a path of PATH_MAX and the sentence around it; always terminated */
};

/* Writes the sentence (cut at the end of msg) and returns -code. `err` may be NULL. Any thread. */
int hpx_err_set(struct hpx_err *err, enum hpx_errc code, const char *fmt, ...) HPX_PRINTF(3, 4);

#endif
