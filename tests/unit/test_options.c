/* SPDX-License-Identifier: BSD-2-Clause */
/* test_options.c: the option parser beyond the recorded cases (test_options_cases.py): sources, option files, hints, limits. */
#include "options_fixture.h"

TEST(options_no_source_gives_the_defaults)
{
    TAKES(NULL, o.cpu == HPX_CPU_OFF && o.heap_dump && o.heap_sites && o.heap_by_default && !o.monitor && !o.binary && !o.help &&
                    o.lineno && !o.thread && o.doe && !o.msa && o.force && o.verbose && !o.gc_okay && o.primfields && o.primarrays &&
                    o.depth == 4 && o.interval_ns == 10000000 && o.cutoff == 0.0001 && !strcmp(o.file, "java.hprof.txt") && !o.net &&
                    !strcmp(o.given, ""));
}

TEST(options_later_source_wins)
{
    takes3("cpu=times,depth=1,interval=1,file=a", "depth=2,interval=2,file=b", "cpu=samples,interval=3");
    assert_int_equal(o.cpu, HPX_CPU_SAMPLES);
    assert_int_equal(o.depth, 2);
    assert_int_equal(o.interval_ns, 3000000);
    assert_string_equal(o.file, "b");
    assert_string_equal(o.given, "cpu=times,depth=1,interval=1,file=a,depth=2,interval=2,file=b,cpu=samples,interval=3");
    hpx_options_fini(&o);
}

TEST(options_heap_adds_up_in_a_source_and_is_replaced_by_the_next)
{
    TAKES("heap=sites,heap=dump", o.heap_dump && o.heap_sites && !o.heap_by_default);
    takes3("heap=dump", NULL, "heap=sites");
    assert_true(!o.heap_dump && o.heap_sites);
    hpx_options_fini(&o);
}

TEST(options_net_of_a_later_source_replaces_file_and_the_reverse)
{
    takes3(NULL, "file=a", "net=h:1");
    assert_string_equal(o.net, "h:1");
    assert_string_equal(o.file, "java.hprof.txt");
    hpx_options_fini(&o);
    takes3(NULL, "net=h:1", "file=a,format=b");
    assert_null(o.net);
    assert_string_equal(o.file, "a");
    hpx_options_fini(&o);
}

TEST(options_gz_adds_a_suffix_to_the_default_name_only)
{
    static const struct {
        const char *given, *file;
    } cases[] = {{"gz=y", "java.hprof.txt.gz"}, {"gz=y,format=b", "java.hprof.gz"}, {"gz=n,format=b", "java.hprof"}, {"gz=y,file=x", "x"}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        TAKES(cases[i].given, o.gz == (strncmp(cases[i].given, "gz=y", 4) == 0) && !strcmp(o.file, cases[i].file));
    }
}

TEST(options_help_ignores_a_broken_environment)
{
    takes3("nonsense", "help", "help");
    assert_true(o.help);
    assert_string_equal(o.given, "help");
    hpx_options_fini(&o);
    assert_int_equal(hpx_options_parse(&o, NULL, "help", "cpu=samples", &err), -HPX_E_OPT);
    assert_string_equal(err.msg, "hprof option error: Unknown option: help (help,cpu=samples)\nhprofx: did you mean help?");
}

TEST(options_checks_across_sources_come_last)
{
    assert_int_equal(hpx_options_parse(&o, "cpu=old", "monitor=y", "format=b", &err), -HPX_E_OPT);
    assert_string_equal(err.msg, "hprof option error: cpu=times|old is not supported with format=b (cpu=old,monitor=y,format=b)");
    takes3("format=b", NULL, "format=a,monitor=y");
    assert_true(o.monitor && !o.binary);
    hpx_options_fini(&o);
}

TEST(options_colon_separates_only_before_an_equal_sign)
{
    TAKES("cpu:samples,file=a:b,depth:7", o.cpu == HPX_CPU_SAMPLES && o.depth == 7 && !strcmp(o.file, "a:b"));
    TAKES("net:localhost:9,verbose:n", !strcmp(o.net, "localhost:9") && !o.verbose);
    TAKES("file:a=b", !strcmp(o.file, "a=b"));
    refuses(":", "hprof option error: general syntax error parsing options (:)");
}

TEST(options_interval_takes_fractions_and_stays_in_its_bounds)
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
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        TAKES(good[i].text, o.interval_ns == good[i].ns);
    }
    REFUSES("interval", "decimal and > 0", "0", "0.0", "-1", "+", ".", "1.2.3", "1e3", "0x10", "1 ", "inf", "nan", "+-1", " ");
}

