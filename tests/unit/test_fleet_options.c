/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fleet_options.c: what a destination's URL asks for, what an answer means, pauses; the command lines of ship and watch; times and
 * sizes. */
#include "dest.h"
#include "fleet_fixture.h"
#include "ship.h"
#include "units.h"
#include <math.h>

static struct hpx_err err;

/* ---- URLs ---- */

TEST(a_URL_names_engine_request_and_label, setup, teardown)
{
    static const char insert[] = "/?query=INSERT%20INTO%20t%20(ts,duration_ms,service,version,host,container,pid,profile,kind,row,stack,"
                                 "value)%20FORMAT%20RowBinary";
    static const struct {
        const char *url;
        enum hpx_engine engine;
        const char *request, *label;
    } known[] = {
        {"otlp:http://h:4318", HPX_OTLP, "http://h:4318/v1development/profiles", "otlp:h:4318"},
        {"otlp:http://h:4318/", HPX_OTLP, "http://h:4318/v1development/profiles", "otlp:h:4318"},
        {"otlp:https://h", HPX_OTLP, "https://h/v1development/profiles", "otlp:h"},
        {"otlp:http://[::1]:4318", HPX_OTLP, "http://[::1]:4318/v1development/profiles", "otlp:[::1]:4318"},
        {"otlp:http://h/own/path?key=secret", HPX_OTLP, "http://h/own/path?key=secret", "otlp:h"},
        {"otlp:http://h?key=secret", HPX_OTLP, "http://h/v1development/profiles?key=secret", "otlp:h"},
        {"otlp:http://h/?key=secret", HPX_OTLP, "http://h/v1development/profiles?key=secret", "otlp:h"},
        {"pyroscope:http://h:4040", HPX_PYROSCOPE, "http://h:4040/push.v1.PusherService/Push", "pyroscope:h:4040"},
        {"pyroscope:http://h/a/Push", HPX_PYROSCOPE, "http://h/a/Push", "pyroscope:h"},
        {"clickhouse:http://h:8123/t", HPX_CLICKHOUSE, "http://h:8123%s", "clickhouse:h:8123/t"},
        {"clickhouse:https://h/t?user=u&password=p", HPX_CLICKHOUSE, "https://h%s&user=u&password=p", "clickhouse:h/t"},
    };
    for (size_t i = 0; i < HPX_ARRAY_LEN(known); i++) {
        struct hpx_dest_way way;
        char request[2048];
        assert_true(hpx_dest_is_url(known[i].url));
        assert_true(hpx_dest_way(known[i].url, &way, &err));
        const char *place = strstr(known[i].request, "%s");
        (void)snprintf(request, sizeof request, "%.*s%s%s", place != NULL ? (int)(place - known[i].request) : 2000, known[i].request,
                       place != NULL ? insert : "", place != NULL ? place + 2 : "");
        assert_int_equal(way.engine, known[i].engine);
        assert_string_equal(way.request, request);
        assert_string_equal(way.label, known[i].label);
        assert_null(strstr(way.label, "secret"));
        assert_null(way.folder);
        assert_memory_equal(way.headers[0], "Content-Type: ", 14);
        assert_true(known[i].engine == HPX_PYROSCOPE ? way.headers[1] == NULL
                                                     : strcmp(way.headers[1], "Content-Encoding: gzip") == 0 && way.headers[2] == NULL);
    }
}

TEST(a_folder_is_a_destination, setup, teardown)
{
    struct hpx_dest_way way;
    char longest[1000] = "pprof:";
    assert_true(hpx_dest_is_url("pprof:/a b/\xc3\xb6"));
    assert_true(hpx_dest_way("pprof:/a b/\xc3\xb6", &way, &err));
    assert_string_equal(way.folder, "/a b/\xc3\xb6");
    memset(longest + 6, 'x', sizeof longest - 7);
    assert_true(hpx_dest_way(longest, &way, &err));
    assert_string_equal(way.folder, longest + 6);
    assert_int_equal(strlen(way.label), sizeof way.label - 1);
}

