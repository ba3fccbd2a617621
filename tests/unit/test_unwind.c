/* SPDX-License-Identifier: BSD-2-Clause */
/* test_unwind.c: walks real stacks, of this program, libc and a library made for it, at every instruction: the processor stops behind each,
 * and what its calls and returns have left is the truth. Elsewhere than on x86-64 the walk is compared where a signal comes. */
#include "cmocka_all.h"
#include "libraries.h"
#include "unwind.h"
#include "unwind_functions.h"
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define DEEP 400

static uintptr_t stack_low, stack_end;

enum { MOST = 128 }; /* frames of a walk */

static void find_stack(void)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
    assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
    assert_int_equal(pthread_attr_getstack(&attr, &low, &size), 0);
    pthread_attr_destroy(&attr);
    stack_low = (uintptr_t)low;
    stack_end = stack_low + size;
}

static int begin(void **state)
{
    (void)state;
    find_stack();
    assert_null(hpx_libraries_begin());
    hpx_libraries_look();
    return 0;
}

static int end(void **state)
{
    (void)state;
    hpx_libraries_end(false);
    return 0;
}

/* Where a frame is, as the walk tells it. */
static struct hpx_unwind_place place_of(uintptr_t pc)
{
    struct hpx_library_place p;
    if (!hpx_libraries_find_sig(pc, &p)) {
        return (struct hpx_unwind_place){0, pc};
    }
    uint32_t function = p.offset;
    if (p.library->table != NULL) {
        (void)hpx_unwind_table_find_sig(p.library->table, p.offset, &function);
    }
    return (struct hpx_unwind_place){p.library->number, function};
}

static bool is_same(struct hpx_unwind_place a, struct hpx_unwind_place b)
{
    return a.library == b.library && a.address == b.address;
}

static int walk(const ucontext_t *u, struct hpx_unwind_place *places, int most, enum hpx_unwind_end *ends)
{
    struct hpx_unwind_walk w = {.stack_low = stack_low, .stack_end = stack_end, .at = hpx_unwind_load_sig(u), .interrupted = true};
    hpx_unwind_walk_sig(&w, places, most);
    *ends = w.end;
    return w.n;
}

static void handle(int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = handler;
    sa.sa_flags = SA_SIGINFO | flags;
    assert_int_equal(sigaction(sig, &sa, NULL), 0);
}

/* ---- every instruction ---- */

#if defined(__x86_64__)

static struct {
    uintptr_t calls[DEEP]; /* return addresses of the calls since the beginning */
    int n;
    uintptr_t before; /* the instruction before; 0: none */
    struct hpx_unwind_place outer[MOST];
    int nouter; /* of the function that began and its callers */
    uint64_t steps, wrong;
    char first[200];
} steps;

static void keep_calls(const greg_t *r)
{
    const uint8_t *is = (const uint8_t *)steps.before;
    while (is != NULL && (*is == 0xf2 || *is == 0xf3 || *is == 0x3e || *is == 0x66 || (*is & 0xf0) == 0x40)) {
        is++; /* prefixes */
    }
    const uintptr_t pc = (uintptr_t)r[REG_RIP];
    if (is != NULL && (*is == 0xe8 || (*is == 0xff && (is[1] >> 3 & 7) == 2)) && steps.n < DEEP) {
        steps.calls[steps.n++] = *(const uintptr_t *)r[REG_RSP];
    } else if (is != NULL && (*is == 0xc3 || *is == 0xc2) && steps.n > 0) {
        steps.n--;
    }
    steps.before = pc;
}

/* The frames that are there, and behind them those of the beginning. */
static bool is_right(uintptr_t pc, const struct hpx_unwind_place *places, int n)
{
    bool right = n == steps.n + steps.nouter;
    for (int i = 0; i < n && right; i++) {
        const struct hpx_unwind_place is =
            i < steps.n + 1 ? place_of(i == 0 ? pc : steps.calls[steps.n - i] - 1) : steps.outer[i - steps.n];
        right = is_same(places[i], is);
    }
    return right;
}

