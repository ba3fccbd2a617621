/* SPDX-License-Identifier: BSD-2-Clause */
/* libraries.c: the list of libraries.h, in two copies: handlers read one while the other is written. */
#include "libraries.h"
#include "compiler.h"
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define MAPPED_MOST 4096u
#define NOTES       4                   /* parts with notes, of which the first may have no build id */
#define SPARE       16u                 /* libraries that may come before the list is taken again */
#define TABLE_BYTES ((size_t)256 << 20) /* of all tables */
#define PART_BYTES  ((size_t)512 << 20) /* of a library, to make a table of */
#define PAGE        ((size_t)4096)
#define TRIES       3 /* of a handler, if the list is written meanwhile */

struct range {
    _Atomic uintptr_t start, end, base; /* relaxed: `turn` says whether they belong together */
    _Atomic(const struct hpx_library *) library;
};

struct list {
    _Atomic uint32_t n; /* relaxed */
    struct range at[MAPPED_MOST];
};

struct shown {
    _Atomic uint32_t turn; /* release: show(); acquire: find. Its last bit: which list is read */
    struct list lists[2];
};

static HPX_OF_SESSION _Atomic(struct shown *) shown; /* a mapping. release: begin; acquire: find. NULL: no library is known */

/* A library, and what tells it from others. */
struct known {
    struct hpx_library is;
    uint64_t key[2];
    struct hpx_unwind_table *table;
    char *path;
};

static HPX_OF_SESSION struct {
    struct known **all; /* by number - 1; room for HPX_LIBRARIES_MOST */
    uint32_t n;
    size_t bytes;
    int memory;  /* /proc/self/mem, in a look */
    bool looked; /* the list that is shown is the one behind `adds` and `subs` */
    unsigned long long adds, subs;
} own;

/* ---- what is mapped ---- */

struct mapped {
    uintptr_t base, start, end;
    uintptr_t header, part, part_end; /* .eh_frame_hdr, and the loaded part that it is in; 0: none */
    struct {
        uintptr_t at, end;
    } notes[NOTES]; /* at 0: no more */
    uint64_t shape; /* a sum of the program headers */
    const char *path;
};

struct listing {
    struct mapped *all;
    char *paths;
    uint32_t n, room;
    size_t bytes, bytes_room; /* of paths */
    unsigned long long adds, subs;
    bool counts; /* the loader tells adds and subs */
    bool same;
};

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static struct mapped shape_of(const struct dl_phdr_info *info)
{
    struct mapped m = {.base = info->dlpi_addr, .start = UINTPTR_MAX};
    int notes = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uintptr_t at = m.base + p->p_vaddr;
        m.shape = mix(mix(mix(m.shape, p->p_vaddr), p->p_memsz), (uint64_t)p->p_type << 32 | p->p_flags);
        if (p->p_type == PT_LOAD && p->p_memsz > 0) {
            m.start = at < m.start ? at : m.start;
            m.end = at + p->p_memsz > m.end ? at + p->p_memsz : m.end;
        } else if (p->p_type == PT_GNU_EH_FRAME) {
            m.header = at;
        } else if (p->p_type == PT_NOTE && notes < NOTES) {
            m.notes[notes].at = at;
            m.notes[notes++].end = at + p->p_memsz;
        }
    }
    for (int i = 0; i < info->dlpi_phnum && m.header != 0; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uintptr_t at = m.base + p->p_vaddr;
        if (p->p_type == PT_LOAD && m.header >= at && m.header - at < p->p_filesz) {
            m.part = at;
            m.part_end = at + p->p_filesz;
        }
    }
    return m;
}

/* The loader's lock is held, which an allocator of the program may want while it holds its own (some take stacks): so nothing is allocated
 * here, and nothing is read but what the loader has. What has no room is only counted. */
static int list_one(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct listing *l = ctx;
    l->counts = size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs;
    if (l->n == 0 && l->counts) {
        l->adds = info->dlpi_adds;
        l->subs = info->dlpi_subs;
        l->same = own.looked && l->adds == own.adds && l->subs == own.subs;
    }
    struct mapped m = shape_of(info);
    if (!l->same && m.start < m.end) {
        const char *path = info->dlpi_name != NULL ? info->dlpi_name : "";
        const size_t n = strlen(path) + 1;
        if (l->n < l->room && l->bytes + n <= l->bytes_room) {
            m.path = memcpy(l->paths + l->bytes, path, n);
            l->all[l->n] = m;
        }
        l->n++;
        l->bytes += n;
    }
    return l->same;
}

