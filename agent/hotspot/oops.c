/* SPDX-License-Identifier: BSD-2-Clause */
/* oops.c: the check of oops.h. An array refers to itself and to one object of every kind, and a walk tells of them. */
#include "oops.h"
#include "boot_class.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define ATTEMPTS 3 /* a concurrent collector may be moving one of the objects */

enum { SELF, BARE, LONG, BYTES, LONGS, OBJECTS, KLASS, KNOWN = 16 }; /* elements; those from KLASS + 1 on are bare objects */
enum { N_BYTES = 1021, N_LONGS = 13, N_OBJECTS = 29 };

/* One walk. */
struct trial {
    jobject known[KNOWN]; /* local references; [SELF]: the array */
    jobject outer;        /* an array that holds the array: VMs keep the address of a first object elsewhere */
    bool inside;          /* the array has been met */
    struct form {
        uint32_t elements; /* bits: compared and the same */
        bool class_of, field, bytes, longs;
        bool wrong;
    } form[2];                   /* [1]: indirect */
    uint32_t lengths[2][5];      /* by offset / 4: how many arrays have their length there */
    uint32_t words[2][2][KNOWN]; /* class words, by place */
    uint64_t somewhere;
};

/* Where class words are: behind the mark; with compact headers the upper bits of the mark. */
static const struct {
    uint32_t at, shift;
} places[2] = {{8, 0}, {HPX_OOPS_COMPACT / 32 * 4, HPX_OOPS_COMPACT % 32}};

static const uint32_t all_elements = (1u << KNOWN) - 1;

/* Counts the offsets at which this array may hold its length. */
static void look_for_length(struct trial *t, int form, uint64_t array, uint32_t length)
{
    for (uint32_t at = 1; at < HPX_ARRAY_LEN(t->lengths[0]); at++) {
        t->lengths[form][at] += ((const uint32_t *)(uintptr_t)array)[at] == length;
    }
}

static bool same(struct form *f, uint64_t got, jobject want)
{
    bool is = got == hpx_oops_handle(want) && got != 0 && got % 8 == 0;
    f->wrong = f->wrong || !is;
    return is;
}

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong referrer_class_tag,
                                 jlong size, jlong *tag, jlong *referrer_tag, jint length, void *user)
{
    static const uint32_t lengths[KNOWN] = {[SELF] = KNOWN, [BYTES] = N_BYTES, [LONGS] = N_LONGS, [OBJECTS] = N_OBJECTS};
    struct trial *t = user;
    (void)class_tag, (void)referrer_class_tag, (void)size, (void)length;
    if (kind != JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT || referrer_tag == NULL || (uint32_t)info->array.index >= KNOWN) {
        return 0;
    }
    if (!t->inside) {
        t->inside = true;
        return JVMTI_VISIT_OBJECTS;
    }
    int i = info->array.index;
    for (int form = 0; form < 2; form++) {
        struct hpx_oops o = {.indirect = form == 1};
        struct form *f = &t->form[form];
        uint64_t object = hpx_oops_object(&o, tag);
        if (same(f, object, t->known[i]) && same(f, hpx_oops_referrer(&o, tag, referrer_tag), t->known[SELF])) {
            f->elements |= 1u << i;
            t->somewhere = object;
            for (int place = 0; place < 2; place++) {
                o.class_at = places[place].at;
                o.class_shift = places[place].shift;
                t->words[form][place][i] = hpx_oops_class_word(&o, object);
            }
            if (lengths[i] != 0) {
                look_for_length(t, form, object, lengths[i]);
            }
        }
    }
    return i == LONG || i == BYTES || i == LONGS ? JVMTI_VISIT_OBJECTS : 0;
}

static jint JNICALL on_field(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong *tag, jvalue value,
                             jvmtiPrimitiveType type, void *user)
{
    struct trial *t = user;
    (void)kind, (void)info, (void)class_tag, (void)value, (void)type;
    for (int form = 0; form < 2; form++) {
        t->form[form].field = same(&t->form[form], hpx_oops_beside(form == 1, tag, 2), t->known[LONG]);
    }
    return 0;
}

static jint JNICALL on_array(jlong class_tag, jlong size, jlong *tag, jint n, jvmtiPrimitiveType type, const void *elements, void *user)
{
    struct trial *t = user;
    (void)class_tag, (void)size, (void)elements, (void)n;
    for (int form = 0; form < 2; form++) {
        struct form *f = &t->form[form];
        bool bytes = type == JVMTI_PRIMITIVE_TYPE_BYTE;
        bool is = same(f, hpx_oops_beside(form == 1, tag, 2), t->known[bytes ? BYTES : LONGS]);
        f->bytes = f->bytes || (is && bytes);
        f->longs = f->longs || (is && !bytes);
    }
    return 0;
}

