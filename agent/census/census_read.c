/* SPDX-License-Identifier: BSD-2-Clause */
/* census_read.c: see census_read.h. */
#include "census_read.h"
#include "address_map.h"
#include "heap_objects.h"
#include "internals.h"
#include "raw_walk.h"
#include "stack_chunk.h"
#include "structures.h"
#include "utf8_put.h"
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define STEP       1024u /* threads between two reports of progress */
#define NAME_MOST  256u  /* UTF-16 units of a name */
#define NAME_ROOM  (3 * NAME_MOST + 1)
#define FEW        4096u /* threads that wait for owners */
#define DEPTH_MOST 2048u /* frames of a stack */
#define SIGNATURE  1024u /* bytes */
#define OWNED      "Ljava/util/concurrent/locks/AbstractOwnableSynchronizer;"
#define INNERMOST  16u /* frames, among which are Thread.sleep and the methods that are not told: read beyond the depth */
#define FRAMES     (DEPTH_MOST + INNERMOST)

#define LINE        64u
#define CHUNK_LINES 8u
#define BATCH       64u /* nodes, and threads, that are fetched before they are read: most of the time goes to memory that is in no cache */

#define BIN_MOST 65536u /* nodes of one bin: more are a circle */

/* Hashes of nodes that hold no key: one that leads to the next table, one with a tree; others have nothing for us. */
enum { FORWARDS = -1, TREE = -2 };

/* Constant after init. */
static struct {
    uint64_t constant, constants, name, signature, holder, pool; /* of Method, ConstMethod and ConstantPool */
    uint64_t super;                                              /* of Klass */
    uint64_t stack_base, stack_size, entering, waiting, object;  /* of Thread, JavaThread and ObjectMonitor */
} words;

/* An array that grows, in mapped memory. */
struct list {
    void *at;
    uint64_t len, room;
};

struct klass {
    const char *signature; /* NULL: not told */
    bool owned;
};

/* Threads that are kept together. */
struct set {
    uint64_t object;
    const char *container;
};

/* A thread that waits for what another one owns. */
struct wait {
    uint64_t thread, tid, owner;
    uint32_t group;
};

struct reading {
    const struct hpx_census_plan *plan;
    struct hpx_census *to;
    _Atomic uint64_t *progress;
    enum hpx_census_end end;
    uint32_t array_base, bytes_base; /* of arrays of references, of bytes */
    uint32_t class_words[HPX_CENSUS_CLASSES];
    struct hpx_address_map met; /* sets and scopes; threads of a set that grows */
    struct hpx_address_map methods, stacks, groups, classes, owners, containers;
    struct list sets;      /* struct set: to be read */
    const char *container; /* of the set that is read */
    struct list of_container, of_method, of_stack, of_group, of_class, waits;
    size_t used;         /* of the memory of the census */
    uint64_t next_table; /* of the map that is read; 0: none so far */
    bool grows;          /* the map of this set does: a thread may be met twice; else it is in one set, once */
    uint64_t batch[BATCH];
    uint32_t nbatch;
};

const char *hpx_census_read_init(void)
{
    const struct hpx_vm_field all[] = {{"Klass", "_super", "Klass*", &words.super},
                                       {"Method", "_constMethod", "ConstMethod*", &words.constant},
                                       {"ConstMethod", "_constants", "ConstantPool*", &words.constants},
                                       {"ConstMethod", "_name_index", "u2", &words.name},
                                       {"ConstMethod", "_signature_index", "u2", &words.signature},
                                       {"ConstantPool", "_pool_holder", "InstanceKlass*", &words.holder},
                                       {"JavaThread", "_stack_base", "address", &words.stack_base},
                                       {"Thread", "_stack_base", "address", &words.stack_base},
                                       {"JavaThread", "_stack_size", "size_t", &words.stack_size},
                                       {"Thread", "_stack_size", "size_t", &words.stack_size},
                                       {"JavaThread", "_current_pending_monitor", "ObjectMonitor*", &words.entering},
                                       {"JavaThread", "_current_waiting_monitor", "ObjectMonitor*", &words.waiting},
                                       {"ObjectMonitor", "_object", NULL, &words.object}};
    const char *why = hpx_structures_fields(all, HPX_ARRAY_LEN(all));
    words.pool = hpx_structures_size("ConstantPool");
    return why != NULL ? why : words.pool == 0 ? "ConstantPool has no size" : hpx_heap_objects_init();
}

