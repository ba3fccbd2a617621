/* SPDX-License-Identifier: BSD-2-Clause */
/* classes.c: the class file load hook, and the tracker classes. Contract: classes.h. */
#include "classes.h"
#include "announcement.h"
#include "batches.h"
#include "callbacks.h"
#include "class_list.h"
#include "class_numbers.h"
#include "clock.h"
#include "count_link.h"
#include "downcall.h"
#include "loader_asker.h"
#include "log.h"
#include "names.h"
#include "probe_frames.h"
#include "registrar.h"
#include "replaced.h"
#include "unannounced.h"
#include "waiting.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static HPX_OF_SESSION struct {
    _Atomic uint64_t classes, refused, grown, unfound, methods, sites, objects, bare, unannounced;
    _Atomic uint64_t left[HPX_CLASSES_REASONS];
} done; /* relaxed */

static_assert(HPROFX_BCI_LEFT_COUNT <= HPX_CLASSES_REASONS, "the figures have room for the reasons");

static HPX_OF_SESSION struct {
    const struct hpx_class_user *of[HPX_MODES_MAX]; /* constant from VMStart on */
    uint32_t n;
} users;

static HPX_OF_SESSION hpx_classes_note call_note; /* constant from VMStart on */
static struct hpx_gate hook;                      /* open from VMStart on */
static jclass tracker;                            /* set in VMStart, used in VMInit */
static jvmtiEnv *tags;                            /* of loaders; set at load */
static struct hpx_probe_class called[2];          /* by `downcalls`; each constant once the hook is open in a session that uses it */
static struct hpx_tracker_targets defined;        /* of the class of the downcalls, which stays */
static HPX_OF_SESSION bool downcalls; /* the class of the downcalls has the functions of this session; constant once the hook is open */
static struct {
    _Atomic uint32_t done, of, jdk, restored;
    _Atomic uint64_t longest_ns;             /* stop */
} passed;                                    /* relaxed: of the loaded classes, while they are retransformed */
static atomic_bool cancelled;                /* relaxed: the begin goes no further */
static __thread uint64_t hooked_ns;          /* the class hook was last called by this thread */
static HPX_OF_SESSION atomic_bool rewritten; /* relaxed: VMInit's thread alone. The classes loaded before VMInit were retransformed */

static void add(_Atomic uint64_t *to, uint64_t n)
{
    if (n > 0) {
        atomic_fetch_add_explicit(to, n, memory_order_relaxed);
    }
}

static void tell_users(const struct hprofx_bci_site *site)
{
    for (uint32_t i = 0; i < users.n; i++) {
        if (users.of[i]->site != NULL) {
            users.of[i]->site(site);
        }
    }
}

static void count(const struct hprofx_bci_result *r)
{
    add(&done.classes, 1);
    add(&done.methods, r->numbered);
    add(&done.sites, r->sites);
    add(&done.objects, r->objects);
    for (int i = 0; i < HPROFX_BCI_BARE_COUNT; i++) {
        add(&done.bare, r->bare[i]);
    }
}

/* false: the VM has no memory for the new class and keeps the old one. */
static bool hand_over(jvmtiEnv *jvmti, const uint8_t *out, size_t m, jint *new_n, unsigned char **new_data)
{
    unsigned char *copy = NULL;
    if (m > INT32_MAX || (*jvmti)->Allocate(jvmti, (jlong)m, &copy) != JVMTI_ERROR_NONE) {
        return false;
    }
    memcpy(copy, out, m);
    *new_data = copy;
    *new_n = (jint)m;
    return true;
}

/* ---- what is wanted ---- */

static bool is_tracker(const char *name, size_t n)
{
    static const char *const all[] = {HPROFX_BCI_TRACKER, HPX_TRACKER_DOWN, HPX_TRACKER_COUNTS};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        if (n == strlen(all[i]) && memcmp(name, all[i], n) == 0) {
            return true;
        }
    }
    return false;
}

/* Kinds of probe that the class gets. */
static unsigned wanted(const char *name, size_t n)
{
    unsigned probes = 0;
    for (uint32_t i = 0; i < users.n && !is_tracker(name, n); i++) {
        const struct hpx_class_user *u = users.of[i];
        probes |= u->wants == NULL || u->wants(name, n) ? u->probes : 0;
    }
    return probes;
}

