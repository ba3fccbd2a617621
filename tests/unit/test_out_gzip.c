/* SPDX-License-Identifier: BSD-2-Clause */
/* test_out_gzip.c: blocks of gzip, read back by zlib: their sizes, sections, errors at every write, no memory; several threads that
 * compress. */
#include "cmocka_all.h"
#include "failing_memory.h"
#include "folder_fixture.h"
#include "out_file.h"
#include "out_gzip.h"
#include "sanitized.h"
#include "tasks.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>
#include <zlib.h>

#define MOST (1u << 20)

/* ---- threads that are there or not ---- */

static unsigned spare;          /* CPUs */
static bool no_thread, no_nice; /* a thread is refused, or its priority */
static unsigned threads, niced; /* threads so far; of them with the least priority */

unsigned __wrap_hpx_cpus_spare(void);
unsigned __wrap_hpx_cpus_spare(void)
{
    return spare;
}

int __real_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *arg);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *arg);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    threads++;
    return no_thread ? EAGAIN : __real_pthread_create(id, attr, run, arg);
}

int __real_setpriority(__priority_which_t which, id_t who, int nice);
int __wrap_setpriority(__priority_which_t which, id_t who, int nice);
int __wrap_setpriority(__priority_which_t which, id_t who, int nice)
{
    int rc = no_nice ? -1 : __real_setpriority(which, who, nice);
    __atomic_fetch_add(&niced, rc == 0 && getpriority(which, who) == 19, __ATOMIC_RELAXED);
    return rc;
}

/* ---- a zlib that is not there, or fails ---- */

static const char *lacks;      /* a function that the library has not; "": there is no library */
static unsigned deflate_fails; /* 1: every call from now on; 0: none */

/* What the workers do: 'c': compress; 'f': fail; 'w': wait until `over` is posted, while the writer's thread waits until each has a block.
 */
static char workers_do = 'c';
static _Atomic unsigned by_workers, in_vain; /* calls; waits of 20 s */
static sem_t over, held;
static unsigned seen_held;
static pthread_t writer;

static void await(sem_t *s)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    if (sem_timedwait(s, &until) != 0) {
        atomic_fetch_add(&in_vain, 1);
    }
}

static int of_worker(z_stream *z, int flush)
{
    atomic_fetch_add(&by_workers, 1);
    if (workers_do == 'f') {
        return Z_STREAM_ERROR;
    }
    if (workers_do == 'w') {
        (void)sem_post(&held);
        await(&over);
        (void)sem_post(&over); /* for the others */
    }
    return deflate(z, flush);
}

static int __attribute__((unused)) own_deflate(z_stream *z, int flush)
{
    if (!pthread_equal(pthread_self(), writer)) {
        return of_worker(z, flush);
    }
    for (; workers_do == 'w' && seen_held < threads; seen_held++) {
        await(&held);
    }
    deflate_fails -= deflate_fails > 1;
    return deflate_fails == 1 ? Z_STREAM_ERROR : deflate(z, flush);
}

#ifdef UNSANITIZED /* nothing stands in for dlsym() otherwise */
void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags)
{
    return __real_dlopen(lacks != NULL && *lacks == '\0' ? "libz.so.none" : name, flags);
}

void *__real_dlsym(void *lib, const char *name);
void *__wrap_dlsym(void *lib, const char *name);
void *__wrap_dlsym(void *lib, const char *name)
{
    static int (*const own)(z_stream * z, int flush) = own_deflate;
    if (lacks != NULL && strcmp(lacks, name) == 0) {
        return __real_dlsym(lib, "deflateNothing");
    }
    return strcmp(name, "deflate") == 0 ? *(void *const *)(const void *)&own : __real_dlsym(lib, name);
}
#endif

/* The first one: the library, once loaded, stays. */
TEST(without_zlib_or_with_half_of_it_no_file_is_opened, setup, teardown)
{
    static const char *const names[] = {"", "deflateInit2_", "deflateSetHeader", "deflate", "deflateReset", "deflateBound", "deflateEnd"};
    static struct hpx_out o;
    const struct hpx_out_file_opts opts = {.name = "x.gz", .force = true, .gzip = true};
    struct hpx_err err;
    if (SANITIZED) { /* nothing stands in for the library (meson.build) */
        skip();
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        lacks = names[i];
        assert_int_equal(hpx_out_file_open(&o, &opts, &err), -HPX_E_SYS);
        assert_non_null(strstr(err.msg, "; install zlib (Debian: zlib1g)"));
        assert_int_equal(access("x.gz.part", F_OK), -1);
    }
    lacks = NULL;
    assert_int_equal(hpx_gzip_load(&err), 0);
}

