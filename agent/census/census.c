/* SPDX-License-Identifier: BSD-2-Clause */
/* census.c: has a copy of the process take a census (census.h). */
#include "census.h"
#include "boot_class.h"
#include "census_ask.h"
#include "census_read.h"
#include "clock.h"
#include "copying.h"
#include "internals.h"
#include "releases.h"
#include "structures.h"
#include "vm.h"
#include "vm_flags.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SHARED   ((size_t)256 << 20) /* bytes that a census may have; what is not used costs nothing */
#define ASKED    ((size_t)64 << 20)  /* the same without a copy */
#define STALL_NS UINT64_C(5000000000)
#define SPIN_NS  UINT64_C(20000000000)
#define FRAME    64 /* local references */

static struct {
    const char *never; /* why names of methods cannot be read; constant from the first session on */
    bool looked;
} vm;

/* The census that is taken. */
static HPX_OF_SESSION struct {
    struct hpx_census_plan plan;
    struct hpx_census *to;
    struct hpx_child child;
    pid_t pid;
    uint64_t fork_ns, checked_ns;
    bool untracked;
    char why[256], both[400];
} taking;

void hpx_census_load(void)
{
    hpx_copying_init();
}

void hpx_census_live(JNIEnv *env)
{
    hpx_copying_measure(env);
    if (!vm.looked) {
        vm.never = hpx_structures_absent();
        vm.never = vm.never != NULL ? vm.never : hpx_census_read_init();
        vm.looked = true;
    }
}

/* ---- what the copy must know ---- */

#define UTIL "java/util/concurrent/"
#define VM   "jdk/internal/vm/"
#define MISC "jdk/internal/misc/"

