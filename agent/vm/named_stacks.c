/* SPDX-License-Identifier: BSD-2-Clause */
/* named_stacks.c: see named_stacks.h. */
#include "named_stacks.h"
#include "class_number.h"
#include "probe_frames.h"
#include "session.h"
#include <string.h>

/* A method of a stack. */
struct method {
    struct hpx_named_frame names;
    jvmtiLineNumberEntry *lines; /* JVMTI's */
    jint nlines;
    bool native;
};

static void drop(jvmtiEnv *jvmti, void *p)
{
    if (p != NULL) {
        (*jvmti)->Deallocate(jvmti, p);
    }
}

static char *keep(struct hpx_named_stacks *s, char *text)
{
    char *copy = text != NULL && text[0] != 0 ? hpx_arena_copy(s->arena, text, strlen(text)) : NULL;
    drop(s->jvmti, text);
    return copy;
}

static void ask_method(struct hpx_named_stacks *s, jmethodID id, struct method *m)
{
    jvmtiEnv *jvmti = s->jvmti;
    char *name = NULL, *signature = NULL, *class_signature = NULL, *source = NULL;
    jclass klass = NULL;
    m->names = (struct hpx_named_frame){.class_signature = "Lhprofx/unknown;", .name = "method", .line = HPX_LINE_UNKNOWN};
    if ((*jvmti)->GetMethodName(jvmti, id, &name, &signature, NULL) != JVMTI_ERROR_NONE ||
        (*jvmti)->GetMethodDeclaringClass(jvmti, id, &klass) != JVMTI_ERROR_NONE) {
        drop(jvmti, name);
        drop(jvmti, signature);
        return;
    }
    (void)(*jvmti)->GetClassSignature(jvmti, klass, &class_signature, NULL);
    if ((*jvmti)->GetSourceFileName(jvmti, klass, &source) != JVMTI_ERROR_NONE) {
        source = NULL;
    }
    jvmtiError e = (*jvmti)->GetLineNumberTable(jvmti, id, &m->nlines, &m->lines);
    m->native = e == JVMTI_ERROR_NATIVE_METHOD;
    m->nlines = e == JVMTI_ERROR_NONE ? m->nlines : 0;
    m->names.class_number = s->numbers ? hpx_class_number(jvmti, klass) : (struct hpx_class_number){0};
    (*s->env)->DeleteLocalRef(s->env, klass);
    const char *of = keep(s, class_signature), *called = keep(s, name);
    m->names.class_signature = of != NULL ? of : m->names.class_signature;
    m->names.name = called != NULL ? called : m->names.name;
    m->names.signature = keep(s, signature);
    m->names.source = keep(s, source);
}

static int32_t line_of(const struct method *m, jlocation at)
{
    int32_t line = m->native && hpx_session.opt->binary ? HPX_LINE_NATIVE : HPX_LINE_UNKNOWN;
    jlocation best = -1;
    for (jint i = 0; i < m->nlines; i++) { /* JVMTI promises no order */
        if (m->lines[i].start_location <= at && m->lines[i].start_location > best) {
            best = m->lines[i].start_location;
            line = m->lines[i].line_number;
        }
    }
    return line;
}

static const struct method *method_of(struct hpx_named_stacks *s, jmethodID id)
{
    uint32_t number = hpx_id_map_find(&s->index, (uint64_t)(uintptr_t)id);
    if (number != HPX_INTERN_NONE) {
        return hpx_vec_at(&s->methods, number);
    }
    struct method *made = hpx_vec_push(&s->methods);
    if (made == NULL || hpx_id_map_bind(&s->index, (uint64_t)(uintptr_t)id) == HPX_INTERN_NONE) {
        s->methods.len -= made != NULL;
        return NULL;
    }
    ask_method(s, id, made);
    return made;
}

int hpx_named_stacks_init(struct hpx_named_stacks *s, jvmtiEnv *jvmti, JNIEnv *env, struct hpx_arena *arena, bool numbers)
{
    *s = (struct hpx_named_stacks){.jvmti = jvmti, .env = env, .arena = arena, .numbers = numbers};
    hpx_vec_init(&s->methods, sizeof(struct method));
    return hpx_id_map_init(&s->index);
}

void hpx_named_stacks_take(struct hpx_named_stacks *s, const jvmtiStackInfo *info, uint32_t most, struct hpx_named_stack *to,
                           uint64_t *methods)
{
    to->above = hpx_probe_frames_vm(info->frame_buffer, info->frame_count);
    const jvmtiFrameInfo *frames = to->above > 0 ? info->frame_buffer + to->above : info->frame_buffer; /* NULL: no frames */
    size_t n = (size_t)info->frame_count - to->above;
    n = n < most ? n : most;
    to->n = 0;
    to->frames = hpx_arena_alloc(s->arena, (n + 1) * sizeof *to->frames, 16);
    for (size_t i = 0; to->frames != NULL && i < n; i++) {
        const struct method *of = method_of(s, frames[i].method);
        if (of == NULL) {
            break;
        }
        if (methods != NULL) {
            methods[to->n] = (uint64_t)(uintptr_t)frames[i].method;
        }
        to->frames[to->n] = of->names;
        to->frames[to->n++].line = line_of(of, frames[i].location);
    }
}

void hpx_named_stacks_fini(struct hpx_named_stacks *s)
{
    for (uint32_t i = 0; i < s->methods.len; i++) {
        drop(s->jvmti, ((struct method *)hpx_vec_at(&s->methods, i))->lines);
    }
    hpx_id_map_fini(&s->index);
    hpx_vec_fini(&s->methods);
}
