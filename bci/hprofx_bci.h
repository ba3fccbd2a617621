/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_bci.h: takes a Java class file and returns the same class with calls of a tracker class. No JVM, no global state.
 *
 * One pass injects up to four kinds of probe; `want` chooses the kinds of every method.
 *
 * HPROFX_BCI_CALLS: where a method is entered and left.
 *     push NUMBER; invokestatic TRACKER.enter             once, at bci 0; no branch leads back to it
 *     aload_0; push NUMBER; invokestatic TRACKER.SELF     instead, with hprofx_bci_opts.self, in a method that has an object
 *     ... push NUMBER; invokestatic TRACKER.exit          before every return instruction; branches to the return lead to the push
 *     getstatic TRACKER.KEPT; lstore N                    instead, with hprofx_bci_opts.kept, and before a return:
 *     lload N; invokestatic TRACKER.exit(J)V
 *     push NUMBER; invokestatic TRACKER.thrown; athrow    the last code: the handler of the last entries of the exception table
 * The handler covers everything after the entry call except every exit call with its return: an asynchronous exception there is not
 * followed by `thrown`, so no exit is reported twice. If the exception table would grow too long, the handler covers the exit calls too
 * (hprofx_bci_result.whole). A method that consists only of returns has no handler; neither has the constructor of java.lang.Object. In any
 * other constructor the handler covers only code that surely follows super(...) or this(...): an exception before that leaves without an
 * exit call.
 *
 * HPROFX_BCI_SITES: where a method allocates; every instruction has an id.
 *     new; push ID; invokestatic TRACKER.alloc(I)V
 *     newarray, anewarray; dup; arraylength; push ID; invokestatic TRACKER.array(II)V
 *     multianewarray; dup; push ID; invokestatic TRACKER.multi(Ljava/lang/Object;I)V
 *     a call of a maker; dup; push ID; invokestatic TRACKER.multi(Ljava/lang/Object;I)V
 * The object of `new` is not initialized yet, so it is not passed. This probe also appears before super(...).
 *
 * A maker (makers.c) returns an object that it has made without an instruction that has a probe: Object.clone(), Array.newInstance, and
 * some that the JDK calls. Its own code has no SITES and OBJECTS.
 *
 * HPROFX_BCI_OBJECTS: passes the objects themselves.
 *     newarray, anewarray, a call of a maker that runs no constructor; dup; invokestatic TRACKER.object
 *     multianewarray, a call of a maker of arrays in arrays; dup; iconst_0; invokestatic TRACKER.multi(Ljava/lang/Object;I)V
 *     aload_0; invokestatic TRACKER.object; return    in the constructor of java.lang.Object, which every object except arrays runs
 * TRACKER.object has the type (Ljava/lang/Object;)V.
 *
 * HPROFX_BCI_STORES: where a method stores to an object's field of the name hprofx_bci_opts.stores, whatever the class and the type.
 *     putfield; invokestatic TRACKER.stored()V
 *
 * A probe after an instruction belongs to that instruction. The exception table and the variable tables cover both or neither, and a branch
 * to the next instruction skips the probe. The probe of SITES precedes that of OBJECTS; before a return, `object` precedes `exit`.
 *
 * A method stays unchanged, byte for byte and without any probe, if its rewriting would exceed a limit of the format or meets something
 * unknown. The reason is counted. Parts that a JVM ignores (a StackMapTable below version 50, a StackMap attribute) are copied unchanged.
 *
 * The input is not trusted: the rewriter never reads outside it. Any thread, concurrently; not in a signal handler, because it calls
 * malloc. Bounds: at most HPROFX_BCI_STEPS steps per input byte and an output of at most HPROFX_BCI_GROWTH times the input (a method that
 * needs more stays unchanged), and working memory below 40 bytes per input byte and 16 per site, all freed before the return. */
#ifndef HPROFX_BCI_H
#define HPROFX_BCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HPROFX_BCI_TRACKER "java/lang/HprofxTracker" /* default of hprofx_bci_opts.tracker */
#define HPROFX_BCI_STEPS   200
#define HPROFX_BCI_GROWTH  16
#define HPROFX_BCI_NEWEST  72 /* major version of the newest class files read so far: JDK 28 */

enum { HPROFX_BCI_CALLS = 1, HPROFX_BCI_SITES = 2, HPROFX_BCI_OBJECTS = 4, HPROFX_BCI_STORES = 8 }; /* kinds of probe, combined as bits */

