/* SPDX-License-Identifier: BSD-2-Clause */
/* table.c: live blocks by address, with the calls inside the library that made them; the report. */
#include "balance.h"
#include <assert.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As the linker has them under --wrap: this table must not count itself. */
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset);

enum { SLOTS = 1 << 20, CALLS = 5 };

struct block {
    const void *p;
    size_t bytes;
    uint32_t kind;
    uint32_t calls[CALLS]; /* offsets of return addresses from the base; 0: no more */
    bool spared;
};

static struct {
    pthread_mutex_t lock;
    long pid;
    struct block *slots; /* open addressing, linear probing; p NULL: free */
    size_t used;
    uint64_t strange[4], full;
    uintptr_t base, low, high; /* of the library, and of its code */
    FILE *to;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int find_code(struct dl_phdr_info *info, size_t size, void *inside)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, high = low + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (uintptr_t)inside >= low && (uintptr_t)inside < high) {
            table.base = info->dlpi_addr;
            table.low = low;
            table.high = high;
            return 1;
        }
    }
    return 0;
}

/* The child of a heap dump (agent/copy/child.h) is no fork() of libc's: another thread may have held the lock. */
static bool is_child(void)
{
    return syscall(SYS_getpid) != table.pid;
}

static void lock(void)
{
    pthread_mutex_lock(&table.lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&table.lock);
}

__attribute__((constructor)) static void begin(void)
{
    dl_iterate_phdr(find_code, (void *)(uintptr_t)begin);
    void *p =
        __real_mmap(NULL, (size_t)SLOTS * sizeof(struct block), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    table.slots = p == MAP_FAILED ? NULL : p;
    table.pid = syscall(SYS_getpid);
    pthread_atfork(lock, unlock, unlock);
}

static_assert(SLOTS == 1 << (64 - 44), "a place is the top bits of the product");

static uint32_t place_of(const void *p)
{
    return (uint32_t)(((uintptr_t)p * UINT64_C(0x9E3779B97F4A7C15)) >> 44);
}

/* The library keeps frame pointers, so the frames that return into it are linked. */
static void calls_of(const void *frame, uint32_t *calls)
{
    const uintptr_t *at = frame;
    for (int n = 0; n < CALLS && at[1] >= table.low && at[1] < table.high; n++) {
        calls[n] = (uint32_t)(at[1] - table.base);
        const uintptr_t *up = (const uintptr_t *)at[0]; /* NOLINT(performance-no-int-to-ptr) */
        if (up <= at || (uintptr_t)up - (uintptr_t)at > 1u << 20) {
            break;
        }
        at = up;
    }
}

/* Its place, or the free one where it would be. */
static uint32_t find(const void *p)
{
    uint32_t i = place_of(p);
    while (table.slots[i].p != NULL && table.slots[i].p != p) {
        i = (i + 1) % SLOTS;
    }
    return i;
}

void hpx_balance_add(enum hpx_balance_kind kind, const void *p, size_t bytes, const void *frame)
{
    struct block b = {.p = p, .bytes = bytes, .kind = kind};
    if (p == NULL || table.slots == NULL || is_child()) {
        return;
    }
    calls_of(frame, b.calls);
    lock();
    if (table.used > SLOTS / 4 * 3) {
        table.full++;
    } else {
        uint32_t i = find(p);
        table.used += table.slots[i].p == NULL;
        table.slots[i] = b;
    }
    unlock();
}

/* Moves what stands behind i up, so that a search never ends at the hole. */
static void close_gap(uint32_t i)
{
    for (uint32_t j = (i + 1) % SLOTS; table.slots[j].p != NULL; j = (j + 1) % SLOTS) {
        uint32_t home = place_of(table.slots[j].p);
        if ((j - home) % SLOTS >= (j - i) % SLOTS) {
            table.slots[i] = table.slots[j];
            i = j;
        }
    }
    table.slots[i] = (struct block){.p = NULL};
    table.used--;
}

static bool take(const void *p)
{
    uint32_t i = find(p);
    bool found = table.slots[i].p == p;
    if (found) {
        close_gap(i);
    }
    return found;
}

void hpx_balance_remove(enum hpx_balance_kind kind, const void *p)
{
    if (p == NULL || table.slots == NULL || is_child()) {
        return;
    }
    lock();
    table.strange[kind] += !take(p);
    unlock();
}

void hpx_balance_keep(const void *p)
{
    lock();
    (void)take(p);
    unlock();
}

void hpx_balance_spare(const void *p)
{
    if (table.slots == NULL) {
        return;
    }
    lock();
    uint32_t i = find(p);
    bool found = table.slots[i].p == p;
    if (found) {
        table.slots[i].spared = true;
    } else {
        table.strange[HPX_BALANCE_HEAP]++;
    }
    unlock();
}

/* ---- report ---- */

void hpx_balance_open(void)
{
    const char *prefix = getenv("HPX_BALANCE");
    char path[4096];
    if (prefix != NULL && table.to == NULL) {
        snprintf(path, sizeof path, "%s.%ld", prefix, (long)getpid());
        table.to = fopen(path, "we");
    }
}

static int by_group(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    int way = memcmp(x->calls, y->calls, sizeof x->calls);
    return way != 0 ? way : (int)x->kind - (int)y->kind;
}

static void print_groups(const char *stage, const struct block *all, size_t n)
{
    static const char *const kinds[] = {"", "heap", "mapping", "jvmti"};
    for (size_t i = 0, next; i < n; i = next) {
        size_t bytes = 0;
        for (next = i; next < n && by_group(&all[i], &all[next]) == 0; next++) {
            bytes += all[next].bytes;
        }
        fprintf(table.to, "%s %s %zu %zu", stage, kinds[all[i].kind], next - i, bytes);
        for (int c = 0; c < CALLS && all[i].calls[c] != 0; c++) {
            fprintf(table.to, " %#x", all[i].calls[c]);
        }
        fputc('\n', table.to);
    }
}

void hpx_balance_report(const char *stage)
{
    if (table.to == NULL || table.slots == NULL) {
        return;
    }
    lock();
    size_t n = 0, size = (table.used + 1) * sizeof(struct block);
    struct block *all = __real_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all != MAP_FAILED) {
        for (uint32_t i = 0; i < SLOTS; i++) {
            if (table.slots[i].spared) {
                table.slots[i].spared = false;
            } else if (table.slots[i].p != NULL) {
                all[n++] = table.slots[i];
            }
        }
    }
    uint64_t strange = table.strange[1] + table.strange[2] + table.strange[3], full = table.full;
    unlock();
    if (all != MAP_FAILED) {
        qsort(all, n, sizeof *all, by_group);
        print_groups(stage, all, n);
    }
    hpx_balance_note(stage, "strange", strange);
    hpx_balance_note(stage, "missed", all == MAP_FAILED ? full + 1 : full);
}

void hpx_balance_note(const char *stage, const char *what, unsigned long long n)
{
    if (table.to != NULL) {
        fprintf(table.to, "%s-%s %llu\n", stage, what, n);
    }
}

void hpx_balance_close(void)
{
    if (table.to != NULL) {
        fputs("end\n", table.to);
        fclose(table.to);
        table.to = NULL;
    }
}

int hpx_balance_planted(const char *name)
{
    const char *plant = getenv("HPX_BALANCE_PLANT");
    return plant != NULL && strcmp(plant, name) == 0;
}
