/* SPDX-License-Identifier: BSD-2-Clause */
/* source.c: the buffer between a file and its reader. */
#include "source.h"
#include "err.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST ((size_t)256 << 10)

int hpx_source_init(struct hpx_source *s, ssize_t (*read)(void *, void *, size_t), void *ctx)
{
    *s = (struct hpx_source){.read = read, .ctx = ctx, .cap = FIRST};
    s->buf = malloc(s->cap);
    return s->buf != NULL ? 0 : -HPX_E_NOMEM;
}

void hpx_source_fini(struct hpx_source *s)
{
    free(s->buf);
    s->buf = NULL;
}

/* Room for n bytes from s->at on. */
static bool make_room(struct hpx_source *s, size_t n)
{
    if (s->at > 0) {
        memmove(s->buf, s->buf + s->at, s->end - s->at);
        s->base += s->at;
        s->end -= s->at;
        s->at = 0;
    }
    if (n <= s->cap) {
        return true;
    }
    size_t cap = s->cap;
    while (cap < n) {
        cap *= 2;
    }
    char *grown = realloc(s->buf, cap);
    if (grown == NULL) {
        s->error = ENOMEM;
        s->ended = true;
        return false;
    }
    s->buf = grown;
    s->cap = cap;
    return true;
}

size_t hpx_source_more(struct hpx_source *s, size_t n)
{
    assert(n <= HPX_SOURCE_MAX);
    if (!s->ended && s->end - s->at < n && !make_room(s, n)) {
        return s->end - s->at;
    }
    while (!s->ended && s->end - s->at < n) {
        ssize_t got = s->read(s->ctx, s->buf + s->end, s->cap - s->end);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            s->error = got < 0 ? errno : 0;
            s->ended = true;
            break;
        }
        s->end += (size_t)got;
    }
    return s->end - s->at;
}