static const char *add_fields(struct hpx_census_plan *p, JNIEnv *env)
{
    static const struct {
        const char *klass, *name, *signature;
    } fields[HPX_CENSUS_FIELDS] = {
        [HPX_CENSUS_MAP_OF_SET] = {UTIL "ConcurrentHashMap$CollectionView", "map", "L" UTIL "ConcurrentHashMap;"},
        [HPX_CENSUS_TABLE] = {UTIL "ConcurrentHashMap", "table", "[L" UTIL "ConcurrentHashMap$Node;"},
        [HPX_CENSUS_NEXT_TABLE] = {UTIL "ConcurrentHashMap", "nextTable", "[L" UTIL "ConcurrentHashMap$Node;"},
        [HPX_CENSUS_HASH] = {UTIL "ConcurrentHashMap$Node", "hash", "I"},
        [HPX_CENSUS_KEY] = {UTIL "ConcurrentHashMap$Node", "key", "Ljava/lang/Object;"},
        [HPX_CENSUS_NEXT] = {UTIL "ConcurrentHashMap$Node", "next", "L" UTIL "ConcurrentHashMap$Node;"},
        [HPX_CENSUS_FIRST] = {UTIL "ConcurrentHashMap$TreeBin", "first", "L" UTIL "ConcurrentHashMap$TreeNode;"},
        [HPX_CENSUS_FORWARDED] = {UTIL "ConcurrentHashMap$ForwardingNode", "nextTable", "[L" UTIL "ConcurrentHashMap$Node;"},
        [HPX_CENSUS_REFERENT] = {"java/lang/ref/Reference", "referent", "Ljava/lang/Object;"},
        [HPX_CENSUS_OF_EXECUTOR] = {UTIL "ThreadPerTaskExecutor", "threads", "Ljava/util/Set;"},
        [HPX_CENSUS_OF_SHARED] = {VM "SharedThreadContainer", "virtualThreads", "Ljava/util/Set;"},
        [HPX_CENSUS_OF_FLOCK] = {MISC "ThreadFlock", "threads", "Ljava/util/Set;"},
        [HPX_CENSUS_NAME_OF_SHARED] = {VM "SharedThreadContainer", "name", "Ljava/lang/String;"},
        [HPX_CENSUS_NAME_OF_FLOCK] = {MISC "ThreadFlock", "name", "Ljava/lang/String;"},
        [HPX_CENSUS_FLOCK] = {MISC "ThreadFlock$ThreadContainerImpl", "flock", "L" MISC "ThreadFlock;"},
        [HPX_CENSUS_PREVIOUS] = {VM "StackableScope", "previous", "L" VM "StackableScope;"},
        [HPX_CENSUS_SCOPES] = {"java/lang/Thread", "headStackableScopes", "L" VM "StackableScope;"},
        [HPX_CENSUS_TID] = {"java/lang/Thread", "tid", "J"},
        [HPX_CENSUS_EETOP] = {"java/lang/Thread", "eetop", "J"},
        [HPX_CENSUS_NAME] = {"java/lang/Thread", "name", "Ljava/lang/String;"},
        [HPX_CENSUS_BLOCKER] = {"java/lang/Thread", "parkBlocker", "Ljava/lang/Object;"},
        [HPX_CENSUS_STATE] = {"java/lang/VirtualThread", "state", "I"},
        [HPX_CENSUS_CARRIER] = {"java/lang/VirtualThread", "carrierThread", "Ljava/lang/Thread;"},
        [HPX_CENSUS_CONT] = {"java/lang/VirtualThread", "cont", "L" VM "Continuation;"},
        [HPX_CENSUS_TAIL] = {VM "Continuation", "tail", "L" VM "StackChunk;"},
        [HPX_CENSUS_SP] = {VM "StackChunk", "sp", "I"},
        [HPX_CENSUS_VALUE] = {"java/lang/String", "value", "[B"},
        [HPX_CENSUS_CODER] = {"java/lang/String", "coder", "B"},
        [HPX_CENSUS_EXCLUSIVE] = {UTIL "locks/AbstractOwnableSynchronizer", "exclusiveOwnerThread", "Ljava/lang/Thread;"},
    };
    for (int i = 0; i < HPX_CENSUS_FIELDS; i++) {
        jclass c = hpx_boot_class(env, fields[i].klass);
        jfieldID id = hpx_vm_field(env, c, fields[i].name, fields[i].signature);
        (*env)->DeleteLocalRef(env, c);
        if (id == NULL) {
            (void)snprintf(taking.why, sizeof taking.why, "this JDK has no %s.%s", fields[i].klass, fields[i].name);
            return taking.why;
        }
        p->at[i] = hpx_oops_field_at(&p->oops, (uint32_t)(uintptr_t)id);
    }
    return NULL;
}

static void add_states(struct hpx_census_plan *p, JNIEnv *env)
{
    static const struct {
        const char *name;
        enum hpx_thread_status status;
        bool changes;
    } all[] = {{"NEW", HPX_STATUS_NOT_STARTED, false},       {"STARTED", HPX_STATUS_RUNNABLE, false},
               {"RUNNABLE", HPX_STATUS_RUNNABLE, false},     {"RUNNING", HPX_STATUS_RUNNABLE, true},
               {"PARKING", HPX_STATUS_RUNNABLE, true},       {"PARKED", HPX_STATUS_WAITING, false},
               {"PINNED", HPX_STATUS_WAITING, false},        {"TIMED_PARKING", HPX_STATUS_RUNNABLE, true},
               {"TIMED_PARKED", HPX_STATUS_WAITING, false},  {"TIMED_PINNED", HPX_STATUS_WAITING, false},
               {"UNPARKED", HPX_STATUS_RUNNABLE, false},     {"YIELDING", HPX_STATUS_RUNNABLE, true},
               {"YIELDED", HPX_STATUS_RUNNABLE, false},      {"BLOCKING", HPX_STATUS_ENTERING, false},
               {"BLOCKED", HPX_STATUS_ENTERING, false},      {"UNBLOCKED", HPX_STATUS_RUNNABLE, false},
               {"WAITING", HPX_STATUS_WAITING, false},       {"WAIT", HPX_STATUS_WAITING, false},
               {"TIMED_WAITING", HPX_STATUS_WAITING, false}, {"TIMED_WAIT", HPX_STATUS_WAITING, false},
               {"TERMINATED", HPX_STATUS_ENDED, false}};
    _Static_assert(HPX_ARRAY_LEN(all) <= HPX_CENSUS_STATES, "room for all states");
    jclass c = hpx_boot_class(env, "java/lang/VirtualThread");
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        jfieldID id = (*env)->GetStaticFieldID(env, c, all[i].name, "I");
        (*env)->ExceptionClear(env);
        if (id != NULL) {
            p->states[p->nstates].value = (*env)->GetStaticIntField(env, c, id);
            p->states[p->nstates].changes = all[i].changes;
            p->states[p->nstates++].status = all[i].status;
        }
    }
    (*env)->DeleteLocalRef(env, c);
}

