/* SPDX-License-Identifier: BSD-2-Clause */
/* test_read_names.c: how hprofx info shows the names of classes and methods. */
#include "cmocka_all.h"
#include "names.h"
#include <stdlib.h>
#include <string.h>

TEST(names_of_the_vm_are_shown_as_people_write_them)
{
    static const struct {
        const char *name, *shown;
    } cases[] = {
        {"Ljava/lang/ref/ReferenceQueue$Lock;", "java.lang.ref.ReferenceQueue$Lock"},
        {"[B", "byte[]"},
        {"[[J", "long[][]"},
        {"[Lp/C;", "p.C[]"},
        {"java/lang/String", "java.lang.String"},
        {"p/C.m", "p.C.m"},
        {"p.C.m(I[[JLp/D;Z)V", "p.C.m(int, long[][], p.D, boolean)"},
        {"p.C.<init>()V", "p.C.<init>()"},
        {"m()[Ljava/lang/Object;", "m()"},
        {"Lp/C$$Lambda.0x00007f;", "p.C$$Lambda/0x00007f"},
        {"p.C$$Lambda/0x00007f.m", "p.C$$Lambda/0x00007f.m"},
        {"p/C$$Lambda/0x00007f", "p.C$$Lambda/0x00007f"},
        /* no types of the VM */
        {"B", "B"},
        {"I", "I"},
        {"Long", "Long"},
        {"L;", "L;"},
        {"[", "["},
        {"[Q", "[Q"},
        {"[Lp/C", "[Lp/C"},
        {"[BB", "[BB"},
        {"byte[]", "byte[]"},
        {"", ""},
        {"p.C.m(I", "p.C.m(I"},
        {"p.C.m(I)", "p.C.m(I)"},
        {"p.C.m(int)", "p.C.m(int)"},
        {"m(I)VV", "m(I)VV"},
        {"(I)V", "(I)V"},
        {"C.m (native)", "C.m (native)"},
        {"<empty trace>", "<empty trace>"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[128];
        hpx_name_spoken(text, sizeof(text), cases[i].name);
        assert_string_equal(text, cases[i].shown);
    }
}

TEST(a_name_without_room_is_left_as_it_is_and_cut)
{
    char text[9];
    hpx_name_spoken(text, sizeof(text), "m(IIIII)V");
    assert_string_equal(text, "m(IIIII)");
    hpx_name_spoken(text, sizeof(text), "[[[[[B");
    assert_string_equal(text, "[[[[[B");
    hpx_name_spoken(text, sizeof(text), "[[B");
    assert_string_equal(text, "byte[][]");
}

TEST(long_names_lose_the_arguments_then_the_middle_of_the_package)
{
    static const struct {
        const char *name, *shown; /* 30 columns */
    } cases[] = {
        {"com.acme.orders.Service.place1", "com.acme.orders.Service.place1"},
        {"com.acme.orders.old.Service.place", "com.acm...rs.old.Service.place"},
        {"com.acme.orders.Service.place(int, long)", "com.a...ers.Service.place(...)"},
        {"p.Service.place(int, long, byte[])", "p.Service.place(...)"},
        {"com.acme.orders.Service.place(I)", "com.ac...ders.Service.place(I)"},
        {"com.acme.OrderServiceFactory.create", "c...OrderServiceFactory.create"},
        {"com.acme.OrderServiceFactoryBean.create", "com.acme.Or...ctoryBean.create"},
        {"C.a_test_that_says_in_words_what_it_tests", "C.a_test_that_...what_it_tests"},
        {"com.acme.sp\xc3\xa4ter.noch.sp\xc3\xa4ter.Dienst.bestelle", "com.ac...p\xc3\xa4ter.Dienst.bestelle"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[128];
        strcpy(text, cases[i].name);
        hpx_name_shorten(text, 30);
        assert_string_equal(text, cases[i].shown);
    }
}

TESTS(NULL, NULL)
