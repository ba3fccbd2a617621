/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_writers.c: the text format through hpx_out, beside fprintf of the same layout, and beside copying the same bytes; both formats into
 * a file, beside write(2) of the same bytes.
 *
 * 10,000 traces and a row each; the writer's bytes go nowhere, fprintf's to /dev/null through a buffer of the same size. A first dump has
 * traces and rows, a second rows alone. fprintf gets names with their escapes already made: it is spared that work, and the text is the
 * same; that both write the same bytes is checked before anything is measured.
 *
 * Into a file: an unlinked one of the working directory, cut to nothing before each turn; CPU time of the thread, in which the copy into
 * the page cache is, and which other programs on the machine change less. The writer has nothing defined at the beginning of a turn. Beside
 * it write(2) of the bytes that it wrote, under the same conditions:
 * - warm: each side the second of two turns in a row, pieces of 64 KiB; once more beside pieces of 4 KiB, stdio's.
 * - caches emptied: one turn, behind writes to 64 MiB of other memory; for a dump after a minute of the program's own work.
 * - on the disk: as warm, with fdatasync(), in wall time. */
#include "arena.h"
#include "clock.h"
#include "hprof_ascii.h"
#include "hprof_binary.h"
#include "micro.h"
#include "text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACES       10000u
#define METHODS      2000u
#define LINES        8u /* of a method, that are seen */
#define NAME_BYTES   64u
#define ESCAPED      (6 * NAME_BYTES + 1)
#define BUFFER_BYTES ((size_t)64 * 1024)
#define NOW          1795250000

struct names {
    char ready[3][ESCAPED]; /* class, name, source, with escapes */
};

struct subject {
    const char *const formats[3];
    uint32_t depth;
    struct hpx_method_rec *methods; /* one behind the other, as the model has them; names and traces are in an arena */
    struct names *names;
    struct hpx_arena arena;
    struct hpx_snapshot snapshot;
    struct hpx_row *given, *rows; /* as the model gives them, in no order; what is sorted */
    char *text;                   /* of a whole dump */
    size_t length, rows_length;   /* of the dump, of its rows */
};

#define PLAIN                                                                                                                              \
    {                                                                                                                                      \
        "com.example.service.Part%u$Inner", "handleRequest%u", "Part%u.java"                                                               \
    }
#define ESCAPES                                                                                                                            \
    {                                                                                                                                      \
        "com.ex\xC3\xA4mple.Part%u$\xED\xA0\xBD\xED\xB8\x80", "handle\nRequest%u\x01", "Pa\trt%u\xFF.java"                                 \
    }

static struct subject subjects[] = {{PLAIN, .depth = 4}, {PLAIN, .depth = 30}, {ESCAPES, .depth = 4}, {ESCAPES, .depth = 30}};
static char *copied; /* where the limit copies to */

/* ---- subjects ---- */
/* A %u for the number alone: the formats are ours. */
static struct hpx_text make_name(struct subject *s, const char *format, unsigned number)
{
    char name[NAME_BYTES];
    const char *at = strstr(format, "%u");
    int n = snprintf(name, sizeof(name), "%.*s%u%s", (int)(at - format), format, number, at + 2);
    return (struct hpx_text){hpx_arena_copy(&s->arena, name, (size_t)n), (uint32_t)n};
}

static bool make_methods(struct subject *s)
{
    hpx_arena_init(&s->arena);
    s->methods = calloc(METHODS, sizeof(*s->methods));
    s->names = calloc(METHODS, sizeof(*s->names));
    for (unsigned i = 0; s->methods && s->names && i < METHODS; i++) {
        struct hpx_method_rec *m = &s->methods[i];
        struct hpx_text *const names[3] = {&m->class_name, &m->name, &m->source};
        for (unsigned k = 0; k < 3; k++) {
            *names[k] = make_name(s, s->formats[k], i);
            if (!names[k]->bytes) {
                return false;
            }
            s->names[i].ready[k][hpx_text_escape(s->names[i].ready[k], *names[k], false)] = '\0';
        }
        m->signature = (struct hpx_text){"(Ljava/lang/String;I)V", 22};
        m->klass.v = HPX_SERIAL_CLASS + 1 + i / 10;
        m->number = i + 1;
    }
    return s->methods && s->names;
}

