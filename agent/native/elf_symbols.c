/* SPDX-License-Identifier: BSD-2-Clause */
/* elf_symbols.c: reads the tables of elf_symbols.h. */
#include "elf_symbols.h"
#include "compiler.h"
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TABLE_BYTES ((uint64_t)1 << 30) /* maximum size of a section that is read */
#define NOTE_BYTES  4096u
#define UNPACKED    ((size_t)256 << 20)
#define NAME        4096u               /* maximum length of a name: further bytes are left out */
#define NAMES       ((size_t)256 << 20) /* of a library's names */
#define SYMBOLS     (16u << 20)
#define UNSIZED     4096u /* maximum length of a function whose symbol does not tell it */

struct symbol {
    uint32_t value, size, name; /* name: in `names` */
    uint32_t rank;              /* of several at one address the least is taken */
};

struct hpx_elf_symbols {
    struct symbol *all;
    char *names;
    uint32_t n, room;
    size_t names_bytes, names_room;
};

/* ---- sources ---- */

static bool read_file(const struct hpx_elf_source *from, uint64_t at, void *to, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = at <= INT64_MAX - n ? pread(from->fd, (char *)to + done, n - done, (off_t)(at + done)) : -1;
        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

static bool read_bytes(const struct hpx_elf_source *from, uint64_t at, void *to, size_t n)
{
    bool there = at <= from->size && n <= from->size - at;
    if (there) {
        memcpy(to, (const char *)from->bytes + at, n);
    }
    return there;
}

struct hpx_elf_source hpx_elf_source_file(int fd)
{
    struct stat st;
    return (struct hpx_elf_source){read_file, fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0, NULL, fd};
}

struct hpx_elf_source hpx_elf_source_bytes(const void *bytes, size_t size)
{
    return (struct hpx_elf_source){read_bytes, size, bytes, -1};
}

/* Bytes of the source, malloc'ed, with a zero behind them; NULL: it has not so many, or no memory. */
static char *take(const struct hpx_elf_source *from, uint64_t at, uint64_t n)
{
    char *p = n <= TABLE_BYTES && at <= from->size && n <= from->size - at ? malloc((size_t)n + 1) : NULL;
    if (p != NULL && !from->read(from, at, p, (size_t)n)) {
        free(p);
        return NULL;
    }
    if (p != NULL) {
        p[n] = 0;
    }
    return p;
}

/* ---- symbols ---- */

struct hpx_elf_symbols *hpx_elf_symbols_new(void)
{
    return calloc(1, sizeof(struct hpx_elf_symbols));
}

void hpx_elf_symbols_free(struct hpx_elf_symbols *s)
{
    if (s != NULL) {
        free(s->all);
        free(s->names);
        free(s);
    }
}

/* Global names before local ones, shorter rows of underscores before longer ones: memcpy, not __memcpy_sse2. */
static uint32_t rank_of(const Elf64_Sym *y, const char *name)
{
    unsigned bind = ELF64_ST_BIND(y->st_info);
    uint32_t underscores = 0;
    while (name[underscores] == '_' && underscores < 15) {
        underscores++;
    }
    return (bind == STB_GLOBAL ? 0u : bind == STB_WEAK ? 1u : 2u) << 4 | underscores;
}

/* false: no memory. */
static bool add(struct hpx_elf_symbols *s, const Elf64_Sym *y, const char *name)
{
    const size_t n = strnlen(name, NAME) + 1;
    if (s->n == s->room) {
        uint32_t room = s->room != 0 ? 2 * s->room : 256;
        void *p = room <= SYMBOLS ? realloc(s->all, room * sizeof *s->all) : NULL;
        if (p == NULL) {
            return false;
        }
        s->all = p;
        s->room = room;
    }
    if (s->names == NULL || n > s->names_room - s->names_bytes) {
        size_t room = 2 * (s->names_room + n);
        void *p = room <= NAMES ? realloc(s->names, room) : NULL;
        if (p == NULL) {
            return false;
        }
        s->names = p;
        s->names_room = room;
    }
    memcpy(s->names + s->names_bytes, name, n - 1);
    s->names[s->names_bytes + n - 1] = 0;
    s->all[s->n++] = (struct symbol){.value = (uint32_t)y->st_value,
                                     .size = y->st_size < UINT32_MAX ? (uint32_t)y->st_size : UINT32_MAX,
                                     .name = (uint32_t)s->names_bytes,
                                     .rank = rank_of(y, name)};
    s->names_bytes += n;
    return true;
}

static bool is_function(const Elf64_Sym *y)
{
    unsigned type = ELF64_ST_TYPE(y->st_info);
    return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) && y->st_shndx != SHN_UNDEF && y->st_shndx < SHN_LORESERVE &&
           y->st_value != 0 && y->st_value < UINT32_MAX && y->st_name != 0;
}

