/* SPDX-License-Identifier: BSD-2-Clause */
/* screen.c: see screen.h. */
#include "screen.h"
#include <stdio.h>
#ifdef HPX_NCURSES
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

static SCREEN *screen; /* NULL: plain text */
static struct {
    volatile bool open;
    struct termios as_it_was;
    char end[128]; /* what the terminal wants to hear */
} rescue;

static void prepare_rescue(void)
{
    const char *leave = exit_ca_mode, *cursor = cursor_normal; /* of term.h */
    (void)snprintf(rescue.end, sizeof rescue.end, "%s%s", leave != NULL ? leave : "", cursor != NULL ? cursor : "");
    rescue.open = tcgetattr(STDIN_FILENO, &rescue.as_it_was) == 0;
}

void hpx_screen_rescue(void)
{
    if (rescue.open) {
        (void)!write(STDOUT_FILENO, rescue.end, strlen(rescue.end));
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &rescue.as_it_was);
    }
}

void hpx_screen_open(void)
{
    struct termios was;
    /* For another one a static C library loads what converts its letters, and with it the library that is installed, of any release. */
    if (setlocale(LC_CTYPE, "") != NULL && strcmp(nl_langinfo(CODESET), "UTF-8") != 0) {
        (void)setlocale(LC_CTYPE, "C");
    }
    bool terminal = isatty(STDOUT_FILENO) && tcgetattr(STDIN_FILENO, &was) == 0;
    screen = terminal ? newterm(NULL, stdout, stdin) : NULL;
    if (screen != NULL) {
        prepare_rescue();
        rescue.as_it_was = was;
        (void)cbreak();
        (void)noecho();
        (void)nodelay(stdscr, TRUE);
        (void)curs_set(0);
    }
}

size_t hpx_screen_columns(void)
{
    return screen != NULL && COLS > 0 ? (size_t)COLS : 0;
}

bool hpx_screen_is_utf8(void)
{
    return screen != NULL && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static void draw(const char *text)
{
    int row = 0;
    (void)erase();
    for (; *text != 0 && row < LINES; row++) {
        size_t n = strcspn(text, "\n");
        (void)move(row, 0);
        (void)clrtoeol(); /* what the line before it had too much */
        (void)addnstr(text, (int)n);
        text += n + (text[n] != 0);
    }
    if (row < LINES) {
        (void)move(row, 0);
        (void)clrtobot();
    }
    (void)refresh();
}

bool hpx_screen_quits(void)
{
    bool quits = false;
    for (int key; screen != NULL && (key = getch()) != ERR;) {
        quits = quits || key == 'q';
    }
    return quits;
}

void hpx_screen_close(void)
{
    if (screen != NULL) {
        (void)endwin();
        rescue.open = false;
        delscreen(screen);
        screen = NULL;
    }
}

static bool has_screen(void)
{
    return screen != NULL;
}
#else

void hpx_screen_open(void)
{
}

size_t hpx_screen_columns(void)
{
    return 0;
}

bool hpx_screen_is_utf8(void)
{
    return false;
}

static void draw(const char *text)
{
    (void)text;
}

bool hpx_screen_quits(void)
{
    return false;
}

void hpx_screen_close(void)
{
}

void hpx_screen_rescue(void)
{
}

static bool has_screen(void)
{
    return false;
}
#endif

bool hpx_screen_show(const char *text)
{
    if (has_screen()) {
        draw(text);
        return true;
    }
    return printf("%s\n", text) >= 0 && fflush(stdout) == 0;
}
