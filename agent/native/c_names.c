/* SPDX-License-Identifier: BSD-2-Clause */
/* c_names.c: the names of c_names.h. */
#include "c_names.h"
#include "compiler.h"
#include "elf_symbols.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES ((size_t)16 << 10) /* of most demangled names */
/* A longer name stays as it is: a demangler's recursion is as deep as its name is long, and libstdc++'s takes up to 340 bytes of stack for
 * each. */
#define MANGLED_BYTES 1024u

typedef char *demangle_fn(const char *mangled, char *to, size_t *n, int *status); /* __cxa_demangle() */

static HPX_OF_SESSION struct {
    struct hpx_elf_symbols **of; /* by the number of the library */
    bool *read;
    void *cxx; /* the C++ library */
    bool looked;
    demangle_fn *demangle;
    char *text; /* malloc'ed: the demangler may put another one in its place */
    size_t bytes;
} names;

/* ---- one name ---- */

/* Whether the text ends a name that compilers have given to a part or a copy of a function. */
static bool is_suffix(const char *dot)
{
    static const char *const all[] = {".cold", ".part.", ".constprop.", ".isra.", ".lto_priv.", ".llvm.", ".localalias", ".avx", ".sse"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        if (strncmp(dot, all[i], strlen(all[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* Length of the symbol without its version and what compilers add. */
static size_t bare_length(const char *symbol)
{
    for (size_t i = 1; symbol[0] != 0 && symbol[i] != 0; i++) {
        if (symbol[i] == '@' || (symbol[i] == '.' && is_suffix(symbol + i))) {
            return i;
        }
    }
    return strlen(symbol);
}

/* Bytes of the punctuation behind "operator", and of the blank between it and arguments of the template. */
static size_t operator_length(const char *at)
{
    static const char *const all[] = {"()", "[]", "\"\" ", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "==", "!=", "&&",
                                      "||", "++", "--",    "->",  "+=",  "-=",  "*=",  "/=", "%=", "^=", "&=", "|=", "<",  ">",
                                      "=",  "+",  "-",     "*",   "/",   "%",   "^",   "&",  "|",  "~",  "!",  ","};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        const size_t n = strlen(all[i]);
        if (strncmp(at, all[i], n) == 0) {
            return n + (at[n] == ' ' && at[n + 1] == '<');
        }
    }
    return 0;
}

static bool is_operator(const char *begin, const char *at)
{
    return strncmp(at, "operator", 8) == 0 && (at == begin || at[-1] == ':' || at[-1] == ' ');
}

/* Behind the parentheses that open there. */
static const char *behind(const char *open)
{
    int depth = 0;
    const char *p = open;
    do {
        depth += (*p == '(') - (*p == ')');
        p++;
    } while (depth > 0 && *p != 0);
    return p;
}

/* What is local to a function has its name and parameters before its own: f(int) const::g(). NULL: behind the parameters comes no more. */
static const char *local_of(const char *p)
{
    static const char *const all[] = {" const", " volatile", " &&", " &"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        const size_t n = strlen(all[i]);
        p += strncmp(p, all[i], n) == 0 ? n : 0;
    }
    return p[0] == ':' && p[1] == ':' ? p : NULL;
}

static bool is_decltype(const char *begin, const char *open)
{
    static const char word[] = "decltype";
    const char *end = open > begin && open[-1] == ' ' ? open - 1 : open;
    return (size_t)(end - begin) >= sizeof word - 1 && strncmp(end - (sizeof word - 1), word, sizeof word - 1) == 0;
}

/* The part of a demangled name that is the function's: between what it returns and its parameters. */
static void function_of(const char *name, const char **from, const char **to)
{
    int depth = 0;         /* of arguments of templates, and braces */
    bool converts = false; /* a conversion, new, delete: the name goes on up to the last parentheses */
    *from = name;
    *to = name + strlen(name);
    for (const char *p = name; *p != 0; p++) {
        if (is_operator(name, p)) {
            p += 8;
            const size_t n = operator_length(p);
            converts = converts || (depth == 0 && n == 0 && *p == ' ');
            p += n;
            if (*p == 0) {
                return;
            }
        }
        if (*p == '(') {
            const char *close = behind(p), *local = local_of(close);
            if (depth == 0 && local != NULL) {
                converts = false;
                close = local;
            } else if (depth == 0 && p == *from && !is_decltype(name, p)) { /* a function that returns a pointer to one is inside */
                *from = p + 1;
                continue;
            } else if (depth == 0 && !is_decltype(name, p) && !(converts && strchr(close, '(') != NULL)) {
                *to = p;
                return;
            }
            p = close - 1;
        } else if (*p == '<' || *p == '{') {
            depth++;
        } else if ((*p == '>' && depth > 0 && p[-1] != '-') || *p == '}') {
            depth--;
        } else if (depth == 0 && !converts && (*p == ' ' || *p == '*' || *p == '&')) {
            *from = p + 1;
        }
    }
}

static void put(char to[HPX_C_NAME_BYTES], const char *from, const char *end)
{
    static const char anonymous[] = "(anonymous namespace)";
    size_t n = 0;
    while (from < end && n < HPX_C_NAME_BYTES - 1) {
        if ((size_t)(end - from) >= sizeof anonymous - 1 && strncmp(from, anonymous, sizeof anonymous - 1) == 0) {
            static const char in_braces[] = "{anonymous}";
            for (const char *p = in_braces; *p != 0 && n < HPX_C_NAME_BYTES - 1; p++) {
                to[n++] = *p;
            }
            from += sizeof anonymous - 1;
            continue;
        }
        const unsigned char ch = (unsigned char)*from++;
        if (ch == ' ' && n > 0 && to[n - 1] == ',') {
            continue;
        }
        const bool plain = ch > ' ' && ch < 0x7f;
        to[n++] = ch == ' ' ? '_' : '?';
        if (plain) {
            to[n - 1] = from[-1];
        }
    }
    to[n] = 0;
}

static void find_demangler(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"};
    names.looked = true;
    for (size_t i = 0; i < HPX_ARRAY_LEN(libraries) && names.demangle == NULL; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        *(void **)&names.demangle = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
        if (names.demangle != NULL) {
            names.cxx = library;
        } else if (library != NULL) {
            (void)dlclose(library);
        }
    }
}

/* Valid until the next one; NULL: it is no name of C++. */
static const char *demangled(const char *symbol)
{
    int status = -1;
    if (strncmp(symbol, "_Z", 2) != 0) {
        return NULL;
    }
    if (!names.looked) {
        find_demangler();
    }
    if (names.text == NULL) {
        names.text = malloc(TEXT_BYTES);
        names.bytes = TEXT_BYTES;
    }
    if (names.demangle == NULL || names.text == NULL) {
        return NULL;
    }
    char *text = names.demangle(symbol, names.text, &names.bytes, &status);
    names.text = text != NULL ? text : names.text;
    return text;
}

void hpx_c_names_clean(char to[HPX_C_NAME_BYTES], const char *symbol)
{
    const size_t n = bare_length(symbol);
    char bare[MANGLED_BYTES + 1];
    const char *text = NULL;
    const char *from = symbol, *end = symbol + n;
    if (n <= MANGLED_BYTES) {
        memcpy(bare, symbol, n);
        bare[n] = 0;
        text = demangled(bare);
    }
    if (text != NULL) {
        function_of(text, &from, &end);
    }
    if (from == end) {
        from = symbol;
        end = symbol + n;
    }
    put(to, from, end);
}

/* ---- a place ---- */

static const struct hpx_elf_symbols *symbols_of(const struct hpx_library *l)
{
    if (names.of == NULL) {
        names.of = calloc(HPX_LIBRARIES_MOST + 1, sizeof(struct hpx_elf_symbols *));
        names.read = calloc(HPX_LIBRARIES_MOST + 1, sizeof *names.read);
    }
    if (names.of == NULL || names.read == NULL) {
        return NULL;
    }
    if (!names.read[l->number]) {
        errno = 0;
        names.of[l->number] = hpx_elf_symbols_of(l);
        names.read[l->number] = names.of[l->number] != NULL || (errno != EMFILE && errno != ENFILE && errno != ENOMEM);
    }
    return names.of[l->number];
}

void hpx_c_names_of(struct hpx_unwind_place place, char library[HPX_C_NAME_BYTES], char function[HPX_C_NAME_BYTES])
{
    static const char unknown[] = "[unknown]";
    uint32_t offset = (uint32_t)place.address;
    const struct hpx_library *l = hpx_libraries_at(place.library);
    struct hpx_library_place now;
    if (place.library == 0 && hpx_libraries_find_sig(place.address, &now)) {
        l = now.library;
        offset = now.offset;
        if (l->table != NULL) {
            (void)hpx_unwind_table_find_sig(l->table, offset, &offset);
        }
    }
    const struct hpx_elf_symbols *s = l != NULL ? symbols_of(l) : NULL;
    const char *symbol = s != NULL ? hpx_elf_symbols_find(s, offset) : NULL;
    const char *file = l != NULL ? l->path : unknown, *slash = strrchr(file, '/');
    file = slash != NULL && slash[1] != 0 ? slash + 1 : file;
    put(library, file, file + strlen(file));
    if (symbol != NULL) {
        hpx_c_names_clean(function, symbol);
    } else if (l != NULL) {
        (void)snprintf(function, HPX_C_NAME_BYTES, "[0x%x]", offset);
    } else {
        put(function, unknown, unknown + sizeof unknown - 1);
    }
}

void hpx_c_names_end(void)
{
    for (uint32_t i = 0; names.of != NULL && i <= HPX_LIBRARIES_MOST; i++) {
        hpx_elf_symbols_free(names.of[i]);
    }
    free(names.of);
    free(names.read);
    free(names.text);
    if (names.cxx != NULL) {
        (void)dlclose(names.cxx);
    }
    memset(&names, 0, sizeof names);
}
