/* SPDX-License-Identifier: BSD-2-Clause */
/* census_ask.c: see census_ask.h. */
#include "census_ask.h"
#include "clock.h"
#include "string_table.h"
#include "vm.h"
#include <stdio.h>
#include <string.h>

#define MOST_NS   UINT64_C(5000000000)
#define UNITS     256 /* of a name, at most */
#define ROOM      (3 * UNITS + 1)
#define DEEPEST   32  /* containers in containers */
#define FRAMES    512 /* of a stack */
#define INNERMOST 16  /* frames, among which is Thread.sleep */

#define STREAM "java/util/stream/Stream"

struct key {
    uint32_t stack, status, waits_for, container;
    uint64_t owner, carrier;
};

struct asking {
    JNIEnv *env;
    jvmtiEnv *jvmti;
    const struct hpx_census_plan *plan;
    struct hpx_census *to;
    hpx_census_late *late;
    uint64_t until;
    size_t used; /* of the memory of the census */
    bool no_memory;
    jclass is_virtual, synchronizer;
    jmethodID root, threads, children, name, array, stack;
    jfieldID state, carrier, owner, klass, method, line;
    struct hpx_strings texts, methods, stacks, keys; /* bytes of what they stand for */
    struct hpx_vec shared;                           /* const char *: the texts in the memory of the census; NULL: not there yet */
    struct hpx_vec groups;                           /* struct hpx_census_group */
};

/* ---- memory ---- */

static void *share(struct asking *a, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    a->no_memory = a->no_memory || bytes > a->to->size - a->used;
    void *p = a->no_memory ? NULL : (char *)a->to + a->used;
    a->used += a->no_memory ? 0 : bytes;
    return p;
}

/* The number of the bytes, from 1 on; 0: no memory, or none. */
static uint32_t number(struct asking *a, struct hpx_strings *s, const char *bytes, size_t n)
{
    const uint32_t id = hpx_strings_intern(s, bytes, n);
    a->no_memory = a->no_memory || (id == 0 && n > 0);
    return id;
}

/* NULL for 0. */
static const char *text_of(struct asking *a, uint32_t id)
{
    const char **is = id != 0 ? hpx_vec_reach(&a->shared, id) : NULL;
    if (is == NULL) {
        a->no_memory = a->no_memory || id != 0;
        return NULL;
    }
    if (*is == NULL) {
        const struct hpx_string *s = hpx_strings_at(&a->texts, id);
        char *to = share(a, s->len + 1);
        *is = to != NULL ? memcpy(to, s->bytes, s->len + 1) : NULL;
    }
    return *is;
}

/* ---- objects ---- */

static jclass find(JNIEnv *env, const char *name)
{
    jclass c = (*env)->FindClass(env, name);
    (*env)->ExceptionClear(env);
    return c;
}

static jmethodID method(JNIEnv *env, jclass c, const char *name, const char *signature)
{
    jmethodID m = c != NULL ? (*env)->GetMethodID(env, c, name, signature) : NULL;
    (*env)->ExceptionClear(env);
    return m;
}

static jobject call(const struct asking *a, jobject of, jmethodID m)
{
    jobject o = of != NULL ? (*a->env)->CallObjectMethod(a->env, of, m) : NULL;
    (*a->env)->ExceptionClear(a->env);
    return o;
}

static void drop(const struct asking *a, jobject o)
{
    (*a->env)->DeleteLocalRef(a->env, o);
}

/* The string, whose local reference goes; "": there is none. */
static void take_string(const struct asking *a, jstring s, char to[static ROOM])
{
    const jsize n = s != NULL ? (*a->env)->GetStringLength(a->env, s) : 0;
    memset(to, 0, ROOM);
    if (n > 0) {
        (*a->env)->GetStringUTFRegion(a->env, s, 0, n < UNITS ? n : UNITS, to);
    }
    drop(a, s);
}

static uint32_t take_text(struct asking *a, jstring s)
{
    char text[ROOM];
    take_string(a, s, text);
    return number(a, &a->texts, text, strlen(text));
}

static uint32_t class_of(struct asking *a, jobject o)
{
    char *signature = NULL;
    uint32_t id = 0;
    jclass c = (*a->env)->GetObjectClass(a->env, o);
    if ((*a->jvmti)->GetClassSignature(a->jvmti, c, &signature, NULL) == JVMTI_ERROR_NONE) {
        id = number(a, &a->texts, signature, strlen(signature));
        (void)(*a->jvmti)->Deallocate(a->jvmti, (unsigned char *)signature);
    }
    drop(a, c);
    return id;
}