/* What comes out, and the write that fails. */
static struct {
    unsigned char data[MOST];
    size_t len;
    unsigned calls, fail_at, eintr_every;
    size_t at_once; /* a write takes no more; 0: no limit */
    size_t over_at; /* then `over` is posted; 0: never */
    off_t cut_to;
    bool full, fixed; /* a write takes nothing; nothing can be cut */
} to;

static ssize_t to_write(void *ctx, const void *p, size_t n)
{
    (void)ctx;
    to.calls++;
    if (to.eintr_every > 0 && to.calls % to.eintr_every == 0) {
        errno = EINTR;
        return -1;
    }
    if (to.fail_at > 0 && to.calls >= to.fail_at) {
        errno = ENOSPC;
        return to.full ? 0 : -1;
    }
    n = to.at_once > 0 && n > to.at_once ? to.at_once : n;
    assert_true(to.len + n <= sizeof(to.data));
    memcpy(to.data + to.len, p, n);
    to.len += n;
    if (to.len == to.over_at) {
        (void)sem_post(&over);
    }
    return (ssize_t)n;
}

static int to_truncate(void *ctx, off_t length)
{
    (void)ctx;
    if (to.fixed) {
        errno = EPERM;
        return -1;
    }
    assert_true(length >= 0 && (size_t)length <= to.len);
    to.cut_to = length;
    to.len = (size_t)length;
    return 0;
}

static const struct hpx_out_ops to_ops = {.write = to_write, .truncate = to_truncate}, to_fifo_ops = {.write = to_write};

/* The same between struct hpx_out and `to`, as out_file.c has it. */
static struct hpx_gzip *gzip;
static struct hpx_out out;

static ssize_t gzip_write(void *ctx, const void *p, size_t n)
{
    return hpx_gzip_write(ctx, p, n);
}

static int gzip_truncate(void *ctx, off_t length)
{
    (void)length;
    return hpx_gzip_truncate(ctx);
}

static int gzip_section(void *ctx)
{
    return hpx_gzip_section(ctx);
}

static int gzip_point(void *ctx)
{
    return hpx_gzip_point(ctx);
}

static int gzip_back(void *ctx)
{
    return hpx_gzip_back(ctx);
}

static int gzip_close(void *ctx)
{
    hpx_gzip_free(ctx);
    return 0;
}

static const struct hpx_out_ops gzip_ops = {gzip_write, gzip_truncate, NULL, gzip_close};

static void begin(uint32_t block, const struct hpx_out_ops *ops)
{
    memset(&to, 0, sizeof(to));
    to.cut_to = -1;
    writer = pthread_self();
    threads = 0;
    niced = 0;
    seen_held = 0;
    by_workers = 0;
    assert_int_equal(hpx_gzip_load(NULL), 0);
    gzip = hpx_gzip_new(ops, NULL, block);
    assert_non_null(gzip);
    assert_int_equal(hpx_out_init(&out, &gzip_ops, gzip, "x.gz.part"), 0);
    out.end_section = gzip_section;
}

/* Bytes that compress to about two thirds. */
static unsigned char byte_at(size_t i)
{
    return (unsigned char)((i * 2654435761u >> 13 ^ i) & 0x3f);
}

static void put(size_t from, size_t n)
{
    unsigned char piece[1000];
    for (size_t k; n > 0; from += k, n -= k) {
        k = n < sizeof(piece) ? n : sizeof(piece);
        for (size_t i = 0; i < k; i++) {
            piece[i] = byte_at(from + i);
        }
        hpx_out_bytes(&out, piece, k);
    }
}

