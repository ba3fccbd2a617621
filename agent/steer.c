/* SPDX-License-Identifier: BSD-2-Clause */
/* steer.c: the socket of steer.h, its clients, and what they ask for. */
#include "steer.h"
#include "classes.h"
#include "clock.h"
#include "control.h"
#include "dump_request.h"
#include "errand.h"
#include "life.h"
#include "log.h"
#include "output.h"
#include "run.h"
#include "spawn.h"
#include "steer_socket.h"
#include "trial.h"
#include "vm.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MS              UINT64_C(1000000)
#define TICKS_OF_LINE   (1000 / HPX_ERRAND_TICK_MS) /* between two lines of an errand that rewrites classes */
#define TICKS_OF_WORK   (10 * TICKS_OF_LINE)        /* of another long one */
#define CLASS_US        300                         /* to rewrite one, before it is known how fast this goes */
#define FIRST_WAIT      (10000 * MS)                /* for the command that had the library loaded */
#define AGAIN           (1000 * MS)                 /* until an end that failed is tried again; doubles every time, up to AGAIN_MOST */
#define AGAIN_MOST      (600000 * MS)
#define CLIENTS         8
#define ACCEPT_PAUSE_NS 100000000
#define LOOK_MS         1000 /* between two looks for the file of the socket */
#define SEND_SECONDS    5    /* a client that does not read its answer is let go */

enum { LISTENER, BELL, FIRST_CLIENT, FDS = FIRST_CLIENT + CLIENTS };

struct client {
    struct ucred who;
    size_t len;
    char line[HPX_CONTROL_LINE];
};

/* Its lock: `runs`, `stays`, `over`, `expected`, `until` and the file of the socket. All else: the thread's. */
static struct {
    pthread_mutex_t lock;
    bool runs, stays;
    bool over; /* the program ends */
    bool deaf; /* it was said that no connection can be accepted */
    JavaVM *vm;
    struct pollfd fds[FDS]; /* -1: none */
    struct client *clients; /* CLIENTS */
    uint32_t expected;      /* commands that had the library called and have not yet connected */
    uint64_t until;         /* hpx_clock_mono(): nobody waits for them longer */
} steer = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The session that a command has begun. */
static struct {
    bool runs;
    uint32_t number;  /* hpx_session_number */
    uint64_t from;    /* hpx_clock_mono() */
    uint64_t until;   /* 0: without end */
    uint64_t pause;   /* the next, if its end fails */
    struct ucred who; /* began it */
    int holder;       /* it ends when this connection does; -1: none */
} own;

/* ---- answers ---- */

static void answer(int fd, const char *fmt, ...) HPX_PRINTF(2, 3);
static void answer(int fd, const char *fmt, ...)
{
    static char text[sizeof(struct hpx_err) + 64];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text - 1, fmt, args);
    va_end(args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text - 1 ? (size_t)n : sizeof text - 2;
    for (size_t i = 0; i < len; i++) { /* one line, whatever a message has */
        if (text[i] == '\n') {
            text[i] = ' ';
        }
    }
    text[len] = '\n';
    if (send(fd, text, len + 1, MSG_NOSIGNAL) != (ssize_t)(len + 1)) { /* the socket has a limit of time */
        (void)shutdown(fd, SHUT_RDWR);
    }
}

static void answer_result(int fd, int rc, const struct hpx_err *err)
{
    if (rc == 0) {
        answer(fd, "ok");
    } else {
        answer(fd, "error %d %s", -rc, err->msg);
    }
}

/* The one that runs is the one that a command has begun. */
static bool is_own(void)
{
    return own.runs && hpx_life_has_session() && hpx_session_is(own.number);
}

/* 0: none runs, and err is as it was. */
static int refuse_second(struct hpx_err *err)
{
    bool ours = is_own(); /* first: only this thread begins those, so one that runs then and is not ours is another's */
    if (hpx_life_now() != HPX_LIFE_RUNNING) {
        return 0;
    }
    if (ours) {
        return hpx_err_set(err, HPX_E_BUSY, "a session is running, begun by process %d of user %u %.0f s ago; hprofx stop ends it",
                           (int)own.who.pid, (unsigned)own.who.uid, (double)(hpx_clock_mono() - own.from) / 1e9);
    }
    return hpx_err_set(err, HPX_E_BUSY, "a session is running, begun by %s; hprofx stop ends it",
                       hpx_vm.late ? "another command" : "the command line of the JVM");
}

