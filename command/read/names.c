/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c: see names.h. */
#include "names.h"
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct text {
    char *at, *end; /* end: of the room, less the 0 */
    bool full;
};

static void put(struct text *to, const char *s, size_t n)
{
    to->full = to->full || (size_t)(to->end - to->at) < n;
    if (!to->full) {
        memcpy(to->at, s, n);
        to->at += n;
    }
}

/* Packages by dots. Before a digit is the slash of a hidden class: p/C/0x1234, in signatures Lp/C.0x1234; */
static void put_name(struct text *to, const char *s, size_t n, bool signature)
{
    for (size_t i = 0; i < n; i++) {
        bool number = i + 1 < n && isdigit((unsigned char)s[i + 1]);
        put(to, s[i] == '/' && !number ? "." : s[i] == '.' && number && signature ? "/" : s + i, 1);
    }
}

/* The type at s; the end of its descriptor, NULL: it is none. */
static const char *put_type(struct text *to, const char *s)
{
    static const char *const words[] = {"Bbyte", "Cchar", "Ddouble", "Ffloat", "Iint", "Jlong", "Sshort", "Zboolean"};
    size_t dimensions = strspn(s, "[");
    const char *word = NULL;
    s += dimensions;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        word = words[i][0] == *s ? words[i] + 1 : word;
    }
    if (word != NULL) {
        put(to, word, strlen(word));
        s++;
    } else {
        size_t n = *s == 'L' ? strcspn(s + 1, ";") : 0;
        if (n == 0 || s[1 + n] != ';') {
            return NULL;
        }
        put_name(to, s + 1, n, true);
        s += n + 2;
    }
    while (dimensions-- > 0) {
        put(to, "[]", 2);
    }
    return s;
}

/* name(arguments)result: the result is left out. */
static bool put_method(struct text *to, const char *name)
{
    const char *s = strchr(name, '(');
    if (s == NULL || s == name) {
        return false;
    }
    put_name(to, name, (size_t)(s - name), false);
    put(to, "(", 1);
    for (const char *first = ++s; s != NULL && *s != ')';) {
        if (s != first) {
            put(to, ", ", 2);
        }
        s = put_type(to, s);
    }
    put(to, ")", 1);
    struct text nowhere = {.full = true};
    const char *end = s == NULL ? NULL : s[1] == 'V' ? s + 2 : put_type(&nowhere, s + 1);
    return end != NULL && *end == '\0';
}

static bool put_any(struct text *to, const char *name)
{
    size_t n = strlen(name);
    if (name[0] == '[' || (name[0] == 'L' && name[n - 1] == ';')) {
        const char *end = put_type(to, name);
        return end != NULL && *end == '\0';
    }
    if (strchr(name, '(') != NULL) {
        return put_method(to, name);
    }
    put_name(to, name, n, false);
    return true;
}

void hpx_name_spoken(char *to, size_t room, const char *name)
{
    struct text text = {.at = to, .end = to + room - 1};
    if (!put_any(&text, name) || text.full) {
        size_t n = strnlen(name, room - 1);
        memcpy(to, name, n);
        text.at = to + n;
    }
    *text.at = '\0';
}

static bool starts(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

size_t hpx_name_columns(const char *text, const char *end)
{
    size_t columns = 0;
    for (; text != end && *text != '\0'; text++) {
        columns += starts(*text);
    }
    return columns;
}

/* `columns` characters behind `text`. */
static char *forward(char *text, size_t columns)
{
    while (*text != '\0' && (columns > 0 || !starts(*text))) {
        columns -= starts(*text);
        text++;
    }
    return text;
}

/* Puts "..." in the place of what is between; to: not before from + 3, or at the end of a text with room for 3 more. */
static void cut(char *from, const char *to)
{
    memmove(from + 3, to, strlen(to) + 1);
    for (int i = 0; i < 3; i++) {
        from[i] = '.';
    }
}

void hpx_name_cut(char *text, size_t columns)
{
    char *rest = forward(text, columns);
    if (*rest != '\0') {
        cut(rest, rest + strlen(rest));
    }
}

/* Behind the last dot before `end`, or `text`. */
static char *last_part(char *text, char *end)
{
    while (end > text && end[-1] != '.') {
        end--;
    }
    return end;
}

void hpx_name_shorten(char *text, size_t columns)
{
    char *open = strchr(text, '('), *close = open != NULL ? strrchr(open, ')') : NULL;
    if (close != NULL && close - open > 4 && hpx_name_columns(text, NULL) > columns) {
        cut(open + 1, close);
    }
    size_t all = hpx_name_columns(text, NULL);
    if (all <= columns) {
        return;
    }
    char *method = last_part(text, open != NULL ? open : text + strlen(text));
    const char *class = method > text ? last_part(text, method - 1) : text;
    size_t tail = hpx_name_columns(class, NULL);
    tail = tail + 4 <= columns ? tail : hpx_name_columns(method, NULL);
    tail = tail + 4 <= columns ? tail : 0;
    size_t room = columns - 3 - tail, head = room - room / 2;
    tail += room / 2;
    cut(forward(text, head), forward(text, all - tail));
}
