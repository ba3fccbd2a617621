/* SPDX-License-Identifier: BSD-2-Clause */
/* tables.c: an agent that spoils HotSpot's table of fields before another agent reads it, as a JDK that nobody has seen yet. The VM itself
 * does not read it. Test code.
 *
 * Options: TYPE.FIELD=gone (renamed), TYPE.FIELD=twice (the next entry gets its names), TYPE.FIELD=+N or -N (its offset changes),
 * TYPE.FIELD=junk (a static one: its value is an address that faults), or stride=0 (the size of an entry). */
#include <dlfcn.h>
#include <jvmti.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint64_t *number(const char *symbol)
{
    return dlsym(RTLD_DEFAULT, symbol);
}

static void make_writable(void *at)
{
    uintptr_t page = (uintptr_t)at & ~(uintptr_t)4095;
    if (mprotect((void *)page, 8192, PROT_READ | PROT_WRITE) != 0) {
        perror("tables: mprotect");
        exit(3);
    }
}

static char *find(const char *type, const char *field)
{
    uint64_t stride = *number("gHotSpotVMStructEntryArrayStride"), t = *number("gHotSpotVMStructEntryTypeNameOffset"),
             f = *number("gHotSpotVMStructEntryFieldNameOffset");
    for (char *e = (char *)(uintptr_t)*number("gHotSpotVMStructs"); *(char **)(e + t) != NULL; e += stride) {
        if (!strcmp(*(char **)(e + t), type) && *(char **)(e + f) != NULL && !strcmp(*(char **)(e + f), field)) {
            return e;
        }
    }
    fprintf(stderr, "tables: no %s.%s\n", type, field);
    exit(3);
}

static void spoil(char *e, const char *how)
{
    uint64_t stride = *number("gHotSpotVMStructEntryArrayStride"), t = *number("gHotSpotVMStructEntryTypeNameOffset"),
             f = *number("gHotSpotVMStructEntryFieldNameOffset"), o = *number("gHotSpotVMStructEntryOffsetOffset");
    make_writable(e);
    if (!strcmp(how, "gone")) {
        *(const char **)(e + f) = "_renamed";
    } else if (!strcmp(how, "twice")) {
        *(char **)(e + stride + t) = *(char **)(e + t);
        *(char **)(e + stride + f) = *(char **)(e + f);
    } else if (!strcmp(how, "junk")) {
        /* a page of its own: Shenandoah as root maps those near 0 */
        static uintptr_t junk;
        junk = (uintptr_t)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *(uintptr_t **)(e + *number("gHotSpotVMStructEntryAddressOffset")) = &junk;
    } else {
        *(uint64_t *)(e + o) += (uint64_t)strtol(how, NULL, 10);
    }
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)vm, (void)reserved;
    char *how = strchr(options, '='), *field = strrchr(options, '.');
    *how++ = 0;
    if (!strcmp(options, "stride")) {
        uint64_t *stride = number("gHotSpotVMStructEntryArrayStride");
        make_writable(stride);
        *stride = strtoul(how, NULL, 10);
        return JNI_OK;
    }
    *field++ = 0;
    spoil(find(options, field), how);
    return JNI_OK;
}
