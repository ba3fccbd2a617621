/* SPDX-License-Identifier: BSD-2-Clause */
/* test_http.c: requests of command/fleet/http.c to a server that is a thread of the test and answers with given bytes, sound or not. */
#include "cmocka_all.h"
#include "http.h"
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Answers one connection. */
struct server {
    int listener;
    char url[64];
    const char *answer;
    size_t len;      /* of the answer */
    size_t again;    /* what of it is sent again, to its end, if it is endless */
    bool endless;    /* the answer again and again, until the other side is gone */
    bool holds;      /* no answer: it waits until the other side is gone */
    bool at_once;    /* does not wait for the request */
    char got[65536]; /* the request */
    size_t ngot;
    pthread_t thread;
};

static bool whole(const struct server *s)
{
    const char *end = strstr(s->got, "\r\n\r\n"), *length = strcasestr(s->got, "Content-Length: ");
    return end != NULL && length != NULL && s->ngot >= (size_t)(end + 4 - s->got) + strtoul(length + 16, NULL, 10);
}

static void *serve(void *arg)
{
    struct server *s = arg;
    ssize_t n = 1;
    int fd = accept(s->listener, NULL, NULL);
    while (!s->at_once && !whole(s) && n > 0 && s->ngot + 1 < sizeof s->got) {
        n = recv(fd, s->got + s->ngot, sizeof s->got - 1 - s->ngot, 0);
        s->ngot += n > 0 ? (size_t)n : 0;
        s->got[s->ngot] = '\0';
    }
    while (s->holds && recv(fd, &(char){0}, 1, 0) > 0) {
    }
    size_t begin = 0;
    do {
        size_t at = begin;
        begin = s->again;
        for (n = 1; at < s->len && n > 0; at += n > 0 ? (size_t)n : 0) {
            n = send(fd, s->answer + at, s->len - at, MSG_NOSIGNAL);
        }
    } while (s->endless && n > 0);
    (void)close(fd);
    return NULL;
}

