/* SPDX-License-Identifier: BSD-2-Clause */
/* jfr_out.c: see jfr_out.h. */
#include "jfr_out.h"
#include "big_endian.h"
#include <string.h>

#define CHUNK_BYTES ((size_t)8 << 20)       /* of events, and about as much of constants: far below MOST_BYTES */
#define MOST_BYTES  (((size_t)1 << 28) - 1) /* of an event or of a chunk's constants */
#define DEEPEST     ((size_t)65536)         /* frames of a stack, as jfr.c reads */
#define HEAD        68
#define NAME        4200 /* bytes; a longer one, of bytes that tree.c has escaped, is cut */

#define NUMBERINGS(j) &(j)->stacks, &(j)->methods, &(j)->classes, &(j)->threads, &(j)->collectors

/* An event with its size, which has four bytes of seven bits. */
static void put_event(struct hpx_pb *to, const struct hpx_pb *event)
{
    if (event->len > MOST_BYTES - 4) {
        to->no_memory = true;
        return;
    }
    uint32_t n = (uint32_t)event->len + 4;
    const uint8_t size[4] = {(uint8_t)(n | 0x80), (uint8_t)(n >> 7 | 0x80), (uint8_t)(n >> 14 | 0x80), (uint8_t)(n >> 21 & 0x7f)};
    hpx_pb_append(to, size, sizeof size);
    hpx_pb_append(to, event->bytes, event->len);
    to->no_memory |= event->no_memory;
}

/* ---- constants ---- */

static const char *text_of(const struct hpx_jfr_out *j, uint32_t name)
{
    return hpx_tree_text(j->tree, name);
}

/* Where the method begins in the name of a frame; 0: it is no method of a class. */
static size_t method_at(const char *name)
{
    size_t n = strcspn(name, "(");
    while (n > 0 && name[n - 1] != '.') {
        n--;
    }
    return n > 1 && memchr(name, '/', n) == NULL && name[0] != '[' ? n : 0;
}

/* Of a class that is no array; how many bytes that is. */
static size_t internal_name(char to[NAME], const char *name, size_t n, char divider)
{
    size_t len = n < NAME ? n : NAME;
    for (size_t i = 0; i < len; i++) {
        to[i] = (char)(name[i] == '.' ? divider : name[i]);
    }
    return len;
}

/* As the JVM has it: java/lang/String, [I. */
static void put_class_name(struct hpx_pb *m, const char *name, size_t n)
{
    static const char *const primitives[] = {"boolean", "byte", "char", "double", "float", "int", "long", "short"};
    static const char letters[] = "ZBCDFIJS";
    char text[256 + NAME + 2];
    size_t at = 0;
    for (; n >= 2 && name[n - 2] == '[' && name[n - 1] == ']' && at < 255; n -= 2) {
        text[at++] = '[';
    }
    for (size_t i = 0; i < sizeof letters - 1 && at > 0; i++) {
        if (strlen(primitives[i]) == n && memcmp(primitives[i], name, n) == 0) {
            text[at++] = letters[i];
            hpx_jfr_put_text(m, text, at);
            return;
        }
    }
    const bool array = at > 0;
    if (array) {
        text[at++] = 'L';
    }
    at += internal_name(text + at, name, n, '/');
    if (array) {
        text[at++] = ';';
    }
    hpx_jfr_put_text(m, text, at);
}

uint32_t hpx_jfr_stack(struct hpx_jfr_out *j, uint32_t node)
{
    size_t before = hpx_numbered(&j->stacks);
    uint32_t n = node != 0 ? hpx_number(&j->stacks, node) : 0;
    for (uint32_t at = node; at != 0 && hpx_numbered(&j->stacks) > before; at = hpx_tree_node_at(j->tree, at)->parent) {
        size_t methods = hpx_numbered(&j->methods);
        uint32_t name = hpx_tree_frame_at(j->tree, hpx_tree_node_at(j->tree, at)->frame)->name;
        (void)hpx_number(&j->methods, name);
        j->constants += 8 + (hpx_numbered(&j->methods) > methods ? 32 + strlen(text_of(j, name)) : 0);
    }
    return n;
}

uint32_t hpx_jfr_number(struct hpx_jfr_out *j, struct hpx_numbering *of, uint32_t name)
{
    size_t before = hpx_numbered(of);
    uint32_t n = name != 0 ? hpx_number(of, name) : 0;
    j->constants += hpx_numbered(of) > before ? 32 + strlen(text_of(j, name)) : 0;
    return n;
}

/* One without constants must not be there. */
static void pool(struct hpx_pb *m, enum hpx_jfr_t type, size_t n)
{
    if (n > 0) {
        hpx_pb_raw(m, type);
        hpx_pb_raw(m, n);
    }
}