static unsigned all_probes(void)
{
    unsigned probes = 0;
    for (uint32_t i = 0; i < users.n; i++) {
        probes |= users.of[i]->probes;
    }
    return probes;
}

/* NULL: methods are not counted. */
static const struct hpx_class_counts *counts(void)
{
    const struct hpx_class_counts *c = NULL;
    for (uint32_t i = 0; i < users.n; i++) {
        c = users.of[i]->counts != NULL ? users.of[i]->counts : c;
    }
    return c;
}

static bool reach(const struct hprofx_bci_result *r)
{
    const struct hpx_class_counts *c = counts();
    return c == NULL || r->numbered == 0 || c->reach(r->first + r->numbered);
}

/* JDK 8 passes no name for anonymous classes. */
static unsigned want_nameless(void *ctx, const struct hprofx_bci_method *m)
{
    (void)ctx;
    return wanted(m->class_name.at, m->class_name.len);
}

/* The class of an earlier session calls the functions of that one, as its constants say; the natives are registered anew. */
static const char *tracker_name(void)
{
    return downcalls && hpx_downcall_class() != NULL ? HPX_TRACKER_DOWN : HPROFX_BCI_TRACKER;
}

/* A number that the class has keeps its meaning: where that would change, the class is rewritten once more, with new ones. As
 * hprofx_bci_rewrite(). */
static int rewrite_numbered(const struct hprofx_bci_opts *opts, struct hpx_announcement *t, const unsigned char *data, jint n,
                            uint8_t **out, size_t *m)
{
    const char *why;
    for (int round = 0; round < 2; round++) { /* new numbers have no other meaning */
        int rc = hprofx_bci_rewrite(opts, data, (size_t)n, out, m, &why);
        if (rc != 0 || hpx_announcement_keeps_numbers(t)) {
            return rc;
        }
        free(*out);
        hpx_announcement_clear(t);
    }
    *out = NULL;
    return 2; /* refused */
}

/* Kinds of probe that a class file may get. */
static unsigned wanted_of_file(const char *name)
{
    return name != NULL ? wanted(name, strlen(name)) : all_probes();
}

/* Of the class that methods call in this session. */
static enum hpx_loader look(jobject loader)
{
    return hpx_loaders_look(&called[downcalls], loader);
}

/* redefined: the class, if it is loaded already. finds: what is known of its loader. */
static void rewrite(jvmtiEnv *jvmti, jclass redefined, enum hpx_loader finds, const char *name, jint n, const unsigned char *data,
                    jint *new_n, unsigned char **new_data)
{
    unsigned probes = wanted_of_file(name);
    if (probes == 0) {
        return;
    }
    if (finds != HPX_LOADER_FINDS) {
        add(&done.unfound, 1);
        return;
    }
    if (redefined != NULL && (hpx_vm.late || atomic_load_explicit(&passed.of, memory_order_relaxed) == 0)) { /* not for the start */
        hpx_class_numbers_remember();
    }
    struct hpx_announcement t = {.numbers = hpx_class_numbers_of(redefined)};
    if (hpx_vm.late && redefined != NULL && !hpx_class_numbers_fits(&t.numbers, data, n)) {
        hpx_class_numbers_keep(redefined, &t.numbers);
        add(&done.grown, 1);
        return;
    }
    struct hprofx_bci_result r;
    struct hprofx_bci_opts opts = {.tracker = tracker_name(), .probes = probes, .min = hpx_session.opt->min, .result = &r};
    if (counts() != NULL) {
        opts.enter.name = HPX_TRACKER_COUNT;
        opts.no_exit = true;
        opts.most = counts()->most;
    }
    hpx_announcement_hear(&t, &opts);
    opts.want = name == NULL ? want_nameless : NULL;
    uint8_t *out;
    size_t m;
    int rc = rewrite_numbered(&opts, &t, data, n, &out, &m);
    for (int i = 0; i < HPROFX_BCI_LEFT_COUNT; i++) {
        add(&done.left[i], r.left[i]);
    }
    if (rc == 2) {
        add(&done.refused, 1);
    } else if (rc == 0 && reach(&r) && hpx_announcement_post(&t, tell_users) && hand_over(jvmti, out, m, new_n, new_data)) {
        count(&r);
        hpx_class_numbers_keep(redefined, &t.numbers);
        hpx_unannounced_note_rewriting();
    } else if (rc == 0) {
        add(&done.unannounced, 1);
    }
    free(out);
    hpx_announcement_clear(&t);
}

