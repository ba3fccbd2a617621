/* SPDX-License-Identifier: BSD-2-Clause */
/* words.h: names and numbers for a person. What is returned is good for the next few calls. One thread. */
#ifndef HPX_READ_WORDS_H
#define HPX_READ_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HPX_NAME_COLUMNS 72

/* A name of the program as UTF-8 without controls, at most `columns` characters of it. */
const char *hpx_words_cut(const char *name, size_t columns);
/* The same, all of it for 0 columns. quoted: also \" and \\, as JSON wants them. */
void hpx_words_name(FILE *to, const char *name, size_t columns, bool quoted);
/* What the report says of methods that the VM replaces; "": nothing. */
void hpx_words_replaced(FILE *to, const char *said);
/* The name of a class or method as people write it, in HPX_NAME_COLUMNS. */
void hpx_words_java(FILE *to, const char *name);
/* 1234567 as 1,234,567. */
const char *hpx_words_number(uint64_t v);
/* Bytes as 1.2 MiB. */
const char *hpx_words_size(uint64_t v);
/* Microseconds as 12 ms, 1.5 s, 1 h 02 min 03 s. */
const char *hpx_words_seconds(uint64_t us);

#endif
