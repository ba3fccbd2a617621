/* SPDX-License-Identifier: BSD-2-Clause */
/* test_options.c: the option parser beyond the recorded cases (test_options_cases.py): sources, option files, hints, limits. */
#include "options_table.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct hpx_options o;
static struct hpx_err err;
static char dir[] = "/tmp/hpx-options-XXXXXX";

static int setup(void **state)
{
    (void)state;
    return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return chdir("/") == 0 ? rmdir(dir) : -1;
}

static void takes3(const char *java, const char *own, const char *line)
{
    err.msg[0] = 0;
    if (hpx_options_parse(&o, java, own, line, &err) != 0) {
        fail_msg("%s: %s", line ? line : "", err.msg);
    }
}

static void takes(const char *line)
{
    takes3(NULL, NULL, line);
}

/* Refused with exactly this message, and nothing is held (the leak checker of the sanitizer build looks too). */
static void refuses(const char *line, const char *message)
{
    struct hpx_options empty = {0};
    assert_int_equal(hpx_options_parse(&o, NULL, NULL, line, &err), -HPX_E_OPT);
    assert_string_equal(err.msg, message);
    assert_null(o.file);
    assert_null(o.net);
    assert_null(o.given);
    assert_int_equal(o.depth, empty.depth);
}

/* Refuses these values of an option alike. */
static void refuses_values(const char *option, const char *must_be, const char *const *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char line[64], message[160];
        (void)snprintf(line, sizeof(line), "%s=%s", option, values[i]);
        (void)snprintf(message, sizeof(message), "hprof option error: %s option value must be %s (%s)", option, must_be, line);
        refuses(line, message);
    }
}

static void write_file(const char *name, const void *text, size_t n)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, n), n);
    assert_int_equal(close(fd), 0);
}

static void write_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

static void options_no_source_gives_the_defaults(void **state)
{
    (void)state;
    takes(NULL);
    assert_true(o.cpu == HPX_CPU_OFF && o.heap_dump && o.heap_sites && o.heap_by_default && !o.monitor && !o.binary && !o.help);
    assert_true(o.lineno && !o.thread && o.doe && !o.msa && o.force && o.verbose && !o.gc_okay && o.primfields && o.primarrays);
    assert_int_equal(o.depth, 4);
    assert_int_equal(o.interval_ns, 10000000);
    assert_true(o.cutoff == 0.0001);
    assert_string_equal(o.file, "java.hprof.txt");
    assert_null(o.net);
    assert_string_equal(o.given, "");
    hpx_options_fini(&o);
}

static void options_later_source_wins(void **state)
{
    (void)state;
    takes3("cpu=times,depth=1,interval=1,file=a", "depth=2,interval=2,file=b", "cpu=samples,interval=3");
    assert_int_equal(o.cpu, HPX_CPU_SAMPLES);
    assert_int_equal(o.depth, 2);
    assert_int_equal(o.interval_ns, 3000000);
    assert_string_equal(o.file, "b");
    assert_string_equal(o.given, "cpu=times,depth=1,interval=1,file=a,depth=2,interval=2,file=b,cpu=samples,interval=3");
    hpx_options_fini(&o);
}

static void options_heap_adds_up_in_a_source_and_is_replaced_by_the_next(void **state)
{
    (void)state;
    takes("heap=sites,heap=dump");
    assert_true(o.heap_dump && o.heap_sites && !o.heap_by_default);
    hpx_options_fini(&o);
    takes3("heap=dump", NULL, "heap=sites");
    assert_true(!o.heap_dump && o.heap_sites);
    hpx_options_fini(&o);
}

static void options_net_of_a_later_source_replaces_file_and_the_reverse(void **state)
{
    (void)state;
    takes3(NULL, "file=a", "net=h:1");
    assert_string_equal(o.net, "h:1");
    assert_string_equal(o.file, "java.hprof.txt");
    hpx_options_fini(&o);
    takes3(NULL, "net=h:1", "file=a,format=b");
    assert_null(o.net);
    assert_string_equal(o.file, "a");
    hpx_options_fini(&o);
}

