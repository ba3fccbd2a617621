/* SPDX-License-Identifier: BSD-2-Clause */
/* tracker_class.c: writes class files, constant pool first. Contract: tracker_class.h. */
#include "tracker_class.h"
#include "compiler.h"
#include "hprofx_bci.h"
#include <assert.h>
#include <string.h>

enum { UTF8 = 1, LONG = 5, CLASS = 7, FIELD = 9, METHOD = 10, NAME_AND_TYPE = 12 };
enum { ACC_PUBLIC = 0x0001, ACC_STATIC = 0x0008, ACC_NATIVE = 0x0100, ACC_CLASS = 0x1031 /* public final super synthetic */ };

struct file {
    uint8_t *at;
    size_t n;
    unsigned constants; /* index of the next constant */
    unsigned self, code, int_void, annotations;
    /* annotations that HotSpot accepts in its own classes; names of the releases that it has them by */
    unsigned hidden[2], inlined[4], stable[2]; /* inlined: hidden, and into every caller */
};

#define COUNT_AT 8 /* offset of the constant pool's count */

static void u1(struct file *f, unsigned v)
{
    assert(f->n < HPX_TRACKER_CLASS_MAX);
    f->at[f->n++] = (uint8_t)v;
}

static void u2(struct file *f, unsigned v)
{
    u1(f, v >> 8);
    u1(f, v);
}

static void u4(struct file *f, uint64_t v)
{
    u2(f, (unsigned)(v >> 16));
    u2(f, (unsigned)v);
}

static void bytes(struct file *f, const void *from, size_t n)
{
    assert(f->n + n <= HPX_TRACKER_CLASS_MAX);
    memcpy(f->at + f->n, from, n);
    f->n += n;
}

/* Functions that add a constant return its index. */
static unsigned utf8(struct file *f, const char *s)
{
    u1(f, UTF8);
    u2(f, (unsigned)strlen(s));
    bytes(f, s, strlen(s));
    return f->constants++;
}

static unsigned class_of(struct file *f, const char *name)
{
    unsigned at = utf8(f, name);
    u1(f, CLASS);
    u2(f, at);
    return f->constants++;
}

static unsigned pair(struct file *f, unsigned tag, unsigned a, unsigned b)
{
    u1(f, tag);
    u2(f, a);
    u2(f, b);
    return f->constants++;
}

static unsigned member(struct file *f, unsigned tag, unsigned holder, unsigned name, unsigned type)
{
    return pair(f, tag, holder, pair(f, NAME_AND_TYPE, name, type));
}

static unsigned wide(struct file *f, uint64_t v)
{
    unsigned at = f->constants;
    u1(f, LONG);
    u4(f, v >> 32);
    u4(f, v);
    f->constants += 2;
    return at;
}

static void begin(struct file *f, uint8_t *to, const char *name)
{
    *f = (struct file){.at = to, .constants = 1};
    u4(f, 0xcafebabe);
    u4(f, 49);
    u2(f, 0);
    f->self = class_of(f, name);
    f->code = utf8(f, "Code");
    f->int_void = utf8(f, "(I)V");
    f->annotations = utf8(f, "RuntimeVisibleAnnotations");
    f->inlined[0] = f->hidden[0] = utf8(f, "Ljdk/internal/vm/annotation/Hidden;");
    f->inlined[1] = f->hidden[1] = utf8(f, "Ljava/lang/invoke/LambdaForm$Hidden;");
}

static void end_constants(struct file *f, unsigned object)
{
    f->at[COUNT_AT] = (uint8_t)(f->constants >> 8);
    f->at[COUNT_AT + 1] = (uint8_t)f->constants;
    u2(f, ACC_CLASS);
    u2(f, f->self);
    u2(f, object);
    u2(f, 0); /* interfaces */
}