static void add_table(struct hpx_elf_symbols *s, const struct hpx_elf_source *from, const Elf64_Shdr *table, const Elf64_Shdr *texts)
{
    char *symbols = take(from, table->sh_offset, table->sh_size), *text = take(from, texts->sh_offset, texts->sh_size);
    for (uint64_t i = 0; symbols != NULL && text != NULL && i < table->sh_size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym y;
        memcpy(&y, symbols + i * sizeof y, sizeof y);
        if (is_function(&y) && y.st_name < texts->sh_size && text[y.st_name] != 0 && text[y.st_name] != '$' /* Arm: code, data */ &&
            !add(s, &y, text + y.st_name)) {
            break;
        }
    }
    free(symbols);
    free(text);
}

/* ---- a file ---- */

struct sections {
    Elf64_Shdr *all;
    uint32_t n;
    char *names;
    uint64_t names_bytes;
};

static bool open_sections(const struct hpx_elf_source *from, struct sections *to)
{
    Elf64_Ehdr h;
    *to = (struct sections){0};
    if (!from->read(from, 0, &h, sizeof h) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 ||
        h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_shentsize != sizeof(Elf64_Shdr) || h.e_shstrndx >= h.e_shnum) {
        return false;
    }
    to->all = (Elf64_Shdr *)(void *)take(from, h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr));
    to->n = to->all != NULL ? h.e_shnum : 0;
    if (to->all != NULL) {
        to->names_bytes = to->all[h.e_shstrndx].sh_size;
        to->names = take(from, to->all[h.e_shstrndx].sh_offset, to->names_bytes);
    }
    return to->all != NULL;
}

static void close_sections(struct sections *s)
{
    free(s->all);
    free(s->names);
}

static bool is_named(const struct sections *s, const Elf64_Shdr *h, const char *name)
{
    return s->names != NULL && h->sh_name < s->names_bytes && strcmp(s->names + h->sh_name, name) == 0;
}

static bool has_build_id(const struct hpx_elf_source *from, const struct sections *s, const uint8_t *id, uint32_t n)
{
    Elf64_Nhdr note;
    bool has = n == 0;
    for (uint32_t i = 0; i < s->n && !has; i++) {
        const Elf64_Shdr *h = &s->all[i];
        char *bytes = h->sh_type == SHT_NOTE && h->sh_size >= sizeof note + 4 + n && h->sh_size <= NOTE_BYTES
                          ? take(from, h->sh_offset, h->sh_size)
                          : NULL;
        if (bytes != NULL) {
            memcpy(&note, bytes, sizeof note);
            has = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz == n &&
                  memcmp(bytes + sizeof note, "GNU", 4) == 0 && memcmp(bytes + sizeof note + 4, id, n) == 0;
        }
        free(bytes);
    }
    return has;
}

/* The bytes that .gnu_debugdata has, malloc'ed; NULL: none, or there is no liblzma. */
static char *unpack(const char *packed, size_t n, size_t *size)
{
    typedef int decode_fn(uint64_t * limit, uint32_t flags, const void *allocator, const uint8_t *in, size_t *in_at, size_t in_size,
                          uint8_t *out, size_t *out_at, size_t out_size); /* lzma_stream_buffer_decode() */
    enum { LZMA_OK = 0, LZMA_BUF_ERROR = 10 };
    void *library = dlopen("liblzma.so.5", RTLD_LAZY | RTLD_LOCAL);
    decode_fn *decode = NULL;
    char *out = NULL;
    int error = LZMA_BUF_ERROR;
    if (library != NULL) {
        *(void **)&decode = dlsym(library, "lzma_stream_buffer_decode");
    }
    for (size_t room = n < UNPACKED / 16 ? 16 * n : UNPACKED; decode != NULL && error == LZMA_BUF_ERROR && room <= UNPACKED; room *= 2) {
        uint64_t limit = UNPACKED;
        size_t from = 0;
        *size = 0;
        free(out);
        out = malloc(room);
        error = out != NULL ? decode(&limit, 0, NULL, (const uint8_t *)packed, &from, n, (uint8_t *)out, size, room) : -1;
    }
    if (library != NULL) {
        (void)dlclose(library);
    }
    if (error != LZMA_OK) {
        free(out);
        out = NULL;
    }
    return out;
}

static void add_packed(struct hpx_elf_symbols *s, const struct hpx_elf_source *from, const Elf64_Shdr *h)
{
    size_t size = 0;
    char *packed = take(from, h->sh_offset, h->sh_size), *bytes = packed != NULL ? unpack(packed, h->sh_size, &size) : NULL;
    struct sections inner;
    if (bytes != NULL) {
        const struct hpx_elf_source source = hpx_elf_source_bytes(bytes, size);
        bool open = open_sections(&source, &inner);
        for (uint32_t i = 0; open && i < inner.n; i++) {
            if (inner.all[i].sh_type == SHT_SYMTAB && inner.all[i].sh_link < inner.n) {
                add_table(s, &source, &inner.all[i], &inner.all[inner.all[i].sh_link]);
                break; /* there are no more */
            }
        }
        close_sections(&inner);
    }
    free(packed);
    free(bytes);
}

