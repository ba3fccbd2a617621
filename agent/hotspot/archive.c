/* SPDX-License-Identifier: BSD-2-Clause */
/* archive.c: see archive.h. */
#include "archive.h"
#include "compiler.h"
#include "vm_flags.h"
#include <stddef.h>
#include <string.h>

static bool is_set(const char *text)
{
    return text != NULL && text[0] != 0;
}

static bool is(const char *text, const char *word)
{
    return text != NULL && strcmp(text, word) == 0;
}

enum hpx_archive hpx_archive(const char **option)
{
    const char *mode = hpx_vm_flag_text("AOTMode");
    const struct {
        const char *option;
        enum hpx_archive is;
        bool given;
    } all[] = {{"-XX:AOTMode=create", HPX_ARCHIVE_WRITTEN, is(mode, "create")},
               {"-Xshare:dump", HPX_ARCHIVE_WRITTEN, hpx_vm_flag("DumpSharedSpaces", false)},
               {"-XX:AOTCacheOutput", HPX_ARCHIVE_RECORDED, is_set(hpx_vm_flag_text("AOTCacheOutput"))}, /* the mode becomes "record" */
               {"-XX:AOTMode=record", HPX_ARCHIVE_RECORDED, is(mode, "record")},
               {"-XX:+AutoCreateSharedArchive", HPX_ARCHIVE_RECORDED,
                hpx_vm_flag("AutoCreateSharedArchive", false) && is_set(hpx_vm_flag_text("ArchiveClassesAtExit"))},
               {"-XX:ArchiveClassesAtExit", HPX_ARCHIVE_RECORDED, is_set(hpx_vm_flag_text("ArchiveClassesAtExit"))},
               {"-XX:+RecordDynamicDumpInfo", HPX_ARCHIVE_RECORDED, hpx_vm_flag("RecordDynamicDumpInfo", false)}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        if (all[i].given) {
            *option = all[i].option;
            return all[i].is;
        }
    }
    return HPX_ARCHIVE_NONE;
}
