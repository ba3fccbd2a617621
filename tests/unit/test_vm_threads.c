/* SPDX-License-Identifier: BSD-2-Clause */
/* test_vm_threads.c: what threads of HotSpot are for, by the names that the kernel has of them. */
#include "cmocka_all.h"
#include "compiler.h"
#include "vm_threads.h"

static void are(enum hpx_vm_thread is, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (hpx_vm_thread_of(names[i]) != is) {
            fail_msg("%s: %d, not %d", names[i], hpx_vm_thread_of(names[i]), is);
        }
    }
}
#define ARE(is, ...)                                                                                                                       \
    do {                                                                                                                                   \
        static const char *const all[] = {__VA_ARGS__};                                                                                    \
        are(is, all, HPX_ARRAY_LEN(all));                                                                                                  \
    } while (0)

/* JDK 11 to 21 cut a name behind 15 bytes. */
TEST(names_that_are_cut_behind)
{
    ARE(HPX_VM_THREAD_COLLECTOR, "GC Thread#0", "GC Thread#117", "G1 Main Marker", "G1 Conc#0", "G1 Refine#0", "G1 Service",
        "G1 Young RemSet", "ZWorker#0", "ZDriver", "ZRelocateThread", "Shenandoah GC T", "StringDedupProc");
    ARE(HPX_VM_THREAD_C1, "C1 CompilerThre");
    ARE(HPX_VM_THREAD_C2, "C2 CompilerThre");
    ARE(HPX_VM_THREAD_VM, "VM Thread");
    ARE(HPX_VM_THREAD_OTHER, "VM Periodic Tas", "Service Thread", "Monitor Deflati", "Sweeper thread");
}

/* JDK 22 and later cut it in the middle. */
TEST(names_that_are_cut_in_the_middle)
{
    ARE(HPX_VM_THREAD_COLLECTOR, "ZUncomm..ter#0", "ZWorker..d#1", "Shenand..eads#1", "StringD..cessor");
    ARE(HPX_VM_THREAD_C1, "C1 Comp..hread0");
    ARE(HPX_VM_THREAD_C2, "C2 Comp..hread0", "C2 Comp..read12");
    ARE(HPX_VM_THREAD_OTHER, "VM Peri..Thread", "Monitor..Thread");
}

TEST(names_of_others)
{
    ARE(HPX_VM_THREAD_NONE, "", "java", "main", "Monitor", "GC", "VM", "C2", "hprofx-native", "Common-Cleaner", "Finalizer",
        "ForkJoinPool-1-", "Concierge", "XThread", "Signal", "ConcurrentConsu", "Concurr..umer-1", "CMS import", "StringDecoder-2",
        "StringD..der-12");
}

TESTS(NULL, NULL)