/* Uncompressed sizes of the members, with their bytes checked; the number of members. */
static unsigned members(const unsigned char *data, size_t len, size_t *sizes, unsigned most, char comment[32])
{
    static unsigned char plain[MOST];
    size_t at = 0;
    unsigned n = 0;
    comment[0] = '\0';
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)len};
    assert_int_equal(inflateInit2(&z, 31), Z_OK);
    while (z.avail_in > 0) {
        char found[32] = "";
        gz_header header = {.comment = (Bytef *)found, .comm_max = sizeof(found)};
        assert_true(n < most);
        assert_int_equal(inflateGetHeader(&z, &header), Z_OK);
        z.next_out = plain;
        z.avail_out = sizeof(plain);
        assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
        sizes[n] = sizeof(plain) - z.avail_out;
        for (size_t i = 0; i < sizes[n]; i++) {
            assert_int_equal(plain[i], byte_at(at + i));
        }
        at += sizes[n];
        if (n++ == 0) {
            memcpy(comment, found, sizeof(found));
        } else {
            assert_null(header.comment); /* zlib's word for none */
        }
        assert_int_equal(inflateReset(&z), Z_OK);
    }
    inflateEnd(&z);
    return n;
}

static void blocks_of(size_t left)
{
    size_t sizes[512];
    char comment[32];
    begin(1000, &to_ops);
    put(0, left);
    assert_int_equal(hpx_out_close(&out), 0);
    unsigned n = members(to.data, to.len, sizes, HPX_ARRAY_LEN(sizes), comment);
    assert_string_equal(comment, "HPROF BLOCKSIZE=1000");
    assert_int_equal(n, left == 0 ? 1 : (left + 999) / 1000);
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(sizes[i], left < 1000 ? left : 1000);
        left -= sizes[i];
    }
}

static const unsigned spares[] = {0, 1, 2, 100};

TEST(blocks_are_full_but_for_the_last_of_a_section)
{
    for (size_t s = 0; s < HPX_ARRAY_LEN(spares); s++) {
        spare = spares[s];
        for (size_t blocks = 0; blocks < 20; blocks++) {
            for (size_t k = blocks == 0; k < 4; k++) {
                blocks_of(1000 * blocks + k - 1);
            }
        }
        blocks_of(200000);
    }
    spare = 0;
}

TEST(a_section_ends_its_block_and_is_in_the_output)
{
    size_t sizes[8];
    char comment[32];
    begin(1000, &to_ops);
    put(0, 31);
    assert_int_equal(hpx_out_section(&out, false), 0); /* the header: its block goes on */
    assert_int_equal(to.len, 0);
    put(31, 1469);
    assert_int_equal(hpx_out_section(&out, true), 0);
    assert_int_equal(members(to.data, to.len, sizes, 8, comment), 2);
    assert_int_equal(sizes[0], 1000);
    assert_int_equal(sizes[1], 500);
    size_t len = to.len;
    assert_int_equal(hpx_out_section(&out, true), 0); /* an empty one adds nothing */
    assert_int_equal(to.len, len);
    put(1500, 10);
    assert_int_equal(hpx_out_close(&out), 0);
    assert_int_equal(members(to.data, to.len, sizes, 8, comment), 3);
    assert_int_equal(sizes[2], 10);
}

TEST(short_writes_and_eintr_lose_nothing)
{
    size_t sizes[512];
    char comment[32];
    begin(1000, &to_ops);
    to.at_once = 7;
    to.eintr_every = 3;
    put(0, 120000);
    assert_int_equal(hpx_out_section(&out, true), 0);
    assert_int_equal(out.written, 120000);
    assert_int_equal(hpx_out_close(&out), 0);
    assert_int_equal(members(to.data, to.len, sizes, 512, comment), 120);
}

/* Three sections of 90,000 bytes: a failure of each write leaves whole sections, and the counts add up. */
static void fail_at_each(uint32_t block)
{
    bool failed = true;
    for (unsigned k = 1; failed; k++) {
        size_t sizes[64], whole = 0, got = 0, blocks = (90000 + block - 1) / block;
        char comment[32];
        begin(block, &to_ops);
        to.at_once = 2500;
        to.fail_at = k;
        for (size_t s = 0; s < 3; s++) {
            put(s * 90000, 90000);
            whole += hpx_out_section(&out, true) == 0 ? 90000 : 0;
        }
        failed = out.error != 0;
        assert_int_equal(failed, whole < 270000);
        assert_int_equal(out.lost + whole, 270000);
        assert_int_equal(out.written, whole);
        assert_int_equal(to.cut_to >= 0, failed);
        unsigned n = members(to.data, to.len, sizes, 64, comment);
        assert_int_equal(n, whole / 90000 * blocks);
        for (unsigned i = 0; i < n; i++) {
            assert_int_equal(sizes[i], (i + 1) % blocks == 0 ? 90000 - (blocks - 1) * block : block);
            got += sizes[i];
        }
        assert_int_equal(got, whole);
        assert_int_equal(hpx_out_close(&out), failed ? -HPX_E_IO : 0);
        assert_true(k < 1000);
    }
}

