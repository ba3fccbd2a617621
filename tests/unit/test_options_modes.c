/* SPDX-License-Identifier: BSD-2-Clause */
/* test_options_modes.c: the options of every mode, beyond the recorded cases (test_options_cases.py). */
#include "options_fixture.h"

TEST(options_of_monitors)
{
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
    refuses("wall=20,depth=0", "hprof option error: wall= needs stacks: depth=0 has none (wall=20,depth=0)");
    refuses("monitor=y,waitlog=x", "hprof option error: waitlog option value must be decimal, or -1 for all (monitor=y,waitlog=x)");
    refuses("monitor=y,waitlog=-2", "hprof option error: waitlog option value must be decimal, or -1 for all (monitor=y,waitlog=-2)");
    refuses("monitor=y,stacks=y", "hprof option error: stacks option value must be exact|sampled (monitor=y,stacks=y)");
}

TEST(options_of_the_wall_clock)
{
    takes("wall=y");
    assert_true(o.wall_ns == HPX_OPT_WALL_NS && !o.heap_dump && !o.heap_sites && o.cpu == HPX_CPU_OFF);
    hpx_options_fini(&o);
    takes("cpu=samples,wall=2.5,format=b");
    assert_true(o.wall_ns == 2500000 && o.cpu == HPX_CPU_SAMPLES);
    hpx_options_fini(&o);
    takes("wall=5,wall=n");
    assert_true(o.wall_ns == 0 && o.heap_by_default);
    hpx_options_fini(&o);
    static const char *const wrong[] = {"wall=0", "wall=0.9", "wall=-1", "wall=", "wall=x", "wall=20ms"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(wrong); i++) {
        char message[128];
        (void)snprintf(message, sizeof(message), "hprof option error: wall option value must be y, n or decimal and >= 1 (%s)", wrong[i]);
        refuses(wrong[i], message);
    }
}

TEST(options_of_heap_dumps)
{
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

TEST(options_of_the_longest_stop)
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

TEST(options_of_cpu_times)
{
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

TEST(options_of_allocation_sites)
{
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

TEST(options_sample_implies_sampled_and_a_later_sites_wins)
{
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

TEST(options_sample_is_a_size_up_to_1g)
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
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        takes(good[i].text);
        assert_int_equal(o.sample_bytes, good[i].bytes);
        hpx_options_fini(&o);
    }
    refuses_values("sample", "a size from 1 to 1g: 4096, 64k, 1m", bad, HPX_ARRAY_LEN(bad));
}

TEST(options_heap_sites_without_sites_is_refused)
{
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

TEST(options_of_the_binary_format)
{
    takes("cpu=samples,format=b");
    assert_int_equal(o.idsize, 8);
    hpx_options_fini(&o);
    takes("cpu=samples,format=b,idsize=4");
    assert_int_equal(o.idsize, 4);
    hpx_options_fini(&o);
    refuses("idsize=2", "hprof option error: idsize option value must be 4|8 (idsize=2)");
    refuses("idsize=", "hprof option error: idsize option value must be 4|8 (idsize=)");
}

TEST(options_of_dumps_on_request)
{
    static const struct {
        const char *given;
        uint64_t ms;
    } good[] = {
        {"90", 90000}, {"250ms", 250}, {"2h,dump=1m", 60000}, {"99999999999999999999s", HPX_OPT_MAX_PERIOD_NS / 1000000}, {"100ms", 100}};
    static const char *const wrong[] = {"99ms", "0ms", "0", "5d", "s"};
    char given[64], said[192];
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

TEST(options_of_files_that_are_kept)
{
    static const struct {
        const char *given;
        uint32_t files;
        uint64_t bytes;
    } good[] = {{"keep-files=1", 1, 0},
                {"keep-files=65536,keep-bytes=1", HPX_OPT_MAX_KEEP, 1},
                {"keep-bytes=64k", 0, 65536},
                {"keep-bytes=3G,keep-files=5,keep-files=off", 0, UINT64_C(3) << 30},
                {"keep-bytes=1048576t", 0, HPX_OPT_MAX_BYTES}};
    static const char *const files[] = {"0", "65537", "-1", "1k", "99999999999999999999", ""};
    static const char *const bytes[] = {"0", "1048577t", "-1", "64kb", "99999999999999999999", "k", ""};
    char given[128], said[256];
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        snprintf(given, sizeof(given), "split=y,%s", good[i].given);
        takes(given);
        assert_int_equal(o.keep_files, good[i].files);
        assert_true(o.keep_bytes == good[i].bytes);
        hpx_options_fini(&o);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(files); i++) {
        snprintf(given, sizeof(given), "keep-files=%s", files[i]);
        snprintf(said, sizeof(said), "hprof option error: keep-files option value must be decimal and 1..65536, or off (%s)", given);
        refuses(given, said);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(bytes); i++) {
        snprintf(given, sizeof(given), "keep-bytes=%s", bytes[i]);
        snprintf(said, sizeof(said), "hprof option error: keep-bytes option value must be a size, or off: 64m, 1g (%s)", given);
        refuses(given, said);
    }
}

/* A command line that HPROF had taken, too, writes what HPROF wrote. */
TEST(options_of_the_size_of_a_profile)
{
    static const struct {
        const char *given;
        uint64_t bytes;
    } good[] = {{"cpu=times,depth=64,cutoff=0,file=x,format=a,heap=sites,lineno=n,thread=y,doe=y,msa=n,verbose=n,X=1", HPX_OPT_AUTO_BYTES},
                {"cpu=times,wall=y", HPX_OPT_MAXFILE},
                {"maxfile=auto", HPX_OPT_MAXFILE},
                {"cpu=samples,maxfile=off,split=y", 0},
                {"maxfile=200k", 204800},
                {"maxfile=1048576t", HPX_OPT_MAX_BYTES}};
    static const char *const wrong[] = {"0", "-1", "1048577t", "64kb", ""};
    char given[128], said[256];
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        takes(good[i].given);
        assert_true(o.maxfile == good[i].bytes);
        hpx_options_fini(&o);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(wrong); i++) {
        snprintf(given, sizeof(given), "maxfile=%s", wrong[i]);
        snprintf(said, sizeof(said), "hprof option error: maxfile option value must be a size, auto or off: 64m, 1g (%s)", given);
        refuses(given, said);
    }
}

TESTS(setup, teardown)