static void answer_who(int fd, bool ours)
{
    if (ours) {
        answer(fd, "begun by: process %d of user %u", (int)own.who.pid, (unsigned)own.who.uid);
        answer(fd, "runs for: %.1f s", (double)(hpx_clock_mono() - own.from) / 1e9);
        if (own.until != 0) {
            answer(fd, "ends in: %.1f s", own.until > hpx_clock_mono() ? (double)(own.until - hpx_clock_mono()) / 1e9 : 0.0);
        }
    } else {
        answer(fd, "begun by: %s", hpx_vm.late ? "another command" : "the command line of the JVM");
    }
}

/* ---- requests ---- */

static struct {
    bool begins, undone, told;
} errand; /* that goes on */

/* How many, about how long, and what fewer would be. */
static void answer_outlook(int fd, const struct hpx_classes_progress *p)
{
    double seconds = p->done > 0 ? (double)(p->of - p->done) / p->done * HPX_ERRAND_TICK_MS / 1e3 : p->of * CLASS_US / 1e6;
    if (!errand.begins) {
        answer(fd, "classes: %u of %u, about %.0f s", p->done, p->of, seconds + 0.5);
    } else {
        answer(fd, "classes: %u of %u, about %.0f s; %u of them are the JDK's, and include= with a package rewrites only its own", p->done,
               p->of, seconds + 0.5, p->jdk);
    }
}

/* The client has sent something, or is gone: the session is not wanted any more. */
static void look_for_end(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (fd >= 0 && errand.begins && !errand.undone && poll(&p, 1, 0) > 0) {
        errand.undone = true;
        hpx_classes_cancel(true);
    }
}

/* Lines tell the client that the agent is alive. */
static void answer_progress(int fd, unsigned ticks)
{
    struct hpx_classes_progress p = hpx_classes_progress();
    look_for_end(fd);
    if (fd >= 0 && p.of > 0 && !errand.told) {
        errand.told = true;
        answer_outlook(fd, &p);
    } else if (fd >= 0 && p.of > 0 && ticks % TICKS_OF_LINE == 0) {
        answer(fd, "classes: %u of %u", p.done, p.of);
    } else if (fd >= 0 && ticks % TICKS_OF_WORK == 0) {
        answer(fd, "working: %u s", ticks / TICKS_OF_LINE);
    }
}

static int work(JNIEnv *env, const char *options, struct hpx_err *err)
{
    return options != NULL ? hpx_run_begin(steer.vm, env, options, err) : hpx_run_end(env, err);
}

/* fd: of the client that waits for it; -1: none. */
static int do_errand(const char *options, int fd, struct hpx_err *err)
{
    errand.begins = options != NULL;
    errand.undone = errand.told = false;
    int rc = hpx_errand_do(steer.vm, &(struct hpx_errand){options, work, answer_progress, fd}, err);
    hpx_classes_cancel(false); /* it may have come too late for this errand, and is not meant for the next */
    return rc;
}

static _Atomic int jvm; /* with start=n. release: the callbacks; acquire: refuse_dead() */
enum { STARTS, LIVES, ENDS };

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti, (void)env, (void)thread;
    atomic_store_explicit(&jvm, LIVES, memory_order_release);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)jvmti, (void)env;
    atomic_store_explicit(&jvm, ENDS, memory_order_release);
}

/* At load: before VMInit no thread can be attached, and GetPhase tells only those that are. */
static int await_birth(JavaVM *vm, struct hpx_err *err)
{
    const jvmtiEventCallbacks callbacks = {.VMInit = on_vm_init, .VMDeath = on_vm_death};
    jvmtiEnv *jvmti = NULL;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof callbacks) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL) != JVMTI_ERROR_NONE) {
        return hpx_err_set(err, HPX_E_VM, "start=n: this VM does not tell when it is ready; leave out start=n and attach later");
    }
    return 0;
}

/* 0: no thread is refused by the VM because of that. */
static int refuse_dead(struct hpx_err *err)
{
    int now = steer.stays ? atomic_load_explicit(&jvm, memory_order_acquire) : LIVES; /* partners: on_vm_init(), on_vm_death() */
    return now == LIVES    ? 0
           : now == STARTS ? hpx_err_set(err, HPX_E_NOT_LIVE, "the JVM is starting; try again when it runs")
                           : hpx_err_set(err, HPX_E_BUSY, "the JVM is ending");
}