/* Clears a pending exception. */
static jobject clean(JNIEnv *env, jobject made)
{
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
    }
    return made;
}

/* Makes the objects. false: no memory. */
static bool make(JNIEnv *env, struct trial *t)
{
    jclass number = hpx_boot_class(env, "java/lang/Long"), between = number != NULL ? (*env)->GetSuperclass(env, number) : NULL,
           object = between != NULL ? clean(env, (*env)->GetSuperclass(env, between)) : NULL;
    if (object == NULL) {
        return false;
    }
    t->known[SELF] = clean(env, (*env)->NewObjectArray(env, KNOWN, object, NULL));
    t->known[LONG] = clean(env, (*env)->AllocObject(env, number));
    t->known[BYTES] = clean(env, (*env)->NewByteArray(env, N_BYTES));
    t->known[LONGS] = clean(env, (*env)->NewLongArray(env, N_LONGS));
    t->known[OBJECTS] = clean(env, (*env)->NewObjectArray(env, N_OBJECTS, object, NULL));
    t->known[KLASS] = object;
    bool good = t->known[SELF] != NULL;
    for (int i = 0; good && i < KNOWN; i++) {
        if (i == BARE || i > KLASS) {
            t->known[i] = clean(env, (*env)->AllocObject(env, object));
        }
        good = t->known[i] != NULL;
        if (good) {
            (*env)->SetObjectArrayElement(env, t->known[SELF], i, t->known[i]);
            (void)clean(env, NULL);
        }
    }
    t->outer = good ? clean(env, (*env)->NewObjectArray(env, 1, object, t->known[SELF])) : NULL;
    return t->outer != NULL;
}

/* Elements 0 to KLASS are of different classes but for the two arrays of objects; the others are of one class with BARE. */
static bool tells_classes(const uint32_t words[static KNOWN])
{
    bool good = words[SELF] == words[OBJECTS];
    for (int i = 0; i < KNOWN; i++) {
        good = good && words[i] != 0 && (i <= KLASS || words[i] == words[BARE]);
        for (int k = 0; k < i && i <= KLASS; k++) {
            good = good && (words[i] != words[k] || (k == SELF && i == OBJECTS));
        }
    }
    return good;
}

static bool find_class_word(const struct trial *t, int form, struct hpx_oops *o)
{
    for (int place = 0; place < 2; place++) {
        if (tells_classes(t->words[form][place])) {
            o->class_at = places[place].at;
            o->class_shift = places[place].shift;
            o->class_of_classes = t->words[form][place][KLASS];
            return true;
        }
    }
    return false;
}

static const char *judge(const struct trial *t, struct hpx_oops *o)
{
    for (int form = 0; form < 2; form++) {
        const struct form *f = &t->form[form];
        if (f->elements != all_elements || !f->field || !f->bytes || !f->longs || f->wrong) {
            continue;
        }
        for (uint32_t at = 1; at < HPX_ARRAY_LEN(t->lengths[form]); at++) {
            if (t->lengths[form][at] == 4) { /* SELF, BYTES, LONGS, OBJECTS */
                *o = (struct hpx_oops){.indirect = form == 1, .length_at = at * 4};
                return find_class_word(t, form, o) ? NULL : "objects do not hold their class where it was looked for";
            }
        }
        return "arrays do not hold their length where it was looked for";
    }
    return "known objects are not where the VM's callbacks were expected to have them";
}

/* Makes the objects, and walks: from the outer array, or from the roots. */
static const char *follow(struct trial *t, jvmtiEnv *jvmti, JNIEnv *env, bool roots, const jvmtiHeapCallbacks *all, void *user)
{
    memset(t, 0, sizeof *t);
    if (!make(env, t)) {
        return "no memory to make objects for the check of addresses";
    }
    bool walked = (*jvmti)->FollowReferences(jvmti, 0, NULL, roots ? NULL : t->outer, all, user) == JVMTI_ERROR_NONE;
    return walked ? NULL : "the VM refused to walk the objects for the check of addresses";
}

