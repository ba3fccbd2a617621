/* SPDX-License-Identifier: BSD-2-Clause */
/* errand.h: what the thread for commands has another one do, because it enters the JVM: to begin and to end a session. One thread for each
 * errand, so that none is left attached. */
#ifndef HPX_ERRAND_H
#define HPX_ERRAND_H

#include "err.h"
#include <jvmti.h>

/* Begins a session; options NULL: ends the one that runs. Waits for it, and calls each_second(number) meanwhile. One at a time. As
 * hpx_run_begin() and hpx_run_end(); -HPX_E_NOMEM: no thread. */
int hpx_errand_do(JavaVM *vm, const char *options, void (*each_second)(int number), int number, struct hpx_err *err);

#endif