/* Objects of different classes in an array, and one of each class that the copy tells apart. */
static bool add_known(struct hpx_census_plan *p, JNIEnv *env)
{
    static const char *const classes[HPX_CENSUS_CLASSES] = {[HPX_CENSUS_VIRTUAL] = "java/lang/VirtualThread",
                                                            [HPX_CENSUS_EXECUTOR] = UTIL "ThreadPerTaskExecutor",
                                                            [HPX_CENSUS_SHARED] = VM "SharedThreadContainer",
                                                            [HPX_CENSUS_OF_SCOPE] = MISC "ThreadFlock$ThreadContainerImpl"};
    jclass object = hpx_boot_class(env, "java/lang/Object");
    p->holder = object != NULL ? (*env)->NewObjectArray(env, HPX_CENSUS_KNOWN, object, NULL) : NULL;
    jbyteArray text = p->holder != NULL ? (*env)->NewByteArray(env, sizeof HPX_CENSUS_TEXT) : NULL;
    bool good = text != NULL;
    if (good) {
        (*env)->SetByteArrayRegion(env, text, 0, sizeof HPX_CENSUS_TEXT, (const jbyte *)HPX_CENSUS_TEXT);
    }
    p->text = text;
    for (int i = 0; good && i < HPX_CENSUS_CLASSES; i++) {
        jclass c = hpx_boot_class(env, classes[i]);
        p->instances[i] = c != NULL ? (*env)->AllocObject(env, c) : NULL;
        good = p->instances[i] != NULL;
        (*env)->DeleteLocalRef(env, c);
    }
    for (int i = 0; good && i < HPX_CENSUS_KNOWN; i++) {
        p->known[i] = i < HPX_CENSUS_CLASSES ? (*env)->NewLocalRef(env, p->instances[i]) : (*env)->AllocObject(env, object);
        good = p->known[i] != NULL;
        if (good) {
            (*env)->SetObjectArrayElement(env, p->holder, i, p->known[i]);
        }
    }
    (*env)->ExceptionClear(env);
    return good;
}

static jobject static_of(JNIEnv *env, const char *klass, const char *name, const char *signature)
{
    jclass c = hpx_boot_class(env, klass);
    jfieldID id = c != NULL ? (*env)->GetStaticFieldID(env, c, name, signature) : NULL;
    jobject o = id != NULL ? (*env)->GetStaticObjectField(env, c, id) : NULL;
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, c);
    return o;
}

static bool is_empty(JNIEnv *env, jobject set)
{
    jclass c = hpx_boot_class(env, "java/util/Set");
    jmethodID empty = c != NULL ? (*env)->GetMethodID(env, c, "isEmpty", "()Z") : NULL;
    bool is = empty != NULL && (*env)->CallBooleanMethod(env, set, empty);
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, c);
    return is;
}

#define TRACKING VM "ThreadContainers$RootContainer$TrackingRootContainer"

static jobject started_directly(JNIEnv *env)
{
    return static_of(env, TRACKING, "VTHREADS", "Ljava/util/Set;");
}