/* number 0: whatever runs. fd: as do_errand(). */
static int end(uint64_t number, int fd, struct hpx_err *err)
{
    if (number != 0 && !(is_own() && number == own.number)) {
        return hpx_err_set(err, HPX_E_BUSY, "the session has ended");
    }
    enum hpx_life now = hpx_life_now();     /* once: the reason is that of the refusal */
    if (!hpx_life_may(now, HPX_LIFE_END)) { /* without a session the JVM cannot be entered */
        return hpx_life_refuse(now, err);
    }
    int rc = do_errand(NULL, fd, err);
    own.runs = own.runs && rc != 0; /* one that stalls ends with the next command, or in end_in_time() */
    return rc;
}

/* If its end fails now, end_in_time() tries again. */
static int undo(int fd, struct hpx_err *err)
{
    own.holder = -1;
    own.until = own.from;
    int rc = end(own.number, fd, err);
    return rc != 0 ? rc : hpx_err_set(err, HPX_E_BUSY, "%s", HPX_CONTROL_UNDONE);
}

static void begin(int fd, const struct ucred *who, const struct hpx_control_request *r)
{
    struct hpx_err err;
    int rc = refuse_dead(&err);
    if (rc == 0) { /* what would only be refused need not enter the JVM, whose session would see the thread */
        rc = refuse_second(&err);
        rc = rc != 0 ? rc : do_errand(r->options, fd, &err);
    }
    if (rc == 0) {
        own.runs = true;
        own.number = atomic_load_explicit(&hpx_session_number, memory_order_relaxed);
        own.from = hpx_clock_mono();
        own.until = r->ms == 0 ? 0 : own.from + r->ms * MS;
        own.pause = AGAIN;
        own.who = *who;
        own.holder = r->verb == HPX_CONTROL_HOLD ? fd : -1;
        rc = errand.undone ? undo(fd, &err) : 0;
        if (rc == 0) {
            answer(fd, "session: %u", own.number);
        }
    } else if (rc == -HPX_E_BUSY) {
        (void)refuse_second(&err); /* says more */
    }
    answer_result(fd, rc, &err);
}

static void request_dump(int fd, uint64_t number)
{
    if (number != 0 && !(is_own() && number == own.number)) {
        answer(fd, "error %d the session has ended", HPX_E_BUSY);
    } else if (hpx_gate_enter(&hpx_session.gate)) {
        hpx_dump_request_signal();
        hpx_gate_leave(&hpx_session.gate);
        answer(fd, "ok");
    } else {
        struct hpx_err err;
        enum hpx_life now = hpx_life_now();
        answer_result(fd, hpx_life_refuse(now == HPX_LIFE_RUNNING ? HPX_LIFE_NONE : now, &err), &err); /* it has ended since */
    }
}

/* Of the session that runs, which does not end meanwhile: its address, or the file as its name was expanded. */
static void put_output(char output[static PATH_MAX])
{
    const struct hpx_options *o = hpx_session.opt;
    bool expands = o->net == NULL && strchr(o->file, '%') != NULL;
    if (!expands || hpx_output_name(output, PATH_MAX, hpx_session.in_effect.split ? 0 : 1) != 0) {
        (void)snprintf(output, PATH_MAX, "%s", o->net != NULL ? o->net : o->file);
    }
}

static void tell_status(int fd)
{
    char modes[sizeof hpx_session.names], output[PATH_MAX];
    bool runs = hpx_gate_enter(&hpx_session.gate); /* its end waits: names and options stay */
    enum hpx_life now = hpx_life_now();
    const char *why = hpx_life_why(now);
    bool ours = runs && is_own();
    if (runs) {
        (void)snprintf(modes, sizeof modes, "%s", hpx_session_modes());
        put_output(output);
        hpx_gate_leave(&hpx_session.gate);
    }
    answer(fd, "session: %s", hpx_life_text(now));
    if (why != NULL) {
        answer(fd, "reason: %s", why);
    }
    if (runs) {
        answer(fd, "modes: %s", modes);
        answer(fd, "output: %s", output);
        answer_who(fd, ours);
    }
    answer(fd, "ok");
}

static void obey(int fd, const struct client *c)
{
    struct hpx_control_request r;
    struct hpx_err err;
    uint32_t restored;
    int rc = hpx_control_parse(c->line, &r, &err);
    if (rc != 0) {
        answer_result(fd, rc, &err);
        return;
    }
    switch (r.verb) {
    case HPX_CONTROL_START:
    case HPX_CONTROL_HOLD:
        begin(fd, &c->who, &r);
        break;
    case HPX_CONTROL_STOP:
        rc = end(r.session, fd, &err);
        restored = rc == 0 ? hpx_classes_restored() : 0;
        if (restored > 0) {
            answer(fd, "classes restored: %u; the agent sleeps", restored);
        }
        answer_result(fd, rc, &err);
        break;
    case HPX_CONTROL_DUMP:
        request_dump(fd, r.session);
        break;
    case HPX_CONTROL_STATUS:
        tell_status(fd);
        break;
    }
}

