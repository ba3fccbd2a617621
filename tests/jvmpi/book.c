/* SPDX-License-Identifier: BSD-2-Clause */
/* book.c: names by id. Contract: book.h. */
#include "book.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* release: book_add(); acquire: the readers. Covers the entry. */
static _Atomic(struct book_class *) classes[BOOK_SLOTS];
static _Atomic(struct book_method *) methods[BOOK_SLOTS];

const struct book_class *book_class(jobjectID id)
{
    struct book_class *c;
    for (uint32_t i = book_hash((uintptr_t)id); (c = atomic_load_explicit(&classes[i], memory_order_acquire)) != NULL;
         i = (i + 1) % BOOK_SLOTS) {
        if (c->id == id) {
            return c;
        }
    }
    return NULL;
}

struct book_method *book_method(jmethodID id)
{
    struct book_method *m;
    for (uint32_t i = book_hash((uintptr_t)id); (m = atomic_load_explicit(&methods[i], memory_order_acquire)) != NULL;
         i = (i + 1) % BOOK_SLOTS) {
        if (m->id == id) {
            return m;
        }
    }
    return NULL;
}

static void *checked(void *p)
{
    if (p == NULL) {
        abort();
    }
    return p;
}

static void put_method(const struct book_class *of, const JVMPI_Method *told)
{
    uint32_t i = book_hash((uintptr_t)told->method_id);
    struct book_method *m;
    while ((m = atomic_load_explicit(&methods[i], memory_order_relaxed)) != NULL && m->id != told->method_id) {
        i = (i + 1) % BOOK_SLOTS;
    }
    if (m == NULL) {
        m = checked(calloc(1, sizeof(*m)));
        m->id = told->method_id;
        m->of = of;
        m->name = checked(strdup(told->method_name));
        atomic_store_explicit(&methods[i], m, memory_order_release);
    }
}

void book_add(const JVMPI_Event *e)
{
    if (book_class(e->u.class_load.class_id) != NULL) {
        return;
    }
    struct book_class *c = checked(calloc(1, sizeof(*c)));
    c->id = e->u.class_load.class_id;
    c->name = checked(strdup(e->u.class_load.class_name));
    c->source = checked(strdup(e->u.class_load.source_name));
    for (jint k = 0; k < e->u.class_load.num_methods; k++) {
        put_method(c, &e->u.class_load.methods[k]);
    }
    uint32_t i = book_hash((uintptr_t)c->id);
    while (atomic_load_explicit(&classes[i], memory_order_relaxed) != NULL) {
        i = (i + 1) % BOOK_SLOTS;
    }
    atomic_store_explicit(&classes[i], c, memory_order_release);
}

void book_each_method(void (*each)(struct book_method *m))
{
    for (uint32_t i = 0; i < BOOK_SLOTS; i++) {
        struct book_method *m = atomic_load_explicit(&methods[i], memory_order_acquire);
        if (m != NULL) {
            each(m);
        }
    }
}

const struct book_class *book_ask(const JVMPI_Interface *jvmpi, jobjectID id)
{
    const struct book_class *c = book_class(id);
    if (c == NULL && id != NULL && jvmpi->RequestEvent(JVMPI_EVENT_CLASS_LOAD, id) == JVMPI_SUCCESS) {
        c = book_class(id);
    }
    return c;
}

static const char *const types[] = {
    [JVMPI_BOOLEAN] = "boolean", [JVMPI_CHAR] = "char",   [JVMPI_FLOAT] = "float", [JVMPI_DOUBLE] = "double",
    [JVMPI_BYTE] = "byte",       [JVMPI_SHORT] = "short", [JVMPI_INT] = "int",     [JVMPI_LONG] = "long"};

/* "int[][]" for "[[I" and "java.lang.String[]" for "[Ljava.lang.String;", else the name itself. */
static void plain_name(char *to, size_t n, const char *name)
{
    static const char letters[] = "ZCFDBSIJ"; /* from JVMPI_BOOLEAN on */
    size_t dimensions = strspn(name, "[");
    const char *rest = name + dimensions, *letter = dimensions > 0 && rest[0] != '\0' && rest[1] == '\0' ? strchr(letters, rest[0]) : NULL;
    if (letter != NULL) {
        (void)snprintf(to, n, "%s", types[JVMPI_BOOLEAN + (letter - letters)]);
    } else {
        bool object = dimensions > 0 && rest[0] == 'L';
        (void)snprintf(to, n, "%.*s", (int)(object ? strcspn(rest + 1, ";") : strlen(rest)), rest + object);
    }
    for (size_t used = strlen(to); dimensions > 0 && used + 3 <= n; dimensions--, used += 2) {
        memcpy(to + used, "[]", 3);
    }
}

void book_name(const JVMPI_Interface *jvmpi, char *to, size_t n, jobjectID class_id, jint is_array)
{
    if (is_array >= JVMPI_BOOLEAN && is_array <= JVMPI_LONG) {
        (void)snprintf(to, n, "%s[]", types[is_array]);
        return;
    }
    const struct book_class *c = book_ask(jvmpi, class_id);
    plain_name(to, n, c != NULL ? c->name : "?");
    size_t used = strlen(to);
    if (is_array == JVMPI_CLASS && used + 3 <= n) {
        memcpy(to + used, "[]", 3);
    }
}