bool hpx_census_any(JNIEnv *env)
{
    jobject all = hpx_vm_release() >= HPX_RELEASE_VIRTUAL ? started_directly(env) : NULL;
    const bool any = all != NULL && !is_empty(env, all);
    (*env)->DeleteLocalRef(env, all);
    return any;
}

/* NULL, or why they are not known; "": the program has no virtual threads, as far as one can tell without a look at all. */
static const char *add_roots(struct hpx_census_plan *p, jvmtiEnv *jvmti, JNIEnv *env)
{
    jint n = 0;
    jclass keeps = hpx_boot_class(env, TRACKING), thread = hpx_boot_class(env, "java/lang/Thread");
    jobject root = static_of(env, VM "ThreadContainers", "ROOT_CONTAINER", "L" VM "ThreadContainers$RootContainer;");
    jfieldID scopes = hpx_vm_field(env, thread, "headStackableScopes", "L" VM "StackableScope;");
    p->roots = started_directly(env);
    p->containers = static_of(env, VM "ThreadContainers", "CONTAINER_REGISTRY", "Ljava/util/Set;");
    if (keeps == NULL || root == NULL || scopes == NULL || p->roots == NULL || p->containers == NULL) {
        return "this JDK keeps them elsewhere";
    }
    taking.untracked = !(*env)->IsInstanceOf(env, root, keeps); /* then the set stays empty */
    if ((*jvmti)->GetAllThreads(jvmti, &n, &p->threads) != JVMTI_ERROR_NONE) {
        p->threads = NULL;
        return "the VM does not list the threads of the platform";
    }
    (void)(*env)->EnsureLocalCapacity(env, n + FRAME);
    (*env)->ExceptionClear(env);
    p->nthreads = (uint32_t)n;
    bool any = !is_empty(env, p->roots) || !is_empty(env, p->containers);
    for (jint i = 0; i < n && !any; i++) {
        jobject scope = (*env)->GetObjectField(env, p->threads[i], scopes);
        any = scope != NULL;
        (*env)->DeleteLocalRef(env, scope);
    }
    return any || taking.untracked ? NULL : "";
}

/* ---- the copy ---- */

static int over(void *unused)
{
    (void)unused;
    return (int)hpx_census_read(&taking.plan, taking.to, &taking.child.shared->progress);
}

/* In the VM operation: parent and child. */
static jint JNICALL on_first(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong referrer_class_tag,
                             jlong size, jlong *tag, jlong *referrer_tag, jint length, void *user)
{
    (void)kind, (void)info, (void)class_tag, (void)referrer_class_tag, (void)size, (void)tag, (void)referrer_tag, (void)length, (void)user;
    if (taking.pid != 0) {
        return JVMTI_VISIT_ABORT;
    }
    uint64_t begun = hpx_clock_mono();
    taking.pid = hpx_child_fork(&taking.child, HPX_FRAME_END());
    if (taking.pid == 0) {
        hpx_child_finish();
    }
    taking.fork_ns = hpx_clock_mono() - begun;
    return JVMTI_VISIT_ABORT;
}

static const char *failed(const char *why)
{
    (void)snprintf(taking.why, sizeof taking.why, "%.250s", why);
    return taking.why;
}

static bool goes_on(void *late, uint64_t progress)
{
    (void)progress;
    return !(*(hpx_census_late *const *)late)();
}