static bool make_traces(struct subject *s)
{
    uint64_t seed = 1;
    s->given = calloc(TRACES, sizeof(*s->given));
    s->rows = calloc(TRACES, sizeof(*s->rows));
    if (!s->given || !s->rows) {
        return false;
    }
    for (uint32_t i = 0; i < TRACES; i++) {
        struct hpx_trace_rec *t = hpx_arena_alloc(&s->arena, sizeof(*t) + s->depth * sizeof(t->frames[0]), _Alignof(struct hpx_trace_rec));
        if (!t) {
            return false;
        }
        t->thread = 0;
        t->serial = HPX_SERIAL_TRACE + 1 + i;
        t->nframes = s->depth;
        for (uint32_t k = 0; k < s->depth; k++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint32_t m = (uint32_t)(seed >> 33) % METHODS, line = (uint32_t)(seed >> 60) % (LINES + 1);
            int32_t shown = line ? (int32_t)(m % 1000 + line) : -1;
            t->frames[k] = (struct hpx_frame_rec){&s->methods[m], shown, m * (LINES + 1) + line + 1};
        }
        s->given[i] = (struct hpx_row){t, 1 + (seed >> 35) % 1000};
        s->snapshot.total += s->given[i].count;
    }
    s->snapshot.nrows = TRACES;
    s->snapshot.rows = s->rows;
    return true;
}

static void restore_order(struct subject *s)
{
    memcpy(s->rows, s->given, TRACES * sizeof(*s->rows));
}

static void drop(struct subject *s)
{
    hpx_arena_fini(&s->arena);
    free(s->given);
    free(s->rows);
    free(s->methods);
    free(s->names);
    free(s->text);
}

/* ---- fprintf ---- */
static int by_count(const void *a, const void *b)
{
    const struct hpx_row *x = a, *y = b;
    if (x->count != y->count) {
        return x->count > y->count ? -1 : 1;
    }
    return (x->trace->serial > y->trace->serial) - (x->trace->serial < y->trace->serial);
}

static const struct names *names_of(const struct subject *s, const struct hpx_frame_rec *f)
{
    return &s->names[f->method - s->methods];
}

static void print_traces(FILE *f, const struct subject *of)
{
    const struct hpx_snapshot *s = &of->snapshot;
    for (uint32_t i = 0; i < s->nrows; i++) {
        const struct hpx_trace_rec *t = s->rows[i].trace;
        (void)fprintf(f, "TRACE %" PRIu32 ":\n", t->serial);
        for (uint32_t k = 0; k < t->nframes; k++) {
            const struct names *m = names_of(of, &t->frames[k]);
            if (t->frames[k].line > 0) {
                (void)fprintf(f, "\t%s.%s(%s:%" PRId32 ")\n", m->ready[0], m->ready[1], m->ready[2], t->frames[k].line);
            } else {
                (void)fprintf(f, "\t%s.%s(%s:Unknown line)\n", m->ready[0], m->ready[1], m->ready[2]);
            }
        }
    }
}

static void print_dump(FILE *f, struct subject *of, bool with_traces)
{
    struct hpx_snapshot *s = &of->snapshot;
    char date[64];
    struct tm tm;
    time_t now = NOW;
    uint64_t sum = 0;
    qsort(s->rows, s->nrows, sizeof(s->rows[0]), by_count);
    if (with_traces) {
        print_traces(f, of);
    }
    (void)fprintf(f, "CPU SAMPLES BEGIN (total = %" PRIu64 ") %s", s->total, asctime_r(localtime_r(&now, &tm), date));
    (void)fprintf(f, "rank   self  accum   count trace method\n");
    for (uint32_t i = 0; i < s->nrows; i++) {
        const struct hpx_row *r = &s->rows[i];
        const struct names *m = names_of(of, &r->trace->frames[0]);
        sum += r->count;
        (void)fprintf(f, "%4" PRIu32 " %5.2f%% %5.2f%% %7" PRIu64 " %5" PRIu32 " %s.%s\n", i + 1,
                      (double)r->count * 100.0 / (double)s->total, (double)sum * 100.0 / (double)s->total, r->count, r->trace->serial,
                      m->ready[0], m->ready[1]);
    }
    (void)fprintf(f, "CPU SAMPLES END\n");
    (void)fflush(f);
}

/* ---- ours ---- */
static ssize_t null_write(void *ctx, const void *p, size_t n)
{
    FILE *keep = ctx; /* NULL while measured */
    return !keep || fwrite(p, 1, n, keep) == n ? (ssize_t)n : -1;
}

static int null_close(void *ctx)
{
    (void)ctx;
    return 0;
}

static const struct hpx_out_ops null_ops = {.write = null_write, .close = null_close};

