/* SPDX-License-Identifier: BSD-2-Clause */
/* method.c: rewrites one method. */
#include "rewriter.h"

enum { ACC_STATIC = 0x0008 };

/* Adds a constant for the number if it needs one; sets the sizes of the calls. */
static int choose_push(struct hpx_class *c, struct hpx_code *m)
{
    const bool plain[] = {c->opts->enter.plain, c->opts->no_exit || c->opts->exit.plain, c->opts->no_exit || c->opts->thrown.plain};
    memset(c->call_len, 0, sizeof(c->call_len));
    if (!(m->m.probes & HPROFX_BCI_CALLS)) {
        return 0;
    }
    m->m.number = c->result->first + c->result->numbered;
    m->passed = c->opts->most > 0 && m->m.number > c->opts->most ? c->opts->most : m->m.number;
    m->self = c->opts->self != NULL && !(m->m.access & ACC_STATIC) && !m->constructor;
    m->m.direct = c->opts->self != NULL && m->constructor && hpx_init_is_direct(c, m);
    if (m->passed > HPX_PUSH_MAX && c->opts->kept == NULL && !(plain[HPX_ENTER] && plain[HPX_EXIT] && plain[HPX_THROWN] && !m->self)) {
        int left;
        uint8_t *p = hpx_pool_add(c, 3, 4, &m->integer, &left);
        if (p == NULL) {
            return left;
        }
        hpx_put4(p, m->passed);
    }
    if (c->opts->kept != NULL) {
        m->variable = m->max_locals;
        m->max_locals += 2;
        c->call_len[HPX_ENTER] = c->call_len[HPX_EXIT] = (uint8_t)(hpx_variable_len(m) + HPX_CALL_LEN);
        return m->variable > HPX_VARIABLE_MAX ? HPX_LEAVE(LIMIT) : 0;
    }
    uint32_t len = hpx_push_len(m->passed, m->integer);
    for (int i = 0; i <= (c->opts->no_exit ? HPX_ENTER : HPX_THROWN); i++) {
        c->call_len[i] = (uint8_t)(HPX_CALL_LEN + (plain[i] ? 0 : len));
    }
    if (m->self) {
        c->call_len[HPX_ENTER] = (uint8_t)(1 + len + HPX_CALL_LEN);
    }
    return 0;
}

/* Stack that the calls need above the method's operands: the result at a return, the exception in the handler, nothing at the entry. */
static int new_max_stack(const struct hpx_class *c, struct hpx_code *m)
{
    bool calls = (m->m.probes & HPROFX_BCI_CALLS) != 0;
    bool two = calls && (m->self || c->opts->kept != NULL); /* an object and a number, or a long */
    uint32_t enter = two ? 2 : calls && !c->opts->enter.plain,
             exit = calls && c->opts->kept != NULL ? 2 : calls && !c->opts->exit.plain && !c->opts->no_exit,
             thrown = c->opts->thrown.plain ? 1 : 2;
    uint32_t more = m->returns ? exit : 0, probe = hpx_probe_stack(m);
    uint32_t need = m->max_stack + (more < probe ? probe : more);
    need = need < enter ? enter : need;
    m->max_stack = m->entry_n > 0 && need < thrown ? thrown : need;
    return m->max_stack > 65535 ? HPX_LEAVE(STACK_FULL) : 0;
}

