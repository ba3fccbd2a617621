/* SPDX-License-Identifier: BSD-2-Clause */
/* jvmti.c: the functions of JVMTI that hand out memory, and Deallocate, counted: the VM's own allocator is behind them, so nothing else
 * sees a block that was not given back. tests/jvm/test_balance.py compares this list with what the agent calls. */
#include "balance.h"
#include "vm.h"

#define HERE __builtin_frame_address(0)

static struct jvmtiInterface_1_ counting;
static const struct jvmtiInterface_1_ *vm;

static jvmtiError add(jvmtiError e, const void *out, const void *frame)
{
    if (e == JVMTI_ERROR_NONE && out != NULL) {
        hpx_balance_add(HPX_BALANCE_JVMTI, *(void *const *)out, 0, frame);
    }
    return e;
}

static jvmtiError JNICALL count_Allocate(jvmtiEnv *env, jlong n, unsigned char **p)
{
    return add(vm->Allocate(env, n, p), p, HERE);
}

static jvmtiError JNICALL count_Deallocate(jvmtiEnv *env, unsigned char *p)
{
    hpx_balance_remove(HPX_BALANCE_JVMTI, p);
    return vm->Deallocate(env, p);
}

static jvmtiError JNICALL count_GetAllThreads(jvmtiEnv *env, jint *n, jthread **p)
{
    return add(vm->GetAllThreads(env, n, p), p, HERE);
}

static jvmtiError JNICALL count_GetLoadedClasses(jvmtiEnv *env, jint *n, jclass **p)
{
    return add(vm->GetLoadedClasses(env, n, p), p, HERE);
}

static jvmtiError JNICALL count_GetClassMethods(jvmtiEnv *env, jclass c, jint *n, jmethodID **p)
{
    return add(vm->GetClassMethods(env, c, n, p), p, HERE);
}

static jvmtiError JNICALL count_GetClassFields(jvmtiEnv *env, jclass c, jint *n, jfieldID **p)
{
    return add(vm->GetClassFields(env, c, n, p), p, HERE);
}

static jvmtiError JNICALL count_GetImplementedInterfaces(jvmtiEnv *env, jclass c, jint *n, jclass **p)
{
    return add(vm->GetImplementedInterfaces(env, c, n, p), p, HERE);
}

static jvmtiError JNICALL count_GetFieldName(jvmtiEnv *env, jclass c, jfieldID f, char **name, char **signature, char **generic)
{
    jvmtiError e = vm->GetFieldName(env, c, f, name, signature, generic);
    add(e, name, HERE);
    add(e, signature, HERE);
    return add(e, generic, HERE);
}

static jvmtiError JNICALL count_GetClassSignature(jvmtiEnv *env, jclass c, char **signature, char **generic)
{
    jvmtiError e = vm->GetClassSignature(env, c, signature, generic);
    add(e, signature, HERE);
    return add(e, generic, HERE);
}

static jvmtiError JNICALL count_GetSourceFileName(jvmtiEnv *env, jclass c, char **p)
{
    return add(vm->GetSourceFileName(env, c, p), p, HERE);
}

static jvmtiError JNICALL count_GetMethodName(jvmtiEnv *env, jmethodID m, char **name, char **signature, char **generic)
{
    jvmtiError e = vm->GetMethodName(env, m, name, signature, generic);
    add(e, name, HERE);
    add(e, signature, HERE);
    return add(e, generic, HERE);
}

static jvmtiError JNICALL count_GetExtensionEvents(jvmtiEnv *env, jint *n, jvmtiExtensionEventInfo **all)
{
    jvmtiError e = vm->GetExtensionEvents(env, n, all);
    for (jint i = 0; e == JVMTI_ERROR_NONE && i < *n; i++) {
        const jvmtiExtensionEventInfo *event = &(*all)[i];
        add(e, &event->id, HERE);
        add(e, &event->short_description, HERE);
        add(e, &event->params, HERE);
        for (jint k = 0; k < event->param_count; k++) {
            add(e, &event->params[k].name, HERE);
        }
    }
    return add(e, all, HERE);
}

static jvmtiError JNICALL count_GetLineNumberTable(jvmtiEnv *env, jmethodID m, jint *n, jvmtiLineNumberEntry **p)
{
    return add(vm->GetLineNumberTable(env, m, n, p), p, HERE);
}

static jvmtiError JNICALL count_GetThreadInfo(jvmtiEnv *env, jthread t, jvmtiThreadInfo *info)
{
    return add(vm->GetThreadInfo(env, t, info), &info->name, HERE);
}

static jvmtiError JNICALL count_GetThreadGroupInfo(jvmtiEnv *env, jthreadGroup g, jvmtiThreadGroupInfo *info)
{
    return add(vm->GetThreadGroupInfo(env, g, info), &info->name, HERE);
}

static jvmtiError JNICALL count_GetSystemProperty(jvmtiEnv *env, const char *name, char **p)
{
    return add(vm->GetSystemProperty(env, name, p), p, HERE);
}

static jvmtiError JNICALL count_GetErrorName(jvmtiEnv *env, jvmtiError code, char **p)
{
    return add(vm->GetErrorName(env, code, p), p, HERE);
}

static jvmtiError JNICALL count_GetAllStackTraces(jvmtiEnv *env, jint depth, jvmtiStackInfo **p, jint *n)
{
    return add(vm->GetAllStackTraces(env, depth, p, n), p, HERE);
}

static jvmtiError JNICALL count_GetThreadListStackTraces(jvmtiEnv *env, jint n, const jthread *list, jint depth, jvmtiStackInfo **p)
{
    return add(vm->GetThreadListStackTraces(env, n, list, depth, p), p, HERE);
}

static jvmtiError JNICALL count_GetOwnedMonitorInfo(jvmtiEnv *env, jthread t, jint *n, jobject **p)
{
    return add(vm->GetOwnedMonitorInfo(env, t, n, p), p, HERE);
}

static jvmtiError JNICALL count_GetObjectMonitorUsage(jvmtiEnv *env, jobject o, jvmtiMonitorUsage *u)
{
    jvmtiError e = vm->GetObjectMonitorUsage(env, o, u);
    add(e, &u->waiters, HERE);
    return add(e, &u->notify_waiters, HERE);
}

void hpx_balance_jvmti(void)
{
    vm = *hpx_vm.jvmti;
    counting = *vm;
#define COUNT(function) counting.function = count_##function
    COUNT(Allocate);
    COUNT(Deallocate);
    COUNT(GetAllThreads);
    COUNT(GetLoadedClasses);
    COUNT(GetClassMethods);
    COUNT(GetClassFields);
    COUNT(GetImplementedInterfaces);
    COUNT(GetFieldName);
    COUNT(GetClassSignature);
    COUNT(GetSourceFileName);
    COUNT(GetMethodName);
    COUNT(GetExtensionEvents);
    COUNT(GetLineNumberTable);
    COUNT(GetThreadInfo);
    COUNT(GetThreadGroupInfo);
    COUNT(GetSystemProperty);
    COUNT(GetErrorName);
    COUNT(GetAllStackTraces);
    COUNT(GetThreadListStackTraces);
    COUNT(GetOwnedMonitorInfo);
    COUNT(GetObjectMonitorUsage);
#undef COUNT
    *hpx_vm.jvmti = &counting;
}