TEST(an_error_at_any_write_leaves_the_last_complete_section, setup, teardown)
{
    fail_at_each(40000);
    for (spare = 1; spare <= 4; spare += 3) {
        fail_at_each(7000);
    }
    spare = 0;
}

TEST(what_cannot_be_cut_counts_as_lost, setup, teardown)
{
    begin(1000, &to_fifo_ops);
    put(0, 3000);
    assert_int_equal(hpx_out_section(&out, true), 0);
    to.fail_at = to.calls + 2;
    put(3000, 200000);
    assert_int_equal(hpx_out_section(&out, true), -HPX_E_IO);
    assert_int_equal(out.lost, 200000);
    assert_int_equal(out.written, 3000);
    assert_non_null(strstr(content("said"), "the output ends inside a section"));
    assert_int_equal(hpx_out_close(&out), -HPX_E_IO);
}

static void open_without_memory(const char *name)
{
    const struct hpx_out_file_opts opts = {.name = name, .force = true, .gzip = true};
    struct hpx_err err;
    int rc = -1;
    for (uint64_t k = 1; rc != 0; k++) {
        memory_fail(k, k);
        rc = hpx_out_file_open(&out, &opts, &err);
        memory_allow();
        if (rc != 0) {
            assert_int_equal(rc, -HPX_E_NOMEM);
            assert_string_equal(err.msg, "no memory for the output");
            assert_int_equal(access("x.gz.part", F_OK), -1);
        } else if (memory_calls() >= k) { /* a failure that changes nothing, such as the search for a killed run's files */
            assert_int_equal(hpx_out_close(&out), 0);
            rc = -1;
        }
        assert_true(k < 100);
    }
    assert_int_equal(hpx_out_close(&out), 0);
}

TEST(without_memory_no_file_is_opened, setup, teardown)
{
    open_without_memory("x.gz");
    open_without_memory("/dev/null");
}

TEST(a_file_has_blocks_of_1_mib, setup, teardown)
{
    struct hpx_out_file_opts opts = {.name = "x.gz", .force = true, .gzip = true};
    struct hpx_err err;
    size_t sizes[8];
    char comment[32];
    assert_int_equal(hpx_out_file_open(&out, &opts, &err), 0);
    put(0, (1u << 20) + 5);
    assert_int_equal(hpx_out_section(&out, true), 0);
    assert_int_equal(access("x.gz.part", F_OK), -1);
    assert_int_equal(hpx_out_close(&out), 0);
    memset(&to, 0, sizeof(to));
    int fd = open("x.gz", O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, to.data, sizeof(to.data));
    close(fd);
    assert_true(n > 0 && (size_t)n < sizeof(to.data));
    assert_int_equal(members(to.data, (size_t)n, sizes, 8, comment), 2);
    assert_string_equal(comment, "HPROF BLOCKSIZE=1048576");
    assert_int_equal(sizes[1], 5);
}

