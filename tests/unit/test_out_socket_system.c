/* SPDX-License-Identifier: BSD-2-Clause */
/* test_out_socket_system.c: the real calls behind out_socket, on the loopback: names, addresses of both kinds, refusals, descriptors,
 * signals. */
#include "cmocka_all.h"
#include "log.h"
#include "out_socket.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern const struct hpx_out_socket_ops hpx_out_socket_system;

static struct hpx_out out;
static struct hpx_out_socket *sock;
static int listener;
static char peer[64];

static void wake(void *ctx)
{
    (void)ctx;
}

static void restart(void *ctx)
{
    (void)ctx;
    hpx_out_str(&out, "HEADER\n");
    hpx_out_record(&out);
}

static void command(void *ctx, const struct hpx_command *c)
{
    (void)ctx;
    (void)c;
}

/* On a port of its own of the loopback; false: no addresses of this family here. */
static bool listen_on(int family)
{
    struct sockaddr_storage at = {.ss_family = (sa_family_t)family};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&at;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&at;
    socklen_t len = family == AF_INET ? sizeof(*v4) : sizeof(*v6);
    if (family == AF_INET) {
        v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
        v6->sin6_addr = in6addr_loopback;
    }
    listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&at, len) != 0 || listen(listener, 4) != 0) {
        return false;
    }
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
    snprintf(peer, sizeof(peer), family == AF_INET ? "127.0.0.1:%u" : "[::1]:%u", ntohs(family == AF_INET ? v4->sin_port : v6->sin6_port));
    return true;
}

static int open_peer(struct hpx_err *err)
{
    struct hpx_out_socket_config cfg = {.peer = peer, .id_size = 8, .owner = {NULL, wake, restart, NULL, command}};
    return hpx_out_socket_open(&out, &sock, &cfg, err);
}

static char got[256];
static size_t got_len;

/* One connection until its end. */
static void *be_peer(void *unused)
{
    (void)unused;
    int fd = accept(listener, NULL, NULL);
    got_len = 0;
    for (ssize_t n; got_len < sizeof(got) && (n = recv(fd, got + got_len, sizeof(got) - got_len, 0)) > 0;) {
        got_len += (size_t)n;
    }
    close(fd);
    return NULL;
}

static void *run_net(void *arg)
{
    hpx_out_socket_run(arg);
    return NULL;
}

static void write_and_end(void)
{
    pthread_t net, reader;
    assert_int_equal(pthread_create(&reader, NULL, be_peer, NULL), 0);
    assert_true(hpx_out_socket_turn(sock));
    assert_int_equal(pthread_create(&net, NULL, run_net, sock), 0);
    hpx_out_str(&out, "record\n");
    assert_true(hpx_out_record(&out));
    assert_int_equal(hpx_out_close(&out), 0);
    pthread_join(net, NULL);
    pthread_join(reader, NULL);
    hpx_out_socket_destroy(sock);
    assert_int_equal(got_len, strlen("HEADER\nrecord\n"));
    assert_memory_equal(got, "HEADER\nrecord\n", got_len);
}

TEST(addresses_of_both_kinds_and_names)
{
    struct hpx_err err;
    for (int i = 0; i < 3; i++) {
        if (!listen_on(i == 1 ? AF_INET6 : AF_INET)) {
            print_message("no IPv6 here\n");
            continue;
        }
        if (i == 2) {
            char name[64];
            snprintf(name, sizeof(name), "localhost%s", strrchr(peer, ':'));
            memcpy(peer, name, sizeof(peer));
        }
        assert_int_equal(open_peer(&err), 0);
        write_and_end();
        close(listener);
    }
}

