/* SPDX-License-Identifier: BSD-2-Clause */
/* tls_block.c: a descriptor of a static block holds the distance from the thread pointer. */
#include "tls_block.h"
#include <stdbool.h>
#include <stdint.h>

extern const char *gnu_get_libc_version(void) __attribute__((weak)); /* NULL: musl */

#if defined(__x86_64__)
static __thread char here __asm__("hpx_tls_block_here");

static bool is_static(void)
{
    const uintptr_t *descriptor;
    __asm__("leaq hpx_tls_block_here@tlsdesc(%%rip), %0" : "=r"(descriptor));
    return descriptor[1] == (uintptr_t)&here - (uintptr_t)__builtin_thread_pointer();
}
#else
static bool is_static(void)
{
    return true;
}
#endif

int hpx_tls_block_check(struct hpx_err *err)
{
    return gnu_get_libc_version == NULL || is_static() ? 0
                                                       : hpx_err_set(err, HPX_E_NOMEM,
                                                                     "the C library has no room left for variables of threads; "
                                                                     "set GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096 for the JVM");
}