static uint64_t tid_of(const struct asking *a, jobject thread)
{
    return thread != NULL ? (uint64_t)(*a->env)->GetLongField(a->env, thread, hpx_vm_fields.tid) : 0;
}

static struct hpx_census_who who_is(struct asking *a, jobject thread)
{
    struct hpx_census_who w = {tid_of(a, thread), "", false};
    if (thread != NULL) {
        const char *name = text_of(a, take_text(a, (*a->env)->GetObjectField(a->env, thread, hpx_vm_fields.name)));
        w.name = name != NULL ? name : "";
        w.is_virtual = (*a->env)->IsInstanceOf(a->env, thread, a->is_virtual);
    }
    return w;
}

/* ---- threads ---- */

/* The number of the stack; *sleeps: it is in Thread.sleep. */
static uint32_t stack_of(struct asking *a, jobject thread, bool *sleeps)
{
    JNIEnv *env = a->env;
    struct hpx_census_frame frames[FRAMES];
    uint32_t n = 0;
    jobjectArray all = call(a, thread, a->stack);
    const jsize depth = all != NULL ? (*env)->GetArrayLength(env, all) : 0;
    for (jsize i = 0; i < depth && (n < a->plan->depth || i < INNERMOST) && n < FRAMES; i++) {
        char both[2 * ROOM + 2] = "L", *name;
        jobject e = (*env)->GetObjectArrayElement(env, all, i);
        take_string(a, (*env)->GetObjectField(env, e, a->klass), both + 1);
        for (char *c = strchr(both, '.'); c != NULL; c = strchr(c, '.')) {
            *c = '/';
        }
        name = both + strlen(both) + 2;
        name[-2] = ';';
        name[-1] = '\0';
        take_string(a, (*env)->GetObjectField(env, e, a->method), name);
        *sleeps = *sleeps || (i < INNERMOST && strcmp(both, "Ljava/lang/Thread;") == 0 && strcmp(name, "sleep") == 0);
        if (n < a->plan->depth) {
            const uint32_t m = number(a, &a->methods, both, (size_t)(name - both) + strlen(name) + 1);
            const jint line = (*env)->GetIntField(env, e, a->line);
            frames[n++] = (struct hpx_census_frame){m != 0 ? m - 1 : 0, line > 0 ? line : -1};
        }
        drop(a, e);
    }
    drop(a, all);
    return number(a, &a->stacks, (const char *)frames, n * sizeof *frames);
}

static enum hpx_thread_status status_of(const struct asking *a, jobject thread)
{
    const jint state = (*a->env)->GetIntField(a->env, thread, a->state) & ~HPX_CENSUS_SUSPENDED;
    for (uint32_t i = 0; i < a->plan->nstates; i++) {
        if (a->plan->states[i].value == state) {
            return a->plan->states[i].status;
        }
    }
    return HPX_STATUS_UNKNOWN;
}

static void count(struct asking *a, struct hpx_census_group *g, jobject thread)
{
    const struct hpx_census_who w = who_is(a, thread);
    const bool named = w.name[0] != '\0';
    const uint64_t at = named ? g->named : g->count;
    if (named && g->count < HPX_CENSUS_NAMES) {
        g->who[g->count] = g->who[at];
    }
    if (at < HPX_CENSUS_NAMES) {
        g->who[at] = w;
    }
    g->named += named;
    g->count++;
    a->to->threads++;
}

