/* SPDX-License-Identifier: BSD-2-Clause */
/* symbols.h: what all tables of the model name things by: strings, classes, methods, stacks, and their printed forms.
 *
 * A stack is a raw trace: (method, bci) frames under a hash. Its printed form - (class name, method name, source, line) - is created at
 * the first snapshot that shows it, when names and lines are known; raw traces that print alike then have one symbolized trace.
 *
 * Names of classes prepared while the program runs come with HPX_MSG_CLASS (`named`), when the class is certainly alive. Names of
 * earlier classes, and lines if wanted, are requested when first sampled. If a class is unloaded before the answer, its methods show as
 * a pseudo frame (names) or "Unknown line" (lines) and are counted. Unloaded classes are removed except for their sampled methods
 * (symbols_sweep.c). An unanswered request is missing only in this snapshot; after the answer its trace gets another serial.
 *
 * Owner: the aggregator; it calls everything here. Never enters the JVM: jmethodIDs and class references are numbers that it passes back to
 * the service thread in requests (model_msg.h). */
#ifndef HPX_SYMBOLS_H
#define HPX_SYMBOLS_H

#include "event.h"
#include "model_msg.h"
#include "symbolized_table.h"

struct hpx_symbols_config {
    bool thread_in_traces; /* thread=y: traces of different threads are different */
    bool lines;            /* lineno=y */
    bool signatures;       /* overloads are different methods (binary); in text they print alike and are merged */
    bool class_numbers;    /* heap dump: the serial of a class is HPX_SERIAL_CLASS and its number, which the agent gives */
    void *ctx;
    void (*request)(void *ctx, struct hpx_msg *r);                                  /* as in model.h */
    bool (*class_event)(void *ctx, const struct hpx_class_rec *rec, bool unloaded); /* as in model.h */
    struct hpx_counters *counters;                                                  /* losses for lack of memory, methods without names */
};

struct hpx_symbols;
struct hpx_symbols *hpx_symbols_create(const struct hpx_symbols_config *cfg); /* NULL without memory */
void hpx_symbols_destroy(struct hpx_symbols *s);
/* Applies and frees a message about classes and methods; false: another one, untouched. */
bool hpx_symbols_message(struct hpx_symbols *s, struct hpx_msg *msg);
/* Announces every live class again, for a new output. false: some are missing. */
bool hpx_symbols_replay(struct hpx_symbols *s);
/* After every pass: removes unloaded classes. true: start another pass at once. */
bool hpx_symbols_pass_end(struct hpx_symbols *s);

/* Calls fn for the weak reference of every class, and asks about none any more. The aggregator has stopped. */
void hpx_symbols_forget_refs(struct hpx_symbols *s, void (*fn)(void *ctx, uint64_t ref), void *ctx);
/* With cfg.class_event: starts one check for unloaded classes, however few classes there are. hpx_symbols_unresolved() is above 0 until it
 * is done. */
void hpx_symbols_look_for_unloaded(struct hpx_symbols *s);
/* Requests sent and not yet answered. 0: a snapshot will be complete. */
uint32_t hpx_symbols_unresolved(const struct hpx_symbols *s);
/* Gives up on these requests: counts their names as lost. A late answer still serves later snapshots. */
void hpx_symbols_give_up(struct hpx_symbols *s);
/* Classes that are not known to be unloaded. */
uint32_t hpx_symbols_classes(const struct hpx_symbols *s);
/* Bytes that grow only with the distinct stacks (traces, their methods, names and lines); all bytes. */
size_t hpx_symbols_trace_bytes(const struct hpx_symbols *s);
size_t hpx_symbols_bytes(const struct hpx_symbols *s);

/* ---- texts ---- */

/* The class of frames that stand for no method, and of objects whose class is unknown. */
#define HPX_SYMBOLS_UNKNOWN ((struct hpx_text){"hprofx.unknown", 14})

/* The next zero-terminated text of a message; empty at the end. */
struct hpx_text hpx_next_text(const char **at, const char *end);
/* Scratch memory of n bytes, valid until the next call; NULL without memory. Making a stack uses it, naming a class does not. */
void *hpx_symbols_scratch(struct hpx_symbols *s, size_t n);
/* The number of a string; 0: it is empty, or there is no memory. */
uint32_t hpx_symbols_string(struct hpx_symbols *s, struct hpx_text text);
/* The string of a number, valid as long as the symbols. */
struct hpx_text hpx_symbols_text(const struct hpx_symbols *s, uint32_t string);
/* The number of the class's name in Java form; 0 without memory. */
uint32_t hpx_symbols_class_name(struct hpx_symbols *s, struct hpx_text signature);

/* ---- classes of rows ---- */