static void options_gz_adds_a_suffix_to_the_default_name_only(void **state)
{
    (void)state;
    static const struct {
        const char *given, *file;
    } cases[] = {{"gz=y", "java.hprof.txt.gz"}, {"gz=y,format=b", "java.hprof.gz"}, {"gz=n,format=b", "java.hprof"}, {"gz=y,file=x", "x"}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        takes(cases[i].given);
        assert_int_equal(o.gz, strncmp(cases[i].given, "gz=y", 4) == 0);
        assert_string_equal(o.file, cases[i].file);
        hpx_options_fini(&o);
    }
}

static void options_help_ignores_a_broken_environment(void **state)
{
    (void)state;
    takes3("nonsense", "help", "help");
    assert_true(o.help);
    assert_string_equal(o.given, "help");
    hpx_options_fini(&o);
    assert_int_equal(hpx_options_parse(&o, NULL, "help", "cpu=samples", &err), -HPX_E_OPT);
    assert_string_equal(err.msg, "hprof option error: Unknown option: help (help,cpu=samples)\nhprofx: did you mean help?");
}

static void options_checks_across_sources_come_last(void **state)
{
    (void)state;
    assert_int_equal(hpx_options_parse(&o, "cpu=old", "monitor=y", "format=b", &err), -HPX_E_OPT);
    assert_string_equal(err.msg, "hprof option error: cpu=times|old is not supported with format=b (cpu=old,monitor=y,format=b)");
    takes3("format=b", NULL, "format=a,monitor=y");
    assert_true(o.monitor && !o.binary);
    hpx_options_fini(&o);
}

static void options_colon_separates_only_before_an_equal_sign(void **state)
{
    (void)state;
    takes("cpu:samples,file=a:b,depth:7");
    assert_int_equal(o.cpu, HPX_CPU_SAMPLES);
    assert_int_equal(o.depth, 7);
    assert_string_equal(o.file, "a:b");
    hpx_options_fini(&o);
    takes("net:localhost:9,verbose:n");
    assert_string_equal(o.net, "localhost:9");
    assert_false(o.verbose);
    hpx_options_fini(&o);
    takes("file:a=b");
    assert_string_equal(o.file, "a=b");
    hpx_options_fini(&o);
    refuses(":", "hprof option error: general syntax error parsing options (:)");
}

static void options_interval_takes_fractions_and_stays_in_its_bounds(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {{"interval=0.5", 500000},
                {"interval= +2.25", 2250000},
                {"interval=.001", 1000},
                {"interval=0.0000000001", 1},
                {"interval=3.", 3000000},
                {"interval=86400000", HPX_OPT_MAX_INTERVAL_NS},
                {"interval=86400000.1", HPX_OPT_MAX_INTERVAL_NS},
                {"interval=99999999999999999999999999999999999", HPX_OPT_MAX_INTERVAL_NS}};
    static const char *const bad[] = {"0", "0.0", "-1", "+", ".", "1.2.3", "1e3", "0x10", "1 ", "inf", "nan", "+-1", " "};
    (void)state;
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        takes(good[i].text);
        assert_int_equal(o.interval_ns, good[i].ns);
        hpx_options_fini(&o);
    }
    refuses_values("interval", "decimal and > 0", bad, HPX_ARRAY_LEN(bad));
}

static void options_sampler_names_an_engine(void **state)
{
    (void)state;
    takes("cpu=samples");
    assert_int_equal(o.sampler, HPX_ENGINE_ASYNC);
    hpx_options_fini(&o);
    takes("sampler=walk");
    assert_int_equal(o.sampler, HPX_ENGINE_WALK);
    hpx_options_fini(&o);
    takes("sampler=walk,sampler=poll");
    assert_int_equal(o.sampler, HPX_ENGINE_POLL);
    hpx_options_fini(&o);
    refuses("sampler=wal", "hprof option error: sampler option value must be async|walk|poll (sampler=wal)");
    refuses("sampler=", "hprof option error: sampler option value must be async|walk|poll (sampler=)");
}

static void options_signal_is_one_that_the_vm_leaves_alone(void **state)
{
    static const struct {
        const char *text;
        int number;
    } good[] = {{"cpu=samples", SIGPROF}, {"signal=PROF", SIGPROF}, {"signal=SIGVTALRM", SIGVTALRM}, {"signal=USR1", SIGUSR1},
                {"signal=RTMIN", 0},      {"signal=RTMIN+3", -3},   {"signal=SIGRTMIN+27", -27}};
    static const char *const bad[] = {"SEGV", "USR2", "27", "RTMIN+28", "RTMIN+", "RTMIN+-1", "RTMIN+1x", "RTMIN+001", "SIG", "", "prof"};
    (void)state;
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        takes(good[i].text);
        assert_int_equal(o.signal, good[i].number > 0 ? good[i].number : SIGRTMIN - good[i].number);
        hpx_options_fini(&o);
    }
    refuses_values("signal", "PROF|VTALRM|USR1|RTMIN+N", bad, HPX_ARRAY_LEN(bad));
}

