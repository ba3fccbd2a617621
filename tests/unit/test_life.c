/* SPDX-License-Identifier: BSD-2-Clause */
/* test_life.c: every event in every state, each in a process of its own: DYING has no way back. */
#include "cmocka_all.h"
#include "life.h"
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAY 8

/* How a session comes to each state. */
static const enum hpx_life_event ways[HPX_LIFE_STATES][WAY] = {
    [HPX_LIFE_PREPARING] = {HPX_LIFE_PREPARE},
    [HPX_LIFE_READY] = {HPX_LIFE_PREPARE, HPX_LIFE_PREPARED},
    [HPX_LIFE_STARTING] = {HPX_LIFE_PREPARE, HPX_LIFE_PREPARED, HPX_LIFE_START},
    [HPX_LIFE_UNSTARTED] = {HPX_LIFE_PREPARE, HPX_LIFE_PREPARED, HPX_LIFE_START, HPX_LIFE_NOT_STARTED},
    [HPX_LIFE_UNDOING] = {HPX_LIFE_PREPARE, HPX_LIFE_PREPARED, HPX_LIFE_START, HPX_LIFE_NOT_STARTED, HPX_LIFE_UNDO},
    [HPX_LIFE_BEGINNING] = {HPX_LIFE_PREPARE, HPX_LIFE_PREPARED, HPX_LIFE_START, HPX_LIFE_STARTED},
    [HPX_LIFE_RUNNING] = {HPX_LIFE_PREPARE, HPX_LIFE_PREPARED, HPX_LIFE_START, HPX_LIFE_STARTED, HPX_LIFE_BEGUN},
    [HPX_LIFE_ENDING] = {HPX_LIFE_PREPARE, HPX_LIFE_PREPARED, HPX_LIFE_START, HPX_LIFE_STARTED, HPX_LIFE_BEGUN, HPX_LIFE_END},
    [HPX_LIFE_STALLED] = {HPX_LIFE_PREPARE, HPX_LIFE_PREPARED, HPX_LIFE_START, HPX_LIFE_STARTED, HPX_LIFE_BEGUN, HPX_LIFE_END,
                          HPX_LIFE_STALL},
    [HPX_LIFE_DYING] = {HPX_LIFE_PREPARE, HPX_LIFE_DIE},
};

/* What happens, by the text of life.h; all else is refused. */
static const struct {
    enum hpx_life in;
    enum hpx_life_event e;
    enum hpx_life to;
} happens[] = {
    {HPX_LIFE_NONE, HPX_LIFE_PREPARE, HPX_LIFE_PREPARING},
    {HPX_LIFE_PREPARING, HPX_LIFE_PREPARED, HPX_LIFE_READY},
    {HPX_LIFE_PREPARING, HPX_LIFE_UNDONE, HPX_LIFE_NONE},
    {HPX_LIFE_PREPARING, HPX_LIFE_DIE, HPX_LIFE_DYING},
    {HPX_LIFE_READY, HPX_LIFE_START, HPX_LIFE_STARTING},
    {HPX_LIFE_STARTING, HPX_LIFE_STARTED, HPX_LIFE_BEGINNING},
    {HPX_LIFE_STARTING, HPX_LIFE_NOT_STARTED, HPX_LIFE_UNSTARTED},
    {HPX_LIFE_STARTING, HPX_LIFE_DIE_ANYWAY, HPX_LIFE_DYING},
    {HPX_LIFE_UNSTARTED, HPX_LIFE_UNDO, HPX_LIFE_UNDOING},
    {HPX_LIFE_UNSTARTED, HPX_LIFE_DIE, HPX_LIFE_DYING},
    {HPX_LIFE_UNDOING, HPX_LIFE_UNDONE, HPX_LIFE_NONE},
    {HPX_LIFE_UNDOING, HPX_LIFE_STALL, HPX_LIFE_UNSTARTED},
    {HPX_LIFE_BEGINNING, HPX_LIFE_BEGUN, HPX_LIFE_RUNNING},
    {HPX_LIFE_BEGINNING, HPX_LIFE_DIE, HPX_LIFE_DYING},
    {HPX_LIFE_RUNNING, HPX_LIFE_END, HPX_LIFE_ENDING},
    {HPX_LIFE_RUNNING, HPX_LIFE_DIE, HPX_LIFE_DYING},
    {HPX_LIFE_ENDING, HPX_LIFE_ENDED, HPX_LIFE_NONE},
    {HPX_LIFE_ENDING, HPX_LIFE_STALL, HPX_LIFE_STALLED},
    {HPX_LIFE_STALLED, HPX_LIFE_END, HPX_LIFE_ENDING},
    {HPX_LIFE_STALLED, HPX_LIFE_DIE, HPX_LIFE_DYING},
};

