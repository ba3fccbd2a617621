/* SPDX-License-Identifier: BSD-2-Clause */
/* test_origin.c: whose profile it is: service and version of the environment or the command, the container, hostile values. */
#include "folder_fixture.h"
#include "origin.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static char text[HPX_REPORT_TEXT];

/* The lines of a profile of this command in this environment. */
static const char *lines(const char *service, const char *attributes, const char *command)
{
    const struct hpx_period profile = {.number = 3, .from_ms = 1000, .to_ms = 61000};
    struct hpx_lines to = {text, 0};
    service != NULL ? setenv("OTEL_SERVICE_NAME", service, 1) : unsetenv("OTEL_SERVICE_NAME");
    attributes != NULL ? setenv("OTEL_RESOURCE_ATTRIBUTES", attributes, 1) : unsetenv("OTEL_RESOURCE_ATTRIBUTES");
    hpx_origin_begin(command);
    hpx_origin_look_for_container(".");
    hpx_origin_lines(&to, &profile);
    return text;
}

/* The value of a key; "": there is no such line. */
static const char *value(const char *of, const char *key)
{
    static char found[HPX_REPORT_TEXT], begin[64];
    found[0] = '\0';
    snprintf(begin, sizeof begin, "hprofx: %s: ", key);
    for (const char *at = of; at != NULL && *at != '\0'; at = strchr(at, '\n'), at += at != NULL) {
        if (strncmp(at, begin, strlen(begin)) == 0) {
            snprintf(found, sizeof found, "%.*s", (int)strcspn(at + strlen(begin), "\n"), at + strlen(begin));
        }
    }
    return found;
}

static void service_is(const char *expected, const char *service, const char *attributes, const char *command)
{
    assert_string_equal(value(lines(service, attributes, command), "service"), expected);
}

TEST(every_profile_has_host_process_and_period, setup, teardown)
{
    char host[65], pid[16];
    uint64_t before = hpx_origin_wall_ms();
    const char *all = lines(NULL, NULL, NULL);
    assert_int_equal(gethostname(host, sizeof host), 0);
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    assert_string_equal(value(all, "host"), host);
    assert_string_equal(value(all, "pid"), pid);
    assert_string_equal(value(all, "profile"), "3, from 1000 to 61000 ms since 1970");
    char *end;
    uint64_t began = strtoull(value(all, "run began"), &end, 10);
    assert_string_equal(end, " ms since 1970");
    assert_in_range(began, before, hpx_origin_wall_ms());
    assert_null(strstr(all, "service"));
    assert_null(strstr(all, "container"));
    assert_null(strstr(all, "recorded from"));
    assert_string_equal(content("said"), "");
}

TEST(the_report_says_from_when_a_session_recorded)
{
    const struct hpx_period profile = {.number = 1};
    const char *const rests[] = {"", "; not yet in all threads and loaded classes", "; in all threads and loaded classes %d ms later"};
    hpx_origin_begin(NULL);
    for (int i = 0; i < 3; i++) {
        struct hpx_lines to = {text, 0};
        uint64_t before = hpx_origin_wall_ms();
        if (i < 2) {
            hpx_origin_recorded(i == 1);
        } else {
            hpx_origin_recorded_all();
        }
        hpx_origin_lines(&to, &profile);
        unsigned long long at;
        int after, later, n = 0;
        const char *said = value(text, "recorded from");
        assert_int_equal(sscanf(said, "%llu ms since 1970, %d ms after the run began%n", &at, &after, &n), 2);
        if (i < 2) {
            assert_string_equal(said + n, rests[i]);
            assert_in_range(at, before, hpx_origin_wall_ms());
        } else {
            assert_int_equal(sscanf(said + n, rests[i], &later), 1);
        }
        assert_true(after >= 0);
    }
}

TEST(the_environment_names_the_service_before_the_command, setup, teardown)
{
    service_is("shop", "shop", "service.name=other", "com.acme.Main");
    service_is("other", NULL, "service.name=other", "com.acme.Main");
    service_is("other", "", "a=b, service.name = other ,c=d", "com.acme.Main");
    service_is("a b/c", " ", "service.name=a%20b%2Fc", "com.acme.Main");
    service_is("100%zz%2", NULL, "service.name=100%zz%2", "com.acme.Main");
    service_is("com.acme.Main", NULL, "service.names=other,xservice.name=x,service.name", "com.acme.Main");
    service_is("com.acme.Main", NULL, "service.name=,,=,", "com.acme.Main");
    assert_string_equal(value(lines(NULL, "service.version=1.2%2B3", NULL), "service version"), "1.2+3");
    assert_string_equal(value(lines("x", "service.name=y", NULL), "service version"), "");
}