static void options_depth_goes_to_2048(void **state)
{
    (void)state;
    takes("depth=2048");
    assert_int_equal(o.depth, HPX_OPT_MAX_DEPTH);
    hpx_options_fini(&o);
    refuses("depth=2049", "hprof option error: depth option value must be decimal and 0..2048 (depth=2049)");
    refuses("depth=99999999999999999999",
            "hprof option error: depth option value must be decimal and 0..2048 (depth=99999999999999999999)");
    refuses("depth=-99999999999999999999", "hprof option error: depth option value must be decimal and >= 0 (depth=-99999999999999999999)");
    refuses("depth= ", "hprof option error: depth option value must be decimal and >= 0 (depth= )");
}

static void options_cutoff_is_what_strtod_takes(void **state)
{
    (void)state;
    takes("cutoff=0x1p-3");
    assert_true(o.cutoff == 0.125);
    hpx_options_fini(&o);
    takes("cutoff=inf");
    assert_true(isinf(o.cutoff));
    hpx_options_fini(&o);
    takes("cutoff=nan");
    assert_true(isnan(o.cutoff));
    hpx_options_fini(&o);
    refuses("cutoff=-inf", "hprof option error: cutoff option value must be floating point and >= 0 (cutoff=-inf)");
}

static void options_net_wants_a_host_and_a_port(void **state)
{
    static const char *const bad[] = {"net=[]:9", "net=[::1",    "net=[::1]9",
                                      "net=h:+9", "net=h: 9",    "net=h:9x",
                                      "net=h:0",  "net=h:65536", "net=h:99999999999999999999999"};
    (void)state;
    takes("net=[fe80::1%eth0]:65535");
    assert_string_equal(o.net, "[fe80::1%eth0]:65535");
    hpx_options_fini(&o);
    for (size_t i = 0; i < HPX_ARRAY_LEN(bad); i++) {
        char message[128];
        (void)snprintf(message, sizeof(message), "hprof option error: net option value must be HOST:PORT, port 1..65535 (%s)", bad[i]);
        refuses(bad[i], message);
    }
    refuses("net=[::1]", "hprof option error: net option missing port (net=[::1])");
    refuses("net=[::1]:", "hprof option error: net option missing port (net=[::1]:)");
}

static void options_net_addresses_with_colons_stand_in_brackets(void **state)
{
    static const char *const good[] = {"[::1]:9000", "[2001:db8::7]:1", "[::ffff:127.0.0.1]:80", "127.0.0.1:80", "a-host.example:80"};
    static const char *const bad[] = {"2001:db8::7:9000", "fe80::1%1:9", "1:2:3", "a:b:9", "host:9000:x", "1::"};
    (void)state;
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        char line[64];
        (void)snprintf(line, sizeof(line), "net=%s", good[i]);
        takes(line);
        assert_string_equal(o.net, good[i]);
        hpx_options_fini(&o);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(bad); i++) {
        char line[64], message[256];
        (void)snprintf(line, sizeof(line), "net=%s", bad[i]);
        (void)snprintf(message, sizeof(message),
                       "hprof option error: net option value must be HOST:PORT, port 1..65535 (%s)\n"
                       "hprofx: an address with colons stands in brackets: net=[::1]:9000",
                       line);
        refuses(line, message);
    }
    refuses("net=::1:9", "hprof option error: net option missing ':' (net=::1:9)"); /* the original's */
}

