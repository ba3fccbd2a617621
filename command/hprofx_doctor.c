/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_doctor.c: see hprofx_doctor.h. */
#include "hprofx_doctor.h"
#include "attach.h"
#include "client.h"
#include "control.h"
#include "diagnosis.h"
#include "proc.h"
#include "starting.h"
#include "target.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIRST_PIDS    0xEFFFFFFCu /* the inode of the machine's own pid namespace */
#define HAS(set, bit) (((set) >> (bit)&1u) != 0)
enum { CAPABILITY_SETGID = 6, CAPABILITY_SETUID = 7, CAPABILITY_PTRACE = 19 };

static void facts_of(pid_t pid, pid_t tid, struct hpx_facts *f)
{
    char text[8192];
    (void)hpx_proc_read("", pid, tid, "status", text, sizeof text);
    hpx_facts_status(text, f);
}

/* ---- the way into a JVM ---- */

struct way {
    bool listens;     /* the agent does, for commands */
    bool copies;      /* a copy of the library would go to its /tmp */
    bool session;     /* one runs */
    bool starting;    /* the JVM: commands wait for it */
    unsigned blocked; /* threads of the program that block SIGPROF */
};

/* Threads of hprofx tell by their names what they do. */
static void look_at_threads(const struct hpx_target *t, struct way *w)
{
    char name[64], comm[32];
    struct hpx_facts f;
    (void)snprintf(name, sizeof name, "/proc/%d/task", (int)t->pid);
    DIR *tasks = opendir(name);
    for (struct dirent *d; tasks != NULL && (d = readdir(tasks)) != NULL;) {
        pid_t tid = atoi(d->d_name);
        if (tid <= 0) {
            continue;
        }
        (void)hpx_proc_read("", t->pid, tid, "comm", comm, sizeof comm);
        facts_of(t->pid, tid, &f);
        bool ours = (t->library[0] != 0 || t->hidden) && strncmp(comm, "hprofx-", 7) == 0, control = strcmp(comm, "hprofx-control\n") == 0;
        w->listens = w->listens || (ours && control);
        w->session = w->session || (ours && !control);
        w->blocked += !ours && HAS(f.blocked, SIGPROF - 1);
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
}

/* Threads of a session that has just ended may not have exited yet: one that runs is there 200 ms later, too. */
static void look_at_session(const struct hpx_target *t, struct way *w)
{
    const struct timespec pause = {0, 20000000};
    look_at_threads(t, w);
    for (int i = 0; w->session && i < 10; i++) {
        (void)nanosleep(&pause, NULL);
        *w = (struct way){0};
        look_at_threads(t, w);
    }
}

/* The steps of an attempt, in their order, as far as one can look. The target is open. */
static enum hpx_status look_for_way(const struct hpx_target *t, const char *agent, struct way *w, struct hpx_err *err)
{
    enum hpx_status s = HPX_OK;
    *w = (struct way){0};
    look_at_session(t, w);
    w->listens = w->listens && hpx_client_listens(t);
    if (!w->listens) {
        s = hpx_client_lets_load(t, agent, &w->copies, err);
        s = s == HPX_OK ? hpx_attach_may_ask(t, err) : s;
        w->starting = s == HPX_NOT_LIVE;
        s = w->starting ? HPX_OK : s;
    }
    return s == HPX_OK && w->session
               ? hpx_fail(err, HPX_REFUSED, "a session runs in process %d; `hprofx status %d` tells whose, `hprofx stop %d` ends it",
                          (int)t->pid, (int)t->pid, (int)t->pid)
               : s;
}

static void say_way(const struct hpx_target *t, const char *agent, const struct way *w)
{
    if (w->listens) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_OK, "attach: hprofx is loaded and listens; nothing has to be attached");
    } else if (w->starting) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_NOTE, "attach: the JVM is starting; commands wait up to %d s for it", HPX_STARTING_SECONDS);
    } else if (t->library[0] != 0) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_OK, "attach: possible; hprofx is loaded: %s", t->library);
    } else {
        hpx_diagnosis_line(HPX_DIAGNOSIS_OK, "attach: possible, with %s%s", agent,
                           w->copies ? "; the JVM does not see that file, so a copy goes to its /tmp and is removed when it is loaded"
                                     : "");
    }
}