static void annotated(struct file *f, const unsigned *types, unsigned n)
{
    u2(f, f->annotations);
    u4(f, 2 + 4 * n);
    u2(f, n);
    for (unsigned i = 0; i < n; i++) {
        u2(f, types[i]);
        u2(f, 0); /* values */
    }
}

/* If an exception leaves a probe, the program must not see the probe in the stack trace. */
static void hide(struct file *f)
{
    annotated(f, f->hidden, HPX_ARRAY_LEN(f->hidden));
}

static void may_be_inlined(struct file *f)
{
    f->inlined[2] = utf8(f, "Ljdk/internal/vm/annotation/ForceInline;");
    f->inlined[3] = utf8(f, "Ljava/lang/invoke/ForceInline;");
}

static void method_of(struct file *f, unsigned access, unsigned name, unsigned type, unsigned attributes)
{
    u2(f, access);
    u2(f, name);
    u2(f, type);
    u2(f, attributes);
}

static void add_native(struct file *f, unsigned name, unsigned type)
{
    method_of(f, ACC_PUBLIC | ACC_STATIC | ACC_NATIVE, name, type, 1);
    hide(f);
}

static void code_of(struct file *f, unsigned stack, unsigned locals, const uint8_t *code, size_t n)
{
    u2(f, f->code);
    u4(f, 12 + n);
    u2(f, stack);
    u2(f, locals);
    u4(f, n);
    bytes(f, code, n);
    u2(f, 0); /* handlers */
    u2(f, 0); /* attributes */
}

static void method(struct file *f, unsigned access, unsigned name, unsigned type, unsigned stack, unsigned locals, const uint8_t *code,
                   size_t n)
{
    method_of(f, access, name, type, 2);
    hide(f);
    code_of(f, stack, locals, code, n);
}

/* The compilers take it into every caller, whatever its length. */
static void inlined(struct file *f, unsigned access, unsigned name, unsigned type, unsigned stack, unsigned locals, const uint8_t *code,
                    size_t n)
{
    method_of(f, access, name, type, 2);
    annotated(f, f->inlined, HPX_ARRAY_LEN(f->inlined));
    code_of(f, stack, locals, code, n);
}

#define U2(v) (uint8_t)((v) >> 8), (uint8_t)(v)

/* clang-format off */
static void calibrate(struct file *f, unsigned name, unsigned enter, unsigned leave)
{
    const uint8_t code[] = {
        0x1a,                  /*  0 iload_0 */
        0x9e, 0, 17,           /*  1 ifle 18 */
        0x04, 0xb8, U2(enter), /*  4 iconst_1; invokestatic */
        0x04, 0xb8, U2(leave), /*  8 iconst_1; invokestatic */
        0x84, 0, 0xff,         /* 12 iinc 0 -1 */
        0xa7, 0xff, 0xf1,      /* 15 goto 0 */
        0xb1                   /* 18 return */
    };
    method(f, ACC_STATIC, name, f->int_void, 1, 1, code, sizeof code);
}

/* clang-format on */

static void find_stable(struct file *f)
{
    f->stable[0] = utf8(f, "Ljdk/internal/vm/annotation/Stable;");
    f->stable[1] = utf8(f, "Ljava/lang/invoke/Stable;");
}

/* Constants of the probe that counts. */
struct counting {
    unsigned name, counted, counted_type, unsafe, unsafe_type;
    unsigned field, fast, slow; /* references */
};

size_t hpx_tracker_class_type(char to[static HPX_TRACKER_NAME + 2], const char *name)
{
    size_t n = strlen(name);
    to[0] = 'L';
    memcpy(to + 1, name, n + 1);
    memcpy(to + 1 + n, ";", 2);
    return n + 2;
}

/* (Unsafe, then what `rest` says. */
static void type_with(char to[static HPX_TRACKER_NAME + 8], const char *unsafe, const char *rest)
{
    to[0] = '(';
    size_t n = 1 + hpx_tracker_class_type(to + 1, unsafe);
    memcpy(to + n, rest, strlen(rest) + 1);
}