static void options_of_the_socket(void **state)
{
    (void)state;
    takes("cpu=samples");
    assert_true(!o.net_wait && !o.allow_exit);
    hpx_options_fini(&o);
    takes("net=h:1,net-wait=y,allow-exit=y");
    assert_true(o.net_wait && o.allow_exit);
    hpx_options_fini(&o);
    takes("net=h:1,net-wait:y,net-wait=n,allow-exit=n");
    assert_true(!o.net_wait && !o.allow_exit);
    hpx_options_fini(&o);
    refuses("net-wait=yes", "hprof option error: net-wait option value must be y|n (net-wait=yes)");
    refuses("allow-exit=", "hprof option error: allow-exit option value must be y|n (allow-exit=)");
    refuses("net_wait=y", "hprof option error: Unknown option: net_wait (net_wait=y)\nhprofx: did you mean net-wait?");
    refuses("allowexit=y", "hprof option error: Unknown option: allowexit (allowexit=y)\nhprofx: did you mean allow-exit?");
}

static void options_samples_stands_beside_the_last_of_times_and_old(void **state)
{
    (void)state;
    takes("cpu=times,cpu=old");
    assert_int_equal(o.cpu, HPX_CPU_OLD);
    hpx_options_fini(&o);
    takes("cpu=times,cpu=y,cpu=old");
    assert_int_equal(o.cpu, HPX_CPU_SAMPLES | HPX_CPU_OLD);
    hpx_options_fini(&o);
    takes("cpu=samples,cpu=old,cpu=times,cpu=samples");
    assert_int_equal(o.cpu, HPX_CPU_SAMPLES | HPX_CPU_TIMES);
    hpx_options_fini(&o);
    refuses("cpu=y,cpu=old,format=b", "hprof option error: cpu=times|old is not supported with format=b (cpu=y,cpu=old,format=b)");
    takes3(NULL, "cpu=samples", "cpu=times");
    assert_int_equal(o.cpu, HPX_CPU_TIMES);
    hpx_options_fini(&o);
}

static void options_unknown_name_is_followed_by_the_nearest(void **state)
{
    static const struct {
        const char *name, *nearest;
    } pairs[] = {{"dept", "depth"},     {"depht", "depth"},         {"DEPTH", "depth"},      {"--depth", "depth"},
                 {"cup", "cpu"},        {"cputime", "cpu"},         {"samples", "cpu"},      {"alive", "live"},
                 {"hep", "heap"},       {"intervall", "interval"},  {"formt", "format"},     {"filename", "file"},
                 {"threads", "thread"}, {"verbos", "verbose"},      {"monitors", "monitor"}, {"prim_fields", "primfields"},
                 {" depth", "depth"},   {"monitor,cpu", "monitor"}, {"zzz", "help"},         {"-", "help"}};
    (void)state;
    for (size_t i = 0; i < HPX_ARRAY_LEN(pairs); i++) {
        char line[64], message[256];
        (void)snprintf(line, sizeof(line), "%s=1", pairs[i].name);
        (void)snprintf(message, sizeof(message), "hprof option error: Unknown option: %s (%s)\nhprofx: did you mean %s?", pairs[i].name,
                       line, pairs[i].nearest);
        refuses(line, message);
    }
}

static void options_message_carries_no_control_and_no_broken_character(void **state)
{
    (void)state;
    refuses("a\033[2J\n\r\tb\177=\302\205\377\303", "hprof option error: Unknown option: a?[2J???b? (a?[2J???b?=???"
                                                    ")\nhprofx: did you mean help?");
    refuses("f\303\266o=\342\202\254",
            "hprof option error: Unknown option: f\303\266o (f\303\266o=\342\202\254)\nhprofx: did you mean help?");
}

static void options_long_string_is_cut_and_the_hint_stays(void **state)
{
    static char line[20000];
    (void)state;
    (void)strcpy(line, "dept=");
    memset(line + 5, 'x', sizeof(line) - 6);
    assert_int_equal(hpx_options_parse(&o, NULL, NULL, line, &err), -HPX_E_OPT);
    assert_non_null(strstr(err.msg, "xxx...)\nhprofx: did you mean depth?"));
    assert_true(strlen(err.msg) < 4000);
}

