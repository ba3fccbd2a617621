/* SPDX-License-Identifier: BSD-2-Clause */
/* twin.c: a note in the file of the library, for twin.h. */
#include "twin.h"
#include "vm.h"
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#define NOTE_NAME "hprofx"
/* A note in every copy of the library, which other copies find; the program and its children do not see it. */
__asm__(".pushsection .note.hprofx, \"a\", %note\n"
        ".balign 4\n"
        ".long 7, 0, 1\n"
        ".asciz \"" NOTE_NAME "\"\n"
        ".balign 4\n"
        ".popsection\n");

static bool note_is_ours(const char *at, size_t size)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *n = (const void *)at;
        size_t whole = sizeof *n + ((size_t)n->n_namesz + 3) / 4 * 4 + ((size_t)n->n_descsz + 3) / 4 * 4;
        if (whole > size) {
            return false;
        }
        if (n->n_namesz == sizeof NOTE_NAME && memcmp(at + sizeof *n, NOTE_NAME, sizeof NOTE_NAME) == 0) {
            return true;
        }
        at += whole;
        size -= whole;
    }
    return false;
}

/* Ignores a note outside the mapped memory. */
static bool mapped(const struct dl_phdr_info *info, const ElfW(Phdr) * note)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && note->p_vaddr >= p->p_vaddr && note->p_vaddr + note->p_memsz <= p->p_vaddr + p->p_memsz) {
            return true;
        }
    }
    return false;
}

static int look_for_twin(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    bool noted = false, self = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD) {
            self = self || (uintptr_t)&hpx_vm - at < p->p_memsz;
        } else if (p->p_type == PT_NOTE && p->p_align <= 4 && mapped(info, p)) {
            noted = noted || note_is_ours((const char *)at, p->p_memsz); /* NOLINT(performance-no-int-to-ptr): where it is mapped */
        }
    }
    *(bool *)found = noted && !self;
    return *(bool *)found;
}

bool hpx_twin_is_first(void)
{
    static atomic_bool first;
    bool found = false;
    if (!atomic_load_explicit(&first, memory_order_relaxed)) {
        dl_iterate_phdr(look_for_twin, &found);
        atomic_store_explicit(&first, !found, memory_order_relaxed);
    }
    return !found;
}
