/* SPDX-License-Identifier: BSD-2-Clause */
/* test_hprof_heap.c: the records of the heap byte for byte, and where segments end. */
#include "binary_fixture.h"
#include "heap_reader.h"
#include "heap_spool.h"
#include "hprof_heap.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct hpx_heap_spool spool;
static uint64_t spool_head;    /* of the image */
static bool spool_once = true; /* the same */
static const struct hpx_heap_klass *the_classes[1];

/* What follows goes to the spool of an image without roots, and without classes unless a test has one. */
static void begin_spool(uint32_t ids)
{
    int fd = memfd_create("spool", 0);
    assert_true(fd >= 0);
    assert_int_equal(hpx_heap_spool_init(&spool, fd, ids, 100), 0);
}

static int write_spool(const struct hpx_trace_rec **sites, uint32_t nsites)
{
    struct stat st;
    assert_int_equal(hpx_heap_spool_flush(&spool), 0);
    const struct hpx_heap_image i = {.spool = spool.fd,
                                     .head = spool_head,
                                     .once = spool_once,
                                     .id_size = spool.id_size,
                                     .found.objects_end = spool.first_end,
                                     .found.facts_at = spool.first_end,
                                     .found.roots_at = spool.first_end,
                                     .classes = the_classes,
                                     .nclasses = 1,
                                     .sites = sites,
                                     .nsites = nsites};
    int rc = hpx_heap_binary(&w, &i);
    assert_int_equal(fstat(spool.fd, &st), 0);
    assert_true(rc != 0 || st.st_blocks * 512 < 34 << 20); /* the rest was freed */
    close(spool.fd);
    hpx_heap_spool_fini(&spool);
    return rc;
}

/* Tag and length of each record, up to n; returns how many there are. */
static size_t records(uint8_t *tags, uint32_t *lengths, size_t n)
{
    size_t found = 0;
    assert_int_equal(hpx_out_flush(&out), 0);
    for (size_t at = 0; at < sink.len; found++) {
        assert_true(found < n && at + 9 <= sink.len);
        tags[found] = sink.bytes[at];
        lengths[found] = (uint32_t)sink.bytes[at + 5] << 24 | (uint32_t)sink.bytes[at + 6] << 16 | (uint32_t)sink.bytes[at + 7] << 8 |
                         sink.bytes[at + 8];
        at += 9 + lengths[found];
        assert_true(at <= sink.len);
    }
    return found;
}

static void put_bytes(uint64_t object, uint32_t n)
{
    assert_int_equal(hpx_heap_spool_primitives(&spool, object, 0, HPX_TYPE_BYTE, n, NULL), n);
}

TEST(segments_end_between_sub_records_and_none_is_empty)
{
    enum { BIG = HPX_HEAP_SEGMENT };
    uint8_t tags[8];
    uint32_t lengths[8];
    begin(8);
    begin_spool(8);
    assert_int_equal(write_spool(NULL, 0), 0);
    assert_written("2C 00000000 00000000");
    begin_spool(8);
    put_bytes(1, BIG - HPX_RECORD_HEAD - HPX_HEAP_SPOOL_HEAD); /* fills a segment */
    put_bytes(2, 10);
    put_bytes(3, 2 * BIG); /* larger than one */
    put_bytes(4, 20);
    put_bytes(5, 0);
    assert_int_equal(write_spool(NULL, 0), 0);
    assert_int_equal(records(tags, lengths, 8), 5);
    assert_memory_equal(tags, "\x1C\x1C\x1C\x1C\x2C", 5);
    assert_int_equal(lengths[0], BIG - HPX_RECORD_HEAD - HPX_HEAP_SPOOL_HEAD + 18);
    assert_int_equal(lengths[1], 28);
    assert_int_equal(lengths[2], 2 * BIG + 18);
    assert_int_equal(lengths[3], 38 + 18);
    assert_int_equal(lengths[4], 0);
    end();
}

TEST(a_spool_that_ends_inside_an_object_is_an_error)
{
    uint8_t tags[8];
    uint32_t lengths[8];
    for (uint64_t cut = 1; cut < HPX_RECORD_HEAD + 28; cut++) {
        begin(8);
        begin_spool(8);
        put_bytes(1, 10);
        assert_int_equal(hpx_heap_spool_flush(&spool), 0);
        spool.first_end -= cut;
        assert_int_equal(write_spool(NULL, 0), -HPX_E_IO);
        assert_int_equal(records(tags, lengths, 8), 1); /* the end alone */
        end();
    }
}

static int file = -1;

