/* SPDX-License-Identifier: BSD-2-Clause */
/* census_ask.c: see census_ask.h. */
#include "census_ask.h"
#include "boot_class.h"
#include "clock.h"
#include "string_table.h"
#include "vm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NS   UINT64_C(5000000000)
#define UNITS     256 /* of a name, at most */
#define ROOM      (3 * UNITS + 1)
#define INNERMOST 16 /* frames, among which is Thread.sleep */

#define STREAM "java/util/stream/Stream"
#define SCOPE  "jdk/internal/vm/StackableScope"

struct key {
    uint32_t stack, status, waits_for, container;
    uint64_t owner, carrier, mounted; /* mounted: the thread itself, if it has a carrier */
};

struct asking {
    JNIEnv *env;
    jvmtiEnv *jvmti;
    const struct hpx_census_plan *plan;
    struct hpx_census *to;
    hpx_census_late *late;
    uint64_t until;
    bool over;   /* the time */
    size_t used; /* of the memory of the census */
    bool no_memory;
    jclass is_virtual, synchronizer, container;
    jmethodID elements, get, threads, name, array, stack;
    jfieldID scopes, previous, state, carrier, owner, klass, method, line;
    struct hpx_census_frame *frames;                 /* room for those of a stack */
    struct hpx_vec open;                             /* jobject: scopes that threads have opened, not asked yet; local references */
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

static jmethodID method(JNIEnv *env, jclass c, const char *name, const char *signature)
{
    jmethodID m = c != NULL ? (*env)->GetMethodID(env, c, name, signature) : NULL;
    (*env)->ExceptionClear(env);
    return m;
}

/* NULL: it threw an exception (no memory, as a rule), or returned that. */
static jobject call(const struct asking *a, jobject of, jmethodID m)
{
    jobject o = of != NULL ? (*a->env)->CallObjectMethod(a->env, of, m) : NULL;
    (*a->env)->ExceptionClear(a->env);
    return o;
}

static bool is_over(struct asking *a)
{
    a->over = a->over || a->late() || hpx_clock_mono() >= a->until;
    return a->over;
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
    uint32_t n = 0;
    jobjectArray all = call(a, thread, a->stack);
    a->to->unread += all == NULL;
    const jsize depth = all != NULL ? (*env)->GetArrayLength(env, all) : 0;
    for (jsize i = 0; i < depth && (n < a->plan->depth || i < INNERMOST); i++) {
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
            a->frames[n++] = (struct hpx_census_frame){m != 0 ? m - 1 : 0, line > 0 ? line : -1};
        }
        drop(a, e);
    }
    drop(a, all);
    return number(a, &a->stacks, (const char *)a->frames, n * sizeof *a->frames);
}

static void count(struct asking *a, struct hpx_census_group *g, jobject thread)
{
    char name[ROOM];
    take_string(a, (*a->env)->GetObjectField(a->env, thread, hpx_vm_fields.name), name);
    struct hpx_census_who *who = hpx_census_count(g, name[0] != '\0');
    if (who != NULL) {
        *who = who_is(a, thread);
    }
    a->to->threads++;
}