/* JDK 8 to 14 name an anonymous class by its class file, "/" and a number. Its constants may be no constants of a class file, and JDK 8
 * crashes where it writes the file anew to have it rewritten. */
static bool is_anonymous(const char *signature)
{
    const char *slash = strrchr(signature, '/');
    size_t digits = slash != NULL ? strspn(slash + 1, "0123456789") : 0;
    return digits > 0 && slash[1 + digits] == ';';
}

/* Counted where probes are wanted, and not when they leave. */
static bool has_grown(jclass klass)
{
    bool grown = hpx_class_numbers_of(klass).grown;
    if (grown && atomic_load_explicit(&rewritten, memory_order_relaxed)) {
        add(&done.grown, 1);
    }
    return grown;
}

/* The VM makes a new version of every class that it retransforms, even if the hook changes nothing: 0.3 ms per class. */
static bool worth_it(jvmtiEnv *jvmti, jclass klass, bool *jdk)
{
    jboolean modifiable = JNI_FALSE;
    char *signature = NULL; /* "Lp/C;" */
    if ((*jvmti)->IsModifiableClass(jvmti, klass, &modifiable) != JVMTI_ERROR_NONE || !modifiable ||
        (*jvmti)->GetClassSignature(jvmti, klass, &signature, NULL) != JVMTI_ERROR_NONE) {
        return false;
    }
    size_t n = strlen(signature);
    bool yes = n < 2 || signature[0] != 'L';
    if (!yes && !is_anonymous(signature)) {
        signature[n - 1] = 0;
        yes = wanted(signature + 1, n - 2) != 0;
        *jdk = hpx_is_of_jdk(signature + 1, n - 2);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    return yes && !has_grown(klass);
}

/* false: it gets no probes, which is counted. */
static bool is_found(jvmtiEnv *jvmti, JNIEnv *env, jclass klass)
{
    jobject loader = NULL;
    bool finds = (*jvmti)->GetClassLoader(jvmti, klass, &loader) == JVMTI_ERROR_NONE && look(loader) == HPX_LOADER_FINDS;
    (*env)->DeleteLocalRef(env, loader);
    if (!finds) {
        add(&done.unfound, 1);
    }
    return finds;
}

/* Has the loaders of the listed classes asked that are unknown. */
static void ask_loaders(jvmtiEnv *jvmti, JNIEnv *env, const struct hpx_class_list *l)
{
    struct hpx_loader_list unknown = {.n = 0};
    for (jint i = 0; i < l->n; i++) {
        jobject loader = NULL;
        bool jdk;
        if ((*jvmti)->GetClassLoader(jvmti, l->all[i], &loader) == JVMTI_ERROR_NONE && look(loader) == HPX_LOADER_UNKNOWN &&
            worth_it(jvmti, l->all[i], &jdk)) {
            (void)hpx_loader_list_add(&unknown, &called[downcalls], env, loader);
        }
        (*env)->DeleteLocalRef(env, loader);
    }
    uint32_t silent = hpx_loader_asker_ask(&unknown, &called[downcalls], env);
    if (silent > 0 && hpx_gate_is_open(&hpx_session.gate) && !hpx_classes_cancelled()) {
        hpx_warn("%s: %" PRIu32 " class loaders of the program do not answer; their classes have no probes, and the report counts them; "
                 "begin the session again when they are not locked",
                 hpx_session_modes(), silent);
    }
}

/* Classes that are to be retransformed, and their batches. */
struct picked {
    jvmtiEnv *jvmti;
    JNIEnv *env;
    jclass *of;
    uint32_t n;
    uint32_t jdk;
    uint32_t linked; /* of them; the others come behind. The end of a session alone has others */
    bool begins;
    bool listed_before; /* the hook was opened: none of them got its probes while it was loaded */
    struct hpx_batches batches;
};

/* VMDeath closes the gate, and waits for this thread. */
static bool goes_on(const struct picked *p)
{
    return !p->begins || (hpx_gate_is_open(&hpx_session.gate) && !atomic_load_explicit(&cancelled, memory_order_relaxed));
}

/* The VM first prepares the classes one after the other, beside the program, and calls the hook for each; what comes behind the last call
 * is its stop, at most. One class that it refuses fails the whole call before that stop: the halves are tried, down to the class. */
static void retransform(struct picked *p, const jclass *batch, uint32_t n)
{
    hooked_ns = hpx_clock_mono();
    jvmtiError e = n == 0   ? JVMTI_ERROR_NONE
                   : n == 1 ? hpx_retransform_one(p->jvmti, batch[0])
                            : (*p->jvmti)->RetransformClasses(p->jvmti, (jint)n, batch);
    if (e == JVMTI_ERROR_NONE) {
        hpx_batches_took(&p->batches, n, hpx_clock_mono() - hooked_ns);
        atomic_fetch_add_explicit(&passed.done, n, memory_order_relaxed);
    } else if (e == JVMTI_ERROR_OUT_OF_MEMORY) {
        add(&done.unannounced, n); /* each further try would collect garbage */
    } else if (n == 1) {
        add(&done.refused, 1);
        atomic_fetch_add_explicit(&passed.done, 1, memory_order_relaxed);
    } else if (goes_on(p)) {
        retransform(p, batch, n / 2);
        retransform(p, batch + n / 2, n - n / 2);
    }
}

static void retransform_picked(struct picked *p)
{
    uint32_t i = 0;
    while (i < p->n && goes_on(p)) {
        uint32_t end = i < p->linked ? p->linked : p->n, n = hpx_batches_size(&p->batches);
        n = n < end - i ? n : end - i;
        retransform(p, p->of + i, n);
        i += n;
    }
    for (; p->listed_before && i < p->n; i++) { /* undone, or the JVM ends: the session's end has nothing to take out of these */
        struct hpx_class_state *s = hpx_class_numbers_state(p->of[i], true);
        if (s != NULL) {
            atomic_store_explicit(&s->without, atomic_load_explicit(&hpx_session_number, memory_order_relaxed), memory_order_relaxed);
        }
    }
    atomic_store_explicit(&passed.longest_ns, p->batches.longest_ns, memory_order_relaxed);
}

static bool is_linked(jvmtiEnv *jvmti, jclass klass)
{
    jint status = 0;
    return (*jvmti)->GetClassStatus(jvmti, klass, &status) != JVMTI_ERROR_NONE || (status & JVMTI_CLASS_STATUS_PREPARED) != 0;
}

/* At the end: it has no probes, because it waits for them, or because this session did not come to it, nor did another agent have it
 * rewritten meanwhile. In doubt false: then the class is restored. */
static bool has_none(jclass klass)
{
    struct hpx_class_state *s = hpx_class_numbers_state(klass, false);
    struct hpx_class_numbers n = hpx_class_numbers_of(klass);
    bool rewritten_now = hpx_session_is(n.of_methods.session) || hpx_session_is(n.of_places.session);
    unsigned waits = s != NULL ? atomic_exchange_explicit(&s->waits, HPX_CLASS_KNOWN, memory_order_relaxed) : HPX_CLASS_KNOWN;
    return s != NULL && !rewritten_now &&
           (waits == HPX_CLASS_WAITS || hpx_session_is(atomic_load_explicit(&s->without, memory_order_relaxed)));
}

/* Those of the list that are worth it. seen NULL: all; else those that are not in it. At the end of a session classes that are not linked
 * come last: the VM links them, or refuses. false: no memory. */
static bool pick(struct picked *p, const struct hpx_class_list *l, const struct hpx_class_list *seen)
{
    uint32_t others = (uint32_t)l->n;
    p->of = malloc(((size_t)l->n + 1) * sizeof(jclass));
    p->n = p->jdk = 0;
    for (jint i = 0; p->of != NULL && i < l->n && goes_on(p); i++) {
        jclass c = l->all[i];
        bool jdk = false;
        if ((seen != NULL && hpx_class_list_has(seen, p->jvmti, p->env, c)) || !worth_it(p->jvmti, c, &jdk) ||
            (!p->begins && has_none(c)) || (p->begins && !is_found(p->jvmti, p->env, c)) ||
            (p->begins && hpx_vm.late && hpx_waiting_add(p->jvmti, c, p->listed_before))) {
            continue;
        }
        p->jdk += jdk;
        if (p->begins || is_linked(p->jvmti, c)) {
            p->of[p->n++] = c;
        } else {
            p->of[--others] = c;
        }
    }
    p->linked = p->n;
    while (p->of != NULL && others < (uint32_t)l->n) {
        p->of[p->n++] = p->of[others++];
    }
    return p->of != NULL;
}

static void retransform_list(struct picked *p, const struct hpx_class_list *l, const struct hpx_class_list *seen)
{
    if (p->begins) {
        ask_loaders(p->jvmti, p->env, l);
    }
    if (!pick(p, l, seen)) {
        add(&done.unannounced, (uint64_t)l->n);
        return;
    }
    atomic_store_explicit(&passed.done, 0, memory_order_relaxed);
    atomic_store_explicit(&passed.jdk, p->jdk, memory_order_relaxed);
    atomic_store_explicit(&passed.of, p->n, memory_order_relaxed);
    retransform_picked(p);
    free(p->of);
}

/* A class that began to load before the hook was open may not have been there when the others were listed. Those that began later have
 * their probes, and get them once more. */
static void retransform_late(struct picked *p, struct hpx_class_list *seen)
{
    struct hpx_class_list l;
    if (!hpx_class_list_index(seen, p->jvmti) || !hpx_class_list_init(&l, p->jvmti, p->env)) {
        add(&done.unannounced, 1); /* how many there are is not known */
        return;
    }
    p->listed_before = false;
    retransform_list(p, &l, seen);
    hpx_class_list_fini(&l, p->jvmti, p->env);
}

/* Has the hook see all loaded classes that get probes; or, if it is closed, take their probes out. */
static void retransform_loaded(jvmtiEnv *jvmti, JNIEnv *env)
{
    struct hpx_class_list l;
    struct picked p = {.jvmti = jvmti, .env = env, .begins = atomic_load_explicit(&rewritten, memory_order_relaxed)};
    p.listed_before = p.begins && hpx_vm.late;
    bool listed = hpx_class_list_init(&l, jvmti, env);
    if (p.listed_before && goes_on(&p)) {
        hpx_gate_open(&hook);
        (void)hpx_waiting_begin(); /* without, the VM links what is not linked, or refuses it */
    }
    if (!listed) {
        hpx_warn("%s: cannot list the classes loaded so far; %s; raise the memory limit of the VM", hpx_session_modes(),
                 p.begins ? "nothing is counted in them" : "their probes stay, without effect");
        return;
    }
    hpx_names_ignore(true);
    retransform_list(&p, &l, NULL);
    if (p.begins && hpx_vm.late && goes_on(&p)) {
        retransform_late(&p, &l);
    }
    if (!p.begins) {
        atomic_store_explicit(&passed.restored, atomic_load_explicit(&passed.done, memory_order_relaxed), memory_order_relaxed);
    }
    atomic_store_explicit(&passed.of, 0, memory_order_relaxed);
    atomic_store_explicit(&passed.done, 0, memory_order_relaxed);
    hpx_names_ignore(false);
    hpx_class_list_fini(&l, jvmti, env);
}

void hpx_classes_cancel(bool yes)
{
    atomic_store_explicit(&cancelled, yes, memory_order_relaxed);
}

bool hpx_classes_cancelled(void)
{
    return atomic_load_explicit(&cancelled, memory_order_relaxed);
}

struct hpx_classes_progress hpx_classes_progress(void)
{
    return (struct hpx_classes_progress){atomic_load_explicit(&passed.done, memory_order_relaxed),
                                         atomic_load_explicit(&passed.of, memory_order_relaxed),
                                         atomic_load_explicit(&passed.jdk, memory_order_relaxed)};
}

uint32_t hpx_classes_restored(void)
{
    return atomic_exchange_explicit(&passed.restored, 0, memory_order_relaxed);
}

void hpx_classes_figures(struct hpx_classes_figures *f)
{
    f->classes = atomic_load_explicit(&done.classes, memory_order_relaxed);
    f->refused = atomic_load_explicit(&done.refused, memory_order_relaxed);
    f->unfound = atomic_load_explicit(&done.unfound, memory_order_relaxed);
    f->grown = atomic_load_explicit(&done.grown, memory_order_relaxed);
    f->methods = atomic_load_explicit(&done.methods, memory_order_relaxed);
    f->sites = atomic_load_explicit(&done.sites, memory_order_relaxed);
    f->objects = atomic_load_explicit(&done.objects, memory_order_relaxed);
    f->bare = atomic_load_explicit(&done.bare, memory_order_relaxed);
    f->unannounced = atomic_load_explicit(&done.unannounced, memory_order_relaxed);
    for (int i = 0; i < HPX_CLASSES_REASONS; i++) {
        f->left[i] = atomic_load_explicit(&done.left[i], memory_order_relaxed);
    }
}

/* ---- the classes of the probes ---- */

static int register_natives(JNIEnv *env, jclass klass)
{
    for (uint32_t i = 0; i < users.n; i++) {
        if (!hpx_registrar_natives(env, HPX_TRACKER_REGISTRAR, klass, users.of[i]->natives, users.of[i]->nnatives)) {
            return -1;
        }
    }
    return 0;
}

/* On failure methods call the natives directly. */
static void define_downcalls(JNIEnv *env)
{
    struct hpx_tracker_targets all = {.enter = 0};
    for (uint32_t i = 0; i < users.n; i++) {
        const struct hpx_tracker_targets *t = users.of[i]->targets;
        if (t != NULL) {
            all.enter |= t->enter; /* at most one user sets a target */
            all.exit |= t->exit;
            all.thrown |= t->thrown;
            all.alloc |= call_note == NULL ? t->alloc : 0; /* a note may wait, which a downcall must not */
            all.array |= call_note == NULL ? t->array : 0;
        }
    }
    if (hpx_downcall_class() == NULL && (all.enter != 0 || all.alloc != 0) && hpx_downcall_define(hpx_vm.jvmti, env, &all)) {
        defined = all;
    }
    jclass down = hpx_downcall_class();
    downcalls = down != NULL && memcmp(&all, &defined, sizeof all) == 0 &&
                (called[1].klass != NULL || hpx_probe_class_init(&called[1], env, down, HPX_TRACKER_DOWN, 1));
}

static int refused_class(struct hpx_err *err)
{
    return hpx_err_set(err, HPX_E_VM, "the VM refused the class %s", HPROFX_BCI_TRACKER);
}

static int define(JNIEnv *env, struct hpx_err *err)
{
    uint8_t bytes[HPX_TRACKER_CLASS_MAX];
    size_t n = hpx_tracker_class_natives(bytes, hpx_count_unsafe());
    jclass klass = (*env)->DefineClass(env, HPROFX_BCI_TRACKER, NULL, (const jbyte *)bytes, (jsize)n);
    /* the look-up of a method links the class */
    if (klass == NULL || register_natives(env, klass) != 0 ||
        (*env)->GetStaticMethodID(env, klass, HPX_TRACKER_CALIBRATE, "(I)V") == NULL || !hpx_loaders_init(tags, env) ||
        !hpx_probe_class_init(&called[0], env, klass, HPROFX_BCI_TRACKER, 0) || !hpx_probe_frames_add(hpx_vm.jvmti, klass)) {
        (*env)->ExceptionClear(env);
        return refused_class(err);
    }
    tracker = called[0].klass;
    (*env)->DeleteLocalRef(env, klass);
    return 0;
}

/* As in VMStart, where the session began later. The hook stays closed until the loaded classes are listed. */
static bool start_late(JNIEnv *env)
{
    struct hpx_err err;
    if (tracker == NULL ? define(env, &err) != 0 : register_natives(env, tracker) != 0 && refused_class(&err) != 0) {
        hpx_warn("%s is off: %s", hpx_session_modes(), err.msg);
        return false;
    }
    define_downcalls(env);
    return true;
}

void hpx_classes_restore(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (atomic_exchange_explicit(&rewritten, false, memory_order_relaxed)) {
        hpx_waiting_end(env);
        retransform_loaded(jvmti, env);
    }
}

void hpx_classes_loaded(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (hpx_vm.late && !atomic_load_explicit(&rewritten, memory_order_relaxed) && !start_late(env)) {
        return;
    }
    if (!atomic_exchange_explicit(&rewritten, true, memory_order_relaxed)) {
        if (counts() != NULL) {
            (void)hpx_count_link(jvmti, env, tracker, counts()->table());
        }
        retransform_loaded(jvmti, env);
        if (downcalls && hpx_downcall_reason() != NULL) {
            hpx_downcall_link(jvmti, env);
        }
    }
}

static void JNICALL on_vm_start(jvmtiEnv *jvmti, JNIEnv *env)
{
    static struct hpx_err err;
    (void)jvmti;
    if (define(env, &err) != 0) {
        hpx_callbacks_give_up(&err);
    } else {
        define_downcalls(env);
        hpx_gate_open(&hook);
    }
}

/* Outside the gate the loader is asked, which may take long, so what it is asked for must not be of the session. */
static bool must_ask(jvmtiEnv *jvmti, jobject loader, const char *name, const struct hpx_probe_class **c)
{
    bool must = false;
    if (loader != NULL && hpx_vm_enter(&hook, jvmti)) {
        must = wanted_of_file(name) != 0 && look(loader) == HPX_LOADER_UNKNOWN;
        *c = &called[downcalls];
        hpx_gate_leave(&hook);
    }
    return must;
}

/* Rewrites from VMStart on, although probes count only from VMInit on: such classes need no retransforming. */
static void JNICALL on_class_file_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
                                       jobject protection_domain, jint n, const unsigned char *data, jint *new_n, unsigned char **new_data)
{
    (void)protection_domain;
    const struct hpx_probe_class *c = NULL;
    enum hpx_loader answer = HPX_LOADER_UNKNOWN;
    if (redefined == NULL && must_ask(jvmti, loader, name, &c)) {
        answer = hpx_loaders_ask(c, env, loader);
    }
    if (hpx_vm_enter(&hook, jvmti)) {
        bool known = answer != HPX_LOADER_UNKNOWN && c == &called[downcalls]; /* its tag may be lost, or there are no tags */
        rewrite(jvmti, redefined, known ? answer : look(loader), name, n, data, new_n, new_data);
        hpx_gate_leave(&hook);
    }
    if (redefined != NULL) {
        hooked_ns = hpx_clock_mono();
    }
}

