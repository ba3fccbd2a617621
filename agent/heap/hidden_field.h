/* SPDX-License-Identifier: BSD-2-Clause */
/* hidden_field.h: the field that HotSpot hides from JVMTI in a heap walk but lists among the fields of its class (JDK 8 to 21).
 *
 * HotSpot hides three fields: Throwable.backtrace, ConstantPool.constantPoolOop and this one. Its lists leave out a hidden field unless
 * that is the last one of the class with which the list begins. So GetClassFields lists this field, but the numbers of the fields of a
 * subclass do not count it. It is left out of the layout, or every field behind it would get the value of the next one. ConstantPool has no
 * subclass. */
#ifndef HPX_HIDDEN_FIELD_H
#define HPX_HIDDEN_FIELD_H

#include <stdbool.h>
#include <string.h>

static inline bool hpx_hidden_field(const char *class_signature, const char *field)
{
    return strcmp(field, "base") == 0 && (strcmp(class_signature, "Lsun/reflect/UnsafeStaticFieldAccessorImpl;") == 0 ||
                                          strcmp(class_signature, "Ljdk/internal/reflect/UnsafeStaticFieldAccessorImpl;") == 0);
}

#endif