static const char *run_copy(jvmtiEnv *jvmti, struct hpx_copying *copying, hpx_census_late *late)
{
    static const jvmtiHeapCallbacks all = {.heap_reference_callback = on_first};
    static const char *const ends[] = {
        [HPX_CENSUS_NO_MEMORY] = "no memory", [HPX_CENSUS_STRANGE] = "objects are not where they were looked for"};
    static HPX_OF_SESSION struct hpx_err err;
    static HPX_OF_SESSION struct hpx_fork_watch watch;
    if (hpx_child_prepare(&taking.child, hpx_copying_slots(), &err) != 0) {
        return failed(err.msg);
    }
    taking.child.over = over;
    taking.pid = 0;
    hpx_fork_watch_begin(&watch, 0, copying->most + SHARED, NULL);
    uint64_t begun = hpx_clock_mono();
    (void)(*jvmti)->FollowReferences(jvmti, 0, NULL, NULL, &all, NULL);
    taking.to->stop_ns = hpx_clock_mono() - begun;
    if (taking.pid <= 0) {
        hpx_child_release(&taking.child);
        return failed(taking.pid < 0 ? strerror(-taking.pid) : "the VM refused to walk its heap");
    }
    hpx_copying_note(copying, taking.fork_ns);
    watch.pid = taking.pid;
    const struct hpx_child_wait how = {.stall_ns = STALL_NS, .spin_ns = SPIN_NS, .go_on = goes_on, .arg = &late, .watch = &watch};
    struct hpx_child_report report = hpx_child_await(&taking.child, taking.pid, &how);
    const char *why = NULL;
    if (report.end == HPX_CHILD_CANCELLED) {
        why = "the time for questions was over";
    } else if (report.end != HPX_CHILD_ENDED) {
        why = hpx_child_text(&taking.child, report, taking.why, sizeof taking.why);
    } else if (report.value != HPX_CENSUS_WHOLE) {
        why = failed((size_t)report.value < HPX_ARRAY_LEN(ends) ? ends[report.value] : "?");
    }
    hpx_child_release(&taking.child);
    return why;
}

static const char *may_copy(JNIEnv *env, struct hpx_copying *c, const struct hpx_oops *oops)
{
    hpx_copying_ask(c, env, (struct hpx_copying_how){.light = true, .object = (uintptr_t)oops->somewhere, .files = 0});
    if (c->fork.verdict != HPX_FORK_SOUND) {
        return failed(c->fork.text);
    }
    if (c->fork.stop_ns > hpx_session.opt->maxpause_ns) {
        (void)snprintf(taking.why, sizeof taking.why,
                       "to copy the process would stop the program for about %llu ms, and maxpause=%llums allows less",
                       (unsigned long long)(c->fork.stop_ns / 1000000), (unsigned long long)(hpx_session.opt->maxpause_ns / 1000000));
        return taking.why;
    }
    return NULL;
}

/* How far a JNIEnv is from its thread of the VM. */
static void add_self(struct hpx_census_plan *p, jvmtiEnv *jvmti, JNIEnv *env)
{
    jthread self = NULL;
    jclass c = hpx_boot_class(env, "java/lang/Thread");
    jfieldID id = hpx_vm_field(env, c, "eetop", "J");
    if (id != NULL && (*jvmti)->GetCurrentThread(jvmti, &self) == JVMTI_ERROR_NONE) {
        p->env_from_thread = (uintptr_t)env - (uintptr_t)(*env)->GetLongField(env, self, id);
        (*env)->DeleteLocalRef(env, self);
    }
    (*env)->DeleteLocalRef(env, c);
}

/* After the process was asked whether it may be copied: a large mapping that is shared might be the heap. */
static bool make_memory(void)
{
    void *memory = mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) {
        taking.to = memory;
        *taking.to = (struct hpx_census){.size = SHARED};
    }
    return memory != MAP_FAILED;
}

/* Puts memory of this process alone in the place of what the copy has written, and gives the rest back: the next who asks whether the
 * process may be copied would take the large shared mapping for the heap. */
static bool make_own(size_t *mapped)
{
    void *memory = taking.to;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), used = (taking.to->used + page - 1) / page * page;
    void *own = mmap(NULL, used, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED) {
        return false;
    }
    memcpy(own, memory, used);
    bool shrunk = mremap(memory, SHARED, used, 0) != MAP_FAILED;
    *mapped = shrunk ? used : SHARED;
    if (!shrunk || mremap(own, used, used, MREMAP_MAYMOVE | MREMAP_FIXED, memory) == MAP_FAILED) {
        (void)munmap(own, used);
        return false;
    }
    taking.to->size = used;
    return true;
}

