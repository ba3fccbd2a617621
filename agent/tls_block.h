/* SPDX-License-Identifier: BSD-2-Clause */
/* tls_block.h: where the C library keeps the variables that the agent has for each thread.
 *
 * Handlers read them, so that the first look of a thread must not allocate. musl allocates when it loads the library. glibc puts the block
 * beside its own if there is room, which is what the descriptors of -mtls-dialect=gnu2 ask it for (initial-exec would insist, but musl
 * loads no library at run time that has it); where there is none, each thread allocates when it looks for the first time.
 * Any thread; not in signal handlers. */
#ifndef HPX_TLS_BLOCK_H
#define HPX_TLS_BLOCK_H

#include "err.h"

/* 0; -HPX_E_NOMEM: a handler could allocate, so that nothing may begin. */
int hpx_tls_block_check(struct hpx_err *err);

#endif
