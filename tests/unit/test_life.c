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
    [HPX_LIFE_STUCK] = {HPX_LIFE_PREPARE, HPX_LIFE_PREPARED, HPX_LIFE_START, HPX_LIFE_NOT_STARTED, HPX_LIFE_UNDO, HPX_LIFE_STALL},
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
    {HPX_LIFE_UNDOING, HPX_LIFE_STALL, HPX_LIFE_STUCK},
    {HPX_LIFE_STUCK, HPX_LIFE_END, HPX_LIFE_UNDOING},
    {HPX_LIFE_STUCK, HPX_LIFE_DIE, HPX_LIFE_DYING},
    {HPX_LIFE_BEGINNING, HPX_LIFE_BEGUN, HPX_LIFE_RUNNING},
    {HPX_LIFE_BEGINNING, HPX_LIFE_DIE, HPX_LIFE_DYING},
    {HPX_LIFE_RUNNING, HPX_LIFE_END, HPX_LIFE_ENDING},
    {HPX_LIFE_RUNNING, HPX_LIFE_DIE, HPX_LIFE_DYING},
    {HPX_LIFE_ENDING, HPX_LIFE_ENDED, HPX_LIFE_NONE},
    {HPX_LIFE_ENDING, HPX_LIFE_STALL, HPX_LIFE_STALLED},
    {HPX_LIFE_STALLED, HPX_LIFE_END, HPX_LIFE_ENDING},
    {HPX_LIFE_STALLED, HPX_LIFE_DIE, HPX_LIFE_DYING},
};

static bool happens_in(enum hpx_life in, enum hpx_life_event e)
{
    bool does = false;
    for (size_t i = 0; i < HPX_ARRAY_LEN(happens); i++) {
        does = does || (happens[i].in == in && happens[i].e == e);
    }
    return does;
}

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
        bool right = came && was == in && (told || hpx_life_now() == in) && told == hpx_life_may(in, e);
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

/* Status says none where a start works, and stop says that; what does not move has one reason, which all of them name; and only a session
 * that runs is said to run. */
TEST(status_start_and_stop_say_the_same)
{
    for (int in = 0; in < HPX_LIFE_STATES; in++) {
        struct hpx_err err;
        const char *text = hpx_life_text((enum hpx_life)in), *why = hpx_life_why((enum hpx_life)in);
        int rc = hpx_life_refuse((enum hpx_life)in, &err);
        bool begins = happens_in((enum hpx_life)in, HPX_LIFE_PREPARE) || happens_in((enum hpx_life)in, HPX_LIFE_UNDO);
        bool stalls = in == HPX_LIFE_STALLED || in == HPX_LIFE_STUCK;
        assert_int_equal(strcmp(text, "none") == 0, begins);
        assert_int_equal(strcmp(err.msg, "no session is running") == 0, begins);
        assert_int_equal(strcmp(text, "running") == 0, in == HPX_LIFE_RUNNING);
        assert_int_equal(strcmp(err.msg, "a session is running") == 0, in == HPX_LIFE_RUNNING);
        assert_int_equal(strstr(text, "has not ended") != NULL, stalls);
        assert_int_equal(strstr(text, "is beginning") != NULL, strstr(err.msg, "being begun; try again") != NULL);
        assert_int_equal(strstr(text, "could not begin") != NULL, strstr(err.msg, "that could not begin") != NULL);
        assert_int_equal(rc, stalls ? -HPX_E_SYS : -HPX_E_BUSY);
        assert_int_equal(happens_in((enum hpx_life)in, HPX_LIFE_END), stalls || in == HPX_LIFE_RUNNING);
        assert_int_equal(why != NULL, stalls);
    }
}

/* In a child: the state stays. */
static int says(enum hpx_life in, const char *text)
{
    pid_t pid = fork();
    if (pid == 0) {
        enum hpx_life was;
        struct hpx_err err;
        bool came = true;
        for (int i = 0; i < WAY && ways[in][i] != HPX_LIFE_STALL && (i == 0 || ways[in][i] != 0); i++) {
            came = came && hpx_life_tell(ways[in][i], &was);
        }
        hpx_life_stall("something stands");
        (void)hpx_life_refuse(hpx_life_now(), &err);
        _exit(!came || hpx_life_now() != in || strcmp(hpx_life_why(in), "something stands") != 0 || strcmp(err.msg, text) != 0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

TEST(what_does_not_move_is_named)
{
    assert_int_equal(says(HPX_LIFE_STALLED, "the session has not ended: something stands; try again later"), 0);
    assert_int_equal(says(HPX_LIFE_STUCK, "a session that could not begin has not ended: something stands; try again later"), 0);
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
