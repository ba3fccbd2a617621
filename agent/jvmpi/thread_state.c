/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_state.c: see thread_state.h. */
#include "thread_state.h"
#include "structures.h"

static struct {
    uint64_t state; /* offset in the VM's thread */
    int in_native;
    long env;          /* likewise, of its JNIEnv */
    atomic_bool known; /* release: learn(); acquire: readers, who then read the rest */
} states;

void hpx_jvmpi_state_learn(long offset)
{
    const struct hpx_vm_field field = {"JavaThread", "_thread_state", "JavaThreadState", &states.state};
    states.env = offset;
    bool known = offset != 0 && hpx_structures_field(&field) && hpx_structures_constant("_thread_in_native", &states.in_native);
    atomic_store_explicit(&states.known, known, memory_order_release);
}

bool hpx_jvmpi_state_known(void)
{
    return atomic_load_explicit(&states.known, memory_order_acquire); /* partner: learn() */
}

/* Only a thread in native code runs on while the world is stopped. One that enters the VM is in another state from then on, and waits. */
bool hpx_jvmpi_stands_still(JNIEnv *env)
{
    return hpx_jvmpi_state_known() && hpx_vm_int((uintptr_t)env - (uintptr_t)states.env + states.state) != states.in_native;
}
