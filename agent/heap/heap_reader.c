/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_reader.c: see heap_reader.h. */
#include "heap_reader.h"
#include "err.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define FREED ((uint64_t)16 << 20) /* bytes freed in one call, which costs more than its bytes */

static bool read_at(int fd, void *to, size_t n, uint64_t at)
{
    for (size_t done = 0; done < n;) {
        ssize_t k = pread(fd, (char *)to + done, n - done, (off_t)(at + done));
        if (k <= 0 && !(k < 0 && errno == EINTR)) {
            return false;
        }
        done += k > 0 ? (size_t)k : 0;
    }
    return true;
}

/* Facts come in the order of the walk; those of no class of the dump go behind all others. */
static bool order_facts(struct hpx_heap_facts *f, const struct hpx_heap_image *i, const struct hpx_heap_fact *from)
{
    f->first = calloc((size_t)i->nclasses + 3, sizeof(*f->first));
    f->facts = calloc(i->found.nfacts + 1, sizeof(*f->facts));
    if (f->first == NULL || f->facts == NULL) {
        return false;
    }
    for (uint64_t k = 0; k < i->found.nfacts; k++) {
        f->first[2 + (from[k].klass.v < i->nclasses ? from[k].klass.v : i->nclasses)]++;
    }
    for (uint32_t k = 0; k <= i->nclasses + 1; k++) {
        f->first[k + 1] += f->first[k];
    }
    for (uint64_t k = 0; k < i->found.nfacts; k++) { /* first[c + 1] grows from the beginning of the facts of c to their end */
        f->facts[f->first[1 + (from[k].klass.v < i->nclasses ? from[k].klass.v : i->nclasses)]++] = from[k];
    }
    return true;
}

int hpx_heap_facts_read(struct hpx_heap_facts *f, const struct hpx_heap_image *i)
{
    *f = (struct hpx_heap_facts){.facts = NULL};
    struct hpx_heap_fact *facts = calloc(i->found.nfacts + 1, sizeof(*facts));
    f->roots = calloc(i->found.nroots + 1, sizeof(*f->roots));
    int rc = facts != NULL && f->roots != NULL ? 0 : -HPX_E_NOMEM;
    if (rc == 0 && (!read_at(i->spool, facts, i->found.nfacts * sizeof(*facts), i->found.facts_at) ||
                    !read_at(i->spool, f->roots, i->found.nroots * sizeof(*f->roots), i->found.roots_at))) {
        rc = -HPX_E_IO;
    }
    if (rc == 0 && !order_facts(f, i, facts)) {
        rc = -HPX_E_NOMEM;
    }
    free(facts);
    if (rc != 0) {
        hpx_heap_facts_free(f);
    }
    return rc;
}

void hpx_heap_facts_free(struct hpx_heap_facts *f)
{
    free(f->facts);
    free(f->roots);
    free(f->first);
    *f = (struct hpx_heap_facts){.facts = NULL};
}

uint64_t hpx_heap_fact_of(const struct hpx_heap_facts *f, struct hpx_class_number number, uint8_t kind, uint32_t index)
{
    for (uint32_t k = f->first[number.v]; k < f->first[number.v + 1]; k++) {
        if (f->facts[k].kind == kind && f->facts[k].index == index) {
            return f->facts[k].value;
        }
    }
    return 0;
}

/* The thread with this object; NULL: none. */
static const struct hpx_heap_thread *thread_of(const struct hpx_heap_image *i, uint64_t object)
{
    uint32_t low = 0, high = i->nthreads; /* ordered by object */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (i->threads[middle].object < object) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < i->nthreads && i->threads[low].object == object ? &i->threads[low] : NULL;
}

uint32_t hpx_heap_kind_of_root(const struct hpx_heap_image *i, const struct hpx_heap_root_fact *r, const struct hpx_heap_thread **t)
{
    const bool of_thread = r->kind == HPX_ROOT_THREAD_OBJECT || r->kind == HPX_ROOT_JNI_LOCAL || r->kind == HPX_ROOT_JAVA_FRAME;
    *t = of_thread ? thread_of(i, r->kind == HPX_ROOT_THREAD_OBJECT ? r->object : r->thread) : NULL;
    return of_thread && *t == NULL ? HPX_ROOT_UNKNOWN : r->kind;
}

/* The stack was taken before the walk, and the thread may have called or returned since: the same method at the same depth, or the nearest
 * such frame. */