static void start(struct server *s, const char *answer)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    s->answer = answer;
    s->len = s->len > 0 ? s->len : strlen(answer);
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(s->listener >= 0 && bind(s->listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(s->listener, 1) == 0);
    assert_int_equal(getsockname(s->listener, (struct sockaddr *)&at, &len), 0);
    (void)snprintf(s->url, sizeof s->url, "http://127.0.0.1:%u/a?b=c", ntohs(at.sin_port));
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void finish(struct server *s)
{
    assert_int_equal(pthread_join(s->thread, NULL), 0);
    (void)close(s->listener);
}

/* What came as the body. */
struct text {
    char bytes[4096];
    size_t n, calls;
};

static void take(void *ctx, const char *bytes, size_t n)
{
    struct text *t = ctx;
    assert_true(t->n + n < sizeof t->bytes);
    memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
    t->bytes[t->n] = '\0';
    t->calls++;
}

/* One request to a server that answers like that. */
static struct hpx_http_reply ask_how(struct server *s, const char *answer, const struct hpx_http_how *how, struct text *body)
{
    struct hpx_err err = {""};
    struct hpx_http_reply r = {.body = body != NULL ? take : NULL, .ctx = body, .most = 2000};
    const char *const headers[] = {"Content-Type: application/x-protobuf", "X-One: 1", NULL};
    start(s, answer);
    struct hpx_http *h = hpx_http_new(how, &err);
    if (h == NULL) {
        fail_msg("%s", err.msg);
    }
    hpx_http_post(h, s->url, headers, "four\0", 5, &r);
    hpx_http_free(h); /* closes the connection, for which `holds` waits */
    finish(s);
    return r;
}

static struct hpx_http_reply ask(const char *answer, struct text *body)
{
    struct server s = {.listener = -1};
    return ask_how(&s, answer, &(struct hpx_http_how){.seconds = 20}, body);
}

TEST(a_request_has_its_bytes_and_headers)
{
    static struct server s;
    struct text body = {.n = 0};
    struct hpx_http_reply r =
        ask_how(&s, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfine\n", &(struct hpx_http_how){.seconds = 20}, &body);
    assert_int_equal(r.status, 200);
    assert_string_equal(r.why, "");
    assert_int_equal(r.retry_after, 0);
    assert_string_equal(body.bytes, "fine\n");
    assert_memory_equal(s.got, "POST /a?b=c HTTP/1.1\r\n", 22);
    assert_non_null(strstr(s.got, "\r\nContent-Type: application/x-protobuf\r\n"));
    assert_non_null(strstr(s.got, "\r\nX-One: 1\r\n"));
    assert_non_null(strstr(s.got, "\r\nContent-Length: 5\r\n"));
    assert_null(strcasestr(s.got, "\r\nExpect:"));
    assert_memory_equal(s.got + s.ngot - 5, "four\0", 5);
}

TEST(a_status_comes_with_the_first_line_of_its_body)
{
    struct text body = {.n = 0};
    struct hpx_http_reply r = ask("HTTP/1.1 404 Not Found\r\n\r\n\r\nNo \x1B[31m\xE2\x80\xAEtable\tx\r\nsecond", &body);
    assert_int_equal(r.status, 404);
    assert_string_equal(r.why, "No [31m???table x");
    assert_int_equal(body.calls, 0);
    r = ask("HTTP/1.1 204 No Content\r\n\r\n", &body);
    assert_int_equal(r.status, 204);
    r = ask("HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nno", &body);
    assert_int_equal(r.status, 202);
    assert_int_equal(body.calls, 0);
    r = ask("HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", &body);
    assert_int_equal(r.status, 301);
    assert_non_null(strstr(r.why, "redirect"));
    r = ask("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\nX-Sum: 1\r\n\r\n", &body); /* headers behind it */
    assert_int_equal(r.status, 200);
    assert_string_equal(body.bytes, "1");
    body = (struct text){.n = 0};
    r = ask("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1", &body);
    assert_int_equal(r.status, 200);
    assert_int_equal(body.calls, 1);
}

TEST(retry_after_is_seconds_or_a_date)
{
    char text[160];
    struct tm tm;
    time_t at = time(NULL) + 3600;
    struct hpx_http_reply r = ask("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 17\r\nContent-Length: 0\r\n\r\n", NULL);
    assert_int_equal(r.status, 429);
    assert_int_equal(r.retry_after, 17);
    size_t n = strftime(text, sizeof text, "HTTP/1.1 503 No\r\nRetry-After: %a, %d %b %Y %H:%M:%S GMT\r\nContent-Length: 0\r\n\r\n",
                        gmtime_r(&at, &tm));
    assert_true(n > 0);
    r = ask(text, NULL);
    assert_int_equal(r.status, 503);
    assert_in_range(r.retry_after, 1800, 3600);
    static const char *const none[] = {"-5", "soon", "Thu, 01 Jan 1970 00:00:10 GMT", "", "0"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        (void)snprintf(text, sizeof text, "HTTP/1.1 503 No\r\nRetry-After: %s\r\nContent-Length: 0\r\n\r\n", none[i]);
        r = ask(text, NULL);
        assert_int_equal(r.status, 503);
        assert_int_equal(r.retry_after, 0);
    }
    r = ask("HTTP/1.1 503 No\r\nRetry-After: 99999999\r\nContent-Length: 0\r\n\r\n", NULL);
    assert_int_equal(r.retry_after, 86400);
}

TEST(a_slow_server_is_given_up)
{
    bool cancel = true;
    struct hpx_err err = {""};
    static struct server s, t;
    s.holds = t.holds = true;
    struct hpx_http_reply r = ask_how(&s, "", &(struct hpx_http_how){.seconds = 1}, NULL);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.why, "imed out"));
    start(&t, "");
    struct hpx_http *h = hpx_http_new(&(struct hpx_http_how){.seconds = 600}, &err);
    assert_non_null(h);
    r = (struct hpx_http_reply){.cancel = &cancel};
    hpx_http_post(h, t.url, NULL, "x", 1, &r);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.why, "given up"));
    hpx_http_free(h);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); /* the thread may not have had its connection */
    struct sockaddr_in at;
    socklen_t len = sizeof at;
    assert_int_equal(getsockname(t.listener, (struct sockaddr *)&at, &len), 0);
    (void)connect(fd, (struct sockaddr *)&at, len);
    (void)close(fd);
    finish(&t);
}

