/* SPDX-License-Identifier: BSD-2-Clause */
/* boot_class.h: classes of the JDK, without a question to the program.
 *
 * JNI's FindClass asks the loader of the method that calls, or that of the system's classes. Either may be the program's
 * (java.system.class.loader): its code runs, and may wait for locks that it holds, or throw. So nothing of hprofx calls FindClass. */
#ifndef HPX_BOOT_CLASS_H
#define HPX_BOOT_CLASS_H

#include <jni.h>

/* A class of the boot loader by its name ("java/util/Set", "[Ljava/lang/Object;"), a local reference, neither linked nor initialized; NULL:
 * there is none. No exception stays pending. Any attached thread without a pending exception; no loader of the program is asked, but where
 * the class has to be loaded, class hooks of other agents are. */
jclass hpx_boot_class(JNIEnv *env, const char *name);

#endif
