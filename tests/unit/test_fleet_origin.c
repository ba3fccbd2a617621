/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fleet_origin.c: whose profile a file is, as its report says, in text and in binary, and what is no such line; trees without threads;
 * where the names and nodes of a tree are in another. */
#include "compare.h"
#include "failing_memory.h"
#include "tree_files.h"

#define DATE "Thu Jan  1 00:00:00 1970"

/* A text profile with these lines of the report. */
static void read_report(const char *lines)
{
    char text[4000];
    (void)snprintf(text, sizeof text,
                   "JAVA PROFILE 1.0.1, created " DATE "\n\nwords\n--------\n\nTRACE 300001:\n\tA.m(A.java:1)\n"
                   "CPU SAMPLES BEGIN (total = 1) " DATE "\nrank   self  accum   count trace method\n"
                   "   1 100.00%% 100.00%%       1 300001 A.m\nCPU SAMPLES END\nhprofx: version: 1\n%s",
                   lines);
    if (read_text(text) != HPX_TREE_WHOLE) {
        fail_msg("%s", err.msg);
    }
}

/* A binary one: the report is a string that nothing names. */
static void read_binary_report(const char *lines)
{
    unsigned char bytes[4000] = "JAVA PROFILE 1.0.1";
    size_t n = 19, len;
    static const unsigned char rest[] = {0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0};
    memcpy(bytes + n, rest, sizeof rest);
    n += sizeof rest;
    char report[3000];
    (void)snprintf(report, sizeof report, "hprofx: version: 1\n%s", lines);
    len = strlen(report);
    const unsigned char head[] = {1, 0, 0, 0, 0, 0, 0, (unsigned char)((len + 4) >> 8), (unsigned char)(len + 4), 0, 0, 0, 9};
    memcpy(bytes + n, head, sizeof head);
    n += sizeof head;
    memcpy(bytes + n, report, len);
    n += len;
    (void)read_bytes(&tree, bytes, n);
}

static void origin_is(const char *host, const char *service, const char *version, const char *container, uint64_t pid, uint64_t began,
                      uint64_t number)
{
    const struct hpx_tree_origin *o = &tree.origin;
    assert_string_equal(hpx_tree_text(&tree, o->host), host);
    assert_string_equal(hpx_tree_text(&tree, o->service), service);
    assert_string_equal(hpx_tree_text(&tree, o->version), version);
    assert_string_equal(hpx_tree_text(&tree, o->container), container);
    assert_int_equal(o->pid, pid);
    assert_int_equal(o->began_ms, began);
    assert_int_equal(o->number, number);
}

static const char all[] = "hprofx: host: h1\nhprofx: pid: 42\nhprofx: service: shop \xc3\xb6\nhprofx: service version: 1.2+3\n"
                          "hprofx: container: 0123ab\nhprofx: run began: 1700000000000 ms since 1970\n"
                          "hprofx: profile: 3, from 1700000001000 to 1700000061000 ms since 1970\n";

TEST(every_line_is_understood_in_text, setup, teardown)
{
    read_report(all);
    origin_is("h1", "shop \xc3\xb6", "1.2+3", "0123ab", 42, 1700000000000, 3);
    assert_int_equal(tree.start_ms, 1700000001000);
    assert_int_equal(tree.duration_ms, 60000);
}

TEST(every_line_is_understood_in_binary, setup, teardown)
{
    read_binary_report(all);
    origin_is("h1", "shop \xc3\xb6", "1.2+3", "0123ab", 42, 1700000000000, 3);
}

TEST(a_report_without_them_leaves_all_unknown, setup, teardown)
{
    read_report("hprofx: services: x\nhprofx: hosts: x\nhprofx: Host: x\n");
    origin_is("", "", "", "", 0, 0, 0);
}

TEST(what_is_no_number_or_period_is_none, setup, teardown)
{
    static const char *const bad[] = {"hprofx: profile: 3\n",
                                      "hprofx: profile: x, from 1 to 2 ms since 1970\n",
                                      "hprofx: profile: 3, from 2 to 1 ms since 1970\n",
                                      "hprofx: profile: 3, from 1 until 2 ms since 1970\n",
                                      "hprofx: profile: 9999999999999999999999, from 1 to 2 ms since 1970\n",
                                      "hprofx: pid: x\n",
                                      "hprofx: pid: -1\n",
                                      "hprofx: run began: soon\n"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(bad); i++) {
        hpx_tree_fini(&tree);
        assert_true(hpx_tree_init(&tree));
        read_report(bad[i]);
        origin_is("", "", "", "", 0, 0, 0);
    }
}

TEST(long_and_hostile_values_are_cut_and_escaped, setup, teardown)
{
    char lines[2000] = "hprofx: host: ";
    memset(lines + 14, 'x', 1000);
    memcpy(lines + 1014, "\nhprofx: service: a\x1b[2J\xff</script>\n", 35);
    read_binary_report(lines); /* a text file with such bytes is broken */
    assert_in_range(strlen(hpx_tree_text(&tree, tree.origin.host)), 100, 200);
    assert_string_equal(hpx_tree_text(&tree, tree.origin.service), "a\\u001B[2J\\u00FF</script>");
}

