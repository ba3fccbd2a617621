/* SPDX-License-Identifier: BSD-2-Clause */
/* libjvm.c: see libjvm.h. */
#include "libjvm.h"
#include <dlfcn.h>
#include <stddef.h>

void *hpx_libjvm_symbol(const char *name)
{
    void *at = dlsym(RTLD_DEFAULT, name), *jvm = at == NULL ? dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (jvm != NULL) {
        at = dlsym(jvm, name);
        dlclose(jvm);
    }
    return at;
}
