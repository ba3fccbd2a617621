/* SPDX-License-Identifier: BSD-2-Clause */
/* answer.c: see answer.h. */
#include "answer.h"
#include "budget.h"
#include "generated.h"
#include <stdlib.h>
#include <string.h>

#define MORE    SIZE_MAX /* an item is not whole */
#define NUMBERS 24       /* bytes at the end of a row */

void hpx_answer_init(struct hpx_answer *r, struct hpx_tree *t)
{
    *r = (struct hpx_answer){.tree = t};
}

void hpx_answer_fini(struct hpx_answer *r)
{
    free(r->held.items);
    free(r->path.steps.items);
}

/* The length of a number in LEB128; 0: it is none; MORE. */
static size_t varint(const char *at, size_t n, uint64_t *v)
{
    *v = 0;
    for (size_t i = 0; i < 10; i++) {
        if (i == n) {
            return MORE;
        }
        uint64_t low = (unsigned char)at[i] & 0x7FU;
        if (i == 9 && low > 1) {
            return 0;
        }
        *v |= low << (7 * i);
        if (((unsigned char)at[i] & 0x80U) == 0) {
            return i + 1;
        }
    }
    return 0;
}

/* The length of a text with its own before it; *text, *len: without. 0: it is none; MORE. */
static size_t text_at(const char *at, size_t n, const char **text, size_t *len)
{
    uint64_t bytes;
    size_t head = varint(at, n, &bytes);
    if (head == 0 || head == MORE) {
        return head;
    }
    if (bytes > HPX_ANSWER_TEXT) {
        return 0;
    }
    *text = at + head;
    *len = (size_t)bytes;
    return n - head >= bytes ? head + (size_t)bytes : MORE;
}

/* ---- items ---- */

/* The measure of a kind. ClickHouse does not say its unit, which matters only where hprofx does not know the measure. */
static void choose(struct hpx_answer *r, const char *kind, size_t len)
{
    struct hpx_tree *t = r->tree;
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        r->view = &t->views[k];
        for (r->measure = 0; r->measure < r->view->values; r->measure++) {
            const char *name = r->view->measures[r->measure].name;
            if (strlen(name) == len && memcmp(name, kind, len) == 0) {
                return;
            }
        }
    }
    r->view = hpx_tree_find(t, hpx_tree_text(t, hpx_tree_name(t, kind, len)), "count", &r->measure);
    r->crowded |= r->view == NULL;
}

static size_t take_kind(struct hpx_answer *r, const char *at, size_t n)
{
    const char *kind;
    size_t len, used = text_at(at, n, &kind, &len);
    if (used != 0 && used != MORE) {
        choose(r, kind, len);
        r->at = HPX_ANSWER_AT_STACK;
    }
    return used;
}

static size_t take_stack(struct hpx_answer *r, const char *at, size_t n)
{
    size_t used = varint(at, n, &r->left);
    if (used == MORE) {
        return used;
    }
    hpx_tree_path_begin(&r->path);
    r->at = r->left > 0 ? HPX_ANSWER_AT_FRAME : HPX_ANSWER_AT_VALUE;
    return r->left <= HPX_ANSWER_FRAMES ? used : 0;
}

static bool has_classes(const struct hpx_answer *r)
{
    return r->view != NULL && hpx_view_has_classes((enum hpx_view_kind)(r->view - r->tree->views));
}

static size_t take_frame(struct hpx_answer *r, const char *at, size_t n)
{
    struct hpx_tree *t = r->tree;
    const char *text;
    size_t len, used = text_at(at, n, &text, &len);
    if (used == 0 || used == MORE) {
        return used;
    }
    r->left--;
    r->at = r->left > 0 ? HPX_ANSWER_AT_FRAME : HPX_ANSWER_AT_VALUE;
    uint32_t name = len > 0 ? hpx_name_of_frame(t, text, len) : hpx_tree_name(t, "?", 1); /* names of frames are not empty */
    if (r->path.at > 0 || !hpx_tree_no_stack(t, 0, name)) {
        enum hpx_frame_kind kind = r->left == 0 && has_classes(r) ? HPX_FRAME_CLASS : HPX_FRAME_METHOD;
        hpx_tree_path_down(t, &r->path, hpx_tree_frame(t, name, 0, 0, kind));
    }
    return used;
}

