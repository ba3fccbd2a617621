/* SPDX-License-Identifier: BSD-2-Clause */
/* test_no_memory.c: a session from rings to file, with every kind of event, in which each allocation fails in its turn: alone, with some
 * more, and with all that follow. Nothing crashes or leaks (ASan), and what was told of is in the rows of the file, or counted by cause in
 * its report: made = shown + counted. */
#include "dump_request.h"
#include "every_event.h"
#include "failing_memory.h"
#include "folder_fixture.h"
#include "hprof_blocks.h"
#include "hprof_format.h"
#include "hprof_sites.h"
#include "hprof_wall.h"
#include "output.h"
#include "output_internal.h"
#include "report.h"
#include "session_life.h"
#include <inttypes.h>
#include <math.h>
#include <semaphore.h>
#include <sys/stat.h>

static const struct variant {
    const char *name, *options;
    const struct hpx_mode *const *modes;
    uint32_t n;    /* of each kind */
    uint32_t step; /* between two allocations that fail; 0: 1 */
    uint32_t maps; /* how many mappings fail */
    bool journals; /* what the journal has is all of it */
    bool sampled, ticks, owners;
} * now;

/* ---- a clock that the test puts forward, and a service thread that answers at once ---- */

static _Atomic uint64_t ahead; /* ns */

uint64_t __real_hpx_clock_mono(void);
uint64_t __wrap_hpx_clock_mono(void);
uint64_t __wrap_hpx_clock_mono(void)
{
    return __real_hpx_clock_mono() + ahead;
}

static sem_t idle; /* posted when the writer's thread has nothing to do */

bool __real_hpx_wake_wait(struct hpx_wake *w, uint32_t seen, uint64_t ns);
bool __wrap_hpx_wake_wait(struct hpx_wake *w, uint32_t seen, uint64_t ns);
bool __wrap_hpx_wake_wait(struct hpx_wake *w, uint32_t seen, uint64_t ns)
{
    if (w == &hpx_output.lane.wake) {
        sem_post(&idle);
    }
    return __real_hpx_wake_wait(w, seen, ns);
}

static uint64_t gone_from, gone_to; /* classes with references between these are unloaded */
static uint32_t answers;

static void resolve(struct hpx_msg_resolve *r)
{
    static const struct hpx_line lines[] = {{8, 3}, {0, 1}, {4, 2}};
    static const char text[] = "Lq/Answer;\0A.java\0answer\0()V";
    struct hpx_msg_resolved *to = ++answers % 7 ? hpx_msg_resolved_new(3, r->want_name ? sizeof text : 0) : NULL;
    if (to != NULL) {
        to->method = r->method;
        to->named = r->want_name;
        memcpy(to->text, text, to->text_len);
        memcpy(to->lines, lines, sizeof lines);
        if (!hpx_msg_resolved_sort(to)) {
            free(to);
            to = NULL;
        }
    }
    post(to != NULL ? (void *)to : (void *)r);
    if (to != NULL) {
        free(r);
    }
}

static void request(struct hpx_msg *r)
{
    struct hpx_msg_sweep *s = (struct hpx_msg_sweep *)(void *)r;
    switch (r->kind) {
    case HPX_MSG_RESOLVE:
        resolve((struct hpx_msg_resolve *)(void *)r);
        break;
    case HPX_MSG_SWEEP:
        for (uint32_t i = 0; i < s->n; i++) {
            s->of[i].gone = s->of[i].ref >= gone_from && s->of[i].ref < gone_to;
        }
        r->kind = HPX_MSG_SWEPT;
        post(r);
        break;
    case HPX_MSG_LOOK:
        post(r);
        break;
    default:
        free(r);
        break;
    }
}

static bool collect_garbage(void (*done)(uint64_t unused))
{
    done(0);
    return true;
}

static void leave(void)
{
}

static int exit_program(void (*failed)(const char *why), struct hpx_err *err)
{
    (void)failed;
    return hpx_err_set(err, HPX_E_SYS, "no program");
}

