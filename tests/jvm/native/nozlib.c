/* SPDX-License-Identifier: BSD-2-Clause */
/* nozlib.c: preloaded into a JVM: dlopen() finds no libz.so.1. What links zlib is not concerned. */
#include <dlfcn.h>
#include <string.h>

__attribute__((visibility("default"))) void *dlopen(const char *name, int flags)
{
    static void *(*real)(const char *, int);
    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    }
    return real(name != NULL && strcmp(name, "libz.so.1") == 0 ? "libz.so.none" : name, flags);
}
