/* SPDX-License-Identifier: BSD-2-Clause */
/* generated.c: see generated.h. */
#include "generated.h"
#include "compiler.h"
#include <stdbool.h>
#include <string.h>

#define NAME_KEPT   ((size_t)4200) /* as tree.c keeps */
#define LOOKED_BACK 200

/* What of a name means nothing, behind a word. */
enum number {
    DECIMAL, /* the longest run of such digits */
    HEX,
    LETTERS, /* digits and letters */
    CODE,    /* 6 to 8 of them: the random names of ByteBuddy, behind words that are common */
};

/* Where the word begins. */
enum place {
    ANYWHERE,
    PART,  /* behind a dot, slash, dollar sign, bracket, or nothing */
    INNER, /* within a part that begins behind a dollar sign with a small letter: functions of Clojure, not classes of Java */
};

/* What may stand behind the number. */
enum end {
    END,      /* that of the part of the name: a dot, slash, dollar sign, bracket, or nothing */
    END_OR_2, /* or two underlines */
    ANY,
};

/* The rule, in the order in which it is tried. */
static const struct {
    const char *word;
    enum place place;
    enum number number;
    enum end end;
} rules[] = {
    {"$$Lambda$", ANYWHERE, DECIMAL, END}, /* before JDK 21; the dollar sign goes, too */
    {"LambdaForm$DMH", PART, DECIMAL, END},
    {"LambdaForm$BMH", PART, DECIMAL, END},
    {"LambdaForm$MH", PART, DECIMAL, END},
    {"LambdaForm$LFI", PART, DECIMAL, END},
    {"GeneratedMethodAccessor", PART, DECIMAL, END},
    {"GeneratedConstructorAccessor", PART, DECIMAL, END},
    {"GeneratedSerializationConstructorAccessor", PART, DECIMAL, END},
    {"jdk.proxy", PART, DECIMAL, END}, /* packages of proxies since JDK 16 */
    {"jdk/proxy", PART, DECIMAL, END},
    {"$Proxy", ANYWHERE, DECIMAL, END},
    {"CGLIB$$FastClass$$", ANYWHERE, HEX, END},
    {"CGLIB$$", ANYWHERE, HEX, END}, /* ByCGLIB, BySpringCGLIB, SpringCGLIB */
    {"ByGuice$$", ANYWHERE, HEX, END},
    {"$ByteBuddy$", ANYWHERE, LETTERS, END},
    {"$MockitoMock$", ANYWHERE, LETTERS, END},
    {"$HibernateProxy$", ANYWHERE, LETTERS, END},
    {"$auxiliary$", ANYWHERE, CODE, END}, /* of ByteBuddy: classes, and methods */
    {"$original$", ANYWHERE, CODE, END},
    {"$accessor$", ANYWHERE, CODE, END},
    {"_$$_jvst", ANYWHERE, HEX, ANY}, /* Javassist: a count, an underline, a count */
    {"_$$_javassist_", ANYWHERE, DECIMAL, END},
    {"__C", PART, DECIMAL, ANY}, /* Hail: __C19stream_Let.__m23apply */
    {"__m", PART, DECIMAL, ANY},
    {"$eval", ANYWHERE, DECIMAL, END}, /* Clojure */
    {"__", INNER, DECIMAL, END_OR_2},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool ends_part(char c)
{
    return c == '\0' || strchr("./$(,)[; ]", c) != NULL;
}

/* left: what is in front of the word; it begins at `name`. */
static bool is_at_place(const char *name, const char *left, enum place place)
{
    if (place == ANYWHERE) {
        return true;
    }
    if (place == PART) {
        return left == name || ends_part(left[-1]);
    }
    const char *first = left;
    while (first > name && left - first < LOOKED_BACK && (is_letter(first[-1]) || is_digit(first[-1]) || first[-1] == '_')) {
        first--;
    }
    return first > name && first < left && first[-1] == '$' && *first >= 'a' && *first <= 'z';
}

static size_t number_at(const char *at, enum number number)
{
    size_t n = 0;
    while (is_digit(at[n]) || (number != DECIMAL && (number == HEX ? is_hex(at[n]) : is_letter(at[n])))) {
        n++;
    }
    return number != CODE || (n >= 6 && n <= 8) ? n : 0;
}

static bool ends(const char *at, enum end end)
{
    return end == ANY || ends_part(*at) || (end == END_OR_2 && at[0] == '_' && at[1] == '_');
}

/* How much of the text at `at` stays, *keep, and how much behind that goes; 0: it is no generated name. */
static size_t match(const char *name, const char *left, const char *at, size_t *keep)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(rules); i++) {
        size_t n = strlen(rules[i].word);
        size_t digits = strncmp(at, rules[i].word, n) == 0 ? number_at(at + n, rules[i].number) : 0;
        if (digits > 0 && ends(at + n + digits, rules[i].end) && is_at_place(name, left, rules[i].place)) {
            *keep = i == 0 ? n - 1 : n;
            return n - *keep + digits;
        }
    }
    return 0;
}

/* Whether the last part is the name of a class. Paths and libraries have slashes and offsets, too. */
static bool is_class(const char *name, const char *left)
{
    const char *first = left;
    while (first > name && !ends_part(first[-1])) {
        first--;
    }
    return first < left && ((first > name && first[-1] == '$') || (*first >= 'A' && *first <= 'Z'));
}

/* The length of the number of a hidden class: .0x0000000800c03000, /0x... or +0x..., or before JDK 9 /1234567; 0: it is another part. */
static size_t hidden(const char *name, const char *left, const char *at)
{
    bool is_hex = strncmp(at + 1, "0x", 2) == 0;
    size_t n = is_hex ? 3 : 1, digits = is_hex || *at == '/' ? number_at(at + n, is_hex ? HEX : DECIMAL) : 0;
    bool sure = is_hex && *at != '+';
    return digits > 3 && ends_part(at[n + digits]) && (sure || is_class(name, left)) ? n + digits : 0;
}

void hpx_name_generated(char *name)
{
    static const char firsts[] = "./+$_CBGLj"; /* of rules, and of hidden() */
    char *to = name, *at = name;
    while (*at != '\0') {
        size_t keep = strcspn(at, firsts), gone = 0;
        if (keep == 0) {
            gone = strchr("./+", *at) != NULL ? hidden(name, to, at) : match(name, to, at, &keep);
            keep = gone == 0 ? 1 : keep;
        }
        memmove(to, at, keep);
        to += keep;
        at += keep + gone;
    }
    *to = '\0';
}

uint32_t hpx_name_of_frame(struct hpx_tree *t, const char *text, size_t n)
{
    char name[NAME_KEPT];
    n = n < sizeof name ? n : sizeof name - 1;
    if (memchr(text, '\0', n) != NULL) {
        return hpx_tree_name(t, text, n); /* which says what is in it */
    }
    memcpy(name, text, n);
    name[n] = '\0';
    hpx_name_generated(name);
    return hpx_tree_name(t, name, strlen(name));
}
