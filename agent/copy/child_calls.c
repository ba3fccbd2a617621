/* SPDX-License-Identifier: BSD-2-Clause */
/* child_calls.c: the calls of libjvm that a child replaces: finds their slots (the global offset table), and the functions put there. */
#include "child_calls.h"
#include "child_memory.h"
#include "machine.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static struct {
    int (*over)(void *arg);
    void *arg;
    uintptr_t frame; /* the end of that of the callback that forked */
} child;             /* written in the child only */

/* ---- the functions ---- */

_Noreturn void hpx_child_finish(void)
{
    int status = child.over(child.arg);
    hpx_child_leave(status >= 0 && status <= HPX_CHILD_STATUS ? status : HPX_CHILD_EXIT_GAVE_UP);
}

/* The stack grows down: after the walk the VM thread waits in a function that is nearer to the bottom than the walk was. A wait further up
 * belongs to the walk: for a thread that the child does not have. */
static __attribute__((noinline)) int child_waits(void)
{
    if ((uintptr_t)HPX_FRAME_END() <= child.frame) {
        hpx_child_leave(HPX_CHILD_EXIT_WAITED);
    }
    hpx_child_finish();
}

/* The VM's log takes a semaphore for every line, also at the end of the safepoint: one that is free is no wait. */
static int child_takes(sem_t *s)
{
    return sem_trywait(s) == 0 ? 0 : child_waits();
}

static void child_gives_up(void)
{
    hpx_child_leave(HPX_CHILD_EXIT_GAVE_UP);
}

/* Also for functions with arguments: the caller's registers are ignored. */
static int child_zero(void)
{
    return 0;
}

static void *child_null(void)
{
    return NULL;
}

static int child_refuses(void)
{
    errno = EACCES;
    return -1;
}

static int child_again(void)
{
    return EAGAIN;
}

static ssize_t child_write(int fd, const void *buf, size_t n)
{
    (void)fd, (void)buf;
    return (ssize_t)n;
}

static size_t child_fwrite(const void *p, size_t size, size_t n, FILE *f)
{
    (void)p, (void)size, (void)f;
    return n;
}

static int child_fputc(int c, FILE *f)
{
    (void)f;
    return c;
}

typedef void (*function)(void);
#define F(f) (function)(f)

static const struct {
    const char *name;
    function with;
    bool needed;
} functions[] = {
    {"malloc", F(hpx_child_malloc), true},
    {"free", F(hpx_child_free), true},
    {"calloc", F(hpx_child_calloc), false},
    {"realloc", F(hpx_child_realloc), false},
    {"posix_memalign", F(hpx_child_posix_memalign), false},
    {"memalign", F(hpx_child_memalign), false},
    {"aligned_alloc", F(hpx_child_memalign), false},
    {"malloc_usable_size", F(hpx_child_usable), false},
    {"strdup", F(hpx_child_strdup), false},
    {"__strdup", F(hpx_child_strdup), false},
    /* the end of the walk */
    {"pthread_cond_wait", F(child_waits), true},
    {"pthread_cond_timedwait", F(child_waits), true},
    {"pthread_cond_clockwait", F(child_waits), false},
    {"sem_wait", F(child_takes), false},
    {"sem_timedwait", F(child_takes), false},
    /* locks: there is one thread */
    {"pthread_mutex_lock", F(child_zero), true},
    {"pthread_mutex_trylock", F(child_zero), false},
    {"pthread_mutex_timedlock", F(child_zero), false},
    {"pthread_mutex_unlock", F(child_zero), true},
    {"pthread_cond_signal", F(child_zero), false},
    {"pthread_cond_broadcast", F(child_zero), false},
    {"flockfile", F(child_zero), false},
    {"ftrylockfile", F(child_zero), false},
    {"funlockfile", F(child_zero), false},
    {"pthread_create", F(child_again), false},
    {"pthread_kill", F(child_zero), false},
    {"dladdr", F(child_zero), false},
    {"dl_iterate_phdr", F(child_zero), false},
    /* output: buffers hold what the parent will write, and their locks may be taken */
    {"write", F(child_write), false},
    {"fwrite", F(child_fwrite), false},
    {"fputc", F(child_fputc), false},
    {"putc", F(child_fputc), false},
    {"fputs", F(child_zero), false},
    {"puts", F(child_zero), false},
    {"printf", F(child_zero), false},
    {"fprintf", F(child_zero), false},
    {"vprintf", F(child_zero), false},
    {"vfprintf", F(child_zero), false},
    {"__printf_chk", F(child_zero), false},
    {"__fprintf_chk", F(child_zero), false},
    {"__vprintf_chk", F(child_zero), false},
    {"__vfprintf_chk", F(child_zero), false},
    {"fflush", F(child_zero), false},
    /* no hs_err file */
    {"open", F(child_refuses), false},
    {"open64", F(child_refuses), false},
    {"fopen", F(child_null), false},
    {"fopen64", F(child_null), false},
    {"fdopen", F(child_null), false},
    {"fclose", F(child_zero), false},
    {"abort", F(child_gives_up), false},
    {"exit", F(child_gives_up), false},
    {"_exit", F(child_gives_up), false},
    {"raise", F(child_gives_up), false},
};