void hpx_tracker_class_counts_type(char to[static HPX_TRACKER_NAME + 8], const char *unsafe)
{
    type_with(to, unsafe, "I)V");
}

static struct counting counting_of(struct file *f, const char *unsafe)
{
    char type[HPX_TRACKER_NAME + 2], fast[HPX_TRACKER_NAME + 8];
    struct counting c = {.name = utf8(f, HPX_TRACKER_COUNT), .counted = utf8(f, HPX_TRACKER_COUNTED), .counted_type = utf8(f, "(IJ)V")};
    may_be_inlined(f);
    c.unsafe = utf8(f, HPX_TRACKER_UNSAFE);
    (void)hpx_tracker_class_type(type, unsafe);
    hpx_tracker_class_counts_type(fast, unsafe);
    c.unsafe_type = utf8(f, type);
    c.field = member(f, FIELD, f->self, c.unsafe, c.unsafe_type);
    c.fast = member(f, METHOD, class_of(f, HPX_TRACKER_COUNTS), c.name, utf8(f, fast));
    c.slow = member(f, METHOD, f->self, c.counted, c.counted_type);
    find_stable(f);
    return c;
}

/* The jsr is never reached. The first compiler of HotSpot takes no method with one into another, whatever its annotations say, and calls it
 * instead, which costs less than to compile it everywhere. The second one does not mind. */
/* clang-format off */
static void count(struct file *f, const struct counting *c)
{
    const uint8_t code[] = {
        0xb2, U2(c->field), 0x4c,            /*  0 getstatic; astore_1 */
        0x2b, 0xc6, 0, 9,                    /*  4 aload_1; ifnull 14 */
        0x2b, 0x1a, 0xb8, U2(c->fast), 0xb1, /*  8 aload_1; iload_0; invokestatic; return */
        0x1a, 0x09, 0xb8, U2(c->slow), 0xb1, /* 14 iload_0; lconst_0; invokestatic; return */
        0xa8, 0, 3, 0x57, 0xb1               /* 20 jsr 23; pop; return: never run */
    };
    inlined(f, ACC_PUBLIC | ACC_STATIC, c->name, f->int_void, 3, 2, code, sizeof code);
}
/* clang-format on */

static void stable_field(struct file *f, unsigned name, unsigned type)
{
    u2(f, ACC_STATIC);
    u2(f, name);
    u2(f, type);
    u2(f, 1); /* attribute */
    annotated(f, f->stable, HPX_ARRAY_LEN(f->stable));
}

/* unsafe: with the probe that counts; NULL: with the native `self`. */
static size_t natives_class(uint8_t *to, const char *name, const char *unsafe)
{
    struct file f;
    begin(&f, to, name);
    unsigned object = class_of(&f, "java/lang/Object"), run = utf8(&f, HPX_TRACKER_CALIBRATE);
    unsigned object_int = utf8(&f, "(Ljava/lang/Object;I)V");
    struct counting c =
        unsafe != NULL ? counting_of(&f, unsafe) : (struct counting){.counted = utf8(&f, HPX_TRACKER_SELF), .counted_type = object_int};
    const struct {
        unsigned name, type;
    } natives[] = {{utf8(&f, "enter"), f.int_void},        {utf8(&f, "exit"), f.int_void},
                   {utf8(&f, "thrown"), f.int_void},       {utf8(&f, "alloc"), f.int_void},
                   {utf8(&f, "array"), utf8(&f, "(II)V")}, {utf8(&f, "object"), utf8(&f, "(Ljava/lang/Object;)V")},
                   {utf8(&f, "multi"), object_int},        {c.counted, c.counted_type}};
    unsigned enter = member(&f, METHOD, f.self, natives[0].name, f.int_void),
             leave = member(&f, METHOD, f.self, natives[1].name, f.int_void);
    end_constants(&f, object);
    u2(&f, unsafe != NULL); /* fields */
    if (unsafe != NULL) {
        stable_field(&f, c.unsafe, c.unsafe_type);
    }
    u2(&f, (unsigned)HPX_ARRAY_LEN(natives) + 1 + (unsafe != NULL));
    for (size_t i = 0; i < HPX_ARRAY_LEN(natives); i++) {
        add_native(&f, natives[i].name, natives[i].type);
    }
    calibrate(&f, run, enter, leave);
    if (unsafe != NULL) {
        count(&f, &c);
    }
    u2(&f, 0); /* attributes */
    return f.n;
}