int32_t hpx_heap_frame(const struct hpx_heap_thread *t, const struct hpx_heap_root_fact *r)
{
    if (r->depth < 0 || r->method == 0) {
        return -1;
    }
    const int64_t n = t->nframes, at = r->depth - (int64_t)t->above;
    for (int64_t away = 0; away < n + (int64_t)t->above; away++) {
        int64_t below = at - away, above = at + away;
        if (below >= 0 && below < n && t->methods[below] == r->method) {
            return (int32_t)below;
        }
        if (above >= 0 && above < n && t->methods[above] == r->method) {
            return (int32_t)above;
        }
    }
    return -1;
}

/* ---- objects ---- */

/* The longest instance fits: only arrays come in pieces. */
static size_t segment_size(const struct hpx_heap_image *i)
{
    size_t most = HPX_HEAP_SEGMENT;
    for (uint32_t n = 0; n < i->nclasses; n++) {
        const struct hpx_heap_klass *c = i->classes[n];
        size_t size = c != NULL ? HPX_RECORD_HEAD + 9 + 2 * (size_t)i->id_size + c->instance_size : 0;
        most = size > most ? size : most;
    }
    return most;
}

int hpx_heap_reader_init(struct hpx_heap_reader *r, const struct hpx_heap_image *i)
{
    *r = (struct hpx_heap_reader){.image = i, .offset = i->head, .freed = i->head, .size = segment_size(i)};
    r->segment = malloc(r->size);
    return r->segment != NULL ? 0 : -HPX_E_NOMEM;
}

void hpx_heap_reader_fini(struct hpx_heap_reader *r)
{
    free(r->segment);
    r->segment = NULL;
}

/* Dump and spool then need the disk once; where this fails they need it twice. */
static void free_space(struct hpx_heap_reader *r)
{
#ifdef FALLOC_FL_PUNCH_HOLE
    uint64_t n = (r->offset - r->freed) / FREED * FREED;
    if (r->image->once && n > 0) {
        (void)fallocate(r->image->spool, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)r->freed, (off_t)n);
        r->freed += n;
    }
#endif
}

static bool take(struct hpx_heap_reader *r, uint8_t *to, size_t n)
{
    if (!read_at(r->image->spool, to, n, r->offset)) {
        r->error = -HPX_E_IO;
        return false;
    }
    r->offset += n;
    return true;
}

bool hpx_heap_reader_more(struct hpx_heap_reader *r)
{
    size_t room = r->size - HPX_RECORD_HEAD, whole = (room - 1) & ~(size_t)7;
    /* the elements of an array of objects begin at a multiple of 8 and 1 */
    r->have = r->rest <= room ? r->rest : whole + (r->rest == r->length);
    if (r->error != 0 || r->have == 0 || !take(r, hpx_heap_reader_body(r), r->have)) {
        r->have = 0;
        return false;
    }
    r->rest -= (uint32_t)r->have;
    free_space(r);
    return true;
}

void hpx_heap_reader_skip(struct hpx_heap_reader *r, size_t n)
{
    r->offset += n;
    r->rest -= (uint32_t)n;
}

bool hpx_heap_reader_head(struct hpx_heap_reader *r)
{
    hpx_heap_reader_skip(r, r->rest);
    if (r->error != 0 || r->offset == r->image->found.objects_end) {
        return false;
    }
    uint64_t left = r->image->found.objects_end - r->offset;
    if (left <= HPX_RECORD_HEAD || !take(r, r->segment, HPX_RECORD_HEAD)) {
        r->error = -HPX_E_IO;
        return false;
    }
    r->sites = r->image->head == 0 && hpx_get_be4(r->segment + 1) != 0;
    r->length = hpx_get_be4(r->segment + 5);
    if (r->length == 0 || r->length > left - HPX_RECORD_HEAD) { /* the spool was cut */
        r->error = -HPX_E_IO;
        return false;
    }
    r->rest = r->length;
    return true;
}

bool hpx_heap_reader_next(struct hpx_heap_reader *r)
{
    return hpx_heap_reader_head(r) && hpx_heap_reader_more(r);
}

uint64_t hpx_heap_sub_length(uint32_t id_size, const uint8_t *p, size_t n)
{
    size_t head = n == 0 ? 1 : p[0] == HPX_SUB_PRIMITIVES ? 10 + id_size : 9 + 2 * id_size;
    if (n < head) {
        return 0;
    }
    uint32_t count = hpx_get_be4(p + 5 + (p[0] == HPX_SUB_INSTANCE ? 2 * id_size : id_size));
    uint64_t each = p[0] == HPX_SUB_INSTANCE ? 1 : p[0] == HPX_SUB_OBJECTS ? id_size : hpx_type_size(p[9 + id_size], id_size);
    return head + count * each;
}