/* Here and not later: the VM gives capabilities at load, and when it runs. */
void hpx_classes_use(const struct hpx_class_user *user)
{
    const jvmtiCapabilities want = {.can_tag_objects = 1};
    tags = tags != NULL ? tags : hpx_vm_environment(&want);
    users.of[users.n++] = user;
}

void hpx_classes_callbacks(union hpx_event_callbacks *all)
{
    all->known.VMStart = on_vm_start;
    all->known.ClassFileLoadHook = on_class_file_load;
}

void hpx_classes_capabilities(jvmtiCapabilities *want)
{
    want->can_generate_all_class_hook_events = 1; /* includes classes of the boot loader */
    want->can_retransform_classes = 1;
}

void hpx_classes_close(void)
{
    hpx_gate_close(&hook);
    hpx_waiting_close();
}

void hpx_classes_close_and_wait(void)
{
    hpx_gate_close_and_wait(&hook);
}

bool hpx_classes_left(uint64_t until_ns)
{
    return hpx_gate_wait(&hook, until_ns);
}

jclass hpx_classes_tracker(void)
{
    return downcalls ? hpx_downcall_class() : tracker;
}

const char *hpx_classes_no_downcalls(void)
{
    return downcalls || hpx_downcall_class() == NULL ? hpx_downcall_reason() : "those of an earlier session had other options";
}

