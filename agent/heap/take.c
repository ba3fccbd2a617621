/* SPDX-License-Identifier: BSD-2-Clause */
/* take.c: see take.h. */
#include "take.h"
#include "child.h"
#include "class_number.h"
#include "clock.h"
#include "fork_check.h"
#include "log.h"
#include "out_file.h"
#include "session.h"
#include "vm_flags.h"
#include "walk.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ATTEMPTS     4   /* a class may be loaded between the list of classes and the walk */
#define OBJECT_BYTES 40u /* of the heap, for the estimate of the number of objects */
#define STALL_NS     UINT64_C(20000000000)
#define SPIN_NS      UINT64_C(120000000000)

static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hpx_heap_take *ready; /* the lock's: complete, oldest first */
static struct hpx_child_slots slots;
static bool can_fork;                  /* constant from load on */
static uint32_t array_base, reference; /* constant once measured, which is at VMInit or before */
static jclass runtime_class;           /* the same */
static jmethodID get_runtime, total_memory, free_memory;

/* The image whose copy of the process still walks; of the thread that holds `taking`. */
static struct running {
    struct hpx_heap_take *take;
    struct hpx_walk walk;
    struct hpx_child child;
    pid_t pid;
    uint64_t begun;
} running;

void hpx_take_init(void)
{
    static struct hpx_err err;
    can_fork = hpx_child_find(&slots, (const void *)(uintptr_t)(*hpx_vm.jvmti)->FollowReferences, &err) == 0;
}

/* ---- the spool ---- */

/* A file without a name in this folder. -1: none (errno). */
static int unnamed_in(const char *folder)
{
    char name[PATH_MAX];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || snprintf(name, sizeof name, "%s/.hprofx.%ld.XXXXXX", folder, (long)getpid()) >= (int)sizeof name) {
        return fd;
    }
    fd = mkostemp(name, O_CLOEXEC); /* a file system without unnamed files */
    if (fd >= 0) {
        (void)unlink(name);
    }
    return fd;
}

/* Beside the output, where there is room for the dump; for a socket, FIFO or device the folder for temporary files. */
static int open_spool(void)
{
    char file[PATH_MAX];
    bool beside = hpx_session.opt.net == NULL && hpx_name_expand(file, sizeof file, hpx_session.opt.file, hpx_session.start) == 0;
    char *slash = beside ? strrchr(file, '/') : NULL;
    const char *folder = slash == NULL ? "." : slash == file ? "/" : file;
    if (slash != NULL) {
        *slash = 0;
    }
    int fd = beside && strcmp(folder, "/dev") != 0 ? unnamed_in(folder) : -1;
    if (fd < 0) {
        const char *other = getenv("TMPDIR");
        fd = unnamed_in(other != NULL && other[0] == '/' ? other : "/tmp");
    }
    return fd;
}

/* ---- one walk ---- */

static bool prepare_walk(struct hpx_walk *w, struct hpx_heap_take *t)
{
    const struct hpx_options *o = &hpx_session.opt;
    const struct hpx_layout *l = &t->layout;
    *w = (struct hpx_walk){.tags = &hpx_ids.walk,
                           .classes = l->classes,
                           .nclasses = l->nclasses,
                           .class_class = l->class_class,
                           .object_class = l->object_class,
                           .string_class = l->string_class,
                           .thread_ids = l->thread_ids,
                           .nthreads = l->nthreads,
                           .fields = (o->redact & HPX_REDACT_FIELDS) != 0,
                           .arrays = (o->redact & HPX_REDACT_ARRAYS) != 0,
                           .strings = (o->redact & HPX_REDACT_STRINGS) != 0,
                           .keeps = o->redact != 0 && o->keep != NULL,
                           .primitive_fields = o->primfields,
                           .primitive_arrays = o->primarrays,
                           .vm_size = calloc((size_t)l->nclasses + 1, sizeof *w->vm_size)};
    t->image.spool = open_spool();
    if (t->image.spool < 0) {
        t->failed = "no file for the objects can be made beside the output or in TMPDIR";
    } else if (w->vm_size == NULL || hpx_heap_spool_init(&w->spool, t->image.spool, t->image.id_size, l->largest) != 0) {
        t->failed = "no memory";
    }
    return t->failed == NULL;
}

static void end_walk(struct hpx_walk *w)
{
    free(w->vm_size);
    w->vm_size = NULL;
    hpx_walk_fini(w);
}

