/* SPDX-License-Identifier: BSD-2-Clause */
/* batch.c: see batch.h. */
#include "batch.h"
#include "outfile.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

/* ---- the head ---- */

static const char format[] = "hprofx-spool 1 profiles=%" PRIu64 " oldest_ms=%" PRIu64;

void hpx_batch_head_write(const struct hpx_batch_head *h, char line[HPX_BATCH_LINE])
{
    size_t at = (size_t)snprintf(line, HPX_BATCH_LINE, format, h->profiles, h->oldest_ms);
    for (size_t i = 0; i < h->nkinds; i++) { /* 40 of at most 61 bytes fit */
        at += (size_t)snprintf(line + at, HPX_BATCH_LINE - at, " %s=%" PRIu64, h->kinds[i].name, h->kinds[i].sum);
    }
    memset(line + at, ' ', HPX_BATCH_LINE - at);
    line[HPX_BATCH_LINE - 1] = '\n';
}

/* A text and a number; *at: behind them. Bytes end with a newline. */
static bool number_behind(const char **at, const char *text, uint64_t *to)
{
    size_t n = strlen(text);
    const char *digit = *at + n;
    if (strncmp(*at, text, n) != 0 || *digit < '0' || *digit > '9') {
        return false;
    }
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        if (__builtin_mul_overflow(*to, 10, to) || __builtin_add_overflow(*to, (uint64_t)(*digit - '0'), to)) {
            return false;
        }
    }
    *at = digit;
    return true;
}

bool hpx_batch_head_read(struct hpx_batch_head *h, const char line[HPX_BATCH_LINE])
{
    memset(h, 0, sizeof *h);
    const char *at = line, *end = line + HPX_BATCH_LINE - 1;
    if (*end != '\n' || memchr(line, '\0', HPX_BATCH_LINE) != NULL || !number_behind(&at, "hprofx-spool 1 profiles=", &h->profiles) ||
        !number_behind(&at, " oldest_ms=", &h->oldest_ms)) {
        return false;
    }
    while (*at == ' ' && at[1] != ' ' && at + 1 != end && h->nkinds < HPX_BATCH_KINDS) {
        struct hpx_batch_kind *k = &h->kinds[h->nkinds++];
        size_t n = 0;
        for (at++; at[n] != '=' && at[n] != ' ' && at[n] != '\n'; n++) { /* the line has no 0 */
        }
        if (n == 0 || n >= sizeof k->name) {
            return false;
        }
        memcpy(k->name, at, n);
        at += n;
        if (!number_behind(&at, "=", &k->sum)) {
            return false;
        }
    }
    while (*at == ' ') {
        at++;
    }
    return at == end;
}

static void add_kind(struct hpx_batch_head *h, const char *name, uint64_t sum)
{
    bool plain = strlen(name) < sizeof h->kinds[0].name && strpbrk(name, "= ") == NULL && name[0] != '\0';
    for (size_t i = 0;; i++) {
        if (i == h->nkinds) {
            plain = plain && i < HPX_BATCH_KINDS - 1;
            h->nkinds++;
            (void)snprintf(h->kinds[i].name, sizeof h->kinds[i].name, "%s", plain ? name : "other");
        }
        if (strcmp(h->kinds[i].name, plain ? name : "other") == 0 || i == HPX_BATCH_KINDS - 1) {
            h->kinds[i].sum = hpx_tree_sum(h->kinds[i].sum, sum);
            return;
        }
    }
}

void hpx_batch_count(struct hpx_batch_head *h, const struct hpx_tree *t)
{
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    for (size_t i = 0, n = hpx_tree_columns(t, of); i < n; i++) {
        const struct hpx_tree_view *v = &t->views[of[i].view];
        add_kind(h, v->measures[of[i].measure].name, v->totals[of[i].measure]);
    }
    h->profiles++;
}

/* ---- the body ---- */

void hpx_batch_id(const uint8_t id[HPX_PROFILE_ID], char to[HPX_BATCH_ID])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < HPX_PROFILE_ID; i++) {
        to[2 * i] = digits[id[i] >> 4];
        to[2 * i + 1] = digits[id[i] & 15];
    }
    to[HPX_BATCH_ID - 1] = '\0';
}

bool hpx_batch_begin(struct hpx_batch *b, enum hpx_engine engine, int fd)
{
    struct timespec now;
    memset(b, 0, sizeof *b);
    b->engine = engine;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    b->head.oldest_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    if (engine == HPX_OTLP && !hpx_otlp_init(&b->otlp)) {
        hpx_otlp_fini(&b->otlp);
        return false;
    }
    b->to = hpx_out_stream(fd, engine != HPX_PYROSCOPE); /* a pprof is packed already */
    if (b->to == NULL && engine == HPX_OTLP) {
        hpx_otlp_fini(&b->otlp);
    }
    return b->to != NULL;
}

/* Later calls of the stream fail, too, but not with this errno. */
static void note_error(struct hpx_batch *b)
{
    if (b->error == 0 && ferror(b->to) != 0) {
        b->error = errno != 0 ? errno : EIO;
    }
}

void hpx_batch_add(struct hpx_batch *b, const struct hpx_tree *t, const uint8_t id[HPX_PROFILE_ID])
{
    char hex[HPX_BATCH_ID];
    hpx_batch_id(id, hex);
    hpx_batch_count(&b->head, t);
    errno = 0;
    if (b->engine == HPX_OTLP) {
        hpx_otlp_add(&b->otlp, t, id);
        b->bytes = b->otlp.rows * 16 + b->otlp.dictionary.nodes.len * 8; /* about what protobuf makes of them */
    } else if (b->engine == HPX_CLICKHOUSE) {
        b->no_memory |= !hpx_batch_rows(b->to, t, hex, &b->bytes);
    } else {
        b->no_memory |= !hpx_batch_push(b->to, t, hex, &b->bytes);
    }
    note_error(b);
}

bool hpx_batch_end(struct hpx_batch *b)
{
    bool whole = !b->no_memory;
    errno = 0;
    if (b->engine == HPX_OTLP) {
        whole = hpx_otlp_write(&b->otlp, b->to) && whole;
        hpx_otlp_fini(&b->otlp);
    }
    note_error(b);
    errno = 0;
    if (fclose(b->to) != 0 && b->error == 0) {
        b->error = errno != 0 ? errno : EIO;
    }
    errno = whole ? b->error : ENOMEM;
    return whole && b->error == 0;
}