/* ---- trees ---- */

static uint32_t method(struct hpx_tree *t, uint32_t parent, const char *text)
{
    return hpx_tree_node(t, parent, hpx_tree_frame(t, hpx_tree_name(t, text, strlen(text)), 0, 0, HPX_FRAME_METHOD));
}

TEST(threads_of_a_stack_are_added_up, setup, teardown)
{
    struct hpx_tree_view *v = &tree.views[HPX_VIEW_CPU], *lock = &tree.views[HPX_VIEW_LOCK];
    uint32_t a = method(&tree, 0, "a"), b = method(&tree, a, "b"), one = name_of("t1"), two = name_of("t2");
    hpx_tree_add(&tree, v, b, one, (uint64_t[]){1, UINT64_MAX - 1});
    hpx_tree_add(&tree, v, a, two, (uint64_t[]){2, 20});
    hpx_tree_add(&tree, v, b, two, (uint64_t[]){4, 40});
    hpx_tree_add(&tree, v, b, 0, (uint64_t[]){8, 80});
    hpx_tree_add(&tree, v, 0, one, (uint64_t[]){16, 160});
    hpx_tree_add(&tree, lock, a, one, (uint64_t[]){5, 50});
    hpx_tree_finish(&tree);
    for (int again = 0; again < 2; again++) {
        hpx_tree_without_threads(&tree);
        assert_int_equal(v->samples.len, 3);
        assert_int_equal(v->numbers.len, 6);
        const uint32_t nodes[] = {0, a, b};
        const uint64_t samples[] = {16, 2, 13};
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(hpx_tree_sample_at(v, i)->node, nodes[i]);
            assert_int_equal(hpx_tree_sample_at(v, i)->thread, 0);
            assert_int_equal(hpx_tree_values_at(v, i)[0], samples[i]);
        }
        assert_int_equal(hpx_tree_values_at(v, 2)[1], UINT64_MAX); /* it does not wrap */
        assert_int_equal(v->totals[0], 31);
        assert_int_equal(lock->samples.len, 1);
        hpx_tree_finish(&tree); /* totals stay */
        assert_int_equal(v->totals[0], 31);
    }
}

TEST(a_map_leads_to_names_and_nodes_of_another_tree, setup, teardown)
{
    struct hpx_tree to;
    struct hpx_tree_map m;
    uint32_t thread = name_of("only a thread"), b = method(&tree, method(&tree, 0, "a"), "b");
    for (int all_names = 0; all_names < 2; all_names++) {
        assert_true(hpx_tree_init(&to));
        uint32_t before = method(&to, method(&to, 0, "x"), "a");
        size_t nodes = to.nodes.len;
        assert_true(hpx_tree_map(&m, &to, &tree, all_names != 0));
        assert_int_equal(m.nodes[0], 0);
        assert_int_equal(to.nodes.len, nodes + 2); /* a and a;b */
        assert_true(m.nodes[b] != before);
        const struct hpx_tree_node *n = hpx_tree_node_at(&to, m.nodes[b]);
        assert_string_equal(hpx_tree_text(&to, hpx_tree_frame_at(&to, n->frame)->name), "b");
        assert_string_equal(hpx_tree_text(&to, hpx_tree_frame_at(&to, hpx_tree_node_at(&to, n->parent)->frame)->name), "a");
        assert_string_equal(hpx_tree_text(&to, m.names[thread]), all_names != 0 ? "only a thread" : "");
        hpx_tree_map_fini(&m);
        nodes = to.nodes.len;
        assert_true(hpx_tree_map(&m, &to, &tree, all_names != 0)); /* nothing new */
        assert_int_equal(to.nodes.len, nodes);
        hpx_tree_map_fini(&m);
        hpx_tree_fini(&to);
    }
}

TEST(without_memory_a_map_is_whole_or_says_so, setup, teardown)
{
    bool reached = true;
    uint32_t node = 0, step = (uint32_t)memory_fault_step();
    for (int i = 0; i < 100; i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "m%d", i);
        node = method(&tree, node, text);
    }
    for (uint64_t first = memory_first_fault(); reached; first += step) {
        struct hpx_tree to;
        struct hpx_tree_map m;
        assert_true(hpx_tree_init(&to));
        memory_fail(first, first);
        bool done = hpx_tree_map(&m, &to, &tree, true);
        reached = memory_calls() >= first;
        memory_allow();
        assert_int_equal(done, !to.no_memory);
        assert_true(done || reached);
        assert_true(!done || to.nodes.len == 101);
        hpx_tree_map_fini(&m);
        hpx_tree_fini(&to);
    }
}

TESTS(NULL, NULL)