/* Figures of a walk, as the child passes them on. */
enum { OBJECTS, BYTES, HEADS, UNKNOWN, CUT, OBJECTS_END, FACTS_AT, FACTS, ROOTS_AT, ROOTS, FIGURES };
_Static_assert(FIGURES <= HPX_CHILD_FIGURES, "the child passes all figures on");
static const char *const ends[] = {NULL, "no memory for the walk", "the disk is full, or cannot be written",
                                   "too many objects for idsize=4; use idsize=8", "the VM walked the heap in an unknown way"};

static void put_figures(const struct hpx_walk *w, uint64_t to[static FIGURES])
{
    to[OBJECTS] = w->objects;
    to[BYTES] = w->bytes;
    to[HEADS] = w->heads;
    to[UNKNOWN] = w->unknown;
    to[CUT] = w->cut;
    to[OBJECTS_END] = w->objects_end;
    to[FACTS_AT] = w->facts_at;
    to[FACTS] = w->facts.len;
    to[ROOTS_AT] = w->roots_at;
    to[ROOTS] = w->roots.len;
}

static void get_figures(struct hpx_heap_take *t, const uint64_t from[static FIGURES])
{
    struct hpx_heap_image *i = &t->image;
    i->objects = from[OBJECTS];
    i->bytes = from[BYTES];
    i->shown_bytes = from[BYTES] - from[HEADS];
    t->unknown = from[UNKNOWN];
    t->cut = from[CUT];
    i->objects_end = from[OBJECTS_END];
    i->facts_at = from[FACTS_AT];
    i->nfacts = from[FACTS];
    i->roots_at = from[ROOTS_AT];
    i->nroots = from[ROOTS];
}

/* In a VM operation: only counters and memory of ours. */
static jint JNICALL restore(jlong class_tag, jlong size, jlong *tag, jint length, void *unused)
{
    (void)class_tag, (void)size, (void)length, (void)unused;
    if (hpx_walk_is((uint64_t)*tag)) {
        *tag = (jlong)hpx_walk_plain(&hpx_ids.walk, (uint64_t)*tag);
    }
    return JVMTI_VISIT_OBJECTS;
}

/* Objects get the tags that they had. */
static void restore_tags(jvmtiEnv *jvmti)
{
    jvmtiHeapCallbacks all;
    memset(&all, 0, sizeof all);
    all.heap_iteration_callback = restore;
    (void)(*jvmti)->IterateThroughHeap(jvmti, JVMTI_HEAP_FILTER_UNTAGGED, NULL, &all, NULL);
}

/* The program stands still until the walk is over. */
static void walk_here(jvmtiEnv *jvmti, struct hpx_heap_take *t, struct hpx_walk *w)
{
    uint64_t begun = hpx_clock_mono(), figures[FIGURES];
    t->engine = "walk";
    jvmtiError e = hpx_walk_follow(jvmti, w);
    bool whole = hpx_walk_finish(w) && e == JVMTI_ERROR_NONE;
    put_figures(w, figures);
    get_figures(t, figures);
    t->failed = w->failed != NULL ? w->failed : whole ? NULL : "the VM refused to walk the heap";
    if (!t->last) { /* at the exit nobody reads them any more but by way of the walk's */
        restore_tags(jvmti);
    }
    t->stopped_ns += hpx_clock_mono() - begun;
}

/* ---- fork ---- */

static int status_of(const char *failed)
{
    for (size_t i = 1; failed != NULL && i < HPX_ARRAY_LEN(ends); i++) {
        if (strcmp(failed, ends[i]) == 0) {
            return (int)i;
        }
    }
    return failed != NULL ? (int)HPX_ARRAY_LEN(ends) - 1 : 0;
}

/* In the child, after the walk. */
static int child_over(void *arg)
{
    struct running *r = arg;
    uint64_t figures[FIGURES];
    (void)hpx_walk_finish(&r->walk);
    put_figures(&r->walk, figures);
    for (int i = 0; i < FIGURES; i++) {
        atomic_store_explicit(&r->child.shared->figure[i], figures[i], memory_order_relaxed);
    }
    return status_of(r->walk.failed);
}

/* In the VM operation: parent and child. */
static jint fork_first(struct hpx_walk *w, const void *frame)
{
    (void)w;
    running.pid = hpx_child_fork(&running.child, frame);
    return running.pid == 0 ? JVMTI_VISIT_OBJECTS : JVMTI_VISIT_ABORT;
}

static uint64_t call(JNIEnv *env, jobject runtime, jmethodID method)
{
    jlong n = method != NULL ? (*env)->CallLongMethod(env, runtime, method) : 0;
    (*env)->ExceptionClear(env);
    return n > 0 ? (uint64_t)n : 0;
}