TEST(force_n_keeps_the_suffix, setup, teardown)
{
    static const struct {
        const char *name, *expect;
        bool text;
    } cases[] = {{"a.txt.gz", "a.%ld.txt.gz", true},
                 {"b.gz", "b.%ld.txt.gz", true},
                 {"c.gz", "c.%ld.gz", false},
                 {"d", "d.%ld", false},
                 {"d.tar", "d.tar.%ld", false}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        struct hpx_out_file_opts opts = {.name = cases[i].name, .gzip = true, .text = cases[i].text};
        struct hpx_err err;
        char expect[64];
        close(open(cases[i].name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        assert_int_equal(hpx_out_file_open(&out, &opts, &err), 0);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(expect, sizeof(expect), cases[i].expect, (long)getpid());
#pragma GCC diagnostic pop
        assert_string_equal(hpx_out_file_name(&out), expect);
        assert_int_equal(hpx_out_close(&out), 0);
    }
}

/* What stands between a point and the way back is not there, however many blocks and writes it was. */
TEST(what_is_taken_back_is_not_in_the_output)
{
    static const size_t before[] = {0, 100, 70000, 131072, 200000}, between[] = {0, 1, 1000, 65536, 300000};
    size_t sizes[64];
    char comment[32];
    for (size_t k = 0; k < 50; k++) {
        const uint32_t block = k < 25 ? 131072 : 10007;
        spare = k < 25 ? 0 : 2;
        begin(block, &to_ops);
        out.point = gzip_point;
        out.back = gzip_back;
        put(0, before[k / 5 % 5]);
        assert_true(hpx_out_point(&out));
        put(7, between[k % 5]);
        if (k % 2 != 0) {
            assert_int_equal(hpx_out_flush(&out), 0);
        }
        hpx_out_take_back(&out);
        put(before[k / 5 % 5], 150000);
        assert_int_equal(hpx_out_close(&out), 0);
        size_t all = before[k / 5 % 5] + 150000, sum = 0;
        unsigned n = members(to.data, to.len, sizes, 64, comment);
        for (unsigned i = 0; i < n; i++) {
            assert_true(i + 1 == n || sizes[i] == block); /* readers count on it */
            sum += sizes[i];
        }
        assert_int_equal(sum, all);
        assert_string_equal(comment, k < 25 ? "HPROF BLOCKSIZE=131072" : "HPROF BLOCKSIZE=10007");
    }
    spare = 0;
}

TEST(without_memory_there_is_no_point)
{
    size_t sizes[4];
    char comment[32];
    for (uint64_t fault = 1; fault < 6; fault++) {
        begin(131072, &to_ops);
        out.point = gzip_point;
        out.back = gzip_back;
        put(0, 100);
        memory_fail(fault, fault);
        bool made = hpx_out_point(&out);
        memory_allow();
        put(100, 100);
        hpx_out_take_back(&out);
        assert_int_equal(hpx_out_close(&out), 0);
        assert_int_equal(members(to.data, to.len, sizes, 4, comment), 1);
        assert_int_equal(sizes[0], made ? 100 : 200);
    }
}

/* What cannot be written or compressed is an error of this call or of the next one, and of the close. */
TEST(an_error_between_writer_and_file_ends_the_output)
{
    static char bytes[200000];
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof bytes; i++) { /* which do not compress: more than is held back */
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        bytes[i] = (char)(random >> 56);
    }
    for (unsigned way = 0; way < (SANITIZED ? 2 : 3); way++) {
        begin(1u << 18, &to_ops);
        to.fail_at = way < 2 ? 1 : 0;
        to.full = way == 1;
        deflate_fails = way == 2 ? 3 : 0;
        ssize_t n = 0;
        for (unsigned k = 0; k < 8 && n >= 0; k++) {
            n = hpx_gzip_write(gzip, bytes, sizeof bytes);
        }
        assert_int_equal(n, -1);
        assert_int_equal(errno, way == 0 ? ENOSPC : EIO);
        assert_int_equal(hpx_gzip_point(gzip), -1);
        to.fail_at = deflate_fails = 0;
        assert_int_equal(hpx_gzip_point(gzip), 0);
        to.fixed = true;
        assert_int_equal(hpx_gzip_back(gzip), -1);
        to.fixed = false;
        assert_int_equal(hpx_gzip_back(gzip), 0);
        assert_int_equal(hpx_gzip_section(gzip), 0);
        size_t len = to.len;
        assert_int_equal(hpx_gzip_section(gzip), 0); /* an empty one */
        assert_int_equal(to.len, len);
        assert_int_equal(hpx_out_close(&out), 0);
    }
}

TEST(a_block_of_which_a_part_was_written_is_taken_back)
{
    static const char bytes[100] = {1};
    size_t sizes[4];
    char comment[32];
    ssize_t n = 0;
    begin(1000, &to_ops);
    assert_int_equal(hpx_gzip_point(gzip), 0);
    to.at_once = 10;
    to.fail_at = to.calls + 2;
    for (unsigned k = 0; k < 50 && n >= 0; k++) {
        n = hpx_gzip_write(gzip, bytes, sizeof bytes);
    }
    assert_int_equal(n, -1);
    assert_int_equal(to.len, 10);
    to.fail_at = 0;
    assert_int_equal(hpx_gzip_back(gzip), 0);
    put(0, 1500);
    assert_int_equal(hpx_out_close(&out), 0);
    assert_int_equal(members(to.data, to.len, sizes, 4, comment), 2);
}

/* ---- several threads ---- */

#define BLOCK 5000
#define ALL   400123

static unsigned char alone[MOST]; /* what the writer's thread makes of it */
static size_t alone_len;

/* Bytes of data, by the list that an emulator makes of the program's mappings, too. What Memcheck maps for itself can be executed, too, and
 * changes at any moment. */
static unsigned long mapped(void)
{
    unsigned long sum = 0, first, last;
    char line[4096], may[5];
    FILE *f = fopen("/proc/self/maps", "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        sum += sscanf(line, "%lx-%lx %4s", &first, &last, may) == 3 && strcmp(may, "rw-p") == 0 ? last - first : 0;
    }
    assert_int_equal(fclose(f), 0);
    return sum;
}

/* As the writer's thread does it alone, to the byte; no thread is left at the end of the section. */
static void same_with(unsigned cpus)
{
    unsigned before = tasks();
    spare = cpus;
    begin(BLOCK, &to_ops);
    to.over_at = alone_len;
    put(0, ALL);
    assert_int_equal(hpx_out_section(&out, true), 0);
    spare = 0;
    assert_true(tasks_left(before) <= before);
    assert_int_equal(hpx_out_close(&out), 0);
    if (alone_len == 0) {
        memcpy(alone, to.data, to.len);
        alone_len = to.len;
        assert_int_equal(threads, 0);
    }
    assert_int_equal(to.len, alone_len);
    assert_memory_equal(to.data, alone, to.len);
}

static int setup_alone(void **state)
{
    (void)state;
    alone_len = 0;
    same_with(0);
    return sem_init(&over, 0, 0) != 0 || sem_init(&held, 0, 0) != 0;
}

static int teardown_alone(void **state)
{
    (void)state;
    no_thread = no_nice = false;
    workers_do = 'c';
    return sem_destroy(&over) != 0 || sem_destroy(&held) != 0;
}

TEST(every_number_of_threads_makes_the_same_bytes, setup_alone, teardown_alone)
{
    for (unsigned cpus = 1; cpus < 7; cpus++) {
        same_with(cpus);
        assert_in_range(threads, 1, ALL / BLOCK);
        assert_int_equal(niced, threads);
    }
}

TEST(a_small_section_has_no_threads)
{
    spare = 4;
    begin(1000, &to_ops);
    for (unsigned i = 0; i < 3; i++) {
        put(4000 * (size_t)i, 4000);
        assert_int_equal(hpx_out_section(&out, true), 0);
    }
    assert_int_equal(threads, 0);
    put(12000, 4001);
    assert_int_equal(hpx_out_section(&out, true), 0);
    assert_int_equal(threads, 1);
    assert_int_equal(hpx_out_close(&out), 0);
    spare = 0;
}

/* The output does not wait for them: each has a block until all is written. */
TEST(threads_that_get_no_cpu_delay_nothing, setup_alone, teardown_alone)
{
    if (SANITIZED) { /* nothing stands in for the library (meson.build) */
        skip();
    }
    workers_do = 'w';
    unsigned long before = 0;
    for (unsigned cpus = 1; cpus <= 5; cpus++) {
        while (sem_trywait(&over) == 0 || sem_trywait(&held) == 0) {
        }
        before = mapped();
        same_with(cpus);
        assert_int_equal(in_vain, 0);
        assert_int_equal(threads, cpus < 4 ? cpus : 4);
    }
    assert_int_equal(mapped(), before); /* the last one needed no more stacks than the one before, and holds no block */
}

TEST(what_a_thread_cannot_compress_the_writer_does, setup_alone, teardown_alone)
{
    if (SANITIZED) {
        skip();
    }
    workers_do = 'f';
    same_with(3);
    assert_true(by_workers > 0);
}

TEST(without_threads_or_their_priority_the_writer_does_all, setup_alone, teardown_alone)
{
    no_thread = true;
    same_with(2);
    assert_true(threads > 0);
    no_thread = false;
    no_nice = true;
    same_with(2);
    assert_int_equal(niced + by_workers, 0);
}

TEST(without_memory_there_are_fewer_threads, setup_alone, teardown_alone)
{
    uint64_t calls = 1;
    for (uint64_t fault = 1; fault <= calls; fault++) {
        spare = 3;
        begin(BLOCK, &to_ops);
        memory_fail(fault, fault + fault % 3);
        put(0, ALL);
        assert_int_equal(hpx_out_section(&out, true), 0);
        calls = memory_calls();
        memory_allow();
        assert_int_equal(hpx_out_close(&out), 0);
        spare = 0;
        assert_int_equal(to.len, alone_len);
        assert_memory_equal(to.data, alone, to.len);
        assert_true(fault < 100);
    }
}

TESTS(NULL, NULL)