static void put_stacks(struct hpx_jfr_out *j, struct hpx_pb *m)
{
    pool(m, HPX_JFR_T_STACK, hpx_numbered(&j->stacks));
    for (size_t i = 0; i < hpx_numbered(&j->stacks); i++) {
        size_t n = 0;
        uint32_t node = hpx_numbered_at(&j->stacks, i);
        for (uint32_t at = node; at != 0; at = hpx_tree_node_at(j->tree, at)->parent) {
            n++;
        }
        hpx_pb_raw(m, i + 1);
        hpx_pb_raw(m, n > DEEPEST);
        n = n < DEEPEST ? n : DEEPEST;
        hpx_pb_raw(m, n);
        for (; n > 0; n--, node = hpx_tree_node_at(j->tree, node)->parent) {
            const struct hpx_tree_frame *f = hpx_tree_frame_at(j->tree, hpx_tree_node_at(j->tree, node)->frame);
            hpx_pb_raw(m, hpx_number(&j->methods, f->name));
            hpx_pb_raw(m, (uint32_t)f->line);
            hpx_pb_raw(m, 0);
            hpx_pb_raw(m, 1);
        }
    }
}

/* A method's name and class are symbols of their own: 3 for each method, 1 for each class. The first is the descriptor of all. */
static void put_methods(const struct hpx_jfr_out *j, struct hpx_pb *m)
{
    const size_t methods = hpx_numbered(&j->methods), classes = hpx_numbered(&j->classes);
    pool(m, HPX_JFR_T_METHOD, methods);
    for (size_t i = 0; i < methods; i++) {
        hpx_pb_raw(m, i + 1);
        hpx_pb_raw(m, classes + i + 1);
        hpx_pb_raw(m, 2 + 2 * i);
        hpx_pb_raw(m, 1);
        hpx_pb_raw(m, 0);
        hpx_pb_raw(m, 0);
    }
    pool(m, HPX_JFR_T_CLASS, classes + methods);
    for (size_t i = 0; i < classes + methods; i++) {
        hpx_pb_raw(m, i + 1);
        hpx_pb_raw(m, 0);
        hpx_pb_raw(m, i < classes ? 2 + 2 * methods + i : 3 + 2 * (i - classes));
        hpx_pb_raw(m, 0);
        hpx_pb_raw(m, 0);
        hpx_pb_raw(m, 0);
    }
    pool(m, HPX_JFR_T_SYMBOL, 1 + 2 * methods + classes);
    hpx_pb_raw(m, 1);
    hpx_jfr_put_string(m, "()V");
    for (size_t i = 0; i < methods; i++) {
        const char *name = text_of(j, hpx_numbered_at(&j->methods, i));
        size_t at = method_at(name);
        hpx_pb_raw(m, 2 + 2 * i);
        hpx_jfr_put_string(m, name + at);
        hpx_pb_raw(m, 3 + 2 * i);
        char class[NAME], divider = strchr(name, '(') != NULL ? '.' : '/'; /* types of arguments have dots, too */
        hpx_jfr_put_text(m, class, internal_name(class, name, at > 0 ? at - 1 : 0, divider));
    }
    for (size_t i = 0; i < classes; i++) {
        const char *name = text_of(j, hpx_numbered_at(&j->classes, i));
        hpx_pb_raw(m, 2 + 2 * methods + i);
        put_class_name(m, name, strlen(name));
    }
}

static void put_threads(const struct hpx_jfr_out *j, struct hpx_pb *m)
{
    pool(m, HPX_JFR_T_THREAD, hpx_numbered(&j->threads));
    for (size_t i = 0; i < hpx_numbered(&j->threads); i++) {
        const uint32_t id = hpx_numbered_at(&j->threads, i); /* the same in every chunk */
        const char *name = text_of(j, id);
        hpx_pb_raw(m, i + 1);
        hpx_jfr_put_string(m, name);
        hpx_pb_raw(m, id);
        hpx_jfr_put_string(m, name);
        hpx_pb_raw(m, id);
        hpx_pb_raw(m, 0);
    }
}

/* A constant of a text. */
static void put_one(struct hpx_pb *m, enum hpx_jfr_t type, const char *text)
{
    pool(m, type, 1);
    hpx_pb_raw(m, 1);
    hpx_jfr_put_string(m, text);
}

