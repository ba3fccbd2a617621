/* SPDX-License-Identifier: BSD-2-Clause */
/* registrar.h: registers natives of classes of java.base without a warning of the VM.
 *
 * The VM (JDK 17 does, 11 does not) warns on stdout when natives of a class of the boot loader's named modules are registered, unless a
 * Java method of that loader is what called the native that registers them. So a class of ours in the unnamed module, which has no such
 * warning, has a method that calls such a native. Nothing of the program sees the class. */
#ifndef HPX_REGISTRAR_H
#define HPX_REGISTRAR_H

#include <jvmti.h>
#include <stdbool.h>

/* As RegisterNatives. The first call defines the class `name` (HPX_TRACKER_REGISTRAR...). false: the VM refuses. No exception stays
 * pending. An attached thread; calls are serialised by the caller. */
bool hpx_registrar_natives(JNIEnv *env, const char *name, jclass klass, const JNINativeMethod *natives, jint n);

#endif