static uint64_t no_cpu(void)
{
    return 0;
}

static const struct hpx_host host = {request, collect_garbage, leave, exit_program, no_cpu, NULL, NULL};

/* ---- the modes: the tables, snapshots and sections of the agent's ---- */

static bool always(const struct hpx_options *o)
{
    (void)o;
    return true;
}

static void gone(struct hpx_thread *t)
{
    hpx_ring_fini(&t->ring);
}

static bool is_empty(const void *rows)
{
    return rows == NULL;
}

static void no_lines(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    (void)to, (void)r, (void)f;
}

static void no_figures(struct hpx_figures *f, struct hpx_counters *total, const void *rows)
{
    (void)f, (void)total, (void)rows;
}

static struct hpx_samples *samples;
static struct hpx_walls *walls;
static struct hpx_call_rows *calls;
static struct hpx_sites *sites;
static struct hpx_blocks *blocks;

static bool samples_tables(struct hpx_model *m)
{
    return (samples = hpx_samples_create(m)) != NULL;
}

static bool walls_tables(struct hpx_model *m)
{
    return (walls = hpx_walls_create(m, MS)) != NULL;
}

static bool calls_tables(struct hpx_model *m)
{
    const struct hpx_call_options o = {.depth = 3, .times_from_ticks = now->ticks};
    return (calls = hpx_call_rows_create(m, &o)) != NULL;
}

static bool sites_tables(struct hpx_model *m)
{
    const struct hpx_site_options o = {.ids = &ids, .live = true};
    return (sites = hpx_sites_create(m, &o)) != NULL;
}

static bool counts_tables(struct hpx_model *m)
{
    const struct hpx_site_options o = {.ids = &ids, .counts = true};
    return (sites = hpx_sites_create(m, &o)) != NULL;
}

static bool blocks_tables(struct hpx_model *m)
{
    const struct hpx_block_options o = {.interval_ns = now->sampled ? MS : 0, .owners = now->owners};
    return (blocks = hpx_blocks_create(m, &o)) != NULL;
}

static void *samples_snapshot(enum hpx_take take)
{
    return hpx_samples_snapshot(samples, take);
}

static void *walls_snapshot(enum hpx_take take)
{
    return hpx_walls_snapshot(walls, take);
}

static void *calls_snapshot(enum hpx_take take)
{
    return hpx_call_rows_snapshot(calls, take);
}

static void *sites_snapshot(enum hpx_take take)
{
    if (take < HPX_TAKE_NEW) {
        return hpx_sites_snapshot(sites);
    }
    struct hpx_site_snapshot *none = calloc(1, sizeof *none);
    if (none != NULL) {
        none->flags = HPX_SITES_NOTHING;
    }
    return none;
}

#define COUNTED 5u /* by a counter of a thread that runs */

static void *counts_snapshot(enum hpx_take take)
{
    hpx_sites_forget_running(sites);
    hpx_sites_add_counter(sites, 1, COUNTED, 80, false);
    return sites_snapshot(take);
}

static void *blocks_snapshot(enum hpx_take take)
{
    return take < HPX_TAKE_NEW ? hpx_blocks_snapshot(blocks, take == HPX_TAKE_KEEP) : calloc(1, sizeof(struct hpx_block_snapshot));
}

static void samples_destroy(void *rows)
{
    hpx_snapshot_destroy(rows);
}

static void walls_destroy(void *rows)
{
    hpx_wall_snapshot_destroy(rows);
}

static void calls_destroy(void *rows)
{
    hpx_call_snapshot_destroy(rows);
}

static void sites_destroy(void *rows)
{
    hpx_site_snapshot_destroy(rows);
}

static void blocks_destroy(void *rows)
{
    hpx_block_snapshot_destroy(rows);
}

static void samples_text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)answer;
    hpx_ascii_cpu_samples(to, rows, cutoff, 0);
}

static void walls_text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)answer;
    hpx_ascii_wall_clock(to, rows, cutoff, 0);
}