size_t hpx_tracker_class_natives(uint8_t to[static HPX_TRACKER_CLASS_MAX], const char *unsafe)
{
    return natives_class(to, HPROFX_BCI_TRACKER, unsafe);
}

size_t hpx_tracker_class_jvmpi(uint8_t to[static HPX_TRACKER_CLASS_MAX])
{
    return natives_class(to, HPX_TRACKER_JVMPI, NULL);
}

/* Constants of the two methods that look for the thread's counters. */
struct look {
    unsigned name, type, get, put, table, eight, next;
};

/* clang-format off */
/* head: its code up to the place in the table, which is on the stack, behind which local 2 is the thread; local 0 is the Unsafe, 1 the
 * number. */
static void look(struct file *f, const struct look *l, const uint8_t *head, size_t n, bool first)
{
    uint8_t code[128];
    const uint8_t body[] = {
        0x14, U2(l->table), 0x61, 0x37, 4,                  /*  0 ldc2_w; ladd; lstore 4 */
        0x2a, 0x01, 0x16, 4, 0xb6, U2(l->get),              /*  6 aload_0; aconst_null; lload 4; invokevirtual */
        0x20, 0x94, 0x9a, 0, 38,                            /* 13 lload_2; lcmp; ifne 53 */
        0x2a, 0x01, 0x16, 4, 0x14, U2(l->eight), 0x61,      /* 18 aload_0; aconst_null; lload 4; ldc2_w; ladd */
        0xb6, U2(l->get), 0x1b, 0x85, 0x06, 0x79, 0x61,     /* 26 invokevirtual; iload_1; i2l; iconst_3; lshl; ladd */
        0x37, 4,                                            /* 34 lstore 4 */
        0x2a, 0x01, 0x16, 4, 0x2a, 0x01, 0x16, 4,           /* 36 aload_0; aconst_null; lload 4; the same again */
        0xb6, U2(l->get), 0x0a, 0x61, 0xb6, U2(l->put),     /* 44 invokevirtual; lconst_1; ladd; invokevirtual */
        0xb1,                                               /* 52 return */
        first ? 0x2a : 0x00, 0x1b, 0x20, 0xb8, U2(l->next), /* 53 aload_0, nop; iload_1; lload_2; invokestatic */
        0xb1                                                /* 59 return */
    };
    memcpy(code, head, n);
    memcpy(code + n, body, sizeof body);
    (first ? inlined : method)(f, ACC_STATIC, l->name, l->type, 8, 6, code, n + sizeof body);
}
/* clang-format on */

