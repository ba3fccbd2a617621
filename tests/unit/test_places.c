/* SPDX-License-Identifier: BSD-2-Clause */
/* test_places.c: whose code frames are, and the places that a verdict names, of profiles whose true answer is known. */
#include "cmocka_all.h"
#include "own.h"
#include "places.h"
#include "reader.h"
#include <fcntl.h>
#include <string.h>

/* ---- own.c ---- */

TEST(frames_are_the_jdks_a_librarys_or_others)
{
    static const struct {
        const char *method;
        enum hpx_whose whose;
        size_t maker;
    } all[] = {{"java.lang.ClassLoader.defineClass1", HPX_WHOSE_JDK, 9},
               {"java/lang/Thread.run", HPX_WHOSE_JDK, 9},
               {"jdk.internal.misc.Unsafe.park", HPX_WHOSE_JDK, 12},
               {"com.sun.proxy.$Proxy.m", HPX_WHOSE_JDK, 7},
               {"org.springframework.web.servlet.DispatcherServlet.doDispatch", HPX_WHOSE_LIBRARY, 19},
               {"io.netty.channel.nio.NioEventLoop.run", HPX_WHOSE_LIBRARY, 8},
               {"scala.collection.immutable.List.map", HPX_WHOSE_LIBRARY, 16},
               {"com.acme.Handler.handle", HPX_WHOSE_OTHER, 8},
               {"com.acme.web.Handler.<init>", HPX_WHOSE_OTHER, 8},
               {"com.acme.web.Handler.handle(java.lang.String)", HPX_WHOSE_OTHER, 8},
               {"acme.Handler.handle", HPX_WHOSE_OTHER, 4},
               {"javafoo.C.m", HPX_WHOSE_OTHER, 7},
               {"scalable.C.m", HPX_WHOSE_OTHER, 8},
               {"com.sunny.C.m", HPX_WHOSE_OTHER, 9},
               {"Main.main", HPX_WHOSE_OTHER, 0},
               {"Main$$Lambda$1/1234567.run", HPX_WHOSE_OTHER, 0},
               {"libjvm.so.JavaCalls::call_helper", HPX_WHOSE_JDK, 6},
               {"libc.so.6.[0x94990]", HPX_WHOSE_JDK, 4},
               {"libz.so.1.deflate", HPX_WHOSE_LIBRARY, 4},
               {"library.C.m", HPX_WHOSE_OTHER, 7},
               {"<empty trace>", HPX_WHOSE_NONE, 0},
               {"[rest]", HPX_WHOSE_NONE, 0},
               {"hprofx.stalled", HPX_WHOSE_NONE, 0}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        assert_int_equal(hpx_own(all[i].method), all[i].whose);
        assert_int_equal(hpx_own_maker(all[i].method), all[i].maker);
    }
}

TEST(the_user_says_what_is_mine)
{
    assert_false(hpx_own_is_told());
    assert_true(hpx_own_mine("com.acme,java.util.") && hpx_own_mine("org.apache.lucene"));
    assert_true(hpx_own_is_told());
    assert_int_equal(hpx_own("com.acme.C.m"), HPX_WHOSE_MINE);
    assert_int_equal(hpx_own("com/acme/C.m"), HPX_WHOSE_MINE);
    assert_int_equal(hpx_own("com.acmeshop.C.m"), HPX_WHOSE_OTHER);
    assert_int_equal(hpx_own("java.util.ArrayList.add"), HPX_WHOSE_MINE);
    assert_int_equal(hpx_own("org.apache.lucene.index.IndexWriter.add"), HPX_WHOSE_MINE);
    assert_int_equal(hpx_own("org.apache.tomcat.X.m"), HPX_WHOSE_LIBRARY);
    assert_false(hpx_own_mine(""));
    assert_false(hpx_own_mine("a,,b"));
    hpx_own_nobody();
    assert_int_equal(hpx_own("com.acme.C.m"), HPX_WHOSE_OTHER);
}

/* ---- places.c ---- */

#define HEAD                "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\nwords\n--------\n\n"
#define TRACE               "TRACE 30000"
#define F(m)                "\t" m "(F.java:1)\n"
#define BEGIN(total)        "CPU SAMPLES BEGIN (total = " #total ") Thu Jan  1 00:00:00 1970\nrank   self  accum   count trace method\n"
#define ROW(rank, n, trace) "   " #rank "  1.00%  1.00% " n " 30000" #trace " x.y\n"
#define END                 "CPU SAMPLES END\n"