/* ---- what is less in a profile ---- */

static void say_options(const struct hpx_target *t, unsigned major, const struct way *w)
{
    enum hpx_flag inlined = hpx_target_flag(t, "DebugNonSafepoints");
    if (hpx_target_names_options(t)) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_NOTE, "options: some are in a file that the command line names; they are not known here");
    }
    if (major >= 21 && !w->listens && t->library[0] == 0 && hpx_target_flag(t, "EnableDynamicAgentLoading") != HPX_FLAG_ON) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_NOTE,
                           "warnings: the JVM will print three lines on its stderr, as JDK 21 and later do when an agent is loaded late; "
                           "-XX:+EnableDynamicAgentLoading at its start silences them");
    }
    if (inlined == HPX_FLAG_OFF || (inlined == HPX_FLAG_ABSENT && t->library[0] == 0)) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_NOTE,
                           "inlined methods: in code that is compiled %s they count for their callers; start the JVM with "
                           "-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints, or with -agentpath:libhprofx.so=start=n",
                           inlined == HPX_FLAG_OFF ? "with -XX:-DebugNonSafepoints" : "already");
    }
    if (major == 8) {
        hpx_diagnosis_line(
            HPX_DIAGNOSIS_NOTE,
            "verdict: the threads of JDK 8 have no names, so the CPU time of its garbage collector and compiler is not told");
    }
}

static void say_signal(const struct hpx_target *t, const struct hpx_facts *f, const struct way *w)
{
    if (t->library[0] == 0 && HAS(f->caught, SIGPROF - 1)) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_NOTE,
                           "signal: the program, or another profiler, handles SIGPROF; cpu=samples ends if it takes the signal back; "
                           "choose another, such as signal=RTMIN+1");
    }
    if (w->blocked > 0) {
        hpx_diagnosis_line(
            HPX_DIAGNOSIS_NOTE,
            "signal: threads that block SIGPROF and are not sampled meanwhile: %u; choose another, such as signal=RTMIN+1, or sampler=poll",
            w->blocked);
    }
}

static void say_rest(const struct hpx_target *t, unsigned major, const struct way *w)
{
    struct hpx_facts f, own;
    facts_of(t->pid, 0, &f);
    facts_of(getpid(), 0, &own);
    if (t->musl) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_NOTE, "C library: musl, with which no JVM was tried");
    }
    say_options(t, major, w);
    say_signal(t, &f, w);
    if (!w->session) { /* its timers are among those of the user */
        hpx_diagnosis_timers(&f, f.threads);
    }
    if (hpx_become(t, NULL) == HPX_OK) {
        hpx_diagnosis_perf(t->pid, f.filtered && !own.filtered);
        hpx_become_self();
    }
    hpx_diagnosis_quota(t->pid);
}

static enum hpx_status look_at_target(const struct hpx_asked *a, struct hpx_target *t, struct hpx_err *err)
{
    char name[256], release[HPX_FACTS_RELEASE] = "";
    struct way w;
    enum hpx_status s = hpx_target_open(t, err);
    if (s != HPX_OK) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_NO, "attach: %s", err->msg);
        return s;
    }
    bool known = hpx_target_release(t, release, sizeof release);
    hpx_target_name(t, name, sizeof name);
    hpx_diagnosis_line(HPX_DIAGNOSIS_OK, "process: %d, %s, user %u, HotSpot %s%s", (int)t->pid, name, (unsigned)t->uid,
                       known ? release : "of unknown release", t->same_files ? "" : ", sees other files (a container)");
    s = look_for_way(t, hpx_asked_agent(a), &w, err);
    if (s != HPX_OK) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_NO, "attach: %s", err->msg);
    } else {
        say_way(t, hpx_asked_agent(a), &w);
    }
    say_rest(t, hpx_facts_major(release), &w);
    return s;
}