static void calls_text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)answer;
    hpx_ascii_cpu_times(to, rows, cutoff, 0);
}

static void sites_text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)answer;
    hpx_ascii_sites(to, rows, cutoff, 0);
}

static void blocks_text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)answer;
    hpx_ascii_report(to, "MONITOR DUMP"); /* each dump has it, and so a report */
    for (uint32_t i = 0; i < HPX_BLOCK_PARTS; i++) {
        hpx_bound_part(to->bound, to->out, HPX_BLOCK_PARTS - i);
        hpx_ascii_block_table(to, (enum hpx_block_part)i, &((struct hpx_block_snapshot *)rows)->of[i], cutoff, 0);
    }
}

static void samples_binary(struct hpx_binary *to, void *rows, double cutoff)
{
    hpx_binary_cpu_samples(to, rows, cutoff);
}

static void walls_binary(struct hpx_binary *to, void *rows, double cutoff)
{
    hpx_binary_wall_clock(to, rows, cutoff);
}

static void sites_binary(struct hpx_binary *to, void *rows, double cutoff)
{
    hpx_binary_sites(to, rows, cutoff);
}

/* Calls that are in no row, as the agent's report has them; objects that no row has. */
static void calls_collect(struct hpx_figures *f, struct hpx_counters *total, const void *rows)
{
    const struct hpx_call_snapshot *s = rows;
    (void)total;
    f->v[0] = s != NULL ? s->open_calls + s->lost_calls : 0;
}

static void sites_collect(struct hpx_figures *f, struct hpx_counters *total, const void *rows)
{
    const struct hpx_site_snapshot *s = rows;
    (void)total;
    f->v[0] = s != NULL ? s->missed_objects : 0;
}

#define ROWLESS "hprofx: in no row"

static void rowless(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    (void)r;
    hpx_lines_add(to, ROWLESS ": %" PRIu64 "\n", f->v[0]);
}

#define SECTION(of, ...)                                                                                                                   \
    {                                                                                                                                      \
        .title = #of, .empty = is_empty, .destroy = of##_destroy, .text = of##_text, __VA_ARGS__                                           \
    }
#define MODE(of, with_snapshot, with_tables, figures, ...)                                                                                 \
    {                                                                                                                                      \
        .name = #of, .section = &of##_section, .load = {.wanted = always, .tables = (with_tables)}, .pass = {.gone = gone},                \
        .dump = {.snapshot = (with_snapshot)}, .report = {                                                                                 \
            .collect = (figures),                                                                                                          \
            .summary = no_lines,                                                                                                           \
            __VA_ARGS__                                                                                                                    \
        }                                                                                                                                  \
    }
static const struct hpx_section samples_section = SECTION(samples, .binary = samples_binary),
                                walls_section = SECTION(walls, .binary = walls_binary), calls_section = SECTION(calls, .binary = NULL),
                                sites_section = SECTION(sites, .binary = sites_binary, .lasting = true),
                                blocks_section = SECTION(blocks, .binary = NULL);
static const struct hpx_mode samples_mode = MODE(samples, samples_snapshot, samples_tables, no_figures, .lines = no_lines),
                             walls_mode = MODE(walls, walls_snapshot, walls_tables, no_figures, .lines = no_lines),
                             calls_mode = MODE(calls, calls_snapshot, calls_tables, calls_collect, .lines = rowless),
                             sites_mode = MODE(sites, sites_snapshot, sites_tables, no_figures, .lines = no_lines),
                             counts_mode = MODE(sites, counts_snapshot, counts_tables, sites_collect, .lines = rowless),
                             blocks_mode = MODE(blocks, blocks_snapshot, blocks_tables, no_figures, .lines = no_lines);

static bool has(const struct hpx_mode *mode)
{
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        if (hpx_session.modes[i] == mode) {
            return true;
        }
    }
    return false;
}

/* ---- what a file shows, and what its last report counts ---- */

