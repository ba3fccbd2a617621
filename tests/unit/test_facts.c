/* SPDX-License-Identifier: BSD-2-Clause */
/* test_facts.c: what `hprofx doctor` reads from texts of /proc, from options of a JVM and from its library. */
#include "cmocka_all.h"
#include "facts.h"
#include "flags.h"
#include <string.h>

/* ---- flags.c ---- */

TEST(a_flag_is_one_whole_option)
{
    assert_int_equal(hpx_flag_of_word("-XX:+DisableAttachMechanism", "DisableAttachMechanism"), HPX_FLAG_ON);
    assert_int_equal(hpx_flag_of_word("-XX:-DisableAttachMechanism", "DisableAttachMechanism"), HPX_FLAG_OFF);
    assert_int_equal(hpx_flag_of_word("-XX:+DisableAttachMechanisms", "DisableAttachMechanism"), HPX_FLAG_ABSENT);
    assert_int_equal(hpx_flag_of_word("-XX:DisableAttachMechanism", "DisableAttachMechanism"), HPX_FLAG_ABSENT);
    assert_int_equal(hpx_flag_of_word("-XX:+Disable", "DisableAttachMechanism"), HPX_FLAG_ABSENT);
    assert_int_equal(hpx_flag_of_word("-XX:", "DisableAttachMechanism"), HPX_FLAG_ABSENT);
    assert_int_equal(hpx_flag_of_word("", "DisableAttachMechanism"), HPX_FLAG_ABSENT);
}

TEST(in_a_variable_quotes_hold_blanks_together_and_the_last_one_counts)
{
    assert_int_equal(hpx_flag_of_text("-Xmx1g\t-XX:+A\n", "A"), HPX_FLAG_ON);
    assert_int_equal(hpx_flag_of_text("-XX:+A -XX:-A", "A"), HPX_FLAG_OFF);
    assert_int_equal(hpx_flag_of_text("-XX:-A -XX:+A -XX:-B", "A"), HPX_FLAG_ON);
    assert_int_equal(hpx_flag_of_text("-Dx=\"y -XX:+A z\"", "A"), HPX_FLAG_ABSENT);
    assert_int_equal(hpx_flag_of_text("-Dx='it\"s' -XX:+A", "A"), HPX_FLAG_ON);
    assert_int_equal(hpx_flag_of_text("'-XX:+A'", "A"), HPX_FLAG_ON);
    assert_int_equal(hpx_flag_of_text("-Dx='-XX:+A", "A"), HPX_FLAG_ABSENT);
    assert_int_equal(hpx_flag_of_text("  ", "A"), HPX_FLAG_ABSENT);
}

TEST(an_option_longer_than_any_flag_is_none)
{
    char text[600];
    memset(text, 'x', sizeof text);
    memcpy(text, "-XX:+", 5);
    memcpy(text + 500, " -XX:+A", 8);
    assert_int_equal(hpx_flag_of_text(text, "A"), HPX_FLAG_ON);
    assert_int_equal(hpx_flag_of_text(text, "xxx"), HPX_FLAG_ABSENT);
}

/* ---- texts ---- */

TEST(the_status_of_a_process_is_taken_apart)
{
    struct hpx_facts f;
    hpx_facts_status("Name:\tThreads:\t9\nThreads:\t37\nSigQ:\t12/96364\nSigBlk:\t0000000004000000\nSigCgt:\t0000000100014003\n"
                     "CapEff:\t00000000a80425fb\nSeccomp:\t2\nSeccomp_filters:\t1\n",
                     &f);
    assert_true(f.threads == 37 && f.queued == 12 && f.queue_limit == 96364);
    assert_true(f.blocked == UINT64_C(0x4000000) && f.caught == UINT64_C(0x100014003) && f.capabilities == UINT64_C(0xa80425fb));
    assert_true(f.filtered);
    hpx_facts_status("Name:\tx\nThreads:\t1\nSigQ:\t5\nSeccomp:\t0\nSeccomp_filters:\t2\n", &f);
    assert_true(f.threads == 1 && f.queued == 5 && f.queue_limit == 0 && !f.filtered && f.caught == 0);
    hpx_facts_status("", &f);
    assert_true(f.threads == 0);
}

