/* SPDX-License-Identifier: BSD-2-Clause */
/* foreign.c: see foreign.h. */
#include "foreign.h"
#include "compiler.h"
#include <stdbool.h>
#include <string.h>

#define STARTS(text) (text), sizeof(text) - 1

static const struct {
    const char *bytes;
    size_t n;
    const char *what;
} kinds[] = {
    {STARTS("FLR\0"), "a JFR recording; `hprofx view` reads it"},
    {STARTS("<svg"), "a picture; its profile is needed"},
    {STARTS("<?xml"), "XML, perhaps a picture; its profile is needed"},
    {STARTS("<!"), "a page; its profile is needed"},
    {STARTS("<html"), "a page; its profile is needed"},
    {STARTS("{"), "JSON, such as that of speedscope, the Firefox Profiler or Chrome; its profile is needed"},
    {STARTS("["), "JSON, such as that of Chrome; its profile is needed"},
    {STARTS("PERFILE2"), "a file of perf; `perf script` with stackcollapse-perf.pl makes collapsed stacks of it"},
    {STARTS("PK\3\4"), "a zip or jar file; unpack it"},
    {STARTS("\x28\xb5\x2f\xfd"), "compressed by zstd; unpack it"},
    {STARTS("\xfd"
            "7zXZ"),
     "compressed by xz; unpack it"},
    {STARTS("BZh"), "compressed by bzip2; unpack it"},
    {STARTS("\x04\x22\x4d\x18"), "compressed by lz4; unpack it"},
    {STARTS("\x7f"
            "ELF"),
     "a program or a core dump; `jhsdb` reads the latter"},
    {STARTS("\xca\xfe\xba\xbe"), "a class file"},
};

static bool is_log(const char *s, size_t n)
{
    return n > 6 && s[0] == '[' && s[1] >= '0' && s[1] <= '9' && memchr(s, ']', n) != NULL;
}

/* A protobuf message whose field 1 is a message that begins with a message. That of pprof, a type, begins with a number. */
static bool is_otlp(const char *s, size_t n)
{
    size_t at = 1;
    while (at < n && at < 6 && ((unsigned char)s[at] & 0x80) != 0) {
        at++;
    }
    unsigned char inner = 0;
    if (at + 1 < n) {
        inner = (unsigned char)s[at + 1];
    }
    return n > 2 && s[0] == 0x0a && (inner == 0x0a || inner == 0x12 || inner == 0x1a);
}

const char *hpx_foreign(const char *bytes, size_t n)
{
    size_t blank = 0;
    if (is_otlp(bytes, n)) {
        return "OpenTelemetry profiles (.otlp); a Collector reads them";
    }
    while (blank < n && (bytes[blank] == ' ' || bytes[blank] == '\n' || bytes[blank] == '\r' || bytes[blank] == '\t')) {
        blank++;
    }
    if (is_log(bytes + blank, n - blank)) {
        return "a log of the JVM";
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(kinds); i++) {
        if (n - blank >= kinds[i].n && memcmp(bytes + blank, kinds[i].bytes, kinds[i].n) == 0) {
            return kinds[i].what;
        }
    }
    return NULL;
}