const char *hpx_census_read_off(void)
{
    return hpx_stack_chunk_known_sig() ? hpx_internals_why(HPX_INTERNALS_NAMES) : "stacks in the heap cannot be read";
}

/* ---- memory ---- */

static void fail(struct reading *r, enum hpx_census_end end)
{
    r->end = r->end == HPX_CENSUS_WHOLE ? end : r->end;
}

static void *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p != MAP_FAILED ? p : NULL;
}

/* The next element, cleared; NULL: no memory. */
static void *push(struct reading *r, struct list *l, size_t size)
{
    if (l->len == l->room) {
        const uint64_t room = l->room != 0 ? 2 * l->room : 4096;
        void *at = map(room * size);
        if (at == NULL) {
            fail(r, HPX_CENSUS_NO_MEMORY);
            return NULL;
        }
        if (l->at != NULL) {
            memcpy(at, l->at, l->len * size);
            (void)munmap(l->at, l->room * size);
        }
        l->at = at;
        l->room = room;
    }
    return (char *)l->at + l->len++ * size;
}

static struct hpx_address_entry *put(struct reading *r, struct hpx_address_map *m, uint64_t key)
{
    struct hpx_address_entry *e = hpx_address_map_put(m, key);
    if (e == NULL) {
        fail(r, HPX_CENSUS_NO_MEMORY);
    }
    return e;
}

/* Memory that the other process has, too. */
static void *share(struct reading *r, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > r->to->size - r->used) {
        fail(r, HPX_CENSUS_NO_MEMORY);
        return NULL;
    }
    void *p = (char *)r->to + r->used;
    r->used += bytes;
    return p;
}

static const char *share_text(struct reading *r, const char *text)
{
    const size_t n = strlen(text) + 1;
    char *to = share(r, n);
    return to != NULL ? memcpy(to, text, n) : "";
}

static void *share_list(struct reading *r, const struct list *l, size_t size)
{
    void *to = share(r, l->len * size);
    return to != NULL && l->len > 0 ? memcpy(to, l->at, l->len * size) : to;
}

/* ---- objects ---- */

static bool is_object(const struct reading *r, uint64_t object)
{
    const struct hpx_oops *o = &r->plan->oops;
    return object >= o->low && object < o->high && object % 8 == 0;
}

static uint64_t refers_at(struct reading *r, uint64_t at)
{
    const uint64_t object = hpx_object_at_sig((uintptr_t)at);
    if (hpx_unlikely(object != 0 && !is_object(r, object))) {
        fail(r, HPX_CENSUS_STRANGE);
        return 0;
    }
    return object;
}

static uint64_t refers(struct reading *r, uint64_t object, enum hpx_census_field field)
{
    return refers_at(r, object + r->plan->at[field]);
}

static uint64_t element(struct reading *r, uint64_t array, uint32_t i)
{
    return refers_at(r, array + r->array_base + (uint64_t)i * (r->plan->narrow ? 4 : 8));
}

static int32_t int_of(const struct reading *r, uint64_t object, enum hpx_census_field field)
{
    return *(const int32_t *)(uintptr_t)(object + r->plan->at[field]);
}

static uint64_t long_of(const struct reading *r, uint64_t object, enum hpx_census_field field)
{
    return *(const uint64_t *)(uintptr_t)(object + r->plan->at[field]);
}

static bool is_a(const struct reading *r, uint64_t object, enum hpx_census_class c)
{
    return hpx_oops_class_word(&r->plan->oops, object) == r->class_words[c];
}

/* A handle is an address of the object's, as a field is. */
static uint64_t handle(const struct reading *r, jobject local)
{
    const uint64_t object = hpx_heap_moved_sig((uintptr_t)hpx_oops_handle(local));
    return is_object(r, object) ? object : 0;
}

static bool holds_known(struct reading *r, uint64_t array)
{
    const uint64_t each = r->plan->narrow ? 4 : 8;
    bool all = true;
    for (uint32_t i = 0; i < HPX_CENSUS_KNOWN && all; i++) {
        const uint64_t object = handle(r, r->plan->known[i]);
        all = object != 0 && hpx_object_at_sig((uintptr_t)(array + r->array_base + i * each)) == object;
    }
    return all;
}

/* Elements begin behind the length, on JDK 21 and 22 at the next multiple of 8, as references of 8 bytes always do: known arrays have
 * theirs at one of the two. */