static struct shown {
    uint64_t rows, dump, sites;  /* dump: rows since the last report; sites: their tables are of everything so far */
    uint64_t counted, unwritten; /* of the last report, by all causes; of them, what dumps alone lack */
    uint64_t lacks;              /* likewise, what the journal alone lacks */
    bool keeps;
} shown;

static void read_report_line(const char *line)
{
    static const enum hpx_counter losses[] = {HPX_C_LOST_RING_FULL, HPX_C_LOST_NO_MEMORY, HPX_C_ALLOCATIONS_UNCOUNTED,
                                              HPX_C_WALL_LOST,      HPX_C_ROWS_UNWRITTEN, HPX_C_JOURNAL_LACKS};
    static const char keeps[] = "hprofx: counts: go on", version[] = "hprofx: version: ", lost[] = "hprofx: lost: ";
    if (strncmp(line, version, sizeof version - 1) == 0) {
        shown.counted = shown.unwritten = shown.lacks = 0;
        shown.keeps = false;
    }
    if (strncmp(line, keeps, sizeof keeps - 1) == 0) {
        shown.keeps = true;
    }
    if (strncmp(line, ROWLESS, sizeof ROWLESS - 1) == 0) {
        shown.counted += strtoull(strrchr(line, ' '), NULL, 10);
    }
    if (strncmp(line, lost, sizeof lost - 1) == 0) {
        shown.rows += shown.keeps ? 0 : shown.dump;
        shown.dump = 0;
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(losses); i++) {
        const char *key = hpx_counter_infos[losses[i]].key;
        if (strncmp(line + 8, key, strlen(key)) == 0 && line[8 + strlen(key)] == ':') {
            uint64_t n = strtoull(line + 8 + strlen(key) + 1, NULL, 10);
            shown.counted += losses[i] != HPX_C_JOURNAL_LACKS ? n : 0;
            shown.lacks += losses[i] == HPX_C_JOURNAL_LACKS ? n : 0;
            shown.unwritten += losses[i] == HPX_C_ROWS_UNWRITTEN ? n : 0;
        }
    }
}

static uint64_t column(const char *line, int n)
{
    for (; n > 0; n--) {
        line += strspn(line, " ");
        line += strcspn(line, " ");
    }
    return strtoull(line, NULL, 10);
}

static void read_text(char *text)
{
    int of = 0; /* the column that counts; 0: outside of a table */
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        size_t len = strlen(line);
        bool is_sites = strncmp(line, "SITES BEGIN", 11) == 0;
        if (strncmp(line, "hprofx: ", 8) == 0) {
            read_report_line(line);
        } else if (strstr(line, " BEGIN (") != NULL) {
            of = is_sites ? 6 : strncmp(line, "MONITOR OWNERS", 14) != 0 ? 3 : 0;
            shown.sites = is_sites ? 0 : shown.sites;
        } else if (len > 4 && strcmp(line + len - 4, " END") == 0) {
            of = 0;
        } else if (of > 0 && line[strspn(line, " ")] >= '0' && line[strspn(line, " ")] <= '9') {
            *(of == 6 ? &shown.sites : &shown.dump) += column(line, of);
        }
    }
}

static uint64_t number(const uint8_t *at, size_t n)
{
    uint64_t v = 0;
    for (; n > 0; n--) {
        v = v << 8 | *at++;
    }
    return v;
}

static void read_record(unsigned tag, const uint8_t *at, size_t n)
{
    static char text[HPX_REPORT_TEXT];
    const size_t id = hpx_session.opt->idsize;
    if (tag == HPX_TAG_SAMPLES) {
        for (uint32_t i = 0; i < number(at + 4, 4); i++) {
            shown.dump += number(at + HPX_SAMPLES_HEAD + (size_t)i * HPX_SAMPLES_ROW, 4);
        }
    } else if (tag == HPX_TAG_SITES) {
        shown.sites = 0;
        for (uint32_t i = 0; i < number(at + HPX_SITES_HEAD - 4, 4); i++) {
            shown.sites += number(at + HPX_SITES_HEAD + (size_t)(i + 1) * HPX_SITES_ROW - 4, 4);
        }
    } else if (tag == HPX_TAG_STRING && n > id + 15 && memcmp(at + id, "hprofx: version", 15) == 0) {
        assert_true(n - id < sizeof text);
        memcpy(text, at + id, n - id);
        text[n - id] = 0;
        read_text(text);
    }
}