size_t hpx_tracker_class_counts(uint8_t to[static HPX_TRACKER_CLASS_MAX], const struct hpx_tracker_counts *c)
{
    struct file f;
    char text[HPX_TRACKER_NAME + 8];
    begin(&f, to, HPX_TRACKER_COUNTS);
    may_be_inlined(&f);
    unsigned object = class_of(&f, "java/lang/Object"), unsafe = class_of(&f, c->unsafe), thread = class_of(&f, "java/lang/Thread");
    unsigned current =
        member(&f, METHOD, thread, utf8(&f, c->carriers ? "currentCarrierThread" : "currentThread"), utf8(&f, "()Ljava/lang/Thread;"));
    unsigned get = member(&f, METHOD, unsafe, utf8(&f, "getLong"), utf8(&f, "(Ljava/lang/Object;J)J"));
    unsigned put = member(&f, METHOD, unsafe, utf8(&f, "putLong"), utf8(&f, "(Ljava/lang/Object;JJ)V"));
    unsigned counted = member(&f, METHOD, class_of(&f, HPROFX_BCI_TRACKER), utf8(&f, HPX_TRACKER_COUNTED), utf8(&f, "(IJ)V"));
    unsigned table = wide(&f, c->table), eight = wide(&f, 8), field = wide(&f, c->eetop);
    type_with(text, c->unsafe, "IJ)V");
    unsigned again = utf8(&f, "again"), again_type = utf8(&f, text);
    hpx_tracker_class_counts_type(text, c->unsafe);
    unsigned second = member(&f, METHOD, f.self, again, again_type);
    unsigned mask = wide(&f, HPX_TRACKER_MASK), factor = wide(&f, HPX_TRACKER_FACTOR);
    const struct look first = {utf8(&f, HPX_TRACKER_COUNT), utf8(&f, text), get, put, table, eight, second},
                      other = {again, again_type, get, put, table, eight, counted};
    end_constants(&f, object);
    u2(&f, 0); /* fields */
    u2(&f, 2);
    /* clang-format off */
    const uint8_t find[] = {
        0x2a, 0xb8, U2(current), 0x14, U2(field),            /*  0 aload_0; invokestatic; ldc2_w */
        0xb6, U2(get), 0x5c, 0x41,                           /*  7 invokevirtual; dup2; lstore_2 */
        0x10, HPX_TRACKER_SHIFT, 0x7d, 0x14, U2(mask), 0x7f, /* 12 bipush; lushr; ldc2_w; land */
    };
    const uint8_t find_other[] = {
        0x20, 0x14, U2(factor), 0x69,                        /*  0 lload_2; ldc2_w; lmul */
        0x10, 44, 0x7d, 0x14, U2(mask), 0x7f                 /*  5 bipush; lushr; ldc2_w; land */
    };
    /* clang-format on */
    look(&f, &first, find, sizeof find, true);
    look(&f, &other, find_other, sizeof find_other, false);
    u2(&f, 0); /* attributes */
    return f.n;
}

size_t hpx_tracker_class_registrar(uint8_t to[static HPX_TRACKER_CLASS_MAX], const char *name)
{
    struct file f;
    begin(&f, to, name);
    unsigned object = class_of(&f, "java/lang/Object"), type = utf8(&f, "()V"), run = utf8(&f, HPX_TRACKER_RUN);
    unsigned native = utf8(&f, HPX_TRACKER_REGISTER), call = member(&f, METHOD, f.self, native, type);
    const uint8_t code[] = {0xb8, U2(call), 0xb1}; /* invokestatic; return */
    end_constants(&f, object);
    u2(&f, 0); /* fields */
    u2(&f, 2);
    u2(&f, ACC_PUBLIC | ACC_STATIC | ACC_NATIVE);
    u2(&f, native);
    u2(&f, type);
    u2(&f, 0); /* attributes */
    u2(&f, ACC_STATIC);
    u2(&f, run);
    u2(&f, type);
    u2(&f, 1); /* attribute */
    u2(&f, f.code);
    u4(&f, 12 + sizeof code);
    u2(&f, 0); /* stack */
    u2(&f, 0); /* locals */
    u4(&f, sizeof code);
    bytes(&f, code, sizeof code);
    u2(&f, 0); /* handlers */
    u2(&f, 0); /* attributes of the code */
    u2(&f, 0); /* attributes */
    return f.n;
}

