/* SPDX-License-Identifier: BSD-2-Clause */
/* target_words.c: the words of a target's command line, with those of the files that it names (java @FILE). Contract: target.h. */
#include "plain.h"
#include "target.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_MOST  (1 << 16) /* bytes of a file of words that are read */
#define FILES_MOST 16        /* of one command line */

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

const char *hpx_target_word(const struct hpx_target *t, const char *word)
{
    const char *next = word == NULL ? t->command : word + strlen(word) + 1;
    return next < t->command + t->command_len ? next : NULL;
}

/* Options of java whose value is the next word. */
static bool takes_word(const char *option)
{
    static const char *const known[] = {"-cp",
                                        "-classpath",
                                        "--class-path",
                                        "-p",
                                        "--module-path",
                                        "--add-modules",
                                        "--add-exports",
                                        "--upgrade-module-path",
                                        "--add-opens",
                                        "--add-reads",
                                        "--limit-modules",
                                        "--patch-module",
                                        "-d",
                                        "--enable-native-access",
                                        "--source"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(known); i++) {
        if (strcmp(option, known[i]) == 0) {
            return true;
        }
    }
    return false;
}

const char *hpx_target_main_word(const struct hpx_target *t)
{
    const char *word = hpx_target_word(t, NULL); /* java itself */
    word = word != NULL ? hpx_target_word(t, word) : NULL;
    while (word != NULL && (word[0] == '-' || word[0] == '@')) {
        word = takes_word(word) ? hpx_target_word(t, word) : word;
        word = word != NULL ? hpx_target_word(t, word) : NULL;
    }
    return word;
}

void hpx_target_name(const struct hpx_target *t, char *to, size_t size)
{
    const char *word = hpx_target_main_word(t);
    bool source = word != NULL && ends_with(word, ".java"); /* which java compiles first */
    const char *base = source || (word != NULL && ends_with(word, ".jar")) ? strrchr(word, '/') : NULL;
    base = base != NULL ? base + 1 : word;
    (void)snprintf(to, size, "%.*s", base == NULL ? 1 : (int)(strlen(base) - (source ? sizeof ".java" - 1 : 0)), base == NULL ? "?" : base);
    (void)hpx_plain(to);
}

bool hpx_target_has_word(const struct hpx_target *t, const char *wanted)
{
    const char *word = hpx_target_word(t, NULL);
    while (word != NULL && strcmp(word, wanted) != 0) {
        word = hpx_target_word(t, word);
    }
    return word != NULL;
}

/* ---- files of words ---- */

/* How java takes such a file apart: what is in quotes is one word, a backslash there means the next byte, or goes on in the next line; #
 * begins a comment. */
struct words {
    const char *at, *end;
    char *to, *to_end;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static void skip_blanks(struct words *w)
{
    while (w->at < w->end && (is_blank(*w->at) || *w->at == '#')) {
        bool comment = *w->at == '#';
        while (comment && w->at < w->end && *w->at != '\n' && *w->at != '\r') {
            w->at++;
        }
        w->at += w->at < w->end;
    }
}

/* Behind a backslash in quotes. */
static void put_escaped(struct words *w)
{
    static const char names[] = "ntrf", are[] = "\n\t\r\f";
    char c = *w->at++;
    if (c == '\n' || c == '\r') {
        while (w->at < w->end && is_blank(*w->at)) {
            w->at++;
        }
        return;
    }
    const char *named = c != 0 ? strchr(names, c) : NULL;
    if (named != NULL) {
        c = are[named - names];
    }
    *w->to++ = c;
}

/* Writes the next word, with its 0; false: there is none, or no room. */
static bool next_word(struct words *w)
{
    char quote = 0;
    skip_blanks(w);
    if (w->at == w->end) {
        return false;
    }
    while (w->at < w->end && (quote != 0 || (!is_blank(*w->at) && *w->at != '#'))) {
        if (w->to + 1 >= w->to_end) {
            return false;
        }
        char c = *w->at++;
        if (c == quote) {
            quote = 0;
        } else if (quote == 0 && (c == '"' || c == '\'')) {
            quote = c;
        } else if (quote != 0 && c == '\\' && w->at < w->end) {
            put_escaped(w);
        } else {
            *w->to++ = c;
        }
    }
    *w->to++ = 0;
    return true;
}

/* The bytes of the file that a word of the form @FILE names; a relative name is looked for in its working directory. 0: none. */
static size_t read_file(const struct hpx_target *t, const char *name, char *to, size_t size)
{
    char link[64], whole[2 * PATH_MAX];
    (void)snprintf(link, sizeof link, "/proc/%d/cwd", (int)t->pid);
    ssize_t folder = name[0] == '/' ? 0 : readlink(link, whole, PATH_MAX);
    if (folder < 0 || snprintf(whole + folder, sizeof whole - (size_t)folder, "%s%s", name[0] == '/' ? "" : "/", name) < 0) {
        return 0;
    }
    if (folder > 0) {
        hpx_target_rename_file(t, whole);
    }
    int fd = hpx_target_open_file(t, whole);
    ssize_t n = fd >= 0 ? read(fd, to, size) : 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return n > 0 ? (size_t)n : 0;
}

/* Puts the words of the file into the place of the word that names it. Their bytes; 0: there is no room. */
static size_t replace(struct hpx_target *t, size_t at, struct words w, char *start)
{
    size_t old = strlen(t->command + at) + 1;
    while (next_word(&w)) {
    }
    size_t n = (size_t)(w.to - start);
    if (n == 0 || old > t->command_len - at || t->command_len - old + n >= sizeof t->command) {
        return 0;
    }
    memmove(t->command + at + n, t->command + at + old, t->command_len - at - old);
    memcpy(t->command + at, start, n);
    t->command_len += n - old;
    t->command[t->command_len] = 0;
    return n;
}

/* Up to the word that names the program: words behind it are the program's own. Such a file names no other. As hpx_target_main_word(), in
 * one pass: whoever runs a process says how many words it has. */
static void take_files(struct hpx_target *t)
{
    static char text[FILE_MOST], words[FILE_MOST];
    const char *word = hpx_target_word(t, NULL); /* java itself */
    size_t of_file = 0;                          /* words before this offset are a file's */
    word = word != NULL ? hpx_target_word(t, word) : NULL;
    for (unsigned files = 0; word != NULL && (word[0] == '-' || word[0] == '@');) {
        size_t at = (size_t)(word - t->command), n = 0;
        if (word[0] == '@' && word[1] != '@' && at >= of_file && files++ < FILES_MOST) {
            n = read_file(t, word + 1, text, sizeof text);
            n = n > 0 ? replace(t, at, (struct words){text, text + n, words, words + sizeof words}, words) : 0;
        }
        of_file = n > 0 ? at + n : of_file;
        if (n == 0) {
            word = takes_word(word) ? hpx_target_word(t, word) : word;
            word = word != NULL ? hpx_target_word(t, word) : NULL;
        }
    }
}

void hpx_target_read_words(struct hpx_target *t)
{
    char name[64];
    (void)snprintf(name, sizeof name, "/proc/%d/cmdline", (int)t->pid);
    FILE *f = fopen(name, "re");
    t->command_len = f != NULL ? fread(t->command, 1, sizeof t->command - 1, f) : 0;
    t->command[t->command_len] = 0;
    if (f != NULL) {
        (void)fclose(f);
    }
    if (t->jvm) {
        take_files(t);
    }
}
