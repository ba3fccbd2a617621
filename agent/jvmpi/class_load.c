/* SPDX-License-Identifier: BSD-2-Clause */
/* class_load.c: asks the VM for what CLASS_LOAD tells of a class. Contract: class_load.h. */
#include "class_load.h"
#include <stdlib.h>
#include <string.h>

#define ACC_STATIC 0x0008

/* What an event points to. Strings are of the VM, arrays of malloc. */
struct description {
    char *name, *source;
    JVMPI_Method *methods;
    JVMPI_Field *fields; /* statics from the front, instances from the back, in their order */
    jint nmethods, nstatics, nfields, ninterfaces;
};

/* "Lp/C;" becomes "p.C", in place; an array keeps brackets and letters, as Class.getName() has it. Primitives: their letter. */
static char *turn_name(char *signature)
{
    size_t n = strlen(signature);
    for (char *p = signature; *p != '\0'; p++) {
        *p = (char)(*p == '/' ? '.' : *p);
    }
    if (signature[0] == 'L') {
        memmove(signature, signature + 1, n - 2);
        signature[n - 2] = '\0';
    }
    return signature;
}

/* Smallest and largest line of a method; below 0: unknown. */
static void set_lines(JVMPI_Method *m)
{
    jvmtiLineNumberEntry *lines = NULL;
    jint n = 0;
    m->start_lineno = m->end_lineno = -1;
    if ((*hpx_jvmpi.jvmti)->GetLineNumberTable(hpx_jvmpi.jvmti, m->method_id, &n, &lines) != JVMTI_ERROR_NONE) {
        return;
    }
    for (jint i = 0; i < n; i++) {
        jint line = lines[i].line_number;
        m->start_lineno = m->start_lineno < 0 || line < m->start_lineno ? line : m->start_lineno;
        m->end_lineno = line > m->end_lineno ? line : m->end_lineno;
    }
    hpx_jvmpi_give_back(lines);
}

static bool add_methods(struct description *d, jclass klass)
{
    jvmtiEnv *jvmti = hpx_jvmpi.jvmti;
    jmethodID *ids = NULL;
    jint n = 0;
    if ((*jvmti)->GetClassMethods(jvmti, klass, &n, &ids) != JVMTI_ERROR_NONE || n == 0) {
        return ids == NULL || (hpx_jvmpi_give_back(ids), true); /* not prepared, or none */
    }
    d->methods = calloc((size_t)n, sizeof *d->methods);
    bool good = d->methods != NULL;
    for (jint i = 0; good && i < n; i++) {
        JVMPI_Method *m = &d->methods[d->nmethods];
        m->method_id = ids[i];
        good = (*jvmti)->GetMethodName(jvmti, ids[i], &m->method_name, &m->method_signature, NULL) == JVMTI_ERROR_NONE;
        if (good) {
            set_lines(m);
            d->nmethods++;
        }
    }
    hpx_jvmpi_give_back(ids);
    return good;
}

static bool add_field(struct description *d, jclass klass, jfieldID id, JVMPI_Field *instances)
{
    jvmtiEnv *jvmti = hpx_jvmpi.jvmti;
    JVMPI_Field f;
    jint modifiers = 0;
    if ((*jvmti)->GetFieldName(jvmti, klass, id, &f.field_name, &f.field_signature, NULL) != JVMTI_ERROR_NONE) {
        return false;
    }
    (void)(*jvmti)->GetFieldModifiers(jvmti, klass, id, &modifiers);
    if (modifiers & ACC_STATIC) {
        d->fields[d->nstatics++] = f;
    } else {
        instances[d->nfields++] = f;
    }
    return true;
}

/* The array has room for all fields twice, so that both kinds keep their order. */
static bool add_fields(struct description *d, jclass klass)
{
    jvmtiEnv *jvmti = hpx_jvmpi.jvmti;
    jfieldID *ids = NULL;
    jint n = 0;
    if ((*jvmti)->GetClassFields(jvmti, klass, &n, &ids) != JVMTI_ERROR_NONE || n == 0) {
        return ids == NULL || (hpx_jvmpi_give_back(ids), true);
    }
    d->fields = calloc(2 * (size_t)n, sizeof *d->fields);
    bool good = d->fields != NULL;
    for (jint i = 0; good && i < n; i++) {
        good = add_field(d, klass, ids[i], d->fields + n);
    }
    if (d->fields != NULL) {
        memmove(d->fields + d->nstatics, d->fields + n, (size_t)d->nfields * sizeof *d->fields);
    }
    hpx_jvmpi_give_back(ids);
    return good;
}

static void count_interfaces(struct description *d, jclass klass)
{
    jvmtiEnv *jvmti = hpx_jvmpi.jvmti;
    jclass *of = NULL;
    JNIEnv *env = hpx_jvmpi_env();
    if ((*jvmti)->GetImplementedInterfaces(jvmti, klass, &d->ninterfaces, &of) != JVMTI_ERROR_NONE) {
        d->ninterfaces = 0;
        return;
    }
    for (jint i = 0; env != NULL && i < d->ninterfaces; i++) {
        (*env)->DeleteLocalRef(env, of[i]);
    }
    hpx_jvmpi_give_back(of);
}

static void fini(struct description *d)
{
    for (jint i = 0; d->methods != NULL && i < d->nmethods; i++) {
        hpx_jvmpi_give_back(d->methods[i].method_name);
        hpx_jvmpi_give_back(d->methods[i].method_signature);
    }
    for (jint i = 0; d->fields != NULL && i < d->nstatics + d->nfields; i++) {
        hpx_jvmpi_give_back(d->fields[i].field_name);
        hpx_jvmpi_give_back(d->fields[i].field_signature);
    }
    hpx_jvmpi_give_back(d->name);
    hpx_jvmpi_give_back(d->source);
    free(d->methods);
    free(d->fields);
}

bool hpx_jvmpi_class_load_send(jclass klass, jobjectID id, jint event_type)
{
    jvmtiEnv *jvmti = hpx_jvmpi.jvmti;
    struct description d = {.name = NULL};
    bool good = (*jvmti)->GetClassSignature(jvmti, klass, &d.name, NULL) == JVMTI_ERROR_NONE;
    if (good && (*jvmti)->GetSourceFileName(jvmti, klass, &d.source) != JVMTI_ERROR_NONE) {
        d.source = NULL;
    }
    good = good && add_methods(&d, klass) && add_fields(&d, klass);
    if (good) {
        count_interfaces(&d, klass);
        JVMPI_Event event = {.event_type = event_type,
                             .env_id = hpx_jvmpi_env(),
                             .u.class_load = {.class_name = turn_name(d.name),
                                              .source_name = d.source != NULL ? d.source : (char *)(uintptr_t) "",
                                              .num_interfaces = d.ninterfaces,
                                              .num_methods = d.nmethods,
                                              .methods = d.methods,
                                              .num_static_fields = d.nstatics,
                                              .statics = d.fields,
                                              .num_instance_fields = d.nfields,
                                              .instances = d.fields != NULL ? d.fields + d.nstatics : NULL,
                                              .class_id = id}};
        hpx_jvmpi_notify(&event);
    }
    fini(&d);
    return good;
}