TEST(options_sampler_names_an_engine)
{
    TAKES("cpu=samples", o.sampler == HPX_ENGINE_ASYNC);
    TAKES("sampler=walk", o.sampler == HPX_ENGINE_WALK);
    TAKES("sampler=walk,sampler=poll", o.sampler == HPX_ENGINE_POLL);
    TAKES("sampler=asgct", o.sampler == HPX_ENGINE_ASGCT);
    refuses("sampler=wal", "hprof option error: sampler option value must be async|walk|poll|asgct (sampler=wal)");
    refuses("sampler=", "hprof option error: sampler option value must be async|walk|poll|asgct (sampler=)");
}

TEST(options_signal_is_one_that_the_vm_leaves_alone)
{
    static const struct {
        const char *text;
        int number;
    } good[] = {{"cpu=samples", SIGPROF}, {"signal=PROF", SIGPROF}, {"signal=SIGVTALRM", SIGVTALRM}, {"signal=USR1", SIGUSR1},
                {"signal=RTMIN", 0},      {"signal=RTMIN+3", -3},   {"signal=SIGRTMIN+27", -27}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        TAKES(good[i].text, o.signal == (good[i].number > 0 ? good[i].number : SIGRTMIN - good[i].number));
    }
    REFUSES("signal", "PROF|VTALRM|USR1|RTMIN+N", "SEGV", "USR2", "27", "RTMIN+28", "RTMIN+", "RTMIN+-1", "RTMIN+1x", "RTMIN+001", "SIG",
            "", "prof");
}

TEST(options_depth_goes_to_2048)
{
    TAKES("depth=2048", o.depth == HPX_OPT_MAX_DEPTH);
    refuses("depth=2049", "hprof option error: depth option value must be decimal and 0..2048 (depth=2049)");
    refuses("depth=99999999999999999999",
            "hprof option error: depth option value must be decimal and 0..2048 (depth=99999999999999999999)");
    refuses("depth=-99999999999999999999", "hprof option error: depth option value must be decimal and >= 0 (depth=-99999999999999999999)");
    refuses("depth= ", "hprof option error: depth option value must be decimal and >= 0 (depth= )");
}

TEST(options_cutoff_is_what_strtod_takes)
{
    TAKES("cutoff=0x1p-3", o.cutoff == 0.125);
    TAKES("cutoff=inf", isinf(o.cutoff));
    TAKES("cutoff=nan", isnan(o.cutoff));
    refuses("cutoff=-inf", "hprof option error: cutoff option value must be floating point and >= 0 (cutoff=-inf)");
}

TEST(options_net_wants_a_host_and_a_port)
{
    static const char *const bad[] = {"net=[]:9", "net=[::1",    "net=[::1]9",
                                      "net=h:+9", "net=h: 9",    "net=h:9x",
                                      "net=h:0",  "net=h:65536", "net=h:99999999999999999999999"};
    TAKES("net=[fe80::1%eth0]:65535", !strcmp(o.net, "[fe80::1%eth0]:65535"));
    for (size_t i = 0; i < HPX_ARRAY_LEN(bad); i++) {
        char message[128];
        (void)snprintf(message, sizeof(message), "hprof option error: net option value must be HOST:PORT, port 1..65535 (%s)", bad[i]);
        refuses(bad[i], message);
    }
    refuses("net=[::1]", "hprof option error: net option missing port (net=[::1])");
    refuses("net=[::1]:", "hprof option error: net option missing port (net=[::1]:)");
}

