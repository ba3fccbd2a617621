/* SPDX-License-Identifier: BSD-2-Clause */
/* dump_bytes.h: the bytes of a dump: one piece of mapped memory that grows, also at a safepoint (no malloc, no lock). Numbers have the
 * byte order of the machine, ids are as in memory, nothing is aligned. One thread. A cleared struct is empty. */
#ifndef HPX_JVMPI_DUMP_BYTES_H
#define HPX_JVMPI_DUMP_BYTES_H

#include "compiler.h"
#include <string.h>

struct hpx_jvmpi_bytes {
    char *at; /* moves when it grows */
    size_t len, room;
    bool failed; /* there was no memory: some bytes are missing, and no more are added */
};

/* Room for `more` bytes behind the last. false: no memory. */
bool hpx_jvmpi_bytes_grow(struct hpx_jvmpi_bytes *b, size_t more);
void hpx_jvmpi_bytes_fini(struct hpx_jvmpi_bytes *b);

/* n bytes that are 0. Their place; without memory one behind the end, where hpx_jvmpi_bytes_set() writes nothing. */
static inline size_t hpx_jvmpi_bytes_zeros(struct hpx_jvmpi_bytes *b, size_t n)
{
    size_t place = b->len;
    if (hpx_likely(n <= b->room - b->len) || hpx_jvmpi_bytes_grow(b, n)) {
        b->len += n;
    }
    return place;
}

static inline void hpx_jvmpi_bytes_set(struct hpx_jvmpi_bytes *b, size_t place, const void *from, size_t n)
{
    if (hpx_likely(place <= b->len && n <= b->len - place)) {
        memcpy(b->at + place, from, n);
    }
}

static inline void hpx_jvmpi_bytes_add(struct hpx_jvmpi_bytes *b, const void *from, size_t n)
{
    hpx_jvmpi_bytes_set(b, hpx_jvmpi_bytes_zeros(b, n), from, n);
}

static inline void hpx_jvmpi_bytes_u1(struct hpx_jvmpi_bytes *b, uint8_t v)
{
    hpx_jvmpi_bytes_add(b, &v, sizeof v);
}
static inline void hpx_jvmpi_bytes_u2(struct hpx_jvmpi_bytes *b, uint16_t v)
{
    hpx_jvmpi_bytes_add(b, &v, sizeof v);
}
static inline void hpx_jvmpi_bytes_u4(struct hpx_jvmpi_bytes *b, uint32_t v)
{
    hpx_jvmpi_bytes_add(b, &v, sizeof v);
}
/* A jobjectID, JNIEnv *, jobject or char *. */
static inline void hpx_jvmpi_bytes_pointer(struct hpx_jvmpi_bytes *b, const void *v)
{
    hpx_jvmpi_bytes_add(b, &v, sizeof v);
}

#endif
