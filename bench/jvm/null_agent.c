/* SPDX-License-Identifier: BSD-2-Clause */
/* null_agent.c: an agent that asks the JVM for one thing and does nothing with it: what that thing alone costs. Test code of tools/bench.
 *
 * Option, one of:
 *   nothing   VMInit and VMDeath only
 *   event     compiled-method-load, the callback returns at once
 *   records   the same, the callback reads the inlining records, as a decoder of compiled code needs them
 *   methods   GetClassMethods of every class at its preparation, as AsyncGetCallTrace needs it
 *   flag      DebugNonSafepoints is set through the tables that HotSpot exports: the debug information of the event without the event
 *   virtual   the capability can_support_virtual_threads, as an agent needs it that looks at virtual threads which wait
 *   retransform  at VMInit every class loaded so far, unchanged, in batches as cpu=times does it */
#include <dlfcn.h>
#include <jvmti.h>
#include <jvmticmlr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BATCH        64   /* as in classes.c */
#define MOST_ENTRIES 4096 /* of a table: none has 1500 */
#define VIRTUAL      44   /* the bit of can_support_virtual_threads, which the headers before JDK 21 do not name */

static jvmtiEnv *jvmti;
static uint64_t inlined; /* frames seen, so that no read is left out */

static void JNICALL on_nothing(jvmtiEnv *env, JNIEnv *jni)
{
    (void)env;
    (void)jni;
}

static void JNICALL on_init(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
    (void)env;
    (void)jni;
    (void)thread;
}

static void JNICALL on_prepare(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class)
{
    jint n = 0;
    jmethodID *methods = NULL;
    (void)jni;
    (void)thread;
    if ((*env)->GetClassMethods(env, class, &n, &methods) == JVMTI_ERROR_NONE) {
        (*env)->Deallocate(env, (unsigned char *)methods);
    }
}

static void JNICALL on_compiled(jvmtiEnv *env, jmethodID method, jint size, const void *code, jint n, const jvmtiAddrLocationMap *map,
                                const void *info)
{
    (void)env;
    (void)method;
    (void)size;
    (void)code;
    (void)n;
    (void)map;
    (void)info;
}

static uint64_t frames_of(const jvmtiCompiledMethodLoadInlineRecord *record)
{
    uint64_t sum = 0;
    for (jint i = 0; i < record->numpcs; i++) {
        const PCStackInfo *at = &record->pcinfo[i];
        for (jint f = 0; f < at->numstackframes; f++) {
            sum += at->methods[f] != NULL && at->bcis[f] >= 0;
        }
    }
    return sum;
}

static void JNICALL on_compiled_records(jvmtiEnv *env, jmethodID method, jint size, const void *code, jint n,
                                        const jvmtiAddrLocationMap *map, const void *info)
{
    uint64_t sum = 0;
    on_compiled(env, method, size, code, n, map, info);
    for (const jvmtiCompiledMethodLoadRecordHeader *h = info; h != NULL; h = h->next) {
        if (h->kind == JVMTI_CMLR_INLINE_INFO) {
            sum += frames_of((const jvmtiCompiledMethodLoadInlineRecord *)h);
        }
    }
    inlined += sum;
    __asm__ volatile("" ::"r"(sum) : "memory");
}

/* One of the tables that HotSpot exports for debuggers: a pointer to its first entry, the distance of two, and where an entry's members
 * are. */
struct vm_table {
    const char *entries;
    uint64_t stride;
};

/* 0: no such symbol. */
static uint64_t vm_number(const char *symbol)
{
    const uint64_t *at = dlsym(RTLD_DEFAULT, symbol);
    return at != NULL ? *at : 0;
}

static bool find_table(struct vm_table *t, const char *pointer, const char *stride)
{
    const char *const *at = dlsym(RTLD_DEFAULT, pointer);
    t->entries = at != NULL ? *at : NULL;
    t->stride = vm_number(stride);
    return t->entries != NULL && t->stride != 0;
}

static const char *text_at(const char *entry, uint64_t offset)
{
    return *(const char *const *)(entry + offset);
}

/* JVMFlag was Flag until JDK 8. */
static bool is_flag_type(const char *name)
{
    return strcmp(name, "JVMFlag") == 0 || strcmp(name, "Flag") == 0;
}

/* The VM's table of its flags. */
struct flags {
    const char *first;
    uint64_t n, size, name, addr, origin; /* of the table, of an entry; offsets in an entry */
};

static bool find_flags(struct flags *f)
{
    struct vm_table fields, types;
    if (!find_table(&fields, "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride") ||
        !find_table(&types, "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride")) {
        return false;
    }
    uint64_t type = vm_number("gHotSpotVMStructEntryTypeNameOffset"), field = vm_number("gHotSpotVMStructEntryFieldNameOffset");
    uint64_t offset = vm_number("gHotSpotVMStructEntryOffsetOffset"), address = vm_number("gHotSpotVMStructEntryAddressOffset");
    unsigned found = 0;
    for (const char *e = fields.entries, *end = e + MOST_ENTRIES * fields.stride; e < end && text_at(e, type) != NULL; e += fields.stride) {
        const char *name = text_at(e, field);
        if (!is_flag_type(text_at(e, type))) {
            continue;
        }
        uint64_t at = *(const uint64_t *)(e + offset);
        if (strcmp(name, "flags") == 0) {
            f->first = *(const char *const *)text_at(e, address);
        } else if (strcmp(name, "numFlags") == 0) {
            f->n = *(const uint64_t *)text_at(e, address);
        } else if (strcmp(name, "_name") == 0) {
            f->name = at;
        } else if (strcmp(name, "_addr") == 0) {
            f->addr = at;
        } else if (strcmp(name, "_flags") == 0) {
            f->origin = at;
        } else {
            continue;
        }
        found++;
    }
    type = vm_number("gHotSpotVMTypeEntryTypeNameOffset");
    for (const char *e = types.entries, *end = e + MOST_ENTRIES * types.stride; e < end && text_at(e, type) != NULL; e += types.stride) {
        if (is_flag_type(text_at(e, type))) {
            f->size = *(const uint64_t *)(e + vm_number("gHotSpotVMTypeEntrySizeOffset"));
        }
    }
    return found == 5 && f->first != NULL && f->size != 0;
}

