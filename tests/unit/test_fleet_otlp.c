/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fleet_otlp.c: bodies for OpenTelemetry, which the test takes apart itself: processes that share stacks, names that outlive their
 * trees, ids. */
#include "batch.h"
#include "fleet_batches.h"
#include "protobuf.h"
#include <inttypes.h>

struct table {
    struct hpx_pb_in entries[400];
    size_t n;
};
struct otlp_reader {
    struct table locations, functions, strings, stacks;
    FILE *to;
};

static struct hpx_pb_field field_of(struct hpx_pb_in m, unsigned number)
{
    struct hpx_pb_field f, found = {.number = 0};
    while (hpx_pb_next(&m, &f)) {
        found = f.number == number ? f : found;
    }
    assert_false(m.broken);
    return found;
}

static struct hpx_pb_in entry(const struct table *t, uint64_t i)
{
    assert_true(i < t->n);
    return t->entries[i];
}

static void put_bytes(FILE *to, struct hpx_pb_in text)
{
    (void)fprintf(to, "%.*s", (int)(text.end - text.at), (const char *)text.at);
}

static void read_dictionary(struct otlp_reader *r, struct hpx_pb_in m)
{
    struct hpx_pb_field f;
    while (hpx_pb_next(&m, &f)) {
        struct table *t = f.number == 2 ? &r->locations : f.number == 3 ? &r->functions : f.number == 5 ? &r->strings : &r->stacks;
        if (f.number == 2 || f.number == 3 || f.number == 5 || f.number == 7) {
            assert_true(t->n < HPX_ARRAY_LEN(t->entries));
            t->entries[t->n++] = f.bytes;
        }
    }
}

static void put_stack(const struct otlp_reader *r, uint64_t stack)
{
    struct hpx_pb_in locations = field_of(entry(&r->stacks, stack), 1).bytes;
    uint64_t location;
    while (hpx_pb_varint(&locations, &location)) {
        struct hpx_pb_in line = field_of(entry(&r->locations, location), 3).bytes;
        struct hpx_pb_in function = entry(&r->functions, field_of(line, 1).v);
        (void)putc('<', r->to);
        put_bytes(r->to, entry(&r->strings, field_of(function, 1).v));
    }
}

static void put_profile(const struct otlp_reader *r, struct hpx_pb_in m)
{
    struct hpx_pb_field f;
    struct hpx_pb_in type = field_of(m, 1).bytes, id = field_of(m, 7).bytes;
    (void)fputs(" ", r->to);
    put_bytes(r->to, entry(&r->strings, field_of(type, 1).v));
    (void)fputs("/", r->to);
    put_bytes(r->to, entry(&r->strings, field_of(type, 2).v));
    assert_int_equal(id.end - id.at, HPX_PROFILE_ID);
    (void)fprintf(r->to, " at %" PRIu64 " for %" PRIu64 " s:", field_of(m, 3).v / 1000000000, field_of(m, 4).v / 1000000000);
    while (hpx_pb_next(&m, &f)) {
        if (f.number == 2) {
            uint64_t value = 0;
            struct hpx_pb_in values = field_of(f.bytes, 4).bytes;
            (void)hpx_pb_varint(&values, &value);
            (void)putc(' ', r->to);
            put_stack(r, field_of(f.bytes, 1).v);
            (void)fprintf(r->to, "=%" PRIu64, value);
        }
    }
    (void)putc('\n', r->to);
}

static void put_resource(const struct otlp_reader *r, struct hpx_pb_in m)
{
    struct hpx_pb_field f;
    (void)fputs("resource", r->to);
    while (hpx_pb_next(&m, &f)) {
        struct hpx_pb_in value = field_of(f.bytes, 2).bytes;
        (void)putc(' ', r->to);
        put_bytes(r->to, field_of(f.bytes, 1).bytes);
        (void)putc('=', r->to);
        if (field_of(value, 1).number != 0) {
            put_bytes(r->to, field_of(value, 1).bytes);
        } else {
            (void)fprintf(r->to, "%" PRIu64, field_of(value, 3).v);
        }
    }
    (void)putc('\n', r->to);
}

static void put_scope(const struct otlp_reader *r, struct hpx_pb_in m)
{
    struct hpx_pb_field f;
    while (hpx_pb_next(&m, &f)) {
        if (f.number == 2) {
            put_profile(r, f.bytes);
        }
    }
}

static char *otlp_of(const char *bytes, size_t n)
{
    static struct otlp_reader r;
    char *text = NULL;
    size_t size;
    struct hpx_pb_in m = {(const uint8_t *)bytes, (const uint8_t *)bytes + n, false}, again = m;
    struct hpx_pb_field f, part;
    memset(&r, 0, sizeof r);
    r.to = open_memstream(&text, &size);
    while (hpx_pb_next(&m, &f)) {
        if (f.number == 2) {
            read_dictionary(&r, f.bytes);
        }
    }
    while (hpx_pb_next(&again, &f)) {
        for (struct hpx_pb_in at = f.bytes; f.number == 1 && hpx_pb_next(&at, &part);) {
            (void)(part.number == 1 ? put_resource(&r, part.bytes) : part.number == 2 ? put_scope(&r, part.bytes) : (void)0);
        }
    }
    assert_false(m.broken || again.broken);
    (void)fprintf(r.to, "%zu stacks, %zu functions, %zu strings\n", r.stacks.n, r.functions.n, r.strings.n);
    assert_int_equal(fclose(r.to), 0);
    return text;
}

TEST(measures_of_other_profilers_outlive_their_trees)
{
    static const char *const names[] = {"cycles", "misses"};
    struct hpx_tree t;
    struct hpx_batch b;
    begin_body(&b, HPX_OTLP);
    for (int i = 0; i < 3; i++) {
        with_other(&t, names, 2, 7);
        hpx_batch_add(&b, &t, ids[0]);
        hpx_tree_fini(&t);
    }
    char *text = body_with(&b, otlp_of);
    assert_string_equal(text, " cycles/count at 0 for 0 s: <m<main=7\n misses/count at 0 for 0 s: <m<main=8\n"
                              " cycles/count at 0 for 0 s: <m<main=7\n misses/count at 0 for 0 s: <m<main=8\n"
                              " cycles/count at 0 for 0 s: <m<main=7\n misses/count at 0 for 0 s: <m<main=8\n"
                              "2 stacks, 3 functions, 11 strings\n");
    free(text);
}

/* Each Profile has an id of its own, the same every time. */
TEST(ids_of_profiles_are_unique_and_stay)
{
    uint8_t seen[2][8][HPX_PROFILE_ID];
    for (size_t round = 0; round < 2; round++) {
        struct hpx_otlp o;
        assert_true(hpx_otlp_init(&o));
        size_t n = 0;
        for (size_t i = 0; i < 2; i++) {
            struct hpx_tree t;
            sample_tree(&t);
            hpx_otlp_add(&o, &t, ids[i]);
            hpx_tree_fini(&t);
            const struct hpx_otlp_part *p = (const struct hpx_otlp_part *)o.parts.items + i;
            for (size_t k = 0; k < p->profiles.len; k++) {
                memcpy(seen[round][n++], ((const struct hpx_otlp_profile *)p->profiles.items)[k].id, HPX_PROFILE_ID);
            }
        }
        assert_int_equal(n, 8);
        hpx_otlp_fini(&o);
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < i; k++) {
                assert_memory_not_equal(seen[round][i], seen[round][k], HPX_PROFILE_ID);
            }
        }
    }
    assert_memory_equal(seen[0], seen[1], sizeof seen[0]);
}

TESTS(NULL, NULL)