/* false: no memory, or too many. */
static bool list_all(struct listing *l)
{
    for (;;) {
        l->n = 0;
        l->bytes = 0;
        (void)dl_iterate_phdr(list_one, l);
        if (l->same || (l->n <= l->room && l->bytes <= l->bytes_room)) {
            return l->n <= MAPPED_MOST;
        }
        free(l->all);
        free(l->paths);
        l->room = l->n + SPARE;
        l->bytes_room = l->bytes + l->bytes / l->n * SPARE;
        l->all = l->n <= MAPPED_MOST ? malloc(l->room * sizeof *l->all) : NULL;
        l->paths = malloc(l->bytes_room);
        if (l->all == NULL || l->paths == NULL) {
            return false;
        }
    }
}

/* ---- a new library ---- */

static int open_memory(void)
{
    return open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
}

static size_t read_memory(int memory, void *to, uintptr_t at, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(memory, (char *)to + done, n - done, (off_t)(at + done));
        if (got <= 0) {
            break;
        }
        done += (size_t)got;
    }
    return done;
}

size_t hpx_libraries_read(void *to, uintptr_t at, size_t n)
{
    const int memory = open_memory();
    if (memory < 0) {
        return 0;
    }
    n = read_memory(memory, to, at, n);
    (void)close(memory);
    return n;
}

static void read_notes(uintptr_t from, uintptr_t end, struct hpx_library *to)
{
    uint8_t bytes[256];
    ElfW(Nhdr) note;
    const size_t n = read_memory(own.memory, bytes, from, end - from < sizeof bytes ? end - from : sizeof bytes);
    for (size_t at = 0; n - at >= sizeof note;) {
        memcpy(&note, bytes + at, sizeof note);
        const size_t name = at + sizeof note, text = ((size_t)note.n_namesz + 3) & ~(size_t)3;
        if (text > n - name || note.n_descsz > n - name - text) {
            return;
        }
        const size_t id = name + text;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(bytes + name, "GNU", 4) == 0 &&
            note.n_descsz <= sizeof to->build_id) {
            memcpy(to->build_id, bytes + id, note.n_descsz);
            to->build_id_bytes = note.n_descsz;
            return;
        }
        const size_t next = id + (((size_t)note.n_descsz + 3) & ~(size_t)3);
        if (next > n) {
            return;
        }
        at = next;
    }
}

static void read_build_id(const struct mapped *m, struct hpx_library *to)
{
    for (int i = 0; i < NOTES && m->notes[i].at != 0 && to->build_id_bytes == 0; i++) {
        read_notes(m->notes[i].at, m->notes[i].end, to);
    }
}

/* What two libraries differ in: the build id; of one that has none the file. */
static void key_of(const struct mapped *m, const struct hpx_library *l, uint64_t key[2])
{
    struct stat st = {0};
    uint64_t h = mix(m->shape, l->build_id_bytes);
    for (uint32_t i = 0; i < l->build_id_bytes; i++) {
        h = mix(h, l->build_id[i]);
    }
    if (l->build_id_bytes == 0) {
        for (const char *p = m->path; *p != 0; p++) {
            h = mix(h, (unsigned char)*p);
        }
        int fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0) {
            (void)fstat(fd, &st);
            (void)close(fd);
        }
        h = mix(mix(mix(h, st.st_ino), (uint64_t)st.st_mtim.tv_sec), (uint64_t)st.st_mtim.tv_nsec);
    }
    key[0] = h;
    key[1] = mix(h ^ m->shape, (uint64_t)(m->end - m->start));
}

/* Where .eh_frame_hdr and .eh_frame begin, of which the second is behind the first in most libraries, and far behind the begin of their
 * part. */
static uintptr_t begin_of_tables(const struct mapped *m)
{
    enum { RELATIVE = 0x1b }; /* to the place of the pointer, 4 bytes with a sign: what all linkers write */
    struct {
        uint8_t version, frame_as, count_as, table_as;
        int32_t frame;
    } h = {0};
    const bool read = read_memory(own.memory, &h, m->header, sizeof h) == sizeof h && h.frame_as == RELATIVE;
    return read && h.frame >= 0 ? m->header : m->part;
}

