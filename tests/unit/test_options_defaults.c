/* SPDX-License-Identifier: BSD-2-Clause */
/* test_options_defaults.c: the defaults, given: they mean what they mean where nothing is given. And options that need another one. */
#include "cmocka_all.h"
#include "options.h"
#include "options_table.h"

#include <string.h>

static struct hpx_options o;
static struct hpx_err err;

static void takes(const char *own, const char *line)
{
    err.msg[0] = 0;
    if (hpx_options_parse(&o, NULL, own, line, &err) != 0) {
        fail_msg("%s: %s", line, err.msg);
    }
}

static void refuses(const char *line, const char *message)
{
    assert_int_equal(hpx_options_parse(&o, NULL, NULL, line, &err), -HPX_E_OPT);
    assert_string_equal(err.msg, message);
}

static void same_text(const char *given, const char *got, const char *want)
{
    if ((got == NULL) != (want == NULL) || (got != NULL && strcmp(got, want) != 0)) {
        fail_msg("%s: %s is not %s", given, got != NULL ? got : "none", want != NULL ? want : "none");
    }
}

/* The values at `offset`, by the table; the kinds without an offset one after the other. */
static void same_options(const char *given, const struct hpx_options *want, const struct hpx_opt *but)
{
    for (size_t i = 0; i < hpx_opts_len; i++) {
        const struct hpx_opt *opt = &hpx_opts[i];
        const char *a = (const char *)&o + opt->offset, *b = (const char *)want + opt->offset;
        if (opt->parse == hpx_opt_patterns) {
            same_text(given, *(char *const *)(const void *)a, *(char *const *)(const void *)b);
        } else if (opt->parse == hpx_opt_flag || (opt->parse == hpx_opt_choice && opt != but)) {
            if (memcmp(a, b, opt->parse == hpx_opt_flag ? sizeof(bool) : sizeof(int)) != 0) {
                fail_msg("%s changes %s", given, opt->name);
            }
        }
    }
    assert_int_equal(o.cpu, want->cpu);
    assert_true(o.heap_dump == want->heap_dump && o.heap_sites == want->heap_sites);
    assert_true(o.binary == want->binary && o.idsize == want->idsize && o.depth == want->depth && o.cutoff == want->cutoff);
    assert_true(o.interval_ns == want->interval_ns && o.dump_ns == want->dump_ns && o.maxpause_ns == want->maxpause_ns);
    assert_true(o.keep_files == want->keep_files && o.keep_bytes == want->keep_bytes);
    assert_true(o.signal == want->signal && o.min == want->min && o.sample_bytes == want->sample_bytes && o.waitlog == want->waitlog);
    assert_true(o.wall_ns == want->wall_ns);
    assert_true(o.heapdump == want->heapdump && o.heapdump_oom == want->heapdump_oom && o.redact == want->redact);
    same_text(given, o.file, want->file);
    same_text(given, o.net, want->net);
}

static const struct hpx_opt *option_named(const char *name)
{
    for (size_t i = 0; i < hpx_opts_len; i++) {
        if (!strcmp(hpx_opts[i].name, name)) {
            return &hpx_opts[i];
        }
    }
    fail_msg("no option %s", name);
    return NULL;
}

TEST(options_takes_back_every_default_that_help_prints)
{
    struct hpx_options none;
    assert_int_equal(hpx_options_parse(&none, NULL, NULL, NULL, &err), 0);
    for (size_t i = 0; i < hpx_opts_len; i++) {
        char line[64];
        (void)snprintf(line, sizeof(line), "%s=%s", hpx_opts[i].name, hpx_opts[i].def);
        if (hpx_opts[i].def) {
            takes(NULL, line);
            /* a size, also the default one, means sites=sampled */
            same_options(line, &none, hpx_opts[i].parse == hpx_opt_sample ? option_named("sites") : NULL);
            hpx_options_fini(&o);
        }
    }
    hpx_options_fini(&none);
}

