/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_bci.h: a Java class file in, the same class with calls at the entry and at every exit of its methods out. No JVM, no global state.
 *
 * What a rewritten method looks like:
 *     push NUMBER; invokestatic TRACKER.enter     once, at bci 0; no branch leads back to it
 *     ... push NUMBER; invokestatic TRACKER.exit  before each return instruction; branches to the return lead to the push
 *     push NUMBER; invokestatic TRACKER.thrown; athrow    the last code, the handler of the last entries of the exception table
 * The handler covers everything behind the entry call but each exit call with its return: an exception that leaves there (an asynchronous
 * one, behind the call) is not followed by `thrown`, so that no exit is said twice. A method of nothing but returns has no handler. In a
 * constructor it covers what surely follows super(...) or this(...) only: before that an exception leaves without an exit call.
 *
 * Anything that cannot be done within the format's limits, and anything that is not known, leaves the one method alone, byte for byte; the
 * reason is counted. What a JVM ignores (a StackMapTable below version 50, a StackMap attribute) is copied as it is.
 *
 * The input is not trusted: no read outside it, whatever it holds. Re-entrant; any thread; it allocates (malloc), so not in a signal
 * handler. Bounds: at most HPROFX_BCI_STEPS steps an input byte (a method that would need more is left alone), an output of at most
 * HPROFX_BCI_GROWTH times the input (likewise), and a working memory below 40 bytes an input byte, all freed before the return. */
#ifndef HPROFX_BCI_H
#define HPROFX_BCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HPROFX_BCI_TRACKER "hprofx/Tracker" /* the class that is called if the options name none */
#define HPROFX_BCI_STEPS   200
#define HPROFX_BCI_GROWTH  16
#define HPROFX_BCI_NEWEST  72 /* major version of the newest class files that were read when this was written: JDK 28 */

/* Why a method with code was left alone. */
#define HPROFX_BCI_LEFT(X)                                                                                                                 \
    X(UNWANTED, "not wanted by the filter")                                                                                                \
    X(SHORT, "shorter than the shortest to be instrumented")                                                                               \
    X(FINALIZER, "an empty finalizer: with calls in it every object of the class and its subclasses would be finalized")                   \
    X(CODE_FULL, "code would be longer than 65535 bytes")                                                                                  \
    X(POOL_FULL, "no room in the constant pool")                                                                                           \
    X(STACK_FULL, "max_stack would be above 65535")                                                                                        \
    X(BRANCH, "a branch that became too long cannot be widened")                                                                           \
    X(ATTRIBUTE, "an unknown attribute in Code")                                                                                           \
    X(FRAME, "an unknown stack map frame")                                                                                                 \
    X(OPCODE, "an unknown opcode")                                                                                                         \
    X(MALFORMED, "malformed code")                                                                                                         \
    X(LIMIT, "more steps or output than the rewriter allows itself")

/* Why a rewritten method got no handler: its exits by exception are not reported. */
#define HPROFX_BCI_BARE(X)                                                                                                                 \
    X(TABLE_FULL, "the exception table is full")                                                                                           \
    X(ROOT, "the constructor of java.lang.Object: the second compiler of HotSpot 17 crashes on a handler there")                           \
    X(CONSTRUCTOR, "no point surely follows super(...) or this(...)")

#define HPROFX_BCI_LEFT_ENUM(name, text) HPROFX_BCI_LEFT_##name,
#define HPROFX_BCI_BARE_ENUM(name, text) HPROFX_BCI_BARE_##name,
enum hprofx_bci_left { HPROFX_BCI_LEFT(HPROFX_BCI_LEFT_ENUM) HPROFX_BCI_LEFT_COUNT };
enum hprofx_bci_bare { HPROFX_BCI_BARE(HPROFX_BCI_BARE_ENUM) HPROFX_BCI_BARE_COUNT };

/* The texts above; static. "" for what is none of the enum. */
const char *hprofx_bci_left_text(enum hprofx_bci_left left);
const char *hprofx_bci_bare_text(enum hprofx_bci_bare bare);

