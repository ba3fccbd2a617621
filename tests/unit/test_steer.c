/* SPDX-License-Identifier: BSD-2-Clause */
/* test_steer.c: what commands are told while sessions begin and end by other ways. The JVM, and the errands that enter it, are stubs. */
#include "classes.h"
#include "cmocka_all.h"
#include "control.h"
#include "errand.h"
#include "life.h"
#include "run.h"
#include "session.h"
#include "steer.h"
#include "tasks.h"
#include "vm.h"
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct hpx_vm hpx_vm;
static bool ends_behind_now, ends_behind_text; /* the session ends just after that function has answered */
static int client = -1;
static bool cancelled, was_cancelled, client_goes;

static void tell(enum hpx_life_event e)
{
    enum hpx_life was;
    assert_true(hpx_life_tell(e, &was));
}

static void end_session(bool *when)
{
    if (*when) {
        *when = false;
        hpx_gate_close(&hpx_session.gate);
        tell(HPX_LIFE_END);
        tell(HPX_LIFE_ENDED);
    }
}

static void begin_session(void)
{
    static const enum hpx_life_event events[] = {HPX_LIFE_PREPARE, HPX_LIFE_PREPARED, HPX_LIFE_START, HPX_LIFE_STARTED, HPX_LIFE_BEGUN};
    for (size_t i = 0; i < HPX_ARRAY_LEN(events); i++) {
        tell(events[i]);
    }
    hpx_gate_open(&hpx_session.gate);
}

enum hpx_life __real_hpx_life_now(void);
enum hpx_life __wrap_hpx_life_now(void);
enum hpx_life __wrap_hpx_life_now(void)
{
    enum hpx_life now = __real_hpx_life_now();
    end_session(&ends_behind_now);
    return now;
}

const char *__real_hpx_life_text(enum hpx_life in);
const char *__wrap_hpx_life_text(enum hpx_life in);
const char *__wrap_hpx_life_text(enum hpx_life in)
{
    end_session(&ends_behind_text);
    return __real_hpx_life_text(in);
}

/* ---- what enters the JVM ---- */

int hpx_errand_do(JavaVM *vm, const struct hpx_errand *what, struct hpx_err *err)
{
    (void)vm, (void)err;
    if (what->options == NULL) {
        bool now = true;
        end_session(&now);
        return 0;
    }
    begin_session();
    if (client_goes) {
        char c;
        assert_int_equal(shutdown(client, SHUT_WR), 0);
        assert_int_equal(recv(what->number, &c, 1, MSG_PEEK), 0); /* it has arrived */
        what->each_tick(what->number, 1);
        was_cancelled = cancelled;
    }
    return 0;
}

void hpx_classes_cancel(bool yes)
{
    cancelled = yes;
}

struct hpx_classes_progress hpx_classes_progress(void)
{
    return (struct hpx_classes_progress){0, 0, 0};
}

uint32_t hpx_classes_restored(void)
{
    return 0;
}

int hpx_run_watch_forks(struct hpx_err *err)
{
    (void)err;
    return 0;
}

int hpx_run_begin(JavaVM *vm, JNIEnv *env, const char *options, struct hpx_err *err)
{
    (void)vm, (void)env, (void)options, (void)err;
    return 0;
}

int hpx_run_end(JNIEnv *env, struct hpx_err *err)
{
    (void)env, (void)err;
    return 0;
}

void hpx_run_say(const struct hpx_err *err)
{
    (void)err;
}

/* ---- a command ---- */

static char answer[4096];

/* Reads until a line begins with `until`; "": until it closes. */
static void hear(const char *until)
{
    for (size_t len = 0, line = 0; len < sizeof answer - 1;) {
        ssize_t n = recv(client, answer + len, 1, 0);
        answer[len + (n > 0)] = 0;
        if (n <= 0) {
            return;
        }
        len++;
        if (answer[len - 1] == '\n') {
            if (*until != 0 && (strncmp(answer + line, until, strlen(until)) == 0 || strncmp(answer + line, "error ", 6) == 0)) {
                return;
            }
            line = len;
        }
    }
}

static void connect_client(void)
{
    struct hpx_err err;
    static JavaVM vm;
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    assert_int_equal(hpx_steer_listen(&vm, false, &err), 0);
    (void)snprintf(at.sun_path, sizeof at.sun_path, "/tmp/" HPX_CONTROL_NAME, (int)getpid());
    client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(client, (const struct sockaddr *)&at, sizeof at), 0);
    hear(HPX_CONTROL_GREETING);
}

static void ask(const char *line)
{
    assert_int_equal(send(client, line, strlen(line), MSG_NOSIGNAL), (ssize_t)strlen(line));
    hear("ok");
}

static char ours[64];

TEST(a_session_that_ends_meanwhile_is_still_that_of_who_began_it)
{
    connect_client();
    ask("start 0 cpu=times\n");
    assert_true(strstr(answer, "session: ") != NULL);
    ends_behind_now = true;
    ask("start 0 cpu=times\n");
    assert_true(strstr(answer, "a session is running, begun by process") != NULL && strstr(answer, ours) != NULL);
    ask("start 0 cpu=times\n");
    ends_behind_text = true;
    ask("status\n");
    assert_true(strstr(answer, "begun by: process") != NULL && strstr(answer, ours) != NULL);
    close(client);
}

TEST(a_begin_is_cancelled_when_its_command_goes_and_the_next_is_not)
{
    connect_client();
    client_goes = true;
    ask("start 0 cpu=times\n");
    assert_true(strstr(answer, HPX_CONTROL_UNDONE) != NULL);
    client_goes = false;
    assert_true(was_cancelled);
    assert_false(cancelled);
    close(client);
}

static int load(void **unused)
{
    static const struct hpx_options options = {.file = "java.hprof"};
    (void)unused;
    hpx_session.opt = &options;
    (void)snprintf(ours, sizeof ours, "process %d of user %u", (int)getpid(), (unsigned)getuid());
    return 0;
}

static int unload(void **unused)
{
    (void)unused;
    return tasks_left(1) != 1; /* the thread that listened has ended: memcheck takes what it holds for lost */
}

TESTS(load, unload)