size_t hpx_tracker_class_waits(uint8_t to[static HPX_TRACKER_CLASS_MAX])
{
    struct file f;
    begin(&f, to, HPX_TRACKER_WAITS);
    unsigned object = class_of(&f, "java/lang/Object"), tick = utf8(&f, HPX_TRACKER_TICK), type = utf8(&f, "J");
    unsigned resumed = utf8(&f, HPX_TRACKER_RESUMED), one = utf8(&f, "(J)V");
    unsigned waited = utf8(&f, HPX_TRACKER_WAITED), two = utf8(&f, "(JJ)V");
    unsigned stored = utf8(&f, HPX_TRACKER_STORED), none = utf8(&f, "()V");
    unsigned field = member(&f, FIELD, f.self, tick, type), call = member(&f, METHOD, f.self, waited, two);
    /* clang-format off */
    const uint8_t code[] = {
        0xb2, U2(field),            /*  0 getstatic */
        0x41, 0x1e, 0x20, 0x94,     /*  3 lstore_2; lload_0; lload_2; lcmp */
        0x99, 0, 8,                 /*  7 ifeq 15 */
        0x1e, 0x20, 0xb8, U2(call), /* 10 lload_0; lload_2; invokestatic */
        0xb1                        /* 15 return */
    };
    /* clang-format on */
    end_constants(&f, object);
    u2(&f, 1); /* fields */
    u2(&f, ACC_PUBLIC | ACC_STATIC);
    u2(&f, tick);
    u2(&f, type);
    u2(&f, 0); /* attributes */
    u2(&f, 3);
    method(&f, ACC_PUBLIC | ACC_STATIC, resumed, one, 4, 4, code, sizeof code);
    add_native(&f, waited, two);
    add_native(&f, stored, none);
    u2(&f, 0); /* attributes */
    return f.n;
}

/* Constants of a probe that calls `target`, and of what all such probes use. */
struct probe {
    unsigned name, target, native, entry, link;
};

/* clang-format off */
static void probe(struct file *f, const struct probe *p)
{
    const uint8_t code[] = {
        0xb2, U2(p->entry),        /*  0 getstatic */
        0xc6, 0, 17,               /*  3 ifnull 20 */
        0x14, U2(p->target),       /*  6 ldc2_w */
        0x1a, 0x85,                /*  9 iload_0; i2l */
        0xb2, U2(p->entry),        /* 11 getstatic */
        0xb8, U2(p->link),         /* 14 invokestatic */
        0x99, 0, 7,                /* 17 ifeq 24 */
        0x1a, 0xb8, U2(p->native), /* 20 iload_0; invokestatic */
        0xb1                       /* 24 return */
    };
    method(f, ACC_PUBLIC | ACC_STATIC, p->name, f->int_void, 5, 1, code, sizeof code);
}

/* Passes (long)length << 32 | site. */
static void array_probe(struct file *f, const struct probe *p, unsigned type)
{
    const uint8_t code[] = {
        0xb2, U2(p->entry),     /*  0 getstatic */
        0xc6, 0, 23,            /*  3 ifnull 26 */
        0x14, U2(p->target),    /*  6 ldc2_w */
        0x1a, 0x85, 0x10, 32,   /*  9 iload_0; i2l; bipush 32 */
        0x79, 0x1b, 0x85, 0x81, /* 13 lshl; iload_1; i2l; lor */
        0xb2, U2(p->entry),     /* 17 getstatic */
        0xb8, U2(p->link),      /* 20 invokestatic */
        0x99, 0, 8,             /* 23 ifeq 31 */
        0x1a, 0x1b,             /* 26 iload_0; iload_1 */
        0xb8, U2(p->native),    /* 28 invokestatic */
        0xb1                    /* 31 return */
    };
    method(f, ACC_PUBLIC | ACC_STATIC, p->name, type, 6, 2, code, sizeof code);
}

static void test(struct file *f, unsigned name, unsigned type, unsigned target, unsigned link)
{
    const uint8_t code[] = {
        0x14, U2(target), /* ldc2_w */
        0x1a, 0x85, 0x2b, /* iload_0; i2l; aload_1 */
        0xb8, U2(link),   /* invokestatic */
        0xac              /* ireturn */
    };
    method(f, ACC_STATIC, name, type, 5, 2, code, sizeof code);
}
/* clang-format on */

