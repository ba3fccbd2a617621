/* SPDX-License-Identifier: BSD-2-Clause */
/* generated.c: see generated.h. */
#include "generated.h"
#include "compiler.h"
#include <string.h>

static const char hex[] = "0123456789abcdefABCDEF";

/* Words behind which a number follows that means nothing. */
static const struct {
    const char *word;
    bool dollar; /* before the number */
    bool hex;
} numbered[] = {{"$$Lambda", true, false},
                {"GeneratedMethodAccessor", false, false},
                {"GeneratedConstructorAccessor", false, false},
                {"GeneratedSerializationConstructorAccessor", false, false},
                {"$Proxy", false, false},
                {"ByCGLIB$$", false, true},
                {"BySpringCGLIB$$", false, true},
                {"$$SpringCGLIB$$", false, true}};

/* The length of what goes behind the word; 0: it is another word. */
static size_t number_behind(const char *at, size_t i)
{
    size_t dollar = numbered[i].dollar && *at == '$';
    size_t n = strspn(at + dollar, numbered[i].hex ? hex : "0123456789");
    bool ends = at[dollar + n] == '\0' || strchr("./$(,)[", at[dollar + n]) != NULL;
    return n > 0 && ends ? dollar + n : 0;
}

static void cut(char *at, size_t n)
{
    memmove(at, at + n, strlen(at + n) + 1);
}

/* The length of the number of a hidden class: .0x0000000800c03000 or, before JDK 9, /1234567; 0: it is another part of the name. */
static size_t hidden(const char *at)
{
    bool is_hex = strncmp(at + 1, "0x", 2) == 0;
    size_t digits = is_hex ? strspn(at + 3, hex) : *at == '/' ? strspn(at + 1, "0123456789") : 0;
    const char *end = at + (is_hex ? 3 : 1) + digits;
    return digits > 3 && (*end == '\0' || strchr("./[(,)", *end) != NULL) ? (size_t)(end - at) : 0;
}

void hpx_name_generated(char *name)
{
    for (char *at = name; (at = strpbrk(at, "./")) != NULL;) {
        size_t n = hidden(at);
        if (n > 0) {
            cut(at, n);
        } else {
            at++;
        }
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(numbered); i++) {
        char *at = strstr(name, numbered[i].word);
        if (at != NULL) {
            at += strlen(numbered[i].word);
            cut(at, number_behind(at, i));
        }
    }
}
