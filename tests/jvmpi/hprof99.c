/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof99.c: the events and the sampling thread. Contract: hprof99.h. Options: cpu=samples, heap=sites, interval=MS, depth=N, file=NAME. */
#include "hprof99.h"
#include <stdlib.h>
#include <string.h>

#define MOST_THREADS 1024

static JVMPI_Interface *jvmpi;
static struct {
    bool samples, sites;
    int interval, depth;
    char file[512];
} opt = {.interval = 10, .depth = 4, .file = "java.hprof.txt"};

static JVMPI_RawMonitor data, tick; /* tick: the sampling thread waits on it */
static struct thread threads[MOST_THREADS];
static int nthreads;
static bool ending;

/* ---- threads ---- */

static void thread_started(const JVMPI_Event *e)
{
    jvmpi->RawMonitorEnter(data);
    if (nthreads < MOST_THREADS) {
        struct thread *t = &threads[nthreads++];
        *t = (struct thread){.env = e->u.thread_start.thread_env_id, .id = e->u.thread_start.thread_id, .alive = true};
        t->sampled = strcmp(e->u.thread_start.thread_name, "hprof99") != 0;
        (void)snprintf(t->name, sizeof(t->name), "%s", e->u.thread_start.thread_name);
        (void)snprintf(t->group, sizeof(t->group), "%s", e->u.thread_start.group_name);
    }
    jvmpi->RawMonitorExit(data);
}

static void thread_ended(const JNIEnv *env)
{
    jvmpi->RawMonitorEnter(data);
    for (int i = 0; i < nthreads; i++) {
        threads[i].alive = threads[i].alive && threads[i].env != env;
    }
    jvmpi->RawMonitorExit(data);
}

/* ---- CPU samples ---- */

/* What is taken while threads are suspended, when nothing may allocate. */
static struct {
    JVMPI_CallTrace trace;
    JVMPI_CallFrame frames[MOST_DEPTH];
} taken[MOST_THREADS];
static JNIEnv *suspended[MOST_THREADS];
static jint results[MOST_THREADS];

/* Under `data`. */
static void sample(void)
{
    int n = 0, ntaken = 0;
    for (int i = 0; i < nthreads; i++) {
        if (threads[i].alive && threads[i].sampled) {
            suspended[n++] = threads[i].env;
        }
    }
    jvmpi->DisableGC();
    jvmpi->SuspendThreadList(n, suspended, results);
    for (int i = 0; i < n; i++) {
        jint status = results[i] == 0 ? jvmpi->GetThreadStatus(suspended[i]) & ~(JVMPI_THREAD_SUSPENDED | JVMPI_THREAD_INTERRUPTED) : 0;
        if (status == JVMPI_THREAD_RUNNABLE && jvmpi->ThreadHasRun(suspended[i])) {
            taken[ntaken].trace = (JVMPI_CallTrace){.env_id = suspended[i], .frames = taken[ntaken].frames};
            jvmpi->GetCallTrace(&taken[ntaken].trace, opt.depth);
            ntaken += taken[ntaken].trace.num_frames > 0;
        }
    }
    jvmpi->ResumeThreadList(n, suspended, results);
    jvmpi->EnableGC();
    for (int i = 0; i < ntaken; i++) {
        trace_of(taken[i].frames, taken[i].trace.num_frames)->samples++;
    }
}

static void sampling_thread(void *arg)
{
    (void)arg;
    for (bool more = true; more;) {
        jvmpi->RawMonitorEnter(tick);
        jvmpi->RawMonitorWait(tick, opt.interval);
        jvmpi->RawMonitorExit(tick);
        jvmpi->RawMonitorEnter(data);
        more = !ending;
        if (more) {
            sample();
        }
        jvmpi->RawMonitorExit(data);
    }
}

/* ---- objects ---- */

static void object_allocated(const JVMPI_Event *e)
{
    JVMPI_CallFrame frames[MOST_DEPTH];
    JVMPI_CallTrace trace = {.env_id = e->env_id, .frames = frames};
    jvmpi->GetCallTrace(&trace, opt.depth);
    jvmpi->RawMonitorEnter(data);
    struct site *s = site_of(trace_of(frames, trace.num_frames), e->u.obj_alloc.class_id, e->u.obj_alloc.is_array);
    object_made(e->u.obj_alloc.obj_id, s, e->u.obj_alloc.size);
    jvmpi->RawMonitorExit(data);
}