TEST(the_command_names_the_service, setup, teardown)
{
    service_is("com.acme.Main", NULL, NULL, "com.acme.Main");
    service_is("com.acme.Main", NULL, NULL, "com.acme.Main x.jar /y.jar");
    service_is("com.acme.Main", NULL, NULL, "com.acme/com.acme.Main -v");
    service_is("app.jar", NULL, NULL, "app.jar --port 1");
    service_is("app.jar", NULL, NULL, "/opt/my app/app.jar --port 1");
    service_is("app-1.jar", NULL, NULL, "./my app.jars/app-1.jar");
    service_is("app.war", NULL, NULL, "/srv/app.war x");
    service_is("", NULL, NULL, "");
    service_is("", NULL, NULL, " ");
}

TEST(hostile_names_forge_no_line, setup, teardown)
{
    char longer[4096];
    service_is("a\\nhprofx: lost: 0\\u001B[2J", "a\nhprofx: lost: 0\x1b[2J", NULL, NULL);
    service_is("\\u00FF\\u00FE", "\xff\xfe", NULL, NULL);
    service_is("a\\nb", NULL, "service.name=a%0Ab", NULL);
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(strlen(value(lines(longer, NULL, NULL), "service")), HPX_ORIGIN_NAME);
    memcpy(longer + HPX_ORIGIN_NAME - 1, "\xc3\xa4", 2); /* a character across the limit is left out */
    assert_int_equal(strlen(value(lines(longer, NULL, NULL), "service")), HPX_ORIGIN_NAME - 1);
    memset(longer, 1, sizeof longer - 1);
    assert_int_equal(strlen(value(lines(longer, NULL, NULL), "service")), 6 * HPX_ORIGIN_NAME);
    assert_string_equal(value(text, "profile"), "3, from 1000 to 61000 ms since 1970");
}

/* ---- containers ---- */

static void put(const char *name, const char *content)
{
    FILE *f = fopen(name, "we");
    assert_non_null(f);
    assert_true(fputs(content, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void container_is(const char *expected, const char *groups, const char *mounts)
{
    assert_true(mkdir("proc", 0700) == 0 || access("proc/self", F_OK) == 0);
    (void)mkdir("proc/self", 0700);
    put("proc/self/cgroup", groups);
    put("proc/self/mountinfo", mounts);
    assert_string_equal(value(lines(NULL, NULL, NULL), "container"), expected);
}

TEST(groups_name_the_container, setup, teardown)
{
    container_is("", "0::/user.slice/user-1000.slice/session-2.scope\n", "");
    container_is(ID, "12:memory:/docker/" ID "\n0::/system.slice\n", "");
    container_is(ID, "0::/system.slice/docker-" ID ".scope\n", "");
    container_is(ID, "0::/kubepods.slice/kubepods-burstable.slice/kubepods-pod1a.slice/cri-containerd-" ID ".scope\n", "");
    container_is(ID, "1:name=systemd:/kubepods/besteffort/pod0c7f-11/" ID "\n", "");
    container_is(ID, "0::/machine.slice/crio-" ID ".scope\n", "");
    container_is(ID, "0::/user.slice/libpod-" ID ".scope/container\n", "");
    container_is(ID, "0::/docker/" OTHER "/docker/" ID "\n", "");
    container_is("", "0::/docker/" ID "0\n0::/x" ID "\n", ""); /* 65 of them, or a longer word */
    container_is("", "0::/docker/0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF\n", "");
}

TEST(mounts_name_it_where_the_container_sees_no_other_groups, setup, teardown)
{
    container_is(ID, "0::/\n",
                 "700 600 0:50 / / rw - overlay overlay rw,lowerdir=/x/" OTHER "/y\n"
                 "701 700 8:1 /var/lib/docker/containers/" ID "/hostname /etc/hostname rw - ext4 /dev/sda1 rw\n");
    container_is(ID, "0::/\n", "7 6 0:25 /containers/overlay-containers/" ID "/userdata/hostname /etc/hostname rw - tmpfs tmpfs rw\n");
    container_is("", "0::/\n",
                 "7 6 8:1 /var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/" ID "/hostname /etc/hostname rw - ext4 x rw\n");
    container_is("", "0::/\n", "7 6 8:1 /x/" ID "/hosts /etc/hosts rw - ext4 x rw\n7\n7 6\n7 6 8:1\n\n7 6 8:1 x\n");
}

TEST(long_lines_and_many_of_them_are_read, setup, teardown)
{
    static char mounts[200000];
    static const char last[] = "701 700 8:1 /var/lib/docker/containers/" ID "/hostname /etc/hostname rw - ext4 /dev/sda1 rw\n";
    memset(mounts, 'm', sizeof mounts - 1);
    for (size_t i = 0; i < 100000; i += i < 50000 ? 100 : 20000) {
        mounts[i] = '\n';
    }
    snprintf(mounts + 150000, sizeof mounts - 150000, "\n%s", last);
    container_is(ID, "0::/\n", mounts);
}

TESTS(NULL, NULL)
