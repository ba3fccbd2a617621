/* SPDX-License-Identifier: BSD-2-Clause */
/* makers.c: the methods that make objects no instruction of Java code makes. Each returns the object that it has made. They are native, or
 * the compilers of HotSpot replace their code by code that has no probes. */
#include "rewriter.h"

#define ACCESSOR "newInstance0", "(Ljava/lang/reflect/Constructor;[Ljava/lang/Object;)Ljava/lang/Object;"

static const struct maker {
    const char *owner, *name, *desc;
    enum hpx_made made;
} makers[] = {
    {"java/lang/Object", "clone", "()Ljava/lang/Object;", HPX_MADE_ONE},
    {"java/lang/reflect/Array", "newInstance", "(Ljava/lang/Class;I)Ljava/lang/Object;", HPX_MADE_ONE},
    {"java/lang/reflect/Array", "newInstance", "(Ljava/lang/Class;[I)Ljava/lang/Object;", HPX_MADE_MANY},
    {"java/util/Arrays", "copyOf", "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;", HPX_MADE_ONE},
    {"java/util/Arrays", "copyOfRange", "([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object;", HPX_MADE_ONE},
    {"jdk/internal/misc/Unsafe", "allocateUninitializedArray0", "(Ljava/lang/Class;I)Ljava/lang/Object;", HPX_MADE_ONE},
    {"jdk/internal/misc/Unsafe", "allocateInstance", "(Ljava/lang/Class;)Ljava/lang/Object;", HPX_MADE_CONSTRUCTED},
    {"sun/misc/Unsafe", "allocateInstance", "(Ljava/lang/Class;)Ljava/lang/Object;", HPX_MADE_ONE},
    {"sun/reflect/NativeConstructorAccessorImpl", ACCESSOR, HPX_MADE_CONSTRUCTED},
    {"jdk/internal/reflect/NativeConstructorAccessorImpl", ACCESSOR, HPX_MADE_CONSTRUCTED},
    {"jdk/internal/reflect/DirectConstructorHandleAccessor$NativeAccessor", ACCESSOR, HPX_MADE_CONSTRUCTED},
};

static enum hpx_made find(struct hprofx_bci_name owner, struct hprofx_bci_name name, struct hprofx_bci_name desc)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(makers); i++) {
        if (hpx_name_is(name, makers[i].name) && hpx_name_is(owner, makers[i].owner) && hpx_name_is(desc, makers[i].desc)) {
            return makers[i].made;
        }
    }
    return HPX_MADE_NONE;
}

enum hpx_made hpx_made_by(const struct hpx_class *c, const uint8_t *p)
{
    struct hprofx_bci_name owner, name, desc;
    if (*p < HPX_OP_INVOKEVIRTUAL || *p > HPX_OP_INVOKESTATIC || !hpx_method_names(c, hpx_u2(p + 1), &owner, &name, &desc)) {
        return HPX_MADE_NONE;
    }
    bool virtual = *p == HPX_OP_INVOKEVIRTUAL;
    if (virtual && owner.len > 0 && owner.at[0] == '[') { /* arrays have no other clone() */
        return hpx_name_is(name, makers[0].name) && hpx_name_is(desc, makers[0].desc) ? HPX_MADE_ONE : HPX_MADE_NONE;
    }
    enum hpx_made made = find(owner, name, desc);
    return virtual && made != HPX_MADE_NONE && hpx_name_is(name, makers[0].name) ? HPX_MADE_CLONED : made;
}

bool hpx_makes(const struct hpx_class *c, const struct hprofx_bci_method *m)
{
    return find(hpx_class_name(c, c->this_class), m->name, m->desc) != HPX_MADE_NONE;
}