/* Adds it to what others have shown. false: there is no such file. */
static bool read_file(const char *name)
{
    struct stat st;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    assert_int_equal(fstat(fd, &st), 0);
    uint8_t *bytes = malloc((size_t)st.st_size + 1), *at = bytes + 31, *end = bytes + st.st_size;
    assert_non_null(bytes);
    assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
    close(fd);
    *end = 0;
    if (!hpx_session.opt->binary) {
        read_text((char *)bytes);
    }
    for (size_t n; hpx_session.opt->binary && at < end; at += n) {
        unsigned tag = *at;
        n = number(at + 5, 4);
        at += 9;
        read_record(tag, at, n);
    }
    free(bytes);
    return true;
}

/* ---- a session ---- */

static uint32_t turn; /* of the virtual thread */
static unsigned done;

static void count_done(uint64_t unused)
{
    (void)unused;
    __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
}

static bool begin(void)
{
    struct hpx_err err = {0};
    memset((void *)threads, 0, sizeof threads);
    sem_init(&idle, 0, 0);
    ahead = 0;
    made = gone_from = gone_to = 0;
    turn = answers = done = 0;
    if (hpx_session_parse(NULL, NULL, now->options, &err) != 0) {
        return false;
    }
    hpx_session.start = 1;
    hpx_session_choose(now->modes);
    hpx_gate_open(&hpx_session.gate);
    return hpx_session_begin(&host) == 0 && hpx_output_init(&err) == 0 && hpx_output_start(&err) == 0;
}

/* Passes; the writer's thread has done with each before the next one begins, so that allocations come in the same order in each run. */
static void passes(unsigned n)
{
    for (; n > 0; n--) {
        ahead += 100 * MS;
        hpx_aggregator_pass(&hpx_session.aggregator);
        if (hpx_output_behind() > 0) {
            hpx_wake_post(&hpx_output.lane.wake);
        }
        while (hpx_output_behind() > 0 && !hpx_output.ends) { /* behind the end it is not idle again */
            (void)sem_wait(&idle);
        }
    }
}

static void begin_thread(uint32_t which)
{
    static const struct hpx_mode *const of[RINGS][2] = {[SAMPLES] = {&samples_mode},
                                                        [WALLS] = {&walls_mode},
                                                        [CALLS] = {&calls_mode},
                                                        [SITES] = {&sites_mode, &counts_mode},
                                                        [BLOCKS] = {&blocks_mode}};
    post_thread_start(which);
    for (uint32_t i = 0; i < RINGS; i++) {
        struct hpx_thread *t = &threads[which][i];
        t->mode = has(of[i][0]) ? of[i][0] : of[i][1] != NULL && has(of[i][1]) ? of[i][1] : NULL;
        if (t->mode != NULL && hpx_ring_init(&t->ring, i == SAMPLES && now->n < 1000 ? HPX_RING_MIN : 1u << 20) == 0) {
            hpx_registry_push(&hpx_session.aggregator.registry, t);
        }
    }
}

static void end_thread(uint32_t which)
{
    for (uint32_t i = 0; i < RINGS; i++) {
        if (threads[which][i].ring.bytes != NULL) {
            hpx_registry_retire(&threads[which][i]);
        }
    }
    post_thread_end(which);
}

static void produce(uint32_t which, uint32_t n)
{
    if (has(&samples_mode)) {
        make_samples(which, n, has(&walls_mode));
    }
    if (has(&walls_mode)) {
        make_walls(which, n);
    }
    if (has(&calls_mode)) {
        make_calls(which, n, turn++, now->ticks, has(&counts_mode));
    }
    if (has(&sites_mode)) {
        make_sites(which, n);
    }
    for (uint32_t i = 1; has(&counts_mode) && i <= n; i++) {
        if (!has(&calls_mode)) {
            make_places(&threads[which][SITES], i);
        }
        hpx_sites_add_counter(sites, i, 3, 48, true); /* of a thread that has ended */
        made += 3;
    }
    if (has(&blocks_mode)) {
        make_blocks(which, n, now->sampled);
    }
}