/* Times of the dump with traces and of the one without; `keep` gets the first, if not NULL. */
static bool write_dumps(struct subject *s, FILE *keep, uint64_t *whole, uint64_t *rows)
{
    struct hpx_out out;
    struct hpx_ascii w;
    if (hpx_out_init(&out, &null_ops, keep, "nowhere") != 0) {
        return false;
    }
    hpx_ascii_init(&w, &out);
    restore_order(s);
    uint64_t from = hpx_clock_mono();
    hpx_ascii_cpu_samples(&w, &s->snapshot, 0, NOW);
    (void)hpx_out_flush(&out);
    *whole = hpx_clock_mono() - from;
    s->length = (size_t)out.written;
    out.ctx = NULL;
    restore_order(s);
    from = hpx_clock_mono();
    hpx_ascii_cpu_samples(&w, &s->snapshot, 0, NOW);
    (void)hpx_out_flush(&out);
    *rows = hpx_clock_mono() - from;
    s->rows_length = (size_t)out.written - s->length;
    hpx_ascii_fini(&w);
    return hpx_out_close(&out) == 0;
}

/* The dump by both ways, byte for byte. Keeps ours. */
static bool same_text(struct subject *s)
{
    char *theirs = NULL;
    size_t length = 0, other = 0;
    uint64_t whole, rows;
    FILE *a = open_memstream(&s->text, &length), *b = open_memstream(&theirs, &other);
    bool ok = a && b && write_dumps(s, a, &whole, &rows);
    if (ok) {
        restore_order(s);
        print_dump(b, s, true);
    }
    ok = (!a || fclose(a) == 0) && ok;
    ok = (!b || fclose(b) == 0) && ok;
    if (ok && (length != other || length != s->length || memcmp(s->text, theirs, length) != 0)) {
        (void)fprintf(stderr, "bench_writers: fprintf's layout is not the writer's\n");
        ok = false;
    }
    free(theirs);
    return ok;
}

/* ---- rows ---- */
static void set_figures(double *figures, const struct subject *s, uint64_t whole, uint64_t rows)
{
    figures[0] = TRACES * 1e6 / (double)whole; /* thousands a second */
    figures[1] = TRACES * 1e6 / (double)rows;
    figures[2] = (double)s->length * 1e3 / (double)whole;
}

static struct subject *subject_of(const struct hpx_bench_row *row)
{
    return &subjects[*(const unsigned *)row->how];
}

static bool measure_own(const struct hpx_bench_row *row, double *figures)
{
    struct subject *s = subject_of(row);
    uint64_t whole, rows;
    if (!write_dumps(s, NULL, &whole, &rows)) {
        return false;
    }
    set_figures(figures, s, whole, rows);
    return true;
}

static bool measure_fprintf(const struct hpx_bench_row *row, double *figures)
{
    struct subject *s = subject_of(row);
    FILE *f = fopen("/dev/null", "we");
    if (!f || setvbuf(f, NULL, _IOFBF, BUFFER_BYTES) != 0) {
        perror("bench_writers: /dev/null");
        return false;
    }
    restore_order(s);
    uint64_t from = hpx_clock_mono();
    print_dump(f, s, true);
    uint64_t whole = hpx_clock_mono() - from;
    restore_order(s);
    from = hpx_clock_mono();
    print_dump(f, s, false);
    uint64_t rows = hpx_clock_mono() - from;
    (void)fclose(f);
    set_figures(figures, s, whole, rows);
    return true;
}

/* Through a buffer of the same size, over and over. */
static uint64_t copy(const char *from, size_t n)
{
    uint64_t begin = hpx_clock_mono();
    for (size_t at = 0; at < n; at += BUFFER_BYTES) {
        memcpy(copied, from + at, n - at < BUFFER_BYTES ? n - at : BUFFER_BYTES);
        __asm__ volatile("" ::"r"(copied) : "memory");
    }
    return hpx_clock_mono() - begin;
}

static bool measure_memcpy(const struct hpx_bench_row *row, double *figures)
{
    const struct subject *s = subject_of(row);
    uint64_t whole = copy(s->text, s->length);
    set_figures(figures, s, whole, copy(s->text + s->length - s->rows_length, s->rows_length));
    return true;
}

/* ---- into a file ---- */
static int target = -1;

static ssize_t file_write(void *ctx, const void *p, size_t n)
{
    (void)ctx;
    return write(target, p, n);
}

static const struct hpx_out_ops file_ops = {.write = file_write, .close = null_close};

static const struct file_way {
    const char *title, *key;
    size_t piece; /* of write(2) */
    bool cold, disk;
} ways[] = {{"both formats into a file, warm", "file", BUFFER_BYTES, false, false},
            {"beside write(2) in pieces of 4 KiB", "file_4k", 4096, false, false},
            {"caches emptied before", "file_cold", BUFFER_BYTES, true, false},
            {"with fdatasync(), wall time", "file_disk", BUFFER_BYTES, false, true}};