/* Status of a child that has come to the state and told the event: the new state, HPX_LIFE_STATES: refused, more: a mistake. */
static int status_of(enum hpx_life in, enum hpx_life_event e)
{
    pid_t pid = fork();
    if (pid == 0) {
        enum hpx_life was;
        bool came = true;
        for (int i = 0; i < WAY && (i == 0 ? in != HPX_LIFE_NONE : ways[in][i] != 0); i++) {
            came = came && hpx_life_tell(ways[in][i], &was);
        }
        came = came && hpx_life_now() == in;
        bool told = hpx_life_tell(e, &was);
        bool right = came && was == in && (told || hpx_life_now() == in);
        _exit(!right ? 100 : told ? (int)hpx_life_now() : HPX_LIFE_STATES);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

TEST(every_event_in_every_state)
{
    for (int in = 0; in < HPX_LIFE_STATES; in++) {
        for (int e = 0; e < HPX_LIFE_EVENTS; e++) {
            int want = HPX_LIFE_STATES;
            for (size_t i = 0; i < HPX_ARRAY_LEN(happens); i++) {
                want = (int)happens[i].in == in && (int)happens[i].e == e ? (int)happens[i].to : want;
            }
            int got = status_of((enum hpx_life)in, (enum hpx_life_event)e);
            if (got != want) {
                fail_msg("state %d, event %d: %d, expected %d", in, e, got, want);
            }
        }
    }
}

/* Status, start and stop agree: without a session stop says so, and start is refused only where that passes by itself or is said to be
 * over. */
TEST(no_two_answers_contradict_each_other)
{
    for (int in = 0; in < HPX_LIFE_STATES; in++) {
        struct hpx_err begin, end;
        bool refuses_begin = status_of((enum hpx_life)in, HPX_LIFE_PREPARE) == HPX_LIFE_STATES;
        int rc = hpx_life_refuse(HPX_LIFE_END, (enum hpx_life)in, &end);
        assert_true(rc == -HPX_E_BUSY || (rc == -HPX_E_SYS && in == HPX_LIFE_STALLED));
        (void)hpx_life_refuse(HPX_LIFE_PREPARE, (enum hpx_life)in, &begin);
        assert_true(refuses_begin == (strcmp(begin.msg, "no session is running") != 0));
        if (in == HPX_LIFE_RUNNING) {
            assert_string_equal(begin.msg, "a session is running");
        } else {
            assert_null(strstr(begin.msg, "is running; "));
            assert_string_not_equal(begin.msg, "a session is running");
        }
    }
}

#define THREADS 4
#define ROUNDS  2000

static pthread_barrier_t barrier;
static _Atomic unsigned ended;

static void *ends(void *unused)
{
    enum hpx_life was;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&barrier);
        ended += hpx_life_tell(HPX_LIFE_END, &was);
        pthread_barrier_wait(&barrier);
    }
    return unused;
}

TEST(one_of_several_threads_ends_it)
{
    pthread_t threads[THREADS];
    enum hpx_life was;
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ends, NULL), 0);
    }
    for (unsigned round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i == 0 || ways[HPX_LIFE_RUNNING][i] != 0; i++) {
            assert_true(hpx_life_tell(ways[HPX_LIFE_RUNNING][i], &was));
        }
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        assert_int_equal(ended, round);
        assert_true(hpx_life_tell(HPX_LIFE_ENDED, &was));
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&barrier);
}

TESTS(NULL, NULL)
