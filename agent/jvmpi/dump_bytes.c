/* SPDX-License-Identifier: BSD-2-Clause */
/* dump_bytes.c: see dump_bytes.h. */
#include "dump_bytes.h"
#include <sys/mman.h>

#define FIRST ((size_t)1 << 20)

bool hpx_jvmpi_bytes_grow(struct hpx_jvmpi_bytes *b, size_t more)
{
    size_t room = b->room != 0 ? 2 * b->room : FIRST;
    while (room - b->len < more) {
        room *= 2;
    }
    void *p = b->failed       ? MAP_FAILED
              : b->at != NULL ? mremap(b->at, b->room, room, MREMAP_MAYMOVE)
                              : mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        b->failed = true;
        return false;
    }
    b->at = p;
    b->room = room;
    return true;
}

void hpx_jvmpi_bytes_fini(struct hpx_jvmpi_bytes *b)
{
    if (b->at != NULL) {
        munmap(b->at, b->room);
    }
    *b = (struct hpx_jvmpi_bytes){.at = NULL};
}