unsigned hpx_elf_symbols_add(struct hpx_elf_symbols *s, const struct hpx_elf_source *from, const uint8_t *build_id, uint32_t id_bytes)
{
    struct sections sections;
    const Elf64_Shdr *packed = NULL;
    unsigned has = 0;
    if (open_sections(from, &sections) && has_build_id(from, &sections, build_id, id_bytes)) {
        for (uint32_t i = 0; i < sections.n; i++) {
            const Elf64_Shdr *h = &sections.all[i];
            packed = is_named(&sections, h, ".gnu_debugdata") ? h : packed;
            const unsigned what = h->sh_type == SHT_SYMTAB ? HPX_ELF_SYMTAB : h->sh_type == SHT_DYNSYM ? HPX_ELF_DYNSYM : 0;
            if ((what & ~has) != 0 && h->sh_link < sections.n) { /* the first of a kind: there are no more */
                has |= what;
                add_table(s, from, h, &sections.all[h->sh_link]);
            }
        }
        if (packed != NULL && (has & HPX_ELF_SYMTAB) == 0) {
            has |= HPX_ELF_DEBUGDATA;
            add_packed(s, from, packed);
        }
    }
    close_sections(&sections);
    return has;
}

static int by_value(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    if (x->value != y->value) {
        return x->value < y->value ? -1 : 1;
    }
    return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : x->name < y->name ? -1 : x->name > y->name;
}

void hpx_elf_symbols_sort(struct hpx_elf_symbols *s)
{
    uint32_t n = 0;
    if (s->n > 0) {
        qsort(s->all, s->n, sizeof *s->all, by_value);
    }
    for (uint32_t i = 0; i < s->n; i++) {
        if (n > 0 && s->all[n - 1].value == s->all[i].value) {
            s->all[n - 1].size = s->all[n - 1].size != 0 ? s->all[n - 1].size : s->all[i].size;
        } else {
            s->all[n++] = s->all[i];
        }
    }
    s->n = n;
}

const char *hpx_elf_symbols_find(const struct hpx_elf_symbols *s, uint32_t offset)
{
    uint32_t low = 0, high = s->n;
    while (low < high) { /* those below `low` begin at or below offset */
        uint32_t middle = low + (high - low) / 2;
        if (s->all[middle].value <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return NULL;
    }
    const struct symbol *y = &s->all[low - 1];
    return offset - y->value < (y->size != 0 ? y->size : UNSIZED) ? s->names + y->name : NULL;
}

/* ---- a library ---- */

static unsigned add_file(struct hpx_elf_symbols *s, const char *path, const struct hpx_library *l)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    unsigned has = 0;
    if (fd >= 0) {
        const struct hpx_elf_source from = hpx_elf_source_file(fd);
        has = hpx_elf_symbols_add(s, &from, l->build_id, l->build_id_bytes);
        (void)close(fd);
    }
    return has;
}

static unsigned add_debug_file(struct hpx_elf_symbols *s, const struct hpx_library *l)
{
    char path[128];
    int n = snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%02x/", l->build_id[0]);
    for (uint32_t i = 1; i < l->build_id_bytes; i++) {
        n += snprintf(path + n, sizeof path - (size_t)n, "%02x", l->build_id[i]);
    }
    (void)snprintf(path + n, sizeof path - (size_t)n, ".debug");
    return l->build_id_bytes > 1 ? add_file(s, path, l) : 0;
}

static unsigned add_memory(struct hpx_elf_symbols *s, const struct hpx_library *l)
{
    char *bytes = malloc(l->memory_bytes);
    const size_t n = bytes != NULL ? hpx_libraries_read(bytes, l->memory, l->memory_bytes) : 0;
    const struct hpx_elf_source from = hpx_elf_source_bytes(bytes, n);
    unsigned has = hpx_elf_symbols_add(s, &from, l->build_id, 0);
    free(bytes);
    return has;
}

struct hpx_elf_symbols *hpx_elf_symbols_of(const struct hpx_library *l)
{
    struct hpx_elf_symbols *s = hpx_elf_symbols_new();
    unsigned has = s == NULL ? 0 : l->memory != 0 ? add_memory(s, l) : add_file(s, l->path, l);
    if (s != NULL && (has & HPX_ELF_SYMTAB) == 0) {
        has |= add_debug_file(s, l);
    }
    if (has == 0) {
        hpx_elf_symbols_free(s);
        return NULL;
    }
    hpx_elf_symbols_sort(s);
    return s;
}