struct file_how {
    unsigned subject;
    bool binary;
    const struct file_way *way;
};

#define OTHER_MEMORY ((size_t)64 << 20)
static char *other; /* what empties the caches */

static bool begin_turn(const struct file_how *how, uint64_t *from)
{
    if (ftruncate(target, 0) != 0 || lseek(target, 0, SEEK_SET) != 0) {
        perror("bench_writers: the file");
        return false;
    }
    if (how->way->cold) {
        memset(other, ++other[0], OTHER_MEMORY);
    }
    *from = how->way->disk ? hpx_clock_mono() : hpx_clock_thread_cpu();
    return true;
}

static bool end_turn(const struct file_how *how, uint64_t from, uint64_t *ns)
{
    if (how->way->disk && fdatasync(target) != 0) {
        perror("bench_writers: the file");
        return false;
    }
    *ns = (how->way->disk ? hpx_clock_mono() : hpx_clock_thread_cpu()) - from;
    return true;
}

/* A whole dump, with its definitions. Bytes written; 0: did not run. */
static uint64_t dump_into_file(const struct file_how *how, uint64_t *ns)
{
    static struct hpx_binary b;
    struct subject *s = &subjects[how->subject];
    struct hpx_ascii a;
    struct hpx_out out;
    uint64_t from;
    restore_order(s);
    if (hpx_out_init(&out, &file_ops, NULL, "file") != 0 || !begin_turn(how, &from)) {
        return 0;
    }
    if (how->binary) {
        hpx_binary_init(&b, &out, 8);
        hpx_binary_cpu_samples(&b, &s->snapshot, 0);
    } else {
        hpx_ascii_init(&a, &out);
        hpx_ascii_cpu_samples(&a, &s->snapshot, 0, NOW);
    }
    (void)hpx_out_flush(&out);
    bool ok = end_turn(how, from, ns);
    if (how->binary) {
        hpx_binary_fini(&b);
    } else {
        hpx_ascii_fini(&a);
    }
    uint64_t bytes = out.written;
    return hpx_out_close(&out) == 0 && ok ? bytes : 0;
}

static bool raw_into_file(const struct file_how *how, const char *bytes, size_t n, uint64_t *ns)
{
    uint64_t from;
    if (!begin_turn(how, &from)) {
        return false;
    }
    for (size_t at = 0; at < n; at += how->way->piece) {
        size_t k = n - at < how->way->piece ? n - at : how->way->piece;
        if (write(target, bytes + at, k) != (ssize_t)k) {
            perror("bench_writers: the file");
            return false;
        }
    }
    return end_turn(how, from, ns);
}

/* The writer, then write(2) of what it wrote, which is read back. */
static bool measure_file(const struct hpx_bench_row *row, double *figures)
{
    const struct file_how *how = row->how;
    unsigned turns = how->way->cold ? 1 : 2;
    uint64_t own = 0, raw = 0, bytes = 0;
    for (unsigned i = 0; i < turns; i++) {
        bytes = dump_into_file(how, &own);
    }
    char *copy_of = bytes ? malloc(bytes) : NULL;
    bool ok = copy_of && pread(target, copy_of, bytes, 0) == (ssize_t)bytes;
    for (unsigned i = 0; i < turns; i++) {
        ok = ok && raw_into_file(how, copy_of, bytes, &raw);
    }
    free(copy_of);
    if (ok) {
        figures[0] = (double)bytes * 1e3 / (double)own;
        figures[1] = (double)bytes * 1e3 / (double)raw;
        figures[2] = (double)raw / (double)own;
    }
    return ok;
}

static const unsigned number[] = {0, 1, 2, 3};
#define ROWS(I)                                                                                                                            \
    {                                                                                                                                      \
        {.name = "ascii writer", .once = measure_own, .how = &number[I]},                                                                  \
            {.name = "fprintf to /dev/null, escapes given", .once = measure_fprintf, .how = &number[I]},                                   \
        {                                                                                                                                  \
            .name = "memcpy of the same bytes (limit)", .once = measure_memcpy, .how = &number[I]                                          \
        }                                                                                                                                  \
    }
#define WAYS 3
static struct hpx_bench_row rows[][WAYS] = {ROWS(0), ROWS(1), ROWS(2), ROWS(3)};

#define FILE_ROWS 4
#define FILE_HOWS(W)                                                                                                                       \
    {                                                                                                                                      \
        {0, false, &ways[W]}, {1, false, &ways[W]}, {0, true, &ways[W]},                                                                   \
        {                                                                                                                                  \
            1, true, &ways[W]                                                                                                              \
        }                                                                                                                                  \
    }