TEST(the_soft_limit_of_open_files_is_found)
{
    assert_true(hpx_facts_open_files("Limit   Soft Limit  Hard Limit  Units\nMax open files            1024                 524288"
                                     "               files     \nMax locked memory  8  8  bytes\n") == 1024);
    assert_true(hpx_facts_open_files("Max open files            unlimited            unlimited            files\n") == UINT64_MAX);
    assert_true(hpx_facts_open_files("Max processes  7 7 processes\n") == 0);
}

TEST(a_proc_that_hides_processes_is_seen)
{
    assert_true(hpx_facts_hides("proc /proc proc rw,nosuid,hidepid=2 0 0\n"));
    assert_true(hpx_facts_hides("sysfs /sys sysfs rw 0 0\nproc /proc proc rw,hidepid=invisible,gid=4 0 0\n"));
    assert_false(hpx_facts_hides("proc /proc proc rw,hidepid=off 0 0\n"));
    assert_false(hpx_facts_hides("proc /proc proc rw,hidepid=0,gid=1 0 0\n"));
    assert_false(hpx_facts_hides("proc /proc proc rw,relatime 0 0\nproc /other/proc proc rw,hidepid=2 0 0\n"));
    assert_false(hpx_facts_hides("proc /proc proc rw,hidepid=2 0 0\nproc /proc proc rw 0 0\n"));
    assert_false(hpx_facts_hides(""));
}

static bool is_release(const char *bytes, size_t n, const char *release)
{
    char to[32];
    return hpx_facts_release(bytes, n, to, sizeof to) && strcmp(to, release) == 0;
}

TEST(the_release_is_that_of_the_runtime)
{
    static const char old[] = "\0OpenJDK 64-Bit Server VM (25.504-b01) for linux-amd64 JRE (1.8.0_504-b01), built on",
                      bare[] = ") for linux-x JRE (",
                      twice[] = ") for linux-\0 JRE \0OpenJDK 64-Bit Zero VM (17+1) for linux-amd64 JRE (17+1), built";
    assert_true(is_release(old, sizeof old, "1.8.0_504-b01"));
    assert_true(is_release(twice, sizeof twice, "17+1"));
    for (size_t n = 0; n < sizeof old - sizeof "), built on"; n++) {
        assert_false(is_release(old, n, "1.8.0_504-b01"));
    }
    assert_false(is_release(bare, sizeof bare, ""));
    assert_false(is_release(") for linux-amd64 JRE (a release that is longer than its room)", 62, ""));
}

TEST(the_newest_version_of_the_c_library_is_found)
{
    static const char old[] = "x\0GLIBC_2.2.5\0GLIBC_2.12\0GLIBC_2.3.4\0GLIBC_PRIVATE\0y", none[] = "\0xGLIBC_2.36\0GLIBC_2.\0GLIBC_2.x\0",
                      strange[] = "\0GLIBC_2.1234567890123\0GLIBC_2.-1\0GLIBC_2.7x\0GLIBC_2.3\0";
    assert_int_equal(hpx_facts_glibc(old, sizeof old), 12);
    assert_int_equal(hpx_facts_glibc(none, sizeof none), 0);
    assert_int_equal(hpx_facts_glibc(strange, sizeof strange), 3);
    assert_int_equal(hpx_facts_glibc("", 0), 0);
    for (size_t n = 0; n < sizeof old; n++) { /* each end, with nothing behind it */
        char *cut = malloc(n + 1);
        assert_non_null(cut);
        memcpy(cut, old, n);
        assert_int_equal(hpx_facts_glibc(cut, n), n < 12 ? 0 : n < 25 ? 2 : 12);
        free(cut);
    }
}

TEST(its_first_number_is_the_feature)
{
    assert_int_equal(hpx_facts_major("1.8.0_504-b01"), 8);
    assert_int_equal(hpx_facts_major("17.0.15+6"), 17);
    assert_int_equal(hpx_facts_major("28-ea+18-1"), 28);
    assert_int_equal(hpx_facts_major("internal"), 0);
    assert_int_equal(hpx_facts_major(""), 0);
}

TESTS(NULL, NULL)
