/* SPDX-License-Identifier: BSD-2-Clause */
/* compiler.h: compiler attributes and builtins beyond C11. */
#ifndef HPX_COMPILER_H
#define HPX_COMPILER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HPX_CACHE_LINE 64

#define hpx_likely(x)   __builtin_expect(!!(x), 1)
#define hpx_unlikely(x) __builtin_expect(!!(x), 0)

#define HPX_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define HPX_ALIGNED(n)        __attribute__((aligned(n)))

/* A variable that lives as long as a session (session.h), which clears all of them when it ends: it has no initialiser but zeroes. The
 * linker puts them side by side. Every other variable is the process's, and tests/unit/process_variables.txt says why. */
#define HPX_OF_SESSION __attribute__((section("hpx_session_variables")))

#define HPX_ARRAY_LEN(a)                    (sizeof(a) / sizeof((a)[0]))
#define HPX_CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* Where the frame of this function ends: all functions that one function calls have the same but for arguments on the stack, whatever
 * theirs hold. Not the frame pointer: on x86 that is near this end, on Arm (GCC) at the other. */
#define HPX_FRAME_END() __builtin_dwarf_cfa()

/* A function that keeps its frame for itself: what it has on the stack costs its callers nothing where they do not call it. */
#define HPX_NOINLINE __attribute__((noinline))

/* A label that a debugger or a test can break on; no code. `name` is a C identifier, unique in the library. */
#define HPX_TESTPOINT(name) __asm__ volatile(".ifndef hpx_tp_" #name "\nhpx_tp_" #name ":\n.endif" ::: "memory")

#if defined(__SANITIZE_THREAD__)
#define HPX_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HPX_TSAN 1
#endif
#endif

/* Orders made by inline assembly of a library are invisible to ThreadSanitizer: wake and lane say them by hand. */
#ifdef HPX_TSAN
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
#define hpx_tsan_acquire(addr) __tsan_acquire((void *)(addr))
#define hpx_tsan_release(addr) __tsan_release((void *)(addr))
/* Around writes of such a library that two threads make in turn: clang does not take its inline functions into a body without checks. */
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
#define hpx_tsan_ignore_writes(on) ((on) ? AnnotateIgnoreWritesBegin(__FILE__, __LINE__) : AnnotateIgnoreWritesEnd(__FILE__, __LINE__))
/* For a function that reads what the library's inline code wrote. */
#ifdef __clang__
#define HPX_NO_TSAN __attribute__((no_sanitize("thread"), noinline))
#else
#define HPX_NO_TSAN __attribute__((no_sanitize("thread"), noipa)) /* GCC else moves the load into the caller */
#endif
#else
#define HPX_NO_TSAN
#define hpx_tsan_acquire(addr)     ((void)(addr))
#define hpx_tsan_release(addr)     ((void)(addr))
#define hpx_tsan_ignore_writes(on) ((void)0)
#endif

/* Reads another function's frame, which may be an instrumented one's: what ASan forbids there is no fault. */
#define HPX_NO_ASAN __attribute__((no_sanitize("address")))

#endif
