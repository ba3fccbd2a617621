/* SPDX-License-Identifier: BSD-2-Clause */
/* http.c: see http.h. */
#include "http.h"
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECONDS      30
#define CONNECT      10                  /* seconds */
#define BODY         ((size_t)1 << 20)   /* bytes, by default */
#define HEAD         ((size_t)256 << 10) /* bytes of the headers of an answer */
#define SECRETS      ((size_t)64 << 10)  /* bytes of a file with headers */
#define LONGEST_WAIT 86400               /* seconds */
#define NOT_PROXIED  "localhost,127.0.0.1,::1"

struct hpx_http {
    CURL *curl;
    struct hpx_http_how how;
    char fault[CURL_ERROR_SIZE];
    char *no_proxy; /* owned */
    /* Of the request that runs: */
    struct hpx_http_reply *reply;
    size_t head, body; /* bytes that came */
    size_t said;       /* bytes of reply->why that are those of a body */
    bool head_ended;   /* else the connection ended inside the headers, which libcurl takes for an answer */
    bool too_long, line_ended;
};

static void start_curl(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT); /* where it fails, curl_easy_init() does */
}

/* ---- files with secrets ---- */

/* A file that others cannot read; -1: err. */
static int open_secret(const char *file, struct hpx_err *err)
{
    struct stat st;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a FIFO must not stop us */
    if (fd < 0 || fstat(fd, &st) != 0) {
        (void)hpx_err_set(err, HPX_E_IO, "cannot read %s: %s", file, strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        (void)hpx_err_set(err, HPX_E_IO, "%s is not a regular file", file);
    } else if ((st.st_mode & (S_IWGRP | S_IRWXO)) != 0) {
        (void)hpx_err_set(err, HPX_E_IO, "%s has mode %03o, but holds a secret: chmod 600 %s", file, st.st_mode & 0777U, file);
    } else {
        return fd;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return -1;
}

static bool check_file(const char *file, bool secret, struct hpx_err *err)
{
    int fd = secret ? open_secret(file, err) : open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && !secret) {
        (void)hpx_err_set(err, HPX_E_IO, "cannot read %s: %s", file, strerror(errno));
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return fd >= 0;
}

/* The text of a file of at most SECRETS bytes; the caller frees it. NULL: err. */
static char *read_secret(const char *file, struct hpx_err *err)
{
    int fd = open_secret(file, err);
    char *text = fd >= 0 ? malloc(SECRETS + 1) : NULL;
    size_t len = 0;
    ssize_t n = -1;
    if (fd >= 0 && text == NULL) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
    }
    while (text != NULL && len < SECRETS && ((n = read(fd, text + len, SECRETS - len)) > 0 || (n < 0 && errno == EINTR))) {
        len += n > 0 ? (size_t)n : 0;
    }
    if (text != NULL && n != 0) {
        (void)hpx_err_set(err, HPX_E_IO, "cannot read %s: %s", file, n < 0 ? strerror(errno) : "it is too long for headers");
        free(text);
        text = NULL;
    }
    if (text != NULL) {
        text[len] = '\0';
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return text;
}

/* "Name: value", without controls. */
static bool is_header(const char *line)
{
    const char *colon = strchr(line, ':');
    bool fine = colon != NULL && colon > line && strcspn(line, " \t") > (size_t)(colon - line);
    for (; *line != '\0'; line++) {
        fine = fine && ((unsigned char)*line >= ' ' || *line == '\t') && *line != 0x7F;
    }
    return fine;
}

/* false: no memory. */
static bool append(struct curl_slist **to, const char *line)
{
    struct curl_slist *more = curl_slist_append(*to, line);
    *to = more != NULL ? more : *to;
    return more != NULL;
}

/* Adds the lines of a file; the text is of no use after that. false: err. */
static bool take_lines(char *text, const char *file, struct curl_slist **to, struct hpx_err *err)
{
    char *rest = text;
    for (unsigned number = 1; rest != NULL; number++) {
        char *line = strsep(&rest, "\n");
        size_t n = strlen(line);
        line[n > 0 && line[n - 1] == '\r' ? n - 1 : n] = '\0';
        if (line[0] == '\0' || line[0] == '#') {
            continue;
        }
        if (!is_header(line)) {
            (void)hpx_err_set(err, HPX_E_RANGE, "%s: line %u is not a header such as Authorization: Bearer TOKEN", file, number);
            return false;
        }
        if (!append(to, line)) {
            (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
            return false;
        }
    }
    return true;
}

static bool take_file(const char *file, struct curl_slist **to, struct hpx_err *err)
{
    char *text = read_secret(file, err);
    bool took = text != NULL && take_lines(text, file, to, err);
    free(text);
    return took;
}

/* ---- the answer ---- */

/* The status of the answer whose body comes. */
static long status_of(const struct hpx_http *h)
{
    long status = 0;
    (void)curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* Keeps the first line of a body that comes with an error. */
static void keep_line(struct hpx_http *h, const char *bytes, size_t n)
{
    struct hpx_http_reply *r = h->reply;
    for (size_t i = 0; i < n && !h->line_ended && h->said + 1 < sizeof r->why; i++) {
        unsigned char c = (unsigned char)bytes[i];
        h->line_ended = c == '\n' && h->said > 0;
        if (c >= ' ' || c == '\t') {
            r->why[h->said++] = (char)(c == '\t' ? ' ' : c < 0x7F ? c : '?');
        }
    }
    r->why[h->said] = '\0';
}

static size_t on_body(char *bytes, size_t size, size_t n, void *ctx)
{
    struct hpx_http *h = ctx;
    struct hpx_http_reply *r = h->reply;
    n *= size;
    if (n > (r->most > 0 ? r->most : BODY) - h->body) {
        h->too_long = true;
        return 0; /* ends the request */
    }
    h->body += n;
    long status = status_of(h);
    if (status == 200 && r->body != NULL) {
        r->body(r->ctx, bytes, n);
    } else if (status >= 300) {
        keep_line(h, bytes, n);
    }
    return n;
}

static size_t on_header(char *bytes, size_t size, size_t n, void *ctx)
{
    struct hpx_http *h = ctx;
    n *= size;
    if (n >= 5 && memcmp(bytes, "HTTP/", 5) == 0) {
        h->head_ended = false; /* another head may follow one of status 100. Lines behind a body leave it ended */
    }
    h->head_ended = h->head_ended || (n > 0 && n <= 2 && bytes[n - 1] == '\n'); /* the blank line */
    h->head += n;
    h->too_long |= h->head > HEAD;
    return h->too_long ? 0 : n;
}

static int on_progress(void *ctx, curl_off_t down_all, curl_off_t down, curl_off_t up_all, curl_off_t up)
{
    const struct hpx_http *h = ctx;
    (void)down_all, (void)down, (void)up_all, (void)up;
    return h->reply->cancel != NULL && __atomic_load_n(h->reply->cancel, __ATOMIC_RELAXED);
}

/* ---- the object ---- */

static bool set_common(struct hpx_http *h)
{
    CURL *c = h->curl;
    bool ok = curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075500
    ok = ok && curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
#else
    ok = ok && curl_easy_setopt(c, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS)) == CURLE_OK;
#endif
    ok = ok && curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK;
    ok = ok && curl_easy_setopt(c, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L) == CURLE_OK;
    ok = ok && curl_easy_setopt(c, CURLOPT_HTTP09_ALLOWED, 0L) == CURLE_OK;
    ok = ok && curl_easy_setopt(c, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) == CURLE_OK;
    ok = ok && curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT) == CURLE_OK;
    ok = ok && curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)(h->how.seconds > 0 ? h->how.seconds : SECONDS)) == CURLE_OK;
    ok = ok && curl_easy_setopt(c, CURLOPT_USERAGENT, "hprofx/" HPX_VERSION) == CURLE_OK;
    ok = ok && curl_easy_setopt(c, CURLOPT_ERRORBUFFER, h->fault) == CURLE_OK;
    ok = ok && curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK && curl_easy_setopt(c, CURLOPT_WRITEDATA, h) == CURLE_OK;
    ok = ok && curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK;
    ok = ok && curl_easy_setopt(c, CURLOPT_HEADERDATA, h) == CURLE_OK;
    ok = ok && curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress) == CURLE_OK;
    ok = ok && curl_easy_setopt(c, CURLOPT_XFERINFODATA, h) == CURLE_OK && curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L) == CURLE_OK;
    return ok && curl_easy_setopt(c, CURLOPT_NOPROXY, h->no_proxy) == CURLE_OK;
}

