/* SPDX-License-Identifier: BSD-2-Clause */
/* child_calls.c: the calls of libjvm that a child replaces: finds their slots (the global offset table), and the functions put there. */
#include "child_calls.h"
#include "child_memory.h"
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#define GLOB_DAT  R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#define GLOB_DAT  R_AARCH64_GLOB_DAT
#endif

static struct {
    int (*over)(void *arg);
    void *arg;
    uintptr_t frame; /* of the callback that forked */
} child;             /* written in the child only */

/* ---- the functions ---- */

/* The stack grows down: after the walk the VM thread waits in a function that is nearer to the bottom than the walk was. A wait further up
 * belongs to the walk: for a thread that the child does not have. */
static __attribute__((noinline)) int child_waits(void)
{
    if ((uintptr_t)__builtin_frame_address(0) <= child.frame) {
        hpx_child_leave(HPX_CHILD_EXIT_WAITED);
    }
    int status = child.over(child.arg);
    hpx_child_leave(status >= 0 && status <= HPX_CHILD_STATUS ? status : HPX_CHILD_EXIT_GAVE_UP);
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

struct search {
    struct hpx_child_slots *slots;
    uintptr_t inside;
    bool library, full;
    uint64_t found; /* a bit per function */
};
_Static_assert(HPX_ARRAY_LEN(functions) <= 64, "bits of found");

#ifdef JUMP_SLOT

struct library {
    ElfW(Addr) base;
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * plt, *other;
    size_t plt_size, other_size; /* bytes */
};

static bool contains(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && address - (info->dlpi_addr + p->p_vaddr) < p->p_memsz) {
            return true;
        }
    }
    return false;
}

/* glibc has relocated the pointers of the dynamic section, musl has not. */
static const void *pointer(ElfW(Addr) base, ElfW(Addr) value)
{
    return (const void *)(value < base ? base + value : value);
}

static void read_dynamic(struct library *lib, const ElfW(Dyn) * dyn)
{
    for (; dyn->d_tag != DT_NULL; dyn++) {
        switch (dyn->d_tag) {
        case DT_SYMTAB:
            lib->symbols = pointer(lib->base, dyn->d_un.d_ptr);
            break;
        case DT_STRTAB:
            lib->strings = pointer(lib->base, dyn->d_un.d_ptr);
            break;
        case DT_JMPREL:
            lib->plt = pointer(lib->base, dyn->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            lib->plt_size = dyn->d_un.d_val;
            break;
        case DT_RELA:
            lib->other = pointer(lib->base, dyn->d_un.d_ptr);
            break;
        case DT_RELASZ:
            lib->other_size = dyn->d_un.d_val;
            break;
        default:
            break;
        }
    }
}

static void add(struct search *s, void **at, const char *name)
{
    for (unsigned i = 0; i < HPX_ARRAY_LEN(functions); i++) {
        if (strcmp(name, functions[i].name) == 0) {
            if (s->slots->n == HPX_CHILD_SLOTS) {
                s->full = true;
                return;
            }
            s->slots->slot[s->slots->n].at = at;
            s->slots->slot[s->slots->n++].function = i;
            s->found |= UINT64_C(1) << i;
            return;
        }
    }
}

static void scan(struct search *s, const struct library *lib, const ElfW(Rela) * rela, size_t size)
{
    for (size_t i = 0; rela != NULL && i < size / sizeof *rela; i++) {
        ElfW(Word) type = (ElfW(Word))ELF64_R_TYPE(rela[i].r_info);
        if (type == JUMP_SLOT || type == GLOB_DAT) {
            const ElfW(Sym) *sym = &lib->symbols[ELF64_R_SYM(rela[i].r_info)];
            add(s, (void **)(lib->base + rela[i].r_offset), lib->strings + sym->st_name);
        }
    }
}

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    struct search *s = arg;
    struct library lib;
    memset(&lib, 0, sizeof lib);
    lib.base = info->dlpi_addr;
    if (!contains(info, s->inside)) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            read_dynamic(&lib, (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
        }
    }
    s->library = lib.symbols != NULL && lib.strings != NULL;
    if (s->library) {
        scan(s, &lib, lib.plt, lib.plt_size);
        scan(s, &lib, lib.other, lib.other_size);
    }
    return 1;
}

static void search(struct search *s)
{
    dl_iterate_phdr(look, s);
}

#else /* no fork on this processor: nothing is found */
static void search(struct search *s)
{
    (void)s;
}
#endif

int hpx_child_find(struct hpx_child_slots *slots, const void *inside, struct hpx_err *err)
{
    struct search s = {slots, (uintptr_t)inside, false, false, 0};
    slots->n = 0;
    search(&s);
    if (!s.library || s.full) {
        return hpx_err_set(err, HPX_E_SYS, "the calls of libjvm cannot be redirected (%s)", s.full ? "too many slots" : "no symbols");
    }
    for (unsigned i = 0; i < HPX_ARRAY_LEN(functions); i++) {
        if (functions[i].needed && !(s.found >> i & 1)) {
            return hpx_err_set(err, HPX_E_SYS, "the calls of libjvm cannot be redirected (no slot of %s)", functions[i].name);
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
