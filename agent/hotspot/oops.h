/* SPDX-License-Identifier: BSD-2-Clause */
/* oops.h: addresses of objects in the callbacks of FollowReferences (oop: HotSpot's word for the address of an object).
 *
 * Touches the VM's stack beside the tags, and the headers of objects: the class word, the length of an array; reads only. On JDK 8 to 28.
 *
 * HotSpot passes a callback pointers to the tags of the object and of its referrer. Each tag is a field of a structure on the stack of the
 * VM (CallbackWrapper in jvmtiTagMap.cpp), and the object stands beside it in the same structure: on JDK 8 to 27 its address, two words
 * before the tag of an object and one before that of a referrer; on 28, two words before either, the address of a variable with it. That is
 * no interface: hpx_oops_check() compares it with known objects before each use, and walk.h goes on comparing during the walk. */
#ifndef HPX_OOPS_H
#define HPX_OOPS_H

#include "compiler.h"
#include "heap_objects.h"
#include <jvmti.h>

struct hpx_oops {
    bool indirect;                  /* a word beside a tag is the address of a variable with the object's address */
    uint32_t length_at;             /* offset of the length in an array */
    uint32_t class_at, class_shift; /* the class word of an object: 4 bytes at that offset, shifted right */
    bool class_half;                /* the class word is the lower half of an address, which may be 0 */
    uint32_t class_of_classes;      /* class word of the instances of java.lang.Class */
    uint32_t field_shift;           /* of the offset in a jfieldID; 0: not known */
    bool views;                     /* ZGC: the heap is mapped several times; addresses differ above the lowest HPX_OOPS_VIEW bits */
    uint64_t somewhere;             /* where an object was when it was checked */
    uint64_t low, high;             /* the mapped memory around the known objects, in which the heap lies; 0: not known */
};

#define HPX_OOPS_VIEW 42

/* Walks a few objects that it makes and compares what stands beside the tags with their handles. NULL: as expected, *o is filled. Else the
 * constant text of what is not. An attached thread; stops the program for a moment; leaves no reference. */
const char *hpx_oops_check(struct hpx_oops *o, jvmtiEnv *jvmti, JNIEnv *env);

/* JDK 8 to 17 go through the whole heap after a walk, but not after one that was aborted among the roots. There this is the check
 * before a use: it compares known objects, as roots of the calling thread, with what an earlier check has found. Returns as
 * hpx_oops_check(). */
const char *hpx_oops_check_roots(const struct hpx_oops *o, jvmtiEnv *jvmti, JNIEnv *env);

#define HPX_OOPS_NEAR ((uintptr_t)1 << 16) /* such variables lie in frames that call the callback, that far up the stack at most */

/* hpx_oops.field_shift. longs: java.lang.Long; compact: the VM has compact headers. An attached thread. */
uint32_t hpx_oops_field_shift(JNIEnv *env, jclass longs, bool compact);

/* In a callback: the word `words` before the tag. 0: it cannot be an object's address. */
static inline uint64_t hpx_oops_beside(bool indirect, const jlong *tag, int words)
{
    uint64_t word = ((const uint64_t *)(const void *)tag)[-words];
    if (hpx_unlikely(indirect)) {
        bool near = word - (uint64_t)(uintptr_t)__builtin_frame_address(0) < HPX_OOPS_NEAR && word % sizeof(uint64_t) == 0;
        word = near ? *(const uint64_t *)(uintptr_t)word : 0;
    }
    return word;
}
/* The variable of the indirect form (JDK 28). A flattened object of a value class has no address: it lies in another one, its holder. */
struct hpx_oops_variable {
    uint64_t object;
    uint32_t flat_at; /* not 0: flattened, at this offset in the object */
    uint64_t klass;   /* of a flattened one: the address of its class in the VM */
};
/* In a callback: that of the object or referrer that has this tag, after hpx_oops_object() or hpx_oops_referrer() has read it. */
static inline const struct hpx_oops_variable *hpx_oops_variable(const jlong *tag)
{
    return ((const struct hpx_oops_variable *const *)(const void *)tag)[-2];
}
/* In a callback: the address of the object that has this tag. */
static inline uint64_t hpx_oops_object(const struct hpx_oops *o, const jlong *tag)
{
    return hpx_oops_beside(o->indirect, tag, 2);
}
/* In a callback: that of the referrer. An object that refers to itself has one tag. */
static inline uint64_t hpx_oops_referrer(const struct hpx_oops *o, const jlong *tag, const jlong *referrer_tag)
{
    return hpx_oops_beside(o->indirect, referrer_tag, referrer_tag == tag || o->indirect ? 2 : 1);
}
/* In a VM operation: the address of the object of a local reference. */
static inline uint64_t hpx_oops_handle(jobject local)
{
    return ((uintptr_t)local & 7) == 0 && local != NULL ? *(const uint64_t *)(const void *)local : 0;
}
/* In a VM operation: the class word of the object at this address: objects of one class have one, those of different classes different
 * ones. It is (part of) the compressed address of the class in the VM. */
static inline uint32_t hpx_oops_class_word(const struct hpx_oops *o, uint64_t object)
{
    return *(const uint32_t *)(uintptr_t)(object + o->class_at) >> o->class_shift;
}
/* In a VM operation: the length of the array at this address. */
static inline uint32_t hpx_oops_length(const struct hpx_oops *o, uint64_t array)
{
    return *(const uint32_t *)(uintptr_t)(array + o->length_at);
}
/* Where an instance has this field that is not static, in bytes; of its id the lower half. If the lowest bit is set, the offset has 7 bits,
 * and a hash of the class is above them. */
static inline uint32_t hpx_oops_field_at(const struct hpx_oops *o, uint32_t field)
{
    return field & 1 ? field >> o->field_shift & 0x7f : field >> o->field_shift;
}

#endif