static void live(void)
{
    static const struct hpx_dump_request reset = {.done = count_done}, keep = {.done = count_done, .keep = true},
                                         all = {.done = count_done, .traces = true};
    post_classes(0);
    begin_thread(0);
    begin_thread(1);
    if (has(&counts_mode)) {
        post_places(now->n);
        made += COUNTED;
    }
    memory_fail_maps(now->maps);
    passes(1);
    produce(0, now->n);
    passes(2);
    (void)hpx_dump_request(&reset);
    passes(3);
    produce(0, now->n / 2);
    gone_from = 1;
    gone_to = CLASSES / 2;
    hpx_symbols_look_for_unloaded(hpx_model_symbols(hpx_session.model));
    passes(3);
    post_classes(8);
    (void)hpx_dump_request(&keep);
    (void)hpx_dump_request(&all);
    passes(3);
    produce(1, now->n);
    end_thread(1);
    passes(10); /* a table of the journal, and records that wait for a thread that has lost its last one */
}

static uint64_t counted_most;

static void check(uint64_t first, uint64_t last, uint64_t journaled)
{
    shown = (struct shown){0};
    (void)read_file("x.1"); /* with split=y */
    (void)read_file("x.2");
    assert_true(read_file("x"));
    uint64_t seen = shown.rows + shown.sites;
    if (seen + shown.counted != made) {
        fail_msg("%s, allocations %" PRIu64 " to %" PRIu64 ": made %" PRIu64 ", shown %" PRIu64 ", counted %" PRIu64 "\n%s", now->name,
                 first, last, made, seen, shown.counted, content("said"));
    }
    if (journaled != UINT64_MAX && journaled + shown.lacks != seen + shown.unwritten) {
        fail_msg("%s, allocations %" PRIu64 " to %" PRIu64 ": shown %" PRIu64 ", in the journal %" PRIu64 "\n%s", now->name, first, last,
                 seen, journaled, content("said"));
    }
    counted_most = shown.counted > counted_most ? shown.counted : counted_most;
}

/* Those from call `first` to `last` fail; until the end, or else not at the end, which shows what was kept. Returns how many there were. */
static uint64_t run(uint64_t first, uint64_t last, bool end)
{
    uint64_t journaled = UINT64_MAX, n;
    assert_int_equal(ftruncate(said_fd, 0), 0);
    assert_int_equal(lseek(said_fd, 0, SEEK_SET), 0);
    memory_fail(first, last);
    bool begun = begin();
    if (begun) {
        live();
    }
    n = memory_calls();
    if (!end) {
        memory_allow();
    }
    if (begun) {
        passes(16); /* with the last table of the journal */
        shown = (struct shown){0};
        if (now->journals && !end && read_file("x.journal.part")) {
            journaled = shown.rows + shown.dump;
        }
        hpx_gate_close(&hpx_session.gate);
        hpx_dump_request_final();
        passes(8);
        assert_true(hpx_output_wait(UINT64_C(60000000000)));
        memory_allow();
        if (!end || strstr(content("said"), "no memory for a dump; it is not written") == NULL) {
            check(first, last, end ? UINT64_MAX : journaled);
        }
    }
    memory_allow();
    hpx_session_end();
    hpx_site_ids_fini(&ids);
    hpx_site_ids_fini(&places);
    memset((void *)&ids, 0, sizeof ids);
    memset((void *)&places, 0, sizeof places);
    (void)unlink("x");
    (void)unlink("x.part"); /* of a session that could not begin */
    (void)unlink("x.1");
    (void)unlink("x.2");
    return n;
}