/* ---- this machine ---- */

static enum hpx_status look_for_library(const char *agent)
{
    if (access(agent, R_OK) != 0) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_NO, "library: cannot read %s: %s; install hprofx, or name the library with --agent", agent,
                           strerror(errno));
        return HPX_FAILED;
    }
    hpx_diagnosis_line(HPX_DIAGNOSIS_OK, "library: %s", agent);
    return HPX_OK;
}

static void say_rights(uint64_t capabilities)
{
    static char mounts[1 << 16];
    (void)hpx_proc_read("", getpid(), 0, "mounts", mounts, sizeof mounts);
    bool sees = HAS(capabilities, CAPABILITY_PTRACE),
         becomes = HAS(capabilities, CAPABILITY_SETUID) && HAS(capabilities, CAPABILITY_SETGID);
    if (geteuid() != 0) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_NOTE, "user: %u can profile its own JVMs; for those of others become root", (unsigned)geteuid());
    } else if (!sees || !becomes) {
        hpx_diagnosis_line(
            HPX_DIAGNOSIS_NOTE,
            "user: root lacks the capability %s here and can profile its own JVMs only; become the user of the JVM, or add it",
            !sees ? "SYS_PTRACE" : "SETUID or SETGID");
    } else {
        hpx_diagnosis_line(HPX_DIAGNOSIS_OK, "user: root can profile the JVMs of all users");
    }
    if (!sees && hpx_facts_hides(mounts)) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_NOTE,
                           "/proc: it is mounted with hidepid=, so processes of other users cannot be looked at; become root");
    }
}

static void say_namespace(void)
{
    struct stat s;
    if (stat("/proc/self/ns/pid", &s) == 0 && s.st_ino != FIRST_PIDS) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_NOTE,
                           "container: only JVMs of this pid namespace can be seen; from the machine hprofx reaches all of them");
    }
}

struct found {
    const char *agent;
    unsigned n;
};

static bool say_one(void *ctx, const struct hpx_target *of)
{
    static struct hpx_target t;
    static struct hpx_err err;
    struct found *f = ctx;
    struct way w;
    char name[256];
    t = *of;
    f->n++;
    hpx_target_name(&t, name, sizeof name);
    enum hpx_status s = hpx_target_open(&t, &err);
    s = s == HPX_OK ? look_for_way(&t, f->agent, &w, &err) : s;
    if (s == HPX_OK) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_OK, "JVM: %d, %s", (int)t.pid, name);
    } else {
        hpx_diagnosis_line(HPX_DIAGNOSIS_NO, "JVM: %d, %s: %s", (int)t.pid, name, err.msg);
    }
    hpx_target_close(&t);
    return true;
}

static enum hpx_status look_at_machine(const struct hpx_asked *a)
{
    struct hpx_facts own;
    struct found found = {.agent = hpx_asked_agent(a)};
    facts_of(getpid(), 0, &own);
    enum hpx_status s = look_for_library(found.agent);
    say_rights(own.capabilities);
    say_namespace();
    hpx_diagnosis_timers(&own, 0);
    hpx_diagnosis_perf(getpid(), false);
    hpx_diagnosis_quota(getpid());
    hpx_targets_each(say_one, &found);
    if (found.n == 0) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_NOTE, "JVM: none runs here that may be looked at; `hprofx run -- java ...` starts one");
    }
    return s;
}

int hpx_doctor(const struct hpx_asked *a, const char *word)
{
    static struct hpx_target t;
    static struct hpx_err err;
    if (word == NULL) {
        return (int)look_at_machine(a);
    }
    enum hpx_status s = hpx_target_find(word, &t, &err);
    if (s != HPX_OK) {
        return hpx_complain(s, &err);
    }
    s = look_at_target(a, &t, &err);
    hpx_target_close(&t);
    return (int)s;
}