static const struct file_how file_hows[HPX_ARRAY_LEN(ways)][FILE_ROWS] = {FILE_HOWS(0), FILE_HOWS(1), FILE_HOWS(2), FILE_HOWS(3)};
static struct hpx_bench_row file_rows[HPX_ARRAY_LEN(ways)][FILE_ROWS]; /* set in main() */

#define TABLE(I, TITLE, KEY)                                                                                                               \
    {                                                                                                                                      \
        TITLE, KEY, {{"k traces/s", "traces_k_s"}, {"k rows/s", "rows_k_s"}, {"MB/s", "mb_s"}}, rows[I], WAYS                              \
    }
static struct hpx_bench_section tables[] = {
    TABLE(0, "4 frames, plain names", "plain_4"),
    TABLE(1, "30 frames, plain names", "plain_30"),
    TABLE(2, "4 frames, names with escapes", "escapes_4"),
    TABLE(3, "30 frames, names with escapes", "escapes_30"),
    {.key = NULL},
    {.key = NULL},
    {.key = NULL},
    {.key = NULL}, /* set in main() */
};

static void set_file_tables(void)
{
    static const char *const names[FILE_ROWS] = {"text, 4 frames", "text, 30 frames", "binary, 4 frames", "binary, 30 frames"};
    struct hpx_bench_section *table = &tables[HPX_ARRAY_LEN(rows)];
    for (size_t i = 0; i < HPX_ARRAY_LEN(ways); i++) {
        for (size_t k = 0; k < FILE_ROWS; k++) {
            file_rows[i][k] = (struct hpx_bench_row){.name = names[k], .once = measure_file, .how = &file_hows[i][k]};
        }
        table[i] = (struct hpx_bench_section){
            ways[i].title, ways[i].key, {{"MB/s", "mb_s"}, {"write(2) MB/s", "write_mb_s"}, {"ratio", "ratio"}}, file_rows[i], FILE_ROWS};
    }
}

static bool prepare(void)
{
    set_file_tables();
    bool ok = (copied = malloc(BUFFER_BYTES)) != NULL && (other = calloc(1, OTHER_MEMORY)) != NULL &&
              (target = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) >= 0;
    for (size_t i = 0; ok && i < HPX_ARRAY_LEN(subjects); i++) {
        ok = make_methods(&subjects[i]) && make_traces(&subjects[i]) && same_text(&subjects[i]);
    }
    return ok;
}

int main(int argc, char **argv)
{
    struct hpx_bench_args args;
    char head[96];
    if (!hpx_bench_parse(&args, "writers", argc, argv)) {
        return 2;
    }
    int cpu = sched_getcpu();
    bool pinned = hpx_bench_pin(cpu < 0 ? 0 : cpu);
    unsigned rounds = prepare() ? hpx_bench_measure(tables, HPX_ARRAY_LEN(tables), args.quick ? 3 : 15, args.seconds) : 0;
    bool ok = rounds > 0;
    if (ok) {
        printf("text format, %u traces and rows; medians of %u alternating rounds%s\n", TRACES, rounds, pinned ? "" : "; NOT pinned");
        hpx_bench_print(tables, HPX_ARRAY_LEN(tables));
        (void)snprintf(head, sizeof(head), "\"traces\": %u, \"pinned\": %s", TRACES, pinned ? "true" : "false");
        const struct hpx_bench_goal goals[] = {
            {.what = "text beside write(2), warm, 4 frames", .value = file_rows[0][0].figures[2], .limit = 0.5, .at_least = true},
            {.what = "text beside write(2), warm, 30 frames", .value = file_rows[0][1].figures[2], .limit = 0.5, .at_least = true},
            {.what = "binary beside write(2), warm, 4 frames", .value = file_rows[0][2].figures[2], .limit = 0.8, .at_least = true},
            {.what = "binary beside write(2), warm, 30 frames", .value = file_rows[0][3].figures[2], .limit = 0.8, .at_least = true}};
        hpx_bench_print_goals(goals, HPX_ARRAY_LEN(goals));
        const struct hpx_bench_report report = {"writers", head, rounds, tables, HPX_ARRAY_LEN(tables), goals, HPX_ARRAY_LEN(goals)};
        ok = !args.json || hpx_bench_write_json(&report, args.json);
    } else {
        (void)fprintf(stderr, "bench_writers: did not run to its end\n");
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(subjects); i++) {
        drop(&subjects[i]);
    }
    free(copied);
    free(other);
    return !ok;
}
