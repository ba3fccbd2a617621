/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fleet_dest.c: destinations with their threads. An engine is a thread of the test that answers as it is told: what is taken, refused,
 * sent again; what is left for the next shipper; a folder of pprof files. Sums: read = sent + dropped. */
#include "dest.h"
#include "files.h"
#include "fleet_batches.h"
#include "formats.h"
#include "metrics.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

static struct hpx_err err;

/* Pauses between tries are over at once, so that nobody waits for them. */
int __real_nanosleep(const struct timespec *t, struct timespec *left);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
    (void)t;
    return __real_nanosleep(&(const struct timespec){0, 100000}, left);
}

/* ---- an engine ---- */

static struct engine {
    int listener;
    uint16_t port;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const char
        *answers; /* a letter for each request: t aken, p artly, w ith a warning, r efused, u navailable, c loses; the last holds on */
    unsigned requests;
    size_t bytes; /* of the bodies that were taken */
} engine = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static size_t read_request(int fd)
{
    static char got[1 << 20];
    size_t n = 0;
    for (;;) {
        ssize_t k = recv(fd, got + n, sizeof got - 1 - n, 0);
        if (k <= 0) {
            return 0;
        }
        n += (size_t)k;
        got[n] = '\0';
        const char *end = strstr(got, "\r\n\r\n"), *length = strcasestr(got, "Content-Length: ");
        size_t body = length != NULL ? strtoul(length + 16, NULL, 10) : 0;
        if (end != NULL && n >= (size_t)(end + 4 - got) + body) {
            return body;
        }
    }
}

