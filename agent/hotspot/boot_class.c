/* SPDX-License-Identifier: BSD-2-Clause */
/* boot_class.c: see boot_class.h. libjvm exports the function for the launcher java, from JDK 7 to 28. */
#include "boot_class.h"
#include "libjvm.h"
#include <stddef.h>

jclass hpx_boot_class(JNIEnv *env, const char *name)
{
    jclass(JNICALL * find)(JNIEnv *, const char *) = NULL;
    *(void **)&find = hpx_libjvm_symbol("JVM_FindClassFromBootLoader");
    jclass found = find != NULL ? find(env, name) : NULL;
    if (found == NULL) {
        (*env)->ExceptionClear(env); /* no memory */
    }
    return found;
}