/* Repeats the check until it passes, at most ATTEMPTS times. */
static const char *attempts(struct hpx_oops *o, jvmtiEnv *jvmti, JNIEnv *env,
                            const char *(*once)(struct hpx_oops *o, jvmtiEnv *jvmti, JNIEnv *env))
{
    const char *doubt = NULL;
    for (int i = 0; i < ATTEMPTS && (i == 0 || doubt != NULL); i++) {
        if ((*env)->PushLocalFrame(env, KNOWN + 16) != 0) {
            (*env)->ExceptionClear(env);
            return "no memory for the check of addresses";
        }
        doubt = once(o, jvmti, env);
        (*env)->PopLocalFrame(env, NULL);
    }
    return doubt;
}

/* ---- among the roots ---- */

struct roots {
    const struct hpx_oops *o;
    jobject *known;
    uint32_t met, lengths; /* bits, by element: of all, of arrays with their length */
    uint32_t words[KNOWN];
};

static jint JNICALL on_root(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong referrer_class_tag,
                            jlong size, jlong *tag, jlong *referrer_tag, jint length, void *user)
{
    struct roots *r = user;
    (void)info, (void)class_tag, (void)referrer_class_tag, (void)size;
    bool of_thread = kind == JVMTI_HEAP_REFERENCE_THREAD || kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL ||
                     kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL || kind == JVMTI_HEAP_REFERENCE_OTHER;
    uint64_t object = hpx_oops_object(r->o, tag);
    for (int i = 0; i < KNOWN && kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL; i++) {
        if (object != 0 && object == hpx_oops_handle(r->known[i])) {
            r->met |= 1u << i;
            r->words[i] = hpx_oops_class_word(r->o, object);
            r->lengths |= length >= 0 && hpx_oops_length(r->o, object) == (uint32_t)length ? 1u << i : 0;
        }
    }
    return of_thread && referrer_tag == NULL && r->met != all_elements ? JVMTI_VISIT_OBJECTS : JVMTI_VISIT_ABORT;
}

static const char *roots_once(struct hpx_oops *o, jvmtiEnv *jvmti, JNIEnv *env)
{
    static const uint32_t arrays = 1u << SELF | 1u << BYTES | 1u << LONGS | 1u << OBJECTS;
    static const jvmtiHeapCallbacks all = {.heap_reference_callback = on_root};
    struct trial t;
    struct roots r = {.o = o, .known = t.known};
    const char *why = follow(&t, jvmti, env, true, &all, &r);
    bool good = r.met == all_elements && r.lengths == arrays && tells_classes(r.words) && r.words[KLASS] == o->class_of_classes;
    return why != NULL || good ? why : "known objects are not where an earlier check has found them";
}

const char *hpx_oops_check_roots(const struct hpx_oops *o, jvmtiEnv *jvmti, JNIEnv *env)
{
    struct hpx_oops copy = *o;
    return attempts(&copy, jvmti, env, roots_once);
}

/* ---- the check ---- */

/* Long.value is the only field of its class, behind the header and aligned. */
uint32_t hpx_oops_field_shift(JNIEnv *env, jclass longs, bool compact)
{
    uintptr_t id = longs != NULL ? (uintptr_t)(*env)->GetFieldID(env, longs, "value", "J") : 0;
    uint32_t found = 0;
    (void)clean(env, NULL);
    for (uint32_t shift = 2; shift <= 3; shift++) {
        found = id >> shift == (compact ? 8 : 16) ? shift : found;
    }
    return found;
}

/* The heap is one reservation, whose parts border on each other. */
static void find_bounds(struct hpx_oops *o, uint64_t inside)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 128];
    unsigned long from = 0, to = 0, begun = 0, end = 0;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL && sscanf(line, "%lx-%lx ", &from, &to) == 2) {
        if (from != end && inside < end) {
            break; /* the run that ended has it */
        }
        begun = from != end ? from : begun;
        end = to;
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
    bool found = inside >= begun && inside < end;
    o->low = found ? begun : 0;
    o->high = found ? end : 0;
}

static const char *once(struct hpx_oops *o, jvmtiEnv *jvmti, JNIEnv *env)
{
    static const jvmtiHeapCallbacks all = {
        .heap_reference_callback = on_reference, .primitive_field_callback = on_field, .array_primitive_value_callback = on_array};
    struct trial t;
    const char *why = follow(&t, jvmti, env, false, &all, &t);
    why = why != NULL ? why : judge(&t, o);
    if (why == NULL) {
        o->somewhere = t.somewhere;
        find_bounds(o, t.somewhere);
        o->field_shift = hpx_oops_field_shift(env, (*env)->GetObjectClass(env, t.known[LONG]), o->class_shift != 0);
    }
    return why;
}

const char *hpx_oops_check(struct hpx_oops *o, jvmtiEnv *jvmti, JNIEnv *env)
{
    return attempts(o, jvmti, env, once);
}
