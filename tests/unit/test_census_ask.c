/* SPDX-License-Identifier: BSD-2-Clause */
/* test_census_ask.c: a census without a copy, of a made-up JDK: sets of threads, containers, scopes, and methods that throw exceptions. */
#include "cmocka_all.h"

#include "boot_class.h"
#include "census_ask.h"
#include "clock.h"
#include "vm.h"
#include <string.h>

#define ROOM   ((size_t)1 << 20)
#define SECOND UINT64_C(1000000000)

enum { PARKED = 1, STARTED, TERMINATED };

/* Any object. A set, a stream and an array are what they have; a reference has one. */
struct object {
    enum { OTHER, VIRTUAL, CONTAINER } kind;
    struct object **has;
    jsize n;
    const char *text; /* of a String; of a class its name */
    struct object *name, *scopes, *previous, *carrier, *stack, *klass, *method;
    jint number; /* a state, or a line */
    jlong tid;
    bool throws; /* when it is asked for elements or a stack */
};

static struct {
    uint64_t now, cost; /* of a stack */
    uint64_t stacks;    /* asked for */
    uint64_t calls;     /* of methods of Java */
    uint64_t late_at;   /* stacks */
    int64_t references; /* local ones */
    bool pending;
} fx;

struct hpx_vm_fields hpx_vm_fields;

uint64_t __wrap_hpx_clock_mono(void);
uint64_t __wrap_hpx_clock_mono(void)
{
    return fx.now;
}

static bool late(void)
{
    return fx.late_at != 0 && fx.stacks >= fx.late_at;
}

/* ---- JNI ---- */

static struct object *object(jobject o)
{
    return (struct object *)(void *)o;
}

static jobject refer(struct object *o)
{
    assert_false(fx.pending);
    fx.references += o != NULL;
    return (jobject)(void *)o;
}

/* The id of a field or method is its name. */
static const char *id_of(const char *name)
{
    static const char *const names[] = {"toArray",  "get",           "threads",    "name",           "getStackTrace",
                                        "state",    "carrierThread", "tid",        "parkBlocker",    "headStackableScopes",
                                        "previous", "lineNumber",    "methodName", "declaringClass", "exclusiveOwnerThread"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            return names[i];
        }
    }
    fail_msg("%s", name);
    return NULL;
}

jfieldID hpx_vm_field(JNIEnv *env, jclass klass, const char *name, const char *signature)
{
    (void)env, (void)signature;
    assert_non_null(klass);
    return (jfieldID)(uintptr_t)id_of(name);
}

static jmethodID JNICALL get_method(JNIEnv *env, jclass klass, const char *name, const char *signature)
{
    (void)env, (void)signature;
    assert_non_null(klass);
    return (jmethodID)(uintptr_t)id_of(name);
}

jclass hpx_boot_class(JNIEnv *env, const char *name)
{
    static struct object classes[16];
    size_t i = 0;
    (void)env;
    while (classes[i].text != NULL && strcmp(classes[i].text, name) != 0) {
        i++;
    }
    classes[i].text = name;
    return (jclass)(void *)&classes[i]; /* not counted */
}

static bool named(const void *id, const char *name)
{
    return strcmp(id, name) == 0;
}

static jobject JNICALL call(JNIEnv *env, jobject o, jmethodID m, ...)
{
    struct object *of = object(o);
    const void *id = (const void *)m;
    (void)env;
    fx.calls++;
    if (named(id, "threads")) {
        assert_int_equal(of->kind, CONTAINER);
        return refer(of);
    }
    if (named(id, "name")) {
        return refer(of->name);
    }
    if (named(id, "get")) {
        return refer(of->n > 0 ? of->has[0] : NULL);
    }
    if (named(id, "getStackTrace")) {
        fx.stacks++;
        fx.now += fx.cost;
    } else {
        assert_true(named(id, "toArray"));
    }
    fx.pending = of->throws;
    return of->throws ? NULL : refer(named(id, "toArray") ? of : of->stack);
}