static void step(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info;
    struct hpx_unwind_place places[MOST];
    enum hpx_unwind_end ends;
    const ucontext_t *u = context;
    const uintptr_t pc = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
    int n = walk(u, places, MOST, &ends);
    if (steps.steps++ == 0) {
        memcpy(steps.outer, places, (size_t)n * sizeof *places);
        steps.nouter = n;
        steps.before = pc;
        return;
    }
    keep_calls(u->uc_mcontext.gregs);
    if (!is_right(pc, places, n) || ends != HPX_UNWIND_END_OUTERMOST) {
        Dl_info is;
        bool known = dladdr((void *)pc, &is) != 0;
        steps.wrong++;
        if (steps.first[0] == 0) {
            snprintf(steps.first, sizeof steps.first, "step %lu, %s+0x%lx: %d frames of %d, end %d", (unsigned long)steps.steps,
                     known ? is.dli_fname : "?", (unsigned long)(known ? pc - (uintptr_t)is.dli_fbase : pc), n, steps.n + steps.nouter,
                     ends);
        }
    }
}

static __attribute__((noinline)) void trace(int (*of)(int), int n)
{
    memset(&steps, 0, sizeof steps);
    handle(SIGTRAP, step, 0);
    __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
    (void)of(n);
    __asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

static void check(int (*of)(int))
{
    for (int n = 1; n <= 5; n++) {
        trace(of, n);
        if (steps.wrong > 0) {
            fail_msg("%lu of %lu wrong, first: %s", (unsigned long)steps.wrong, (unsigned long)steps.steps, steps.first);
        }
        assert_true(steps.steps > 500);
    }
}

TEST(every_instruction_of_functions_with_frame_pointers, begin, end)
{
    (void)state;
    check(pointers_all);
}

TEST(every_instruction_of_functions_without_frame_pointers, begin, end)
{
    (void)state;
    check(none_all);
}

#endif

/* ---- signals ---- */

static struct {
    struct hpx_unwind_place places[MOST];
    int n;
    enum hpx_unwind_end end;
} seen;

static void look(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info;
    seen.n = walk(context, seen.places, MOST, &seen.end);
}

static volatile int kept;

static int place_in_seen(struct hpx_unwind_place p)
{
    for (int i = 0; i < seen.n; i++) {
        if (is_same(seen.places[i], p)) {
            return i;
        }
    }
    return -1;
}

static void raise_inner(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info, (void)context;
    kept = raise(SIGUSR2); /* no jump to it */
}

static __attribute__((noinline)) void interrupted(void)
{
    kept = raise(SIGUSR1);
}

TEST(a_walk_goes_through_a_handler_to_what_it_interrupted, begin, end)
{
    (void)state;
    handle(SIGUSR1, raise_inner, 0);
    handle(SIGUSR2, look, 0);
    interrupted();
    assert_int_equal(seen.end, HPX_UNWIND_END_OUTERMOST);
    int handler = place_in_seen(place_of((uintptr_t)raise_inner)), caller = place_in_seen(place_of((uintptr_t)interrupted));
    assert_true(handler > 0 && caller > handler + 1);
}

TEST(a_walk_leaves_the_stack_of_a_handler, begin, end)
{
    (void)state;
    static char other[65536];
    const stack_t on = {.ss_sp = other, .ss_size = sizeof other}, off = {.ss_flags = SS_DISABLE};
    assert_int_equal(sigaltstack(&on, NULL), 0);
    handle(SIGUSR1, raise_inner, SA_ONSTACK);
    handle(SIGUSR2, look, 0);
    interrupted();
    assert_int_equal(sigaltstack(&off, NULL), 0);
    assert_int_equal(seen.end, HPX_UNWIND_END_OUTERMOST);
    assert_true(place_in_seen(place_of((uintptr_t)interrupted)) > place_in_seen(place_of((uintptr_t)raise_inner)));
}

static void *on_a_thread(void *unused)
{
    (void)unused;
    find_stack();
    interrupted();
    return NULL;
}

TEST(a_walk_of_a_thread_ends_where_it_began, begin, end)
{
    (void)state;
    pthread_t thread;
    handle(SIGUSR1, look, 0);
    assert_int_equal(pthread_create(&thread, NULL, on_a_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    find_stack();
    assert_int_equal(seen.end, HPX_UNWIND_END_OUTERMOST);
    assert_true(place_in_seen(place_of((uintptr_t)on_a_thread)) > 0);
}

static __attribute__((noinline)) int recursion(int n)
{
    volatile int local = n;
    if (n == 0) {
        (void)raise(SIGUSR1);
    }
    return n > 0 ? recursion(n - 1) + local : local;
}

TEST(a_walk_takes_no_more_frames_than_there_is_room_for, begin, end)
{
    (void)state;
    handle(SIGUSR1, look, 0);
    (void)recursion(100000 / 16);
    assert_int_equal(seen.n, MOST);
    assert_int_equal(seen.end, HPX_UNWIND_END_MOST);
}

/* ---- stacks that are not what they seem ---- */

static int walk_from(struct hpx_unwind_at at, struct hpx_unwind_place *places, enum hpx_unwind_end *ends)
{
    struct hpx_unwind_walk w = {.stack_low = stack_low, .stack_end = stack_end, .at = at, .interrupted = true};
    hpx_unwind_walk_sig(&w, places, MOST);
    *ends = w.end;
    return w.n;
}

TEST(no_word_is_read_behind_the_end_of_a_stack, begin, end)
{
    (void)state;
    const size_t size = 65536;
    char *stack = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct hpx_unwind_place places[MOST];
    enum hpx_unwind_end ends;
    assert_true(stack != MAP_FAILED);
    assert_int_equal(mprotect(stack + size, 4096, PROT_NONE), 0);
    stack_low = (uintptr_t)stack;
    stack_end = stack_low + size;
    for (uintptr_t up = 1; up < 512; up++) { /* a fault would end the test */
        for (uintptr_t in = 0; in < 2000; in += 7) {
            const uintptr_t sp = stack_end - up;
            (void)walk_from((struct hpx_unwind_at){.pc = (uintptr_t)qsort + in, .sp = sp, .fp = sp + in, .base = sp - in}, places, &ends);
        }
    }
    assert_int_equal(munmap(stack, size + 4096), 0);
    find_stack();
}

static uint64_t drawn(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 11;
}

TEST(any_words_of_a_stack_end_the_walk, begin, end)
{
    (void)state;
    enum { WORDS = 4096 };
    static uintptr_t stack[WORDS];
    uint64_t seed = 5;
    struct hpx_unwind_place places[MOST];
    enum hpx_unwind_end ends;
    const uintptr_t code[] = {(uintptr_t)qsort, (uintptr_t)malloc, (uintptr_t)snprintf, (uintptr_t)pointers_all, (uintptr_t)none_all};
    stack_low = (uintptr_t)stack;
    stack_end = stack_low + sizeof stack;
    for (int round = 0; round < 2000; round++) {
        for (int i = 0; i < WORDS; i += 1 + (int)(drawn(&seed) % 4)) {
            uint64_t what = drawn(&seed) % 4;
            stack[i] = what == 0   ? code[drawn(&seed) % 5] + drawn(&seed) % 700
                       : what == 1 ? stack_low + drawn(&seed) % sizeof stack
                       : what == 2 ? drawn(&seed)
                                   : 0;
        }
        const uintptr_t sp = stack_low + drawn(&seed) % sizeof stack;
        int n = walk_from((struct hpx_unwind_at){code[drawn(&seed) % 5] + drawn(&seed) % 700, sp, sp + drawn(&seed) % 300, sp, sp}, places,
                          &ends);
        assert_in_range(n, 0, MOST);
    }
    find_stack();
}

TEST(an_address_that_no_process_has_is_no_frame, begin, end)
{
    (void)state;
    static uintptr_t stack[64];
    const uintptr_t words[] = {0x3ff0000000000000, UINTPTR_MAX - 1, 0xffffffffff600000, (uintptr_t)1 << 48};
    struct hpx_unwind_place places[MOST];
    enum hpx_unwind_end ends;
    stack_low = (uintptr_t)stack;
    stack_end = stack_low + sizeof stack;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        const int n = walk_from((struct hpx_unwind_at){.pc = words[i], .sp = stack_low}, places, &ends);
        assert_int_equal(n, 0);
        assert_int_equal(ends, HPX_UNWIND_END_STACK);
    }
    const int n = walk_from((struct hpx_unwind_at){.pc = (uintptr_t)places, .sp = stack_low}, places, &ends);
    assert_int_equal(n, 1); /* of no library */
    assert_int_equal(places[0].library, 0);
    assert_int_equal(ends, HPX_UNWIND_END_NO_LIBRARY);
    find_stack();
}

/* ---- libraries that come and go ---- */

TEST(no_descriptor_stays_open)
{
    (void)state;
    const int before = dup(0);
    assert_true(before >= 0);
    (void)close(before);
    (void)begin(NULL);
    const int while_known = dup(0);
    (void)close(while_known);
    (void)end(NULL);
    assert_int_equal(before, while_known);
}

/* What the section has that file tools read: of libc the second part of notes has it where the first is for the processor. */
TEST(the_build_id_of_a_library_is_found_in_any_of_its_notes, begin, end)
{
    (void)state;
    struct hpx_library_place p;
    assert_true(hpx_libraries_find_sig((uintptr_t)qsort, &p));
    if (strstr(p.library->path, "libc.so.6") == NULL) {
        skip(); /* musl's has none */
    }
    assert_int_equal(p.library->build_id_bytes, 20);
}

static _Atomic bool over;

static void *load_and_unload(void *path)
{
    for (int i = 0; i < 200; i++) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library != NULL) {
            dlclose(library);
        }
    }
    over = true;
    return NULL;
}

