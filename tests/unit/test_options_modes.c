/* SPDX-License-Identifier: BSD-2-Clause */
/* test_options_modes.c: the options of every mode, beyond the recorded cases (test_options_cases.py). */
#include "options_fixture.h"

TEST(options_of_monitors)
{
    TAKES("monitor=y", o.monitor && !o.owner && !o.waits && !o.locks && !o.pinned && o.stacks == HPX_STACKS_EXACT && o.waitlog == 10000);
    TAKES("monitor=y,owner=y,waits=y,locks=y,pinned=y,waitlog=0", o.owner && o.waits && o.locks && o.pinned && o.waitlog == 0);
    TAKES("monitor=y,stacks=sampled,waitlog=-1", o.stacks == HPX_STACKS_SAMPLED && o.waitlog == HPX_OPT_ALL_WAITS);
    TAKES("cpu=samples,owner=y,stacks=sampled", true); /* without monitor=y they say nothing */
    refuses("monitor=y,owner=y,stacks=sampled", "hprof option error: owner=y needs stacks=exact (monitor=y,owner=y,stacks=sampled)");
    refuses("wall=20,depth=0", "hprof option error: wall= needs stacks: depth=0 has none (wall=20,depth=0)");
    refuses("monitor=y,waitlog=x", "hprof option error: waitlog option value must be decimal, or -1 for all (monitor=y,waitlog=x)");
    refuses("monitor=y,waitlog=-2", "hprof option error: waitlog option value must be decimal, or -1 for all (monitor=y,waitlog=-2)");
    refuses("monitor=y,stacks=y", "hprof option error: stacks option value must be exact|sampled (monitor=y,stacks=y)");
}

TEST(options_of_the_wall_clock)
{
    TAKES("wall=y", o.wall_ns == HPX_OPT_WALL_NS && !o.heap_dump && !o.heap_sites && o.cpu == HPX_CPU_OFF);
    TAKES("cpu=samples,wall=2.5,format=b", o.wall_ns == 2500000 && o.cpu == HPX_CPU_SAMPLES);
    TAKES("wall=5,wall=n", o.wall_ns == 0 && o.heap_by_default);
    REFUSES("wall", "y, n or decimal and >= 1", "0", "0.9", "-1", "", "x", "20ms");
}

TEST(options_of_heap_dumps)
{
    TAKES("heap=dump", o.heapdump == HPX_HEAPDUMP_AUTO && !o.heapdump_oom && o.redact == 0 && !o.keep);
    TAKES("heap=dump,heapdump=fork+oom,redact=arrays+strings,keep=com.acme:java.lang.Thread",
          o.heapdump == HPX_HEAPDUMP_FORK && o.heapdump_oom && o.redact == (HPX_REDACT_ARRAYS | HPX_REDACT_STRINGS) &&
              !strcmp(o.keep, "com.acme:java.lang.Thread"));
    TAKES("heap=dump,heapdump=fork+oom,heapdump=oom,redact=fields",
          o.heapdump == HPX_HEAPDUMP_AUTO && o.heapdump_oom && o.redact == HPX_REDACT_FIELDS);
    TAKES("heapdump=walk", o.heapdump == HPX_HEAPDUMP_WALK);
    REFUSES("heapdump", "auto|fork|walk, oom, or one of them and oom: fork+oom", "vm", "fork+", "+oom", "oom+oomm");
    REFUSES("redact", "arrays, fields or strings, joined by +, or off", "all", "");
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
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        TAKES(good[i].given, o.maxpause_ns == good[i].ns);
    }
    REFUSES("maxpause", "a time from 1ms on, or off: 200ms, 2s", "on", "", "ms", "-1", "0.5s", "offs");
}

TEST(options_of_cpu_times)
{
    TAKES("cpu=times", !o.include && !o.exclude && o.min == 0 && o.times == HPX_TIMES_CPU);
    TAKES("cpu=times,include=a.b:*c*,exclude=d,min=65535,times=wall",
          !strcmp(o.include, "a.b:*c*") && !strcmp(o.exclude, "d") && o.min == 65535 && o.times == HPX_TIMES_WALL);
    TAKES("cpu=times,include=a,include=b,times=wall,times=cpu,times=sampled", !strcmp(o.include, "b") && o.times == HPX_TIMES_SAMPLED);
    TAKES("cpu=times,times=counts", o.times == HPX_TIMES_COUNTS && !hpx_options_follow_calls(&o));
    TAKES("cpu=times,times=wall", hpx_options_follow_calls(&o));
    TAKES("cpu=samples,times=counts", !hpx_options_follow_calls(&o));
    TAKES("cpu=old", hpx_options_follow_calls(&o));
    refuses("cpu=old,times=counts", "hprof option error: cpu=old needs callers, which times=counts does not follow (cpu=old,times=counts)");
    REFUSES("min", "decimal and 0..65535", "65536", "", "-1");
    refuses("times=real", "hprof option error: times option value must be cpu|wall|sampled|counts (times=real)");
    refuses("include=", "hprof option error: include option value must be class or package names with ':' between (include=)");
    refuses("exclude=a/b", "hprof option error: exclude option value must be class or package names with ':' between (exclude=a/b)");
}