struct bytes {
    const char *text;
    size_t left;
};

static ssize_t take(void *from, void *to, size_t n)
{
    struct bytes *b = from;
    n = n < b->left ? n : b->left;
    memcpy(to, b->text, n);
    b->text += n;
    b->left -= n;
    return (ssize_t)n;
}

/* "WHAT@WHERE PERCENT ...", of a text file. */
static const char *places(const char *text, int tag)
{
    static char said[1000];
    static struct hpx_profile p;
    struct bytes b = {text, strlen(text)};
    struct hpx_source s;
    struct hpx_places found;
    size_t n = 0;
    assert_int_equal(hpx_profile_init(&p), 0);
    assert_int_equal(hpx_source_init(&s, take, &b), 0);
    struct hpx_reader r = {.source = &s, .sinks = {hpx_profile_event}, .ctx = {&p}};
    if (hpx_reader_run(&r) != HPX_RD_SOUND) {
        fail_msg("%s", r.why);
    }
    hpx_profile_finish(&p);
    assert_true(hpx_places_find(&p, &tag, 1, &found));
    said[0] = '\0';
    for (size_t i = 0; i < found.n; i++) {
        n += (size_t)snprintf(said + n, sizeof said - n, "%s%s%s%s %.0f", i > 0 ? " " : "",
                              found.top[i].what != 0 ? hpx_profile_name(&p, found.top[i].what) : "", found.top[i].what != 0 ? "@" : "",
                              hpx_profile_name(&p, found.top[i].where), 100.0 * (double)found.top[i].value / (double)found.all);
    }
    (void)snprintf(said + n, sizeof said - n, "%s", found.not_mine ? " (not mine)" : "");
    hpx_source_fini(&s);
    hpx_profile_fini(&p);
    return said;
}

/* A server: its framework is known to no table, and calls the handler; three of four samples are in the JDK. */
#define SERVER                                                                                                                             \
    HEAD TRACE "1:\n" F("java.lang.ClassLoader.defineClass1") F("java.lang.ClassLoader.loadClass") F("com.acme.Handler.handle")            \
        F("org.fw.Dispatcher.dispatch") F("org.fw.Server.loop") F("java.lang.Thread.run") TRACE                                            \
        "2:\n" F("java.util.zip.Inflater.inflate") F("com.acme.Store.read") F("com.acme.Handler.handle") F("org.fw.Dispatcher.dispatch")   \
            F("org.fw.Server.loop") F("java.lang.Thread.run") TRACE "3:\n" F("com.acme.Handler.parse") F("com.acme.Handler.handle")        \
                F("org.fw.Dispatcher.dispatch") F("org.fw.Server.loop") F("java.lang.Thread.run") TRACE "4:\n" F("sun.nio.ch.Net.poll")    \
                    F("org.fw.Server.loop") F("java.lang.Thread.run") BEGIN(1000) ROW(1, "    500", 1) ROW(2, "    250", 2)                \
                        ROW(3, "     50", 3) ROW(4, "    200", 4) END

TEST(a_server_is_looked_at_in_its_handlers_not_in_the_jdk_or_its_framework)
{
    assert_string_equal(places(SERVER, HPX_TAG_SAMPLES), "com.acme.Handler.handle 50 com.acme.Store.read 25 com.acme.Handler.parse 5");
}

TEST(what_is_mine_holds_whatever_the_rule_says)
{
    assert_true(hpx_own_mine("org.fw"));
    assert_string_equal(places(SERVER, HPX_TAG_SAMPLES), "org.fw.Dispatcher.dispatch 80 org.fw.Server.loop 20");
    hpx_own_nobody();
    assert_true(hpx_own_mine("com.nobody"));
    assert_string_equal(places(SERVER, HPX_TAG_SAMPLES),
                        "com.acme.Handler.handle 50 com.acme.Store.read 25 com.acme.Handler.parse 5 (not mine)");
    hpx_own_nobody();
}

