/* SPDX-License-Identifier: BSD-2-Clause */
/* test_elf_symbols.c: tables of symbols that the test writes, and of files that are wrong. */
#include "cmocka_all.h"
#include "compiler.h"
#include "elf_symbols.h"
#include <elf.h>
#include <string.h>

/* A file of a header, texts, symbols, a build id and their sections. */
static struct {
    Elf64_Ehdr header;
    char texts[64];
    Elf64_Sym symbols[8];
    struct {
        Elf64_Nhdr head;
        char name[4];
        uint8_t id[4];
    } note;
    Elf64_Shdr sections[5];
} file;

enum { NONE, TEXTS, SYMBOLS, NOTE, NAMES };

static uint32_t text(const char *name)
{
    static size_t end = 1;
    if (name == NULL) {
        end = 1;
        return 0;
    }
    uint32_t at = (uint32_t)end;
    assert_true(end + strlen(name) + 1 <= sizeof file.texts);
    strcpy(file.texts + end, name);
    end += strlen(name) + 1;
    return at;
}

static void symbol(unsigned i, const char *name, unsigned type, unsigned bind, uint64_t value, uint64_t size)
{
    file.symbols[i] =
        (Elf64_Sym){.st_name = text(name), .st_info = ELF64_ST_INFO(bind, type), .st_shndx = 1, .st_value = value, .st_size = size};
}

static int write_file(void **state)
{
    (void)state;
    memset(&file, 0, sizeof file);
    (void)text(NULL);
    memcpy(file.header.e_ident, ELFMAG, SELFMAG);
    file.header.e_ident[EI_CLASS] = ELFCLASS64;
    file.header.e_ident[EI_DATA] = ELFDATA2LSB;
    file.header.e_shoff = (size_t)((char *)file.sections - (char *)&file);
    file.header.e_shentsize = sizeof(Elf64_Shdr);
    file.header.e_shnum = HPX_ARRAY_LEN(file.sections);
    file.header.e_shstrndx = NAMES;
    file.sections[TEXTS] =
        (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = (size_t)(file.texts - (char *)&file), .sh_size = sizeof file.texts};
    file.sections[NAMES] = file.sections[TEXTS];
    file.sections[SYMBOLS] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                          .sh_offset = (size_t)((char *)file.symbols - (char *)&file),
                                          .sh_size = sizeof file.symbols,
                                          .sh_link = TEXTS};
    file.sections[NOTE] =
        (Elf64_Shdr){.sh_type = SHT_NOTE, .sh_offset = (size_t)((char *)&file.note - (char *)&file), .sh_size = sizeof file.note};
    file.note.head = (Elf64_Nhdr){4, 4, NT_GNU_BUILD_ID};
    memcpy(file.note.name, "GNU", 4);
    memcpy(file.note.id, "\x01\x02\x03\x04", 4);
    symbol(1, "one", STT_FUNC, STB_LOCAL, 0x1000, 0x20);
    symbol(2, "two", STT_FUNC, STB_GLOBAL, 0x2000, 0x100);
    symbol(3, "__two", STT_FUNC, STB_GLOBAL, 0x2000, 0x100);
    symbol(4, "data", STT_OBJECT, STB_GLOBAL, 0x1010, 8);
    symbol(5, "unsized", STT_NOTYPE, STB_LOCAL, 0x3000, 0);
    symbol(6, "elsewhere", STT_FUNC, STB_GLOBAL, 0x4000, 8);
    file.symbols[6].st_shndx = SHN_UNDEF;
    return 0;
}

static struct hpx_elf_symbols *load(unsigned has, const char *id, uint32_t n)
{
    const struct hpx_elf_source from = hpx_elf_source_bytes(&file, sizeof file);
    struct hpx_elf_symbols *s = hpx_elf_symbols_new();
    assert_non_null(s);
    assert_int_equal(hpx_elf_symbols_add(s, &from, (const uint8_t *)id, n), has);
    hpx_elf_symbols_sort(s);
    return s;
}

static void check(const struct hpx_elf_symbols *s, uint32_t offset, const char *wanted)
{
    const char *name = hpx_elf_symbols_find(s, offset);
    if (wanted == NULL) {
        assert_null(name);
    } else {
        assert_non_null(name);
        assert_string_equal(name, wanted);
    }
}

