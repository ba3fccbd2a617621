/* SPDX-License-Identifier: BSD-2-Clause */
/* test_session_peer.c: commands of a peer without a JVM: their order, what they request of which mode, what cannot be carried out. */
#include "session_fixture.h"
#include <sched.h>

static void command(uint8_t tag, enum hpx_control what)
{
    static uint32_t serial;
    const struct hpx_command c = {.tag = tag, .serial = ++serial, .control = what};
    hpx_peer_command(NULL, &c);
}

/* Passes until as many commands have begun and their dumps are written. */
static void pass_until_begun(unsigned n)
{
    while (begun < n || hpx_output_behind() > 0) {
        pass();
        sched_yield();
    }
    assert_int_equal(begun, n);
}

TEST(commands_of_a_peer_are_carried_out_in_their_order, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=y"));
    complaints[0] = 0;
    begun = 0;
    first.n = 4;
    command(HPX_COMMAND_CPU_SAMPLES, HPX_CONTROL_NONE);
    command(HPX_COMMAND_CONTROL, HPX_CONTROL_CPU_ON);
    command(HPX_COMMAND_ALLOC_SITES, HPX_CONTROL_NONE);
    pass();
    assert_int_equal(begun, 1); /* the first dump is not written: what is behind it waits */
    assert_int_equal(first.controls, 0);
    pass_until_begun(3);
    assert_int_equal(first.controls, 1);
    wait_and_end();
    assert_string_equal(tables("x.txt"), "FIRST 4 SECOND 0 FIRST 4 SECOND 0 "); /* the answers have one section each, and reset nothing */
    assert_string_equal(complaints, "");
    assert_string_equal(content("said"), "Dumping the first ... the second ... done.\nhprofx: at the end: 4\nhprofx: at the end: 0\n");
}

static void list_sites(uint16_t flags)
{
    static uint32_t serial = 500;
    const struct hpx_command c = {.tag = HPX_COMMAND_ALLOC_SITES, .serial = ++serial, .flags = flags};
    hpx_peer_command(NULL, &c);
}

TEST(a_command_for_one_modes_section_dumps_that_alone, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    complaints[0] = order[0] = 0;
    begun = 0;
    first.n = 1;
    second.n = 2;
    list_sites(0);
    command(HPX_COMMAND_HEAP_SUMMARY, HPX_CONTROL_NONE);
    command(HPX_COMMAND_CPU_SAMPLES, HPX_CONTROL_NONE);
    pass_until_begun(3);
    wait_and_end();
    assert_int_equal(second.prepares, 2);                                       /* the phase of a mode that nobody asked for does not run */
    assert_string_equal(tables("x.txt"), "SECOND 2 FIRST 1 FIRST 1 SECOND 2 "); /* a HEAP SUMMARY writes nothing in text */
    assert_string_equal(order, "2:100 ");                                       /* but is asked for; flags of 0 ask for nothing */
    assert_string_equal(complaints, "");
}

TEST(flags_of_a_listing_reach_its_section, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    order[0] = 0;
    begun = 0;
    for (uint16_t flags = 1; flags < 4; flags++) {
        second.n = 10u * flags;
        list_sites(flags);
        pass_until_begun(flags);
        while (strlen(order) < strlen("10:1 ") * flags) {
            pass();
        }
    }
    wait_and_end();
    assert_string_equal(order, "10:1 20:2 30:3 "); /* and none at the end */
}

TEST(a_listing_with_a_collection_collects_first, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    complaints[0] = order[0] = 0;
    begun = 0;
    second.n = 3;
    list_sites(HPX_SITES_COLLECT | HPX_SITES_BY_ALLOCATED);
    pass_until_begun(1); /* the collection is no command of the peer's */
    wait_and_end();
    assert_string_equal(order, "gc 3:6 ");
    assert_string_equal(complaints, "");
    assert_string_equal(tables("x.txt"), "SECOND 3 FIRST 0 SECOND 3 ");
}