/* ---- clients ---- */

static void let_go(uint32_t i)
{
    int fd = steer.fds[i].fd;
    steer.fds[i].fd = -1; /* first: the child of a fork closes what stands here */
    (void)close(fd);
    if (is_own() && own.holder == fd) {
        own.holder = -1;
        own.until = hpx_clock_mono();
    }
}

/* root, or who runs the JVM. */
static bool may_steer(int fd, struct ucred *who)
{
    socklen_t size = sizeof *who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, who, &size) == 0 && (who->uid == 0 || who->uid == geteuid());
}

/* Perhaps the program has no descriptor left: poll() comes back at once. */
static void pause_accepting(int failed)
{
    if (!steer.deaf && failed != EINTR && failed != EAGAIN && failed != ECONNABORTED) {
        steer.deaf = true;
        hpx_warn("cannot accept the connection of a command: %s; hprofx tries again until it can", strerror(failed));
    }
    (void)nanosleep(&(struct timespec){0, ACCEPT_PAUSE_NS}, NULL);
}

static void greet(void)
{
    struct ucred who;
    uint32_t i = FIRST_CLIENT;
    int fd = accept4(steer.fds[LISTENER].fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) {
        pause_accepting(errno);
        return;
    }
    steer.deaf = false;
    while (i < FDS && steer.fds[i].fd >= 0) {
        i++;
    }
    if (i == FDS || !may_steer(fd, &who)) {
        (void)close(fd);
        return;
    }
    const struct timeval limit = {.tv_sec = SEND_SECONDS};
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    steer.fds[i] = (struct pollfd){.fd = fd, .events = POLLIN};
    steer.clients[i - FIRST_CLIENT].who = who;
    steer.clients[i - FIRST_CLIENT].len = 0;
    pthread_mutex_lock(&steer.lock);
    steer.expected -= steer.expected > 0;
    pthread_mutex_unlock(&steer.lock);
    answer(fd, HPX_CONTROL_GREETING "%s", HPX_VERSION);
}

static void hear(uint32_t i)
{
    struct client *c = &steer.clients[i - FIRST_CLIENT];
    ssize_t n = recv(steer.fds[i].fd, c->line + c->len, sizeof c->line - c->len, MSG_DONTWAIT);
    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            let_go(i);
        }
        return;
    }
    c->len += (size_t)n;
    for (char *end; (end = memchr(c->line, '\n', c->len)) != NULL;) {
        size_t whole = (size_t)(end - c->line) + 1;
        *end = 0;
        obey(steer.fds[i].fd, c);
        memmove(c->line, c->line + whole, c->len - whole);
        c->len -= whole;
    }
    if (c->len == sizeof c->line) {
        let_go(i); /* a line longer than any of ours */
    }
}

static bool some_client(void)
{
    bool some = false;
    for (uint32_t i = FIRST_CLIENT; i < FDS; i++) {
        some = some || steer.fds[i].fd >= 0;
    }
    return some;
}

/* ---- the thread ---- */

static void keep_name(void)
{
    pthread_mutex_lock(&steer.lock);
    int fd = steer.over ? -1 : hpx_steer_socket_keep(CLIENTS);
    if (fd >= 0) {
        int old = steer.fds[LISTENER].fd;
        steer.fds[LISTENER].fd = fd; /* first: the child of a fork closes what stands there */
        (void)close(old);
    }
    pthread_mutex_unlock(&steer.lock);
}

/* Until the next thing to do without a client, in ms for poll(): at least once in a second it looks for its name. */
static int patience(uint64_t now)
{
    uint64_t at = is_own() && own.until != 0 ? own.until : UINT64_MAX;
    pthread_mutex_lock(&steer.lock);
    steer.expected = steer.until > now ? steer.expected : 0;
    at = steer.expected > 0 && steer.until < at ? steer.until : at;
    pthread_mutex_unlock(&steer.lock);
    uint64_t ms = at <= now ? 0 : (at - now + MS - 1) / MS;
    return ms > LOOK_MS ? LOOK_MS : (int)ms;
}

/* Nobody else may come to end it. What fails for another reason would fail again. */
static void end_in_time(void)
{
    struct hpx_err err;
    if (is_own() && own.until != 0 && hpx_clock_mono() >= own.until) {
        int rc = end(own.number, -1, &err);
        bool later = rc == -HPX_E_VM || rc == -HPX_E_NOMEM || rc == -HPX_E_SYS; /* no thread now, or it has stalled */
        if (rc != 0 && (!later || own.pause == AGAIN)) {                        /* not for every try */
            hpx_run_say(&err);
        }
        own.until = later ? hpx_clock_mono() + own.pause : 0;
        own.pause = own.pause < AGAIN_MOST / 2 ? own.pause * 2 : AGAIN_MOST;
    }
}