TEST(libraries_come_and_go_while_stacks_are_walked, begin, end)
{
    (void)state;
    pthread_t thread;
    char path[] = UNWIND_LIBRARY;
    uint64_t walks = 0;
    handle(SIGUSR1, look, 0);
    over = false;
    assert_int_equal(pthread_create(&thread, NULL, load_and_unload, path), 0);
    while (!over) {
        hpx_libraries_look();
        interrupted();
        assert_int_equal(seen.end, HPX_UNWIND_END_OUTERMOST);
        walks++;
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(walks > 0);
}

TEST(a_library_that_comes_again_keeps_its_number, begin, end)
{
    (void)state;
    struct hpx_library_place p, again;
    void *library = dlopen(UNWIND_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    uintptr_t at = (uintptr_t)dlsym(library, "pointers_all");
    assert_false(hpx_libraries_find_sig(at, &p));
    hpx_libraries_look();
    assert_true(hpx_libraries_find_sig(at, &p));
    assert_non_null(p.library->table);
    assert_int_equal(p.library->build_id_bytes, 20);
    dlclose(library);
    hpx_libraries_look();
    assert_false(hpx_libraries_find_sig(at, &again));
    void *filler = mmap((void *)(at & ~(uintptr_t)4095), 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* it comes elsewhere */
    library = dlopen(UNWIND_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    hpx_libraries_look();
    assert_true(hpx_libraries_find_sig((uintptr_t)dlsym(library, "pointers_all"), &again));
    assert_ptr_equal(again.library, p.library);
    assert_int_equal(again.offset, p.offset);
    dlclose(library);
    (void)munmap(filler, 4096);
}

/* What was known stays, and the library that came has its table once there are descriptors again. */
TEST(a_look_without_a_free_descriptor_changes_nothing, begin, end)
{
    (void)state;
    struct hpx_library_place libc, p;
    struct rlimit most;
    assert_true(hpx_libraries_find_sig((uintptr_t)qsort, &libc));
    void *library = dlopen(UNWIND_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    const uintptr_t at = (uintptr_t)dlsym(library, "pointers_all");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &most), 0);
    const struct rlimit none = {0, most.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    hpx_libraries_look();
    hpx_libraries_look();
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &most), 0);
    assert_true(hpx_libraries_find_sig((uintptr_t)qsort, &p));
    assert_ptr_equal(p.library, libc.library);
    assert_false(hpx_libraries_find_sig(at, &p));
    hpx_libraries_look();
    assert_true(hpx_libraries_find_sig((uintptr_t)qsort, &p));
    assert_ptr_equal(p.library, libc.library);
    assert_true(hpx_libraries_find_sig(at, &p));
    assert_non_null(p.library->table);
    dlclose(library);
}

TESTS(NULL, NULL)