static jobject JNICALL get_object(JNIEnv *env, jobject o, jfieldID f)
{
    const struct object *of = object(o);
    const void *id = (const void *)f;
    (void)env;
    return refer(named(id, "name")                  ? of->name
                 : named(id, "headStackableScopes") ? of->scopes
                 : named(id, "previous")            ? of->previous
                 : named(id, "carrierThread")       ? of->carrier
                 : named(id, "declaringClass")      ? of->klass
                 : named(id, "methodName")          ? of->method
                                                    : NULL);
}

static jint JNICALL get_int(JNIEnv *env, jobject o, jfieldID f)
{
    (void)env, (void)f;
    return object(o)->number;
}

static jlong JNICALL get_long(JNIEnv *env, jobject o, jfieldID f)
{
    (void)env, (void)f;
    return object(o)->tid;
}

static jsize JNICALL get_length(JNIEnv *env, jarray a)
{
    (void)env;
    return object(a)->n;
}

static jobject JNICALL get_element(JNIEnv *env, jobjectArray a, jsize i)
{
    (void)env;
    return refer(object(a)->has[i]);
}

static jsize JNICALL get_string_length(JNIEnv *env, jstring s)
{
    (void)env;
    return (jsize)strlen(object(s)->text);
}

static void JNICALL get_region(JNIEnv *env, jstring s, jsize from, jsize n, char *to)
{
    (void)env;
    memcpy(to, object(s)->text + from, (size_t)n);
}

static jclass JNICALL get_class(JNIEnv *env, jobject o)
{
    static struct object klass = {.text = "Lp/Pool;"};
    (void)env, (void)o;
    return refer(&klass);
}

static jboolean JNICALL is_instance(JNIEnv *env, jobject o, jclass k)
{
    (void)env;
    return strcmp(object(k)->text, "java/lang/VirtualThread") == 0           ? object(o)->kind == VIRTUAL
           : strcmp(object(k)->text, "jdk/internal/vm/ThreadContainer") == 0 ? object(o)->kind == CONTAINER
                                                                             : false;
}

static void JNICALL drop(JNIEnv *env, jobject o)
{
    (void)env;
    fx.references -= o != NULL;
}

static void JNICALL clear(JNIEnv *env)
{
    (void)env;
    fx.pending = false;
}

static jint JNICALL room(JNIEnv *env, jint n)
{
    (void)env, (void)n;
    return JNI_OK;
}

static jvmtiError JNICALL get_signature(jvmtiEnv *jvmti, jclass k, char **signature, char **generic)
{
    (void)jvmti, (void)generic;
    *signature = strdup(object(k)->text);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *jvmti, unsigned char *p)
{
    (void)jvmti;
    free(p);
    return JVMTI_ERROR_NONE;
}

/* ---- the census ---- */

static struct hpx_census *census;
static struct object roots, registry;
static void *made[4096]; /* freed when the test ends */
static size_t nmade;

static int set_up(void **state)
{
    (void)state;
    memset(&fx, 0, sizeof fx);
    roots = registry = (struct object){.n = 0};
    census = calloc(1, ROOM);
    census->size = ROOM;
    hpx_vm_fields.tid = (jfieldID)(uintptr_t)id_of("tid");
    hpx_vm_fields.name = (jfieldID)(uintptr_t)id_of("name");
    hpx_vm_fields.blocker = (jfieldID)(uintptr_t)id_of("parkBlocker");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(census);
    while (nmade > 0) {
        free(made[--nmade]);
    }
    return 0;
}