/* Why a method with code stayed unchanged. NOTHING: CALLS was not wanted, and none of its instructions gets a probe. */
#define HPROFX_BCI_LEFT(X)                                                                                                                 \
    X(UNWANTED, "not wanted by the filter")                                                                                                \
    X(NOTHING, "nothing in it gets a probe")                                                                                               \
    X(SHORT, "shorter than the shortest to be instrumented")                                                                               \
    X(FINALIZER, "an empty finalizer: with calls in it every object of the class and its subclasses would be finalized")                   \
    X(ACCESSOR, "Reference.get of JDK 8, whose code the interpreter reads as that of an accessor")                                         \
    X(CODE_FULL, "code would be longer than 65535 bytes")                                                                                  \
    X(POOL_FULL, "no room in the constant pool")                                                                                           \
    X(IDS, "no site ids are left")                                                                                                         \
    X(STACK_FULL, "max_stack would be above 65535")                                                                                        \
    X(BRANCH, "a branch that became too long cannot be widened")                                                                           \
    X(ATTRIBUTE, "an unknown attribute in Code")                                                                                           \
    X(FRAME, "an unknown stack map frame")                                                                                                 \
    X(OPCODE, "an unknown opcode")                                                                                                         \
    X(MALFORMED, "malformed code")                                                                                                         \
    X(LIMIT, "more steps or output than the rewriter allows itself")

/* Why a method with CALLS has no handler: its exits by exception are not reported. */
#define HPROFX_BCI_BARE(X)                                                                                                                 \
    X(TABLE_FULL, "the exception table is full")                                                                                           \
    X(ROOT, "the constructor of java.lang.Object: the second compiler of HotSpot 17 crashes on a handler there")                           \
    X(CONSTRUCTOR, "no point surely follows super(...) or this(...)")

#define HPROFX_BCI_LEFT_ENUM(name, text) HPROFX_BCI_LEFT_##name,
#define HPROFX_BCI_BARE_ENUM(name, text) HPROFX_BCI_BARE_##name,
enum hprofx_bci_left { HPROFX_BCI_LEFT(HPROFX_BCI_LEFT_ENUM) HPROFX_BCI_LEFT_COUNT };
enum hprofx_bci_bare { HPROFX_BCI_BARE(HPROFX_BCI_BARE_ENUM) HPROFX_BCI_BARE_COUNT };

/* The texts above: static; "" for a value outside the enum. */
const char *hprofx_bci_left_text(enum hprofx_bci_left left);
const char *hprofx_bci_bare_text(enum hprofx_bci_bare bare);

/* len bytes of modified UTF-8, not terminated by 0. Points into the caller's input and is valid as long as that. */
struct hprofx_bci_name {
    const char *at; /* NULL with len 0: absent */
    uint16_t len;
};

/* A method with code, as the class file has it before the rewriting. */
struct hprofx_bci_method {
    uint32_t number;                   /* number that its probes pass; 0 in `want` and without CALLS */
    uint32_t index;                    /* position among the class's methods, from 0 */
    struct hprofx_bci_name name, desc; /* "fib", "(I)I" */
    struct hprofx_bci_name class_name; /* internal form, "p/C"; for a hidden class, the name in its bytes */
    struct hprofx_bci_name source;     /* SourceFile; absent in `want`, and if the class has none */
    unsigned probes;                   /* kinds that it got; in `want`: kinds that it can get */
    uint16_t access;                   /* access_flags */
    uint16_t first_line;               /* smallest line of the LineNumberTables; 0: none. 0 in `want` */
    uint16_t code_length, new_length;  /* bytes of bytecode; new_length is 0 in `want` */
    bool direct;                       /* a constructor that surely runs no other method before it calls super(...) or this(...); with
                                        * hprofx_bci_opts.self alone */
    bool intrinsic; /* its annotation permits HotSpot to run its own code instead, without probes (JDK 9 and later; it does
                     * so for classes of the JDK alone) */
    bool bare;      /* it should have a handler and has none: exits by exception are not reported */
};

/* An instruction with a probe of SITES. */
struct hprofx_bci_site {
    uint32_t id;
    uint16_t bci;   /* in the class file before the rewriting */
    uint16_t line;  /* 0: unknown */
    uint8_t opcode; /* 187 new, 188 newarray, 189 anewarray, 197 multianewarray; of a call of a maker: 182 invokevirtual, 183
                     * invokespecial, 184 invokestatic */
    bool arrays;    /* a maker of arrays in arrays */
    bool cloned;    /* Object.clone(), where an override may have run in its place */
    struct hprofx_bci_name operand; /* new: "p/C"; newarray, anewarray: the element, "I", "p/C", "[I"; multianewarray: the array, "[[I".
                                     * newarray's is static text. Absent if the operand names no class, and for a maker */
    const struct hprofx_bci_method *method; /* as passed to `method`; valid during the call */
};