static const struct hpx_mode *const only_samples[] = {&samples_mode, NULL}, *const only_calls[] = {&calls_mode, NULL},
                                    *const only_sites[] = {&sites_mode, NULL}, *const only_blocks[] = {&blocks_mode, NULL},
                                    *const only_counts[] = {&counts_mode, NULL}, *const clocks[] = {&samples_mode, &walls_mode, NULL},
                                    *const counted_calls[] = {&calls_mode, &counts_mode, NULL},
                                    *const most[] = {&samples_mode, &walls_mode, &sites_mode, NULL};

#define TEXT   "cpu=samples,file=x,verbose=n,cutoff=0"
#define BINARY TEXT ",format=b"

static void each_fails(const struct variant *v)
{
    now = v;
    counted_most = 0;
    uint64_t n = run(MEMORY_NEVER, 0, false);
    assert_true(n > 50);
    uint64_t least = counted_most; /* in no row without a failure: calls that are open */
    for (uint64_t k = memory_first_fault(); k <= n; k += memory_fault_step() * (v->step > 0 ? v->step : 1)) {
        (void)run(k, k, false);
        if (k % 2 == 0) {
            (void)run(k, k % 6 == 0 ? k + 9 : UINT64_MAX, k % 6 == 2);
        }
    }
    assert_true(counted_most > least || memory_fault_step() > 1);
}

#define EACH(test, ...)                                                                                                                    \
    TEST(test, setup, teardown)                                                                                                            \
    {                                                                                                                                      \
        static const struct variant v = {.name = #test, __VA_ARGS__};                                                                      \
        each_fails(&v);                                                                                                                    \
    }

EACH(samples_as_text, .options = TEXT ",thread=y", .modes = only_samples, .n = 60, .journals = true)
EACH(samples_in_binary, .options = BINARY, .modes = only_samples, .n = 60, .journals = true)
EACH(times_by_the_clock, .options = TEXT, .modes = clocks, .n = 40, .journals = true)
EACH(times_by_the_clock_in_binary, .options = BINARY, .modes = clocks, .n = 40, .journals = true)
EACH(exact_calls, .options = TEXT, .modes = only_calls, .n = 60, .journals = true)
EACH(exact_calls_timed_by_ticks, .options = TEXT ",thread=y", .modes = only_calls, .n = 60, .journals = true, .ticks = true)
EACH(allocation_sites, .options = TEXT, .modes = only_sites, .n = 60)
EACH(allocation_sites_in_binary, .options = BINARY, .modes = only_sites, .n = 60)
EACH(counted_allocations, .options = TEXT, .modes = only_counts, .n = 40)
EACH(counted_allocations_of_calls, .options = TEXT, .modes = counted_calls, .n = 40)
EACH(blocks_and_their_owners, .options = TEXT, .modes = only_blocks, .n = 40, .owners = true)
EACH(files_of_their_own, .options = TEXT ",split=y,thread=y", .modes = only_samples, .n = 30)
EACH(rows_beyond_the_bound, .options = TEXT ",maxfile=4k", .modes = most, .n = 40)
EACH(rows_beyond_the_bound_in_binary, .options = BINARY ",thread=y,maxfile=4k", .modes = most, .n = 40)
EACH(sampled_blocks, .options = TEXT, .modes = only_blocks, .n = 40, .sampled = true)
EACH(many_stacks, .options = TEXT, .modes = only_samples, .n = 3200, .step = 17, .journals = true) /* whose tables become mappings */
EACH(many_stacks_in_binary, .options = BINARY ",thread=y", .modes = only_samples, .n = 3200, .step = 37)

TEST(large_tables_whose_mappings_fail_at_first_lose_nothing, setup, teardown)
{
    static const struct variant v = {.name = "maps", .options = TEXT, .modes = only_samples, .n = 3200, .maps = 20};
    now = &v;
    (void)run(MEMORY_NEVER, 0, false);
    assert_int_equal(memory_maps_left(), 0);
    assert_int_equal(shown.counted, 0);
}

TESTS(NULL, NULL)
