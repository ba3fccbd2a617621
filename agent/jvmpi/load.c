/* SPDX-License-Identifier: BSD-2-Clause */
/* load.c: Agent_OnLoad: loads the agent that the option names, prepares JVMTI and calls JVM_OnLoad; VMInit and VMDeath.
 *
 * What goes wrong here goes wrong before main: one line, and the process ends with 1, as JDK 1.2 to 5 did. */
#include "archive.h"
#include "frees.h"
#include "java_vm.h"
#include "log.h"
#include "shim.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hpx_jvmpi hpx_jvmpi;

const struct hpx_jvmpi_source *const hpx_jvmpi_sources[] = {
    &hpx_jvmpi_threads, &hpx_jvmpi_vm_events, &hpx_jvmpi_monitors,  &hpx_jvmpi_raw_monitors, &hpx_jvmpi_class_events, &hpx_jvmpi_methods,
    &hpx_jvmpi_objects, &hpx_jvmpi_refs,      &hpx_jvmpi_heap_dump, &hpx_jvmpi_object_dump,  &hpx_jvmpi_monitor_dump, NULL,
};

/* ---- the agent's library ---- */

/* The text of dlopen() for a file that is there says more than that of one that is not. */
static void *open_one(const char *file, char *why, size_t size)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    const char *text = library == NULL ? dlerror() : NULL;
    if (text != NULL && (why[0] == '\0' || strstr(text, "cannot open shared object file") == NULL)) {
        snprintf(why, size, "%s", text);
    }
    return library;
}

/* As -Xrun took a name: lib and .so around it, in the JDK's folder, then where the linker looks. */
static void *open_name(const char *name, char *why, size_t size)
{
    char file[PATH_MAX], *folder = NULL;
    void *library = NULL;
    if ((*hpx_jvmpi.jvmti)->GetSystemProperty(hpx_jvmpi.jvmti, "sun.boot.library.path", &folder) == JVMTI_ERROR_NONE && folder != NULL) {
        snprintf(file, sizeof(file), "%s/lib%s.so", folder, name);
        library = open_one(file, why, size);
        hpx_jvmpi_give_back(folder);
    }
    if (library == NULL) {
        snprintf(file, sizeof(file), "lib%s.so", name);
        library = open_one(file, why, size);
    }
    return library;
}

/* A path; a file's name where the linker looks, or in the working directory; or a name as above. */
static void *open_agent(const char *name, char *why, size_t size)
{
    char file[PATH_MAX];
    if (strchr(name, '/') != NULL) {
        return open_one(name, why, size);
    }
    size_t n = strlen(name);
    if (n < 3 || strcmp(name + n - 3, ".so") != 0) {
        return open_name(name, why, size);
    }
    void *library = open_one(name, why, size);
    snprintf(file, sizeof(file), "./%s", name);
    return library == NULL ? open_one(file, why, size) : library;
}

static void refuse(const char *text)
{
    hpx_warn("jvmpi: %s", text);
    exit(1);
}

typedef jint(JNICALL *on_load)(JavaVM *, char *, void *);

static on_load load_agent(const char *name)
{
    char why[PATH_MAX + 256] = "", text[2 * PATH_MAX + 512];
    void *library = open_agent(name, why, sizeof(why));
    if (library == NULL) {
        snprintf(text, sizeof(text), "cannot load the agent: %s", why);
        refuse(text);
    }
    void *found = dlsym(library, "JVM_OnLoad");
    if (found == NULL) {
        snprintf(text, sizeof(text), "the agent %s has no function JVM_OnLoad", name);
        refuse(text);
    }
    on_load function;
    memcpy(&function, &found, sizeof(function)); /* C has no cast from an object to a function */
    return function;
}

/* ---- JVMTI ---- */

static void JNICALL vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti;
    for (const struct hpx_jvmpi_source *const *s = hpx_jvmpi_sources; *s != NULL; s++) {
        if ((*s)->live != NULL) {
            (*s)->live(env, thread);
        }
    }
    atomic_store_explicit(&hpx_jvmpi.phase, HPX_JVMPI_LIVE, memory_order_relaxed);
    hpx_jvmpi_frees_live();
    if (hpx_jvmpi_on(JVMPI_EVENT_JVM_INIT_DONE)) {
        hpx_jvmpi_notify(&(JVMPI_Event){.event_type = JVMPI_EVENT_JVM_INIT_DONE, .env_id = env});
    }
}

static void JNICALL vm_death(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)jvmti;
    hpx_jvmpi_frees_last(env);
    if (hpx_jvmpi_on(JVMPI_EVENT_JVM_SHUT_DOWN)) {
        hpx_jvmpi_notify(&(JVMPI_Event){.event_type = JVMPI_EVENT_JVM_SHUT_DOWN, .env_id = env});
    }
    atomic_store_explicit(&hpx_jvmpi.phase, HPX_JVMPI_DEAD, memory_order_relaxed);
    for (const struct hpx_jvmpi_source *const *s = hpx_jvmpi_sources; *s != NULL; s++) {
        if ((*s)->death != NULL) {
            (*s)->death(env);
        }
    }
}