TEST(options_of_allocation_sites)
{
    TAKES("heap=sites", o.sites == HPX_SITES_EXACT && o.sample_bytes == 524288 && o.live && !o.gc);
    TAKES("heap=sites,sites=sampled,live=n,gc=y", o.sites == HPX_SITES_SAMPLED && o.sample_bytes == 524288 && !o.live && o.gc);
    TAKES("heap=sites,sample=64k,sites=counts", o.sites == HPX_SITES_COUNTS);
    TAKES("heap=sites,sites=sampled,sites=exact,live=n,live=y", o.sites == HPX_SITES_EXACT && o.live);
    REFUSES("sites", "exact|counts|sampled|none", "all", "");
    refuses("live=", "hprof option error: live option value must be y|n (live=)");
    refuses("gc=yes", "hprof option error: gc option value must be y|n (gc=yes)");
}

TEST(options_sample_implies_sampled_and_a_later_sites_wins)
{
    TAKES("heap=sites,sample=64k", o.sites == HPX_SITES_SAMPLED && o.sample_bytes == 65536);
    TAKES("heap=sites,sites=exact,sample=64k", o.sites == HPX_SITES_SAMPLED);
    TAKES("heap=sites,sample=64k,sites=exact", o.sites == HPX_SITES_EXACT);
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
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        TAKES(good[i].text, o.sample_bytes == good[i].bytes);
    }
    REFUSES("sample", "a size from 1 to 1g: 4096, 64k, 1m", "0", "0k", "", "k", "-1", "+1", " 1", "1 ", "1kb", "1t", "1.5m", "0x10", "many",
            "2g", "1025m", "1048577k", "1073741825", "99999999999999999999", "18014398509481985k", "17179869185g"); /* the last two wrap */
}

TEST(options_heap_sites_without_sites_is_refused)
{
    refuses("heap=sites,sites=none", "hprof option error: sites=none leaves nothing of heap=sites (heap=sites,sites=none)");
    assert_int_equal(hpx_options_parse(&o, NULL, "heap=sites", "cpu=samples,sites=none", &err), -HPX_E_OPT);
    TAKES("heap=sites,sites=none,sites=exact", o.sites == HPX_SITES_EXACT);
    TAKES("heap=all,sites=none", o.sites == HPX_SITES_OFF); /* the dump is left */
    TAKES("cpu=samples,sites=none", true);
}

TEST(options_of_the_binary_format)
{
    TAKES("cpu=samples,format=b", o.idsize == 8);
    TAKES("cpu=samples,format=b,idsize=4", o.idsize == 4);
    REFUSES("idsize", "4|8", "2", "");
}

TEST(options_of_dumps_on_request)
{
    static const struct {
        const char *given;
        uint64_t ms;
    } good[] = {
        {"90", 90000}, {"250ms", 250}, {"2h,dump=1m", 60000}, {"99999999999999999999s", HPX_OPT_MAX_PERIOD_NS / 1000000}, {"100ms", 100}};
    char given[64];
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        snprintf(given, sizeof(given), "cpu=samples,split=y,dump=%s", good[i].given);
        TAKES(given, o.dump_ns == good[i].ms * 1000000 && o.split);
    }
    REFUSES("dump", "a time from 100ms on, or off: 500ms, 60s, 5m, 1h", "99ms", "0ms", "0", "5d", "s");
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
    char given[128];
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        snprintf(given, sizeof(given), "split=y,%s", good[i].given);
        TAKES(given, o.keep_files == good[i].files && o.keep_bytes == good[i].bytes);
    }
    REFUSES("keep-files", "decimal and 1..65536, or off", "0", "65537", "-1", "1k", "99999999999999999999", "");
    REFUSES("keep-bytes", "a size, or off: 64m, 1g", "0", "1048577t", "-1", "64kb", "99999999999999999999", "k", "");
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
    for (size_t i = 0; i < HPX_ARRAY_LEN(good); i++) {
        TAKES(good[i].given, o.maxfile == good[i].bytes);
    }
    REFUSES("maxfile", "a size, auto or off: 64m, 1g", "0", "-1", "1048577t", "64kb", "");
}

TESTS(setup, teardown)
