/* SPDX-License-Identifier: BSD-2-Clause */
/* checked.c: functions that musl lacks and the library of the unit tests calls (libcmocka, which Debian builds with _FORTIFY_SOURCE). The
 * shipped libraries need none of them: libc/README.md. Built by musl-gcc, and named ld-linux-x86-64.so.2, which that library asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

int __vsnprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, va_list args);
int __snprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, ...);
int __fprintf_chk(FILE *to, int flag, const char *format, ...);
int __printf_chk(int flag, const char *format, ...);
void __longjmp_chk(jmp_buf to, int value);

int __vsnprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, va_list args)
{
    (void)flag;
    return vsnprintf(to, n < room ? n : room, format, args);
}

int __snprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = __vsnprintf_chk(to, n, flag, room, format, args);
    va_end(args);
    return length;
}

int __fprintf_chk(FILE *to, int flag, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vfprintf(to, format, args);
    va_end(args);
    (void)flag;
    return length;
}

int __printf_chk(int flag, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vprintf(format, args);
    va_end(args);
    (void)flag;
    return length;
}

void __longjmp_chk(jmp_buf to, int value)
{
    longjmp(to, value);
}