/* ---- the end ---- */

static void shut_down(void)
{
    JVMPI_HeapDumpArg level = {JVMPI_DUMP_LEVEL_0};
    if (opt.sites) {
        (void)jvmpi->RequestEvent(JVMPI_EVENT_HEAP_DUMP, &level); /* also tells which objects are gone */
    }
    jvmpi->RawMonitorEnter(data);
    ending = true;
    FILE *f = fopen(opt.file, "w");
    if (f != NULL) {
        jvmpi->DisableGC(); /* it asks with ids */
        write_profile(f, jvmpi, threads, nthreads, opt.samples, opt.sites);
        jvmpi->EnableGC();
    }
    if (f == NULL || fclose(f) != 0) {
        printf("BAD cannot write %s\n", opt.file);
    }
    jvmpi->RawMonitorExit(data);
    printf("written\n");
    fflush(stdout);
}

static void notify(JVMPI_Event *e)
{
    switch (e->event_type & ~JVMPI_REQUESTED_EVENT) {
    case JVMPI_EVENT_JVM_INIT_DONE:
        if (opt.samples && jvmpi->CreateSystemThread((char *)(uintptr_t) "hprof99", JVMPI_MAXIMUM_PRIORITY, sampling_thread) != JNI_OK) {
            printf("BAD no system thread\n");
        }
        break;
    case JVMPI_EVENT_CLASS_LOAD:
        jvmpi->RawMonitorEnter(data);
        book_add(e);
        jvmpi->RawMonitorExit(data);
        break;
    case JVMPI_EVENT_THREAD_START:
        thread_started(e);
        break;
    case JVMPI_EVENT_THREAD_END:
        thread_ended(e->env_id);
        break;
    case JVMPI_EVENT_OBJECT_ALLOC:
        object_allocated(e);
        break;
    case JVMPI_EVENT_GC_START:
        jvmpi->RawMonitorEnter(data);
        break;
    case JVMPI_EVENT_OBJECT_FREE: /* in a collection this thread has entered already */
        jvmpi->RawMonitorEnter(data);
        object_freed(e->u.obj_free.obj_id);
        jvmpi->RawMonitorExit(data);
        break;
    case JVMPI_EVENT_GC_FINISH:
        jvmpi->RawMonitorExit(data);
        break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
        shut_down();
        break;
    default:
        break;
    }
}

static bool parse(char *options)
{
    for (char *rest = options, *word; (word = strsep(&rest, ",")) != NULL;) {
        if (strcmp(word, "cpu=samples") == 0) {
            opt.samples = true;
        } else if (strcmp(word, "heap=sites") == 0) {
            opt.sites = true;
        } else if (strncmp(word, "interval=", 9) == 0) {
            opt.interval = (int)strtol(word + 9, NULL, 10);
        } else if (strncmp(word, "depth=", 6) == 0) {
            opt.depth = (int)strtol(word + 6, NULL, 10);
        } else if (strncmp(word, "file=", 5) == 0) {
            (void)snprintf(opt.file, sizeof(opt.file), "%s", word + 5);
        } else {
            return false;
        }
    }
    return opt.interval > 0 && opt.depth > 0 && opt.depth <= MOST_DEPTH;
}

static bool enable(const jint *events)
{
    for (; *events != 0; events++) {
        if (jvmpi->EnableEvent(*events, NULL) != JVMPI_SUCCESS) {
            return false;
        }
    }
    return true;
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    static const jint always[] = {JVMPI_EVENT_CLASS_LOAD,    JVMPI_EVENT_THREAD_START,  JVMPI_EVENT_THREAD_END,
                                  JVMPI_EVENT_JVM_INIT_DONE, JVMPI_EVENT_JVM_SHUT_DOWN, 0};
    static const jint of_sites[] = {JVMPI_EVENT_OBJECT_ALLOC, JVMPI_EVENT_OBJECT_FREE, JVMPI_EVENT_GC_START, JVMPI_EVENT_GC_FINISH, 0};
    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&jvmpi, JVMPI_VERSION_1_2) < 0 || !parse(options)) {
        return JNI_ERR;
    }
    jvmpi->NotifyEvent = notify;
    data = jvmpi->RawMonitorCreate((char *)(uintptr_t) "_data");
    tick = jvmpi->RawMonitorCreate((char *)(uintptr_t) "_tick");
    return enable(always) && (!opt.sites || enable(of_sites)) ? JNI_OK : JNI_ERR;
}
