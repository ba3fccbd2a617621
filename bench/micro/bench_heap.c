/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_heap.c: the writer of heap dumps: sub-records into a spool, and a spool into binary and text, beside write(2) of the same bytes.
 *
 * Files without a name in TMPDIR or /tmp, cut to nothing before each turn; CPU time of the thread, in which the copy into the page cache
 * is. Of two turns in a row the second counts. write(2) has pieces of 4 MiB, which is the spool's buffer. The objects are those of a
 * program of small ones: 36 bytes on average. */
#include "clock.h"
#include "heap_spool.h"
#include "hprof_heap.h"
#include "micro.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE   ((size_t)4 << 20)
#define IDS     8u
#define OBJECTS 600000u
#define FEW     60000u /* --quick */
#define KLASS   (HPX_CLASS_OBJECT_FIRST + 1)
#define ID(n)   (HPX_HEAP_OBJECT_FIRST + UINT64_C(0x7f5600000000) + 24 * (uint64_t)(n)) /* as those of addresses */

enum kind { NODES = 1, ARRAYS = 2, BYTES = 4, SITES = 8, TEXT = 16, FREED = 32 };
#define ALL (NODES | ARRAYS | BYTES)

static int spool = -1, target = -1;
static uint32_t objects = OBJECTS, site;

static int unnamed_file(void)
{
    const char *folder = getenv("TMPDIR");
    int fd = open(folder != NULL ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
        perror("bench_heap: a file in TMPDIR or /tmp");
    }
    return fd;
}

static bool empty(int fd)
{
    bool ok = ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0;
    if (!ok) {
        perror("bench_heap: the file");
    }
    return ok;
}

/* ---- the spool ---- */

/* Three references, a number. */
static void node(struct hpx_heap_spool *s, uint64_t id)
{
    uint8_t *at = hpx_heap_spool_instance(s, id, site, KLASS, 3 * IDS + 4);
    hpx_heap_spool_value(s, at, HPX_TYPE_OBJECT, id - 48);
    hpx_heap_spool_value(s, at + IDS, HPX_TYPE_OBJECT, id + 24);
    hpx_heap_spool_value(s, at + 2 * (size_t)IDS, HPX_TYPE_OBJECT, id + 48);
    hpx_heap_spool_value(s, at + 3 * (size_t)IDS, HPX_TYPE_INT, id & UINT32_MAX);
}

static void references(struct hpx_heap_spool *s, uint64_t id)
{
    (void)hpx_heap_spool_objects(s, id, site, KLASS, 8);
    for (uint32_t i = 0; i < 8; i += 2) {
        (void)hpx_heap_spool_element(s, i, id + 24 * i);
    }
    hpx_heap_spool_objects_end(s);
}

static bool fill(unsigned kinds, uint64_t *ns, uint64_t *bytes)
{
    static const char text[12] = "twelve bytes";
    struct hpx_heap_spool s;
    if (!empty(spool) || hpx_heap_spool_init(&s, spool, IDS, 64) != 0) {
        return false;
    }
    site = kinds & SITES ? 1 : 0;
    uint64_t from = hpx_clock_thread_cpu();
    for (uint32_t i = 0; i < objects; i++) {
        uint64_t id = ID(i);
        switch ((kinds & ALL) == ALL ? 1u << i % 3 : kinds) {
        case NODES:
            node(&s, id);
            break;
        case ARRAYS:
            references(&s, id);
            break;
        default:
            (void)hpx_heap_spool_primitives(&s, id, site, HPX_TYPE_BYTE, sizeof(text), text);
            break;
        }
    }
    bool ok = hpx_heap_spool_flush(&s) == 0;
    *ns = hpx_clock_thread_cpu() - from;
    *bytes = hpx_heap_spool_at(&s);
    hpx_heap_spool_fini(&s);
    return ok;
}

/* ---- the output ---- */

static ssize_t file_write(void *ctx, const void *p, size_t n)
{
    (void)ctx;
    return write(target, p, n);
}

static int null_close(void *ctx)
{
    (void)ctx;
    return 0;
}