/* Sets the byte and leaves the origin: as if the event were on. false: no such flag, or somebody has set it. */
static bool set_debug_non_safepoints(void)
{
    struct flags f = {0};
    if (!find_flags(&f)) {
        return false;
    }
    for (uint64_t i = 0; i < f.n; i++) {
        const char *entry = f.first + i * f.size, *name = text_at(entry, f.name);
        if (name != NULL && strcmp(name, "DebugNonSafepoints") == 0) {
            const unsigned origin = *(const unsigned *)(entry + f.origin) & 15; /* 0: nobody has set it */
            unsigned char *value = *(unsigned char *const *)(entry + f.addr);
            if (origin != 0 || *value > 1) {
                return false;
            }
            *value = 1;
            return true;
        }
    }
    return false;
}

static bool is_modifiable_class(jvmtiEnv *env, jclass class)
{
    jboolean yes = JNI_FALSE, array = JNI_FALSE;
    return (*env)->IsArrayClass(env, class, &array) == JVMTI_ERROR_NONE && !array &&
           (*env)->IsModifiableClass(env, class, &yes) == JVMTI_ERROR_NONE && yes;
}

static void JNICALL on_init_retransform(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
    jint n = 0, in_batch = 0;
    jclass *all = NULL, batch[BATCH];
    (void)jni;
    (void)thread;
    if ((*env)->GetLoadedClasses(env, &n, &all) != JVMTI_ERROR_NONE) {
        return;
    }
    for (jint i = 0; i < n; i++) {
        if (is_modifiable_class(env, all[i])) {
            batch[in_batch++] = all[i];
        }
        if (in_batch == BATCH || (i == n - 1 && in_batch > 0)) {
            if ((*env)->RetransformClasses(env, in_batch, batch) != JVMTI_ERROR_NONE) {
                fprintf(stderr, "null_agent: the JVM refused to retransform\n");
            }
            in_batch = 0;
        }
    }
    (*env)->Deallocate(env, (unsigned char *)all);
}

static void JNICALL on_class_file(jvmtiEnv *env, JNIEnv *jni, jclass redefined, jobject loader, const char *name, jobject domain, jint n,
                                  const unsigned char *data, jint *new_n, unsigned char **new_data)
{
    (void)env;
    (void)jni;
    (void)redefined;
    (void)loader;
    (void)name;
    (void)domain;
    (void)n;
    (void)data;
    (void)new_n;
    (void)new_data;
}

static jint refuse(const char *what)
{
    fprintf(stderr, "null_agent: %s\n", what);
    return JNI_ERR;
}

/* What the option asks for; false: there is no such option. */
static bool wants(const char *option, jvmtiCapabilities *caps, jvmtiEventCallbacks *callbacks, jvmtiEvent *event)
{
    if (strcmp(option, "event") == 0 || strcmp(option, "records") == 0) {
        caps->can_generate_compiled_method_load_events = 1;
        callbacks->CompiledMethodLoad = option[0] == 'e' ? on_compiled : on_compiled_records;
        *event = JVMTI_EVENT_COMPILED_METHOD_LOAD;
        return true;
    }
    if (strcmp(option, "methods") == 0) {
        callbacks->ClassPrepare = on_prepare;
        *event = JVMTI_EVENT_CLASS_PREPARE;
        return true;
    }
    if (strcmp(option, "virtual") == 0) {
        ((unsigned char *)caps)[VIRTUAL / 8] |= 1u << VIRTUAL % 8;
        return true;
    }
    if (strcmp(option, "retransform") == 0) {
        caps->can_retransform_classes = 1;
        caps->can_generate_all_class_hook_events = 1;
        callbacks->VMInit = on_init_retransform;
        callbacks->ClassFileLoadHook = on_class_file;
        *event = JVMTI_EVENT_CLASS_FILE_LOAD_HOOK;
        return true;
    }
    return strcmp(option, "nothing") == 0 || strcmp(option, "flag") == 0;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiCapabilities caps;
    jvmtiEventCallbacks callbacks;
    jvmtiEvent events[3] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_VM_DEATH};
    const char *option = options ? options : "nothing";
    (void)reserved;
    memset(&caps, 0, sizeof(caps));
    memset(&callbacks, 0, sizeof(callbacks));
    callbacks.VMInit = on_init;
    callbacks.VMDeath = on_nothing;
    if (!wants(option, &caps, &callbacks, &events[2])) {
        return refuse("option must be nothing, event, records, methods, flag, virtual or retransform");
    }
    if (strcmp(option, "flag") == 0 && !set_debug_non_safepoints()) {
        return refuse("DebugNonSafepoints is not found, or has been set by somebody else");
    }
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK || (*jvmti)->AddCapabilities(jvmti, &caps) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof(callbacks)) != JVMTI_ERROR_NONE) {
        return refuse("the JVM refused");
    }
    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
        if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL) != JVMTI_ERROR_NONE) {
            return refuse("the JVM refused an event");
        }
    }
    return JNI_OK;
}