static void options_file_has_one_option_a_line(void **state)
{
    (void)state;
    write_text("f", "# comment\r\n\r\n  cpu=samples \r\n\tdepth:9\nfile=a,b.txt\n#depth=1\nthread=y");
    takes("@f,verbose=n,");
    assert_int_equal(o.cpu, HPX_CPU_SAMPLES);
    assert_int_equal(o.depth, 9);
    assert_string_equal(o.file, "a,b.txt");
    assert_true(o.thread && !o.verbose);
    assert_string_equal(o.given, "@f,verbose=n,");
    hpx_options_fini(&o);
    takes("@f,file=c,heap=sites,depth=2");
    assert_string_equal(o.file, "c");
    assert_int_equal(o.depth, 2);
    hpx_options_fini(&o);
    write_text("f", "heap=dump\nheap=sites\n");
    takes3("@f", NULL, "heap=sites");
    assert_true(!o.heap_dump && o.heap_sites);
    hpx_options_fini(&o);
    assert_int_equal(unlink("f"), 0);
}

static void options_file_error_names_the_line(void **state)
{
    (void)state;
    write_text("f", "cpu=samples\n\ndept=3\n");
    refuses("@f", "hprof option error: Unknown option: dept (@f)\nhprofx: did you mean depth?\nhprofx: line 3 of option file f");
    write_text("f", "cpu=samples,depth=3\n");
    refuses("@f", "hprof option error: cpu option value must be y|samples|times|old (@f)\nhprofx: line 1 of option file f");
    write_text("f", "file=a\nfile=b\n");
    refuses("@f", "hprof option error: file or net options should only appear once (@f)\nhprofx: line 2 of option file f");
    assert_int_equal(unlink("f"), 0);
}

static void options_file_that_cannot_be_read_is_refused(void **state)
{
    static char big[HPX_OPT_MAX_DEPTH * 33];
    (void)state;
    refuses("@", "hprof option error: cannot read option file:  (@)\nhprofx: No such file or directory");
    refuses("cpu=samples,@none,depth=1",
            "hprof option error: cannot read option file: none (cpu=samples,@none,depth=1)\nhprofx: No such file or directory");
    refuses("@.", "hprof option error: cannot read option file: . (@.)\nhprofx: not a regular file");
    assert_int_equal(mkfifo("fifo", 0600), 0);
    refuses("@fifo", "hprof option error: cannot read option file: fifo (@fifo)\nhprofx: not a regular file");
    assert_int_equal(unlink("fifo"), 0);
    write_text("f", " @g\n");
    refuses(
        "@f",
        "hprof option error: cannot read option file: g (@f)\nhprofx: an option file cannot name another\nhprofx: line 1 of option file f");
    write_file("f", "depth=1\0\n", 9);
    refuses("@f", "hprof option error: cannot read option file: f (@f)\nhprofx: not a text file");
    memset(big, '\n', sizeof(big));
    write_file("f", big, 65537);
    refuses("@f", "hprof option error: cannot read option file: f (@f)\nhprofx: larger than 64 KiB");
    write_file("f", big, 65536);
    takes("@f");
    hpx_options_fini(&o);
    assert_int_equal(unlink("f"), 0);
}

static void options_of_monitors(void **state)
{
    (void)state;
    takes("monitor=y");
    assert_true(o.monitor && !o.owner && !o.waits && !o.locks && !o.pinned && o.stacks == HPX_STACKS_EXACT);
    assert_int_equal(o.waitlog, 10000);
    hpx_options_fini(&o);
    takes("monitor=y,owner=y,waits=y,locks=y,pinned=y,waitlog=0");
    assert_true(o.owner && o.waits && o.locks && o.pinned);
    assert_int_equal(o.waitlog, 0);
    hpx_options_fini(&o);
    takes("monitor=y,stacks=sampled,waitlog=-1");
    assert_int_equal(o.stacks, HPX_STACKS_SAMPLED);
    assert_true(o.waitlog == HPX_OPT_ALL_WAITS);
    hpx_options_fini(&o);
    takes("cpu=samples,owner=y,stacks=sampled"); /* without monitor=y they say nothing */
    hpx_options_fini(&o);
    refuses("monitor=y,owner=y,stacks=sampled", "hprof option error: owner=y needs stacks=exact (monitor=y,owner=y,stacks=sampled)");
    refuses("monitor=y,waitlog=x", "hprof option error: waitlog option value must be decimal, or -1 for all (monitor=y,waitlog=x)");
    refuses("monitor=y,waitlog=-2", "hprof option error: waitlog option value must be decimal, or -1 for all (monitor=y,waitlog=-2)");
    refuses("monitor=y,stacks=y", "hprof option error: stacks option value must be exact|sampled (monitor=y,stacks=y)");
}

