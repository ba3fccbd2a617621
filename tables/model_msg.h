/* SPDX-License-Identifier: BSD-2-Clause */
/* model_msg.h: the messages of the model: what other threads tell it, and what it asks the service thread. The tables keep messages as they
 * came.
 *
 * Constructors: any thread, not in signal handlers. */
#ifndef HPX_MODEL_MSG_H
#define HPX_MODEL_MSG_H

#include "class_ids.h"
#include "lane.h"
#include "thread.h"

/* Messages of the control lane that the model applies, and those that it sends to the service thread. HPX_MSG_OTHER and above are for
 * other modules. */
enum hpx_model_msg {
    HPX_MSG_CLASS = 1,
    HPX_MSG_RESOLVED,
    HPX_MSG_SWEPT,
    HPX_MSG_THREAD_START,
    HPX_MSG_THREAD_END,
    HPX_MSG_THREAD_NAME,
    HPX_MSG_METHODS,
    HPX_MSG_SITE_CLASS, /* those of site_table.h */
    HPX_MSG_SITES,
    HPX_MSG_SITE_SIZE,
    HPX_MSG_BLOCK_CLASS, /* block_table.h */
    HPX_MSG_WALL_CLASS,  /* wall_table.h */
    HPX_MSG_RESOLVE = 32,
    HPX_MSG_SWEEP,
    HPX_MSG_DROP,
    HPX_MSG_LOOK,
    HPX_MSG_OTHER = 64
};

/* A class and its methods. `text`: when named: signature 0, source file 0 (empty: none), then for each method name 0 and signature 0 (empty
 * when not requested); names of methods after its end are requested when they are sampled. All modified UTF-8, as JVMTI gives it. */
struct hpx_msg_class {
    struct hpx_msg m;
    uint64_t ref;                   /* a weak reference of this message; HPX_MSG_DROP deletes it when the class is unloaded; 0: none */
    struct hpx_class_number number; /* with cfg.class_numbers; 0: none could be given */
    uint32_t nmethods;
    bool named;
    bool looked_for; /* found by HPX_MSG_LOOK: its own announcement may have come meanwhile */
    uint32_t text_len;
    char *text;     /* inside the message */
    uint64_t ids[]; /* nmethods jmethodIDs; the text lies behind them */
};
/* NULL without memory. Any thread; not in signal handlers. The caller fills ids and text_len bytes of text. */
struct hpx_msg_class *hpx_msg_class_new(uint32_t nmethods, uint32_t text_len);

/* To the service thread: samples have methods of no class that was announced: look for these. `known`, by ascending id: the first method of
 * every live class that was, and its reference, which is valid until messages behind this one are served. Posted back when all classes that
 * were found are posted, with `found` and `ns`. */
struct hpx_msg_look {
    struct hpx_msg m;
    uint32_t found;
    uint64_t ns; /* that it took */
    uint32_t n;
    struct hpx_known_class {
        uint64_t id, ref;
    } known[];
};

/* HPX_MSG_BLOCK_CLASS, HPX_MSG_WALL_CLASS: the class of monitors or blockers with this number, as that table has it. Posted before a record
 * that has the number. */
struct hpx_msg_row_class {
    struct hpx_msg m;
    uint32_t number, len;
    char signature[];
};
struct hpx_msg_row_class *hpx_msg_row_class_new(uint32_t kind, uint32_t number, const char *signature);

struct hpx_line {
    uint16_t bci, line; /* both are u2 in the class file */
};

/* To the service thread: asks for the names and lines of a method, if its class is still alive. Posted back on the control lane it is its
 * own answer: the class is unloaded, or there is no memory for HPX_MSG_RESOLVED. The method stays without what was asked for. */
struct hpx_msg_resolve {
    struct hpx_msg m;
    uint32_t method; /* the model's number, returned in the answer */
    bool want_name, want_lines;
    uint64_t ref, id; /* the class's weak reference and the jmethodID; of a function of C: 0 and hpx_ev_is_c() */
};

/* The answer, on the control lane. text: signature 0 source 0 name 0 signature 0 (as in HPX_MSG_CLASS); empty if the name was not asked
 * for. Of a function of C: library 0 name 0. */
struct hpx_msg_resolved {
    struct hpx_msg m;
    uint32_t method;
    bool native;
    bool named;
    uint32_t nlines, text_len;
    char *text;
    struct hpx_line lines[]; /* ascending bci; 0 of them: native or no debug information; text behind them */
};
struct hpx_msg_resolved *hpx_msg_resolved_new(uint32_t nlines, uint32_t text_len);
/* Sorts the lines by bci, stably. false without memory. */
bool hpx_msg_resolved_sort(struct hpx_msg_resolved *m);

/* To the service thread: HPX_MSG_SWEEP: set `gone` where the class is unloaded, which must not keep it alive, and post the message
 * itself on the control lane as HPX_MSG_SWEPT. HPX_MSG_DROP: delete these references, which no request uses any more, and free the
 * message. */
struct hpx_msg_sweep {
    struct hpx_msg m;
    uint32_t n;
    struct hpx_class_ref {
        uint64_t ref;
        struct hpx_class_index klass;
        bool gone;
    } of[];
};

#define HPX_THREAD_STATES 8u

/* A thread started. Posted before its states, which are clear, are pushed to the registry (hpx_registry_push()), so before any of its
 * events. text: name 0 group 0 parent group 0. */
struct hpx_msg_thread_start {
    struct hpx_msg m;
    uint32_t nthreads;                             /* 0: not sampled, only announced */
    struct hpx_thread *threads[HPX_THREAD_STATES]; /* states of this Java thread, one per mode */
    uint64_t key;                                  /* names the thread in THREAD_END; unique among live threads */
    uint32_t serial;                               /* unique, above HPX_SERIAL_THREAD; 0: the model gives one */
    uint32_t text_len;
    char text[];
};
struct hpx_msg_thread_start *hpx_msg_thread_start_new(uint32_t text_len);
struct hpx_msg_thread_end {
    struct hpx_msg m;
    uint64_t key;
};

/* A live thread has another name. Posted behind its start. */
struct hpx_msg_thread_name {
    struct hpx_msg m;
    uint64_t key;    /* as of its start */
    uint32_t serial; /* the key may be another thread's by now */
    uint32_t text_len;
    char text[];
};
struct hpx_msg_thread_name *hpx_msg_thread_name_new(uint32_t text_len);

/* The rewriter gave these methods of a class the numbers from `first` on. Posted before the class runs, so before any event that has them.
 * text: class signature (Lp/C;) 0 source file 0 (empty: none), then for each method name 0 and signature 0; modified UTF-8. */
struct hpx_msg_methods {
    struct hpx_msg m;
    uint32_t first, n;
    uint32_t text_len;
    char *text; /* inside the message */
    struct hpx_numbered {
        uint16_t line;     /* its first one; 0: not known */
        uint16_t replaced; /* 1: the VM can run its own code instead, which has no probes; else 0 */
    } of[];                /* n; the text lies behind them */
};
struct hpx_msg_methods *hpx_msg_methods_new(uint32_t n, uint32_t text_len);

#endif