TEST(an_address_has_the_function_that_it_is_in, write_file)
{
    (void)state;
    struct hpx_elf_symbols *s = load(HPX_ELF_SYMTAB, "", 0);
    check(s, 0xfff, NULL);
    check(s, 0x1000, "one");
    check(s, 0x101f, "one");
    check(s, 0x1020, NULL);
    check(s, 0x2000, "two");
    check(s, 0x20ff, "two");
    check(s, 0x2100, NULL);
    check(s, 0x3500, "unsized");
    check(s, 0x4001, NULL);
    hpx_elf_symbols_free(s);
}

TEST(the_file_of_another_build_has_no_names, write_file)
{
    (void)state;
    struct hpx_elf_symbols *s = load(HPX_ELF_SYMTAB, "\x01\x02\x03\x04", 4);
    check(s, 0x1000, "one");
    hpx_elf_symbols_free(s);
    s = load(0, "\x01\x02\x03\x05", 4);
    check(s, 0x1000, NULL);
    hpx_elf_symbols_free(s);
}

/* A file may name a text of any length. */
TEST(a_long_name_is_cut, write_file)
{
    (void)state;
    static struct {
        Elf64_Ehdr header;
        Elf64_Shdr sections[66];
        Elf64_Sym symbols[2];
        char text[1 << 20];
    } large;
    memset(large.text, 'x', sizeof large.text);
    large.text[0] = large.text[sizeof large.text - 1] = 0;
    large.header = file.header;
    large.header.e_shoff = (size_t)((char *)large.sections - (char *)&large);
    large.header.e_shnum = HPX_ARRAY_LEN(large.sections);
    large.header.e_shstrndx = 1;
    large.sections[1] =
        (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = (size_t)(large.text - (char *)&large), .sh_size = sizeof large.text};
    large.symbols[1] =
        (Elf64_Sym){.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1, .st_value = 0x10, .st_size = 4};
    for (unsigned i = 2; i < HPX_ARRAY_LEN(large.sections); i++) {
        large.sections[i] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                         .sh_offset = (size_t)((char *)large.symbols - (char *)&large),
                                         .sh_size = sizeof large.symbols,
                                         .sh_link = 1};
    }
    const struct hpx_elf_source from = hpx_elf_source_bytes(&large, sizeof large);
    struct hpx_elf_symbols *s = hpx_elf_symbols_new();
    assert_int_equal(hpx_elf_symbols_add(s, &from, NULL, 0), HPX_ELF_SYMTAB);
    hpx_elf_symbols_sort(s);
    const char *name = hpx_elf_symbols_find(s, 0x10);
    assert_non_null(name);
    assert_int_equal(strlen(name), 4096);
    hpx_elf_symbols_free(s);
}

static void try_file(size_t n)
{
    void *copy = malloc(n + 1); /* so that a sanitizer sees a read behind it */
    memcpy(copy, &file, n);
    const struct hpx_elf_source from = hpx_elf_source_bytes(copy, n);
    struct hpx_elf_symbols *s = hpx_elf_symbols_new();
    (void)hpx_elf_symbols_add(s, &from, NULL, 0);
    hpx_elf_symbols_sort(s);
    for (uint32_t offset = 0; offset < 0x5000; offset += 16) {
        (void)hpx_elf_symbols_find(s, offset);
    }
    hpx_elf_symbols_free(s);
    free(copy);
}

TEST(a_file_may_end_anywhere, write_file)
{
    (void)state;
    for (size_t n = 0; n <= sizeof file; n++) {
        try_file(n);
    }
}

TEST(any_byte_of_a_file_may_be_wrong, write_file)
{
    (void)state;
    uint8_t *bytes = (uint8_t *)&file;
    for (size_t i = 0; i < sizeof file; i++) {
        const uint8_t was = bytes[i];
        for (unsigned v = 0; v < 256; v += 17) {
            bytes[i] = (uint8_t)v;
            try_file(sizeof file);
        }
        bytes[i] = was;
    }
}

TESTS(NULL, NULL)