static void ask(struct object *platform)
{
    static const struct JNINativeInterface_ jni = {.GetMethodID = get_method,
                                                   .CallObjectMethod = call,
                                                   .GetObjectField = get_object,
                                                   .GetIntField = get_int,
                                                   .GetLongField = get_long,
                                                   .GetArrayLength = get_length,
                                                   .GetObjectArrayElement = get_element,
                                                   .GetStringLength = get_string_length,
                                                   .GetStringUTFRegion = get_region,
                                                   .GetObjectClass = get_class,
                                                   .IsInstanceOf = is_instance,
                                                   .DeleteLocalRef = drop,
                                                   .ExceptionClear = clear,
                                                   .EnsureLocalCapacity = room};
    static const struct jvmtiInterface_1_ tool = {.GetClassSignature = get_signature, .Deallocate = deallocate};
    JNIEnv env = &jni;
    jvmtiEnv jvmti = &tool;
    jthread threads[] = {(jthread)(void *)platform};
    struct hpx_census_plan plan = {.depth = 1000,
                                   .roots = (jobject)(void *)&roots,
                                   .containers = (jobject)(void *)&registry,
                                   .threads = threads,
                                   .nthreads = platform != NULL,
                                   .nstates = 3,
                                   .states = {{.value = PARKED, .status = HPX_STATUS_WAITING},
                                              {.value = STARTED, .status = HPX_STATUS_RUNNABLE},
                                              {.value = TERMINATED, .status = HPX_STATUS_ENDED}}};
    assert_null(hpx_census_ask(&env, &jvmti, &plan, census, late));
    assert_int_equal(fx.references, 0);
    assert_false(fx.pending);
}

static void *make(size_t n, size_t size)
{
    assert_in_range(nmade, 0, HPX_ARRAY_LEN(made) - 1);
    return made[nmade++] = calloc(n, size);
}

static struct object *make_object(struct object o)
{
    return memcpy(make(1, sizeof o), &o, sizeof o);
}

static struct object *text(const char *s)
{
    return make_object((struct object){.text = s});
}

static struct object *put(struct object *to, struct object *o)
{
    to->has = to->has != NULL ? to->has : make(1024, sizeof(void *));
    assert_in_range(to->n, 0, 1023);
    to->has[to->n++] = o;
    return o;
}

/* One that is parked in frames of p.C.m(). */
static struct object *thread_with(jsize frames)
{
    static jlong tids;
    struct object *stack = make_object((struct object){.n = 0});
    struct object *element = make_object((struct object){.number = 7, .klass = text("p.C"), .method = text("m")});
    for (jsize i = 0; i < frames; i++) {
        put(stack, element);
    }
    return make_object((struct object){.kind = VIRTUAL, .number = PARKED, .tid = ++tids, .stack = stack});
}

/* In the registry, with so many threads. */
static struct object *add_executor(const char *name, int threads)
{
    struct object *executor = make_object((struct object){.kind = CONTAINER, .name = name != NULL ? text(name) : NULL});
    for (int i = 0; i < threads; i++) {
        put(executor, thread_with(1));
    }
    put(put(&registry, make_object((struct object){.n = 0})), executor);
    return executor;
}

static const struct hpx_census_group *group_of(const char *container)
{
    const struct hpx_census_group *found = NULL;
    for (uint32_t i = 0; i < census->ngroups; i++) {
        const char *c = census->groups[i].container;
        if (container == NULL ? c == NULL : c != NULL && strcmp(c, container) == 0) {
            assert_null(found);
            found = &census->groups[i];
        }
    }
    assert_non_null(found);
    return found;
}

static void whole(void)
{
    assert_int_equal(census->unasked + census->closed + census->untold + census->unread, 0);
}

/* ---- tests ---- */

TEST(threads_of_all_sets_are_counted, set_up, tear_down)
{
    put(&roots, thread_with(1));
    put(&roots, thread_with(1));
    put(&roots, thread_with(1))->number = TERMINATED;
    put(&registry, make_object((struct object){.n = 0}));                       /* a reference whose container has gone */
    put(add_executor("p.Pool@1f", 3), make_object((struct object){.tid = 99})); /* a thread of the platform */
    add_executor(NULL, 4);                                                      /* which has the name of its class */
    add_executor("tenant@1f", 1);
    add_executor("tenant@42", 1);
    ask(NULL);
    whole();
    assert_int_equal(census->threads, 11);
    assert_int_equal(group_of(NULL)->count, 2);
    assert_int_equal(group_of("p.Pool")->count, 3 + 4);
    assert_int_equal(group_of("tenant@1f")->count, 1);
    assert_int_equal(group_of("tenant@42")->count, 1);
    const struct hpx_census_stack *s = &census->stacks[group_of("p.Pool")->stack];
    assert_int_equal(s->n, 1);
    assert_int_equal(s->frames[0].bci, 7);
    assert_string_equal(census->methods[s->frames[0].method].class_signature, "Lp/C;");
    assert_string_equal(census->methods[s->frames[0].method].name, "m");
}