/* The body of the event of all constants, but for its size. */
static void put_constants(struct hpx_jfr_out *j)
{
    struct hpx_pb *m = &j->event;
    hpx_pb_raw(m, 1);             /* its type */
    for (int i = 0; i < 3; i++) { /* time, length, how far it is to the one before: there is none */
        hpx_pb_raw(m, 0);
    }
    const size_t methods = hpx_numbered(&j->methods), classes = methods + hpx_numbered(&j->classes);
    hpx_pb_raw(m, 0);
    hpx_pb_raw(m, 4 + (size_t)(hpx_numbered(&j->stacks) > 0) + (methods > 0) + (classes > 0) + (hpx_numbered(&j->threads) > 0) +
                      (hpx_numbered(&j->collectors) > 0));
    put_stacks(j, m);
    put_methods(j, m);
    put_threads(j, m);
    put_one(m, HPX_JFR_T_FRAME_TYPE, "Unknown");
    put_one(m, HPX_JFR_T_STATE, "STATE_RUNNABLE");
    pool(m, HPX_JFR_T_GC_NAME, hpx_numbered(&j->collectors));
    for (size_t i = 0; i < hpx_numbered(&j->collectors); i++) {
        hpx_pb_raw(m, i + 1);
        hpx_jfr_put_string(m, text_of(j, hpx_numbered_at(&j->collectors, i)));
    }
    put_one(m, HPX_JFR_T_GC_CAUSE, "Unknown");
}

/* ---- chunks ---- */

bool hpx_jfr_out_end_chunk(struct hpx_jfr_out *j)
{
    struct hpx_pb metadata = {NULL, 0, 0, false}, constants = {NULL, 0, 0, false};
    struct hpx_numbering *of[] = {NUMBERINGS(j)};
    uint8_t head[HEAD] = {'F', 'L', 'R', 0, 0, 2, 0, 1};
    j->event.len = 0;
    hpx_jfr_put_metadata(&j->event);
    put_event(&metadata, &j->event);
    j->event.len = 0;
    put_constants(j);
    put_event(&constants, &j->event);
    uint64_t behind = HEAD + metadata.len + j->events.len, length = j->last_ns > j->chunk_ns ? j->last_ns - j->chunk_ns : 0;
    uint8_t *at = head + 8;
    at = hpx_put_be8(at, behind + constants.len);
    at = hpx_put_be8(at, behind);
    at = hpx_put_be8(at, HEAD);
    at = hpx_put_be8(at, j->chunk_ns);
    at = hpx_put_be8(at, length);
    at = hpx_put_be8(at, j->chunk_ns - j->zero_ns);
    at = hpx_put_be8(at, UINT64_C(1000000000));
    (void)hpx_put_be4(at, 1); /* integers are short */
    (void)fwrite(head, 1, sizeof head, j->to);
    (void)fwrite(metadata.bytes, 1, metadata.len, j->to);
    (void)fwrite(j->events.bytes, 1, j->events.len, j->to);
    (void)fwrite(constants.bytes, 1, constants.len, j->to);
    bool all = !metadata.no_memory && !constants.no_memory && !j->events.no_memory;
    hpx_pb_free(&metadata);
    hpx_pb_free(&constants);
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        all = all && !of[i]->no_memory;
        hpx_numbering_clear(of[i]);
    }
    j->events.len = 0;
    j->constants = 0;
    j->chunk_ns = j->last_ns > j->chunk_ns ? j->last_ns : j->chunk_ns + 1; /* JDK Mission Control takes chunks of one time for the same */
    return all;
}

bool hpx_jfr_out_is_full(const struct hpx_jfr_out *j)
{
    return j->events.len > CHUNK_BYTES || j->constants > CHUNK_BYTES;
}

void hpx_jfr_begin(struct hpx_jfr_out *j, enum hpx_jfr_t type, uint64_t at_ns, uint64_t ns)
{
    j->event.len = 0;
    hpx_pb_raw(&j->event, type);
    hpx_pb_raw(&j->event, at_ns > j->zero_ns ? at_ns - j->zero_ns : 0);
    j->last_ns = at_ns + ns > j->last_ns ? at_ns + ns : j->last_ns;
}

void hpx_jfr_end(struct hpx_jfr_out *j)
{
    put_event(&j->events, &j->event);
}

bool hpx_jfr_out_init(struct hpx_jfr_out *j, const struct hpx_tree *t, FILE *to, uint64_t begin_ns, uint64_t zero_ns)
{
    struct hpx_numbering *of[] = {NUMBERINGS(j)};
    *j = (struct hpx_jfr_out){.tree = t, .to = to, .begin_ns = begin_ns, .zero_ns = zero_ns, .last_ns = begin_ns, .chunk_ns = begin_ns};
    bool all = true;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        all = hpx_numbering_init(of[i], of[i] == &j->stacks ? t->nodes.len : t->names.len) && all;
    }
    return all;
}

void hpx_jfr_out_fini(struct hpx_jfr_out *j)
{
    struct hpx_numbering *of[] = {NUMBERINGS(j)};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        hpx_numbering_fini(of[i]);
    }
    hpx_pb_free(&j->events);
    hpx_pb_free(&j->event);
}