/* Bits that this VM does not offer are taken out: what needs them fails later, by its return code. */
static bool take_capabilities(void)
{
    jvmtiCapabilities wanted = {.can_tag_objects = 1,
                                .can_suspend = 1,
                                .can_get_source_file_name = 1,
                                .can_get_line_numbers = 1,
                                .can_signal_thread = 1,
                                .can_get_current_thread_cpu_time = 1,
                                .can_get_thread_cpu_time = 1,
                                .can_get_monitor_info = 1,
                                .can_get_current_contended_monitor = 1,
                                .can_generate_monitor_events = 1,
                                .can_generate_garbage_collection_events = 1};
    jvmtiCapabilities offered = {0};
    for (const struct hpx_jvmpi_source *const *s = hpx_jvmpi_sources; *s != NULL; s++) {
        if ((*s)->capabilities != NULL) {
            (*s)->capabilities(&wanted);
        }
    }
    if ((*hpx_jvmpi.jvmti)->GetPotentialCapabilities(hpx_jvmpi.jvmti, &offered) != JVMTI_ERROR_NONE) {
        return false;
    }
    unsigned char *w = (unsigned char *)&wanted;
    const unsigned char *o = (const unsigned char *)&offered;
    for (size_t i = 0; i < sizeof(wanted); i++) {
        w[i] &= o[i];
    }
    return hpx_jvmpi_need(&wanted);
}

static int jdk_version(void)
{
    char *text = NULL;
    if ((*hpx_jvmpi.jvmti)->GetSystemProperty(hpx_jvmpi.jvmti, "java.vm.specification.version", &text) != JVMTI_ERROR_NONE) {
        return 8;
    }
    int version = (int)strtol(strncmp(text, "1.", 2) == 0 ? text + 2 : text, NULL, 10);
    hpx_jvmpi_give_back(text);
    return version;
}

static bool prepare(void)
{
    jvmtiEventCallbacks callbacks = {.VMInit = vm_init, .VMDeath = vm_death};
    for (const struct hpx_jvmpi_source *const *s = hpx_jvmpi_sources; *s != NULL; s++) {
        if ((*s)->callbacks != NULL) {
            (*s)->callbacks(&callbacks);
        }
    }
    hpx_jvmpi.jdk = jdk_version();
    hpx_jvmpi_rules_init();
    hpx_jvmpi_fill(&hpx_jvmpi.interface);
    hpx_jvmpi.interface.version = JVMPI_VERSION_1_2;
    return take_capabilities() && hpx_jvmpi_switch_init() &&
           (*hpx_jvmpi.jvmti)->SetEventCallbacks(hpx_jvmpi.jvmti, &callbacks, (jint)sizeof(callbacks)) == JVMTI_ERROR_NONE &&
           hpx_jvmpi_listen(JVMTI_EVENT_VM_INIT, true) && hpx_jvmpi_listen(JVMTI_EVENT_VM_DEATH, true) &&
           hpx_jvmpi_listen(JVMTI_EVENT_THREAD_START, true) && hpx_jvmpi_listen(JVMTI_EVENT_THREAD_END, true);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    static atomic_bool loaded;
    (void)reserved;
    if (atomic_exchange_explicit(&loaded, true, memory_order_relaxed)) {
        hpx_warn("jvmpi: loaded twice; the second agent is not loaded, because JVMPI serves one");
        return JNI_OK;
    }
    const char *option;
    if (hpx_archive(&option) == HPX_ARCHIVE_WRITTEN) {
        return JNI_OK; /* no program runs; a file of the one that recorded may have the agent's name for it */
    }
    char *name = strdup(options == NULL ? "" : options); /* kept: the agent may keep its options */
    if (name == NULL || name[0] == '\0' || name[0] == ':') {
        refuse("name an agent: -agentpath:libhprofx-jvmpi.so=AGENT.so:options");
    }
    char *rest = name + strcspn(name, ":");
    if (*rest != '\0') {
        *rest++ = '\0';
    }
    hpx_jvmpi.vm = vm;
    if ((*vm)->GetEnv(vm, (void **)&hpx_jvmpi.jvmti, JVMTI_VERSION_1_1) != JNI_OK || !prepare()) {
        refuse("this VM gives no JVMTI");
    }
    on_load function = load_agent(name);
    if (function(hpx_jvmpi_java_vm(), rest, NULL) != JNI_OK) {
        char text[PATH_MAX + 64];
        snprintf(text, sizeof(text), "JVM_OnLoad of the agent %s failed", name);
        refuse(text);
    }
    if (hpx_jvmpi.interface.NotifyEvent == NULL) {
        hpx_jvmpi_rule("JVM_OnLoad returned without NotifyEvent");
    }
    return JNI_OK;
}

/* Other threads may still be in the agent: nothing is freed, and the VM ends. */
JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
    (void)vm;
}