static const struct hpx_out_ops file_ops = {.write = file_write, .close = null_close};

/* The class of all objects. */
static const struct hpx_heap_klass *node_class(void)
{
    static struct hpx_heap_klass *c;
    static const char *const names[] = {"left", "right", "parent", "number"};
    if (c == NULL && (c = calloc(1, sizeof(*c) + 4 * sizeof(c->fields[0]))) != NULL) {
        *c = (struct hpx_heap_klass){
            .number = {1}, .linked = true, .name = {"com.example.tree.Node", 21}, .instance_size = 3 * IDS + 4, .nfields = 4};
        for (uint32_t n = 0; n < 4; n++) {
            c->fields[n] = (struct hpx_heap_field){
                .name = {names[n], (uint32_t)strlen(names[n])}, .type = n < 3 ? HPX_TYPE_OBJECT : HPX_TYPE_INT, .offset = n * IDS};
        }
    }
    return c;
}

static int write_dump(unsigned kinds, struct hpx_out *out, const struct hpx_heap_image *image)
{
    static struct hpx_binary b;
    static struct hpx_ascii a;
    int rc;
    if (kinds & TEXT) {
        hpx_ascii_init(&a, out);
        rc = hpx_heap_ascii(&a, image, 0);
        hpx_ascii_fini(&a);
    } else {
        hpx_binary_init(&b, out, IDS);
        rc = hpx_heap_binary(&b, image);
        hpx_binary_fini(&b);
    }
    return rc;
}

static bool copy(unsigned kinds, uint64_t *ns, uint64_t *bytes)
{
    static const struct hpx_trace_rec trace = {.serial = HPX_SERIAL_TRACE + 7};
    static const struct hpx_trace_rec *const sites[] = {NULL, &trace};
    uint64_t length;
    struct hpx_out out;
    if (!fill(kinds, ns, &length) || !empty(target) || hpx_out_init(&out, &file_ops, NULL, "file") != 0) {
        return false;
    }
    out.plain = true;
    const struct hpx_heap_klass *classes[] = {NULL, node_class()};
    const struct hpx_heap_image image = {.spool = spool,
                                         .once = (kinds & FREED) != 0,
                                         .id_size = IDS,
                                         .found.objects_end = length,
                                         .found.facts_at = length,
                                         .found.roots_at = length,
                                         .classes = classes,
                                         .nclasses = 2,
                                         .sites = (const struct hpx_trace_rec **)(uintptr_t)sites,
                                         .nsites = 2};
    uint64_t from = hpx_clock_thread_cpu();
    bool ok = classes[1] != NULL && write_dump(kinds, &out, &image) == 0 && hpx_out_flush(&out) == 0;
    *ns = hpx_clock_thread_cpu() - from;
    *bytes = out.written;
    return hpx_out_close(&out) == 0 && ok;
}

/* ---- beside them ---- */

/* What the file has, written again. */
static bool raw(int fd, uint64_t n, uint64_t *ns)
{
    uint8_t *bytes = malloc(n);
    bool ok = bytes != NULL && pread(fd, bytes, n, 0) == (ssize_t)n;
    for (unsigned turn = 0; ok && turn < 2; turn++) {
        ok = empty(target);
        uint64_t from = hpx_clock_thread_cpu();
        for (uint64_t at = 0; ok && at < n; at += PIECE) {
            size_t k = n - at < PIECE ? (size_t)(n - at) : PIECE;
            ok = write(target, bytes + at, k) == (ssize_t)k;
        }
        *ns = hpx_clock_thread_cpu() - from;
    }
    free(bytes);
    return ok;
}

static void set_figures(double *figures, uint64_t bytes, uint64_t own, uint64_t raw_ns)
{
    figures[0] = (double)bytes * 1e3 / (double)own;
    figures[1] = (double)bytes * 1e3 / (double)raw_ns;
    figures[2] = (double)raw_ns / (double)own;
}

