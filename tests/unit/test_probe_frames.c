/* SPDX-License-Identifier: BSD-2-Clause */
/* test_probe_frames.c: the frames of probes, by the methods that a made-up VM lists for two classes. */
#include "cmocka_all.h"
#include "probe_frames.h"
#include <stdlib.h>
#include <string.h>

/* Methods 100 to 107, and 110 to 112; any other class has too many, or the VM fails. */
enum { NATIVES = 1, DOWNCALLS, TOO_MANY, FAILS };

static int blocks;

static jvmtiError JNICALL class_methods(jvmtiEnv *jvmti, jclass of, jint *n, jmethodID **to)
{
    (void)jvmti;
    uintptr_t which = (uintptr_t)of, first = which == NATIVES ? 100 : which == DOWNCALLS ? 110 : 1000;
    if (which == FAILS) {
        return JVMTI_ERROR_OUT_OF_MEMORY;
    }
    *n = which == NATIVES ? 8 : which == DOWNCALLS ? 3 : 40;
    *to = malloc((size_t)*n * sizeof **to);
    blocks++;
    for (jint i = 0; i < *n; i++) {
        (*to)[i] = (jmethodID)(void *)(first + (uintptr_t)i);
    }
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *jvmti, unsigned char *p)
{
    (void)jvmti;
    blocks -= p != NULL;
    free(p);
    return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ functions = {.GetClassMethods = class_methods, .Deallocate = deallocate};
static jvmtiEnv jvmti = &functions;

static jclass klass(uintptr_t which)
{
    return (jclass)(void *)which;
}

#define MOST 8

/* Both forms of the frames; they agree. */
static uint32_t probe_frames(int n, const uint64_t *methods)
{
    struct hpx_ev_frame ours[MOST];
    jvmtiFrameInfo vms[MOST];
    memset(ours, 0, sizeof ours);
    for (int i = 0; i < n; i++) {
        ours[i].method = methods[i];
        vms[i] = (jvmtiFrameInfo){(jmethodID)(void *)(uintptr_t)methods[i], 0};
    }
    uint32_t found = hpx_probe_frames(ours, n);
    assert_int_equal(hpx_probe_frames_vm(vms, n), found);
    return found;
}
#define FRAMES(...) probe_frames(sizeof((uint64_t[])__VA_ARGS__) / 8, (const uint64_t[])__VA_ARGS__)

static bool astray(int n, const uint64_t *methods)
{
    struct hpx_ev_frame frames[MOST];
    memset(frames, 0, sizeof frames);
    for (int i = 0; i < n; i++) {
        frames[i].method = methods[i];
    }
    return hpx_probe_frames_astray(frames, n);
}
#define ASTRAY(...) astray(sizeof((uint64_t[])__VA_ARGS__) / 8, (const uint64_t[])__VA_ARGS__)

TEST(a_class_that_cannot_be_listed_adds_nothing)
{
    assert_false(hpx_probe_frames_add(&jvmti, klass(FAILS)));
    assert_false(hpx_probe_frames_add(&jvmti, klass(TOO_MANY)));
    assert_int_equal(hpx_probe_frames_most(), 0);
    assert_int_equal(blocks, 0);
}

TEST(probes_are_on_top_alone_or_below_what_they_call)
{
    assert_true(hpx_probe_frames_add(&jvmti, klass(NATIVES)));
    assert_int_equal(hpx_probe_frames_most(), HPX_PROBE_FRAMES);
    assert_int_equal(FRAMES({107, 7, 8}), 1);
    assert_int_equal(FRAMES({110, 7, 8}), 0);
    assert_true(hpx_probe_frames_add(&jvmti, klass(DOWNCALLS)));
    assert_int_equal(FRAMES({110, 7, 8}), 1);
    assert_int_equal(FRAMES({100, 112, 7}), 2);
    assert_int_equal(FRAMES({112, 100, 112, 7}), 3); /* the owner of the program counter on top, and again below */
    assert_int_equal(FRAMES({112, 7, 112, 7}), 1);
    assert_int_equal(FRAMES({9, 112, 7}), 2); /* MethodHandle.linkToNative on top */
    assert_int_equal(FRAMES({7, 8, 100}), 0);
    assert_int_equal(FRAMES({108, 7}), 0);
    assert_int_equal(FRAMES({100}), 1);
    assert_int_equal(probe_frames(0, NULL), 0);
    assert_int_equal(probe_frames(-3, NULL), 0); /* no stack, -enum hpx_unknown */
    assert_int_equal(blocks, 0);
}

TEST(a_stack_with_a_probe_in_its_middle_is_not_true)
{
    assert_false(ASTRAY({100, 112, 7, 8}));
    assert_false(ASTRAY({100, 112, 100, 112, 112, 8}));
    assert_true(ASTRAY({100, 7, 112, 8}));
    assert_false(ASTRAY({112, 100, 112, 100, 112, 112, 8})); /* the most, and the topmost twice */
    assert_true(ASTRAY({112, 100, 112, 100, 112, 112, 112, 8}));
    assert_true(ASTRAY({7, 8, 9, 111}));
    assert_false(astray(-3, NULL));
}

TESTS(NULL, NULL)
