/* SPDX-License-Identifier: BSD-2-Clause */
/* company.c: company.h by a note in the file of the library, sigaction() and signal masks. */
#include "company.h"
#include "clock.h"
#include "log.h"
#include "sampler.h"
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS (1000ull * 1000 * 1000)

#define NOTE_NAME "hprofx"
/* A note that each copy carries and finds in the others: nothing that the program or its children can see. */
__asm__(".pushsection .note.hprofx, \"a\", %note\n"
        ".balign 4\n"
        ".long 7, 0, 1\n"
        ".asciz \"" NOTE_NAME "\"\n"
        ".balign 4\n"
        ".popsection\n");

static struct {
    void (*handler)(int, siginfo_t *, void *); /* constant after load */
    atomic_bool ended;                         /* release: end_sampling(); acquire: who asks. Covers ended_cpu */
    atomic_bool saying;                        /* relaxed: who is first */
    uint64_t ended_cpu;                        /* CPU time of the process then */
    uint64_t next_look;                        /* the aggregator's */
} company;

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

/* A note that lies outside what is mapped is not looked at. */
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
            self = self || (uintptr_t)&hpx_agent - at < p->p_memsz;
        } else if (p->p_type == PT_NOTE && p->p_align <= 4 && mapped(info, p)) {
            noted = noted || note_is_ours((const char *)at, p->p_memsz); /* NOLINT(performance-no-int-to-ptr): where it is mapped */
        }
    }
    *(bool *)found = noted && !self;
    return *(bool *)found;
}

bool hpx_company_twin(void)
{
    bool found = false;
    dl_iterate_phdr(look_for_twin, &found);
    return found;
}

static void signal_name(char *s, size_t n)
{
    int sig = hpx_agent.opt.signal;
    const char *abbrev = sig >= SIGRTMIN ? NULL : sigabbrev_np(sig);
    if (abbrev != NULL) {
        snprintf(s, n, "SIG%s", abbrev);
    } else {
        snprintf(s, n, "SIGRTMIN+%d", sig - SIGRTMIN);
    }
}

/* An option whose signal is another one than ours. */
static const char *other_signal(void)
{
    return hpx_agent.opt.signal == SIGRTMIN + 1 ? "signal=RTMIN+2" : "signal=RTMIN+1";
}

void hpx_company_expect(const struct sigaction *before, void (*handler)(int, siginfo_t *, void *))
{
    company.handler = handler;
    bool nobody = before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN;
    if (nobody && hpx_company_blocked(0)) {
        char name[32];
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, hpx_agent.opt.signal);
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
        signal_name(name, sizeof name);
        hpx_warn("%s: %s was blocked by what started the JVM; it is unblocked, or nothing would be sampled", hpx_agent_signalled(), name);
    }
}

static void end_sampling(void)
{
    if (atomic_exchange_explicit(&company.saying, true, memory_order_relaxed)) {
        return;
    }
    char name[32];
    signal_name(name, sizeof name);
    company.ended_cpu = hpx_clock_process_cpu();
    atomic_store_explicit(&company.ended, true, memory_order_release); /* partner: hpx_company_ended() */
    hpx_warn("%s: the program took %s; sampling has ended, use %s (or sampler=poll)", hpx_agent_signalled(), name, other_signal());
}

bool hpx_company_ended(void)
{
    return atomic_load_explicit(&company.ended, memory_order_acquire); /* partner: end_sampling() */
}

bool hpx_company_took_signal(void)
{
    struct sigaction now;
    if (hpx_company_ended()) {
        return true;
    }
    if (sigaction(hpx_agent.opt.signal, NULL, &now) != 0 || ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == company.handler)) {
        return false;
    }
    end_sampling();
    return true;
}

static bool blocked_in(pid_t tid)
{
    char path[64], line[256];
    unsigned long long mask = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)tid);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, "SigBlk:", 7) == 0) {
            mask = strtoull(line + 7, NULL, 16);
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    return mask >> (hpx_agent.opt.signal - 1) & 1;
}

bool hpx_company_blocked(pid_t tid)
{
    sigset_t set;
    if (tid != 0) {
        return blocked_in(tid);
    }
    return pthread_sigmask(SIG_SETMASK, NULL, &set) == 0 && sigismember(&set, hpx_agent.opt.signal) == 1;
}

static void disarm(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    hpx_sampler_disarm(HPX_CONTAINER_OF(t, struct hpx_agent_thread, base));
}

/* Again at each look after the signal was taken: a thread may have started its clock meanwhile. */
void hpx_company_look_own(void)
{
    uint64_t now = hpx_clock_mono();
    if (now < company.next_look) {
        return;
    }
    company.next_look = now + LOOK_NS;
    if (company.handler != NULL && hpx_company_took_signal()) {
        hpx_aggregator_each(&hpx_agent.aggregator, disarm, NULL);
    }
}

uint64_t hpx_company_unsampled_ms(void)
{
    return hpx_company_ended() ? (hpx_clock_process_cpu() - company.ended_cpu) / 1000000u + 1 : 0;
}
