/* SPDX-License-Identifier: BSD-2-Clause */
/* launch.c: see launch.h. */
#include "launch.h"
#include "clock.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* used: by the program, to its end. */
static int wait_child(pid_t child, struct hpx_usage *used)
{
    int status = 0;
    uint64_t begin = hpx_clock_mono();
    struct rusage r = {0};
    while (wait4(child, &status, 0, &r) < 0 && errno == EINTR) {
    }
    *used = (struct hpx_usage){.at = (double)(hpx_clock_mono() - begin) / 1e9, .cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
    used->total = (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The program, with the agent as its first option. It gets the terminal's signals itself. */
static int run_with(char **argv, char *load, struct hpx_usage *used)
{
    size_t words = 1; /* the caller has seen the first */
    while (argv[words] != NULL) {
        words++;
    }
    char **with = calloc(words + 2, sizeof *with);
    if (with == NULL) {
        return HPX_FAILED;
    }
    with[0] = argv[0];
    with[1] = load;
    memcpy(with + 2, argv + 1, words * sizeof *with);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGQUIT, SIG_IGN);
    pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGINT, SIG_DFL);
        (void)signal(SIGQUIT, SIG_DFL);
        execvp(with[0], with);
        (void)fprintf(stderr, "hprofx: cannot run %s: %s\n", with[0], strerror(errno));
        _exit(127);
    }
    free(with);
    return child < 0 ? HPX_FAILED : wait_child(child, used);
}

int hpx_launch(const struct hpx_asked *a, char **argv)
{
    static char options[8192], load[sizeof options + (size_t)2 * PATH_MAX + 32];
    static struct hpx_err err;
    char room[2 * PATH_MAX], folder[64] = "/tmp/hprofx-run-XXXXXX", file[96];
    if (a->out == NULL && mkdtemp(folder) == NULL) {
        return hpx_complain(hpx_fail(&err, HPX_FAILED, "cannot make a folder in /tmp: %s", strerror(errno)), &err);
    }
    (void)snprintf(file, sizeof file, "%s/profile", folder);
    const char *out = a->out != NULL ? hpx_absolute(a->out, room) : file;
    int status = HPX_USAGE, fd = -1;
    struct hpx_verdict v = {.name = "The program"};
    if (!hpx_asked_options(a, out, options, sizeof options)) {
        (void)hpx_complain(hpx_asked_bad_options(&err), &err);
    } else {
        (void)snprintf(load, sizeof load, "-agentpath:%s=%s", hpx_asked_agent(a), options);
        status = run_with(argv, load, &v.usage);
        fd = open(out, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        enum hpx_status shown = fd < 0           ? hpx_fail(&err, HPX_FAILED, "the program has left no profile")
                                : a->out == NULL ? hpx_asked_show(a, &v, fd, -1, &err)
                                                 : HPX_OK;
        status = status != 0 ? status : hpx_complain(shown, &err);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    if (a->out == NULL) {
        (void)unlink(file);
        (void)rmdir(folder);
    }
    return status;
}
