/* SPDX-License-Identifier: BSD-2-Clause */
/* vm_threads.c: the names of vm_threads.h, of JDK 11 to 28. */
#include "vm_threads.h"
#include "compiler.h"
#include <string.h>

static const struct {
    const char *begin;
    enum hpx_vm_thread is;
} names[] = {
    {"GC Thread", HPX_VM_THREAD_COLLECTOR},
    {"ParGC", HPX_VM_THREAD_COLLECTOR},
    {"Gang worker", HPX_VM_THREAD_COLLECTOR},
    {"CMS Thread", HPX_VM_THREAD_COLLECTOR},
    {"Concurrent Mar", HPX_VM_THREAD_COLLECTOR},
    {"G1 ", HPX_VM_THREAD_COLLECTOR},
    {"StrDedup", HPX_VM_THREAD_COLLECTOR},
    {"StringDedup", HPX_VM_THREAD_COLLECTOR},
    {"StringD..cessor", HPX_VM_THREAD_COLLECTOR},
    {"ZWorker", HPX_VM_THREAD_COLLECTOR},
    {"ZDriver", HPX_VM_THREAD_COLLECTOR},
    {"ZDirect", HPX_VM_THREAD_COLLECTOR},
    {"ZRelocat", HPX_VM_THREAD_COLLECTOR},
    {"ZUncomm", HPX_VM_THREAD_COLLECTOR},
    {"ZUnmap", HPX_VM_THREAD_COLLECTOR},
    {"ZStat", HPX_VM_THREAD_COLLECTOR},
    {"XWorker", HPX_VM_THREAD_COLLECTOR},
    {"XDriver", HPX_VM_THREAD_COLLECTOR},
    {"XDirect", HPX_VM_THREAD_COLLECTOR},
    {"XUncomm", HPX_VM_THREAD_COLLECTOR},
    {"XUnmap", HPX_VM_THREAD_COLLECTOR},
    {"XStat", HPX_VM_THREAD_COLLECTOR},
    {"RuntimeWorker", HPX_VM_THREAD_COLLECTOR},
    {"Runtime..", HPX_VM_THREAD_COLLECTOR},
    {"Shenand", HPX_VM_THREAD_COLLECTOR},
    {"ShenCon", HPX_VM_THREAD_COLLECTOR},
    {"ShenReg", HPX_VM_THREAD_COLLECTOR},
    {"ShenUnc", HPX_VM_THREAD_COLLECTOR},
    {"Epsilon", HPX_VM_THREAD_COLLECTOR},
    {"C1 Comp", HPX_VM_THREAD_C1},
    {"C2 Comp", HPX_VM_THREAD_C2},
    {"JVMCI", HPX_VM_THREAD_C2},
    {"VM Thread", HPX_VM_THREAD_VM},
    {"VM Peri", HPX_VM_THREAD_OTHER},
    {"Sweeper thread", HPX_VM_THREAD_OTHER},
    {"Service Thread", HPX_VM_THREAD_OTHER},
    {"Monitor Deflati", HPX_VM_THREAD_OTHER},
    {"Monitor..Thread", HPX_VM_THREAD_OTHER},
    {"Signal Dispatch", HPX_VM_THREAD_OTHER},
    {"Signal ..", HPX_VM_THREAD_OTHER},
    {"JFR Thread Samp", HPX_VM_THREAD_OTHER},
    {"JFR Thr..", HPX_VM_THREAD_OTHER},
    {"JFR Sam", HPX_VM_THREAD_OTHER},
    {"AsyncLog Thread", HPX_VM_THREAD_OTHER},
    {"AsyncLo..", HPX_VM_THREAD_OTHER},
};

enum hpx_vm_thread hpx_vm_thread_of(const char *name)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        if (strncmp(name, names[i].begin, strlen(names[i].begin)) == 0) {
            return names[i].is;
        }
    }
    return HPX_VM_THREAD_NONE;
}