/* false: its bytes cannot all be had: no memory, or it is unmapped meanwhile. NULL: none can be made. */
static bool make_table(const struct mapped *m, struct hpx_unwind_table **to)
{
    *to = NULL;
    if (m->header == 0 || m->part == 0 || m->part_end - m->part > PART_BYTES || m->end - m->base >= UINT32_MAX) {
        return true;
    }
    const uintptr_t from_at = begin_of_tables(m);
    const size_t size = m->part_end - from_at;
    if (own.bytes >= TABLE_BYTES) {
        return true;
    }
    uint8_t *bytes = malloc(size);
    if (bytes == NULL) {
        return false;
    }
#if defined(__aarch64__)
    const bool link = true;
#else
    const bool link = false;
#endif
    const struct hpx_unwind_bytes from = {bytes, read_memory(own.memory, bytes, from_at, size), from_at, m->header, m->base, link};
    const bool made = hpx_unwind_table_make(&from, to);
    free(bytes);
    return made && from.size == size;
}

static char *path_of(const struct mapped *m)
{
    char exe[4096];
    if (m->path[0] != 0) {
        return strdup(strncmp(m->path, "linux-vdso", 10) == 0 || strncmp(m->path, "linux-gate", 10) == 0 ? HPX_LIBRARIES_VDSO : m->path);
    }
    ssize_t n = readlinkat(AT_FDCWD, "/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = 0;
    return strdup(exe);
}

/* NULL: no memory, too many, or it is no longer what was listed. again: it is listed as the last time, and so is mapped all the time. */
static const struct hpx_library *library_of(const struct mapped *m, bool again)
{
    struct known *k = calloc(1, sizeof *k);
    if (k == NULL) {
        return NULL;
    }
    read_build_id(m, &k->is);
    key_of(m, &k->is, k->key);
    for (uint32_t i = 0; i < own.n; i++) {
        if (own.all[i]->key[0] == k->key[0] && own.all[i]->key[1] == k->key[1]) {
            free(k);
            return &own.all[i]->is;
        }
    }
    k->path = own.n < HPX_LIBRARIES_MOST ? path_of(m) : NULL;
    if (k->path == NULL || (!make_table(m, &k->table) && !again)) {
        hpx_unwind_table_free(k->table);
        free(k->path);
        free(k);
        return NULL;
    }
    k->is.table = k->table;
    k->is.path = k->path;
    if (strcmp(k->path, HPX_LIBRARIES_VDSO) == 0) {
        k->is.memory = m->start;
        k->is.memory_bytes = (m->end - m->start + PAGE - 1) / PAGE * PAGE; /* the headers of its sections are behind what it loads */
    }
    k->is.number = own.n + 1;
    own.bytes += k->table != NULL ? hpx_unwind_table_bytes(k->table) : 0;
    own.all[own.n++] = k;
    return &k->is;
}

/* ---- the list ---- */

static int by_start(const void *a, const void *b)
{
    const struct mapped *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void show(const struct mapped *all, const struct hpx_library *const *libraries, uint32_t n)
{
    struct shown *s = atomic_load_explicit(&shown, memory_order_relaxed); /* its own */
    const uint32_t turn = atomic_load_explicit(&s->turn, memory_order_relaxed) + 1;
    struct list *l = &s->lists[turn % 2];
    uint32_t k = 0;
    atomic_thread_fence(memory_order_release); /* partner: find: who reads a word that is stored below sees the turn that is there now */
    for (uint32_t i = 0; i < n; i++) {
        if (libraries[i] != NULL) {
            struct range *r = &l->at[k++];
            atomic_store_explicit(&r->start, all[i].start, memory_order_relaxed);
            atomic_store_explicit(&r->end, all[i].end, memory_order_relaxed);
            atomic_store_explicit(&r->base, all[i].base, memory_order_relaxed);
            atomic_store_explicit(&r->library, libraries[i], memory_order_relaxed);
        }
    }
    atomic_store_explicit(&l->n, k, memory_order_relaxed);
    atomic_store_explicit(&s->turn, turn, memory_order_release); /* partner: find */
}

static void take(struct listing *l)
{
    const struct hpx_library **libraries =
        malloc(l->n * sizeof(const struct hpx_library *)); /* NOLINT(bugprone-sizeof-expression): of pointers */
    if (libraries == NULL) {
        return;
    }
    const bool again = l->counts && l->adds == own.adds && l->subs == own.subs;
    qsort(l->all, l->n, sizeof *l->all, by_start);
    own.looked = l->counts;
    for (uint32_t i = 0; i < l->n; i++) {
        libraries[i] = library_of(&l->all[i], again);
        own.looked = own.looked && (libraries[i] != NULL || own.n == HPX_LIBRARIES_MOST);
    }
    show(l->all, libraries, l->n);
    free(libraries);
    own.adds = l->adds;
    own.subs = l->subs;
}

void hpx_libraries_look(void)
{
    struct listing l = {0};
    if (atomic_load_explicit(&shown, memory_order_relaxed) != NULL && list_all(&l) && !l.same && l.n > 0) {
        /* not kept open: the program may close a descriptor that it has not opened, and then has another file there */
        own.memory = open_memory();
        if (own.memory >= 0) { /* else what is shown stays, and the next look tries again */
            take(&l);
            (void)close(own.memory);
        }
    }
    free(l.all);
    free(l.paths);
}

const char *hpx_libraries_begin(void)
{
    uint8_t byte;
    if (hpx_libraries_read(&byte, (uintptr_t)&hpx_libraries_begin, 1) != 1) {
        return "/proc/self/mem cannot be read";
    }
    own.all = calloc(HPX_LIBRARIES_MOST, sizeof(struct known *));
    void *p = own.all == NULL ? MAP_FAILED : mmap(NULL, sizeof(struct shown), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        free(own.all);
        memset(&own, 0, sizeof own);
        return "no memory";
    }
    atomic_store_explicit(&shown, p, memory_order_release); /* partner: find */
    return NULL;
}

void hpx_libraries_end(bool inside)
{
    struct shown *s = atomic_exchange_explicit(&shown, NULL, memory_order_relaxed);
    if (s == NULL) {
        return;
    }
    for (uint32_t i = 0; i < own.n && !inside; i++) {
        hpx_unwind_table_free(own.all[i]->table);
        free(own.all[i]->path);
        free(own.all[i]);
    }
    if (!inside) {
        (void)munmap(s, sizeof *s);
        free(own.all);
    }
    memset(&own, 0, sizeof own);
}

const struct hpx_library *hpx_libraries_at(uint32_t number)
{
    return number >= 1 && number <= own.n ? &own.all[number - 1]->is : NULL;
}

struct hpx_libraries_figures hpx_libraries_figures(void)
{
    struct hpx_libraries_figures f = {own.n, 0, own.bytes};
    for (uint32_t i = 0; i < own.n; i++) {
        f.tables += own.all[i]->table != NULL;
    }
    return f;
}

/* ---- handlers ---- */

static bool find(const struct list *l, uintptr_t pc, struct hpx_library_place *to)
{
    uint32_t low = 0, high = atomic_load_explicit(&l->n, memory_order_relaxed);
    while (low < high) { /* ranges below `low` begin at or below pc */
        uint32_t middle = low + (high - low) / 2;
        if (atomic_load_explicit(&l->at[middle].start, memory_order_relaxed) <= pc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return false;
    }
    const struct range *r = &l->at[low - 1];
    const uintptr_t offset = pc - atomic_load_explicit(&r->base, memory_order_relaxed);
    if (pc >= atomic_load_explicit(&r->end, memory_order_relaxed) || offset > UINT32_MAX) {
        return false;
    }
    to->library = atomic_load_explicit(&r->library, memory_order_relaxed);
    to->offset = (uint32_t)offset;
    return true;
}

bool hpx_libraries_find_sig(uintptr_t pc, struct hpx_library_place *to)
{
    struct shown *s = atomic_load_explicit(&shown, memory_order_acquire); /* partner: begin */
    for (int i = 0; i < TRIES && s != NULL; i++) {
        const uint32_t turn = atomic_load_explicit(&s->turn, memory_order_acquire); /* partner: show() */
        const bool found = find(&s->lists[turn % 2], pc, to);
        atomic_thread_fence(memory_order_acquire); /* partner: show() */
        if (atomic_load_explicit(&s->turn, memory_order_relaxed) == turn) {
            return found;
        }
    }
    return false;
}
