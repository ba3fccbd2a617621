/* SPDX-License-Identifier: BSD-2-Clause */
/* value_classes.h: value classes, which JDK 28 has with --enable-preview.
 *
 * Then classes of the JDK are value classes, too (java.lang.Integer), so their objects are in every heap. Such an object has no identity:
 * the VM may store its fields inside another object or array (it is flattened), where it has neither address nor header, and equal objects
 * have one tag. */
#ifndef HPX_VALUE_CLASSES_H
#define HPX_VALUE_CLASSES_H

#include <jni.h>
#include <stdbool.h>

/* Whether this VM has objects of value classes. Any attached thread in the live phase without a pending exception. */
bool hpx_value_classes(JNIEnv *env);

#endif