struct forward {
    unsigned name, type, native;
    bool object, id; /* parameters: an object if `object`, else an int; then an int if `id` */
};

/* A probe without a target: passes its arguments on to the native. */
static void forward(struct file *f, const struct forward *w)
{
    const uint8_t code[] = {
        w->object ? 0x2a : 0x1a, /* aload_0, iload_0 */
        w->id ? 0x1b : 0x00,     /* iload_1, nop */
        0xb8, U2(w->native),     /* invokestatic */
        0xb1                     /* return */
    };
    method(f, ACC_PUBLIC | ACC_STATIC, w->name, w->type, 2, 2, code, sizeof code);
}

size_t hpx_tracker_class_downcalls(uint8_t to[static HPX_TRACKER_CLASS_MAX], const struct hpx_tracker_targets *targets)
{
    struct file f;
    begin(&f, to, HPX_TRACKER_DOWN);
    const uint64_t targets_of[] = {targets->enter, targets->exit, targets->thrown, targets->alloc, targets->array};
    const unsigned names[] = {utf8(&f, "enter"), utf8(&f, "exit"), utf8(&f, "thrown"), utf8(&f, "alloc"), utf8(&f, "array")};
    const unsigned ints_void = utf8(&f, "(II)V"), types[] = {f.int_void, f.int_void, f.int_void, f.int_void, ints_void};
    unsigned object = class_of(&f, "java/lang/Object"), natives = class_of(&f, HPROFX_BCI_TRACKER);
    unsigned handle = class_of(&f, "java/lang/invoke/MethodHandle");
    unsigned entry_name = utf8(&f, HPX_TRACKER_ENTRY), entry_type = utf8(&f, "Ljava/lang/Object;");
    unsigned entry = member(&f, FIELD, f.self, entry_name, entry_type);
    find_stable(&f);
    unsigned link_name = utf8(&f, "linkToNative"), link = member(&f, METHOD, handle, link_name, utf8(&f, "(JJLjava/lang/Object;)I"));
    unsigned test_name = utf8(&f, HPX_TRACKER_TEST), test_type = utf8(&f, "(ILjava/lang/Object;)I"), test_target = wide(&f, targets->test);
    unsigned run = utf8(&f, HPX_TRACKER_CALIBRATE), target[HPX_ARRAY_LEN(names)], native[HPX_ARRAY_LEN(names)], own[HPX_ARRAY_LEN(names)];
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        target[i] = wide(&f, targets_of[i]);
        native[i] = member(&f, METHOD, natives, names[i], types[i]);
        own[i] = member(&f, METHOD, f.self, names[i], types[i]);
    }
    struct forward forwards[] = {{utf8(&f, "multi"), utf8(&f, "(Ljava/lang/Object;I)V"), 0, true, true},
                                 {utf8(&f, "object"), utf8(&f, "(Ljava/lang/Object;)V"), 0, true, false},
                                 {utf8(&f, HPX_TRACKER_COUNT), f.int_void, 0, false, false}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(forwards); i++) {
        forwards[i].native = member(&f, METHOD, natives, forwards[i].name, forwards[i].type);
    }
    end_constants(&f, object);
    u2(&f, 1);
    stable_field(&f, entry_name, entry_type);
    u2(&f, (unsigned)(HPX_ARRAY_LEN(names) + HPX_ARRAY_LEN(forwards)) + 2);
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        const struct probe p = {names[i], target[i], native[i], entry, link};
        if (targets_of[i] == 0) {
            forward(&f, &(struct forward){names[i], types[i], native[i], false, types[i] == ints_void});
        } else if (types[i] == ints_void) {
            array_probe(&f, &p, ints_void);
        } else {
            probe(&f, &p);
        }
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(forwards); i++) {
        forward(&f, &forwards[i]);
    }
    test(&f, test_name, test_type, test_target, link);
    calibrate(&f, run, own[0], own[1]);
    u2(&f, 0); /* attributes */
    return f.n;
}