TEST(other_words_are_no_destinations, setup, teardown)
{
    static const char *const folders[] = {"", "x", "/x", "otlp", "pprof", "http://h", "OTLP:http://h", "./otlp:x", "otlp_x:"};
    static const struct {
        const char *url, *why;
    } bad[] = {
        {"http://h", "http://h: a destination is otlp:URL, clickhouse:URL, pyroscope:URL or pprof:FOLDER"},
        {"pprof:", "pprof:: a destination is otlp:URL, clickhouse:URL, pyroscope:URL or pprof:FOLDER"},
        {"otlp:", "otlp:: after otlp: comes http:// or https:// and a host"},
        {"otlp:h:4318", "otlp:h:4318: after otlp: comes http:// or https:// and a host"},
        {"otlp:ftp://h", "otlp:ftp://h: after otlp: comes http:// or https:// and a host"},
        {"otlp:file:///etc/passwd", "otlp:file:///etc/passwd: after otlp: comes http:// or https:// and a host"},
        {"otlp:http:///x", "otlp:http:///x: after otlp: comes http:// or https:// and a host"},
        {"otlp:http://", "otlp:http://: after otlp: comes http:// or https:// and a host"},
        {"otlp:http://?x", "otlp:http://?x: after otlp: comes http:// or https:// and a host"},
        {"otlp:http://h h", "otlp:http://h h: a URL has at most 1500 characters of ASCII, without blanks"},
        {"otlp:http://h\r\nX: y", "otlp:http://h\r\nX: y: a URL has at most 1500 characters of ASCII, without blanks"},
        {"otlp:http://h\x1b[2J", "otlp:http://h\x1b[2J: a URL has at most 1500 characters of ASCII, without blanks"},
        {"otlp:http://h\xc3\xb6", "otlp:http://h\xc3\xb6: a URL has at most 1500 characters of ASCII, without blanks"},
        {"pyroscope:http://u:p@h", "a URL may not hold a password, which everybody on this machine could see; use --headers FILE"},
        {"clickhouse:http://u@h/t", "a URL may not hold a password, which everybody on this machine could see; use --headers FILE"},
    };
    static const char *const tables[] = {"",        "/",         "/?x",   "/.t",  "/d.",  "/a.b.c", "/t/", "/t%20x",
                                         "/t;DROP", "/a-b",      "/`t`",  "/(x)", "/..",  "#/t",    "?/t", "/t'",
                                         "/t x",    "/\xc3\xb6", "/d..t", "/t,u", "/t=u", "/t&u",   "//t"};
    struct hpx_dest_way way;
    for (size_t i = 0; i < HPX_ARRAY_LEN(folders); i++) {
        assert_false(hpx_dest_is_url(folders[i]));
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(bad); i++) {
        assert_false(hpx_dest_way(bad[i].url, &way, &err));
        assert_string_equal(err.msg, bad[i].why);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(tables); i++) {
        char url[64];
        (void)snprintf(url, sizeof url, "clickhouse:http://h%s", tables[i]);
        err.msg[0] = '\0';
        if (hpx_dest_way(url, &way, &err)) {
            fail_msg("%s", url);
        }
        assert_true(err.msg[0] != '\0');
    }
    char longest[1502];
    memset(longest, 'x', sizeof longest);
    memcpy(longest, "clickhouse:http://h/", 20);
    longest[1500] = '\0'; /* the longest there may be */
    assert_true(hpx_dest_way(longest, &way, &err));
    assert_non_null(strstr(way.request, "%20FORMAT%20RowBinary"));
    longest[1500] = 'x';
    longest[1501] = '\0';
    assert_false(hpx_dest_way(longest, &way, &err));
}

/* ---- answers ---- */

TEST(an_answer_means_taken_refused_or_again, setup, teardown)
{
    static const long taken[] = {200, 201, 202, 204, 299}, refused[] = {400, 413, 422};
    for (long status = 0; status < 1000; status++) {
        enum hpx_dest_fate fate = HPX_DEST_AGAIN;
        for (size_t i = 0; i < HPX_ARRAY_LEN(refused); i++) {
            fate = refused[i] == status ? HPX_DEST_REFUSED : fate;
        }
        fate = status >= 200 && status <= 299 ? HPX_DEST_TAKEN : fate;
        assert_int_equal(hpx_dest_fate(status), fate);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(taken); i++) {
        assert_int_equal(hpx_dest_fate(taken[i]), HPX_DEST_TAKEN);
    }
    assert_int_equal(hpx_dest_fate(-1), HPX_DEST_AGAIN);
}