static void options_of_heap_dumps(void **state)
{
    (void)state;
    takes("heap=dump");
    assert_int_equal(o.heapdump, HPX_HEAPDUMP_AUTO);
    assert_false(o.heapdump_oom);
    assert_int_equal(o.redact, 0);
    assert_null(o.keep);
    hpx_options_fini(&o);
    takes("heap=dump,heapdump=fork+oom,redact=arrays+strings,keep=com.acme:java.lang.Thread");
    assert_int_equal(o.heapdump, HPX_HEAPDUMP_FORK);
    assert_true(o.heapdump_oom);
    assert_int_equal(o.redact, HPX_REDACT_ARRAYS | HPX_REDACT_STRINGS);
    assert_string_equal(o.keep, "com.acme:java.lang.Thread");
    hpx_options_fini(&o);
    takes("heap=dump,heapdump=fork+oom,heapdump=oom,redact=fields");
    assert_int_equal(o.heapdump, HPX_HEAPDUMP_AUTO);
    assert_true(o.heapdump_oom);
    assert_int_equal(o.redact, HPX_REDACT_FIELDS);
    hpx_options_fini(&o);
    takes("heapdump=walk");
    assert_int_equal(o.heapdump, HPX_HEAPDUMP_WALK);
    hpx_options_fini(&o);
    static const char *const wrong[] = {"heapdump=vm", "heapdump=fork+", "heapdump=+oom", "heapdump=oom+oomm"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(wrong); i++) {
        char message[256];
        (void)snprintf(message, sizeof(message),
                       "hprof option error: heapdump option value must be auto|fork|walk, oom, or one of them and oom: fork+oom (%s)",
                       wrong[i]);
        refuses(wrong[i], message);
    }
    refuses("redact=all", "hprof option error: redact option value must be arrays, fields or strings, joined by +, or off (redact=all)");
    refuses("redact=", "hprof option error: redact option value must be arrays, fields or strings, joined by +, or off (redact=)");
}

static void options_of_the_longest_stop(void **state)
{
    static const struct {
        const char *given;
        uint64_t ns;
    } good[] = {{"heap=dump", 200000000},
                {"maxpause=1ms", 1000000},
                {"maxpause=2", 2000000000},
                {"maxpause=5m", 300000000000},
                {"maxpause=0", UINT64_MAX},
                {"maxpause=0ms", UINT64_MAX},
                {"maxpause=off", UINT64_MAX},
                {"maxpause=off,maxpause=20ms", 20000000},
                {"maxpause=99999999999999999999", HPX_OPT_MAX_PERIOD_NS}};
    static const char *const wrong[] = {"maxpause=on", "maxpause=", "maxpause=ms", "maxpause=-1", "maxpause=0.5s", "maxpause=offs"};
    (void)state;
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        takes(good[i].given);
        assert_true(o.maxpause_ns == good[i].ns);
        hpx_options_fini(&o);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(wrong); i++) {
        char message[256];
        (void)snprintf(message, sizeof(message),
                       "hprof option error: maxpause option value must be a time from 1ms on, or off: 200ms, 2s (%s)", wrong[i]);
        refuses(wrong[i], message);
    }
}

static void options_of_cpu_times(void **state)
{
    (void)state;
    takes("cpu=times");
    assert_null(o.include);
    assert_null(o.exclude);
    assert_int_equal(o.min, 0);
    assert_int_equal(o.times, HPX_TIMES_CPU);
    hpx_options_fini(&o);
    takes("cpu=times,include=a.b:*c*,exclude=d,min=65535,times=wall");
    assert_string_equal(o.include, "a.b:*c*");
    assert_string_equal(o.exclude, "d");
    assert_int_equal(o.min, 65535);
    assert_int_equal(o.times, HPX_TIMES_WALL);
    hpx_options_fini(&o);
    takes("cpu=times,include=a,include=b,times=wall,times=cpu,times=sampled");
    assert_string_equal(o.include, "b");
    assert_int_equal(o.times, HPX_TIMES_SAMPLED);
    hpx_options_fini(&o);
    refuses("min=65536", "hprof option error: min option value must be decimal and 0..65535 (min=65536)");
    refuses("min=", "hprof option error: min option value must be decimal and 0..65535 (min=)");
    refuses("min=-1", "hprof option error: min option value must be decimal and 0..65535 (min=-1)");
    refuses("times=real", "hprof option error: times option value must be cpu|wall|sampled (times=real)");
    refuses("include=", "hprof option error: include option value must be class or package names with ':' between (include=)");
    refuses("exclude=a/b", "hprof option error: exclude option value must be class or package names with ':' between (exclude=a/b)");
}