static bool find_elements(struct reading *r)
{
    const uint32_t behind = r->plan->oops.length_at + 4, aligned = (behind + 7) & ~7u;
    const uint64_t array = handle(r, r->plan->holder), text = handle(r, r->plan->text);
    if (array == 0 || text == 0) {
        return false;
    }
    r->array_base = r->plan->narrow ? behind : aligned;
    if (!holds_known(r, array)) {
        r->array_base = aligned;
    }
    const bool at_once = memcmp((const char *)(uintptr_t)text + behind, HPX_CENSUS_TEXT, sizeof HPX_CENSUS_TEXT) == 0;
    r->bytes_base = at_once ? behind : aligned;
    return holds_known(r, array) && memcmp((const char *)(uintptr_t)text + r->bytes_base, HPX_CENSUS_TEXT, sizeof HPX_CENSUS_TEXT) == 0;
}

/* ---- names ---- */

/* The array of the characters of a string; 0: it has none. */
static uint64_t characters_of(struct reading *r, uint64_t string)
{
    const uint64_t value = string != 0 ? refers(r, string, HPX_CENSUS_VALUE) : 0;
    return value != 0 && hpx_oops_length(&r->plan->oops, value) > 0 ? value : 0;
}

static void put_string(struct reading *r, uint64_t string, char text[static NAME_ROOM])
{
    const uint64_t value = characters_of(r, string);
    text[0] = '\0';
    if (value == 0) {
        return;
    }
    const uint8_t coder = *(const uint8_t *)(uintptr_t)(string + r->plan->at[HPX_CENSUS_CODER]);
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)(value + r->bytes_base);
    uint32_t n = hpx_oops_length(&r->plan->oops, value) >> (coder != 0);
    size_t len = 0;
    n = n < NAME_MOST ? n : NAME_MOST;
    for (uint32_t i = 0; i < n; i++) {
        len +=
            hpx_utf8_put_name(text + len, coder == 0 ? bytes[i] : (uint32_t)bytes[2 * (size_t)i] | (uint32_t)bytes[2 * (size_t)i + 1] << 8);
    }
    text[len] = '\0';
}

static const char *name_of(struct reading *r, uint64_t thread)
{
    char text[NAME_ROOM];
    put_string(r, refers(r, thread, HPX_CENSUS_NAME), text);
    return text[0] != '\0' ? share_text(r, text) : "";
}

static struct hpx_census_who who_is(struct reading *r, uint64_t thread)
{
    return thread == 0
               ? (struct hpx_census_who){0, "", false}
               : (struct hpx_census_who){long_of(r, thread, HPX_CENSUS_TID), name_of(r, thread), is_a(r, thread, HPX_CENSUS_VIRTUAL)};
}

/* 1 + the number of the class. */
static uint64_t class_of(struct reading *r, uint64_t object)
{
    char name[SIGNATURE];
    const uintptr_t klass = hpx_object_class_sig((uintptr_t)object);
    struct hpx_address_entry *e = hpx_vm_is_address(klass) ? put(r, &r->classes, klass) : NULL;
    if (e == NULL || e->value != 0) {
        return e != NULL ? e->value : 0;
    }
    struct klass *c = push(r, &r->of_class, sizeof *c);
    if (c == NULL) {
        return 0;
    }
    e->value = r->of_class.len;
    c->signature = hpx_object_class_signature_sig(klass, name, sizeof name) ? share_text(r, name) : NULL;
    for (uintptr_t k = klass; hpx_vm_is_address(k) && !c->owned; k = hpx_vm_word(k + words.super)) {
        c->owned = hpx_object_class_signature_sig(k, name, sizeof name) && strcmp(name, OWNED) == 0;
    }
    return e->value;
}

static const struct klass *klass_at(const struct reading *r, uint64_t number)
{
    return number != 0 ? (const struct klass *)r->of_class.at + number - 1 : NULL;
}

static const char *symbol_at(struct reading *r, uintptr_t pool, uint32_t index)
{
    char text[SIGNATURE];
    const uintptr_t symbol = hpx_vm_word(pool + words.pool + index * sizeof(uintptr_t));
    return hpx_object_symbol_sig(symbol, text, sizeof text) ? share_text(r, text) : "";
}