static bool measure_spool(const struct hpx_bench_row *row, double *figures)
{
    const unsigned kinds = *(const unsigned *)row->how;
    uint64_t own, bytes, raw_ns = 1;
    bool ok = fill(kinds, &own, &bytes) && fill(kinds, &own, &bytes) && raw(spool, bytes, &raw_ns);
    if (ok) {
        set_figures(figures, bytes, own, raw_ns);
    }
    return ok;
}

static bool measure_copy(const struct hpx_bench_row *row, double *figures)
{
    const unsigned kinds = *(const unsigned *)row->how;
    uint64_t own, bytes, raw_ns = 1;
    bool ok = copy(kinds, &own, &bytes) && copy(kinds, &own, &bytes) && raw(target, bytes, &raw_ns);
    if (ok) {
        set_figures(figures, bytes, own, raw_ns);
    }
    return ok;
}

static const unsigned kinds_of[] = {NODES, ARRAYS, BYTES, ALL, ALL | SITES, ALL | TEXT, ALL | FREED};
static struct hpx_bench_row spool_rows[] = {
    {.name = "instances of four fields", .once = measure_spool, .how = &kinds_of[0]},
    {.name = "arrays of 8 references", .once = measure_spool, .how = &kinds_of[1]},
    {.name = "arrays of 12 bytes", .once = measure_spool, .how = &kinds_of[2]},
    {.name = "one of each in turn", .once = measure_spool, .how = &kinds_of[3]},
};
static struct hpx_bench_row copy_rows[] = {
    {.name = "binary, without sites", .once = measure_copy, .how = &kinds_of[3]},
    {.name = "the same, the spool's space freed", .once = measure_copy, .how = &kinds_of[6]},
    {.name = "binary, all with a site", .once = measure_copy, .how = &kinds_of[4]},
    {.name = "text", .once = measure_copy, .how = &kinds_of[5]},
};
static struct hpx_bench_section tables[] = {
    {"objects into the spool",
     "spool",
     {{"MB/s", "mb_s"}, {"write(2) MB/s", "write_mb_s"}, {"ratio", "ratio"}},
     spool_rows,
     HPX_ARRAY_LEN(spool_rows)},
    {"the spool into the output",
     "copy",
     {{"MB/s", "mb_s"}, {"write(2) MB/s", "write_mb_s"}, {"ratio", "ratio"}},
     copy_rows,
     HPX_ARRAY_LEN(copy_rows)},
};

int main(int argc, char **argv)
{
    struct hpx_bench_args args;
    char head[96];
    if (!hpx_bench_parse(&args, "heap", argc, argv)) {
        return 2;
    }
    int cpu = sched_getcpu();
    bool pinned = hpx_bench_pin(cpu < 0 ? 0 : cpu);
    objects = args.quick ? FEW : OBJECTS;
    spool = unnamed_file();
    target = unnamed_file();
    unsigned rounds = spool >= 0 && target >= 0 ? hpx_bench_measure(tables, HPX_ARRAY_LEN(tables), args.quick ? 3 : 15, args.seconds) : 0;
    if (rounds == 0) {
        (void)fprintf(stderr, "bench_heap: did not run to its end\n");
        return 1;
    }
    printf("heap dumps, %u objects; medians of %u alternating rounds%s\n", objects, rounds, pinned ? "" : "; NOT pinned");
    hpx_bench_print(tables, HPX_ARRAY_LEN(tables));
    (void)snprintf(head, sizeof(head), "\"objects\": %u, \"pinned\": %s", objects, pinned ? "true" : "false");
    const struct hpx_bench_goal goals[] = {
        {.what = "spool beside write(2), one of each in turn", .value = spool_rows[3].figures[2], .limit = 0.8, .at_least = true},
        {.what = "binary beside write(2), without sites", .value = copy_rows[0].figures[2], .limit = 0.8, .at_least = true}};
    hpx_bench_print_goals(goals, HPX_ARRAY_LEN(goals));
    const struct hpx_bench_report report = {"heap", head, rounds, tables, HPX_ARRAY_LEN(tables), goals, HPX_ARRAY_LEN(goals)};
    return args.json && !hpx_bench_write_json(&report, args.json);
}
