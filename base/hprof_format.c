/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_format.c: see hprof_format.h. */
#include "hprof_format.h"

#define NAMED(symbol, value, name) [value] = (name),

const char *hpx_type_name(int type)
{
#define NAME(symbol, value, name, letter, bytes) [value] = (name),
    static const char *const names[] = {[HPX_TYPE_OBJECT] = "object", HPX_PRIMITIVES_OF(NAME)};
    return type >= 0 && type < (int)HPX_ARRAY_LEN(names) ? names[type] : NULL;
}

uint8_t hpx_type_of(char letter)
{
#define LETTER(symbol, value, name, letter, bytes) [value] = (letter),
    static const char letters[] = {HPX_PRIMITIVES_OF(LETTER)};
    uint8_t type = HPX_TYPE_BOOLEAN;
    while (type < sizeof(letters) && letters[type] != letter) {
        type++;
    }
    return type < sizeof(letters) ? type : HPX_TYPE_OBJECT;
}

const char *hpx_tag_name(int tag)
{
    static const char *const names[HPX_TAGS] = {HPX_TAGS_OF(NAMED) HPX_TEXT_TAGS_OF(NAMED)};
    return tag >= 0 && tag < HPX_TAGS ? names[tag] : NULL;
}

const char *hpx_sub_name(int sub)
{
    static const char *const names[] = {HPX_SUBS_OF(NAMED) HPX_ROOTS_OF(NAMED)};
    return sub >= 0 && sub < (int)HPX_ARRAY_LEN(names) ? names[sub] : NULL;
}