static enum hpx_census_part part_of(const struct hpx_census_method *m)
{
    static const struct {
        const char *klass, *name;
        enum hpx_census_part part;
    } all[] = {{"Ljdk/internal/vm/Continuation;", "yield0", HPX_CENSUS_YIELDS},
               {"Ljdk/internal/vm/Continuation;", "yield", HPX_CENSUS_YIELDS},
               {"Ljdk/internal/vm/Continuation;", "doYield", HPX_CENSUS_YIELDS},
               {"Ljava/lang/VirtualThread;", "yieldContinuation", HPX_CENSUS_YIELDS},
               {"Ljava/lang/VirtualThread;", "run", HPX_CENSUS_LAST},
               {"Ljava/lang/Thread;", "sleep", HPX_CENSUS_SLEEPS}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        if (strcmp(m->name, all[i].name) == 0 && strcmp(m->class_signature, all[i].klass) == 0) {
            return all[i].part;
        }
    }
    return HPX_CENSUS_OF_PROGRAM;
}

/* The number of a method. */
static uint32_t number_of(struct reading *r, uintptr_t method)
{
    char name[SIGNATURE];
    struct hpx_address_entry *e = put(r, &r->methods, method);
    if (e == NULL || e->value != 0) {
        return e != NULL ? (uint32_t)e->value - 1 : 0;
    }
    struct hpx_census_method *m = push(r, &r->of_method, sizeof *m);
    if (m == NULL) {
        return 0;
    }
    e->value = r->of_method.len;
    const uintptr_t constant = hpx_vm_word(method + words.constant), pool = hpx_vm_word(constant + words.constants);
    m->class_signature =
        hpx_object_class_signature_sig(hpx_vm_word(pool + words.holder), name, sizeof name) ? share_text(r, name) : "Lhprofx/unknown;";
    m->name = symbol_at(r, pool, hpx_vm_half(constant + words.name));
    m->signature = symbol_at(r, pool, hpx_vm_half(constant + words.signature));
    m->part = part_of(m);
    return (uint32_t)e->value - 1;
}

/* ---- stacks and groups ---- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static const struct hpx_census_method *method_at(const struct reading *r, uint32_t number)
{
    return (const struct hpx_census_method *)r->of_method.at + number;
}

/* The number of the stack with these frames. */
static uint32_t stack_of(struct reading *r, const struct hpx_census_frame *frames, uint32_t n)
{
    uint64_t hash = n;
    for (uint32_t i = 0; i < n; i++) {
        hash = mix(hash, (uint64_t)frames[i].method << 32 | (uint32_t)frames[i].bci);
    }
    for (hash = hash != 0 ? hash : 1;; hash = hash + 1 != 0 ? hash + 1 : 1) {
        struct hpx_address_entry *e = put(r, &r->stacks, hash);
        if (e == NULL) {
            return 0;
        }
        if (e->value == 0) {
            struct hpx_census_stack *s = push(r, &r->of_stack, sizeof *s);
            s = s != NULL ? memset(s, 0, sizeof *s) : NULL;
            struct hpx_census_frame *to = s != NULL ? share(r, n * sizeof *to) : NULL;
            if (to == NULL) {
                return 0;
            }
            *s = (struct hpx_census_stack){memcpy(to, frames, n * sizeof *to), n};
            e->value = r->of_stack.len;
        }
        const struct hpx_census_stack *s = (const struct hpx_census_stack *)r->of_stack.at + e->value - 1;
        if (s->n == n && memcmp(s->frames, frames, n * sizeof *frames) == 0) {
            return (uint32_t)e->value - 1;
        }
    }
}

/* The group with the same stack, state, container, class and owner: *at; a new one if there is none. */
static struct hpx_census_group *group_of(struct reading *r, const struct hpx_census_group *like, uint64_t owner, uint32_t *at)
{
    uint64_t hash = mix(mix(mix(mix(like->stack, (uint64_t)like->status), (uint64_t)(uintptr_t)like->waits_for), owner), like->carrier.tid);
    hash = mix(hash, (uint64_t)(uintptr_t)like->container);
    for (hash = hash != 0 ? hash : 1;; hash = hash + 1 != 0 ? hash + 1 : 1) {
        struct hpx_address_entry *e = put(r, &r->groups, hash);
        if (e == NULL) {
            return NULL;
        }
        if (e->value == 0) {
            struct hpx_census_group *g = push(r, &r->of_group, sizeof *g);
            if (g == NULL) {
                return NULL;
            }
            *g = *like;
            g->owner = who_is(r, owner);
            e->value = r->of_group.len;
        }
        struct hpx_census_group *g = (struct hpx_census_group *)r->of_group.at + e->value - 1;
        const uint64_t tid = owner != 0 ? long_of(r, owner, HPX_CENSUS_TID) : 0;
        if (g->stack == like->stack && g->status == like->status && g->waits_for == like->waits_for && g->container == like->container &&
            g->owner.tid == tid && g->carrier.tid == like->carrier.tid) {
            *at = (uint32_t)e->value - 1;
            return g;
        }
    }
}

