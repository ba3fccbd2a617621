/* SPDX-License-Identifier: BSD-2-Clause */
/* test_wait_class.c: classes of blockers that are recognised, in a made-up VM whose objects are their own classes. */
#include "cmocka_all.h"
#include "session.h"
#include "session_life.h"
#include "wait_class.h"
#include "waited_monitor.h"
#include <stdlib.h>
#include <string.h>

#define CLASSES 100u

struct hpx_vm hpx_vm;
struct hpx_vm_fields hpx_vm_fields;

static struct object {
    bool unloaded;
    struct object *is; /* of a weak reference */
} classes[CLASSES];

static struct object weak[4096];
static struct {
    unsigned names, references, deleted; /* that were asked for, made, deleted */
    struct object *blocker, *meanwhile;  /* meanwhile: another thread comes with this one while the next name is asked for */
} fx;

jint hpx_vm_release(void)
{
    return 25;
}

const char *hpx_waited_monitor_init(JNIEnv *env, jthread self)
{
    (void)env, (void)self;
    return "not asked";
}

const char *hpx_waited_monitor_off(void)
{
    return NULL;
}

uint64_t hpx_waited_monitor_thread(JNIEnv *env, jthread thread)
{
    (void)env, (void)thread;
    return 0;
}

bool hpx_watched_monitor(const struct hpx_held *h, uint64_t thread, char *to)
{
    (void)h, (void)thread, (void)to;
    return false;
}

/* ---- the VM ---- */

static const struct JNINativeInterface_ natives;
static JNIEnv env = &natives;

static jobject JNICALL get_object_field(JNIEnv *e, jobject o, jfieldID f)
{
    (void)e, (void)o, (void)f;
    return (jobject)(void *)fx.blocker;
}

static jclass JNICALL get_object_class(JNIEnv *e, jobject o)
{
    (void)e;
    return o;
}

static jboolean JNICALL is_same_object(JNIEnv *e, jobject a, jobject b)
{
    const struct object *ref = (const struct object *)(void *)a, *is = ref->is->unloaded ? NULL : ref->is;
    (void)e;
    return is == (const struct object *)(void *)b;
}

static jweak JNICALL new_weak(JNIEnv *e, jobject o)
{
    struct object *ref = &weak[fx.references++];
    (void)e;
    assert_in_range(fx.references, 1, HPX_ARRAY_LEN(weak));
    ref->is = (struct object *)(void *)o;
    return (jweak)(void *)ref;
}

static void JNICALL delete_weak(JNIEnv *e, jweak o)
{
    (void)e, (void)o;
    fx.deleted++;
}

static void JNICALL delete_local(JNIEnv *e, jobject o)
{
    (void)e, (void)o;
}

static void JNICALL clear(JNIEnv *e)
{
    (void)e;
}

static const struct JNINativeInterface_ natives = {.GetObjectField = get_object_field,
                                                   .GetObjectClass = get_object_class,
                                                   .IsSameObject = is_same_object,
                                                   .NewWeakGlobalRef = new_weak,
                                                   .DeleteWeakGlobalRef = delete_weak,
                                                   .DeleteLocalRef = delete_local,
                                                   .ExceptionClear = clear};

static uint32_t wait_for(struct object *blocker)
{
    fx.blocker = blocker;
    return hpx_wait_class_parked(&env, NULL);
}

static jvmtiError JNICALL get_signature(jvmtiEnv *jvmti, jclass klass, char **signature, char **generic)
{
    struct object *other = fx.meanwhile;
    (void)jvmti, (void)generic;
    fx.meanwhile = NULL;
    fx.names++;
    if (other != NULL) {
        (void)wait_for(other);
    }
    *signature = malloc(16);
    assert_non_null(*signature);
    (void)snprintf(*signature, 16, "Lc%u;", (unsigned)((struct object *)(void *)klass - classes));
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *jvmti, unsigned char *memory)
{
    (void)jvmti;
    free(memory);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL current_thread(jvmtiEnv *jvmti, jthread *thread)
{
    (void)jvmti;
    *thread = NULL;
    return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ functions = {
    .GetClassSignature = get_signature, .Deallocate = deallocate, .GetCurrentThread = current_thread};
static jvmtiEnv jvmti_env = &functions;

static int begin(void **unused)
{
    (void)unused;
    memset(&fx, 0, sizeof fx);
    memset(classes, 0, sizeof classes);
    hpx_vm.jvmti = &jvmti_env;
    hpx_vm_fields.blocker = (jfieldID)(void *)&fx;
    hpx_lane_init(&hpx_session.aggregator.control);
    hpx_gate_open(&hpx_session.gate);
    hpx_wait_class_begin(&env, true);
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    hpx_wait_class_fini();
    hpx_wait_class_forget(&env);
    assert_int_equal(fx.deleted, fx.references);
    hpx_gate_close(&hpx_session.gate);
    for (struct hpx_msg *m = hpx_lane_splice(&hpx_session.aggregator.control), *next; m != NULL; m = next) {
        next = m->next;
        free(m);
    }
    hpx_lane_fini(&hpx_session.aggregator.control);
    hpx_session_end();
    return 0;
}

/* ---- tests ---- */

TEST(a_class_is_asked_for_once, begin, end)
{
    assert_int_equal(wait_for(&classes[0]), 1);
    assert_int_equal(wait_for(&classes[1]), 2);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(wait_for(&classes[0]), 1);
        assert_int_equal(wait_for(&classes[1]), 2);
    }
    assert_int_equal(wait_for(NULL), 0);
    assert_int_equal(fx.names, 2);
    assert_int_equal(fx.references, 2);
}

/* Many carriers may come with the first object of a class. */
TEST(threads_that_come_at_once_with_a_class_take_one_place, begin, end)
{
    fx.meanwhile = &classes[0];
    assert_int_equal(wait_for(&classes[0]), 1);
    assert_int_equal(fx.names, 2);
    assert_int_equal(fx.references, 1);
}

static unsigned names_of(uint32_t from, uint32_t to)
{
    const unsigned before = fx.names;
    for (uint32_t i = from; i < to; i++) {
        assert_int_equal(wait_for(&classes[i]), i + 1);
    }
    return fx.names - before;
}

TEST(a_class_takes_the_place_of_one_that_was_unloaded, begin, end)
{
    assert_int_equal(names_of(0, 70), 70);
    assert_int_equal(names_of(0, 64), 0);
    assert_int_equal(names_of(64, 70), 6); /* there is no place */
    classes[3].unloaded = true;
    assert_int_equal(names_of(64, 70), 6);
    assert_int_equal(names_of(64, 70), 5);
    assert_int_equal(names_of(4, 65), 0);
}

/* References are kept until the session ends, because another thread may compare one. */
TEST(many_classes_that_are_unloaded_take_no_memory_for_ever, begin, end)
{
    for (int i = 0; i < 5000; i++) {
        classes[7].unloaded = false;
        (void)wait_for(&classes[7]);
        classes[7].unloaded = true;
    }
    assert_in_range(fx.references, 1, 1024);
}

TESTS(NULL, NULL)
