/* SPDX-License-Identifier: BSD-2-Clause */
/* model_msg.c: messages to the model, made by any thread. */
#include "model_msg.h"
#include <stdlib.h>
#include <string.h>

/* NULL also above 4 GiB, which a message's size field cannot say. */
static void *new_message(uint32_t kind, uint64_t size)
{
    return size <= UINT32_MAX ? hpx_msg_new(kind, (size_t)size) : NULL;
}

struct hpx_msg_class *hpx_msg_class_new(uint32_t nmethods, uint32_t text_len)
{
    uint64_t text_at = sizeof(struct hpx_msg_class) + (uint64_t)nmethods * sizeof(uint64_t);
    struct hpx_msg_class *m = new_message(HPX_MSG_CLASS, text_at + text_len);
    if (m) {
        m->nmethods = nmethods;
        m->text_len = text_len;
        m->text = (char *)m + text_at;
    }
    return m;
}

struct hpx_msg_row_class *hpx_msg_row_class_new(uint32_t kind, uint32_t number, const char *signature)
{
    size_t len = strlen(signature);
    struct hpx_msg_row_class *m = new_message(kind, sizeof(*m) + len + 1);
    if (m) {
        m->number = number;
        m->len = (uint32_t)len;
        memcpy(m->signature, signature, len + 1);
    }
    return m;
}

struct hpx_msg_resolved *hpx_msg_resolved_new(uint32_t nlines, uint32_t text_len)
{
    uint64_t text_at = sizeof(struct hpx_msg_resolved) + (uint64_t)nlines * sizeof(struct hpx_line);
    struct hpx_msg_resolved *m = new_message(HPX_MSG_RESOLVED, text_at + text_len);
    if (m) {
        m->nlines = nlines;
        m->text_len = text_len;
        m->text = (char *)m + text_at;
    }
    return m;
}

static bool in_order(const struct hpx_msg_resolved *m)
{
    for (uint32_t i = 1; i < m->nlines; i++) {
        if (m->lines[i].bci < m->lines[i - 1].bci) {
            return false;
        }
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool hpx_msg_resolved_sort(struct hpx_msg_resolved *m)
{
    if (in_order(m)) {
        return true; /* as compilers write them */
    }
    uint64_t *keys = malloc(m->nlines * sizeof *keys); /* bci, place, line: qsort() alone would not keep equal ones as they were */
    if (!keys) {
        return false;
    }
    for (uint32_t i = 0; i < m->nlines; i++) {
        keys[i] = (uint64_t)m->lines[i].bci << 48 | (uint64_t)i << 16 | m->lines[i].line;
    }
    qsort(keys, m->nlines, sizeof *keys, by_number);
    for (uint32_t i = 0; i < m->nlines; i++) {
        m->lines[i] = (struct hpx_line){(uint16_t)(keys[i] >> 48), (uint16_t)keys[i]};
    }
    free(keys);
    return true;
}

struct hpx_msg_thread_start *hpx_msg_thread_start_new(uint32_t text_len)
{
    struct hpx_msg_thread_start *m = new_message(HPX_MSG_THREAD_START, sizeof(struct hpx_msg_thread_start) + (uint64_t)text_len);
    if (m) {
        m->text_len = text_len;
    }
    return m;
}

struct hpx_msg_thread_name *hpx_msg_thread_name_new(uint32_t text_len)
{
    struct hpx_msg_thread_name *m = new_message(HPX_MSG_THREAD_NAME, sizeof(struct hpx_msg_thread_name) + (uint64_t)text_len);
    if (m) {
        m->text_len = text_len;
    }
    return m;
}

struct hpx_msg_methods *hpx_msg_methods_new(uint32_t n, uint32_t text_len)
{
    uint64_t text_at = sizeof(struct hpx_msg_methods) + (uint64_t)n * sizeof(struct hpx_numbered);
    struct hpx_msg_methods *m = new_message(HPX_MSG_METHODS, text_at + text_len);
    if (m) {
        m->n = n;
        m->text_len = text_len;
        m->text = (char *)m + text_at;
    }
    return m;
}