/* ---- threads ---- */

struct frames {
    struct hpx_census_frame at[FRAMES];
    uint32_t n;
    bool sleeps; /* in Thread.sleep */
    bool yields; /* the innermost one is a method by which it yields */
};

/* As JVMTI tells them: without the methods by which it yields, and those that call its run(). */
static void add_frames(struct reading *r, const struct hpx_ev_frame *raw, int len, struct frames *to)
{
    to->n = 0;
    to->sleeps = to->yields = false;
    for (int i = 0; i < len && r->end == HPX_CENSUS_WHOLE; i++) {
        if (!hpx_vm_is_address((uintptr_t)raw[i].method)) {
            continue; /* stands for frames that are left out */
        }
        const uint32_t number = number_of(r, (uintptr_t)raw[i].method);
        const enum hpx_census_part part = r->end == HPX_CENSUS_WHOLE ? method_at(r, number)->part : HPX_CENSUS_LAST;
        to->yields = to->yields || (to->n == 0 && part == HPX_CENSUS_YIELDS);
        if (to->n > 0 || part != HPX_CENSUS_YIELDS) {
            to->sleeps = to->sleeps || (part == HPX_CENSUS_SLEEPS && to->n < INNERMOST);
            to->at[to->n++] = (struct hpx_census_frame){number, raw[i].bci};
        }
        if (part == HPX_CENSUS_LAST) {
            break;
        }
    }
}

/* Its stack, which is in the heap; of a mounted one its carrier's. changes: as in the plan. false: it cannot be read. */
static bool frames_of(struct reading *r, uint64_t thread, uint64_t carrier, bool changes, struct frames *to)
{
    static HPX_OF_SESSION struct hpx_ev_frame raw[FRAMES]; /* of the copy, which has one thread */
    const uint32_t depth = r->plan->depth < DEPTH_MOST ? r->plan->depth : DEPTH_MOST;
    enum hpx_raw_end end = HPX_END_WHOLE;
    bool read = false;
    int len = 0;
    if (carrier != 0) {
        const uintptr_t vm = (uintptr_t)long_of(r, carrier, HPX_CENSUS_EETOP);
        if (hpx_vm_is_address(vm) && r->plan->env_from_thread != 0) {
            const uintptr_t stack_end = hpx_vm_word(vm + words.stack_base);
            const struct hpx_raw_thread t = {.env = (const void *)(vm + r->plan->env_from_thread),
                                             .stack_low = stack_end - hpx_vm_word(vm + words.stack_size),
                                             .stack_end = stack_end,
                                             .depth = depth + INNERMOST};
            len = hpx_raw_walk_stopped_sig(&t, raw, &end);
        }
        add_frames(r, raw, len, to);
        read = to->n > 0;
    } else {
        const uint64_t cont = refers(r, thread, HPX_CENSUS_CONT), tail = cont != 0 ? refers(r, cont, HPX_CENSUS_TAIL) : 0;
        len = tail != 0 ? hpx_raw_walk_chunk_sig((uintptr_t)tail, depth + INNERMOST, raw, &end) : 0; /* without one it has not run yet */
        add_frames(r, raw, len, to);
        read = end == HPX_END_WHOLE && (to->yields || !changes);
        to->n = to->yields || !changes ? to->n : 0; /* its innermost frames are elsewhere */
    }
    to->n = to->n < depth ? to->n : depth;
    return read;
}

/* A mounted thread may wait for a monitor on its carrier, which its own state does not say: the monitor's object; 0: none. */
static uint64_t monitor_of(struct reading *r, uint64_t carrier, enum hpx_thread_status *status)
{
    const uintptr_t vm = carrier != 0 ? (uintptr_t)long_of(r, carrier, HPX_CENSUS_EETOP) : 0;
    if (!hpx_vm_is_address(vm)) {
        return 0;
    }
    const uintptr_t entering = hpx_vm_word(vm + words.entering), waiting = hpx_vm_word(vm + words.waiting),
                    monitor = entering != 0 ? entering : waiting,
                    slot = hpx_vm_is_address(monitor) ? hpx_vm_word(monitor + words.object) : 0;
    const uint64_t object = hpx_vm_is_address(slot) ? hpx_heap_moved_sig(hpx_vm_word(slot)) : 0;
    *status = entering != 0 ? HPX_STATUS_ENTERING : waiting != 0 ? HPX_STATUS_WAITING : *status;
    return is_object(r, object) ? object : 0;
}