TEST(pauses_double_with_jitter_and_respect_what_was_asked_for, setup, teardown)
{
    static const uint64_t seconds[] = {1, 1, 2, 4, 8, 16, 32, 60, 60};
    for (unsigned failures = 0; failures < HPX_ARRAY_LEN(seconds); failures++) {
        assert_int_equal(hpx_dest_pause(0, failures, 0.5), 1000 * seconds[failures]);
        assert_int_equal(hpx_dest_pause(0, failures, 0), 500 * seconds[failures]);
        assert_int_equal(hpx_dest_pause(0, failures, 1), 1500 * seconds[failures]);
        assert_int_equal(hpx_dest_pause(7, failures, 0), 7000); /* never before */
        assert_int_equal(hpx_dest_pause(7, failures, 1), 8000);
    }
    assert_int_equal(hpx_dest_pause(0, UINT32_MAX, 0.5), 60000);
    assert_int_equal(hpx_dest_pause(UINT32_MAX, 1, 0), UINT32_MAX * UINT64_C(1000));
}

/* ---- command lines ---- */

static struct hpx_ship_asked asked;

/* A command line, word by word. */
static int options(const char *const *words)
{
    static char copies[40][200];
    char *argv[41] = {NULL};
    int argc = 0;
    for (; words[argc] != NULL; argc++) {
        (void)snprintf(copies[argc], sizeof copies[argc], "%s", words[argc]);
        argv[argc] = copies[argc];
    }
    struct hpx_arguments args = hpx_arguments_of(hpx_verb_of(argv[0]), argv);
    return hpx_ship_options(&args, &asked);
}

#define OPTIONS(...) options((const char *const[]){__VA_ARGS__, NULL})

TEST(options_are_for_the_next_destination, setup, teardown)
{
    assert_int_equal(OPTIONS("ship", "--headers", "H", "a", "--ca=C", "otlp:http://h", "b", "pprof:/p", "--cert", "c", "--key", "k",
                             "clickhouse:http://h/t", "--", "--c", "pprof:/q"),
                     -1);
    assert_int_equal(asked.nfolders, 3);
    assert_string_equal(asked.folders[0], "a");
    assert_string_equal(asked.folders[2], "--c");
    assert_int_equal(asked.ndests, 4);
    assert_string_equal(asked.dests[0].how.headers, "H");
    assert_string_equal(asked.dests[0].how.ca, "C");
    assert_null(asked.dests[0].how.cert);
    assert_null(asked.dests[1].how.headers);
    assert_string_equal(asked.dests[2].how.cert, "c");
    assert_string_equal(asked.dests[2].how.key, "k");
    assert_null(asked.dests[2].how.ca);
    assert_string_equal(asked.dests[3].url, "pprof:/q");
    assert_false(asked.watches || asked.once || asked.removes || asked.anywhere);
    assert_int_equal(asked.spool_bytes, 256 << 20);
    assert_true(asked.batch == 10 && asked.wait == 30);
    assert_null(asked.spool);
}

TEST(options_are_taken, setup, teardown)
{
    assert_int_equal(OPTIONS("ship", "a", "--spool", "s", "--spool-bytes", "5g", "--batch", "500ms", "--wait=2m", "--listen", "unix:/x",
                             "--listen-anywhere", "--service", "n", "--remove", "--once"),
                     -1); /* nobody but who pulls */
    assert_string_equal(asked.spool, "s");
    assert_int_equal(asked.spool_bytes, UINT64_C(5) << 30);
    assert_true(asked.batch == 0.5 && asked.wait == 120);
    assert_string_equal(asked.listen, "unix:/x");
    assert_string_equal(asked.service, "n");
    assert_true(asked.anywhere && asked.removes && asked.once);
    assert_int_equal(OPTIONS("watch", "--match", "*Server", "--every", "30s", "--for", "3s", "--share", "10%", "--budget", "0.5", "-e",
                             "alloc", "--agent", "/a.so", "otlp:http://h"),
                     -1);
    assert_true(asked.watches && asked.watch.every == 30 && asked.watch.during == 3 && asked.watch.share == 10);
    assert_true(asked.watch.budget == 0.5);
    assert_string_equal(asked.watch.match, "*Server");
    assert_string_equal(asked.watch.what, "alloc");
    assert_string_equal(asked.watch.agent, "/a.so");
}