static void options_of_allocation_sites(void **state)
{
    (void)state;
    takes("heap=sites");
    assert_int_equal(o.sites, HPX_SITES_EXACT);
    assert_int_equal(o.sample_bytes, 524288);
    assert_true(o.live && !o.gc);
    hpx_options_fini(&o);
    takes("heap=sites,sites=sampled,live=n,gc=y");
    assert_int_equal(o.sites, HPX_SITES_SAMPLED);
    assert_int_equal(o.sample_bytes, 524288);
    assert_true(!o.live && o.gc);
    hpx_options_fini(&o);
    takes("heap=sites,sample=64k,sites=counts");
    assert_int_equal(o.sites, HPX_SITES_COUNTS);
    hpx_options_fini(&o);
    takes("heap=sites,sites=sampled,sites=exact,live=n,live=y");
    assert_int_equal(o.sites, HPX_SITES_EXACT);
    assert_true(o.live);
    hpx_options_fini(&o);
    refuses("sites=all", "hprof option error: sites option value must be exact|counts|sampled|none (sites=all)");
    refuses("sites=", "hprof option error: sites option value must be exact|counts|sampled|none (sites=)");
    refuses("live=", "hprof option error: live option value must be y|n (live=)");
    refuses("gc=yes", "hprof option error: gc option value must be y|n (gc=yes)");
}

static void options_sample_implies_sampled_and_a_later_sites_wins(void **state)
{
    (void)state;
    takes("heap=sites,sample=64k");
    assert_int_equal(o.sites, HPX_SITES_SAMPLED);
    assert_int_equal(o.sample_bytes, 65536);
    hpx_options_fini(&o);
    takes("heap=sites,sites=exact,sample=64k");
    assert_int_equal(o.sites, HPX_SITES_SAMPLED);
    hpx_options_fini(&o);
    takes("heap=sites,sample=64k,sites=exact");
    assert_int_equal(o.sites, HPX_SITES_EXACT);
    hpx_options_fini(&o);
    takes3("sample=4096", NULL, "heap=sites");
    assert_int_equal(o.sites, HPX_SITES_SAMPLED);
    assert_int_equal(o.sample_bytes, 4096);
    hpx_options_fini(&o);
    takes3("heap=sites,sample=4096", "sites=exact", NULL);
    assert_int_equal(o.sites, HPX_SITES_EXACT);
    hpx_options_fini(&o);
}

static void options_sample_is_a_size_up_to_1g(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"sample=1", 1},
                {"sample=4096", 4096},
                {"sample=3k", 3072},
                {"sample=512K", 524288},
                {"sample=1m", UINT64_C(1) << 20},
                {"sample=1024M", HPX_OPT_MAX_SAMPLE},
                {"sample=1g", HPX_OPT_MAX_SAMPLE},
                {"sample=1073741824", HPX_OPT_MAX_SAMPLE},
                {"sample=9,sample=7", 7}};
    static const char *const bad[] = {"0",
                                      "0k",
                                      "",
                                      "k",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1kb",
                                      "1t",
                                      "1.5m",
                                      "0x10",
                                      "many",
                                      "2g",
                                      "1025m",
                                      "1048577k",
                                      "1073741825",
                                      "99999999999999999999",
                                      "18014398509481985k",
                                      "17179869185g"}; /* the last two wrap */
    (void)state;
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        takes(good[i].text);
        assert_int_equal(o.sample_bytes, good[i].bytes);
        hpx_options_fini(&o);
    }
    refuses_values("sample", "a size from 1 to 1g: 4096, 64k, 1m", bad, HPX_ARRAY_LEN(bad));
}

static void options_heap_sites_without_sites_is_refused(void **state)
{
    (void)state;
    refuses("heap=sites,sites=none", "hprof option error: sites=none leaves nothing of heap=sites (heap=sites,sites=none)");
    assert_int_equal(hpx_options_parse(&o, NULL, "heap=sites", "cpu=samples,sites=none", &err), -HPX_E_OPT);
    takes("heap=sites,sites=none,sites=exact");
    assert_int_equal(o.sites, HPX_SITES_EXACT);
    hpx_options_fini(&o);
    takes("heap=all,sites=none"); /* the dump is left */
    assert_int_equal(o.sites, HPX_SITES_OFF);
    hpx_options_fini(&o);
    takes("cpu=samples,sites=none");
    hpx_options_fini(&o);
}