static void name_in(struct reading *r, struct hpx_census_group *g, uint64_t thread)
{
    struct hpx_census_who *who = hpx_census_count(g, characters_of(r, refers(r, thread, HPX_CENSUS_NAME)) != 0);
    if (who != NULL) {
        *who = who_is(r, thread);
    }
}

static void count_thread(struct reading *r, uint64_t thread)
{
    static HPX_OF_SESSION struct frames frames; /* of the copy, which has one thread */
    const struct hpx_census_state state = hpx_census_state(r->plan, int_of(r, thread, HPX_CENSUS_STATE));
    struct hpx_census_group like = {.status = state.status, .container = r->container};
    uint32_t at = 0;
    if (like.status == HPX_STATUS_ENDED || like.status == HPX_STATUS_NOT_STARTED) {
        return;
    }
    const uint64_t carrier = refers(r, thread, HPX_CENSUS_CARRIER), monitor = monitor_of(r, carrier, &like.status),
                   blocker = monitor != 0 ? monitor : refers(r, thread, HPX_CENSUS_BLOCKER),
                   number = blocker != 0 ? class_of(r, blocker) : 0;
    const struct klass *c = klass_at(r, number);
    const uint64_t owner = monitor == 0 && c != NULL && c->owned ? refers(r, blocker, HPX_CENSUS_EXCLUSIVE) : 0;
    like.waits_for = c != NULL ? c->signature : NULL;
    like.carrier = who_is(r, carrier);
    r->to->unread += !frames_of(r, thread, carrier, state.changes, &frames);
    like.stack = stack_of(r, frames.at, frames.n);
    if (r->end != HPX_CENSUS_WHOLE) {
        return;
    }
    if (like.status == HPX_STATUS_WAITING && frames.sleeps) {
        like.status = HPX_STATUS_SLEEPING;
    }
    struct hpx_census_group *g = group_of(r, &like, owner, &at);
    if (g == NULL) {
        return;
    }
    name_in(r, g, thread);
    r->to->threads++;
    if (owner != 0) {
        struct wait *w = push(r, &r->waits, sizeof *w);
        if (w != NULL) {
            *w = (struct wait){thread, long_of(r, thread, HPX_CENSUS_TID), long_of(r, owner, HPX_CENSUS_TID), at};
            (void)put(r, &r->owners, w->owner);
        }
    }
}

/* ---- sets ---- */

/* true: for the first time. */
static bool meets(struct reading *r, uint64_t object)
{
    struct hpx_address_entry *e = object != 0 ? put(r, &r->met, object) : NULL;
    return e != NULL && e->value++ == 0;
}

static void add_set(struct reading *r, uint64_t set, const char *container)
{
    struct set *to = meets(r, set) ? push(r, &r->sets, sizeof *to) : NULL;
    if (to != NULL) {
        *to = (struct set){set, container};
    }
}

/* The same text for the same name. */
static const char *container_of(struct reading *r, uint64_t string, const char *otherwise)
{
    char name[NAME_ROOM];
    uint64_t hash = 0;
    put_string(r, string, name);
    hpx_census_cut_identity(name);
    const char *text = name[0] != '\0' ? name : otherwise;
    for (const char *c = text; *c != '\0'; c++) {
        hash = mix(hash, (uint8_t)*c);
    }
    for (hash = hash != 0 ? hash : 1;; hash = hash + 1 != 0 ? hash + 1 : 1) {
        struct hpx_address_entry *e = put(r, &r->containers, hash);
        const char **to = e != NULL && e->value == 0 ? push(r, &r->of_container, sizeof *to) : NULL;
        if (to != NULL) {
            *to = share_text(r, text);
            e->value = r->of_container.len;
        }
        if (e == NULL || e->value == 0) {
            return NULL;
        }
        const char *is = ((const char *const *)r->of_container.at)[e->value - 1];
        if (strcmp(is, text) == 0) {
            return is;
        }
        if (r->end != HPX_CENSUS_WHOLE) {
            return NULL;
        }
    }
}