static ssize_t file_write(void *ctx, const void *p, size_t n)
{
    (void)ctx;
    return write(file, p, n);
}

static int file_truncate(void *ctx, off_t length)
{
    (void)ctx;
    return ftruncate(file, length);
}

/* plain: the output is a file until close_file(), which brings it into the sink. */
static void open_file(bool plain)
{
    static struct hpx_out_ops ops;
    file = plain ? memfd_create("output", 0) : -1;
    if (plain) {
        ops = *out.ops;
        assert_int_equal(fcntl(file, F_SETFL, O_APPEND), 0); /* as out_file.c opens it */
        ops.write = file_write;
        ops.truncate = file_truncate;
        out.ops = &ops;
        out.plain = true;
    }
}

static void close_file(void)
{
    struct sink all = {.bytes = NULL};
    assert_int_equal(hpx_out_flush(&out), 0);
    if (file >= 0) {
        all.len = (size_t)lseek(file, 0, SEEK_END);
        all.bytes = malloc(all.len + 1);
        assert_non_null(all.bytes);
        assert_int_equal(pread(file, all.bytes, all.len, 0), all.len);
        free(sink.bytes);
        sink = all;
        sink.cap = all.len;
        close(file);
        file = -1;
    }
}

/* Whatever cannot be read: the records that are in the file have their length. */
TEST(a_read_error_inside_a_long_array_leaves_zeros)
{
    static const uint64_t cuts[] = {100, HPX_HEAP_SEGMENT, 3 * HPX_HEAP_SEGMENT / 2};
    uint8_t tags[8];
    uint32_t lengths[8];
    for (size_t k = 0; k < 4 * HPX_ARRAY_LEN(cuts); k++) {
        const uint32_t n = 3 * HPX_HEAP_SEGMENT;
        const uint64_t cut = cuts[k / 4];
        uint8_t *bytes = malloc(n);
        assert_non_null(bytes);
        memset(bytes, 1, n);
        begin(8);
        open_file(k % 2 != 0);
        begin_spool(8);
        assert_int_equal(hpx_heap_spool_primitives(&spool, 1, k & 2, HPX_TYPE_BYTE, n, bytes), n);
        assert_int_equal(ftruncate(spool.fd, (off_t)(spool.first_end - cut)), 0);
        assert_int_equal(write_spool(NULL, 0), -HPX_E_IO);
        close_file();
        if (k % 2 != 0) {
            assert_int_equal(sink.len, 0); /* taken back */
            free(bytes);
            end();
            continue;
        }
        assert_int_equal(records(tags, lengths, 8), 2);
        assert_memory_equal(tags, "\x1C\x2C", 2);
        assert_int_equal(lengths[0], n + 18);
        const uint8_t *elements = sink.bytes + 9 + 18;
        assert_true(elements[n - 1] == 0 && elements[n - cut] == 0);
        assert_true(cut > HPX_HEAP_SEGMENT || elements[n - 2 * HPX_HEAP_SEGMENT] == 1);
        free(bytes);
        end();
    }
}

static unsigned adopted;

static void copy_to(int fd, uint64_t at, uint64_t end, uint64_t by)
{
    char byte;
    for (; at < end; at++) {
        assert_int_equal(pread(file, &byte, 1, (off_t)at), 1);
        assert_int_equal(pwrite(fd, &byte, 1, (off_t)(at + by)), 1);
    }
}

/* As that of out_file.c, without names. */
static bool adopt(void *ctx, int fd, uint64_t head, uint64_t end)
{
    char name[32];
    (void)ctx;
    copy_to(fd, 0, out.point_at, 0);
    copy_to(fd, out.point_at, out.written, head - out.written);
    assert_int_equal(ftruncate(fd, (off_t)end), 0);
    close(file);
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    file = open(name, O_RDWR | O_APPEND | O_CLOEXEC);
    assert_true(file >= 0);
    adopted++;
    return true;
}

static bool cannot(void *ctx, int fd, uint64_t head, uint64_t end)
{
    (void)ctx, (void)fd, (void)head, (void)end;
    return false;
}