const char *hpx_classes_not_linked(void)
{
    return hpx_count_reason();
}

void hpx_classes_left_lines(struct hpx_lines *to, const struct hpx_classes_figures *f)
{
    const char *between = "hprofx: methods not instrumented: ";
    for (int i = 0; i < HPROFX_BCI_LEFT_COUNT; i++) {
        if (f->left[i] > 0 && i != HPROFX_BCI_LEFT_NOTHING) {
            hpx_lines_add(to, "%s%" PRIu64 " methods, %s", between, f->left[i], hprofx_bci_left_text((enum hprofx_bci_left)i));
            between = "; ";
        }
    }
    if (between[0] == ';') {
        hpx_lines_add(to, "\n");
    }
    if (f->refused + f->unannounced + f->grown + f->unfound > 0) {
        hpx_lines_add(to,
                      "hprofx: classes not instrumented: %" PRIu64 " refused by the VM or the rewriter, %" PRIu64
                      " for lack of memory, %" PRIu64 " that sessions made too big, %" PRIu64
                      " whose loader does not find the class that probes call\n",
                      f->refused, f->unannounced, f->grown, f->unfound);
    }
    uint64_t late = hpx_waiting_figures().late;
    if (late > 0) {
        hpx_lines_add(to, "hprofx: classes linked late: %" PRIu64 " without probes for their first calls\n", late);
    }
}

void hpx_classes_set_note(hpx_classes_note note)
{
    call_note = note;
}

hpx_classes_note hpx_classes_get_note(void)
{
    return call_note;
}
