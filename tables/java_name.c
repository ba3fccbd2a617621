/* SPDX-License-Identifier: BSD-2-Clause */
/* java_name.c: JVM signatures to Java names. */
#include "java_name.h"
#include <string.h>

static const char *primitive(char c)
{
    switch (c) {
    case 'B':
        return "byte";
    case 'C':
        return "char";
    case 'D':
        return "double";
    case 'F':
        return "float";
    case 'I':
        return "int";
    case 'J':
        return "long";
    case 'S':
        return "short";
    case 'Z':
        return "boolean";
    case 'V':
        return "void";
    default:
        return NULL;
    }
}

size_t hpx_java_name(char *to, const char *signature, size_t n)
{
    size_t dims = 0, len = 0;
    while (dims < n && signature[dims] == '[') {
        dims++;
    }
    const char *element = signature + dims;
    size_t rest = n - dims;
    const char *word = rest == 1 ? primitive(*element) : NULL;
    if (word) {
        len = strlen(word);
        memcpy(to, word, len);
    } else {
        if (rest >= 2 && element[0] == 'L' && element[rest - 1] == ';') {
            element++;
            rest -= 2;
        }
        for (; len < rest; len++) {
            to[len] = (char)(element[len] == '/' ? '.' : element[len]);
        }
    }
    for (; dims > 0; dims--) {
        to[len++] = '[';
        to[len++] = ']';
    }
    return len;
}