TEST(a_collection_without_memory_is_said_and_the_listing_comes, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    complaints[0] = order[0] = 0;
    begun = 0;
    list_sites(HPX_SITES_COLLECT);
    memory_fail(1, 1); /* of its message */
    pass_until_begun(1);
    memory_allow();
    wait_and_end();
    assert_string_equal(order, "0:4 ");
    assert_non_null(strstr(complaints, "ignored: no memory\n"));
}

TEST(what_cannot_be_carried_out_is_answered_by_a_line, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    complaints[0] = 0;
    begun = 0;
    command(HPX_COMMAND_CONTROL, HPX_CONTROL_CPU_OFF);
    command(HPX_COMMAND_CONTROL, HPX_CONTROL_CLEAR_SITES);
    command(HPX_COMMAND_DUMP_HEAP, HPX_CONTROL_NONE);
    command(HPX_COMMAND_EXIT, HPX_CONTROL_NONE);
    command(HPX_COMMAND_FORCE_GC, HPX_CONTROL_NONE);
    command(HPX_COMMAND_FORCE_GC, HPX_CONTROL_NONE); /* left out at once */
    pass_until_begun(6);
    assert_non_null(strstr(complaints, "ignored: another one is pending\n"));
    assert_non_null(strstr(complaints, "ignored: cpu=samples is not active\n"));
    assert_non_null(strstr(complaints, "ignored: heap=sites is not active\n"));
    assert_non_null(strstr(complaints, "ignored: heap= is not active\n"));
    assert_non_null(strstr(complaints, "ignored: it needs the option allow-exit=y\n"));
    wait_and_end();
}

/* As with heap=dump, which records sites for the traces of its objects. */
TEST(a_command_for_a_section_that_the_options_exclude_is_answered_by_a_line, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    complaints[0] = order[0] = 0;
    begun = 0;
    second_excluded = true;
    command(HPX_COMMAND_HEAP_SUMMARY, HPX_CONTROL_NONE);
    pass_until_begun(1);
    assert_non_null(strstr(complaints, "ignored: heap=sites is not active\n"));
    assert_string_equal(order, "");
    wait_and_end();
    second_excluded = false;
}

/* A command that has not begun at the end is dropped; its message, too. */
TEST(commands_that_wait_at_the_end_are_dropped, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    second.never_prepared = true;
    begun = 0;
    command(HPX_COMMAND_ALLOC_SITES, HPX_CONTROL_NONE);
    command(HPX_COMMAND_CPU_SAMPLES, HPX_CONTROL_NONE);
    pass();
    pass();
    wait_and_end();
    assert_int_equal(begun, 1);
    assert_string_equal(tables("x.txt"), "SECOND 0 FIRST 0 SECOND 0 ");
}

/* What drainers hold was counted before it: the modes prepare as for a dump, and one more pass is read. */
TEST(a_clear_comes_behind_what_was_counted_before, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    complaints[0] = 0;
    begun = 0;
    command(HPX_COMMAND_CONTROL, HPX_CONTROL_CLEAR_CPU);
    command(HPX_COMMAND_CPU_SAMPLES, HPX_CONTROL_NONE);
    pass();
    assert_int_equal(second.controls, 0);
    second.n = 4; /* what the next pass still reads */
    first.n = 3;
    pass_until_begun(2);
    assert_int_equal(second.taken > 0, 1);
    assert_int_equal(second.controls, 1);
    assert_int_equal(second.n, 0);
    wait_and_end();
    assert_string_equal(tables("x.txt"), "FIRST 3 FIRST 3 SECOND 0 ");
    assert_string_equal(complaints, "");
}

/* Flags that no command has are the session's: a listing with all of them is one with those that are known. */
TEST(unknown_flags_of_a_listing_are_ignored, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    order[0] = 0;
    begun = 0;
    list_sites(0xfff3);
    pass_until_begun(1);
    while (order[0] == 0) {
        pass();
    }
    wait_and_end();
    assert_string_equal(order, "0:3 ");
}

TESTS(NULL, NULL)