/* Bytes of the heap in use, and of the whole heap. */
static uint64_t heap_bytes(JNIEnv *env, uint64_t *committed)
{
    jobject runtime = runtime_class != NULL && get_runtime != NULL ? (*env)->CallStaticObjectMethod(env, runtime_class, get_runtime) : NULL;
    (*env)->ExceptionClear(env);
    uint64_t all = runtime != NULL ? call(env, runtime, total_memory) : 0, unused = runtime != NULL ? call(env, runtime, free_memory) : 0;
    (*env)->DeleteLocalRef(env, runtime);
    return (*committed = all) > unused ? all - unused : 0;
}

static const char *why_not_fork(JNIEnv *env) /* NULL: a fork is sound */
{
    if (!can_fork) {
        return "this VM cannot be copied";
    }
    static struct hpx_fork_answer a; /* of the thread that holds `taking` */
    struct hpx_fork_query q = {.zgc = hpx_vm_flag("UseZGC", false), .careful = hpx_session.opt.heapdump == HPX_HEAPDUMP_AUTO};
    q.objects = (q.heap_used = heap_bytes(env, &q.heap_committed)) / OBJECT_BYTES;
    hpx_fork_check(&q, &a);
    return a.verdict == HPX_FORK_SOUND ? NULL : a.text;
}

/* false: no child walks. */
static bool walk_in_child(jvmtiEnv *jvmti, struct hpx_heap_take *t)
{
    static int keep[1];
    static struct hpx_err err;
    struct running *r = &running;
    if (hpx_child_prepare(&r->child, &slots, &err) != 0) {
        snprintf(t->reason, sizeof t->reason, "%.200s", err.msg);
        return false;
    }
    keep[0] = t->image.spool;
    r->child.over = child_over;
    r->child.arg = r;
    r->child.keep = keep;
    r->child.nkeep = 1;
    r->walk.progress = &r->child.shared->progress;
    r->walk.first = fork_first;
    r->take = t;
    r->pid = 0;
    r->begun = hpx_clock_mono();
    t->engine = "fork";
    jvmtiError e = hpx_walk_follow(jvmti, &r->walk);
    t->stopped_ns += hpx_clock_mono() - r->begun;
    hpx_layout_untag(&t->layout, jvmti, &hpx_ids.walk);
    r->walk.progress = NULL;
    r->walk.first = NULL;
    if (e != JVMTI_ERROR_NONE || r->pid <= 0) {
        snprintf(t->reason, sizeof t->reason, "the copy of the process failed: %s", r->pid < 0 ? strerror(-r->pid) : hpx_jvmti_error(e));
        hpx_child_release(&r->child);
        r->take = NULL;
        return false;
    }
    return true;
}

static bool show_progress(void *arg, uint64_t objects)
{
    static uint64_t shown;
    uint64_t now = hpx_clock_mono();
    (void)arg;
    if (now - shown > UINT64_C(1000000000)) {
        shown = now;
        char line[80];
        int n = snprintf(line, sizeof line, "\rhprofx: heap dump: %" PRIu64 " objects ", objects);
        if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0) {
            shown = UINT64_MAX - UINT64_C(2000000000);
        }
    }
    return true;
}

/* Waits for the child. false: it has no image; t->reason. */
static bool await_child(struct hpx_heap_take *t)
{
    struct running *r = &running;
    bool terminal = hpx_session.opt.verbose && isatty(STDERR_FILENO);
    const struct hpx_child_wait how = {.stall_ns = STALL_NS, .spin_ns = SPIN_NS, .go_on = terminal ? show_progress : NULL};
    struct hpx_child_report end = hpx_child_await(&r->child, r->pid, &how);
    uint64_t figures[FIGURES];
    char text[160];
    for (int i = 0; i < FIGURES; i++) {
        figures[i] = atomic_load_explicit(&r->child.shared->figure[i], memory_order_relaxed);
    }
    if (terminal) {
        ssize_t ignored = write(STDERR_FILENO, "\r\033[K", 4);
        (void)ignored;
    }
    bool ended = end.end == HPX_CHILD_ENDED;
    if (!ended) {
        snprintf(t->reason, sizeof t->reason, "%s", hpx_child_text(&r->child, end, text, sizeof text));
    } else if (end.value != 0) {
        t->failed = end.value < (int)HPX_ARRAY_LEN(ends) ? ends[end.value] : "the copy of the process failed";
    } else {
        get_figures(t, figures);
    }
    hpx_child_release(&r->child);
    r->take = NULL;
    return ended;
}

