/* SPDX-License-Identifier: BSD-2-Clause */
/* vm.c: the release of the JDK, the names of JVMTI's errors. */
#include "vm.h"

struct hpx_vm hpx_vm;

static const struct {
    jvmtiError code;
    const char *name;
} jvmti_errors[] = {
    {JVMTI_ERROR_NOT_AVAILABLE, "JVMTI_ERROR_NOT_AVAILABLE"},
    {JVMTI_ERROR_MUST_POSSESS_CAPABILITY, "JVMTI_ERROR_MUST_POSSESS_CAPABILITY"},
    {JVMTI_ERROR_OUT_OF_MEMORY, "JVMTI_ERROR_OUT_OF_MEMORY"},
    {JVMTI_ERROR_WRONG_PHASE, "JVMTI_ERROR_WRONG_PHASE"},
    {JVMTI_ERROR_INTERNAL, "JVMTI_ERROR_INTERNAL"},
    {JVMTI_ERROR_UNATTACHED_THREAD, "JVMTI_ERROR_UNATTACHED_THREAD"},
    {JVMTI_ERROR_INVALID_EVENT_TYPE, "JVMTI_ERROR_INVALID_EVENT_TYPE"},
};

const char *hpx_jvmti_error(jvmtiError e)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(jvmti_errors); i++) {
        if (jvmti_errors[i].code == e) {
            return jvmti_errors[i].name;
        }
    }
    return "another JVMTI error";
}

jint hpx_vm_release(void)
{
    jint version = 0;
    (void)(*hpx_vm.jvmti)->GetVersionNumber(hpx_vm.jvmti, &version);
    jint release = (version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR;
    return release > 1 ? release : 8; /* JVMTI 1.2 */
}
