/* SPDX-License-Identifier: BSD-2-Clause */
/* relacy.cpp: the functions that -fsanitize=thread calls, in terms of Relacy; and the main program of each test (relacy.h).
 *
 * A word of memory has a shadow from the first access in a run on: an atomic variable of Relacy, which begins with what the memory has, and
 * the times of the last plain accesses of each byte. The memory itself always has the newest value. */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <queue>
#include <set>
#include <setjmp.h>
#include <sstream>
#include <stack>
#include <stdexcept>
#include <string>
#include <vector>

#define private public /* threads_ and seq_cst_fence_order_ of the context, value_ and history_ of an atomic variable */
#include <relacy/relacy.hpp>
#undef private
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno
#undef memory_order_relaxed

#include "relacy.h"

namespace
{

const relacy_test *current;
char failure[300];
unsigned handled; /* in this run */
bool handling;

struct suite : rl::test_suite<suite, RELACY_THREADS> {
    suite();
    ~suite();
    void before();
    void thread(unsigned i);
    void after();
};
using context = rl::context_impl<suite, rl::random_scheduler<RELACY_THREADS>>;

context &now()
{
    return (context &)rl::ctx(); /* NOLINT: a private base */
}

/* ---- shadows ---- */

struct value {
    virtual ~value() = default;
};

template <typename T> struct atomic_value : value {
    rl::generic_atomic<T, true> a;

    /* Whoever looks sees what was there before the first access: it is older than every thread. */
    explicit atomic_value(T first)
    {
        auto &rec = static_cast<rl::atomic_data_impl<RELACY_THREADS> *>(a.impl_)->history_[a.last_index_ % rl::atomic_history_size];
        std::fill_n(rec.first_seen_order_, RELACY_THREADS, (rl::timestamp_t)-1);
        a.history_[a.last_index_] = first;
        a.value_ = first;
    }
};

struct word {
    uintptr_t address; /* of 8 bytes */
    unsigned run;      /* it is of this one */
    rl::var_data_impl<RELACY_THREADS> bytes[8];
    value *atomics[8];
    alignas(16) char storage[8][sizeof(atomic_value<uint64_t>)];
};

constexpr size_t WORDS = 1u << 13;
word *words;
unsigned run;
size_t used[WORDS], n_used; /* in this run */

word &word_of(uintptr_t address)
{
    size_t i = (address / 8 * UINT64_C(0x9e3779b97f4a7c15)) >> 51;
    for (; words[i].run == run && words[i].address != address / 8 * 8; i = (i + 1) % WORDS) {
    }
    word &w = words[i];
    if (w.run != run) {
        if (n_used > WORDS / 2) {
            (void)fprintf(stderr, "relacy.cpp: a run uses too many words\n");
            _exit(2);
        }
        used[n_used++] = i;
        w.address = address / 8 * 8;
        w.run = run;
        for (int b = 0; b < 8; b++) {
            ::new (&w.bytes[b]) rl::var_data_impl<RELACY_THREADS>();
            w.atomics[b] = nullptr;
        }
    }
    return w;
}

/* A plain write ends what was an atomic variable there. */
void forget(word &w, size_t byte)
{
    if (w.atomics[byte] != nullptr) {
        w.atomics[byte]->~value();
        w.atomics[byte] = nullptr;
    }
}

void end_of_run()
{
    for (; n_used > 0; n_used--) {
        for (size_t b = 0; b < 8; b++) {
            forget(words[used[n_used - 1]], b);
        }
    }
    run++;
}

void fail(rl::test_result_e kind, const char *what, const volatile void *address, const void *pc)
{
    (void)snprintf(failure, sizeof failure, "%s: %p by thread %d at %p", what, address, rl::ctx().threadx_->index_, pc);
    rl::ctx().fail_test(what, kind, rl::debug_info("", "", 0));
}

/* An atomic access is a data race with a plain write that does not happen before it. */
template <typename T> rl::generic_atomic<T, true> &atomic_of(const volatile void *address, const void *pc)
{
    uintptr_t at = (uintptr_t)address;
    word &w = word_of(at);
    for (int i = 0; i < RELACY_THREADS; i++) {
        if (rl::ctx().threadx_->acq_rel_order_[i] < w.bytes[at % 8].store_acq_rel_timestamp_[i]) {
            fail(rl::test_result_data_race, "data race, an atomic access", address, pc);
        }
    }
    value *&v = w.atomics[at % 8];
    if (v == nullptr) {
        v = ::new (w.storage[at % 8]) atomic_value<T>(*(const volatile T *)address);
    }
    return static_cast<atomic_value<T> *>(v)->a;
}

/* ---- accesses ---- */

/* A handler runs in the thread that it interrupts: what it does is ordered with what the thread does. */
void interrupt()
{
    if (current->handler != nullptr && !handling && handled < current->handlers && rl::ctx().threadx_->index_ == 0 &&
        !now().special_function_executing && rl::ctx().rand(4, rl::sched_type_user) == 0) {
        handling = true;
        handled++;
        current->handler();
        handling = false;
    }
}

rl::debug_info info(const void *pc)
{
    if (!now().params_.collect_history) {
        return {"", "", 0};
    }
    char *text; /* Relacy keeps the pointer */
    return {"", asprintf(&text, "%p", pc) > 0 ? text : "", 0};
}

void plain(const void *address, size_t n, bool write, const void *pc)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = (uintptr_t)address + i;
        word &w = word_of(at);
        rl::var_data_impl<RELACY_THREADS> &b = w.bytes[at % 8];
        rl::thread_info_base &t = *rl::ctx().threadx_;
        if (!(write ? b.store(t) : b.load(t))) {
            fail(rl::test_result_data_race, write ? "data race, a write" : "data race, a read", address, pc);
        }
        if (write) {
            forget(w, at % 8);
        }
    }
}

