/* SPDX-License-Identifier: BSD-2-Clause */
/* value_classes.c: see value_classes.h. */
#include "value_classes.h"
#include "boot_class.h"
#include <stddef.h>

bool hpx_value_classes(JNIEnv *env)
{
    jclass klass = hpx_boot_class(env, "java/lang/Class"), integer = hpx_boot_class(env, "java/lang/Integer");
    jmethodID is_value = klass != NULL && integer != NULL ? (*env)->GetMethodID(env, klass, "isValue", "()Z") : NULL;
    (*env)->ExceptionClear(env); /* before JDK 28 there is no such method */
    bool values = is_value != NULL && (*env)->CallBooleanMethod(env, integer, is_value);
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, integer);
    (*env)->DeleteLocalRef(env, klass);
    return values;
}