#define WHOLE                                                                                                                              \
    ": profiles are sent whole, so that the totals of an engine are those of the programs; hprofx view and fetch filter what an engine "   \
    "keeps"

TEST(a_wrong_command_line_is_told_in_one_line, setup, teardown)
{
    static const struct {
        const char *words[8], *why;
    } bad[] = {
        {{"ship"}, "ship needs a folder with profiles, or net:HOST:PORT"},
        {{"ship", "otlp:http://h"}, "ship needs a folder with profiles, or net:HOST:PORT"},
        {{"ship", "net:h:1", "net:h:2", "pprof:b"}, "net:HOST:PORT can be given once"},
        {{"ship", "net:h:1", "pprof:b", "--once"}, "--once takes folders, and no net:HOST:PORT, to which agents send at any time"},
        {{"ship", "a"}, "no destination is given, as otlp:http://localhost:4318, and no --listen"},
        {{"watch"}, "no destination is given, as otlp:http://localhost:4318, and no --listen"},
        {{"ship", "a", "http://h"}, "a destination begins with its kind: otlp:, clickhouse:, pyroscope: or pprof:"},
        {{"ship", "a", "pprof:b", "pprof:b"}, "a destination is given twice"},
        {{"ship", "a", "pprof:b", "--ca", "c"}, "--headers, --ca, --cert and --key stand before the destination that they are for"},
        {{"ship", "a", "pprof:b", "--batch", "0"}, "times are like 30s, 2m, 500ms"},
        {{"ship", "a", "pprof:b", "--wait", "-1"}, "times are like 30s, 2m, 500ms"},
        {{"ship", "a", "pprof:b", "--spool-bytes", "0"}, "sizes are like 64k, 256m, 2g"},
        {{"ship", "a", "pprof:b", "--spool-bytes", "5x"}, "sizes are like 64k, 256m, 2g"},
        {{"ship", "a", "pprof:b", "--every", "60s"}, "ship has no option --every"},
        {{"ship", "a", "pprof:b", "-e", "cpu"}, "ship has no option -e"},
        {{"ship", "a", "pprof:b", "--include", "c"}, "ship has no option --include" WHOLE},
        {{"watch", "pprof:b", "--from", "1s"}, "watch has no option --from" WHOLE},
        {{"watch", "a", "pprof:b"}, "watch takes destinations alone, as otlp:http://localhost:4318"},
        {{"watch", "pprof:b", "--once"}, "watch has no option --once"},
        {{"watch", "pprof:b", "--remove"}, "watch has no option --remove"},
        {{"watch", "pprof:b", "--share", "0"}, "percents are above 0 and at most 100"},
        {{"watch", "pprof:b", "--share", "101"}, "percents are above 0 and at most 100"},
        {{"watch", "pprof:b", "--budget", "nan"}, "percents are above 0 and at most 100"},
        {{"watch", "pprof:b", "--budget", "1%x"}, "percents are above 0 and at most 100"},
        {{"watch", "pprof:b", "--budget", "1.2.3"}, "percents are above 0 and at most 100"},
        {{"watch", "pprof:b", "--budget", "0x1"}, "percents are above 0 and at most 100"},
        {{"watch", "pprof:b", "-e", "x"}, "-e wants cpu, wall, times, calls, alloc, live, lock or all"},
    };
    for (size_t i = 0; i < HPX_ARRAY_LEN(bad); i++) {
        char wanted[300];
        hush();
        int status = options(bad[i].words);
        (void)snprintf(wanted, sizeof wanted, "hprofx: %s; `hprofx %s --help` shows how\n", bad[i].why, bad[i].words[0]);
        assert_string_equal(said(), wanted);
        assert_int_equal(status, HPX_USAGE);
    }
    hush();
    int status = OPTIONS("ship", "a", "pprof:b", "--nothing");
    assert_non_null(strstr(said(), "--nothing"));
    assert_int_equal(status, HPX_USAGE);
}