static void add_flock(struct reading *r, uint64_t scope)
{
    const uint64_t flock = refers(r, scope, HPX_CENSUS_FLOCK);
    if (flock != 0) {
        add_set(r, refers(r, flock, HPX_CENSUS_OF_FLOCK),
                container_of(r, refers(r, flock, HPX_CENSUS_NAME_OF_FLOCK), "jdk.internal.misc.ThreadFlock"));
    }
}

/* Threads of structured scopes that this one has open. */
static void add_scopes(struct reading *r, uint64_t thread)
{
    for (uint64_t s = refers(r, thread, HPX_CENSUS_SCOPES); s != 0 && meets(r, s); s = refers(r, s, HPX_CENSUS_PREVIOUS)) {
        if (is_a(r, s, HPX_CENSUS_OF_SCOPE)) {
            add_flock(r, s);
        }
    }
}

static void read_thread(struct reading *r, uint64_t thread)
{
    if (r->grows && !meets(r, thread)) {
        return;
    }
    if (is_a(r, thread, HPX_CENSUS_VIRTUAL)) {
        count_thread(r, thread);
        if (r->to->threads % STEP == 0) {
            atomic_fetch_add_explicit(r->progress, STEP, memory_order_relaxed);
        }
    }
    add_scopes(r, thread);
}

static void fetch(uint64_t address)
{
    __builtin_prefetch((const void *)(uintptr_t)address);
}

/* What one step reads the step before has asked for. */
static void read_batch(struct reading *r)
{
    uint64_t at[BATCH];
    for (uint32_t i = 0; i < r->nbatch; i++) {
        at[i] = is_a(r, r->batch[i], HPX_CENSUS_VIRTUAL) ? refers(r, r->batch[i], HPX_CENSUS_CONT) : 0;
        fetch(at[i]);
    }
    for (uint32_t i = 0; i < r->nbatch; i++) {
        at[i] = at[i] != 0 ? refers(r, at[i], HPX_CENSUS_TAIL) : 0;
        fetch(at[i]);
    }
    for (uint32_t i = 0; i < r->nbatch; i++) {
        const int32_t sp = at[i] != 0 ? int_of(r, at[i], HPX_CENSUS_SP) : 0;
        for (uint32_t line = 0; line < CHUNK_LINES && sp > 0; line++) {
            fetch(at[i] + (uint64_t)sp * sizeof(uint64_t) + (uint64_t)line * LINE);
        }
    }
    for (uint32_t i = 0; i < r->nbatch && r->end == HPX_CENSUS_WHOLE; i++) {
        read_thread(r, r->batch[i]);
    }
    r->nbatch = 0;
}

static void meet_thread(struct reading *r, uint64_t thread)
{
    fetch(thread);
    fetch(thread + LINE);
    r->batch[r->nbatch++] = thread;
    if (r->nbatch == BATCH) {
        read_batch(r);
    }
}

static void meet_container(struct reading *r, uint64_t reference)
{
    const uint64_t c = refers(r, reference, HPX_CENSUS_REFERENT);
    if (c == 0) {
        return;
    }
    if (is_a(r, c, HPX_CENSUS_EXECUTOR)) {
        add_set(r, refers(r, c, HPX_CENSUS_OF_EXECUTOR), container_of(r, 0, "java.util.concurrent.ThreadPerTaskExecutor"));
    } else if (is_a(r, c, HPX_CENSUS_SHARED)) {
        add_set(r, refers(r, c, HPX_CENSUS_OF_SHARED),
                container_of(r, refers(r, c, HPX_CENSUS_NAME_OF_SHARED), "jdk.internal.vm.SharedThreadContainer"));
    } else if (is_a(r, c, HPX_CENSUS_OF_SCOPE)) {
        add_flock(r, c);
    }
}

/* Nodes of as many bins; each round reads what the one before has asked for, the next node of each bin. */
static void read_nodes(struct reading *r, uint64_t *nodes, uint32_t n, void (*meet)(struct reading *r, uint64_t key))
{
    for (uint32_t round = 0; n > 0 && r->end == HPX_CENSUS_WHOLE; round++) {
        uint32_t left = 0;
        for (uint32_t i = 0; i < n && r->end == HPX_CENSUS_WHOLE; i++) {
            const uint64_t node = nodes[i];
            const int32_t hash = int_of(r, node, HPX_CENSUS_HASH);
            const uint64_t key = hash >= 0 ? refers(r, node, HPX_CENSUS_KEY) : 0;
            if (key != 0) {
                meet(r, key);
            } else if (hash == FORWARDS && r->next_table == 0) {
                r->next_table = refers(r, node, HPX_CENSUS_FORWARDED);
            }
            nodes[left] = hash >= 0 ? refers(r, node, HPX_CENSUS_NEXT) : hash == TREE ? refers(r, node, HPX_CENSUS_FIRST) : 0;
            fetch(nodes[left]);
            left += nodes[left] != 0;
        }
        n = left;
        if (round == BIN_MOST) {
            fail(r, HPX_CENSUS_STRANGE);
        }
    }
}