/* ---- the slots ---- */

struct library {
    uintptr_t base;
    ElfW(Addr) dynamic[DT_NUM]; /* by tag; 0: the library has none */
};

/* The headers of the library that contains `inside`: the loader maps them at its base. */
static bool open_library(struct library *lib, const void *inside)
{
    Dl_info of;
    if (dladdr(inside, &of) == 0) {
        return false;
    }
    const ElfW(Ehdr) *header = of.dli_fbase;
    const ElfW(Phdr) *p = (const ElfW(Phdr) *)((uintptr_t)header + header->e_phoff), *end = p + header->e_phnum;
    lib->base = (uintptr_t)header;
    for (; p < end; p++) {
        if (p->p_type == PT_LOAD && p->p_offset == 0) {
            lib->base -= p->p_vaddr; /* not 0 in a program that contains the VM */
        }
        const ElfW(Dyn) *dyn = (const ElfW(Dyn) *)(lib->base + p->p_vaddr);
        for (; p->p_type == PT_DYNAMIC && dyn->d_tag != DT_NULL; dyn++) {
            if ((uint64_t)dyn->d_tag < DT_NUM) {
                lib->dynamic[dyn->d_tag] = dyn->d_un.d_val;
            }
        }
    }
    return lib->dynamic[DT_SYMTAB] != 0 && lib->dynamic[DT_STRTAB] != 0;
}

/* glibc has relocated the pointers of the dynamic section, musl has not. */
static const void *pointer(const struct library *lib, int tag)
{
    ElfW(Addr) value = lib->dynamic[tag];
    return (const void *)(value < lib->base ? lib->base + value : value);
}

/* A bit for every function whose slots it found. */
static uint64_t scan(struct hpx_child_slots *slots, const struct library *lib, int table, int size)
{
    uint64_t found = 0;
    const ElfW(Rela) *rela = pointer(lib, table);
    const ElfW(Sym) *symbols = pointer(lib, DT_SYMTAB);
    const char *strings = pointer(lib, DT_STRTAB);
    for (size_t i = 0; lib->dynamic[table] != 0 && i < lib->dynamic[size] / sizeof *rela; i++) {
        ElfW(Word) type = (ElfW(Word))ELF64_R_TYPE(rela[i].r_info);
        const char *name = strings + symbols[ELF64_R_SYM(rela[i].r_info)].st_name;
        for (unsigned f = 0; (type == HPX_JUMP_SLOT || type == HPX_GLOB_DAT) && f < HPX_ARRAY_LEN(functions); f++) {
            if (strcmp(name, functions[f].name) == 0 && slots->n < HPX_CHILD_SLOTS) {
                slots->slot[slots->n].at = (void **)(lib->base + rela[i].r_offset);
                slots->slot[slots->n++].function = f;
                found |= UINT64_C(1) << f;
            }
        }
    }
    return found;
}
_Static_assert(HPX_ARRAY_LEN(functions) <= 64, "bits of found");

int hpx_child_find(struct hpx_child_slots *slots, const void *inside, struct hpx_err *err)
{
    struct library lib = {0};
    slots->n = 0;
    if (!open_library(&lib, inside)) {
        return hpx_err_set(err, HPX_E_SYS, "the calls of libjvm cannot be redirected (no symbols)");
    }
    uint64_t found = scan(slots, &lib, DT_JMPREL, DT_PLTRELSZ) | scan(slots, &lib, DT_RELA, DT_RELASZ);
    if (slots->n == HPX_CHILD_SLOTS) {
        return hpx_err_set(err, HPX_E_SYS, "the calls of libjvm cannot be redirected (too many slots)");
    }
    for (unsigned f = 0; f < HPX_ARRAY_LEN(functions); f++) {
        if (functions[f].needed && !(found >> f & 1)) {
            return hpx_err_set(err, HPX_E_SYS, "the calls of libjvm cannot be redirected (no slot of %s)", functions[f].name);
        }
    }
    return 0;
}

bool hpx_child_redirect(const struct hpx_child_slots *slots, int (*over)(void *arg), void *arg, uintptr_t frame)
{
    uintptr_t size = (uintptr_t)getpagesize(), writable = 0;
    child.over = over;
    child.arg = arg;
    child.frame = frame;
    for (unsigned i = 0; i < slots->n; i++) {
        void **at = slots->slot[i].at;
        uintptr_t page = (uintptr_t)at & ~(size - 1);
        if (page != writable && mprotect((void *)page, size, PROT_READ | PROT_WRITE) != 0) { /* the loader made it read-only */
            return false;
        }
        writable = page;
        *at = (void *)(uintptr_t)functions[slots->slot[i].function].with;
    }
    return true;
}