/* ---- an image ---- */

static void discard(struct hpx_heap_take *t)
{
    if (t->image.spool >= 0) {
        close(t->image.spool);
    }
    t->image.spool = -1;
    hpx_layout_fini(&t->layout);
    memset(&t->layout, 0, sizeof t->layout);
}

/* The layout of classes and threads, and the spool; in a local frame. */
static bool prepare(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_heap_take *t)
{
    discard(t);
    hpx_walk_begin(&hpx_ids.walk);
    int rc = hpx_layout_make(&t->layout, jvmti, env, &hpx_ids.walk, t->of_error);
    if (rc != 0) {
        t->failed = rc == -HPX_E_NOMEM ? "no memory" : "the VM does not list its classes";
        hpx_layout_untag(&t->layout, jvmti, &hpx_ids.walk);
        return false;
    }
    t->image.classes = t->layout.classes;
    t->image.nclasses = t->layout.nclasses;
    t->image.threads = t->layout.threads;
    t->image.nthreads = t->layout.nthreads;
    return prepare_walk(&running.walk, t);
}

static bool wants_fork(JNIEnv *env, struct hpx_heap_take *t)
{
    enum hpx_heapdump how = hpx_session.opt.heapdump;
    if (how == HPX_HEAPDUMP_WALK || (how == HPX_HEAPDUMP_AUTO && t->last)) {
        return false; /* at the exit there is no program to stop */
    }
    const char *why = why_not_fork(env);
    if (why != NULL) {
        snprintf(t->reason, sizeof t->reason, "%s", why);
        if (how == HPX_HEAPDUMP_FORK) {
            hpx_warn("heapdump=fork: %s; the program stops while the heap is read", t->reason);
        }
    }
    return why == NULL;
}

/* One attempt. false: it needs no more of them, or t->failed. */
static bool attempt(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_heap_take *t, bool forks)
{
    bool child = false;
    if ((*env)->PushLocalFrame(env, 64) != 0) {
        (*env)->ExceptionClear(env);
        t->failed = "no memory";
        return false;
    }
    if (prepare(jvmti, env, t)) {
        child = forks && walk_in_child(jvmti, t);
        if (!child) {
            if (forks) {
                hpx_warn("heap dump: %s; the program stops while the heap is read", t->reason);
            }
            walk_here(jvmti, t, &running.walk);
        }
    }
    if (!child) {
        end_walk(&running.walk);
    }
    (*env)->PopLocalFrame(env, NULL);
    return child;
}

static jlong size_of_array(jvmtiEnv *jvmti, JNIEnv *env, jclass object, jsize n)
{
    jlong size = 0;
    jobject a = (*env)->NewObjectArray(env, n, object, NULL);
    if (a == NULL || (*jvmti)->GetObjectSize(jvmti, a, &size) != JVMTI_ERROR_NONE) {
        (*env)->ExceptionClear(env);
        size = 0;
    }
    (*env)->DeleteLocalRef(env, a);
    return size;
}

/* At VMInit, or by a dump that is due before it is over. */
static void measure(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (reference != 0) {
        return;
    }
    jclass object = (*env)->FindClass(env, "java/lang/Object"), runtime = (*env)->FindClass(env, "java/lang/Runtime");
    jlong small = size_of_array(jvmti, env, object, 64), next = size_of_array(jvmti, env, object, 65),
          large = size_of_array(jvmti, env, object, 128);
    reference = (uint32_t)((large - small) / 64);
    /* the VM rounds sizes to 8 bytes */
    array_base = (uint32_t)(small - 64 * (jlong)reference) - (reference == 4 && next == small ? 4 : 0);
    runtime_class = runtime != NULL ? (*env)->NewGlobalRef(env, runtime) : NULL;
    get_runtime = runtime != NULL ? (*env)->GetStaticMethodID(env, runtime, "getRuntime", "()Ljava/lang/Runtime;") : NULL;
    total_memory = runtime != NULL ? (*env)->GetMethodID(env, runtime, "totalMemory", "()J") : NULL;
    free_memory = runtime != NULL ? (*env)->GetMethodID(env, runtime, "freeMemory", "()J") : NULL;
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, runtime);
    (*env)->DeleteLocalRef(env, object);
}

static struct hpx_heap_take *new_take(bool last)
{
    struct hpx_heap_take *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return NULL;
    }
    t->last = last;
    t->engine = "walk";
    t->image = (struct hpx_heap_image){.spool = -1,
                                       .once = !last,
                                       .id_size = hpx_session.opt.binary ? hpx_session.opt.idsize : 8,
                                       .array_base = array_base,
                                       .reference_size = reference};
    return t;
}

