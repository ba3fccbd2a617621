/* SPDX-License-Identifier: BSD-2-Clause */
/* fleet_intake_fixture.h: an intake of the folders in and in2, and what it hands on. */
#ifndef HPX_FLEET_INTAKE_FIXTURE_H
#define HPX_FLEET_INTAKE_FIXTURE_H

#include "failing_memory.h"
#include "fleet_fixture.h"
#include "intake.h"
#include "metrics.h"
#include "picture.h"
#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct hpx_err err;
static struct hpx_intake *intake;
static const char *const in_folders[] = {"in", "in2"};
static struct hpx_intake_asked asked;

/* What was handed on: a line "SERVICE TOTAL\n" for each; TOTAL: allocated bytes, or of the first column. */
static char handed[1 << 16];
static uint8_t last_id[HPX_PROFILE_ID];
static uint64_t last_start_ms;
static size_t last_host;
static const char *replaces, *by; /* a file that the first profile's callback replaces by another, or a target; NULL: removes it */

static inline void take(void *ctx, const struct hpx_tree *t, const uint8_t id[HPX_PROFILE_ID])
{
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    size_t n = hpx_tree_columns(t, of), at = strlen(handed);
    assert_ptr_equal(ctx, &asked);
    assert_false(t->no_memory);
    (void)snprintf(handed + at, sizeof handed - at, "%s %llu\n", hpx_tree_text(t, t->origin.service),
                   t->views[HPX_VIEW_ALLOC].samples.len > 0 ? (unsigned long long)t->views[HPX_VIEW_ALLOC].totals[1]
                   : n > 0                                  ? (unsigned long long)t->views[of[0].view].totals[of[0].measure]
                                                            : 0);
    memcpy(last_id, id, sizeof last_id);
    last_start_ms = t->start_ms;
    last_host = strlen(hpx_tree_text(t, t->origin.host));
    if (replaces != NULL) {
        assert_int_equal(unlinkat(dir, replaces, 0), 0);
        assert_true(by == NULL || (strcmp(by, "a folder") == 0 ? mkdirat(dir, replaces, 0700) : symlinkat(by, dir, replaces)) == 0);
        replaces = NULL;
    }
}

static inline void open_intake(void)
{
    asked.state = dir;
    asked.folders = in_folders;
    asked.nfolders = 2;
    intake = hpx_intake_open(&asked, &err);
    if (intake == NULL) {
        fail_msg("%s", err.msg);
    }
}

static inline void restart(void)
{
    hpx_intake_close(intake);
    open_intake();
}

static inline int begin(void **state)
{
    asked = (struct hpx_intake_asked){.service = NULL};
    handed[0] = '\0';
    replaces = by = NULL;
    if (setup(state) != 0 || mkdirat(dir, "in", 0700) != 0 || mkdirat(dir, "in2", 0700) != 0) {
        return -1;
    }
    open_intake();
    return 0;
}

static inline int end(void **state)
{
    hpx_intake_close(intake);
    intake = NULL;
    return teardown(state);
}

/* Scans, and what was handed on is this. */
static inline void scan_gives(const char *wanted)
{
    size_t lines = 0;
    handed[0] = '\0';
    hush();
    size_t n = hpx_intake_scan(intake, 1000, take, &asked);
    (void)said();
    for (const char *c = handed; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    assert_string_equal(handed, wanted);
    assert_int_equal(n, lines);
}

/* The same, with what is said. */
static inline void scan_says(const char *wanted, const char *text)
{
    handed[0] = '\0';
    hush();
    (void)hpx_intake_scan(intake, 1000, take, &asked);
    assert_string_equal(said(), text);
    assert_string_equal(handed, wanted);
}

static inline uint64_t broken(const char *cause)
{
    return hpx_metric_get(HPX_METRIC_PROFILES_BROKEN, cause, NULL);
}

static inline void touch(const char *name, int64_t seconds)
{
    const struct timespec times[] = {{seconds, 0}, {seconds, 0}};
    assert_int_equal(utimensat(dir, name, times, 0), 0);
}

static inline void settle(void)
{
    assert_true(hpx_intake_settle(intake));
}

#endif