static int choose_ranges(struct hpx_class *c, struct hpx_code *m)
{
    int left = 0;
    m->bare = HPROFX_BCI_BARE_COUNT;
    bool handler = !c->opts->no_handler && !c->opts->no_exit;
    if (!(m->m.probes & HPROFX_BCI_CALLS)) {
        return 0;
    }
    if (handler && c->super_class == 0 && hpx_name_is(m->m.name, "<init>")) {
        m->bare = HPROFX_BCI_BARE_ROOT;
    } else if (handler) {
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
    hpx_put2(c->body.p + head + 6, m->max_locals);
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

/* HotSpot registers objects for finalization unless finalize() is a lone return. Object.finalize() is a lone return. */
static bool empty_finalizer(const struct hpx_class *c, const struct hpx_code *m)
{
    return m->len == 1 && c->in[m->at] == HPX_OP_RETURN && hpx_name_is(m->m.name, "finalize") && hpx_name_is(m->m.desc, "()V");
}

/* The interpreter of HotSpot 8 enters it, whatever its code is, as an accessor, whose third byte begins the index of a field. */
static bool read_as_accessor(const struct hpx_class *c, const struct hpx_code *m)
{
    return c->major <= 52 && hpx_name_is(m->m.class_name, "java/lang/ref/Reference") && hpx_name_is(m->m.name, "get") &&
           hpx_name_is(m->m.desc, "()Ljava/lang/Object;");
}

/* Sets m->m.probes to the kinds of probe that the method may get. Returns 0, or the reason why it gets none. *no_calls: reason why CALLS is
 * not among them. */
static int choose_probes(struct hpx_class *c, struct hpx_code *m, int *no_calls)
{
    m->m.probes = c->probes;
    *no_calls = HPX_LEAVE(NOTHING);
    if ((m->m.probes & HPROFX_BCI_CALLS) && m->len < c->opts->min) {
        m->m.probes &= ~(unsigned)HPROFX_BCI_CALLS;
        *no_calls = HPX_LEAVE(SHORT);
    }
    if (m->m.probes != 0 && c->opts->want != NULL) {
        m->m.probes &= c->opts->want(c->opts->ctx, &m->m);
        if (m->m.probes == 0) {
            return HPX_LEAVE(UNWANTED);
        }
    }
    if ((m->m.probes & HPROFX_BCI_CALLS) && empty_finalizer(c, m)) {
        m->m.probes &= ~(unsigned)HPROFX_BCI_CALLS;
        *no_calls = HPX_LEAVE(FINALIZER);
    }
    if ((m->m.probes & HPROFX_BCI_CALLS) && read_as_accessor(c, m)) {
        m->m.probes &= ~(unsigned)HPROFX_BCI_CALLS;
        *no_calls = HPX_LEAVE(ACCESSOR);
    }
    if (hpx_makes(c, &m->m)) {
        m->m.probes &= HPROFX_BCI_CALLS | HPROFX_BCI_STORES;
    }
    m->root = (m->m.probes & HPROFX_BCI_OBJECTS) && c->super_class == 0 && hpx_name_is(m->m.name, "<init>");
    return m->m.probes == 0 ? *no_calls : 0;
}

/* With hprofx_bci_opts.kept: no frame lies before a return, where it would take the variable away. */
static int check_frames(const struct hpx_class *c, const struct hpx_code *m)
{
    struct hpx_frame f = {.pc = UINT32_MAX, .end = m->frames};
    uint32_t last = 0; /* of the returns */
    if (c->opts->kept == NULL || !(m->m.probes & HPROFX_BCI_CALLS) || m->frame_n == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < m->event_n; i++) {
        last = c->events[i].kind == HPX_K_RETURN ? c->events[i].pc : last;
    }
    int left = hpx_frame_next(c, m, &f);
    return left != 0 ? left : f.pc <= last ? HPX_LEAVE(FRAME) : 0;
}

/* Methods with CALLS always have something to inject; others are checked here. */
static int keep_probes(struct hpx_code *m, int no_calls)
{
    m->m.probes &= HPROFX_BCI_CALLS | (m->site_n > 0 ? (unsigned)HPROFX_BCI_SITES : 0) |
                   (m->object_n > 0 ? (unsigned)HPROFX_BCI_OBJECTS : 0) | (m->store_n > 0 ? (unsigned)HPROFX_BCI_STORES : 0);
    return m->m.probes == 0 ? no_calls : 0;
}

int hpx_method_rewrite(struct hpx_class *c, struct hpx_code *m, size_t at, size_t end)
{
    int no_calls, left = choose_probes(c, m, &no_calls);
    left = left != 0 ? left : hpx_code_scan(c, m, false);
    left = left != 0 ? left : keep_probes(m, no_calls);
    left = left != 0 ? left : check_frames(c, m);
    if (left == 0 && (m->needs != 0 || c->added.ref[HPX_ENTER] == 0)) {
        left = hpx_pool_extend(c, m);
    }
    left = left != 0 ? left : choose_push(c, m);
    if (left == 0 && m->site_n > 0) {
        left = hpx_sites_number(c, m);
    }
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