struct hprofx_bci_call {
    const char *name; /* name of a static void method of the tracker, UTF-8; NULL: "enter", "exit", "thrown" */
    bool plain;       /* false: (I)V with the method's number; true: ()V */
};

/* Zeroed first, then filled as far as the rewriter got, for every return value. Unless noted, counts are methods. */
struct hprofx_bci_result {
    uint16_t major, minor;
    uint16_t access;                   /* of the class */
    struct hprofx_bci_name class_name; /* this_class; absent if reading failed before it */
    uint32_t methods;                  /* all */
    uint32_t with_code;                /* rewritten + sum of left */
    uint32_t rewritten;                /* with probes of any kind */
    uint32_t numbered;                 /* with CALLS; their numbers are first .. first + numbered - 1 */
    uint32_t first;
    uint32_t sites, objects; /* number of probes of SITES and of OBJECTS */
    uint32_t left[HPROFX_BCI_LEFT_COUNT];
    uint32_t bare[HPROFX_BCI_BARE_COUNT]; /* among the numbered */
    uint32_t whole;   /* among the numbered: the handler also covers the exit calls, because the exception table would grow too long */
    uint32_t widened; /* number of branches that became wide */
    uint32_t huge;    /* rewritten methods that grew from <= 8000 to > 8000 bytes: HotSpot does not compile those */
    uint64_t steps;   /* instructions, table entries, map cells visited */
};

/* Options. Zeroed memory is a valid set of defaults. Read only; strings and ctx stay the caller's. */
struct hprofx_bci_opts {
    const char *tracker; /* internal name of the tracker, UTF-8 without 0 bytes, at most 65535 bytes; NULL: HPROFX_BCI_TRACKER */
    struct hprofx_bci_call enter, exit, thrown;
    /* Name of a static method (Ljava/lang/Object;I)V, UTF-8, which methods call with their object and number instead of `enter`; but not
     * static methods, nor constructors but that of java.lang.Object: their object may not be passed yet. NULL: all call `enter`. */
    const char *self;
    /* Name of a static long field, UTF-8: a method keeps its value at the entry in a local variable of its own and passes that to `exit`;
     * it calls nothing at the entry, and its number appears nowhere. With no_handler alone. A method with a stack map frame before a return
     * stays unchanged, because the frame would have to name the variable. NULL: methods call `enter`. */
    const char *kept;
    const char *stores;  /* name of a field, UTF-8, for STORES; NULL: none has these probes */
    bool no_handler;     /* entry and exit calls only */
    bool no_exit;        /* entry calls only */
    uint32_t most;       /* a higher number is passed as this one; 0: none is */
    unsigned probes;     /* kinds that methods of the class may get; 0: HPROFX_BCI_CALLS */
    uint32_t min;        /* methods with fewer bytes of code get no CALLS */
    uint32_t first;      /* number of the first method with CALLS, ascending. At most INT32_MAX including all methods of the class */
    uint32_t first_site; /* id of the first site, ascending. At most INT32_MAX including all sites of the class */
    /* Replaces `first` if not NULL. Called once with the number of methods that have code, before anything is written. Returns the first of
     * that many numbers; methods get them in ascending order, and unused ones are lost. Not called without CALLS. */
    uint32_t (*number)(void *ctx, uint32_t methods);
    /* Replaces `first_site` if not NULL. Called for every method that has sites, with their number. Returns the first of that many ids,
     * given out in the order of the code; UINT32_MAX: none left. The ids of a method or class that stays unchanged are lost. */
    uint32_t (*sites)(void *ctx, uint32_t n);
    /* Returns the wanted kinds of those in m->probes; others are ignored. NULL: all. Called in the order of the class file. */
    unsigned (*want)(void *ctx, const struct hprofx_bci_method *m);
    /* Called when the output is complete and 0 will be returned; NULL: not called. First `method` for every method with CALLS, by ascending
     * number, then `site` for every site, in the order of the class file. */
    void (*method)(void *ctx, const struct hprofx_bci_method *m);
    void (*site)(void *ctx, const struct hprofx_bci_site *s);
    void *ctx;
    struct hprofx_bci_result *result; /* the caller's; NULL: no result */
};

/* Rewrites the class file of n bytes at `in`.
 * 0: *out is the rewritten class of *m bytes, allocated with malloc; the caller frees it. *why is NULL.
 * 1: nothing was injected, and the class is valid as far as it was read: the caller uses the input.
 * 2: malformed, or no memory.
 * For 1 and 2 *out is NULL, *m is 0 and *why is static text. No pointer may be NULL, except `in` with n == 0. */
int hprofx_bci_rewrite(const struct hprofx_bci_opts *opts, const uint8_t *in, size_t n, uint8_t **out, size_t *m, const char **why);

#endif