static void close_all(void)
{
    hpx_steer_socket_remove();
    for (uint32_t i = 0; i < FDS; i++) {
        if (steer.fds[i].fd >= 0) {
            let_go(i);
        }
    }
    free(steer.clients);
    steer.clients = NULL;
    steer.runs = false;
}

/* No client is connected and no session runs. A command that connects now finds the socket closed and has the library called again. */
static bool leaves(void)
{
    if (some_client() || is_own()) {
        return false;
    }
    pthread_mutex_lock(&steer.lock);
    bool waits = steer.stays || (steer.expected > 0 && hpx_clock_mono() < steer.until) || poll(&steer.fds[LISTENER], 1, 0) > 0;
    if (!waits) {
        close_all();
    }
    pthread_mutex_unlock(&steer.lock);
    return !waits;
}

static void *listen_for_commands(void *unused)
{
    uint64_t rung;
    hpx_spawn_enter("hprofx-control", NULL);
    while (!leaves()) {
        (void)poll(steer.fds, FDS, patience(hpx_clock_mono()));
        if ((steer.fds[BELL].revents & POLLIN) != 0) {
            (void)!read(steer.fds[BELL].fd, &rung, sizeof rung);
        }
        for (uint32_t i = FIRST_CLIENT; i < FDS; i++) {
            if (steer.fds[i].fd >= 0 && steer.fds[i].revents != 0) {
                hear(i);
            }
        }
        if ((steer.fds[LISTENER].revents & POLLIN) != 0) {
            greet();
        }
        keep_name();
        end_in_time();
    }
    return unused;
}

static int begin_listening(struct hpx_err *err)
{
    for (uint32_t i = 0; i < FDS; i++) { /* before clients: the child of a fork closes what stands here */
        steer.fds[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    }
    steer.clients = calloc(CLIENTS, sizeof *steer.clients);
    if (steer.clients == NULL) {
        close_all();
        return hpx_err_set(err, HPX_E_NOMEM, "no memory to listen for commands");
    }
    steer.fds[LISTENER].fd = hpx_steer_socket_open(CLIENTS, err);
    steer.fds[BELL].fd = !hpx_trial_passes(HPX_TRIAL_EVENTFD) ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    steer.expected = 0;
    int rc = steer.fds[LISTENER].fd < 0 ? steer.fds[LISTENER].fd : hpx_spawn(listen_for_commands, "hprofx-control", err);
    if (rc != 0) {
        close_all();
    }
    return rc;
}

int hpx_steer_listen(JavaVM *vm, bool stays, struct hpx_err *err)
{
    int rc = hpx_run_watch_forks(err);
    if (rc != 0) {
        return rc;
    }
    pthread_mutex_lock(&steer.lock);
    if (!steer.runs) {
        steer.vm = vm;
        steer.runs = true;
        steer.stays = stays;
        rc = stays ? await_birth(vm, err) : 0;
        rc = rc != 0 ? rc : begin_listening(err);
        steer.runs = rc == 0;
    }
    if (rc == 0 && !stays) {
        steer.expected++;
        steer.until = hpx_clock_mono() + FIRST_WAIT;
    }
    pthread_mutex_unlock(&steer.lock);
    return rc;
}

void hpx_steer_look(void)
{
    const uint64_t one = 1;
    pthread_mutex_lock(&steer.lock);
    if (steer.runs) {
        (void)!write(steer.fds[BELL].fd, &one, sizeof one);
    }
    pthread_mutex_unlock(&steer.lock);
}

/* The program ends while a command or its session is there. A program's end waits for no lock of ours; the next JVM of this number removes
 * what was left. */
static __attribute__((destructor)) void remove_name(void)
{
    if (hpx_steer_socket_is_own() && pthread_mutex_trylock(&steer.lock) == 0) {
        steer.over = true; /* its thread runs on for a moment */
        hpx_steer_socket_remove();
        pthread_mutex_unlock(&steer.lock);
    }
}

void hpx_steer_forget(void)
{
    for (uint32_t i = 0; steer.clients != NULL && i < FDS; i++) {
        int fd = steer.fds[i].fd;
        steer.fds[i].fd = -1; /* first: a child of the child forgets again */
        if (fd >= 0) {
            (void)close(fd);
        }
    }
}