template <typename T> T load(const volatile void *p, int order, const void *pc)
{
    interrupt();
    T v = atomic_of<T>(p, pc).load((rl::memory_order)order, info(pc));
    interrupt();
    return v;
}

template <typename T> void store(volatile void *p, T v, int order, const void *pc)
{
    interrupt();
    atomic_of<T>(p, pc).store(v, (rl::memory_order)order, info(pc));
    *(volatile T *)p = v;
    interrupt();
}

template <typename T, rl::rmw_type_e kind> T change(volatile void *p, T v, int order, const void *pc)
{
    interrupt();
    rl::generic_atomic<T, true> &a = atomic_of<T>(p, pc);
    T was = a.rmw(rl::rmw_type_t<kind>(), v, (rl::memory_order)order, info(pc));
    *(volatile T *)p = a.value_;
    interrupt();
    return was;
}

template <typename T, bool weak> int swap(volatile void *p, void *expected, T v, int order, int failed, const void *pc)
{
    interrupt();
    rl::generic_atomic<T, true> &a = atomic_of<T>(p, pc);
    T is = *(T *)expected;
    int done = a.compare_exchange(rl::bool_t<weak>(), is, v, (rl::memory_order)order, (rl::memory_order)failed, info(pc));
    *(T *)expected = is;
    *(volatile T *)p = a.value_;
    interrupt();
    return done;
}

} // namespace