/* As it is: the same records as a copy, a note more in front of the first segment; every record has its TIME. */
TEST(the_spool_becomes_an_output_that_has_room_for_its_head)
{
    enum { BIG = HPX_HEAP_SEGMENT, NOTE = HPX_RECORD_HEAD + 8 };
    static const struct hpx_heap_klass klass = {.name = {"A", 1}, .linked = true};
    static const struct {
        uint64_t head; /* 0: none; else bytes beyond those of the output */
        bool once, adopts;
        bool (*can)(void *ctx, int fd, uint64_t head, uint64_t end);
    } cases[] = {{0, true, false, adopt},      {NOTE - 1, true, false, adopt}, {NOTE, true, true, adopt}, {NOTE + 1, true, true, adopt},
                 {3 * BIG, true, true, adopt}, {4096, false, false, adopt},    {4096, true, false, NULL}, {4096, true, false, cannot}};
    uint64_t size = 0; /* of names, roots and classes */
    for (size_t k = 0; k < HPX_ARRAY_LEN(cases); k++) {
        uint8_t tags[8];
        uint32_t lengths[8];
        begin(8);
        open_file(true);
        out.adopt = cases[k].can;
        hpx_binary_at(&w, w.zero_ns + UINT64_C(0x12345) * 1000);
        begin_spool(8);
        spool_head = cases[k].head > 0 ? size + cases[k].head : 0;
        spool.first_end = spool_head;
        spool_once = cases[k].once;
        the_classes[0] = &klass;
        put_bytes(1, 10);
        put_bytes(2, 2 * BIG);
        put_bytes(3, 5);
        adopted = 0;
        assert_int_equal(write_spool(NULL, 0), 0);
        the_classes[0] = NULL;
        spool_head = 0;
        spool_once = true;
        assert_int_equal(adopted, cases[k].adopts);
        assert_int_equal(hpx_bound_at(&out), out.written + out.used);
        close_file();
        assert_int_equal(sink.len, out.written);
        const size_t n = records(tags, lengths, 8);
        assert_int_equal(n, 7 + adopted);
        assert_memory_equal(tags, adopted ? "\x01\x02\x01\x1C\x1C\x1C\x1C\x2C" : "\x01\x02\x1C\x1C\x1C\x1C\x2C", n);
        assert_true(adopted == 0 || lengths[2] == cases[k].head - HPX_RECORD_HEAD);
        assert_int_equal(lengths[n - 3], 2 * BIG + 18);
        for (size_t at = 0, r = 0; r < n; at += HPX_RECORD_HEAD + lengths[r++]) {
            assert_memory_equal(sink.bytes + at + 1, "\x00\x01\x23\x45", 4);
            size += k == 0 && r < 3 ? HPX_RECORD_HEAD + lengths[r] : 0; /* a name, a class, the segment of its record */
        }
        end();
    }
}

/* Every segment is filled by its sub-records; returns how many these are. */
static uint32_t sub_records(void)
{
    uint32_t n = 0;
    for (size_t at = 0; at < sink.len;) {
        uint32_t length;
        memcpy(&length, sink.bytes + at + 5, sizeof(length));
        size_t end = at + 9 + be32toh(length);
        assert_true(end <= sink.len);
        for (at += 9; at < end; n++) {
            assert_in_range(sink.bytes[at], HPX_SUB_INSTANCE, HPX_SUB_PRIMITIVES);
            uint64_t sub = hpx_heap_sub_length(8, sink.bytes + at, end - at);
            assert_true(sub > 0 && sub <= end - at);
            at += sub;
        }
    }
    return n;
}

/* Segments of many objects, a long array in the middle: wherever the spool ends, readers get to the end of the dump. */
TEST(a_read_error_between_objects_leaves_whole_segments)
{
    enum { OBJECTS = 100000 };
    for (unsigned k = 0; k < 40; k++) {
        begin(8);
        open_file(k % 2 != 0);
        begin_spool(8);
        for (uint32_t i = 1; i <= OBJECTS; i++) {
            put_bytes(HPX_HEAP_OBJECT_FIRST + i, i == OBJECTS / 2 ? 3 * HPX_HEAP_SEGMENT : i % 5);
        }
        assert_int_equal(hpx_heap_spool_flush(&spool), 0);
        uint64_t cut = 1 + k / 2 * (spool.first_end / 21);
        assert_int_equal(ftruncate(spool.fd, (off_t)(spool.first_end - cut)), 0);
        assert_int_equal(write_spool(NULL, 0), -HPX_E_IO);
        close_file();
        assert_true(sub_records() < OBJECTS);
        if (k % 2 != 0) {
            assert_int_equal(sink.len, 0); /* taken back */
        } else {
            assert_memory_equal(sink.bytes + sink.len - 9, "\x2C\0\0\0\0\0\0\0\0", 9);
        }
        end();
    }
}

