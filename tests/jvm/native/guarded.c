/* SPDX-License-Identifier: BSD-2-Clause */
/* guarded.c: preloaded, counts how often the agent's library begins a guarded region (it calls sigsetjmp) with SIGPROF blocked, and how
 * often with SIGPROF open. At the end the file GUARDED gets both numbers. x86-64 only. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uintptr_t low, high; /* of the agent's code; high is stored last */
static _Atomic unsigned counted[2]; /* open, blocked */
static void *(*real_dlopen)(const char *, int);
void (*guarded_real)(void);
void guarded_look(uintptr_t caller);

__attribute__((constructor)) static void prepare(void)
{
    *(void **)&real_dlopen = dlsym(RTLD_NEXT, "dlopen");
    *(void **)&guarded_real = dlsym(RTLD_NEXT, "__sigsetjmp");
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("GUARDED");
    FILE *f = path != NULL && atomic_load(&high) != 0 ? fopen(path, "we") : NULL;
    if (f != NULL) {
        fprintf(f, "%u %u\n", atomic_load(&counted[1]), atomic_load(&counted[0]));
        fclose(f);
    }
}

static int learn(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    const char *slash = strrchr(info->dlpi_name, '/');
    for (int i = 0; i < info->dlpi_phnum && strcmp(slash != NULL ? slash + 1 : "", "libhprofx.so") == 0; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
            atomic_store(&low, info->dlpi_addr + p->p_vaddr);
            atomic_store(&high, info->dlpi_addr + p->p_vaddr + p->p_memsz);
        }
    }
    return 0;
}

void *dlopen(const char *name, int flags)
{
    void *lib = real_dlopen(name, flags);
    if (lib != NULL && name != NULL && strstr(name, "libhprofx") != NULL) {
        dl_iterate_phdr(learn, NULL);
    }
    return lib;
}

void guarded_look(uintptr_t caller)
{
    sigset_t now;
    if (caller < atomic_load(&high) && caller >= atomic_load(&low) && pthread_sigmask(SIG_BLOCK, NULL, &now) == 0) {
        atomic_fetch_add(&counted[sigismember(&now, SIGPROF) == 1], 1);
    }
}

#if defined(__x86_64__)
/* It returns twice, to its caller: so it is no function of C. */
__asm__(".text\n"
        ".globl __sigsetjmp\n"
        ".type __sigsetjmp, @function\n"
        "__sigsetjmp:\n"
        "    endbr64\n"
        "    push %rdi\n"
        "    push %rsi\n"
        "    sub $8, %rsp\n"
        "    mov 24(%rsp), %rdi\n"
        "    call guarded_look@PLT\n"
        "    add $8, %rsp\n"
        "    pop %rsi\n"
        "    pop %rdi\n"
        "    mov guarded_real@GOTPCREL(%rip), %rax\n"
        "    jmp *(%rax)\n"
        ".size __sigsetjmp, . - __sigsetjmp\n");
#endif