/* A libcurl without TLS knows some of these not; then the first request says so. */
static bool set_tls(const struct hpx_http *h)
{
    CURL *c = h->curl;
    bool ok = true;
    (void)curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (h->how.ca != NULL) {
        ok = curl_easy_setopt(c, CURLOPT_CAINFO, h->how.ca) == CURLE_OK;
        (void)curl_easy_setopt(c, CURLOPT_CAPATH, NULL); /* else it would add the system's */
    }
    if (h->how.cert != NULL) {
        ok = ok && curl_easy_setopt(c, CURLOPT_SSLCERT, h->how.cert) == CURLE_OK;
        ok = ok && curl_easy_setopt(c, CURLOPT_SSLKEY, h->how.key != NULL ? h->how.key : h->how.cert) == CURLE_OK;
    }
    return ok;
}

/* The environment's list would be overridden, so it is taken along. NULL: no memory. */
static char *without_proxy(void)
{
    const char *more = getenv("no_proxy");
    char *list = NULL;
    more = more != NULL ? more : getenv("NO_PROXY");
    if (more != NULL && strcmp(more, "*") == 0) {
        return strdup(more);
    }
    return asprintf(&list, "%s%s%s", NOT_PROXIED, more != NULL ? "," : "", more != NULL ? more : "") >= 0 ? list : NULL;
}