static void answer(int fd, size_t body)
{
    static const char *const texts[] = {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                                        "HTTP/1.1 400 Bad Request\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbad\n",
                                        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"};
    (void)pthread_mutex_lock(&engine.lock);
    char how = *engine.answers;
    engine.answers += engine.answers[1] != '\0';
    engine.requests++;
    engine.bytes += how == 't' || how == 'p' || how == 'w' ? body : 0;
    (void)pthread_cond_broadcast(&engine.changed);
    (void)pthread_mutex_unlock(&engine.lock);
    const char *text = how == 't'   ? texts[0]
                       : how == 'r' ? texts[1]
                       : how == 'u' ? texts[2]
                       : how == 'p' ? "HTTP/1.1 200 OK\r\nContent-Length: 15\r\nConnection: close\r\n\r\n\x0a\x0d\x08\x01\x12\x09"
                                      "bad\nname\xff"
                       : how == 'w' ? "HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\n\x0a\x06\x12\x04slow"
                                    : "";
    (void)send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static void *serve(void *arg)
{
    (void)arg;
    for (;;) {
        int fd = accept4(engine.listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) {
            return NULL;
        }
        size_t body = read_request(fd);
        if (body > 0) {
            answer(fd, body);
        }
        (void)close(fd);
    }
}

static void start_engine(const char *answers)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    engine.answers = answers;
    engine.requests = 0;
    engine.bytes = 0;
    engine.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(engine.listener >= 0 && bind(engine.listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(engine.listener, 8) == 0);
    assert_int_equal(getsockname(engine.listener, (struct sockaddr *)&at, &n), 0);
    engine.port = ntohs(at.sin_port);
    assert_int_equal(pthread_create(&engine.thread, NULL, serve, NULL), 0);
}

static void stop_engine(void)
{
    (void)shutdown(engine.listener, SHUT_RDWR);
    assert_int_equal(pthread_join(engine.thread, NULL), 0);
    (void)close(engine.listener);
}

/* ---- a destination ---- */

static char url[64], label[64];

static struct hpx_dest *opened(const char *kind, uint64_t most)
{
    enum hpx_status status;
    const char *table = strncmp(kind, "click", 5) == 0 ? "/t" : "";
    (void)snprintf(url, sizeof url, "%s:http://127.0.0.1:%u%s", kind, engine.port, table);
    (void)snprintf(label, sizeof label, "%s:127.0.0.1:%u%s", kind, engine.port, table);
    const struct hpx_dest_asked asked = {.url = url};
    struct hpx_dest *d = hpx_dest_open(&asked, dir, most, &status, &err);
    if (d == NULL) {
        fail_msg("%s", err.msg);
    }
    assert_int_equal(status, HPX_OK);
    return d;
}

static void add(struct hpx_dest *d)
{
    struct hpx_tree t;
    sample_tree(&t);
    hpx_dest_add(d, &t, ids[0]);
    hpx_tree_fini(&t);
}

static void await_empty(struct hpx_dest *d)
{
    while (!hpx_dest_look(d)) {
        (void)__real_nanosleep(&(const struct timespec){0, 1000000}, NULL);
    }
}

static uint64_t sent(void)
{
    return hpx_metric_get(HPX_METRIC_PROFILES_SENT, label, NULL);
}

static uint64_t lost(const char *cause)
{
    return hpx_metric_get(HPX_METRIC_PROFILES_DROPPED, label, cause);
}

/* The engine says 200, and in the body what it did not take. */
TEST(what_an_engine_rejects_of_a_batch_is_counted_as_lost_and_told, setup, teardown)
{
    char wanted[400];
    start_engine("pwwt");
    hush();
    struct hpx_dest *d = opened("otlp", 1 << 20);
    for (int i = 0; i < 4; i++) {
        add(d);
        add(d);
        hpx_dest_flush(d);
        await_empty(d);
    }
    hpx_dest_close(d);
    stop_engine();
    (void)snprintf(wanted, sizeof wanted,
                   "hprofx: %s: 1 profiles were rejected and are lost, each kind of values counted as one: bad?name?\n"
                   "hprofx: %s took all profiles and says: slow\n",
                   label, label);
    assert_string_equal(said(), wanted);
    assert_int_equal(lost("rejected"), 1);
    assert_int_equal(sent(), 7);
    assert_int_equal(engine.requests, 4);
}

TEST(an_answer_that_is_no_message_rejects_nothing)
{
    static const struct {
        const char *bytes;
        size_t n;
        uint64_t rejected;
        const char *why;
    } answers[] = {{"", 0, 0, ""},
                   {"{\"partialSuccess\":{}}", 21, 0, ""},
                   {"\x0a\x02\x08\x07", 4, 7, ""},
                   {"\x0a\x02\x08", 3, 0, ""},                                          /* cut off */
                   {"\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13, 0, ""}, /* -1 */
                   {"\x12\x01x\x0a\x06\x12\x01y\x12\x01z", 11, 0, "z"},
                   {"\x08\x05", 2, 0, ""}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(answers); i++) {
        struct hpx_dest_partial p = hpx_dest_partial(answers[i].bytes, answers[i].n);
        assert_int_equal(p.rejected, answers[i].rejected);
        assert_string_equal(p.why, answers[i].why);
    }
}

TEST(a_spool_that_cannot_be_written_costs_what_is_new, setup, teardown)
{
    struct rlimit was, little;
    start_engine("t");
    (void)signal(SIGXFSZ, SIG_IGN);
    hush();
    struct hpx_dest *d = opened("clickhouse", 1 << 20);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    little = (struct rlimit){HPX_BATCH_LINE + 10, was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    add(d);
    hpx_dest_flush(d);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    add(d);
    hpx_dest_flush(d);
    await_empty(d);
    hpx_dest_close(d);
    stop_engine();
    char wanted[200];
    (void)snprintf(wanted, sizeof wanted, "hprofx: %s: 1 profiles were dropped: spool cannot be written\n", label);
    assert_string_equal(said(), wanted);
    assert_int_equal(lost("spool cannot be written"), 1);
    assert_int_equal(sent(), 1);
}

TEST(what_cannot_be_opened_is_told, setup, teardown)
{
    enum hpx_status status;
    const struct hpx_dest_asked wrong = {.url = "otlp:ftp://h"}, file = {.url = "pprof:/dev/null/x"},
                                no_key = {.url = "otlp:http://h", .how = {.headers = "missing"}};
    assert_null(hpx_dest_open(&wrong, dir, 1, &status, &err));
    assert_int_equal(status, HPX_USAGE);
    assert_null(hpx_dest_open(&file, dir, 1, &status, &err));
    assert_int_equal(status, HPX_FAILED);
    assert_string_equal(err.msg, "profiles cannot be written to /dev/null/x: Not a directory");
    assert_null(hpx_dest_open(&no_key, dir, 1, &status, &err));
    assert_int_equal(status, HPX_FAILED);
    assert_non_null(strstr(err.msg, "missing"));
}

/* ---- a folder ---- */

/* The only file of a folder; "": none. */
static const char *only_file(const char *of)
{
    static char name[256];
    name[0] = '\0';
    DIR *d = opendir(of);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            assert_string_equal(name, "");
            (void)snprintf(name, sizeof name, "%s", e->d_name);
        }
    }
    (void)closedir(d);
    return name;
}

TEST(a_folder_gets_a_file_for_each_profile, setup, teardown)
{
    enum hpx_status status;
    struct stat st;
    struct hpx_tree t;
    const struct hpx_dest_asked asked = {.url = "pprof:out"};
    struct hpx_dest *d = hpx_dest_open(&asked, dir, 1, &status, &err);
    assert_non_null(d);
    (void)snprintf(label, sizeof label, "pprof:out");
    add(d);
    add(d); /* the same again replaces itself */
    assert_true(hpx_dest_look(d));
    assert_int_equal(hpx_dest_bytes(d), 0);
    hpx_dest_flush(d);
    hpx_dest_close(d);
    assert_string_equal(only_file("out"), "shop-h-7-1700000060000-00010203.pb.gz");
    assert_int_equal(stat("out/shop-h-7-1700000060000-00010203.pb.gz", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(sent(), 2);
    int fd = open("out/shop-h-7-1700000060000-00010203.pb.gz", O_RDONLY | O_CLOEXEC);
    assert_true(hpx_tree_init(&t));
    assert_int_equal(hpx_tree_read(&t, fd, NULL, NULL, &err), HPX_TREE_WHOLE);
    hpx_tree_finish(&t);
    assert_int_equal(t.views[HPX_VIEW_CPU].totals[1], 30);
    hpx_tree_fini(&t);
    (void)close(fd);
}

TEST(names_of_files_are_made_of_plain_letters, setup, teardown)
{
    static const struct {
        const char *service, *host, *name;
    } files[] = {{"../../etc/passwd", "/", "_._.._etc_passwd-_-7-1700000060000-00010203.pb.gz"},
                 {"", "", "java-host-7-1700000060000-00010203.pb.gz"},
                 {"a b\xc3\xb6-c", ".x", "a_b___c-_x-7-1700000060000-00010203.pb.gz"},
                 {"</script>", "'; DROP", "__script_-___DROP-7-1700000060000-00010203.pb.gz"}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(files); i++) {
        struct hpx_tree t;
        struct hpx_files *f = hpx_files_open("names", &err);
        assert_non_null(f);
        sample_tree(&t);
        t.origin.service = name_in(&t, files[i].service);
        t.origin.host = name_in(&t, files[i].host);
        assert_true(hpx_files_add(f, &t, ids[0]));
        assert_string_equal(only_file("names"), files[i].name);
        char path[300];
        (void)snprintf(path, sizeof path, "names/%s", files[i].name);
        assert_int_equal(unlinkat(dir, path, 0), 0);
        hpx_tree_fini(&t);
        hpx_files_close(f);
    }
    hpx_files_close(NULL);
}

TEST(a_file_is_never_written_through_a_link_and_leaves_nothing_when_it_fails, setup, teardown)
{
    struct rlimit was, little;
    struct hpx_tree t;
    size_t n;
    struct hpx_files *f = hpx_files_open("out", &err);
    assert_non_null(f);
    put_text("target", "x");
    char hex[HPX_BATCH_ID], part[200];
    hpx_batch_id(ids[0], hex);
    (void)snprintf(part, sizeof part, "out/.shop-h-7-1700000060000-%.8s.pb.gz.part", hex);
    assert_int_equal(symlinkat("../target", dir, part), 0);
    put_text("out/.another-h-7-1700000060000-00000000.pb.gz.part", "another shipper's");
    large_tree(&t, 1);
    origin_in(&t, "h", 7, "shop", 1);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    little = (struct rlimit){100, was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    bool done = hpx_files_add(f, &t, ids[0]);
    int error = errno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    assert_false(done);
    assert_int_equal(error, EFBIG);
    assert_false(there(part));
    assert_true(there("out/.another-h-7-1700000060000-00000000.pb.gz.part"));
    assert_int_equal(unlinkat(dir, "out/.another-h-7-1700000060000-00000000.pb.gz.part", 0), 0);
    assert_string_equal(only_file("out"), "");
    assert_true(hpx_files_add(f, &t, ids[0]));
    hpx_tree_fini(&t);
    hpx_files_close(f);
    char *text = content("target", &n);
    assert_string_equal(text, "x");
    free(text);
}

int main(void)
{
    (void)unsetenv("http_proxy");
    (void)unsetenv("all_proxy");
    return run_the_tests(NULL, NULL);
}