TEST(known_libraries_count_only_where_nothing_else_is)
{
    assert_string_equal(places(HEAD TRACE "1:\n" F("java.util.Arrays.fill") F("com.fasterxml.jackson.core.Parser.next")
                                   F("com.acme.Api.get") F("org.springframework.web.D.doDispatch") TRACE "2:\n" F("java.util.Arrays.sort")
                                       F("org.springframework.web.D.doDispatch") BEGIN(100) ROW(1, "     60", 1) ROW(2, "     40", 2) END,
                               HPX_TAG_SAMPLES),
                        "com.acme.Api.get 60");
    assert_string_equal(places(HEAD TRACE "1:\n" F("java.util.Arrays.fill") F("org.apache.lucene.index.W.add") TRACE
                               "2:\n" F("java.util.Arrays.sort") BEGIN(100) ROW(1, "     60", 1) ROW(2, "     40", 2) END,
                               HPX_TAG_SAMPLES),
                        "org.apache.lucene.index.W.add 60");
    assert_string_equal(places(HEAD TRACE "1:\n" F("java.util.Arrays.fill") TRACE "2:\n" F("java.util.Arrays.sort") BEGIN(100)
                                   ROW(1, "     60", 1) ROW(2, "     40", 2) END,
                               HPX_TAG_SAMPLES),
                        "java.util.Arrays.fill 60 java.util.Arrays.sort 40");
}

TEST(the_code_with_main_is_no_framework)
{
    assert_string_equal(places(HEAD TRACE "1:\n" F("java.util.Arrays.fill") F("org.json.Parser.next") F("com.acme.App.run")
                                   F("com.acme.App.main") TRACE "2:\n" F("java.util.Arrays.sort") F("com.acme.App.run")
                                       F("com.acme.App.main") BEGIN(100) ROW(1, "     60", 1) ROW(2, "     40", 2) END,
                               HPX_TAG_SAMPLES),
                        "org.json.Parser.next 60 com.acme.App.run 40");
}

#define SITES(by)                                                                                                                          \
    HEAD TRACE "1:\n" F("java.util.Arrays.copyOf") F("java.util.ArrayList.grow") F("com.acme.Cache.put") TRACE                             \
        "2:\n" F("java.util.Arrays.copyOf") F("java.lang.StringBuilder.append") F("com.acme.Cache.put") TRACE                              \
        "3:\n" F("com.acme.Other.m") "SITES BEGIN (ordered by " by " bytes) Thu Jan  1 00:00:00 1970\n"                                    \
                                     "          percent          live          alloc'ed  stack class\n"                                    \
                                     " rank   self  accum     bytes objs     bytes  objs trace name\n"                                     \
                                     "    1 36.00% 36.00%        10    1       360    10 300001 byte[]\n"                                  \
                                     "    2 28.00% 64.00%        20    1       280    10 300002 byte[]\n"                                  \
                                     "    3 24.00% 88.00%        70    1       240    10 300003 byte[]\n"                                  \
                                     "    4 12.00% 100.00%         0    0       120    10 300001 p.D\nSITES END\n"

/* Rows of different stacks, which differ nowhere in the program's own code. */
TEST(no_place_is_named_twice)
{
    assert_string_equal(places(SITES("allocated"), HPX_TAG_SITES),
                        "byte[]@com.acme.Cache.put 64 byte[]@com.acme.Other.m 24 p.D@com.acme.Cache.put 12");
    assert_string_equal(places(SITES("live"), HPX_TAG_SITES), "byte[]@com.acme.Other.m 70 byte[]@com.acme.Cache.put 30");
}

TEST(of_what_blocks_the_method_of_the_owner_is_named)
{
    assert_string_equal(
        places(HEAD TRACE "1:\n" F("com.acme.Pool.wants") TRACE "2:\n" F("java.util.HashMap.get")
                   F("com.acme.Pool.holds") "MONITOR OWNERS BEGIN (total = 9 ms) Thu Jan  1 00:00:00 1970\nrank   self  accum   count "
                                            "trace owner monitor\n"
                                            "   1 100.00% 100.00%       3 300001 300002 java.lang.Object (Java)\nMONITOR OWNERS END\n",
               HPX_TAG_MONITOR_OWNERS),
        "java.lang.Object@com.acme.Pool.holds 100");
}

TESTS(NULL, NULL)
