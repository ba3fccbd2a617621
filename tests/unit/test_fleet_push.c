/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fleet_push.c: bodies for Pyroscope: labels, profiles in pprof that are read again, ids; stacks that are too deep, names that are
 * too long. */
#include "fleet_batches.h"
#include "formats.h"
#include "protobuf.h"
#include <inttypes.h>

static struct hpx_err err;
static char uuids[16][40];
static size_t nuuids;

static void text_of(struct hpx_pb_in in, char *to, size_t size)
{
    (void)snprintf(to, size, "%.*s", (int)(in.end - in.at), (const char *)in.at);
}

static void put_label(FILE *to, struct hpx_pb_in m)
{
    struct hpx_pb_field f;
    char name[64] = "", value[5000] = "";
    while (hpx_pb_next(&m, &f)) {
        text_of(f.bytes, f.number == 1 ? name : value, f.number == 1 ? sizeof name : sizeof value);
    }
    (void)fprintf(to, "%s=%s ", name, value);
}

/* The pprof as collapsed stacks of each column. */
static void put_pprof(FILE *to, struct hpx_pb_in m)
{
    struct hpx_tree t;
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    int fd = memfd_create("pprof", MFD_CLOEXEC);
    assert_true(m.end - m.at > 2 && m.at[0] == 0x1f && m.at[1] == 0x8b);
    assert_int_equal(write(fd, m.at, (size_t)(m.end - m.at)), m.end - m.at);
    assert_true(hpx_tree_init(&t));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(hpx_tree_read(&t, fd, NULL, NULL, &err), HPX_TREE_WHOLE);
    hpx_tree_finish(&t);
    (void)fprintf(to, "from %" PRIu64 " for %" PRIu64, t.start_ms, t.duration_ms);
    for (size_t i = 0, n = hpx_tree_columns(&t, of); i < n; i++) {
        const struct hpx_tree_view *v = &t.views[of[i].view];
        (void)fprintf(to, "\n  %s %" PRIu64 " in %zu", v->measures[of[i].measure].name, v->totals[of[i].measure], v->samples.len);
    }
    (void)putc('\n', to);
    hpx_tree_fini(&t);
    (void)close(fd);
}

static void put_sample(FILE *to, struct hpx_pb_in m)
{
    struct hpx_pb_field f;
    while (hpx_pb_next(&m, &f)) {
        if (f.number == 1) {
            put_pprof(to, f.bytes);
        } else {
            assert_true(nuuids < HPX_ARRAY_LEN(uuids));
            text_of(f.bytes, uuids[nuuids++], sizeof *uuids);
        }
    }
}

static char *push_of(const char *bytes, size_t n)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    struct hpx_pb_in m = {(const uint8_t *)bytes, (const uint8_t *)bytes + n, false};
    struct hpx_pb_field f, part;
    nuuids = 0;
    while (hpx_pb_next(&m, &f)) {
        assert_int_equal(f.number, 1);
        while (hpx_pb_next(&f.bytes, &part)) {
            (void)(part.number == 1 ? put_label(to, part.bytes) : put_sample(to, part.bytes));
        }
        assert_false(f.bytes.broken);
    }
    assert_false(m.broken);
    assert_int_equal(fclose(to), 0);
    return text;
}

TEST(ids_are_UUIDs_that_stay)
{
    char before[16][40];
    for (int round = 0; round < 2; round++) {
        struct hpx_batch b;
        begin_body(&b, HPX_PYROSCOPE);
        for (int i = 0; i < 2; i++) {
            struct hpx_tree t;
            sample_tree(&t);
            hpx_batch_add(&b, &t, ids[i]);
            hpx_tree_fini(&t);
        }
        free(body_with(&b, push_of));
        assert_int_equal(nuuids, 4);
        for (size_t i = 0; i < nuuids; i++) {
            unsigned part[5];
            int n = 0;
            assert_true(sscanf(uuids[i], "%8x-%4x-8%3x-a%3x-%12x%n", &part[0], &part[1], &part[2], &part[3], &part[4], &n) == 5 && n == 36);
            for (size_t k = 0; k < i; k++) {
                assert_string_not_equal(uuids[i], uuids[k]);
            }
            assert_true(round == 0 || strcmp(uuids[i], before[i]) == 0);
        }
        memcpy(before, uuids, sizeof before);
    }
}

TEST(measures_of_other_profilers_are_a_series)
{
    struct hpx_batch b;
    struct hpx_tree t;
    size_t m;
    assert_true(hpx_tree_init(&t));
    (void)hpx_tree_find(&t, "cycles", "count", &m);
    (void)hpx_tree_find(&t, "misses", "count", &m);
    hpx_tree_add(&t, &t.views[HPX_VIEW_OTHER], stack_in(&t, "a;b"), 0, (uint64_t[HPX_TREE_VALUES]){5, 6});
    hpx_tree_finish(&t);
    begin_body(&b, HPX_PYROSCOPE);
    hpx_batch_add(&b, &t, ids[0]);
    hpx_tree_fini(&t);
    char *text = body_with(&b, push_of);
    assert_string_equal(text, "__name__=hprofx_other service_name=unknown_service:java from 0 for 0\n  cycles 5 in 1\n  misses 6 in 1\n");
    free(text);
}

/* Nothing of the values is lost where a stack is cut. */
TEST(stacks_beyond_all_measure_are_cut_above)
{
    struct hpx_batch b;
    struct hpx_tree t;
    uint32_t node = 0;
    assert_true(hpx_tree_init(&t));
    uint32_t f = hpx_tree_frame(&t, name_in(&t, "r"), 0, 0, HPX_FRAME_METHOD);
    for (int i = 1; i <= 10000; i++) {
        node = hpx_tree_node(&t, node, f);
        if (i == 1 || i % 5000 == 0) {
            hpx_tree_add(&t, &t.views[HPX_VIEW_CALLS], node, 0, (uint64_t[]){1, 7});
        }
    }
    hpx_tree_finish(&t);
    begin_body(&b, HPX_PYROSCOPE);
    hpx_batch_add(&b, &t, ids[0]);
    hpx_tree_fini(&t);
    char *text = body_with(&b, push_of);
    assert_non_null(strstr(text, "calls 3 in"));
    free(text);
}

/* An engine refuses a whole batch for one label that is too long. */
TEST(values_of_labels_are_cut_between_characters)
{
    struct hpx_batch b;
    struct hpx_tree t;
    char longest[4000] = "x";
    for (size_t i = 1; i + 2 < sizeof longest; i += 2) {
        memcpy(longest + i, "\xc3\xb6", 3);
    }
    sample_tree(&t);
    t.origin.service = name_in(&t, longest);
    begin_body(&b, HPX_PYROSCOPE);
    hpx_batch_add(&b, &t, ids[0]);
    hpx_tree_fini(&t);
    char *text = body_with(&b, push_of), *value = strstr(text, "service_name=") + 13;
    size_t n = strcspn(value, " ");
    assert_in_range(n, 1000, 1024);
    assert_int_equal(n % 2, 1);
    assert_memory_equal(value, longest, n);
    free(text);
}

TESTS(NULL, NULL)
