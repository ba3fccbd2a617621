/* SPDX-License-Identifier: BSD-2-Clause */
/* protobuf.h: as much of the protocol buffers' wire format as pprof and OTLP need (https://protobuf.dev/programming-guides/encoding). JFR,
 * which has the same variable-length numbers, is written with it, too. One thread. */
#ifndef HPX_TREE_PROTOBUF_H
#define HPX_TREE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- writing: a message that grows; what is 0 or empty is left out, as the format has it ---- */

struct hpx_pb {
    uint8_t *bytes; /* hpx_pb_free() */
    size_t len, cap;
    bool no_memory;
};

void hpx_pb_free(struct hpx_pb *m);
/* Bytes as they are. */
void hpx_pb_append(struct hpx_pb *m, const void *p, size_t n);
void hpx_pb_raw(struct hpx_pb *m, uint64_t varint);
void hpx_pb_number(struct hpx_pb *m, unsigned field, uint64_t v);
void hpx_pb_fixed64(struct hpx_pb *m, unsigned field, uint64_t v);
void hpx_pb_bytes(struct hpx_pb *m, unsigned field, const void *p, size_t n);
/* An element of a repeated field: there even if it is empty. */
void hpx_pb_element(struct hpx_pb *m, unsigned field, const void *p, size_t n);
void hpx_pb_text(struct hpx_pb *m, unsigned field, const char *text);
/* A message, or packed numbers, as an element; `of` is emptied. */
void hpx_pb_message(struct hpx_pb *m, unsigned field, struct hpx_pb *of);

/* ---- reading: the fields of a message that is in memory; hostile bytes are welcome ---- */

struct hpx_pb_in {
    const uint8_t *at, *end;
    bool broken;
};

struct hpx_pb_field {
    unsigned number;
    bool is_bytes;
    uint64_t v;             /* else: the number */
    struct hpx_pb_in bytes; /* is_bytes: a text, a message or packed numbers */
};

/* The next field; false: there is none, or m->broken. */
bool hpx_pb_next(struct hpx_pb_in *m, struct hpx_pb_field *f);
/* The next of packed numbers. */
bool hpx_pb_varint(struct hpx_pb_in *m, uint64_t *v);

#endif
