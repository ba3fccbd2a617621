/* SPDX-License-Identifier: BSD-2-Clause */
/* null_jvmpi.c: an agent of JVMPI whose handler does nothing: what the delivery costs. Test code of tools/bench.
 *
 * Options: entry (METHOD_ENTRY, METHOD_EXIT), entry2 (METHOD_ENTRY2, METHOD_EXIT), alloc (OBJECT_ALLOC, OBJECT_FREE). */
#include <jvmpi.h>
#include <string.h>

static void notify(JVMPI_Event *event)
{
    (void)event;
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    static const struct {
        const char *option;
        jint events[2];
    } known[] = {{"entry", {JVMPI_EVENT_METHOD_ENTRY, JVMPI_EVENT_METHOD_EXIT}},
                 {"entry2", {JVMPI_EVENT_METHOD_ENTRY2, JVMPI_EVENT_METHOD_EXIT}},
                 {"alloc", {JVMPI_EVENT_OBJECT_ALLOC, JVMPI_EVENT_OBJECT_FREE}}};
    JVMPI_Interface *jvmpi;
    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&jvmpi, JVMPI_VERSION_1) != JNI_OK) {
        return JNI_ERR;
    }
    jvmpi->NotifyEvent = notify;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(options, known[i].option) == 0) {
            return jvmpi->EnableEvent(known[i].events[0], NULL) == JVMPI_SUCCESS &&
                           jvmpi->EnableEvent(known[i].events[1], NULL) == JVMPI_SUCCESS
                       ? JNI_OK
                       : JNI_ERR;
        }
    }
    return JNI_ERR;
}