static void options_of_the_binary_format(void **state)
{
    (void)state;
    takes("cpu=samples,format=b");
    assert_int_equal(o.idsize, 8);
    hpx_options_fini(&o);
    takes("cpu=samples,format=b,idsize=4");
    assert_int_equal(o.idsize, 4);
    hpx_options_fini(&o);
    refuses("idsize=2", "hprof option error: idsize option value must be 4|8 (idsize=2)");
    refuses("idsize=", "hprof option error: idsize option value must be 4|8 (idsize=)");
}

static void options_of_dumps_on_request(void **state)
{
    static const struct {
        const char *given;
        uint64_t ms;
    } good[] = {
        {"90", 90000}, {"250ms", 250}, {"2h,dump=1m", 60000}, {"99999999999999999999s", HPX_OPT_MAX_PERIOD_NS / 1000000}, {"100ms", 100}};
    static const char *const wrong[] = {"99ms", "0ms", "0", "5d", "s"};
    char given[64], said[192];
    (void)state;
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        snprintf(given, sizeof(given), "cpu=samples,split=y,dump=%s", good[i].given);
        takes(given);
        assert_int_equal(o.dump_ns, good[i].ms * 1000000);
        assert_true(o.split);
        hpx_options_fini(&o);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(wrong); i++) {
        snprintf(given, sizeof(given), "dump=%s", wrong[i]);
        snprintf(said, sizeof(said), "hprof option error: dump option value must be a time from 100ms on, or off: 500ms, 60s, 5m, 1h (%s)",
                 given);
        refuses(given, said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_no_source_gives_the_defaults),
        cmocka_unit_test(options_later_source_wins),
        cmocka_unit_test(options_heap_adds_up_in_a_source_and_is_replaced_by_the_next),
        cmocka_unit_test(options_net_of_a_later_source_replaces_file_and_the_reverse),
        cmocka_unit_test(options_gz_adds_a_suffix_to_the_default_name_only),
        cmocka_unit_test(options_help_ignores_a_broken_environment),
        cmocka_unit_test(options_checks_across_sources_come_last),
        cmocka_unit_test(options_colon_separates_only_before_an_equal_sign),
        cmocka_unit_test(options_interval_takes_fractions_and_stays_in_its_bounds),
        cmocka_unit_test(options_sampler_names_an_engine),
        cmocka_unit_test(options_signal_is_one_that_the_vm_leaves_alone),
        cmocka_unit_test(options_depth_goes_to_2048),
        cmocka_unit_test(options_cutoff_is_what_strtod_takes),
        cmocka_unit_test(options_net_wants_a_host_and_a_port),
        cmocka_unit_test(options_net_addresses_with_colons_stand_in_brackets),
        cmocka_unit_test(options_of_the_socket),
        cmocka_unit_test(options_samples_stands_beside_the_last_of_times_and_old),
        cmocka_unit_test(options_unknown_name_is_followed_by_the_nearest),
        cmocka_unit_test(options_message_carries_no_control_and_no_broken_character),
        cmocka_unit_test(options_long_string_is_cut_and_the_hint_stays),
        cmocka_unit_test(options_file_has_one_option_a_line),
        cmocka_unit_test(options_file_error_names_the_line),
        cmocka_unit_test(options_file_that_cannot_be_read_is_refused),
        cmocka_unit_test(options_of_heap_dumps),
        cmocka_unit_test(options_of_the_longest_stop),
        cmocka_unit_test(options_of_cpu_times),
        cmocka_unit_test(options_of_allocation_sites),
        cmocka_unit_test(options_sample_implies_sampled_and_a_later_sites_wins),
        cmocka_unit_test(options_sample_is_a_size_up_to_1g),
        cmocka_unit_test(options_heap_sites_without_sites_is_refused),
        cmocka_unit_test(options_of_the_binary_format),
        cmocka_unit_test(options_of_dumps_on_request),
        cmocka_unit_test(options_of_monitors),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