static char name[64]; /* of a file, "" before the first */

static const char *file_with(const char *text, mode_t mode)
{
    if (name[0] == '\0') {
        (void)snprintf(name, sizeof name, "/tmp/hpx_unit_XXXXXX");
        int fd = mkstemp(name);
        assert_true(fd >= 0 && close(fd) == 0);
    }
    (void)chmod(name, 0600);
    FILE *to = fopen(name, "w");
    assert_non_null(to);
    assert_true(fputs(text, to) >= 0 && fclose(to) == 0 && chmod(name, mode) == 0);
    return name;
}

TEST(a_file_has_headers_which_others_cannot_read)
{
    static struct server s;
    struct hpx_err err = {""};
    struct hpx_http_how how = {.seconds = 20};
    how.headers = file_with("# a token\n\nAuthorization: Bearer abc\r\nX-Scope-OrgID: one\n", 0440);
    struct hpx_http_reply r = ask_how(&s, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", &how, NULL);
    assert_int_equal(r.status, 200);
    assert_non_null(strstr(s.got, "\r\nAuthorization: Bearer abc\r\n"));
    assert_non_null(strstr(s.got, "\r\nX-Scope-OrgID: one\r\n"));
    assert_null(strstr(s.got, "token"));
    static const mode_t wrong[] = {0644, 0604, 0620, 0602};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        how.headers = file_with("A: b\n", wrong[i]);
        assert_null(hpx_http_new(&how, &err));
        assert_non_null(strstr(err.msg, "chmod 600"));
    }
    how.headers = "/tmp";
    assert_null(hpx_http_new(&how, &err));
    how.headers = "/nonexistent/file";
    assert_null(hpx_http_new(&how, &err));
    static const char *const bad[] = {"no colon\n", ": x\n", "A b: c\n", "A: \x1B[3m\n", "A: b\rC: d\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        how.headers = file_with(bad[i], 0600);
        assert_null(hpx_http_new(&how, &err));
        assert_non_null(strstr(err.msg, "line 1"));
    }
    how = (struct hpx_http_how){.key = file_with("", 0644)};
    assert_null(hpx_http_new(&how, &err));
    how = (struct hpx_http_how){.ca = "/nonexistent/file"};
    assert_null(hpx_http_new(&how, &err));
}

TEST(only_http_without_a_password_is_spoken)
{
    static const char *const bad[] = {"file:///etc/passwd",   "ftp://127.0.0.1/", "http://u:p@127.0.0.1:1/", "http://", "",
                                      "gopher://127.0.0.1:1/"};
    struct hpx_err err = {""};
    struct hpx_http *h = hpx_http_new(&(struct hpx_http_how){.seconds = 20}, &err);
    assert_non_null(h);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hpx_http_reply r = {.body = NULL};
        hpx_http_post(h, bad[i], NULL, "", 0, &r);
        assert_int_equal(r.status, 0);
        assert_true(r.why[0] != '\0');
        assert_int_equal(strstr(r.why, "credentials") != NULL, strchr(bad[i], '@') != NULL);
    }
    hpx_http_free(h);
    hpx_http_free(NULL);
}

/* A proxy in the environment would get what is meant for this machine. */
TEST(this_machine_is_asked_without_a_proxy)
{
    assert_int_equal(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
    assert_int_equal(setenv("no_proxy", "example.org", 1), 0);
    struct hpx_http_reply r = ask("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", NULL);
    (void)unsetenv("http_proxy");
    (void)unsetenv("no_proxy");
    assert_int_equal(r.status, 200);
}

int main(void)
{
    int failed = run_the_tests(NULL, NULL);
    if (name[0] != '\0') {
        (void)unlink(name);
    }
    return failed;
}