static uint64_t number_at(const char *at)
{
    uint64_t v = 0;
    for (size_t i = 8; i-- > 0;) {
        v = v << 8 | (unsigned char)at[i];
    }
    return v;
}

static size_t take_value(struct hpx_answer *r, const char *at, size_t n)
{
    uint64_t values[HPX_TREE_VALUES] = {0};
    if (n < NUMBERS) {
        return MORE;
    }
    uint64_t v = number_at(at), from = number_at(at + 8), to = number_at(at + 16);
    if (r->view != NULL && v > 0) {
        uint32_t node = hpx_tree_path_end(&r->path);
        values[r->measure] = v;
        hpx_tree_add(r->tree, r->view, node, 0, values);
        if (from < to && to - from <= UINT32_MAX) {
            const struct hpx_tree_moment m = {.at_ms = from, .unit_ms = (uint32_t)(to - from), .node = node};
            hpx_tree_add_moment(r->tree, r->view, &m, values);
        }
    }
    r->rows++;
    r->at = HPX_ANSWER_AT_KIND;
    return NUMBERS;
}

/* The bytes of the next item; 0: the rest is not read; MORE. */
static size_t item(struct hpx_answer *r, const char *at, size_t n)
{
    static size_t (*const take[])(struct hpx_answer *, const char *, size_t) = {[HPX_ANSWER_AT_KIND] = take_kind,
                                                                                [HPX_ANSWER_AT_STACK] = take_stack,
                                                                                [HPX_ANSWER_AT_FRAME] = take_frame,
                                                                                [HPX_ANSWER_AT_VALUE] = take_value};
    size_t used = n > 0 ? take[r->at](r, at, n) : MORE;
    if (used == 0 || r->tree->no_memory) {
        r->broken = r->tree->no_memory ? hpx_budget_why() : "the answer is not made of rows of profiles";
        return 0;
    }
    return used;
}

/* How many bytes were whole items. */
static size_t items(struct hpx_answer *r, const char *bytes, size_t n)
{
    size_t at = 0, used;
    while ((used = item(r, bytes + at, n - at)) != MORE && used != 0) {
        at += used;
    }
    return at;
}

static bool hold(struct hpx_answer *r, const char *bytes, size_t n)
{
    struct hpx_list *h = &r->held;
    if (h->cap - h->len < n) {
        size_t cap = 2 * h->cap > h->len + n ? 2 * h->cap : h->len + n;
        char *grown = realloc(h->items, cap);
        if (grown == NULL) {
            r->tree->no_memory = true;
            r->broken = "no memory";
            return false;
        }
        h->items = grown;
        h->cap = cap;
    }
    memcpy((char *)h->items + h->len, bytes, n);
    h->len += n;
    return true;
}

void hpx_answer_take(struct hpx_answer *r, const char *bytes, size_t n)
{
    struct hpx_list *h = &r->held;
    if (r->broken != NULL || n == 0) {
        return;
    }
    if (h->len == 0) {
        size_t at = items(r, bytes, n);
        (void)(r->broken == NULL && at < n && hold(r, bytes + at, n - at));
    } else if (hold(r, bytes, n)) {
        size_t at = items(r, h->items, h->len);
        memmove(h->items, (char *)h->items + at, h->len - at);
        h->len -= at;
    }
}

int hpx_answer_end(const struct hpx_answer *r, struct hpx_err *err)
{
    if (r->tree->no_memory) {
        return hpx_err_set(err, HPX_E_NOMEM, "%s", hpx_budget_why());
    }
    if (r->broken != NULL) {
        return hpx_err_set(err, HPX_E_RANGE, "%s", r->broken);
    }
    return r->at == HPX_ANSWER_AT_KIND && r->held.len == 0 ? 0 : hpx_err_set(err, HPX_E_RANGE, "the answer is cut off inside a row");
}