static void ask_thread(struct asking *a, jobject thread, uint32_t container)
{
    JNIEnv *env = a->env;
    struct key k;
    bool sleeps = false;
    enum hpx_thread_status status = status_of(a, thread);
    if (status == HPX_STATUS_ENDED || status == HPX_STATUS_NOT_STARTED) {
        return;
    }
    jobject carrier = (*env)->GetObjectField(env, thread, a->carrier), blocker = (*env)->GetObjectField(env, thread, hpx_vm_fields.blocker);
    jobject owner =
        blocker != NULL && (*env)->IsInstanceOf(env, blocker, a->synchronizer) ? (*env)->GetObjectField(env, blocker, a->owner) : NULL;
    memset(&k, 0, sizeof k);
    k.stack = stack_of(a, thread, &sleeps);
    status = status == HPX_STATUS_WAITING && sleeps ? HPX_STATUS_SLEEPING : status;
    k.status = (uint32_t)status;
    k.waits_for = blocker != NULL ? class_of(a, blocker) : 0;
    k.container = container;
    k.owner = tid_of(a, owner);
    k.carrier = tid_of(a, carrier);
    const uint32_t id = number(a, &a->keys, (const char *)&k, sizeof k);
    if (id > a->groups.len) {
        struct hpx_census_group *g = hpx_vec_push(&a->groups);
        a->no_memory = a->no_memory || g == NULL;
        if (g != NULL) {
            *g = (struct hpx_census_group){.stack = k.stack,
                                           .status = status,
                                           .waits_for = text_of(a, k.waits_for),
                                           .container = text_of(a, container),
                                           .owner = who_is(a, owner),
                                           .carrier = who_is(a, carrier)};
        }
    }
    if (!a->no_memory) {
        count(a, hpx_vec_at(&a->groups, id - 1), thread);
    }
    drop(a, owner);
    drop(a, blocker);
    drop(a, carrier);
}

/* ---- containers ---- */

static jobjectArray array_of(const struct asking *a, jobject container, jmethodID stream)
{
    jobject s = call(a, container, stream);
    jobjectArray all = call(a, s, a->array);
    drop(a, s);
    return all;
}

/* Its name, or else that of its class; 0: the one of all that no other one has started. */
static uint32_t container_of(struct asking *a, jobject container)
{
    char text[ROOM];
    take_string(a, call(a, container, a->name), text);
    hpx_census_cut_identity(text);
    const uint32_t signature = text[0] == '\0' ? class_of(a, container) : 0;
    if (signature != 0) {
        const struct hpx_string *s = hpx_strings_at(&a->texts, signature);
        (void)snprintf(text, sizeof text, "%.*s", (int)(s->len > 2 ? s->len - 2 : 0), s->bytes + 1);
        for (char *c = strchr(text, '/'); c != NULL; c = strchr(c, '/')) {
            *c = '.';
        }
    }
    return number(a, &a->texts, text, strlen(text));
}

static void ask_container(struct asking *a, jobject container, uint32_t name, int deep)
{
    JNIEnv *env = a->env;
    (void)(*env)->EnsureLocalCapacity(env, 32); /* of each level */
    (*env)->ExceptionClear(env);
    jobjectArray threads = array_of(a, container, a->threads);
    const jsize n = threads != NULL ? (*env)->GetArrayLength(env, threads) : 0;
    for (jsize i = 0; i < n && !a->no_memory; i++) {
        jobject thread = (*env)->GetObjectArrayElement(env, threads, i);
        if ((*env)->IsInstanceOf(env, thread, a->is_virtual)) {
            if (a->late() || hpx_clock_mono() >= a->until) {
                a->to->unasked++;
            } else {
                ask_thread(a, thread, name);
            }
        }
        drop(a, thread);
    }
    drop(a, threads);
    jobjectArray inner = deep < DEEPEST ? array_of(a, container, a->children) : NULL;
    const jsize m = inner != NULL ? (*env)->GetArrayLength(env, inner) : 0;
    for (jsize i = 0; i < m && !a->no_memory; i++) {
        jobject one = (*env)->GetObjectArrayElement(env, inner, i);
        ask_container(a, one, container_of(a, one), deep + 1);
        drop(a, one);
    }
    drop(a, inner);
}

/* ---- all ---- */