/* Into a file or not, with sites or without: the same bytes, but for the traces. */
TEST(long_and_short_objects_come_out_alike_wherever_they_go)
{
    static const struct hpx_trace_rec trace = {.serial = HPX_SERIAL_TRACE}; /* a site that looks like none */
    static const struct hpx_trace_rec *sites[] = {NULL, &trace};
    uint8_t *want = NULL;
    size_t n = 0;
    for (unsigned how = 0; how < 4; how++) {
        begin(8);
        open_file(how % 2 != 0);
        begin_spool(8);
        for (uint32_t i = 1; i <= 25000; i++) {
            (void)hpx_heap_spool_objects(&spool, HPX_HEAP_OBJECT_FIRST + ((uint64_t)i << 20), how / 2, 0x10000001,
                                         i % 20000 == 0 ? 3000000 : i % 5);
            (void)hpx_heap_spool_element(&spool, 0, i);
            (void)hpx_heap_spool_element(&spool, 2500000, i);
            hpx_heap_spool_objects_end(&spool);
        }
        assert_int_equal(write_spool(sites, how / 2 * 2), 0);
        close_file();
        size_t from = 0;
        while (sink.bytes[from] != 0x1C) { /* the trace of the site */
            from += 9 + sink.bytes[from + 8];
        }
        if (how == 0) {
            n = sink.len;
            want = malloc(n);
            assert_non_null(want);
            memcpy(want, sink.bytes, n);
        }
        assert_int_equal(sink.len - from, n);
        assert_memory_equal(sink.bytes + from, want, n);
        end();
    }
    free(want);
}

TEST(a_class_may_be_larger_than_a_segment)
{
    enum { FIELDS = UINT16_MAX + 2 };
    struct hpx_heap_klass *c = calloc(1, sizeof *c + FIELDS * sizeof c->fields[0]);
    assert_non_null(c);
    *c = (struct hpx_heap_klass){.linked = true, .name = {"C", 1}, .nfields = FIELDS};
    for (uint32_t i = 0; i < FIELDS; i++) { /* one static field more than a record can count, and one of instances */
        c->fields[i] = (struct hpx_heap_field){.name = {"f", 1}, .type = HPX_TYPE_LONG, .is_static = i + 1 < FIELDS};
    }
    uint8_t tags[8];
    uint32_t lengths[8];
    begin(8);
    begin_spool(8);
    the_classes[0] = c;
    assert_int_equal(write_spool(NULL, 0), 0);
    the_classes[0] = NULL;
    size_t n = records(tags, lengths, 8);
    assert_true(n > 2);
    assert_int_equal(lengths[n - 2], 1 + 7 * 8 + 4 + 4 + 2 + 2 + UINT16_MAX * 17 + 2 + 9);
    assert_memory_equal(tags + n - 2, "\x1C\x2C", 2);
    end();
    free(c);
}

static size_t taken; /* of the sink: whole records */
static unsigned asked, refuse_from, refuse_to;

/* What came since the last call is one whole record. */
static bool refuse(void *ctx)
{
    const uint8_t *r = sink.bytes + taken;
    (void)ctx;
    assert_true(sink.len >= taken + 9);
    assert_int_equal(sink.len - taken, 9 + ((size_t)r[5] << 24 | (size_t)r[6] << 16 | (size_t)r[7] << 8 | r[8]));
    bool refused = asked >= refuse_from && asked < refuse_to;
    asked++;
    if (refused) {
        sink.len = taken;
    }
    taken = sink.len;
    return !refused;
}

static size_t room_asked;
static void room(size_t n)
{
    room_asked = n;
}

static void begin_refusing(unsigned from, unsigned to)
{
    begin(8);
    out.record = refuse;
    out.room = room;
    asked = 0;
    taken = 0;
    refuse_from = from;
    refuse_to = to;
}

TEST(each_record_can_be_refused_by_itself)
{
    enum { BIG = HPX_HEAP_SEGMENT };
    uint8_t tags[8];
    uint32_t lengths[8];
    for (unsigned refused = 0; refused < 5; refused++) { /* 4: none */
        begin_refusing(refused, refused + 1);
        begin_spool(8);
        put_bytes(1, 10);
        put_bytes(2, 2 * BIG);
        put_bytes(3, 0);
        assert_int_equal(write_spool(NULL, 0), 0);
        assert_int_equal(asked, 4);
        size_t n = records(tags, lengths, 8);
        assert_int_equal(n, refused == 4 ? 4 : 3);
        for (size_t i = 0; i < n; i++) {
            static const uint8_t whole[] = {0x1C, 0x1C, 0x1C, 0x2C};
            assert_int_equal(tags[i], whole[i + (i >= refused)]);
        }
        end();
    }
}

TESTS(NULL, NULL)
