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

bool hpx_batch_head_read(struct hpx_batch_head *h, const char line[HPX_BATCH_LINE])
{
    char text[HPX_BATCH_LINE];
    int at = 0, n = 0;
    memcpy(text, line, sizeof text);
    text[HPX_BATCH_LINE - 1] = '\0';
    memset(h, 0, sizeof *h);
    if (line[HPX_BATCH_LINE - 1] != '\n' ||
        sscanf(text, "hprofx-spool 1 profiles=%" SCNu64 " oldest_ms=%" SCNu64 "%n", &h->profiles, &h->oldest_ms, &at) != 2 || at == 0) {
        return false;
    }
    struct hpx_batch_kind *k = h->kinds;
    for (; h->nkinds < HPX_BATCH_KINDS && sscanf(text + at, " %39[^= ]=%" SCNu64 "%n", k->name, &k->sum, &n) == 2; k++) {
        at += n;
        h->nkinds++;
    }
    return text[at + (int)strspn(text + at, " ")] == '\0';
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

void hpx_batch_add(struct hpx_batch *b, const struct hpx_tree *t, const uint8_t id[HPX_PROFILE_ID])
{
    char hex[HPX_BATCH_ID];
    hpx_batch_id(id, hex);
    hpx_batch_count(&b->head, t);
    if (b->engine == HPX_OTLP) {
        hpx_otlp_add(&b->otlp, t, id);
        b->bytes = b->otlp.rows * 16 + b->otlp.dictionary.nodes.len * 8; /* about what protobuf makes of them */
    } else if (b->engine == HPX_CLICKHOUSE) {
        b->no_memory |= !hpx_batch_rows(b->to, t, hex, &b->bytes);
    } else {
        b->no_memory |= !hpx_batch_push(b->to, t, hex, &b->bytes);
    }
}

bool hpx_batch_end(struct hpx_batch *b)
{
    bool whole = !b->no_memory;
    errno = 0;
    if (b->engine == HPX_OTLP) {
        whole = hpx_otlp_write(&b->otlp, b->to) && whole;
        hpx_otlp_fini(&b->otlp);
    }
    bool wrong = ferror(b->to) != 0;
    int why = errno;
    wrong = fclose(b->to) != 0 || wrong;
    errno = !whole ? ENOMEM : why != 0 ? why : errno != 0 ? errno : EIO;
    return whole && !wrong;
}
