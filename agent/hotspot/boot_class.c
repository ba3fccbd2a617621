/* SPDX-License-Identifier: BSD-2-Clause */
/* boot_class.c: see boot_class.h. libjvm exports the function for the launcher java, from JDK 7 to 28. */
#include "boot_class.h"
#include "libjvm.h"
#include <stddef.h>

static jclass(JNICALL *find)(JNIEnv *, const char *);

/* When the library is loaded: later dlsym() may wait for a thread of the program whose library stands in its constructor. */
__attribute__((constructor)) static void look_up(void)
{
    *(void **)&find = hpx_libjvm_symbol("JVM_FindClassFromBootLoader");
}

jclass hpx_boot_class(JNIEnv *env, const char *name)
{
    jclass found = find != NULL ? find(env, name) : NULL;
    if (found == NULL) {
        (*env)->ExceptionClear(env);
    }
    return found;
}
