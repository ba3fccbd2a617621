/* SPDX-License-Identifier: BSD-2-Clause */
/* tls_block.c: a descriptor of a static block holds the distance from the thread pointer. */
#include "tls_block.h"
#include <stdbool.h>
#include <stdint.h>

extern const char *gnu_get_libc_version(void) __attribute__((weak)); /* NULL: musl */

static bool is_static(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
    static __thread char here __asm__("hpx_tls_block_here");
    const uintptr_t *descriptor;
#if defined(__x86_64__)
    __asm__("leaq hpx_tls_block_here@tlsdesc(%%rip), %0" : "=r"(descriptor));
#else
    __asm__("adrp %0, :tlsdesc:hpx_tls_block_here\n\tadd %0, %0, :tlsdesc_lo12:hpx_tls_block_here" : "=r"(descriptor));
#endif
    return descriptor[1] == (uintptr_t)&here - (uintptr_t)__builtin_thread_pointer();
#else
    return true; /* without descriptors the loader refuses the library where there is no room */
#endif
}

int hpx_tls_block_check(struct hpx_err *err)
{
    return gnu_get_libc_version == NULL || is_static()
               ? 0
               : hpx_err_set(err, HPX_E_NOMEM,
                             "the C library has no room left for variables of threads; "
                             "set GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096 for the JVM (glibc 2.32 or later)");
}
