/* SPDX-License-Identifier: BSD-2-Clause */
/* method.c: one method, from its reading to its bytes. */
#include "rewriter.h"

/* The shortest push of the number; adds its constant where there must be one. */
static int choose_push(struct hpx_class *c, struct hpx_code *m)
{
    uint32_t number = m->m.number, len = number <= 5 ? 1 : number <= 127 ? 2 : 3;
    bool constant = false;
    for (int i = 0; i < HPX_CALLS; i++) {
        constant = constant || !c->calls[i].plain;
    }
    if (constant && number > 32767) {
        int left;
        uint8_t *p = hpx_pool_add(c, 3, 4, &m->integer, &left);
        if (p == NULL) {
            return left;
        }
        hpx_put4(p, number);
        len = m->integer <= 255 ? 2 : 3;
    }
    for (int i = 0; i < HPX_CALLS; i++) {
        c->calls[i].len = (uint8_t)(3 + (c->calls[i].plain ? 0 : len));
    }
    return 0;
}

/* What the calls need beside what the method has there: its operands at a return, the exception in the handler, nothing at the entry. */
static int new_max_stack(const struct hpx_class *c, struct hpx_code *m)
{
    uint32_t enter = c->calls[HPX_ENTER].plain ? 0 : 1, exit = c->calls[HPX_EXIT].plain ? 0 : 1,
             thrown = c->calls[HPX_THROWN].plain ? 1 : 2;
    uint32_t need = m->max_stack + (m->returns ? exit : 0);
    need = need < enter ? enter : need;
    m->max_stack = m->entry_n > 0 && need < thrown ? thrown : need;
    return m->max_stack > 65535 ? HPX_LEAVE(STACK_FULL) : 0;
}

static int choose_ranges(struct hpx_class *c, struct hpx_code *m)
{
    int left = 0;
    m->bare = HPROFX_BCI_BARE_COUNT;
    if (!c->opts->no_handler && c->super_class == 0 && hpx_name_is(m->m.name, "<init>")) {
        m->bare = HPROFX_BCI_BARE_ROOT;
    } else if (!c->opts->no_handler) {
        left = hpx_init_ranges(c, m);
        m->bare = HPROFX_BCI_BARE_CONSTRUCTOR;
    }
    m->entry_n = hpx_entries_put(c, m, NULL);
    if (m->entry_n + m->handler_n > 65535) {
        m->whole = true;
        m->entry_n = m->range_n;
    }
    if (m->entry_n + m->handler_n > 65535) {
        m->entry_n = m->range_n = 0;
        m->bare = HPROFX_BCI_BARE_TABLE_FULL;
    }
    m->m.bare = m->range_n == 0;
    return left;
}

static int copy(struct hpx_class *c, size_t from, size_t to)
{
    int left = hpx_buf_reserve(&c->body, to - from);
    if (left == 0) {
        memcpy(c->body.p + c->body.n, c->in + from, to - from);
        c->body.n += to - from;
    }
    return left;
}

static int emit(struct hpx_class *c, struct hpx_code *m, size_t at, size_t end)
{
    size_t code = m->at - 14;
    int left = copy(c, at, code + 14);
    if (left != 0) {
        return left;
    }
    size_t head = c->body.n - 12;
    hpx_put2(c->body.p + head + 4, m->max_stack);
    hpx_put4(c->body.p + head + 8, m->new_len);
    left = hpx_code_emit(c, m);
    left = left != 0 ? left : hpx_tables_emit(c, m);
    if (left != 0) {
        return left;
    }
    size_t len = c->body.n - head - 4;
    hpx_put4(c->body.p + head, (uint32_t)len);
    return copy(c, m->end, end);
}

/* HotSpot registers an object for finalization unless its finalize() is a lone return. Object's own is one. */
static bool empty_finalizer(const struct hpx_class *c, const struct hpx_code *m)
{
    return m->len == 1 && c->in[m->at] == HPX_OP_RETURN && hpx_name_is(m->m.name, "finalize") && hpx_name_is(m->m.desc, "()V");
}

int hpx_method_rewrite(struct hpx_class *c, struct hpx_code *m, size_t at, size_t end)
{
    if (c->opts->want != NULL && !c->opts->want(c->opts->ctx, &m->m)) {
        return HPX_LEAVE(UNWANTED);
    }
    if (empty_finalizer(c, m)) {
        return HPX_LEAVE(FINALIZER);
    }
    m->m.number = c->result->first + c->result->rewritten;
    int left = choose_push(c, m);
    left = left != 0 ? left : hpx_code_scan(c, m, false);
    left = left != 0 ? left : choose_ranges(c, m);
    left = left != 0 ? left : new_max_stack(c, m);
    left = left != 0 ? left : hpx_code_layout(c, m);
    if (left == 0 && c->tramp_n > 0) {
        left = hpx_tramps_expand(c, m);
    }
    left = left != 0 ? left : emit(c, m, at, end);
    if (left == 0) {
        m->m.new_length = (uint16_t)m->new_len;
        left = c->steps > c->steps_max ? HPX_LEAVE(LIMIT) : 0;
    }
    return left;
}