static void ask_thread(struct asking *a, jobject thread, uint32_t container)
{
    JNIEnv *env = a->env;
    struct key k;
    bool sleeps = false;
    enum hpx_thread_status status = hpx_census_state(a->plan, (*env)->GetIntField(env, thread, a->state)).status;
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
    k.mounted = carrier != NULL ? tid_of(a, thread) : 0;
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

/* Scopes that the thread has open, as in census_read.c. */
static void add_scopes(struct asking *a, jobject thread)
{
    JNIEnv *env = a->env;
    jobject next, scope = (*env)->GetObjectField(env, thread, a->scopes);
    for (; scope != NULL && !a->no_memory; scope = next) {
        next = (*env)->GetObjectField(env, scope, a->previous);
        if ((*env)->IsInstanceOf(env, scope, a->container)) {
            jobject *to = hpx_vec_push(&a->open);
            a->no_memory = to == NULL;
            if (to != NULL) {
                *to = scope;
            }
            (void)(*env)->EnsureLocalCapacity(env, 32);
            (*env)->ExceptionClear(env);
        } else {
            drop(a, scope);
        }
    }
}

/* The virtual ones of an array, whose local reference goes. */
static void ask_threads(struct asking *a, jobjectArray all, uint32_t container)
{
    JNIEnv *env = a->env;
    const jsize n = all != NULL ? (*env)->GetArrayLength(env, all) : 0;
    a->to->untold += all == NULL;
    for (jsize i = 0; i < n && !a->no_memory; i++) {
        jobject thread = (*env)->GetObjectArrayElement(env, all, i);
        const bool is = (*env)->IsInstanceOf(env, thread, a->is_virtual); /* else that of a pool, whose scopes are known already */
        if (is && is_over(a)) {
            a->to->unasked++;
        } else if (is) {
            ask_thread(a, thread, container);
            add_scopes(a, thread);
        }
        drop(a, thread);
    }
    drop(a, all);
}

/* Its local reference goes. */
static void ask_container(struct asking *a, jobject container)
{
    if (is_over(a)) {
        a->to->closed++;
    } else {
        const uint32_t name = container_of(a, container);
        jobject stream = call(a, container, a->threads);
        ask_threads(a, call(a, stream, a->array), name);
        drop(a, stream);
    }
    drop(a, container);
}

static void ask_open(struct asking *a)
{
    while (a->open.len > 0 && !a->no_memory) {
        a->open.len--;
        ask_container(a, *(jobject *)hpx_vec_at(&a->open, a->open.len));
    }
}

/* ---- all ---- */

/* Not ThreadContainer.children(): that goes through all containers for each one. */
static void ask_all(struct asking *a)
{
    JNIEnv *env = a->env;
    for (uint32_t i = 0; i < a->plan->nthreads && !is_over(a); i++) {
        add_scopes(a, a->plan->threads[i]);
    }
    ask_open(a);
    ask_threads(a, call(a, a->plan->roots, a->elements), 0);
    ask_open(a);
    jobjectArray all = call(a, a->plan->containers, a->elements);
    const jsize n = all != NULL ? (*env)->GetArrayLength(env, all) : 0;
    a->to->untold += all == NULL;
    for (jsize i = 0; i < n && !a->no_memory; i++) {
        jobject reference = (*env)->GetObjectArrayElement(env, all, i), container = call(a, reference, a->get);
        if (container != NULL) {
            ask_container(a, container);
            ask_open(a);
        }
        drop(a, reference);
    }
    drop(a, all);
}

static bool look_up(struct asking *a)
{
    JNIEnv *env = a->env;
    jclass set = hpx_boot_class(env, "java/util/Set"), reference = hpx_boot_class(env, "java/lang/ref/Reference"),
           scope = hpx_boot_class(env, SCOPE), thread = hpx_boot_class(env, "java/lang/Thread"),
           element = hpx_boot_class(env, "java/lang/StackTraceElement"), stream = hpx_boot_class(env, STREAM);
    a->container = hpx_boot_class(env, "jdk/internal/vm/ThreadContainer");
    a->is_virtual = hpx_boot_class(env, "java/lang/VirtualThread");
    a->synchronizer = hpx_boot_class(env, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
    a->elements = method(env, set, "toArray", "()[Ljava/lang/Object;");
    a->get = method(env, reference, "get", "()Ljava/lang/Object;");
    a->threads = method(env, a->container, "threads", "()L" STREAM ";");
    a->name = method(env, a->container, "name", "()Ljava/lang/String;");
    a->array = method(env, stream, "toArray", "()[Ljava/lang/Object;");
    a->stack = method(env, thread, "getStackTrace", "()[Ljava/lang/StackTraceElement;");
    a->scopes = hpx_vm_field(env, thread, "headStackableScopes", "L" SCOPE ";");
    a->previous = hpx_vm_field(env, scope, "previous", "L" SCOPE ";");
    a->state = hpx_vm_field(env, a->is_virtual, "state", "I");
    a->carrier = hpx_vm_field(env, a->is_virtual, "carrierThread", "Ljava/lang/Thread;");
    a->owner = hpx_vm_field(env, a->synchronizer, "exclusiveOwnerThread", "Ljava/lang/Thread;");
    a->klass = hpx_vm_field(env, element, "declaringClass", "Ljava/lang/String;");
    a->method = hpx_vm_field(env, element, "methodName", "Ljava/lang/String;");
    a->line = hpx_vm_field(env, element, "lineNumber", "I");
    const void *const all[] = {
        a->elements, a->get,   a->threads, a->name,   a->array, a->stack,          a->scopes,          a->previous,          a->state,
        a->carrier,  a->owner, a->klass,   a->method, a->line,  hpx_vm_fields.tid, hpx_vm_fields.name, hpx_vm_fields.blocker};
    bool known = true;
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        known = known && all[i] != NULL;
    }
    return known;
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
    hpx_vec_init(&a.open, sizeof(jobject));
    a.frames = calloc((size_t)plan->depth + 1, sizeof *a.frames);
    a.no_memory = a.frames == NULL;
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        a.no_memory = hpx_strings_init(all[i]) != 0 || a.no_memory;
    }
    const bool known = !a.no_memory && look_up(&a);
    if (known) {
        ask_all(&a);
    }
    if (known && !a.no_memory) {
        fill(&a);
    }
    free(a.frames);
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        hpx_strings_fini(all[i]);
    }
    hpx_vec_fini(&a.shared);
    hpx_vec_fini(&a.groups);
    hpx_vec_fini(&a.open);
    return a.no_memory ? "no memory" : known ? NULL : "this JDK keeps them elsewhere";
}
