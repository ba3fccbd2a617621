/* SPDX-License-Identifier: BSD-2-Clause */
/* reading.c: see reading.h. */
#include "reading.h"
#include "clock.h"
#include "copying.h"
#include "internals.h"
#include "log.h"
#include "output.h"
#include "releases.h"
#include "trial.h"
#include "vm.h"
#include "vm_flags.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define HELPER_ROOM      (UINT64_C(1) << 20) /* bytes that the heap must have free */
#define ALONE            65536               /* objects: a few ms */
#define STALL_NS         UINT64_C(20000000000)
#define LAST_THAT_RESETS 17     /* the last release whose walks end with one through the whole heap */
#define HEAD_ROOM        131072 /* bytes for roots and the rest of a head */
#define THREAD_ROOM      2048u  /* the same of a thread: records of its stack, and the roots in it */
#define CLASS_ROOM       384u   /* the same of a class, without ids and fields: some 30 constants; 2,900 classes of JDK 25 had 12 each */
#define SPIN_NS          UINT64_C(120000000000)

/* The reading. The taking thread's, but for what hpx_reading_await() writes before it returns. */
static HPX_OF_SESSION struct {
    struct hpx_walk walk;
    jvmtiEnv *other; /* the walking environment, if it is not that of the modes */
    struct hpx_child child;
    pid_t pid;
    struct hpx_child_report report;
    struct hpx_fork_watch watch;
    _Atomic bool cancel; /* relaxed */
    uint64_t begun, fork_ns;
} reading;

/* Of the check at VMInit. */
static struct {
    bool done;
    const char *doubt;
    struct hpx_oops oops;
} learnt;