/* While a map grows its keys are in two tables, for a moment some in both; at the end only nodes of the old one name the new one. */
static void read_table(struct reading *r, uint64_t table, void (*meet)(struct reading *r, uint64_t key))
{
    uint64_t nodes[BATCH];
    uint32_t batched = 0;
    const uint32_t n = table != 0 ? hpx_oops_length(&r->plan->oops, table) : 0;
    for (uint32_t i = 0; i < n && r->end == HPX_CENSUS_WHOLE; i++) {
        nodes[batched] = element(r, table, i);
        fetch(nodes[batched]);
        batched += nodes[batched] != 0;
        if (batched == BATCH) {
            read_nodes(r, nodes, batched, meet);
            batched = 0;
        }
    }
    read_nodes(r, nodes, batched, meet);
}

static void read_set(struct reading *r, uint64_t set, void (*meet)(struct reading *r, uint64_t key))
{
    const uint64_t of = set != 0 ? refers(r, set, HPX_CENSUS_MAP_OF_SET) : 0;
    if (of != 0) {
        r->next_table = refers(r, of, HPX_CENSUS_NEXT_TABLE);
        r->grows = r->next_table != 0;
        read_table(r, refers(r, of, HPX_CENSUS_TABLE), meet);
        read_table(r, r->next_table, meet);
    }
    read_batch(r);
}

/* ---- all ---- */

/* Of virtual threads alone only those are in a deadlock that own what others wait for; platform threads may wait for any. */
static void add_edges(struct reading *r)
{
    struct list edges = {NULL, 0, 0};
    for (uint64_t i = 0; i < r->waits.len && r->end == HPX_CENSUS_WHOLE; i++) {
        const struct wait *w = (const struct wait *)r->waits.at + i;
        const bool is_owner = r->waits.len <= FEW || hpx_address_map_find(&r->owners, w->tid) != NULL;
        struct hpx_census_edge *e = is_owner ? push(r, &edges, sizeof *e) : NULL;
        if (e != NULL) {
            *e = (struct hpx_census_edge){who_is(r, w->thread), w->owner, w->group};
        }
    }
    r->to->edges = share_list(r, &edges, sizeof(struct hpx_census_edge));
    r->to->nedges = (uint32_t)edges.len;
}

enum hpx_census_end hpx_census_read(const struct hpx_census_plan *plan, struct hpx_census *to, _Atomic uint64_t *progress)
{
    struct reading r = {.plan = plan, .to = to, .progress = progress, .used = sizeof *to};
    if (!find_elements(&r)) {
        return HPX_CENSUS_STRANGE;
    }
    for (int i = 0; i < HPX_CENSUS_CLASSES; i++) {
        const uint64_t object = handle(&r, plan->instances[i]);
        r.class_words[i] = object != 0 ? hpx_oops_class_word(&plan->oops, object) : 0;
    }
    add_set(&r, handle(&r, plan->roots), NULL);
    read_set(&r, handle(&r, plan->containers), meet_container);
    for (uint32_t i = 0; i < plan->nthreads; i++) {
        const uint64_t thread = handle(&r, plan->threads[i]);
        if (thread != 0) {
            add_scopes(&r, thread);
        }
    }
    for (uint64_t i = 0; i < r.sets.len && r.end == HPX_CENSUS_WHOLE; i++) {
        const struct set s = ((const struct set *)r.sets.at)[i];
        r.container = s.container;
        read_set(&r, s.object, meet_thread);
    }
    add_edges(&r);
    to->methods = share_list(&r, &r.of_method, sizeof(struct hpx_census_method));
    to->stacks = share_list(&r, &r.of_stack, sizeof(struct hpx_census_stack));
    to->groups = share_list(&r, &r.of_group, sizeof(struct hpx_census_group));
    to->nmethods = (uint32_t)r.of_method.len;
    to->nstacks = (uint32_t)r.of_stack.len;
    to->ngroups = (uint32_t)r.of_group.len;
    to->used = r.used;
    return r.end;
}