TEST(nobody_there_and_brackets_around_no_address)
{
    struct hpx_err err;
    assert_true(listen_on(AF_INET));
    close(listener);
    char message[128];
    snprintf(message, sizeof(message), "can't connect to %s", peer);
    assert_int_equal(open_peer(&err), -HPX_E_IO);
    assert_string_equal(err.msg, message);
    assert_true(listen_on(AF_INET));
    char bracketed[64];
    snprintf(bracketed, sizeof(bracketed), "[127.0.0.1]%s", strrchr(peer, ':'));
    memcpy(peer, bracketed, sizeof(peer));
    assert_int_equal(open_peer(&err), -HPX_E_IO); /* brackets are for addresses with colons */
    close(listener);
}

static int descriptors_above_2(void)
{
    int n = 0;
    for (int fd = 3; fd < 100; fd++) {
        n += fcntl(fd, F_GETFD) >= 0;
    }
    return n;
}

TEST(descriptors_are_closed_on_exec_and_by_forget)
{
    struct hpx_err err;
    assert_true(listen_on(AF_INET));
    int before = descriptors_above_2();
    bool there[100];
    for (int fd = 3; fd < 100; fd++) {
        there[fd] = fcntl(fd, F_GETFD) >= 0;
    }
    assert_int_equal(open_peer(&err), 0);
    assert_int_equal(descriptors_above_2(), before + 2);
    for (int fd = 3; fd < 100; fd++) {
        int flags = fcntl(fd, F_GETFD);
        assert_true(there[fd] || flags < 0 || (flags & FD_CLOEXEC));
    }
    pid_t child = fork();
    if (child == 0) {
        hpx_out_socket_forget(sock);
        bool closed = descriptors_above_2() == before;
        int own[2] = {dup(listener), dup(listener)}; /* under the numbers that were free */
        hpx_out_socket_forget(sock);                 /* as in a child of this child */
        _exit(closed && own[0] >= 0 && own[1] >= 0 && descriptors_above_2() == before + 2 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    write_and_end();
    assert_int_equal(descriptors_above_2(), before);
    close(listener);
}

TEST(a_peer_that_is_gone_sends_no_signal)
{
    struct hpx_err err;
    int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC), pair[2];
    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    close(pair[1]);
    assert_int_equal(hpx_out_socket_system.send(NULL, pair[0], "x", 1), -1);
    assert_int_equal(errno, EPIPE);
    close(pair[0]);
    hpx_log_set_fd(quiet);
    assert_true(listen_on(AF_INET));
    assert_int_equal(open_peer(&err), 0);
    close(accept(listener, NULL, NULL));
    close(listener);
    struct hpx_out_socket_counts c = {0};
    assert_true(hpx_out_socket_turn(sock));
    while (hpx_out_socket_turn(sock)) { /* until the reset has come back */
        hpx_out_str(&out, "record\n");
        hpx_out_record(&out);
        hpx_out_socket_step(sock);
    }
    assert_int_equal(hpx_out_close(&out), 0);
    hpx_out_socket_count(sock, &c);
    assert_int_equal(c.connections, 1);
    hpx_out_socket_destroy(sock);
    hpx_log_set_fd(2);
    close(quiet);
}

TEST(a_connection_to_itself_is_refused)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, len), 0);
    assert_int_equal(hpx_out_socket_system.connected(NULL, fd), ECONNREFUSED);
    close(fd);
}

static bool no_attr;

int __real_pthread_condattr_init(pthread_condattr_t *attr);
int __wrap_pthread_condattr_init(pthread_condattr_t *attr);
int __wrap_pthread_condattr_init(pthread_condattr_t *attr)
{
    return no_attr ? ENOMEM : __real_pthread_condattr_init(attr);
}

/* Waiting on a clock that is not the one of the deadlines has no end that anyone knows. */
TEST(without_the_attribute_of_its_clock_nothing_is_opened)
{
    struct hpx_err err;
    snprintf(peer, sizeof(peer), "127.0.0.1:1");
    no_attr = true;
    assert_int_equal(open_peer(&err), -HPX_E_NOMEM);
    no_attr = false;
}

TESTS(NULL, NULL)