extern "C" {

#define PC __builtin_return_address(0)

void __tsan_init()
{
}
void __tsan_func_entry(void *)
{
}
void __tsan_func_exit()
{
}
void __tsan_read_range(const void *p, size_t n)
{
    plain(p, n, false, PC);
}
void __tsan_write_range(void *p, size_t n)
{
    plain(p, n, true, PC);
}

#define PLAIN(n)                                                                                                                           \
    void __tsan_read##n(const void *p)                                                                                                     \
    {                                                                                                                                      \
        plain(p, n, false, PC);                                                                                                            \
    }                                                                                                                                      \
    void __tsan_write##n(void *p)                                                                                                          \
    {                                                                                                                                      \
        plain(p, n, true, PC);                                                                                                             \
    }                                                                                                                                      \
    void __tsan_unaligned_read##n(const void *p)                                                                                           \
    {                                                                                                                                      \
        plain(p, n, false, PC);                                                                                                            \
    }                                                                                                                                      \
    void __tsan_unaligned_write##n(void *p)                                                                                                \
    {                                                                                                                                      \
        plain(p, n, true, PC);                                                                                                             \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

#define ATOMIC(bits)                                                                                                                       \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile void *p, int order)                                                           \
    {                                                                                                                                      \
        return load<uint##bits##_t>(p, order, PC);                                                                                         \
    }                                                                                                                                      \
    void __tsan_atomic##bits##_store(volatile void *p, uint##bits##_t v, int order)                                                        \
    {                                                                                                                                      \
        store(p, v, order, PC);                                                                                                            \
    }                                                                                                                                      \
    CHANGE(bits, exchange, swap)                                                                                                           \
    CHANGE(bits, fetch_add, add)                                                                                                           \
    CHANGE(bits, fetch_sub, sub)                                                                                                           \
    CHANGE(bits, fetch_and, and)                                                                                                           \
    CHANGE(bits, fetch_or, or)                                                                                                             \
    CHANGE(bits, fetch_xor, xor)                                                                                                           \
    SWAP(bits, strong, false)                                                                                                              \
    SWAP(bits, weak, true)
#define CHANGE(bits, name, kind)                                                                                                           \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile void *p, uint##bits##_t v, int order)                                             \
    {                                                                                                                                      \
        return change<uint##bits##_t, rl::rmw_type_##kind>(p, v, order, PC);                                                               \
    }
#define SWAP(bits, name, weak)                                                                                                             \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile void *p, void *expected, uint##bits##_t v, int order, int failed)           \
    {                                                                                                                                      \
        return swap<uint##bits##_t, weak>(p, expected, v, order, failed, PC);                                                              \
    }
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order)
{
    interrupt();
    rl::atomic_thread_fence((rl::memory_order)order, info(PC));
    interrupt();
}
void __tsan_atomic_signal_fence(int)
{
} /* the compiler has obeyed it, and a handler sees its thread in order */

void relacy_check_at(bool holds, const char *what, const char *file, int line)
{
    if (!holds) {
        (void)snprintf(failure, sizeof failure, "%s:%d: %s, in thread %d", file, line, what, rl::ctx().threadx_->index_);
        rl::ctx().fail_test(what, rl::test_result_user_assert_failed, rl::debug_info("", file, (unsigned)line));
    }
}

unsigned relacy_rand(unsigned limit)
{
    return rl::ctx().rand(limit, rl::sched_type_user);
}

void relacy_step(void)
{
    rl::ctx().sched();
}

void relacy_pause(void)
{
    rl::yield(1, info(PC));
}

unsigned relacy_self(void)
{
    return (unsigned)rl::ctx().threadx_->index_;
}

void relacy_membarrier(void)
{
    context &c = now();
    c.atomic_thread_fence_seq_cst();
    for (auto &t : c.threads_) {
        c.sched(); /* they do not pass it at the same moment */
        t.atomic_thread_fence_seq_cst(c.seq_cst_fence_order_);
    }
    c.atomic_thread_fence_seq_cst();
}

/* ---- what the runner puts in the place of functions of the system (-D) ---- */

/* A mutex that waits by turning; its orders are those of a mutex. Zeroes: free. */
int relacy_lock(void *mutex)
{
    uint32_t is = 0;
    while (!swap<uint32_t, false>(mutex, &is, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, PC)) {
        is = 0;
        relacy_pause();
    }
    return 0;
}
int relacy_unlock(void *mutex)
{
    store<uint32_t>(mutex, 0, __ATOMIC_RELEASE, PC);
    return 0;
}

/* Memory that a thread has cleared by plain writes, and that nobody may use when it is given back: both are writes of its first bytes. */
static char memory[1 << 20] __attribute__((aligned(4096)));
static size_t memory_used;
enum { WRITTEN = 1024 };

void *relacy_mmap(void *, size_t n, int, int, int, long)
{
    char *p = memory + memory_used;
    if (n > sizeof memory - memory_used) {
        return (void *)-1;
    }
    memory_used += (n + 63) / 64 * 64;
    (void)memset(p, 0, n);
    plain(p, std::min<size_t>(n, WRITTEN), true, PC);
    return p;
}
void *relacy_calloc(size_t n, size_t size)
{
    void *p = relacy_mmap(nullptr, n * size, 0, 0, 0, 0);
    return p == (void *)-1 ? nullptr : p;
}
void relacy_free(void *)
{
} /* it stays until the run ends */
int relacy_munmap(void *p, size_t n)
{
    plain(p, std::min<size_t>(n, WRITTEN), true, PC);
    return 0;
}

} // extern "C"

suite::suite()
{
    end_of_run(); /* of one that failed */
    handled = 0;
    handling = false;
    memory_used = 0;
}

suite::~suite()
{
    end_of_run();
}

void suite::before()
{
    if (current->before != nullptr) {
        current->before();
    }
}

void suite::thread(unsigned i)
{
    if (current->thread[i] != nullptr) {
        current->thread[i]();
    }
}

void suite::after()
{
    if (current->after != nullptr) {
        current->after();
    }
}

/* [--runs=FACTOR] [--history]: `ok NAME RUNS` or `FAIL NAME: WHY` for each test; --history prints the run that failed. */
int main(int argc, char **argv)
{
    double factor = 1;
    bool history = false, failed = false;
    for (int i = 1; i < argc; i++) {
        factor = strncmp(argv[i], "--runs=", 7) == 0 ? strtod(argv[i] + 7, nullptr) : factor;
        history = history || strcmp(argv[i], "--history") == 0;
    }
    words = static_cast<word *>(std::calloc(WORDS, sizeof(word)));
    run = 1;
    for (current = relacy_tests; words != nullptr && current->name != nullptr; current++) {
        std::ostringstream nothing;
        rl::test_params p;
        p.iteration_count = std::max<rl::iteration_t>(1, (rl::iteration_t)(current->runs * factor));
        p.output_stream = p.progress_stream = &nothing;
        p.execution_depth_limit = 20000;
        p.collect_history = history;
        p.output_history = !history; /* so it is not run again */
        failure[0] = 0;
        if (rl::simulate<suite>(p)) {
            std::printf("ok %s %llu\n", current->name, (unsigned long long)p.stop_iteration);
        } else {
            failed = true;
            std::printf("FAIL %s: run %llu: %s: %s\n%s", current->name, (unsigned long long)p.stop_iteration,
                        rl::test_result_str(p.test_result), failure, history ? nothing.str().c_str() : "");
        }
        std::fflush(stdout);
    }
    return failed || words == nullptr ? 1 : 0;
}