void hpx_reading_learn(jvmtiEnv *jvmti, JNIEnv *env)
{
    learnt.doubt = hpx_oops_check(&learnt.oops, jvmti, env);
    learnt.done = true;
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
    bool beside = hpx_output_name(file, sizeof file, 0) == 0;
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

/* Bytes of a file with nothing but this dump before its objects: names, roots, classes. What remains of them is a hole in the file. 0: the
 * spool cannot become the output. */
static uint64_t room_for_head(const struct hpx_heap_image *i)
{
    const uint64_t id = i->id_size, name = HPX_RECORD_HEAD + id;
    const struct hpx_options *o = hpx_session.opt;
    if (!o->binary || o->net != NULL || hpx_session.in_effect.gz || hpx_reading_sited() || reading.other == NULL) {
        return 0; /* with the tags of other modes objects may have sites */
    }
    uint64_t n = HEAD_ROOM + (uint64_t)THREAD_ROOM * i->nthreads;
    for (uint32_t k = 0; k < i->nclasses; k++) {
        const struct hpx_heap_klass *c = i->classes[k];
        n += c != NULL ? name + c->name.len + CLASS_ROOM + 8 * id : 0;
        for (uint32_t f = 0; c != NULL && f < c->nfields; f++) {
            n += name + c->fields[f].name.len + id + 9;
        }
    }
    return n >> 26 == 0 ? n : 0; /* readers hold what is left of it as a string */
}

/* ---- before the walk ---- */

static void set_walk(struct hpx_walk *w, const struct hpx_heap_take *t, const struct hpx_heap_sizes *sizes)
{
    const struct hpx_options *o = hpx_session.opt;
    uint32_t room = 1024;
    while (room < 2 * t->layout.loaded) {
        room *= 2;
    }
    *w = (struct hpx_walk){.by_tags = t->by_tags,
                           .layout = &t->layout,
                           .array_base = sizes->array_base,
                           .reference_size = sizes->reference,
                           .alignment = sizes->alignment,
                           .flattened = sizes->flattened,
                           .fields = (o->redact & HPX_REDACT_FIELDS) != 0,
                           .arrays = (o->redact & HPX_REDACT_ARRAYS) != 0,
                           .strings = (o->redact & HPX_REDACT_STRINGS) != 0,
                           .keeps = o->redact != 0 && o->keep != NULL,
                           .primitive_fields = o->primfields,
                           .primitive_arrays = o->primarrays,
                           .wide = o->binary && o->idsize == 8,
                           .classes_room = room,
                           .classes = calloc(room, sizeof *w->classes)};
}

/* By addresses, if they are where they are expected; else in an environment for tags. false: the VM refuses that. */
static bool choose_keys(struct hpx_heap_take *t, struct hpx_walk *w, jvmtiEnv *jvmti, JNIEnv *env)
{
    const char *doubt = w->by_tags ? NULL : hpx_internals_closed();
    if (doubt != NULL) {
        w->by_tags = true;
    } else if (!w->by_tags && t->of_error && learnt.done) { /* there is no memory to make objects */
        doubt = learnt.doubt;
        w->oops = learnt.oops;
    } else if (!w->by_tags && learnt.done && hpx_vm_release() <= LAST_THAT_RESETS) {
        w->oops = learnt.oops;
        doubt = learnt.doubt != NULL ? learnt.doubt : hpx_oops_check_roots(&w->oops, jvmti, env);
    } else if (!w->by_tags) {
        doubt = hpx_oops_check(&w->oops, jvmti, env);
    }
    w->oops.views = hpx_vm_flag("UseZGC", false);
    w->moves = hpx_vm_flag("UseShenandoahGC", false);
    w->oops.class_half = !hpx_vm_flag("UseCompressedClassPointers", true);
    w->by_tags = w->by_tags || doubt != NULL;
    w->flattened = w->flattened && !w->by_tags;
    t->by_tags = w->by_tags;
    if (doubt != NULL) {
        snprintf(t->course.doubt, sizeof t->course.doubt, "%s", doubt);
    }
    reading.other = NULL;
    if (w->by_tags || !hpx_reading_sited()) {
        reading.other = hpx_layout_environment(&t->layout, w->by_tags);
    }
    w->spool.first_end = t->image.head = room_for_head(&t->image);
    return !w->by_tags || reading.other != NULL;
}

static bool failed(struct hpx_heap_take *t, const char *why)
{
    snprintf(t->course.why, sizeof t->course.why, "%.250s", why);
    return false;
}

bool hpx_reading_prepare(struct hpx_heap_take *t, jvmtiEnv *jvmti, JNIEnv *env, const struct hpx_heap_sizes *sizes)
{
    struct hpx_heap_image *i = &t->image;
    struct hpx_walk *w = &reading.walk;
    int rc = hpx_layout_make(&t->layout, jvmti, env, t->of_error);
    if (rc != 0) {
        return failed(t, rc == -HPX_E_NOMEM ? "no memory" : "the VM does not list its classes");
    }
    i->classes = t->layout.classes;
    i->nclasses = t->layout.nclasses;
    i->threads = t->layout.threads;
    i->nthreads = t->layout.nthreads;
    i->array_base = sizes->array_base;
    i->reference_size = sizes->reference;
    i->spool = open_spool();
    if (i->spool < 0) {
        return failed(t, "no file for the objects can be made beside the output or in TMPDIR");
    }
    set_walk(w, t, sizes);
    reading.report = (struct hpx_child_report){.end = HPX_CHILD_RUNS}; /* until it is walked */
    if (w->classes == NULL || hpx_heap_spool_init(&w->spool, i->spool, i->id_size, t->layout.largest) != 0) {
        return failed(t, "no memory");
    }
    return choose_keys(t, w, jvmti, env) || failed(t, "the VM refuses an environment for tags");
}

static void dispose_other(void)
{
    if (reading.other != NULL) {
        (void)(*reading.other)->DisposeEnvironment(reading.other); /* and with it the tags */
        reading.other = NULL;
    }
}

static void follow(jvmtiEnv *jvmti)
{
    hpx_walk_follow(reading.other != NULL ? reading.other : jvmti, &reading.walk);
    dispose_other();
}

/* ---- here ---- */

void hpx_reading_here(struct hpx_heap_take *t, jvmtiEnv *jvmti)
{
    uint64_t begun = hpx_clock_mono();
    t->course.forked = t->course.traced = false;
    reading.report = (struct hpx_child_report){.end = HPX_CHILD_ENDED};
    follow(jvmti);
    hpx_walk_finish(&reading.walk);
    t->walk_ns = hpx_clock_mono() - begun;
    t->course.stopped_ns += t->walk_ns;
}

/* ---- in a copy ---- */

#define FIGURES (sizeof(struct hpx_heap_found) / sizeof(uint64_t))
_Static_assert(FIGURES <= HPX_CHILD_FIGURES, "the child passes all figures on");

/* In the child, after the walk. */
static int child_over(void *unused)
{
    uint64_t figures[FIGURES];
    (void)unused;
    hpx_walk_finish(&reading.walk);
    memcpy(figures, &reading.walk.found, sizeof figures);
    for (size_t i = 0; i < FIGURES; i++) {
        atomic_store_explicit(&reading.child.shared->figure[i], figures[i], memory_order_relaxed);
    }
    return (int)reading.walk.end;
}

/* In the VM operation: parent and child. */
static jint fork_first(struct hpx_walk *w, const void *frame)
{
    uint64_t begun = hpx_clock_mono();
    reading.pid = hpx_child_fork(&reading.child, frame);
    w->last = reading.pid == 0 ? hpx_child_finish : NULL;
    reading.fork_ns = hpx_clock_mono() - begun;
    return reading.pid == 0 ? JVMTI_VISIT_OBJECTS : JVMTI_VISIT_ABORT;
}

/* Without tags, as a trace is not told any. */
static bool readable(const struct hpx_walk *w)
{
    const int release = hpx_vm_release();
    const bool mark = !w->moves || (release >= 11 && release != 12); /* before, Shenandoah had the address of the new copy elsewhere */
    return !w->by_tags && !w->keeps && !w->oops.views && w->oops.high != 0 && w->oops.field_shift != 0 && mark;
}

/* The helper of a trace. NULL: none, or it might be the object for which the heap has no room, which can end the program. */
static jobject new_helper(JNIEnv *env, const struct hpx_layout *l)
{
    jobject helper = NULL;
    uint64_t used, committed;
    hpx_copying_heap(env, &used, &committed);
    const bool late = hpx_vm_flag("UseShenandoahGC", false); /* commits memory as it uses it */
    const bool room = (late ? hpx_copying_room(env) : committed - used) >= HELPER_ROOM;
    for (uint32_t i = 0; i < l->loaded && helper == NULL && room; i++) {
        if (l->class_numbers[i].v == l->object_class.v) {
            helper = (*env)->NewObjectArray(env, HPX_TRACE_HELPER, l->class_refs[i], NULL);
            (*env)->ExceptionClear(env);
        }
    }
    return helper;
}

static bool traces(const struct hpx_heap_take *t)
{
    return readable(&reading.walk) && !reading.walk.flattened && reading.other != NULL && t->course.untraced == NULL && !t->of_error;
}

struct hpx_copying_how hpx_reading_needs(const struct hpx_heap_take *t, uint64_t used)
{
    struct statfs fs;
    const bool in_memory = fstatfs(t->image.spool, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
    return (struct hpx_copying_how){.tagged = t->by_tags,
                                    .light = traces(t),
                                    .object = t->by_tags ? 0 : (uintptr_t)reading.walk.oops.somewhere,
                                    .files = in_memory ? used : 0};
}

bool hpx_reading_fork(struct hpx_heap_take *t, jvmtiEnv *jvmti, JNIEnv *env, uint64_t allowed_bytes, bool *memory)
{
    static int keep[1];
    static struct hpx_err err;
    struct hpx_walk *w = &reading.walk;
    *memory = false;
    t->course.forked = true;
    if (hpx_child_prepare(&reading.child, hpx_copying_slots(), &err) != 0) {
        return failed(t, err.msg);
    }
    keep[0] = t->image.spool;
    reading.child.over = child_over;
    reading.child.keep = keep;
    reading.child.nkeep = 1;
    reading.pid = 0;
    hpx_fork_watch_begin(&reading.watch, 0, allowed_bytes, NULL);
    atomic_store_explicit(&reading.cancel, false, memory_order_relaxed);
    w->progress = &reading.child.shared->progress;
    w->first = fork_first;
    t->course.traced = w->traces = traces(t);
    if (!readable(w) || t->of_error) { /* whatever else forbids a trace is not the reason */
        t->course.untraced = NULL;
    }
    t->moving = w->moves;
    w->workers = hpx_trial_passes(HPX_TRIAL_SETPRIORITY) ? hpx_copying_workers(env) : 1;
    w->alone = ALONE;
    w->verifies = getenv("HPROFX_VERIFY") != NULL;
    bool helped = w->traces && (*env)->PushLocalFrame(env, 1) == 0;
    w->trace.helper = helped ? new_helper(env, &t->layout) : NULL; /* in a frame of its own, which the VM tells first of the thread's */
    reading.begun = hpx_clock_mono();
    follow(jvmti);
    if (helped) {
        (*env)->PopLocalFrame(env, NULL);
    }
    t->course.stopped_ns += hpx_clock_mono() - reading.begun;
    w->progress = NULL;
    w->first = NULL;
    reading.watch.pid = reading.pid;
    t->fork_ns = reading.fork_ns;
    *memory = reading.pid == -ENOMEM;
    if (reading.pid <= 0) {
        snprintf(t->course.why, sizeof t->course.why, "the copy of the process failed: %s",
                 reading.pid < 0 ? strerror(-reading.pid) : hpx_reading_text(HPX_WALK_REFUSED));
        hpx_child_release(&reading.child);
        w->begun = false;
        w->traces = false;
        w->end = HPX_WALK_WHOLE;
        return false;
    }
    return true;
}

static bool show_progress(void *arg, uint64_t objects)
{
    static HPX_OF_SESSION uint64_t shown;
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

void hpx_reading_await(void)
{
    bool terminal = hpx_session.opt->verbose && isatty(STDERR_FILENO);
    const struct hpx_child_wait how = {.stall_ns = STALL_NS,
                                       .spin_ns = SPIN_NS,
                                       .go_on = terminal ? show_progress : NULL,
                                       .cancel = &reading.cancel,
                                       .watch = &reading.watch};
    reading.report = hpx_child_await(&reading.child, reading.pid, &how);
    if (terminal) {
        ssize_t ignored = write(STDERR_FILENO, "\r\033[K", 4);
        (void)ignored;
    }
}

void hpx_reading_cancel(void)
{
    atomic_store_explicit(&reading.cancel, true, memory_order_relaxed);
}

/* ---- the end ---- */

enum hpx_walk_end hpx_reading_end(struct hpx_heap_take *t, enum hpx_child_end *child)
{
    enum hpx_walk_end end = reading.walk.end;
    *child = reading.report.end;
    if (t->course.forked) {
        end = reading.report.end == HPX_CHILD_ENDED ? (enum hpx_walk_end)reading.report.value : HPX_WALK_REFUSED;
        uint64_t figures[FIGURES];
        for (size_t i = 0; i < FIGURES; i++) {
            figures[i] = atomic_load_explicit(&reading.child.shared->figure[i], memory_order_relaxed);
        }
        memcpy(&reading.walk.found, figures, sizeof figures);
        if (reading.report.end != HPX_CHILD_ENDED) {
            (void)hpx_child_text(&reading.child, reading.report, t->course.why, sizeof t->course.why);
        }
        hpx_child_release(&reading.child);
    }
    if (end == HPX_WALK_WHOLE) {
        t->image.found = reading.walk.found;
    }
    hpx_reading_abandon();
    return end;
}

void hpx_reading_abandon(void)
{
    dispose_other();
    hpx_walk_fini(&reading.walk);
}

const char *hpx_reading_text(enum hpx_walk_end end)
{
    static const char *const texts[] = {
        [HPX_WALK_WHOLE] = "no failure",
        [HPX_WALK_NO_MEMORY] = "no memory for the walk",
        [HPX_WALK_NO_SPACE] = "the disk is full, or cannot be written",
        [HPX_WALK_TOO_MANY] = "ids of this heap need more than idsize=4; use idsize=8",
        [HPX_WALK_ORDER] = "the VM walked the heap in an unknown way",
        [HPX_WALK_LATE] = "classes were loaded meanwhile, more than once",
        [HPX_WALK_MOVED] = "the collector moved objects or cleared references meanwhile",
        [HPX_WALK_STRANGE] = "a trace cannot read this heap, or has no memory for it",
        [HPX_WALK_DOUBT] = "addresses of objects contradict what the VM tells of them",
        [HPX_WALK_REFUSED] = "the VM refused to walk the heap",
    };
    return (size_t)end < HPX_ARRAY_LEN(texts) ? texts[end] : "the copy of the process failed";
}