TEST(folders_and_destinations_have_a_bound, setup, teardown)
{
    for (int dests = 0; dests < 2; dests++) {
        char names[HPX_SHIP_MOST + 1][20];
        const char *words[HPX_SHIP_MOST + 4] = {"ship", dests != 0 ? "a" : "pprof:b"};
        for (size_t i = 0; i <= HPX_SHIP_MOST; i++) {
            (void)snprintf(names[i], sizeof names[i], "%s%zu", dests != 0 ? "pprof:" : "", i);
            words[i + 2] = names[i];
        }
        hush();
        int status = options(words);
        assert_non_null(strstr(said(), dests != 0 ? "too many destinations" : "too many folders"));
        assert_int_equal(status, HPX_USAGE);
        words[HPX_SHIP_MOST + 2] = NULL;
        assert_int_equal(options(words), -1);
    }
}

TEST(the_spool_is_where_the_system_keeps_state, setup, teardown)
{
    static const struct {
        const char *state, *xdg, *home, *spool;
    } known[] = {{"/var/lib/x", "/y", "/z", "/var/lib/x"},
                 {"/a:/b", NULL, NULL, "/a"},
                 {NULL, "/y", "/z", "/y/hprofx"},
                 {"", "y", "/z", "/z/.local/state/hprofx"},
                 {NULL, NULL, "/z", "/z/.local/state/hprofx"},
                 {"x", "", "z", NULL},
                 {NULL, NULL, NULL, NULL}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(known); i++) {
        char to[100];
        (void)(known[i].state != NULL ? setenv("STATE_DIRECTORY", known[i].state, 1) : unsetenv("STATE_DIRECTORY"));
        (void)(known[i].xdg != NULL ? setenv("XDG_STATE_HOME", known[i].xdg, 1) : unsetenv("XDG_STATE_HOME"));
        (void)(known[i].home != NULL ? setenv("HOME", known[i].home, 1) : unsetenv("HOME"));
        assert_int_equal(hpx_ship_spool(to, sizeof to), known[i].spool != NULL);
        assert_true(known[i].spool == NULL || strcmp(to, known[i].spool) == 0);
        assert_false(hpx_ship_spool(to, 2)); /* it does not fit */
    }
}

/* ---- times and sizes ---- */

TEST(times_have_units, setup, teardown)
{
    static const struct {
        const char *text;
        double seconds;
    } known[] = {{"5", 5}, {"5s", 5}, {"1.5m", 90}, {".5h", 1800}, {"500ms", 0.5}, {"9999999s", 9999999}};
    static const char *const bad[] = {"",    "s",    "-5",  "+5",    " 5",    "5 s",      "5x",     "5sm",   "nan",
                                      "inf", "0x10", "1e3", "1e999", "0x1p3", "10000000", "99999h", "1.2.3", "."};
    for (size_t i = 0; i < HPX_ARRAY_LEN(known); i++) {
        assert_true(fabs(hpx_seconds_of(known[i].text) - known[i].seconds) < 1e-9);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(bad); i++) {
        if (hpx_seconds_of(bad[i]) > 0) {
            fail_msg("%s", bad[i]);
        }
    }
    assert_true(hpx_seconds_of("0") <= 0);
}

TEST(sizes_have_units, setup, teardown)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } known[] = {{"1", 1},
                 {"4096", 4096},
                 {"64k", 65536},
                 {"256m", 256 << 20},
                 {"2g", UINT64_C(2) << 30},
                 {"5000000000", 5000000000},
                 {"1073741824g", UINT64_C(1) << 60},
                 {"1152921504606846976", UINT64_C(1) << 60}};
    static const char *const bad[] = {"",
                                      "0",
                                      "k",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 k",
                                      "1kk",
                                      "1t",
                                      "1K",
                                      "1.5m",
                                      "0x10",
                                      "1152921504606846977",
                                      "1073741825g",
                                      "18446744073709551617",
                                      "99999999999999999999999999"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(known); i++) {
        assert_int_equal(hpx_bytes_of(known[i].text), known[i].bytes);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(bad); i++) {
        if (hpx_bytes_of(bad[i]) != 0) {
            fail_msg("%s", bad[i]);
        }
    }
}

TESTS(NULL, NULL)