static void publish(struct hpx_heap_take *t)
{
    struct hpx_heap_take **end = &ready;
    if (t->failed != NULL) {
        discard(t);
        hpx_warn("heap dump: %s; this dump has no heap; free memory or disk space and ask again", t->failed);
    }
    if (t->failed == NULL && t->cut > 0) {
        hpx_warn("heap dump: %" PRIu64 " arrays of 4 GiB or more are cut: a record of the format cannot hold them", t->cut);
    }
    pthread_mutex_lock(&lock);
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = t;
    pthread_mutex_unlock(&lock);
}

/* Completes an image that a child may be walking for. */
static void complete(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_heap_take *t, uint64_t begun, bool child)
{
    for (int i = 1; t->failed == NULL; i++) {
        if (child) {
            bool ended = await_child(t);
            end_walk(&running.walk);
            if (!ended) {
                hpx_warn("heap dump: %s; the heap is read again, and the program stops meanwhile", t->reason);
                child = attempt(jvmti, env, t, false);
                continue;
            }
        }
        if (t->unknown == 0 || i >= ATTEMPTS || t->failed != NULL || (t->of_error && strcmp(t->engine, "fork") == 0)) {
            break;
        }
        if (t->last) {
            restore_tags(jvmti);
        }
        child = attempt(jvmti, env, t, strcmp(t->engine, "fork") == 0);
    }
    t->ns = hpx_clock_mono() - begun;
    publish(t);
}

void hpx_take_now(jvmtiEnv *jvmti, JNIEnv *env, bool last)
{
    pthread_mutex_lock(&taking);
    measure(jvmti, env);
    if (running.take != NULL) {
        complete(jvmti, env, running.take, running.begun, true);
        if (!last) {
            pthread_mutex_unlock(&taking);
            return;
        }
    }
    struct hpx_heap_take *t = last || !hpx_take_waits() ? new_take(last) : NULL;
    if (t != NULL) {
        uint64_t begun = hpx_clock_mono();
        complete(jvmti, env, t, begun, attempt(jvmti, env, t, wants_fork(env, t)));
    }
    pthread_mutex_unlock(&taking);
}

void hpx_take_begin(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (pthread_mutex_trylock(&taking) != 0) {
        return; /* a thread takes one now: it may be the calling thread, for which Java has no memory */
    }
    struct hpx_heap_take *t = running.take == NULL ? new_take(false) : NULL;
    uint64_t begun = hpx_clock_mono();
    if (t != NULL) {
        t->of_error = true;
    }
    if (t != NULL && !attempt(jvmti, env, t, wants_fork(env, t))) {
        complete(jvmti, env, t, begun, false);
    }
    pthread_mutex_unlock(&taking);
}

bool hpx_take_waits(void)
{
    pthread_mutex_lock(&lock);
    bool waits = ready != NULL;
    pthread_mutex_unlock(&lock);
    return waits;
}

struct hpx_heap_take *hpx_take_get(void)
{
    pthread_mutex_lock(&lock);
    struct hpx_heap_take *t = ready;
    if (t != NULL) {
        t->users++;
        ready = t->last ? t : t->next;
    }
    pthread_mutex_unlock(&lock);
    return t;
}

static void destroy(struct hpx_heap_take *t)
{
    discard(t);
    free(t->image.sites);
    free(t);
}

void hpx_take_drop(struct hpx_heap_take *t)
{
    pthread_mutex_lock(&lock);
    bool unused = --t->users == 0 && ready != t;
    pthread_mutex_unlock(&lock);
    if (unused) {
        destroy(t);
    }
}

void hpx_take_fini(void)
{
    while (ready != NULL) {
        struct hpx_heap_take *t = ready;
        ready = t->next;
        destroy(t);
    }
    hpx_layout_forget();
}

void hpx_take_measure(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (pthread_mutex_trylock(&taking) == 0) { /* else a dump is taken, and has measured */
        measure(jvmti, env);
        pthread_mutex_unlock(&taking);
    }
}

void hpx_take_learn(jvmtiEnv *jvmti, JNIEnv *env)
{
    pthread_mutex_lock(&taking);
    if ((*env)->PushLocalFrame(env, 64) == 0) {
        hpx_layout_learn(jvmti, env);
        (*env)->PopLocalFrame(env, NULL);
    }
    (*env)->ExceptionClear(env);
    pthread_mutex_unlock(&taking);
}