/* true: with cfg.class_event, classes are announced and have serials. */
bool hpx_symbols_announces(const struct hpx_symbols *s);
/* A serial that no class has. 0: the output announces no classes. */
struct hpx_class_serial hpx_symbols_new_serial(struct hpx_symbols *s);
/* The serial of hprofx.unknown; 0 likewise. */
struct hpx_class_serial hpx_symbols_unknown_class(const struct hpx_symbols *s);
/* The serial of a class that rows name from now on. method: one that the class declares; 0: it declares none. number: its own, with
 * cfg.class_numbers. */
struct hpx_class_serial hpx_symbols_listed_class(struct hpx_symbols *s, uint64_t method, struct hpx_class_number number);

/* ---- raw traces ---- */

/* Serial of t, as announced; of the unknown thread if t was not. */
static inline uint32_t hpx_serial_of(const struct hpx_thread *t)
{
    return t->serial ? t->serial : HPX_SERIAL_THREAD;
}
/* The thread in traces of the thread with this serial: 0 without thread=y. */
uint32_t hpx_symbols_thread(const struct hpx_symbols *s, uint32_t serial);
/* The number of the raw trace of these frames, whose hash is `hash`; requests names of new methods. HPX_INTERN_NONE without memory. */
uint32_t hpx_symbols_stack(struct hpx_symbols *s, const struct hpx_ev_hash *hash, const struct hpx_ev_frame *frames, uint32_t nframes,
                           uint32_t thread);
/* The raw trace of one frame that tells why there is no stack, of a thread (0: any); HPX_INTERN_NONE without memory. */
uint32_t hpx_symbols_no_stack(struct hpx_symbols *s, enum hpx_unknown why, uint32_t thread);
/* The same with the frame hprofx.stalled. */
uint32_t hpx_symbols_stalled(struct hpx_symbols *s, uint32_t thread);
/* The raw trace is such a frame, and stands for Java code. */
bool hpx_symbols_is_unknown(const struct hpx_symbols *s, uint32_t raw);

/* ---- printed forms ---- */

/* *to: the number of the symbolized trace of a raw one, another one later if names were missing. false without memory. */
bool hpx_symbols_print(struct hpx_symbols *s, uint32_t raw, uint32_t *to);
/* enum hpx_nameless + 1 of a method of a raw trace that was printed; 0: all have names, or there is no stack. */
uint32_t hpx_symbols_lacks_name(const struct hpx_symbols *s, uint32_t raw);
/* The number of raw traces so far. */
uint32_t hpx_symbols_raws(const struct hpx_symbols *s);
/* A symbolized trace; that of a raw trace that was printed. */
struct hpx_symbolized_trace *hpx_symbols_at(const struct hpx_symbols *s, uint32_t symbolized);
struct hpx_symbolized_trace *hpx_symbols_of_raw(const struct hpx_symbols *s, uint32_t raw);
static inline const struct hpx_trace_rec *hpx_symbols_rec(const struct hpx_symbols *s, uint32_t symbolized)
{
    return hpx_symbols_at(s, symbolized)->rec;
}
/* The record of a symbolized method. */
const struct hpx_method_rec *hpx_symbols_method_rec(const struct hpx_symbols *s, uint32_t method);
/* The symbolized method hprofx.unknown.NAME; that of a method without a name. HPX_INTERN_NONE without memory. */
uint32_t hpx_symbols_pseudo(struct hpx_symbols *s, const char *name);
uint32_t hpx_symbols_nameless(const struct hpx_symbols *s);
/* The symbolized method of the class with this serial. class_name, source: strings of the class. signature: empty, or part of the name.
 * HPX_INTERN_NONE without memory. */
uint32_t hpx_symbols_method(struct hpx_symbols *s, struct hpx_class_serial serial, uint32_t class_name, uint32_t source,
                            struct hpx_text name, struct hpx_text signature);
/* The symbolized trace of this thread (0: any) and these frames. HPX_INTERN_NONE without memory. */
uint32_t hpx_symbols_trace(struct hpx_symbols *s, uint32_t thread, const struct hpx_symbolized_frame *frames, uint32_t nframes);
/* The same for one frame. line: 0: unknown. */
uint32_t hpx_symbols_place(struct hpx_symbols *s, struct hpx_class_serial serial, uint32_t class_name, uint32_t source,
                           struct hpx_text name, struct hpx_text signature, uint16_t line);

/* A frame of a stack whose names are known. Texts as JVMTI gives them; class_number: with cfg.class_numbers. */
struct hpx_named_frame {
    const char *class_signature, *name, *signature, *source; /* signature, source: NULL: none */
    struct hpx_class_number class_number;
    int32_t line; /* as in struct hpx_frame_rec */
};
/* The trace of these frames, leaf first; at most HPX_TRACE_FRAMES. NULL without memory. */
#define HPX_TRACE_FRAMES 2048u
const struct hpx_trace_rec *hpx_symbols_named_trace(struct hpx_symbols *s, const struct hpx_named_frame *frames, uint32_t n);

#endif
