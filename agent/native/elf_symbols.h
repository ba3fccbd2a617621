/* SPDX-License-Identifier: BSD-2-Clause */
/* elf_symbols.h: the functions of a library by address, as its file, or a file with its debug information, names them: .symtab, .dynsym,
 * .gnu_debugdata (a compressed .symtab, if liblzma is installed), and the file that /usr/lib/debug has for its build id.
 *
 * Every byte of a file may be wrong. No function is called in handlers. */
#ifndef HPX_ELF_SYMBOLS_H
#define HPX_ELF_SYMBOLS_H

#include "libraries.h"

/* Where the bytes of an ELF file come from. */
struct hpx_elf_source {
    bool (*read)(const struct hpx_elf_source *from, uint64_t at, void *to, size_t n); /* false: there are fewer */
    uint64_t size;
    const void *bytes;
    int fd;
};
/* Of a file; of memory. */
struct hpx_elf_source hpx_elf_source_file(int fd);
struct hpx_elf_source hpx_elf_source_bytes(const void *bytes, size_t size);

struct hpx_elf_symbols;

/* NULL: no memory. */
struct hpx_elf_symbols *hpx_elf_symbols_new(void);
void hpx_elf_symbols_free(struct hpx_elf_symbols *s);
/* Adds the functions of a source; build_id: it has to be of the library with this one (0 bytes: of any). Returns what it has. */
enum { HPX_ELF_SYMTAB = 1, HPX_ELF_DYNSYM = 2, HPX_ELF_DEBUGDATA = 4 };
unsigned hpx_elf_symbols_add(struct hpx_elf_symbols *s, const struct hpx_elf_source *from, const uint8_t *build_id, uint32_t id_bytes);
/* After the last one. */
void hpx_elf_symbols_sort(struct hpx_elf_symbols *s);
/* The name of the function there, valid as long as s; NULL: none is known. */
const char *hpx_elf_symbols_find(const struct hpx_elf_symbols *s, uint32_t offset);

/* All of that for a library, sorted. NULL: no memory, or nothing can be read. */
struct hpx_elf_symbols *hpx_elf_symbols_of(const struct hpx_library *l);

#endif
