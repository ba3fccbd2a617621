/* SPDX-License-Identifier: BSD-2-Clause */
/* model_fixture.h: a model under test: its messages and events in short form, and what it asks for and tells. */
#ifndef HPX_MODEL_FIXTURE_H
#define HPX_MODEL_FIXTURE_H

#include "call_rows.h"
#include "cmocka_all.h"
#include "hash.h"
#include "sample_table.h"

#include <stdlib.h>
#include <string.h>

#define FX_ASKED 256

struct fx {
    struct hpx_model *m;
    struct hpx_symbols *symbols;
    struct hpx_samples *samples;
    struct hpx_call_rows *calls; /* NULL: not wanted */
    struct hpx_msg_resolve *asked[FX_ASKED];
    uint32_t nasked;
    struct hpx_msg_sweep *sweep; /* asked, not yet answered */
    struct hpx_msg_look *look;   /* likewise */
    uint64_t dropped, nsweeps;   /* references deleted: their sum */
    uint32_t ndropped;
    uint32_t started[16], ended[16]; /* thread serials */
    uint32_t nstarted, nended;
    bool deaf;     /* announcements of threads get lost */
    uint64_t sent; /* weights of all events */
    struct hpx_thread t, u;
};

struct fx_frame {
    uint64_t method;
    int32_t bci;
};

/* cfg: only the choices; may be NULL (lines on). f->m is NULL without memory. */
void fx_begin(struct fx *f, const struct hpx_model_config *cfg);
/* The same with exact calls. */
struct fx_calls {
    struct hpx_model_config model;
    struct hpx_call_options calls;
};
void fx_begin_calls(struct fx *f, const struct fx_calls *with);
void fx_end(struct fx *f);
int fx_setup(void **state);
int fx_setup_calls(void **state); /* the state is a struct fx_calls */
int fx_teardown(void **state);

/* Hands a message over, which must be one of the model's; NULL (no memory) is nothing. */
void fx_message(struct fx *f, void *msg);

/* text with its embedded zeros, as a string literal: sizeof - 1 is taken by FX_TEXT. */
#define FX_TEXT(literal) (literal), (uint32_t)(sizeof(literal) - 1)

/* A class of n methods with ids first_id, first_id + 8, ... */
void fx_class(struct fx *f, uint64_t ref, uint64_t first_id, uint32_t n, const char *text, uint32_t text_len);
/* Answers request i. */
void fx_answer(struct fx *f, uint32_t i, const struct hpx_line *lines, uint32_t nlines, const char *text, uint32_t text_len);
/* Request i comes back: there is no answer. */
void fx_refuse(struct fx *f, uint32_t i);
void fx_thread_start(struct fx *f, uint64_t key, struct hpx_thread *t, const char *text, uint32_t text_len);
void fx_thread_end(struct fx *f, uint64_t key);
/* A record without a body. */
void fx_event(struct fx *f, struct hpx_thread *t, enum hpx_ev_kind kind, uint32_t id, uint64_t weight);

#define FX_FRAMES 64

struct fx_def {
    struct hpx_ev_head head;
    struct hpx_ev_hash hash;
    struct hpx_ev_frame frames[FX_FRAMES];
};

void fx_fill_def(struct fx_def *d, uint32_t slot, uint64_t weight, const struct fx_frame *frames, uint32_t n);
void fx_define(struct fx *f, struct hpx_thread *t, uint32_t slot, uint64_t weight, const struct fx_frame *frames, uint32_t n);

#define FX_STACK(...)                                                                                                                      \
    (const struct fx_frame[]){__VA_ARGS__}, (uint32_t)(sizeof((const struct fx_frame[]){__VA_ARGS__}) / sizeof(struct fx_frame))

uint64_t fx_counter(struct fx *f, enum hpx_counter which);
bool fx_text_is(struct hpx_text t, const char *s);
/* Frame i of a trace as "class.name(source:line)". */
void fx_assert_frame(const struct hpx_trace_rec *t, uint32_t i, const char *want);
/* The snapshot's row of this serial; fails without. */
const struct hpx_row *fx_row(const struct hpx_snapshot *s, uint32_t serial);
/* A snapshot that must be there, with this total and number of rows. */
struct hpx_snapshot *fx_snapshot(struct fx *f, uint64_t total, uint32_t rows);

#endif