static bool check_files(const struct hpx_http_how *how, struct hpx_err *err)
{
    struct curl_slist *lines = NULL;
    bool fine = how->headers == NULL || take_file(how->headers, &lines, err);
    curl_slist_free_all(lines);
    fine = fine && (how->ca == NULL || check_file(how->ca, false, err));
    fine = fine && (how->cert == NULL || check_file(how->cert, how->key == NULL, err)); /* with the key in the same file */
    return fine && (how->key == NULL || check_file(how->key, true, err));
}

struct hpx_http *hpx_http_new(const struct hpx_http_how *how, struct hpx_err *err)
{
    static pthread_once_t started = PTHREAD_ONCE_INIT;
    (void)pthread_once(&started, start_curl);
    if (!check_files(how, err)) {
        return NULL;
    }
    struct hpx_http *h = calloc(1, sizeof *h);
    if (h != NULL) {
        h->how = *how;
        h->no_proxy = without_proxy();
        h->curl = h->no_proxy != NULL ? curl_easy_init() : NULL;
    }
    if (h == NULL || h->curl == NULL || !set_common(h) || !set_tls(h)) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "libcurl cannot be set up: no memory, or it was built without TLS");
        hpx_http_free(h);
        return NULL;
    }
    return h;
}

void hpx_http_free(struct hpx_http *h)
{
    if (h != NULL) {
        curl_easy_cleanup(h->curl);
        free(h->no_proxy);
        free(h);
    }
}

/* ---- a request ---- */

static void say(struct hpx_http *h, const char *why)
{
    h->said = 0;
    h->line_ended = false;
    keep_line(h, why, strlen(why));
}

/* The lines of the request, then those of the file; NULL: reply->why. */
static struct curl_slist *lines_of(struct hpx_http *h, const char *const *headers)
{
    struct curl_slist *all = NULL;
    struct hpx_err err = {""};
    bool fine = append(&all, "Expect:"); /* else libcurl waits a second for servers that do not say that it may go on */
    for (; fine && headers != NULL && *headers != NULL; headers++) {
        fine = append(&all, *headers);
    }
    if (!fine) {
        (void)hpx_err_set(&err, HPX_E_NOMEM, "no memory");
    }
    if (!fine || (h->how.headers != NULL && !take_file(h->how.headers, &all, &err))) {
        say(h, err.msg);
        curl_slist_free_all(all);
        return NULL;
    }
    return all;
}

static void judge(struct hpx_http *h, CURLcode rc)
{
    struct hpx_http_reply *r = h->reply;
    curl_off_t wait = 0;
    long status = status_of(h);
    if (rc != CURLE_OK || status < 100 || !h->head_ended) {
        say(h, h->too_long                       ? "the answer is too long"
               : rc == CURLE_ABORTED_BY_CALLBACK ? "given up, because hprofx-ship ends"
               : rc == CURLE_LOGIN_DENIED        ? "the URL holds a name or password: put credentials into the file of --headers"
               : h->fault[0] != '\0'             ? h->fault
               : rc != CURLE_OK                  ? curl_easy_strerror(rc)
                                                 : "the answer is not HTTP");
        return;
    }
    if (curl_easy_getinfo(h->curl, CURLINFO_RETRY_AFTER, &wait) == CURLE_OK && wait > 0) {
        r->retry_after = wait < LONGEST_WAIT ? (unsigned)wait : LONGEST_WAIT;
    }
    r->status = status;
    if (status >= 300 && status < 400) {
        say(h, "it redirects, which is not followed: give the URL itself");
    }
}

void hpx_http_post(struct hpx_http *h, const char *url, const char *const *headers, const void *bytes, size_t n,
                   struct hpx_http_reply *reply)
{
    reply->status = 0;
    reply->retry_after = 0;
    reply->why[0] = '\0';
    h->reply = reply;
    h->head = h->body = h->said = 0;
    h->too_long = h->line_ended = h->head_ended = false;
    h->fault[0] = '\0';
    struct curl_slist *lines = lines_of(h, headers);
    if (lines == NULL) {
        return;
    }
    bool set = curl_easy_setopt(h->curl, CURLOPT_URL, url) == CURLE_OK && curl_easy_setopt(h->curl, CURLOPT_POST, 1L) == CURLE_OK &&
               curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n) == CURLE_OK &&
               curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, n > 0 ? bytes : "") == CURLE_OK &&
               curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, lines) == CURLE_OK;
    judge(h, set ? curl_easy_perform(h->curl) : CURLE_OUT_OF_MEMORY);
    (void)curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, NULL);
    (void)curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, NULL); /* both are the caller's, or freed now */
    curl_slist_free_all(lines);
}