/* Instead of a copy, because of that, of the sets that add_roots() has found. NULL, or why there is no census all the same. */
static const char *ask_all(jvmtiEnv *jvmti, JNIEnv *env, hpx_census_late *late, const char *refused)
{
    struct hpx_census_plan *p = &taking.plan;
    void *memory = mmap(NULL, ASKED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return refused;
    }
    p->nstates = 0;
    add_states(p, env);
    taking.to = memory;
    *taking.to = (struct hpx_census){.size = ASKED, .asked = refused};
    const char *why = hpx_census_ask(env, jvmti, p, taking.to, late);
    if (why == NULL) {
        return NULL;
    }
    (void)munmap(memory, ASKED);
    (void)snprintf(taking.both, sizeof taking.both, "%.150s; they were not asked one by one either: %s", refused, why);
    return taking.both;
}

static const char *take(jvmtiEnv *jvmti, JNIEnv *env, uint32_t depth, hpx_census_late *late)
{
    struct hpx_copying copying;
    struct hpx_census_plan *p = &taking.plan;
    memset(p, 0, sizeof *p);
    p->depth = depth;
    p->narrow = hpx_vm_flag("UseCompressedOops", true);
    const char *why = add_roots(p, jvmti, env);
    why = why != NULL ? why : vm.never;
    why = why != NULL ? why : hpx_internals_closed();
    why = why != NULL ? why : hpx_census_read_off();
    if (why != NULL) {
        return why;
    }
    const uint64_t begun = hpx_clock_mono();
    why = hpx_oops_check(&p->oops, jvmti, env);
    taking.checked_ns = hpx_clock_mono() - begun;
    if (why == NULL && (p->oops.high == 0 || p->oops.field_shift == 0)) {
        why = "fields of objects are not where they were looked for";
    }
    why = why != NULL ? why : add_fields(p, env);
    why = why != NULL ? why : may_copy(env, &copying, &p->oops);
    if (why != NULL) {
        return why;
    }
    add_states(p, env);
    add_self(p, jvmti, env);
    if (!add_known(p, env) || !make_memory()) {
        return "no memory";
    }
    why = run_copy(jvmti, &copying, late);
    size_t mapped = SHARED;
    if (why != NULL || !make_own(&mapped)) {
        (void)munmap(taking.to, mapped);
        return why != NULL ? why : "no memory";
    }
    return NULL;
}

struct hpx_census *hpx_census_take(JNIEnv *env, uint32_t depth, hpx_census_late *late, const char **why)
{
    const jvmtiCapabilities tags = {.can_tag_objects = 1};
    *why = NULL;
    if (hpx_vm_release() < HPX_RELEASE_VIRTUAL) {
        return NULL;
    }
    uint64_t begun = hpx_clock_mono();
    jvmtiEnv *jvmti = hpx_vm_environment(&tags);
    if (jvmti == NULL || (*env)->PushLocalFrame(env, FRAME) != 0) {
        (*env)->ExceptionClear(env);
        *why = "no memory";
    } else {
        *why = take(jvmti, env, depth, late);
        if (*why != NULL && **why != '\0' && taking.plan.threads != NULL && !late()) {
            *why = ask_all(jvmti, env, late, *why);
        }
        (*env)->PopLocalFrame(env, NULL);
        if (taking.plan.threads != NULL) {
            (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)taking.plan.threads);
        }
    }
    if (jvmti != NULL) {
        (void)(*jvmti)->DisposeEnvironment(jvmti);
    }
    if (*why != NULL) {
        *why = **why != '\0' ? *why : NULL;
        return NULL;
    }
    taking.to->checked_ns = taking.to->asked == NULL ? taking.checked_ns : 0;
    taking.to->untracked = taking.untracked;
    taking.to->ns = hpx_clock_mono() - begun;
    return taking.to;
}

void hpx_census_drop(struct hpx_census *c)
{
    (void)munmap(c, c->size);
}
