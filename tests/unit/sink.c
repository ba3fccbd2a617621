/* SPDX-License-Identifier: BSD-2-Clause */
/* sink.c: memory that an hpx_out writes into. */
#include "sink.h"
#include <stdlib.h>
#include <string.h>

static ssize_t to_sink(void *ctx, const void *p, size_t n)
{
    struct sink *s = ctx;
    if (s->len + n >= s->cap) {
        s->cap = 2 * (s->len + n + 1);
        s->bytes = reallocarray(s->bytes, s->cap, 1); /* not realloc: a test may have made that one fail */
        if (!s->bytes) {
            abort();
        }
    }
    memcpy(s->bytes + s->len, p, n);
    s->len += n;
    s->bytes[s->len] = 0;
    return (ssize_t)n;
}

static int no_close(void *ctx)
{
    (void)ctx;
    return 0;
}

int sink_open(struct hpx_out *out, struct sink *to)
{
    static const struct hpx_out_ops ops = {to_sink, NULL, NULL, no_close};
    (void)to_sink(to, "", 0);
    return hpx_out_init(out, &ops, to, "memory");
}
