/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_names.c: any bytes as a class's signature, any text as the name of an output: each stays within its bound. */
#include "err.h"
#include "fuzz.h"
#include "java_name.h"
#include "out_name.h"
#include <string.h>

static void signature(const char *s, size_t n)
{
    char *to = malloc(HPX_JAVA_NAME_MAX(n));
    require(to != NULL, "no memory");
    size_t len = hpx_java_name(to, s, n);
    require(len <= HPX_JAVA_NAME_MAX(n), "longer than its bound");
    require(len == 0 || memchr(to, '/', len) == NULL, "a '/' is left");
    free(to);
}

/* Into room of each size up to what it needs. */
static void output_name(const char *name, size_t room)
{
    char *to = malloc(room);
    require(to != NULL, "no memory");
    int rc = hpx_name_expand(to, room, name, (time_t)room * 1000003);
    require(rc == 0 || rc == -HPX_E_RANGE, "an undocumented result");
    require(rc != 0 || memchr(to, 0, room) != NULL, "not terminated");
    char *numbered = malloc(room);
    require(numbered != NULL, "no memory");
    rc = rc == 0 ? hpx_name_number(numbered, room, to, (uint32_t)room * 16777213u) : -HPX_E_RANGE;
    require(rc == 0 || rc == -HPX_E_RANGE, "an undocumented result of the second step");
    require(rc != 0 || memchr(numbered, 0, room) != NULL, "the numbered name is not terminated");
    require(rc != 0 || hpx_name_is_numbered(to) || strlen(numbered) <= strlen(to), "a name without a number got one");
    free(numbered);
    free(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    /* Copies of the exact size: a read behind them is seen. */
    char *text = malloc(size - 1);
    require(text != NULL, "no memory");
    memcpy(text, data + 2, size - 2);
    text[size - 2] = 0;
    if (data[0] & 1) {
        output_name(text, (size_t)data[1] + 1);
    } else {
        char *exact = malloc(size - 2 ? size - 2 : 1);
        require(exact != NULL, "no memory");
        memcpy(exact, text, size - 2);
        signature(exact, size - 2);
        free(exact);
    }
    free(text);
    return 0;
}