/* A thread of the platform opens two; in the inner one is a thread that opens the next two, and so on. */
TEST(scopes_may_be_in_scopes_to_any_depth, set_up, tear_down)
{
    struct object *first = make_object((struct object){.tid = 99}), *owner = first;
    for (int i = 0; i < 100; i++) {
        struct object *outer = make_object((struct object){.kind = CONTAINER, .name = text("outer")});
        struct object *other = make_object((struct object){.kind = OTHER, .previous = outer});
        owner->scopes = make_object((struct object){.kind = CONTAINER, .name = text("inner"), .previous = other});
        put(outer, thread_with(1));
        owner = put(owner->scopes, thread_with(1));
    }
    ask(first);
    whole();
    assert_int_equal(group_of("outer")->count, 100);
    assert_int_equal(group_of("inner")->count, 100);
}

TEST(when_the_time_is_over_nothing_is_asked_any_more, set_up, tear_down)
{
    fx.cost = SECOND;
    put(&roots, thread_with(1));
    put(&roots, thread_with(1));
    for (int i = 0; i < 10; i++) {
        add_executor("pool", 2);
    }
    ask(NULL);
    assert_int_equal(census->threads, 5);
    assert_int_equal(fx.stacks, 5);
    assert_int_equal(census->unasked, 1); /* of the second pool */
    assert_int_equal(census->closed, 8);
    assert_int_equal(fx.calls, 5 + 2 + 2 * 3 + 10); /* stacks; sets; name, stream, array; references */
}

TEST(who_is_late_asks_nothing_any_more, set_up, tear_down)
{
    fx.late_at = 3;
    for (int i = 0; i < 10; i++) {
        add_executor("pool", 1);
    }
    ask(NULL);
    assert_int_equal(census->threads, 3);
    assert_int_equal(census->closed, 7);
}

TEST(sets_that_are_not_told_are_counted, set_up, tear_down)
{
    roots.throws = true;
    add_executor("pool", 1)->throws = true;
    add_executor("other", 1);
    ask(NULL);
    assert_int_equal(census->threads, 1);
    assert_int_equal(census->untold, 2);
    registry.throws = true;
    census->untold = 0;
    ask(NULL);
    assert_int_equal(census->untold, 2);
}

TEST(a_stack_that_is_not_told_counts_as_not_read, set_up, tear_down)
{
    put(&roots, thread_with(3))->throws = true;
    put(&roots, thread_with(3));
    ask(NULL);
    assert_int_equal(census->threads, 2);
    assert_int_equal(census->unread, 1);
    assert_int_equal(census->ngroups, 2);
}

TEST(a_mounted_thread_is_a_group_by_itself, set_up, tear_down)
{
    struct object *carrier = make_object((struct object){.tid = 99});
    for (int i = 0; i < 2; i++) {
        put(&roots, thread_with(1))->carrier = carrier;
    }
    ask(NULL);
    assert_int_equal(census->ngroups, 2);
    assert_int_equal(census->groups[0].count, 1);
    assert_int_equal(census->groups[0].carrier.tid, 99);
}

TEST(three_of_a_group_are_named_those_with_names_first, set_up, tear_down)
{
    static const char *const names[] = {NULL, NULL, "a", NULL, "b", "c", "d"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        put(&roots, thread_with(1))->name = names[i] != NULL ? text(names[i]) : NULL;
    }
    ask(NULL);
    const struct hpx_census_group *g = group_of(NULL);
    assert_int_equal(g->count, 7);
    assert_int_equal(g->named, 4);
    assert_string_equal(g->who[0].name, "a");
    assert_string_equal(g->who[1].name, "b");
    assert_string_equal(g->who[2].name, "c");
}

TEST(stacks_are_as_deep_as_wanted, set_up, tear_down)
{
    put(&roots, thread_with(600));
    put(&roots, thread_with(1010));
    ask(NULL);
    assert_int_equal(census->stacks[census->groups[0].stack].n, 600);
    assert_int_equal(census->stacks[census->groups[1].stack].n, 1000);
}

TESTS(NULL, NULL)