static bool look_up(struct asking *a)
{
    JNIEnv *env = a->env;
    jclass containers = find(env, "jdk/internal/vm/ThreadContainers"), container = find(env, "jdk/internal/vm/ThreadContainer"),
           element = find(env, "java/lang/StackTraceElement"), thread = find(env, "java/lang/Thread"), stream = find(env, STREAM);
    a->is_virtual = find(env, "java/lang/VirtualThread");
    a->synchronizer = find(env, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
    a->root = containers != NULL ? (*env)->GetStaticMethodID(env, containers, "root", "()Ljdk/internal/vm/ThreadContainer;") : NULL;
    (*env)->ExceptionClear(env);
    a->threads = method(env, container, "threads", "()L" STREAM ";");
    a->children = method(env, container, "children", "()L" STREAM ";");
    a->name = method(env, container, "name", "()Ljava/lang/String;");
    a->array = method(env, stream, "toArray", "()[Ljava/lang/Object;");
    a->stack = method(env, thread, "getStackTrace", "()[Ljava/lang/StackTraceElement;");
    a->state = hpx_vm_field(env, a->is_virtual, "state", "I");
    a->carrier = hpx_vm_field(env, a->is_virtual, "carrierThread", "Ljava/lang/Thread;");
    a->owner = hpx_vm_field(env, a->synchronizer, "exclusiveOwnerThread", "Ljava/lang/Thread;");
    a->klass = hpx_vm_field(env, element, "declaringClass", "Ljava/lang/String;");
    a->method = hpx_vm_field(env, element, "methodName", "Ljava/lang/String;");
    a->line = hpx_vm_field(env, element, "lineNumber", "I");
    bool fields = a->state != NULL && a->carrier != NULL && a->owner != NULL && a->klass != NULL && a->method != NULL && a->line != NULL;
    bool methods = a->root != NULL && a->threads != NULL && a->children != NULL && a->name != NULL && a->array != NULL && a->stack != NULL;
    if (fields && methods && hpx_vm_fields.tid != NULL && hpx_vm_fields.name != NULL && hpx_vm_fields.blocker != NULL) {
        jobject root = (*env)->CallStaticObjectMethod(env, containers, a->root);
        (*env)->ExceptionClear(env);
        ask_container(a, root, 0, 0);
        return root != NULL;
    }
    return false;
}

static void fill(struct asking *a)
{
    struct hpx_census *to = a->to;
    to->nmethods = a->methods.all.len > 0 ? a->methods.all.len - 1 : 0;
    to->nstacks = a->stacks.all.len; /* number 0: an empty one */
    to->ngroups = a->groups.len;
    to->methods = share(a, (to->nmethods + 1) * sizeof *to->methods);
    to->stacks = share(a, (to->nstacks + 1) * sizeof *to->stacks);
    to->groups = share(a, (to->ngroups + 1) * sizeof *to->groups);
    for (uint32_t i = 0; i < to->nmethods && !a->no_memory; i++) {
        const struct hpx_string *s = hpx_strings_at(&a->methods, i + 1);
        char *both = share(a, s->len);
        if (both != NULL) {
            memcpy(both, s->bytes, s->len);
            to->methods[i] = (struct hpx_census_method){both, both + strlen(both) + 1, "", HPX_CENSUS_OF_PROGRAM};
        }
    }
    for (uint32_t i = 0; i < to->nstacks && !a->no_memory; i++) {
        const struct hpx_string *s = hpx_strings_at(&a->stacks, i);
        struct hpx_census_frame *frames = share(a, s->len);
        if (frames != NULL) {
            memcpy(frames, s->bytes, s->len);
            to->stacks[i] = (struct hpx_census_stack){frames, (uint32_t)(s->len / sizeof *frames)};
        }
    }
    for (uint32_t i = 0; i < to->ngroups && !a->no_memory; i++) {
        to->groups[i] = *(const struct hpx_census_group *)hpx_vec_at(&a->groups, i);
    }
    to->used = a->used;
}

const char *hpx_census_ask(JNIEnv *env, jvmtiEnv *jvmti, const struct hpx_census_plan *plan, struct hpx_census *to, hpx_census_late *late)
{
    struct asking a = {.env = env,
                       .jvmti = jvmti,
                       .plan = plan,
                       .to = to,
                       .late = late,
                       .until = hpx_clock_mono() + MOST_NS,
                       .used = (sizeof *to + 15) & ~(size_t)15};
    struct hpx_strings *const all[] = {&a.texts, &a.methods, &a.stacks, &a.keys};
    hpx_vec_init(&a.shared, sizeof(const char *));
    hpx_vec_init(&a.groups, sizeof(struct hpx_census_group));
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        a.no_memory = hpx_strings_init(all[i]) != 0 || a.no_memory;
    }
    const bool known = !a.no_memory && look_up(&a);
    if (known && !a.no_memory) {
        fill(&a);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        hpx_strings_fini(all[i]);
    }
    hpx_vec_fini(&a.shared);
    hpx_vec_fini(&a.groups);
    return a.no_memory ? "no memory" : known ? NULL : "this JDK keeps them elsewhere";
}