TEST(options_net_addresses_with_colons_stand_in_brackets)
{
    static const char *const good[] = {"[::1]:9000", "[2001:db8::7]:1", "[::ffff:127.0.0.1]:80", "127.0.0.1:80", "a-host.example:80"};
    static const char *const bad[] = {"2001:db8::7:9000", "fe80::1%1:9", "1:2:3", "a:b:9", "host:9000:x", "1::"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        char line[64];
        (void)snprintf(line, sizeof(line), "net=%s", good[i]);
        TAKES(line, !strcmp(o.net, good[i]));
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

TEST(options_of_the_socket)
{
    TAKES("cpu=samples", !o.net_wait && !o.allow_exit);
    TAKES("net=h:1,net-wait=y,allow-exit=y", o.net_wait && o.allow_exit);
    TAKES("net=h:1,net-wait:y,net-wait=n,allow-exit=n", !o.net_wait && !o.allow_exit);
    refuses("net-wait=yes", "hprof option error: net-wait option value must be y|n (net-wait=yes)");
    refuses("allow-exit=", "hprof option error: allow-exit option value must be y|n (allow-exit=)");
    refuses("net_wait=y", "hprof option error: Unknown option: net_wait (net_wait=y)\nhprofx: did you mean net-wait?");
    refuses("allowexit=y", "hprof option error: Unknown option: allowexit (allowexit=y)\nhprofx: did you mean allow-exit?");
}

TEST(options_samples_stands_beside_the_last_of_times_and_old)
{
    TAKES("cpu=times,cpu=old", o.cpu == HPX_CPU_OLD);
    TAKES("cpu=times,cpu=y,cpu=old", o.cpu == (HPX_CPU_SAMPLES | HPX_CPU_OLD));
    TAKES("cpu=samples,cpu=old,cpu=times,cpu=samples", o.cpu == (HPX_CPU_SAMPLES | HPX_CPU_TIMES));
    refuses("cpu=y,cpu=old,format=b", "hprof option error: cpu=times|old is not supported with format=b (cpu=y,cpu=old,format=b)");
    takes3(NULL, "cpu=samples", "cpu=times");
    assert_int_equal(o.cpu, HPX_CPU_TIMES);
    hpx_options_fini(&o);
}

TEST(options_unknown_name_is_followed_by_the_nearest)
{
    static const struct {
        const char *name, *nearest;
    } pairs[] = {{"dept", "depth"},     {"depht", "depth"},         {"DEPTH", "depth"},      {"--depth", "depth"},
                 {"cup", "cpu"},        {"cputime", "cpu"},         {"samples", "cpu"},      {"alive", "live"},
                 {"hep", "heap"},       {"intervall", "interval"},  {"formt", "format"},     {"filename", "file"},
                 {"threads", "thread"}, {"verbos", "verbose"},      {"monitors", "monitor"}, {"prim_fields", "primfields"},
                 {" depth", "depth"},   {"monitor,cpu", "monitor"}, {"zzz", "help"},         {"-", "help"}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(pairs); i++) {
        char line[64], message[256];
        (void)snprintf(line, sizeof(line), "%s=1", pairs[i].name);
        (void)snprintf(message, sizeof(message), "hprof option error: Unknown option: %s (%s)\nhprofx: did you mean %s?", pairs[i].name,
                       line, pairs[i].nearest);
        refuses(line, message);
    }
}

TEST(options_message_carries_no_control_and_no_broken_character)
{
    refuses("a\033[2J\n\r\tb\177=\302\205\377\303", "hprof option error: Unknown option: a?[2J???b? (a?[2J???b?=???"
                                                    ")\nhprofx: did you mean help?");
    refuses("f\303\266o=\342\202\254",
            "hprof option error: Unknown option: f\303\266o (f\303\266o=\342\202\254)\nhprofx: did you mean help?");
}

TEST(options_long_string_is_cut_and_the_hint_stays)
{
    static char line[20000];
    (void)strcpy(line, "dept=");
    memset(line + 5, 'x', sizeof(line) - 6);
    assert_int_equal(hpx_options_parse(&o, NULL, NULL, line, &err), -HPX_E_OPT);
    assert_non_null(strstr(err.msg, "xxx...)\nhprofx: did you mean depth?"));
    assert_true(strlen(err.msg) < 4000);
}

TEST(options_file_has_one_option_a_line)
{
    write_text("f", "# comment\r\n\r\n  cpu=samples \r\n\tdepth:9\nfile=a,b.txt\n#depth=1\nthread=y");
    TAKES("@f,verbose=n,", o.cpu == HPX_CPU_SAMPLES && o.depth == 9 && !strcmp(o.file, "a,b.txt") && o.thread && !o.verbose &&
                               !strcmp(o.given, "@f,verbose=n,"));
    TAKES("@f,file=c,heap=sites,depth=2", !strcmp(o.file, "c") && o.depth == 2);
    write_text("f", "heap=dump\nheap=sites\n");
    takes3("@f", NULL, "heap=sites");
    assert_true(!o.heap_dump && o.heap_sites);
    hpx_options_fini(&o);
    assert_int_equal(unlink("f"), 0);
}

TEST(options_file_error_names_the_line)
{
    write_text("f", "cpu=samples\n\ndept=3\n");
    refuses("@f", "hprof option error: Unknown option: dept (@f)\nhprofx: did you mean depth?\nhprofx: line 3 of option file f");
    write_text("f", "cpu=samples,depth=3\n");
    refuses("@f", "hprof option error: cpu option value must be y|samples|times|old (@f)\nhprofx: line 1 of option file f");
    write_text("f", "file=a\nfile=b\n");
    refuses("@f", "hprof option error: file or net options should only appear once (@f)\nhprofx: line 2 of option file f");
    assert_int_equal(unlink("f"), 0);
}

TEST(options_file_that_cannot_be_read_is_refused)
{
    static char big[HPX_OPT_MAX_DEPTH * 33];
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
    TAKES("@f", true);
    assert_int_equal(unlink("f"), 0);
}

TESTS(setup, teardown)