/* In the same source and in a later one. */
TEST(options_a_default_takes_back_another_value)
{
    static const char *const others[] = {
        "cpu=samples", "net=h:1",      "dump=5m",       "include=a.b",       "exclude=a.b",  "keep=a.b",  "redact=strings", "monitor=y",
        "format=b",    "idsize=4",     "gz=y",          "depth=9",           "interval=1",   "cutoff=0",  "signal=USR1",    "sampler=walk",
        "min=9",       "times=wall",   "sites=sampled", "heapdump=fork+oom", "maxpause=off", "waitlog=0", "stacks=sampled", "locks=y",
        "live=n",      "primfields=n", "keep-files=3",  "keep-bytes=1m",     "wall=y"};
    struct hpx_options none;
    assert_int_equal(hpx_options_parse(&none, NULL, NULL, NULL, &err), 0);
    for (size_t i = 0; i < HPX_ARRAY_LEN(others); i++) {
        char name[32], line[96], back[64];
        (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(others[i], "="), others[i]);
        (void)snprintf(back, sizeof(back), "%s=%s", name, option_named(name)->def);
        (void)snprintf(line, sizeof(line), "%s,%s", others[i], back);
        takes(NULL, line);
        same_options(line, &none, NULL);
        hpx_options_fini(&o);
        takes(others[i], back);
        same_options(line, &none, NULL);
        hpx_options_fini(&o);
    }
    hpx_options_fini(&none);
}

TEST(options_net_off_leaves_the_file_of_another_source)
{
    takes("file=a", "net=off");
    assert_string_equal(o.file, "a");
    assert_null(o.net);
    hpx_options_fini(&o);
    takes(NULL, "net=off,file=a");
    assert_string_equal(o.file, "a");
    hpx_options_fini(&o);
    takes("net=h:1", "net=off,file=b");
    assert_string_equal(o.file, "b");
    assert_null(o.net);
    hpx_options_fini(&o);
}

TEST(options_all_none_and_off_are_words_only_alone)
{
    takes(NULL, "include=all:a.b,exclude=none:c,keep=none*");
    assert_string_equal(o.include, "all:a.b");
    assert_string_equal(o.exclude, "none:c");
    assert_string_equal(o.keep, "none*");
    hpx_options_fini(&o);
    takes(NULL, "include=none,exclude=all");
    assert_string_equal(o.include, "none");
    assert_string_equal(o.exclude, "all");
    hpx_options_fini(&o);
    refuses("redact=off+arrays",
            "hprof option error: redact option value must be arrays, fields or strings, joined by +, or off (redact=off+arrays)");
    refuses("dump=offs", "hprof option error: dump option value must be a time from 100ms on, or off: 500ms, 60s, 5m, 1h (dump=offs)");
}

static char idle[512];

static void put_idle(const char *option, const char *needs, const char *missing)
{
    size_t n = strlen(idle);
    (void)snprintf(idle + n, sizeof(idle) - n, "%s needs %s for %s;", option, needs, missing);
}

TEST(options_name_what_has_no_effect)
{
    static const struct {
        const char *given, *idle;
    } cases[] = {
        {"cpu=samples", ""},
        {"cpu=samples,locks=y", "locks=y needs monitor=y for LOCK TIME;"},
        {"locks=y", "locks=y needs monitor=y for LOCK TIME;"},
        {"locks=y,monitor=y", ""},
        {"locks=y,locks=n", ""},
        {"cpu=samples,owner=y,waits=y,pinned=y", "owner=y needs monitor=y for MONITOR OWNERS;waits=y needs monitor=y for WAIT TIME;"
                                                 "pinned=y needs monitor=y for PINNED TIME;"},
        {"keep-files=3,keep-bytes=1m",
         "keep-files= needs split=y for removal of old files;keep-bytes= needs split=y for removal of old files;"},
        {"keep-files=3,keep-bytes=1m,split=y", ""},
        {"heapdump=oom,cpu=samples", "heapdump=oom needs heap=dump for heap dump;"},
        {"heapdump=fork+oom,heap=sites", "heapdump=oom needs heap=dump for heap dump;"},
        {"heapdump=oom,heap=dump", ""},
        {"heapdump=oom", ""}, /* heap=all is the default */
        {"heapdump=fork,cpu=samples", ""},
    };
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        takes(NULL, cases[i].given);
        idle[0] = 0;
        hpx_options_idle(&o, put_idle);
        assert_string_equal(idle, cases[i].idle);
        hpx_options_fini(&o);
    }
}

TESTS(NULL, NULL)
