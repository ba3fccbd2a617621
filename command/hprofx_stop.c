/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_stop.c: hprofx stop, dump and status: what is asked of a session that runs. Contract: subcommands.h. */
#include "session.h"
#include "subcommands.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct hpx_live live;

static void say_line(void *to, const char *text)
{
    (void)fprintf(to, "  %s\n", text);
}

/* It was begun without -o, so that its profile is in the JVM's /tmp under a name of ours. */
static bool is_ours(const char *output)
{
    unsigned long long started, at;
    int pid, end = 0;
    size_t n = strlen(output);
    bool is = n < sizeof live.profile && sscanf(output, "/tmp/hprofx-%d-%llx-%llx" HPX_LIVE_KEPT "%n", &pid, &started, &at, &end) == 3 &&
              end > 0 && output[end] == 0;
    if (is) {
        memcpy(live.profile, output + strlen("/tmp/"), n + 1 - strlen("/tmp/"));
    }
    return is;
}

/* The profile of a session that has ended. */
static enum hpx_status show_stopped(const struct hpx_asked *asked)
{
    char name[256], room[2 * PATH_MAX];
    struct hpx_asked named = *asked, *a = &named;
    a->out = a->out != NULL ? hpx_asked_expanded(a->out, live.target.pid, time(NULL), room) : NULL;
    int out = hpx_asked_open(a, &live.err), fd = hpx_live_open(&live, "");
    enum hpx_status s = a->out != NULL && out < 0 ? HPX_FAILED
                        : fd < 0 ? hpx_fail(&live.err, HPX_FAILED, "the agent left no profile; its reason is on stderr of the JVM")
                                 : HPX_OK;
    if (s == HPX_OK) {
        hpx_target_name(&live.target, name, sizeof name);
        s = hpx_asked_show(a, &(struct hpx_verdict){.name = name, .bounded = true}, fd, out, &live.err);
    }
    if (s != HPX_FAILED) {
        hpx_live_clean(&live);
    } else if (fd >= 0) {
        (void)fprintf(stderr, "hprofx: the profile stays at /tmp/%s of the JVM\n", live.profile);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    if (out >= 0) {
        (void)close(out);
    }
    return s;
}

/* Of a session that ended by itself, and has left its profile in the JVM's /tmp. false: there is none. */
static bool ended_by_itself(const struct hpx_asked *a, bool stops, enum hpx_status *s)
{
    if (!hpx_live_kept(&live)) {
        return false;
    }
    if (stops) {
        (void)fputs("  the session had ended by itself\n", stderr);
        *s = show_stopped(a);
    } else {
        (void)printf("  ended by itself: its profile is /tmp/%s of the JVM; `hprofx stop %d` shows it\n", live.profile,
                     (int)live.target.pid);
    }
    return true;
}

/* Also says what was done. */
static enum hpx_status ask(const struct hpx_asked *a, const char *request)
{
    char output[PATH_MAX] = "";
    bool stops = strcmp(request, "stop") == 0, dumps = strcmp(request, "dump") == 0, ours = false;
    enum hpx_status s = HPX_OK;
    if (stops || dumps) {
        s = hpx_live_output(&live, output);
        ours = is_ours(output);
    }
    if (s == HPX_OK && stops && output[0] == 0 && ended_by_itself(a, true, &s)) {
        return s;
    }
    if (s == HPX_OK && stops && !ours && a->out != NULL && output[0] != 0) { /* the session goes on */
        s = hpx_fail(&live.err, HPX_USAGE,
                     "the session was begun with -o and writes %.1000s; stop it without -o, then hprofx convert %.1000s %.500s", output,
                     output, a->out);
    }
    s = s != HPX_OK
            ? s
            : hpx_client_ask_while(&live.client, request, say_line, stops && ours ? stderr : stdout, hpx_live_interrupted, &live.err);
    if (s == HPX_OK && stops && ours) {
        return show_stopped(a);
    }
    if (s == HPX_OK && !stops && !dumps && hpx_live_output(&live, output) == HPX_OK && output[0] == 0) {
        (void)ended_by_itself(a, false, &s);
    }
    if (s == HPX_OK && output[0] != 0 && (stops || dumps)) {
        (void)printf(stops ? "the session has ended; its profile is %s\n" : "the JVM writes a profile to %s\n", output);
    }
    return s;
}

int hpx_live_ask(const struct hpx_asked *a, const char *request, const char *word)
{
    enum hpx_status s = hpx_live_find(&live, word);
    if (s == HPX_OK && live.target.library[0] == 0 && !hpx_client_listens(&live.target)) { /* nothing is loaded for a question */
        bool stops = strcmp(request, "stop") == 0, asks = strcmp(request, "status") == 0;
        if (asks) {
            say_line(stdout, "session: none");
        }
        if (!(stops || asks) || (!ended_by_itself(a, stops, &s) && stops)) {
            s = hpx_fail(&live.err, HPX_REFUSED, "no session is running");
        }
        return hpx_live_leave(&live, s);
    }
    s = s != HPX_OK ? s : hpx_live_reach(&live, a);
    s = s != HPX_OK ? s : ask(a, request);
    return hpx_live_leave(&live, s);
}