/* len bytes of the class file's modified UTF-8, not ended by 0; inside the caller's input, good as long as that is. */
struct hprofx_bci_name {
    const char *at; /* NULL with len 0: absent */
    uint16_t len;
};

/* A method with code, as the class file has it before the rewriting. */
struct hprofx_bci_method {
    uint32_t number;                   /* that its calls pass; 0 in `want`, where it has none yet */
    uint32_t index;                    /* position among the class's methods, from 0 */
    struct hprofx_bci_name name, desc; /* "fib", "(I)I" */
    struct hprofx_bci_name class_name; /* internal form, "p/C"; a hidden class has the name that its bytes say */
    struct hprofx_bci_name source;     /* SourceFile; absent in `want`, and where the class has none */
    uint16_t access;                   /* access_flags */
    uint16_t first_line;               /* smallest line of the LineNumberTables; 0: none. 0 in `want` */
    uint16_t code_length, new_length;  /* bytes of byte code; new_length 0 in `want` */
    bool bare;                         /* no handler where there should be one: exits by exception are not reported */
};

struct hprofx_bci_call {
    const char *name; /* of a static void method of the tracker, UTF-8; NULL: "enter", "exit", "thrown" */
    bool plain;       /* false: (I)V, it takes the method's number; true: ()V */
};

/* What happened; filled for every return value as far as the rewriter came, zeroed first. Counts are methods. */
struct hprofx_bci_result {
    uint16_t major, minor;
    uint16_t access;                   /* of the class */
    struct hprofx_bci_name class_name; /* this_class; absent if the class could not be read so far */
    uint32_t methods;                  /* all */
    uint32_t with_code;                /* rewritten + sum of left */
    uint32_t rewritten;                /* numbers first .. first + rewritten - 1 */
    uint32_t first;
    uint32_t left[HPROFX_BCI_LEFT_COUNT];
    uint32_t bare[HPROFX_BCI_BARE_COUNT]; /* among the rewritten */
    uint32_t whole;   /* among the rewritten: the handler covers the exit calls too, else the exception table would be too long */
    uint32_t widened; /* branches */
    uint32_t huge;    /* rewritten methods that grew from <= 8000 to > 8000 bytes: HotSpot does not compile those */
    uint64_t steps;   /* instructions, table entries, map cells visited */
};

/* Zeroed, it is a valid set of defaults. Read only; strings and ctx stay the caller's. */
struct hprofx_bci_opts {
    const char
        *tracker; /* internal name of the class that is called, UTF-8 without 0 bytes, at most 65535 bytes; NULL: HPROFX_BCI_TRACKER */
    struct hprofx_bci_call enter, exit, thrown;
    bool no_handler; /* entry and exit calls only */
    uint32_t min;    /* methods of fewer bytes of code are left alone */
    uint32_t
        first; /* number of the first method that is rewritten; the next gets the next. At most INT32_MAX with all methods of the class */
    /* Instead of `first`, if not NULL: called once, before anything is written, with the number of methods that have code: returns the
     * first of as many numbers, to be given out in ascending order; those that are not used are the caller's loss. */
    uint32_t (*number)(void *ctx, uint32_t methods);
    /* NULL: every method is wanted. Called in the order of the class file. */
    bool (*want)(void *ctx, const struct hprofx_bci_method *m);
    /* Called for each rewritten method, ascending numbers, when the output is complete and 0 will be returned; NULL: not told. */
    void (*method)(void *ctx, const struct hprofx_bci_method *m);
    void *ctx;
    struct hprofx_bci_result *result; /* the caller's; NULL: not wanted */
};

/* 0: *out is the rewritten class, malloc'ed, the caller's to free; *m its length.
 * 1: the class is valid as far as it was read, and nothing was injected: the caller uses the input.
 * 2: malformed, or no memory.
 * For 1 and 2 *out is NULL, *m 0 and *why a static text; for 0 *why is NULL. None of the pointers may be NULL but `in` with n == 0. */
int hprofx_bci_rewrite(const struct hprofx_bci_opts *opts, const uint8_t *in, size_t n, uint8_t **out, size_t *m, const char **why);

#endif
